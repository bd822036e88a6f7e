//===- RaggedGenericOp.cpp - ragged.generic and ragged.index --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/IR/AffineMap.h"
#include "nested/Dialect/Ragged/IR/GenericRegion.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

SmallVector<ExtentAttr> GenericOp::getDims() { return toExtents(getExtents()); }

SmallVector<StringAttr> GenericOp::getPathNames() { return toPath(getPath()); }

bool GenericOp::isReduction(unsigned dim) {
  return cast<StringAttr>(getIterators()[dim]).getValue() == "reduction";
}

AffineMap GenericOp::getInputMap(unsigned i) {
  return cast<AffineMapAttr>(getMaps()[i]).getValue();
}

AffineMap GenericOp::getOutputMap(unsigned i) {
  return cast<AffineMapAttr>(getMaps()[getInputs().size() + i]).getValue();
}

SmallVector<ExtentAttr> GenericOp::getInputOffsets(unsigned i) {
  if (!getOffsets())
    return {};
  return toExtents(cast<ArrayAttr>((*getOffsets())[i]));
}

TypedAttr GenericOp::getInputOutside(unsigned i) {
  if (!getOutside())
    return {};
  return dyn_cast<TypedAttr>((*getOutside())[i]);
}

bool nested::ragged::readsAccumulator(GenericOp op, Value value,
                                      std::optional<unsigned> except) {
  unsigned first = op.getInputs().size();
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    auto argument = dyn_cast<BlockArgument>(next);
    if (argument && argument.getArgNumber() >= first &&
        (!except || argument.getArgNumber() != first + *except))
      return true;
    if (Operation *producer = next.getDefiningOp();
        producer && producer->getParentOp() == op)
      llvm::append_range(work, producer->getOperands());
  }
  return false;
}

