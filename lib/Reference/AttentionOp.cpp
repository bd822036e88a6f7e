//===- AttentionOp.cpp - attention and its gradients ------------------===//
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

/// One sample of attention or of its gradients.
template <typename Op>
struct Sample {
  Op op;
  const Array &query, &key, &value;
  Pairs bias, mask;
  int64_t queries, heads, keys, groups, size, width;
  double scale;

  template <typename ArrayOf>
  Sample(Op op, ArrayOf arrayOf)
      : op(op), query(arrayOf(op.getQuery())), key(arrayOf(op.getKey())),
        value(arrayOf(op.getValue())), queries(query.shape[0]),
        heads(query.shape[1]), keys(key.shape[0]), groups(key.shape[1]),
        size(query.shape[2]), width(value.shape[2]),
        scale(op.getScale() ? op.getScale()->convertToDouble()
                            : 1 / std::sqrt(static_cast<double>(size))) {
    if (op.getBias())
      bias.array = &arrayOf(op.getBias());
    if (op.getMask())
      mask.array = &arrayOf(op.getMask());
  }
  LogicalResult verify(const std::string &where) {
    if (value.shape[0] == keys && key.shape[2] == size)
      return success();
    return op.emitError("cannot attend from ")
           << size << " elements to " << key.shape[2] << " of " << keys
           << " keys with " << value.shape[0] << " values in " << where;
  }

  int64_t groupOf(int64_t head) const { return head / (heads / groups); }
  int64_t queryAt(int64_t n, int64_t h) const { return (n * heads + h) * size; }
  int64_t keyAt(int64_t m, int64_t h) const {
    return (m * groups + groupOf(h)) * size;
  }
  int64_t valueAt(int64_t m, int64_t h) const {
    return (m * groups + groupOf(h)) * width;
  }
  int64_t resultAt(int64_t n, int64_t h) const {
    return (n * heads + h) * width;
  }
  bool sees(int64_t n, int64_t m, int64_t h) {
    int64_t position = n + keys - queries;
    if (op.getLeft() && m < position - static_cast<int64_t>(*op.getLeft()))
      return false;
    if (op.getRight() && m > position + static_cast<int64_t>(*op.getRight()))
      return false;
    return !mask.array || mask.at(n, m, h).i;
  }
  /// `slope`: the derivative of the soft cap.
  double score(int64_t n, int64_t m, int64_t h, double &slope) {
    double score = 0;
    slope = 1;
    for (int64_t c = 0; c < size; ++c)
      score += query.data[queryAt(n, h) + c].f * key.data[keyAt(m, h) + c].f;
    score *= scale;
    if (op.getSoftCap()) {
      double cap = op.getSoftCap()->convertToDouble();
      double bent = std::tanh(score / cap);
      score = cap * bent;
      slope = 1 - bent * bent;
    }
    if (bias.array)
      score += bias.at(n, m, h).f;
    return score;
  }
};
} // namespace

/// Query by query and head by head: all scores of the keys that it sees, their
/// softmax, the weighted sum of the values.
LogicalResult Interpreter::run(ragged::AttentionOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getResult().getType());
  if (failed(result))
    return failure();
  FailureOr<RaggedValue> normalizer = failure();
  if (op.getNormalizer()) {
    normalizer = allocate(op, op.getNormalizer().getType());
    if (failed(normalizer))
      return failure();
  }
  LogicalType queryType = LogicalType::of(op.getQuery());
  FailureOr<const Instances *> instances = getInstances(op, queryType.path);
  if (failed(instances))
    return failure();
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    Sample sample(op, [&](mlir::Value value) -> const Array & {
      return getArray(get(value), LogicalType::of(value), **instances, i);
    });
    if (failed(sample.verify(scope.describe(queryType.path, i))))
      return failure();
    Array &into = result->instances[i];
    for (int64_t n = 0; n < sample.queries; ++n)
      for (int64_t h = 0; h < sample.heads; ++h) {
        std::vector<std::pair<int64_t, double>> scores;
        double largest = -std::numeric_limits<double>::infinity(), slope;
        for (int64_t m = 0; m < sample.keys; ++m) {
          if (!sample.sees(n, m, h))
            continue;
          double score = sample.score(n, m, h, slope);
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
        for (int64_t c = 0; c < sample.width; ++c) {
          double sum = 0;
          for (auto [m, weight] : scores)
            sum += weight * sample.value.data[sample.valueAt(m, h) + c].f;
          into.data[sample.resultAt(n, h) + c].f = total == 0 ? 0 : sum / total;
        }
        if (failed(normalizer))
          continue;
        Number *numbers =
            &normalizer->instances[i].data[(n * sample.heads + h) * 2];
        numbers[0].f = base;
        numbers[1].f = total == 0 ? 0 : 1 / total;
      }
  }
  if (succeeded(normalizer) &&
      failed(set(op.getNormalizer(), std::move(*normalizer))))
    return failure();
  return set(op.getResult(), std::move(*result));
}

