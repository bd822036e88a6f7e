# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of every operation: compiled, interpreted, and by central differences."""

import numpy as np
import pytest
from gradients import (
    F8,
    LENGTHS,
    N8,
    NM,
    V,
    W,
    central_differences,
    dense,
    leaves,
    numbers,
    ragged,
    same,
    shifted,
    squares,
)  # fmt: skip
from helpers import raises

import nested

PROGRAMS = {
    # name: (function, specs)
    "add_mul": (lambda x, y: x * y + x, [N8, N8]),
    "div_sub": (lambda x, y: x / (y * y + 1) - y, [N8, N8]),
    "shared_vector": (lambda x, v: x * v, [ragged("N", 4), V]),
    "shared_number": (lambda x, a: x * a + a, [N8, dense()]),
    "twice": (lambda x: x * x * x, [N8]),
    "exp_log": (lambda x: np.exp(x) + np.log(x * x + 1) + np.log1p(np.exp(-x)), [N8]),
    "more_exp_log": (lambda x: np.exp2(x) + np.expm1(x) + np.log2(x * x + 2) + np.log10(x * x + 1),
                     [N8]),
    "trigonometry": (lambda x: np.sin(x) * np.cos(2 * x) + np.tan(x / 4) + np.arctan(x), [N8]),
    "arc": (lambda x: np.arcsin(np.sin(x) / 2) + np.arccos(np.sin(x) / 3), [N8]),
    "hyperbolic": (lambda x: np.sinh(x) + np.cosh(x) * np.tanh(x) + np.arcsinh(x), [N8]),
    "arc_hyperbolic": (lambda x: np.arccosh(x * x + 1.5) + np.arctanh(np.tanh(x) / 2), [N8]),
    "roots": (lambda x: np.sqrt(x * x + 1) + np.cbrt(x * x + 1) + nested.rsqrt(x * x + 1), [N8]),
    "power": (lambda x, y: (x * x + 1) ** y + x**3 + x**-2.5 * 0 + np.abs(x) ** 1.5, [N8, N8]),
    "arctan2": (lambda x, y: np.arctan2(x, y), [N8, N8]),
    "erf_gelu": (lambda x: nested.erf(x) + nested.nn.gelu(x) + nested.nn.gelu(x, "tanh"), [N8]),
    "activations": (lambda x: nested.nn.silu(x) * nested.nn.sigmoid(x) + nested.nn.relu(x), [N8]),
    "maximum": (lambda x, y: np.maximum(x, y) + np.minimum(x, y * 2) + np.abs(x), [N8, N8]),
    "fmax": (lambda x, y: np.fmax(x, y) * np.fmin(x, 2 * y), [N8, N8]),
    "where": (lambda x, y: np.where(x > y, x * y, np.exp(y)), [N8, N8]),
    "logaddexp": (lambda x, y: np.logaddexp(x, y), [N8, N8]),
    "remainder": (lambda x, y: np.fmod(x, 2 + y * y), [N8, N8]),
    "copysign": (lambda x, y: np.copysign(x, y), [N8, N8]),
    "floor": (lambda x: np.floor(x) * x + np.rint(x) + np.ceil(x) + np.trunc(x), [N8]),
    "clip": (lambda x: np.clip(x, -0.7, 0.6) * x, [N8]),
    "sum": (lambda x: nested.sum(x, axis=0), [N8]),
    "softmax_axes": (lambda x: (nested.softmax(x, 0), nested.softmax(x, (0, 1)), nested.softmax(x)),
                     [NM]),
    "log_softmax": (lambda x: (nested.log_softmax(x, 1), nested.log_softmax(x, 2)), [NM]),
    # That of nothing is -inf, which has no differences.
    "logsumexp": (lambda x: tuple(np.where(np.isfinite(v), v, 0) for v in (
        nested.logsumexp(x, 0), nested.logsumexp(x, (1, 2), keepdims=True))), [NM]),
    "rms_norm": (lambda x, v: nested.nn.rms_norm(x, v, v), [ragged("N", 4), V]),
    "instance_norm": (lambda x, v: nested.nn.instance_norm(x, v, v), [ragged("N", 4), V]),
    "whole_norm": (lambda x, v: nested.nn.group_norm(x, 1, v, v), [ragged("N", 4), V]),
    "sum_static": (lambda x: nested.sum(x, axis=1), [N8]),
    "sum_all": (lambda x: nested.sum(x), [NM]),
    "mean": (lambda x: nested.mean(x, axis=0), [N8]),
    "mean_pair": (lambda x: nested.mean(x, axis=(0, 1)), [NM]),
    "mean_second": (lambda x: nested.mean(x, axis=1), [NM]),
    "mean_keepdims": (lambda x: x - nested.mean(x, axis=0, keepdims=True), [N8]),
    "max": (lambda x: nested.max(x, axis=0), [N8]),
    "min_static": (lambda x: nested.min(x, axis=1), [N8]),
    "max_pair": (lambda x: nested.max(x, axis=(0, 1)), [NM]),
    "max_all": (lambda x: nested.max(x), [NM]),
    "min_keepdims": (lambda x: nested.min(x, axis=0, keepdims=True) * x, [N8]),
    "prod": (lambda x: nested.prod(x, axis=0), [N8]),
    "prod_static": (lambda x: nested.prod(x, axis=1), [N8]),
    "var_std": (lambda x: nested.var(x, axis=1) + nested.std(x, axis=1), [N8]),
    "batch_sum": (lambda x: nested.batch.sum(x * x, axis=0), [N8]),
    "batch_mean": (lambda x: nested.batch.mean(x * x, axis=None), [N8]),
    "batch_of_samples": (lambda x: nested.batch.mean(nested.mean(x, axis=0) ** 2), [N8]),
    "batch_prod": (lambda x: nested.batch.prod(1 + x * 0.1, axis=0), [N8]),
    "linear": (lambda x, w: x @ w, [N8, W]),
    "linear_bias": (lambda x, w, b: nested.linear(x, w, b), [N8, W, V]),
    "linear_sample": (lambda x, w: nested.mean(x, axis=0) @ w, [N8, W]),
    "linear_pair": (lambda x, w: (x[:, None, :] * x[None, :, :]) @ w, [N8, W]),
    "linear_twice": (lambda x, w: (x @ w) @ w.T, [N8, W]),
    "dense_product": (lambda w, v: w @ v, [W, V]),
    "scores": (lambda x, y: np.einsum("nc,mc->nm", x, y), [N8, ragged("M", 3)]),
    "values": (lambda p, v: p @ v, [ragged("N", "M"), ragged("M", 3)]),
    "einsum_shared": (lambda x, w: np.einsum("nc,cd->dn", x, w), [N8, W]),
    "einsum_three": (lambda x, y, w: np.einsum("nc,mc,cd->nd", x, y, w), [N8, ragged("M", 3), W]),
    "einsum_alone": (lambda x, y: np.einsum("nc,md->dn", x, y), [N8, ragged("M", 3)]),
    "einsum_heads": (lambda p, v: np.einsum("nmh,mhc->nhc", p, v), [NM, ragged("M", 2, 3)]),
    "batch_einsum": (lambda x, y: nested.batch.einsum("nk,nm->km", x, y), [N8, ragged("N", 2)]),
    "layer_norm": (lambda x: nested.layer_norm(x), [ragged("N", 4)]),
    "layer_norm_scaled": (lambda x, s, o: nested.layer_norm(x, s, o), [ragged("N", 4), V, V]),
    "softmax": (lambda x: nested.softmax(x, axis=0), [N8]),
    "softmax_static": (lambda x: nested.softmax(x), [N8]),
    "outer": (lambda x, y: x[:, None, :] * y[None, :, :], [N8, ragged("M", 3)]),
    "outer_sum": (lambda x, y: nested.sum(x[:, None, :] * y[None, :, :], axis=1),
                  [N8, ragged("M", 3)]),
    "transpose": (lambda x: np.transpose(x, (1, 0, 2)) * 2, [NM]),
    "symmetric": (lambda x, y: (x[:, None] - x[None, :]) * np.swapaxes(y, 0, 1),
                  [ragged("N"), ragged("N", "N")]),
    "singleton": (lambda x: x * nested.sum(x, axis=1, keepdims=True), [ragged("N", 1)]),
    "gather": (lambda t, i: nested.take(t, i, axis=0) ** 2, [dense(4, 3), nested.spec("N", dtype=np.int64)]),
    "transition": (lambda x, g, u, d: x + (nested.nn.silu(nested.layer_norm(x) @ g) * (x @ u)) @ d,
                   [N8, W, W, dense(4, 3)]),
    "two_results": (lambda x, y: (x * y, nested.sum(x, axis=0)), [N8, N8]),
    "stopped": (lambda x, y: x * y + nested.stop_gradient(y * 0 + 1) * x, [N8, N8]),
}  # fmt: skip


