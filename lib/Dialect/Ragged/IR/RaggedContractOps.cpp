//===- RaggedContractOps.cpp - Contractions
//---------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Equation.h"
#include "Verification.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//

/// Where a letter was first seen.
namespace {
struct Letter {
  ExtentAttr extent;
  unsigned operand = 0;
};
} // namespace

/// The longest path; that of every operand is a prefix of it (R1).
static FailureOr<SmallVector<StringAttr>> verifyPaths(ContractOp op) {
  SmallVector<StringAttr> path;
  unsigned longest = 0;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    LogicalType type = LogicalType::of(operand);
    std::optional<SmallVector<StringAttr>> joined = joinPaths(path, type.path);
    if (!joined) {
      InFlightDiagnostic diagnostic =
          emitExpected(op,
                       "operand " + Twine(i) +
                           " over a path that begins like that of operand " +
                           Twine(longest) + ", " + formatPath(path),
                       formatPath(type.path));
      attachMismatchNotes(diagnostic, op,
                          LogicalType::of(op.getOperand(longest)), type);
      return failure();
    }
    if (joined->size() > path.size())
      longest = i;
    path = *joined;
  }
  return path;
}

LogicalResult ContractOp::verify() {
  std::string error;
  std::optional<Equation> equation = Equation::parse(getEquation(), error);
  if (!equation)
    return emitExpected(*this, error, "\"" + getEquation() + "\"");
  if (getOperands().empty() || equation->inputs.size() != getOperands().size())
    return emitExpected(*this,
                        "an operand for each of the " +
                            Twine(equation->inputs.size()) + " terms of \"" +
                            getEquation() + "\"",
                        Twine(getOperands().size()));
  LogicalType first = LogicalType::of(getOperand(0));
  llvm::SmallDenseMap<char, Letter> letters;
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    LogicalType type = LogicalType::of(operand);
    StringRef term = equation->inputs[i];
    if (type.getRank() != static_cast<int64_t>(term.size()))
      return emitExpected(*this,
                          "operand " + Twine(i) + " with the " +
                              Twine(term.size()) + " dims '" + term + "'",
                          quote(operand.getType()));
    if (type.elementType != first.elementType)
      return emitExpected(*this,
                          "operand " + Twine(i) + " of element type " +
                              quote(first.elementType) + ", that of operand 0",
                          quote(type.elementType));
    for (auto [dim, letter] : llvm::enumerate(term)) {
      ExtentAttr extent = type.extents[dim];
      auto [it, isNew] =
          letters.try_emplace(letter, Letter{extent, unsigned(i)});
      // R1: one letter, one extent.
      if (isNew || it->second.extent == extent)
        continue;
      InFlightDiagnostic diagnostic =
          emitExpected(*this,
                       "dim '" + Twine(letter) + "' to have extent " +
                           it->second.extent.str() + ", as in operand " +
                           Twine(it->second.operand),
                       extent.str() + " in operand " + Twine(i));
      attachMismatchNotes(diagnostic, *this, it->second.extent, extent);
      return diagnostic;
    }
  }

  FailureOr<SmallVector<StringAttr>> path = verifyPaths(*this);
  if (failed(path))
    return failure();
  if (getBatch()) {
    if (path->empty())
      return emitExpected(*this, "an operand of a batch to sum over", "none");
    path->pop_back();
  }
  LogicalType expected;
  expected.path = *path;
  llvm::SmallDenseSet<char> kept;
  for (char letter : equation->output) {
    auto it = letters.find(letter);
    if (it == letters.end())
      return emitExpected(*this, "dims of the result to be dims of operands",
                          "'" + Twine(letter) + "'");
    if (!kept.insert(letter).second)
      return emitExpected(*this, "different dims in the result",
                          "'" + Twine(letter) + "' twice");
    // Extents of different samples are not the same number.
    if (getBatch() && path->empty() && !it->second.extent.isStatic())
      return emitExpected(*this,
                          "every ragged dim summed over, when the batch is",
                          "dim '" + Twine(letter) + "' of extent " +
                              it->second.extent.str() + " kept");
    expected.extents.push_back(it->second.extent);
  }
  expected.elementType = first.elementType;
  expected.order = RaggedTensorType::getDefaultOrder(expected.extents);
  // R6: sums of narrow floats may be kept as they are, in f32.
  Type resultType = LogicalType::of(getResult()).elementType;
  if (isa<Float16Type, BFloat16Type>(first.elementType) && resultType.isF32())
    expected.elementType = resultType;
  return verifyType(*this, "result", expected, getType());
}

