# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose shapes, types or chains of ops are unusual; see oracle_programs.py."""

from oracle_programs import CASES, case, normal, other, rows, together, weights
from oracle_programs_more import sentences, sixteenths, tokens

__all__ = ["CASES"]


def mask(share, *shape):
    return lambda rng, lengths: [rng.random((n, *shape)) > share for n in lengths]


case(
    "static_middle",
    """func.func @f(%x: <N, 3, 8>, %w: tensor<8x5xf32>) -> (<N, 3, 5>, <N, 5>, <3, 5>) {
  %y = ragged.linear %x, %w : <N, 3, 8>, tensor<8x5xf32> -> <N, 3, 5>
  %a = ragged.reduce sum %y dims [1] : <N, 3, 5> -> <N, 5>
  %b = ragged.reduce max %y dims [0] : <N, 3, 5> -> <3, 5>
  return %y, %a, %b : <N, 3, 5>, <N, 5>, <3, 5> }""",
    together(rows(3, 8), weights(8, 5)),
)

case(
    "keep_static",
    """func.func @f(%x: <N, 3, 8>) -> (<N, 1, 8>, <N, 3, 8>, <1, 1, 8>) {
  %y = ragged.reduce max %x dims [1] keepdims : <N, 3, 8> -> <N, 1, 8>
  %z = ragged.map ins(%x, %y : <N, 3, 8>, <N, 1, 8>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    ragged.yield %c : f32 } -> <N, 3, 8>
  %q = ragged.reduce sum %x dims [0, 1] keepdims : <N, 3, 8> -> <1, 1, 8>
  return %y, %z, %q : <N, 1, 8>, <N, 3, 8>, <1, 1, 8> }""",
    together(rows(3, 8)),
)

case(
    "broadcast_one",
    """func.func @f(%x: <N, 1, 8>, %y: <1, M, 8>, %d: tensor<1x8xf32>) -> (<N, M, 8>, <N, 4, 8>) {
  %a = ragged.broadcast %x dims [0, 1, 2] : <N, 1, 8> -> <N, M, 8>
  %b = ragged.map ins(%a, %y, %d : <N, M, 8>, <1, M, 8>, tensor<1x8xf32>) {
  ^bb0(%i: f32, %j: f32, %k: f32):
    %c = arith.mulf %i, %j : f32
    %e = arith.addf %c, %k : f32
    ragged.yield %e : f32 } -> <N, M, 8>
  %g = ragged.broadcast %x dims [0, 1, 2] : <N, 1, 8> -> <N, 4, 8>
  return %b, %g : <N, M, 8>, <N, 4, 8> }""",
    together(
        rows(1, 8),
        lambda rng, lengths: [normal(rng, 1, other(n), 8) for n in lengths],
        weights(1, 8),
    ),
)

case(
    "select_pairs",
    """func.func @f(%x: <N, 4>, %m: <N; i1>, %k: <N; i1>) -> (<K, K, 4>, <K, L, 4>, <L>, <K, 4>) {
  %y = ragged.masked_select %x, %m : <N, 4>, <N; i1> -> <K, 4>
  %z = ragged.masked_select %x, %k : <N, 4>, <N; i1> -> <L, 4>
  %a = ragged.broadcast %y dims [0, 2] : <K, 4> -> <K, K, 4>
  %b = ragged.broadcast %y dims [1, 2] : <K, 4> -> <K, K, 4>
  %p = ragged.map ins(%a, %b : <K, K, 4>, <K, K, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.mulf %i, %j : f32
    ragged.yield %c : f32 } -> <K, K, 4>
  %g = ragged.broadcast %y dims [0, 2] : <K, 4> -> <K, L, 4>
  %h = ragged.broadcast %z dims [1, 2] : <L, 4> -> <K, L, 4>
  %q = ragged.map ins(%g, %h : <K, L, 4>, <K, L, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.addf %i, %j : f32
    ragged.yield %c : f32 } -> <K, L, 4>
  %s = ragged.reduce sum %q dims [0, 2] : <K, L, 4> -> <L>
  %t = ragged.reduce mean %p dims [1] : <K, K, 4> -> <K, 4>
  return %p, %q, %s, %t : <K, K, 4>, <K, L, 4>, <L>, <K, 4> }""",
    together(rows(4), mask(0.5), mask(0.3)),
    long=40,
)

