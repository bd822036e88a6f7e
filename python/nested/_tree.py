# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nests of dicts, lists and tuples: flattening with names, and putting back together."""

from __future__ import annotations

from typing import Any, Iterator, Sequence


class Leaf:
    """The place of leaf number ``index`` in a structure."""

    __slots__ = ("index",)

    def __init__(self, index: int):
        self.index = index


def _is_namedtuple(tree: Any) -> bool:
    return isinstance(tree, tuple) and hasattr(tree, "_fields")


def flatten(tree: Any, name: str = "") -> tuple[list[tuple[str, Any]], Any]:
    """Leaves with names ("w.u", "w.h.0"), and the structure with Leaf in their places.

    Dicts with string keys, lists, tuples and named tuples are nodes; all else is a leaf.
    """
    leaves: list[tuple[str, Any]] = []

    def walk(node: Any, path: str) -> Any:
        def below(key: Any) -> str:
            return f"{path}.{key}" if path else str(key)

        if isinstance(node, dict):
            for key in node:
                if not isinstance(key, str):
                    raise TypeError(f"keys of nested dicts must be strings, but got {key!r}")
            return {key: walk(node[key], below(key)) for key in sorted(node)}
        if _is_namedtuple(node):
            return type(node)(*(walk(getattr(node, f), below(f)) for f in node._fields))
        if isinstance(node, (list, tuple)):
            return type(node)(walk(child, below(i)) for i, child in enumerate(node))
        leaves.append((path, node))
        return Leaf(len(leaves) - 1)

    structure = walk(tree, name)
    return leaves, structure


def unflatten(structure: Any, leaves: Sequence[Any]) -> Any:
    """The structure with leaves in their places."""
    if isinstance(structure, Leaf):
        return leaves[structure.index]
    if isinstance(structure, dict):
        return {key: unflatten(child, leaves) for key, child in structure.items()}
    if _is_namedtuple(structure):
        return type(structure)(*(unflatten(child, leaves) for child in structure))
    return type(structure)(unflatten(child, leaves) for child in structure)


def signature(structure: Any) -> Any:
    """A hashable value that is equal for equal structures."""
    if isinstance(structure, Leaf):
        return "*"
    if isinstance(structure, dict):
        return ("dict", *((key, signature(child)) for key, child in structure.items()))
    return (type(structure), *(signature(child) for child in structure))


def leaves_of(tree: Any) -> Iterator[Any]:
    """The leaves without names."""
    for _, leaf in flatten(tree)[0]:
        yield leaf
