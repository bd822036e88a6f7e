//===- Prepared.h - What calls share and do once ----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps that the manifest marks with "prepare" depend on dense arguments alone.
// nested_prepare runs them once, into a block of the caller:
//
//   [header: 64 bytes] [temporaries that other steps read] [copies of arguments
//   that other steps read too]
//
// each at a multiple of 64. A run that gets the block leaves the steps out and
// has its buffers there.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_PREPARED_H
#define NESTED_RUNTIME_PREPARED_H

#include "Manifest.h"

namespace nested::rt {

/// What there is to prepare of an entry.
struct Prepared {
  /// Numbers of the arguments that the block stands for, ascending.
  std::vector<int> args;
  /// Per buffer of the entry: where in the block it is, or -1.
  std::vector<int64_t> places;
  /// Per buffer: whether it is a temporary that marked steps make.
  std::vector<bool> isMade;
  int64_t bytes = 0;

  /// The program that fills the block: it takes `args`, and its results are at
  /// `resultPlaces`.
  Entry maker;
  std::vector<int64_t> resultPlaces;

  bool hasArg(int index) const;
};

/// Null where no step is marked. Kernels have been loaded.
std::shared_ptr<const Prepared> findPrepared(const Entry &entry);

/// Marks a block as that of an entry, or as that of none while it is filled.
void sealPrepared(void *block, const nested_artifact_t &artifact,
                  const Entry &entry);
void breakPrepared(void *block);

/// Fails unless `block` is memory for what is prepared of the entry; `name`
/// starts the message.
void checkBlock(const void *block, int64_t bytes, const Entry &entry,
                const std::string &name);
/// Whether it is, and was filled for this entry; and the failure where not.
bool isPrepared(const void *block, int64_t bytes,
                const nested_artifact_t &artifact, const Entry &entry);
[[noreturn]] void failPrepared(const void *block, int64_t bytes,
                               const nested_artifact_t &artifact,
                               const Entry &entry, const std::string &name);

} // namespace nested::rt

#endif // NESTED_RUNTIME_PREPARED_H
