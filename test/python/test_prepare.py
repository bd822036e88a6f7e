# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared arguments bound once: same bits, snapshots, and every wrong use."""

import threading

import numpy as np
import pytest

import nested

K, M = 96, 800  # Weights large enough to be packed into panels.


def block(x, w, scale=1.0):
    hidden = np.maximum(x @ w["up"], 0) * scale
    return hidden @ w["down"] + w["bias"]


def weights(seed=0, dtype="f4"):
    random = np.random.default_rng(seed)
    made = {"up": (K, M), "down": (M, K), "bias": (K,)}
    return {name: random.standard_normal(shape).astype(dtype) for name, shape in made.items()}


def batch(lengths, dtype="f4", seed=1):
    random = np.random.default_rng(seed)
    values = random.standard_normal((sum(lengths), K)).astype(dtype)
    return nested.from_values(values, np.array(lengths, int))


def equal(a, b):
    return a.lengths.tolist() == b.lengths.tolist() and a.values.tobytes() == b.values.tobytes()


def test_same_bits():
    jitted, w = nested.jit(block), weights()
    prepared = jitted.prepare(w=w)
    for lengths in [(17, 0, 130), (), (1,), (3, 3, 3, 3)]:
        x = batch(lengths)
        assert equal(prepared(x), jitted(x, w))
    assert jitted.compilations == 1
    # A header and panels: what is multiplied is in it once.
    assert prepared.prepared_bytes == 64 + w["up"].nbytes + w["down"].nbytes
    reference = block(x[1].astype("f8"), {k: v.astype("f8") for k, v in w.items()})
    np.testing.assert_allclose(prepared(x)[1], reference, rtol=1e-4, atol=1e-3)


def test_plan_leaves_steps_out():
    jitted, w = nested.jit(block), weights()
    prepared = jitted.prepare(w=w)
    with pytest.raises(nested.NestedError, match="has not been compiled yet"):
        prepared.plan([3])
    prepared(batch((3,)))
    before, after = jitted.plan([300, 20]), prepared.plan([300, 20])
    left_out = [s for s in after.steps if s.op == "launch" and s.grains == 0]
    assert left_out and all(s.grains for s in before.steps if s.op == "launch")
    assert after.peak_bytes < before.peak_bytes
    assert after.prepared_bytes == before.prepared_bytes == prepared.prepared_bytes
    assert after.bytes_moved < before.bytes_moved and prepared.cost([300, 20]).flops > 0


def test_values_are_those_of_the_time():
    jitted, w = nested.jit(block), weights()
    x = batch((5, 40))
    expected = jitted(x, w)
    prepared = jitted.prepare(w=w)
    for array in w.values():
        array[...] = 0  # Before the first call, which compiles.
    assert equal(prepared(x), expected)
    data = nested.export(block, nested.spec("N", K), weights()).bytes
    loaded, w = nested.load(data), weights()
    bound = loaded.prepare(w=w)
    for array in w.values():
        array[...] = np.nan
    assert equal(bound(x), expected)


def test_other_dtypes_compile_and_prepare_once_more():
    # The weights stay f4; what they are multiplied by decides how.
    jitted, w = nested.jit(block), weights()
    prepared = jitted.prepare(w=w)
    for dtype in ("f4", "f8", "f4"):
        x = batch((9, 2), dtype)
        assert equal(prepared(x), jitted(x, w))
    assert jitted.compilations == 2


def test_static_values_and_numbers():
    jitted, w = nested.jit(block), weights()
    x = batch((4, 1))
    assert equal(jitted.prepare(w=w, scale=0.5)(x), jitted(x, w, 0.5))
    assert equal(jitted.prepare(w=w, scale=np.float32(2))(x), jitted(x, w, np.float32(2)))
    prepared = jitted.prepare(w=w)
    assert equal(prepared(x, 3.0), jitted(x, w, 3.0))
    assert equal(prepared(x, scale=np.float32(3)), jitted(x, w, scale=np.float32(3)))


def test_conversions_and_products_of_weights():
    random = np.random.default_rng(3)
    a = random.standard_normal((K, 64)).astype("f2")
    b = random.standard_normal((64, K)).astype("f4")
    x = nested.from_list([random.standard_normal((n, K)).astype("f4") for n in (3, 70)])
    prepared = nested.jit(lambda x, a, b: x @ (a.astype("f4") @ b)).prepare(a=a, b=b)
    plain = nested.jit(lambda x, a, b: x @ (a.astype("f4") @ b))
    assert equal(prepared(x), plain(x, a, b))
    assert prepared.prepared_bytes > 0
    assert any(s.op == "launch" and s.grains == 0 for s in prepared.plan([4]).steps)


def test_nothing_to_prepare():
    jitted = nested.jit(lambda x, b: x + b)
    b = np.arange(K, dtype="f4")
    x = batch((2, 3))
    prepared = jitted.prepare(b=b)
    assert equal(prepared(x), jitted(x, b))
    assert prepared.prepared_bytes == 0


