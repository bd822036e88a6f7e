# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What NumPy's elementwise functions compute: one scalar body each.

A body is ``body(b, dtype, *scalars) -> scalar`` where dtype is that of the inputs after
NumPy's own promotion (``ufunc.resolve_dtypes``).
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ._dtypes import is_bool, is_float, is_unsigned
from ._emit import Body

BODIES: dict[str, Callable] = {}
SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "true_divide": "/", "divide": "/",
    "floor_divide": "//", "remainder": "%", "power": "**", "matmul": "@", "equal": "==",
    "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<",
    "right_shift": ">>",
}  # fmt: skip


def body(*names: str) -> Callable:
    """Registers the body of one or several ufuncs."""

    def register(function: Callable) -> Callable:
        for name in names:
            BODIES[name] = function
        return function

    return register


_UNSIGNED = {
    "arith.maxsi": "arith.maxui", "arith.minsi": "arith.minui", "arith.remsi": "arith.remui",
    "arith.shrsi": "arith.shrui",
}  # fmt: skip


def _arithmetic(name: str, floating: str, integer: str, boolean: str | None = None) -> None:
    def write(b: Body, dtype: np.dtype, x: str, y: str) -> str:
        op = floating if is_float(dtype) else integer
        if is_bool(dtype) and boolean:
            op = boolean
        elif is_unsigned(dtype):
            op = _UNSIGNED.get(op, op)
        return b.binary(op, x, y, dtype)

    BODIES[name] = write


_arithmetic("add", "arith.addf", "arith.addi", "arith.ori")
_arithmetic("subtract", "arith.subf", "arith.subi")
_arithmetic("multiply", "arith.mulf", "arith.muli", "arith.andi")
_arithmetic("true_divide", "arith.divf", "arith.divf")
_arithmetic("maximum", "arith.maximumf", "arith.maxsi", "arith.ori")
_arithmetic("minimum", "arith.minimumf", "arith.minsi", "arith.andi")
_arithmetic("fmax", "arith.maxnumf", "arith.maxsi", "arith.ori")
_arithmetic("fmin", "arith.minnumf", "arith.minsi", "arith.andi")
_arithmetic("bitwise_and", "", "arith.andi")
_arithmetic("bitwise_or", "", "arith.ori")
_arithmetic("bitwise_xor", "", "arith.xori")
_arithmetic("left_shift", "", "arith.shli")
_arithmetic("right_shift", "", "arith.shrsi")
_arithmetic("arctan2", "math.atan2", "")
_arithmetic("fmod", "arith.remf", "arith.remsi")
_arithmetic("copysign", "math.copysign", "")
BODIES["divide"] = BODIES["true_divide"]


def _function(name: str, op: str) -> None:
    BODIES[name] = lambda b, dtype, x: b.unary(op, x, dtype)


for _name, _op in {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "cbrt": "cbrt", "sin": "sin",
    "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "rint": "roundeven",
}.items():  # fmt: skip
    _function(_name, f"math.{_op}")
for _name in ("floor", "ceil", "trunc", "rint"):

    def _rounding(b: Body, dtype: np.dtype, x: str, write: Callable = BODIES[_name]) -> str:
        return write(b, dtype, x) if is_float(dtype) else x

    BODIES[_name] = _rounding


def _comparison(name: str, floating: str, integer: str, boolean: str) -> None:
    def write(b: Body, dtype: np.dtype, x: str, y: str) -> str:
        predicate = floating if is_float(dtype) else boolean if is_bool(dtype) else integer
        return b.compare(predicate, x, y, dtype)

    BODIES[name] = write


_comparison("equal", "oeq", "eq", "eq")
_comparison("not_equal", "une", "ne", "ne")
_comparison("less", "olt", "slt", "ult")
_comparison("less_equal", "ole", "sle", "ule")
_comparison("greater", "ogt", "sgt", "ugt")
_comparison("greater_equal", "oge", "sge", "uge")


@body("negative")
def _negative(b: Body, dtype: np.dtype, x: str) -> str:
    if is_float(dtype):
        return b.unary("arith.negf", x, dtype)
    return b.binary("arith.subi", b.const(0, dtype), x, dtype)


@body("positive", "conjugate")
def _positive(b: Body, dtype: np.dtype, x: str) -> str:
    return x


@body("absolute", "fabs")
def _absolute(b: Body, dtype: np.dtype, x: str) -> str:
    if is_bool(dtype) or is_unsigned(dtype):
        return x
    return b.unary("math.absf" if is_float(dtype) else "math.absi", x, dtype)


