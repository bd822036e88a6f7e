// RUN: nested-opt %s --ragged-reduce-first --split-input-file | FileCheck %s

// The mean of the pairs needs no pair: one term is kept unless there is nothing to average, one is averaged alone, and the
// hidden pairs are averaged before they are mapped. Sums of rows are rounded once, when they have been added up.
// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[U:.*]]: !ragged.tensor<[N, 8], f32>, %[[V:.*]]: !ragged.tensor<[M, 8], f32>, %[[H:.*]]: !ragged.tensor<[N, M, 16], f32>, %[[W:.*]]: tensor<16x8xf32>
// CHECK-DAG: %[[VW:.*]] = ragged.map ins(%[[V]]
// CHECK-DAG: %[[VM:.*]] = ragged.reduce mean %[[VW]] dims [0] : !ragged.tensor<[M, 8], f64> -> !ragged.tensor<[8], f64>
// CHECK-DAG: %[[HM:.*]] = ragged.reduce mean %[[H]] dims [1] : !ragged.tensor<[N, M, 16], f32> -> !ragged.tensor<[N, 16], f32>
// CHECK-DAG: %[[HW:.*]] = ragged.linear %[[HM]], %[[W]] : !ragged.tensor<[N, 16], f32>
// CHECK-DAG: %[[B:.*]] = ragged.broadcast %[[VM]] dims [1]
// CHECK-DAG: %[[M:.*]] = ragged.extent <M>
// CHECK: ragged.map ins(%[[U]], %[[B]], %[[HW]], %[[M]]
// CHECK: arith.cmpi eq
// CHECK: arith.select
// CHECK-NOT: [N, M, 8]
func.func @mean(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>, %h: !ragged.tensor<[N, M, 16], f32>, %w: tensor<16x8xf32>) -> !ragged.tensor<[N, 8], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %y = ragged.linear %h, %w : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b, %y : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32, %k: f32):
    %s = arith.addf %i, %j : f32
    %t = arith.addf %s, %k : f32
    ragged.yield %t : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %m = ragged.reduce mean %p dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %m : !ragged.tensor<[N, 8], f32>
}

// -----

// A sum has its bias once for each term, also where that is never.
// CHECK-LABEL: func.func @sum_with_bias(
// CHECK-SAME: %[[H:.*]]: !ragged.tensor<[N, 16], f32>, %[[W:.*]]: tensor<16x8xf32>, %[[BIAS:.*]]: tensor<8xf32>
// CHECK-DAG: %[[S:.*]] = ragged.reduce sum %[[H]] dims [0]
// CHECK-DAG: %[[Y:.*]] = ragged.linear %[[S]], %[[W]] : !ragged.tensor<[16], f32>
// CHECK-DAG: %[[N:.*]] = ragged.extent <N>
// CHECK: ragged.map ins(%[[Y]], %[[BIAS]], %[[N]]
// CHECK: arith.sitofp
// CHECK: arith.mulf
func.func @sum_with_bias(%h: !ragged.tensor<[N, 16], f32>, %w: tensor<16x8xf32>, %bias: tensor<8xf32>) -> !ragged.tensor<[8], f32> {
  %y = ragged.linear %h, %w bias %bias : !ragged.tensor<[N, 16], f32>, tensor<16x8xf32>, tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  %m = ragged.reduce sum %y dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return %m : !ragged.tensor<[8], f32>
}

// -----

// Means along both axes: the map's result is still nowhere else.
// CHECK-LABEL: func.func @both_axes(
// CHECK-DAG: ragged.linear %{{.*}} : !ragged.tensor<[N, 16], f32>
// CHECK-DAG: ragged.linear %{{.*}} : !ragged.tensor<[M, 16], f32>
// CHECK-NOT: [N, M, 8]
func.func @both_axes(%h: !ragged.tensor<[N, M, 16], f32>, %w: tensor<16x8xf32>) -> (!ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32>) {
  %y = ragged.linear %h, %w : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %a = ragged.reduce mean %y dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %b = ragged.reduce mean %y dims [0] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, 8], f32>
  return %a, %b : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32>
}

