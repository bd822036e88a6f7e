//===- RaggedGeneralizeReduce.cpp - Reductions as generics ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Kinds with one combining op are one fold; what R5 says of nothing follows
//    it, elementwise.
// 2. logsumexp is a maximum, and a sum of what is shifted by it; argmax and
//    argmin are an extremum, and the least index where it is.
// 3. The last component of a longer path is reduced in two steps: within its
//    members, and over them as a dim. Nothing else can be kept than dims that
//    all members of a sample share.
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"
#include "Verification.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nested::ragged;

TypedAttr nested::ragged::getIdentity(ReduceKind kind, Type type) {
  bool isMax = false;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
  case ReduceKind::Any:
    return getNumberAttr(type, 0);
  case ReduceKind::Prod:
  case ReduceKind::All:
    return getNumberAttr(type, 1);
  case ReduceKind::Max:
    isMax = true;
    break;
  case ReduceKind::Min:
    break;
  case ReduceKind::LogSumExp:
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    llvm_unreachable("not one fold");
  }
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType,
                          APFloat::getInf(floatType.getFloatSemantics(),
                                          /*Negative=*/isMax));
  unsigned width = type.getIntOrFloatBitWidth();
  // i1 is false and true, and unsigned.
  bool isUnsigned = width == 1 || type.isUnsignedInteger();
  APInt least =
      isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt most =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(getScalarType(type), isMax ? least : most);
}

Value nested::ragged::combine(ReduceKind kind, Type type, OpBuilder &b,
                              Location loc, Value x, Value acc) {
  bool isFloat = isa<FloatType>(type);
  bool isBool = type.isInteger(1), isUnsigned = type.isUnsignedInteger();
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return isFloat ? arith::AddFOp::create(b, loc, acc, x).getResult()
                   : arith::AddIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::Prod:
    return isFloat ? arith::MulFOp::create(b, loc, acc, x).getResult()
                   : arith::MulIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::Any:
    return arith::OrIOp::create(b, loc, acc, x);
  case ReduceKind::All:
    return arith::AndIOp::create(b, loc, acc, x);
  case ReduceKind::Max: // R10: maximumf propagates NaN.
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, acc, x);
    if (isBool)
      return arith::OrIOp::create(b, loc, acc, x);
    return isUnsigned ? arith::MaxUIOp::create(b, loc, acc, x).getResult()
                      : arith::MaxSIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, acc, x);
    if (isBool)
      return arith::AndIOp::create(b, loc, acc, x);
    return isUnsigned ? arith::MinUIOp::create(b, loc, acc, x).getResult()
                      : arith::MinSIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::LogSumExp:
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    break;
  }
  llvm_unreachable("not one fold");
}

namespace {
class Reducer {
public:
  Reducer(ReduceOp op, RewriterBase &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()), builder(rewriter, loc),
        source(LogicalType::of(op.getSource())), dims(op.getDims()),
        isNested(op.getBatch() && source.path.size() > 1) {
    overRows = op.getBatch() || llvm::any_of(dims, [&](int64_t dim) {
                 return source.isRagged(dim);
               });
  }
  /// The result without the extents of 1 that `keepdims` asks for.
  Value run();

private:
  using Body = GenericBuilder::Body;

  Value fold(ReduceKind kind, Type type, ValueRange inputs, ValueRange groups,
             Body element);
  Value fold(ReduceKind kind, Value input);

  /// How many elements a group has: `value` times `factor`, or `factor` alone.
  /// The value has type i64 and no dims.
  struct ElementCount {
    Value value;
    int64_t factor = 1;
  };
  ElementCount countElements(const LogicalType &result);
  Value divideByCount(Value sum);
  Value replaceEmpty(Value extremum);

  Value logSumExp();
  Value findExtremum();

