# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that move data: padding, concatenation, slices with a step."""

import numpy as np
from oracle_programs import case, normal, other, rectangles, rows, together, weights
from oracle_programs_more import sentences


def pad(x, low, high, value=0):
    return np.pad(x, list(zip(low, high)), constant_values=value)


case("pad_rows", """func.func @f(%x: <N, 8>) -> (<N + 3, 8>, <2 * N, 8>, <N + 1, 8>) {
  %a = ragged.pad %x low [1, 0] high [2, 0] value 0.5 : f32 : <N, 8> -> <N + 3, 8>
  %b = ragged.pad %x low [N, 0] high [0, 0] value -1.0 : f32 : <N, 8> -> <2 * N, 8>
  %c = ragged.pad %x low [0, 0] high [1, 0] value 0.0 : f32 : <N, 8> -> <N + 1, 8>
  return %a, %b, %c : <N + 3, 8>, <2 * N, 8>, <N + 1, 8> }""", together(rows(8)),
     lambda x: (pad(x, (1, 0), (2, 0), 0.5), pad(x, (len(x), 0), (0, 0), -1), pad(x, (0, 0), (1, 0))))  # fmt: skip

case("pad_columns", """func.func @f(%x: <N, 5>, %m: <N, 3; i1>) -> (<N, 9>, <N + 1, 7>, <N, 5; i1>) {
  %a = ragged.pad %x low [0, 3] high [0, 1] value 7.0 : f32 : <N, 5> -> <N, 9>
  %b = ragged.pad %x low [1, 1] high [0, 1] value 0.0 : f32 : <N, 5> -> <N + 1, 7>
  %c = ragged.pad %m low [0, 1] high [0, 1] value true : <N, 3; i1> -> <N, 5; i1>
  return %a, %b, %c : <N, 9>, <N + 1, 7>, <N, 5; i1> }""",
     together(rows(5), lambda rng, n: [x > 0 for x in rows(3)(rng, n)]),
     lambda x, m: (pad(x, (0, 3), (0, 1), 7), pad(x, (1, 1), (0, 1)), pad(m, (0, 1), (0, 1), True)))  # fmt: skip

case("pad_pairs_fused", """func.func @f(%x: <N, M, 4>) -> (<N + 1, M + 2, 4>, <N + 1, 4>, <M, N + 2, 4>) {
  %a = ragged.pad %x low [1, 0, 0] high [0, 2, 0] value 1.0 : f32 : <N, M, 4> -> <N + 1, M + 2, 4>
  %s = ragged.reduce sum %a dims [1] : <N + 1, M + 2, 4> -> <N + 1, 4>
  %p = ragged.pad %x low [1, 0, 0] high [1, 0, 0] value 0.0 : f32 : <N, M, 4> -> <N + 2, M, 4>
  %t = ragged.transpose %p permutation [1, 0, 2] : <N + 2, M, 4> -> <M, N + 2, 4>
  %e = ragged.map ins(%t : <M, N + 2, 4>) {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    ragged.yield %n : f32 } -> <M, N + 2, 4>
  return %a, %s, %e : <N + 1, M + 2, 4>, <N + 1, 4>, <M, N + 2, 4> }""", together(rectangles(4)),
     lambda x: (pad(x, (1, 0, 0), (0, 2, 0), 1), pad(x, (1, 0, 0), (0, 2, 0), 1).sum(1),
                -pad(x, (1, 0, 0), (1, 0, 0)).transpose(1, 0, 2)), long=50)  # fmt: skip

case("pad_then_crop", """func.func @f(%x: <N, 6>) -> (<N + 1, 6>, <N, 6>, <N + 2, 8>) {
  %a = ragged.pad %x low [2, 0] high [0, 0] value 3.0 : f32 : <N, 6> -> <N + 2, 6>
  %b = ragged.slice %a dim 0 start <:1> size <:N + 1> : <N + 2, 6> -> <N + 1, 6>
  %c = ragged.slice %a dim 0 start <:2> size <:N> : <N + 2, 6> -> <N, 6>
  %d = ragged.slice %a dim 0 start <:2> size <:N> : <N + 2, 6> -> <N, 6>
  %e = ragged.pad %d low [1, 1] high [1, 1] value 4.0 : f32 : <N, 6> -> <N + 2, 8>
  return %b, %c, %e : <N + 1, 6>, <N, 6>, <N + 2, 8> }""", together(rows(6)),
     lambda x: (pad(x, (1, 0), (0, 0), 3), x, pad(x, (1, 1), (1, 1), 4)))  # fmt: skip

case("crop_then_pad", """func.func @f(%x: <N, 6>) -> (<N + 2, 6>, <N, 6>) {
  %p = ragged.pad %x low [1, 0] high [1, 0] value 9.0 : f32 : <N, 6> -> <N + 2, 6>
  %c = ragged.slice %x dim 1 start <:2> size <:2> : <N, 6> -> <N, 2>
  %d = ragged.pad %c low [0, 2] high [0, 2] value 1.0 : f32 : <N, 2> -> <N, 6>
  %m = ragged.slice %p dim 0 start <:1> size <:N + 1> : <N + 2, 6> -> <N + 1, 6>
  %q = ragged.pad %m low [1, 0] high [0, 0] value 8.0 : f32 : <N + 1, 6> -> <N + 2, 6>
  return %q, %d : <N + 2, 6>, <N, 6> }""", together(rows(6)),
     lambda x: (pad(pad(x, (0, 0), (1, 0), 9), (1, 0), (0, 0), 8), pad(x[:, 2:4], (0, 2), (0, 2), 1)))  # fmt: skip

