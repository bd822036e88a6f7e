# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs, compiled and against NumPy in float64."""

import numpy as np
from helpers import batch_of, check, normal
from hypothesis import given, settings
from hypothesis import strategies as st

import nested

FEATURES = 6
# name: function of (x, y), both (N, F) or (N, N, F); all keep the numbers near 1.
BINARY = {
    "x + y": lambda x, y: x + y,
    "x - 0.5 * y": lambda x, y: x - 0.5 * y,
    "x * tanh(y)": lambda x, y: x * np.tanh(y),
    "maximum": np.maximum,
    "where": lambda x, y: np.where(x > y, x, -y),
    "x / (1 + y * y)": lambda x, y: x / (1 + y * y),
}
UNARY = {
    "tanh": np.tanh,
    "silu": nested.nn.silu,
    "layer_norm": nested.layer_norm,
    "centre": lambda x: x - nested.mean(x, axis=0, keepdims=True),
    "softmax": lambda x: nested.softmax(x),
    "by length": lambda x: x / (1 + x.shape[0]),
    "plus its sum": lambda x: x + 0.1 * nested.sum(x, axis=-1, keepdims=True),
    "sqrt": lambda x: np.sqrt(np.abs(x) + 1),
}
TO_PAIRS = {
    "outer sum": lambda x: x[:, None, :] + x[None, :, :],
    "outer product": lambda x: np.tanh(x)[:, None, :] * x[None, :, :],
}
FROM_PAIRS = {
    "mean over columns": lambda p: nested.mean(p, axis=1),
    "largest over columns": lambda p: nested.max(p, axis=1),
    "mean over rows": lambda p: nested.mean(p, axis=0),
    "transposed mean": lambda p: nested.mean(p.swapaxes(0, 1), axis=1),
}


@st.composite
def programs(draw):
    """A list of steps; each takes values made before."""
    steps, singles, pairs = [], [0, 1], []
    for k in range(2, draw(st.integers(3, 9))):
        kinds = ["unary", "binary", "linear", "to_pairs"] + (
            ["from_pairs", "pairs"] if pairs else []
        )
        kind = draw(st.sampled_from(kinds))
        if kind in ("unary", "binary", "linear"):
            names = {"unary": UNARY, "binary": BINARY, "linear": {"": None}}[kind]
            inputs = [draw(st.sampled_from(singles)) for _ in range(2)]
            singles.append(k)
        elif kind == "to_pairs":
            names, inputs = TO_PAIRS, [draw(st.sampled_from(singles))]
            pairs.append(k)
        elif kind == "pairs":
            names, inputs = BINARY, [draw(st.sampled_from(pairs)) for _ in range(2)]
            pairs.append(k)
        else:
            names, inputs = FROM_PAIRS, [draw(st.sampled_from(pairs))]
            singles.append(k)
        steps.append((kind, draw(st.sampled_from(sorted(names))), inputs))
    return steps


def run(steps, x, y, w):
    values = [x, y]
    for kind, name, inputs in steps:
        args = [values[i] for i in inputs]
        if kind == "unary":
            values.append(UNARY[name](args[0]))
        elif kind == "linear":
            values.append(args[0] @ w)
        elif kind == "to_pairs":
            values.append(TO_PAIRS[name](args[0]))
        elif kind == "from_pairs":
            values.append(FROM_PAIRS[name](args[0]))
        else:
            values.append(BINARY[name](*args))
    return tuple(values[2:])


@given(programs(), st.lists(st.integers(0, 20), min_size=1, max_size=5), st.integers(0, 9999))
@settings(max_examples=2 * settings.default.max_examples)
def test_random_programs(steps, lengths, seed):
    rng = np.random.default_rng(seed)
    x, y = (
        batch_of(rng, lengths, FEATURES, dtype="f8"),
        batch_of(rng, lengths, FEATURES, dtype="f8"),
    )
    w = normal(rng, FEATURES, FEATURES, dtype="f8", scale=FEATURES**-0.5)

    def program(x, y, w):
        return run(steps, x, y, w)

    check(program, x, y, w, tolerance=1e-10)
