//===- RaggedSortOps.td - ops that order, search and scatter -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_SORT_OPS
#define NESTED_RAGGED_SORT_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_SortOp : Ragged_PureOp<"sort", [Ragged_Differentiable]> {
  let summary = "orders the elements along one dim, and says where they were";
  let description = [{
    For every index of the other dims the elements along dim `dim` in rising order, with `descending` in falling order, and
    the index that each had before. A result that nothing uses is not computed.

    R10: equal elements keep their order, in both directions; 0 and -0 are equal. NaN is greater than every number: last
    in rising order, first in falling order.

    ```mlir
    %v, %i = ragged.sort %x dim 0 : !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], f32>, !ragged.tensor<[N, 8], i64>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$source, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs Ragged_AnyTensor:$sorted, Ragged_AnyTensor:$indices);
  let assemblyFormat = [{
    $source `dim` $dim (`descending` $descending^)? attr-dict `:` type($source) `->` type($sorted) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def Ragged_SearchSortedOp : Ragged_PureOp<"searchsorted"> {
  let summary = "where elements belong in a sorted list";
  let description = [{
    For each element of `values` how many elements of `sorted` stand before it: those that are less, with `right` those
    that are not greater. `sorted` has one dim, in rising order as `ragged.sort` makes it (R10: NaN last), per sample or, if it
    is dense, one for all. What comes of a list that is not sorted is some index from 0 to its size.

    ```mlir
    %i = ragged.searchsorted %s, %x right : !ragged.tensor<[K], f32>, !ragged.tensor<[N, 8], f32> -> !ragged.tensor<[N, 8], i64>
    ```
  }];
  let arguments = (ins Ragged_AnyTensor:$sorted, Ragged_AnyTensor:$values, UnitAttr:$right);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = "$sorted `,` $values (`right` $right^)? attr-dict `:` type($sorted) `,` type($values) `->` type($result)";
  let hasVerifier = 1;
}

// Not pure: an index out of range is a run-time error.
def Ragged_ScatterOp : Ragged_Op<"scatter", [MemoryEffects<[MemWrite]>, Ragged_Differentiable]> {
  let summary = "combines rows into the rows that an index names";
  let description = [{
    The result is `init`, into which, for each index *a* of dim 0 of `updates`, first to last, `updates[a]` is combined at
    index `indices[a]` of dim 0: `add`, `max`, `min`, or `set`. Other dims are the same in `init`, `updates` and the result.
    An index outside of `[0, extent of dim 0)` is a run-time error that names the sample and the row; negative indices do not wrap.
    `add` may add the updates of all samples, one after the other, to an `init` that is dense.

    R6: sums of floats are kept in f64. R8: the order is that of the updates. R10: of `set` the last one wins; `max` and `min`
    propagate NaN.

    ```mlir
    %y = ragged.scatter add %z, %i, %x : !ragged.tensor<[K, 8], f32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 8], f32>
        -> !ragged.tensor<[K, 8], f32>
    %t = ragged.scatter add %u, %i, %x : tensor<21x8xf32>, !ragged.tensor<[N], i64>, !ragged.tensor<[N, 8], f32> -> tensor<21x8xf32>
    ```
  }];
  let arguments = (ins Ragged_ScatterKindAttr:$kind, Ragged_AnyTensor:$init, Ragged_AnyTensor:$indices,
                       Ragged_AnyTensor:$updates);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    `` $kind $init `,` $indices `,` $updates attr-dict `:` type($init) `,` type($indices) `,` type($updates) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_SORT_OPS
