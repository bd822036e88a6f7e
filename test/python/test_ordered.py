# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running reductions and differences, against the same functions on plain arrays."""

import numpy as np
import pytest
from helpers import batch_of, check, raises

import nested

RNG = np.random.default_rng(5)
LENGTHS = [5, 0, 1, 33, 2]
NAMES = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_reductions(name, axis):
    function = getattr(nested, name)

    def program(x):
        return (function(x, axis), function(x, axis, reverse=True),
                function(x, axis, exclusive=True), function(x, axis, reverse=True, exclusive=True))  # fmt: skip

    check(program, batch_of(RNG, LENGTHS, 4))


@pytest.mark.parametrize("name", NAMES)
def test_one_axis_needs_no_axis(name):
    check(lambda x: getattr(nested, name)(x), batch_of(RNG, LENGTHS))


def test_pairs_along_each_axis():
    def program(x):
        p = x[:, None] * x[None, :]
        return nested.cumsum(p, 0), nested.cummax(p, axis=1)

    check(program, batch_of(RNG, LENGTHS))


def test_numpy_spellings():
    def program(x):
        return (np.cumsum(x, axis=0), np.cumprod(x, axis=1), np.cumulative_sum(x, axis=0),
                x.cumsum(axis=1), np.maximum.accumulate(x), np.add.accumulate(x, axis=1),
                np.logaddexp.accumulate(x, axis=0), nested.cumulative_prod(x, axis=0),
                np.diff(x, axis=0), np.diff(x, n=2), nested.diff(x, axis=0))  # fmt: skip

    check(program, batch_of(RNG, [5, 1, 1, 33, 2], 4))


def test_dtypes_are_those_of_numpy():
    xs = {d: nested.from_list([np.arange(n).astype(d) for n in LENGTHS])
          for d in ("i1", "i4", "i8", "f2", "f4", "f8", "?")}  # fmt: skip
    for name in ("cumsum", "cumprod", "cummax"):
        for dtype, x in xs.items():
            got = getattr(nested, name)(x, axis=0)
            want = getattr(nested, name)(x[3], axis=0)
            assert got.dtype == want.dtype, (name, dtype)
            if dtype != "f2" and (name, dtype) != ("cumprod", "f4"):
                np.testing.assert_array_equal(got[3], want)
    assert nested.cumsum(xs["f4"], dtype="f8").dtype == np.float64
    assert np.add.accumulate(xs["i4"]).dtype == np.int32


def test_long_sums_keep_their_digits():
    """R6: terms of f32 are added in f64."""
    x = np.full(1_000_000, 0.1, "f4")
    (total,) = nested.cumsum(nested.from_list([x]))[0][-1:]
    assert abs(total - 0.1 * len(x)) < 0.02


def test_nan_and_infinities():
    x = np.array([-np.inf, 1, np.inf, -np.inf, 2, np.nan, 3], "f4")
    for name in NAMES:
        with np.errstate(invalid="ignore"):
            want = getattr(nested, name)(x)
        np.testing.assert_allclose(getattr(nested, name)(nested.from_list([x]))[0], want, rtol=1e-6)


def test_errors():
    x = batch_of(RNG, LENGTHS, 4)
    with raises(nested.ShapeError, "cumsum of (N, 4) needs axis=: only arrays of one axis can do",
                line="nested.cumsum(x)"):  # fmt: skip
        nested.cumsum(x)
    with raises(nested.ShapeError, "axis 2"):
        nested.cummax(x, axis=2)
    with raises(nested.TraceError, "cumsum needs a dtype of numbers, but got bool"):
        nested.cumsum(x > 0, 0, dtype=bool)
    with raises(nested.TraceError, "np.cumsum(..., out=)"):
        nested.jit(lambda x: np.cumsum(x, axis=0, out=np.zeros(3)))(x)
    with raises(nested.TraceError, "np.diff needs n of at least 0, but got -1"):
        nested.diff(x, n=-1)
    with raises(nested.TraceError, "np.subtract.accumulate"):
        np.subtract.accumulate(x)
