//===- Run.cpp - One run of a plan ----------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <tuple>

using namespace nested::rt;

static long long ll(int64_t value) { return static_cast<long long>(value); }

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

Run::Run(const nested_plan_t &plan, const nested_argument *args,
         nested_result *results, void *workspace)
    : plan(plan), entry(*plan.entry), args(args), results(results),
      workspace(static_cast<char *>(workspace)),
      buffers(at<void *>(plan.layout.buffers)),
      bufferRows(at<int64_t>(plan.layout.bufferRows)) {
  initStructure();
}

void Run::initStructure() {
  const Layout &layout = plan.layout;
  structure.entry = &entry;
  structure.counts = at<int64_t>(layout.counts);
  structure.parents = at<const int64_t *>(layout.parents);
  structure.values = at<const int64_t *>(layout.values);
  structure.tables = at<const int64_t *>(layout.tables);
  structure.entries = at<int64_t>(layout.entries);
  structure.totals = at<int64_t>(layout.totals);
  std::copy(plan.counts.begin(), plan.counts.end(), structure.counts);
  std::copy(plan.parentViews.begin(), plan.parentViews.end(),
            structure.parents);
  std::copy(plan.valueViews.begin(), plan.valueViews.end(), structure.values);
  std::copy(plan.tableViews.begin(), plan.tableViews.end(), structure.tables);
  std::copy(plan.entries.begin(), plan.entries.end(), structure.entries);
  std::copy(plan.totals.begin(), plan.totals.end(), structure.totals);
}

int64_t Run::resultRows(int index) const {
  const Value &value = entry.results[index];
  const PlannedResult &planned = plan.results[index];
  if (planned.exact)
    return planned.rows;
  int64_t rows = 0;
  if (value.isRagged())
    for (int64_t i = 0; i < structure.counts[value.path]; ++i)
      rows = addSizes(rows, structure.rows(value, i, Mode::Exact, value.name),
                      "the rows of a result");
  if (value.rows) {
    int64_t said = structure.rows(*value.rows);
    if (value.isRagged() && said != rows)
      fail(NESTED_INVALID_ARTIFACT,
           "%s: the manifest says %lld rows, its extents say %lld",
           resultName(entry, index).c_str(), ll(said), ll(rows));
    rows = said;
  }
  // Whatever data says, memory holds what was planned.
  if (rows > planned.rows)
    fail(NESTED_DATA_ERROR,
         "%s: has %lld rows, more than the %lld that the plan allows for",
         resultName(entry, index).c_str(), ll(rows), ll(planned.rows));
  return rows;
}

/// Sizes of buffers that become known after a step (or, notFromData, at once).
void Run::setBufferSizes(int afterStep) {
  for (size_t b = 0; b < entry.buffers.size(); ++b) {
    const Buffer &buffer = entry.buffer(static_cast<int>(b));
    if (buffer.kind == Buffer::Kind::Temp) {
      if (buffer.rows.readyStep == afterStep)
        bufferRows[b] = structure.rows(buffer.rows);
    } else if (buffer.kind == Buffer::Kind::Result) {
      if (entry.results[buffer.index].readyStep == afterStep)
        bufferRows[b] = resultRows(buffer.index);
    }
  }
}

