# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that are like an earlier one are not bound and planned anew, and compute the same."""

import inspect
import threading

import numpy as np
import pytest

import nested
from nested import _program


@pytest.fixture
def binds(monkeypatch):
    """How often arguments have been bound."""
    counted = []
    bind = _program.Program.bind

    def counting(self, *args):
        counted.append(1)
        return bind(self, *args)

    monkeypatch.setattr(_program.Program, "bind", counting)
    return counted


def batch(lengths, *row, seed=0, dims=("N",), dtype=np.float32):
    values = np.random.default_rng(seed).standard_normal((sum(lengths), *row)).astype(dtype)
    return nested.from_values(values, lengths, dims=(*dims, *row))


def scaled(x, w):
    return nested.sum(x * w["w"] + w["b"], axis=0)


def expected(x, w):
    return np.stack([(x.sample(i) * w["w"] + w["b"]).sum(0) for i in range(len(x))])


def weights(seed):
    rng = np.random.default_rng(seed)
    return {"b": np.float32(seed), "w": rng.standard_normal(4).astype(np.float32)}


def test_later_calls_are_not_bound_again(binds):
    f = nested.jit(scaled)
    for seed in range(6):
        x, w = batch([2, 0, 3], 4, seed=seed), weights(seed)
        np.testing.assert_allclose(f(x, w).values, expected(x, w), rtol=1e-5, atol=1e-6)
    # The first call, the second one, and what is kept from the second on.
    assert len(binds) == 3
    assert f.compilations == 1
    assert f.plan([2, 0, 3]).peak_bytes > 0


def test_what_cannot_be_repeated_is_asked_once(binds):
    f = nested.jit(lambda x: x * 2, require="peak <= 1 GB")
    for seed in range(5):
        x = batch([2, 3], 4, seed=seed)
        np.testing.assert_array_equal(f(x).values, x.values * 2)
    assert len(binds) == 5


def test_other_lengths_push_nothing_out(binds):
    f = nested.jit(lambda x: nested.sum(x, axis=0))
    same = batch([2, 3], 4)
    for _ in range(3):
        f(same)
    for n in range(100):
        f(batch([n, 3], 4))
    del binds[:]
    f(same)
    assert not binds


def test_equal_lengths_are_enough(binds):
    f = nested.jit(lambda x: nested.cumsum(x, axis=0))
    for seed in range(5):
        x = batch(np.array([3, 1]), 2, seed=seed)
        got = f(x)
        np.testing.assert_allclose(got.sample(0), np.cumsum(x.sample(0), 0), rtol=1e-5)
        assert got.structure == x.structure
    assert len(binds) == 3


def test_one_array_twice_and_two_arrays():
    f = nested.jit(lambda x, y: x - y)
    x, y = batch([2, 3], 4), batch([2, 3], 4, seed=1)
    for _ in range(3):
        assert not f(x, x).values.any()
    np.testing.assert_array_equal(f(x, y).values, x.values - y.values)


@pytest.mark.parametrize(
    "other",
    [batch([3, 2], 4, seed=1), batch([2, 3, 0], 4), batch([2, 3], 4, dtype=np.float64), batch([2, 3], 5),
     batch([2, 3], 4, dims=("M",)), nested.from_values(np.ones((9, 4), np.float32), [2, 3], starts=[1, 5], dims=("N", 4)),
     nested.from_values(np.ones((4, 5), np.float32).T, [2, 3], dims=("N", 4))],
    ids=["lengths", "batch", "dtype", "features", "name", "gaps", "strides"],
)  # fmt: skip
def test_other_kinds_of_calls_between(other):
    f = nested.jit(lambda x: nested.sum(x, axis=0))
    same = batch([2, 3], 4)
    for x in (same, same, same, other, same, other, other, other, same):
        want = np.stack([x.sample(i).sum(0) for i in range(len(x))])
        np.testing.assert_allclose(f(x).values, want, rtol=1e-6)


def test_static_values_and_numbers():
    f = nested.jit(lambda x, n, s: x * s if n else x + s)
    x = batch([2, 3], 4)
    for n in (True, True, True, 1, False, 0, True):
        for s in (np.float32(2), np.float32(3)):
            want = x.values * s if n else x.values + s
            np.testing.assert_array_equal(f(x, n, s).values, want)


