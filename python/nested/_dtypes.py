# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types: NumPy dtypes, their names in programs and manifests, literals."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from ._errors import TraceError

try:
    import ml_dtypes

    bfloat16: np.dtype | None = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    bfloat16 = None

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
}
if bfloat16 is not None:
    _NAMES[bfloat16] = "bf16"
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
        known = ", ".join(str(d) for d in _NAMES)
        raise TraceError(f"dtype {dtype} is not supported; supported are {known}")
    return name


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
    """The NumPy dtype of a name in a manifest. ImportError for bf16 without ml_dtypes."""
    if name not in _DTYPES:
        if name == "bf16":
            raise ImportError("bfloat16 arrays need the package ml_dtypes")
        raise ValueError(f"unknown dtype '{name}'")
    return _DTYPES[name]


def is_float(dtype: np.dtype) -> bool:
    """True for floating-point dtypes, bfloat16 included."""
    return dtype.kind == "f" or (bfloat16 is not None and dtype == bfloat16)


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
    number = float(np.asarray(value).astype(dtype))
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
    scalar = {"bool": False, "int": 0, "float": 0.0}[weak]
    if dtype == bfloat16:
        return dtype
    return np.result_type(dtype, scalar)
