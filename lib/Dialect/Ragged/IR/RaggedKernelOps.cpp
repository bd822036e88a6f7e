//===- RaggedKernelOps.cpp - Ops of the kernels phase ---------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

/// The extents of all dims in packed order.
static SmallVector<ExtentAttr> getPackedExtents(const LogicalType &type) {
  return llvm::map_to_vector(type.order,
                             [&](int64_t dim) { return type.extents[dim]; });
}

LogicalResult KernelOp::verify() {
  int64_t rank = getSpace().size();
  if (int64_t(getTile()) <= 0)
    return emitExpected(*this, "a tile of at least 1 row",
                        Twine(int64_t(getTile())));
  if (int64_t(getGroups()) < 0 || int64_t(getGroups()) > rank)
    return emitExpected(
        *this, "groups of at most the " + Twine(rank) + " extents of the space",
        Twine(int64_t(getGroups())));
  if ((getUnits() == UnitKind::Chunks) != (int64_t(getChunk()) > 0))
    return emitExpected(*this,
                        "a chunk of rows for units of kind 'chunks' only",
                        "chunk " + Twine(int64_t(getChunk())) + " for kind '" +
                            stringifyUnitKind(getUnits()) + "'");
  // R1: an input over a prefix of the path is read at the parent sample.
  SmallVector<StringAttr> path = toPath(getPath());
  SmallVector<Type> arguments = {TileType::get(getContext())};
  for (Value input : getInputs()) {
    SmallVector<StringAttr> inputPath = LogicalType::of(input).path;
    if (!isPathPrefix(inputPath, path))
      return emitExpected(*this,
                          "an input over a prefix of path " + formatPath(path),
                          quote(input.getType()));
    // The program computes on dense inputs as they are: without signs.
    Type type = input.getType();
    if (auto dense = dyn_cast<RankedTensorType>(type))
      type = dense.clone(getScalarType(dense.getElementType()));
    arguments.push_back(type);
  }
  return verifyArguments(*this, "a region", getBody().front(), arguments);
}

//===----------------------------------------------------------------------===//
// Access to tiles
//===----------------------------------------------------------------------===//

/// Bytes of one row of a tile.
static int64_t getRowBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getRank() == 0)
    return 0;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape().drop_front())
    elements *= size;
  return elements *
         llvm::divideCeil(tensor.getElementType().getIntOrFloatBitWidth(), 8);
}

int64_t TileReadOp::getBytesPerRow() { return getRowBytes(getType()); }
int64_t TileLookupOp::getBytesPerRow() { return getRowBytes(getType()); }
// Computed from tables that are small beside the rows.
int64_t TileCoordOp::getBytesPerRow() { return 0; }
int64_t TileExtentOp::getBytesPerRow() { return 0; }
// What is folded stays in registers until the end of a unit.
int64_t TileReduceOp::getBytesPerRow() { return 0; }

