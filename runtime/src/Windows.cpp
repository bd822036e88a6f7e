//===- Windows.cpp - Launches in windows of samples -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

#include "Support.h"

#include <algorithm>

using namespace nested::rt;

static int64_t bytesOf(const Structure &structure, const Buffer &temp,
                       int64_t begin, int64_t end) {
  const int64_t *offsets = structure.tables[temp.rows.table];
  return mulSizes(offsets[end] - offsets[begin], temp.rowBytes,
                  "the size of a buffer");
}

/// Temporaries that live between the launches only, a row or more per sample.
static std::vector<int> findTemps(const Entry &entry, int first, int last,
                                  int path) {
  std::vector<int> temps;
  for (size_t b = 0; b < entry.buffers.size(); ++b) {
    const Buffer &buffer = entry.buffers[b];
    if (buffer.kind == Buffer::Kind::Temp && buffer.first >= first &&
        buffer.last <= last && buffer.rows.kind == Rows::Kind::Total &&
        buffer.rows.plus == 0 && buffer.rows.readyStep == notFromData &&
        entry.tables[buffer.rows.table].path == path)
      temps.push_back(static_cast<int>(b));
  }
  return temps;
}

/// Adds samples to a window while what lives at the same time fits.
static void cutSamples(const Structure &structure, WindowedSteps &steps,
                       int64_t numSamples, int64_t maxBytes) {
  const Entry &entry = *structure.entry;
  std::vector<int64_t> &bounds = steps.bounds;
  bounds = {0};
  int64_t all = 0;
  for (int b : steps.temps)
    all = addSizes(all, bytesOf(structure, entry.buffers[b], 0, numSamples),
                   "the size of all buffers");
  if (all <= maxBytes) {
    bounds.push_back(numSamples);
    return;
  }
  std::vector<int64_t> live(steps.last - steps.first + 1); // Bytes, per step.
  auto add = [&](int64_t sample) {
    for (int b : steps.temps) {
      const Buffer &temp = entry.buffers[b];
      int64_t bytes = bytesOf(structure, temp, sample, sample + 1);
      for (int s = temp.first; s <= temp.last; ++s)
        live[s - steps.first] =
            addSizes(live[s - steps.first], bytes, "the size of all buffers");
    }
    return *std::max_element(live.begin(), live.end());
  };
  for (int64_t i = 0; i < numSamples; ++i) {
    int64_t bytes = add(i);
    if (bytes > maxBytes && i != bounds.back()) {
      bounds.push_back(i);
      std::fill(live.begin(), live.end(), 0);
      bytes = add(i);
    }
    steps.remakes |= bytes > maxBytes;
  }
  bounds.push_back(numSamples);
}

/// The longest run of steps from `first` that may take turns with windows of
/// one path; sets `path` to that, and returns the step behind the run.
static size_t findRun(const Entry &entry, size_t first, int &path) {
  size_t end = first;
  path = -1;
  for (size_t s = first; s < entry.steps.size(); ++s) {
    const Step &step = entry.steps[s];
    if (step.prepare)
      continue;
    if (!step.perSample)
      break;
    int its = entry.tables[step.units.rowTable].path;
    if (path >= 0 && its != path)
      break;
    path = its;
    end = s + 1;
  }
  return end;
}

std::vector<WindowedSteps> nested::rt::planWindows(const Structure &structure,
                                                   int64_t maxBytes) {
  const Entry &entry = *structure.entry;
  std::vector<WindowedSteps> result;
  for (size_t s = 0, next; s < entry.steps.size(); s = next) {
    int path;
    next = findRun(entry, s, path);
    WindowedSteps steps;
    steps.first = static_cast<int>(s);
    steps.last = static_cast<int>(next) - 1;
    next = std::max(next, s + 1);
    if (path < 0 || entry.paths[path].readyStep != notFromData)
      continue;
    steps.temps = findTemps(entry, steps.first, steps.last, path);
    if (steps.temps.empty())
      continue;
    cutSamples(structure, steps, structure.counts[path], maxBytes);
    if (steps.count() > 1)
      result.push_back(std::move(steps));
  }
  return result;
}

int64_t nested::rt::windowBytes(const Structure &structure,
                                const WindowedSteps &steps,
                                const Buffer &temp) {
  int64_t largest = 0;
  for (int64_t w = 0; w < steps.count(); ++w)
    largest = std::max(largest, bytesOf(structure, temp, steps.bounds[w],
                                        steps.bounds[w + 1]));
  return largest;
}
