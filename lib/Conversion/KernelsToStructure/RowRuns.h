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
  /// A value of a body of the region that two kernels of a chain compute: the
  /// first one stores it where the other's result will be, which loads it.
  mlir::Value kept;
  bool loadsKept = false;

  /// Whether a value of the kernel's region has rows, and elements of one, or
  /// of a shared value; 0: not known.
  static bool isTile(mlir::Value value, int64_t tileRows);
  static int64_t countElements(mlir::Value value, int64_t tileRows);
};

/// Elements of the rows that a read is of, or of parts of.
int64_t countRowElements(KernelOp kernel, TileReadOp read);

/// The plan of a kernel for vectors of `vectorBits`; none if columns of its
/// rows meet, or if it does what has no vector form. `groups`: it is one of
/// several kernels of a function whose units are indices of so many dims.
std::optional<RunPlan> planRuns(KernelOp kernel, ScheduleBuilder &schedule,
                                int64_t vectorBits,
                                std::optional<unsigned> groups = std::nullopt);

/// A kernel, its plan, and a buffer for each of its results: null if only later
/// kernels of the same function read it.
struct PlannedRuns {
  KernelOp kernel;
  RunPlan plan;
  /// If the plan has a value that is kept: the result in whose memory.
  mlir::Value keptIn;
  llvm::SmallVector<mlir::Value> outputs;
};

/// The kernels behind `plan`, which folds, that go along the same rows of a
/// unit as it does and read what it or one before them has made of that unit:
/// they are one function, which has the unit's rows in a cache.
llvm::SmallVector<PlannedRuns> chainRuns(KernelOp kernel, const RunPlan &plan,
                                         ScheduleBuilder &schedule,
                                         int64_t vectorBits);

/// Like `emitKernelFunction`, for a kernel that has a plan, or a chain.
mlir::FailureOr<EmittedKernel>
emitRunFunction(mlir::OpBuilder &b, llvm::ArrayRef<PlannedRuns> kernels,
                llvm::StringRef name, ScheduleBuilder &schedule);

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNS_H
