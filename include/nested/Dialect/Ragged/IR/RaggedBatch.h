//===- RaggedBatch.h - Other samples, and sizes from numbers --*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of RaggedBatchOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_RAGGEDBATCH_H
#define NESTED_DIALECT_RAGGED_IR_RAGGEDBATCH_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedBatchOps.h.inc"

namespace nested::ragged {

/// Of a table of offsets: the number of the one whose total bounds its own
/// before data say what it is.
constexpr llvm::StringLiteral kTableBoundAttr = "ragged.bound";

/// What `select_batch`, `repeat_batch` and `move_batch` have in common. Members
/// are the instances of the last component of a path.
struct BatchMove {
  enum class Kind { Mask, Indices, List, Counts };

  /// Of one of the ops, once it has been verified.
  static BatchMove of(mlir::Operation *op);
  /// The same; nullopt of other ops, and of what is not one.
  static std::optional<BatchMove> get(mlir::Operation *op);

  Kind kind;
  /// Booleans, indices or counts.
  mlir::Value selector;
  mlir::ValueRange sources, results;
  /// Symbols of the members that are chosen from, and their names for those
  /// that are chosen.
  llvm::SmallVector<ExtentAttr> from, to;
  /// Paths of the members that are chosen from, and of those that are chosen;
  /// they differ in the last component only.
  llvm::SmallVector<mlir::StringAttr> sourcePath, chosenPath;
  /// The most copies of a member; 1 but for counts.
  int64_t atMost = 1;
  /// Whether this is the choice, which binds symbols, or one that was made
  /// before.
  bool binds = true;
  /// Whether chosen members are added up to what they were chosen from.
  bool sums = false;

  llvm::ArrayRef<mlir::StringAttr> getParentPath() const {
    return llvm::ArrayRef(sourcePath).drop_back();
  }
  /// Members in each parent, those that are chosen from and the chosen ones.
  ExtentAttr getSourceMembers() const {
    return extent::symbol(sourcePath.back());
  }
  ExtentAttr getChosenMembers() const {
    return extent::symbol(chosenPath.back());
  }
  /// Whether the last component of the chosen members' path is bound by the op.
  bool bindsBatch() const { return binds && kind != Kind::Indices; }
  /// The most members that are chosen; null if it does not fit 64 bits.
  ExtentAttr getUpperBound() const;
};

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_RAGGEDBATCH_H
