# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalar bodies of the rarer elementwise functions, see _ufuncs."""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np

from ._dtypes import is_bool, is_float, is_unsigned, scalar_name
from ._emit import Body
from ._ufuncs import BODIES, body

_TRUTH = np.dtype(bool)
_WIDE = np.dtype(np.float64)


def _of_floats(name: str, op: str) -> None:
    BODIES[name] = lambda b, dtype, x: b.unary(op, x, dtype)


_of_floats("erf", "math.erf")
_of_floats("erfc", "math.erfc")


def _scaled(names: Sequence[str], factor: float) -> None:
    for name in names:
        BODIES[name] = lambda b, dtype, x: b.binary("arith.mulf", x, b.const(factor, dtype), dtype)


_scaled(("deg2rad", "radians"), math.pi / 180)
_scaled(("rad2deg", "degrees"), 180 / math.pi)


def polynomial(b: Body, dtype: np.dtype, x: str, coefficients: Sequence[float]) -> str:
    """Horner's scheme, the highest power first."""
    value = b.const(coefficients[0], dtype)
    for c in coefficients[1:]:
        value = b.op(f"math.fma {value}, {x}, {b.const(c, dtype)} : {scalar_name(dtype)}")
    return value


# -- signs and bits --


@body("signbit")
def _signbit(b: Body, dtype: np.dtype, x: str) -> str:
    if not is_float(dtype):
        if is_bool(dtype) or is_unsigned(dtype):
            return b.const(0, _TRUTH)
        return b.compare("slt", x, b.const(0, dtype), dtype)
    # Of zero and of NaN too.
    one = b.binary("math.copysign", b.const(1, dtype), x, dtype)
    return b.compare("olt", one, b.const(0, dtype), dtype)


@body("heaviside")
def _heaviside(b: Body, dtype: np.dtype, x: str, y: str) -> str:
    zero, one = b.const(0, dtype), b.const(1, dtype)
    step = b.select(b.compare("olt", x, zero, dtype), zero, one, dtype)
    step = b.select(b.compare("oeq", x, zero, dtype), y, step, dtype)
    return b.select(b.compare("uno", x, x, dtype), x, step, dtype)


_BITS = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}


@body("nextafter")
def _nextafter(b: Body, dtype: np.dtype, x: str, y: str) -> str:
    """The neighbour of x towards y: bits of a float are ordered like its magnitude."""
    name, bits = scalar_name(dtype), np.dtype(f"i{dtype.itemsize}")
    zero = b.const(0, dtype)
    number = b.op(f"arith.bitcast {x} : {name} to {_BITS[name]}")
    grows = b.binary("arith.xori", b.compare("olt", x, y, dtype),
                     b.compare("olt", x, zero, dtype), _TRUTH)  # fmt: skip
    step = b.select(grows, b.const(1, bits), b.const(-1, bits), bits)
    moved = b.binary("arith.addi", number, step, bits)
    moved = b.op(f"arith.bitcast {moved} : {_BITS[name]} to {name}")
    tiny = b.op(f"arith.bitcast {b.const(1, bits)} : {_BITS[name]} to {name}")
    tiny = b.binary("math.copysign", tiny, y, dtype)
    moved = b.select(b.compare("oeq", x, zero, dtype), tiny, moved, dtype)
    moved = b.select(b.compare("oeq", x, y, dtype), y, moved, dtype)
    unordered = b.compare("uno", x, y, dtype)
    return b.select(unordered, b.binary("arith.addf", x, y, dtype), moved, dtype)


# -- exponentials and logarithms --


def _log_of_sum(name: str, exp: str, log: str, base: float) -> None:
    """log(exp(x) + exp(y)) without overflow: of the larger and of their distance."""

    def write(b: Body, dtype: np.dtype, x: str, y: str) -> str:
        distance = b.unary("math.absf", b.binary("arith.subf", x, y, dtype), dtype)
        less = b.unary(exp, b.unary("arith.negf", distance, dtype), dtype)
        tail = b.unary("math.log1p", less, dtype)
        if log:
            tail = b.binary("arith.mulf", tail, b.const(1 / math.log(2), dtype), dtype)
        total = b.binary("arith.addf", b.binary("arith.maximumf", x, y, dtype), tail, dtype)
        # Equal ones may be infinite.
        twice = b.binary("arith.addf", x, b.const(base, dtype), dtype)
        return b.select(b.compare("oeq", x, y, dtype), twice, total, dtype)

    BODIES[name] = write


_log_of_sum("logaddexp", "math.exp", "", math.log(2))
_log_of_sum("logaddexp2", "math.exp2", "scaled", 1)


