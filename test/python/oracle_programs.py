# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for one sample, with arguments for any lengths: what test_oracle.py runs.

In their texts ``<N, 8>`` stands for ``!ragged.tensor<[N, 8], f32>``, ``<N, 8; i64>`` has a type,
and ``<:N - 1>`` is an extent.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np


def ragged_types(text):
    """The text with ``<N, 8>``, ``<N; i64>``, ``<T; f32; path = [B, S]>`` and ``<:N - 1>`` in full."""

    def full(match):
        if match[1].startswith(":"):
            return f"<{match[1][1:]}>"
        extents, *rest = (part.strip() for part in match[1].split(";"))
        dtype, *more = rest or ["f32"]
        return f"!ragged.tensor<{', '.join([f'[{extents}]', dtype, *more])}>"

    return re.sub(r"(?<![\w.])<([^<>\n]*)>", full, text)


@dataclass(eq=False)
class Case:
    name: str
    text: str
    args: Any  # (rng, lengths) -> arguments, batched ones as lists
    numpy: Any = None  # one sample's arguments in f64 -> its results
    long: int = 130  # of the longest sample
    batch: bool = False  # some result depends on more than one sample
    bad_values: bool = True  # whether NaN and infinity may be put into one sample


CASES = []


def case(name, text, args, numpy=None, **options):
    CASES.append(Case(name, ragged_types(text), args, numpy, **options))


# --- Arguments ----------------------------------------------------------------


