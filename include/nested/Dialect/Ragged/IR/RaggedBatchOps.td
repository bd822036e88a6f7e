//===- RaggedBatchOps.td - other samples, and sizes from numbers -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_BATCH_OPS
#define NESTED_RAGGED_BATCH_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

// What changes which samples there are. Words: the *members* are the instances of the last component of the
// sources' path (samples for `[B]`, sentences of documents for `[B, S]`); `renames [N] to [K]` gives the sources' symbols that
// have one length per member their names in the results.
class Ragged_BatchOp<string mnemonic, list<Trait> traits> : Ragged_BindingOp<mnemonic, traits> {
  let results = (outs Variadic<Ragged_TensorType>:$results);
  let hasVerifier = 1;
}

def Ragged_SelectBatchOp : Ragged_BatchOp<"select_batch", [Ragged_Differentiable]> {
  let summary = "some samples, or the samples in another order; a batch from data";
  let description = [{
    The selector says which members of the sources' batch the results have:

    * a boolean for each member: those where it holds, in order. The last component of the results' path is a
      *fresh* symbol, bound by this op.
    * an integer for each member of the result: the number of a member, from 0 on, in the same sample where the path has
      several components. The results have the selector's path; a number out of range is a run-time error.
    * a dense list of integers: the same for a batch as long as the list, which is a *fresh* symbol.

    All sources come along in one op, so that the results are one batch. `renames` names the lengths that the chosen
    members have: each symbol behind `to` is fresh and bound by this op.

    ```mlir
    %y, %w = ragged.select_batch %keep of %x, %v renames [N] to [K]
        : !ragged.tensor<[], i1>, !ragged.tensor<[N, 8], f32>, !ragged.tensor<[4], f32>
        -> !ragged.tensor<[K, 8], f32, path = [C]>, !ragged.tensor<[4], f32, path = [C]>
    %z = ragged.select_batch %indices of %x renames [N] to [L]
        : !ragged.tensor<[], i64>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[L, 8], f32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Ragged_TensorType, StaticShapeTensorOf<[I64]>]>:$selector,
                       Variadic<Ragged_TensorType>:$sources, Ragged_ExtentArrayAttr:$from, Ragged_ExtentArrayAttr:$to);
  let assemblyFormat = [{
    $selector `of` $sources `renames` custom<Extents>($from) `to` custom<Extents>($to) attr-dict
    `:` type($selector) `,` type($sources) `->` type($results)
  }];
}

def Ragged_RepeatBatchOp : Ragged_BatchOp<"repeat_batch", [Ragged_Differentiable]> {
  let summary = "each sample several times; a batch from data";
  let description = [{
    Each member of the sources' batch comes as often as `counts` says, copies behind each other. A count that is negative or
    above `at_most` is a run-time error: sizes are known by that before anything runs. The last component of the
    results' path and the symbols behind `to` are *fresh*, as in `select_batch`.

    ```mlir
    %y = ragged.repeat_batch %counts at_most 4 of %x renames [N] to [K]
        : !ragged.tensor<[], i64>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[K, 8], f32, path = [C]>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$counts, I64Attr:$at_most, Variadic<Ragged_TensorType>:$sources,
                       Ragged_ExtentArrayAttr:$from, Ragged_ExtentArrayAttr:$to);
  let assemblyFormat = [{
    $counts `at_most` $at_most `of` $sources `renames` custom<Extents>($from) `to` custom<Extents>($to) attr-dict
    `:` qualified(type($counts)) `,` type($sources) `->` type($results)
  }];
}

// Not pure: what does not fit is a run-time error.
def Ragged_MoveBatchOp : Ragged_Op<"move_batch", [MemoryEffects<[MemWrite]>, Ragged_Differentiable]> {
  let summary = "between a batch and the members that were chosen of it";
  let description = [{
    Of a choice that has been made: of `select_batch`, whose selector it has, or of `repeat_batch`, whose counts. The chosen members'
    batch and the symbols behind `to` are those that the choice bound; this op binds nothing.

    Values over the sources' batch become values over the chosen members', as in the op that chose them. With `sum` it is the other way:
    each member of the result is the sum of its copies, in their order, and 0 where there are none; that is of floats.

    The two are the adjoints of each other, and with `sum` it is that of `select_batch` and `repeat_batch`. Counts and lengths that are not those
    of the choice are a run-time error.

    R6: sums are kept in f64. R8: they are in the order of the copies.

    ```mlir
    %dx, %dv = ragged.move_batch sum %keep of %dy, %dw renames [N] to [K]
        : !ragged.tensor<[], i1>, !ragged.tensor<[K, 8], f32, path = [C]>, !ragged.tensor<[4], f32, path = [C]>
        -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[4], f32>
    ```
  }];
  let arguments = (ins UnitAttr:$sum, AnyTypeOf<[Ragged_TensorType, StaticShapeTensorOf<[I64]>]>:$selector,
                       Variadic<Ragged_TensorType>:$sources, Ragged_ExtentArrayAttr:$from, Ragged_ExtentArrayAttr:$to);
  let results = (outs Variadic<Ragged_TensorType>:$results);
  let assemblyFormat = [{
    (`sum` $sum^)? $selector `of` $sources `renames` custom<Extents>($from) `to` custom<Extents>($to) attr-dict
    `:` type($selector) `,` type($sources) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Ragged_BindSizeOp : Ragged_BindingOp<"bind_size"> {
  let summary = "a size that was computed: a symbol from a number";
  let description = [{
    The result's one extent is a *fresh* symbol, bound by this op to the number of each sample; a dense number gives
    one length that all samples have. It must be from 0 to `at_most`, which is what plans are made for; where
    `at_most` has other values in every sample and the number is dense, its largest counts.

    ```mlir
    %p = ragged.bind_size %n at_most <N> : !ragged.tensor<[], i64> -> !ragged.partition<[K]>
    %q = ragged.bind_size %longest at_most <N> : tensor<i64> -> !ragged.partition<[P]>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Ragged_TensorType, 0DTensorOf<[I64]>]>:$size, Ragged_ExtentAttr:$at_most);
  let results = (outs Ragged_PartitionType:$result);
  let assemblyFormat = "$size `at_most` $at_most attr-dict `:` type($size) `->` qualified(type($result))";
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_BATCH_OPS
