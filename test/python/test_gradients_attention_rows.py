# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradient of a bias that all rows of a sample share: each row adds to it where it is stored. Options of
attention, samples without rows, queries or keys, blocks, bits, precision, memory."""

import ml_dtypes
import numpy as np
import pytest
from gradients import check, dense, numbers, ragged, same
from helpers import same_bits
from test_gradients import check_hessian

import nested

attention = nested.attention
# Rows, queries, keys. A unit has 96 queries, a block 128 keys.
SIZES = [(3, 200, 130), (0, 5, 3), (4, 0, 3), (2, 3, 0), (1, 1, 1), (7, 4, 9)]

QKV = [ragged("I", "N", 4, 3), ragged("I", "M", 2, 3), ragged("I", "M", 2, 2)]
HEADS, ALL = ragged("N", "M", 4), ragged("N", "M")
PROGRAMS = {
    # name: (function, specs)
    "heads": (lambda q, k, v, b: attention(q, k, v, bias=b), [*QKV, HEADS]),
    "all_heads": (lambda q, k, v, b: attention(q, k, v, bias=b), [*QKV, ALL]),
    "capped": (lambda q, k, v, b: attention(q, k, v, bias=b, soft_cap=0.9), [*QKV, HEADS]),
    "window": (lambda q, k, v, b: attention(q, k, v, bias=b, window=(2, 1)), [*QKV, HEADS]),
    "all_heads_causal": (lambda q, k, v, b: attention(q, k, v, bias=b, causal=True), [*QKV, ALL]),
    "transposed": (lambda q, k, v, b: attention(q, k, v, bias=b.transpose(1, 0, 2)),
                   [*QKV, ragged("M", "N", 4)]),
    "mask_of_all": (lambda q, k, v, b: attention(q, k, v, bias=b, mask=b > 0.2), [*QKV, HEADS]),
    "mask_of_each": (lambda q, k, v, b, m: attention(q, k, v, bias=b, mask=m > 0.2),
                     [*QKV, ALL, ragged("I", "N", "M", 4)]),
    "shared_keys": (lambda q, k, v, b: attention(q, k[None], v[None], bias=b),
                    [QKV[0], ragged("M", 2, 3), ragged("M", 2, 2), HEADS]),
    "one_query": (lambda q, k, v, b: attention(q[None], k, v, bias=b),
                  [ragged("N", 4, 3), *QKV[1:], HEADS]),
    "of_the_batch": (lambda q, k, v, b: attention(q, k, v, bias=b),
                     [ragged("I", 5, 2, 3), ragged("I", 4, 2, 3), ragged("I", 4, 2, 2), dense(5, 4, 2)]),
    "all_heads_of_the_batch": (
        lambda q, k, v, b: attention(q, k, v, bias=b),
        [ragged("I", 5, 2, 3), ragged("I", 4, 2, 3), ragged("I", 4, 2, 2), dense(5, 4)]),
}  # fmt: skip
DIMS = [("I", "N", 4, 8), ("I", "M", 2, 8), ("I", "M", 2, 6), ("N", "M", 4)]


@pytest.mark.parametrize(
    "lengths", [[3, 0, 2, 1], [0, 0], []], ids=["mixed", "empty", "no_samples"]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name, lengths):
    function, specs = PROGRAMS[name]
    check(function, specs, numbers(specs, lengths))


def draw(rng, dims, sizes=SIZES, dtype=np.float64):
    named = [dict(zip("INM", size)) for size in sizes]
    return [rng.standard_normal([at.get(d, d) for d in dims]).astype(dtype) for at in named]


@pytest.mark.parametrize("name", ["heads", "all_heads", "window", "shared_keys"])
def test_many_blocks(name):
    function, specs = PROGRAMS[name]
    rng = np.random.default_rng(1)
    check(function, specs, [draw(rng, s.dims) for s in specs], directions=1)


def loss(q, k, v, b):
    y = attention(q, k, v, bias=b, window=(150, 3))
    return nested.batch.sum(y * y, axis=None)


def gradients_of(args, samples=None):
    samples = range(len(args[0])) if samples is None else samples
    given = [nested.from_list([a[i] for i in samples], dims=d) for a, d in zip(args, DIMS)]
    return [[np.asarray(s) for s in g] for g in nested.grad(loss, (0, 1, 2, 3))(*given)]


@pytest.mark.parametrize("threads", [1, 2])
def test_bits_do_not_depend_on_batch_and_threads(threads):
    """R8: rows are added up in their order."""
    rng = np.random.default_rng(2)
    args = [draw(rng, d, dtype="f4") for d in DIMS]
    before = nested.get_num_threads()
    try:
        nested.set_num_threads(1)
        whole = gradients_of(args)
        nested.set_num_threads(threads)
        for samples in (range(len(SIZES)), [5, 2, 0], [0], [1], [4, 4]):
            for alone, all_ in zip(gradients_of(args, samples), whole):
                for place, i in enumerate(samples):
                    same_bits(alone[place], all_[i])
    finally:
        nested.set_num_threads(before)


def test_without_rows_the_gradient_is_zero():
    """R5: written, whatever the memory had before, also beside samples that have rows."""
    step = nested.grad(lambda b, x: nested.batch.sum(
        attention(x, x, x, bias=b) ** 2 * 1e30, axis=None))  # fmt: skip
    rng = np.random.default_rng(3)
    for rows in ([6, 4], [0, 0], [5, 0], [0, 7]):
        x = nested.from_list([normal(rng, i, 30, 1, 4) for i in rows], dims=("I", "N", 1, 4))
        b = nested.from_list([normal(rng, 30, 30) for _ in rows], dims=("N", "N"))
        for i, gradient in zip(rows, step(b, x)):
            assert gradient.shape == (30, 30) and np.isfinite(gradient).all()
            assert (gradient != 0).all() == (i > 0) and (gradient == 0).all() == (i == 0)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype("f4")


@pytest.mark.parametrize("kind, tolerance", [("f4", 2e-6), ("f2", 0.01), ("bf16", 0.06)])
def test_many_rows_are_added_up_in_f64(kind, tolerance):
    """R6: the error does not grow with their number."""
    rng = np.random.default_rng(4)
    dtype = ml_dtypes.bfloat16 if kind == "bf16" else np.dtype(kind)
    args = [draw(rng, d, [(2000, 3, 4), (1, 2, 2)]) for d in DIMS]
    args = [[x.astype(dtype) for x in a] for a in args]
    wide = gradients_of([[x.astype("f8") for x in a] for a in args])[3]
    for got, want in zip(gradients_of(args)[3], wide):
        assert got.dtype == dtype
        same(got, want, tolerance, kind)


def test_a_nan_stays_in_its_sample():
    rng = np.random.default_rng(5)
    args = [draw(rng, d, [(2, 5, 6), (3, 100, 9), (1, 4, 4)], "f4") for d in DIMS]
    clean = gradients_of(args)
    args[0][1] = args[0][1] * np.nan
    bad = gradients_of(args)
    for before, after in zip(clean, bad):
        same_bits(after[0], before[0])
        same_bits(after[2], before[2])
    assert np.isnan(bad[3][1]).any()


def test_second_derivatives():
    rng = np.random.default_rng(6)
    x = nested.from_list([rng.standard_normal((n, 2)) for n in (3, 0, 2)], dims=("N", 2))
    w = rng.standard_normal((2, 2))

    def of_pairs(w, x):
        y = x @ w
        pairs = y[:, None, None, :] * x[None, :, None, :]
        bias = y[:, 0][:, None] * x[:, 1][None, :]
        return nested.batch.sum(attention(pairs, pairs, pairs**2, bias=bias) ** 2, axis=None)

    check_hessian(of_pairs, w, x)


PAIRS = [nested.spec("N", "N", 4, 8)] * 3


def of_arguments(q, k, v, b):
    return nested.batch.sum(attention(q, k, v, bias=b) ** 2, axis=None)


def of_projections(z, w):
    q, k, v = (np.einsum("ijc,chd->ijhd", z, w[name]) for name in "qkv")
    return of_arguments(q, k, v, z @ w["b"])


WEIGHTS = {**dict.fromkeys("qkv", nested.spec(32, 4, 8)), "b": nested.spec(32, 4)}


@pytest.mark.parametrize("program, specs, gradients", [
    (of_arguments, [*PAIRS, nested.spec("N", "N", 4)], (0, 1, 2, 3)),
    (of_arguments, [*PAIRS, nested.spec("N", "N")], (0, 1, 2, 3)),
    (of_projections, [nested.spec("N", "N", 32), WEIGHTS], (0, 1)),
], ids=["arguments", "all_heads", "projections"])  # fmt: skip
def test_memory(program, specs, gradients):
    """Forward and backward of triangle attention take a few times the pairs, of whatever lengths: no gradient
    has one number for each row of them."""
    module = nested.load(nested.export(program, *specs, gradients=gradients).bytes)
    entry = module.forward_backward
    for n in (100, 1000):
        pairs = n * n * 32 * 4
        assert entry.plan({"N": [n]}).peak_bytes < 12 * pairs
