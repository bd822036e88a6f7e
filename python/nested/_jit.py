# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``nested.jit`` and ``nested.export``: from a Python function to a compiled program."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import tempfile
import threading
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from . import _compile, _donation, _emit, _runtime, _tracer, _tree
from ._budget import MemoryBudget
from ._dims import Dim, symbol
from ._dtypes import as_dtype, name_of, text_of
from ._errors import (
    ArgumentError,
    Location,
    NestedError,
    TraceError,
    at_user,
    function_location,
    public,
    public_method,
    user_location,
)
from ._ir import Trace, merge, shape_text
from ._prepare import Prepared, snapshot
from ._program import Block, Cost, Plan, Program
from ._repeat import Repeat, Repeats
from ._require import Guard, parse_all
from ._structure import check_name, from_any
from ._tensor import NestedTensor
from ._tracer import Tracer, any_traced

_tracing = threading.RLock()


class Spec:
    """Shape and dtype of an argument; made by :func:`nested.spec`."""

    def __init__(self, dims: Sequence[int | str | None], dtype: np.dtype, batched: bool):
        self.dims, self.dtype, self.batched = tuple(dims), dtype, batched

    def __repr__(self) -> str:
        dims = ", ".join(repr(d) for d in self.dims)
        kind = ", batched" if self.batched else ""
        return f"spec({dims}, dtype={text_of(self.dtype)}{kind})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Spec) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def key(self) -> tuple:
        return self.batched, self.dims, self.dtype

    def shown(self) -> list[Any]:
        """The sizes, "?" for a ragged axis without a name."""
        return ["?" if d is None or isinstance(d, int) and d < 0 else d for d in self.dims]


@public
def spec(*dims: Any, dtype: Any = np.float32, batched: bool | None = None) -> Spec:
    """Describes an argument without data, for ``nested.export`` and ``lower``.

    dims: a size, a name for a ragged axis, or None for a ragged axis without a name, for each
    axis of a sample. Axes with the same name have the same length; names are never taken to be
    equal to other names. batched: one element per sample; by default if an axis is ragged, so
    that ``spec(384, 128)`` is a shared array.
    """
    checked: list[int | str | None] = []
    for d in dims:
        if isinstance(d, (int, np.integer)) and not isinstance(d, bool):
            if d < 0:
                raise ValueError(f"a size can't be negative: {d}")
            checked.append(int(d))
        else:
            checked.append(d if d is None else check_name(d))
    ragged = any(not isinstance(d, int) for d in checked)
    if batched is False and ragged:
        raise ValueError("an array that all samples share has no ragged axes")
    return Spec(checked, as_dtype(dtype), ragged if batched is None else batched)


def spec_of(x: Any) -> Spec | None:
    """The spec of an argument; None if it is static (a Python value)."""
    if isinstance(x, Spec):
        return x
    if isinstance(x, NestedTensor):
        classes: dict[Any, Any] = {}
        dims: list[Any] = []
        for k, d in enumerate(x.structure.dims):
            if k in x.structure.ragged and not isinstance(d, str):
                # Axes of one size without a name of the user share a number.
                d = classes.setdefault(d, -1 - len(classes))
            dims.append(d)
        return Spec(dims, x.dtype, True)
    if isinstance(x, (np.ndarray, np.generic)):
        return Spec(x.shape, x.dtype, False)
    if hasattr(x, "__dlpack__") or hasattr(x, "__array_interface__"):
        array = from_any(x)
        return Spec(array.shape, array.dtype, False)
    return None


class Signature(NamedTuple):
    """Arguments of a call: names, leaves, their structure, specs (None: static)."""

    names: list[str]
    leaves: list[Any]
    structure: Any
    specs: list[Spec | None]

    def key(self) -> Any:
        parts = []
        for name, leaf, s in zip(self.names, self.leaves, self.specs):
            if s is not None:
                parts.append(s.key())
                continue
            try:
                hash(leaf)
            except TypeError:
                raise TypeError(
                    f"argument `{name}` of type {type(leaf).__name__} is neither an array nor a "
                    "hashable Python value"
                ) from None
            parts.append(("static", type(leaf), leaf))
        return _tree.signature(self.structure), tuple(parts)


