//===- TileGraph.h - Stages of a tile program -------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts the ops of a tile program into groups that become one loop nest each.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEGRAPH_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEGRAPH_H

#include "TileMatch.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace nested::tile {

enum class NodeKind {
  Prologue,    ///< Scalars, row numbers: not part of any group.
  Load,        ///< `tile_load`, `tile_gather`; repeated where it is used.
  View,        ///< Reshape or slice; repeated where it is used.
  Splat,       ///< Made of scalars and shared values; repeated as well.
  Row,         ///< One row at a time.
  Contraction, ///< In register blocks.
  Summand,     ///< An outer product, little work; made where it is summed.
  BlockFold,   ///< A sum over rows, of blocks of columns in registers.
  Other,       ///< Needs whole tiles (a loop over their elements).
};

struct TileGroup {
  enum class Kind { Rows, Contraction, BlockFold, Other };
  Kind kind;
  int64_t stage;
  /// In program order.
  llvm::SmallVector<mlir::Operation *> ops;
};

class TileGraph {
public:
  /// Analyses the body of a tile loop, whose linalg ops are all generic.
  /// Reports ops that are not row-independent. With `registerBlocks`, stores
  /// of what a contraction group computes, and what it alone needs, are part of
  /// it, and sums over rows of what it computes read blocks of columns.
  static mlir::FailureOr<TileGraph> build(mlir::scf::ForOp loop, int64_t rows,
                                          bool registerBlocks = false);

  /// In an order in which they can run.
  llvm::ArrayRef<TileGroup> getGroups() const { return groups; }
  NodeKind kindOf(mlir::Operation *op) const { return kinds.lookup(op); }
  /// Whether the value is needed outside of the group that computes it.
  bool isBuffered(mlir::Value value) const;
  int64_t getRows() const { return rows; }

private:
  TileGraph(mlir::Block *body, int64_t rows) : body(body), rows(rows) {}

  mlir::LogicalResult classify();
  mlir::LogicalResult classifyGeneric(mlir::linalg::GenericOp op);
  void formContractionGroups(bool registerBlocks);
  bool joinEpilogue(mlir::linalg::GenericOp op);
  void pullIntoEpilogue(mlir::Operation *op);
  void joinStore(mlir::Operation *op);
  mlir::Operation *matchLittleWork(mlir::Operation *op) const;
  void formBlockFold(mlir::Operation *op);
  void assignStages();
  void delayLoadedValues();
  void collectGroups();

  /// The op of the loop's body that contains the definition, or null.
  mlir::Operation *definingNode(mlir::Value value) const;
  bool isTileOperand(mlir::OpOperand &operand) const;
  bool isFree(mlir::Operation *op) const;
  /// Ops that are in a group and produce what `op` uses, through free ones.
  llvm::SetVector<mlir::Operation *> producersOf(mlir::Operation *op) const;
  void addProducers(mlir::Value value,
                    llvm::SetVector<mlir::Operation *> &set) const;
  /// Whether `op` needs, directly or not, a result of one of `targets`.
  bool dependsOn(mlir::Operation *op,
                 const llvm::SetVector<mlir::Operation *> &targets) const;
  bool usesLoadedValue(mlir::Value value) const;
  bool isMadeOfLoads(mlir::Operation *op) const;

  mlir::Block *body;
  int64_t rows;
  llvm::SmallVector<mlir::Operation *> order;
  llvm::DenseMap<mlir::Operation *, NodeKind> kinds;
  /// Contraction groups, by index; -1 for merged ones' former members.
  llvm::SmallVector<llvm::SetVector<mlir::Operation *>> contractions;
  llvm::DenseMap<mlir::Operation *, unsigned> contractionOf;
  llvm::DenseMap<mlir::Operation *, int64_t> stages;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
  llvm::SmallVector<TileGroup> groups;
};

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_TILEGRAPH_H
