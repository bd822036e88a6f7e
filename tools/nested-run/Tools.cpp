//===- Tools.cpp - Other programs of the project --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tools.h"
#include "Failure.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nested::run;

std::string nested::run::toolFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  size_t slash = text.rfind('/');
  return slash == std::string::npos ? "." : text.substr(0, slash);
}

TemporaryFile::TemporaryFile() {
  const char *folder = std::getenv("TMPDIR");
  name = std::string(folder && *folder ? folder : "/tmp") +
         "/nested-XXXXXX.so"; // nested-compile goes by the ending.
  int file = mkstemps(name.data(), 3);
  if (file < 0)
    fail(EnvironmentError,
         name + ": cannot make a temporary file: " + std::strerror(errno));
  close(file);
}

TemporaryFile::~TemporaryFile() { unlink(name.c_str()); }

void nested::run::compileProgram(const std::string &program,
                                 const std::string &output) {
  std::string beside = toolFolder() + "/nested-compile";
  std::string tool =
      access(beside.c_str(), X_OK) == 0 ? beside : "nested-compile";
  std::string words[] = {tool, program, "-o", output};
  char *argv[5] = {};
  for (int i = 0; i < 4; ++i)
    argv[i] = words[i].data();
  pid_t child;
  if (int error =
          posix_spawnp(&child, tool.c_str(), nullptr, nullptr, argv, environ))
    fail(EnvironmentError, program + ": a program must be compiled, but " +
                               tool +
                               " cannot be started: " + std::strerror(error));
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      fail(InternalError, "lost nested-compile");
  if (status == 0)
    return;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  fail(code == UserError || code == EnvironmentError
           ? static_cast<ExitCode>(code)
           : InternalError,
       program + ": cannot be compiled");
}
