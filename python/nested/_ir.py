# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program that a trace records, and its text.

A :class:`Trace` is one function: arguments, a straight line of ops, results. Nothing is
printed before the end, so that ops whose results nobody uses are left out.
"""

from __future__ import annotations

import itertools
import os
import re
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _dims
from ._dims import Extent
from ._dtypes import name_of
from ._errors import UNKNOWN, Location, ShapeError, TraceError, at_user, user_location

Dims = tuple


# The samples of the call. Other batches are made by `nested.batch.select` and `repeat`.
CALL = "B"


def members(batch: str, size: _dims.Dim) -> str:
    """The batch of which each sample has ``size``, a symbol, of another one's."""
    return f"{batch}, {size}"


def is_part(batch: str, other: str) -> bool:
    """Whether the samples of ``batch`` are members of those of ``other``."""
    return batch.startswith(f"{other}, ")


def type_text(dims: Sequence[Extent], dtype: np.dtype, batch: str | None) -> str:
    """A type as the compiler reads it. ``batch``: of what samples it has one each, if any."""
    element = name_of(dtype)
    if batch is not None:
        path = "" if batch == CALL else f", path = [{batch}]"
        return f"!ragged.tensor<[{', '.join(map(str, dims))}], {element}{path}>"
    return "tensor<" + "".join(f"{d}x" for d in dims) + element + ">"


class Value:
    """An SSA value: element dims, dtype, and of which batch there is one per sample, if any."""

    __slots__ = ("dims", "dtype", "batch", "op", "name")

    def __init__(self, dims: Dims, dtype: np.dtype, batch: str | None, op: Any = None):
        self.dims, self.dtype, self.batch, self.op = tuple(dims), dtype, batch, op
        self.name = ""

    @property
    def batched(self) -> bool:
        """Whether there is one per sample."""
        return self.batch is not None

    @property
    def type(self) -> str:
        return type_text(self.dims, self.dtype, self.batch)


class Region:
    """Ops inside of an op: arguments, ops, what is yielded."""

    def __init__(self, args: Sequence[Value]):
        self.args, self.ops = list(args), list[Op]()
        self.results: list[Value] = []


class Op:
    """One op. ``render`` gets the names of its operands and the types of its results."""

    __slots__ = ("operands", "render", "results", "where", "pure", "broadcast", "region")

    def __init__(self, operands: Sequence[Value], render: Callable, where: Location, pure: bool):
        self.operands, self.render, self.where, self.pure = tuple(operands), render, where, pure
        self.results: list[Value] = []
        self.region: Region | None = None
        # (source, axes) of a broadcast: a broadcast of it starts from the source.
        self.broadcast: tuple[Value, list[int]] | None = None


class Argument:
    """An argument of a traced function: its name in messages and manifest, and its value."""

    def __init__(self, name: str, value: Value, frozen: Any = None):
        self.name, self.value, self.frozen = name, value, frozen


_SYMBOLS = "N M K L P Q R S T U V W".split()


