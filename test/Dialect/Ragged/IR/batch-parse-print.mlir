// RUN: nested-opt %s | nested-opt | FileCheck %s

// A boolean for each sample.
// CHECK-LABEL: func.func @mask
func.func @mask(%x: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[4], f32>, %keep: !ragged.tensor<[], i1>) {
  // CHECK: ragged.select_batch %{{.*}} of %{{.*}}, %{{.*}} renames [N] to [K] : !ragged.tensor<[], i1>, !ragged.tensor<[N, 8], f32>, !ragged.tensor<[4], f32> -> !ragged.tensor<[K, 8], f32, path = [C]>, !ragged.tensor<[4], f32, path = [C]>
  %y, %w = ragged.select_batch %keep of %x, %v renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[N, 8], f32>, !ragged.tensor<[4], f32>
      -> !ragged.tensor<[K, 8], f32, path = [C]>, !ragged.tensor<[4], f32, path = [C]>
  return
}

// An index for each sample of the result, here of the same batch; no lengths to rename; a list.
// CHECK-LABEL: func.func @indices
func.func @indices(%x: !ragged.tensor<[N, N], f32>, %v: !ragged.tensor<[4], f32>, %i: !ragged.tensor<[], i64>, %l: tensor<3xi64>) {
  // CHECK: ragged.select_batch %{{.*}} of %{{.*}} renames [N] to [K] : !ragged.tensor<[], i64>, !ragged.tensor<[N, N], f32> -> !ragged.tensor<[K, K], f32>
  %y = ragged.select_batch %i of %x renames [N] to [K]
      : !ragged.tensor<[], i64>, !ragged.tensor<[N, N], f32> -> !ragged.tensor<[K, K], f32>
  // CHECK: ragged.select_batch %{{.*}} of %{{.*}} renames [] to [] : tensor<3xi64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  %w = ragged.select_batch %l of %v renames [] to []
      : tensor<3xi64>, !ragged.tensor<[4], f32> -> !ragged.tensor<[4], f32, path = [C]>
  return
}

// Some sentences of each document: the documents stay.
// CHECK-LABEL: func.func @nested_path
func.func @nested_path(%x: !ragged.tensor<[T, 8], f32, path = [B, S]>, %n: !ragged.tensor<[], i64, path = [B, S]>) {
  // CHECK: ragged.repeat_batch %{{.*}} at_most 3 of %{{.*}} renames [T] to [U] : !ragged.tensor<[], i64, path = [B, S]>, !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[U, 8], f32, path = [B, R]>
  %y = ragged.repeat_batch %n at_most 3 of %x renames [T] to [U]
      : !ragged.tensor<[], i64, path = [B, S]>, !ragged.tensor<[T, 8], f32, path = [B, S]>
      -> !ragged.tensor<[U, 8], f32, path = [B, R]>
  return
}

// Between a batch and the samples that were chosen of it, in both directions.
// CHECK-LABEL: func.func @move
func.func @move(%x: !ragged.tensor<[N, 8], f32>, %keep: !ragged.tensor<[], i1>) {
  %y = ragged.select_batch %keep of %x renames [N] to [K] : !ragged.tensor<[], i1>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32, path = [C]>
  // CHECK: ragged.move_batch %{{.*}} of %{{.*}} renames [N] to [K] : !ragged.tensor<[], i1>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32, path = [C]>
  %z = ragged.move_batch %keep of %x renames [N] to [K] : !ragged.tensor<[], i1>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32, path = [C]>
  // CHECK: ragged.move_batch sum %{{.*}} of %{{.*}}, %{{.*}} renames [N] to [K] : !ragged.tensor<[], i1>, !ragged.tensor<[K, 8], f32, path = [C]>, !ragged.tensor<[K, 8], f32, path = [C]> -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32>
  %u:2 = ragged.move_batch sum %keep of %y, %z renames [N] to [K]
      : !ragged.tensor<[], i1>, !ragged.tensor<[K, 8], f32, path = [C]>, !ragged.tensor<[K, 8], f32, path = [C]>
      -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], f32>
  return
}

// CHECK-LABEL: func.func @bind_size
func.func @bind_size(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[], i64>, %m: tensor<i64>) {
  // CHECK: ragged.bind_size %{{.*}} at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
  %p = ragged.bind_size %n at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
  // CHECK: ragged.bind_size %{{.*}} at_most <N> : tensor<i64> -> !ragged.partition<[P]>
  %q = ragged.bind_size %m at_most <N> : tensor<i64> -> !ragged.partition<[P]>
  // CHECK: ragged.slice %{{.*}} dim 0 start <0> size <K>
  %y = ragged.slice %x dim 0 start <0> size <K> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32>
  // CHECK: ragged.pad %{{.*}} low [0, 0] high [P - N, 0]
  %z = ragged.pad %x low [0, 0] high [P - N, 0] value 0.0 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[P, 8], f32>
  return
}

// A mask along an axis of fixed size: how many stay is another number in every sample.
// CHECK-LABEL: func.func @masked_select_static
func.func @masked_select_static(%x: !ragged.tensor<[6, 8], f32>, %m: !ragged.tensor<[6], i1>) {
  // CHECK: ragged.masked_select %{{.*}}, %{{.*}} : !ragged.tensor<[6, 8], f32>, !ragged.tensor<[6], i1> -> !ragged.tensor<[K, 8], f32>
  %y = ragged.masked_select %x, %m : !ragged.tensor<[6, 8], f32>, !ragged.tensor<[6], i1> -> !ragged.tensor<[K, 8], f32>
  return
}
