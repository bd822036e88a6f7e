# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks share: yardsticks, calls without Python's part, interleaved timing."""

import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import programs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def use_build(folder):
    """Makes the Python package of a build tree importable."""
    package = Path(folder).resolve() / "python"
    if not any((package / "nested").glob("_core*.so")):
        raise SystemExit(f"run: no Python package in {folder}; build it: ninja nested-python")
    sys.path.insert(0, str(package))


def keep_memory():
    """malloc keeps what is freed, as ../shared/bench measures: page faults are not our subject."""
    libc = ctypes.CDLL(None)
    m_mmap_max, m_trim_threshold, m_top_pad = -4, -1, -2
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, -1)
    libc.mallopt(m_top_pad, 64 << 20)


def bench_folder(named=None):
    """The folder of harness.py and sps.py: the one that is named, or ../shared/bench; or None."""
    folder = Path(named).resolve() if named else ROOT.parent / "shared" / "bench"
    return folder if (folder / "harness.py").exists() and (folder / "sps.py").exists() else None


# ---- the machine ---------------------------------------------------------------------------


def machine():
    """Model, cores, vector instructions, compiler of the yardsticks."""
    model, flags = "unknown", []
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            model = value.strip()
        if key.strip() in ("flags", "Features"):
            flags = value.split()
    wanted = ("avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")
    return {
        "cpu": model,
        "cores": len(os.sched_getaffinity(0)),
        "vectors": [f for f in wanted if f in flags],
        "load": os.getloadavg()[0],
        "python": sys.version.split()[0],
        "numpy": np.__version__,
    }


def describe(m):
    return (f"{m['cpu']}, {m['cores']} cores, {' '.join(m['vectors'])}; load average {m['load']:.2f}, "
            f"Python {m['python']}, NumPy {m['numpy']}")  # fmt: skip


# ---- yardsticks ----------------------------------------------------------------------------


class Yardsticks:
    """native.c: multiply-adds and copies per second, and calls of the runtime from C."""

    def __init__(self, build, work):
        compiler = next((c for c in ("cc", "gcc", "clang", "clang-22") if shutil.which(c)), None)
        if compiler is None:
            raise SystemExit("run: no C compiler for the yardsticks (cc, gcc or clang)")
        runtime = Path(build).resolve() / "lib" / "libnested_runtime.a"
        library = Path(work) / "native.so"
        subprocess.run(
            [compiler, "-O2", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", "-pthread",
             f"-I{ROOT / 'runtime' / 'include'}", str(HERE / "native.c"), str(runtime), "-lstdc++",
             "-lm", "-ldl", "-o", str(library)],
            check=True,
        )  # fmt: skip
        native = ctypes.CDLL(str(library))
        i64, pointer = ctypes.c_int64, ctypes.c_void_p
        native.fma_rate.argtypes, native.fma_rate.restype = [i64, i64], ctypes.c_double
        native.copy_rate.argtypes = [pointer, pointer, i64, i64]
        native.copy_rate.restype = ctypes.c_double
        doubles = ctypes.POINTER(ctypes.c_double)
        native.time_calls.argtypes = [ctypes.c_char_p, i64, i64, doubles, doubles]
        self._native = native
        # Iterations of about 5 ms.
        self._iterations = 1_000_000
        rate = max(native.fma_rate(self._iterations, 1) for _ in range(3))
        per_iteration = 2 * 12 * native.vector_bytes() / 4
        self._iterations = max(1, int(5e-3 * rate / per_iteration))

    def fma(self, threads):
        """Floating-point operations per second, of about 5 ms."""
        return self._native.fma_rate(self._iterations, threads)

    def copier(self, size, threads):
        """A function that copies `size` bytes and gives bytes per second, read and written."""
        source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)

        def copy():
            return self._native.copy_rate(target.ctypes.data, source.ctypes.data, size, threads)

        return copy

    def calls(self, path, features, repeats):
        """Seconds of nested_plan, and of nested_run, for one row."""
        plan, run = ctypes.c_double(), ctypes.c_double()
        if self._native.time_calls(str(path).encode(), features, repeats, plan, run):
            raise SystemExit("run: the runtime refused the call from C")
        return plan.value, run.value


