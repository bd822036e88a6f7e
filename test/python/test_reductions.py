# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and softmax: compiled as on plain arrays, of every axis and of nothing."""

import numpy as np
import pytest
from helpers import batch_of, check, raises

import nested

AXES = [None, 0, 1, -1, (0, 1), (1, 2), (0, 2), (2, 0)]


@pytest.fixture
def pairs(rng):
    """[N, M, 3] with a sample without rows, one without columns, and NaN in one."""
    xs = [rng.standard_normal((n, m, 3)).astype("f4") for n, m in ((4, 3), (0, 2), (2, 0), (7, 40))]
    return nested.from_list(xs, ragged=(0, 1))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_kinds(pairs, axis, keepdims):
    def f(x):
        options = {"axis": axis, "keepdims": keepdims}
        return (
            nested.logsumexp(x, **options), nested.argmax(x, **options), nested.argmin(x, **options),
            nested.any(x > 1, **options), nested.all(x > -1, **options), nested.any(x, **options),
            nested.count_nonzero(x > 0, **options), nested.ptp(x, **options),
            nested.vector_norm(x, **options), nested.vector_norm(x, ord=1, **options),
            nested.vector_norm(x, ord=np.inf, **options), nested.vector_norm(x, ord=3, **options),
            nested.var(x, **options), nested.std(x, **options), nested.average(x, **options),
            nested.nansum(x, **options), nested.nanprod(x, **options), nested.nanmean(x, **options),
            nested.nanmax(x, **options), nested.nanmin(x, **options),
        )  # fmt: skip

    results = check(f, pairs)
    assert [r.dtype for r in results[1:7]] == [np.int64, np.int64, bool, bool, bool, np.int64]


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 1, 2)])
def test_softmax(pairs, axis):
    check(lambda x: (nested.softmax(x * 30, axis), nested.log_softmax(x, axis), nested.softmin(x, axis)),
          pairs)  # fmt: skip


def test_numpy_names(pairs):
    def f(x):
        return (
            np.argmax(x, axis=0), x.argmin(axis=1), np.any(x > 1, axis=(0, 1)), (x > 1).all(),
            np.count_nonzero(x, axis=2), np.ptp(x, axis=2), np.linalg.norm(x, axis=2),
            np.linalg.vector_norm(x, axis=(1, 2)), np.nansum(x), np.var(x, axis=2, ddof=1),
            x.std(axis=2), np.logaddexp.reduce(x, axis=2), np.logical_and.reduce(x > 0, axis=2),
            np.average(x, axis=2, weights=np.arange(3.0, dtype="f4")),
        )  # fmt: skip

    nonempty = nested.from_list([pairs[0], pairs[3]], ragged=(0, 1))
    check(f, nonempty)


def test_masked_out_and_infinite():
    x = np.full((2, 3), -np.inf, "f4")
    x[0, 1] = 5
    y = np.array([[np.inf, 1, 2], [np.nan, 1, 2]], "f4")
    batch = nested.from_list([x, y])
    soft, log, total = nested.jit(
        lambda v: (nested.softmax(v), nested.log_softmax(v), nested.logsumexp(v, axis=-1))
    )(batch)
    np.testing.assert_array_equal(soft[0], [[0, 1, 0], [0, 0, 0]])
    np.testing.assert_array_equal(log[0], [[-np.inf, 0, -np.inf], [-np.inf] * 3])
    np.testing.assert_array_equal(total[0], [5, -np.inf])
    assert np.isnan(soft[1]).all()
    np.testing.assert_array_equal(total[1], [np.inf, np.nan])
    for got, function in ((soft, nested.softmax), (log, nested.log_softmax)):
        for k, sample in enumerate((x, y)):
            np.testing.assert_array_equal(got[k], function(sample))


