//===- RaggedAdjointAttention.cpp - Derivative of attention -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The derivative is that of the products, the scores and the softmax that
// attention is defined by, computed again: scores are stored in the backward.
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
/// Attention as ops of the tensor phase. Heads are dims (group, member): those
/// of a group share its keys and values.
class AttentionParts {
public:
  AttentionParts(AttentionOp op, OpBuilder &builder)
      : op(op), tensors(builder, op.getLoc()) {}
  Value compute(Value query, Value key, Value value, Value bias, Value mask);

private:
  Value contract(StringRef equation, Value lhs, Value rhs,
                 ArrayRef<ExtentAttr> extents);
  Value getScores(Value products, Value bias, Value mask);

  AttentionOp op;
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
  add(bias ? tensors.widen(bias) : bias);
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
  Type narrow = queryType.elementType;
  queries = queryType.extents[0];
  keys = valueType.extents[0];
  ExtentAttr heads = queryType.extents[1], groups = valueType.extents[1];
  ExtentAttr members = extent::constant(
      op.getContext(),
      *groups.getConstant() ? *heads.getConstant() / *groups.getConstant() : 0);
  query = tensors.reshape(tensors.widen(query),
                          {queries, groups, members, queryType.extents[2]});
  key = tensors.widen(key);
  value = tensors.widen(value);
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
  result = tensors.reshape(result, {queries, heads, width});
  return tensors.withType(tensors.convertFloat(result, narrow), op.getType());
}

FailureOr<SmallVector<Value>>
AttentionOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool> active) {
  return AdjointBuilder(builder, getLoc())
      .differentiateAs(*this, gradients, active, [&](ValueRange operands) {
        unsigned next = 3;
        Value bias = getBias() ? operands[next++] : Value();
        Value mask = getMask() ? operands[next] : Value();
        Value result =
            AttentionParts(*this, builder)
                .compute(operands[0], operands[1], operands[2], bias, mask);
        return SmallVector<Value>{result};
      });
}
