//===- Normalizations.cpp - softmax, normalize ----------------------------===//
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
// softmax
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(ragged::SoftmaxOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  double infinity = std::numeric_limits<double>::infinity();
  for (auto [array, source] :
       llvm::zip_equal(result->instances, get(op.getSource()).instances)) {
    // Groups, numbered by the coordinates that are not reduced.
    SmallVector<int64_t> kept(source.shape.begin(), source.shape.end());
    for (int64_t dim : op.getDims())
      kept[dim] = 1;
    SmallVector<int64_t> strides = getStrides(kept);
    for (int64_t dim : op.getDims())
      strides[dim] = 0;
    auto forEach = [&, &data = source.data, shape = source.shape](auto visit) {
      Odometer walk(shape);
      walk.addOperand(strides);
      for (size_t i = 0; i < data.size(); ++i, walk.next())
        visit(i, walk.getOffset(0), data[i].f);
    };
    size_t count = countElements(kept);
    std::vector<double> most(count, -infinity), sum(count, 0);
    forEach([&](size_t, int64_t group, double x) {
      most[group] = maximum(most[group], x);
    });
    for (double &shift : most)
      if (shift == -infinity)
        shift = 0;
    forEach([&](size_t, int64_t group, double x) {
      sum[group] += std::exp(x - most[group]);
    });
    Array &out = array;
    forEach([&](size_t i, int64_t group, double x) {
      // R5: a group that is masked out sums to 0.
      double shifted = x - most[group];
      if (op.getLog())
        out.data[i].f = sum[group] == 0 ? x : shifted - std::log(sum[group]);
      else
        out.data[i].f = sum[group] == 0 ? 0 : std::exp(shifted) / sum[group];
    });
  }
  return set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// normalize
//===----------------------------------------------------------------------===//

/// Each element's list of statistics, its place in `scale` and `offset`, and
/// then the same formula for all kinds.
LogicalResult Interpreter::run(ragged::NormalizeOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  using ragged::NormalizeKind;
  NormalizeKind kind = op.getKind();
  bool perChannel =
      kind == NormalizeKind::Group || kind == NormalizeKind::Instance;
  const Array *scale =
      op.getScale() ? &get(op.getScale()).instances.front() : nullptr;
  const Array *offset =
      op.getOffset() ? &get(op.getOffset()).instances.front() : nullptr;
  double eps = op.getEps().convertToDouble();
  for (auto [array, source] :
       llvm::zip_equal(result->instances, get(op.getSource()).instances)) {
    ArrayRef<int64_t> shape = source.shape;
    int64_t columns =
        countElements(shape.take_back(perChannel ? 1 : op.getDims()));
    for (const Array *operand : {scale, offset})
      if (operand && static_cast<int64_t>(operand->data.size()) != columns)
        return op.emitError("scale and offset need ") << columns << " elements";
    int64_t size = source.data.size();
    int64_t width = kind == NormalizeKind::Group ? columns / op.getGroups() : 1;
    auto listOf = [&](int64_t i) {
      return perChannel ? i % columns / width : i / columns;
    };
    int64_t lists = size ? listOf(size - 1) + 1 : 0;
    std::vector<double> mean(lists, 0), square(lists, 0), count(lists, 0);
    for (int64_t i = 0; i < size; ++i) {
      mean[listOf(i)] += source.data[i].f;
      count[listOf(i)] += 1;
    }
    for (int64_t k = 0; k < lists; ++k)
      mean[k] = kind == NormalizeKind::RMS ? 0 : mean[k] / count[k];
    for (int64_t i = 0; i < size; ++i) {
      double centred = source.data[i].f - mean[listOf(i)];
      square[listOf(i)] += centred * centred;
    }
    for (int64_t i = 0; i < size; ++i) {
      int64_t list = listOf(i);
      double y = (source.data[i].f - mean[list]) /
                 std::sqrt(square[list] / count[list] + eps);
      if (scale)
        y *= scale->data[i % columns].f;
      if (offset)
        y += offset->data[i % columns].f;
      array.data[i].f = y;
    }
  }
  return set(op.getResult(), std::move(*result));
}
