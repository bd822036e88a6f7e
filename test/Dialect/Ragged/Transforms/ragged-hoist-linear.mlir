// RUN: nested-opt %s --ragged-hoist-linear --split-input-file | FileCheck %s

// Both terms are mapped as singles; pairs only add.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[U:.*]]: !ragged.tensor<[N, 8], f32>, %[[V:.*]]: !ragged.tensor<[M, 8], f32>, %[[W:.*]]: tensor<8x16xf32>
// CHECK-DAG: %[[UW:.*]] = ragged.linear %[[U]], %[[W]] {{.*}} -> !ragged.tensor<[N, 16], f32>
// CHECK-DAG: %[[VW:.*]] = ragged.linear %[[V]], %[[W]] {{.*}} -> !ragged.tensor<[M, 16], f32>
// CHECK-DAG: %[[A:.*]] = ragged.broadcast %[[UW]] dims [0, 2]
// CHECK-DAG: %[[B:.*]] = ragged.broadcast %[[VW]] dims [1, 2]
// CHECK: ragged.map ins(%[[A]], %[[B]]
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: arith.addf %[[X]], %[[Y]]
// CHECK-NOT: ragged.linear
func.func @pairs(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>, %w: tensor<8x16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %y : !ragged.tensor<[N, M, 16], f32>
}

// -----

// The normalisation becomes a number per pair: centred singles are scaled and mapped, the deviation is made of them,
// and the offset is mapped once, with the bias.
// CHECK-LABEL: func.func @normalised(
// CHECK-SAME: %[[W:[^:]*]]: tensor<8x16xf32>, %[[G:.*]]: tensor<8xf32>, %[[O:.*]]: tensor<8xf32>, %[[BIAS:.*]]: tensor<16xf32>
// CHECK-NOT: ragged.normalize
// CHECK: ragged.map ins(%{{.*}}, %[[G]]
// CHECK: ragged.linear %{{.*}}, %[[W]] : !ragged.tensor<[N, 8], f32>
// CHECK: ragged.linear %{{.*}}, %[[W]] : !ragged.tensor<[M, 8], f32>
// CHECK: ragged.linear %[[O]], %[[W]] bias %[[BIAS]]
// CHECK: ragged.reduce sum %{{.*}} dims [2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M], f32>
// CHECK: math.sqrt
// CHECK-NOT: ragged.linear
func.func @normalised(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>, %w: tensor<8x16xf32>,
                      %g: tensor<8xf32>, %o: tensor<8xf32>, %bias: tensor<16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.subf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %n = ragged.normalize layer %p scale %g offset %o : !ragged.tensor<[N, M, 8], f32>, scale tensor<8xf32>, offset tensor<8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %n, %w bias %bias : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32>, tensor<16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %y : !ragged.tensor<[N, M, 16], f32>
}

// -----

// A number per pair and a vector along the features commute with the map; narrow terms are kept in f32.
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME: %[[U:.*]]: !ragged.tensor<[N, 8], bf16>, %[[S:.*]]: !ragged.tensor<[N, M], bf16>
// CHECK: %[[UW:.*]] = ragged.linear %[[U]], %{{.*}} : !ragged.tensor<[N, 8], bf16>, tensor<8x16xbf16> -> !ragged.tensor<[N, 16], f32>
// CHECK: ragged.broadcast %[[UW]] dims [0, 2]
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf
// CHECK: arith.truncf
// CHECK-NOT: ragged.linear
func.func @scaled(%u: !ragged.tensor<[N, 8], bf16>, %s: !ragged.tensor<[N, M], bf16>, %w: tensor<8x16xbf16>) -> !ragged.tensor<[N, M, 16], bf16> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], bf16> -> !ragged.tensor<[N, M, 8], bf16>
  %b = ragged.broadcast %s dims [0, 1] : !ragged.tensor<[N, M], bf16> -> !ragged.tensor<[N, M, 8], bf16>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], bf16>, !ragged.tensor<[N, M, 8], bf16>) {
  ^bb0(%i: bf16, %j: bf16):
    %m = arith.mulf %i, %j : bf16
    ragged.yield %m : bf16
  } -> !ragged.tensor<[N, M, 8], bf16>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 8], bf16>, tensor<8x16xbf16> -> !ragged.tensor<[N, M, 16], bf16>
  return %y : !ragged.tensor<[N, M, 16], bf16>
}

// -----

// Terms with as many rows as their sum cost as much: they stay.
// CHECK-LABEL: func.func @same_rows(
// CHECK: ragged.map
// CHECK: ragged.linear
// CHECK-NOT: ragged.linear
func.func @same_rows(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[N, 8], f32>, %w: tensor<8x16xf32>) -> !ragged.tensor<[N, 16], f32> {
  %p = ragged.map ins(%x, %y : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, 8], f32>
  %z = ragged.linear %p, %w : !ragged.tensor<[N, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, 16], f32>
  return %z : !ragged.tensor<[N, 16], f32>
}

// -----

