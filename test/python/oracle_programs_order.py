# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of ops that follow the order of a dim: running reductions, scans, sorting, scattering."""

import numpy as np
from oracle_programs import case, normal, rectangles, rows, together
from oracle_programs_more import documents


def running(kind, x, axis, reverse=False, exclusive=False):
    """A running reduction in f64, index by index."""
    x = np.moveaxis(np.asarray(x), axis, 0)
    y = np.empty_like(x)
    for k in range(len(x)):
        part = x[k + exclusive :] if reverse else x[: k + 1 - exclusive]
        if kind == "logsumexp":
            y[k] = np.logaddexp.reduce(part, 0, initial=-np.inf)
        else:
            first = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}[kind]
            y[k] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[
                kind].reduce(part, 0, initial=first)  # fmt: skip
    return np.moveaxis(y, 0, axis)


case("accumulate_sum", """func.func @f(%x: <N, 40>) -> (<N, 40>, <N, 40>, <N, 40>, <N, 40>) {
  %a = ragged.accumulate sum %x dim 0 : <N, 40>
  %b = ragged.accumulate sum %x dim 0 reverse : <N, 40>
  %c = ragged.accumulate sum %x dim 0 reverse exclusive : <N, 40>
  %d = ragged.accumulate sum %x dim 1 exclusive : <N, 40>
  return %a, %b, %c, %d : <N, 40>, <N, 40>, <N, 40>, <N, 40> }""", together(rows(40)),
     lambda x: (running("sum", x, 0), running("sum", x, 0, True), running("sum", x, 0, True, True),
                running("sum", x, 1, False, True)))  # fmt: skip

case("accumulate_extremes", """func.func @f(%x: <N>, %y: <N, 3; f64>) -> (<N>, <N>, <N, 3; f64>, <N, 3; f64>) {
  %a = ragged.accumulate max %x dim 0 : <N>
  %b = ragged.accumulate min %x dim 0 reverse exclusive : <N>
  %c = ragged.accumulate min %y dim 1 : <N, 3; f64>
  %d = ragged.accumulate prod %y dim 0 reverse : <N, 3; f64>
  return %a, %b, %c, %d : <N>, <N>, <N, 3; f64>, <N, 3; f64> }""",
     together(rows(), rows(3, dtype="f8")),
     lambda x, y: (running("max", x, 0), running("min", x, 0, True, True), running("min", y, 1),
                   running("prod", y, 0, True)))  # fmt: skip

case("accumulate_logsumexp", """func.func @f(%x: <N, 5>, %y: <N; f64>) -> (<N, 5>, <N, 5>, <N; f64>) {
  %a = ragged.accumulate logsumexp %x dim 0 : <N, 5>
  %b = ragged.accumulate logsumexp %x dim 1 reverse exclusive : <N, 5>
  %c = ragged.accumulate logsumexp %y dim 0 reverse : <N; f64>
  return %a, %b, %c : <N, 5>, <N, 5>, <N; f64> }""", together(rows(5), rows(dtype="f8")),
     lambda x, y: (running("logsumexp", x, 0), running("logsumexp", x, 1, True, True),
                   running("logsumexp", y, 0, True)))  # fmt: skip

case("accumulate_integers", """func.func @f(%x: <N, 33; i64>, %y: <N; i8>, %z: <N, 2; i1>)
    -> (<N, 33; i64>, <N; i8>, <N; i8>, <N, 2; i1>, <N, 2; i1>) {
  %a = ragged.accumulate sum %x dim 0 : <N, 33; i64>
  %b = ragged.accumulate prod %y dim 0 : <N; i8>
  %c = ragged.accumulate max %y dim 0 exclusive : <N; i8>
  %d = ragged.accumulate max %z dim 0 : <N, 2; i1>
  %e = ragged.accumulate min %z dim 0 reverse exclusive : <N, 2; i1>
  return %a, %b, %c, %d, %e : <N, 33; i64>, <N; i8>, <N; i8>, <N, 2; i1>, <N, 2; i1> }""",
     lambda rng, lengths: [[rng.integers(-9, 9, (n, 33)) for n in lengths],
                           [rng.integers(-9, 9, n).astype("i1") for n in lengths],
                           [rng.integers(0, 2, (n, 2)).astype(bool) for n in lengths]])  # fmt: skip

