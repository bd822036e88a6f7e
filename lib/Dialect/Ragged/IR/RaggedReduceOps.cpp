//===- RaggedReduceOps.cpp - Reductions, softmax, normalisation -------------
//===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace nested::ragged;

LogicalResult ReduceOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  if (failed(verifyDims(*this, "dims", getDims(), source.getRank())))
    return failure();
  ReduceKind kind = getKind();
  std::string name = ("'" + stringifyReduceKind(kind) + "'").str();
  bool needsFloat = kind == ReduceKind::Mean || kind == ReduceKind::LogSumExp;
  if (needsFloat && !isa<FloatType>(source.elementType))
    return emitExpected(*this, "a float element type for " + name,
                        quote(source.elementType));
  bool needsTruth = kind == ReduceKind::Any || kind == ReduceKind::All;
  if (needsTruth && !source.elementType.isInteger(1))
    return emitExpected(*this, "element type 'i1' for " + name,
                        quote(source.elementType));
  bool findsIndex = kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin;
  // An index over samples of different sizes would have to count those before.
  if (findsIndex && getBatch())
    return emitExpected(*this, name + " within each sample",
                        "a reduction of the batch");
  // R5: the others have a value for nothing.
  bool hasEmpty = kind == ReduceKind::Max || kind == ReduceKind::Min;
  if (!hasEmpty && getEmpty() != EmptyPolicy::Zero)
    return emitExpected(*this, "'empty' with 'max' or 'min' only",
                        "it with " + name);

  LogicalType expected = source;
  if (findsIndex)
    expected.elementType = IntegerType::get(getContext(), 64);
  expected.extents.clear();
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    if (!llvm::is_contained(getDims(), dim))
      expected.extents.push_back(source.extents[dim]);
    else if (getKeepdims())
      expected.extents.push_back(extent::constant(getContext(), 1));
  }
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  if (getBatch()) {
    if (source.path.empty())
      return emitExpected(*this, "a batched source to reduce over the batch",
                          quote(getSource().getType()));
    expected.path.pop_back();
    // Extents of different samples are not the same number.
    for (int64_t dim : source.getRaggedDims())
      if (expected.path.empty() && !llvm::is_contained(getDims(), dim))
        return emitExpected(*this,
                            "every ragged dim among the reduced ones, when the "
                            "batch is",
                            "dim " + Twine(dim) + " of extent " +
                                source.extents[dim].str() + " kept");
  }
  return verifyType(*this, "result", expected, getType());
}

LogicalResult SoftmaxOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  if (failed(verifyDims(*this, "dims", getDims(), source.getRank())))
    return failure();
  if (getDims().empty())
    return emitExpected(*this, "at least one dim", "none");
  if (!isa<FloatType>(source.elementType))
    return emitExpected(*this, "a float element type",
                        quote(source.elementType));
  return verifyType(*this, "result", source, getType());
}

LogicalResult NormalizeOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  NormalizeKind kind = getKind();
  bool perChannel =
      kind == NormalizeKind::Group || kind == NormalizeKind::Instance;
  int64_t count = getDims();
  if (!isa<FloatType>(source.elementType))
    return emitExpected(*this, "a float element type",
                        quote(source.elementType));
  if (count < 1 || !source.areTrailingStatic(count))
    return emitExpected(
        *this, "at least one trailing dim, static and stored last",
        Twine(count) + " dims of " + quote(getSource().getType()));
  if (perChannel && count != 1)
    return emitExpected(
        *this, "one dim of channels for '" + stringifyNormalizeKind(kind) + "'",
        Twine(count));
  if (kind != NormalizeKind::Group && getGroups() != 1)
    return emitExpected(*this, "'groups' with 'group' only",
                        "it with '" + stringifyNormalizeKind(kind) + "'");
  int64_t channels = *source.extents.back().getConstant();
  if (getGroups() < 1 || channels % getGroups() != 0)
    return emitExpected(*this,
                        "a number of groups that divides the " +
                            Twine(channels) + " channels",
                        Twine(getGroups()));
  LogicalType parameter({}, ArrayRef(source.extents).take_back(count),
                        source.elementType);
  if (getScale() &&
      failed(verifyType(*this, "scale", parameter, getScale().getType())))
    return failure();
  if (getOffset() &&
      failed(verifyType(*this, "offset", parameter, getOffset().getType())))
    return failure();
  return verifyType(*this, "result", source, getType());
}
