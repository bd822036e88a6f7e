//===- RunChecks.cpp - Buffers of a run -----------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include <algorithm>

using namespace nested::rt;

static long long ll(int64_t value) { return static_cast<long long>(value); }

namespace {
/// Memory that a run touches, and what it is.
struct Range {
  uintptr_t begin = 0, end = 0;
  bool overlaps(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

static Range makeRange(const void *data, int64_t bytes) {
  auto begin = reinterpret_cast<uintptr_t>(data);
  return data ? Range{begin, begin + static_cast<uintptr_t>(bytes)} : Range{};
}

/// `name` gives the start of a message: most calls need none, and all buffers
/// are compared with each other.
template <typename Name>
static void checkPointer(const Name &name, const Value &value, const void *data,
                         int64_t bytes) {
  if (!data && bytes > 0)
    fail(NESTED_INVALID_ARGUMENT, "%s: data is null, but %lld bytes are needed",
         name().c_str(), ll(bytes));
  if (reinterpret_cast<uintptr_t>(data) %
      static_cast<uintptr_t>(value.elementBytes))
    fail(NESTED_INVALID_ARGUMENT,
         "%s: data (%p) is not aligned to the %lld bytes of a %s",
         name().c_str(), data, ll(value.elementBytes),
         nested_dtype_name(value.dtype));
}

/// Bytes from `data` to the end of the last element that a run reads.
static int64_t argumentBytes(const PlannedArg &planned, const Value &value) {
  if (planned.strides.empty())
    return planned.extent * value.rowBytes;
  int64_t last = 0;
  size_t dim = 0;
  if (value.isRagged())
    last += (planned.extent - 1) * planned.strides[dim++];
  for (int i = 0; i < value.numRowDims(); ++i)
    last += (value.rowDim(i) - 1) * planned.strides[dim++];
  return (last + 1) * value.elementBytes;
}

static Range checkArgument(const nested_plan_t &plan, int index,
                           const nested_argument &arg) {
  const Value &value = plan.entry->args[index];
  const PlannedArg &planned = plan.args[index];
  auto name = [&] { return argumentName(*plan.entry, index); };
  if (arg.dtype != value.dtype || arg.rank != value.rank())
    fail(NESTED_INVALID_ARGUMENT,
         "%s: dtype or rank is not that of the plan (%s, %d dims)",
         name().c_str(), nested_dtype_name(value.dtype), value.rank());
  if (arg.flags != planned.flags ||
      ((arg.flags & NESTED_DONATED) && arg.donated_to != planned.donatedTo))
    fail(NESTED_INVALID_ARGUMENT, "%s: flags differ from those of the plan",
         name().c_str());
  if (deviceType(arg.device_type) != planned.deviceType ||
      arg.device_id != planned.deviceId)
    fail(NESTED_INVALID_ARGUMENT, "%s: is on another device than planned",
         name().c_str());
  for (size_t i = 0; i < planned.strides.size(); ++i)
    if (!arg.strides || arg.strides[i] != planned.strides[i])
      fail(NESTED_INVALID_ARGUMENT, "%s: strides differ from those of the plan",
           name().c_str());
  if (planned.isPrepared()) {
    if (!isPrepared(arg.data, arg.row_capacity, *plan.artifact, *plan.entry))
      failPrepared(arg.data, arg.row_capacity, *plan.artifact, *plan.entry,
                   name());
    return makeRange(arg.data, plan.entry->prepared->bytes);
  }
  if (value.isRagged() && arg.row_capacity < planned.extent)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: the plan needs %lld rows, but row_capacity is %lld",
         name().c_str(), ll(planned.extent), ll(arg.row_capacity));
  int64_t bytes = planned.rows > 0 ? argumentBytes(planned, value) : 0;
  checkPointer(name, value, arg.data, bytes);
  return makeRange(arg.data, bytes);
}

static Range checkResult(const nested_plan_t &plan, int index,
                         const nested_result &result) {
  const Value &value = plan.entry->results[index];
  const PlannedResult &planned = plan.results[index];
  auto name = [&] { return resultName(*plan.entry, index); };
  if (result.flags & NESTED_READ)
    fail(NESTED_INVALID_ARGUMENT, "%s: its memory is read-only",
         name().c_str());
  if (result.flags)
    fail(NESTED_INVALID_ARGUMENT, "%s: unknown flags 0x%x", name().c_str(),
         result.flags);
  if (deviceType(result.device_type) != NESTED_DEVICE_CPU)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: is wanted on device type %d, but the artifact runs on the CPU",
         name().c_str(), result.device_type);
  if (std::any_of(std::begin(result.reserved), std::end(result.reserved),
                  [](uint64_t r) { return r != 0; }))
    fail(NESTED_INVALID_ARGUMENT,
         "%s: a reserved field is not zero; start from NESTED_INIT",
         name().c_str());
  if (!result.data)
    return {};
  bool hasRows = value.isRagged() || value.rows;
  if (hasRows && result.row_capacity < planned.rows)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: needs %s%lld rows, but row_capacity is %lld", name().c_str(),
         planned.exact ? "" : "room for up to ", ll(planned.rows),
         ll(result.row_capacity));
  checkPointer(name, value, result.data, planned.bytes);
  return makeRange(result.data, planned.bytes);
}

