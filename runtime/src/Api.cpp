//===- Api.cpp - The functions of runtime.h -------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact.h"
#include "Plan.h"
#include "Run.h"

#include <algorithm>
#include <cstring>

using namespace nested::rt;

static long long ll(int64_t value) { return static_cast<long long>(value); }

//===----------------------------------------------------------------------===//
// Names and versions
//===----------------------------------------------------------------------===//

const char *nested_status_name(nested_status status) noexcept {
  switch (status) {
  case NESTED_OK:
    return "ok";
  case NESTED_INVALID_ARGUMENT:
    return "invalid argument";
  case NESTED_INVALID_ARTIFACT:
    return "invalid artifact";
  case NESTED_OUT_OF_MEMORY:
    return "out of memory";
  case NESTED_UNSUPPORTED:
    return "unsupported";
  case NESTED_IO_ERROR:
    return "input/output error";
  case NESTED_DATA_ERROR:
    return "data error";
  case NESTED_INTERNAL_ERROR:
    return "internal error";
  }
  return "unknown status";
}

const char *nested_last_error(void) noexcept { return lastError(); }
uint32_t nested_runtime_version(void) noexcept { return NESTED_VERSION; }
uint32_t nested_runtime_abi_version(void) noexcept {
  return NESTED_ABI_VERSION;
}

namespace {
struct Dtype {
  const char *name;
  size_t size;
};
} // namespace

/// By their numbers.
static const Dtype dtypes[] = {
    {nullptr, 0}, {"i1", 1},   {"i8", 1},  {"i16", 2}, {"i32", 4},
    {"i64", 8},   {"u8", 1},   {"u16", 2}, {"u32", 4}, {"u64", 8},
    {"f16", 2},   {"bf16", 2}, {"f32", 4}, {"f64", 8}};
constexpr int32_t numDtypes = sizeof(dtypes) / sizeof(dtypes[0]);

