//===- Arguments.cpp - Arguments from files or at random ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Failure.h"
#include "Results.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace nested::run;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool sameType(const NpyArray &a, const NpyArray &b) {
  return a.kind == b.kind && a.itemBytes == b.itemBytes;
}

static std::string typeText(const NpyArray &array) {
  return array.kind + std::to_string(array.itemBytes);
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (int64_t n : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Structure and arrays
//===----------------------------------------------------------------------===//

Arguments::Arguments(const nested_entry_t *entry, const Options &options,
                     NpzFile given)
    : entry(entry), options(options), arrays(std::move(given)) {
  auto count = static_cast<size_t>(nested_entry_num_args(entry));
  records.assign(count, NESTED_INIT(nested_argument));
  for (size_t i = 0; i < count; ++i) {
    nested_value_info info = NESTED_INIT(nested_value_info);
    check(nested_entry_arg(entry, static_cast<int64_t>(i), &info));
    nested_argument &record = records[i];
    record.dtype = info.dtype;
    record.rank = info.rank;
    record.shape = info.shape;
    if (info.flags & NESTED_VALUE_MUTABLE)
      record.flags |= NESTED_MUTABLE;
    if (info.kind == NESTED_KIND_RAGGED) {
      record.num_samples = -1;
      record.row_capacity = INT64_MAX; // Until there is data.
      bindLengths(i, info);
    }
    bindArray(i, info);
  }
  shareSamples();
  checkCounts();
  checkUnused();
}

/// Arguments that bind no length have the samples of others of their batch.
void Arguments::shareSamples() {
  auto infoOf = [&](size_t i) {
    nested_value_info info = NESTED_INIT(nested_value_info);
    check(nested_entry_arg(entry, static_cast<int64_t>(i), &info));
    return info;
  };
  for (size_t i = 0; i < records.size(); ++i) {
    nested_value_info info = infoOf(i);
    if (info.path_rank == 0 || records[i].num_samples >= 0) {
      records[i].num_samples = std::max<int64_t>(records[i].num_samples, 0);
      continue;
    }
    for (size_t j = 0; j < records.size() && records[i].num_samples < 0; ++j) {
      nested_value_info other = infoOf(j);
      if (other.path_rank > 0 && std::string(other.path[0]) == info.path[0])
        records[i].num_samples = records[j].num_samples;
    }
    if (records[i].num_samples >= 0)
      continue;
    std::string symbol = info.num_ragged ? "" : info.path[0];
    for (int d = 0; d < info.rank && symbol.empty(); ++d)
      if (info.shape[d] < 0)
        symbol = info.extents[d];
    fail(UserError, "argument '" + std::string(info.name) +
                        "' has no lengths: give --lengths " + symbol +
                        "=..., or --input");
  }
}

/// The runtime is told pointers, not how many numbers lie behind them.
void Arguments::checkCounts() const {
  for (const Given &each : given) {
    if (!each.values)
      continue;
    const nested_argument &record = records[each.arg];
    int64_t instances = each.depth == 0 ? 1 : record.num_samples;
    for (int k = 1; k < each.depth; ++k) {
      const int64_t *lengths = record.path_lengths[k - 1];
      if (!lengths)
        fail(UserError, each.source + " needs the path lengths as well");
      int64_t sum = 0;
      for (int64_t i = 0; i < instances; ++i)
        if (lengths[i] < 0 || __builtin_add_overflow(sum, lengths[i], &sum))
          fail(UserError, each.source + ": path lengths are negative or "
                                        "too large");
      instances = sum;
    }
    if (each.count != instances)
      fail(UserError, each.source + " has " + std::to_string(each.count) +
                          " numbers, expected " + std::to_string(instances));
  }
}

const int64_t *Arguments::findIntegers(const std::string &name,
                                       int64_t &count) {
  auto it = arrays.find(name);
  if (it == arrays.end())
    return nullptr;
  used[name] = true;
  const NpyArray &array = it->second;
  if ((array.kind != 'i' && array.kind != 'u') || array.shape.size() > 1)
    fail(UserError, options.inputArrays + ": '" + name +
                        "' must be one row of integers, not " +
                        typeText(array) + " " + shapeText(array.shape));
  std::vector<int64_t> &values = integers.emplace_back();
  for (int64_t i = 0; i < array.size(); ++i) {
    int64_t value = 0;
    const char *at = array.bytes.data() + i * array.itemBytes;
    std::memcpy(&value, at, static_cast<size_t>(array.itemBytes));
    // Sign extension of narrow types.
    int shift = 64 - 8 * static_cast<int>(array.itemBytes);
    if (array.kind == 'i')
      value =
          static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
    else if (value < 0)
      fail(UserError,
           options.inputArrays + ": '" + name + "' has a number above 2^63");
    values.push_back(value);
  }
  count = static_cast<int64_t>(values.size());
  values.reserve(1); // Never null.
  return values.data();
}

const int64_t *Arguments::findSymbol(const std::string &symbol,
                                     int64_t &count) {
  auto it = options.lengths.find(symbol);
  if (it == options.lengths.end())
    return nullptr;
  usedLengths[symbol] = true;
  std::vector<int64_t> &values = integers.emplace_back(it->second);
  values.reserve(1);
  count = static_cast<int64_t>(values.size());
  return values.data();
}

void Arguments::bindLengths(size_t index, const nested_value_info &info) {
  nested_argument &record = records[index];
  std::string name = info.name;
  // The number of samples is the number of lengths of a path of one component,
  // or of the outermost path component.
  auto setSamples = [&](int64_t count, const std::string &source) {
    if (record.num_samples >= 0 && record.num_samples != count)
      fail(UserError, "argument '" + name + "': " + source + " has " +
                          std::to_string(count) + " lengths, others have " +
                          std::to_string(record.num_samples));
    record.num_samples = count;
  };
  auto find = [&](const std::string &array, const char *symbol, int64_t &count,
                  std::string &source) {
    const int64_t *values = findIntegers(array, count);
    source = "'" + array + "'";
    if (!values) {
      values = findSymbol(symbol, count);
      source = std::string("--lengths ") + symbol;
    }
    return values;
  };
  std::vector<const int64_t *> &lengths = pointers.emplace_back();
  int ragged = 0;
  for (int dim = 0; dim < info.rank; ++dim) {
    if (info.shape[dim] >= 0)
      continue;
    int64_t count = 0;
    std::string source, key = name + ".lengths";
    const int64_t *values = nullptr;
    if (info.num_ragged > 1)
      values = find(key + "." + std::to_string(ragged), info.extents[dim],
                    count, source);
    if (!values)
      values = find(key, info.extents[dim], count, source);
    if (values && info.path_rank == 1)
      setSamples(count, source);
    lengths.push_back(values);
    given.push_back({index, info.path_rank, count, values, source});
    ++ragged;
  }
  record.lengths = lengths.data();
  std::vector<const int64_t *> &pathLengths = pointers.emplace_back();
  for (int component = 1; component < info.path_rank; ++component) {
    int64_t count = 0;
    std::string source, key = name + ".path_lengths";
    if (info.path_rank > 2)
      key += "." + std::to_string(component - 1);
    const int64_t *values = find(key, info.path[component], count, source);
    if (values && component == 1)
      setSamples(count, source);
    pathLengths.push_back(values);
    given.push_back({index, component, count, values, source});
  }
  if (!pathLengths.empty())
    record.path_lengths = pathLengths.data();
  int64_t count = 0;
  if (info.path_rank > 0)
    if (const int64_t *samples = findSymbol(info.path[0], count)) {
      if (count != 1 || *samples < 0)
        fail(UserError, std::string("--lengths ") + info.path[0] +
                            ": the number of samples is one number");
      setSamples(*samples, std::string("--lengths ") + info.path[0]);
      record.num_samples = *samples;
    }
  if (const int64_t *base = findIntegers(name + ".base", count)) {
    record.base = base;
    if (record.num_samples < 0 && info.path_rank == 1)
      record.num_samples = count;
    given.push_back(
        {index, info.path_rank, count, base, "'" + name + ".base'"});
  }
}

void Arguments::bindArray(size_t index, const nested_value_info &info) {
  auto it = arrays.find(info.name);
  if (it == arrays.end())
    return;
  used[info.name] = true;
  const NpyArray &array = it->second;
  nested_argument &record = records[index];
  std::string what = options.inputArrays + ": '" + info.name + "'";
  NpyArray expected = describeDtype(info.dtype);
  if (!sameType(array, expected))
    fail(UserError, what + " is " + typeText(array) + ", expected " +
                        typeText(expected) + " (" +
                        nested_dtype_name(info.dtype) + ")");
  // Storage dims: [row, static dims...] of ragged values, all of dense ones.
  bool ragged = info.kind == NESTED_KIND_RAGGED;
  std::vector<int64_t> expectedShape;
  std::vector<int> storage; // Array dim of each storage dim.
  if (ragged) {
    expectedShape.push_back(array.shape.empty() ? -1 : array.shape[0]);
    for (int k = info.row_rank; k < info.rank; ++k)
      expectedShape.push_back(info.shape[info.order[k]]);
    for (size_t k = 0; k < expectedShape.size(); ++k)
      storage.push_back(static_cast<int>(k));
  } else {
    expectedShape.assign(info.shape, info.shape + info.rank);
    storage.assign(info.order, info.order + info.rank);
  }
  if (array.shape != expectedShape) {
    if (ragged)
      expectedShape[0] = -1;
    fail(UserError, what + " has the shape " + shapeText(array.shape) +
                        ", expected " + shapeText(expectedShape) +
                        (ragged ? " (-1: the rows of all samples)" : ""));
  }
  size_t rank = array.shape.size();
  std::vector<int64_t> arrayStrides(rank);
  int64_t stride = 1;
  for (size_t k = 0; k < rank; ++k) {
    size_t dim = array.fortranOrder ? k : rank - 1 - k;
    arrayStrides[dim] = stride;
    stride *= std::max<int64_t>(array.shape[dim], 1);
  }
  std::vector<int64_t> &strides = integers.emplace_back();
  for (int dim : storage)
    strides.push_back(arrayStrides[dim]);
  record.strides = strides.data();
  record.row_capacity = ragged ? array.shape[0] : 1;
  // Copied to memory of its own, aligned for every dtype.
  char *data = memory.emplace_back(new char[array.bytes.size() + 1]).get();
  std::copy(array.bytes.begin(), array.bytes.end(), data);
  record.data = data;
  it->second.bytes = {};
}

void Arguments::checkUnused() const {
  for (const auto &each : arrays)
    if (!used.count(each.first))
      fail(UserError, options.inputArrays + ": '" + each.first +
                          "' belongs to no argument of entry '" +
                          nested_entry_name(entry) + "'");
  for (const auto &each : options.lengths)
    if (!usedLengths.count(each.first))
      fail(UserError, "--lengths " + each.first + ": entry '" +
                          nested_entry_name(entry) +
                          "' has no such symbol, or its arguments give it");
}

//===----------------------------------------------------------------------===//
// Random data
//===----------------------------------------------------------------------===//

namespace {
/// splitmix64: the same numbers on every machine.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { // In [-1, 1).
    return static_cast<double>(next() >> 11) / 4503599627370496.0 - 1;
  }
};
} // namespace

