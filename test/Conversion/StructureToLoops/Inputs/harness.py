# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles kernels of the structure phase and calls them through the kernel ABI.

Arguments lie in front of a page that may not be touched, scratch memory is filled with
bits that are NaN as floats, and results are compared over several splits of the units,
bit by bit, so that reads and writes outside of live rows do not go unnoticed.
"""

import atexit
import ctypes
import mmap
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np

TOOLS = os.environ.get("NESTED_KERNEL_OPT", "nested-opt")
LLVM_PASSES = (
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),gvn,dse,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm),adce),globaldce"
)


class Frame(ctypes.Structure):
    """nested_frame of runtime/include/nested/runtime.h."""

    _fields_ = [
        ("memrefs", ctypes.POINTER(ctypes.c_void_p)),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("scalars", ctypes.POINTER(ctypes.c_int64)),
        ("services", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p * 4),
    ]


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def build(text, directory, name="kernel", options="", cpu="native"):
    """MLIR text to a shared object; returns its path and {kernel: scratch bytes}."""
    path = os.path.join(directory, name)
    lowering = "--lower-tile-programs" + (f"={options}" if options else "")
    loops = run(TOOLS, lowering, text=text)
    with open(path + ".loops.mlir", "w") as f:
        f.write(loops)
    scratch = {}
    for line in loops.split("\n"):
        match = re.search(r"func\.func @(\w+)\(", line)
        if match and "ragged.kernel" in line:
            size = re.search(r"ragged\.scratch_bytes = (\d+)", line)
            scratch[match.group(1)] = int(size.group(1)) if size else 0
    llvm = run(TOOLS, "--loops-to-llvm", text=loops)
    code = run("mlir-translate", "--mlir-to-llvmir", text=llvm)
    with open(path + ".ll", "w") as f:
        f.write(code)
    triple = ["-mtriple=x86_64-unknown-linux-gnu"] if cpu != "native" else []
    run(
        "opt",
        f"-passes={LLVM_PASSES}",
        f"-mcpu={cpu}",
        *triple,
        "-S",
        path + ".ll",
        "-o",
        path + ".opt.ll",
    )
    # Registers of full width, as lib/Target/Object asks for.
    with open(path + ".opt.ll") as f:
        body = f.read()
    body = re.sub(
        r"^attributes #(\d+) = \{",
        r'attributes #\1 = { "prefer-vector-width"="512"',
        body,
        flags=re.M,
    )
    with open(path + ".opt.ll", "w") as f:
        f.write(body)
    for kind, suffix in (("asm", ".s"), ("obj", ".o")):
        run(
            "llc",
            "-O3",
            f"-mcpu={cpu}",
            *triple,
            "-relocation-model=pic",
            f"-filetype={kind}",
            path + ".opt.ll",
            "-o",
            path + suffix,
        )
    run("ld.lld", "-shared", path + ".o", "-o", path + ".so")
    return path + ".so", scratch


PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def guarded(array):
    """A copy that ends where an unreadable page begins."""
    array = np.ascontiguousarray(array)
    size = max(array.nbytes, 1)
    pages = (size + PAGE - 1) // PAGE * PAGE
    memory = mmap.mmap(-1, pages + PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if libc.mprotect(address + pages, PAGE, 0):
        raise OSError("mprotect failed")
    copy = np.frombuffer(memory, dtype=array.dtype, count=array.size, offset=pages - array.nbytes)
    copy = copy.reshape(array.shape)
    copy[...] = array
    return copy


class Kernel:
    def __init__(self, library, name, scratch_bytes):
        self.function = getattr(ctypes.CDLL(library), name)
        self.function.restype = None
        self.function.argtypes = [
            ctypes.POINTER(Frame),
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_void_p,
        ]
        size = scratch_bytes + 64
        self.memory = np.zeros(size + 64, np.uint8)
        start = -self.memory.ctypes.data % 64
        self.scratch = self.memory[start : start + max(scratch_bytes, 1)]
        self.guard = self.memory[start + scratch_bytes :]

    def frame(self, memrefs, scalars=()):
        """Holds the arrays alive as long as the frame is."""
        count = len(memrefs)
        frame = Frame()
        data = (ctypes.c_void_p * count)(*[m.ctypes.data for m in memrefs])
        dims = (ctypes.c_int64 * count)(*[m.shape[0] if m.ndim else 1 for m in memrefs])
        values = (ctypes.c_int64 * max(len(scalars), 1))(*scalars)
        frame.memrefs, frame.dims, frame.scalars = data, dims, values
        frame.keep = (memrefs, data, dims, values)
        return frame

    def __call__(self, frame, begin, end, poison=True):
        if poison:
            self.scratch[:] = 0xFF
            self.guard[:] = 0x5A
        self.function(ctypes.byref(frame), begin, end, self.scratch.ctypes.data)
        if poison and (self.guard != 0x5A).any():
            raise SystemExit("the kernel wrote behind its scratch memory")


def splits(units):
    """All at once, one by one, in sevens, in uneven parts."""
    yield [(0, units)] if units else []
    yield [(i, i + 1) for i in range(units)]
    yield [(i, min(i + 7, units)) for i in range(0, units, 7)]
    cuts = sorted({0, units // 3, units // 2 + 1, units} & set(range(units + 1)))
    yield list(reversed(list(zip(cuts, cuts[1:]))))


def check(kernel, inputs, outputs, units, expected, scalars=(), tolerance=1e-5, order=None):
    """Calls the kernel for every split. `outputs` are (shape, dtype); memrefs are
    inputs then outputs, or in the given order."""
    inputs = [guarded(array) for array in inputs]
    first = None
    for ranges in splits(units):
        results = []
        for shape, dtype in outputs:
            result = guarded(np.zeros(shape, dtype))
            result.view(np.uint8).reshape(-1)[:] = 0x7F
            results.append(result)
        memrefs = inputs + results
        if order:
            memrefs = [memrefs[i] for i in order]
        frame = kernel.frame(memrefs, scalars)
        for begin, end in ranges:
            kernel(frame, begin, end)
        for i, (result, want) in enumerate(zip(results, expected)):
            got = result.astype(np.float64) if result.dtype.kind == "f" else result
            if result.dtype.kind == "f":
                scale = max(1.0, np.nanmax(np.abs(want), initial=0.0))
                good = np.isclose(got, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
            else:
                good = got == want
            if not np.all(good):
                where = tuple(int(x[0]) for x in np.nonzero(~good))
                raise SystemExit(
                    f"result {i} is wrong at {where}: {got[where]} instead of {want[where]} "
                    f"({np.count_nonzero(~good)} of {good.size}; ranges {ranges[:3]}...)"
                )
        if first is None:
            first = [result.copy() for result in results]
        for i, (result, other) in enumerate(zip(results, first)):
            bits = f"u{result.dtype.itemsize}"
            same = result.view(bits) == other.view(bits)
            if result.dtype.kind == "f":
                same |= np.isnan(result) & np.isnan(other)
            if not np.all(same):
                raise SystemExit(f"result {i} depends on the split {ranges[:3]}...")


def offsets(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def workspace():
    """A directory for one run; kept when NESTED_KEEP names a place."""
    keep = os.environ.get("NESTED_KEEP")
    if keep:
        os.makedirs(keep, exist_ok=True)
        return keep
    directory = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory
