// RUN: nested-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(approximate-math))' | FileCheck %s
// Accuracy is measured in test/Target/math-accuracy.mlir.

// CHECK-LABEL: func @vector_exp
// CHECK-NOT: math.exp
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
func.func @vector_exp(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x : vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// What is not positive needs one bound, and one step to scale: results below the smallest normal number are 0.
// CHECK-LABEL: func @not_positive
// CHECK-COUNT-1: arith.cmpf
// CHECK-NOT: arith.cmpf
// CHECK: arith.addi
// CHECK: arith.shli
// CHECK-NOT: arith.shrsi
// CHECK: return
func.func @not_positive(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x {nested.not_positive} : vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// A scalar gets the same polynomial, hence the same bits.
// CHECK-LABEL: func @scalar_exp
// CHECK-COUNT-8: math.fma {{.*}} : f32
func.func @scalar_exp(%x: f32) -> f32 {
  %r = math.exp %x : f32
  return %r : f32
}

// -----

// Computed in f32.
// CHECK-LABEL: func @bf16_exp
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
func.func @bf16_exp(%x: vector<16xbf16>) -> vector<16xbf16> {
  %r = math.exp %x : vector<16xbf16>
  return %r : vector<16xbf16>
}

// -----

// Large arguments are left to a call.
// CHECK-LABEL: func @sin
// CHECK: %[[IN_RANGE:.*]] = vector.reduction <and>
// CHECK: scf.if %[[IN_RANGE]]
// CHECK: else
// CHECK: math.sin
func.func @sin(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.sin %x : vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// Upstream's tanh is made of multiplications and a division.
// CHECK-LABEL: func @tanh
// CHECK-NOT: math.tanh
// CHECK: arith.divf
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.tanh %x : vector<16xf32>
  return %r : vector<16xf32>
}

// -----

// No approximation of these is good enough.
// CHECK-LABEL: func @left_to_services
// CHECK: math.exp {{.*}} : vector<8xf64>
// CHECK: math.atan
// CHECK: math.powf
func.func @left_to_services(%x: vector<8xf64>, %y: f32) -> (vector<8xf64>, f32) {
  %a = math.exp %x : vector<8xf64>
  %b = math.atan %y : f32
  %c = math.powf %b, %y : f32
  return %a, %c : vector<8xf64>, f32
}

// erf is one quotient of two polynomials, without a choice among intervals: the selects are those of its bounds.
// CHECK-LABEL: func.func @erf
// CHECK-COUNT-2: arith.select
// CHECK-COUNT-10: math.fma
// CHECK: arith.divf
// CHECK-COUNT-2: arith.select
// CHECK-NOT: arith.select
// CHECK: return
func.func @erf(%x: vector<16xf32>) -> vector<16xf32> attributes {ragged.kernel} {
  %0 = math.erf %x : vector<16xf32>
  return %0 : vector<16xf32>
}
