//===- PlanArguments.cpp - Checking the arguments of a call ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include <algorithm>

using namespace nested::rt;

static long long ll(int64_t value) { return static_cast<long long>(value); }

std::string nested::rt::argumentName(const Entry &entry, int index) {
  return entry.name + ": argument '" + entry.args[index].name + "'";
}

std::string nested::rt::resultName(const Entry &entry, int index) {
  return entry.name + ": result '" + entry.results[index].name + "'";
}

int32_t nested::rt::deviceType(int32_t given) {
  return given == NESTED_DEVICE_DEFAULT ? NESTED_DEVICE_CPU : given;
}

/// " (declared at block.py:3)", or nothing.
static std::string declaredAt(const Value &value) {
  return value.where.empty() ? "" : " (declared at " + value.where + ")";
}

/// "[N, 384]".
static std::string shapeText(const Value &value) {
  std::string text = "[";
  for (const char *extent : value.cExtents)
    text += (text.size() > 1 ? ", " : "") + std::string(extent);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static void checkCount(const Entry &entry, const nested_argument *args,
                       int64_t numArgs) {
  auto expected = static_cast<int64_t>(entry.args.size());
  if (numArgs == expected && (args || expected == 0))
    return;
  std::string names;
  for (const Value &arg : entry.args)
    names += (names.empty() ? "" : ", ") + arg.name;
  if (names.empty())
    names = "none";
  if (!args && numArgs == expected)
    fail(NESTED_INVALID_ARGUMENT, "%s: the arguments (%s) are null",
         entry.name.c_str(), names.c_str());
  if (numArgs >= 0 && numArgs < expected)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: expected %lld arguments (%s), got %lld: '%s' is missing",
         entry.name.c_str(), ll(expected), names.c_str(), ll(numArgs),
         entry.args[numArgs].name.c_str());
  fail(NESTED_INVALID_ARGUMENT, "%s: expected %lld arguments (%s), got %lld",
       entry.name.c_str(), ll(expected), names.c_str(), ll(numArgs));
}

void nested::rt::checkRecords(const Entry &entry, const nested_argument *args,
                              int64_t numArgs) {
  checkCount(entry, args, numArgs);
  for (int64_t i = 0; i < numArgs; ++i)
    if (args->struct_size < sizeof(nested_argument) ||
        recordAt(args, i).struct_size != args->struct_size)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: struct_size is %u, expected %zu; start from NESTED_INIT",
           argumentName(entry, static_cast<int>(i)).c_str(),
           recordAt(args, i).struct_size, sizeof(nested_argument));
}

static void checkFlags(const Entry &entry, int index,
                       const nested_argument &arg, PlannedArg &planned) {
  const Value &value = entry.args[index];
  std::string name = argumentName(entry, index);
  constexpr uint32_t known =
      NESTED_READ | NESTED_DONATED | NESTED_MUTABLE | NESTED_PREPARED;
  if (arg.flags & ~known)
    fail(NESTED_INVALID_ARGUMENT, "%s: unknown flags 0x%x", name.c_str(),
         arg.flags);
  if (arg.flags & NESTED_PREPARED) {
    if (!entry.prepared || !entry.prepared->hasArg(index))
      fail(NESTED_UNSUPPORTED,
           "%s: is flagged as prepared, but this artifact has no prepared form "
           "of it",
           name.c_str());
    if (arg.flags & NESTED_DONATED)
      fail(NESTED_INVALID_ARGUMENT, "%s: is both prepared and donated",
           name.c_str());
  }
  if (value.isMutable && (arg.flags & NESTED_READ))
    fail(NESTED_INVALID_ARGUMENT,
         "%s: is read-only, but the program updates it in place", name.c_str());
  if (value.isMutable && !(arg.flags & NESTED_MUTABLE))
    fail(NESTED_INVALID_ARGUMENT,
         "%s: the program updates it in place; flag it as mutable",
         name.c_str());
  if (arg.flags & NESTED_DONATED) {
    auto numResults = static_cast<int64_t>(entry.results.size());
    if (arg.donated_to < 0 || arg.donated_to >= numResults)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: is donated to result %d, but there are %lld results",
           name.c_str(), arg.donated_to, ll(numResults));
    if (arg.flags & NESTED_READ)
      fail(NESTED_INVALID_ARGUMENT, "%s: is both read-only and donated",
           name.c_str());
    if (value.isMutable)
      fail(NESTED_INVALID_ARGUMENT, "%s: is both updated in place and donated",
           name.c_str());
    planned.donatedTo = arg.donated_to;
  }
  planned.flags = arg.flags;
  planned.deviceType = deviceType(arg.device_type);
  planned.deviceId = arg.device_id;
  if (planned.deviceType != NESTED_DEVICE_CPU)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: is on device %s %d, but the artifact runs on the CPU",
         name.c_str(),
         planned.deviceType == NESTED_DEVICE_CUDA ? "CUDA" : "of unknown type",
         arg.device_id);
  if (arg.reserved0 ||
      std::any_of(std::begin(arg.reserved), std::end(arg.reserved),
                  [](uint64_t r) { return r != 0; }))
    fail(NESTED_INVALID_ARGUMENT,
         "%s: a reserved field is not zero; start from NESTED_INIT",
         name.c_str());
}

