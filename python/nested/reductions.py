# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More reductions, and softmax, with defined results for empty samples.

Like nested.sum and its kin they record on traced values and are NumPy on plain arrays.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np

from . import _functions, _reductions
from ._eager import enable
from ._errors import public
from ._tracer import is_traced
from .functions import empty_as_zero, max, min

__all__ = ["argmax", "argmin", "logsumexp", "count_nonzero", "ptp", "average", "vector_norm",
           "nansum", "nanprod", "nanmean", "nanmax", "nanmin", "softmax", "log_softmax",
           "softmin"]  # fmt: skip


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    given = range(rank) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(sorted(int(a) % rank for a in given))


def _plain_index(function: Callable, x: Any, axis: Any, keepdims: bool) -> Any:
    x = np.asarray(x)
    axes = _axes(axis, x.ndim)
    kept = [k for k in range(x.ndim) if k not in axes]
    shape = tuple(x.shape[k] for k in kept)
    count = int(np.prod([x.shape[k] for k in axes], dtype=np.int64))
    groups = x.transpose(*kept, *axes).reshape(*shape, count)
    result = function(groups, axis=-1) if count else np.full(shape, -1, np.int64)
    return np.expand_dims(result, axes) if keepdims else result


@public
def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the largest entry is, int64: the index along the axis, or over several axes (None:
    all) the index in their row-major order. Of equal entries the first; a NaN is the largest. Of
    nothing: -1."""
    if is_traced(x):
        return _functions.reduce("argmax", x, axis, keepdims=keepdims)
    return _plain_index(np.argmax, x, axis, keepdims)


@public
def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest entry is; see argmax."""
    if is_traced(x):
        return _functions.reduce("argmin", x, axis, keepdims=keepdims)
    return _plain_index(np.argmin, x, axis, keepdims)


@public
def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over axes (None: all), shifted by the largest entry so that nothing
    overflows. Of nothing: -inf. Integers are computed in float64."""
    if is_traced(x):
        return _functions.reduce("logsumexp", x, axis, keepdims=keepdims)
    x = np.asarray(x)
    x = x.astype(_functions.reduction_dtype("mean", x.dtype), copy=False)
    axes = _axes(axis, x.ndim)
    most = max(x, axis=axes, keepdims=True, empty="identity")
    shift = np.where(np.isfinite(most), most, 0).astype(x.dtype)
    with np.errstate(all="ignore"):
        total = np.log(np.sum(np.exp(x - shift), axis=axes, keepdims=True)) + shift
    return total if keepdims else np.squeeze(total, axes)


@public
def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many entries are not zero, over axes (None: all), int64. NaN is not zero."""
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)


@public
def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest entry less the smallest, over axes (None: all). Of nothing: 0."""
    if is_traced(x):
        return _reductions.ptp(x, axis, None, keepdims)
    return max(x, axis, keepdims) - min(x, axis, keepdims)


@public
def average(x: Any, axis: Any = None, weights: Any = None, keepdims: bool = False) -> Any:
    """The mean over axes (None: all), weighted if weights are given. weights: broadcast to x.
    Where they add up to 0, as over nothing: 0."""
    if is_traced(x) or is_traced(weights):
        return _reductions.average(x, axis, weights, keepdims=keepdims)
    x = np.asarray(x)
    if weights is None:
        return empty_as_zero("mean", np.mean, x, axis, keepdims)
    total = np.sum(x * weights, axis=axis, keepdims=keepdims)
    mass = np.sum(np.ones_like(x, total.dtype) * weights, axis=axis, keepdims=keepdims)
    with np.errstate(all="ignore"):
        return np.where(mass == 0, 0, total / mass)[()]


@public
def vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm over axes (None: all), which count as one: ``sum(abs(x) ** ord) ** (1 / ord)``;
    ord may be inf, -inf and 0 (the number of entries that are not zero). Of nothing: 0."""
    if is_traced(x):
        return _reductions.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    x = np.asarray(x)
    x = x.astype(_functions.reduction_dtype("mean", x.dtype), copy=False)
    if abs(ord) == np.inf:
        return (max if ord > 0 else min)(np.abs(x), axis, keepdims)
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


@public
def nansum(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """As sum, without NaN."""
    return np.nansum(x, axis=axis, keepdims=keepdims)


@public
def nanprod(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """As prod, without NaN."""
    return np.nanprod(x, axis=axis, keepdims=keepdims)


def _without_nan(function: Callable, kind: str, x: Any, axis: Any, keepdims: bool) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return empty_as_zero(kind, function, np.asarray(x), axis, keepdims)


@public
def nanmean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """As mean, without NaN. Of nothing but NaN: NaN; of nothing: 0."""
    if is_traced(x):
        return _reductions.nanmean(x, axis, None, None, keepdims)
    return _without_nan(np.nanmean, "mean", x, axis, keepdims)


@public
def nanmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """As max, without NaN. Of nothing but NaN: NaN; of nothing: 0."""
    if is_traced(x):
        return _reductions.nanmax(x, axis, None, keepdims)
    return _without_nan(np.nanmax, "max", x, axis, keepdims)


@public
def nanmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """As min, without NaN. Of nothing but NaN: NaN; of nothing: 0."""
    if is_traced(x):
        return _reductions.nanmin(x, axis, None, keepdims)
    return _without_nan(np.nanmin, "min", x, axis, keepdims)


def _shifted(x: Any, axis: Any) -> tuple[Any, Any]:
    x = np.asarray(x)
    x = x.astype(_functions.reduction_dtype("mean", x.dtype), copy=False)
    axes = _axes(axis, x.ndim)
    most = max(x, axis=axes, keepdims=True, empty="identity")
    shifted = x - np.where(most == -np.inf, 0, most).astype(x.dtype)
    return shifted, np.sum(np.exp(shifted), axis=axes, keepdims=True)


@public
def softmax(x: Any, axis: Any = -1) -> Any:
    """``exp(x) / sum(exp(x))`` over one axis or several, shifted by the largest entry. Where every
    entry is -inf (masked out): 0. Integers are computed in float64."""
    if is_traced(x):
        return _functions.softmax(x, axis)
    with np.errstate(all="ignore"):
        shifted, total = _shifted(x, axis)
        return np.where(total == 0, 0, np.exp(shifted) / total).astype(shifted.dtype)


@public
def log_softmax(x: Any, axis: Any = -1) -> Any:
    """The logarithm of softmax; -inf where every entry is -inf."""
    if is_traced(x):
        return _functions.softmax(x, axis, log=True)
    with np.errstate(all="ignore"):
        shifted, total = _shifted(x, axis)
        return shifted - np.log(np.where(total == 0, 1, total)).astype(shifted.dtype)


@public
def softmin(x: Any, axis: Any = -1) -> Any:
    """softmax of -x."""
    return softmax(-x, axis)


enable(globals(), __all__)
