# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of ops that follow the order of a dim: running reductions, scans."""

import numpy as np
from oracle_programs import case, rectangles, rows, together
from oracle_programs_more import documents


def running(kind, x, axis, reverse=False, exclusive=False):
    """A running reduction in f64, index by index."""
    x = np.moveaxis(np.asarray(x), axis, 0)
    y = np.empty_like(x)
    for k in range(len(x)):
        part = x[k + exclusive :] if reverse else x[: k + 1 - exclusive]
        if kind == "logsumexp":
            y[k] = np.logaddexp.reduce(part, 0, initial=-np.inf)
        else:
            first = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}[kind]
            y[k] = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[
                kind].reduce(part, 0, initial=first)  # fmt: skip
    return np.moveaxis(y, 0, axis)


case("accumulate_sum", """func.func @f(%x: <N, 40>) -> (<N, 40>, <N, 40>, <N, 40>, <N, 40>) {
  %a = ragged.accumulate sum %x dim 0 : <N, 40>
  %b = ragged.accumulate sum %x dim 0 reverse : <N, 40>
  %c = ragged.accumulate sum %x dim 0 reverse exclusive : <N, 40>
  %d = ragged.accumulate sum %x dim 1 exclusive : <N, 40>
  return %a, %b, %c, %d : <N, 40>, <N, 40>, <N, 40>, <N, 40> }""", together(rows(40)),
     lambda x: (running("sum", x, 0), running("sum", x, 0, True), running("sum", x, 0, True, True),
                running("sum", x, 1, False, True)))  # fmt: skip

case("accumulate_extremes", """func.func @f(%x: <N>, %y: <N, 3; f64>) -> (<N>, <N>, <N, 3; f64>, <N, 3; f64>) {
  %a = ragged.accumulate max %x dim 0 : <N>
  %b = ragged.accumulate min %x dim 0 reverse exclusive : <N>
  %c = ragged.accumulate min %y dim 1 : <N, 3; f64>
  %d = ragged.accumulate prod %y dim 0 reverse : <N, 3; f64>
  return %a, %b, %c, %d : <N>, <N>, <N, 3; f64>, <N, 3; f64> }""",
     together(rows(), rows(3, dtype="f8")),
     lambda x, y: (running("max", x, 0), running("min", x, 0, True, True), running("min", y, 1),
                   running("prod", y, 0, True)))  # fmt: skip

case("accumulate_logsumexp", """func.func @f(%x: <N, 5>, %y: <N; f64>) -> (<N, 5>, <N, 5>, <N; f64>) {
  %a = ragged.accumulate logsumexp %x dim 0 : <N, 5>
  %b = ragged.accumulate logsumexp %x dim 1 reverse exclusive : <N, 5>
  %c = ragged.accumulate logsumexp %y dim 0 reverse : <N; f64>
  return %a, %b, %c : <N, 5>, <N, 5>, <N; f64> }""", together(rows(5), rows(dtype="f8")),
     lambda x, y: (running("logsumexp", x, 0), running("logsumexp", x, 1, True, True),
                   running("logsumexp", y, 0, True)))  # fmt: skip

case("accumulate_integers", """func.func @f(%x: <N, 33; i64>, %y: <N; i8>, %z: <N, 2; i1>)
    -> (<N, 33; i64>, <N; i8>, <N; i8>, <N, 2; i1>, <N, 2; i1>) {
  %a = ragged.accumulate sum %x dim 0 : <N, 33; i64>
  %b = ragged.accumulate prod %y dim 0 : <N; i8>
  %c = ragged.accumulate max %y dim 0 exclusive : <N; i8>
  %d = ragged.accumulate max %z dim 0 : <N, 2; i1>
  %e = ragged.accumulate min %z dim 0 reverse exclusive : <N, 2; i1>
  return %a, %b, %c, %d, %e : <N, 33; i64>, <N; i8>, <N; i8>, <N, 2; i1>, <N, 2; i1> }""",
     lambda rng, lengths: [[rng.integers(-9, 9, (n, 33)) for n in lengths],
                           [rng.integers(-9, 9, n).astype("i1") for n in lengths],
                           [rng.integers(0, 2, (n, 2)).astype(bool) for n in lengths]])  # fmt: skip

