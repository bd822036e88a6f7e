# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches from and to other libraries' ragged arrays: Awkward Array and PyTorch's nested tensors.

Both are optional: a function here imports what it needs. Memory is shared where both sides can
hold it the same way; the docstrings say when there is a copy.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ._errors import StructureError, public
from ._structure import Structure, check_name, from_any
from ._tensor import NestedTensor, from_list, from_values

__all__ = ["from_awkward", "to_awkward", "from_torch", "to_torch"]


@public
def from_awkward(array: Any, dims: Sequence | None = None) -> NestedTensor:
    """A batch from an ``awkward.Array``: its first axis is the batch, ``var`` axes are ragged, axes
    of fixed size are static. Numbers are not copied where they lie together.

    dims: as in :func:`nested.from_list`; says which ragged axes have one size. Raises
    StructureError for missing values, records and strings, and for a sample that is itself ragged
    (a list of lists of different lengths): such a sample is no array. Awkward does not know the
    inner sizes of a sample of 0 lists: they are 0 here.
    """
    import awkward as ak

    node = ak.to_layout(ak.to_packed(array))
    count = len(node)
    lengths: list[np.ndarray] = []
    kinds: list[bool] = []
    sizes: list[int] = []
    rows = np.ones(count, np.int64)  # of every sample, down to this depth
    while True:
        if isinstance(node, ak.contents.NumpyArray) and node.data.ndim > 1:
            node = node.to_RegularArray()
        if not node.is_list or node.parameter("__array__") is not None:
            break
        kinds.append(not node.is_regular)
        if node.is_regular:
            sizes.append(int(node.size))
            rows = rows * node.size
            node = node.content[: len(node) * node.size]
            continue
        node = node.to_ListOffsetArray64(True)
        size = _one_size(np.diff(np.asarray(node.offsets)), rows, len(kinds) - 1)
        sizes.append(-1)
        lengths.append(size)
        rows = rows * size
        node = node.content
    if not isinstance(node, ak.contents.NumpyArray) or node.parameter("__array__") is not None:
        raise StructureError(f"expected an array of numbers, but got {ak.type(array)}")
    elements = _elements(kinds, sizes, dims)
    table = np.stack(lengths, axis=1) if lengths else np.zeros((count, 0), np.int64)
    structure = Structure(elements, table)
    values = np.asarray(node.data)[: int(rows.sum())]
    if _is_packed(kinds):
        return NestedTensor(values.reshape(-1, *structure.row_shape), structure)
    # A static axis before a ragged one: awkward stores samples in logical order.
    parts = np.split(values, np.cumsum(rows)[:-1])
    samples = [part.reshape(structure.shape_of(i)) for i, part in enumerate(parts)]
    packed = from_list(samples, structure.ragged, dtype=values.dtype) if count else None
    empty = np.zeros((0, *structure.row_shape), values.dtype)
    return NestedTensor(packed.values if packed else empty, structure)


def _one_size(counts: np.ndarray, rows: np.ndarray, axis: int) -> np.ndarray:
    """The size of every sample along an axis, from the sizes of all its lists there."""
    first = np.minimum(np.cumsum(rows) - rows, max(len(counts) - 1, 0))
    size = np.where(rows > 0, counts[first], 0) if len(counts) else np.zeros_like(rows)
    uneven = np.nonzero(np.repeat(size, rows) != counts)[0]
    if len(uneven):
        i = int(np.searchsorted(np.cumsum(rows), uneven[0], side="right"))
        raise StructureError(
            f"sample {i} is itself ragged: on axis {axis} it has lists of {size[i]} and of "
            f"{counts[uneven[0]]} entries"
        )
    return size.astype(np.int64)


def _is_packed(kinds: Sequence[bool]) -> bool:
    return list(kinds) == sorted(kinds, reverse=True)


def _elements(kinds: Sequence[bool], sizes: Sequence[int], dims: Any) -> list[int | str]:
    if dims is None:
        return [-1 - k if ragged else sizes[k] for k, ragged in enumerate(kinds)]
    dims = tuple(dims)
    if len(dims) != len(kinds):
        raise StructureError(f"dims={dims} names {len(dims)} axes, samples have {len(kinds)}")
    elements: list[int | str] = []
    for k, (d, ragged) in enumerate(zip(dims, kinds)):
        if isinstance(d, (int, np.integer)):
            if ragged or sizes[k] != d:
                have = "var" if ragged else sizes[k]
                raise StructureError(f"axis {k} is {have}, dims={dims} says {d}")
            elements.append(int(d))
        else:
            elements.append(-1 - k if d is None else check_name(d))
    return elements


