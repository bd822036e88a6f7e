//===- RaggedAdjointOrder.cpp - Derivatives of sort, scatter, select ----===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where entries went is known from integers, which are constant to every
// derivative: gradients go back the same way.
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"

#include <limits>

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

/// Sorting the indices gives the place that each element went to.
FailureOr<SmallVector<Value>> SortOp::emitAdjoint(OpBuilder &builder,
                                                  ArrayRef<Value> gradients,
                                                  ArrayRef<Value>,
                                                  ArrayRef<bool>) {
  Type type = getIndices().getType();
  auto places =
      SortOp::create(builder, getLoc(), type, type, getIndices(), getDimAttr(),
                     /*descending=*/UnitAttr());
  Value result =
      TakeAlongOp::create(builder, getLoc(), getSource().getType(),
                          gradients[0], places.getIndices(), getDimAttr());
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

namespace {
class ScatterAdjoint {
public:
  ScatterAdjoint(ScatterOp op, OpBuilder &builder)
      : op(op), tensors(builder, op.getLoc()),
        initType(LogicalType::of(op.getInit())),
        updatesType(LogicalType::of(op.getUpdates())),
        i64(builder.getI64Type()) {}
  SmallVector<Value> run(Value gradient);

private:
  SmallVector<Value> ofLast(Value gradient);
  SmallVector<Value> ofExtremum(Value gradient);

  /// Of each update the row that it went to, for values of the init's shape.
  Value take(Value rows) {
    LogicalType type = updatesType;
    LogicalType source = LogicalType::of(rows);
    type.elementType = source.elementType;
    type.extents.truncate(source.getRank());
    type.order = RaggedTensorType::getDefaultOrder(type.extents);
    return TakeOp::create(tensors.builder, tensors.loc, type.toType(), rows,
                          op.getIndices(),
                          tensors.builder.getI64IntegerAttr(0));
  }
  Value numberUpdates(LogicalType type) {
    type.elementType = i64;
    return IotaOp::create(tensors.builder, tensors.loc, type.toType(),
                          tensors.builder.getI64IntegerAttr(0));
  }
  Value scatter(ScatterKind kind, Value init, Value updates) {
    return ScatterOp::create(tensors.builder, tensors.loc, init.getType(), kind,
                             init, op.getIndices(), updates);
  }
  /// `gradient` where the numbers are equal, else 0. All of the shape of
  /// `type`, or of its first dim.
  Value whereEqual(const LogicalType &type, Value x, Value y, Value gradient);

  ScatterOp op;
  TensorBuilder tensors;
  LogicalType initType, updatesType;
  Type i64;
};
} // namespace

Value ScatterAdjoint::whereEqual(const LogicalType &type, Value x, Value y,
                                 Value gradient) {
  auto spread = [&](Value value) {
    LogicalType full = type, own = LogicalType::of(value);
    full.elementType = own.elementType;
    full.order = RaggedTensorType::getDefaultOrder(full.extents);
    return tensors.broadcast(value,
                             llvm::to_vector(llvm::seq<int64_t>(own.getRank())),
                             full.toType());
  };
  return tensors.map(type, {spread(x), spread(y), gradient},
                     [](OpBuilder &b, Location l, ValueRange v) -> Value {
                       Scalars s{b, l};
                       return s.select(
                           s.compare(arith::CmpIPredicate::eq, v[0], v[1]),
                           v[2], s.number(v[2].getType(), 0));
                     });
}

/// The last update of a row has its gradient; the init, where there is none.
SmallVector<Value> ScatterAdjoint::ofLast(Value gradient) {
  LogicalType rows = initType, indices = LogicalType::of(op.getIndices());
  rows.extents.truncate(1);
  rows.order = {0};
  rows.elementType = i64;
  Value none = tensors.fill(rows, -1);
  Value numbers = numberUpdates(indices);
  Value last = scatter(ScatterKind::Max, none, numbers);
  return {whereEqual(initType, last, none, gradient), Value(),
          whereEqual(updatesType, take(last), numbers, take(gradient))};
}

/// R10: the init, if it is the result, else the first update that is.
SmallVector<Value> ScatterAdjoint::ofExtremum(Value gradient) {
  LogicalType rows = initType;
  rows.elementType = i64;
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  auto number = [&](OpBuilder &b, Location l, int64_t value) -> Value {
    return arith::ConstantOp::create(b, l, b.getI64IntegerAttr(value));
  };
  Value start =
      tensors.map(rows, {op.getInit(), op.getResult()},
                  [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                    Scalars s{b, l};
                    return s.select(s.isEqualOrNaN(v[0], v[1]),
                                    number(b, l, -1), number(b, l, kNone));
                  });
  LogicalType numbersType = updatesType;
  numbersType.elementType = i64;
  Value numbers = numberUpdates(updatesType);
  Value candidates = tensors.map(
      numbersType, {op.getUpdates(), take(op.getResult()), numbers},
      [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Scalars s{b, l};
        return s.select(s.isEqualOrNaN(v[0], v[1]), v[2], number(b, l, kNone));
      });
  Value first = scatter(ScatterKind::Min, start, candidates);
  return {whereEqual(initType, first, tensors.fill(rows, -1), gradient),
          Value(),
          whereEqual(updatesType, take(first), numbers, take(gradient))};
}

SmallVector<Value> ScatterAdjoint::run(Value gradient) {
  switch (op.getKind()) {
  case ScatterKind::Add:
    return {gradient, Value(), take(gradient)};
  case ScatterKind::Set:
    return ofLast(gradient);
  case ScatterKind::Max:
  case ScatterKind::Min:
    return ofExtremum(gradient);
  }
  llvm_unreachable("covered switch");
}

FailureOr<SmallVector<Value>> ScatterOp::emitAdjoint(OpBuilder &builder,
                                                     ArrayRef<Value> gradients,
                                                     ArrayRef<Value>,
                                                     ArrayRef<bool>) {
  TensorBuilder tensors(builder, getLoc());
  SmallVector<Value> results = ScatterAdjoint(*this, builder).run(gradients[0]);
  for (auto [result, operand] : llvm::zip_equal(results, getOperands()))
    if (result)
      result = tensors.withType(result, operand.getType());
  return results;
}

//===----------------------------------------------------------------------===//
// masked_select
//===----------------------------------------------------------------------===//

/// An index that stays takes the row of its number among those that do; the
/// others take a row of zeros, put behind the last.
FailureOr<SmallVector<Value>>
MaskedSelectOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                            ArrayRef<Value>, ArrayRef<bool>) {
  AdjointBuilder adjoint(builder, getLoc());
  LogicalType numbers = LogicalType::of(getMask());
  numbers.elementType = builder.getI64Type();
  Value ones = adjoint.map(
      numbers, getMask(), [&](OpBuilder &b, Location l, ValueRange v) {
        return arith::ExtUIOp::create(b, l, numbers.elementType, v[0])
            .getResult();
      });
  Value rank =
      AccumulateOp::create(builder, getLoc(), AccumulateKind::Sum, ones,
                           /*dim=*/0, /*reverse=*/false,
                           /*exclusive=*/true);
  ExtentAttr kept = LogicalType::of(getResult()).extents[0];
  Value places =
      adjoint.map(numbers, {getMask(), rank, adjoint.extent(kept, numbers)},
                  [](OpBuilder &b, Location l, ValueRange v) -> Value {
                    return arith::SelectOp::create(b, l, v[0], v[1], v[2]);
                  });
  LogicalType padded = LogicalType::of(gradients[0]);
  ExtentAttr zero = extent::constant(getContext(), 0);
  SmallVector<ExtentAttr> low(padded.getRank(), zero), high(low);
  high[0] = extent::constant(getContext(), 1);
  padded.extents[0] = extent::add(kept, 1);
  Value rows = PadOp::create(
      builder, getLoc(), padded.toType(), gradients[0],
      makeExtentsAttr(getContext(), low), makeExtentsAttr(getContext(), high),
      getNumberAttr(padded.elementType, 0), StringAttr());
  LogicalType result = LogicalType::of(getSource());
  result.order = RaggedTensorType::getDefaultOrder(result.extents);
  Value taken = TakeOp::create(builder, getLoc(), result.toType(), rows, places,
                               builder.getI64IntegerAttr(0));
  return SmallVector<Value>{adjoint.withType(taken, getSource().getType()),
                            Value()};
}
