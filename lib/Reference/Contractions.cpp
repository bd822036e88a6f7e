//===- Contractions.cpp - linear, reduce, normalize -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

/// result[row, m] = bias[m] + sum over k of source[row, k] * weights[k, m].
LogicalResult Interpreter::run(ragged::LinearOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  const Array &weights = get(op.getWeights()).instances.front();
  const Array *bias =
      op.getBias() ? &get(op.getBias()).instances.front() : nullptr;
  int64_t depth = weights.shape[0], width = weights.shape[1];
  if (bias && bias->shape[0] != width)
    return op.emitError("the bias has ")
           << bias->shape[0] << " elements for " << width << " columns";

  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source = get(op.getSource()).instances[i];
    if (source.shape.back() != depth || array.shape.back() != width)
      return op.emitError("cannot multiply rows of ")
             << source.shape.back() << " with weights of " << depth << " x "
             << width;
    bool floats = isFloat(array.dtype);
    int64_t rows = countElements(ArrayRef<int64_t>(array.shape).drop_back());
    for (int64_t row = 0; row < rows; ++row) {
      const Number *x = source.data.data() + row * depth;
      Number *y = array.data.data() + row * width;
      for (int64_t m = 0; bias && m < width; ++m)
        y[m] = bias->data[m];
      for (int64_t k = 0; k < depth; ++k) {
        const Number *w = weights.data.data() + k * width;
        if (floats)
          for (int64_t m = 0; m < width; ++m)
            y[m].f += x[k].f * w[m].f;
        else
          for (int64_t m = 0; m < width; ++m)
            y[m].i =
                wrapTo(array.dtype, static_cast<uint64_t>(x[k].i) * w[m].i +
                                        static_cast<uint64_t>(y[m].i));
      }
    }
  }
  return set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// What max and min start from, and what they are of nothing on request.
static Number getIdentity(bool isMax, DType dtype) {
  Number number;
  if (isFloat(dtype)) {
    number.f = std::numeric_limits<double>::infinity() * (isMax ? -1 : 1);
    return number;
  }
  if (dtype == DType::I1) {
    number.i = !isMax; // false < true
    return number;
  }
  int64_t most = (uint64_t(1) << (8 * getSize(dtype) - 1)) - 1;
  number.i = isMax ? -most - 1 : most;
  return number;
}

static void combine(ragged::ReduceKind kind, DType dtype, Number &sum,
                    Number number) {
  bool floats = isFloat(dtype);
  switch (kind) {
  case ragged::ReduceKind::Sum:
  case ragged::ReduceKind::Mean:
    if (floats)
      sum.f += number.f;
    else
      sum.i = wrapTo(dtype, static_cast<uint64_t>(sum.i) + number.i);
    return;
  case ragged::ReduceKind::Prod:
    if (floats)
      sum.f *= number.f;
    else
      sum.i = wrapTo(dtype, static_cast<uint64_t>(sum.i) * number.i);
    return;
  case ragged::ReduceKind::Max:
    if (floats)
      sum.f = maximum(sum.f, number.f);
    else
      sum.i = std::max(sum.i, number.i);
    return;
  case ragged::ReduceKind::Min:
    if (floats)
      sum.f = minimum(sum.f, number.f);
    else
      sum.i = std::min(sum.i, number.i);
    return;
  }
}

