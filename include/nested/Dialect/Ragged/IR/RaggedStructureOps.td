//===- RaggedStructureOps.td - structure as values -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_STRUCTURE_OPS
#define NESTED_RAGGED_STRUCTURE_OPS

include "nested/Dialect/Ragged/IR/RaggedBase.td"

def Ragged_PartitionOp : Ragged_PureOp<"partition"> {
  let summary = "structure of a tensor, or of lengths";
  let description = [{
    With a ragged tensor: its structure. With lengths (one `tensor<?xi64>` per symbol,
    in the order in which the symbols occur in the result type): binds those symbols,
    which must be fresh, to the lengths.

    ```mlir
    %p = ragged.partition %x : !ragged.tensor<[N, N, 128], f32> -> !ragged.partition<[N, N]>
    %q = ragged.partition %n, %m : tensor<?xi64>, tensor<?xi64> -> !ragged.partition<[K, L]>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Ragged_TensorType, Ragged_DenseI64]>>:$sources);
  let results = (outs Ragged_PartitionType:$result);
  let assemblyFormat = "$sources attr-dict `:` type($sources) `->` qualified(type($result))";
  let hasVerifier = 1;
}

class Ragged_PartitionQueryOp<string mnemonic> : Ragged_PureOp<mnemonic> {
  let arguments = (ins Ragged_PartitionType:$partition);
}

def Ragged_LengthsOp : Ragged_PureOp<"lengths"> {
  let summary = "one dim's extent in every sample, as a dense tensor";
  let description = [{
    ```mlir
    %n = ragged.lengths %p dim 1 : !ragged.partition<[N, M]> -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Ragged_PartitionType:$partition, I64Attr:$dim);
  let results = (outs Ragged_DenseI64:$result);
  let assemblyFormat = "$partition `dim` $dim attr-dict `:` qualified(type($partition)) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_OffsetsOp : Ragged_PartitionQueryOp<"offsets"> {
  let summary = "first row of every sample, and the total: `B + 1` values";
  let description = [{
    ```mlir
    %o = ragged.offsets %p : !ragged.partition<[N, N]> -> tensor<?xi64>
    ```
  }];
  let results = (outs Ragged_DenseI64:$result);
  let assemblyFormat = "$partition attr-dict `:` qualified(type($partition)) `->` type($result)";
}

def Ragged_RowSplitsOp : Ragged_PureOp<"row_splits"> {
  let summary = "row splits of one level, as other tools keep them";
  let description = [{
    Level 0 splits the batch into samples; level *k* splits the rows of the first *k*
    ragged dims by the next one. Lengths (2, 3) of `[N, N]`: level 0 is 0, 2, 5; level 1
    is 0, 2, 4, 7, 10, 13.

    ```mlir
    %s = ragged.row_splits %p level 1 : !ragged.partition<[N, N]> -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Ragged_PartitionType:$partition, I64Attr:$level);
  let results = (outs Ragged_DenseI64:$result);
  let assemblyFormat = "$partition `level` $level attr-dict `:` qualified(type($partition)) `->` type($result)";
  let hasVerifier = 1;
}

def Ragged_TotalOp : Ragged_PartitionQueryOp<"total"> {
  let summary = "rows of the whole batch";
  let description = [{
    ```mlir
    %t = ragged.total %p : !ragged.partition<[N, N]> -> tensor<i64>
    ```
  }];
  let results = (outs 0DTensorOf<[I64]>:$result);
  let assemblyFormat = "$partition attr-dict `:` qualified(type($partition)) `->` type($result)";
}

def Ragged_ExtentOp : Ragged_PureOp<"extent"> {
  let summary = "value of an extent, one number per sample";
  let description = [{
    The symbols must be bound where the op stands.

    ```mlir
    %n = ragged.extent <N * N> : !ragged.tensor<[], i64>
    ```
  }];
  let arguments = (ins Ragged_ExtentAttr:$extent);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$extent attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Ragged_InstanceOp : Ragged_PureOp<"instance"> {
  let summary = "number of the sample in the batch";
  let description = [{
    Over a longer path the number of the instance: those of one sample follow each other. For what is about the whole
    batch, as which sample holds its maximum (R8: a sample's own results do not depend on it).

    ```mlir
    %i = ragged.instance : !ragged.tensor<[], i64>
    ```
  }];
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Ragged_LocateOp : Ragged_PureOp<"locate"> {
  let summary = "row numbers to sample numbers and coordinates";
  let description = [{
    Results: the sample of each row, then one coordinate per ragged extent. A row number
    outside the partition is a run-time error.

    ```mlir
    %i, %a, %b = ragged.locate %rows in %p
        : tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Ragged_DenseI64:$rows, Ragged_PartitionType:$partition);
  let results = (outs Variadic<Ragged_DenseI64>:$coordinates);
  let assemblyFormat = "$rows `in` $partition attr-dict `:` type($rows) `,` qualified(type($partition)) `->` type($coordinates)";
  let hasVerifier = 1;
}

def Ragged_LinearizeOp : Ragged_PureOp<"linearize"> {
  let summary = "sample numbers and coordinates to row numbers, the inverse of locate";
  let description = [{
    ```mlir
    %rows = ragged.linearize %i, %a, %b in %p
        : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>, !ragged.partition<[N, N]> -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Variadic<Ragged_DenseI64>:$coordinates, Ragged_PartitionType:$partition);
  let results = (outs Ragged_DenseI64:$rows);
  let assemblyFormat = "$coordinates `in` $partition attr-dict `:` custom<ListThenType>(type($coordinates), type($partition)) `->` type($rows)";
  let hasVerifier = 1;
}

def Ragged_ValuesOp : Ragged_PureOp<"values"> {
  let summary = "the packed values of a ragged tensor";
  let description = [{
    ```mlir
    %v = ragged.values %x : !ragged.tensor<[N, 128], f32> -> tensor<?x128xf32>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ragged_PackOp : Ragged_PureOp<"pack"> {
  let summary = "packed values and a structure make a ragged tensor";
  let description = [{
    The number of rows is checked against the partition's total at run time.

    ```mlir
    %x = ragged.pack %v, %p : tensor<?x128xf32>, !ragged.partition<[N]> -> !ragged.tensor<[N, 128], f32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$values, Ragged_PartitionType:$partition);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$values `,` $partition attr-dict `:` type($values) `,` qualified(type($partition)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ragged_WithLengthsOp : Ragged_PureOp<"with_lengths"> {
  let summary = "the same values cut into samples of other lengths";
  let description = [{
    Binds the one fresh symbol of the result type to the lengths. Totals are checked at
    run time.

    ```mlir
    %y = ragged.with_lengths %x, %n : !ragged.tensor<[N, 8], f32>, tensor<?xi64> -> !ragged.tensor<[M, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source, Ragged_DenseI64:$lengths);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source `,` $lengths attr-dict `:` qualified(type($source)) `,` type($lengths) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Ragged_CastOp : Ragged_PureOp<"cast", [Ragged_Differentiable]> {
  let summary = "a checked equality of extents";
  let description = [{
    The program needs the two types' extents to be equal, which cannot be decided at compile
    time. `--ragged-unify-symbols` hoists it to one check when the program is entered (sample
    by sample, R9) and rewrites the types; the check's error names this op's location, and
    `reason` (the source text that asked for it).

    ```mlir
    %y1 = ragged.cast %y {reason = "x + y"} : !ragged.tensor<[M, 8], f32> to !ragged.tensor<[N, 8], f32>
    ```
  }];
  let arguments = (ins Ragged_TensorType:$source, OptionalAttr<StrAttr>:$reason);
  let results = (outs Ragged_TensorType:$result);
  let assemblyFormat = "$source attr-dict `:` qualified(type($source)) `to` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ragged_CallOp : Ragged_PureOp<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "call of a function with a substitution of symbols";
  let description = [{
    The callee is a private `func.func` over its own symbols; `substitution` says what each
    of them is here, in terms of the caller's extents. `--ragged-inline-calls` inlines.

    ```mlir
    %y = ragged.call @norm(%x) with {K = #ragged.extent<N * N>}
        : (!ragged.tensor<[N * N, 8], f32>) -> !ragged.tensor<[N * N, 8], f32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, DictionaryAttr:$substitution);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` `with` $substitution attr-dict `:` functional-type($operands, $results)";
}

#endif // NESTED_RAGGED_STRUCTURE_OPS
