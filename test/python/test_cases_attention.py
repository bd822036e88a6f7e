# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports from the field about attention: test_cases.py says what the names mean."""

import numpy as np
import pytest
from helpers import close, same_bits
from test_cases import expect, run
from test_cases_gradients import gradients

import nested


def rows(samples):
    """Samples of rows of one number."""
    return nested.from_list([np.array(s, "f4").reshape(-1, 1) for s in samples])


def like(x, value=0):
    return nested.from_values(np.full(x.values.shape, value, "f4"), x.lengths)


def attend(q, k, v, **words):
    return run(lambda q, k, v: nested.attention(q, k, v, scale=1.0, **words), q, k, v)


def attend_gradients(q, k, v, **words):
    """Of the sum of the results, with respect to all three."""
    return gradients(
        lambda q, k, v: nested.attention(q, k, v, scale=1.0, **words), (0, 1, 2), q, k, v
    )


def test_c01_keys_without_queries():
    q, k = rows([[], [1, -1], []]), rows([[1, 2], [0, 1], [3]])
    v = rows([[10, 20], [1, 3], [5]])
    expect(attend(q, k, v), [[], [[2.46211715726], [1.53788284274]], []])
    dq, dk, dv = attend_gradients(q, k, v)
    expect(dq, [[], [[0.3932239], [0.3932239]], []])
    assert dk.lengths.tolist() == [2, 2, 1] and np.abs(dk.values).max() < 1e-6
    assert (dk[0] == 0).all() and (dk[2] == 0).all()
    expect(dv, [[[0], [0]], [[1], [1]], [[0]]])
    assert (dv[0] == 0).all() and (dv[2] == 0).all()


def test_c03_queries_without_keys():
    q, k, v = rows([[1, 2], [1]]), rows([[], [0, 0]]), rows([[], [4, 6]])
    expect(attend(q, k, v), [[[0], [0]], [[5]]])
    dq, dk, dv = attend_gradients(q, k, v)
    assert (dq.values == 0).all() and len(dq.values) == 3
    assert len(dk[0]) == len(dv[0]) == 0
    expect(dk, [[], [[-0.5], [0.5]]])
    expect(dv, [[], [[0.5], [0.5]]])


def test_c08_attention_of_no_samples():
    x = nested.from_list([], dims=("N", 3, 4), dtype="f4")
    assert run(lambda x: nested.attention(x, x, x), x).values.shape == (0, 3, 4)


def test_c19_scores_and_triangles_are_f32():
    """Two keys whose scores differ by 2^-9, which tf32 would not see."""
    q = nested.from_list([np.full((1, 4), 1.00048828125, "f4")])
    k = nested.from_list([np.array([[1.00048828125] * 4, [1] * 4], "f4")])
    p = 1 / (1 + np.exp(-1000 * (4 * 1.00048828125**2 - 4 * 1.00048828125)))
    got = run(lambda q, k, v: nested.attention(q, k, v, scale=1000.0), q, k, rows([[1, 0]]))
    close(got[0], np.array([[p]]), 1e-3)
    # tf32 would see equal keys: no gradient of the query, and one of the keys without the last bits.
    dq, dk, dv = gradients(
        lambda q, k, v: nested.attention(q, k, v, scale=1000.0), (0, 1, 2), q, k, rows([[1, 0]])
    )
    slope = p * (1 - p) * 1000
    close(dq[0], np.full((1, 4), slope * 0.00048828125), 1e-3)
    close(dk[0], slope * 1.00048828125 * np.array([[1] * 4, [-1] * 4]), 1e-3)
    close(dv[0], np.array([[p], [1 - p]]), 1e-3)
    a = nested.from_list([np.full((1, 1, 4), 1.00048828125, "f4")], ragged=(0, 1))
    b = nested.from_list([np.ones((1, 1, 4), "f4")], ragged=(0, 1))
    triangle = lambda a, b: np.einsum("ikc,jkc->ij", a, b)  # noqa: E731
    assert run(triangle, a, b).values.tolist() == [4.001953125]
    da, db = gradients(triangle, (0, 1), a, b)
    assert (da.values == 1).all() and (db.values == np.float32(1.00048828125)).all()


def test_c21_samples_are_isolated():
    v = rows([[1, 3], [100, 200, 300]])
    expect(attend(like(v), like(v), v), [[[2], [2]], [[200]] * 3])


