# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More families of operations of random programs: in order along an axis, choices, probabilities."""

from random_ops import any_value, is_float
from random_program import BATCH, FLOATS, INTEGERS, Type, family, fits


@family(weight=2)
def accumulate(b):
    v = any_value(b, lambda v: v.type.rank > 0 and v.type.dtype in (*FLOATS, "i64", "i32"))
    if not v.type.rank or v.type.dtype not in (*FLOATS, "i64", "i32"):
        return None
    dim, kind = b.rng.randrange(v.type.rank), b.rng.choice(["sum", "sum", "max", "min"])
    fact = v.facts()
    if kind == "sum":
        fact["mag"] += b.counted(v.type, [dim])
    words = " reverse" if b.chance(0.3) else ""
    if b.chance(0.3):
        words += " exclusive"
        if kind != "sum":  # the first one is the identity
            fact.update(special=is_float(v), mag=v.mag if is_float(v) else INTEGERS[v.type.dtype])
    if is_float(v) and not fits(v.type.dtype, fact["mag"]):
        return None
    fact["mag"] = min(fact["mag"], 64)
    return b.step("accumulate", [v], [v.type], f"ragged.accumulate {kind} {{0}} dim {dim}{words} : {{in0}}",
                  [fact])  # fmt: skip


@family(weight=2)
def rows(b):
    """Each index of dim 0 as a member of its own."""

    def is_cut(v):
        return v.type.path == BATCH and v.type.rank and v.type.storage[0] == 0 \
            and b.program.bound.get(v.type.extents[0]) == BATCH  # fmt: skip

    v = any_value(b, is_cut)
    if not is_cut(v):
        return None
    component, *extents = v.type.extents
    order = tuple(dim - 1 for dim in v.type.storage[1:])
    type = Type(tuple(extents), v.type.dtype, (*BATCH, component), order)
    return b.step("rows", [v], [type], "ragged.renest {0} : {in0} -> {out0}", [v.moved()])


@family()
def truth(b):
    """any and all of a mask."""
    v = b.pick(lambda v: v.type.dtype == "i1" and v.type.rank > 0)
    if v is None:
        like = any_value(b, lambda v: v.type.rank > 0)
        if not like.type.rank or not b.is_bound(like.type):
            return None
        v = b.argument(like.type.with_(dtype="i1", order=None), "mask")
    dims = sorted(b.rng.sample(range(v.type.rank), b.rng.randrange(1, v.type.rank + 1)))
    extents = tuple(e for k, e in enumerate(v.type.extents) if k not in dims)
    text = f"ragged.reduce {b.rng.choice(['any', 'all'])} {{0}} dims {dims} : {{in0}} -> {{out0}}"
    return b.step("truth", [v], [Type(extents, "i1", v.type.path)], text, [dict(mag=1)])


@family()
def logsumexp(b):
    v = any_value(b, lambda v: v.type.rank > 0 and is_float(v) and v.mag <= 8)
    if not v.type.rank or not is_float(v) or v.mag > 8:
        return None
    dims = sorted(b.rng.sample(range(v.type.rank), b.rng.randrange(1, v.type.rank + 1)))
    extents = tuple(e for k, e in enumerate(v.type.extents) if k not in dims)
    text = f"ragged.reduce logsumexp {{0}} dims {dims} : {{in0}} -> {{out0}}"
    fact = dict(mag=v.mag + 4, special=True)  # -inf of nothing
    return b.step("logsumexp", [v], [v.type.with_(extents=extents)], text, [fact])


@family()
def winner(b):
    """argmax and argmin, of numbers that every way to compute gives the same."""
    v = any_value(b, lambda v: v.type.rank > 0 and v.exact and v.type.dtype != "i1")
    if not v.type.rank or not v.exact or v.type.dtype == "i1":
        return None
    dims = [b.rng.randrange(v.type.rank)]
    extents = tuple(e for k, e in enumerate(v.type.extents) if k not in dims)
    text = f"ragged.reduce {b.rng.choice(['argmax', 'argmin'])} {{0}} dims {dims} : {{in0}} -> {{out0}}"
    return b.step(
        "winner", [v], [Type(extents, "i64", v.type.path)], text, [dict(mag=12, special=False)]
    )


@family()
def softmax(b):
    v = any_value(b, lambda v: v.type.rank > 0 and is_float(v) and v.mag <= 8)
    if not v.type.rank or not is_float(v) or v.mag > 8:
        return None
    dim = b.rng.randrange(v.type.rank)
    return b.step("softmax", [v], [v.type], f"ragged.softmax {{0}} dims [{dim}] : {{in0}} -> {{out0}}",
                  [dict(mag=1)])  # fmt: skip
