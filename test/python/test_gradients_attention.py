# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of attention, which make scores again block by block: every option of the forward,
lengths around the blocks of queries and keys, memory, precision, isolation of samples."""

import sys

import ml_dtypes
import numpy as np
import pytest
from gradients import check, check_text, dense, numbers, ragged, same
from helpers import same_bits
from oracle import Program
from test_attention import before_a_forbidden_page
from test_gradients import check_hessian, hessian

import nested

attention = nested.attention
# Queries and keys: a unit has 192 of them, a block 128 columns, a group 24 rows of 6.
LENGTHS = [(200, 270), (0, 3), (5, 0), (130, 140), (1, 129)]

HEADS = [ragged("N", 2, 3), ragged("M", 2, 3), ragged("M", 2, 4)]
GROUPED = [ragged("N", 4, 5), ragged("M", 2, 5), ragged("M", 2, 3)]
EACH, ALL = ragged("N", "M", 2), ragged("N", "M")
SAMPLE = [nested.spec(5, 2, 3, dtype="f8", batched=True), nested.spec(4, 2, 3, dtype="f8", batched=True),
          dense(4, 2, 3)]  # fmt: skip

PROGRAMS = {
    # name: (function, specs)
    "plain": (lambda q, k, v: attention(q, k, v), HEADS),
    "grouped": (lambda q, k, v: attention(q, k, v, causal=True), GROUPED),
    "one_head_of_keys": (lambda q, k, v: attention(q, k[:, :1], v[:, :1], scale=0.3), HEADS),
    "capped": (lambda q, k, v: attention(q, k, v, soft_cap=0.8, scale=0.9), HEADS),
    "window": (lambda q, k, v: attention(q, k, v, window=(3, 1)), HEADS),
    "window_behind": (lambda q, k, v: attention(q, k, v, window=(None, 2)), HEADS),
    "window_before": (lambda q, k, v: attention(q, k, v, window=(2, None)), HEADS),
    "bias_each": (lambda q, k, v, b: attention(q, k, v, bias=b, soft_cap=1.5), [*HEADS, EACH]),
    "bias_each_causal": (lambda q, k, v, b: attention(q, k, v, bias=b, causal=True), [*HEADS, EACH]),
    "bias_all": (lambda q, k, v, b: attention(q, k, v, bias=b), [*HEADS, ALL]),
    "bias_all_window": (
        lambda q, k, v, b: attention(q, k, v, bias=b, window=(1, 2), soft_cap=2.0), [*HEADS, ALL]),
    "bias_transposed": (
        lambda q, k, v, b: attention(q, k, v, bias=b.T), [*HEADS, ragged("M", "N")]),
    "mask_each": (lambda q, k, v, b: attention(q, k, v, mask=b > 0), [*HEADS, EACH]),
    "mask_all": (lambda q, k, v, b: attention(q, k, v, bias=b, mask=b > 0.25, causal=True),
                 [*HEADS, ALL]),
    "bias_of_the_batch": (lambda q, k, v, b: attention(q, k, v, bias=b), [*SAMPLE, dense(5, 4)]),
    "bias_of_the_batch_each": (lambda q, k, v, b: attention(q, k, v, bias=b),
                               [*SAMPLE, dense(5, 4, 2)]),
    "dense": (lambda q, k, v: attention(q, k, v, causal=True),
              [dense(3, 4, 2), dense(5, 2, 2), dense(5, 2, 3)]),
    "wide": (lambda q, k, v: attention(q, k, v),
             [ragged("N", 1, 17), ragged("M", 1, 17), ragged("M", 1, 20)]),
}  # fmt: skip
# What test_gradients_ordered.py does not check on short samples.
SHORT = [name for name in PROGRAMS if name not in ("plain", "capped", "wide")]


@pytest.mark.parametrize("lengths", [[3, 0, 5, 1, 2], [4], [0, 0]], ids=["mixed", "one", "empty"])
@pytest.mark.parametrize("name", SHORT)
def test_short_samples(name, lengths):
    function, specs = PROGRAMS[name]
    check(function, specs, numbers(specs, lengths))


def draw(specs, rng, dtype=np.float64):
    sizes = [dict(N=n, M=m) for n, m in LENGTHS]

    def one(dims, at):
        return rng.standard_normal([at.get(d, d) for d in dims]).astype(dtype).astype(np.float64)

    return [[one(s.dims, at) for at in sizes] if s.batched else one(s.dims, {}) for s in specs]


LONG = ["plain", "grouped", "window", "bias_all_window", "bias_each_causal", "mask_all", "wide"]


@pytest.mark.parametrize("name", LONG)
def test_many_blocks(name):
    """Compiled as interpreted, in f64, and as differences of the forward."""
    function, specs = PROGRAMS[name]
    check(function, specs, draw(specs, np.random.default_rng(2)), directions=1)


def gradients_of(function, specs, args, dtype):
    def loss(*args):
        result = function(*args)
        return nested.batch.sum(result * result, axis=None)

    given = [nested.from_list([x.astype(dtype) for x in a], dims=s.dims, dtype=dtype)
             if s.batched else a.astype(dtype) for s, a in zip(specs, args)]  # fmt: skip
    found = nested.grad(loss, tuple(range(len(specs))))(*given)
    return [g.values if isinstance(g, nested.NestedTensor) else np.asarray(g) for g in found]


@pytest.mark.parametrize("kind, tolerance", [("f4", 2e-5), ("f2", 0.01), ("bf16", 0.06)])
@pytest.mark.parametrize("name", ["grouped", "bias_all_window", "mask_all", "wide"])
def test_narrow_types(name, kind, tolerance):
    function, specs = PROGRAMS[name]
    dtype = ml_dtypes.bfloat16 if kind == "bf16" else np.dtype(kind)
    args = draw(specs, np.random.default_rng(3), dtype)
    wide = gradients_of(function, specs, args, np.float64)
    for got, want in zip(gradients_of(function, specs, args, dtype), wide):
        assert got.dtype == dtype
        same(got, want, tolerance, f"{name} in {kind}")


def nested_text():
    """Queries of the groups of a sample, keys of the group and then of the sample."""
    path = "f64, path = [B, S]>"
    x, n, k = (
        "!ragged.tensor<[N, 4], f64>",
        "!ragged.tensor<[S], i64>",
        "!ragged.tensor<[M, 1, 4], f64>",
    )
    groups, q, one = (f"!ragged.tensor<[{e}], {path}" for e in ("T, 4", "T, 1, 4", "4"))
    out = "!ragged.tensor<[S, 4], f64>"
    body = f"""
      %y = ragged.nest %x, %n : {x}, {n} -> {groups}
      %q = ragged.broadcast %y dims [0, 2] : {groups} -> {q}
      %s = ragged.attention %q, %q, %q : {q}, {q}, {q} -> {q}
      %c = ragged.attention %s, %k, %k : {q}, {k}, {k} -> {q}
      %r = ragged.reduce sum %c dims [0, 1] : {q} -> {one}
      %u = ragged.unnest %r : {one} -> {out}"""
    arguments = f"%x: {x}, %n: {n}, %k: {k}"
    forward = f"func.func @main({arguments}) -> {out} {{{body}\nreturn %u : {out}\n}}"
    backward = (
        f"func.func @main(%g: {out}, {arguments}) -> ({x}, {k}) {{{body}\n%d:2 = ragged.gradient of(%u : {out}) "
        f"seeds(%g : {out}) wrt(%x, %k : {x}, {k}) -> {x}, {k}\nreturn %d#0, %d#1 : {x}, {k}\n}}"
    )
    return forward, backward


def test_keys_that_groups_share():
    """The gradient of a key is the sum over the groups of its sample."""
    forward, backward = nested_text()
    counts = [np.array(c, np.int64) for c in ([2, 0, 1], [], [4], [0, 0])]
    rng = np.random.default_rng(0)
    xs = [rng.standard_normal((c.sum(), 4)) for c in counts]
    ks = [rng.standard_normal((m, 1, 4)) for m in (2, 3, 0, 1)]
    check_text(forward, backward, [0, 2], [xs, counts, ks])


def batch(rng, lengths, *features, dtype=np.float32, dims=("N",)):
    return nested.from_list([rng.standard_normal((n, *features)).astype(dtype) for n in lengths],
                            dims=(*dims, *features))  # fmt: skip


def test_no_scores_are_stored(tmp_path):
    """Forward and backward together: nothing that grows with the square of a length."""

    def loss(q, k, v):
        y = attention(q, k, v, causal=True)
        return nested.batch.sum(y * y, axis=None)

    spec, path = nested.spec("N", 2, 8), tmp_path / "attention.so"
    nested.export(loss, spec, spec, spec, gradients=(0, 1, 2)).save(path)
    entry = nested.load(path).forward_backward
    plans = [entry.plan({"N": [n]}) for n in (2000, 4000)]
    rows = 2000 * 2 * 8 * 4
    assert plans[0].temp_bytes <= 6 * rows
    assert plans[1].temp_bytes <= 2 * plans[0].temp_bytes
    assert plans[1].peak_bytes < 2 * 4 * 2000**2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
@pytest.mark.parametrize("keys", [1, 7, 22, 130])
def test_nothing_behind_the_last_row_is_read(keys):
    rng = np.random.default_rng(1)
    lengths = {"N": (5, 4), "M": (3, keys)}
    arrays = [rng.standard_normal((sum(lengths[d]), 1, 20)).astype("f4") for d in "NMM"]

    def loss(q, k, v):
        return nested.batch.sum(attention(q, k, v) ** 2, axis=None)

    def run(arrays):
        return step(*(nested.from_values(a, lengths[d]) for a, d in zip(arrays, "NMM")))

    step = nested.grad(loss, (0, 1, 2))
    want = run(arrays)
    for x, y in zip(run([before_a_forbidden_page(a) for a in arrays]), want):
        same_bits(x.values, y.values)


@pytest.mark.parametrize("threads", [1, 2])
def test_bits_of_a_sample_do_not_depend_on_the_batch(threads):
    """R8, for what each sample has of its own."""
    rng = np.random.default_rng(4)
    sizes = [(200, 270), (0, 3), (5, 0), (130, 140), (1, 129)]
    args = [
        [rng.standard_normal((n, 4, 8)).astype("f4") for n, _ in sizes],
        [rng.standard_normal((m, 2, 8)).astype("f4") for _, m in sizes],
        [rng.standard_normal((m, 2, 8)).astype("f4") for _, m in sizes],
        [rng.standard_normal((n, m)).astype("f4") for n, m in sizes],
    ]
    dims = [("N", 4, 8), ("M", 2, 8), ("M", 2, 8), ("N", "M")]

    def loss(q, k, v, b):
        y = attention(q, k, v, bias=b, window=(150, 3))
        return nested.batch.sum(y * y, axis=None)

    step = nested.grad(loss, (0, 1, 2, 3))

    def run(samples):
        given = [nested.from_list([a[i] for i in samples], dims=d) for a, d in zip(args, dims)]
        return [[np.asarray(s) for s in g] for g in step(*given)]

    before = nested.get_num_threads()
    try:
        nested.set_num_threads(1)
        whole = run(range(len(sizes)))
        nested.set_num_threads(threads)
        for samples in ([3, 2, 0], [0], [1], [4, 4]):
            for alone, all_ in zip(run(samples), whole):
                for place, i in enumerate(samples):
                    same_bits(alone[place], all_[i])
    finally:
        nested.set_num_threads(before)


@pytest.mark.parametrize("bad", range(4))
def test_a_nan_stays_in_its_sample(bad):
    """R4: a NaN in one sample's query, key, value or bias."""
    rng = np.random.default_rng(5)
    sizes = [(7, 9), (150, 200), (3, 0)]
    shapes = [lambda n, m: (n, 2, 8), lambda n, m: (m, 2, 8), lambda n, m: (m, 2, 8),
              lambda n, m: (n, m)]  # fmt: skip
    args = [[rng.standard_normal(shape(n, m)).astype("f4") for n, m in sizes] for shape in shapes]
    dims = [("N", 2, 8), ("M", 2, 8), ("M", 2, 8), ("N", "M")]

    def loss(*args):
        y = attention(*args[:3], bias=args[3], causal=True)
        return nested.batch.sum(y * y, axis=None)

    step = nested.grad(loss, (0, 1, 2, 3))

    def run(args):
        return step(*(nested.from_list(a, dims=d) for a, d in zip(args, dims)))

    clean = run(args)
    args[bad][1] = args[bad][1] * np.nan
    for before, after in zip(clean, run(args)):
        same_bits(after[0], before[0])
        same_bits(after[2], before[2])
    assert np.isnan(after[1]).any()