case(
    "select_twice",
    """func.func @f(%x: <N, 4>, %m: <N; i1>) -> (<L, 4>, tensor<4xf32>, <L; i64>) {
  %y = ragged.masked_select %x, %m : <N, 4>, <N; i1> -> <K, 4>
  %r = ragged.reduce sum %y dims [1] : <K, 4> -> <K>
  %k = ragged.map ins(%r : <K>) {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %a, %z : f32
    ragged.yield %c : i1 } -> <K; i1>
  %w = ragged.masked_select %y, %k : <K, 4>, <K; i1> -> <L, 4>
  %s = ragged.reduce mean %w dims [0] batch : <L, 4> -> tensor<4xf32>
  %i = ragged.iota dim 0 : <L; i64>
  return %w, %s, %i : <L, 4>, tensor<4xf32>, <L; i64> }""",
    together(sixteenths(4), mask(0.3)),
    batch=True,
)

case(
    "select_other_dtypes",
    """func.func @f(%x: <N; i64>, %y: <N, 2; i1>, %m: <N; i1>) -> (<K; i64>, <L, 2; i1>) {
  %a = ragged.masked_select %x, %m : <N; i64>, <N; i1> -> <K; i64>
  %b = ragged.masked_select %y, %m : <N, 2; i1>, <N; i1> -> <L, 2; i1>
  return %a, %b : <K; i64>, <L, 2; i1> }""",
    together(rows(dtype="i8"), mask(0.5, 2), mask(0.3)),
)

case(
    "slice_slice",
    """func.func @f(%x: <N, 8>, %w: tensor<3x5xf32>) -> (<max(N - 2, 0), 5>, <5>) {
  %a = ragged.slice %x dim 0 start <:min(N, 1)> size <:max(N - 1, 0)> : <N, 8> -> <max(N - 1, 0), 8>
  %b = ragged.slice %a dim 0 start <:max(N - 1, 0) - max(N - 2, 0)> size <:max(N - 2, 0)> : <max(N - 1, 0), 8> -> <max(N - 2, 0), 8>
  %c = ragged.slice %b dim 1 start <:4> size <:3> : <max(N - 2, 0), 8> -> <max(N - 2, 0), 3>
  %y = ragged.linear %c, %w : <max(N - 2, 0), 3>, tensor<3x5xf32> -> <max(N - 2, 0), 5>
  %s = ragged.reduce sum %y dims [0] : <max(N - 2, 0), 5> -> <5>
  return %y, %s : <max(N - 2, 0), 5>, <5> }""",
    together(rows(8), weights(3, 5)),
    lambda x, w: (x[2:, 4:7] @ w, (x[2:, 4:7] @ w).sum(0)),
)

case(
    "gather_slice",
    """func.func @f(%t: <N; i64>, %e: tensor<21x8xf32>) -> (<max(N - 1, 0), 8>, <8>) {
  %g = ragged.gather %e, %t : tensor<21x8xf32>, <N; i64> -> <N, 8>
  %b = ragged.slice %g dim 0 start <:min(N, 1)> size <:max(N - 1, 0)> : <N, 8> -> <max(N - 1, 0), 8>
  %s = ragged.reduce sum %b dims [0] : <max(N - 1, 0), 8> -> <8>
  return %b, %s : <max(N - 1, 0), 8>, <8> }""",
    together(tokens, weights(21, 8)),
)

case(
    "gather_pairs",
    """func.func @f(%t: <N; i64>, %e: tensor<21x21x4xf32>, %v: tensor<21xf32>) -> (<N, 21, 4>, <N, N>) {
  %g = ragged.gather %e, %t : tensor<21x21x4xf32>, <N; i64> -> <N, 21, 4>
  %q = ragged.broadcast %t dims [0] : <N; i64> -> <N, N; i64>
  %r = ragged.broadcast %t dims [1] : <N; i64> -> <N, N; i64>
  %d = ragged.map ins(%q, %r : <N, N; i64>, <N, N; i64>) {
  ^bb0(%i: i64, %j: i64):
    %c = arith.subi %i, %j : i64
    %z = arith.constant 0 : i64
    %m = arith.maxsi %c, %z : i64
    ragged.yield %m : i64 } -> <N, N; i64>
  %h = ragged.gather %v, %d : tensor<21xf32>, <N, N; i64> -> <N, N>
  return %g, %h : <N, 21, 4>, <N, N> }""",
    together(tokens, weights(21, 21, 4), weights(21)),
    long=30,
)

