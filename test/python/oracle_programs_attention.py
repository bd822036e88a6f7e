# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: sizes of heads, grouped heads, windows, biases, masks and paths."""

import numpy as np
from oracle_programs import case, normal, other, rectangles, rows, together
from oracle_programs_contract import others
from oracle_programs_more import sentences


def attention(name, query, key, value, args, bias="", mask="", options="", dtype="f32", gradients=False,
              **more):  # fmt: skip
    """One op; shapes are "N, 2, 8" and the like. `gradients`: those for the result as its own seed."""
    types = [f"<{s}; {dtype}>" for s in (query, key, value)]
    words = ""
    for k, (shape, word) in enumerate(((bias, "bias"), (mask, "mask"))):
        if shape:
            words += f" {word} %x{len(types)}"
            types.append(f"<{shape}; {'i1' if k else dtype}>")
    kinds = (["bias"] if bias else []) + (["mask"] if mask else [])
    result = f"<{query.rsplit(',', 1)[0]},{value.rsplit(',', 1)[1]}; {dtype}>"
    header = ", ".join(f"%x{k}: {t}" for k, t in enumerate(types))
    listed = ", ".join(types[:3]) + "".join(f" {k} {t}" for k, t in zip(kinds, types[3:]))
    options = f" {{{options}}}" if options else ""
    operands = f"%x0, %x1, %x2{words}"
    if not gradients:
        case(
            "attention_" + name,
            f"""func.func @f({header}) -> {result} {{
  %r = ragged.attention {operands}{options} : {listed} -> {result}
  return %r : {result} }}""",
            args,
            **more,
        )
        return
    numbers = f"<{query.rsplit(',', 1)[0]}, 2; {dtype}>"
    made = types[: 4 if bias else 3]
    outs = ", ".join(made)
    # With what it is the gradient of: one that cancels has no digits to compare.
    sums = "".join(
        f"""
  %y{k} = ragged.map ins(%g#{k}, %x{k} : {t}, {t}) {{
  ^bb0(%a: {dtype}, %b: {dtype}):
    %c = arith.addf %a, %b : {dtype}
    ragged.yield %c : {dtype}
  }} -> {t}""" for k, t in enumerate(made))  # fmt: skip
    values = ", ".join(f"%y{k}" for k in range(len(made)))
    case(
        "attention_gradient_" + name,
        f"""func.func @f({header}) -> ({numbers}, {outs}) {{
  %r, %n = ragged.attention {operands}{options} : {listed} -> {result}, {numbers}
  %g:{len(made)} = ragged.attention_gradient {operands} seed %r result %r, %n{options} : {listed} seed {result} result {result}, {numbers} -> {outs}{sums}
  return %n, {values} : {numbers}, {outs} }}""",
        args,
        **more,
    )


def squares(*features, dtype="f4"):
    return lambda rng, lengths: [normal(rng, n, n, *features, dtype=dtype) for n in lengths]


def masks(*features):
    return lambda rng, lengths: [rng.random((n, other(n), *features)) < 0.4 for n in lengths]


SELF = ("N, 2, 8",) * 3
CROSS = ("N, 2, 8", "M, 2, 8", "M, 2, 8")


def three(*shape, dtype="f4"):
    return together(*[rows(*shape, dtype=dtype)] * 3)


def cross(*features, dtype="f4"):
    return [rows(*features, dtype=dtype), *[others(*features, dtype=dtype)] * 2]


attention("self", *SELF, three(2, 8))
attention("long", *SELF, three(2, 8), long=700)
attention("cross", *CROSS, together(*cross(2, 8)))
attention("reverse", "M, 2, 8", "N, 2, 8", "N, 2, 8", together(
    others(2, 8), rows(2, 8), rows(2, 8)))  # fmt: skip
attention("grouped", "N, 6, 16", "M, 2, 16", "M, 2, 5", together(
    rows(6, 16), others(2, 16), others(2, 5)))  # fmt: skip
for size in (1, 17, 64, 80, 256):
    attention(f"size_{size}", *(f"N, 1, {size}",) * 3, three(1, size))
attention("causal", *SELF, three(2, 8), options="right = 0 : i64")
attention("causal_cross", "M, 2, 8", "N, 2, 8", "N, 2, 8", together(
    others(2, 8), rows(2, 8), rows(2, 8)), options="right = 0 : i64")  # fmt: skip
