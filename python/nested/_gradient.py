# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of traced functions: requests that the compiler turns into programs."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Sequence

import numpy as np

from . import _emit, _tracer, _tree
from ._dtypes import is_float, text_of
from ._errors import ShapeError, TraceError, at_user, public
from ._ir import Region, Trace, Value, shape_text
from ._jit import JitFunction
from ._tracer import Tracer, as_tracer, value_of


def _name(function: Callable) -> str:
    return getattr(function, "__name__", "the function")


def _trace() -> Trace:
    if not _tracer._current:
        raise TraceError("derivatives are taken of traced functions; there is no trace")
    return _tracer._current[-1]


def _listed(names: Sequence[str], values: Sequence[Value]) -> str:
    return f"{', '.join(names)} : {', '.join(v.type for v in values)}"


def _require_float(dtype: Any, what: str, wanted: str) -> None:
    if not is_float(dtype):
        raise at_user(TraceError(f"{what} {dtype}: expected a floating-point {wanted}"))


def _variable(trace: Trace, leaf: Any, path: str, function: Callable) -> Tracer:
    """A leaf of an argument as a value of its own."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        leaf = as_tracer(leaf, trace)
    if not isinstance(leaf, Tracer):
        raise at_user(TraceError(
            f"argument `{path}` of {_name(function)} is a Python value ({type(leaf).__name__}): "
            "expected an array to differentiate with respect to; pass np.float32(x) for numbers"
        ))  # fmt: skip
    _require_float(
        leaf.dtype,
        f"argument `{path}` of {_name(function)} is",
        "dtype to differentiate with respect to; choose other arguments with argnums=",
    )
    value = value_of(leaf)
    (made,) = trace.emit_like(lambda names, kind: f"ragged.variable {names[0]} : {kind}",
                              [value], [value])  # fmt: skip
    return Tracer(trace, made, None, path)


def _request(
    trace: Trace, outputs: Sequence[Value], seeds: Sequence[Value], variables: Sequence[Value]
) -> list[Value]:
    """The op: gradients of the types of the variables."""
    count, seeded = len(outputs), len(seeds)

    def render(names: list[str], kinds: str) -> str:
        text = f"ragged.gradient of({_listed(names[:count], outputs)})"
        if seeded:
            text += f" seeds({_listed(names[count : count + seeded], seeds)})"
        return f"{text} wrt({_listed(names[count + seeded :], variables)}) -> {kinds}"

    return trace.emit_like(render, [*outputs, *seeds, *variables], variables)


def _with_variables(
    trace: Trace, function: Callable, args: tuple, argnums: tuple[int, ...]
) -> tuple[list[Any], list[Tracer], list[Any]]:
    """The arguments with variables among them, the variables, the structure of each argument."""
    changed, variables, structures = list(args), [], []
    for k in argnums:
        if not -len(args) <= k < len(args):
            raise at_user(TraceError(
                f"argnums has {k}, but {_name(function)} was called with {len(args)} positional "
                "arguments"
            ))  # fmt: skip
        leaves, structure = _tree.flatten(args[k], f"{k}")
        made = [_variable(trace, leaf, path, function) for path, leaf in leaves]
        changed[k] = _tree.unflatten(structure, made)
        variables += made
        structures.append((structure, len(made)))
    return changed, variables, structures


def _unflatten(structures: Sequence[Any], leaves: Sequence[Any], single: bool) -> Any:
    trees, start = [], 0
    for structure, count in structures:
        trees.append(_tree.unflatten(structure, leaves[start : start + count]))
        start += count
    return trees[0] if single else tuple(trees)


def _loss(trace: Trace, function: Callable, value: Any) -> Value:
    """What was returned, if it is one number."""
    loss = as_tracer(value, trace) if not isinstance(value, (tuple, list, dict)) else value
    if not isinstance(loss, Tracer):
        raise at_user(TraceError(
            f"{_name(function)} returns a {type(loss).__name__}: expected one number to "
            "differentiate; has_aux=True is for functions that return (number, anything)"
        ))  # fmt: skip
    found = value_of(loss)
    if found.dims or found.batched:
        kind = f"an array of shape {shape_text(loss.shape)}"
        if found.batched:
            kind += " for every sample" if found.dims else " (a number) for every sample"
        raise at_user(ShapeError(
            f"{_name(function)} returns {kind}: expected one number for the whole batch to "
            "differentiate; reduce it, e.g. with nested.batch.mean(x, axis=None), or use nested.vjp"
        ))  # fmt: skip
    _require_float(found.dtype, f"{_name(function)} returns", "number to differentiate")
    return found


def _numbers(argnums: Any) -> tuple[tuple[int, ...], bool]:
    single = isinstance(argnums, (int, np.integer))
    chosen = (int(argnums),) if single else tuple(int(k) for k in argnums)
    if not chosen or len(set(chosen)) != len(chosen):
        raise ValueError(f"argnums must be an argument or several different ones: {argnums!r}")
    return chosen, single


@public
def value_and_grad(function: Callable, argnums: Any = 0, has_aux: bool = False) -> Any:
    """A function that gives ``function(*args)`` and its derivatives.

    function: written for one sample plus reductions over the batch; it returns one number, or
    with has_aux ``(number, anything)``. argnums: the positional argument, or arguments, to
    differentiate with respect to; nests of dicts, lists and tuples of floating-point arrays, and
    NestedTensors. The result is ``(value, gradients)``, ``((value, aux), gradients)``; gradients
    have the nest of the argument (a tuple of them for several). Usable inside of ``nested.jit``
    and of functions that are differentiated themselves; called on data it is compiled. TraceError,
    ShapeError; CompileError where something that the number depends on has no derivative.
    """
    chosen, single = _numbers(argnums)

    @functools.wraps(function)
    def value_and_gradients(*args: Any, **kwargs: Any) -> Any:
        trace = _trace()
        changed, variables, structures = _with_variables(trace, function, args, chosen)
        result = function(*changed, **kwargs)
        value, aux = result if has_aux else (result, None)
        loss = _loss(trace, function, value)
        found = _request(trace, [loss], [], [v._value for v in variables])
        gradients = _unflatten(structures, [Tracer(trace, g) for g in found], single)
        value = Tracer(trace, loss)
        return ((value, aux) if has_aux else value), gradients

    return JitFunction(value_and_gradients, plain=False)


@public
def grad(function: Callable, argnums: Any = 0, has_aux: bool = False) -> Any:
    """As value_and_grad, without the value: gradients, or ``(gradients, aux)``."""
    both = value_and_grad(function, argnums, has_aux)._function

    @functools.wraps(function)
    def gradients(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return JitFunction(gradients, plain=False)


@public
def vjp(function: Callable, argnums: Any = 0) -> Any:
    """A function ``(cotangents, *args) -> (results, gradients)``.

    cotangents: what the gradients of the results are, a nest like that of the results; the
    derivative of ``sum(cotangent * result)`` is taken. Otherwise as value_and_grad, for functions
    that return arrays, one for every sample or one for the batch.
    """
    chosen, single = _numbers(argnums)

    def results_and_gradients(cotangents: Any, *args: Any) -> Any:
        trace = _trace()
        changed, variables, structures = _with_variables(trace, function, args, chosen)
        results = function(*changed)
        leaves, structure = _tree.flatten(results)
        given, other = _tree.flatten(cotangents)
        if _tree.signature(structure) != _tree.signature(other):
            raise at_user(TraceError(
                f"the cotangents of {_name(function)} are no nest like its results: expected "
                f"{len(leaves)} arrays, but got {len(given)}"
            ))  # fmt: skip
        outputs, seeds = [], []
        for (path, leaf), (_, cotangent) in zip(leaves, given):
            output = value_of(as_tracer(leaf, trace))
            what = f"result {path or '0'} of {_name(function)} is"
            _require_float(output.dtype, what, "dtype to differentiate")
            what = f"the cotangent of result {path or '0'} of {_name(function)}"
            seed = value_of(as_tracer(cotangent, trace))
            seeds.append(_conforming(trace, seed, output, what))
            outputs.append(output)
        found = _request(trace, outputs, seeds, [v._value for v in variables])
        return results, _unflatten(structures, [Tracer(trace, g) for g in found], single)

    results_and_gradients.__name__ = _name(function)
    return JitFunction(results_and_gradients, plain=False)


def entries_of(function: Callable, argnums: Any) -> dict[str, Callable]:
    """The entries of an artifact with gradients, by name: functions to trace."""
    chosen, _ = _numbers(argnums)
    parameters = [*inspect.signature(function).parameters]

    @functools.wraps(function)
    def forward_backward(*args: Any, **kwargs: Any) -> Any:
        trace = _trace()
        changed, variables, structures = _with_variables(trace, function, args, chosen)
        results = function(*changed, **kwargs)
        leaves, _ = _tree.flatten(results, "cotangents")
        outputs, seeds = [], []
        if _is_number(results):
            outputs.append(_loss(trace, function, results))
        else:
            for path, leaf in leaves:
                output = value_of(as_tracer(leaf, trace)) if isinstance(leaf, Tracer) else None
                if output is None or not is_float(output.dtype):
                    continue
                outputs.append(output)
                seeds.append(trace.argument(path, output.dims, output.dtype, output.batched))
        if not outputs:
            raise at_user(TraceError(
                f"{_name(function)} returns nothing of a floating-point dtype: there is nothing to "
                "differentiate"
            ))  # fmt: skip
        found = _request(trace, outputs, seeds, [v._value for v in variables])
        gradients = _unflatten(structures, [Tracer(trace, g) for g in found], False)
        return {
            "results": results,
            "gradients": {parameters[k]: g for k, g in zip(chosen, gradients)},
        }

    @functools.wraps(function)
    def backward(*args: Any, **kwargs: Any) -> Any:
        return {"gradients": forward_backward(*args, **kwargs)["gradients"]}

    return {"forward": function, "backward": backward, "forward_backward": forward_backward}


def _is_number(results: Any) -> bool:
    if not isinstance(results, Tracer):
        return False
    value = value_of(results)
    return not value.dims and not value.batched and is_float(value.dtype)


def _conforming(trace: Trace, value: Value, like: Value, what: str) -> Value:
    """The value with exactly the type of another; ShapeError, TraceError where it can't be."""
    fits = len(value.dims) == len(like.dims) and (like.batched or not value.batched)
    fits = fits and all(trace.unify(a, b) for a, b in zip(value.dims, like.dims))
    if not fits:
        raise at_user(ShapeError(
            f"{what} has shape {shape_text(trace.current_dims(value.dims))}: expected "
            f"{shape_text(trace.current_dims(like.dims))}"
        ))  # fmt: skip
    if value.dtype != like.dtype:
        raise at_user(
            TraceError(f"{what} is {text_of(value.dtype)}: expected {text_of(like.dtype)}")
        )
    if like.batched and not value.batched:
        value = _emit.broadcast_to(trace, value, like.dims, True)
    if value.type == like.type:
        return value
    source = value.type
    (made,) = trace.emit_like(
        lambda names, kind: f"ragged.cast {names[0]} : {source} to {kind}", [value], [like]
    )
    return made