void Run::initBuffers(void *const *data) {
  char *block = nullptr; // What was prepared, if anything.
  if (plan.isPrepared)
    block =
        static_cast<char *>(recordAt(args, entry.prepared->args.front()).data);
  for (size_t b = 0; b < entry.buffers.size(); ++b) {
    const Buffer &buffer = entry.buffer(static_cast<int>(b));
    int real = entry.realBuffer(static_cast<int>(b));
    int64_t place = block ? entry.prepared->places[real] : -1;
    bufferRows[b] = 0;
    switch (buffer.kind) {
    case Buffer::Kind::Temp:
      buffers[b] = place >= 0
                       ? block + place
                       : at<char>(plan.layout.arena + plan.temps[real].offset);
      break;
    case Buffer::Kind::Result:
      buffers[b] = data[buffer.index];
      break;
    case Buffer::Kind::Arg: {
      const PlannedArg &planned = plan.args[buffer.index];
      const nested_argument &arg = recordAt(args, buffer.index);
      bool staged = usesStage(buffer.index, data);
      buffers[b] = staged ? at<char>(planned.stageOffset) : arg.data;
      bufferRows[b] = staged ? planned.rows : arg.row_capacity;
      if (!entry.args[buffer.index].isRagged())
        bufferRows[b] = 1;
      if (planned.isPrepared()) // Null: only steps that are left out use it.
        buffers[b] = place >= 0 ? block + place : nullptr;
      break;
    }
    case Buffer::Kind::Alias:
      break; // entry.buffer() resolved it.
    }
  }
  setBufferSizes(notFromData);
}

/// A copy that only protects a donated argument is not needed when the result
/// has other memory.
bool Run::usesStage(int index, void *const *data) const {
  const PlannedArg &planned = plan.args[index];
  if (!planned.staged || planned.donatedTo < 0 || !planned.strides.empty() ||
      !planned.base.empty())
    return planned.staged;
  auto *result = static_cast<const char *>(data[planned.donatedTo]);
  auto *memory = static_cast<const char *>(recordAt(args, index).data);
  std::less<const char *> before;
  return result && memory &&
         before(memory, result + plan.results[planned.donatedTo].bytes) &&
         before(result, memory + planned.rows * entry.args[index].rowBytes);
}

void Run::stageArguments(void *const *data) {
  for (size_t i = 0; i < plan.args.size(); ++i)
    if (usesStage(static_cast<int>(i), data))
      packRows(plan, static_cast<int>(i),
               recordAt(args, static_cast<int64_t>(i)).data,
               at<char>(plan.args[i].stageOffset));
}

