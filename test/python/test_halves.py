# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions from and to f16 and bf16 are those of IEEE 754, with and without instructions for them."""

import ml_dtypes
import numpy as np
import pytest
from oracle import Program, same_bits
from oracle_programs import ragged_types

HALVES = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
TARGETS = ["cpu", "cpu:x86-64"]


def converted(op, source, to, target):
    program = Program(ragged_types(f"""func.func @f(%x: <N; {source}>) -> <N; {to}> {{
  %y = ragged.map ins(%x : <N; {source}>) {{
  ^bb0(%a: {source}):
    %b = arith.{op} %a : {source} to {to}
    ragged.yield %b : {to} }} -> <N; {to}>
  return %y : <N; {to}> }}"""), target)  # fmt: skip
    return lambda x: program.run([[x]])[0].values


def every(dtype):
    return np.arange(2**16, dtype=np.uint16).view(dtype)


def edges(dtype):
    """Every half that is a number, what lies in the middle of two, and what is a little beside that."""
    halves = np.sort(every(dtype)[np.isfinite(every(dtype).astype("f8"))].astype("f8"))
    middle = (halves[1:] + halves[:-1]) / 2
    beyond = halves[-1] * np.array([1.0005, 1.0035, 1.01, 1.5, 2, 1e20])
    points = np.concatenate([halves, middle, beyond, -beyond, [np.inf, -np.inf, np.nan]])
    return np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])


def nearest(x, dtype):
    """Rounded once. What NumPy rounds an f64 to goes by way of f32 in ml_dtypes."""
    if dtype == np.float16:
        return x.astype(dtype)
    bits = np.abs(x).view(np.uint64)
    least = np.float64(2.0**-133)  # the smallest bf16 below the normal ones
    size = np.where(
        np.abs(x) >= 2.0**-126, (bits & np.uint64(0x7FF << 52)).view("f8") * 2.0**-7, least
    )
    with np.errstate(invalid="ignore"):
        rounded = np.rint(np.abs(x) / size) * size
    rounded = np.where(np.isinf(x) | (rounded >= 2.0**128), np.inf, rounded)
    return np.copysign(rounded, x).astype(dtype)


def same_numbers(got, want):
    nan = np.isnan(want.astype("f8"))
    assert (np.isnan(got.astype("f8")) == nan).all()
    same_bits(got[~nan], want[~nan])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", HALVES)
def test_to_wider_floats(kind, target):
    x = every(HALVES[kind])
    for wide, dtype in (("f32", "f4"), ("f64", "f8")):
        same_numbers(converted("extf", kind, wide, target)(x), x.astype(dtype))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", HALVES)
def test_from_wider_floats(kind, target):
    """One rounding: what f32 would make a tie is none."""
    x, dtype = edges(HALVES[kind]), HALVES[kind]
    same_numbers(converted("truncf", "f64", kind, target)(x), nearest(x, dtype))
    single = np.unique(x.astype("f4"))
    same_numbers(
        converted("truncf", "f32", kind, target)(single), nearest(single.astype("f8"), dtype)
    )


def nearest_to(number, digits):
    """An integer rounded to as many binary digits; of two that are as near the even one."""
    size = abs(number)
    drop = max(size.bit_length() - digits, 0)
    kept, rest, half = size >> drop, size & ((1 << drop) - 1), (1 << drop) >> 1
    kept += rest > half or (rest == half != 0 and kept & 1)
    return (kept << drop) * (-1 if number < 0 else 1)


def integers(kind, signed, width):
    """Those in the middle of two halves and beside that, and far beyond what an f64 holds."""
    least, most = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    digits = {"f16": 11, "bf16": 8, "f32": 24}[kind]
    found = {least, most, 0}
    for power in range(width + 1):
        for k in (2**digits, 2 ** (digits + 1) - 2, 2 ** (digits + 1) - 1, 2**digits + 1):
            middle = (2 * k + 1) * 2**power // 4
            found.update(middle + d for d in (-(2**11), -1025, -1024, -1, 0, 1, 1023, 1024, 2**12))
    found |= {-n for n in found}
    return np.array(
        sorted(n for n in found if least <= n <= most), f"{'iu'[not signed]}{width // 8}"
    )


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [*HALVES, "f32"])
@pytest.mark.parametrize("signed", [True, False])
def test_from_integers(kind, signed, target):
    dtype, digits = HALVES.get(kind, np.dtype("f4")), {"f16": 11, "bf16": 8, "f32": 24}[kind]
    for width in (8, 16, 32, 64):
        x = integers(kind, signed, width)
        # What is rounded to so many digits is exact in f64, and beyond f16 infinite.
        want = np.array([nearest_to(int(n), digits) for n in x], "f8").astype(dtype)
        op = "sitofp" if signed else "uitofp"
        got = converted(op, f"i{width}", kind, target)(x.view(f"i{width // 8}"))
        same_numbers(got, want)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", HALVES)
def test_in_several_blocks(kind, target):
    """A value that a loop carries from block to block is not converted on the way."""
    program = Program(ragged_types(f"""func.func @f(%x: <N; {kind}>) -> (<N; {kind}>, <N; {kind}>) {{
  %s, %i = ragged.sort %x dim 0 : <N; {kind}> -> <N; {kind}>, <N; i64>
  %y = ragged.scan ins(%s : <N; {kind}>) dim 0 init [0.0 : {kind}] {{
  ^bb0(%a: {kind}, %before: {kind}):
    ragged.yield %a, %before : {kind}, {kind} }} -> <N; {kind}>
  return %s, %y : <N; {kind}>, <N; {kind}> }}"""), target)  # fmt: skip
    x = np.array([3, -1, 0.5, 2], HALVES[kind])
    ordered, before = (r.values for r in program.run([[x]]))
    same_bits(ordered, np.sort(x))
    same_bits(before, np.array([0, -1, 0.5, 2], HALVES[kind]))
