# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's functions that move entries, on traced values."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from . import _dims, _emit, _emit_moves
from ._dims import Dim, Extent
from ._dtypes import is_int, result_type, scalar
from ._emit import Scalar
from ._errors import ShapeError, TraceError, at_user
from ._functions import axes_of, broadcast_to, expand_dims, implements, where
from ._ir import mismatch, shape_text
from ._tracer import Tracer, as_tracer, lift, normalized, trace_of, unsupported, value_of


def _list(arrays: Any, name: str) -> list[Any]:
    if isinstance(arrays, Tracer):
        arrays = list(arrays)
    if not isinstance(arrays, (list, tuple)) or not arrays:
        raise at_user(ShapeError(f"{name} needs a list of at least one array"))
    return list(arrays)


def _common(arrays: Sequence[Any]) -> list[Tracer]:
    """The arrays with one dtype, by NumPy's promotion; Python numbers adapt theirs."""
    trace = trace_of(arrays)
    lifted = [lift(trace, x) for x in arrays]
    strong = [v.dtype for v, weak in lifted if weak is None]
    samples: dict[str | None, Any] = {"int": 0, "float": 0.0}
    dtype = result_type(*strong, *(samples[w] for _, w in lifted if w))
    return [as_tracer(x, trace).astype(dtype) for x in arrays]


@implements(np.concatenate)
def concatenate(arrays: Any, axis: Any = 0, out: Any = None, dtype: Any = None) -> Tracer:
    if out is not None:
        raise unsupported("np.concatenate(..., out=)")
    parts = _common(_list(arrays, "concatenate"))
    if axis is None:
        parts, axis = [ravel(x) for x in parts], 0
    rank = parts[0].ndim
    for x in parts:
        if x.ndim != rank or rank == 0:
            raise at_user(ShapeError(
                f"concatenate of {' and '.join(shape_text(p.shape) for p in parts)}: the arrays need "
                "equally many axes, at least one"
            ))  # fmt: skip
    if dtype is not None:
        parts = [x.astype(dtype) for x in parts]
    trace = parts[0]._trace
    values = [value_of(x) for x in parts]
    return Tracer(trace, _emit_moves.concat(trace, values, normalized(axis, rank)))


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None) -> Tracer:
    if out is not None:
        raise unsupported("np.stack(..., out=)")
    parts = [as_tracer(x, trace_of(arrays)) for x in _list(arrays, "stack")]
    if any(x.ndim != parts[0].ndim for x in parts):
        raise at_user(ShapeError(
            f"stack of {' and '.join(shape_text(p.shape) for p in parts)}: the arrays need one shape"
        ))  # fmt: skip
    axis = normalized(axis, parts[0].ndim + 1)
    return concatenate([expand_dims(x, axis) for x in parts], axis, dtype=dtype)


def _at_least(x: Any, rank: int, trace: Any) -> Tracer:
    """np.atleast_1d and atleast_2d: axes are added in front."""
    x = as_tracer(x, trace)
    return expand_dims(x, tuple(range(rank - x.ndim))) if x.ndim < rank else x


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None) -> Tracer:
    parts = [_at_least(x, 1, trace_of(tup)) for x in _list(tup, "hstack")]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype=dtype)


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None) -> Tracer:
    return concatenate(
        [_at_least(x, 2, trace_of(tup)) for x in _list(tup, "vstack")], 0, dtype=dtype
    )


@implements(np.column_stack)
def column_stack(tup: Any) -> Tracer:
    parts = [as_tracer(x, trace_of(tup)) for x in _list(tup, "column_stack")]
    return concatenate(
        [x if x.ndim > 1 else expand_dims(_at_least(x, 1, None), 1) for x in parts], 1
    )


@implements(np.dstack)
def dstack(tup: Any) -> Tracer:
    parts = [as_tracer(x, trace_of(tup)) for x in _list(tup, "dstack")]
    deep = [x if x.ndim > 2 else expand_dims(_at_least(x, 2, None), 2) for x in parts]
    return concatenate(deep, 2)


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Tracer:
    return concatenate([arr, values], axis)


