# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs against the same functions on each sample in float64."""

import threading

import numpy as np
import pytest
from helpers import batch_of, check, close, normal, raises, same_bits, unnamed
from hypothesis import given
from hypothesis import strategies as st

import nested

LENGTHS = [
    (),
    (0,),
    (1,),
    (17, 23, 0, 6),
    (5, 5, 5),
    (0, 0, 0),
    (1, 300, 2, 1, 3, 0, 1, 2),
    (48, 49, 47, 96),
]


def weights(rng, c=24, cp=16, expansion=2):
    def w(*shape):
        return normal(rng, *shape, scale=shape[0] ** -0.5)

    hidden = expansion * cp
    return {
        "u": w(c, cp), "v": w(c, cp), "g": w(cp, c),
        "h": {"gate": w(cp, hidden), "up": w(cp, hidden), "down": w(hidden, cp)},
    }  # fmt: skip


def block(x, w):
    p = (x @ w["u"])[:, None, :] + (x @ w["v"])[None, :, :]
    p = p + nested.nn.swiglu(nested.layer_norm(p), w["h"])
    return x + nested.mean(p, axis=1) @ w["g"], p


def elementwise(x):
    return np.exp(x * 0.5) - 1, np.where(x > 0, x, 0.1 * x), np.maximum(x, 0) ** 2


def reductions(x):
    return nested.sum(x, axis=0), nested.mean(x, axis=1), nested.max(x, axis=0), nested.mean(x)


def products(x, w):
    return x @ w["u"], nested.nn.silu(x @ w["u"]) @ w["g"] + x


def rectangular(x, y):
    return nested.mean(x[:, None, :] * y[None, :, :], axis=1)


@pytest.fixture(scope="module")
def compiled():
    return nested.jit(block)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_block(rng, compiled, lengths):
    w = weights(rng)
    single, pair = check(block, batch_of(rng, lengths, 24), w, jitted=compiled) if lengths else (
        compiled(batch_of(rng, lengths, 24), w)
    )  # fmt: skip
    assert compiled.compilations == 1
    assert single.lengths.tolist() == list(lengths)
    assert pair.values.shape == (sum(n * n for n in lengths), 16)
    assert pair.structure.dims == ("N", "N", 16)


@given(st.lists(st.integers(0, 70), min_size=1, max_size=9), st.integers(0, 2**31))
def test_block_with_any_lengths(compiled, lengths, seed):
    rng = np.random.default_rng(seed)
    check(block, batch_of(rng, lengths, 24), weights(np.random.default_rng(3)), jitted=compiled)
    assert compiled.compilations == 1


@pytest.mark.parametrize("function", [elementwise, reductions])
@pytest.mark.parametrize("dtype, tolerance", [("f4", 1e-5), ("f8", 1e-12)])
@pytest.mark.parametrize("lengths", LENGTHS[1:], ids=str)
def test_functions(rng, function, dtype, tolerance, lengths):
    check(function, batch_of(rng, lengths, 10, dtype=dtype), tolerance=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [("f4", 1e-5), ("f8", 1e-12)])
def test_products(rng, dtype, tolerance):
    w = {k: v.astype(dtype) for k, v in weights(rng).items() if k != "h"}
    check(products, batch_of(rng, (7, 0, 50, 1), 24, dtype=dtype), w, tolerance=tolerance)


def test_rectangular(rng):
    x = nested.from_list([normal(rng, n, 6) for n in (3, 0, 5)])
    y = nested.from_list([normal(rng, n, 6) for n in (2, 4, 0)])
    check(rectangular, x, y)


def test_gather(rng):
    table = normal(rng, 21, 8)
    tokens = nested.from_list([rng.integers(0, 21, n) for n in (5, 0, 9)])
    check(lambda t, table: table[t] * 2, tokens, table)
    embed = nested.jit(lambda t, table: table[t])
    bad = nested.from_list([np.array([1, 2]), np.array([3, 21, 4])])
    with raises(nested.DataError, "21"):
        embed(bad, table)