case("pad_of_constants_and_lookups", """func.func @f(%i: <N; i64>, %t: tensor<9x4xf32>) -> (<N + 2, 4>, <N + 1, 3>) {
  %g = ragged.gather %t, %i : tensor<9x4xf32>, <N; i64> -> <N, 4>
  %a = ragged.pad %g low [1, 0] high [1, 0] value 2.0 : f32 : <N, 4> -> <N + 2, 4>
  %z = ragged.fill 1.0 : f32 -> <N, 3>
  %b = ragged.pad %z low [1, 0] high [0, 0] value 0.0 : f32 : <N, 3> -> <N + 1, 3>
  return %a, %b : <N + 2, 4>, <N + 1, 3> }""",
     together(lambda rng, lengths: [rng.integers(0, 9, n) for n in lengths], weights(9, 4)),
     lambda i, t: (pad(t[i], (1, 0), (1, 0), 2), pad(np.ones((len(i), 3)), (1, 0), (0, 0))))  # fmt: skip

case("pad_before_linear", """func.func @f(%x: <N, 6>, %w: tensor<8x5xf32>) -> <N + 1, 5> {
  %p = ragged.pad %x low [1, 1] high [0, 1] value 0.5 : f32 : <N, 6> -> <N + 1, 8>
  %y = ragged.linear %p, %w : <N + 1, 8>, tensor<8x5xf32> -> <N + 1, 5>
  return %y : <N + 1, 5> }""", together(rows(6), weights(8, 5)),
     lambda x, w: pad(x, (1, 1), (0, 1), 0.5) @ w)  # fmt: skip

case("pad_dense", """func.func @f(%x: <N, 3>, %d: tensor<40x30xf32>) -> (tensor<42x33xf32>, <N, 3>, tensor<3x5xf32>) {
  %p = ragged.pad %d low [1, 0] high [1, 3] value 1.0 : f32 : tensor<40x30xf32> -> tensor<42x33xf32>
  %s = ragged.slice %d dim 0 start <:0> size <:3> : tensor<40x30xf32> -> tensor<3x30xf32>
  %u = ragged.slice %s dim 1 start <:0> size <:3> : tensor<3x30xf32> -> tensor<3x3xf32>
  %q = ragged.pad %u low [0, 1] high [0, 1] value 0.0 : f32 : tensor<3x3xf32> -> tensor<3x5xf32>
  %r = ragged.slice %q dim 0 start <:0> size <:1> drop : tensor<3x5xf32> -> tensor<5xf32>
  %v = ragged.slice %r dim 0 start <:0> size <:3> : tensor<5xf32> -> tensor<3xf32>
  %y = ragged.map ins(%x, %v : <N, 3>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    ragged.yield %c : f32 } -> <N, 3>
  return %p, %y, %q : tensor<42x33xf32>, <N, 3>, tensor<3x5xf32> }""",
     together(rows(3), weights(40, 30)), batch=True)  # fmt: skip

case("concat_rows", """func.func @f(%x: <N, 8>, %y: <M, 8>) -> (<N + M, 8>, <2 * N + M, 8>, <N + M, 8>) {
  %a = ragged.concat %x, %y dim 0 : <N, 8>, <M, 8> -> <N + M, 8>
  %b = ragged.concat %x, %y, %x dim 0 : <N, 8>, <M, 8>, <N, 8> -> <2 * N + M, 8>
  %c = ragged.map ins(%a : <N + M, 8>) {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    ragged.yield %n : f32 } -> <N + M, 8>
  return %a, %b, %c : <N + M, 8>, <2 * N + M, 8>, <N + M, 8> }""",
     together(rows(8), lambda rng, n: rows(8)(rng, [other(k) for k in n])),
     lambda x, y: (np.concatenate([x, y]), np.concatenate([x, y, x]), -np.concatenate([x, y])))  # fmt: skip

case("concat_start_token", """func.func @f(%b: tensor<1x8xf32>, %x: <N, 8>, %s: <8>) -> (<N + 1, 8>, <N + 3, 8>) {
  %a = ragged.concat %b, %x dim 0 : tensor<1x8xf32>, <N, 8> -> <N + 1, 8>
  %u = ragged.broadcast %s dims [1] : <8> -> <1, 8>
  %z = ragged.fill 2.0 : f32 -> <1, 8>
  %c = ragged.concat %b, %x, %z, %u dim 0 : tensor<1x8xf32>, <N, 8>, <1, 8>, <1, 8> -> <N + 3, 8>
  return %a, %c : <N + 1, 8>, <N + 3, 8> }""",
     together(weights(1, 8), rows(8), lambda rng, n: [rng.standard_normal(8).astype("f4") for _ in n]),
     lambda b, x, s: (np.concatenate([b, x]), np.concatenate([b, x, np.full((1, 8), 2), s[None]])))  # fmt: skip

case("concat_columns", """func.func @f(%x: <N, 5>, %y: <N, 3>, %w: tensor<2xf32>) -> (<N, 8>, <N, 10>, <N>) {
  %a = ragged.concat %x, %y dim 1 : <N, 5>, <N, 3> -> <N, 8>
  %v = ragged.broadcast %w dims [1] : tensor<2xf32> -> <N, 2>
  %b = ragged.concat %v, %a dim 1 : <N, 2>, <N, 8> -> <N, 10>
  %s = ragged.reduce sum %b dims [1] : <N, 10> -> <N>
  return %a, %b, %s : <N, 8>, <N, 10>, <N> }""", together(rows(5), rows(3), weights(2)),
     lambda x, y, w: (np.concatenate([x, y], 1), np.concatenate([np.tile(w, (len(x), 1)), x, y], 1),
                      np.concatenate([np.tile(w, (len(x), 1)), x, y], 1).sum(1)))  # fmt: skip

