// RUN: nested-opt %s --split-input-file --verify-diagnostics

func.func @tile_size() {
  // expected-error @below {{expected a tile of at least 1 row, but got 0}}
  ragged.kernel "k" space [N] path [B] groups 1 units groups tile 0 ins() {
  ^bb0(%t: !ragged.tile):
    ragged.tile_yield
  }
  return
}

// -----

func.func @groups() {
  // expected-error @below {{expected groups of at most the 1 extents of the space, but got 2}}
  ragged.kernel "k" space [N] path [B] groups 2 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    ragged.tile_yield
  }
  return
}

// -----

func.func @chunk() {
  // expected-error @below {{expected a chunk of rows for units of kind 'chunks' only, but got chunk 0 for kind 'chunks'}}
  ragged.kernel "k" space [N] path [B] groups 0 units chunks tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    ragged.tile_yield
  }
  return
}

// -----

func.func @r1_path(%x: !ragged.tensor<[8], f32, path = [B, S]>) {
  // expected-error @below {{expected an input over a prefix of path [B], but got '!ragged.tensor<[8], f32, path = [B, S]>'}}
  ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[8], f32, path = [B, S]>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[8], f32, path = [B, S]>):
    ragged.tile_yield
  }
  return
}

// -----

func.func @arguments(%x: !ragged.tensor<[N, 8], f32>) {
  // expected-error @below {{expected a region with arguments (!ragged.tile, !ragged.tensor<[N, 8], f32>), but got (!ragged.tile)}}
  ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile):
    ragged.tile_yield
  }
  return
}

// -----

func.func @terminator() {
  // expected-error @below {{expected a region that ends with ragged.tile_yield, but got another operation}}
  ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    ub.unreachable
  }
  return
}

// -----

func.func @result_count() {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    // expected-error @below {{expected a value for each of the 1 results of the kernel, but got 0}}
    ragged.tile_yield
  } -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @result_shared() {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
    // expected-error @below {{expected a tile or the result of ragged.tile_reduce, but got a shared value of type 'tensor<4xi64>'}}
    ragged.tile_yield %a : tensor<4xi64>
  } -> !ragged.tensor<[N], i64>
  return
}

// -----

// expected-note @below {{symbol 'M' is bound here}}
// expected-note @below {{symbol 'N' is bound here}}
func.func @result_type(%n: !ragged.tensor<[N], i64>, %m: !ragged.tensor<[M], i64>) {
  // expected-error @below {{expected result of packed extents [M], path [B] and element type i64, but got '!ragged.tensor<[N], i64>'}}
  %0 = ragged.kernel "k" space [M] path [B] groups 1 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    %a = ragged.tile_coord %t dim 0 : tensor<4xi64>
    ragged.tile_yield %a : tensor<4xi64>
  } -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @coord_dim() {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    // expected-error @below {{expected dim below rank 1, but got 1}}
    %a = ragged.tile_coord %t dim 1 : tensor<4xi64>
    ragged.tile_yield %a : tensor<4xi64>
  } -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @coord_rows() {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins() {
  ^bb0(%t: !ragged.tile):
    // expected-error @below {{expected a tile of 4 rows, but got 'tensor<5xi64>'}}
    %a = ragged.tile_coord %t dim 0 : tensor<5xi64>
    ragged.tile_yield %a : tensor<5xi64>
  } -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @read_row_dims(%x: !ragged.tensor<[N, N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, N, 8], f32>):
    // expected-error @below {{expected a map to 2 to 3 row dims of the source, but got 1}}
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, N, 8], f32> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @read_result(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    // expected-error @below {{expected result of type 'tensor<4x8xf32>', but got 'tensor<4x9xf32>'}}
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x9xf32>
    ragged.tile_yield %b : tensor<4x9xf32>
  } -> !ragged.tensor<[N, 9], f32>
  return
}

// -----

func.func @read_offsets(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    // expected-error @below {{expected an offset for each of the 1 results of the map, but got 2}}
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> offsets [0, 0] : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @read_starts(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %c = ragged.tile_coord %t dim 0 : tensor<4xi64>
    // expected-error @below {{expected a dim for each of the 1 starts, but got 0}}
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (0)> starts(%c : tensor<4xi64>) dims [] : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @read_map(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    // expected-error @below {{expected a map from the 1 dims of the space, but got 2}}
    %b = ragged.tile_read %a at %t map affine_map<(d0, d1) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// expected-note @below {{symbol 'N' is bound here}}
// expected-note @below {{symbol 'M' is bound here}}
func.func @r1_read(%x: !ragged.tensor<[N, 8], f32>, %m: !ragged.tensor<[M], f32>) {
  %0 = ragged.kernel "k" space [M] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    // expected-error @below {{expected row dim 0 of extent M, but got N in '!ragged.tensor<[N, 8], f32>'}}
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[M, 8], f32>
  return
}

// -----

func.func @lookup(%x: tensor<21x8xf32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : tensor<21x8xf32>) {
  ^bb0(%t: !ragged.tile, %a: tensor<21x8xf32>):
    %c = ragged.tile_coord %t dim 0 : tensor<4xi64>
    // expected-error @below {{expected result of type 'tensor<4x8xf32>', but got 'tensor<4x9xf32>'}}
    %b = ragged.tile_lookup %a[%c] : tensor<21x8xf32>, tensor<4xi64> -> tensor<4x9xf32>
    ragged.tile_yield %b : tensor<4x9xf32>
  } -> !ragged.tensor<[N, 9], f32>
  return
}

// -----

func.func @reduce_init(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 0 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    // expected-error @below {{expected an init of type 'f32', but got 'f64'}}
    %c = ragged.tile_reduce %b init [0.0 : f64] extents [] combine {
    ^bb0(%x0: f32, %acc: f32):
      ragged.yield %x0 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<4x8xf32> -> tensor<8xf32>
    ragged.tile_yield %c : tensor<8xf32>
  } -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @reduce_finalize(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 0 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    // expected-error @below {{expected a finalize region with arguments (f32, i64), but got (f32)}}
    %c = ragged.tile_reduce %b init [0.0 : f32] extents [N] combine {
    ^bb0(%x0: f32, %acc: f32):
      ragged.yield %x0 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<4x8xf32> -> tensor<8xf32>
    ragged.tile_yield %c : tensor<8xf32>
  } -> !ragged.tensor<[8], f32>
  return
}

// -----

func.func @reduce_result(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 0 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    // expected-error @below {{expected a result without the row dim of 'tensor<4x8xf32>', but got 'tensor<4xf32>'}}
    %c = ragged.tile_reduce %b init [0.0 : f32] extents [] combine {
    ^bb0(%x0: f32, %acc: f32):
      ragged.yield %x0 : f32
    } finalize {
    ^bb0(%acc: f32):
      ragged.yield %acc : f32
    } : tensor<4x8xf32> -> tensor<4xf32>
    ragged.tile_yield %c : tensor<4xf32>
  } -> !ragged.tensor<[4], f32>
  return
}

// -----

func.func @read_outside(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N + 1] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    // expected-error @below {{expected an outside value of type 'f32', but got 'i32'}}
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> outside 0 : i32 : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N + 1, 8], f32>
  return
}
