//===- AttentionKernels.cpp - Kernels of attention ---------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit is a block of queries of one head of one sample: a
// `ragged.tile_attention`. What it computes depends on its sample alone (R8).
//
//===----------------------------------------------------------------------===//

#include "ContractAxes.h"
#include "LoopKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;
using namespace nested::ragged;

namespace {
/// What loads of a bias or a mask need: offset, strides by query and by key.
using Access = SmallVector<Value>;

class AttentionWriter {
public:
  AttentionWriter(AttentionOp op, LoopKernel &kernel)
      : op(op), kernel(kernel), query(kernel.addValue(op.getQuery())),
        key(kernel.addValue(op.getKey())),
        value(kernel.addValue(op.getValue())) {
    if (op.getBias())
      bias = kernel.addValue(op.getBias());
    if (op.getMask())
      mask = kernel.addValue(op.getMask());
    result = kernel.addValue(op.getResult());
  }
  void emitUnit(OpBuilder &b, Location loc, Value sample, Value unit,
                ExtentAttr blocks);

private:
  Access access(OpBuilder &b, Location loc, const LoopOperand &pairs,
                Value sample, Value firstQuery, Value head);

  AttentionOp op;
  LoopKernel &kernel;
  LoopOperand query, key, value, bias, mask, result;
};
} // namespace

Access AttentionWriter::access(OpBuilder &b, Location loc,
                               const LoopOperand &pairs, Value sample,
                               Value firstQuery, Value head) {
  if (!pairs.memref)
    return {};
  IndexBuilder ib(b, loc);
  SmallVector<Value> strides;
  for (ExtentAttr stride : getElementStrides(pairs.type))
    strides.push_back(kernel.evaluate(b, loc, stride, sample));
  Value offset = ib.add(kernel.getFirst(b, loc, pairs, sample),
                        ib.mul(firstQuery, strides[0]));
  if (strides.size() == 3)
    offset = ib.add(offset, ib.mul(head, strides[2]));
  return {offset, strides[0], strides[1]};
}

void AttentionWriter::emitUnit(OpBuilder &b, Location loc, Value sample,
                               Value unit, ExtentAttr blocks) {
  IndexBuilder ib(b, loc);
  Value numQueries = kernel.evaluate(b, loc, query.type.extents[0], sample);
  Value numKeys = kernel.evaluate(b, loc, key.type.extents[0], sample);
  Value perHead = kernel.evaluate(b, loc, blocks, sample);
  Value head = ib.div(unit, perHead);
  auto sizeOf = [](const LoopOperand &operand, unsigned dim) {
    return *operand.type.extents[dim].getConstant();
  };
  // Without heads there are no units.
  int64_t keyHeads = std::max<int64_t>(sizeOf(key, 1), 1);
  int64_t group = std::max<int64_t>(sizeOf(query, 1) / keyHeads, 1);
  Value keyHead = ib.div(head, ib.constant(group));
  Value first = ib.mul(ib.rem(unit, perHead), ib.constant(kMaxTileQueries));
  Value rows = ib.min(ib.sub(numQueries, first), ib.constant(kMaxTileQueries));
  auto stride = [&](const LoopOperand &operand) {
    return ib.constant(sizeOf(operand, 1) * sizeOf(operand, 2));
  };
  auto place = [&](const LoopOperand &operand, Value row, Value which) {
    Value offset = ib.add(kernel.getFirst(b, loc, operand, sample),
                          ib.mul(row, stride(operand)));
    return ib.add(offset, ib.mul(which, ib.constant(sizeOf(operand, 2))));
  };
  int64_t headSize = sizeOf(query, 2);
  double scale = op.getScale() ? op.getScale()->convertToDouble()
                               : 1 / std::sqrt(std::max<double>(headSize, 1));
  Value zero = ib.constant(0);
  // The last query is aligned with the last key.
  Value position = ib.add(ib.sub(numKeys, numQueries), first);
  TileAttentionOp::create(
      b, loc, query.memref, place(query, first, head), stride(query),
      key.memref, place(key, zero, keyHead), stride(key), value.memref,
      place(value, zero, keyHead), stride(value), result.memref,
      place(result, first, head), stride(result), rows, numKeys, position,
      bias.memref, access(b, loc, bias, sample, first, head), mask.memref,
      access(b, loc, mask, sample, first, head), b.getI64IntegerAttr(headSize),
      b.getI64IntegerAttr(sizeOf(value, 2)), b.getF64FloatAttr(scale),
      op.getSoftCapAttr(), op.getLeftAttr(), op.getRightAttr());
}

namespace {
struct AttentionKernels
    : LoopKernelOpInterface::ExternalModel<AttentionKernels, AttentionOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<AttentionOp>(operation);
    LogicalType query = LogicalType::of(op.getQuery());
    LogicalType key = LogicalType::of(op.getKey());
    LogicalType value = LogicalType::of(op.getValue());
    int64_t heads = *query.extents[1].getConstant();
    // Rows are pairs of a query and a key, as far as they are ragged.
    ExtentAttr pairs = extent::constant(op.getContext(), 1);
    int64_t flops =
        2 * heads *
        (*query.extents[2].getConstant() + *value.extents[2].getConstant());
    for (ExtentAttr extent : {query.extents[0], key.extents[0]}) {
      if (std::optional<int64_t> size = extent.getConstant())
        flops *= *size;
      else
        pairs = extent::mul(pairs, extent);
    }
    ExtentAttr blocks = extent::ceilDiv(query.extents[0], kMaxTileQueries);
    LoopUnits units{query.path, pairs, extent::mul(blocks, heads)};
    builder.createResults();
    builder.addKernel("", units, [&](LoopKernel &kernel) {
      AttentionWriter writer(op, kernel);
      kernel.forUnits(
          [&](OpBuilder &b, Location loc, Value sample, Value unit) {
            writer.emitUnit(b, loc, sample, unit, blocks);
          });
      return LoopCost{flops, 0};
    });
    return success();
  }
};
} // namespace

void nested::ragged::registerAttentionKernels(MLIRContext *context) {
  AttentionOp::attachInterface<AttentionKernels>(*context);
}
