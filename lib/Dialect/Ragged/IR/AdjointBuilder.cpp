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

Value AdjointBuilder::addWhereIndexed(OpBuilder &b, Location loc,
                                      ValueRange scalars, int64_t dim) {
  Value wanted = scalars[0], x = scalars[1], sum = scalars[2];
  Value place = IndexOp::create(b, loc, b.getI64Type(), dim);
  if (!wanted.getType().isInteger(64))
    wanted = arith::ExtSIOp::create(b, loc, b.getI64Type(), wanted);
  Value hit =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, wanted, place);
  Type wide = sum.getType();
  x = makeFloat(b, loc, wide, x);
  Value zero = arith::ConstantOp::create(b, loc, getNumberAttr(wide, 0));
  return arith::AddFOp::create(b, loc, sum,
                               arith::SelectOp::create(b, loc, hit, x, zero));
}

FailureOr<Value> AdjointBuilder::sumTo(Value gradient, Type type) {
  LogicalType from = LogicalType::of(gradient), to = LogicalType::of(type);
  int64_t first = from.getRank() - to.getRank();
  SmallVector<int64_t> reduced, kept;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (dim < first || from.extents[dim] != to.extents[dim - first])
      reduced.push_back(dim);
    else
      kept.push_back(dim - first);
  }
  size_t levels = from.path.size() - to.path.size();
  // The last component alone reduces together with the dims; one of several
  // becomes a dim first.
  bool wholeBatch = levels == 1 && from.path.size() == 1;
  if (!reduced.empty() || wholeBatch)
    gradient = reduce(ReduceKind::Sum, gradient, reduced, wholeBatch);
  if (wholeBatch)
    levels = 0;
  for (; levels > 0; --levels) {
    LogicalType now = LogicalType::of(gradient);
    if (now.path.size() == 1) {
      gradient = reduce(ReduceKind::Sum, gradient, {}, /*batch=*/true);
      continue;
    }
    if (!now.getRaggedDims().empty())
      return emitError(loc) << "the sum over the last component of the path "
                            << formatPath(now.path)
                            << " of values with ragged dims is not supported; "
                               "a value that repeats over it has no derivative";
    SmallVector<ExtentAttr> extents = {extent::symbol(now.path.back())};
    llvm::append_range(extents, now.extents);
    SmallVector<StringAttr> path(ArrayRef(now.path).drop_back());
    Type unnested = LogicalType(path, extents, now.elementType).toType();
    Value rows = UnnestOp::create(builder, loc, unnested, gradient);
    gradient = reduce(ReduceKind::Sum, rows, {0});
  }
  if (int64_t(kept.size()) < to.getRank())
    return broadcast(gradient, kept, type);
  return withType(gradient, type);
}

FailureOr<Value> AdjointBuilder::differentiate(OpBuilder &builder,
                                               ArrayRef<Operation *> body,
                                               Value variable, Value output,
                                               Value seed) {
  Activity activity(body, variable, output);
  Gradients gradients;
  gradients.contribute(output, seed);
  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddFOp::create(builder, lhs.getLoc(), lhs, rhs);
  };
  if (!activity.isActive(output))
    return Value();
  if (failed(sweepBackwards(builder, activity, gradients, add)))
    return failure();
  return gradients.get(variable, add);
}