/// Nanoseconds of a clock that never goes back.
static int64_t now() {
  auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

/// Tells who asked for it what took from `start` until now.
static void report(const nested_plan_t &plan, nested_event_kind kind,
                   int64_t step, int64_t worker, int64_t begin, int64_t end,
                   int64_t start) {
  nested_event event = NESTED_INIT(nested_event);
  event.kind = kind;
  event.step = step;
  event.worker = worker;
  event.begin = begin;
  event.end = end;
  event.start_ns = start;
  event.end_ns = now();
  plan.onEvent(plan.eventUser, &event);
}

void Run::execute(void *const *data) {
  initBuffers(data);
  stageArguments(data);
  auto windows = plan.windows.begin();
  for (int s = 0; s < static_cast<int>(entry.steps.size()); ++s) {
    if (windows == plan.windows.end() || windows->first != s) {
      runStep(s);
      continue;
    }
    runWindows(*windows);
    s = windows->last;
    ++windows;
  }
}

void Run::runStep(int index) {
  const Step &step = entry.steps[index];
  if (plan.skips(step))
    return;
  int64_t start = plan.onEvent ? now() : 0;
  switch (step.op) {
  case Step::Op::Launch:
    launch(step, Grains(step, structure));
    break;
  case Step::Op::Bind:
    bind(step, index);
    break;
  case Step::Op::Check:
    structure.check(step.check, entry.name, NESTED_DATA_ERROR);
    break;
  case Step::Op::Copy:
    copy(step);
    break;
  case Step::Op::StoreTable:
  case Step::Op::StoreScalar:
    store(step);
    break;
  case Step::Op::Locate:
    locate(step);
    break;
  case Step::Op::Linearize:
    linearize(step);
    break;
  }
  if (plan.onEvent)
    report(plan, NESTED_EVENT_STEP, index, 0, 0, 0, start);
}

void Run::runWindows(const WindowedSteps &steps) {
  for (int64_t w = 0; w < steps.count(); ++w) {
    int64_t begin = steps.bounds[w], end = steps.bounds[w + 1];
    // Kernels count rows from the start of the batch. The memory begins with
    // those of the window, at the alignment that they would have there.
    for (int b : steps.temps) {
      const Buffer &temp = entry.buffers[b];
      int64_t before = structure.tables[temp.rows.table][begin] * temp.rowBytes;
      auto memory = reinterpret_cast<uintptr_t>(
          at<char>(plan.layout.arena + plan.temps[b].offset));
      setMemory(b,
                reinterpret_cast<void *>(memory + before % alignment - before));
    }
    for (int s = steps.first; s <= steps.last; ++s) {
      const Step &step = entry.steps[s];
      if (plan.skips(step) || (step.prepare && w > 0 && !steps.remakes))
        continue;
      int64_t start = plan.onEvent ? now() : 0;
      launch(step, step.prepare ? Grains(step, structure)
                                : Grains(step, structure, begin, end));
      if (plan.onEvent)
        report(plan, NESTED_EVENT_STEP, s, 0, 0, 0, start);
    }
  }
}

/// Of a temporary and its aliases.
void Run::setMemory(int temp, void *memory) {
  for (size_t b = 0; b < entry.buffers.size(); ++b)
    if (entry.realBuffer(static_cast<int>(b)) == temp)
      buffers[b] = memory;
}

void Run::reportResults(void *const *data) {
  for (size_t k = 0; k < entry.results.size(); ++k) {
    const Value &value = entry.results[k];
    const PlannedResult &planned = plan.results[k];
    nested_result &result = recordAt(results, static_cast<int64_t>(k));
    result.data = data[k];
    result.rows = resultRows(static_cast<int>(k));
    result.num_instances = value.isRagged() ? structure.counts[value.path] : 1;
    for (size_t d = 0; result.lengths && d < value.raggedDims.size(); ++d) {
      int64_t *out = result.lengths[d];
      const Extent &extent = value.extents[value.raggedDims[d]];
      for (int64_t i = 0; out && i < result.num_instances; ++i)
        out[i] = planned.exact ? planned.lengths[d][i]
                               : structure.evaluate(extent, value.path, i,
                                                    Mode::Exact, value.name);
    }
    if (!result.path_lengths)
      continue;
    for (int p = value.path; entry.paths[p].depth > 1;
         p = entry.paths[p].parent)
      if (int64_t *out = result.path_lengths[entry.paths[p].depth - 2])
        std::copy_n(structure.values[entry.paths[p].component],
                    structure.counts[entry.paths[p].parent], out);
  }
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

namespace {
/// What all workers of a launch share.
struct LaunchJob {
  const nested_plan_t *plan;
  const Step *step;
  const Grains *grains;
  int64_t count;
  char *frames; // One nested_frame per worker, or one for all.
  int64_t frameStride;
  char *scratch;
  int64_t scratchStride;
};
} // namespace

static void runGrain(void *data, int64_t grain, int64_t worker) {
  const auto &job = *static_cast<LaunchJob *>(data);
  int64_t begin = job.grains->boundary(grain, job.count);
  int64_t end = job.grains->boundary(grain + 1, job.count);
  if (begin == end)
    return;
  auto *frame = reinterpret_cast<const nested_frame *>(
      job.frames + job.frameStride * worker);
  int64_t start = job.plan->onEvent ? now() : 0;
  job.step->function(
      frame, begin, end,
      job.scratchStride ? job.scratch + job.scratchStride * worker : nullptr);
  if (job.plan->onEvent)
    report(*job.plan, NESTED_EVENT_GRAIN,
           job.step - job.plan->entry->steps.data(), worker, begin, end, start);
}

void Run::launch(const Step &step, const Grains &grains) {
  const Layout &layout = plan.layout;
  if (grains.units() == 0)
    return;
  if (!step.function)
    fail(NESTED_UNSUPPORTED,
         "%s: the artifact was opened for inspection only and cannot run",
         entry.name.c_str());
  int64_t count = grains.count(plan.workers());
  // Workers differ in their error records only.
  int64_t workers = step.numErrorRecords ? std::min(count, plan.workers()) : 1;
  auto *dims = at<int64_t>(layout.dims);
  auto *scalars = at<int64_t>(layout.scalars);
  for (size_t i = 0; i < step.scalars.size(); ++i)
    scalars[i] = structure.rows(step.scalars[i]);
  for (int64_t w = 0; w < workers; ++w) {
    auto **memrefs = at<void *>(layout.memrefs +
                                w * alignSize(layout.maxMemrefs * int64_t(8)));
    auto *errors = at<int64_t>(layout.errors +
                               w * alignSize(layout.maxErrors * int64_t(32)));
    std::memset(errors, 0, static_cast<size_t>(step.numErrorRecords) * 32);
    for (size_t i = 0; i < step.memrefs.size(); ++i) {
      const Memref &memref = step.memrefs[i];
      switch (memref.kind) {
      case Memref::Kind::Buffer:
        memrefs[i] = buffers[memref.index];
        dims[i] = leadingSize(memref.index);
        break;
      case Memref::Kind::Table:
        memrefs[i] = const_cast<int64_t *>(structure.tables[memref.index]);
        dims[i] = structure.entries[memref.index];
        break;
      case Memref::Kind::Error:
        memrefs[i] = errors + 4 * memref.index;
        dims[i] = 4;
        break;
      }
    }
    at<nested_frame>(layout.frames)[w] = {
        memrefs, dims, scalars, &services(), {}};
  }
  LaunchJob job{&plan,
                &step,
                &grains,
                count,
                at<char>(layout.frames),
                step.numErrorRecords ? int64_t(sizeof(nested_frame)) : 0,
                at<char>(layout.scratch),
                layout.scratchStride};
  plan.pool->run(count, runGrain, &job, grains.isSmall());
  if (step.numErrorRecords)
    reportErrors(step, workers);
}

int64_t Run::leadingSize(int buffer) const {
  const Buffer &real = entry.buffer(buffer);
  const Value *value = real.kind == Buffer::Kind::Arg ? &entry.args[real.index]
                       : real.kind == Buffer::Kind::Result
                           ? &entry.results[real.index]
                           : nullptr;
  if (!value || value->isRagged() || value->rows)
    return bufferRows[buffer];
  return value->shape.empty() ? 1 : value->shape[value->order[0]];
}

/// Replaces `{name}` by a number.
static void substitute(std::string &text, const char *name, int64_t value) {
  std::string number = std::to_string(value);
  for (size_t at = text.find(name); at != std::string::npos;
       at = text.find(name, at + number.size()))
    text.replace(at, std::strlen(name), number);
}

void Run::reportErrors(const Step &step, int64_t workers) {
  // The one with the smallest row, so that the message does not depend on how
  // threads took turns, where a worker's first is its smallest.
  const int64_t *first = nullptr;
  for (int64_t w = 0; w < workers; ++w)
    for (int e = 0; e < step.numErrorRecords; ++e) {
      auto *record =
          at<int64_t>(plan.layout.errors +
                      w * alignSize(plan.layout.maxErrors * int64_t(32))) +
          4 * e;
      if (record[0] && (!first || std::tie(record[3], record[2]) <
                                      std::tie(first[3], first[2])))
        first = record;
    }
  if (!first)
    return;
  int64_t number = first[0] - 1;
  std::string text =
      number >= 0 && number < static_cast<int64_t>(step.errors.size())
          ? step.errors[number]
          : "kernel " + step.kernel + " met bad data: {value} (row {row})";
  substitute(text, "{value}", first[1]);
  substitute(text, "{row}", first[2]);
  substitute(text, "{sample}", first[3]);
  fail(NESTED_DATA_ERROR, "%s: %s", entry.name.c_str(), text.c_str());
}
