# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that go along the rows: lengths around the width of vectors, against the same programs on
plain arrays, and the bits of a sample alone, in a batch, at one thread and at two (R8)."""

import numpy as np
import pytest
from helpers import check

import nested

LENGTHS = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100, 0, 257]


def samples(rng, shape, dtype):
    """Of rising lengths along every ragged axis (None)."""
    result = []
    for k, n in enumerate(LENGTHS):
        sizes = [n if j == 0 else LENGTHS[-1 - k] for j, d in enumerate(shape) if d is None]
        full = [sizes.pop(0) if d is None else d for d in shape]
        if dtype == "?":
            result.append(rng.integers(0, 2, full).astype(bool))
        elif np.dtype(dtype).kind == "i":
            result.append(rng.integers(-50, 50, full).astype(dtype))
        else:
            result.append(rng.standard_normal(full).astype(dtype))
    return result


def same_bits(program, xs, ragged):
    """Every sample alone, and all of them at one thread, as in the batch."""
    compiled = nested.jit(program)
    together = compiled(nested.from_list(xs, ragged=ragged))
    for k, x in enumerate(xs):
        single = compiled(nested.from_list([x], ragged=ragged))
        for part, whole in zip(single, together):
            assert np.asarray(part[0]).tobytes() == np.asarray(whole[k]).tobytes(), k
    before = nested.get_num_threads()
    try:
        for threads in (1, 2):
            nested.set_num_threads(threads)
            for part, whole in zip(compiled(nested.from_list(xs * 9, ragged=ragged)), together):
                for k in range(9 * len(xs)):
                    assert part[k].tobytes() == whole[k % len(xs)].tobytes()
    finally:
        nested.set_num_threads(before)


def reductions(x):
    return (nested.sum(x, axis=0), nested.max(x, axis=0), nested.argmax(x, axis=0),
            nested.any(x > 1, axis=0), nested.count_nonzero(x, axis=0))  # fmt: skip


@pytest.mark.parametrize("features", [(), (1,), (4,), (40,), (72,)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "?"])
def test_reductions(rng, dtype, features):
    xs = samples(rng, (None, *features), dtype)
    tolerance = 1e-3 if dtype == "f2" else 1e-5
    program = (
        reductions if dtype != "?" else lambda x: (nested.any(x, axis=0), nested.all(x, axis=0))
    )
    check(program, nested.from_list(xs, ragged=(0,)), tolerance=tolerance)
    same_bits(program, xs, (0,))


@pytest.mark.parametrize("features", [(), (1,), (16,), (24,)])
def test_softmax_and_maps(rng, features):
    def program(x):
        s = nested.softmax(x, axis=0)
        return s, s * 2 + nested.mean(x, axis=0), x - x[:1].sum(axis=0)

    xs = samples(rng, (None, *features), "f4")
    check(program, nested.from_list(xs, ragged=(0,)))
    same_bits(program, xs, (0,))


def normalized(x, axis=0):
    centred = x - nested.mean(x, axis=axis, keepdims=True)
    return centred / nested.sqrt(nested.mean(centred**2, axis=axis, keepdims=True) + 0.1)


CHAINS = {
    "softmax": lambda x: (nested.softmax(x, axis=0),),
    "logarithm": lambda x: (nested.log_softmax(x, axis=0),),
    "norm": lambda x: (normalized(x),),
    "what is kept, and more": lambda x: (nested.softmax(x, axis=0) + x, nested.max(x, axis=0)),
    "kept in one of two": lambda x: (
        nested.softmax(x, axis=0),
        nested.exp(x - nested.max(x, axis=0)) + 1,
    ),
    "integers": lambda x: ((x > nested.mean(x, axis=0)).astype("i4"), nested.tanh(x).sum(axis=0)),
}


@pytest.mark.parametrize("features", [(), (1,), (3,), (16,), (40,), (64,), (100,), (256,), (4, 24)])
@pytest.mark.parametrize("name", CHAINS)
def test_chains(rng, name, features):
    """Kernels over the same rows that are one function: units of no rows, of few, of more than a cache has,
    and what is no number in one of them."""
    xs = samples(rng, (None, *features), "f4")
    xs.append(
        rng.standard_normal((70000 // max(np.prod(features, dtype=int), 16), *features)).astype(
            "f4"
        )
    )
    check(CHAINS[name], nested.from_list(xs, ragged=(0,)), tolerance=1e-5)
    for k, value in ((5, np.nan), (8, np.inf), (9, -np.inf)):
        xs[k][k // 2] = value
    xs[6][:] = -np.inf
    same_bits(CHAINS[name], xs, (0,))


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("features", [(), (16,), (72,)])
def test_chains_of_pairs(rng, features, axis):
    """Units that are rows of a pair tensor, columns, which lie apart, or all of it."""
    xs = [rng.standard_normal((n, m, *features)).astype("f4")
          for n, m in ((0, 3), (1, 1), (9, 17), (3, 0), (40, 33), (2, 70))]  # fmt: skip

    def program(x):
        return nested.softmax(x, axis=axis), normalized(x, axis)

    check(program, nested.from_list(xs, ragged=(0, 1)), tolerance=1e-5)
    same_bits(program, xs, (0, 1))


@pytest.mark.parametrize("dtype", ["f8", "f2"])
def test_chains_of_other_floats(rng, dtype):
    xs = samples(rng, (None, 40), dtype)

    def program(x):
        return nested.softmax(x, axis=0), normalized(x)

    check(program, nested.from_list(xs, ragged=(0,)), tolerance=1e-5 if dtype == "f8" else 1e-2)
    same_bits(program, xs, (0,))


@pytest.mark.parametrize("features", [(), (1,), (16,)])
def test_pairs(rng, features):
    """Runs of one and of two ragged axes, of rows and of columns."""

    def program(x):
        return (
            nested.sum(x, axis=1), nested.mean(x, axis=0), nested.max(x, axis=(0, 1)), x * 2,
            np.swapaxes(x, 0, 1) + 1, x + nested.sum(x, axis=1)[:, None],
            x[::1, :1] * 3, nested.arange(x.shape[1]) + 0 * nested.sum(x, axis=tuple(range(1, x.ndim))).sum(),
        )  # fmt: skip

    xs = samples(rng, (None, None, *features), "f4")
    check(program, nested.from_list(xs, ragged=(0, 1)))
    same_bits(program, xs, (0, 1))


@pytest.mark.parametrize("features", [(), (1,), (16,)])
def test_gathers(rng, features):
    """Rows by index, reversed, padded and concatenated; a wrong index is still an error."""

    def program(x, i):
        return (nested.take(x, i, axis=0), nested.flip(x, axis=0), nested.concat([x, x], axis=0),
                nested.cumsum(x, axis=0), nested.take(x, i, axis=0).sum(axis=0))  # fmt: skip

    xs = [x for x in samples(rng, (None, *features), "f4") if len(x)]
    index = [rng.integers(0, len(x), len(x)) for x in xs]
    x = nested.from_list(xs, ragged=(0,), dims=("N", *features))
    check(program, x, nested.from_list(index, dims=("N",)))
    index[3][2] = len(xs[3])
    with pytest.raises(nested.DataError, match=rf"index {len(xs[3])} is out of range \(sample 3"):
        nested.jit(program)(x, nested.from_list(index, dims=("N",)))


def test_rows_of_views(rng):
    """Samples with gaps between them."""
    values = rng.standard_normal(1000).astype("f4")
    starts, lengths = [0, 3, 40, 700], [3, 17, 0, 30]
    x = nested.from_values(values, lengths, starts=starts)
    compiled = nested.jit(lambda x: (x * 2, nested.sum(x, axis=0)))
    double, total = compiled(x)
    for k, (s, n) in enumerate(zip(starts, lengths)):
        np.testing.assert_array_equal(double[k], values[s : s + n] * 2)
        np.testing.assert_allclose(total[k], values[s : s + n].astype("f8").sum(), 1e-6)
