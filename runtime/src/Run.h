//===- Run.h - One run of a plan --------------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_RUN_H
#define NESTED_RUNTIME_RUN_H

#include "Grains.h"
#include "Plan.h"

namespace nested::rt {

/// Executes the steps of a plan. Everything that changes during a run is here
/// and in the workspace; the plan stays as it is.
class Run {
public:
  Run(const nested_plan_t &plan, const nested_argument *args,
      nested_result *results, void *workspace);

  /// RunChecks.cpp: buffers of the caller. `results` that have no memory are
  /// not looked at.
  static void checkBuffers(const nested_plan_t &plan,
                           const nested_argument *args, int64_t numArgs,
                           const nested_result *results, int64_t numResults,
                           const void *workspace);

  /// Runs all steps. `data` has the memory of each result.
  void execute(void *const *data);

  /// Writes rows and lengths of this run into the caller's records.
  void reportResults(void *const *data);

private:
  template <typename T>
  T *at(int64_t offset) const {
    return reinterpret_cast<T *>(workspace + offset);
  }
  int64_t resultRows(int index) const;
  void initStructure();
  void initBuffers(void *const *data);
  void setBufferSizes(int afterStep);
  bool usesStage(int arg, void *const *data) const;
  void stageArguments(void *const *data);
  void finishBinds(int step);

  void runStep(int index);
  void runWindows(const WindowedSteps &steps);
  void setMemory(int temp, void *memory);
  void launch(const Step &step, const Grains &grains);
  int64_t leadingSize(int buffer) const;
  void reportErrors(const Step &step, int64_t workers);
  void bind(const Step &step, int index);
  void copy(const Step &step);
  void store(const Step &step);
  void locate(const Step &step);
  void linearize(const Step &step);
  void fillCoordinateOffsets(const Step &step);
  int64_t *integers(int buffer) const {
    return static_cast<int64_t *>(buffers[buffer]);
  }
  void expectRows(int buffer, int64_t rows, const char *what) const;

  const nested_plan_t &plan;
  const Entry &entry;
  const nested_argument *args;
  nested_result *results;
  char *workspace;
  Structure structure;
  void **buffers;      // Per buffer: its data; of aliases too.
  int64_t *bufferRows; // Per buffer: what kernels see as leading size.
};

/// Copies the rows of an argument to `to`, packed, on the pool's threads.
void packRows(const nested_plan_t &plan, int arg, const void *from, void *to);

} // namespace nested::rt

#endif // NESTED_RUNTIME_RUN_H
