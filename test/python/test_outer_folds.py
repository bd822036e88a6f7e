# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of outer products of rows that a kernel makes: weight gradients that store no row."""

import numpy as np
import pytest

import nested
from nested import nn


def batch_of(lengths, columns, dtype, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(sum(lengths), columns)).astype(dtype)
    return nested.from_values(rows, np.array(lengths, int), dims=("N", columns))


def made(x):
    return np.tanh(x) * 2, x * x


@pytest.mark.parametrize("dtype, tolerance", [("f4", 2e-5), ("f8", 1e-12)])
@pytest.mark.parametrize("columns", [(1, 1), (3, 5), (4, 16), (7, 33), (64, 40), (130, 8)])
def test_over_the_batch(columns, dtype, tolerance):
    k, m = columns

    def f(x, y):
        a, b = np.tanh(x) * 2, y * y
        return nested.batch.sum(a[:, :, None] * b[:, None, :], axis=0), nested.batch.sum(
            b[:, :, None] * a[:, None, :], axis=0
        )

    jitted = nested.jit(f)
    for lengths in ((), (0, 0), (1,), (5, 0, 47, 48, 49), (4095, 2, 4096, 1, 300)):
        x, y = batch_of(lengths, k, dtype), batch_of(lengths, m, dtype, 1)
        a, b = np.tanh(x.values.astype("f8")) * 2, y.values.astype("f8") ** 2
        one, two = jitted(x, y)
        scale = max(1, np.abs(a).T.dot(b).max()) if len(a) else 1
        np.testing.assert_allclose(one, a.T @ b, rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(two, b.T @ a, rtol=0, atol=tolerance * scale)
        with_threads = []
        before = nested.get_num_threads()
        try:
            for threads in (1, 2):
                nested.set_num_threads(threads)
                with_threads.append(jitted(x, y)[0])
        finally:
            nested.set_num_threads(before)
        np.testing.assert_array_equal(*with_threads)


def test_errors_do_not_grow_with_the_batch():
    """Sums of 400,000 products of one sign: as good as blocks of a few hundred."""
    f = nested.jit(lambda x, y: nested.batch.sum((x * x)[:, :, None] * (y * y)[:, None, :], axis=0))
    x, y = batch_of((150_000, 250_000), 4, "f4"), batch_of((150_000, 250_000), 16, "f4", 1)
    want = (x.values.astype("f8") ** 2).T @ (y.values.astype("f8") ** 2)
    assert np.abs(f(x, y) / want - 1).max() < 2e-6


@pytest.mark.parametrize("columns", [(3, 5), (8, 32)])
def test_per_sample(columns):
    """Several samples end in one tile, others span many."""
    k, m = columns
    f = nested.jit(lambda x, y: (np.tanh(x)[:, :, None] * (y * y)[:, None, :]).sum(0))
    lengths = (1, 1, 0, 2, 130, 3, 0, 47, 1, 500)
    x, y = batch_of(lengths, k, "f4"), batch_of(lengths, m, "f4", 1)
    out = f(x, y)
    for i, (a, b) in enumerate(zip(x, y)):
        want = np.tanh(a.astype("f8")).T @ b.astype("f8") ** 2
        np.testing.assert_allclose(out[i], want, rtol=0, atol=2e-5 * max(1, np.abs(want).max()))
        alone = f(nested.from_list([a], dims=("N", k)), nested.from_list([b], dims=("N", m)))
        np.testing.assert_array_equal(out[i], alone[0])
    before = nested.get_num_threads()
    try:
        nested.set_num_threads(1)
        np.testing.assert_array_equal(f(x, y).values, out.values)
    finally:
        nested.set_num_threads(before)


def test_not_a_number_stays_in_its_sample():
    f = nested.jit(lambda x: (np.tanh(x)[:, :, None] * (x * x)[:, None, :]).sum(0))
    x = batch_of((3, 2, 50), 4, "f8")
    x.values[4, 1] = np.nan
    out = f(x)
    assert np.isfinite(out[0]).all() and np.isfinite(out[2]).all() and np.isnan(out[1][1]).all()


def loss(w, x):
    h = nn.gelu(x @ w["a"])
    p = h[:, None, :] * h[None, :, :]
    return nested.batch.mean(np.tanh(p @ w["b"]) ** 2, axis=None)


def test_gradients_of_pairs():
    """Two layers, the second over pairs: its input and the gradient of its output are not stored;
    one value of 24 columns may be."""
    rng = np.random.default_rng(3)
    w = {"a": rng.normal(size=(5, 8)), "b": rng.normal(size=(8, 24)) / 3}
    step = nested.jit(nested.value_and_grad(loss))
    x = batch_of((6, 0, 11), 5, "f8")
    value, found = step(w, x)
    long = step.plan({"N": [400]})
    assert long.temp_bytes < 1.2 * 400**2 * 24 * 8

    def total(w):
        parts = []
        for s in x:
            h = s @ w["a"]
            h = nn.gelu(h)
            parts.append((np.tanh((h[:, None] * h[None]) @ w["b"]) ** 2).ravel())
        return np.concatenate(parts).mean()

    assert np.isclose(value, total(w), rtol=1e-12)
    for name in w:
        for place in ((0, 0), (4, 7)):
            place = tuple(p % n for p, n in zip(place, w[name].shape))
            ends = []
            for delta in (1e-5, -1e-5):
                moved = {k: v.copy() for k, v in w.items()}
                moved[name][place] += delta
                ends.append(total(moved))
            want = (ends[0] - ends[1]) / 2e-5
            assert np.isclose(found[name][place], want, rtol=1e-6, atol=1e-9)
