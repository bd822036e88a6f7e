// RUN: nested-opt %s | nested-opt | FileCheck %s

// A fold of each group, and a tile that is stored.
// CHECK-LABEL: func.func @row_mean
func.func @row_mean(%x: !ragged.tensor<[N, M, 128], f32>) -> (!ragged.tensor<[N, 128], f32>, !ragged.tensor<[N, M, 128], f32>) {
  // CHECK: ragged.kernel "row_mean" space [N, M] path [B] groups 1 units groups tile 48 ins(%{{.*}} : !ragged.tensor<[N, M, 128], f32>) {
  // CHECK: ragged.tile_read %{{.*}} at %{{.*}} map {{.*}} : !ragged.tensor<[N, M, 128], f32> -> tensor<48x128xf32>
  // CHECK: ragged.tile_reduce %{{.*}} init [0.000000e+00 : f32] extents [M] combine {
  // CHECK: } finalize {
  // CHECK: } : tensor<48x128xf32> -> tensor<128xf32>
  // CHECK: ragged.tile_yield %{{.*}}, %{{.*}} : tensor<128xf32>, tensor<48x128xf32>
  // CHECK: } -> !ragged.tensor<[N, 128], f32>, !ragged.tensor<[N, M, 128], f32>
  %s, %y = ragged.kernel "row_mean" space [N, M] path [B] groups 1 units groups tile 48
      ins(%x : !ragged.tensor<[N, M, 128], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, M, 128], f32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0, d1)> : !ragged.tensor<[N, M, 128], f32> -> tensor<48x128xf32>
    %1 = ragged.tile_reduce %0 init [0.0 : f32] extents [M] combine {
    ^bb0(%x0: f32, %acc: f32):
      %2 = arith.addf %acc, %x0 : f32
      ragged.yield %2 : f32
    } finalize {
    ^bb0(%acc: f32, %m: i64):
      %n = arith.sitofp %m : i64 to f32
      %2 = arith.divf %acc, %n : f32
      ragged.yield %2 : f32
    } : tensor<48x128xf32> -> tensor<128xf32>
    ragged.tile_yield %1, %0 : tensor<128xf32>, tensor<48x128xf32>
  } -> !ragged.tensor<[N, 128], f32>, !ragged.tensor<[N, M, 128], f32>
  return %s, %y : !ragged.tensor<[N, 128], f32>, !ragged.tensor<[N, M, 128], f32>
}

// Rows times shared weights; what a row can know of itself.
// CHECK-LABEL: func.func @row_map
func.func @row_map(%x: !ragged.tensor<[N, 16], f32>, %i: !ragged.tensor<[N], i64>, %w: tensor<16x8xf32>, %e: tensor<21x8xf32>) {
  %s = ragged.kernel "rows" space [N] path [B] groups 1 units groups tile 4
      ins(%x, %i, %w, %e : !ragged.tensor<[N, 16], f32>, !ragged.tensor<[N], i64>, tensor<16x8xf32>, tensor<21x8xf32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 16], f32>, %b: !ragged.tensor<[N], i64>, %c: tensor<16x8xf32>, %d: tensor<21x8xf32>):
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 16], f32> -> tensor<4x16xf32>
    %1 = ragged.tile_read %b at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], i64> -> tensor<4xi64>
    // CHECK: ragged.tile_coord %{{.*}} dim 0 : tensor<4xi64>
    %coord = ragged.tile_coord %t dim 0 : tensor<4xi64>
    // CHECK: ragged.tile_extent %{{.*}} <N * N> : tensor<4xi64>
    %extent = ragged.tile_extent %t <N * N> : tensor<4xi64>
    // CHECK: ragged.tile_lookup %{{.*}}[%{{.*}}] {what = "table"} : tensor<21x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
    %row = ragged.tile_lookup %d[%1] {what = "table"} : tensor<21x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
    %empty = tensor.empty() : tensor<4x8xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
    %product = linalg.matmul ins(%0, %c : tensor<4x16xf32>, tensor<16x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
    %sum = arith.addf %product, %row : tensor<4x8xf32>
    ragged.tile_yield %sum : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// Offsets and starts; partial sums of chunks of rows.
// CHECK-LABEL: func.func @batch
func.func @batch(%x: !ragged.tensor<[N, 8], f32>) -> tensor<8xf32> {
  // CHECK: ragged.kernel "batch" space [N - 1] path [B] groups 0 units chunks chunk 4096 tile 48
  %s = ragged.kernel "batch" space [N - 1] path [B] groups 0 units chunks chunk 4096 tile 48
      ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    // CHECK: ragged.tile_read {{.*}} offsets [1] : !ragged.tensor<[N, 8], f32> -> tensor<48x8xf32>
    %0 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> offsets [1] : !ragged.tensor<[N, 8], f32> -> tensor<48x8xf32>
    %coord = ragged.tile_coord %t dim 0 : tensor<48xi64>
    // CHECK: ragged.tile_read {{.*}} starts(%{{.*}} : tensor<48xi64>) dims [0] : !ragged.tensor<[N, 8], f32> -> tensor<48x8xf32>
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (0)> starts(%coord : tensor<48xi64>) dims [0] : !ragged.tensor<[N, 8], f32> -> tensor<48x8xf32>
    %2 = arith.mulf %0, %1 : tensor<48x8xf32>
    %3 = ragged.tile_reduce %2 init [0.0 : f32] extents [] combine {
    ^bb0(%x0: f32, %acc: f32):
      %4 = arith.addf %acc, %x0 : f32
      ragged.yield %4 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<48x8xf32> -> tensor<8xf32>
    ragged.tile_yield %3 : tensor<8xf32>
  } -> tensor<8xf32>
  return %s : tensor<8xf32>
}
