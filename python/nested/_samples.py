# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What changes which samples there are, and what depends on the longest of them: the traced forms.

Members of a batch that a program makes have lengths of their own, so that values over it have
new symbols: :func:`select` and :func:`repeat` take everything that belongs together at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _dims, _emit, _tree
from ._dims import Dim, Extent
from ._dtypes import is_bool, is_int, scalar
from ._emit_moves import pad as emit_pad
from ._errors import ArgumentError, ShapeError, TraceError, at_user, user_location
from ._indexing import index
from ._ir import CALL, Op, Trace, Value, shape_text
from ._tracer import Tracer, as_tracer, normalized, trace_of, value_of

_INDEX = np.dtype(np.int64)


class _Sizes(Value):
    """The result of ``ragged.bind_size``: structure without numbers."""

    __slots__ = ()

    @property
    def type(self) -> str:
        path = "" if self.batch in (None, CALL) else f", path = [{self.batch}]"
        return f"!ragged.partition<[{self.dims[0]}]{path}>"


# ---------------------------------------------------------------------------
# Other samples
# ---------------------------------------------------------------------------


def select(x: Any, keep: Any) -> Any:
    """The samples where ``keep`` is true, or those that its integers name."""
    trace, sources, structure = _flattened("select", x, keep)
    if isinstance(keep, (list, tuple)) or isinstance(keep, np.ndarray):
        keep = np.asarray(keep)
        keep = keep.astype(_INDEX) if keep.size == 0 else keep
    chosen = as_tracer(keep, trace)
    value = value_of(chosen)
    if is_bool(value.dtype):
        if not value.batched or value.dims:
            raise at_user(ShapeError(
                f"nested.batch.select by a mask of shape {shape_text(value.dims)}"
                f"{'' if value.batched else ', the same for all samples'}: expected one bool for each "
                "sample"
            ))  # fmt: skip
        batch = trace.fresh_batch(f"the samples kept at {user_location().short}")
    elif is_int(value.dtype):
        if value.dims if value.batched else len(value.dims) != 1:
            raise at_user(ShapeError(
                f"nested.batch.select by indices of shape {shape_text(value.dims)}: expected one integer "
                "for each sample of the result, or an array of one axis"
            ))  # fmt: skip
        value = _emit.cast(trace, value, _INDEX)
        batch = value.batch or trace.fresh_batch(f"the samples chosen at {user_location().short}")
    else:
        raise at_user(
            TraceError(f"nested.batch.select needs bools or integers, but got {value.dtype}")
        )
    return _moved(trace, "ragged.select_batch", "", value, batch, sources, structure)


def repeat(x: Any, repeats: Any, at_most: int | None = None) -> Any:
    """Each sample several times."""
    trace, sources, structure = _flattened("repeat", x, repeats)
    if isinstance(repeats, (int, np.integer)) and not isinstance(repeats, bool):
        check_repeats(repeats)
        at_most = int(repeats) if at_most is None else at_most
        counts = _emit.full(trace, (), int(repeats), _INDEX)
    else:
        counts = value_of(as_tracer(repeats, trace))
        if not is_int(counts.dtype) or counts.dims:
            raise at_user(ShapeError(
                f"nested.batch.repeat by {shape_text(counts.dims)} {counts.dtype}: expected one integer, "
                "or one for each sample"
            ))  # fmt: skip
        if at_most is None:
            raise at_user(TraceError(
                "nested.batch.repeat by numbers that are computed needs at_most=, the most copies of a "
                "sample: memory is planned with it"
            ))  # fmt: skip
        counts = _emit.cast(trace, counts, _INDEX)
    check_repeats(at_most)
    if not counts.batched:
        counts = _emit.broadcast_to(trace, counts, (), trace.batch_of(sources, []))
    batch = trace.fresh_batch(f"the copies made at {user_location().short}")
    words = f"at_most {int(at_most)} "
    return _moved(trace, "ragged.repeat_batch", words, counts, batch, sources, structure)


