// RUN: nested-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-to-threads{threads=64},canonicalize,cse))' | FileCheck %s

// A warp per row: each lane has every 32nd column, sums go through five shuffles.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @normalize(%X: memref<?x40xf32>, %Y: memref<?x40xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8x40xf32>
  scf.for %t = %begin to %end step %c8 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c8 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x40xf32> -> tensor<8x40xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<8x40xf32>) outs(%z : tensor<8xf32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.addf %o, %p : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<8x40xf32>, tensor<8xf32>) outs(%e : tensor<8x40xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.divf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<8x40xf32>
    ragged.tile_store %y, %Y[%t] live %live : tensor<8x40xf32>, memref<?x40xf32>
  } {ragged.tile_loop}
  return
}

// CHECK-LABEL: func.func @normalize
// CHECK-SAME:      %[[X:.*]]: memref<?x40xf32>, %[[Y:.*]]: memref<?x40xf32>
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:     %[[LANE:.*]] = arith.remui %[[THREAD]], %{{.*}}
// CHECK-DAG:     %[[WARP:.*]] = arith.divui %[[THREAD]], %{{.*}}
// CHECK:         scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           %[[LIVE:.*]] = arith.minsi
// CHECK:           gpu.barrier
// CHECK:           scf.for %[[R:.*]] = %[[WARP]] to %[[LIVE]] step
// CHECK:             %[[ROW:.*]] = arith.addi %[[T]], %[[R]]
// CHECK:             %[[X0:.*]] = memref.load %[[X]][%[[ROW]], %[[LANE]]]
// CHECK:             %[[X1:.*]] = memref.load %[[X]][%[[ROW]], %{{.*}}]
// Of the second chunk there are 8 columns.
// CHECK:             %[[THERE:.*]] = arith.cmpi ult, %[[LANE]], %{{.*}}
// CHECK:             arith.select %[[THERE]]
// CHECK-COUNT-5:     gpu.shuffle xor
// CHECK:             %[[Y0:.*]] = arith.divf %[[X0]], %[[SUM:.*]] : f32
// CHECK:             %[[Y1:.*]] = arith.divf %[[X1]], %[[SUM]] : f32
// CHECK:             memref.store %[[Y0]], %[[Y]][%[[ROW]], %[[LANE]]]
// CHECK:             scf.if %[[THERE]] {
// CHECK-NEXT:          memref.store %[[Y1]], %[[Y]][%[[ROW]], %{{.*}}]
// CHECK:           gpu.barrier

// -----

// Loaded rows are copied to workgroup memory; a warp computes a block of 6 rows by 32 columns there are,
// four steps of k per load; columns behind the last one are not stored.

func.func @linear(%X: memref<?x8xf32>, %W: memref<8x40xf32>, %Y: memref<?x40xf32>, %begin: index, %end: index)
    attributes {ragged.kernel} {
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %w = bufferization.to_tensor %W restrict : memref<8x40xf32> to tensor<8x40xf32>
  %e = tensor.empty() : tensor<12x40xf32>
  scf.for %t = %begin to %end step %c12 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c12 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x8xf32> -> tensor<12x8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x40xf32>) -> tensor<12x40xf32>
    %h = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x40xf32>) outs(%z : tensor<12x40xf32>) -> tensor<12x40xf32>
    ragged.tile_store %h, %Y[%t] live %live : tensor<12x40xf32>, memref<?x40xf32>
  } {ragged.tile_loop}
  return
}