def _amounts(pad_width: Any, shape: Sequence[Extent]) -> list[tuple[Extent, Extent]]:
    """NumPy's pad_width as a pair for each axis."""
    rank = len(shape)

    def extent(e: Any) -> Extent:
        if isinstance(e, Dim):
            return e
        if isinstance(e, (int, np.integer)) and not isinstance(e, bool):
            if e < 0:
                raise at_user(ShapeError("pad_width can't contain negative values"))
            return int(e)
        raise at_user(TraceError(f"pad_width needs integers and sizes, but got {e!r}"))

    if isinstance(pad_width, dict):
        pairs: list[Any] = [(0, 0)] * rank
        for axis, pair in pad_width.items():
            pairs[normalized(axis, rank)] = (
                pair if isinstance(pair, (tuple, list)) else (pair, pair)
            )
    elif isinstance(pad_width, (tuple, list, np.ndarray)):
        pairs = list(pad_width)
        if pairs and not isinstance(pairs[0], (tuple, list, np.ndarray)):
            pairs = [pairs]
        pairs = [p if len(p) == 2 else (p[0], p[0]) for p in pairs]
        pairs = pairs * rank if len(pairs) == 1 else pairs
    else:
        pairs = [(pad_width, pad_width)] * rank
    if len(pairs) != rank:
        raise at_user(ShapeError(
            f"np.pad of {shape_text(shape)}: pad_width has {len(pairs)} pairs for {rank} axes"
        ))  # fmt: skip
    return [(extent(a), extent(b)) for a, b in pairs]