case("concat_wide_columns_of_results", """func.func @f(%x: <N, 100>, %w: tensor<100x40xf32>, %v: tensor<140x4xf32>) -> (<N, 140>, <N, 4>, <N, 640>) {
  %y = ragged.linear %x, %w : <N, 100>, tensor<100x40xf32> -> <N, 40>
  %a = ragged.concat %x, %y dim 1 : <N, 100>, <N, 40> -> <N, 140>
  %z = ragged.linear %a, %v : <N, 140>, tensor<140x4xf32> -> <N, 4>
  %b = ragged.concat %a, %x, %x, %x, %x, %x dim 1 : <N, 140>, <N, 100>, <N, 100>, <N, 100>, <N, 100>, <N, 100> -> <N, 640>
  return %a, %z, %b : <N, 140>, <N, 4>, <N, 640> }""",
     together(rows(100), weights(100, 40), weights(140, 4)),
     lambda x, w, v: (np.concatenate([x, x @ w], 1), np.concatenate([x, x @ w], 1) @ v,
                      np.concatenate([x, x @ w, x, x, x, x, x], 1)))  # fmt: skip

case("concat_pairs", """func.func @f(%x: <N, M, 3>, %y: <N, K, 3>) -> (<N, K + M, 3>, <2 * N, M, 3>, <N, M, 6>) {
  %a = ragged.concat %x, %y dim 1 : <N, M, 3>, <N, K, 3> -> <N, K + M, 3>
  %b = ragged.concat %x, %x dim 0 : <N, M, 3>, <N, M, 3> -> <2 * N, M, 3>
  %c = ragged.concat %x, %x dim 2 : <N, M, 3>, <N, M, 3> -> <N, M, 6>
  return %a, %b, %c : <N, K + M, 3>, <2 * N, M, 3>, <N, M, 6> }""",
     together(rectangles(3), lambda rng, n: [rng.standard_normal((k, (3 * k) % 4, 3)).astype("f4") for k in n]),
     lambda x, y: (np.concatenate([x, y], 1), np.concatenate([x, x]), np.concatenate([x, x], 2)), long=40)  # fmt: skip

case("concat_types", """func.func @f(%x: <N; i64>, %y: <M; i64>, %a: <N; i1>, %d: <3, N; f64>)
    -> (<N + M; i64>, <2 * N; i1>, <6, N; f64>, <3, 2 * N; f64>) {
  %r = ragged.concat %x, %y dim 0 : <N; i64>, <M; i64> -> <N + M; i64>
  %s = ragged.concat %a, %a dim 0 : <N; i1>, <N; i1> -> <2 * N; i1>
  %t = ragged.concat %d, %d dim 0 : <3, N; f64>, <3, N; f64> -> <6, N; f64>
  %u = ragged.concat %d, %d dim 1 : <3, N; f64>, <3, N; f64> -> <3, 2 * N; f64>
  return %r, %s, %t, %u : <N + M; i64>, <2 * N; i1>, <6, N; f64>, <3, 2 * N; f64> }""",
     together(rows(dtype="i8"), lambda rng, n: rows(dtype="i8")(rng, [other(k) for k in n]),
              lambda rng, n: [x > 0 for x in rows()(rng, n)], rows(3, dtype="f8", axis=1)),
     lambda x, y, a, d: (np.concatenate([x, y]), np.concatenate([a, a]), np.concatenate([d, d]),
                         np.concatenate([d, d], 1)))  # fmt: skip

case("concat_nested_path", """func.func @f(%x: <T, 4; f32; path = [B, S]>, %h: <4>, %c: tensor<2x4xf32>) -> <T + 3, 4; f32; path = [B, S]> {
  %u = ragged.broadcast %h dims [1] : <4> -> <1, 4; f32; path = [B, S]>
  %a = ragged.concat %u, %x, %c dim 0 : <1, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>, tensor<2x4xf32> -> <T + 3, 4; f32; path = [B, S]>
  return %a : <T + 3, 4; f32; path = [B, S]> }""",
     together(lambda rng, n: [[rng.standard_normal((int(rng.integers(0, 5)), 4)).astype("f4") for _ in range(k)] for k in n],
              lambda rng, n: [rng.standard_normal(4).astype("f4") for _ in n], weights(2, 4)))  # fmt: skip

case("flip", """func.func @f(%x: <N, 6>, %p: <N, M, 3>) -> (<N, 6>, <N, 6>, <N, M, 3>, <N, 6>) {
  %a = ragged.slice %x dim 0 start <:N - 1> size <:N> step -1 : <N, 6> -> <N, 6>
  %b = ragged.slice %x dim 1 start <:5> size <:6> step -1 : <N, 6> -> <N, 6>
  %q = ragged.slice %p dim 1 start <:M - 1> size <:M> step -1 : <N, M, 3> -> <N, M, 3>
  %r = ragged.slice %q dim 0 start <:N - 1> size <:N> step -1 : <N, M, 3> -> <N, M, 3>
  %c = ragged.slice %a dim 0 start <:N - 1> size <:N> step -1 : <N, 6> -> <N, 6>
  return %a, %b, %r, %c : <N, 6>, <N, 6>, <N, M, 3>, <N, 6> }""",
     lambda rng, n: [rows(6)(rng, n), [rng.standard_normal((k, other(k), 3)).astype("f4") for k in n]],
     lambda x, p: (x[::-1], x[:, ::-1], p[::-1, ::-1], x), long=60)  # fmt: skip

