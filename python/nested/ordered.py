# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that follow the order of an axis: running reductions, sorting, searching, scattering.

On traced values they record; on plain arrays they compute the same with NumPy.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from . import _functions, _ordered
from ._dtypes import as_dtype, is_float
from ._eager import enable
from ._errors import DataError, ShapeError, public
from ._ordered import identity
from ._tracer import any_traced, is_traced

diff = np.diff

__all__ = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "cumulative_sum",
           "cumulative_prod", "diff", "sort", "argsort", "topk", "searchsorted", "unique_consecutive",
           "unique_all", "unique_counts", "unique_inverse", "unique_values", "kthvalue",
           "quantile", "median", "scatter", "bincount", "segment_sum", "segment_mean", "segment_max",
           "segment_min"]  # fmt: skip

_UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
           "logsumexp": np.logaddexp}  # fmt: skip


def _accumulate(
    kind: str, x: Any, axis: Any, dtype: Any, reverse: bool, exclusive: bool
) -> np.ndarray:
    """The running reduction of a plain array."""
    x = np.asarray(x)
    if dtype is None:
        dtype = _functions.reduction_dtype(kind, x.dtype)
        if kind == "logsumexp" and not is_float(dtype):
            dtype = np.float64
    x = x.astype(as_dtype(dtype))
    if axis is None:
        if x.ndim != 1:
            raise ShapeError(f"cum{kind} of {x.shape} needs axis=")
        axis = 0
    if reverse:
        x = np.flip(x, axis)
    y = _UFUNCS[kind].accumulate(x, axis=axis, dtype=x.dtype)
    if exclusive:
        first = np.full_like(np.take(y, [0], axis) if y.shape[axis] else y, identity(kind, x.dtype))
        y = np.concatenate([first, np.delete(y, -1, axis)], axis) if y.shape[axis] else y
    return np.flip(y, axis) if reverse else y


def _running(kind: str, name: str, doc: str) -> Callable:
    def typed(
        x: Any, axis: int | None = None, dtype: Any = None, *, reverse: bool = False,
        exclusive: bool = False,
    ) -> Any:  # fmt: skip
        compute = _ordered.accumulate if is_traced(x) else _accumulate
        return compute(kind, x, axis, dtype, reverse, exclusive)

    def untyped(
        x: Any, axis: int | None = None, *, reverse: bool = False, exclusive: bool = False
    ) -> Any:
        return typed(x, axis, None, reverse=reverse, exclusive=exclusive)

    chosen = typed if kind in ("sum", "prod") else untyped
    chosen.__name__ = name
    chosen.__doc__ = (
        doc
        + " along one axis (None: of arrays of one axis), over every size of it; the shape stays."
        "\nreverse: from the last index to the first. exclusive: without the index itself, so that the"
        "\nfirst one is what nothing gives."
    )
    return public(chosen)


cumsum = _running("sum", "cumsum", """Running sums (of f32 kept in f64; integers as int64)""")
cumprod = _running(
    "prod", "cumprod", """Running products (of f32 kept in f64; integers as int64)"""
)
cummax = _running("max", "cummax", """The largest entries so far, NaN from where one occurs""")
cummin = _running("min", "cummin", """The smallest entries so far, NaN from where one occurs""")
logcumsumexp = _running(
    "logsumexp", "logcumsumexp", """Logarithms of running sums of exponentials, without overflow"""
)


def _array_api(kind: str) -> Callable:
    name = f"cumulative_{kind}"

    def cumulative(x: Any, /, *, axis: int | None = None, dtype: Any = None) -> Any:
        if is_traced(x):
            return _ordered.accumulate(kind, x, axis, dtype)
        return _accumulate(kind, x, axis, dtype, False, False)

    cumulative.__name__ = name
    cumulative.__doc__ = f"""The array API's name of cum{kind}."""
    return public(cumulative)


cumulative_sum = _array_api("sum")
cumulative_prod = _array_api("prod")


# ---------------------------------------------------------------------------
# Sorting and searching
# ---------------------------------------------------------------------------


