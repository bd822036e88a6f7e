# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Algebraic rewrites: less work, results as exact as the program's own order, isolated samples."""

import numpy as np
import pytest

import nested

LENGTHS = (5, 0, 1, 23, 60)
K, H = 64, 96


def transition(x, w):
    """A pair transition of which both results are used."""
    u, v = x @ w["u"], x @ w["v"]
    p = u[:, None, :] + v[None, :, :]
    q = p + nested.nn.swiglu(nested.layer_norm(p, w["scale"], w["offset"]), w)
    return x + nested.mean(q, axis=1) @ w["out"], q


def make_weights(random, mean=0.0):
    shapes = {
        "u": (K, K), "v": (K, K), "scale": (K,), "offset": (K,), "gate": (K, H), "up": (K, H),
        "down": (H, K), "out": (K, K),
    }  # fmt: skip
    w = {
        n: random.standard_normal(s) / np.sqrt(s[0] if len(s) > 1 else 4) for n, s in shapes.items()
    }
    w["u"] = w["u"] + mean / K
    w["v"] = w["v"] - mean / K
    return {n: a.astype(np.float32) for n, a in w.items()}


def error(results, reference):
    """The largest error of a sample relative to its largest value, over results and samples."""
    worst = 0.0
    for got, want in zip(results, reference):
        if want.size:
            worst = max(worst, np.abs(got - want).max() / np.abs(want).max())
    return worst


def evaluate(function, samples, w):
    """Every result of every sample, sample by sample, by NumPy."""
    return [part for x in samples for part in function(x, w)]


def compiled_results(function, samples, w):
    batch = nested.from_list(samples)
    parts = [[np.asarray(s) for s in result.to_list()] for result in function(batch, w)]
    return [part[i] for i in range(len(samples)) for part in parts]


@pytest.mark.parametrize("shift,mean", [(0, 0), (0, 30), (10, 0)])
def test_hoisting_is_as_exact_as_numpy(shift, mean):
    """Also where the terms have means that cancel, and where values are far from 0."""
    random = np.random.default_rng(7)
    w = make_weights(random, mean)
    samples = [random.standard_normal((n, K)).astype("f4") + np.float32(shift) for n in LENGTHS]
    wide = [x.astype("f8") for x in samples]
    exact = evaluate(transition, wide, {n: a.astype("f8") for n, a in w.items()})
    own = error(evaluate(transition, samples, w), exact)
    hoisted = error(compiled_results(nested.jit(transition), samples, w), exact)
    assert hoisted <= 2 * own
    plain = error(compiled_results(nested.jit(transition, reassociate=False), samples, w), exact)
    assert plain <= 2 * own


def test_each_rewrite_is_a_remark_and_can_be_turned_off():
    specs = (
        nested.spec("N", K),
        {n: nested.spec(*a.shape) for n, a in make_weights(np.random.default_rng(0)).items()},
    )
    remarks = nested.jit(transition).lower(*specs).compile().remarks
    hoisted = [r for r in remarks if "HoistLinear" in r and "Passed" in r]
    assert len(hoisted) == 2
    assert all(f"{2 * K * H} * N * N" in r for r in hoisted)
    off = nested.jit(transition, reassociate=False).lower(*specs).compile().remarks
    assert not any("HoistLinear" in r for r in off)
    exported = nested.export(transition, *specs, reassociate=False)
    assert not any("HoistLinear" in r for r in exported.remarks)


def test_hoisted_samples_stay_apart():
    """R4, R8: NaN stays in its sample; bits do not depend on the batch."""
    random = np.random.default_rng(1)
    w = make_weights(random)
    samples = [random.standard_normal((n, K)).astype("f4") for n in LENGTHS]
    function = nested.jit(transition)
    together = compiled_results(function, samples, w)
    for i, x in enumerate(samples):
        for alone, part in zip(compiled_results(function, [x], w), together[2 * i : 2 * i + 2]):
            assert alone.tobytes() == part.tobytes()
    samples[3] = samples[3].copy()
    samples[3][4, 5] = np.nan
    broken = compiled_results(function, samples, w)
    assert np.isnan(broken[6][4]).all()
    for i in (0, 1, 2, 4):
        for part, whole in zip(broken[2 * i : 2 * i + 2], together[2 * i : 2 * i + 2]):
            assert part.tobytes() == whole.tobytes()


@pytest.mark.parametrize("dtype,tolerance", [("f2", 2e-3), ("f8", 1e-13)])
def test_hoisting_in_other_precisions(dtype, tolerance):
    def f(x, w, s):
        p = (x[:, None, :] - 2 * x[None, :, :]) * s
        return p @ w, nested.layer_norm(p, s) @ w

    random = np.random.default_rng(2)
    w, s = (random.standard_normal(shape).astype(dtype) for shape in ((K, H), (K,)))
    w = w / np.asarray(np.sqrt(K), dtype)
    samples = [random.standard_normal((n, K)).astype(dtype) for n in LENGTHS]

    def exact(x):
        q = (x[:, None, :] - 2 * x[None, :, :]) * s.astype("f8")
        r = q - q.mean(-1, keepdims=True)
        r = r / np.sqrt((r * r).mean(-1, keepdims=True) + 1e-5) * s
        return q @ w.astype("f8"), r @ w.astype("f8")

    results = nested.jit(f)(nested.from_list(samples), w, s)
    for result, want in zip(results, zip(*(exact(x.astype("f8")) for x in samples))):
        assert error([np.asarray(a, "f8") for a in result.to_list()], want) < tolerance
