# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of what changes which samples there are (nested.batch.select, repeat, batch[mask])."""

import numpy as np
import pytest
from gradients import F8, LENGTHS, check, check_text, ragged, same
from oracle import Program, RunError
from oracle_programs import ragged_types

import nested
from nested import batch

I8 = np.int64
ONE = nested.spec(batched=True, dtype=I8)


def samples(lengths, *shape, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, *shape)) for n in lengths]


def whole(x):
    """One number of every sample, then of the batch; neither linear nor the same for all entries."""
    weights = nested.arange(x.shape[-1]) + 1.5
    return batch.sum(nested.sum(np.sin(x) * weights) ** 2)


LAYOUTS = {
    "singles": (ragged("N", 3), lambda n: (n, 3)), "numbers": (ragged("N"), lambda n: (n,)),
    "pairs": (ragged("N", "N", 2), lambda n: (n, n, 2)), "wide": (ragged("N", 37), lambda n: (n, 37)),
    "behind": (ragged(2, "N", 3), lambda n: (2, n, 3)), "one": (ragged("N", 1), lambda n: (n, 1)),
    "row": (nested.spec(3, dtype=F8, batched=True), lambda n: (3,)),
}  # fmt: skip


def choice(kind, lengths):
    """Of a kind of choice: a function of samples, and of a further argument with its spec and its value
    where it has one."""
    count, rng = len(lengths), np.random.default_rng(3)
    numbers = nested.spec(dtype=I8, batched=True)
    if kind == "mask":
        keep = [np.array(i % 2 == 0 or n == 2) for i, n in enumerate(lengths)]
        return batch.select, [nested.spec(dtype=bool, batched=True)], [keep]
    if kind == "nobody":
        return batch.select, [nested.spec(dtype=bool, batched=True)], [[np.array(False)] * count]
    if kind == "places":  # The results are over the batch of the sources.
        return batch.select, [numbers], [[np.array(i) for i in rng.integers(0, count, count)]]
    if kind == "list":
        indices = rng.integers(0, count, 6)
        return lambda x: batch.select(x, indices), [], []
    if kind == "twice":
        return lambda x: batch.repeat(x, 2), [], []
    copies = [np.array((2 * i + 1) % 4) for i in range(count)]
    return lambda x, n: batch.repeat(x, n, at_most=3), [numbers], [copies]


KINDS = ["mask", "nobody", "places", "list", "twice", "copies"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "layout, lengths",
    [("singles", n) for n in LENGTHS] + [(n, "mixed") for n in LAYOUTS if n != "singles"],
)
def test_gradients(kind, layout, lengths):
    """Samples that are not chosen have the gradient 0, those chosen twice the sum."""
    lengths = LENGTHS[lengths]
    spec, shape = LAYOUTS[layout]
    rng = np.random.default_rng(1)
    function, specs, args = choice(kind, lengths)
    x = [rng.standard_normal(shape(n)) for n in lengths]
    check(lambda x, *rest: whole(function(x, *rest)), [spec, *specs], [x, *args])


@pytest.mark.parametrize("lengths", LENGTHS)
def test_what_belongs_together(lengths):
    """Several sources in one op, of which one has no derivative, and a parameter on both sides."""
    lengths = LENGTHS[lengths]

    def program(x, y, w, label):
        some = batch.select({"x": x @ w, "y": y, "label": label}, nested.sum(x) > -1)
        twice = batch.repeat({"z": some["x"] * some["y"], "label": some["label"]}, 2)
        return batch.sum(nested.sum(np.tanh(twice["z"]) @ w.T) * twice["label"])

    specs = [ragged("N", 3), ragged("N", 4), nested.spec(3, 4, dtype=F8), ONE]
    rng = np.random.default_rng(1)
    args = [samples(lengths, 3), samples(lengths, 4, seed=2), rng.standard_normal((3, 4)),
            [np.array(k + 1) for k in range(len(lengths))]]  # fmt: skip
    check(program, specs, args)


def test_choices_of_choices():
    def program(x, w):
        twice = batch.repeat(np.tanh(x @ w), 2)
        long = batch.select(twice, twice.shape[0] + nested.zeros((), I8) > 1)
        return whole(batch.select(long, [1, 0, 1, 2]))

    args = [samples([3, 0, 5, 1, 2], 3), np.random.default_rng(2).standard_normal((3, 4))]
    check(program, [ragged("N", 3), nested.spec(3, 4, dtype=F8)], args)


