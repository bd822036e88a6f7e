# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled entries: binding arguments, planning, running. One path for JIT and artifacts."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

import numpy as np

from . import _dims, _donation, _runtime
from ._dtypes import CODES, bfloat16, from_name, storage_name
from ._errors import ArgumentError, RequirementError
from ._ir import shape_text
from ._require import Guard
from ._structure import Structure, as_int64, from_any
from ._tensor import NestedTensor

_PLANS_KEPT = 16


class Signature:
    """One argument or result as the manifest describes it."""

    def __init__(self, value: dict, named: frozenset[str]):
        self.name: str = value["name"]
        self.ragged = value["kind"] == "ragged"
        self.dtype_name: str = value["dtype"]
        self.where: str = value.get("where", "")
        self.shape: list[int] = value.get("shape", [])
        self.extents: list[str] = value.get("extents", [])
        self.path: list[str] = value.get("path", ["B"] if self.ragged else [])
        dims: list[int | str] = []
        labels: dict[int, str] = {}
        classes: dict[str, int] = {}
        for text in self.extents:
            if text.isdigit():
                dims.append(int(text))
            elif text in named:
                dims.append(text)
            else:
                number = classes.setdefault(text, -1 - len(classes))
                dims.append(number)
                if text.isidentifier():
                    labels[number] = text
        self.dims, self.labels = dims, labels
        static = [k for k, d in enumerate(dims) if isinstance(d, int) and d >= 0]
        ragged = [k for k in range(len(dims)) if k not in static]
        self.num_ragged = len(ragged)
        self.order: list[int] = value.get("order", ragged + static)
        self.default_order = self.order == ragged + static
        # The static sizes in the order of storage.
        self.row_shape = [dims[k] for k in self.order if k in static]
        self._dtype: np.dtype | None = None

    @property
    def dtype(self) -> np.dtype:
        if self._dtype is None:
            self._dtype = from_name(self.dtype_name)
        return self._dtype

    def structure(self, lengths: Sequence[np.ndarray], count: int) -> Structure:
        """The structure of a result with given lengths of its ragged axes."""
        table = np.stack(lengths, axis=1) if lengths else np.zeros((count, 0), np.int64)
        return Structure(self.dims, table, self.labels)

    def __str__(self) -> str:
        if not self.ragged:
            return f"{self.name}: {shape_text(self.shape)} {self.dtype_name}"
        return f"{self.name}: {shape_text(self.extents)} {self.dtype_name} per sample"


@dataclass
class Step:
    """One step of a plan; flops and bytes from formulas in the lengths."""

    op: str
    kernel: str
    rows: int
    units: int
    grains: int
    flops: float
    bytes: float


@dataclass
class Cost:
    """What a call would compute and move, in total and for each kernel."""

    flops: float
    bytes: float
    kernels: list[Step]

    def __repr__(self) -> str:
        lines = [f"Cost({_count(self.flops)}flop, {_size(self.bytes)} moved)"]
        lines += [
            f"  {s.kernel}: {s.rows} rows, {_count(s.flops)}flop, {_size(s.bytes)}"
            for s in self.kernels
        ]
        return "\n".join(lines)


@dataclass
class Plan:
    """What a call for given lengths needs, before it is run. Sizes in bytes."""

    peak_bytes: int
    result_bytes: int
    workspace_bytes: int
    temp_bytes: int
    scratch_bytes: int
    staging_bytes: int
    table_bytes: int
    prepared_bytes: int  # Of what `prepare` can do once; no part of the peak.
    flops: float
    bytes_moved: float
    threads: int
    exact: bool
    steps: list[Step] = field(default_factory=list)

    @property
    def cost(self) -> Cost:
        kernels = [s for s in self.steps if s.op == "launch"]
        return Cost(self.flops, self.bytes_moved, kernels)

    def __repr__(self) -> str:
        bound = "" if self.exact else "at most "
        return (
            f"Plan(peak {bound}{_size(self.peak_bytes)}: results {_size(self.result_bytes)}, "
            f"workspace {_size(self.workspace_bytes)}; {_count(self.flops)}flop, "
            f"{_size(self.bytes_moved)} moved, {len(self.cost.kernels)} kernels, "
            f"{self.threads} threads)"
        )


