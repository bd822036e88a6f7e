# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of what follows order or indices: sorting, scattering, selecting, extrema of the
batch, loads from tables, attention."""

import numpy as np
import pytest
from gradients import (
    LENGTHS,
    N8,
    NM,
    V,
    W,
    central_differences,
    check_text,
    dense,
    numbers,
    ragged,
    same,
)
from oracle import Program
from test_gradients import check_hessian, column, gradient_of

import nested

I64 = np.int64
N, M = ragged("N"), ragged("M")
IDS = nested.spec("N", dtype=I64)
HEADS = [ragged("N", 2, 3), ragged("M", 2, 3), ragged("M", 2, 4)]
GROUPED = [ragged("N", 4, 3), ragged("M", 2, 3), ragged("M", 2, 2)]
ITSELF = [ragged("N", 2, 3)]
attention = nested.attention


def numbered(dtype, *dims):
    return nested.spec(*dims, dtype=dtype)


PROGRAMS = {
    # name: (function, specs)
    "sort": (lambda x, y: np.sort(x, axis=0) * y, [N8, N8]),
    "sort_columns": (lambda x: np.sort(x, axis=1) * np.arange(1.0, 4.0), [N8]),
    "sort_descending": (lambda x, y: nested.sort(x, axis=0, descending=True) * y, [N8, N8]),
    "sort_pairs": (lambda x: np.sort(x, axis=1) * np.sort(-x, axis=0), [NM]),
    "sort_twice": (lambda x: np.sort(np.sort(x * 2, axis=0) ** 2, axis=0) ** 2, [N8]),
    "topk": (lambda x: nested.topk(x, 2, axis=0)[0] ** 2, [N8]),
    "topk_both": (lambda x: np.take_along_axis(x * 2, nested.topk(x, 2, axis=1)[1], axis=1), [N8]),
    "median": (lambda x: nested.quantile(x, 0.3, axis=0) * nested.median(x, axis=1).sum(0), [N8]),
    "scatter_add": (lambda x, i, u: nested.scatter(x, i % 3, u, "add") ** 2,
                    [dense(3, 2), IDS, ragged("N", 2)]),
    "scatter_set": (lambda x, i, u: nested.scatter(x * 2, i, u * u, "set"),
                    [dense(5, 2), IDS, ragged("N", 2)]),
    "scatter_max": (lambda x, i, u: nested.scatter(x * 2, i, u * u, "max"),
                    [dense(5, 2), IDS, ragged("N", 2)]),
    "scatter_min": (lambda x, i, u: nested.scatter(x * 2, i, u * u, "min"), [dense(5), IDS, N]),
    "scatter_number": (lambda i, u: nested.scatter(np.zeros(4), i, u, "add") ** 2, [IDS, N]),
    "segments": (lambda x, i: nested.segment_mean(x, i, 4) * nested.segment_max(x, i, 4), [N8, IDS]),
    "select": (lambda x: nested.sum(x[x[:, 0] > 0.1] ** 2, axis=0), [N8]),
    "select_then": (lambda x, w: nested.sum(np.tanh(x[x[:, 1] < 0] @ w), axis=0), [N8, W]),
    "select_numbers": (lambda x, y: nested.sum((x * y)[y > 0]), [N, N]),
    "batch_max": (lambda x: nested.batch.max(x * x, axis=None), [N8]),
    "batch_max_columns": (lambda x: nested.batch.max(x, axis=0), [N8]),
    "batch_min_pairs": (lambda x: nested.batch.min(x, axis=(0, 1)), [NM]),
    "batch_min_keepdims": (lambda x: nested.batch.min(np.sin(x), axis=(0, 1), keepdims=True), [N8]),
    "batch_max_of_samples": (lambda x: nested.batch.max(nested.mean(x, axis=0)) * 3, [N8]),
    "table": (lambda t, i: nested.take(t, i, axis=0) ** 2, [dense(40, 3), IDS]),
    "table_pairs": (lambda t, i: t[i[:, None] * i[None, :]] ** 2, [dense(10, 2), IDS]),
    "table_deep": (lambda t, i: t[i] * 2, [dense(4, 2, 3), IDS]),
    "table_short_index": (lambda t, i: t[i] ** 2, [dense(4, 3), numbered(np.int32, "N")]),
    "table_of_samples": (lambda t, i: t[i] ** 2,
                         [dense(4, 3), nested.spec(dtype=I64, batched=True)]),
    "table_vector": (lambda t, i: t[i] ** 3, [dense(4), IDS]),
    "table_dense": (lambda t, i: t[i] ** 3, [dense(4, 3), numbered(I64, 5)]),
    "rows": (lambda x: x[nested.arange(x.shape[0]) // 2] ** 2, [N8]),
    "rows_of_pairs": (lambda p: p[nested.arange(p.shape[0])[::-1] // 2] ** 2, [NM]),
    "columns_of_pairs": (lambda p: np.take(p, nested.arange(p.shape[1]) // 2, axis=1) * 2, [NM]),
    "rows_by_pairs": (lambda x, i: x[i[:, None] * 0 + nested.arange(x.shape[0])[None, :]] ** 2,
                      [N8, IDS]),
    "along_ragged": (
        lambda x: np.take_along_axis(x, np.argsort(-x, axis=0) // 2, 0) ** 2, [N8]),
    "along_pairs": (
        lambda p: np.take_along_axis(p, np.argsort(p, axis=1) // 2, 1) * p, [NM]),
    "along_static": (lambda x: np.take_along_axis(x, np.argsort(x, axis=1)[:, :2], 1) ** 2, [N8]),
    "first_axis_static": (lambda x: np.take(x, np.array([1, 1, 0]), axis=0) ** 2,
                          [ragged(3, "N", 2)]),
    "steps_from_the_middle": (lambda x: x[x.shape[0] // 2 :: 2] ** 2, [N8]),
    "steps_back_from_the_middle": (lambda x: x[x.shape[0] // 2 :: -2] ** 2, [N8]),
    "concat_shared": (lambda x, w: np.concatenate([x, w], axis=0) ** 2, [N8, dense(2, 3)]),
    "concat_shared_columns": (
        lambda x, v: np.concatenate([x, np.broadcast_to(v, (x.shape[0], 4))], axis=1) ** 2,
        [N8, V]),
    "group_norm": (lambda x, v: nested.nn.group_norm(x, 2, v, v), [ragged("N", 4), V]),
    "group_norm_pairs": (lambda x: nested.nn.group_norm(x, 2) ** 2, [ragged("N", "M", 4)]),
    "diagonal": (lambda p, x: np.einsum("nn,nc->c", p, x), [ragged("N", "N"), ragged("N", 2)]),
    "trace": (lambda p: np.einsum("nnc->c", p) ** 2, [ragged("N", "N", 2)]),
    "attention": (lambda q, k, v: attention(q, k, v), HEADS),
    "attention_flat": (lambda q, k, v: attention(q, k, v), [N8, ragged("M", 3), ragged("M", 2)]),
    "attention_grouped": (lambda q, k, v: attention(q, k, v, soft_cap=1.5), GROUPED),
    "attention_causal": (lambda q, k, v: attention(q, k, v, causal=True, scale=0.7), HEADS),
    "attention_window": (lambda q, k, v: attention(q, k, v, window=(2, 1)), HEADS),
    "attention_biased": (lambda q, k, v, b: attention(q, k, v, bias=b),
                         [*HEADS, ragged("N", "M", 2)]),
    "attention_masked": (lambda q, k, v, b: attention(q, k, v, bias=b, mask=b > 0),
                         [*HEADS, ragged("N", "M")]),
    "attention_of_itself": (lambda x: attention(x, x, x, causal=True), ITSELF),
    "attention_shared": (lambda q, k, v: attention(q, k, v),
                         [ragged("N", 2, 3), dense(5, 2, 3), dense(5, 2, 4)]),
}  # fmt: skip


test_gradients = central_differences(PROGRAMS)


# --- Scans with a region of their own ---------------------------------------------------

F, T = "f64", "!ragged.tensor<[N, 2], f64>"
# name: (number of inputs, init, region, results, words)
SCANS = {
    "recurrence": (2, "[0.5 : f64]", """
        ^bb0(%a: f64, %b: f64, %h: f64):
          %0 = arith.mulf %a, %h : f64
          %1 = arith.addf %0, %b : f64
          ragged.yield %1, %1 : f64, f64
        """, 1),
    "before_the_step": (1, "[0.0 : f64]", """
        ^bb0(%a: f64, %h: f64):
          %0 = math.tanh %h : f64
          %1 = arith.addf %0, %a : f64
          ragged.yield %1, %h : f64, f64
        """, 1),
    "gated": (3, "[0.25 : f64]", """
        ^bb0(%a: f64, %b: f64, %c: f64, %h: f64):
          %u = arith.mulf %b, %h : f64
          %v = arith.addf %u, %a : f64
          %w = math.tanh %v : f64
          %d = arith.subf %w, %h : f64
          %s = math.exp %c : f64
          %e = arith.mulf %s, %d : f64
          %f = arith.addf %h, %e : f64
          %y = arith.mulf %f, %a : f64
          ragged.yield %f, %y, %v : f64, f64, f64
        """, 2),
    "two_carried": (1, "[0.0 : f64, 1.0 : f64]", """
        ^bb0(%a: f64, %s: f64, %p: f64):
          %0 = arith.addf %s, %a : f64
          %1 = arith.mulf %p, %a : f64
          %2 = arith.mulf %0, %1 : f64
          ragged.yield %0, %1, %2 : f64, f64, f64
        """, 1),
    "logarithms": (1, "[-1.0e3 : f64]", """
        ^bb0(%a: f64, %l: f64):
          %m = arith.maximumf %a, %l : f64
          %0 = arith.subf %a, %m : f64
          %1 = arith.subf %l, %m : f64
          %2 = math.exp %0 : f64
          %3 = math.exp %1 : f64
          %4 = arith.addf %2, %3 : f64
          %5 = math.log %4 : f64
          %6 = arith.addf %m, %5 : f64
          ragged.yield %6, %6 : f64, f64
        """, 1),
    "counted": (2, "[0 : i64, 0.0 : f64]", """
        ^bb0(%a: f64, %b: f64, %n: i64, %s: f64):
          %one = arith.constant 1 : i64
          %m = arith.addi %n, %one : i64
          %k = arith.sitofp %m : i64 to f64
          %0 = arith.mulf %a, %b : f64
          %1 = arith.addf %s, %0 : f64
          %2 = arith.divf %1, %k : f64
          %isBig = arith.cmpf ogt, %a, %b : f64
          %c = arith.select %isBig, %a, %1 : f64
          ragged.yield %m, %c, %2 : i64, f64, f64
        """, 1),
}  # fmt: skip


def scan_text(name, words=""):
    """The scan as a module, and the module of its derivatives."""
    count, init, region, results = SCANS[name]
    inputs = ", ".join(f"%x{k}" for k in range(count))
    types = ", ".join([T] * count)
    outs = ", ".join([T] * results)
    scan = (
        f"%r:{results} = ragged.scan ins({inputs} : {types}) dim 0 {words} init {init} {{{region}}} "
        f"-> {outs}"
    )
    arguments = ", ".join(f"%x{k}: {T}" for k in range(count))
    seeds = ", ".join(f"%s{k}: {T}" for k in range(results))
    given = ", ".join(f"%s{k}" for k in range(results))
    values = ", ".join(f"%r#{k}" for k in range(results))
    made = ", ".join(f"%g#{k}" for k in range(count))
    # A symbol is bound by the first argument that has it.
    forward = f"func.func @main({arguments}) -> ({outs}) {{\n{scan}\nreturn {values} : {outs}\n}}"
    backward = (
        f"func.func @main({seeds}, {arguments}) -> ({types}) {{\n{scan}\n"
        f"%g:{count} = ragged.gradient of({values} : {outs}) seeds({given} : {outs}) "
        f"wrt({inputs} : {types}) -> {types}\nreturn {made} : {types}\n}}"
    )
    return forward, backward


@pytest.mark.parametrize("words", ["", "reverse"])
@pytest.mark.parametrize("name", SCANS)
def test_scans(name, words):
    rng = np.random.default_rng(3)
    forward, backward = scan_text(name, words)
    for lengths in LENGTHS.values():
        args = [[rng.standard_normal((n, 2)) for n in lengths] for _ in range(SCANS[name][0])]
        check_text(forward, backward, range(len(args)), args)


def test_scans_stay_in_their_sample():
    """R4: a NaN in one sample is in the gradients of no other."""
    forward, backward = scan_text("gated")
    rng = np.random.default_rng(3)
    args = [[rng.standard_normal((n, 2)) for n in (3, 0, 4, 2)] for _ in range(3 + 2)]
    program = Program(backward)
    clean = program.run(args)
    args[2] = [x * np.nan if i == 2 else x for i, x in enumerate(args[2])]
    for before, after in zip(clean, program.run(args)):
        for i in (0, 1, 3):
            assert (before.samples[i] == after.samples[i]).all()
        assert np.isnan(after.samples[2]).any()


# --- Groups of an axis ------------------------------------------------------------------


def groups_text():
    """Through nest, a value of each group, and unnest; and through an axis that is whole again."""
    x, y, n = (
        "!ragged.tensor<[N, 2], f64>",
        "!ragged.tensor<[S, 2], f64>",
        "!ragged.tensor<[S], i64>",
    )
    groups = "!ragged.tensor<[T, 2], f64, path = [B, S]>"
    one = "!ragged.tensor<[2], f64, path = [B, S]>"
    body = f"""
      %t = ragged.nest %x, %n : {x}, {n} -> {groups}
      %m = ragged.map ins(%t : {groups}) {{
      ^bb0(%a: f64):
        %b = math.sin %a : f64
        ragged.yield %b : f64
      }} -> {groups}
      %s = ragged.reduce sum %m dims [0] : {groups} -> {one}
      %q = ragged.map ins(%s : {one}) {{
      ^bb0(%a: f64):
        %b = arith.mulf %a, %a : f64
        ragged.yield %b : f64
      }} -> {one}
      %u = ragged.unnest %q : {one} -> {y}"""
    forward = f"func.func @main(%x: {x}, %n: {n}) -> {y} {{{body}\nreturn %u : {y}\n}}"
    backward = (
        f"func.func @main(%g: {y}, %x: {x}, %n: {n}) -> {x} {{{body}\n%d = ragged.gradient of(%u : {y}) "
        f"seeds(%g : {y}) wrt(%x : {x}) -> {x}\nreturn %d : {x}\n}}"
    )
    return forward, backward


def test_groups():
    forward, backward = groups_text()
    counts = [np.array(c, I64) for c in ([2, 0, 1], [], [4], [0, 0])]
    rng = np.random.default_rng(0)
    check_text(
        forward, backward, [0], [[rng.standard_normal((c.sum(), 2)) for c in counts], counts]
    )


# name: (type of the result, what makes it of the groups %t)
FLAT = {
    # A softmax of each group; the axis is whole again.
    "axis": ("!ragged.tensor<[N, 2], f64>", """
      %p = ragged.softmax %t dims [0] : GROUPS -> GROUPS
      %q = ragged.map ins(%p, %t : GROUPS, GROUPS) {
      ^bb0(%a: f64, %b: f64):
        %c = math.sin %b : f64
        %d = arith.mulf %a, %c : f64
        ragged.yield %d : f64
      } -> GROUPS
      %u = ragged.unnest %q : GROUPS -> !ragged.tensor<[N, 2], f64>"""),
    # Beside an axis of the sample.
    "pairs": ("!ragged.tensor<[N, M], f64>", """
      %e = ragged.reduce sum %t dims [1] : GROUPS -> !ragged.tensor<[T], f64, path = [B, S]>
      %i = ragged.broadcast %e dims [0] : !ragged.tensor<[T], f64, path = [B, S]> -> PAIRS
      %j = ragged.broadcast %y dims [1] : !ragged.tensor<[M], f64> -> PAIRS
      %q = ragged.map ins(%i, %j : PAIRS, PAIRS) {
      ^bb0(%a: f64, %b: f64):
        %c = arith.mulf %a, %b : f64
        %d = math.sin %c : f64
        ragged.yield %d : f64
      } -> PAIRS
      %u = ragged.unnest %q : PAIRS -> !ragged.tensor<[N, M], f64>"""),
    # Of members that all have an axis of the sample.
    "members": ("!ragged.tensor<[S, M, 2], f64>", """
      %e = ragged.reduce sum %t dims [0] : GROUPS -> !ragged.tensor<[2], f64, path = [B, S]>
      %i = ragged.broadcast %e dims [1] : !ragged.tensor<[2], f64, path = [B, S]> -> MEMBERS
      %j = ragged.broadcast %y dims [0] : !ragged.tensor<[M], f64> -> MEMBERS
      %q = ragged.map ins(%i, %j : MEMBERS, MEMBERS) {
      ^bb0(%a: f64, %b: f64):
        %c = arith.mulf %a, %b : f64
        %d = math.sin %c : f64
        ragged.yield %d : f64
      } -> MEMBERS
      %u = ragged.unnest %q : MEMBERS -> !ragged.tensor<[S, M, 2], f64>"""),
    # Cut again as before, and made whole twice.
    "again": ("!ragged.tensor<[N, 2], f64>", """
      %v = ragged.unnest %t : GROUPS -> !ragged.tensor<[N, 2], f64>
      %w = ragged.map ins(%v, %x : !ragged.tensor<[N, 2], f64>, !ragged.tensor<[N, 2], f64>) {
      ^bb0(%a: f64, %b: f64):
        %c = math.sin %a : f64
        %d = arith.mulf %c, %b : f64
        ragged.yield %d : f64
      } -> !ragged.tensor<[N, 2], f64>
      %r = ragged.renest %w : !ragged.tensor<[N, 2], f64> -> GROUPS
      %q = ragged.softmax %r dims [0] : GROUPS -> GROUPS
      %u = ragged.unnest %q : GROUPS -> !ragged.tensor<[N, 2], f64>"""),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAT)
def test_groups_that_are_an_axis_again(name):
    """The first derivative against differences of the program, the second against those of the first."""
    out, made = FLAT[name]
    for word, extents in {"GROUPS": "T, 2", "PAIRS": "T, M", "MEMBERS": "M, 2"}.items():
        made = made.replace(word, f"!ragged.tensor<[{extents}], f64, path = [B, S]>")
    x, n, y = "!ragged.tensor<[N, 2], f64>", "!ragged.tensor<[S], i64>", "!ragged.tensor<[M], f64>"
    groups = "!ragged.tensor<[T, 2], f64, path = [B, S]>"
    body = f"%t = ragged.nest %x, %n : {x}, {n} -> {groups}{made}"
    arguments = f"%n: {n}, %x: {x}, %y: {y}"
    first = f"%d:2 = ragged.gradient of(%u : {out}) seeds(%g : {out}) wrt(%x, %y : {x}, {y}) -> {x}, {y}"
    second = (
        f"%s:2 = ragged.gradient of(%d#0, %d#1 : {x}, {y}) seeds(%h, %k : {x}, {y}) "
        f"wrt(%x, %y : {x}, {y}) -> {x}, {y}"
    )
    forward = f"func.func @main({arguments}) -> {out} {{\n{body}\nreturn %u : {out}\n}}"
    backward = (
        f"func.func @main(%g: {out}, {arguments}) -> ({x}, {y}) {{\n{body}\n{first}\n"
        f"return %d#0, %d#1 : {x}, {y}\n}}"
    )
    twice = (
        f"func.func @main(%h: {x}, %k: {y}, %g: {out}, {arguments}) -> ({x}, {y}) {{\n{body}\n{first}\n"
        f"{second}\nreturn %s#0, %s#1 : {x}, {y}\n}}"
    )
    counts = [np.array(c, I64) for c in ([2, 0, 1], [], [4], [0, 0])]
    rng = np.random.default_rng(0)
    xs = [rng.standard_normal((c.sum(), 2)) for c in counts]
    ys = [rng.standard_normal(m) for m in (2, 1, 3, 0)]
    check_text(forward, backward, [1, 2], [counts, xs, ys])
    sizes = {"S": map(len, counts), "N": map(len, xs), "M": map(len, ys)}
    dims = {d: list(s) for d, s in sizes.items()}
    shapes = [
        [dims[e][i] if e in dims else int(e) for e in out.split("[")[1].split("]")[0].split(", ")]
        for i in range(len(counts))
    ]
    seeds = [rng.standard_normal(s) for s in shapes]
    check_text(backward, twice, [2, 3], [seeds, counts, xs, ys])


def test_members_that_share_a_dim():
    """What repeats over the members of a path, ragged dims or shared weights, gets the sum over them;
    products are summed over them."""
    x, y, n, w = (
        "!ragged.tensor<[K, 2], f64>",
        "!ragged.tensor<[N, 2], f64>",
        "!ragged.tensor<[S], i64>",
        "tensor<2x3xf64>",
    )
    path = "f64, path = [B, S]>"
    groups, one, each = (f"!ragged.tensor<[{e}], {path}" for e in ("T, 2", "2", "N, 2"))
    wide, square = f"!ragged.tensor<[T, 3], {path}", "!ragged.tensor<[3, 3], f64>"
    pair = "!ragged.tensor<[2], f64>"
    body = f"""
      %t = ragged.nest %x, %n : {x}, {n} -> {groups}
      %s = ragged.reduce sum %t dims [0] : {groups} -> {one}
      %e = ragged.broadcast %s dims [1] : {one} -> {each}
      %b = ragged.broadcast %y dims [0, 1] : {y} -> {each}
      %m = ragged.map ins(%e, %b : {each}, {each}) {{
      ^bb0(%u: f64, %v: f64):
        %p = arith.mulf %u, %v : f64
        %q = math.sin %p : f64
        ragged.yield %q : f64
      }} -> {each}
      %r0 = ragged.reduce sum %m dims [] batch : {each} -> {y}
      %r1 = ragged.reduce mean %m dims [] batch : {each} -> {y}
      %r3 = ragged.reduce mean %t dims [0] batch : {groups} -> {pair}
      %l = ragged.linear %t, %w : {groups}, {w} -> {wide}
      %r2 = ragged.contract "tc,td->cd" %l, %l batch : {wide}, {wide} -> {square}"""
    results, values = f"{y}, {y}, {square}, {pair}", "%r0, %r1, %r2, %r3"
    forward = (
        f"func.func @main(%x: {x}, %y: {y}, %n: {n}, %w: {w}) -> ({results}) {{{body}\n"
        f"return {values} : {results}\n}}"
    )
    backward = (
        f"func.func @main(%g0: {y}, %g1: {y}, %g2: {square}, %g3: {pair}, %x: {x}, %y: {y}, %n: {n}, %w: {w}) "
        f"-> ({x}, {y}, {w}) {{{body}\n%d:3 = ragged.gradient of({values} : {results}) "
        f"seeds(%g0, %g1, %g2, %g3 : {results}) wrt(%x, %y, %w : {x}, {y}, {w}) -> {x}, {y}, {w}\n"
        f"return %d#0, %d#1, %d#2 : {x}, {y}, {w}\n}}"
    )
    counts = [np.array(c, I64) for c in ([2, 0, 1], [], [4], [0, 0])]
    rng = np.random.default_rng(0)
    xs = [rng.standard_normal((c.sum(), 2)) for c in counts]
    ys = [rng.standard_normal((k, 2)) for k in (3, 2, 0, 1)]
    check_text(forward, backward, [0, 1, 3], [xs, ys, counts, rng.standard_normal((2, 3))])


# --- Ties, NaN, empty groups ------------------------------------------------------------


def test_the_batch_has_one_winner():
    """R10: the first element of the first sample that is the extremum, or the first NaN."""
    x = column([[], [2, 7], [7, 7], [1]])
    g = nested.grad(lambda x: nested.batch.max(x, axis=None))(x)
    assert [s.tolist() for s in g] == [[], [0, 1], [0, 0], [0]]
    g = nested.grad(lambda x: nested.batch.min(x, axis=None))(column([[3, 1], [1], [1, 0, 0]]))
    assert [s.tolist() for s in g] == [[0, 0], [0], [0, 1, 0]]
    g = nested.grad(lambda x: nested.batch.max(x, axis=None))(column([[9], [np.nan, 1], [np.nan]]))
    assert [s.tolist() for s in g] == [[0], [1, 0], [0]]
    g = nested.grad(lambda x: nested.batch.max(x, axis=None))(column([[], []]))
    assert [s.tolist() for s in g] == [[], []]


def test_scatter_has_one_winner():
    """R10: the init before the updates, these in their order; of `set` the last update."""
    i = nested.from_list([np.array([1, 0, 1, 1]), np.array([], I64), np.array([2])])
    u = column([[5, 2, 5, 3], [], [0]])
    x = np.array([2.0, 4.0, -1.0])
    seeds = np.array([1.0, 10.0, 100.0])

    def gradients(mode):
        def loss(x, u, i):
            return nested.batch.sum(nested.scatter(x, i, u, mode) * seeds, axis=None)

        return nested.grad(loss, (0, 1))(x, u, i)

    gx, gu = gradients("max")
    assert [s.tolist() for s in gu] == [[10, 0, 0, 0], [], [100]]
    assert gx.tolist() == [3, 20, 200]
    gx, gu = gradients("min")
    assert [s.tolist() for s in gu] == [[0, 0, 0, 10], [], [0]]
    assert gx.tolist() == [3, 20, 300]
    gx, gu = gradients("set")
    assert [s.tolist() for s in gu] == [[0, 1, 0, 10], [], [100]]
    assert gx.tolist() == [2, 20, 200]
    gx, gu = gradients("add")
    assert [s.tolist() for s in gu] == [[10, 1, 10, 10], [], [100]]
    assert gx.tolist() == [3, 30, 300]


def test_sorting_equal_entries():
    """R10: stable, so the gradient of a tie goes to who stands where it was sorted to."""
    x = column([[3, 1, 3, np.nan, 1]])

    def largest(x):
        y = nested.topk(x, 2, axis=0)[0]
        return y * (1 + nested.arange(y.shape[0]))

    assert gradient_of(largest, x)[0].tolist() == [2, 0, 0, 1, 0]
    g = gradient_of(lambda x: np.sort(x) * nested.arange(x.shape[0]), x)
    assert g[0].tolist() == [2, 0, 3, 4, 1]


def test_masked_attention_has_no_gradient():
    """R5: a query that sees nothing; R4: another sample's NaN."""
    rng = np.random.default_rng(1)
    q, k, v = ([rng.standard_normal((n, 2, 3)) for n in (3, 2)] for _ in range(3))

    def loss(q, k, v, seen):
        y = attention(q, k, v, mask=np.broadcast_to(seen[:, None], (q.shape[0], k.shape[0])))
        return nested.batch.sum(y * y, axis=None)

    def named(xs):
        return nested.from_list(xs, dims=("N", 2, 3))

    seen = nested.from_list([np.array([True, False, True]), np.array([False, False])], dims=("N",))
    gradient = nested.grad(loss, (0, 1, 2))
    clean = gradient(named(q), named(k), named(v), seen)
    assert (clean[0][0][1] == 0).all() and (clean[0][1] == 0).all()
    assert (clean[1][1] == 0).all() and (clean[2][1] == 0).all()
    bad = gradient(named([q[0] * np.nan, q[1]]), named(k), named(v), seen)
    assert all((b[1] == c[1]).all() for b, c in zip(bad, clean))


