# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collation and batches of data sets."""

import numpy as np
import pytest
from helpers import raises

import nested


def samples(lengths):
    return [{"x": np.full((n, 2), n, "f4"), "pair": np.zeros((n, n), "i8"), "label": n, "name": f"s{n}"}
            for n in lengths]  # fmt: skip


def test_leaves():
    got = nested.collate(samples((2, 0, 3)), dims={"pair": ("N", "N")})
    assert got["x"].dims == ("N", 2) and got["x"].lengths.tolist() == [2, 0, 3]
    assert got["pair"].dims == ("N", "N") and got["pair"].shape_of(2) == (3, 3)
    assert got["label"].dims == () and got["label"].values.tolist() == [2, 0, 3]
    assert got["name"] == ["s2", "s0", "s3"]


def test_as_collate_fn_in_a_compiled_function():
    @nested.jit
    def weighted(sample):
        return np.sum(sample["x"], axis=0) * sample["label"]

    join = nested.collate(ragged={"pair": (0, 1)})
    got = weighted({k: v for k, v in join(samples((2, 3))).items() if k in ("x", "label")})
    np.testing.assert_array_equal(got.values, [[8, 8], [27, 27]])


def test_tuples_and_dtypes():
    x, y = nested.collate([(np.zeros(2, "f4"), 1), (np.zeros(3, "f8"), 2.5)])
    assert x.dtype == np.float64 and y.dtype == np.float64


def test_errors():
    with raises(nested.StructureError, "leaf 'pair': samples differ on axis 1", "ragged=(0, 1)"):
        nested.collate(samples((2, 3)))
    with raises(nested.StructureError, "sample 1 has the leaves 'b', sample 0 has 'a'"):
        nested.collate([{"a": 1}, {"b": 1}])
    with raises(nested.StructureError, "no leaf 'z'; leaves are 'a'"):
        nested.collate([{"a": 1}], ragged={"z": (0,)})
    with raises(nested.StructureError, "no samples to collate"):
        nested.collate([])


def test_batches():
    data = [np.zeros((n, 1)) for n in (2, 3, 50, 1, 1, 1)]
    sizes = [b.lengths.tolist() for b in nested.batches(data, 3, max_rows=6)]
    assert sizes == [[2, 3], [50], [1, 1, 1]]
    assert [len(b) for b in nested.batches(data, 4)] == [4, 2]
    assert [len(b) for b in nested.batches(data, 4, drop_last=True)] == [4]
    orders = [[int(n) for b in nested.batches(data, 2, shuffle=7) for n in b.lengths] for _ in "ab"]
    assert orders[0] == orders[1] != [2, 3, 50, 1, 1, 1] and sorted(orders[0]) == [
        1,
        1,
        1,
        2,
        3,
        50,
    ]
    with pytest.raises(ValueError, match="at least one sample"):
        next(nested.batches(data, 0))
