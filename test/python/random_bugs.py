# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Deliberate bugs: what a compiler that is wrong would make of a program.

A program is lowered to a phase, the text of the phase is changed, and the rest of the way goes on
from there. Nothing of it is in the product. A bug that does not apply to a program leaves it as it
is. What comes out may read or write where it must not: use a process of its own.
"""

import re
import sys
from itertools import count

from oracle import Program
from random_check import failure
from random_program import generate, shrink

from nested import _core

BUGS = {}


def bug(phase):
    def register(function):
        BUGS[function.__name__] = (phase, function)
        return function

    return register


def each(pattern, make, text):
    """The text with make(match, name) in place of each match; name(x) is a fresh value's."""
    numbers = count()

    def replace(match):
        number = next(numbers)
        return make(match, lambda x: f"%bug_{x}_{number}")

    return re.sub(pattern, replace, text, flags=re.M)


@bug("structure")
def tail_of_a_tile(text):
    """The last row of a tile that is not full is left out."""

    def make(m, name):
        return (f"{m[1]}{name('one')} = arith.constant 1 : index\n"
                f"{m[1]}{name('short')} = arith.subi {m[3]}, {name('one')} : index\n"
                f"{m[1]}{m[2]} = arith.minsi {name('short')}, {m[4]} : index")  # fmt: skip

    return each(r"^( *)(%\d+) = arith\.minsi (%\d+), (%c\d+) : index$", make, text)


@bug("structure")
def slack_row_used(text):
    """The last row of a tile is the one behind it, where there is one."""

    def make(m, name):
        n = {
            x: name(x)
            for x in ("one", "zero", "last", "row", "next", "size", "end", "least", "rows")
        }
        return (f"{m[1]}{n['one']} = arith.constant 1 : index\n"
                f"{m[1]}{n['zero']} = arith.constant 0 : index\n"
                f"{m[1]}{n['last']} = arith.subi {m[5]}, {n['one']} : index\n"
                f"{m[1]}{n['row']} = tensor.extract {m[4]}[{n['last']}] : {m[7]}\n"
                f"{m[1]}{n['next']} = arith.addi {n['row']}, {n['one']} : index\n"
                f"{m[1]}{n['size']} = memref.dim {m[3]}, {n['zero']} : {m[6]}\n"
                f"{m[1]}{n['end']} = arith.subi {n['size']}, {n['one']} : index\n"
                f"{m[1]}{n['least']} = arith.minsi {n['next']}, {n['end']} : index\n"
                f"{m[1]}{n['rows']} = tensor.insert {n['least']} into {m[4]}[{n['last']}] : {m[7]}\n"
                f"{m[1]}{m[2]} = ragged.tile_gather {m[3]}[{n['rows']}] live {m[5]} : {m[6]}, {m[7]}")  # fmt: skip

    return each(r"^( *)(%\S+) = ragged\.tile_gather (%\w+)\[(\S+)\] live (%\S+) : (memref<\S+>), (tensor<\w+>)",
                make, text)  # fmt: skip


@bug("structure")
def wrong_offset_level(text):
    """Extents of one ragged dim are taken for those of another."""
    extents = re.findall(r"^ *(%\d+) = ragged\.table extent <(\w+)> path \[B\]$", text, flags=re.M)
    if len(extents) < 2:
        return text
    (a, first), (b, second) = extents[:2]
    return text.replace(
        f"{a} = ragged.table extent <{first}>", f"{a} = ragged.table extent <{second}>"
    )


@bug("structure")
def missing_fill(text):
    """Groups without rows are not written."""
    return re.sub(r"^ *memref\.store %cst\S*, .*\n", "", text, flags=re.M)


@bug("structure")
def row_to_group_slip(text):
    """What a group gave is put one group too early."""

    def make(m, name):
        return (f"{m[1]}{name('one')} = arith.constant 1 : index\n"
                f"{m[1]}{name('zero')} = arith.constant 0 : index\n"
                f"{m[1]}{name('before')} = arith.subi {m[4]}, {name('one')} : index\n"
                f"{m[1]}{name('group')} = arith.maxsi {name('before')}, {name('zero')} : index\n"
                f"{m[1]}{m[2]} = arith.select {m[3]}, {name('group')}, %c-1 : index")  # fmt: skip

    return each(r"^( *)(%\S+) = arith\.select (%\S+), (%\S+), %c-1 : index", make, text)