static void writeRandom(Random &random, int32_t dtype, char *at) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof(value)); };
  switch (dtype) {
  case NESTED_F64:
    return put(random.uniform());
  case NESTED_F32:
    return put(static_cast<float>(random.uniform()));
  case NESTED_BF16: {
    auto value = static_cast<float>(random.uniform());
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return put(static_cast<uint16_t>(bits >> 16));
  }
  case NESTED_F16: {
    // Multiples of 2^-10 are exact in every binade below 1.
    auto steps = static_cast<int>(random.next() >> 53) - 1024;
    auto sign = static_cast<uint16_t>(steps < 0 ? 0x8000 : 0);
    int magnitude = steps < 0 ? -steps : steps;
    if (magnitude == 0)
      return put(sign);
    int exponent = 15, mantissa = magnitude;
    for (; mantissa < 1024; mantissa <<= 1)
      --exponent;
    return put(
        static_cast<uint16_t>(sign | exponent << 10 | (mantissa & 0x3FF)));
  }
  default: {
    // Integers 0 and 1, little endian in any width.
    std::memset(at, 0, nested_dtype_size(dtype));
    *at = static_cast<char>(random.next() >> 63);
  }
  }
}

void Arguments::fillRandom(const nested_plan_t *plan, uint64_t seed) {
  for (size_t i = 0; i < records.size(); ++i) {
    nested_argument &record = records[i];
    if (record.data)
      continue;
    nested_argument_info info = NESTED_INIT(nested_argument_info);
    check(nested_plan_get_argument(plan, static_cast<int64_t>(i), &info));
    int64_t bytes = info.row_capacity * info.row_bytes;
    char *data = memory.emplace_back(new (std::nothrow) char[bytes + 1]).get();
    if (!data) {
      nested_value_info value = NESTED_INIT(nested_value_info);
      check(nested_entry_arg(entry, static_cast<int64_t>(i), &value));
      fail(EnvironmentError,
           "out of memory: argument '" + std::string(value.name) + "' needs " +
               std::to_string(bytes) + " bytes of random values");
    }
    Random random{seed * 0x9e3779b97f4a7c15 + i};
    auto size = static_cast<int64_t>(nested_dtype_size(record.dtype));
    for (int64_t at = 0; at < bytes; at += size)
      writeRandom(random, record.dtype, data + at);
    record.data = data;
    record.row_capacity = info.row_capacity;
  }
}

int64_t Arguments::prepare(const nested_options &planOptions, bool fill) {
  int64_t bytes = nested_entry_prepared_bytes(entry);
  constexpr int64_t alignment = 64;
  char *block = nullptr;
  if (fill && bytes) {
    block = memory.emplace_back(new char[bytes + alignment]).get();
    block += (alignment - reinterpret_cast<uintptr_t>(block) % alignment) %
             alignment;
    nested_options options = planOptions;
    options.on_event = nullptr; // Its steps are not those of the plan.
    check(
        nested_prepare(entry, records.data(), size(), &options, block, bytes));
  }
  for (size_t i = 0; i < records.size(); ++i) {
    nested_value_info info = NESTED_INIT(nested_value_info);
    check(nested_entry_arg(entry, static_cast<int64_t>(i), &info));
    if (!(info.flags & NESTED_VALUE_PREPARED))
      continue;
    records[i].flags |= NESTED_PREPARED;
    records[i].data = block;
    records[i].row_capacity = bytes;
  }
  return bytes;
}
