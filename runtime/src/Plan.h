//===- Plan.h - A planned call ----------------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_PLAN_H
#define NESTED_RUNTIME_PLAN_H

#include "Artifact.h"
#include "Pool.h"
#include "Prepared.h"
#include "Structure.h"
#include "Windows.h"

namespace nested::rt {

/// Counts the bytes of a plan as they become known, and refuses it, before
/// they are allocated, when they are above the limit.
class Budget {
public:
  Budget(const std::string &entryName, int64_t limit)
      : entryName(entryName), limit(limit) {}

  enum Class { Tables, Results, Workspace };
  void charge(Class what, int64_t bytes);
  int64_t bytes(Class what) const { return counts[what]; }
  int64_t total() const { return sum; }

private:
  const std::string &entryName;
  int64_t limit;          // 0: what the machine has.
  int64_t available = -1; // Not asked yet.
  int64_t counts[3] = {0, 0, 0};
  int64_t sum = 0;
};

/// Bytes that a new allocation may take: what the system and the control group
/// of this process still have.
int64_t availableMemory();

struct PlannedArg {
  uint32_t flags = 0;
  int donatedTo = -1;
  int32_t deviceType = NESTED_DEVICE_CPU, deviceId = 0;
  int64_t rows = 1;             // Packed rows of all instances.
  int64_t extent = 1;           // Rows that must exist behind `data`.
  std::vector<int64_t> offsets; // Packed first rows; instances + 1. Ragged.
  std::vector<int64_t> base;    // Given first rows; empty: packed.
  /// Elements between neighbours in storage order; empty: contiguous.
  std::vector<int64_t> strides;
  bool staged = false; // Copied into the workspace (strided, or donated).
  int64_t stageOffset = 0;

  /// Whether a prepared block stands for it.
  bool isPrepared() const { return flags & NESTED_PREPARED; }

  /// First rows as kernels see them.
  const int64_t *kernelBase() const {
    return staged || base.empty() ? offsets.data() : base.data();
  }
};

struct PlannedResult {
  bool exact = true;
  int64_t rows = 1;
  int64_t bytes = 0;
  int64_t numSamples = 1, numInstances = 1;
  std::vector<int64_t> offsets;
  std::vector<std::vector<int64_t>> computedLengths;
  std::vector<const int64_t *> lengths, pathLengths;
};

struct PlannedTemp {
  int64_t offset = 0; // From the start of the arena.
  int first = 0, last = 0;
  int64_t bytes = 0;
};

struct PlannedStep {
  int64_t rows = 0, units = 0, grains = 0;
  double flops = 0, bytes = 0;
};

/// Where things are in the workspace: byte offsets.
struct Layout {
  int64_t results = 0; // Memory of each result.
  int64_t counts = 0, parents = 0, values = 0, tables = 0, entries = 0,
          totals = 0;                  // The run's Structure.
  int64_t buffers = 0, bufferRows = 0; // Pointer and rows of each buffer.
  int64_t dims = 0, scalars = 0;       // Of the current launch.
  int64_t frames = 0, memrefs = 0, errors = 0; // Of the launch, per worker.
  int64_t maxMemrefs = 0, maxErrors = 0;
  std::vector<int64_t> symbolValues; // Per symbol from data, else -1.
  std::vector<int64_t> pathParents;  // Per path from data, else -1.
  std::vector<int64_t> tableValues;  // Per table from data, else -1.
  int64_t coordinateOffsets = 0;     // For locate and linearize.
  int64_t arena = 0, arenaBytes = 0;
  int64_t staging = 0, stagingBytes = 0;
  int64_t scratch = 0, scratchStride = 0;
  int64_t bytes = 0;
};

} // namespace nested::rt

struct nested_plan_t {
  nested_plan_t(const nested_entry_t &entry, const nested_options &options);
  ~nested_plan_t();
  nested_plan_t(const nested_plan_t &) = delete;

  nested_artifact_t *artifact;
  const nested::rt::Entry *entry;
  std::shared_ptr<nested::rt::Pool> sharedPool; // The default pool, if used.
  nested::rt::Pool *pool;
  nested_allocator allocator;
  /// Null: nothing is timed.
  void (*onEvent)(void *user, const nested_event *event) = nullptr;
  void *eventUser = nullptr;

  nested::rt::Budget budget;

  // What `structure` points to.
  std::vector<int64_t> counts, entries, totals;
  std::vector<std::vector<int64_t>> parents, values, tables;
  std::vector<const int64_t *> parentViews, valueViews, tableViews;
  nested::rt::Structure structure;

  std::vector<nested::rt::PlannedArg> args;
  std::vector<nested::rt::PlannedResult> results;
  std::vector<nested::rt::PlannedTemp> temps; // Per buffer.
  std::vector<nested::rt::PlannedStep> steps;
  std::vector<nested::rt::WindowedSteps> windows; // By step.
  nested::rt::Layout layout;
  bool exact = true;
  bool isPrepared = false; // Arguments are given in a prepared block.
  double flops = 0, bytesMoved = 0;

  /// Whether a run leaves the step out.
  bool skips(const nested::rt::Step &step) const {
    return isPrepared && step.prepare;
  }
  int64_t workers() const { return pool->threads(); }

  void *allocate(int64_t bytes) const;
  void deallocate(void *memory, int64_t bytes) const;
};

namespace nested::rt {

/// A checked call. Fails where it breaks a rule.
std::unique_ptr<nested_plan_t> makePlan(const nested_entry_t &entry,
                                        const nested_argument *args,
                                        int64_t numArgs,
                                        const nested_options &options);

/// The steps of planning, in this order.
void checkArguments(nested_plan_t &plan, const nested_argument *args,
                    int64_t numArgs); // PlanArguments.cpp
void bindLengths(nested_plan_t &plan, const nested_argument *args); // same
void planArgumentRows(nested_plan_t &plan,
                      const nested_argument *args); // same
void planTables(nested_plan_t &plan);               // Plan.cpp
void planResults(nested_plan_t &plan);              // same
void planWorkspace(nested_plan_t &plan);            // PlanMemory.cpp
void planSteps(nested_plan_t &plan);                // Grains.cpp

/// Element `index` of an array of records whose size the caller's header says.
template <typename Record>
const Record &recordAt(const Record *records, int64_t index) {
  return *reinterpret_cast<const Record *>(
      reinterpret_cast<const char *>(records) +
      static_cast<int64_t>(records->struct_size) * index);
}
template <typename Record>
Record &recordAt(Record *records, int64_t index) {
  return const_cast<Record &>(
      recordAt(const_cast<const Record *>(records), index));
}

/// Fails unless there is a record for each argument.
void checkRecords(const Entry &entry, const nested_argument *args,
                  int64_t numArgs); // PlanArguments.cpp

/// "block: argument 'x'".
std::string argumentName(const Entry &entry, int index);
std::string resultName(const Entry &entry, int index);

int32_t deviceType(int32_t given);

} // namespace nested::rt

#endif // NESTED_RUNTIME_PLAN_H
