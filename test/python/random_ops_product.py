# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of random programs that sum products: einsum over any dims, attention."""

from random_ops import is_float
from random_program import (
    BATCH,
    DIGITS_OF_A_BATCH,
    FLOATS,
    HALVES,
    INTEGERS,
    NESTED,
    Type,
    family,
    fits,
    is_ragged,
)

LETTERS = "nmkabcdef"


def letters_of(b, v, known):
    """A letter for each dim: one that is there for the same extent, or a new one; seldom a diagonal."""
    own = []
    for e in v.type.extents:
        same = [x for x, y in known.items() if y == e and (x not in own or b.chance(0.1))]
        if same and b.chance(0.75):
            own.append(b.rng.choice(same))
        else:
            own.append(LETTERS[len(known)])
            known[own[-1]] = e
    return own


@family(weight=4)
def contract(b):
    """Operands are of the sample, of the sample that theirs is a part of, or shared."""

    def factor(v):
        numbers = v.type.dtype in (*FLOATS, "i64", "i32", "i8")
        return numbers and 0 < v.type.rank < 4 and v.mag <= 12

    first = b.find(factor, lambda: b.fresh(dtype=b.float))
    if not factor(first):
        return None
    path, dtype = first.type.path, first.type.dtype
    operands = [first]
    for _ in range(b.rng.choice([0, 1, 1, 1, 1, 1, 2])):
        like = b.rng.choice(operands)
        more = b.pick(lambda v: factor(v) and v.type.dtype == dtype
                      and v.type.path == path[: len(v.type.path)], ragged=None)  # fmt: skip
        statics = [e for e in like.type.extents if not is_ragged(e)]
        if more is None or (statics and b.chance(0.25)):
            extents = [b.rng.choice(statics or [b.small()]), b.static()][: b.rng.choice([1, 2, 2])]
            b.rng.shuffle(extents)
            more = b.dense(extents, dtype, None if is_float(first) else "integers")
        operands.append(more)
    known = {}
    places = [letters_of(b, v, known) for v in operands]
    if len(known) > 6 or b.program.volume(known.values()) > b.ragged_rank + 1:
        return None
    out = [x for x in known if b.chance(0.6)]
    batch = b.chance(0.25) and path == BATCH
    if batch:
        out = [x for x in out if not is_ragged(known[x])]
    # Which sums come first says what becomes of an infinity; numbers do not depend on it.
    lonely = len(operands) > 1 and any(
        sum(x in p for p in places) < 2 for x in known if x not in out
    )
    if any(v.special for v in operands) and (len(operands) > 2 or lonely):
        return None
    b.rng.shuffle(out)
    result = b.rng.choice([dtype, "f32"]) if dtype in HALVES else dtype
    type = Type(tuple(known[x] for x in out), result, path[:-1] if batch else path)
    work = 1
    for e in known.values():
        work *= e if not is_ragged(e) else 1
    if not b.allowed(type) or work > 40000:
        return None
    digits = sum(int(b.program.longest(e)).bit_length() for x, e in known.items() if x not in out)
    mag = sum(v.mag for v in operands) + digits + (DIGITS_OF_A_BATCH if batch else 0)
    if is_float(first) and not fits(result, mag):
        return None
    grains = [v.grain for v in operands]
    exact = None not in grains and all(v.exact for v in operands)
    fact = dict(mag=mag if is_float(first) else min(mag, INTEGERS[dtype]),
                grain=sum(grains) if exact and mag + sum(grains) < 22 else None,
                batch=batch or any(v.batch for v in operands))  # fmt: skip
    equation = f"{','.join(''.join(p) for p in places)}->{''.join(out)}"
    names = ", ".join(f"{{{k}}}" for k in range(len(operands)))
    types = ", ".join(f"{{in{k}}}" for k in range(len(operands)))
    text = f'ragged.contract "{equation}" {names}{" batch" if batch else ""} : {types} -> {{out0}}'
    return b.step("contract", operands, [type], text, [fact])


def heads(b, type):
    """A value of this type, or a new one."""
    found = b.pick(lambda v: v.type == type and v.mag <= 3 and not v.special)
    return found if found and b.chance(0.6) else b.argument(type, special=False)


@family(weight=3)
def attention(b):
    path = NESTED if b.nested and b.chance(0.5) else BATCH
    dtype = b.float if b.chance(0.8) else "f32"

    def query(v):
        t = v.type
        return t.rank == 3 and t.ragged == [0] and t.dtype == dtype and t.path == path and v.mag <= 3 \
            and t.order is None and not v.special and b.is_bound(t)  # fmt: skip

    q = b.pick(query) if b.chance(0.5) else None
    if q is None:
        type = Type((b.symbol(path), b.rng.choice([1, 2, 4]), b.static()), dtype, path)
        if not is_ragged(type.extents[0]):
            return None
        b.bind(type)
        q = b.argument(type, special=False)
    n, h, d = q.type.extents
    m = n if b.chance(0.5) else b.symbol(path)
    groups = b.rng.choice([g for g in range(1, max(h, 1) + 1) if h % g == 0])
    b.bind(Type((m,), dtype, path))
    key = heads(b, Type((m, groups, d), dtype, path))
    value = heads(b, Type((m, groups, b.static()), dtype, path))
    inputs, words, types, options = [q, key, value], "", "", []
    if b.ragged_rank > 1 and b.chance(0.4):
        extents = (n, m, h) if b.chance(0.5) else (n, m)
        inputs.append(heads(b, Type(extents, dtype, path)))
        words, types = " bias {3}", " bias {in3}"
    if b.ragged_rank > 1 and b.chance(0.4):
        type = Type((n, m, h) if b.chance(0.5) else (n, m), "i1", path)
        mask = b.pick(lambda v: v.type == type) or b.argument(type, "mask")
        words, types = f"{words} mask {{{len(inputs)}}}", f"{types} mask {{in{len(inputs)}}}"
        inputs.append(mask)
    if b.chance(0.4):
        options.append(f"right = {b.rng.choice([0, 0, 1])} : i64")
    if b.chance(0.2):
        options.append(f"left = {b.rng.choice([0, 3, 70])} : i64")
    if b.chance(0.2):
        options.append("soft_cap = 2.0 : f64")
    if b.chance(0.2):
        options.append("scale = 0.5 : f64")
    attributes = f" {{{{{', '.join(options)}}}}}" if options else ""
    type = q.type.with_(extents=(n, h, value.type.extents[2]))
    if not b.allowed(type):
        return None
    text = (f"ragged.attention {{0}}, {{1}}, {{2}}{words}{attributes} : {{in0}}, {{in1}}, {{in2}}{types}"
            " -> {out0}")  # fmt: skip
    return b.step("attention", inputs, [type], text, [dict(mag=value.mag)])
