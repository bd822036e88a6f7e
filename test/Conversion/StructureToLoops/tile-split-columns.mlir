// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-split-columns,cse,canonicalize))' --split-input-file | FileCheck %s

// A contraction that is used in ranges of columns is one for each of them; columns that nobody uses are gone.
#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @parts
// CHECK: %[[X:.*]] = ragged.tile_load
// CHECK: %[[W0:.*]] = tensor.extract_slice %{{.*}}[0, 0] [8, 32] [1, 1]
// CHECK: %[[B0:.*]] = tensor.extract_slice %{{.*}}[0] [32] [1]
// CHECK: %[[I0:.*]] = linalg.generic {{.*}} ins(%[[B0]] : tensor<32xf32>) outs(%{{.*}} : tensor<12x32xf32>)
// CHECK: %[[P0:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W0]] : tensor<12x8xf32>, tensor<8x32xf32>) outs(%[[I0]] : tensor<12x32xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 48] [8, 16] [1, 1]
// CHECK: %[[P1:.*]] = linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<12x8xf32>, tensor<8x16xf32>)
// CHECK-NOT: tensor<12x64xf32>
// CHECK: ragged.tile_store %[[P0]]
// CHECK: ragged.tile_store %[[P1]]
func.func @parts(%X: memref<?x8xf32>, %W: memref<8x64xf32>, %B: memref<64xf32>, %Y: memref<?x32xf32>, %Z: memref<?x16xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c12 = arith.constant 12 : index
  %w = bufferization.to_tensor %W restrict : memref<8x64xf32> to tensor<8x64xf32>
  %b = bufferization.to_tensor %B restrict : memref<64xf32> to tensor<64xf32>
  scf.for %t = %begin to %end step %c12 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c12 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x8xf32> -> tensor<12x8xf32>
    %e = tensor.empty() : tensor<12x64xf32>
    %init = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%b : tensor<64xf32>) outs(%e : tensor<12x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<12x64xf32>
    %p = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x64xf32>) outs(%init : tensor<12x64xf32>) -> tensor<12x64xf32>
    %y = tensor.extract_slice %p[0, 0] [12, 32] [1, 1] : tensor<12x64xf32> to tensor<12x32xf32>
    %z = tensor.extract_slice %p[0, 48] [12, 16] [1, 1] : tensor<12x64xf32> to tensor<12x16xf32>
    ragged.tile_store %y, %Y[%t] live %live : tensor<12x32xf32>, memref<?x32xf32>
    ragged.tile_store %z, %Z[%t] live %live : tensor<12x16xf32>, memref<?x16xf32>
  } {ragged.tile_loop}
  return
}

// -----

// Columns 16 to 31 are used twice: they would be computed twice.
// CHECK-LABEL: func.func @twice
// CHECK: linalg.matmul {{.*}} -> tensor<12x64xf32>
func.func @twice(%X: memref<?x8xf32>, %W: memref<8x64xf32>, %Y: memref<?x32xf32>, %Z: memref<?x32xf32>, %begin: index, %end: index)
    attributes {ragged.kernel} {
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %w = bufferization.to_tensor %W restrict : memref<8x64xf32> to tensor<8x64xf32>
  scf.for %t = %begin to %end step %c12 {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c12 : index
    %x = ragged.tile_load %X[%t] live %live : memref<?x8xf32> -> tensor<12x8xf32>
    %e = tensor.empty() : tensor<12x64xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<12x64xf32>) -> tensor<12x64xf32>
    %p = linalg.matmul ins(%x, %w : tensor<12x8xf32>, tensor<8x64xf32>) outs(%init : tensor<12x64xf32>) -> tensor<12x64xf32>
    %y = tensor.extract_slice %p[0, 0] [12, 32] [1, 1] : tensor<12x64xf32> to tensor<12x32xf32>
    %z = tensor.extract_slice %p[0, 16] [12, 32] [1, 1] : tensor<12x64xf32> to tensor<12x32xf32>
    ragged.tile_store %y, %Y[%t] live %live : tensor<12x32xf32>, memref<?x32xf32>
    ragged.tile_store %z, %Z[%t] live %live : tensor<12x32xf32>, memref<?x32xf32>
  } {ragged.tile_loop}
  return
}
