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

def Ragged_SliceOp : Ragged_NamedOp<"slice", [DeclareOpInterfaceMethods<SizeCheckOpInterface>, Ragged_Differentiable]> {
  let summary = "a range of one dim, its bounds per sample";
  let description = [{
    Takes `size` indices of dim `dim` from `start` on; both are extents, so `x[1:]` is
    `start 1 size N - 1`, and `x[-1:]` is `start N - 1 size 1`. That all of them are inside
    (`0 <= start` and `start + size <= extent` for step 1) is checked for every sample when the program is
    entered, unless the extents' form proves it. With `drop` (size 1) the dim disappears: `x[-1]`. With `step` it
    takes each `step`-th index, or goes backwards: `x[::2]`, and `x[::-1]`, which is `start N - 1 size N step -1`.

    ```mlir
    %y = ragged.slice %x dim 0 start <1> size <N - 1> : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N - 1, 8], f32>
    %z = ragged.slice %x dim 0 start <N - 1> size <1> drop : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[8], f32>
    %r = ragged.slice %x dim 0 start <N - 1> size <N> step -1 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, I64Attr:$dim, Ragged_ExtentAttr:$start, Ragged_ExtentAttr:$size,
                       DefaultValuedAttr<I64Attr, "1">:$step, UnitAttr:$drop, OptionalAttr<StrAttr>:$reason);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    $source `dim` $dim `start` $start `size` $size (`step` $step^)? (`drop` $drop^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The least and the largest index that is taken; of no index, something
    /// that is allowed. Null where it does not fit 64 bits.
    std::pair<::nested::ragged::ExtentAttr, ::nested::ragged::ExtentAttr> getIndexRange();
  }];
  let hasFolder = 1;
}

def Ragged_PadOp : Ragged_NamedOp<"pad", [DeclareOpInterfaceMethods<SizeCheckOpInterface>, Ragged_Differentiable]> {
  let summary = "makes dims longer; what is new is one constant";
  let description = [{
    Each dim gets `low` indices in front and `high` behind: one extent of each per dim, so that a sample may be
    padded by an amount of its own. That none is negative is checked when the program is
    entered, unless its form proves it.

    ```mlir
    %y = ragged.pad %x low [1, 0] high [N, 2] value 0.0 : f32 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[2 * N + 1, 10], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, Ragged_ExtentArrayAttr:$low, Ragged_ExtentArrayAttr:$high,
                       TypedAttrInterface:$value, OptionalAttr<StrAttr>:$reason);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    $source `low` custom<Extents>($low) `high` custom<Extents>($high) `value` $value attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ragged_ConcatOp : Ragged_NamedOp<"concat", [Ragged_Differentiable]> {
  let summary = "tensors one after the other along one dim";
  let description = [{
    R1: the other dims, the path and the element type are those of the result; the extent of `dim` is the sum. A
    dense input, or one over a prefix of the path, is repeated.

    ```mlir
    %z = ragged.concat %x, %y dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], f32> -> !ragged.tensor<[M + N, 8], f32>
    ```
  }];
  let arguments = (ins Variadic<Ragged_AnyTensor>:$inputs, I64Attr:$dim);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
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

def Ragged_TakeOp : Ragged_Op<"take", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<IndexedLoadOpInterface>,
    Ragged_Differentiable]> {
  let summary = "indices of one dim by number, in each sample";
  let description = [{
    Dim `dim` of the source is replaced by the dims of the index. R1: an index is one of the same sample, or of a sample of
    which it is a part. An index outside `[0, extent)` is a run-time error that names sample and row; negative
    indices do not wrap.

    ```mlir
    %y = ragged.take %x, %i dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M], i64> -> !ragged.tensor<[M, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, Ragged_AnyTensor:$indices, I64Attr:$dim);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source `,` $indices `dim` $dim attr-dict `:` type($source) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_TakeAlongOp : Ragged_Op<"take_along", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<IndexedLoadOpInterface>,
    Ragged_Differentiable]> {
  let summary = "for each index an element of its own line along one dim";
  let description = [{
    The result has the dims of the indices: element `(.., i, ..)` is that of the source at the same place but for `dim`, where
    it is the index. R1: the other dims are those of the source. An index outside `[0, extent)` is a
    run-time error that names sample and row; negative indices do not wrap.

    ```mlir
    %y = ragged.take_along %x, %i dim 0 : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[M, 8], i64> -> !ragged.tensor<[M, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, Ragged_AnyTensor:$indices, I64Attr:$dim);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source `,` $indices `dim` $dim attr-dict `:` type($source) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_ReshapeOp : Ragged_PureOp<"reshape", [DeclareOpInterfaceMethods<SizeCheckOpInterface>, Ragged_Differentiable]> {
  let summary = "the elements of each sample in other dims; nothing is copied";
  let description = [{
    As NumPy's: the elements of a sample stay in row-major order. Merges dims, splits them, adds and removes dims of
    extent 1. That source and result have equally many elements is checked when the program is entered,
    unless their extents' form proves it: splitting `N` into `M` rows of 4 with `M = N floordiv 4` checks that
    4 divides each length. Both are stored in the order of their dims.

    ```mlir
    %y = ragged.reshape %x : !ragged.tensor<[N, M, 8], f32> -> !ragged.tensor<[M * N, 8], f32>
    %z = ragged.reshape %u : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N floordiv 4, 4, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, OptionalAttr<StrAttr>:$reason);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ragged_MaskedSelectOp : Ragged_BindingOp<"masked_select", [Ragged_Differentiable]> {
  let summary = "keeps the indices of one ragged dim where a mask holds; a symbol from data";
  let description = [{
    Dim 0 of `source` is stored first and the only dim that may be ragged; the mask has that dim alone. The result's dim 0 is a
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

def Ragged_NestOp : Ragged_BindingOp<"nest", [Ragged_Differentiable]> {
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

def Ragged_UnnestOp : Ragged_PureOp<"unnest", [Ragged_Differentiable]> {
  let summary = "the last path component becomes dim 0; nothing is copied";
  let description = [{
    For tensors over `[B, S]` whose extents are the same for every S of a sample: they are static, or of symbols over `[B]`.
    If dim 0 has the symbol of a `ragged.nest`, it becomes what was nested: groups one after the other.

    ```mlir
    %z = ragged.unnest %y : !ragged.tensor<[8], f32, path = [B, S]> -> !ragged.tensor<[S, 8], f32>
    %t = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
    %w = ragged.unnest %t : !ragged.tensor<[T, 8], f32, path = [B, S]> -> !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ragged_RenestOp : Ragged_PureOp<"renest", [Ragged_Differentiable]> {
  let summary = "dim 0 becomes members of a path that is there: the inverse of `unnest`; nothing is copied";
  let description = [{
    As `ragged.nest`, but by groups that exist: it binds no symbol. Dim 0 is the last component of the result's path, or, if dim 0
    of the result has the symbol of a `ragged.nest`, what was nested. It is the derivative of `ragged.unnest`.

    ```mlir
    %z = ragged.renest %y : !ragged.tensor<[S, 8], f32> -> !ragged.tensor<[8], f32, path = [B, S]>
    %t = ragged.nest %x, %n : !ragged.tensor<[N, 8], f32>, !ragged.tensor<[S], i64> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
    %w = ragged.renest %x : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[T, 8], f32, path = [B, S]>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // NESTED_RAGGED_MOVE_OPS
