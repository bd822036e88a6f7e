//===- Scalars.cpp - Evaluates regions of scalar ops ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;

unsigned ScalarProgram::addSlot(Number number) {
  slots.push_back(number);
  return slots.size() - 1;
}

static double toDouble(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

Number reference::toNumber(Attribute scalar) {
  Number number{};
  if (auto value = dyn_cast<FloatAttr>(scalar))
    number.f = toDouble(value.getValue());
  else if (auto value = dyn_cast<IntegerAttr>(scalar))
    number.i = wrapTo(*getDType(value.getType()),
                      value.getValue().sextOrTrunc(64).getSExtValue());
  return number;
}

bool reference::readElements(Attribute elements, DType dtype,
                             llvm::MutableArrayRef<Number> numbers) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    ArrayRef<char> bytes = resource.getData();
    size_t size = getSize(dtype);
    // Bits of i1 are packed in a resource.
    if (dtype == DType::I1 || bytes.size() != numbers.size() * size)
      return false;
    for (auto [i, number] : llvm::enumerate(numbers))
      number = readNumber(dtype, bytes.data() + i * size);
    return true;
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense || dense.getNumElements() != static_cast<int64_t>(numbers.size()))
    return false;
  if (isFloat(dtype)) {
    for (auto [number, value] :
         llvm::zip_equal(numbers, dense.getValues<APFloat>()))
      number.f = toDouble(value);
    return true;
  }
  for (auto [number, value] :
       llvm::zip_equal(numbers, dense.getValues<APInt>()))
    number.i = wrapTo(dtype, value.sextOrTrunc(64).getSExtValue());
  return true;
}

LogicalResult ScalarProgram::add(Operation *op, ArrayRef<unsigned> operands,
                                 bool roundEach) {
  auto unsupported = [&] {
    return op->emitError("the reference interpreter does not support '")
           << op->getName() << "' here";
  };
  Step step;
  step.function = lookupScalarFunction(op->getName().getStringRef());
  if (!step.function || op->getNumRegions())
    return unsupported();
  std::optional<DType> from, to;
  if (op->getNumOperands())
    from = getDType(getElementTypeOrSelf(op->getOperand(0).getType()));
  if (op->getNumResults())
    to = getDType(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!to || (op->getNumOperands() && !from))
    return unsupported();
  step.call.operandType = from.value_or(DType::I64);
  step.call.resultType = *to;
  step.call.rounds = roundEach;
  step.call.operands.assign(operands.begin(), operands.end());
  for (unsigned k = 0; k < op->getNumResults(); ++k)
    step.call.results.push_back(addSlot());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    step.call.attribute = static_cast<int64_t>(compare.getPredicate());
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    step.call.attribute = static_cast<int64_t>(compare.getPredicate());
  else if (auto index = dyn_cast<ragged::IndexOp>(op))
    step.call.attribute = index.getDim();
  else if (auto index = dyn_cast<linalg::IndexOp>(op))
    step.call.attribute = index.getDim();
  steps.push_back(std::move(step));
  return success();
}

FailureOr<ScalarProgram> ScalarProgram::compile(
    Block &block, bool roundEach,
    llvm::function_ref<std::optional<Number>(mlir::Value)> capture) {
  ScalarProgram program;
  llvm::DenseMap<mlir::Value, unsigned> positions;
  for (BlockArgument argument : block.getArguments())
    positions[argument] = program.addSlot();
  auto lookup = [&](Operation *op, mlir::Value value) -> FailureOr<unsigned> {
    auto it = positions.find(value);
    if (it != positions.end())
      return it->second;
    std::optional<Number> number = capture(value);
    if (!number)
      return op->emitError("the reference interpreter expected a scalar, but '")
             << op->getName() << "' uses a value of type " << value.getType();
    return positions[value] = program.addSlot(*number);
  };
  for (Operation &op : block) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!getDType(constant.getType()))
        return op.emitError("the reference interpreter does not support a "
                            "constant of type ")
               << constant.getType() << " here";
      positions[constant] = program.addSlot(toNumber(constant.getValue()));
      continue;
    }
    SmallVector<unsigned> operands;
    for (mlir::Value operand : op.getOperands()) {
      FailureOr<unsigned> position = lookup(&op, operand);
      if (failed(position))
        return failure();
      operands.push_back(*position);
    }
    if (isa<ragged::YieldOp, linalg::YieldOp>(op)) {
      program.results.assign(operands.begin(), operands.end());
      continue;
    }
    if (failed(program.add(&op, operands, roundEach)))
      return failure();
    for (auto [k, result] : llvm::enumerate(op.getResults()))
      positions[result] = program.steps.back().call.results[k];
  }
  return program;
}

FailureOr<ScalarProgram> ScalarProgram::compile(Operation *op, bool roundEach) {
  ScalarProgram program;
  SmallVector<unsigned> operands;
  for (unsigned k = 0; k < op->getNumOperands(); ++k)
    operands.push_back(program.addSlot());
  if (failed(program.add(op, operands, roundEach)))
    return failure();
  llvm::append_range(program.results, program.steps.back().call.results);
  return program;
}

void ScalarProgram::run(ArrayRef<int64_t> coordinates) {
  for (Step &step : steps) {
    step.call.slots = slots.data();
    step.call.coordinates = coordinates.data();
    step.function(step.call);
  }
}
