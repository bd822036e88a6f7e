//===- RaggedAdjointAttention.cpp - Derivative of attention -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The derivative is an op, `attention_gradient`, that makes scores again block
// by block. That op's own derivative is the derivative of what it is defined
// by: products, scores and a softmax, which are stored there.
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace nested::ragged;

namespace {
/// Attention as ops of the tensor phase, of operands that are wide and per
/// sample. Heads are dims (group, member): those of a group share its keys and
/// values.
class AttentionParts {
public:
  AttentionParts(AttentionGradientOp op, OpBuilder &builder)
      : op(op), tensors(builder, op.getLoc()) {}
  Value compute(Value query, Value key, Value value, Value bias, Value mask);

private:
  Value contract(StringRef equation, Value lhs, Value rhs,
                 ArrayRef<ExtentAttr> extents);
  Value getScores(Value products, Value bias, Value mask);

  AttentionGradientOp op;
  TensorBuilder tensors;
  ExtentAttr queries, keys;
};
} // namespace

Value AttentionParts::contract(StringRef equation, Value lhs, Value rhs,
                               ArrayRef<ExtentAttr> extents) {
  LogicalType type = LogicalType::of(lhs);
  return ContractOp::create(
      tensors.builder, tensors.loc,
      LogicalType(type.path, extents, type.elementType).toType(), equation,
      ValueRange{lhs, rhs}, /*batch=*/false);
}

/// From products of queries and keys, `[N, M, H]`; -inf where a query does not
/// see a key.
Value AttentionParts::getScores(Value products, Value bias, Value mask) {
  OpBuilder &builder = tensors.builder;
  LogicalType type = LogicalType::of(products);
  auto like = [&](Type elementType) {
    LogicalType result = type;
    result.elementType = elementType;
    return result;
  };
  SmallVector<Value> inputs = {products};
  auto add = [&](Value value) {
    if (!value)
      return;
    LogicalType own = LogicalType::of(value);
    SmallVector<int64_t> dims =
        llvm::to_vector(llvm::seq<int64_t>(own.getRank()));
    inputs.push_back(
        tensors.broadcast(value, dims, like(own.elementType).toType()));
  };
  add(bias);
  add(mask);
  Type i64 = builder.getI64Type();
  bool isBounded = op.getLeft() || op.getRight();
  ExtentAttr shift = extent::sub(keys, queries);
  if (isBounded) {
    for (int64_t dim : {0, 1})
      inputs.push_back(IotaOp::create(builder, tensors.loc, like(i64).toType(),
                                      builder.getI64IntegerAttr(dim)));
    if (!shift.isStatic())
      inputs.push_back(tensors.extent(shift, type));
  }
  int64_t size = *LogicalType::of(op.getQuery()).extents[2].getConstant();
  double scale = op.getScale() ? op.getScale()->convertToDouble()
                               : 1 / std::sqrt(static_cast<double>(size));
  return tensors.map(
      type, inputs, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Scalars s{b, l};
        Type t = type.elementType;
        Value score = s.mul(v[0], s.number(t, scale));
        if (op.getSoftCap()) {
          Value cap = s.number(t, op.getSoftCap()->convertToDouble());
          Value part = arith::DivFOp::create(b, l, score, cap);
          score = s.mul(cap, math::TanhOp::create(b, l, part));
        }
        unsigned next = 1;
        if (bias)
          score = s.add(score, v[next++]);
        Value sees;
        auto require = [&](Value condition) {
          sees = sees ? s.both(sees, condition) : condition;
        };
        if (mask)
          require(v[next++]);
        if (isBounded) {
          // How far the key is behind the query's position.
          Value ahead = shift.isStatic()
                            ? s.number(i64, double(*shift.getConstant()))
                            : v[next + 2];
          Value position = arith::AddIOp::create(b, l, v[next], ahead);
          Value distance = arith::SubIOp::create(b, l, v[next + 1], position);
          if (op.getLeft())
            require(s.compare(arith::CmpIPredicate::sge, distance,
                              s.number(i64, -double(*op.getLeft()))));
          if (op.getRight())
            require(s.compare(arith::CmpIPredicate::sle, distance,
                              s.number(i64, double(*op.getRight()))));
        }
        if (!sees)
          return score;
        return s.select(sees, score,
                        s.number(t, -std::numeric_limits<double>::infinity()));
      });
}

