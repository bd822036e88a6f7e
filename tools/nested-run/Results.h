//===- Results.h - Results of a run -----------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_RESULTS_H
#define NESTED_TOOLS_NESTED_RUN_RESULTS_H

#include "Npz.h"

#include "nested/runtime.h"

namespace nested::run {

/// One result in memory of its own, from whatever device.
struct Result {
  std::string name;
  int32_t dtype = 0;
  bool ragged = false;
  std::vector<std::string> extents; // For printing.
  std::vector<int64_t> valuesShape; // Of the stored array.
  std::vector<char> bytes;
  int64_t numInstances = 1;
  std::vector<std::vector<int64_t>> lengths, pathLengths;
};

/// FNV-1a 64 of values and lengths: equal for equal bits.
uint64_t checksum(const Result &result);

/// The arrays of --output.
NpzFile toArrays(const std::vector<Result> &results);

/// NumPy's code for a dtype of the runtime, as an array without data.
NpyArray describeDtype(int32_t dtype);

/// Prints one line for each result.
void printResults(const std::vector<Result> &results);

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_RESULTS_H
