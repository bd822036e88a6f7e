# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, on traced values one ``ragged.attention``, on plain arrays NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _dims, _emit, _emit_moves
from ._dims import Dim
from ._dtypes import is_bool, is_float, result_type
from ._eager import enable
from ._errors import ShapeError, TraceError, at_user, public
from ._ir import Trace, Value, mismatch, shape_text
from ._samples import as_symbol
from ._tracer import Tracer, any_traced, as_tracer, trace_of, value_of

__all__ = ["attention"]

Window = tuple  # (left, right), each a number or None


def _window(causal: bool, window: Any) -> Window:
    """How many keys before and behind its position a query sees; None: all."""
    if window is None:
        left = right = None
    elif isinstance(window, (int, np.integer)):
        # The position itself is one of them.
        if window < 1:
            raise at_user(ShapeError(f"window must be at least 1, but got {window}"))
        left, right = int(window) - 1, None if causal else int(window) - 1
    else:
        left, right = window
    for bound in (left, right):
        if bound is not None and bound < 0:
            raise at_user(ShapeError(f"window bounds must be at least 0, but got {window}"))
    return left, 0 if causal else right


@public
def attention(
    query: Any, key: Any, value: Any, *, bias: Any = None, mask: Any = None, causal: bool = False,
    window: Any = None, scale: float | None = None, soft_cap: float | None = None,
) -> Any:  # fmt: skip
    """``softmax(scale * query @ key.T + bias) @ value`` per head, without storing the scores.

    query: ``(N, H, D)``; key: ``(M, G, D)``; value: ``(M, G, E)``; the result is ``(N, H, E)``. H is
    a multiple of G: head h of queries uses head ``h * G // H`` of keys and values. Without heads
    (``(N, D)``, ``(M, D)``, ``(M, E)``) the result is ``(N, E)``. Floating-point dtypes.

    With one more axis in front of all three, ``(I, N, H, D)``, each of its entries attends by itself:
    along axis 1 of a tensor of pairs, for each of its rows. There, bias and mask are of all entries, or
    have the axis too; of size 1, it stands for all entries, as anywhere.

    bias: ``(N, M)`` or ``(N, M, H)``, added to the scores. mask: booleans of those shapes, true
    where a query sees a key. The last query is aligned with the last key: query i is at
    position ``i + M - N``. causal: it sees no later key. window: it sees ``window`` keys up
    to its position (and as many behind it, if not causal), or ``(left, right)`` keys before and
    behind it (None: all). scale: ``1 / sqrt(D)`` unless said. soft_cap: scores become
    ``soft_cap * tanh(scores / soft_cap)`` before the bias. A query that sees no key gives 0.
    """
    bounds = _window(causal, window)
    if soft_cap is not None and not soft_cap > 0:
        raise at_user(ShapeError(f"soft_cap must be above 0, but got {soft_cap}"))
    operands = [query, key, value, bias, mask]
    if any_traced(operands):
        return _traced(operands, bounds, scale, soft_cap)
    arrays = [None if x is None else np.asarray(x) for x in operands]
    return _plain(*arrays, bounds, scale, soft_cap)


def _plain(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, bounds: Window, scale: float | None,
    soft_cap: float | None,
) -> np.ndarray:  # fmt: skip
    if query.ndim == 2:
        parts = [x[:, None] for x in (query, key, value)]
        return _plain(*parts, bias, mask, bounds, scale, soft_cap)[:, 0]
    if query.ndim == 4:
        operands = (query, key, value, bias, mask)
        (count,) = np.broadcast_shapes(
            *[x.shape[:1] for x in operands if x is not None and x.ndim == 4]
        )
        result = np.empty(
            (count, *query.shape[1:3], value.shape[3]), np.result_type(query, key, value)
        )
        for i in range(count):
            parts = [x if x is None or x.ndim < 4 else x[0 if len(x) == 1 else i] for x in operands]
            result[i] = _plain(*parts, bounds, scale, soft_cap)
        return result
    repeat = query.shape[1] // max(key.shape[1], 1)
    key, value = np.repeat(key, repeat, axis=1), np.repeat(value, repeat, axis=1)
    queries, keys = len(query), len(key)
    scores = np.einsum("nhc,mhc->nmh", query, key)
    scores = scores * scores.dtype.type(
        1 / math.sqrt(max(query.shape[2], 1)) if scale is None else scale
    )
    if soft_cap is not None:
        scores = soft_cap * np.tanh(scores / scores.dtype.type(soft_cap))
    if bias is not None:
        scores = scores + (bias if bias.ndim == 3 else bias[..., None])
    seen = np.ones((queries, keys, 1), bool)
    if mask is not None:
        seen = seen & (mask if mask.ndim == 3 else mask[..., None])
    distance = np.arange(keys)[None] - (np.arange(queries)[:, None] + keys - queries)
    for bound, inside in zip(bounds, (-distance, distance)):
        if bound is not None:
            seen = seen & (inside <= bound)[..., None]
    scores = np.where(seen, scores, -np.inf)
    largest = scores.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = weights.sum(axis=1)
    sums = np.einsum("nmh,mhe->nhe", weights, value)
    result = np.divide(sums, total[..., None], out=np.zeros_like(sums), where=total[..., None] != 0)
    return result.astype(np.result_type(query, key, value), copy=False)


