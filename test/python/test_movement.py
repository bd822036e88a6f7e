# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that move entries: compiled for batches, against NumPy on each sample."""

import numpy as np
import pytest
from helpers import batch_of, check, normal, raises, unnamed

import nested

LENGTHS = (5, 0, 1, 12, 2)
SOME = (5, 3, 1, 12, 2)  # where NumPy has no meaning for nothing


@pytest.fixture
def x(rng):
    return unnamed(batch_of(rng, LENGTHS, 4))


@pytest.fixture
def some(rng):
    return unnamed(batch_of(rng, SOME, 4))


@pytest.fixture
def pairs(rng):
    return nested.from_list([normal(rng, n, (3 * n) % 5, 4) for n in LENGTHS], ragged=(0, 1))


def one_axis(rng, dtype="f4", lengths=LENGTHS):
    return nested.from_list([(10 * rng.standard_normal(n)).astype(dtype) for n in lengths])


JOINS = {
    "rows": lambda x, y: np.concatenate([x, y]),
    "array API": lambda x, y: nested.concat([x, x, y], axis=0),
    "columns": lambda x, y: np.concatenate((x, x * 2, x), axis=-1),
    "all": lambda x, y: np.concatenate([x, y], axis=None),
    "stack": lambda x, y: np.stack([x, -x], axis=1),
    "stack last": lambda x, y: nested.stack([x, x + 1, x], axis=-1),
    "hstack": lambda x, y: np.hstack([x, x]),
    "vstack": lambda x, y: np.vstack([x, y, np.ones((2, 4), "f4")]),
    "column_stack": lambda x, y: np.column_stack([x[:, 0], x, x[:, 1]]),
    "append": lambda x, y: np.append(x, y, axis=0),
    "start token": lambda x, y: np.concatenate([np.zeros((1, 4), "f4"), x, y[:1] * 0]),
    "promoted": lambda x, y: np.concatenate([x, y.astype("f8"), np.arange(8).reshape(2, 4)]),
}


@pytest.mark.parametrize("name", JOINS)
def test_joins(name, rng, x):
    y = unnamed(batch_of(rng, (2, 0, 3, 1, 2), 4))
    check(JOINS[name], x, y)


PADS = {
    "one number": lambda x: np.pad(x, 2),
    "a pair": lambda x: np.pad(x, (1, 2), constant_values=7),
    "each axis": lambda x: np.pad(x, ((1, 0), (0, 3)), constant_values=-1),
    "per sample": lambda x: np.pad(x, ((x.shape[0], 0), (0, 0))),
    "several values": lambda x: np.pad(x, ((1, 2), (1, 0)), constant_values=((1, 2), (3, 4))),
    "as dict": lambda x: np.pad(x, {0: (1, 1)}) if hasattr(np, "unstack") else np.pad(x, ((1, 1), (0, 0))),
    "named": lambda x: nested.pad(x, ((0, 1), (0, 0)), mode="constant"),
}  # fmt: skip


@pytest.mark.parametrize("name", PADS)
def test_padding(name, x):
    if name == "as dict" and np.lib.NumpyVersion(np.__version__) < "2.2.0":
        pytest.skip("NumPy takes no dict")
    check(PADS[name], x)


@pytest.mark.parametrize("mode", ["edge", "wrap", "symmetric", "reflect"])
def test_padding_with_entries(mode, some):
    check(lambda x: np.pad(x, ((2, 1), (0, 0)), mode=mode), some)
    check(lambda x: np.pad(x, ((0, 0), (3, 2)), mode=mode), some)


def test_padding_sums_to_nothing_new(x):
    """The padded tensor is not stored: one kernel."""
    f = nested.jit(lambda x: np.sum(np.pad(x, ((1, 1), (0, 0))), axis=0))
    assert f.lower(x).text("kernels").count("ragged.kernel") == 1
    check(lambda x: np.sum(np.pad(x, ((1, 1), (0, 0))), axis=0), x)


