# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jit(fuse=...): what is put into one kernel, by cost, never, or always."""

import numpy as np
import pytest
from helpers import raises

import nested
from nested import _compile

LENGTHS = [5, 0, 3]


def centre(x):
    """The second kernel reads exponentials, or makes them again."""
    e = np.exp(x)
    return e - np.mean(e, axis=0, keepdims=True)


def loss(w, x):
    p = np.tanh(x[:, None, :] * x[None, :, :]) @ w
    return nested.batch.sum(nested.mean(p, axis=1) ** 2, axis=None)


def batch(features):
    rng = np.random.default_rng(0)
    samples = [rng.standard_normal((n, features)).astype("f4") for n in LENGTHS]
    return nested.from_list(samples, dims=("N", features))


def test_temporaries():
    """Never: all values but the results are stored. Always: of this program no rows are."""
    bytes_of = {}
    for fuse in _compile.FUSE:
        f = nested.jit(centre, fuse=fuse)
        for got, x in zip(f(batch(256)).to_list(), batch(256).to_list()):
            assert got.shape == x.shape
            if not len(x):
                continue
            np.testing.assert_allclose(got, centre(x), rtol=1e-5, atol=1e-6)
        bytes_of[fuse] = f.plan([400, 100]).temp_bytes
    rows = 500 * 256 * 4
    assert bytes_of["always"] < rows / 10
    assert rows <= bytes_of["cost"] <= bytes_of["never"]


@pytest.mark.parametrize("fuse", _compile.FUSE)
def test_gradients(fuse):
    """The backward recomputes as it is told; the numbers stay the same."""
    w, x = np.eye(8, dtype="f4") / 2, batch(8)
    value, gradient = nested.jit(nested.value_and_grad(loss), fuse=fuse)(w, x)
    want, exact = nested.jit(nested.value_and_grad(loss))(w, x)
    np.testing.assert_allclose(value, want, rtol=1e-5)
    np.testing.assert_allclose(gradient, exact, rtol=1e-4, atol=1e-6)


def test_export():
    """Operations apart are more kernels than the fold and what reads it."""
    made = {fuse: nested.export(centre, nested.spec("N", 8), fuse=fuse) for fuse in _compile.FUSE}
    counts = {fuse: e.text("kernels").count('ragged.kernel "') for fuse, e in made.items()}
    assert counts["cost"] == counts["always"] == 2 < counts["never"]


def test_wrong():
    with raises(ValueError, "fuse must be one of cost, never, always, not 'maybe'"):
        nested.jit(centre, fuse="maybe")
    with raises(ValueError, "fuse must be one of cost, never, always, not True"):
        nested.export(centre, nested.spec("N", 8), fuse=True)
