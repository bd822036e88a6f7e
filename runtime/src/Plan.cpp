//===- Plan.cpp - A planned call ------------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

using namespace nested::rt;

//===----------------------------------------------------------------------===//
// Default allocator
//===----------------------------------------------------------------------===//

static void *defaultAllocate(void *, size_t bytes, size_t alignment, int32_t,
                             int32_t) {
  // Large blocks in huge pages: results are written once from end to end, and
  // page faults would be a good part of that time.
  constexpr size_t hugePage = size_t(2) << 20;
  bool huge = bytes >= 2 * hugePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, huge ? std::max(alignment, hugePage) : alignment,
                     bytes) != 0)
    return nullptr;
  if (huge)
    (void)madvise(memory, bytes, MADV_HUGEPAGE); // Only advice.
  return memory;
}

static void defaultDeallocate(void *, void *memory, size_t, size_t, int32_t,
                              int32_t) {
  std::free(memory);
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

nested_plan_t::nested_plan_t(const nested_entry_t &handle,
                             const nested_options &options)
    : artifact(handle.artifact), entry(handle.entry),
      budget(handle.entry->name, options.max_bytes) {
  onEvent = options.on_event;
  eventUser = options.event_user;
  if (options.allocator) {
    allocator = *options.allocator;
    allocator.struct_size = sizeof(allocator);
  } else {
    allocator = NESTED_INIT(nested_allocator);
  }
  if (!allocator.allocate) {
    allocator.allocate = defaultAllocate;
    allocator.deallocate = defaultDeallocate;
  }
  if (options.pool) {
    pool = reinterpret_cast<Pool *>(options.pool);
  } else {
    sharedPool = defaultPool();
    pool = sharedPool.get();
  }
  counts.resize(entry->paths.size());
  parents.resize(entry->paths.size());
  parentViews.resize(entry->paths.size());
  values.resize(entry->symbols.size());
  valueViews.resize(entry->symbols.size());
  tables.resize(entry->tables.size());
  tableViews.resize(entry->tables.size());
  entries.resize(entry->tables.size());
  totals.resize(entry->tables.size());
  structure.entry = entry;
  structure.counts = counts.data();
  structure.parents = parentViews.data();
  structure.values = valueViews.data();
  structure.tables = tableViews.data();
  structure.entries = entries.data();
  structure.totals = totals.data();
  exact = !entry->fromData();
  artifact->retain();
}

nested_plan_t::~nested_plan_t() { artifact->release(); }

void *nested_plan_t::allocate(int64_t bytes) const {
  void *memory = allocator.allocate(allocator.user, static_cast<size_t>(bytes),
                                    alignment, NESTED_DEVICE_CPU, 0);
  if (!memory)
    fail(NESTED_OUT_OF_MEMORY, "%s: the allocator has no memory for %s",
         entry->name.c_str(), describeBytes(bytes).c_str());
  return memory;
}

void nested_plan_t::deallocate(void *memory, int64_t bytes) const {
  allocator.deallocate(allocator.user, memory, static_cast<size_t>(bytes),
                       alignment, NESTED_DEVICE_CPU, 0);
}

std::unique_ptr<nested_plan_t>
nested::rt::makePlan(const nested_entry_t &entry, const nested_argument *args,
                     int64_t numArgs, const nested_options &options) {
  auto plan = std::make_unique<nested_plan_t>(entry, options);
  checkArguments(*plan, args, numArgs);
  bindLengths(*plan, args);
  planArgumentRows(*plan, args);
  planTables(*plan);
  planResults(*plan);
  planSteps(*plan);
  planWorkspace(*plan);
  return plan;
}

/// Sizes of all tables; memory only for those that do not depend on data.
void nested::rt::planTables(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  auto sizeOf = [&](size_t t) {
    return mulSizes(plan.entries[t], sizeof(int64_t), "the size of a table");
  };
  auto isPlanned = [&](size_t t) {
    return entry.tables[t].readyStep == notFromData &&
           entry.tables[t].kind != Table::Kind::Base;
  };
  for (size_t t = 0; t < entry.tables.size(); ++t) {
    plan.structure.measureTable(static_cast<int>(t), Mode::Upper);
    if (isPlanned(t))
      plan.budget.charge(Budget::Tables, sizeOf(t));
  }
  for (size_t t = 0; t < entry.tables.size(); ++t) {
    if (entry.tables[t].kind == Table::Kind::Base)
      plan.tableViews[t] = plan.args[entry.tables[t].arg].kernelBase();
    if (!isPlanned(t))
      continue;
    plan.tables[t].resize(plan.entries[t]);
    plan.structure.fillTable(static_cast<int>(t), Mode::Exact,
                             plan.tables[t].data());
    plan.tableViews[t] = plan.tables[t].data();
  }
}

static void planResultLengths(nested_plan_t &plan, const Value &value,
                              PlannedResult &result, const std::string &what) {
  const Structure &structure = plan.structure;
  int64_t count = result.numInstances;
  for (int dim : value.raggedDims) {
    const Extent &extent = value.extents[dim];
    int symbol = extent.asSymbol();
    if (symbol >= 0 && plan.entry->symbols[symbol].path == value.path) {
      result.lengths.push_back(plan.valueViews[symbol]);
      continue;
    }
    plan.budget.charge(Budget::Tables,
                       mulSizes(count, sizeof(int64_t), what.c_str()));
    std::vector<int64_t> &lengths = result.computedLengths.emplace_back(count);
    for (int64_t i = 0; i < count; ++i)
      lengths[i] = structure.size(extent, value.path, i, Mode::Upper, what);
    result.lengths.push_back(lengths.data());
  }
  // From the outside in.
  std::vector<int> chain;
  for (int p = value.path; plan.entry->paths[p].depth > 1;
       p = plan.entry->paths[p].parent)
    chain.push_back(p);
  for (size_t k = chain.size(); k-- > 0;)
    result.pathLengths.push_back(
        plan.valueViews[plan.entry->paths[chain[k]].component]);
}

void nested::rt::planResults(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  plan.results.resize(entry.results.size());
  for (size_t k = 0; k < entry.results.size(); ++k) {
    const Value &value = entry.results[k];
    PlannedResult &result = plan.results[k];
    std::string what = "result '" + value.name + "'";
    result.exact = value.readyStep == notFromData;
    // Pointers into this vector's elements are handed out.
    result.computedLengths.reserve(value.raggedDims.size());
    if (value.isRagged()) {
      int64_t count = plan.counts[value.path];
      int root = value.path;
      while (entry.paths[root].depth > 1)
        root = entry.paths[root].parent;
      result.numInstances = count;
      result.numSamples = plan.counts[root];
      plan.budget.charge(Budget::Tables,
                         mulSizes(count, sizeof(int64_t), what.c_str()));
      result.offsets.resize(count + 1);
      for (int64_t i = 0; i < count; ++i)
        if (addOverflows(result.offsets[i],
                         plan.structure.rows(value, i, Mode::Upper, what),
                         result.offsets[i + 1]))
          fail(NESTED_INVALID_ARGUMENT,
               "%s: %s: the total number of rows overflows 64 bits",
               entry.name.c_str(), what.c_str());
      result.rows = result.offsets[count];
      planResultLengths(plan, value, result, what);
    }
    if (value.rows) {
      int64_t rows = plan.structure.rows(*value.rows);
      if (value.isRagged() && result.exact && rows != result.rows)
        fail(NESTED_INVALID_ARTIFACT,
             "%s: %s: the manifest says %lld rows, its extents say %lld",
             entry.name.c_str(), what.c_str(), static_cast<long long>(rows),
             static_cast<long long>(result.rows));
      result.rows = rows;
    }
    result.bytes =
        mulSizes(result.rows, value.rowBytes,
                 (entry.name + ": " + what + ": the size in bytes").c_str());
    plan.budget.charge(Budget::Results, result.bytes);
  }
}
