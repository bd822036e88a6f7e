// RUN: nested-reference %s | FileCheck %s

// The groups of a sample are reduced into the sample.
// CHECK-LABEL: @reduce_path
// CHECK: [0] 6
// CHECK-NEXT: [1] 0
// CHECK-NEXT: [2] 4
func.func @reduce_path(
    %x: !ragged.tensor<[T], i64, path = [B, S]> {
      reference.values = dense<[1, 2, 3, 4]> : tensor<4xi64>,
      reference.path_lengths = [array<i64: 2, 0, 1>],
      reference.lengths = [array<i64: 2, 1, 1>]}) -> !ragged.tensor<[], i64> {
  %0 = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[T], i64, path = [B, S]> -> !ragged.tensor<[], i64>
  return %0 : !ragged.tensor<[], i64>
}
