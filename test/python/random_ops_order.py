# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of random programs that follow the order of a dim: sorting, searching, scans."""

from random_ops import any_value, is_float
from random_ops_move import has_dims, sliced
from random_program import FLOATS, Type, family, is_ragged


def ordered(b, name, v, dim, descending):
    """Sorted entries, and the indices that they had. Of numbers that are rounded only the entries: what
    is less than what may depend on how they were computed."""
    e = v.type.extents[dim]
    facts = [v.moved(), dict(mag=b.counted(v.type, [dim]), below=e, special=False)]
    text = f"ragged.sort {{0}} dim {dim}{' descending' if descending else ''} : {{in0}} -> {{out0}}, {{out1}}"
    return b.step(name, [v], [v.type, v.type.with_(dtype="i64", order=v.type.order)], text, facts,
                  keep=None if v.exact else [0])  # fmt: skip


@family(weight=3)
def sort(b):
    v = any_value(b, lambda v: has_dims(v) and (v.exact or b.chance(0.2)))
    if not has_dims(v):
        return None
    return ordered(b, "sort", v, b.rng.randrange(v.type.rank), b.chance(0.4))


@family()
def topk(b):
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    dim, k = b.rng.randrange(v.type.rank), b.rng.choice([1, 2, 3, 5])
    e = v.type.extents[dim]
    size = f"min({e}, {k})" if is_ragged(e) else min(e, k)
    parts = ordered(b, "topk", v, dim, b.chance(0.7))
    return [sliced(b, "topk", p, dim, 0, size) for p in parts]


@family()
def searchsorted(b):
    def searched(v):
        return v.exact and v.type.dtype != "i1"

    v = any_value(b, searched)
    if not searched(v):
        return None
    path = v.type.path
    given = b.pick(lambda s: s.type.rank == 1 and s.exact and s.type.dtype == v.type.dtype
                   and s.type.path == path[: len(s.type.path)]) if b.chance(0.6) else None  # fmt: skip
    if given is None:
        sorted_ = b.dense([b.static()], v.type.dtype, "sorted")
    else:
        sorted_ = ordered(b, "searchsorted", given, 0, False)[0]
    word = " right" if b.chance(0.5) else ""
    text = f"ragged.searchsorted {{0}}, {{1}}{word} : {{in0}}, {{in1}} -> {{out0}}"
    fact = dict(mag=b.counted(sorted_.type, [0]), special=False)
    return b.step("searchsorted", [sorted_, v], [v.type.with_(dtype="i64")], text, [fact])


@family(weight=2)
def unique(b):
    """The first of each run of equal entries, mostly of sorted ones."""

    def line(v):
        return (
            v.type.rank == 1
            and v.type.ragged == [0]
            and v.exact
            and not v.batch
            and v.type.dtype != "i1"
        )

    v = b.pick(line)
    if v is None or b.chance(0.3):
        path = b.path()
        type = Type((b.symbol(path),), b.rng.choice([b.float, "i64", "i32"]), path)
        if not is_ragged(type.extents[0]):
            return None
        b.bind(type)
        v = b.argument(type, "grainy" if type.is_float else "integers")
    if b.chance(0.7):
        v = ordered(b, "unique", v, 0, False)[0]
    dtype = v.type.dtype
    differ, zero = ("cmpf une", "0.0") if is_float(v) else ("cmpi ne", "0")
    text = f"""ragged.scan ins({{0}} : {{in0}}) dim 0 init [{zero} : {dtype}, true] {{{{
  ^bb0(%x: {dtype}, %last: {dtype}, %first: i1):
    %no = arith.constant false
    %differs = arith.{differ}, %x, %last : {dtype}
    %new = arith.ori %differs, %first : i1
    ragged.yield %x, %no, %new : {dtype}, i1, i1
  }}}} -> {{out0}}"""
    (mask,) = b.step("unique", [v], [v.type.with_(dtype="i1")], text, [dict(mag=1, special=False)])
    fresh = b.name("K")
    b.program.made[fresh] = v.type.extents[0]
    return b.step("unique", [v, mask], [v.type.with_(extents=(fresh,))],
                  "ragged.masked_select {0}, {1} : {in0}, {in1} -> {out0}", [v.moved()])  # fmt: skip


def recurrence(b, v, dtype):
    """A state that forgets: inexact, bounded."""
    wide = b.rng.choice([dtype, "f64"]) if dtype != "f64" else dtype
    widen = [f"%w = arith.extf %x : {dtype} to {wide}"] if wide != dtype else []
    narrow = [f"%y = arith.truncf %next : {wide} to {dtype}"] if wide != dtype else []
    lines = [*widen, f"%c = arith.constant {b.rng.choice([0.5, -0.25])} : {wide}",
             f"%kept = arith.mulf %c, %state : {wide}",
             f"%next = arith.addf %kept, {'%w' if widen else '%x'} : {wide}", *narrow]  # fmt: skip
    result = "%y" if narrow else "%next"
    return wide, "0.0", lines, "%next", [(result, dtype)], [dict(mag=v.mag + 1)]


def count(b, v, dtype):
    """How many entries so far are not 0, before and after each."""
    zero, differ = ("0.0", "cmpf une") if dtype in FLOATS else ("0", "cmpi ne")
    lines = [f"%zero = arith.constant {zero} : {dtype}", f"%some = arith.{differ}, %x, %zero : {dtype}",
             "%one = arith.extui %some : i1 to i64", "%next = arith.addi %state, %one : i64"]  # fmt: skip
    fact = dict(mag=16, special=False)
    return "i64", "0", lines, "%next", [("%state", "i64"), ("%next", "i64")], [fact, fact]


def last_change(b, v, dtype):
    """Each entry and the one before it."""
    zero = "0.0" if dtype in FLOATS else "0"
    return dtype, zero, [], "%x", [("%state", dtype)], [v.facts()]


@family(weight=2)
def scan(b):
    v = any_value(b, lambda v: has_dims(v) and v.type.dtype != "i1")
    if not has_dims(v) or v.type.dtype == "i1":
        return None
    dtype = v.type.dtype
    kinds = ([recurrence] if is_float(v) else []) + ([count, last_change] if v.exact else [])
    if not kinds:
        return None
    state, first, lines, after, results, facts = b.rng.choice(kinds)(b, v, dtype)
    dim, word = b.rng.randrange(v.type.rank), " reverse" if b.chance(0.3) else ""
    body = "".join(f"    {line}\n" for line in lines)
    values = ", ".join([after, *(r for r, _ in results)])
    types = ", ".join([state, *(t for _, t in results)])
    outs = ", ".join(f"{{out{k}}}" for k in range(len(results)))
    text = (f"ragged.scan ins({{0}} : {{in0}}) dim {dim}{word} init [{first} : {state}] {{{{\n"
            f"  ^bb0(%x: {dtype}, %state: {state}):\n{body}    ragged.yield {values} : {types}\n"
            f"  }}}} -> {outs}")  # fmt: skip
    return b.step(
        "scan", [v], [v.type.with_(dtype=t, order=v.type.order) for _, t in results], text, facts
    )