def test_nan_and_ties():
    """R10."""
    x = np.array([[1, np.nan, 2, np.nan], [3, 1, 3, 0], [-0.0, 0.0, 0, -0.0]], "f4")
    got = nested.jit(lambda v: (v.argmax(-1), v.argmin(-1), nested.nanmax(v, -1)))(
        nested.from_list([x])
    )
    np.testing.assert_array_equal(got[0][0], [1, 0, 0])
    np.testing.assert_array_equal(got[1][0], [1, 3, 0])
    np.testing.assert_array_equal(got[2][0], [2, 3, 0])


def test_variance_with_a_correction(rng):
    x = batch_of(rng, (5, 2, 0, 30), 4)
    got = nested.jit(lambda v: nested.var(v, axis=0, correction=1))(x)
    for k in range(4):
        want = np.var(x[k].astype("f8"), axis=0, ddof=1) if len(x[k]) else np.zeros(4)
        np.testing.assert_allclose(got[k], want, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_statistics_far_from_zero(dtype, rng):
    """Equal entries become 0, and rounding the mean leaves nothing behind: neither in norms, which
    multiply what is left by up to 316, nor in variances."""
    constant = np.repeat(3 * rng.standard_normal((30, 1)), 7, 1)
    far = 300 + 1e-3 * rng.standard_normal((30, 7))
    x = nested.from_list(
        [v.astype(dtype) for v in (constant, far, constant[:1].repeat(9, 0), far[:2])]
    )

    def f(x):
        return (
            nested.layer_norm(x), nested.nn.instance_norm(x), nested.nn.group_norm(x, 1),
            nested.nn.group_norm(x, 7), np.var(x, axis=0), np.var(x, axis=1), np.var(x),
        )  # fmt: skip

    def gradient(x):
        return nested.grad(
            lambda y: nested.batch.sum(nested.layer_norm(y) * np.arange(7, dtype=dtype), axis=None)
        )(x)

    results, slopes = nested.jit(f)(x), nested.jit(gradient)(x)
    step = 1e-5 * rng.standard_normal(7)
    for k in range(len(x)):
        exact = x[k].astype("f8")
        want = f(exact)
        for got, value in zip(results, want):
            bound = (1e-5 if dtype == "f4" else 1e-11) * np.abs(value).max() + 1e-9
            np.testing.assert_allclose(got[k], value, rtol=0, atol=bound)
        if k % 2:
            # Along any direction, the slope is what the function changes by.
            ends = [(nested.layer_norm(exact + s * step) * np.arange(7)).sum() for s in (1, -1)]
            change = (ends[0] - ends[1]) / 2
            np.testing.assert_allclose((slopes[k] * step).sum(), change, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "f2", "f8"])
def test_dtypes(dtype, rng):
    xs = [rng.integers(0, 2 if dtype == "?" else 100, (n, 3)).astype(dtype) for n in (4, 1, 30)]

    def f(x):
        return (
            x.sum(axis=0), x.max(axis=0), x.min(axis=1), x.argmax(axis=0), x.argmin(axis=1),
            x.any(axis=0), x.all(axis=1), np.mean(x, axis=0), nested.softmax(x / 50, axis=0),
        )  # fmt: skip

    got = nested.jit(f)(nested.from_list(xs))
    for k, x in enumerate(xs):
        exact = f(x.astype("f8")) if dtype == "f2" else f(x)
        for j, (a, b, value) in enumerate(zip(got, f(x), exact)):
            # NumPy adds up unsigned numbers as uint64, which we do not have.
            want = np.dtype("i8") if b.dtype == np.uint64 else b.dtype
            assert a.dtype == want, f"result {j}"
            tolerance = 2e-3 if a.dtype == np.float16 else 1e-6
            np.testing.assert_allclose(
                a[k].astype("f8"), value.astype("f8"), rtol=tolerance, err_msg=f"result {j}"
            )


def test_wrong_uses(pairs):
    with raises(nested.ShapeError, "axis 3 is out of bounds", line="nested.argmax(x, 3)"):
        nested.jit(lambda x: nested.argmax(x, 3))(pairs)
    with raises(nested.TraceError, "np.linalg.norm of 3 axes with ord=2", line="np.linalg.norm"):
        nested.jit(lambda x: np.linalg.norm(x, 2, axis=(0, 1, 2)))(pairs)
