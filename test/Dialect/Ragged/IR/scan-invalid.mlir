// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @scan_dim(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected dim below rank 2, but got 2}}
  %y = ragged.scan ins(%x : !ragged.tensor<[N, 8], f32>) dim 2 init [] {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_scan_inputs(%x: !ragged.tensor<[N, 8], f32>, %z: !ragged.tensor<[M, 8], f32>) {
  // expected-error @below {{expected input 1 of type '!ragged.tensor<[N, 8], f32>', but got '!ragged.tensor<[M, 8], f32>'}}
  %y = ragged.scan ins(%x, %z : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32>) dim 0 init [] {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @scan_results(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected at least one result, but got none}}
  "ragged.scan"(%x) <{dim = 0, init = []}> ({
  ^bb0(%a: f32):
    ragged.yield
  }) : (!ragged.tensor<[N, 8], f32>) -> ()
  return
}

// -----

func.func @scan_init(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected numbers as init, but got another attribute}}
  %y = ragged.scan ins(%x : !ragged.tensor<[N, 8], f32>) dim 0 init ["0"] {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a, %a : f32, f32
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @scan_arguments(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a region with arguments (f32, f64), but got (f32, f32)}}
  %y = ragged.scan ins(%x : !ragged.tensor<[N, 8], f32>) dim 0 init [0.0 : f64] {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %b, %a : f32, f32
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @scan_yield(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected the region to yield (f32, f32), but got (f32)}}
  %y = ragged.scan ins(%x : !ragged.tensor<[N, 8], f32>) dim 0 init [0.0 : f32] {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @accumulate_dim(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected dim below rank 1, but got -1}}
  %y = ragged.accumulate sum %x dim -1 : !ragged.tensor<[N], f32>
  return
}

// -----

func.func @accumulate_sum(%x: !ragged.tensor<[N], i1>) {
  // expected-error @below {{expected numbers, but got 'i1'}}
  %y = ragged.accumulate sum %x dim 0 : !ragged.tensor<[N], i1>
  return
}

// -----

func.func @accumulate_logsumexp(%x: !ragged.tensor<[N], i32>) {
  // expected-error @below {{expected a float element type, but got 'i32'}}
  %y = ragged.accumulate logsumexp %x dim 0 : !ragged.tensor<[N], i32>
  return
}
