// RUN: nested-opt %s --ragged-unify-symbols --verify-diagnostics

// Neither side is a symbol: there is nothing to rename.
func.func @f(%x: !ragged.tensor<[N * N, 8], f32>, %n: !ragged.tensor<[N], f32>, %m: !ragged.tensor<[M], f32>)
    -> !ragged.tensor<[M + 1, 8], f32> {
  // expected-error @+1 {{cannot make N * N and M + 1 one extent: expected one of them to be the length of an argument}}
  %c = ragged.cast %x : !ragged.tensor<[N * N, 8], f32> to !ragged.tensor<[M + 1, 8], f32>
  return %c : !ragged.tensor<[M + 1, 8], f32>
}
