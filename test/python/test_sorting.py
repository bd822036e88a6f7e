# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, searching and scattering, against the same functions on plain arrays."""

import numpy as np
import pytest
from helpers import batch_of, check, raises

import nested

RNG = np.random.default_rng(6)
LENGTHS = [5, 0, 1, 33, 2, 100]


def integers(low, high, *features, lengths=LENGTHS):
    return nested.from_list([RNG.integers(low, high, (n, *features)) for n in lengths],
                            dims=("N", *features))  # fmt: skip


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("descending", [False, True])
def test_sort(axis, descending):
    def program(x):
        return (nested.sort(x, axis=axis, descending=descending),
                nested.argsort(x, axis=axis, descending=descending))  # fmt: skip

    check(program, batch_of(RNG, LENGTHS, 4))


def test_sort_is_stable_and_puts_nan_last():
    """R10."""
    x = [RNG.choice(np.array([0, -0.0, 1, np.nan, np.inf], "f4"), n) for n in LENGTHS]
    for descending in (False, True):
        places = nested.argsort(nested.from_list(x), descending=descending)
        values = nested.sort(nested.from_list(x), descending=descending)
        for k, sample in enumerate(x):
            want = nested.argsort(sample, descending=descending)
            np.testing.assert_array_equal(places[k], want)
            assert values[k].tobytes() == sample[want].tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("columns", [8, 16, 17, 40])
def test_columns_side_by_side(dtype, columns):
    """Bit by bit as a stable sort of each column: payloads of NaN and signs of zeros too (R10)."""
    odd = np.array([-2, -1, -0.0, 0.0, 1, 2, np.nan, -np.inf, np.inf, 0.5])
    xs = []
    for k, n in enumerate([0, 1, 2, 3, 5, 17, 64, 65, 200, 700, 2500]):
        shape = (n, columns)
        if dtype == "?":
            x = RNG.integers(0, 2, shape).astype(bool)
        elif np.dtype(dtype).kind == "f":
            x = (RNG.choice(odd, shape) if k % 2 else RNG.standard_normal(shape)).astype(dtype)
            payload = RNG.integers(0, 3, shape).astype(f"u{x.itemsize}")
            x.view(f"u{x.itemsize}")[np.isnan(x)] += payload[np.isnan(x)]
        else:
            limits = np.iinfo(dtype)
            x = RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)
            x = x % 5 if k % 2 else x
        xs.append(x.astype(dtype))
    batch = nested.from_list(xs, ragged=(0,))
    for descending in (False, True):
        values = nested.sort(batch, axis=0, descending=descending)
        places = nested.argsort(batch, axis=0, descending=descending)
        for k, x in enumerate(xs):
            want = nested.argsort(x, axis=0, descending=descending)
            np.testing.assert_array_equal(places[k], want)
            assert values[k].tobytes() == np.take_along_axis(x, want, 0).tobytes()


def test_numpy_spellings():
    def program(x):
        return np.sort(x, axis=0), np.argsort(x, axis=0, kind="stable"), x.argsort(axis=1)

    check(program, batch_of(RNG, LENGTHS, 4))


def test_one_sort_for_values_and_indices():
    def program(x):
        return nested.sort(x, axis=0), nested.argsort(x, axis=0)

    lowered = nested.jit(program).lower(nested.spec("N", 4))
    assert lowered.text("tensor").count("ragged.sort") == 1


def test_topk():
    def program(x):
        return (*nested.topk(x, 3, axis=0), *nested.topk(x, 2, axis=1, largest=False),
                *nested.topk(x, 9, axis=1))  # fmt: skip

    values = check(program, batch_of(RNG, LENGTHS, 4))
    assert [v.shape for v in values[0]] == [(min(n, 3), 4) for n in LENGTHS]


def test_searchsorted():
    s, x = batch_of(RNG, LENGTHS), batch_of(RNG, LENGTHS, 3)
    edges = np.linspace(-2, 2, 9).astype("f4")

    def program(s, x, e):
        return (np.searchsorted(nested.sort(s), x), np.searchsorted(e, x, side="right"),
                nested.searchsorted(nested.sort(s), e))  # fmt: skip

    check(program, s, x, edges)


