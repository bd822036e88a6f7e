// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @fill_type() {
  // expected-error @below {{expected a value of type 'f32', but got 'f64'}}
  %z = ragged.fill 0.0 : f64 -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @fill_kind() {
  // expected-error @below {{expected a number, but got another attribute}}
  %z = ragged.fill dense<0.0> : tensor<2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @iota_type() {
  // expected-error @below {{expected element type i64, but got 'i32'}}
  %i = ragged.iota dim 0 : !ragged.tensor<[N], i32>
  return
}

// -----

func.func @iota_dim() {
  // expected-error @below {{expected dim below rank 1, but got 1}}
  %i = ragged.iota dim 1 : !ragged.tensor<[N], i64>
  return
}

// -----

// Two axes of the same name are the same; two of different names are not, even if
// all batches that were ever seen had equal lengths.
// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_extents(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>) {
  // expected-error @below {{expected input 1 to have extent N at dim 0, as in '!ragged.tensor<[N, 8], f32>', but got M in '!ragged.tensor<[M, 8], f32>'}}
  %z = ragged.map ins(%x, %y : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_transposed(%x: !ragged.tensor<[N, M], f32>, %y: !ragged.tensor<[M, N], f32>) {
  // expected-error @below {{expected input 1 to have extent N at dim 0, as in '!ragged.tensor<[N, M], f32>', but got M in '!ragged.tensor<[M, N], f32>'}}
  %z = ragged.map ins(%x, %y : !ragged.tensor<[N, M], f32>, !ragged.tensor<[M, N], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N, M], f32>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @r1_path(%x: !ragged.tensor<[8], f32>, %y: !ragged.tensor<[8], f32, path = [B, S]>) {
  // expected-error @below {{expected input 1 over a prefix of path [B], but got '!ragged.tensor<[8], f32, path = [B, S]>'}}
  %z = ragged.map ins(%x, %y : !ragged.tensor<[8], f32>, !ragged.tensor<[8], f32, path = [B, S]>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[8], f32>
  return
}

// -----

// Is N here the first or the second N of the result?
func.func @r2_ambiguous(%x: !ragged.tensor<[N, N, 8], f32>, %y: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected input 1 with a ragged dim to have rank 3, that of the result, but got '!ragged.tensor<[N, 8], f32>'}}
  // expected-note @below {{say which dims it has with ragged.broadcast}}
  %z = ragged.map ins(%x, %y : !ragged.tensor<[N, N, 8], f32>, !ragged.tensor<[N, 8], f32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N, N, 8], f32>
  return
}

// -----

// A dense operand aligns with static dims only.
// expected-note @below {{symbol 'N' is bound here}}
func.func @r2_dense(%x: !ragged.tensor<[8, N], f32>, %y: tensor<8xf32>) {
  // expected-error @below {{expected input 1 to have extent N at dim 0, as in '!ragged.tensor<[8, N], f32>', but got 8 in 'tensor<8xf32>'}}
  %z = ragged.map ins(%x, %y : !ragged.tensor<[8, N], f32>, tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[8, N], f32>
  return
}

// -----

func.func @map_rank(%x: !ragged.tensor<[1, 8], f32>) {
  // expected-error @below {{expected input 0 of at most rank 1, but got '!ragged.tensor<[1, 8], f32>'}}
  %z = ragged.map ins(%x : !ragged.tensor<[1, 8], f32>) {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @map_arguments(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected a region with arguments (f32), but got (f64)}}
  %z = ragged.map ins(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f64):
    ragged.yield %a : f64
  } -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @map_yield(%x: !ragged.tensor<[N], f32>) {
  // expected-error @below {{expected the region to yield (i1), but got (f32)}}
  %z = ragged.map ins(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32):
    ragged.yield %a : f32
  } -> !ragged.tensor<[N], i1>
  return
}

// -----

func.func @broadcast_count(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a result dim for each of the 2 dims of the source, but got 1}}
  %y = ragged.broadcast %x dims [0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  return
}

// -----

func.func @broadcast_dims(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result dims below rank 3, but got 3}}
  %y = ragged.broadcast %x dims [0, 3] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  return
}

// -----

func.func @broadcast_type(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected element type 'f32', but got 'f64'}}
  %y = ragged.broadcast %x dims [0, 1] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f64>
  return
}

// -----

// expected-note @below {{symbol 'S' is bound here}}
func.func @r1_broadcast(%x: !ragged.tensor<[8], f32, path = [B, S]>) {
  // expected-error @below {{expected a source over a prefix of path [B], but got [B, S]}}
  %z = ragged.broadcast %x dims [0] : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[8], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r2_broadcast(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[M], f32>) {
  // expected-error @below {{expected extent M or 1 at dim 0 of the source, as at dim 1 of the result, but got N}}
  %y = ragged.broadcast %x dims [1, 2] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
  return
}

// -----

func.func @reduce_dims(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected distinct dims, but got 0 twice}}
  %y = ragged.reduce sum %x dims [0, 0] : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @reduce_mean(%x: !ragged.tensor<[N, 8], i64>) {
  // expected-error @below {{expected a float element type for 'mean', but got 'i64'}}
  %y = ragged.reduce mean %x dims [0] : !ragged.tensor<[N, 8], i64> -> !ragged.tensor<[8], i64>
  return
}

