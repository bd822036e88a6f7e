//===- Profile.cpp - Where the time of a run goes -------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Failure.h"
#include "Files.h"
#include "Yardsticks.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace nested::run;

void Profile::onEvent(void *user, const nested_event *event) {
  auto *profile = static_cast<Profile *>(user);
  std::lock_guard<std::mutex> lock(profile->mutex);
  profile->runs.back().push_back(*event);
}

void Profile::listen(nested_options &options) {
  options.on_event = onEvent;
  options.event_user = this;
}

void Profile::beginRun() {
  std::lock_guard<std::mutex> lock(mutex);
  runs.emplace_back();
}

static nested_step_info getStep(const nested_plan_t *plan, int64_t index) {
  nested_step_info step = NESTED_INIT(nested_step_info);
  check(nested_plan_get_step(plan, index, &step));
  return step;
}

/// What the step is called in tables: of a launch its kernel.
static const char *getName(const nested_step_info &step) {
  return *step.kernel ? step.kernel : step.op;
}

namespace {
struct StepTime {
  int64_t wall = INT64_MAX;
  int64_t work = 0; // Of all threads, in that run.
};
} // namespace

void Profile::print(const nested_plan_t *plan) const {
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  check(nested_plan_get_info(plan, &info));
  std::vector<StepTime> times(static_cast<size_t>(info.num_steps));
  for (const std::vector<nested_event> &run : runs) {
    std::vector<StepTime> here(times.size(), StepTime{0, 0});
    for (const nested_event &event : run) {
      StepTime &time = here[static_cast<size_t>(event.step)];
      int64_t took = event.end_ns - event.start_ns;
      (event.kind == NESTED_EVENT_STEP ? time.wall : time.work) += took;
    }
    for (size_t s = 0; s < times.size(); ++s)
      if (here[s].wall < times[s].wall)
        times[s] = here[s];
  }
  double flops = measureMultiplyAdds(info.threads);
  double bytes = measureCopies(info.threads);
  std::printf(
      "this machine, %" PRId64
      " threads: %.1f GFLOP/s of f32 multiply-adds, %.1f GB/s of copies\n",
      info.threads, flops * 1e-9, bytes * 1e-9);
  std::printf("%-4s %-36s %10s %10s %8s %6s %8s %6s\n", "step", "kernel", "ms",
              "threads ms", "GFLOP/s", "", "GB/s", "");
  int64_t total = 0;
  for (int64_t s = 0; s < info.num_steps; ++s) {
    nested_step_info step = getStep(plan, s);
    const StepTime &time = times[static_cast<size_t>(s)];
    double seconds =
        static_cast<double>(std::max<int64_t>(time.wall, 1)) * 1e-9;
    total += time.wall;
    std::printf(
        "%-4" PRId64 " %-36s %10.4f %10.4f %8.1f %5.0f%% %8.2f %5.0f%%\n", s,
        getName(step), seconds * 1e3, static_cast<double>(time.work) * 1e-6,
        step.flops / seconds * 1e-9, step.flops / seconds / flops * 100,
        step.bytes / seconds * 1e-9, step.bytes / seconds / bytes * 100);
  }
  std::printf("all steps %.4f ms; the fastest of %zu runs for each\n",
              static_cast<double>(total) * 1e-6, runs.size());
}

void Profile::writeTrace(const nested_plan_t *plan,
                         const std::string &path) const {
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  const std::vector<nested_event> &run = runs.back();
  int64_t origin = INT64_MAX;
  for (const nested_event &event : run)
    origin = std::min(origin, event.start_ns);
  bool first = true;
  for (const nested_event &event : run) {
    nested_step_info step = getStep(plan, event.step);
    bool grain = event.kind == NESTED_EVENT_GRAIN;
    char line[512];
    // Steps are a row of their own, above those of the threads. Names of
    // kernels have letters, digits and underscores.
    std::snprintf(line, sizeof(line),
                  "%s{\"name\": \"%.200s\", \"ph\": \"X\", \"ts\": %.3f, "
                  "\"dur\": %.3f, \"pid\": %d, \"tid\": %" PRId64
                  ", \"args\": {\"step\": %" PRId64 ", \"begin\": %" PRId64
                  ", \"end\": %" PRId64 "}}",
                  first ? "" : ",\n", getName(step),
                  static_cast<double>(event.start_ns - origin) * 1e-3,
                  static_cast<double>(event.end_ns - event.start_ns) * 1e-3,
                  grain ? 1 : 0, event.worker, event.step, event.begin,
                  event.end);
    text += line;
    first = false;
  }
  text += "\n]}\n";
  PendingFile file(path);
  file.write(text);
  file.commit();
}
