//===- RaggedMoveOps.cpp - Ops that move data or change structure ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace nested::ragged;

LogicalResult TransposeOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  if (int64_t(getPermutation().size()) != source.getRank())
    return emitExpected(*this,
                        "a permutation of " + Twine(source.getRank()) + " dims",
                        Twine(getPermutation().size()));
  if (failed(verifyDims(*this, "dims of the permutation", getPermutation(),
                        source.getRank())))
    return failure();
  LogicalType expected = source;
  for (auto [k, dim] : llvm::enumerate(getPermutation()))
    expected.extents[k] = source.extents[dim];
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  return verifyType(*this, "result", expected, getType());
}

LogicalResult SliceOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  int64_t dim = getDim();
  if (failed(verifyDim(*this, "dim", dim, source.getRank())))
    return failure();
  ExtentAttr start = getStart(), size = getSize(), extent = source.extents[dim];

  // What cannot be true for any lengths; the rest is checked at run time.
  auto emitOutside = [&](const Twine &what, ExtentAttr got) {
    InFlightDiagnostic diagnostic = emitExpected(*this, what, got.str());
    attachMismatchNotes(diagnostic, *this, got, extent);
    return diagnostic;
  };
  auto isNegative = [](ExtentAttr e) {
    return extent::isKnownNonNegative(extent::add(extent::neg(e), -1));
  };
  if (isNegative(start))
    return emitOutside("a start of at least 0", start);
  if (isNegative(size))
    return emitOutside("a size of at least 0", size);
  ExtentAttr end = extent::add(start, size);
  if (!end)
    return emitExpected(*this, "an end that fits 64 bits",
                        start.str() + " + " + size.str());
  if (extent::isKnownLE(extent::add(extent, 1), end))
    return emitOutside("an end of at most " + extent.str(), end);

  LogicalType expected = source;
  if (getDrop()) {
    if (size.getConstant() != 1)
      return emitExpected(*this, "size 1 of a dim that is dropped", size.str());
    expected.extents.erase(expected.extents.begin() + dim);
  } else {
    expected.extents[dim] = size;
  }
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  return verifyType(*this, "result", expected, getType());
}

LogicalResult GatherOp::verify() {
  LogicalType table = LogicalType::of(getTable()),
              indices = LogicalType::of(getIndices());
  if (table.getRank() == 0)
    return emitExpected(*this, "a table of at least one dim", "none");
  if (!isa<IntegerType>(indices.elementType) ||
      indices.elementType.isInteger(1))
    return emitExpected(*this, "integer indices", quote(indices.elementType));
  SmallVector<ExtentAttr> extents(indices.extents);
  llvm::append_range(extents, ArrayRef(table.extents).drop_front());
  return verifyType(*this, "result",
                    LogicalType(indices.path, extents, table.elementType),
                    getType());
}

/// Dim 0 of the result is a symbol that no extent of the source mentions.
static LogicalResult verifyFresh(Operation *op, const LogicalType &source,
                                 const LogicalType &result) {
  if (result.getRank() == 0 || !result.extents[0].isSymbol())
    return emitExpected(op, "a fresh symbol at dim 0 of the result",
                        formatExtents(result.extents));
  for (ExtentAttr extent : source.extents)
    if (getSymbols(extent).contains(result.extents[0].getName()))
      return emitExpected(op, "a fresh symbol at dim 0 of the result",
                          "'" + result.extents[0].str() +
                              "', a symbol of the source");
  return success();
}

LogicalResult MaskedSelectOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              result = LogicalType::of(getResult());
  if (source.getRaggedDims() != SmallVector<int64_t>{0})
    return emitExpected(*this, "a source whose dim 0 is its one ragged dim",
                        formatExtents(source.extents));
  // R1: the mask says of each index of dim 0 whether it stays.
  if (failed(verifyType(*this, "mask",
                        LogicalType(source.path, {source.extents[0]},
                                    IntegerType::get(getContext(), 1)),
                        getMask().getType())) ||
      failed(verifyFresh(*this, source, result)))
    return failure();
  LogicalType expected = source;
  expected.extents[0] = result.extents[0];
  return verifyType(*this, "result", expected, getType(), /*sameOrder=*/true);
}

LogicalResult NestOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              lengths = LogicalType::of(getLengths()),
              result = LogicalType::of(getResult());
  SmallVector<int64_t> ragged = source.getRaggedDims();
  // Groups of consecutive indices are then groups of consecutive rows.
  if (ragged.empty() || ragged[0] != 0)
    return emitExpected(*this,
                        "a source whose dim 0 is ragged and stored first",
                        quote(getSource().getType()));
  if (lengths.getRank() != 1 || !lengths.extents[0].isSymbol() ||
      !lengths.elementType.isInteger(64) || lengths.path != source.path)
    return emitExpected(
        *this,
        "lengths of one dim, a symbol, of element type i64 over path " +
            formatPath(source.path),
        quote(getLengths().getType()));
  if (failed(verifyFresh(*this, source, result)))
    return failure();
  LogicalType expected = source;
  expected.extents[0] = result.extents[0];
  expected.path.push_back(lengths.extents[0].getName());
  return verifyType(*this, "result", expected, getType(), /*sameOrder=*/true);
}

LogicalResult UnnestOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  if (source.path.size() < 2)
    return emitExpected(*this, "a path of at least two components",
                        formatPath(source.path));
  if (!source.getRaggedDims().empty())
    return emitExpected(*this, "a source without ragged dims",
                        formatExtents(source.extents));
  LogicalType expected = source;
  expected.extents.insert(expected.extents.begin(),
                          extent::symbol(source.path.back()));
  expected.path.pop_back();
  expected.order = {0};
  for (int64_t dim : source.order)
    expected.order.push_back(dim + 1);
  return verifyType(*this, "result", expected, getType(), /*sameOrder=*/true);
}
