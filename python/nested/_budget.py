# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``jit(memory_budget=...)``: how many bytes the temporaries of a call may take."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _dims
from ._errors import ArgumentError
from ._program import lengths_of_symbols
from ._require import as_bytes


class MemoryBudget:
    """Bytes, and the lengths of the call that they are for."""

    def __init__(self, given: Any):
        if not isinstance(given, tuple) or len(given) != 2:
            raise ValueError(
                "memory_budget must be (bytes, lengths), e.g. ('64 MB', {'N': [300, 120]}): bytes of "
                f"temporaries in a call with samples of these lengths, but it is {given!r}"
            )
        self.bytes, self.lengths = as_bytes(given[0], "memory_budget"), given[1]

    def attribute(self, args: Sequence[Any]) -> str:
        """As the compiler reads it, for the arguments of a trace. ArgumentError."""
        known: dict[str, None] = {}
        axes: dict[str, list[str]] = {}
        for argument in args:
            ragged = [d for d in argument.value.dims if not isinstance(d, int)]
            known.update(dict.fromkeys(s for d in ragged for s in _dims.symbols(d)))
            if argument.value.batched:
                axes[argument.name] = [str(d) for d in ragged]
        table = lengths_of_symbols(self.lengths, list(known), axes)
        missing = [name for name in known if name not in table]
        if missing:
            raise ArgumentError(f"memory_budget has no lengths for {', '.join(missing)}")
        if any((column < 0).any() for column in table.values()):
            raise ArgumentError("memory_budget has lengths below 0")
        if not table:
            count = self.lengths if isinstance(self.lengths, (int, np.integer)) else 1
            return f"ragged.memory_budget = {{batch = {count}, bytes = {self.bytes}}}"
        lengths = ", ".join(
            f"{name} = array<i64{': ' if len(column) else ''}{', '.join(map(str, column))}>"
            for name, column in table.items()
        )
        return f"ragged.memory_budget = {{bytes = {self.bytes}, lengths = {{{lengths}}}}}"


__all__ = ["MemoryBudget"]
