//===- nested-run.cpp - Runs compiled artifacts ---------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Failure.h"
#include "Files.h"
#include "Options.h"
#include "Profile.h"
#include "ReferenceDevice.h"
#include "Results.h"
#include "Tools.h"

#include "nested/runtime.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>

using namespace nested::run;

void nested::run::check(nested_status status) {
  switch (status) {
  case NESTED_OK:
    return;
  case NESTED_INVALID_ARGUMENT:
  case NESTED_INVALID_ARTIFACT:
  case NESTED_UNSUPPORTED:
  case NESTED_DATA_ERROR:
    fail(UserError, nested_last_error());
  case NESTED_OUT_OF_MEMORY:
  case NESTED_IO_ERROR:
    fail(EnvironmentError, nested_last_error());
  case NESTED_INTERNAL_ERROR:
    break;
  }
  fail(InternalError, nested_last_error());
}

namespace {
struct ArtifactCloser {
  void operator()(nested_artifact_t *a) const { nested_close(a); }
};
struct PlanReleaser {
  void operator()(nested_plan_t *p) const { nested_plan_release(p); }
};
struct PoolDestroyer {
  void operator()(nested_pool_t *p) const { nested_pool_destroy(p); }
};
using ArtifactPtr = std::unique_ptr<nested_artifact_t, ArtifactCloser>;
using PlanPtr = std::unique_ptr<nested_plan_t, PlanReleaser>;
using PoolPtr = std::unique_ptr<nested_pool_t, PoolDestroyer>;
} // namespace

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

