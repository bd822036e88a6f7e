//===- PlanMemory.cpp - Sizes and places in memory ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace nested::rt;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

namespace {
/// Lines of a small file of the system. (C streams: C++ ones would double the
/// size of the library.)
class Lines {
public:
  explicit Lines(const std::string &path)
      : file(std::fopen(path.c_str(), "re")) {}
  ~Lines() {
    if (file)
      std::fclose(file);
  }
  Lines(const Lines &) = delete;

  bool next(std::string &line) {
    char text[4096];
    if (!file || !std::fgets(text, sizeof(text), file))
      return false;
    line = text;
    if (!line.empty() && line.back() == '\n')
      line.pop_back();
    return true;
  }

private:
  std::FILE *file;
};
} // namespace

/// A number from a one-line file such as memory.max; -1 without one.
static int64_t readNumber(const std::string &path) {
  std::string line;
  long long value;
  return Lines(path).next(line) &&
                 std::sscanf(line.c_str(), "%lld", &value) == 1
             ? value
             : -1;
}

/// The control groups of this process and those around them limit memory too.
static int64_t groupMemory() {
  int64_t least = INT64_MAX;
  auto visit = [&](const std::string &root, std::string group,
                   const char *limitName, const char *usageName) {
    while (true) {
      std::string folder = root + group + "/";
      int64_t limit = readNumber(folder + limitName);
      int64_t usage = readNumber(folder + usageName);
      if (limit >= 0 && usage >= 0)
        least = std::min(least, std::max<int64_t>(0, limit - usage));
      if (group.empty() || group == "/")
        return;
      group.resize(group.rfind('/'));
    }
  };
  Lines lines("/proc/self/cgroup");
  for (std::string line; lines.next(line);) {
    // hierarchy:controllers:group
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group.empty() || group[0] != '/')
      continue;
    if (controllers.empty())
      visit("/sys/fs/cgroup", group, "memory.max", "memory.current");
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      visit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes",
            "memory.usage_in_bytes");
  }
  return least;
}

int64_t nested::rt::availableMemory() {
  int64_t available = INT64_MAX;
  Lines lines("/proc/meminfo");
  long long kilobytes;
  for (std::string line; lines.next(line);)
    if (std::sscanf(line.c_str(), "MemAvailable: %lld", &kilobytes) == 1)
      available = kilobytes * 1024;
  return std::min(available, groupMemory());
}

