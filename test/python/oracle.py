# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one program twice: compiled, through the C API of the runtime, and interpreted.

Arguments are lists of samples in logical layout, as the program's types read; what is stored
(order of dims, gaps, base tables) is made here from the manifest.
"""

import ctypes
import json
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
)
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

from nested import _core

LIBRARIES = Path(_core.__file__).resolve().parents[2] / "lib"
I64 = POINTER(c_int64)
TABLES = POINTER(I64)
DTYPES = {"i1": (1, "?"), "i8": (2, "i1"), "i16": (3, "i2"), "i32": (4, "i4"), "i64": (5, "i8"),
          "u8": (6, "u1"), "f16": (10, "f2"), "bf16": (11, ml_dtypes.bfloat16), "f32": (12, "f4"),
          "f64": (13, "f8")}  # fmt: skip
NUMBERS = {number: np.dtype(name) for number, name in DTYPES.values()}
RESERVED = [("reserved", c_uint64 * 4)]
DEVICE = [("device_type", c_int32), ("device_id", c_int32)]


class Argument(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("data", c_void_p),
                ("dtype", c_int32), ("rank", c_int32), ("shape", I64), ("strides", I64),
                ("num_samples", c_int64), ("lengths", TABLES), ("path_lengths", TABLES),
                ("base", I64), ("row_capacity", c_int64), *DEVICE, ("donated_to", c_int32),
                ("reserved0", c_int32), *RESERVED]  # fmt: skip


class Result(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("data", c_void_p),
                ("row_capacity", c_int64), ("rows", c_int64), ("num_instances", c_int64),
                ("lengths", TABLES), ("path_lengths", TABLES), *DEVICE, *RESERVED]  # fmt: skip


class ResultInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("exact", c_int32), ("rows", c_int64),
                ("row_bytes", c_int64), ("bytes", c_int64), ("num_samples", c_int64),
                ("num_instances", c_int64), ("lengths", TABLES), ("path_lengths", TABLES),
                ("offsets", I64), *RESERVED]  # fmt: skip


class PlanInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("exact", c_int32), ("num_results", c_int64),
                ("num_steps", c_int64), ("threads", c_int64), ("peak_bytes", c_int64),
                ("result_bytes", c_int64), ("workspace_bytes", c_int64), ("temp_bytes", c_int64),
                ("scratch_bytes", c_int64), ("staging_bytes", c_int64), ("table_bytes", c_int64),
                ("flops", c_double), ("bytes_moved", c_double), *RESERVED]  # fmt: skip


class StepInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved0", c_int32), ("op", c_char_p),
                ("kernel", c_char_p), ("rows", c_int64), ("units", c_int64), ("grains", c_int64),
                ("flops", c_double), ("bytes", c_double), *RESERVED]  # fmt: skip


class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("pool", c_void_p),
                ("allocator", c_void_p), ("stream", c_void_p), ("max_bytes", c_int64),
                *RESERVED]  # fmt: skip


class ReferenceOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("num_samples", c_int64),
                ("max_elements", c_int64), ("file_name", c_char_p)]  # fmt: skip


class ReferenceResult(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("dtype", c_int32), ("declared_dtype", c_int32),
                ("rank", c_int32), ("shape", I64), ("data", c_void_p), ("bytes", c_int64),
                ("rows", c_int64), ("num_samples", c_int64), ("num_instances", c_int64),
                ("num_ragged", c_int32), ("path_rank", c_int32), ("lengths", TABLES),
                ("path_lengths", TABLES)]  # fmt: skip


def made(record, **fields):
    return record(struct_size=ctypes.sizeof(record), **fields)


def load(name, **returns):
    library = ctypes.CDLL(str(LIBRARIES / name))
    for function, result in returns.items():
        getattr(library, function).restype = result
    return library


RUNTIME = load(
    "libnested_runtime.so", nested_last_error=c_char_p, nested_artifact_manifest=c_char_p
)
REFERENCE = load("libnested_reference.so", nested_reference_diagnostics=c_char_p)


class RunError(Exception):
    """What the runtime or the interpreter said."""


def check(status):
    if status:
        raise RunError(RUNTIME.nested_last_error().decode())


def pool(threads, made={}):  # noqa: B006  (one pool per size, for the whole process)
    if threads not in made:
        made[threads] = c_void_p()
        check(RUNTIME.nested_pool_create(c_int64(threads), byref(made[threads])))
    return made[threads]


def is_static(extent):
    return extent.lstrip("-").isdigit()


class Layout:
    """How a value of the manifest is stored."""

    def __init__(self, info):
        self.info, self.dtype = info, np.dtype(DTYPES[info["dtype"]][1])
        self.dense = info["kind"] == "dense"
        if self.dense:
            self.ragged, self.path = [], []
            return
        extents = info["extents"]
        self.rank = len(extents)
        self.ragged = [k for k in range(self.rank) if not is_static(extents[k])]
        static = [k for k in range(self.rank) if is_static(extents[k])]
        self.order = info.get("order", self.ragged + static)
        self.row_rank = max((self.order.index(k) + 1 for k in self.ragged), default=0)
        self.shape = [int(e) if is_static(e) else -1 for e in extents]
        self.row_shape = [self.shape[k] for k in self.order[self.row_rank :]]
        self.path = info["path"]

    def stored(self, sample):
        """The rows of one instance."""
        sample = np.asarray(sample, self.dtype)
        assert sample.ndim == self.rank, (sample.shape, self.info)
        stored = sample.transpose(self.order)
        rows = int(np.prod(stored.shape[: self.row_rank], dtype=int))
        return stored.reshape(rows, *self.row_shape)

    def logical(self, rows, lengths):
        """The inverse, for one instance with the lengths of its ragged dims."""
        shape = list(self.shape)
        for k, n in zip(self.ragged, lengths):
            shape[k] = int(n)
        stored = rows.reshape([shape[k] for k in self.order])
        return stored.transpose(np.argsort(self.order))

    def row_count(self, lengths):
        shape = list(self.shape)
        for k, n in zip(self.ragged, lengths):
            shape[k] = int(n)
        return int(np.prod([shape[k] for k in self.order[: self.row_rank]], dtype=int))


@dataclass
class View:
    """A batched argument as it is stored, in memory of the caller."""

    memory: np.ndarray
    lengths: list  # of samples, for each ragged dim
    base: list


class Outcome:
    """One result: `samples`, instances in logical layout, or the one array of a dense result."""

    def __init__(self, layout, rows, lengths, path_lengths):
        self.values, self.lengths, self.path_lengths = rows, lengths, path_lengths
        if layout.dense:
            self.samples = [rows]
            return
        self.samples, begin = [], 0
        count = len(lengths[0]) if lengths else len(rows) if layout.row_rank == 0 else 0
        for i in range(count):
            own = [table[i] for table in lengths]
            end = begin + layout.row_count(own)
            self.samples.append(layout.logical(rows[begin:end], own))
            begin = end
        assert begin == len(rows), f"{len(rows)} rows, but the lengths say {begin}"


def tables(address, count, size):
    return [np.array(address[k][:size], np.int64) for k in range(count)] if count else []


class Program:
    """A compiled program, and its text for the interpreter."""

    def __init__(self, text, target="cpu", compiled=None, **options):
        """`compiled`: another form of the program, to be compiled in its place."""
        status, self.artifact, diagnostics, _, _ = _core.compile(
            text if compiled is None else compiled, target, **options
        )
        assert status == 0, diagnostics
        self.text = text.encode()
        self.handle, self.entry = c_void_p(), c_void_p()
        check(RUNTIME.nested_open_memory(self.artifact, ctypes.c_size_t(len(self.artifact)), b"program",
                                         0, byref(self.handle)))  # fmt: skip
        self.manifest = json.loads(RUNTIME.nested_artifact_manifest(self.handle, None))
        check(RUNTIME.nested_find_entry(self.handle, None, byref(self.entry)))
        self.info = self.manifest["entries"][0]
        self.args = [Layout(a) for a in self.info["args"]]
        self.results = [Layout(r) for r in self.info["results"]]

    def records(self, args, num_samples=None, gaps=None, keep=None):
        """The C records of arguments. With `gaps` (a generator of random numbers) the rows of each
        sample are somewhere in memory full of poison."""
        assert len(args) == len(self.args), [a.info["name"] for a in self.args]

        def numbers(values):
            array = np.ascontiguousarray(values, np.int64)
            keep.append(array)
            return array.ctypes.data_as(I64)

        records = (Argument * max(len(args), 1))()
        for record, layout, value in zip(records, self.args, args):
            record.struct_size = ctypes.sizeof(Argument)
            record.dtype = DTYPES[layout.info["dtype"]][0]
            if layout.dense:
                array = np.array(value, layout.dtype, order="C")
                keep.append(array)
                record.data, record.rank, record.shape = (
                    array.ctypes.data,
                    array.ndim,
                    numbers(array.shape),
                )
                continue
            if isinstance(value, View):
                record.num_samples, record.rank = len(value.base), layout.rank
                record.shape, record.base = numbers(layout.shape), numbers(value.base)
                lengths = (I64 * len(value.lengths))(*[numbers(n) for n in value.lengths])
                keep.append(lengths)
                record.lengths, record.row_capacity = lengths, len(value.memory)
                record.data = value.memory.ctypes.data
                continue
            instances = value
            for level in range(1, len(layout.path)):
                counts = [len(sample) for sample in instances]
                path = (I64 * 1)(numbers(counts))
                assert level == 1
                keep.append(path)
                record.path_lengths = path
                instances = [instance for sample in instances for instance in sample]
            rows = [layout.stored(sample) for sample in instances]
            record.num_samples = len(value)
            record.rank, record.shape = layout.rank, numbers(layout.shape)
            lengths = [numbers([np.shape(s)[k] for s in instances]) for k in layout.ragged]
            record.lengths = (I64 * max(len(lengths), 1))(*lengths)
            keep.append(record.lengths)
            empty = np.zeros((0, *layout.row_shape), layout.dtype)
            if gaps is None:
                data = np.concatenate([empty, *rows])
            else:
                data, starts = [poison(layout, int(gaps.integers(1, 4)))], []
                for r in rows:
                    starts.append(sum(map(len, data)))
                    data += [r, poison(layout, int(gaps.integers(0, 4)))]
                data = np.concatenate([empty, *data])
                record.base = numbers(starts)
            keep.append(data)
            record.data, record.row_capacity = data.ctypes.data, len(data)
        return records

    def plan(self, args, threads=1, gaps=None, keep=None, max_bytes=0):
        keep = [] if keep is None else keep
        records = self.records(args, gaps=gaps, keep=keep)
        plan = c_void_p()
        options = made(Options, pool=pool(threads), max_bytes=max_bytes)
        check(
            RUNTIME.nested_plan(
                self.entry, records, c_int64(len(args)), byref(options), byref(plan)
            )
        )
        return plan, records

    def plan_info(self, args, threads=1):
        keep = []
        plan, _ = self.plan(args, threads, keep=keep)
        info = made(PlanInfo)
        check(RUNTIME.nested_plan_get_info(plan, byref(info)))
        steps = []
        for k in range(info.num_steps):
            step = made(StepInfo)
            check(RUNTIME.nested_plan_get_step(plan, c_int64(k), byref(step)))
            steps.append(step)
        RUNTIME.nested_plan_release(plan)
        return info, steps

    def run(self, args, threads=1, gaps=None):
        """Compiled. Results are memory of ours: full of poison before, with a guard behind."""
        keep = []
        plan, records = self.plan(args, threads, gaps, keep)
        results = (Result * max(len(self.results), 1))()
        buffers, room = [], []
        for k, layout in enumerate(self.results):
            info = made(ResultInfo)
            check(RUNTIME.nested_plan_get_result(plan, c_int64(k), byref(info)))
            buffers.append(np.full(info.bytes + 64, 0xA5, np.uint8))
            lengths = [np.full(max(info.num_instances, 1), -7, np.int64) for _ in layout.ragged]
            inner = tables(info.path_lengths, max(len(layout.path) - 1, 0), info.num_samples)
            room.append((info, lengths, inner))
            record = results[k]
            record.struct_size = ctypes.sizeof(Result)
            record.data, record.row_capacity = buffers[k].ctypes.data, info.rows
            record.lengths = (I64 * max(len(lengths), 1))(*[n.ctypes.data_as(I64) for n in lengths])
            record.path_lengths = (I64 * max(len(inner), 1))(
                *[n.ctypes.data_as(I64) for n in inner]
            )
            keep += [record.lengths, record.path_lengths]
        status = RUNTIME.nested_run(plan, records, c_int64(len(args)), results,
                                    c_int64(len(self.results)), None)  # fmt: skip
        RUNTIME.nested_plan_release(plan)
        check(status)
        outcomes = []
        for layout, buffer, record, (info, lengths, inner) in zip(
            self.results, buffers, results, room
        ):
            assert (buffer[info.bytes :] == 0xA5).all(), "written behind the end of a result"
            values = buffer[: record.rows * info.row_bytes].copy().view(layout.dtype)
            if layout.dense:
                shape = layout.info["shape"]
                values = values.reshape([-1 if n < 0 else n for n in shape])
            else:
                values = values.reshape(record.rows, *layout.row_shape)
                lengths = [n[: record.num_instances] for n in lengths]
            outcomes.append(Outcome(layout, values, lengths, inner))
        return outcomes

    def interpret(self, args, rounded=False, phase=None):
        """The same by the reference interpreter; floats are f64. If `rounded`, every value that the
        program computes is one of its type. `phase`: what the program is in that phase."""
        keep, run, text = [], c_void_p(), self.text
        if phase:
            status, text, diagnostics, *_ = _core.lower(text.decode(), phase)
            assert status == 0, diagnostics
        records = self.records(args, keep=keep)
        options = made(ReferenceOptions, flags=3 if rounded else 2)
        status = REFERENCE.nested_reference_run(
            text, ctypes.c_size_t(len(text)), None, records, c_int64(len(args)),
            byref(options), byref(run))  # fmt: skip
        if status:
            raise RunError(REFERENCE.nested_reference_diagnostics(run).decode())
        outcomes = []
        for k, layout in enumerate(self.results):
            result = made(ReferenceResult)
            check(REFERENCE.nested_reference_get_result(run, c_int64(k), byref(result)))
            dtype = NUMBERS[result.dtype]
            raw = ctypes.string_at(result.data, result.bytes) if result.bytes else b""
            values = np.frombuffer(raw, dtype)
            lengths = tables(result.lengths, result.num_ragged, result.num_instances)
            inner = tables(result.path_lengths, max(result.path_rank - 1, 0), result.num_samples)
            if layout.dense:
                values = values.reshape([-1 if n < 0 else n for n in layout.info["shape"]])
            else:
                values = values.reshape(result.rows, *layout.row_shape)
            outcomes.append(Outcome(layout, values, lengths, inner))
        REFERENCE.nested_reference_release(run)
        return outcomes


def is_float(dtype):
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def poison(layout, rows):
    """Rows that no sample owns: NaN, or numbers that would be noticed."""
    shape = (rows, *layout.row_shape)
    if is_float(layout.dtype):
        return np.full(shape, np.nan, layout.dtype)
    return np.full(shape, True if layout.dtype == bool else 99, layout.dtype)


def tolerance(dtype):
    return {"bfloat16": 1.6e-2, "float16": 2e-3, "float32": 1e-5, "float64": 1e-12}.get(
        dtype.name, 0
    )


def close(got, want, what=""):
    """Within the tolerance of got's type, relative to the largest number; NaN where NaN is."""
    want = np.asarray(want)
    assert got.shape == want.shape, f"{what}: {got.shape}, expected {want.shape}"
    if not is_float(got.dtype):
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    finite = want[np.isfinite(want)]
    largest = float(np.abs(finite).max(initial=0))
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=0,
                               atol=tolerance(got.dtype) * largest, err_msg=what)  # fmt: skip


def agree(compiled, interpreted, what=""):
    """All results, sample by sample, and their structure."""
    assert len(compiled) == len(interpreted)
    for k, (got, want) in enumerate(zip(compiled, interpreted)):
        for a, b in zip(got.lengths, want.lengths, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{what}, lengths of result {k}")
        for a, b in zip(got.path_lengths, want.path_lengths, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"{what}, path of result {k}")
        assert len(got.samples) == len(want.samples), f"{what}, result {k}"
        for i, (a, b) in enumerate(zip(got.samples, want.samples)):
            close(a, b, f"{what}, result {k}, sample {i}")


def same_bits(a, b, what=""):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape, what
    assert a.tobytes() == b.tobytes(), what
