// RUN: nested-opt %s --ragged-form-contractions --ragged-form-kernels --split-input-file --verify-diagnostics

// The generic phase has no such reductions: `--ragged-generalize` splits them.
func.func @members(%x: !ragged.tensor<[T, 4], f32, path = [B, S]>) -> !ragged.tensor<[4, 4], f32> {
  %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[4, 4], f32>
  // expected-error @+1 {{does not support reducing the last component of the path [B, S]}}
  %w = ragged.generic dims [4, 4, T] iterators ["parallel", "parallel", "reduction"] path [B, S]
      maps [affine_map<(i, j, n) -> (n, i)>, affine_map<(i, j, n) -> (n, j)>, affine_map<(i, j, n) -> (i, j)>] batch_reduced
      ins(%x, %x : !ragged.tensor<[T, 4], f32, path = [B, S]>, !ragged.tensor<[T, 4], f32, path = [B, S]>)
      outs(%z : !ragged.tensor<[4, 4], f32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32
  } -> !ragged.tensor<[4, 4], f32>
  return %w : !ragged.tensor<[4, 4], f32>
}

// -----

// Nor generics with several results.
func.func @results(%x: !ragged.tensor<[N], f32>) -> (!ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>) {
  %e = ragged.empty : !ragged.tensor<[N], f32>
  // expected-error @+1 {{does not support more than one result in a kernel}}
  %y, %z = ragged.generic dims [N] iterators ["parallel"] path [B]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%e, %e : !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %s: f32, %t: f32):
    ragged.yield %a, %a : f32, f32
  } -> !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>
  return %y, %z : !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>
}