void Budget::charge(Class what, int64_t bytes) {
  // Below this the machine is not asked: it costs more than a small run.
  constexpr int64_t small = int64_t(64) << 20;
  bool fits = !addOverflows(counts[what], bytes, counts[what]) &&
              !addOverflows(sum, bytes, sum);
  int64_t allowed = limit;
  if (fits && allowed <= 0) {
    if (sum <= small)
      return;
    if (available < 0)
      available = availableMemory();
    allowed = available;
  }
  if (fits && sum <= allowed)
    return;
  std::string needed =
      fits ? describeBytes(sum) : std::string("more than 2^63 bytes");
  std::string parts;
  static const char *const names[] = {"tables", "results", "workspace"};
  for (int i = 0; fits && i < 3; ++i)
    if (counts[i] > 0)
      parts += (parts.empty() ? ": " : ", ") + std::string(names[i]) + " " +
               describeBytes(counts[i]);
  fail(NESTED_OUT_OF_MEMORY,
       "%s: the call needs at least %s%s; %s %s. Nothing was allocated; use a "
       "smaller batch",
       entryName.c_str(), needed.c_str(), parts.c_str(),
       limit > 0 ? "the limit is" : "the machine has",
       limit > 0 ? describeBytes(limit).c_str()
                 : (fits ? describeBytes(allowed) + " available"
                         : std::string("less"))
                       .c_str());
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

/// Whether the buffer is a temporary that has memory in the workspace: not in
/// the prepared block, and not left out with the steps that fill that.
static bool isInWorkspace(const nested_plan_t &plan, size_t buffer) {
  const Entry &entry = *plan.entry;
  return entry.buffers[buffer].kind == Buffer::Kind::Temp &&
         !(plan.isPrepared && entry.prepared->isMade[buffer]);
}

/// Sizes and lifetimes of temps, where steps run in windows too.
static void measureTemps(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  plan.temps.resize(entry.buffers.size());
  for (size_t b = 0; b < entry.buffers.size(); ++b) {
    if (!isInWorkspace(plan, b))
      continue;
    const Buffer &buffer = entry.buffers[b];
    PlannedTemp &temp = plan.temps[b];
    temp.first = buffer.first;
    temp.last = buffer.last;
    bool isWindowed = false;
    for (const WindowedSteps &steps : plan.windows) {
      const std::vector<int> &temps = steps.temps;
      if (std::find(temps.begin(), temps.end(), b) != temps.end()) {
        // Whatever sample a window starts with, row 0 of the batch would lie
        // at a multiple of the alignment.
        isWindowed = true;
        temp.bytes = addSizes(windowBytes(plan.structure, steps, buffer),
                              alignment, "the size of a buffer");
      } else if (buffer.first <= steps.last && buffer.last >= steps.first &&
                 !(steps.remakes && entry.prepared &&
                   entry.prepared->isMade[b] && buffer.first >= steps.first)) {
        // The steps are run again for each window.
        temp.first = std::min(temp.first, steps.first);
        temp.last = std::max(temp.last, steps.last);
      }
    }
    if (!isWindowed)
      temp.bytes = mulSizes(plan.structure.rows(buffer.rows), buffer.rowBytes,
                            "the size of a buffer");
    temp.bytes = alignSize(temp.bytes);
  }
}

/// Places temps by first fit: each at the lowest offset at which no temp that
/// lives at the same time is. Returns the size of the arena.
static int64_t placeTemps(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  std::vector<int> placed; // By offset.
  int64_t arena = 0;
  for (size_t b = 0; b < entry.buffers.size(); ++b) {
    if (entry.buffers[b].kind != Buffer::Kind::Temp)
      continue;
    PlannedTemp &temp = plan.temps[b];
    int64_t offset = 0;
    for (int other : placed) {
      const PlannedTemp &p = plan.temps[other];
      if (p.last < temp.first || p.first > temp.last)
        continue;
      if (p.offset - offset >= temp.bytes)
        break;
      offset = std::max(offset, p.offset + p.bytes);
    }
    temp.offset = offset;
    arena = std::max(arena,
                     addSizes(offset, temp.bytes, "the size of all buffers"));
    auto position = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](int64_t o, int other) { return o < plan.temps[other].offset; });
    placed.insert(position, static_cast<int>(b));
  }
  return arena;
}

namespace {
/// Hands out consecutive aligned places.
class Places {
public:
  int64_t take(int64_t count, int64_t each) {
    int64_t offset = bytes;
    int64_t size =
        alignSize(mulSizes(count, each, "the size of the workspace"));
    bytes = addSizes(bytes, size, "the size of the workspace");
    return offset;
  }
  int64_t bytes = 0;
};
} // namespace

/// What temporaries of launches in windows may take. Per thread about what the
/// caches of a core hold, of which weights that are packed in the call take
/// their part, but no more than half.
static int64_t getWindowBytes(const nested_plan_t &plan) {
  constexpr int64_t bytesPerWorker = int64_t(2) << 20;
  const Entry &entry = *plan.entry;
  int64_t bytes = bytesPerWorker * plan.workers();
  int64_t least = bytes / 2;
  for (size_t b = 0; b < entry.buffers.size() && bytes > least; ++b) {
    const Buffer &buffer = entry.buffers[b];
    if (isInWorkspace(plan, b) && buffer.rows.kind == Rows::Kind::Const)
      bytes -= std::min(bytes, mulSizes(buffer.rows.number, buffer.rowBytes,
                                        "the size of a buffer"));
  }
  return std::max(bytes, least);
}

