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

/// How a kernel whose rows are worked on element by element is cut into runs.
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
  /// Elements of a row. 1: lanes are rows, else they are columns.
  int64_t columns = 1;
  /// Rows of a vector, or the most columns of a block.
  int64_t width = 0;
  /// Accumulators of wide rows are scratch memory: rows are outside of blocks
  /// of columns, not inside.
  bool foldsInMemory = false;
  /// The rows behind the last whole vector are a masked vector; else scalars.
  bool masksTail = true;

  /// Whether a value of the kernel's region has rows, and elements of one, or
  /// of a shared value; 0: not known.
  static bool isTile(mlir::Value value, int64_t tileRows);
  static int64_t countElements(mlir::Value value, int64_t tileRows);
};

/// Elements of the rows that a read is of, or of parts of.
int64_t countRowElements(KernelOp kernel, TileReadOp read);

/// The plan of a kernel for vectors of `vectorBits`; none if columns of its
/// rows meet, or if it does what has no vector form.
std::optional<RunPlan> planRuns(KernelOp kernel, ScheduleBuilder &schedule,
                                int64_t vectorBits);

/// Like `emitKernelFunction`, for a kernel that has a plan.
mlir::FailureOr<EmittedKernel>
emitRunFunction(mlir::OpBuilder &b, KernelOp kernel, llvm::StringRef name,
                ScheduleBuilder &schedule, llvm::ArrayRef<mlir::Value> outputs,
                const RunPlan &plan);

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNS_H