@body("hypot")
def _hypot(b: Body, dtype: np.dtype, x: str, y: str) -> str:
    """sqrt(x * x + y * y) without overflow. Infinite if one is infinite, the other being NaN or not."""
    inf = b.const(math.inf, dtype)
    a, c = b.unary("math.absf", x, dtype), b.unary("math.absf", y, dtype)
    if dtype != _WIDE:
        # Squares of narrower types fit the exponents of f64.
        wide = [b.convert(v, dtype, _WIDE) for v in (a, c)]
        squares = [b.binary("arith.mulf", v, v, _WIDE) for v in wide]
        root = b.unary("math.sqrt", b.binary("arith.addf", *squares, _WIDE), _WIDE)
        result = b.convert(root, _WIDE, dtype)
    else:
        large = b.binary("arith.maximumf", a, c, dtype)
        small = b.binary("arith.minimumf", a, c, dtype)
        zero, one = b.const(0, dtype), b.const(1, dtype)
        ratio = b.binary("arith.divf", small, large, dtype)
        ratio = b.select(b.compare("oeq", large, zero, dtype), zero, ratio, dtype)
        root = b.unary("math.sqrt", b.binary(
            "arith.addf", one, b.binary("arith.mulf", ratio, ratio, dtype), dtype), dtype)  # fmt: skip
        result = b.binary("arith.mulf", large, root, dtype)
    infinite = b.binary("arith.ori", b.compare("oeq", a, inf, dtype),
                        b.compare("oeq", c, inf, dtype), _TRUTH)  # fmt: skip
    return b.select(infinite, inf, result, dtype)


# -- the inverse of erf --

# M. Giles, "Approximating the erfinv function": good to a few units of f32.
_CENTRAL = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
            -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
         -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


@body("erfinv")
def _erfinv(b: Body, dtype: np.dtype, y: str) -> str:
    """Computed in f64: an approximation, then steps of Halley's method on erfc, or on erf near 0."""
    x = b.convert(y, dtype, _WIDE)
    size = b.unary("math.absf", x, _WIDE)
    one, zero = b.const(1, _WIDE), b.const(0, _WIDE)
    rest = b.binary("arith.subf", one, size, _WIDE)
    product = b.binary("arith.mulf", rest, b.binary("arith.addf", one, size, _WIDE), _WIDE)
    w = b.unary("arith.negf", b.unary("math.log", product, _WIDE), _WIDE)
    central = polynomial(b, _WIDE, b.binary("arith.subf", w, b.const(2.5, _WIDE), _WIDE), _CENTRAL)
    root = b.unary("math.sqrt", w, _WIDE)
    tail = polynomial(b, _WIDE, b.binary("arith.subf", root, b.const(3.0, _WIDE), _WIDE), _TAIL)
    is_central = b.compare("olt", w, b.const(5, _WIDE), _WIDE)
    guess = b.binary("arith.mulf", b.select(is_central, central, tail, _WIDE), size, _WIDE)
    near = b.compare("olt", size, b.const(0.5, _WIDE), _WIDE)
    for _ in range(2 if dtype == _WIDE else 1):
        below = b.binary("arith.subf", size, b.unary("math.erf", guess, _WIDE), _WIDE)
        above = b.binary("arith.subf", b.unary("math.erfc", guess, _WIDE), rest, _WIDE)
        error = b.select(near, below, above, _WIDE)
        square = b.binary("arith.mulf", guess, guess, _WIDE)
        slope = b.binary("arith.mulf", b.unary("math.exp", b.unary(
            "arith.negf", square, _WIDE), _WIDE), b.const(2 / math.sqrt(math.pi), _WIDE), _WIDE)  # fmt: skip
        step = b.binary("arith.divf", error, slope, _WIDE)
        bend = b.op(f"math.fma {b.unary('arith.negf', guess, _WIDE)}, {step}, {one} : f64")
        guess = b.binary("arith.addf", guess, b.binary("arith.divf", step, bend, _WIDE), _WIDE)
    guess = b.select(b.compare("oeq", size, one, _WIDE), b.const(math.inf, _WIDE), guess, _WIDE)
    nan = b.const(math.nan, _WIDE)
    guess = b.select(b.compare("ugt", size, one, _WIDE), nan, guess, _WIDE)
    result = b.binary("math.copysign", guess, x, _WIDE)
    result = b.select(b.compare("oeq", x, zero, _WIDE), x, result, _WIDE)
    return b.convert(result, _WIDE, dtype)


# -- functions with two results --


def _modf(b: Body, dtype: np.dtype, x: str) -> str:
    whole = b.unary("math.trunc", x, dtype)
    inf = b.const(math.inf, dtype)
    rest = b.binary("arith.subf", x, whole, dtype)
    infinite = b.compare("oeq", b.unary("math.absf", x, dtype), inf, dtype)
    rest = b.select(infinite, b.const(0, dtype), rest, dtype)
    return b.binary("math.copysign", rest, x, dtype)


BODIES["modf.0"] = _modf
BODIES["modf.1"] = lambda b, dtype, x: b.unary("math.trunc", x, dtype)
BODIES["divmod.0"] = BODIES["floor_divide"]
BODIES["divmod.1"] = BODIES["remainder"]


@body("bitwise_count")
def _bitwise_count(b: Body, dtype: np.dtype, x: str) -> str:
    """Set bits of the magnitude."""
    count = b.unary("math.ctpop", BODIES["absolute"](b, dtype, x), dtype)
    return b.convert(count, dtype, np.dtype(np.uint8))