def test_slices_and_sizes(rng):
    batch = batch_of(rng, (5, 2, 9), 4)
    check(lambda x: (x[1:] - x[:-1], x[-1], x[0], x / x.shape[0], x[:, 1:3]), batch)
    check(lambda x: (x[1:], x[: x.shape[0] // 2]), batch_of(rng, (0, 1, 4), 4))
    with raises(nested.ArgumentError):
        nested.jit(lambda x: x[-1])(batch_of(rng, (3, 0), 4))


def test_transpose(rng):
    check(lambda x: (x[:, None, :] - 2 * x[None, :, :]).swapaxes(0, 1), batch_of(rng, (5, 0, 3), 4))


def test_integers_and_bools(rng):
    tokens = nested.from_list([rng.integers(-9, 9, n) for n in (5, 0, 9)])
    check(lambda t: (t + 1, t * t, t > 2, t.sum(axis=0), t.astype(np.float32)), tokens)


def test_batch_reductions(rng):
    batch = batch_of(rng, (5, 0, 9), 4)
    total, mean = nested.jit(
        lambda x: (nested.batch.sum(x, axis=0), nested.batch.mean(x, axis=None))
    )(batch)
    assert isinstance(total, np.ndarray)
    close(total, batch.values.astype("f8").sum(0))
    close(np.asarray(mean), batch.values.astype("f8").mean())


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 0, 1, 3), (1,)])
@pytest.mark.parametrize("threads", [1, 2])
def test_samples_have_the_same_bits_in_any_batch(rng, compiled, order, threads):
    """R8: alone, in any order, at any number of threads."""
    w = weights(rng)
    xs = batch_of(rng, (70, 1, 130, 0, 49), 24)
    nested.set_num_threads(1)
    together = compiled(xs, w)
    nested.set_num_threads(threads)
    try:
        chosen = compiled(xs[list(order)], w)
        for got, reference in zip(chosen, together):
            for k, i in enumerate(order):
                same_bits(got[k], reference[i])
    finally:
        nested.set_num_threads(0)


def test_views_with_gaps(rng, compiled):
    """Samples that begin anywhere, in memory with NaN between them."""
    w = weights(rng)
    values = normal(rng, 60, 24)
    starts, lengths = [3, 20, 20, 41], [12, 0, 17, 9]
    inside = np.zeros(60, bool)
    for s, n in zip(starts, lengths):
        inside[s : s + n] = True
    values[~inside] = np.nan
    view = nested.from_values(values, lengths, starts=starts, dims=("N", 24))
    packed = nested.from_list(view.to_list(), dims=("N", 24))
    for got, want in zip(compiled(view, w), compiled(packed, w)):
        same_bits(got.values, want.values)


def test_strided_and_read_only_values(rng, compiled):
    w = weights(rng)
    wide = normal(rng, 40, 48)
    strided = nested.from_values(wide[:, ::2], [30, 10], dims=("N", 24))
    packed = nested.from_values(np.ascontiguousarray(wide[:, ::2]), [30, 10], dims=("N", 24))
    packed.values.flags.writeable = False
    for got, want in zip(compiled(strided, w), compiled(packed, w)):
        same_bits(got.values, want.values)


def test_lengths_that_disagree_name_the_line(rng):
    def f(x, y):
        return x + y

    x = unnamed(batch_of(rng, (3, 4, 5), 4))
    y = unnamed(batch_of(rng, (3, 6, 5), 4))
    jitted = nested.jit(f)
    close(jitted(x, x)[1], 2 * x[1])
    with raises(nested.ArgumentError, "test_run.py:", "x + y") as e:
        jitted(x, y)
    for part in ("sample 1", "4", "6"):
        assert part in str(e.value)
    with raises(nested.ArgumentError):
        jitted(x, y[:2])


def test_lengths_of_one_name_are_checked(rng):
    f = nested.jit(lambda x, y: x + y)
    x, y = batch_of(rng, (3, 4), 4), batch_of(rng, (3, 5), 4)
    close(f(x, x).values, 2 * x.values)
    with raises(nested.ArgumentError, "4", "5", "sample 1"):
        f(x, y)


def test_static_and_run_time_numbers(rng):
    scale = nested.jit(lambda x, a, mode: x * a if mode == "times" else x + a)
    batch = batch_of(rng, (3, 0, 2), 4)
    close(scale(batch, np.float32(2), "times").values, batch.values * 2)
    close(scale(batch, np.float32(3), "times").values, batch.values * 3)
    assert scale.compilations == 1
    close(scale(batch, np.float32(3), "plus").values, batch.values + 3)
    close(scale(batch, 3.0, "plus").values, batch.values + 3)
    assert scale.compilations == 3


def test_results_keep_their_nest(rng):
    batch = batch_of(rng, (3, 2), 4)
    out = nested.jit(lambda x: {"a": x * 2, "b": [x.shape[0], (5, x.sum(0))]})(batch)
    assert set(out) == {"a", "b"} and out["b"][1][0] == 5
    assert out["b"][0].values.tolist() == [3, 2]
    assert out["b"][1][1][0].shape == (4,)


def test_an_argument_may_be_returned(rng):
    batch = batch_of(rng, (3, 2), 4)
    same, twice = nested.jit(lambda x: (x, x * 2))(batch)
    assert same == batch and not np.shares_memory(same.values, batch.values)


def test_equal_results_are_all_written(rng):
    """Computed in one kernel once, since they are the same."""
    batch = nested.from_list([normal(rng, n, n, 4) for n in (3, 2)], dims=("N", "N", 4))
    check(lambda p: (nested.mean(p, axis=0), nested.mean(p.swapaxes(0, 1), axis=1)), batch)


