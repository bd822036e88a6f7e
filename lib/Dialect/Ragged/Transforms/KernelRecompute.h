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

namespace nested::ragged {

/// Changes the plan so that kernels compute values again, row by row, instead
/// of reading what an earlier kernel would have had to store. A value is stored
/// when it costs more than `flopsPerByte` operations for each byte that is
/// neither written nor read, and when what it is made of would have to be
/// stored in its place. Decisions are remarks of category `ragged-recompute`.
void recomputeInKernels(std::vector<StepPlan> &steps, int64_t flopsPerByte);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELRECOMPUTE_H
