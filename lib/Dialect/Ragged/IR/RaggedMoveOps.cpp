//===- RaggedMoveOps.cpp - Ops that move data or change structure ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

#include "nested/Dialect/Ragged/IR/SymbolBindings.h"

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

static bool isKnownNegative(ExtentAttr extent) {
  return extent::isKnownNonNegative(extent::add(extent::neg(extent), -1));
}

std::pair<ExtentAttr, ExtentAttr> SliceOp::getIndexRange() {
  ExtentAttr last = extent::add(
      getStart(), extent::mul(extent::add(getSize(), -1), getStep()));
  if (static_cast<int64_t>(getStep()) > 0)
    return {getStart(), last};
  return {last, getStart()};
}

SmallVector<SizeCheck> SliceOp::getSizeChecks() {
  ExtentAttr zero = extent::constant(getContext(), 0);
  auto [least, largest] = getIndexRange();
  return {{CheckKind::LE, zero, least},
          {CheckKind::LE, zero, getSize()},
          {CheckKind::LE, extent::add(largest, 1),
           LogicalType::of(getSource()).extents[getDim()]}};
}

SmallVector<StringAttr> SliceOp::getSizeCheckPath() {
  return LogicalType::of(getSource()).path;
}

std::string SliceOp::getSizeCheckReason() {
  return getReason().value_or("slice").str();
}

LogicalResult SliceOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  int64_t dim = getDim();
  if (failed(verifyDim(*this, "dim", dim, source.getRank())))
    return failure();
  ExtentAttr start = getStart(), size = getSize(), extent = source.extents[dim];
  if (getStep() == 0)
    return emitExpected(*this, "a step that is not 0", "0");

  // What cannot be true for any lengths; the rest is checked at run time.
  auto emitOutside = [&](const Twine &what, ExtentAttr got) {
    InFlightDiagnostic diagnostic = emitExpected(*this, what, got.str());
    attachMismatchNotes(diagnostic, *this, got, extent);
    return diagnostic;
  };
  if (getStep() == 1 && isKnownNegative(start))
    return emitOutside("a start of at least 0", start);
  if (isKnownNegative(size))
    return emitOutside("a size of at least 0", size);
  auto [least, largest] = getIndexRange();
  ExtentAttr end = extent::add(largest, 1);
  if (!least || !end)
    return emitExpected(*this, "an end that fits 64 bits",
                        start.str() + " + " + size.str());
  if (isKnownNegative(least))
    return emitOutside("a least index of at least 0", least);
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

LogicalResult PadOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  SmallVector<ExtentAttr> low = toExtents(getLow()),
                          high = toExtents(getHigh());
  if (int64_t(low.size()) != source.getRank() ||
      int64_t(high.size()) != source.getRank())
    return emitExpected(*this,
                        "low and high amounts for each of the " +
                            Twine(source.getRank()) + " dims",
                        Twine(low.size()) + " and " + Twine(high.size()));
  Type element = getScalarType(source.elementType);
  if (getValue().getType() != element)
    return emitExpected(*this, "a value of type " + quote(element),
                        quote(getValue().getType()));
  LogicalType expected = source;
  for (auto [dim, extent] : llvm::enumerate(expected.extents)) {
    for (ExtentAttr amount : {low[dim], high[dim]})
      if (isKnownNegative(amount))
        return emitExpected(*this, "amounts of at least 0 at dim " + Twine(dim),
                            amount.str());
    extent = extent::add(extent::add(low[dim], extent), high[dim]);
    if (!extent)
      return emitExpected(*this, "sizes that fit 64 bits", "larger ones");
  }
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  return verifyType(*this, "result", expected, getType());
}

SmallVector<SizeCheck> PadOp::getSizeChecks() {
  ExtentAttr zero = extent::constant(getContext(), 0);
  SmallVector<SizeCheck> checks;
  for (ArrayAttr amounts : {getLow(), getHigh()})
    for (ExtentAttr amount : toExtents(amounts))
      checks.push_back({CheckKind::LE, zero, amount});
  return checks;
}

SmallVector<StringAttr> PadOp::getSizeCheckPath() {
  return LogicalType::of(getResult()).path;
}

std::string PadOp::getSizeCheckReason() {
  return getReason().value_or("pad").str();
}

