// RUN: nested-opt %s --ragged-unify-symbols --split-input-file --verify-diagnostics

// Neither side is a symbol: there is nothing to rename.
func.func @f(%x: !ragged.tensor<[N * N, 8], f32>, %n: !ragged.tensor<[N], f32>, %m: !ragged.tensor<[M], f32>)
    -> !ragged.tensor<[M + 1, 8], f32> {
  // expected-error @+1 {{cannot make N * N and M + 1 one extent: expected one of them to be the length of an argument}}
  %c = ragged.cast %x : !ragged.tensor<[N * N, 8], f32> to !ragged.tensor<[M + 1, 8], f32>
  return %c : !ragged.tensor<[M + 1, 8], f32>
}

// -----

// A size from data is known when what it is computed from has been.
func.func @from_data(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[N], i1>) -> !ragged.tensor<[N, 8], f32> {
  %y = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 8], f32>
  // expected-error @+1 {{cannot make K and N one extent: expected one of them to be the length of an argument from which the other is not computed}}
  %z = ragged.cast %y : !ragged.tensor<[K, 8], f32> to !ragged.tensor<[N, 8], f32>
  return %z : !ragged.tensor<[N, 8], f32>
}
