//===- ScatterKernels.cpp - Kernels of scatter ----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit is a sample: its updates are combined one after the other, in blocks
// of columns. Where all samples go into one dense result, a unit is a block of
// its rows, which takes from the updates of the batch, in order, those that are
// its own: no two threads write one row, and the work is linear but for the
// indices. Sums of floats are kept in a temporary of f64 (R6).
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

/// Blocks of rows of a result that all samples go into. Each of them reads all
/// indices.
static constexpr int64_t kMaxBlocks = 64;

namespace {
/// What is written in a unit: rows [begin, end) of the result.
struct Scatter {
  LoopKernel &kernel;
  ScatterOp op;
  LogicalType updatesType;
  DimSplit split;
  LoopOperand init = {}, indices = {}, updates = {}, sums = {};
  int64_t error = 0;
  /// Elements of the unit's rows; null where that is no formula.
  ExtentAttr elements = {};
  Value rows = {}, inner = {}, begin = {}, end = {};

  /// The rows of the unit, as another type of float.
  void copy(OpBuilder &b, Location loc, const LoopOperand &from,
            const LoopOperand &to, Value sample);
  /// The updates of a sample, those that go to rows of the unit.
  void combineSample(OpBuilder &b, Location loc, Value sample);
};

struct ScatterKernels
    : LoopKernelOpInterface::ExternalModel<ScatterKernels, ScatterOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const;
};
} // namespace

void Scatter::copy(OpBuilder &b, Location loc, const LoopOperand &from,
                   const LoopOperand &to, Value sample) {
  IndexBuilder ib(b, loc);
  Value first = ib.mul(begin, inner);
  Value fromFirst = ib.add(kernel.getFirst(b, loc, from, sample), first);
  Value toFirst = ib.add(kernel.getFirst(b, loc, to, sample), first);
  LoopKernel::forBlocks(
      b, loc, elements, ib.mul(ib.sub(end, begin), inner),
      [&](OpBuilder &at, Location l, Value column, int64_t width) {
        IndexBuilder cb(at, l);
        Value value =
            LoopKernel::load(at, l, from, cb.add(fromFirst, column), width);
        LoopKernel::store(at, l,
                          convertFloats(at, l, value, to.type.elementType), to,
                          cb.add(toFirst, column));
      });
}

void Scatter::combineSample(OpBuilder &b, Location loc, Value sample) {
  IndexBuilder ib(b, loc);
  Value sumsFirst = kernel.getFirst(b, loc, sums, sample);
  Value indicesFirst = kernel.getFirst(b, loc, indices, sample);
  Value updatesFirst = kernel.getFirst(b, loc, updates, sample);
  scf::ForOp::create(
      b, loc, ib.constant(0),
      kernel.evaluate(b, loc, updatesType.extents[0], updatesType.path, sample),
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
        // Again unsigned: an index before the first row of the unit is far
        // behind the last.
        Value mine = rb.compare(arith::CmpIPredicate::ult, rb.sub(index, begin),
                                rb.sub(end, begin));
        scf::IfOp::create(body, l, mine, [&](OpBuilder &then, Location at) {
          IndexBuilder tb(then, at);
          Value to = tb.add(sumsFirst, tb.mul(index, inner));
          Value from = tb.add(updatesFirst, tb.mul(row, inner));
          LoopKernel::forBlocks(
              then, at, split.inner, inner,
              [&](OpBuilder &block, Location bl, Value column, int64_t width) {
                IndexBuilder cb(block, bl);
                Value place = cb.add(to, column);
                Value old = LoopKernel::load(block, bl, sums, place, width);
                Value update = LoopKernel::load(block, bl, updates,
                                                cb.add(from, column), width);
                update =
                    convertFloats(block, bl, update, sums.type.elementType);
                LoopKernel::store(block, bl,
                                  combine(op.getKind(), block, bl,
                                          sums.type.elementType, old, update),
                                  sums, place);
              });
          scf::YieldOp::create(then, at);
        });
        scf::YieldOp::create(body, l);
      });
}

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

  LogicalType updatesType = LogicalType::of(op.getUpdates());
  DimSplit split(type, 0);
  bool overBatch = type.path.size() < updatesType.path.size();
  // Work is cut by updates, of which there may be more than rows of the result;
  // over the batch by rows of the result, a block of which is a unit.
  int64_t blockRows = 0;
  LoopUnits units = LoopUnits::makeInstances(updatesType);
  if (overBatch) {
    int64_t rows = *split.length.getConstant();
    blockRows = std::max<int64_t>(llvm::divideCeil(rows, kMaxBlocks), 1);
    units = {
        {},
        split.length,
        extent::constant(op.getContext(), llvm::divideCeil(rows, blockRows))};
  }
  builder.addKernel("", units, [&](LoopKernel &kernel) {
    Scatter scatter{kernel, op, updatesType, split};
    scatter.init = kernel.addValue(op.getInit());
    scatter.indices = kernel.addValue(op.getIndices());
    scatter.updates = kernel.addValue(op.getUpdates());
    LoopOperand result = kernel.addValue(op.getResult());
    scatter.sums = isWide ? kernel.addTemp(wideBuffer, wideType) : result;
    scatter.error = kernel.getSignature().addError(message);
    Value counts;
    if (overBatch)
      counts = kernel.getSignature().getTable(
          TableKey::makeOffsets(updatesType.getRowExtent(), updatesType.path));

    kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value unit) {
      IndexBuilder ib(b, loc);
      Value rows = kernel.evaluate(b, loc, split.length, type.path, sample);
      scatter.rows = rows;
      scatter.inner = kernel.evaluate(b, loc, split.inner, type.path, sample);
      if (overBatch) {
        Value block = ib.constant(blockRows);
        scatter.begin = ib.mul(unit, block);
        scatter.end = ib.min(ib.add(scatter.begin, block), rows);
      } else {
        scatter.elements = extent::mul(split.length, split.inner);
        scatter.begin = ib.constant(0);
        scatter.end = rows;
      }
      scatter.copy(b, loc, scatter.init, scatter.sums, sample);
      if (overBatch) {
        Value one = ib.constant(1);
        Value size = memref::DimOp::create(b, loc, counts, ib.constant(0));
        scf::ForOp::create(
            b, loc, ib.constant(0), ib.sub(size, one), one, ValueRange(),
            [&](OpBuilder &body, Location l, Value each, ValueRange) {
              scatter.combineSample(body, l, each);
              scf::YieldOp::create(body, l);
            });
      } else {
        scatter.combineSample(b, loc, sample);
      }
      if (isWide)
        scatter.copy(b, loc, scatter.sums, result, sample);
    });
    int64_t work =
        op.getKind() == ScatterKind::Set ? 0 : scatter.updates.rowElements;
    return LoopCost{work,
                    LoopKernel::countBytes({scatter.indices, scatter.updates,
                                            scatter.updates, scatter.updates})};
  });
  return success();
}

void nested::ragged::registerScatterKernels(MLIRContext *context) {
  ScatterOp::attachInterface<ScatterKernels>(*context);
}