def test_results_are_new_arrays():
    f = nested.jit(lambda x: (x + 1, {"c": 3, "m": nested.mean(x.batch) if False else x * 2}))
    x = batch([2, 3], 4)
    first, *others = (f(x) for _ in range(4))
    kept = first[0].values.copy()
    for a, b in others:
        assert b["c"] == 3
        a.values[...] = 0
    np.testing.assert_array_equal(first[0].values, kept)


def test_errors_are_those_of_the_first_call():
    f = nested.jit(lambda t, i: t[i])
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    good = nested.from_values(np.array([0, 3, 1]), [1, 2], dims=("N",))
    bad = nested.from_values(np.array([0, 4, 1]), [1, 2], dims=("N",))
    with pytest.raises(nested.DataError) as first:
        f(table, bad)
    for _ in range(4):
        np.testing.assert_array_equal(f(table, good).values, table[good.values])
    with pytest.raises(nested.DataError) as later:
        f(table, bad)
    assert str(first.value) == str(later.value)
    with pytest.raises(nested.NestedError, match="float32"):
        f(table, batch([1, 2]))


def test_eager_operations(binds):
    nested.eager.clear()
    for seed in range(5):
        x, y = batch([2, 3], 4, seed=seed), batch([2, 3], 4, seed=seed + 9)
        np.testing.assert_array_equal((x + y).values, x.values + y.values)
        np.testing.assert_array_equal((x * 2.5).values, x.values * np.float32(2.5))
    assert len(binds) == 6
    nested.eager.clear()
    np.testing.assert_array_equal((x + y).values, x.values + y.values)
    with nested.eager.forbid(), pytest.raises(nested.RequirementError):
        x + y


def test_an_eager_error_names_the_line_that_runs():
    index = [nested.from_values(np.array([0, n]), [1, 1], dims=("K",)) for n in (0, 0, 0, 9)]
    x = batch([2, 2], 3)
    for i in index[:3]:
        nested.take(x, i, axis=0)
    with pytest.raises(nested.DataError) as error:
        line = inspect.currentframe().f_lineno + 1
        nested.take(x, index[3], axis=0)
    assert str(error.value).endswith(f"test_repeats.py:{line}")


def test_an_eager_error_names_no_line_of_the_library():
    x, y = batch([2, 2], 3), batch([1, 2], 3)
    with pytest.raises(nested.ArgumentError, match="test_repeats.py") as error:
        x + y
    assert "_eager" not in str(error.value)


def test_prepared_functions(binds):
    f = nested.jit(lambda x, w: nested.mean(x @ w, axis=0))
    w = np.random.default_rng(0).standard_normal((128, 256)).astype(np.float32)
    prepared = f.prepare(w=w)
    for seed in range(5):
        x = batch([2, 3], 128, seed=seed)
        np.testing.assert_array_equal(prepared(x).values, f(x, w).values)
    assert len(binds) == 6
    assert prepared.plan([2, 3]).peak_bytes > 0


def test_donated_arrays_are_refused():
    step = nested.jit(
        lambda w, x: {"w": w["w"] - nested.batch.sum(nested.sum(x, axis=0))}, donate="w"
    )
    loss = nested.jit(lambda w, x: nested.sum(x * w["w"], axis=0))
    x = batch([2, 3], 4)
    w = {"w": np.ones(4, np.float32)}
    for _ in range(3):
        loss(w, x)
    updated = step(w, x)
    with pytest.raises(nested.ArgumentError, match="was donated to an earlier call"):
        loss(w, x)
    loss(updated, x)


def test_the_number_of_threads_may_change():
    f = nested.jit(lambda x: nested.softmax(x, axis=0))
    x = batch([300, 5], 64)
    before = nested.get_num_threads()
    try:
        results = []
        for threads in (1, 1, 1, 2, 2, 2, 1):
            nested.set_num_threads(threads)
            results.append(f(x).values)
    finally:
        nested.set_num_threads(before)
    for values in results[1:]:
        np.testing.assert_array_equal(values, results[0])


def test_several_threads_repeat_one_call():
    f = nested.jit(scaled)
    problems = []

    def work(seed):
        for k in range(200):
            x, w = batch([2, 0, 3], 4, seed=seed + k % 3), weights(seed)
            if not np.allclose(f(x, w).values, expected(x, w), rtol=1e-4, atol=1e-5):
                problems.append((seed, k))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not problems
