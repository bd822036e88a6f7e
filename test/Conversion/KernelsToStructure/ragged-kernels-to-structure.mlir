// RUN: nested-opt %s --tensor-to-generic --generic-to-kernels --ragged-kernels-to-structure --canonicalize --cse --split-input-file | FileCheck %s

// Packed rows of the result are written in order; rows of the argument, which may have
// gaps, are found by its base table. Both are the tile's own.
// CHECK-LABEL: func.func @double_k0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x8xf32> {ragged.own_rows}, %[[Y:[a-z0-9]+]]: memref<?x8xf32> {ragged.own_rows},
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index) attributes {ragged.kernel}
// CHECK: scf.for %[[T:.*]] = %[[BEGIN]] to %[[END]] step %c48
// CHECK: %[[LIVE:.*]] = arith.minsi
// CHECK: %[[XT:.*]] = ragged.tile_gather %[[X]][%{{.*}}] live %[[LIVE]]
// CHECK: %[[YT:.*]] = linalg.generic {{.*}} ins(%[[XT]]
// CHECK: ragged.tile_store %[[YT]], %[[Y]][%[[T]]] live %[[LIVE]]
// CHECK: } {ragged.tile_loop}
// CHECK-LABEL: ragged.schedule @double signature
// CHECK-SAME: extents = ["N", "8"]
// CHECK-DAG: %[[ARG:.*]] = ragged.buffer arg 0 : !ragged.buffer<8xf32>
// CHECK-DAG: %[[RES:.*]] = ragged.buffer result 0 : !ragged.buffer<8xf32>
// CHECK-DAG: %[[ROWS:.*]] = ragged.table offsets <N> path [B]
// CHECK-DAG: ragged.table base arg 0 path [B]
// CHECK: ragged.launch @double_k0 units{{ *}}groups row_table %[[ROWS]] unit_table %[[ROWS]] memrefs(%[[ARG]], %[[RES]],
func.func @double(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.map ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    ragged.yield %b : f32
  } -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}

// -----

// Not only rows of the tile are read.
// CHECK-LABEL: func.func @other_rows_k0(
// CHECK-NOT: ragged.own_rows
func.func @other_rows(%x: !ragged.tensor<[N, N, 8], f32>) -> !ragged.tensor<[N, N, 8], f32> {
  %t = ragged.transpose %x permutation [1, 0, 2] : !ragged.tensor<[N, N, 8], f32> -> !ragged.tensor<[N, N, 8], f32>
  %y = ragged.map ins(%x, %t : !ragged.tensor<[N, N, 8], f32>, !ragged.tensor<[N, N, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, N, 8], f32>
  return %y : !ragged.tensor<[N, N, 8], f32>
}

// -----

// A fold over the batch is two launches: partials of chunks, then one unit over them.
// CHECK-LABEL: func.func @total_k0(
// CHECK: ragged.tile_fold
// CHECK-LABEL: func.func @total_k0_combine0(
// CHECK: ragged.tile_fold
// CHECK-LABEL: ragged.schedule @total
// CHECK: %[[PARTIAL:.*]] = ragged.buffer temp total %{{.*}} chunk 4096 : !ragged.buffer<8xf64>
// CHECK: ragged.launch @total_k0 units{{ *}}chunks chunk 4096
// CHECK: ragged.launch @total_k0_combine0 units{{ *}}single
func.func @total(%x: !ragged.tensor<[N, 8], f32>) -> tensor<8xf32> {
  %y = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[N, 8], f32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Booleans are stored as bytes.
// CHECK-LABEL: func.func @positive_k0(
// CHECK-SAME: memref<?x8xi8>
// CHECK: arith.cmpf
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK-NOT: xi1>
func.func @positive(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], i1> {
  %y = ragged.map ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %b = arith.cmpf ogt, %a, %z : f32
    ragged.yield %b : i1
  } -> !ragged.tensor<[N, 8], i1>
  return %y : !ragged.tensor<[N, 8], i1>
}
