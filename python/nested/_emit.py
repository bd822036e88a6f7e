# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shape rules and op texts: what NumPy calls become. Works on Values, not on Tracers."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _dims
from ._dims import Dim, Extent
from ._dtypes import is_bool, is_float, is_int, is_unsigned, literal, result_type, scalar_name
from ._errors import ShapeError, at_user, user_location
from ._ir import Trace, Value, mismatch, quote, shape_text


class Scalar:
    """A number known while tracing. ``weak``: a Python number, which adapts its dtype."""

    dims: tuple = ()
    batched = False

    def __init__(self, value: Any, dtype: np.dtype, weak: str | None):
        self.value, self.dtype, self.weak = value, dtype, weak


class Body:
    """The region of a ``ragged.map`` being written: scalars in, lines of ops out."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def op(self, text: str) -> str:
        """Appends an op, e.g. ``"arith.addf %a, %b : f32"``; returns its result's name."""
        name = f"%s{len(self.lines)}"
        self.lines.append(f"{name} = {text} @loc")
        return name

    def const(self, value: Any, dtype: np.dtype) -> str:
        if is_bool(dtype):
            return self.op(f"arith.constant {literal(value, dtype)}")
        return self.op(f"arith.constant {literal(value, dtype)} : {scalar_name(dtype)}")

    def binary(self, op: str, a: str, b: str, dtype: np.dtype) -> str:
        return self.op(f"{op} {a}, {b} : {scalar_name(dtype)}")

    def unary(self, op: str, a: str, dtype: np.dtype) -> str:
        return self.op(f"{op} {a} : {scalar_name(dtype)}")

    def compare(self, predicate: str, a: str, b: str, dtype: np.dtype) -> str:
        op = "arith.cmpf" if is_float(dtype) else "arith.cmpi"
        if is_unsigned(dtype) and predicate in ("slt", "sle", "sgt", "sge"):
            predicate = "u" + predicate[1:]
        return self.op(f"{op} {predicate}, {a}, {b} : {scalar_name(dtype)}")

    def select(self, condition: str, a: str, b: str, dtype: np.dtype) -> str:
        return self.op(f"arith.select {condition}, {a}, {b} : {scalar_name(dtype)}")

    def convert(self, a: str, source: np.dtype, target: np.dtype) -> str:
        """NumPy's astype on one scalar."""
        if source == target:
            return a
        types = f"{scalar_name(source)} to {scalar_name(target)}"
        if is_bool(target):
            zero = self.const(0, source)
            return self.compare("une" if is_float(source) else "ne", a, zero, source)
        if is_bool(source):
            op = "arith.uitofp" if is_float(target) else "arith.extui"
        elif is_int(source) and is_int(target):
            if source.itemsize == target.itemsize:  # the same bits
                return a
            extend = "arith.extui" if is_unsigned(source) else "arith.extsi"
            op = extend if source.itemsize < target.itemsize else "arith.trunci"
        elif is_int(source):
            op = "arith.uitofp" if is_unsigned(source) else "arith.sitofp"
        elif is_unsigned(target):
            # As NumPy: through a signed integer, so that negative numbers wrap.
            wide = np.dtype(np.int64)
            return self.convert(self.convert(a, source, wide), wide, target)
        elif is_int(target):
            op = "arith.fptosi"
        elif source.itemsize == target.itemsize:  # f16 and bf16
            wide = np.dtype(np.float32)
            return self.convert(self.convert(a, source, wide), wide, target)
        else:
            op = "arith.extf" if source.itemsize < target.itemsize else "arith.truncf"
        return self.op(f"{op} {a} : {types}")


def broadcast_dims(trace: Trace, shapes: Sequence[Sequence[Extent]], symbol: str) -> tuple:
    """The shape that shapes broadcast to (R2); unifies symbols of ours where it has to.

    Raises ShapeError where axes differ, and where an operand of lower rank has a ragged axis,
    since it could be meant for several axes of the other.
    """
    rank = max((len(s) for s in shapes), default=0)
    widest = next((s for s in shapes if len(s) == rank), ())
    result = list(widest)
    for shape in shapes:
        if len(shape) < rank and any(isinstance(d, Dim) for d in shape):
            raise at_user(
                ShapeError(
                    f"{shape_text(trace.current_dims(widest))} {symbol} "
                    f"{shape_text(trace.current_dims(shape))}: it is not clear which axes of the "
                    "first the ragged axes of the second belong to; add axes where they are "
                    "missing, as in y[:, None] or y[None, :]"
                )
            )
        for k in range(len(shape), 0, -1):
            x, y = result[-k], shape[-k]
            if _dims.same(x, y) or _dims.same(y, 1):
                continue
            if _dims.same(x, 1):
                result[-k] = y
            elif not trace.unify(x, y):
                axis = rank - k
                raise at_user(mismatch(trace, widest, shape, symbol, axis, axis, len(shape) - k))
    return trace.current_dims(result)


