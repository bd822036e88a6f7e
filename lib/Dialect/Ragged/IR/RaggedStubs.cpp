//===- RaggedStubs.cpp - Verifiers that accept everything -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Ragged.h"

using namespace mlir;
using namespace nested::ragged;

LogicalResult FillOp::verify() { return success(); }
LogicalResult IotaOp::verify() { return success(); }
LogicalResult MapOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult LinearOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult NormalizeOp::verify() { return success(); }
LogicalResult GenericOp::verify() { return success(); }
LogicalResult IndexOp::verify() { return success(); }
LogicalResult KernelOp::verify() { return success(); }
LogicalResult TileReadOp::verify() { return success(); }
LogicalResult TileLookupOp::verify() { return success(); }
LogicalResult TileReduceOp::verify() { return success(); }
LogicalResult TransposeOp::verify() { return success(); }
LogicalResult SliceOp::verify() { return success(); }
LogicalResult GatherOp::verify() { return success(); }
LogicalResult MaskedSelectOp::verify() { return success(); }
LogicalResult NestOp::verify() { return success(); }
LogicalResult UnnestOp::verify() { return success(); }
LogicalResult PartitionOp::verify() { return success(); }
LogicalResult LengthsOp::verify() { return success(); }
LogicalResult RowSplitsOp::verify() { return success(); }
LogicalResult ExtentOp::verify() { return success(); }
LogicalResult LocateOp::verify() { return success(); }
LogicalResult LinearizeOp::verify() { return success(); }
LogicalResult ValuesOp::verify() { return success(); }
LogicalResult PackOp::verify() { return success(); }
LogicalResult WithLengthsOp::verify() { return success(); }
LogicalResult CastOp::verify() { return success(); }
LogicalResult TileLoadOp::verify() { return success(); }
LogicalResult TileGatherOp::verify() { return success(); }
LogicalResult TileStoreOp::verify() { return success(); }
LogicalResult TileFoldOp::verify() { return success(); }
LogicalResult KernelOp::verifyRegions() { return success(); }
int64_t TileReadOp::getBytesPerRow() { return 0; }
int64_t TileLookupOp::getBytesPerRow() { return 0; }
int64_t TileCoordOp::getBytesPerRow() { return 0; }
int64_t TileExtentOp::getBytesPerRow() { return 0; }
int64_t TileReduceOp::getBytesPerRow() { return 0; }
LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &) {
  return success();
}
llvm::SmallVector<ExtentAttr> GenericOp::getDims() { return toExtents(getExtents()); }
llvm::SmallVector<StringAttr> GenericOp::getPathNames() { return toPath(getPath()); }
bool GenericOp::isReduction(unsigned dim) {
  return cast<StringAttr>(getIterators()[dim]).getValue() == "reduction";
}
AffineMap GenericOp::getInputMap(unsigned i) {
  return cast<AffineMapAttr>(getMaps()[i]).getValue();
}
AffineMap GenericOp::getOutputMap(unsigned i) {
  return cast<AffineMapAttr>(getMaps()[getInputs().size() + i]).getValue();
}
llvm::SmallVector<ExtentAttr> GenericOp::getInputOffsets(unsigned i) {
  if (!getOffsets())
    return {};
  return toExtents(cast<ArrayAttr>((*getOffsets())[i]));
}
SymbolBindings::SymbolBindings(FunctionOpInterface) {}
const SymbolBinding *SymbolBindings::lookup(StringAttr) const { return nullptr; }
LogicalResult nested::ragged::verifySymbols(FunctionOpInterface) { return success(); }
