# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twins of NumPy's functions that move entries: join, pad, turn, take, reshape.

On traced values they record; on plain arrays they are NumPy. Sizes may be Dims (``x.shape[0]``).
Indices do not wrap: a negative one is out of range in a compiled function.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Sequence

import numpy as np

from . import _movement, _samples
from ._dims import Dim
from ._dtypes import as_dtype, scalar
from ._eager import enable
from ._errors import DataError, public
from ._tracer import Tracer, is_traced

_NUMPY = """concatenate stack hstack vstack dstack column_stack append insert pad flip flipud fliplr
roll tile repeat take_along_axis reshape ravel split array_split hsplit vsplit dsplit tril triu
diagonal diag diagflat meshgrid outer broadcast_arrays rot90 compress nonzero flatnonzero""".split()

for _name in _NUMPY:
    globals()[_name] = getattr(np, _name)
# The array API's name.
concat = np.concatenate

__all__ = [*_NUMPY, "concat", "unstack", "flatten", "unflatten", "eye", "one_hot", "masked_fill",
           "as_dim"]  # fmt: skip


def _is_static(*sizes: Any) -> bool:
    return not any(isinstance(s, (Dim, Tracer)) for s in sizes)


@public
def as_dim(n: Any, at_most: Any) -> Any:
    """An integer that the program computes, as a size: ``x[:nested.as_dim(n, at_most=x.shape[0])]``.

    n: one integer for each sample, or one for the batch. at_most: an integer or a size; memory is
    planned with it, and a number that is negative or larger is a DataError. On numbers: the
    integer itself.
    """
    if isinstance(n, Tracer):
        return _samples.as_dim(n, at_most)
    if isinstance(n, Dim) or isinstance(at_most, Dim):
        return n
    size = operator.index(n)
    if not 0 <= size <= at_most:
        raise DataError(f"the size is {size}; it must be from 0 to {at_most}")
    return size


@public
def unstack(x: Any, /, *, axis: int = 0) -> tuple:
    """The entries along an axis, whose size is fixed, as arrays without it."""
    if is_traced(x):
        return _movement.unstack(x, axis=axis)
    return tuple(np.moveaxis(np.asarray(x), axis, 0))


@public
def flatten(x: Any, start: int = 0, end: int = -1) -> Any:
    """Merges the axes from start to end, both included: ``(N, M, C)`` becomes ``(N * M, C)`` with
    end=1. Nothing is copied where the result is used. ShapeError where a fixed axis comes before one
    that varies: they are not stored in this order."""
    if is_traced(x):
        return _movement.flatten(x, start, end)
    x = np.asarray(x)
    start, end = start % x.ndim, end % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1 :])


@public
def unflatten(x: Any, axis: int, sizes: Sequence[Any]) -> Any:
    """Splits an axis into axes of these sizes, one of which may be -1. Of an axis that varies, that
    the sizes multiply to its length is checked for every sample when the program is entered."""
    if is_traced(x) or not _is_static(*sizes):
        return _movement.unflatten(x, axis, sizes)
    x = np.asarray(x)
    axis %= x.ndim
    known = math.prod(s for s in sizes if s != -1)
    sizes = [x.shape[axis] // known if s == -1 and known else s for s in sizes]
    return x.reshape(*x.shape[:axis], *sizes, *x.shape[axis + 1 :])


@public
def eye(rows: Any, columns: Any = None, k: int = 0, dtype: Any = np.float32) -> Any:
    """1 where column - row is k, 0 elsewhere. rows, columns: sizes, which may be Dims."""
    if _is_static(rows, columns):
        return np.eye(rows, columns, k, as_dtype(dtype))
    return _movement.eye(rows, columns, k, as_dtype(dtype))


@public
def one_hot(indices: Any, size: Any, dtype: Any = np.float32) -> Any:
    """A new last axis with a 1 at each index. indices: integers; one that is not in ``[0, size)`` gives
    zeros. size: an integer or a Dim."""
    if is_traced(indices) or not _is_static(size):
        return _movement.one_hot(indices, size, as_dtype(dtype))
    return (np.asarray(indices)[..., None] == np.arange(size)).astype(as_dtype(dtype))


@public
def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """x, but value where the mask holds. The mask broadcasts to x's shape; value: a number."""
    x = x if is_traced(x) else np.asarray(x)
    return np.where(mask, scalar(value, x.dtype), x)


enable(globals(), __all__)
