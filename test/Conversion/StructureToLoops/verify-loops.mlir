// RUN: nested-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(verify-loops))'

func.func @good(%x: memref<?x8xf32>, %n: index) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = ub.poison : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true]} : memref<?x8xf32>, vector<8xf32>
    %w = math.exp %v : vector<8xf32>
    vector.transfer_write %w, %x[%i, %c0] {in_bounds = [true]} : vector<8xf32>, memref<?x8xf32>
  }
  return
}

// -----

// Functions that are no kernels may hold anything.

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @tensors(%x: memref<4xf32>) attributes {ragged.kernel} {
  // expected-error @below {{cannot be in a kernel of the loops phase}}
  %t = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @vectors_of_tensors(%x: memref<4xf32>) attributes {ragged.kernel} {
  %c0 = arith.constant 0 : index
  %pad = ub.poison : f32
  // expected-error @below {{has tensors, which kernels of the loops phase do not}}
  %t = arith.constant dense<0.0> : tensor<4xf32>
  return
}

// -----

func.func @allocation() attributes {ragged.kernel} {
  // expected-error @below {{allocates memory; kernels only have their scratch memory}}
  %a = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>) attributes {ragged.kernel} {
  // expected-error @below {{copies a memref; kernels copy with loops and vectors}}
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
