//===- RaggedReduceOps.td - reductions, softmax, normalisation -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_REDUCE_OPS
#define NESTED_RAGGED_REDUCE_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_ReduceOp : Ragged_NamedOp<"reduce", [Ragged_Differentiable]> {
  let summary = "consumes axes";
  let description = [{
    Reduces the named logical dims, ragged or static; with `batch` also the last component of the
    path (a path of one component leaves a dense tensor; every ragged dim must then be among
    `dims`). `keepdims` leaves extent 1.

    * `sum`, `prod`: in the element type, which wraps for integers; `mean`: of floats.
    * `max`, `min`: false is less than true.
    * `logsumexp`: of floats; the logarithm of the sum of `exp`, shifted by the group's largest element (R6). NaN if
      an element is NaN, infinity if one is infinity and none is NaN.
    * `any`, `all`: of i1.
    * `argmax`, `argmin`: i64, where the extremum is: the index along the dim, or over several dims the index in
      their row-major order, from the least logical dim to the greatest; without `batch`.
    * R5, reductions of nothing: sum 0, mean 0, product 1, logsumexp -infinity, any false, all true, argmax and argmin
      -1; max and min give what `empty` says (`zero` by default, `identity` on request).
    * R6: sums and products accumulate in at least f32; sums of f32 over ragged dims or the batch in f64.
    * R8: elements are added in an order fixed relative to the group's start.
    * R10: NaN propagates; for argmax and argmin the first NaN is the extremum, and of equal elements the first.

    ```mlir
    %s = ragged.reduce mean %p dims [1] : !ragged.tensor<[N, M, 128], f32> -> !ragged.tensor<[N, 128], f32>
    %t = ragged.reduce sum %x dims [0] batch : !ragged.tensor<[N, 128], f32> -> tensor<128xf32>
    %i = ragged.reduce argmax %x dims [0] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[128], i64>
    ```
  }];
  let arguments = (ins Ragged_ReduceKindAttr:$kind, Ragged_AnyTensor:$source, DenseI64ArrayAttr:$dims,
      UnitAttr:$batch, UnitAttr:$keepdims,
      DefaultValuedAttr<Ragged_EmptyPolicyAttr, "::nested::ragged::EmptyPolicy::Zero">:$empty);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    `` $kind $source `dims` $dims (`batch` $batch^)? (`keepdims` $keepdims^)? (`empty` `` $empty^)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ragged_SoftmaxOp : Ragged_NamedOp<"softmax", [Ragged_Differentiable]> {
  let summary = "exp divided by its sum over axes";
  let description = [{
    `exp(x) / sum(exp(x))`, where the sum is over the named logical dims, ragged or static, of the element's own
    group; with `log` the logarithm of that.

    * R4: NaN and infinity stay in their group, which is then NaN.
    * R5: over nothing there is nothing; where every element of a group is -infinity (it is masked out) the result
      is 0, with `log` -infinity.
    * R6: shifted by the group's largest element, and computed in at least f32; sums over ragged dims are kept in f64.

    ```mlir
    %p = ragged.softmax %x dims [1] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[N, M, 8], f32>
    %l = ragged.softmax %x dims [1] log : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, DenseI64ArrayAttr:$dims, UnitAttr:$log);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source `dims` $dims (`log` $log^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_NormalizeOp : Ragged_NamedOp<"normalize", [AttrSizedOperandSegments, Ragged_Differentiable]> {
  let summary = "normalisation within each sample";
  let description = [{
    `(x - mean) / sqrt(var + eps) * scale + offset`, with the mean and the variance of

    * `layer`: the last `dims` dims, which are static and stored last; of each row its own;
    * `rms`: the same, about 0 instead of the mean: `x / sqrt(mean(x * x) + eps)`;
    * `instance`: each channel, an index of the last dim, over every other dim of the sample, ragged ones included;
    * `group`: each of `groups` runs of equally many channels, over these and every other dim of the sample.

    `scale` and `offset` are dense, of the shape of the last `dims` dims, or of the last dim.

    * R5: what has no elements has no statistics either; with one element the variance is 0.
    * R6: the variance is two-pass; rounding the mean leaves nothing behind: equal elements become 0. Statistics over ragged dims are kept in f64.

    ```mlir
    %y = ragged.normalize layer %x scale %g offset %b {dims = 1 : i64, eps = 1.0e-5 : f64}
        : !ragged.tensor<[N, N, 128], f32>, scale tensor<128xf32>, offset tensor<128xf32> -> !ragged.tensor<[N, N, 128], f32>
    %z = ragged.normalize group %x {groups = 8 : i64} : !ragged.tensor<[N, N, 128], f32> -> !ragged.tensor<[N, N, 128], f32>
    ```
  }];
  let arguments = (ins Ragged_NormalizeKindAttr:$kind, Ragged_AnyTensor:$source,
      Optional<AnyStaticShapeTensor>:$scale, Optional<AnyStaticShapeTensor>:$offset,
      DefaultValuedAttr<I64Attr, "1">:$dims, DefaultValuedAttr<I64Attr, "1">:$groups,
      DefaultValuedAttr<F64Attr, "1.0e-5">:$eps);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    `` $kind $source (`scale` $scale^)? (`offset` $offset^)? attr-dict `:` type($source) `` custom<ScaleAndOffset>(type($scale), type($offset)) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_REDUCE_OPS