case("steps", """func.func @f(%x: <N, 7>) -> (<(N + 1) floordiv 2, 7>, <N, 4>, <(N + 2) floordiv 3, 3>, <(N + 1) floordiv 2, 7>) {
  %a = ragged.slice %x dim 0 start <:0> size <:(N + 1) floordiv 2> step 2 : <N, 7> -> <(N + 1) floordiv 2, 7>
  %b = ragged.slice %x dim 1 start <:0> size <:4> step 2 : <N, 7> -> <N, 4>
  %c = ragged.slice %x dim 0 start <:0> size <:(N + 2) floordiv 3> step 3 : <N, 7> -> <(N + 2) floordiv 3, 7>
  %d = ragged.slice %c dim 1 start <:5> size <:3> step -2 : <(N + 2) floordiv 3, 7> -> <(N + 2) floordiv 3, 3>
  %e = ragged.slice %x dim 0 start <:N - 1> size <:(N + 1) floordiv 2> step -2 : <N, 7> -> <(N + 1) floordiv 2, 7>
  return %a, %b, %d, %e : <(N + 1) floordiv 2, 7>, <N, 4>, <(N + 2) floordiv 3, 3>, <(N + 1) floordiv 2, 7> }""",
     together(rows(7)), lambda x: (x[::2], x[:, ::2], x[::3, 5:0:-2], x[::-2]))  # fmt: skip


# --- Indices ------------------------------------------------------------------------------


def picks(*features, most=7, dtype="i8", axis_of=lambda n: n):
    """Indices into samples of at least one entry; some samples take none."""

    def samples(rng, lengths):
        result = []
        for n in lengths:
            size = (int(rng.integers(0, most)) if n else 0, *features)
            result.append(rng.integers(0, max(axis_of(n), 1), size).astype(dtype))
        return result

    return samples


case("take_rows", """func.func @f(%x: <N, 8>, %i: <M; i64>, %j: <K, 2; i32>) -> (<M, 8>, <K, 2, 8>, <8>) {
  %y = ragged.take %x, %i dim 0 : <N, 8>, <M; i64> -> <M, 8>
  %u = ragged.take %x, %j dim 0 : <N, 8>, <K, 2; i32> -> <K, 2, 8>
  %m = ragged.map ins(%u : <K, 2, 8>) {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    ragged.yield %e : f32 } -> <K, 2, 8>
  %s = ragged.reduce sum %y dims [0] : <M, 8> -> <8>
  return %y, %m, %s : <M, 8>, <K, 2, 8>, <8> }""",
     together(rows(8), picks(), picks(2, dtype="i4")),
     lambda x, i, j: (x[i], np.exp(x[j]), x[i].sum(0)))  # fmt: skip

case("take_columns", """func.func @f(%x: <N, 8>, %i: tensor<3xi64>, %j: <2; i64>, %p: <N, M, 4>, %k: <K; i64>) -> (<N, 3>, <N, 2>, <N, K, 4>) {
  %y = ragged.take %x, %i dim 1 : <N, 8>, tensor<3xi64> -> <N, 3>
  %z = ragged.take %x, %j dim 1 : <N, 8>, <2; i64> -> <N, 2>
  %w = ragged.take %p, %k dim 1 : <N, M, 4>, <K; i64> -> <N, K, 4>
  return %y, %z, %w : <N, 3>, <N, 2>, <N, K, 4> }""",
     together(rows(8), np.array([7, 0, 7]), lambda rng, n: [rng.integers(0, 8, 2) for _ in n],
              lambda rng, n: [rng.standard_normal((k, other(k), 4)).astype("f4") for k in n],
              lambda rng, n: [rng.integers(0, max(other(k), 1), 3 if other(k) else 0) for k in n]),
     lambda x, i, j, p, k: (x[:, i], x[:, j], p[:, k]), long=60)  # fmt: skip

case("take_along", """func.func @f(%x: <N>, %i: <N; i64>, %p: <N, 5>, %k: <2, 5; i64>, %q: <N, 3; i32>) -> (<N>, <2, 5>, <N, 3>) {
  %y = ragged.take_along %x, %i dim 0 : <N>, <N; i64> -> <N>
  %z = ragged.take_along %p, %k dim 0 : <N, 5>, <2, 5; i64> -> <2, 5>
  %w = ragged.take_along %p, %q dim 1 : <N, 5>, <N, 3; i32> -> <N, 3>
  return %y, %z, %w : <N>, <2, 5>, <N, 3> }""",
     together(lambda rng, n: rows()(rng, [k + 1 for k in n]), lambda rng, n: [rng.integers(0, k + 1, k + 1) for k in n],
              lambda rng, n: rows(5)(rng, [k + 1 for k in n]), lambda rng, n: [rng.integers(0, k + 1, (2, 5)) for k in n],
              lambda rng, n: [rng.integers(0, 5, (k + 1, 3)).astype("i4") for k in n]),
     lambda x, i, p, k, q: (x[i], np.take_along_axis(p, k, 0), np.take_along_axis(p, q.astype(int), 1)))  # fmt: skip