def running(kind, **words):
    def program(x):
        from nested._ordered import accumulate

        return accumulate(kind, x, 0, **words) * 2

    return program


for _kind in ("sum", "prod", "max", "min", "logsumexp"):
    PROGRAMS[f"running_{_kind}"] = (running(_kind), [N8])
    PROGRAMS[f"running_{_kind}_backwards"] = (running(_kind, reverse=True), [N8])
# The first exclusive result of others is infinite, which no difference can be taken of.
for _kind in ("sum", "prod"):
    PROGRAMS[f"running_{_kind}_exclusive"] = (running(_kind, exclusive=True), [N8])
    PROGRAMS[f"running_{_kind}_exclusive_backwards"] = (
        running(_kind, exclusive=True, reverse=True), [N8])  # fmt: skip
PROGRAMS["running_along_features"] = (lambda x: np.cumsum(x, axis=1) * x, [N8])
PROGRAMS["running_pairs"] = (lambda x: np.cumprod(x, axis=1), [NM])
POSITIVE = {"prod", "prod_static", "batch_prod", "power"}

test_gradients = central_differences(PROGRAMS, positive=POSITIVE)


def test_no_samples_at_all():
    """The gradient of weights that no row used is 0 (C08, C41)."""
    loss = nested.value_and_grad(lambda w, x: nested.batch.sum(x @ w, axis=None))
    x = nested.from_list([], dims=("N", 3), dtype=F8)
    value, gradient = loss(np.ones((3, 4)), x)
    assert value == 0 and (gradient == 0).all() and gradient.shape == (3, 4)


