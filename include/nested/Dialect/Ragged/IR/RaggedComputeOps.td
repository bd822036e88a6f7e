//===- RaggedComputeOps.td - ops that make, create, consume and compute -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_COMPUTE_OPS
#define NESTED_RAGGED_COMPUTE_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_EmptyOp : Ragged_PureOp<"empty"> {
  let summary = "a tensor whose contents do not matter: the init of a parallel generic";
  let description = [{
    ```mlir
    %e = ragged.empty : !ragged.tensor<[N, 128], f32>
    ```
  }];
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Ragged_FillOp : Ragged_PureOp<"fill"> {
  let summary = "one constant everywhere";
  let description = [{
    ```mlir
    %z = ragged.fill 0.0 : f32 -> !ragged.tensor<[N, 128], f32>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_IotaOp : Ragged_NamedOp<"iota"> {
  let summary = "the coordinate along one dim, in each sample";
  let description = [{
    ```mlir
    %a = ragged.iota dim 0 : !ragged.tensor<[N, N], i64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Ragged_MapOp : Ragged_NamedOp<"map", [SingleBlockImplicitTerminator<"YieldOp">, Ragged_Differentiable]> {
  let summary = "elementwise computation";
  let description = [{
    The region sees one scalar per input and yields one scalar; `arith` and `math` ops.

    * R1: inputs with compatible paths and the same canonical extents, dim by dim.
    * R2: only extent 1 broadcasts, or an explicit `ragged.broadcast`. A dense input aligns
      with trailing *static* dims of the result; an input of lower rank with a ragged dim is an error.
      A path that is a prefix of the result's path broadcasts.

    ```mlir
    %z = ragged.map ins(%x, %y : !ragged.tensor<[N, 128], f32>, tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      ragged.yield %c : f32
    } -> !ragged.tensor<[N, 128], f32>
    ```
  }];
  let arguments = (ins Variadic<Ragged_AnyTensor>:$inputs);
  let results = (outs Ragged_AnyTensor:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` ($inputs^ `:` type($inputs))? `)` attr-dict-with-keyword $body `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ragged_YieldOp : Ragged_PureOp<"yield", [Terminator, ReturnLike,
    ParentOneOf<["MapOp", "GenericOp", "ScanOp", "CustomGradientOp", "CheckpointOp", "TileReduceOp", "TileFoldOp"]>]> {
  let summary = "values of one element";
  let description = [{
    ```mlir
    ragged.yield %c : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{}]>];
}

def Ragged_BroadcastOp : Ragged_NamedOp<"broadcast", [Ragged_Differentiable]> {
  let summary = "creates axes: repeats along dims that the input does not have";
  let description = [{
    Input dim *k* becomes result dim `dims[k]`; its extent is the same, or 1. Result dims that no
    input dim maps to are created. A dense input or one with a prefix path repeats over the batch.

    ```mlir
    %p = ragged.broadcast %u dims [0, 2] : !ragged.tensor<[N, 128], f32> -> !ragged.tensor<[N, M, 128], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, DenseI64ArrayAttr:$dims);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$source `dims` $dims attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ragged_LinearOp : Ragged_NamedOp<"linear", [Ragged_Differentiable]> {
  let summary = "rows times weights, plus a bias";
  let description = [{
    Contracts the last dim of `source`, which is static and stored last, with the first dim of the
    dense `[K, M]` weights. R6: accumulates in at least f32.

    ```mlir
    %y = ragged.linear %x, %w : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32> -> !ragged.tensor<[N, 128], f32>
    %z = ragged.linear %x, %w bias %b : !ragged.tensor<[N, 384], f32>, tensor<384x128xf32>, tensor<128xf32>
        -> !ragged.tensor<[N, 128], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, 2DTensorOf<[AnyFloat, AnyInteger]>:$weights,
                       Optional<1DTensorOf<[AnyFloat, AnyInteger]>>:$bias);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    $source `,` $weights (`bias` $bias^)? attr-dict `:` type($source) `,` type($weights) (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ragged_GenericOp : Ragged_PureOp<"generic", [AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">, Ragged_Differentiable]> {
  let summary = "iteration over per-sample extents, a scalar region inside";
  let description = [{
    To this dialect what `linalg.generic` is to linalg. For every instance of `path` and every point of
    `dims` the region computes from one element of each input; `iterators` says which dims are
    `parallel` and which are `reduction`; `maps` has one affine map per input and per output
    from iteration dims to *logical* dims of the operand. The batch is implicit, and parallel
    unless `batch_reduced`, which also reduces the last component of the path.

    * An input whose path is a prefix of `path` (dense: the empty prefix) repeats.
    * `offsets` adds per-sample extents to an input's coordinates (slices): one list per input, one
      extent per logical dim, or empty for none. The access must stay inside the operand; the op that
      was generalised has checked that. R1: a dim of an input without offsets that is indexed by one iteration
      dim has the extent of that dim.
    * `outside` lifts that for some inputs (padding, concatenation, windows): one entry per input, `unit` or
      the element that an access outside of the operand reads.
    * Output maps are projected permutations of all parallel dims; each output has an init, which
      the region sees as its last arguments. `ragged.fill` as an init is folded into the kernel.
    * The region sees `ragged.index` and never loads.

    ```mlir
    %s = ragged.generic dims [N, M, 128] iterators ["parallel", "reduction", "parallel"] path [B]
        maps [affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (b, c)>, affine_map<(a, b, c) -> (a, c)>]
        ins(%u, %v : !ragged.tensor<[N, 128], f32>, !ragged.tensor<[M, 128], f32>)
        outs(%zero : !ragged.tensor<[N, 128], f32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %acc, %0 : f32
      ragged.yield %1 : f32
    } -> !ragged.tensor<[N, 128], f32>
    ```
  }];
  let arguments = (ins Variadic<Ragged_AnyTensor>:$inputs, Variadic<Ragged_AnyTensor>:$inits,
      Ragged_ExtentArrayAttr:$extents, StrArrayAttr:$iterators, Ragged_PathAttr:$path, AffineMapArrayAttr:$maps,
      OptionalAttr<ArrayAttr>:$offsets, OptionalAttr<ArrayAttr>:$outside, UnitAttr:$batch_reduced);
  let results = (outs Variadic<Ragged_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `dims` custom<Extents>($extents) `iterators` $iterators `path` custom<Path>($path) `maps` $maps
    (`offsets` $offsets^)? (`outside` $outside^)? (`batch_reduced` $batch_reduced^)?
    `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $inits `:` type($inits) `)`
    attr-dict-with-keyword $body `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::nested::ragged::ExtentAttr> getDims();
    ::llvm::SmallVector<::mlir::StringAttr> getPathNames();
    bool isReduction(unsigned dim);
    ::mlir::AffineMap getInputMap(unsigned i);
    ::mlir::AffineMap getOutputMap(unsigned i);
    /// Offsets of input `i`, one per logical dim; empty when it has none.
    ::llvm::SmallVector<::nested::ragged::ExtentAttr> getInputOffsets(unsigned i);
    /// What input `i` is outside of its operand; null if it is only read inside.
    ::mlir::TypedAttr getInputOutside(unsigned i);
  }];
}

def Ragged_IndexOp : Ragged_PureOp<"index"> {
  let summary = "coordinate of the current point along one iteration dim of a generic";
  let description = [{
    ```mlir
    %a = ragged.index 0 : i64
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs I64:$result);
  let assemblyFormat = "$dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_COMPUTE_OPS