case("take_nested_path", """func.func @f(%x: <N, 4>, %i: <T; i64; path = [B, S]>, %y: <T, 3; f32; path = [B, S]>) -> (<T, 4; f32; path = [B, S]>, <T, 3; f32; path = [B, S]>) {
  %u = ragged.take %x, %i dim 0 : <N, 4>, <T; i64; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  %z = ragged.fill 0 : i64 -> <T; i64; path = [B, S]>
  %v = ragged.take %y, %z dim 0 : <T, 3; f32; path = [B, S]>, <T; i64; path = [B, S]> -> <T, 3; f32; path = [B, S]>
  return %u, %v : <T, 4; f32; path = [B, S]>, <T, 3; f32; path = [B, S]> }""",
     lambda rng, n: (lambda sizes: [
         rows(4)(rng, n), [[rng.integers(0, max(k, 1), t) for t in ts] for k, ts in zip(n, sizes)],
         [[rng.standard_normal((t, 3)).astype("f4") for t in ts] for ts in sizes]])(
             [[int(rng.integers(0, 4)) if k else 0 for _ in range(min(k, 5))] for k in n]))  # fmt: skip

case("take_of_moves", """func.func @f(%x: <N, 8>, %i: <M; i64>) -> (<M + 1, 8>, <M, 4>, <M, 8>) {
  %y = ragged.take %x, %i dim 0 : <N, 8>, <M; i64> -> <M, 8>
  %p = ragged.pad %y low [1, 0] high [0, 0] value 5.0 : f32 : <M, 8> -> <M + 1, 8>
  %s = ragged.slice %y dim 1 start <:2> size <:4> : <M, 8> -> <M, 4>
  %r = ragged.slice %x dim 0 start <:N - 1> size <:N> step -1 : <N, 8> -> <N, 8>
  %t = ragged.take %r, %i dim 0 : <N, 8>, <M; i64> -> <M, 8>
  %f = ragged.slice %t dim 0 start <:M - 1> size <:M> step -1 : <M, 8> -> <M, 8>
  return %p, %s, %f : <M + 1, 8>, <M, 4>, <M, 8> }""", together(rows(8), picks()),
     lambda x, i: (pad(x[i], (1, 0), (0, 0), 5), x[i][:, 2:6], x[::-1][i][::-1]))  # fmt: skip

# --- Reshaping ------------------------------------------------------------------------------

case("reshape", """func.func @f(%x: <N, M, 4>, %y: <N, 12>) -> (<M * N, 4>, <N, 3, 4>, <12 * N>, <N, 2, 6>) {
  %a = ragged.reshape %x : <N, M, 4> -> <M * N, 4>
  %b = ragged.reshape %y : <N, 12> -> <N, 3, 4>
  %c = ragged.reshape %y : <N, 12> -> <12 * N>
  %e = ragged.map ins(%y : <N, 12>) {
  ^bb0(%v: f32):
    %n = arith.negf %v : f32
    ragged.yield %n : f32 } -> <N, 12>
  %d = ragged.reshape %e : <N, 12> -> <2 * N, 6>
  %f = ragged.reshape %d : <2 * N, 6> -> <N, 2, 6>
  return %a, %b, %c, %f : <M * N, 4>, <N, 3, 4>, <12 * N>, <N, 2, 6> }""",
     lambda rng, n: [rectangles(4)(rng, n), rows(12)(rng, n)],
     lambda x, y: (x.reshape(-1, 4), y.reshape(-1, 3, 4), y.reshape(-1), -y.reshape(-1, 2, 6)), long=60)  # fmt: skip

case("reshape_and_compute", """func.func @f(%x: <N, M, 4>, %w: tensor<4x4xf32>) -> (<M * N, 4>, <N, M, 4>, <4>) {
  %a = ragged.reshape %x : <N, M, 4> -> <M * N, 4>
  %y = ragged.linear %a, %w : <M * N, 4>, tensor<4x4xf32> -> <M * N, 4>
  %b = ragged.reshape %y : <M * N, 4> -> <N, M, 4>
  %t = ragged.map ins(%b, %x : <N, M, 4>, <N, M, 4>) {
  ^bb0(%u: f32, %v: f32):
    %s = arith.addf %u, %v : f32
    ragged.yield %s : f32 } -> <N, M, 4>
  %c = ragged.reduce sum %a dims [0] : <M * N, 4> -> <4>
  return %y, %t, %c : <M * N, 4>, <N, M, 4>, <4> }""",
     lambda rng, n: [rectangles(4)(rng, n), weights(4, 4)],
     lambda x, w: (x.reshape(-1, 4) @ w, x @ w + x, x.reshape(-1, 4).sum(0)), long=60)  # fmt: skip

case("reshape_into_groups", """func.func @f(%x: <N, 3>) -> (<N floordiv 4, 4, 3>, <N floordiv 4, 3>) {
  %a = ragged.reshape %x : <N, 3> -> <N floordiv 4, 4, 3>
  %s = ragged.reduce sum %a dims [1] : <N floordiv 4, 4, 3> -> <N floordiv 4, 3>
  return %a, %s : <N floordiv 4, 4, 3>, <N floordiv 4, 3> }""",
     lambda rng, n: [rows(3)(rng, [4 * k for k in n])],
     lambda x: (x.reshape(-1, 4, 3), x.reshape(-1, 4, 3).sum(1)))  # fmt: skip