case(
    "gather_scalars",
    """func.func @f(%t: <N, 2; i64>, %s: <; i64>, %e: tensor<21x4xf32>) -> (<N, 2, 4>, <4>, <N, 4>) {
  %g = ragged.gather %e, %t : tensor<21x4xf32>, <N, 2; i64> -> <N, 2, 4>
  %h = ragged.gather %e, %s : tensor<21x4xf32>, <; i64> -> <4>
  %k = ragged.reduce sum %g dims [1] : <N, 2, 4> -> <N, 4>
  return %g, %h, %k : <N, 2, 4>, <4>, <N, 4> }""",
    together(
        lambda rng, lengths: [rng.integers(0, 21, (n, 2)) for n in lengths],
        lambda rng, lengths: [rng.integers(0, 21, ()) for _ in lengths],
        weights(21, 4),
    ),
)

case(
    "integers",
    """func.func @f(%a: <N, 3; i8>, %b: <N, 3; i16>, %c: <N, 3; i32>) -> (<3; i8>, <3; i16>, <N; i32>, <3; i8>, <N, 3; i8>, <N, 3; i16>) {
  %s = ragged.reduce sum %a dims [0] : <N, 3; i8> -> <3; i8>
  %t = ragged.reduce max %b dims [0] : <N, 3; i16> -> <3; i16>
  %u = ragged.reduce min %c dims [1] : <N, 3; i32> -> <N; i32>
  %v = ragged.reduce min %a dims [0] empty identity : <N, 3; i8> -> <3; i8>
  %w = ragged.map ins(%a : <N, 3; i8>) {
  ^bb0(%i: i8):
    %k = arith.constant 100 : i8
    %r = arith.muli %i, %k : i8
    %q = arith.constant 7 : i8
    %d = arith.divsi %r, %q : i8
    ragged.yield %d : i8 } -> <N, 3; i8>
  %x = ragged.map ins(%a, %b : <N, 3; i8>, <N, 3; i16>) {
  ^bb0(%i: i8, %j: i16):
    %e = arith.extsi %i : i8 to i16
    %r = arith.xori %e, %j : i16
    %o = arith.constant 3 : i16
    %h = arith.shrsi %r, %o : i16
    ragged.yield %h : i16 } -> <N, 3; i16>
  return %s, %t, %u, %v, %w, %x : <3; i8>, <3; i16>, <N; i32>, <3; i8>, <N, 3; i8>, <N, 3; i16> }""",
    together(rows(3, dtype="i1"), rows(3, dtype="i2"), rows(3, dtype="i4")),
)

case(
    "bools",
    """func.func @f(%a: <N, 3; i1>) -> (<3; i1>, <N; i1>, <N, N, 3; i1>, <3, N; i1>) {
  %s = ragged.reduce max %a dims [0] : <N, 3; i1> -> <3; i1>
  %t = ragged.reduce min %a dims [1] : <N, 3; i1> -> <N; i1>
  %p = ragged.broadcast %a dims [1, 2] : <N, 3; i1> -> <N, N, 3; i1>
  %q = ragged.transpose %a permutation [1, 0] : <N, 3; i1> -> <3, N; i1>
  return %s, %t, %p, %q : <3; i1>, <N; i1>, <N, N, 3; i1>, <3, N; i1> }""",
    together(mask(0.5, 3)),
    long=20,
)

case(
    "map_of_nothing",
    """func.func @f(%x: <N>) -> (tensor<4xi64>, <N; i64>, <; i64>, <N, N; i64>) {
  %z = ragged.map ins() {
    %c = arith.constant 7 : i64
    ragged.yield %c : i64 } -> tensor<4xi64>
  %y = ragged.map ins() {
    %c = arith.constant 9 : i64
    ragged.yield %c : i64 } -> <N; i64>
  %e = ragged.extent <:N * N + 3> : <; i64>
  %u = ragged.broadcast %e dims [] : <; i64> -> <N, N; i64>
  return %z, %y, %e, %u : tensor<4xi64>, <N; i64>, <; i64>, <N, N; i64> }""",
    together(rows()),
    batch=True,
    long=20,
)

