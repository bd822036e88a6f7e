# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One core, row maps: relu(x W + b) as a share of the peak of FMA instructions, and layer
norm as bytes per second.

usage: bench_rows.py [--rows 4096] [KxN ...] [--options "mr=8 np=32"]
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import bench_pair  # noqa: E402
import harness  # noqa: E402
import numpy as np  # noqa: E402
from program import Kernel  # noqa: E402


def linear(depth, columns, transposed=False):
    k = Kernel(f"linear_{depth}_{columns}{'_t' * transposed}")
    x = k.load((depth,), "f32")
    shape = (columns, depth) if transposed else (depth, columns)
    w = k.shared(shape, "f32")
    b = k.shared((columns,), "f32")
    full = k.rows((columns,))
    h = k.generic(
        ["ik", "jk" if transposed else "kj", "ij"],
        [(x, k.rows((depth,)), "f32"), (w, shape, "f32")],
        (full, "f32"),
        "%m = arith.mulf {0}, {1} : f32\n%y = arith.addf {acc}, %m : f32",
        "k",
        k.fill(0.0, full, "f32"),
    )
    y = k.generic(
        ["ij", "j", "ij"],
        [(h, full, "f32"), (b, (columns,), "f32")],
        (full, "f32"),
        f"%s = arith.addf {{0}}, {{1}} : f32\n%c = arith.cmpf ogt, %s, {k.constant(0.0, 'f32')} : f32\n"
        f"%y = arith.select %c, %s, {k.constant(0.0, 'f32')} : f32",
    )
    k.store(y, (columns,), "f32")
    return k


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--options", action="append")
    parser.add_argument("--warm", action="store_true", help="with data in the cache")
    parser.add_argument("shapes", nargs="*")
    args = parser.parse_args()
    shapes = args.shapes or [
        "384x128",
        "128x512",
        "512x128",
        "384x384",
        "128x128",
        "384x100",
        "64x64",
        "384x128t",
        "4096x64",
    ]
    directory = harness.workspace()
    peak = bench_pair.load_peak(directory)
    for text in shapes:
        transposed = text.endswith("t")
        depth, columns = map(int, text.rstrip("t").split("x"))
        kernel = linear(depth, columns, transposed)
        calls = {}
        x, w, b, y = (
            bench_pair.aligned(np.random.default_rng(0).uniform(-1, 1, s).astype(np.float32))
            for s in [(args.rows, depth), (depth, columns), (columns,), (args.rows, columns)]
        )
        for i, options in enumerate(args.options or [""]):
            library, scratch = harness.build(
                kernel.text(), directory, f"{kernel.name}_{i}", options
            )
            compiled = harness.Kernel(library, kernel.name, scratch[kernel.name])
            frame = compiled.frame([x, w, b, y])

            def call(_, compiled=compiled, frame=frame, flops=2 * args.rows * depth * columns):
                compiled(frame, 0, args.rows, poison=False)
                return flops

            calls[options or "default"] = call
        for name, (seconds, share) in bench_pair.best_of(
            calls, peak, args.seconds, args.warm
        ).items():
            rate = 2 * args.rows * depth * columns / seconds * 1e-9
            print(
                f"{text:10} {name:20} {seconds * 1e3:8.3f} ms {rate:6.1f} GF/s {share:6.1%} of peak"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