# ---- calls ---------------------------------------------------------------------------------


class Call:
    """A compiled function on given arguments, with results in the same memory every time.

    What is timed is nested_run: the arguments are bound and planned here, once. With `prepare` they
    are prepared too, what all samples share.
    """

    def __init__(self, function, *args, threads=1, prepare=False):
        import nested

        nested.set_num_threads(threads)
        specs = [_spec(nested, a) for a in args]
        self.exported = nested.export(function, *specs)
        from nested import _tree
        from nested._program import Program

        self.program = Program.open(self.exported.bytes, function.__name__)
        leaves = [leaf for a in args for _, leaf in _tree.flatten(a)[0]]
        block = None
        if prepare:
            numbers = self.program.entry.prepared_args
            block = self.program.prepare({i: leaves[i] for i in numbers})
        self._records, key, *_ = self.program.bind(leaves, block)
        self._plan, shapes = self.program._planned(self._records, key)
        self._counts, self.outputs = [], []
        for signature, (rows, count, _) in zip(self.program.results, shapes):
            shape = [rows, *signature.row_shape] if signature.ragged else signature.shape
            self.outputs.append(programs.empty(shape, signature.dtype))
            self._counts.append(count)
        self._ragged = self.program._ragged_results

    def __call__(self):
        self._plan.run(self._records, self.outputs, self._ragged, self._counts)

    def plan(self):
        """Plans the call again: checks, tables, memory."""
        return self.program.entry.plan(self._records)


def _spec(nested, a):
    if isinstance(a, dict):
        return {k: _spec(nested, x) for k, x in a.items()}
    if isinstance(a, np.ndarray):
        return nested.spec(*a.shape, dtype=a.dtype)
    return nested.spec(*a.dims, dtype=a.dtype)


def seconds_of(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def interleaved(calls, yardstick, seconds, at_least=5, best=False):
    """{name: (median seconds, median of work's rate over the yardstick's, minimum seconds)}.

    calls: {name: (function, work)}; work in what the yardstick counts per second. They take turns,
    the yardstick before and after each, so that a slow spell of the machine hits all of them.
    With `best` the numbers are the least time and its rate over the yardstick's highest, for
    machines that others use too: what a call can reach, not what it takes. Short calls then run
    several times in a row, since others empty the caches while the yardstick runs.
    """
    for call, _ in calls.values():
        call()
        call()
    yardstick()
    times, shares = {n: [] for n in calls}, {n: [] for n in calls}
    highest = 0.0
    end, turns = time.monotonic() + seconds, 0
    before = yardstick()
    while turns < at_least or time.monotonic() < end:
        for name, (call, work) in calls.items():
            spent = seconds_of(call)
            if best:
                repeats = min(100, int(5e-3 / spent))
                spent = min([spent, *(seconds_of(call) for _ in range(repeats))])
            after = yardstick()
            highest = max(highest, after)
            times[name].append(spent)
            shares[name].append(work / spent / (0.5 * (before + after)))
            before = after
        turns += 1
    if best:
        least = {n: min(times[n]) for n in calls}
        return {n: (t, calls[n][1] / t / highest, t) for n, t in least.items()}
    return {
        n: (statistics.median(times[n]), statistics.median(shares[n]), min(times[n])) for n in calls
    }


# ---- tables --------------------------------------------------------------------------------


class Report:
    """Tables in Markdown, as they are made, and their numbers for --json."""

    def __init__(self):
        self.sections = []

    def section(self, title, note, columns):
        self.sections.append({"title": title, "note": note, "columns": columns, "rows": []})
        print(f"\n### {title}\n\n{note}\n")
        print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)

    def row(self, *cells):
        """Numbers with a format, (number, "{:.1f}"), or texts."""
        texts = [c if isinstance(c, str) else c[1].format(c[0]) for c in cells]
        print("| " + " | ".join(texts) + " |", flush=True)
        self.sections[-1]["rows"].append([c if isinstance(c, str) else c[0] for c in cells])

    def skip(self, title, reason):
        self.sections.append({"title": title, "skipped": reason})
        print(f"\n### {title}\n\nSkipped: {reason}", flush=True)
