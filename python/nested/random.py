# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers that depend on a seed, a key of the sample and the place in it, and on nothing else.

A number is the same in a batch or alone, in any order, at any thread count, on a plain array,
and when it is computed again: there is no state. The generator is Philox4x32-10, whose counter is
(place, key) and whose key is the seed. ``key`` is an integer, one for each sample, such as its
number in the data set; samples with one key get the same numbers. Different uses in one program need
different seeds. ``shape`` may hold Dims (``x.shape``).
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from . import _emit
from ._dtypes import as_dtype
from ._eager import enable
from ._emit import Body
from ._errors import TraceError, at_user, public
from ._tracer import Tracer, any_traced, lift, trace_of

__all__ = ["bits", "uniform", "normal", "bernoulli", "integers", "exponential"]

_MASK = 0xFFFFFFFF
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_I64 = np.dtype(np.int64)


def _philox(place: Any, key: Any, seed: Any, op: Callable) -> list:
    """Four words of 32 bits in integers of 64; ``op(name, x, y)`` is wrapping arithmetic, where y may
    be a number."""

    def halves(x: Any) -> tuple:
        return op("and", x, _MASK), op("shr", x, 32)

    (c0, c1), (c2, c3), (k0, k1) = halves(place), halves(key), halves(seed)
    for turn in range(_ROUNDS):
        if turn:
            k0 = op("and", op("add", k0, _STEPS[0]), _MASK)
            k1 = op("and", op("add", k1, _STEPS[1]), _MASK)
        (low0, high0), (low1, high1) = (
            halves(op("mul", c, m)) for c, m in zip((c0, c2), _MULTIPLIERS)
        )
        c0, c1, c2, c3 = (
            op("xor", op("xor", high1, c1), k0),
            low1,
            op("xor", op("xor", high0, c3), k1),
            low0,
        )
    return [c0, c1, c2, c3]


def _plain(x: Any, name: str) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.kind not in "iu" or array.ndim:
        raise TraceError(f"{name} must be an integer, but got {array.dtype} of {array.ndim} axes")
    return array.astype(np.int64).view(np.uint64)


_UINT = {
    "and": np.bitwise_and, "xor": np.bitwise_xor, "add": np.add, "mul": np.multiply,
    "shr": np.right_shift,
}  # fmt: skip
_OPS = {"and": "arith.andi", "xor": "arith.xori", "add": "arith.addi", "mul": "arith.muli",
        "shr": "arith.shrui"}  # fmt: skip


def _draw(key: Any, shape: Any, seed: Any, dtype: np.dtype, plain: Callable, body: Callable) -> Any:
    """``plain`` makes numbers of four arrays of words, ``body`` writes the same for scalars."""
    dims = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not any_traced((key, seed, *dims)):
        with np.errstate(over="ignore"):
            places = np.arange(math.prod(dims), dtype=np.uint64).reshape(dims)
            key, seed = _plain(key, "key"), _plain(seed, "seed")
            words = _philox(
                places,
                key,
                seed,
                lambda op, x, y: _UINT[op](x, np.uint64(y) if isinstance(y, int) else y),
            )
            return plain(*np.broadcast_arrays(*words)).astype(dtype, copy=False)
    trace = trace_of([key, seed, *dims])
    place: Any = 0
    for axis, d in enumerate(dims):
        along = Tracer(trace, _emit.iota(trace, dims, axis))
        place = along if axis == 0 else place * d + along
    operands = []
    for name, x in (("place", place), ("key", key), ("seed", seed)):
        value, _ = lift(trace, x)
        if value.dtype.kind != "i" or (name != "place" and value.dims):
            raise at_user(TraceError(
                f"{name} must be an integer for each sample, but got {value.dtype} of {len(value.dims)} axes"
            ))  # fmt: skip
        operands.append(value)

    def write(b: Body, *scalars: str) -> str:
        def op(name: str, x: str, y: Any) -> str:
            return b.binary(_OPS[name], x, b.const(y, _I64) if isinstance(y, int) else y, _I64)

        return body(b, _philox(*scalars, op))

    value = _emit.elementwise(trace, "random", operands, [_I64] * 3, dtype, write)
    if not value.dims and dims:
        value = _emit.broadcast_to(trace, value, dims, value.batched)
    return Tracer(trace, value)


