//===- AttentionOp.cpp - attention ------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

namespace {
/// A bias or a mask, for all heads if it has no dim for them.
struct Pairs {
  const Array *array = nullptr;

  const Number &at(int64_t query, int64_t key, int64_t head) const {
    ArrayRef<int64_t> shape = array->shape;
    int64_t offset = query * shape[1] + key;
    return array->data[shape.size() == 2 ? offset : offset * shape[2] + head];
  }
};
} // namespace

/// Query by query and head by head: all scores of the keys that it sees, their
/// softmax, the weighted sum of the values.
LogicalResult Interpreter::run(ragged::AttentionOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType queryType = LogicalType::of(op.getQuery());
  FailureOr<const Instances *> instances = getInstances(op, queryType.path);
  if (failed(instances))
    return failure();
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    auto arrayOf = [&](mlir::Value value) -> const Array & {
      return getArray(get(value), LogicalType::of(value), **instances, i);
    };
    const Array &query = arrayOf(op.getQuery()), &key = arrayOf(op.getKey());
    const Array &value = arrayOf(op.getValue());
    Array &into = result->instances[i];
    Pairs bias, mask;
    if (op.getBias())
      bias.array = &arrayOf(op.getBias());
    if (op.getMask())
      mask.array = &arrayOf(op.getMask());
    int64_t queries = query.shape[0], heads = query.shape[1];
    int64_t keys = key.shape[0], groups = key.shape[1];
    int64_t size = query.shape[2], width = value.shape[2];
    if (value.shape[0] != keys || key.shape[2] != size)
      return op.emitError("cannot attend from ")
             << size << " elements to " << key.shape[2] << " of " << keys
             << " keys with " << value.shape[0] << " values in "
             << scope.describe(queryType.path, i);
    double scale = op.getScale() ? op.getScale()->convertToDouble()
                                 : 1 / std::sqrt(static_cast<double>(size));
    for (int64_t n = 0; n < queries; ++n)
      for (int64_t h = 0; h < heads; ++h) {
        int64_t group = h / (heads / groups), position = n + keys - queries;
        std::vector<std::pair<int64_t, double>> scores;
        double largest = -std::numeric_limits<double>::infinity();
        for (int64_t m = 0; m < keys; ++m) {
          if (op.getLeft() &&
              m < position - static_cast<int64_t>(*op.getLeft()))
            continue;
          if (op.getRight() &&
              m > position + static_cast<int64_t>(*op.getRight()))
            continue;
          if (mask.array && !mask.at(n, m, h).i)
            continue;
          double score = 0;
          for (int64_t c = 0; c < size; ++c)
            score += query.data[(n * heads + h) * size + c].f *
                     key.data[(m * groups + group) * size + c].f;
          score *= scale;
          if (op.getSoftCap()) {
            double cap = op.getSoftCap()->convertToDouble();
            score = cap * std::tanh(score / cap);
          }
          if (bias.array)
            score += bias.at(n, m, h).f;
          scores.push_back({m, score});
          // NaN wins (R10).
          if (std::isnan(score) || score > largest)
            largest = score;
        }
        // Scores that are all -inf are those of keys that nobody sees.
        double total = 0;
        double base = std::isinf(largest) && largest < 0 ? 0 : largest;
        for (auto &[m, score] : scores) {
          score = std::exp(score - base);
          total += score;
        }
        for (int64_t c = 0; c < width; ++c) {
          double sum = 0;
          for (auto [m, weight] : scores)
            sum += weight * value.data[(m * groups + group) * width + c].f;
          into.data[(n * heads + h) * width + c].f =
              total == 0 ? 0 : sum / total;
        }
      }
  }
  return set(op.getResult(), std::move(*result));
}