def described(signature: Signature) -> str:
    """The kinds of the arguments, for messages."""
    parts = [
        f"{name}: {leaf!r}" if s is None else f"{name}: {shape_text(s.shown())} {text_of(s.dtype)}"
        for name, leaf, s in zip(signature.names, signature.leaves, signature.specs)
    ]
    return ", ".join(parts)


class Traced(NamedTuple):
    """A traced function: its text and how arguments and results map to it."""

    name: str
    text: str
    used: list[int]  # leaves of the call that are arguments of the program
    frozen: list[np.ndarray]  # arrays from outside the function, passed behind them
    structure: Any  # of the results
    outputs: list[tuple[bool, Any]]  # (True, number of the result) or (False, constant)
    named: frozenset[str]


def trace(
    function: Callable, signature: Signature, name: str, alias: str = "loc",
    budget: MemoryBudget | None = None, where: Location | None = None,
) -> Traced:  # fmt: skip
    """Runs the function on Tracers and records what it does. alias: as of Trace.text. where: the line
    that stands for it in messages; by default its own. Raises TraceError."""
    where = where or function_location(function)
    recorded = Trace(name, where)
    for s in signature.specs:
        for d in s.dims if s is not None else ():
            if isinstance(d, str):
                recorded.origins.setdefault(d, "")
    values, used = [], []
    for index, (path, leaf, s) in enumerate(
        zip(signature.names, signature.leaves, signature.specs)
    ):
        if s is None:
            values.append(leaf)
            continue
        name_of(s.dtype)
        dims = _argument_dims(recorded, path, s)
        value = recorded.argument(path, dims, s.dtype, s.batched)
        values.append(Tracer(recorded, value, None, path))
        used.append(index)
    arguments = _tree.unflatten(signature.structure, values)
    _tracer._current.append(recorded)
    try:
        result = function(*arguments[0], **arguments[1])
        leaves, structure = _tree.flatten(result)
        outputs: list[tuple[bool, Any]] = []
        results, names = [], []
        for path, leaf in leaves:
            if isinstance(leaf, NestedTensor):
                raise at_user(TraceError(f"{name} returns a NestedTensor from outside of it"))
            if isinstance(leaf, Dim):
                leaf = Tracer(recorded, _emit.extent(recorded, leaf))
            if isinstance(leaf, Tracer):
                _tracer.trace_of([leaf])
                outputs.append((True, len(results)))
                results.append(leaf)
                names.append(path or "0")
            else:
                outputs.append((False, leaf))
        if not results:
            raise TraceError(
                f"{name} returns nothing that depends on its arguments\n  at {where.short}"
            )
        values = [_tracer.value_of(r) for r in results]
        # Extents may have been unified by the last of them.
        values = [recorded.aligned(v) for v in values]
    finally:
        _tracer._current.pop()
        recorded.open = False
    frozen = [a.frozen for a in recorded.args if a.frozen is not None]
    ordered = [a for a in recorded.args if a.frozen is None]
    recorded.args = ordered + [a for a in recorded.args if a.frozen is not None]
    attributes = budget.attribute(ordered) if budget is not None else ""
    text = recorded.text(values, names, alias, attributes)
    return Traced(recorded.name, text, used, frozen, structure, outputs, frozenset(recorded.named))


def _argument_dims(recorded: Trace, path: str, s: Spec) -> list[Any]:
    ragged = [d for d in s.dims if not isinstance(d, int) or d < 0]
    made: dict[Any, Dim] = {}
    dims: list[Any] = []
    for axis, d in enumerate(s.dims):
        if isinstance(d, int) and d >= 0:
            dims.append(d)
            continue
        origin = f"the length of argument `{path}`"
        if len(set(map(str, ragged))) > 1 or len(ragged) > 1:
            origin = f"axis {axis} of argument `{path}`"
        if isinstance(d, str):
            if not recorded.origins.get(d):
                recorded.origins[d] = origin
            recorded.named.add(d)
            dims.append(symbol(d))
        elif d is None:
            dims.append(recorded.fresh_symbol(origin))
        else:
            if d not in made:
                made[d] = recorded.fresh_symbol(origin)
            dims.append(made[d])
    return dims


def _fusion(fuse: Any) -> str:
    if fuse not in _compile.FUSE:
        raise ValueError(f"fuse must be one of {', '.join(_compile.FUSE)}, not {fuse!r}")
    return fuse


