# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs as PyTorch operators: ragged batches of tensors, with autograd.

    from nested.torch import Ragged, compile

    @compile
    def block(x, w):                       # one sample, in NumPy's style, as for nested.jit
        ...
        return x + nested.mean(p, axis=1) @ w["g"], p

    single, pair = block(Ragged.from_list([t17, t230], dims=("N", 384)), weights)
    (single.values.square().mean() + pair.values.abs().mean()).backward()

A call is one operator, ``torch.ops.nested.run``, with a rule for autograd, ``run_backward``, and
shapes for tracing, so that it works inside of ``torch.compile`` without a graph break. Tensors are
on the CPU; memory is shared with the program, not copied. Importing this module needs PyTorch.
"""

from __future__ import annotations

import functools
import operator
import threading
from typing import Any, Callable, Sequence

import numpy as np
import torch
from torch.library import custom_op, get_ctx

from . import _tree
from ._dtypes import bfloat16
from ._errors import ArgumentError, StructureError, TraceError, public, public_method
from ._gradient import vjp
from ._ir import shape_text
from ._jit import JitFunction, Spec
from ._program import Signature
from ._structure import Structure
from ._tensor import NestedTensor

__all__ = ["Function", "Ragged", "compile"]


# -- batches --


class Ragged:
    """A batch of samples of different sizes.

    values: ``(rows, static sizes...)``, the rows of all samples one after the other; the ragged
    axes of a sample are its rows in logical order. lengths: int64 ``(B, q)``, one column for each
    ragged axis. dims: for each axis of a sample its size, a name if it is ragged, or a negative
    number; axes with one name, or number, have the same length in each sample. Derivatives flow
    through ``values``. The tensors are not checked here; a call of a compiled function does.
    """

    def __init__(self, values: torch.Tensor, lengths: torch.Tensor, dims: Sequence[int | str]):
        self.values, self.lengths, self.dims = values, lengths, tuple(dims)

    @classmethod
    def from_list(cls, samples: Sequence[torch.Tensor], dims: Sequence[int | str | None]) -> Ragged:
        """A batch of tensors, through which derivatives flow.

        dims: for each axis of a sample its size, a name, or None for a ragged axis without a
        name. Without samples the values are float32. StructureError where a sample does not fit.
        """
        numbered = [d if d is not None else -1 - k for k, d in enumerate(dims)]
        ragged = [k for k, d in enumerate(numbered) if isinstance(d, str) or d < 0]
        order = [*ragged, *(k for k in range(len(numbered)) if k not in ragged)]
        lengths = np.zeros((len(samples), len(ragged)), np.int64)
        for i, sample in enumerate(samples):
            fits = sample.dim() == len(numbered) and all(
                isinstance(d, str) or d < 0 or d == n for d, n in zip(numbered, sample.shape)
            )
            if not fits:
                raise StructureError(
                    f"sample {i} has shape {tuple(sample.shape)}: expected {shape_text(dims)}"
                )
            lengths[i] = [sample.shape[k] for k in ragged]
        Structure(numbered, lengths)  # Names that differ in a sample, sizes that overflow.
        counts = lengths.prod(axis=1).tolist()
        rows = [
            sample.permute(order).reshape(count, *(sample.shape[k] for k in order[len(ragged) :]))
            for sample, count in zip(samples, counts)
        ]
        static = [numbered[k] for k in order[len(ragged) :]]
        values = torch.cat(rows) if rows else torch.zeros(0, *static)  # type: ignore[arg-type]
        return cls(values, torch.from_numpy(lengths), numbered)

    @classmethod
    def from_nested(cls, x: NestedTensor) -> Ragged:
        """A NestedTensor's values and structure; memory is shared where it is packed."""
        return cls(_tensor(np.ascontiguousarray(x.values)),
                   torch.from_numpy(x.structure.lengths.copy()), x.structure.dims)  # fmt: skip

    def nested(self) -> NestedTensor:
        """The same memory as a NestedTensor. ArgumentError, StructureError."""
        return _nested(self.values, self.lengths, self.dims, "values")

    @property
    def dtype(self) -> torch.dtype:
        return self.values.dtype

    def unbind(self) -> list[torch.Tensor]:
        """The samples, views of the values, through which derivatives flow."""
        ragged = [k for k, d in enumerate(self.dims) if isinstance(d, str) or d < 0]
        static = [k for k in range(len(self.dims)) if k not in ragged]
        back = list(np.argsort([*ragged, *static]))
        sizes = self.lengths.prod(dim=1).tolist() if ragged else [1] * len(self.lengths)
        return [
            rows.reshape(*own, *(self.dims[k] for k in static)).permute(back)
            for rows, own in zip(torch.split(self.values, sizes), self.lengths.tolist())
        ]

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        return f"Ragged({len(self)} samples of {shape_text(self.dims)}, {self.dtype})"


