//===- TileSlices.h - Parts of tensors and of linalg ops --------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a `linalg.generic` that computes a range of every loop, on slices
// of its operands. Unlike upstream's tiling it removes loops that have
// one iteration left, so that a row of a tile is a tensor without the row dim.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILESLICES_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILESLICES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace nested::tile {

/// `size` indices from `offset` along a loop or a dim of a tensor. A dropped
/// dim has size 1 and does not appear in the slice.
struct DimRange {
  mlir::OpFoldResult offset;
  int64_t size;
  bool dropped;

  static DimRange all(mlir::Builder &b, int64_t size) {
    return {b.getIndexAttr(0), size, false};
  }
  static DimRange at(mlir::OpFoldResult index) { return {index, 1, true}; }
  static DimRange part(mlir::OpFoldResult offset, int64_t size) {
    return {offset, size, false};
  }
  bool covers(int64_t extent) const;
};

using DimRanges = llvm::SmallVector<DimRange, 4>;
/// Provides a slice of an operand.
using SliceFn = llvm::function_ref<mlir::Value(
    mlir::Value tensor, llvm::ArrayRef<DimRange> ranges)>;

/// Shape of a slice.
llvm::SmallVector<int64_t> shapeOf(llvm::ArrayRef<DimRange> ranges);

mlir::Value extractSlice(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value tensor, llvm::ArrayRef<DimRange> ranges);
mlir::Value insertSlice(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value part, mlir::Value tensor,
                        llvm::ArrayRef<DimRange> ranges);
/// The slice of a memref to write to; with `firstSize`, that many indices of
/// its first dim.
mlir::Value subview(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref,
                    llvm::ArrayRef<DimRange> ranges,
                    mlir::Value firstSize = nullptr);

/// Whether `loop` only occurs by itself in the subscripts of `op`, so that its
/// range may be restricted.
bool canCut(mlir::linalg::GenericOp op, unsigned loop);

/// What an operand of shape `shape` needs for the ranges of the loops.
DimRanges operandRanges(mlir::Builder &b, mlir::AffineMap map,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<DimRange> loops);

/// The part of `op` for `loops`. `slice` provides operands. `inits`, when not
/// empty, are the inits of the part; otherwise those that the body reads are
/// slices and the others empty tensors.
mlir::linalg::GenericOp emitPart(mlir::OpBuilder &b, mlir::linalg::GenericOp op,
                                 llvm::ArrayRef<DimRange> loops, SliceFn slice,
                                 mlir::ValueRange inits = {});

/// The part of the one result of `op` with these ranges of its dims.
mlir::Value emitResultPart(mlir::OpBuilder &b, mlir::linalg::GenericOp op,
                           llvm::ArrayRef<DimRange> ranges, SliceFn slice);

/// An elementwise generic on values of one shape: `inputs` are of that shape,
/// of a leading part of it, or scalars; the body gets (inputs, inits).
mlir::linalg::GenericOp
buildElementwise(mlir::OpBuilder &b, mlir::Location loc,
                 mlir::ValueRange inputs, mlir::ValueRange inits,
                 llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                         mlir::ValueRange)>
                     body);

/// tensor = value, as an elementwise generic.
mlir::Value buildCopy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      mlir::Value init);

/// Loop with carried values; `body` returns what it yields.
llvm::SmallVector<mlir::Value>
buildLoop(mlir::OpBuilder &b, mlir::Location loc, mlir::Value begin,
          mlir::Value end, int64_t step, mlir::ValueRange inits,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(
              mlir::OpBuilder &, mlir::Value index, mlir::ValueRange args)>
              body);

/// A loop in another for all indices below `extents`, with one carried value;
/// no loop for no extents.
mlir::Value buildLoopNest(
    mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> extents,
    mlir::Value init,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange indices,
                                   mlir::Value carried)>
        body);

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILESLICES_H