static ArtifactPtr openInput(const Options &options) {
  // The interpreter, and printing, work on artifacts of other machines too.
  uint32_t flags = options.reference || options.describe || options.plan
                       ? NESTED_OPEN_INSPECT
                       : 0;
  nested_artifact_t *artifact = nullptr;
  if (endsWith(options.input, ".mlir")) {
    TemporaryFile compiled;
    compileProgram(options.input, compiled.path());
    check(nested_open_file(compiled.path().c_str(), flags, &artifact));
  } else {
    check(nested_open_file(options.input.c_str(), flags, &artifact));
  }
  return ArtifactPtr(artifact);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printValue(const char *what, const nested_value_info &info) {
  std::string extents, path;
  for (int i = 0; i < info.rank; ++i)
    extents += (i ? ", " : "") + std::string(info.extents[i]);
  for (int i = 0; i < info.path_rank; ++i)
    path += (i ? ", " : "") + std::string(info.path[i]);
  std::printf("  %s %s: [%s] %s", what, info.name, extents.c_str(),
              nested_dtype_name(info.dtype));
  if (info.kind == NESTED_KIND_RAGGED)
    std::printf(", for each of [%s]", path.c_str());
  if (info.flags & NESTED_VALUE_MUTABLE)
    std::printf(", updated in place");
  if (info.flags & NESTED_VALUE_FROM_DATA)
    std::printf(", lengths depend on data");
  std::printf("%s%s\n", *info.where ? "  # " : "", info.where);
}

static void printEntry(const nested_entry_t *entry) {
  std::printf("entry %s\n", nested_entry_name(entry));
  nested_value_info info = NESTED_INIT(nested_value_info);
  for (int64_t i = 0; i < nested_entry_num_args(entry); ++i) {
    check(nested_entry_arg(entry, i, &info));
    printValue("argument", info);
  }
  for (int64_t i = 0; i < nested_entry_num_results(entry); ++i) {
    check(nested_entry_result(entry, i, &info));
    printValue("result", info);
  }
}

static std::string bytesText(int64_t bytes) {
  char text[64];
  std::snprintf(text, sizeof(text), "%" PRId64 " bytes (%.2f MB)", bytes,
                static_cast<double>(bytes) * 1e-6);
  return text;
}

static void printPlan(const nested_entry_t *entry, const nested_plan_t *plan) {
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  check(nested_plan_get_info(plan, &info));
  std::printf("entry %s, %" PRId64 " threads%s\n", nested_entry_name(entry),
              info.threads,
              info.exact ? "" : "; sizes are bounds, lengths depend on data");
  for (int64_t i = 0; i < info.num_results; ++i) {
    nested_value_info value = NESTED_INIT(nested_value_info);
    nested_result_info result = NESTED_INIT(nested_result_info);
    check(nested_entry_result(entry, i, &value));
    check(nested_plan_get_result(plan, i, &result));
    printValue("result", value);
    std::printf("    %" PRId64 " instances, %s%" PRId64 " rows, %s\n",
                result.num_instances, result.exact ? "" : "at most ",
                result.rows, bytesText(result.bytes).c_str());
  }
  std::printf("peak        %s\n", bytesText(info.peak_bytes).c_str());
  std::printf("  results   %s\n", bytesText(info.result_bytes).c_str());
  std::printf("  workspace %s\n", bytesText(info.workspace_bytes).c_str());
  std::printf("    temps   %s\n", bytesText(info.temp_bytes).c_str());
  std::printf("    scratch %s\n", bytesText(info.scratch_bytes).c_str());
  std::printf("    copies  %s\n", bytesText(info.staging_bytes).c_str());
  std::printf("  tables    %s\n", bytesText(info.table_bytes).c_str());
  if (info.prepared_bytes)
    std::printf("can prepare %s\n", bytesText(info.prepared_bytes).c_str());
  std::printf("%-4s %-12s %-32s %12s %10s %7s %10s %10s\n", "step", "op",
              "kernel", "rows", "units", "grains", "GFLOP", "MB");
  for (int64_t i = 0; i < info.num_steps; ++i) {
    nested_step_info step = NESTED_INIT(nested_step_info);
    check(nested_plan_get_step(plan, i, &step));
    std::printf("%-4" PRId64 " %-12s %-32s %12" PRId64 " %10" PRId64
                " %7" PRId64 " %10.4g %10.4g\n",
                i, step.op, step.kernel, step.rows, step.units, step.grains,
                step.flops * 1e-9, step.bytes * 1e-6);
  }
  std::printf("total %.4g GFLOP, %.4g MB\n", info.flops * 1e-9,
              info.bytes_moved * 1e-6);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// Memory for the results of a plan, used by all repeats.
class CpuRun {
public:
  CpuRun(const nested_entry_t *entry, const nested_plan_t *plan)
      : entry(entry), plan(plan) {
    auto count = static_cast<size_t>(nested_entry_num_results(entry));
    results.resize(count);
    records.assign(count, NESTED_INIT(nested_result));
    lengthPointers.resize(count);
    pathPointers.resize(count);
    for (size_t k = 0; k < count; ++k)
      prepare(k);
  }

  double run(const Arguments &args) {
    auto start = std::chrono::steady_clock::now();
    check(nested_run(plan, args.data(), args.size(), records.data(),
                     static_cast<int64_t>(records.size()), nullptr));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

  /// Cuts what was bounded to what came out.
  std::vector<Result> take() {
    for (size_t k = 0; k < results.size(); ++k) {
      Result &result = results[k];
      nested_value_info info = NESTED_INIT(nested_value_info);
      check(nested_entry_result(entry, static_cast<int64_t>(k), &info));
      const nested_result &record = records[k];
      result.numInstances = record.num_instances;
      if (!result.valuesShape.empty() &&
          (result.ragged || info.shape[info.order[0]] < 0)) {
        result.valuesShape[0] = record.rows;
        result.bytes.resize(static_cast<size_t>(record.rows * info.row_bytes));
      }
      for (std::vector<int64_t> &lengths : result.lengths)
        lengths.resize(static_cast<size_t>(record.num_instances));
    }
    return std::move(results);
  }

private:
  void prepare(size_t k) {
    Result &result = results[k];
    nested_result &record = records[k];
    nested_value_info value = NESTED_INIT(nested_value_info);
    nested_result_info info = NESTED_INIT(nested_result_info);
    check(nested_entry_result(entry, static_cast<int64_t>(k), &value));
    check(nested_plan_get_result(plan, static_cast<int64_t>(k), &info));
    result.name = value.name;
    result.dtype = value.dtype;
    result.ragged = value.kind == NESTED_KIND_RAGGED;
    result.extents.assign(value.extents, value.extents + value.rank);
    bool hasRows = result.ragged || value.row_rank > 0;
    if (hasRows)
      result.valuesShape.push_back(info.rows);
    for (int d = value.row_rank; d < value.rank; ++d)
      result.valuesShape.push_back(value.shape[value.order[d]]);
    result.bytes.resize(static_cast<size_t>(info.bytes));
    record.data = info.bytes ? result.bytes.data() : nullptr;
    record.row_capacity = info.rows;
    for (int d = 0; d < value.num_ragged; ++d)
      lengthPointers[k].push_back(
          result.lengths
              .emplace_back(static_cast<size_t>(info.num_instances) + 1)
              .data());
    // Instances of outer components are no more than the plan's count.
    int64_t instances = info.num_samples;
    for (int c = 1; value.kind == NESTED_KIND_RAGGED && c < value.path_rank;
         ++c) {
      const int64_t *planned = info.path_lengths[c - 1];
      result.pathLengths.emplace_back(planned, planned + instances);
      instances = 0;
      for (int64_t n : result.pathLengths.back())
        instances += n;
    }
    for (std::vector<int64_t> &each : result.pathLengths)
      pathPointers[k].push_back(each.data());
    record.lengths = lengthPointers[k].data();
    record.path_lengths =
        pathPointers[k].empty() ? nullptr : pathPointers[k].data();
  }

  const nested_entry_t *entry;
  const nested_plan_t *plan;
  std::vector<Result> results;
  std::vector<nested_result> records;
  std::vector<std::vector<int64_t *>> lengthPointers, pathPointers;
};
} // namespace

static std::vector<Result> runCpu(const Options &options,
                                  const nested_entry_t *entry,
                                  const nested_plan_t *plan,
                                  const Arguments &args, Profile &profile) {
  CpuRun run(entry, plan);
  std::vector<double> times;
  for (int64_t i = 0; i < options.repeat; ++i) {
    profile.beginRun();
    times.push_back(run.run(args));
  }
  std::sort(times.begin(), times.end());
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  check(nested_plan_get_info(plan, &info));
  std::printf("time: fastest %.3f ms, median %.3f ms of %" PRId64
              " runs, %" PRId64 " threads",
              times.front() * 1e3, times[times.size() / 2] * 1e3,
              options.repeat, info.threads);
  if (info.flops > 0)
    std::printf(", %.1f GFLOP/s", info.flops / times.front() * 1e-9);
  std::printf("\n");
  return run.take();
}

static PlanPtr makePlan(const nested_entry_t *entry, const Arguments &args,
                        const nested_options &options) {
  nested_plan_t *plan = nullptr;
  check(nested_plan(entry, args.data(), args.size(), &options, &plan));
  return PlanPtr(plan);
}

static void runTool(const Options &options) {
  ArtifactPtr artifact = openInput(options);
  bool bare = options.entry.empty() && options.lengths.empty() &&
              options.inputArrays.empty() && options.outputArrays.empty() &&
              !options.plan && !options.prepare && !options.reference &&
              !options.profile && options.trace.empty() && options.repeat == 1;
  const nested_entry_t *entry = nullptr;
  if (!options.entry.empty() || (!options.describe && !bare))
    check(nested_find_entry(artifact.get(), options.entry.c_str(), &entry));
  if (options.describe || bare) {
    if (nested_num_entries(artifact.get()) == 0)
      std::printf("no entries\n");
    for (int64_t i = 0; i < nested_num_entries(artifact.get()); ++i) {
      const nested_entry_t *each = nested_get_entry(artifact.get(), i);
      if (!entry || each == entry)
        printEntry(each);
    }
    return;
  }

  NpzFile arrays;
  if (!options.inputArrays.empty())
    arrays = readNpz(options.inputArrays);
  Arguments args(entry, options, std::move(arrays));
  nested_options planOptions = NESTED_INIT(nested_options);
  planOptions.max_bytes = options.maxBytes;
  nested_pool_t *pool = nullptr;
  check(nested_pool_create(options.threads, &pool));
  PoolPtr poolOwner(pool);
  planOptions.pool = pool;
  Profile profile;
  if (options.profile || !options.trace.empty())
    profile.listen(planOptions);
  if (options.plan && options.prepare)
    args.prepare(planOptions, /*fill=*/false);
  PlanPtr plan = makePlan(entry, args, planOptions);
  if (options.plan) {
    printPlan(entry, plan.get());
    return;
  }
  args.fillRandom(plan.get(), options.seed);
  if (options.prepare) {
    auto start = std::chrono::steady_clock::now();
    int64_t bytes = args.prepare(planOptions, /*fill=*/true);
    std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - start;
    std::printf("prepare: %s, %.3f ms\n", bytesText(bytes).c_str(),
                spent.count() * 1e3);
    plan = makePlan(entry, args, planOptions);
  }

  std::vector<Result> results;
  if (options.reference) {
    size_t size;
    const char *carried = nested_artifact_program(artifact.get(), &size);
    std::string program(carried ? carried : "", size), name = options.input;
    if (!options.program.empty()) {
      name = options.program;
      File file(name, "rb", name);
      program.resize(file.size());
      file.read(0, program.data(), program.size());
    } else if (size == 0) {
      fail(UserError, options.input + ": carries no program to interpret (it "
                                      "was compiled with --strip-ir)");
    }
    results = runReference(program, name, entry, args.data(), args.size());
  } else {
    results = runCpu(options, entry, plan.get(), args, profile);
    if (options.profile)
      profile.print(plan.get());
    if (!options.trace.empty())
      profile.writeTrace(plan.get(), options.trace);
  }
  printResults(results);
  if (!options.outputArrays.empty())
    writeNpz(options.outputArrays, toArrays(results));
}

int main(int argc, char **argv) {
  try {
    Options options = parseOptions(argc, argv);
    if (options.help)
      std::fputs(helpText, stdout);
    else if (options.version)
      std::printf("nested-run %d.%d.%d\n", NESTED_VERSION_MAJOR,
                  NESTED_VERSION_MINOR, NESTED_VERSION_PATCH);
    else
      runTool(options);
    if (std::fflush(stdout) != 0)
      fail(EnvironmentError, "cannot write to standard output");
    return Success;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "nested-run: error: %s\n", failure.message.c_str());
    return failure.code;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "nested-run: error: out of memory\n");
    return EnvironmentError;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "nested-run: internal error: %s\n", error.what());
    return InternalError;
  }
}
