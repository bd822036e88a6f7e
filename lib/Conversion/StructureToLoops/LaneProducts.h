//===- LaneProducts.h - A product for each lane of vectors ------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_LANEPRODUCTS_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_LANEPRODUCTS_H

#include "MatrixBlocks.h"

#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

namespace nested::tile {

/// The products of a `ragged.tile_contract` with lanes, for as many lanes as
/// fill whole vectors; returns how many those are.
mlir::Value emitLaneProducts(mlir::OpBuilder &b, ragged::TileContractOp op,
                             const BlockShape &shape, const Sums &sums);

} // namespace nested::tile

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_LANEPRODUCTS_H