def test_a_table_adds_up_rows_in_f64():
    """R6, R8: many small updates of one row, the same bits for any number of threads."""
    rng = np.random.default_rng(0)
    table = np.zeros((300, 2), np.float32)
    i = nested.from_list([rng.integers(0, 300, n) * (n % 2) for n in (4000, 0, 3001, 50_000)])
    x = nested.from_list([rng.standard_normal((len(s), 2)).astype("f4") for s in i])
    step = nested.grad(lambda t, i, x: nested.batch.sum(t[i] * x, axis=None))
    threads = nested.get_num_threads()
    try:
        nested.set_num_threads(1)
        one = step(table, i, x)
        nested.set_num_threads(2)
        two = step(table, i, x)
    finally:
        nested.set_num_threads(threads)
    wide = np.zeros((300, 2))
    np.add.at(wide, np.concatenate(list(i)), np.concatenate(list(x)).astype("f8"))
    assert (one == two).all()
    assert np.abs(one - wide).max() <= 1e-6 * np.abs(wide).max()


def test_reductions_over_the_batch_of_moved_rows():
    """Rows that a sample chooses by itself, kept as dims of the dense result."""
    xs = [np.arange(2.0 * n).reshape(n, 2) for n in (3, 2, 5)]
    x = nested.from_list(xs)
    taken = nested.jit(lambda x: nested.batch.sum(np.take(x, np.array([1, 0]), axis=0), axis=()))
    assert (taken(x) == sum(s[[1, 0]] for s in xs)).all()
    table = np.arange(12.0).reshape(6, 2)
    places = nested.from_list([np.array([0, 3]), np.array([5, 1])], ragged=())
    read = nested.jit(lambda t, i: nested.batch.sum(t[i], axis=()))
    assert (read(table, places) == table[[0, 3]] + table[[5, 1]]).all()


