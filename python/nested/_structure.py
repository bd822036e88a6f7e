# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Structure of a ragged tensor: which axes are ragged, and the lengths of every sample."""

from __future__ import annotations

import re
from typing import Any, Sequence

import numpy as np

from ._errors import ArgumentError, StructureError
from ._ir import _SYMBOLS, shape_text

_RESERVED = {"B", "min", "max", "floordiv", "mod"}
_MAX = 2**63 - 1


def check_name(name: Any) -> str:
    """A name for a ragged axis. StructureError if the compiler could not use it."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name) or name in _RESERVED:
        raise StructureError(
            f"{name!r} can't name a ragged axis: expected an identifier other than "
            f"{', '.join(sorted(_RESERVED))}"
        )
    return name


def as_int64(values: Any, what: str) -> np.ndarray:
    """An int64 copy of integers, contiguous and read-only."""
    array = from_any(values)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise StructureError(f"{what} must be integers, but got {array.dtype}")
    if array.dtype == np.uint64 and array.size and array.max() > _MAX:
        raise StructureError(f"{what} exceed 64 bits")
    array = np.array(array, dtype=np.int64, order="C")
    array.flags.writeable = False
    return array


# Of DLPack: the CPU and memory that it can read as well; names of others.
_HOST_DEVICES = (1, 3, 11, 13)
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI"}


def from_any(x: Any) -> np.ndarray:
    """An array from anything with DLPack, the buffer protocol or NumPy's protocols, no copy
    where that is possible (dtypes that DLPack lacks come through ``__array__``). ArgumentError for
    memory that the processor can't read."""
    if hasattr(x, "__dlpack_device__"):
        kind, number = x.__dlpack_device__()
        if int(kind) not in _HOST_DEVICES:
            name = _DEVICES.get(int(kind), f"type {int(kind)}")
            raise ArgumentError(
                f"the array is in memory of device {name} {number}, but programs run on the CPU; "
                "copy it to the host first"
            )
    if not isinstance(x, np.ndarray) and hasattr(x, "__dlpack__") and not np.isscalar(x):
        try:
            return np.from_dlpack(x)
        except (BufferError, TypeError, RuntimeError):
            pass
    return np.asarray(x)


