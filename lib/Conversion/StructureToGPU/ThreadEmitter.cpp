//===- ThreadEmitter.cpp - Tile programs for a block of threads -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

ThreadIds ThreadIds::create(OpBuilder &b, Location loc, int64_t threads) {
  ThreadIds ids;
  ids.threads = threads;
  ids.thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value lanes = indexConstant(b, loc, kLanes);
  ids.lane = arith::RemUIOp::create(b, loc, ids.thread, lanes);
  ids.warp = arith::DivUIOp::create(b, loc, ids.thread, lanes);
  ids.leader = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                     ids.thread, indexConstant(b, loc, 0));
  return ids;
}

/// A buffer of the new loop. All are made at its start; where they are used
/// decides which of them share memory.
Value ThreadEmitter::allocate(ArrayRef<int64_t> shape, Type element) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(newLoop.getBody());
  auto space = gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return memref::AllocOp::create(rewriter, loop.getLoc(), type);
}

Value ThreadEmitter::bufferFor(Value tensor) {
  Value &buffer = buffers[tensor];
  if (!buffer) {
    auto type = cast<RankedTensorType>(tensor.getType());
    buffer = allocate(type.getShape(), type.getElementType());
  }
  return buffer;
}

void ThreadEmitter::barrier() {
  gpu::BarrierOp::create(rewriter, loop.getLoc());
}

/// What the value is a view of.
Value ThreadEmitter::skipViews(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() ||
      graph.kindOf(op) != NodeKind::View)
    return value;
  return skipViews(op->getOperand(0));
}

/// Whether the value comes from the caller's memory by row.
bool ThreadEmitter::isLoaded(Value value) {
  Operation *op = skipViews(value).getDefiningOp();
  return op && op->getBlock() == loop.getBody() &&
         graph.kindOf(op) == NodeKind::Load;
}

/// Whether elements of a value of the group can be computed where they are
/// used, cheaply, from what is in memory behind the group.
bool ThreadEmitter::isInline(const TileGroup &group, Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumParallelLoops() != op.getNumLoops())
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isIdentity())
      return false;
  for (Operation &inner : *op.getBody())
    if (!isa<arith::ArithDialect, linalg::LinalgDialect>(inner.getDialect()))
      return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    Value source = skipViews(operand.get());
    return !op.payloadUsesValueFromOperand(&operand) ||
           !llvm::is_contained(group.ops, source.getDefiningOp()) ||
           needsBuffer(group, source) || isInline(group, source);
  });
}

/// Whether a value of the group must be kept in memory for other groups. What
/// only folds use is often a conversion of something that is in memory.
bool ThreadEmitter::needsBuffer(const TileGroup &group, Value value) {
  if (!graph.isBuffered(value))
    return false;
  bool folded =
      llvm::all_of(value.getUsers(), llvm::IsaPred<ragged::TileFoldOp>);
  return !folded || !isInline(group, value);
}

LogicalResult ThreadEmitter::run() {
  if (failed || mlir::failed(checkCarried()))
    return failure();
  Location loc = loop.getLoc();
  auto isTensor = [](Value value) {
    return isa<RankedTensorType>(value.getType());
  };

  // The new loop carries scalars; tensors are in memory from its start to its
  // end.
  Values inits;
  for (Value init : loop.getInitArgs())
    if (!isTensor(init))
      inits.push_back(init);
  rewriter.setInsertionPoint(loop);
  newLoop = scf::ForOp::create(rewriter, loc, loop.getLowerBound(),
                               loop.getUpperBound(), loop.getStep(), inits);
  Block *body = newLoop.getBody();
  if (inits.empty())
    rewriter.eraseOp(body->getTerminator());
  mapping.map(loop.getInductionVar(), newLoop.getInductionVar());
  unsigned next = 0;
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
    if (!isTensor(argument)) {
      mapping.map(argument, newLoop.getRegionIterArg(next++));
      continue;
    }
    Value buffer = bufferFor(argument);
    buffer.getDefiningOp()->moveBefore(newLoop);
    rewriter.setInsertionPoint(newLoop);
    initAccumulator(init, buffer);
  }

  rewriter.setInsertionPointToEnd(body);
  for (Operation &op : loop.getBody()->without_terminator())
    if (graph.kindOf(&op) == NodeKind::Prologue)
      emitScalars(rewriter, &op);
  barrier();
  for (const TileGroup &group : graph.getGroups()) {
    if (group.kind == TileGroup::Kind::Rows)
      emitRows(group);
    else if (group.kind == TileGroup::Kind::Contraction)
      emitContractions(group);
    else
      unsupported(rewriter, group.ops.front()->getResult(0));
    if (failed)
      return failure();
    // Also between the last group of a tile and the next tile.
    barrier();
  }

  Values yields;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    if (!isTensor(value))
      yields.push_back(scalar(value));
  if (failed)
    return failure();
  scf::YieldOp::create(rewriter, loc, yields);
  next = 0;
  for (Value result : loop.getResults())
    if (!isTensor(result))
      rewriter.replaceAllUsesWith(result, newLoop.getResult(next++));
  rewriter.eraseOp(loop);
  return success();
}
