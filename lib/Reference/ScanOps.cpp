//===- ScanOps.cpp - Ops that step along a dim in order -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

#include <cmath>

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::AccumulateKind;
using ragged::LogicalType;

/// Calls `body(first, stride)` for every run of elements along `dim`.
static LogicalResult
forRuns(ArrayRef<int64_t> shape, int64_t dim,
        function_ref<LogicalResult(int64_t first, int64_t stride)> body) {
  SmallVector<int64_t> strides = getStrides(shape), starts(shape);
  starts[dim] = 1;
  Odometer walk(starts);
  for (walk.addOperand(strides); walk.isValid(); walk.next())
    if (failed(body(walk.getOffset(0), strides[dim])))
      return failure();
  return success();
}

LogicalResult Interpreter::run(ragged::ScanOp op) {
  FailureOr<ScalarProgram> program = ScalarProgram::compile(
      op.getBody().front(), options.roundEach,
      [&](mlir::Value value) { return getScalar(value); });
  if (failed(program))
    return failure();
  SmallVector<RaggedValue> results;
  for (mlir::Value result : op.getResults()) {
    FailureOr<RaggedValue> value = allocate(op, result.getType());
    if (failed(value))
      return failure();
    results.push_back(std::move(*value));
  }
  LogicalType type = LogicalType::of(op.getResult(0));
  unsigned numInputs = op.getInputs().size(), numCarried = op.getInit().size();
  for (size_t i = 0; i < results.front().instances.size(); ++i) {
    ArrayRef<int64_t> shape = results.front().instances[i].shape;
    for (mlir::Value input : op.getInputs())
      if (ArrayRef<int64_t>(get(input).instances[i].shape) != shape)
        return op.emitError("an input has another shape than the results in ")
               << scope.describe(type.path, i);
    int64_t length = shape[op.getDim()];
    auto step = [&](int64_t first, int64_t stride) -> LogicalResult {
      SmallVector<Number> carried;
      for (Attribute init : op.getInit())
        carried.push_back(toNumber(init));
      for (int64_t k = 0; k < length; ++k) {
        int64_t at = first + stride * (op.getReverse() ? length - 1 - k : k);
        for (auto [n, input] : llvm::enumerate(op.getInputs()))
          program->argument(n) = toScalar(get(input).instances[i].dtype,
                                          get(input).instances[i].data[at]);
        for (unsigned n = 0; n < numCarried; ++n)
          program->argument(numInputs + n) = carried[n];
        program->run({});
        for (unsigned n = 0; n < numCarried; ++n)
          carried[n] = program->result(n);
        for (auto [n, result] : llvm::enumerate(results))
          result.instances[i].data[at] = toElement(
              result.instances[i].dtype, program->result(numCarried + n));
      }
      return success();
    };
    if (failed(forRuns(shape, op.getDim(), step)))
      return failure();
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    if (failed(set(result, std::move(value))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// accumulate
//===----------------------------------------------------------------------===//

namespace {
/// What has been seen of a run of elements, for each kind in its own way.
class Accumulator {
public:
  Accumulator(AccumulateKind kind, DType dtype) : kind(kind), dtype(dtype) {}

  void add(Number x) {
    if (isFloat(dtype))
      addFloat(x.f);
    else
      addInteger(x.i);
    isEmpty = false;
  }
  Number get() const {
    Number result{};
    if (isEmpty && (kind == AccumulateKind::Max || kind == AccumulateKind::Min))
      return getIdentity();
    if (!isFloat(dtype))
      result.i =
          wrapTo(dtype, isEmpty ? kind == AccumulateKind::Prod : integer);
    else if (kind == AccumulateKind::LogSumExp)
      result.f = isEmpty ? -HUGE_VAL : number;
    else
      result.f = isEmpty ? kind == AccumulateKind::Prod : number;
    return result;
  }

private:
  Number getIdentity() const {
    bool isMax = kind == AccumulateKind::Max;
    Number result{};
    if (isFloat(dtype)) {
      result.f = isMax ? -HUGE_VAL : HUGE_VAL;
    } else if (dtype == DType::I1) {
      result.i = !isMax;
    } else {
      int64_t high = int64_t(uint64_t(1) << (8 * getSize(dtype) - 1));
      result.i = isMax ? wrapTo(dtype, high)
                       : wrapTo(dtype, int64_t(uint64_t(high) - 1));
    }
    return result;
  }
  void addFloat(double x) {
    switch (kind) {
    case AccumulateKind::Sum:
      number = isEmpty ? x : number + x;
      break;
    case AccumulateKind::Prod:
      number = isEmpty ? x : number * x;
      break;
    case AccumulateKind::Max:
      number = isEmpty ? x : maximum(number, x);
      break;
    case AccumulateKind::Min:
      number = isEmpty ? x : minimum(number, x);
      break;
    default: { // log(exp(number) + exp(x))
      double high = isEmpty ? x : maximum(number, x);
      double low = isEmpty ? -HUGE_VAL : minimum(number, x);
      number = low == -HUGE_VAL || std::isinf(high)
                   ? high
                   : high + std::log1p(std::exp(low - high));
    }
    }
  }
  void addInteger(int64_t x) {
    uint64_t sum = static_cast<uint64_t>(integer);
    switch (kind) {
    case AccumulateKind::Sum:
      integer = static_cast<int64_t>(sum + static_cast<uint64_t>(x));
      break;
    case AccumulateKind::Prod:
      integer =
          isEmpty ? x : static_cast<int64_t>(sum * static_cast<uint64_t>(x));
      break;
    case AccumulateKind::Max:
      integer = isEmpty ? x : std::max(integer, x);
      break;
    default:
      integer = isEmpty ? x : std::min(integer, x);
    }
  }

  AccumulateKind kind;
  DType dtype;
  bool isEmpty = true;
  double number = 0;
  int64_t integer = 0;
};
} // namespace

LogicalResult Interpreter::run(ragged::AccumulateOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (size_t i = 0; i < result->instances.size(); ++i) {
    Array &array = result->instances[i];
    const Array &source = get(op.getSource()).instances[i];
    int64_t length = array.shape[op.getDim()];
    auto run = [&](int64_t first, int64_t stride) {
      Accumulator accumulator(op.getKind(), array.dtype);
      for (int64_t k = 0; k < length; ++k) {
        int64_t at = first + stride * (op.getReverse() ? length - 1 - k : k);
        Number before = accumulator.get();
        accumulator.add(source.data[at]);
        array.data[at] = op.getExclusive() ? before : accumulator.get();
      }
      return success();
    };
    if (failed(forRuns(array.shape, op.getDim(), run)))
      return failure();
  }
  return set(op.getResult(), std::move(*result));
}