@public
def stop_gradient(x: Any) -> Any:
    """x, as a constant to every derivative. Nests of arrays too."""
    leaves, structure = _tree.flatten(x)
    return _tree.unflatten(structure, [_stopped(leaf) for _, leaf in leaves])


def _stopped(x: Any) -> Any:
    if not isinstance(x, Tracer) or not is_float(x.dtype):
        return x
    value = value_of(x)
    (made,) = x._trace.emit_like(lambda names, kind: f"ragged.stop_gradient {names[0]} : {kind}",
                                 [value], [value])  # fmt: skip
    return Tracer(x._trace, made, x._weak)


@public
def checkpoint(function: Callable) -> Callable:
    """The function; derivatives keep nothing that is computed inside, but compute it again.

    That trades work for memory: of a chain of such functions only what goes from one to the next
    is kept. The results and the derivatives are the same. Usable in traced functions, on any
    arguments; on plain arrays it is ``function``.
    """

    @functools.wraps(function)
    def again(*args: Any, **kwargs: Any) -> Any:
        if not _tracer._current:
            return function(*args, **kwargs)
        trace = _trace()
        made: list[Any] = []

        def record() -> list[Value]:
            leaves, structure = _tree.flatten(function(*args, **kwargs))
            made.extend([structure, [leaf for _, leaf in leaves]])
            return [value_of(leaf) for _, leaf in leaves if isinstance(leaf, Tracer)]

        region: Region = trace.record_region([], record)
        structure, leaves = made
        if not region.results:
            return _tree.unflatten(structure, leaves)
        results = iter(
            trace.emit_like(
                lambda names, kinds: f"ragged.checkpoint @region -> {kinds}",
                [], region.results, region,
            )
        )  # fmt: skip
        return _tree.unflatten(
            structure,
            [
                Tracer(trace, next(results), leaf._weak) if isinstance(leaf, Tracer) else leaf
                for leaf in leaves
            ],
        )

    return again