static void checkType(const Entry &entry, int index,
                      const nested_argument &arg) {
  const Value &value = entry.args[index];
  std::string name = argumentName(entry, index);
  std::string at = declaredAt(value);
  if (arg.dtype != value.dtype) {
    const char *got = nested_dtype_name(arg.dtype);
    fail(NESTED_INVALID_ARGUMENT, "%s: expected dtype %s, got %s%s",
         name.c_str(), nested_dtype_name(value.dtype),
         got ? got : ("unknown dtype " + std::to_string(arg.dtype)).c_str(),
         at.c_str());
  }
  if (arg.rank != value.rank())
    fail(NESTED_INVALID_ARGUMENT, "%s: expected %d dims %s, got %d%s",
         name.c_str(), value.rank(), shapeText(value).c_str(), arg.rank,
         at.c_str());
  if (!arg.shape && arg.rank > 0)
    fail(NESTED_INVALID_ARGUMENT, "%s: shape is null", name.c_str());
  for (int i = 0; i < arg.rank; ++i) {
    if (arg.shape[i] == value.shape[i])
      continue;
    if (value.shape[i] < 0)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: dim %d (%s) is ragged: its size must be -1 and come with "
           "lengths, got %lld%s",
           name.c_str(), i, value.cExtents[i], ll(arg.shape[i]), at.c_str());
    if (arg.shape[i] == -1)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: dim %d has size %lld, got a ragged "
           "dim%s",
           name.c_str(), i, ll(value.shape[i]), at.c_str());
    fail(NESTED_INVALID_ARGUMENT, "%s: dim %d must be %lld, got %lld%s",
         name.c_str(), i, ll(value.shape[i]), ll(arg.shape[i]), at.c_str());
  }
  if (!value.isRagged())
    return;
  if (arg.num_samples < 0)
    fail(NESTED_INVALID_ARGUMENT, "%s: num_samples is %lld", name.c_str(),
         ll(arg.num_samples));
  if (arg.row_capacity < 0)
    fail(NESTED_INVALID_ARGUMENT, "%s: row_capacity is %lld", name.c_str(),
         ll(arg.row_capacity));
}

/// One block stands for all arguments that can be prepared.
static void checkAllPrepared(nested_plan_t &plan) {
  const Entry &entry = *plan.entry;
  auto isGiven = [&](int i) { return plan.args[i].isPrepared(); };
  const std::vector<int> &all = entry.prepared->args;
  auto given = std::find_if(all.begin(), all.end(), isGiven);
  auto missing = std::find_if_not(all.begin(), all.end(), isGiven);
  plan.isPrepared = given != all.end();
  if (plan.isPrepared && missing != all.end())
    fail(NESTED_INVALID_ARGUMENT,
         "%s: is not flagged as prepared, but argument '%s' is; one block "
         "stands for both",
         argumentName(entry, *missing).c_str(),
         entry.args[*given].name.c_str());
}

