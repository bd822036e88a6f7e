// RUN: nested-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-body{mr=4 np=32 pack-bytes=2048}))' | FileCheck %s

// Register blocks read the rows element by element, have an epilogue, and store what is live.

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

// Columns 0..31 as a panel, then 32..39.
// CHECK:           %[[PADDED:.*]] = arith.muli
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %[[PADDED]] step %{{.*}} {
// Behind the live rows the last one is read again.
// CHECK:             %[[LAST:.*]] = arith.subi %[[LIVE]]
// CHECK:             %[[R0:.*]] = arith.minsi %[[I]], %[[LAST]]
// CHECK:             %[[ROW0:.*]] = arith.addi %[[T]], %[[R0]]
// CHECK-COUNT-3:     arith.minsi %{{.*}}, %[[LAST]]
// CHECK:             linalg.generic
// CHECK:             scf.for %[[K:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<4x32xf32>)
// CHECK:               memref.prefetch %[[X]]
// CHECK:               %[[A0:.*]] = tensor.extract %[[XT]][%[[ROW0]], %[[K]]]
// CHECK:               %[[A:.*]] = tensor.from_elements %[[A0]], {{.*}} : tensor<4x1xf32>
// CHECK:               %[[BB:.*]] = tensor.extract_slice %[[WT]][%[[K]], 0] [1, 32] [1, 1]
// CHECK:               linalg.matmul ins(%[[A]], %[[BB]] : {{.*}}) outs(%[[SUM]] : tensor<4x32xf32>)
// CHECK:             tensor.extract_slice %[[BT]][0] [32] [1]
// CHECK:             %[[OUT:.*]] = vector.transfer_read
// CHECK:             %[[LEFT:.*]] = arith.subi %[[LIVE]], %[[I]]
// CHECK:             %[[N:.*]] = arith.minsi %[[LEFT]]
// CHECK:             %[[AT:.*]] = arith.addi %[[T]], %[[I]]
// CHECK:             %[[VIEW:.*]] = memref.subview %[[Y]][%[[AT]], 0] [%[[N]], 32] [1, 1]
// CHECK:             vector.transfer_write %[[OUT]], %[[VIEW]]{{.*}} {in_bounds = [false, true]}
// CHECK:           scf.for
// CHECK:             linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK:             memref.subview %[[Y]][%{{.*}}, 32] [%{{.*}}, 8] [1, 1]
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

// -----

// Gathered rows have their numbers; nothing is known of what lies behind them. A value that later ops read is stored
// and kept. Weights of more than 2048 bytes are packed in front of the loop.

// CHECK-LABEL: func.func @gathered
// CHECK-SAME:      %[[X:.*]]: memref<?x32xf32>
func.func @gathered(%X: memref<?x32xf32>, %R: memref<?xindex>, %W: memref<32x64xf32>, %Y: memref<?x64xf32>, %Z: memref<?xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %begin to %end step %c8 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c8 : index
    %er = tensor.empty() : tensor<8xindex>
    %rows = scf.for %i = %c0 to %live step %c1 iter_args(%f = %er) -> tensor<8xindex> {
      %p = arith.addi %t, %i : index
      %q = memref.load %R[%p] : memref<?xindex>
      %g = tensor.insert %q into %f[%i] : tensor<8xindex>
      scf.yield %g : tensor<8xindex>
    }
    %x = ragged.tile_gather %X[%rows] live %live : memref<?x32xf32>, tensor<8xindex> -> tensor<8x32xf32>
    %w = bufferization.to_tensor %W restrict : memref<32x64xf32> to tensor<32x64xf32>
    %e = tensor.empty() : tensor<8x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64xf32>) -> tensor<8x64xf32>
    %h = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x64xf32>) outs(%z : tensor<8x64xf32>) -> tensor<8x64xf32>
    ragged.tile_store %h, %Y[%t] live %live : tensor<8x64xf32>, memref<?x64xf32>
    %es = tensor.empty() : tensor<8xf32>
    %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.reduce ins(%h : tensor<8x64xf32>) outs(%zs : tensor<8xf32>) dimensions = [1] (%a: f32, %b: f32) {
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    }
    ragged.tile_store %s, %Z[%t] live %live : tensor<8xf32>, memref<?xf32>
  } {ragged.tile_loop}
  return
}
// CHECK:         %[[PACKED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x32x32xf32>)
// CHECK:         scf.for
// CHECK:           %[[ROWS:.*]] = scf.for {{.*}} -> (tensor<8xindex>)
// CHECK:           scf.for %[[P:[a-z0-9]*]] = {{.*}} -> (tensor<8x64xf32>)
// CHECK:             scf.for %[[I:[a-z0-9]*]] = {{.*}} -> (tensor<8x64xf32>)
// CHECK:               %[[R0:.*]] = arith.minsi %[[I]]
// CHECK:               %[[ROW0:.*]] = tensor.extract %[[ROWS]][%[[R0]]]
// CHECK-NOT:           memref.prefetch
// CHECK:               tensor.extract %{{.*}}[%[[ROW0]], %{{.*}}] : tensor<?x32xf32>
// CHECK:               tensor.extract_slice %[[PACKED]][%[[P]], %{{.*}}, 0] [1, 1, 32]
// CHECK:               vector.transfer_write
// CHECK:               tensor.insert_slice
// CHECK-NOT:     ragged.
