# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random programs found, by hand and small."""

import numpy as np
import pytest
from oracle import Program, RunError, agree
from oracle_programs import ragged_types


def checked(text, args):
    program = Program(ragged_types(text))
    results = program.run(args, threads=2)
    agree(results, program.interpret(args))
    return [r.samples for r in results]


LENGTHS = [3, 0, 50]
X = [np.arange(n, dtype="f4") for n in LENGTHS]


def test_sum_over_a_dim_that_only_a_constant_has():
    """No operand of the kernel said how long it is."""
    (sums,) = checked("""func.func @f(%x: <N>) -> <N> {
  %c = ragged.fill -2.25 : f32 -> <N, 8>
  %s = ragged.reduce sum %c dims [1] : <N, 8> -> <N>
  return %s : <N> }""", [X])  # fmt: skip
    assert sums[0].tolist() == [-18.0] * 3


def test_sum_over_a_repeated_dim():
    for dims, extents in (([1], "N, 8"), ([0], "8, N")):
        kept = 1 - dims[0]
        (sums, most) = checked(f"""func.func @f(%x: <N>) -> (<N>, <>) {{
  %c = ragged.broadcast %x dims [{kept}] : <N> -> <{extents}>
  %s = ragged.reduce sum %c dims {dims} : <{extents}> -> <N>
  %m = ragged.reduce prod %c dims [0, 1] : <{extents}> -> <>
  return %s, %m : <N>, <> }}""", [X])  # fmt: skip
        assert sums[0].tolist() == [0, 8, 16] and most[1] == 1


def test_symbol_of_a_selection_that_nothing_reads():
    """The op that binds K has no user, but types name K."""
    masks = [np.arange(n) % 2 == 0 for n in LENGTHS]
    (counted,) = checked("""func.func @f(%x: <N>, %m: <N; i1>) -> <K; i64> {
  %y = ragged.masked_select %x, %m : <N>, <N; i1> -> <K>
  %i = ragged.iota dim 0 : <K; i64>
  return %i : <K; i64> }""", [X, masks])  # fmt: skip
    assert [len(c) for c in counted] == [2, 0, 25]


def test_symbol_of_groups_that_nothing_reads():
    counts = [np.array([1, 2]), np.array([], int), np.array([50])]
    (counted,) = checked("""func.func @f(%x: <N>, %n: <S; i64>) -> <T; i64; path = [B, S]> {
  %y = ragged.nest %x, %n : <N>, <S; i64> -> <T; f32; path = [B, S]>
  %i = ragged.iota dim 0 : <T; i64; path = [B, S]>
  return %i : <T; i64; path = [B, S]> }""", [X, counts])  # fmt: skip
    assert [len(c) for c in counted] == [1, 2, 50]


def test_part_of_a_gather():
    """Of the table's columns, and with a dim in front of those that choose rows."""
    rng = np.random.default_rng(1)
    table = rng.standard_normal((5, 6)).astype("f4")
    index = [rng.integers(0, 5, (n, 2)) for n in LENGTHS]
    part, wide = checked("""func.func @f(%t: tensor<5x6xf32>, %i: <N, 2; i64>) -> (<N, 2, 3>, <N, 4, 2, 6>) {
  %g = ragged.gather %t, %i : tensor<5x6xf32>, <N, 2; i64> -> <N, 2, 6>
  %y = ragged.slice %g dim 2 start <:2> size <:3> : <N, 2, 6> -> <N, 2, 3>
  %z = ragged.broadcast %g dims [0, 2, 3] : <N, 2, 6> -> <N, 4, 2, 6>
  return %y, %z : <N, 2, 3>, <N, 4, 2, 6> }""", [table, index])  # fmt: skip
    np.testing.assert_array_equal(part[2], table[index[2]][:, :, 2:5])
    np.testing.assert_array_equal(wide[0], np.repeat(table[index[0]][:, None], 4, 1))


def test_indices_that_are_sliced_away_are_checked():
    text = """func.func @f(%t: tensor<5xf32>, %i: <N, 8; i64>) -> <N, 3> {
  %g = ragged.gather %t, %i : tensor<5xf32>, <N, 8; i64> -> <N, 8>
  %y = ragged.slice %g dim 1 start <:5> size <:3> : <N, 8> -> <N, 3>
  return %y : <N, 3> }"""
    program, index = Program(ragged_types(text)), np.zeros((4, 8), int)
    index[1, 2] = 5
    for run in (program.run, program.interpret):
        with pytest.raises(RunError, match="index 5 is out of range"):
            run([np.zeros(5), [index]])


NESTED = [[[1, -2, 3], [], [0.5]], [], [[4]], [[], []]]
GROUPS = [[np.array(own, "f4") for own in sample] for sample in NESTED]


