//===- SearchKernels.cpp - Kernels of searchsorted ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit is a row of values; each element is searched for by halving.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nested::ragged;

/// Whether x stands before y in a sorted list: NaN is the greatest (R10).
static Value isLess(OpBuilder &b, Location loc, Type type, Value x, Value y) {
  if (!isa<FloatType>(type)) {
    auto predicate = type.isInteger(1) || type.isUnsignedInteger()
                         ? arith::CmpIPredicate::ult
                         : arith::CmpIPredicate::slt;
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value isNumber =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  Value less = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, x, y);
  return arith::AndIOp::create(b, loc, isNumber, less);
}

/// How many of the `size` elements from `first` on stand before `value`.
static Value search(OpBuilder &b, Location loc, const LoopOperand &sorted,
                    Value first, Value size, Value value, bool right) {
  IndexBuilder ib(b, loc);
  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{index, index}, ValueRange{ib.constant(0), size},
      [&](OpBuilder &body, Location l, ValueRange range) {
        IndexBuilder wb(body, l);
        Value more =
            wb.compare(arith::CmpIPredicate::ne, range[1], wb.constant(0));
        scf::ConditionOp::create(body, l, more, range);
      },
      [&](OpBuilder &body, Location l, ValueRange range) {
        IndexBuilder wb(body, l);
        Value half = wb.div(range[1], wb.constant(2));
        Value middle = wb.add(range[0], half);
        Value element =
            LoopKernel::load(body, l, sorted, wb.add(first, middle));
        Value before;
        if (right) {
          Value after =
              isLess(body, l, sorted.type.elementType, value, element);
          before = arith::XOrIOp::create(
              body, l, after, arith::ConstantIntOp::create(body, l, 1, 1));
        } else {
          before = isLess(body, l, sorted.type.elementType, element, value);
        }
        Value rest = wb.sub(range[1], wb.add(half, wb.constant(1)));
        scf::YieldOp::create(
            body, l,
            ValueRange{
                wb.select(before, wb.add(middle, wb.constant(1)), range[0]),
                wb.select(before, rest, half)});
      });
  return loop.getResult(0);
}

namespace {
struct SearchSortedKernels
    : LoopKernelOpInterface::ExternalModel<SearchSortedKernels,
                                           SearchSortedOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<SearchSortedOp>(operation);
    builder.createResults();
    LogicalType type = LogicalType::of(op.getValues());
    LogicalType sortedType = LogicalType::of(op.getSorted());
    LoopUnits rows{type.path, type.getRowExtent(), type.getRowExtent()};
    builder.addKernel("", rows, [&](LoopKernel &kernel) {
      LoopOperand sorted = kernel.addValue(op.getSorted());
      LoopOperand values = kernel.addValue(op.getValues());
      LoopOperand result = kernel.addValue(op.getResult());
      kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value row) {
        IndexBuilder ib(b, loc);
        Value columns = ib.constant(values.rowElements);
        Value offset = ib.mul(row, columns);
        Value from = ib.add(kernel.getFirst(b, loc, values, sample), offset);
        Value to = ib.add(kernel.getFirst(b, loc, result, sample), offset);
        Value list = kernel.getFirst(b, loc, sorted, sample);
        Value size = kernel.evaluate(b, loc, sortedType.extents[0],
                                     sortedType.path, sample);
        scf::ForOp::create(
            b, loc, ib.constant(0), columns, ib.constant(1), ValueRange(),
            [&](OpBuilder &inner, Location l, Value column, ValueRange) {
              IndexBuilder cb(inner, l);
              Value value =
                  LoopKernel::load(inner, l, values, cb.add(from, column));
              Value found =
                  search(inner, l, sorted, list, size, value, op.getRight());
              LoopKernel::store(inner, l, cb.toI64(found), result,
                                cb.add(to, column));
              scf::YieldOp::create(inner, l);
            });
      });
      // A list is met from the middle on: some of it in caches, some not.
      return LoopCost{0, 8 * LoopKernel::countBytes({values, result})};
    });
    return success();
  }
};
} // namespace

void nested::ragged::registerSearchKernels(MLIRContext *context) {
  SearchSortedOp::attachInterface<SearchSortedKernels>(*context);
}
