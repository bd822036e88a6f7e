//===- Files.h - Files that are read and written ----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All of them fail with EnvironmentError and the name of the file.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_FILES_H
#define NESTED_TOOLS_NESTED_RUN_FILES_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace nested::run {

class File {
public:
  /// `shown` is the name in messages.
  File(const std::string &path, const char *mode, const std::string &shown);
  ~File();
  File(const File &) = delete;

  /// Of a regular file.
  uint64_t size();
  void read(uint64_t offset, void *to, uint64_t bytes);
  void write(const void *from, uint64_t bytes);
  void close();

private:
  std::string path;
  FILE *file;
};

/// A file that exists under its name only when it is complete.
class PendingFile {
public:
  explicit PendingFile(const std::string &path);
  ~PendingFile();
  void write(const void *data, uint64_t bytes);
  void write(const std::string &bytes) { write(bytes.data(), bytes.size()); }
  void commit();
  uint64_t offset = 0;

private:
  std::string path, temporary;
  File file;
  bool done = false;
};

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_FILES_H