# --- Kinks, ties, NaN ------------------------------------------------------------------


def gradient_of(function, *args):
    return nested.grad(lambda *a: nested.batch.sum(function(*a), axis=None))(*args)


def column(samples, dtype=F8):
    return nested.from_list([np.array(s, dtype) for s in samples], dtype=dtype)


def test_ties_take_the_first():
    """R10."""
    x = column([[2, 7, 7], [], [-3], [1, np.nan, np.nan]])
    g = gradient_of(lambda x: nested.max(x, axis=0), x)
    assert [s.tolist() for s in g] == [[0, 1, 0], [], [1], [0, 1, 0]]
    g = gradient_of(lambda x: nested.min(x, axis=0), column([[2, 1, 1, 3]]))
    assert g[0].tolist() == [0, 1, 0, 0]
    both = nested.grad(lambda x, y: nested.batch.sum(np.maximum(x, y), axis=None), (0, 1))
    x, y = column([[1, 2, np.nan, 1]]), column([[1, 3, 1, np.nan]])
    gx, gy = both(x, y)
    assert gx[0].tolist() == [1, 0, 1, 0] and gy[0].tolist() == [0, 1, 0, 1]
    assert gradient_of(lambda x: np.abs(x), column([[0, -2, 3]]))[0].tolist() == [0, -1, 1]


def test_products_with_zeros():
    x = column([[2, 0, 3], [0, 0, 5], [2, 3]])
    g = gradient_of(lambda x: nested.prod(x, axis=0), x)
    assert [s.tolist() for s in g] == [[0, 6, 0], [0, 0, 0], [3, 2]]


