//===- RaggedTileOps.cpp - Tile access in lowered kernels -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace nested::ragged;

/// Rows of memory are rows of the tile: the same shape and element type.
static LogicalResult verifyRows(Operation *op, MemRefType memory,
                                RankedTensorType tile) {
  if (memory.getRank() >= 1 && tile.getRank() >= 1 &&
      memory.getShape().drop_front() == tile.getShape().drop_front() &&
      memory.getElementType() == tile.getElementType())
    return success();
  return emitExpected(op, "memory with the rows of tile " + quote(tile),
                      quote(memory));
}

/// One number for each row of the tile.
static LogicalResult verifyPerRow(Operation *op, const Twine &what,
                                  RankedTensorType perRow, int64_t rows) {
  if (perRow.getRank() == 1 && perRow.getDimSize(0) == rows)
    return success();
  return emitExpected(op, what + " for each of the " + Twine(rows) + " rows",
                      quote(perRow));
}

LogicalResult TileLoadOp::verify() {
  return verifyRows(*this, cast<MemRefType>(getSource().getType()),
                    cast<RankedTensorType>(getType()));
}

LogicalResult TileGatherOp::verify() {
  auto tile = cast<RankedTensorType>(getType());
  if (failed(verifyRows(*this, cast<MemRefType>(getSource().getType()), tile)))
    return failure();
  return verifyPerRow(*this, "a row number",
                      cast<RankedTensorType>(getRows().getType()),
                      tile.getDimSize(0));
}

LogicalResult TileStoreOp::verify() {
  return verifyRows(*this, cast<MemRefType>(getDest().getType()),
                    cast<RankedTensorType>(getValue().getType()));
}

LogicalResult TileFoldOp::verify() {
  size_t count = getInputs().size();
  if (count == 0)
    return emitExpected(*this, "at least one input", "none");
  if (getAcc().size() != count || getInit().size() != count ||
      getDests().size() != count || getResults().size() != count)
    return emitExpected(
        *this,
        "an accumulator, an init, a destination and a result for each of the " +
            Twine(count) + " inputs",
        Twine(getAcc().size()) + ", " + Twine(getInit().size()) + ", " +
            Twine(getDests().size()) + " and " + Twine(getResults().size()));

  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  if (first.getRank() == 0)
    return emitExpected(*this, "inputs with a row dim", quote(first));
  int64_t rows = first.getDimSize(0);
  SmallVector<Type> combine, finalize, accumulators, finals;
  for (auto [input, acc, init, dest, result] :
       llvm::zip(getInputs(), getAcc(), getInit(), getDests(), getResults())) {
    auto tile = cast<RankedTensorType>(input.getType());
    // Elementwise: one shape for all.
    if (tile.getShape() != first.getShape())
      return emitExpected(*this, "inputs of the shape of " + quote(first),
                          quote(tile));
    auto accumulator = RankedTensorType::get(tile.getShape().drop_front(),
                                             tile.getElementType());
    for (auto [what, type] : {std::pair("accumulator", acc.getType()),
                              std::pair("init", init.getType()),
                              std::pair("result", result.getType())})
      if (type != accumulator)
        return emitExpected(
            *this, Twine(what) + " of type " + quote(accumulator), quote(type));
    auto memory = cast<MemRefType>(dest.getType());
    if (memory.getRank() < 1 ||
        memory.getShape().drop_front() != accumulator.getShape())
      return emitExpected(
          *this, "a destination with the rows of " + quote(accumulator),
          quote(memory));
    combine.push_back(tile.getElementType());
    accumulators.push_back(tile.getElementType());
    finals.push_back(memory.getElementType());
  }
  if (failed(verifyPerRow(*this, "a number to flush to",
                          cast<RankedTensorType>(getFlush().getType()), rows)))
    return failure();
  finalize = accumulators;
  for (Value aux : getAux()) {
    auto type = cast<RankedTensorType>(aux.getType());
    if (failed(verifyPerRow(*this, "an auxiliary number", type, rows)))
      return failure();
    finalize.push_back(type.getElementType());
  }
  llvm::append_range(combine, accumulators);
  if (failed(verifyArguments(*this, "a combine region", getCombine().front(),
                             combine)) ||
      failed(verifyYield(*this, "the combine region", getCombine().front(),
                         accumulators)) ||
      failed(verifyArguments(*this, "a finalize region", getFinalize().front(),
                             finalize)))
    return failure();
  return verifyYield(*this, "the finalize region", getFinalize().front(),
                     finals);
}
