# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of derivatives: a traced function, its compiled gradient, the reference interpreter.

`check` asks for the gradients of `sum(seed * result)` with fixed random seeds with respect to every
floating-point argument. The program with derivatives in it runs three times: compiled in f64,
which must agree with the interpreter to 1e-12; interpreted; and, without derivatives, interpreted
with arguments moved by a little, along random directions, whose central differences must agree to 1e-6.
"""

import numpy as np
import pytest
from oracle import Program, RunError

import nested
from nested import _jit
from nested._tracer import value_of
from nested._tree import flatten


def random_like(rng, x):
    if isinstance(x, nested.NestedTensor):
        return nested.from_values(rng.standard_normal(x.values.shape), x.lengths)
    return rng.standard_normal(np.shape(x))


class Checked:
    """One function of arguments of given specs, with the requests for all its derivatives."""

    def __init__(self, function, specs):
        self.function, self.specs = function, specs
        floats = [k for k, s in enumerate(specs) if s.dtype.kind == "f"]
        self.floats = floats
        plain = nested.jit(function).lower(*specs)
        results = Program(plain.text("trace")).info["results"]
        computed = [e for o in results for e in o.get("extents", []) if not e.isalnum()]
        if computed:
            # Seeds of computed sizes: axes without names, which are taken to be what is needed.
            specs = [nested.spec(*[d if isinstance(d, int) else None for d in s.dims], dtype=s.dtype,
                                 batched=s.batched) for s in specs]  # fmt: skip
            plain = nested.jit(function).lower(*specs)
        self.forward = Program(plain.text("trace"))
        # Arrays that the function has from outside come behind its arguments.
        self.captured = plain._traced.frozen
        outputs = self.forward.info["results"]
        self.outputs = outputs

        def with_gradients(*args):
            seeds, rest = list(args[: len(outputs)]), args[len(outputs) :]
            tree = seeds if len(seeds) > 1 or self.listed else seeds[0]
            return nested.vjp(function, floats)(tree, *rest)[1]

        probe = nested.jit(function).lower(*specs)._traced.structure
        self.listed = isinstance(probe, (tuple, list))
        if self.listed:
            kind = type(probe)

            def with_gradients(*args):  # noqa: F811
                seeds = kind(args[: len(outputs)])
                return nested.vjp(function, floats)(seeds, *args[len(outputs) :])[1]

        seeds = [
            nested.spec(*[int(e) if e.isdigit() else e if e.isidentifier() else None
                          for e in o["extents"]],
                        dtype=o["dtype"].replace("f", "float"), batched=True)
            if o["kind"] == "ragged" else nested.spec(*o["shape"], dtype=o["dtype"].replace("f", "float"))
            for o in outputs
        ]  # fmt: skip
        lowered = _jit.JitFunction(with_gradients).lower(*seeds, *specs)
        self.text = lowered.text("trace")
        self.backward = Program(self.text)
        self.used = lowered._traced.used
        self.captured_backward = lowered._traced.frozen


def total(seeds, results):
    return sum(
        float(np.sum(np.asarray(s) * np.asarray(r)))
        for seed, result in zip(seeds, results)
        for s, r in zip(seed, result)
    )


def check(function, specs, args, rng=None, step=1e-5, tolerance=1e-6, directions=2):
    """args: for batched specs a list of samples, else an array. f64."""
    rng = rng or np.random.default_rng(5)
    made = Checked(function, specs)

    def select(given):
        return [given[k] for k in made.used] + made.captured_backward

    return compare(made.forward, made.backward, made.floats, args, rng, step, tolerance, directions,
                   made.captured, select)  # fmt: skip


def check_text(forward, backward, floats, args, rng=None, step=1e-5, tolerance=1e-6, directions=2):
    """The same for modules: of arguments to results; of seeds and arguments to the gradients of the
    arguments `floats`."""
    rng = rng or np.random.default_rng(5)
    return compare(Program(forward), Program(backward), floats, args, rng, step, tolerance, directions,
                   [], list)  # fmt: skip


def compare(
    forward, backward, floats, args, rng, step, tolerance, directions, captured, select
):  # fmt: skip
    def interpret(program, args):
        return [o.samples for o in program.interpret(args)]

    outputs = forward.info["results"]
    results = interpret(forward, [*args, *captured])
    seeds = [[rng.standard_normal(np.shape(s)) for s in result] for result in results]
    passed = [seed if o["kind"] == "ragged" else seed[0] for seed, o in zip(seeds, outputs)]
    chosen = select([*passed, *args])
    exact = backward.interpret(chosen)
    compiled = backward.run(chosen, threads=2)
    for k, (a, b) in enumerate(zip(compiled, exact)):
        for x, y in zip(a.samples, b.samples):
            assert x.shape == y.shape
            same(x, y, 1e-12, f"compiled gradient {k}")
    gradients = [g.samples for g in exact]
    for k, position in enumerate(floats):
        for _ in range(directions):
            moves = [rng.standard_normal(np.shape(a)) for a in leaves(args[position])]

            def moved(t):
                changed = list(args)
                changed[position] = shifted(args[position], iter(moves), t)  # noqa: B023
                return total(seeds, interpret(forward, [*changed, *captured]))

            numeric = (moved(step) - moved(-step)) / (2 * step)
            analytic = sum(float(np.sum(g * m)) for g, m in zip(gradients[k], moves))
            largest = max([1.0, abs(numeric), *(np.abs(g).max(initial=0) for g in gradients[k])])
            assert abs(numeric - analytic) <= tolerance * largest, (
                f"gradient of argument {position}: {analytic}, but differences give {numeric}"
            )
    return gradients


def squares(results):
    """A number of what a traced function gives: the sum of all squares, also of what is one for the batch."""
    results = results if isinstance(results, tuple) else (results,)
    return sum(nested.batch.sum(r * r, axis=None) if value_of(r).batched else np.sum(r * r)
               for r in results)  # fmt: skip


def leaves(x):
    """The arrays of an argument: one, those of samples, those of members of samples."""
    return [a for part in x for a in leaves(part)] if isinstance(x, list) else [x]


def shifted(x, moves, t):
    return [shifted(part, moves, t) for part in x] if isinstance(x, list) else x + t * next(moves)


def same(x, y, tolerance, what):
    x, y = np.asarray(x, "f8"), np.asarray(y, "f8")
    assert (np.isnan(x) == np.isnan(y)).all(), what
    with np.errstate(invalid="ignore"):
        bad = np.abs(x - y) > tolerance * max(1.0, np.abs(y[np.isfinite(y)]).max(initial=0))
    assert not (bad & (x != y)).any(), f"{what}: {np.abs(x - y).max()}"


# --- Tables of programs ----------------------------------------------------------------

F8 = np.float64
# Batches of samples of lengths 0, 1 and more; one sample; equal ones; nothing but empties.
LENGTHS = {"mixed": [3, 0, 5, 1, 2], "one": [4], "equal": [2, 2], "empty": [0, 0]}


def ragged(*dims):
    return nested.spec(*dims, dtype=F8)


def dense(*dims):
    return nested.spec(*dims, dtype=F8)


def numbers(specs, lengths, seed=0, positive=False):
    """Arguments for specs; a name has the lengths, the second name them backwards."""
    rng = np.random.default_rng(seed)
    names = []
    for s in specs:
        names += [d for d in s.dims if isinstance(d, str) and d not in names]
    sizes = {n: lengths if k % 2 == 0 else lengths[::-1] for k, n in enumerate(names)}
    args = []
    for s in specs:

        def draw(shape, s=s):
            if s.dtype.kind == "i":
                return rng.integers(0, 4, shape)
            x = rng.standard_normal(shape)
            return np.abs(x) + 0.5 if positive else x

        if s.batched:
            args.append([
                draw([sizes[d][i] if isinstance(d, str) else d for d in s.dims])
                for i in range(len(lengths))
            ])  # fmt: skip
        else:
            args.append(draw(s.dims))
    return args


N8, NM = ragged("N", 3), ragged("N", "M", 2)
W, V = dense(3, 4), dense(4)


def central_differences(programs, positive=()):
    """The test of a file: every program, a (function, specs), on every choice of lengths. positive: the
    names of those that are for positive numbers."""

    @pytest.mark.parametrize("lengths", LENGTHS)
    @pytest.mark.parametrize("name", programs)
    def test(name, lengths):
        function, specs = programs[name]
        check(function, specs, numbers(specs, LENGTHS[lengths], positive=name in positive))

    return test


__all__ = [
    "Checked", "F8", "LENGTHS", "N8", "NM", "RunError", "V", "W", "central_differences", "check",
    "check_text", "dense", "flatten", "leaves", "numbers", "ragged", "random_like", "same", "shifted", "squares",
]  # fmt: skip
