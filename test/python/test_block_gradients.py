# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The single-pair-single block in three layouts: results, loss, gradients, an update, against goldens."""

import json
from pathlib import Path

import block_goldens as goldens
import numpy as np
import pytest

import nested
from nested import losses, optim

KNOWN = json.loads((Path(__file__).parent / "goldens/block.json").read_text())


def block(w, x, z):
    p = (x @ w["u"])[..., :, None, :] + (z @ w["v"])[..., None, :, :]
    y = nested.layer_norm(p, w["scale"], w["offset"], eps=goldens.EPS)
    p = p + (nested.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]
    return x + nested.mean(p, axis=-2) @ w["g"], p


def loss(w, x, z, alpha, beta):
    y, p = block(w, x, x if z is None else z)
    return losses.weighted_squares(y, alpha) + losses.weighted_squares(p, beta)


def test_the_goldens_are_what_the_script_makes():
    pytest.importorskip("torch")
    for layout in goldens.LAYOUTS:
        for k, known in enumerate(KNOWN[layout]):
            made = goldens.reference(goldens.parameters(), layout, k)
            assert made.keys() == known.keys()
            for name in made:
                np.testing.assert_allclose(made[name], known[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layout", goldens.LAYOUTS)
@pytest.mark.parametrize("dtype, tolerance", [("f8", 1e-9), ("f4", 1e-4)])
def test_block(layout, dtype, tolerance):
    wrt = (0, 1, 2) if layout == "rectangular" else (0, 1)
    sgd = optim.sgd()

    @nested.jit
    def step(w, x, z, alpha, beta, rate):
        results = block(w, x, x if z is None else z)
        value, found = nested.value_and_grad(loss, wrt)(w, x, z, alpha, beta)
        updated, _ = sgd.update(found[0], {}, w, rate)
        return results, value, found, updated

    w = {k: v.astype(dtype) for k, v in goldens.parameters().items()}
    axis = 1 if layout == "channels" else 0
    for k, known in enumerate(KNOWN[layout]):
        rows, columns = goldens.samples(layout, k)
        alpha, beta = (
            nested.from_list([np.asarray(v, dtype)[()] for v in values], ragged=())
            for values in goldens.weights(len(rows))
        )
        x = nested.from_list([r.astype(dtype) for r in rows], ragged=(axis,))
        z = None
        if layout == "rectangular":
            z = nested.from_list([c.astype(dtype) for c in columns], ragged=(0,))
        rate = np.asarray(goldens.RATE, dtype)[()]
        results, value, found, updated = step(w, x, z, alpha, beta, rate)
        assert np.isclose(value, known["loss"], rtol=tolerance)
        arrays = dict(found[0]) | {f"{name} after": array for name, array in updated.items()}
        arrays["single"], arrays["pair"] = [goldens.joined(r.to_list()) for r in results]
        arrays["x"] = goldens.joined(found[1].to_list())
        if layout == "rectangular":
            arrays["z"] = goldens.joined(found[2].to_list())
        for name, array in arrays.items():
            got, scale = goldens.summary(array), max(known[name][0], 1e-3)
            np.testing.assert_allclose(
                got, known[name], rtol=0, atol=tolerance * scale, err_msg=f"{name}, batch {k}"
            )
        assert arrays.keys() == known.keys() - {"loss"}
    assert step.compilations == 1