# More queries than keys: the first see none.
attention("causal_empty", *CROSS, together(*cross(2, 8)), options="right = 0 : i64")
attention("window", *SELF, three(2, 8), options="left = 3 : i64, right = 1 : i64")
attention("far", *SELF, three(2, 8), options="left = 70 : i64, right = 0 : i64", long=300)
attention("bias", *CROSS, together(*cross(2, 8), rectangles(2)), bias="N, M, 2")
attention("bias_shared", *CROSS, together(*cross(2, 8), rectangles()), bias="N, M")
attention("mask", *CROSS, together(*cross(2, 8), masks()), mask="N, M")
attention("mask_heads", *CROSS, together(*cross(2, 8), rectangles(2), masks(2)), bias="N, M, 2",
          mask="N, M, 2")  # fmt: skip
attention("cap", *SELF, three(2, 8), options="soft_cap = 2.0 : f64, scale = 1.5 : f64")
attention("f64", *SELF, three(2, 8, dtype="f8"), dtype="f64")
attention("f64_bias", *SELF, together(*[rows(2, 8, dtype="f8")] * 3, squares(2, dtype="f8")),
          bias="N, N, 2", options="right = 0 : i64", dtype="f64")  # fmt: skip

attention("f32", *SELF, three(2, 8), options="right = 0 : i64", gradients=True, long=300)
attention("grouped", "N, 6, 16", "M, 2, 16", "M, 2, 5", together(
    rows(6, 16), others(2, 16), others(2, 5)), gradients=True)  # fmt: skip
attention("f64", *CROSS, together(
    *[f(2, 8, dtype="f8") for f in (rows, others, others)], rectangles(2, dtype="f8")),
    bias="N, M, 2", options="left = 2 : i64, soft_cap = 2.0 : f64", dtype="f64",
    gradients=True)  # fmt: skip
attention("bias_shared", *CROSS, together(*cross(2, 8), rectangles(), masks(2)), bias="N, M",
          mask="N, M, 2", options="left = 1 : i64, right = 1 : i64", gradients=True)  # fmt: skip

case(
    "attention_shared",
    """func.func @f(%q: <N, 2, 8>, %k: tensor<21x2x8xf32>, %v: tensor<21x2x4xf32>) -> <N, 2, 4> {
  %r = ragged.attention %q, %k, %v : <N, 2, 8>, tensor<21x2x8xf32>, tensor<21x2x4xf32> -> <N, 2, 4>
  return %r : <N, 2, 4> }""",
    together(rows(2, 8), normal(np.random.default_rng(5), 21, 2, 8),
             normal(np.random.default_rng(6), 21, 2, 4)),
)  # fmt: skip

case(
    "attention_path",
    """func.func @f(%x: <N, 4>, %n: <S; i64>, %k: <M, 1, 4>) -> (<T, 1, 4; f32; path = [B, S]>, <T, 1, 4; f32; path = [B, S]>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %q = ragged.broadcast %y dims [0, 2] : <T, 4; f32; path = [B, S]> -> <T, 1, 4; f32; path = [B, S]>
  %s = ragged.attention %q, %q, %q : <T, 1, 4; f32; path = [B, S]>, <T, 1, 4; f32; path = [B, S]>, <T, 1, 4; f32; path = [B, S]>
      -> <T, 1, 4; f32; path = [B, S]>
  %c = ragged.attention %q, %k, %k : <T, 1, 4; f32; path = [B, S]>, <M, 1, 4>, <M, 1, 4> -> <T, 1, 4; f32; path = [B, S]>
  return %s, %c : <T, 1, 4; f32; path = [B, S]>, <T, 1, 4; f32; path = [B, S]> }""",
    lambda rng, lengths: [*sentences(rng, lengths),
                          others(1, 4)(rng, lengths)],
)  # fmt: skip

ROWS = "f32; path = [B, N]"