def broadcast_to(trace: Trace, value: Value, dims: Sequence[Extent], batched: bool | str) -> Value:
    """The value repeated to the given shape, aligned at the last axis. batched: as of Trace.emit."""
    skip = len(dims) - len(value.dims)
    return broadcast_axes(trace, value, tuple(range(skip, len(dims))), dims, batched)


def broadcast_axes(
    trace: Trace, value: Value, axes: Sequence[int], dims: Sequence[Extent], batched: bool | str
) -> Value:
    """Axis k of the value becomes axis ``axes[k]`` of the result; other axes are created."""
    value = trace.aligned(value)
    dims = trace.current_dims(dims)
    # An axis of size 1 that a broadcast made is made at its final size instead.
    made_by = getattr(value.op, "broadcast", None)
    if made_by is not None:
        source, source_axes = made_by
        value, axes = trace.aligned(source), [axes[a] for a in source_axes]
    if batched == value.batched and len(value.dims) == len(dims):
        if all(_dims.same(a, b) for a, b in zip(value.dims, dims)):
            return value
    source_type, where = value.type, list(axes)

    def render(names: list[str], result: str) -> str:
        return f"ragged.broadcast {names[0]} dims {where} : {source_type} -> {result}"

    result = trace.emit(render, [value], dims, value.dtype, batched)
    result.op.broadcast = (value, where)
    return result


def elementwise(
    trace: Trace,
    symbol: str,
    operands: Sequence[Value | Scalar],
    in_dtypes: Sequence[np.dtype],
    out_dtype: np.dtype,
    body: Callable[..., str],
) -> Value:
    """One ``ragged.map``. ``body(b, *scalars)`` writes it for operands cast to in_dtypes."""
    dims = broadcast_dims(trace, [o.dims for o in operands], symbol)
    batched = any(o.batched for o in operands)
    b, inputs, block, scalars = Body(), [], [], []
    seen: dict[int, str] = {}
    for operand, dtype in zip(operands, in_dtypes):
        if isinstance(operand, Scalar):
            scalars.append(b.const(fitting(operand, dtype), dtype))
            continue
        if id(operand) not in seen:
            seen[id(operand)] = f"%in{len(inputs)}"
            block.append(f"{seen[id(operand)]}: {scalar_name(operand.dtype)} @loc")
            inputs.append(as_input(trace, operand, dims, batched))
        scalars.append(b.convert(seen[id(operand)], operand.dtype, dtype))
    b.lines.append(f"ragged.yield {body(b, *scalars)} : {scalar_name(out_dtype)} @loc")
    types = ", ".join(v.type for v in inputs)

    def render(names: list[str], result: str) -> str:
        ins = f"{', '.join(names)} : {types}" if names else ""
        lines = "\n  ".join(b.lines)
        head = f"^bb0({', '.join(block)}):" if block else "^bb0:"
        return f"ragged.map ins({ins}) {{\n{head}\n  {lines}\n}} -> {result}"

    return trace.emit(render, inputs, dims, out_dtype, batched)


def as_input(trace: Trace, value: Value, dims: Sequence[Extent], batched: bool) -> Value:
    """The value as an input of a map: of the result's shape, or dense and trailing (R2)."""
    value = trace.aligned(value)
    if not value.batched and getattr(value.op, "broadcast", None) is None:
        trailing = dims[len(dims) - len(value.dims) :]
        if all(_dims.same(a, b) for a, b in zip(value.dims, trailing)):
            return value
    return broadcast_to(trace, value, dims, batched)


def fitting(scalar: Scalar, dtype: np.dtype) -> Any:
    """The number, if the dtype can hold it; OverflowError like NumPy's otherwise."""
    if is_int(dtype) and isinstance(scalar.value, (int, np.integer)):
        info = np.iinfo(dtype)
        if not info.min <= int(scalar.value) <= info.max:
            raise OverflowError(f"Python integer {scalar.value} out of bounds for {dtype}")
    return scalar.value


def cast(trace: Trace, value: Value, dtype: np.dtype) -> Value:
    """astype"""
    if value.dtype == dtype:
        return value
    return elementwise(trace, "astype", [value], [value.dtype], dtype,
                       lambda b, a: b.convert(a, value.dtype, dtype))  # fmt: skip


