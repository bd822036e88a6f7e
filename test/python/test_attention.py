# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: the same function on batches and on plain arrays, wrong uses, and BERT."""

import ctypes
import mmap
import sys

import numpy as np
import pytest
from helpers import check, close, normal, raises, same_bits

import nested

RNG = np.random.default_rng(9)
# More than a block of keys (128) and than a unit of queries (192), too.
LENGTHS = [(5, 3), (0, 2), (3, 0), (17, 40), (70, 130), (200, 270)]


def batch(*features, which=0, ragged=(0,)):
    return nested.from_list(
        [normal(RNG, lengths[which], *features) for lengths in LENGTHS], ragged=ragged
    )


def pairs(*features):
    return nested.from_list([normal(RNG, n, m, *features) for n, m in LENGTHS], ragged=(0, 1))


Q, K, V = batch(4, 8), batch(2, 8, which=1), batch(2, 6, which=1)
X, BIAS, SHARED = batch(2, 16), pairs(4), pairs()
SQUARE = nested.from_list([normal(RNG, n, n, 2) for n, _ in LENGTHS], ragged=(0, 1))


@pytest.mark.parametrize("function, arguments", [
    (lambda q, k, v: nested.attention(q, k, v), (Q, K, V)),
    (lambda q, k, v: nested.attention(q[:, 0], k[:, 0], v[:, 0]), (Q, K, V)),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b, scale=0.3), (Q, K, V, BIAS)),
    (lambda q, k, v, b: nested.attention(q, k, v, bias=b, soft_cap=1.5), (Q, K, V, SHARED)),
    (lambda q, k, v, b: nested.attention(q, k, v, mask=b > 0), (Q, K, V, BIAS)),
    (lambda q, k, v, b: nested.attention(q, k, v, mask=b[:, :, 0] > 0.5), (Q, K, V, BIAS)),
    (lambda q, k, v: nested.attention(q, k, v, causal=True), (Q, K, V)),
    (lambda x: nested.attention(x, x, x, causal=True, window=4), (X,)),
    (lambda x, b: nested.attention(x, x, x, bias=b, window=(2, None)), (X, SQUARE)),
    (lambda x: nested.attention(x, x, x, window=3), (X,)),
])  # fmt: skip
def test_matches_numpy(function, arguments):
    check(function, *arguments)


def test_queries_that_see_nothing_give_zero():
    mask = nested.from_list([np.zeros((n, m), bool) for n, m in LENGTHS], ragged=(0, 1))
    result = nested.jit(lambda q, k, v, m: nested.attention(q, k, v, mask=m))(Q, K, V, mask)
    assert all((np.asarray(r) == 0).all() for r in result)
    assert result[2].shape == (3, 4, 6)


def before_a_forbidden_page(array):
    """A copy whose last byte is followed by a page that must not be touched."""
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + size), page, 0) == 0
    copy = np.frombuffer(memory, array.dtype, array.size, size - array.nbytes).reshape(array.shape)
    copy[...] = array
    return copy


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")
@pytest.mark.parametrize("keys", [1, 7, 22, 40, 130])
def test_nothing_behind_the_last_key_is_read(keys):
    arrays = [normal(RNG, rows, 1, 64) for rows in (5 + 4, 3 + keys, 3 + keys)]
    function = nested.jit(lambda q, k, v: nested.attention(q, k, v))
    lengths = [(5, 4), (3, keys), (3, keys)]
    want = function(*map(nested.from_values, arrays, lengths))
    got = function(*map(nested.from_values, map(before_a_forbidden_page, arrays), lengths))
    same_bits(got.values, want.values)


def test_eager():
    close(nested.attention(X, X, X, causal=True)[4],
          nested.attention(X[4], X[4], X[4], causal=True))  # fmt: skip


def test_scores_are_never_stored():
    text = nested.jit(lambda x: nested.attention(x, x, x)).lower(X).text("structure")
    assert text.count("ragged.buffer temp") == 0


@pytest.mark.parametrize("error, message, function", [
    (nested.ShapeError, "expected (N, H, D), (M, G, D) and (M, G, E)",
     lambda q, k, v: nested.attention(q, k[:, 0], v)),
    (nested.ShapeError, "4 heads of queries are not a multiple of 3 of keys",
     lambda q, k, v: nested.attention(q, q[:, :3], q[:, :3])),
    (nested.ShapeError, "8 and 6", lambda q, k, v: nested.attention(q, v, v)),
    (nested.TraceError, "expected a floating-point dtype",
     lambda q, k, v: nested.attention(q.astype(int), k, v)),
    (nested.TraceError, "mask is float32, expected bool",
     lambda q, k, v: nested.attention(q[:, :2], k, v, mask=q[:, :2, 0] @ k[:, :, 0].T)),
    (nested.ShapeError, "soft_cap must be above 0",
     lambda q, k, v: nested.attention(q, k, v, soft_cap=0.0)),
    (nested.ShapeError, "window must be at least 1",
     lambda q, k, v: nested.attention(q, k, v, window=0)),
])  # fmt: skip
def test_errors(error, message, function):
    with raises(error, message):
        nested.jit(function)(Q, K, V)


# --- BERT, for one text -----------------------------------------------------------


def bert(ids, w, heads=2):
    x = nested.layer_norm(
        np.take(w["tokens"], ids, axis=0) + np.take(w["places"], nested.arange(ids.shape[0]), axis=0),
        *w["norm"],
    )  # fmt: skip
    for layer in w["layers"]:
        # The weights give heads, (C, H, D).
        query, key, value = (np.einsum("nc,chd->nhd", x, layer[k]) for k in "qkv")
        seen = nested.attention(query, key, value)
        x = nested.layer_norm(x + np.einsum("nhd,hdc->nc", seen, layer["o"]), *layer["norm1"])
        x = nested.layer_norm(x + nested.nn.mlp(x, layer, nested.nn.gelu), *layer["norm2"])
    return x


def bert_weights(tokens=50, places=64, features=24, heads=2):
    def w(*shape):
        return normal(RNG, *shape, scale=shape[0] ** -0.5)

    def norm():
        return 1 + normal(RNG, features, scale=0.1), normal(RNG, features, scale=0.1)

    size = features // heads
    layers = [
        {**{k: w(features, heads, size) for k in "qkv"}, "o": w(heads, size, features),
         "w1": w(features, 4 * features), "b1": w(4 * features), "w2": w(4 * features, features),
         "b2": w(features), "norm1": norm(), "norm2": norm()}
        for _ in range(2)
    ]  # fmt: skip
    return {"tokens": normal(RNG, tokens, features), "places": normal(RNG, places, features),
            "norm": norm(), "layers": layers}  # fmt: skip


def test_bert():
    """Two layers: equal to NumPy, one compilation, bits of a text the same in any batch."""
    w = bert_weights()
    texts = [RNG.integers(0, 50, n) for n in (7, 1, 0, 64, 30)]
    model = nested.jit(bert)
    batch = nested.from_list(texts, ragged=(0,))
    check(bert, batch, w, jitted=model)
    whole = model(batch, w)
    for i in (3, 0, 4):
        same_bits(model(nested.from_list([texts[i]], ragged=(0,)), w)[0], whole[i])
    assert model.compilations == 1