void nested::rt::checkArguments(nested_plan_t &plan,
                                const nested_argument *args, int64_t numArgs) {
  const Entry &entry = *plan.entry;
  checkRecords(entry, args, numArgs);
  plan.args.resize(entry.args.size());
  for (int64_t i = 0; i < numArgs; ++i) {
    int index = static_cast<int>(i);
    const nested_argument &arg = recordAt(args, i);
    checkFlags(entry, index, arg, plan.args[i]);
    checkType(entry, index, arg);
  }
  if (entry.prepared)
    checkAllPrepared(plan);
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

namespace {
/// Gives every symbol its lengths and every path its instances, each when
/// something asks for it.
class LengthBinder {
public:
  LengthBinder(nested_plan_t &plan, const nested_argument *args)
      : plan(plan), entry(*plan.entry), structure(plan.structure), args(args),
        pathDone(entry.paths.size()), symbolDone(entry.symbols.size()) {}

  void run() {
    for (size_t s = 0; s < entry.symbols.size(); ++s)
      if (!entry.symbols[s].fromData())
        bindSymbol(static_cast<int>(s));
    for (size_t s = 0; s < entry.symbols.size(); ++s)
      bindSymbol(static_cast<int>(s));
    for (size_t p = 0; p < entry.paths.size(); ++p)
      bindPath(static_cast<int>(p));
    for (size_t i = 0; i < entry.args.size(); ++i)
      compareLengths(static_cast<int>(i));
  }

private:
  const nested_argument &arg(int index) const { return recordAt(args, index); }

  void bindPath(int index) {
    if (pathDone[index])
      return;
    const Path &path = entry.paths[index];
    if (path.depth > 0) {
      bindPath(path.parent);
      bindSymbol(path.component);
    }
    plan.counts[index] = structure.countInstances(index);
    if (path.depth >= 2) {
      plan.budget.charge(Budget::Tables,
                         mulSizes(plan.counts[index], sizeof(int64_t),
                                  "the instances of a path"));
      plan.parents[index].resize(plan.counts[index]);
      structure.fillParents(index, plan.parents[index].data());
      plan.parentViews[index] = plan.parents[index].data();
    }
    pathDone[index] = true;
  }

  void bindSymbol(int index) {
    if (symbolDone[index])
      return;
    const Symbol &symbol = entry.symbols[index];
    bindPath(symbol.path);
    int64_t count = plan.counts[symbol.path];
    plan.budget.charge(Budget::Tables, mulSizes(count, sizeof(int64_t),
                                                "the lengths of a symbol"));
    std::vector<int64_t> &values = plan.values[index];
    values.resize(count);
    plan.valueViews[index] = values.data();
    switch (symbol.source) {
    case Symbol::Source::Batch:
      values[0] = batchSize(symbol);
      break;
    case Symbol::Source::Dim:
    case Symbol::Source::Component:
      copyLengths(symbol, values);
      break;
    case Symbol::Source::Data:
      boundSymbol(symbol, values);
      break;
    }
    symbolDone[index] = true;
  }

  int64_t batchSize(const Symbol &symbol) {
    int64_t size = arg(symbol.arg).num_samples;
    for (size_t i = 0; i < entry.args.size(); ++i) {
      const Path &path = entry.paths[entry.args[i].path];
      int index = static_cast<int>(i);
      if (path.depth == 0 || path.names[0] != symbol.name ||
          arg(index).num_samples == size)
        continue;
      fail(NESTED_INVALID_ARGUMENT,
           "%s: has %lld samples, but argument '%s' has %lld%s",
           argumentName(entry, index).c_str(), ll(arg(index).num_samples),
           entry.args[symbol.arg].name.c_str(), ll(size),
           declaredAt(entry.args[index]).c_str());
    }
    return size;
  }

  /// The caller's lengths of a dim or path component; null if not given.
  const int64_t *givenLengths(int index, int dim) const {
    const Value &value = entry.args[index];
    auto it = std::find(value.raggedDims.begin(), value.raggedDims.end(), dim);
    const int64_t *const *lengths = arg(index).lengths;
    return lengths ? lengths[it - value.raggedDims.begin()] : nullptr;
  }
  const int64_t *givenPathLengths(int index, int component) const {
    const int64_t *const *lengths = arg(index).path_lengths;
    return lengths ? lengths[component - 1] : nullptr;
  }

  void copyLengths(const Symbol &symbol, std::vector<int64_t> &values) {
    bool dim = symbol.source == Symbol::Source::Dim;
    const int64_t *given = dim ? givenLengths(symbol.arg, symbol.dim)
                               : givenPathLengths(symbol.arg, symbol.dim);
    std::string name = argumentName(entry, symbol.arg);
    const char *what = dim ? "dim" : "path component";
    if (!given && !values.empty())
      fail(NESTED_INVALID_ARGUMENT, "%s: the lengths of %s %d (%s) are missing",
           name.c_str(), what, symbol.dim, symbol.name.c_str());
    for (size_t i = 0; i < values.size(); ++i) {
      if (given[i] < 0)
        fail(NESTED_INVALID_ARGUMENT,
             "%s: %s %d (%s) has the negative length %lld in %s", name.c_str(),
             what, symbol.dim, symbol.name.c_str(), ll(given[i]),
             structure.describe(symbol.path, static_cast<int64_t>(i)).c_str());
      values[i] = given[i];
    }
  }

  void boundSymbol(const Symbol &symbol, std::vector<int64_t> &values) {
    std::string what = "the bound of " + symbol.name;
    for (int s : symbol.upper.symbols())
      bindSymbol(s);
    bindPath(symbol.upperPath);
    auto bound = [&](int64_t i) {
      return std::max<int64_t>(0, structure.evaluate(symbol.upper,
                                                     symbol.upperPath, i,
                                                     Mode::Upper, what));
    };
    if (symbol.upperPerInstance) {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = bound(static_cast<int64_t>(i));
      return;
    }
    int64_t largest = 0;
    for (int64_t i = 0; i < plan.counts[symbol.upperPath]; ++i)
      largest = std::max(largest, bound(i));
    std::fill(values.begin(), values.end(), largest);
  }

  /// "; N was bound by dim 0 of argument 'x' at block.py:3".
  std::string boundBy(const Extent &extent) const {
    std::string text;
    for (int s : extent.symbols()) {
      const Symbol &symbol = entry.symbols[s];
      if (symbol.source != Symbol::Source::Dim)
        continue;
      const Value &value = entry.args[symbol.arg];
      text += "; " + symbol.name + " was bound by dim " +
              std::to_string(symbol.dim) + " of argument '" + value.name + "'";
      if (!value.where.empty())
        text += " at " + value.where;
    }
    return text;
  }

  /// Lengths that are given and not needed must agree with those that are.
  void compareLengths(int index) {
    const Value &value = entry.args[index];
    std::string name = argumentName(entry, index);
    for (int dim : value.raggedDims) {
      const int64_t *given = givenLengths(index, dim);
      const Extent &extent = value.extents[dim];
      for (int64_t i = 0; given && i < plan.counts[value.path]; ++i) {
        int64_t expected =
            structure.evaluate(extent, value.path, i, Mode::Exact, "a dim");
        if (given[i] != expected)
          fail(NESTED_INVALID_ARGUMENT,
               "%s: dim %d has length %lld in %s, but %s is %lld there%s%s",
               name.c_str(), dim, ll(given[i]),
               structure.describe(value.path, i).c_str(), extent.text().c_str(),
               ll(expected), boundBy(extent).c_str(),
               declaredAt(value).c_str());
      }
    }
    for (int p = value.path; entry.paths[p].depth > 1;
         p = entry.paths[p].parent) {
      const Path &path = entry.paths[p];
      const int64_t *given = givenPathLengths(index, path.depth - 1);
      for (int64_t i = 0; given && i < plan.counts[path.parent]; ++i) {
        int64_t expected = plan.values[path.component][i];
        if (given[i] != expected)
          fail(NESTED_INVALID_ARGUMENT,
               "%s: path component %s has length %lld in %s, but %lld was "
               "given by another argument%s",
               name.c_str(), path.names.back().c_str(), ll(given[i]),
               structure.describe(path.parent, i).c_str(), ll(expected),
               declaredAt(value).c_str());
      }
    }
  }

  nested_plan_t &plan;
  const Entry &entry;
  const Structure &structure;
  const nested_argument *args;
  std::vector<bool> pathDone, symbolDone;
};
} // namespace

void nested::rt::bindLengths(nested_plan_t &plan, const nested_argument *args) {
  LengthBinder(plan, args).run();
  for (const Check &check : plan.entry->checks)
    plan.structure.check(check, plan.entry->name, NESTED_INVALID_ARGUMENT);
}

//===----------------------------------------------------------------------===//
// Rows, bases, strides
//===----------------------------------------------------------------------===//

/// Checks a base table and returns how many rows must exist.
static int64_t checkBase(const nested_plan_t &plan, int index,
                         const nested_argument &arg) {
  const PlannedArg &planned = plan.args[index];
  const Value &value = plan.entry->args[index];
  int64_t extent = 0;
  for (size_t i = 0; i + 1 < planned.offsets.size(); ++i) {
    auto sample = [&] {
      return plan.structure.describe(value.path, static_cast<int64_t>(i));
    };
    std::string name;
    auto context = [&] {
      name = argumentName(*plan.entry, index);
      return name.c_str();
    };
    int64_t first = arg.base[i], end;
    if (first < 0)
      fail(NESTED_INVALID_ARGUMENT, "%s: the first row of %s is negative: %lld",
           context(), sample().c_str(), ll(first));
    if (i > 0 && first < arg.base[i - 1])
      fail(NESTED_INVALID_ARGUMENT,
           "%s: first rows must not decrease: %s starts at %lld, the one "
           "before it at %lld",
           context(), sample().c_str(), ll(first), ll(arg.base[i - 1]));
    if (value.isMutable && first < extent)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: is updated in place, but %s starts at row %lld inside the "
           "rows of another (up to %lld)",
           context(), sample().c_str(), ll(first), ll(extent));
    int64_t rows = planned.offsets[i + 1] - planned.offsets[i];
    if (addOverflows(first, rows, end) || end > arg.row_capacity)
      fail(NESTED_INVALID_ARGUMENT,
           "%s: %s has %lld rows from row %lld, but row_capacity is %lld",
           context(), sample().c_str(), ll(rows), ll(first),
           ll(arg.row_capacity));
    extent = std::max(extent, end);
  }
  return extent;
}

