//===- RaggedGeneralizeCompute.cpp - Compute ops as generics --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nested::ragged;

static arith::FastMathFlagsAttr contract(OpBuilder &b) {
  return arith::FastMathFlagsAttr::get(b.getContext(),
                                       arith::FastMathFlags::contract);
}
static Value mul(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y, contract(b));
  return arith::MulIOp::create(b, loc, x, y);
}
static Value add(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y, contract(b));
  return arith::AddIOp::create(b, loc, x, y);
}
static Value number(OpBuilder &b, Location loc, Type type, double value) {
  return arith::ConstantOp::create(b, loc, getNumberAttr(type, value));
}

FailureOr<SmallVector<Value>> MapOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  GenericBuilder builder(rewriter, getLoc());
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  for (Value input : getInputs()) {
    spec.inputs.push_back(input);
    spec.maps.push_back(builder.alignMap(LogicalType::of(input), type));
  }
  spec.init = builder.empty(type);
  spec.outputMap =
      AffineMap::getMultiDimIdentityMap(type.getRank(), getContext());
  return SmallVector<Value>{builder.build(spec, getBody())};
}

FailureOr<SmallVector<Value>> LinearOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  Type wide = getAccumulatorType(type.elementType);
  LogicalType accumulator = type;
  accumulator.elementType = wide;
  GenericBuilder builder(rewriter, getLoc());

  // (rows..., m, k): source (rows..., k), weights (k, m), result (rows..., m).
  int64_t rank = type.getRank();
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.dims.push_back(LogicalType::of(getSource()).extents.back());
  spec.reduction.assign(rank, false);
  spec.reduction.push_back(true);
  spec.path = type.path;
  spec.inputs = {getSource(), getWeights()};
  SmallVector<AffineExpr> rows;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    rows.push_back(rewriter.getAffineDimExpr(dim));
  AffineExpr m = rewriter.getAffineDimExpr(rank - 1);
  AffineExpr k = rewriter.getAffineDimExpr(rank);
  SmallVector<AffineExpr> source(rows), result(rows);
  source.push_back(k);
  result.push_back(m);
  spec.maps = {AffineMap::get(rank + 1, 0, source, getContext()),
               AffineMap::get(rank + 1, 0, {k, m}, getContext())};
  spec.outputMap = AffineMap::get(rank + 1, 0, result, getContext());
  // The bias is where the sum starts: no pass of its own over the result.
  if (getBias())
    spec.init = builder.elementwise(
        accumulator, getBias(),
        [&](OpBuilder &b, Location l, ValueRange x) -> Value {
          if (x[0].getType() == wide)
            return x[0];
          return arith::ExtFOp::create(b, l, wide, x[0]);
        });
  else
    spec.init = builder.fill(accumulator, getNumberAttr(wide, 0));
  Value sum = builder.build(spec, [&](OpBuilder &b, Location l, ValueRange x) {
    Value lhs = x[0], rhs = x[1];
    if (lhs.getType() != wide) {
      lhs = arith::ExtFOp::create(b, l, wide, lhs);
      rhs = arith::ExtFOp::create(b, l, wide, rhs);
    }
    return add(b, l, x[2], mul(b, l, lhs, rhs));
  });
  return SmallVector<Value>{builder.convertFloat(sum, type.elementType)};
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

TypedAttr nested::ragged::getIdentity(ReduceKind kind, Type type) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return getNumberAttr(type, 0);
  if (kind == ReduceKind::Prod)
    return getNumberAttr(type, 1);
  bool isMax = kind == ReduceKind::Max;
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType,
                          APFloat::getInf(floatType.getFloatSemantics(),
                                          /*Negative=*/isMax));
  unsigned width = type.getIntOrFloatBitWidth();
  // i1 is false and true, and unsigned.
  APInt least = width == 1 ? APInt(1, 0) : APInt::getSignedMinValue(width);
  APInt most = width == 1 ? APInt(1, 1) : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(type, isMax ? least : most);
}