def test_arrays_from_outside():
    w = weights()

    @nested.jit
    def f(x, bias):
        return np.maximum(x @ w["up"], 0) @ w["down"] + bias

    x = batch((5, 60))
    prepared = f.prepare(bias=w["bias"])
    assert equal(prepared(x), f(x, w["bias"]))
    assert prepared.prepared_bytes > w["up"].nbytes


def test_plain_arrays_run_the_function():
    w = weights()
    prepared = nested.jit(block).prepare(w=w)
    x = batch((6,))[0]
    assert np.array_equal(prepared(x), block(x, w))


def test_inside_of_a_traced_function():
    w = weights()
    prepared = nested.jit(block).prepare(w=w)
    x = batch((6, 2))
    outer = nested.jit(lambda x: prepared(x) * 2)
    np.testing.assert_array_equal(outer(x).values, 2 * prepared(x).values)


def test_methods():
    class Model:
        def __init__(self):
            self.w = weights()

        @nested.jit
        def forward(self, x, w):
            return block(x, w)

    model = Model()
    x = batch((6, 2))
    with pytest.raises(nested.ArgumentError, match="no argument `v` to prepare; it has self, x, w"):
        Model.forward.prepare(v=1)
    assert equal(Model.forward.prepare(w=model.w)(model, x), model.forward(x, model.w))


@pytest.mark.parametrize("from_file", [False, True])
def test_artifacts(tmp_path, from_file):
    w, x = weights(), batch((17, 0, 130))
    exported = nested.export(block, nested.spec("N", K), weights(5))
    exported.save(tmp_path / "block.so")
    loaded = nested.load(tmp_path / "block.so" if from_file else exported.bytes)
    prepared = loaded.prepare(w=w)
    assert equal(prepared(x), loaded(x, w))
    assert equal(loaded.block.prepare(w=w)(x=x), loaded(x, w))
    assert prepared.plan([5]).workspace_bytes < loaded.plan([5]).workspace_bytes
    assert np.array_equal(prepared(x[2]), prepared(x)[2])


def test_threads_share_one():
    w, x = weights(), batch((17, 3, 130))
    jitted = nested.jit(block)
    expected = jitted(x, w)
    prepared, results = jitted.prepare(w=w), []
    threads = [threading.Thread(target=lambda: results.append(prepared(x))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(equal(r, expected) for r in results)


def test_wrong_use_of_jit():
    w, x = weights(), batch((3,))
    jitted = nested.jit(block)
    with pytest.raises(
        nested.ArgumentError, match="no argument `v` to prepare; it has x, w, scale"
    ):
        jitted.prepare(v=w)
    with pytest.raises(nested.ArgumentError, match="`x` is a batch; prepare takes what all"):
        jitted.prepare(x=x)
    prepared = jitted.prepare(w=w)
    with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
        prepared(x, w=w)
    with pytest.raises(TypeError, match="too many positional"):
        prepared(x, 1.0, w)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        prepared()
    donating = nested.jit(lambda x, w: (x @ w, w + 1), donate="w")
    with pytest.raises(nested.ArgumentError, match="`w` of <lambda> is donated"):
        donating.prepare(w=w["up"])
    # Panels of both are made together.
    both = nested.jit(lambda x, a, b: (x @ a) @ b)
    with pytest.raises(nested.ArgumentError, match="prepares `a` together with `b`"):
        both.prepare(a=w["up"])(x, w["down"])


def test_wrong_use_of_artifacts():
    w, x = weights(), batch((3,))
    loaded = nested.load(nested.export(block, nested.spec("N", K), w).bytes)
    with pytest.raises(nested.ArgumentError, match="has no argument `v`; it has x, w"):
        loaded.prepare(v=w)
    with pytest.raises(nested.ArgumentError, match="`x` is a batch"):
        loaded.prepare(x=x)
    with pytest.raises(nested.ArgumentError, match="does not use `w.more`"):
        loaded.prepare(w={**w, "more": w["bias"]})
    with pytest.raises(nested.ArgumentError, match="prepares .* together with `w.up`"):
        loaded.prepare(w={"down": w["down"]})
    with pytest.raises(nested.ArgumentError, match="'w.down': expected dtype f32, got f64"):
        loaded.prepare(w=weights(dtype="f8"))
    with pytest.raises(nested.ArgumentError, match="'w.up': dim 1 must be 800, got 799"):
        loaded.prepare(w={**w, "up": w["up"][:, :-1]})
    prepared = loaded.prepare(w=w)
    with pytest.raises(nested.ArgumentError, match="two values for argument `w`"):
        prepared(x, w=w)
    with pytest.raises(nested.ArgumentError, match="takes 1 arguments .x., but got 2"):
        prepared(x, w)
    with pytest.raises(nested.ArgumentError, match="needs argument `x`"):
        prepared()