def test_what_is_not_seen_has_no_gradient():
    """R4, R5: a masked pair whose score is NaN or infinite, a query that sees nothing."""
    rng = np.random.default_rng(6)
    q, v = rng.standard_normal((40, 1, 8)), rng.standard_normal((30, 1, 8))
    b = rng.standard_normal((40, 30))
    seen = rng.random((40, 30)) < 0.5
    seen[7] = False
    b[~seen] = rng.choice([np.nan, np.inf, -np.inf, 3.0], (~seen).sum())

    def loss(q, v, b, seen):
        y = attention(q, v, v, bias=b, mask=seen)
        return nested.batch.sum(y * y, axis=None)

    def run(b):
        given = [nested.from_list([x], dims=d) for x, d in (
            (q, ("N", 1, 8)), (v, ("M", 1, 8)), (b, ("N", "M")), (seen, ("N", "M")))]  # fmt: skip
        return [np.asarray(g[0]) for g in nested.grad(loss, (0, 1, 2))(*given)]

    got, clean = run(b), run(np.where(seen, b, 0))
    for x, y in zip(got, clean):
        same_bits(x, y)
    assert (got[0][7] == 0).all() and (got[2][~seen] == 0).all() and (got[2][seen] != 0).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_query_that_sees_one_key_has_no_gradient(dtype):
    """Its weight is 1 whatever the score: exactly 0, as what is subtracted is added up in the same order."""
    rng = np.random.default_rng(10)
    q, k, v = (rng.standard_normal((n, 2, 21)).astype(dtype) for n in (9, 1, 1))
    given = [nested.from_list([x], dims=(d, 2, 21)) for x, d in ((q, "N"), (k, "M"), (v, "M"))]

    def loss(q, k, v):
        return nested.batch.sum(attention(q, k, v) ** 3, axis=None)

    dq, dk, _ = nested.grad(loss, (0, 1, 2))(*given)
    assert (dq.values == 0).all() and (dk.values == 0).all()


