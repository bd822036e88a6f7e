# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of operations of random programs: structure, elementwise, reductions, products, moves."""

from random_program import (
    BATCH,
    DIGITS_OF_A_BATCH,
    FLOATS,
    HALVES,
    INTEGERS,
    NESTED,
    Type,
    default_order,
    family,
    fits,
    is_ragged,
    symbols,
)
from random_scalars import region


def is_float(v):
    return v.type.is_float


def any_value(b, accept=lambda v: True):
    return b.find(accept, lambda: b.fresh())


# --- Made of nothing -----------------------------------------------------------------


@family()
def iota(b):
    v = any_value(b, lambda v: v.type.rank > 0)
    if not v.type.rank:
        return None
    dim = b.rng.randrange(v.type.rank)
    type = v.type.with_(dtype="i64")
    fact = dict(mag=b.counted(type, [dim]), below=type.extents[dim],
                batch=v.batch and bool(symbols(type.extents) - set(b.program.bound)))  # fmt: skip
    return b.step("iota", [], [type], f"ragged.iota dim {dim} : {{out0}}", [fact])


@family()
def fill(b):
    v = any_value(b)
    dtype = b.rng.choice([b.float, "i64", "i32"])
    number = b.rng.choice(["0.0", "1.5", "-2.25"]) if dtype in FLOATS else b.rng.choice(["0", "-3"])
    fact = dict(mag=2, grain=2)
    return b.step("fill", [], [v.type.with_(dtype=dtype)],
                  f"ragged.fill {number} : {dtype} -> {{out0}}", [fact])  # fmt: skip


@family()
def extent(b):
    v = any_value(b, lambda v: v.type.ragged)
    if not v.type.ragged:
        return None
    e = v.type.extents[b.rng.choice(v.type.ragged)]
    e = b.rng.choice([e, f"({e}) * ({e}) + 1", f"({e} + 1) floordiv 2", f"max({e} - 2, 0)"])
    type = Type((), "i64", v.type.path)
    return b.step("extent", [], [type], f"ragged.extent <{e}> : {{out0}}", [dict(mag=16)])


# --- Elementwise ---------------------------------------------------------------------


def partner(b, type):
    """A second operand of an elementwise operation with a result of this type."""
    extents = type.extents

    def fits(v):
        e = v.type.extents
        if v.type.path != type.path:
            return not v.type.path and e == extents[type.rank - len(e) :] and not any(
                is_ragged(x) for x in extents[type.rank - len(e) :]
            )  # fmt: skip
        return len(e) == type.rank and all(x in (1, y) for x, y in zip(e, extents))

    how = b.rng.random()
    if how < 0.7 and (v := b.pick(fits, ragged=None)):
        return v
    trailing = []
    for e in reversed(extents):
        if is_ragged(e):
            break
        trailing.insert(0, e)
    if how < 0.85:
        trailing = trailing[b.rng.randrange(len(trailing) + 1) :]
        return b.dense(trailing, b.float)
    if not b.is_bound(type):
        return b.dense([], b.float)
    shape = tuple(1 if b.chance(0.2) else e for e in extents)
    order = type.order if shape == extents and b.chance(0.5) else None
    return b.argument(Type(shape, b.rng.choice([b.float, b.float, "f32", "i64", "i32"]),
                           type.path, order))  # fmt: skip


@family(weight=6)
def map(b):
    first = any_value(b)
    inputs = [first]
    while len(inputs) < 3 and b.chance(0.5):
        inputs.append(partner(b, first.type))
    body, dtype, fact = region(b, inputs)
    arguments = ", ".join(f"%x{k}: {v.type.dtype}" for k, v in enumerate(inputs))
    operands = ", ".join(f"{{{k}}}" for k in range(len(inputs)))
    types = ", ".join(f"{{in{k}}}" for k in range(len(inputs)))
    lines = "".join(f"    {line}\n" for line in body)
    order = first.type.order if b.chance(0.7) else None
    type = first.type.with_(dtype=dtype, order=order)
    text = f"ragged.map ins({operands} : {types}) {{{{\n  ^bb0({arguments}):\n{lines}  }}}} -> {{out0}}"
    return b.step("map", inputs, [type], text, [fact])


# --- Axes ------------------------------------------------------------------------------