def _traced(
    operands: list, bounds: Window, scale: float | None, soft_cap: float | None
) -> Tracer:  # fmt: skip
    trace = trace_of(operands)
    tracers = [None if x is None else as_tracer(x, trace) for x in operands]
    ranks = {t.ndim for t in tracers[:3]}
    if ranks == {2}:
        tracers[:3] = [t[:, None] for t in tracers[:3]]
    elif ranks not in ({3}, {4}):
        shapes = ", ".join(shape_text(t.shape) for t in tracers[:3])
        raise at_user(ShapeError(
            f"attention of {shapes}: expected (N, H, D), (M, G, D) and (M, G, E), all without heads, or "
            "all with one more axis in front"
        ))  # fmt: skip
    given = [None if t is None else value_of(t) for t in tracers]
    _check(trace, given)
    dtype = result_type(*[v.dtype for v in given[:3]])
    values = [
        None if v is None else trace.aligned(v if k == 4 else _emit.cast(trace, v, dtype))
        for k, v in enumerate(given)
    ]
    attributes = []
    for name, bound in zip(("left", "right"), bounds):
        if bound is not None:
            attributes.append(f"{name} = {int(bound)} : i64")
    for name, number in (("scale", scale), ("soft_cap", soft_cap)):
        if number is not None:
            attributes.append(f"{name} = {_emit.literal(float(number), np.dtype('f8'))} : f64")
    attached = f" {{{', '.join(attributes)}}}" if attributes else ""
    if ranks == {4}:
        return Tracer(trace, _of_rows(trace, values, attached))
    result = Tracer(trace, _emitted(trace, values, attached))
    return result[:, 0] if ranks == {2} else result


# ---------------------------------------------------------------------------
# Shapes
# ---------------------------------------------------------------------------


def _same(trace: Trace, a: Value, i: int, b: Value, j: int) -> None:
    if not trace.unify(a.dims[i], b.dims[j]):
        raise at_user(mismatch(trace, a.dims, b.dims, "and, in attention,", i, i, j))


def _has_rows(value: Value | None) -> bool:
    """Whether there is an axis in front of those of one attention."""
    return value is not None and len(value.dims) == 4


def _check(trace: Trace, values: list) -> None:
    """Unifies what has to be equal; an error names what can't be."""
    query, key, value = values[:3]
    first = len(query.dims) - 3
    for name, v in (("query", query), ("key", key), ("value", value)):
        if any(isinstance(d, Dim) for d in v.dims[first + 1 :]):
            raise at_user(ShapeError(
                f"attention: {name} is {shape_text(v.dims)}; its last two axes, heads and their "
                "elements, must be static"
            ))  # fmt: skip
        if not is_float(v.dtype):
            raise at_user(TraceError(f"attention of {v.dtype}: expected a floating-point dtype"))
    _same(trace, query, first + 2, key, first + 2)
    _same(trace, key, first, value, first)
    _same(trace, key, first + 1, value, first + 1)
    heads, groups = query.dims[first + 1], key.dims[first + 1]
    if groups == 0 or heads % groups:
        raise at_user(ShapeError(
            f"attention of {shape_text(query.dims)} and {shape_text(key.dims)}: {heads} heads "
            f"of queries are not a multiple of {groups} of keys"
        ))  # fmt: skip
    for name, pairs in (("bias", values[3]), ("mask", values[4])):
        if pairs is None:
            continue
        if not 2 <= len(pairs.dims) <= 3 + first:
            more = ", (N, M, H) or (I, N, M, H)" if first else " or (N, M, H)"
            raise at_user(ShapeError(
                f"attention: {name} is {shape_text(pairs.dims)}, expected (N, M){more}"
            ))  # fmt: skip
        if name == "mask" and not is_bool(pairs.dtype):
            raise at_user(TraceError(f"attention: mask is {pairs.dtype}, expected bool"))
        own = int(_has_rows(pairs))
        _same(trace, query, first, pairs, own)
        _same(trace, key, first, pairs, own + 1)
        if len(pairs.dims) > 2:
            _same(trace, query, first + 1, pairs, own + 2)
    rows = [v for v in values if _has_rows(v) and not _dims.same(v.dims[0], 1)]
    for v in rows[1:]:
        _same(trace, rows[0], 0, v, 0)


