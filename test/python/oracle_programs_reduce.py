# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions in all kinds, softmax and norms."""

import numpy as np
from oracle_programs import case, normal, other, rectangles, rows, together, weights
from oracle_programs_more import sentences


def lse(x, axis):
    most = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(most), most, 0)
    return np.log(np.sum(np.exp(x - shift), axis=axis)) + np.squeeze(shift, axis)


def first(function, x, axes):
    """argmax or argmin over axes, in their row-major order; -1 of nothing."""
    kept = [k for k in range(x.ndim) if k not in axes]
    shape = [x.shape[k] for k in kept]
    groups = x.transpose(*kept, *axes).reshape(*shape, int(np.prod([x.shape[k] for k in axes])))
    return function(groups, axis=-1) if groups.size else np.full(groups.shape[:-1], -1)


def softmax(x, axis):
    most = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    e = np.exp(x - np.where(most == -np.inf, 0, most))
    total = e.sum(axis=axis, keepdims=True)
    return np.where(total == 0, 0, e / total)


def log_softmax(x, axis):
    total = np.expand_dims(lse(x, axis), axis)
    return x - np.where(np.isfinite(total), total, 0)


def few_values(*shape, dtype="f4", special=()):
    """Samples with many ties, and rarely a special value."""

    def samples(rng, lengths):
        result = []
        for n in lengths:
            x = rng.integers(-2, 3, (n, *shape)).astype(dtype)
            for value in special:
                x[rng.random(x.shape) < 0.1] = value
            result.append(x)
        return result

    return samples


