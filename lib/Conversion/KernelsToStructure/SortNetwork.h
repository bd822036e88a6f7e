//===- SortNetwork.h - Columns sorted side by side --------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_SORTNETWORK_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_SORTNETWORK_H

#include "LoopKernel.h"

namespace nested::ragged {

/// One group of elements to sort: `at(k)` = first + k * stride in each operand.
struct SortGroup {
  mlir::Value source, sorted, indices, stride, length;
  /// First of its 2 * length places in the temporaries.
  mlir::Value records;
};

/// Sorts neighbouring groups at once, one per lane.
///
/// A network compares and exchanges rows of records, whatever they hold, so
/// that a comparator is a minimum and a maximum of vectors.
///
/// * Direct records are the elements themselves, as integers of the same order
///   that can be turned back. Equal records are equal bits: their order is not
///   seen. NaN and -0 have no such integer.
/// * Indexed records are an element's 32-bit key with its index below, all
///   distinct, so that the order is stable. Elements are then copied by index.
class SortNetwork {
public:
  /// Longest group; a block of records then stays in a second-level cache.
  static constexpr int64_t kLongest = 2048;

  SortNetwork(SortOp op, LoopKernel &kernel, const LoopOperand &source,
              const std::optional<LoopOperand> &sorted,
              const std::optional<LoopOperand> &indices, unsigned keyBits);

  /// How many groups are sorted at once; 0: none are.
  int64_t getWidth() const { return width; }
  /// Sorts `getWidth()` groups, the first of which is `group`. `onebyone` emits
  /// what to do with a group if its elements have no records.
  void emitBlock(mlir::OpBuilder &b, mlir::Location loc, const SortGroup &group,
                 llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                         mlir::Value column)>
                     oneByOne);

private:
  bool isIndexed() const { return indices.has_value(); }
  mlir::Value splat(mlir::OpBuilder &b, mlir::Location loc, uint64_t value,
                    int64_t lanes, unsigned bits);
  mlir::Value makeDirect(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value elements);
  mlir::Value fromDirect(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value records);
  /// Ones where an element has no direct record; null if all have.
  mlir::Value isAwkward(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value elements);
  mlir::Value makeIndexed(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value elements, mlir::Value index);
  void sortIndexed(mlir::OpBuilder &b, mlir::Location loc,
                   const SortGroup &group);
  void exchangeAll(mlir::OpBuilder &b, mlir::Location loc, mlir::Value records,
                   mlir::VectorType type, mlir::Value length);

  SortOp op;
  const LoopOperand &source;
  const std::optional<LoopOperand> &sorted, &indices;
  unsigned keyBits;
  int64_t width = 0;
  mlir::Value direct, indexed;
};

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_SORTNETWORK_H
