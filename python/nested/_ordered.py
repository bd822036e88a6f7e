# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Traced forms of functions that follow the order of an axis: running reductions, sorting, searching,
scattering."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _dims, _emit
from ._dims import Dim
from ._dtypes import as_dtype, is_bool, is_float, is_int, literal, name_of, result_type
from ._errors import ShapeError, TraceError, at_user
from ._functions import broadcast_to, full_like, implements, reduce, reduction_dtype, where
from ._ir import Trace, Value, shape_text
from ._movement import concatenate
from ._tracer import Tracer, as_tracer, normalized, trace_of, unsupported, value_of


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


def identity(kind: str, dtype: np.dtype) -> Any:
    """What a reduction of nothing starts from."""
    if kind in ("sum", "prod"):
        return int(kind == "prod")
    if is_float(dtype):
        return np.inf if kind == "min" else -np.inf
    if is_bool(dtype):
        return kind == "min"
    info = np.iinfo(dtype)
    return info.max if kind == "min" else info.min


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


# ---------------------------------------------------------------------------
# Sorting and searching
# ---------------------------------------------------------------------------


def _emit_sort(trace: Trace, value: Value, axis: int, descending: bool) -> tuple[Value, Value]:
    """The sorted entries, and where they were: one op for both."""
    value = trace.aligned(value)
    key = id(trace.ops), id(value), axis, descending
    known = trace.sorts.get(key)
    if known is not None:
        return known
    indices = Value(value.dims, np.dtype(np.int64), value.batch)
    words = f"dim {axis}" + (" descending" if descending else "")
    types = f"{value.type} -> {value.type}, {indices.type}"
    sorted_, places = trace.emit_like(
        lambda names, result: f"ragged.sort {names[0]} {words} : {types}", [value], [value, indices]
    )
    trace.sorts[key] = sorted_, places
    return sorted_, places


def sort_pair(name: str, x: Any, axis: Any, descending: bool) -> tuple[Tracer, Tracer]:
    x = as_tracer(x)
    trace = x._trace
    k = axis_of(name, x, axis)
    sorted_, places = _emit_sort(trace, value_of(x), k, bool(descending))
    return Tracer(trace, sorted_), Tracer(trace, places)


def _stable(name: str, kind: Any, order: Any) -> None:
    if order is not None:
        raise unsupported(f"np.{name}(..., order=)")
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise at_user(TraceError(f"np.{name} has no kind {kind!r}"))


@implements(np.sort)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tracer:
    _stable("sort", kind, order)
    return sort_pair("sort", a, axis, False)[0]


@implements(np.argsort, method="argsort")
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Tracer:
    _stable("argsort", kind, order)
    return sort_pair("argsort", a, axis, False)[1]


def topk(x: Any, k: Any, axis: Any, largest: bool) -> tuple[Tracer, Tracer]:
    x = as_tracer(x)
    at = axis_of("topk", x, axis)
    if isinstance(k, bool) or not (isinstance(k, (int, np.integer)) or isinstance(k, Dim)):
        raise at_user(TraceError(f"topk needs an integer k, but got {k!r}"))
    if isinstance(k, (int, np.integer)) and k < 0:
        raise at_user(TraceError(f"topk needs k of at least 0, but got {k}"))
    size = _dims.minimum(x.shape[at], k)
    return tuple(
        Tracer(x._trace, _emit.slice_axis(x._trace, value_of(part), at, 0, size))
        for part in sort_pair("topk", x, at, largest)
    )  # type: ignore[return-value]


