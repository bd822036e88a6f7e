// RUN: nested-opt %s --ragged-kernels-to-structure=vector-bits=128 --canonicalize --cse --split-input-file | FileCheck %s

// Rows of one element: no loop goes row by row. Vectors go along the rows of a sample from its own start, the rest
// is one masked vector, and lanes are combined in halves.
// CHECK-LABEL: func.func @mean_k(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %{{.*}}: memref<?xi64>, %[[LENGTHS:.*]]: memref<?xi64>, %[[BASE:.*]]: memref<?xi64>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: %[[INIT:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: scf.for %[[SAMPLE:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: memref.load %[[LENGTHS]][%[[SAMPLE]]]
// CHECK: memref.load %[[BASE]][%[[SAMPLE]]]
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[INIT]]) -> (vector<8xf32>)
// CHECK-NEXT: arith.addi
// CHECK-NEXT: %[[ROWS:.*]] = vector.load %[[X]]
// CHECK-NEXT: arith.addf %[[ACC]], %[[ROWS]] : vector<8xf32>
// CHECK-NEXT: scf.yield
// CHECK: scf.if
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: vector.maskedload %[[X]][{{.*}}], %[[MASK]]
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.select %[[MASK]], %[[SUM]]
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<2xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: arith.divf
// CHECK: memref.store {{.*}}, %[[Y]][%[[SAMPLE]]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @mean(%x: !ragged.tensor<[N, 1], f32>) -> !ragged.tensor<[1], f32> {
  %0 = ragged.kernel "mean_k" space [N] path [B] groups 0 units groups tile 48
      ins(%x : !ragged.tensor<[N, 1], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 1], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 1], f32> -> tensor<48x1xf32>
    %2 = ragged.tile_reduce %1 init [0.0 : f32] extents [N] combine {
    ^bb0(%r: f32, %acc: f32):
      %3 = arith.addf %acc, %r : f32
      ragged.yield %3 : f32
    } finalize {
    ^bb0(%acc: f32, %n: i64):
      %3 = arith.sitofp %n : i64 to f32
      %4 = arith.divf %acc, %3 : f32
      ragged.yield %4 : f32
    } : tensor<48x1xf32> -> tensor<1xf32>
    ragged.tile_yield %2 : tensor<1xf32>
  } -> !ragged.tensor<[1], f32>
  return %0 : !ragged.tensor<[1], f32>
}

// -----

// What does not depend on the last coordinate is loaded once for a run of them; what does, as vectors. A range of
// rows may begin and end inside of a run.
// CHECK-LABEL: func.func @add_k(
// CHECK-SAME: %[[ONE:[^:]*]]: memref<?x1xf32>, %[[U:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32>
// CHECK: scf.for %[[SAMPLE:.*]] =
// CHECK: scf.for %[[NUMBER:.*]] =
// CHECK: %[[A:.*]] = memref.load %[[ONE]]
// CHECK: scf.for
// CHECK-DAG: vector.broadcast %[[A]]
// CHECK-DAG: vector.load %[[U]]
// CHECK: vector.store {{.*}}, %[[Y]]
// CHECK: scf.if
// CHECK: vector.maskedload %[[U]]
// CHECK: vector.maskedstore %[[Y]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @add(%u: !ragged.tensor<[N, 1], f32>) -> !ragged.tensor<[N, N, 1], f32> {
  %0 = ragged.kernel "add_k" space [N, N] path [B] groups 2 units groups tile 48
      ins(%u : !ragged.tensor<[N, 1], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 1], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0)> : !ragged.tensor<[N, 1], f32> -> tensor<48x1xf32>
    %2 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d1)> : !ragged.tensor<[N, 1], f32> -> tensor<48x1xf32>
    %3 = arith.addf %1, %2 : tensor<48x1xf32>
    ragged.tile_yield %3 : tensor<48x1xf32>
  } -> !ragged.tensor<[N, N, 1], f32>
  return %0 : !ragged.tensor<[N, N, 1], f32>
}

// -----

// Two ragged dims that all reads take whole are one run: that of the sample.
// CHECK-LABEL: func.func @scale_k(
// CHECK: scf.for
// CHECK: memref.load
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: vector.load
// CHECK: return
func.func @scale(%x: !ragged.tensor<[N, M], f32>) -> !ragged.tensor<[N, M], f32> {
  %0 = ragged.kernel "scale_k" space [N, M] path [B] groups 2 units groups tile 48
      ins(%x : !ragged.tensor<[N, M], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, M], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0, d1)> : !ragged.tensor<[N, M], f32> -> tensor<48xf32>
    %2 = arith.addf %1, %1 : tensor<48xf32>
    ragged.tile_yield %2 : tensor<48xf32>
  } -> !ragged.tensor<[N, M], f32>
  return %0 : !ragged.tensor<[N, M], f32>
}

