//===- Passes.h - Passes from tensor to kernels ------------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_TRANSFORMS_PASSES_H
#define NESTED_DIALECT_RAGGED_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Dialect/Ragged/Transforms/Fusion.h"

namespace nested::ragged {

#define GEN_PASS_DECL
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"

/// Argument attribute: the type that the program declares for an entry's
/// argument, where `--ragged-unify-symbols` has renamed symbols in it.
inline constexpr llvm::StringLiteral kDeclaredTypeAttr = "ragged.declared_type";
/// Function attribute: checks of extents when an entry is called, an array of
/// dictionaries with the fields of `checks` in the manifest.
inline constexpr llvm::StringLiteral kChecksAttr = "ragged.checks";
/// Argument and result attribute: the name in the signature.
inline constexpr llvm::StringLiteral kNameAttr = "ragged.name";

/// Function attribute: derivatives were taken in it, so that values of the
/// forward computation are read long after.
inline constexpr llvm::StringLiteral kDifferentiatedAttr =
    "ragged.differentiated";
/// Function attribute: bytes that temporaries of a call may take. A dictionary:
/// `bytes`, and `lengths` of symbols (or `batch`, without any) of that call.
inline constexpr llvm::StringLiteral kMemoryBudgetAttr = "ragged.memory_budget";

/// An entry is a public function with a body.
bool isEntry(mlir::FunctionOpInterface func);
/// The entry check `lhs op rhs` as it is kept in `ragged.checks`.
mlir::DictionaryAttr getCheckAttr(CheckKind kind, ExtentAttr lhs,
                                  ExtentAttr rhs,
                                  llvm::ArrayRef<mlir::StringAttr> path,
                                  llvm::StringRef what, mlir::Location where);
/// `file.py:3` for messages; empty when the location is unknown.
std::string formatLocation(mlir::Location loc);
/// A generic that yields `value` unchanged, at the builder's insertion point.
mlir::Value createMove(mlir::OpBuilder &builder, mlir::Value value);

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_TRANSFORMS_PASSES_H