@implements(np.searchsorted, method="searchsorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tracer:
    if sorter is not None:
        raise unsupported("np.searchsorted(..., sorter=)", "sort the list first")
    if side not in ("left", "right"):
        raise at_user(TraceError(f"np.searchsorted has side 'left' or 'right', but got {side!r}"))
    trace = trace_of([a, v])
    x, y = as_tracer(a, trace), as_tracer(v, trace)
    if x.ndim != 1:
        raise at_user(
            ShapeError(f"np.searchsorted needs a list of one axis, but got {shape_text(x.shape)}")
        )
    dtype = np.result_type(x.dtype, y.dtype)
    values = trace.aligned(_emit.cast(trace, value_of(y), dtype))
    given = trace.aligned(_emit.cast(trace, value_of(x), dtype))
    if given.batched and not values.batched:
        values = _emit.broadcast_to(trace, values, values.dims, True)
    indices = Value(values.dims, np.dtype(np.int64), values.batch)
    types = f"{given.type}, {values.type} -> {indices.type}"
    words = " right" if side == "right" else ""
    (found,) = trace.emit_like(
        lambda names, result: f"ragged.searchsorted {names[0]}, {names[1]}{words} : {types}",
        [given, values], [indices],
    )  # fmt: skip
    return Tracer(trace, found)


def _changes(x: Tracer) -> Tracer:
    """Where an entry differs from the one before it; of NaN each does."""
    trace, value = x._trace, x._trace.aligned(value_of(x))
    truth = Value(value.dims, np.dtype(bool), value.batch)
    dtype = name_of(value.dtype)
    predicate = "cmpf une" if is_float(value.dtype) else "cmpi ne"
    zero = literal(0, value.dtype) + ("" if is_bool(value.dtype) else f" : {dtype}")
    text = (
        "ragged.scan ins({0} : {1}) dim 0 init [{2}, true] {{\n"
        "^bb0(%x: {3} @loc, %last: {3} @loc, %first: i1 @loc):\n"
        "  %no = arith.constant false @loc\n"
        "  %differs = arith.{4}, %x, %last : {3} @loc\n"
        "  %new = arith.ori %differs, %first : i1 @loc\n"
        "  ragged.yield %x, %no, %new : {3}, i1, i1 @loc\n"
        "}} -> {5}"
    )
    (changes,) = trace.emit_like(
        lambda names, result: text.format(names[0], value.type, zero, dtype, predicate, truth.type),
        [value], [truth],
    )  # fmt: skip
    return Tracer(trace, changes)


def _one_axis(name: str, x: Any) -> Tracer:
    x = as_tracer(x)
    if x.ndim != 1 or not x._value.batched:
        raise at_user(ShapeError(f"{name} of {shape_text(x.shape)}: expected one axis, of a batch"))
    return x


def unique_consecutive(x: Any) -> Tracer:
    x = _one_axis("unique_consecutive", x)
    return x[_changes(x)]


def unique_all(name: str, x: Any) -> tuple[Tracer, Tracer, Tracer, Tracer]:
    """Values in rising order, where each is first, the value's number of each entry, counts."""
    x = _one_axis(name, x)
    ordered, places = sort_pair(name, x, 0, False)
    changes = _changes(ordered)
    values = ordered[changes]
    numbers = accumulate("sum", changes, 0) - 1
    counts = bincount(numbers, values.shape[0])
    none = _filled(x._trace, values.shape, np.iinfo(np.int64).max, np.dtype(np.int64))
    first = scatter(none, numbers, places, "min")
    inverse = scatter(full_like(places, 0), places, numbers, "set")
    return values, first, inverse, counts


def _entry(sorted_: Tracer, axis: int, place: Any) -> Tracer:
    """The entry at a place along an axis, 0 where there is none."""
    trace = sorted_._trace
    at = Tracer(trace, _emit.iota(trace, sorted_.shape, axis))
    zero = np.zeros((), sorted_.dtype)[()]
    return reduce("sum", where(at == place, sorted_, zero), axis, dtype=sorted_.dtype)


def kthvalue(x: Any, k: Any, axis: Any) -> Tracer:
    x = as_tracer(x)
    at = axis_of("kthvalue", x, axis)
    return _entry(sort(x, at), at, k)


def quantile(x: Any, q: Any, axis: Any, keepdims: bool = False, name: str = "quantile") -> Tracer:
    x = as_tracer(x)
    if not isinstance(q, (int, float, np.integer, np.floating)) or not 0 <= q <= 1:
        raise at_user(TraceError(f"{name} needs a number q from 0 to 1, but got {q!r}"))
    if not is_float(x.dtype):
        x = x.astype(np.float64)
    at = axis_of(name, x, axis)
    ordered = sort(x, at)
    count = x.shape[at]
    last = count - 1
    if isinstance(last, int):
        exact = q * last
        low, part = int(np.floor(exact)), exact - np.floor(exact)
    else:
        exact = as_tracer(last, x._trace).astype(np.float64) * float(q)
        low = np.floor(exact)
        part = (exact - low).astype(x.dtype)
        low = low.astype(np.int64)
    first, second = _entry(ordered, at, low), _entry(ordered, at, low + 1)
    between = where(part > 0, first + (second - first) * part, first)
    # NaN is last in order; NumPy gives NaN where there is one.
    spoiled = np.any(np.isnan(x), axis=at)
    result = where(spoiled, np.asarray(np.nan, x.dtype)[()], between)
    return np.expand_dims(result, at) if keepdims else result


# ---------------------------------------------------------------------------
# Scattering
# ---------------------------------------------------------------------------

_MODES = ("set", "add", "max", "min")


def scatter(x: Any, indices: Any, updates: Any, mode: str) -> Tracer:
    trace = trace_of([x, indices, updates])
    init, places, new = (as_tracer(v, trace) for v in (x, indices, updates))
    if mode not in _MODES:
        raise at_user(TraceError(f"scatter has mode {', '.join(_MODES)}, but got {mode!r}"))
    if not is_int(places.dtype) or places.ndim != 1:
        raise at_user(ShapeError(
            f"scatter needs integer indices of one axis, but got {places.dtype} of "
            f"{shape_text(places.shape)}"
        ))  # fmt: skip
    if init.ndim == 0 or new.ndim != init.ndim:
        raise at_user(ShapeError(
            f"scatter of {shape_text(new.shape)} into {shape_text(init.shape)}: expected as many "
            "axes, at least one"
        ))  # fmt: skip
    for shape in (init.shape, new.shape):
        if not isinstance(shape[0], Dim) and any(isinstance(d, Dim) for d in shape[1:]):
            raise at_user(ShapeError(
                f"scatter does not support {shape_text(shape)}: where another axis is ragged, "
                "axis 0 must be ragged too"
            ))  # fmt: skip
    dtype = result_type(init.dtype, new.dtype)
    wide = np.dtype(np.int64) if is_bool(dtype) and mode == "add" else dtype
    dims = _emit.broadcast_dims(trace, [init.shape[1:], new.shape[1:]], "and, in scatter,")
    count = _emit.broadcast_dims(trace, [places.shape, new.shape[:1]], "and, in scatter,")
    batched = any(v._value.batched for v in (init, places, new))
    operands = [
        _emit.broadcast_to(trace, _emit.cast(trace, value_of(init), wide),
                           [init.shape[0], *dims], batched),
        _emit.broadcast_to(trace, _emit.cast(trace, value_of(places), np.dtype(np.int64)),
                           count, batched),
        _emit.broadcast_to(trace, _emit.cast(trace, value_of(new), wide), [*count, *dims], batched),
    ]  # fmt: skip
    operands = [trace.aligned(v) for v in operands]
    types = ", ".join(v.type for v in operands)
    first = operands[0]
    result = trace.emit(
        lambda names, result: f"ragged.scatter {mode} {', '.join(names)} : {types} -> {result}",
        operands, first.dims, wide, batched, pure=False,
    )  # fmt: skip
    return Tracer(trace, _emit.cast(trace, result, dtype))


def bincount(x: Any, length: Any, weights: Any = None) -> Tracer:
    trace = trace_of([x, length, weights])
    places = as_tracer(x, trace)
    dtype = np.dtype(np.int64) if weights is None else np.dtype(np.float64)
    ones = as_tracer(weights, trace) if weights is not None else full_like(places, 1, np.int64)
    return scatter(_filled(trace, (length,), 0, dtype), places, ones.astype(dtype), "add")


def _filled(trace: Trace, shape: Sequence[Any], number: Any, dtype: np.dtype) -> Tracer:
    return Tracer(trace, _emit.full(trace, tuple(shape), number, dtype))


def segment(kind: str, x: Any, ids: Any, count: Any, empty: str) -> Tracer:
    """A reduction of the rows of each segment."""
    trace = trace_of([x, ids, count])
    rows, places = as_tracer(x, trace), as_tracer(ids, trace)
    if rows.ndim == 0:
        raise at_user(ShapeError(f"segment_{kind} needs an array with at least one axis"))
    if empty not in ("zero", "identity"):
        raise at_user(TraceError(f"empty must be 'zero' or 'identity', but got {empty!r}"))
    shape = (count, *rows.shape[1:])
    if kind in ("sum", "mean"):
        dtype = reduction_dtype(kind, rows.dtype)
        total = scatter(_filled(trace, shape, 0, dtype), places, rows, "add").astype(dtype)
        if kind == "sum":
            return total
    else:
        dtype = rows.dtype
        init = _filled(trace, shape, identity(kind, dtype), dtype)
        total = scatter(init, places, rows, kind)
        if empty == "identity":
            return total
    members = bincount(places, count)[(slice(None), *[None] * (rows.ndim - 1))]
    if kind == "mean":
        return (total / np.maximum(members, 1)).astype(dtype)
    return where(members > 0, total, np.zeros((), dtype)[()])
