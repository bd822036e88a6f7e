//===- ScanKernels.cpp - Kernels of scan ----------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit is an index of the dims stored before the scanned one. Its elements
// are `length` rows of `inner` columns, which are independent: blocks of
// columns step down the rows together, their carried values in vector
// registers.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
class ScanEmitter {
public:
  ScanEmitter(ScanOp op, LoopKernel &kernel)
      : op(op), kernel(kernel),
        split(LogicalType::of(op.getResult(0)), op.getDim()) {
    for (Value value : op.getInputs())
      inputs.push_back(kernel.addValue(value));
    for (Value value : op.getResults())
      outputs.push_back(kernel.addValue(value));
  }

  void run();
  LoopCost getCost();

private:
  /// First elements of a unit in each operand, and its sizes.
  struct Unit {
    SmallVector<Value> inputs, outputs;
    Value length, inner;
  };
  /// Steps `width` columns from `column` on down the rows; 0: one, as scalars.
  void emitColumns(OpBuilder &b, Location loc, const Unit &unit, Value column,
                   int64_t width);

  ScanOp op;
  LoopKernel &kernel;
  DimSplit split;
  SmallVector<LoopOperand> inputs, outputs;
};
} // namespace

static Type widen(Type type, int64_t width) {
  return width ? Type(VectorType::get({width}, type)) : type;
}

void ScanEmitter::emitColumns(OpBuilder &b, Location loc, const Unit &unit,
                              Value column, int64_t width) {
  IndexBuilder ib(b, loc);
  SmallVector<Value> carried;
  for (Attribute init : op.getInit()) {
    Value value = arith::ConstantOp::create(b, loc, cast<TypedAttr>(init));
    if (width)
      value = vector::BroadcastOp::create(b, loc, widen(value.getType(), width),
                                          value);
    carried.push_back(value);
  }
  Value one = ib.constant(1), last = ib.sub(unit.length, one);
  scf::ForOp::create(
      b, loc, ib.constant(0), unit.length, one, carried,
      [&](OpBuilder &inner, Location l, Value step, ValueRange values) {
        IndexBuilder rb(inner, l);
        Value row = op.getReverse() ? rb.sub(last, step) : step;
        Value offset = rb.add(rb.mul(row, unit.inner), column);
        SmallVector<Value> arguments;
        for (auto [input, first] : llvm::zip(inputs, unit.inputs))
          arguments.push_back(
              LoopKernel::load(inner, l, input, rb.add(first, offset), width));
        llvm::append_range(arguments, values);
        SmallVector<Value> yields =
            cloneElementwise(inner, op.getBody().front(), arguments, width);
        for (auto [output, first, value] :
             llvm::zip(outputs, unit.outputs,
                       ArrayRef(yields).drop_front(values.size())))
          LoopKernel::store(inner, l, value, output, rb.add(first, offset));
        yields.resize(values.size());
        scf::YieldOp::create(inner, l, yields);
      });
}

void ScanEmitter::run() {
  kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value index) {
    IndexBuilder ib(b, loc);
    Unit unit;
    unit.length = kernel.evaluate(b, loc, split.length, sample);
    unit.inner = kernel.evaluate(b, loc, split.inner, sample);
    Value offset = ib.mul(index, ib.mul(unit.length, unit.inner));
    for (const LoopOperand &input : inputs)
      unit.inputs.push_back(
          ib.add(kernel.getFirst(b, loc, input, sample), offset));
    for (const LoopOperand &output : outputs)
      unit.outputs.push_back(
          ib.add(kernel.getFirst(b, loc, output, sample), offset));
    LoopKernel::forBlocks(
        b, loc, split.inner, unit.inner,
        [&](OpBuilder &at, Location l, Value column, int64_t width) {
          emitColumns(at, l, unit, column, width);
        });
  });
}

LoopCost ScanEmitter::getCost() {
  int64_t work = 0;
  for (Operation &inner : op.getBody().front().without_terminator())
    if (inner.getNumResults() == 1 &&
        isa<FloatType>(inner.getResult(0).getType()) &&
        !inner.hasTrait<OpTrait::ConstantLike>())
      ++work;
  SmallVector<LoopOperand> all(inputs);
  llvm::append_range(all, outputs);
  return {work * outputs.front().rowElements, LoopKernel::countBytes(all)};
}

namespace {
struct ScanKernels : LoopKernelOpInterface::ExternalModel<ScanKernels, ScanOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<ScanOp>(operation);
    for (Operation &inner : op.getBody().front().without_terminator())
      if (!inner.hasTrait<OpTrait::ConstantLike>() &&
          (!OpTrait::hasElementwiseMappableTraits(&inner) ||
           llvm::any_of(inner.getOperands(), [&](Value value) {
             return value.getParentBlock() != &op.getBody().front();
           })))
        return op.emitOpError("does not support '")
               << inner.getName() << "' in its region; expected elementwise "
               << "ops on values of the region";
    builder.createResults();
    LogicalType type = LogicalType::of(op.getResult(0));
    DimSplit split(type, op.getDim());
    LoopUnits units{type.path, type.getRowExtent(), split.outer};
    builder.addKernel("", units, [&](LoopKernel &kernel) {
      ScanEmitter emitter(op, kernel);
      emitter.run();
      return emitter.getCost();
    });
    return success();
  }
};
} // namespace

void nested::ragged::registerScanKernels(MLIRContext *context) {
  ScanOp::attachInterface<ScanKernels>(*context);
}