@family(weight=3)
def broadcast(b):
    v = b.pick(ragged=None) if b.chance(0.3) else any_value(b)
    path = v.type.path
    if (
        b.nested
        and path == BATCH
        and b.chance(0.3)
        and not symbols(v.type.extents) - {"N", "M", "K"}
    ):
        path = NESTED
    if not path:
        path = BATCH
    extents, dims = list(v.type.extents), []
    for k, e in enumerate(extents):
        if e == 1 and b.chance(0.5):
            extents[k] = b.symbol(path) if b.chance(0.5) else b.small()
    for _ in range(b.rng.choice([1, 1, 2]) if path == v.type.path else b.rng.choice([0, 1])):
        new = b.symbol(path) if b.chance(0.7) else b.small()
        extents.insert(b.rng.randrange(len(extents) + 1), ("new", new))
    dims = [k for k, e in enumerate(extents) if not isinstance(e, tuple)]
    extents = tuple(e[1] if isinstance(e, tuple) else e for e in extents)
    type = Type(extents, v.type.dtype, path)
    if not b.allowed(type):
        return None
    b.bind(type)
    return b.step("broadcast", [v], [type],
                  f"ragged.broadcast {{0}} dims {dims} : {{in0}} -> {{out0}}", [v.moved()])  # fmt: skip


@family(weight=2)
def transpose(b):
    v = any_value(b, lambda v: v.type.rank > 1)
    if v.type.rank < 2:
        return None
    permutation = list(range(v.type.rank))
    b.rng.shuffle(permutation)
    extents = tuple(v.type.extents[k] for k in permutation)
    return b.step("transpose", [v], [v.type.with_(extents=extents)],
                  f"ragged.transpose {{0}} permutation {permutation} : {{in0}} -> {{out0}}",
                  [v.moved()])  # fmt: skip


@family(weight=4)
def reduce(b):
    v = any_value(b, lambda v: v.type.dtype != "i1")
    if v.type.dtype == "i1":
        return None
    batch = bool(v.type.path) and b.chance(0.15)
    dims = [k for k in range(v.type.rank) if b.chance(0.5)]
    if batch:
        dims = sorted({*dims, *v.type.ragged})
    elif not dims:
        if not v.type.rank:
            return None
        dims = [b.rng.randrange(v.type.rank)]
    keep = b.chance(0.2)
    kinds = ["sum", "max", "min"] + (["mean", "mean", "sum"] if is_float(v) else [])
    kind = b.rng.choice(kinds)
    if b.chance(0.1):
        kind = "prod"
        if is_float(v):
            if not b.is_bound(v.type):
                return None
            v = b.argument(v.type, "moderate")
    extents = tuple(
        1 if k in dims else e for k, e in enumerate(v.type.extents) if keep or k not in dims
    )
    path = v.type.path[:-1] if batch else v.type.path
    fact = v.facts()
    digits = b.counted(v.type, dims) + (DIGITS_OF_A_BATCH if batch else 0)
    suffix = ""
    if kind == "sum":
        fact["mag"] += digits
    elif kind == "mean":
        fact["grain"] = None
    elif kind == "prod":
        fact.update(grain=None, mag=min(digits, 40))
    elif b.chance(0.3):
        suffix = " empty identity"
        fact["special"] = is_float(v)
        fact["mag"] = v.mag if is_float(v) else INTEGERS[v.type.dtype]
    fact["batch"] = v.batch or batch
    order = None
    if kind == "prod" and is_float(v) and digits > (5 if v.type.dtype in HALVES else 20):
        return None
    if not v.type.is_float:
        fact["mag"] = min(fact["mag"], INTEGERS[v.type.dtype])
    elif not fits(v.type.dtype, fact["mag"]):
        return None
    type = Type(extents, v.type.dtype, path, order)
    text = f"ragged.reduce {kind} {{0}} dims {dims}{' batch' if batch else ''}"
    text += f"{' keepdims' if keep else ''}{suffix} : {{in0}} -> {{out0}}"
    return b.step("reduce", [v], [type], text, [fact])


# --- Products and norms -------------------------------------------------------------------


def has_trailing(v):
    t = v.type
    return t.rank and not is_ragged(t.extents[-1]) and t.storage[-1] == t.rank - 1 and t.path


