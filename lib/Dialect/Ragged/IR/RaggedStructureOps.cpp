//===- RaggedStructureOps.cpp - Structure as values -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// partition and queries
//===----------------------------------------------------------------------===//

/// A partition is of another structure than expected.
static LogicalResult emitPartition(Operation *op, StringRef what,
                                   PartitionType expected, PartitionType got) {
  InFlightDiagnostic diagnostic =
      emitExpected(op, what + " of type " + quote(expected), quote(got));
  attachMismatchNotes(
      diagnostic, op,
      LogicalType(expected.getPath(), expected.getExtents(), {}),
      LogicalType(got.getPath(), got.getExtents(), {}));
  return diagnostic;
}

LogicalResult PartitionOp::verify() {
  PartitionType type = getType();
  bool isOfTensor = llvm::any_of(getSources().getTypes(), [](Type source) {
    return isa<RaggedTensorType>(source);
  });
  if (isOfTensor) {
    if (getSources().size() != 1)
      return emitExpected(*this, "one ragged tensor, or lengths only",
                          Twine(getSources().size()) + " sources");
    auto source = cast<RaggedTensorType>(getSources()[0].getType());
    PartitionType expected = getPartitionType(source);
    if (type == expected)
      return success();
    return emitPartition(*this, "result", expected, type);
  }

  llvm::SmallSetVector<StringAttr, 4> symbols;
  for (ExtentAttr extent : type.getExtents())
    extent.getSymbols(symbols);
  if (symbols.size() != getSources().size())
    return emitExpected(*this,
                        "lengths for each of the " + Twine(symbols.size()) +
                            " symbols of the result",
                        Twine(getSources().size()));
  if (type.getPath().size() != 1)
    return emitExpected(*this, "a path of one component with lengths",
                        formatPath(type.getPath()));
  return success();
}

LogicalResult LengthsOp::verify() {
  return verifyDim(*this, "dim", getDim(),
                   getPartition().getType().getExtents().size());
}

LogicalResult RowSplitsOp::verify() {
  return verifyDim(*this, "level", getLevel(),
                   getPartition().getType().getExtents().size());
}

/// One number per instance.
static LogicalResult verifyPerInstance(Operation *op, RaggedTensorType type) {
  LogicalType expected(type.getPath(), {},
                       IntegerType::get(op->getContext(), 64));
  return verifyType(op, "result", expected, type);
}

LogicalResult ExtentOp::verify() { return verifyPerInstance(*this, getType()); }

LogicalResult InstanceOp::verify() {
  return verifyPerInstance(*this, getType());
}

LogicalResult LocateOp::verify() {
  size_t expected = getPartition().getType().getExtents().size() + 1;
  if (getCoordinates().size() == expected)
    return success();
  return emitExpected(
      *this, Twine(expected) + " results (the sample and one per extent)",
      Twine(getCoordinates().size()));
}

LogicalResult LinearizeOp::verify() {
  size_t expected = getPartition().getType().getExtents().size() + 1;
  if (getCoordinates().size() == expected)
    return success();
  return emitExpected(
      *this, Twine(expected) + " operands (the sample and one per extent)",
      Twine(getCoordinates().size()));
}

//===----------------------------------------------------------------------===//
// Packed values
//===----------------------------------------------------------------------===//

LogicalResult ValuesOp::verify() {
  RankedTensorType expected = getSource().getType().getValuesType();
  if (getType() == expected)
    return success();
  return emitExpected(*this, "result of type " + quote(expected),
                      quote(getType()));
}

LogicalResult PackOp::verify() {
  RankedTensorType expected = getType().getValuesType();
  if (getValues().getType() != expected)
    return emitExpected(*this, "values of type " + quote(expected),
                        quote(getValues().getType()));
  PartitionType partition = getPartitionType(getType());
  if (getPartition().getType() != partition)
    return emitPartition(*this, "partition", partition,
                         getPartition().getType());
  return success();
}

LogicalResult WithLengthsOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              result = LogicalType::of(getResult());
  SmallVector<int64_t> sourceDims = source.getRaggedDims();
  SmallVector<int64_t> resultDims = result.getRaggedDims();
  if (sourceDims.size() != 1)
    return emitExpected(*this, "a source with one ragged dim",
                        Twine(sourceDims.size()));
  if (resultDims.size() != 1 || !result.extents[resultDims[0]].isSymbol())
    return emitExpected(*this, "a result whose one ragged extent is a symbol",
                        formatExtents(result.extents));
  ExtentAttr fresh = result.extents[resultDims[0]];
  if (getSymbols(source.extents[sourceDims[0]]).contains(fresh.getName()))
    return emitExpected(*this, "a fresh symbol in the result",
                        "'" + fresh.str() + "', a symbol of the source");
  LogicalType expected = source;
  expected.extents[sourceDims[0]] = fresh;
  // The batch may have another number of samples.
  expected.path = result.path;
  if (result.path.size() != 1)
    return emitExpected(*this, "a path of one component",
                        formatPath(result.path));
  return verifyType(*this, "result", expected, getType(), /*sameOrder=*/true);
}

LogicalResult CastOp::verify() {
  LogicalType source = LogicalType::of(getSource()),
              result = LogicalType::of(getResult());
  if (source.getRank() != result.getRank() ||
      source.elementType != result.elementType || source.path != result.path ||
      source.order != result.order)
    return emitExpected(*this, "types that differ in extents only",
                        quote(getSource().getType()) + " and " +
                            quote(getType()));
  for (auto [dim, pair] :
       llvm::enumerate(llvm::zip(source.extents, result.extents))) {
    auto [from, to] = pair;
    // Which dims are ragged decides how values are stored.
    if (from.isStatic() != to.isStatic())
      return emitExpected(
          *this, "ragged dims to stay ragged and static ones static",
          from.str() + " to " + to.str() + " at dim " + Twine(dim));
    if (extent::isKnownDifferent(from, to)) {
      InFlightDiagnostic diagnostic = emitExpected(
          *this, "extents that can be equal",
          from.str() + " and " + to.str() + " at dim " + Twine(dim));
      attachBindingNotes(diagnostic, *this, getSymbols(from).getArrayRef());
      return diagnostic;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// call
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee = symbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!callee)
    return emitExpected(*this, "a function named '" + getCallee() + "'",
                        "none");
  for (NamedAttribute entry : getSubstitution())
    if (!isa<ExtentAttr>(entry.getValue()))
      return emitExpected(
          *this, "an extent for symbol '" + entry.getName().getValue() + "'",
          "another attribute");

  auto check = [&](StringRef what, ArrayRef<Type> expected,
                   TypeRange actual) -> LogicalResult {
    if (expected.size() != actual.size())
      return emitExpected(*this, Twine(expected.size()) + " " + what + "s",
                          Twine(actual.size()));
    for (auto [position, pair] : llvm::enumerate(llvm::zip(expected, actual))) {
      auto [type, got] = pair;
      Type substituted = substituteSymbols(type, getSubstitution());
      if (substituted == got)
        continue;
      InFlightDiagnostic diagnostic = emitExpected(
          *this,
          what + " " + Twine(position) + " of type " +
              quote(substituted ? substituted : type) + " after substitution",
          quote(got));
      diagnostic.attachNote(callee.getLoc()) << "the callee is defined here";
      return diagnostic;
    }
    return success();
  };
  if (failed(check("operand", callee.getArgumentTypes(),
                   getOperands().getTypes())))
    return failure();
  return check("result", callee.getResultTypes(), getResultTypes());
}
