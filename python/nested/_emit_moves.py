# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Op texts of moves: joining, padding, taking by index, reshaping. Works on Values."""

from __future__ import annotations

from typing import Any, Sequence

from . import _dims, _emit
from ._dims import Dim, Extent
from ._dtypes import is_bool, literal, name_of
from ._errors import ShapeError, at_user, user_location
from ._ir import Trace, Value, members, mismatch, quote, shape_text


def _list(extents: Sequence[Extent]) -> str:
    return f"[{', '.join(map(str, extents))}]"


def _reason(what: str) -> str:
    """For checks when the program is entered: the message quotes the program."""
    return f" {{reason = {quote(user_location().text or what)}}}"


def concat(trace: Trace, values: Sequence[Value], axis: int) -> Value:
    """Values of one dtype one after the other; the other axes are unified."""
    first = values[0]
    for other in values[1:]:
        for k in range(len(first.dims)):
            if k != axis and not trace.unify(first.dims[k], other.dims[k]):
                raise at_user(mismatch(
                    trace, first.dims, other.dims, "and, in concatenate,", k, k, k
                ))  # fmt: skip
    values = [trace.aligned(v) for v in values]
    dims = list(values[0].dims)
    dims[axis] = 0
    for v in values:
        dims[axis] = _dims.add(dims[axis], v.dims[axis])
    batched = any(v.batched for v in values)
    types = ", ".join(v.type for v in values)
    return trace.emit(
        lambda names, result: f"ragged.concat {', '.join(names)} dim {axis} : {types} -> {result}",
        values, dims, values[0].dtype, batched,
    )  # fmt: skip


def pad(
    trace: Trace, value: Value, low: Sequence[Extent], high: Sequence[Extent], number: Any
) -> Value:
    """``low`` entries in front of each axis and ``high`` behind, all of them ``number``."""
    value = trace.aligned(value)
    low, high = [trace.current(e) for e in low], [trace.current(e) for e in high]
    dims = [_dims.add(_dims.add(a, d), b) for a, d, b in zip(low, value.dims, high)]
    if not value.batched and any(isinstance(d, Dim) for d in (*low, *high)):
        value = _emit.broadcast_to(trace, value, value.dims, True)
    text = literal(number, value.dtype)
    text += "" if is_bool(value.dtype) else f" : {name_of(value.dtype)}"
    words = f"low {_list(low)} high {_list(high)} value {text}"
    if not all(_dims.nonnegative(e) for e in (*low, *high)):
        words += _reason("pad")
    source = value.type
    return trace.emit(
        lambda names, result: f"ragged.pad {names[0]} {words} : {source} -> {result}",
        [value], dims, value.dtype, value.batched,
    )  # fmt: skip


def take(trace: Trace, value: Value, indices: Value, axis: int) -> Value:
    """The axis replaced by those of the indices."""
    value, indices = trace.aligned(value), trace.aligned(indices)
    types = f"{value.type}, {indices.type}"
    dims = [*value.dims[:axis], *indices.dims, *value.dims[axis + 1 :]]
    batched = value.batched or indices.batched
    return trace.emit(
        lambda names, result: f"ragged.take {', '.join(names)} dim {axis} : {types} -> {result}",
        [value, indices], dims, value.dtype, batched, pure=False,
    )  # fmt: skip


def take_along(trace: Trace, value: Value, indices: Value, axis: int) -> Value:
    """For each index an entry of its own line; the other axes are unified."""
    for k in range(len(value.dims)):
        if k != axis and not trace.unify(value.dims[k], indices.dims[k]):
            raise at_user(mismatch(
                trace, value.dims, indices.dims, "and, in take_along_axis,", k, k, k
            ))  # fmt: skip
    value, indices = trace.aligned(value), trace.aligned(indices)
    types = f"{value.type}, {indices.type}"
    return trace.emit(
        lambda names, result: (
            f"ragged.take_along {', '.join(names)} dim {axis} : {types} -> {result}"
        ),
        [value, indices], indices.dims, value.dtype, value.batched or indices.batched, pure=False,
    )  # fmt: skip


def product(dims: Sequence[Extent]) -> Extent:
    total: Extent = 1
    for d in dims:
        total = _dims.mul(total, d)
    return total


def _is_row_major(dims: Sequence[Extent]) -> bool:
    """Whether axes are stored in their order: those that vary come first."""
    varies = [isinstance(d, Dim) for d in dims]
    return varies == sorted(varies, reverse=True)


def reshape(trace: Trace, value: Value, dims: Sequence[Extent]) -> Value:
    """The entries of a sample, in order, in other axes."""
    value = trace.aligned(value)
    dims = trace.current_dims(dims)
    if len(dims) == len(value.dims) and all(map(_dims.same, dims, value.dims)):
        return value
    have, want = product(value.dims), product(dims)
    if _dims.never_equal(have, want):
        raise at_user(ShapeError(
            f"reshape of {shape_text(value.dims)}, {have} entries, to {shape_text(dims)}, {want}"
        ))  # fmt: skip
    for shape in (value.dims, dims):
        if not _is_row_major(shape):
            raise at_user(ShapeError(
                f"reshape of {shape_text(value.dims)} to {shape_text(dims)}: in {shape_text(shape)} a "
                "fixed axis comes before one that varies; move it behind (np.moveaxis)"
            ))  # fmt: skip
    words = "" if _dims.same(have, want) else _reason("reshape")
    source = value.type
    return trace.emit(
        lambda names, result: f"ragged.reshape {names[0]}{words} : {source} -> {result}",
        [value], dims, value.dtype, value.batched,
    )  # fmt: skip


def coordinates(trace: Trace, dims: Sequence[Extent], axis: int, batched: bool) -> Value:
    """The coordinate along one axis, i64, per sample if ``batched``."""
    value = _emit.iota(trace, dims, axis)
    if batched and not value.batched:
        value = _emit.broadcast_to(trace, value, dims, True)
    return value


def renest(trace: Trace, value: Value) -> Value:
    """Each index of axis 0, whose size is a symbol, as a member of the sample."""
    value = trace.aligned(value)
    source, batch = value.type, members(value.batch, value.dims[0])
    return trace.emit(
        lambda names, result: f"ragged.renest {names[0]} : {source} -> {result}",
        [value], value.dims[1:], value.dtype, batch,
    )  # fmt: skip


def unnest(trace: Trace, value: Value, size: Dim) -> Value:
    """The members, of which each sample has ``size``, as axis 0."""
    source, batch = value.type, value.batch[: -len(f", {size}")]
    return trace.emit(
        lambda names, result: f"ragged.unnest {names[0]} : {source} -> {result}",
        [value], [size, *value.dims], value.dtype, batch,
    )  # fmt: skip