TURNS = {
    "flip": lambda x: np.flip(x),
    "flip rows": lambda x: np.flip(x, 0),
    "flip columns": lambda x: nested.flip(x, axis=1),
    "flipud": lambda x: np.flipud(x),
    "fliplr": lambda x: np.fliplr(x),
    "[::-1]": lambda x: x[::-1],
    "[::2]": lambda x: x[::2],
    "[1::3]": lambda x: x[1::3],
    "[:-1:2]": lambda x: x[:-1:2],
    "[3:0:-1]": lambda x: x[3:0:-1],
    "[::-2]": lambda x: x[::-2],
    "[-2::-1]": lambda x: x[-2::-1],
    "[:, ::2]": lambda x: x[:, ::2],
    "[:, ::-1]": lambda x: x[:, ::-1] * x,
    "[:, 3:0:-2]": lambda x: x[:, 3:0:-2],
    "roll rows": lambda x: np.roll(x, 1, axis=0),
    "roll back": lambda x: np.roll(x, -7, axis=0),
    "roll columns": lambda x: nested.roll(x, 3, axis=1),
    "roll both": lambda x: np.roll(x, (1, 2), axis=(0, 1)),
    "roll all": lambda x: np.roll(x, 3),
    "diff": lambda x: np.diff(x, axis=0),
    "diff twice": lambda x: np.diff(x, n=2, axis=0),
    "diff columns": lambda x: nested.diff(x),
    "diff with ends": lambda x: np.diff(x, axis=0, prepend=np.zeros((1, 4), "f4")),
    "tile": lambda x: np.tile(x, (2, 3)),
    "tile in front": lambda x: np.tile(x[:, 0], 3),
    "repeat rows": lambda x: np.repeat(x, 3, axis=0),
    "repeat columns": lambda x: x.repeat(2, axis=1),
    "repeat none": lambda x: np.repeat(x, 0, axis=0),
    "split": lambda x: tuple(np.split(x, 2, axis=1)),
    "array_split": lambda x: tuple(np.array_split(x, 3, axis=1)),
    "split at": lambda x: tuple(np.split(x, [1, 3])),
    "unstack": lambda x: nested.unstack(x, axis=1),
    "reshape": lambda x: x.reshape(-1, 2, 2),
    "reshape rows": lambda x: np.reshape(x, (-1,)),
    "ravel": lambda x: np.ravel(x),
    "reshape ones": lambda x: x.reshape(1, x.shape[0], 2, 1, 2),
    "flatten": lambda x: nested.flatten(x),
    "unflatten": lambda x: nested.unflatten(x, 1, (2, -1)),
    "dstack": lambda x: np.dstack([x, -x]),
    "hsplit": lambda x: tuple(np.hsplit(x, 2)),
    "vsplit": lambda x: tuple(np.vsplit(x, [2])),
    "insert": lambda x: np.insert(x, 0, 7.0, axis=0),
    "insert column": lambda x: nested.insert(x, 2, x[:, 0], axis=1),
    "masked_fill": lambda x: nested.masked_fill(x, x > 0, -1),
    "compress": lambda x: np.compress(x[:, 0] > 0, x, axis=0),
    "nonzero": lambda x: np.nonzero(x[:, 0] > 0),
    "flatnonzero": lambda x: np.flatnonzero(x > 0),
    "squeeze": lambda x: np.squeeze(x[:, :1], axis=1),
}


@pytest.mark.parametrize("name", TURNS)
def test_turns(name, x):
    check(TURNS[name], x)


