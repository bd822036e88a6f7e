# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NestedTensor: making, structure, indexing, comparison, pickling, exchange."""

import copy
import pickle

import numpy as np
import pytest
from helpers import batch_of, normal, raises
from hypothesis import given
from hypothesis import strategies as st

import nested

LENGTHS = st.lists(st.integers(0, 6), min_size=0, max_size=6)


def test_worked_example():
    """Lengths (2, 3): singles begin at 0, 2, 5; square pairs at 0, 4, 13."""
    singles = nested.from_list([np.zeros((n, 4)) for n in (2, 3)])
    assert singles.offsets.tolist() == [0, 2, 5]
    assert singles.row_splits(0).tolist() == [0, 2, 5]
    pairs = nested.from_list([np.zeros((n, n, 4)) for n in (2, 3)], dims=("N", "N", 4))
    assert pairs.offsets.tolist() == [0, 4, 13]
    assert pairs.row_splits(0).tolist() == [0, 2, 5]
    assert pairs.row_splits(1).tolist() == [0, 2, 4, 7, 10, 13]
    assert pairs.lengths.tolist() == [[2, 2], [3, 3]]
    assert pairs.shape_of(1) == pairs.shape_of(-1) == (3, 3, 4)


@given(LENGTHS, st.integers(0, 2))
def test_list_round_trip(lengths, features):
    xs = [np.arange(n * features, dtype="f4").reshape(n, features) for n in lengths]
    batch = nested.from_list(xs, dims=("N", features))
    assert len(batch) == len(xs) and batch.lengths.tolist() == lengths
    assert batch.values.shape == (sum(lengths), features)
    for got, want in zip(batch, xs):
        np.testing.assert_array_equal(got, want)


@given(LENGTHS, st.integers(0, 3))
def test_padded_round_trip(lengths, extra):
    xs = [np.arange(2 * n, dtype="f4").reshape(n, 2) + 1 for n in lengths]
    batch = nested.from_list(xs, dims=("N", 2), dtype="f4")
    padded = batch.to_padded(fill=-1)
    assert padded.shape == (len(lengths), max(lengths, default=0), 2)
    assert (padded[~batch.mask] == -1).all()
    assert nested.from_padded(padded, batch.mask, dims=("N", 2)) == batch
    wider = np.pad(padded, [(0, 0), (0, extra), (0, 0)])
    assert nested.from_padded(wider, lengths=lengths) == batch
    assert nested.from_padded(wider, np.array(lengths, int)) == batch


def test_two_ragged_axes():
    shapes = [(2, 3), (0, 4), (5, 1)]
    xs = [np.arange(h * w * 2).reshape(h, w, 2) for h, w in shapes]
    batch = nested.from_list(xs, ragged=(0, 1))
    assert batch.lengths.tolist() == [list(s) for s in shapes]
    assert batch.mask.shape == (3, 5, 4)
    again = nested.from_padded(batch.to_padded(), batch.mask, ragged=(0, 1))
    # Sample 1 has no entries: a mask can't tell (0, 4) from (0, 0).
    assert again.lengths.tolist() == [[2, 3], [0, 0], [5, 1]]
    exact = nested.from_padded(batch.to_padded(), lengths=batch.lengths, ragged=(0, 1))
    assert exact == batch


def test_non_leading_ragged_axis_is_packed_first():
    xs = [np.arange(3 * n * 2).reshape(3, n, 2) for n in (2, 0, 4)]
    batch = nested.from_list(xs, ragged=(1,))
    assert batch.values.shape == (6, 3, 2)
    assert batch.mask.shape == (3, 4)
    for got, want in zip(batch, xs):
        np.testing.assert_array_equal(got, want)


def test_structure_equality_is_exact():
    """R9: (0, 3) and (0, 7) are different; equal totals of different lengths are different."""
    empty = [np.zeros((0, 3)), np.zeros((0, 7))]
    a, b = (nested.from_list([x], ragged=(0, 1)) for x in empty)
    assert a.structure != b.structure and a != b
    x, y = (nested.from_list([np.zeros((n, 2)) for n in ns]) for ns in ((2, 4), (4, 2)))
    assert x.structure != y.structure and hash(x.structure) != hash(y.structure)
    assert x.structure == nested.from_list([np.ones((n, 2)) for n in (2, 4)]).structure
    assert x == copy.deepcopy(x) and x != x.with_values(x.values + 1)


def test_indexing(rng):
    batch = batch_of(rng, (3, 0, 5, 2), 4)
    xs = batch.to_list()
    np.testing.assert_array_equal(batch[-1], xs[3])
    for key in (slice(1, 3), slice(None, None, 2), [2, 0, 2], np.array([True, False, False, True])):
        chosen = batch[key]
        expected = [xs[i] for i in np.arange(4)[key]]
        assert len(chosen) == len(expected)
        for got, want in zip(chosen, expected):
            np.testing.assert_array_equal(got, want)
    assert np.shares_memory(batch[1:3].values, batch.values)
    with raises(IndexError, "sample 4 of a batch of 4"):
        batch[4]
    np.testing.assert_array_equal(batch[0, 1], xs[0][1])


def test_views_with_gaps(rng):
    values = normal(rng, 12, 3)
    batch = nested.from_values(values, [2, 0, 3], starts=[1, 4, 8])
    assert batch.storage is values and batch.starts.tolist() == [1, 4, 8]
    np.testing.assert_array_equal(batch[0], values[1:3])
    np.testing.assert_array_equal(batch.values, values[[1, 2, 8, 9, 10]])
    assert batch == nested.from_list(batch.to_list())
    assert "with gaps" in repr(batch)
    shifted = nested.from_values(values, offsets=[3, 5, 5, 9])
    assert shifted.lengths.tolist() == [2, 0, 4]
    np.testing.assert_array_equal(shifted.values, values[3:9])


