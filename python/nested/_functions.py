# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's array functions on traced values (``__array_function__``)."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _dims, _dtypes, _emit
from ._dims import Dim, Extent
from ._dtypes import as_dtype, is_float
from ._emit import Scalar
from ._errors import ShapeError, TraceError, at_user
from ._ir import shape_text
from ._tracer import (
    Tracer,
    apply,
    as_tracer,
    is_traced,
    lift,
    normalized,
    trace_of,
    unsupported,
    value_of,
)

FUNCTIONS: dict[Any, Callable] = {}
METHODS: dict[str, Callable] = {}
_HINTS = {
    "linspace": "use nested.arange",
    "bincount": "its result has a size from data; use nested.bincount with a length",
    "unique": "use nested.unique_all and the like",
}


def implements(*functions: Any, method: str = "") -> Callable:
    """Registers the traced form of NumPy functions, and of a method of arrays."""

    def register(function: Callable) -> Callable:
        for f in functions:
            FUNCTIONS[f] = function
        if method:
            METHODS[method] = function
        return function

    return register


def dispatch_function(function: Any, args: Sequence[Any], kwargs: dict) -> Any:
    """``__array_function__`` of Tracer."""
    name = getattr(function, "__name__", str(function))
    found = FUNCTIONS.get(function)
    if found is None:
        module = getattr(function, "__module__", "numpy").replace("numpy", "np", 1)
        raise unsupported(f"{module}.{name}", _HINTS.get(name, ""))
    try:
        return found(*args, **kwargs)
    except TypeError as error:
        if isinstance(error, TraceError) or "argument" not in str(error):
            raise
        raise at_user(TraceError(
            f"np.{name}: {str(error).split('() ', 1)[-1]} (on traced values)"
        )) from None  # fmt: skip


def method(name: str) -> Callable | None:
    """The traced form of a method of arrays, ``x.mean(axis=1)``."""
    return METHODS.get(name)


# ---------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------


def axes_of(axis: Any, rank: int) -> list[int]:
    """``axis=`` as a sorted list of axes from 0."""
    if axis is None:
        return list(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [normalized(a, rank) for a in given]
    if len(set(axes)) != len(axes):
        raise at_user(ShapeError(f"duplicate axes in axis={axis}"))
    return sorted(axes)


def reduction_dtype(kind: str, dtype: np.dtype) -> np.dtype:
    """NumPy's dtype of a reduction, which is computed in it."""
    if kind in ("mean", "logsumexp") and not is_float(dtype):
        return np.dtype(np.float64)
    if kind in ("any", "all"):
        return np.dtype(bool)
    if kind in ("sum", "prod") and not is_float(dtype):
        # Of uint8 too, where NumPy has uint64, which is no dtype of ours.
        return np.dtype(np.int64)
    return dtype


def reduce(
    kind: str, x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False,
    batch: bool = False, empty: str = "zero",
) -> Tracer:  # fmt: skip
    """A reduction over axes, with ``batch`` over the samples too."""
    x = as_tracer(x)
    trace, value = x._trace, value_of(x)
    axes = axes_of(axis, x.ndim)
    if empty not in ("zero", "identity"):
        raise at_user(TraceError(f"empty must be 'zero' or 'identity', but got {empty!r}"))
    target = as_dtype(dtype) if dtype is not None else reduction_dtype(kind, value.dtype)
    if not any(a.value.batched for a in trace.args):
        batch = False  # Plain arrays alone: a batch of one.
    if batch and not value.batched:
        raise at_user(TraceError(
            f"nested.batch.{kind}: {shape_text(x.shape)} is shared, it has no samples"
        ))  # fmt: skip
    result = _emit.reduce(trace, kind, _emit.cast(trace, value, target), axes, batch, empty)
    if keepdims and axes:
        kept = [k for k in range(x.ndim) if k not in axes]
        dims = [1 if k in axes else value.dims[k] for k in range(x.ndim)]
        result = _emit.broadcast_axes(trace, result, kept, dims, result.batched)
    return Tracer(trace, result)


def _reduction(kind: str, *functions: Any) -> None:
    def traced(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
    ) -> Tracer:
        if out is not None:
            raise unsupported(f"np.{kind}(..., out=)")
        return reduce(kind, a, axis, dtype, keepdims is True)

    def plain(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Tracer:
        return traced(a, axis, None, out, keepdims)

    implements(*functions, method=kind)(traced if kind in ("sum", "mean", "prod") else plain)


_reduction("sum", np.sum)
_reduction("mean", np.mean)
_reduction("prod", np.prod)
_reduction("max", np.max, np.amax)
_reduction("min", np.min, np.amin)
_reduction("any", np.any)
_reduction("all", np.all)
_reduction("argmax", np.argmax)
_reduction("argmin", np.argmin)


def _centre(x: Tracer, axis: Any) -> Tracer:
    """x less its mean, which is taken away in a wider dtype, or twice, so that no rounding of it is
    left: equal entries become 0."""
    over_rows = any(isinstance(x.shape[k], Dim) for k in axes_of(axis, x.ndim))
    wide = np.dtype(np.float64) if over_rows and x.dtype == np.float32 else x.dtype
    centred = x.astype(wide)
    for _ in range(2 if wide == x.dtype else 1):
        centred = centred - reduce("mean", centred, axis, keepdims=True)
    return centred.astype(x.dtype)


@implements(np.var, method="var")
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
    keepdims: Any = False, *, mean: Any = None, correction: Any = None,
) -> Tracer:  # fmt: skip
    if out is not None or mean is not None:
        raise unsupported("np.var(..., out=, mean=)")
    ddof = ddof if correction is None else correction
    x = as_tracer(a)
    x = x.astype(dtype or reduction_dtype("mean", x.dtype))
    centred = _centre(x, axis)
    if ddof == 0:
        return reduce("mean", centred * centred, axis, keepdims=keepdims is True)
    total = reduce("sum", centred * centred, axis, keepdims=keepdims is True)
    count: Any = 1
    for k in axes_of(axis, x.ndim):
        count = count * x.shape[k]
    # R5: of nothing 0; of fewer than ddof elements NaN or infinity, as in NumPy.
    freedom = apply(np.maximum, [as_tracer(count, x._trace).astype(x.dtype) - ddof, 0])
    return where(as_tracer(count, x._trace) == 0, 0.0, total / freedom)


@implements(np.std, method="std")
def std(a: Any, *args: Any, **kwargs: Any) -> Tracer:
    return np.sqrt(var(a, *args, **kwargs))


def reduce_ufunc(ufunc: Any, inputs: Sequence[Any], kwargs: dict) -> Tracer:
    """``np.add.reduce(x, axis=0)`` and the like."""
    kinds = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
             "logical_and": "all", "logical_or": "any", "logaddexp": "logsumexp"}  # fmt: skip
    kind = kinds.get(ufunc.__name__)
    known = {k: v for k, v in kwargs.items() if k in ("axis", "dtype", "keepdims")}
    if kind is None or any(v is not None for k, v in kwargs.items() if k not in known):
        raise unsupported(f"np.{ufunc.__name__}.reduce with {', '.join(kwargs)}")
    axis = known.pop("axis", 0)
    return reduce(kind, inputs[0], axis, **known)


