# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports from the field about gradients: test_cases.py says what the names mean."""

import numpy as np
import pytest
from helpers import close
from test_cases import batch, expect, run

import nested


def gradients(function, argnums, *args):
    """Of the sum of everything that a function gives."""

    def loss(*args):
        results = function(*args)
        results = results if isinstance(results, tuple) else (results,)
        return sum(nested.batch.sum(r, axis=None) for r in results)

    return nested.grad(loss, argnums)(*args)


def test_c04_gradient_of_a_mean_over_an_empty_sample():
    expect(gradients(lambda x: nested.mean(x, axis=0), 0, batch([[1, 3], [], [5]])),
           [[0.5, 0.5], [], [1]])  # fmt: skip


def test_c08_gradients_of_no_samples():
    w, b = np.array([[1, 2], [3, 4], [5, 6]], "f4").T.copy(), np.ones(3, "f4")
    x = nested.from_list([], dims=("N", 2), dtype="f4")
    dw, db = gradients(lambda x, w, b: x @ w + b, (1, 2), x, w, b)
    assert dw.tolist() == np.zeros((2, 3)).tolist() and db.tolist() == [0, 0, 0]


def test_c10_gradient_of_a_max_of_an_empty_sample():
    x = batch([[2, 7], [], [-3]])
    for empty in ("fill", "identity"):
        words = {} if empty == "fill" else {"empty": empty}
        g = gradients(lambda x, words=words: nested.max(x, axis=0, **words), 0, x)
        expect(g, [[0, 1], [], [1]])


def test_c19_gradients_of_f32_products_are_f32():
    a, b = np.full((1, 4), 1.00048828125, "f4"), np.ones((4, 1), "f4")
    x = nested.from_list([a])
    dx, db = gradients(lambda a, b: (a @ b) * np.float32(1.00048828125), (0, 1), x, b)
    assert dx.values.tolist() == [[1.00048828125] * 4]
    exact = 1.00048828125**2
    assert np.abs(db.ravel() - exact).max() < 1e-6 and abs(exact - 1.0009765625) > 1e-7


def test_c24_slack_has_no_gradient():
    buffer = np.array([[1], [2], [3], [np.nan], [np.nan]], "f4")
    x = nested.from_values(buffer, offsets=[0, 2, 3])
    f = nested.jit(lambda x, w: gradients(lambda x, w: x @ w, (0, 1), x, w))
    for _ in range(2):  # memory of the first step is used again
        dx, dw = f(x, np.array([[2]], "f4"))
        assert dw.tolist() == [[6]] and dx.values.tolist() == [[2], [2], [2]]


def test_c29_gradients_of_a_view_land_in_its_rows():
    view = nested.from_values(np.array([9, 4, 1, 8, 2, 3, 7], "f4"), offsets=[1, 2, 4, 7])
    g = gradients(lambda x: nested.sum(x, axis=0), 0, view)
    assert g.values.tolist() == [1] * 6 and g.lengths.tolist() == [1, 2, 3]
    expect(run(lambda x: nested.argmax(x, axis=0), view), [0, 1, 2])


def test_c32_gradients_of_padded_input_may_be_transposed():
    padded = np.array([[1, 4], [2, 5], [3, 6]], "f4").T
    p = nested.from_values(padded, lengths=np.zeros((2, 0), int), ragged=())
    n = nested.from_list([np.array(k) for k in (2, 3)], ragged=())

    g = gradients(lambda p, n: nested.batch.from_padded(p, n) ** 2, 0, p, n)
    assert g.values.tolist() == [[2, 4, 0], [8, 10, 12]]


def test_c33_upstream_gradients_may_be_strided():
    a = batch([[3, 4], [3, 4], [5]])
    expect(gradients(lambda x: nested.sum(x, axis=0), 0, a), [[1, 1], [1, 1], [1]])
    b = batch([[[1, 10], [2, 20]], [[3, 30]]])
    upstream = np.array([[1, 10], [2, 20], [3, 30]], "f4")
    halves = tuple(nested.from_values(upstream[:, k], [2, 1]) for k in (0, 1))
    _, db = nested.vjp(lambda b: (nested.cumsum(b[:, 0], axis=0), nested.cumsum(b[:, 1], axis=0)))(
        halves, b
    )
    expect(db, [[[3, 30], [2, 20]], [[3, 30]]])


