# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's elementwise functions that are not ufuncs, on traced values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._dtypes import bfloat16, is_float
from ._errors import TraceError, at_user
from ._functions import implements, where
from ._tracer import Tracer, apply, as_tracer, is_traced, unsupported


@implements(np.round, np.around, method="round")
def round_(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Ties go to even. With decimals as NumPy does it: scaled, rounded, and scaled back."""
    x = as_tracer(a)
    if out is not None:
        raise unsupported("np.round(..., out=)")
    if not is_float(x.dtype):
        if decimals < 0:
            raise unsupported(f"np.round of {x.dtype} to {decimals} decimals")
        return x
    if decimals == 0:
        return apply(np.rint, [x])
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return apply(np.rint, [x * scale]) / scale
    return apply(np.rint, [x / scale]) * scale


@implements(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    return apply(np.trunc, [x])


def largest(dtype: np.dtype) -> float:
    """The largest finite number of a floating-point dtype."""
    if dtype == bfloat16:
        return float.fromhex("0x1.fep127")
    return float(np.finfo(dtype).max)


@implements(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Tracer:
    x = as_tracer(x)
    if not is_float(x.dtype):
        return x
    high = largest(x.dtype) if posinf is None else posinf
    low = -largest(x.dtype) if neginf is None else neginf
    result = where(apply(np.isnan, [x]), nan, x)
    result = where(x == math.inf, high, result)
    return where(x == -math.inf, low, result)


@implements(np.isclose)
def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tracer:
    distance = apply(np.absolute, [apply(np.subtract, [a, b])])
    limit = apply(np.absolute, [b]) * rtol + atol
    finite = apply(np.isfinite, [b])
    near = apply(np.logical_and, [apply(np.less_equal, [distance, limit]), finite])
    near = apply(np.logical_or, [near, apply(np.equal, [a, b])])
    if equal_nan:
        both = apply(np.logical_and, [apply(np.isnan, [a]), apply(np.isnan, [b])])
        near = apply(np.logical_or, [near, both])
    return near


@implements(np.allclose)
def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tracer:
    return isclose(a, b, rtol, atol, equal_nan).all()


@implements(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *,
    kind: Any = None,
) -> Tracer:  # fmt: skip
    """Compared with each of the elements, which are few and known while tracing."""
    x = as_tracer(element)
    if is_traced(test_elements):
        raise at_user(TraceError(
            "np.isin: the elements to look for must be known while tracing; compare with "
            "x[:, None] == y[None, :] and take np.any over the last axis"
        ))  # fmt: skip
    found = apply(np.not_equal, [x, x]) & False
    for number in np.asarray(test_elements).ravel().tolist():
        found = apply(np.logical_or, [found, apply(np.equal, [x, number])])
    return apply(np.logical_not, [found]) if invert else found


@implements(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Tracer:
    return apply(np.equal, [x, math.inf])


@implements(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Tracer:
    return apply(np.equal, [x, -math.inf])


@implements(np.sinc)
def sinc(x: Any) -> Tracer:
    x = as_tracer(x)
    y = x * math.pi
    return where(x == 0, 1.0, apply(np.sin, [y]) / where(x == 0, 1.0, y))