// -----

// Elements without masked loads: the rest are scalars, with an accumulator of their own. Rows that are read
// backwards are gathered.
// CHECK-LABEL: func.func @most_k(
// CHECK: scf.for {{.*}} -> (vector<8xi8>)
// CHECK: vector.load {{.*}} vector<8xi8>
// CHECK: scf.for {{.*}} -> (i8)
// CHECK: arith.maxsi {{.*}} : i8
// CHECK-NOT: vector.create_mask
// CHECK-LABEL: func.func @columns_k(
// CHECK: vector.from_elements {{.*}} : vector<4xf32>
func.func @most(%x: !ragged.tensor<[N], i8>) -> !ragged.tensor<[], i8> {
  %0 = ragged.kernel "most_k" space [N] path [B] groups 0 units groups tile 48
      ins(%x : !ragged.tensor<[N], i8>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], i8>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], i8> -> tensor<48xi8>
    %2 = ragged.tile_reduce %1 init [-128 : i8] extents [] combine {
    ^bb0(%r: i8, %acc: i8):
      %3 = arith.maxsi %acc, %r : i8
      ragged.yield %3 : i8
    } finalize {
    ^bb0(%acc: i8):
      ragged.yield %acc : i8
    } : tensor<48xi8> -> tensor<i8>
    ragged.tile_yield %2 : tensor<i8>
  } -> !ragged.tensor<[], i8>
  return %0 : !ragged.tensor<[], i8>
}
func.func @columns(%x: !ragged.tensor<[N, M], f32>) -> !ragged.tensor<[M, N], f32> {
  %0 = ragged.kernel "columns_k" space [M, N] path [B] groups 2 units groups tile 48
      ins(%x : !ragged.tensor<[N, M], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, M], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d1, d0)> : !ragged.tensor<[N, M], f32> -> tensor<48xf32>
    ragged.tile_yield %1 : tensor<48xf32>
  } -> !ragged.tensor<[M, N], f32>
  return %0 : !ragged.tensor<[M, N], f32>
}

// -----

// Up to 64 columns are folded in registers. What has one element a row is a scalar.
// CHECK-LABEL: func.func @weighted_k(
// CHECK-SAME: %[[W:[^:]*]]: memref<?xf32>, %[[X:[^:]*]]: memref<?xf32>, %[[Y:[^:]*]]: memref<?xf32>
// CHECK: scf.for {{.*}} -> (vector<64xf32>)
// CHECK: %[[WEIGHT:.*]] = memref.load %[[W]]
// CHECK: memref.prefetch %[[X]]
// CHECK-DAG: vector.load %[[X]]{{.*}} : memref<?xf32>, vector<64xf32>
// CHECK-DAG: vector.broadcast %[[WEIGHT]] : f32 to vector<64xf32>
// CHECK: vector.store {{.*}}, %[[Y]]{{.*}} : memref<?xf32>, vector<64xf32>
func.func @weighted(%w: !ragged.tensor<[N], f32>, %x: !ragged.tensor<[N, 64], f32>) -> !ragged.tensor<[64], f32> {
  %0 = ragged.kernel "weighted_k" space [N] path [B] groups 0 units groups tile 48
      ins(%w, %x : !ragged.tensor<[N], f32>, !ragged.tensor<[N, 64], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], f32>, %b: !ragged.tensor<[N, 64], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], f32> -> tensor<48xf32>
    %2 = ragged.tile_read %b at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 64], f32> -> tensor<48x64xf32>
    %3 = tensor.empty() : tensor<48x64xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<48xf32>, tensor<48x64xf32>) outs(%3 : tensor<48x64xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %6 = arith.mulf %u, %v : f32
      linalg.yield %6 : f32
    } -> tensor<48x64xf32>
    %5 = ragged.tile_reduce %4 init [0.0 : f32] extents [] combine {
    ^bb0(%r: f32, %acc: f32):
      %6 = arith.addf %acc, %r : f32
      ragged.yield %6 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<48x64xf32> -> tensor<64xf32>
    ragged.tile_yield %5 : tensor<64xf32>
  } -> !ragged.tensor<[64], f32>
  return %0 : !ragged.tensor<[64], f32>
}

// -----

