# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Donated arguments: results in their memory, and errors where they are used again."""

import resource

import numpy as np
import pytest
from helpers import raises

import nested
from nested import batch, optim
from nested._tree import flatten


def loss(w, x, y):
    h = np.tanh(x @ w["a"])
    return nested.batch.mean((nested.mean(h @ w["b"], axis=0) - y) ** 2, axis=None)


def parameters(sizes=(5, 64, 3), dtype="f4"):
    rng = np.random.default_rng(0)
    first, inner, last = sizes
    return {"a": rng.normal(size=(first, inner)).astype(dtype),
            "b": rng.normal(size=(inner, last)).astype(dtype)}  # fmt: skip


def batch_of(lengths, seed=0, sizes=(5, 64, 3), dtype="f4"):
    rng = np.random.default_rng(seed)
    x = [rng.normal(size=(n, sizes[0])).astype(dtype) for n in lengths]
    y = [rng.normal(size=sizes[2]).astype(dtype) for _ in lengths]
    return nested.from_list(x, dims=("N", sizes[0])), nested.from_list(y, ragged=())


def make_step(optimizer, **options):
    @nested.jit(**options)
    def step(params, state, x, y, rate):
        value, gradients = nested.value_and_grad(loss)(params, x, y)
        params, state = optimizer.update(gradients, state, params, rate)
        return value, params, state

    return step


RATE = np.float32(1e-2)


OPTIMIZERS = {
    "sgd": optim.sgd(), "momentum": optim.sgd(momentum=0.9, weight_decay=0.1),
    "nesterov": optim.sgd(momentum=0.9, nesterov=True), "adam": optim.adam(),
    "adamw": optim.adamw(weight_decay=0.1),
}  # fmt: skip


@pytest.mark.parametrize("sizes", [(5, 64, 3), (7, 37, 1), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_are_in_place(name, dtype, sizes):
    """Results take the memory, nothing is copied to protect what is read, and bits are those without."""
    optimizer = OPTIMIZERS[name]
    step, kept = make_step(optimizer, donate=("params", "state")), make_step(optimizer)
    w, state = parameters(sizes, dtype), optimizer.init(parameters(sizes, dtype))
    want_w, want_state = parameters(sizes, dtype), optimizer.init(parameters(sizes, dtype))

    def memory():
        leaves = flatten((w, state))[0]
        return {k: v.ctypes.data for k, v in leaves if isinstance(v, np.ndarray)}

    first = memory()
    for k in range(5):
        x, y = batch_of((3, 0, 7 + k), k, sizes, dtype)
        rate = np.dtype(dtype).type(1e-2)
        value, w, state = step(w, state, x, y, rate)
        want, want_w, want_state = kept(want_w, want_state, x, y, rate)
        assert value == want
        for (_, a), (_, b) in zip(flatten((w, state))[0], flatten((want_w, want_state))[0]):
            np.testing.assert_array_equal(a, b)
        assert first.items() <= memory().items()
    plan, other = step.plan({"N": [3, 0, 7]}), kept.plan({"N": [3, 0, 7]})
    assert plan.staging_bytes == other.staging_bytes == 0
    assert plan.result_bytes == other.result_bytes and plan.peak_bytes == other.peak_bytes


COPIED = {
    "another place": lambda x, s: (x[::-1] * 2, s.sum()),
    "transposed": lambda x, s: (x.T + 1, s.sum()),
    "the first row": lambda x, s: (x - x[:1], s.sum()),
    "read again": lambda x, s: (x * 2, s * x[0, 0], batch.sum(s, axis=None) * x.sum()),
    "a product": lambda x, s: (x @ x, s.sum()),
    "returned as well": lambda x, s: (x * 2, x, s.sum()),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_is_read_elsewhere_is_copied(name):
    function = COPIED[name]
    x = np.random.default_rng(0).normal(size=(40, 40))
    samples = nested.from_list([np.arange(2.0), np.zeros(0), np.ones(3)])
    program = nested.jit(function, donate="x")
    wanted = nested.jit(function)(x.copy(), samples)
    got = program(x, samples)
    for a, b in zip(got, wanted):
        np.testing.assert_array_equal(getattr(a, "values", a), getattr(b, "values", b))
    assert program.plan([2, 0, 3]).staging_bytes > 0


def test_two_that_change_places():
    """Each result is in the memory of what the other one is computed from, or there is a copy."""
    samples = nested.from_list([np.arange(2.0), np.zeros(0), np.ones(3)])

    def swap(w, x):
        return {"a": w["b"] * 2, "b": w["a"] * 3}, x.sum()

    a, b = np.random.default_rng(0).normal(size=(2, 40, 3))
    out, _ = nested.jit(swap, donate="w")({"a": a.copy(), "b": b.copy()}, samples)
    np.testing.assert_array_equal(out["a"], b * 2)
    np.testing.assert_array_equal(out["b"], a * 3)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (40,), (4, 5)], ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "?"])
