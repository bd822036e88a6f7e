// RUN: nested-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @do_nothing
// CHECK-SAME: %[[X:.*]]: !ragged.tensor
// CHECK-NEXT: return %[[X]]
func.func @do_nothing(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %0 = ragged.transpose %x permutation [0, 1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %1 = ragged.broadcast %0 dims [0, 1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %2 = ragged.slice %1 dim 0 start <0> size <N> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %3 = ragged.cast %2 : !ragged.tensor<[N, 8], f32> to !ragged.tensor<[N, 8], f32>
  return %3 : !ragged.tensor<[N, 8], f32>
}

// Another order of storage is a copy, and stays.
// CHECK-LABEL: func.func @other_order
// CHECK: ragged.transpose
func.func @other_order(%x: !ragged.tensor<[N, M], f32>) -> !ragged.tensor<[N, M], f32, order = [1, 0]> {
  %0 = ragged.transpose %x permutation [0, 1] : !ragged.tensor<[N, M], f32> -> !ragged.tensor<[N, M], f32, order = [1, 0]>
  return %0 : !ragged.tensor<[N, M], f32, order = [1, 0]>
}

// CHECK-LABEL: func.func @other_range
// CHECK: ragged.slice
// CHECK: ragged.broadcast
func.func @other_range(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, N], f32> {
  %0 = ragged.slice %x dim 1 start <2> size <1> drop : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  %1 = ragged.broadcast %0 dims [1] : !ragged.tensor<[N], f32> -> !ragged.tensor<[N, N], f32>
  return %1 : !ragged.tensor<[N, N], f32>
}

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, M, 8], f32>
// CHECK-DAG: %[[T:.*]] = ragged.transpose %[[X]] permutation [2, 0, 1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[8, N, M], f32>
// CHECK: return %[[T]], %[[X]]
func.func @transposes(%x: !ragged.tensor<[N, M, 8], f32>) -> (!ragged.tensor<[8, N, M], f32>, !ragged.tensor<[N, M, 8], f32>) {
  %0 = ragged.transpose %x permutation [1, 0, 2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, N, 8], f32>
  %1 = ragged.transpose %0 permutation [2, 1, 0] : !ragged.tensor<[M, N, 8], f32> -> !ragged.tensor<[8, N, M], f32>
  %2 = ragged.transpose %0 permutation [1, 0, 2] : !ragged.tensor<[M, N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  return %1, %2 : !ragged.tensor<[8, N, M], f32>, !ragged.tensor<[N, M, 8], f32>
}

// CHECK-LABEL: func.func @values
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 8], f32>, %[[V:.*]]: tensor<?x8xf32>
// CHECK-NEXT: return %[[X]], %[[V]]
func.func @values(%x: !ragged.tensor<[N, 8], f32>, %v: tensor<?x8xf32>) -> (!ragged.tensor<[N, 8], f32>, tensor<?x8xf32>) {
  %p = ragged.partition %x : !ragged.tensor<[N, 8], f32> -> !ragged.partition<[N]>
  %0 = ragged.values %x : !ragged.tensor<[N, 8], f32> -> tensor<?x8xf32>
  %1 = ragged.pack %0, %p : tensor<?x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 8], f32>
  %2 = ragged.pack %v, %p : tensor<?x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 8], f32>
  %3 = ragged.values %2 : !ragged.tensor<[N, 8], f32> -> tensor<?x8xf32>
  return %1, %3 : !ragged.tensor<[N, 8], f32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @members
// CHECK-SAME: %[[X:.*]]: !ragged.tensor<[N, 8], f32>, %[[N:.*]]: !ragged.tensor<[S], i64>, %[[Y:.*]]: !ragged.tensor<[S, 8], f32>
// CHECK-NEXT: %[[T:.*]] = ragged.nest %[[X]], %[[N]]
// CHECK-NEXT: return %[[T]], %[[Y]]
func.func @members(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[S], i64>, %y: !ragged.tensor<[S, 8], f32>)
    -> (!ragged.tensor<[T, 8], f32, path = [B, S]>, !ragged.tensor<[S, 8], f32>) {
  %0 = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  %1 = ragged.unnest %0 : !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[N, 8], f32>
  %2 = ragged.renest %1 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
  %3 = ragged.renest %y : !ragged.tensor<[S, 8], f32> -> !ragged.tensor<[8], f32, path = [B, S]>
  %4 = ragged.unnest %3 : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[S, 8], f32>
  return %2, %4 : !ragged.tensor<[T, 8], f32, path = [B, S]>, !ragged.tensor<[S, 8], f32>
}