# ---------------------------------------------------------------------------
# Products
# ---------------------------------------------------------------------------


def linear(x: Any, weight: Any, bias: Any = None) -> Tracer:
    """x @ weight + bias as one op."""
    trace = trace_of([x, weight, bias])
    x, w = as_tracer(x, trace), as_tracer(weight, trace)
    if w.ndim != 2 or w._value.batched or x.ndim == 0 or isinstance(x.shape[-1], Dim):
        raise at_user(ShapeError(
            f"linear of {shape_text(x.shape)} and {shape_text(w.shape)}: expected a static last axis "
            "and a shared matrix"
        ))  # fmt: skip
    b = None if bias is None else value_of(as_tracer(bias, trace))
    return Tracer(trace, _emit.linear(trace, value_of(x), value_of(w), b, "@"))


def softmax(x: Any, axis: Any = -1, log: bool = False) -> Tracer:
    x = as_tracer(x)
    value = _emit.cast(x._trace, value_of(x), reduction_dtype("mean", x.dtype))
    axes = axes_of(axis, x.ndim)
    return Tracer(x._trace, _emit.softmax(x._trace, value, axes, log) if axes else value)


def normalize(
    kind: str, x: Any, scale: Any = None, offset: Any = None, eps: float = 1e-5, groups: int = 1
) -> Tracer:
    """layer, rms, group or instance normalisation."""
    trace = trace_of([x, scale, offset])
    x = as_tracer(x, trace)
    if not is_float(x.dtype):
        raise at_user(TraceError(f"{kind}_norm of {x.dtype}: expected a floating-point dtype"))
    parts = [None if p is None else value_of(as_tracer(p, trace)) for p in (scale, offset)]
    return Tracer(trace, _emit.normalize(trace, kind, value_of(x), *parts, float(eps), groups))


# ---------------------------------------------------------------------------
# Selection and movement
# ---------------------------------------------------------------------------


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Tracer:
    if x is None or y is None:
        raise unsupported("np.where with one argument", "its result has a size from data; x[mask]")
    trace = trace_of([condition, x, y])
    operands = [lift(trace, o) for o in (condition, x, y)]
    strong = [o.dtype for o, weak in operands[1:] if weak is None]
    samples = {"int": 0, "float": 0.0}
    weak = [samples[w] for _, w in operands[1:] if w]
    dtype = _dtypes.result_type(*strong, *weak)
    truth = np.dtype(bool)
    values = [o for o, _ in operands]
    return Tracer(trace, _emit.elementwise(
        trace, "and, in np.where,", values, [truth, dtype, dtype], dtype,
        lambda b, c, s, t: b.select(c, s, t, dtype)))  # fmt: skip


