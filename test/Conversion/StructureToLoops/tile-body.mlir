// RUN: nested-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-body{mr=4 np=32 pack-stride=1024}))' | FileCheck %s

// A row loop for the load, a register block with its epilogue, a row loop for the store.

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @linear
// CHECK-SAME:      %[[X:.*]]: memref<?x8xf32>, %[[W:.*]]: memref<8x40xf32>, %[[B:.*]]: memref<40xf32>, %[[Y:.*]]: memref<?x40xf32>
func.func @linear(%X: memref<?x8xf32>, %W: memref<8x40xf32>, %B: memref<40xf32>, %Y: memref<?x40xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %begin to %end step %c12 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c12 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x8xf32> -> tensor<12x8xf32>
    %w = bufferization.to_tensor %W restrict : memref<8x40xf32> to tensor<8x40xf32>
    %b = bufferization.to_tensor %B restrict : memref<40xf32> to tensor<40xf32>
    %e = tensor.empty() : tensor<12x40xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x40xf32>) -> tensor<12x40xf32>
    %h = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x40xf32>) outs(%z : tensor<12x40xf32>) -> tensor<12x40xf32>
    %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
        ins(%h, %b : tensor<12x40xf32>, tensor<40xf32>) outs(%e : tensor<12x40xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.addf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<12x40xf32>
    ragged.tile_store %y, %Y[%t] live %live : tensor<12x40xf32>, memref<?x40xf32>
  } {ragged.tile_loop}
  return
}
// Tensors of the caller are made in front of the tile loop.
// CHECK-DAG:     %[[WT:.*]] = bufferization.to_tensor %[[W]] restrict
// CHECK-DAG:     %[[BT:.*]] = bufferization.to_tensor %[[B]] restrict
// CHECK-DAG:     %[[XT:.*]] = bufferization.to_tensor %[[X]] restrict
// CHECK:         scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:           %[[LIVE:.*]] = arith.minsi

// The register block reaches behind the live rows, so the rows are copied.
// CHECK:           %[[COPY:.*]] = scf.for %[[R:.*]] = %{{.*}} to %[[LIVE]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<12x8xf32>)
// CHECK:             %[[ROW:.*]] = arith.addi %[[T]], %[[R]]
// CHECK:             tensor.extract_slice %[[XT]][%[[ROW]], 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
// CHECK:             tensor.insert_slice %{{.*}} into %[[ACC]][%[[R]], 0] [1, 8] [1, 1]

// Columns 0..31 as a panel, then 32..39.
// CHECK:           %[[PADDED:.*]] = arith.muli
// CHECK:           %[[MAIN:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[PADDED]] step %{{.*}} iter_args(%[[OUT:.*]] = %{{.*}}) -> (tensor<12x40xf32>)
// CHECK:             linalg.generic
// CHECK:             scf.for %[[K:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<4x32xf32>)
// CHECK:               %[[A:.*]] = tensor.extract_slice %[[COPY]][%[[I]], %[[K]]] [4, 1] [1, 1]
// CHECK:               %[[BB:.*]] = tensor.extract_slice %[[WT]][%[[K]], 0] [1, 32] [1, 1]
// CHECK:               linalg.matmul ins(%[[A]], %[[BB]] : {{.*}}) outs(%[[SUM]] : tensor<4x32xf32>)
// CHECK:             tensor.extract_slice %[[BT]][0] [32] [1]
// CHECK:             tensor.insert_slice %{{.*}} into %[[OUT]][%[[I]], 0] [4, 32] [1, 1]
// CHECK:           %[[ALL:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[MAIN]]) -> (tensor<12x40xf32>)
// CHECK:             linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x8xf32>)

// CHECK:           scf.for %[[R2:.*]] = %{{.*}} to %[[LIVE]] step
// CHECK:             %[[VIEW:.*]] = memref.subview %[[Y]][%{{.*}}, 0] [1, 40] [1, 1]
// CHECK:             bufferization.materialize_in_destination %{{.*}} in restrict writable %[[VIEW]]
// CHECK-NOT:     ragged.

// -----

// A fold: the accumulator is carried by the row loop, flushed under a condition.

// CHECK-LABEL: func.func @segment_max
func.func @segment_max(%X: memref<?x5xf32>, %F: memref<?xi64>, %Y: memref<?x5xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %low = arith.constant -1.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %init = linalg.fill ins(%low : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %r = scf.for %t = %begin to %end step %c16 iter_args(%acc = %init) -> tensor<5xf32> {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c16 : index
    %ef = tensor.empty() : tensor<16xindex>
    %flush = scf.for %i = %c0 to %live step %c1 iter_args(%f = %ef) -> tensor<16xindex> {
      %p = arith.addi %t, %i : index
      %q = memref.load %F[%p] : memref<?xi64>
      %n = arith.index_cast %q : i64 to index
      %g = tensor.insert %n into %f[%i] : tensor<16xindex>
      scf.yield %g : tensor<16xindex>
    }
    %x = ragged.tile_load %X[%t] live %live : memref<?x5xf32> -> tensor<16x5xf32>
    %new = ragged.tile_fold ins(%x : tensor<16x5xf32>) acc(%acc : tensor<5xf32>) init(%init : tensor<5xf32>)
        flush %flush : tensor<16xindex> into(%Y : memref<?x5xf32>) live %live combine {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.maximumf %a, %b : f32
      ragged.yield %0 : f32
    } finalize {
    ^bb0(%a: f32):
      ragged.yield %a : f32
    } -> tensor<5xf32>
    scf.yield %new : tensor<5xf32>
  } {ragged.tile_loop}
  return
}
// CHECK:         scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}}) -> (tensor<5xf32>)
// CHECK:           %[[FLUSH:.*]] = scf.for {{.*}} -> (tensor<16xindex>)
// CHECK:           %[[NEW:.*]] = scf.for %[[R:.*]] = {{.*}} iter_args(%[[A:.*]] = %[[CARRIED]]) -> (tensor<5xf32>)
// CHECK:             %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[A]] : tensor<5xf32>)
// CHECK:               arith.maximumf
// CHECK:             %[[TO:.*]] = tensor.extract %[[FLUSH]][%[[R]]]
// CHECK:             %[[END:.*]] = arith.cmpi sge, %[[TO]]
// CHECK:             scf.if %[[END]] -> (tensor<5xf32>)
// CHECK:               memref.subview %{{.*}}[%[[TO]], 0] [1, 5] [1, 1]
// CHECK:               bufferization.materialize_in_destination
// The initial value is written into the accumulator.
// CHECK:               linalg.generic {{.*}} outs(%[[SUM]] : tensor<5xf32>)
// CHECK:             } else {
// CHECK:               scf.yield %[[SUM]]
// CHECK:           scf.yield %[[NEW]]
