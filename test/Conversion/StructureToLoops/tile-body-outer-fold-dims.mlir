// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=256},cse,canonicalize))' | FileCheck %s

// A product that is added up over a static dim as well: row by row, index by index, in the registers of one block.

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#left = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#right = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>

// CHECK-LABEL: func.func @gradient
// CHECK-NOT:   tensor<8x4x16xf32>
// CHECK:       scf.if
// CHECK:         scf.for %[[R:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<4x16xf32>)
// CHECK-NEXT:      scf.for %[[S:.*]] = %{{.*}} to %c3 step %{{.*}} iter_args(%[[INNER:.*]] = %[[SUM]]) -> (tensor<4x16xf32>)
// CHECK:             %[[A:.*]] = tensor.extract_slice %{{.*}}[%[[R]], %[[S]], 0] [1, 1, 4] [1, 1, 1] : tensor<8x3x4xf32> to tensor<1x4xf32>
// CHECK:             %[[B:.*]] = tensor.extract_slice %{{.*}}[%[[R]], %[[S]], 0] [1, 1, 16] [1, 1, 1] : tensor<8x3x16xf32> to tensor<1x16xf32>
// CHECK:             linalg.matmul indexing_maps = {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[INNER]] : tensor<4x16xf32>)
func.func @gradient(%X: memref<?x3x4xf32>, %Y: memref<?x3x16xf32>, %F: memref<8xindex>, %W: memref<?x4x16xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = scf.for %t = %begin to %end step %c8 iter_args(%acc = %init) -> (tensor<4x16xf32>) {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c8 : index
    %flush = bufferization.to_tensor %F restrict : memref<8xindex> to tensor<8xindex>
    %x = ragged.tile_load %X[%t] live %live : memref<?x3x4xf32> -> tensor<8x3x4xf32>
    %y = ragged.tile_load %Y[%t] live %live : memref<?x3x16xf32> -> tensor<8x3x16xf32>
    %ey = tensor.empty() : tensor<8x3x16xf32>
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%y : tensor<8x3x16xf32>) outs(%ey : tensor<8x3x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.tanh %a : f32
      linalg.yield %0 : f32
    } -> tensor<8x3x16xf32>
    %ep = tensor.empty() : tensor<8x4x16xf32>
    %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
        ins(%x, %s : tensor<8x3x4xf32>, tensor<8x3x16xf32>) outs(%zp : tensor<8x4x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8x4x16xf32>
    %next = ragged.tile_fold ins(%p : tensor<8x4x16xf32>) acc(%acc : tensor<4x16xf32>) init(%init : tensor<4x16xf32>)
        flush %flush : tensor<8xindex> into(%W : memref<?x4x16xf32>) live %live combine {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %b, %a : f32
      ragged.yield %0 : f32
    } finalize {
    ^bb0(%a: f32):
      ragged.yield %a : f32
    } {ragged.whole_tiles} -> tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  } {ragged.tile_loop}
  return
}
