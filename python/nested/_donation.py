# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Donated arguments: a call writes results to their memory, and they may not be used again."""

from __future__ import annotations

import weakref
from typing import Any, Sequence

import numpy as np

from ._errors import ArgumentError, TraceError, at_user

# Arrays and NestedTensors that were given up, by id.
_gone: dict[int, weakref.ref] = {}


def give_up(x: Any) -> None:
    """Marks an array, or a NestedTensor and its storage, as used up."""
    for part in (x, getattr(x, "storage", None)):
        if part is not None:
            key = id(part)
            _gone[key] = weakref.ref(part, lambda _, key=key: _gone.pop(key, None))


def any_gone() -> bool:
    """Whether anything that was given up is still there, so that arguments must be checked."""
    return bool(_gone)


def check(x: Any, name: str) -> None:
    """ArgumentError for what was given up by an earlier call."""
    if not _gone:
        return
    for part in (x, getattr(x, "storage", None)):
        known = _gone.get(id(part))
        if known is not None and known() is part:
            raise ArgumentError(
                f"argument `{name}` was donated to an earlier call, which reused its memory: "
                "expected what that call returned"
            )


def match(
    args: Sequence[Any], results: Sequence[Any], donate: frozenset[str], function: str
) -> dict:
    """For each donated argument (a Signature) the number of the result that takes its memory: of its
    shape and dtype, by preference with its name in the nest. TraceError where there is none."""
    free = list(range(len(results)))
    wanted = [i for i, a in enumerate(args) if a.name.partition(".")[0] in donate]
    found: dict[int, int] = {}

    def kind(s: Any) -> tuple:
        shape = (tuple(s.extents), tuple(s.order)) if s.ragged else tuple(s.shape)
        return s.ragged, s.dtype_name, shape

    def suffix(s: Any) -> str:
        return s.name.partition(".")[2]

    for same_name in (True, False):
        for i in wanted:
            if i in found:
                continue
            for k in free:
                named = suffix(args[i]) and results[k].name.endswith("." + suffix(args[i]))
                if kind(args[i]) == kind(results[k]) and (named or not same_name):
                    found[i] = k
                    free.remove(k)
                    break
    for i in wanted:
        if i not in found:
            raise at_user(TraceError(
                f"argument `{args[i].name}` is donated, but {function} returns no other result of "
                f"its shape and dtype: {args[i]}"
            ))  # fmt: skip
    return found


def memory(x: Any, name: str) -> np.ndarray | None:
    """The array that a result may be written to; None for a number, which has no memory of its own.
    ArgumentError for memory that can't be reused."""
    array = getattr(x, "storage", x)
    if not isinstance(array, np.ndarray):
        return None
    problem = ""
    if not array.flags.writeable:
        problem = "is read-only"
    elif not array.flags.c_contiguous or not array.dtype.isnative:
        problem = "is not contiguous or in a foreign byte order"
    elif getattr(x, "_starts", None) is not None:
        problem = "has gaps between its samples"
    if problem:
        raise ArgumentError(f"argument `{name}` is donated, but {problem}")
    return array.view()
