# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses and optimisers: against NumPy, compiled and plain, and over many steps."""

import gc

import numpy as np
import pytest
from helpers import raises

import nested
from nested import losses, optim

LENGTHS = [3, 0, 5, 1]


def ragged(xs):
    return nested.from_list(list(xs))


def draw(seed=0, features=4):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, features)) for n in LENGTHS]


def reduced(values, masks, reduction):
    """The documented meaning, in a loop."""
    kept = [v[m] if m is not None else v.ravel() for v, m in zip(values, masks)]
    if reduction == "sum":
        return sum(k.sum() for k in kept)
    if reduction == "entries":
        return sum(k.sum() for k in kept) / max(1, sum(k.size for k in kept))
    return np.mean([k.sum() / max(1, k.size) for k in kept])


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


ELEMENTWISE = {
    "mse": (lambda p, t, **k: losses.mse(p, t, **k), lambda p, t: (p - t) ** 2),
    "smooth_l1": (
        lambda p, t, **k: losses.smooth_l1(p, t, beta=0.7, **k),
        lambda p, t: np.where(np.abs(p - t) < 0.7, (p - t) ** 2 / 1.4, np.abs(p - t) - 0.35),
    ),
    "bce": (
        lambda p, t, **k: losses.bce_with_logits(p, (t > 0) * 1.0, **k),
        lambda p, t: softplus(p) - p * (t > 0),
    ),
    "bce_weighted": (
        lambda p, t, **k: losses.bce_with_logits(p, (t > 0) * 1.0, pos_weight=3.0, **k),
        lambda p, t: 3 * (t > 0) * softplus(-p) + (t <= 0) * softplus(p),
    ),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize("reduction", ["entries", "samples", "sum"])
@pytest.mark.parametrize("masked", [False, True])
def test_elementwise_losses(name, reduction, masked):
    function, formula = ELEMENTWISE[name]
    p, t = draw(1), draw(2)
    masks = [np.random.default_rng(k).random(x.shape) > 0.4 if masked else None
             for k, x in enumerate(p)]  # fmt: skip
    expected = reduced([formula(a, b) for a, b in zip(p, t)], masks, reduction)
    where = [ragged(masks)] if masked else []

    def loss(p, t, *where):
        return function(p, t, reduction=reduction, where=where[0] if where else None)

    value, g = nested.value_and_grad(loss)(ragged(p), ragged(t), *where)
    assert np.isclose(value, expected, rtol=1e-12)
    if masked:
        for i, m in enumerate(masks):
            assert (g[i][~m] == 0).all()


def test_losses_of_single_entries_and_extremes():
    none = nested.jit(lambda p, t: losses.mse(p, t, reduction="none"))(
        ragged(draw(1)), ragged(draw(2))
    )
    assert np.allclose(none[2], (draw(1)[2] - draw(2)[2]) ** 2)
    far = ragged([np.array([-1e4, 1e4, 0.0])])
    value, g = nested.value_and_grad(lambda x, t: losses.bce_with_logits(x, t))(far, far * 0 + 1)
    assert np.isclose(value, (1e4 + np.log(2)) / 3) and np.isfinite(g.values).all()
    assert losses.mse(np.array([1.0, 2.0]), np.array([0.0, 0.0])) == 2.5
    with raises(ValueError, "reduction must be one of entries, samples, sum, none, but got 'avg'"):
        losses.mse(np.ones(2), np.ones(2), reduction="avg")
    with raises(ValueError, "beta must be above 0"):
        losses.smooth_l1(np.ones(2), np.ones(2), beta=0)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("ignore", [None, -1])
def test_cross_entropy(smoothing, ignore):
    rng = np.random.default_rng(3)
    logits, labels = draw(4, 6), [rng.integers(0, 6, n) for n in LENGTHS]
    if ignore is not None:
        for k in labels:
            k[::2] = ignore
    values, masks = [], []
    for z, k in zip(logits, labels):
        logp = z - np.log(np.exp(z - z.max(-1, keepdims=True, initial=-9)).sum(-1, keepdims=True))
        logp -= z.max(-1, keepdims=True, initial=-9)
        picked = logp[np.arange(len(k)), np.maximum(k, 0)]
        values.append(-(1 - smoothing) * picked - smoothing * logp.mean(-1))
        masks.append(k != -1)
    for reduction in ("entries", "samples", "sum"):

        def loss(z, k, reduction=reduction):
            return losses.cross_entropy(z, k, ignore, smoothing, reduction=reduction)

        value, g = nested.value_and_grad(loss)(ragged(logits), ragged(labels))
        assert np.isclose(value, reduced(values, masks, reduction), rtol=1e-12)
        # The gradient of every entry adds up to 0, that of ignored ones is 0.
        assert np.allclose(g.values.sum(-1), 0, atol=1e-12)
        for i, m in enumerate(masks):
            assert (g[i][~m] == 0).all() and (np.abs(g[i][m]).sum(-1) > 0).all()
    one = logits[2]
    plain = losses.cross_entropy(one, np.maximum(labels[2], 0))
    assert np.isclose(plain, nested.jit(lambda z, k: losses.cross_entropy(z, k))(
        ragged([one]), ragged([np.maximum(labels[2], 0)])))  # fmt: skip


def test_cross_entropy_of_nothing_and_of_wrong_labels():
    f = nested.value_and_grad(lambda z, k: losses.cross_entropy(z, k, ignore_index=-100))
    value, g = f(ragged(draw(4, 6)), ragged([np.full(n, -100) for n in LENGTHS]))
    assert value == 0 and (g.values == 0).all()
    with raises(nested.DataError):
        f(ragged(draw(4, 6)), ragged([np.full(n, 6) for n in LENGTHS]))
    with raises(nested.TraceError, "cross_entropy needs integer labels, but got float64"):
        f(ragged(draw(4, 6)), ragged([np.ones(n) for n in LENGTHS]))
    with raises(nested.ShapeError, "expected a static last axis of classes"):
        f(ragged(draw(4, 6)), ragged([np.ones((n, 6), int) for n in LENGTHS]))
    with raises(ValueError, "label_smoothing must be from 0 to 1"):
        losses.cross_entropy(np.ones((1, 2)), np.zeros(1, int), label_smoothing=2)


def test_the_loss_of_two_results():
    """danling.md section 4: weights per sample, entries of all samples."""
    single, pair = draw(1), [np.random.default_rng(n).standard_normal((n, n, 2)) for n in LENGTHS]
    a, b = [np.float64(1 + i / 4) for i in range(4)], [np.float64(1.5 - i / 8) for i in range(4)]
    expected = sum(w * (s**2).sum() for w, s in zip(a, single)) / sum(s.size for s in single)
    expected += sum(w * (p**2).sum() for w, p in zip(b, pair)) / sum(p.size for p in pair)

    def loss(s, p, a, b):
        return losses.weighted_squares(s, a) + losses.weighted_squares(p, b)

    per_sample = (nested.from_list(v, ragged=()) for v in (a, b))
    value, (gs, gp) = nested.value_and_grad(loss, (0, 1))(
        ragged(single), nested.from_list(pair, ragged=(0, 1)), *per_sample
    )
    assert np.isclose(value, expected, rtol=1e-13)
    entries = sum(p.size for p in pair)
    assert np.allclose(gp[2], 2 * b[2] * pair[2] / entries, rtol=1e-13)
    assert np.allclose(gs[3], 2 * a[3] * single[3] / sum(s.size for s in single), rtol=1e-13)


# --- Optimisers --------------------------------------------------------------------------


def reference(kind, steps, p, grads, rate):
    """The textbook, in a loop."""
    v, m, s = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    for t in range(1, steps + 1):
        g = grads(p)
        if kind == "sgd":
            p = p - rate * g
        elif kind == "momentum":
            v = 0.9 * v + g
            p = p - rate * v
        elif kind == "nesterov":
            v = 0.9 * v + g
            p = p - rate * (g + 0.9 * v)
        elif kind == "decay":
            p = p - rate * (g + 0.1 * p)
        else:
            m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
            change = (m / (1 - 0.9**t)) / (np.sqrt(s / (1 - 0.999**t)) + 1e-8)
            p = p - rate * (change + (0.1 * p if kind == "adamw" else 0))
    return p


OPTIMISERS = {
    "sgd": optim.sgd(), "momentum": optim.sgd(0.9), "nesterov": optim.sgd(0.9, nesterov=True),
    "decay": optim.sgd(weight_decay=0.1), "adam": optim.adam(), "adamw": optim.adamw(weight_decay=0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_optimisers(name, dtype):
    optimizer, start = (
        OPTIMISERS[name],
        np.random.default_rng(0).standard_normal((3, 2)).astype(dtype),
    )
    state, params = optimizer.init({"w": start}), {"w": start}

    @nested.jit
    def step(params, state, x, rate):
        def loss(params, x):
            return nested.batch.sum((x @ params["w"]) ** 2, axis=None) * np.float64(0.05).astype(
                dtype
            )

        value, grads = nested.value_and_grad(loss)(params, x)
        return value, *optimizer.update(grads, state, params, rate)

    xs = [x[:, :3].astype(dtype) for x in draw(5)]
    x, plain = ragged(xs), ({"w": start}, optimizer.init({"w": start}))
    rows = np.concatenate(xs).astype("f8")
    last = np.inf
    for _ in range(7):
        value, params, state = step(params, state, x, np.float32(0.05))
        assert value < last
        last = value
        g = {"w": (0.1 * rows.T @ (rows @ plain[0]["w"])).astype(dtype)}
        plain = optimizer.update(g, plain[1], plain[0], np.float32(0.05))
    rate = float(np.float32(0.05))
    expected = reference(name, 7, start.astype("f8"), lambda p: 0.1 * rows.T @ (rows @ p), rate)
    tolerance = 2e-5 if dtype == "f4" else 2e-7
    assert params["w"].dtype == start.dtype and plain[0]["w"].dtype == start.dtype
    np.testing.assert_allclose(params["w"], expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(plain[0]["w"], expected, rtol=0, atol=tolerance)
    step(params, state, x, np.float32(0.01))
    assert step.compilations == 1


def test_clipping():
    grads = {"a": np.array([3.0, 0.0]), "b": [np.array([[4.0]])]}
    clipped, norm = optim.clip_by_global_norm(grads, 1.0)
    assert (
        np.isclose(norm, 5)
        and np.allclose(clipped["a"], [0.6, 0])
        and np.isclose(clipped["b"][0], 0.8)
    )
    same, norm = optim.clip_by_global_norm(grads, 10.0)
    assert np.allclose(same["a"], grads["a"])
    zero, norm = optim.clip_by_global_norm({"a": np.zeros(2)}, 1.0)
    assert norm == 0 and (zero["a"] == 0).all()
    both = nested.jit(
        lambda x, w: optim.clip_by_global_norm({"w": w, "s": nested.batch.sum(x, axis=0)}, 1.0)
    )
    clipped, norm = both(ragged(draw(1)), np.ones(4))
    assert np.isclose(optim.global_norm(clipped), 1)


def test_errors_of_optimisers():
    with raises(TypeError, "nests of parameters differ: expected a, b, but got a"):
        optim.sgd().update({"a": np.ones(1)}, {}, {"a": np.ones(1), "b": np.ones(1)}, 0.1)
    with raises(ValueError, "momentum must be at least 0, but got -1"):
        optim.sgd(-1)
    with raises(ValueError, "nesterov needs a momentum above 0"):
        optim.sgd(nesterov=True)
    with raises(ValueError, "b1 and b2 must be below 1"):
        optim.adam(b1=1)
    with raises(ValueError, "limit must be above 0"):
        optim.clip_by_global_norm({}, 0)


def test_two_hundred_steps_of_changing_batches():
    """Other lengths and another number of samples at each step: one program, no growth of memory."""
    import resource

    optimizer = optim.adam()
    rng = np.random.default_rng(0)
    params = {"w1": rng.standard_normal((4, 8)).astype("f4") / 2, "b1": np.zeros(8, "f4"),
              "w2": rng.standard_normal((8, 1)).astype("f4") / 3}  # fmt: skip
    state = optimizer.init(params)

    def loss(params, x):
        h = nested.nn.silu(nested.linear(x, params["w1"], params["b1"]))
        p = (h[:, None, :] * h[None, :, :]) @ params["w2"]
        return losses.mse(nested.mean(p, axis=(0, 1)), nested.mean(x[:, 0]))

    @nested.jit
    def step(params, state, x, rate):
        value, grads = nested.value_and_grad(loss)(params, x)
        params, state = optimizer.update(grads, state, params, rate)
        return value, params, state

    values, memory = [], []
    for k in range(200):
        xs = [rng.standard_normal((rng.integers(0, 30), 4)).astype("f4")
              for _ in range(rng.integers(1, 12))]  # fmt: skip
        x = nested.from_list(xs)
        value, params, state = step(params, state, x, np.float32(0.01))
        values.append(float(value))
        if k % 50 == 49:
            gc.collect()
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert step.compilations == 1
    assert np.isfinite(values).all() and np.mean(values[-50:]) < 0.7 * np.mean(values[:50])
    # The largest batch may come late; a leak of one pair tensor a step would be 12 MB.
    assert memory[-1] - memory[0] < 8000, memory


def test_the_example_goes_on_where_it_stopped(tmp_path):
    """Two epochs at once, and one and one: the same numbers to the bit."""
    import subprocess
    import sys
    from pathlib import Path

    example = Path(__file__).resolve().parents[2] / "examples/train_proteins.py"
    data = tmp_path / "few.fasta"
    records = (example.parent / "proteins/families.fasta").read_text().split(">")[1:]
    data.write_text("".join(f">{r}" for r in records[::6]))

    def run(epochs, save, *options):
        command = [sys.executable, str(example), "--data", str(data), "--batch", "8", "--total", "2",
                   "--epochs", str(epochs), "--save", str(tmp_path / save), *options]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        assert "held out: accuracy" in done.stdout, done.stderr
        return np.load(tmp_path / save)

    whole = run(2, "whole.npz")
    run(1, "half.npz")
    rest = run(2, "rest.npz", "--resume", str(tmp_path / "half.npz"))
    assert sorted(whole.files) == sorted(rest.files)
    for name in whole.files:
        assert whole[name].tobytes() == rest[name].tobytes(), name


SHAPES = {"u": (48, 32), "v": (48, 32), "gate": (32, 64), "up": (32, 64), "down": (64, 32),
          "g": (32, 48), "scale": (32,), "offset": (32,)}  # fmt: skip


def block_step():
    """A step of the block as one program, its parameters and state, and a batch of given lengths."""
    rng = np.random.default_rng(0)
    w = {name: rng.normal(size=shape).astype("f4") for name, shape in SHAPES.items()}
    adam = optim.adam()

    def loss(w, x):
        p = (x @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
        y = nested.layer_norm(p, w["scale"], w["offset"])
        p = p + (nested.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]
        x = x + nested.mean(p, axis=1) @ w["g"]
        return nested.batch.mean(x**2, axis=None) + nested.batch.mean(p**2, axis=None)

    @nested.jit(donate=("w", "state"))
    def step(w, state, x, rate):
        value, gradients = nested.value_and_grad(loss)(w, x)
        return value, *adam.update(gradients, state, w, rate)

    def batch(lengths):
        xs = [rng.normal(size=(n, 48)).astype("f4") for n in lengths]
        return nested.from_list(xs, dims=("N", 48))

    return step, w, adam.init(w), batch


def test_a_step_of_the_block_stores_two_pair_sized_values():
    """One artifact: gradients, update, and beside the donated state at most two values with a row
    for each pair; what is summed over the batch is kept once per 4096 rows."""
    step, w, state, batch = block_step()
    step(w, state, batch((3, 5)), np.float32(1e-3))
    lengths = [200, 150, 300]
    plan = step.plan({"N": lengths})
    pairs, rows = sum(n * n for n in lengths), sum(lengths)
    partials = -(-pairs // 4096) * 4 * sum(int(np.prod(s)) for s in SHAPES.values())
    assert plan.temp_bytes <= 2 * 4 * 32 * pairs + partials + 4 * rows * 32 * 48
    assert plan.peak_bytes - plan.result_bytes - plan.temp_bytes < 4_000_000 * plan.threads


def measure_step(lengths):
    """How much more memory this process has used after a step than before it, and what the plan says."""
    import re
    from pathlib import Path

    def most():
        # Not ru_maxrss, which begins with that of the process that started this one.
        status = Path("/proc/self/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s*(\d+) kB", status)[1])

    step, w, state, batch = block_step()
    _, w, state = step(w, state, batch((3, 5)), np.float32(1e-3))
    x = batch(lengths)
    before = most()
    step(w, state, x, np.float32(1e-3))
    return most() - before, step.plan(list(lengths)).peak_bytes


def test_the_measured_peak_of_a_step_is_that_of_the_plan():
    import subprocess
    import sys
    from pathlib import Path

    code = "import test_training; print(*test_training.measure_step((500, 400, 600)))"
    # Twice: compiling, which the first run may have to do, takes more memory than the step.
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent,
                              capture_output=True, text=True, check=True)  # fmt: skip
    measured, planned = map(int, done.stdout.split())
    # Pages that the process has had before are used again.
    assert planned > 50e6
    assert 0.6 * planned < measured < 1.05 * planned + 8e6, (measured, planned)
