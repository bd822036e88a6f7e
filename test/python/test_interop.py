# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Round trips with Awkward Array and torch.nested, where they are installed."""

import numpy as np
import pytest
from helpers import raises

import nested


def batches():
    rng = np.random.default_rng(5)
    yield nested.from_list([rng.normal(size=(n, 4)) for n in (3, 0, 5)])
    yield nested.from_list([rng.normal(size=n).astype("f4") for n in (3, 0, 5)])
    yield nested.from_list([rng.integers(0, 9, size=(n, n, 2)) for n in (3, 0, 5)], ragged=(0, 1))
    yield nested.from_list([rng.normal(size=(3, n, 2)) for n in (3, 0, 5)], ragged=(1,))
    yield nested.from_list([rng.normal(size=(2, 3)) for _ in range(3)], ragged=())
    yield nested.from_list([rng.normal(size=(n, 2, n + 1)) for n in (3, 1, 2)], ragged=(0, 2))


@pytest.mark.parametrize("x", list(batches()), ids=lambda x: str(x.dims))
def test_awkward_round_trip(x):
    ak = pytest.importorskip("awkward")
    array = nested.to_awkward(x)
    assert isinstance(array, ak.Array) and array.ndim == x.ndim + 1
    for i, sample in enumerate(x):
        assert ak.to_list(array[i]) == sample.tolist()
    assert nested.from_awkward(array) == x


def test_awkward_shares_memory():
    pytest.importorskip("awkward")
    x = nested.from_list([np.zeros((n, 4)) for n in (3, 0, 5)])
    assert np.shares_memory(nested.from_awkward(nested.to_awkward(x)).values, x.values)


def test_awkward_views():
    ak = pytest.importorskip("awkward")
    array = ak.Array([[1, 2], [], [3], [4, 5]])
    assert nested.from_awkward(array[1:]).values.tolist() == [3, 4, 5]
    assert nested.from_awkward(array[[3, 0]]).values.tolist() == [4, 5, 1, 2]
    assert nested.from_awkward(array, dims=("T",)).dims == ("T",)


def test_awkward_errors():
    ak = pytest.importorskip("awkward")
    with raises(nested.StructureError, "sample 1 is itself ragged", "lists of 2 and of 1"):
        nested.from_awkward(ak.Array([[[1]], [[1, 2], [3]]]))
    for array in (ak.Array(["a", "b"]), ak.Array([{"x": 1}]), ak.Array([[1, None]])):
        with raises(nested.StructureError, "expected an array of numbers"):
            nested.from_awkward(array)
    with raises(nested.StructureError, "axis 0 is var", "says 3"):
        nested.from_awkward(ak.Array([[1, 2]]), dims=(3,))


@pytest.mark.parametrize("x", list(batches()), ids=lambda x: str(x.dims))
def test_torch_round_trip(x):
    torch = pytest.importorskip("torch")
    got = nested.to_torch(x)
    assert got.is_nested and (got.layout == torch.jagged) == (len(x.ragged) == 1)
    for sample, tensor in zip(x, got.unbind()):
        np.testing.assert_array_equal(tensor.numpy(), sample)
    assert nested.from_torch(got, dims=x.dims) == x


def test_torch_shares_memory_of_jagged_values():
    torch = pytest.importorskip("torch")
    made = torch.nested.nested_tensor([torch.zeros(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    x = nested.from_torch(made)
    made.values()[0, 0] = 7
    assert x.values[0, 0] == 7 and x.lengths.tolist() == [2, 4]


def test_torch_errors():
    torch = pytest.importorskip("torch")
    with raises(nested.StructureError, "expected a nested tensor"):
        nested.from_torch(torch.zeros(2, 3))
