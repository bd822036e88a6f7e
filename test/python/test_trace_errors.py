# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages for what can't be traced. Each ends at the user's line and hides our frames."""

import numpy as np
import pytest
from helpers import normal, raises

import nested

X = nested.spec(None, 384)
Y = nested.spec("M", 384)
Z = nested.spec("N", 384)
TOKENS = nested.spec("N", dtype="i8")
W = np.zeros((384, 16), "f4")


def loop(x):
    for _ in x:
        pass


def branch(x):
    if x.sum() > 0:
        return x
    return -x


def branch_on_size(x):
    while x.shape[0] > 3:
        pass


def assign(x):
    x[0] = 1
    return x


def update(x):
    x += 1
    return x


def update_view(x):
    y = x * 2
    z = y[1:]
    y += 1
    return z


CASES = [
    (branch, [X], nested.TraceError, "Python's if, while, and, or, not can't depend on them",
     "if x.sum() > 0"),
    (loop, [X], nested.TraceError, "a Python loop over an axis of N entries", "for _ in x"),
    (branch_on_size, [X], nested.TraceError, "whether N > 3 depends on the lengths",
     "while x.shape[0] > 3"),
    (lambda x: int(x.sum()), [X], nested.TraceError, "int() can't be taken", "int(x.sum())"),
    (lambda x: float(x.sum()), [X], nested.TraceError, "float() can't be taken", "float(x.sum())"),
    (lambda x: len(x), [X], nested.TraceError, "use x.shape[0]", "len(x)"),
    (lambda x: 1.0 in x, [X], nested.TraceError, "use np.any(x == item)", "1.0 in x"),
    (lambda x: range(x.shape[0]), [X], nested.TraceError, "where Python or NumPy needs an int",
     "range(x.shape[0])"),
    (lambda x: np.zeros(x.shape), [X], nested.TraceError, "the size N", "np.zeros(x.shape)"),
    (assign, [X], nested.TraceError, "build the new array with np.where", "x[0] = 1"),
    (update, [X], nested.TraceError, "`+=` would change argument `x` in place", "x += 1"),
    (update_view, [X], nested.TraceError, "an array with views", "y += 1"),
    (lambda x: np.block([x, x]), [X], nested.TraceError,
     "np.block is not supported on traced values", "np.block([x, x])"),
    (lambda x: np.linalg.svd(x), [X], nested.TraceError, "np.linalg.svd is not supported",
     "np.linalg.svd(x)"),
    (lambda x: np.packbits(x), [X], nested.TraceError, "np.packbits is not supported",
     "np.packbits(x)"),
    (lambda x: x.partition(3), [X], nested.TraceError, ".partition is not supported", "x.partition"),
    (lambda x: np.fft.fft(x), [X], nested.TraceError, "np.fft", "np.fft.fft(x)"),
    (lambda x: np.add(x, 1, where=x > 0), [X], nested.TraceError, "where=", "np.add(x, 1, where="),
    (lambda x: np.subtract.accumulate(x), [X], nested.TraceError, "subtract.accumulate", "np.subt"),
    (lambda x: np.sum(x, where=x > 0), [X], nested.TraceError, "np.sum: got an unexpected keyword",
     "np.sum(x, where="),
    (lambda x: np.gcd(x, x), [TOKENS], nested.TraceError, "np.gcd is not supported", "np.gcd(x, x)"),
    (lambda x: x.nonsense, [X], AttributeError, "nonsense", None),
    (lambda y, z: z + y, [Y, Z], nested.ShapeError,
     "(N, 384) + (M, 384): axes 0 differ: N is the length of argument `z`, M of `y`", "z + y"),
    (lambda y, x: x + y, [Y, X], nested.ShapeError, "(N, 384) + (M, 384): axes 0 differ", "x + y"),
    (lambda p, q: p + q, [nested.spec("N", "M", 4), nested.spec("M", "N", 4)], nested.ShapeError,
     "(N, M, 4) + (M, N, 4): axes 0 differ", "p + q"),
    (lambda x: x + x[1:], [X], nested.ShapeError, "(N, 384) + (max(N - 1, 0), 384)", "x + x[1:]"),
    (lambda x: x * (x[:, None] * x), [X], nested.ShapeError, "it is not clear which axes", "x * ("),
    (lambda x, w: x + w, [X, W], nested.ShapeError, "axes 0 differ: N is the length of argument `x` "
     "and is another number in every sample, 384 is fixed", "x + w"),
    (lambda x: x + np.ones(5, "f4"), [X], nested.ShapeError,
     "(N, 384) + (5,): axis 1 of the first and 0 of the second differ: 384 and 5", "x + np.ones(5"),
    (lambda x, w: x @ w.T, [X, W], nested.ShapeError, "(N, 384) @ (16, 384)", "x @ w.T"),
    (lambda x, w: x.T @ w, [X, W], nested.ShapeError, "(384, N) @ (384, 16): axis 1 of the first", "x.T @"),
    (lambda x: x.sum(axis=2), [X], nested.ShapeError, "axis 2 is out of bounds for an array of 2",
     "x.sum(axis=2)"),
    (lambda x: x.sum(axis=(0, 0)), [X], nested.ShapeError, "duplicate axes", "x.sum(axis=(0, 0))"),
    (lambda x: x.transpose(0, 0), [X], nested.ShapeError, "transpose of (N, 384) by (0, 0)", "x.transpose(0, 0)"),
    (lambda x: x[0, 0, 0], [X], nested.ShapeError, "too many indices: 3 for (N, 384)", "x[0, 0, 0]"),
    (lambda x: x[:, 400], [X], nested.ShapeError, "index is out of bounds for axis 1", "x[:, 400]"),
    (lambda x, m: x[m], [X, nested.spec(1, dtype="?", batched=True)], nested.ShapeError,
     "(N, 384) and the mask (1,): axes 0 differ", "x[m]"),
    (lambda x: x["a"], [X], nested.TraceError, "str can't be used as an index", 'x["a"]'),
    (lambda x: nested.batch.sum(x), [X], nested.ShapeError, "the ragged axes (0,) differ from sample",
     "nested.batch.sum(x)"),
    (lambda x, w: x.sum() + nested.batch.sum(w), [X, W], nested.TraceError, "is shared, it has no samples",
     "nested.batch.sum(w)"),
    (lambda x: nested.layer_norm(x.T), [X], nested.ShapeError, "its last axis must be static",
     "nested.layer_norm(x.T)"),
    (lambda x: x + "a", [X], nested.TraceError, "str can't be used", 'x + "a"'),
    (lambda x: x + 1j, [X], nested.TraceError, "can't be used", "x + 1j"),
    (lambda x: x & x, [X], nested.TraceError, "np.bitwise_and is not defined for float32", "x & x"),
    (lambda x: W[x[:, 0].astype("i8")], [X], nested.TraceError, "nested.take(table, indices)", "W["),
    (lambda x: 3, [X], nested.TraceError, "returns nothing that depends on its arguments", None),
    (lambda x: x + 1000, [nested.spec("N", dtype="i1")], OverflowError, "1000 out of bounds", None),
]  # fmt: skip


