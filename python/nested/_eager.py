# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on NestedTensors outside of a compiled function: one small program each, cached.

An operation is traced for the kinds of its arguments like any function for one sample, so that
eager results are those of a compiled function, dtypes and errors included.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import inspect
import threading
from collections import OrderedDict
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import numpy as np

from . import _tree
from ._dtypes import bfloat16
from ._errors import Location, NestedError, RequirementError, public, user_location
from ._repeat import Repeats
from ._tensor import NestedTensor

# Programs that are kept; the one that was used longest ago goes first.
_KEPT = 512

_programs: OrderedDict[Any, Any] = OrderedDict()
_repeats = Repeats()
_lock = threading.RLock()
_compilations = 0
_forbidden = threading.local()


class Slice(NamedTuple):
    """A slice in an index, as part of a key of the cache."""

    start: Any
    stop: Any
    step: Any


def call(function: Callable, args: Iterable[Any], kwargs: dict | None = None) -> Any:
    """``function``, written for one sample, on every sample of the NestedTensors among its
    arguments. Raises what tracing, compiling and running raise."""
    global _compilations
    from . import _jit

    name = getattr(function, "__name__", "operation").strip("_")
    if getattr(_forbidden, "reason", None):
        raise RequirementError(
            f"np/nested.{name} of a NestedTensor would run eagerly, which {_forbidden.reason} forbids; "
            "call it in a function compiled by nested.jit"
        )
    args, kwargs = tuple(args), kwargs or {}
    repeat, leaves, known = _repeats.find((*args, *kwargs.values()), (function, len(args), *kwargs))
    if known is not None:
        return _run(lambda: known(leaves), known.owner.line, name)
    signature = _signature(function, args, kwargs)
    key = function, signature.key()
    with _lock:
        compiled = _programs.get(key)
        if compiled is not None:
            _programs.move_to_end(key)
    if compiled is None:
        line = user_location()
        with _jit._tracing:
            traced = _jit.trace(lambda a, k: function(*a, **k), signature, name, where=line)
        compiled = _jit.Lowered(traced, "cpu", ()).compile()
        compiled.line = line
        with _lock:
            _compilations += 1
            _programs[key] = compiled
            while len(_programs) > _KEPT:
                _programs.popitem(last=False)
    results = _run(lambda: compiled(signature.leaves), compiled.line, name)
    every = range(len(signature.leaves))
    _repeats.note(repeat, lambda: compiled.repeat(signature.leaves, every))
    return results


def _run(call: Callable, first: Location, name: str) -> Any:
    """Calls a program that was traced for the line `first`, which its errors name."""
    try:
        return call()
    except NestedError as error:
        # Another line may run it.
        here = user_location()
        text = str(error)
        if first.text:
            text = text.replace(first.text, here.text or name)
        raise type(error)(text.replace(first.short, here.short)) from None


def _signature(function: Callable, args: tuple, kwargs: dict) -> Any:
    from . import _jit

    leaves: list[Any] = []
    names: list[str] = []

    def add(name: str, tree: Any) -> Any:
        found, structure = _tree.flatten(tree, name)
        start = len(leaves)
        names.extend(n for n, _ in found)
        leaves.extend(leaf for _, leaf in found)
        return _tree.unflatten(structure, [_tree.Leaf(start + i) for i in range(len(found))])

    parameters = _parameters(function)
    positional = tuple(
        add(parameters[i] if i < len(parameters) else f"x{i + 1}", x) for i, x in enumerate(args)
    )
    keywords = {k: add(k, x) for k, x in kwargs.items()}
    structure = ((positional, keywords), {})
    return _jit.Signature(names, leaves, structure, [_jit.spec_of(x) for x in leaves])


@functools.lru_cache(maxsize=1024)
def _parameters(function: Callable) -> tuple[str, ...]:
    """Names for messages; none for what takes any number of arguments, and for ufuncs."""
    if isinstance(function, np.ufunc):
        return ()
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in found if p.kind is not p.VAR_POSITIONAL)