@family(weight=2)
def linear(b):
    v = b.find(lambda v: has_trailing(v) and v.type.dtype in (*FLOATS, "i64", "i32"),
               lambda: b.fresh(trailing=b.static(), dtype=b.float))  # fmt: skip
    k, m = v.type.extents[-1], b.static()
    w = b.dense([k, m], v.type.dtype, None if is_float(v) else "integers")
    inputs, bias, bias_type = [v, w], "", ""
    if b.chance(0.4):
        inputs.append(b.dense([m], v.type.dtype, None if is_float(v) else "integers"))
        bias, bias_type = " bias {2}", ", {in2}"
    type = v.type.with_(extents=(*v.type.extents[:-1], m))
    grain = v.grain + w.grain if v.grain is not None and w.grain is not None else None
    if bias and (inputs[2].grain is None or grain is None):
        grain = None
    fact = dict(mag=v.mag + w.mag + k.bit_length() + 1, grain=grain)
    if not b.allowed(type) or (is_float(v) and not fits(v.type.dtype, fact["mag"])):
        return None
    fact["mag"] = min(fact["mag"], 64)
    return b.step("linear", inputs, [type], f"ragged.linear {{0}}, {{1}}{bias} : {{in0}}, {{in1}}"
                  f"{bias_type} -> {{out0}}", [fact])  # fmt: skip


@family(weight=1)
def normalize(b):
    v = b.find(lambda v: has_trailing(v) and is_float(v) and v.mag <= 20,
               lambda: b.fresh(trailing=b.static(), dtype=b.float))  # fmt: skip
    static, storage = 0, v.type.storage
    while static < v.type.rank and not is_ragged(v.type.extents[-1 - static]) \
            and storage[-1 - static] == v.type.rank - 1 - static:  # fmt: skip
        static += 1
    count = b.rng.randrange(1, static + 1)
    tail = v.type.extents[v.type.rank - count :]
    inputs, words, types = [v], "", ""
    for word in ("scale", "offset"):
        if b.chance(0.5):
            words += f" {word} {{{len(inputs)}}}"
            types += f", {word} {{in{len(inputs)}}}"
            inputs.append(b.dense(tail, v.type.dtype))
    text = f"ragged.normalize layer {{0}}{words} {{{{dims = {count} : i64, eps = 1.0e-2 : f64}}}}"
    return b.step("normalize", inputs, [v.type.with_()], f"{text} : {{in0}}{types} -> {{out0}}",
                  [dict(mag=5)])  # fmt: skip


# --- Moves ------------------------------------------------------------------------------------


@family(weight=2)
def slice(b):
    v = any_value(b, lambda v: v.type.rank > 0 and all(len(str(e)) < 20 for e in v.type.extents))
    if not v.type.rank:
        return None
    dim = b.rng.randrange(v.type.rank)
    e, drop = v.type.extents[dim], ""
    extents = list(v.type.extents)
    if is_ragged(e):
        start, size = b.rng.choice([
            (f"min({e}, 1)", f"max({e} - 1, 0)"), ("0", f"min({e}, 2)"), ("0", f"max({e} - 1, 0)"),
            (f"max({e} - 2, 0)", f"min({e}, 2)"), (f"({e}) floordiv 2", f"({e}) floordiv 2"),
        ])  # fmt: skip
        extents[dim] = size
    else:
        size = b.rng.randrange(1, e + 1) if e else 0
        start = b.rng.randrange(e - size + 1)
        extents[dim] = size
        if size == 1 and b.chance(0.4):
            drop, extents = " drop", extents[:dim] + extents[dim + 1 :]
    return b.step("slice", [v], [v.type.with_(extents=tuple(extents))],
                  f"ragged.slice {{0}} dim {dim} start <{start}> size <{size}>{drop} : {{in0}} -> {{out0}}",
                  [v.moved()])  # fmt: skip


@family(weight=2)
def gather(b):
    indices = b.pick(lambda v: isinstance(v.below, int))
    if indices is None or b.chance(0.3):
        like = any_value(b)
        if not b.is_bound(like.type):
            return None
        type = like.type.with_(dtype=b.rng.choice(["i64", "i32"]))
        indices = b.argument(type, "index", of=b.rng.choice([1, 3, 8]))
    table = b.argument(Type((indices.below, *[b.small() for _ in range(b.rng.choice([0, 1, 1, 2]))]),
                            b.float, ()))  # fmt: skip
    type = Type((*indices.type.extents, *table.type.extents[1:]), b.float, indices.type.path)
    if not b.allowed(type):
        return None
    return b.step("gather", [table, indices], [type], "ragged.gather {0}, {1} : {in0}, {in1} -> {out0}",
                  [table.facts()], may_fail=True)  # fmt: skip


