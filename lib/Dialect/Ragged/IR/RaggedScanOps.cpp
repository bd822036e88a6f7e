//===- RaggedScanOps.cpp - Ops that step along a dim in order -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"
#include "Verification.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  if (getResults().empty())
    return emitExpected(*this, "at least one result", "none");
  LogicalType first = LogicalType::of(getResults()[0]);
  if (failed(verifyDim(*this, "dim", getDim(), first.getRank())))
    return failure();
  // R1: one path, the same extents, one order of storage.
  auto verifyAligned = [&](const Twine &what, Value value) {
    LogicalType expected = first;
    expected.elementType = LogicalType::of(value).elementType;
    return verifyType(*this, what.str(), expected, value.getType(),
                      /*sameOrder=*/true);
  };
  SmallVector<Type> arguments, yields;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (failed(verifyAligned("input " + Twine(i), input)))
      return failure();
    arguments.push_back(getScalarType(LogicalType::of(input).elementType));
  }
  for (Attribute init : getInit()) {
    if (!isa<IntegerAttr, FloatAttr>(init))
      return emitExpected(*this, "numbers as init", "another attribute");
    arguments.push_back(cast<TypedAttr>(init).getType());
    yields.push_back(arguments.back());
  }
  for (auto [i, result] : llvm::enumerate(getResults())) {
    if (failed(verifyAligned("result " + Twine(i), result)))
      return failure();
    yields.push_back(getScalarType(LogicalType::of(result).elementType));
  }
  if (failed(verifyArguments(*this, "a region", getBody().front(), arguments)))
    return failure();
  return verifyYield(*this, "the region", getBody().front(), yields);
}

//===----------------------------------------------------------------------===//
// accumulate
//===----------------------------------------------------------------------===//

LogicalResult AccumulateOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  if (failed(verifyDim(*this, "dim", getDim(), source.getRank())))
    return failure();
  AccumulateKind kind = getKind();
  if ((kind == AccumulateKind::Sum || kind == AccumulateKind::Prod) &&
      source.elementType.isInteger(1))
    return emitExpected(*this, "numbers", quote(source.elementType));
  if (kind == AccumulateKind::LogSumExp && !isa<FloatType>(source.elementType))
    return emitExpected(*this, "a float element type",
                        quote(source.elementType));
  return success();
}

namespace {
/// A running reduction: where it starts, how a step goes on, what is shown.
struct Running {
  SmallVector<Attribute> init;
  std::function<SmallVector<Value>(OpBuilder &, Location, Value, ValueRange)>
      step;
  std::function<Value(OpBuilder &, Location, ValueRange)> show;
};
} // namespace

/// One carried value, combined with each element.
static Running makeFold(ReduceKind kind, Type elementType) {
  Type wide = elementType;
  if (kind == ReduceKind::Sum || kind == ReduceKind::Prod) // R6
    wide = elementType.isF32() ? Float64Type::get(elementType.getContext())
                               : getAccumulatorType(elementType);
  bool isFloat = isa<FloatType>(elementType);
  Running running;
  running.init = {getIdentity(kind, wide)};
  running.step = [=](OpBuilder &b, Location loc, Value x, ValueRange carried) {
    return SmallVector<Value>{combine(kind, wide, b, loc,
                                      isFloat ? makeFloat(b, loc, wide, x) : x,
                                      carried[0])};
  };
  running.show = [=](OpBuilder &b, Location loc, ValueRange carried) {
    return isFloat ? makeFloat(b, loc, elementType, carried[0]) : carried[0];
  };
  return running;
}

/// Carries the largest element so far and the sum of exp(element - largest). A
/// largest element that is not finite does not shift: exp of it says it all.
static Running makeLogSumExp(Type elementType) {
  MLIRContext *context = elementType.getContext();
  Type type = getAccumulatorType(elementType);
  Type wide = Float64Type::get(context);
  auto constant = [type](OpBuilder &b, Location loc, double value) -> Value {
    return arith::ConstantOp::create(b, loc, getNumberAttr(type, value));
  };
  auto getShift = [=](OpBuilder &b, Location loc, Value largest) -> Value {
    double infinity = std::numeric_limits<double>::infinity();
    Value isFinite = arith::CmpFOp::create(
        b, loc, arith::CmpFPredicate::OLT,
        math::AbsFOp::create(b, loc, largest), constant(b, loc, infinity));
    return arith::SelectOp::create(b, loc, isFinite, largest,
                                   constant(b, loc, 0));
  };
  auto expOf = [=](OpBuilder &b, Location loc, Value x, Value shift) {
    Value shifted = arith::SubFOp::create(b, loc, x, shift);
    return makeFloat(b, loc, wide, math::ExpOp::create(b, loc, shifted));
  };
  Running running;
  running.init = {getIdentity(ReduceKind::Max, type), getNumberAttr(wide, 0)};
  running.step = [=](OpBuilder &b, Location loc, Value x, ValueRange carried) {
    x = makeFloat(b, loc, type, x);
    Value largest = arith::MaximumFOp::create(b, loc, carried[0], x);
    Value shift = getShift(b, loc, largest);
    Value before = arith::MulFOp::create(b, loc, carried[1],
                                         expOf(b, loc, carried[0], shift));
    Value sum = arith::AddFOp::create(b, loc, before, expOf(b, loc, x, shift));
    return SmallVector<Value>{largest, sum};
  };
  running.show = [=](OpBuilder &b, Location loc, ValueRange carried) {
    Value log =
        math::LogOp::create(b, loc, makeFloat(b, loc, type, carried[1]));
    Value value =
        arith::AddFOp::create(b, loc, getShift(b, loc, carried[0]), log);
    return makeFloat(b, loc, elementType, value);
  };
  return running;
}

FailureOr<SmallVector<Value>> AccumulateOp::generalize(RewriterBase &rewriter) {
  Type elementType = LogicalType::of(getSource()).elementType;
  auto makeRunning = [&]() {
    switch (getKind()) {
    case AccumulateKind::Sum:
      return makeFold(ReduceKind::Sum, elementType);
    case AccumulateKind::Prod:
      return makeFold(ReduceKind::Prod, elementType);
    case AccumulateKind::Max:
      return makeFold(ReduceKind::Max, elementType);
    case AccumulateKind::Min:
      return makeFold(ReduceKind::Min, elementType);
    case AccumulateKind::LogSumExp:
      return makeLogSumExp(elementType);
    }
    llvm_unreachable("covered switch");
  };
  Running running = makeRunning();
  Location loc = getLoc();
  auto scan = ScanOp::create(rewriter, loc, TypeRange{getType()},
                             ValueRange{getSource()}, getDim(), getReverse(),
                             rewriter.getArrayAttr(running.init));
  SmallVector<Type> types{getScalarType(elementType)};
  for (Attribute init : running.init)
    types.push_back(cast<TypedAttr>(init).getType());
  OpBuilder::InsertionGuard guard(rewriter);
  Block *block = rewriter.createBlock(&scan.getBody(), {}, types,
                                      SmallVector<Location>(types.size(), loc));
  ValueRange carried = block->getArguments().drop_front();
  SmallVector<Value> yields =
      running.step(rewriter, loc, block->getArgument(0), carried);
  yields.push_back(running.show(rewriter, loc,
                                getExclusive() ? carried : ValueRange(yields)));
  YieldOp::create(rewriter, loc, yields);
  return SmallVector<Value>{scan.getResult(0)};
}
