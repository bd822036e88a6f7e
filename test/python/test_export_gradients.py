# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts with the entries forward, backward and forward_backward."""

import numpy as np
import pytest
from helpers import raises

import nested

WEIGHTS = {"u": (6, 4), "v": (6, 4), "g": (4, 6)}
SPECS = {name: nested.spec(*shape, dtype="f8") for name, shape in WEIGHTS.items()}
NAMED, UNNAMED = (nested.spec(n, 6, dtype="f8") for n in ("N", None))


def block(x, w):
    p = (x @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
    return x + nested.mean(nested.nn.silu(p), axis=1) @ w["g"], p


def loss(x, w):
    single, pair = block(x, w)
    return nested.batch.sum(single**2, axis=None) + nested.batch.mean(pair, axis=None)


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(1)
    return {name: rng.normal(size=shape) for name, shape in WEIGHTS.items()}


def batch_of(*lengths):
    rng = np.random.default_rng(len(lengths))
    rows = rng.normal(size=(sum(lengths), 6))
    return nested.from_values(rows, np.array(lengths, int), dims=("N", 6))


def names(function):
    return [result["name"] for result in function.manifest["results"]]


@pytest.mark.parametrize("x", [batch_of(3, 0, 5), batch_of(), batch_of(1)], ids=len)
def test_of_a_number(x, weights, tmp_path):
    path = tmp_path / "loss.so"
    nested.export(loss, NAMED, SPECS, gradients=(0, 1)).save(path)
    module = nested.load(path)
    assert module.entries == ["forward", "backward", "forward_backward"]
    value, (dx, dw) = nested.value_and_grad(loss, (0, 1))(x, weights)
    assert module.forward(x, weights) == value
    assert names(module.backward) == [
        "gradients.w.g", "gradients.w.u", "gradients.w.v", "gradients.x",
    ]  # fmt: skip
    assert names(module.forward_backward)[-1] == "results"
    for got in (module.backward(x, weights), module.forward_backward(x, weights)[:4]):
        for array, name in zip(got, "guv"):
            np.testing.assert_array_equal(array, dw[name])
        assert got[3] == dx
    assert module.forward_backward(x, weights)[4] == value


@pytest.mark.parametrize("kind", [NAMED, UNNAMED])
def test_of_arrays_with_cotangents(kind, weights):
    module = nested.load(nested.export(block, kind, SPECS, gradients=1).bytes)
    x = batch_of(3, 0, 5)
    single, pair = nested.jit(block)(x, weights)
    cotangents = (single * 2, pair * pair)
    _, want = nested.vjp(block, 1)(cotangents, x, weights)
    *found, one, two = module.forward_backward(x, weights, cotangents=cotangents)
    assert one == single and two == pair
    for array, again, name in zip(
        found, module.backward(x, weights, cotangents=cotangents), "guv", strict=True
    ):
        np.testing.assert_array_equal(array, want[name])
        np.testing.assert_array_equal(again, want[name])


def test_lengths_of_cotangents_are_checked(weights):
    module = nested.load(nested.export(block, NAMED, SPECS, gradients=1).bytes)
    x, other = batch_of(3, 0, 5), batch_of(3, 1, 5)
    single, pair = module.forward(other, weights)
    with raises(nested.ArgumentError, "cotangents.0", "sample 1"):
        module.backward(x, weights, cotangents=(single, pair))


def test_integers_beside_have_no_cotangents(weights):
    def f(x, w):
        return np.argmax(x, axis=0), x @ w["u"]

    module = nested.load(nested.export(f, NAMED, SPECS, gradients=0).bytes)
    assert [a["name"] for a in module.backward.manifest["args"]][-1] == "cotangents.1"


def test_errors():
    with raises(ValueError, "entries with gradients have names"):
        nested.export(loss, NAMED, SPECS, gradients=1, name="f")
    with raises(nested.TraceError, "argnums has 7"):
        nested.export(loss, NAMED, SPECS, gradients=7)
    with raises(nested.TraceError, "returns nothing of a floating-point dtype"):
        nested.export(lambda x: np.argmax(x, axis=0), NAMED, gradients=0)
    with raises(nested.RequirementError, "required 'kernels < 1'"):
        nested.export(loss, NAMED, SPECS, gradients=1, require="kernels < 1")
