# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of random programs that choose rows by number: take, take_along, scatter, segments."""

from random_ops import any_value, is_float
from random_ops_move import common_grain, has_dims, replaced
from random_program import INTEGERS, Type, family, fits, is_ragged


def is_below(v, extent):
    """Whether all entries of a value are indices of a dim."""
    if v.type.dtype not in ("i64", "i32"):
        return False
    both = isinstance(v.below, int) and isinstance(extent, int)
    return v.below == extent or (both and v.below <= extent)


def new_index(b, type, extent, dtypes=("i64", "i64", "i32")):
    """An argument of indices of a dim; its type has no elements where the dim is empty."""
    if not b.is_bound(type):
        return None
    b.bind(type)
    return b.argument(type.with_(dtype=b.rng.choice(dtypes)), "index", of=extent)


def some(b, extent, path):
    """An extent that is 0 wherever this one is."""
    if is_ragged(extent):
        return b.rng.choice([extent, extent, f"min({extent}, 2)"])
    return b.symbol(path) if b.chance(0.5) else b.small()


@family(weight=2)
def take(b):
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    dim, path = b.rng.randrange(v.type.rank), v.type.path
    e = v.type.extents[dim]
    index = None
    if b.chance(0.6):
        index = b.pick(
            lambda i: is_below(i, e) and i.type.path[: len(path)] == path and i.type.rank < 3
        )
    if index is None:
        extents = (some(b, e, path), *([b.small()] if b.chance(0.3) else []))
        index = new_index(b, Type(extents, "i64", path), e)
    if index is None:
        return None
    type = replaced(v.type, dim, *index.type.extents).with_(path=index.type.path)
    if not b.allowed(type):
        return None
    text = f"ragged.take {{0}}, {{1}} dim {dim} : {{in0}}, {{in1}} -> {{out0}}"
    return b.step("take", [v, index], [type], text, [v.moved()], may_fail=True)


@family(weight=2)
def take_along(b):
    v = any_value(b, has_dims)
    if not has_dims(v):
        return None
    dim = b.rng.randrange(v.type.rank)
    e = v.type.extents[dim]

    def fitting(i):
        return is_below(i, e) and i.type.path == v.type.path and i.type.rank == v.type.rank and all(
            x == y or k == dim for k, (x, y) in enumerate(zip(i.type.extents, v.type.extents))
        )  # fmt: skip

    index = b.pick(fitting) if b.chance(0.7) else None
    if index is None:
        index = new_index(b, replaced(v.type, dim, some(b, e, v.type.path)), e)
    if index is None or not b.allowed(index.type):
        return None
    type = index.type.with_(dtype=v.type.dtype)
    text = f"ragged.take_along {{0}}, {{1}} dim {dim} : {{in0}}, {{in1}} -> {{out0}}"
    return b.step("take_along", [v, index], [type], text, [v.moved()], may_fail=True)


def updated(b, name, v, updates, index):
    """A scatter into v."""
    kinds = ["max", "min", "set"] + (["add", "add"] if v.type.dtype != "i1" else [])
    kind = b.rng.choice(kinds)
    mag = max(v.mag, updates.mag)
    if kind == "add":
        mag += b.counted(updates.type, [0]) + 1
        if is_float(v) and not fits(v.type.dtype, mag):
            return None
    if not is_float(v):
        mag = min(mag, INTEGERS.get(v.type.dtype, 1))
    fact = dict(mag=mag, grain=common_grain([v, updates]))
    text = f"ragged.scatter {kind} {{0}}, {{1}}, {{2}} : {{in0}}, {{in1}}, {{in2}} -> {{out0}}"
    return b.step(name, [v, index, updates], [v.type.with_()], text, [fact], may_fail=True)


def rows_first(v):
    return has_dims(v) and v.type.storage[0] == 0


@family(weight=2)
def scatter(b):
    v = any_value(b, rows_first)
    if not rows_first(v):
        return None
    path, e, rest = v.type.path, v.type.extents[0], v.type.extents[1:]

    def fitting(u):
        t = u.type
        if (
            t.dtype != v.type.dtype
            or t.path != path
            or t.rank != v.type.rank
            or t.extents[1:] != rest
        ):
            return False
        return rows_first(u) and (t.extents[0] == e or not is_ragged(e))

    updates = b.pick(fitting) if b.chance(0.7) else None
    if updates is None:
        type = replaced(v.type, 0, some(b, e, path))
        if not b.is_bound(type) or type.storage[0] != 0:
            return None
        b.bind(type)
        updates = b.argument(type)
    count = updates.type.extents[:1]
    wanted = Type(count, "i64", path)
    index = b.pick(lambda i: is_below(i, e) and i.type == wanted)
    if index is None or b.chance(0.3):
        index = new_index(b, wanted, e, ["i64"])
    if index is None:
        return None
    return updated(b, "scatter", v, updates, index)


@family()
def segments(b):
    """Rows of a value summed, or otherwise combined, into a constant number of segments."""
    v = any_value(b, lambda v: rows_first(v) and v.type.dtype != "i1")
    if not rows_first(v) or v.type.dtype == "i1":
        return None
    count = b.small()
    type = replaced(v.type, 0, count)
    if not b.allowed(type) or type.storage[0] != 0:
        return None
    index = new_index(b, Type(v.type.extents[:1], "i64", v.type.path), count, ["i64"])
    if index is None:
        return None
    zero = "0.0" if is_float(v) else "0"
    (init,) = b.step("segments", [], [type], f"ragged.fill {zero} : {v.type.dtype} -> {{out0}}",
                     [dict(mag=0, grain=0)])  # fmt: skip
    return updated(b, "segments", init, v, index)
