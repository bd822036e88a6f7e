# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the comparisons share: settings, taking turns, rows and tables."""

import argparse
import ctypes
import json
import os
import statistics
import sys
import time
from pathlib import Path

import measure

ROUNDS, QUICK_ROUNDS = 15, 2


def start(parser=None):
    """Options of a comparison. Restarts the interpreter where the threads or the allocator need
    other environment variables, as ../shared/bench/ops.py does."""
    parser = parser or argparse.ArgumentParser()
    parser.add_argument("--build-dir", type=Path, required=True)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--best", action="store_true")
    if not any("--allocator" in action.option_strings for action in parser._actions):
        parser.add_argument("--allocator", choices=["keep", "default"], default="keep")
    options = parser.parse_args()
    wanted = {"OMP_NUM_THREADS": str(options.threads), "OPENBLAS_NUM_THREADS": str(options.threads),
              "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_WAIT_POLICY": "active"}  # fmt: skip
    if options.allocator == "keep":
        wanted |= {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
                   "MALLOC_ARENA_MAX": "1", "THP_MEM_ALLOC_ENABLE": "1"}  # fmt: skip
    if any(os.environ.get(key) != value for key, value in wanted.items()):
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    measure.use_build(options.build_dir)
    sys.path.insert(0, str(options.bench))
    import nested

    nested.set_num_threads(options.threads)
    about = measure.machine()
    print(measure.describe(about) + f"; {options.threads} threads, allocator {options.allocator}")
    if about["load"] > 0.5:
        print("Others use this machine now: the numbers below mean little.")
    return options


def rest():
    """Ends the helpers of OpenMP. They wait busily (OMP_WAIT_POLICY), which is what is best for those
    who called them, but takes a processor from all others that are timed in this process."""
    with open("/proc/self/maps") as maps:
        found = {line.split()[-1] for line in maps if "libgomp" in line}
    for path in found:
        pause = getattr(ctypes.CDLL(path), "omp_pause_resource_all", None)
        if pause is None or pause(1) != 0:  # 1: soft, threads are made again when needed
            print(f"{path} keeps its threads; what is timed after its users is slowed down")


def take_turns(calls, rounds, budget=0.02):
    """Seconds of every call, all taking turns: {name: [one mean of some calls per round]}."""
    counts = {}
    for name, call in calls.items():
        rest()
        call()
        begin = time.perf_counter()
        call()
        counts[name] = max(1, min(50, int(budget / max(time.perf_counter() - begin, 1e-7))))
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            rest()
            call()  # starts its threads again, and brings its data into the caches
            begin = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append((time.perf_counter() - begin) / counts[name])
    return times


class Rows:
    """Rows of one comparison: appended to a file as JSON, shown as a table."""

    def __init__(self, options, workload):
        self.options, self.workload, self.rows = options, workload, []

    def add(self, **row):
        row = {"workload": self.workload, "threads": self.options.threads,
               "allocator": self.options.allocator, **row}  # fmt: skip
        self.rows.append(row)
        if self.options.json:
            with open(self.options.json, "a") as file:
                file.write(json.dumps(row) + "\n")


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    print("\n".join(lines) + "\n", flush=True)


def typical_ms(times, options):
    """The median; the least time where others use the machine, too."""
    return (min(times) if options.best else statistics.median(times)) * 1e3
