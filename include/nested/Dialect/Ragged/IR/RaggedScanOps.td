//===- RaggedScanOps.td - ops that step along a dim in order -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_SCAN_OPS
#define NESTED_RAGGED_SCAN_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_ScanOp : Ragged_PureOp<"scan", [SingleBlockImplicitTerminator<"YieldOp">, Ragged_Differentiable]> {
  let summary = "steps along one dim in order, with carried values";
  let description = [{
    For every index of the other dims: the carried values start as `init`, then for each index of dim `dim`, first
    to last (`reverse`: last to first), the region gets one element of each input and the carried values, and
    yields the carried values of the next step and one element of each result. What a result is at an
    index may so be what was carried before the step (exclusive) or after it (inclusive). A group
    ends with its own extent: samples that have ended take no further step.

    R1: inputs and results have one path, the same extents and the same order of storage. R6: carried values may be
    wider than elements. R8: the order of the steps is that of the indices, whatever the batch.
    A dim without indices gives results without elements (R5).

    ```mlir
    %y = ragged.scan ins(%x : !ragged.tensor<[N, 8], f32>) dim 0 init [0.0 : f64] {
    ^bb0(%a: f32, %sum: f64):
      %0 = arith.extf %a : f32 to f64
      %1 = arith.addf %sum, %0 : f64
      %2 = arith.truncf %1 : f64 to f32
      ragged.yield %1, %2 : f64, f32
    } -> !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Variadic<Ragged_AnyTensor>:$inputs, I64Attr:$dim, UnitAttr:$reverse, ArrayAttr:$init);
  let results = (outs Variadic<Ragged_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` ($inputs^ `:` type($inputs))? `)` `dim` $dim (`reverse` $reverse^)? `init` $init
    attr-dict-with-keyword $body `->` type($results)
  }];
  let hasVerifier = 1;
}

def Ragged_AccumulateOp : Ragged_NamedOp<"accumulate", [AllTypesMatch<["source", "result"]>, Ragged_Differentiable]> {
  let summary = "running reductions along one dim";
  let description = [{
    Index *a* of the result reduces the indices up to and including *a* of dim `dim`; `exclusive`: without *a*,
    so that the first one is the kind's identity (0, 1, the least, the greatest, -inf); `reverse`: from *a* on.
    Kinds: sum, prod, max, min, logsumexp.

    R6: sums and products of f32 are kept in f64, those of narrower floats in f32; integers in their own width.
    R8: added one by one in the order of the indices. R10: NaN stays from where it occurs.

    ```mlir
    %y = ragged.accumulate sum %x dim 0 : !ragged.tensor<[N, 8], f32>
    %z = ragged.accumulate max %x dim 0 reverse exclusive : !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_AccumulateKindAttr:$kind, Ragged_AnyTensor:$source, I64Attr:$dim,
                       UnitAttr:$reverse, UnitAttr:$exclusive);
  let results = (outs Ragged_AnyTensor:$result);
  let assemblyFormat = [{
    `` $kind $source `dim` $dim (`reverse` $reverse^)? (`exclusive` $exclusive^)? attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

#endif // NESTED_RAGGED_SCAN_OPS
