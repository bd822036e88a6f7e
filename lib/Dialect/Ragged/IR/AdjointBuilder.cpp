//===- AdjointBuilder.cpp - What derivative rules are made of -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nested::ragged;

void nested::ragged::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

Value AdjointBuilder::sumTo(Value gradient, Type type) {
  LogicalType from = LogicalType::of(gradient), to = LogicalType::of(type);
  int64_t first = from.getRank() - to.getRank();
  SmallVector<int64_t> reduced, kept;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (dim < first || from.extents[dim] != to.extents[dim - first])
      reduced.push_back(dim);
    else
      kept.push_back(dim - first);
  }
  // The last component of the path goes together with the dims.
  size_t levels = from.path.size() - to.path.size();
  if (!reduced.empty() || levels > 0)
    gradient = reduce(ReduceKind::Sum, gradient, reduced, levels > 0);
  for (; levels > 1; --levels)
    gradient = reduce(ReduceKind::Sum, gradient, {}, /*batch=*/true);
  if (int64_t(kept.size()) < to.getRank())
    return broadcast(gradient, kept, type);
  return withType(gradient, type);
}

FailureOr<SmallVector<Value>> AdjointBuilder::differentiateScalars(
    OpBuilder &builder, ArrayRef<Operation *> body, ValueRange variables,
    ValueRange outputs, ArrayRef<Value> seeds) {
  return differentiate(builder, body, variables, outputs, seeds,
                       [&](Value lhs, Value rhs) -> Value {
                         return arith::AddFOp::create(builder, lhs.getLoc(),
                                                      lhs, rhs);
                       });
}

FailureOr<Value>
AdjointBuilder::differentiateScalars(OpBuilder &builder,
                                     ArrayRef<Operation *> body, Value variable,
                                     Value output, Value seed) {
  auto found = differentiateScalars(builder, body, ValueRange(variable),
                                    ValueRange(output), {seed});
  if (failed(found))
    return failure();
  return found->front();
}

FailureOr<SmallVector<Value>> AdjointBuilder::differentiateAs(
    ValueRange given, ArrayRef<Value> gradients, ArrayRef<bool> active,
    function_ref<SmallVector<Value>(ValueRange)> compute) {
  SmallVector<Value> operands(given), variables;
  for (auto [operand, isActive] : llvm::zip_equal(operands, active))
    if (isActive) {
      operand = VariableOp::create(builder, loc, operand);
      variables.push_back(operand);
    }
  // Variables are there, so something stands before the ops to come.
  Operation *last = variables.back().getDefiningOp();
  SmallVector<Value> outputs = compute(operands);
  SmallVector<Operation *> ops;
  for (Operation *next = last->getNextNode();
       next && next != &*builder.getInsertionPoint();
       next = next->getNextNode())
    ops.push_back(next);
  auto found =
      differentiate(builder, ops, variables, outputs, gradients,
                    [&](Value lhs, Value rhs) { return add(lhs, rhs); });
  if (failed(found))
    return failure();
  SmallVector<Value> results;
  unsigned next = 0;
  for (bool isActive : active)
    results.push_back(isActive ? (*found)[next++] : Value());
  return results;
}