def test_running_reductions_at_ties_zeros_and_infinities():
    x = column([[1, 3, 3, 2, 5], [2, np.nan, 1], [-np.inf, -np.inf, 0]])
    g = gradient_of(running("max"), x)
    assert [s.tolist() for s in g] == [[2, 6, 0, 0, 2], [2, 4, 0], [4, 0, 2]]
    g = gradient_of(
        lambda x: np.where(x > 1.5, running("max", exclusive=True)(x), 0), column([[1, 3, 3, 2]])
    )
    assert g[0].tolist() == [2, 4, 0, 0]
    g = gradient_of(lambda x: np.cumprod(x, axis=0), column([[2, 0, 3], [0, 0, 5]]))
    assert [s.tolist() for s in g] == [[1, 8, 0], [1, 0, 0]]
    same(gradient_of(running("logsumexp"), x)[2], [0, 0, 2], 1e-12, "logsumexp of nothing")
    far = column([[1000.0, -1000, 1000]])
    same(gradient_of(running("logsumexp"), far)[0], [5, 0, 1], 1e-12, "logsumexp, shifted")


def test_masked_values_have_no_gradient():
    """R4: what a select left out stays out, however bad it is."""
    x = column([[4, 0, -1, np.nan, np.inf]])
    for function in (np.log, np.sqrt, lambda x: 1 / x, lambda x: x * np.log(x), np.arccosh, np.exp):
        g = gradient_of(lambda x: np.where(x == 4, function(x), 0), x)  # noqa: B023
        assert np.isfinite(g.values).all() and (g.values[1:] == 0).all() and g.values[0] != 0
    far = column([[-1000, -100, 0, 100, 1000]])
    assert np.isfinite(gradient_of(nested.nn.sigmoid, far).values).all()
    assert np.isfinite(gradient_of(nested.nn.silu, far).values).all()


def test_a_bad_sample_stays_alone():
    """R4: in rows of its own and in shared results that it reaches."""

    def loss(x, w):
        return nested.batch.sum(nested.nn.silu(nested.layer_norm(x) @ w), axis=None)

    clean = [np.random.default_rng(k).standard_normal((k + 1, 4)) for k in range(4)]
    bad = [*clean]
    bad[2] = bad[2] * np.nan
    w = np.random.default_rng(9).standard_normal((4, 2))
    both = nested.grad(loss, (0, 1))
    (gx, gw), (bx, bw) = both(nested.from_list(clean), w), both(nested.from_list(bad), w)
    for i in (0, 1, 3):
        assert (gx[i] == bx[i]).all()
    assert np.isnan(bx[2]).all() and np.isnan(bw).all() and np.isfinite(gw).all()


def test_infinite_rows_of_a_table_stay_alone():
    table = np.ones((3, 2))
    i = nested.from_list([np.array([0, 2, 2])])
    scale = nested.from_list([np.array([1.0, np.nan, 2.0])])
    g = nested.grad(lambda t, i, s: nested.batch.sum(nested.take(t, i, axis=0) * s[:, None], axis=None))(
        table, i, scale
    )  # fmt: skip
    assert (g[0] == 1).all() and (g[1] == 0).all() and np.isnan(g[2]).all()


# --- Second derivatives ----------------------------------------------------------------


def test_second_derivatives_of_numbers():
    for f, second in [
        (lambda x: np.sin(x), lambda x: -np.sin(x)), (lambda x: np.exp(x), np.exp), (lambda x: x**3, lambda x: 6 * x),
        (lambda x: np.log(x) ** 2, lambda x: 2 * (1 - np.log(x)) / x**2), (lambda x: np.tanh(x), lambda x:
         -2 * np.tanh(x) * (1 - np.tanh(x) ** 2)), (lambda x: 1 / x, lambda x: 2 / x**3),
    ]:  # fmt: skip
        for x in (0.7, 1.0, 2.3):
            got = nested.grad(nested.grad(f))(np.float64(x))
            same(got, second(x), 1e-12, f"second derivative at {x}")


def hessian(function, shape, at, *rest):
    """Row by row: the gradient of each entry of the gradient."""

    def entry(x, pick, *rest):
        return np.sum(nested.grad(function)(x, *rest) * pick)

    row = nested.grad(entry)
    size = int(np.prod(shape))
    rows = [row(at, np.eye(size)[k].reshape(shape), *rest) for k in range(size)]
    return np.array(rows).reshape(size, size)