class Trace:
    """The recording of one function."""

    def __init__(self, name: str, where: Location = UNKNOWN):
        self.name = re.sub(r"\W", "_", name) if re.sub(r"\W", "", name) else "program"
        if self.name[0].isdigit():
            self.name = "_" + self.name
        self.where = where
        self.args: list[Argument] = []
        self.ops: list[Op] = []
        self.open = True
        self.origins: dict[str, str] = {}  # symbol -> "the length of argument `x`"
        self.named: set[str] = set()  # symbols with names that the user gave
        self.replaced: dict[str, Extent] = {}  # symbols that were unified
        self.reason: tuple[str, Location] = ("", where)  # of the last unification
        # Symbols that are no length of a sample of the call: their batch, None for a size that
        # all samples have.
        self.batches: dict[str, str | None] = {}
        self.longest: dict[str, _dims.Dim] = {}  # by the text of a size, its largest value
        self._constants: dict[int, Value] = {}
        # Sorted entries and indices by what they were made of.
        self.sorts: dict[tuple, tuple[Value, Value]] = {}
        self._casts: dict[int, Value] = {}  # id of a value -> it with its latest extents
        self._alive: list[Value] = []  # keeps ids from being used again

    # -- symbols --

    def fresh_symbol(self, origin: str) -> _dims.Dim:
        """A symbol made by the tracer, which may be unified with others."""
        candidates = [*_SYMBOLS, *(f"{s}{i}" for i in range(1, 100) for s in _SYMBOLS)]
        name = next(s for s in candidates if s not in self.origins)
        self.origins[name] = origin
        return _dims.symbol(name)

    def user_symbol(self, name: str, origin: str) -> _dims.Dim:
        """A symbol with a name given by the user: never unified with another."""
        self.origins.setdefault(name, origin)
        self.named.add(name)
        return _dims.symbol(name)

    def data_symbol(self, origin: str, batch: str | None = CALL) -> _dims.Dim:
        """A length that comes from data: never unified with another."""
        dim = self.fresh_symbol(origin)
        for name in _dims.symbols(dim):
            self.named.add(name)
            if batch != CALL:
                self.batches[name] = batch
        return dim

    def fresh_batch(self, origin: str) -> str:
        """A name for other samples than those of the call."""
        name = next(n for n in (f"{CALL}{i}" for i in itertools.count(1)) if n not in self.origins)
        self.origins[name] = origin
        return name

    def batch_of(self, operands: Sequence[Value], dims: Sequence[Extent]) -> str:
        """The batch of what is computed from operands and has these dims."""
        found = dict.fromkeys(v.batch for v in operands if v.batch is not None)
        for d in dims:
            found.update(dict.fromkeys(self.batches.get(s, CALL) for s in _dims.symbols(d)))
        found.pop(None, None)
        # What a sample has goes with each of its members.
        found = {b: None for b in found if not any(is_part(other, b) for other in found)}
        if len(found) > 1:
            names = " and ".join(self.origins.get(b, "the samples of the call") for b in found)
            raise at_user(TraceError(
                f"values of different samples can't be combined: {names}; choose all of them "
                "together, nested.batch.select((x, y), keep)"
            ))  # fmt: skip
        return next(iter(found), CALL)

    def current(self, extent: Extent) -> Extent:
        """The extent after all unifications so far."""
        return _dims.substitute(extent, self.replaced) if self.replaced else extent

    def current_dims(self, dims: Sequence[Extent]) -> Dims:
        return tuple(self.current(d) for d in dims)

    def unify(self, a: Extent, b: Extent) -> bool:
        """Makes two extents equal by a check at entry, if symbols of ours allow it."""
        a, b = self.current(a), self.current(b)
        if _dims.same(a, b):
            return True
        if _dims.never_equal(a, b) or isinstance(a, int) or isinstance(b, int):
            return False
        # The symbol that came last becomes the earlier one.
        ours = [s for s in reversed(self.origins) if s not in self.named]
        solution = _dims.solve(_dims.sub(a, b), ours)
        if solution is None:
            # max(N - 1, 0) and max(M - 1, 0): equal when N and M are.
            parts = _dims.corresponding(a, b)
            return bool(parts) and all(self.unify(x, y) for x, y in parts)
        name, extent = solution
        if any(s in self.named for s in _dims.symbols(extent)):
            return False
        step = {name: extent}
        self.replaced = {s: _dims.substitute(e, step) for s, e in self.replaced.items()} | step
        where = user_location()
        self.reason = (where.text, where)
        # The check is of the argument that has the symbol: all that was computed from it
        # gets its new extents by that.
        for argument in self.args:
            if any(name in _dims.symbols(d) for d in argument.value.dims):
                self.aligned(argument.value, checked=True)
        return True

    def origin(self, extent: Extent, other: Extent) -> str:
        """Where the symbols of two extents that differ come from, for messages."""
        found: list[str] = []
        for e in (extent, other):
            found += [s for s in _dims.symbols(e) if s not in found]
        origins = [self.origins.get(s, "unknown") for s in found]
        common = "the length of argument "
        if len(found) > 1 and all(o.startswith(common) for o in origins):
            # "N is the length of argument `x`, M of `y`"
            rest = [f"{s} of {o[len(common) :]}" for s, o in zip(found[1:], origins[1:])]
            return ", ".join([f"{found[0]} is {origins[0]}", *rest])
        return "; ".join(f"{s} is {o}" for s, o in zip(found, origins))

    # -- recording --

    def argument(self, name: str, dims: Sequence[Extent], dtype: np.dtype, batched: bool) -> Value:
        value = Value(tuple(dims), dtype, CALL if batched else None)
        self.args.append(Argument(name, value))
        return value

    def constant_array(self, array: np.ndarray) -> Value:
        """An array that the function took from outside: a hidden argument, copied now."""
        if id(array) not in self._constants:
            frozen = np.array(array, order="C")
            value = Value(frozen.shape, frozen.dtype, None)
            hidden = sum(a.frozen is not None for a in self.args)
            self.args.append(Argument(f"captured.{hidden}", value, frozen))
            self.args[-1].original = array  # keeps the id from being used again
            self._constants[id(array)] = value
        return self._constants[id(array)]

    def emit(
        self,
        render: Callable,
        operands: Sequence[Value],
        dims: Sequence[Extent],
        dtype: np.dtype,
        batched: bool | str,
        pure: bool = True,
        where: Location | None = None,
    ) -> Value:
        """Records an op; ``render(names, result type)`` gives its text without results. Its batch,
        if it has one, is that of the operands and dims, or the one that ``batched`` names."""
        op = Op(operands, render, where or user_location(), pure)
        dims = self.current_dims(dims)
        batch = batched or None
        if batched is True:
            batch = self.batch_of(operands, dims)
        op.results = [Value(dims, dtype, batch, op)]
        self.ops.append(op)
        return op.results[0]

    def emit_like(
        self, render: Callable, operands: Sequence[Value], like: Sequence[Value],
        region: Region | None = None, pure: bool = True,
    ) -> list[Value]:  # fmt: skip
        """Records an op with a result of the type of each of ``like``;
        ``render(names, result types)``, with ``@region`` where the region is."""
        op = Op(operands, render, user_location(), pure)
        op.results = [Value(v.dims, v.dtype, v.batch, op) for v in like]
        op.region = region
        self.ops.append(op)
        return list(op.results)

    def record_region(self, args: Sequence[Value], record: Callable[[], Sequence[Value]]) -> Region:
        """What ``record`` records goes into a region; it gives what the region yields."""
        region, outer = Region(args), self.ops
        casts, sorts = dict(self._casts), dict(self.sorts)
        self.ops = region.ops
        try:
            region.results = list(record())
        finally:
            # What was made inside is not there outside.
            self.ops, self._casts, self.sorts = outer, casts, sorts
        return region

    def aligned(self, value: Value, checked: bool = False) -> Value:
        """The value with the extents of after unification: a checked cast where they differ.
        ``checked``: the cast stays even if nothing uses its result."""
        value = self._casts.get(id(value), value)
        dims = self.current_dims(value.dims)
        if all(_dims.same(a, b) for a, b in zip(dims, value.dims)):
            return value
        reason, where = self.reason
        quoted = quote(reason)
        source = value.type

        def render(names: list[str], result: str) -> str:
            return f"ragged.cast {names[0]} {{reason = {quoted}}} : {source} to {result}"

        result = self.emit(
            render, [value], dims, value.dtype, value.batched, pure=not checked, where=where
        )
        for key, known in list(self._casts.items()):
            if known is value:
                self._casts[key] = result
        self._casts[id(value)] = result
        self._alive.append(value)
        return result

    # -- text --

    def text(
        self, results: Sequence[Value], result_names: Sequence[str], alias: str = "loc",
        attributes: str = "",
    ) -> str:  # fmt: skip
        """The module. Every op carries the location of the line that asked for it; `alias` starts
        the names of locations. attributes: of the function."""
        self.open = False
        kept = _live_ops(self.ops, {id(v) for v in results})

        locations: dict[tuple[str, int, int], str] = {}

        def loc(where: Location) -> str:
            return f"loc({locations.setdefault(where[:3], f'#{alias}{len(locations)}')})"

        header = []
        for i, argument in enumerate(self.args):
            argument.value.name = f"%arg{i}"
            header.append(
                f"%arg{i}: {argument.value.type} {{ragged.name = {quote(argument.name)}}} "
                + loc(self.where)
            )
        counter = itertools.count()
        lines = [f"    {_op_text(op, counter, loc)}" for op in kept]
        types = ", ".join(v.type for v in results)
        named = ", ".join(
            f"{v.type} {{ragged.name = {quote(n)}}}" for v, n in zip(results, result_names)
        )
        values = ", ".join(v.name for v in results)
        end = f"    return{' ' + values + ' : ' + types if results else ''} {loc(self.where)}"
        signature = f"  func.func @{self.name}(\n      " + ",\n      ".join(header) + ")"
        if not header:
            signature = f"  func.func @{self.name}()"
        if results:
            signature += f"\n      -> ({named})"
        if attributes:
            signature += f"\n      attributes {{{attributes}}}"
        aliases = [
            f"{name} = loc({quote(_relative(file))}:{line}:{column})"
            for (file, line, column), name in locations.items()
        ]
        return "\n".join(
            [
                *aliases,
                "module {",
                signature + " {",
                *lines,
                end,
                f"  }} {loc(self.where)}",
                f"}} {loc(self.where)}",
                "",
            ]
        )


