// RUN: nested-opt %s --tensor-to-generic --ragged-form-kernels --cse --split-input-file | FileCheck %s

// Everything over pairs is one kernel whose unit is a pair row; the mean is finished
// where the fold ends.
// CHECK-LABEL: func.func @pair_mean(
// CHECK: ragged.kernel "pair_mean_k0" space [N, M] path [B] groups 1
// CHECK: %[[U:.*]] = ragged.tile_read %{{.*}} at %{{.*}} map #{{.*}} : !ragged.tensor<[N, 8], f32>
// CHECK: %[[V:.*]] = ragged.tile_read %{{.*}} at %{{.*}} map #{{.*}} : !ragged.tensor<[M, 8], f32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[U]], %[[V]]
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<48x8xf32>)
// CHECK: arith.extf
// CHECK: %[[S:.*]] = ragged.tile_reduce %[[WIDE]] init [0.000000e+00] extents [M] combine
// CHECK: finalize
// CHECK: arith.divf
// CHECK: ragged.tile_yield %[[S]]
// CHECK-NOT: ragged.kernel "
func.func @pair_mean(%u: !ragged.tensor<[N, 8], f32>, %v: !ragged.tensor<[M, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %a = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %b = ragged.broadcast %v dims [1, 2] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  %p = ragged.map ins(%a, %b : !ragged.tensor<[N, M, 8], f32>, !ragged.tensor<[N, M, 8], f32>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.mulf %i, %j : f32
    ragged.yield %s : f32
  } -> !ragged.tensor<[N, M, 8], f32>
  %m = ragged.reduce mean %p dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return %m : !ragged.tensor<[N, 8], f32>
}

// -----

// What folds cannot be read before the fold is done: a second kernel.
// CHECK-LABEL: func.func @centre(
// CHECK: %[[M:.*]] = ragged.kernel "centre_k0" space [N] path [B] groups 0
// CHECK: ragged.kernel "centre_k1" space [N] path [B] groups 1
// CHECK-SAME: %[[M]]
func.func @centre(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %m = ragged.reduce mean %x dims [0] keepdims : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[1, 8], f32>
  %y = ragged.map ins(%x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[1, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}

// -----

// A gather is a load of the kernel that reads it.
// CHECK-LABEL: func.func @embed(
// CHECK: ragged.kernel "embed_k0"
// CHECK: %[[I:.*]] = ragged.tile_read
// CHECK: %[[X:.*]] = ragged.tile_lookup %{{.*}}[%[[I]]]
// CHECK: linalg.matmul ins(%[[X]]
// CHECK-NOT: ragged.kernel "
func.func @embed(%t: tensor<21x8xf32>, %w: tensor<8x4xf32>, %i: !ragged.tensor<[N], i64>) -> !ragged.tensor<[N, 4], f32> {
  %x = ragged.gather %t, %i : tensor<21x8xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 8], f32>
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32> -> !ragged.tensor<[N, 4], f32>
  return %y : !ragged.tensor<[N, 4], f32>
}

// -----

// Over the batch: chunks of rows.
// CHECK-LABEL: func.func @total(
// CHECK: ragged.kernel "total_k0" space [N] path [B] groups 0 units chunks chunk 4096
// CHECK: -> tensor<8xf32>
func.func @total(%x: !ragged.tensor<[N, 8], f32>) -> tensor<8xf32> {
  %y = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[N, 8], f32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}
