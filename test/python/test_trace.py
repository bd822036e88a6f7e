# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What functions become: the recorded program's ops, types, names and locations."""

import re
from collections import namedtuple

import numpy as np
import pytest
from helpers import normal

import nested


def traced(function, *args, **kwargs):
    return nested.jit(function).lower(*args, **kwargs).text("trace")


def ops(text):
    """Names of the recorded ops in order."""
    return re.findall(r"= (ragged\.\w+)", text)


def casts(text):
    """Extents before and after each checked cast."""
    return re.findall(r"ragged.cast .*<(\[.*\]), .*> to .*<(\[.*\]), .*> loc", text)


X = nested.spec(None, 8)


def test_arguments_have_names_and_symbols(rng):
    Pair = namedtuple("Pair", "left right")

    def f(x, y, w, scale):
        return x @ w["u"][0], y.sum(0) * w["pair"].left * scale + w["pair"].right

    w = {"u": [np.ones((8, 4), "f4")], "pair": Pair(np.float32(1), np.float32(2))}
    text = traced(f, X, nested.spec(None, 4), w, 3)
    for argument in (
        '%arg0: !ragged.tensor<[N, 8], f32> {ragged.name = "x"}',
        '%arg1: !ragged.tensor<[M, 4], f32> {ragged.name = "y"}',
        '%arg2: tensor<f32> {ragged.name = "w.pair.left"}',
        '%arg3: tensor<f32> {ragged.name = "w.pair.right"}',
        '%arg4: tensor<8x4xf32> {ragged.name = "w.u.0"}',
    ):
        assert argument in text
    assert "%arg5" not in text  # scale is static
    assert '-> (!ragged.tensor<[N, 4], f32> {ragged.name = "0"}' in text


def test_every_op_has_the_users_line():
    def f(x):
        y = x + 1
        return (
            nested.nn.gelu(y)
            * y
        )  # fmt: skip

    text = traced(f, X)
    first = f.__code__.co_firstlineno
    locations = dict(re.findall(r'(#loc\d+) = loc\("[^"]*test_trace.py":(\d+):\d+\)', text))
    lines = [ln for ln in text.splitlines() if "ragged." in ln and "func.func" not in ln]
    for line in lines:
        if "loc(" in line:
            alias = re.findall(r"loc\((#loc\d+)\)", line)[-1]
            assert first <= int(locations[alias]) <= first + 5
    maps = re.findall(r"\} -> !ragged.*loc\((#loc\d+)\)", text)
    assert [int(locations[m]) - first for m in maps] == [1, 3, 3]


def test_paths_are_relative_to_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text("def f(x):\n    return x + 1\n")
    scope = {}
    exec(
        compile((tmp_path / "program.py").read_text(), str(tmp_path / "program.py"), "exec"), scope
    )
    assert 'loc("program.py":2:12)' in traced(scope["f"], X)


def test_map_with_numbers_and_rows():
    text = traced(lambda x, b: x * 2 + b, X, np.ones(8, "f4"))
    assert ops(text) == ["ragged.map", "ragged.map"]
    assert "ins(%0, %arg1 : !ragged.tensor<[N, 8], f32>, tensor<8xf32>)" in text
    assert "arith.constant 2.0 : f32" in text


def test_new_axes_are_one_broadcast():
    """x[:, None] + y[None, :] broadcasts each operand once, to its final shape."""
    text = traced(lambda x: x[:, None, :] + x[None, :, :], X)
    assert ops(text) == ["ragged.broadcast", "ragged.broadcast", "ragged.map"]
    assert "dims [0, 2]" in text and "dims [1, 2]" in text


def test_unused_ops_are_left_out():
    def f(x):
        np.exp(x)
        return x + 1

    assert ops(traced(f, X)) == ["ragged.map"]


def test_symbols_of_ours_are_unified_by_a_check():
    def f(x, y):
        total = x + y
        return total, y * 2

    text = traced(f, X, X)
    found = re.findall(r'ragged.cast (%\w+) \{reason = "([^"]*)"\} : (.*) to (.*) loc', text)
    assert found[0] == (
        "%arg1",
        "x + y",
        "!ragged.tensor<[M, 8], f32>",
        "!ragged.tensor<[N, 8], f32>",
    )
    assert text.count("-> !ragged.tensor<[N, 8], f32>") == 2
    assert "-> !ragged.tensor<[M, 8], f32>" not in text


