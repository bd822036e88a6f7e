//===- RaggedTypes.td - types of the ragged dialect -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_TYPES
#define NESTED_RAGGED_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "nested/Dialect/Ragged/IR/RaggedDialect.td"

class Ragged_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Ragged_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Ragged_TensorType : Ragged_Type<"RaggedTensor", "tensor"> {
  let summary = "one tensor per sample, its extents an expression over symbols";
  let description = [{
    The words used everywhere:

    * **element dims**: the dims of one sample, in logical order; each has an
      *extent*, static (an integer) or *ragged* (it mentions a symbol).
    * **path**: the batch that the tensor is over, `[B]` unless said. `[B, S]`
      means "for each sample, for each s < S" (tokens of sentences).
    * **packed order**: the order of the dims in memory. Ragged dims first, then
      static dims, each in logical order, unless `order` says otherwise; a
      permutation of the logical dims in which every ragged dim comes before
      every static one.
    * **values**: the packed numbers, shape `[T, static dims...]`; a **row** is one
      index of its first axis. The row of ragged coordinates `(a1..aq)` in
      sample `i` is `base[i] + sum_j a_j * prod_{k>j} n_{i,k}`, in 64 bits (R7).

    A value whose path is empty and whose extents are static is an ordinary
    dense value and has a builtin `tensor` type.

    ```mlir
    !ragged.tensor<[N, 384], f32>                     // singles
    !ragged.tensor<[N, N, 128], f32>                  // square pairs
    !ragged.tensor<[N, M, 128], f32>                  // rectangular pairs
    !ragged.tensor<[3, N, 384], f32>                  // packed as [N, 3, 384]
    !ragged.tensor<[N, M], f32, order = [1, 0]>       // stored column by column
    !ragged.tensor<[384], f32>                        // one row per sample
    !ragged.tensor<[], i64>                           // one number per sample
    !ragged.tensor<[T, 64], f32, path = [B, S]>       // tokens of sentences
    ```

    Worked example, lengths (2, 3): singles `[N, C]` have offsets 0, 2, 5; pairs
    `[N, N, C]` have sample offsets 0, 4, 13 and second-level splits 0, 2, 4, 7, 10, 13.
  }];
  let parameters = (ins
    ArrayRefParameter<"::nested::ragged::ExtentAttr">:$extents,
    "::mlir::Type":$elementType,
    ArrayRefParameter<"::mlir::StringAttr">:$path,
    ArrayRefParameter<"int64_t">:$order);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    /// Default path `[B]` and default packed order.
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<::nested::ragged::ExtentAttr>":$extents, "::mlir::Type":$elementType)>,
    /// Default packed order.
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<::nested::ragged::ExtentAttr>":$extents, "::mlir::Type":$elementType,
      "::llvm::ArrayRef<::mlir::StringAttr>":$path)>
  ];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getExtents().size(); }
    /// Logical dims that are ragged, in packed order.
    ::llvm::SmallVector<int64_t> getRaggedDims() const;
    /// Logical dims that are static, in packed order.
    ::llvm::SmallVector<int64_t> getStaticDims() const;
    /// Product of the ragged extents: rows of one sample.
    ::nested::ragged::ExtentAttr getRowExtent() const;
    /// Static dims in packed order: the shape of one row.
    ::llvm::SmallVector<int64_t> getRowShape() const;
    /// The default packed order of these extents.
    static ::llvm::SmallVector<int64_t>
    getDefaultOrder(::llvm::ArrayRef<::nested::ragged::ExtentAttr> extents);
    /// The type of the packed values, `tensor<?xS1xS2xT>`.
    ::mlir::RankedTensorType getValuesType() const;
  }];
}

def Ragged_PartitionType : Ragged_Type<"Partition", "partition"> {
  let summary = "the run-time structure of a tuple of ragged extents";
  let description = [{
    Lengths, sample offsets (`B + 1` values), row splits per level and totals
    of a tuple of ragged extents. Computed from lengths, never guessed from
    values. Two partitions of one type in one function are the same structure.

    ```mlir
    !ragged.partition<[N, N]>
    !ragged.partition<[T], path = [B, S]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::nested::ragged::ExtentAttr">:$extents,
    ArrayRefParameter<"::mlir::StringAttr">:$path);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Ragged_TileType : Ragged_Type<"Tile", "tile"> {
  let summary = "where the current tile of a kernel is";
  let description = [{
    Handed to the region of `ragged.kernel`: which rows of the iteration space the
    tile holds. Only the tile access ops look into it.
  }];
  let assemblyFormat = "";
}

def Ragged_TableType : Ragged_Type<"Table", "table"> {
  let summary = "an int64 array computed by the runtime from lengths";
  let description = [{
    Lives on the host (mirrored to the device), in a `ragged.schedule` only. See
    `docs/Artifact.md` for the kinds.
  }];
  let assemblyFormat = "";
}

def Ragged_BufferType : Ragged_Type<"Buffer", "buffer"> {
  let summary = "memory of an argument, a result or a temporary";
  let description = [{
    Lives in a `ragged.schedule` only: rows of a fixed shape and element type.

    ```mlir
    !ragged.buffer<128xf32>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$rowShape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

/// What ops of the tensor and generic phase compute on: a ragged tensor, or a dense
/// tensor (the empty path).
def Ragged_AnyTensor : AnyTypeOf<[Ragged_TensorType, AnyStaticShapeTensor], "ragged tensor or dense tensor of static shape">;

#endif // NESTED_RAGGED_TYPES
