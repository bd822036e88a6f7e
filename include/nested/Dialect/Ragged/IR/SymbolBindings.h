//===- SymbolBindings.h - Which value binds each symbol ---------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A symbol is bound by exactly one value of a function and is in scope where
// that value dominates:
//
// * an entry argument binds each symbol that is, bare, one of its extents, and
//   each component of its path, unless an earlier argument did;
// * `partition` of lengths, `with_lengths`, `masked_select` and `nest` bind the
//   symbols that are fresh in their result;
// * a function without arguments of a path still has its batch: `B` alone needs
//   no binding.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_SYMBOLBINDINGS_H
#define NESTED_DIALECT_RAGGED_IR_SYMBOLBINDINGS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "llvm/ADT/MapVector.h"

namespace nested::ragged {

struct SymbolBinding {
  mlir::StringAttr name;
  /// The value that binds it; its location is where the symbol was made.
  mlir::Value value;
  /// Logical dim of the value (dim of a partition's tuple) whose extent is the
  /// symbol; -1 for a component of the path.
  int64_t dim = -1;
  /// The path that the symbol has one length per instance of.
  llvm::SmallVector<mlir::StringAttr> path;
  /// An upper bound if the symbol came from data and one is known, or null.
  ExtentAttr upperBound;
  /// Whether it is a component of a path, after the first.
  bool isPathComponent() const { return dim < 0; }
  /// Whether it came from data inside the function.
  bool isFromData() const { return !mlir::isa<mlir::BlockArgument>(value); }
};

class SymbolBindings {
public:
  explicit SymbolBindings(mlir::FunctionOpInterface func);

  /// Null if the symbol is not bound.
  const SymbolBinding *lookup(mlir::StringAttr name) const;
  /// In the order in which they are bound.
  llvm::ArrayRef<SymbolBinding> getBindings() const { return bindings; }

private:
  friend mlir::LogicalResult verifySymbols(mlir::FunctionOpInterface func);
  void bind(SymbolBinding binding);

  llvm::SmallVector<SymbolBinding> bindings;
  llvm::DenseMap<mlir::StringAttr, unsigned> positions;
  /// Later bindings of symbols that were bound before: errors.
  llvm::SmallVector<SymbolBinding> duplicates;
};

/// The bindings that an op makes: symbols that are fresh in its results.
llvm::SmallVector<SymbolBinding> getSymbolsBoundBy(mlir::Operation *op);

/// Attaches "symbol 'N' is bound here" for each name, once, at the value that
/// binds it in the function around `op`; nothing for those that nothing binds.
void attachBindingNotes(mlir::InFlightDiagnostic &diagnostic,
                        mlir::Operation *op,
                        llvm::ArrayRef<mlir::StringAttr> names);

/// Checks the function as a whole: every symbol that a type or an attribute
/// mentions is bound by exactly one value, which dominates the use.
mlir::LogicalResult verifySymbols(mlir::FunctionOpInterface func);

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_SYMBOLBINDINGS_H
