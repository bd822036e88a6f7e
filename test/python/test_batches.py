# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other samples (nested.batch.select, repeat), padding, and sizes that are computed."""

import numpy as np
import pytest
from oracle import Program, agree, same_bits
from oracle_programs import ragged_types

import nested
from nested import batch

BATCHES = [[3, 0, 5, 2], [0, 0], [], [1], [7, 40, 1, 0, 0, 33]]


def singles(lengths, *shape, dtype="f4", seed=0):
    rng = np.random.default_rng(seed)
    made = [rng.standard_normal((n, *shape)) * 4 for n in lengths]
    return nested.from_list([m.astype(dtype) for m in made], dims=("N", *shape), dtype=dtype)


def pairs(lengths, other=None):
    rng = np.random.default_rng(1)
    other = lengths if other is None else other
    dims = ("N", "N" if other is lengths else "M", 3)
    made = [rng.standard_normal((n, m, 3)).astype("f4") for n, m in zip(lengths, other)]
    return nested.from_list(made, dims=dims, dtype="f4")


def numbers(values, dtype):
    return nested.from_values(
        np.array(values, dtype), lengths=np.zeros((len(values), 0), int), ragged=()
    )


def layouts(lengths):
    """Squares, rectangles, an axis that is ragged but not the first, one row per sample, bools."""
    return {
        "singles": singles(lengths, 4), "numbers": singles(lengths), "wide": singles(lengths, 67),
        "square": pairs(lengths), "rectangular": pairs(lengths, [n // 2 + 1 for n in lengths]),
        "behind": nested.from_list([np.full((2, n, 3), n, "i4") for n in lengths], dims=(2, "N", 3), dtype="i4"),
        "rows": nested.from_values(np.arange(5.0 * len(lengths)).reshape(-1, 5), ragged=(),
                                   lengths=np.zeros((len(lengths), 0), int)),
        "bools": nested.from_list([np.arange(n) % 3 == 0 for n in lengths], dims=("N",), dtype=bool),
        "halves": singles(lengths, 3, dtype="f2"), "bytes": singles(np.array(lengths), 2, dtype="i1"),
    }  # fmt: skip


LAYOUTS = list(layouts([1]))


def equal(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


# --- Which samples there are ---------------------------------------------------------


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_select_by_a_mask(layout, lengths):
    x = layouts(lengths)[layout]
    keep = [(3 * i + n) % 2 == 0 for i, n in enumerate(lengths)]
    program = nested.jit(lambda x, keep: batch.select(x, keep))
    want = [x[i] for i, kept in enumerate(keep) if kept]
    equal(program(x, numbers(keep, bool)), want)
    equal(batch.select(x, np.array(keep, bool)), want)
    equal(batch.select(x, numbers(keep, bool)), want)


@pytest.mark.parametrize("lengths", [b for b in BATCHES if b], ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_select_by_indices(layout, lengths):
    x = layouts(lengths)[layout]
    rng = np.random.default_rng(2)
    chosen = rng.integers(0, len(lengths), 5)
    want = [x[i] for i in chosen]
    equal(nested.jit(lambda x, i: batch.select(x, i))(x, chosen), want)
    equal(nested.jit(lambda x: batch.select(x, chosen.tolist()))(x), want)
    equal(batch.select(x, chosen), want)
    order = rng.permutation(len(lengths))
    want = [x[i] for i in order]
    equal(nested.jit(lambda x, i: batch.select(x, i))(x, numbers(order, np.int32)), want)


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_repeat(layout, lengths):
    x = layouts(lengths)[layout]
    counts = [(2 * i + 1) % 4 for i in range(len(lengths))]
    want = [x[i] for i, n in enumerate(counts) for _ in range(n)]
    program = nested.jit(lambda x, n: batch.repeat(x, n, at_most=3))
    equal(program(x, numbers(counts, np.int64)), want)
    equal(batch.repeat(x, counts), want)
    for count in (0, 1, 3):
        want = [x[i] for i in range(len(lengths)) for _ in range(count)]
        equal(nested.jit(lambda x: batch.repeat(x, count))(x), want)  # noqa: B023
        equal(batch.repeat(x, count), want)


def test_what_belongs_together_comes_along():
    """Values of one call are one batch: they can be combined, and reduced over it."""
    x, y = singles([3, 0, 5, 2], 4), singles([3, 0, 5, 2], 4, seed=5)
    label = numbers([1, 2, 3, 4], np.float32)

    @nested.jit
    def program(x, y, label):
        some = batch.select({"x": x, "y": y, "label": label}, x.sum(axis=(0, 1)) > 0)
        z = some["x"] + some["y"] * some["label"]
        return z, batch.mean(z.sum(axis=0)), some["label"], z.shape[0]

    z, mean, labels, count = program(x, y, label)
    kept = [i for i in range(4) if x[i].sum() > 0]
    want = [x[i] + y[i] * label[i] for i in kept]
    equal(z, want)
    np.testing.assert_allclose(mean, np.mean([w.sum(axis=0) for w in want], axis=0), rtol=1e-5)
    equal(labels, [label[i] for i in kept])
    assert count.values.tolist() == [len(x[i]) for i in kept]


def test_selections_of_selections_and_entries_of_chosen_samples():
    x = singles([3, 0, 5, 2, 9], 4)

    @nested.jit
    def program(x):
        twice = batch.repeat(x, 2)
        long = batch.select(twice, nested.zeros((), np.int64) + twice.shape[0] > 2)
        return long[long[:, 0] > 0], nested.softmax(long, axis=0)

    positive, soft = program(x)
    chosen = [x[i] for i in (0, 2, 4) for _ in range(2)]
    equal(positive, [s[s[:, 0] > 0] for s in chosen])
    for got, s in zip(soft, chosen, strict=True):
        want = np.exp(s - s.max(axis=0)) / np.exp(s - s.max(axis=0)).sum(axis=0)
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_copies_of_chosen_samples():
    """A number of copies that is the same for all samples is so for those that were chosen."""
    x = singles([3, 0, 5, 2], 4)

    @nested.jit
    def program(x, n):
        some = batch.select(x, x.shape[0] + nested.zeros((), np.int64) > 2)
        return batch.repeat(some, 2), batch.repeat(some, n, at_most=3)

    twice, thrice = program(x, np.int64(3))
    equal(twice, [x[0], x[0], x[2], x[2]])
    equal(thrice, [x[0]] * 3 + [x[2]] * 3)


def test_samples_that_change_places_in_a_large_batch():
    """What is moved is more than the 2 MB for which launches take turns over windows of samples."""
    rows = np.random.default_rng(0).standard_normal((50_000, 64)).astype("f4")
    places = np.random.default_rng(1).permutation(len(rows))
    program = nested.jit(lambda x, i: nested.exp(batch.select(nested.exp(x) * 2, i)))
    got = program(
        nested.from_list(list(rows), ragged=()), nested.from_list(list(places), ragged=())
    )
    np.testing.assert_allclose(got.values, np.exp(np.exp(rows[places]) * 2), rtol=1e-5)


def test_samples_are_the_same_bits_wherever_they_are():
    x = singles([3, 0, 700, 2, 9], 24)
    program = nested.jit(lambda x: nested.layer_norm(batch.repeat(x, 2)).sum(axis=0))
    twice, alone = program(x), nested.jit(lambda x: nested.layer_norm(x).sum(axis=0))(x)
    for i in range(5):
        assert twice[2 * i].tobytes() == twice[2 * i + 1].tobytes() == alone[i].tobytes()


def test_a_plan_knows_that_a_selection_is_no_larger_than_its_source():
    """100 samples of one row beside one of 10 000: not 101 times 10 000 rows."""
    x = singles([1] * 100 + [10000], 4)
    program = nested.jit(lambda x: batch.select(x, x.shape[0] + nested.zeros((), np.int64) > 1) * 2)
    assert len(program(x)) == 1
    assert program.plan([1] * 100 + [10000]).peak_bytes < 2_000_000


SENTENCES = """func.func @f(%x: <T, 4; f32; path = [B, S]>, %m: <; i1; path = [B, S]>, %n: <; i64; path = [B, S]>)
    -> (<K, 4; f32; path = [B, R]>, <U, 4; f32; path = [B, Q]>, <4>) {
  %y = ragged.select_batch %m of %x renames [T] to [K]
      : <; i1; path = [B, S]>, <T, 4; f32; path = [B, S]> -> <K, 4; f32; path = [B, R]>
  %z = ragged.repeat_batch %n at_most 2 of %x renames [T] to [U]
      : <; i64; path = [B, S]>, <T, 4; f32; path = [B, S]> -> <U, 4; f32; path = [B, Q]>
  %s = ragged.reduce sum %y dims [0] : <K, 4; f32; path = [B, R]> -> <4; f32; path = [B, R]>
  %u = ragged.unnest %s : <4; f32; path = [B, R]> -> <R, 4>
  %t = ragged.reduce sum %u dims [0] : <R, 4> -> <4>
  return %y, %z, %t : <K, 4; f32; path = [B, R]>, <U, 4; f32; path = [B, Q]>, <4> }"""


@pytest.mark.parametrize("gaps", [False, True])
def test_sentences_of_documents(gaps):
    """Along a longer path the members are chosen in each document; documents stay."""
    rng = np.random.default_rng(3)
    x = [
        [rng.standard_normal((int(rng.integers(0, 5)), 4)) for _ in range(n)] for n in (3, 0, 6, 1)
    ]
    mask = [[rng.random() < 0.5 for _ in document] for document in x]
    counts = [[int(rng.integers(0, 3)) for _ in document] for document in x]
    program = Program(ragged_types(SENTENCES))
    args = [x, mask, counts]
    first = program.run(args, gaps=np.random.default_rng(4) if gaps else None)
    agree(first, program.interpret(args))
    some = [s for d, m in zip(x, mask) for s, kept in zip(d, m) if kept]
    many = [s for d, n in zip(x, counts) for s, k in zip(d, n) for _ in range(k)]
    for got, want in ((first[0].samples, some), (first[1].samples, many)):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    for a, b in zip(first, program.run(args, threads=2)):
        same_bits(a.values, b.values)


INDICES = """func.func @f(%x: <N, N, 2>, %i: <; i64; path = [C]>, %l: tensor<4xi64>, %o: <; i64>)
    -> (<K, K, 2; f32; path = [C]>, <L, L, 2; f32; path = [D]>, <O, O, 2>) {
  %y = ragged.select_batch %i of %x renames [N] to [K] : <; i64; path = [C]>, <N, N, 2> -> <K, K, 2; f32; path = [C]>
  %z = ragged.select_batch %l of %x renames [N] to [L] : tensor<4xi64>, <N, N, 2> -> <L, L, 2; f32; path = [D]>
  %w = ragged.select_batch %o of %x renames [N] to [O] : <; i64>, <N, N, 2> -> <O, O, 2>
  return %y, %z, %w : <K, K, 2; f32; path = [C]>, <L, L, 2; f32; path = [D]>, <O, O, 2> }"""


@pytest.mark.parametrize("gaps", [False, True])
def test_indices_of_another_batch(gaps):
    rng = np.random.default_rng(5)
    x = [rng.standard_normal((n, n, 2)) for n in (3, 0, 5)]
    args = [x, [2, 2, 1, 0, 0], [1, 0, 2, 2], [2, 2, 0]]
    program = Program(ragged_types(INDICES))
    got = program.run(args, gaps=np.random.default_rng(6) if gaps else None)
    agree(got, program.interpret(args))
    for outcome, chosen in zip(got, args[1:]):
        for a, i in zip(outcome.samples, chosen, strict=True):
            np.testing.assert_allclose(a, x[i], rtol=1e-6)


@pytest.mark.parametrize("phase", ["tensor", "generic", "kernels", "structure", "loops"])
@pytest.mark.parametrize("text", [SENTENCES, INDICES], ids=["sentences", "indices"])
def test_phases_can_be_read_back(text, phase):
    from test_oracle_artifacts import lowered

    text = ragged_types(text)
    assert lowered(lowered(text, phase).decode(), "object") == lowered(text, "object")


# --- Padding -----------------------------------------------------------------------------


def padded(x, fill, sizes=None):
    """One array per sample, as np.pad has it."""
    longest = sizes or [max((s.shape[k] for s in x), default=0) for k in x.ragged]
    width = [dict(zip(x.ragged, longest)).get(k) for k in range(x.ndim)]
    return [
        np.pad(
            s,
            [(0, 0 if w is None else w - n) for n, w in zip(s.shape, width)],
            constant_values=fill,
        )
        for s in x
    ]


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "rows"])
def test_to_padded(layout, lengths):
    x = layouts(lengths)[layout]
    fill = False if x.dtype == bool else 3
    want = padded(x, fill)
    equal(nested.jit(lambda x: batch.to_padded(x, fill))(x), want)
    equal(list(x.to_padded(fill)), want)
    equal(list(batch.to_padded(x, fill)), want)
    sizes = [50 + k for k in range(len(x.ragged))]
    want = padded(x, fill, sizes)
    equal(nested.jit(lambda x: batch.to_padded(x, fill, sizes))(x), want)
    equal(list(x.to_padded(fill, sizes)), want)


@pytest.mark.parametrize("lengths", [b for b in BATCHES if b], ids=str)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "rows"])
def test_from_padded(layout, lengths):
    x = layouts(lengths)[layout]
    array = x.to_padded(7)
    axes = x.ragged
    own = x.lengths if x.lengths.ndim == 2 else x.lengths[:, None]
    equal(nested.from_padded(array, lengths=own, ragged=axes), list(x))
    if len(axes) == 1:  # (0, 3) and (3, 0) have the same mask
        equal(nested.from_padded(array, x.mask, ragged=axes), list(x))
    equal(batch.from_padded(array, own, axes), list(x))
    envelope = nested.from_values(array, ragged=(), lengths=np.zeros((len(x), 0), int))
    counts = [numbers(column, np.int64) for column in own.T]
    program = nested.jit(lambda e, *counts: batch.from_padded(e, counts, axes))
    equal(program(envelope, *counts), list(x))
    # Padded by the program that takes it back: what is in between is never seen.
    again = nested.jit(
        lambda x: batch.from_padded(batch.to_padded(x), [x.shape[k] for k in axes], axes)
    )
    equal(again(x), list(x))