case("reshape_dense", """func.func @f(%x: <N, 6>, %w: tensor<3x4xf32>) -> (<N, 2>, tensor<12xf32>) {
  %a = ragged.reshape %w : tensor<3x4xf32> -> tensor<6x2xf32>
  %y = ragged.linear %x, %a : <N, 6>, tensor<6x2xf32> -> <N, 2>
  %b = ragged.reshape %a : tensor<6x2xf32> -> tensor<12xf32>
  return %y, %b : <N, 2>, tensor<12xf32> }""", together(rows(6), weights(3, 4)), batch=True)  # fmt: skip


# --- Other samples, and sizes from numbers ---------------------------------------------

case("select_batch", """func.func @f(%x: <N, N, 3>, %y: <4, N; f64>, %c: <; i32>)
    -> (<K, K, 3; f32; path = [C]>, <4, K; f64; path = [C]>, <3; f32; path = [C]>, <; i64; path = [C]>, <4; f64>) {
  %k = ragged.map ins(%c : <; i32>) {
  ^bb0(%a: i32):
    %z = arith.constant 0 : i32
    %g = arith.cmpi sgt, %a, %z : i32
    ragged.yield %g : i1 } -> <; i1>
  %u, %v = ragged.select_batch %k of %x, %y renames [N] to [K]
      : <; i1>, <N, N, 3>, <4, N; f64> -> <K, K, 3; f32; path = [C]>, <4, K; f64; path = [C]>
  %m = ragged.reduce mean %u dims [0, 1] : <K, K, 3; f32; path = [C]> -> <3; f32; path = [C]>
  %n = ragged.extent <:K> : <; i64; path = [C]>
  %s = ragged.reduce sum %y dims [1] : <4, N; f64> -> <4; f64>
  return %u, %v, %m, %n, %s : <K, K, 3; f32; path = [C]>, <4, K; f64; path = [C]>, <3; f32; path = [C]>,
      <; i64; path = [C]>, <4; f64> }""",
     together(lambda rng, lengths: [normal(rng, n, n, 3) for n in lengths],
              lambda rng, lengths: [normal(rng, 4, n, dtype="f8") for n in lengths],
              lambda rng, lengths: [np.int32(rng.integers(-2, 3)) for _ in lengths]),
     long=40, batch=True)  # fmt: skip

case("repeat_batch", """func.func @f(%x: <N, M>, %b: <5; i1>, %c: <; i64>)
    -> (<K, L; f32; path = [C]>, <5; i1; path = [C]>, <5; f64>) {
  %u, %v = ragged.repeat_batch %c at_most 3 of %x, %b renames [N, M] to [K, L]
      : <; i64>, <N, M>, <5; i1> -> <K, L; f32; path = [C]>, <5; i1; path = [C]>
  %n = ragged.map ins(%u : <K, L; f32; path = [C]>) {
  ^bb0(%a: f32):
    %m = arith.negf %a : f32
    ragged.yield %m : f32 } -> <K, L; f32; path = [C]>
  %w = ragged.map ins(%b : <5; i1>) {
  ^bb0(%a: i1):
    %f = arith.uitofp %a : i1 to f64
    ragged.yield %f : f64 } -> <5; f64>
  return %n, %v, %w : <K, L; f32; path = [C]>, <5; i1; path = [C]>, <5; f64> }""",
     together(rectangles(), lambda rng, lengths: [rng.random(5) < 0.5 for _ in lengths],
              lambda rng, lengths: [np.int64(rng.integers(0, 4)) for _ in lengths]),
     batch=True)  # fmt: skip

case("move_batch", """func.func @f(%x: <N, M>, %h: <3, N; f16>, %c: <; i64>)
    -> (<N, M>, <3, N; f16>, <K, L; f32; path = [C]>) {
  %u, %v = ragged.repeat_batch %c at_most 3 of %x, %h renames [N, M] to [K, L]
      : <; i64>, <N, M>, <3, N; f16> -> <K, L; f32; path = [C]>, <3, K; f16; path = [C]>
  %n = ragged.map ins(%u : <K, L; f32; path = [C]>) {
  ^bb0(%a: f32):
    %m = math.exp %a : f32
    ragged.yield %m : f32 } -> <K, L; f32; path = [C]>
  %s, %t = ragged.move_batch sum %c of %n, %v renames [N, M] to [K, L]
      : <; i64>, <K, L; f32; path = [C]>, <3, K; f16; path = [C]> -> <N, M>, <3, N; f16>
  %w = ragged.move_batch %c of %s renames [N, M] to [K, L] : <; i64>, <N, M> -> <K, L; f32; path = [C]>
  return %s, %t, %w : <N, M>, <3, N; f16>, <K, L; f32; path = [C]> }""",
     together(rectangles(), lambda rng, lengths: [normal(rng, 3, n, dtype="f2") for n in lengths],
              lambda rng, lengths: [np.int64(rng.integers(0, 4)) for _ in lengths]),
     batch=True)  # fmt: skip

case("reorder_batch", """func.func @f(%x: <N, 6; f16>, %y: <3; ui8>) -> (<K, 6; f16>, <3; ui8>, <L, 6; f16; path = [C]>) {
  %i = ragged.iota dim 0 : tensor<1xi64>
  %b = ragged.broadcast %i dims [0] : tensor<1xi64> -> <1; i64>
  %f = ragged.reduce sum %b dims [0] : <1; i64> -> <; i64>
  %u, %v = ragged.select_batch %f of %x, %y renames [N] to [K] : <; i64>, <N, 6; f16>, <3; ui8> -> <K, 6; f16>, <3; ui8>
  %l = arith.constant dense<> : tensor<0xi64>
  %w = ragged.select_batch %l of %u renames [K] to [L] : tensor<0xi64>, <K, 6; f16> -> <L, 6; f16; path = [C]>
  return %u, %v, %w : <K, 6; f16>, <3; ui8>, <L, 6; f16; path = [C]> }""",
     together(rows(6, dtype="f2"), lambda rng, lengths: [rng.integers(0, 255, 3, np.uint8) for _ in lengths]),
     batch=True)  # fmt: skip