# Dims before and behind the one that is scanned, ragged and static.
case("accumulate_rectangles", """func.func @f(%p: <N, M, 3>) -> (<N, M, 3>, <N, M, 3>, <N, M, 3>) {
  %a = ragged.accumulate sum %p dim 0 : <N, M, 3>
  %b = ragged.accumulate max %p dim 1 reverse : <N, M, 3>
  %c = ragged.accumulate sum %p dim 2 : <N, M, 3>
  return %a, %b, %c : <N, M, 3>, <N, M, 3>, <N, M, 3> }""", together(rectangles(3)),
     lambda p: (running("sum", p, 0), running("max", p, 1, True), running("sum", p, 2)), long=40)  # fmt: skip

# The ragged dim is not the first; static dims before and behind.
case("accumulate_channels", """func.func @f(%x: <4, N, 3>) -> (<4, N, 3>, <4, N, 3>, <4, N, 3>) {
  %a = ragged.accumulate sum %x dim 0 : <4, N, 3>
  %b = ragged.accumulate sum %x dim 1 : <4, N, 3>
  %c = ragged.accumulate sum %x dim 2 : <4, N, 3>
  return %a, %b, %c : <4, N, 3>, <4, N, 3>, <4, N, 3> }""", together(rows(4, 3, axis=1)),
     lambda x: tuple(running("sum", x, k) for k in range(3)))  # fmt: skip

case("accumulate_path", """func.func @f(%x: <T, 4; f32; path = [B, S]>, %c: <4>, %w: <; f32; path = [B, S]>)
    -> (<T, 4; f32; path = [B, S]>, <4>) {
  %a = ragged.accumulate sum %x dim 0 reverse : <T, 4; f32; path = [B, S]>
  %b = ragged.accumulate max %c dim 0 : <4>
  return %a, %b : <T, 4; f32; path = [B, S]>, <4> }""", documents)  # fmt: skip

case("accumulate_dense", """func.func @f(%x: <N, 4>, %w: tensor<6x4xf32>) -> (<N, 4>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %a = ragged.accumulate sum %w dim 0 : tensor<6x4xf32>
  %b = ragged.accumulate sum %w dim 1 reverse : tensor<6x4xf32>
  %s = ragged.reduce max %a dims [0] : tensor<6x4xf32> -> tensor<4xf32>
  %y = ragged.map ins(%x, %s : <N, 4>, tensor<4xf32>) {
  ^bb0(%i: f32, %j: f32):
    %r = arith.addf %i, %j : f32
    ragged.yield %r : f32 } -> <N, 4>
  return %y, %a, %b : <N, 4>, tensor<6x4xf32>, tensor<6x4xf32> }""",
     lambda rng, lengths: [rows(4)(rng, lengths), rng.standard_normal((6, 4)).astype("f4")],
     batch=True)  # fmt: skip


def leaky(x, gate):
    """A linear recurrence, and its state before each step."""
    state, before, after = np.zeros(x.shape[1:]), [], []
    for e, g in zip(x, gate):
        before.append(state)
        state = g * state + e
        after.append(state)
    return np.reshape(before, x.shape), np.reshape(after, x.shape)


case("scan_recurrence", """func.func @f(%x: <N, 36>, %g: <N, 36>) -> (<N, 36>, <N, 36>) {
  %h = ragged.map ins(%g : <N, 36>) {
  ^bb0(%i: f32):
    %t = math.tanh %i : f32
    ragged.yield %t : f32 } -> <N, 36>
  %a, %b = ragged.scan ins(%x, %h : <N, 36>, <N, 36>) dim 0 init [0.0 : f32] {
  ^bb0(%e: f32, %k: f32, %state: f32):
    %0 = arith.mulf %k, %state : f32
    %1 = arith.addf %0, %e : f32
    ragged.yield %1, %state, %1 : f32, f32, f32
  } -> <N, 36>, <N, 36>
  return %a, %b : <N, 36>, <N, 36> }""", together(rows(36), rows(36)),
     lambda x, g: leaky(x, np.tanh(g)))  # fmt: skip


# --- Sorting, searching, scattering ---------------------------------------------------


def tied(*shape, dtype="f4"):
    """Few values, so that many are equal; zeros of both signs, infinities and NaN among floats."""
    values = np.array([0, -0.0, 1, -1, 2.5, np.inf, -np.inf, np.nan, -3], "f8")
    if np.dtype(dtype).kind != "f":
        values = np.array([0, 1, -1, 100, -100, 7, -128, 127])

    def samples(rng, lengths):
        return [rng.choice(values, (n, *shape)).astype(dtype) for n in lengths]

    return samples


