//===- Profile.h - Where the time of a run goes -----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_PROFILE_H
#define NESTED_TOOLS_NESTED_RUN_PROFILE_H

#include "nested/runtime.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace nested::run {

/// The events of the runs of a plan.
class Profile {
public:
  /// Makes plans with these options report here; must outlive them.
  void listen(nested_options &options);

  void beginRun();

  /// A table of the fastest run of each step: its time, the time of its
  /// threads, FLOPs and bytes per second, and their shares of what this machine
  /// reaches.
  void print(const nested_plan_t *plan) const;

  /// Writes the last run as a JSON trace ("Trace Event Format"), completely or
  /// not at all. Fails with EnvironmentError.
  void writeTrace(const nested_plan_t *plan, const std::string &path) const;

private:
  static void onEvent(void *user, const nested_event *event);

  std::mutex mutex;
  std::vector<std::vector<nested_event>> runs;
};

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_PROFILE_H