class Lowered:
    """A traced function for one kind of arguments, to be looked at or compiled."""

    def __init__(
        self, traced: Traced, target: str, guards: Sequence[Guard], reassociate: bool = True,
        donate: frozenset[str] = frozenset(), fuse: str = "cost",
    ):  # fmt: skip
        self._traced, self._target, self._guards = traced, target, guards
        self._reassociate, self._donate, self._fuse = reassociate, donate, fuse

    def text(self, phase: str = "tensor") -> str:
        """The program in a phase: "trace" (what was recorded), "tensor", "generic", "kernels",
        "structure", "loops" or "llvm". ValueError for others, CompileError."""
        if phase == "trace":
            return self._traced.text
        if phase == "object":
            raise ValueError("the object phase is no text")
        data = _compile.lower_text(
            self._traced.text, phase, self._traced.name, self._target, self._fuse, self._reassociate
        )
        return data.decode()

    def compile(self) -> Compiled:
        """Compiles for the target. CompileError, RequirementError."""
        data, remarks = _compile.compile_text(
            self._traced.text, self._traced.name, self._target, fuse=self._fuse,
            reassociate=self._reassociate,
        )  # fmt: skip
        return Compiled(self._traced, data, remarks, self._guards, self._donate)


class Compiled:
    """A compiled program, its artifact and the compiler's remarks."""

    def __init__(
        self, traced: Traced, data: bytes, remarks: Sequence[str], guards: Sequence[Guard],
        donate: frozenset[str] = frozenset(),
    ):  # fmt: skip
        self.traced, self.artifact, self.remarks = traced, data, list(remarks)
        self.line: Location | None = None  # Of an eager operation, that it was traced for.
        self.program = Program.open(data, f"<{traced.name}>", traced.named, guards)
        self.program.donated = _donation.match(
            self.program.args, self.program.results, donate, traced.name
        )

    def __call__(self, leaves: Sequence[Any], block: Block | None = None) -> Any:
        """Runs on the leaves of a call. block: of `prepare`."""
        traced = self.traced
        results = self.program([leaves[i] for i in traced.used] + traced.frozen, block)
        chosen = [results[x] if is_result else x for is_result, x in traced.outputs]
        return _tree.unflatten(traced.structure, chosen)

    def repeat(
        self, leaves: Sequence[Any], places: Sequence[int | None], block: Block | None = None
    ) -> Repeat | None:
        """For calls like this one. places: for each leaf its number among those that later calls
        give, None if it stays."""
        traced = self.traced
        numbers = [k for k, i in enumerate(traced.used) if places[i] is not None]
        found = self.program.repeat(
            [leaves[i] for i in traced.used] + traced.frozen, block, numbers
        )
        if found is None:
            return None
        changing = [places[traced.used[k]] for k in numbers]
        return Repeat(self, found[0], changing, found[1], traced.outputs, traced.structure)

    def prepare(self, leaves: Mapping[int, np.ndarray]) -> Block | None:
        """Does what depends on shared arguments alone. leaves: of a call, by number."""
        used, frozen = self.traced.used, self.traced.frozen
        given = {k: leaves[i] for k, i in enumerate(used) if i in leaves}
        return self.program.prepare(given | {len(used) + k: a for k, a in enumerate(frozen)})


def _arity(signature: inspect.Signature) -> int | None:
    """How many arguments a call has that gives all of them by position; None if that can't be."""
    parameters = signature.parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(parameters) if all(p.kind in positional for p in parameters) else None