//===----------------------------------------------------------------------===//
// contract_kernel
//===----------------------------------------------------------------------===//

SmallVector<ExtentAttr> ContractKernelOp::getDims() {
  return toExtents(getExtents());
}

bool ContractKernelOp::isReduction(unsigned dim) {
  return cast<StringAttr>(getIterators()[dim]).getValue() == "reduction";
}

AffineMap ContractKernelOp::getMap(unsigned operand) {
  return cast<AffineMapAttr>(getMaps()[operand]).getValue();
}

SmallVector<ExtentAttr> ContractKernelOp::getInputOffsets(unsigned i) {
  if (!getOffsets())
    return {};
  return toExtents(cast<ArrayAttr>((*getOffsets())[i]));
}

LogicalResult ContractKernelOp::verify() {
  if (getMaps().size() != 3)
    return emitExpected(*this, "a map for each input and for the result",
                        Twine(getMaps().size()));
  if (getIterators().size() != getExtents().size())
    return emitExpected(*this,
                        "an iterator for each of the " +
                            Twine(getExtents().size()) + " dims",
                        Twine(getIterators().size()));
  Value values[] = {getLhs(), getRhs(), getResult()};
  for (auto [i, value] : llvm::enumerate(values)) {
    AffineMap map = getMap(i);
    unsigned rank = LogicalType::of(value).getRank();
    if (map.getNumDims() != getExtents().size() || map.getNumResults() != rank)
      return emitExpected(*this,
                          "map " + Twine(i) + " from " +
                              Twine(getExtents().size()) + " dims to " +
                              Twine(rank),
                          "one from " + Twine(map.getNumDims()) + " to " +
                              Twine(map.getNumResults()));
    for (AffineExpr expr : map.getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return emitExpected(*this, "maps of dims and constants",
                            "a sum in map " + Twine(i));
  }
  for (unsigned dim = 0; dim < getExtents().size(); ++dim) {
    bool isKept = getMap(2).isFunctionOfDim(dim);
    if (isKept != isReduction(dim))
      continue;
    return emitExpected(*this,
                        "the result to have the parallel dims and no other",
                        "dim " + Twine(dim));
  }
  if (getOffsets() && getOffsets()->size() != 2)
    return emitExpected(*this, "a list of offsets for each input",
                        Twine(getOffsets()->size()));
  if (getBatchReduced() && getPath().empty())
    return emitExpected(*this, "a path to reduce the batch of", "[]");
  return success();
}

//===----------------------------------------------------------------------===//
// tile_contract
//===----------------------------------------------------------------------===//

LogicalResult TileContractOp::verify() {
  Type types[3];
  for (auto [i, value] :
       llvm::enumerate(ValueRange{getLhs(), getRhs(), getDest()})) {
    auto memory = cast<MemRefType>(value.getType());
    if (memory.getRank() != 1)
      return emitExpected(*this, "memory of one dim", quote(memory));
    types[i] = memory.getElementType();
  }
  bool isFloat = isa<FloatType>(types[2]);
  for (Type type : {types[0], types[1]})
    if (type != types[2] &&
        (!isFloat || !isa<FloatType>(type) ||
         type.getIntOrFloatBitWidth() > types[2].getIntOrFloatBitWidth()))
      return emitExpected(
          *this, "elements of type " + quote(types[2]) + " or narrower floats",
          quote(type));
  if (!getTables().empty() && getTables().size() != 2)
    return emitExpected(*this, "a table for each operand or none",
                        Twine(getTables().size()));
  for (Value table : getTables()) {
    auto memory = cast<MemRefType>(table.getType());
    if (memory.getRank() != 1 || !memory.getElementType().isIndex())
      return emitExpected(*this, "tables of index", quote(memory));
  }
  if (getBoolean() && !types[2].isInteger(8))
    return emitExpected(*this, "booleans stored as i8", quote(types[2]));
  return success();
}
