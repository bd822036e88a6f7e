# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced forms of functions that follow the order of an axis: running reductions."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _emit
from ._dtypes import as_dtype, is_bool, is_float
from ._errors import ShapeError, TraceError, at_user
from ._functions import broadcast_to, implements, reduction_dtype
from ._ir import Trace, Value, shape_text
from ._movement import concatenate
from ._tracer import Tracer, as_tracer, normalized, unsupported, value_of


def axis_of(name: str, x: Tracer, axis: Any) -> int:
    """``axis=`` as one axis; None stands for the only one."""
    if axis is None:
        if x.ndim == 1:
            return 0
        raise at_user(ShapeError(
            f"{name} of {shape_text(x.shape)} needs axis=: only arrays of one axis can do without"
        ))  # fmt: skip
    if x.ndim == 0:
        raise at_user(ShapeError(f"{name} needs an array with at least one axis, but got a scalar"))
    return normalized(axis, x.ndim)


# ---------------------------------------------------------------------------
# Running reductions
# ---------------------------------------------------------------------------


def _emit_accumulate(
    trace: Trace, kind: str, value: Value, axis: int, reverse: bool, exclusive: bool
) -> Value:
    value = trace.aligned(value)
    source = value.type
    words = f"dim {axis}" + (" reverse" if reverse else "") + (" exclusive" if exclusive else "")
    return trace.emit(
        lambda names, result: f"ragged.accumulate {kind} {names[0]} {words} : {source}",
        [value], value.dims, value.dtype, value.batched,
    )  # fmt: skip


def accumulate(
    kind: str, x: Any, axis: Any = None, dtype: Any = None, reverse: bool = False,
    exclusive: bool = False,
) -> Tracer:  # fmt: skip
    """sum, prod, max, min or logsumexp of what stands at and before each index."""
    name = {"logsumexp": "logcumsumexp"}.get(kind, f"cum{kind}")
    x = as_tracer(x)
    if dtype is not None:
        target = as_dtype(dtype)
    elif kind == "logsumexp":
        target = x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    else:
        target = reduction_dtype(kind, x.dtype)
    if kind in ("sum", "prod") and is_bool(target):
        raise at_user(TraceError(f"{name} needs a dtype of numbers, but got bool"))
    if kind == "logsumexp" and not is_float(target):
        raise at_user(TraceError(f"{name} needs a floating-point dtype, but got {target}"))
    k = axis_of(name, x, axis)
    value = _emit.cast(x._trace, value_of(x), target)
    return Tracer(
        x._trace, _emit_accumulate(x._trace, kind, value, k, bool(reverse), bool(exclusive))
    )


def accumulate_ufunc(ufunc: Any, inputs: Sequence[Any], kwargs: dict) -> Tracer:
    """``np.add.accumulate(x, axis=0)`` and the like."""
    kinds = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
             "logaddexp": "logsumexp"}  # fmt: skip
    kind = kinds.get(ufunc.__name__)
    known = {k: v for k, v in kwargs.items() if k in ("axis", "dtype")}
    if kind is None or any(v is not None for k, v in kwargs.items() if k not in known):
        raise unsupported(f"np.{ufunc.__name__}.accumulate with {', '.join(kwargs)}")
    # Other than cumsum, accumulate keeps the dtype.
    axis = known.pop("axis", 0)
    dtype = known.pop("dtype", None) or as_tracer(inputs[0]).dtype
    return accumulate(kind, inputs[0], axis, dtype)


def _cumulative(kind: str, *functions: Any, method: str = "") -> Callable:
    def traced(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Tracer:
        if out is not None:
            raise unsupported(f"np.cum{kind}(..., out=)")
        return accumulate(kind, a, axis, dtype)

    return implements(*functions, method=method)(traced)


_cumulative("sum", np.cumsum, method="cumsum")
_cumulative("prod", np.cumprod, method="cumprod")


@implements(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
    include_initial: bool = False,
) -> Tracer:  # fmt: skip
    if out is not None or include_initial:
        raise unsupported("np.cumulative_sum(..., out=, include_initial=)")
    return accumulate("sum", x, axis, dtype)


@implements(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None,
    include_initial: bool = False,
) -> Tracer:  # fmt: skip
    if out is not None or include_initial:
        raise unsupported("np.cumulative_prod(..., out=, include_initial=)")
    return accumulate("prod", x, axis, dtype)


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tracer:
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise at_user(TraceError(f"np.diff needs n of at least 0, but got {n!r}"))
    x = as_tracer(a)
    k = axis_of("diff", x, axis)
    before = (slice(None),) * k

    def end(part: Any) -> Any:
        part = as_tracer(part, x._trace)
        one = tuple(1 if j == k else d for j, d in enumerate(x.shape))
        return part if part.ndim else broadcast_to(part, one)

    if prepend is not None or append is not None:
        ends = [end(prepend)] if prepend is not None else []
        x = concatenate([*ends, x, *([end(append)] if append is not None else [])], k)
    for _ in range(n):
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = later != earlier if is_bool(x.dtype) else later - earlier
    return x