@body("square")
def _square(b: Body, dtype: np.dtype, x: str) -> str:
    return BODIES["multiply"](b, dtype, x, x)


@body("reciprocal")
def _reciprocal(b: Body, dtype: np.dtype, x: str) -> str:
    op = "arith.divui" if is_unsigned(dtype) else "arith.divsi"
    return b.binary("arith.divf" if is_float(dtype) else op, b.const(1, dtype), x, dtype)


@body("sign")
def _sign(b: Body, dtype: np.dtype, x: str) -> str:
    zero, one = b.const(0, dtype), b.const(1, dtype)
    if is_unsigned(dtype):
        return b.select(b.compare("ne", x, zero, dtype), one, zero, dtype)
    minus = b.const(-1, dtype)
    more, less = ("ogt", "olt") if is_float(dtype) else ("sgt", "slt")
    positive = b.compare(more, x, zero, dtype)
    negative = b.compare(less, x, zero, dtype)
    sign = b.select(positive, one, b.select(negative, minus, zero, dtype), dtype)
    return b.select(b.compare("uno", x, x, dtype), x, sign, dtype) if is_float(dtype) else sign


@body("isnan")
def _isnan(b: Body, dtype: np.dtype, x: str) -> str:
    return b.compare("uno", x, x, dtype) if is_float(dtype) else b.const(0, np.dtype(bool))


@body("isinf")
def _isinf(b: Body, dtype: np.dtype, x: str) -> str:
    if not is_float(dtype):
        return b.const(0, np.dtype(bool))
    return b.compare("oeq", b.unary("math.absf", x, dtype), b.const(math.inf, dtype), dtype)


@body("isfinite")
def _isfinite(b: Body, dtype: np.dtype, x: str) -> str:
    if not is_float(dtype):
        return b.const(1, np.dtype(bool))
    return b.compare("olt", b.unary("math.absf", x, dtype), b.const(math.inf, dtype), dtype)


@body("invert")
def _invert(b: Body, dtype: np.dtype, x: str) -> str:
    ones = True if is_bool(dtype) else 255 if is_unsigned(dtype) else -1
    return b.binary("arith.xori", x, b.const(ones, dtype), dtype)


def _truth(b: Body, dtype: np.dtype, x: str) -> str:
    return b.convert(x, dtype, np.dtype(bool))


@body("logical_not")
def _logical_not(b: Body, dtype: np.dtype, x: str) -> str:
    return _invert(b, np.dtype(bool), _truth(b, dtype, x))


def _logical(name: str, op: str) -> None:
    def write(b: Body, dtype: np.dtype, x: str, y: str) -> str:
        return b.binary(op, _truth(b, dtype, x), _truth(b, dtype, y), np.dtype(bool))

    BODIES[name] = write


_logical("logical_and", "arith.andi")
_logical("logical_or", "arith.ori")
_logical("logical_xor", "arith.xori")


@body("remainder")
def _remainder(b: Body, dtype: np.dtype, x: str, y: str) -> str:
    """The sign is that of the divisor, as in Python; also that of zero."""
    if is_unsigned(dtype):
        return b.binary("arith.remui", x, y, dtype)
    zero, truth = b.const(0, dtype), np.dtype(bool)
    if is_float(dtype):
        rest = b.binary("arith.remf", x, y, dtype)
        ne, lt = "une", "olt"
    else:
        rest = b.binary("arith.remsi", x, y, dtype)
        ne, lt = "ne", "slt"
    signs = b.binary("arith.xori", b.compare(lt, rest, zero, dtype),
                     b.compare(lt, y, zero, dtype), truth)  # fmt: skip
    nonzero = b.compare(ne, rest, zero, dtype)
    wrong = b.binary("arith.andi", signs, nonzero, truth)
    moved = b.select(wrong, BODIES["add"](b, dtype, rest, y), rest, dtype)
    if not is_float(dtype):
        return moved
    return b.select(nonzero, moved, b.binary("math.copysign", zero, y, dtype), dtype)


