# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second half of the programs of oracle_programs.py: products, moves, structure."""

import numpy as np
from oracle_programs import (
    CASES,
    case,
    literal,
    normal,
    other,
    ragged_types,
    rectangles,
    reduced,
    rows,
    together,
    weights,
)

__all__ = ["CASES", "ragged_types"]

# --- Products and norms ------------------------------------------------------------

case("linear_odd_bias", """func.func @f(%x: <N, 100>, %w: tensor<100x131xf32>, %b: tensor<131xf32>) -> <N, 131> {
  %y = ragged.linear %x, %w bias %b : <N, 100>, tensor<100x131xf32>, tensor<131xf32> -> <N, 131>
  return %y : <N, 131> }""",
     together(rows(100), weights(100, 131), weights(131)), lambda x, w, b: x @ w + b)  # fmt: skip

case("linear_one", """func.func @f(%x: <N, 1>, %w: tensor<1x1xf32>, %v: tensor<1x7xf32>, %u: tensor<7x1xf32>) -> (<N, 1>, <N, 7>, <N, 1>) {
  %y = ragged.linear %x, %w : <N, 1>, tensor<1x1xf32> -> <N, 1>
  %z = ragged.linear %x, %v : <N, 1>, tensor<1x7xf32> -> <N, 7>
  %s = ragged.linear %z, %u : <N, 7>, tensor<7x1xf32> -> <N, 1>
  return %y, %z, %s : <N, 1>, <N, 7>, <N, 1> }""",
     together(rows(1), weights(1, 1), weights(1, 7), weights(7, 1)),
     lambda x, w, v, u: (x @ w, x @ v, x @ v @ u))  # fmt: skip

case("linear_f64", """func.func @f(%x: <N, 33; f64>, %w: tensor<33x17xf64>, %b: tensor<17xf64>) -> <N, 17; f64> {
  %y = ragged.linear %x, %w bias %b : <N, 33; f64>, tensor<33x17xf64>, tensor<17xf64> -> <N, 17; f64>
  return %y : <N, 17; f64> }""",
     together(rows(33, dtype="f8"), weights(33, 17, dtype="f8"), weights(17, dtype="f8")),
     lambda x, w, b: x @ w + b)  # fmt: skip

case("linear_integers", """func.func @f(%x: <N, 7; i64>, %w: tensor<7x5xi64>, %z: <N, 7; i32>, %v: tensor<7x5xi32>) -> (<N, 5; i64>, <N, 5; i32>) {
  %y = ragged.linear %x, %w : <N, 7; i64>, tensor<7x5xi64> -> <N, 5; i64>
  %u = ragged.linear %z, %v : <N, 7; i32>, tensor<7x5xi32> -> <N, 5; i32>
  return %y, %u : <N, 5; i64>, <N, 5; i32> }""",
     together(rows(7, dtype="i8"), weights(7, 5, dtype="i8"), rows(7, dtype="i4"), weights(7, 5, dtype="i4")),
     lambda x, w, z, v: (x @ w, z @ v))  # fmt: skip

case("linear_per_sample", """func.func @f(%x: <12>, %w: tensor<12x8xf32>) -> <8> {
  %y = ragged.linear %x, %w : <12>, tensor<12x8xf32> -> <8>
  return %y : <8> }""",
     lambda rng, lengths: [[normal(rng, 12) for _ in lengths], W12],
     lambda x, w: x @ w)  # fmt: skip
W12 = weights(12, 8)


def layer_norm(x, scale=1.0, offset=0.0, axes=(-1,), eps=1e-5):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + eps) * scale + offset


case("normalize", """func.func @f(%x: <N, 100>, %g: tensor<100xf32>, %b: tensor<100xf32>) -> (<N, 100>, <N, 100>) {
  %y = ragged.normalize layer %x scale %g offset %b {eps = 1.0e-3 : f64} : <N, 100>, scale tensor<100xf32>, offset tensor<100xf32> -> <N, 100>
  %z = ragged.normalize layer %x : <N, 100> -> <N, 100>
  return %y, %z : <N, 100>, <N, 100> }""",
     together(rows(100), weights(100), weights(100)),
     lambda x, g, b: (layer_norm(x, g, b, eps=1e-3), layer_norm(x)))  # fmt: skip