# ---------------------------------------------------------------------------
# Ops
# ---------------------------------------------------------------------------


def _emitted(trace: Trace, values: list, attached: str) -> Value:
    """The op. Queries give the path: they are per sample if anything is."""
    present = [v for v in values if v is not None]
    batch = trace.batch_of(present, []) if any(v.batched for v in present) else None
    if values[0].batch != batch:
        present[0] = _emit.broadcast_to(trace, values[0], values[0].dims, batch)
    kinds = [name for name, v in zip(("bias", "mask"), values[3:]) if v is not None]
    types = ", ".join(v.type for v in present[:3])
    types += "".join(f" {name} {v.type}" for name, v in zip(kinds, present[3:]))

    def render(names: list[str], result: str) -> str:
        more = "".join(f" {kind} {name}" for kind, name in zip(kinds, names[3:]))
        return f"ragged.attention {', '.join(names[:3])}{more}{attached} : {types} -> {result}"

    query, value = values[0], values[2]
    dims = [query.dims[0], query.dims[1], value.dims[2]]
    return trace.emit(render, present, dims, query.dtype, batch)


def _of_rows(trace: Trace, values: list, attached: str) -> Value:
    """Where each entry of an axis in front attends by itself."""
    values = [
        _only_row(trace, v) if _has_rows(v) and _dims.same(v.dims[0], 1) else v for v in values
    ]
    rows = next((v.dims[0] for v in values if _has_rows(v)), 1)
    if _dims.same(rows, 1):
        one = _emitted(trace, values, attached)
        return _emit.broadcast_axes(trace, one, (1, 2, 3), (1, *one.dims), one.batched)
    of = _of_members if isinstance(rows, Dim) else _of_heads
    return of(trace, values, rows, attached)


def _only_row(trace: Trace, value: Value) -> Value:
    source, axes = getattr(value.op, "broadcast", None) or (None, ())
    if list(axes) == [1, 2, 3]:  # x[None]
        source = trace.aligned(source)
        if all(map(_dims.same, source.dims, value.dims[1:])):
            return source
    return _emit.slice_axis(trace, value, 0, 0, 1, drop=True)


def _of_members(trace: Trace, values: list, rows: Dim, attached: str) -> Value:
    """Rows whose number is a size are members of the sample: nothing is copied, and what has no rows
    is read by all."""
    symbol = as_symbol(trace, rows, "the number of rows")

    def split(value: Value | None) -> Value | None:
        if not _has_rows(value):
            return value
        sized = _emit_moves.reshape(trace, value, (symbol, *value.dims[1:]))
        return _emit_moves.renest(trace, sized)

    result = _emitted(trace, [split(v) for v in values], attached)
    joined = _emit_moves.unnest(trace, result, symbol)
    return _emit_moves.reshape(trace, joined, (rows, *joined.dims[1:]))


def _of_heads(trace: Trace, values: list, rows: int, attached: str) -> Value:
    """A fixed number of rows: their heads beside each other."""

    def merge(value: Value | None, axis: int) -> Value | None:
        """Rows go in front of the heads, ``axis``, and become one with them."""
        if value is None or len(value.dims) <= axis:
            return value
        dims = list(value.dims[1:] if _has_rows(value) else value.dims)
        dims.insert(axis, rows)
        if _has_rows(value):
            value = _emit.transpose(trace, value, [*range(1, axis + 1), 0, *range(axis + 1, 4)])
        else:
            places = [k for k in range(4) if k != axis]
            value = _emit.broadcast_axes(trace, value, places, dims, value.batched)
        dims[axis : axis + 2] = [rows * dims[axis + 1]]
        return _emit_moves.reshape(trace, value, dims)

    axes = (1, 1, 1, 2, 2)
    merged = [merge(v, axis) for v, axis in zip(values, axes)]
    result = _emitted(trace, merged, attached)
    queries, _, width = result.dims
    heads = values[0].dims[-2]
    result = _emit_moves.reshape(trace, result, (queries, rows, heads, width))
    return _emit.transpose(trace, result, (1, 0, 2, 3))


enable(globals(), __all__)
