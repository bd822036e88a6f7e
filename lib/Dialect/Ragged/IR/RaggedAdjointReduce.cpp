//===- RaggedAdjointReduce.cpp - Derivatives of broadcast and reduce ------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Broadcast and reduce are each other's adjoint. What is needed beside it: for
// mean the number of elements, for max and min the first winner (R10), for
// prod the product of the others. Groups without elements have none to give a
// gradient to (R5).
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
BroadcastOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool>) {
  AdjointBuilder adjoint(builder, getLoc());
  LogicalType source = LogicalType::of(getSource());
  LogicalType type = LogicalType::of(getResult());
  // Created dims are summed; then the dims of the source stand in the order in
  // which the result has them.
  SmallVector<int64_t> created, position(type.getRank(), -1);
  for (auto [k, dim] : llvm::enumerate(getDims()))
    position[dim] = k;
  SmallVector<int64_t> sourceDims;
  LogicalType kept = source;
  kept.extents.clear();
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (position[dim] < 0) {
      created.push_back(dim);
      continue;
    }
    sourceDims.push_back(position[dim]);
    kept.extents.push_back(source.extents[position[dim]]);
  }
  kept.order = RaggedTensorType::getDefaultOrder(kept.extents);
  Value gradient = gradients[0];
  if (!created.empty()) {
    // The batch goes together with the dims where the source has none.
    bool batch = source.path.empty() && type.path.size() == 1;
    SmallVector<int64_t> dims(created);
    if (batch)
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (position[dim] >= 0 && type.isRagged(dim))
          return emitOpError("repeats a dense dim along the ragged dim ")
                 << dim << "; its derivative is not supported";
    gradient = adjoint.reduce(ReduceKind::Sum, gradient, dims, batch);
  }
  Value sum = adjoint.sumTo(gradient, kept.toType());
  if (llvm::is_sorted(sourceDims))
    return SmallVector<Value>{adjoint.withType(sum, getSource().getType())};
  SmallVector<int64_t> inverse(sourceDims.size());
  for (auto [k, dim] : llvm::enumerate(sourceDims))
    inverse[dim] = k;
  Value result =
      TransposeOp::create(builder, getLoc(), getSource().getType(), sum,
                          builder.getDenseI64ArrayAttr(inverse));
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

namespace {
/// The parts of the adjoint of one reduction.
class ReduceAdjoint {
public:
  ReduceAdjoint(ReduceOp op, OpBuilder &builder)
      : op(op), b(builder), loc(op.getLoc()), adjoint(builder, loc),
        source(LogicalType::of(op.getSource())) {
    for (int64_t dim = 0; dim < source.getRank(); ++dim)
      if (op.getKeepdims() || !llvm::is_contained(op.getDims(), dim))
        kept.push_back(dim);
  }
  FailureOr<Value> run(Value gradient);

private:
  /// A value of the result's shape, repeated for every element.
  Value spread(Value value) {
    LogicalType type = source;
    type.elementType = LogicalType::of(value).elementType;
    return adjoint.broadcast(value, kept, type.toType());
  }
  Value divideByCount(Value gradient);
  Value toFirstWinner(Value gradient);
  Value timesTheOthers(Value gradient);
  Value timesShare(Value gradient);
  /// The number of each element among those that are reduced, in i64.
  Value numberElements();

  ReduceOp op;
  OpBuilder &b;
  Location loc;
  AdjointBuilder adjoint;
  LogicalType source;
  SmallVector<int64_t> kept;
};
} // namespace

static Value constant(OpBuilder &b, Location loc, Type type, double value) {
  return arith::ConstantOp::create(b, loc, getNumberAttr(type, value));
}

Value ReduceAdjoint::divideByCount(Value gradient) {
  LogicalType type = LogicalType::of(gradient);
  int64_t factor = 1;
  ExtentAttr perSample = extent::constant(b.getContext(), 1);
  for (int64_t dim : op.getDims()) {
    if (std::optional<int64_t> size = source.extents[dim].getConstant())
      factor *= *size;
    else
      perSample = extent::mul(perSample, source.extents[dim]);
  }
  Type i64 = b.getI64Type();
  SmallVector<Value> inputs = {gradient};
  if (op.getBatch() && source.path.size() > 1) {
    // Of the members of this sample alone.
    bool isCount = perSample.isStatic();
    ExtentAttr each = isCount ? extent::symbol(source.path.back()) : perSample;
    Value sizes = ExtentOp::create(
        b, loc,
        LogicalType(isCount ? type.path : source.path, {}, i64).toType(), each);
    inputs.push_back(isCount ? sizes
                             : adjoint.reduce(ReduceKind::Sum, sizes, {},
                                              /*batch=*/true));
  } else if (op.getBatch()) {
    auto ragged = cast<RaggedTensorType>(op.getSource().getType());
    Value partition =
        PartitionOp::create(b, loc, getPartitionType(ragged), op.getSource());
    inputs.push_back(
        TotalOp::create(b, loc, RankedTensorType::get({}, i64), partition));
  } else if (!perSample.isStatic()) {
    inputs.push_back(ExtentOp::create(
        b, loc, LogicalType(type.path, {}, i64).toType(), perSample));
  }
  return adjoint.map(
      type, inputs, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Type t = type.elementType;
        Value count = constant(b, l, t, factor);
        if (v.size() > 1) {
          Value n = v[1];
          if (factor != 1)
            n = arith::MulIOp::create(b, l, n, constant(b, l, i64, factor));
          count = arith::SIToFPOp::create(b, l, t, n);
        }
        Value quotient = arith::DivFOp::create(b, l, v[0], count);
        Value zero = constant(b, l, t, 0);
        Value isEmpty =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, count, zero);
        return arith::SelectOp::create(b, l, isEmpty, zero, quotient);
      });
}

