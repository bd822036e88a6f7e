//===- TileEmitter.h - Loops for the groups of a tile program ---*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEEMITTER_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEEMITTER_H

#include "TileGraph.h"
#include "TileSlices.h"

#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <map>
#include <tuple>

namespace nested::tile {

/// Sizes of register blocks; 0 where the vector width decides.
struct BlockOptions {
  int64_t vectorBits = 512;
  int64_t rows = 0;
  int64_t columns = 0;
  /// A shared operand of more bytes is packed.
  int64_t packBytes = 262144;
};

/// Replaces the ops of a tile loop's body by loops.
class TileEmitter {
public:
  TileEmitter(mlir::RewriterBase &rewriter, mlir::scf::ForOp loop,
              mlir::Value live, const TileGraph &graph,
              const BlockOptions &options)
      : rewriter(rewriter), loop(loop), live(live), graph(graph),
        options(options) {}

  mlir::LogicalResult run();

private:
  /// Values of the iteration that is being emitted. `row` is the row, or the
  /// first one of a block.
  struct Frame {
    mlir::OpBuilder &b;
    mlir::Value row;
    mlir::IRMapping local;
  };
  /// A range of columns that is cut into panels of one width.
  struct Panels {
    int64_t begin, end, width;

    int64_t count() const { return (end - begin) / width; }
  };

  // Rows.
  mlir::LogicalResult emitRows(const TileGroup &group);
  mlir::Value rowSlice(Frame &frame, mlir::Value value,
                       llvm::ArrayRef<DimRange> ranges);
  mlir::Value wholeRow(Frame &frame, mlir::Value value);
  mlir::Value resetAccumulator(Frame &frame, mlir::Value init, mlir::Value acc);
  void emitInsert(Frame &frame, mlir::tensor::InsertSliceOp op);
  void emitRowOp(Frame &frame, mlir::linalg::GenericOp op);
  void emitStore(Frame &frame, ragged::TileStoreOp op);
  llvm::SmallVector<mlir::Value> emitFold(Frame &frame, ragged::TileFoldOp op,
                                          mlir::ValueRange acc);
  /// Clones a combine or finalize region; its yield becomes that of a generic.
  static void cloneRegion(mlir::OpBuilder &b, mlir::Region &region,
                          mlir::ValueRange args);
  /// Where a group of rows ends: finalizes and stores what was folded.
  void storeFolded(Frame &frame, ragged::TileFoldOp op, mlir::ValueRange folded,
                   mlir::Value target);
  /// Accumulators that are stored, and made new, where `atEnd` holds.
  llvm::SmallVector<mlir::Value>
  flushFolded(Frame &frame, ragged::TileFoldOp op, mlir::ValueRange folded,
              mlir::Value target, mlir::Value atEnd);
  bool staysInRegisters(ragged::TileFoldOp op) const;
  void prefetchRows(Frame &frame, const TileGroup &group);
  void storeRow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value row,
                mlir::Value dest, mlir::Value number);

  // Register blocks.
  void emitBlockFold(ragged::TileFoldOp op);
  /// Adds the products of rows [begin, end) to an accumulator, one by one or,
  /// `fromZero`, their sum.
  mlir::Value addProducts(mlir::OpBuilder &b, mlir::Location loc,
                          const OuterProduct &product, mlir::Value acc,
                          bool fromZero, mlir::Value begin, mlir::Value end);
  mlir::Value emitSummand(Frame &frame, mlir::Value value,
                          llvm::ArrayRef<DimRange> ranges);
  /// Adds a row of part `block` to that of an accumulator.
  mlir::Value addBlock(Frame &frame, ragged::TileFoldOp op,
                       llvm::ArrayRef<DimRange> block, mlir::Value acc);
  /// One loop over parts, or no loop for one.
  static mlir::Value
  overParts(mlir::OpBuilder &b, mlir::Location loc, const Panels &parts,
            mlir::Value carried,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &,
                                           mlir::OpFoldResult, mlir::Value)>
                body);
  /// Adds rows [begin, end) to an accumulator.
  mlir::Value addRows(mlir::OpBuilder &b, ragged::TileFoldOp op,
                      mlir::Value acc, mlir::Value begin, mlir::Value end);
  mlir::LogicalResult emitContractions(const TileGroup &group);
  llvm::SmallVector<Panels> choosePanels(const TileGroup &group,
                                         int64_t &blockRows) const;
  /// Columns as panels of `width`, then of half of it, and so on.
  static llvm::SmallVector<Panels> cutColumns(int64_t columns, int64_t width,
                                              int64_t lanes);
  llvm::SmallVector<mlir::Value> emitPanels(const TileGroup &group,
                                            int64_t blockRows,
                                            llvm::ArrayRef<mlir::Value> results,
                                            mlir::ValueRange inits);
  llvm::SmallVector<mlir::Value>
  emitBlock(mlir::OpBuilder &b, const TileGroup &group, DimRanges block,
            llvm::ArrayRef<mlir::Value> results, mlir::ValueRange args);
  void emitSums(Frame &frame, llvm::SmallVector<mlir::linalg::GenericOp> ops,
                llvm::ArrayRef<DimRange> block);
  /// The panels of a contraction's shared operand as [panel, k, column], copied
  /// in front of the tile loop; null when the operand is read as it is.
  mlir::Value packedOperand(mlir::linalg::GenericOp op, const Panels &panels);
  mlir::Value blockSlice(Frame &frame, mlir::Value value,
                         llvm::ArrayRef<DimRange> ranges);

  // Memory of the caller.
  /// The row of a load's source that row `row` of the tile is.
  mlir::Value sourceRow(mlir::OpBuilder &b, mlir::Operation *load,
                        mlir::Value row);
  /// Whether rows of a matrix follow each other, so that the next tile most
  /// likely lies behind this one.
  bool isConsecutive(mlir::Operation *load) const;
  void findSourceRows(Frame &frame, mlir::linalg::GenericOp op, int64_t count);
  mlir::Value columnOfRows(mlir::OpBuilder &b, mlir::Operation *load,
                           llvm::ArrayRef<DimRange> ranges);
  void prefetchNextTile(mlir::OpBuilder &b, mlir::linalg::GenericOp op,
                        mlir::Value k);
  void storeBlock(Frame &frame, ragged::TileStoreOp op,
                  llvm::ArrayRef<DimRange> block);

  // Both.
  void emitOther(const TileGroup &group);
  /// Results of the group that later groups need.
  llvm::SmallVector<mlir::Value> bufferedResults(const TileGroup &group) const;
  llvm::SmallVector<mlir::Value>
  emptyBuffers(llvm::ArrayRef<mlir::Value> values);
  /// The whole value: an outer one, or the buffer that holds it.
  mlir::Value whole(mlir::Value value);
  /// The tensor of a memref of the caller, made in front of the tile loop.
  mlir::Value sourceTensor(mlir::Value memref);

  mlir::RewriterBase &rewriter;
  mlir::scf::ForOp loop;
  mlir::Value live;
  const TileGraph &graph;
  BlockOptions options;
  mlir::IRMapping buffers;
  llvm::DenseMap<mlir::Value, mlir::Value> sources;
  /// By operand, whether it is transposed, first column and width.
  std::map<std::tuple<void *, bool, int64_t, int64_t>, mlir::Value> packed;
  /// The panels that are being emitted, and which of them.
  Panels panels;
  mlir::OpFoldResult panel;
  /// How many panels lie in front of `panels`, and how many there are.
  int64_t panelsBefore = 0, panelsInAll = 0;
  /// Rows of the source that the rows of the block are, by load.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> sourceRows;
};

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEEMITTER_H
