//===- ThreadEmitter.h - Tile programs for a block of threads ---*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a tile loop anew, on scalars and memrefs. All code is generated element
// by element: `element` gives an element of a tensor at subscripts, and the
// body of a linalg op turns elements into elements. What differs between groups
// is which elements a thread takes and where results go.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOGPU_THREADEMITTER_H
#define NESTED_LIB_CONVERSION_STRUCTURETOGPU_THREADEMITTER_H

#include "../StructureToLoops/TileGraph.h"

#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace nested::tile {

inline constexpr int64_t kLanes = 32;

/// The running thread; made once at the start of a kernel.
struct ThreadIds {
  /// In the block; in its warp; of its warp.
  mlir::Value thread, lane, warp;
  /// Whether it is the first thread of the block.
  mlir::Value leader;
  int64_t threads;

  int64_t warps() const { return threads / kLanes; }
  static ThreadIds create(mlir::OpBuilder &b, mlir::Location loc,
                          int64_t threads);
};

/// Rows of the tiles of a loop.
struct TileRows {
  int64_t rows = 0;
  mlir::Value live;
};

using Values = llvm::SmallVector<mlir::Value>;

class ThreadEmitter {
public:
  ThreadEmitter(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop,
                TileRows tile, const TileGraph &graph, const ThreadIds &ids)
      : rewriter(rewriter), loop(loop), tile(tile), graph(graph), ids(ids) {}

  /// Replaces the loop.
  mlir::LogicalResult run();

private:
  /// The row that a warp is working on.
  struct Frame {
    explicit Frame(mlir::OpBuilder &b, mlir::Value row = nullptr)
        : b(b), row(row) {}
    /// The same, seen from a nested region.
    Frame(mlir::OpBuilder &b, const Frame &outer)
        : b(b), row(outer.row), chunks(outer.chunks),
          rowBuffers(outer.rowBuffers) {}

    mlir::OpBuilder &b;
    mlir::Value row;
    /// What a lane holds of a value: of n columns, those number lane + 32 j; of
    /// a single one, all lanes that one.
    llvm::DenseMap<mlir::Value, Values> chunks;
    /// Values in memory, in buffers [warps, columns...].
    llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers;
  };

  // ThreadElements.cpp: elements of tensors.
  mlir::Value element(Frame &frame, mlir::Value tensor, mlir::ValueRange at);
  mlir::Value viewElement(Frame &frame, mlir::Operation *op,
                          mlir::ValueRange at);
  mlir::Value splatElement(Frame &frame, mlir::linalg::GenericOp op,
                           unsigned result, mlir::ValueRange at);
  /// The element of an operand for an iteration of the op's loops.
  mlir::Value operandAt(Frame &frame, mlir::OpOperand &operand,
                        mlir::ValueRange loops);
  /// Clones a body; a null argument is not used there. Returns what it yields.
  Values cloneBody(Frame &frame, mlir::Block &body, mlir::ValueRange args,
                   mlir::ValueRange loops);
  /// The value, in the new loop, of a scalar or memref.
  mlir::Value scalar(mlir::Value value) {
    return mapping.lookupOrDefault(value);
  }
  mlir::Value unsupported(mlir::OpBuilder &b, mlir::Value value);

  // ThreadScalars.cpp: what all threads do alike.
  void emitScalars(mlir::OpBuilder &b, mlir::Operation *op);
  void emitScalarLoop(mlir::OpBuilder &b, mlir::scf::ForOp op);

  // ThreadRows.cpp: a warp per row.
  void emitRows(const TileGroup &group);
  void emitRowOp(Frame &frame, mlir::linalg::GenericOp op);
  void emitElementwise(Frame &frame, mlir::linalg::GenericOp op);
  bool emitLaneReduction(Frame &frame, mlir::linalg::GenericOp op);
  void emitThroughMemory(Frame &frame, mlir::linalg::GenericOp op);
  mlir::Value rowOperand(Frame &frame, mlir::OpOperand &operand, int64_t chunk,
                         mlir::ValueRange loops);
  mlir::Value rowChunk(Frame &frame, mlir::Value value, int64_t chunk);
  void storeChunks(
      Frame &frame, mlir::Value value,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, mlir::ValueRange)>
          store);
  void keepInMemory(Frame &frame, mlir::Value value);
  mlir::Value columnOf(mlir::OpBuilder &b, mlir::Location loc, int64_t chunk,
                       int64_t columns);
  mlir::Value shuffle(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                      int64_t distance);

  // ThreadContractions.cpp: a warp per block of rows and columns.
  struct ContractionBlock;
  void emitContractions(const TileGroup &group);
  void emitBlock(mlir::OpBuilder &b, const TileGroup &group,
                 ContractionBlock &block);
  void emitSums(Frame &frame, ContractionBlock &block,
                llvm::ArrayRef<mlir::linalg::GenericOp> ops);
  void emitProducts(Frame &frame, ContractionBlock &block,
                    mlir::linalg::GenericOp op, mlir::ValueRange summed,
                    int64_t steps, llvm::MutableArrayRef<mlir::Value> acc);
  int64_t stepsOf(mlir::linalg::GenericOp op);
  /// Copies live rows of the caller's memory to workgroup memory.
  void stage(mlir::Value value);

  // ThreadFolds.cpp
  void emitFold(ragged::TileFoldOp op);
  void initAccumulator(mlir::Value init, mlir::Value buffer);
  mlir::LogicalResult checkCarried();

  // Both.
  bool isLoaded(mlir::Value value);
  mlir::Value skipViews(mlir::Value value);
  bool isInline(const TileGroup &group, mlir::Value value);
  bool needsBuffer(const TileGroup &group, mlir::Value value);
  mlir::Value allocate(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value bufferFor(mlir::Value tensor);
  void barrier();

  mlir::IRRewriter &rewriter;
  mlir::scf::ForOp loop;
  TileRows tile;
  const TileGraph &graph;
  const ThreadIds &ids;
  mlir::scf::ForOp newLoop;
  /// Scalars of the old loop in the new one.
  mlir::IRMapping mapping;
  /// Tensors in workgroup memory.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  bool failed = false;
};

/// Small helpers on subscripts.
mlir::Value indexConstant(mlir::OpBuilder &b, mlir::Location loc,
                          int64_t value);
Values delinearize(mlir::OpBuilder &b, mlir::Location loc, mlir::Value linear,
                   llvm::ArrayRef<int64_t> shape);
mlir::Value linearize(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::ValueRange indices, llvm::ArrayRef<int64_t> shape);
/// The dims of a tensor behind its rows, and their product.
llvm::ArrayRef<int64_t> innerShape(mlir::Value tensor);
int64_t innerSize(mlir::Value tensor);
mlir::Type elementTypeOf(mlir::Value tensor);

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOGPU_THREADEMITTER_H
