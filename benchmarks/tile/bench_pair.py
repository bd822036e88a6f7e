# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One core, the pair block of the tests: GF/s and share of the peak of FMA instructions.

usage: bench_pair.py [-n 20,64,100,200] [options of the lowering] ...

Each argument is one variant, e.g. "mr=8 np=32"; variants run in turn, best time counts. A
word "@FILE" in it names another program with the same arguments.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "../../test/Conversion/StructureToLoops/Inputs")
sys.path.insert(0, INPUTS)

import harness  # noqa: E402
import numpy as np  # noqa: E402


def load_peak(directory):
    library = os.path.join(directory, "peak.so")
    subprocess.run(
        ["cc", "-O2", "-mavx512f", "-shared", "-fPIC", os.path.join(HERE, "peak.c"), "-o", library],
        check=True,
    )
    function = ctypes.CDLL(library).peak
    function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64

    def measure():
        start = time.thread_time()
        flops = function(1_000_000)
        return flops / (time.thread_time() - start) * 1e-9

    measure()
    return measure


def best_of(calls, peak, seconds, warm=False):
    """{name: (best time, best share of the peak around it)}, with all calls in turn: the
    clock and the neighbours of a shared machine change all the time. With `warm`, each
    timed call follows one on the same data."""
    best = {name: (1e9, 0.0) for name in calls}
    for call in calls.values():
        call(peak)
    end = time.monotonic() + seconds
    before = peak()
    while time.monotonic() < end:
        for name, call in calls.items():
            if warm:
                call(peak)
            start = time.thread_time()
            flops = call(peak)
            spent = time.thread_time() - start
            after = peak()
            share = flops / spent * 1e-9 / max(before, after)
            best[name] = min(best[name][0], spent), max(best[name][1], share)
            before = after
    return best


def aligned(array):
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", default="20,64,100,200")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("variants", nargs="*")
    args = parser.parse_args()
    directory = harness.workspace()
    peak = load_peak(directory)
    with open(os.path.join(INPUTS, "pair.mlir")) as f:
        text = f.read()
    kernels = {}
    for i, options in enumerate(args.variants or [""]):
        words = options.split()
        program = text
        for word in words:
            if word.startswith("@"):
                with open(word[1:]) as f:
                    program = f.read()
        words = " ".join(word for word in words if not word.startswith("@"))
        library, scratch = harness.build(program, directory, f"pair{i}", words)
        kernels[options or "default"] = harness.Kernel(library, "pair", scratch["pair"])
    rng = np.random.default_rng(0)
    for n in map(int, args.n.split(",")):
        shapes = [(n, 128), (n, 128), (128, 512), (128, 512), (512, 128), 128, 128]
        arrays = [aligned((rng.uniform(-1, 1, s) * 0.1).astype(np.float32)) for s in shapes]
        arrays += [harness.offsets([n]), harness.offsets([n * n])]
        arrays += [aligned(np.zeros(s, np.float32)) for s in [(n * n, 128), (n, 128)]]

        def caller(kernel, arrays=arrays, n=n):
            frame = kernel.frame(arrays)

            def call(_):
                kernel(frame, 0, n, poison=False)
                return 6 * n * n * 128 * 512

            return call

        best = best_of({k: caller(v) for k, v in kernels.items()}, peak, args.seconds)
        for name, (seconds, share) in best.items():
            rate = 6 * n * n * 128 * 512 / seconds * 1e-9
            print(
                f"N={n:4} {name:24} {seconds * 1e3:9.3f} ms {rate:6.1f} GF/s {share:6.1%} of peak"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
