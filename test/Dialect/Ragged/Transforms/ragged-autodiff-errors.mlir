// RUN: nested-opt %s --ragged-autodiff --split-input-file --verify-diagnostics

// An op without a rule.
func.func @no_rule(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32> {
  // expected-error @+1 {{'ragged.values' op has no derivative rule, but a variable reaches an output through it}}
  %v = ragged.values %x : !ragged.tensor<[N, 8], f32> -> tensor<?x8xf32>
  %p = ragged.partition %x : !ragged.tensor<[N, 8], f32> -> !ragged.partition<[N]>
  %y = ragged.pack %v, %p : tensor<?x8xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 8], f32>
  %l = ragged.reduce sum %y dims [0, 1] batch : !ragged.tensor<[N, 8], f32> -> tensor<f32>
  // expected-note @+1 {{the derivative is asked for here}}
  %0 = ragged.gradient of(%l : tensor<f32>) wrt(%x : !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32>
  return %0 : !ragged.tensor<[N, 8], f32>
}

// -----

// A scalar op without a rule, in a region.
func.func @no_scalar_rule(%x: tensor<f32>) -> tensor<f32> {
  %y = ragged.map ins(%x : tensor<f32>) {
  ^bb0(%a: f32):
    %i = arith.bitcast %a : f32 to i32
    // expected-error @+1 {{'arith.scaling_extf' op has no derivative rule}}
    %b = arith.scaling_extf %a, %a : f32, f32 to f64
    %c = arith.truncf %b : f64 to f32
    ragged.yield %c : f32
  } -> tensor<f32>
  // expected-note @+1 {{the derivative is asked for here}}
  %0 = ragged.gradient of(%y : tensor<f32>) wrt(%x : tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Not a sum: the accumulator is multiplied.
func.func @product(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %one = ragged.fill 1.0 : f32 -> tensor<f32>
  // expected-error @+1 {{has no derivative: expected output 0 to be a sum, its accumulator plus a value}}
  %y = ragged.generic dims [4] iterators ["reduction"] path [] maps [affine_map<(i) -> (i)>, affine_map<(i) -> ()>]
      ins(%x : tensor<4xf32>) outs(%one : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = arith.mulf %a, %acc : f32
    ragged.yield %b : f32
  } -> tensor<f32>
  // expected-note @+1 {{the derivative is asked for here}}
  %0 = ragged.gradient of(%y : tensor<f32>) wrt(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A scan whose steps have no derivative.
func.func @scan(%x: !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32> {
  %y = ragged.scan ins(%x : !ragged.tensor<[N], f32>) dim 0 init [0.0 : f32] {
  ^bb0(%a: f32, %c: f32):
    // expected-error @+1 {{'arith.scaling_extf' op has no derivative rule}}
    %b = arith.scaling_extf %a, %c : f32, f32 to f64
    %d = arith.truncf %b : f64 to f32
    ragged.yield %d, %d : f32, f32
  } -> !ragged.tensor<[N], f32>
  // expected-note @+1 {{the derivative is asked for here}}
  %0 = ragged.gradient of(%y : !ragged.tensor<[N], f32>) seeds(%x : !ragged.tensor<[N], f32>)
      wrt(%x : !ragged.tensor<[N], f32>) -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}

// -----

func.func @normalizer(%q: !ragged.tensor<[N, 2, 8], f32>, %s: !ragged.tensor<[N, 2, 2], f32>) -> !ragged.tensor<[N, 2, 8], f32> {
  // expected-error @+1 {{'ragged.attention' op has no derivative of its normalizer}}
  %o, %n = ragged.attention %q, %q, %q : !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 8], f32>
      -> !ragged.tensor<[N, 2, 8], f32>, !ragged.tensor<[N, 2, 2], f32>
  // expected-note @+1 {{the derivative is asked for here}}
  %0 = ragged.gradient of(%n : !ragged.tensor<[N, 2, 2], f32>) seeds(%s : !ragged.tensor<[N, 2, 2], f32>)
      wrt(%q : !ragged.tensor<[N, 2, 8], f32>) -> !ragged.tensor<[N, 2, 8], f32>
  return %0 : !ragged.tensor<[N, 2, 8], f32>
}
