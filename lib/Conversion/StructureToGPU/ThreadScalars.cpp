//===- ThreadScalars.cpp - What all threads of a block compute alike ------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row numbers and other small tensors of a tile are filled element by element.
// They go to workgroup memory, written by the first thread.
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// Whether the op or one inside of it has to do with tensors.
static bool touchesTensors(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperandTypes(), isTensor) ||
                       llvm::any_of(inner->getResultTypes(), isTensor)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A loop that fills tensors: each of them is a buffer from the start.
void ThreadEmitter::emitScalarLoop(OpBuilder &b, scf::ForOp op) {
  Values inits;
  for (auto [init, argument, result] : llvm::zip_equal(
           op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    if (!isa<RankedTensorType>(init.getType())) {
      inits.push_back(scalar(init));
      continue;
    }
    if (!init.getDefiningOp<tensor::EmptyOp>()) {
      unsupported(b, init);
      return;
    }
    Value buffer = bufferFor(result);
    buffers[argument] = buffer;
  }
  auto copy = scf::ForOp::create(b, op.getLoc(), scalar(op.getLowerBound()),
                                 scalar(op.getUpperBound()),
                                 scalar(op.getStep()), inits);
  mapping.map(op.getInductionVar(), copy.getInductionVar());
  unsigned next = 0;
  for (auto [argument, result] :
       llvm::zip_equal(op.getRegionIterArgs(), op.getResults())) {
    if (isa<RankedTensorType>(argument.getType()))
      continue;
    mapping.map(argument, copy.getRegionIterArg(next));
    mapping.map(result, copy.getResult(next++));
  }
  if (inits.empty())
    copy.getBody()->getTerminator()->erase();
  OpBuilder inner = OpBuilder::atBlockEnd(copy.getBody());
  for (Operation &child : op.getBody()->without_terminator())
    emitScalars(inner, &child);
  Values yields;
  for (auto [value, argument] :
       llvm::zip_equal(op.getBody()->getTerminator()->getOperands(),
                       op.getRegionIterArgs())) {
    if (!isa<RankedTensorType>(value.getType()))
      yields.push_back(scalar(value));
    else if (buffers.lookup(value) != buffers.lookup(argument))
      unsupported(b, value);
  }
  scf::YieldOp::create(inner, op.getLoc(), yields);
}

void ThreadEmitter::emitScalars(OpBuilder &b, Operation *op) {
  // Elements are made where they are used.
  if (isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          tensor::ExtractSliceOp, bufferization::ToTensorOp>(op) ||
      (isa<arith::ConstantOp>(op) && touchesTensors(op)))
    return;
  if (!touchesTensors(op)) {
    b.clone(*op, mapping);
    return;
  }
  if (auto nested = dyn_cast<scf::ForOp>(op))
    return emitScalarLoop(b, nested);
  Frame frame(b);
  auto subscripts = [&](ValueRange indices) {
    return llvm::map_to_vector(indices,
                               [&](Value value) { return scalar(value); });
  };
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    Value buffer = buffers.lookup(insert.getDest());
    if (!buffer) {
      unsupported(b, insert.getResult());
      return;
    }
    scf::IfOp::create(
        b, op->getLoc(), ids.leader, [&](OpBuilder &then, Location at) {
          memref::StoreOp::create(then, at, scalar(insert.getScalar()), buffer,
                                  subscripts(insert.getIndices()));
          scf::YieldOp::create(then, at);
        });
    buffers[insert.getResult()] = buffer;
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    mapping.map(extract.getResult(), element(frame, extract.getTensor(),
                                             subscripts(extract.getIndices())));
    return;
  }
  failed = true;
  op->emitOpError("has no form on GPUs yet");
}
