//===- Windows.h - Launches in windows of samples ---------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches that follow each other and keep samples apart (`per_sample`) may run
// for some samples, a *window*, before they run for the next. Temporaries that
// live between them then have memory for the samples of one window: a call on
// many samples needs no more of it than a call on few.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_WINDOWS_H
#define NESTED_RUNTIME_WINDOWS_H

#include "Manifest.h"
#include "Structure.h"

namespace nested::rt {

/// A run of launches, and the windows that they run in. Launches of prepared
/// values, which are the same for all samples, may be among them.
struct WindowedSteps {
  int first = 0, last = 0; // Steps, inclusive.
  std::vector<int> temps;  // Buffers that have memory for one window.
  /// The first sample of each window, and the number of samples.
  std::vector<int64_t> bounds;

  /// Whether prepared values are made again for each window, so that they need
  /// memory for the time of their readers only. Where a sample alone exceeds
  /// the limit: its work is many times theirs.
  bool remakes = false;

  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }
};

/// The runs of launches of an entry whose temporaries exceed `maxBytes`, cut
/// into windows that do not, where a sample alone does not.
std::vector<WindowedSteps> planWindows(const Structure &structure,
                                       int64_t maxBytes);

/// Bytes of a temporary for the largest of the windows; not aligned.
int64_t windowBytes(const Structure &structure, const WindowedSteps &steps,
                    const Buffer &temp);

} // namespace nested::rt

#endif // NESTED_RUNTIME_WINDOWS_H