// So does a sum with one term of all rows.
// CHECK-LABEL: func.func @one_full_term(
// CHECK: ragged.map
// CHECK: ragged.linear
// CHECK-SAME: !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: ragged.linear
func.func @one_full_term(%u: !ragged.tensor<[N, 8], f32>, %p: !ragged.tensor<[N, M, 8], f32>, %w: tensor<8x16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %q = ragged.map ins(%a, %p : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %z = ragged.linear %q, %w : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %z : !ragged.tensor<[N, M, 16], f32>
}

// -----

// A nonlinear map of the sum is no sum.
// CHECK-LABEL: func.func @nonlinear(
// CHECK: math.absf
// CHECK: ragged.linear
// CHECK-SAME: !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: ragged.linear
func.func @nonlinear(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>, %w: tensor<8x16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    %t = math.absf %s : f32
    ragged.yield %t : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %y : !ragged.tensor<[N, M, 16], f32>
}

// -----

// Nor is a product of two terms, or a sum with a constant.
// CHECK-LABEL: func.func @product(
// CHECK: ragged.linear
// CHECK-SAME: !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: ragged.linear
func.func @product(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>, %w: tensor<8x16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.constant 1.0 : f32
    %s = arith.mulf %i, %j : f32
    %t = arith.addf %s, %c : f32
    ragged.yield %t : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %y : !ragged.tensor<[N, M, 16], f32>
}

// -----

// A term that is repeated along the contracted dim has nothing to contract.
// CHECK-LABEL: func.func @repeated_features(
// CHECK: ragged.linear
// CHECK-SAME: !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: ragged.linear
func.func @repeated_features(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M], f32>, %w: tensor<8x16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1] : !ragged.tensor<[M], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %y : !ragged.tensor<[N, M, 16], f32>
}

// -----

// Integers wrap and have exact sums, but nobody asked for another program: floats only.
// CHECK-LABEL: func.func @integers(
// CHECK: ragged.linear
// CHECK-SAME: !ragged.tensor<[N, M, 8], i32>
// CHECK-NOT: ragged.linear
func.func @integers(%u: !ragged.tensor<[N, 8], i32>, %v: !ragged.tensor<[M, 8], i32>, %w: tensor<8x16xi32>) -> !ragged.tensor<[N, M, 16], i32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], i32> -> !ragged.tensor<[N, M, 8], i32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], i32> -> !ragged.tensor<[N, M, 8], i32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], i32>, !ragged.tensor<[N, M, 8], i32>) {
  ^bb0(%i: i32, %j: i32):
    %s = arith.addi %i, %j : i32
    ragged.yield %s : i32
  } -> !ragged.tensor<[N, M, 8], i32>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 8], i32>, tensor<8x16xi32> -> !ragged.tensor<[N, M, 16], i32>
  return %y : !ragged.tensor<[N, M, 16], i32>
}

// -----

// One feature in and out is less work per pair than adding two mapped terms.
// CHECK-LABEL: func.func @not_worth_it(
// CHECK: ragged.linear
// CHECK-SAME: !ragged.tensor<[N, M, 1], f32>
// CHECK-NOT: ragged.linear
func.func @not_worth_it(%u: !ragged.tensor<[N, 1], f32>, %v: !ragged.tensor<[M, 1], f32>, %w: tensor<1x16xf32>) -> !ragged.tensor<[N, M, 16], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 1], f32> -> !ragged.tensor<[N, M, 1], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 1], f32> -> !ragged.tensor<[N, M, 1], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 1], f32>, !ragged.tensor<[N, M, 1], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 1], f32>
  %y = ragged.linear %p, %w : !ragged.tensor<[N, M, 1], f32>, tensor<1x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %y : !ragged.tensor<[N, M, 16], f32>
}

// -----

// The pairs are a result, too: their deviation is made of them, less the means of the terms.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME: %[[U:.*]]: !ragged.tensor<[N, 8], f32>, %[[V:.*]]: !ragged.tensor<[M, 8], f32>
// CHECK: %[[P:.*]] = ragged.map {{.*}}!ragged.tensor<[N, M, 8], f32>
// CHECK: %[[US:.*]] = ragged.reduce sum %[[U]] dims [1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
// CHECK: %[[VS:.*]] = ragged.reduce sum %[[V]] dims [1] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[M], f32>
// CHECK: %[[MEAN:.*]] = ragged.map ins(%{{.*}}, %{{.*}} : !ragged.tensor<[N, M], f32>, !ragged.tensor<[N, M], f32>)
// CHECK: %[[WIDE:.*]] = ragged.broadcast %[[MEAN]] dims [0, 1]
// CHECK: %[[SQUARES:.*]] = ragged.map ins(%[[P]], %[[WIDE]]
// CHECK: arith.subf
// CHECK: ragged.reduce sum %[[SQUARES]] dims [2]
func.func @returned(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>, %w: tensor<8x16xf32>)
    -> (!ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 16], f32>) {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %n = ragged.normalize layer %p : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %n, %w : !ragged.tensor<[N, M, 8], f32>, tensor<8x16xf32> -> !ragged.tensor<[N, M, 16], f32>
  return %p, %y : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 16], f32>
}