PAIRS = {
    "tril": lambda p: np.tril(p[:, :, 0]),
    "triu": lambda p: nested.triu(p[:, :, 0], 1),
    "diagonal": lambda p: np.diagonal(p),
    "diagonal below": lambda p: np.diagonal(p, -1, 0, 1),
    "trace": lambda p: np.trace(p),
    "flatten": lambda p: nested.flatten(p, 0, 1),
    "flip": lambda p: np.flip(p, (0, 1)),
    "concat": lambda p: np.concatenate([p, p[:, :1]], axis=1),
    "pad": lambda p: np.pad(p, ((1, 0), (0, 1), (2, 0)), constant_values=3),
    "steps": lambda p: p[::2, ::-1],
    "rot90": lambda p: np.rot90(p),
    "rot270": lambda p: np.rot90(p, -1),
    "repeat": lambda p: np.repeat(p, 2, axis=1),
    "roll": lambda p: np.roll(p, 1, axis=1),
    "swapped": lambda p: np.concatenate([p.swapaxes(0, 1), np.moveaxis(p, 1, 0)], axis=2),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name, pairs):
    check(PAIRS[name], pairs)


MAKE = {
    "eye": lambda x: nested.eye(x.shape[0]) + x[:, :1] * 0,
    "eye wide": lambda x: nested.eye(x.shape[0], 4, 1) + x * 0,
    "outer": lambda x: np.outer(x[:, 0], x[:, 1]),
    "meshgrid": lambda x: tuple(np.meshgrid(x[:, 0], x[:, 1], indexing="ij")),
    "meshgrid xy": lambda x: tuple(np.meshgrid(x[:, 0], x[:, 1])),
    "meshgrid sparse": lambda x: tuple(np.meshgrid(x[:, 0], x[:, 1], sparse=True)),
    "diag": lambda x: np.diag(x[:, 0]),
    "diag above": lambda x: np.diag(x[:, 0], 2),
    "diagflat": lambda x: np.diagflat(x[:, :1], -1),
    "broadcast_arrays": lambda x: tuple(np.broadcast_arrays(x, x[:, :1])),
}


@pytest.mark.parametrize("name", MAKE)
def test_makes(name, x):
    check(MAKE[name], x)


def test_take(rng, some):
    i = nested.from_list([rng.integers(0, n, 6) for n in SOME])
    check(lambda x, i: (x[i], np.take(x, i, axis=0), x[i].sum(0)), some, i)
    check(lambda x, i: np.take(x, np.array([3, 0, 3]), axis=1) + i.sum() * 0, some, i)
    check(lambda x, i: np.take(x, i % 4, axis=1), some, i)
    check(lambda x, i: x[:, 0][i], some, i)
    check(lambda x, i: np.take(x, i * 4), some, i)
    check(lambda x, i: x[i.reshape(3, 2)], some, i)


def test_take_narrow_indices(rng, some):
    i = nested.from_list([rng.integers(0, n, 3).astype("i4") for n in SOME])
    check(lambda x, i: x[i], some, i)


def test_take_along_axis(rng, some):
    i = nested.from_list([rng.integers(0, n, (2, 4)) for n in SOME], ragged=())
    check(lambda x, i: np.take_along_axis(x, i, axis=0), some, i)
    check(lambda x, i: np.take_along_axis(x, i[:, :1], axis=0), some, i)
    check(lambda x, i: np.take_along_axis(x, (i[:1] % 4), axis=1), some, i)


def test_one_hot(rng):
    i = one_axis(rng, "i8")
    check(lambda i: nested.one_hot(i % 5, 5), i)
    check(lambda i: nested.one_hot(i, 3, np.int32), i)
    check(lambda i: nested.one_hot(i, i.shape[0]), i)
    assert nested.one_hot(np.array([1, 7]), 3).tolist() == [[0, 1, 0], [0, 0, 0]]


def test_groups(rng):
    x = unnamed(batch_of(rng, (4, 0, 12), 3))
    check(lambda x: nested.unflatten(x, 0, (-1, 4)).sum(1), x)
    check(lambda x: x.reshape(-1, 4, 3).mean(1), x)
    f = nested.jit(lambda x: x.reshape(-1, 4, 3))
    with raises(nested.ArgumentError, "sample 1: 12 and 18", "x.reshape(-1, 4, 3)"):
        f(unnamed(batch_of(rng, (4, 6), 3)))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "?"])
