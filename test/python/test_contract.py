# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products on traced values: NumPy's functions, the same on plain arrays, and wrong uses."""

import numpy as np
import pytest
from helpers import raises

import nested

RNG = np.random.default_rng(3)
LENGTHS = [(5, 3), (0, 2), (17, 40), (1, 0), (70, 9)]


def samples(*shape):
    """Arrays with "n" and "m" replaced by the lengths of each sample."""
    return [RNG.standard_normal([{"n": n, "m": m}.get(s, s) for s in shape]).astype("f4")
            for n, m in LENGTHS]  # fmt: skip


def batch_of(arrays, **options):
    return nested.from_list(arrays, **options)


def check(function, *arguments):
    """The function on a batch is the function on every sample."""
    batches = [batch_of(a, ragged=ragged(a)) if isinstance(a, list) else a for a in arguments]
    result = nested.jit(function)(*batches)
    for i in range(len(LENGTHS)):
        want = function(*[a[i] if isinstance(a, list) else a for a in arguments])
        got = np.asarray(result[i])
        assert got.dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def ragged(arrays):
    shapes = np.array([a.shape for a in arrays])
    return tuple(k for k in range(shapes.shape[1]) if len(set(shapes[:, k])) > 1)


Q, K, V = samples("n", 8), samples("m", 8), samples("m", 6)
P, W = samples("n", "m"), RNG.standard_normal((8, 5)).astype("f4")
H, G = samples("n", 2, 8), samples("m", 2, 8)


@pytest.mark.parametrize("function, arguments", [
    (lambda q, k: np.einsum("nc,mc->nm", q, k), (Q, K)),
    (lambda q, k: np.einsum("nc, mc", q, k), (Q, K)),
    (lambda q, k: nested.einsum("...nc,...mc->...nm", q, k), (Q, K)),
    (lambda q, w: np.einsum("nc,cd->dn", q, w), (Q, W)),
    (lambda p: np.einsum("nm->m", p), (P,)),
    (lambda q, k, v: np.einsum("nc,mc,me->ne", q, k, v, optimize=True), (Q, K, V)),
    (lambda h, g: np.einsum("nhc,mhc->hnm", h, g), (H, G)),
    (lambda h, q: np.einsum("nhc,mdc->nm", h, q[:, None, :]), (H, Q)),
    (lambda q, k: q @ k.T, (Q, K)),
    (lambda p, v: p @ v, (P, V)),
    (lambda p, v: np.matmul(p, v[:, 0]), (P, V)),
    (lambda v, p: v[:, 0] @ p.T, (V, P)),
    (lambda h, g: h.transpose(1, 0, 2) @ g.transpose(1, 2, 0), (H, G)),
    (lambda h, w: np.matmul(h, w[None]), (H, W)),
    (lambda q, k: np.tensordot(q, k, axes=((1,), (1,))), (Q, K)),
    (lambda p, v: np.tensordot(p, v, axes=1), (P, V)),
    (lambda h, g: np.tensordot(h, g, axes=[[1, 2], [1, 2]]), (H, G)),
    (lambda p, v: np.dot(p, v), (P, V)),
    (lambda p, h: np.dot(p.T, h.transpose(1, 0, 2)), (P, H)),
    (lambda q, k: np.inner(q, k), (Q, K)),
    (lambda q, k: np.outer(q[:, 0], k[:, 1]), (Q, K)),
    (lambda q, w: np.vecdot(q, w[:, 0]), (Q, W)),
    (lambda q: np.linalg.vecdot(q, 2 * q, axis=0), (Q,)),
    (lambda p, v: np.matvec(p, v[:, 0]), (P, V)),
    (lambda v, p: np.vecmat(v[:, 0], p.T), (V, P)),
    (lambda q: np.trace(q[:, :, None] * q[:, None, :], axis1=1, axis2=2), (Q,)),
])  # fmt: skip
def test_functions(function, arguments):
    check(function, *arguments)


