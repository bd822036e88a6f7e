# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise programs: what arith leaves undefined (R11), unsigned bytes, half precision."""

import numpy as np
from oracle_programs import case, rows, together


def bytes_of(*shape):
    return lambda rng, lengths: [rng.integers(0, 256, (n, *shape)).astype("u1") for n in lengths]


def edges(dtype, *shape):
    """Integers near 0 and near the ends of their type, zeros and -1 among them."""
    info = np.iinfo(dtype)
    some = np.array([0, 0, 1, -1, 2, 7, -7, info.max, info.min, info.max - 1, info.min + 1], dtype)
    return lambda rng, lengths: [rng.choice(some, (n, *shape)) for n in lengths]


def shifts(dtype, *shape):
    return lambda rng, lengths: [rng.integers(-3, 70, (n, *shape)).astype(dtype) for n in lengths]


def extremes(dtype, *shape):
    """Floats within and far beyond all integers."""
    some = np.array([0, -0.0, 1.5, -1.5, 127.9, 128, -128.9, 255, 256, 3e4, -4e4, 3e9, -3e9, 1e18,
                     1e19, -1e19, 3e38, np.inf, -np.inf, np.nan])  # fmt: skip

    def samples(rng, lengths):
        with np.errstate(over="ignore"):
            return [rng.choice(some, (n, *shape)).astype(dtype) for n in lengths]

    return samples


def pair(op, t):
    return f"""  %{op.replace(".", "_")}_{t} = ragged.map ins(%x, %y : <N, 4; {t}>, <N, 4; {t}>) {{
  ^bb0(%a: {t}, %b: {t}):
    %r = {op} %a, %b : {t}
    ragged.yield %r : {t} }} -> <N, 4; {t}>
"""


DIVISIONS = ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"]
for width in (8, 16, 32, 64):
    kind = f"i{width}"
    names = [f"%arith_{op}_{kind}" for op in DIVISIONS] + [f"%math_ipowi_{kind}"]
    text = "".join(pair(f"arith.{op}", kind) for op in DIVISIONS) + pair("math.ipowi", kind)
    types = ", ".join([f"<N, 4; {kind}>"] * len(names))
    dtype = f"i{width // 8}"
    case(f"r11_divisions_{kind}", f"""func.func @f(%x: <N, 4; {kind}>, %y: <N, 4; {kind}>) -> ({types}) {{
{text}  return {", ".join(names)} : {types} }}""",
         together(edges(dtype, 4), edges(dtype, 4)))  # fmt: skip
    names = [f"%arith_{op}_{kind}" for op in ("shli", "shrsi", "shrui")]
    text = "".join(pair(f"arith.{op}", kind) for op in ("shli", "shrsi", "shrui"))
    types = ", ".join([f"<N, 4; {kind}>"] * 3)
    case(f"r11_shifts_{kind}", f"""func.func @f(%x: <N, 4; {kind}>, %y: <N, 4; {kind}>) -> ({types}) {{
{text}  return {", ".join(names)} : {types} }}""",
         together(edges(dtype, 4), shifts(dtype, 4)))  # fmt: skip


def convert(op, source, target):
    return f"""  %{op}_{target} = ragged.map ins(%x : <N, 4; {source}>) {{
  ^bb0(%a: {source}):
    %r = arith.{op} %a : {source} to {target}
    ragged.yield %r : {target} }} -> <N, 4; {target}>
"""


for source, dtype in (("f64", "f8"), ("f32", "f4"), ("f16", "f2")):
    targets = [(op, f"i{w}") for op in ("fptosi", "fptoui") for w in (8, 16, 32, 64)]
    text = "".join(convert(op, source, t) for op, t in targets)
    names = ", ".join(f"%{op}_{t}" for op, t in targets)
    types = ", ".join(f"<N, 4; {t}>" for _, t in targets)
    case(f"r11_conversions_{source}", f"""func.func @f(%x: <N, 4; {source}>) -> ({types}) {{
{text}  return {names} : {types} }}""", (
        lambda rng, lengths, d=dtype: [extremes(d, 4)(rng, lengths)]))  # fmt: skip