def test_derived_extents_are_unified_by_their_symbols():
    """The check is of the arguments: what was computed from them follows."""
    text = traced(lambda x, y: x[1:] + y[:-1], X, X)
    assert casts(text) == [("[M, 8]", "[N, 8]"), ("[max(M - 1, 0), 8]", "[max(N - 1, 0), 8]")]
    text = traced(lambda x, y: (x[:, None] * x[None]) + y, X, nested.spec(None, None, 8))
    assert casts(text) == [("[M, K, 8]", "[N, K, 8]"), ("[N, K, 8]", "[N, N, 8]")]
    text = traced(lambda x, y: x[1:] + y, X, X)
    assert casts(text) == [("[M, 8]", "[max(N - 1, 0), 8]")]


def test_axes_of_one_argument_that_have_one_name():
    text = traced(lambda p: p + p.swapaxes(0, 1), nested.spec("L", "L", 4))
    assert "ragged.cast" not in text and "!ragged.tensor<[L, L, 4], f32>" in text


@pytest.mark.parametrize(
    "function, op",
    [
        (lambda x: x.mean(axis=0), "ragged.reduce mean %arg0 dims [0] :"),
        (lambda x: np.sum(x, axis=(0, 1)), "ragged.reduce sum %arg0 dims [0, 1] :"),
        (lambda x: np.max(x, axis=-1), "ragged.reduce max %arg0 dims [1] :"),
        (lambda x: nested.min(x, 0, empty="identity"), "dims [0] empty identity :"),
        (lambda x: np.add.reduce(x), "ragged.reduce sum %arg0 dims [0] :"),
        (lambda x: nested.batch.sum(x, axis=0), "ragged.reduce sum %arg0 dims [0] batch : "
         "!ragged.tensor<[N, 8], f32> -> tensor<8xf32>"),
        (lambda x: nested.batch.mean(x, axis=None), "dims [0, 1] batch : "
         "!ragged.tensor<[N, 8], f32> -> tensor<f32>"),
        (lambda x: nested.batch.max(x.sum(0)), "dims [] batch : "
         "!ragged.tensor<[8], f32> -> tensor<8xf32>"),
        (lambda x: x.T, "ragged.transpose %arg0 permutation [1, 0]"),
        (lambda x: x[1:], "dim 0 start <min(N, 1)> size <max(N - 1, 0)>"),
        (lambda x: x[:-1], "dim 0 start <0> size <max(N - 1, 0)>"),
        (lambda x: x[-1], "dim 0 start <N - 1> size <1> drop"),
        (lambda x: x[0], "dim 0 start <0> size <1> drop"),
        (lambda x: x[:, 2:4], "dim 1 start <2> size <2>"),
        (lambda x: x[: x.shape[0] // 2], "dim 0 start <0> size <N floordiv 2>"),
        (lambda x: x / x.shape[0], "ragged.extent <N> : !ragged.tensor<[], i64>"),
        (lambda x: nested.arange(x.shape[0]), "ragged.iota dim 0 : !ragged.tensor<[N], i64>"),
        (lambda x: nested.zeros((x.shape[0], 3)), "ragged.fill 0.0 : f32"),
        (lambda x: nested.layer_norm(x, eps=1e-6), "{dims = 1 : i64, eps = 1.0e-06 : f64}"),
        (lambda x: x[x[:, 0] > 0], "ragged.masked_select"),
        (lambda x: np.maximum(x, 0), "arith.maximumf"),
        (lambda x: np.where(x > 0, x, 0.0), "arith.select"),
        (lambda x: x ** 2, "arith.mulf"),
        (lambda x: x.astype("f8"), "arith.extf"),
    ],
)  # fmt: skip
def test_ops(function, op):
    assert op in traced(function, X)


def test_gather():
    text = traced(lambda t, table: table[t] + np.take(table, t, axis=0),
                  nested.spec("N", dtype="i4"), np.ones((21, 8), "f4"))  # fmt: skip
    assert ops(text) == ["ragged.map", "ragged.gather", "ragged.map", "ragged.gather", "ragged.map"]
    assert "tensor<21x8xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 8], f32>" in text


DTYPES = ["?", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]
BINARY = {
    "add": lambda x, y: x + y, "divide": lambda x, y: x / y, "floor_divide": lambda x, y: x // y,
    "power": lambda x, y: x**y, "maximum": np.maximum, "greater": lambda x, y: x > y,
    "where": lambda x, y: np.where(True, x, y), "mean": lambda x, y: (x * y).mean(),
    "sum": lambda x, y: (x * y).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", [*DTYPES, bool, int, float, np.float32, np.int64])
def test_dtypes_promote_as_in_numpy(name, left, right):
    function = BINARY[name]
    x = np.ones(3, left)
    number = right(1) if isinstance(right, type) else None
    try:
        want = function(x, np.ones(3, right) if number is None else number).dtype
        nested._dtypes.name_of(np.dtype(want))
    except (TypeError, nested.TraceError):
        return
    if number is None:
        lowered = lambda x, y: function(x, y)  # noqa: E731
        specs = [nested.spec("N", dtype=left), nested.spec("N", dtype=right)]
    else:
        lowered = lambda x: function(x, number)  # noqa: E731
        specs = [nested.spec("N", dtype=left)]
    text = traced(lowered, *specs)
    results = re.search(r"-> \(!ragged\.tensor<\[.*?\], (\w+)>", text)
    assert results[1] == nested._dtypes.name_of(np.dtype(want)), text


def test_sizes_are_weak_integers():
    def result(function):
        text = traced(function, X)
        return re.search(r"-> \(!ragged\.tensor<\[.*?\], (\w+)>", text)[1]

    assert result(lambda x: x / x.shape[0]) == "f32"
    assert result(lambda x: x * (x.shape[0] * 0.5)) == "f32"
    assert result(lambda x: x.shape[0] / 3) == "f64"
    assert result(lambda x: x.shape[0]) == "i64"
    assert result(lambda x: x / np.sqrt(x.shape[0])) == "f64"


def test_arrays_from_outside_are_arguments():
    w = np.ones((8, 4), "f4")
    text = traced(lambda x: (x @ w) @ w.T, X)
    assert '%arg1: tensor<8x4xf32> {ragged.name = "captured.0"}' in text
    with pytest.raises(nested.TraceError, match="uses arrays from outside"):
        nested.export(lambda x: x @ w, X)


def test_in_place_updates_are_seen_by_every_name():
    def f(x):
        y = x * 2
        z = y
        y += 1
        return z

    assert ops(traced(f, X)) == ["ragged.map", "ragged.map"]


def test_jit_in_jit_is_inlined():
    inner = nested.jit(lambda x: x + 1)
    text = traced(lambda x: inner(x) * 2, X)
    assert text.count("func.func") == 1 and inner.compilations == 0


def test_plain_arrays_run_numpy(rng):
    """The function is its own reference: in float64, without the compiler."""
    block = nested.jit(lambda x, w: nested.mean(np.exp(x @ w), axis=0))
    x, w = normal(rng, 5, 8, dtype="f8"), normal(rng, 8, 4, dtype="f8")
    out = block(x, w)
    assert isinstance(out, np.ndarray) and out.dtype == np.float64 and block.compilations == 0
    np.testing.assert_array_equal(out, np.mean(np.exp(x @ w), axis=0))


def test_twins_are_defined_for_nothing():
    empty = np.zeros((0, 3), "f4")
    assert nested.mean(empty, axis=0).tolist() == [0, 0, 0]
    assert nested.max(empty, axis=0).tolist() == [0, 0, 0]
    assert nested.max(empty, axis=0, empty="identity").tolist() == [-np.inf] * 3
    assert nested.sum(empty) == 0 and nested.prod(empty) == 1
    assert nested.var(empty) == 0 and not nested.any(empty) and nested.all(empty)
    assert nested.batch.mean(empty, axis=0).tolist() == [0, 0, 0]
    assert nested.batch.sum(np.ones((2, 3)), axis=()).shape == (2, 3)
    assert nested.softmax(empty, axis=0).shape == (0, 3)


def test_twins_match_numpy(rng):
    x = normal(rng, 4, 6, dtype="f8")
    for name in ("exp", "tanh", "sqrt", "sign", "maximum"):
        assert getattr(nested, name) is getattr(np, name)
    np.testing.assert_allclose(nested.softmax(x).sum(-1), 1)
    np.testing.assert_allclose(nested.nn.gelu(x), 0.5 * x * (1 + nested.erf(x / np.sqrt(2))))
    np.testing.assert_allclose(nested.nn.silu(x), x / (1 + np.exp(-x)))
    norm = nested.layer_norm(x)
    np.testing.assert_allclose(norm.mean(-1), 0, atol=1e-12)
    np.testing.assert_allclose(
        nested.linear(x, np.ones((6, 2)), np.ones(2)), x @ np.ones((6, 2)) + 1
    )


def test_signatures_are_kept():
    import inspect

    assert list(inspect.signature(nested.from_list).parameters) == ["xs", "ragged", "dims", "dtype"]
    assert "Packs samples into a batch." in nested.from_list.__doc__

    @nested.jit
    def f(x, scale=2):
        """Doc."""

    assert f.__name__ == "f" and f.__doc__ == "Doc." and "scale" in str(inspect.signature(f))
