//===- RaggedComputeOps.cpp - Ops that make, create, consume and compute --===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// Make
//===----------------------------------------------------------------------===//

LogicalResult FillOp::verify() {
  Type elementType = getScalarType(LogicalType::of(getResult()).elementType);
  if (!isa<IntegerAttr, FloatAttr>(getValue()))
    return emitExpected(*this, "a number", "another attribute");
  if (getValue().getType() != elementType)
    return emitExpected(*this, "a value of type " + quote(elementType),
                        quote(getValue().getType()));
  return success();
}

LogicalResult IotaOp::verify() {
  LogicalType result = LogicalType::of(getResult());
  if (!result.elementType.isInteger(64))
    return emitExpected(*this, "element type i64", quote(result.elementType));
  return verifyDim(*this, "dim", getDim(), result.getRank());
}

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

/// R1 and R2 for one input of an elementwise op.
static LogicalResult verifyInput(MapOp op, unsigned position,
                                 const LogicalType &result) {
  Value value = op.getInputs()[position];
  LogicalType input = LogicalType::of(value);
  std::string what = "input " + std::to_string(position);

  // R1: a path that is a prefix of the result's path repeats.
  if (!isPathPrefix(input.path, result.path)) {
    InFlightDiagnostic diagnostic = emitExpected(
        op, what + " over a prefix of path " + formatPath(result.path),
        quote(value.getType()));
    attachMismatchNotes(diagnostic, op, input, result);
    return diagnostic;
  }
  if (input.getRank() > result.getRank())
    return emitExpected(op,
                        what + " of at most rank " + Twine(result.getRank()),
                        quote(value.getType()));
  // R2: to align the ragged dims of an input of lower rank would be a guess.
  if (input.getRank() < result.getRank() && !input.getRaggedDims().empty()) {
    InFlightDiagnostic diagnostic =
        emitExpected(op,
                     what + " with a ragged dim to have rank " +
                         Twine(result.getRank()) + ", that of the result",
                     quote(value.getType()));
    diagnostic.attachNote(op.getLoc())
        << "say which dims it has with ragged.broadcast";
    return diagnostic;
  }

  // R1: the same extents; R2: or extent 1.
  int64_t first = result.getRank() - input.getRank();
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    ExtentAttr got = input.extents[dim], expected = result.extents[first + dim];
    if (got == expected || got.getConstant() == 1)
      continue;
    InFlightDiagnostic diagnostic =
        emitExpected(op,
                     what + " to have extent " + expected.str() + " at dim " +
                         Twine(dim) + ", as in " + quote(result),
                     got.str() + " in " + quote(value.getType()));
    attachMismatchNotes(diagnostic, op, expected, got);
    return diagnostic;
  }
  return success();
}

LogicalResult MapOp::verify() {
  LogicalType result = LogicalType::of(getResult());
  SmallVector<Type> elementTypes;
  for (unsigned position = 0; position < getInputs().size(); ++position) {
    if (failed(verifyInput(*this, position, result)))
      return failure();
    elementTypes.push_back(
        getScalarType(LogicalType::of(getInputs()[position]).elementType));
  }
  if (failed(
          verifyArguments(*this, "a region", getBody().front(), elementTypes)))
    return failure();
  return verifyYield(*this, "the region", getBody().front(),
                     {getScalarType(result.elementType)});
}

//===----------------------------------------------------------------------===//
// Create and consume axes
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              result = LogicalType::of(getResult());
  if (int64_t(getDims().size()) != source.getRank())
    return emitExpected(*this,
                        "a result dim for each of the " +
                            Twine(source.getRank()) + " dims of the source",
                        Twine(getDims().size()));
  if (failed(verifyDims(*this, "result dims", getDims(), result.getRank())))
    return failure();
  if (source.elementType != result.elementType)
    return emitExpected(*this, "element type " + quote(source.elementType),
                        quote(result.elementType));
  // R1: a path that is a prefix of the result's path repeats.
  if (!isPathPrefix(source.path, result.path)) {
    InFlightDiagnostic diagnostic = emitExpected(
        *this, "a source over a prefix of path " + formatPath(result.path),
        formatPath(source.path));
    attachMismatchNotes(diagnostic, *this, source, result);
    return diagnostic;
  }
  // R2: only extent 1 repeats.
  for (auto [k, dim] : llvm::enumerate(getDims())) {
    ExtentAttr got = source.extents[k], expected = result.extents[dim];
    if (got == expected || got.getConstant() == 1)
      continue;
    InFlightDiagnostic diagnostic = emitExpected(
        *this,
        "extent " + expected.str() + " or 1 at dim " + Twine(k) +
            " of the source, as at dim " + Twine(dim) + " of the result",
        got.str());
    attachMismatchNotes(diagnostic, *this, expected, got);
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  std::optional<LogicalType> weights = LogicalType::get(getWeights());
  if (!weights)
    return emitExpected(*this, "weights of static shape",
                        quote(getWeights().getType()));
  if (!source.areTrailingStatic(1))
    return emitExpected(*this,
                        "a source whose last dim is static and stored last",
                        quote(getSource().getType()));
  // R1: the contracted dims.
  if (source.extents.back() != weights->extents[0])
    return emitExpected(*this,
                        "weights with " + source.extents.back().str() +
                            " rows, the last extent of " +
                            quote(getSource().getType()),
                        weights->extents[0].str());
  if (weights->elementType != source.elementType)
    return emitExpected(*this,
                        "weights of element type " + quote(source.elementType),
                        quote(weights->elementType));
  if (getBias()) {
    LogicalType bias({}, {weights->extents[1]}, source.elementType);
    if (failed(verifyType(*this, "bias", bias, getBias().getType())))
      return failure();
  }
  LogicalType expected = source;
  expected.extents.back() = weights->extents[1];
  // R6: sums of narrow floats may be kept as they are, in f32.
  Type resultType = LogicalType::of(getResult()).elementType;
  if (isa<Float16Type, BFloat16Type>(source.elementType) && resultType.isF32())
    expected.elementType = resultType;
  return verifyType(*this, "result", expected, getType());
}