torch.utils._pytree.register_pytree_node(
    Ragged,
    lambda x: ([x.values, x.lengths], x.dims),
    lambda leaves, dims: Ragged(*leaves, dims),
    serialized_type_name="nested.torch.Ragged",
)


def _array(tensor: torch.Tensor) -> np.ndarray:
    """The memory of a tensor on the CPU."""
    tensor = tensor.detach()
    if tensor.dtype != torch.bfloat16:
        return tensor.numpy()
    return tensor.view(torch.int16).numpy().view(bfloat16)


def _tensor(array: np.ndarray) -> torch.Tensor:
    if array.dtype == bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _nested(
    values: torch.Tensor, lengths: torch.Tensor, dims: Sequence[int | str], what: str
) -> NestedTensor:
    table = np.array(_array(lengths), np.int64)
    structure = Structure(dims, table)
    array = _array(values)
    expected = (int(structure.rows.sum()), *structure.row_shape)
    if array.shape != expected:
        raise ArgumentError(
            f"{what} has values of shape {array.shape}: expected {expected}, as its lengths and "
            f"dims {shape_text(dims)} say"
        )
    return NestedTensor(array, structure)


# -- programs --

_Described = Any  # Constants that say what an argument is: nested tuples.


class _Program:
    """A function for arguments of one kind. Inputs and outputs of the operators are flat lists of
    tensors, two (values, lengths) for each ragged value."""

    def __init__(self, function: JitFunction, described: _Described):
        self.name = function.__name__
        self.leaves: list[tuple] = []
        self.structure = self._collect(described)
        self.jitted = function
        specs = [
            leaf[1] if leaf[0] == "static"
            else Spec(leaf[1], _numpy_dtype(leaf[2]), leaf[0] == "ragged")
            for leaf in self.leaves
        ]  # fmt: skip
        args, kwargs = _tree.unflatten(self.structure, specs)
        lowered = function.lower(*args, **kwargs)
        compiled = lowered.compile()
        self.results_structure = lowered._traced.structure
        self.outputs = lowered._traced.outputs
        self.results: list[Signature] = compiled.program.results
        self.inputs: list[Signature] = [
            Signature(_described_value(leaf), frozenset(map(str, leaf[1])))
            for leaf in self.leaves if leaf[0] != "static"
        ]  # fmt: skip
        # The numbers of their (first) tensors.
        self.input_places, self.output_places = _places(self.inputs), _places(self.results)
        self.backwards: dict[tuple, JitFunction] = {}

    def _collect(self, described: _Described) -> Any:
        kind, *rest = described
        if kind == "dict":
            return {key: self._collect(child) for key, child in rest[0]}
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(self._collect(c) for c in rest[0])
        self.leaves.append(described)
        return _tree.Leaf(len(self.leaves) - 1)

    def arguments(self, tensors: Sequence[torch.Tensor]) -> list[Any]:
        """What the program takes for each leaf."""
        given, made = iter(tensors), []
        for kind, what, *rest in self.leaves:
            if kind == "static":
                made.append(what)
            elif kind == "ragged":
                values, lengths = next(given), next(given)
                made.append(_nested(values, lengths, what, f"argument `{rest[-1]}`"))
            else:
                made.append(_array(next(given)))
        return made

    def run(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        args, kwargs = _tree.unflatten(self.structure, self.arguments(tensors))
        leaves = [leaf for _, leaf in _tree.flatten(self.jitted(*args, **kwargs))[0]]
        out = []
        for (is_result, _), leaf in zip(self.outputs, leaves):
            if is_result and isinstance(leaf, NestedTensor):
                out += [_tensor(leaf.values), torch.from_numpy(leaf.structure.lengths.copy())]
            elif is_result:
                out.append(_tensor(np.asarray(leaf)))
        return out

    def floats(self) -> list[int]:
        """Numbers among the operator's outputs that have derivatives."""
        return [
            place for signature, place in zip(self.results, self.output_places)
            if signature.dtype.kind == "f" or signature.dtype == bfloat16
        ]  # fmt: skip

    def backward(
        self, tensors: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor],
        given: tuple[int, ...], wanted: tuple[int, ...],
    ) -> list[torch.Tensor]:  # fmt: skip
        """Gradients of the tensors number `wanted`; cotangents of the outputs number `given`."""
        key = (given, wanted)
        if key not in self.backwards:
            self.backwards[key] = self._trace_backward(given, wanted)
        seeds, at = [], 0
        for signature, place in zip(self.results, self.output_places):
            if place not in given:
                continue
            cotangent = cotangents[at]
            at += 1
            if not signature.ragged:
                seeds.append(_array(cotangent))
                continue
            what = f"the cotangent of result {signature.name}"
            seeds.append(_nested(cotangent, cotangents[at], signature.dims, what))
            at += 1
        found = self.backwards[key](seeds, *self.arguments(tensors))
        return [_tensor(np.asarray(g.values if isinstance(g, NestedTensor) else g)) for g in found]

    def _trace_backward(self, given: tuple[int, ...], wanted: tuple[int, ...]) -> JitFunction:
        function, structure = self.jitted._function, self.structure
        places = iter(self.input_places)
        argnums = tuple(
            k for k, leaf in enumerate(self.leaves)
            if leaf[0] != "static" and next(places) in wanted
        )  # fmt: skip
        chosen = [k for k, place in enumerate(self.output_places) if place in given]

        def some_results(*leaves: Any) -> list[Any]:
            args, kwargs = _tree.unflatten(structure, leaves)
            results = [leaf for _, leaf in _tree.flatten(function(*args, **kwargs))[0]]
            traced = [r for r, (is_result, _) in zip(results, self.outputs) if is_result]
            return [traced[k] for k in chosen]

        some_results.__name__ = self.name

        def gradients(cotangents: Any, *leaves: Any) -> Any:
            return vjp(some_results, argnums)(cotangents, *leaves)[1]

        gradients.__name__ = f"{self.name}_backward"
        return JitFunction(gradients, plain=False)