Value ReduceAdjoint::numberElements() {
  LogicalType type = source;
  type.elementType = b.getI64Type();
  Value number;
  for (int64_t dim : op.getDims()) {
    Value coordinate =
        IotaOp::create(b, loc, type.toType(), b.getI64IntegerAttr(dim));
    if (!number) {
      number = coordinate;
      continue;
    }
    Value size;
    ExtentAttr extent = source.extents[dim];
    if (!extent.isStatic())
      size = ExtentOp::create(
          b, loc, LogicalType(source.path, {}, type.elementType).toType(),
          extent);
    SmallVector<Value> inputs = {number, coordinate};
    if (size)
      inputs.push_back(size);
    number = adjoint.map(
        type, inputs, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
          Value n = v.size() > 2 ? v[2]
                                 : constant(b, l, type.elementType,
                                            double(*extent.getConstant()));
          return arith::AddIOp::create(
              b, l, arith::MulIOp::create(b, l, v[0], n), v[1]);
        });
  }
  return number;
}

/// R10: the first element that is the result, or the first NaN, has the whole
/// gradient. Over the batch it is the first such one of the first sample that
/// has one.
Value ReduceAdjoint::toFirstWinner(Value gradient) {
  if (op.getDims().empty() && !op.getBatch())
    return gradient;
  LogicalType indices = source;
  indices.elementType = b.getI64Type();
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  auto none = [](OpBuilder &b, Location l) -> Value {
    return arith::ConstantOp::create(b, l, b.getI64IntegerAttr(kNone));
  };
  auto least = [&](Value value, ArrayRef<int64_t> dims, bool batch) {
    return adjoint.reduce(ReduceKind::Min, value, dims, batch,
                          op.getKeepdims() && !dims.empty(),
                          EmptyPolicy::Identity);
  };
  Value number =
      op.getDims().empty() ? adjoint.fill(indices, 0) : numberElements();
  Value candidates = adjoint.map(
      indices, {op.getSource(), spread(op.getResult()), number},
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Scalars s{b, l};
        return s.select(s.isEqualOrNaN(v[0], v[1]), v[2], none(b, l));
      });
  Value first = op.getDims().empty()
                    ? candidates
                    : least(candidates, op.getDims(), /*batch=*/false);
  SmallVector<Value> inputs = {number, spread(first), spread(gradient)};
  if (op.getBatch()) {
    LogicalType perSample = LogicalType::of(first);
    Value sample = InstanceOp::create(
        b, loc, LogicalType(source.path, {}, indices.elementType).toType());
    Value samples =
        adjoint.map(perSample, {first, sample},
                    [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                      Scalars s{b, l};
                      Value has =
                          s.compare(arith::CmpIPredicate::ne, v[0], none(b, l));
                      return s.select(has, v[1], none(b, l));
                    });
    inputs.push_back(spread(least(samples, {}, /*batch=*/true)));
    inputs.push_back(sample);
  }
  return adjoint.map(
      source, inputs, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Scalars s{b, l};
        Value wins = s.compare(arith::CmpIPredicate::eq, v[0], v[1]);
        if (op.getBatch())
          wins = s.both(wins, s.compare(arith::CmpIPredicate::eq, v[3], v[4]));
        return s.select(wins, v[2], s.number(source.elementType, 0));
      });
}

Value ReduceAdjoint::timesTheOthers(Value gradient) {
  Type t = source.elementType;
  auto isZero = [&](OpBuilder &b, Location l, Value x) -> Value {
    return arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, x,
                                 constant(b, l, t, 0));
  };
  // Without zeros, result / x. With one, the product of all others belongs to
  // it; with several nothing has a gradient.
  Value zeros =
      adjoint.map(source, op.getSource(),
                  [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                    return arith::SelectOp::create(b, l, isZero(b, l, v[0]),
                                                   constant(b, l, t, 1),
                                                   constant(b, l, t, 0));
                  });
  Value others =
      adjoint.map(source, op.getSource(),
                  [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                    return arith::SelectOp::create(b, l, isZero(b, l, v[0]),
                                                   constant(b, l, t, 1), v[0]);
                  });
  auto reduce = [&](ReduceKind kind, Value value) {
    return spread(adjoint.reduce(kind, value, op.getDims(), op.getBatch(),
                                 op.getKeepdims()));
  };
  return adjoint.map(
      source,
      {op.getSource(), reduce(ReduceKind::Sum, zeros),
       reduce(ReduceKind::Prod, others), spread(gradient)},
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value zero = constant(b, l, t, 0);
        Value mine = isZero(b, l, v[0]);
        // The product of the others, if there is no zero among them.
        Value divisor =
            arith::SelectOp::create(b, l, mine, constant(b, l, t, 1), v[0]);
        Value rest = arith::DivFOp::create(b, l, v[2], divisor);
        Value own =
            arith::SelectOp::create(b, l, mine, constant(b, l, t, 1), zero);
        Value alone =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, v[1], own);
        Value product = arith::MulFOp::create(b, l, v[3], rest);
        return arith::SelectOp::create(b, l, alone, product, zero);
      });
}