// -----

func.func @r5_empty(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected 'empty' with 'max' or 'min' only, but got it with 'sum'}}
  %y = ragged.reduce sum %x dims [0] empty identity : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @reduce_dense(%x: tensor<3x8xf32>) {
  // expected-error @below {{expected a batched source to reduce over the batch, but got 'tensor<3x8xf32>'}}
  %y = ragged.reduce sum %x dims [0] batch : tensor<3x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_batch(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected every ragged dim among the reduced ones, when the batch is, but got dim 0 of extent N kept}}
  %y = ragged.reduce sum %x dims [1] batch : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N], f32>
  return
}

// -----

func.func @reduce_result(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[1, 8], f32>', but got '!ragged.tensor<[8], f32>'}}
  %y = ragged.reduce sum %x dims [0] keepdims : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @linear_shape(%x: !ragged.tensor<[N, 8], f32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expected weights of static shape, but got 'tensor<?x4xf32>'}}
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 8], f32>, tensor<?x4xf32> -> !ragged.tensor<[N, 4], f32>
  return
}

// -----

func.func @linear_source(%x: !ragged.tensor<[8, N], f32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{expected a source whose last dim is static and stored last, but got '!ragged.tensor<[8, N], f32>'}}
  %y = ragged.linear %x, %w : !ragged.tensor<[8, N], f32>, tensor<8x4xf32> -> !ragged.tensor<[8, 4], f32>
  return
}

// -----

func.func @r1_linear(%x: !ragged.tensor<[N, 8], f32>, %w: tensor<9x4xf32>) {
  // expected-error @below {{expected weights with 8 rows, the last extent of '!ragged.tensor<[N, 8], f32>', but got 9}}
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 8], f32>, tensor<9x4xf32> -> !ragged.tensor<[N, 4], f32>
  return
}

// -----

func.func @linear_type(%x: !ragged.tensor<[N, 8], f32>, %w: tensor<8x4xf64>) {
  // expected-error @below {{expected weights of element type 'f32', but got 'f64'}}
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 8], f32>, tensor<8x4xf64> -> !ragged.tensor<[N, 4], f32>
  return
}

// -----

func.func @linear_bias(%x: !ragged.tensor<[N, 8], f32>, %w: tensor<8x4xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{expected bias of type 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %y = ragged.linear %x, %w bias %b : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32>, tensor<8xf32> -> !ragged.tensor<[N, 4], f32>
  return
}

// -----

// R6: a narrow product may be kept in f32, not in another type.
func.func @linear_result(%x: !ragged.tensor<[N, 8], bf16>, %w: tensor<8x4xbf16>) {
  %y = ragged.linear %x, %w : !ragged.tensor<[N, 8], bf16>, tensor<8x4xbf16> -> !ragged.tensor<[N, 4], f32>
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 4], bf16>', but got '!ragged.tensor<[N, 4], f16>'}}
  %z = ragged.linear %x, %w : !ragged.tensor<[N, 8], bf16>, tensor<8x4xbf16> -> !ragged.tensor<[N, 4], f16>
  return
}

// -----

func.func @normalize_type(%x: !ragged.tensor<[N, 8], i64>) {
  // expected-error @below {{expected a float element type, but got 'i64'}}
  %y = ragged.normalize layer %x : !ragged.tensor<[N, 8], i64> -> !ragged.tensor<[N, 8], i64>
  return
}

// -----

func.func @normalize_dims(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected at least one trailing dim, static and stored last, but got 2 dims of '!ragged.tensor<[N, 8], f32>'}}
  %y = ragged.normalize layer %x {dims = 2 : i64} : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @normalize_scale(%x: !ragged.tensor<[N, 8], f32>, %g: tensor<9xf32>) {
  // expected-error @below {{expected scale of type 'tensor<8xf32>', but got 'tensor<9xf32>'}}
  %y = ragged.normalize layer %x scale %g : !ragged.tensor<[N, 8], f32>, scale tensor<9xf32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @normalize_offset(%x: !ragged.tensor<[N, 8], f32>, %g: tensor<9xf32>) {
  // expected-error @below {{expected offset of type 'tensor<8xf32>', but got 'tensor<9xf32>'}}
  %y = ragged.normalize layer %x offset %g : !ragged.tensor<[N, 8], f32>, offset tensor<9xf32> -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @r1_linear(%x: !ragged.tensor<[N, 8], f32>, %y: !ragged.tensor<[M, 8], f32>, %w: tensor<8x4xf32>) {
  // expected-error @below {{expected result of type '!ragged.tensor<[N, 4], f32>', but got '!ragged.tensor<[M, 4], f32>'}}
  %z = ragged.linear %x, %w : !ragged.tensor<[N, 8], f32>, tensor<8x4xf32> -> !ragged.tensor<[M, 4], f32>
  return
}

// -----

func.func @empty() {
  // expected-error @below {{'ragged.empty' op result #0 must be ragged tensor or dense tensor of static shape, but got 'tensor<?xf32>'}}
  %z = ragged.empty : tensor<?xf32>
  return
}