def full(trace: Trace, dims: Sequence[Extent], number: Any, dtype: np.dtype) -> Value:
    """One number everywhere; per sample if the shape has a ragged axis."""
    text = literal(number, dtype) + ("" if is_bool(dtype) else f" : {scalar_name(dtype)}")
    batched = any(isinstance(d, Dim) for d in dims)
    return trace.emit(lambda names, result: f"ragged.fill {text} -> {result}",
                      [], dims, dtype, batched)  # fmt: skip


def iota(trace: Trace, dims: Sequence[Extent], axis: int) -> Value:
    """The coordinate along one axis, i64."""
    batched = any(isinstance(d, Dim) for d in dims)
    return trace.emit(lambda names, result: f"ragged.iota dim {axis} : {result}",
                      [], dims, np.dtype(np.int64), batched)  # fmt: skip


def extent(trace: Trace, size: Extent) -> Value:
    """The value of an extent, one i64 per sample."""
    size = trace.current(size)
    return trace.emit(lambda names, result: f"ragged.extent <{size}> : {result}",
                      [], (), np.dtype(np.int64), trace.batch_of([], [size]))  # fmt: skip


def reduce(
    trace: Trace, kind: str, value: Value, axes: Sequence[int], batch: bool = False,
    empty: str = "zero",
) -> Value:  # fmt: skip
    """A reduction over axes; with ``batch`` over the samples too."""
    value = trace.aligned(value)
    index = kind in ("argmax", "argmin")
    if not axes and not batch and not index:
        return value
    dims = [d for k, d in enumerate(value.dims) if k not in axes]
    if batch and any(isinstance(d, Dim) for d in dims):
        missing = [k for k, d in enumerate(value.dims) if isinstance(d, Dim) and k not in axes]
        raise at_user(
            ShapeError(
                f"nested.batch.{kind} of {shape_text(value.dims)} over axes {tuple(axes)}: the "
                f"ragged axes {tuple(missing)} differ from sample to sample and must be reduced too"
            )
        )
    words = f"dims {sorted(axes)}" + (" batch" if batch else "")
    if empty != "zero":
        words += f" empty {empty}"
    source = value.type

    def render(names: list[str], result: str) -> str:
        return f"ragged.reduce {kind} {names[0]} {words} : {source} -> {result}"

    dtype = np.dtype(np.int64) if index else value.dtype
    return trace.emit(render, [value], dims, dtype, value.batched and not batch)


def softmax(trace: Trace, value: Value, axes: Sequence[int], log: bool) -> Value:
    """softmax over axes, or its logarithm."""
    value = trace.aligned(value)
    source, words = value.type, f"dims {sorted(axes)}" + (" log" if log else "")

    def render(names: list[str], result: str) -> str:
        return f"ragged.softmax {names[0]} {words} : {source} -> {result}"

    return trace.emit(render, [value], value.dims, value.dtype, value.batched)


def transpose(trace: Trace, value: Value, permutation: Sequence[int]) -> Value:
    """Axis k of the result is axis ``permutation[k]`` of the value."""
    if list(permutation) == list(range(len(permutation))):
        return value
    value = trace.aligned(value)
    source, order = value.type, list(permutation)

    def render(names: list[str], result: str) -> str:
        return f"ragged.transpose {names[0]} permutation {order} : {source} -> {result}"

    return trace.emit(render, [value], [value.dims[k] for k in order], value.dtype, value.batched)


def slice_axis(
    trace: Trace, value: Value, axis: int, start: Extent, size: Extent, drop: bool = False,
    step: int = 1,
) -> Value:  # fmt: skip
    """``size`` indices from ``start`` on, ``step`` apart; ``drop`` removes the axis (size 1)."""
    value = trace.aligned(value)
    start, size = trace.current(start), trace.current(size)
    if not drop and step == 1 and _dims.same(start, 0) and _dims.same(size, value.dims[axis]):
        return value
    dims = list(value.dims)
    dims[axis : axis + 1] = [] if drop else [size]
    if not value.batched and any(isinstance(d, Dim) for d in (*dims, start)):
        # A dense value of which each sample takes another part.
        value = broadcast_to(trace, value, value.dims, True)
    source = value.type
    words = f"dim {axis} start <{start}> size <{size}>" + (f" step {step}" if step != 1 else "")
    words += " drop" if drop else ""
    last = _dims.add(start, _dims.mul(_dims.sub(size, 1), step))
    least, largest = (start, last) if step > 0 else (last, start)
    room = _dims.sub(_dims.sub(value.dims[axis], largest), 1)
    if not (_dims.nonnegative(least) and _dims.nonnegative(size) and _dims.nonnegative(room)):
        # Checked when the program is entered; the message quotes the program.
        words += f" {{reason = {quote(user_location().text or 'slice')}}}"

    def render(names: list[str], result: str) -> str:
        return f"ragged.slice {names[0]} {words} : {source} -> {result}"

    return trace.emit(render, [value], dims, value.dtype, value.batched)


