// RUN: nested-opt %s --ragged-verify-tensor --split-input-file --verify-diagnostics

func.func @unbound(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[M], f32> {
  // expected-error @+1 {{expected symbol 'M' to be bound}}
  %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[M], f32>
  return %z : !ragged.tensor<[M], f32>
}
