//===- ComputeOps.cpp - Constants, maps and broadcasts --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(arith::ConstantOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  Array &array = result->instances.front();
  if (isa<FloatAttr, IntegerAttr>(op.getValue()))
    array.data.front() = toNumber(op.getValue());
  else if (!readElements(op.getValue(), array.dtype, array.data))
    return op.emitError("the reference interpreter cannot read this constant");
  return set(op, std::move(*result));
}

/// The contents do not matter: numbers that show up if they are read.
LogicalResult Interpreter::run(ragged::EmptyOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (Array &array : result->instances)
    for (Number &number : array.data) {
      if (isFloat(array.dtype))
        number.f = std::numeric_limits<double>::quiet_NaN();
      else
        number.i = wrapTo(array.dtype, 0x5a5a5a5a5a5a5a5b);
    }
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::FillOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  Number value = toNumber(op.getValue());
  for (Array &array : result->instances)
    std::fill(array.data.begin(), array.data.end(),
              toElement(array.dtype, value));
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::IotaOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (Array &array : result->instances) {
    Odometer walk(array.shape);
    walk.addOperand(getStrides(array.shape));
    for (; walk.isValid(); walk.next()) {
      int64_t coordinate = walk.getCoordinates()[op.getDim()];
      Number &number = array.data[walk.getOffset(0)];
      if (isFloat(array.dtype))
        number.f = static_cast<double>(coordinate);
      else
        number.i = wrapTo(array.dtype, coordinate);
    }
  }
  return set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Strides with which an input of `type` is walked over the result's dims when
/// input dim k is result dim `dims[k]`. Only a declared extent of 1 repeats
/// (R2, R3): another one that happens to differ fails.
static FailureOr<SmallVector<int64_t>>
alignInput(Operation *op, const LogicalType &type, ArrayRef<int64_t> shape,
           ArrayRef<int64_t> dims, ArrayRef<int64_t> resultShape,
           function_ref<std::string()> where) {
  SmallVector<int64_t> own = getStrides(shape);
  SmallVector<int64_t> strides(resultShape.size(), 0);
  for (auto [k, dim] : llvm::enumerate(dims)) {
    if (type.extents[k].getConstant() == 1)
      continue;
    if (shape[k] != resultShape[dim])
      return op->emitError("an operand has size ")
             << shape[k] << " along dim " << k << " (" << type.extents[k].str()
             << ") where the result has " << resultShape[dim] << " in "
             << where();
    strides[dim] = own[k];
  }
  return strides;
}

LogicalResult Interpreter::run(ragged::MapOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  FailureOr<ScalarProgram> program = ScalarProgram::compile(
      op.getBody().front(), options.roundEach,
      [&](mlir::Value value) { return getScalar(value); });
  if (failed(result) || failed(program))
    return failure();
  LogicalType type = LogicalType::of(op.getType());
  FailureOr<const Instances *> instances = getInstances(op, type.path);
  if (failed(instances))
    return failure();

  for (auto [i, array] : llvm::enumerate(result->instances)) {
    int64_t instance = i;
    auto where = [&] { return scope.describe(type.path, instance); };
    Odometer walk(array.shape);
    SmallVector<const Array *> inputs;
    for (mlir::Value input : op.getInputs()) {
      LogicalType inputType = LogicalType::of(input);
      const Array &source = getArray(get(input), inputType, **instances, i);
      // Operands of lower rank align with the trailing dims.
      SmallVector<int64_t> dims;
      for (int64_t dim = type.getRank() - inputType.getRank();
           dim < type.getRank(); ++dim)
        dims.push_back(dim);
      if (!dims.empty() && dims.front() < 0)
        return op.emitError("an operand has more dims than the result");
      auto strides =
          alignInput(op, inputType, source.shape, dims, array.shape, where);
      if (failed(strides))
        return failure();
      walk.addOperand(*strides);
      inputs.push_back(&source);
    }
    for (Number &number : array.data) {
      for (auto [k, input] : llvm::enumerate(inputs))
        program->argument(k) =
            toScalar(input->dtype, input->data[walk.getOffset(k)]);
      program->run(walk.getCoordinates());
      number = toElement(array.dtype, program->result(0));
      walk.next();
    }
  }
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::BroadcastOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType type = LogicalType::of(op.getType());
  LogicalType sourceType = LogicalType::of(op.getSource());
  FailureOr<const Instances *> instances = getInstances(op, type.path);
  if (failed(instances))
    return failure();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source =
        getArray(get(op.getSource()), sourceType, **instances, i);
    auto strides = alignInput(
        op, sourceType, source.shape, op.getDims(), array.shape,
        [&, instance = i] { return scope.describe(type.path, instance); });
    if (failed(strides))
      return failure();
    Odometer walk(array.shape);
    walk.addOperand(*strides);
    for (Number &number : array.data) {
      number = source.data[walk.getOffset(0)];
      walk.next();
    }
  }
  return set(op.getResult(), std::move(*result));
}

/// `arith` and `math` outside of regions, on scalars or on dense tensors.
LogicalResult Interpreter::runElementwise(Operation *op) {
  if (op->getNumRegions() || !op->getNumResults() ||
      !lookupScalarFunction(op->getName().getStringRef()) ||
      op->getName().getDialectNamespace() == "ragged")
    return op->emitError("the reference interpreter does not support '")
           << op->getName() << "'";
  FailureOr<ScalarProgram> program =
      ScalarProgram::compile(op, options.roundEach);
  if (failed(program))
    return failure();
  SmallVector<RaggedValue> results;
  // Tensors of dynamic shape too: the shape is that of the operands. A scalar
  // condition of a select repeats.
  const Array *shape = nullptr;
  for (mlir::Value operand : op->getOperands())
    if (const Array &array = get(operand).instances.front();
        !shape || !array.shape.empty())
      shape = &array;
  if (!shape)
    return op->emitError("the reference interpreter does not support '")
           << op->getName() << "' without operands";
  for (OpResult result : op->getResults()) {
    RaggedValue &value = results.emplace_back();
    value.type = result.getType();
    Array &array = value.instances.emplace_back();
    array.dtype = *getDType(getElementTypeOrSelf(result.getType()));
    array.shape = shape->shape;
    array.data.resize(shape->data.size());
  }
  for (size_t i = 0; i < shape->data.size(); ++i) {
    for (auto [k, operand] : llvm::enumerate(op->getOperands())) {
      const Array &array = get(operand).instances.front();
      if (!array.shape.empty() && array.shape != shape->shape)
        return op->emitError("operands have different shapes");
      program->argument(k) = array.data[array.shape.empty() ? 0 : i];
    }
    program->run({});
    for (auto [k, value] : llvm::enumerate(results))
      value.instances.front().data[i] = program->result(k);
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    if (failed(set(result, std::move(value))))
      return failure();
  return success();
}
