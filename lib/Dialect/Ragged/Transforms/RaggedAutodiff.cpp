//===- RaggedAutodiff.cpp - Requests for derivatives become ops ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each `ragged.gradient` of a function, in program order, so that what a
// later one differentiates has no request in it any more:
//
// 1. collect the ops before the request that its outputs are computed by;
// 2. find out what is active;
// 3. let the active ops keep what they need, and sweep backwards over them,
//    emitting adjoints where the request stands;
// 4. replace the request's results.
//
// Then remove the ops that mattered to derivatives only, what nothing uses, and
// what guards do for further derivatives; an attention whose normalizer the
// backward needs gives it in the forward.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "nested/Dialect/Ragged/IR/Differentiation.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDAUTODIFF
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedAutodiff
    : nested::ragged::impl::RaggedAutodiffBase<RaggedAutodiff> {
  void runOnOperation() override;

private:
  LogicalResult expand(GradientOp op);
};
} // namespace

/// The ops of the function's block that `outputs` are computed by.
static SmallVector<Operation *> collectOps(GradientOp op) {
  llvm::DenseSet<Operation *> wanted;
  SmallVector<Value> work(op.getOutputs());
  while (!work.empty()) {
    Operation *producer = work.pop_back_val().getDefiningOp();
    if (!producer || !wanted.insert(producer).second)
      continue;
    llvm::append_range(work, producer->getOperands());
  }
  SmallVector<Operation *> ops;
  for (Operation &candidate : *op->getBlock())
    if (wanted.contains(&candidate))
      ops.push_back(&candidate);
  return ops;
}

/// Puts the ops of checkpoints where the checkpoints stand, with their number.
/// Those inside of others are part of these.
static void inlineCheckpoints(func::FuncOp func) {
  SmallVector<CheckpointOp> checkpoints;
  func.walk([&](CheckpointOp op) { checkpoints.push_back(op); });
  for (auto [number, op] : llvm::enumerate(checkpoints)) {
    Block &body = op.getBody().front();
    auto attr = Builder(func.getContext()).getI64IntegerAttr(number);
    for (Operation &inner : body.without_terminator())
      inner.setAttr(kCheckpointAttr, attr);
    op->replaceAllUsesWith(body.getTerminator()->getOperands());
    op->getBlock()->getOperations().splice(Block::iterator(op),
                                           body.getOperations(), body.begin(),
                                           std::prev(body.end()));
    op->erase();
  }
}

LogicalResult RaggedAutodiff::expand(GradientOp op) {
  // Whatever is wrong, the reader wants to know who asked.
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      diagnostic.attachNote(op.getLoc()) << "the derivative is asked for here";
    return failure();
  });
  OpBuilder builder(op);
  TensorBuilder tensors(builder, op.getLoc());
  SmallVector<Operation *> ops = collectOps(op);
  SmallVector<Value> seeds(op.getSeeds());
  if (seeds.empty())
    for (Value output : op.getOutputs())
      seeds.push_back(tensors.fill(LogicalType::of(output), 1));
  auto gradients =
      differentiate(builder, ops, op.getVariables(), op.getOutputs(), seeds,
                    [&](Value lhs, Value rhs) {
                      return TensorBuilder(builder, lhs.getLoc()).add(lhs, rhs);
                    });
  if (failed(gradients))
    return failure();
  for (auto [variable, gradient, result] :
       llvm::zip_equal(op.getVariables(), *gradients, op.getGradients()))
    result.replaceAllUsesWith(gradient ? gradient
                                       : tensors.zeros(variable.getType()));
  op.erase();
  return success();
}

void RaggedAutodiff::runOnOperation() {
  func::FuncOp func = getOperation();
  inlineCheckpoints(func);
  SmallVector<GradientOp> requests;
  func.walk([&](GradientOp op) { requests.push_back(op); });
  for (GradientOp op : requests) {
    if (op->getParentOp() != func) {
      op.emitOpError("expected to stand in the body of the function, but got ")
          << "it inside of '" << op->getParentOp()->getName() << "'";
      return signalPassFailure();
    }
    if (failed(expand(op)))
      return signalPassFailure();
  }
  func.walk([](Operation *op) {
    op->removeAttr(kCheckpointAttr);
    if (isa<VariableOp, StopGradientOp>(op))
      op->replaceAllUsesWith(op->getOperands());
    else if (auto custom = dyn_cast<CustomGradientOp>(op))
      op->replaceAllUsesWith(custom.getValues());
    else
      return;
    op->erase();
  });
  if (requests.empty())
    return;
  func->setAttr(kDifferentiatedAttr, UnitAttr::get(&getContext()));
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  simplifyGuards(func);
  shareNormalizers(func);
}