def merge(texts: Sequence[str]) -> str:
    """One module of those that Trace.text made with different aliases."""
    aliases, functions = [], []
    for text in texts:
        head, _, body = text.partition("module {\n")
        aliases.append(head)
        functions.append(body[: body.rindex("}")])
    return "".join([*aliases, "module {\n", *functions, "}\n"])


def _live_ops(ops: Sequence[Op], live: set[int]) -> list[Op]:
    """The ops that matter to the values in ``live``, to which what they use is added."""
    kept: list[Op] = []
    for op in reversed(ops):
        if op.pure and not any(id(r) in live for r in op.results):
            continue
        kept.append(op)
        live.update(id(v) for v in op.operands)
        if op.region is not None:
            live.update(id(v) for v in op.region.results)
            op.region.ops = _live_ops(op.region.ops, live)
    kept.reverse()
    return kept


def _op_text(op: Op, counter: Iterator[int], loc: Callable[[Location], str]) -> str:
    """An op as the compiler reads it; names its results."""
    name = f"%{next(counter)}"
    if len(op.results) == 1:
        op.results[0].name = left = name
        types: Any = op.results[0].type
    else:
        left = f"{name}:{len(op.results)}"
        for k, result in enumerate(op.results):
            result.name = f"{name}#{k}"
        types = ", ".join(r.type for r in op.results)
    body = op.render([v.name for v in op.operands], types)
    if op.region is not None:
        for argument in op.region.args:
            argument.name = f"%{next(counter)}"
        block = ", ".join(f"{a.name}: {a.type} {loc(op.where)}" for a in op.region.args)
        header = f"^bb0({block}):" if block else ""
        inner = [_op_text(o, counter, loc) for o in op.region.ops]
        names = ", ".join(r.name for r in op.region.results)
        kinds = ", ".join(r.type for r in op.region.results)
        inner.append(f"ragged.yield {names} : {kinds} {loc(op.where)}")
        body = body.replace("@region", "{\n" + header + "\n  " + "\n  ".join(inner) + "\n}")
    body = body.replace("\n", f"\n{' ' * 4}").replace("@loc", loc(op.where))
    return f"{left} = {body} {loc(op.where)}"