def ordered(x, axis=0, descending=False):
    x = np.asarray(x)
    if descending:
        places = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        places = x.shape[axis] - 1 - np.flip(places, axis)
    else:
        places = np.argsort(x, axis=axis, kind="stable")
    return np.take_along_axis(x, places, axis), places


def sort_text(name, dtype, dim=0):
    kind = f"; {dtype}"
    return f"""func.func @f(%x: <{name}{kind}>) -> (<{name}{kind}>, <{name}; i64>, <{name}{kind}>, <{name}; i64>) {{
  %a, %i = ragged.sort %x dim {dim} : <{name}{kind}> -> <{name}{kind}>, <{name}; i64>
  %b, %j = ragged.sort %x dim {dim} descending : <{name}{kind}> -> <{name}{kind}>, <{name}; i64>
  return %a, %i, %b, %j : <{name}{kind}>, <{name}; i64>, <{name}{kind}>, <{name}; i64> }}"""


# Groups of up to 64 elements are sorted by rank, longer ones by radix.
for dtype, numpy_dtype, shape in [
    ("f32", "f4", ()), ("f32", "f4", (3,)), ("f64", "f8", ()), ("i64", "i8", (2,)),
    ("i32", "i4", ()), ("i8", "i1", ()),
]:  # fmt: skip
    extents = ", ".join(["N", *map(str, shape)])
    case(f"sort_{dtype}" + ("_columns" if shape else ""), sort_text(extents, dtype),
         together(tied(*shape, dtype=numpy_dtype)),
         lambda x: (*ordered(x), *ordered(x, descending=True)), long=300, bad_values=False)  # fmt: skip

case("sort_distinct", sort_text("N", "f32"), together(rows()),
     lambda x: (*ordered(x), *ordered(x, descending=True)), long=1000)  # fmt: skip
case("sort_integers", sort_text("N", "i64"),
     lambda rng, lengths: [[rng.integers(-2**63, 2**63 - 1, n) for n in lengths]],
     lambda x: (*ordered(x), *ordered(x, descending=True)), long=500)  # fmt: skip
case("sort_bools", sort_text("N, 2", "i1"),
     lambda rng, lengths: [[rng.integers(0, 2, (n, 2)).astype(bool) for n in lengths]],
     lambda x: (*ordered(x), *ordered(x, descending=True)))  # fmt: skip
case("sort_within_rows", sort_text("N, 70", "f32", 1), together(rows(70)),
     lambda x: (*ordered(x, 1), *ordered(x, 1, True)), long=20)  # fmt: skip

case("sort_rectangles", """func.func @f(%p: <N, M, 3>) -> (<N, M, 3>, <N, M, 3; i64>) {
  %a, %i = ragged.sort %p dim 0 : <N, M, 3> -> <N, M, 3>, <N, M, 3; i64>
  %b, %j = ragged.sort %p dim 1 descending : <N, M, 3> -> <N, M, 3>, <N, M, 3; i64>
  return %a, %j : <N, M, 3>, <N, M, 3; i64> }""", together(rectangles(3)),
     lambda p: (ordered(p)[0], ordered(p, 1, True)[1]), long=70)  # fmt: skip

case("sort_path", """func.func @f(%x: <T, 4; f32; path = [B, S]>, %c: <4>, %w: <; f32; path = [B, S]>)
    -> (<T, 4; f32; path = [B, S]>, <T, 4; i64; path = [B, S]>) {
  %a, %i = ragged.sort %x dim 0 : <T, 4; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>, <T, 4; i64; path = [B, S]>
  return %a, %i : <T, 4; f32; path = [B, S]>, <T, 4; i64; path = [B, S]> }""", documents)  # fmt: skip

case("sort_dense", """func.func @f(%w: tensor<90x4xf32>) -> (tensor<90x4xf32>, tensor<90x4xi64>) {
  %a, %i = ragged.sort %w dim 0 : tensor<90x4xf32> -> tensor<90x4xf32>, tensor<90x4xi64>
  return %a, %i : tensor<90x4xf32>, tensor<90x4xi64> }""",
     lambda rng, lengths: [rng.standard_normal((90, 4)).astype("f4")], batch=True)  # fmt: skip

