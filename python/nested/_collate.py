# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collation: from the samples of a data set to batches, for data loaders."""

from __future__ import annotations

import functools
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _tree
from ._dtypes import result_type
from ._errors import StructureError
from ._structure import from_any
from ._tensor import from_list


def collate(
    samples: Sequence[Any] | None = None,
    *,
    ragged: Mapping[str, Any] | None = None,
    dims: Mapping[str, Any] | None = None,
) -> Any:
    """Batches samples that are nests of dicts, lists and tuples of arrays and numbers.

    Every leaf becomes a NestedTensor (strings, None and other objects: a list). Which axes are
    ragged is declared, never inferred from sizes: axis 0 of every array with axes, or what
    ``ragged`` or ``dims`` say for a leaf, by its name (``"pairs"``, ``"x.tokens"``): ragged axes,
    or one entry for each axis as in :func:`nested.from_list` (``("N", "N", 128)``). Numbers have
    no axes and become one number per sample. Without samples: a function that collates, for
    ``torch.utils.data.DataLoader(dataset, collate_fn=nested.collate(ragged={"pairs": (0, 1)}))``.
    Raises StructureError that names the leaf and the sample, for samples of different structure
    and for sizes that differ where that is not declared.
    """
    if samples is None:
        made = functools.partial(collate, ragged=ragged, dims=dims)
        functools.update_wrapper(made, collate)
        return made
    samples = list(samples)
    if not samples:
        raise StructureError("there are no samples to collate; an empty batch needs from_list")
    names, structure, rows = [], None, []
    for i, sample in enumerate(samples):
        leaves, found = _tree.flatten(sample)
        if structure is None:
            names, structure = [name for name, _ in leaves], found
        elif _tree.signature(found) != _tree.signature(structure):
            raise StructureError(
                f"sample {i} has the leaves {_listed([n for n, _ in leaves])}, sample 0 has "
                f"{_listed(names)}"
            )
        rows.append([leaf for _, leaf in leaves])
    declared = {**(ragged or {}), **(dims or {})}
    unknown = sorted(set(declared) - set(names))
    if unknown:
        raise StructureError(f"samples have no leaf {unknown[0]!r}; leaves are {_listed(names)}")
    columns = [
        _column(name, [row[k] for row in rows], (ragged or {}).get(name), (dims or {}).get(name))
        for k, name in enumerate(names)
    ]
    return _tree.unflatten(structure, columns)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(n) for n in names) or "nothing"


def _column(name: str, values: list[Any], ragged: Any, dims: Any) -> Any:
    """One leaf of every sample as a batch; a list where they are no numbers."""
    first = values[0]
    if first is None or isinstance(first, (str, bytes)):
        return values
    arrays = [from_any(v) for v in values]
    if any(a.dtype.kind not in "biuf" and a.dtype.kind != "V" for a in arrays):
        return values
    dtypes = {a.dtype for a in arrays}
    dtype = result_type(*dtypes) if len(dtypes) > 1 else None
    axes: Any = ragged if ragged is not None else ((0,) if arrays[0].ndim else ())
    try:
        return from_list(arrays, ragged=axes, dims=dims, dtype=dtype)
    except StructureError as error:
        what = f"leaf {name!r}: " if name else ""
        raise StructureError(f"{what}{error}") from None


def batches(
    data: Sequence[Any],
    size: int,
    collate_fn: Callable | None = None,
    *,
    max_rows: int | None = None,
    shuffle: Any = None,
    drop_last: bool = False,
) -> Any:
    """Yields batches of a data set: at most ``size`` samples, and with ``max_rows`` at most so
    many rows in the first leaf of each (a larger single sample is a batch of its own).

    data: anything with ``len`` and ``[i]``. shuffle: a NumPy generator or a seed, for another
    order. drop_last: without the last batch if it is not full. collate_fn: default
    :func:`nested.collate`. ValueError for a size below 1.
    """  # fmt: skip
    if size < 1:
        raise ValueError(f"a batch has at least one sample, but size is {size}")
    order = np.arange(len(data))
    if shuffle is not None:
        generator = np.random.default_rng(shuffle)
        generator.shuffle(order)
    join = collate_fn or collate
    chosen: list[Any] = []
    rows = 0
    for i in order.tolist():
        sample = data[i]
        more = _rows(sample) if max_rows is not None else 0
        if chosen and (len(chosen) == size or (max_rows is not None and rows + more > max_rows)):
            yield join(chosen)
            chosen, rows = [], 0
        chosen.append(sample)
        rows += more
    if chosen and not (drop_last and len(chosen) < size):
        yield join(chosen)


def _rows(sample: Any) -> int:
    for leaf in _tree.leaves_of(sample):
        shape = np.shape(leaf)
        if shape:
            return int(shape[0])
    return 1
