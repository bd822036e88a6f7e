//===- SelectKernels.cpp - Kernels of masked_select -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask's true entries are counted, the counts are bound as lengths, then the
// rows of each sample are compacted in order. Both kernels have one unit per
// sample.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nested::ragged;

static Value toIndex(OpBuilder &b, Location loc, Value condition) {
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), condition);
}

/// A loop over the rows of a sample's mask that carries one index; `body` gets
/// (row in the sample, whether the mask holds, carried) and returns what is
/// carried on.
static Value
forMask(OpBuilder &b, Location loc, LoopKernel &kernel, const LoopOperand &mask,
        Value sample, Value start,
        function_ref<Value(OpBuilder &, Location, Value, Value, Value)> body) {
  IndexBuilder ib(b, loc);
  Value first = kernel.getFirst(b, loc, mask, sample);
  auto rows = scf::ForOp::create(
      b, loc, ib.constant(0),
      kernel.evaluate(b, loc, mask.type.extents[0], sample), ib.constant(1),
      ValueRange{start},
      [&](OpBuilder &inner, Location l, Value row, ValueRange carried) {
        Value at = IndexBuilder(inner, l).add(first, row);
        Value set = LoopKernel::load(inner, l, mask, at);
        scf::YieldOp::create(inner, l, body(inner, l, row, set, carried[0]));
      });
  return rows.getResult(0);
}

/// Copies one row of the result, element by element.
static void copyRow(OpBuilder &b, Location loc, const LoopOperand &from,
                    Value fromFirst, const LoopOperand &to, Value toFirst) {
  IndexBuilder ib(b, loc);
  scf::ForOp::create(
      b, loc, ib.constant(0), ib.constant(to.rowElements), ib.constant(1),
      ValueRange{}, [&](OpBuilder &copy, Location l, Value i, ValueRange) {
        IndexBuilder cb(copy, l);
        Value value =
            memref::LoadOp::create(copy, l, from.memref, cb.add(fromFirst, i));
        memref::StoreOp::create(copy, l, value, to.memref, cb.add(toFirst, i));
        scf::YieldOp::create(copy, l);
      });
}

namespace {
struct MaskedSelectKernels
    : LoopKernelOpInterface::ExternalModel<MaskedSelectKernels,
                                           MaskedSelectOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<MaskedSelectOp>(operation);
    LogicalType maskType = LogicalType::of(op.getMask());
    LoopUnits samples = LoopUnits::makeInstances(maskType);
    LogicalType countType(maskType.path, {},
                          IntegerType::get(op.getContext(), 64));
    Value counts = builder.createTemp(countType);

    builder.addKernel("_count", samples, [&](LoopKernel &kernel) {
      LoopOperand mask = kernel.addValue(op.getMask());
      LoopOperand dest = kernel.addTemp(counts, countType);
      kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value) {
        Value count = forMask(
            b, loc, kernel, mask, sample, IndexBuilder(b, loc).constant(0),
            [](OpBuilder &inner, Location l, Value, Value set, Value count) {
              return IndexBuilder(inner, l).add(count, toIndex(inner, l, set));
            });
        LoopKernel::store(b, loc, IndexBuilder(b, loc).toI64(count), dest,
                          kernel.getFirst(b, loc, dest, sample));
      });
      return LoopCost{1, LoopKernel::countBytes(mask)};
    });
    builder.bindSymbols(counts, maskType.extents[0]);
    builder.createResults();

    builder.addKernel("", samples, [&](LoopKernel &kernel) {
      LoopOperand mask = kernel.addValue(op.getMask());
      LoopOperand from = kernel.addValue(op.getSource());
      LoopOperand to = kernel.addValue(op.getResult());
      kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value) {
        Value origin = kernel.getFirst(b, loc, from, sample);
        forMask(
            b, loc, kernel, mask, sample, kernel.getFirst(b, loc, to, sample),
            [&](OpBuilder &inner, Location l, Value row, Value set,
                Value dest) {
              IndexBuilder rb(inner, l);
              Value elements = rb.constant(to.rowElements);
              scf::IfOp::create(
                  inner, l, set, [&](OpBuilder &then, Location at) {
                    IndexBuilder tb(then, at);
                    copyRow(then, at, from,
                            tb.add(origin, tb.mul(row, elements)), to, dest);
                    scf::YieldOp::create(then, at);
                  });
              return rb.add(dest, rb.mul(toIndex(inner, l, set), elements));
            });
      });
      return LoopCost{0, LoopKernel::countBytes({mask, from, to})};
    });
    return success();
  }
  bool worksOnGPU(Operation *) const { return true; }
};
} // namespace

void nested::ragged::registerSelectKernels(MLIRContext *context) {
  MaskedSelectOp::attachInterface<MaskedSelectKernels>(*context);
}
