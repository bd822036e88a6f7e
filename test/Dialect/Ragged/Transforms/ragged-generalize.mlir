// RUN: nested-opt %s --ragged-generalize --split-input-file | FileCheck %s

// A bias is where the sum starts.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 4], f32>, %[[W:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8xf32>
// CHECK: %[[INIT:.*]] = ragged.generic dims [N, 8]
// CHECK-SAME: ins(%[[B]] : tensor<8xf32>)
// CHECK: ragged.generic dims [N, 8, 4] iterators ["parallel", "parallel", "reduction"] path [B]
// CHECK-SAME: ins(%[[X]], %[[W]] : !ragged.tensor<[N, 4], f32>, tensor<4x8xf32>) outs(%[[INIT]]
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @linear(%x: !ragged.tensor<[N, 4], f32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.linear %x, %w bias %b : !ragged.tensor<[N, 4], f32>, tensor<4x8xf32>, tensor<8xf32> -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}

// -----

// R5: the mean of nothing is 0, not 0 / 0.
// CHECK-LABEL: func.func @mean(
// CHECK: %[[SUM:.*]] = ragged.generic dims [N, M, 8] iterators ["parallel", "reduction", "parallel"]
// CHECK: %[[M:.*]] = ragged.extent <M>
// CHECK: ragged.generic
// CHECK-SAME: ins(%[[SUM]], %[[M]]
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq
// CHECK: arith.divf
// CHECK: arith.select %[[EMPTY]]
func.func @mean(%x: !ragged.tensor<[N, M, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.reduce mean %x dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}

// -----

// R6: half precision is summed in f32.
// CHECK-LABEL: func.func @half_sum(
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @half_sum(%x: !ragged.tensor<[N, 8], bf16>) -> !ragged.tensor<[8], bf16> {
  %y = ragged.reduce sum %x dims [0] : !ragged.tensor<[N, 8], bf16> -> !ragged.tensor<[8], bf16>
  return %y : !ragged.tensor<[8], bf16>
}

// -----

// Zero columns: a sum over nothing is its init, and there is nothing to compute.
// CHECK-LABEL: func.func @no_columns(
// CHECK-NOT: ragged.generic
// CHECK: %[[ZERO:.*]] = ragged.fill 0.000000e+00 : f32 -> !ragged.tensor<[N], f32>
// CHECK: return %[[ZERO]]
func.func @no_columns(%x: !ragged.tensor<[N, 0], f32>) -> !ragged.tensor<[N], f32> {
  %y = ragged.reduce sum %x dims [1] : !ragged.tensor<[N, 0], f32> -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}

// -----

// R6: a running sum of f32 is carried in f64; exclusive: what was carried before the step is shown.
// CHECK-LABEL: func.func @accumulate(
// CHECK: ragged.scan ins(%{{.*}}) dim 0 init [0.000000e+00] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[SUM:.*]]: f64):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[WIDE]] : f64
// CHECK-NEXT: %[[SHOWN:.*]] = arith.truncf %[[SUM]]
// CHECK-NEXT: ragged.yield %[[NEXT]], %[[SHOWN]] : f64, f32
func.func @accumulate(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.accumulate sum %x dim 0 exclusive : !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}
