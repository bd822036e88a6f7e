//===- RaggedContractOps.td - contractions, from equations to register blocks -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_CONTRACT_OPS
#define NESTED_RAGGED_CONTRACT_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_ContractOp : Ragged_NamedOp<"contract", [Ragged_Differentiable]> {
  let summary = "sums of products: any einsum over ragged and static dims";
  let description = [{
    `equation` names the dims of each operand and of the result, a letter each: `"nc,mc->nm"`. Letters
    that the result does not have are summed over; a letter twice in one operand takes its diagonal.
    Operands are per sample or shared (dense, or of a path that is a prefix of the others').
    With `batch` the last component of the path is summed over too: a weight gradient is
    `"nk,nm->km" batch`.

    * R1: a letter has the same extent wherever it occurs.
    * R5: a sum of nothing is 0 (booleans: false).
    * R6: f16 and bf16 accumulate in f32, which may also be the result's type. Products of matrices
      accumulate in the type of the result: f32 in blocks of at most 256 terms, blocks one after the other, and
      over the batch in chunks of rows whose sums are added in f64. Sums over ragged dims or the batch that are
      no product of matrices accumulate f32 in f64. Integers wrap in their own width.
    * R8: terms are added in an order that depends on the sample alone.
    * Booleans: products are `and`, sums are `or`.

    More than two operands are contracted from left to right, in the accumulator's type between them. A letter that
    only one operand has, and not the result, is summed before there are products, and a letter that no later operand
    has as soon as it can be: that matters where there are infinities.

    ```mlir
    %s = ragged.contract "nc,mc->nm" %q, %k : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32>
        -> !ragged.tensor<[N, M], f32>
    %g = ragged.contract "nk,nm->km" %x, %dy batch : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[N, 32], f32>
        -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins StrAttr:$equation, Variadic<Ragged_AnyTensor>:$operands, UnitAttr:$batch);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    $equation $operands (`batch` $batch^)? attr-dict `:` type($operands) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// kernels
//===----------------------------------------------------------------------===//

def Ragged_ContractKernelOp : Ragged_PureOp<"contract_kernel"> {
  let summary = "a contraction as a kernel of its own";
  let description = [{
    The sum of products of a `ragged.generic` with these dims, maps and offsets, which starts from 0 and adds up in
    the type of the result. Each dim belongs to both inputs and the result (*batch*), to one input and the
    result (*rows*, *columns*), or to both inputs alone (*depth*).

    * per sample: a unit is a sample, an index of its batch dims and a block of 96 rows, so that one large sample
      is spread over threads;
    * `batch_reduced`: a unit is a chunk of 2048 packed rows of the ragged depth dims, whose sums are added up by a
      second kernel (R8).

    ```mlir
    %s = ragged.contract_kernel dims [N, M, 64] iterators ["parallel", "parallel", "reduction"] path [B]
        maps [affine_map<(n, m, c) -> (n, c)>, affine_map<(n, m, c) -> (m, c)>, affine_map<(n, m, c) -> (n, m)>]
        %q, %k : !ragged.tensor<[N, 64], f32>, !ragged.tensor<[M, 64], f32> -> !ragged.tensor<[N, M], f32>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$lhs, Ragged_AnyTensor:$rhs,
      Ragged_ExtentArrayAttr:$extents, StrArrayAttr:$iterators, Ragged_PathAttr:$path, AffineMapArrayAttr:$maps,
      OptionalAttr<ArrayAttr>:$offsets, UnitAttr:$batch_reduced);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    `dims` custom<Extents>($extents) `iterators` $iterators `path` custom<Path>($path) `maps` $maps
    (`offsets` $offsets^)? (`batch_reduced` $batch_reduced^)? $lhs `,` $rhs attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::nested::ragged::ExtentAttr> getDims();
    bool isReduction(unsigned dim);
    /// Of input 0, input 1 or the result.
    ::mlir::AffineMap getMap(unsigned operand);
    /// Offsets of input `i`, one per logical dim; empty when it has none.
    ::llvm::SmallVector<::nested::ragged::ExtentAttr> getInputOffsets(unsigned i);
  }];
}

//===----------------------------------------------------------------------===//
// structure
//===----------------------------------------------------------------------===//

def Ragged_TileContractOp : Ragged_Op<"tile_contract", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a product of two matrices in memory";
  let description = [{
    `dest[r, c] = (accumulate ? dest[r, c] : 0) + sum over d of lhs[r, d] * rhs[d, c]`, added up in the type of
    `dest`. Each memory is seen as one dim of elements, and an element is found by an offset and two strides. With
    `tables` element *d* of lhs (rhs) is at `offset + tables[0][d]` (`tables[1][d]`) instead of
    `offset + d * stride`. With `lanes` there is such a product for each of so many neighbouring elements of all
    three. `boolean`: bytes that are 0 or 1, with `and` and `or`.

    Nothing but the elements named is read or written. The order of additions depends on `depth` alone.

    ```mlir
    ragged.tile_contract lhs %A[%o, %lda, %one] rhs %B[%p, %ldb, %one] into %C[%q, %ldc, %one]
        size [%rows, %columns, %depth] accumulate %more : memref<?xf32>, memref<?xf32>, memref<?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$lhs, Index:$lhs_offset, Index:$lhs_row, Index:$lhs_depth,
      AnyMemRef:$rhs, Index:$rhs_offset, Index:$rhs_depth, Index:$rhs_column,
      AnyMemRef:$dest, Index:$dest_offset, Index:$dest_row, Index:$dest_column,
      Index:$rows, Index:$columns, Index:$depth, Optional<Index>:$lanes, Variadic<AnyMemRef>:$tables,
      I1:$accumulate, UnitAttr:$boolean);
  let assemblyFormat = [{
    `lhs` $lhs `[` $lhs_offset `,` $lhs_row `,` $lhs_depth `]` `rhs` $rhs `[` $rhs_offset `,` $rhs_depth `,` $rhs_column `]`
    `into` $dest `[` $dest_offset `,` $dest_row `,` $dest_column `]` `size` `[` $rows `,` $columns `,` $depth `]`
    (`lanes` $lanes^)? (`tables` `(` $tables^ `:` type($tables) `)`)? `accumulate` $accumulate attr-dict
    `:` type($lhs) `,` type($rhs) `,` type($dest)
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_CONTRACT_OPS
