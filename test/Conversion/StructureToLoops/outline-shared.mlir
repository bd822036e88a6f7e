// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{pack-bytes=4096}),outline-shared)' | FileCheck %s

// Weights that are packed are packed once per call, by a kernel of their own whose units are the panels; its results lie behind the memrefs
// of the kernel that uses them and in front of its error record. That kernel takes the weights no longer.

// CHECK-LABEL: func.func @linear_shared
// CHECK-SAME:      (%[[W:.*]]: memref<64x128xf32>, %[[TO:.*]]: memref<2x64x64xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index) attributes {ragged.kernel}
// CHECK:         %[[WT:.*]] = bufferization.to_tensor %[[W]]
// CHECK:         %[[LAST:.*]] = arith.minsi %[[END]]
// CHECK:         scf.for %[[P:[a-z0-9]*]] = %[[BEGIN]] to %[[LAST]]
// CHECK:           %[[FROM:.*]] = tensor.extract_slice %{{.*}}[0, %[[P]], 0] [64, 1, 64] [1, 1, 1]
// CHECK:           %[[PANEL:.*]] = linalg.generic {{.*}} ins(%[[FROM]] : tensor<64x64xf32>)
// CHECK:           %[[PLACE:.*]] = memref.subview %[[TO]][%[[P]], 0, 0] [1, 64, 64] [1, 1, 1]
// CHECK:           bufferization.materialize_in_destination %[[PANEL]] in restrict writable %[[PLACE]]
// CHECK-LABEL: func.func @linear(
// CHECK-SAME:      %[[X:.*]]: memref<?x64xf32>, %{{.*}}: memref<?x128xf32>, %[[P:.*]]: memref<2x64x64xf32>, %{{.*}}: memref<?xi64>, %{{.*}}: index, %{{.*}}: index)
// CHECK:         %[[PT:.*]] = bufferization.to_tensor %[[P]] restrict
// CHECK-NOT:     tensor<64x128xf32>
// CHECK:         tensor.extract_slice %[[PT]]

// Sums of weights as well, as many of them at once as make vectors.
// CHECK-LABEL: func.func @bias_shared
// CHECK-SAME:      (%[[O:.*]]: memref<64xf32>, %[[W:.*]]: memref<64x128xf32>, %[[TO:.*]]: memref<128xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK:         %[[LAST:.*]] = arith.minsi %[[END]], %c2
// CHECK:         scf.for %[[P:[a-z0-9]*]] = %[[BEGIN]] to %[[LAST]]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[P]], %c64
// CHECK:           %[[SUM:.*]] = scf.for %[[K:[a-z0-9]*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (tensor<64xf32>)
// CHECK:             %[[ROW:.*]] = tensor.extract_slice %{{.*}}[%[[K]], %[[FIRST]]] [1, 64] [1, 1]
// CHECK:             linalg.generic {{.*}} ins(%{{.*}}, %[[ROW]] : tensor<f32>, tensor<64xf32>) outs(%[[ACC]] : tensor<64xf32>)
// CHECK:           bufferization.materialize_in_destination %[[SUM]] in restrict writable
// CHECK-LABEL: func.func @bias(
// CHECK-NOT:     tensor<64x128xf32>

// What is small stays.
// CHECK-LABEL: func.func @small(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<32x8xf32>)

// CHECK-LABEL: ragged.schedule @f
// CHECK:         %[[X:.*]] = ragged.buffer arg 0
// CHECK:         %[[W:.*]] = ragged.buffer arg 1
// CHECK:         %[[Y:.*]] = ragged.buffer result 0
// CHECK:         %[[P:.*]] = ragged.buffer temp rows 1 : !ragged.buffer<2x64x64xf32>
// CHECK:         %[[PANELS:.*]] = ragged.table offsets <2> path []
// CHECK:         ragged.launch @linear_shared units groups row_table %[[PANELS]] unit_table %[[PANELS]] memrefs(%[[W]], %[[P]] : {{.*}}bytes_per_row = 32768
// CHECK-NEXT:    ragged.launch @linear units {{.*}} memrefs(%[[X]], %[[Y]], %[[P]] :
// CHECK-NOT:     @small_shared