def normal(rng, *shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def rows(*shape, dtype="f4", axis=0):
    """One batched argument: samples of this shape with the length put in at `axis`."""

    def samples(rng, lengths):
        shapes = [(*shape[:axis], n, *shape[axis:]) for n in lengths]
        if np.dtype(dtype).kind == "f":
            return [normal(rng, *s, dtype=dtype) for s in shapes]
        return [rng.integers(-9, 9, s).astype(dtype) for s in shapes]

    return samples


def other(n):
    """The second length of a sample with two."""
    return (7 * n) % 5 + (n == 1)


def moderate(*shape, dtype="f4", make=None):
    """Of either sign and near 1 in size, so that products of many do not vanish."""
    make = make or rows(*shape, dtype=dtype)

    def samples(rng, lengths):
        signs = [np.sign(x) for x in make(rng, lengths)]
        return [(s * np.exp(0.2 * normal(rng, *s.shape))).astype(dtype) for s in signs]

    return samples


def rectangles(*features, dtype="f4"):
    return lambda rng, lengths: [normal(rng, n, other(n), *features, dtype=dtype) for n in lengths]


def together(*arguments):
    """Arguments one after the other; arrays are shared by all samples."""
    return lambda rng, lengths: [a(rng, lengths) if callable(a) else a for a in arguments]


FIXED = np.random.default_rng(77)


def weights(*shape, dtype="f4"):
    if np.dtype(dtype).kind == "f":
        return (FIXED.standard_normal(shape) / np.sqrt(shape[0] or 1)).astype(dtype)
    return FIXED.integers(-9, 9, shape).astype(dtype)


def literal(array):
    return f"dense<{np.array2string(array, separator=',', threshold=10**9, floatmode='unique')}>".replace(
        "\n", ""
    )


# --- Elementwise, structure, indices -------------------------------------------

case("map_select", """func.func @f(%x: <N, 8>, %b: tensor<8xf32>) -> (<N, 8; i1>, <N, 8>, <N, 8>) {
  %m = ragged.map ins(%x, %b : <N, 8>, tensor<8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %g = arith.cmpf ogt, %a, %c : f32
    ragged.yield %g : i1 } -> <N, 8; i1>
  %y = ragged.map ins(%x, %m : <N, 8>, <N, 8; i1>) {
  ^bb0(%a: f32, %c: i1):
    %e = math.exp %a : f32
    %n = arith.negf %a : f32
    %s = arith.select %c, %e, %n : f32
    ragged.yield %s : f32 } -> <N, 8>
  %z = ragged.map ins(%y : <N, 8>) {
  ^bb0(%a: f32):
    %h = math.tanh %a : f32
    %q = math.sqrt %h : f32
    %o = arith.constant 1.0 : f32
    %p = arith.maximumf %h, %o : f32
    %r = arith.divf %h, %p : f32
    ragged.yield %r : f32 } -> <N, 8>
  return %m, %y, %z : <N, 8; i1>, <N, 8>, <N, 8> }""",
     together(rows(8), weights(8)),
     lambda x, b: (x > b, np.where(x > b, np.exp(x), -x),
                   (lambda h: h / np.maximum(h, 1))(np.tanh(np.where(x > b, np.exp(x), -x)))))  # fmt: skip

case("map_casts", """func.func @f(%x: <N, 3>, %i: <N, 3; i64>, %j: <N, 3; i32>)
    -> (<N, 3; i64>, <N, 3>, <N, 3; f64>, <N, 3; i32>, <N, 3; i8>) {
  %a = ragged.map ins(%x : <N, 3>) {
  ^bb0(%v: f32):
    %r = arith.fptosi %v : f32 to i64
    ragged.yield %r : i64 } -> <N, 3; i64>
  %b = ragged.map ins(%i : <N, 3; i64>) {
  ^bb0(%v: i64):
    %r = arith.sitofp %v : i64 to f32
    ragged.yield %r : f32 } -> <N, 3>
  %c = ragged.map ins(%x : <N, 3>) {
  ^bb0(%v: f32):
    %r = arith.extf %v : f32 to f64
    %q = arith.mulf %r, %r : f64
    ragged.yield %q : f64 } -> <N, 3; f64>
  %d = ragged.map ins(%j, %i : <N, 3; i32>, <N, 3; i64>) {
  ^bb0(%v: i32, %w: i64):
    %t = arith.trunci %w : i64 to i32
    %m = arith.muli %v, %t : i32
    %k = arith.constant 2147483600 : i32
    %s = arith.addi %m, %k : i32
    ragged.yield %s : i32 } -> <N, 3; i32>
  %e = ragged.map ins(%i : <N, 3; i64>) {
  ^bb0(%v: i64):
    %z = arith.constant 0 : i64
    %g = arith.cmpi sge, %v, %z : i64
    %r = arith.extui %g : i1 to i8
    ragged.yield %r : i8 } -> <N, 3; i8>
  return %a, %b, %c, %d, %e : <N, 3; i64>, <N, 3>, <N, 3; f64>, <N, 3; i32>, <N, 3; i8> }""",
     together(rows(3), rows(3, dtype="i8"), rows(3, dtype="i4")),
     lambda x, i, j: (np.trunc(x).astype("i8"), i.astype("f8"), x.astype("f8") ** 2,
                      (j * i.astype("i4") + np.int32(2147483600)).astype("i4"), (i >= 0).astype("i1")),
     bad_values=False)  # fmt: skip

case("make", """func.func @f(%x: <N, 2>) -> (<N, N; i64>, <N, N, 2; i64>, <N, 4>, <N; i64>, <2 * N + 1; i64>) {
  %a = ragged.iota dim 1 : <N, N; i64>
  %b = ragged.iota dim 2 : <N, N, 2; i64>
  %c = ragged.fill 2.5 : f32 -> <N, 4>
  %n = ragged.extent <:N * N> : <; i64>
  %d = ragged.broadcast %n dims [] : <; i64> -> <N; i64>
  %e = ragged.iota dim 0 : <2 * N + 1; i64>
  return %a, %b, %c, %d, %e : <N, N; i64>, <N, N, 2; i64>, <N, 4>, <N; i64>, <2 * N + 1; i64> }""",
     together(rows(2)),
     lambda x: (np.tile(np.arange(len(x)), (len(x), 1)), np.tile(np.arange(2), (len(x), len(x), 1)),
                np.full((len(x), 4), 2.5), np.full(len(x), len(x) ** 2), np.arange(2 * len(x) + 1)),
     long=50)  # fmt: skip

# No ragged dim is left, or none was there: one row per sample.
case("per_sample", """func.func @f(%x: <N, 5>, %c: <5>, %s: <>) -> (<5>, <>, <N, 5>) {
  %a = ragged.reduce max %x dims [0] : <N, 5> -> <5>
  %b = ragged.map ins(%a, %c : <5>, <5>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.mulf %u, %v : f32
    ragged.yield %r : f32 } -> <5>
  %d = ragged.reduce sum %b dims [0] : <5> -> <>
  %e = ragged.map ins(%d, %s : <>, <>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.subf %u, %v : f32
    ragged.yield %r : f32 } -> <>
  %w = ragged.broadcast %c dims [1] : <5> -> <N, 5>
  %z = ragged.map ins(%x, %w : <N, 5>, <N, 5>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.addf %u, %v : f32
    ragged.yield %r : f32 } -> <N, 5>
  return %b, %e, %z : <5>, <>, <N, 5> }""",
     lambda rng, lengths: [rows(5)(rng, lengths), [normal(rng, 5) for _ in lengths],
                           [normal(rng) for _ in lengths]],
     lambda x, c, s: (x.max(0, initial=-np.inf) * c if len(x) else 0 * c,
                      (x.max(0) * c).sum() - s if len(x) else -s, x + c))  # fmt: skip

# --- Axes ------------------------------------------------------------------------

case("outer", """func.func @f(%x: <N, 8>, %y: <M, 8>) -> (<N, M, 8>, <N, 8>, <M, 8>, <8>) {
  %a = ragged.broadcast %x dims [0, 2] : <N, 8> -> <N, M, 8>
  %b = ragged.broadcast %y dims [1, 2] : <M, 8> -> <N, M, 8>
  %p = ragged.map ins(%a, %b : <N, M, 8>, <N, M, 8>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.subf %i, %j : f32
    %d = arith.mulf %c, %i : f32
    ragged.yield %d : f32 } -> <N, M, 8>
  %s = ragged.reduce sum %p dims [1] : <N, M, 8> -> <N, 8>
  %m = ragged.reduce mean %p dims [0] : <N, M, 8> -> <M, 8>
  %t = ragged.reduce max %p dims [0, 1] : <N, M, 8> -> <8>
  return %p, %s, %m, %t : <N, M, 8>, <N, 8>, <M, 8>, <8> }""",
     lambda rng, lengths: [rows(8)(rng, lengths), rows(8)(rng, [other(n) for n in lengths])],
     lambda x, y: (lambda p: (p, p.sum(1), p.mean(0) if len(x) else p.sum(0),
                              p.max((0, 1)) if p.size else p.sum((0, 1))))(
         (x[:, None] - y[None]) * x[:, None]))  # fmt: skip

case("pairs", """func.func @f(%x: <N, 6>) -> (<N, N, 6>, <N, 6>, <N, 6>, <6>) {
  %a = ragged.broadcast %x dims [0, 2] : <N, 6> -> <N, N, 6>
  %b = ragged.broadcast %x dims [1, 2] : <N, 6> -> <N, N, 6>
  %p = ragged.map ins(%a, %b : <N, N, 6>, <N, N, 6>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.subf %i, %j : f32
    ragged.yield %c : f32 } -> <N, N, 6>
  %q = ragged.transpose %p permutation [1, 0, 2] : <N, N, 6> -> <N, N, 6>
  %s = ragged.reduce sum %p dims [1] : <N, N, 6> -> <N, 6>
  %t = ragged.reduce min %q dims [1] : <N, N, 6> -> <N, 6>
  %u = ragged.reduce max %p dims [0, 1] : <N, N, 6> -> <6>
  return %q, %s, %t, %u : <N, N, 6>, <N, 6>, <N, 6>, <6> }""",
     together(rows(6)),
     lambda x: (lambda p: (p.swapaxes(0, 1), p.sum(1), p.min(0) if len(x) else p.sum(0),
                           p.max((0, 1)) if len(x) else p.sum((0, 1))))(x[:, None] - x[None]),
     long=60)  # fmt: skip

# The result of one kernel, read by another in another order, with several ragged axes.
case("three_axes", """func.func @f(%x: <N, M, 4>, %y: <K>) -> (<N, M, K, 4>, <K, N>, <M, 4>) {
  %a = ragged.broadcast %x dims [0, 1, 3] : <N, M, 4> -> <N, M, K, 4>
  %b = ragged.broadcast %y dims [2] : <K> -> <N, M, K, 4>
  %p = ragged.map ins(%a, %b : <N, M, K, 4>, <N, M, K, 4>) {
  ^bb0(%i: f32, %j: f32):
    %c = arith.mulf %i, %j : f32
    ragged.yield %c : f32 } -> <N, M, K, 4>
  %s = ragged.reduce sum %p dims [1, 3] : <N, M, K, 4> -> <N, K>
  %t = ragged.transpose %s permutation [1, 0] : <N, K> -> <K, N>
  %u = ragged.reduce mean %p dims [0, 2] : <N, M, K, 4> -> <M, 4>
  return %p, %t, %u : <N, M, K, 4>, <K, N>, <M, 4> }""",
     lambda rng, lengths: [rectangles(4)(rng, lengths), [rng.uniform(0.5, 1.5, n % 4).astype("f4") for n in lengths]],
     lambda x, y: (lambda p: (p, p.sum((1, 3)).T, p.sum((0, 2)) / max(p.shape[0] * p.shape[2], 1)))(
         x[:, :, None] * y[:, None]), long=60)  # fmt: skip

# A static dim before the ragged one is stored behind it.
case("non_leading", """func.func @f(%x: <3, N, 8>, %w: tensor<8x5xf32>)
    -> (<3, N, 5>, <N, 8>, <3, 8>, <N, 3, 8>, <8, N, 3>) {
  %y = ragged.linear %x, %w : <3, N, 8>, tensor<8x5xf32> -> <3, N, 5>
  %a = ragged.reduce sum %x dims [0] : <3, N, 8> -> <N, 8>
  %b = ragged.reduce mean %x dims [1] : <3, N, 8> -> <3, 8>
  %c = ragged.transpose %x permutation [1, 0, 2] : <3, N, 8> -> <N, 3, 8>
  %d = ragged.transpose %x permutation [2, 1, 0] : <3, N, 8> -> <8, N, 3>
  return %y, %a, %b, %c, %d : <3, N, 5>, <N, 8>, <3, 8>, <N, 3, 8>, <8, N, 3> }""",
     together(rows(3, 8, axis=1), weights(8, 5)),
     lambda x, w: (x @ w, x.sum(0), x.sum(1) / max(x.shape[1], 1), x.swapaxes(0, 1), x.transpose(2, 1, 0)))  # fmt: skip

case("order", """func.func @f(%x: <N, M, 4; f32; order = [1, 0, 2]>) -> (<N, M, 4>, <N, M, 4; f32; order = [1, 0, 2]>, <N, 4>) {
  %y = ragged.map ins(%x : <N, M, 4; f32; order = [1, 0, 2]>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    ragged.yield %b : f32 } -> <N, M, 4>
  %z = ragged.map ins(%y : <N, M, 4>) {
  ^bb0(%a: f32):
    %b = math.absf %a : f32
    ragged.yield %b : f32 } -> <N, M, 4; f32; order = [1, 0, 2]>
  %s = ragged.reduce sum %x dims [1] : <N, M, 4; f32; order = [1, 0, 2]> -> <N, 4>
  return %y, %z, %s : <N, M, 4>, <N, M, 4; f32; order = [1, 0, 2]>, <N, 4> }""",
     together(rectangles(4)), lambda x: (2 * x, abs(2 * x), x.sum(1)))  # fmt: skip

for permutation in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
    turned = ", ".join(["N", "M", "4"][k] for k in permutation)
    case(f"transpose_{''.join(map(str, permutation))}",
         f"""func.func @f(%x: <N, M, 4>) -> <{turned}> {{
  %y = ragged.transpose %x permutation [{", ".join(map(str, permutation))}] : <N, M, 4> -> <{turned}>
  return %y : <{turned}> }}""",
         together(rectangles(4)), lambda x, permutation=permutation: x.transpose(permutation))  # fmt: skip

# --- Reductions --------------------------------------------------------------------


def reduced(kind, x, axes, empty=0.0):
    """NumPy's, with our answers for nothing."""
    if all(x.shape[a] for a in axes):
        function = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}
        return function[kind](x, axis=axes)
    shape = [n for k, n in enumerate(x.shape) if k not in axes]
    return np.full(shape, {"prod": 1.0, "max": empty, "min": -empty}.get(kind, 0.0))