def _constants(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """NumPy's constant_values as a pair for each axis."""
    array = np.asarray(given)
    return [tuple(pair) for pair in np.broadcast_to(array, (rank, 2)).tolist()]


def _from_index(x: Tracer, axis: int, size: Extent, index: Callable[[Tracer], Any]) -> Tracer:
    """Along one axis, entry ``index(0, 1, ... below size)``."""
    trace = x._trace
    if isinstance(x.shape[axis], Dim) or isinstance(size, Dim):
        places = Tracer(trace, _emit_moves.coordinates(trace, [size], 0, x._value.batched))
    else:
        places = as_tracer(np.arange(size), trace)
    indices = as_tracer(index(places), trace)
    return Tracer(trace, _emit_moves.take(trace, value_of(x), value_of(indices), axis))


_PAD_MODES: dict[str, Callable[[Any, Extent], Any]] = {
    "edge": lambda i, n: np.clip(i, 0, _dims.sub(n, 1)),
    "wrap": lambda i, n: i % n,
    "symmetric": lambda i, n: np.minimum(i % (2 * n), 2 * n - 1 - i % (2 * n)),
    # Of one entry there is nothing to reflect: it is repeated.
    "reflect": lambda i, n: np.minimum(
        i % np.maximum(2 * n - 2, 1), np.maximum(2 * n - 2, 1) - i % np.maximum(2 * n - 2, 1)
    ) * (n > 1 if isinstance(n, int) else np.minimum(n - 1, 1)),
}  # fmt: skip


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Tracer:
    x = as_tracer(array)
    pairs = _amounts(pad_width, x.shape)
    if mode == "constant":
        values = _constants(kwargs.pop("constant_values", 0), x.ndim)
        if kwargs:
            raise unsupported(f"np.pad(..., {', '.join(kwargs)}=)")
        return _pad_constant(x, pairs, values)
    if mode not in _PAD_MODES or kwargs:
        raise unsupported(f"np.pad with mode={mode!r} {' '.join(kwargs)}".strip(),
                          f"modes are constant, {', '.join(_PAD_MODES)}")  # fmt: skip
    for axis, (low, high) in enumerate(pairs):
        n = x.shape[axis]
        if _dims.same(low, 0) and _dims.same(high, 0):
            continue
        size = _dims.add(_dims.add(low, n), high)
        x = _from_index(x, axis, size, lambda i, low=low, n=n: _PAD_MODES[mode](i - low, n))
    return x


def _pad_constant(x: Tracer, pairs: Sequence[tuple], values: Sequence[tuple]) -> Tracer:
    def number(v: Any) -> Any:
        return _emit.fitting(Scalar(v, np.asarray(v).dtype, None), x.dtype)

    trace, rank = x._trace, x.ndim
    if len({v for pair in values for v in pair}) <= 1:
        low, high = [a for a, _ in pairs], [b for _, b in pairs]
        filled = number(values[0][0]) if rank else 0
        return Tracer(trace, _emit_moves.pad(trace, value_of(x), low, high, filled))
    # Axis by axis, as in NumPy: later axes fill the corners.
    for axis in range(rank):
        for side in (0, 1):
            amounts: list[list[Extent]] = [[0] * rank, [0] * rank]
            amounts[side][axis] = pairs[axis][side]
            x = Tracer(trace, _emit_moves.pad(
                trace, value_of(x), *amounts, number(values[axis][side])
            ))  # fmt: skip
    return x


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Tracer:
    x = as_tracer(m)
    flipped = axes_of(axis, x.ndim)
    return x[tuple(slice(None, None, -1) if k in flipped else slice(None) for k in range(x.ndim))]


@implements(np.flipud)
def flipud(m: Any) -> Tracer:
    return flip(m, 0)


@implements(np.fliplr)
def fliplr(m: Any) -> Tracer:
    return flip(m, 1)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Tracer:
    x = as_tracer(a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = [axis] if not isinstance(axis, (tuple, list)) else list(axis)
    shifts = [shift] * len(axes) if not isinstance(shift, (tuple, list)) else list(shift)
    if len(shifts) != len(axes):
        raise at_user(ShapeError(f"roll by {len(shifts)} shifts along {len(axes)} axes"))
    for by, k in zip(shifts, (normalized(k, x.ndim) for k in axes)):
        n = x.shape[k]
        if isinstance(n, int) and isinstance(by, (int, np.integer)):
            cut = -int(by) % n if n else 0
            before = (slice(None),) * k
            if cut:
                x = concatenate([x[(*before, slice(cut, None))], x[(*before, slice(cut))]], k)
            continue
        x = _from_index(x, k, n, lambda i, by=by, n=n: (i - by) % n)
    return x


@implements(np.tile)
def tile(A: Any, reps: Any) -> Tracer:
    x = as_tracer(A)
    counts = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    if not all(isinstance(c, (int, np.integer)) and c >= 0 for c in counts):
        raise unsupported(f"np.tile with reps={reps}", "repetitions must be integers")
    x = _at_least(x, len(counts), None)
    counts = [1] * (x.ndim - len(counts)) + [int(c) for c in counts]
    for axis, count in enumerate(counts):
        before = (slice(None),) * axis
        if count == 0:
            x = x[(*before, slice(0, 0))]
        elif count > 1 and isinstance(x.shape[axis], int) and _trailing(x.shape, axis):
            dims = (*x.shape[:axis], count, *x.shape[axis:])
            merged = (*x.shape[:axis], count * x.shape[axis], *x.shape[axis + 1 :])
            x = reshape(broadcast_to(expand_dims(x, axis), dims), merged)
        elif count > 1:
            x = concatenate([x] * count, axis)
    return x


def _trailing(dims: Sequence[Extent], axis: int) -> bool:
    """Whether the axis can be split and merged in place: what varies comes before it."""
    varies = [isinstance(d, Dim) for d in dims]
    return varies == sorted(varies, reverse=True) and not any(varies[axis:])


@implements(np.repeat, method="repeat")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Tracer:
    if not isinstance(repeats, (int, np.integer)) or repeats < 0:
        raise unsupported(f"np.repeat with repeats={repeats!r}", "one integer for all entries is")
    x = ravel(a) if axis is None else as_tracer(a)
    axis = normalized(0 if axis is None else axis, x.ndim)
    count, n = int(repeats), x.shape[axis]
    if count == 0:
        return x[(*(slice(None),) * axis, slice(0, 0))]
    dims = (*x.shape[: axis + 1], count, *x.shape[axis + 1 :])
    varies = [isinstance(d, Dim) for d in dims]
    if varies == sorted(varies, reverse=True):
        merged = (*x.shape[:axis], _dims.mul(n, count), *x.shape[axis + 1 :])
        return reshape(broadcast_to(expand_dims(x, axis + 1), dims), merged)
    return _from_index(x, axis, _dims.mul(n, count), lambda i: i // count)


@implements(np.take, method="take")
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Tracer:
    trace = trace_of([a, indices])
    x, i = as_tracer(a, trace), as_tracer(indices, trace)
    if out is not None or mode != "raise":
        raise unsupported("np.take(..., out=, mode=)")
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalized(axis, x.ndim)
    if not is_int(i.dtype):
        raise at_user(TraceError(f"np.take needs integer indices, but got {i.dtype}"))
    if axis == 0:
        return x[i]
    return Tracer(trace, _emit_moves.take(trace, value_of(x), value_of(i), axis))


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Tracer:
    trace = trace_of([arr, indices])
    x, i = as_tracer(arr, trace), as_tracer(indices, trace)
    if axis is None:
        x, axis = ravel(x), 0
    axis = normalized(axis, x.ndim)
    if not is_int(i.dtype):
        raise at_user(TraceError(f"take_along_axis needs integer indices, but got {i.dtype}"))
    if i.ndim != x.ndim:
        raise at_user(ShapeError(
            f"take_along_axis of {shape_text(x.shape)} and indices {shape_text(i.shape)}: both need "
            "equally many axes"
        ))  # fmt: skip
    for k, (a, b) in enumerate(zip(x.shape, i.shape)):
        one = _dims.same(a, 1) or _dims.same(b, 1)
        if k != axis and not one and not trace.unify(a, b):
            raise at_user(mismatch(trace, x.shape, i.shape, "and, in take_along_axis,", k, k, k))
    common = _emit.broadcast_dims(
        trace, [[1 if k == axis else d for k, d in enumerate(s)] for s in (x.shape, i.shape)],
        "and, in take_along_axis,",
    )  # fmt: skip

    def wide(y: Tracer) -> Tracer:
        dims = tuple(y.shape[k] if k == axis else d for k, d in enumerate(common))
        return y._view(_emit.broadcast_to(trace, value_of(y), dims, y._value.batched or any(
            isinstance(d, Dim) for d in dims)))  # fmt: skip

    x, i = wide(x), wide(i)
    return Tracer(trace, _emit_moves.take_along(trace, value_of(x), value_of(i), axis))


@implements(np.reshape, method="reshape")
def reshape(a: Any, /, *shape: Any, order: str = "C", copy: Any = None, **named: Any) -> Tracer:
    x = as_tracer(a)
    if order != "C":
        raise unsupported(f"np.reshape(..., order={order!r})")
    given = shape[0] if len(shape) == 1 else shape or named.pop("shape")
    dims = list(given) if isinstance(given, (tuple, list)) else [given]
    for d in dims:
        if not isinstance(d, Dim) and (not isinstance(d, (int, np.integer)) or d < -1):
            raise at_user(ShapeError(f"reshape to {shape_text(dims)}: {d!r} is no size"))
    dims = [d if isinstance(d, Dim) else int(d) for d in dims]
    unknown = [k for k, d in enumerate(dims) if isinstance(d, int) and d == -1]
    if len(unknown) > 1:
        raise at_user(ShapeError("reshape can infer the size of one axis (-1) only"))
    if unknown:
        dims[unknown[0]] = _inferred(x, dims, unknown[0])
    return _reshape(x, dims)


def _inferred(x: Tracer, dims: Sequence[Extent], axis: int) -> Extent:
    """The size of an axis given as -1: what is left of the entries."""
    have = list(x.shape)
    left = 1
    for d in (d for k, d in enumerate(dims) if k != axis):
        match = next((k for k, h in enumerate(have) if _dims.same(h, d)), None)
        if match is not None:
            have.pop(match)
        elif isinstance(d, int):
            left *= d
        else:
            raise at_user(ShapeError(
                f"reshape of {shape_text(x.shape)} to {shape_text(dims)}: the size of -1 would be "
                f"divided by {d}; name it"
            ))  # fmt: skip
    total = _emit_moves.product(have)
    if left == 0:
        raise at_user(ShapeError(f"reshape to {shape_text(dims)}: -1 is ambiguous beside size 0"))
    if isinstance(total, int) and total % left:
        raise at_user(ShapeError(
            f"reshape of {shape_text(x.shape)} to {shape_text(dims)}: {total} is no multiple of {left}"
        ))  # fmt: skip
    return _dims.floordiv(total, left)


def _reshape(x: Tracer, dims: Sequence[Extent]) -> Tracer:
    """Axes of size 1 are dropped and added by indexing: they have no place in memory."""
    have = [k for k, d in enumerate(x.shape) if not _dims.same(d, 1)]
    want = [k for k, d in enumerate(dims) if not _dims.same(d, 1)]
    value = x[tuple(slice(None) if k in have else 0 for k in range(x.ndim))] if x.ndim else x
    trace = x._trace
    moved = Tracer(trace, _emit_moves.reshape(trace, value_of(value), [dims[k] for k in want]))
    if len(want) == len(dims):
        return moved
    return moved[tuple(slice(None) if k in want else None for k in range(len(dims)))]


@implements(np.ravel, method="ravel")
def ravel(a: Any, order: str = "C") -> Tracer:
    x = as_tracer(a)
    return x if x.ndim == 1 else reshape(x, (x.size,), order=order)


def flatten(x: Any, start: int = 0, end: int = -1) -> Tracer:
    """Merges the axes from start to end, both included."""
    x = as_tracer(x)
    first, last = normalized(start, x.ndim), normalized(end, x.ndim)
    if last < first:
        raise at_user(ShapeError(f"flatten from axis {start} to {end}: the first comes later"))
    merged = _emit_moves.product(x.shape[first : last + 1])
    return reshape(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


def unflatten(x: Any, axis: int, sizes: Sequence[Extent]) -> Tracer:
    x = as_tracer(x)
    axis = normalized(axis, x.ndim)
    sizes = list(sizes)
    unknown = [k for k, d in enumerate(sizes) if isinstance(d, int) and d == -1]
    if len(unknown) > 1:
        raise at_user(ShapeError("unflatten can infer the size of one axis (-1) only"))
    if unknown:
        rest = _emit_moves.product([d for k, d in enumerate(sizes) if k != unknown[0]])
        if not isinstance(rest, int) or rest < 1:
            raise at_user(ShapeError(
                f"unflatten to {shape_text(sizes)}: the size of -1 would be divided by {rest}; name it"
            ))  # fmt: skip
        sizes[unknown[0]] = _dims.floordiv(x.shape[axis], rest)
    return reshape(x, (*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    x = as_tracer(ary)
    axis = normalized(axis, x.ndim)
    n, before = x.shape[axis], (slice(None),) * axis
    if isinstance(indices_or_sections, (int, np.integer)):
        count = int(indices_or_sections)
        if isinstance(n, Dim):
            raise at_user(ShapeError(
                f"a split of axis {axis}, of {n} entries, into {count} parts would have parts of "
                "other sizes in every sample; give the indices to split at"
            ))  # fmt: skip
        if count < 1:
            raise at_user(ShapeError(f"a split into {count} parts"))
        each, more = divmod(n, count)
        cuts: list[Any] = np.cumsum([each + (k < more) for k in range(count)])[:-1].tolist()
    else:
        cuts = list(indices_or_sections)
    edges = [0, *cuts, None]
    return [x[(*before, slice(a, b))] for a, b in zip(edges, edges[1:])]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    x = as_tracer(ary)
    n = x.shape[normalized(axis, x.ndim)]
    if isinstance(indices_or_sections, (int, np.integer)) and isinstance(n, int):
        if indices_or_sections < 1 or n % indices_or_sections:
            raise at_user(ShapeError(
                f"array split does not result in an equal division: {n} into {indices_or_sections}"
            ))  # fmt: skip
    return array_split(x, indices_or_sections, axis)


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Tracer]:
    return split(ary, indices_or_sections, 0)


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Tracer]:
    return split(ary, indices_or_sections, 0 if as_tracer(ary).ndim == 1 else 1)


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Tracer]:
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tracer, ...]:
    x = as_tracer(x)
    axis = normalized(axis, x.ndim)
    if isinstance(x.shape[axis], Dim):
        raise at_user(ShapeError(f"unstack along axis {axis}, whose size {x.shape[axis]} varies"))
    return tuple(x[(*(slice(None),) * axis, k)] for k in range(x.shape[axis]))


if hasattr(np, "unstack"):
    implements(np.unstack)(unstack)


def _compare_coordinates(x: Tracer, offset: Any, compare: Callable) -> Tracer:
    """A mask over the last two axes: ``compare(row + offset, column)``."""
    trace, batched = x._trace, x._value.batched
    row, column = (
        Tracer(trace, _emit_moves.coordinates(trace, x.shape, x.ndim - k, batched)) for k in (2, 1)
    )
    return compare(row + offset, column)


def _triangle(m: Any, k: Any, lower: bool) -> Tracer:
    x = as_tracer(m)
    if x.ndim < 2:
        raise at_user(ShapeError(f"a triangle of {shape_text(x.shape)}: two axes are needed"))
    keep = _compare_coordinates(x, k, np.greater_equal if lower else np.less_equal)
    return where(keep, x, scalar(0, x.dtype))


@implements(np.tril)
def tril(m: Any, k: Any = 0) -> Tracer:
    return _triangle(m, k, True)


@implements(np.triu)
def triu(m: Any, k: Any = 0) -> Tracer:
    return _triangle(m, k, False)


@implements(np.diagonal, method="diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tracer:
    x = as_tracer(a)
    first, second = normalized(axis1, x.ndim), normalized(axis2, x.ndim)
    rest = [k for k in range(x.ndim) if k not in (first, second)]
    x = x.transpose([first, second, *rest])
    x = x[:, offset:] if offset >= 0 else x[-offset:]
    n = _dims.minimum(x.shape[0], x.shape[1])
    # Entry i of row i.
    place = Tracer(x._trace, _emit_moves.coordinates(x._trace, [n], 0, x._value.batched))
    place = place[(slice(None), *(None,) * (x.ndim - 1))]
    taken = take_along_axis(x[:n], place, 1)[:, 0]
    return taken.transpose([*range(1, taken.ndim), 0])


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Tracer:
    x = as_tracer(v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise at_user(ShapeError(f"diag of {shape_text(x.shape)}: expected one or two axes"))
    below, right = max(-k, 0), max(k, 0)
    # Row i has entry i in column i.
    n = x.shape[0]
    square = Tracer(x._trace, _emit.broadcast_axes(
        x._trace, value_of(x), [0], (n, n), x._value.batched
    ))  # fmt: skip
    keep = _compare_coordinates(square, 0, np.equal)
    return pad(where(keep, square, scalar(0, x.dtype)), ((below, right), (right, below)))


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Tracer:
    return diag(ravel(v), k)


@implements(np.compress, method="compress")
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Tracer:
    if out is not None:
        raise unsupported("np.compress(..., out=)")
    trace = trace_of([condition, a])
    x = as_tracer(a, trace)
    x, axis = (ravel(x), 0) if axis is None else (x, normalized(axis, x.ndim))
    if axis != 0:
        raise unsupported("np.compress with axis > 0", "np.where keeps the shape")
    return x[as_tracer(condition, trace).astype(bool)]


@implements(np.flatnonzero)
def flatnonzero(a: Any) -> Tracer:
    x = ravel(as_tracer(a))
    places = Tracer(x._trace, _emit_moves.coordinates(x._trace, x.shape, 0, x._value.batched))
    return places[x.astype(bool)]


@implements(np.nonzero, method="nonzero")
def nonzero(a: Any) -> tuple[Tracer, ...]:
    x = as_tracer(a)
    if x.ndim != 1:
        raise unsupported("np.nonzero of more than one axis", "np.flatnonzero gives one index")
    return (flatnonzero(x),)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Tracer:
    trace = trace_of([arr, values])
    x = as_tracer(arr, trace)
    x, axis = (ravel(x), 0) if axis is None else (x, normalized(axis, x.ndim))
    if not isinstance(obj, (int, np.integer, Dim)):
        raise unsupported("np.insert at several places", "concatenate slices")
    new = as_tracer(values, trace).astype(x.dtype)
    if new.ndim < x.ndim:  # NumPy's one entry along the axis.
        new = expand_dims(new, axis) if new.ndim == x.ndim - 1 else new
        one = tuple(1 if k == axis else d for k, d in enumerate(x.shape))
        new = broadcast_to(new, one)
    before = (slice(None),) * axis
    return concatenate([x[(*before, slice(None, obj))], new, x[(*before, slice(obj, None))]], axis)


@implements(np.meshgrid)
def meshgrid(*xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> Any:
    trace = trace_of(xi)
    parts = [ravel(as_tracer(x, trace)) for x in xi]
    if indexing not in ("xy", "ij"):
        raise at_user(TraceError("meshgrid: indexing must be 'xy' or 'ij'"))
    places = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        places[:2] = [1, 0]
    sizes: list[Extent] = [1] * len(parts)
    for place, x in zip(places, parts):
        sizes[place] = x.shape[0]
    result = []
    for place, x in zip(places, parts):
        x = x[tuple(slice(None) if k == place else None for k in range(len(parts)))]
        result.append(x if sparse else broadcast_to(x, tuple(sizes)))
    return tuple(result)


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Tracer:
    trace = trace_of([a, b])
    if out is not None:
        raise unsupported("np.outer(..., out=)")
    return ravel(as_tracer(a, trace))[:, None] * ravel(as_tracer(b, trace))[None, :]


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tracer, ...]:
    trace = trace_of(args)
    parts = [as_tracer(x, trace) for x in args]
    dims = _emit.broadcast_dims(trace, [x.shape for x in parts], "and, in broadcast_arrays,")
    return tuple(broadcast_to(x, dims) for x in parts)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tracer:
    x = as_tracer(m)
    a, b = (normalized(axis, x.ndim) for axis in axes)
    turns = k % 4
    if turns == 2:
        return flip(x, (a, b))
    if turns == 1:
        return flip(x.swapaxes(a, b), a)
    return flip(x.swapaxes(a, b), b) if turns == 3 else x


def eye(rows: Extent, columns: Extent | None = None, k: int = 0, dtype: Any = np.float32) -> Tracer:
    dims = (rows, rows if columns is None else columns)
    trace = trace_of(dims)
    row, column = (Tracer(trace, _emit.iota(trace, dims, axis)) for axis in (0, 1))
    return (row + k == column).astype(dtype)


def one_hot(indices: Any, size: Extent, dtype: Any = np.float32) -> Tracer:
    trace = trace_of([indices, size])
    i = as_tracer(indices, trace)
    if not is_int(i.dtype):
        raise at_user(TraceError(f"one_hot needs integer indices, but got {i.dtype}"))
    dims = (*i.shape, size)
    places = Tracer(trace, _emit_moves.coordinates(trace, dims, i.ndim, i._value.batched))
    return (expand_dims(i, i.ndim) == places).astype(dtype)
