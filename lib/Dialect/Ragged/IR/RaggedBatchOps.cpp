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
  auto read = [&](auto batchOp, Value selector) {
    move.selector = selector;
    sources = batchOp.getSources();
    move.from = toExtents(batchOp.getFrom());
    move.to = toExtents(batchOp.getTo());
  };
  if (auto select = dyn_cast<SelectBatchOp>(op)) {
    read(select, select.getSelector());
  } else if (auto repeat = dyn_cast<RepeatBatchOp>(op)) {
    read(repeat, repeat.getCounts());
    move.atMost = repeat.getAtMost();
  } else if (auto known = dyn_cast<MoveBatchOp>(op)) {
    read(known, known.getSelector());
    move.atMost = std::numeric_limits<int64_t>::max();
    move.binds = false;
    move.sums = known.getSum();
  } else {
    return std::nullopt;
  }
  if (sources.empty() || op->getNumResults() == 0)
    return std::nullopt;
  move.sources = sources;
  move.results = op->getResults();
  move.sourcePath = LogicalType::of(sources[0]).path;
  move.chosenPath = LogicalType::of(op->getResult(0)).path;
  if (move.sums)
    std::swap(move.sourcePath, move.chosenPath);
  auto selector = dyn_cast<RaggedTensorType>(move.selector.getType());
  bool repeats = isa<RepeatBatchOp>(op);
  if (!selector)
    move.kind = Kind::List;
  else if (!repeats && selector.getElementType().isInteger(1))
    move.kind = Kind::Mask;
  else if (repeats ||
           (!move.binds && selector.getPath() != ArrayRef(move.chosenPath)))
    move.kind = Kind::Counts;
  else
    move.kind = Kind::Indices;
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
    if (move.binds && known.contains(extent.getName()))
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

static LogicalResult verifyChosenPath(Operation *op, const BatchMove &move) {
  if (move.kind == BatchMove::Kind::Indices) {
    LogicalType selector = LogicalType::of(move.selector);
    if (move.chosenPath == selector.path)
      return success();
    return emitExpected(op,
                        "results over the path of the indices, " +
                            formatPath(selector.path),
                        formatPath(move.chosenPath));
  }
  if (move.chosenPath.size() == move.sourcePath.size() &&
      ArrayRef(move.chosenPath).drop_back() == move.getParentPath() &&
      !llvm::is_contained(move.sourcePath, move.chosenPath.back()) &&
      !llvm::is_contained(move.to, move.getChosenMembers()))
    return success();
  return emitExpected(op,
                      (move.sums ? "sources" : "results") +
                          (" over the path " + formatPath(move.sourcePath)) +
                          " with " + (move.binds ? "a fresh" : "another") +
                          " symbol as its last component",
                      formatPath(move.chosenPath));
}

static LogicalResult verifyBatchMove(Operation *op) {
  std::optional<BatchMove> move = BatchMove::get(op);
  if (!move || move->sources.size() != move->results.size())
    return emitExpected(op, "sources, and a result for each",
                        Twine(op->getNumOperands() - 1) + " and " +
                            Twine(op->getNumResults()));
  // R1: all sources have the same members.
  ArrayRef<StringAttr> path = move->sums ? move->chosenPath : move->sourcePath;
  for (Value source : move->sources)
    if (LogicalType type = LogicalType::of(source);
        ArrayRef(type.path) != path) {
      InFlightDiagnostic diagnostic =
          emitExpected(op, "sources over one path",
                       formatPath(path) + " and " + formatPath(type.path));
      attachMismatchNotes(diagnostic, op, LogicalType::of(move->sources[0]),
                          type);
      return diagnostic;
    }
  if (failed(verifyRenames(op, *move)) || failed(verifySelector(op, *move)) ||
      failed(verifyChosenPath(op, *move)))
    return failure();
  NamedAttrList names;
  auto rename = [&](ExtentAttr from, ExtentAttr to) {
    if (move->sums)
      std::swap(from, to);
    names.set(from.getName(), to);
  };
  for (auto [from, to] : llvm::zip_equal(move->from, move->to))
    rename(from, to);
  rename(move->getSourceMembers(), move->getChosenMembers());
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

LogicalResult MoveBatchOp::verify() {
  if (getSum())
    for (Value source : getSources())
      if (!isa<FloatType>(LogicalType::of(source).elementType))
        return emitExpected(*this, "sources of floats",
                            quote(source.getType()));
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

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// Gradients of the results to those of the sources, in the other direction.
/// There is none of the selector.
static SmallVector<Value> emitBatchAdjoint(Operation *op, OpBuilder &b,
                                           ArrayRef<Value> gradients,
                                           ArrayRef<bool> active) {
  BatchMove move = BatchMove::of(op);
  SmallVector<Value> given, found(op->getNumOperands());
  SmallVector<Type> types;
  SmallVector<size_t> operands;
  for (auto [i, gradient] : llvm::enumerate(gradients))
    if (gradient && active[1 + i]) {
      given.push_back(gradient);
      types.push_back(move.sources[i].getType());
      operands.push_back(1 + i);
    }
  if (given.empty())
    return found;
  auto moved = MoveBatchOp::create(b, op->getLoc(), types,
                                   /*sum=*/!move.sums, move.selector, given,
                                   makeExtentsAttr(op->getContext(), move.from),
                                   makeExtentsAttr(op->getContext(), move.to));
  for (auto [i, result] : llvm::zip_equal(operands, moved.getResults()))
    found[i] = result;
  return found;
}

FailureOr<SmallVector<Value>>
SelectBatchOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<Value>, ArrayRef<bool> active) {
  return emitBatchAdjoint(*this, builder, gradients, active);
}

FailureOr<SmallVector<Value>>
RepeatBatchOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                           ArrayRef<Value>, ArrayRef<bool> active) {
  return emitBatchAdjoint(*this, builder, gradients, active);
}

FailureOr<SmallVector<Value>>
MoveBatchOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool> active) {
  return emitBatchAdjoint(*this, builder, gradients, active);
}

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedBatchOps.cpp.inc"
