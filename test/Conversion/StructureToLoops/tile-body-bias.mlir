// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=256},cse,canonicalize))' | FileCheck %s

// A contraction that starts from a bias gets it in registers, block by block; it has no rows in memory.
#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @bias
// CHECK: scf.for
// CHECK-NOT: tensor<12x64xf32>
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}] [16] [1] : tensor<64xf32> to tensor<16xf32>
// CHECK: linalg.generic {{.*}} ins(%[[PART]] : tensor<16xf32>) outs(%{{.*}} : tensor<6x16xf32>)
// CHECK-NOT: tensor<12x64xf32>
// CHECK: linalg.matmul
func.func @bias(%X: memref<?x8xf32>, %W: memref<8x64xf32>, %B: memref<64xf32>, %Y: memref<?x64xf32>, %begin: index, %end: index)
    attributes {ragged.kernel} {
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
    ragged.tile_store %p, %Y[%t] live %live : tensor<12x64xf32>, memref<?x64xf32>
  } {ragged.tile_loop}
  return
}