@bug("structure")
def order_dependent_sum(text):
    """What a group has so far is rounded where a tile ends, wherever the group began."""
    fold = re.compile(
        r"^( *)(%\S+) = ragged\.tile_fold ins\(\S+ : \S+\) acc\((%\S+) : tensor<((?:\d+x)*)f64>\).*?"
        r"-> tensor<\S+>$", re.M | re.S)  # fmt: skip
    for number, m in enumerate(list(fold.finditer(text))):
        dims = ", ".join(f"d{k}" for k in range(m[4].count("x")))
        loops = ", ".join(['"parallel"'] * m[4].count("x"))
        rounded = f"%bug_rounded_{number}"
        indent, type = m[1], f"tensor<{m[4]}f64>"
        body = m[0].replace(f"acc({m[3]} :", f"acc({rounded} :")
        text = text.replace(
            m[0],
            f"""{indent}{rounded} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>], iterator_types = [{loops}]}} outs({m[3]} : {type}) {{
{indent}^bb0(%bug_x: f64):
{indent}  %bug_y = arith.truncf %bug_x : f64 to f32
{indent}  %bug_z = arith.extf %bug_y : f32 to f64
{indent}  linalg.yield %bug_z : f64
{indent}}} -> {type}
{body}""",
        )
    return text


@bug("structure")
def dropped_check(text):
    """Lengths that have to agree are not compared."""
    return re.sub(r"checks = \[\{.*?\}\], results", "checks = [], results", text)


@bug("kernels")
def wrong_promotion(text):
    """Negative numbers are taken for large ones when they become wider."""
    return text.replace("arith.extsi", "arith.extui").replace("arith.sitofp", "arith.uitofp")


@bug("kernels")
def masked_by_multiplication(text):
    """A choice is made by multiplying with 0 and 1: NaN and infinity come through."""

    def make(m, name):
        mask, one, rest, left, right = (name(x) for x in ("mask", "one", "rest", "left", "right"))
        return (f"{m[1]}{mask} = arith.uitofp {m[3]} : i1 to {m[6]}\n"
                f"{m[1]}{one} = arith.constant 1.0 : {m[6]}\n"
                f"{m[1]}{rest} = arith.subf {one}, {mask} : {m[6]}\n"
                f"{m[1]}{left} = arith.mulf {mask}, {m[4]} : {m[6]}\n"
                f"{m[1]}{right} = arith.mulf {rest}, {m[5]} : {m[6]}\n"
                f"{m[1]}{m[2]} = arith.addf {left}, {right} : {m[6]}")  # fmt: skip

    return each(r"^( *)(%\S+) = arith\.select (%\S+), (%\S+), (%\S+) : (f\d\d)", make, text)


@bug("structure")
def unstable_sort(text):
    """Of equal elements the last comes first: in the records the indices count down."""

    def make(m, name):
        return (f"{m[1]}{name('all')} = arith.constant 4294967295 : i64\n"
                f"{m[1]}{name('down')} = arith.xori {m[4]}, {name('all')} : i64\n"
                f"{m[1]}{m[2]} = arith.ori {m[3]}, {name('down')} : i64\n{m[5]}")  # fmt: skip

    # Records of groups that are sorted by rank: what they are sorted by, and nothing else.
    record = r"^( *)(%\S+) = arith\.ori (%\S+), (%\S+) : i64\n( *%\S+ = arith\.xori \2, %c-9223372036854775808_i64 : i64$)"
    return each(record, make, text)


class NotApplicable(Exception):
    """The bug does not change this program."""


def broken(name):
    """Makes programs as a compiler with this bug does; to be given to random_check."""
    phase, change = BUGS[name]

    def make(text):
        status, lowered, _, *_ = _core.lower(text, phase)
        before = bytes(lowered).decode()
        after = change(before)
        if status != 0 or before == after:
            raise NotApplicable
        return Program(text, compiled=after)

    return make


def hunt(name, limit):
    """How many programs are tried until one shows the bug, and a report of it."""
    make = broken(name)

    def shown(program):
        try:
            found = failure(program, make)
        except NotApplicable:
            return None
        assert not (found or "").startswith("it does not compile"), found
        return found

    for seed in range(limit):
        program = generate(seed)
        if not shown(program) or failure(program):
            continue
        small = shrink(program, lambda p: shown(p) is not None, budget=40)
        return f"{seed + 1} programs, {len(small.steps)} steps\n{small.text()}\n{shown(small)}"
    return f"not within {limit} programs"


if __name__ == "__main__":
    print(hunt(sys.argv[1], int(sys.argv[2])))