Value AttentionParts::compute(Value query, Value key, Value value, Value bias,
                              Value mask) {
  LogicalType queryType = LogicalType::of(query);
  LogicalType valueType = LogicalType::of(value);
  queries = queryType.extents[0];
  keys = valueType.extents[0];
  ExtentAttr heads = queryType.extents[1], groups = valueType.extents[1];
  ExtentAttr members = extent::constant(
      op.getContext(),
      *groups.getConstant() ? *heads.getConstant() / *groups.getConstant() : 0);
  query =
      tensors.reshape(query, {queries, groups, members, queryType.extents[2]});
  Value scores =
      contract("ngrd,mgd->nmgr", query, key, {queries, keys, groups, members});
  scores =
      getScores(tensors.reshape(scores, {queries, keys, heads}), bias, mask);
  Value weights =
      SoftmaxOp::create(tensors.builder, tensors.loc, scores.getType(), scores,
                        tensors.builder.getDenseI64ArrayAttr({1}), UnitAttr());
  ExtentAttr width = valueType.extents[2];
  Value result =
      contract("nmgr,mge->ngre",
               tensors.reshape(weights, {queries, keys, groups, members}),
               value, {queries, groups, members, width});
  return tensors.reshape(result, {queries, heads, width});
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

/// The op again, with what its gradients need.
SmallVector<Value> AttentionOp::cacheValues(OpBuilder &builder,
                                            ArrayRef<bool>) {
  if (getNormalizer())
    return {getResult(), getNormalizer()};
  Type normalizer = getNormalizerType(LogicalType::of(getQuery())).toType();
  auto op = AttentionOp::create(
      builder, getLoc(), TypeRange{getResult().getType(), normalizer},
      getOperation()->getOperands(), getOperation()->getAttrs());
  return {op.getResult(), op.getNormalizer()};
}

FailureOr<SmallVector<Value>>
AttentionOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value> cached, ArrayRef<bool> active) {
  if (gradients.size() > 1 && gradients[1])
    return emitOpError("has no derivative of its normalizer");
  AdjointBuilder adjoint(builder, getLoc());
  LogicalType query = LogicalType::of(getQuery());
  SmallVector<Value> results(getOperation()->getNumOperands());
  // Without heads nothing reaches the result.
  if (*query.extents[1].getConstant() == 0)
    return results;
  auto makeType = [&](Value operand) {
    return AttentionGradientOp::getGradientType(LogicalType::of(operand), query)
        .toType();
  };
  SmallVector<Type> types = {makeType(getQuery()), makeType(getKey()),
                             makeType(getValue())};
  if (getBias() && active[3])
    types.push_back(AttentionGradientOp::getBiasGradientType(
                        LogicalType::of(getBias()), query)
                        .toType());
  auto op = AttentionGradientOp::create(
      builder, getLoc(), types, getQuery(), getKey(), getValue(), getBias(),
      getMask(), gradients[0], cached[0], cached[1], getScaleAttr(),
      getSoftCapAttr(), getLeftAttr(), getRightAttr());
  for (auto [k, gradient] : llvm::enumerate(op->getResults())) {
    if (!active[k])
      continue;
    // What samples share gets the sum over them, still wide (R6).
    LogicalType type = LogicalType::of(getOperand(k)), wide = type;
    wide.elementType = LogicalType::of(gradient).elementType;
    Value sum = adjoint.sumTo(gradient, wide.toType());
    results[k] = adjoint.convertFloat(sum, type.elementType);
  }
  return results;
}

void nested::ragged::shareNormalizers(func::FuncOp func) {
  for (auto op : llvm::make_early_inc_range(
           func.getFunctionBody().getOps<AttentionOp>())) {
    if (op.getNormalizer())
      continue;
    for (Operation *user : op.getQuery().getUsers()) {
      auto twin = dyn_cast<AttentionOp>(user);
      if (!twin || !twin.getNormalizer() ||
          twin->getBlock() != op->getBlock() ||
          !llvm::equal(twin->getOperands(), op->getOperands()) ||
          twin->getAttrDictionary() != op->getAttrDictionary())
        continue;
      if (op->isBeforeInBlock(twin))
        twin->moveBefore(op);
      op.getResult().replaceAllUsesWith(twin.getResult());
      op.erase();
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// attention_gradient
//===----------------------------------------------------------------------===//

/// The op's results as ops of the tensor phase.
static FailureOr<SmallVector<Value>>
compose(AttentionGradientOp op, AdjointBuilder &adjoint, ValueRange operands) {
  AttentionGradientOp::Adaptor given(operands, op);
  LogicalType query = LogicalType::of(op.getQuery());
  // Wide and of each sample, as the results are.
  auto prepare = [&](Value operand) {
    operand = adjoint.widen(operand);
    LogicalType type = LogicalType::of(operand);
    return adjoint.broadcast(
        operand, llvm::to_vector(llvm::seq<int64_t>(type.getRank())),
        AttentionGradientOp::getGradientType(type, query).toType());
  };
  SmallVector<Value> inputs = {prepare(given.getQuery()),
                               prepare(given.getKey()),
                               prepare(given.getValue())};
  SmallVector<bool> active(inputs.size(), true);
  if (Value bias = given.getBias()) {
    inputs.push_back(prepare(bias));
    active.push_back(bool(op.getBiasGradient()));
  }
  FailureOr<SmallVector<Value>> found = adjoint.differentiateAs(
      inputs, adjoint.widen(given.getSeed()), active, [&](ValueRange v) {
        return SmallVector<Value>{AttentionParts(op, adjoint.builder)
                                      .compute(v[0], v[1], v[2],
                                               v.size() > 3 ? v[3] : Value(),
                                               given.getMask())};
      });
  if (failed(found))
    return failure();
  found->truncate(op->getNumResults());
  if (op.sumsMembers()) {
    LogicalType type = LogicalType::of(op.getBiasGradient()), sum = type;
    Value &gradient = found->back();
    sum.elementType = LogicalType::of(gradient).elementType;
    gradient = adjoint.convertFloat(adjoint.sumTo(gradient, sum.toType()),
                                    type.elementType);
  }
  return found;
}

FailureOr<SmallVector<Value>>
AttentionGradientOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                                 ArrayRef<Value>, ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  bool isComposed = true;
  auto results = adjoint.differentiateAs(
      getOperation()->getOperands(), gradients, active,
      [&](ValueRange operands) {
        auto composed = compose(*this, adjoint, operands);
        isComposed = succeeded(composed);
        return isComposed ? *composed : SmallVector<Value>(gradients.size());
      });
  if (!isComposed)
    return failure();
  // What depends on result and normalizer has been taken into account: they are
  // made of the other operands.
  return results;
}
