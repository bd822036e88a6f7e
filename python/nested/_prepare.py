# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions with shared arguments bound, whose work on those is done once."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from . import _tree
from ._errors import ArgumentError, NestedError, public_method
from ._program import Cost, Plan, Program
from ._structure import from_any
from ._tensor import NestedTensor
from ._tracer import Tracer


def snapshot(shared: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of the arrays in nests, so that later changes have no effect. ArgumentError for what
    differs from sample to sample."""

    def copied(name: str, x: Any) -> Any:
        if isinstance(x, NestedTensor):
            raise ArgumentError(
                f"argument `{name}` is a batch; prepare takes what all samples share"
            )
        if isinstance(x, Tracer):
            raise ArgumentError(f"argument `{name}` is traced; prepare takes arrays")
        is_array = hasattr(x, "__dlpack__") or hasattr(x, "__array_interface__")
        if not is_array or isinstance(x, np.generic):
            return x
        copy = np.array(x if isinstance(x, np.ndarray) else from_any(x), order="C")
        copy.flags.writeable = False
        return copy

    result = {}
    for root, tree in shared.items():
        found, structure = _tree.flatten(tree, root)
        result[root] = _tree.unflatten(structure, [copied(n, x) for n, x in found])
    return result


class Prepared:
    """A function with some of its shared arguments bound; made by ``prepare``. Called like the
    function, without them."""

    def __init__(self, name: str):
        self.__name__ = name
        self._last: Program | None = None

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _get_program(self) -> Program:
        if self._last is None:
            raise NestedError(f"{self.__name__} has not been compiled yet: call it")
        return self._last

    def plan(self, lengths: Any) -> Plan:
        """What a call for given lengths needs. lengths: ints ``(B,)`` for every ragged axis, or
        a dict from names of symbols or arguments to them."""
        return self._get_program().plan(lengths, prepared=True)

    def cost(self, lengths: Any) -> Cost:
        """FLOPs and bytes of a call for given lengths."""
        return self.plan(lengths).cost

    @property
    def prepared_bytes(self) -> int:
        """Memory that holds what was done once, of the program that was called last."""
        return self._get_program().entry.prepared_bytes

    def __repr__(self) -> str:
        return f"<nested.Prepared {self.__name__}>"


def _call(self: Prepared, *args: Any, **kwargs: Any) -> Any:
    """Runs the function."""
    return self._call(*args, **kwargs)


Prepared.__call__ = public_method(_call, "__call__")  # type: ignore[attr-defined]
for _name in ("plan", "cost"):
    setattr(Prepared, _name, public_method(getattr(Prepared, _name)))
