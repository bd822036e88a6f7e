//===- RaggedOps.td - all ops of the ragged dialect, by family -*- tablegen -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RAGGED_OPS
#define NESTED_RAGGED_OPS

include "nested/Dialect/Ragged/IR/RaggedStructureOps.td"
include "nested/Dialect/Ragged/IR/RaggedComputeOps.td"
include "nested/Dialect/Ragged/IR/RaggedReduceOps.td"
include "nested/Dialect/Ragged/IR/RaggedContractOps.td"
include "nested/Dialect/Ragged/IR/RaggedAttentionOps.td"
include "nested/Dialect/Ragged/IR/RaggedMoveOps.td"
include "nested/Dialect/Ragged/IR/RaggedBatchOps.td"
include "nested/Dialect/Ragged/IR/RaggedGradientOps.td"
include "nested/Dialect/Ragged/IR/RaggedScanOps.td"
include "nested/Dialect/Ragged/IR/RaggedSortOps.td"
include "nested/Dialect/Ragged/IR/RaggedKernelOps.td"
include "nested/Dialect/Ragged/IR/RaggedTileOps.td"
include "nested/Dialect/Ragged/IR/RaggedScheduleOps.td"

#endif // NESTED_RAGGED_OPS