  ReduceOp op;
  RewriterBase &rewriter;
  Location loc;
  GenericBuilder builder;
  LogicalType source;
  ArrayRef<int64_t> dims;
  /// Whether the last of several components of the path is reduced.
  bool isNested, overRows = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Folds what `element` makes of the elements of `inputs` and of `groups`.
Value Reducer::fold(ReduceKind kind, Type type, ValueRange inputs,
                    ValueRange groups, Body element) {
  TypedAttr identity = getIdentity(kind, type);
  auto body = [&](OpBuilder &b, Location l, ValueRange x) {
    return combine(kind, type, b, l, element(b, l, x.drop_back()), x.back());
  };
  if (!isNested)
    return builder.reduce(inputs, groups, dims, op.getBatch(), identity, body,
                          type);
  if (dims.empty()) {
    SmallVector<Value> members;
    for (Value input : inputs)
      members.push_back(builder.unnest(input));
    return builder.reduce(members, groups, {0}, /*batch=*/false, identity, body,
                          type);
  }
  Value folded = builder.reduce(inputs, groups, dims, /*batch=*/false, identity,
                                body, type);
  return builder.reduceMembers(
      folded, identity,
      [&](OpBuilder &b, Location l, ValueRange x) {
        return combine(kind, type, b, l, x[0], x[1]);
      },
      type);
}

Value Reducer::fold(ReduceKind kind, Value input) {
  return fold(kind, LogicalType::of(input).elementType, input, {},
              [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

Reducer::ElementCount Reducer::countElements(const LogicalType &result) {
  ExtentAttr perSample = extent::constant(op.getContext(), 1);
  ElementCount count;
  for (int64_t dim : dims) {
    if (std::optional<int64_t> size = source.extents[dim].getConstant())
      count.factor *= *size;
    else
      perSample = extent::mul(perSample, source.extents[dim]);
  }
  Type i64 = rewriter.getI64Type();
  auto extentOver = [&](ArrayRef<StringAttr> path, ExtentAttr extent) {
    return ExtentOp::create(rewriter, loc, LogicalType(path, {}, i64).toType(),
                            extent)
        .getResult();
  };
  if (isNested && perSample.isStatic()) {
    count.value = extentOver(result.path, extent::symbol(source.path.back()));
  } else if (isNested) {
    Value sizes = extentOver(source.path, perSample);
    count.value =
        builder.reduceMembers(sizes, getNumberAttr(i64, 0),
                              [](OpBuilder &b, Location l, ValueRange x) {
                                return makeAdd(b, l, x[0], x[1]);
                              });
  } else if (op.getBatch()) {
    auto type = cast<RaggedTensorType>(op.getSource().getType());
    Value partition = PartitionOp::create(rewriter, loc, getPartitionType(type),
                                          op.getSource());
    count.value = TotalOp::create(rewriter, loc, RankedTensorType::get({}, i64),
                                  partition);
  } else if (!perSample.isStatic()) {
    count.value = extentOver(result.path, perSample);
  }
  return count;
}

/// R5: the mean of nothing is 0.
Value Reducer::divideByCount(Value sum) {
  LogicalType type = LogicalType::of(sum);
  Type wide = type.elementType;
  ElementCount count = countElements(type);
  if (count.factor == 0)
    return builder.fill(type, getNumberAttr(wide, 0));
  if (!count.value)
    return builder.elementwise(
        type, sum, [&](OpBuilder &b, Location l, ValueRange x) -> Value {
          return arith::DivFOp::create(b, l, x[0],
                                       makeNumber(b, l, wide, count.factor));
        });
  return builder.elementwise(
      type, {sum, count.value},
      [&](OpBuilder &b, Location l, ValueRange x) -> Value {
        Type i64 = x[1].getType();
        Value isEmpty = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                              x[1], makeNumber(b, l, i64, 0));
        Value n = x[1];
        if (count.factor != 1)
          n = arith::MulIOp::create(b, l, n,
                                    makeNumber(b, l, i64, count.factor));
        Value mean = arith::DivFOp::create(
            b, l, x[0], arith::SIToFPOp::create(b, l, wide, n));
        return arith::SelectOp::create(b, l, isEmpty, makeNumber(b, l, wide, 0),
                                       mean);
      });
}

/// R5: max and min of nothing are 0 unless `empty` says otherwise.
Value Reducer::replaceEmpty(Value extremum) {
  LogicalType type = LogicalType::of(extremum);
  TypedAttr zero = getNumberAttr(type.elementType, 0);
  ElementCount count = countElements(type);
  if (count.factor == 0)
    return builder.fill(type, zero);
  if (!count.value)
    return extremum;
  return builder.elementwise(
      type, {extremum, count.value},
      [&](OpBuilder &b, Location l, ValueRange x) -> Value {
        Value isEmpty =
            arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, x[1],
                                  makeNumber(b, l, x[1].getType(), 0));
        return arith::SelectOp::create(
            b, l, isEmpty, arith::ConstantOp::create(b, l, zero), x[0]);
      });
}

//===----------------------------------------------------------------------===//
// Kinds that are several folds
//===----------------------------------------------------------------------===//

Value Reducer::logSumExp() {
  Type elementType = source.elementType;
  Type computed = getAccumulatorType(elementType);
  Type wide = getSumType(elementType, overRows);
  Value x = builder.convertFloat(op.getSource(), computed);
  Value most = fold(ReduceKind::Max, x);
  LogicalType type = LogicalType::of(most);
  // An infinity is not subtracted from itself: the sum is then infinity, or
  // that of nothing.
  Value shift = builder.elementwise(
      type, most, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value isFinite = arith::CmpFOp::create(
            b, l, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, l, v[0]),
            makeNumber(b, l, computed, INFINITY));
        return arith::SelectOp::create(b, l, isFinite, v[0],
                                       makeNumber(b, l, computed, 0));
      });
  Value sum = fold(ReduceKind::Sum, wide, x, shift,
                   [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                     Value e = math::ExpOp::create(
                         b, l, arith::SubFOp::create(b, l, v[0], v[1]));
                     return makeFloat(b, l, wide, e);
                   });
  sum = builder.convertFloat(sum, computed);
  Value result = builder.elementwise(
      type, {sum, shift}, [](OpBuilder &b, Location l, ValueRange v) -> Value {
        return arith::AddFOp::create(b, l, math::LogOp::create(b, l, v[0]),
                                     v[1]);
      });
  return builder.convertFloat(result, elementType);
}

/// R10: the extremum propagates NaN; the first element that equals it, or is
/// the NaN that it is, is where it is.
Value Reducer::findExtremum() {
  ReduceKind kind =
      op.getKind() == ReduceKind::ArgMax ? ReduceKind::Max : ReduceKind::Min;
  Value extremum = fold(kind, op.getSource());
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  // Sizes of the dims that the index counts in, where they are not constants.
  Type i64 = rewriter.getI64Type();
  SmallVector<Value> inputs = {op.getSource()};
  llvm::SmallDenseMap<int64_t, unsigned> sizeOf;
  for (int64_t dim : sorted)
    if (dim != sorted.front() && source.isRagged(dim)) {
      sizeOf[dim] = inputs.size();
      inputs.push_back(ExtentOp::create(
          rewriter, loc, LogicalType(source.path, {}, i64).toType(),
          source.extents[dim]));
    }
  constexpr int64_t nowhere = std::numeric_limits<int64_t>::max();
  auto integer = [&](OpBuilder &b, Location l, int64_t value) -> Value {
    return arith::ConstantOp::create(b, l, b.getI64IntegerAttr(value));
  };
  auto element = [&](OpBuilder &b, Location l, ValueRange v) -> Value {
    Value index = integer(b, l, 0);
    for (int64_t dim : sorted) {
      Value coordinate = IndexOp::create(b, l, i64, dim);
      if (dim == sorted.front()) {
        index = coordinate;
        continue;
      }
      Value size = sizeOf.contains(dim)
                       ? v[sizeOf[dim]]
                       : integer(b, l, *source.extents[dim].getConstant());
      index = arith::AddIOp::create(
          b, l, arith::MulIOp::create(b, l, index, size), coordinate);
    }
    Value isThere;
    if (isa<FloatType>(source.elementType)) {
      Value equal = arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, v[0],
                                          v.back());
      Value isNaN =
          arith::CmpFOp::create(b, l, arith::CmpFPredicate::UNO, v[0], v[0]);
      isThere = arith::OrIOp::create(b, l, equal, isNaN);
    } else {
      isThere =
          arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, v[0], v.back());
    }
    return arith::SelectOp::create(b, l, isThere, index,
                                   integer(b, l, nowhere));
  };
  Value index = fold(ReduceKind::Min, i64, inputs, extremum, element);
  return builder.elementwise(
      LogicalType::of(index), index,
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value isNowhere = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                                v[0], integer(b, l, nowhere));
        return arith::SelectOp::create(b, l, isNowhere, integer(b, l, -1),
                                       v[0]);
      });
}