static void planStrides(nested_plan_t &plan, int index,
                        const nested_argument &arg) {
  PlannedArg &planned = plan.args[index];
  const Value &value = plan.entry->args[index];
  if (!arg.strides || planned.isPrepared())
    return;
  // Sizes in storage order; the first of a ragged value is its rows.
  std::vector<int64_t> sizes;
  if (value.isRagged())
    sizes.push_back(planned.extent);
  for (int i = 0; i < value.numRowDims(); ++i)
    sizes.push_back(value.rowDim(i));
  std::string name = argumentName(*plan.entry, index);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return; // No element.
  bool contiguous = true;
  int64_t expected = 1, last = 0;
  for (size_t i = sizes.size(); i-- > 0;) {
    int64_t stride = arg.strides[i], span;
    if (sizes[i] > 1) {
      if (stride < 0)
        fail(NESTED_UNSUPPORTED,
             "%s: storage dim %zu has the negative stride %lld; copy the "
             "array first",
             name.c_str(), i, ll(stride));
      if (stride == 0 && value.isMutable)
        fail(NESTED_INVALID_ARGUMENT,
             "%s: is updated in place, but its rows overlap (storage dim %zu "
             "has stride 0)",
             name.c_str(), i);
      contiguous &= stride == expected;
      if (mulOverflows(sizes[i] - 1, stride, span) ||
          addOverflows(last, span, last) ||
          mulOverflows(last, value.elementBytes, span))
        fail(NESTED_INVALID_ARGUMENT, "%s: its strides span more than 64 bits",
             name.c_str());
    }
    expected = mulSizes(expected, sizes[i], "an array size");
  }
  if (contiguous)
    return;
  if (value.isMutable)
    fail(NESTED_UNSUPPORTED, "%s: is updated in place and must be contiguous",
         name.c_str());
  planned.strides.assign(arg.strides, arg.strides + sizes.size());
}