// -----

// The greatest of equal values is the value, or 0 where there is none.
// CHECK-LABEL: func.func @max(
// CHECK-SAME: %[[U:.*]]: !ragged.tensor<[N, 8], f32>
// CHECK: %[[M:.*]] = ragged.extent <M>
// CHECK: ragged.map ins(%[[U]], %[[M]]
// CHECK: arith.select
// CHECK-NOT: ragged.reduce
func.func @max(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M], f32>) -> !ragged.tensor<[N, 8], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %m = ragged.reduce max %a dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %m : !ragged.tensor<[N, 8], f32>
}

// -----

// The mapped pairs are a result: to reduce them costs less than to map again.
// CHECK-LABEL: func.func @used_elsewhere(
// CHECK: %[[Y:.*]] = ragged.linear
// CHECK: ragged.reduce mean %[[Y]]
// CHECK-NOT: ragged.linear
func.func @used_elsewhere(%h: !ragged.tensor<[N, M, 16], f32>, %w: tensor<16x8xf32>) -> (!ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  %y = ragged.linear %h, %w : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %a = ragged.reduce mean %y dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %a, %y : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, M, 8], f32>
}

// -----

// So it is if something nonlinear needs them.
// CHECK-LABEL: func.func @nonlinear(
// CHECK: ragged.linear %{{.*}} : !ragged.tensor<[N, M, 16], f32>
// CHECK-NOT: ragged.linear
func.func @nonlinear(%h: !ragged.tensor<[N, M, 16], f32>, %w: tensor<16x8xf32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.linear %h, %w : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %z = ragged.map ins(%y : !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32):
    %s = math.absf %i : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %a = ragged.reduce mean %z dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %a : !ragged.tensor<[N, 8], f32>
}

// -----

// max does not commute with a linear map; a sum over its features is another map.
// CHECK-LABEL: func.func @other_reductions(
// CHECK: ragged.linear %{{.*}} : !ragged.tensor<[N, M, 16], f32>
// CHECK: ragged.linear %{{.*}} : !ragged.tensor<[N, M, 16], f32>
// CHECK-NOT: ragged.linear
func.func @other_reductions(%h: !ragged.tensor<[N, M, 16], f32>, %w: tensor<16x8xf32>, %x: tensor<16x8xf32>) -> (!ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, M], f32>) {
  %y = ragged.linear %h, %w : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %a = ragged.reduce max %y dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %z = ragged.linear %h, %x : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.reduce sum %z dims [2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M], f32>
  return %a, %b : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, M], f32>
}

// -----

// A number per pair between the map and the mean does not commute.
// CHECK-LABEL: func.func @weighted(
// CHECK: ragged.linear %{{.*}} : !ragged.tensor<[N, M, 16], f32>
// CHECK-NOT: ragged.linear
func.func @weighted(%h: !ragged.tensor<[N, M, 16], f32>, %s: !ragged.tensor<[N, M], f32>, %w: tensor<16x8xf32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.linear %h, %w : !ragged.tensor<[N, M, 16], f32>, tensor<16x8xf32> -> !ragged.tensor<[N, M, 8], f32>
  %c = ragged.broadcast %s dims [0, 1] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[N, M, 8], f32>
  %z = ragged.map ins(%y, %c : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %t = arith.mulf %i, %j : f32
    ragged.yield %t : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %a = ragged.reduce mean %z dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %a : !ragged.tensor<[N, 8], f32>
}

// -----

// A sum with a term of all pairs is reduced as it is: the pairs are read anyway.
// CHECK-LABEL: func.func @broadcast_stays(
// CHECK: ragged.reduce mean %{{.*}} : !ragged.tensor<[N, M, 8], f32>
// CHECK-NOT: ragged.reduce
func.func @broadcast_stays(%u: !ragged.tensor<[N, 8], f32>, %p: !ragged.tensor<[N, M, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %q = ragged.map ins(%a, %p : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %t = arith.addf %i, %j : f32
    ragged.yield %t : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %m = ragged.reduce mean %q dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %m : !ragged.tensor<[N, 8], f32>
}
