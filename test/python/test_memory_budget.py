# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jit(memory_budget=...): how many bytes temporaries may take decides what is computed again."""

import numpy as np
import pytest
from gradients import same
from helpers import raises

import nested

LENGTHS = [40, 0, 25]


def loss(w, x):
    """A transition of pairs: 128 -> 256 twice -> 128."""
    p = nested.layer_norm(x[:, None, :] * x[None, :, :])
    y = (np.tanh(p @ w["gate"]) * (p @ w["up"])) @ w["down"]
    return nested.batch.sum(nested.mean(y, axis=1) ** 2, axis=None)


def arguments(lengths=LENGTHS):
    rng = np.random.default_rng(0)
    w = {"gate": (128, 256), "up": (128, 256), "down": (256, 128)}
    w = {k: rng.standard_normal(shape).astype("f4") / 12 for k, shape in w.items()}
    x = [rng.standard_normal((n, 128)).astype("f4") for n in lengths]
    return w, nested.from_list(x, dims=("N", 128))


def step(budget=None, lengths=None):
    lengths = {"N": LENGTHS} if lengths is None else lengths
    options = {} if budget is None else {"memory_budget": (budget, lengths)}
    return nested.jit(nested.value_and_grad(loss), **options)


def test_both_ways():
    """What fits is kept, and saves work; the numbers stay the same."""
    pairs = sum(n * n for n in LENGTHS) * 256 * 4
    w, x = arguments()
    (value, want), plans = step()(w, x), {}
    for name, budget in (("large", 10 * pairs), ("one", 1.6 * pairs), ("small", 0.4 * pairs)):
        budget = int(budget)
        function = step(budget)
        found, gradients = function(w, x)
        assert abs(found - value) <= 1e-5 * abs(value)
        for k in want:
            same(gradients[k], want[k], 1e-4, k)
        plans[name] = function.plan(LENGTHS)
    large, one, small = plans["large"], plans["one"], plans["small"]
    assert 2 * pairs <= large.temp_bytes < 2.3 * pairs
    assert pairs <= one.temp_bytes < 1.3 * pairs
    assert small.temp_bytes < 0.4 * pairs
    assert large.flops < one.flops < small.flops


def test_lengths_in_every_form():
    w, x = arguments((3, 2))
    for lengths in ([3, 2], {"N": [3, 2]}, {"x": [3, 2]}):
        assert "lengths = {N = array<i64: 3, 2>}" in step(1 << 20, lengths).lower(w, x).text()
    text = step("1.5 MB").lower(w, x).text("trace")
    assert "ragged.memory_budget = {bytes = 1500000, lengths" in text
    # Without ragged axes there is the number of samples.
    shift = nested.jit(lambda x: x + 1, memory_budget=("1 kB", 7))
    assert "batch = 7" in shift.lower(nested.spec(4, batched=True)).text("trace")


def test_another_budget_is_another_program_in_the_cache():
    w, x = arguments((3, 2))
    traces = {step(b).lower(w, x).text("trace") for b in (None, "1 MB", "2 MB")}
    assert len(traces) == 3


def test_export(tmp_path):
    specs = {k: nested.spec(*v.shape) for k, v in arguments()[0].items()}
    sizes = {}
    for budget in ("100 MB", "1 MB"):
        path = tmp_path / "loss.so"
        nested.export(loss, specs, nested.spec("N", 128), gradients=0,
                      memory_budget=(budget, {"N": LENGTHS})).save(path)  # fmt: skip
        entries = nested.load(path)
        sizes[budget] = entries.backward.plan(LENGTHS).temp_bytes
    assert sizes["1 MB"] < 1e6 < sizes["100 MB"]


def test_errors():
    w, x = arguments((3, 2))
    with raises(ValueError, "memory_budget must be (bytes, lengths)"):
        nested.jit(loss, memory_budget="64 MB")
    for size in (-1, "64 miles", 1.5, True):
        with raises(ValueError, "memory_budget must be a number of bytes or a text like '64 MB'"):
            nested.jit(loss, memory_budget=(size, [3]))
    with raises(nested.ArgumentError, "no symbol or batched argument 'M'; there are N, x"):
        step(1, {"M": [3]})(w, x)
    with raises(nested.ArgumentError, "memory_budget has no lengths for N"):
        step(1, {})(w, x)
    with raises(nested.ArgumentError, "memory_budget has lengths below 0"):
        step(1, [-3])(w, x)
    with raises(nested.CompileError, "expected temporaries of at most 10 bytes, as "
                "'ragged.memory_budget' says, but got", "bytes are here:"):  # fmt: skip
        step(10)(w, x)


@pytest.mark.parametrize("budget", ["1500 B", "1 GB"])
def test_sizes_from_data(budget):
    """The size of a selection is at most that of what it is from."""

    def chosen(w, x):
        y = nested.layer_norm(x[x[:, 0] > 0] @ w)
        return nested.batch.sum(np.tanh(y @ w) ** 2, axis=None)

    rng = np.random.default_rng(0)
    w = rng.standard_normal((8, 8))
    x = nested.from_list([rng.standard_normal((n, 8)) for n in (3, 0, 4)])
    want = nested.grad(chosen)(w, x)
    found = nested.jit(nested.grad(chosen), memory_budget=(budget, [3, 0, 4]))(w, x)
    same(found, want, 1e-12, "gradient")
