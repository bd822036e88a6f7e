//===- Artifact.h - An opened artifact --------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_ARTIFACT_H
#define NESTED_RUNTIME_ARTIFACT_H

#include "Manifest.h"

#include "nested/kernel.h"

#include <atomic>

/// Entries point back to their artifact, so that a plan can hold on to it.
struct nested_entry_t {
  nested_artifact_t *artifact;
  const nested::rt::Entry *entry;
};

struct nested_artifact_t {
  std::string name;      // The file, for messages.
  uint64_t checksum = 0; // Of the file.
  std::string manifestText, program;
  nested::rt::Manifest manifest;
  std::vector<nested_entry_t> entries;

  nested_artifact_t() = default;
  nested_artifact_t(const nested_artifact_t &) = delete;
  ~nested_artifact_t();

  bool isLoaded() const { return loaded; }
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();

  /// Maps the payload and finds the kernels.
  void load(std::string_view payload);

private:
  std::atomic<int64_t> references{1};
  bool loaded = false;
  int file = -1;
  void *library = nullptr;
};

namespace nested::rt {

/// Checks an artifact's bytes, machine included, and loads it, unless flags say
/// NESTED_OPEN_INSPECT.
nested_artifact_t *openArtifact(std::string_view bytes, const std::string &name,
                                uint32_t flags);

/// Reads a file into memory.
std::string readFile(const std::string &path);

/// The functions that this runtime offers, and their number.
const nested_services &services();
int64_t numServices();

} // namespace nested::rt

#endif // NESTED_RUNTIME_ARTIFACT_H