def test_reductions_see_the_padding_and_masks_hide_it():
    x = singles([3, 0, 5, 2], 4)

    @nested.jit
    def program(x):
        p = batch.to_padded(x, 1.0)
        inside = nested.arange(p.shape[0]) < x.shape[0]
        return p.sum(axis=0), np.where(inside[:, None], p, 0).sum(axis=0)

    whole, masked = program(x)
    for i in range(4):
        np.testing.assert_allclose(whole[i], x[i].sum(axis=0) + 5 - len(x[i]), rtol=1e-5)
        np.testing.assert_allclose(masked[i], x[i].sum(axis=0), rtol=1e-5, atol=1e-6)


def test_gradients_go_through_padding():
    x = singles([3, 0, 5, 2], 4)

    def loss(x, w):
        return batch.sum((batch.to_padded(x) * w) ** 2, axis=None)

    gradient = nested.grad(loss)(x, np.full(4, 2, "f4"))
    for i in range(4):
        np.testing.assert_allclose(gradient[i], 8 * x[i], rtol=1e-6)


def test_masks_along_an_axis_of_fixed_size():
    x = nested.from_list([np.arange(12.0).reshape(6, 2) - k for k in range(4)], ragged=())
    got = nested.jit(lambda x: x[x[:, 0] > 3])(x)
    equal(got, [s[s[:, 0] > 3] for s in x])