KINDS = ("sum", "mean", "max", "min", "prod")


def reductions(name, source, dims, results, args, dtype="f32", suffix="", **options):
    """One program with all kinds of reductions of one argument."""
    last = {
        k: suffix if k in ("max", "min") else suffix.replace(" empty identity", "") for k in KINDS
    }
    lines = [f"  %{k} = ragged.reduce {k} %x dims {dims}{last[k]} : <{source}; {dtype}> -> <{results}; {dtype}>"
             for k in KINDS]  # fmt: skip
    types = ", ".join([f"<{results}; {dtype}>"] * len(KINDS))
    text = f"func.func @f(%x: <{source}; {dtype}>) -> ({types}) {{\n" + "\n".join(lines)
    text += f"\n  return {', '.join('%' + k for k in KINDS)} : {types} }}"
    keep = "keepdims" in suffix
    empty = -np.inf if "identity" in suffix else 0.0

    def numpy(x):
        values = [reduced(k, x, tuple(dims), empty) for k in KINDS]
        return [np.expand_dims(v, tuple(dims)) for v in values] if keep else values

    case(name, text, args, numpy, **options)


reductions("reduce_ragged", "N, 8", [0], "8", together(moderate(8)))
reductions("reduce_ragged_one_column", "N, 1", [0], "1", together(moderate(1)), long=700)
reductions("reduce_ragged_wide", "N, 100", [0], "100", together(moderate(100)))
reductions("reduce_ragged_f64", "N, 5", [0], "5", together(moderate(5, dtype="f8")), dtype="f64")
reductions("reduce_static", "N, 9", [1], "N", together(moderate(9)))
reductions("reduce_both", "N, 8", [0, 1], "", together(moderate(8)))
reductions(
    "reduce_keepdims",
    "N, M, 4",
    [1],
    "N, 1, 4",
    together(moderate(make=rectangles(4))),
    suffix=" keepdims",
)
reductions(
    "reduce_identity",
    "N, M, 4",
    [0, 1],
    "4",
    together(moderate(make=rectangles(4))),
    suffix=" empty identity",
)
for axes in ([0], [1], [0, 1], [0, 2], [1, 2]):
    reductions(f"reduce_rectangle_{''.join(map(str, axes))}", "N, M, 4", axes,
               ", ".join(e for k, e in enumerate(["N", "M", "4"]) if k not in axes),
               together(moderate(make=rectangles(4))))  # fmt: skip

