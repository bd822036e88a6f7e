# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NestedTensor: a batch of arrays of different sizes, stored packed."""

from __future__ import annotations

import math
from typing import Any, Iterator, Sequence

import numpy as np

from . import _runtime
from ._dtypes import as_dtype, bfloat16, convert, filled, text_of
from ._errors import StructureError
from ._ir import shape_text
from ._structure import Structure, as_int64, check_name, from_any, summary


class NestedTensor:
    """A batch of arrays whose sizes differ from sample to sample.

    Made by :func:`nested.from_list`, :func:`nested.from_values`, :func:`nested.from_padded`,
    and by compiled functions. The numbers lie in one array of shape ``(T, static sizes...)``
    with the rows of the samples one after another; ragged axes come first in a row's order.
    """

    __slots__ = ("_storage", "_structure", "_starts", "_packed", "__weakref__")

    def __init__(
        self, storage: np.ndarray, structure: Structure, starts: np.ndarray | None = None
    ) -> None:
        self._storage, self._structure, self._starts = storage, structure, starts
        self._packed: np.ndarray | None = storage if starts is None else None

    # -- structure --

    @property
    def structure(self) -> Structure:
        """The structure; equal and hashable by content: ``x.structure == y.structure``."""
        return self._structure

    @property
    def dims(self) -> tuple[int | str, ...]:
        """Sizes of the axes of a sample; a name for each ragged one."""
        return self._structure.names()

    @property
    def ragged(self) -> tuple[int, ...]:
        """The ragged axes of a sample."""
        return self._structure.ragged

    @property
    def dtype(self) -> np.dtype:
        return self._storage.dtype

    @property
    def ndim(self) -> int:
        """Axes of a sample."""
        return len(self._structure.dims)

    def __len__(self) -> int:
        return self._structure.batch_size

    @property
    def lengths(self) -> np.ndarray:
        """int64 ``(B,)``: the ragged axis of every sample; ``(B, q)`` for q ragged axes."""
        lengths = self._structure.lengths
        return lengths[:, 0] if lengths.shape[1] == 1 else lengths

    @property
    def offsets(self) -> np.ndarray:
        """int64 ``(B + 1,)``: first row of every sample in ``values``, and the total."""
        return self._structure.offsets

    def row_splits(self, level: int) -> np.ndarray:
        """int64: level 0 splits the batch into samples, level k the rows of the first k ragged
        axes by the next. Lengths (2, 3), square: level 1 is 0 2 4 7 10 13."""
        return self._structure.row_splits(level)

    def shape_of(self, i: int) -> tuple[int, ...]:
        """The shape of sample i. IndexError beyond the batch."""
        return self._structure.shape_of(self._sample(i))

    def _sample(self, i: Any) -> int:
        i, count = int(i), len(self)
        if not -count <= i < count:
            raise IndexError(f"sample {i} of a batch of {count}")
        return i % count

    # -- numbers --

    @property
    def values(self) -> np.ndarray:
        """``(T, static sizes...)``: the packed numbers. A copy if the batch is a view with
        gaps (``from_values(..., starts=)``), the memory itself otherwise."""
        if self._packed is None:
            rows = self._structure.rows
            total = int(self.offsets[-1])
            index = np.repeat(self._starts - self.offsets[:-1], rows) + np.arange(total)
            self._packed = self._storage[index]
        return self._packed

    @property
    def starts(self) -> np.ndarray:
        """int64 ``(B,)``: first row of every sample in ``storage``."""
        return self.offsets[:-1] if self._starts is None else self._starts

    @property
    def storage(self) -> np.ndarray:
        """The array that the batch was made of; has other rows too if there are gaps."""
        return self._storage

    def sample(self, i: int) -> np.ndarray:
        """Sample i as an array, a view where its memory allows."""
        i = self._sample(i)
        s = self._structure
        first = int(self.starts[i])
        rows = self._storage[first : first + int(s.rows[i])]
        array = rows.reshape([*s.lengths[i].tolist(), *s.row_shape])
        return array.transpose(np.argsort(s.packed_order))

    def __getitem__(self, key: Any) -> Any:
        """``x[i]``: a sample as an array. ``x[1:3]``, ``x[[2, 0]]``, ``x[bools]``: some samples as
        a batch. ``x[:, 1:]``: every sample indexed; ``x[:, mask]`` or ``x[mask]`` with a batch of
        masks: the entries of every sample that are true. IndexError beyond the batch."""
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            return self.sample(key)
        if isinstance(key, NestedTensor):
            key = (slice(None), key)
        if isinstance(key, tuple):
            return self._index(key)
        if key is None:
            raise IndexError("a batch has no axis before its samples; use x[:, None]")
        if not isinstance(key, slice):
            key = np.asarray(key)
            if key.dtype != bool:
                key = as_int64(key, "samples")
                outside = (key < -len(self)) | (key >= len(self))
                if outside.any():
                    self._sample(key[outside][0])
            if key.ndim != 1 or (key.dtype == bool and len(key) != len(self)):
                raise IndexError(f"can't select samples of a batch of {len(self)} with {key!r}")
        starts = np.ascontiguousarray(self.starts[key])
        structure = self._structure.select(key)
        if np.array_equal(starts, structure.offsets[:-1] + (starts[0] if len(starts) else 0)):
            first = int(starts[0]) if len(starts) else 0
            return NestedTensor(
                self._storage[first : first + int(structure.offsets[-1])], structure
            )
        chosen = NestedTensor(self._storage, structure, starts)
        return NestedTensor(chosen.values, structure)

    def _index(self, key: tuple) -> Any:
        """An index with parts: the first chooses samples, the others index each of them."""
        from ._eager import index

        first, rest = (key[0], key[1:]) if key else (slice(None), ())
        if first is Ellipsis:
            first, rest = slice(None), key
        if isinstance(first, (int, np.integer)) and not isinstance(first, (bool, np.bool_)):
            return self.sample(first)[rest]
        chosen = self if isinstance(first, slice) and first == slice(None) else self[first]
        return index(chosen, rest) if rest else chosen

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.sample(i) for i in range(len(self)))

    def to_list(self) -> list[np.ndarray]:
        """The samples as arrays."""
        return list(self)

    @property
    def mask(self) -> np.ndarray:
        """bool ``(B, longest...)``, one axis for each ragged axis: where samples have entries."""
        s = self._structure
        return s.mask(s.lengths.max(axis=0, initial=0).tolist())

    def to_padded(self, fill: Any = 0, sizes: Any = None) -> np.ndarray:
        """``(B, sizes...)`` in logical order: every sample, filled up to the longest, or to ``sizes``
        (one for each ragged axis, or one for all). StructureError for a longer sample."""
        s = self._structure
        outer = s.lengths.max(axis=0, initial=0).tolist()
        if sizes is not None:
            outer = self._padded_sizes(sizes, outer)
        packed = np.empty([len(self), *outer, *s.row_shape], self.dtype)
        row = filled(s.row_shape, fill, self.dtype).tobytes()
        _runtime.pad(_bytes_of(packed), _bytes_of(np.ascontiguousarray(self.values)), s.lengths, outer,
                     len(row), row if any(row) else None)  # fmt: skip
        return packed.transpose([0, *(1 + np.argsort(s.packed_order))])

    def _padded_sizes(self, sizes: Any, longest: list[int]) -> list[int]:
        given = list(sizes) if isinstance(sizes, (tuple, list)) else [sizes] * len(longest)
        if len(given) != len(longest):
            raise StructureError(f"sizes={sizes!r} for {len(longest)} ragged axes")
        for axis, size, n in zip(self.ragged, given, longest):
            if size < n:
                raise StructureError(f"a sample has {n} entries on axis {axis}, more than {size}")
        return [int(n) for n in given]

    def astype(self, dtype: Any) -> NestedTensor:
        """The same structure with values of another dtype."""
        return NestedTensor(convert(self.values, as_dtype(dtype)), self._structure)

    def with_values(self, values: Any) -> NestedTensor:
        """The same ragged axes with other values ``(T, static sizes...)``."""
        values = from_any(values)
        s = self._structure
        if values.ndim == 0 or len(values) != int(self.offsets[-1]):
            raise StructureError(
                f"values of shape {shape_text(values.shape)} for {int(self.offsets[-1])} rows"
            )
        dims = [s.dims[k] for k in s.ragged] + list(values.shape[1:])
        if values.shape[1:] == s.row_shape:
            dims = list(s.dims)
        return NestedTensor(values, Structure(dims, s.lengths, s.labels))

    # -- comparison, pickling, text --

    def __eq__(self, other: Any) -> bool:  # type: ignore[override]
        """True for the same structure and equal numbers (NaN equals nothing)."""
        if not isinstance(other, NestedTensor):
            return NotImplemented
        if self._structure != other._structure:
            return False
        return np.array_equal(*(
            convert(v, np.dtype(np.float32)) if v.dtype == bfloat16 else v
            for v in (self.values, other.values)
        ))  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        values = np.ascontiguousarray(self.values)
        if values.dtype == bfloat16:  # as its bits: ml_dtypes may be on one side alone
            return _of_bits, (values.view(np.uint16), self._structure)
        return NestedTensor, (values, self._structure)

    def __copy__(self) -> NestedTensor:
        return NestedTensor(self._storage, self._structure, self._starts)

    def __deepcopy__(self, memo: Any) -> NestedTensor:
        return NestedTensor(np.array(self.values), self._structure)

    def __dlpack__(self, **kwargs: Any) -> Any:
        """DLPack of ``values``."""
        return self.values.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError(
            "a NestedTensor is not one array: use .values, .to_padded() or x[i], or compute in a "
            "function compiled by nested.jit"
        )

    # -- operations, each a small compiled program (see nested.eager) --

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ._eager import call_ufunc
        from ._tracer import is_traced, lift, trace_of

        for x in inputs:
            if is_traced(x):
                lift(trace_of([x]), self)  # raises: a batch inside of a traced function
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from ._eager import call

        return call(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """Methods of arrays, on every sample: ``x.sum(axis=0)``, ``x.transpose(1, 0)``, ``x.T``."""
        from . import _eager, _functions
        from ._tracer import Tracer

        if name in ("T", "mT"):
            return _eager.call(_ATTRIBUTES[name], (self,))
        found = getattr(Tracer, name, None) if name in _METHODS else _functions.method(name)
        if found is None:
            raise AttributeError(f"'NestedTensor' object has no attribute '{name}'")
        return lambda *args, **kwargs: _eager.call(found, (self, *args), kwargs)

    def __repr__(self) -> str:
        gaps = ", with gaps" if self._starts is not None else ""
        return (
            f"NestedTensor{shape_text(self.dims)}({summary(self._structure)}, "
            f"{int(self.offsets[-1])} rows, {text_of(self.dtype)}{gaps})"
        )


_METHODS = {"transpose", "swapaxes"}
_ATTRIBUTES: dict[str, Any] = {"T": lambda x: x.T, "mT": lambda x: x.mT}


def _install_operators() -> None:
    """The operators of arrays but ``==``, which compares batches as a whole; and boundaries, behind
    which our frames don't show in errors."""
    from ._errors import public_method
    from ._tracer import COMPARISONS, OPERATORS, UNARY

    def install(name: str, method: Any) -> None:
        setattr(NestedTensor, name, public_method(method, name))

    def forward(ufunc: np.ufunc) -> Any:
        return lambda self, other: ufunc(self, other)

    def backward(ufunc: np.ufunc) -> Any:
        return lambda self, other: ufunc(other, self)

    def unary(ufunc: np.ufunc) -> Any:
        return lambda self: ufunc(self)

    for name, ufunc in OPERATORS.items():
        install(f"__{name}__", forward(ufunc))
        install(f"__r{name}__", backward(ufunc))
    for name, ufunc in COMPARISONS.items():
        if ufunc not in (np.equal, np.not_equal):
            install(f"__{name}__", forward(ufunc))
    for name, ufunc in UNARY.items():
        install(f"__{name}__", unary(ufunc))
    for name in ("__getitem__", "__array_ufunc__", "__array_function__"):
        install(name, getattr(NestedTensor, name))


# ---------------------------------------------------------------------------
# Making
# ---------------------------------------------------------------------------


def dims_of(rank: int, ragged: Sequence[int], shape: Sequence[int], dims: Any) -> list[int | str]:
    """Element dims from ``ragged=`` or ``dims=``; static sizes are taken from ``shape``."""
    if dims is not None:
        dims = tuple(dims)
        if len(dims) != rank:
            raise StructureError(f"dims={dims} names {len(dims)} axes, samples have {rank}")
        result: list[int | str] = []
        for axis, d in enumerate(dims):
            if d is None:
                result.append(-1 - axis)
            elif isinstance(d, (int, np.integer)):
                if shape[axis] >= 0 and shape[axis] != d:
                    raise StructureError(
                        f"axis {axis} has size {shape[axis]}, dims={dims} says {d}"
                    )
                result.append(int(d))
            else:
                result.append(check_name(d))
        return result
    axes = set()
    for axis in [ragged] if isinstance(ragged, int) else ragged:
        if not -rank <= axis < rank:
            raise StructureError(f"ragged axis {axis} of samples with {rank} axes")
        axes.add(axis % rank)
    return [-1 - k if k in axes else shape[k] for k in range(rank)]


def _of_bits(bits: np.ndarray, structure: Structure) -> NestedTensor:
    return NestedTensor(bits.view(bfloat16), structure)


def from_list(
    xs: Any, ragged: Sequence[int] = (0,), dims: Sequence | None = None, dtype: Any = None
) -> NestedTensor:
    """Packs samples into a batch.

    xs: arrays (or nests of lists) of one dtype and rank. ragged: the axes whose size may differ
    from sample to sample; declared, never inferred from sizes. dims: one entry for each axis in
    place of ``ragged``: a size, a name for a ragged axis (axes of the same name have the same
    size), or None for a ragged axis without a name. dtype: of the result; needed with dims for
    an empty batch (default: that of the samples). Raises StructureError for samples that don't
    fit the declaration, and for axes that differ without having been declared.
    """
    arrays = [from_any(x) for x in xs]
    wanted = as_dtype(dtype) if dtype is not None else None
    if not arrays:
        if dims is None:
            raise StructureError("an empty batch needs dims=, e.g. from_list([], dims=('N', 384))")
        empty = [-1 if not isinstance(d, (int, np.integer)) else int(d) for d in dims]
        elements = dims_of(len(empty), (), empty, dims)
        structure = Structure(elements, np.zeros((0, _count(elements)), np.int64))
        return NestedTensor(np.zeros((0, *structure.row_shape), wanted or np.float32), structure)
    if wanted is None:
        wanted = next((a.dtype for a in arrays if a.size), arrays[0].dtype)
    rank = arrays[0].ndim
    for i, a in enumerate(arrays):
        if a.ndim != rank:
            raise StructureError(f"sample {i} has {a.ndim} axes, sample 0 has {rank}")
        if dtype is None and a.dtype != wanted and a.size:
            raise StructureError(
                f"sample {i} is {text_of(a.dtype)}, others are {text_of(wanted)}; pass dtype="
            )
    elements = dims_of(rank, ragged, arrays[0].shape, dims)
    axes = [k for k, d in enumerate(elements) if isinstance(d, str) or d < 0]
    for axis, d in enumerate(elements):
        for i, a in enumerate(arrays):
            if axis not in axes and a.shape[axis] != d:
                sizes = f"sample 0 has {arrays[0].shape[axis]}, sample {i} has {a.shape[axis]}"
                if dims is not None:
                    raise StructureError(f"sample {i} has {a.shape[axis]} on axis {axis}, not {d}")
                declared = tuple(sorted({*axes, axis}))
                raise StructureError(
                    f"samples differ on axis {axis}, which was not declared ragged: {sizes}; "
                    f"declare ragged={declared}"
                )
    lengths = np.array([[a.shape[k] for k in axes] for a in arrays], np.int64)
    structure = Structure(elements, lengths.reshape(len(arrays), len(axes)))
    values = np.empty((int(structure.offsets[-1]), *structure.row_shape), wanted)
    order = structure.packed_order
    for i, a in enumerate(arrays):
        part = values[int(structure.offsets[i]) : int(structure.offsets[i + 1])]
        part.reshape([*lengths[i].tolist(), *structure.row_shape])[...] = convert(
            a.transpose(order), values.dtype
        )
    return NestedTensor(values, structure)


def _count(dims: Sequence[int | str]) -> int:
    return sum(isinstance(d, str) or d < 0 for d in dims)


def from_values(
    values: Any,
    lengths: Any = None,
    *,
    offsets: Any = None,
    starts: Any = None,
    ragged: Sequence[int] = (0,),
    dims: Sequence | None = None,
) -> NestedTensor:
    """A batch from packed numbers, without a copy.

    values: ``(T, static sizes...)``, anything with DLPack or the buffer protocol. lengths: ints
    ``(B,)``, or ``(B, q)`` for q ragged axes (all of one size: ``(B,)`` will do). offsets: ints
    ``(B + 1,)`` in place of lengths for one ragged axis, or beside lengths, saying where samples
    begin. starts: ints ``(B,)``, the first row of each sample in ``values``, where samples are
    not packed without gaps. ragged, dims: as in from_list; static sizes follow from ``values``.
    Raises StructureError for lengths or offsets that are negative, decrease, or need more rows
    than there are.
    """
    array = from_any(values)
    if array.ndim == 0:
        raise StructureError("values must have at least one axis, the rows")
    if offsets is not None:
        if starts is not None:
            raise StructureError("pass offsets= or starts=, not both")
        offsets = _checked_offsets(offsets)
        starts = offsets[:-1]
        if lengths is None:
            lengths = np.diff(offsets)
    if lengths is None:
        raise StructureError("from_values needs lengths= or offsets=")
    counts = as_int64(lengths, "lengths")
    names = [d for d in dims if not isinstance(d, (int, np.integer))] if dims is not None else None
    q = len(names) if names is not None else len([ragged] if isinstance(ragged, int) else ragged)
    if counts.ndim == 1 and q != 1:
        counts = np.ascontiguousarray(np.repeat(counts[:, None], q, axis=1))
    if counts.ndim == 1:
        counts = counts[:, None]
    if counts.ndim != 2 or counts.shape[1] != q:
        raise StructureError(
            f"lengths of shape {shape_text(counts.shape)} for {q} ragged axes; expected (B, {q})"
        )
    rank = q + array.ndim - 1
    shape = [-1] * rank
    if dims is not None:
        static = [k for k, d in enumerate(dims) if isinstance(d, (int, np.integer))]
        if len(tuple(dims)) != rank:
            raise StructureError(f"dims={tuple(dims)} for values of {array.ndim} axes")
    else:
        raggeds = {a % rank for a in ([ragged] if isinstance(ragged, int) else ragged)}
        static = [k for k in range(rank) if k not in raggeds]
    for axis, n in zip(static, array.shape[1:]):
        shape[axis] = n
    structure = Structure(dims_of(rank, ragged, shape, dims), np.array(counts))
    total = int(structure.offsets[-1])
    if starts is None:
        if total > len(array):
            raise StructureError(f"the lengths need {total} rows, values have {len(array)}")
        return NestedTensor(array[:total], structure)
    starts = as_int64(starts, "starts")
    _check_starts(starts, structure, len(array))
    if np.array_equal(starts, structure.offsets[:-1]):
        return NestedTensor(array[:total], structure)
    return NestedTensor(array, structure, starts)


def _checked_offsets(offsets: Any) -> np.ndarray:
    offsets = as_int64(offsets, "offsets")
    if offsets.ndim != 1 or len(offsets) == 0:
        raise StructureError("offsets must have one axis of B + 1 entries")
    if offsets.min() < 0:
        i = int(np.argmin(offsets))
        raise StructureError(f"offset {i} is negative: {offsets[i]}")
    down = np.nonzero(np.diff(offsets) < 0)[0]
    if len(down):
        i = int(down[0])
        raise StructureError(
            f"offsets decrease: entry {i} is {offsets[i]}, {i + 1} is {offsets[i + 1]}"
        )
    return offsets


def _check_starts(starts: np.ndarray, structure: Structure, capacity: int) -> None:
    if starts.shape != (structure.batch_size,):
        raise StructureError(
            f"{shape_text(starts.shape)} starts for {structure.batch_size} samples"
        )
    if len(starts) and starts.min() < 0:
        i = int(np.argmin(starts))
        raise StructureError(f"sample {i} starts at the negative row {starts[i]}")
    down = np.nonzero(np.diff(starts) < 0)[0]
    if len(down):
        i = int(down[0])
        raise StructureError(
            f"starts decrease: sample {i} starts at row {starts[i]}, {i + 1} at {starts[i + 1]}"
        )
    late = np.nonzero((starts > capacity - structure.rows) & (structure.rows > 0))[0]
    if len(late):
        i = int(late[0])
        raise StructureError(
            f"sample {i} needs rows {starts[i]} to {starts[i] + structure.rows[i]}, values have "
            f"{capacity}"
        )


def from_padded(
    array: Any,
    mask: Any = None,
    *,
    lengths: Any = None,
    ragged: Sequence[int] = (0,),
    dims: Sequence | None = None,
) -> NestedTensor:
    """A batch from an array ``(B, sizes...)`` that was padded at the ends.

    mask: bool ``(B, sizes of the ragged axes...)``, true where there are entries; it must be true
    from 0 up to a length along each ragged axis. lengths: ints ``(B,)`` or ``(B, q)`` in place of
    it. ragged, dims: as in from_list, axes of a sample. Raises StructureError otherwise.
    """
    array = from_any(array)
    if array.ndim == 0:
        raise StructureError("a padded array has a batch axis")
    rank = array.ndim - 1
    elements = dims_of(rank, ragged, array.shape[1:], dims)
    axes = [k for k, d in enumerate(elements) if isinstance(d, str) or d < 0]
    if (mask is None) == (lengths is None):
        raise StructureError("from_padded needs either a mask or lengths=")
    if mask is not None and np.asarray(mask).dtype != bool and np.ndim(mask) == 1:
        mask, lengths = None, mask  # from_padded(array, lengths)
    if mask is not None:
        mask = from_any(mask)
        expected = (len(array), *(array.shape[1 + k] for k in axes))
        if mask.dtype != bool or mask.shape != expected:
            raise StructureError(
                f"expected a mask of bools of shape {shape_text(expected)}, but got "
                f"{mask.dtype} {shape_text(mask.shape)}"
            )
        columns = []
        for k in range(len(axes)):
            others = tuple(j + 1 for j in range(len(axes)) if j != k)
            columns.append(mask.any(axis=others).sum(axis=1))
        counts = np.stack(columns, axis=1) if columns else np.zeros((len(array), 0), int)
        counts = np.where((counts == 0).any(axis=1, keepdims=True), 0, counts)
        inside = Structure([-1 - k for k in range(len(axes))],
                           np.ascontiguousarray(counts, np.int64)).mask(mask.shape[1:])  # fmt: skip
        wrong = np.nonzero((inside != mask).any(axis=tuple(range(1, mask.ndim))))[0]
        if len(wrong):
            raise StructureError(
                f"the mask of sample {wrong[0]} has holes: entries must be together at the front"
            )
    else:
        counts = as_int64(lengths, "lengths")
        if counts.ndim == 1:
            counts = np.repeat(counts[:, None], len(axes), axis=1)
        if counts.shape != (len(array), len(axes)):
            raise StructureError(
                f"lengths of shape {shape_text(np.shape(lengths))} for {len(array)} samples with "
                f"{len(axes)} ragged axes"
            )
        limits = np.array([array.shape[1 + k] for k in axes], np.int64)
        over = np.argwhere(counts > limits)
        if len(over):
            i, column = over[0]
            raise StructureError(
                f"sample {i} has length {counts[i, column]}, the padded axis {axes[column]} has "
                f"{limits[column]}"
            )
    structure = Structure(elements, np.ascontiguousarray(counts, np.int64))
    padded = np.ascontiguousarray(array.transpose([0, *(1 + k for k in structure.packed_order)]))
    rows = np.empty((int(structure.rows.sum()), *structure.row_shape), array.dtype)
    row_bytes = array.itemsize * math.prod(structure.row_shape)
    sizes = [array.shape[1 + k] for k in axes]
    _runtime.unpad(_bytes_of(rows), _bytes_of(padded), structure.lengths, sizes, row_bytes)
    return NestedTensor(rows, structure)


def _bytes_of(array: np.ndarray) -> np.ndarray:
    """The memory of a contiguous array, whatever its dtype."""
    return array.reshape(-1).view(np.uint8)
