//===- Differentiation.cpp - Reverse mode on straight-line code -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Differentiation.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "nested/Dialect/Ragged/IR/SymbolBindings.h"

using namespace mlir;
using namespace nested::ragged;

bool nested::ragged::isDifferentiable(Type type) {
  if (auto ragged = dyn_cast<RaggedTensorType>(type))
    return isa<FloatType>(ragged.getElementType());
  // Tensors of dynamic shape too: a derivative must not be lost in them.
  return isa<FloatType>(getElementTypeOrSelf(type));
}

Activity::Activity(ArrayRef<Operation *> all, ValueRange variables,
                   ValueRange outputs) {
  llvm::DenseSet<Value> reached(variables.begin(), variables.end());
  for (Operation *op : all) {
    if (isa<StopGradientOp>(op) ||
        llvm::none_of(op->getOperands(),
                      [&](Value value) { return reached.contains(value); }))
      continue;
    for (Value result : op->getResults())
      if (isDifferentiable(result.getType()))
        reached.insert(result);
  }
  for (Value output : outputs)
    if (reached.contains(output))
      active.insert(output);
  for (Operation *op : llvm::reverse(all)) {
    if (llvm::none_of(op->getResults(),
                      [&](Value value) { return active.contains(value); }))
      continue;
    // What is above a variable does not matter to it.
    bool leads = false;
    for (Value operand : op->getOperands())
      if (reached.contains(operand)) {
        active.insert(operand);
        leads = true;
      }
    if (leads)
      ops.push_back(op);
  }
  std::reverse(ops.begin(), ops.end());
}

Value Gradients::get(Value value, Add add) {
  auto it = contributions.find(value);
  if (it == contributions.end())
    return {};
  SmallVector<Value, 2> &parts = it->second;
  while (parts.size() > 1) {
    Value last = parts.pop_back_val();
    parts.back() = add(parts.back(), last);
  }
  return parts.front();
}

namespace {
/// The ops of checkpoints, computed again.
class Recomputation {
public:
  Recomputation(OpBuilder &builder) : builder(builder) {}
  /// The op again, if it is one of a checkpoint's, else itself. What is
  /// computed again is so after `gradients` are there.
  Operation *get(Operation *op, ArrayRef<Value> gradients);

private:
  void clone(Attribute checkpoint, Block &block, ArrayRef<Value> gradients);

  OpBuilder &builder;
  llvm::DenseSet<Attribute> done;
  DenseMap<Operation *, Operation *> clones;
};
} // namespace

void Recomputation::clone(Attribute checkpoint, Block &block,
                          ArrayRef<Value> gradients) {
  SmallVector<Value> after;
  llvm::copy_if(gradients, std::back_inserter(after),
                [](Value value) { return bool(value); });
  IRMapping values;
  // What is read from outside is behind a barrier: otherwise what is computed
  // again would be found to be known. Dense values are small.
  auto protect = [&](Operation *op, Value operand) {
    Operation *producer = operand.getDefiningOp();
    if (!isa<RaggedTensorType>(operand.getType()) || values.contains(operand) ||
        (producer && op->isProperAncestor(producer)))
      return;
    Value barrier = BarrierOp::create(builder, op->getLoc(), operand.getType(),
                                      operand, after);
    values.map(operand, barrier);
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    // A symbol has one binding.
    if (op.getAttr(kCheckpointAttr) != checkpoint ||
        !getSymbolsBoundBy(&op).empty())
      continue;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        protect(&op, operand);
    });
    Operation *copy = builder.clone(op, values);
    copy->removeAttr(kCheckpointAttr);
    clones[&op] = copy;
  }
}

Operation *Recomputation::get(Operation *op, ArrayRef<Value> gradients) {
  Attribute checkpoint = op->getAttr(kCheckpointAttr);
  if (!checkpoint)
    return op;
  if (done.insert(checkpoint).second)
    clone(checkpoint, *op->getBlock(), gradients);
  Operation *copy = clones.lookup(op);
  return copy ? copy : op;
}

LogicalResult nested::ragged::sweepBackwards(OpBuilder &builder,
                                             const Activity &activity,
                                             Gradients &gradients,
                                             Gradients::Add add) {
  auto getActive = [&](Operation *op) {
    SmallVector<bool> active;
    for (Value operand : op->getOperands())
      active.push_back(activity.isActive(operand));
    return active;
  };
  auto cache = [&](Operation *op, ArrayRef<bool> active) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(op);
    return cast<DifferentiableOpInterface>(op).cacheValues(builder, active);
  };
  DenseMap<Operation *, SmallVector<Value>> cached;
  for (Operation *op : activity.getOps()) {
    if (!isa<DifferentiableOpInterface>(op))
      return op->emitOpError("has no derivative rule, but a variable reaches "
                             "an output through it");
    if (!op->hasAttr(kCheckpointAttr))
      cached[op] = cache(op, getActive(op));
  }
  Recomputation recomputation(builder);
  for (Operation *op : llvm::reverse(activity.getOps())) {
    SmallVector<Value> results;
    for (Value result : op->getResults())
      results.push_back(activity.isActive(result) ? gradients.get(result, add)
                                                  : Value());
    if (llvm::none_of(results, [](Value value) { return bool(value); }))
      continue;
    SmallVector<bool> active = getActive(op);
    Operation *used = recomputation.get(op, results);
    SmallVector<Value> kept =
        op->hasAttr(kCheckpointAttr) ? cache(used, active) : cached[op];
    FailureOr<SmallVector<Value>> operands =
        cast<DifferentiableOpInterface>(used).emitAdjoint(builder, results,
                                                          kept, active);
    if (failed(operands))
      return failure();
    for (auto [operand, gradient, isActive] :
         llvm::zip_equal(op->getOperands(), *operands, active))
      if (isActive && gradient)
        gradients.contribute(operand, gradient);
  }
  return success();
}

FailureOr<SmallVector<Value>>
nested::ragged::differentiate(OpBuilder &builder, ArrayRef<Operation *> ops,
                              ValueRange variables, ValueRange outputs,
                              ArrayRef<Value> seeds, Gradients::Add add) {
  Activity activity(ops, variables, outputs);
  Gradients gradients;
  for (auto [output, seed] : llvm::zip_equal(outputs, seeds))
    if (seed && activity.isActive(output))
      gradients.contribute(output, seed);
  if (failed(sweepBackwards(builder, activity, gradients, add)))
    return failure();
  SmallVector<Value> results;
  for (Value variable : variables)
    results.push_back(activity.isActive(variable) ? gradients.get(variable, add)
                                                  : Value());
  return results;
}
