// RUN: nested-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-to-threads))'


func.func @carried(%X: memref<?x8xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c4 = arith.constant 4 : index
  %init = tensor.empty() : tensor<4x8xf32>
  // expected-error @below {{carries a tensor that is not the accumulator of a fold, which has no form on GPUs yet}}
  %0 = scf.for %t = %begin to %end step %c4 iter_args(%acc = %init) -> (tensor<4x8xf32>) {
    %x = ragged.tile_load %X[%t] live %c4 : memref<?x8xf32> -> tensor<4x8xf32>
    scf.yield %x : tensor<4x8xf32>
  } {ragged.tile_loop}
  return
}

// -----

func.func @whole(%X: memref<?x4xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
  %c4 = arith.constant 4 : index
  scf.for %t = %begin to %end step %c4 {
    %x = ragged.tile_load %X[%t] live %c4 : memref<?x4xf32> -> tensor<4x4xf32>
    // expected-error @below {{has no form on GPUs yet}}
    %p = tensor.pad %x low[0, 0] high[0, 0] {
    ^bb0(%i: index, %j: index):
      %z = arith.constant 0.0 : f32
      tensor.yield %z : f32
    } : tensor<4x4xf32> to tensor<4x4xf32>
    ragged.tile_store %p, %X[%t] live %c4 : tensor<4x4xf32>, memref<?x4xf32>
  } {ragged.tile_loop}
  return
}

// -----

// Loops over samples write, and read what they wrote: not for the threads of a block.
// expected-error @below {{'ragged.sort' has no kernel for GPUs yet; expected target 'cpu'}}
func.func @loops(%X: memref<?xf32>, %begin: index, %end: index) attributes {ragged.kernel, ragged.loop_kernel = "ragged.sort"} {
  return
}
