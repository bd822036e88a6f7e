// RUN: nested-opt %s --expand-halves=f16-instructions=true | FileCheck %s
// RUN: nested-opt %s --expand-halves | FileCheck %s --check-prefix=BITS

// Small integers are exact in f32, larger ones go by way of f64.
// CHECK-LABEL: func.func @from_integers
// CHECK-SAME: %[[A:.*]]: i8, %[[B:.*]]: vector<8xi32>
func.func @from_integers(%a: i8, %b: vector<8xi32>) -> (bf16, vector<8xf16>) {
  // CHECK: %[[F:.*]] = arith.uitofp %[[A]] : i8 to f32
  // CHECK: %[[X:.*]] = arith.truncf %[[F]] : f32 to bf16
  %0 = arith.uitofp %a : i8 to bf16
  // CHECK: %[[W:.*]] = arith.sitofp %[[B]] : vector<8xi32> to vector<8xf64>
  // CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
  %1 = arith.sitofp %b : vector<8xi32> to vector<8xf16>
  // CHECK: return %[[X]], %[[Y]]
  return %0, %1 : bf16, vector<8xf16>
}

// f64 would round what is beyond 2^53: for bf16 twelve bits that it does not need become one.
// CHECK-LABEL: func.func @from_long_integers
// CHECK-SAME: %[[A:.*]]: vector<4xi64>, %[[B:.*]]: i64
func.func @from_long_integers(%a: vector<4xi64>, %b: i64) -> (vector<4xbf16>, bf16, f16) {
  // CHECK: %[[LOW:.*]] = arith.andi %[[A]]
  // CHECK: %[[SET:.*]] = arith.cmpi ne, %[[LOW]]
  // CHECK: %[[HIGH:.*]] = arith.andi %[[A]]
  // CHECK: %[[ONE:.*]] = arith.extui %[[SET]]
  // CHECK: %[[LAST:.*]] = arith.shli %[[ONE]]
  // CHECK: %[[GATHERED:.*]] = arith.ori %[[HIGH]], %[[LAST]]
  // CHECK: %[[MOVED:.*]] = arith.addi %[[A]]
  // CHECK: %[[EXACT:.*]] = arith.cmpi ult, %[[MOVED]]
  // CHECK: %[[X:.*]] = arith.select %[[EXACT]], %[[A]], %[[GATHERED]]
  // CHECK: arith.sitofp %[[X]] : vector<4xi64> to vector<4xf64>
  %0 = arith.sitofp %a : vector<4xi64> to vector<4xbf16>
  // CHECK: %[[EXACT:.*]] = arith.cmpi ult, %[[B]]
  // CHECK: %[[Y:.*]] = arith.select %[[EXACT]], %[[B]]
  // CHECK: arith.uitofp %[[Y]] : i64 to f64
  %1 = arith.uitofp %b : i64 to bf16
  // CHECK: arith.uitofp %[[B]] : i64 to f64
  %2 = arith.uitofp %b : i64 to f16
  return %0, %1, %2 : vector<4xbf16>, bf16, f16
}

// One digit less if rounding made it larger, and an odd last digit if anything was lost.
// CHECK-LABEL: func.func @from_f64
// CHECK-SAME: %[[X:.*]]: vector<4xf64>
func.func @from_f64(%x: vector<4xf64>) -> vector<4xbf16> {
  // CHECK: %[[F:.*]] = arith.truncf %[[X]] : vector<4xf64> to vector<4xf32>
  // CHECK: %[[BACK:.*]] = arith.extf %[[F]]
  // CHECK: %[[LOST:.*]] = arith.cmpf one, %[[BACK]], %[[X]]
  // CHECK: %[[AWAY:.*]] = arith.cmpf ogt
  // CHECK: %[[NUMBER:.*]] = arith.bitcast %[[F]]
  // CHECK: %[[ONE:.*]] = arith.extui %[[AWAY]]
  // CHECK: %[[LESS:.*]] = arith.subi %[[NUMBER]], %[[ONE]]
  // CHECK: %[[LAST:.*]] = arith.extui %[[LOST]]
  // CHECK: %[[ODD:.*]] = arith.ori %[[LESS]], %[[LAST]]
  // CHECK: %[[Y:.*]] = arith.bitcast %[[ODD]]
  // CHECK: arith.truncf %[[Y]] : vector<4xf32> to vector<4xbf16>
  %0 = arith.truncf %x : vector<4xf64> to vector<4xbf16>
  return %0 : vector<4xbf16>
}

// CHECK-LABEL: func.func @to_f64
func.func @to_f64(%x: bf16) -> f64 {
  // CHECK: %[[F:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.extf %[[F]] : f32 to f64
  %0 = arith.extf %x : bf16 to f64
  return %0 : f64
}

// Left to instructions; without them integer arithmetic.
// CHECK-LABEL: func.func @f16
// BITS-LABEL: func.func @f16
// BITS-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f16
func.func @f16(%x: f32, %y: f16) -> (f16, f32) {
  // CHECK-NEXT: arith.truncf
  // BITS-NOT: arith.truncf
  // BITS: arith.bitcast %[[X]] : f32 to i32
  // BITS: %[[A:.*]] = arith.bitcast %{{.*}} : i16 to f16
  %0 = arith.truncf %x : f32 to f16
  // CHECK-NEXT: arith.extf
  // BITS: arith.bitcast %[[Y]] : f16 to i16
  // BITS-NOT: arith.extf
  // BITS: return %[[A]], %
  %1 = arith.extf %y : f16 to f32
  return %0, %1 : f16, f32
}

// Functions are computed in f32.
// CHECK-LABEL: func.func @functions
// CHECK-SAME: %[[X:.*]]: vector<4xbf16>
func.func @functions(%x: vector<4xbf16>) -> (vector<4xbf16>, vector<4xi1>) {
  // CHECK-COUNT-3: arith.extf %[[X]] : vector<4xbf16> to vector<4xf32>
  // CHECK: %[[F:.*]] = math.fma %{{.*}} : vector<4xf32>
  // CHECK: %[[Y:.*]] = arith.truncf %[[F]]
  %0 = math.fma %x, %x, %x : vector<4xbf16>
  // CHECK: %[[W:.*]] = arith.extf %[[X]]
  // CHECK: %[[N:.*]] = math.isnan %[[W]] : vector<4xf32>
  %1 = math.isnan %x : vector<4xbf16>
  // CHECK: return %[[Y]], %[[N]]
  return %0, %1 : vector<4xbf16>, vector<4xi1>
}
