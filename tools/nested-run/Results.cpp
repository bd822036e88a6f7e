//===- Results.cpp - Results of a run -------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

using namespace nested::run;

NpyArray nested::run::describeDtype(int32_t dtype) {
  NpyArray array;
  array.itemBytes = static_cast<int64_t>(nested_dtype_size(dtype));
  switch (dtype) {
  case NESTED_I1:
    array.kind = 'b';
    break;
  case NESTED_BF16:
    array.kind = 'V';
    break;
  case NESTED_F16:
  case NESTED_F32:
  case NESTED_F64:
    array.kind = 'f';
    break;
  default:
    array.kind = dtype >= NESTED_U8 ? 'u' : 'i';
  }
  return array;
}

static uint64_t hash(uint64_t state, const void *data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    state =
        (state ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3;
  return state;
}

uint64_t nested::run::checksum(const Result &result) {
  uint64_t state =
      hash(0xcbf29ce484222325, result.bytes.data(), result.bytes.size());
  for (const auto *list : {&result.lengths, &result.pathLengths})
    for (const std::vector<int64_t> &each : *list)
      state = hash(state, each.data(), each.size() * sizeof(int64_t));
  return state;
}

NpzFile nested::run::toArrays(const std::vector<Result> &results) {
  NpzFile arrays;
  for (const Result &result : results) {
    NpyArray values = describeDtype(result.dtype);
    values.shape = result.valuesShape;
    values.bytes = result.bytes;
    arrays[result.name] = std::move(values);
    auto add = [&](const char *what,
                   const std::vector<std::vector<int64_t>> &lists) {
      for (size_t k = 0; k < lists.size(); ++k) {
        NpyArray array = describeDtype(NESTED_I64);
        array.shape = {static_cast<int64_t>(lists[k].size())};
        array.bytes.resize(lists[k].size() * sizeof(int64_t));
        if (!lists[k].empty())
          std::memcpy(array.bytes.data(), lists[k].data(), array.bytes.size());
        std::string name = result.name + what;
        if (lists.size() > 1)
          name += "." + std::to_string(k);
        arrays[name] = std::move(array);
      }
    };
    add(".lengths", result.lengths);
    add(".path_lengths", result.pathLengths);
  }
  return arrays;
}

void nested::run::printResults(const std::vector<Result> &results) {
  for (const Result &result : results) {
    std::string extents;
    for (const std::string &extent : result.extents)
      extents += (extents.empty() ? "" : ", ") + extent;
    std::printf("result %s: [%s] %s", result.name.c_str(), extents.c_str(),
                nested_dtype_name(result.dtype));
    if (result.ragged)
      std::printf(", %" PRId64 " instances, %" PRId64 " rows",
                  result.numInstances,
                  result.valuesShape.empty() ? 0 : result.valuesShape[0]);
    std::printf(", checksum %016" PRIx64 "\n", checksum(result));
  }
}
