# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that follow the order of an axis: running reductions and differences.

On traced values they record; on plain arrays they compute the same with NumPy.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _functions, _ordered
from ._dtypes import as_dtype, is_float
from ._eager import enable
from ._errors import ShapeError, public
from ._tracer import is_traced

diff = np.diff

__all__ = ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "cumulative_sum",
           "cumulative_prod", "diff"]  # fmt: skip

_UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
           "logsumexp": np.logaddexp}  # fmt: skip


def _identity(kind: str, dtype: np.dtype) -> Any:
    if kind in ("sum", "prod"):
        return int(kind == "prod")
    if is_float(dtype):
        return np.inf if kind == "min" else -np.inf
    if dtype == np.bool_:
        return kind == "min"
    info = np.iinfo(dtype)
    return info.max if kind == "min" else info.min


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
        first = np.full_like(
            np.take(y, [0], axis) if y.shape[axis] else y, _identity(kind, x.dtype)
        )
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

enable(globals(), __all__)