// CHECK-LABEL: func.func @linear
// CHECK-SAME:      %[[X:.*]]: memref<?x8xf32>, %[[W:.*]]: memref<8x40xf32>, %[[Y:.*]]: memref<?x40xf32>
// CHECK:           %[[A:.*]] = memref.alloc() : memref<12x8xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[H:.*]] = memref.alloc() : memref<12x40xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[LIVE:.*]] = arith.minsi
// CHECK:           scf.for %[[R:.*]] = %{{.*}} to %[[LIVE]] step
// CHECK:             memref.store %{{.*}}, %[[A]][%[[R]], %{{.*}}]
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK:             scf.for {{.*}} step %{{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK-COUNT-6:       vector.load %[[A]]{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK:               memref.load %[[W]]
// CHECK-COUNT-12:      math.fma
// CHECK:               memref.load %[[W]]
// CHECK-COUNT-36:      math.fma
// CHECK-NOT:           math.fma
// CHECK:             scf.yield
// CHECK:             scf.if
// CHECK-NEXT:          memref.store %{{.*}}, %[[H]]
// CHECK:           gpu.barrier
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[LIVE]] step
// CHECK:             memref.load %[[H]]
// CHECK:             memref.store %{{.*}}, %[[Y]]

// -----

// A thread owns a column and goes through the rows in order; the accumulator is in memory from tile to tile. Row
// numbers are filled in by the first thread.

func.func @mean(%X: memref<?x8xf32>, %T: memref<?xi64>, %Y: memref<?x8xf32>, %begin: index, %end: index)
    attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %0 = scf.for %t = %begin to %end step %c4 iter_args(%acc = %init) -> (tensor<8xf32>) {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c4 : index
    %none = tensor.empty() : tensor<4xindex>
    %flush = scf.for %r = %c0 to %live step %c1 iter_args(%f = %none) -> (tensor<4xindex>) {
      %row = arith.addi %t, %r : index
      %v = memref.load %T[%row] : memref<?xi64>
      %i = arith.index_cast %v : i64 to index
      %g = tensor.insert %i into %f[%r] : tensor<4xindex>
      scf.yield %g : tensor<4xindex>
    }
    %x = ragged.tile_load %X[%t] live %live : memref<?x8xf32> -> tensor<4x8xf32>
    %a = ragged.tile_fold ins(%x : tensor<4x8xf32>) acc(%acc : tensor<8xf32>) init(%init : tensor<8xf32>)
        flush %flush : tensor<4xindex> into(%Y : memref<?x8xf32>) live %live combine {
    ^bb0(%p: f32, %q: f32):
      %1 = arith.addf %q, %p : f32
      ragged.yield %1 : f32
    } finalize {
    ^bb0(%p: f32):
      ragged.yield %p : f32
    } -> tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  } {ragged.tile_loop}
  return
}

// CHECK-LABEL: func.func @mean
// CHECK-SAME:      %[[X:.*]]: memref<?x8xf32>, %{{.*}}: memref<?xi64>, %[[Y:.*]]: memref<?x8xf32>
// CHECK-DAG:     %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG:     %[[LEADER:.*]] = arith.cmpi eq, %[[THREAD]], %{{.*}} : index
// CHECK:         %[[ACC:.*]] = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for %{{.*}} = %[[THREAD]] to
// CHECK:         scf.for
// CHECK:           %[[FLUSH:.*]] = memref.alloc() : memref<4xindex, #gpu.address_space<workgroup>>
// CHECK:           %[[LIVE:.*]] = arith.minsi
// CHECK:           scf.for %[[R:.*]] = %{{.*}} to %[[LIVE]]
// CHECK:             scf.if %[[LEADER]] {
// CHECK-NEXT:          memref.store %{{.*}}, %[[FLUSH]][%[[R]]]
// CHECK:           gpu.barrier
// CHECK:           scf.for %[[C:.*]] = %[[THREAD]] to
// CHECK:             %[[OLD:.*]] = memref.load %[[ACC]][%[[C]]]
// CHECK:             %[[NEW:.*]] = scf.for %[[ROW:.*]] = %{{.*}} to %[[LIVE]] step %{{.*}} iter_args(%[[A:.*]] = %[[OLD]]) -> (f32)
// CHECK:               %[[SUM:.*]] = arith.addf %[[A]], %{{.*}}
// CHECK:               %[[TARGET:.*]] = memref.load %[[FLUSH]][%[[ROW]]]
// CHECK:               %[[ENDS:.*]] = arith.cmpi sge, %[[TARGET]],
// CHECK:               %[[NEXT:.*]] = arith.select %[[ENDS]], %{{.*}}, %[[SUM]]
// CHECK:               scf.if %[[ENDS]] {
// CHECK-NEXT:            memref.store %[[SUM]], %[[Y]][%[[TARGET]], %[[C]]]
// CHECK:               scf.yield %[[NEXT]]
// CHECK:             memref.store %[[NEW]], %[[ACC]][%[[C]]]
// CHECK:           gpu.barrier