def _places(signatures: Sequence[Signature]) -> list[int]:
    """The number of the first tensor of each value, in a flat list."""
    places, at = [], 0
    for signature in signatures:
        places.append(at)
        at += 2 if signature.ragged else 1
    return places


def _described_value(leaf: tuple) -> dict:
    """A leaf in the form of the manifest, as far as shapes need it."""
    if leaf[0] == "dense":
        return {"name": leaf[-1], "kind": "dense", "dtype": "f32", "shape": list(leaf[1])}
    extents = [f"_{-d}" if isinstance(d, int) and d < 0 else str(d) for d in leaf[1]]
    return {"name": leaf[-1], "kind": "ragged", "dtype": "f32", "extents": extents}


def _numpy_dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        return bfloat16
    try:
        return np.dtype(name)
    except TypeError:
        raise TraceError(f"dtype torch.{name} is not supported") from None


_functions: list[JitFunction] = []
_programs: list[_Program] = []
_known: dict[Any, int] = {}
_lock = threading.RLock()


@torch.compiler.assume_constant_result
def _resolve(function: str, described: _Described) -> tuple[int, Any]:
    """The number of the program for arguments of this kind, and its results as constants."""
    with _lock:
        key = (function, described)
        if key not in _known:
            _programs.append(_Program(_functions[int(function)], described))
            _known[key] = len(_programs) - 1
        handle = _known[key]
    program = _programs[handle]
    numbers = iter(range(len(program.results)))

    def describe(structure: Any) -> Any:
        if isinstance(structure, _tree.Leaf):
            is_result, constant = program.outputs[structure.index]
            if not is_result:
                return ("static", constant)
            signature = program.results[next(numbers)]
            return ("ragged", tuple(signature.dims)) if signature.ragged else ("dense",)
        if isinstance(structure, dict):
            return ("dict", tuple((k, describe(c)) for k, c in structure.items()))
        kind = "list" if isinstance(structure, list) else "tuple"
        return (kind, tuple(describe(c) for c in structure))

    return handle, describe(program.results_structure)