@pytest.mark.parametrize("left, right", [("i1", "i4"), ("f4", "f8"), ("?", "?"), ("i8", "f4")])
def test_dtypes_promote(left, right):
    x = [(10 * a).astype(left) for a in Q]
    y = [(10 * a).astype(right) for a in K]
    check(lambda q, k: q @ k.T, x, y)
    check(lambda q, k: np.einsum("nc,mc->nm", q, k), x, y)


def test_products_for_each_feature_in_parts():
    """More rows, columns and terms than a part has; features are lines of the cache, vectors and single ones."""
    function = nested.jit(lambda a, b: np.einsum("ikc,jkc->ijc", a, b))
    sizes = [(50, 301, 170), (1, 1, 1), (3, 256, 289), (0, 5, 2), (25, 0, 13)]
    a = [RNG.standard_normal((i, k, 28)).astype("f4") for i, k, _ in sizes]
    b = [RNG.standard_normal((j, k, 28)).astype("f4") for _, k, j in sizes]
    result = function(batch_of(a, ragged=(0, 1)), batch_of(b, ragged=(0, 1)))
    for got, x, y in zip(result, a, b):
        want = np.einsum("ikc,jkc->ijc", x.astype("f8"), y.astype("f8"))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4)
        alone = function(batch_of([x], ragged=(0, 1)), batch_of([y], ragged=(0, 1)))[0]
        np.testing.assert_array_equal(got, alone)


def test_batch_einsum():
    function = nested.jit(lambda x, y: nested.batch.einsum("nk,nm->km", x, y))
    x, y = samples("n", 40), samples("n", 20)
    want = sum(np.einsum("nk,nm->km", *(a.astype("f8") for a in pair)) for pair in zip(x, y))
    got = function(batch_of(x, ragged=(0,)), batch_of(y, ragged=(0,)))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())
    plain = nested.batch.einsum("nk,nm->km", x[2], y[2])
    np.testing.assert_allclose(plain, x[2].T @ y[2], rtol=1e-4, atol=1e-4)


def test_long_sums_keep_their_digits():
    """200 000 terms of one sign."""
    x = [RNG.random((200_000, 3)).astype("f4"), RNG.random((7, 3)).astype("f4")]
    function = nested.jit(lambda a: (a.T @ a, nested.batch.einsum("nk,nm->km", a, a)))
    one, total = function(batch_of(x, ragged=(0,)))
    want = [a.astype("f8").T @ a.astype("f8") for a in x]
    np.testing.assert_allclose(one[0], want[0], rtol=1e-5)
    np.testing.assert_allclose(total, sum(want), rtol=1e-5)


@pytest.mark.parametrize("error, message, function", [
    (nested.ShapeError, "axes 0 differ",
     lambda p, q, v: np.einsum("nc,nd->cd", p, q)),
    (nested.ShapeError, "8 and 6", lambda p, q, v: np.einsum("nc,mc->nm", p, v)),
    (nested.ShapeError, "term 'ncd' has 3 axes, but got an operand with 2",
     lambda p, q, v: np.einsum("ncd,mc->nm", p, q)),
    (nested.ShapeError, "has 1 terms, but got 2 operands",
     lambda p, q, v: np.einsum("nc->n", p, q)),
    (nested.ShapeError, "'z' is in no operand but in the result",
     lambda p, q, v: np.einsum("nc,mc->nz", p, q)),
    (nested.TraceError, "np.einsum of lists of axes",
     lambda p, q, v: np.einsum(p, [0, 1], q, [2, 1])),
    (nested.ShapeError, "'n' is ragged, it differs from sample to sample",
     lambda p, q, v: nested.batch.einsum("nc,mc->nc", p, q)),
    (nested.ShapeError, "use * for numbers", lambda p, q, v: np.matmul(p, 2.0)),
    (nested.ShapeError, "expected one axis each", lambda p, q, v: np.linalg.outer(p, q)),
])  # fmt: skip
def test_errors(error, message, function):
    arguments = [
        batch_of(Q, dims=("N", 8)), batch_of(K, dims=("M", 8)), batch_of(V, dims=("M", 6)),
    ]  # fmt: skip
    with raises(error, message):
        nested.jit(function)(*arguments)
