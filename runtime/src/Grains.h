//===- Grains.h - Cutting work into grains ----------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_GRAINS_H
#define NESTED_RUNTIME_GRAINS_H

#include "Structure.h"

namespace nested::rt {

/// The units of a launch and where to cut them into grains of about equal
/// work. Nothing is stored: any worker computes any boundary.
class Grains {
public:
  Grains(const Step &step, const Structure &structure);
  /// Of the samples [begin, end) only: a step that is per sample.
  Grains(const Step &step, const Structure &structure, int64_t begin,
         int64_t end);

  int64_t units() const { return numUnits; }
  int64_t rows() const { return numRows; }

  /// How many grains are worth it for `threads`: enough for balance, each
  /// large enough to pay for being handed out.
  int64_t count(int64_t threads) const;

  /// Whether one thread needs no longer for them than to wake another one.
  bool isSmall() const;

  /// The first unit of grain `grain` of `count`; boundary(count, count) is
  /// behind the last.
  int64_t boundary(int64_t grain, int64_t count) const;

private:
  double rowCost() const;
  bool isRowMap() const;
  int64_t unitsBefore(int64_t instance) const;

  const Step &step;
  Units::Kind kind;
  const int64_t *rowOffsets = nullptr, *unitOffsets = nullptr;
  int64_t firstInstance = 0, lastInstance = 0;
  int64_t firstUnit = 0;
  int64_t numRows = 1, numUnits = 1;
};

} // namespace nested::rt

#endif // NESTED_RUNTIME_GRAINS_H