LogicalResult TileReadOp::verify() {
  LogicalType source = LogicalType::of(getSource());
  auto result = cast<RankedTensorType>(getType());
  AffineMap map = getMap();
  int64_t rowDims = map.getNumResults();
  if (map.getNumSymbols() != 0)
    return emitExpected(*this, "a map without symbols",
                        Twine(map.getNumSymbols()));
  if (rowDims < int64_t(source.getRaggedDims().size()) ||
      rowDims > source.getRank())
    return emitExpected(*this,
                        "a map to " + Twine(source.getRaggedDims().size()) +
                            " to " + Twine(source.getRank()) +
                            " row dims of the source",
                        Twine(rowDims));
  SmallVector<int64_t> rowShape;
  for (int64_t dim : ArrayRef(source.order).drop_front(rowDims))
    rowShape.push_back(*source.extents[dim].getConstant());
  // With inner offsets the result says how much of each remaining dim it takes.
  if (std::optional<ArrayRef<int64_t>> inner = getInnerOffsets()) {
    if (inner->size() != rowShape.size())
      return emitExpected(*this,
                          "an inner offset for each of the " +
                              Twine(rowShape.size()) + " remaining dims",
                          Twine(inner->size()));
    for (auto [k, offset] : llvm::enumerate(*inner)) {
      int64_t size =
          result.getRank() > int64_t(k) + 1 ? result.getDimSize(k + 1) : 0;
      bool isInside = offset >= 0 && offset + size <= rowShape[k];
      if (!isInside && !getOutside())
        return emitExpected(*this,
                            "a part of remaining dim " + Twine(k) +
                                " of size " + Twine(rowShape[k]),
                            Twine(size) + " from " + Twine(offset) + " on");
      rowShape[k] = size;
    }
  }
  if (result.getRank() == 0 ||
      result.getShape().drop_front() != ArrayRef(rowShape) ||
      result.getElementType() != getScalarType(source.elementType)) {
    SmallVector<int64_t> shape = {result.getRank() ? result.getDimSize(0) : 1};
    llvm::append_range(shape, rowShape);
    return emitExpected(*this,
                        "result of type " +
                            quote(RankedTensorType::get(
                                shape, getScalarType(source.elementType))),
                        quote(result));
  }

  if (TypedAttr outside = getOutsideAttr();
      outside && outside.getType() != getScalarType(source.elementType))
    return emitExpected(*this,
                        "an outside value of type " +
                            quote(getScalarType(source.elementType)),
                        quote(outside.getType()));
  std::optional<ArrayAttr> offsets = getOffsets();
  if (offsets && int64_t(offsets->size()) != rowDims)
    return emitExpected(*this,
                        "an offset for each of the " + Twine(rowDims) +
                            " results of the map",
                        Twine(offsets->size()));
  ArrayRef<int64_t> startDims = getStartDims().value_or(ArrayRef<int64_t>());
  if (startDims.size() != getStarts().size())
    return emitExpected(
        *this, "a dim for each of the " + Twine(getStarts().size()) + " starts",
        Twine(startDims.size()));
  if (failed(verifyDims(*this, "dims of starts", startDims, rowDims)))
    return failure();
  for (Value start : getStarts()) {
    auto type = cast<RankedTensorType>(start.getType());
    if (type.getShape() != result.getShape().take_front())
      return emitExpected(*this, "a start for each row of " + quote(result),
                          quote(type));
  }

  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitExpected(*this, "to be inside ragged.kernel", "another parent");
  SmallVector<ExtentAttr> space = toExtents(kernel.getSpace());
  if (map.getNumDims() != space.size())
    return emitExpected(
        *this, "a map from the " + Twine(space.size()) + " dims of the space",
        Twine(map.getNumDims()));
  SmallVector<ExtentAttr> packed = getPackedExtents(source);
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    // Starts are values of the run.
    if (!dim || getOutside() ||
        llvm::is_contained(startDims, int64_t(position)))
      continue;
    ExtentAttr bound = space[dim.getPosition()];
    if (offsets)
      bound = extent::add(bound, cast<ExtentAttr>((*offsets)[position]));
    // R1: what is iterated over is what the operand has.
    if (isAccessAllowed(bound, packed[position], offsets.has_value()))
      continue;
    InFlightDiagnostic diagnostic = emitExpected(
        *this, "row dim " + Twine(position) + " of extent " + bound.str(),
        packed[position].str() + " in " + quote(getSource().getType()));
    attachMismatchNotes(diagnostic, kernel, bound, packed[position]);
    return diagnostic;
  }
  return success();
}

LogicalResult TileLookupOp::verify() {
  auto table = cast<RankedTensorType>(getTable().getType());
  auto indices = cast<RankedTensorType>(getIndices().getType());
  if (table.getRank() == 0)
    return emitExpected(*this, "a table of at least one dim", "none");
  SmallVector<int64_t> shape(indices.getShape());
  llvm::append_range(shape, table.getShape().drop_front());
  auto expected =
      RankedTensorType::get(shape, getScalarType(table.getElementType()));
  if (getType() == expected)
    return success();
  return emitExpected(*this, "result of type " + quote(expected),
                      quote(getType()));
}

LogicalResult TileReduceOp::verify() {
  size_t count = getInputs().size();
  if (count == 0)
    return emitExpected(*this, "at least one input", "none");
  if (getInit().size() != count || getResults().size() != count)
    return emitExpected(
        *this,
        "an init and a result for each of the " + Twine(count) + " inputs",
        Twine(getInit().size()) + " and " + Twine(getResults().size()));
  auto first = cast<RankedTensorType>(getInputs()[0].getType());
  if (first.getRank() == 0)
    return emitExpected(*this, "inputs with a row dim", quote(first));

  SmallVector<Type> accumulators, finals;
  for (auto [input, init, result] :
       llvm::zip(getInputs(), getInit(), getResults())) {
    auto tile = cast<RankedTensorType>(input.getType());
    // Elementwise: one shape for all.
    if (tile.getShape() != first.getShape())
      return emitExpected(*this, "inputs of the shape of " + quote(first),
                          quote(tile));
    auto value = dyn_cast<TypedAttr>(init);
    if (!value || value.getType() != tile.getElementType())
      return emitExpected(*this,
                          "an init of type " + quote(tile.getElementType()),
                          value ? quote(value.getType()) : "another attribute");
    auto folded = cast<RankedTensorType>(result.getType());
    if (folded.getShape() != tile.getShape().drop_front())
      return emitExpected(*this,
                          "a result without the row dim of " + quote(tile),
                          quote(folded));
    accumulators.push_back(tile.getElementType());
    finals.push_back(folded.getElementType());
  }
  SmallVector<Type> combine(accumulators), finalize(accumulators);
  llvm::append_range(combine, accumulators);
  finalize.append(getExtents().size(), IntegerType::get(getContext(), 64));
  if (failed(verifyArguments(*this, "a combine region", getCombine().front(),
                             combine)) ||
      failed(verifyYield(*this, "the combine region", getCombine().front(),
                         accumulators)) ||
      failed(verifyArguments(*this, "a finalize region", getFinalize().front(),
                             finalize)))
    return failure();
  return verifyYield(*this, "the finalize region", getFinalize().front(),
                     finals);
}
