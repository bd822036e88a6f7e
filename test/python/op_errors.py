# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For each op that the package writes: a use that compiles to it, and a wrong one like it.

docs/generated/Status.md counts these; test_op_errors.py runs them.
"""

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

import nested
from nested import spec


@dataclass
class Wrong:
    op: str
    function: Callable
    right: list  # arguments with which the function is a program with this op
    wrong: list  # and with which it is an error
    message: str
    line: str
    error: Any = nested.ShapeError
    misuse: Callable | None = None  # if it is not the same function


def row_sums(x):
    f = nested.custom_vjp(
        lambda x: x.sum(axis=1, keepdims=True),
        lambda x: (x.sum(axis=1, keepdims=True), None),
        lambda _, g: (g,),  # right for rows of one number
    )
    return f(x)


X = spec("N", 4)
NUMBER, TRUTH = (spec(dtype=t, batched=True) for t in ("i8", "?"))
SHARED = np.zeros((5, 3), "f4")

CASES = [
    Wrong("accumulate", lambda x: np.cumsum(x), [spec("N")], [X],
          "cumsum of (N, 4) needs axis=", "np.cumsum(x)"),
    Wrong("attention", lambda q, k: nested.attention(q, k, k),
          [spec("N", 2, 8), spec("M", 2, 8)], [spec("N", 2, 8), spec("M", 2, 6)],
          "(N, 2, 8) and, in attention, (M, 2, 6): axes 2 differ", "nested.attention(q, k, k)"),
    Wrong("bind_size", lambda n: nested.arange(nested.as_dim(n, at_most=8)),
          [NUMBER], [spec("N", dtype="i8")],
          "nested.as_dim of (N,) int64: expected one integer", "nested.as_dim(n"),
    Wrong("broadcast", lambda x: np.broadcast_to(x, (x.shape[0], 3, 4)),
          [spec("N", 1, 4)], [spec("N", 2, 4)], "(N, 2, 4)", "np.broadcast_to(x"),
    Wrong("cast", lambda x, y: x + y, [spec(None, 4), spec(None, 4)], [X, spec("M", 4)],
          "(N, 4) + (M, 4): axes 0 differ: N is the length of argument `x`, M of `y`", "x + y"),
    Wrong("checkpoint", lambda x, w: nested.checkpoint(lambda a: a @ w)(x),
          [spec("N", 5), SHARED], [X, SHARED], "(N, 4) @ (5, 3)", "a @ w"),
    Wrong("concat", lambda x, y: np.concatenate([x, y]), [X, spec("M", 4)], [X, spec("M", 5)],
          "(N, 4) and, in concatenate, (M, 5): axes 1 differ", "np.concatenate([x, y])"),
    Wrong("contract", lambda x, y: np.einsum("nc,mc->nm", x, y),
          [X, spec("M", 4)], [X, spec("M", 5)],
          "(N, 4) and, in 'nc,mc->nm', (M, 5): axes 1 differ", "np.einsum("),
    Wrong("custom_gradient", lambda x: row_sums(x), [spec("N", 1)], [X],
          "has shape (N, 1): expected (N, 4)", "return f(x)"),
    Wrong("extent", lambda x: x.sum(axis=0) / x.shape[0], [X], [X],
          "the size N", "np.zeros(x.shape)", nested.TraceError, lambda x: np.zeros(x.shape)),
    Wrong("fill", lambda x, y: np.full_like(x, 1), [X, X], [X, spec("M", 4)],
          "(M, 4) can't become (N, 4)", "np.full_like(x, y)", misuse=lambda x, y: np.full_like(x, y)),
    Wrong("gather", lambda t, i: t[i], [SHARED, spec("N", dtype="i8")], [SHARED, spec("N")],
          "float", "t[i]", nested.TraceError),
    Wrong("gradient", lambda x: nested.grad(lambda v: v.sum() if v.ndim == 1 else nested.batch.sum(v, axis=None))(x),
          [X], [spec("N")], "returns an array of shape () (a number) for every sample", "nested.grad("),
    Wrong("iota", lambda x: nested.arange(x.shape[0]), [X], [X], "(N, 4)", "nested.arange(x)",
          nested.TraceError, lambda x: nested.arange(x)),
    Wrong("linear", lambda x, w: x @ w, [spec("N", 5), SHARED], [X, SHARED],
          "(N, 4) @ (5, 3): axis 1 of the first and 0 of the second differ: 4 and 5", "x @ w"),
    Wrong("map", lambda x, y: x * y, [X, X], [X, spec("M", 4)],
          "(N, 4) * (M, 4): axes 0 differ: N is the length of argument `x`, M of `y`", "x * y"),
    Wrong("masked_select", lambda x, m: x[m], [X, spec("N", dtype="?")], [X, spec("M", dtype="?")],
          "(N, 4) and the mask (M,): axes 0 differ", "x[m]"),
    Wrong("normalize", lambda x: nested.layer_norm(x), [X], [spec(4, "N")],
          "layer_norm of (4, N): its last axis must be static", "nested.layer_norm(x)"),
    Wrong("pad", lambda x: np.pad(x, ((1, 0), (0, 2))), [X], [spec("N", 4, 2)],
          "np.pad of (N, 4, 2): pad_width has 2 pairs for 3 axes", "np.pad(x"),
    Wrong("reduce", lambda x: x.sum(axis=1), [X], [spec("N")],
          "axis 1 is out of bounds for an array of 1", "x.sum(axis=1)"),
    Wrong("repeat_batch", lambda x, n: nested.batch.repeat(x, n, at_most=3),
          [X, NUMBER], [X, spec("N", dtype="i8")],
          "nested.batch.repeat by (N,) int64: expected one integer", "nested.batch.repeat(x, n"),
    Wrong("renest", lambda q, k: nested.attention(q, k, k),
          [spec("N", "M", 2, 8), spec("N", "K", 2, 8)], [spec("N", "M", 2, 8), spec("L", "K", 2, 8)],
          "(N, M, 2, 8) and, in attention, (L, K, 2, 8): axes 0 differ", "nested.attention(q, k, k)"),
    Wrong("reshape", lambda x: x.reshape(x.shape[0] * 2, 2), [X], [X],
          "reshape of (N, 4), 4 * N entries, to (4 * N + 1,), 4 * N + 1", "x.reshape(x.shape[0] * 4 + 1)",
          misuse=lambda x: x.reshape(x.shape[0] * 4 + 1)),
    Wrong("scan", lambda x: nested.unique_consecutive(x), [spec("N", dtype="i8")], [X],
          "unique_consecutive of (N, 4): expected one axis, of a batch", "nested.unique_consecutive(x)"),
    Wrong("scatter", lambda x, i, u: nested.scatter(x, i, u, "add"),
          [X, spec("M", dtype="i8"), spec("M", 4)], [X, spec("M", dtype="i8"), spec("M", 5)],
          "(4,) and, in scatter, (5,)", "nested.scatter(x, i, u"),
    Wrong("searchsorted", lambda x, v: np.searchsorted(x, v), [spec("N"), spec("M")], [X, spec("M")],
          "np.searchsorted needs a list of one axis, but got (N, 4)", "np.searchsorted(x, v)"),
    Wrong("select_batch", lambda x, keep: nested.batch.select(x, keep), [X, TRUTH],
          [X, spec("N", dtype="?")], "nested.batch.select by a mask of shape (N,)",
          "nested.batch.select(x, keep)"),
    Wrong("slice", lambda x: x[:, 3], [X], [spec("N", 3)],
          "index is out of bounds for axis 1", "x[:, 3]"),
    Wrong("softmax", lambda x: nested.softmax(x, axis=1), [X], [spec("N")],
          "axis 1 is out of bounds for an array of 1", "nested.softmax(x, axis=1)"),
    Wrong("sort", lambda x: np.sort(x, axis=1), [X], [spec("N")],
          "axis 1 is out of bounds for an array of 1", "np.sort(x, axis=1)"),
    Wrong("take", lambda x, i: np.take(x, i, axis=1), [X, spec("M", dtype="i8")],
          [spec("N"), spec("M", dtype="i8")], "axis 1 is out of bounds", "np.take(x, i"),
    Wrong("take_along", lambda x, i: np.take_along_axis(x, i, axis=0),
          [X, spec("M", 4, dtype="i8")], [X, spec("M", 5, dtype="i8")],
          "(N, 4) and, in take_along_axis, (M, 5): axes 1 differ", "np.take_along_axis(x, i"),
    Wrong("transpose", lambda x: x.transpose(1, 0), [X], [spec("N", 4, 2)],
          "transpose of (N, 4, 2) by (1, 0): expected each of its 3 axes once", "x.transpose(1, 0)"),
    Wrong("unnest", lambda x, b: nested.attention(x, x, x, bias=b),
          [spec("N", "N", 2, 8), spec("N", "N", 2)], [spec("N", "N", 2, 8), spec("N", "N", 3)],
          "(N, N, 2, 8) and, in attention, (N, N, 3): axes 2 differ: 2 and 3", "nested.attention("),
    Wrong("variable", lambda x: nested.grad(lambda v: nested.batch.sum(v, axis=None))(x),
          [X], [spec("N", dtype="i8")], "is int64: expected a floating-point dtype", "nested.grad(",
          nested.TraceError),
]  # fmt: skip