def gather(trace: Trace, table: Value, indices: Value) -> Value:
    """Rows of a dense table by integer indices; negative indices do not wrap."""
    indices = cast(trace, trace.aligned(indices), np.dtype(np.int64))
    types = f"{table.type}, {indices.type}"
    dims = [*indices.dims, *table.dims[1:]]
    return trace.emit(
        lambda names, result: f"ragged.gather {names[0]}, {names[1]} : {types} -> {result}",
        [table, indices], dims, table.dtype, indices.batched, pure=False,
    )  # fmt: skip


def masked_select(trace: Trace, value: Value, mask: Value) -> Value:
    """The indices of axis 0 where a mask holds; a length that comes from data."""
    value, mask = trace.aligned(value), trace.aligned(mask)
    types = f"{value.type}, {mask.type}"
    batch = trace.batch_of([value, mask], [])
    kept = trace.data_symbol(
        f"the number of true entries of the mask at {user_location().short}", batch
    )
    # Types mention the symbol without using the result.
    return trace.emit(
        lambda names, result: f"ragged.masked_select {names[0]}, {names[1]} : {types} -> {result}",
        [value, mask], [kept, *value.dims[1:]], value.dtype, True, pure=False,
    )  # fmt: skip


def linear(trace: Trace, value: Value, weights: Value, bias: Value | None, symbol: str) -> Value:
    """``value @ weights + bias``: the last axis, static, times a shared matrix."""
    value = trace.aligned(value)
    if not _dims.same(value.dims[-1], weights.dims[0]):
        axis = len(value.dims) - 1
        raise at_user(mismatch(trace, value.dims, weights.dims, symbol, axis, axis, 0))
    if bias is not None and (bias.batched or bias.dims != weights.dims[1:]):
        raise at_user(
            ShapeError(
                f"the bias of a linear map to {weights.dims[1]} features has shape "
                f"{shape_text(bias.dims)}, expected ({weights.dims[1]},)"
            )
        )
    operands = [value, weights] + ([bias] if bias is not None else [])
    dtype = result_type(*(o.dtype for o in operands))
    operands = [cast(trace, o, dtype) for o in operands]
    types = ", ".join(o.type for o in operands)

    def render(names: list[str], result: str) -> str:
        with_bias = f" bias {names[2]}" if len(names) > 2 else ""
        return f"ragged.linear {names[0]}, {names[1]}{with_bias} : {types} -> {result}"

    dims = [*value.dims[:-1], weights.dims[1]]
    return trace.emit(render, operands, dims, dtype, value.batched)


def normalize(
    trace: Trace, kind: str, value: Value, scale: Value | None, offset: Value | None, eps: float,
    groups: int = 1,
) -> Value:  # fmt: skip
    """Normalisation: the last axis, which is static, is one row or holds the channels."""
    value = trace.aligned(value)
    if not value.dims or isinstance(value.dims[-1], Dim):
        raise at_user(
            ShapeError(f"{kind}_norm of {shape_text(value.dims)}: its last axis must be static")
        )
    channels = value.dims[-1]
    if groups < 1 or channels % groups:
        raise at_user(
            ShapeError(
                f"{kind}_norm of {shape_text(value.dims)}: {groups} groups do not divide its "
                f"{channels} channels"
            )
        )
    operands, words, types = [value], "", ""
    for name, part in (("scale", scale), ("offset", offset)):
        if part is None:
            continue
        if part.batched or part.dims != value.dims[-1:]:
            raise at_user(
                ShapeError(
                    f"{kind}_norm of {shape_text(value.dims)}: {name} has shape "
                    f"{shape_text(part.dims)}, expected ({value.dims[-1]},)"
                )
            )
        part = cast(trace, part, value.dtype)
        operands.append(part)
        words += f" {name} {{}}"
        types += f", {name} {part.type}"
    source = value.type
    chosen = f"groups = {groups} : i64, " if kind == "group" else ""
    attributes = f"{{{chosen}dims = 1 : i64, eps = {literal(eps, np.dtype('f8'))} : f64}}"

    def render(names: list[str], result: str) -> str:
        parts = words.format(*names[1:])
        return (
            f"ragged.normalize {kind} {names[0]}{parts} {attributes} : {source}{types} -> {result}"
        )

    return trace.emit(render, operands, value.dims, value.dtype, value.batched)
