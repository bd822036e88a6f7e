# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``nested.load``: the entries of an artifact as functions."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, Mapping

import numpy as np

from . import _runtime, _tree
from ._errors import ArgumentError, public, trim
from ._prepare import Prepared, snapshot
from ._program import Cost, Plan, Program
from ._structure import from_any
from ._tensor import NestedTensor


class LoadedFunction:
    """An entry of an artifact. Called like the function that it was made from, without its
    static arguments; arrays for batched arguments are a batch of one."""

    def __init__(self, program: Program):
        self._program = program
        self.__name__ = program.name
        self._roots: list[str] = []
        for a in program.args:
            root = a.name.partition(".")[0]
            if root not in self._roots:
                self._roots.append(root)

    def _find(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Leaves by name."""
        self._check_names(given)
        found: dict[str, Any] = {}
        for root, tree in given.items():
            found.update(_tree.flatten(tree, root)[0])
        wanted = [a.name for a in self._program.args]
        extra = [n for n in found if n not in wanted]
        if extra:
            raise ArgumentError(f"{self.__name__} does not use `{extra[0]}`")
        return {
            n: x if isinstance(x, (NestedTensor, np.ndarray, np.generic)) else from_any(x)
            for n, x in found.items()
        }

    def _leaves(self, args: tuple, kwargs: dict, bound: Mapping[str, Any]) -> list[Any]:
        """Leaves of a call in order; bound: those by name that are there already."""
        taken = {n.partition(".")[0] for n in bound}
        roots = [r for r in self._roots if r not in taken]
        if len(args) > len(roots):
            raise ArgumentError(
                f"{self.__name__} takes {len(roots)} arguments ({', '.join(roots)}), "
                f"but got {len(args)}"
            )
        given = dict(zip(roots, args))
        for name, value in kwargs.items():
            if name in given or name in taken:
                raise ArgumentError(f"{self.__name__} got two values for argument `{name}`")
            given[name] = value
        found = {**bound, **self._find(given)}
        missing = [a.name for a in self._program.args if a.name not in found]
        if missing:
            raise ArgumentError(f"{self.__name__} needs argument{'s' * (len(missing) > 1)} "
                                + ", ".join(f"`{n}`" for n in missing))  # fmt: skip
        return [found[a.name] for a in self._program.args]

    def _check_names(self, given: Mapping[str, Any]) -> None:
        for name in given:
            if name not in self._roots:
                raise ArgumentError(
                    f"{self.__name__} has no argument `{name}`; it has {', '.join(self._roots)}"
                )

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return _unpacked(self._program(self._leaves(args, kwargs, {})))

    def prepare(self, **shared: Any) -> Prepared:
        """The entry with shared arguments bound, for calls that all have the same weights.

        What the program does with them alone (packing, converting, multiplying them) is done now,
        not in each call. ``f.prepare(w=w)`` is called as ``f`` is, without ``w``; its results are
        the same bits. The values are copied: it goes on with them as they are now. shared: arrays,
        numbers and nests of them, by argument.
        """
        return PreparedEntry(self, shared)

    def plan(self, lengths: Any) -> Plan:
        """What a call for given lengths needs. lengths: ints ``(B,)`` for every ragged axis, or
        a dict from names of symbols or arguments to them."""
        return self._program.plan(lengths)

    def cost(self, lengths: Any) -> Cost:
        """FLOPs and bytes of a call for given lengths."""
        return self._program.plan(lengths).cost

    @property
    def manifest(self) -> dict:
        """The entry as the artifact describes it."""
        return self._program.manifest

    def __repr__(self) -> str:
        return repr(self._program)


def _unpacked(results: list[Any]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


class PreparedEntry(Prepared):
    """What ``prepare`` of an entry gives."""

    def __init__(self, entry: LoadedFunction, shared: Mapping[str, Any]):
        super().__init__(entry.__name__)
        self._entry, self._last = entry, entry._program
        self._bound = entry._find(snapshot(shared))
        numbers = {a.name: i for i, a in enumerate(entry._program.args)}
        self._block = entry._program.prepare({numbers[n]: x for n, x in self._bound.items()})

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        leaves = self._entry._leaves(args, kwargs, self._bound)
        return _unpacked(self._entry._program(leaves, self._block))


class Module:
    """The entries of an artifact, as attributes; callable itself if it has one entry."""

    def __init__(self, artifact: Any, name: str):
        self._artifact, self._name = artifact, name
        self.manifest: dict = json.loads(artifact.manifest)
        described = {e["name"]: e for e in self.manifest["entries"]}
        self._entries = {
            e.name: LoadedFunction(Program(artifact, e, described[e.name]))
            for e in artifact.entries()
        }

    @property
    def entries(self) -> list[str]:
        """Names of the entries."""
        return list(self._entries)

    @property
    def program(self) -> str:
        """The program's text; "" if it was stripped."""
        return self._artifact.program

    def _get(self, name: str) -> LoadedFunction:
        if name not in self._entries:
            raise ArgumentError(
                f"{self._name} has no entry '{name}'; it has {', '.join(self._entries)}"
            )
        return self._entries[name]

    def __getitem__(self, name: str) -> LoadedFunction:
        return self._get(name)

    def __getattr__(self, name: str) -> LoadedFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._get(name)
        except ArgumentError as error:
            raise AttributeError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _only(self) -> LoadedFunction:
        if len(self._entries) != 1:
            raise ArgumentError(f"{self._name} has several entries: {', '.join(self._entries)}")
        return next(iter(self._entries.values()))

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return self._only()._call(*args, **kwargs)

    def prepare(self, **shared: Any) -> Prepared:
        """As that of the only entry."""
        return self._only().prepare(**shared)

    def plan(self, lengths: Any) -> Plan:
        """As that of the only entry."""
        return self._only().plan(lengths)

    def cost(self, lengths: Any) -> Cost:
        """As that of the only entry."""
        return self._only().cost(lengths)

    def __repr__(self) -> str:
        return f"<nested.Module {self._name}: {', '.join(map(repr, self._entries.values()))}>"


for _class in (LoadedFunction, Module):
    _class.__call__ = _runtime.boundary_method(  # type: ignore[attr-defined]
        _class._call, "__call__", "Runs the entry.", trim
    )
    for _name in ("plan", "cost", "prepare"):
        _function = getattr(_class, _name)
        setattr(_class, _name, _runtime.boundary_method(_function, _name, _function.__doc__, trim))


@public
def load(source: Any) -> Module:
    """Opens an artifact: a path, or its bytes.

    Everything is checked before anything of it is executed. Raises ArtifactError for files that
    are damaged, too new or for another machine, OSError for unreadable ones.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Module(_runtime.Artifact.open_memory(bytes(source), "<bytes>"), "<bytes>")
    path = os.fspath(source)
    return Module(_runtime.Artifact.open_file(path), os.path.basename(path))
