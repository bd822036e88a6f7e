// RUN: nested-opt %s --ragged-absorb-structure --split-input-file | FileCheck %s

// Lengths and packed values, as other tools keep them, are a ragged argument.
// CHECK-LABEL: func.func @packed(
// CHECK-SAME: %[[V:.*]]: !ragged.tensor<[N, 8], f32>, %[[P:.*]]: !ragged.partition<[N]>)
// CHECK-NEXT: %[[R:.*]] = ragged.values %[[V]]
// CHECK-NEXT: return %[[R]]
func.func @packed(%v: tensor<?x8xf32>, %n: tensor<?xi64>) -> tensor<?x8xf32> {
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  %x = ragged.pack %v, %p : tensor<?x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 8], f32>
  %r = ragged.values %x : !ragged.tensor<[N, 8], f32> -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// Other lengths for the same values.
// CHECK-LABEL: func.func @recut(
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 8], f32>, %[[P:.*]]: !ragged.partition<[M]>)
// CHECK: %[[V:.*]] = ragged.values %[[X]]
// CHECK: ragged.pack %[[V]], %[[P]]
func.func @recut(%x: !ragged.tensor<[N, 8], f32>, %n: tensor<?xi64>) -> !ragged.tensor<[M, 8], f32> {
  %y = ragged.with_lengths %x, %n : !ragged.tensor<[N, 8], f32>, tensor<?xi64> -> !ragged.tensor<[M, 8], f32>
  return %y : !ragged.tensor<[M, 8], f32>
}