LogicalResult ConcatOp::verify() {
  LogicalType result = LogicalType::of(getResult());
  if (failed(verifyDim(*this, "dim", getDim(), result.getRank())))
    return failure();
  if (getInputs().empty())
    return emitExpected(*this, "at least one input", "none");
  ExtentAttr sum = extent::constant(getContext(), 0);
  LogicalType expected = result;
  for (auto [i, value] : llvm::enumerate(getInputs())) {
    LogicalType input = LogicalType::of(value);
    if (!isPathPrefix(input.path, result.path)) {
      InFlightDiagnostic diagnostic =
          emitExpected(*this,
                       "input " + Twine(i) + " over a prefix of path " +
                           formatPath(result.path),
                       quote(value.getType()));
      attachBindingNotes(diagnostic, *this, input.path);
      return diagnostic;
    }
    // R1: but along `dim`, an input has the extents of the result.
    LogicalType same = result;
    same.path = input.path;
    if (input.getRank() == result.getRank())
      same.extents[getDim()] = input.extents[getDim()];
    if (failed(verifyType(*this, "input " + std::to_string(i), same,
                          value.getType())))
      return failure();
    sum = extent::add(sum, input.extents[getDim()]);
    if (!sum)
      return emitExpected(*this, "sizes that fit 64 bits", "larger ones");
  }
  expected.extents[getDim()] = sum;
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

//===----------------------------------------------------------------------===//
// Indexed loads
//===----------------------------------------------------------------------===//

/// Integer indices over the source's path, or one that it is a prefix of.
static LogicalResult verifyIndices(Operation *op, const LogicalType &source,
                                   const LogicalType &indices, int64_t dim) {
  if (failed(verifyDim(op, "dim", dim, source.getRank())))
    return failure();
  if (!isa<IntegerType>(indices.elementType) ||
      indices.elementType.isInteger(1))
    return emitExpected(op, "integer indices", quote(indices.elementType));
  if (joinPaths(source.path, indices.path))
    return success();
  InFlightDiagnostic diagnostic =
      emitExpected(op,
                   "indices over path " + formatPath(source.path) +
                       ", a prefix of it or a longer one",
                   formatPath(indices.path));
  attachBindingNotes(diagnostic, op, indices.path);
  return diagnostic;
}

LogicalResult TakeOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              indices = LogicalType::of(getIndices());
  int64_t dim = getDim();
  if (failed(verifyIndices(*this, source, indices, dim)))
    return failure();
  SmallVector<ExtentAttr> extents(source.extents.begin(),
                                  source.extents.begin() + dim);
  llvm::append_range(extents, indices.extents);
  llvm::append_range(extents, ArrayRef(source.extents).drop_front(dim + 1));
  return verifyType(*this, "result",
                    LogicalType(*joinPaths(source.path, indices.path), extents,
                                source.elementType),
                    getType());
}

Value TakeOp::getLoadedSource() { return getSource(); }
Value TakeOp::getLoadedIndices() { return getIndices(); }
int64_t TakeOp::getIndexedDim() { return getDim(); }

AffineMap TakeOp::getSourceMap() {
  Builder b(getContext());
  int64_t rank = LogicalType::of(getResult()).getRank(),
          sourceRank = LogicalType::of(getSource()).getRank(), dim = getDim();
  SmallVector<AffineExpr> exprs;
  for (int64_t k = 0; k < sourceRank; ++k)
    exprs.push_back(
        k == dim ? b.getAffineConstantExpr(0)
                 : b.getAffineDimExpr(k < dim ? k : rank - (sourceRank - k)));
  return AffineMap::get(rank, 0, exprs, getContext());
}

AffineMap TakeOp::getIndexMap() {
  int64_t rank = LogicalType::of(getResult()).getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t k = 0, e = LogicalType::of(getIndices()).getRank(); k < e; ++k)
    exprs.push_back(getAffineDimExpr(getDim() + k, getContext()));
  return AffineMap::get(rank, 0, exprs, getContext());
}

LogicalResult TakeAlongOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              indices = LogicalType::of(getIndices());
  if (failed(verifyIndices(*this, source, indices, getDim())))
    return failure();
  // R1: but along `dim`, the indices have the extents of the source.
  LogicalType expected = source;
  if (indices.getRank() == source.getRank())
    expected.extents[getDim()] = indices.extents[getDim()];
  expected.path = indices.path;
  expected.elementType = indices.elementType;
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  if (failed(verifyType(*this, "indices", expected, getIndices().getType())))
    return failure();
  expected.path = *joinPaths(source.path, indices.path);
  expected.elementType = source.elementType;
  return verifyType(*this, "result", expected, getType());
}

Value TakeAlongOp::getLoadedSource() { return getSource(); }
Value TakeAlongOp::getLoadedIndices() { return getIndices(); }
int64_t TakeAlongOp::getIndexedDim() { return getDim(); }

AffineMap TakeAlongOp::getSourceMap() {
  Builder b(getContext());
  SmallVector<AffineExpr> exprs;
  int64_t rank = LogicalType::of(getSource()).getRank();
  for (int64_t k = 0; k < rank; ++k)
    exprs.push_back(k == static_cast<int64_t>(getDim())
                        ? b.getAffineConstantExpr(0)
                        : b.getAffineDimExpr(k));
  return AffineMap::get(rank, 0, exprs, getContext());
}

AffineMap TakeAlongOp::getIndexMap() {
  return AffineMap::getMultiDimIdentityMap(
      LogicalType::of(getIndices()).getRank(), getContext());
}

//===----------------------------------------------------------------------===//
// Other dims, other samples
//===----------------------------------------------------------------------===//