def check_hessian(loss, w, x):
    """It is symmetric, and the differences of first derivatives."""
    h = hessian(loss, w.shape, w, x)
    same(h, h.T, 1e-11, "Hessian")
    first, step = nested.grad(loss), 1e-5
    for k in range(w.size):
        move = np.zeros(w.size)
        move[k] = step
        move = move.reshape(w.shape)
        numeric = (first(w + move, x) - first(w - move, x)).ravel() / (2 * step)
        same(h[k], numeric, 1e-6, "Hessian by differences")


@pytest.mark.parametrize("name", ["transition", "mean", "outer", "softmax", "norm", "prod"])
def test_hessians_are_symmetric(name):
    rng = np.random.default_rng(4)
    x = nested.from_list([rng.standard_normal((n, 3)) for n in (2, 0, 3)])
    w = rng.standard_normal((3, 3))
    functions = {
        "transition": lambda w, x: nested.nn.silu(x @ w) @ w,
        "mean": lambda w, x: nested.mean(np.tanh(x @ w), axis=0),
        "outer": lambda w, x: np.sin((x @ w)[:, None, :] * x[None, :, :]),
        "softmax": lambda w, x: nested.softmax(x @ w, axis=0) ** 2,
        "norm": lambda w, x: nested.layer_norm(x @ w) ** 3,
        "prod": lambda w, x: nested.prod(1 + x @ w, axis=0),
    }

    def loss(w, x):
        return nested.batch.sum(functions[name](w, x), axis=None)

    h = hessian(loss, (3, 3), w, x)
    same(h, h.T, 1e-11, "Hessian")
    first, step = nested.grad(loss), 1e-5
    for k in (0, 4, 8):
        move = np.zeros(9)
        move[k] = step
        move = move.reshape(3, 3)
        numeric = (first(w + move, x) - first(w - move, x)).ravel() / (2 * step)
        same(h[k], numeric, 1e-6, "Hessian by differences")


# Functions without kinks; where one moves entries, its derivative is that of what it gives, squared.
SMOOTH = [
    "add_mul", "div_sub", "shared_vector", "shared_number", "twice", "exp_log", "more_exp_log",
    "trigonometry", "arc", "hyperbolic", "arc_hyperbolic", "roots", "arctan2", "erf_gelu",
    "logaddexp", "softmax_axes", "log_softmax", "logsumexp", "rms_norm", "instance_norm",
    "whole_norm", "mean_keepdims", "prod", "var_std", "batch_of_samples", "batch_prod",
    "linear_bias", "linear_pair", "dense_product", "scores", "values", "einsum_three",
    "einsum_heads", "batch_einsum", "layer_norm_scaled", "symmetric", "singleton", "gather",
    "running_prod", "running_logsumexp_backwards", "running_pairs", "two_results",
]  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_second_derivatives_are_symmetric(name):
    """Two directions: that of the derivative along one of them, along the other, in both orders; and the
    change of the gradient along a direction is what differences of gradients say."""
    function, specs = PROGRAMS[name]
    drawn = numbers(specs, LENGTHS["mixed"], positive=name in POSITIVE)
    floats = [k for k, s in enumerate(specs) if s.dtype.kind == "f"]

    def given(k, x):
        return (
            nested.from_list(x, dims=specs[k].dims, dtype=specs[k].dtype) if specs[k].batched else x
        )

    def loss(*args):
        return squares(function(*args))

    def along(direction, *args):
        found = nested.grad(loss, tuple(floats))(*args)
        return sum(nested.batch.sum(g * d, axis=None) if specs[k].batched else np.sum(g * d)
                   for k, g, d in zip(floats, found, direction))  # fmt: skip

    def values(x):
        return x.values if isinstance(x, nested.NestedTensor) else np.asarray(x)

    def product(xs, ys):
        return sum(float(np.sum(values(x) * values(y))) for x, y in zip(xs, ys))

    rng = np.random.default_rng(8)
    moves = [[rng.standard_normal(np.shape(a)) for a in leaves(drawn[k])] for k in floats]
    args = [given(k, x) for k, x in enumerate(drawn)]
    first = [given(k, shifted(drawn[k], iter(m), 1)) for k, m in zip(floats, moves)]
    second = [given(k, shifted(drawn[k], iter(m), -2)) for k, m in zip(floats, moves)]
    hessian = nested.grad(along, tuple(1 + k for k in floats))
    one, other = hessian(first, *args), hessian(second, *args)
    terms = [np.abs(values(h) * values(d)).sum() for h, d in zip(one, second)]
    assert abs(product(one, second) - product(other, first)) <= 1e-11 * max(1.0, sum(terms))

    def gradient(step):
        moved = list(args)
        for k, d in zip(floats, first):
            samples = [values(s) for s in d] if specs[k].batched else d
            moved[k] = given(k, shifted(drawn[k], iter(leaves(samples)), step))
        return nested.grad(loss, tuple(floats))(*moved)

    for h, up, down in zip(one, gradient(1e-5), gradient(-1e-5)):
        numeric = (values(up) - values(down)) / 2e-5
        same(values(h), numeric, 1e-6, "change of the gradient")


