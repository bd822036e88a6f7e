# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise functions: their accuracy, their special values, and NumPy's dtypes."""

import math

import numpy as np
import pytest
from helpers import raises

import nested

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    np.inf,
    -np.inf,
    np.nan,
    1e-30,
    -1e-30,
    1e30,
    88.0,
    -88.0,
]
UNARY = {
    # name: (largest error in units of the last place of f32, range of arguments)
    "exp": (2, (-100, 88)), "exp2": (2, (-140, 127)), "expm1": (4, (-30, 88)),
    "log": (2, (1e-37, 1e37)), "log2": (2, (1e-37, 1e37)), "log10": (2, (1e-37, 1e37)),
    "log1p": (4, (-0.999, 1e10)), "sin": (2, (-1e4, 1e4)), "cos": (2, (-1e4, 1e4)),
    "tan": (4, (-1.5, 1.5)), "arcsin": (2, (-1, 1)), "arccos": (2, (-1, 1)),
    "arctan": (2, (-1e5, 1e5)), "sinh": (4, (-80, 80)), "cosh": (4, (-80, 80)),
    "tanh": (6, (-10, 10)), "arcsinh": (4, (-1e5, 1e5)), "arccosh": (4, (1, 1e5)),
    "arctanh": (4, (-0.999, 0.999)), "sqrt": (1, (0, 1e30)), "cbrt": (2, (-1e30, 1e30)),
    "reciprocal": (1, (1e-10, 1e10)), "square": (1, (-1e10, 1e10)), "deg2rad": (2, (-1e5, 1e5)),
    "rad2deg": (2, (-1e5, 1e5)), "floor": (0, (-1e5, 1e5)), "ceil": (0, (-1e5, 1e5)),
    "trunc": (0, (-1e5, 1e5)), "rint": (0, (-1e5, 1e5)), "sign": (0, (-3, 3)),
    "absolute": (0, (-3, 3)), "negative": (0, (-3, 3)), "positive": (0, (-3, 3)),
    "isnan": (0, (-3, 3)), "isinf": (0, (-3, 3)), "isfinite": (0, (-3, 3)),
    "signbit": (0, (-3, 3)), "logical_not": (0, (-3, 3)), "fabs": (0, (-3, 3)),
}  # fmt: skip
BINARY = {
    "add": 1, "subtract": 1, "multiply": 1, "divide": 1, "maximum": 0, "minimum": 0, "fmax": 0,
    "fmin": 0, "fmod": 0, "remainder": 1, "floor_divide": 0, "arctan2": 2, "hypot": 1,
    "copysign": 0, "nextafter": 0, "logaddexp": 4, "logaddexp2": 4, "heaviside": 0, "equal": 0,
    "not_equal": 0, "less": 0, "less_equal": 0, "greater": 0, "greater_equal": 0,
    "logical_and": 0, "logical_or": 0, "logical_xor": 0, "power": 2,
}  # fmt: skip
OURS = {"erf": (6, (-5, 5), math.erf), "erfc": (6, (-3, 9), math.erfc),
        "rsqrt": (2, (1e-20, 1e20), lambda x: 1 / math.sqrt(x))}  # fmt: skip


def run(function, *arrays, **kwargs):
    """One sample through a compiled function."""
    batches = [nested.from_list([a]) for a in arrays]
    return nested.jit(lambda *x: function(*x, **kwargs))(*batches)[0]


def ulps(got, want):
    """The largest distance in units of the last place of got's dtype; special values agree."""
    want = np.asarray(want)
    with np.errstate(all="ignore"):
        exact = want.astype(got.dtype)
    special = ~np.isfinite(exact) | (exact == 0)
    np.testing.assert_array_equal(got[special], exact[special])
    np.testing.assert_array_equal(np.signbit(got[special & ~np.isnan(exact)]),
                                  np.signbit(exact[special & ~np.isnan(exact)]))  # fmt: skip
    ordinary = ~special
    if not ordinary.any():
        return 0
    distance = np.abs(got[ordinary].astype("f8") - want[ordinary])
    return float((distance / np.spacing(np.abs(exact[ordinary])).astype("f8")).max())


