# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations and norms: compiled as on plain arrays, and as their formulas."""

import numpy as np
import pytest
from helpers import batch_of, check, raises

import nested
from nested import nn

ACTIVATIONS = [
    (nn.relu, {}), (nn.relu6, {}), (nn.leaky_relu, {}), (nn.leaky_relu, {"negative_slope": 0.3}),
    (nn.elu, {}), (nn.elu, {"alpha": 0.5}), (nn.selu, {}), (nn.celu, {}), (nn.celu, {"alpha": 2.0}),
    (nn.sigmoid, {}), (nn.logsigmoid, {}), (nn.silu, {}), (nn.mish, {}), (nn.gelu, {}),
    (nn.gelu, {"approximate": "tanh"}), (nn.softplus, {}), (nn.softplus, {"beta": 3.0}),
    (nn.softsign, {}), (nn.softshrink, {}), (nn.hardshrink, {}), (nn.tanhshrink, {}),
    (nn.hardtanh, {}), (nn.hardsigmoid, {}), (nn.hardswish, {}), (nn.glu, {}),
    (nn.threshold, {"threshold": 0.1, "value": 20.0}), (nn.softmax, {}), (nn.log_softmax, {}),
]  # fmt: skip


@pytest.mark.parametrize("activation, options", ACTIVATIONS)
def test_activations(activation, options, rng):
    x = batch_of(rng, (3, 0, 40), 6)
    got = check(lambda v: activation(v * 4, **options), x, tolerance=3e-6)
    assert got[0].dtype == np.float32


@pytest.mark.parametrize(
    "activation, at, want",
    [
        (nn.elu, [-1, 2], [np.expm1(-1), 2]), (nn.selu, [1], [1.0507009873554805]),
        (nn.hardswish, [-4, 0, 1, 4], [0, 0, 4 / 6, 4]), (nn.hardsigmoid, [-3, 0, 3], [0, 0.5, 1]),
        (nn.softplus, [0, 1000, -1000], [np.log(2), 1000, 0]),
        (nn.logsigmoid, [0, 1000, -1000], [-np.log(2), 0, -1000]),
        (nn.softshrink, [-1, 0.25, 1], [-0.5, 0, 0.5]), (nn.hardshrink, [-1, 0.25, 1], [-1, 0, 1]),
        (nn.mish, [0, 1], [0, np.tanh(np.log1p(np.e))]), (nn.relu6, [-1, 3, 9], [0, 3, 6]),
    ],
)  # fmt: skip
def test_known_values(activation, at, want):
    x = np.array(at, "f4")
    np.testing.assert_allclose(activation(x), want, rtol=1e-6)
    compiled = nested.jit(lambda v: activation(v))(nested.from_list([x]))
    np.testing.assert_allclose(compiled[0], want, rtol=1e-6)


def test_prelu(rng):
    x, w = batch_of(rng, (3, 0, 4), 6), np.linspace(0, 1, 6).astype("f4")
    check(lambda v, w: nn.prelu(v, w), x, w)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_norms(dtype, rng):
    x = batch_of(rng, (3, 1, 0, 40), 6, dtype=np.dtype(dtype))
    g, b = np.linspace(1, 2, 6).astype(dtype), np.linspace(-1, 1, 6).astype(dtype)
    tolerance = {"f4": 1e-5, "f8": 1e-12, "f2": 4e-3}[dtype]

    def f(v, g, b):
        return (
            nn.rms_norm(v, g), nn.rms_norm(v, g, b), nn.group_norm(v, 3, g, b), nn.group_norm(v, 1),
            nn.instance_norm(v), nn.instance_norm(v, g, b), nn.layer_norm(v, g, b),
            nn.normalize(v), nn.normalize(v, axis=0, ord=1),
        )  # fmt: skip

    for result in check(f, x, g, b, tolerance=tolerance):
        assert result.dtype == np.dtype(dtype)


def test_batch_norm(rng):
    xs = [rng.normal(3, 2, (n, 4)).astype("f4") for n in (5, 0, 30, 1)]
    x = nested.from_list(xs)
    mean, var = np.zeros(4, "f4"), np.ones(4, "f4")
    y, new_mean, new_var = nested.jit(lambda v, m, s: nn.batch_norm(v, m, s, training=True))(
        x, mean, var
    )
    rows = np.concatenate(xs).astype("f8")
    want = (rows - rows.mean(0)) / np.sqrt(rows.var(0) + 1e-5)
    np.testing.assert_allclose(y.values, want, atol=1e-5)
    np.testing.assert_allclose(new_mean, 0.1 * rows.mean(0), rtol=1e-5)
    np.testing.assert_allclose(new_var, 0.9 + 0.1 * rows.var(0, ddof=1), rtol=1e-5)
    # With the statistics of training, and of nothing at all.
    z = nested.jit(lambda v, m, s: nn.batch_norm(v, m, s))(x, new_mean, new_var)
    np.testing.assert_allclose(z.values, (rows - new_mean) / np.sqrt(new_var + 1e-5), atol=1e-5)
    empty = nested.from_list([np.zeros((0, 4), "f4")])
    y, new_mean, new_var = nested.jit(lambda v, m, s: nn.batch_norm(v, m, s, training=True))(
        empty, mean, var
    )
    assert y.values.shape == (0, 4) and np.isfinite(new_mean).all() and np.isfinite(new_var).all()


def test_wrong_uses(rng):
    x = batch_of(rng, (3, 2), 6)
    with raises(nested.ShapeError, "4 groups do not divide its 6 channels", line="group_norm"):
        nested.jit(lambda v: nn.group_norm(v, 4))(x)
    with raises(nested.TraceError, "rms_norm of int64: expected a floating-point dtype"):
        nested.jit(lambda v: nn.rms_norm(v.astype("i8")))(x)
    with raises(nested.ShapeError, "scale has shape (5,), expected (6,)"):
        nested.jit(lambda v: nn.instance_norm(v, np.ones(5, "f4")))(x)
    with pytest.raises(ValueError, match="the last axis must be static and even"):
        nested.jit(lambda v: nn.glu(v[:, :3]))(x)
