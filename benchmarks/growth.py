# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How time grows with rows and with samples: one op of each class of kernels."""

import time

import measure
import numpy as np
import programs

FEATURES, TABLE = 16, 1000
SIZES = (1000, 10_000, 100_000, 1_000_000)


def _sort(x):
    import nested

    return nested.sort(x[:, 0], axis=0)


def _softmax(x):
    import nested

    return nested.softmax(x, axis=0)


def _scan(x):
    import nested

    return nested.cumsum(x, axis=0)


def _batch_sum(x):
    import nested

    return nested.batch.sum(x, axis=0)


# Class: (program, what it takes beside rows).
OPS = {
    "map: x * 2": (programs.double, None),
    "row contraction: x @ w": (programs.matmul, "weights"),
    "segment reduce: sum of a sample": (programs.ragged_sum, None),
    "softmax over a sample": (_softmax, None),
    "scan: cumsum of a sample": (_scan, None),
    "sort of a sample, one column": (_sort, None),
    "gather: table[i]": (lambda t, i: t[i], "indices"),
    "concat: of a sample with itself": (lambda x: np.concatenate([x, x]), None),
    "batch reduce: sum of all rows": (_batch_sum, None),
}


def _arguments(kind, lengths):
    import nested

    random = np.random.default_rng(2)
    if kind == "indices":
        table = programs.aligned(random.standard_normal((TABLE, FEATURES)))
        rows = random.integers(0, TABLE, int(np.sum(lengths)))
        return [table, nested.from_values(rows, lengths, dims=("N",))]
    x = programs.batch(lengths, FEATURES)
    return (
        [x] if kind is None else [x, programs.aligned(random.standard_normal((FEATURES, FEATURES)))]
    )


def _least(call, seconds):
    """The least time of a call. Short calls are repeated for as long as one long one takes."""
    call()
    count, best = 1, np.inf
    while (spent := _time(call, count)) < 1e-3:
        count *= 4
    best = spent / count
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        best = min(best, _time(call, count) / count)
    return best


def _time(call, count):
    """Of the processor: others that use the machine do not count."""
    start = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - start


def growth(run):
    """Time per row and per sample as there are more of them."""
    for title, note, unit in (
        ("one sample of many rows", "one sample of 10^3 to 10^6 rows", "row"),
        ("many samples", "10^3 to 10^6 samples of 0 to 5 rows", "sample"),
    ):
        run.report.section(
            f"Growth: {title}",
            f"{note}, {FEATURES} features of f32, one thread, memory given: nanoseconds of the processor per "
            f"{unit} (least times; what fits into a cache is faster), and how much slower 10^6 are than 10^5 per "
            f"{unit}.",
            ["op", *(f"{size:.0e}".replace("1e+0", "10^") for size in SIZES), "10^6 / 10^5"],
        )
        for name, (function, kind) in OPS.items():
            times = []
            for size in SIZES[:2] if run.quick else SIZES:
                lengths = [size] if unit == "row" else np.random.default_rng(4).integers(0, 6, size)
                call = measure.Call(function, *_arguments(kind, lengths))
                times.append(_least(call, run.seconds / 4) / size * 1e9)
            cells = [(t, "{:.1f}") for t in times] + ["-"] * (len(SIZES) - len(times))
            last = (times[-1] / times[-2], "{:.2f}") if len(times) == len(SIZES) else "-"
            run.report.row(name, *cells, last)
