# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of random programs that move data: concatenation, padding, steps, rolls, reshapes."""

from random_ops import any_value, is_float
from random_program import FLOATS, Type, family, is_ragged


def common_grain(values):
    """That of a value made of entries of these."""
    grains = [v.grain for v in values]
    return None if None in grains else max(grains)


def total(extents):
    if not any(map(is_ragged, extents)):
        return sum(extents)
    return " + ".join(f"({e})" if is_ragged(e) else str(e) for e in extents)


def product(extents):
    ragged = [e for e in extents if is_ragged(e)]
    factor = 1
    for e in extents:
        factor *= 1 if is_ragged(e) else e
    if not ragged or (len(ragged) == 1 and factor == 1):
        return ragged[0] if ragged else factor
    return " * ".join(([str(factor)] if factor != 1 else []) + [f"({e})" for e in ragged])


def replaced(type, dim, *extents):
    return type.with_(extents=(*type.extents[:dim], *extents, *type.extents[dim + 1 :]))


def has_dims(v):
    return v.type.rank > 0


# --- One after the other ---------------------------------------------------------------


def neighbour(b, v, dim):
    """A value that may stand beside v along a dim."""
    rest = [e for k, e in enumerate(v.type.extents) if k != dim]

    def fits(u):
        t = u.type
        if t.dtype != v.type.dtype or t.path != v.type.path[: len(t.path)] or t.rank != v.type.rank:
            return False
        return [e for k, e in enumerate(t.extents) if k != dim] == rest

    if b.chance(0.7) and (u := b.pick(fits, ragged=None)):
        return u
    kind = None if v.type.is_float else "mask" if v.type.dtype == "i1" else "integers"
    if not any(map(is_ragged, rest)) and b.chance(0.4):
        return b.dense(replaced(v.type, dim, b.small()).extents, v.type.dtype, kind)
    type = replaced(v.type, dim, b.symbol(v.type.path) if b.chance(0.6) else b.small())
    if not b.is_bound(type):
        return v
    b.bind(type)
    return b.argument(type, kind)


@family(weight=2)
def concat(b):
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    dim = b.rng.randrange(v.type.rank)
    parts = [v] + [neighbour(b, v, dim) for _ in range(b.rng.choice([1, 1, 2]))]
    type = replaced(v.type, dim, total([p.type.extents[dim] for p in parts]))
    if not b.allowed(type):
        return None
    b.rng.shuffle(parts)
    type = replaced(v.type, dim, total([p.type.extents[dim] for p in parts]))
    below = v.below if all(p.below == v.below for p in parts) else None
    fact = dict(mag=max(p.mag for p in parts), grain=common_grain(parts), below=below)
    names = ", ".join(f"{{{k}}}" for k in range(len(parts)))
    types = ", ".join(f"{{in{k}}}" for k in range(len(parts)))
    text = f"ragged.concat {names} dim {dim} : {types} -> {{out0}}"
    return b.step("concat", parts, [type], text, [fact])


@family(weight=2)
def pad(b):
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    amounts, extents = [], []
    for e in v.type.extents:
        more = [0, 0, 0, 1, 2] + ([e] if is_ragged(e) and len(e) < 4 else [3])
        low, high = (b.rng.choice(more) if b.chance(0.7) else 0 for _ in range(2))
        amounts.append((low, high))
        extents.append(e if (low, high) == (0, 0) else total([x for x in (e, low, high) if x != 0]))
    type = v.type.with_(extents=tuple(extents))
    if not b.allowed(type):
        return None
    fact = dict(v.facts(), mag=max(v.mag, 2))
    if v.type.dtype == "i1":
        value = b.rng.choice(["true", "false"])
    elif is_float(v):
        value = f"{b.rng.choice([0.0, 1.5, -2.25])} : {v.type.dtype}"
        fact["grain"] = None if v.grain is None else max(v.grain, 2)
        fact["mag"] = max(v.mag, 2)
    else:
        value = f"{b.rng.choice([0, -3])} : {v.type.dtype}"
    low, high = (", ".join(str(a[k]) for a in amounts) for k in (0, 1))
    text = f"ragged.pad {{0}} low [{low}] high [{high}] value {value} : {{in0}} -> {{out0}}"
    return b.step("pad", [v], [type], text, [fact])


