//===- KernelBuilder.h - Writes the tile program of a kernel ----*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELBUILDER_H
#define NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELBUILDER_H

#include "KernelPlan.h"

#include "mlir/IR/PatternMatch.h"

namespace nested::ragged {

class KernelBuilder {
public:
  KernelBuilder(mlir::RewriterBase &rewriter, mlir::Location loc,
                const KernelPlan &plan, int64_t largeTileRows)
      : b(rewriter), loc(loc), context(rewriter.getContext()), plan(plan),
        largeTileRows(largeTileRows) {}
  mlir::LogicalResult run(llvm::StringRef name);

private:
  /// An operand of a linalg op: a tile (or a shared value), and the map to its
  /// dims from [row, static iteration dims].
  struct Operand {
    mlir::Value value;
    mlir::AffineMap map;
  };

  /// What a generic reads: an operand, and the elements of it.
  struct Access {
    mlir::Value value;
    mlir::AffineMap map;
    llvm::SmallVector<ExtentAttr> offsets;
    mlir::TypedAttr outside;
    /// Per row, the coordinate of one dim; null if there is none.
    mlir::Value start = {};
    int64_t startDim = -1;
    /// One number for each row: what is read at a constant is part of the row's
    /// place too.
    bool isIndex = false;

    ExtentAttr getOffset(int64_t dim) const {
      return offsets.empty() ? extent::constant(value.getContext(), 0)
                             : offsets[dim];
    }
  };

  /// The part of each row that is read, along the dims that are no rows: where
  /// it begins, its sizes, the sizes of a row, and its subscripts.
  struct RowPart {
    llvm::SmallVector<int64_t> begin, shape, rowShape;
    llvm::SmallVector<mlir::AffineExpr> subscripts;
    bool isWhole() const {
      return shape == rowShape &&
             llvm::all_of(begin, [](int64_t b) { return b == 0; });
    }
  };

  int64_t chooseTileRows();
  llvm::SmallVector<mlir::Value> collectResults();
  mlir::Value getInput(mlir::Value value);
  mlir::RankedTensorType getTileType(const LogicalType &type, unsigned rowRank);
  mlir::AffineMap getOperandMap(const GenericPlan &generic,
                                const Access &access, unsigned rowRank,
                                bool hasRow);
  RowPart getRowPart(const GenericPlan &generic, const Access &access,
                     unsigned rowRank);
  mlir::Value takePart(mlir::Value value, const RowPart &part,
                       mlir::TypedAttr outside, bool hasRow);
  mlir::FailureOr<Operand> read(const GenericPlan &generic,
                                const Access &access);
  mlir::FailureOr<Operand> readInput(const GenericPlan &generic, unsigned i) {
    GenericOp op = generic.getOp();
    return read(generic, {op.getInputs()[i], op.getInputMap(i),
                          op.getInputOffsets(i), op.getInputOutside(i)});
  }
  mlir::Value readRows(const GenericPlan &generic, const Access &access,
                       mlir::Location at);
  unsigned getRowRank(const GenericPlan &generic, const Access &access);
  mlir::FailureOr<Operand> readLoad(const GenericPlan &generic,
                                    IndexedLoadOpInterface load,
                                    const Access &access);
  mlir::FailureOr<mlir::Value> lookup(const GenericPlan &generic,
                                      GatherOp gather, const Access &access);

  void emitShared(GenericOp op);
  mlir::LogicalResult emit(const GenericPlan &generic);
  mlir::LogicalResult emitFold(const GenericPlan &generic);
  mlir::FailureOr<mlir::Value> emitLinalg(const GenericPlan &generic,
                                          mlir::Value yielded, mlir::Value init,
                                          mlir::AffineMap outputMap,
                                          mlir::Operation *combiner);
  mlir::Value emitMatmul(const GenericPlan &generic,
                         llvm::ArrayRef<Operand> operands, mlir::Value init);
  mlir::Value emptyTile(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  mlir::Value fillTile(llvm::ArrayRef<int64_t> shape, mlir::TypedAttr value);

  /// Static iteration dims of a generic, in order: linalg dims 1, 2, ...
  static llvm::SmallVector<unsigned> getInnerDims(const GenericPlan &generic);

  mlir::RewriterBase &b;
  mlir::Location loc;
  mlir::MLIRContext *context;
  const KernelPlan &plan;
  int64_t largeTileRows;
  int64_t tileRows = 0;
  KernelOp kernel;
  llvm::MapVector<mlir::Value, mlir::Value> inputs;
  /// Values that are the same for all tiles, made in the kernel.
  llvm::DenseMap<mlir::Value, mlir::Value> shared;
  /// Values of the kernel's generics: tiles, or what a fold gives.
  llvm::DenseMap<mlir::Value, mlir::Value> made;
};

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELBUILDER_H