// Accumulators of more than that go to memory and back once for 8 rows, which are gone through once for each block of
// columns. What the number of rows decides is decided once for all columns.
// CHECK-LABEL: func.func @many_k(
// CHECK: %[[ACC:.*]] = memref.alloc() : memref<136xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c8 {
// CHECK: %[[OLD:.*]] = vector.load %[[ACC]]{{.*}} : memref<136xf32>, vector<64xf32>
// CHECK: %[[NEW:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[OLD]]) -> (vector<64xf32>)
// CHECK: memref.prefetch
// CHECK: vector.store %[[NEW]], %[[ACC]]{{.*}} : memref<136xf32>, vector<64xf32>
// CHECK: vector.load %[[ACC]]{{.*}} : memref<136xf32>, vector<8xf32>
// CHECK: %[[ANY:.*]] = arith.cmpi eq, {{.*}} : i64
// CHECK: arith.select %[[ANY]], {{.*}} : vector<64xf32>
func.func @many(%w: !ragged.tensor<[N], f32>, %x: !ragged.tensor<[N, 136], f32>) -> !ragged.tensor<[136], f32> {
  %0 = ragged.kernel "many_k" space [N] path [B] groups 0 units groups tile 48
      ins(%w, %x : !ragged.tensor<[N], f32>, !ragged.tensor<[N, 136], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], f32>, %b: !ragged.tensor<[N, 136], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], f32> -> tensor<48xf32>
    %2 = ragged.tile_read %b at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 136], f32> -> tensor<48x136xf32>
    %3 = tensor.empty() : tensor<48x136xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%1, %2 : tensor<48xf32>, tensor<48x136xf32>) outs(%3 : tensor<48x136xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %6 = arith.mulf %u, %v : f32
      linalg.yield %6 : f32
    } -> tensor<48x136xf32>
    %5 = ragged.tile_reduce %4 init [0.0 : f32] extents [N] combine {
    ^bb0(%r: f32, %acc: f32):
      %6 = arith.addf %acc, %r : f32
      ragged.yield %6 : f32
    } finalize {
    ^bb0(%acc: f32, %n: i64):
      %none = arith.constant 0 : i64
      %one = arith.constant 1.0 : f32
      %is = arith.cmpi eq, %n, %none : i64
      %6 = arith.select %is, %one, %acc : f32
      ragged.yield %6 : f32
    } : tensor<48x136xf32> -> tensor<136xf32>
    ragged.tile_yield %5 : tensor<136xf32>
  } -> !ragged.tensor<[136], f32>
  return %0 : !ragged.tensor<[136], f32>
}

// -----

// Rows by index: looked for once, then all columns.
// CHECK-LABEL: func.func @rows_k(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: vector.store {{.*}} vector<32xf32>
// CHECK-NOT: scf.for
// CHECK: return

// Columns that meet keep a tile program.
// CHECK-LABEL: func.func @norms_k(
// CHECK: ragged.tile_gather
func.func @rows(%i: !ragged.tensor<[N], i64>, %x: !ragged.tensor<[N, 64], f32>) -> !ragged.tensor<[N, 64], f32> {
  %0 = ragged.kernel "rows_k" space [N] path [B] groups 1 units groups tile 48
      ins(%i, %x : !ragged.tensor<[N], i64>, !ragged.tensor<[N, 64], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], i64>, %b: !ragged.tensor<[N, 64], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], i64> -> tensor<48xi64>
    %2 = ragged.tile_read %b at %t map affine_map<(d0) -> (0)> starts(%1 : tensor<48xi64>) dims [0] : !ragged.tensor<[N, 64], f32> -> tensor<48x64xf32>
    ragged.tile_yield %2 : tensor<48x64xf32>
  } -> !ragged.tensor<[N, 64], f32>
  return %0 : !ragged.tensor<[N, 64], f32>
}
func.func @norms(%x: !ragged.tensor<[N, 64], f32>) -> !ragged.tensor<[N], f32> {
  %0 = ragged.kernel "norms_k" space [N] path [B] groups 1 units groups tile 48
      ins(%x : !ragged.tensor<[N, 64], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 64], f32>):
    %1 = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 64], f32> -> tensor<48x64xf32>
    %zero = arith.constant 0.0 : f32
    %2 = tensor.empty() : tensor<48xf32>
    %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<48xf32>) -> tensor<48xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<48x64xf32>) outs(%3 : tensor<48xf32>) {
    ^bb0(%v: f32, %o: f32):
      %5 = arith.addf %v, %o : f32
      linalg.yield %5 : f32
    } -> tensor<48xf32>
    ragged.tile_yield %4 : tensor<48xf32>
  } -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}
