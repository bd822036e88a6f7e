# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention with an axis in front: each of its entries attends by itself. Triangle attention of both
kinds, its gradients, rows of other kinds, memory, wrong uses."""

import numpy as np
import pytest
from gradients import check as check_gradients
from gradients import dense, numbers, ragged
from helpers import check, close, normal, raises, same_bits

import nested

RNG = np.random.default_rng(21)
# Rows, queries, keys. More than a block of keys (128) and than a unit of queries (192), too.
SIZES = [(3, 5, 4), (0, 2, 3), (2, 0, 3), (4, 3, 0), (1, 200, 140), (17, 7, 9)]


def batch(*dims):
    """Samples whose sizes are those of I, N and M."""
    named = [dict(zip("INM", sizes)) for sizes in SIZES]
    return nested.from_list([normal(RNG, *(at.get(d, d) for d in dims)) for at in named], dims=dims)


Q, K, V = batch("I", "N", 4, 8), batch("I", "M", 2, 8), batch("I", "M", 2, 6)
QUERIES, KEYS, VALUES = batch("N", 4, 8), batch("M", 2, 8), batch("M", 2, 6)
EACH, ONCE, HEADS = batch("I", "N", "M", 4), batch("N", "M", 4), batch("N", "M")
FIXED = batch(3, "N", 4, 8), batch(3, "M", 2, 8), batch(3, "M", 2, 6), batch(3, "N", "M", 4)


@pytest.mark.parametrize("function, arguments", [
    (lambda q, k, v: nested.attention(q, k, v), (Q, K, V)),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b, causal=True), (Q, K, V, ONCE)),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b, window=3), (Q, K, V, HEADS)),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b, soft_cap=1.5), (Q, K, V, EACH)),
    (lambda q, k, v, b, m: nested.attention(q, k, v, bias=b, mask=m > -0.5, scale=0.2),
     (Q, K, V, ONCE, EACH)),
    # Dtypes of their own.
    (lambda q, k, v, b: nested.attention(q, k.astype("f8"), v, bias=b), (Q, K, V, ONCE)),
    # Of size 1: of all rows.
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b[None], mask=b[None] > 0), (Q, K, V, ONCE)),
    (lambda q, k, v: nested.attention(q, k[None], v[None]), (Q, KEYS, VALUES)),
    (lambda q, k, v, b: nested.attention(q[None], k, v, bias=b), (QUERIES, K, V, EACH)),
    (lambda q, k, v, b: nested.attention(q[None], k[None], v[None], bias=b),
     (QUERIES, KEYS, VALUES, EACH)),
    (lambda q, k, v, b: nested.attention(q[None], k[None], v[None], bias=b[None]),
     (QUERIES, KEYS, VALUES, ONCE)),
    # A number of rows that is no symbol.
    (lambda q, k, v, b: nested.attention(
        *[np.concatenate([x, x[:0], x]) for x in (q, k, v)], bias=b), (Q, K, V, ONCE)),
    # A fixed number of rows.
    (lambda q, k, v, b: nested.attention(q, k, v, causal=True), FIXED),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b), FIXED),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b[0], mask=b > 0), FIXED),
    (lambda q, k, v, b: nested.attention(q, k[:1], v, bias=b[:1, :, :, 0][0]), FIXED),
    (lambda q, k, v, b: nested.attention(q[:0], k[:0], v[:0], bias=b[:1]), FIXED),
])  # fmt: skip
def test_matches_numpy(function, arguments):
    check(function, *arguments)


def starting(z, w):
    """Triangle attention around the starting node: row i of the pairs attends along itself."""
    q, k, v = (np.einsum("ijc,chd->ijhd", z, w[name]) for name in "qkv")
    return nested.attention(q, k, v, bias=z @ w["b"])


def ending(z, w):
    """Around the ending node: the same along columns."""
    return starting(z.swapaxes(0, 1), w).swapaxes(0, 1)


def spelled(z, w, ends):
    """Sums as in the papers: o_ij of k, at ik of j, or at kj of i."""
    if ends:
        z = z.transpose(1, 0, 2)
    q, k, v = (np.einsum("ijc,chd->ijhd", z, w[name]) for name in "qkv")
    scores = np.einsum("ijhd,ikhd->ijkh", q, k) / np.sqrt(q.shape[3]) + (z @ w["b"])[None]
    weights = np.exp(scores - scores.max(axis=2, keepdims=True, initial=-np.inf))
    weights /= weights.sum(axis=2, keepdims=True)
    result = np.einsum("ijkh,ikhd->ijhd", weights, v)
    return result.transpose(1, 0, 2, 3) if ends else result


WEIGHTS = {**{name: normal(RNG, 6, 2, 4, scale=0.5) for name in "qkv"}, "b": normal(RNG, 6, 2)}


@pytest.mark.parametrize("function", [starting, ending])
def test_triangle_attention(function):
    z = nested.from_list([normal(RNG, n, n, 6) for n in (5, 0, 1, 30)], dims=("N", "N", 6))
    result = nested.jit(function)(z, WEIGHTS)
    wide = {name: w.astype("f8") for name, w in WEIGHTS.items()}
    for got, x in zip(result, z):
        close(got, spelled(x.astype("f8"), wide, function is ending))
        close(function(x, WEIGHTS), got)  # its own reference
    # Of a sample alone.
    for i in (0, 3):
        same_bits(nested.jit(function)(z[[i]], WEIGHTS)[0], result[i])


def test_eager():
    close(nested.attention(Q, K, V, bias=ONCE)[5], nested.attention(Q[5], K[5], V[5], bias=ONCE[5]))


# --- Derivatives ---------------------------------------------------------------------------------

ROWS = [ragged("N", "N", 2, 3), ragged("N", "N", 1, 3), ragged("N", "N", 1, 2)]
SHARED = {"q": dense(4, 2, 3), "k": dense(4, 2, 3), "v": dense(4, 2, 2), "b": dense(4, 2)}
GRADIENTS = {
    # name: (function, specs)
    "bias_of_all_rows": (lambda q, k, v, b: nested.attention(q, k, v, bias=b),
                         [*ROWS, ragged("N", "N", 2)]),
    "bias_of_each": (lambda q, k, v, b: nested.attention(q, k, v, bias=b, causal=True),
                     [*ROWS, ragged("N", "N", "N", 2)]),
    "shared_keys": (lambda q, k, v: nested.attention(q, k[:1], v[:1]),
                    [ROWS[0], dense(1, 3, 1, 3), dense(1, 3, 1, 2)]),
    "starting": (lambda z, q, k, v, b: starting(z, {"q": q, "k": k, "v": v, "b": b}),
                 [ragged("N", "N", 4), *SHARED.values()]),
    "ending": (lambda z, q, k, v, b: ending(z, {"q": q, "k": k, "v": v, "b": b}),
               [ragged("N", "N", 4), *SHARED.values()]),
    "fixed": (lambda q, k, v: nested.attention(q, k, v),
              [nested.spec(2, "N", 2, 3, dtype="f8"), nested.spec(2, "M", 1, 3, dtype="f8"),
               nested.spec(2, "M", 1, 2, dtype="f8")]),
}  # fmt: skip


@pytest.mark.parametrize("lengths", [[3, 0, 4, 1], [0, 0]], ids=["mixed", "empty"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, lengths):
    function, specs = GRADIENTS[name]
    check_gradients(function, specs, numbers(specs, lengths))


# --- Plans and errors ----------------------------------------------------------------------------


def test_pairs_are_not_copied_and_scores_not_stored():
    """What the rows attend to is read where it was made, and nothing has a third length."""
    text = nested.jit(starting).lower(nested.spec("N", "N", 6), WEIGHTS).text("structure")
    assert "N * N * N" not in text
    # Queries, keys, values and the bias; what attention gives is written as the result.
    assert text.count("ragged.buffer temp") <= 4
    assert "ragged.copy" not in text


@pytest.mark.parametrize("error, message, function", [
    (nested.ShapeError, "expected (N, H, D), (M, G, D) and (M, G, E), all without heads, or all with one "
     "more axis in front", lambda q, k, v, b: nested.attention(q, k[0], v[0])),
    (nested.ShapeError, "axes 0 differ: I is axis 0 of argument `q`; M is axis 1 of argument `k`",
     lambda q, k, v, b: nested.attention(q, k.swapaxes(0, 1), v.swapaxes(0, 1))),
    (nested.ShapeError, "bias is (I, N, M, 4), expected (N, M) or (N, M, H)",
     lambda q, k, v, b: nested.attention(q[0], k[0], v[0], bias=b)),
    (nested.ShapeError, "bias is (I, N, M, 4, 1), expected (N, M), (N, M, H) or (I, N, M, H)",
     lambda q, k, v, b: nested.attention(q, k, v, bias=b[..., None])),
    (nested.ShapeError, "its last two axes, heads and their elements, must be static",
     lambda q, k, v, b: nested.attention(q.transpose(2, 3, 0, 1), k, v)),
    (nested.ShapeError, "2 heads of queries are not a multiple of 4 of keys",
     lambda q, k, v, b: nested.attention(k, q, q)),
    (nested.ShapeError, "and is another number in every sample, 3 is fixed",
     lambda q, k, v, b: nested.attention(q, k, v, bias=np.zeros((3, 5, 4, 4), "f4") + b[:1])),
])  # fmt: skip
def test_errors(error, message, function):
    named = [nested.from_list(x.to_list(), dims=x.dims) for x in (Q, K, V, EACH)]
    with raises(error, message):
        nested.jit(function)(*named)