case("bind_size", """func.func @f(%x: <N, 3>, %c: <; i64>) -> (<K, 3>, <3>, <P, 3>, <; i64>) {
  %e = ragged.extent <:N> : <; i64>
  %n = ragged.map ins(%c, %e : <; i64>, <; i64>) {
  ^bb0(%a: i64, %b: i64):
    %m = arith.minsi %a, %b : i64
    ragged.yield %m : i64 } -> <; i64>
  %p = ragged.bind_size %n at_most <:N> : <; i64> -> !ragged.partition<[K]>
  %y = ragged.slice %x dim 0 start <:0> size <:K> : <N, 3> -> <K, 3>
  %s = ragged.reduce sum %y dims [0] : <K, 3> -> <3>
  %l = ragged.reduce max %e dims [] batch : <; i64> -> tensor<i64>
  %q = ragged.bind_size %l at_most <:N> : tensor<i64> -> !ragged.partition<[P]>
  %z = ragged.pad %x low [0, 0] high [P - N, 0] value 2.0 : f32 : <N, 3> -> <P, 3>
  %k = ragged.extent <:K> : <; i64>
  return %y, %s, %z, %k : <K, 3>, <3>, <P, 3>, <; i64> }""",
     together(rows(3), lambda rng, lengths: [np.int64(rng.integers(0, 40)) for _ in lengths]),
     batch=True)  # fmt: skip

# --- Rows as members of their own ---------------------------------------------------------------

MEMBERS = "f32; path = [B, N]"

case("renest_rows", f"""func.func @f(%x: <N, M, 3>, %c: <M, 3>, %k: <N, 4, M>)
    -> (<N, M, 3>, <N, 3>, <M, 3>, <M, 3; {MEMBERS}>, <4, M; {MEMBERS}>, <N, 4, 3>) {{
  %y = ragged.renest %x : <N, M, 3> -> <M, 3; {MEMBERS}>
  %e = ragged.broadcast %c dims [0, 1] : <M, 3> -> <M, 3; {MEMBERS}>
  %z = ragged.map ins(%y, %e : <M, 3; {MEMBERS}>, <M, 3; {MEMBERS}>) {{
  ^bb0(%i: f32, %j: f32):
    %p = arith.addf %i, %j : f32
    ragged.yield %p : f32 }} -> <M, 3; {MEMBERS}>
  %u = ragged.unnest %z : <M, 3; {MEMBERS}> -> <N, M, 3>
  %a = ragged.reduce max %z dims [0] : <M, 3; {MEMBERS}> -> <3; {MEMBERS}>
  %s = ragged.unnest %a : <3; {MEMBERS}> -> <N, 3>
  %b = ragged.reduce sum %z dims [] batch : <M, 3; {MEMBERS}> -> <M, 3>
  %t = ragged.map ins(%k : <N, 4, M>) {{
  ^bb0(%i: f32):
    %p = arith.negf %i : f32
    ragged.yield %p : f32 }} -> <N, 4, M>
  %l = ragged.renest %t : <N, 4, M> -> <4, M; {MEMBERS}>
  %d = ragged.contract "cm,md->cd" %l, %z : <4, M; {MEMBERS}>, <M, 3; {MEMBERS}> -> <4, 3; {MEMBERS}>
  %w = ragged.unnest %d : <4, 3; {MEMBERS}> -> <N, 4, 3>
  return %u, %s, %b, %z, %l, %w : <N, M, 3>, <N, 3>, <M, 3>, <M, 3; {MEMBERS}>, <4, M; {MEMBERS}>, <N, 4, 3> }}""",
     together(rectangles(3), lambda rng, lengths: [normal(rng, other(n), 3) for n in lengths],
              lambda rng, lengths: [normal(rng, n, 4, other(n)) for n in lengths]), long=40)  # fmt: skip

# What is cut is a reshape: other dims of the same memory, and so are its members.
case("renest_of_reshape", """func.func @f(%x: <N, 6>) -> (<N, N, 3, 2>, <N, 2>, <N, N, 6>) {
  %a = ragged.broadcast %x dims [0, 2] : <N, 6> -> <N, N, 6>
  %b = ragged.broadcast %x dims [1, 2] : <N, 6> -> <N, N, 6>
  %p = ragged.map ins(%a, %b : <N, N, 6>, <N, N, 6>) {
  ^bb0(%i: f32, %j: f32):
    %m = arith.mulf %i, %j : f32
    ragged.yield %m : f32 } -> <N, N, 6>
  %r = ragged.reshape %p : <N, N, 6> -> <N, N, 3, 2>
  %y = ragged.renest %r : <N, N, 3, 2> -> <N, 3, 2; f32; path = [B, N]>
  %e = ragged.map ins(%y : <N, 3, 2; f32; path = [B, N]>) {
  ^bb0(%i: f32):
    %m = math.absf %i : f32
    ragged.yield %m : f32 } -> <N, 3, 2; f32; path = [B, N]>
  %s = ragged.reduce sum %e dims [0, 1] : <N, 3, 2; f32; path = [B, N]> -> <2; f32; path = [B, N]>
  %u = ragged.unnest %e : <N, 3, 2; f32; path = [B, N]> -> <N, N, 3, 2>
  %v = ragged.unnest %s : <2; f32; path = [B, N]> -> <N, 2>
  %w = ragged.reshape %u : <N, N, 3, 2> -> <N, N, 6>
  return %u, %v, %w : <N, N, 3, 2>, <N, 2>, <N, N, 6> }""", together(rows(6)),
     lambda x: (lambda p: (p.reshape(*p.shape[:2], 3, 2), p.reshape(*p.shape[:2], 3, 2).sum((1, 2)), p))(
         np.abs(x[:, None] * x[None])), long=40)  # fmt: skip

