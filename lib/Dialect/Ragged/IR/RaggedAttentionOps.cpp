//===- RaggedAttentionOps.cpp - Attention ---------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"

using namespace mlir;
using namespace nested::ragged;

LogicalType AttentionOp::getNormalizerType(const LogicalType &query) {
  SmallVector<ExtentAttr> extents(query.extents);
  extents[2] = extent::constant(query.getContext(), 2);
  return LogicalType(query.path, extents,
                     getAccumulatorType(query.elementType));
}

LogicalType AttentionGradientOp::getGradientType(const LogicalType &operand,
                                                 const LogicalType &query) {
  return LogicalType(query.path, operand.extents,
                     getAccumulatorType(operand.elementType));
}

LogicalType AttentionGradientOp::getBiasGradientType(const LogicalType &bias,
                                                     const LogicalType &query) {
  LogicalType type = getGradientType(bias, query);
  // What the samples of a batch share is summed in parts (R8), by a reduction.
  if (query.path.size() < 2 || bias.path.size() == query.path.size())
    return type;
  type.path.pop_back();
  type.elementType = Float64Type::get(query.getContext());
  return type;
}

bool AttentionGradientOp::sumsMembers() {
  return getBiasGradient() && LogicalType::of(getBiasGradient()).path.size() <
                                  LogicalType::of(getQuery()).path.size();
}

static LogicalResult verifyExtent(Operation *op, StringRef what,
                                  ExtentAttr expected, StringRef like,
                                  ExtentAttr got) {
  if (expected == got)
    return success();
  InFlightDiagnostic diagnostic = emitExpected(
      op, what + " " + expected.str() + ", as in the " + like, got.str());
  attachMismatchNotes(diagnostic, op, expected, got);
  return diagnostic;
}

/// `bias` and `mask`: queries, keys and, unless they are for all heads, heads.
static LogicalResult verifyPairs(Operation *op, StringRef what, Value value,
                                 Type elementType, const LogicalType &query,
                                 const LogicalType &key) {
  LogicalType pairs = LogicalType::of(value);
  if (pairs.getRank() != 2 && pairs.getRank() != 3)
    return emitExpected(op,
                        what + " with the dims queries, keys and, if they are "
                               "per head, heads",
                        quote(value.getType()));
  if (pairs.elementType != elementType)
    return emitExpected(op, what + " of element type " + quote(elementType),
                        quote(pairs.elementType));
  if (!isPathPrefix(pairs.path, query.path))
    return emitExpected(
        op, what + " over a prefix of path " + formatPath(query.path),
        formatPath(pairs.path));
  if (failed(verifyExtent(op, (what + " for queries").str(), query.extents[0],
                          "query", pairs.extents[0])) ||
      failed(verifyExtent(op, (what + " for keys").str(), key.extents[0], "key",
                          pairs.extents[1])))
    return failure();
  if (pairs.getRank() == 3)
    return verifyExtent(op, (what + " for heads").str(), query.extents[1],
                        "query", pairs.extents[2]);
  return success();
}

/// What attention and its gradients have in common; `result` is the type of the
/// forward's result then.
template <typename Op>
static LogicalResult verifyAttention(Op op, LogicalType &result) {
  LogicalType query = LogicalType::of(op.getQuery());
  LogicalType key = LogicalType::of(op.getKey());
  LogicalType value = LogicalType::of(op.getValue());
  const std::pair<StringRef, LogicalType *> operands[] = {
      {"query", &query}, {"key", &key}, {"value", &value}};
  for (auto [name, type] : operands) {
    if (type->getRank() != 3 || !type->areTrailingStatic(2))
      return emitExpected(
          op,
          "a " + name +
              " with a dim of rows and static dims of heads and "
              "of their elements, stored last",
          quote(*type));
    if (!isa<FloatType>(type->elementType) ||
        type->elementType != query.elementType)
      return emitExpected(op, "floats of one type as query, key and value",
                          quote(type->elementType));
    // R1: keys and values may be shared.
    if (!isPathPrefix(type->path, query.path)) {
      InFlightDiagnostic diagnostic = emitExpected(
          op, "a " + name + " over a prefix of path " + formatPath(query.path),
          formatPath(type->path));
      attachMismatchNotes(diagnostic, op, query, *type);
      return diagnostic;
    }
  }
  if (failed(verifyExtent(op, "values for keys", key.extents[0], "key",
                          value.extents[0])) ||
      failed(verifyExtent(op, "heads of values", key.extents[1], "key",
                          value.extents[1])) ||
      failed(verifyExtent(op, "elements of a head", query.extents[2], "query",
                          key.extents[2])))
    return failure();
  int64_t heads = *query.extents[1].getConstant();
  int64_t groups = *key.extents[1].getConstant();
  if (heads != 0 && (groups == 0 || heads % groups != 0))
    return emitExpected(op,
                        "a multiple of the " + Twine(groups) +
                            " heads of keys as heads of queries",
                        Twine(heads));
  if (op.getBias() && failed(verifyPairs(op, "a bias", op.getBias(),
                                         query.elementType, query, key)))
    return failure();
  if (op.getMask() &&
      failed(verifyPairs(op, "a mask", op.getMask(),
                         IntegerType::get(op.getContext(), 1), query, key)))
    return failure();
  if (op.getSoftCap() && !(op.getSoftCap()->convertToDouble() > 0))
    return emitExpected(op, "a soft_cap above 0", "another number");
  for (std::optional<uint64_t> bound : {op.getLeft(), op.getRight()})
    if (bound && static_cast<int64_t>(*bound) < 0)
      return emitExpected(op, "window bounds of at least 0",
                          Twine(static_cast<int64_t>(*bound)));
  result = query;
  result.extents[2] = value.extents[2];
  return success();
}

