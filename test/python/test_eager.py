# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on NestedTensors outside of nested.jit: the same numbers as per sample, one program each."""

import numpy as np
import pytest
from helpers import raises

import nested
from nested import functions


@pytest.fixture
def x(rng):
    return nested.from_list([rng.normal(size=(n, 4)).astype("f4") for n in (3, 0, 5, 1)])


def same(got, function, *batches, rtol=1e-6):
    """Every sample of got is what the function gives for the samples of the batches."""
    assert isinstance(got, nested.NestedTensor) and len(got) == len(batches[0])
    for i in range(len(got)):
        want = np.asarray(function(*(b[i] for b in batches)))
        assert got[i].dtype == want.dtype and got[i].shape == want.shape
        np.testing.assert_allclose(got[i], want, rtol, 1e-6)


@pytest.mark.parametrize("function", [
    lambda x: x + 1, lambda x: 1 - x, lambda x: x * x, lambda x: -x, lambda x: abs(x), lambda x: x / 3,
    lambda x: x > 0.25, lambda x: 0.25 <= x, lambda x: x**2, lambda x: x // 0.5, lambda x: np.exp(x),
    lambda x: np.maximum(x, 0), lambda x: np.float32(2) * x, lambda x: x + np.arange(4, dtype="f4"),
    lambda x: np.ones(4, "f4") + x, lambda x: x @ np.ones((4, 2), "f4"), lambda x: x.sum(axis=0),
    lambda x: np.sum(x, axis=(0, 1)), lambda x: nested.mean(x, axis=1), lambda x: x.T,
    lambda x: x.transpose(1, 0), lambda x: nested.softmax(x, axis=1), lambda x: nested.nn.silu(x),
    lambda x: np.where(x > 0, x, 0), lambda x: np.expand_dims(x, 1), lambda x: np.add.reduce(x, axis=1),
], ids=range(26))  # fmt: skip
def test_operations(x, function):
    same(function(x), function, x, rtol=1e-5)


@pytest.mark.parametrize("key", [
    np.s_[1:], np.s_[:-1], np.s_[:, 0], np.s_[..., 1], np.s_[None], np.s_[:, None], np.s_[1:, 2:],
], ids=str)  # fmt: skip
def test_every_sample_is_indexed(x, key):
    parts = key if isinstance(key, tuple) else (key,)
    got = x[(slice(None), *parts)]
    same(got, lambda a: a[key], x)


def test_samples_then_entries(x):
    np.testing.assert_array_equal(x[0, 1:], x[0][1:])
    assert x[2:, 1:].lengths.tolist() == [4, 0]
    np.testing.assert_array_equal(x[[2, 0], 0][1], x[0][0])
    np.testing.assert_array_equal(x[..., 0].values, x.values[:, 0])


def test_masks_of_entries(x):
    mask = x[:, :, 0] > 0
    for got in (x[mask], x[:, mask]):
        same(got, lambda a, m: a[m], x, mask)


def test_batch_reductions(x):
    np.testing.assert_allclose(nested.batch.sum(x, axis=0), x.values.sum(0), rtol=1e-5)


def test_two_batches_of_one_structure(x):
    same(x + nested.from_list(list(x)), lambda a: a + a, x)
    with raises(nested.ArgumentError, "does not hold in sample 1: 2 and 0", "needed by 'x + y'"):
        y = nested.from_list([np.zeros((n, 4), "f4") for n in (3, 2, 5, 1)])
        x + y


def test_numbers_promote_weakly():
    for dtype in ("i1", "i4", "f2", "f4", "f8"):
        ints = nested.from_list([np.arange(3).astype(dtype)])
        assert (ints + 1).dtype == (np.arange(3).astype(dtype) + 1).dtype
        assert (ints * 0.5).dtype == (np.arange(3).astype(dtype) * 0.5).dtype
    with pytest.raises(OverflowError):
        nested.from_list([np.zeros(2, "i1")]) + 300


def test_programs_are_shared_by_lengths_and_numbers(x):
    nested.eager.clear()
    before = nested.eager.compilations()
    for factor in (2.0, 3.5):
        x * factor
        nested.from_list([np.zeros((7, 4), "f4")]) * factor
    assert nested.eager.compilations() == before + 1
    x[:, 1:], x[1:, 1:]
    assert nested.eager.compilations() == before + 2
    x[:, 2:]
    assert nested.eager.compilations() == before + 3


def test_empty_batch(x):
    got = x[:0] + 1
    assert len(got) == 0 and got.values.shape == (0, 4)


def test_forbidden(x):
    with raises(nested.RequirementError, "np/nested.add of a NestedTensor would run eagerly"):
        with nested.eager.forbid():
            x + 1
    x + 1  # only inside


def test_errors_end_at_the_users_line(x):
    with raises(nested.TraceError, "np.linalg.svd is not supported", "np.linalg.svd(x)"):
        np.linalg.svd(x)
    with raises(nested.ShapeError, "(N, 4)", "(5,)"):
        x + np.zeros(5, "f4")
    with raises(IndexError, "sample 9 of a batch of 4"):
        x[9, 0]
    with raises(IndexError, "no axis before its samples"):
        x[None]
    with raises(AttributeError, "no attribute 'nonsense'"):
        x.nonsense()


def test_batches_stay_outside_of_traced_functions(x):
    @nested.jit
    def function(a):
        return a + x

    with raises(nested.TraceError, "pass it as an argument"):
        function(x)


def test_every_function_takes_batches():
    """The wrapper is there: a function added to the package without it would see an object."""
    inner = {"zeros", "ones", "full", "arange"}
    moves = {"select", "repeat", "to_padded", "from_padded"}  # of nested.batch: NumPy, no program
    for module in (functions, nested.nn, nested.batch):
        for name in set(module.__all__) - inner - moves:
            found = getattr(module, name)
            if (getattr(found, "__module__", "") or "").split(".")[0] == "numpy":
                continue
            if isinstance(found, (np.ufunc, type)):
                continue
            with nested.eager.forbid(), pytest.raises(nested.RequirementError):
                found(nested.from_list([np.zeros((2, 2), "f4")]))
