# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs pair.mlir against numpy in f64. Arguments: options of the lowering."""

import os
import sys

import harness
import numpy as np

C, H = 128, 512


def oracle(U, V, W1, W2, W3, G, B, lengths):
    P, S = [], []
    start = 0
    for n in lengths:
        u, v = U[start : start + n], V[start : start + n]
        start += n
        p = u[:, None] + v[None]
        d = p - p.mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * G + B
        g, h = y @ W1, y @ W2
        q = p + (g / (1 + np.exp(-g)) * h) @ W3
        P.append(q.reshape(-1, C))
        S.append(q.sum(1) / max(n, 1))
    return np.concatenate(P), np.concatenate(S)


def data(lengths, seed=0):
    rng = np.random.default_rng(seed)
    rows = sum(lengths)

    def uniform(*shape, scale=1.0):
        return (rng.uniform(-1, 1, shape) * scale).astype(np.float32)

    inputs = [
        uniform(rows, C),
        uniform(rows, C),
        uniform(C, H, scale=0.1),
        uniform(C, H, scale=0.1),
        uniform(H, C, scale=0.05),
        1 + uniform(C, scale=0.1),
        uniform(C, scale=0.1),
    ]
    tables = [harness.offsets(lengths), harness.offsets([n * n for n in lengths])]
    return inputs, tables


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "pair.mlir")) as f:
        text = f.read()
    options = " ".join(sys.argv[1:])
    library, scratch = harness.build(text, harness.workspace(), "pair", options)
    kernel = harness.Kernel(library, "pair", scratch["pair"])
    lengths = [5, 0, 64, 1, 37, 100, 0, 0, 3, 48]
    inputs, tables = data(lengths)
    start = sum(lengths[:4])
    inputs[1][start : start + 37] = np.nan  # Stays in its sample.
    P, S = oracle(*[x.astype(np.float64) for x in inputs], lengths)
    units = sum(lengths)
    harness.check(
        kernel,
        inputs + tables,
        [(P.shape, np.float32), (S.shape, np.float32)],
        units,
        [P, S],
        tolerance=2e-5,
    )
    print(f"pair: ok ({scratch['pair']} bytes of scratch)")


main()