void nested::rt::planWorkspace(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  Layout &layout = plan.layout;
  Places places;
  constexpr int64_t word = sizeof(int64_t);
  auto count = [](size_t n) { return static_cast<int64_t>(n); };

  // Bookkeeping: what depends on data, and what the current launch sees.
  int64_t maxScalars = 0, maxScratch = 0, workers = 1;
  bool coordinates = false;
  int64_t coordinateEntries = 0;
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    const Step &step = entry.steps[s];
    if (plan.skips(step))
      continue;
    layout.maxMemrefs = std::max(layout.maxMemrefs, count(step.memrefs.size()));
    layout.maxErrors =
        std::max<int64_t>(layout.maxErrors, step.numErrorRecords);
    maxScalars = std::max(maxScalars, count(step.scalars.size()));
    maxScratch = std::max(maxScratch, step.scratchBytes);
    workers = std::max(workers, std::min(plan.workers(), plan.steps[s].grains));
    if (step.op == Step::Op::Locate || step.op == Step::Op::Linearize) {
      coordinates = true;
      coordinateEntries =
          std::max(coordinateEntries, plan.counts[step.path] + 1);
    }
  }
  layout.results = places.take(count(entry.results.size()), word);
  layout.counts = places.take(count(entry.paths.size()), word);
  layout.parents = places.take(count(entry.paths.size()), word);
  layout.values = places.take(count(entry.symbols.size()), word);
  layout.tables = places.take(count(entry.tables.size()), word);
  layout.entries = places.take(count(entry.tables.size()), word);
  layout.totals = places.take(count(entry.tables.size()), word);
  layout.buffers = places.take(count(entry.buffers.size()), word);
  layout.bufferRows = places.take(count(entry.buffers.size()), word);
  layout.dims = places.take(layout.maxMemrefs, word);
  layout.scalars = places.take(maxScalars, word);
  layout.frames = places.take(workers, sizeof(nested_frame));
  // Workers' records in cache lines of their own.
  layout.memrefs = places.take(workers, alignSize(layout.maxMemrefs * word));
  layout.errors = places.take(workers, alignSize(layout.maxErrors * 4 * word));
  for (const Symbol &symbol : entry.symbols)
    layout.symbolValues.push_back(
        symbol.fromData() ? places.take(plan.counts[symbol.path], word) : -1);
  for (size_t p = 0; p < entry.paths.size(); ++p)
    layout.pathParents.push_back(entry.paths[p].readyStep != notFromData &&
                                         entry.paths[p].depth >= 2
                                     ? places.take(plan.counts[p], word)
                                     : -1);
  for (size_t t = 0; t < entry.tables.size(); ++t)
    layout.tableValues.push_back(entry.tables[t].readyStep != notFromData
                                     ? places.take(plan.entries[t], word)
                                     : -1);
  if (coordinates)
    layout.coordinateOffsets = places.take(coordinateEntries, word);

  layout.staging = places.bytes;
  for (size_t i = 0; i < plan.args.size(); ++i) {
    PlannedArg &arg = plan.args[i];
    if (arg.staged)
      arg.stageOffset = places.take(arg.rows, entry.args[i].rowBytes);
  }
  layout.stagingBytes = places.bytes - layout.staging;
  plan.windows = planWindows(plan.structure, getWindowBytes(plan));
  measureTemps(plan);
  layout.arenaBytes = placeTemps(plan);
  layout.arena = places.take(layout.arenaBytes, 1);
  // One line between the scratch of two workers, against false sharing by
  // prefetch.
  layout.scratchStride = maxScratch ? alignSize(maxScratch) + alignment : 0;
  layout.scratch = places.take(workers, layout.scratchStride);
  layout.bytes = places.bytes;
  plan.budget.charge(Budget::Workspace, layout.bytes);
}
