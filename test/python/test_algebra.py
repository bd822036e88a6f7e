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


def only_singles(x, w):
    return (transition(x, w)[0],)


@pytest.mark.parametrize("mean", [0, 30])
def test_reducing_first_is_as_exact_as_numpy(mean):
    """Where terms cancel, their own rounding is what there is; a product's order matters then."""
    random = np.random.default_rng(8)
    w = make_weights(random, mean)
    samples = [random.standard_normal((n, K)).astype("f4") for n in LENGTHS]
    wide = [x.astype("f8") for x in samples]
    exact = evaluate(only_singles, wide, {n: a.astype("f8") for n, a in w.items()})
    function = nested.jit(only_singles, require="pair never stored")
    first = error(compiled_results(function, samples, w), exact)
    if mean == 0:
        assert first <= 2 * error(evaluate(only_singles, samples, w), exact)
    plain = nested.jit(only_singles, reassociate=False)
    assert first <= 1.25 * error(compiled_results(plain, samples, w), exact)


def test_reduced_pairs_are_never_mapped():
    specs = (
        nested.spec("N", K),
        {n: nested.spec(*a.shape) for n, a in make_weights(np.random.default_rng(0)).items()},
    )
    lowered = nested.jit(only_singles).lower(*specs)
    remarks = lowered.compile().remarks
    assert any("ReduceFirst" in r and "Passed" in r for r in remarks)
    pairs = lowered.text("kernels").split("space [N, N]")[1].split("ragged.tile_yield")[0]
    assert "linalg.matmul" not in pairs


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_reductions_of_nothing(kind):
    """R5: terms that do not have the axis count as often as it says, which may be never."""
    reduce = getattr(nested, kind)

    def f(x, y, w, b):
        p = x[:, None, :] - 3 * y[None, :, :] + nested.linear(np.exp(x[:, None] * y[None]), w, b)
        return reduce(p, axis=1), reduce(p, axis=0), reduce(p, axis=(0, 1))

    random = np.random.default_rng(3)
    w, b = random.standard_normal((8, 8)).astype("f4"), random.standard_normal(8).astype("f4")
    sizes = [(3, 0), (0, 4), (0, 0), (2, 5), (1, 1)]
    xs, ys = ([random.standard_normal((s[k], 8)).astype("f4") for s in sizes] for k in (0, 1))
    compiled = nested.jit(f)
    results = compiled(nested.from_list(xs), nested.from_list(ys), w, b)
    for i, (x, y) in enumerate(zip(xs, ys)):
        x, y = x.astype("f8"), y.astype("f8")
        p = x[:, None, :] - 3 * y[None] + np.exp(x[:, None] * y[None]) @ w.astype("f8") + b
        for got, axes in zip(results, (1, 0, (0, 1))):
            total = p.sum(axes)
            count = np.prod([p.shape[a] for a in np.atleast_1d(axes)])
            want = total if kind == "sum" else total / max(count, 1)
            np.testing.assert_allclose(np.asarray(got[i]), want, rtol=2e-5, atol=2e-5)
    remarks = (
        compiled.lower(nested.spec("N", 8), nested.spec("M", 8), nested.spec(8, 8), nested.spec(8))
        .compile()
        .remarks
    )
    assert sum("ReduceFirst" in r and "Passed" in r for r in remarks) == 3


def test_extrema_of_repeated_values():
    def f(x, y):
        p = x[:, None, :] + 0 * y[None, :, :]
        return nested.max(np.broadcast_to(x[:, None, :], p.shape), axis=1)

    xs = [np.arange(6, dtype="f4").reshape(2, 3) - 9, np.ones((1, 3), "f4")]
    ys = [np.zeros((4, 3), "f4"), np.zeros((0, 3), "f4")]
    result = nested.jit(f)(nested.from_list(xs), nested.from_list(ys))
    np.testing.assert_array_equal(result[0], xs[0])
    np.testing.assert_array_equal(result[1], np.zeros((1, 3)))


def test_differences_that_cancel():
    """Sums that are moved apart cancel to the rounding of their terms; not where that is turned off."""

    def f(x):
        return nested.sum(x[:, None, :] - x[None, :, :], axis=(0, 2))

    x = nested.from_list(
        [np.random.default_rng(k).normal(size=(1, 4)).astype("f4") for k in range(50)]
    )
    exact = nested.jit(f, reassociate=False)(x)
    assert not exact.values.any()
    np.testing.assert_allclose(nested.jit(f)(x).values, 0, atol=1e-6)
