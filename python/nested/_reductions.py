# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's functions that are made of reductions, on traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dtypes import is_float
from ._errors import TraceError, at_user
from ._functions import axes_of, implements, ones_like, reduce, reduction_dtype, where
from ._tracer import Tracer, apply, as_tracer, unsupported


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Tracer:
    return reduce("sum", as_tracer(a).astype(bool), axis, np.int64, keepdims)


@implements(np.ptp, method="ptp")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tracer:
    if out is not None:
        raise unsupported("np.ptp(..., out=)")
    keep = keepdims is True
    return apply(np.subtract, [reduce("max", a, axis, keepdims=keep),
                               reduce("min", a, axis, keepdims=keep)])  # fmt: skip


@implements(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Tracer:
    if returned:
        raise unsupported("np.average(..., returned=True)")
    if weights is None:
        return reduce("mean", a, axis, keepdims=keepdims is True)
    x, w = as_tracer(a), weights
    total = reduce("sum", apply(np.multiply, [x, w]), axis, keepdims=keepdims is True)
    ones = ones_like(x, None if is_float(x.dtype) else np.float64)
    mass = reduce("sum", apply(np.multiply, [ones, w]), axis, keepdims=keepdims is True)
    # R5: of nothing 0.
    return where(mass == 0, 0.0, total / mass)


def _without_nan(x: Tracer, instead: float) -> Tracer:
    return where(apply(np.isnan, [x]), instead, x) if is_float(x.dtype) else x


@implements(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
) -> Tracer:
    return reduce("sum", _without_nan(as_tracer(a), 0.0), axis, dtype, keepdims is True)


@implements(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
) -> Tracer:
    return reduce("prod", _without_nan(as_tracer(a), 1.0), axis, dtype, keepdims is True)


def _count_numbers(x: Tracer, axis: Any, keepdims: bool) -> Tracer:
    return reduce("sum", ~apply(np.isnan, [x]), axis, np.int64, keepdims)


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
) -> Tracer:
    x = as_tracer(a)
    if not is_float(x.dtype):
        return reduce("mean", x, axis, dtype, keepdims is True)
    keep = keepdims is True
    count = _count_numbers(x, axis, keep)
    total = nansum(x, axis, dtype, None, keep)
    # Of nothing but NaN: NaN, as in NumPy; R5: of nothing 0.
    mean = total / count.astype(total.dtype)
    return where(_is_empty(x, axis), 0.0, mean)


def _is_empty(x: Tracer, axis: Any) -> Any:
    count: Any = 1
    for k in axes_of(axis, x.ndim):
        count = count * x.shape[k]
    return as_tracer(count, x._trace) == 0


def _nan_extremum(kind: str, a: Any, axis: Any, keepdims: bool) -> Tracer:
    x = as_tracer(a)
    if not is_float(x.dtype):
        return reduce(kind, x, axis, keepdims=keepdims)
    found = _without_nan(x, -np.inf if kind == "max" else np.inf)
    result = reduce(kind, found, axis, keepdims=keepdims)
    only_nan = reduce("all", apply(np.isnan, [x]), axis, keepdims=keepdims)
    only_nan = apply(np.logical_and, [only_nan, apply(np.logical_not, [_is_empty(x, axis)])])
    return where(only_nan, np.nan, result)


@implements(np.nanmax)
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tracer:
    return _nan_extremum("max", a, axis, keepdims is True)


@implements(np.nanmin)
def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tracer:
    return _nan_extremum("min", a, axis, keepdims is True)


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tracer:
    x = as_tracer(x)
    x = x.astype(reduction_dtype("mean", x.dtype))
    size = apply(np.absolute, [x])
    if ord == np.inf:
        return reduce("max", size, axis, keepdims=keepdims)
    if ord == -np.inf:
        return reduce("min", size, axis, keepdims=keepdims)
    if ord == 0:
        return count_nonzero(x, axis, keepdims=keepdims).astype(x.dtype)
    if ord == 1:
        return reduce("sum", size, axis, keepdims=keepdims)
    if ord == 2:
        return apply(np.sqrt, [reduce("sum", x * x, axis, keepdims=keepdims)])
    if isinstance(ord, (int, float)):
        return reduce("sum", size**ord, axis, keepdims=keepdims) ** (1 / ord)
    raise at_user(TraceError(f"vector_norm: ord must be a number, but got {ord!r}"))


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tracer:
    x = as_tracer(x)
    axes = axes_of(axis, x.ndim)
    if len(axes) == 1 or (ord is None and (axis is None or len(axes) == 2)):
        return vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) == 2 and ord == "fro":
        return vector_norm(x, axis=tuple(axes), keepdims=keepdims)
    raise unsupported(
        f"np.linalg.norm of {len(axes)} axes with ord={ord!r}", "use nested.vector_norm"
    )
