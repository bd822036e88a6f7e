//===- SelectFunction.cpp - Kernels of masked_select --------------------===//
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

#include "KernelFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
/// First row of every sample of a value, as a table: an argument may have gaps.
TableKey getBaseTable(Value value, ScheduleBuilder &schedule) {
  LogicalType type = LogicalType::of(value);
  if (std::optional<int64_t> arg = schedule.getArgument(value))
    return TableKey::makeBase(*arg, type.path);
  return TableKey::makeOffsets(type.getRowExtent(), type.path);
}

/// A loop over the rows of samples [begin, end) that carries one index; `body`
/// gets (sample, row in the sample, row of the mask is true, carried) and
/// returns what is carried on. `finish` gets the sample and what the last row
/// left.
template <typename Start, typename Body, typename Finish>
void emitSampleLoop(OpBuilder &b, Location loc, MaskedSelectOp op,
                    KernelSignature &signature, ScheduleBuilder &schedule,
                    Value mask, Start start, Body body, Finish finish) {
  IndexBuilder ib(b, loc);
  LogicalType type = LogicalType::of(op.getMask());
  Value lengths =
      signature.getTable(TableKey::makeExtent(type.getRowExtent(), type.path));
  Value base = signature.getTable(getBaseTable(op.getMask(), schedule));
  Value one = ib.constant(1), zero = ib.constant(0);
  scf::ForOp::create(
      b, loc, signature.getBegin(), signature.getEnd(), one, ValueRange{},
      [&](OpBuilder &outer, Location l, Value sample, ValueRange) {
        IndexBuilder sb(outer, l);
        Value first = sb.load(base, sample);
        auto rows = scf::ForOp::create(
            outer, l, zero, sb.load(lengths, sample), one,
            ValueRange{start(sb, sample)},
            [&](OpBuilder &inner, Location il, Value row, ValueRange carried) {
              IndexBuilder rb(inner, il);
              Value byte = memref::LoadOp::create(
                  inner, il, mask, ValueRange{rb.add(first, row)});
              Value set = arith::CmpIOp::create(
                  inner, il, arith::CmpIPredicate::ne, byte,
                  arith::ConstantIntOp::create(inner, il, 0, 8));
              Value next = body(inner, il, sample, row, set, carried[0]);
              scf::YieldOp::create(inner, il, next);
            });
        finish(outer, l, sample, rows.getResult(0));
        scf::YieldOp::create(outer, l);
      });
}

Value toIndex(OpBuilder &b, Location loc, Value condition) {
  return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), condition);
}

EmittedKernel finishKernel(KernelSignature &signature, MaskedSelectOp op,
                           Builder &b) {
  signature.finish();
  EmittedKernel emitted;
  emitted.memrefs = llvm::to_vector(signature.getMemrefOperands());
  emitted.scalars = llvm::to_vector(signature.getScalarOperands());
  LogicalType mask = LogicalType::of(op.getMask());
  emitted.rowTable = TableKey::makeOffsets(mask.getRowExtent(), mask.path);
  emitted.errors = signature.getErrors(b);
  return emitted;
}
} // namespace

FailureOr<EmittedKernel>
nested::ragged::emitCountFunction(OpBuilder &outer, MaskedSelectOp op,
                                  StringRef name, ScheduleBuilder &schedule,
                                  Value counts) {
  Location loc = op.getLoc();
  KernelSignature signature(outer, loc, name, schedule);
  OpBuilder b(outer.getContext());
  b.setInsertionPointToEnd(signature.getBody());
  Value mask =
      signature.addBuffer(schedule.getBuffer(op.getMask()), {}, b.getI1Type());
  Value dest = signature.addBuffer(counts, {}, b.getI64Type());
  emitSampleLoop(
      b, loc, op, signature, schedule, mask,
      [&](IndexBuilder &ib, Value) { return ib.constant(0); },
      [&](OpBuilder &inner, Location l, Value, Value, Value set, Value count) {
        return IndexBuilder(inner, l).add(count, toIndex(inner, l, set));
      },
      [&](OpBuilder &body, Location l, Value sample, Value count) {
        memref::StoreOp::create(body, l, IndexBuilder(body, l).toI64(count),
                                dest, sample);
      });
  return finishKernel(signature, op, b);
}

FailureOr<EmittedKernel>
nested::ragged::emitSelectFunction(OpBuilder &outer, MaskedSelectOp op,
                                   StringRef name, ScheduleBuilder &schedule) {
  Location loc = op.getLoc();
  KernelSignature signature(outer, loc, name, schedule);
  OpBuilder b(outer.getContext());
  b.setInsertionPointToEnd(signature.getBody());
  LogicalType source = LogicalType::of(op.getSource());
  LogicalType result = LogicalType::of(op.getResult());
  SmallVector<int64_t> rowShape = source.getRowShape();
  int64_t columns = 1;
  for (int64_t size : rowShape)
    columns *= size;
  Value mask =
      signature.addBuffer(schedule.getBuffer(op.getMask()), {}, b.getI1Type());
  Value from = signature.addBuffer(schedule.getBuffer(op.getSource()),
                                   {columns}, source.elementType);
  Value to = signature.addBuffer(schedule.getBuffer(op.getResult()), {columns},
                                 source.elementType);
  Value fromBase = signature.getTable(getBaseTable(op.getSource(), schedule));
  Value toBase = signature.getTable(
      TableKey::makeOffsets(result.getRowExtent(), result.path));
  emitSampleLoop(
      b, loc, op, signature, schedule, mask,
      [&](IndexBuilder &ib, Value sample) { return ib.load(toBase, sample); },
      [&](OpBuilder &inner, Location l, Value sample, Value row, Value set,
          Value dest) {
        IndexBuilder rb(inner, l);
        scf::IfOp::create(inner, l, set, [&](OpBuilder &then, Location at) {
          IndexBuilder tb(then, at);
          Value origin = tb.add(tb.load(fromBase, sample), row);
          scf::ForOp::create(
              then, at, tb.constant(0), tb.constant(columns), tb.constant(1),
              ValueRange{},
              [&](OpBuilder &copy, Location cl, Value column, ValueRange) {
                Value value = memref::LoadOp::create(
                    copy, cl, from, ValueRange{origin, column});
                memref::StoreOp::create(copy, cl, value, to,
                                        ValueRange{dest, column});
                scf::YieldOp::create(copy, cl);
              });
          scf::YieldOp::create(then, at);
        });
        return rb.add(dest, toIndex(inner, l, set));
      },
      [](OpBuilder &, Location, Value, Value) {});
  return finishKernel(signature, op, b);
}
