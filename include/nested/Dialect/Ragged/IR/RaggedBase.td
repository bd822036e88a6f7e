//===- RaggedBase.td - base classes of the ragged ops -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_BASE
#define NESTED_RAGGED_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "nested/Dialect/Ragged/IR/RaggedAttrs.td"
include "nested/Dialect/Ragged/IR/RaggedInterfaces.td"
include "nested/Dialect/Ragged/IR/RaggedTypes.td"

class Ragged_Op<string mnemonic, list<Trait> traits = []>
    : Op<Ragged_Dialect, mnemonic, traits>;

// Ops whose sizes were checked when the program was entered cannot fail at run time: they
// are pure. An op that meets data-dependent errors (an index out of range) is not.
class Ragged_PureOp<string mnemonic, list<Trait> traits = []>
    : Ragged_Op<mnemonic, traits # [Pure]>;

// An op that binds a symbol whose lengths come from data. Types name the symbol without using
// the op's result, so it must stay when nothing does.
class Ragged_BindingOp<string mnemonic, list<Trait> traits = []>
    : Ragged_Op<mnemonic, traits # [MemoryEffects<[MemWrite]>]>;

// A named op of the tensor phase that is made of `ragged.generic`.
class Ragged_NamedOp<string mnemonic, list<Trait> traits = []>
    : Ragged_PureOp<mnemonic, traits # [DeclareOpInterfaceMethods<GeneralizableOpInterface>]>;

// An op with a derivative: it says what to keep and how to use it.
defvar Ragged_Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;

def Ragged_DenseI64 : 1DTensorOf<[I64]>;

#endif // NESTED_RAGGED_BASE
