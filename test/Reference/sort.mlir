// RUN: nested-reference %s | FileCheck %s

// R10: NaN is the greatest, equal elements keep their order in both directions.
// CHECK-LABEL: @sort
// CHECK: 0 :
// CHECK-NEXT: [0] [1, 2, 2, nan]
// CHECK-NEXT: [1] []
// CHECK: 1 :
// CHECK-NEXT: [0] [3, 0, 2, 1]
// CHECK: 2 :
// CHECK-NEXT: [0] [nan, 2, 2, 1]
// CHECK: 3 :
// CHECK-NEXT: [0] [1, 0, 2, 3]
func.func @sort(%x: !ragged.tensor<[N], f32> {
      reference.values = dense<[2.0, 0x7FC00000, 2.0, 1.0]> : tensor<4xf32>, reference.lengths = [array<i64: 4, 0>]})
    -> (!ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>) {
  %0, %1 = ragged.sort %x dim 0 : !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>
  %2, %3 = ragged.sort %x dim 0 descending : !ragged.tensor<[N], f32> -> !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>
  return %0, %1, %2, %3 : !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], f32>, !ragged.tensor<[N], i64>
}

// CHECK-LABEL: @searchsorted
// CHECK: 0 :
// CHECK-NEXT: [0] [0, 1, 4]
// CHECK: 1 :
// CHECK-NEXT: [0] [0, 3, 5]
func.func @searchsorted(
    %s: !ragged.tensor<[K], f32> {reference.values = dense<[1.0, 2.0, 2.0, 3.0, 0x7FC00000]> : tensor<5xf32>, reference.lengths = [array<i64: 5>]},
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[0.0, 2.0, 0x7FC00000]> : tensor<3xf32>, reference.lengths = [array<i64: 3>]})
    -> (!ragged.tensor<[N], i64>, !ragged.tensor<[N], i64>) {
  %0 = ragged.searchsorted %s, %x : !ragged.tensor<[K], f32>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], i64>
  %1 = ragged.searchsorted %s, %x right : !ragged.tensor<[K], f32>, !ragged.tensor<[N], f32> -> !ragged.tensor<[N], i64>
  return %0, %1 : !ragged.tensor<[N], i64>, !ragged.tensor<[N], i64>
}

// R10: of rows that are set the last one wins.
// CHECK-LABEL: @scatter
// CHECK: 0 :
// CHECK-NEXT: [0] {{\[}}[0, 0], [9, 12]]
// CHECK-NEXT: [1] {{\[}}[0, 0]]
// CHECK: 1 :
// CHECK-NEXT: [0] {{\[}}[0, 0], [5, 6]]
func.func @scatter(
    %z: !ragged.tensor<[K, 2], f32> {reference.values = dense<0.0> : tensor<3x2xf32>, reference.lengths = [array<i64: 2, 1>]},
    %i: !ragged.tensor<[N], i64> {reference.values = dense<1> : tensor<3xi64>, reference.lengths = [array<i64: 3, 0>]},
    %x: !ragged.tensor<[N, 2], f32> {reference.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>})
    -> (!ragged.tensor<[K, 2], f32>, !ragged.tensor<[K, 2], f32>) {
  %0 = ragged.scatter add %z, %i, %x : !ragged.tensor<[K, 2], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[K, 2], f32>
  %1 = ragged.scatter set %z, %i, %x : !ragged.tensor<[K, 2], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[K, 2], f32>
  return %0, %1 : !ragged.tensor<[K, 2], f32>, !ragged.tensor<[K, 2], f32>
}

// All samples add to one result, in their order.
// CHECK-LABEL: @scatter_over_batch
// CHECK: 0 :
// CHECK-NEXT: [1, 8, 10]
// CHECK: 1 :
// CHECK-NEXT: [0] 0
// CHECK-NEXT: [1] 1
// CHECK-NEXT: [2] 2
func.func @scatter_over_batch(
    %z: tensor<3xf32> {reference.values = dense<[1.0, 1.0, 10.0]> : tensor<3xf32>},
    %i: !ragged.tensor<[N], i64> {reference.values = dense<1> : tensor<3xi64>, reference.lengths = [array<i64: 2, 0, 1>]},
    %x: !ragged.tensor<[N], f32> {reference.values = dense<[1.0, 2.0, 4.0]> : tensor<3xf32>})
    -> (tensor<3xf32>, !ragged.tensor<[], i64>) {
  %0 = ragged.scatter add %z, %i, %x : tensor<3xf32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N], f32> -> tensor<3xf32>
  %1 = ragged.instance : !ragged.tensor<[], i64>
  return %0, %1 : tensor<3xf32>, !ragged.tensor<[], i64>
}