def arguments(low, high, dtype, rng):
    """Even and logarithmic steps within the range, and special values."""
    size = max(abs(low), abs(high))
    even = rng.uniform(low, high, 3000)
    steps = np.exp(rng.uniform(np.log(1e-12 * size), np.log(size), 3000))
    steps = np.concatenate([steps, -steps])
    return np.concatenate([even, steps[(steps >= low) & (steps <= high)]]).astype(dtype)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_unary(name, dtype, rng):
    limit, (low, high) = UNARY[name]
    ufunc = getattr(np, name)
    x = np.concatenate([arguments(low, high, dtype, rng), np.array(SPECIAL, dtype)])
    with np.errstate(all="ignore"):
        want = ufunc(x.astype("f8") if dtype == "f4" else x)
    got = run(ufunc, x)
    assert got.dtype == ufunc(np.ones(1, dtype)).dtype
    if got.dtype == bool:
        np.testing.assert_array_equal(got, want)
    elif dtype == "f4":
        assert ulps(got, want) <= limit + 0.5
    else:
        # The C library's functions, which NumPy's may be better or worse than by a unit.
        assert ulps(got, want) <= 4


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_binary(name, dtype, rng):
    ufunc = getattr(np, name)
    x = np.concatenate([rng.normal(0, 3, 3000), np.exp(rng.normal(0, 5, 500))]).astype(dtype)
    y = np.concatenate([rng.normal(0, 3, 3000), np.round(rng.normal(0, 3, 500))]).astype(dtype)
    a, b = np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype))
    x, y = np.concatenate([x, a.ravel()]), np.concatenate([y, b.ravel()])
    exact = name in ("nextafter", "floor_divide", "remainder", "fmod")
    with np.errstate(all="ignore"):
        want = ufunc(x, y) if exact else ufunc(x.astype("f8"), y.astype("f8"))
    got = run(ufunc, x, y)
    assert got.dtype == ufunc(np.ones(1, dtype), np.ones(1, dtype)).dtype
    if got.dtype == bool:
        np.testing.assert_array_equal(got, want)
    elif name.startswith("logaddexp"):
        # Near 0 the logarithm of a sum is the difference of larger numbers.
        eps = np.finfo(dtype).eps
        np.testing.assert_allclose(got, want, rtol=4 * eps, atol=8 * eps)
    else:
        limit = BINARY[name] + 0.5 if dtype == "f4" or BINARY[name] == 0 else 6
        assert ulps(got, want) <= limit


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_functions_of_ours(name, dtype, rng):
    limit, (low, high), exact = OURS[name]
    x = arguments(low, high, dtype, rng)
    function = getattr(nested, name)
    want = np.array([exact(float(v)) for v in x])
    assert ulps(run(function, x), want) <= limit + 0.5
    np.testing.assert_allclose(function(x), want, rtol=1e-6 if dtype == "f4" else 1e-15)


@pytest.mark.parametrize("dtype, limit", [("f4", 1.5), ("f8", 8)])
def test_erfinv(dtype, limit, rng):
    """Its plain form, which searches, is checked by what erf gives back."""
    y = np.concatenate([rng.uniform(-1, 1, 2000), 1 - np.exp2(-rng.uniform(2, 20, 500)),
                        np.exp2(-rng.uniform(0, 60, 500))]).astype(dtype)  # fmt: skip
    want = nested.erfinv(y.astype("f8"))
    back = np.array([math.erf(v) for v in want])
    np.testing.assert_allclose(back, y.astype("f8"), rtol=1e-15)
    assert ulps(run(nested.erfinv, y), want) <= limit
    edge = run(nested.erfinv, np.array([1, -1, 0, -0.0, 2, np.nan], dtype))
    np.testing.assert_array_equal(edge, np.array([np.inf, -np.inf, 0, 0, np.nan, np.nan], dtype))


