//===- ThreadFolds.cpp - Folds over rows: a thread per column -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accumulators are in workgroup memory from tile to tile. A column is only
// ever touched by its owner, which goes through the rows in order.
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// What the loop carries in tensors must be accumulators of folds.
LogicalResult ThreadEmitter::checkCarried() {
  OperandRange yields = loop.getBody()->getTerminator()->getOperands();
  for (auto [argument, yield, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), yields, loop.getResults())) {
    if (!isa<RankedTensorType>(argument.getType()))
      continue;
    auto fold = yield.getDefiningOp<ragged::TileFoldOp>();
    if (!fold ||
        fold.getAcc()[cast<OpResult>(yield).getResultNumber()] != argument)
      return loop.emitOpError("carries a tensor that is not the accumulator of "
                              "a fold, which has no form on GPUs yet");
    if (!result.use_empty())
      return loop.emitOpError(
          "has an accumulator that is used behind it, which "
          "has no form on GPUs yet");
  }
  return success();
}

/// Calls `body` for the elements that this thread owns.
static void forOwned(OpBuilder &b, Location loc, const ThreadIds &ids,
                     ArrayRef<int64_t> shape,
                     function_ref<void(OpBuilder &, ValueRange)> body) {
  Value end = indexConstant(b, loc, ShapedType::getNumElements(shape));
  scf::ForOp::create(b, loc, ids.thread, end,
                     indexConstant(b, loc, ids.threads), ValueRange(),
                     [&](OpBuilder &inner, Location, Value i, ValueRange) {
                       body(inner, delinearize(inner, loc, i, shape));
                       scf::YieldOp::create(inner, loc);
                     });
}

void ThreadEmitter::initAccumulator(Value init, Value buffer) {
  forOwned(rewriter, init.getLoc(), ids,
           cast<ShapedType>(init.getType()).getShape(),
           [&](OpBuilder &b, ValueRange at) {
             Frame frame(b);
             memref::StoreOp::create(b, init.getLoc(), element(frame, init, at),
                                     buffer, at);
           });
}

void ThreadEmitter::emitFold(ragged::TileFoldOp op) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape =
      cast<ShapedType>(op.getAcc().front().getType()).getShape();
  // Operands have that shape or a leading part of it, behind their rows.
  auto rowElement = [&](Frame &frame, Value value, ValueRange at) {
    Values indices{frame.row};
    llvm::append_range(indices, at.take_front(innerShape(value).size()));
    return element(frame, value, indices);
  };
  forOwned(rewriter, loc, ids, shape, [&](OpBuilder &b, ValueRange at) {
    Values acc;
    for (Value value : op.getAcc())
      acc.push_back(memref::LoadOp::create(b, loc, buffers.lookup(value), at));
    auto rows = scf::ForOp::create(
        b, loc, indexConstant(b, loc, 0), scalar(tile.live),
        indexConstant(b, loc, 1), acc,
        [&](OpBuilder &body, Location, Value row, ValueRange carried) {
          Frame frame(body, row);
          Values args;
          for (Value input : op.getInputs())
            args.push_back(rowElement(frame, input, at));
          llvm::append_range(args, carried);
          Values combined = cloneBody(frame, op.getCombine().front(), args, {});
          Value target = element(frame, op.getFlush(), row);
          Value atEnd =
              arith::CmpIOp::create(body, loc, arith::CmpIPredicate::sge,
                                    target, indexConstant(body, loc, 0));
          auto flush = scf::IfOp::create(
              body, loc, atEnd,
              [&](OpBuilder &then, Location) {
                Frame last(then, row);
                Values inputs(combined);
                for (Value aux : op.getAux())
                  inputs.push_back(rowElement(last, aux, at));
                Values indices{target};
                llvm::append_range(indices, at);
                for (auto [value, dest] : llvm::zip_equal(
                         cloneBody(last, op.getFinalize().front(), inputs, {}),
                         op.getDests()))
                  memref::StoreOp::create(then, loc, value, scalar(dest),
                                          indices);
                Values reset;
                for (Value init : op.getInit())
                  reset.push_back(element(last, init, at));
                scf::YieldOp::create(then, loc, reset);
              },
              [&](OpBuilder &otherwise, Location) {
                scf::YieldOp::create(otherwise, loc, combined);
              });
          scf::YieldOp::create(body, loc, flush.getResults());
        });
    for (auto [value, result] : llvm::zip_equal(op.getAcc(), rows.getResults()))
      memref::StoreOp::create(b, loc, result, buffers.lookup(value), at);
  });
}
