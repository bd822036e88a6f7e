# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random well-typed programs: what they are, and how one is made from a seed.

A program is a list of steps over values in SSA form. Families of operations (random_ops*.py)
register functions that add a step to the program that a `Builder` holds. What a value may be is
followed while the program grows, so that two correct ways to compute it must agree: `mag` bounds
its size, `grain` says that it is a multiple of 2**-grain (None: rounded), so that comparisons, casts
to integers and selections see the same numbers whatever is fused; `below` says that it indexes a dim.
"""

import random
import re
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

FLOATS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # digits
HALVES = ("f16", "bf16")
INTEGERS = {"i64": 64, "i32": 32, "i16": 16, "i8": 8}
ARRAYS = {"f16": "f2", "bf16": ml_dtypes.bfloat16, "f32": "f4", "f64": "f8", "i64": "i8", "i32": "i4",
          "i16": "i2", "i8": "i1", "i1": "?"}  # fmt: skip
BATCH, NESTED = ("B",), ("B", "S")
LONGEST = 255  # no argument has a longer dim
DIGITS_OF_A_BATCH = 8


def fits(dtype, mag):
    """Whether floats below 2**mag are far from the largest one of a type."""
    return mag <= (14 if dtype == "f16" else 60)


def is_ragged(extent):
    return isinstance(extent, str)


def symbols(extents):
    """Names in extents, which are integers and expressions such as ``max(N - 1, 0)``."""
    words = set()
    for extent in extents:
        if is_ragged(extent):
            text = "".join(c if c.isalnum() else " " for c in extent)
            words |= {w for w in text.split() if w[0].isupper()}
    return words


def evaluate(extent, lengths):
    if not is_ragged(extent):
        return extent
    return eval(extent.replace("floordiv", "//"), {"max": max, "min": min}, lengths)


def default_order(extents):
    ragged = [k for k, e in enumerate(extents) if is_ragged(e)]
    return tuple(ragged + [k for k, e in enumerate(extents) if not is_ragged(e)])


@dataclass(frozen=True)
class Type:
    extents: tuple
    dtype: str = "f32"
    path: tuple = BATCH
    order: tuple = None  # None: ragged dims first

    def __post_init__(self):
        if self.order == default_order(self.extents):
            object.__setattr__(self, "order", None)

    def __str__(self):
        if not self.path:
            return f"tensor<{'x'.join([*map(str, self.extents), self.dtype])}>"
        inside = [f"[{', '.join(map(str, self.extents))}]", self.dtype]
        if self.order is not None:
            inside.append(f"order = [{', '.join(map(str, self.order))}]")
        if self.path != BATCH:
            inside.append(f"path = [{', '.join(self.path)}]")
        return f"!ragged.tensor<{', '.join(inside)}>"

    @property
    def rank(self):
        return len(self.extents)

    @property
    def ragged(self):
        return [k for k, e in enumerate(self.extents) if is_ragged(e)]

    @property
    def static(self):
        return [k for k, e in enumerate(self.extents) if not is_ragged(e)]

    @property
    def storage(self):
        return self.order if self.order is not None else default_order(self.extents)

    @property
    def is_float(self):
        return self.dtype in FLOATS

    def with_(self, **fields):
        """Another type. The order is dropped with the dims that it was for."""
        if "extents" in fields and "order" not in fields:
            fields["order"] = None
        return Type(**{**self.__dict__, **fields})


@dataclass(eq=False)
class Value:
    name: str
    type: Type
    mag: float = 2.0
    grain: int = None
    batch: bool = False  # depends on more than its own sample
    special: bool = False  # may be NaN or infinite
    below: object = None  # an extent that no entry reaches; none is negative

    @property
    def exact(self):
        """Whether every way to compute it gives the same bits."""
        if not self.type.is_float:
            return True
        return self.grain is not None and self.grain + self.mag <= FLOATS[self.type.dtype] - 2

    def facts(self):
        return dict(mag=self.mag, grain=self.grain, batch=self.batch, special=self.special)

    def moved(self):
        """Facts of a value that has no other entries than this one."""
        return dict(self.facts(), below=self.below)


@dataclass(eq=False)
class Argument:
    """What is put into an argument: "normal", "grainy" (multiples of 1/16), "moderate" (either sign,
    near 1), "integers", "index" (below `of`), "mask", "sorted", "counts" (that add up to `of`)."""

    value: Value
    kind: str
    of: object = ""


@dataclass(eq=False)
class Step:
    inputs: list
    outputs: list
    text: str
    family: str
    may_fail: bool = False  # for some arguments that the types allow

    @property
    def symbols(self):
        return set(re.findall(r"\b[KLMNSTU]\d*\b", self.text))


@dataclass(eq=False)
class Program:
    seed: int
    arguments: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    results: list = field(default_factory=list)
    # symbol: path. Those of `equal` have the lengths of another.
    bound: dict = field(default_factory=dict)
    equal: dict = field(default_factory=dict)
    # Symbol that a step binds: an extent that it does not exceed.
    made: dict = field(default_factory=dict)

    @property
    def values(self):
        return [a.value for a in self.arguments] + [v for s in self.steps for v in s.outputs]

    @property
    def families(self):
        return {s.family for s in self.steps}

    def text(self):
        arguments = ", ".join(f"%{a.value.name}: {a.value.type}" for a in self.arguments)
        types = ", ".join(str(v.type) for v in self.results)
        names = ", ".join(f"%{v.name}" for v in self.results)
        lines = "\n".join("  " + s.text.replace("\n", "\n  ") for s in self.steps)
        return (f"func.func @f({arguments}) -> ({types}) {{\n{lines}\n"
                f"  return {names} : {types}\n}}\n")  # fmt: skip

    def longest(self, extent):
        """What an extent is if all dims of arguments are as long as they can be."""
        own = {
            s: self.longest(self.made[s]) if s in self.made else LONGEST for s in symbols([extent])
        }
        return max(evaluate(extent, own), 0)

    def degree(self, extent):
        """Of how many lengths an extent is a product; 0 if it is static."""
        if not is_ragged(extent):
            return 0
        far = 1 << 20
        own = {
            s: far ** self.degree(self.made[s]) if s in self.made else far
            for s in symbols([extent])
        }
        return max(1, round(max(evaluate(extent, own), 1).bit_length() / far.bit_length()))

    def volume(self, extents):
        return sum(map(self.degree, extents))

    # --- Arguments --------------------------------------------------------------

    def lengths(self, base, rng):
        """For each sample its symbols' lengths: those over [B] as numbers, those over [B, S] as
        lists. `base` gives the length of N; the others differ."""
        samples = []
        for n in base:
            own = {}
            for name in sorted(self.bound):
                if self.bound[name] == BATCH:
                    own[name] = int(n) if name == "N" else int(rng.integers(0, n + 2))
            if "S" in own or any(a.value.type.path == NESTED for a in self.arguments):
                own["S"] = int(rng.integers(0, 4))
            for name in sorted(self.bound):
                if self.bound[name] == NESTED:
                    own[name] = [int(rng.integers(0, max(2, n // 2 + 2))) for _ in range(own["S"])]
            for name, other in self.equal.items():
                own[name] = own[other]
            samples.append(own)
        for a in self.arguments:  # groups of what there is
            if a.kind == "counts":
                for own in samples:
                    n, s = evaluate(a.of, own), own[a.value.type.extents[0]]
                    if s == 0 and n > 0:
                        own[a.value.type.extents[0]] = 1
                        for of_members in own.values():  # which may be the same list twice
                            if isinstance(of_members, list) and len(of_members) < own["S"]:
                                of_members.append(0)
        return samples

    def data(self, samples, seed):
        """Arguments for samples with these lengths. An argument's numbers do not depend on the
        others, nor a sample's on the other samples."""
        return [self._data(a, samples, [seed, *a.value.name.encode()]) for a in self.arguments]

    def _data(self, a, samples, seed):
        type = a.value.type
        if not type.path:
            return numbers(a, type.extents, np.random.default_rng(seed), {})
        out = []
        for i, own in enumerate(samples):
            rng = np.random.default_rng([*seed, i])
            if type.path == BATCH:
                out.append(numbers(a, [evaluate(e, own) for e in type.extents], rng, own))
                continue
            out.append([])
            for s in range(own[type.path[1]]):
                here = {
                    k: v[s] if isinstance(v, list) else v
                    for k, v in own.items()
                    if not isinstance(v, list) or self.bound[k] == type.path
                }
                out[-1].append(numbers(a, [evaluate(e, here) for e in type.extents], rng, here))
        return out


