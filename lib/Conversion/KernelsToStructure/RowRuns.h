//===- RowRuns.h - Kernels of narrow rows as runs of vectors ----*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNS_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNS_H

#include "KernelFunction.h"

namespace nested::ragged {

/// How a kernel whose rows are one element each is cut into runs.
struct RunPlan {
  enum class Access {
    /// Only says which rows others read.
    Index,
    /// One row for the whole run.
    Uniform,
    /// The rows of the run follow each other.
    Contiguous,
    /// Any rows.
    Gathered
  };
  llvm::DenseMap<mlir::Operation *, Access> reads;
  /// The dims of the space from here on are one run.
  unsigned firstOfRun = 0;
  /// Nothing depends on samples: all rows are one run.
  bool isFlat = false;
  /// Rows of a vector.
  int64_t width = 0;
  /// The rows behind the last whole vector are a masked vector; else scalars.
  bool masksTail = true;
};

/// The plan of a kernel for vectors of `vectorBits`; none if its rows are wide,
/// or if it does what has no vector form.
std::optional<RunPlan> planRuns(KernelOp kernel, ScheduleBuilder &schedule,
                                int64_t vectorBits);

/// Like `emitKernelFunction`, for a kernel that has a plan.
mlir::FailureOr<EmittedKernel>
emitRunFunction(mlir::OpBuilder &b, KernelOp kernel, llvm::StringRef name,
                ScheduleBuilder &schedule, llvm::ArrayRef<mlir::Value> outputs,
                const RunPlan &plan);

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNS_H
