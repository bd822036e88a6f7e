// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=512},cse,canonicalize))' | FileCheck %s
// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-body{vector-bits=256}))' | FileCheck %s --check-prefix=AVX2

// The sum over rows of the products of two rows: the products are made nowhere. Rows are added up to where a group or the
// tile ends, in blocks of four rows (then two) and 64 columns (then 8) of the accumulator.

#id = affine_map<(d0, d1) -> (d0, d1)>
#left = affine_map<(d0, d1, d2) -> (d0, d1)>
#right = affine_map<(d0, d1, d2) -> (d0, d2)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @gradient
// AVX2-LABEL: func.func @gradient
func.func @gradient(%X: memref<?x6xf32>, %Y: memref<?x72xf32>, %F: memref<8xindex>, %W: memref<?x6x72xf32>,
    %begin: index, %end: index) attributes {ragged.kernel} {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x72xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<6x72xf32>) -> tensor<6x72xf32>
  %r = scf.for %t = %begin to %end step %c8 iter_args(%acc = %init) -> (tensor<6x72xf32>) {
    %left = arith.subi %end, %t : index
    %live = arith.minsi %left, %c8 : index
    %flush = bufferization.to_tensor %F restrict : memref<8xindex> to tensor<8xindex>
    %x = ragged.tile_load %X[%t] live %live : memref<?x6xf32> -> tensor<8x6xf32>
    %y = ragged.tile_load %Y[%t] live %live : memref<?x72xf32> -> tensor<8x72xf32>
    %ey = tensor.empty() : tensor<8x72xf32>
    %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y : tensor<8x72xf32>) outs(%ey : tensor<8x72xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.tanh %a : f32
      linalg.yield %0 : f32
    } -> tensor<8x72xf32>
    %ep = tensor.empty() : tensor<8x6x72xf32>
    %p = linalg.generic {indexing_maps = [#left, #right, #all], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x, %s : tensor<8x6xf32>, tensor<8x72xf32>) outs(%ep : tensor<8x6x72xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8x6x72xf32>
    %next = ragged.tile_fold ins(%p : tensor<8x6x72xf32>) acc(%acc : tensor<6x72xf32>) init(%init : tensor<6x72xf32>)
        flush %flush : tensor<8xindex> into(%W : memref<?x6x72xf32>) live %live combine {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %b, %a : f32
      ragged.yield %0 : f32
    } finalize {
    ^bb0(%a: f32):
      ragged.yield %a : f32
    } {ragged.whole_tiles} -> tensor<6x72xf32>
    scf.yield %next : tensor<6x72xf32>
  } {ragged.tile_loop}
  return
}
// CHECK-NOT:  tensor<8x6x72xf32>
// What is loaded is copied, since rows are read several times.
// CHECK:      scf.for %{{.*}} iter_args({{.*}}) -> (tensor<8x6xf32>, tensor<8x72xf32>)
// CHECK:      %[[LAST:.*]] = arith.subi %[[LIVE:.*]], %{{.*}} : index
// CHECK:      scf.for %[[ROW:.*]] = %{{.*}} to %[[LIVE]] step %{{.*}} iter_args(%[[FIRST:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (index, tensor<6x72xf32>)
// CHECK:        %[[TARGET:.*]] = tensor.extract %{{.*}}[%[[ROW]]] : tensor<8xindex>
// CHECK:        %[[AT_END:.*]] = arith.cmpi sge, %[[TARGET]]
// CHECK:        %[[IS_LAST:.*]] = arith.cmpi eq, %[[ROW]], %[[LAST]]
// CHECK:        %[[DUE:.*]] = arith.ori %[[AT_END]], %[[IS_LAST]]
// CHECK:        scf.if %[[DUE]]
// CHECK:          %[[BEHIND:.*]] = arith.addi %[[ROW]]
// CHECK:          scf.for %[[R:.*]] = %[[FIRST]] to %[[BEHIND]] step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<4x64xf32>)
// CHECK:            %[[A:.*]] = tensor.extract_slice %{{.*}}[%[[R]], 0] [1, 4] [1, 1]
// CHECK:            %[[B:.*]] = tensor.extract_slice %{{.*}}[%[[R]], 0] [1, 64] [1, 1]
// CHECK:            linalg.matmul indexing_maps = {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[SUM]] : tensor<4x64xf32>)
// CHECK:          tensor.extract_slice %[[ACC]][0, 0] [4, 64] [1, 1]
// CHECK:          arith.addf
// CHECK:          tensor.insert_slice
// CHECK:          tensor.extract_slice %{{.*}}[4, 0] [2, 64] [1, 1]
// CHECK:          tensor.extract_slice %{{.*}}[0, 64] [4, 8] [1, 1]
// CHECK:          tensor.extract_slice %{{.*}}[4, 64] [2, 8] [1, 1]
// CHECK:          scf.if %[[AT_END]]
// CHECK:            memref.subview %{{.*}}[%[[TARGET]], 0, 0] [1, 6, 72]

// AVX2:       scf.for %{{.*}} -> (tensor<4x16xf32>)
