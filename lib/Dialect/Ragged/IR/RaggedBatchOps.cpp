//===- RaggedBatchOps.cpp - Other samples, and sizes from numbers ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// BatchMove
//===----------------------------------------------------------------------===//

std::optional<BatchMove> BatchMove::get(Operation *op) {
  BatchMove move;
  OperandRange sources(nullptr, 0);
  if (auto select = dyn_cast<SelectBatchOp>(op)) {
    move.selector = select.getSelector();
    sources = select.getSources();
    move.from = toExtents(select.getFrom());
    move.to = toExtents(select.getTo());
    auto ragged = dyn_cast<RaggedTensorType>(move.selector.getType());
    move.kind = !ragged                                ? Kind::List
                : ragged.getElementType().isInteger(1) ? Kind::Mask
                                                       : Kind::Indices;
  } else if (auto repeat = dyn_cast<RepeatBatchOp>(op)) {
    move.selector = repeat.getCounts();
    sources = repeat.getSources();
    move.from = toExtents(repeat.getFrom());
    move.to = toExtents(repeat.getTo());
    move.atMost = repeat.getAtMost();
    move.kind = Kind::Counts;
  } else {
    return std::nullopt;
  }
  if (sources.empty() || op->getNumResults() == 0)
    return std::nullopt;
  move.sources = sources;
  move.results = op->getResults();
  move.sourcePath = LogicalType::of(sources[0]).path;
  move.resultPath = LogicalType::of(op->getResult(0)).path;
  return move;
}

BatchMove BatchMove::of(Operation *op) { return *get(op); }