/// Pair by pair: what the gradient of its score adds to those of its query, its
/// key, its value and its bias.
LogicalResult Interpreter::run(ragged::AttentionGradientOp op) {
  SmallVector<RaggedValue> results;
  for (mlir::Value value : op->getResults()) {
    FailureOr<RaggedValue> result = allocate(op, value.getType());
    if (failed(result))
      return failure();
    for (Array &array : result->instances)
      for (Number &number : array.data)
        number.f = 0;
    results.push_back(std::move(*result));
  }
  LogicalType queryType = LogicalType::of(op.getQuery());
  FailureOr<const Instances *> instances = getInstances(op, queryType.path);
  if (failed(instances))
    return failure();
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    auto arrayOf = [&](mlir::Value value) -> const Array & {
      return getArray(get(value), LogicalType::of(value), **instances, i);
    };
    Sample sample(op, arrayOf);
    if (failed(sample.verify(scope.describe(queryType.path, i))))
      return failure();
    const Array &seed = arrayOf(op.getSeed()),
                &forward = arrayOf(op.getResult());
    const Array &normalizer = arrayOf(op.getNormalizer());
    // That of a bias may be one for all members of a sample.
    auto gradient = [&](unsigned result, int64_t at) -> double & {
      size_t level = LogicalType::of(op->getResult(result)).path.size();
      int64_t instance = (*instances)->ancestors[level][i];
      return results[result].instances[instance].data[at].f;
    };
    for (int64_t n = 0; n < sample.queries; ++n)
      for (int64_t h = 0; h < sample.heads; ++h) {
        const Number *numbers = &normalizer.data[(n * sample.heads + h) * 2];
        int64_t query = sample.queryAt(n, h), own = sample.resultAt(n, h);
        double delta = 0;
        for (int64_t c = 0; c < sample.width; ++c)
          delta += seed.data[own + c].f * forward.data[own + c].f;
        for (int64_t m = 0; m < sample.keys; ++m) {
          double slope;
          double weight = 0;
          if (sample.sees(n, m, h))
            weight = std::exp(sample.score(n, m, h, slope) - numbers[0].f) *
                     numbers[1].f;
          // What has no weight has no gradient (R4).
          if (weight == 0)
            continue;
          int64_t key = sample.keyAt(m, h), value = sample.valueAt(m, h);
          double product = 0;
          for (int64_t c = 0; c < sample.width; ++c) {
            product += seed.data[own + c].f * sample.value.data[value + c].f;
            gradient(2, value + c) += weight * seed.data[own + c].f;
          }
          double change = weight * (product - delta);
          if (op.getBiasGradient()) {
            int64_t pair = n * sample.keys + m;
            bool isShared = sample.bias.array->shape.size() == 2;
            gradient(3, isShared ? pair : pair * sample.heads + h) += change;
          }
          change *= slope * sample.scale;
          for (int64_t c = 0; c < sample.size; ++c) {
            gradient(0, query + c) += change * sample.key.data[key + c].f;
            gradient(1, key + c) += change * sample.query.data[query + c].f;
          }
        }
      }
  }
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
    if (failed(set(value, std::move(result))))
      return failure();
  return success();
}