case("normalize_two_dims", """func.func @f(%x: <N, 3, 4; f64>, %g: tensor<3x4xf64>) -> <N, 3, 4; f64> {
  %y = ragged.normalize layer %x scale %g {dims = 2 : i64} : <N, 3, 4; f64>, scale tensor<3x4xf64> -> <N, 3, 4; f64>
  return %y : <N, 3, 4; f64> }""",
     together(rows(3, 4, dtype="f8"), weights(3, 4, dtype="f8")),
     lambda x, g: layer_norm(x, g, axes=(-2, -1)))  # fmt: skip

# Far from zero, where a variance in one pass has no digit right. The means are exact.
case("normalize_shifted", """func.func @f(%x: <N, 64>) -> <N, 64> {
  %y = ragged.normalize layer %x : <N, 64> -> <N, 64>
  return %y : <N, 64> }""",
     together(lambda rng, lengths: [rng.integers(4088, 4105, (n, 64)).astype("f4") for n in lengths]),
     layer_norm)  # fmt: skip

# A contraction over a ragged axis, twice with the same tensor read in two orders.
case("triangle", """func.func @f(%a: <N, N, 4>, %b: <N, N, 4>) -> (<N, N, 4>, <N, N, 4>) {
  %z = ragged.fill 0.0 : f32 -> <N, N, 4>
  %o = ragged.generic dims [N, N, N, 4] iterators ["parallel", "parallel", "reduction", "parallel"] path [B]
      maps [affine_map<(i, j, k, c) -> (i, k, c)>, affine_map<(i, j, k, c) -> (j, k, c)>, affine_map<(i, j, k, c) -> (i, j, c)>]
      ins(%a, %b : <N, N, 4>, <N, N, 4>) outs(%z : <N, N, 4>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32 } -> <N, N, 4>
  %i = ragged.generic dims [N, N, N, 4] iterators ["parallel", "parallel", "reduction", "parallel"] path [B]
      maps [affine_map<(i, j, k, c) -> (k, i, c)>, affine_map<(i, j, k, c) -> (k, j, c)>, affine_map<(i, j, k, c) -> (i, j, c)>]
      ins(%a, %b : <N, N, 4>, <N, N, 4>) outs(%z : <N, N, 4>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32 } -> <N, N, 4>
  return %o, %i : <N, N, 4>, <N, N, 4> }""",
     lambda rng, lengths: [[normal(rng, n, n, 4) for n in lengths] for _ in range(2)],
     lambda a, b: (np.einsum("ikc,jkc->ijc", a, b), np.einsum("kic,kjc->ijc", a, b)), long=24)  # fmt: skip

# Offsets, an index in the region, an init that is read, a reduction over the batch.
case("generic", """func.func @f(%x: <N, 5>, %c: <N, 5>) -> (<max(N - 1, 0), 5>, <N, 5>, tensor<5xf32>) {
  %e = ragged.empty : <max(N - 1, 0), 5>
  %d = ragged.generic dims [max(N - 1, 0), 5] iterators ["parallel", "parallel"] path [B]
      maps [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>]
      offsets [[#ragged.extent<min(N, 1)>, #ragged.extent<0>], [#ragged.extent<0>, #ragged.extent<0>]]
      ins(%x, %x : <N, 5>, <N, 5>) outs(%e : <max(N - 1, 0), 5>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %i = ragged.index 0 : i64
    %s = arith.sitofp %i : i64 to f32
    %p = arith.subf %u, %v : f32
    %q = arith.mulf %p, %s : f32
    ragged.yield %q : f32 } -> <max(N - 1, 0), 5>
  %g = ragged.generic dims [N, 5] iterators ["parallel", "parallel"] path [B]
      maps [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (a, c)>]
      ins(%x : <N, 5>) outs(%c : <N, 5>) {
  ^bb0(%u: f32, %o: f32):
    %p = arith.subf %o, %u : f32
    ragged.yield %p : f32 } -> <N, 5>
  %z = ragged.fill 0.0 : f32 -> tensor<5xf32>
  %b = ragged.generic dims [N, 5] iterators ["reduction", "parallel"] path [B]
      maps [affine_map<(a, c) -> (a, c)>, affine_map<(a, c) -> (c)>] batch_reduced
      ins(%x : <N, 5>) outs(%z : tensor<5xf32>) {
  ^bb0(%u: f32, %o: f32):
    %p = arith.addf %o, %u : f32
    ragged.yield %p : f32 } -> tensor<5xf32>
  return %d, %g, %b : <max(N - 1, 0), 5>, <N, 5>, tensor<5xf32> }""",
     together(rows(5), rows(5)), batch=True)  # fmt: skip

