# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Extents: canonical forms, text, and what can be decided about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nested
from nested import _dims

N, M = _dims.symbol("N"), _dims.symbol("M")


@st.composite
def extents(draw, depth=3):
    """An extent and a function that computes it."""
    kind = draw(st.sampled_from(["int", "N", "M"] if depth == 0 else
                                ["int", "N", "M", "+", "-", "*", "//", "%", "min", "max"]))  # fmt: skip
    if kind == "int":
        n = draw(st.integers(-4, 4))
        return n, lambda v: n
    if kind in "NM":
        return _dims.symbol(kind), lambda v: v[kind]
    a, f = draw(extents(depth=depth - 1))
    if kind in ("//", "%"):
        c = draw(st.integers(1, 5))
        if kind == "//":
            return _dims.floordiv(a, c), lambda v: f(v) // c
        return _dims.mod(a, c), lambda v: f(v) % c
    b, g = draw(extents(depth=depth - 1))
    python = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y,
              "min": min, "max": max}[kind]  # fmt: skip
    ours = {"+": _dims.add, "-": _dims.sub, "*": _dims.mul, "min": _dims.minimum,
            "max": _dims.maximum}[kind]  # fmt: skip
    return ours(a, b), lambda v: python(f(v), g(v))


@given(extents(), st.integers(0, 7), st.integers(0, 7))
def test_form_keeps_the_value(extent, n, m):
    form, function = extent
    lengths = {"N": n, "M": m}
    assert _dims.evaluate(form, lengths) == function(lengths)


@given(extents(), st.integers(0, 7), st.integers(0, 7))
def test_text_is_read_back(extent, n, m):
    form, _ = extent
    assert _dims.same(_dims.parse(str(form)), form)


@given(extents(), st.integers(0, 7), st.integers(0, 7))
def test_proofs_hold(extent, n, m):
    form, function = extent
    if _dims.nonnegative(form):
        assert function({"N": n, "M": m}) >= 0


@pytest.mark.parametrize(
    "extent, text",
    [
        (N - 1 + 1, "N"),
        (N * 2 + M - N, "M + N"),
        ((N - 1) // 2 + 1, "(N + 1) floordiv 2"),
        ((4 * N + 2) // 2, "2 * N + 1"),
        (N * N - N * N, "0"),
        (_dims.maximum(N - 1, 0), "max(N - 1, 0)"),
        (_dims.maximum(N, 0), "N"),
        (_dims.minimum(N, N + 1), "N"),
        (_dims.minimum(_dims.floordiv(N, 2), N), "N floordiv 2"),
        ((N // 2) * M, "(N floordiv 2) * M"),
        (0 - N, "-1 * N"),
    ],
)
def test_canonical_form(extent, text):
    assert str(extent) == text


def test_comparisons_that_are_decided():
    assert N == N + 1 - 1
    assert N != N + 1
    assert N + 1 > 0
    assert N <= N * 2
    assert not N + 2 < 1
    assert bool(N + 1)


@pytest.mark.parametrize(
    "decide, message",
    [
        (lambda: N < 5, "whether N < 5 depends on the lengths"),
        (lambda: N == M, "whether N == M depends on the lengths"),
        (lambda: bool(N), "neither true nor false"),
        (lambda: int(N), "the size N is another number in every sample"),
        (lambda: float(N), "the size N is another number in every sample"),
        (lambda: range(N), "the size N is another number in every sample"),
    ],
)
def test_what_depends_on_lengths(decide, message):
    with pytest.raises(nested.TraceError) as e:
        decide()
    assert message in str(e.value)


def test_solve():
    """The first candidate that occurs once, linearly."""
    name, extent = _dims.solve(_dims.sub(N, M), ["M", "N"])
    assert name == "M" and str(extent) == "N"
    name, extent = _dims.solve(_dims.sub(N - 1, M), ["N"])
    assert name == "N" and str(extent) == "M + 1"
    assert _dims.solve(_dims.sub(N, _dims.mul(N, N)), ["N"]) is None
    assert _dims.solve(_dims.sub(N, M), []) is None