def numbers(a, shape, rng, own):
    """The data of one instance of an argument."""
    dtype = np.dtype(ARRAYS[a.value.type.dtype])
    if a.kind == "normal":
        x = np.clip(rng.standard_normal(shape), -4, 4)
    elif a.kind == "grainy":
        x = rng.integers(-32, 33, shape) / 16
    elif a.kind == "moderate":
        x = rng.choice([-1, 1], shape) * np.exp(0.2 * np.clip(rng.standard_normal(shape), -4, 4))
    elif a.kind == "integers":
        x = rng.integers(-9, 10, shape)
    elif a.kind == "index":
        x = rng.integers(0, max(evaluate(a.of, own), 1), shape)
    elif a.kind == "mask":
        x = rng.random(shape) < rng.choice([0.0, 0.3, 0.7, 1.0])
    elif a.kind == "sorted":
        x = np.sort(rng.integers(-32, 33, shape) / (16 if a.value.type.is_float else 1))
    else:
        n, (s,) = evaluate(a.of, own), shape
        cuts = np.sort(rng.integers(0, n + 1, max(s - 1, 0)))
        x = np.diff([0, *cuts, n]) if s else np.zeros(0)
    x = np.asarray(x).astype(dtype)
    if a.value.special and x.size and rng.random() < 0.3:
        x.flat[rng.integers(x.size)] = rng.choice([np.nan, np.inf, -np.inf])
    return x


