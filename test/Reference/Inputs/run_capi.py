"""Runs a program through libnested_reference.so with nothing but ctypes."""

import ctypes
import sys
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)

F32 = 12
PROGRAM = b"""
func.func @f(%x: !ragged.tensor<[N], f32> {ragged.name = "x"}) -> !ragged.tensor<[N], f32> {
  %0 = ragged.map ins(%x : !ragged.tensor<[N], f32>) {
  ^bb0(%a: f32):
    %c = arith.constant 11.0 : f32
    %r = arith.mulf %a, %c : f32
    ragged.yield %r : f32
  } -> !ragged.tensor<[N], f32>
  return %0 : !ragged.tensor<[N], f32>
}
"""


class Argument(ctypes.Structure):  # nested_argument
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("data", c_void_p),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("num_samples", c_int64),
        ("lengths", POINTER(POINTER(c_int64))),
        ("path_lengths", POINTER(POINTER(c_int64))),
        ("base", POINTER(c_int64)),
        ("row_capacity", c_int64),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("donated_to", c_int32),
        ("reserved0", c_int32),
        ("reserved", c_uint64 * 4),
    ]


class Result(ctypes.Structure):  # nested_reference_result
    _fields_ = [
        ("struct_size", c_uint32),
        ("dtype", c_int32),
        ("declared_dtype", c_int32),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("data", c_void_p),
        ("bytes", c_int64),
        ("rows", c_int64),
        ("num_samples", c_int64),
        ("num_instances", c_int64),
        ("num_ragged", c_int32),
        ("path_rank", c_int32),
        ("lengths", POINTER(POINTER(c_int64))),
        ("path_lengths", POINTER(POINTER(c_int64))),
    ]


library = ctypes.CDLL(sys.argv[1])
library.nested_reference_run.argtypes = [
    c_char_p,
    c_size_t,
    c_char_p,
    POINTER(Argument),
    c_int64,
    c_void_p,
    POINTER(c_void_p),
]
library.nested_reference_diagnostics.argtypes = [c_void_p]
library.nested_reference_diagnostics.restype = c_char_p
library.nested_reference_get_result.argtypes = [c_void_p, c_int64, POINTER(Result)]
library.nested_reference_release.argtypes = [c_void_p]


def run(lengths):
    values = (ctypes.c_float * 3)(1, 2, 3)
    numbers = (c_int64 * len(lengths))(*lengths)
    tables = (POINTER(c_int64) * 1)(ctypes.cast(numbers, POINTER(c_int64)))
    argument = Argument(
        struct_size=ctypes.sizeof(Argument),
        data=ctypes.cast(values, c_void_p),
        dtype=F32,
        rank=1,
        shape=(c_int64 * 1)(-1),
        num_samples=len(lengths),
        lengths=tables,
        row_capacity=3,
    )
    handle = c_void_p()
    status = library.nested_reference_run(
        PROGRAM, len(PROGRAM), None, byref(argument), 1, None, byref(handle)
    )
    print("status", status)
    print(library.nested_reference_diagnostics(handle).decode(), end="")
    if status == 0:
        result = Result(struct_size=ctypes.sizeof(Result))
        library.nested_reference_get_result(handle, 0, byref(result))
        print("lengths", result.lengths[0][: result.num_instances])
        floats = ctypes.cast(result.data, POINTER(ctypes.c_float))
        print("values", floats[: result.rows])
    library.nested_reference_release(handle)


run([2, 0, 1])
run([2, -1, 1])