@public
def custom_vjp(function: Callable, forward: Callable, backward: Callable) -> Callable:
    """The function, with a derivative of the user's.

    forward: ``forward(*args) -> (results, residuals)``, the same results as ``function(*args)`` and
    anything that the derivative needs. backward: ``backward(residuals, cotangents) -> gradients``, a
    tuple with one nest of arrays for each positional argument, of its shapes and dtypes; None
    stands for 0. cotangents: a nest like the results. On plain arrays it is ``function``.
    """

    @functools.wraps(function)
    def custom(*args: Any) -> Any:
        leaves = [leaf for arg in args for _, leaf in _tree.flatten(arg)[0]]
        if not any(isinstance(leaf, Tracer) for leaf in leaves):
            return function(*args)
        return _custom(_tracer.trace_of([x for x in leaves if isinstance(x, Tracer)]), function,
                       forward, backward, args)  # fmt: skip

    return custom


def _custom(
    trace: Trace, function: Callable, forward: Callable, backward: Callable, args: tuple
) -> Any:
    results, residuals = forward(*args)
    leaves, structure = _tree.flatten(results)
    values = [value_of(as_tracer(leaf, trace)) for _, leaf in leaves]
    cotangents = [Value(v.dims, v.dtype, v.batch) for v in values]
    inputs: list[Value] = []

    def record() -> list[Value]:
        tree = _tree.unflatten(structure, [Tracer(trace, c) for c in cotangents])
        gradients = backward(residuals, tree)
        if not isinstance(gradients, tuple) or len(gradients) != len(args):
            got = len(gradients) if isinstance(gradients, tuple) else type(gradients).__name__
            raise at_user(TraceError(
                f"the backward rule of {_name(function)} gives {got}: expected a tuple of "
                f"{len(args)} gradients, one for each argument"
            ))  # fmt: skip
        yielded = []
        for k, (arg, gradient) in enumerate(zip(args, gradients)):
            given, shape = _tree.flatten(arg, f"{k}")
            found = [None] * len(given)
            if gradient is not None:
                parts, other = _tree.flatten(gradient)
                if _tree.signature(shape) != _tree.signature(other):
                    raise at_user(TraceError(
                        f"the gradient of argument {k} that the backward rule of "
                        f"{_name(function)} gives is no nest like the argument"
                    ))  # fmt: skip
                found = [part for _, part in parts]
            for (path, leaf), part in zip(given, found):
                if not isinstance(leaf, Tracer) or not is_float(leaf.dtype):
                    continue
                like = value_of(leaf)
                made = np.zeros_like(leaf) if part is None else as_tracer(part, trace)
                what = f"the gradient of argument `{path}` of {_name(function)}"
                inputs.append(like)
                yielded.append(_conforming(trace, value_of(made), like, what))
        return yielded

    region: Region = trace.record_region(cotangents, record)
    if not inputs:
        return results
    count = len(values)

    def render(names: list[str], kinds: str) -> str:
        return (
            f"ragged.custom_gradient values({_listed(names[:count], values)}) "
            f"inputs({_listed(names[count:], inputs)}) @region -> {kinds}"
        )

    made = trace.emit_like(render, [*values, *inputs], values, region)
    return _tree.unflatten(structure, [Tracer(trace, v) for v in made])


__all__ = ["checkpoint", "custom_vjp", "grad", "stop_gradient", "value_and_grad", "vjp"]