# 9000 rows are several times the number of elements that one thread adds in a row (R8).
case("long_groups", """func.func @f(%x: <N, 2>) -> (<2>, <2>, <2>, <N, 2>) {
  %s = ragged.reduce sum %x dims [0] : <N, 2> -> <2>
  %m = ragged.reduce mean %x dims [0] keepdims : <N, 2> -> <1, 2>
  %a = ragged.reduce max %x dims [0] : <N, 2> -> <2>
  %y = ragged.map ins(%x, %m : <N, 2>, <1, 2>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.subf %u, %v : f32
    ragged.yield %r : f32 } -> <N, 2>
  %z = ragged.reduce min %y dims [0] : <N, 2> -> <2>
  return %s, %a, %z, %y : <2>, <2>, <2>, <N, 2> }""",
     together(lambda rng, lengths: [x + 3 for x in rows(2)(rng, lengths)]), long=9000)  # fmt: skip

case("reduce_integers", """func.func @f(%x: <N, 3; i64>, %y: <N, 3; i32>) -> (<3; i64>, <3; i64>, <3; i64>, <N; i64>, <3; i32>, <3; i32>) {
  %a = ragged.reduce sum %x dims [0] : <N, 3; i64> -> <3; i64>
  %b = ragged.reduce max %x dims [0] : <N, 3; i64> -> <3; i64>
  %c = ragged.reduce min %x dims [0] : <N, 3; i64> -> <3; i64>
  %d = ragged.reduce prod %x dims [1] : <N, 3; i64> -> <N; i64>
  %e = ragged.reduce sum %y dims [0] : <N, 3; i32> -> <3; i32>
  %g = ragged.reduce prod %y dims [0] : <N, 3; i32> -> <3; i32>
  return %a, %b, %c, %d, %e, %g : <3; i64>, <3; i64>, <3; i64>, <N; i64>, <3; i32>, <3; i32> }""",
     together(rows(3, dtype="i8"), rows(3, dtype="i4")))  # fmt: skip

