//===- SortOps.cpp - Ops that order, search and scatter -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;
using ragged::ScatterKind;

/// Rising order: NaN is greater than every number (R10).
static bool isLess(DType dtype, Number lhs, Number rhs) {
  if (!isFloat(dtype))
    return lhs.i < rhs.i;
  if (std::isnan(lhs.f) || std::isnan(rhs.f))
    return !std::isnan(lhs.f) && std::isnan(rhs.f);
  return lhs.f < rhs.f;
}

LogicalResult Interpreter::run(ragged::SortOp op) {
  FailureOr<RaggedValue> sorted = allocate(op, op.getSorted().getType());
  FailureOr<RaggedValue> indices = allocate(op, op.getIndices().getType());
  if (failed(sorted) || failed(indices))
    return failure();
  int64_t dim = op.getDim();
  for (size_t i = 0; i < sorted->instances.size(); ++i) {
    const Array &source = get(op.getSource()).instances[i];
    int64_t length = source.shape[dim], stride = getStrides(source.shape)[dim];
    SmallVector<int64_t> starts(ArrayRef<int64_t>(source.shape));
    starts[dim] = length != 0;
    Odometer walk(starts);
    for (walk.addOperand(getStrides(source.shape)); walk.isValid();
         walk.next()) {
      const Number *run = source.data.data() + walk.getOffset(0);
      std::vector<int64_t> order(length);
      std::iota(order.begin(), order.end(), 0);
      auto before = [&](int64_t a, int64_t b) {
        return op.getDescending()
                   ? isLess(source.dtype, run[b * stride], run[a * stride])
                   : isLess(source.dtype, run[a * stride], run[b * stride]);
      };
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return before(a, b) || (!before(b, a) && a < b);
      });
      for (int64_t k = 0; k < length; ++k) {
        int64_t at = walk.getOffset(0) + k * stride;
        sorted->instances[i].data[at] = run[order[k] * stride];
        indices->instances[i].data[at].i = order[k];
      }
    }
  }
  if (failed(set(op.getSorted(), std::move(*sorted))))
    return failure();
  return set(op.getIndices(), std::move(*indices));
}

LogicalResult Interpreter::run(ragged::SearchSortedOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType type = LogicalType::of(op.getType());
  LogicalType listType = LogicalType::of(op.getSorted());
  FailureOr<const Instances *> instances = getInstances(op, type.path);
  if (failed(instances))
    return failure();
  for (size_t i = 0; i < result->instances.size(); ++i) {
    const Array &list = getArray(get(op.getSorted()), listType, **instances, i);
    const Array &values = get(op.getValues()).instances[i];
    auto less = [&](Number a, Number b) { return isLess(list.dtype, a, b); };
    for (size_t k = 0; k < values.data.size(); ++k) {
      auto found = op.getRight()
                       ? std::upper_bound(list.data.begin(), list.data.end(),
                                          values.data[k], less)
                       : std::lower_bound(list.data.begin(), list.data.end(),
                                          values.data[k], less);
      result->instances[i].data[k].i = found - list.data.begin();
    }
  }
  return set(op.getResult(), std::move(*result));
}

/// What an element becomes when an update meets it.
static Number combine(ScatterKind kind, DType dtype, Number old,
                      Number update) {
  Number result = update;
  if (isFloat(dtype)) {
    if (kind == ScatterKind::Add)
      result.f = old.f + update.f;
    else if (kind == ScatterKind::Max)
      result.f = maximum(old.f, update.f);
    else if (kind == ScatterKind::Min)
      result.f = minimum(old.f, update.f);
    return result;
  }
  if (kind == ScatterKind::Add)
    result.i =
        wrapTo(dtype, static_cast<int64_t>(static_cast<uint64_t>(old.i) +
                                           static_cast<uint64_t>(update.i)));
  else if (kind == ScatterKind::Max)
    result.i = std::max(old.i, update.i);
  else if (kind == ScatterKind::Min)
    result.i = std::min(old.i, update.i);
  return result;
}

LogicalResult Interpreter::run(ragged::ScatterOp op) {
  RaggedValue result = get(op.getInit());
  result.type = op.getType();
  LogicalType type = LogicalType::of(op.getUpdates());
  // The updates of all samples may go into one dense result.
  bool isShared = LogicalType::of(op.getInit()).isDense();
  for (size_t i = 0; i < get(op.getUpdates()).instances.size(); ++i) {
    Array &array = result.instances[isShared ? 0 : i];
    const Array &indices = get(op.getIndices()).instances[i];
    const Array &updates = get(op.getUpdates()).instances[i];
    int64_t columns = countElements(ArrayRef(array.shape).drop_front());
    for (int64_t row = 0; row < indices.shape[0]; ++row) {
      int64_t index = indices.data[row].i;
      if (index < 0 || index >= array.shape[0])
        return op.emitError("index ")
               << index << " is out of range for " << array.shape[0]
               << " rows (row " << row << " of the indices of "
               << scope.describe(type.path, i) << ")";
      for (int64_t column = 0; column < columns; ++column) {
        Number &number = array.data[index * columns + column];
        number = combine(op.getKind(), array.dtype, number,
                         updates.data[row * columns + column]);
      }
    }
  }
  return set(op.getResult(), std::move(result));
}