module attributes {ragged.phase = "structure"} {
  func.func @linear(%X: memref<?x64xf32>, %W: memref<64x128xf32>, %Y: memref<?x128xf32>, %errors: memref<?xi64>,
      %begin: index, %end: index) attributes {ragged.kernel} {
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %w = bufferization.to_tensor %W restrict : memref<64x128xf32> to tensor<64x128xf32>
    scf.for %t = %begin to %end step %c48 {
      %left = arith.subi %end, %t : index
      %live = arith.minsi %left, %c48 : index
      %x = ragged.tile_load %X[%t] live %live : memref<?x64xf32> -> tensor<48x64xf32>
      %e = tensor.empty() : tensor<48x128xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x128xf32>) -> tensor<48x128xf32>
      %h = linalg.matmul ins(%x, %w : tensor<48x64xf32>, tensor<64x128xf32>) outs(%z : tensor<48x128xf32>) -> tensor<48x128xf32>
      ragged.tile_store %h, %Y[%t] live %live : tensor<48x128xf32>, memref<?x128xf32>
    } {ragged.tile_loop}
    return
  }
  func.func @bias(%X: memref<?x128xf32>, %O: memref<64xf32>, %W: memref<64x128xf32>, %Y: memref<?x128xf32>, %begin: index, %end: index)
      attributes {ragged.kernel} {
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %o = bufferization.to_tensor %O restrict : memref<64xf32> to tensor<64xf32>
    %w = bufferization.to_tensor %W restrict : memref<64x128xf32> to tensor<64x128xf32>
    scf.for %t = %begin to %end step %c48 {
      %left = arith.subi %end, %t : index
      %live = arith.minsi %left, %c48 : index
      %x = ragged.tile_load %X[%t] live %live : memref<?x128xf32> -> tensor<48x128xf32>
      %eb = tensor.empty() : tensor<128xf32>
      %zb = linalg.fill ins(%zero : f32) outs(%eb : tensor<128xf32>) -> tensor<128xf32>
      %b = linalg.vecmat ins(%o, %w : tensor<64xf32>, tensor<64x128xf32>) outs(%zb : tensor<128xf32>) -> tensor<128xf32>
      %e = tensor.empty() : tensor<48x128xf32>
      %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                           iterator_types = ["parallel", "parallel"]}
          ins(%x, %b : tensor<48x128xf32>, tensor<128xf32>) outs(%e : tensor<48x128xf32>) {
      ^bb0(%i: f32, %j: f32, %out: f32):
        %s = arith.addf %i, %j : f32
        linalg.yield %s : f32
      } -> tensor<48x128xf32>
      ragged.tile_store %h, %Y[%t] live %live : tensor<48x128xf32>, memref<?x128xf32>
    } {ragged.tile_loop}
    return
  }
  func.func @small(%X: memref<?x32xf32>, %W: memref<8x32xf32>, %Y: memref<?x8xf32>, %begin: index, %end: index)
      attributes {ragged.kernel} {
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %w = bufferization.to_tensor %W restrict : memref<8x32xf32> to tensor<8x32xf32>
    %et = tensor.empty() : tensor<32x8xf32>
    %wt = linalg.transpose ins(%w : tensor<8x32xf32>) outs(%et : tensor<32x8xf32>) permutation = [1, 0]
    scf.for %t = %begin to %end step %c48 {
      %left = arith.subi %end, %t : index
      %live = arith.minsi %left, %c48 : index
      %x = ragged.tile_load %X[%t] live %live : memref<?x32xf32> -> tensor<48x32xf32>
      %e = tensor.empty() : tensor<48x8xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<48x8xf32>) -> tensor<48x8xf32>
      %h = linalg.matmul ins(%x, %wt : tensor<48x32xf32>, tensor<32x8xf32>) outs(%z : tensor<48x8xf32>) -> tensor<48x8xf32>
      ragged.tile_store %h, %Y[%t] live %live : tensor<48x8xf32>, memref<?x8xf32>
    } {ragged.tile_loop}
    return
  }
  ragged.schedule @f signature {args = [], checks = [], results = [], symbols = []} {
    %x = ragged.buffer arg 0 : !ragged.buffer<64xf32>
    %w = ragged.buffer arg 1 : !ragged.buffer<64x128xf32>
    %y = ragged.buffer result 0 : !ragged.buffer<128xf32>
    %u = ragged.buffer arg 2 : !ragged.buffer<32xf32>
    %v = ragged.buffer arg 3 : !ragged.buffer<8x32xf32>
    %s = ragged.buffer result 1 : !ragged.buffer<8xf32>
    %o = ragged.buffer arg 4 : !ragged.buffer<64xf32>
    %z = ragged.buffer arg 5 : !ragged.buffer<128xf32>
    %r = ragged.buffer result 2 : !ragged.buffer<128xf32>
    %n = ragged.table offsets <N> path [B]
    ragged.launch @bias units groups row_table %n unit_table %n memrefs(%z, %o, %w, %r : !ragged.buffer<128xf32>, !ragged.buffer<64xf32>, !ragged.buffer<64x128xf32>, !ragged.buffer<128xf32>) {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 512 : i64}
    ragged.launch @linear units groups row_table %n unit_table %n memrefs(%x, %w, %y : !ragged.buffer<64xf32>, !ragged.buffer<64x128xf32>, !ragged.buffer<128xf32>) {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 512 : i64, errors = ["bad"]}
    ragged.launch @small units groups row_table %n unit_table %n memrefs(%u, %v, %s : !ragged.buffer<32xf32>, !ragged.buffer<8x32xf32>, !ragged.buffer<8xf32>) {tile_rows = 48 : i64, flops_per_row = 2 : i64, bytes_per_row = 512 : i64}
  }
}
