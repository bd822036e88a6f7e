// RUN: nested-opt %s --pass-pipeline='builtin.module(func.func(tile-vectorize,canonicalize))' | FileCheck %s

// Accumulators are carried as vectors, slices are read and written in place.

// CHECK-LABEL: func.func @block
// CHECK-SAME:      %[[A:.*]]: tensor<48x8xf32>, %[[B:.*]]: tensor<8x64xf32>, %[[C:.*]]: tensor<48x64xf32>, %[[I:.*]]: index
func.func @block(%a: tensor<48x8xf32>, %b: tensor<8x64xf32>, %c: tensor<48x64xf32>, %i: index) -> tensor<48x64xf32> attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %init = tensor.extract_slice %c[%i, 32] [4, 32] [1, 1] : tensor<48x64xf32> to tensor<4x32xf32>
  %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %init) -> tensor<4x32xf32> {
    %x = tensor.extract_slice %a[%i, %k] [4, 1] [1, 1] : tensor<48x8xf32> to tensor<4x1xf32>
    %y = tensor.extract_slice %b[%k, 32] [1, 32] [1, 1] : tensor<8x64xf32> to tensor<1x32xf32>
    %0 = linalg.matmul ins(%x, %y : tensor<4x1xf32>, tensor<1x32xf32>) outs(%acc : tensor<4x32xf32>) -> tensor<4x32xf32>
    scf.yield %0 : tensor<4x32xf32>
  }
  %r = tensor.insert_slice %sum into %c[%i, 32] [4, 32] [1, 1] : tensor<4x32xf32> into tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
// CHECK:         %[[INIT:.*]] = vector.transfer_read %[[C]][%[[I]], %{{.*}}]{{.*}} vector<4x32xf32>
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[INIT]]) -> (vector<4x32xf32>)
// CHECK:           %[[X:.*]] = vector.transfer_read %[[A]]{{.*}} vector<4x1xf32>
// CHECK:           %[[Y:.*]] = vector.transfer_read %[[B]]{{.*}} vector<1x32xf32>
// CHECK:           vector.contract {{.*}} %[[X]], %[[Y]], %[[ACC]]
// CHECK:         vector.transfer_write %[[SUM]], %[[C]][%[[I]], %{{.*}}]

// CHECK-LABEL: func.func @store
// CHECK-SAME:      %[[X:.*]]: tensor<48x8xf32>, %[[Y:.*]]: memref<?x8xf32>, %[[R:.*]]: index
func.func @store(%x: tensor<48x8xf32>, %y: memref<?x8xf32>, %r: index) attributes {ragged.kernel} {
  %row = tensor.extract_slice %x[%r, 0] [1, 8] [1, 1] : tensor<48x8xf32> to tensor<8xf32>
  %view = memref.subview %y[%r, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<8xf32, strided<[1], offset: ?>>
  bufferization.materialize_in_destination %row in restrict writable %view : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
  return
}
// CHECK:         %[[V:.*]] = vector.transfer_read %[[X]][%[[R]], %{{.*}}]{{.*}} vector<8xf32>
// CHECK:         vector.transfer_write %[[V]], %{{.*}} : vector<8xf32>, memref<8xf32

// An op that is no vector op stays as it is.

#sum = affine_map<(d0, d1) -> (d0 + d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @diagonals
func.func @diagonals(%x: tensor<11xf32>, %e: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {ragged.kernel} {
  // CHECK: linalg.generic
  %0 = linalg.generic {indexing_maps = [#sum, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<11xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A product of operands of two types: contractions of vectors have one.

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#columns = affine_map<(d0, d1, d2) -> (d2, d1)>
#both = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<4x1xf32>, %y: tensor<1x16xbf16>, %acc: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {ragged.kernel} {
  // CHECK-NOT: vector.contract
  // CHECK: arith.extf %{{.*}} : vector<{{.*}}xbf16> to vector<{{.*}}xf32>
  // CHECK: arith.mulf
  // CHECK-NOT: linalg.generic
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #both], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x1xf32>, tensor<1x16xbf16>) outs(%acc : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: bf16, %s: f32):
    %wide = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %wide : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
