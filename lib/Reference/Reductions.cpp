//===- Reductions.cpp - reduce --------------------------------------------===//
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

using ragged::ReduceKind;

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
  if (dtype == DType::U8) {
    number.i = isMax ? 0 : 255;
    return number;
  }
  int64_t most = (uint64_t(1) << (8 * getSize(dtype) - 1)) - 1;
  number.i = isMax ? -most - 1 : most;
  return number;
}

static bool isNaN(DType dtype, Number number) {
  return isFloat(dtype) && std::isnan(number.f);
}

/// R10: whether `number` wins against the winner so far, which came first.
static bool wins(bool isMax, DType dtype, Number number, Number winner) {
  if (isNaN(dtype, winner))
    return false;
  if (isNaN(dtype, number))
    return true;
  if (isFloat(dtype))
    return isMax ? number.f > winner.f : number.f < winner.f;
  return isMax ? number.i > winner.i : number.i < winner.i;
}

/// The result of a group from all of its elements, in order.
static Number reduceGroup(ragged::ReduceOp op, DType dtype, DType resultType,
                          ArrayRef<Number> group) {
  bool floats = isFloat(dtype);
  ReduceKind kind = op.getKind();
  Number result{};
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    for (Number number : group) {
      if (floats)
        result.f += number.f;
      else
        result.i =
            wrapTo(resultType, static_cast<uint64_t>(result.i) + number.i);
    }
    // R5: the mean of nothing is 0.
    if (kind == ReduceKind::Mean && !group.empty())
      result.f /= static_cast<double>(group.size());
    return result;
  case ReduceKind::Prod:
    if (floats)
      result.f = 1;
    else
      result.i = 1;
    for (Number number : group) {
      if (floats)
        result.f *= number.f;
      else
        result.i =
            wrapTo(resultType, static_cast<uint64_t>(result.i) * number.i);
    }
    return result;
  case ReduceKind::Max:
  case ReduceKind::Min: {
    bool isMax = kind == ReduceKind::Max;
    if (group.empty() && op.getEmpty() == ragged::EmptyPolicy::Zero)
      return result;
    result = getIdentity(isMax, dtype);
    for (Number number : group) {
      if (floats)
        result.f =
            isMax ? maximum(result.f, number.f) : minimum(result.f, number.f);
      else
        result.i =
            isMax ? std::max(result.i, number.i) : std::min(result.i, number.i);
    }
    return result;
  }
  case ReduceKind::LogSumExp: {
    double most = -std::numeric_limits<double>::infinity();
    for (Number number : group)
      most = maximum(most, number.f);
    double shift = std::isfinite(most) ? most : 0, sum = 0;
    for (Number number : group)
      sum += std::exp(number.f - shift);
    result.f = std::log(sum) + shift;
    return result;
  }
  case ReduceKind::Any:
    for (Number number : group)
      result.i |= number.i;
    return result;
  case ReduceKind::All:
    result.i = 1;
    for (Number number : group)
      result.i &= number.i;
    return result;
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin: {
    result.i = -1;
    for (auto [position, number] : llvm::enumerate(group))
      if (result.i < 0 ||
          wins(kind == ReduceKind::ArgMax, dtype, number, group[result.i]))
        result.i = static_cast<int64_t>(position);
    return result;
  }
  }
  llvm_unreachable("covered switch");
}

/// Each element is put into its group's list, in the order of the source; a
/// group's result is then computed from its list.
LogicalResult Interpreter::run(ragged::ReduceOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType type = LogicalType::of(op.getType());
  LogicalType sourceType = LogicalType::of(op.getSource());
  FailureOr<const Instances *> instances = getInstances(op, sourceType.path);
  if (failed(instances))
    return failure();
  DType resultType = *getDType(type.elementType);
  DType dtype = *getDType(sourceType.elementType);

  std::vector<std::vector<std::vector<Number>>> groups;
  for (Array &array : result->instances)
    groups.emplace_back(array.data.size());
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    const Array &source = get(op.getSource()).instances[i];
    int64_t into = (*instances)->ancestors[type.path.size()][i];
    Array &array = result->instances[into];
    // The result does not move along the dims that are reduced.
    SmallVector<int64_t> own = getStrides(array.shape);
    SmallVector<int64_t> strides;
    int64_t next = 0;
    for (auto [dim, size] : llvm::enumerate(source.shape)) {
      if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim))) {
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
    Odometer walk(source.shape);
    walk.addOperand(strides);
    for (Number number : source.data) {
      groups[into][walk.getOffset(0)].push_back(number);
      walk.next();
    }
  }
  for (auto [array, lists] : llvm::zip_equal(result->instances, groups))
    for (auto [number, list] : llvm::zip_equal(array.data, lists))
      number = reduceGroup(op, dtype, resultType, list);
  return set(op.getResult(), std::move(*result));
}
