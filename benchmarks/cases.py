# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sections of benchmarks/run, one function each."""

import os
import re
import statistics
import subprocess
import time
from pathlib import Path

import measure
import numpy as np
import programs
from growth import growth
from measure import Call, seconds_of

ROW_MAPS = ((384, 128), (128, 512), (512, 128), (64, 64), (256, 256), (1024, 1024))
BLOCK_LENGTHS = (20, 64, 100, 200)
FEATURES = (1, 16, 64, 256)
PERCENT, GIGA, MILLI = "{:.0%}", "{:.1f}", "{:.3f}"


def row_maps(run):
    """Rows times weights."""
    run.report.section(
        "Row maps with a contraction",
        "`x @ w`, f32, in 16 samples; share of multiply-adds in registers. 512 rows and their "
        "results stay in the cache of a core, 4096 do not everywhere. Prepared: weights are packed "
        "before, not in each call.",
        ["K x M", "rows", *_per_thread(run, ("GFLOP/s", "share", "share, prepared"))],
    )
    for depth, columns in ROW_MAPS:
        w = programs.aligned(np.random.default_rng(1).standard_normal((depth, columns)))
        for rows in (512, 4096):
            x = programs.batch([rows // 16] * 16, depth)
            cells, flops = [f"{depth} x {columns}", str(rows)], 2 * rows * depth * columns
            for threads in run.threads:
                calls = {
                    prepare: (Call(programs.matmul, x, w, threads=threads, prepare=prepare), flops)
                    for prepare in (False, True)
                }
                spent = measure.interleaved(calls, run.fma(threads), run.seconds, best=run.best)
                median, share, _ = spent[False]
                cells += [
                    (flops / median * 1e-9, GIGA),
                    (share, PERCENT),
                    (spent[True][1], PERCENT),
                ]
            run.report.row(*cells)


def block(run):
    """The block on one sample."""
    run.report.section(
        "The single-pair-single block, one sample of N rows",
        "C = 384, Cp = 128, SwiGLU x 4, f32, both results written; FLOPs of the dense products; "
        "share of multiply-adds in registers.",
        ["N", *_per_thread(run, ("ms", "GFLOP/s", "share"))],
    )
    w = programs.weights(programs.BLOCK_SHAPES)
    for n in run.shorten(BLOCK_LENGTHS):
        cells, flops = [str(n)], programs.block_flops([n])
        for threads in run.threads:
            call = Call(programs.block, programs.batch([n], programs.SINGLE), w, threads=threads)
            median, share, _ = run.compare(call, flops, run.fma(threads))
            cells += [(median * 1e3, "{:.2f}"), (flops / median * 1e-9, GIGA), (share, PERCENT)]
        run.report.row(*cells)


def memory(run):
    """Ops that memory limits."""
    size = run.megabytes << 20
    run.report.section(
        "Ops that memory limits",
        f"f32; the largest array has about {run.megabytes} MB. Bytes that must be read or written, "
        "per second, as share of memcpy's (read and written) on as many bytes and threads; in "
        "brackets GB/s. Reductions mostly read, so they may exceed 100 %.",
        ["op", *(f"C = {c}, {t} thread{'s' * (t > 1)}" for c in FEATURES for t in run.threads)],
    )
    copiers = {t: run.yardsticks.copier(size, t) for t in run.threads}
    for name, (function, ranks, floats) in programs.MEMORY_OPS.items():
        cells = [name]
        for features in FEATURES:
            if name == "layer norm" and features == 1:
                cells += ["-"] * len(run.threads)
                continue
            lengths = _lengths(size // 4 // features, max(2, max(ranks)) if "pair" in name else 1)
            args = [
                programs.batch(lengths, features, ("N", "N")[:r], s) for s, r in enumerate(ranks)
            ]
            n = np.array(lengths)
            counts = (int(n.sum()) * features, int((n * n).sum()) * features, len(n) * features)
            moved = 4 * floats(*counts)
            for threads in run.threads:
                call = Call(function, *args, threads=threads)
                median, share, _ = run.compare(call, moved, copiers[threads], run.seconds / 2)
                cells.append(f"{share:.0%} ({moved / median * 1e-9:.1f})")
                del call
        run.report.row(*cells)


def _lengths(count, power):
    """Lengths that differ, with about `count` rows, or pairs for power 2."""
    random, lengths = np.random.default_rng(3), []
    low, high = (24, 200) if power == 2 else (16, 2048)
    while count >= low**power:
        n = min(int(random.integers(low, high)), int(count ** (1 / power)))
        lengths.append(n)
        count -= n**power
    return lengths


def compile_time(run):
    """Compile time of the block, by phase."""
    import nested

    specs = {k: nested.spec(*s) for k, s in programs.BLOCK_SHAPES.items()}
    source = nested.spec("N", programs.SINGLE)
    exported, times = None, []
    for _ in range(run.repeats):
        start = time.perf_counter()
        exported = nested.export(programs.block, source, specs)
        times.append(time.perf_counter() - start)
    file = run.work / "block.mlir"
    file.write_text(exported.text("tensor"))
    command = [run.build / "bin" / "nested-compile", file, "-o", run.work / "block.so", "--timing"]
    phases, walls = {}, []
    for _ in range(run.repeats):
        start = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        walls.append(time.perf_counter() - start)
        for name, spent in parse_timing(done.stderr + done.stdout):
            phases.setdefault(name, []).append(spent)
    run.report.section(
        "Compile time of the block",
        f"Medians of {run.repeats}; phases as `nested-compile --timing` prints them.",
        ["what", "ms"],
    )
    for name, spent in phases.items():
        run.report.row(name, (statistics.median(spent) * 1e3, GIGA))
    run.report.row("nested-compile, the whole process", (statistics.median(walls) * 1e3, GIGA))
    run.report.row("nested.export in Python, first call", (times[0] * 1e3, GIGA))
    run.report.row(
        "nested.export in Python, later calls", (statistics.median(times[1:]) * 1e3, GIGA)
    )


def parse_timing(text):
    """(phase, seconds) of the lines that --timing prints."""
    for line in text.splitlines():
        match = re.match(r"\s*([\d.]+) ms\s+(\S.*)$", line)
        if match:
            yield match.group(2), float(match.group(1)) * 1e-3


def overhead(run):
    """What a call costs beside its work."""
    import nested

    run.report.section(
        "Calls on one sample of one row",
        "`x * 2` of 16 features: what a call costs beside its work, one thread.",
        ["what", "microseconds"],
    )
    features, repeats = 16, 20000 if run.seconds >= 0.5 else 2000
    exported = nested.export(programs.double, nested.spec("N", features))
    exported.save(run.work / "double.so")
    plans, runs = [], []
    for _ in range(run.repeats):
        plan, spent = run.yardsticks.calls(run.work / "double.so", features, repeats)
        plans.append(plan)
        runs.append(spent)
    run.report.row(
        "nested_run from C, plan and memory given", (statistics.median(runs) * 1e6, "{:.2f}")
    )
    run.report.row("nested_plan and its release from C", (statistics.median(plans) * 1e6, "{:.2f}"))
    nested.set_num_threads(1)
    x = programs.batch([1], features)
    jitted = nested.jit(programs.double)
    module = nested.load(run.work / "double.so")
    call = Call(programs.double, x)
    plain = x.sample(0)
    rows = {
        "Plan.run from Python, results given": call,
        "nested.jit from Python, lengths seen before": lambda: jitted(x),
        "nested.load's function from Python, lengths seen before": lambda: module(x),
        "NumPy on the plain array": lambda: plain * 2,
    }
    w = programs.weights(programs.BLOCK_SHAPES)
    for count in (8, 500):
        lengths = np.random.default_rng(5).integers(4, 25, count)
        batch = Call(programs.block, programs.batch(lengths, programs.SINGLE), w)
        rows[f"planning the block for {count} samples, lengths not seen before"] = batch.plan
    spent = {name: [] for name in rows}
    for function in rows.values():
        function()
    for _ in range(run.repeats):
        for name, function in rows.items():
            count = 500 if "500" not in name else 50
            spent[name].append(
                seconds_of(lambda f=function, c=count: [f() for _ in range(c)]) / count
            )
    for name, values in spent.items():
        run.report.row(name, (statistics.median(values) * 1e6, "{:.2f}"))


def scaling(run):
    """Batches of different shapes, per pair cell."""
    random = np.random.default_rng(5)
    short = random.integers(4, 25, 499).tolist()
    batches = {
        "1 sample of 200": [200],
        "8 samples of 70": [70] * 8,
        "500 samples of 4 to 24": [*short, 24],
        "500 samples: one of 300 among 499 of 4 to 24": [*short[:250], 300, *short[250:]],
        "500 samples of 1": [1] * 500,
    }
    if not run.quick:  # About a million cells each.
        for n in (32, 64, 128, 256, 500, 1000):
            batches[f"{1000000 // n**2} samples of {n}"] = [n] * (1000000 // n**2)
        batches["near uniform: 61 samples of 118 to 138"] = random.integers(118, 139, 61).tolist()
        batches["high variation: 24 samples of 8 to 350"] = random.integers(8, 351, 24).tolist()
        batches["extreme: one of 900 among 150 of 4 to 60"] = [*random.integers(4, 61, 150), 900]
    run.report.section(
        "Batches of different shapes",
        "The block, one compiled artifact; nanoseconds per pair cell (without those for single rows), "
        "share of multiply-adds in registers, and how many times as fast the most threads are as the "
        "fewest.",
        ["batch", "pair cells", *_per_thread(run, ("ms", "ns per cell", "share")), "times as fast"],
    )
    w = programs.weights(programs.BLOCK_SHAPES)
    for name, lengths in batches.items():
        cells = int((np.array(lengths) ** 2).sum())
        row, flops, medians = [name, str(cells)], programs.block_flops(lengths), []
        for threads in run.threads:
            call = Call(
                programs.block, programs.batch(lengths, programs.SINGLE), w, threads=threads
            )
            median, share, _ = run.compare(call, flops, run.fma(threads))
            row += [(median * 1e3, "{:.2f}"), (median / cells * 1e9, "{:.0f}"), (share, PERCENT)]
            medians.append(median)
            del call
        run.report.row(*row, (medians[0] / medians[-1], "{:.2f}"))


def torch(run):
    """The block beside PyTorch, in the same run: see method_nested.py."""
    title = "The block beside PyTorch"
    bench = measure.bench_folder(run.bench)
    if bench is None:
        run.report.skip(title, "no folder with harness.py and sps.py; name it with --bench")
        return
    python = Path(run.torch_python) if run.torch_python else None
    if python is None or not python.exists():
        run.report.skip(
            title,
            "no Python with PyTorch: python3 -m venv VENV && VENV/bin/pip install torch numpy, "
            "then --torch-python VENV/bin/python (or NESTED_TORCH_PYTHON)",
        )
        return
    check = [str(python), "-c", "import torch, numpy; print(torch.__version__)"]
    found = subprocess.run(check, capture_output=True, text=True)
    if found.returncode:
        run.report.skip(title, found.stderr.strip().splitlines()[-1])
        return
    environment = dict(os.environ, NESTED_BUILD_DIR=str(run.build), NESTED_BENCH_DIR=str(bench))
    extra = Path(__file__).resolve().parent / "method_nested.py"
    error = subprocess.run([str(python), str(extra), "--check"], env=environment, text=True,
                           capture_output=True)  # fmt: skip
    if error.returncode:
        run.report.skip(title, "method_nested.py --check: " + (error.stderr or error.stdout)[-300:])
        return
    print(f"\n{error.stdout.strip()}")
    run.report.section(
        title,
        f"{bench.name}/harness.py with torch {found.stdout.strip()}, the square block of "
        f"{bench.name}/sps.py, forward; minimum and median of {run.torch_repeats} turns.",
        ["regime", "threads", "method", "min ms", "median ms", "packed / this, min",
         "packed / this, median", "GFLOP/s", "peak MB"],
    )  # fmt: skip
    for threads in run.threads:
        _harness(run, python, bench, extra, environment, threads)


def _harness(run, python, bench, extra, environment, threads):
    import json

    results = run.work / f"results_{threads}.jsonl"
    command = [str(python), "harness.py", "run", "--workload", "sps", "--layout", "square",
               "--mode", "fwd", "--variant", *run.torch_variants, "--regime", *run.regimes, "--extra", str(extra),
               "--method", *run.torch_methods, "--threads", str(threads), "--repeats", str(run.torch_repeats),
               "--results", str(results), "--log", str(run.work / "harness.log")]  # fmt: skip
    if run.torch_lock:
        command += ["--lock", run.torch_lock]
    subprocess.run(command, cwd=bench, env=environment, check=True, stdout=subprocess.DEVNULL)
    records = [json.loads(line) for line in results.read_text().splitlines()]
    packed = {r["regime"]: r for r in records if (r["method"], r["variant"]) == ("packed", "eager")}
    for r in records:
        if r["method"] == "ours" and r["variant"] == "compiled":
            continue
        name = r["method"] + " compiled" * (r["variant"] == "compiled")
        if "min_ms" not in r:
            run.report.row(r["regime"], str(threads), name, r.get("error", "no result"), *[""] * 5)
            continue
        reference = packed.get(r["regime"], {})
        ratios = [
            (reference[k] / r[k], "{:.2f}") if k in reference else ""
            for k in ("min_ms", "median_ms")
        ]
        run.report.row(r["regime"], str(threads), name, (r["min_ms"], GIGA), (r["median_ms"], GIGA),
                       *ratios, (r["gflops"], "{:.0f}"), (r["peak_mb"], "{:.0f}"))  # fmt: skip


def _per_thread(run, columns):
    return [f"{c}, {t} thread{'s' * (t > 1)}" for t in run.threads for c in columns]


SECTIONS = {
    "rows": row_maps, "block": block, "memory": memory, "compile": compile_time,
    "calls": overhead, "batches": scaling, "growth": growth, "torch": torch,
}  # fmt: skip
