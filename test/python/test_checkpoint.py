# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nested.checkpoint: the same derivatives, from values that are computed again."""

import numpy as np
from gradients import N8, W, central_differences, dense, ragged, same

import nested


def layer(x, w):
    return x + np.sin(np.cumsum(np.tanh(x @ w), axis=0))


PROGRAMS = {
    # name: (function, specs)
    "layers": (lambda x, w: nested.checkpoint(layer)(nested.checkpoint(layer)(x, w), w),
               [N8, dense(3, 3)]),
    "inside_of_another": (
        lambda x, w: nested.checkpoint(lambda y: nested.checkpoint(layer)(y, w) ** 2)(x) * 2,
        [N8, dense(3, 3)]),
    "closure": (lambda x, w: nested.checkpoint(lambda y: np.exp(y @ w) + x[:, :1])(x * 2), [N8, W]),
    "several_results": (
        lambda x: sum(nested.checkpoint(lambda y: (np.sin(y), {"a": y * y}))(x)[0] for _ in range(2)),
        [N8]),
    "attention": (
        lambda x: nested.checkpoint(lambda y: nested.attention(y, y, y, causal=True))(x) ** 2,
        [ragged("N", 2, 3)]),
    "gather": (lambda t, i: nested.checkpoint(lambda t: np.sin(t[i]))(t) ** 2,
               [dense(40, 3), nested.spec("N", dtype=np.int64)]),
    "selection": (
        lambda x: nested.checkpoint(lambda y: nested.sum(np.exp(y[y[:, 0] > 0]), axis=0))(x * x - 1),
        [N8]),
    "nothing_inside": (lambda x: nested.checkpoint(lambda y: y)(x) * x, [N8]),
}  # fmt: skip


test_gradients = central_differences(PROGRAMS)


def loss_of(depth, wrap):
    step = wrap(layer)

    def loss(w, x):
        for _ in range(depth):
            x = step(x, w)
        return nested.batch.sum(x * x, axis=None)

    return loss


def test_the_same_with_less_memory():
    """What is kept does not grow with what happens inside of a layer."""
    rng = np.random.default_rng(0)
    x = nested.from_list([rng.standard_normal((n, 16)) for n in (300, 0, 50)])
    w = rng.standard_normal((16, 16)) / 4
    plain = nested.value_and_grad(loss_of(6, lambda f: f))
    again = nested.value_and_grad(loss_of(6, nested.checkpoint))
    (a, da), (b, db) = plain(w, x), again(w, x)
    assert a == b
    same(da, db, 1e-13, "gradient")
    peaks = [f.plan([300, 0, 50]).peak_bytes for f in (plain, again)]
    assert peaks[1] < 0.75 * peaks[0], peaks


def test_second_derivatives():
    rng = np.random.default_rng(1)
    x = nested.from_list([rng.standard_normal((n, 2)) for n in (2, 0, 3)])
    w = rng.standard_normal((2, 2))

    def twice(wrap):
        first = nested.grad(loss_of(2, wrap))
        return nested.grad(lambda w, x: np.sum(first(w, x) * np.arange(4.0).reshape(2, 2)))(w, x)

    same(twice(nested.checkpoint), twice(lambda f: f), 1e-12, "second derivative")


def test_plain_arrays_and_traces_without_derivatives():
    x, w = np.ones((2, 3)), np.ones((3, 3))
    assert (nested.checkpoint(layer)(x, w) == layer(x, w)).all()
    batch = nested.from_list([x, x[:0]])
    y = nested.jit(nested.checkpoint(layer))(batch, w)
    same(y[0], layer(x, w), 1e-12, "without a derivative")
    assert nested.jit(lambda x: nested.checkpoint(lambda: (1, "a"))()[0] * x)(batch)[0][0, 0] == 1
