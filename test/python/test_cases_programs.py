# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports from the field that need more than Python reaches today: programs as MLIR."""

import numpy as np
from oracle import Program, View
from oracle_programs import ragged_types


def program(text):
    return Program(ragged_types(text))


def test_c06_inner_reduction_keeps_empty_lists():
    f = program("""func.func @f(%x: <T; f32; path = [B, S]>) -> (<S>, <S; i64>) {
  %s = ragged.reduce sum %x dims [0] : <T; f32; path = [B, S]> -> <; f32; path = [B, S]>
  %u = ragged.unnest %s : <; f32; path = [B, S]> -> <S>
  %a = ragged.reduce argmax %x dims [0] : <T; f32; path = [B, S]> -> <; i64; path = [B, S]>
  %i = ragged.unnest %a : <; i64; path = [B, S]> -> <S; i64>
  return %u, %i : <S>, <S; i64> }""")
    x = [[], [[1, 2, 3]], [], [[4], [5, 6]], []]
    sums, places = f.run([x])
    assert [s.tolist() for s in sums.samples] == [[], [6], [], [4, 11], []]
    assert [s.tolist() for s in places.samples] == [[], [2], [], [0, 1], []]


def test_c11_outputs_are_written_even_when_there_is_nothing():
    """Results are memory of the caller, full of other numbers."""
    f = program("""func.func @f(%x: <N>) -> <> {
  %s = ragged.reduce sum %x dims [0] : <N> -> <>
  return %s : <> }""")
    (result,) = f.run([[[], []]])
    assert result.values.tolist() == [0, 0]


def test_c59_addresses_are_64_bits_wide():
    """Row 2097152 of 1024 bytes begins at byte 2^31. Only that row is ever touched."""
    f = program("""func.func @f(%x: <N, 1024; i8>) -> <N, 1024; i8> {
  %y = ragged.map ins(%x : <N, 1024; i8>) {
  ^bb0(%a: i8):
    %c = arith.constant 1 : i8
    %b = arith.addi %a, %c : i8
    ragged.yield %b : i8 } -> <N, 1024; i8>
  return %y : <N, 1024; i8> }""")
    row = 2097152
    memory = np.zeros((row + 1, 1024), np.int8)
    memory[row] = row % 101
    assert memory[row, 0] == 89
    (result,) = f.run([View(memory, [[1]], [row])])
    assert (result.values == 90).all() and result.values.shape == (1, 1024)


def test_c72_triangle_multiplication():
    text = """func.func @f(%a: <N, N>, %b: <N, N>) -> <N, N> {
  %z = ragged.fill 0.0 : f32 -> <N, N>
  %o = ragged.generic dims [N, N, N] iterators ["parallel", "parallel", "reduction"] path [B]
      maps [affine_map<(i, j, k) -> (OUT)>, affine_map<(i, j, k) -> (IN)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : <N, N>, <N, N>) outs(%z : <N, N>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %s, %p : f32
    ragged.yield %q : f32 } -> <N, N>
  return %o : <N, N> }"""
    a, b = [[[1, 2], [3, 4]], [[5]]], [[[1, 0], [2, 1]], [[2]]]
    outgoing = program(text.replace("OUT", "i, k").replace("IN", "j, k"))
    incoming = program(text.replace("OUT", "k, i").replace("IN", "k, j"))
    assert [s.tolist() for s in outgoing.run([a, b])[0].samples] == [[[1, 4], [3, 10]], [[10]]]
    assert [s.tolist() for s in incoming.run([a, b])[0].samples] == [[[7, 3], [10, 4]], [[10]]]
