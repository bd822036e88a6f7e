//===- RaggedSortOps.cpp - Ops that order, search and scatter -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace nested::ragged;

LogicalResult SortOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  if (failed(verifyDim(*this, "dim", getDim(), source.getRank())) ||
      failed(verifyType(*this, "sorted elements", source, getSorted().getType(),
                        /*sameOrder=*/true)))
    return failure();
  source.elementType = IntegerType::get(getContext(), 64);
  return verifyType(*this, "indices", source, getIndices().getType(),
                    /*sameOrder=*/true);
}

LogicalResult SearchSortedOp::verify() {
  LogicalType sorted = LogicalType::of(getSorted()),
              values = LogicalType::of(getValues());
  if (sorted.getRank() != 1)
    return emitExpected(*this, "a sorted list of one dim",
                        quote(getSorted().getType()));
  if (sorted.elementType != values.elementType)
    return emitExpected(*this,
                        "values of type " + quote(sorted.elementType) +
                            ", as in the sorted list",
                        quote(values.elementType));
  // R1: one list for each sample, or one for samples that share it.
  if (!isPathPrefix(sorted.path, values.path)) {
    InFlightDiagnostic diagnostic = emitExpected(
        *this, "a sorted list over a prefix of path " + formatPath(values.path),
        quote(getSorted().getType()));
    attachMismatchNotes(diagnostic, *this, sorted, values);
    return diagnostic;
  }
  values.elementType = IntegerType::get(getContext(), 64);
  return verifyType(*this, "result", values, getType(), /*sameOrder=*/true);
}

LogicalResult ScatterOp::verify() {
  LogicalType init = LogicalType::of(getInit()),
              indices = LogicalType::of(getIndices()),
              updates = LogicalType::of(getUpdates());
  if (init.getRank() == 0 || init.order[0] != 0)
    return emitExpected(*this, "an init whose dim 0 is stored first",
                        quote(getInit().getType()));
  if (updates.getRank() == 0 || updates.order[0] != 0)
    return emitExpected(*this, "updates whose dim 0 is stored first",
                        quote(getUpdates().getType()));
  if (!indices.elementType.isInteger(64))
    return emitExpected(*this, "indices of type 'i64'",
                        quote(indices.elementType));
  // R1: an index for each row of updates, and rows like those of the init.
  LogicalType expected(updates.path, {updates.extents[0]}, indices.elementType);
  if (failed(verifyType(*this, "indices", expected, getIndices().getType())))
    return failure();
  expected = init;
  expected.extents[0] = updates.extents[0];
  // The updates of all samples may be added up in one dense result. Of other
  // kinds it would depend on the order of the samples which of them wins.
  if (init.isDense() && !updates.isDense()) {
    if (getKind() != ScatterKind::Add)
      return emitExpected(*this,
                          "kind 'add' where all samples go into one dense init",
                          "'" + stringifyScatterKind(getKind()) + "'");
    expected.path = updates.path;
  }
  if (failed(verifyType(*this, "updates", expected, getUpdates().getType())))
    return failure();
  SmallVector<int64_t> order(init.order);
  if (ArrayRef<int64_t>(updates.order) != ArrayRef<int64_t>(order))
    return emitExpected(*this, "updates stored in the order of the init",
                        quote(getUpdates().getType()));
  if (getKind() == ScatterKind::Add && init.elementType.isInteger(1))
    return emitExpected(*this, "numbers to add", quote(init.elementType));
  return verifyType(*this, "result", init, getType(), /*sameOrder=*/true);
}