# Groups that are cut when what they are of has long been there.
case("renest_of_groups", """func.func @f(%x: <N, 4>, %n: <S; i64>) -> (<T, 4; f32; path = [B, S]>, <N, 4>) {
  %v = ragged.map ins(%x : <N, 4>) {
  ^bb0(%i: f32):
    %m = arith.mulf %i, %i : f32
    ragged.yield %m : f32 } -> <N, 4>
  %w = ragged.map ins(%x : <N, 4>) {
  ^bb0(%i: f32):
    %m = math.absf %i : f32
    ragged.yield %m : f32 } -> <N, 4>
  %y = ragged.nest %w, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %r = ragged.renest %v : <N, 4> -> <T, 4; f32; path = [B, S]>
  %e = ragged.map ins(%y, %r : <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>) {
  ^bb0(%i: f32, %j: f32):
    %m = arith.addf %i, %j : f32
    ragged.yield %m : f32 } -> <T, 4; f32; path = [B, S]>
  %u = ragged.unnest %e : <T, 4; f32; path = [B, S]> -> <N, 4>
  return %r, %u : <T, 4; f32; path = [B, S]>, <N, 4> }""", sentences)  # fmt: skip


def grids(rng, lengths):
    """For each member of a sample its own T rows and U columns, and a number for each row."""
    sizes = [[(int(rng.integers(0, 4)), other(n + s)) for s in range(n % 3)] for n in lengths]
    return [[[normal(rng, *s) for s in each] for each in sizes],
            [[normal(rng, s[0], 2) for s in each] for each in sizes]]  # fmt: skip


# Members of members, and of a size that comes from data.
case("renest_longer", """func.func @f(%t: <T, U; f32; path = [B, S]>, %x: <T, 2; f32; path = [B, S]>)
    -> (<T; f32; path = [B, S]>, <T, U; f32; path = [B, S]>) {
  %m = ragged.renest %t : <T, U; f32; path = [B, S]> -> <U; f32; path = [B, S, T]>
  %n = ragged.renest %x : <T, 2; f32; path = [B, S]> -> <2; f32; path = [B, S, T]>
  %a = ragged.reduce sum %n dims [0] : <2; f32; path = [B, S, T]> -> <; f32; path = [B, S, T]>
  %b = ragged.broadcast %a dims [] : <; f32; path = [B, S, T]> -> <U; f32; path = [B, S, T]>
  %z = ragged.map ins(%m, %b : <U; f32; path = [B, S, T]>, <U; f32; path = [B, S, T]>) {
  ^bb0(%i: f32, %j: f32):
    %p = arith.mulf %i, %j : f32
    ragged.yield %p : f32 } -> <U; f32; path = [B, S, T]>
  %s = ragged.reduce sum %z dims [0] : <U; f32; path = [B, S, T]> -> <; f32; path = [B, S, T]>
  %u = ragged.unnest %s : <; f32; path = [B, S, T]> -> <T; f32; path = [B, S]>
  %w = ragged.unnest %z : <U; f32; path = [B, S, T]> -> <T, U; f32; path = [B, S]>
  return %u, %w : <T; f32; path = [B, S]>, <T, U; f32; path = [B, S]> }""", grids)  # fmt: skip

case("renest_selected", """func.func @f(%x: <N, 4>, %c: <4>) -> (<K, 4>, <4>) {
  %z = ragged.broadcast %c dims [1] : <4> -> <N, 4>
  %g = ragged.map ins(%x, %z : <N, 4>, <N, 4>) {
  ^bb0(%i: f32, %j: f32):
    %p = arith.mulf %i, %j : f32
    ragged.yield %p : f32 } -> <N, 4>
  %h = ragged.reduce sum %g dims [1] : <N, 4> -> <N>
  %m = ragged.map ins(%h : <N>) {
  ^bb0(%i: f32):
    %0 = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %i, %0 : f32
    ragged.yield %p : i1 } -> <N; i1>
  %y = ragged.masked_select %x, %m : <N, 4>, <N; i1> -> <K, 4>
  %r = ragged.renest %y : <K, 4> -> <4; f32; path = [B, K]>
  %s = ragged.map ins(%r, %c : <4; f32; path = [B, K]>, <4>) {
  ^bb0(%i: f32, %j: f32):
    %p = arith.addf %i, %j : f32
    ragged.yield %p : f32 } -> <4; f32; path = [B, K]>
  %u = ragged.unnest %s : <4; f32; path = [B, K]> -> <K, 4>
  %a = ragged.reduce sum %s dims [] batch : <4; f32; path = [B, K]> -> <4>
  return %u, %a : <K, 4>, <4> }""",
     together(rows(4), lambda rng, lengths: [normal(rng, 4) for _ in lengths]),
     lambda x, c: (x[x @ c > 0] + c, (x[x @ c > 0] + c).sum(0)))  # fmt: skip