case("sort_half", """func.func @f(%h: <N; f16>) -> (<N>, <N; i64>) {
  %a, %i = ragged.sort %h dim 0 : <N; f16> -> <N; f16>, <N; i64>
  %b = ragged.map ins(%a : <N; f16>) {
  ^bb0(%e: f16):
    %t = arith.extf %e : f16 to f32
    ragged.yield %t : f32 } -> <N>
  return %b, %i : <N>, <N; i64> }""", together(rows(dtype="f2")), long=200)  # fmt: skip

case("searchsorted", """func.func @f(%s: <K>, %x: <K, 3>, %d: tensor<5xf32>)
    -> (<K, 3; i64>, <K, 3; i64>, <K, 3; i64>) {
  %a, %i = ragged.sort %s dim 0 : <K> -> <K>, <K; i64>
  %l = ragged.searchsorted %a, %x : <K>, <K, 3> -> <K, 3; i64>
  %r = ragged.searchsorted %a, %x right : <K>, <K, 3> -> <K, 3; i64>
  %t = ragged.searchsorted %d, %x : tensor<5xf32>, <K, 3> -> <K, 3; i64>
  return %l, %r, %t : <K, 3; i64>, <K, 3; i64>, <K, 3; i64> }""",
     together(tied(), tied(3), np.array([-3, -1, 0, 0, 2.5], "f4")),
     lambda s, x, d: (np.searchsorted(np.sort(s), x), np.searchsorted(np.sort(s), x, "right"),
                      np.searchsorted(d, x)), bad_values=False)  # fmt: skip


def scattered(init, indices, updates, kind):
    result = np.array(init)
    for place, update in zip(indices, updates):
        result[place] = {"add": np.add, "max": np.maximum, "min": np.minimum,
                         "set": lambda old, new: new}[kind](result[place], update)  # fmt: skip
    return result


def scatter_arguments(*shape, dtype="f4"):
    """Rows of N into K = other(N) + 1 rows."""

    def arguments(rng, lengths):
        counts = [(7 * n) % 5 + 1 for n in lengths]
        make = (lambda n: normal(rng, n, *shape, dtype=dtype)) if np.dtype(dtype).kind == "f" else (
            lambda n: rng.integers(-9, 9, (n, *shape)).astype(dtype))  # fmt: skip
        return [[make(k) for k in counts],
                [rng.integers(0, k, n) for n, k in zip(lengths, counts)],
                [make(n) for n in lengths]]  # fmt: skip

    return arguments


for kind in ("add", "max", "min", "set"):
    for dtype, numpy_dtype, extents, shape in [
        ("f32", "f4", ", 40", (40,)), ("i64", "i8", "", ()),
    ]:  # fmt: skip
        init, rows_ = f"<K{extents}; {dtype}>", f"<N{extents}; {dtype}>"
        case(f"scatter_{kind}_{dtype}",
             f"""func.func @f(%z: {init}, %i: <N; i64>, %x: {rows_}) -> {init} {{
  %y = ragged.scatter {kind} %z, %i, %x : {init}, <N; i64>, {rows_} -> {init}
  return %y : {init} }}""", scatter_arguments(*shape, dtype=numpy_dtype),
             lambda z, i, x, kind=kind: scattered(z, i, x, kind))  # fmt: skip

# Into a constant number of rows, over pairs: other dims are ragged.
case("scatter_histogram", """func.func @f(%x: <N, M>) -> (<9; i64>, <N, M>) {
  %n = ragged.iota dim 0 : <N; i64>
  %m = ragged.map ins(%n : <N; i64>) {
  ^bb0(%k: i64):
    %c = arith.constant 9 : i64
    %r = arith.remsi %k, %c : i64
    ragged.yield %r : i64 } -> <N; i64>
  %o = ragged.fill 1 : i64 -> <N; i64>
  %z = ragged.fill 0 : i64 -> <9; i64>
  %h = ragged.scatter add %z, %m, %o : <9; i64>, <N; i64>, <N; i64> -> <9; i64>
  %y = ragged.fill 0.0 : f32 -> <N, M>
  %s = ragged.scatter set %y, %n, %x : <N, M>, <N; i64>, <N, M> -> <N, M>
  return %h, %s : <9; i64>, <N, M> }""", together(rectangles()),
     lambda x: (np.bincount(np.arange(len(x)) % 9, minlength=9), x))  # fmt: skip