case("unsigned", """func.func @f(%x: <N, 4; ui8>, %y: tensor<4xui8>) -> (<N, 4; ui8>, <4; ui8>, <4; ui8>, <N; i64>, <N, 4>, <4; ui8>, <N, N, 4; ui8>, <N, 4; i1>) {
  %a = ragged.map ins(%x, %y : <N, 4; ui8>, tensor<4xui8>) {
  ^bb0(%u: i8, %v: i8):
    %q = arith.divui %u, %v : i8
    %m = arith.maxui %q, %v : i8
    ragged.yield %m : i8 } -> <N, 4; ui8>
  %b = ragged.reduce max %x dims [0] : <N, 4; ui8> -> <4; ui8>
  %c = ragged.reduce min %x dims [0] empty identity : <N, 4; ui8> -> <4; ui8>
  %d = ragged.reduce argmax %x dims [1] : <N, 4; ui8> -> <N; i64>
  %e = ragged.map ins(%x : <N, 4; ui8>) {
  ^bb0(%u: i8):
    %w = arith.uitofp %u : i8 to f32
    ragged.yield %w : f32 } -> <N, 4>
  %g = ragged.reduce sum %x dims [0] : <N, 4; ui8> -> <4; ui8>
  %h = ragged.broadcast %x dims [1, 2] : <N, 4; ui8> -> <N, N, 4; ui8>
  %i = ragged.map ins(%x, %y : <N, 4; ui8>, tensor<4xui8>) {
  ^bb0(%u: i8, %v: i8):
    %w = arith.cmpi ult, %u, %v : i8
    ragged.yield %w : i1 } -> <N, 4; i1>
  return %a, %b, %c, %d, %e, %g, %h, %i : <N, 4; ui8>, <4; ui8>, <4; ui8>, <N; i64>, <N, 4>, <4; ui8>, <N, N, 4; ui8>, <N, 4; i1> }""",
     together(bytes_of(4), np.array([0, 1, 130, 255], "u1")),
     lambda x, y: (np.maximum(np.where(y == 0, 0, x // np.maximum(y, 1)), y),
                   x.max(0, initial=0), x.min(0, initial=255), x.argmax(1), x,
                   x.sum(0, dtype="u1"), np.broadcast_to(x, (len(x), *x.shape)), x < y), long=40)  # fmt: skip

case("unsigned_moves", """func.func @f(%x: <N, 3; ui8>, %t: <N; i64>) -> (<3, N; ui8>, <K, 3; ui8>, tensor<3xui8>, <N, 3; ui8>, <N, 2; ui8>, <N, 3; ui8>) {
  %a = ragged.transpose %x permutation [1, 0] : <N, 3; ui8> -> <3, N; ui8>
  %k = ragged.map ins(%t : <N; i64>) {
  ^bb0(%u: i64):
    %z = arith.constant 1 : i64
    %c = arith.cmpi sgt, %u, %z : i64
    ragged.yield %c : i1 } -> <N; i1>
  %b = ragged.masked_select %x, %k : <N, 3; ui8>, <N; i1> -> <K, 3; ui8>
  %c = ragged.reduce max %x dims [0] batch : <N, 3; ui8> -> tensor<3xui8>
  %w = arith.constant dense<[[1, 200, 3], [4, 5, 255], [7, 8, 9]]> : tensor<3x3xui8>
  %d = ragged.gather %w, %t : tensor<3x3xui8>, <N; i64> -> <N, 3; ui8>
  %e = ragged.slice %x dim 1 start <:1> size <:2> : <N, 3; ui8> -> <N, 2; ui8>
  %g = ragged.fill 200 : i8 -> <N, 3; ui8>
  return %a, %b, %c, %d, %e, %g : <3, N; ui8>, <K, 3; ui8>, tensor<3xui8>, <N, 3; ui8>, <N, 2; ui8>, <N, 3; ui8> }""",
     together(bytes_of(3), lambda rng, lengths: [rng.integers(0, 3, n) for n in lengths]),
     batch=True)  # fmt: skip


def half(op, kind):
    """In f16 the result is, of bf16, which has no array, its exact value."""
    result = "f16" if kind == "f16" else "f32"
    widen = "" if kind == "f16" else f"    %w = arith.extf %r : {kind} to f32\n"
    return f"""  %{op.replace(".", "_")}_{kind} = ragged.map ins(%x, %y : <N, 4>, <N, 4>) {{
  ^bb0(%u: f32, %v: f32):
    %a = arith.truncf %u : f32 to {kind}
    %b = arith.truncf %v : f32 to {kind}
    %r = {op} %a, %b : {kind}
{widen}    ragged.yield {"%w" if widen else "%r"} : {result} }} -> <N, 4; {result}>
"""


HALVES = [(op, "f16") for op in ("arith.addf", "arith.mulf", "arith.divf", "arith.maximumf",
          "math.copysign", "math.powf", "math.atan2")]  # fmt: skip
HALVES += [(op, "bf16") for op in ("arith.addf", "arith.mulf", "arith.divf", "arith.minimumf",
           "arith.remf")]  # fmt: skip
NAMES = ", ".join(f"%{op.replace('.', '_')}_{kind}" for op, kind in HALVES)
TYPES = ", ".join("<N, 4; f16>" if kind == "f16" else "<N, 4; f32>" for _, kind in HALVES)
BODIES = "".join(half(op, kind) for op, kind in HALVES)


def powers_of_two(rng, lengths):
    signs = [rng.choice([-1, 1], (n, 4)) for n in lengths]
    return [(s * np.exp2(rng.integers(-2, 3, s.shape))).astype("f4") for s in signs]


case("halves", f"""func.func @f(%x: <N, 4>, %y: <N, 4>) -> ({TYPES}) {{
{BODIES}  return {NAMES} : {TYPES} }}""", together(powers_of_two, powers_of_two))  # fmt: skip

case("half_rows", """func.func @f(%x: <N, 40; f16>, %w: tensor<40x8xf16>) -> (<N, 8; f16>, <40; f16>, <N; f16>, <N, 40; f16>, <40; f16>) {
  %a = ragged.linear %x, %w : <N, 40; f16>, tensor<40x8xf16> -> <N, 8; f16>
  %b = ragged.reduce sum %x dims [0] : <N, 40; f16> -> <40; f16>
  %c = ragged.reduce mean %x dims [1] : <N, 40; f16> -> <N; f16>
  %d = ragged.normalize layer %x : <N, 40; f16> -> <N, 40; f16>
  %e = ragged.reduce max %x dims [0] : <N, 40; f16> -> <40; f16>
  return %a, %b, %c, %d, %e : <N, 8; f16>, <40; f16>, <N; f16>, <N, 40; f16>, <40; f16> }""",
     together(rows(40, dtype="f2"), np.round(np.sin(np.arange(320.0)).reshape(40, 8), 2).astype("f2")))  # fmt: skip
