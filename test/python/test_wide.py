# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""R7: many samples, long samples, and totals beyond 2^31; the largest in the long run only."""

import os

import numpy as np
import pytest

import nested

LONG = bool(os.environ.get("NESTED_LONG"))
long = pytest.mark.skipif(not LONG, reason="in scripts/check --long")

# One of each kernel class, and numbers that are exact: (function, reference of one sample).
PROGRAMS = {
    "map": (lambda x: x * 3 + 1, lambda x: x * 3 + 1),
    "segment": (lambda x: nested.sum(x, axis=0), lambda x: x.sum(0, dtype=np.int64)),
    "segment of columns": (lambda x: nested.max(x, axis=1), lambda x: x.max(1, initial=-128)),
    "move": (lambda x: x[1:], lambda x: x[1:]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_million_short_samples(rng, name):
    count = 1_000_000 if LONG else 50_000
    function, reference = PROGRAMS[name]
    lengths = rng.integers(0, 6, count)
    values = rng.integers(-9, 9, (int(lengths.sum()), 2)).astype("i4")
    x = nested.from_values(values, lengths, dims=("N", 2))
    got = nested.jit(function)(x)
    assert len(got) == count
    chosen = [0, 1, count - 2, count - 1, *rng.integers(0, count, 2000).tolist()]
    for i in chosen:
        if name == "segment of columns" and not lengths[i]:
            assert got[i].shape == (0,)
            continue
        np.testing.assert_array_equal(got[i], reference(x[i]), f"sample {i} of {lengths[i]} rows")


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_long_sample(rng, name):
    rows = 1_000_000
    function, reference = PROGRAMS[name]
    x = nested.from_list([rng.integers(-9, 9, (n, 3)).astype("i4") for n in (2, rows, 0, 1)])
    got = nested.jit(function)(x)
    for i in (0, 1, 3):
        np.testing.assert_array_equal(got[i], reference(x[i]))


def test_many_samples_over_the_batch(rng):
    lengths = rng.integers(0, 6, 100_000)
    values = rng.integers(-9, 9, (int(lengths.sum()), 2)).astype("i4")
    x = nested.from_values(values, lengths, dims=("N", 2))
    total = nested.jit(lambda x: nested.batch.sum(x, axis=0))(x)
    np.testing.assert_array_equal(total, values.sum(0, dtype=np.int64))


@long
@pytest.mark.parametrize("features", [1, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_beyond_32_bits(name, features):
    """More than 2^31 elements (int8), and with one feature more than 2^31 rows."""
    function, _ = PROGRAMS[name]
    rows = 2**31 // features + 1000
    lengths = np.array([rows // 2, 0, rows - rows // 2 - 7, 7])
    values = np.zeros((rows, features), "i1")
    values[-7:] = np.arange(7)[:, None] - 3  # the last sample
    values[0], values[rows // 2 - 1], values[rows // 2] = 1, 2, 5
    x = nested.from_values(values, lengths, dims=("N", features))
    got = nested.jit(function)(x)
    last = np.arange(7, dtype="i1")[:, None] - 3 + np.zeros(features, "i1")
    if name == "map":
        np.testing.assert_array_equal(got[3], last * 3 + 1)
        assert got[0][0, 0] == 4 and got[0][-1, 0] == 7 and got[2][0, 0] == 16 and got[2][1, 0] == 1
    elif name == "segment":
        np.testing.assert_array_equal(got.values[:, 0], [3, 0, 5, 0])
    elif name == "segment of columns":
        np.testing.assert_array_equal(got[3], last.max(1))
        assert got[0][0] == 1 and got[2][0] == 5
    else:
        np.testing.assert_array_equal(got[3], last[1:])
        assert got[0][-1, 0] == 2 and not got[2].any()


@long
def test_beyond_32_bits_over_the_batch():
    values = np.ones((2**31 + 10, 1), "i1")
    x = nested.from_values(values, [2**31, 0, 10], dims=("N", 1))
    assert nested.jit(lambda x: nested.batch.sum(x, axis=0))(x).tolist() == [2**31 + 10]


@long
def test_pairs_beyond_32_bits():
    """One sample of 46400 rows has 2.15e9 pairs."""
    n = 46_400
    x = nested.from_list([np.arange(3, dtype="i1"), np.ones(n, "i1"), np.array([1, -1], "i1")])
    pairs = nested.jit(lambda x: x[:, None] + x[None, :])(x)
    assert pairs.values.nbytes == 9 + n * n + 4
    np.testing.assert_array_equal(pairs[0], np.add.outer([0, 1, 2], [0, 1, 2]))
    np.testing.assert_array_equal(pairs[2], [[2, 0], [0, -2]])
    assert (pairs.values[9 : 9 + n * n] == 2).all()