/// The gradient of logsumexp is softmax; R5: 0 where all elements are -inf.
Value ReduceAdjoint::timesShare(Value gradient) {
  Type t = source.elementType;
  return adjoint.map(
      source, {op.getSource(), spread(op.getResult()), spread(gradient)},
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Value isMasked =
            arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, v[1],
                                  constant(b, l, t, -INFINITY));
        Value share =
            math::ExpOp::create(b, l, arith::SubFOp::create(b, l, v[0], v[1]));
        return arith::SelectOp::create(
            b, l, isMasked, constant(b, l, t, 0),
            arith::MulFOp::create(b, l, v[2], share));
      });
}

FailureOr<Value> ReduceAdjoint::run(Value gradient) {
  FailureOr<Value> result;
  switch (op.getKind()) {
  case ReduceKind::Sum:
    result = spread(gradient);
    break;
  case ReduceKind::Mean:
    result = spread(divideByCount(gradient));
    break;
  case ReduceKind::Max:
  case ReduceKind::Min:
    result = toFirstWinner(gradient);
    break;
  case ReduceKind::Prod:
    result = timesTheOthers(gradient);
    break;
  case ReduceKind::LogSumExp:
    result = timesShare(gradient);
    break;
  case ReduceKind::Any:
  case ReduceKind::All:
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    return op.emitOpError("of kind '")
           << stringifyReduceKind(op.getKind())
           << "' has no derivative: its result is no float";
  }
  if (failed(result))
    return failure();
  return adjoint.withType(*result, op.getSource().getType());
}

FailureOr<SmallVector<Value>> ReduceOp::emitAdjoint(OpBuilder &builder,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool>) {
  FailureOr<Value> result = ReduceAdjoint(*this, builder).run(gradients[0]);
  if (failed(result))
    return failure();
  return SmallVector<Value>{*result};
}

//===----------------------------------------------------------------------===//
// softmax
//===----------------------------------------------------------------------===//

/// `y * (g - sum(g * y))`; of the logarithm `g - exp(y) * sum(g)`, and 0 in
/// groups that are masked out (R5).
FailureOr<SmallVector<Value>> SoftmaxOp::emitAdjoint(OpBuilder &builder,
                                                     ArrayRef<Value> gradients,
                                                     ArrayRef<Value>,
                                                     ArrayRef<bool>) {
  AdjointBuilder adjoint(builder, getLoc());
  LogicalType type = LogicalType::of(getSource());
  Type elementType = type.elementType, wide = getAccumulatorType(elementType);
  type.elementType = wide;
  Value g = adjoint.convertFloat(gradients[0], wide);
  Value y = adjoint.convertFloat(getResult(), wide);
  auto reduce = [&](ReduceKind kind, Value value, EmptyPolicy empty) {
    return adjoint.reduce(kind, value, getDims(), /*batch=*/false,
                          /*keepdims=*/true, empty);
  };
  Value result;
  if (!getLog()) {
    Value along = reduce(ReduceKind::Sum, adjoint.mul(g, y), EmptyPolicy::Zero);
    result = adjoint.map(type, {g, y, along},
                         [](OpBuilder &b, Location l, ValueRange v) -> Value {
                           Value rest = arith::SubFOp::create(b, l, v[0], v[2]);
                           return arith::MulFOp::create(b, l, v[1], rest);
                         });
  } else {
    Value sum = reduce(ReduceKind::Sum, g, EmptyPolicy::Zero);
    Value most = reduce(ReduceKind::Max, y, EmptyPolicy::Identity);
    result = adjoint.map(
        type, {g, y, sum, most},
        [&](OpBuilder &b, Location l, ValueRange v) -> Value {
          Value share = math::ExpOp::create(b, l, v[1]);
          Value rest = arith::SubFOp::create(
              b, l, v[0], arith::MulFOp::create(b, l, share, v[2]));
          Value isMasked =
              arith::CmpFOp::create(b, l, arith::CmpFPredicate::OEQ, v[3],
                                    constant(b, l, wide, -INFINITY));
          return arith::SelectOp::create(b, l, isMasked,
                                         constant(b, l, wide, 0), rest);
        });
  }
  result = adjoint.convertFloat(result, elementType);
  return SmallVector<Value>{adjoint.withType(result, getSource().getType())};
}