void nested::rt::planArgumentRows(nested_plan_t &plan,
                                  const nested_argument *args) {
  const Entry &entry = *plan.entry;
  for (size_t i = 0; i < entry.args.size(); ++i) {
    int index = static_cast<int>(i);
    const Value &value = entry.args[i];
    PlannedArg &planned = plan.args[i];
    const nested_argument &arg = recordAt(args, index);
    std::string name = argumentName(entry, index);
    if (value.isRagged()) {
      int64_t count = plan.counts[value.path];
      std::string what = "argument '" + value.name + "'";
      plan.budget.charge(Budget::Tables,
                         mulSizes(count, 2 * sizeof(int64_t), "offsets"));
      planned.offsets.resize(count + 1);
      for (int64_t k = 0; k < count; ++k)
        planned.offsets[k + 1] = addSizes(
            planned.offsets[k],
            plan.structure.rows(value, k, Mode::Exact, what), name.c_str());
      planned.rows = planned.extent = planned.offsets[count];
      if (arg.base && count > 0) {
        planned.extent = checkBase(plan, index, arg);
        planned.base.assign(arg.base, arg.base + count);
      } else if (planned.rows > arg.row_capacity) {
        fail(NESTED_INVALID_ARGUMENT,
             "%s: its lengths need %lld rows, but row_capacity is %lld",
             name.c_str(), ll(planned.rows), ll(arg.row_capacity));
      }
    }
    mulSizes(std::max(planned.rows, planned.extent), value.rowBytes,
             (name + ": its size").c_str());
    planStrides(plan, index, arg);
    bool worksInPlace = false;
    if (arg.flags & NESTED_DONATED) {
      const std::vector<int> &list = entry.results[arg.donated_to].inPlaceOf;
      worksInPlace = planned.base.empty() &&
                     std::find(list.begin(), list.end(), index) != list.end();
    }
    planned.staged = !planned.strides.empty() ||
                     (value.needsPacked && !planned.base.empty()) ||
                     ((arg.flags & NESTED_DONATED) && !worksInPlace);
    if (planned.staged && value.isMutable)
      fail(NESTED_UNSUPPORTED,
           "%s: is updated in place and must be packed without gaps",
           name.c_str());
  }
}