# --- Other dtypes, second derivatives ---------------------------------------------------


@pytest.mark.parametrize("name", ["attention_causal", "sort", "table", "scatter_max", "select_numbers",
                                  "batch_max_columns"])  # fmt: skip
def test_f32(name):
    function, specs = PROGRAMS[name]
    args = numbers(specs, LENGTHS["mixed"])
    floats = [k for k, s in enumerate(specs) if s.dtype.kind == "f"]
    shared = name.startswith("batch")

    def loss(*args):
        result = function(*args)
        return np.sum(result * result) if shared else nested.batch.sum(result * result, axis=None)

    def gradients(dtype):
        given = []
        for s, a in zip(specs, args):
            kind = dtype if s.dtype.kind == "f" else s.dtype
            given.append(
                nested.from_list([x.astype(kind) for x in a], dims=s.dims)
                if s.batched
                else np.asarray(a, kind)
            )
        return nested.grad(loss, tuple(floats))(*given)

    for narrow, wide in zip(gradients("f4"), gradients("f8")):
        if isinstance(wide, nested.NestedTensor):
            narrow, wide = narrow.values, wide.values
        assert narrow.dtype == np.float32
        same(narrow, wide, 2e-5, name)


@pytest.mark.parametrize("name", ["attention", "table", "sort", "select", "scan"])
def test_hessians_are_symmetric(name):
    rng = np.random.default_rng(4)
    x = nested.from_list([rng.standard_normal((n, 2)) for n in (2, 0, 3)])
    w = rng.standard_normal((2, 2))
    functions = {
        "attention": lambda w, x: attention(x @ w, x, (x @ w) ** 2),
        "table": lambda w, x: (w[nested.arange(x.shape[0]) % 2] * x) ** 3,
        "sort": lambda w, x: np.sort(x @ w, axis=0) ** 3,
        "select": lambda w, x: nested.sum(np.exp((x @ w)[x[:, 0] > 0]), axis=0),
        "scan": lambda w, x: np.cumsum((x @ w) ** 3, axis=0) ** 2,
    }

    def loss(w, x):
        return nested.batch.sum(functions[name](w, x), axis=None)

    check_hessian(loss, w, x)
