//===- RaggedGeneralizeNormalize.cpp - Softmax and norms as generics ------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"
#include "nested/Dialect/Ragged/IR/MathAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> SoftmaxOp::generalize(RewriterBase &rewriter) {
  LogicalType source = LogicalType::of(getSource());
  bool overRows = llvm::any_of(
      getDims(), [&](int64_t dim) { return source.isRagged(dim); });
  Type elementType = source.elementType;
  Type computed = getAccumulatorType(elementType);
  Type wide = getSumType(elementType, overRows);
  GenericBuilder builder(rewriter, getLoc());
  Value x = builder.convertFloat(getSource(), computed);
  ArrayRef<int64_t> dims = getDims();

  auto larger = [&](OpBuilder &b, Location l, ValueRange v) {
    return combine(ReduceKind::Max, computed, b, l, v[0], v[1]);
  };
  Value shift = builder.reduce(x, dims, /*batch=*/false,
                               getIdentity(ReduceKind::Max, computed), larger);
  LogicalType groups = LogicalType::of(shift);
  // A group of nothing but -inf is masked out (R5); an infinity or a NaN makes
  // the group NaN.
  auto isEqual = [&](OpBuilder &b, Location l, Value value, double number) {
    return arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, value,
                                 makeNumber(b, l, computed, number));
  };
  shift = builder.elementwise(
      groups, shift, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        return arith::SelectOp::create(b, l, isEqual(b, l, v[0], -INFINITY),
                                       makeNumber(b, l, computed, 0), v[0]);
      });
  auto exponential = [&](OpBuilder &b, Location l, ValueRange v) -> Value {
    auto exp =
        math::ExpOp::create(b, l, arith::SubFOp::create(b, l, v[0], v[1]));
    exp->setAttr(kNotPositiveAttr, b.getUnitAttr());
    return exp;
  };
  Value sum = builder.reduce(
      x, shift, dims, /*batch=*/false, getNumberAttr(wide, 0),
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value e = exponential(b, l, v);
        return arith::AddFOp::create(b, l, v[2], makeFloat(b, l, wide, e));
      });
  sum = builder.convertFloat(sum, computed);
  bool log = getLog();
  Value scale = builder.elementwise(
      groups, sum, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value value = log ? math::LogOp::create(b, l, v[0]).getResult()
                          : arith::DivFOp::create(
                                b, l, makeNumber(b, l, computed, 1), v[0])
                                .getResult();
        return arith::SelectOp::create(b, l, isEqual(b, l, v[0], 0),
                                       makeNumber(b, l, computed, 0), value);
      });
  Value result = builder.elementwise(
      LogicalType::of(x), x, {shift, scale}, dims,
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        if (!log)
          return arith::MulFOp::create(b, l, exponential(b, l, v), v[2]);
        return arith::SubFOp::create(
            b, l, arith::SubFOp::create(b, l, v[0], v[1]), v[2]);
      });
  return SmallVector<Value>{builder.convertFloat(result, elementType)};
}

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

namespace {
class Normalizer {
public:
  Normalizer(NormalizeOp op, RewriterBase &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()), builder(rewriter, loc),
        kind(op.getKind()),
        elementType(LogicalType::of(op.getResult()).elementType),
        computed(getAccumulatorType(elementType)),
        x(builder.convertFloat(op.getSource(), computed)),
        type(LogicalType::of(x)) {
    perChannel =
        kind == NormalizeKind::Group || kind == NormalizeKind::Instance;
    int64_t rank = type.getRank();
    int64_t first = perChannel ? 0 : rank - op.getDims();
    int64_t last = perChannel ? rank - 1 : rank;
    for (int64_t dim = first; dim < last; ++dim)
      reduced.push_back(dim);
    overRows =
        llvm::any_of(reduced, [&](int64_t dim) { return type.isRagged(dim); });
    wide = getSumType(elementType, overRows);
  }
  Value run();

private:
  using Body = GenericBuilder::Body;

  Value sum(Body element);
  Value divideByCount(Value sum, Type result, Body finish);
  void centre();
  Value applyParameter(Value value, Value parameter, Body body);

  NormalizeOp op;
  RewriterBase &rewriter;
  Location loc;
  GenericBuilder builder;
  NormalizeKind kind;
  Type elementType, computed, wide;
  Value x;
  LogicalType type;
  /// Whether the last dim is kept, not reduced.
  bool perChannel = false, overRows = false;
  SmallVector<int64_t> reduced;
};
} // namespace

