//===- RaggedProducts.h - Contractions and attention ----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of RaggedContractOps.td and RaggedAttentionOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_RAGGEDPRODUCTS_H
#define NESTED_DIALECT_RAGGED_IR_RAGGEDPRODUCTS_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged {
/// The most queries of a `ragged.tile_attention`, which keeps its results in
/// scratch memory: keys and values are copied once for all of them.
inline constexpr int64_t kMaxTileQueries = 192;
} // namespace nested::ragged

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedProductOps.h.inc"

#endif // NESTED_DIALECT_RAGGED_IR_RAGGEDPRODUCTS_H