LogicalResult Interpreter::run(ragged::ReduceOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType type = LogicalType::of(op.getType());
  LogicalType sourceType = LogicalType::of(op.getSource());
  FailureOr<const Instances *> instances = getInstances(op, sourceType.path);
  if (failed(instances))
    return failure();
  ragged::ReduceKind kind = op.getKind();
  bool isMax = kind == ragged::ReduceKind::Max;
  bool isExtremum = isMax || kind == ragged::ReduceKind::Min;
  bool isMean = kind == ragged::ReduceKind::Mean;
  DType dtype = *getDType(type.elementType);
  DType sourceDType = *getDType(sourceType.elementType);
  bool convert = isFloat(dtype) && !isFloat(sourceDType);
  if ((isMean && !isFloat(dtype)) || (isFloat(sourceDType) && !isFloat(dtype)))
    return op.emitError("the reference interpreter does not support ")
           << ragged::stringifyReduceKind(op.getKind()) << " of "
           << getName(sourceDType) << " as " << getName(dtype);

  Number start{};
  if (isExtremum)
    start = getIdentity(isMax, dtype);
  else if (kind == ragged::ReduceKind::Prod && isFloat(dtype))
    start.f = 1;
  else if (kind == ragged::ReduceKind::Prod)
    start.i = 1;
  for (Array &array : result->instances)
    std::fill(array.data.begin(), array.data.end(), start);

  // All groups of one result instance have the same number of elements.
  std::vector<int64_t> counts(result->instances.size(), 0);
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    const Array &source = get(op.getSource()).instances[i];
    int64_t into = (*instances)->ancestors[type.path.size()][i];
    Array &array = result->instances[into];
    // The result does not move along the dims that are reduced.
    SmallVector<int64_t> own = getStrides(array.shape);
    SmallVector<int64_t> strides;
    int64_t next = 0, count = 1;
    for (auto [dim, size] : llvm::enumerate(source.shape)) {
      if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim))) {
        count *= size;
        strides.push_back(0);
        next += op.getKeepdims();
      } else {
        if (next >= static_cast<int64_t>(own.size()) ||
            array.shape[next] != size)
          return op.emitError("the result's sizes are not those of the dims "
                              "that are left in ")
                 << scope.describe(sourceType.path, i);
        strides.push_back(own[next++]);
      }
    }
    counts[into] += count;
    Odometer walk(source.shape);
    walk.addOperand(strides);
    for (Number number : source.data) {
      if (convert)
        number.f = static_cast<double>(number.i);
      combine(kind, dtype, array.data[walk.getOffset(0)], number);
      walk.next();
    }
  }

  for (auto [array, count] : llvm::zip_equal(result->instances, counts)) {
    for (Number &number : array.data) {
      // R5: a mean of nothing is 0; max and min of nothing are what `empty`
      // says.
      if (count == 0 &&
          (isMean ||
           (isExtremum && op.getEmpty() == ragged::EmptyPolicy::Zero)))
        number = Number{};
      else if (isMean)
        number.f /= static_cast<double>(count);
    }
  }
  return set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(ragged::NormalizeOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  const Array *scale =
      op.getScale() ? &get(op.getScale()).instances.front() : nullptr;
  const Array *offset =
      op.getOffset() ? &get(op.getOffset()).instances.front() : nullptr;
  double eps = op.getEps().convertToDouble();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source = get(op.getSource()).instances[i];
    ArrayRef<int64_t> shape = source.shape;
    int64_t columns = countElements(shape.take_back(op.getDims()));
    for (const Array *operand : {scale, offset})
      if (operand && static_cast<int64_t>(operand->data.size()) != columns)
        return op.emitError("scale and offset need ") << columns << " elements";
    int64_t rows = countElements(shape.drop_back(op.getDims()));
    for (int64_t row = 0; row < rows; ++row) {
      const Number *x = source.data.data() + row * columns;
      Number *y = array.data.data() + row * columns;
      double mean = 0, variance = 0;
      for (int64_t k = 0; k < columns; ++k)
        mean += x[k].f;
      mean /= static_cast<double>(columns);
      for (int64_t k = 0; k < columns; ++k)
        variance += (x[k].f - mean) * (x[k].f - mean);
      variance /= static_cast<double>(columns);
      for (int64_t k = 0; k < columns; ++k) {
        y[k].f = (x[k].f - mean) / std::sqrt(variance + eps);
        if (scale)
          y[k].f *= scale->data[k].f;
        if (offset)
          y[k].f += offset->data[k].f;
      }
    }
  }
  return set(op.getResult(), std::move(*result));
}