size_t nested_dtype_size(int32_t dtype) noexcept {
  return dtype > 0 && dtype < numDtypes ? dtypes[dtype].size : 0;
}
const char *nested_dtype_name(int32_t dtype) noexcept {
  return dtype > 0 && dtype < numDtypes ? dtypes[dtype].name : nullptr;
}
int32_t nested_dtype_from_name(const char *name) noexcept {
  for (int32_t i = 1; name && i < numDtypes; ++i)
    if (std::strcmp(dtypes[i].name, name) == 0)
      return i;
  return NESTED_DTYPE_NONE;
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static void requireHandle(const void *pointer, const char *what) {
  if (!pointer)
    fail(NESTED_INVALID_ARGUMENT, "%s is null", what);
}

/// Fills the caller's record with as much of ours as it has room for.
template <typename Record>
static void writeInfo(Record *out, Record info) {
  requireHandle(out, "info");
  if (out->struct_size < 2 * sizeof(uint32_t))
    fail(NESTED_INVALID_ARGUMENT,
         "struct_size of info is %u; start from NESTED_INIT", out->struct_size);
  info.struct_size = out->struct_size;
  std::memcpy(out, &info, std::min<size_t>(out->struct_size, sizeof(Record)));
}

static void checkIndex(const char *what, int64_t index, size_t size) {
  if (index < 0 || index >= static_cast<int64_t>(size))
    fail(NESTED_INVALID_ARGUMENT, "there is no %s %lld; there are %zu", what,
         ll(index), size);
}

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

nested_status nested_open_file(const char *path, uint32_t flags,
                               nested_artifact_t **artifact) noexcept {
  return guard([&] {
    requireHandle(path, "path");
    requireHandle(artifact, "artifact");
    std::string bytes = readFile(path);
    *artifact = openArtifact(bytes, path, flags);
  });
}

nested_status nested_open_memory(const void *data, size_t size,
                                 const char *name, uint32_t flags,
                                 nested_artifact_t **artifact) noexcept {
  return guard([&] {
    requireHandle(artifact, "artifact");
    if (size)
      requireHandle(data, "data");
    std::string_view bytes(static_cast<const char *>(data), size);
    *artifact = openArtifact(bytes, name ? name : "artifact in memory", flags);
  });
}

void nested_close(nested_artifact_t *artifact) noexcept {
  if (artifact)
    artifact->release();
}

static const char *textOf(const std::string &text, size_t *size) {
  if (size)
    *size = text.size();
  return text.c_str();
}

const char *nested_artifact_manifest(const nested_artifact_t *artifact,
                                     size_t *size) noexcept {
  return textOf(artifact->manifestText, size);
}

const char *nested_artifact_program(const nested_artifact_t *artifact,
                                    size_t *size) noexcept {
  return textOf(artifact->program, size);
}

int64_t nested_num_entries(const nested_artifact_t *artifact) noexcept {
  return static_cast<int64_t>(artifact->entries.size());
}

const nested_entry_t *nested_get_entry(const nested_artifact_t *artifact,
                                       int64_t index) noexcept {
  return index >= 0 && index < nested_num_entries(artifact)
             ? &artifact->entries[index]
             : nullptr;
}

nested_status nested_find_entry(const nested_artifact_t *artifact,
                                const char *name,
                                const nested_entry_t **entry) noexcept {
  return guard([&] {
    requireHandle(artifact, "artifact");
    requireHandle(entry, "entry");
    bool only = !name || !*name;
    if (only && artifact->entries.size() == 1) {
      *entry = &artifact->entries[0];
      return;
    }
    std::string names;
    for (const nested_entry_t &each : artifact->entries) {
      if (!only && each.entry->name == name) {
        *entry = &each;
        return;
      }
      names += (names.empty() ? "" : ", ") + each.entry->name;
    }
    if (only)
      fail(NESTED_INVALID_ARGUMENT, "%s: which entry? It has %zu: %s",
           artifact->name.c_str(), artifact->entries.size(), names.c_str());
    fail(NESTED_INVALID_ARGUMENT, "%s: no entry '%s'; it has: %s",
         artifact->name.c_str(), name, names.c_str());
  });
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

const char *nested_entry_name(const nested_entry_t *entry) noexcept {
  return entry->entry->name.c_str();
}
int64_t nested_entry_num_args(const nested_entry_t *entry) noexcept {
  return static_cast<int64_t>(entry->entry->args.size());
}
int64_t nested_entry_num_results(const nested_entry_t *entry) noexcept {
  return static_cast<int64_t>(entry->entry->results.size());
}
int64_t nested_entry_num_symbols(const nested_entry_t *entry) noexcept {
  return static_cast<int64_t>(entry->entry->numDeclaredSymbols);
}

int64_t nested_entry_prepared_bytes(const nested_entry_t *entry) noexcept {
  const auto &prepared = entry->entry->prepared;
  return prepared ? prepared->bytes : 0;
}

static nested_value_info describe(const Entry &entry, const Value &value) {
  nested_value_info info = NESTED_INIT(nested_value_info);
  info.kind = value.kind;
  info.name = value.name.c_str();
  info.dtype = value.dtype;
  info.rank = value.rank();
  info.extents = value.cExtents.data();
  info.shape = value.shape.data();
  info.order = value.order.data();
  info.path = entry.paths[value.path].cNames.data();
  info.path_rank = entry.paths[value.path].depth;
  info.num_ragged = static_cast<int32_t>(value.raggedDims.size());
  info.row_rank = value.rowRank;
  info.row_bytes = value.rowBytes;
  info.where = value.where.c_str();
  if (value.isMutable)
    info.flags |= NESTED_VALUE_MUTABLE;
  if (value.readyStep != notFromData)
    info.flags |= NESTED_VALUE_FROM_DATA;
  return info;
}

nested_status nested_entry_arg(const nested_entry_t *entry, int64_t index,
                               nested_value_info *info) noexcept {
  return guard([&] {
    requireHandle(entry, "entry");
    checkIndex("argument", index, entry->entry->args.size());
    nested_value_info out = describe(*entry->entry, entry->entry->args[index]);
    const auto &prepared = entry->entry->prepared;
    if (prepared && prepared->hasArg(static_cast<int>(index)))
      out.flags |= NESTED_VALUE_PREPARED;
    writeInfo(info, out);
  });
}

nested_status nested_entry_result(const nested_entry_t *entry, int64_t index,
                                  nested_value_info *info) noexcept {
  return guard([&] {
    requireHandle(entry, "entry");
    checkIndex("result", index, entry->entry->results.size());
    writeInfo(info, describe(*entry->entry, entry->entry->results[index]));
  });
}

nested_status nested_entry_symbol(const nested_entry_t *entry, int64_t index,
                                  nested_symbol_info *info) noexcept {
  return guard([&] {
    requireHandle(entry, "entry");
    checkIndex("symbol", index, entry->entry->numDeclaredSymbols);
    const Symbol &symbol = entry->entry->symbols[index];
    nested_symbol_info out = NESTED_INIT(nested_symbol_info);
    out.name = symbol.name.c_str();
    out.path = entry->entry->paths[symbol.path].cNames.data();
    out.path_rank = entry->entry->paths[symbol.path].depth;
    out.arg = symbol.fromData() ? -1 : symbol.arg;
    out.dim =
        symbol.source == Symbol::Source::Component ? -symbol.dim : symbol.dim;
    out.upper = symbol.fromData() ? symbol.upper.text().c_str() : nullptr;
    writeInfo(info, out);
  });
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static void checkThreads(int64_t threads) {
  constexpr int64_t most = 4096;
  if (threads < 0 || threads > most)
    fail(NESTED_INVALID_ARGUMENT,
         "%lld threads; expected 1 to %lld, or 0 for all processors",
         ll(threads), ll(most));
}

nested_status nested_pool_create(int64_t threads,
                                 nested_pool_t **pool) noexcept {
  return guard([&] {
    requireHandle(pool, "pool");
    checkThreads(threads);
    *pool = reinterpret_cast<nested_pool_t *>(new Pool(threads));
  });
}

void nested_pool_destroy(nested_pool_t *pool) noexcept {
  delete reinterpret_cast<Pool *>(pool);
}

int64_t nested_pool_threads(const nested_pool_t *pool) noexcept {
  return reinterpret_cast<const Pool *>(pool)->threads();
}

nested_status nested_set_default_threads(int64_t threads) noexcept {
  return guard([&] {
    checkThreads(threads);
    setDefaultThreads(threads);
  });
}

int64_t nested_default_threads(void) noexcept { return defaultThreads(); }

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static nested_options checkOptions(const nested_options *options) {
  if (!options)
    return NESTED_INIT(nested_options);
  if (options->struct_size < sizeof(nested_options))
    fail(NESTED_INVALID_ARGUMENT,
         "struct_size of the options is %u, expected %zu; start from "
         "NESTED_INIT",
         options->struct_size, sizeof(nested_options));
  if (options->flags ||
      std::any_of(std::begin(options->reserved), std::end(options->reserved),
                  [](uint64_t r) { return r != 0; }))
    fail(NESTED_INVALID_ARGUMENT,
         "flags and reserved fields of the options must be zero");
  if (options->stream)
    fail(NESTED_UNSUPPORTED, "the CPU has no streams; stream must be null");
  if (options->max_bytes < 0)
    fail(NESTED_INVALID_ARGUMENT, "max_bytes is %lld", ll(options->max_bytes));
  const nested_allocator *allocator = options->allocator;
  if (allocator && allocator->struct_size < sizeof(nested_allocator))
    fail(NESTED_INVALID_ARGUMENT,
         "struct_size of the allocator is %u, expected %zu; start from "
         "NESTED_INIT",
         allocator->struct_size, sizeof(nested_allocator));
  if (allocator && !allocator->allocate != !allocator->deallocate)
    fail(NESTED_INVALID_ARGUMENT, "an allocator needs both functions, or none");
  return *options;
}

nested_status nested_plan(const nested_entry_t *entry,
                          const nested_argument *args, int64_t num_args,
                          const nested_options *options,
                          nested_plan_t **plan) noexcept {
  return guard([&] {
    requireHandle(entry, "entry");
    requireHandle(plan, "plan");
    *plan = makePlan(*entry, args, num_args, checkOptions(options)).release();
  });
}

void nested_plan_release(nested_plan_t *plan) noexcept { delete plan; }

nested_status nested_plan_get_info(const nested_plan_t *plan,
                                   nested_plan_info *info) noexcept {
  return guard([&] {
    requireHandle(plan, "plan");
    nested_plan_info out = NESTED_INIT(nested_plan_info);
    out.exact = plan->exact;
    out.num_results = static_cast<int64_t>(plan->results.size());
    out.num_steps = static_cast<int64_t>(plan->steps.size());
    out.threads = plan->workers();
    out.peak_bytes = plan->budget.total();
    out.result_bytes = plan->budget.bytes(Budget::Results);
    out.workspace_bytes = plan->layout.bytes;
    out.temp_bytes = plan->layout.arenaBytes;
    out.scratch_bytes = plan->layout.bytes - plan->layout.scratch;
    out.staging_bytes = plan->layout.stagingBytes;
    out.table_bytes = plan->budget.bytes(Budget::Tables);
    out.flops = plan->flops;
    out.bytes_moved = plan->bytesMoved;
    if (plan->entry->prepared)
      out.prepared_bytes = plan->entry->prepared->bytes;
    writeInfo(info, out);
  });
}

nested_status nested_plan_get_argument(const nested_plan_t *plan, int64_t index,
                                       nested_argument_info *info) noexcept {
  return guard([&] {
    requireHandle(plan, "plan");
    checkIndex("argument", index, plan->args.size());
    const Value &value = plan->entry->args[index];
    const PlannedArg &arg = plan->args[index];
    nested_argument_info out = NESTED_INIT(nested_argument_info);
    out.staged = arg.staged;
    out.rows = arg.rows;
    out.row_capacity = arg.extent;
    out.row_bytes = value.rowBytes;
    out.num_instances = value.isRagged() ? plan->counts[value.path] : 1;
    out.offsets = arg.offsets.empty() ? nullptr : arg.offsets.data();
    writeInfo(info, out);
  });
}

nested_status nested_plan_get_result(const nested_plan_t *plan, int64_t index,
                                     nested_result_info *info) noexcept {
  return guard([&] {
    requireHandle(plan, "plan");
    checkIndex("result", index, plan->results.size());
    const PlannedResult &result = plan->results[index];
    nested_result_info out = NESTED_INIT(nested_result_info);
    out.exact = result.exact;
    out.rows = result.rows;
    out.row_bytes = plan->entry->results[index].rowBytes;
    out.bytes = result.bytes;
    out.num_samples = result.numSamples;
    out.num_instances = result.numInstances;
    out.lengths = result.lengths.empty() ? nullptr : result.lengths.data();
    out.path_lengths =
        result.pathLengths.empty() ? nullptr : result.pathLengths.data();
    out.offsets = result.offsets.empty() ? nullptr : result.offsets.data();
    writeInfo(info, out);
  });
}

nested_status nested_plan_get_step(const nested_plan_t *plan, int64_t index,
                                   nested_step_info *info) noexcept {
  return guard([&] {
    requireHandle(plan, "plan");
    checkIndex("step", index, plan->steps.size());
    const Step &step = plan->entry->steps[index];
    const PlannedStep &planned = plan->steps[index];
    nested_step_info out = NESTED_INIT(nested_step_info);
    out.op = stepName(step.op);
    out.kernel = step.kernel.c_str();
    out.rows = planned.rows;
    out.units = planned.units;
    out.grains = planned.grains;
    out.flops = planned.flops;
    out.bytes = planned.bytes;
    writeInfo(info, out);
  });
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// The memory that a run takes from the allocator; given back on the way out,
/// results only if the run failed.
class RunMemory {
public:
  RunMemory(const nested_plan_t &plan, nested_result *results, void *given)
      : plan(plan), results(results), bytes(plan.layout.bytes) {
    if (given) {
      workspace = given;
      return;
    }
    workspace = owned = plan.allocate(bytes);
    // Pages that are new are made present here, not inside of kernels. A byte
    // of each will do: kernels rarely use all of their scratch memory.
    constexpr int64_t page = 4096;
    auto *memory = static_cast<volatile char *>(workspace);
    for (int64_t at = plan.layout.scratch; at < bytes; at += page)
      memory[at] = 0;
  }
  RunMemory(const RunMemory &) = delete;

  void takeResults() {
    data = reinterpret_cast<void **>(static_cast<char *>(workspace) +
                                     plan.layout.results);
    std::fill_n(data, plan.results.size(), nullptr);
    for (size_t k = 0; k < plan.results.size(); ++k) {
      data[k] = recordAt(results, static_cast<int64_t>(k)).data;
      if (!data[k] && plan.results[k].bytes > 0)
        data[k] = plan.allocate(plan.results[k].bytes);
    }
  }

  ~RunMemory() {
    for (size_t k = 0; data && !keep && k < plan.results.size(); ++k)
      if (data[k] && !recordAt(results, static_cast<int64_t>(k)).data)
        plan.deallocate(data[k], plan.results[k].bytes);
    if (owned)
      plan.deallocate(owned, bytes);
  }

  const nested_plan_t &plan;
  nested_result *results;
  int64_t bytes;
  void *workspace = nullptr, *owned = nullptr;
  void **data = nullptr;
  bool keep = false;
};
} // namespace

static void runPlan(const nested_plan_t &plan, const nested_argument *args,
                    int64_t numArgs, nested_result *results, int64_t numResults,
                    void *workspace) {
  Run::checkBuffers(plan, args, numArgs, results, numResults, workspace);
  RunMemory memory(plan, results, workspace);
  memory.takeResults();
  Run run(plan, args, results, memory.workspace);
  run.execute(memory.data);
  run.reportResults(memory.data);
  memory.keep = true;
}

nested_status nested_run(const nested_plan_t *plan, const nested_argument *args,
                         int64_t num_args, nested_result *results,
                         int64_t num_results, void *workspace) noexcept {
  return guard([&] {
    requireHandle(plan, "plan");
    runPlan(*plan, args, num_args, results, num_results, workspace);
  });
}

nested_status nested_prepare(const nested_entry_t *entry,
                             const nested_argument *args, int64_t num_args,
                             const nested_options *options, void *prepared,
                             int64_t bytes) noexcept {
  return guard([&] {
    requireHandle(entry, "entry");
    checkRecords(*entry->entry, args, num_args);
    nested_options checked = checkOptions(options);
    if (!entry->entry->prepared)
      return;
    const Prepared &what = *entry->entry->prepared;
    checkBlock(prepared, bytes, *entry->entry, entry->entry->name);
    std::vector<nested_argument> taken;
    for (int arg : what.args) {
      nested_argument &copy = taken.emplace_back(recordAt(args, arg));
      copy.struct_size = sizeof(copy);
      if (copy.flags & ~static_cast<uint32_t>(NESTED_READ))
        fail(NESTED_INVALID_ARGUMENT,
             "%s: flags 0x%x; an argument is prepared with NESTED_READ or none",
             argumentName(*entry->entry, arg).c_str(), copy.flags);
    }
    std::vector<nested_result> places;
    for (int64_t place : what.resultPlaces)
      places.emplace_back(NESTED_INIT(nested_result)).data =
          static_cast<char *>(prepared) + place;
    auto numTaken = static_cast<int64_t>(taken.size());
    nested_entry_t maker = {entry->artifact, &what.maker};
    auto plan = makePlan(maker, taken.data(), numTaken, checked);
    Run::checkBuffers(*plan, taken.data(), numTaken, places.data(),
                      static_cast<int64_t>(places.size()), nullptr);
    breakPrepared(prepared);
    runPlan(*plan, taken.data(), numTaken, places.data(),
            static_cast<int64_t>(places.size()), nullptr);
    sealPrepared(prepared, *entry->artifact, *entry->entry);
  });
}

void nested_free_results(const nested_plan_t *plan, nested_result *results,
                         int64_t num_results) noexcept {
  for (int64_t k = 0; k < num_results; ++k) {
    nested_result &result = recordAt(results, k);
    if (result.data)
      plan->deallocate(result.data, plan->results[k].bytes);
    result.data = nullptr;
  }
}
