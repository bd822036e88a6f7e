//===- Verification.h - What the verifiers share ----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages have the form `expected A, but got B`. A message about types that do
// not agree is followed by a note for each symbol in which they differ, at the
// value that binds it.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_IR_VERIFICATION_H
#define NESTED_LIB_DIALECT_RAGGED_IR_VERIFICATION_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged {

/// `expected <what>, but got <got>`.
mlir::InFlightDiagnostic emitExpected(mlir::Operation *op,
                                      const llvm::Twine &what,
                                      const llvm::Twine &got);

/// Notes where the symbols are bound in which the extents (paths) of the two
/// types differ.
void attachMismatchNotes(mlir::InFlightDiagnostic &diagnostic,
                         mlir::Operation *op, const LogicalType &lhs,
                         const LogicalType &rhs);
void attachMismatchNotes(mlir::InFlightDiagnostic &diagnostic,
                         mlir::Operation *op, ExtentAttr lhs, ExtentAttr rhs);

/// The path, the extents and the element type of `actual` are those of
/// `expected`; `what` is e.g. "result". The order of storage is free unless
/// `sameOrder`.
mlir::LogicalResult verifyType(mlir::Operation *op, llvm::StringRef what,
                               const LogicalType &expected, mlir::Type actual,
                               bool sameOrder = false);

/// The text of a type in a message, in quotes.
std::string quote(mlir::Type type);
std::string quote(const LogicalType &type);

/// `dim` is one of `rank` dims.
mlir::LogicalResult verifyDim(mlir::Operation *op, llvm::StringRef what,
                              int64_t dim, int64_t rank);
/// Each is one of `rank` dims, none occurs twice.
mlir::LogicalResult verifyDims(mlir::Operation *op, llvm::StringRef what,
                               llvm::ArrayRef<int64_t> dims, int64_t rank);

/// The block has arguments of these types.
mlir::LogicalResult verifyArguments(mlir::Operation *op, llvm::StringRef what,
                                    mlir::Block &block,
                                    llvm::ArrayRef<mlir::Type> expected);
/// The block yields values of these types.
mlir::LogicalResult verifyYield(mlir::Operation *op, llvm::StringRef what,
                                mlir::Block &block,
                                llvm::ArrayRef<mlir::Type> expected);

/// The symbols of `extent`.
llvm::SmallSetVector<mlir::StringAttr, 4> getSymbols(ExtentAttr extent);

/// R1: an operand whose extent at a dim is `extent` is read at `0 .. bound -
/// 1`. With `isChecked` another op has checked at run time that this stays
/// inside, and only what cannot be true is an error.
bool isAccessAllowed(ExtentAttr bound, ExtentAttr extent, bool isChecked);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_VERIFICATION_H