def test_sizes_that_are_computed():
    x = singles([3, 0, 5, 2], 4)

    @nested.jit
    def program(x):
        n = (x[:, 0] > 0).sum()
        k = nested.as_dim(n, at_most=x.shape[0])
        return x[:k] * 2, nested.arange(k), x[k:]

    front, numbered, rest = program(x)
    for i in range(4):
        n = int((x[i][:, 0] > 0).sum())
        np.testing.assert_array_equal(front[i], x[i][:n] * 2)
        np.testing.assert_array_equal(numbered[i], np.arange(n))
        np.testing.assert_array_equal(rest[i], x[i][n:])
    assert nested.as_dim(np.int64(3), at_most=5) == 3


# --- Errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, error, words",
    [
        (lambda x: batch.repeat(x, 2) + x, nested.ShapeError, "axes 0 differ"),
        (lambda x: batch.repeat(x.sum(axis=0), 2) + x.sum(axis=0), nested.TraceError,
         "values of different samples can't be combined: the copies made at"),
        (lambda x: batch.select(x, x[:, 0] > 0), nested.ShapeError, "expected one bool for each sample"),
        (lambda x: batch.select(x, np.array([True, False])), nested.ShapeError, "the same for all samples"),
        (lambda x: batch.select(x, x.sum(axis=(0, 1))), nested.TraceError, "needs bools or integers"),
        (lambda x: batch.select(x, np.zeros((2, 2), int)), nested.ShapeError, "an array of one axis"),
        (lambda x: batch.select(np.zeros(3), x.sum(axis=(0, 1)) > 0), nested.ShapeError, "is shared"),
        (lambda x: batch.repeat(x, x.shape[0] + nested.zeros((), int)), nested.TraceError, "needs at_most="),
        (lambda x: batch.repeat(x, -1), nested.ArgumentError, "an integer from 0 on, but got -1"),
        (lambda x: batch.repeat(x, 1.5), nested.ShapeError, "expected one integer"),
        (lambda x: batch.to_padded(x, 0, (3, 4)), nested.ShapeError, "for 1 ragged axes"),
        (lambda x: batch.to_padded(x, 0, -1), nested.ShapeError, "is no size"),
        (lambda x: nested.as_dim(x.sum(), at_most=3), nested.ShapeError, "expected one integer"),
        (lambda x: nested.as_dim(x.argmax(axis=0)[0], at_most=None), nested.TraceError, "needs at_most="),
        (lambda x: batch.select(x, np.array([0, 4])), nested.DataError,
         r"index 4 is out of range for the samples \(entry 1 of the indices\)"),
        (lambda x: batch.select(x, np.array([-1])), nested.DataError, "index -1 is out of range"),
        (lambda x: batch.repeat(x, x.shape[0] + nested.zeros((), int), at_most=2), nested.DataError,
         "3 copies of sample 0, expected 0 to 2"),
        (lambda x: batch.to_padded(x, 0, 4), nested.ArgumentError, "does not hold in sample 2"),
        (lambda x: x[: nested.as_dim(x.shape[0] + nested.ones((), int), at_most=x.shape[0])],
         nested.DataError, "is 4 in sample 0; it must be from 0 to 3"),
    ],
)  # fmt: skip
def test_errors(function, error, words):
    with pytest.raises(error, match=words):
        nested.jit(function)(singles([3, 0, 5, 2], 4))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: batch.select(np.zeros((3, 2)), [0]), "which has none"),
        (lambda x: batch.select((x, x[:2]), [0]), "batches of 4, 2 samples"),
        (lambda x: batch.repeat(x, [1, 2]), "2 numbers of copies for 4 samples"),
        (lambda x: batch.repeat(x, -1), "an integer from 0 on"),
        (lambda x: batch.repeat(x, 3, at_most=2), "at_most=2"),
    ],
)
def test_errors_of_eager_calls(call, words):
    with pytest.raises(nested.ArgumentError, match=words):
        call(singles([3, 0, 5, 2], 4))


def test_padded_sizes_that_are_too_small():
    with pytest.raises(nested.StructureError, match="5 entries on axis 0, more than 4"):
        singles([3, 0, 5, 2], 4).to_padded(sizes=4)


def test_a_hundred_thousand_samples_take_no_loop_over_them():
    """Vectorised: this took seconds as a loop over samples."""
    import time

    n = np.random.default_rng(0).integers(0, 12, 100_000)
    x = nested.from_values(np.ones((n.sum(), 8), "f4"), lengths=n)
    start = time.perf_counter()
    again = nested.from_padded(x.to_padded(), lengths=n)
    order = x[np.arange(len(x))[::-1]]
    assert time.perf_counter() - start < 3
    assert again == x
    assert order[0].shape == x[-1].shape