def over_members(combiner, init, dtype="f32", inputs="%x", types="<T; f32; path = [B, S]>",
                 maps="(a) -> (a)", element="", args=""):  # fmt: skip
    """A reduction over the last component of [B, S] that starts from `init`."""
    scalars = ", ".join(f"%i{k}: f32" for k in range(len(inputs.split(", "))))
    maps = ", ".join(f"affine_map<{m}>" for m in (*maps.split("; "), "(a) -> ()"))
    return f"""func.func @f(%x: <T; f32; path = [B, S]>{args}) -> <; {dtype}> {{
  {init}
  %y = ragged.generic dims [T] iterators ["reduction"] path [B, S] maps [{maps}] batch_reduced
      ins({inputs} : {types}) outs(%z : <; {dtype}>) {{
  ^bb0({scalars}, %s: {dtype}):
    {element}
    %q = {combiner} : {dtype}
    ragged.yield %q : {dtype} }} -> <; {dtype}>
  return %y : <; {dtype}> }}"""


def test_sum_over_the_members_of_a_sample():
    (sums,) = checked(over_members("arith.addf %s, %i0", "%z = ragged.fill 0.5 : f32 -> <>"),
                      [GROUPS])  # fmt: skip
    np.testing.assert_allclose(sums, [3, 0.5, 4.5, 0.5])


def test_product_over_members_with_a_number_of_the_sample_and_one_of_the_member():
    """Inputs over each prefix of the path; it starts from a number of each sample."""
    start, scale = np.array([1, 2, 3, 4], "f4"), [[1, 2, 4], [], [8], [1, 1]]
    (out,) = checked(
        over_members(
            "arith.mulf %p, %s", "", inputs="%x, %z, %m",
            types="<T; f32; path = [B, S]>, <>, <; f32; path = [B, S]>",
            maps="(a) -> (a); (a) -> (); (a) -> ()", args=", %z: <>, %m: <; f32; path = [B, S]>",
            element="%o = arith.addf %i0, %i1 : f32\n    %p = arith.mulf %o, %i2 : f32"),
        [GROUPS, start, scale])  # fmt: skip
    want = start.astype("f8")
    for i, sample in enumerate(NESTED):
        for member, factor in zip(sample, scale[i]):
            want[i] *= np.prod([(v + start[i]) * factor for v in member])
    np.testing.assert_allclose(out, want, rtol=1e-6)


def test_largest_over_members_keeps_dims_that_all_share():
    """A dim of the sample and a static one, in another order; integers, from their init."""
    rng = np.random.default_rng(3)
    sizes = [(2, 3), (0, 2), (4, 0)]  # rows of the sample, members
    x = [[rng.integers(-9, 9, (n, 2)) for _ in range(s)] for n, s in sizes]
    init = [rng.integers(-9, 9, (2, n)) for n, _ in sizes]
    (most,) = checked("""func.func @f(%r: <N>, %x: <N, 2; i64; path = [B, S]>, %z: <2, N; i64>) -> <2, N; i64> {
  %y = ragged.generic dims [N, 2] iterators ["parallel", "parallel"] path [B, S]
      maps [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (c, n)>] batch_reduced
      ins(%x : <N, 2; i64; path = [B, S]>) outs(%z : <2, N; i64>) {
  ^bb0(%a: i64, %s: i64):
    %q = arith.maxsi %s, %a : i64
    ragged.yield %q : i64 } -> <2, N; i64>
  return %y : <2, N; i64> }""", [[np.zeros(n) for n, _ in sizes], x, init])  # fmt: skip
    for i, got in enumerate(most):
        np.testing.assert_array_equal(got, np.max([init[i], *[m.T for m in x[i]]], axis=0))


def test_several_outputs_over_members():
    text = """func.func @f(%x: <T; f32; path = [B, S]>) -> (<>, <; i64>) {
  %z = ragged.fill 0.0 : f32 -> <>
  %n = ragged.fill 0 : i64 -> <; i64>
  %y, %c = ragged.generic dims [T] iterators ["reduction"] path [B, S]
      maps [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> ()>] batch_reduced
      ins(%x : <T; f32; path = [B, S]>) outs(%z, %n : <>, <; i64>) {
  ^bb0(%a: f32, %s: f32, %k: i64):
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %a, %zero : f32
    %one = arith.extui %positive : i1 to i64
    %part = arith.select %positive, %a, %zero : f32
    %q = arith.addf %s, %part : f32
    %r = arith.addi %one, %k : i64
    ragged.yield %q, %r : f32, i64 } -> <>, <; i64>
  return %y, %c : <>, <; i64> }"""
    sums, counts = checked(text, [GROUPS])
    np.testing.assert_array_equal(sums, [4.5, 0, 4, 0])
    np.testing.assert_array_equal(counts, [3, 0, 1, 0])
    single = text.replace(" batch_reduced", "").replace("; path = [B, S]", "")
    sums, counts = checked(
        single.replace("[B, S]", "[B]").replace("[T]", "[N]").replace("<T", "<N"), [X]
    )
    np.testing.assert_array_equal(sums, [v.sum() for v in X])
    np.testing.assert_array_equal(counts, [(v > 0).sum() for v in X])


