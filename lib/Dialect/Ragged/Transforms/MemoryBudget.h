//===- MemoryBudget.h - Bytes that the user allows ---------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_MEMORYBUDGET_H
#define NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_MEMORYBUDGET_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/IR/SymbolBindings.h"

namespace nested::ragged {

/// Bytes of one row of a value.
int64_t getRowBytes(mlir::Value value);

/// What the attribute `ragged.memory_budget` of a function says: how many bytes
/// its temporaries may take at once in a call with certain lengths.
class MemoryBudget {
public:
  /// Null without the attribute; an error if it can't be read.
  static mlir::FailureOr<std::optional<MemoryBudget>>
  get(mlir::func::FuncOp func);

  int64_t getBytes() const { return bytes; }
  /// Bytes of a value in such a call, or at most so many where sizes are from
  /// data. Nullopt if the lengths don't say or are too large.
  std::optional<int64_t> getSize(mlir::Value value) const;

private:
  using Instance = llvm::SmallVector<int64_t>;

  explicit MemoryBudget(mlir::func::FuncOp func) : bindings(func) {}
  /// Of an extent at an instance of `path`.
  std::optional<int64_t> evaluate(ExtentAttr extent,
                                  llvm::ArrayRef<mlir::StringAttr> path,
                                  llvm::ArrayRef<int64_t> instance) const;
  std::optional<int64_t> getLength(mlir::StringAttr name,
                                   llvm::ArrayRef<mlir::StringAttr> path,
                                   llvm::ArrayRef<int64_t> instance) const;
  /// For each instance of the path, its number among those of each prefix.
  std::optional<std::vector<Instance>>
  getInstances(llvm::ArrayRef<mlir::StringAttr> path) const;

  SymbolBindings bindings;
  mlir::DictionaryAttr lengths;
  int64_t bytes = 0, batch = 0;
};

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_MEMORYBUDGET_H