def of(lengths, *shape, dtype=F8):
    return nested.from_list(samples(lengths, *shape), dims=("N", *shape), dtype=dtype)


def test_eager_choices():
    """As users call it: a mask from outside, a list in any order, entries of each sample."""
    x, keep = of([3, 0, 2], 2), np.array([True, False, True])
    mask = nested.from_list(list(keep), ragged=())

    def loss(x, keep):
        return batch.sum(batch.select(x, keep) ** 3, axis=None)

    g = nested.grad(loss)(x, mask)
    for got, sample, kept in zip(g, x, keep, strict=True):
        same(got, 3 * sample**2 * kept, 1e-12, "kept")
    g = nested.grad(lambda x: loss(x, [2, 0, 2]))(x)
    for got, sample, count in zip(g, x, (1, 0, 2), strict=True):
        same(got, 3 * sample**2 * count, 1e-12, "chosen")
    g = nested.grad(lambda x: batch.sum(x[x[:, 0] > 0] ** 2, axis=None))(x)
    for got, sample in zip(g, x, strict=True):
        same(got, np.where(sample[:, :1] > 0, 2 * sample, 0), 1e-12, "entries")
    # A batch of some samples is data like any other.
    g = nested.grad(lambda x: batch.sum(x**2, axis=None))(x[keep])
    for got, sample in zip(g, (x[0], x[2]), strict=True):
        same(got, 2 * sample, 1e-12, "selected before")


def test_a_bad_sample_stays_alone():
    """R4: a NaN in one sample is in its own gradient, not in those of its neighbours."""
    x = [s.copy() for s in samples([2, 3, 1], 2)]
    x[1][:] = np.nan
    function = nested.grad(lambda x: batch.sum(batch.select(x, [2, 1, 0, 2]) ** 2, axis=None))
    g = function(nested.from_list(x))
    same(g[0], 2 * x[0], 1e-12, "first")
    same(g[2], 4 * x[2], 1e-12, "chosen twice")
    assert np.isnan(g[1]).all()
    g = nested.grad(lambda x: batch.sum(batch.select(x, [2, 0]) ** 2, axis=None))(
        nested.from_list(x)
    )
    assert (g[1] == 0).all()


@pytest.mark.parametrize("dtype", ["f4", "f2", "bf16"])
def test_narrow_floats(dtype):
    """Sums of many copies are kept in f64 (R6)."""
    dtype = nested.bfloat16 if dtype == "bf16" else np.dtype(dtype)
    x = nested.from_list([np.ones((n, 5)) for n in (2, 0, 3)], dims=("N", 5), dtype=dtype)
    weights = np.tile([1.0, 0.125], 150)

    def loss(x):
        some = batch.select(x, [0, 2] * 150)
        return batch.sum(nested.sum(some.astype("f8"), axis=(0, 1)) * 1.125, axis=None)

    g = nested.grad(loss)(x)
    assert g.dtype == x.dtype and len(weights) == 300
    for got, count in zip(g, (150, 0, 150), strict=True):
        same(got.astype("f8"), np.full(got.shape, count * 1.125), 4e-3, "many copies")


@pytest.mark.parametrize("kind", ["mask", "places", "list", "copies"])
def test_second_derivatives(kind):
    """Of a gradient through a choice the gradient, by differences and both ways."""
    lengths = [2, 0, 1, 3]
    function, specs, args = choice(kind, lengths)
    rng = np.random.default_rng(7)
    w = rng.standard_normal((2, 2))

    def loss(w, x, *rest):
        return whole(function(np.tanh(x @ w), *rest))

    def penalty(x, w, *rest):
        gx, gw = nested.grad(loss, (1, 0))(w, x, *rest)
        return batch.sum(gx**3, axis=None) + np.sum(gw**2)

    check(
        penalty,
        [ragged("N", 2), nested.spec(2, 2, dtype=F8), *specs],
        [samples(lengths, 2), w, *args],
    )

    x = of(lengths, 2)
    rest = [nested.from_list(a, ragged=()) for a in args]

    def entry(w, pick, x, *rest):
        return np.sum(nested.grad(loss)(w, x, *rest) * pick)

    rows = [nested.grad(entry)(w, np.eye(4)[k].reshape(2, 2), x, *rest) for k in range(4)]
    hessian = np.array(rows).reshape(4, 4)
    same(hessian, hessian.T, 1e-11, "Hessian")


