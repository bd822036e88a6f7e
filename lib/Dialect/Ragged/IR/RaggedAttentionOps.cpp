//===- RaggedAttentionOps.cpp - Attention ---------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

using namespace mlir;
using namespace nested::ragged;

static LogicalResult verifyExtent(AttentionOp op, StringRef what,
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
static LogicalResult verifyPairs(AttentionOp op, StringRef what, Value value,
                                 Type elementType) {
  LogicalType pairs = LogicalType::of(value);
  LogicalType query = LogicalType::of(op.getQuery());
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
  ExtentAttr keys = LogicalType::of(op.getKey()).extents[0];
  if (failed(verifyExtent(op, (what + " for queries").str(), query.extents[0],
                          "query", pairs.extents[0])) ||
      failed(verifyExtent(op, (what + " for keys").str(), keys, "key",
                          pairs.extents[1])))
    return failure();
  if (pairs.getRank() == 3)
    return verifyExtent(op, (what + " for heads").str(), query.extents[1],
                        "query", pairs.extents[2]);
  return success();
}

LogicalResult AttentionOp::verify() {
  LogicalType query = LogicalType::of(getQuery());
  LogicalType key = LogicalType::of(getKey());
  LogicalType value = LogicalType::of(getValue());
  const std::pair<StringRef, LogicalType *> operands[] = {
      {"query", &query}, {"key", &key}, {"value", &value}};
  for (auto [name, type] : operands) {
    if (type->getRank() != 3 || !type->areTrailingStatic(2))
      return emitExpected(
          *this,
          "a " + name +
              " with a dim of rows and static dims of heads and "
              "of their elements, stored last",
          quote(*type));
    if (!isa<FloatType>(type->elementType) ||
        type->elementType != query.elementType)
      return emitExpected(*this, "floats of one type as query, key and value",
                          quote(type->elementType));
    // R1: keys and values may be shared.
    if (!isPathPrefix(type->path, query.path)) {
      InFlightDiagnostic diagnostic = emitExpected(
          *this,
          "a " + name + " over a prefix of path " + formatPath(query.path),
          formatPath(type->path));
      attachMismatchNotes(diagnostic, *this, query, *type);
      return diagnostic;
    }
  }
  if (failed(verifyExtent(*this, "values for keys", key.extents[0], "key",
                          value.extents[0])) ||
      failed(verifyExtent(*this, "heads of values", key.extents[1], "key",
                          value.extents[1])) ||
      failed(verifyExtent(*this, "elements of a head", query.extents[2],
                          "query", key.extents[2])))
    return failure();
  int64_t heads = *query.extents[1].getConstant();
  int64_t groups = *key.extents[1].getConstant();
  if (heads != 0 && (groups == 0 || heads % groups != 0))
    return emitExpected(*this,
                        "a multiple of the " + Twine(groups) +
                            " heads of keys as heads of queries",
                        Twine(heads));
  if (getBias() &&
      failed(verifyPairs(*this, "a bias", getBias(), query.elementType)))
    return failure();
  if (getMask() && failed(verifyPairs(*this, "a mask", getMask(),
                                      IntegerType::get(getContext(), 1))))
    return failure();
  if (getSoftCap() && !(getSoftCap()->convertToDouble() > 0))
    return emitExpected(*this, "a soft_cap above 0", "another number");
  for (std::optional<uint64_t> bound : {getLeft(), getRight()})
    if (bound && static_cast<int64_t>(*bound) < 0)
      return emitExpected(*this, "window bounds of at least 0",
                          Twine(static_cast<int64_t>(*bound)));
  LogicalType expected = query;
  expected.extents[2] = value.extents[2];
  return verifyType(*this, "result", expected, getType());
}

LogicalResult TileAttentionOp::verify() {
  for (Value value :
       {getQuery(), getKey(), getValue(), getDest(), getBias(), getMask()})
    if (value && cast<MemRefType>(value.getType()).getRank() != 1)
      return emitExpected(*this, "memory of one dim", quote(value.getType()));
  for (auto [memory, access] : {std::make_pair(getBias(), getBiasAccess()),
                                std::make_pair(getMask(), getMaskAccess())})
    if (access.size() != (memory ? 3u : 0u))
      return emitExpected(*this,
                          "an offset and two strides for a bias or a mask",
                          Twine(access.size()) + " numbers");
  return success();
}