case(
    "math",
    """func.func @f(%x: <N, 5>, %y: <N, 5; f64>) -> (<N, 5>, <N, 5; f64>) {
  %a = ragged.map ins(%x : <N, 5>) {
  ^bb0(%v: f32):
    %1 = math.sin %v : f32
    %2 = math.cos %v : f32
    %3 = math.erf %v : f32
    %4 = math.absf %v : f32
    %5 = math.log %4 : f32
    %6 = math.rsqrt %4 : f32
    %7 = math.exp2 %v : f32
    %8 = math.log1p %4 : f32
    %9 = math.floor %v : f32
    %10 = arith.addf %1, %2 : f32
    %11 = arith.addf %10, %3 : f32
    %12 = arith.addf %11, %5 : f32
    %13 = arith.addf %12, %6 : f32
    %14 = arith.addf %13, %7 : f32
    %15 = arith.addf %14, %8 : f32
    %16 = arith.addf %15, %9 : f32
    ragged.yield %16 : f32 } -> <N, 5>
  %b = ragged.map ins(%y : <N, 5; f64>) {
  ^bb0(%v: f64):
    %1 = math.sin %v : f64
    %2 = math.cos %v : f64
    %3 = math.erf %v : f64
    %4 = math.absf %v : f64
    %5 = math.log %4 : f64
    %6 = math.rsqrt %4 : f64
    %7 = math.exp %v : f64
    %8 = math.tanh %v : f64
    %9 = math.powf %4, %v : f64
    %10 = arith.addf %1, %2 : f64
    %11 = arith.addf %10, %3 : f64
    %12 = arith.addf %11, %5 : f64
    %13 = arith.addf %12, %6 : f64
    %14 = arith.addf %13, %7 : f64
    %15 = arith.addf %14, %8 : f64
    %16 = arith.addf %15, %9 : f64
    ragged.yield %16 : f64 } -> <N, 5; f64>
  return %a, %b : <N, 5>, <N, 5; f64> }""",
    together(rows(5), rows(5, dtype="f8")),
)

case(
    "bilinear",
    """func.func @f(%x: <N, 6>, %y: <M, 6>) -> (<N, M>, <6, 6>) {
  %z = ragged.fill 0.0 : f32 -> <N, M>
  %o = ragged.generic dims [N, M, 6] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %y : <N, 6>, <M, 6>) outs(%z : <N, M>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32 } -> <N, M>
  %zz = ragged.fill 0.0 : f32 -> <6, 6>
  %w = ragged.generic dims [6, 6, N] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %x : <N, 6>, <N, 6>) outs(%zz : <6, 6>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32 } -> <6, 6>
  return %o, %w : <N, M>, <6, 6> }""",
    together(rows(6), lambda rng, lengths: rows(6)(rng, [other(n) for n in lengths])),
    lambda x, y: (x @ y.T, x.T @ x),
)

case(
    "weight_gradient",
    """func.func @f(%x: <N, 6>, %y: <N, 5>) -> tensor<6x5xf32> {
  %zz = ragged.fill 0.0 : f32 -> tensor<6x5xf32>
  %w = ragged.generic dims [6, 5, N] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] batch_reduced
      ins(%x, %y : <N, 6>, <N, 5>) outs(%zz : tensor<6x5xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32 } -> tensor<6x5xf32>
  return %w : tensor<6x5xf32> }""",
    together(rows(6), rows(5)),
    batch=True,
)

case(
    "nest_kept",
    """func.func @f(%x: <N, 4>, %n: <S; i64>, %c: <4>) -> (<T, T; f32; path = [B, S]>, <S, 4>, <T, 4; f32; path = [B, S]>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %e = ragged.broadcast %c dims [1] : <4> -> <T, 4; f32; path = [B, S]>
  %z = ragged.map ins(%y, %e : <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>) {
  ^bb0(%i: f32, %j: f32):
    %r = arith.addf %i, %j : f32
    ragged.yield %r : f32 } -> <T, 4; f32; path = [B, S]>
  %g = ragged.reduce max %z dims [0] : <T, 4; f32; path = [B, S]> -> <4; f32; path = [B, S]>
  %u = ragged.unnest %g : <4; f32; path = [B, S]> -> <S, 4>
  %r = ragged.reduce sum %y dims [1] : <T, 4; f32; path = [B, S]> -> <T; f32; path = [B, S]>
  %p = ragged.broadcast %r dims [1] : <T; f32; path = [B, S]> -> <T, T; f32; path = [B, S]>
  return %p, %u, %z : <T, T; f32; path = [B, S]>, <S, 4>, <T, 4; f32; path = [B, S]> }""",
    lambda rng, lengths: [*sentences(rng, lengths), [normal(rng, 4) for _ in lengths]],
)

case(
    "extents",
    """func.func @f(%x: <N + M, 4>, %y: <N>, %z: <M>) -> (<N, 4>, <M, 4>, <N * M>) {
  %a = ragged.slice %x dim 0 start <:0> size <:N> : <N + M, 4> -> <N, 4>
  %b = ragged.slice %x dim 0 start <:N> size <:M> : <N + M, 4> -> <M, 4>
  %c = ragged.fill 1.0 : f32 -> <N * M>
  return %a, %b, %c : <N, 4>, <M, 4>, <N * M> }""",
    together(
        lambda rng, lengths: [normal(rng, n + other(n), 4) for n in lengths],
        rows(),
        lambda rng, lengths: [normal(rng, other(n)) for n in lengths],
    ),
)
