// RUN: nested-reference %s | FileCheck %s

// Backwards: what is yielded is what was carried before the step; a sample that has ended takes no step.
// CHECK-LABEL: @scan
// CHECK: 0 :
// CHECK-NEXT: [0] [5, 3, 0]
// CHECK-NEXT: [1] []
// CHECK-NEXT: [2] [0]
func.func @scan(
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>,
      reference.lengths = [array<i64: 3, 0, 1>]})
    -> !ragged.tensor<[N], f32> {
  %0 = ragged.scan ins(%x : !ragged.tensor<[N], f32>) dim 0 reverse init [0.0 : f32] {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s : f32
    ragged.yield %t, %s : f32, f32
  } -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// Each kind along another dim.
// CHECK-LABEL: @accumulate
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[1, 7], [3, 9], [6, 12]]
// CHECK: 1 :
// CHECK-NEXT: [0] {{\[}}[7, 7], [2, 2], [3, 3]]
// CHECK: 2 :
// CHECK-NEXT: [0] {{\[}}[42, 6], [6, 3], [1, 1]]
// CHECK: 3 :
// CHECK-NEXT: [0] {{\[}}[-inf, 1], [-inf, 2], [-inf, 3]]
func.func @accumulate(
    %x: !ragged.tensor<[N, 2], f32> {
      reference.values = dense<[[1.0, 7.0], [2.0, 2.0], [3.0, 3.0]]> : tensor<3x2xf32>, reference.lengths = [array<i64: 3>]},
    %n: !ragged.tensor<[N, 2], i64> {
      reference.values = dense<[[1, 7], [7, 2], [6, 3]]> : tensor<3x2xi64>})
    -> (!ragged.tensor<[N, 2], f32>, !ragged.tensor<[N, 2], f32>, !ragged.tensor<[N, 2], i64>, !ragged.tensor<[N, 2], f32>) {
  %0 = ragged.accumulate sum %x dim 0 : !ragged.tensor<[N, 2], f32>
  %1 = ragged.accumulate max %x dim 1 reverse : !ragged.tensor<[N, 2], f32>
  %2 = ragged.accumulate prod %n dim 0 reverse exclusive : !ragged.tensor<[N, 2], i64>
  %3 = ragged.accumulate logsumexp %x dim 1 exclusive : !ragged.tensor<[N, 2], f32>
  return %0, %1, %2, %3 : !ragged.tensor<[N, 2], f32>, !ragged.tensor<[N, 2], f32>, !ragged.tensor<[N, 2], i64>, !ragged.tensor<[N, 2], f32>
}