Operation *nested::ragged::matchCombiner(GenericOp op, unsigned i,
                                         Value &element) {
  Block &body = op.getBody().front();
  Value acc = body.getArgument(op.getInputs().size() + i);
  Operation *combiner = body.getTerminator()->getOperand(i).getDefiningOp();
  if (!combiner || combiner->getBlock() != &body ||
      combiner->getNumOperands() != 2 || !acc.hasOneUse())
    return nullptr;
  if (combiner->getOperand(0) == acc)
    element = combiner->getOperand(1);
  else if (combiner->getOperand(1) == acc)
    element = combiner->getOperand(0);
  else
    return nullptr;
  return readsAccumulator(op, element) ? nullptr : combiner;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Lists of the right lengths and of the right kinds of attributes.
static LogicalResult verifyLists(GenericOp op) {
  size_t rank = op.getExtents().size();
  if (op.getIterators().size() != rank)
    return emitExpected(op,
                        "an iterator for each of the " + Twine(rank) + " dims",
                        Twine(op.getIterators().size()));
  for (Attribute iterator : op.getIterators()) {
    StringRef kind = cast<StringAttr>(iterator).getValue();
    if (kind != "parallel" && kind != "reduction")
      return emitExpected(op, "iterator 'parallel' or 'reduction'",
                          "'" + kind + "'");
  }
  size_t operands = op.getInputs().size() + op.getInits().size();
  if (op.getMaps().size() != operands)
    return emitExpected(
        op, "a map for each of the " + Twine(operands) + " operands",
        Twine(op.getMaps().size()));
  if (op.getResults().size() != op.getInits().size())
    return emitExpected(op,
                        "a result for each of the " +
                            Twine(op.getInits().size()) + " outputs",
                        Twine(op.getResults().size()));
  if (op.getInits().empty())
    return emitExpected(op, "at least one output", "none");
  for (auto [position, pair] :
       llvm::enumerate(llvm::zip(op.getMaps(), op.getOperands()))) {
    AffineMap map = cast<AffineMapAttr>(std::get<0>(pair)).getValue();
    int64_t operandRank = LogicalType::of(std::get<1>(pair)).getRank();
    if (map.getNumDims() != rank || map.getNumSymbols() != 0 ||
        int64_t(map.getNumResults()) != operandRank)
      return emitExpected(op,
                          "map " + Twine(position) + " from " + Twine(rank) +
                              " dims to " + Twine(operandRank),
                          "one from " + Twine(map.getNumDims()) + " dims and " +
                              Twine(map.getNumSymbols()) + " symbols to " +
                              Twine(map.getNumResults()));
  }
  if (!op.getOffsets())
    return success();
  if (op.getOffsets()->size() != op.getInputs().size())
    return emitExpected(op,
                        "a list of offsets for each of the " +
                            Twine(op.getInputs().size()) + " inputs",
                        Twine(op.getOffsets()->size()));
  for (auto [list, input] : llvm::zip(*op.getOffsets(), op.getInputs())) {
    auto array = dyn_cast<ArrayAttr>(list);
    if (!array || !llvm::all_of(array, llvm::IsaPred<ExtentAttr>))
      return emitExpected(op, "offsets that are lists of extents",
                          "another attribute");
    size_t inputRank = LogicalType::of(input).getRank();
    if (!array.empty() && array.size() != inputRank)
      return emitExpected(op, "no offsets or " + Twine(inputRank),
                          Twine(array.size()));
  }
  return success();
}

/// One entry per input: unit, or an element of the input.
static LogicalResult verifyOutside(GenericOp op) {
  if (!op.getOutside())
    return success();
  if (op.getOutside()->size() != op.getInputs().size())
    return emitExpected(op,
                        "an outside value or unit for each of the " +
                            Twine(op.getInputs().size()) + " inputs",
                        Twine(op.getOutside()->size()));
  for (auto [i, value] : llvm::enumerate(*op.getOutside())) {
    Type element =
        getScalarType(LogicalType::of(op.getInputs()[i]).elementType);
    auto typed = dyn_cast<TypedAttr>(value);
    if (isa<UnitAttr>(value) || (typed && typed.getType() == element))
      continue;
    return emitExpected(
        op, "outside value " + Twine(i) + " of type " + quote(element),
        typed ? quote(typed.getType()) : "another attribute");
  }
  return success();
}

static LogicalResult verifyInput(GenericOp op, unsigned position,
                                 ArrayRef<ExtentAttr> dims) {
  Value value = op.getInputs()[position];
  LogicalType input = LogicalType::of(value);
  // R1: an input over a prefix of the path repeats.
  SmallVector<StringAttr> path = op.getPathNames();
  if (!isPathPrefix(input.path, path)) {
    InFlightDiagnostic diagnostic =
        emitExpected(op,
                     "input " + Twine(position) + " over a prefix of path " +
                         formatPath(path),
                     quote(value.getType()));
    attachBindingNotes(diagnostic, op, input.path);
    return diagnostic;
  }
  if (op.getInputOutside(position))
    return success();
  SmallVector<ExtentAttr> offsets = op.getInputOffsets(position);
  for (auto [dim, expr] :
       llvm::enumerate(op.getInputMap(position).getResults())) {
    // Sums of dims (windows) are checked by the op that was generalised.
    ExtentAttr bound;
    if (auto iteration = dyn_cast<AffineDimExpr>(expr))
      bound = dims[iteration.getPosition()];
    else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      bound = extent::constant(op.getContext(), constant.getValue() + 1);
    else
      continue;
    if (!offsets.empty())
      bound = extent::add(bound, offsets[dim]);
    bool isChecked = !offsets.empty() || isa<AffineConstantExpr>(expr);
    // R1: what is iterated over is what the operand has.
    if (isAccessAllowed(bound, input.extents[dim], isChecked))
      continue;
    InFlightDiagnostic diagnostic = emitExpected(
        op,
        "input " + Twine(position) + " to have extent " + bound.str() +
            " at dim " + Twine(dim),
        input.extents[dim].str() + " in " + quote(value.getType()));
    attachMismatchNotes(diagnostic, op, bound, input.extents[dim]);
    return diagnostic;
  }
  return success();
}

static LogicalResult verifyOutput(GenericOp op, unsigned position,
                                  ArrayRef<ExtentAttr> dims) {
  Type type = op.getInits()[position].getType();
  // No two points write one place, and every place is written.
  AffineMap map = op.getOutputMap(position);
  unsigned parallel = 0;
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    parallel += !op.isReduction(dim);
  bool isValid =
      map.isProjectedPermutation() && map.getNumResults() == parallel;
  for (AffineExpr expr : map.getResults())
    isValid &= isa<AffineDimExpr>(expr) &&
               !op.isReduction(cast<AffineDimExpr>(expr).getPosition());
  if (!isValid) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << map;
    return emitExpected(op,
                        "map of output " + Twine(position) +
                            " to be a permutation of the parallel dims",
                        text);
  }

  LogicalType expected;
  expected.path = op.getPathNames();
  if (op.getBatchReduced())
    expected.path.pop_back();
  for (AffineExpr expr : map.getResults())
    expected.extents.push_back(dims[cast<AffineDimExpr>(expr).getPosition()]);
  expected.elementType = LogicalType::of(type).elementType;
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  // R1: an output has the extents of the dims that it is indexed by.
  if (failed(verifyType(op, "output", expected, type)))
    return failure();
  Type result = op.getResults()[position].getType();
  if (result != type)
    return emitExpected(
        op, "result of type " + quote(type) + ", that of its output",
        quote(result));
  return success();
}

LogicalResult GenericOp::verify() {
  SmallVector<ExtentAttr> dims = getDims();
  if (failed(verifyLists(*this)) || failed(verifyOutside(*this)))
    return failure();
  if (getBatchReduced() && getPath().empty())
    return emitExpected(*this, "a path to reduce the batch of", "[]");
  SmallVector<Type> arguments, results;
  for (unsigned i = 0; i < getInputs().size(); ++i) {
    if (failed(verifyInput(*this, i, dims)))
      return failure();
    arguments.push_back(
        getScalarType(LogicalType::of(getInputs()[i]).elementType));
  }
  for (unsigned i = 0; i < getInits().size(); ++i) {
    if (failed(verifyOutput(*this, i, dims)))
      return failure();
    results.push_back(
        getScalarType(LogicalType::of(getInits()[i]).elementType));
  }
  llvm::append_range(arguments, results);
  if (failed(verifyArguments(*this, "a region", getBody().front(), arguments)))
    return failure();
  return verifyYield(*this, "the region", getBody().front(), results);
}

LogicalResult IndexOp::verify() {
  auto generic = (*this)->getParentOfType<GenericOp>();
  if (!generic)
    return emitExpected(*this, "to be inside ragged.generic", "another parent");
  return verifyDim(*this, "dim", getDim(), generic.getExtents().size());
}