def test_dtypes(dtype, rng):
    x = one_axis(rng, dtype)
    compiled = check(
        lambda x: (np.concatenate([x, x[::-1]]), np.pad(x, 1), np.roll(x, 1), x[::2]), x
    )
    assert all(c.dtype == np.dtype(dtype) for c in compiled)


def test_index_out_of_range(rng):
    x = nested.from_list([normal(rng, n, 4) for n in (3, 2)])
    f = nested.jit(lambda x, i: x[i])
    i = nested.from_list([np.array([0, 2]), np.array([1, 2, 0])])
    with raises(nested.DataError, "index 2 is out of range", "sample 1", "row 3", line="f(x, i)"):
        f(x, i)
    i = nested.from_list([np.array([0, -1]), np.array([1])])
    with raises(nested.DataError, "index -1 is out of range", "sample 0", "row 1"):
        f(x, i)
    empty = nested.from_list([np.zeros((0, 4), "f4")])
    with raises(nested.DataError, "index 0 is out of range", "sample 0"):
        f(empty, nested.from_list([np.array([0])]))


X = nested.spec(None, 4)
ERRORS = [
    (lambda x: np.concatenate([x, x[:, :2]]), nested.ShapeError, "axes 1 differ: 4 and 2"),
    (lambda x: np.concatenate([x, x[:, 0]]), nested.ShapeError, "equally many axes"),
    (lambda x: np.concatenate([x[0, 0], x[0, 1]]), nested.ShapeError, "at least one"),
    (lambda x: np.stack([x, x[:, 0]]), nested.ShapeError, "the arrays need one shape"),
    (lambda x: np.pad(x, ((1, 2),) * 3), nested.ShapeError, "3 pairs for 2 axes"),
    (lambda x: np.pad(x, -1), nested.ShapeError, "can't contain negative values"),
    (lambda x: np.pad(x, 1, mode="linear_ramp"), nested.TraceError, "modes are constant, edge"),
    (lambda x: np.reshape(x, (3, -1)), nested.ShapeError, "a fixed axis comes before one that varies"),
    (lambda x: np.reshape(x, (-1, -1)), nested.ShapeError, "one axis (-1) only"),
    (lambda x: np.split(x, 2), nested.ShapeError, "give the indices to split at"),
    (lambda x: np.split(x, 3, axis=1), nested.ShapeError, "equal division: 4 into 3"),
    (lambda x: x[::0], nested.TraceError, "the step of a slice"),
    (lambda x: np.take(x, x, axis=0), nested.TraceError, "needs integer indices"),
    (lambda x: np.take_along_axis(x, np.array([0]), axis=0), nested.ShapeError, "equally many axes"),
    (lambda x: nested.unstack(x), nested.ShapeError, "whose size N varies"),
    (lambda x: np.repeat(x, x.shape[0], axis=0), nested.TraceError, "one integer for all entries"),
    (lambda x: nested.one_hot(x, 3), nested.TraceError, "one_hot needs integer indices"),
]  # fmt: skip


@pytest.mark.parametrize("function, error, message", ERRORS)
def test_errors(function, error, message):
    with raises(error, message, line="lambda x"):
        nested.jit(function).lower(X).text("trace")


def test_plain_arrays_are_numpy(rng):
    x = normal(rng, 4, 6)
    assert nested.concat is np.concatenate
    np.testing.assert_array_equal(nested.flatten(x[None], 1, 2), x.reshape(1, 24))
    np.testing.assert_array_equal(nested.unflatten(x, 1, (2, -1)), x.reshape(4, 2, 3))
    np.testing.assert_array_equal(nested.eye(3, 4, 1), np.eye(3, 4, 1, "f4"))
    assert [len(part) for part in nested.unstack(x, axis=1)] == [4] * 6