def test_unique():
    def program(x):
        values, indices, inverse, counts = nested.unique_all(x)
        return values, indices, inverse, counts, nested.unique_consecutive(x)

    check(program, integers(0, 4))
    x = nested.from_list([np.array([2, np.nan, 2, np.nan, -1], "f4"), np.array([], "f4")])
    assert [len(v) for v in nested.unique_values(x)] == [4, 0]
    assert nested.unique_counts(x).counts[0].tolist() == [1, 2, 1, 1]
    assert nested.unique_inverse(x).inverse_indices[0].tolist() == [1, 2, 1, 3, 0]


def test_nonzero():
    check(lambda x: (np.nonzero(x)[0], np.flatnonzero(x > 1)), integers(0, 3))


def test_middle_values():
    def program(x):
        return (nested.median(x, axis=0), nested.median(x, axis=1, keepdims=True),
                nested.quantile(x, 0.3, axis=0), nested.quantile(x, 1, axis=1),
                nested.kthvalue(x, 2, axis=0), nested.kthvalue(x, 1, axis=1))  # fmt: skip

    check(program, batch_of(RNG, LENGTHS, 4))
    x = nested.from_list([np.array([1, np.nan, 3], "f4"), np.array([3, 1, 2], "f4")])
    assert np.isnan(nested.median(x)[0]) and nested.median(x)[1] == 2


def test_bincount():
    x, w = integers(0, 7), batch_of(RNG, LENGTHS)
    w = nested.from_list(w.to_list(), dims=("N",))
    check(lambda x, w: (nested.bincount(x, 7), nested.bincount(x, 9, w)), x, w)


@pytest.mark.parametrize("mode", ["set", "add", "max", "min"])
def test_scatter(mode):
    x, i = batch_of(RNG, LENGTHS, 3), integers(0, 6)

    def program(x, i, z):
        return (nested.scatter(z, i, x, mode), nested.scatter(z[:, 0], i, x[:, 1], mode),
                nested.scatter(z, i, x[:, :1], mode))  # fmt: skip

    check(program, x, i, RNG.standard_normal((6, 3)).astype("f4"))


def test_segments():
    x, i = batch_of(RNG, LENGTHS, 3), integers(0, 6)

    def program(x, i):
        return (nested.segment_sum(x, i, 6), nested.segment_mean(x, i, 8),
                nested.segment_max(x, i, 8), nested.segment_min(x[:, 0], i, 7, empty="identity"),
                nested.segment_sum(x, nested.argsort(i), x.shape[0]))  # fmt: skip

    check(program, x, i)


def test_long_segments_keep_their_digits():
    """R6: floats are added in f64."""
    x = np.full(1_000_000, 0.1, "f4")
    total = nested.segment_sum(nested.from_list([x]), nested.from_list([np.zeros(len(x), int)]), 1)
    assert abs(total[0][0] - 0.1 * len(x)) < 0.02


def test_an_index_out_of_range():
    x = nested.from_list([np.ones(3, "f4"), np.ones(2, "f4"), np.ones(4, "f4")])
    i = nested.from_list([np.array([0, 1, 2]), np.array([2, 3]), np.array([0, -1, 9, 9])])
    with raises(nested.DataError,
                "scatter: index 3 is out of range for 3 rows (row 1 of the indices of sample 1)",
                "test_sorting.py"):  # fmt: skip
        nested.segment_sum(x, i, 3)
    with raises(nested.DataError, "index -1 is out of range for 3 rows (row 1)"):
        nested.segment_sum(x[2], i[2], 3)


def test_errors():
    x, i = batch_of(RNG, LENGTHS, 4), integers(0, 3)
    with raises(nested.ShapeError, "axis 2", line="axis=2"):
        nested.sort(x, axis=2)
    with raises(nested.TraceError, "topk needs k of at least 0, but got -1"):
        nested.topk(x, -1)
    with raises(nested.TraceError, "np.sort has no kind 'bogo'"):
        np.sort(x, kind="bogo")
    with raises(nested.ShapeError, "unique_values of (N, 4): expected one axis, of a batch"):
        nested.unique_values(x)
    with raises(nested.ShapeError, "np.searchsorted needs a list of one axis, but got (N, 4)"):
        np.searchsorted(x, i)
    with raises(nested.TraceError, "quantile needs a number q from 0 to 1, but got 2"):
        nested.quantile(x, 2)
    with raises(nested.TraceError, "scatter has mode set, add, max, min, but got 'mul'"):
        nested.scatter(x, i, x, "mul")
    with raises(nested.ShapeError, "scatter needs integer indices of one axis, but got float32"):
        nested.scatter(x, x, x)
    with raises(nested.TraceError, "np.bincount", "use nested.bincount with a length"):
        np.bincount(i)
