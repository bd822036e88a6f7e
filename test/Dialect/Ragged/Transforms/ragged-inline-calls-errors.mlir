// RUN: nested-opt %s --ragged-inline-calls --split-input-file --verify-diagnostics

// Two functions that call each other are never done.
func.func @f(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  %y = ragged.call @g(%x) with {N = #ragged.extent<N>} : (!ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}
func.func private @g(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  %y = ragged.call @h(%x) with {N = #ragged.extent<N>} : (!ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}
func.func private @h(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  // expected-error @+1 {{is recursive}}
  %y = ragged.call @g(%x) with {N = #ragged.extent<N>} : (!ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %y : !ragged.tensor<[N], f32>
}