def test_batches_in_place(shape, dtype):
    """Elementwise on what a batch holds: samples that are short, long and empty."""
    rng = np.random.default_rng(1)
    x = [(rng.normal(size=(n, *shape)) * 5).astype(dtype) for n in (2, 0, 100, 17)]
    shift = nested.jit(lambda x: x ^ True if dtype == "?" else x + x, donate="x")
    batched = nested.from_list(x, dims=("N", *shape), dtype=np.dtype(dtype))
    values = batched.values
    out = shift(batched)
    for got, sample in zip(out, x, strict=True):
        np.testing.assert_array_equal(got, sample ^ True if dtype == "?" else sample + sample)
    assert np.shares_memory(out.values, values)


def weights(width):
    return np.random.default_rng(3).normal(size=(width, width)).astype("f4")


def transition(x):
    a, c = weights(x.shape[-1]), x.shape[-1]
    return x + nested.nn.swiglu(nested.layer_norm(x), {"gate": a, "up": a, "down": a}) / c


# What tiles compute of their own rows, dims, whether the rows are read where they are written.
TILES = {
    "residual": (lambda x: x + np.tanh(x @ weights(x.shape[-1])), ("N",), True),
    "product": (lambda x: x @ weights(x.shape[-1]), ("N",), False),
    "normalized": (lambda x: nested.layer_norm(x), ("N",), True),
    "of the mean": (lambda x: nested.layer_norm(x) - nested.mean(x, axis=0), ("N",), True),
    "pairs": (lambda x: nested.layer_norm(x) + x, ("N", "M"), True),
    "transition": (transition, ("N",), True),
    "turned": (lambda x: x + x.transpose(1, 0, 2) @ weights(x.shape[-1]), ("N", "N"), False),
    "backwards": (lambda x: x[::-1] @ weights(x.shape[-1]), ("N",), False),
    "neighbours": (lambda x: x + np.roll(x, 1, axis=0) @ weights(x.shape[-1]), ("N",), False),
    "steps": (lambda x: np.cumsum(x, axis=0) @ weights(x.shape[-1]) + x, ("N",), True),
}  # fmt: skip


@pytest.mark.parametrize("width", [3, 16, 40, 200])
@pytest.mark.parametrize("name", TILES)
def test_rows_of_tiles_in_place(name, width):
    """Rows that a kernel finds by their numbers: those of a tile are read before they are written. What
    needs rows of other tiles is copied. Bits are those without donation."""
    function, dims, is_in_place = TILES[name]
    rng = np.random.default_rng(1)
    sizes = [(n, n if dims[-1] == "N" else n // 2 + 1)[: len(dims)] for n in (2, 0, 61, 17)]
    x = [rng.normal(size=(*s, width)).astype("f4") for s in sizes]
    program = nested.jit(function, donate="x")
    batched = nested.from_list(x, dims=(*dims, width))
    want = nested.jit(function)(batched).values
    before = nested.get_num_threads()
    try:
        for threads in (1, 2):
            nested.set_num_threads(threads)
            given = nested.from_list(x, dims=(*dims, width))
            values = given.values
            out = program(given)
            np.testing.assert_array_equal(out.values, want)
            assert np.shares_memory(out.values, values)
    finally:
        nested.set_num_threads(before)
    lengths = {d: [s[k] for s in sizes] for k, d in enumerate(dims)}
    assert (program.plan(lengths).staging_bytes == 0) == is_in_place


CHAINS = {
    "softmax": (lambda x: nested.softmax(x, axis=0), True),
    "logarithm": (lambda x: nested.log_softmax(x, axis=0), True),
    "centred": (lambda x: x - nested.mean(x, axis=0), True),
    "read when exponentials are there": (lambda x: nested.softmax(x, axis=0) * x, False),
    "other rows": (lambda x: x[::-1] - nested.mean(x, axis=0), False),
}


@pytest.mark.parametrize("width", [1, 16, 40, 200])
@pytest.mark.parametrize("name", CHAINS)
def test_units_in_place(name, width):
    """Several kernels of one function: all that they read is of the unit, and is read before it is written."""
    function, is_in_place = CHAINS[name]
    rng = np.random.default_rng(1)
    x = [rng.normal(size=(n, width)).astype("f4") for n in (2, 0, 61, 17, 500)]
    program = nested.jit(function, donate="x")
    want = nested.jit(function)(nested.from_list(x, dims=("N", width))).values
    given = nested.from_list(x, dims=("N", width))
    out = program(given)
    np.testing.assert_array_equal(out.values, want)
    assert np.shares_memory(out.values, given.values)
    staging = program.plan({"N": [len(s) for s in x]}).staging_bytes
    assert (staging == 0) == is_in_place


def test_windows_of_samples_in_place():
    """Kernels take turns over windows of samples: what a later one writes of some samples, an earlier one has
    read of those, and reads of others."""
    function, dims, _ = TILES["of the mean"]
    rng = np.random.default_rng(1)
    x = [rng.normal(size=(n, 200)).astype("f4") for n in (3000, 0, 4000, 5000, 17, 2500)]
    want = nested.jit(function)(nested.from_list(x, dims=(*dims, 200))).values
    program = nested.jit(function, donate="x")
    np.testing.assert_array_equal(program(nested.from_list(x, dims=(*dims, 200))).values, want)
    plan = program.plan({"N": [len(s) for s in x]})
    assert plan.staging_bytes == 0
    assert plan.workspace_bytes < sum(s.nbytes for s in x)  # Windows there are.


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