case("reduce_batch", """func.func @f(%x: <N, 8>, %i: <N; i64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<i64>, tensor<8xf32>) {
  %a = ragged.reduce sum %x dims [0] batch : <N, 8> -> tensor<8xf32>
  %b = ragged.reduce max %x dims [0] batch : <N, 8> -> tensor<8xf32>
  %c = ragged.reduce mean %x dims [0, 1] batch : <N, 8> -> tensor<f32>
  %s = ragged.reduce mean %x dims [0] : <N, 8> -> <8>
  %d = ragged.reduce mean %s dims [] batch : <8> -> tensor<8xf32>
  %e = ragged.reduce sum %i dims [0] batch : <N; i64> -> tensor<i64>
  %g = ragged.reduce min %x dims [0] batch : <N, 8> -> tensor<8xf32>
  return %a, %b, %c, %d, %e, %g : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<i64>, tensor<8xf32> }""",
     together(rows(8), rows(dtype="i8")), batch=True)  # fmt: skip

# A dense result that the samples read again.
case("batch_statistics", """func.func @f(%x: <N, 8>) -> <N, 8> {
  %m = ragged.reduce mean %x dims [0] batch : <N, 8> -> tensor<8xf32>
  %y = ragged.map ins(%x, %m : <N, 8>, tensor<8xf32>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.subf %u, %v : f32
    ragged.yield %r : f32 } -> <N, 8>
  return %y : <N, 8> }""", together(rows(8)), batch=True)  # fmt: skip
