// RUN: nested-opt %s --split-input-file --tensor-to-generic --ragged-form-kernels --verify-diagnostics

// The sums of samples have to be stored: another kernel reads them.
// expected-error @+1 {{expected temporaries of at most 50 bytes, as 'ragged.memory_budget' says, but got 64 bytes of values that can't be computed again in the kernels that read them}}
func.func @too_small(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32>
    attributes {ragged.memory_budget = {bytes = 50, lengths = {N = array<i64: 2, 3>}}} {
  // expected-note @+1 {{64 bytes are here: '!ragged.tensor<[8], f32>'}}
  %s = ragged.reduce sum %x dims [0] keepdims : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[1, 8], f32>
  %y = ragged.map ins(%x, %s : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[1, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, 8], f32>
  return %y : !ragged.tensor<[N, 8], f32>
}

// -----

// Members are their rows under another name, and no memory of their own.
// expected-error @+1 {{but got 160 bytes of values that can't be computed again}}
func.func @members(%x: !ragged.tensor<[N, N, 8], f32>) -> !ragged.tensor<[8], f32, path = [B, N]>
    attributes {ragged.memory_budget = {bytes = 50, lengths = {N = array<i64: 2, 3>}}} {
  // expected-note @+1 {{160 bytes are here: '!ragged.tensor<[N, 8], f32>'}}
  %s = ragged.reduce sum %x dims [1] : !ragged.tensor<[N, N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  %r = ragged.renest %s : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32, path = [B, N]>
  %y = ragged.map ins(%r : !ragged.tensor<[8], f32, path = [B, N]>) {
  ^bb0(%a: f32):
    %c = arith.mulf %a, %a : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[8], f32, path = [B, N]>
  return %y : !ragged.tensor<[8], f32, path = [B, N]>
}

// -----

// expected-error @+1 {{expected 'ragged.memory_budget' to have 'bytes', at least 0, and 'lengths', for each symbol an array of i64 that are at least 0, of one size, or 'batch', a number of samples; but got {bytes = 100 : i64}}}
func.func @no_lengths(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32>
    attributes {ragged.memory_budget = {bytes = 100}} {
  return %x : !ragged.tensor<[N, 8], f32>
}

// -----

// expected-error @+1 {{but got {bytes = 100 : i64, lengths = {M = array<i64: 1, 2, 3>, N = array<i64: 2>}}}}
func.func @two_batches(%x: !ragged.tensor<[N, 8], f32>) -> !ragged.tensor<[N, 8], f32>
    attributes {ragged.memory_budget = {bytes = 100, lengths = {N = array<i64: 2>, M = array<i64: 1, 2, 3>}}} {
  return %x : !ragged.tensor<[N, 8], f32>
}

// -----

func.func @not_all_lengths(%x: !ragged.tensor<[N, 8], f32>, %z: !ragged.tensor<[M, 8], f32>) -> !ragged.tensor<[N, M], f32>
    attributes {ragged.memory_budget = {bytes = 100, lengths = {N = array<i64: 2>}}} {
  // expected-error @+1 {{the lengths of 'ragged.memory_budget' don't say how large this is: '!ragged.tensor<[M], f32>'}}
  %m = ragged.reduce sum %z dims [1] : !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[M], f32>
  %n = ragged.reduce sum %x dims [0, 1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[], f32>
  %y = ragged.broadcast %m dims [1] : !ragged.tensor<[M], f32> -> !ragged.tensor<[N, M], f32>
  return %y : !ragged.tensor<[N, M], f32>
}
