# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers are functions of seed, key and place."""

import numpy as np
import pytest
from helpers import batch_of, raises, same_bits, unnamed

import nested

LENGTHS = (5, 0, 3, 400)


@pytest.fixture
def x(rng):
    return unnamed(batch_of(rng, LENGTHS, 4))


@pytest.fixture
def keys():
    return nested.from_list([np.int64(k) for k in (11, 12, 11, 2**40)], ragged=())


DRAWS = {
    "bits": lambda x, k: nested.random.bits(k, x.shape, seed=3),
    "uniform": lambda x, k: nested.random.uniform(k, x.shape),
    "uniform f8": lambda x, k: nested.random.uniform(k, x.shape, dtype="f8", seed=-1),
    "range": lambda x, k: nested.random.uniform(k, (x.shape[0], 3), -2, 5),
    "bernoulli": lambda x, k: nested.random.bernoulli(k, x.shape, 0.25),
    "integers": lambda x, k: nested.random.integers(k, (x.shape[0],), -3, 4, seed=9),
    "one": lambda x, k: nested.random.uniform(k) + x.sum() * 0,
    "fixed": lambda x, k: nested.random.uniform(k, (2, 3)) + x.sum() * 0,
}


@pytest.mark.parametrize("name", DRAWS)
def test_bits_are_those_of_plain_arrays(name, x, keys):
    f = DRAWS[name]
    result = nested.jit(f)(x, keys)
    for i in range(len(x)):
        same_bits(result[i], np.asarray(f(x[i], keys[i])))


def test_bits_alone_and_in_any_order(x, keys):
    f = nested.jit(lambda x, k: nested.random.normal(k, x.shape))
    together = f(x, keys)
    order = [3, 0, 2, 1]
    again = f(x[order], keys[order])
    for i, j in enumerate(order):
        same_bits(again[i], together[j])
        same_bits(f(x[j : j + 1], keys[j : j + 1])[0], together[j])


def test_numbers_are_known():
    """Philox4x32-10 of Random123's known answers: counter and key 0, then all ones."""
    assert np.uint64(nested.random.bits(0)) == 0x6627E8D5E169C58D
    ones = nested.random._philox(*[np.uint64(2**64 - 1)] * 3, lambda op, a, b: nested.random._UINT[op](
        a, np.uint64(b) if isinstance(b, int) else b))  # fmt: skip
    assert [int(w) for w in ones] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_normal(x, keys):
    f = lambda x, k: nested.random.normal(k, x.shape, seed=5, dtype="f8")  # noqa: E731
    result = nested.jit(f)(x, keys)
    for i in range(len(x)):
        np.testing.assert_allclose(result[i], f(x[i], keys[i]), rtol=1e-6, atol=1e-7)
    many = nested.random.normal(1, (100000,), dtype="f8")
    assert abs(many.mean()) < 0.01 and abs(many.std() - 1) < 0.01
    assert abs((many**3).mean()) < 0.05 and abs((many**4).mean() - 3) < 0.1


def test_distributions():
    u = nested.random.uniform(7, (100000,))
    assert u.dtype == np.float32 and u.min() >= 0 and u.max() < 1
    assert abs(u.mean() - 0.5) < 0.005 and abs(u.var() - 1 / 12) < 0.001
    assert abs(np.corrcoef(u, nested.random.uniform(7, (100000,), seed=1))[0, 1]) < 0.01
    assert abs(np.corrcoef(u, nested.random.uniform(8, (100000,)))[0, 1]) < 0.01
    assert abs(nested.random.bernoulli(3, (100000,), 0.2).mean() - 0.2) < 0.005
    i = nested.random.integers(1, (100000,), -2, 3)
    assert i.min() == -2 and i.max() == 2 and abs(np.bincount(i + 2) / 100000 - 0.2).max() < 0.01


def test_exponential():
    e = nested.random.exponential(1, (100000,), 2.0)
    assert e.min() >= 0 and abs(e.mean() - 2) < 0.03 and abs(e.std() - 2) < 0.05


def test_feature_dropout(x, keys):
    result = nested.jit(lambda x, k: nested.nn.feature_dropout(x, 0.5, k))(x, keys)
    for i in range(len(x)):
        kept = (result[i] != 0).any(axis=0)
        np.testing.assert_allclose(result[i], np.where(kept, x[i] * 2, 0), rtol=1e-6)


def test_embedding(rng):
    table = rng.standard_normal((7, 3)).astype("f4")
    i = nested.from_list([rng.integers(0, 7, n) for n in (4, 0, 2)])
    for mode in ("sum", "mean", "max"):
        bag = nested.jit(lambda i, t: nested.nn.embedding_bag(i, t, mode))(i, table)  # noqa: B023
        for k in range(3):
            want = nested.nn.embedding_bag(i[k], table, mode)
            np.testing.assert_allclose(bag[k], want, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="mode must be sum, mean or max"):
        nested.nn.embedding_bag(np.array([0]), table, "median")


def test_dropout(x, keys):
    f = lambda x, k: nested.nn.dropout(x, 0.25, k, seed=4)  # noqa: E731
    result = nested.jit(f)(x, keys)
    for i in range(len(x)):
        np.testing.assert_allclose(result[i], f(x[i], keys[i]), rtol=1e-6)
    kept = result[3] != 0
    assert abs(kept.mean() - 0.75) < 0.05
    with pytest.raises(ValueError, match=r"must be in \[0, 1\)"):
        nested.nn.dropout(np.ones(3), 1.0, 0)


def test_errors(x):
    f = nested.jit(lambda x: nested.random.uniform(x, x.shape))
    with raises(nested.TraceError, "key must be an integer for each sample", "2 axes"):
        f(x)
    with raises(nested.TraceError, "float32 or float64, but got int64"):
        nested.random.normal(0, dtype="i8")
    with raises(nested.TraceError, "expected 1 to 2**31"):
        nested.random.integers(0, (), 3, 3)