def _check_device(tensor: torch.Tensor, path: str) -> None:
    if tensor.device.type != "cpu":
        raise ArgumentError(f"argument `{path}` is on {tensor.device}, but programs run on the CPU")


def _describe(tree: Any, path: str, tensors: list[torch.Tensor]) -> _Described:
    """Constants that say what a nest of arguments is; adds its tensors to the list."""
    if isinstance(tree, Ragged):
        _check_device(tree.values, path)
        _check_device(tree.lengths, path)
        tensors.append(tree.values)
        tensors.append(tree.lengths)
        dims = tuple([d if isinstance(d, str) else operator.index(d) for d in tree.dims])
        return ("ragged", dims, str(tree.values.dtype)[6:], path)
    if isinstance(tree, torch.Tensor):
        _check_device(tree, path)
        tensors.append(tree)
        return ("dense", tuple(operator.index(n) for n in tree.shape), str(tree.dtype)[6:], path)
    if isinstance(tree, dict):
        return ("dict", tuple((key, _describe(tree[key], f"{path}.{key}" if path else key, tensors))
                              for key in sorted(tree)))  # fmt: skip
    if isinstance(tree, (tuple, list)):
        kind = "list" if isinstance(tree, list) else "tuple"
        return (kind, tuple([_describe(child, f"{path}.{i}" if path else str(i), tensors)
                             for i, child in enumerate(tree)]))  # fmt: skip
    return ("static", tree)


def _rebuild(described: Any, outputs: list[torch.Tensor]) -> Any:
    """The results of a call; takes its tensors from the front of the list."""
    kind = described[0]
    if kind == "ragged":
        values = outputs.pop(0)
        return Ragged(values, outputs.pop(0), described[1])
    if kind == "dense":
        return outputs.pop(0)
    if kind == "static":
        return described[1]
    if kind == "dict":
        return {key: _rebuild(child, outputs) for key, child in described[1]}
    children = [_rebuild(child, outputs) for child in described[1]]
    return children if kind == "list" else tuple(children)


class Function:
    """A function for one sample, compiled as a PyTorch operator. Made by :func:`compile`."""

    def __init__(self, function: Callable, **options: Any):
        functools.update_wrapper(self, function)
        self._jitted = JitFunction(function, plain=False, **options)
        with _lock:
            _functions.append(self._jitted)
            self._number = str(len(_functions) - 1)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors: list[torch.Tensor] = []
        described = ("tuple", (_describe(args, "", tensors), _describe(kwargs, "", tensors)))
        handle, results = _resolve(self._number, described)
        return _rebuild(results, list(torch.ops.nested.run(handle, tensors)))

    def __repr__(self) -> str:
        return f"<nested.torch.compile {self.__name__}>"


