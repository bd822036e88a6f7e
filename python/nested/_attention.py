# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention, on traced values one ``ragged.attention``, on plain arrays NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _emit
from ._dims import Dim
from ._dtypes import is_bool, is_float, result_type
from ._eager import enable
from ._errors import ShapeError, TraceError, at_user, public
from ._ir import Trace, Value, mismatch, shape_text
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


def _same(trace: Trace, a: Value, i: int, b: Value, j: int) -> None:
    if not trace.unify(a.dims[i], b.dims[j]):
        raise at_user(mismatch(trace, a.dims, b.dims, "and, in attention,", i, i, j))


def _traced(
    operands: list, bounds: Window, scale: float | None, soft_cap: float | None
) -> Tracer:  # fmt: skip
    trace = trace_of(operands)
    tracers = [None if x is None else as_tracer(x, trace) for x in operands]
    ranks = {t.ndim for t in tracers[:3]}
    if ranks == {2}:
        tracers[:3] = [t[:, None] for t in tracers[:3]]
    elif ranks != {3}:
        shapes = ", ".join(shape_text(t.shape) for t in tracers[:3])
        raise at_user(ShapeError(
            f"attention of {shapes}: expected (N, H, D), (M, G, D) and (M, G, E), or all without heads"
        ))  # fmt: skip
    query, key, value = (value_of(t) for t in tracers[:3])
    for name, v in (("query", query), ("key", key), ("value", value)):
        if any(isinstance(d, Dim) for d in v.dims[1:]):
            raise at_user(ShapeError(
                f"attention: {name} is {shape_text(v.dims)}; its last two axes, heads and their "
                "elements, must be static"
            ))  # fmt: skip
        if not is_float(v.dtype):
            raise at_user(TraceError(f"attention of {v.dtype}: expected a floating-point dtype"))
    _same(trace, query, 2, key, 2)
    _same(trace, key, 0, value, 0)
    _same(trace, key, 1, value, 1)
    if key.dims[1] == 0 or query.dims[1] % key.dims[1]:
        raise at_user(ShapeError(
            f"attention of {shape_text(query.dims)} and {shape_text(key.dims)}: {query.dims[1]} heads "
            f"of queries are not a multiple of {key.dims[1]} of keys"
        ))  # fmt: skip
    dtype = result_type(query.dtype, key.dtype, value.dtype)
    # Queries give the path: they are per sample if anything is.
    values = [_emit.cast(trace, v, dtype) for v in (query, key, value)]
    words = ""
    for name, tracer in (("bias", tracers[3]), ("mask", tracers[4])):
        if tracer is None:
            continue
        pairs = value_of(tracer)
        if len(pairs.dims) not in (2, 3):
            raise at_user(ShapeError(
                f"attention: {name} is {shape_text(pairs.dims)}, expected (N, M) or (N, M, H)"
            ))  # fmt: skip
        if name == "mask" and not is_bool(pairs.dtype):
            raise at_user(TraceError(f"attention: mask is {pairs.dtype}, expected bool"))
        _same(trace, query, 0, pairs, 0)
        _same(trace, key, 0, pairs, 1)
        if len(pairs.dims) == 3:
            _same(trace, query, 1, pairs, 2)
        values.append(pairs if name == "mask" else _emit.cast(trace, pairs, dtype))
        words += f" {name} {{}}"
    values = [trace.aligned(v) for v in values]
    batched = any(v.batched for v in values)
    if batched and not values[0].batched:
        values[0] = _emit.broadcast_to(trace, values[0], values[0].dims, True)
    attributes = []
    for name, bound in zip(("left", "right"), bounds):
        if bound is not None:
            attributes.append(f"{name} = {int(bound)} : i64")
    for name, number in (("scale", scale), ("soft_cap", soft_cap)):
        if number is not None:
            attributes.append(f"{name} = {_emit.literal(float(number), np.dtype('f8'))} : f64")
    attached = f" {{{', '.join(attributes)}}}" if attributes else ""
    kinds = [name for name, t in (("bias", tracers[3]), ("mask", tracers[4])) if t is not None]
    types = ", ".join(v.type for v in values[:3])
    types += "".join(f" {name} {v.type}" for name, v in zip(kinds, values[3:]))

    def render(names: list[str], result: str) -> str:
        more = words.format(*names[3:])
        return f"ragged.attention {', '.join(names[:3])}{more}{attached} : {types} -> {result}"

    query, value = values[0], values[2]
    dims = [query.dims[0], query.dims[1], value.dims[2]]
    result = Tracer(trace, trace.emit(render, values, dims, dtype, batched))
    return result[:, 0] if ranks == {2} else result


enable(globals(), __all__)
