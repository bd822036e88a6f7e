// RUN: nested-opt %s --ragged-verify-generic --split-input-file --verify-diagnostics

func.func @named(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[8, N], f32> {
  // expected-error @+1 {{should have become `ragged.generic`}}
  %y = ragged.transpose %x permutation [1, 0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8, N], f32>
  return %y : !ragged.tensor<[8, N], f32>
}

// -----

func.func @cast(%x: !ragged.tensor<[N, 8], f32>, %n: !ragged.tensor<[M, 8], f32>) -> !ragged.tensor<[M, 8], f32> {
  // expected-error @+1 {{should have been resolved in the `tensor` phase}}
  %y = ragged.cast %x : !ragged.tensor<[N, 8], f32> to !ragged.tensor<[M, 8], f32>
  return %y : !ragged.tensor<[M, 8], f32>
}
