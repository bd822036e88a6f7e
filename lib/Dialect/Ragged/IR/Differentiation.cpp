//===- Differentiation.cpp - Reverse mode on straight-line code -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Differentiation.h"

#include "mlir/IR/TypeUtilities.h"

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
  DenseMap<Operation *, SmallVector<Value>> cached;
  for (Operation *op : activity.getOps()) {
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!rule)
      return op->emitOpError("has no derivative rule, but a variable reaches "
                             "an output through it");
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(op);
    cached[op] = rule.cacheValues(builder, getActive(op));
  }
  for (Operation *op : llvm::reverse(activity.getOps())) {
    SmallVector<Value> results;
    for (Value result : op->getResults())
      results.push_back(activity.isActive(result) ? gradients.get(result, add)
                                                  : Value());
    if (llvm::none_of(results, [](Value value) { return bool(value); }))
      continue;
    SmallVector<bool> active = getActive(op);
    FailureOr<SmallVector<Value>> operands =
        cast<DifferentiableOpInterface>(op).emitAdjoint(builder, results,
                                                        cached[op], active);
    if (failed(operands))
      return failure();
    for (auto [operand, gradient, isActive] :
         llvm::zip_equal(op->getOperands(), *operands, active))
      if (isActive && gradient)
        gradients.contribute(operand, gradient);
  }
  return success();
}