# --- Along longer paths --------------------------------------------------------------

CHOICES = {
    "mask": ("<; i1; path = [B, S]>", "ragged.select_batch %m of %t renames [T] to [K]", "R"),
    "counts": ("<; i64; path = [B, S]>", "ragged.repeat_batch %m at_most 3 of %t renames [T] to [K]", "R"),
    "indices": ("<; i64; path = [B, R]>", "ragged.select_batch %m of %t renames [T] to [K]", "R"),
    "places": ("<; i64; path = [B, S]>", "ragged.select_batch %m of %t renames [T] to [K]", "S"),
}  # fmt: skip
SENTENCES = """func.func @f(%xSEED: <T, 3; f64; path = [B, S]>, %m: SELECTOR) -> RESULT {
  VARIABLE
  %t = ragged.map ins(%v : <T, 3; f64; path = [B, S]>) {
  ^bb0(%a: f64):
    %0 = math.sin %a : f64
    ragged.yield %0 : f64
  } -> <T, 3; f64; path = [B, S]>
  %y = CHOICE : SELECTOR, <T, 3; f64; path = [B, S]> -> <K, 3; f64; path = [B, R]>
  %s = ragged.reduce sum %y dims [0] : <K, 3; f64; path = [B, R]> -> <3; f64; path = [B, R]>
  %q = ragged.map ins(%s : <3; f64; path = [B, R]>) {
  ^bb0(%a: f64):
    %0 = arith.mulf %a, %a : f64
    ragged.yield %0 : f64
  } -> <3; f64; path = [B, R]>
  %u = ragged.reduce sum %q dims [] batch : <3; f64; path = [B, R]> -> <3; f64>
  RETURN }"""


@pytest.mark.parametrize("kind", CHOICES)
def test_members_of_samples(kind):
    """In each document some sentences; those of other documents have nothing to do with it."""
    rng = np.random.default_rng(3)
    sizes = [3, 0, 4, 1]
    x = [[rng.standard_normal((int(rng.integers(0, 4)), 3)) for _ in range(n)] for n in sizes]
    if kind == "indices":
        chosen = [[np.array(rng.integers(0, n)) for _ in range(5 if n else 0)] for n in sizes]
    elif kind == "mask":
        chosen = [[np.array(rng.random() < 0.5) for _ in range(n)] for n in sizes]
    else:
        chosen = [[np.array(rng.integers(0, n)) for _ in range(n)] for n in sizes]
    selector, op, path = CHOICES[kind]
    text = SENTENCES.replace("SELECTOR", selector).replace("CHOICE", op)
    text = text.replace("[B, R]>", f"[B, {path}]>")
    forward = text.replace("SEED", "").replace("RESULT", "<3; f64>").replace(
        "VARIABLE", "%v = ragged.variable %x : <T, 3; f64; path = [B, S]>"
    ).replace("RETURN", "return %u : <3; f64>")  # fmt: skip
    backward = text.replace("%xSEED", "%seed: <3; f64>, %x").replace(
        "RESULT", "<T, 3; f64; path = [B, S]>"
    ).replace("VARIABLE", "%v = ragged.variable %x : <T, 3; f64; path = [B, S]>").replace(
        "RETURN",
        "%g = ragged.gradient of(%u : <3; f64>) seeds(%seed : <3; f64>) wrt(%v : <T, 3; f64; path = [B, S]>)"
        " -> <T, 3; f64; path = [B, S]>\n"
        "  return %g : <T, 3; f64; path = [B, S]>",
    )  # fmt: skip
    check_text(ragged_types(forward), ragged_types(backward), [0], [x, chosen])