# --- The functions of the package ------------------------------------------------------


def test_nests_of_parameters():
    def loss(params, x, y):
        h = np.tanh(nested.linear(x, params["layers"][0]["w"], params["layers"][0]["b"]))
        out = h @ params["layers"][1]["w"] * params["scale"]
        return nested.batch.mean((out - y) ** 2, axis=None)

    rng = np.random.default_rng(0)
    params = {"layers": [{"w": rng.standard_normal((3, 5)), "b": np.zeros(5)},
                         {"w": rng.standard_normal((5, 2))}], "scale": np.float64(2)}  # fmt: skip
    x = nested.from_list([rng.standard_normal((n, 3)) for n in (3, 0, 2)])
    y = nested.from_list([rng.standard_normal((n, 2)) for n in (3, 0, 2)])
    both = nested.value_and_grad(loss)
    value, g = both(params, x, y)
    assert set(g) == {"layers", "scale"} and set(g["layers"][0]) == {"w", "b"}
    step = 1e-6
    for path in (("layers", 0, "b"), ("layers", 1, "w"), ("scale",)):
        import copy

        ends = []
        for sign in (1, -1):
            moved = copy.deepcopy(params)
            node = moved
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = node[path[-1]] + sign * step
            ends.append(both(moved, x, y)[0])
        node = g
        for key in path:
            node = node[key]
        same(np.sum(node), (ends[0] - ends[1]) / (2 * step), 1e-7, str(path))
    assert both.compilations == 1
    assert np.isclose(value, both(params, x, y)[0])


def test_several_arguments_and_aux():
    def loss(x, w):
        y = x @ w
        return nested.batch.sum(y * y, axis=None), {"rows": y, "name": "y"}

    x = nested.from_list([np.ones((2, 3)), np.ones((1, 3))])
    w = np.ones((3, 1))
    (value, aux), (gx, gw) = nested.value_and_grad(loss, (0, 1), has_aux=True)(x, w)
    assert value == 27 and aux["name"] == "y" and aux["rows"][0].tolist() == [[3], [3]]
    assert gx[1].tolist() == [[6, 6, 6]] and gw.ravel().tolist() == [18, 18, 18]
    g, aux = nested.grad(loss, 1, has_aux=True)(x, w)
    assert (g == gw).all() and len(aux["rows"]) == 2


def test_inside_of_jit_and_plain_arrays():
    @nested.jit
    def step(w, x, rate):
        value, g = nested.value_and_grad(lambda w: nested.batch.mean((x @ w) ** 2, axis=None))(w)
        return value, w - rate * g

    x = nested.from_list([np.ones((2, 3)), np.ones((1, 3))])
    value, w = step(np.ones((3, 1)), x, np.float64(0.1))
    assert value == 9 and np.allclose(w, 1 - 0.1 * 6)
    plain = nested.grad(lambda w, x: nested.batch.mean((x @ w) ** 2, axis=None))
    assert np.allclose(plain(np.ones((3, 1)), np.ones((4, 3))), 6)