def test_c35_gradients_of_what_repeats():
    x = batch([[[1, 2], [3, 4]], [[5, 6]]])
    w = nested.from_list([np.array([[10]], "f4"), np.array([[100]], "f4")], ragged=())
    s = nested.from_list([np.array([[1, 10]], "f4"), np.array([[2, 20]], "f4")], ragged=())
    dx, dw = gradients(lambda x, w: x * w, (0, 1), x, w)
    expect(dx, [[[10, 10], [10, 10]], [[100, 100]]])
    expect(dw, [[[10]], [[11]]])
    expect(gradients(lambda s, x: x + s, 0, s, x), [[[2, 2]], [[1, 1]]])


def test_c37_gradient_of_pairs():
    g = gradients(lambda x: x[:, None] + 10 * x[None, :], 0, batch([[1, 2], [], [5]]))
    expect(g, [[22, 22], [], [11]])


def test_c40_bias_has_a_gradient():
    x = batch([[[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 10]]])
    w, b = np.array([[1, 0], [0, 1], [1, 1]], "f4").T.copy(), np.array([0, 0, 1], "f4")
    dx, dw, db = gradients(lambda x, w, b: x @ w + b, (0, 1, 2), x, w, b)
    assert dw.T.tolist() == [[25, 30]] * 3 and db.tolist() == [5, 5, 5]
    assert (dx.values == 2).all()


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 1, 1]])
def test_c41_weights_of_groups_without_rows(order):
    xs, ws = [[[1, 2], [3, 4]], np.zeros((0, 2)), [[5, 6]]], [[[1], [1]], [[7], [7]], [[2], [3]]]
    ys, dws = [[[3], [7]], np.zeros((0, 1)), [[28]]], [[[4], [6]], [[0], [0]], [[5], [6]]]
    dxs = [[[1, 1], [1, 1]], np.zeros((0, 2)), [[2, 3]]]
    x, w = batch([xs[k] for k in order]), batch([ws[k] for k in order], ragged=())
    full = batch([xs[0]] * 3), batch([ws[0]] * 3, ragged=())
    f = nested.jit(lambda x, w: (x @ w, *gradients(lambda x, w: x @ w, (0, 1), x, w)))
    f(*full)  # leaves memory behind that is not zero
    y, dx, dw = f(x, w)
    expect(y, [ys[k] for k in order])
    expect(dw, [dws[k] for k in order])
    expect(dx, [dxs[k] for k in order])


def test_c43_gradient_of_means_with_empty_segments():
    x = nested.from_values(np.arange(8, dtype="f4"), offsets=[0, 3, 3, 7])
    g = gradients(lambda x: nested.mean(x, axis=0), 0, x)
    close(g.values, np.array([1 / 3] * 3 + [0.25] * 4, "f4"), 1e-7)


def test_c45_gradients_through_padding():
    """What is in padded slots, here 7, reaches no gradient."""
    x, pos = batch([[1, 2], [], [3, 4, 5]]), np.array([1, 10, 100], "f4")

    def there_and_back(x, pos, sizes):
        padded = nested.batch.to_padded(x, 7, sizes)
        return nested.batch.from_padded(
            padded * np.take(pos, nested.arange(padded.shape[0])), x.shape[0]
        )

    for sizes in (3, None):  # given, or that of the longest sample
        dx, dpos = gradients(lambda x, p, n=sizes: there_and_back(x, p, n), (0, 1), x, pos)
        expect(dx, [[1, 10], [], [1, 10, 100]])
        assert dpos.tolist() == [4, 6, 5]


def test_c45_nothing_comes_from_padding():
    """What was padded contributes nothing, whatever it holds."""
    x, pos = batch([[1, 2], [], [3, 4, 5]]), np.array([1, 10, 100], "f4")
    for fill in (7, np.nan):

        def there_and_back(x, pos, fill=fill):
            padded = nested.batch.to_padded(x, fill, sizes=3) * pos
            return nested.batch.from_padded(padded, x.shape[0])

        expect(run(there_and_back, x, pos), [[1, 20], [], [3, 40, 500]])
        dx, dpos = gradients(there_and_back, (0, 1), x, pos)
        expect(dx, [[1, 10], [], [1, 10, 100]])
        assert dpos.tolist() == [4, 6, 5]