def has_batch(values: Iterable[Any]) -> bool:
    """Whether a NestedTensor is among the values, or in lists, tuples and dicts of them."""
    for x in values:
        if isinstance(x, NestedTensor):
            return True
        if isinstance(x, (list, tuple)) and has_batch(x):
            return True
        if isinstance(x, dict) and has_batch(x.values()):
            return True
    return False


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
    """``__array_ufunc__`` of NestedTensor."""
    if method != "__call__":
        # np.add.reduce(x): the traced form knows which of them there are.
        def form(*operands: Any, **options: Any) -> Any:
            return getattr(ufunc, method)(*operands, **options)

        return call(_method_form(ufunc, method, form), inputs, kwargs)
    return call(ufunc, _run_time_numbers(ufunc, inputs), kwargs)


_method_forms: dict[tuple, Callable] = {}


def _method_form(ufunc: np.ufunc, method: str, form: Callable) -> Callable:
    form.__name__ = f"{ufunc.__name__}.{method}"
    return _method_forms.setdefault((ufunc, method), form)


def _run_time_numbers(ufunc: np.ufunc, inputs: tuple) -> tuple:
    """Python numbers as arguments of the program, in the dtype that NumPy gives them beside the
    others: ``x * 0.1`` and ``x * 0.2`` are one program. Exponents stay: ``x ** 2`` is ``x * x``."""
    numbers = [type(x) in (int, float) for x in inputs]
    if not any(numbers) or ufunc is np.power:
        return inputs
    dtypes = [
        type(x) if number else x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
        for x, number in zip(inputs, numbers)
    ]
    if bfloat16 in dtypes:
        return inputs
    try:
        loop = ufunc.resolve_dtypes((*dtypes, *[None] * ufunc.nout))
    except TypeError:
        return inputs  # the trace says what is wrong
    return tuple(
        np.asarray(x, d)[()] if number else x for x, d, number in zip(inputs, loop, numbers)
    )


def index(x: NestedTensor, rest: tuple) -> NestedTensor:
    """``x[:, rest...]``: every sample indexed in the same way."""
    keys = tuple(Slice(k.start, k.stop, k.step) if isinstance(k, slice) else k for k in rest)
    return call(_index, (x, keys))


def _index(x: Any, keys: tuple) -> Any:
    plain = tuple(slice(*k) if isinstance(k, Slice) else k for k in keys)
    return x[plain[0] if len(plain) == 1 else plain]


def enable(module: dict, names: Iterable[str]) -> None:
    """Makes functions of a module take NestedTensors, by running eagerly."""
    for name in names:
        function = module[name]
        if callable(function) and not isinstance(function, (np.ufunc, type)):
            if getattr(function, "__module__", "").split(".")[0] != "numpy":
                module[name] = _operation(function, name)


def _operation(function: Callable, name: str) -> Callable:
    def operation(*args: Any, **kwargs: Any) -> Any:
        if has_batch(args) or has_batch(kwargs.values()):
            return call(function, args, kwargs)
        return function(*args, **kwargs)

    operation.__name__, operation.__doc__ = name, function.__doc__
    with contextlib.suppress(TypeError, ValueError):
        operation.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return public(operation)


# -- what users see of it: nested.eager --


def compilations() -> int:
    """How many programs eager operations have compiled in this process."""
    return _compilations


def clear() -> None:
    """Forgets the programs of eager operations."""
    with _lock:
        _programs.clear()
    _repeats.clear()


atexit.register(clear)  # before the runtime's own clean-up


@contextlib.contextmanager
def forbid() -> Iterator[None]:
    """In this thread, eager operations on NestedTensors raise RequirementError: ``with
    nested.eager.forbid(): train_step(batch)`` finds those that slipped out of nested.jit."""
    previous = getattr(_forbidden, "reason", None)
    _forbidden.reason = "nested.eager.forbid()"
    try:
        yield
    finally:
        _forbidden.reason = previous
