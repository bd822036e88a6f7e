//===- ContractAxes.h - The loops of a contraction ------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction as loops over axes, with the distance in elements that each
// operand moves along each of them. Axes that all operands store one inside the
// other are one; of every role one is the matrix product's, the rest are loops
// around it.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_CONTRACTAXES_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_CONTRACTAXES_H

#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

namespace nested::ragged {

/// Elements between neighbours along each logical dim of a stored value.
llvm::SmallVector<ExtentAttr> getElementStrides(const LogicalType &type);

struct ContractAxis {
  enum Role { Batch, Rows, Columns, Depth };
  Role role;
  ExtentAttr extent;
  /// Of lhs, rhs and the result; 0 where it does not move.
  ExtentAttr strides[3];
};

struct ContractAxes {
  /// With `batch_reduced` the ragged depth axes are not among the axes: they
  /// are rows of the batch.
  explicit ContractAxes(ContractKernelOp op);

  /// The operands: lhs gives the rows and rhs the columns. Swapped if the
  /// result's neighbours are rows of the op's lhs.
  mlir::Value values[3];
  /// Where the first element is, relative to the sample's first.
  ExtentAttr starts[3];
  /// The matrix product; absent depth (rows of the batch alone) has extent 1.
  ContractAxis rows, columns, depth;
  /// Axes whose elements are neighbours in all three; extent null if there is
  /// none.
  ContractAxis lanes;
  /// Batch axes, further rows and columns; and further depth.
  llvm::SmallVector<ContractAxis> outer, innerDepth;
  /// Ragged depth dims of a contraction over the batch, in the packed order of
  /// lhs, and the strides of lhs and rhs along each.
  llvm::SmallVector<ExtentAttr> space;
  llvm::SmallVector<ExtentAttr> spaceStrides[2];

  /// Elements of one row of operand `i`.
  int64_t getRowElements(unsigned i) const;
  /// Whether rows of the batch are the operand's own packed rows.
  bool isPackedAlongSpace(unsigned i,
                          mlir::ArrayRef<mlir::StringAttr> path) const;
};

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_CONTRACTAXES_H