def test_c27_keys_have_offsets_of_their_own():
    v = rows([[3, 6, 9], [50]])
    expect(attend(rows([[0], [0, 0]]), like(v), v), [[[6]], [[50], [50]]])


def test_c47_bias_of_pairs():
    bias = nested.from_list(
        [np.array([[0, 1], [2, 0]], "f4"), np.array([[3]], "f4")], ragged=(0, 1)
    )
    out = run(lambda q, k, v, b: nested.attention(q, k, v, bias=b, scale=1.0),
              rows([[1, 0], [2]]), rows([[1, 2], [0]]), rows([[1, 5], [7]]), bias)  # fmt: skip
    expect(out, [[[4.52318831191], [1.47681168809]], [[7]]])
    upstream = rows([[1, 3], [1]])
    dbias = gradients(
        lambda b, q, k, v, up: nested.attention(q, k, v, bias=b, scale=1.0) * up, 0,
        bias, rows([[1, 0], [2]]), rows([[1, 2], [0]]), rows([[1, 5], [7]]), upstream)  # fmt: skip
    expect(dbias, [[[-0.4199743, 0.4199743], [-1.259923, 1.259923]], [[0]]])
    assert dbias[1] == 0  # one key: its weight is 1 whatever the bias is


def test_c57_saved_attention_stays_causal(tmp_path):
    v = rows([[1, 3], [5, 9]])
    f = nested.jit(lambda q, k, v: nested.attention(q, k, v, causal=True))
    expect(f(like(v), like(v), v), [[[1], [2]], [[5], [7]]])
    path = tmp_path / "attention.so"
    specs = [nested.spec("N", 1)] * 3
    nested.export(f, *specs).save(path)
    saved = nested.load(path)
    expect(saved(like(v), like(v), v), [[[1], [2]], [[5], [7]]])

    # So does its derivative: the first query sees one key alone.
    def loss(q, k, v):
        return nested.batch.sum(f(q, k, v), axis=None)

    module = nested.load(nested.export(loss, *specs, gradients=2).bytes)
    dv, _ = module.forward_backward(like(v), like(v), v)
    expect(dv, [[[1.5], [0.5]], [[1.5], [0.5]]])


def test_c61_many_samples_and_heads():
    x = nested.from_values(np.arange(65537, dtype="f4").reshape(-1, 1), np.ones(65537, int))
    out = attend(like(x), like(x), x)
    assert out.values[-1] == 65536 and (out.values == x.values).all()
    values = np.arange(2049 * 32, dtype="f4").reshape(2049, 32, 1)
    heads = nested.from_values(values, np.ones(2049, int))
    assert (attend(like(heads), like(heads), heads).values == values).all()


def test_c65_one_structure_is_not_that_of_another():
    f = nested.jit(lambda q, k, v: nested.attention(q, k, v))
    longer, shorter = rows([[1, 3, 5, 7], [2, 4, 6, 8]]), rows([[1, 3], [2, 4, 6]])
    want = {id(longer): [[[4]] * 4, [[5]] * 4], id(shorter): [[[2]] * 2, [[4]] * 3]}
    for v in (longer, shorter, longer):
        expect(f(like(v), like(v), v), want[id(v)])
    assert f.compilations == 1


def test_c66_causal_attention_at_every_tail():
    lengths = [1, 15, 16, 17, 31, 33, 63, 65, 127, 129, 1025]
    v = rows([np.arange(n) for n in lengths])
    out = run(lambda q, k, v: nested.attention(q, k, v, causal=True), like(v), like(v), v)
    dq, dk, dv = attend_gradients(like(v), like(v), v, causal=True)
    assert (dq.values == 0).all() and (dk.values == 0).all()
    for i, n in enumerate(lengths):
        close(out[i], np.arange(n)[:, None] / 2, 1e-6)
        # Query t gives each key that it sees 1 / (t + 1).
        close(dv[i], np.cumsum(1 / np.arange(1, n + 1)[::-1])[::-1, None], 1e-6)


def triangle(q, k, v, bias):
    """Around the starting node, without heads: each row of pairs attends by itself."""
    heads = nested.attention(*[x[:, :, None] for x in (q, k, v)], bias=bias, scale=1.0)
    return heads[:, :, 0]


def composed(q, k, v, bias):
    """The same as sums; the bias is of each row."""
    scores = np.einsum("ijd,ikd->ijk", q, k) + bias
    return np.einsum("ijk,ikd->ijd", nested.softmax(scores, axis=2), v)