OTHERS = """func.func @f(%xSEED: <T, 3; f64>, %i: <; i64; path = [D]>) -> RESULT {
  %v = ragged.variable %x : <T, 3; f64>
  %y = ragged.select_batch %i of %v renames [T] to [K] : <; i64; path = [D]>, <T, 3; f64> -> <K, 3; f64; path = [D]>
  %q = ragged.map ins(%y : <K, 3; f64; path = [D]>) {
  ^bb0(%a: f64):
    %0 = math.sin %a : f64
    ragged.yield %0 : f64
  } -> <K, 3; f64; path = [D]>
  %s = ragged.reduce sum %q dims [0] : <K, 3; f64; path = [D]> -> <3; f64; path = [D]>
  RETURN }"""


def test_samples_of_another_batch():
    """Its results are over the batch of the indices, of which there may be more."""
    rng = np.random.default_rng(3)
    x = samples([3, 0, 5, 1], 3)
    indices = [np.array(i) for i in (3, 0, 0, 1, 0, 3, 0)]
    forward = OTHERS.replace("SEED", "").replace("RESULT", "<3; f64; path = [D]>")
    forward = Program(ragged_types(forward.replace("RETURN", "return %s : <3; f64; path = [D]>")))
    backward = OTHERS.replace("%xSEED", "%seed: <3; f64; path = [D]>, %x").replace(
        "RESULT", "<T, 3; f64>"
    )
    backward = Program(ragged_types(backward.replace(
        "RETURN",
        "%g = ragged.gradient of(%s : <3; f64; path = [D]>) seeds(%seed : <3; f64; path = [D]>) "
        "wrt(%v : <T, 3; f64>) -> <T, 3; f64>\n  return %g : <T, 3; f64>",
    )))  # fmt: skip
    seeds = [rng.standard_normal(3) for _ in indices]
    got = forward.run([x, indices])[0].samples
    for i, s in zip(indices, got, strict=True):
        same(s, np.sin(x[int(i)]).sum(axis=0), 1e-12, "forward")
    want = [
        sum((s * np.cos(x[k]) for i, s in zip(indices, seeds) if i == k), 0 * x[k])
        for k in range(4)
    ]
    for result in (
        backward.run([seeds, x, indices], threads=2),
        backward.interpret([seeds, x, indices]),
    ):
        for g, w in zip(result[0].samples, want, strict=True):
            same(g, w, 1e-12, "gradient")


# --- A choice that is not the one that was made ------------------------------------------

OTHER = """func.func @f(%x: <N>, %k: SELECTOR, %l: SELECTOR) -> <N> {
  %y = CHOICE %k of %x renames [N] to [K] : SELECTOR, <N> -> <K; f32; path = [C]>
  %z = ragged.move_batch sum %l of %y renames [N] to [K] : SELECTOR, <K; f32; path = [C]> -> <N>
  return %z : <N> }"""


@pytest.mark.parametrize(
    "kind, first, second, message",
    [
        (
            "<; i1>",
            [1, 0, 1],
            [1, 0, 0],
            "move_batch: 1 samples are chosen, expected another number",
        ),
        (
            "<; i1>",
            [1, 0, 0],
            [1, 1, 1],
            "move_batch: 3 samples are chosen, expected another number",
        ),
        (
            "<; i1>",
            [1, 0, 1],
            [0, 1, 1],
            "move_batch: K is 2 in sample 0, expected N of the sample",
        ),
        (
            "<; i64>",
            [2, 0, 1],
            [1, 0, 1],
            "move_batch: 2 samples are chosen, expected another number",
        ),
        ("<; i64>", [2, 0, 1], [-1, 2, 1], "move_batch: -1 copies of sample 0, expected 0 or more"),
    ],
)
def test_another_choice(kind, first, second, message):
    """Never memory that is not there, and an error."""
    op = "ragged.select_batch" if "i1" in kind else "ragged.repeat_batch"
    text = OTHER.replace("SELECTOR", kind).replace("CHOICE", op)
    text = text.replace(" of %x", " of %x" if "i1" in kind else " at_most 3 of %x")
    program = Program(ragged_types(text))
    dtype = bool if "i1" in kind else np.int64
    x = [np.ones(n, "f4") for n in (2, 1, 1)]
    right = [np.array(i, dtype) for i in first]
    wanted = [n * int(i) for n, i in zip((2, 1, 1), first)]
    got = program.run([x, right, right])[0].samples
    assert [s.sum() for s in got] == wanted
    with pytest.raises(RunError, match=message):
        program.run([x, right, [np.array(i, dtype) for i in second]])