def test_large_scores():
    """Scores near 4000, exact in f32. The normalizer is two numbers: a logarithm of the sum would have 4 digits
    behind the point."""
    rng = np.random.default_rng(7)
    specs = [ragged("N", 1, 8), ragged("N", 1, 8), ragged("N", 1, 8), ragged("N", "N")]
    zero, v = np.zeros((50, 1, 8)), rng.standard_normal((50, 1, 8)).astype("f4").astype("f8")
    args = [[zero], [zero], [v], [4000 + rng.integers(0, 16, (50, 50)) / 4]]

    def function(q, k, v, b):
        return attention(q, k, v, bias=b)

    wide = gradients_of(function, specs, args, np.float64)
    for got, want in zip(gradients_of(function, specs, args, np.float32), wide):
        same(got, want, 5e-6, "large scores")


def test_second_derivatives():
    """Of everything at once, as differences of first derivatives."""
    rng = np.random.default_rng(8)
    x = nested.from_list([rng.standard_normal((n, 2)) for n in (3, 0, 4)])
    w = rng.standard_normal((2, 2))

    def loss(w, x):
        q = (x @ w)[:, None, :] * np.array([[1.0], [2.0]])
        k = (x @ w)[:, None, :]
        bias = (x @ w)[:, 0][:, None] * x[:, 0][None, :]
        y = attention(q, k, k * k, bias=bias, mask=bias < 1, window=(2, 1), soft_cap=1.5)
        return nested.batch.sum(y, axis=None)

    check_hessian(loss, w, x)


