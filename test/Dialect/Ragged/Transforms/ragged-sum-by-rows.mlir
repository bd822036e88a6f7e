// RUN: nested-opt %s --ragged-sum-by-rows --split-input-file | FileCheck %s

// Rows of the same cells are summed anyway: the sum over the batch is one of sums of rows, which are not rounded before.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[G:.*]]: !ragged.tensor<[N, M, 8], f32>, %[[H:.*]]: !ragged.tensor<[N, M, 4], f32>
// CHECK: ragged.reduce sum %[[G]] dims [1] : !ragged.tensor<[N, M, 8], f32>
// CHECK: %[[WIDE:.*]] = ragged.map ins(%[[H]]
// CHECK: %[[ROWS:.*]] = ragged.reduce sum %[[WIDE]] dims [1] : !ragged.tensor<[N, M, 4], f64> -> !ragged.tensor<[N, 4], f64>
// CHECK: %[[SUM:.*]] = ragged.reduce sum %[[ROWS]] dims [0] batch : !ragged.tensor<[N, 4], f64> -> tensor<4xf64>
// CHECK: ragged.map ins(%[[SUM]]
// CHECK: arith.truncf
func.func @rows(%g: !ragged.tensor<[N, M, 8], f32>, %h: !ragged.tensor<[N, M, 4], f32>) -> (!ragged.tensor<[N, 8], f32>, tensor<4xf32>) {
  %r = ragged.reduce sum %g dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %s = ragged.reduce sum %h dims [0, 1] batch : !ragged.tensor<[N, M, 4], f32> -> tensor<4xf32>
  return %r, %s : !ragged.tensor<[N, 8], f32>, tensor<4xf32>
}

// -----

// The mean of rows, and a sum of all elements of each sample: what is left of a row is one number.
// CHECK-LABEL: func.func @all(
// CHECK: %[[ROWS:.*]] = ragged.reduce sum %{{.*}} dims [1, 2] : !ragged.tensor<[N, M, 8], f64> -> !ragged.tensor<[N], f64>
// CHECK: ragged.reduce sum %[[ROWS]] dims [0] : !ragged.tensor<[N], f64> -> !ragged.tensor<[], f64>
func.func @all(%g: !ragged.tensor<[N, M, 8], f32>) -> (!ragged.tensor<[N, 8], f32>, !ragged.tensor<[], f32>) {
  %r = ragged.reduce mean %g dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %s = ragged.reduce sum %g dims [0, 1, 2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[], f32>
  return %r, %s : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[], f32>
}

// -----

// Columns of what is also summed over columns: those are in another kernel, and so the sum stays as it is.
// CHECK-LABEL: func.func @columns(
// CHECK: ragged.reduce sum %{{.*}} dims [0] : !ragged.tensor<[N, M, 8], f32>
// CHECK: ragged.reduce sum %{{.*}} dims [0, 1] batch : !ragged.tensor<[N, M, 4], f32> -> tensor<4xf32>
func.func @columns(%g: !ragged.tensor<[N, M, 8], f32>, %h: !ragged.tensor<[N, M, 4], f32>) -> (!ragged.tensor<[M, 8], f32>, tensor<4xf32>) {
  %r = ragged.reduce sum %g dims [0] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, 8], f32>
  %s = ragged.reduce sum %h dims [0, 1] batch : !ragged.tensor<[N, M, 4], f32> -> tensor<4xf32>
  return %r, %s : !ragged.tensor<[M, 8], f32>, tensor<4xf32>
}

// -----

// Integers, and a sum that has rows of one axis alone, stay as they are.
// CHECK-LABEL: func.func @others(
// CHECK: ragged.reduce sum %{{.*}} dims [0, 1] batch : !ragged.tensor<[N, M], i64> -> tensor<i64>
// CHECK: ragged.reduce sum %{{.*}} dims [0] batch : !ragged.tensor<[N, 4], f32> -> tensor<4xf32>
func.func @others(%g: !ragged.tensor<[N, M], f32>, %i: !ragged.tensor<[N, M], i64>, %x: !ragged.tensor<[N, 4], f32>) -> (!ragged.tensor<[N], f32>, tensor<i64>, tensor<4xf32>) {
  %r = ragged.reduce sum %g dims [1] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[N], f32>
  %s = ragged.reduce sum %i dims [0, 1] batch : !ragged.tensor<[N, M], i64> -> tensor<i64>
  %t = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[N, 4], f32> -> tensor<4xf32>
  return %r, %s, %t : !ragged.tensor<[N], f32>, tensor<i64>, tensor<4xf32>
}