Value nested::ragged::combine(ReduceKind kind, OpBuilder &b, Location loc,
                              Value x, Value acc) {
  bool isFloat = isa<FloatType>(x.getType());
  bool isBool = x.getType().isInteger(1);
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return isFloat ? arith::AddFOp::create(b, loc, acc, x).getResult()
                   : arith::AddIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::Prod:
    return isFloat ? arith::MulFOp::create(b, loc, acc, x).getResult()
                   : arith::MulIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::Max: // R10: maximumf propagates NaN.
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, acc, x);
    return isBool ? arith::OrIOp::create(b, loc, acc, x).getResult()
                  : arith::MaxSIOp::create(b, loc, acc, x).getResult();
  case ReduceKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, acc, x);
    return isBool ? arith::AndIOp::create(b, loc, acc, x).getResult()
                  : arith::MinSIOp::create(b, loc, acc, x).getResult();
  }
  llvm_unreachable("covered switch");
}

/// How many elements a reduction sees: `value` times `factor`, or `factor`
/// alone. The value has type i64 and no dims: an extent per sample or, with
/// `batch`, the rows of all samples.
struct ElementCount {
  Value value;
  int64_t factor = 1;
};
static ElementCount countElements(ReduceOp op, RewriterBase &rewriter,
                                  const LogicalType &result) {
  LogicalType source = LogicalType::of(op.getSource());
  ExtentAttr perSample = extent::constant(op.getContext(), 1);
  ElementCount count;
  for (int64_t dim : op.getDims()) {
    if (std::optional<int64_t> size = source.extents[dim].getConstant())
      count.factor *= *size;
    else
      perSample = extent::mul(perSample, source.extents[dim]);
  }
  if (op.getBatch()) {
    auto type = cast<RaggedTensorType>(op.getSource().getType());
    Value partition = PartitionOp::create(
        rewriter, op.getLoc(), getPartitionType(type), op.getSource());
    count.value = TotalOp::create(
        rewriter, op.getLoc(), RankedTensorType::get({}, rewriter.getI64Type()),
        partition);
  } else if (!perSample.isStatic()) {
    Type type = LogicalType(result.path, {}, rewriter.getI64Type()).toType();
    count.value = ExtentOp::create(rewriter, op.getLoc(), type, perSample);
  }
  return count;
}