@family()
def masked_select(b):
    def fits(v):
        return v.type.ragged == [0] and v.type.storage == default_order(v.type.extents) \
            and not v.batch  # fmt: skip

    v = b.find(fits, lambda: b.fresh())
    if not fits(v):
        return None
    type = Type(v.type.extents[:1], "i1", v.type.path)
    mask = b.pick(lambda m: m.type == type)
    if mask is None or b.chance(0.3):
        if not b.is_bound(type):
            return None
        mask = b.argument(type, "mask")
    fresh = b.name("K")
    b.program.made[fresh] = v.type.extents[0]
    return b.step("masked_select", [v, mask], [v.type.with_(extents=(fresh, *v.type.extents[1:]))],
                  "ragged.masked_select {0}, {1} : {in0}, {in1} -> {out0}", [v.moved()])  # fmt: skip


@family()
def nest(b):
    def fits(v):
        return v.type.path == BATCH and v.type.ragged[:1] == [0] and v.type.storage[0] == 0 \
            and len(v.type.ragged) == 1 and b.is_bound(v.type)  # fmt: skip

    v = b.find(fits, lambda: b.fresh(path=BATCH))
    if not fits(v):
        return None
    of, s, fresh = v.type.extents[0], b.name("S"), b.name("T")
    b.program.made[fresh] = of
    b.program.bound[s] = BATCH
    counts = b.argument(Type((s,), "i64"), "counts", of=of)
    path = (*v.type.path, s)
    type = v.type.with_(extents=(fresh, *v.type.extents[1:]), path=path)
    (out,) = b.step("nest", [v, counts], [type], "ragged.nest {0}, {1} : {in0}, {in1} -> {out0}",
                    [v.moved()], may_fail=True)  # fmt: skip
    return [out]


def nested_axis(b, type):
    """Of groups of an axis that are one after the other, the extent of the axis."""
    first, *others = type.extents or (None,)
    is_nested = any(s.family == "nest" and s.outputs[0].type.extents[0] == first
                    and s.outputs[0].type.path == type.path for s in b.program.steps)  # fmt: skip
    if not is_nested or type.storage[0] != 0 or not b.is_bound(type.with_(extents=tuple(others))):
        return None
    if any(len(b.program.bound.get(e, BATCH)) > 1 for e in symbols(others)):
        return None
    return b.program.made[first]


def whole(b, v, axis):
    """The groups as the axis; sometimes computed with, and cut again."""
    type = v.type.with_(extents=(axis, *v.type.extents[1:]), path=v.type.path[:-1],
                        order=v.type.order)  # fmt: skip
    (out,) = b.step("unnest", [v], [type], "ragged.unnest {0} : {in0} -> {out0}", [v.moved()])
    there = b.pick(lambda u: u.type.with_(dtype=type.dtype) == type and u.type.dtype != "i1")
    if there and b.chance(0.6):
        groups = v.type.with_(dtype=there.type.dtype)
        b.step("renest", [there], [groups], "ragged.renest {0} : {in0} -> {out0}", [there.moved()])
    return [out]


@family(weight=2)
def unnest(b):
    v = b.pick(lambda v: len(v.type.path) > 1) or (nest(b) or [None])[0]
    if v is None or v.type.dtype == "i1":
        return None
    if (axis := nested_axis(b, v.type)) and b.chance(0.7):
        return whole(b, v, axis)
    if any(len(b.program.bound.get(e, NESTED)) > 1 for e in symbols(v.type.extents)):
        extents = tuple(v.type.extents[k] for k in v.type.static)
        text = f"ragged.reduce max {{0}} dims {v.type.ragged} : {{in0}} -> {{out0}}"
        (v,) = b.step("reduce", [v], [v.type.with_(extents=extents)], text, [v.facts()])
    order = (0, *[dim + 1 for dim in v.type.storage])
    type = Type((v.type.path[-1], *v.type.extents), v.type.dtype, v.type.path[:-1], order)
    return b.step("unnest", [v], [type], "ragged.unnest {0} : {in0} -> {out0}", [v.facts()])