# --- Moves ---------------------------------------------------------------------------

TABLE = weights(21, 8)


def tokens(rng, lengths):
    return [rng.integers(0, 21, n) for n in lengths]


case("gather", """func.func @f(%t: <N; i64>, %table: tensor<21x8xf32>, %k: tensor<21x2xi64>) -> (<N, 8>, <N, 2; i64>, <N, N, 8>) {
  %a = ragged.gather %table, %t : tensor<21x8xf32>, <N; i64> -> <N, 8>
  %b = ragged.gather %k, %t : tensor<21x2xi64>, <N; i64> -> <N, 2; i64>
  %r = ragged.broadcast %t dims [1] : <N; i64> -> <N, N; i64>
  %c = ragged.gather %table, %r : tensor<21x8xf32>, <N, N; i64> -> <N, N, 8>
  return %a, %b, %c : <N, 8>, <N, 2; i64>, <N, N, 8> }""",
     together(tokens, TABLE, weights(21, 2, dtype="i8")),
     lambda t, table, k: (table[t], k[t], table[np.tile(t, (len(t), 1))]), long=40)  # fmt: skip

case("constants", f"""func.func @f(%t: <N; i64>) -> (<N, 5>, <N, 5>) {{
  %e = arith.constant {literal(TABLE.astype("f8"))} : tensor<21x8xf32>
  %w = arith.constant {literal(weights(8, 5).astype("f8"))} : tensor<8x5xf32>
  %h = arith.constant dense<0.5> : tensor<5xf32>
  %g = ragged.gather %e, %t : tensor<21x8xf32>, <N; i64> -> <N, 8>
  %y = ragged.linear %g, %w : <N, 8>, tensor<8x5xf32> -> <N, 5>
  %z = ragged.map ins(%y, %h : <N, 5>, tensor<5xf32>) {{
  ^bb0(%u: f32, %v: f32):
    %r = arith.mulf %u, %v : f32
    ragged.yield %r : f32 }} -> <N, 5>
  return %y, %z : <N, 5>, <N, 5> }}""", together(tokens))  # fmt: skip