def test_reductions_over_members_that_are_none():
    fill = "%z = ragged.fill 0.0 : f32 -> <>"
    for combiner, message in (
        ("arith.subf %s, %i0", "with a neutral element, but got 'arith.subf'"),
        ("arith.addf %s, %s", "combined with one value by one op with a neutral element"),
    ):
        with pytest.raises(
            AssertionError, match=r"last component of the path \[B, S\] into output 0"
        ) as e:
            Program(ragged_types(over_members(combiner, fill)))
        assert message in str(e.value)


def test_gradient_of_a_sum_over_members():
    """Every row of a member reads the gradient of its sample."""
    text = over_members("arith.addf %s, %p", "%z = ragged.fill 0.0 : f32 -> <>",
                        inputs="%v", element="%p = arith.mulf %i0, %i0 : f32")  # fmt: skip
    text = text.replace(
        "-> <; f32> {\n",
        "-> <T; f32; path = [B, S]> {\n  %v = ragged.variable %x : <T; f32; path = [B, S]>\n",
    )
    text = text.replace(
        "  return %y : <; f32>",
        """  %l = ragged.reduce sum %y dims [] batch : <> -> tensor<f32>
  %g = ragged.gradient of(%l : tensor<f32>) wrt(%v : <T; f32; path = [B, S]>) -> <T; f32; path = [B, S]>
  return %g : <T; f32; path = [B, S]>""",
    )
    (gradient,) = Program(ragged_types(text)).run([GROUPS])
    np.testing.assert_allclose(gradient.values, 2 * np.concatenate(sum(GROUPS, [])))


def test_number_of_the_batch_in_each_sample():
    """A copy for each sample is not part of the reduction over the batch."""
    (least,) = checked("""func.func @f(%x: <N>) -> <> {
  %m = ragged.reduce min %x dims [0] batch : <N> -> tensor<f32>
  %y = ragged.broadcast %m dims [] : tensor<f32> -> <>
  return %y : <> }""", [X])  # fmt: skip
    assert [s.tolist() for s in least] == [0, 0, 0]


def test_number_of_a_sample_in_each_of_its_parts():
    (least,) = checked("""func.func @f(%x: <N>, %y: <; f32; path = [B, S]>) -> <; f32; path = [B, S]> {
  %m = ragged.reduce max %x dims [0] : <N> -> <>
  %z = ragged.broadcast %m dims [] : <> -> <; f32; path = [B, S]>
  return %z : <; f32; path = [B, S]> }""", [X, [[0, 0], [0], []]])  # fmt: skip
    assert [float(s) for s in least] == [2, 2, 0]


def test_sum_of_what_is_done_where_a_fold_ends():
    """It starts from a constant, which is another one's by the time that it is read."""
    nested = [[np.arange(n, dtype="f4") for n in own] for own in ([3, 0], [], [2])]
    (sums,) = checked("""func.func @f(%x: <T; f32; path = [B, S]>) -> <> {
  %s = ragged.reduce sum %x dims [0] : <T; f32; path = [B, S]> -> <; f32; path = [B, S]>
  %m = ragged.map ins(%s : <; f32; path = [B, S]>) {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    ragged.yield %b : f32
  } -> <; f32; path = [B, S]>
  %r = ragged.reduce sum %m dims [] batch : <; f32; path = [B, S]> -> <>
  return %r : <> }""", [nested])  # fmt: skip
    assert [float(s) for s in sums] == [9, 0, 1]


def test_sum_of_rows_of_a_table_at_an_index_of_one_column():
    """The second dim of the index is read at a constant."""
    x = [np.array([[1], [0], [2]]), np.zeros((0, 1), int), np.array([[7]])]
    table = np.arange(8, dtype="f4").reshape(8, 1) + 1
    (out,) = checked("""func.func @f(%x: <N, 1; i64>, %t: tensor<8x1xf32>) -> <8> {
  %v = ragged.gather %t, %x : tensor<8x1xf32>, <N, 1; i64> -> <N, 1, 1>
  %y = ragged.contract "nmk,ak->a" %v, %t : <N, 1, 1>, tensor<8x1xf32> -> <8>
  return %y : <8> }""", [x, table])  # fmt: skip
    assert [s[0] for s in out] == [2 + 1 + 3, 0, 8]


def test_halves_times_what_was_summed_in_f32():
    """The sum over n and m is a value of f32, the other operand is not."""
    rng = np.random.default_rng(7)
    x = [rng.standard_normal((n, n, 8)) for n in (3, 0, 2)]
    for dtype in ("bf16", "f16"):
        (out,) = checked(f"""func.func @f(%x: <N, N, 8; {dtype}>, %w: tensor<17x8x{dtype}>) -> <17; {dtype}> {{
  %y = ragged.contract "nmk,ak->a" %x, %w : <N, N, 8; {dtype}>, tensor<17x8x{dtype}> -> <17; {dtype}>
  return %y : <17; {dtype}> }}""", [x, rng.standard_normal((17, 8))])  # fmt: skip
        assert out[0].any() and not out[1].any()
