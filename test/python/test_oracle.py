# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each program, compiled once: equal to the reference interpreter for any batch, and every sample
bitwise the same wherever it stands."""

import functools

import numpy as np
import oracle_programs_attention  # noqa: F401
import oracle_programs_contract  # noqa: F401
import oracle_programs_move  # noqa: F401
import oracle_programs_order  # noqa: F401
import pytest
from oracle import Program, agree, close, same_bits
from oracle_suite import CASES

NAMES = [c.name for c in CASES]


def batches(long):
    """Lengths of batches of 0, 1, 3, 8 and 500 samples; `long` stands for one long sample."""
    rng = np.random.default_rng(500)
    many = rng.integers(0, 4, 500)
    many[123] = long
    return {
        "no samples": [], "one empty": [0], "one of length 1": [1], "one long": [long],
        "all empty": [0, 0, 0], "equal": [7, 7, 7], "different": [17, 0, 23],
        "one long among short": [1, 0, 2, long, 1, 1, 0, 3], "500 samples": many.tolist(),
        "around tiles": [47, 48, 49, 0, 1, 97],
    }  # fmt: skip


BATCHES = list(batches(0))


@functools.cache
def program(case):
    return Program(case.text)


def arguments(case, batch, seed=11):
    return case.args(np.random.default_rng(seed), batches(case.long)[batch])


def chosen(case, args, samples):
    """The arguments of some samples only."""
    layouts = program(case).args
    return [a if layout.dense else [a[i] for i in samples] for a, layout in zip(args, layouts)]


def flat(results):
    """Instances of all results by sample: of a path [B, S] all those of one sample."""
    out = []
    for result in results:
        samples, begin = result.samples, 0
        if result.path_lengths:
            grouped = []
            for n in result.path_lengths[0]:
                grouped.append(samples[begin : begin + n])
                begin += n
            samples = grouped
        else:
            samples = [[s] for s in samples]
        out.append(samples)
    return out


def same_samples(got, want, where, what):
    """Sample i of `got` is sample where[i] of `want`, bit for bit."""
    for k, (a, b) in enumerate(zip(flat(got), flat(want))):
        assert len(a) == len(where), f"{what}, result {k}"
        for i, j in enumerate(where):
            assert len(a[i]) == len(b[j])
            for left, right in zip(a[i], b[j]):
                same_bits(left, right, f"{what}, result {k}, sample {j}")


@pytest.fixture(params=CASES, ids=NAMES)
def case(request):
    return request.param


@pytest.mark.parametrize("batch", BATCHES)
def test_agrees_with_the_interpreter(case, batch):
    args = arguments(case, batch)
    compiled = program(case).run(args, threads=2)
    agree(compiled, program(case).interpret(args), batch)


@pytest.mark.parametrize("case", [c for c in CASES if c.numpy], ids=lambda c: c.name)
def test_agrees_with_numpy(case):
    args = arguments(case, "one long among short")
    layouts = program(case).args
    results = [result.samples for result in program(case).run(args)]
    for i in range(len(results[0])):
        sample = [a if layout.dense else a[i] for a, layout in zip(args, layouts)]
        wide = [np.asarray(a, "f8") if np.asarray(a).dtype.kind == "f" else a for a in sample]
        with np.errstate(all="ignore"):
            expected = case.numpy(*wide)
        expected = expected if isinstance(expected, (tuple, list)) else [expected]
        assert len(expected) == len(results)
        for k, want in enumerate(expected):
            close(results[k][i], want, f"result {k}, sample {i}")


def test_agrees_without_fusion(case):
    """One kernel for each operation: more temporaries, other iteration spaces."""
    args = case.args(np.random.default_rng(2), [17, 0, 1, 49, 3])
    apart = Program(case.text, fuse=1)
    launches = [s["op"] == "launch" for s in apart.info["steps"]]
    assert sum(launches) >= sum(s["op"] == "launch" for s in program(case).info["steps"])
    agree(apart.run(args, 2), apart.interpret(args))


@pytest.mark.parametrize("batch", ["one long among short", "500 samples"])
def test_bits_at_one_and_two_threads(case, batch):
    args = arguments(case, batch)
    one, two = (program(case).run(args, threads=n) for n in (1, 2))
    for a, b in zip(one, two):
        same_bits(a.values, b.values)


@pytest.mark.parametrize("case", [c for c in CASES if not c.batch], ids=lambda c: c.name)
@pytest.mark.parametrize("batch", ["one long among short", "500 samples"])
def test_bits_alone_and_in_any_order(case, batch):
    """R8."""
    args = arguments(case, batch)
    count = len(batches(case.long)[batch])
    together = program(case).run(args)
    order = np.random.default_rng(8).permutation(count)
    same_samples(
        program(case).run(chosen(case, args, order), 2), together, order, "in another order"
    )
    alone = range(count) if count < 10 else [0, 122, 123, 124, 499]
    for i in alone:
        same_samples(program(case).run(chosen(case, args, [i])), together, [i], "alone")


@pytest.mark.parametrize("batch", ["one long among short", "all empty", "500 samples"])
def test_views_with_gaps(case, batch):
    """R4: samples begin anywhere, in memory full of NaN."""
    args = arguments(case, batch)
    packed = program(case).run(args)
    for threads in (1, 2):
        view = program(case).run(args, threads, gaps=np.random.default_rng(3))
        for a, b in zip(view, packed):
            same_bits(a.values, b.values)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.bad_values and not c.batch], ids=lambda c: c.name
)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_bad_values_stay_in_their_sample(case, value):
    """R4: the samples before and behind are the same to the bit."""
    lengths = [5, 2, 60, 1, 3]
    args = case.args(np.random.default_rng(4), lengths)
    clean = program(case).run(args)
    for victim in (2, 3):
        spoilt = []
        for a, layout in zip(args, program(case).args):
            spoiled = list(a) if not layout.dense else a
            if not layout.dense and layout.dtype.kind == "f" and not layout.path[1:]:
                spoiled[victim] = np.full_like(a[victim], value)
            spoilt.append(spoiled)
        others = [i for i in range(len(lengths)) if i != victim]
        results = flat(program(case).run(spoilt, threads=2))
        for k, (got, want) in enumerate(zip(results, flat(clean))):
            for i in others:
                for left, right in zip(got[i], want[i]):
                    same_bits(left, right, f"result {k}, sample {i}")


@pytest.mark.parametrize(
    "name", ["map_select", "long_groups", "reduce_ragged_f64", "reduce_batch", "batch_statistics",
             "masked_select", "nest", "select_twice", "weight_gradient"],
)  # fmt: skip
def test_around_chunks_of_rows(name):
    """4096 rows are what one thread adds up; also of samples that begin anywhere."""
    case = next(c for c in CASES if c.name == name)
    args = case.args(np.random.default_rng(9), [4095, 4096, 4097, 8192, 1, 0, 12289])
    one, two = (program(case).run(args, threads=n) for n in (1, 2))
    view = program(case).run(args, 2, gaps=np.random.default_rng(3))
    agree(one, program(case).interpret(args))
    for a, b, c in zip(one, two, view):
        same_bits(a.values, b.values)
        same_bits(a.values, c.values)


def test_dense_program():
    """No argument is ragged; 101 rows are no multiple of a tile."""
    dense = Program("""func.func @f(%x: tensor<101x8xf32>, %w: tensor<8x5xf32>) -> (tensor<101x5xf32>, tensor<5xf32>, tensor<8x101xf32>) {
  %y = ragged.linear %x, %w : tensor<101x8xf32>, tensor<8x5xf32> -> tensor<101x5xf32>
  %s = ragged.reduce sum %y dims [0] : tensor<101x5xf32> -> tensor<5xf32>
  %t = ragged.transpose %x permutation [1, 0] : tensor<101x8xf32> -> tensor<8x101xf32>
  return %y, %s, %t : tensor<101x5xf32>, tensor<5xf32>, tensor<8x101xf32> }""")
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((101, 8)).astype("f4"), rng.standard_normal((8, 5)).astype("f4")
    results = dense.run([x, w], threads=2)
    agree(results, dense.interpret([x, w]))
    close(results[0].values, x.astype("f8") @ w)
    close(results[2].values, x.T)


def test_two_threads_share_the_work():
    """What the tests above say of two threads is worth something only when both work."""
    case = next(c for c in CASES if c.name == "block")
    _, steps = program(case).plan_info(arguments(case, "one long"), threads=2)
    assert max(step.grains for step in steps) > 1