FailureOr<SmallVector<Value>> ReduceOp::generalize(RewriterBase &rewriter) {
  LogicalType source = LogicalType::of(getSource());
  if (getBatch() && source.path.size() > 1)
    return emitOpError(
               "does not support reducing the last component of the path ")
           << formatPath(source.path)
           << "; reduce over a path of one component";
  ReduceKind kind = getKind();
  Type elementType = LogicalType::of(getResult()).elementType;
  bool sums = kind == ReduceKind::Sum || kind == ReduceKind::Mean ||
              kind == ReduceKind::Prod;
  Type wide = sums ? getAccumulatorType(elementType) : elementType;
  // R6: a sum over rows may have millions of terms, added one by one in a fixed
  // order (R8). In f64 its error does not grow with them; a row more costs
  // little.
  bool sumsRows = getBatch() || llvm::any_of(getDims(), [&](int64_t dim) {
                    return source.isRagged(dim);
                  });
  if (sums && sumsRows && elementType.isF32())
    wide = rewriter.getF64Type();
  GenericBuilder builder(rewriter, getLoc());

  // Elements are widened where they are added: if they have to be stored, then
  // as they are.
  Value result = builder.reduce(
      getSource(), getDims(), getBatch(), getIdentity(kind, wide),
      [&](OpBuilder &b, Location l, ValueRange x) {
        Value element = x[0];
        if (wide != elementType)
          element = arith::ExtFOp::create(b, l, wide, element);
        return combine(kind, b, l, element, x[1]);
      });

  // R5: mean divides by the count; max and min of nothing are what `empty`
  // says.
  bool isMean = kind == ReduceKind::Mean;
  bool zeroIfEmpty = (kind == ReduceKind::Max || kind == ReduceKind::Min) &&
                     getEmpty() == EmptyPolicy::Zero;
  LogicalType type = LogicalType::of(result);
  if (isMean || zeroIfEmpty) {
    ElementCount count = countElements(*this, rewriter, type);
    if (count.factor == 0) {
      result = builder.fill(type, getNumberAttr(wide, 0));
    } else if (!count.value) {
      if (isMean)
        result = builder.elementwise(
            type, result, [&](OpBuilder &b, Location l, ValueRange x) -> Value {
              return arith::DivFOp::create(b, l, x[0],
                                           number(b, l, wide, count.factor));
            });
    } else {
      result = builder.elementwise(
          type, {result, count.value},
          [&](OpBuilder &b, Location l, ValueRange x) -> Value {
            Type i64 = x[1].getType();
            Value isEmpty = arith::CmpIOp::create(
                b, l, arith::CmpIPredicate::eq, x[1], number(b, l, i64, 0));
            Value value = x[0];
            if (isMean) {
              Value n = x[1];
              if (count.factor != 1)
                n = arith::MulIOp::create(b, l, n,
                                          number(b, l, i64, count.factor));
              value = arith::DivFOp::create(
                  b, l, value, arith::SIToFPOp::create(b, l, wide, n));
            }
            return arith::SelectOp::create(b, l, isEmpty, number(b, l, wide, 0),
                                           value);
          });
    }
  }
  result = builder.convertFloat(result, elementType);
  if (!getKeepdims())
    return SmallVector<Value>{result};
  // The kept extents of 1 are dims that the value so far does not have.
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      dims.push_back(dim);
  auto broadcast =
      BroadcastOp::create(rewriter, getLoc(), getResult().getType(), result,
                          rewriter.getDenseI64ArrayAttr(dims));
  FailureOr<SmallVector<Value>> values = broadcast.generalize(rewriter);
  rewriter.eraseOp(broadcast);
  return values;
}

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> NormalizeOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  Type wide = getAccumulatorType(type.elementType);
  GenericBuilder builder(rewriter, getLoc());
  Value x = builder.convertFloat(getSource(), wide);
  LogicalType full = LogicalType::of(x);
  int64_t first = full.getRank() - getDims(), columns = 1;
  SmallVector<int64_t> reduced;
  for (int64_t dim = first; dim < full.getRank(); ++dim) {
    reduced.push_back(dim);
    columns *= *full.extents[dim].getConstant();
  }
  double perColumn = columns ? 1.0 / columns : 0.0;
  TypedAttr zero = getNumberAttr(wide, 0);
  // A row statistic repeats along the reduced dims: trailing alignment would be
  // wrong.
  auto withStatistic = [&](Value tile, Value row, GenericBuilder::Body body) {
    GenericBuilder::Spec spec;
    spec.dims = full.extents;
    spec.reduction.assign(full.getRank(), false);
    spec.path = full.path;
    spec.inputs = {tile, row};
    SmallVector<AffineExpr> rows;
    for (int64_t dim = 0; dim < first; ++dim)
      rows.push_back(rewriter.getAffineDimExpr(dim));
    spec.maps = {builder.alignMap(full, full),
                 AffineMap::get(full.getRank(), 0, rows, getContext())};
    spec.init = builder.empty(full);
    spec.outputMap = spec.maps[0];
    return builder.build(spec, body);
  };

  // Two passes over the row (R6): the mean, then squares of what is left.
  Value sum = builder.reduce(x, reduced, /*batch=*/false, zero,
                             [](OpBuilder &b, Location l, ValueRange v) {
                               return add(b, l, v[1], v[0]);
                             });
  Value centred = withStatistic(
      x, sum, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value mean =
            arith::MulFOp::create(b, l, v[1], number(b, l, wide, perColumn));
        return arith::SubFOp::create(b, l, v[0], mean);
      });
  Value squares =
      builder.reduce(centred, reduced, /*batch=*/false, zero,
                     [](OpBuilder &b, Location l, ValueRange v) {
                       return add(b, l, v[1], mul(b, l, v[0], v[0]));
                     });
  Value scale = builder.elementwise(
      LogicalType::of(squares), squares,
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value var =
            arith::MulFOp::create(b, l, v[0], number(b, l, wide, perColumn));
        Value eps = number(b, l, wide, getEps().convertToDouble());
        Value root =
            math::SqrtOp::create(b, l, arith::AddFOp::create(b, l, var, eps));
        return arith::DivFOp::create(b, l, number(b, l, wide, 1), root);
      });
  Value result =
      withStatistic(centred, scale, [](OpBuilder &b, Location l, ValueRange v) {
        return mul(b, l, v[0], v[1]);
      });
  if (getScale())
    result = builder.elementwise(
        full, {result, builder.convertFloat(getScale(), wide)},
        [](OpBuilder &b, Location l, ValueRange v) {
          return mul(b, l, v[0], v[1]);
        });
  if (getOffset())
    result = builder.elementwise(
        full, {result, builder.convertFloat(getOffset(), wide)},
        [](OpBuilder &b, Location l, ValueRange v) {
          return add(b, l, v[0], v[1]);
        });
  return SmallVector<Value>{builder.convertFloat(result, type.elementType)};
}