def _relative(file: str) -> str:
    """The path from the current folder for files below it: artifacts name no machine's paths."""
    folder = os.path.join(os.getcwd(), "")
    return file[len(folder) :] if file.startswith(folder) else file


def quote(text: str) -> str:
    """A string literal as the compiler reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\0A")
    return f'"{escaped}"'


def shape_text(dims: Sequence[Any]) -> str:
    """A shape as Python shows it: "(N, 384)", "(N,)", "()"."""
    inner = ", ".join(str(d) for d in dims)
    return f"({inner},)" if len(dims) == 1 else f"({inner})"


def mismatch(trace: Trace, a: Sequence, b: Sequence, symbol: str, axis: int, i: int, j: int):
    """The error of two shapes whose axes differ: axis ``i`` of a and ``j`` of b."""
    x, y = trace.current(a[i]), trace.current(b[j])
    what = (
        f"axes {axis} differ" if i == j else f"axis {i} of the first and {j} of the second differ"
    )
    where = trace.origin(x, y)
    message = f"{shape_text(trace.current_dims(a))} {symbol} "
    message += f"{shape_text(trace.current_dims(b))}: {what}: "
    message += f"{x} and {y}" if not where else where
    if isinstance(x, int) != isinstance(y, int):
        message += (
            f" and is another number in every sample, {x if isinstance(x, int) else y} is fixed"
        )
    elif any(s in trace.named for e in (x, y) for s in _dims.symbols(e)):
        message += " (names given with dims= or spec are never taken to be equal)"
    return ShapeError(message)