void Run::checkBuffers(const nested_plan_t &plan, const nested_argument *args,
                       int64_t numArgs, const nested_result *results,
                       int64_t numResults, const void *workspace) {
  const Entry &entry = *plan.entry;
  auto expectCount = [&](const char *what, size_t expected, int64_t got,
                         bool given) {
    if (got != static_cast<int64_t>(expected) || (!given && expected))
      fail(NESTED_INVALID_ARGUMENT, "%s: expected %zu %s, got %lld%s",
           entry.name.c_str(), expected, what, ll(got), given ? "" : " (null)");
  };
  auto expectSize = [&](const char *what, uint32_t got, size_t expected) {
    if (got < expected)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: struct_size of %s is %u, expected %zu; start from NESTED_INIT",
           entry.name.c_str(), what, got, expected);
  };
  expectCount("arguments", entry.args.size(), numArgs, args);
  expectCount("results", entry.results.size(), numResults, results);
  for (int64_t i = 0; i < numArgs; ++i) {
    expectSize("an argument", args->struct_size, sizeof(nested_argument));
    expectSize("an argument", recordAt(args, i).struct_size, args->struct_size);
  }
  for (int64_t i = 0; i < numResults; ++i) {
    expectSize("a result", results->struct_size, sizeof(nested_result));
    expectSize("a result", recordAt(results, i).struct_size,
               results->struct_size);
  }
  if (reinterpret_cast<uintptr_t>(workspace) % alignment)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: the workspace (%p) is not aligned to %lld bytes",
         entry.name.c_str(), workspace, ll(alignment));

  // Nothing that is written may overlap anything else. There are few buffers,
  // so all pairs are compared, without memory for a list.
  Range space = makeRange(workspace, plan.layout.bytes);
  auto rejectWorkspace = [&](const Range &range, auto nameOf, int index) {
    if (range.overlaps(space))
      fail(NESTED_INVALID_ARGUMENT, "%s: overlaps the workspace",
           nameOf(entry, index).c_str());
  };
  for (int64_t i = 0; i < numArgs; ++i) {
    int index = static_cast<int>(i);
    Range range = checkArgument(plan, index, recordAt(args, i));
    rejectWorkspace(range, argumentName, index);
    if (plan.args[i].isPrepared() &&
        recordAt(args, i).data !=
            recordAt(args, entry.prepared->args.front()).data)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: its prepared block is not that of argument '%s'; one block "
           "stands for both",
           argumentName(entry, index).c_str(),
           entry.args[entry.prepared->args.front()].name.c_str());
    if (!entry.args[i].isMutable)
      continue;
    for (int64_t j = 0; j < numArgs; ++j)
      if (j != i && range.overlaps(checkArgument(plan, static_cast<int>(j),
                                                 recordAt(args, j))))
        fail(NESTED_INVALID_ARGUMENT,
             "%s: is updated in place, but overlaps argument '%s'",
             argumentName(entry, index).c_str(), entry.args[j].name.c_str());
  }
  for (int64_t k = 0; k < numResults; ++k) {
    int index = static_cast<int>(k);
    Range range = checkResult(plan, index, recordAt(results, k));
    rejectWorkspace(range, resultName, index);
    for (int64_t j = 0; j < k; ++j)
      if (range.overlaps(
              checkResult(plan, static_cast<int>(j), recordAt(results, j))))
        fail(NESTED_INVALID_ARGUMENT, "%s: overlaps result '%s'",
             resultName(entry, index).c_str(), entry.results[j].name.c_str());
    for (int64_t i = 0; i < numArgs; ++i) {
      const PlannedArg &planned = plan.args[i];
      Range other = checkArgument(plan, static_cast<int>(i), recordAt(args, i));
      if (!range.overlaps(other))
        continue;
      bool donated =
          (planned.flags & NESTED_DONATED) && planned.donatedTo == index;
      if (donated && (planned.staged || range.begin == other.begin))
        continue;
      fail(NESTED_INVALID_ARGUMENT,
           donated ? "%s: overlaps the donated argument '%s' and does not "
                     "start where it does"
                   : "%s: overlaps argument '%s', which is not donated to it",
           resultName(entry, index).c_str(), entry.args[i].name.c_str());
    }
  }
}
