# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that are like an earlier one, without binding and planning anew.

Two calls are alike when they have the same nests of arguments, static values, dtypes, shapes, and lengths of
samples. The first one binds its arguments and plans; what it found is kept from the second on (a batch
of new lengths in each call would only push out what others use), and later ones give memory to it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Callable, Literal, Sequence

import numpy as np

from . import _donation, _runtime, _tree
from ._tensor import NestedTensor

_KEPT = 64
_STATIC = frozenset({int, float, bool, str, bytes, type, type(None)})


class Repeat:
    """What is known of a call. leaves: for each argument that changes, the number of its leaf."""

    __slots__ = ("owner", "_call", "_leaves", "_outputs", "_outline", "_structure")

    def __init__(
        self, owner: Any, call: Any, leaves: Sequence[int],
        outputs: Sequence[tuple[Any, Any, Any]], outline: Sequence[tuple[bool, Any]], structure: Any,
    ):  # fmt: skip
        self.owner = owner  # The Compiled that the call runs.
        self._call, self._leaves = call, leaves
        self._outputs, self._outline, self._structure = outputs, outline, structure

    def __call__(self, leaves: Sequence[Any]) -> Any:
        arrays = [np.empty(shape, dtype) for shape, dtype, _ in self._outputs]
        self._call.run([leaves[i] for i in self._leaves], arrays)
        results = [
            array[()] if structure is None else NestedTensor(array, structure)
            for array, (_, _, structure) in zip(arrays, self._outputs)
        ]
        chosen = [results[x] if is_result else x for is_result, x in self._outline]
        return _tree.unflatten(self._structure, chosen)


class Repeats:
    """The calls of a function, or of several, that are known. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Any, None] = OrderedDict()  # Once.
        # False: a call that can't be repeated.
        self._known: OrderedDict[Any, Repeat | Literal[False]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, args: tuple, what: Any = None) -> tuple[Any, list[Any], Repeat | None]:
        """The key of a call of `what` (of the only function, if None), None if it can't be known; its
        arrays and static values in the order of `_tree.flatten`; and what is known of it."""
        parts: list[Any] = [what, _runtime.default_threads()]
        leaves: list[Any] = []
        if _donation.any_gone() or not _describe(args, parts, leaves):
            return None, leaves, None
        key = tuple(parts)
        return key, leaves, self._known.get(key) or None

    def note(self, key: Any, make: Callable[[], Repeat | None]) -> None:
        """After a call that was not known; `make` is asked when it comes again."""
        if key is None:
            return
        with self._lock:
            if key in self._known:
                return
            if key not in self._seen:
                _put(self._seen, key, None)
                return
            del self._seen[key]
        made = make()
        with self._lock:
            _put(self._known, key, made or False)

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()
            self._known.clear()


def _put(table: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    table[key] = value
    while len(table) > _KEPT:
        table.popitem(last=False)


def _describe(x: Any, parts: list[Any], leaves: list[Any]) -> bool:
    """Adds what makes calls alike to `parts`; False for what may not be repeated."""
    kind = type(x)
    if kind is NestedTensor:
        structure, storage = x._structure, x._storage
        parts += (structure, structure.dims, storage.dtype, storage.shape)
        leaves.append(storage)
        return x._starts is None and storage.flags.c_contiguous
    if kind is np.ndarray:
        parts += (kind, x.dtype, x.shape)
        leaves.append(x)
        return x.flags.c_contiguous
    if kind in _STATIC or isinstance(x, np.dtype):
        parts += (kind, x)
        leaves.append(x)
        return True
    if isinstance(x, np.generic):
        parts += (kind, x.dtype)
        leaves.append(np.asarray(x))
        return True
    if kind is dict:
        try:
            names = sorted(x)
        except TypeError:
            return False
        parts += (kind, *names, None)
        return all(_describe(x[name], parts, leaves) for name in names)
    if isinstance(x, (tuple, list)):
        parts += (kind, len(x))
        return all(_describe(child, parts, leaves) for child in x)
    return False


__all__ = ["Repeat", "Repeats"]
