# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Donated arguments: results in their memory, and errors where they are used again."""

import resource

import numpy as np
import pytest
from helpers import raises

import nested
from nested import optim


def loss(w, x, y):
    h = np.tanh(x @ w["a"])
    return nested.batch.mean((nested.mean(h @ w["b"], axis=0) - y) ** 2, axis=None)


def parameters():
    rng = np.random.default_rng(0)
    return {"a": rng.normal(size=(5, 64)).astype("f4"), "b": rng.normal(size=(64, 3)).astype("f4")}


def batch_of(lengths, seed=0):
    rng = np.random.default_rng(seed)
    x = nested.from_list([rng.normal(size=(n, 5)).astype("f4") for n in lengths], dims=("N", 5))
    y = nested.from_list([rng.normal(size=3).astype("f4") for _ in lengths], ragged=())
    return x, y


def make_step(optimizer, **options):
    @nested.jit(**options)
    def step(params, state, x, y, rate):
        value, gradients = nested.value_and_grad(loss)(params, x, y)
        params, state = optimizer.update(gradients, state, params, rate)
        return value, params, state

    return step


RATE = np.float32(1e-2)


def test_results_take_the_memory():
    adam = optim.adam()
    step, kept = make_step(adam, donate=("params", "state")), make_step(adam)
    w, state = parameters(), adam.init(parameters())
    want_w, want_state = parameters(), adam.init(parameters())
    memory = {k: v.ctypes.data for k, v in w.items()}
    for k in range(5):
        x, y = batch_of((3, 0, 7 + k), k)
        value, w, state = step(w, state, x, y, RATE)
        want, want_w, want_state = kept(want_w, want_state, x, y, RATE)
        assert value == want
        for name in w:
            np.testing.assert_array_equal(w[name], want_w[name])
            assert w[name].ctypes.data == memory[name] != want_w[name].ctypes.data
    plan, other = step.plan({"N": [3, 0, 7]}), kept.plan({"N": [3, 0, 7]})
    assert plan.result_bytes == other.result_bytes and plan.staging_bytes > 0


def test_used_again():
    sgd = optim.sgd()
    step = make_step(sgd, donate=0)
    w, (x, y) = parameters(), batch_of((2, 3))
    _, updated, _ = step(w, sgd.init(w), x, y, RATE)
    with raises(nested.ArgumentError, "argument `params.a` was donated to an earlier call",
                "expected what that call returned"):  # fmt: skip
        step(w, sgd.init(updated), x, y, RATE)
    with raises(nested.ArgumentError, "argument `w` was donated"):
        nested.jit(lambda x, w: x @ w)(x, w["a"])
    step(updated, sgd.init(updated), x, y, RATE)


def test_a_batch():
    shift = nested.jit(lambda x, by: (x + by, x.sum(0)), donate="x")
    x, _ = batch_of((2, 0, 3))
    values, before = x.values, x.values.copy()
    out, _ = shift(x, np.float32(2))
    np.testing.assert_array_equal(out.values, before + 2)
    assert np.shares_memory(out.values, values) and out.structure == x.structure
    for gone in (x, values):
        with raises(nested.ArgumentError, "was donated"):
            nested.jit(lambda x, y: y + x.sum())(gone, nested.from_list([np.ones(2)]))


def test_names_in_the_nest_come_first():
    """Two of one shape and dtype: each goes to the result with its name."""

    def f(w, x):
        return {"b": w["b"] * 2, "a": w["a"] + nested.batch.sum(x, axis=None)}, x.sum()

    swap = nested.jit(f, donate="w")
    w = {"a": np.ones((4, 4)), "b": np.full((4, 4), 3.0)}
    place = {k: v.ctypes.data for k, v in w.items()}
    out, _ = swap(w, nested.from_list([np.ones(1)]))
    assert {k: v.ctypes.data for k, v in out.items()} == place


def test_errors():
    sgd = optim.sgd()
    x, y = batch_of((2, 3))
    step = make_step(sgd, donate="params")
    w = parameters()
    w["a"].flags.writeable = False
    with raises(nested.ArgumentError, "argument `params.a` is donated, but is read-only"):
        step(w, sgd.init(w), x, y, RATE)
    w = parameters() | {"a": np.asfortranarray(parameters()["a"])}
    with raises(nested.ArgumentError, "argument `params.a` is donated, but is not contiguous"):
        step(w, sgd.init(w), x, y, RATE)
    with raises(nested.TraceError, "argument `y` is donated, but f returns no other result of its "
                "shape and dtype: y: (3,) f32 per sample"):  # fmt: skip

        def f(x, y):
            return x * 2

        nested.jit(f, donate="y")(x, y)
    with raises(ValueError, "donate has 'z', which is no parameter of step: it has params, state"):
        make_step(sgd, donate="z")
    square = np.ones((4, 4))
    both = nested.jit(lambda a, b, x: (a + 1, b * 2, x.sum()), donate=("a", "b"))
    with raises(nested.ArgumentError, "overlaps"):
        both(square, square, nested.from_list([np.ones(1)]))


@pytest.mark.parametrize("donate", [(), ("params", "state")])
def test_two_hundred_steps_take_no_more_memory(donate):
    """Lengths and batch size change at every step; one compilation, no growth."""
    adam = optim.adamw()
    step = make_step(adam, donate=donate)
    w, rng, peaks = parameters(), np.random.default_rng(2), []
    state = adam.init(w)
    for k in range(200):
        x, y = batch_of(rng.integers(0, 60, rng.integers(1, 9)), k)
        _, w, state = step(w, state, x, y, RATE)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert step.compilations == 1
    assert peaks[-1] - peaks[40] < 4096  # kB