def test_second_derivatives_of_shared_keys():
    rng = np.random.default_rng(9)
    x = nested.from_list([rng.standard_normal((n, 1, 2)) for n in (3, 0, 4)], dims=("N", 1, 2))
    w = rng.standard_normal((3, 1, 2))

    def loss(w, x):
        return nested.batch.sum(attention(x, w, w * w), axis=None)

    h = hessian(loss, (3, 1, 2), w, x)
    same(h, h.T, 1e-11, "Hessian")


def test_normalizer():
    """Of a program: the shift and the factor of each query and head."""
    t, n = "!ragged.tensor<[N, 2, 3], f64>", "!ragged.tensor<[N, 2, 2], f64>"
    text = f"""func.func @main(%q: {t}) -> ({t}, {n}) {{
      %o, %n = ragged.attention %q, %q, %q {{right = 0 : i64}} : {t}, {t}, {t} -> {t}, {n}
      return %o, %n : {t}, {n}
    }}"""
    program, rng = Program(text), np.random.default_rng(1)
    args = [[rng.standard_normal((n, 2, 3)) for n in (3, 0, 200)]]
    for got, want in zip(program.run(args), program.interpret(args)):
        for x, y in zip(got.samples, want.samples):
            same(x, y, 1e-12, "normalizer")
