//===- Failure.h - How the tool ends ----------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_FAILURE_H
#define NESTED_TOOLS_NESTED_RUN_FAILURE_H

#include "nested/runtime.h"

#include <string>

namespace nested::run {

/// Exit codes, the same for all tools.
enum ExitCode {
  Success = 0,
  UserError = 1,        // The input is wrong.
  BadCommandLine = 2,   // The command line is wrong.
  EnvironmentError = 3, // A file, memory, a missing library.
  InternalError = 4
};

struct Failure {
  ExitCode code;
  std::string message;
};

[[noreturn]] inline void fail(ExitCode code, std::string message) {
  throw Failure{code, std::move(message)};
}

/// Throws the runtime's last message when `status` is not NESTED_OK.
void check(nested_status status);

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_FAILURE_H