def test_values_are_not_copied(rng):
    values = normal(rng, 5, 3)
    assert nested.from_values(values, [2, 3]).values.base is values
    assert nested.from_values(memoryview(values), [2, 3]).values.shape == (5, 3)


def test_exchange(rng):
    class Foreign:
        """Something that has DLPack and nothing else."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    values = normal(rng, 5, 3)
    batch = nested.from_values(Foreign(values), Foreign(np.array([2, 3])))
    assert np.shares_memory(batch.values, values)
    out = np.from_dlpack(batch)
    assert np.shares_memory(out, values)
    assert batch.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling(rng, protocol):
    batch = batch_of(rng, (3, 0, 5), 4)
    again = pickle.loads(pickle.dumps(batch, protocol))
    assert again == batch and again.dims == batch.dims == ("N", 4)
    gaps = nested.from_values(normal(rng, 9, 2), [2, 3], starts=[1, 5])
    assert pickle.loads(pickle.dumps(gaps, protocol)) == gaps


def test_text():
    batch = nested.from_list([np.zeros((n, 384), "f4") for n in (17, 230, 0, 64)])
    assert repr(batch) == "NestedTensor(N, 384)(4 samples, N = 17 230 0 64, 311 rows, float32)"
    many = nested.from_list([np.zeros((n,), "f4") for n in range(500)])
    assert len(repr(many)) < 120 and "500 samples" in repr(many)
    scalars = nested.from_list([1.0, 2.0], ragged=())
    assert repr(scalars) == "NestedTensor()(2 samples, 2 rows, float64)"


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    batch = nested.from_list([np.ones((n, 2), ml_dtypes.bfloat16) for n in (1, 2)])
    assert batch.dtype == ml_dtypes.bfloat16
    assert pickle.loads(pickle.dumps(batch)) == batch


def test_a_batch_is_not_one_array(rng):
    batch = batch_of(rng, (2, 3), 4)
    with raises(TypeError, "not one array"):
        np.asarray(batch)


BAD = [
    (lambda: nested.from_list([np.zeros((2, 5)), np.zeros((3, 7))]),
     "samples differ on axis 1, which was not declared ragged: sample 0 has 5, sample 1 has 7; "
     "declare ragged=(0, 1)"),
    (lambda: nested.from_list([np.zeros((2, 5)), np.zeros(3)]), "sample 1 has 1 axes, sample 0 has 2"),
    (lambda: nested.from_list([np.zeros(2, "f4"), np.zeros(2, "f8")]), "sample 1 is float64"),
    (lambda: nested.from_list([]), "an empty batch needs dims="),
    (lambda: nested.from_list([np.zeros((2, 3))], dims=("N", "N")),
     "sample 0: axes 0 and 1 are both N, but have sizes 2 and 3"),
    (lambda: nested.from_list([np.zeros((2, 3))], dims=("N", 4)), "axis 1 has size 3"),
    (lambda: nested.from_list([np.zeros((2, 3))], dims=("N",)), "names 1 axes, samples have 2"),
    (lambda: nested.from_list([np.zeros((2, 3))], dims=("B", 3)), "'B' can't name a ragged axis"),
    (lambda: nested.from_list([np.zeros((2, 3))], ragged=(2,)), "ragged axis 2 of samples with 2 axes"),
    (lambda: nested.from_values(np.zeros((4, 2)), [3, 2]), "the lengths need 5 rows, values have 4"),
    (lambda: nested.from_values(np.zeros((4, 2)), [3, -1]), "sample 1 has the negative length -1"),
    (lambda: nested.from_values(np.zeros((4, 2)), [1.5, 2]), "lengths must be integers"),
    (lambda: nested.from_values(np.zeros((4, 2))), "needs lengths= or offsets="),
    (lambda: nested.from_values(np.zeros((4, 2)), [[1, 1]]), "lengths of shape (1, 2) for 1 ragged"),
    (lambda: nested.from_values(np.zeros((4, 2)), offsets=[0, 3, 2]),
     "offsets decrease: entry 1 is 3, 2 is 2"),
    (lambda: nested.from_values(np.zeros((4, 2)), offsets=[-1, 3]), "offset 0 is negative: -1"),
    (lambda: nested.from_values(np.zeros((4, 2)), offsets=[0, 5]),
     "sample 0 needs rows 0 to 5, values have 4"),
    (lambda: nested.from_values(np.zeros((4, 2)), [2, 2], starts=[2, 1]), "starts decrease"),
    (lambda: nested.from_values(np.zeros((4, 2)), [2, 2], starts=[0, 3]),
     "sample 1 needs rows 3 to 5, values have 4"),
    (lambda: nested.from_values(np.zeros((4, 2)), [2], starts=[-1]), "negative row -1"),
    (lambda: nested.from_values(np.zeros(4), [[2**33, 2**33]], ragged=(0, 1)),
     "the number of rows exceeds 64 bits at sample 0"),
    (lambda: nested.from_padded(np.zeros((2, 3, 4)), np.ones((2, 4), bool)),
     "expected a mask of bools of shape (2, 3), but got bool (2, 4)"),
    (lambda: nested.from_padded(np.zeros((1, 3)), np.array([[True, False, True]])),
     "the mask of sample 0 has holes"),
    (lambda: nested.from_padded(np.zeros((1, 3)), lengths=[4]),
     "sample 0 has length 4, the padded axis 0 has 3"),
    (lambda: nested.from_padded(np.zeros((1, 3))), "needs either a mask or lengths="),
]  # fmt: skip


@pytest.mark.parametrize("make, message", BAD)
def test_bad_structure(make, message):
    with raises(nested.StructureError, message, line="nested.from_"):
        make()