class JitFunction:
    """A function written for one sample, compiled for batches at its first call.

    Called with a NestedTensor among its arguments it runs compiled code; called with plain
    arrays alone it is the Python function itself, its own reference.
    """

    def __init__(
        self, function: Callable, require: Any = None, target: str = "cpu",
        reassociate: bool = True, plain: bool = True, donate: Any = (), memory_budget: Any = None,
        fuse: str = "cost",
    ):  # fmt: skip
        functools.update_wrapper(self, function)
        self._function, self._target, self._reassociate = function, target, reassociate
        self._fuse = _fusion(fuse)
        self._plain = plain  # whether the function computes on plain arrays by itself
        self._guards = parse_all(require)
        self._signature = inspect.signature(function)
        self._donate = self._donated(donate)
        self._budget = None if memory_budget is None else MemoryBudget(memory_budget)
        self._compiled: dict[Any, Compiled] = {}
        self._last: Compiled | None = None
        self._count = 0
        self._repeats = Repeats()
        self._arity = _arity(self._signature)

    def _donated(self, donate: Any) -> frozenset[str]:
        """Names of parameters, from names and positions."""
        names = [*self._signature.parameters]
        chosen = []
        for which in [donate] if isinstance(donate, (str, int)) else donate:
            if isinstance(which, int) and -len(names) <= which < len(names):
                which = names[which]
            if which not in names:
                raise ValueError(
                    f"donate has {which!r}, which is no parameter of {self.__name__}: it has "
                    f"{', '.join(names)}"
                )
            chosen.append(which)
        return frozenset(chosen)

    @property
    def compilations(self) -> int:
        """How often the function has been compiled."""
        return self._count

    def _bind(self, args: tuple, kwargs: dict) -> Signature:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._signature_of(bound.arguments)

    def _signature_of(self, arguments: Mapping[str, Any]) -> Signature:
        """From a value for each parameter."""
        names, leaves, positional, keywords = [], [], [], {}

        def add(path: str, tree: Any) -> Any:
            found, structure = _tree.flatten(tree, path)
            start = len(leaves)
            names.extend(n for n, _ in found)
            leaves.extend(leaf for _, leaf in found)
            return _tree.unflatten(structure, [_tree.Leaf(start + i) for i in range(len(found))])

        for name, parameter in self._signature.parameters.items():
            given = arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += [add(f"{name}.{i}", x) for i, x in enumerate(given)]
            elif parameter.kind is parameter.VAR_KEYWORD:
                keywords |= {k: add(k, x) for k, x in given.items()}
            elif parameter.kind is parameter.KEYWORD_ONLY:
                keywords[name] = add(name, given)
            else:
                positional.append(add(name, given))
        structure = (tuple(positional), keywords)
        return Signature(names, leaves, structure, [spec_of(x) for x in leaves])

    def _lower(self, signature: Signature) -> Lowered:
        with _tracing:
            traced = trace(self._function, signature, self.__name__, budget=self._budget)
        return Lowered(
            traced, self._target, self._guards, self._reassociate, self._donate, self._fuse
        )

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        key = None
        if len(args) == self._arity:
            key, leaves, known = self._repeats.find(args)
            if known is not None:
                self._last = known.owner
                return known(leaves)
        signature = self._bind(args, kwargs)
        compiled = self._find(signature)
        if compiled is None:
            return self._plainly(signature)
        results = compiled(signature.leaves)
        every = range(len(signature.leaves))
        self._repeats.note(key, lambda: compiled.repeat(signature.leaves, every))
        return results

    def _plainly(self, signature: Signature) -> Any:
        """Calls the Python function itself."""
        leaves = signature.leaves
        if not any_traced(signature.leaves):
            leaves = [
                from_any(x) if s is not None and not isinstance(x, (np.ndarray, np.generic)) else x
                for x, s in zip(leaves, signature.specs)
            ]
        arguments = _tree.unflatten(signature.structure, leaves)
        return self._function(*arguments[0], **arguments[1])

    def _find(self, signature: Signature) -> Compiled | None:
        """The program for these arguments, compiled if need be; None where the Python function itself
        computes them."""
        if any_traced(signature.leaves):
            return None
        if any(isinstance(x, Spec) for x in signature.leaves):
            raise TypeError("a spec is no argument; use lower or nested.export")
        if self._plain and not any(s is not None and s.batched for s in signature.specs):
            return None
        key = signature.key()
        compiled = self._compiled.get(key)
        if compiled is None:
            with _tracing:
                compiled = self._compiled.get(key)
                if compiled is None:
                    for guard in self._guards:
                        guard.check_compilations(self._count + 1, described(signature))
                    compiled = self._lower(signature).compile()
                    self._compiled[key] = compiled
                    self._count += 1
        self._last = compiled
        return compiled

    def _get_program(self) -> Program:
        if self._last is None:
            raise NestedError(
                f"{self.__name__} has not been compiled yet: call it, or use "
                "lower(...).compile().program"
            )
        return self._last.program

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Traces for arguments or specs (``nested.spec``) without compiling."""
        return self._lower(self._bind(args, kwargs))

    def plan(self, lengths: Any) -> Plan:
        """What a call for given lengths needs: peak memory, sizes of results, steps.

        lengths: ints ``(B,)`` for every ragged axis, or a dict from names of symbols or
        arguments to them. Of the program that was called last. NestedError before the first call.
        """
        return self._get_program().plan(lengths)

    def cost(self, lengths: Any) -> Cost:
        """FLOPs and bytes of a call for given lengths, in total and by kernel. As plan."""
        return self._get_program().plan(lengths).cost

    def prepare(self, **shared: Any) -> Any:
        """The function with shared arguments bound, for calls that all have the same weights.

        What the compiled program does with them alone (packing, converting, multiplying them) is
        done once, not in each call. ``block.prepare(w=w)`` is called as ``block`` is, without
        ``w``; its results are the same bits. The values are copied: it goes on with them as they
        are now. shared: arrays, numbers and nests of them, or static values, by parameter.
        """
        return PreparedJit(self, shared)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<nested.jit {self.__name__}, compiled {self._count} times>"


_call = JitFunction._call
_call.__name__ = "__call__"
JitFunction.__call__ = public_method(_call)  # type: ignore[method-assign]
for _name in ("lower", "plan", "cost", "prepare"):
    setattr(JitFunction, _name, public_method(getattr(JitFunction, _name)))


class PreparedJit(Prepared):
    """What ``prepare`` of a nested.jit function gives."""

    def __init__(self, function: JitFunction, shared: Mapping[str, Any]):
        parameters = function._signature.parameters
        known = [
            n for n, p in parameters.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]
        for name in shared:
            if name not in known:
                raise ArgumentError(
                    f"{function.__name__} has no argument `{name}` to prepare; it has "
                    f"{', '.join(known)}"
                )
            if name in function._donate:
                raise ArgumentError(
                    f"argument `{name}` of {function.__name__} is donated by each call; it can't be "
                    "prepared"
                )
        super().__init__(function.__name__)
        self._function, self._shared = function, snapshot(shared)
        self._signature = function._signature.replace(
            parameters=[p for n, p in parameters.items() if n not in shared]
        )
        self._blocks: dict[Compiled, Block | None] = {}
        self._arity, self._repeats = _arity(self._signature), Repeats()
        self._lock = threading.Lock()

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        key = None
        if len(args) == self._arity:
            key, leaves, known = self._repeats.find(args)
            if known is not None:
                self._last = known.owner.program
                return known(leaves)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        signature = self._function._signature_of({**bound.arguments, **self._shared})
        compiled = self._function._find(signature)
        if compiled is None:
            return self._function._plainly(signature)
        block = self._get_block(compiled, signature)
        results = compiled(signature.leaves, block)

        def repeat() -> Repeat | None:
            count = itertools.count()
            places = [None if self._stays(n) else next(count) for n in signature.names]
            return compiled.repeat(signature.leaves, places, block)

        self._repeats.note(key, repeat)
        return results

    def _stays(self, name: str) -> bool:
        """Whether the leaf is part of a shared argument."""
        return name.partition(".")[0] in self._shared

    def _get_block(self, compiled: Compiled, signature: Signature) -> Block | None:
        with self._lock:
            if compiled not in self._blocks:
                leaves = {
                    i: x
                    for i, (name, x) in enumerate(zip(signature.names, signature.leaves))
                    if self._stays(name)
                }
                self._blocks[compiled] = compiled.prepare(leaves)
            self._last = compiled.program
            return self._blocks[compiled]


@public
def jit(
    function: Any = None, *, require: Any = None, target: str = "cpu", reassociate: bool = True,
    donate: Any = (), memory_budget: Any = None, fuse: str = "cost",
) -> Any:  # fmt: skip
    """Compiles a function, written for one sample in NumPy's style, for batches.

    ``@nested.jit`` or ``@nested.jit(require=[...])``. NestedTensor arguments are batched; arrays,
    and dicts, lists and tuples of arrays, are shared; NumPy scalars are run-time numbers; other
    values are static: another value compiles again. Arrays and values from outside of the function
    are taken as they are at the first call. require: expectations that must hold, e.g.
    ``"peak <= 200 MB"``, ``"kernels <= 3"``, ``"no pair-sized temporary"``, ``"pair never
    stored"``. target: "cpu" (this machine) or a target of nested-compile. reassociate: whether sums
    may be rewritten where that saves work, which changes the last bits of results. donate: names or
    positions of parameters whose arrays a call may write results of their shape and dtype to, such
    as the parameters and the state of a training step; using them again is an ArgumentError.
    memory_budget: ``(bytes, lengths)``, e.g. ``("64 MB", {"N": [300, 120]})``: in a call with samples of
    these lengths (as plan takes them), temporaries take at most so many bytes. What fits is kept for
    the backward where computing it again would take longer; the rest is computed again. A
    CompileError if that is not enough. Other lengths take other numbers of bytes. fuse: what is put into one
    kernel: "cost" (as bytes and operations say), "never" (each operation is a kernel of its own) or
    "always" (what can be computed again where it is read is never stored).
    """
    options = {"require": require, "target": target, "reassociate": reassociate, "donate": donate,
               "memory_budget": memory_budget, "fuse": fuse}  # fmt: skip
    if function is None:
        return lambda f: JitFunction(f, **options)
    return JitFunction(function, **options)


class Exported:
    """A program compiled ahead of time."""

    def __init__(self, lowered: Lowered, data: bytes, remarks: Sequence[str]):
        self._lowered, self.bytes, self.remarks = lowered, data, list(remarks)

    def text(self, phase: str = "tensor") -> str:
        """The program in a phase."""
        return self._lowered.text(phase)

    def save(self, path: Any) -> None:
        """Writes the artifact. The file is complete or not there. OSError."""
        path = os.fspath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:  # A device, a pipe: nothing to put a file in place of.
                file.write(self.bytes)
            return
        folder = os.path.dirname(os.path.abspath(path))
        handle, temporary = tempfile.mkstemp(prefix=".nested-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.bytes)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


@public
def export(
    function: Any, *specs: Any, target: str = "cpu", strip_ir: bool = False,
    name: str | None = None, require: Any = None, reassociate: bool = True,
    gradients: Any = None, memory_budget: Any = None, fuse: str = "cost", **keywords: Any,
) -> Exported:  # fmt: skip
    """Compiles a function ahead of time: ``export(block, spec("N", 384), w).save("block.so")``.

    specs, keywords: for each argument a ``nested.spec``, an array or NestedTensor like the later
    ones, a nest of them, or a static value, which is built in. target: "cpu", "cpu:NAME", ... as
    nested-compile takes them. strip_ir: leave the program text out. name: of the entry (default:
    that of the function). require, reassociate, memory_budget, fuse: as in jit. gradients: the positional argument, or
    arguments, to differentiate with respect to; the artifact then has the entries ``forward``,
    ``backward`` and ``forward_backward`` in place of one: the results, the gradients, and both
    (``results`` and ``gradients.NAME``, with the name of the argument). Of a function that returns
    one number they take the same arguments; of others the last two also take ``cotangents``, a nest
    like the results, of the gradients of something that depends on them.
    Raises TraceError, CompileError.
    """
    jitted = function if isinstance(function, JitFunction) else JitFunction(function)
    signature = jitted._bind(specs, keywords)
    entries = {name or jitted.__name__: jitted._function}
    if gradients is not None:
        from ._gradient import entries_of  # It needs JitFunction.

        if name is not None:
            raise ValueError("entries with gradients have names: give no name")
        entries = entries_of(jitted._function, gradients)
    budget = jitted._budget if memory_budget is None else MemoryBudget(memory_budget)
    with _tracing:
        traces = [
            trace(made, signature, entry, "loc" if len(entries) == 1 else f"{entry}_loc", budget)
            for entry, made in entries.items()
        ]
    for traced in traces:
        if traced.frozen:
            shapes = ", ".join(str(a.shape) for a in traced.frozen)
            raise TraceError(
                f"{jitted.__name__} uses arrays from outside of it, of shape {shapes}; pass them as "
                f"arguments to export it\n  at {user_location().short}"
            )
    guards = jitted._guards + parse_all(require)
    traced = traces[0]
    if len(traces) > 1:
        traced = traced._replace(name=jitted.__name__, text=merge([t.text for t in traces]))
    lowered = Lowered(traced, target, guards, reassociate, fuse=_fusion(fuse))
    data, remarks = _compile.compile_text(
        traced.text, traced.name, target, strip_ir, fuse, reassociate
    )
    if guards:
        import json

        artifact = _runtime.Artifact.open_memory(data, traced.name, True)
        for entry in json.loads(artifact.manifest)["entries"]:
            for guard in guards:
                guard.check_manifest(entry)
    return Exported(lowered, data, remarks)