@family()
def cast(b):
    """An argument of another name whose lengths are those of N, as the program says."""
    v = any_value(b, lambda v: "N" in v.type.extents)
    if "N" not in v.type.extents or "L" in b.program.bound and b.chance(0.5):
        return None
    b.program.bound["L"], b.program.equal["L"] = BATCH, "N"
    extents = tuple("L" if e == "N" else e for e in v.type.extents)
    type = v.type.with_(extents=extents, order=v.type.order)
    if not b.is_bound(type):
        return None
    other = b.argument(type.with_(dtype=b.float))
    return b.step("cast", [other], [v.type.with_(dtype=b.float)],
                  "ragged.cast {0} : {in0} to {out0}", [other.facts()], may_fail=True)  # fmt: skip


# --- Contractions -------------------------------------------------------------------------------


@family(weight=2)
def generic(b):
    """A product of two tensors, summed over some of their dims, ragged or static."""
    x = b.find(lambda v: v.type.dtype in ("f32", "f64", "i64") and 0 < v.type.rank < 4
               and v.mag <= 12 and v.type.path in (BATCH, NESTED), lambda: b.fresh(dtype=b.float))  # fmt: skip
    if not x.type.rank or x.mag > 12 or x.type.dtype not in ("f32", "f64", "i64"):
        return None
    y = b.pick(lambda v: v.type.dtype == x.type.dtype and v.type.path == x.type.path
               and 0 < v.type.rank < 4 and v.mag <= 12) or x  # fmt: skip
    dims, places = list(x.type.extents), [[f"d{k}" for k in range(x.type.rank)], []]
    for e in y.type.extents:  # shared with a dim of x, or a dim of its own
        same = [k for k in range(x.type.rank) if dims[k] == e and f"d{k}" not in places[1]]
        if same and b.chance(0.7):
            places[1].append(f"d{b.rng.choice(same)}")
        else:
            places[1].append(f"d{len(dims)}")
            dims.append(e)
    reduced = [b.chance(0.4) for _ in dims]
    out = [k for k in range(len(dims)) if not reduced[k]]
    batch = all(reduced[k] or not is_ragged(e) for k, e in enumerate(dims)) and b.chance(0.2)
    type = Type(
        tuple(dims[k] for k in out), x.type.dtype, x.type.path[:-1] if batch else x.type.path
    )
    if len(dims) > 5 or b.program.volume(dims) > b.ragged_rank + 1 or not b.allowed(type):
        return None
    digits = b.counted(Type(tuple(dims)), [k for k in range(len(dims)) if reduced[k]])
    digits += DIGITS_OF_A_BATCH if batch else 0
    grain = x.grain + y.grain if x.grain is not None and y.grain is not None else None
    fact = dict(mag=min(x.mag + y.mag + digits, 64), grain=grain, batch=batch or x.batch or y.batch)
    names = ", ".join(f"d{k}" for k in range(len(dims)))
    maps = [f"affine_map<({names}) -> ({', '.join(p)})>" for p in (*places, [f"d{k}" for k in out])]
    iterators = ", ".join('"reduction"' if r else '"parallel"' for r in reduced)
    mul, add, zero = ("mulf", "addf", "0.0") if is_float(x) else ("muli", "addi", "0")
    dtype = x.type.dtype
    (init,) = b.step("fill", [], [type], f"ragged.fill {zero} : {dtype} -> {{out0}}",
                     [dict(mag=0, grain=0)])  # fmt: skip
    text = f"""ragged.generic dims [{", ".join(str(e) for e in dims)}] iterators [{iterators}] path [{", ".join(x.type.path)}]
    maps [{", ".join(maps)}]{" batch_reduced" if batch else ""}
    ins({{0}}, {{1}} : {{in0}}, {{in1}}) outs({{2}} : {{in2}}) {{{{
  ^bb0(%a: {dtype}, %b: {dtype}, %s: {dtype}):
    %p = arith.{mul} %a, %b : {dtype}
    %q = arith.{add} %s, %p : {dtype}
    ragged.yield %q : {dtype}
  }}}} -> {{out0}}"""
    return b.step("generic", [x, y, init], [type], text, [fact])