# Dims before and behind the one that is scanned, ragged and static.
case("accumulate_rectangles", """func.func @f(%p: <N, M, 3>) -> (<N, M, 3>, <N, M, 3>, <N, M, 3>) {
  %a = ragged.accumulate sum %p dim 0 : <N, M, 3>
  %b = ragged.accumulate max %p dim 1 reverse : <N, M, 3>
  %c = ragged.accumulate sum %p dim 2 : <N, M, 3>
  return %a, %b, %c : <N, M, 3>, <N, M, 3>, <N, M, 3> }""", together(rectangles(3)),
     lambda p: (running("sum", p, 0), running("max", p, 1, True), running("sum", p, 2)), long=40)  # fmt: skip

# The ragged dim is not the first; static dims before and behind.
case("accumulate_channels", """func.func @f(%x: <4, N, 3>) -> (<4, N, 3>, <4, N, 3>, <4, N, 3>) {
  %a = ragged.accumulate sum %x dim 0 : <4, N, 3>
  %b = ragged.accumulate sum %x dim 1 : <4, N, 3>
  %c = ragged.accumulate sum %x dim 2 : <4, N, 3>
  return %a, %b, %c : <4, N, 3>, <4, N, 3>, <4, N, 3> }""", together(rows(4, 3, axis=1)),
     lambda x: tuple(running("sum", x, k) for k in range(3)))  # fmt: skip

case("accumulate_path", """func.func @f(%x: <T, 4; f32; path = [B, S]>, %c: <4>, %w: <; f32; path = [B, S]>)
    -> (<T, 4; f32; path = [B, S]>, <4>) {
  %a = ragged.accumulate sum %x dim 0 reverse : <T, 4; f32; path = [B, S]>
  %b = ragged.accumulate max %c dim 0 : <4>
  return %a, %b : <T, 4; f32; path = [B, S]>, <4> }""", documents)  # fmt: skip

case("accumulate_dense", """func.func @f(%x: <N, 4>, %w: tensor<6x4xf32>) -> (<N, 4>, tensor<6x4xf32>, tensor<6x4xf32>) {
  %a = ragged.accumulate sum %w dim 0 : tensor<6x4xf32>
  %b = ragged.accumulate sum %w dim 1 reverse : tensor<6x4xf32>
  %s = ragged.reduce max %a dims [0] : tensor<6x4xf32> -> tensor<4xf32>
  %y = ragged.map ins(%x, %s : <N, 4>, tensor<4xf32>) {
  ^bb0(%i: f32, %j: f32):
    %r = arith.addf %i, %j : f32
    ragged.yield %r : f32 } -> <N, 4>
  return %y, %a, %b : <N, 4>, tensor<6x4xf32>, tensor<6x4xf32> }""",
     lambda rng, lengths: [rows(4)(rng, lengths), rng.standard_normal((6, 4)).astype("f4")],
     batch=True)  # fmt: skip


def leaky(x, gate):
    """A linear recurrence, and its state before each step."""
    state, before, after = np.zeros(x.shape[1:]), [], []
    for e, g in zip(x, gate):
        before.append(state)
        state = g * state + e
        after.append(state)
    return np.reshape(before, x.shape), np.reshape(after, x.shape)


case("scan_recurrence", """func.func @f(%x: <N, 36>, %g: <N, 36>) -> (<N, 36>, <N, 36>) {
  %h = ragged.map ins(%g : <N, 36>) {
  ^bb0(%i: f32):
    %t = math.tanh %i : f32
    ragged.yield %t : f32 } -> <N, 36>
  %a, %b = ragged.scan ins(%x, %h : <N, 36>, <N, 36>) dim 0 init [0.0 : f32] {
  ^bb0(%e: f32, %k: f32, %state: f32):
    %0 = arith.mulf %k, %state : f32
    %1 = arith.addf %0, %e : f32
    ragged.yield %1, %state, %1 : f32, f32, f32
  } -> <N, 36>, <N, 36>
  return %a, %b : <N, 36>, <N, 36> }""", together(rows(36), rows(36)),
     lambda x, g: leaky(x, np.tanh(g)))  # fmt: skip
