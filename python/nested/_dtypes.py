# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types: NumPy dtypes, their names in programs and manifests, promotion, conversion, literals.

NumPy has no bfloat16. With the package ml_dtypes it is a dtype like others; without, 16 bits under a
name, which NumPy stores and moves but does not compute with: what reads or makes numbers goes
through `convert`, what promotes through `result_type` and `loop_dtypes`.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from ._errors import TraceError

try:
    import ml_dtypes

    bfloat16 = np.dtype(ml_dtypes.bfloat16)
    IS_DECLARED = False
except ImportError:
    bfloat16 = np.dtype([("bfloat16", "<u2")])
    IS_DECLARED = True

_NAMES = {
    np.dtype(np.bool_): "i1",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "ui8",
    np.dtype(np.float16): "f16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    bfloat16: "bf16",
}
_UNSIGNED = {f"u{8 * n}": np.dtype(f"u{n}") for n in (1, 2, 4, 8)}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()} | _UNSIGNED
# nested_dtype of runtime.h.
CODES = {
    name: code
    for code, name in enumerate(
        "i1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64".split(), start=1
    )
}
# Names of ours that NumPy has no other meaning for ("i8" is NumPy's int64, not our 8 bits).
_ALIASES = {"bf16", "bfloat16", "f32", "f64", "i32", "i64"}


def as_dtype(dtype: Any) -> np.dtype:
    """A NumPy dtype from a dtype, a NumPy name ("f4") or a name of ours ("f32", "bf16")."""
    if isinstance(dtype, str) and dtype in _ALIASES:
        return from_name("bf16" if dtype == "bfloat16" else dtype)
    return np.dtype(dtype)


def name_of(dtype: np.dtype) -> str:
    """The name of a dtype in programs: "f32". TraceError for dtypes that have none."""
    name = _NAMES.get(np.dtype(dtype).newbyteorder("=") if dtype.byteorder == ">" else dtype)
    if name is None or dtype.byteorder == ">":
        known = ", ".join(text_of(d) for d in _NAMES)
        raise TraceError(f"dtype {text_of(dtype)} is not supported; supported are {known}")
    return name


def text_of(dtype: np.dtype) -> str:
    """A dtype in messages."""
    return "bfloat16" if dtype == bfloat16 else str(dtype)


def scalar_name(dtype: np.dtype) -> str:
    """The name of a dtype in the regions of programs, whose integers have no sign: "i8" of uint8."""
    return name_of(dtype).removeprefix("u")


def storage_name(dtype: np.dtype) -> str:
    """As name_of, and also for unsigned dtypes, which arguments of an artifact may have."""
    for name, unsigned in _UNSIGNED.items():
        if dtype == unsigned:
            return name
    return name_of(dtype)


def from_name(name: str) -> np.dtype:
    """The NumPy dtype of a name in a manifest."""
    if name not in _DTYPES:
        raise ValueError(f"unknown dtype '{name}'")
    return _DTYPES[name]


def is_float(dtype: np.dtype) -> bool:
    """True for floating-point dtypes, bfloat16 included."""
    return dtype.kind == "f" or dtype == bfloat16


def is_bool(dtype: np.dtype) -> bool:
    """True for bool."""
    return dtype.kind == "b"


def is_int(dtype: np.dtype) -> bool:
    """True for integers."""
    return dtype.kind in "iu"


def is_unsigned(dtype: np.dtype) -> bool:
    """True for unsigned integers."""
    return dtype.kind == "u"


