# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of functions that move entries: compiled, interpreted, and by central differences."""

import numpy as np
from gradients import N8, NM, W, central_differences, check, dense, ragged

import nested

PROGRAMS = {
    # name: (function, specs)
    "concat": (lambda x, y: np.concatenate([x, y * 2, x]), [N8, ragged("M", 3)]),
    "concat_columns": (lambda x, y: np.concatenate([x, y], axis=1) ** 2, [N8, ragged("N", 2)]),
    "stack": (lambda x: np.stack([x, np.exp(x)], axis=1), [N8]),
    "pad": (lambda x: np.exp(np.pad(x, ((1, 2), (0, 1)))), [N8]),
    "pad_own": (lambda x: np.pad(x, ((x.shape[0], 0), (0, 0)), constant_values=3) ** 2, [N8]),
    "pad_linear": (lambda x, w: np.pad(x, ((1, 0), (0, 0))) @ w, [N8, W]),
    "slice": (lambda x: x[1:] * x[:-1], [N8]),
    "slice_columns": (lambda x: x[:, 1:] * x[:, 0:1], [N8]),
    "drop": (lambda x: x[:, 1] * x[:, 2], [N8]),
    "flip": (lambda x: np.flip(x) * x, [N8]),
    "steps": (lambda x: np.exp(x[::2]).sum(0) + x[::3].sum(0), [N8]),
    "steps_back": (lambda x: x[::-2, ::-1] ** 2, [N8]),
    "steps_columns": (lambda x: x[:, ::2] * x[:, 1:], [ragged("N", 3)]),
    "pairs": (lambda p: np.sum(np.flip(p, 1)[1:, :, 0] * p[:-1, :, 1], axis=0), [NM]),
    "diff": (lambda x: np.diff(x, axis=0) ** 2, [N8]),
    "tile": (lambda x: np.tile(x, (2, 2)) ** 2, [N8]),
    "repeat": (lambda x: np.repeat(x, 3, axis=0) ** 2, [N8]),
    "reshape": (lambda x: x.reshape(-1) ** 2, [N8]),
    "flatten": (lambda p: nested.flatten(p, 0, 1) ** 2, [NM]),
    "split": (lambda x: np.prod(np.stack(np.split(x, 3, axis=1)), axis=0), [N8]),
    "tril": (lambda p: np.tril(p[:, :, 0]) ** 2, [NM]),
    "take": (lambda x: np.take(x, np.array([2, 0, 2]), axis=1) ** 2, [N8]),
    "take_rows": (lambda x: x[nested.arange(x.shape[0])[::-1]] * x, [N8]),
    "take_along": (
        lambda x: np.take_along_axis(x, nested.arange(x.shape[0])[::-1, None], 0) * x,
        [N8],
    ),
    "roll": (lambda x: np.roll(x, 2, axis=0) * x, [N8]),
    "dropout": (lambda x: nested.nn.dropout(x * x, 0.5, 3), [N8]),
}


test_gradients = central_differences(PROGRAMS)


def test_dense():
    check(lambda w: np.concatenate([w[::2], np.pad(w, 1)[:, 1:5]]) ** 2, [dense(3, 4)],
          [np.random.default_rng(0).standard_normal((3, 4))])  # fmt: skip