# --- Parts and turns --------------------------------------------------------------------


def sliced(b, name, v, dim, start, size, step=1, extent=None):
    """A step that takes a range of a dim."""
    word = f" step {step}" if step != 1 else ""
    type = replaced(v.type, dim, size if extent is None else extent)
    text = f"ragged.slice {{0}} dim {dim} start <{start}> size <{size}>{word} : {{in0}} -> {{out0}}"
    (out,) = b.step(name, [v], [type], text, [v.moved()])
    return out


@family(weight=2)
def stride(b):
    """Every second or third index, and backwards."""
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    dim = b.rng.randrange(v.type.rank)
    e = v.type.extents[dim]
    if is_ragged(e):
        start, size, step = b.rng.choice([
            (f"({e}) - 1", e, -1), (f"({e}) - 1", e, -1), ("0", f"(({e}) + 1) floordiv 2", 2),
            (f"({e}) - 1", f"(({e}) + 1) floordiv 2", -2), ("0", f"(({e}) + 2) floordiv 3", 3),
            (f"min({e}, 1)", f"({e}) floordiv 2", 2),
        ])  # fmt: skip
    else:
        step = b.rng.choice([-1, -1, 2, -2, 3])
        start = b.rng.randrange(e)
        size = ((e - 1 - start) // step if step > 0 else start // -step) + 1
    if not b.allowed(replaced(v.type, dim, size)):
        return None
    return [sliced(b, "stride", v, dim, start, size, step)]


@family()
def roll(b):
    """The first indices of a dim go behind the others."""
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    dim = b.rng.randrange(v.type.rank)
    e = v.type.extents[dim]
    if is_ragged(e):
        first = b.rng.choice([f"min({e}, 1)", f"({e}) floordiv 2"])
        rest = f"({e}) - ({first})"
    else:
        first = b.rng.randrange(e + 1)
        rest = e - first
    if not b.allowed(replaced(v.type, dim, rest)):
        return None
    front = sliced(b, "roll", v, dim, 0, first)
    back = sliced(b, "roll", v, dim, first, rest)
    text = f"ragged.concat {{0}}, {{1}} dim {dim} : {{in0}}, {{in1}} -> {{out0}}"
    return b.step("roll", [back, front], [v.type.with_()], text, [v.moved()])


def factors(e):
    """Extents whose product is e, if its form shows some."""
    if not is_ragged(e):
        divisors = [n for n in range(1, e + 1) if e % n == 0]
        return [(n, e // n) for n in divisors]
    parts = e.split(" * ")
    if len(parts) < 2:
        return [(1, e), (e, 1)]
    parts = [int(p) if p.isdigit() else p[1:-1] for p in parts]
    if any(is_ragged(p) and ("(" in p or ")" in p) for p in parts):
        return []
    return [(product(parts[:k]), product(parts[k:])) for k in range(1, len(parts))]


@family(weight=2)
def reshape(b):
    """Merges two neighbours, or splits one dim."""

    def in_order(v):
        return v.type.rank > 0 and v.type.storage == tuple(range(v.type.rank))

    v = b.find(in_order, lambda: b.fresh())
    if not in_order(v):
        return None
    extents = list(v.type.extents)
    choices = [(k, pair) for k, e in enumerate(extents) for pair in factors(e)]
    if len(extents) > 1 and (not choices or b.chance(0.6)):
        k = b.rng.randrange(len(extents) - 1)
        extents[k : k + 2] = [product(extents[k : k + 2])]
    elif choices:
        k, pair = b.rng.choice(choices)
        extents[k : k + 1] = pair
    type = v.type.with_(extents=tuple(extents))
    if not b.allowed(type) or type.storage != tuple(range(type.rank)):
        return None
    return b.step("reshape", [v], [type], "ragged.reshape {0} : {in0} -> {out0}", [v.moved()])


# --- Made of nothing but numbers of places --------------------------------------------------

MULTIPLIERS, STEPS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)


@family()
def random(b):
    """Numbers of Philox4x32 of fewer rounds: functions of a key of the sample and of the place."""
    like = any_value(b)
    extents, path = like.type.extents, like.type.path
    key = b.pick(lambda v: v.type == Type((), "i64", path)) or b.argument(Type((), "i64", path))
    places = [
        b.step("random", [], [like.type.with_(dtype="i64")], f"ragged.iota dim {k} : {{out0}}",
               [dict(mag=12, batch=like.batch)])[0]
        for k in range(len(extents))
    ]  # fmt: skip
    lines = []

    def op(name, *operands):
        lines.append(f"%r{len(lines)} = {name} {', '.join(operands)}")
        return f"%r{len(lines) - 1}"

    def number(n):
        return op("arith.constant", f"{n} : i64")

    def binary(name, x, y):
        return op(f"arith.{name}", x, f"{y} : i64")

    mask, half = number(0xFFFFFFFF), number(32)
    place = number(b.rng.randrange(100))
    for k in range(len(places)):
        place = binary("addi", binary("muli", place, number(1009)), f"%x{k + 1}")
    words = [binary("andi", place, mask), binary("shrui", place, half), binary("andi", "%x0", mask),
             binary("shrui", "%x0", half)]  # fmt: skip
    keys = [number(b.rng.randrange(2**32)), number(b.rng.randrange(2**32))]
    for turn in range(b.rng.choice([2, 3, 10])):
        if turn:
            keys = [binary("andi", binary("addi", k, number(s)), mask) for k, s in zip(keys, STEPS)]
        wide = [binary("muli", w, number(m)) for w, m in zip((words[0], words[2]), MULTIPLIERS)]
        low, high = (
            [binary("andi", w, mask) for w in wide],
            [binary("shrui", w, half) for w in wide],
        )
        words = [binary("xori", binary("xori", high[1], words[1]), keys[0]), low[1],
                 binary("xori", binary("xori", high[0], words[3]), keys[1]), low[0]]  # fmt: skip
    bits = binary("shrui", words[b.rng.randrange(4)], number(8))
    kind = b.rng.choice(["bits", "uniform", "bernoulli"])
    dtype, fact = "i64", dict(mag=24)
    if kind != "bits":
        dtype, fact = b.rng.choice(["f32", "f64"]), dict(mag=0, grain=24)
        bits = op("arith.sitofp", f"{bits} : i64 to {dtype}")
        scale = op("arith.constant", f"{2.0**-24} : {dtype}")
        bits = op("arith.mulf", bits, f"{scale} : {dtype}")
        if kind == "bernoulli":
            rate = op("arith.constant", f"{b.rng.choice([0.1, 0.5, 0.9])} : {dtype}")
            bits = op("arith.cmpf olt,", bits, f"{rate} : {dtype}")
            dtype, fact = "i1", dict(mag=1)
    inputs = [key, *places]
    header = ", ".join(f"%x{k}: i64" for k in range(len(inputs)))
    names = ", ".join(f"{{{k}}}" for k in range(len(inputs)))
    types = ", ".join(f"{{in{k}}}" for k in range(len(inputs)))
    # The key has no dims: it is made as large as the places.
    if places:
        wide = b.step("random", [key], [like.type.with_(dtype="i64")],
                      "ragged.broadcast {0} dims [] : {in0} -> {out0}", [key.facts()])  # fmt: skip
        inputs[0] = wide[0]
    assert dtype in FLOATS or dtype in ("i64", "i1")
    body = "".join(f"    {line}\n" for line in lines)
    text = (f"ragged.map ins({names} : {types}) {{{{\n  ^bb0({header}):\n{body}"
            f"    ragged.yield {bits} : {dtype}\n  }}}} -> {{out0}}")  # fmt: skip
    return b.step("random", inputs, [like.type.with_(dtype=dtype)], text, [fact])
