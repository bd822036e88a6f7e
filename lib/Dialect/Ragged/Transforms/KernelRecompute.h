//===- KernelRecompute.h - What kernels compute again ------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELRECOMPUTE_H
#define NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELRECOMPUTE_H

#include "KernelPlan.h"
#include "MemoryBudget.h"

namespace nested::ragged {

/// A price at which whatever can be computed again is.
inline constexpr int64_t kMostFlopsPerByte = int64_t(1) << 40;

/// Changes the plan so that kernels compute values again, row by row, instead
/// of reading what an earlier kernel would have had to store. A byte that is
/// neither written nor read is worth `flopsPerByte` operations; with a budget,
/// as many as it takes to keep to it. With neither, only moves, which are no
/// operations, are repeated: a bias as rows, a part of a row. Decisions are
/// remarks of category `ragged-recompute`. A budget that can't be kept is an
/// error.
mlir::LogicalResult
recomputeInKernels(mlir::func::FuncOp func, std::vector<StepPlan> &steps,
                   std::optional<int64_t> flopsPerByte,
                   const std::optional<MemoryBudget> &budget);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELRECOMPUTE_H
