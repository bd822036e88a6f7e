//===- ExtentTerms.h - Extents as sums of terms -----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to Extent.cpp, ExtentFacts.cpp and ExtentSyntax.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_IR_EXTENTTERMS_H
#define NESTED_LIB_DIALECT_RAGGED_IR_EXTENTTERMS_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged::extent {

/// coefficient * product of atoms; a constant has none.
struct Term {
  int64_t coefficient = 1;
  llvm::SmallVector<ExtentAttr, 2> atoms;

  /// The atom of `coefficient * atom`, or null.
  ExtentAttr getSingleAtom() const {
    return atoms.size() == 1 ? atoms.front() : ExtentAttr();
  }
};

using Terms = llvm::SmallVector<Term, 4>;

/// The terms of a canonical extent, in its order; none for 0. Nullopt for null.
std::optional<Terms> getTerms(ExtentAttr extent);

/// Sorts and merges; null on overflow.
ExtentAttr build(mlir::MLIRContext *context, Terms terms);

} // namespace nested::ragged::extent

#endif // NESTED_LIB_DIALECT_RAGGED_IR_EXTENTTERMS_H