# --- Making one -------------------------------------------------------------------

FAMILIES = {}


def family(weight=1, name=None):
    """Registers a function of a Builder that adds a step, or returns None if it can't here."""

    def register(function):
        FAMILIES[name or function.__name__] = (weight, function)
        return function

    return register


class Builder:
    """Holds a growing program; what families of operations use to look for operands."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.program = Program(seed)
        self.special = self.rng.random() < 0.15
        self.ragged_rank = self.rng.choice([1, 1, 2, 2, 2, 3])
        self.nested = self.rng.random() < 0.25
        self.float = self.rng.choice(["f32"] * 8 + ["f64"] * 2 + ["f16", "bf16"])
        self.count = 0

    # Choices.

    def chance(self, p):
        return self.rng.random() < p

    def static(self):
        return self.rng.choice([1, 2, 3, 4, 5, 7, 8, 8, 16, 17, 33])

    def small(self):
        return self.rng.choice([1, 2, 3, 4, 5, 8])

    def name(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def symbol(self, path):
        """A symbol over this path, often one that is there already."""
        names = [s for s, p in self.program.bound.items() if p == path and s != "S"]
        fresh = {BATCH: ["N", "M", "K"], NESTED: ["T", "U"]}.get(path, [])
        fresh = [s for s in fresh if s not in self.program.bound]
        if names and (not fresh or self.chance(0.6)):
            return self.rng.choice(names)
        if not fresh:  # a path that a step made
            return self.small()
        self.program.bound[fresh[0]] = path
        if path == NESTED:
            self.program.bound.setdefault("S", BATCH)
        return fresh[0]

    # Values.

    def counted(self, type, dims):
        """Digits of the number of elements along dims."""
        return sum(int(self.program.longest(type.extents[d])).bit_length() for d in dims)

    def allowed(self, type):
        if self.program.volume(type.extents) > self.ragged_rank or type.rank > 5:
            return False
        if any(len(str(e)) > 40 for e in type.extents):
            return False
        return int(np.prod([type.extents[k] for k in type.static], dtype=int)) <= 600

    def pick(self, accept=lambda v: True, ragged=True):
        """One of the values there are, rather a late one."""
        found = [v for v in self.program.values
                 if (bool(v.type.path) == ragged or ragged is None) and accept(v)]  # fmt: skip
        if not found:
            return None
        return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]

    def find(self, accept, make):
        """A value with a property; a fresh argument, which `make` gives, if there is none."""
        value = self.pick(accept) if self.chance(0.85) else None
        return value or make()

    def argument(self, type, kind=None, special=None, **more):
        """A new argument. All its symbols are bound by it or by those before."""
        if kind is None:
            kind = self.rng.choice(["normal", "normal", "grainy"]) if type.is_float else "integers"
            kind = "mask" if type.dtype == "i1" else kind
        own = {e for e in type.extents if is_ragged(e)}
        for symbol in sorted(symbols(type.extents)):
            path = self.program.bound.get(symbol)
            if symbol not in own and not self.binds(symbol):
                self.argument(Type((symbol,), "f32", path))
        mag = {"mask": 0, "integers": 4, "sorted": 6, "counts": 9, "moderate": 1}.get(kind, 2)
        if kind == "index":
            mag = int(self.program.longest(more["of"])).bit_length()
        grain = None if kind in ("normal", "moderate") else 4 if type.is_float else 0
        if special is None:
            special = self.special and kind in ("normal", "grainy")
        value = Value(self.name("a"), type, mag=mag, grain=grain, special=special,
                      below=more.get("of") if kind == "index" else None)  # fmt: skip
        self.program.arguments.append(Argument(value, kind, **more))
        return value

    def binds(self, symbol):
        """Whether an argument has this symbol as the extent of a dim (or in its path)."""
        return any(symbol in v.type.extents or symbol in v.type.path[1:]
                   for v in self.program.values)  # fmt: skip

    def is_bound(self, type):
        """Whether an argument may have this type: its symbols are not made by a step."""
        return not mentioned(type) - set(self.program.bound)

    def bind(self, type):
        """Makes sure that symbols which were just chosen have an argument that binds them."""
        if type.path == NESTED and not self.binds("S"):
            self.program.bound.setdefault("S", BATCH)
            self.argument(Type((self.symbol(NESTED),), "f32", NESTED))
        for s in sorted(symbols(type.extents) & set(self.program.bound)):
            if not self.binds(s):
                self.argument(Type((s,), "f32", self.program.bound[s]))

    def dense(self, extents, dtype, kind=None, **more):
        """A shared argument, sometimes one that is there already."""
        type = Type(tuple(extents), dtype, ())
        there = [a.value for a in self.program.arguments if a.value.type == type and not more]
        if there and self.chance(0.5) and kind in (None, "grainy"):
            return self.rng.choice(there)
        return self.argument(type, kind or self.rng.choice(["normal", "grainy"])
                             if dtype in FLOATS else kind, **more)  # fmt: skip

    def path(self):
        return NESTED if self.nested and self.chance(0.6) else BATCH

    def fresh(self, dtype=None, path=None, rank=None, trailing=None):
        """A new batched argument of any layout."""
        path = path or self.path()
        ragged = self.rng.randrange(0, min(self.ragged_rank, 2) + 1) if self.chance(0.15) else None
        ragged = (
            ragged if ragged is not None else self.rng.choice([1, 1, 2][: self.ragged_rank + 1])
        )
        ragged = min(ragged, self.ragged_rank)
        extents = [self.symbol(path) for _ in range(ragged)]
        extents += [self.small() for _ in range(self.rng.choice([0, 1, 1, 1, 2]))]
        if self.chance(0.2):
            self.rng.shuffle(extents)
        if trailing is not None:
            extents.append(trailing)
        elif extents and not is_ragged(extents[-1]):
            extents[-1] = self.static()
        dtype = dtype or self.rng.choice([self.float] * 6 + ["f32", "f64", "i64", "i32"])
        type = Type(tuple(extents), dtype, path)
        if self.chance(0.25) and len(type.ragged) > 1:
            order = type.ragged
            self.rng.shuffle(order)
            type = type.with_(order=(*order, *type.static))
        return self.argument(type)

    def step(self, family, inputs, types, text, facts, may_fail=False, keep=None):
        """Adds a step. In `text`, {0}, {1}, ... are operands, {in0}, ... their types, {out0}, ... the
        types of the results; what comes before " = " is made here. Of the results only those in `keep`
        become values."""
        outputs = []
        for type, fact in zip(types, facts):
            fact = dict(fact)
            fact["batch"] = fact.get("batch", False) or any(v.batch for v in inputs)
            fact["special"] = fact.get("special", any(v.special for v in inputs))
            outputs.append(Value(self.name(), type, **fact))
        names = {f"in{k}": v.type for k, v in enumerate(inputs)}
        names |= {f"out{k}": v.type for k, v in enumerate(outputs)}
        line = text.format(*[f"%{v.name}" for v in inputs], **names)
        line = ", ".join(f"%{v.name}" for v in outputs) + " = " + line
        if keep is not None:
            outputs = [outputs[k] for k in keep]
        self.program.steps.append(Step(list(inputs), outputs, line, family, may_fail))
        return outputs


def generate(seed, only=None):
    """The program of a seed: arguments as they are needed, 2 to 9 steps, 1 to 4 results."""
    builder = Builder(seed)
    rng = builder.rng
    names = [n for n in FAMILIES if only is None or n in only]
    weights = [FAMILIES[n][0] for n in names]
    builder.fresh(dtype=builder.float, path=BATCH)
    steps = rng.randrange(2, 10)
    for _ in range(steps * 20):
        if len(builder.program.steps) >= steps:
            break
        name = rng.choices(names, weights)[0]
        FAMILIES[name][1](builder)
    program = builder.program
    made = [v for s in program.steps for v in s.outputs]
    used = {v for s in program.steps for v in s.inputs}
    leaves = [v for v in made if v not in used]
    rng.shuffle(leaves)
    program.results = leaves[:3]
    if others := [v for v in made if v in used]:
        program.results += rng.sample(others, min(len(others), rng.randrange(0, 3)))
    if not program.results:
        return generate(seed + 1_000_003, only)
    return clean(program)


# --- Making one smaller --------------------------------------------------------------


def mentioned(type):
    return symbols(type.extents) | set(type.path[1:])


def clean(program):
    """Without what no result needs; every symbol stays bound."""
    need, used, steps = set(program.results), set(), []
    for value in need:
        used |= mentioned(value.type)
    for step in reversed(program.steps):
        made = set().union(*[mentioned(v.type) for v in step.outputs]) - set(program.bound)
        for v in step.inputs:
            made -= mentioned(v.type)
        if need & set(step.outputs) or made & used:
            steps.insert(0, step)
            need |= set(step.inputs)
            used |= step.symbols
    for a in program.arguments:
        if a.value in need:
            used |= mentioned(a.value.type) | symbols([a.of])
    used |= {program.equal[name] for name in used & set(program.equal)}

    def binds(a):
        return {*a.value.type.extents, *a.value.type.path[1:]} & set(program.bound)

    # An argument with a symbol may bring others. One says how many samples there are.
    kept = {a for a in program.arguments if a.value in need}
    if not any(a.value.type.path for a in kept):
        first = next(a for a in program.arguments if a.value.type.path)
        kept.add(first)
        used |= mentioned(first.value.type)
    while True:
        have = set().union(*[binds(a) for a in kept])
        missing = (used & set(program.bound)) - have
        more = next((a for a in program.arguments if a not in kept and binds(a) & missing), None)
        if more is None:
            break
        kept.add(more)
        used |= mentioned(more.value.type) | symbols([more.of])
    return Program(program.seed, [a for a in program.arguments if a in kept], steps,
                   list(program.results), {s: p for s, p in program.bound.items() if s in used},
                   {s: o for s, o in program.equal.items() if s in used},
                   dict(program.made))  # fmt: skip


def smaller(program):
    """Programs with less in them, the smallest first."""
    if len(program.results) > 1:
        for value in program.results:
            yield clean(with_parts(program, results=[value]))
    for result in program.results:
        step = next((s for s in program.steps if result in s.outputs), None)
        for value in step.inputs if step else []:
            if any(value in s.outputs for s in program.steps):
                others = [v for v in program.results if v is not result]
                yield clean(with_parts(program, results=[value, *others]))
    for index, step in reversed(list(enumerate(program.steps))):
        known = set(program.bound)
        if any(symbols(v.type.extents) - known for v in step.outputs):
            continue
        kinds = ["mask" if v.type.dtype == "i1" else "index" if v.below is not None
                 else "integers" if not v.type.is_float
                 else "grainy" if v.grain is not None else "normal" for v in step.outputs]  # fmt: skip
        arguments = [Argument(v, k, "" if v.below is None else v.below)
                     for v, k in zip(step.outputs, kinds)]  # fmt: skip
        yield clean(with_parts(program, steps=program.steps[:index] + program.steps[index + 1 :],
                               arguments=program.arguments + arguments))  # fmt: skip


def with_parts(program, **parts):
    return Program(**{**program.__dict__, **parts})


def shrink(program, fails, budget=150):
    """The smallest program found, by steps of `smaller`, for which `fails` holds."""
    progress = True
    while progress and budget > 0:
        progress = False
        for candidate in smaller(program):
            if not candidate.results or not any(
                r in s.outputs for r in candidate.results for s in candidate.steps
            ):
                continue
            budget -= 1
            if fails(candidate):
                program, progress = candidate, True
                break
            if budget <= 0:
                break
    return program
