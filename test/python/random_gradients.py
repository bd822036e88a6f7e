# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of random programs.

The loss of a program is the sum of the sines of all its floating-point results. Its gradient, interpreted,
agrees with central differences of the loss, and compiled with the interpreted one.

``python random_gradients.py SEED`` says what is wrong with one program, made small.
"""

import re
import sys

import numpy as np
from oracle import Program, RunError
from random_check import Mismatch, Unsupported, compare, vectors
from random_program import FLOATS, HALVES, generate, shrink

STEP = 1e-5


def loss_lines(program):
    """Ops that compute the loss: the text of each, and the name of the last value."""
    lines, total = [], None
    for k, value in enumerate(v for v in program.results if v.type.is_float):
        type = value.type.with_(order=None)
        wide = type.with_(dtype="f64")
        convert = "" if type.dtype == "f64" else "  %w = arith.extf %a : f32 to f64\n"
        name = "%a" if type.dtype == "f64" else "%w"
        lines.append(
            f"%l{k} = ragged.map ins(%{value.name} : {value.type}) {{\n^bb0(%a: {type.dtype}):\n"
            f"{convert}  %b = math.sin {name} : f64\n  ragged.yield %b : f64\n}} -> {wide}"
        )
        name, path = f"%l{k}", list(type.path)
        extents = list(range(type.rank))
        while path or extents:
            source, batch = wide, " batch" if path else ""
            path = path[:-1]
            wide = wide.with_(extents=(), path=tuple(path))
            lines.append(
                f"{name}s = ragged.reduce sum {name} dims [{', '.join(map(str, extents))}]{batch} "
                f": {source} -> {wide}"
            )
            name, extents = f"{name}s", []
        if total is not None:
            lines.append(
                f"{name}t = ragged.map ins({total}, {name} : tensor<f64>, tensor<f64>) {{\n"
                "^bb0(%a: f64, %b: f64):\n  %c = arith.addf %a, %b : f64\n  ragged.yield %c : f64\n"
                "} -> tensor<f64>"
            )
            name = f"{name}t"
        total = name
    return lines, total


def in_f64(text):
    """The module with f64 in the place of f32."""
    special = {"0x7F800000": "0x7FF0000000000000", "0xFF800000": "0xFFF0000000000000",
               "0x7FC00000": "0x7FF8000000000000"}  # fmt: skip
    for narrow, wide in special.items():
        text = re.sub(f"{narrow}( : f32|,|\\])", f"{wide}\\1", text)
    text = text.replace("f32", "f64")
    return re.sub(r"arith\.(ext|trunc)f (%\w+) : f64 to f64", r"arith.minimumf \2, \2 : f64", text)


def texts(program):
    """The loss as a module; and its gradient, with the numbers of the arguments that it is taken
    with respect to."""
    lines, total = loss_lines(program)
    chosen = [k for k, a in enumerate(program.arguments) if a.value.type.dtype in FLOATS]
    if total is None or not chosen:
        return None
    arguments = ", ".join(f"%{a.value.name}: {a.value.type}" for a in program.arguments)
    body = "\n".join([*[s.text for s in program.steps], *lines])
    variables = [program.arguments[k].value for k in chosen]
    names = ", ".join(f"%{v.name}" for v in variables)
    types = ", ".join(str(v.type) for v in variables)
    forward = (f"func.func @f({arguments}) -> tensor<f64> {{\n{body}\n  return {total} : "
               "tensor<f64>\n}\n")  # fmt: skip
    results = ", ".join(f"%g#{k}" for k in range(len(chosen)))
    if len(chosen) == 1:
        results = "%g"
    backward = (
        f"func.func @f({arguments}) -> ({types}) {{\n{body}\n%g:{len(chosen)} = ragged.gradient "
        f"of({total} : tensor<f64>) wrt({names} : {types}) -> {types}\n"
        f"  return {results} : {types}\n}}\n"
    )
    return forward, backward, chosen


def without_ties(program, args, rng):
    """Multiples of 1/16 are often equal, where an extremum has no derivative."""

    def moved(argument, x):
        if isinstance(x, list):
            return [moved(argument, part) for part in x]
        return x + 0.05 * np.clip(rng.standard_normal(np.shape(x)), -3, 3)

    return [moved(a, x) if a.value.type.dtype in FLOATS and a.kind == "grainy" else x
            for a, x in zip(program.arguments, args)]  # fmt: skip


def add(x, y, factor):
    if isinstance(x, list):
        return [add(a, b, factor) for a, b in zip(x, y)]
    return x + factor * y


def random_like(x, rng):
    if isinstance(x, list):
        return [random_like(part, rng) for part in x]
    return rng.standard_normal(np.shape(x))


def flat(x):
    if isinstance(x, list):
        return np.concatenate([flat(part) for part in x] or [np.zeros(0)])
    return np.asarray(x, "f8").ravel()


def agree(program, args, exact, values, wide):
    """values: of the arguments, in the order of the gradients. wide: nothing was rounded to f32."""
    rounded = program.interpret(args, rounded=True)
    for k, (a, b, c) in enumerate(zip(program.run(args, threads=2), exact, rounded)):
        for i, (got, want, near) in enumerate(zip(a.samples, b.samples, c.samples)):
            what = f"gradient {k}, sample {i}"
            if not wide:
                compare(values[k], got, want, near, 32, what)
                continue
            # A few operations amplify what the last digit is.
            largest = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0)))
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 * largest, err_msg=what)


class Counts:
    """What was tried: directions, those in which the loss is not smooth, programs without a rule."""

    def __init__(self):
        self.directions = self.rough = 0
        self.unsupported = []


def compiled(text, **words):
    try:
        return Program(text, **words)
    except AssertionError as error:
        message = str(error)
        if re.search(r"does not support|is not supported|no derivative", message):
            raise Unsupported(message) from error
        raise Mismatch(f"it does not compile: {message}") from error


def check(program, counts=None):
    """Raises Mismatch, or an assertion, if a derivative is wrong."""
    counts = counts or Counts()
    made = texts(program)
    if made is None or any(v.special or v.type.dtype in HALVES for v in program.values):
        return counts
    # Differences are taken in f64: those of f32 say nothing.
    forward, own, chosen = made
    forward, backward = compiled(in_f64(forward)), compiled(in_f64(own))
    own = compiled(own) if "f32" in own else None
    for number, base in enumerate(vectors(program)[:2]):
        rng = np.random.default_rng([program.seed, 11, number])
        lengths = program.lengths([min(n, 12) for n in base], rng)
        args = without_ties(program, program.data(lengths, program.seed), rng)
        try:
            exact = backward.interpret(args)
        except RunError as error:
            if any(s.may_fail for s in program.steps):
                continue
            raise Mismatch(f"interpreter: {error}") from error
        values = [program.arguments[k].value for k in chosen]
        agree(backward, args, exact, values, wide=True)
        if own and number:
            agree(own, args, own.interpret(args), values, wide=False)

        def loss(k, move, step):
            moved = [add(x, move, step) if k == j else x for j, x in enumerate(args)]  # noqa: B023
            return float(np.asarray(forward.interpret(moved)[0].samples[0]))

        at = loss(-1, None, 0.0)
        for k, outcome in zip(chosen, exact):
            move = random_like(args[k], rng)
            gradient = np.concatenate([np.ravel(s) for s in outcome.samples] or [np.zeros(0)])
            if not gradient.size:
                continue
            up, down = loss(k, move, STEP), loss(k, move, -STEP)
            numeric = (up - down) / (2 * STEP)
            analytic = float(gradient @ flat(move))
            scale = max(1.0, abs(numeric), float(np.abs(gradient).max(initial=0)))
            counts.directions += 1
            # Where it bends within the step, differences are no derivative.
            bend = abs(up - 2 * at + down) / STEP
            near = (loss(k, move, STEP / 4) - loss(k, move, -STEP / 4)) / (STEP / 2)
            if (
                not np.isfinite(numeric)
                or bend > 1e-2 * scale
                or abs(near - numeric) > 1e-6 * scale
            ):
                counts.rough += 1
                continue
            if not abs(numeric - analytic) <= 2e-6 * scale:
                raise Mismatch(
                    f"gradient of argument {k} (%{program.arguments[k].value.name}): {analytic}, "
                    f"but differences give {numeric}"
                )
    return counts


def failure(program, counts=None):
    """What is wrong with the derivative of a program, or None."""
    try:
        check(program, counts)
    except (Mismatch, AssertionError, RunError) as error:
        return str(error) or repr(error)
    except Unsupported as error:
        if counts is not None:
            counts.unsupported.append(str(error))
    return None


def explain(program):
    """A report of a program whose derivative is wrong, made as small as can be."""
    small = shrink(program, lambda p: failure(p) is not None)
    made = texts(small)
    return f"seed {program.seed}\n{made[1] if made else small.text()}\n{failure(small)}"


if __name__ == "__main__":
    for seed in sys.argv[1:]:
        one = generate(int(seed))
        print(explain(one) if failure(one) else "no failure")