/// The sum of what `element` makes of x, in `wide`; with groups of channels
/// each channel gets that of its group.
Value Normalizer::sum(Body element) {
  Value total =
      builder.reduce(x, reduced, /*batch=*/false, getNumberAttr(wide, 0),
                     [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                       Value e = element(b, l, v.drop_back());
                       return makeAdd(b, l, v.back(), makeFloat(b, l, wide, e));
                     });
  if (kind != NormalizeKind::Group)
    return total;
  // (c, k): channel c adds up the channels k of its own group (R4).
  LogicalType sums = LogicalType::of(total);
  ExtentAttr channels = type.extents.back();
  int64_t width = *channels.getConstant() / op.getGroups();
  GenericBuilder::Spec spec;
  spec.dims = {channels, channels};
  spec.reduction = {false, true};
  spec.path = sums.path;
  spec.inputs = {total};
  AffineExpr c = rewriter.getAffineDimExpr(0), k = rewriter.getAffineDimExpr(1);
  spec.maps = {AffineMap::get(2, 0, {k}, rewriter.getContext())};
  spec.outputMap = AffineMap::get(2, 0, {c}, rewriter.getContext());
  spec.init = builder.fill(sums, getNumberAttr(wide, 0));
  return builder.build(spec, [&](OpBuilder &b, Location l, ValueRange v) {
    Type i64 = b.getI64Type();
    Value size = makeNumber(b, l, i64, std::max<int64_t>(width, 1));
    Value groups[2];
    for (int64_t dim : {0, 1})
      groups[dim] =
          arith::DivUIOp::create(b, l, IndexOp::create(b, l, i64, dim), size);
    Value isOwn = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                        groups[0], groups[1]);
    Value own =
        arith::SelectOp::create(b, l, isOwn, v[0], makeNumber(b, l, wide, 0));
    return makeAdd(b, l, v[1], own);
  });
}

/// `finish` of the quotient by the number of elements, which has type
/// `quotientType`.
Value Normalizer::divideByCount(Value sum, Type quotientType, Body finish) {
  int64_t factor = 1;
  ExtentAttr perSample = extent::constant(op.getContext(), 1);
  for (int64_t dim : reduced) {
    if (std::optional<int64_t> size = type.extents[dim].getConstant())
      factor *= *size;
    else
      perSample = extent::mul(perSample, type.extents[dim]);
  }
  if (kind == NormalizeKind::Group)
    factor *= *type.extents.back().getConstant() / op.getGroups();
  LogicalType groups = LogicalType::of(sum);
  SmallVector<Value> inputs = {sum};
  Type i64 = rewriter.getI64Type();
  if (!perSample.isStatic())
    inputs.push_back(ExtentOp::create(
        rewriter, loc, LogicalType(groups.path, {}, i64).toType(), perSample));
  LogicalType result = groups;
  result.elementType = quotientType;
  return builder.elementwise(
      result, inputs, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value quotient;
        if (inputs.size() == 1) {
          double inverse = factor ? 1.0 / static_cast<double>(factor) : 0.0;
          quotient = arith::MulFOp::create(b, l, v[0],
                                           makeNumber(b, l, wide, inverse));
        } else {
          Value count =
              arith::MulIOp::create(b, l, v[1], makeNumber(b, l, i64, factor));
          quotient = arith::DivFOp::create(
              b, l, v[0], arith::SIToFPOp::create(b, l, wide, count));
        }
        return finish(b, l, makeFloat(b, l, quotientType, quotient));
      });
}

/// Takes the mean away from x, in `wide`. Where that is not wider than x, the
/// mean of what is left is taken away, too: the mean was rounded, and a list of
/// equal elements would become that error times 1 / sqrt(eps).
void Normalizer::centre() {
  auto itself = [](OpBuilder &, Location, ValueRange v) { return v[0]; };
  for (int passes = wide == computed ? 2 : 1; passes > 0; --passes) {
    Value mean = divideByCount(sum(itself), wide, itself);
    x = builder.elementwise(
        type, x, mean, reduced,
        [&](OpBuilder &b, Location l, ValueRange v) -> Value {
          Value element = makeFloat(b, l, wide, v[0]);
          return makeFloat(b, l, computed,
                           arith::SubFOp::create(b, l, element, v[1]));
        });
  }
}

Value Normalizer::applyParameter(Value value, Value parameter, Body body) {
  if (!parameter)
    return value;
  return builder.elementwise(
      type, {value, builder.convertFloat(parameter, computed)}, body);
}

Value Normalizer::run() {
  // Two passes (R6): the mean, then squares of what is left.
  if (kind != NormalizeKind::RMS)
    centre();
  Value squares = sum([](OpBuilder &b, Location l, ValueRange v) {
    return makeMul(b, l, v[0], v[0]);
  });
  Value factor = divideByCount(
      squares, computed, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value eps = makeNumber(b, l, computed, op.getEps().convertToDouble());
        Value root =
            math::SqrtOp::create(b, l, arith::AddFOp::create(b, l, v[0], eps));
        return arith::DivFOp::create(b, l, makeNumber(b, l, computed, 1), root);
      });
  Value result = builder.elementwise(
      type, x, factor, reduced, [](OpBuilder &b, Location l, ValueRange v) {
        return makeMul(b, l, v[0], v[1]);
      });
  result = applyParameter(result, op.getScale(),
                          [](OpBuilder &b, Location l, ValueRange v) {
                            return makeMul(b, l, v[0], v[1]);
                          });
  result = applyParameter(result, op.getOffset(),
                          [](OpBuilder &b, Location l, ValueRange v) {
                            return makeAdd(b, l, v[0], v[1]);
                          });
  return builder.convertFloat(result, elementType);
}

FailureOr<SmallVector<Value>> NormalizeOp::generalize(RewriterBase &rewriter) {
  return SmallVector<Value>{Normalizer(*this, rewriter).run()};
}
