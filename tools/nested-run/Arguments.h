//===- Arguments.h - Arguments from files or at random ----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_ARGUMENTS_H
#define NESTED_TOOLS_NESTED_RUN_ARGUMENTS_H

#include "Npz.h"
#include "Options.h"

#include "nested/runtime.h"

#include <deque>
#include <memory>

namespace nested::run {

/// The arguments of a call and all memory behind them.
class Arguments {
public:
  /// Takes structure from the options and arrays, data from arrays where they
  /// are.
  Arguments(const nested_entry_t *entry, const Options &options,
            NpzFile arrays);

  /// Makes data for arguments that have none yet: the plan says how much.
  void fillRandom(const nested_plan_t *plan, uint64_t seed);

  /// Puts a prepared block in place of the arguments that it stands for: one
  /// that it fills, or null for a plan. Returns the bytes of the block.
  int64_t prepare(const nested_options &planOptions, bool fill);

  const nested_argument *data() const { return records.data(); }
  int64_t size() const { return static_cast<int64_t>(records.size()); }

private:
  void bindArray(size_t index, const nested_value_info &info);
  void bindLengths(size_t index, const nested_value_info &info);
  void shareSamples();
  void checkCounts() const;
  void checkUnused() const;
  const int64_t *findIntegers(const std::string &name, int64_t &count);
  const int64_t *findSymbol(const std::string &symbol, int64_t &count);

  /// Numbers given for each instance of the first `depth` path components.
  struct Given {
    size_t arg;
    int depth;
    int64_t count;
    const int64_t *values;
    std::string source;
  };

  const nested_entry_t *entry;
  const Options &options;
  NpzFile arrays;
  std::map<std::string, bool> used; // Arrays by name.
  std::map<std::string, bool> usedLengths;
  std::vector<nested_argument> records;
  // Deques: elements stay where records point to.
  std::vector<Given> given;
  std::deque<std::vector<int64_t>> integers;
  std::deque<std::vector<const int64_t *>> pointers;
  std::deque<std::unique_ptr<char[]>> memory;
};

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_ARGUMENTS_H