case("slices", """func.func @f(%x: <N, 8>) -> (<max(N - 1, 0), 8>, <min(N, 2), 8>, <N, 3>, <N>, <N floordiv 2, 8>) {
  %a = ragged.slice %x dim 0 start <:min(N, 1)> size <:max(N - 1, 0)> : <N, 8> -> <max(N - 1, 0), 8>
  %b = ragged.slice %x dim 0 start <:max(N - 2, 0)> size <:min(N, 2)> : <N, 8> -> <min(N, 2), 8>
  %c = ragged.slice %x dim 1 start <:2> size <:3> : <N, 8> -> <N, 3>
  %d = ragged.slice %x dim 1 start <:7> size <:1> drop : <N, 8> -> <N>
  %e = ragged.slice %x dim 0 start <:N floordiv 2> size <:N floordiv 2> : <N, 8> -> <N floordiv 2, 8>
  return %a, %b, %c, %d, %e : <max(N - 1, 0), 8>, <min(N, 2), 8>, <N, 3>, <N>, <N floordiv 2, 8> }""",
     together(rows(8)),
     lambda x: (x[1:], x[max(len(x) - 2, 0) :], x[:, 2:5], x[:, 7], x[len(x) // 2 :][: len(x) // 2]))  # fmt: skip

case("slice_pairs", """func.func @f(%p: <N, M, 3>) -> (<N, min(M, 1), 3>, <max(N - 1, 0), M, 3>) {
  %a = ragged.slice %p dim 1 start <:0> size <:min(M, 1)> : <N, M, 3> -> <N, min(M, 1), 3>
  %b = ragged.slice %p dim 0 start <:min(N, 1)> size <:max(N - 1, 0)> : <N, M, 3> -> <max(N - 1, 0), M, 3>
  return %a, %b : <N, min(M, 1), 3>, <max(N - 1, 0), M, 3> }""",
     together(rectangles(3)), lambda p: (p[:, :1], p[1:]))  # fmt: skip


def sixteenths(*shape):
    """Numbers whose sums are exact, to compare them with 0."""
    return lambda rng, lengths: [np.round(16 * x) / 16 for x in rows(*shape)(rng, lengths)]


# A symbol from data, and what is computed over it.
case("masked_select", """func.func @f(%x: <N, 8>) -> (<K, 8>, <8>, <K, 4>, <; i64>) {
  %r = ragged.reduce sum %x dims [1] : <N, 8> -> <N>
  %k = ragged.map ins(%r : <N>) {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %a, %z : f32
    ragged.yield %c : i1 } -> <N; i1>
  %y = ragged.masked_select %x, %k : <N, 8>, <N; i1> -> <K, 8>
  %s = ragged.reduce mean %y dims [0] : <K, 8> -> <8>
  %t = ragged.slice %y dim 1 start <:4> size <:4> : <K, 8> -> <K, 4>
  %n = ragged.extent <:K> : <; i64>
  return %y, %s, %t, %n : <K, 8>, <8>, <K, 4>, <; i64> }""",
     together(sixteenths(8)),
     lambda x: (lambda y: (y, reduced("mean", y, (0,)), y[:, 4:], len(y)))(
         x[np.sum(x, 1, dtype="f4") > 0]), bad_values=False)  # fmt: skip

# --- Paths, calls, structure ------------------------------------------------------------


def sentences(rng, lengths):
    """Tokens, and for each sample the lengths of its sentences."""
    counts = []
    for n in lengths:
        cuts = np.sort(rng.integers(0, n + 1, rng.integers(0, 4))) if n else np.zeros(2, int)
        counts.append(np.diff([0, *cuts, n]) if n else np.zeros(rng.integers(0, 3), int))
    return [rows(4)(rng, lengths), counts]


def sentence_sums(x, counts):
    ends = np.cumsum(counts)
    parts = [x[e - n : e] for e, n in zip(ends, counts)]
    return np.array([p.sum(0) for p in parts]).reshape(len(parts), 4)


case("nest", """func.func @f(%x: <N, 4>, %n: <S; i64>) -> (<S, 4>, <4>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %s = ragged.reduce sum %y dims [0] : <T, 4; f32; path = [B, S]> -> <4; f32; path = [B, S]>
  %u = ragged.unnest %s : <4; f32; path = [B, S]> -> <S, 4>
  %m = ragged.reduce max %u dims [0] : <S, 4> -> <4>
  return %u, %m : <S, 4>, <4> }""", sentences,
     lambda x, n: (sentence_sums(x, n), reduced("max", sentence_sums(x, n), (0,))))  # fmt: skip


def again(rng, lengths):
    """Sentences, and values of each token and of each sentence."""
    tokens, counts = sentences(rng, lengths)
    return [tokens, counts, rows(4)(rng, lengths), [normal(rng, len(c), 4) for c in counts]]


def in_groups(x, n, y, z):
    p = x * y + np.repeat(z, n, axis=0)
    return p, sentence_sums(p, n)


case("renest", """func.func @f(%x: <N, 4>, %n: <S; i64>, %y: <N, 4>, %z: <S, 4>) -> (<N, 4>, <S, 4>) {
  %t = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %r = ragged.renest %y : <N, 4> -> <T, 4; f32; path = [B, S]>
  %c = ragged.renest %z : <S, 4> -> <4; f32; path = [B, S]>
  %e = ragged.broadcast %c dims [1] : <4; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  %m = ragged.map ins(%t, %r, %e : <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>) {
  ^bb0(%i: f32, %j: f32, %k: f32):
    %0 = arith.mulf %i, %j : f32
    %1 = arith.addf %0, %k : f32
    ragged.yield %1 : f32 } -> <T, 4; f32; path = [B, S]>
  %s = ragged.reduce sum %m dims [0] : <T, 4; f32; path = [B, S]> -> <4; f32; path = [B, S]>
  %w = ragged.unnest %m : <T, 4; f32; path = [B, S]> -> <N, 4>
  %u = ragged.unnest %s : <4; f32; path = [B, S]> -> <S, 4>
  return %w, %u : <N, 4>, <S, 4> }""", again, in_groups)  # fmt: skip


def documents(rng, lengths):
    """Samples of n sentences of a few tokens, one row per sample, one per sentence."""
    return [[[normal(rng, int(rng.integers(0, 6)), 4) for _ in range(n)] for n in lengths],
            [normal(rng, 4) for _ in lengths], [[normal(rng) for _ in range(n)] for n in lengths]]  # fmt: skip


case("path", """func.func @f(%x: <T, 4; f32; path = [B, S]>, %c: <4>, %w: <; f32; path = [B, S]>)
    -> (<T, 4; f32; path = [B, S]>, <4; f32; path = [B, S]>, <4>, <T, T; f32; path = [B, S]>) {
  %e = ragged.broadcast %c dims [1] : <4> -> <T, 4; f32; path = [B, S]>
  %v = ragged.broadcast %w dims [] : <; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  %y = ragged.map ins(%x, %e, %v : <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>) {
  ^bb0(%i: f32, %j: f32, %k: f32):
    %s = arith.mulf %i, %j : f32
    %t = arith.addf %s, %k : f32
    ragged.yield %t : f32 } -> <T, 4; f32; path = [B, S]>
  %a = ragged.reduce mean %y dims [0] : <T, 4; f32; path = [B, S]> -> <4; f32; path = [B, S]>
  %g = ragged.unnest %a : <4; f32; path = [B, S]> -> <S, 4>
  %b = ragged.reduce sum %g dims [0] : <S, 4> -> <4>
  %r = ragged.reduce sum %x dims [1] : <T, 4; f32; path = [B, S]> -> <T; f32; path = [B, S]>
  %p = ragged.broadcast %r dims [0] : <T; f32; path = [B, S]> -> <T, T; f32; path = [B, S]>
  %q = ragged.broadcast %r dims [1] : <T; f32; path = [B, S]> -> <T, T; f32; path = [B, S]>
  %z = ragged.map ins(%p, %q : <T, T; f32; path = [B, S]>, <T, T; f32; path = [B, S]>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.subf %i, %j : f32
    ragged.yield %s : f32 } -> <T, T; f32; path = [B, S]>
  return %y, %a, %b, %z : <T, 4; f32; path = [B, S]>, <4; f32; path = [B, S]>, <4>, <T, T; f32; path = [B, S]> }""",
     documents)  # fmt: skip

P = "f32; path = [B, S]"


def members(rng, lengths):
    """For each sample its own N, and for each of its members N rows, and a row of T for each."""
    sizes = [rng.integers(0, 4) if n else 2 for n in lengths]
    return [rows(3)(rng, lengths),
            [[normal(rng, n, 3) for _ in range(s)] for n, s in zip(lengths, sizes)],
            [[normal(rng, n, int(rng.integers(0, 4))) for _ in range(s)]
             for n, s in zip(lengths, sizes)]]  # fmt: skip


case("path_reduced", f"""func.func @f(%y: <N, 3>, %x: <N, 3; {P}>, %t: <N, T; {P}>)
    -> (<N, 3>, <N>, <N, 1>, <N>, <1, N>, <N, 3>, <N, 3>, <N>, <N; i1>, <N; i1>, <S, N, 3>) {{
  %a = ragged.reduce sum %x dims [] batch : <N, 3; {P}> -> <N, 3>
  %b = ragged.reduce mean %x dims [1] batch : <N, 3; {P}> -> <N>
  %c = ragged.reduce prod %x dims [1] batch keepdims : <N, 3; {P}> -> <N, 1>
  %d = ragged.reduce mean %t dims [1] batch : <N, T; {P}> -> <N>
  %p = ragged.transpose %t permutation [1, 0] : <N, T; {P}> -> <T, N; {P}>
  %e = ragged.reduce max %p dims [0] batch keepdims : <T, N; {P}> -> <1, N>
  %f = ragged.reduce min %x dims [] batch empty identity : <N, 3; {P}> -> <N, 3>
  %g = ragged.reduce logsumexp %x dims [] batch : <N, 3; {P}> -> <N, 3>
  %h = ragged.reduce logsumexp %t dims [1] batch : <N, T; {P}> -> <N>
  %m = ragged.map ins(%x : <N, 3; {P}>) {{
  ^bb0(%i: f32):
    %0 = arith.constant 0.0 : f32
    %1 = arith.cmpf ogt, %i, %0 : f32
    ragged.yield %1 : i1 }} -> <N, 3; i1; path = [B, S]>
  %i = ragged.reduce any %m dims [1] batch : <N, 3; i1; path = [B, S]> -> <N; i1>
  %j = ragged.reduce all %m dims [1] batch : <N, 3; i1; path = [B, S]> -> <N; i1>
  %k = ragged.unnest %x : <N, 3; {P}> -> <S, N, 3>
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k : <N, 3>, <N>, <N, 1>, <N>, <1, N>, <N, 3>, <N, 3>, <N>, <N; i1>, <N; i1>, <S, N, 3> }}""",
     members)  # fmt: skip

case("path_contracted", f"""func.func @f(%y: <N, 3>, %x: <N, 3; {P}>, %t: <N, T; {P}>)
    -> (<3, 3>, <N>, <N, N>, <N, 3>, <3>) {{
  %a = ragged.contract "nc,nd->cd" %x, %x batch : <N, 3; {P}>, <N, 3; {P}> -> <3, 3>
  %b = ragged.contract "nt->n" %t batch : <N, T; {P}> -> <N>
  %c = ragged.contract "nt,mt->nm" %t, %t batch : <N, T; {P}>, <N, T; {P}> -> <N, N>
  %d = ragged.contract "nc,nc->nc" %x, %y batch : <N, 3; {P}>, <N, 3> -> <N, 3>
  %e = ragged.contract "nc,nc,nt->c" %x, %y, %t batch : <N, 3; {P}>, <N, 3>, <N, T; {P}> -> <3>
  return %a, %b, %c, %d, %e : <3, 3>, <N>, <N, N>, <N, 3>, <3> }}""", members)  # fmt: skip

case("call", """func.func private @centre(%x: <K, 8>) -> (<K, 8>, <; i64>) {
  %m = ragged.reduce mean %x dims [0] keepdims : <K, 8> -> <1, 8>
  %y = ragged.map ins(%x, %m : <K, 8>, <1, 8>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.subf %u, %v : f32
    ragged.yield %r : f32 } -> <K, 8>
  %n = ragged.extent <:K * K> : <; i64>
  return %y, %n : <K, 8>, <; i64> }
func.func @f(%x: <N, 8>, %y: <M, 8>) -> (<N, 8>, <M, 8>, <; i64>) {
  %a:2 = ragged.call @centre(%x) with {K = #ragged.extent<N>} : (<N, 8>) -> (<N, 8>, <; i64>)
  %b:2 = ragged.call @centre(%y) with {K = #ragged.extent<M>} : (<M, 8>) -> (<M, 8>, <; i64>)
  return %a#0, %b#0, %b#1 : <N, 8>, <M, 8>, <; i64> }""",
     lambda rng, lengths: [rows(8)(rng, lengths), rows(8)(rng, [other(n) for n in lengths])],
     lambda x, y: (x - reduced("mean", x, (0,)), y - reduced("mean", y, (0,)), len(y) ** 2))  # fmt: skip

case("cast", """func.func @f(%x: <N, 8>, %y: <M, 8>) -> <N, 8> {
  %z = ragged.cast %y {reason = "x + y"} : <M, 8> to <N, 8>
  %s = ragged.map ins(%x, %z : <N, 8>, <N, 8>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.addf %u, %v : f32
    ragged.yield %r : f32 } -> <N, 8>
  return %s : <N, 8> }""", together(rows(8), rows(8)), lambda x, y: x + y)  # fmt: skip

case("partition", """func.func @f(%x: <N, M, 2>) -> (tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<i64>, tensor<?x2xf32>) {
  %p = ragged.partition %x : <N, M, 2> -> !ragged.partition<[N, M]>
  %a = ragged.lengths %p dim 1 : !ragged.partition<[N, M]> -> tensor<?xi64>
  %b = ragged.offsets %p : !ragged.partition<[N, M]> -> tensor<?xi64>
  %c = ragged.row_splits %p level 1 : !ragged.partition<[N, M]> -> tensor<?xi64>
  %d = ragged.total %p : !ragged.partition<[N, M]> -> tensor<i64>
  %v = ragged.values %x : <N, M, 2> -> tensor<?x2xf32>
  return %a, %b, %c, %d, %v : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, tensor<i64>, tensor<?x2xf32> }""",
     together(rectangles(2)), batch=True)  # fmt: skip


def packed(rng, lengths):
    """Values as samples, and two ways to cut them: an artifact takes lengths as the structure of
    values that have no columns."""
    return [rows(2)(rng, lengths), [np.zeros((n, 0), "i1") for n in lengths],
            [np.zeros((n, 0), "i1") for n in lengths[::-1]]]  # fmt: skip


case("pack", """func.func @f(%v: tensor<?x2xf32>, %n: tensor<?xi64>, %m: tensor<?xi64>) -> (<N, 2>, <M, 2>, <2>, <; i64>) {
  %p = ragged.partition %n : tensor<?xi64> -> !ragged.partition<[N]>
  %a = ragged.pack %v, %p : tensor<?x2xf32>, !ragged.partition<[N]> -> <N, 2>
  %b = ragged.with_lengths %a, %m : <N, 2>, tensor<?xi64> -> <M, 2>
  %s = ragged.reduce sum %b dims [0] : <M, 2> -> <2>
  %e = ragged.extent <:N * M + 3> : <; i64>
  return %a, %b, %s, %e : <N, 2>, <M, 2>, <2>, <; i64> }""", packed, batch=True)  # fmt: skip

case("partition_argument", """func.func @f(%p: !ragged.partition<[N, M]>, %v: tensor<?x2xf32>) -> (<N, M, 2>, tensor<?xi64>, <; i64>) {
  %x = ragged.pack %v, %p : tensor<?x2xf32>, !ragged.partition<[N, M]> -> <N, M, 2>
  %o = ragged.offsets %p : !ragged.partition<[N, M]> -> tensor<?xi64>
  %e = ragged.extent <:N + M> : <; i64>
  return %x, %o, %e : <N, M, 2>, tensor<?xi64>, <; i64> }""",
     lambda rng, lengths: [[np.zeros((n, other(n), 0), "i1") for n in lengths],
                           [normal(rng, n, other(n), 2) for n in lengths]], batch=True)  # fmt: skip

# --- Whole programs -----------------------------------------------------------------------

case("results", """func.func @f(%x: <N, 8>, %w: tensor<8xf32>) -> (<N, 8>, <8>, <8>, <8>, tensor<8xf32>) {
  %a = ragged.reduce sum %x dims [0] : <N, 8> -> <8>
  %b = ragged.reduce mean %x dims [0] : <N, 8> -> <8>
  return %x, %a, %b, %a, %w : <N, 8>, <8>, <8>, <8>, tensor<8xf32> }""",
     together(rows(8), weights(8)), batch=True)  # fmt: skip

# Nothing to compute with: no columns, and weights over nothing (R5).
case("no_columns", """func.func @f(%x: <N, 0>, %w: tensor<0x3xf32>, %v: tensor<3x0xf32>) -> (<N, 3>, <N>, <N>, <0>, <0>, <N, 0>, <N, 0>) {
  %y = ragged.linear %x, %w : <N, 0>, tensor<0x3xf32> -> <N, 3>
  %a = ragged.reduce sum %x dims [1] : <N, 0> -> <N>
  %b = ragged.reduce mean %x dims [1] : <N, 0> -> <N>
  %c = ragged.reduce max %x dims [0] : <N, 0> -> <0>
  %d = ragged.reduce sum %x dims [0] : <N, 0> -> <0>
  %z = ragged.linear %y, %v : <N, 3>, tensor<3x0xf32> -> <N, 0>
  %u = ragged.normalize layer %x : <N, 0> -> <N, 0>
  return %y, %a, %b, %c, %d, %z, %u : <N, 3>, <N>, <N>, <0>, <0>, <N, 0>, <N, 0> }""",
     together(rows(0), np.zeros((0, 3), "f4"), np.zeros((3, 0), "f4")),
     lambda x, w, v: (np.zeros((len(x), 3)), np.zeros(len(x)), np.zeros(len(x)), *np.zeros((2, 0)), x, x))  # fmt: skip

case("no_columns_batch", """func.func @f(%x: <N, 0>) -> (tensor<0xf32>, tensor<f32>, tensor<0xf32>) {
  %a = ragged.reduce sum %x dims [0] batch : <N, 0> -> tensor<0xf32>
  %b = ragged.reduce mean %x dims [0, 1] batch : <N, 0> -> tensor<f32>
  %s = ragged.reduce max %x dims [0] : <N, 0> -> <0>
  %c = ragged.reduce sum %s dims [] batch : <0> -> tensor<0xf32>
  return %a, %b, %c : tensor<0xf32>, tensor<f32>, tensor<0xf32> }""", together(rows(0)), batch=True)  # fmt: skip

# Softmax over the row's own length, without an op of that name.
case("softmax", """func.func @f(%x: <N, 4>, %y: <N, 4>) -> <N, 4> {
  %a = ragged.broadcast %x dims [0, 2] : <N, 4> -> <N, N, 4>
  %b = ragged.broadcast %y dims [1, 2] : <N, 4> -> <N, N, 4>
  %p = ragged.map ins(%a, %b : <N, N, 4>, <N, N, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.mulf %i, %j : f32
    ragged.yield %c : f32 } -> <N, N, 4>
  %m = ragged.reduce max %p dims [1] keepdims : <N, N, 4> -> <N, 1, 4>
  %e = ragged.map ins(%p, %m : <N, N, 4>, <N, 1, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.subf %i, %j : f32
    %d = math.exp %c : f32
    ragged.yield %d : f32 } -> <N, N, 4>
  %s = ragged.reduce sum %e dims [1] : <N, N, 4> -> <N, 4>
  %v = ragged.map ins(%e, %b : <N, N, 4>, <N, N, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.mulf %i, %j : f32
    ragged.yield %c : f32 } -> <N, N, 4>
  %t = ragged.reduce sum %v dims [1] : <N, N, 4> -> <N, 4>
  %o = ragged.map ins(%t, %s : <N, 4>, <N, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.divf %i, %j : f32
    ragged.yield %c : f32 } -> <N, 4>
  return %o : <N, 4> }""",
     together(rows(4), rows(4)),
     lambda x, y: (lambda e: (e * y[None]).sum(1) / e.sum(1))(np.exp(x[:, None] * y[None])), long=60)  # fmt: skip

BLOCK = """func.func @block(%t: <N; i64>, %table: tensor<21x24xf32>, %wu: tensor<24x16xf32>, %wv: tensor<24x16xf32>,
    %g: tensor<16xf32>, %b: tensor<16xf32>, %w1: tensor<16x40xf32>, %w2: tensor<16x40xf32>, %w3: tensor<40x16xf32>,
    %wg: tensor<16x24xf32>) -> (<N, 24>, <N, N, 16>) {
  %x = ragged.gather %table, %t : tensor<21x24xf32>, <N; i64> -> <N, 24>
  %u = ragged.linear %x, %wu : <N, 24>, tensor<24x16xf32> -> <N, 16>
  %v = ragged.linear %x, %wv : <N, 24>, tensor<24x16xf32> -> <N, 16>
  %ub = ragged.broadcast %u dims [0, 2] : <N, 16> -> <N, N, 16>
  %vb = ragged.broadcast %v dims [1, 2] : <N, 16> -> <N, N, 16>
  %p = ragged.map ins(%ub, %vb : <N, N, 16>, <N, N, 16>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32 } -> <N, N, 16>
  %y = ragged.normalize layer %p scale %g offset %b : <N, N, 16>, scale tensor<16xf32>, offset tensor<16xf32> -> <N, N, 16>
  %h1 = ragged.linear %y, %w1 : <N, N, 16>, tensor<16x40xf32> -> <N, N, 40>
  %h2 = ragged.linear %y, %w2 : <N, N, 16>, tensor<16x40xf32> -> <N, N, 40>
  %z = ragged.map ins(%h1, %h2 : <N, N, 40>, <N, N, 40>) {
  ^bb0(%i: f32, %j: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.negf %i : f32
    %e = math.exp %m : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %i, %d : f32
    %s = arith.mulf %q, %j : f32
    ragged.yield %s : f32 } -> <N, N, 40>
  %o = ragged.linear %z, %w3 : <N, N, 40>, tensor<40x16xf32> -> <N, N, 16>
  %pp = ragged.map ins(%p, %o : <N, N, 16>, <N, N, 16>) {
  ^bb0(%i: f32, %j: f32):
    %s = arith.addf %i, %j : f32
    ragged.yield %s : f32 } -> <N, N, 16>
  %s = ragged.reduce mean %pp dims [1] : <N, N, 16> -> <N, 16>
  %gg = ragged.linear %s, %wg : <N, 16>, tensor<16x24xf32> -> <N, 24>
  %xx = ragged.map ins(%x, %gg : <N, 24>, <N, 24>) {
  ^bb0(%i: f32, %j: f32):
    %q = arith.addf %i, %j : f32
    ragged.yield %q : f32 } -> <N, 24>
  return %xx, %pp : <N, 24>, <N, N, 16> }"""

case("block", BLOCK,
     together(tokens, weights(21, 24), weights(24, 16), weights(24, 16), weights(16), weights(16),
              weights(16, 40), weights(16, 40), weights(40, 16), weights(16, 24)), long=50)  # fmt: skip