def _fraction(words: tuple, dtype: np.dtype, b: Body | None) -> Any:
    """A float in [0, 1): 24 bits of one word, or 53 of two."""
    wide = dtype == np.float64
    if b is None:
        if wide:
            return ((words[0] << np.uint64(32) | words[1]) >> np.uint64(11)) * 2.0**-53
        return (words[0] >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)
    if wide:
        high = b.binary("arith.shli", words[0], b.const(32, _I64), _I64)
        both = b.binary("arith.ori", high, words[1], _I64)
        whole, kind, step = b.binary("arith.shrui", both, b.const(11, _I64), _I64), "f64", -53
    else:
        whole, kind, step = b.binary("arith.shrui", words[0], b.const(8, _I64), _I64), "f32", -24
    real = np.dtype(np.float64 if wide else np.float32)
    number = b.op(f"arith.sitofp {whole} : i64 to {kind}")
    return b.binary("arith.mulf", number, b.const(2.0**step, real), real)


def _float(dtype: Any) -> np.dtype:
    dtype = as_dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise at_user(TraceError(f"random numbers are float32 or float64, but got {dtype}"))
    return dtype


@public
def bits(key: Any, shape: Any = (), seed: Any = 0) -> Any:
    """64 random bits as int64, of a shape."""

    def plain(a: Any, b: Any, c: Any, d: Any) -> Any:
        return (a << np.uint64(32) | b).view(np.int64)

    def body(b: Body, words: list) -> str:
        high = b.binary("arith.shli", words[0], b.const(32, _I64), _I64)
        return b.binary("arith.ori", high, words[1], _I64)

    return _draw(key, shape, seed, _I64, plain, body)


@public
def uniform(
    key: Any, shape: Any = (), low: float = 0.0, high: float = 1.0, seed: Any = 0,
    dtype: Any = np.float32,
) -> Any:  # fmt: skip
    """Floats in ``[low, high)``. dtype: float32 or float64."""
    dtype = _float(dtype)
    unit = _draw(key, shape, seed, dtype, lambda *w: _fraction(w, dtype, None),
                 lambda b, w: _fraction(tuple(w), dtype, b))  # fmt: skip
    if low == 0 and high == 1:
        return unit
    return unit * dtype.type(high - low) + dtype.type(low)


@public
def normal(key: Any, shape: Any = (), seed: Any = 0, dtype: Any = np.float32) -> Any:
    """Normal floats with mean 0 and variance 1 (Box and Muller). dtype: float32 or float64."""
    dtype = _float(dtype)

    def plain(*words: Any) -> Any:
        first, second = (_fraction(words[k : k + 2], dtype, None) for k in (0, 2))
        radius = np.sqrt(dtype.type(-2) * np.log(dtype.type(1) - first))
        return radius * np.cos(dtype.type(2 * math.pi) * second)

    def body(b: Body, words: list) -> str:
        first, second = (_fraction(tuple(words[k : k + 2]), dtype, b) for k in (0, 2))
        rest = b.binary("arith.subf", b.const(1.0, dtype), first, dtype)  # in (0, 1]
        squared = b.binary(
            "arith.mulf", b.const(-2.0, dtype), b.unary("math.log", rest, dtype), dtype
        )
        angle = b.binary("arith.mulf", b.const(2 * math.pi, dtype), second, dtype)
        return b.binary(
            "arith.mulf",
            b.unary("math.sqrt", squared, dtype),
            b.unary("math.cos", angle, dtype),
            dtype,
        )

    return _draw(key, shape, seed, dtype, plain, body)


@public
def bernoulli(key: Any, shape: Any = (), p: Any = 0.5, seed: Any = 0) -> Any:
    """Booleans that are true with probability p."""
    return uniform(key, shape, seed=seed) < p


@public
def exponential(
    key: Any, shape: Any = (), scale: Any = 1.0, seed: Any = 0, dtype: Any = np.float32
) -> Any:
    """Floats of an exponential distribution with this mean. dtype: float32 or float64."""
    dtype = _float(dtype)
    unit = uniform(key, shape, seed=seed, dtype=dtype)
    return -np.log(dtype.type(1) - unit) * dtype.type(scale)


@public
def integers(key: Any, shape: Any = (), low: int = 0, high: int = 2, seed: Any = 0) -> Any:
    """int64 in ``[low, high)``, of which there are at most 2**31."""
    count = int(high) - int(low)
    if not 0 < count <= 2**31:
        raise at_user(TraceError(f"integers in [{low}, {high}): expected 1 to 2**31 of them"))

    def plain(a: Any, *rest: Any) -> Any:
        return (a * np.uint64(count) >> np.uint64(32)).astype(np.int64)

    def body(b: Body, words: list) -> str:
        scaled = b.binary("arith.muli", words[0], b.const(count, _I64), _I64)
        return b.binary("arith.shrui", scaled, b.const(32, _I64), _I64)

    return _draw(key, shape, seed, _I64, plain, body) + low


enable(globals(), __all__)
