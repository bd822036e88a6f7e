# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives in f32, f16 and bf16, against those in f64 of the same numbers."""

import ml_dtypes
import numpy as np
import pytest
import test_gradients
import test_gradients_movement
import test_gradients_ordered
from gradients import LENGTHS, numbers, same, squares
from oracle import Program

import nested

# Of the largest entry: some roundings of each.
HALVES = {"f16": (np.float16, 0.01), "bf16": (ml_dtypes.bfloat16, 0.06)}
PROGRAMS = {
    **{name: test_gradients.PROGRAMS[name] for name in (
        "running_sum", "running_prod", "running_max_backwards", "running_sum_exclusive", "softmax")},
    **{name: test_gradients_movement.PROGRAMS[name] for name in (
        "concat", "concat_columns", "slice", "slice_columns", "pad", "steps", "flip", "take_rows",
        "take_along")},
    **{name: test_gradients_ordered.PROGRAMS[name] for name in (
        "sort", "sort_pairs", "sort_descending", "topk", "topk_both", "scatter_add", "scatter_set",
        "scatter_max", "segments", "select", "select_then", "batch_max", "batch_max_columns",
        "batch_min_pairs", "table", "table_pairs", "attention", "attention_causal", "attention_biased",
        "attention_masked", "attention_of_itself", "attention_shared")},
}  # fmt: skip


ALL = {**test_gradients.PROGRAMS, **test_gradients_movement.PROGRAMS,
       **test_gradients_ordered.PROGRAMS}  # fmt: skip
CASES = [(name, kind) for kind in HALVES for name in PROGRAMS] + [(name, "f32") for name in ALL]


def gradients_of(function, specs, args, dtype):
    floats = [k for k, s in enumerate(specs) if s.dtype.kind == "f"]

    def loss(*args):
        return squares(function(*args))

    given = []
    for s, a in zip(specs, args):
        kind = dtype if s.dtype.kind == "f" else s.dtype
        given.append(nested.from_list([x.astype(kind) for x in a], dims=s.dims, dtype=kind)
                     if s.batched else np.asarray(a).astype(kind))  # fmt: skip
    found = nested.grad(loss, tuple(floats))(*given)
    return [g.values if isinstance(g, nested.NestedTensor) else np.asarray(g) for g in found]


def rounded(s, x, dtype):
    """Numbers that both types have: then both sort and select alike."""
    if s.dtype.kind != "f":
        return x.astype(s.dtype)
    return x.astype(dtype).astype(np.float64)


@pytest.mark.parametrize("name, kind", CASES)
def test_against_f64(name, kind):
    function, specs = ALL[name]
    dtype, tolerance = HALVES.get(kind, (np.float32, 1e-5))
    args = [[rounded(s, np.asarray(x), dtype) for x in a] if s.batched
            else rounded(s, np.asarray(a), dtype)
            for s, a in zip(specs, numbers(specs, LENGTHS["mixed"],
                                           positive=name in test_gradients.POSITIVE))]  # fmt: skip
    narrow = gradients_of(function, specs, args, dtype)
    wide = gradients_of(function, specs, args, np.float64)
    for got, want in zip(narrow, wide):
        assert got.dtype == dtype and got.shape == want.shape
        same(got, want, tolerance, f"{name} in {kind}")


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("what", ["groups", "scan"])
def test_ops_of_programs_in_mlir(what, kind):
    """nest and unnest; a scan with a region of its own."""
    dtype, tolerance = HALVES[kind]
    rng = np.random.default_rng(3)

    def draw(*sizes):
        return [rng.standard_normal((n, 2)).astype(dtype).astype(np.float64) for n in sizes]

    if what == "groups":
        _, backward = test_gradients_ordered.groups_text()
        counts = [np.array(c, np.int64) for c in ([2, 0, 1], [], [4])]
        args = [draw(3, 0, 1), draw(3, 0, 4), counts]
    else:
        _, backward = test_gradients_ordered.scan_text("gated")
        args = [draw(3, 0, 5) for _ in range(5)]
    wide = Program(backward).run(args)
    narrow = Program(backward.replace("f64", kind)).run(
        [[x.astype(dtype) if x.dtype.kind == "f" else x for x in a] for a in args]
    )
    for got, want in zip(narrow, wide):
        for x, y in zip(got.samples, want.samples):
            same(x, y, tolerance, f"{what} in {kind}")


# What all rows of the batch add to; a sum in the type itself would stop at 2048 or 256.
COUNT = 3000
SHARED = {
    # name: (function of the shared value and x, the value, its gradient)
    "number": (lambda a, x: x * a, np.ones(()), COUNT),
    "vector": (lambda a, x: x[:, None] * a, np.ones(2), [COUNT, COUNT]),
    "weights": (lambda a, x: x[:, None] @ a, np.ones((1, 2)), [[COUNT, COUNT]]),
    "table": (lambda t, x: t[nested.arange(x.shape[0]) * 0 + 1] * x, np.ones(3), [0, COUNT, 0]),
    "long_table": (lambda t, x: t[nested.arange(x.shape[0]) * 0 + 1] * x, np.ones(40),
                   [0, COUNT] + [0] * 38),
}  # fmt: skip


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("name", SHARED)
def test_shared_gradients_are_summed_in_f32(name, kind):
    """R6."""
    function, value, want = SHARED[name]
    dtype = HALVES[kind][0]
    x = nested.from_list([np.ones(n, dtype) for n in (COUNT - 1000, 0, 1000)])
    found = nested.grad(lambda a, x: nested.batch.sum(function(a, x), axis=None))(
        value.astype(dtype), x
    )
    # Rounded once.
    np.testing.assert_array_equal(np.asarray(found), np.asarray(want, "f8").astype(dtype))


@pytest.mark.parametrize("kind", HALVES)
def test_attention_sums_queries_in_f32(kind):
    """Every query adds to the gradients of the keys and values of its own sample."""
    dtype, count = HALVES[kind][0], 3000
    q = nested.from_list([np.zeros((n, 1, 2), dtype) for n in (count, 5)], dims=("N", 1, 2))
    v = nested.from_list([np.ones((m, 1, 2), dtype) for m in (2, 1)], dims=("M", 1, 2))
    found = nested.grad(lambda v, q: nested.batch.sum(nested.attention(q, v, v), axis=None))(v, q)
    same(found[0], np.full((2, 1, 2), count / 2), HALVES[kind][1] / 4, "values")
    same(found[1], np.full((1, 1, 2), 5.0), 0, "values of the other sample")
