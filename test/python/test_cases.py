# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports from the field, as small numeric cases: what a traced program gives.

The name of a test has the id of its case; docs/generated/field_cases.md says what each was and
what the rest waits for.
"""

import ml_dtypes
import numpy as np
import pytest
from helpers import close, raises, same_bits

import nested


def batch(samples, dtype="f4", **kwargs):
    return nested.from_list([np.array(s, dtype) for s in samples], dtype=dtype, **kwargs)


def columns(samples, dtype="f4"):
    """Samples of rows of one number."""
    return nested.from_list([np.array(s, dtype).reshape(-1, 1) for s in samples], dtype=dtype)


def run(function, *args):
    return nested.jit(function)(*args)


def expect(result, samples, tolerance=1e-6):
    """Sample by sample; integers and i1 exactly."""
    assert len(result) == len(samples)
    for i, want in enumerate(samples):
        want = np.array(want, result.dtype).reshape(result[i].shape)
        close(result[i], want, tolerance, f"sample {i}")


def test_c04_mean_over_an_empty_sample():
    x = batch([[1, 3], [], [5]])
    total, mean = run(lambda x: (nested.sum(x, axis=0), nested.mean(x, axis=0)), x)
    expect(total, [4, 0, 5])
    expect(mean, [2, 0, 5])
    expect(run(lambda x: nested.sum(x * 0 + 1, axis=0), x), [2, 0, 1])


def test_c07_padding_of_nothing():
    empty = nested.from_values(np.zeros((0, 2), "f4"), [0, 0, 0])
    assert empty.to_padded(fill=-1).shape == (3, 0, 2)
    padded = np.full((3, 2, 2), -1, "f4")
    back = nested.from_padded(padded, lengths=[0, 0, 0])
    assert back.values.shape == (0, 2) and back == empty
    none = nested.from_padded(np.zeros((0, 2, 2), "f4"), lengths=np.zeros(0, int))
    assert len(none) == 0 and none.to_padded().shape == (0, 0, 2)
    narrow = nested.from_padded(np.zeros((3, 2, 0), "f4"), lengths=[0, 2, 1])
    assert narrow.to_padded().shape == (3, 2, 0) and narrow.lengths.tolist() == [0, 2, 1]


def test_c08_no_samples():
    w, b = np.array([[1, 2], [3, 4], [5, 6]], "f4").T.copy(), np.ones(3, "f4")
    x = nested.from_list([], dims=("N", 2), dtype="f4")
    y, loss = run(lambda x, w, b: (x @ w + b, nested.batch.sum(x @ w + b, axis=None)), x, w, b)
    assert y.values.shape == (0, 3) and y.offsets.tolist() == [0]
    assert loss == 0
    with raises(nested.StructureError, "dims="):
        nested.from_list([])


def test_c10_max_of_an_empty_sample():
    x = batch([[2, 7], [], [-3]])
    expect(run(lambda x: nested.max(x, axis=0), x), [7, 0, -3])
    result = run(lambda x: nested.max(x, axis=0, empty="identity"), x)
    assert [result[i] for i in range(3)] == [7, -np.inf, -3]


def test_c12_softmax_is_shifted_by_each_samples_own_maximum():
    x = batch([[1000, 1001], [-1000, -1001, -1002], [88]])
    expect(
        run(lambda x: nested.softmax(x, axis=0), x),
        [[0.26894142137, 0.73105857863], [0.665240955775, 0.244728471055, 0.0900305731704], [1]],
    )


def test_c17_mean_of_narrow_integers():
    mean = nested.jit(lambda x: nested.mean(x, axis=0))
    narrow = mean(batch([[100, 100, 100], [-128, -128]], "i1"))
    expect(narrow, [100, -128])
    wide = mean(batch([[2147483647, 2147483647], [1]], "i4"))
    assert wide.dtype == np.float64
    expect(wide, [2147483647, 1], tolerance=0)


def test_c19_f32_products_are_f32():
    a, b = np.full((1, 4), 1.00048828125, "f4"), np.ones((4, 1), "f4")
    result = run(lambda a, b: a @ b, nested.from_list([a]), b)
    assert result.values.tolist() == [[4.001953125]]


def test_c20_masked_softmax_of_nothing_and_of_nan():
    def program(scores, mask):
        kept = np.where(mask, scores, -np.inf)
        largest = nested.max(kept, axis=0, keepdims=True)
        e = np.where(mask, np.exp(kept - np.where(largest == -np.inf, 0, largest)), 0)
        total = nested.sum(e, axis=0, keepdims=True)
        return np.where(total == 0, 0, e / total)

    scores = batch([[0, 0], [3, 4], [np.nan, 0], [0, 1, 500]])
    mask = batch([[1, 1], [0, 0], [1, 1], [1, 1, 0]], "?")
    result = run(program, scores, mask)
    expect(result, [[0.5, 0.5], [0, 0], [np.nan, np.nan], [0.26894142137, 0.73105857863, 0]])


def test_c24_slack_behind_the_last_sample_is_not_read():
    buffer = np.array([[1], [2], [3], [np.nan], [np.nan]], "f4")
    x = nested.from_values(buffer, offsets=[0, 2, 3])
    y, total = run(
        lambda x, w: (x @ w, nested.batch.sum(x @ w, axis=None)), x, np.array([[2]], "f4")
    )
    expect(y, [[2, 4], [6]])
    assert total == 12


def test_c25_statistics_of_real_rows_only():
    x = batch([[2, 4, 6], [8]])

    def statistics(x):
        mean = nested.batch.mean(x, axis=None)
        return mean, nested.batch.mean((x - mean) ** 2, axis=None)

    mean, variance = run(statistics, x)
    assert (mean, variance) == (5, 5)
    expect(run(lambda x: nested.mean(x, axis=0), x), [4, 8])
    expect(run(lambda x: nested.var(x, axis=0), x), [2.66666666667, 0])


def test_c29_a_view_of_samples_in_the_middle():
    buffer = np.array([9, 4, 1, 8, 2, 3, 7], "f4")
    view = nested.from_values(buffer, offsets=[1, 2, 4, 7])
    assert [s.tolist() for s in view] == [[4], [1, 8], [2, 3, 7]]
    total, largest, soft = run(
        lambda x: (nested.sum(x, axis=0), nested.max(x, axis=0), nested.softmax(x, axis=0)), view
    )
    expect(total, [4, 9, 12])
    expect(largest, [4, 8, 7])
    packed = run(lambda x: nested.softmax(x, axis=0), batch([[4], [1, 8], [2, 3, 7]]))
    same_bits(soft.values, packed.values)
    indices = nested.from_values(np.array([9, 0, 1, 1, 0, 1, 0]), offsets=[1, 2, 4, 7])
    table = np.array([10, 20], "f4")
    expect(run(lambda t, i: t[i], table, indices), [[10], [20, 20], [10, 20, 10]])
    lists = nested.from_values(np.array([9, 1, 6, 5, 2], "f4"), [[2, 2]], starts=[1], ragged=(0, 1))
    assert lists[0].tolist() == [[1, 6], [5, 2]]
    expect(run(lambda x: np.argmax(x, axis=0), lists), [[1, 0]])


@pytest.mark.parametrize(
    "starts, lengths, samples, totals",
    [([0, 3], [2, 1], [[1, 2], [8]], [3, 8]), ([1], [1], [[2]], [2]),
     ([0, 2], [2, 0], [[1, 2], []], [3, 0])],
)  # fmt: skip
def test_c30_gaps_are_not_seen(starts, lengths, samples, totals):
    dense = np.array([[1, 2], [4, 8]], "f4")
    x = nested.from_values(dense.reshape(-1), lengths, starts=starts)
    assert [s.tolist() for s in x] == samples
    expect(run(lambda x: nested.sum(x, axis=0), x), totals)
    assert run(lambda x: nested.batch.sum(x, axis=None), x) == sum(totals)


def test_c32_padded_input_may_be_transposed():
    padded = np.array([[1, 4], [2, 5], [3, 6]], "f4").T
    assert not padded.flags.c_contiguous
    x = nested.from_padded(padded, lengths=[2, 3])
    expect(run(lambda x: x * 1, x), [[1, 2], [4, 5, 6]])


def test_c35_one_row_per_sample_repeats():
    x = batch([[[1, 2], [3, 4]], [[5, 6]]])
    w = nested.from_list([np.array([[10]], "f4"), np.array([[100]], "f4")], ragged=())
    s = nested.from_list([np.array([[1, 10]], "f4"), np.array([[2, 20]], "f4")], ragged=())
    expect(run(lambda x, w: x * w, x, w), [[[10, 20], [30, 40]], [[500, 600]]])
    expect(run(lambda x, s: x + s, x, s), [[[2, 12], [4, 14]], [[7, 26]]])
    kernel = np.array([[[1, 1], [2, 3]]], "f4")
    expect(
        run(lambda x, k: x[:, None, :] * k, x, kernel),
        [[[[1, 2], [2, 6]], [[3, 4], [6, 12]]], [[[5, 6], [10, 18]]]],
    )


def test_c36_equal_lengths_are_enough_and_needed():
    a, same, other = batch([[1, 2], [3]]), batch([[1, 2], [3]]), batch([[1], [2, 3]])
    f = nested.jit(lambda a, b: a - b)
    expect(f(a, same), [[0, 0], [0]])
    with raises(nested.ArgumentError, "sample 0", "1 and 2"):
        f(a, other)


def test_c37_pairs():
    x = batch([[1, 2], [], [5]])
    pairs, row_sum, total = run(
        lambda x: (
            x[:, None] + 10 * x[None, :],
            nested.sum(x[:, None] + 10 * x[None, :], axis=1),
            nested.batch.sum(x[:, None] + 10 * x[None, :], axis=None),
        ),
        x,
    )
    assert pairs.values.tolist() == [11, 21, 12, 22, 55]
    assert pairs.offsets.tolist() == [0, 4, 4, 5]
    expect(row_sum, [[32, 34], [], [55]])
    assert total == 121


def test_c39_masks_are_over_ragged_axes():
    images = nested.from_list([np.zeros((3, 1, 2), "f4"), np.zeros((3, 2, 1), "f4")], ragged=(1, 2))
    assert images.mask.shape == (2, 2, 2)
    assert images.mask.astype(int).tolist() == [[[1, 1], [0, 0]], [[1, 0], [1, 0]]]


def test_c40_linear_with_bias():
    x = batch([[[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 10]]])
    w, b = np.array([[1, 0], [0, 1], [1, 1]], "f4").T.copy(), np.array([0, 0, 1], "f4")
    y, loss = run(lambda x, w, b: (x @ w + b, nested.batch.sum(x @ w + b, axis=None)), x, w, b)
    assert y[0][0].tolist() == [1, 2, 4]
    assert loss == 115


def test_c45_there_and_back_through_padding():
    x, pos = batch([[1, 2], [], [3, 4, 5]]), np.array([1, 10, 100], "f4")
    padded = x.to_padded(fill=7)
    assert padded.tolist() == [[1, 2, 7], [7, 7, 7], [3, 4, 5]]
    y = nested.from_padded(padded * pos, lengths=x.lengths)
    assert y.structure == x.structure
    expect(y, [[1, 20], [], [3, 40, 500]])
    assert run(lambda y: nested.batch.sum(y, axis=None), y) == 564

    def inside(x, pos, sizes=None):
        """The same in one program; the longest sample is known when it runs."""
        padded = nested.batch.to_padded(x, 7, sizes)
        return nested.batch.from_padded(
            padded * np.take(pos, nested.arange(padded.shape[0])), x.shape[0]
        )

    expect(run(inside, x, pos), [[1, 20], [], [3, 40, 500]])
    expect(run(lambda x, pos: inside(x, pos, 3), x, pos), [[1, 20], [], [3, 40, 500]])


def test_c51_slices_by_the_rules_of_python():
    x = batch([[1, 2, 3], [4], [], [5, 6]])
    first, rest, last = run(lambda x: (x[:2], x[1:], x[-2:]), x)
    expect(first, [[1, 2], [4], [], [5, 6]])
    expect(rest, [[2, 3], [], [], [6]])
    expect(last, [[2, 3], [4], [], [5, 6]])


def test_c54_indices_are_those_of_the_own_sample():
    x = batch([[1, 2, 3], [4, 5]])
    first, last = run(lambda x: (x[0], x[-1]), x)
    expect(first, [1, 4])
    expect(last, [3, 5])
    with raises(nested.ArgumentError, "sample 1", "2", "x[2]"):
        run(lambda x: x[2], x)
    with raises(nested.ArgumentError, "sample 1", "0", "x[-1]"):
        run(lambda x: x[-1], batch([[1], []]))


def test_c58_offsets_are_64_bits_wide():
    lengths = [1073741824] * 3
    x = nested.from_values(np.empty((sum(lengths), 0), "f4"), lengths)
    assert x.offsets.dtype == np.int64
    assert x.offsets.tolist() == [0, 1073741824, 2147483648, 3221225472]


def test_c61_many_samples():
    x = nested.from_values(np.arange(65537, dtype="f4"), np.ones(65537, int))
    sums = run(lambda x: nested.sum(x, axis=0), x)
    assert sums.values[-1] == 65536
    total = run(lambda x: nested.batch.sum(x.astype(np.float64), axis=None), x)
    assert total == 2147516416


def test_c62_the_longest_length_is_read_at_run_time():
    f = nested.jit(lambda x: x * nested.batch.max(nested.zeros(()) + x.shape[0]))
    expect(f(batch([[1], [1]])), [[1], [1]])
    expect(f(batch([[1, 1, 1], [1]])), [[3, 3, 3], [3]])
    assert f.compilations == 1


def test_c64_no_lengths_compile_again(rng):
    f = nested.jit(lambda x: nested.mean(x[:, None] * x[None, :], axis=1))
    sizes = [rng.integers(0, 65, b) for b in range(20)] + [np.full(7, 9), np.array([5])]
    for lengths in sizes:
        x = nested.from_list([np.ones(n, "f4") for n in lengths], dims=("N",), dtype="f4")
        result = f(x)
        assert result.lengths.tolist() == lengths.tolist()
        assert (result.values == 1).all()
    assert f.compilations == 1


@pytest.mark.parametrize("length", [1, 15, 16, 17, 31, 33, 63, 65, 127, 129])
def test_c66_no_read_behind_the_last_column(length):
    """NaN lies behind both operands."""
    x = np.full(3 * length + 64, np.nan, "f4")
    x[: 3 * length] = np.tile([1, 2, 3], length)
    w = np.full(64, np.nan, "f4")
    w[:3] = [1, 2, 3]
    rows = nested.from_values(x[: 3 * length].reshape(length, 3), [length])
    result = run(lambda x, w: x @ w, rows, w[:3].reshape(3, 1))
    assert (result.values == 14).all()


def test_c68_where_and_layer_norm():
    expect(run(lambda x: np.where(x > 0, 1, 0), batch([[-1, 2], [3], []])), [[0, 1], [1], []])
    x = batch([[[-1, 1], [2, 4]]])
    expect(run(lambda x: nested.layer_norm(x, eps=0), x), [[[-1, 1], [-1, 1]]])


@pytest.mark.parametrize(
    "offsets, message",
    [([0, 3, 2, 4], "offsets decrease: entry 1 is 3, 2 is 2"),
     ([0, 2, 5], "5"), ([0, -1, 4], "offset 1 is negative: -1"), ([2, 2], None), ([1, 4], None),
     ([], "B + 1 entries")],
)  # fmt: skip
def test_c69_corrupt_offsets(offsets, message):
    """Offsets that begin behind 0, or leave rows over, are views; the rest is refused."""
    rows = np.arange(4, dtype="f4")
    if message is None:
        x = nested.from_values(rows, offsets=offsets)
        expect(run(lambda x: x * 1, x), [rows[a:b] for a, b in zip(offsets, offsets[1:])])
        return
    with raises(nested.StructureError, message, line="nested.from_values"):
        nested.from_values(rows, offsets=offsets)


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_c71_offsets_of_either_width(dtype):
    x = nested.from_values(np.array([1, 2, 3], "f4"), offsets=np.array([0, 2, 3], dtype))
    expect(run(lambda x: nested.sum(x, axis=0), x), [3, 3])


class Elsewhere:
    """Memory of another device, as DLPack says it."""

    def __dlpack_device__(self):
        return 2, 1


def test_c71_values_and_offsets_on_different_devices():
    words = "device CUDA 1", "programs run on the CPU", "copy it to the host first"
    x, offsets = np.array([1, 2, 3], "f4"), np.array([0, 2, 3])
    for values, places in ((x, Elsewhere()), (Elsewhere(), offsets)):
        with raises(nested.ArgumentError, *words, line="offsets=places"):
            nested.from_values(values, offsets=places)
    with raises(nested.ArgumentError, *words, line="lengths=Elsewhere()"):
        nested.from_values(x, lengths=Elsewhere())


def test_c14_sums_of_bf16_do_not_stick():
    x = nested.from_values(np.ones(515, ml_dtypes.bfloat16), [512, 3])
    total, mean, soft = run(
        lambda x: (nested.sum(x, axis=0), nested.mean(x, axis=0), nested.softmax(x, axis=0)), x
    )
    assert [float(v) for v in total.values] == [512, 3] and [float(v) for v in mean.values] == [
        1,
        1,
    ]
    assert set(soft[0].astype("f8")) == {0.001953125} and set(soft[1].astype("f8")) == {0.333984375}
    assert total.dtype == mean.dtype == soft.dtype == x.dtype


def test_c15_means_of_f16_do_not_overflow():
    x = nested.from_values(np.array([60000] * 4 + [1, 3], "f2"), [4, 2])
    mean = run(lambda x: nested.mean(x, axis=0), x)
    assert mean.dtype == np.float16 and mean.values.tolist() == [60000, 2]
    wide = nested.from_list([np.array([[60000, 60000, 60000, 59968]], "f2")])
    normed = run(lambda x: nested.layer_norm(x, eps=0), wide)
    close(normed[0].astype("f8"), np.array([[1, 1, 1, -3]]) / np.sqrt(3), 2e-3)


def test_c23_convolution_does_not_read_the_sample_before():
    x = batch([[1, 2], [3], [4, 5]])
    expect(run(lambda x: x + 10 * np.pad(x, (1, 0))[:-1], x), [[1, 12], [3], [4, 45]])


def test_c51_backwards_and_by_a_length_of_the_sample():
    x, count = batch([[1, 2, 3], [4], [], [5, 6]]), batch([2, 1, 0, 1], "i8", ragged=())
    expect(run(lambda x: x[::-1], x), [[3, 2, 1], [4], [], [6, 5]])
    expect(run(lambda x, n: x[nested.arange(x.shape[0]) < n], x, count), [[1, 2], [4], [], [5]])
    own = run(lambda x, n: x[: nested.as_dim(n, at_most=x.shape[0])], x, count)
    expect(own, [[1, 2], [4], [], [5]])
    assert own.lengths.tolist() == [2, 1, 0, 1]


def test_c52_rows_in_front_of_samples():
    cls, x = batch([[100], [200], [300]]), batch([[1, 2], [], [3]])
    y = run(lambda c, x: np.concatenate([c, x]), cls, x)
    expect(y, [[100, 1, 2], [200], [300, 3]])
    assert y.lengths.tolist() == [3, 1, 2]
    nothing = batch([[], [], []])
    expect(run(lambda a, b: np.concatenate([a, b]), nothing, nothing), [[], [], []])
    narrow = [nested.from_list([np.zeros((n, 0), "f4")]) for n in (5, 8)]
    assert run(lambda a, b: np.concatenate([a, b]), *narrow)[0].shape == (13, 0)


def test_c55_indices_into_the_own_sample():
    params = batch([[10, 20], [30, 40, 50], [60]])
    idx = batch([[1], [2, 0, 2], []], "i8")
    y = run(lambda p, i: p[i], params, idx)
    expect(y, [[20], [50, 30, 50], []])
    back = run(lambda p, i, y: nested.scatter(np.zeros_like(p), i, y, "add"), params, idx, y)
    expect(back, [[0, 20], [30, 0, 100], [0]])


def test_c75_convolution_of_images_of_different_sizes():
    images = nested.from_list(
        [np.array([[1, 2, 3], [4, 5, 6]], "f4"), np.array([[7]], "f4"), np.ones((2, 2), "f4"),
         np.zeros((0, 0), "f4")], ragged=(0, 1))  # fmt: skip

    def conv(x):
        padded = np.pad(x, 1)
        height, width = x.shape
        return sum(padded[i : i + height, j : j + width] for i in range(3) for j in range(3))

    expect(
        run(conv, images), [[[12, 21, 16], [12, 21, 16]], [[7]], [[4, 4], [4, 4]], np.zeros((0, 0))]
    )