INTEGERS = ["i1", "i2", "i4", "i8", "u1"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    """As NumPy: by zero 0, and numbers wrap."""
    info = np.iinfo(dtype)
    some = np.array([0, 1, 2, 3, 7, 100, info.max, info.min, info.max - 1, info.min + 1], dtype)
    if info.min < 0:
        some = np.concatenate([some, np.array([-1, -2, -7], dtype)])
    x, y = (v.ravel() for v in np.meshgrid(some, some))

    def f(x, y):
        return (
            x + y, x - y, x * y, x // y, x % y, np.fmod(x, y), np.maximum(x, y), np.minimum(x, y),
            x < y, x >= y, x == y, x & y, x | y, x ^ y, ~x, np.left_shift(x, y % 8),
            np.right_shift(x, y % 8), -x, abs(x), np.sign(x), x / y, np.square(x),
            np.bitwise_count(x), np.signbit(x) if info.min < 0 else x, x.astype("f4"), x.astype(bool),
            x.astype("i1"), x.astype("i8"), x.astype("u1"), np.logical_xor(x, y), np.floor(x),
            np.clip(x, 3, 50), np.where(x > y, x, y),
        )  # fmt: skip

    with np.errstate(all="ignore"):
        want = f(x, y) if info.min < 0 else [v for v in f(x, y)]
    batches = [nested.from_list([v]) for v in (x, y)]
    got = nested.jit(f)(*batches)
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.dtype == b.dtype, f"result {k}"
        np.testing.assert_array_equal(a[0], b, err_msg=f"result {k}")


def test_shifts_by_too_much():
    """R11, which is NumPy's."""
    x = np.array([1, -1, 5, -5, 1, -1], "i4")
    n = np.array([31, 31, 32, 32, 100, 33], "i4")
    np.testing.assert_array_equal(run(np.left_shift, x, n), np.left_shift(x, n))
    np.testing.assert_array_equal(run(np.right_shift, x, n), np.right_shift(x, n))


def test_conversions_saturate():
    """R11; NumPy says that it is undefined, and warns."""
    x = np.array([1.9, -1.9, 3e9, -3e9, np.inf, -np.inf, np.nan, 127.5, 1e30], "f4")
    got = nested.jit(lambda v: (v.astype("i4"), v.astype("i1"), v.astype("i8")))(
        nested.from_list([x])
    )
    low, high = -(2**31), 2**31 - 1
    np.testing.assert_array_equal(got[0][0], [1, -1, high, low, high, low, 0, 127, high])
    np.testing.assert_array_equal(got[1][0], [1, -1, 127, -128, 127, -128, 0, 127, 127])
    high = 2**63 - 1
    np.testing.assert_array_equal(
        got[2][0], [1, -1, 3000000000, -3000000000, high, -(2**63), 0, 127, high]
    )


DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "f2", "f4", "f8"]


@pytest.mark.parametrize("left", DTYPES)
def test_promotion(left):
    """Every pair of dtypes, and Python's numbers, which are weak, as in NumPy 2."""
    x = np.array([0, 1, 1], left)
    others = [np.array([1, 1, 0], d) for d in DTYPES]

    def f(x, *ys):
        results = [x * y for y in ys] + [np.maximum(y, x) for y in ys]
        return (*results, x * 2, x * 2.5, x + True, 2 - x.astype("i4"), x == 1)

    with np.errstate(all="ignore"):
        want = f(x, *others)
    got = nested.jit(f)(nested.from_list([x]), *(nested.from_list([y]) for y in others))
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.dtype == b.dtype, f"result {k}: {a.dtype}, NumPy has {b.dtype}"
        np.testing.assert_array_equal(a[0], b, err_msg=f"result {k}")