def check_repeats(count: Any) -> None:
    """ArgumentError for what is no number of copies."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise ArgumentError(f"a number of copies must be an integer from 0 on, but got {count}")


def _flattened(what: str, x: Any, *others: Any) -> tuple[Trace, list[Value], Any]:
    found, structure = _tree.flatten(x)
    trace = trace_of([leaf for _, leaf in found] + [o for o in others if isinstance(o, Tracer)])
    values = [value_of(as_tracer(leaf, trace)) for _, leaf in found]
    for (path, _), value in zip(found, values):
        if not value.batched:
            name = f" `{path}`" if path else ""
            raise at_user(ShapeError(
                f"nested.batch.{what}: {shape_text(value.dims)}{name} is shared, it has no samples"
            ))  # fmt: skip
    if not values:
        raise at_user(TraceError(f"nested.batch.{what} of no arrays"))
    trace.batch_of(values, [])  # raises where they differ
    return trace, values, structure


def _moved(
    trace: Trace, op: str, words: str, selector: Value, batch: str, sources: Sequence[Value],
    structure: Any,
) -> Any:  # fmt: skip
    sources = [trace.aligned(v) for v in sources]
    old = trace.batch_of(sources, [])
    if op == "ragged.repeat_batch" or is_bool(selector.dtype):
        trace.batch_of([selector, *sources], [])
    names: dict[str, Extent] = {}
    for v in sources:
        for d in v.dims:
            for s in _dims.symbols(d):
                if s not in names and trace.batches.get(s, CALL) == old:
                    chosen = trace.origins.get(batch, "the chosen samples")
                    names[s] = trace.data_symbol(f"{s} of {chosen}", batch)
    like = [Value([_dims.substitute(d, names) for d in v.dims], v.dtype, batch) for v in sources]
    renames = f"renames [{', '.join(names)}] to [{', '.join(map(str, names.values()))}]"
    types = ", ".join(v.type for v in [selector, *sources])

    def render(values: list[str], results: str) -> str:
        return (
            f"{op} {values[0]} {words}of {', '.join(values[1:])} {renames} : {types} -> {results}"
        )

    results = trace.emit_like(render, [selector, *sources], like, pure=False)
    return _tree.unflatten(structure, [Tracer(trace, v) for v in results])


# ---------------------------------------------------------------------------
# Sizes from numbers
# ---------------------------------------------------------------------------


def as_dim(n: Any, at_most: Extent) -> Extent:
    """A traced integer as a size."""
    x = as_tracer(n)
    trace, value = x._trace, value_of(x)
    if value.dims or not is_int(value.dtype):
        raise at_user(ShapeError(
            f"nested.as_dim of {shape_text(value.dims)} {value.dtype}: expected one integer"
        ))  # fmt: skip
    if not _dims.is_extent(at_most):
        raise at_user(TraceError(
            "nested.as_dim needs at_most=, an integer or a size: memory is planned with it"
        ))  # fmt: skip
    value = _emit.cast(trace, value, _INDEX)
    return _bound(trace, value, at_most, f"the number computed at {user_location().short}")


def _bound(trace: Trace, size: Value, at_most: Extent, origin: str) -> Dim:
    size, bound = trace.aligned(size), trace.current(at_most)
    symbol = trace.data_symbol(origin, size.batch)
    source = size.type
    op = Op(
        [size],
        lambda names, result: f"ragged.bind_size {names[0]} at_most <{bound}> : {source} -> {result}",
        user_location(), False,
    )  # fmt: skip
    op.results = [_Sizes((symbol,), _INDEX, size.batch, op)]
    trace.ops.append(op)
    return symbol


def as_symbol(trace: Trace, size: Dim, what: str) -> Dim:
    """The size, if it is a symbol, or one that is equal to it. what: in messages."""
    size = trace.current(size)
    if _dims.symbols(size) == [str(size)]:
        return size
    origin = f"{what}, {size}, at {user_location().short}"
    return _bound(trace, _emit.extent(trace, size), size, origin)


def longest(trace: Trace, size: Dim) -> Dim:
    """The largest value that a size has in the batch."""
    size = trace.current(size)
    if str(size) not in trace.longest:
        most = _emit.reduce(trace, "max", _emit.extent(trace, size), (), batch=True)
        origin = f"the largest {size} of the batch"
        trace.longest[str(size)] = _bound(trace, most, size, origin)
    return trace.longest[str(size)]


def to_padded(x: Any, fill: Any = 0, sizes: Any = None) -> Tracer:
    """The ragged axes filled up to the longest sample, or to given sizes."""
    x = as_tracer(x)
    trace, value = x._trace, value_of(x)
    ragged = [k for k, d in enumerate(value.dims) if isinstance(d, Dim)]
    high: list[Extent] = [0] * len(value.dims)
    for k, wanted in zip(ragged, per_axis(sizes, len(ragged))):
        size = longest(trace, value.dims[k]) if wanted is None else wanted
        high[k] = _dims.sub(size, value.dims[k])
    if not ragged:
        return x
    return Tracer(trace, emit_pad(trace, value, [0] * len(high), high, scalar(fill, value.dtype)))


def per_axis(sizes: Any, count: int) -> list[Any]:
    """``sizes=`` with an entry for each of so many ragged axes."""
    given = list(sizes) if isinstance(sizes, (tuple, list)) else [sizes] * count
    if len(given) != count:
        raise at_user(ShapeError(f"sizes={sizes!r} for {count} ragged axes"))
    for size in given:
        if size is not None and (not _dims.is_extent(size) or isinstance(size, int) and size < 0):
            raise at_user(ShapeError(f"sizes={sizes!r}: {size!r} is no size"))
    return given


def from_padded(x: Any, lengths: Any, axes: Sequence[int]) -> Tracer:
    """The first ``lengths`` entries of each axis."""
    trace = trace_of([x, lengths])
    x = as_tracer(x, trace)
    axes = [normalized(a, x.ndim) for a in axes]
    counts = list(lengths) if isinstance(lengths, (tuple, list)) else [lengths] * len(axes)
    if len(counts) != len(axes):
        raise at_user(ShapeError(f"{len(counts)} lengths for {len(axes)} ragged axes"))
    known: dict[int, Extent] = {}
    keys: list[slice] = [slice(None)] * x.ndim
    for axis, count in zip(axes, counts):
        if id(count) not in known:
            known[id(count)] = count if _dims.is_extent(count) else as_dim(count, x.shape[axis])
        keys[axis] = slice(0, known[id(count)])
    return index(x, tuple(keys))