C73_THIRD = 1.09861228867  # in the bias gives weights 1/4 and 3/4


def c73():
    v = nested.from_list(
        [np.array([[[1], [5]], [[2], [10]]], "f4"), np.array([[[7]]], "f4")], ragged=(0, 1)
    )
    bias = nested.from_list(
        [np.array([[0, C73_THIRD], [C73_THIRD, 0]], "f4"), np.array([[2]], "f4")], ragged=(0, 1)
    )
    written = nested.from_list(
        [np.broadcast_to(b, (len(b), *b.shape)).copy() for b in bias], ragged=(0, 1, 2)
    )
    return nested.from_list([np.zeros_like(s) for s in v], ragged=(0, 1)), v, bias, written


def test_c73_triangle_attention():
    """The bias is given once, or written out for each i: the same bits."""
    zero, v, bias, written = c73()
    want = [[[[4], [2]], [[8], [4]]], [[[7]]]]
    once = run(triangle, zero, zero, v, bias)
    each = run(lambda q, k, v, b: triangle(q, k, v, b[..., None]), zero, zero, v, written)
    expect(once, want)
    same_bits(each.values, once.values)
    expect(run(lambda q, v, b: triangle(q, q, v, b[None, :, :, None]), zero, v, bias), want)
    expect(run(lambda q, v, b: composed(q, q, v, b[None]), zero, v, bias), want)
    expect(run(lambda q, v, b: composed(q, q, v, b), zero, v, written), want)


@pytest.mark.parametrize("of_all, of_each", [
    (triangle, lambda q, k, v, b: triangle(q, k, v, b[..., None])),
    (lambda q, k, v, b: composed(q, k, v, b[None]), composed),
])  # fmt: skip
def test_c73_gradient_of_the_bias(of_all, of_each):
    """It sums over i: of what is written out it is each i's own."""
    zero, v, bias, written = c73()
    once = gradients(lambda b, q, v: of_all(q, q, v, b), 0, bias, zero, v)
    each = gradients(lambda b, q, v: of_each(q, q, v, b), 0, written, zero, v)
    for i in range(2):
        close(each[i].sum(axis=0), once[i], 1e-5)
    # Of 1/4 and 3/4: the slope of a weight is 3/16, times the differences of values, 4 and 8.
    expect(once, [np.array([[-1, 1], [-1, 1]]) * 12 * 3 / 16, [[0]]], 1e-5)


def test_c74_memory_of_triangle_attention():
    """Once with queries, keys and values as arguments, once as projections of the pairs."""
    heads, size = 4, 32
    names = ("N", "N", heads, size)

    def project(z, w):
        q, k, v = (np.einsum("ijc,chd->ijhd", z, w[name]) for name in "qkv")
        return nested.attention(q, k, v, bias=z @ w["b"])

    def given(q, k, v, bias):
        return nested.attention(q, k, v, bias=bias)

    weights = {**dict.fromkeys("qkv", nested.spec(heads * size, heads, size)),
               "b": nested.spec(heads * size, heads)}  # fmt: skip
    programs = [
        (given, *[nested.spec(*names)] * 3, nested.spec("N", "N", heads)),
        (project, nested.spec("N", "N", heads * size), weights),
    ]
    lengths = [512, 16, 16, 16]
    pairs = 4 * heads * size * sum(n * n for n in lengths)
    assert pairs == 134610944
    for program in programs:
        entry = nested.load(nested.export(*program).bytes)
        plan = entry.plan({"N": lengths})
        assert plan.peak_bytes <= 6 * pairs, plan
        # Two long samples take twice as much, and one of twice the length four times.
        more = [entry.plan({"N": n}).peak_bytes for n in ([512, 512], [1024])]
        assert more[0] < 2.1 * plan.peak_bytes and more[1] < 4.2 * plan.peak_bytes
    # The numbers, at sizes that NumPy can do.
    rng = np.random.default_rng(74)
    q, k, v = (nested.from_list([rng.standard_normal((n, n, heads, size)).astype("f4")
                                 for n in (40, 3, 0, 2)], dims=names) for _ in range(3))  # fmt: skip
    bias = nested.from_list([rng.standard_normal((n, n, heads)).astype("f4") for n in (40, 3, 0, 2)],
                            dims=names[:3])  # fmt: skip
    out = run(given, q, k, v, bias)
    for i in range(4):
        close(out[i], given(*[x[i].astype("f8") for x in (q, k, v, bias)]))
