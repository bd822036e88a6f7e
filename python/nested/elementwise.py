# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise functions that NumPy does not have. Integers are computed in floating point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _elementwise, _reductions  # noqa: F401
from ._dtypes import is_float
from ._eager import enable
from ._errors import public
from ._tracer import float_function, is_traced

__all__ = ["erfc", "erfinv", "logit", "lerp", "addcmul", "addcdiv", "frac", "xlogy"]


def _plain(x: Any) -> np.ndarray:
    x = np.asarray(x)
    return x if is_float(x.dtype) else x.astype(np.result_type(x.dtype, np.float32))


_erfc = np.frompyfunc(math.erfc, 1, 1)


@public
def erfc(x: Any) -> Any:
    """``1 - erf(x)``, elementwise, without its cancellation."""
    if is_traced(x):
        return float_function("erfc", x)
    x = _plain(x)
    return np.asarray(_erfc(x.astype(np.float64)), np.float64).astype(x.dtype)


def _inverse(y: float) -> float:
    """By bisection, which is slow and right."""
    if not -1 < y < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    low, high, rest = 0.0, 6.0, 1 - abs(y)
    for _ in range(1100):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        below = math.erf(middle) < abs(y) if abs(y) < 0.5 else math.erfc(middle) > rest
        low, high = (middle, high) if below else (low, middle)
    return math.copysign(low, y)


_erfinv = np.frompyfunc(_inverse, 1, 1)


@public
def erfinv(x: Any) -> Any:
    """The y with ``erf(y) == x``, elementwise; infinite at -1 and 1, NaN beyond."""
    if is_traced(x):
        return float_function("erfinv", x)
    x = _plain(x)
    return np.asarray(_erfinv(x.astype(np.float64)), np.float64).astype(x.dtype)


@public
def logit(x: Any, eps: float | None = None) -> Any:
    """``log(x / (1 - x))``; with eps of x clipped to ``[eps, 1 - eps]``."""
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x) - np.log1p(-x)


@public
def lerp(start: Any, end: Any, weight: Any) -> Any:
    """``start + weight * (end - start)``"""
    return start + weight * (end - start)


@public
def addcmul(x: Any, a: Any, b: Any, value: float = 1) -> Any:
    """``x + value * a * b``"""
    return x + value * a * b


@public
def addcdiv(x: Any, a: Any, b: Any, value: float = 1) -> Any:
    """``x + value * a / b``"""
    return x + value * a / b


@public
def frac(x: Any) -> Any:
    """``x - trunc(x)``"""
    return x - np.trunc(x)


@public
def xlogy(x: Any, y: Any) -> Any:
    """``x * log(y)``, and 0 where x is 0 and y is not NaN."""
    zero = np.logical_and(x == 0, np.logical_not(np.isnan(y)))
    return np.where(zero, 0.0, x * np.log(np.where(zero, 1.0, y)))


enable(globals(), __all__)
