# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that see the samples of a batch together: reductions over them, other samples, padding.

In reductions ``axis`` names axes of a sample that are reduced too: none by default, all with None.
Ragged axes must be among them. Every entry weighs the same; for samples to weigh the same, reduce per
sample first. The result is one array for the batch. On plain arrays they see a batch of one.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _contract, _functions, _samples, _tree
from ._eager import enable, has_batch
from ._errors import ArgumentError, public
from ._structure import as_int64
from ._tensor import NestedTensor
from ._tensor import from_padded as _from_padded
from ._tracer import any_traced, is_traced
from .functions import empty_as_zero

__all__ = ["sum", "mean", "max", "min", "prod", "einsum", "select", "repeat", "to_padded",
           "from_padded"]  # fmt: skip
_REDUCTIONS = ["sum", "mean", "max", "min", "prod", "einsum"]


def _reduction(kind: str, function: Callable, doc: str) -> Callable:
    def reduction(x: Any, axis: Any = (), keepdims: bool = False) -> Any:
        if is_traced(x):
            return _functions.reduce(kind, x, axis, None, keepdims, batch=True)
        array = np.asarray(x)
        axes = axis if axis is None or isinstance(axis, tuple) else tuple(np.atleast_1d(axis))
        return empty_as_zero(kind, function, array, axes, keepdims)

    reduction.__name__, reduction.__doc__ = kind, doc
    return public(reduction)


sum = _reduction("sum", np.sum, "Sum over samples and axes. Of nothing: 0.")
mean = _reduction("mean", np.mean, "Mean over samples and axes. Of nothing: 0.")
prod = _reduction("prod", np.prod, "Product over samples and axes. Of nothing: 1.")
max = _reduction("max", np.max, "Largest over samples and axes. Of nothing: 0.")
min = _reduction("min", np.min, "Smallest over samples and axes. Of nothing: 0.")


@public
def einsum(subscripts: str, *operands: Any) -> Any:
    """np.einsum, summed over the samples too: ``batch.einsum("nk,nm->km", x, dy)`` is a weight
    gradient. Ragged axes must be summed over. Of nothing: 0. One array for the batch."""
    if any_traced(operands):
        return _contract.einsum(subscripts, *operands, batch=True)
    return np.einsum(subscripts, *operands)


def _any_traced(*trees: Any) -> bool:
    return any_traced(leaf for tree in trees for _, leaf in _tree.flatten(tree)[0])


def _each(what: str, x: Any, function: Callable) -> Any:
    """``function`` on every batch of a nest of equally many samples."""
    leaves, structure = _tree.flatten(x)
    batches = [leaf for _, leaf in leaves]
    for leaf in batches:
        if not isinstance(leaf, NestedTensor):
            raise ArgumentError(
                f"nested.batch.{what} chooses among the samples of a batch, but got a "
                f"{type(leaf).__name__}, which has none"
            )
    if len({len(b) for b in batches}) > 1:
        counts = ", ".join(str(len(b)) for b in batches)
        raise ArgumentError(f"nested.batch.{what} of batches of {counts} samples")
    return _tree.unflatten(structure, [function(b) for b in batches])


def _numbers(given: Any) -> Any:
    """One number for each sample, as an array."""
    if not isinstance(given, NestedTensor):
        return given
    if given.ndim:
        raise ArgumentError(f"expected one number for each sample, but got samples of {given.dims}")
    return given.values


@public
def select(x: Any, keep: Any) -> Any:
    """Some samples of a batch, or its samples in another order.

    x: a batch, or a nest of batches, all of which come along. keep: a bool for each sample, or
    integers: which samples, in their order (in a compiled function they count from 0 and do not
    wrap; one out of range is a DataError). In a compiled function ``keep`` is computed for one sample
    like everything else, or is an array of integers; the result has samples of its own, and lengths of
    its own, so that values computed before and after can't be combined. Has no derivative.
    """
    if _any_traced(x, keep):
        return _samples.select(x, keep)
    chosen = _numbers(keep)
    return _each("select", x, lambda b: b[np.atleast_1d(chosen) if np.size(chosen) else []])


@public
def repeat(x: Any, repeats: Any, at_most: int | None = None) -> Any:
    """Each sample of a batch several times, copies behind each other.

    x: a batch, or a nest of batches. repeats: how often, one integer or one for each sample.
    at_most: in a compiled function, the most copies of a sample where ``repeats`` is computed; memory is
    planned with it, and more is a DataError. As np.repeat along the samples. Has no derivative.
    """
    if _any_traced(x, repeats):
        return _samples.repeat(x, repeats, at_most)
    counts = as_int64(_numbers(repeats), "numbers of copies")
    if counts.ndim > 1:
        raise ArgumentError("expected one number of copies for each sample")
    if counts.size:
        _samples.check_repeats(counts.min())
        if at_most is not None and counts.max() > at_most:
            raise ArgumentError(f"{counts.max()} copies of a sample, at_most={at_most}")

    def repeated(b: NestedTensor) -> NestedTensor:
        if counts.ndim and len(counts) != len(b):
            raise ArgumentError(f"{len(counts)} numbers of copies for {len(b)} samples")
        return b[np.repeat(np.arange(len(b)), counts)]

    return _each("repeat", x, repeated)


@public
def to_padded(x: Any, fill: Any = 0, sizes: Any = None) -> Any:
    """Every sample filled up to one size.

    sizes: an integer for each ragged axis, or one for all; by default the longest sample of the
    batch. A longer sample is an error. Of a batch: the array ``(B, sizes...)``. In a compiled function: one
    sample of it, whose sizes are the same in all samples; ``nested.arange(size) < n`` is its mask.
    """
    if is_traced(x):
        return _samples.to_padded(x, fill, sizes)
    if isinstance(x, NestedTensor):
        return x.to_padded(fill, sizes)
    if sizes is not None:
        raise ArgumentError("an array has no ragged axes that sizes= could be of")
    return np.asarray(x)


@public
def from_padded(x: Any, lengths: Any, ragged: Any = (0,)) -> Any:
    """The front of each sample: what was there before it was padded.

    Of an array ``(B, sizes...)``: the batch with these lengths, as nested.from_padded. In a compiled
    function: of one sample, the first ``lengths`` entries of the axes ``ragged``, an integer that
    may be computed, or one for each axis; a number beyond the axis is a DataError.
    """
    axes = (ragged,) if isinstance(ragged, int) else tuple(ragged)
    if _any_traced(x, lengths):
        return _samples.from_padded(x, lengths, axes)
    if has_batch((x, lengths)):
        return _front(x, lengths, axes)
    return _from_padded(x, lengths=lengths, ragged=axes)


def _front(x: Any, lengths: Any, ragged: Any) -> Any:
    return _samples.from_padded(x, lengths, ragged)


enable(globals(), [*_REDUCTIONS, "_front"])