def test_c46_gradient_of_an_embedding():
    ids = batch([[1, 1], [2], [], [1]], "i8")
    upstream = nested.from_values(np.array([[r, 1] for r in range(4)], "f4"), ids.lengths)
    table = np.zeros((4, 2), "f4")
    assert nested.vjp(lambda t, i: t[i])(upstream, table, ids)[1].tolist() == [
        [0, 0], [4, 3], [2, 1], [0, 0]]  # fmt: skip
    rng = np.random.default_rng(1)
    many = nested.from_values(np.ones(10000, "i8"), [9000, 1000])
    up = np.abs(rng.standard_normal((10000, 2))).astype("f4")
    g = nested.vjp(lambda t, i: t[i])(nested.from_values(up, many.lengths), table, many)[1]
    close(g[1], up.sum(0, dtype="f8"), 1e-6)
    assert (g[[0, 2, 3]] == 0).all()


def causal_conv(x, w):
    """Taps in front of a sample are 0."""
    padded = np.pad(x, (len(w) - 1, 0))
    return sum(w[k] * padded[k : k + x.shape[0]] for k in range(len(w)))


def test_c49_gradients_of_a_causal_convolution():
    x, w = batch([[1], [1, 2], [1, 2, 3, 4, 5]]), np.array([1, 2, 3, 4], "f4")
    expect(run(causal_conv, x, w), [[4], [4, 11], [4, 11, 20, 30, 40]])
    dx, dw = gradients(causal_conv, (0, 1), x, w)
    expect(dx, [[4], [7, 4], [10, 10, 9, 7, 4]])
    assert dw.tolist() == [3, 6, 11, 19]


def test_c52_gradients_of_rows_in_front():
    cls, x = batch([[100], [200], [300]]), batch([[1, 2], [], [3]])
    upstream = batch([[1, 2, 3], [4], [5, 6]])
    _, (dcls, dx) = nested.vjp(lambda c, x: np.concatenate([c, x]), (0, 1))(upstream, cls, x)
    expect(dcls, [[1], [4], [5]])
    expect(dx, [[2, 3], [], [6]])


def test_c55_gradient_of_indices_of_the_own_sample():
    params = batch([[10, 20], [30, 40, 50], [60]])
    idx = batch([[1], [2, 0, 2], []], "i8")
    expect(gradients(lambda p, i: p[i], 0, params, idx), [[0, 1], [1, 0, 2], [0]])


@pytest.mark.parametrize("length", [1, 15, 16, 17, 31, 33, 63, 65, 127, 129, 1025])
def test_c66_no_gradient_reads_behind_the_last_column(length):
    """NaN lies behind both operands, and behind the gradient that comes in."""
    columns = 1001 if length == 17 else 3
    x = np.full(columns * length + 64, np.nan, "f4")
    x[: columns * length] = np.tile(np.arange(columns) % 5, length)
    w = np.full(columns * 2 + 64, np.nan, "f4")
    w[: columns * 2] = np.tile([1, 2], columns)
    g = np.full(2 * length + 64, np.nan, "f4")
    g[: 2 * length] = np.tile([1, 3], length)
    rows = nested.from_values(x[: columns * length].reshape(length, columns), [length])
    seeds = nested.from_values(g[: 2 * length].reshape(length, 2), [length])
    dx, dw = gradients(
        lambda x, w, g: (x @ w) * g, (0, 1), rows, w[: columns * 2].reshape(columns, 2), seeds
    )
    assert (dx.values == 7).all()
    assert (dw == np.outer(length * (np.arange(columns) % 5), [1, 3])).all()


def test_c72_gradient_of_triangle_multiplication():
    a, b = (
        batch([[[1, 2], [3, 4]], [[5]]], ragged=(0, 1)),
        batch([[[1, 0], [2, 1]], [[2]]], ragged=(0, 1)),
    )
    g = gradients(lambda a, b: np.einsum("ik,jk->ij", a, b), 0, a, b)
    expect(g, [[[3, 1], [3, 1]], [[2]]])
