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

/// What `select_batch` and `repeat_batch` have in common. Members are the
/// instances of the last component of the sources' path.
struct BatchMove {
  enum class Kind { Mask, Indices, List, Counts };

  /// Of one of the two ops, once it has been verified.
  static BatchMove of(mlir::Operation *op);
  /// The same; nullopt of other ops, and of what is not one.
  static std::optional<BatchMove> get(mlir::Operation *op);

  Kind kind;
  /// Booleans, indices or counts.
  mlir::Value selector;
  mlir::ValueRange sources, results;
  /// Symbols of the sources with one length per member, and their names in the
  /// results.
  llvm::SmallVector<ExtentAttr> from, to;
  /// Paths of the sources and of the results; they differ in the last
  /// component only.
  llvm::SmallVector<mlir::StringAttr> sourcePath, resultPath;
  /// The most copies of a member; 1 but for counts.
  int64_t atMost = 1;

  llvm::ArrayRef<mlir::StringAttr> getParentPath() const {
    return llvm::ArrayRef(sourcePath).drop_back();
  }
  /// Members of the sources and of the results, in each parent.
  ExtentAttr getSourceMembers() const {
    return extent::symbol(sourcePath.back());
  }
  ExtentAttr getResultMembers() const {
    return extent::symbol(resultPath.back());
  }
  /// Whether the last component of the results' path is bound by the op.
  bool bindsBatch() const { return kind != Kind::Indices; }
  /// The most members that the results have; null if it does not fit 64 bits.
  ExtentAttr getUpperBound() const;
};

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_RAGGEDBATCH_H