@body("floor_divide")
def _floor_divide(b: Body, dtype: np.dtype, x: str, y: str) -> str:
    """The floor of the exact quotient. By zero: of integers 0, of floats x / y."""
    if not is_float(dtype):
        op = "arith.divui" if is_unsigned(dtype) else "arith.floordivsi"
        return b.binary(op, x, y, dtype)
    zero, one, truth = b.const(0, dtype), b.const(1, dtype), np.dtype(bool)
    rest = b.binary("arith.remf", x, y, dtype)
    # What the remainder leaves is a multiple of y, up to rounding.
    quotient = b.binary("arith.divf", b.binary("arith.subf", x, rest, dtype), y, dtype)
    signs = b.binary("arith.xori", b.compare("olt", rest, zero, dtype),
                     b.compare("olt", y, zero, dtype), truth)  # fmt: skip
    below = b.binary("arith.andi", signs, b.compare("une", rest, zero, dtype), truth)
    quotient = b.select(below, b.binary("arith.subf", quotient, one, dtype), quotient, dtype)
    whole = b.unary("math.roundeven", quotient, dtype)
    ratio = b.binary("arith.divf", x, y, dtype)
    # A quotient of zero has a sign.
    whole = b.select(b.compare("oeq", whole, zero, dtype),
                     b.binary("math.copysign", zero, ratio, dtype), whole, dtype)  # fmt: skip
    return b.select(b.compare("oeq", y, zero, dtype), ratio, whole, dtype)


@body("power", "float_power")
def _power(b: Body, dtype: np.dtype, x: str, y: str) -> str:
    if not is_unsigned(dtype):
        return b.binary("math.powf" if is_float(dtype) else "math.ipowi", x, y, dtype)
    # An exponent has a sign for math.ipowi; the low bits are those of the wider number.
    wide = np.dtype(f"i{2 * dtype.itemsize}")
    x, y = b.convert(x, dtype, wide), b.convert(y, dtype, wide)
    return b.convert(b.binary("math.ipowi", x, y, wide), wide, dtype)


@body("rsqrt")
def _rsqrt(b: Body, dtype: np.dtype, x: str) -> str:
    return b.unary("math.rsqrt", x, dtype)


@body("sigmoid")
def _sigmoid(b: Body, dtype: np.dtype, x: str) -> str:
    one = b.const(1, dtype)
    decay = b.unary("math.exp", b.unary("arith.negf", x, dtype), dtype)
    return b.binary("arith.divf", one, b.binary("arith.addf", one, decay, dtype), dtype)


@body("silu")
def _silu(b: Body, dtype: np.dtype, x: str) -> str:
    one = b.const(1, dtype)
    decay = b.unary("math.exp", b.unary("arith.negf", x, dtype), dtype)
    return b.binary("arith.divf", x, b.binary("arith.addf", one, decay, dtype), dtype)


@body("gelu")
def _gelu(b: Body, dtype: np.dtype, x: str) -> str:
    scaled = b.binary("arith.mulf", x, b.const(math.sqrt(0.5), dtype), dtype)
    total = b.binary("arith.addf", b.unary("math.erf", scaled, dtype), b.const(1, dtype), dtype)
    half = b.binary("arith.mulf", x, b.const(0.5, dtype), dtype)
    return b.binary("arith.mulf", half, total, dtype)


@body("gelu_tanh")
def _gelu_tanh(b: Body, dtype: np.dtype, x: str) -> str:
    cube = b.binary("arith.mulf", b.binary("arith.mulf", x, x, dtype), x, dtype)
    inner = b.binary("arith.addf", x, b.binary("arith.mulf", cube, b.const(0.044715, dtype), dtype),
                     dtype)  # fmt: skip
    inner = b.binary("arith.mulf", inner, b.const(math.sqrt(2 / math.pi), dtype), dtype)
    total = b.binary("arith.addf", b.unary("math.tanh", inner, dtype), b.const(1, dtype), dtype)
    half = b.binary("arith.mulf", x, b.const(0.5, dtype), dtype)
    return b.binary("arith.mulf", half, total, dtype)


def small_power(exponent: Any) -> Callable | None:
    """A cheap body for ``x ** exponent`` with a small number known while tracing."""
    if isinstance(exponent, bool) or not isinstance(exponent, (int, float)):
        return None
    if exponent in (1, 2, 3, 4):

        def write(b: Body, dtype: np.dtype, x: str) -> str:
            multiply = BODIES["multiply"]
            if exponent == 1:
                return x
            squared = multiply(b, dtype, x, x)
            if exponent == 2:
                return squared
            return multiply(b, dtype, squared, x if exponent == 3 else squared)

        return write
    if exponent == 0.5:
        return lambda b, dtype, x: b.unary("math.sqrt", x, dtype) if is_float(dtype) else ""
    return None