/// Elements of a sample, as an extent; null if it does not fit 64 bits.
static ExtentAttr countElements(const LogicalType &type) {
  return extent::product(type.getContext(), type.extents);
}

LogicalResult ReshapeOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              result = LogicalType::of(getResult());
  for (auto [what, type] :
       {std::pair("source", &source), std::pair("result", &result)})
    for (auto [position, dim] : llvm::enumerate(type->order))
      if (dim != int64_t(position))
        return emitExpected(*this,
                            "a " + Twine(what) +
                                " that is stored in the order of its dims",
                            quote(*type));
  if (source.path != result.path || source.elementType != result.elementType) {
    LogicalType expected = source;
    expected.extents = result.extents;
    expected.order = result.order;
    return verifyType(*this, "result", expected, getType());
  }
  ExtentAttr from = countElements(source), to = countElements(result);
  if (!from || !to)
    return emitExpected(*this, "sizes that fit 64 bits", "larger ones");
  if (!extent::isKnownDifferent(from, to))
    return success();
  InFlightDiagnostic diagnostic =
      emitExpected(*this, "a result of " + from.str() + " elements",
                   to.str() + " in " + quote(getType()));
  attachMismatchNotes(diagnostic, *this, from, to);
  return diagnostic;
}

SmallVector<SizeCheck> ReshapeOp::getSizeChecks() {
  return {{CheckKind::EQ, countElements(LogicalType::of(getResult())),
           countElements(LogicalType::of(getSource()))}};
}

SmallVector<StringAttr> ReshapeOp::getSizeCheckPath() {
  return LogicalType::of(getSource()).path;
}

std::string ReshapeOp::getSizeCheckReason() {
  return getReason().value_or("reshape").str();
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
  SmallVector<int64_t> ragged = source.getRaggedDims();
  if (source.getRank() == 0 || source.order[0] != 0 ||
      (!ragged.empty() && ragged != SmallVector<int64_t>{0}))
    return emitExpected(*this,
                        "a source whose dim 0 is stored first and the only one "
                        "that may be ragged",
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

/// Whether every symbol of the extents has one length for all members of the
/// path's last component.
static bool areSameInMembers(Operation *op, const LogicalType &type) {
  if (type.getRaggedDims().empty())
    return true;
  auto func = op->getParentOfType<FunctionOpInterface>();
  if (!func)
    return false;
  SymbolBindings bindings(func);
  return llvm::all_of(type.extents, [&](ExtentAttr extent) {
    return llvm::all_of(getSymbols(extent), [&](StringAttr name) {
      const SymbolBinding *binding = bindings.lookup(name);
      return binding && binding->path.size() < type.path.size();
    });
  });
}

/// The type whose dim 0 are the members of the last component of the path of
/// `members`, which is the `what` of the op.
static FailureOr<LogicalType> getUnnested(Operation *op, StringRef what,
                                          const LogicalType &members) {
  if (members.path.size() < 2)
    return emitExpected(op,
                        "a " + what + " over a path of at least two components",
                        formatPath(members.path));
  LogicalType unnested = members;
  unnested.path.pop_back();
  if (areSameInMembers(op, members)) {
    unnested.extents.insert(unnested.extents.begin(),
                            extent::symbol(members.path.back()));
    unnested.order = {0};
    for (int64_t dim : members.order)
      unnested.order.push_back(dim + 1);
    return unnested;
  }
  // Groups that were made of an axis are that axis again.
  NestOp nest;
  auto func = op->getParentOfType<FunctionOpInterface>();
  if (members.getRank() && members.extents[0].isSymbol() && func) {
    SymbolBindings bindings(func);
    if (const SymbolBinding *binding =
            bindings.lookup(members.extents[0].getName()))
      nest = binding->value.getDefiningOp<NestOp>();
  }
  if (!nest || LogicalType::of(nest.getResult()).path != members.path)
    return emitExpected(op,
                        "a " + what + " whose extents are the same for every " +
                            members.path.back().str() +
                            ", or one whose dim 0 is the symbol of a nest",
                        formatExtents(members.extents));
  if (members.order[0] != 0)
    return emitExpected(
        op, "a " + what + " whose dim 0, of groups, is stored first",
        quote(members));
  unnested.extents[0] = LogicalType::of(nest.getSource()).extents[0];
  return unnested;
}

LogicalResult UnnestOp::verify() {
  FailureOr<LogicalType> expected =
      getUnnested(*this, "source", LogicalType::of(getSource()));
  return failed(expected) ? failure()
                          : verifyType(*this, "result", *expected, getType(),
                                       /*sameOrder=*/true);
}

LogicalResult RenestOp::verify() {
  FailureOr<LogicalType> expected =
      getUnnested(*this, "result", LogicalType::of(getResult()));
  return failed(expected)
             ? failure()
             : verifyType(*this, "source", *expected, getSource().getType(),
                          /*sameOrder=*/true);
}
