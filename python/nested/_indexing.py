# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``x[...]`` of traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _dims, _emit, _emit_moves
from ._dims import Dim, Extent
from ._dtypes import is_bool, is_int
from ._errors import ShapeError, TraceError, at_user
from ._ir import mismatch, shape_text
from ._tracer import Tracer, as_tracer, value_of


def index(x: Tracer, key: Any) -> Tracer:
    """NumPy's indexing: integers, slices (bounds may be Dims), None, ``...``, an integer array
    along axis 0 (negative indices do not wrap), a boolean mask over the ragged axis 0."""
    if isinstance(key, list):
        key = np.asarray(key)
    if isinstance(key, Tracer) or (isinstance(key, np.ndarray) and key.ndim > 0):
        return by_array(x, as_tracer(key, x._trace))
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(k, (Tracer, np.ndarray, list)) for k in keys):
        raise at_user(TraceError(
            "indexing by arrays along several axes is not supported; use x[indices] for axis 0, and "
            "np.take or np.take_along_axis for another one"
        ))  # fmt: skip
    consumed = sum(k is not None and k is not Ellipsis for k in keys)
    if consumed > x.ndim:
        raise at_user(ShapeError(f"too many indices: {consumed} for {shape_text(x.shape)}"))
    if sum(k is Ellipsis for k in keys) > 1:
        raise at_user(ShapeError("an index can have a single ellipsis ('...')"))
    full = [slice(None)] * (x.ndim - consumed)
    at = next((i for i, k in enumerate(keys) if k is Ellipsis), len(keys))
    keys[at : at + 1] = full

    trace, value = x._trace, value_of(x)
    axis, places, dims = 0, [], []  # type: ignore[var-annotated]
    for k in keys:
        if k is None:
            dims.append(1)
            continue
        if isinstance(k, slice):
            start, size, step = bounds(k, value.dims[axis])
            value = _emit.slice_axis(trace, value, axis, start, size, step=step)
            places.append(len(dims))
            dims.append(value.dims[axis])
            axis += 1
            continue
        start = position(k, value.dims[axis], axis)
        value = _emit.slice_axis(trace, value, axis, start, 1, drop=True)
    if len(places) < len(dims):
        value = _emit.broadcast_axes(trace, value, places, dims, value.batched)
    return x._view(value)


def _extent(k: Any) -> Extent:
    if isinstance(k, Dim) or (isinstance(k, (int, np.integer)) and not isinstance(k, bool)):
        return k if isinstance(k, Dim) else int(k)
    raise at_user(TraceError(f"{type(k).__name__} can't be used as an index of a traced value"))


def position(k: Any, size: Extent, axis: int) -> Extent:
    """An integer index from 0. Beyond the axis: an error, now or when the program is entered."""
    k = _extent(k)
    if not _dims.nonnegative(k):
        if not _dims.nonnegative(_dims.sub(-1, k)):
            raise at_user(
                TraceError(f"whether the index {k} counts from the end depends on lengths")
            )
        k = _dims.add(size, k)
    outside = _dims.nonnegative(_dims.sub(k, size)) or _dims.nonnegative(_dims.sub(-1, k))
    if outside:
        raise at_user(ShapeError(f"index is out of bounds for axis {axis} of size {size}"))
    return k


def bounds(s: slice, size: Extent) -> tuple[Extent, Extent, int]:
    """Start, size and step of a slice; bounds outside the axis are clamped, as in Python."""
    step = 1 if s.step is None else s.step
    if isinstance(step, bool) or not isinstance(step, (int, np.integer)) or step == 0:
        raise at_user(
            TraceError(f"the step of a slice must be an integer that is not 0, got {step}")
        )
    step = int(step)
    if isinstance(size, int) and not any(isinstance(b, Dim) for b in (s.start, s.stop)):
        taken = range(*s.indices(size))
        return taken.start, len(taken), step
    # Going backwards, a bound is an index that is there, or -1, in front of all.
    low, high = (0, size) if step > 0 else (-1, _dims.sub(size, 1))

    def bound(b: Any, default: Extent) -> Extent:
        if b is None:
            return default
        b = _extent(b)
        if _dims.nonnegative(b):
            return _dims.minimum(b, high)
        if _dims.nonnegative(_dims.sub(-1, b)):
            return _dims.maximum(_dims.add(size, b), low)
        raise at_user(TraceError(
            f"whether the bound {b} counts from the end depends on lengths; clamp it with "
            "nested.maximum(bound, 0)"
        ))  # fmt: skip

    if step < 0:
        start, stop = bound(s.start, high), bound(s.stop, low)
        return start, _dims.maximum(_ceildiv(_dims.sub(start, stop), -step), 0), step
    start, stop = bound(s.start, 0), bound(s.stop, size)
    if isinstance(s.start, int) and s.start >= 0 and s.stop is None:
        # x[k:]: the form that x[:-k] has too, so that both have one size.
        count = _dims.maximum(_dims.sub(size, s.start), 0)
    elif isinstance(s.start, int) and s.start < 0 and s.stop is None:
        count = _dims.minimum(-s.start, size)
    else:
        count = _dims.maximum(_dims.sub(stop, start), 0)
    return start, count if step == 1 else _ceildiv(count, step), step


def _ceildiv(a: Extent, b: int) -> Extent:
    return _dims.floordiv(_dims.add(a, b - 1), b)


def by_array(x: Tracer, key: Tracer) -> Tracer:
    """``table[indices]`` and ``x[mask]``."""
    trace = x._trace
    if x.ndim == 0:
        raise at_user(ShapeError("too many indices: a traced number can't be indexed"))
    if is_int(key.dtype):
        if x._value.batched:
            return Tracer(trace, _emit_moves.take(trace, value_of(x), value_of(key), 0))
        return Tracer(trace, _emit.gather(trace, value_of(x), value_of(key)))
    if is_bool(key.dtype):
        ragged = [isinstance(d, Dim) for d in x.shape]
        batched = x._value.batched or key._value.batched
        if key.ndim != 1 or any(ragged[1:]) or not batched:
            raise at_user(TraceError(
                f"a mask of shape {shape_text(key.shape)} on {shape_text(x.shape)} is not supported: "
                "a mask selects in each sample along axis 0, and the other axes are not ragged; "
                "np.where keeps the shape, nested.batch.select chooses samples"
            ))  # fmt: skip
        if not trace.unify(x.shape[0], key.shape[0]):
            raise at_user(mismatch(trace, x.shape, key.shape, "and the mask", 0, 0, 0))
        value, mask = (_emit.broadcast_to(trace, value_of(v), v.shape, True) for v in (x, key))
        return Tracer(trace, _emit.masked_select(trace, value, mask))
    raise at_user(TraceError(f"indices must be integers or bools, but got {key.dtype}"))
