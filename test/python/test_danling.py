# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of danling_ops.txt: each expression, compiled for batches with an empty sample, gives
what it gives on every sample's arrays in float64."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers import check

import nested

OPERATORS = {}
for line in (Path(__file__).parent / "danling_ops.txt").read_text().splitlines():
    if line and not line.startswith("#"):
        name, _, expression = line.partition(" = ")
        assert name not in OPERATORS, name
        OPERATORS[name] = expression

LENGTHS = (5, 0, 3)


def operands():
    """x, y: numbers of either sign; u: in (0, 1); p: positive; i, k: integers; b, c: masks; all of
    shape (N, 4). f: (N,), h: (M,), r: (N,) below 5, g: (N, N). s, s5, w, w4, t: shared."""
    rng = np.random.default_rng(7)

    def batch(make, *dims):
        return nested.from_list([make(n) for n in LENGTHS], dims=dims)

    def normal(*shape):
        return rng.standard_normal(shape).astype("f4")

    def uniform(low, high):
        return batch(lambda n: rng.uniform(low, high, (n, 4)).astype("f4"), "N", 4)

    def integers(low, high):
        return batch(lambda n: rng.integers(low, high, (n, 4)), "N", 4)

    return {"x": batch(lambda n: normal(n, 4), "N", 4), "y": batch(lambda n: normal(n, 4), "N", 4),
            "u": uniform(0.05, 0.95), "p": uniform(0.5, 2.0), "i": integers(0, 9), "k": integers(1, 4),
            "b": batch(lambda n: rng.random((n, 4)) < 0.5, "N", 4),
            "c": batch(lambda n: rng.random((n, 4)) < 0.5, "N", 4),
            "f": batch(normal, "N"), "r": batch(lambda n: rng.integers(0, 5, n), "N"),
            "g": batch(lambda n: normal(n, n), "N", "N"),
            "h": nested.from_list([normal(n) for n in (2, 3, 0)], dims=("M",)),
            "s": normal(4), "s5": normal(5), "w": normal(4, 5), "w4": normal(4, 4),
            "t": normal(5, 3)}  # fmt: skip


OPERANDS = operands()


def resolve(name):
    expression = OPERATORS[name]
    return resolve(expression) if expression in OPERATORS else expression


@pytest.mark.parametrize("name", [n for n in OPERATORS if OPERATORS[n]])
def test_operator(name):
    expression = resolve(name)
    used = [n for n in OPERANDS if re.search(rf"(?<![\w.]){n}(?!\w|\()", expression)]
    code = compile(expression, name, "eval")

    def function(*values):
        return eval(code, {"np": np, "nested": nested, "nn": nested.nn}, dict(zip(used, values)))

    check(function, *[OPERANDS[n] for n in used], tolerance=1e-4)


def test_the_list_is_complete():
    """404 operators: the list does not become shorter."""
    assert len(OPERATORS) == 404
    assert all(e in OPERATORS or "(" in e or "@" in e or "[" in e or " " in e
               for e in OPERATORS.values() if e)  # fmt: skip
