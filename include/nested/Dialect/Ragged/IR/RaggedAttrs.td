//===- RaggedAttrs.td - attributes of the ragged dialect -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_ATTRS
#define NESTED_RAGGED_ATTRS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "nested/Dialect/Ragged/IR/RaggedDialect.td"

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

def Ragged_ExtentKind : I32Enum<"ExtentKind", "form of an extent", [
    I32EnumCase<"Constant", 0, "constant">, I32EnumCase<"Symbol", 1, "symbol">,
    I32EnumCase<"Add", 2, "add">, I32EnumCase<"Mul", 3, "mul">,
    I32EnumCase<"FloorDiv", 4, "floordiv">, I32EnumCase<"Mod", 5, "mod">,
    I32EnumCase<"Min", 6, "min">, I32EnumCase<"Max", 7, "max">]> {
  let cppNamespace = "::nested::ragged";
}

def Ragged_ExtentAttr : AttrDef<Ragged_Dialect, "Extent"> {
  let mnemonic = "extent";
  let summary = "size of an element dim: an integer expression over symbols";
  let description = [{
    An extent is an integer polynomial over *symbols* (`N`, `N * N`,
    `2 * N + M`), with `floordiv` and `mod` by positive constants and with
    `min` and `max`. A symbol stands for one length per sample.

    Construction canonicalises (`nested/Dialect/Ragged/IR/Extent.h`): sums of
    products are expanded, sorted and merged, so equal extents are one uniqued
    object and types that mean the same are equal. Equality is decided on
    this form, never on spelling and never on observed sizes.

    Do not build one through `get` with raw parts: use the functions of
    `Extent.h` (`constant`, `symbol`, `add`, `mul`, `floorDiv`, `mod`, `min`,
    `max`), which keep the canonical form.

    ```mlir
    #ragged.extent<384>
    #ragged.extent<N>
    #ragged.extent<(H - 1) floordiv 2 + 1>
    #ragged.extent<max(N - 1, 0)>
    ```
  }];
  let parameters = (ins
    "ExtentKind":$kind,
    DefaultValuedParameter<"int64_t", "0">:$value,
    OptionalParameter<"::mlir::StringAttr">:$name,
    OptionalArrayRefParameter<"::nested::ragged::ExtentAttr">:$operands);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The value of a constant extent.
    std::optional<int64_t> getConstant() const {
      if (getKind() == ExtentKind::Constant)
        return getValue();
      return std::nullopt;
    }
    /// True if no symbol occurs.
    bool isStatic() const { return getKind() == ExtentKind::Constant; }
    bool isSymbol() const { return getKind() == ExtentKind::Symbol; }
    /// The text that the parser reads; also the form in the manifest.
    std::string str() const;
    /// Adds the names of all symbols that occur, in order of first occurrence.
    void getSymbols(::llvm::SmallSetVector<::mlir::StringAttr, 4> &symbols) const;
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Ragged_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::nested::ragged";
}
class Ragged_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<Ragged_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Ragged_ReduceKind : Ragged_Enum<"ReduceKind", "what a reduction computes", [
    I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Mean", 1, "mean">,
    I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">,
    I32EnumCase<"Prod", 4, "prod">, I32EnumCase<"LogSumExp", 5, "logsumexp">,
    I32EnumCase<"Any", 6, "any">, I32EnumCase<"All", 7, "all">,
    I32EnumCase<"ArgMax", 8, "argmax">, I32EnumCase<"ArgMin", 9, "argmin">]>;
def Ragged_ReduceKindAttr : Ragged_EnumAttr<Ragged_ReduceKind, "reduce_kind">;

def Ragged_AccumulateKind : Ragged_Enum<"AccumulateKind", "what a running reduction computes", [
    I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Prod", 1, "prod">,
    I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">,
    I32EnumCase<"LogSumExp", 4, "logsumexp">]>;
def Ragged_AccumulateKindAttr : Ragged_EnumAttr<Ragged_AccumulateKind, "accumulate_kind">;

def Ragged_ScatterKind : Ragged_Enum<"ScatterKind", "what becomes of an element that an update meets", [
    I32EnumCase<"Set", 0, "set">, I32EnumCase<"Add", 1, "add">,
    I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">]>;
def Ragged_ScatterKindAttr : Ragged_EnumAttr<Ragged_ScatterKind, "scatter_kind">;

def Ragged_EmptyPolicy : Ragged_Enum<"EmptyPolicy",
    "what max and min of nothing are (R5)", [
    I32EnumCase<"Zero", 0, "zero">, I32EnumCase<"Identity", 1, "identity">]>;
def Ragged_EmptyPolicyAttr : Ragged_EnumAttr<Ragged_EmptyPolicy, "empty_policy">;

def Ragged_NormalizeKind : Ragged_Enum<"NormalizeKind", "kind of normalisation", [
    I32EnumCase<"Layer", 0, "layer">, I32EnumCase<"RMS", 1, "rms">,
    I32EnumCase<"Group", 2, "group">, I32EnumCase<"Instance", 3, "instance">]>;
def Ragged_NormalizeKindAttr : Ragged_EnumAttr<Ragged_NormalizeKind, "normalize_kind">;

def Ragged_UnitKind : Ragged_Enum<"UnitKind", "what one worker owns of a kernel's rows", [
    I32EnumCase<"Groups", 0, "groups">, I32EnumCase<"Chunks", 1, "chunks">,
    I32EnumCase<"Single", 2, "single">]>;
def Ragged_UnitKindAttr : Ragged_EnumAttr<Ragged_UnitKind, "unit_kind">;

def Ragged_TableKind : Ragged_Enum<"TableKind", "kind of a run-time structure table", [
    I32EnumCase<"Extent", 0, "extent">, I32EnumCase<"Offsets", 1, "offsets">,
    I32EnumCase<"Base", 2, "base">, I32EnumCase<"Parent", 3, "parent">,
    I32EnumCase<"RowSplits", 4, "row_splits">]>;
def Ragged_TableKindAttr : Ragged_EnumAttr<Ragged_TableKind, "table_kind">;

def Ragged_CheckKind : Ragged_Enum<"CheckKind", "relation of two extents", [
    I32EnumCase<"EQ", 0, "eq">, I32EnumCase<"LE", 1, "le">]>;
def Ragged_CheckKindAttr : Ragged_EnumAttr<Ragged_CheckKind, "check_kind">;

//===----------------------------------------------------------------------===//
// Attribute lists that print without their `#ragged.` prefix
//===----------------------------------------------------------------------===//

/// An array of extents, printed `[N, N, 128]` through `custom<Extents>`.
def Ragged_ExtentArrayAttr : TypedArrayAttrBase<Ragged_ExtentAttr, "array of extents"> {
  let storageType = "::mlir::ArrayAttr";
}
/// A batch path, printed `[B, S]` through `custom<Path>`.
def Ragged_PathAttr : TypedArrayAttrBase<StrAttr, "batch path"> {
  let storageType = "::mlir::ArrayAttr";
}

#endif // NESTED_RAGGED_ATTRS