# Each row of pairs attends by itself; the bias is of all rows, or one row's own.
case(
    "attention_of_rows",
    f"""func.func @f(%q: <N, N, 2, 8>, %k: <N, N, 1, 8>, %v: <N, N, 1, 4>, %b: <N, N, 2>, %m: <N, N, N; i1>)
    -> (<N, N, 2, 4>, <N, N, 2, 4>) {{
  %q1 = ragged.renest %q : <N, N, 2, 8> -> <N, 2, 8; {ROWS}>
  %k1 = ragged.renest %k : <N, N, 1, 8> -> <N, 1, 8; {ROWS}>
  %v1 = ragged.renest %v : <N, N, 1, 4> -> <N, 1, 4; {ROWS}>
  %m1 = ragged.renest %m : <N, N, N; i1> -> <N, N; i1; path = [B, N]>
  %s = ragged.attention %q1, %k1, %v1 bias %b : <N, 2, 8; {ROWS}>, <N, 1, 8; {ROWS}>, <N, 1, 4; {ROWS}> bias <N, N, 2>
      -> <N, 2, 4; {ROWS}>
  %t = ragged.attention %q1, %k1, %v1 bias %b mask %m1 : <N, 2, 8; {ROWS}>, <N, 1, 8; {ROWS}>, <N, 1, 4; {ROWS}>
      bias <N, N, 2> mask <N, N; i1; path = [B, N]> -> <N, 2, 4; {ROWS}>
  %u = ragged.unnest %s : <N, 2, 4; {ROWS}> -> <N, N, 2, 4>
  %w = ragged.unnest %t : <N, 2, 4; {ROWS}> -> <N, N, 2, 4>
  return %u, %w : <N, N, 2, 4>, <N, N, 2, 4> }}""",
    together(squares(2, 8), squares(1, 8), squares(1, 4), squares(2),
             lambda rng, lengths: [rng.random((n, n, n)) < 0.6 for n in lengths]),
    long=34,
)  # fmt: skip

# The rows add up the gradient of their bias, in f64; with what it is the gradient of, as above.
case(
    "attention_gradient_of_rows",
    f"""func.func @f(%q: <N, N, 2, 8>, %k: <N, N, 1, 8>, %v: <N, N, 1, 4>, %b: <N, N, 2>, %m: <N, N; i1>)
    -> (<N, N, 2, 8>, <N, N, 1, 8>, <N, N, 1, 4>, <N, N, 2>) {{
  %q1 = ragged.renest %q : <N, N, 2, 8> -> <N, 2, 8; {ROWS}>
  %k1 = ragged.renest %k : <N, N, 1, 8> -> <N, 1, 8; {ROWS}>
  %v1 = ragged.renest %v : <N, N, 1, 4> -> <N, 1, 4; {ROWS}>
  %r, %n = ragged.attention %q1, %k1, %v1 bias %b mask %m : <N, 2, 8; {ROWS}>, <N, 1, 8; {ROWS}>, <N, 1, 4; {ROWS}>
      bias <N, N, 2> mask <N, N; i1> -> <N, 2, 4; {ROWS}>, <N, 2, 2; {ROWS}>
  %g:4 = ragged.attention_gradient %q1, %k1, %v1 bias %b mask %m seed %r result %r, %n
      : <N, 2, 8; {ROWS}>, <N, 1, 8; {ROWS}>, <N, 1, 4; {ROWS}> bias <N, N, 2> mask <N, N; i1>
        seed <N, 2, 4; {ROWS}> result <N, 2, 4; {ROWS}>, <N, 2, 2; {ROWS}>
      -> <N, 2, 8; {ROWS}>, <N, 1, 8; {ROWS}>, <N, 1, 4; {ROWS}>, <N, N, 2; f64>
  %0 = ragged.unnest %g#0 : <N, 2, 8; {ROWS}> -> <N, N, 2, 8>
  %1 = ragged.unnest %g#1 : <N, 1, 8; {ROWS}> -> <N, N, 1, 8>
  %2 = ragged.unnest %g#2 : <N, 1, 4; {ROWS}> -> <N, N, 1, 4>
  %3 = ragged.map ins(%g#3, %b : <N, N, 2; f64>, <N, N, 2>) {{
  ^bb0(%x: f64, %y: f32):
    %z = arith.truncf %x : f64 to f32
    %c = arith.addf %z, %y : f32
    ragged.yield %c : f32
  }} -> <N, N, 2>
  return %0, %1, %2, %3 : <N, N, 2, 8>, <N, N, 1, 8>, <N, N, 1, 4>, <N, N, 2> }}""",
    together(squares(2, 8), squares(1, 8), squares(1, 4), squares(2),
             lambda rng, lengths: [rng.random((n, n)) < 0.6 for n in lengths]),
    long=34,
)  # fmt: skip
