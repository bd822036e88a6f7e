//===- Structure.h - Lengths, offsets and sizes of a batch ------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_STRUCTURE_H
#define NESTED_RUNTIME_STRUCTURE_H

#include "Manifest.h"

namespace nested::rt {

/// Exact: every symbol has its value. Upper: symbols from data stand for
/// anything from 0 to their value, and the largest result counts.
enum class Mode { Exact, Upper };

/// The lengths of one batch: for each path its instances, for each symbol one
/// length per instance of its path, for each table its entries. A view: the
/// plan and each run own the arrays. What depends on data holds upper bounds
/// in a plan.
struct Structure {
  const Entry *entry = nullptr;
  int64_t *counts = nullptr;         // Per path: instances.
  const int64_t **parents = nullptr; // Per path: parent of each instance.
  const int64_t **values = nullptr;  // Per symbol.
  const int64_t **tables = nullptr;  // Per table.
  int64_t *entries = nullptr;        // Per table: number of entries.
  int64_t *totals = nullptr;         // Per table: the last entry of offsets.

  /// The instance of `ancestor`, a prefix of `path`, that has instance `i`.
  int64_t ancestorOf(int path, int64_t i, int ancestor) const;

  /// "sample 3", "sample 3, S 1": for messages. "" for the empty path.
  std::string describe(int path, int64_t i) const;

  /// The value of an extent at an instance; `what` ("result '0'") is for the
  /// message of an overflow.
  int64_t evaluate(const Extent &extent, int path, int64_t i, Mode mode,
                   const std::string &what) const;
  /// The same without a message: false on overflow.
  bool tryEvaluate(const Extent &extent, int path, int64_t i, Mode mode,
                   int64_t &result) const;
  /// The same for an extent that is a size: negative values are errors.
  int64_t size(const Extent &extent, int path, int64_t i, Mode mode,
               const std::string &what) const;

  /// Product of sizes. `order` chooses among `extents`; the first `count`
  /// count.
  int64_t product(const std::vector<Extent> &extents, const int32_t *order,
                  int count, int path, int64_t i, Mode mode,
                  const std::string &what) const;
  /// Rows of a value at an instance.
  int64_t rows(const Value &value, int64_t i, Mode mode,
               const std::string &what) const;

  /// Rows of a temp, a scalar: from totals and counts.
  int64_t rows(const Rows &rows) const;

  /// Entries and, for offsets, the total of a table, without its memory.
  void measureTable(int index, Mode mode);
  /// Computes a measured table into `out`.
  void fillTable(int index, Mode mode, int64_t *out) const;

  void check(const Check &check, const std::string &entryName,
             nested_status status) const;

  /// Instances of a path, from its parent's and its component's lengths.
  int64_t countInstances(int path) const;
  /// The parent of each instance, for paths of two components and more.
  void fillParents(int path, int64_t *out) const;
};

} // namespace nested::rt

#endif // NESTED_RUNTIME_STRUCTURE_H