def test_results_are_arguments(rng):
    """Results have no names of the user: another program may combine them."""
    batch = unnamed(batch_of(rng, (3, 2), 4))
    first = nested.jit(lambda x: x + 1)(batch)
    total = nested.jit(lambda x, y: x + y)(first, batch)
    close(total.values, 2 * batch.values + 1)


def test_threads_may_call_at_once(rng, compiled):
    w = weights(rng)
    batches = [batch_of(rng, (k, 7, 30), 24) for k in range(8)]
    want = [compiled(b, w) for b in batches]
    got = [None] * 8

    def work(k):
        got[k] = compiled(batches[k], w)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for a, b in zip(got, want):
        same_bits(a[1].values, b[1].values)


def test_plan_and_cost(rng):
    jitted = nested.jit(block)
    with pytest.raises(nested.NestedError, match="has not been compiled yet"):
        jitted.plan([3])
    jitted(batch_of(rng, (3, 2), 24), weights(rng))
    plan = jitted.plan([17, 230, 0, 64])
    pairs = 17**2 + 230**2 + 64**2
    assert plan.result_bytes >= 4 * (pairs * 16 + 311 * 24)
    assert plan.peak_bytes >= plan.result_bytes and plan.exact
    in_order = nested.jit(block, reassociate=False)
    in_order(batch_of(rng, (3, 2), 24), weights(rng))
    assert in_order.plan([17, 230, 0, 64]).flops > 2 * pairs * 3 * 16 * 32
    assert 2 * pairs * 16 * 32 < plan.flops < 2 * pairs * 3 * 16 * 32
    assert jitted.cost({"N": [17, 230]}).flops < plan.flops
    assert jitted.cost({"x": [17, 230]}).flops == jitted.cost([17, 230]).flops
    assert "peak" in repr(plan) and "rows" in repr(plan.cost)
    with raises(nested.ArgumentError, "no symbol or batched argument 'K'; there are N, x"):
        jitted.plan({"K": [1]})
    with raises(nested.OutOfMemoryError):
        jitted.plan([2_000_000])


def test_requirements(rng):
    batch, w = batch_of(rng, (30, 40), 24), weights(rng)
    nested.jit(block, require=["kernels <= 3", "no pair-sized temporary", "peak <= 1 GB"])(batch, w)
    with raises(nested.RequirementError, "required 'peak <= 1 kB', but this call's peak is"):
        nested.jit(block, require="peak <= 1 kB")(batch, w)
    with raises(nested.RequirementError, "required 'pair never stored', but result"):
        nested.jit(block, require="pair never stored")(batch, w)
    nested.jit(lambda x, w: block(x, w)[0], require="pair never stored")(batch, w)
    with raises(nested.RequirementError, "required 'kernels < 1', but there are"):
        nested.jit(block, require="kernels < 1")(batch, w)


def test_requirement_of_compilations(rng):
    twice = nested.jit(lambda x: x * 2, require="compilations <= 1")
    twice(batch_of(rng, (2, 3), 4))
    twice(batch_of(rng, (7,), 4))
    with raises(nested.RequirementError, "required 'compilations <= 1', but this call needs "
                "compilation 2, for x: (N, 5) float32"):  # fmt: skip
        twice(batch_of(rng, (2, 3), 5))
    assert twice.compilations == 1


def test_requirement_of_no_copies(rng):
    function = nested.jit(lambda x, w: x @ w, require="no argument copies")
    x, w = batch_of(rng, (2, 3), 4), normal(rng, 4, 4)
    function(x, w)
    function(x, w.T)
    with raises(nested.RequirementError, "argument `w` has to be copied", "strides (-16, 4)"):
        function(x, w[::-1])
    strided = nested.from_values(normal(rng, 5, 4)[::-1], [2, 3], dims=("N", 4))
    with raises(nested.RequirementError, "argument `x` has to be copied"):
        function(strided, w)


@pytest.mark.parametrize("phase", ["trace", "tensor", "generic", "kernels", "structure", "llvm"])
def test_phases(rng, phase):
    text = nested.jit(block).lower(nested.spec("N", 24), weights(rng)).text(phase)
    assert "block" in text


def test_unknown_phase(rng):
    with pytest.raises(ValueError, match="phase"):
        nested.jit(block).lower(nested.spec("N", 24), weights(rng)).text("parse")


def test_exchange_with_foreign_arrays(rng):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    batch, w = batch_of(rng, (3, 2), 4), normal(rng, 4, 4)
    f = nested.jit(lambda x, w: x @ w)
    same_bits(f(batch, Foreign(w)).values, f(batch, w).values)