LogicalResult AttentionOp::verify() {
  LogicalType expected;
  if (failed(verifyAttention(*this, expected)) ||
      failed(verifyType(*this, "result", expected, getResult().getType(),
                        /*sameOrder=*/true)))
    return failure();
  if (!getNormalizer())
    return success();
  return verifyType(*this, "normalizer",
                    getNormalizerType(LogicalType::of(getQuery())),
                    getNormalizer().getType(), /*sameOrder=*/true);
}

LogicalResult AttentionGradientOp::verify() {
  LogicalType forward, query = LogicalType::of(getQuery());
  if (failed(verifyAttention(*this, forward)))
    return failure();
  if (*query.extents[1].getConstant() == 0)
    return emitExpected(*this, "heads of queries", "0");
  auto verify = [&](StringRef what, const LogicalType &expected, Value value) {
    return verifyType(*this, what, expected, value.getType(),
                      /*sameOrder=*/true);
  };
  if (failed(verify("seed", forward, getSeed())) ||
      failed(verify("result of attention", forward, getResult())) ||
      failed(verify("normalizer", AttentionOp::getNormalizerType(query),
                    getNormalizer())))
    return failure();
  if (getBiasGradient() && !getBias())
    return emitExpected(*this, "a gradient of a bias where there is a bias",
                        "none");
  const std::tuple<StringRef, Value, Value> gradients[] = {
      {"gradient of the query", getQuery(), getQueryGradient()},
      {"gradient of the key", getKey(), getKeyGradient()},
      {"gradient of the value", getValue(), getValueGradient()}};
  for (auto [what, operand, gradient] : gradients)
    if (failed(verify(what, getGradientType(LogicalType::of(operand), query),
                      gradient)))
      return failure();
  if (!getBiasGradient())
    return success();
  return verify("gradient of the bias",
                getBiasGradientType(LogicalType::of(getBias()), query),
                getBiasGradient());
}

/// Memory of one dim, each with as many numbers as say where.
static LogicalResult
verifyMemory(Operation *op, ArrayRef<Value> memory,
             ArrayRef<std::tuple<Value, OperandRange, unsigned>> accesses) {
  SmallVector<Value> all(memory);
  for (const auto &[value, access, count] : accesses) {
    all.push_back(value);
    if (access.size() != (value ? count : 0u))
      return emitExpected(op,
                          "an offset and a stride by query or key, two for a "
                          "bias or a mask",
                          Twine(access.size()) + " numbers");
  }
  for (Value value : all)
    if (value && cast<MemRefType>(value.getType()).getRank() != 1)
      return emitExpected(op, "memory of one dim", quote(value.getType()));
  return success();
}

LogicalResult TileAttentionOp::verify() {
  return verifyMemory(*this, {getQuery(), getKey(), getValue(), getDest()},
                      {{getBias(), getBiasAccess(), 3},
                       {getMask(), getMaskAccess(), 3},
                       {getNormalizer(), getNormalizerAccess(), 2}});
}

LogicalResult TileAttentionGradientOp::verify() {
  bool ofKeys =
      getKeyDest() && getValueDest() && !getQueryDest() && !getBiasDest();
  if (!ofKeys && (!getQueryDest() || getKeyDest() || getValueDest()))
    return emitExpected(*this,
                        "memory for gradients of queries, or for those of "
                        "keys and values",
                        "other memory");
  return verifyMemory(*this,
                      {getQuery(), getKey(), getValue(), getSeed(), getResult(),
                       getNormalizer()},
                      {{getBias(), getBiasAccess(), 3},
                       {getMask(), getMaskAccess(), 3},
                       {getQueryDest(), getQueryDestAccess(), 2},
                       {getBiasDest(), getBiasDestAccess(), 3},
                       {getKeyDest(), getKeyDestAccess(), 2},
                       {getValueDest(), getValueDestAccess(), 2}});
}