def _size(n: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= factor:
            return f"{n / factor:.3g} {unit}"
    return f"{n:.0f} B"


def _count(n: float) -> str:
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= factor:
            return f"{n / factor:.3g} {unit}"
    return f"{n:.0f} "


def _buffer(array: np.ndarray) -> np.ndarray:
    """The array in a form that DLPack and the runtime can take; the memory itself if possible."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("="))
    if any(s < 0 or s % array.itemsize for s in array.strides) and array.size:
        array = np.ascontiguousarray(array)
    return array.view(np.uint16) if array.dtype == bfloat16 else array


def _buffer_differs(x: Any) -> bool:
    """Whether the runtime gets another array than that of the argument."""
    array = x.storage if isinstance(x, NestedTensor) else np.asarray(x)
    return _buffer(array) is not array


class Block:
    """What a program did once with shared arguments, and the records that stand for them."""

    def __init__(self, memory: np.ndarray, records: dict[int, Any]):
        self.memory, self.records = memory, records


class Program:
    """One entry of an artifact, ready to run."""

    def __init__(
        self,
        artifact: Any,
        entry: Any,
        manifest: dict,
        named: frozenset[str] = frozenset(),
        guards: Sequence[Guard] = (),
    ):
        self.artifact, self.entry, self.manifest = artifact, entry, manifest
        self.args = [Signature(a, named) for a in manifest["args"]]
        self.results = [Signature(r, named) for r in manifest["results"]]
        self.guards = list(guards)
        self.donated: dict[int, int] = {}  # Of arguments: the result that takes their memory.
        self._ragged_results = [r.num_ragged if r.ragged else 0 for r in self.results]
        self._plans: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()
        for guard in self.guards:
            guard.check_manifest(manifest)

    @property
    def name(self) -> str:
        return self.manifest["name"]

    @staticmethod
    def open(
        data: bytes, name: str, named: frozenset[str] = frozenset(), guards: Sequence[Guard] = ()
    ) -> Program:
        """The only entry of an artifact in memory."""
        artifact = _runtime.Artifact.open_memory(data, name)
        manifest = json.loads(artifact.manifest)
        return Program(artifact, artifact.find(""), manifest["entries"][0], named, guards)

    # -- arguments --

    def bind(
        self, leaves: Sequence[Any], block: Block | None = None
    ) -> tuple[list[Any], Any, bool, dict[int, np.ndarray]]:
        """Records for the runtime, a key of the plan (None: not to be kept), whether plain
        arrays stand for a batch of one, and the memory that donated arguments give to results.
        Leaves that the block stands for are not looked at."""
        batched = [x for x, s in zip(leaves, self.args) if s.ragged]
        single = bool(batched) and not any(isinstance(x, NestedTensor) for x in batched)
        records, key = [], [_runtime.default_threads()]
        keep, given = True, {}
        prepared = block.records if block else {}
        for i, (x, signature) in enumerate(zip(leaves, self.args)):
            if i in prepared:
                records.append(prepared[i])
                key.append("prepared")
                continue
            _donation.check(x, signature.name)
            result = -1
            if i in self.donated and (memory := _donation.memory(x, signature.name)) is not None:
                result = self.donated[i]
                given[result] = memory
            if not signature.ragged:
                if isinstance(x, NestedTensor):
                    raise ArgumentError(
                        f"argument `{signature.name}` is shared by all samples: expected an array "
                        f"of shape {shape_text(signature.shape)}, but got a NestedTensor"
                    )
                array = np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else from_any(x)
                data = _buffer(array)
                for guard in self.guards:
                    guard.check_argument(signature.name, array, data)
                keep = keep and data.flags.c_contiguous
                code = CODES.get(storage_name(array.dtype), 0)
                records.append(
                    _runtime.Argument(data, code, list(array.shape), 0, [], None, 0, result)
                )
                key.append((code, array.shape, result))
                continue
            if not isinstance(x, NestedTensor):
                if not single:
                    raise ArgumentError(
                        f"argument `{signature.name}` is one array, others are batches: expected a "
                        "NestedTensor"
                    )
                x = self._one(np.asarray(x), signature)
            record, part = self._ragged(x, signature, result)
            records.append(record)
            key.append(part)
            keep = keep and part is not None
        return records, tuple(key) if keep else None, single, given

    def _one(self, array: np.ndarray, signature: Signature) -> NestedTensor:
        """A plain array as a batch of one."""
        if array.ndim != len(signature.dims):
            raise ArgumentError(
                f"argument `{signature.name}` has {array.ndim} axes, the program takes "
                f"{shape_text(signature.extents)}"
            )
        dims = [d if isinstance(d, int) and d >= 0 else -1 - k
                for k, d in enumerate(signature.dims)]  # fmt: skip
        dims = [d if d < 0 else array.shape[k] for k, d in enumerate(dims)]
        lengths = np.array([[array.shape[k] for k, d in enumerate(dims) if d < 0]], np.int64)
        structure = Structure(dims, lengths)
        rows = array.transpose(structure.packed_order)
        return NestedTensor(
            np.ascontiguousarray(rows).reshape((-1 if rows.size else int(structure.rows[0]),
                                                *structure.row_shape)), structure)  # fmt: skip

    def _ragged(self, x: NestedTensor, signature: Signature, result: int) -> tuple[Any, Any]:
        if len(signature.path) > 1:
            raise ArgumentError(f"argument `{signature.name}` has the path {signature.path}")
        structure = x.structure
        data = x.storage
        if not signature.default_order:
            static = [k for k in range(x.ndim) if k not in x.ragged]
            stored = [k for k in signature.order if k in static]
            data = data.transpose([0, *(1 + static.index(k) for k in stored)])
        data = _buffer(data)
        for guard in self.guards:
            guard.check_argument(signature.name, x.storage, data)
        starts = None if x._starts is None else np.ascontiguousarray(x._starts)
        shape = [d if isinstance(d, int) and d >= 0 else -1 for d in structure.dims]
        columns = [np.ascontiguousarray(c) for c in structure.lengths.T]
        code = CODES.get(storage_name(x.dtype), 0)
        record = _runtime.Argument(data, code, shape, len(x), columns, starts, len(data), result)
        if starts is not None or not data.flags.c_contiguous:
            return record, None
        return record, (code, tuple(shape), len(data), structure.lengths.tobytes(), len(x))

    # -- running --

    def _planned(self, records: Any, key: Any) -> Any:
        if key is not None:
            with self._lock:
                if key in self._plans:
                    self._plans.move_to_end(key)
                    return self._plans[key]
        plan = self.entry.plan(records)
        shapes = [
            (
                rows,
                count,
                signature.structure(lengths, count) if exact and signature.ragged else None,
            )
            for signature, (exact, rows, count, lengths) in zip(
                self.results, plan.results(self._ragged_results)
            )
        ]
        if self.guards:
            described = describe(plan)
            for guard in self.guards:
                guard.check_plan(described)
        if key is not None:
            with self._lock:
                self._plans[key] = (plan, shapes)
                while len(self._plans) > _PLANS_KEPT:
                    self._plans.popitem(last=False)
        return plan, shapes

    def __call__(self, leaves: Sequence[Any], block: Block | None = None) -> list[Any]:
        """Runs on arguments in the order of the manifest. Results in the order of the manifest.
        block: of `prepare`, in place of the arguments that it stands for."""
        records, key, single, given = self.bind(leaves, block)
        plan, shapes = self._planned(records, key)
        arrays, outputs, instances = [], [], []
        for k, (signature, (rows, count, _)) in enumerate(zip(self.results, shapes)):
            shape = [rows, *signature.row_shape] if signature.ragged else signature.shape
            array = given.get(k)
            if array is None:
                array = np.empty(shape, signature.dtype)
            arrays.append(array)
            outputs.append(_buffer(array))
            instances.append(count)
        for i, k in self.donated.items():
            if k in given:  # Also when the run fails: its memory may have been written.
                _donation.give_up(leaves[i])
        ran = plan.run(records, outputs, self._ragged_results, instances)
        results: list[Any] = []
        for signature, array, (_, _, structure), (rows, count, lengths) in zip(
            self.results, arrays, shapes, ran
        ):
            if not signature.ragged:
                results.append(array if array.ndim else array[()])
                continue
            if structure is None:
                structure = signature.structure(lengths, count)
            if not signature.default_order:
                static = [k for k, d in enumerate(signature.dims) if isinstance(d, int) and d >= 0]
                stored = [k for k in signature.order if k in static]
                array = array.transpose([0, *(1 + stored.index(k) for k in static)])
            batch = NestedTensor(array[:rows] if rows < len(array) else array, structure)
            results.append(batch.sample(0) if single else batch)
        return [r[()] if isinstance(r, np.ndarray) and r.ndim == 0 else r for r in results]

    def repeat(
        self, leaves: Sequence[Any], block: Block | None, numbers: Sequence[int]
    ) -> tuple[Any, list[tuple[Any, np.dtype, Structure | None]]] | None:
        """A call that takes other arrays of the same kinds in place of the arguments `numbers`, and
        shape, dtype and structure of each of its results; None where that is not enough to know."""
        if self.guards or self.donated or bfloat16 in [s.dtype for s in self.results]:
            return None
        records, key, single, _ = self.bind(leaves, block)
        if (
            key is None
            or single
            or any(not self.args[i].default_order or _buffer_differs(leaves[i]) for i in numbers)
        ):
            return None
        plan, shapes = self._planned(records, key)
        outputs: list[tuple[Any, np.dtype, Structure | None]] = []
        for signature, (rows, _, structure) in zip(self.results, shapes):
            if not signature.ragged:
                outputs.append((tuple(signature.shape), signature.dtype, None))
            elif structure is None or not signature.default_order:
                return None
            else:
                outputs.append(((rows, *signature.row_shape), signature.dtype, structure))
        return _runtime.Repeat(plan, records, list(numbers)), outputs

    # -- what is done once --

    def prepare(self, leaves: Mapping[int, np.ndarray]) -> Block | None:
        """Does what depends on shared arguments alone. leaves: arrays by the number of their
        argument. None where there is nothing to do."""
        numbers = self.entry.prepared_args
        if not numbers:
            return None
        missing = [self.args[i].name for i in numbers if i not in leaves]
        if missing:
            given = ", ".join(f"`{self.args[i].name}`" for i in numbers if i in leaves)
            raise ArgumentError(
                f"{self.name} prepares {given or 'its weights'} together with "
                + ", ".join(f"`{n}`" for n in missing)
                + ": prepare needs them too"
            )
        records = []
        for i in range(len(self.args)):
            array = np.asarray(leaves[i]) if i in numbers else np.empty(0)  # Not read.
            code = CODES.get(storage_name(array.dtype), 0)
            records.append(
                _runtime.Argument(_buffer(array), code, list(array.shape), 0, [], None, 0)
            )
        memory = _aligned(self.entry.prepared_bytes)
        self.entry.prepare(records, memory)
        return Block(memory, {i: self._stand_in(i, memory) for i in numbers})

    def _stand_in(self, i: int, memory: np.ndarray | None) -> Any:
        """The record of an argument that a block stands for."""
        code, size = CODES[self.args[i].dtype_name], 0 if memory is None else len(memory)
        return _runtime.Argument(
            memory, code, self.args[i].shape, 0, [], None, size, prepared=True
        )  # fmt: skip

    # -- plans --

    def plan(self, lengths: Any, prepared: bool = False) -> Plan:
        """The plan of a call for given lengths, without data. prepared: with a block.

        lengths: ints ``(B,)`` for every ragged axis of every argument, or a dict from names of
        symbols or of arguments to ``(B,)`` (or ``(B, q)`` for q ragged axes).
        """
        table = self._symbols(lengths)
        batch = next((len(v) for v in table.values()), None)
        if batch is None:
            batch = int(lengths) if isinstance(lengths, (int, np.integer)) else len(lengths)
        records = []
        for i, signature in enumerate(self.args):
            code, result = CODES[signature.dtype_name], self.donated.get(i, -1)
            if prepared and i in self.entry.prepared_args:
                records.append(self._stand_in(i, None))
                continue
            if not signature.ragged:
                records.append(
                    _runtime.Argument(None, code, signature.shape, 0, [], None, 0, result)
                )
                continue
            columns, rows = [], np.ones(batch, object)
            for text, d in zip(signature.extents, signature.dims):
                if isinstance(d, int) and d >= 0:
                    continue
                column = self._extent(text, table, batch)
                columns.append(column)
                rows = rows * column.astype(object)
            total = min(int(sum(rows)), 2**63 - 1)
            shape = [d if isinstance(d, int) and d >= 0 else -1 for d in signature.dims]
            records.append(
                _runtime.Argument(None, code, shape, batch, columns, None, total, result)
            )
        described = describe(self.entry.plan(records))
        for guard in self.guards:
            guard.check_plan(described)
        return described

    def _extent(self, text: str, table: Mapping[str, np.ndarray], batch: int) -> np.ndarray:
        extent = _dims.parse(text)
        if isinstance(extent, _dims.Dim) and len(_dims.symbols(extent)) == 1 and text in table:
            return table[text]
        try:
            numbers = [
                _dims.evaluate(extent, {s: int(v[i]) for s, v in table.items()})
                for i in range(batch)
            ]
        except KeyError as error:
            raise ArgumentError(f"{error.args[0]}; lengths are needed for {text}") from None
        return np.array(numbers, np.int64)

    def _symbols(self, lengths: Any) -> dict[str, np.ndarray]:
        axes = {
            a.name: [t for t, d in zip(a.extents, a.dims) if isinstance(d, str) or d < 0]
            for a in self.args
            if a.ragged
        }
        return lengths_of_symbols(lengths, [s["name"] for s in self.manifest["symbols"]], axes)

    def __repr__(self) -> str:
        args = ", ".join(map(str, self.args))
        results = ", ".join(map(str, self.results))
        return f"<{self.name}({args}) -> {results}>"


def _aligned(size: int) -> np.ndarray:
    """Bytes at a multiple of 64."""
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]


def lengths_of_symbols(
    lengths: Any, known: Sequence[str], axes: Mapping[str, Sequence[str]]
) -> dict[str, np.ndarray]:
    """Lengths as a user gives them, by symbol. known: the symbols; axes: the extents of the ragged
    axes of each batched argument. ArgumentError."""
    if not isinstance(lengths, Mapping):
        if isinstance(lengths, (int, np.integer)):
            if known:
                raise ArgumentError("lengths must be one int for each sample")
            return {}
        numbers = as_int64(lengths, "lengths")
        if numbers.ndim != 1:
            raise ArgumentError("lengths must be (B,); pass a dict for several ragged axes")
        return {name: numbers for name in known}
    table: dict[str, np.ndarray] = {}
    for name, value in lengths.items():
        numbers = as_int64(value, f"lengths of {name}")
        if name in known and (name not in axes or numbers.ndim == 1):
            table[name] = numbers
        elif name in axes:
            columns = numbers[:, None] if numbers.ndim == 1 else numbers
            for k, text in enumerate(axes[name]):
                if text.isidentifier():
                    table[text] = np.ascontiguousarray(columns[:, min(k, columns.shape[1] - 1)])
        else:
            options = ", ".join([*known, *axes])
            raise ArgumentError(f"no symbol or batched argument '{name}'; there are {options}")
    if len({len(v) for v in table.values()}) > 1:
        sizes = ", ".join(f"{k}: {len(v)}" for k, v in table.items())
        raise ArgumentError(f"lengths for different numbers of samples: {sizes}")
    return table


def describe(plan: Any) -> Plan:
    """A plan of the runtime as a Plan."""
    return Plan(**plan.info(), steps=[Step(**s) for s in plan.steps()])


__all__ = [
    "Block",
    "Cost",
    "Plan",
    "Program",
    "RequirementError",
    "Signature",
    "Step",
    "describe",
    "lengths_of_symbols",
]
