#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Goldens of the single-pair-single block: loss and gradients, sample by sample, in NumPy.

    block_goldens.py > goldens/block.json

Nothing of the package is used: the backward is written out by hand. Three layouts (square pairs;
rectangular ones; three channels in front of the ragged axis), over batches of 1, 4, 8 and 9 samples:
changed partitions of the same totals, changed extents and maxima, empty samples, equal structures. Of
each array the goldens hold its norm and two random projections.
"""

import json
import sys

import numpy as np

C, P, H = 6, 4, 8
PARAMETERS = {"u": (C, P), "v": (C, P), "scale": (P,), "offset": (P,), "gate": (P, H), "up": (P, H),
              "down": (H, P), "g": (P, C)}  # fmt: skip
LAYOUTS = ("square", "rectangular", "channels")
BATCHES = [
    [3, 5, 2, 6], [4, 4, 4, 4], [6, 2, 5, 3], [7], [1, 2, 3, 4, 5, 6, 7, 8], [8, 1, 0, 2, 9, 0, 1, 3],
    [5, 1, 1, 2, 3, 1, 4, 2, 6], [5, 1, 1, 2, 3, 1, 4, 2, 6],
]  # fmt: skip
EPS = 1e-5


def parameters(seed=0):
    rng = np.random.default_rng(seed)
    made = {k: rng.standard_normal(s) / np.sqrt(s[0]) for k, s in PARAMETERS.items()}
    made["scale"] = 1 + 0.1 * made["scale"]
    return made


def samples(layout, number):
    """Singles of each sample, and the singles of columns where they are others."""
    rng = np.random.default_rng([number, LAYOUTS.index(layout)])
    lengths = BATCHES[number]
    front = (3,) if layout == "channels" else ()
    rows = [rng.standard_normal((*front, n, C)) for n in lengths]
    if layout != "rectangular":
        return rows, rows
    return rows, [rng.standard_normal((n, C)) for n in reversed(lengths)]


def weights(count):
    """Of the singles and the pairs of each sample in the loss."""
    return [1 + i / count for i in range(count)], [1.5 - i / (2 * count) for i in range(count)]


def forward(w, x, z):
    p = (x @ w["u"])[..., :, None, :] + (z @ w["v"])[..., None, :, :]
    centred = p - p.mean(-1, keepdims=True)
    rate = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
    normal = centred * rate
    y = normal * w["scale"] + w["offset"]
    a, b = y @ w["gate"], y @ w["up"]
    sigmoid = 1 / (1 + np.exp(-a))
    h = a * sigmoid * b
    q = p + h @ w["down"]
    mean = q.sum(-2) / max(1, q.shape[-2])
    return x + mean @ w["g"], q, (rate, normal, y, a, b, sigmoid, h, mean)


def outer(a, b):
    """Summed over all rows."""
    return a.reshape(-1, a.shape[-1]).T @ b.reshape(-1, b.shape[-1])


def backward(w, x, z, kept, dx, dq):
    rate, normal, y, a, b, sigmoid, h, mean = kept
    grads = {"g": outer(mean, dx)}
    dmean = dx @ w["g"].T
    dq = dq + (dmean / max(1, dq.shape[-2]))[..., :, None, :]
    grads["down"] = outer(h, dq)
    dh = dq @ w["down"].T
    da = dh * b * sigmoid * (1 + a * (1 - sigmoid))
    db = dh * a * sigmoid
    grads["gate"] = outer(y, da)
    grads["up"] = outer(y, db)
    dy = da @ w["gate"].T + db @ w["up"].T
    grads["scale"] = (dy * normal).reshape(-1, P).sum(0)
    grads["offset"] = dy.reshape(-1, P).sum(0)
    dn = dy * w["scale"]
    dp = dq + rate * (
        dn - dn.mean(-1, keepdims=True) - normal * (dn * normal).mean(-1, keepdims=True)
    )
    du, dv = dp.sum(-2), dp.sum(-3)
    grads["u"] = outer(x, du)
    grads["v"] = outer(z, dv)
    return grads, dx + du @ w["u"].T, dv @ w["v"].T


def reference(w, layout, number):
    """Loss, gradients of parameters, gradients of the singles (and of those of the columns)."""
    rows, columns = samples(layout, number)
    alpha, beta = weights(len(rows))
    done = [forward(w, x, z) for x, z in zip(rows, columns)]
    singles = max(1, sum(y.size for y, _, _ in done))
    pairs = max(1, sum(q.size for _, q, _ in done))
    loss, total, dx, dz = 0.0, {k: np.zeros_like(v) for k, v in w.items()}, [], []
    for a, b, x, z, (y, q, kept) in zip(alpha, beta, rows, columns, done):
        loss += a * (y**2).sum() / singles + b * (q**2).sum() / pairs
        grads, gx, gz = backward(w, x, z, kept, 2 * a * y / singles, 2 * b * q / pairs)
        for k, g in grads.items():
            total[k] += g
        if layout != "rectangular":
            gx, gz = gx + gz, None
        dx.append(gx)
        dz.append(gz)
    return loss, total, dx, dz if layout == "rectangular" else None


def summary(array):
    """The norm and two projections of an array."""
    flat = np.asarray(array, np.float64).ravel()
    rng = np.random.default_rng(flat.size)
    return [
        float(np.linalg.norm(flat)),
        *(float(flat @ rng.standard_normal(flat.size)) for _ in "ab"),
    ]


def joined(parts):
    return np.concatenate([np.asarray(p).ravel() for p in parts])


def summaries(loss, grads, dx, dz):
    made = {"loss": loss, "x": summary(joined(dx))}
    if dz is not None:
        made["z"] = summary(joined(dz))
    return made | {k: summary(g) for k, g in sorted(grads.items())}


if __name__ == "__main__":
    goldens = {
        layout: [summaries(*reference(parameters(), layout, k)) for k in range(len(BATCHES))]
        for layout in LAYOUTS
    }
    json.dump(goldens, sys.stdout, indent=1)
    print()
