//===- Tools.h - Other programs of the project ------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_TOOLS_H
#define NESTED_TOOLS_NESTED_RUN_TOOLS_H

#include <string>

namespace nested::run {

/// The folder of this program.
std::string toolFolder();

/// A file with a name of its own that goes away with the object.
class TemporaryFile {
public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  const std::string &path() const { return name; }

private:
  std::string name;
};

/// Compiles a program with the nested-compile beside this program (or on the
/// PATH). Its messages go to standard error.
void compileProgram(const std::string &program, const std::string &output);

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_TOOLS_H
