//===- TileEmitter.cpp - Loops for the groups of a tile program -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

SmallVector<Value> TileEmitter::bufferedResults(const TileGroup &group) const {
  SmallVector<Value> results;
  for (Operation *op : group.ops)
    if (!isa<ragged::TileFoldOp>(op))
      for (Value value : op->getResults())
        if (graph.isBuffered(value))
          results.push_back(value);
  return results;
}

SmallVector<Value> TileEmitter::emptyBuffers(ArrayRef<Value> values) {
  SmallVector<Value> buffers;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    buffers.push_back(tensor::EmptyOp::create(
        rewriter, value.getLoc(), type.getShape(), type.getElementType()));
  }
  return buffers;
}

Value TileEmitter::whole(Value value) {
  if (Value buffer = buffers.lookupOrNull(value))
    return buffer;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() ||
      graph.kindOf(op) != NodeKind::View)
    return value;
  // A view of a load is made row by row.
  Value source = whole(op->getOperand(0));
  if (source == op->getOperand(0) && source.getDefiningOp() &&
      graph.kindOf(source.getDefiningOp()) == NodeKind::Load)
    return value;
  IRMapping map;
  map.map(op->getOperand(0), source);
  Value view = rewriter.clone(*op, map)->getResult(0);
  buffers.map(value, view);
  return view;
}

Value TileEmitter::sourceTensor(Value memref) {
  Value &tensor = sources[memref];
  if (tensor)
    return tensor;
  OpBuilder::InsertionGuard guard(rewriter);
  if (loop->isProperAncestor(memref.getParentBlock()->getParentOp()) ||
      memref.getParentBlock() == loop.getBody())
    rewriter.setInsertionPointAfterValue(memref);
  else
    rewriter.setInsertionPoint(loop);
  tensor = bufferization::ToTensorOp::create(
      rewriter, memref.getLoc(),
      memref::getTensorTypeFromMemRefType(memref.getType()), memref,
      /*restrict=*/true, /*writable=*/false);
  return tensor;
}

void TileEmitter::emitOther(const TileGroup &group) {
  for (Operation *op : group.ops) {
    llvm::SetVector<Value> values;
    getUsedValuesDefinedAbove(op->getRegions(), values);
    values.insert_range(op->getOperands());
    for (Value value : values) {
      Value replacement = whole(value);
      if (replacement != value)
        value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
          return op->isAncestor(use.getOwner());
        });
    }
    op->moveBefore(rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
  }
}

LogicalResult TileEmitter::run() {
  Operation *terminator = loop.getBody()->getTerminator();
  SmallVector<Operation *> old;
  for (Operation &op : loop.getBody()->without_terminator())
    if (graph.kindOf(&op) != NodeKind::Prologue &&
        graph.kindOf(&op) != NodeKind::Other)
      old.push_back(&op);

  rewriter.setInsertionPoint(terminator);
  for (const TileGroup &group : graph.getGroups()) {
    LogicalResult result = success();
    if (group.kind == TileGroup::Kind::Rows)
      result = emitRows(group);
    else if (group.kind == TileGroup::Kind::Contraction)
      result = emitContractions(group);
    else if (group.kind == TileGroup::Kind::BlockFold)
      emitBlockFold(cast<ragged::TileFoldOp>(group.ops.front()));
    else
      emitOther(group);
    if (failed(result))
      return failure();
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(whole(operand.get()));
  for (Operation *op : llvm::reverse(old)) {
    if (!op->use_empty())
      return op->emitOpError("is used in a way that has no loops");
    rewriter.eraseOp(op);
  }
  return success();
}
