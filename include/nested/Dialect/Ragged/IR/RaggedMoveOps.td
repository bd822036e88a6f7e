//===- RaggedMoveOps.td - ops that move data or change structure -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_MOVE_OPS
#define NESTED_RAGGED_MOVE_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_TransposeOp : Ragged_NamedOp<"transpose", [Ragged_Differentiable]> {
  let summary = "permutes logical dims";
  let description = [{
    Result dim *k* is input dim `permutation[k]`.

    ```mlir
    %t = ragged.transpose %p permutation [1, 0, 2] : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M, N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source `permutation` $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Ragged_SliceOp : Ragged_NamedOp<"slice"> {
  let summary = "a range of one dim, its bounds per sample";
  let description = [{
    Takes `size` indices of dim `dim` from `start` on; both are extents, so `x[1:]` is
    `start 1 size N - 1`, and `x[-1:]` is `start N - 1 size 1`. `0 <= start` and `start + size <= extent`
    are checked for every sample when the program is entered, unless the extents' form
    proves them. With `drop` (size 1) the dim disappears: `x[-1]`.

    ```mlir
    %y = ragged.slice %x dim 0 start <1> size <N - 1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N - 1, 8], f32>
    %z = ragged.slice %x dim 0 start <N - 1> size <1> drop : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, I64Attr:$dim, Ragged_ExtentAttr:$start, Ragged_ExtentAttr:$size,
                       UnitAttr:$drop, OptionalAttr<StrAttr>:$reason);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    $source `dim` $dim `start` $start `size` $size (`drop` $drop^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

// Not pure: an index out of range is a run-time error.
def Ragged_GatherOp : Ragged_Op<"gather", [MemoryEffects<[MemWrite]>, Ragged_Differentiable]> {
  let summary = "rows of a dense table by index";
  let description = [{
    The first dim of the table is replaced by the dims of the index. An index outside
    `[0, rows of the table)` is a run-time error that names the row; negative indices do not wrap.

    ```mlir
    %x = ragged.gather %table, %i : tensor<21x384xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 384], f32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$table, Ragged_AnyTensor:$indices);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` type($table) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_MaskedSelectOp : Ragged_BindingOp<"masked_select"> {
  let summary = "keeps the indices of one ragged dim where a mask holds; a symbol from data";
  let description = [{
    Dim 0 of `source` is ragged and the only ragged dim; the mask has that dim alone. The result's dim 0 is a
    *fresh* symbol, bound by this op: the number of true entries of each sample, at most the
    source's extent. Order is kept.

    ```mlir
    %y = ragged.masked_select %x, %m : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N], i1> -> !ragged.tensor<[K, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source, Ragged_TensorType:$mask);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source `,` $mask attr-dict `:` qualified(type($source)) `,` qualified(type($mask)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Ragged_NestOp : Ragged_BindingOp<"nest"> {
  let summary = "regroups a ragged axis into the path; nothing is copied";
  let description = [{
    `lengths` says, for each of the S groups of a sample, how many indices of dim 0 it has; they must add up to the
    source's extent (checked at run time, sample by sample). Dim 0 becomes a *fresh* symbol over
    the longer path.

    ```mlir
    %y = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64>
        -> !ragged.tensor<[T, 8], f32, path = [B, S]>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source, Ragged_TensorType:$lengths);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source `,` $lengths attr-dict `:` qualified(type($source)) `,` qualified(type($lengths)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Ragged_UnnestOp : Ragged_PureOp<"unnest"> {
  let summary = "the last path component becomes dim 0; nothing is copied";
  let description = [{
    For tensors without ragged dims over `[B, S]`.

    ```mlir
    %z = ragged.unnest %y : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[S, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_MOVE_OPS
