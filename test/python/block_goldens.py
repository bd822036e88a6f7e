#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Goldens of the single-pair-single block: outputs, loss, gradients and a step of SGD, sample by sample,
by PyTorch.

    block_goldens.py > goldens/block.json

Nothing of the package is used. Three layouts (square pairs;
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
EPS, RATE = 1e-5, 0.1


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
    """The block for one sample, in PyTorch."""
    import torch

    p = (x @ w["u"])[..., :, None, :] + (z @ w["v"])[..., None, :, :]
    y = torch.nn.functional.layer_norm(p, (P,), w["scale"], w["offset"], EPS)
    p = p + (torch.nn.functional.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]
    return x + p.sum(-2) / max(1, p.shape[-2]) @ w["g"], p


def reference(w, layout, number):
    """Summaries of what there is for one batch, by PyTorch's autograd, sample by sample, in f64: the loss,
    the results, the gradients of parameters and of the singles (and of those of the columns), and
    the parameters after a step of SGD."""
    import torch

    def variable(array):
        return torch.tensor(array, dtype=torch.float64, requires_grad=True)

    rows, columns = samples(layout, number)
    alpha, beta = weights(len(rows))
    w, x = {k: variable(v) for k, v in w.items()}, [variable(r) for r in rows]
    z = [variable(c) for c in columns] if layout == "rectangular" else x
    done = [forward(w, a, b) for a, b in zip(x, z)]
    singles = max(1, sum(y.numel() for y, _ in done))
    pairs = max(1, sum(q.numel() for _, q in done))
    loss = sum(
        a * (y**2).sum() / singles + b * (q**2).sum() / pairs
        for a, b, (y, q) in zip(alpha, beta, done)
    )
    loss.backward()
    torch.optim.SGD(w.values(), lr=RATE).step()

    def summaries(values):
        return {k: summary(v.detach().numpy()) for k, v in sorted(values.items())}

    made = {"loss": loss.item(), "x": summary(joined([v.grad for v in x]))}
    if layout == "rectangular":
        made["z"] = summary(joined([v.grad for v in z]))
    made |= summaries({k: v.grad for k, v in w.items()})
    made["single"], made["pair"] = [summary(joined([d[k].detach() for d in done])) for k in (0, 1)]
    return made | {f"{k} after": v for k, v in summaries(w).items()}


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


if __name__ == "__main__":
    goldens = {
        layout: [reference(parameters(), layout, k) for k in range(len(BATCHES))]
        for layout in LAYOUTS
    }
    json.dump(goldens, sys.stdout, indent=1)
    print()
