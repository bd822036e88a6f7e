//===- Options.h - The command line of nested-run ---------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_OPTIONS_H
#define NESTED_TOOLS_NESTED_RUN_OPTIONS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nested::run {

struct Options {
  std::string input; // The artifact or program.
  std::string entry;
  std::map<std::string, std::vector<int64_t>> lengths; // By symbol.
  std::string inputArrays, outputArrays;               // .npz files.
  bool reference = false;
  std::string program; // What to interpret in place of what the artifact has.
  int64_t threads = 0; // 0: all.
  int64_t repeat = 1;
  bool plan = false;
  bool prepare = false;
  bool profile = false;
  std::string trace; // A file for the events of the last run.
  bool describe = false;
  uint64_t seed = 0;
  int64_t maxBytes = 0;
  bool help = false, version = false;
};

/// Fails with BadCommandLine.
Options parseOptions(int argc, char **argv);

extern const char *const helpText;

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_OPTIONS_H
