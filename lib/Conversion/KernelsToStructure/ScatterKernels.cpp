//===- ScatterKernels.cpp - Kernels of scatter ----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit is a sample: its updates are combined one after the other, in blocks
// of columns. Sums of floats are kept in a temporary of f64 (R6).
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested::ragged;

static Value combine(ScatterKind kind, OpBuilder &b, Location loc, Type type,
                     Value old, Value update) {
  bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  auto make = [&](auto floating, auto integer) -> Value {
    if (isFloat)
      return decltype(floating)::create(b, loc, old, update);
    return decltype(integer)::create(b, loc, old, update);
  };
  switch (kind) {
  case ScatterKind::Set:
    return update;
  case ScatterKind::Add:
    return make(arith::AddFOp(), arith::AddIOp());
  case ScatterKind::Max: // R10: maximumf propagates NaN.
    if (isBool)
      return make(arith::MaximumFOp(), arith::OrIOp());
    return type.isUnsignedInteger()
               ? make(arith::MaximumFOp(), arith::MaxUIOp())
               : make(arith::MaximumFOp(), arith::MaxSIOp());
  case ScatterKind::Min:
    if (isBool)
      return make(arith::MinimumFOp(), arith::AndIOp());
    return type.isUnsignedInteger()
               ? make(arith::MinimumFOp(), arith::MinUIOp())
               : make(arith::MinimumFOp(), arith::MinSIOp());
  }
  llvm_unreachable("covered switch");
}

/// Elements or vectors of floats to those of another width.
static Value convert(OpBuilder &b, Location loc, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (!isa<FloatType>(from) || from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

namespace {
struct ScatterKernels
    : LoopKernelOpInterface::ExternalModel<ScatterKernels, ScatterOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const;
};
} // namespace

LogicalResult
ScatterKernels::emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
  auto op = cast<ScatterOp>(operation);
  builder.createResults();
  LogicalType type = LogicalType::of(op.getInit());
  LogicalType wideType = type;
  bool isWide = op.getKind() == ScatterKind::Add &&
                isa<FloatType>(type.elementType) && !type.elementType.isF64();
  Value wideBuffer;
  if (isWide) {
    wideType.elementType = Float64Type::get(op.getContext());
    wideBuffer = builder.createTemp(wideType);
  }
  std::string where = formatLocation(op.getLoc());
  std::string message = "scatter: index {value} is out of range for " +
                        type.extents[0].str() +
                        " rows (row {row} of the indices of sample {sample})";
  if (!where.empty())
    message += " at " + where;

  // Work is cut by updates, of which there may be more than rows of the result.
  LogicalType updatesType = LogicalType::of(op.getUpdates());
  LoopUnits samples = LoopUnits::makeInstances(updatesType);
  builder.addKernel("", samples, [&](LoopKernel &kernel) {
    LoopOperand init = kernel.addValue(op.getInit());
    LoopOperand indices = kernel.addValue(op.getIndices());
    LoopOperand updates = kernel.addValue(op.getUpdates());
    LoopOperand result = kernel.addValue(op.getResult());
    LoopOperand sums = isWide ? kernel.addTemp(wideBuffer, wideType) : result;
    int64_t error = kernel.getSignature().addError(message);
    DimSplit split(type, 0);
    ExtentAttr elements = extent::mul(split.length, split.inner);

    kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value) {
      IndexBuilder ib(b, loc);
      Value inner = kernel.evaluate(b, loc, split.inner, sample);
      Value rows = kernel.evaluate(b, loc, split.length, sample);
      Value size = ib.mul(rows, inner);
      Value sumsFirst = kernel.getFirst(b, loc, sums, sample);
      auto copy = [&](const LoopOperand &from, const LoopOperand &to) {
        Value fromFirst = kernel.getFirst(b, loc, from, sample);
        Value toFirst = kernel.getFirst(b, loc, to, sample);
        LoopKernel::forBlocks(
            b, loc, elements, size,
            [&](OpBuilder &at, Location l, Value column, int64_t width) {
              IndexBuilder cb(at, l);
              Value value = LoopKernel::load(at, l, from,
                                             cb.add(fromFirst, column), width);
              LoopKernel::store(at, l,
                                convert(at, l, value, to.type.elementType), to,
                                cb.add(toFirst, column));
            });
      };
      copy(init, sums);
      Value indicesFirst = kernel.getFirst(b, loc, indices, sample);
      Value updatesFirst = kernel.getFirst(b, loc, updates, sample);
      scf::ForOp::create(
          b, loc, ib.constant(0),
          kernel.evaluate(b, loc, updatesType.extents[0], sample),
          ib.constant(1), ValueRange(),
          [&](OpBuilder &body, Location l, Value row, ValueRange) {
            IndexBuilder rb(body, l);
            Value raw =
                LoopKernel::load(body, l, indices, rb.add(indicesFirst, row));
            Value index =
                arith::IndexCastOp::create(body, l, body.getIndexType(), raw);
            // Unsigned: a negative index is out of range too.
            Value inside = rb.compare(arith::CmpIPredicate::ult, index, rows);
            kernel.getSignature().recordErrorUnless(body, l, inside, error, raw,
                                                    row, sample);
            scf::IfOp::create(
                body, l, inside, [&](OpBuilder &then, Location at) {
                  IndexBuilder tb(then, at);
                  Value to = tb.add(sumsFirst, tb.mul(index, inner));
                  Value from = tb.add(updatesFirst, tb.mul(row, inner));
                  LoopKernel::forBlocks(
                      then, at, split.inner, inner,
                      [&](OpBuilder &block, Location bl, Value column,
                          int64_t width) {
                        IndexBuilder cb(block, bl);
                        Value place = cb.add(to, column);
                        Value old =
                            LoopKernel::load(block, bl, sums, place, width);
                        Value update = LoopKernel::load(
                            block, bl, updates, cb.add(from, column), width);
                        update =
                            convert(block, bl, update, sums.type.elementType);
                        LoopKernel::store(block, bl,
                                          combine(op.getKind(), block, bl,
                                                  sums.type.elementType, old,
                                                  update),
                                          sums, place);
                      });
                  scf::YieldOp::create(then, at);
                });
            scf::YieldOp::create(body, l);
          });
      if (isWide)
        copy(sums, result);
    });
    int64_t work = op.getKind() == ScatterKind::Set ? 0 : updates.rowElements;
    return LoopCost{
        work, LoopKernel::countBytes({indices, updates, updates, updates})};
  });
  return success();
}

void nested::ragged::registerScatterKernels(MLIRContext *context) {
  ScatterOp::attachInterface<ScatterKernels>(*context);
}