@public
def to_awkward(x: NestedTensor) -> Any:
    """An ``awkward.Array`` with a ``var`` axis for every ragged axis; numbers are not copied unless
    a static axis lies before a ragged one."""
    import awkward as ak

    s = x.structure
    kinds = [k in s.ragged for k in range(x.ndim)]
    if not _is_packed(kinds):
        flat = np.concatenate([a.ravel() for a in x]) if len(x) else x.values.ravel()
        node = ak.contents.NumpyArray(flat)
        axes = list(range(x.ndim))
    else:
        node = ak.to_layout(ak.from_numpy(np.ascontiguousarray(x.values), regulararray=True))
        if x.ndim == len(s.ragged):
            node = ak.contents.NumpyArray(np.ascontiguousarray(x.values))
        axes = list(s.ragged)
        if not axes:
            return ak.Array(node)
    # From the innermost axis out: how many lists there are at each depth, per sample.
    outer = [np.ones(len(x), np.int64)]
    sizes = []
    for axis in axes:
        column = (
            s.lengths[:, s.ragged.index(axis)] if axis in s.ragged
            else np.full(len(x), s.dims[axis], np.int64)
        )  # fmt: skip
        sizes.append(column)
        outer.append(outer[-1] * column)
    for axis, size, count in reversed(list(zip(axes, sizes, outer))):
        if axis in s.ragged:
            offsets = np.concatenate([[0], np.cumsum(np.repeat(size, count))]).astype(np.int64)
            node = ak.contents.ListOffsetArray(ak.index.Index64(offsets), node)
        else:
            node = ak.contents.RegularArray(node, int(s.dims[axis]), int(count.sum()))
    return ak.Array(node)


@public
def from_torch(x: Any, dims: Sequence | None = None) -> NestedTensor:
    """A batch from a ``torch.nested`` tensor on the CPU, of either layout. A jagged one shares its
    values' memory; a strided one is copied.

    dims: as in :func:`nested.from_list`. By default the jagged dim, or every dim of a strided one
    whose size differs, is ragged: there torch has the declaration. StructureError for others.
    """
    import torch

    if not x.is_nested:
        raise StructureError("expected a nested tensor; use from_padded or DLPack for others")
    x = x.detach()
    if x.layout == torch.jagged:
        offsets = x.offsets().cpu().numpy().astype(np.int64)
        axis = x._ragged_idx - 1
        values = x.values()
        if axis != 0:
            values = values.movedim(axis, 0)
        rank = x.dim() - 1
        given = dims if dims is not None else [
            None if k == axis else int(x.shape[k + 1]) for k in range(rank)
        ]  # fmt: skip
        lengths = x.lengths()
        if lengths is None:
            return from_values(from_any(values), offsets=offsets, dims=given)
        return from_values(from_any(values), lengths.cpu().numpy(), starts=offsets[:-1], dims=given)
    samples = [from_any(t) for t in x.unbind()]
    if not samples:
        raise StructureError("a strided nested tensor without samples has no shape; use from_list")
    if dims is not None:
        return from_list(samples, dims=dims)
    rank = samples[0].ndim
    uneven = [k for k in range(rank) if len({a.shape[k] for a in samples}) > 1]
    return from_list(samples, ragged=tuple(uneven))


@public
def to_torch(x: NestedTensor) -> Any:
    """A ``torch.nested`` tensor. One ragged axis: jagged layout, sharing memory with ``values``;
    several: strided layout, a copy (torch's jagged layout has one ragged dim)."""
    import torch

    ragged = x.structure.ragged
    if len(ragged) == 1 and len(x):
        values = torch.from_dlpack(np.ascontiguousarray(x.values))
        axis = ragged[0]
        if axis:
            values = values.movedim(0, axis)
        offsets = torch.from_numpy(np.array(x.offsets))
        return torch.nested.nested_tensor_from_jagged(values, offsets, jagged_dim=axis + 1)
    samples = [torch.from_dlpack(np.ascontiguousarray(a)) for a in x]
    return torch.nested.nested_tensor(samples)
