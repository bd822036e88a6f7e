// RUN: nested-opt %s --split-input-file --verify-diagnostics

// Rule K1: rows of a tile are independent of each other and of where in the tile
// they are.

// The product of a tile and its transpose mixes rows, of other samples too.
func.func @k1_mixes_rows(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    %e = tensor.empty() : tensor<4x4xf32>
    // expected-error @below {{expected dim 0 of operand 1, and no other, to be loop 0 (K1), but got (d0, d1, d2) -> (d1, d2)}}
    %c = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%b, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%l: f32, %r: f32, %acc: f32):
      %m = arith.mulf %l, %r : f32
      linalg.yield %m : f32
    } -> tensor<4x4xf32>
    ragged.tile_yield %c : tensor<4x4xf32>
  } -> !ragged.tensor<[N, 4], f32>
  return
}

// -----

func.func @k1_reduces_rows(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    %e = tensor.empty() : tensor<8xf32>
    // expected-error @below {{expected loop 0, the rows of the tile, to be parallel (K1), but got a reduction}}
    %c = linalg.reduce ins(%b : tensor<4x8xf32>) outs(%e : tensor<8xf32>) dimensions = [0]
      (%l: f32, %r: f32) {
        %s = arith.addf %l, %r : f32
        linalg.yield %s : f32
      }
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @k1_transposes(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    %e = tensor.empty() : tensor<8x4xf32>
    // expected-error @below {{expected dim 0 of operand 0, and no other, to be loop 0 (K1), but got (d0, d1) -> (d1, d0)}}
    %c = linalg.transpose ins(%b : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

// What row r gets depends on r, so on how the batch was cut into tiles.
func.func @k1_shared_rows(%x: !ragged.tensor<[N, 8], f32>, %s: tensor<4x8xf32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x, %s : !ragged.tensor<[N, 8], f32>, tensor<4x8xf32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>, %w: tensor<4x8xf32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    // expected-error @below {{expected operand 1, which loop 0 indexes, to be a tile (K1), but got a shared value}}
    %c = linalg.add ins(%b, %w : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    ragged.tile_yield %c : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @k1_row_index(%x: !ragged.tensor<[N], i64>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N], i64>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N], i64>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N], i64> -> tensor<4xi64>
    // expected-error @below {{expected rows to be independent of where in the tile they are (K1), but got linalg.index 0}}
    %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%b : tensor<4xi64>) {
    ^bb0(%l: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      linalg.yield %j : i64
    } -> tensor<4xi64>
    ragged.tile_yield %c : tensor<4xi64>
  } -> !ragged.tensor<[N], i64>
  return
}

// -----

func.func @k1_elementwise(%x: !ragged.tensor<[N, 8], f32>, %s: tensor<4x8xf32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x, %s : !ragged.tensor<[N, 8], f32>, tensor<4x8xf32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>, %w: tensor<4x8xf32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    // expected-error @below {{expected operands that are tiles (K1), but got a shared value}}
    %c = arith.addf %b, %w : tensor<4x8xf32>
    ragged.tile_yield %c : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @k1_slices_rows(%x: !ragged.tensor<[N, 8], f32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x : !ragged.tensor<[N, 8], f32>) {
  ^bb0(%t: !ragged.tile, %a: !ragged.tensor<[N, 8], f32>):
    %b = ragged.tile_read %a at %t map affine_map<(d0) -> (d0)> : !ragged.tensor<[N, 8], f32> -> tensor<4x8xf32>
    // expected-error @below {{expected an operation on tiles that is known to leave rows independent (K1), but got one that is not}}
    %c = tensor.extract_slice %b[1, 0] [3, 8] [1, 1] : tensor<4x8xf32> to tensor<3x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @k1_lookup(%x: tensor<21x8xf32>, %i: tensor<4xi64>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 1 units groups tile 4 ins(%x, %i : tensor<21x8xf32>, tensor<4xi64>) {
  ^bb0(%t: !ragged.tile, %a: tensor<21x8xf32>, %j: tensor<4xi64>):
    // expected-error @below {{expected indices that are a tile (K1), but got shared ones}}
    %b = ragged.tile_lookup %a[%j] : tensor<21x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
    ragged.tile_yield %b : tensor<4x8xf32>
  } -> !ragged.tensor<[N, 8], f32>
  return
}

// -----

func.func @k1_reduce(%x: tensor<4x8xf32>) {
  %0 = ragged.kernel "k" space [N] path [B] groups 0 units groups tile 4 ins(%x : tensor<4x8xf32>) {
  ^bb0(%t: !ragged.tile, %a: tensor<4x8xf32>):
    // expected-error @below {{expected inputs that are tiles (K1), but got 'tensor<4x8xf32>'}}
    %c = ragged.tile_reduce %a init [0.0 : f32] extents [] combine {
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
