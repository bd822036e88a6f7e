//===- SplitInits.cpp - Reductions start from neutral elements ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit without rows, and the first of several chunks, have no place where a
// value could be read to start from. The combiner is associative, so the value
// can as well be combined with what is folded.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Dialect/Ragged/IR/GenericRegion.h"

using namespace mlir;
using namespace nested::ragged;

/// `result = combiner(init, result)`, elementwise.
static void combineAfterwards(RewriterBase &rewriter, GenericOp op,
                              Operation *combiner, Value init) {
  Location loc = op.getLoc();
  Value folded = op.getResult(0),
        acc = op.getBody().front().getArguments().back();
  LogicalType type = LogicalType::of(folded);
  MLIRContext *context = rewriter.getContext();
  rewriter.setInsertionPointAfter(op);
  Value empty = EmptyOp::create(rewriter, loc, folded.getType());
  SmallVector<AffineMap> maps(
      3, AffineMap::getMultiDimIdentityMap(type.getRank(), context));
  SmallVector<StringRef> iterators(type.getRank(), "parallel");
  auto combined = GenericOp::create(
      rewriter, loc, TypeRange{folded.getType()}, ValueRange{init, folded},
      ValueRange{empty}, makeExtentsAttr(context, type.extents),
      rewriter.getStrArrayAttr(iterators), makePathAttr(context, type.path),
      rewriter.getAffineMapArrayAttr(maps), ArrayAttr(), ArrayAttr(),
      UnitAttr());
  OpBuilder::InsertionGuard guard(rewriter);
  Type element = acc.getType();
  Block *block = rewriter.createBlock(
      &combined.getBody(), {}, {element, element, element}, {loc, loc, loc});
  IRMapping mapping;
  for (Value operand : combiner->getOperands())
    mapping.map(operand, block->getArgument(operand == acc ? 0 : 1));
  YieldOp::create(rewriter, loc,
                  rewriter.clone(*combiner, mapping)->getResults());
  rewriter.replaceAllUsesExcept(folded, combined.getResult(0), combined);
}

LogicalResult nested::ragged::splitInits(RewriterBase &rewriter,
                                         func::FuncOp func) {
  SmallVector<GenericOp> ops(func.getOps<GenericOp>());
  for (GenericOp op : ops) {
    FailureOr<GenericPlan> plan = planGeneric(op);
    if (failed(plan))
      return failure();
    Value element;
    Operation *combiner =
        plan->isFold() ? matchCombiner(op, 0, element) : nullptr;
    if (!combiner)
      continue;
    std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
    Value init = op.getInits()[0];
    auto fill = init.getDefiningOp<FillOp>();
    if (!neutral || (fill && fill.getValue() == *neutral))
      continue;
    rewriter.setInsertionPoint(op);
    Value start =
        FillOp::create(rewriter, op.getLoc(), init.getType(), *neutral);
    op.getInitsMutable()[0].set(start);
    // Contents that do not matter are not combined with.
    if (!init.getDefiningOp<EmptyOp>())
      combineAfterwards(rewriter, op, combiner, init);
  }
  return success();
}
