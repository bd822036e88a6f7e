//===- Files.cpp - Files that are read and written ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Failure.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace nested::run;

File::File(const std::string &path, const char *mode, const std::string &shown)
    : path(shown), file(std::fopen(path.c_str(), mode)) {
  if (!file)
    fail(EnvironmentError, shown + ": cannot open: " + std::strerror(errno));
}

File::~File() {
  if (file)
    std::fclose(file);
}

uint64_t File::size() {
  struct stat info;
  if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
    fail(EnvironmentError, path + ": not a regular file");
  return static_cast<uint64_t>(info.st_size);
}

void File::read(uint64_t offset, void *to, uint64_t bytes) {
  if (fseeko(file, static_cast<off_t>(offset), SEEK_SET) != 0 ||
      std::fread(to, 1, bytes, file) != bytes)
    fail(EnvironmentError, path + ": cannot read");
}

void File::write(const void *from, uint64_t bytes) {
  if (bytes && std::fwrite(from, 1, bytes, file) != bytes)
    fail(EnvironmentError, path + ": cannot write: " + std::strerror(errno));
}

void File::close() {
  FILE *closing = file;
  file = nullptr;
  if (std::fclose(closing) != 0)
    fail(EnvironmentError, path + ": cannot write: " + std::strerror(errno));
}

/// A device, a pipe, a folder: nothing to put a file in the place of.
static bool isSpecial(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

PendingFile::PendingFile(const std::string &path)
    : path(path),
      temporary(isSpecial(path) ? path
                                : path + ".tmp" + std::to_string(getpid())),
      file(temporary, "wb", path) {}

PendingFile::~PendingFile() {
  if (!done && temporary != path)
    std::remove(temporary.c_str());
}

void PendingFile::write(const void *data, uint64_t bytes) {
  file.write(data, bytes);
  offset += bytes;
}

void PendingFile::commit() {
  file.close();
  if (temporary != path && std::rename(temporary.c_str(), path.c_str()) != 0)
    fail(EnvironmentError, path + ": cannot write: " + std::strerror(errno));
  done = true;
}
