// RUN: nested-opt %s --ragged-generalize --split-input-file --verify-diagnostics

// What is added to an accumulator over members must not depend on it.
func.func @no_combiner(%x: !ragged.tensor<[T], f32, path = [B, S]>, %z: !ragged.tensor<[], f32>) -> !ragged.tensor<[], f32> {
  // expected-error @+1 {{does not support reducing the last component of the path [B, S] into output 0: expected its accumulator to be combined with one value by one op with a neutral element}}
  %y = ragged.generic dims [T] iterators ["reduction"] path [B, S]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> ()>] batch_reduced
      ins(%x : !ragged.tensor<[T], f32, path = [B, S]>) outs(%z : !ragged.tensor<[], f32>) {
  ^bb0(%a: f32, %s: f32):
    %p = arith.mulf %s, %a : f32
    %q = arith.addf %p, %a : f32
    ragged.yield %q : f32
  } -> !ragged.tensor<[], f32>
  return %y : !ragged.tensor<[], f32>
}

// -----

// Not every op has a neutral element.
func.func @no_neutral_element(%x: !ragged.tensor<[T], f32, path = [B, S]>, %z: !ragged.tensor<[], f32>) -> !ragged.tensor<[], f32> {
  // expected-error @+1 {{by one op with a neutral element, but got 'arith.subf'}}
  %y = ragged.generic dims [T] iterators ["reduction"] path [B, S]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> ()>] batch_reduced
      ins(%x : !ragged.tensor<[T], f32, path = [B, S]>) outs(%z : !ragged.tensor<[], f32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.subf %s, %a : f32
    ragged.yield %q : f32
  } -> !ragged.tensor<[], f32>
  return %y : !ragged.tensor<[], f32>
}

// -----

// Outputs become generics of their own.
func.func @outputs(%x: !ragged.tensor<[N], f32>, %z: !ragged.tensor<[], f32>) -> (!ragged.tensor<[], f32>, !ragged.tensor<[], f32>) {
  // expected-error @+1 {{does not support that output 1 is computed from what another output accumulates}}
  %y, %w = ragged.generic dims [N] iterators ["reduction"] path [B]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> ()>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%z, %z : !ragged.tensor<[], f32>, !ragged.tensor<[], f32>) {
  ^bb0(%a: f32, %s: f32, %t: f32):
    %q = arith.addf %s, %a : f32
    %r = arith.addf %t, %q : f32
    ragged.yield %q, %r : f32, f32
  } -> !ragged.tensor<[], f32>, !ragged.tensor<[], f32>
  return %y, %w : !ragged.tensor<[], f32>, !ragged.tensor<[], f32>
}