ExtentAttr BatchMove::getUpperBound() const {
  MLIRContext *context = selector.getContext();
  if (kind == Kind::List)
    return extent::constant(
        context,
        LogicalType::of(selector).extents[0].getConstant().value_or(0));
  return extent::mul(extent::constant(context, atMost), getSourceMembers());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// `from` and `to` are lists of symbols, one for one; those of `to` are new.
static LogicalResult verifyRenames(Operation *op, const BatchMove &move) {
  if (move.from.size() != move.to.size())
    return emitExpected(op, "as many symbols behind 'to' as before it",
                        formatExtents(move.from) + " and " +
                            formatExtents(move.to));
  llvm::SmallSetVector<StringAttr, 4> known;
  for (Value source : move.sources)
    for (ExtentAttr extent : LogicalType::of(source).extents)
      extent.getSymbols(known);
  known.insert_range(move.sourcePath);
  for (ArrayRef<ExtentAttr> list : {ArrayRef(move.from), ArrayRef(move.to)})
    for (auto [i, extent] : llvm::enumerate(list))
      if (!extent.isSymbol() || llvm::is_contained(list.take_front(i), extent))
        return emitExpected(op, "distinct symbols", formatExtents(list));
  for (ExtentAttr extent : move.to)
    if (known.contains(extent.getName()))
      return emitExpected(op, "a fresh symbol",
                          "'" + extent.str() + "', a symbol of the sources");
  return success();
}

static LogicalResult verifySelector(Operation *op, const BatchMove &move) {
  LogicalType selector = LogicalType::of(move.selector);
  switch (move.kind) {
  case BatchMove::Kind::List:
    if (selector.getRank() != 1)
      return emitExpected(op, "a list of indices",
                          quote(move.selector.getType()));
    if (move.sourcePath.size() != 1)
      return emitExpected(
          op, "sources over a path of one component with a list of indices",
          formatPath(move.sourcePath));
    return success();
  case BatchMove::Kind::Mask:
    // R1: one boolean for each member.
    return verifyType(
        op, "selector",
        LogicalType(move.sourcePath, {}, IntegerType::get(op->getContext(), 1)),
        move.selector.getType());
  case BatchMove::Kind::Counts:
    return verifyType(op, "counts",
                      LogicalType(move.sourcePath, {},
                                  IntegerType::get(op->getContext(), 64)),
                      move.selector.getType());
  case BatchMove::Kind::Indices:
    if (selector.path.size() != move.sourcePath.size() ||
        ArrayRef(selector.path).drop_back() != move.getParentPath())
      return emitExpected(op,
                          "indices over a path like " +
                              formatPath(move.sourcePath) +
                              " in all but the last component",
                          formatPath(selector.path));
    return verifyType(
        op, "selector",
        LogicalType(selector.path, {}, IntegerType::get(op->getContext(), 64)),
        move.selector.getType());
  }
  llvm_unreachable("covered switch");
}

static LogicalResult verifyResultPath(Operation *op, const BatchMove &move) {
  if (!move.bindsBatch()) {
    LogicalType selector = LogicalType::of(move.selector);
    if (move.resultPath == selector.path)
      return success();
    return emitExpected(op,
                        "results over the path of the indices, " +
                            formatPath(selector.path),
                        formatPath(move.resultPath));
  }
  if (move.resultPath.size() == move.sourcePath.size() &&
      ArrayRef(move.resultPath).drop_back() == move.getParentPath() &&
      !llvm::is_contained(move.sourcePath, move.resultPath.back()) &&
      !llvm::is_contained(move.to, move.getResultMembers()))
    return success();
  return emitExpected(op,
                      "results over the path " + formatPath(move.sourcePath) +
                          " with a fresh symbol as its last component",
                      formatPath(move.resultPath));
}

static LogicalResult verifyBatchMove(Operation *op) {
  std::optional<BatchMove> move = BatchMove::get(op);
  if (!move || move->sources.size() != move->results.size())
    return emitExpected(op, "sources, and a result for each",
                        Twine(op->getNumOperands() - 1) + " and " +
                            Twine(op->getNumResults()));
  // R1: all sources have the same members.
  for (Value source : move->sources)
    if (LogicalType type = LogicalType::of(source);
        type.path != move->sourcePath) {
      InFlightDiagnostic diagnostic = emitExpected(
          op, "sources over one path",
          formatPath(move->sourcePath) + " and " + formatPath(type.path));
      attachMismatchNotes(diagnostic, op, LogicalType::of(move->sources[0]),
                          type);
      return diagnostic;
    }
  if (failed(verifyRenames(op, *move)) || failed(verifySelector(op, *move)) ||
      failed(verifyResultPath(op, *move)))
    return failure();
  NamedAttrList names;
  for (auto [from, to] : llvm::zip_equal(move->from, move->to))
    names.set(from.getName(), to);
  names.set(move->sourcePath.back(), move->getResultMembers());
  DictionaryAttr substitution = names.getDictionary(op->getContext());
  for (auto [i, pair] :
       llvm::enumerate(llvm::zip_equal(move->sources, move->results))) {
    auto [source, result] = pair;
    Type expected = substituteSymbols(source.getType(), substitution);
    if (!expected ||
        failed(verifyType(op, ("result " + Twine(i)).str(),
                          LogicalType::of(expected), result.getType(),
                          /*sameOrder=*/true)))
      return failure();
  }
  return success();
}

LogicalResult SelectBatchOp::verify() { return verifyBatchMove(*this); }

LogicalResult RepeatBatchOp::verify() {
  if (static_cast<int64_t>(getAtMost()) < 0)
    return emitExpected(*this, "a bound that is not negative",
                        Twine(static_cast<int64_t>(getAtMost())));
  return verifyBatchMove(*this);
}

LogicalResult BindSizeOp::verify() {
  LogicalType size = LogicalType::of(getSize());
  if (failed(verifyType(
          *this, "size",
          LogicalType(size.path, {}, IntegerType::get(getContext(), 64)),
          getSize().getType())))
    return failure();
  PartitionType type = getType();
  if (type.getExtents().size() != 1 || !type.getExtents()[0].isSymbol() ||
      getSymbols(getAtMost()).contains(type.getExtents()[0].getName()))
    return emitExpected(*this, "one extent, a fresh symbol",
                        formatExtents(type.getExtents()));
  if (!size.isDense() && size.path != SmallVector<StringAttr>(type.getPath()))
    return emitExpected(*this, "a result over path " + formatPath(size.path),
                        formatPath(type.getPath()));
  return success();
}

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedBatchOps.cpp.inc"