def literal(value: Any, dtype: np.dtype) -> str:
    """A constant of a dtype as the compiler reads it, without its type."""
    if is_bool(dtype):
        return "true" if value else "false"
    if is_int(dtype):
        return str(int(value))
    number = float(convert(convert(value, dtype), np.dtype(np.float64)))
    if math.isfinite(number):
        text = repr(number)
        mantissa, _, exponent = text.partition("e")
        if "." not in mantissa:
            mantissa += ".0"
        return mantissa + (f"e{exponent}" if exponent else "")
    if math.isnan(number):
        number = math.nan
    bits = {
        "f64": lambda: struct.unpack("<Q", struct.pack("<d", number))[0],
        "f32": lambda: struct.unpack("<I", struct.pack("<f", number))[0],
        "f16": lambda: struct.unpack("<H", struct.pack("<e", number))[0],
        "bf16": lambda: struct.unpack("<I", struct.pack("<f", number))[0] >> 16,
    }
    name = name_of(dtype)
    digits = {"f64": 16, "f32": 8}.get(name, 4)
    return f"0x{bits[name]():0{digits}X}"


def weak_result(dtype: np.dtype, weak: str) -> np.dtype:
    """The dtype of an array combined with a Python scalar ("bool", "int" or "float")."""
    return result_type(dtype, {"bool": False, "int": 0, "float": 0.0}[weak])


# ---------------------------------------------------------------------------
# bfloat16
# ---------------------------------------------------------------------------


def _stand_in(given: Any) -> tuple[list, bool]:
    """What is given, with float16 in the place of bfloat16, or beside float16 itself float32; whether
    a float16 is then bfloat16."""
    kinds = [x if isinstance(x, (bool, int, float, type, type(None))) else
             np.dtype(getattr(x, "dtype", x)) for x in given]  # fmt: skip
    is_mixed = any(isinstance(k, np.dtype) and k == np.float16 for k in kinds)
    other = np.dtype(np.float32 if is_mixed else np.float16)
    found = [isinstance(k, np.dtype) and k == bfloat16 for k in kinds]
    return [other if f else k for k, f in zip(kinds, found)], any(found) and not is_mixed


def result_type(*given: Any) -> np.dtype:
    """NumPy's promotion of dtypes, arrays and Python's numbers. bfloat16 takes part as float16 does;
    the two become float32."""
    kinds, is_half = _stand_in(given)
    found = np.result_type(*kinds)
    return bfloat16 if is_half and found == np.float16 else found


def loop_dtypes(ufunc: np.ufunc, given: tuple) -> tuple[np.dtype, ...]:
    """``ufunc.resolve_dtypes``: TypeError if there is no loop."""
    if not IS_DECLARED:
        return ufunc.resolve_dtypes(given)
    kinds, is_half = _stand_in(given)
    found = ufunc.resolve_dtypes(tuple(kinds))
    return tuple(bfloat16 if is_half and d == np.float16 else d for d in found)


def convert(x: Any, dtype: np.dtype) -> np.ndarray:
    """``x.astype(dtype)`` of a plain array or a number; to bfloat16 the nearest one, ties to even."""
    x = np.asarray(x)
    if x.dtype == dtype or not IS_DECLARED or bfloat16 not in (x.dtype, dtype):
        return x.astype(dtype)
    if x.dtype == bfloat16:
        return (x.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32).astype(dtype)
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8:
        # Beyond what float64 holds: the last bits, which only say if there were any, become one.
        low, one = x.dtype.type(0xFFF), x.dtype.type(0x800)
        gathered = (x & ~low) | np.where(x & low, one, x.dtype.type(0))
        x = np.where((x < 2**53) & (x > -(2**53)), x, gathered)
    wide = x.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        single = wide.astype(np.float32)
    # To float32 rounded to odd, and from that once: as if there had been no step in between.
    bits, nan = single.view(np.uint32), np.isnan(wide)
    bits = bits - (np.abs(single) > np.abs(wide)) | ((single != wide) & ~nan)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    nearest = np.where(nan, bits | np.uint32(0x400000), nearest) >> np.uint32(16)
    return nearest.astype(np.uint16).view(bfloat16)


def scalar(number: Any, dtype: np.dtype) -> Any:
    """A number of a dtype, as ``dtype.type(number)``."""
    return convert(number, dtype)[()] if dtype == bfloat16 else dtype.type(number)


def filled(shape: Any, number: Any, dtype: np.dtype) -> np.ndarray:
    """``np.full``."""
    return np.full(shape, convert(number, dtype) if dtype == bfloat16 else number, dtype)