@pytest.mark.parametrize("function, args, error, message, line", CASES)
def test_message(function, args, error, message, line):
    with raises(error, message, line=line):
        nested.jit(function).lower(*args)


def test_leaked_values():
    kept = []
    nested.jit(lambda x: kept.append(x) or x + 1).lower(X)
    with pytest.raises(nested.TraceError, match="belongs to a traced call that is over"):
        kept[0] + 1


def test_batches_from_outside(rng):
    batch = nested.from_list([normal(rng, 3, 384)])
    with raises(nested.TraceError, "pass it as an argument", line="x * batch"):
        nested.jit(lambda x: x * batch).lower(X)


def test_unhashable_static_argument():
    with pytest.raises(TypeError, match="argument `options` of type set is neither an array nor"):
        nested.jit(lambda x, options: x)(nested.from_list([np.zeros((2, 3))]), {1, 2})


def test_specs():
    with raises(nested.StructureError, "'min' can't name a ragged axis", line="nested.spec("):
        nested.spec("min", 3)
    with pytest.raises(ValueError, match="negative"):
        nested.spec(-1)
    with pytest.raises(ValueError, match="no ragged axes"):
        nested.spec("N", batched=False)
    with pytest.raises(TypeError, match="a spec is no argument"):
        nested.jit(lambda x: x)(X)


@pytest.mark.parametrize(
    "text", ["peak < ", "memory <= 3", "kernels <= 3 MB", "never", "peak <= 3 XB"]
)
def test_requirements_that_cannot_be_read(text):
    with pytest.raises(ValueError, match="can't read the requirement"):
        nested.jit(lambda x: x, require=[text])