def test_only_uses_of_the_argument_count():
    """A value that a closure brings in is constant, also when it is the argument."""

    def outer(x):
        return nested.grad(lambda y: y * x)(x)

    assert nested.jit(lambda x: nested.sum(x))  # the compiler is there
    assert nested.grad(lambda x: x * x)(np.float64(3)) == 6
    assert nested.grad(outer)(np.float64(3)) == 1


def test_vjp():
    x = nested.from_list([np.array([1.0, 2.0]), np.array([3.0])])
    results, g = nested.vjp(lambda x: x * x)(x * 0 + 1, x)
    assert g[0].tolist() == [2, 4] and results[1].tolist() == [9]
    with raises(nested.TraceError, "no nest like its results: expected 2 arrays, but got 1"):
        nested.vjp(lambda x: (x, x))(x, x)


def test_custom_rule():
    """Wrong on purpose, to see that it is used."""
    square = nested.custom_vjp(
        lambda x, s: x * x * s,
        lambda x, s: (x * x * s, (x, s)),
        lambda kept, g: (g * kept[0] * 100, None),
    )
    x = nested.from_list([np.array([1.0, 2.0]), np.array([3.0])])
    gx, gs = nested.grad(lambda x, s: nested.batch.sum(square(x, s), axis=None), (0, 1))(
        x, np.float64(2)
    )
    assert gx[0].tolist() == [100, 200] and gx[1].tolist() == [300] and gs == 0
    value = nested.jit(lambda x, s: square(x, s))(x, np.float64(2))
    assert value[1].tolist() == [18]
    assert square(3.0, 2.0) == 18


# --- Errors ----------------------------------------------------------------------------


def test_errors():
    x = nested.from_list([np.ones((2, 3)), np.ones((1, 3))])
    w = np.ones((3, 1))
    with raises(
        nested.ShapeError, r"returns an array of shape (N, 1) for every sample: expected one"
    ):
        nested.grad(lambda w, x: x @ w)(w, x)
    with raises(nested.ShapeError, r"returns an array of shape () (a number) for every sample"):
        nested.grad(lambda w, x: nested.sum(x @ w))(w, x)
    with raises(nested.TraceError, "returns a tuple: expected one number"):
        nested.grad(lambda w, x: (nested.batch.sum(x @ w, axis=None), 1))(w, x)
    with raises(nested.TraceError, "is int64: expected a floating-point dtype to differentiate"):
        nested.grad(lambda i, x: nested.batch.sum(x, axis=None))(np.arange(3), x)
    with raises(nested.TraceError, "returns int64: expected a floating-point number"):
        nested.grad(lambda w, x: nested.batch.sum((x @ w).astype(int), axis=None))(w, x)
    with raises(nested.TraceError, "is a Python value (float): expected an array"):
        nested.grad(lambda a, x: nested.batch.sum(x * a, axis=None))(2.0, x)
    with raises(nested.TraceError, "argnums has 2, but"):
        nested.grad(lambda w, x: nested.batch.sum(x @ w, axis=None), 2)(w, x)
    with raises(ValueError, "argnums must be an argument or several different ones"):
        nested.grad(lambda w: w, (0, 0))


def test_errors_of_custom_rules():
    x = nested.from_list([np.ones((2, 3)), np.ones((1, 3))])

    def gradient(backward):
        rule = nested.custom_vjp(lambda x: x * 2, lambda x: (x * 2, None), backward)
        return nested.grad(lambda x: nested.batch.sum(rule(x), axis=None))(x)

    with raises(nested.TraceError, "gives ndarray: expected a tuple of 1 gradients"):
        gradient(lambda kept, g: np.ones(3))
    with raises(
        nested.ShapeError, "the gradient of argument `0` of", "has shape (N,): expected (N, 3)"
    ):
        gradient(lambda kept, g: (nested.sum(g, axis=1),))
    with raises(nested.TraceError, "is float32: expected float64"):
        gradient(lambda kept, g: (g.astype(np.float32),))