def _argsort(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Stable in both directions; NaN is the greatest."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


@public
def sort(x: Any, /, *, axis: int = -1, descending: bool = False) -> Any:
    """The entries along one axis in rising (falling) order, each sample by itself. Equal entries
    keep their order; NaN is greater than every number: last in rising, first in falling order."""
    if is_traced(x):
        return _ordered.sort_pair("sort", x, axis, descending)[0]
    x = np.asarray(x)
    return np.take_along_axis(x, _argsort(x, axis, descending), axis)


@public
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False) -> Any:
    """Indices (int64, inside the sample) that put one axis in order, as sort does; stable."""
    if is_traced(x):
        return _ordered.sort_pair("argsort", x, axis, descending)[1]
    return _argsort(np.asarray(x), axis, descending)


@public
def topk(x: Any, k: Any, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    """The k largest (smallest) entries along one axis, largest first, and their indices; all of
    them where a sample has fewer: the axis has size min(N, k). NaN counts as largest; of equal
    entries the first come first."""
    if is_traced(x) or is_traced(k):
        return _ordered.topk(x, k, axis, bool(largest))
    x = np.asarray(x)
    places = np.take(_argsort(x, axis, largest), range(min(k, x.shape[axis])), axis)
    return np.take_along_axis(x, places, axis), places


searchsorted = np.searchsorted


@public
def unique_consecutive(x: Any) -> Any:
    """The first of each run of equal entries of one axis; its size comes from the data."""
    if is_traced(x):
        return _ordered.unique_consecutive(x)
    x = np.asarray(x)
    if x.ndim != 1:
        raise ShapeError(f"unique_consecutive of {x.shape}: expected one axis")
    return x[np.concatenate([np.ones(min(len(x), 1), bool), x[1:] != x[:-1]])]


class UniqueAll(NamedTuple):
    """What nested.unique_all gives."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """What nested.unique_counts gives."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """What nested.unique_inverse gives."""

    values: Any
    inverse_indices: Any


def _unique(name: str, x: Any) -> UniqueAll:
    if is_traced(x):
        return UniqueAll(*_ordered.unique_all(name, x))
    return UniqueAll(*np.unique(x, True, True, True, equal_nan=False))


@public
def unique_all(x: Any, /) -> UniqueAll:
    """The distinct values of each sample in rising order, the index of the first of each, the
    number of the value of every entry, and how often each occurs. One axis; each NaN is a value."""
    return _unique("unique_all", x)


@public
def unique_counts(x: Any, /) -> UniqueCounts:
    """As unique_all: the values and how often each occurs."""
    every = _unique("unique_counts", x)
    return UniqueCounts(every.values, every.counts)


@public
def unique_inverse(x: Any, /) -> UniqueInverse:
    """As unique_all: the values and the number of the value of every entry."""
    every = _unique("unique_inverse", x)
    return UniqueInverse(every.values, every.inverse_indices)


@public
def unique_values(x: Any, /) -> Any:
    """As unique_all: the values alone."""
    return _unique("unique_values", x).values


@public
def kthvalue(x: Any, k: Any, axis: int = -1) -> Any:
    """The entry at place k (from 0) of one axis in rising order; 0 where a sample has no k."""
    if is_traced(x) or is_traced(k):
        return _ordered.kthvalue(x, k, axis)
    x = np.sort(x, axis=axis)
    if not 0 <= k < x.shape[axis]:
        return np.zeros_like(x, shape=np.delete(x.shape, axis))
    return np.take(x, k, axis)


@public
def quantile(x: Any, q: float, axis: int = -1, keepdims: bool = False) -> Any:
    """The value that a share q of the entries of one axis is below, interpolated as NumPy does.
    NaN where there is one; 0 of nothing."""
    if is_traced(x):
        return _ordered.quantile(x, q, axis, keepdims)
    x = np.asarray(x)
    if x.shape[axis] == 0:
        return _zero(x, axis, keepdims)
    return np.quantile(x, q, axis=axis, keepdims=keepdims)


@public
def median(x: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """The middle entry of one axis in order, or the mean of the two. NaN where there is one; 0
    of nothing."""
    if is_traced(x):
        return _ordered.quantile(x, 0.5, axis, keepdims, "median")
    x = np.asarray(x)
    if x.shape[axis] == 0:
        return _zero(x, axis, keepdims)
    return np.median(x, axis=axis, keepdims=keepdims)


def _zero(x: np.ndarray, axis: int, keepdims: bool) -> np.ndarray:
    dtype = x.dtype if is_float(x.dtype) else np.float64
    return np.zeros_like(np.sum(x, axis=axis, keepdims=keepdims), dtype)


# ---------------------------------------------------------------------------
# Scattering
# ---------------------------------------------------------------------------


def _check_indices(name: str, indices: np.ndarray, count: int) -> None:
    outside = np.flatnonzero((indices < 0) | (indices >= count))
    if len(outside):
        row = outside[0]
        raise DataError(
            f"{name}: index {indices[row]} is out of range for {count} rows (row {row})"
        )


@public
def scatter(x: Any, indices: Any, updates: Any, mode: str = "set") -> Any:
    """x with row ``updates[a]`` put into (added to, max, min with) row ``indices[a]``, for each a
    in order: of several that are set the last one stays. indices: (N,), from 0 on, negative ones
    don't wrap; updates: (N, ...); x: (K, ...), shared or per sample. Sums of floats are kept in f64.
    An index out of range is a DataError that names the sample and the row."""
    if any_traced((x, indices, updates)):
        return _ordered.scatter(x, indices, updates, mode)
    x, indices, updates = np.asarray(x), np.asarray(indices), np.asarray(updates)
    dtype = np.result_type(x.dtype, updates.dtype)
    _check_indices("scatter", indices, len(x))
    wide = np.float64 if mode == "add" and is_float(dtype) else dtype
    shape = np.broadcast_shapes(x.shape[1:], updates.shape[1:])
    result = np.array(np.broadcast_to(x, (len(x), *shape)), wide)
    combine = {"add": np.add, "max": np.maximum, "min": np.minimum}
    if mode == "set":
        for place, update in zip(indices, updates):
            result[place] = update
    else:
        combine[mode].at(result, indices, updates)
    return result.astype(dtype)


@public
def bincount(x: Any, length: Any, weights: Any = None) -> Any:
    """How often each integer from 0 to length - 1 occurs in one axis, or the sums of its weights
    (float64). Others are a DataError."""
    if any_traced((x, length, weights)):
        return _ordered.bincount(x, length, weights)
    _check_indices("bincount", np.asarray(x), length)
    return np.bincount(x, weights, length)


def _segment(kind: str, doc: str) -> Any:
    def plain(x: np.ndarray, ids: np.ndarray, count: int, empty: str) -> np.ndarray:
        dtype = _functions.reduction_dtype(kind, x.dtype)
        shape = (count, *x.shape[1:])
        if kind in ("sum", "mean"):
            result = scatter(np.zeros(shape, dtype), ids, x.astype(dtype), "add")
        else:
            result = scatter(np.full(shape, identity(kind, dtype), dtype), ids, x, kind)
        members = np.bincount(ids, minlength=count).reshape(-1, *[1] * (x.ndim - 1))
        if kind == "mean":
            return (result / np.maximum(members, 1)).astype(dtype)
        if kind == "sum" or empty == "identity":
            return result
        return np.where(members > 0, result, np.zeros((), dtype))

    def reduce_(x: Any, ids: Any, num_segments: Any) -> Any:
        return extreme(x, ids, num_segments)

    def extreme(x: Any, ids: Any, num_segments: Any, empty: str = "zero") -> Any:
        if any_traced((x, ids, num_segments)):
            return _ordered.segment(kind, x, ids, num_segments, empty)
        return plain(np.asarray(x), np.asarray(ids), num_segments, empty)

    chosen = extreme if kind in ("max", "min") else reduce_
    chosen.__name__ = f"segment_{kind}"
    chosen.__doc__ = (
        f"{doc} of the rows with each number: x (N, ...), ids (N,) from 0 to num_segments - 1, which "
        "is an integer\nor a Dim. Gives (num_segments, ...). An id out of range is a DataError."
    )
    return public(chosen)


segment_sum = _segment("sum", """Sums (of floats kept in f64)""")
segment_mean = _segment("mean", """Means, 0 of none,""")
segment_max = _segment("max", """The largest, 0 of none (empty="identity": -inf),""")
segment_min = _segment("min", """The smallest, 0 of none (empty="identity": inf),""")


enable(globals(), __all__)