Value Reducer::run() {
  ReduceKind kind = op.getKind();
  Type elementType = source.elementType;
  switch (kind) {
  case ReduceKind::LogSumExp:
    return logSumExp();
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    return findExtremum();
  case ReduceKind::Any:
  case ReduceKind::All:
    return fold(kind, op.getSource());
  case ReduceKind::Max:
  case ReduceKind::Min: {
    Value extremum = fold(kind, op.getSource());
    return op.getEmpty() == EmptyPolicy::Zero ? replaceEmpty(extremum)
                                              : extremum;
  }
  case ReduceKind::Sum:
  case ReduceKind::Mean:
  case ReduceKind::Prod:
    break;
  }
  Type wide = getSumType(elementType, overRows);
  // Elements are widened where they are added: if they have to be stored, then
  // as they are.
  Value sum = fold(kind, wide, op.getSource(), {},
                   [&](OpBuilder &b, Location l, ValueRange x) -> Value {
                     // Regions know integers without a sign only.
                     if (wide == elementType)
                       return x[0];
                     return makeFloat(b, l, wide, x[0]);
                   });
  if (kind == ReduceKind::Mean)
    sum = divideByCount(sum);
  return builder.convertFloat(sum, elementType);
}

FailureOr<SmallVector<Value>> ReduceOp::generalize(RewriterBase &rewriter) {
  Value result = Reducer(*this, rewriter).run();
  if (!getKeepdims())
    return SmallVector<Value>{result};
  // The kept extents of 1 are dims that the value so far does not have.
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < LogicalType::of(getSource()).getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      dims.push_back(dim);
  auto broadcast =
      BroadcastOp::create(rewriter, getLoc(), getResult().getType(), result,
                          rewriter.getDenseI64ArrayAttr(dims));
  FailureOr<SmallVector<Value>> values = broadcast.generalize(rewriter);
  rewriter.eraseOp(broadcast);
  return values;
}