def test_bfloat16(rng):
    """Computed in f32 and rounded where a kernel ends."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x, y = (rng.normal(0, 3, 300).astype(bfloat16) for _ in "xy")

    def f(x, y):
        return (
            x + y, x * 2.5, np.maximum(x, 0), np.exp(x), np.where(x > y, x, 1.0), np.sqrt(abs(x)),
            x / y, np.tanh(x), -x, np.sign(x), x.sum(), x.mean(), x.max(), nested.softmax(x), x % y,
            nested.nn.gelu(x), nested.nn.elu(x), x.astype("f4") + y, np.rint(x), np.clip(x, -1, 1),
        )  # fmt: skip

    for target in ("cpu:x86-64", "cpu:x86-64-v3"):  # Without instructions for it: no calls.
        kind = nested.spec("N", dtype=bfloat16)
        nested.export(lambda x, y: (*f(x, y), x[:, None] @ y[None]), kind, kind, target=target)
    got = nested.jit(f)(nested.from_list([x]), nested.from_list([y]))
    want = f(x.astype("f8"), y.astype("f8"))
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.dtype == (np.float32 if k == 17 else bfloat16), f"result {k}"
        np.testing.assert_allclose(
            a[0].astype("f8"), b, rtol=2**-7, atol=2**-8, err_msg=f"result {k}"
        )
    assert (
        nested.jit(lambda x, y: x < y)(nested.from_list([x]), nested.from_list([y])).dtype == bool
    )


def test_weak_numbers_out_of_range():
    x = nested.from_list([np.ones(2, "u1")])
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        nested.jit(lambda v: v + 300)(x)
    with pytest.raises(OverflowError, match="-1 out of bounds for uint8"):
        nested.jit(lambda v: v + -1)(x)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_compositions(dtype, rng):
    x = np.concatenate([rng.normal(0, 3, 50), np.array(SPECIAL[:6])]).astype(dtype)
    y = rng.permutation(x)

    def f(x, y):
        return (
            *np.divmod(x, y + 7), *np.modf(x), np.nan_to_num(x / y), np.isclose(x, y, atol=0.5),
            np.isin(x, [0, 1, 2]), np.round(x, 2), np.fix(x), np.sinc(x), nested.lerp(x, y, 0.25),
            nested.addcmul(x, x, y, 0.5), nested.addcdiv(x, x, y + 20, 2), nested.frac(x),
            nested.xlogy(x, abs(y)), nested.logit(x / 40 + 0.5), nested.logit(x, 0.1),
            np.clip(x, y - 1, y + 1), np.clip(x, -1, None), np.heaviside(x, 0.5),
            np.float_power(abs(x), 2), np.isposinf(x), np.isneginf(x),
        )  # fmt: skip

    with np.errstate(all="ignore"):
        want = f(x, y)
    got = nested.jit(f)(nested.from_list([x]), nested.from_list([y]))
    tolerance = {"f2": 4e-3, "f4": 2e-6, "f8": 1e-13}[dtype]
    for k, (a, b) in enumerate(zip(got, want, strict=True)):
        b = np.asarray(b)
        assert a.dtype == b.dtype, f"result {k}"
        np.testing.assert_allclose(a[0].astype("f8"), b.astype("f8"), rtol=tolerance, atol=tolerance,
                                   err_msg=f"result {k}")  # fmt: skip


def test_what_is_not_supported():
    x = nested.from_list([np.ones(3, "f4")])
    with raises(nested.TraceError, "np.frexp is not supported", line="np.frexp(v)"):
        nested.jit(lambda v: np.frexp(v))(x)
    with raises(nested.TraceError, "np.bitwise_and is not defined for float32"):
        nested.jit(lambda v: v & v)(x)
    with raises(nested.TraceError, "the elements to look for must be known while tracing"):
        nested.jit(lambda v: np.isin(v, v))(x)


# --- Integer powers ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1"])
@pytest.mark.parametrize("shape", [(), (67,)], ids=str)
def test_integer_powers(dtype, shape):
    """As NumPy, which wraps; exponents up to the largest of the dtype, rows of all widths, pairs, folds."""
    rng = np.random.default_rng(12)
    low, top = (0, 256) if dtype == "u1" else (-9, 9)
    bases = [rng.integers(low, 10, (n, *shape)).astype(dtype) for n in (3, 0, 50)]
    powers = [rng.integers(0, top, (n, *shape)).astype(dtype) for n in (3, 0, 50)]
    x, y = (nested.from_list(a, dims=("N", *shape)) for a in (bases, powers))
    functions = [
        lambda x, y: x**y, lambda x, y: 2**y, lambda x, y: x**7, lambda x, y: np.power(x, y).sum(axis=0),
        lambda x, y: (x[:, None] ** y[None]).astype(np.int64).sum(axis=1),
    ]  # fmt: skip
    for function in functions:
        got = nested.jit(function)(x, y)
        for g, a, b in zip(got, bases, powers):
            with np.errstate(all="ignore"):
                want = function(a, b)
            np.testing.assert_array_equal(g, want.astype(g.dtype))
    np.testing.assert_array_equal((x**y).values, np.concatenate(bases) ** np.concatenate(powers))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_negative_integer_powers(dtype):
    """R11: 0, but for 1 and -1; a number that is known at once is refused, as by NumPy."""
    x = nested.from_list([np.array([2, 1, -1, -1, 0, 5], dtype)])
    y = nested.from_list([np.array([-1, -2, -3, -2, -1, 2], dtype)])
    assert nested.jit(lambda x, y: x**y)(x, y).values.tolist() == [0, 1, -1, 1, 0, 25]
    for power in (-2, np.array(-2, dtype)):
        with pytest.raises(nested.TraceError, match="negative integer power -2 are not integers"):
            nested.jit(lambda x: x**power)(x)  # noqa: B023
    np.testing.assert_allclose(nested.jit(lambda x: x**-2.0)(x).values[:2], [0.25, 1])