def shifted(*shape, dtype="f4"):
    """Numbers whose exponentials overflow and vanish, and groups that are masked out."""

    def samples(rng, lengths):
        result = []
        for n in lengths:
            x = (normal(rng, n, *shape) * 3 + rng.choice([-2000.0, 0, 2000])).astype(dtype)
            x[rng.random(x.shape) < 0.2] = -np.inf
            if n > 3:
                x[:, : shape[0] // 2] = -np.inf
            result.append(x)
        return result

    return samples


case("logsumexp", """func.func @f(%x: <N, M, 3>) -> (<N, 3>, <M, 3>, <3>, <N, M>, <1, M, 1>) {
  %a = ragged.reduce logsumexp %x dims [1] : <N, M, 3> -> <N, 3>
  %b = ragged.reduce logsumexp %x dims [0] : <N, M, 3> -> <M, 3>
  %c = ragged.reduce logsumexp %x dims [0, 1] : <N, M, 3> -> <3>
  %d = ragged.reduce logsumexp %x dims [2] : <N, M, 3> -> <N, M>
  %e = ragged.reduce logsumexp %x dims [0, 2] keepdims : <N, M, 3> -> <1, M, 1>
  return %a, %b, %c, %d, %e : <N, 3>, <M, 3>, <3>, <N, M>, <1, M, 1> }""",
     together(rectangles(3)),
     lambda x: (lse(x, 1), lse(x, 0), lse(x, (0, 1)), lse(x, 2),
                np.expand_dims(lse(x, (0, 2)), (0, 2))), long=40)  # fmt: skip

case("logsumexp_shifted", """func.func @f(%x: <N, 4>) -> (<4>, <N>) {
  %a = ragged.reduce logsumexp %x dims [0] : <N, 4> -> <4>
  %b = ragged.reduce logsumexp %x dims [1] : <N, 4> -> <N>
  return %a, %b : <4>, <N> }""", together(shifted(4)), lambda x: (lse(x, 0), lse(x, 1)))  # fmt: skip

case("logsumexp_f64_f16", """func.func @f(%x: <N, 4; f64>, %y: <N, 4; f16>) -> (<4; f64>, <4; f16>, <N; f64>) {
  %a = ragged.reduce logsumexp %x dims [0] : <N, 4; f64> -> <4; f64>
  %b = ragged.reduce logsumexp %y dims [0] : <N, 4; f16> -> <4; f16>
  %c = ragged.reduce logsumexp %x dims [1] : <N, 4; f64> -> <N; f64>
  return %a, %b, %c : <4; f64>, <4; f16>, <N; f64> }""",
     together(rows(4, dtype="f8"), rows(4, dtype="f2")),
     lambda x, y: (lse(x, 0), lse(y, 0), lse(x, 1)))  # fmt: skip

case("any_all", """func.func @f(%x: <N, M, 3; i1>) -> (<N, 3; i1>, <3; i1>, <N, M; i1>, <M, 3; i1>, <; i1>) {
  %a = ragged.reduce any %x dims [1] : <N, M, 3; i1> -> <N, 3; i1>
  %b = ragged.reduce all %x dims [0, 1] : <N, M, 3; i1> -> <3; i1>
  %c = ragged.reduce any %x dims [2] : <N, M, 3; i1> -> <N, M; i1>
  %d = ragged.reduce all %x dims [0] : <N, M, 3; i1> -> <M, 3; i1>
  %e = ragged.reduce all %x dims [0, 1, 2] : <N, M, 3; i1> -> <; i1>
  return %a, %b, %c, %d, %e : <N, 3; i1>, <3; i1>, <N, M; i1>, <M, 3; i1>, <; i1> }""",
     lambda rng, lengths: [[rng.random((n, other(n), 3)) < rng.random() for n in lengths]],
     lambda x: (x.any(1), x.all((0, 1)), x.any(2), x.all(0), x.all()), long=40)  # fmt: skip

case("any_all_batch", """func.func @f(%x: <N, 3; i1>) -> (tensor<3xi1>, tensor<i1>) {
  %a = ragged.reduce any %x dims [0] batch : <N, 3; i1> -> tensor<3xi1>
  %b = ragged.reduce all %x dims [0, 1] batch : <N, 3; i1> -> tensor<i1>
  return %a, %b : tensor<3xi1>, tensor<i1> }""",
     lambda rng, lengths: [[rng.random((n, 3)) < 0.2 for n in lengths]], batch=True)  # fmt: skip

case("argmax", """func.func @f(%x: <N, M, 3>) -> (<N, 3; i64>, <M, 3; i64>, <3; i64>, <N, M; i64>, <1, M, 1; i64>, <; i64>) {
  %a = ragged.reduce argmax %x dims [1] : <N, M, 3> -> <N, 3; i64>
  %b = ragged.reduce argmin %x dims [0] : <N, M, 3> -> <M, 3; i64>
  %c = ragged.reduce argmax %x dims [0, 1] : <N, M, 3> -> <3; i64>
  %d = ragged.reduce argmin %x dims [2] : <N, M, 3> -> <N, M; i64>
  %e = ragged.reduce argmax %x dims [0, 2] keepdims : <N, M, 3> -> <1, M, 1; i64>
  %g = ragged.reduce argmin %x dims [2, 1, 0] : <N, M, 3> -> <; i64>
  return %a, %b, %c, %d, %e, %g : <N, 3; i64>, <M, 3; i64>, <3; i64>, <N, M; i64>, <1, M, 1; i64>, <; i64> }""",
     together(rectangles(3)),
     lambda x: (first(np.argmax, x, [1]), first(np.argmin, x, [0]), first(np.argmax, x, [0, 1]),
                first(np.argmin, x, [2]), np.expand_dims(first(np.argmax, x, [0, 2]), (0, 2)),
                first(np.argmin, x, [0, 1, 2])), long=40)  # fmt: skip

case("argmax_ties_and_nan", """func.func @f(%x: <N, 4>, %i: <N, 4; i8>, %b: <N, 4; i1>)
    -> (<4; i64>, <N; i64>, <4; i64>, <4; i64>, <N; i64>, <4; i64>, <N; i64>) {
  %a = ragged.reduce argmax %x dims [0] : <N, 4> -> <4; i64>
  %c = ragged.reduce argmin %x dims [1] : <N, 4> -> <N; i64>
  %d = ragged.reduce argmin %x dims [0] : <N, 4> -> <4; i64>
  %e = ragged.reduce argmax %i dims [0] : <N, 4; i8> -> <4; i64>
  %g = ragged.reduce argmin %i dims [1] : <N, 4; i8> -> <N; i64>
  %h = ragged.reduce argmax %b dims [0] : <N, 4; i1> -> <4; i64>
  %j = ragged.reduce argmin %b dims [1] : <N, 4; i1> -> <N; i64>
  return %a, %c, %d, %e, %g, %h, %j : <4; i64>, <N; i64>, <4; i64>, <4; i64>, <N; i64>, <4; i64>, <N; i64> }""",
     together(few_values(4, special=(np.nan, -0.0)), few_values(4, dtype="i1"),
              lambda rng, lengths: [rng.random((n, 4)) < 0.3 for n in lengths]),
     lambda x, i, b: (first(np.argmax, x, [0]), first(np.argmin, x, [1]), first(np.argmin, x, [0]),
                      first(np.argmax, i, [0]), first(np.argmin, i, [1]),
                      first(np.argmax, b, [0]), first(np.argmin, b, [1])))  # fmt: skip

case("argmax_columns", """func.func @f(%x: <N, 0>, %y: <N, 2, 3; f64>) -> (<N; i64>, <N; i64>, <2; i64>) {
  %a = ragged.reduce argmax %x dims [1] : <N, 0> -> <N; i64>
  %b = ragged.reduce argmax %y dims [1, 2] : <N, 2, 3; f64> -> <N; i64>
  %c = ragged.reduce argmin %y dims [0, 2] : <N, 2, 3; f64> -> <2; i64>
  return %a, %b, %c : <N; i64>, <N; i64>, <2; i64> }""",
     together(rows(0), rows(2, 3, dtype="f8")),
     lambda x, y: (np.full(len(x), -1), first(np.argmax, y, [1, 2]), first(np.argmin, y, [0, 2])))  # fmt: skip

case("reduce_path", """func.func @f(%x: <N, 4>, %n: <S; i64>)
    -> (<4>, <4>, <4>, <4>, <4>, <4>, <4>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %a = ragged.reduce sum %y dims [0] batch : <T, 4; f32; path = [B, S]> -> <4>
  %b = ragged.reduce mean %y dims [0] batch : <T, 4; f32; path = [B, S]> -> <4>
  %c = ragged.reduce max %y dims [0] batch : <T, 4; f32; path = [B, S]> -> <4>
  %d = ragged.reduce min %y dims [0] batch empty identity : <T, 4; f32; path = [B, S]> -> <4>
  %e = ragged.reduce logsumexp %y dims [0] batch : <T, 4; f32; path = [B, S]> -> <4>
  %s = ragged.reduce sum %y dims [0] : <T, 4; f32; path = [B, S]> -> <4; f32; path = [B, S]>
  %g = ragged.reduce mean %s dims [] batch : <4; f32; path = [B, S]> -> <4>
  %h = ragged.reduce max %s dims [] batch : <4; f32; path = [B, S]> -> <4>
  return %a, %b, %c, %d, %e, %g, %h : <4>, <4>, <4>, <4>, <4>, <4>, <4> }""",
     sentences)  # fmt: skip

case("reduce_path_within", """func.func @f(%x: <N, 4>, %n: <S; i64>)
    -> (<4; f32; path = [B, S]>, <4; i64; path = [B, S]>, <T; i64; path = [B, S]>, <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %a = ragged.reduce logsumexp %y dims [0] : <T, 4; f32; path = [B, S]> -> <4; f32; path = [B, S]>
  %b = ragged.reduce argmax %y dims [0] : <T, 4; f32; path = [B, S]> -> <4; i64; path = [B, S]>
  %c = ragged.reduce argmin %y dims [1] : <T, 4; f32; path = [B, S]> -> <T; i64; path = [B, S]>
  %d = ragged.softmax %y dims [0] : <T, 4; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  %e = ragged.softmax %y dims [0, 1] log : <T, 4; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  return %a, %b, %c, %d, %e : <4; f32; path = [B, S]>, <4; i64; path = [B, S]>, <T; i64; path = [B, S]>, <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]> }""",
     sentences)  # fmt: skip

case("reduce_dense", """func.func @f(%x: tensor<70x9xf32>, %n: <N>) -> (tensor<70xi64>, tensor<9xi64>, tensor<9xf32>, tensor<70x9xf32>, tensor<i64>, tensor<70x9xf32>) {
  %a = ragged.reduce argmax %x dims [1] : tensor<70x9xf32> -> tensor<70xi64>
  %b = ragged.reduce argmin %x dims [0] : tensor<70x9xf32> -> tensor<9xi64>
  %c = ragged.reduce logsumexp %x dims [0] : tensor<70x9xf32> -> tensor<9xf32>
  %d = ragged.softmax %x dims [0] : tensor<70x9xf32> -> tensor<70x9xf32>
  %e = ragged.reduce argmax %x dims [0, 1] : tensor<70x9xf32> -> tensor<i64>
  %g = ragged.softmax %x dims [1] log : tensor<70x9xf32> -> tensor<70x9xf32>
  return %a, %b, %c, %d, %e, %g : tensor<70xi64>, tensor<9xi64>, tensor<9xf32>, tensor<70x9xf32>, tensor<i64>, tensor<70x9xf32> }""",
     together(np.random.default_rng(5).standard_normal((70, 9)).astype("f4"), rows()),
     batch=True)  # fmt: skip

case("softmax", """func.func @f(%x: <N, M, 3>) -> (<N, M, 3>, <N, M, 3>, <N, M, 3>, <N, M, 3>) {
  %a = ragged.softmax %x dims [1] : <N, M, 3> -> <N, M, 3>
  %b = ragged.softmax %x dims [0] : <N, M, 3> -> <N, M, 3>
  %c = ragged.softmax %x dims [0, 1] : <N, M, 3> -> <N, M, 3>
  %d = ragged.softmax %x dims [2] : <N, M, 3> -> <N, M, 3>
  return %a, %b, %c, %d : <N, M, 3>, <N, M, 3>, <N, M, 3>, <N, M, 3> }""",
     together(rectangles(3)), lambda x: (softmax(x, 1), softmax(x, 0), softmax(x, (0, 1)), softmax(x, 2)),
     long=40)  # fmt: skip

case("softmax_masked", """func.func @f(%x: <N, 4>) -> (<N, 4>, <N, 4>, <N, 4>, <N, 4>) {
  %a = ragged.softmax %x dims [0] : <N, 4> -> <N, 4>
  %b = ragged.softmax %x dims [1] : <N, 4> -> <N, 4>
  %c = ragged.softmax %x dims [0] log : <N, 4> -> <N, 4>
  %d = ragged.softmax %x dims [1] log : <N, 4> -> <N, 4>
  return %a, %b, %c, %d : <N, 4>, <N, 4>, <N, 4>, <N, 4> }""",
     together(shifted(4)),
     lambda x: (softmax(x, 0), softmax(x, 1), log_softmax(x, 0), log_softmax(x, 1)))  # fmt: skip

case("softmax_dtypes", """func.func @f(%x: <N, 4; f64>, %y: <N, 4; f16>) -> (<N, 4; f64>, <N, 4; f16>, <N, 4; f64>) {
  %a = ragged.softmax %x dims [0] : <N, 4; f64> -> <N, 4; f64>
  %b = ragged.softmax %y dims [1] : <N, 4; f16> -> <N, 4; f16>
  %d = ragged.softmax %x dims [1] log : <N, 4; f64> -> <N, 4; f64>
  return %a, %b, %d : <N, 4; f64>, <N, 4; f16>, <N, 4; f64> }""",
     together(rows(4, dtype="f8"), rows(4, dtype="f2")))  # fmt: skip

case("softmax_leading", """func.func @f(%x: <2, N, 3>) -> (<2, N, 3>, <2, 3; i64>, <N, 3>) {
  %a = ragged.softmax %x dims [1] : <2, N, 3> -> <2, N, 3>
  %b = ragged.reduce argmax %x dims [1] : <2, N, 3> -> <2, 3; i64>
  %c = ragged.reduce logsumexp %x dims [0] : <2, N, 3> -> <N, 3>
  return %a, %b, %c : <2, N, 3>, <2, 3; i64>, <N, 3> }""",
     together(rows(2, 3, axis=1)), lambda x: (softmax(x, 1), first(np.argmax, x, [1]), lse(x, 0)))  # fmt: skip


# --- Norms -----------------------------------------------------------------------


def standard(x, axes, eps=1e-5):
    centred = x - x.mean(axes, keepdims=True) if x.size else x
    return centred / np.sqrt((centred * centred).mean(axes, keepdims=True) + eps) if x.size else x


def groups(x, count, eps=1e-5):
    parts = x.reshape(*x.shape[:-1], count, x.shape[-1] // count)
    return standard(parts, (*range(x.ndim - 1), x.ndim), eps).reshape(x.shape)


case("norms", """func.func @f(%x: <N, M, 6>, %g: tensor<6xf32>, %b: tensor<6xf32>)
    -> (<N, M, 6>, <N, M, 6>, <N, M, 6>, <N, M, 6>, <N, M, 6>) {
  %a = ragged.normalize layer %x scale %g offset %b : <N, M, 6>, scale tensor<6xf32>, offset tensor<6xf32> -> <N, M, 6>
  %c = ragged.normalize rms %x scale %g : <N, M, 6>, scale tensor<6xf32> -> <N, M, 6>
  %d = ragged.normalize group %x scale %g offset %b {groups = 3 : i64} : <N, M, 6>, scale tensor<6xf32>, offset tensor<6xf32> -> <N, M, 6>
  %e = ragged.normalize instance %x offset %b : <N, M, 6>, offset tensor<6xf32> -> <N, M, 6>
  %h = ragged.normalize group %x : <N, M, 6> -> <N, M, 6>
  return %a, %c, %d, %e, %h : <N, M, 6>, <N, M, 6>, <N, M, 6>, <N, M, 6>, <N, M, 6> }""",
     together(rectangles(6), weights(6), weights(6)),
     lambda x, g, b: (standard(x, (2,)) * g + b,
                      x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-5) * g,
                      groups(x, 3) * g + b, standard(x, (0, 1)) + b, groups(x, 1)), long=40)  # fmt: skip

case("norms_f64_static", """func.func @f(%x: <2, N, 4; f64>, %y: <N, 2, 4; f16>)
    -> (<2, N, 4; f64>, <2, N, 4; f64>, <N, 2, 4; f16>, <N, 2, 4; f16>) {
  %a = ragged.normalize group %x {groups = 2 : i64, eps = 1.0e-3 : f64} : <2, N, 4; f64> -> <2, N, 4; f64>
  %b = ragged.normalize instance %x : <2, N, 4; f64> -> <2, N, 4; f64>
  %c = ragged.normalize rms %y {dims = 2 : i64} : <N, 2, 4; f16> -> <N, 2, 4; f16>
  %d = ragged.normalize group %y {groups = 4 : i64} : <N, 2, 4; f16> -> <N, 2, 4; f16>
  return %a, %b, %c, %d : <2, N, 4; f64>, <2, N, 4; f64>, <N, 2, 4; f16>, <N, 2, 4; f16> }""",
     together(rows(2, 4, dtype="f8", axis=1), rows(2, 4, dtype="f2")))  # fmt: skip

case("norms_path", """func.func @f(%x: <N, 4>, %n: <S; i64>) -> (<T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]>) {
  %y = ragged.nest %x, %n : <N, 4>, <S; i64> -> <T, 4; f32; path = [B, S]>
  %a = ragged.normalize group %y {groups = 2 : i64} : <T, 4; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  %b = ragged.normalize instance %y : <T, 4; f32; path = [B, S]> -> <T, 4; f32; path = [B, S]>
  return %a, %b : <T, 4; f32; path = [B, S]>, <T, 4; f32; path = [B, S]> }""",
     sentences)  # fmt: skip

case("norms_dense", """func.func @f(%x: tensor<70x6xf32>, %n: <N>) -> (tensor<70x6xf32>, tensor<70x6xf32>, tensor<70x6xf32>) {
  %a = ragged.normalize group %x {groups = 2 : i64} : tensor<70x6xf32> -> tensor<70x6xf32>
  %b = ragged.normalize instance %x : tensor<70x6xf32> -> tensor<70x6xf32>
  %c = ragged.normalize rms %x : tensor<70x6xf32> -> tensor<70x6xf32>
  return %a, %b, %c : tensor<70x6xf32>, tensor<70x6xf32>, tensor<70x6xf32> }""",
     together(np.random.default_rng(6).standard_normal((70, 6)).astype("f4"), rows()),
     batch=True)  # fmt: skip


# --- Reductions that start from something ------------------------------------------


def fold(name, inputs, dims, iterators, maps, result, init, element, combiner, batch=""):
    return f"""  %{name} = ragged.generic dims [{dims}] iterators [{iterators}] path [B] maps [{maps}]{batch}
      ins(%x : <N, 4{element}>) outs({init} : {result}) {{
  ^bb0(%el: {inputs}, %acc: {inputs}):
    %r = {combiner} : {inputs}
    ragged.yield %r : {inputs} }} -> {result}
"""


ROWS = "affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (b)>"
case("fold_from", f"""func.func @f(%x: <N, 4>, %y: <4>, %z: tensor<4xf32>) -> (<4>, <4>, tensor<4xf32>, <4>) {{
  %seven = ragged.fill 7.0 : f32 -> <4>
{fold("a", "f32", "N, 4", '"reduction", "parallel"', ROWS, "<4>", "%y", "", "arith.addf %acc, %el")}{
  fold("b", "f32", "N, 4", '"reduction", "parallel"', ROWS, "<4>", "%seven", "", "arith.maximumf %el, %acc")}{
  fold("c", "f32", "N, 4", '"reduction", "parallel"', ROWS, "tensor<4xf32>", "%z", "", "arith.addf %acc, %el", " batch_reduced")}{
  fold("d", "f32", "N, 4", '"reduction", "parallel"', ROWS, "<4>", "%a", "", "arith.mulf %acc, %el")}  return %a, %b, %c, %d : <4>, <4>, tensor<4xf32>, <4> }}""",
     together(rows(4), lambda rng, lengths: [normal(rng, 4) for _ in lengths], weights(4)),
     batch=True)  # fmt: skip
