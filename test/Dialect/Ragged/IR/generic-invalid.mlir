// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @iterators(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected an iterator for each of the 1 dims, but got 0}}
  %y = ragged.generic dims [N] iterators [] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @iterator_kind(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected iterator 'parallel' or 'reduction', but got 'window'}}
  %y = ragged.generic dims [N] iterators ["window"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @map_count(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a map for each of the 2 operands, but got 1}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @map_dims(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected map 0 from 1 dims to 1, but got one from 2 dims and 0 symbols to 1}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a, b) -> (a)>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @results(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a result for each of the 1 outputs, but got 2}}
  %y:2 = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>]
      ins() outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%b: f32):
    ragged.yield %b : f32
  } -> !ragged.tensor<[N], f32>, !ragged.tensor<[N], f32>
  return
}

// -----

func.func @offset_lists(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a list of offsets for each of the 1 inputs, but got 0}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>] offsets []
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @offset_kind(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected offsets that are lists of extents, but got another attribute}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>] offsets [[1]]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @offset_count(%x: !ragged.tensor<[N, 8], f32>, %z: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected no offsets or 2, but got 1}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a, 0)>, affine_map<(a) -> (a)>] offsets [[#ragged.extent<1>]]
      ins(%x : !ragged.tensor<[N, 8], f32>) outs(%z : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @r1_path(%x: !ragged.tensor<[], f32, path = [B, S]>, %z: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected input 0 over a prefix of path [B], but got '!ragged.tensor<[], f32, path = [B, S]>'}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> ()>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[], f32, path = [B, S]>) outs(%z : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_input(%x: !ragged.tensor<[M], f32>, %z: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected input 0 to have extent N at dim 0, but got M in '!ragged.tensor<[M], f32>'}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>]
      ins(%x : !ragged.tensor<[M], f32>) outs(%z : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

// With offsets only what cannot be true is an error.
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_offset(%x: !ragged.tensor<[N], f32>, %z: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected input 0 to have extent N + 1 at dim 0, but got N in '!ragged.tensor<[N], f32>'}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>] offsets [[#ragged.extent<1>]]
      ins(%x : !ragged.tensor<[N], f32>) outs(%z : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

// No two points write one place.
func.func @output_map(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected map of output 0 to be a permutation of the parallel dims, but got (d0, d1) -> (d0)}}
  %y = ragged.generic dims [N, 8] iterators ["parallel", "parallel"] path [B] maps [affine_map<(a, b) -> (a)>]
      ins() outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%b: f32):
    ragged.yield %b : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @output_reduction(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected map of output 0 to be a permutation of the parallel dims, but got (d0, d1) -> (d1)}}
  %y = ragged.generic dims [N, N] iterators ["parallel", "reduction"] path [B] maps [affine_map<(a, b) -> (b)>]
      ins() outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%b: f32):
    ragged.yield %b : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_output(%x: !ragged.tensor<[N], f32>, %m: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected output of type '!ragged.tensor<[M], f32>', but got '!ragged.tensor<[N], f32>'}}
  %y = ragged.generic dims [M] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>]
      ins() outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%b: f32):
    ragged.yield %b : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @result_type(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N], f32>', that of its output, but got '!ragged.tensor<[N], f64>'}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>]
      ins() outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%b: f32):
    ragged.yield %b : f32
  } -> !ragged.tensor<[N], f64>
  return
}

// -----

func.func @batch_reduced(%x: tensor<8xf32>) {
  // expected-error @below {{expected a path to reduce the batch of, but got []}}
  %y = ragged.generic dims [8] iterators ["parallel"] path [] maps [affine_map<(a) -> (a)>] batch_reduced
      ins() outs(%x : tensor<8xf32>) {
  ^bb0(%b: f32):
    ragged.yield %b : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @arguments(%x: tensor<8xf32>) {
  // expected-error @below {{expected a region with arguments (f32), but got (f32, f32)}}
  %y = ragged.generic dims [8] iterators ["parallel"] path [] maps [affine_map<(a) -> (a)>]
      ins() outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %b : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @index_dim(%x: tensor<8xi64>) {
  %y = ragged.generic dims [8] iterators ["parallel"] path [] maps [affine_map<(a) -> (a)>]
      ins() outs(%x : tensor<8xi64>) {
  ^bb0(%b: i64):
    // expected-error @below {{expected dim below rank 1, but got 1}}
    %i = ragged.index 1 : i64
    ragged.yield %i : i64
  } -> tensor<8xi64>
  return
}

// -----

func.func @index_parent() {
  // expected-error @below {{expected to be inside ragged.generic, but got another parent}}
  %i = ragged.index 0 : i64
  return
}

// -----

func.func @outside_count(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected an outside value or unit for each of the 1 inputs, but got 2}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>] outside [0.0 : f32, unit]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @outside_type(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected outside value 0 of type 'f32', but got 'f64'}}
  %y = ragged.generic dims [N] iterators ["parallel"] path [B] maps [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>] outside [0.0 : f64]
      ins(%x : !ragged.tensor<[N], f32>) outs(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], f32>
  return
}
