//===- TileMatch.h - Forms of ops in tile programs --------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEMATCH_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEMATCH_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace nested::tile {

/// A contraction of rows with a tensor that all rows share. Loops are numbered
/// as in the op; loop 0 is the rows.
struct RowContraction {
  unsigned rowsOperand, sharedOperand;
  /// The innermost loop of the result.
  unsigned column;
  llvm::SmallVector<unsigned> summed;
  /// Whether `column` is the innermost dim of the shared operand.
  bool columnIsInnermost;
  bool isUnsigned;
};

/// Matches contractions that register blocks can compute.
std::optional<RowContraction> matchRowContraction(mlir::linalg::GenericOp op);

/// [row, summed..., i] times [row, summed..., j], as [row, i, j].
struct OuterProduct {
  mlir::Value x, y;
  /// Extents of the summed dims.
  llvm::SmallVector<int64_t> summed;
};

/// Matches the product of every element of a row of one tile with every element
/// of the same row of another, added up over the dims that stand between, if it
/// is only summed over rows: what weight gradients are made of. It is never
/// made as a whole.
std::optional<OuterProduct> matchOuterProduct(mlir::linalg::GenericOp op);

/// The sum of a tile over some of its dims that are no rows.
struct RowSum {
  mlir::Value source;
  /// Dims of the source that are summed.
  llvm::SmallVector<unsigned> summed;
};

/// Matches `out + in` from 0, in the order of the source's dims.
std::optional<RowSum> matchRowSum(mlir::Operation *op);

/// Whether the generic makes every element of its one result, without reading
/// what its output has there.
bool isFill(mlir::linalg::GenericOp op);

/// Whether it makes them of scalars.
bool isSplat(mlir::linalg::GenericOp op);

/// Whether the region adds its two arguments.
bool isSum(mlir::Region &region);

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEMATCH_H