def compile(function: Any = None, **options: Any) -> Any:
    """A function written for one sample as a differentiable PyTorch function of batches.

    ``@compile`` or ``@compile(require=[...])``; options are those of ``nested.jit``. Arguments:
    Ragged batches, tensors that all samples share, nests of them, and static Python values. The
    results are Ragged batches and tensors. Each kind of argument (shapes, dtypes, names of axes)
    is compiled once, whatever the lengths. Errors are those of ``nested.jit``.
    """
    if function is None:
        return lambda f: Function(f, **options)
    return Function(function, **options)


# -- operators --


@custom_op("nested::run", mutates_args=())
def _run(program: int, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return _programs[program].run(tensors)


@_run.register_fake
def _(program: int, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    described = _programs[program]
    known: dict[Any, Any] = {}  # Rows by ragged sizes.
    batch: Any = None
    for signature, place in zip(described.inputs, described.input_places):
        if signature.ragged:
            known.setdefault(_rows_key(signature), tensors[place].shape[0])
            batch = tensors[place + 1].shape[0]
    made = []
    for signature in described.results:
        dtype = getattr(torch, "bool" if signature.dtype.kind == "b" else signature.dtype.name)
        if not signature.ragged:
            made.append(torch.empty(signature.shape, dtype=dtype))
            continue
        key = _rows_key(signature)
        if key == ():
            known[key] = batch
        if key not in known:
            known[key] = get_ctx().new_dynamic_size()
        made.append(torch.empty(known[key], *signature.row_shape, dtype=dtype))
        made.append(torch.empty(batch, signature.num_ragged, dtype=torch.int64))
    return made


def _rows_key(signature: Signature) -> tuple[str, ...]:
    """Equal for values that have equally many rows."""
    return tuple(sorted(text for text in signature.extents if not text.isdigit()))


@custom_op("nested::run_backward", mutates_args=())
def _run_backward(
    program: int, tensors: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor],
    given: Sequence[int], wanted: Sequence[int],
) -> list[torch.Tensor]:  # fmt: skip
    return _programs[program].backward(tensors, cotangents, tuple(given), tuple(wanted))


@_run_backward.register_fake
def _(
    program: int, tensors: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor],
    given: Sequence[int], wanted: Sequence[int],
) -> list[torch.Tensor]:  # fmt: skip
    return [torch.empty(tensors[i].shape, dtype=tensors[i].dtype) for i in wanted]


def _setup_context(ctx: Any, inputs: tuple, output: list[torch.Tensor]) -> None:
    ctx.program, tensors = inputs
    described = _programs[ctx.program]
    ctx.floats = described.floats()
    # Of ragged outputs only the lengths are needed.
    ctx.lengths = {}
    kept = list(tensors)
    for signature, place in zip(described.results, described.output_places):
        if signature.ragged:
            ctx.lengths[place] = len(kept)
            kept.append(output[place + 1])
    ctx.count = len(tensors)
    ctx.wanted = [i for i, t in enumerate(tensors) if t.requires_grad]
    ctx.save_for_backward(*kept)
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, gradients: list[torch.Tensor | None]) -> tuple[None, list[Any]]:
    saved = ctx.saved_tensors
    found: list[Any] = [None] * ctx.count
    cotangents, given = [], []
    for place in ctx.floats:
        gradient = gradients[place]
        if gradient is None:
            continue
        given.append(place)
        cotangents.append(gradient.contiguous())
        if place in ctx.lengths:
            cotangents.append(saved[ctx.lengths[place]])
    if given and ctx.wanted:
        made = torch.ops.nested.run_backward(
            ctx.program, saved[: ctx.count], cotangents, given, ctx.wanted
        )
        for place, gradient in zip(ctx.wanted, made):
            found[place] = gradient
    return None, found


_run.register_autograd(_backward, setup_context=_setup_context)

Ragged.from_list = classmethod(public(Ragged.from_list.__func__))  # type: ignore[attr-defined]
Ragged.nested = public_method(Ragged.nested)  # type: ignore[method-assign]
