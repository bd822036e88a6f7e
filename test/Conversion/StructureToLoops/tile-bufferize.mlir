// RUN: nested-opt %s --tile-bufferize | FileCheck %s

// Two uses of one empty tensor are two buffers; nothing is copied.

// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: memref.alloc() {alignment = 64 : i64} : memref<48x8xf32>
// CHECK-NOT:     memref.copy
func.func @two(%X: memref<?x8xf32>, %Y: memref<?x8xf32>, %n: index) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = ub.poison : f32
  %x = bufferization.to_tensor %X restrict : memref<?x8xf32> to tensor<?x8xf32>
  %e = tensor.empty() : tensor<48x8xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %e, %b = %e) -> (tensor<48x8xf32>, tensor<48x8xf32>) {
    %v = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true]} : tensor<?x8xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    %p = vector.transfer_write %v, %a[%i, %c0] {in_bounds = [true]} : vector<8xf32>, tensor<48x8xf32>
    %q = vector.transfer_write %w, %b[%i, %c0] {in_bounds = [true]} : vector<8xf32>, tensor<48x8xf32>
    scf.yield %p, %q : tensor<48x8xf32>, tensor<48x8xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.transfer_read %r#0[%i, %c0], %pad {in_bounds = [true]} : tensor<48x8xf32>, vector<8xf32>
    %w = vector.transfer_read %r#1[%i, %c0], %pad {in_bounds = [true]} : tensor<48x8xf32>, vector<8xf32>
    %s = arith.addf %v, %w : vector<8xf32>
    vector.transfer_write %s, %Y[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}

// What was not vectorized becomes scalar loops.

#sum = affine_map<(d0, d1) -> (d0 + d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @scalar
// CHECK-NOT:     linalg
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             memref.load
// CHECK:             memref.store
func.func @scalar(%X: memref<11xf32>, %Y: memref<4x8xf32>) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %pad = ub.poison : f32
  %x = bufferization.to_tensor %X restrict : memref<11xf32> to tensor<11xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#sum, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<11xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %v = vector.transfer_read %0[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<4x8xf32>, vector<4x8xf32>
  vector.transfer_write %v, %Y[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<4x8xf32>
  return
}

// Other functions keep their tensors.

// CHECK-LABEL: func.func @other(%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