class Structure:
    """Element dims and lengths of a batch. Immutable; equal and hashable by content.

    ``dims``: for each axis of a sample, in logical order, its size, or for a ragged axis the
    name that the user gave, or a negative number; ragged axes with the same name or number
    have the same length in each sample. ``lengths``: int64 ``(B, q)``, one column for each of
    the q ragged axes. ``labels`` are names to show for axes without a name of the user.
    """

    __slots__ = ("dims", "lengths", "rows", "ragged", "labels", "_offsets", "_content")

    def __init__(self, dims: Sequence[int | str], lengths: np.ndarray, labels: Any = None):
        self.dims = tuple(dims)
        self.ragged = tuple(k for k, d in enumerate(self.dims) if isinstance(d, str) or d < 0)
        self.labels = dict(labels or {})
        lengths = np.ascontiguousarray(lengths).reshape(len(lengths), len(self.ragged))
        lengths.flags.writeable = False
        self.lengths = lengths
        self._check()
        self.rows = np.ones(len(lengths), np.int64)
        for column in lengths.T:
            self.rows = self.rows * column
        self._offsets: np.ndarray | None = None
        self._content: tuple | None = None

    def _check(self) -> None:
        lengths = self.lengths
        if lengths.size and lengths.min() < 0:
            sample, column = (int(i[0]) for i in np.nonzero(lengths < 0))
            raise StructureError(
                f"sample {sample} has the negative length {lengths[sample, column]} on axis "
                f"{self.ragged[column]}"
            )
        first: dict[Any, int] = {}
        for column, axis in enumerate(self.ragged):
            other = first.setdefault(self.dims[axis], column)
            differ = np.nonzero(lengths[:, other] != lengths[:, column])[0]
            if len(differ):
                i = int(differ[0])
                raise StructureError(
                    f"sample {i}: axes {self.ragged[other]} and {axis} are both "
                    f"{self.dims[axis] if isinstance(self.dims[axis], str) else 'of one size'}, "
                    f"but have sizes {lengths[i, other]} and {lengths[i, column]}"
                )
        if lengths.size and np.prod(lengths.astype(float), axis=1).sum() >= 2.0**62:
            total = 0
            for i, row in enumerate(lengths.tolist()):
                product = 1
                for n in row:
                    product *= n
                total += product
                if total > _MAX:
                    raise StructureError(
                        f"the number of rows exceeds 64 bits at sample {i} of lengths {tuple(row)}"
                    )

    @property
    def batch_size(self) -> int:
        return len(self.lengths)

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The static sizes, in logical order: the shape of one row of values."""
        return tuple(d for k, d in enumerate(self.dims) if k not in self.ragged)  # type: ignore

    @property
    def packed_order(self) -> tuple[int, ...]:
        """Logical axes in the order of storage: ragged ones first."""
        return self.ragged + tuple(k for k in range(len(self.dims)) if k not in self.ragged)

    @property
    def offsets(self) -> np.ndarray:
        """First row of every sample when packed, and the total: B + 1 values."""
        if self._offsets is None:
            self._offsets = np.concatenate([[0], np.cumsum(self.rows)]).astype(np.int64)
            self._offsets.flags.writeable = False
        return self._offsets

    def mask(self, sizes: Sequence[int]) -> np.ndarray:
        """bool ``(B, sizes...)``, one size for each ragged axis: where samples have entries."""
        mask = np.ones((self.batch_size,) + (1,) * len(self.ragged), bool)
        for k, (size, column) in enumerate(zip(sizes, self.lengths.T)):
            inside = np.arange(size) < column[:, None]
            shape = [self.batch_size] + [1] * len(self.ragged)
            shape[k + 1] = size
            mask = mask & inside.reshape(shape)
        return mask

    def shape_of(self, i: int) -> tuple[int, ...]:
        """The shape of sample i, logical order."""
        shape = [d if isinstance(d, int) else 0 for d in self.dims]
        for axis, n in zip(self.ragged, self.lengths[i].tolist()):
            shape[axis] = n
        return tuple(shape)

    def row_splits(self, level: int) -> np.ndarray:
        """Row splits of one level: level 0 splits the batch into samples, level k the rows of
        the first k ragged axes by the next one."""
        if not 0 <= level < max(len(self.ragged), 1):
            raise StructureError(
                f"level {level} of a structure with {len(self.ragged)} ragged axes"
            )
        outer = np.ones(self.batch_size, np.int64)
        for column in self.lengths.T[:level]:
            outer = outer * column
        sizes = self.lengths[:, level] if self.ragged else outer
        return np.concatenate([[0], np.cumsum(np.repeat(sizes, outer))]).astype(np.int64)

    def names(self) -> tuple[int | str, ...]:
        """The dims with a name for every ragged axis, for messages."""
        free = [s for s in _SYMBOLS if s not in self.dims]
        chosen: dict[Any, str] = {}
        for axis in self.ragged:
            d = self.dims[axis]
            if d not in chosen:
                chosen[d] = d if isinstance(d, str) else self.labels.get(d) or free.pop(0)
        return tuple(chosen.get(d, d) for d in self.dims)

    def select(self, samples: Any) -> Structure:
        """The structure of some of the samples."""
        return Structure(self.dims, np.ascontiguousarray(self.lengths[samples]), self.labels)

    def _key(self) -> tuple:
        if self._content is None:
            classes: dict[Any, int] = {}
            dims = tuple(
                (classes.setdefault(d, len(classes)),) if k in self.ragged else d
                for k, d in enumerate(self.dims)
            )
            self._content = dims, self.lengths.shape, self.lengths.tobytes()
        return self._content

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        return isinstance(other, Structure) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> tuple:
        return self.dims, np.array(self.lengths), self.labels

    def __setstate__(self, state: tuple) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Structure{shape_text(self.names())} of {summary(self)}"


def summary(structure: Structure) -> str:
    """ "3 samples, N = 2 3 0": lengths of a batch in a line."""
    count = structure.batch_size
    text = f"{count} sample{'' if count == 1 else 's'}"
    shown: dict[str, str] = {}
    for column, axis in enumerate(structure.ragged):
        values = structure.lengths[:, column].tolist()
        head = " ".join(map(str, values[:6]))
        if len(values) > 6:
            head += f" ... {values[-1]}"
        shown.setdefault(str(structure.names()[axis]), head)
    return ", ".join([text, *(f"{name} = {head}" for name, head in shown.items() if count)])