@implements(np.clip, method="clip")
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None,
    max: Any = None,
) -> Any:  # fmt: skip
    low = a_min if a_min is not None else min
    high = a_max if a_max is not None else max
    result = a
    if low is not None:
        result = apply(np.maximum, [result, low])
    if high is not None:
        result = apply(np.minimum, [result, high])
    return result


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Tracer:
    return as_tracer(a).transpose(axes)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Tracer:
    return as_tracer(a).swapaxes(axis1, axis2)


@implements(np.matrix_transpose)
def matrix_transpose(x: Any) -> Tracer:
    return as_tracer(x).mT


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Tracer:
    x = as_tracer(a)
    sources, targets = (
        [normalized(k, x.ndim) for k in (s if isinstance(s, (tuple, list)) else [s])]
        for s in (source, destination)
    )
    order = [k for k in range(x.ndim) if k not in sources]
    for target, origin in sorted(zip(targets, sources)):
        order.insert(target, origin)
    return x.transpose(order)


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Tracer:
    x = as_tracer(a)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = x.ndim + len(given)
    new = [normalized(k, rank) for k in given]
    return x[tuple(None if k in new else slice(None) for k in range(rank))]


@implements(np.squeeze, method="squeeze")
def squeeze(a: Any, axis: Any = None) -> Tracer:
    x = as_tracer(a)
    ones = [k for k, d in enumerate(x.shape) if _dims.same(d, 1)]
    chosen = ones if axis is None else axes_of(axis, x.ndim)
    if any(k not in ones for k in chosen):
        raise at_user(ShapeError(f"squeeze of {shape_text(x.shape)}: axis {axis} is not of size 1"))
    return x[tuple(0 if k in chosen else slice(None) for k in range(x.ndim))]


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Tracer:
    x = as_tracer(array)
    dims = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    batched = x._value.batched or any(isinstance(d, Dim) for d in dims)
    if len(dims) < x.ndim:
        raise at_user(ShapeError(f"{shape_text(x.shape)} can't become {shape_text(dims)}"))
    for have, want in zip(x.shape, dims[len(dims) - x.ndim :]):
        if not _dims.same(have, 1) and not x._trace.unify(have, want):
            raise at_user(ShapeError(f"{shape_text(x.shape)} can't become {shape_text(dims)}"))
    return x._view(_emit.broadcast_to(x._trace, value_of(x), dims, batched))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tracer:
    """A constant of a shape that has a Dim."""
    dims: tuple[Extent, ...] = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    trace = trace_of([*dims, fill_value])
    if isinstance(fill_value, Tracer):
        filled = broadcast_to(fill_value, dims)
        return filled if dtype is None else filled.astype(dtype)
    scalar, _ = lift(trace, fill_value)
    if not isinstance(scalar, Scalar):
        raise at_user(TraceError("full needs a number to fill with"))
    target = as_dtype(dtype) if dtype is not None else scalar.dtype
    return Tracer(trace, _emit.full(trace, dims, _emit.fitting(scalar, target), target))


@implements(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Tracer:
    x = as_tracer(a)
    value = np.asarray(fill_value)[()] if not is_traced(fill_value) else fill_value
    batched = x._value.batched
    filled = as_tracer(full(x.shape, value, dtype or x.dtype) if any(
        isinstance(d, Dim) for d in x.shape
    ) else Tracer(x._trace, _emit.full(x._trace, x.shape, value, as_dtype(dtype or x.dtype))))  # fmt: skip
    if batched and not filled._value.batched:
        filled = Tracer(x._trace, _emit.broadcast_to(x._trace, filled._value, x.shape, True))
    return filled


@implements(np.zeros_like)
def zeros_like(a: Any, dtype: Any = None) -> Tracer:
    return full_like(a, 0, dtype)


@implements(np.ones_like)
def ones_like(a: Any, dtype: Any = None) -> Tracer:
    return full_like(a, 1, dtype)


@implements(np.shape)
def shape(a: Any) -> tuple:
    return as_tracer(a).shape


@implements(np.ndim)
def ndim(a: Any) -> int:
    return as_tracer(a).ndim


@implements(np.size)
def size(a: Any, axis: Any = None) -> Extent:
    x = as_tracer(a)
    return x.size if axis is None else x.shape[normalized(axis, x.ndim)]


@implements(np.astype)
def astype(x: Any, dtype: Any, copy: bool = True) -> Tracer:
    return as_tracer(x).astype(dtype)


@implements(np.copy)
def copy(a: Any) -> Tracer:
    return as_tracer(a).copy()


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return _dtypes.result_type(*arrays_and_dtypes)


def arange(count: Any, dtype: Any = None) -> Tracer:
    """0, 1, ... below a Dim."""
    trace = trace_of([count])
    result = Tracer(trace, _emit.iota(trace, (count,), 0))
    return result if dtype is None else result.astype(dtype)
