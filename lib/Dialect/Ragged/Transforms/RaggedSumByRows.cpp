//===- RaggedSumByRows.cpp - Sums of rows before sums of the batch --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDSUMBYROWS
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedSumByRows
    : nested::ragged::impl::RaggedSumByRowsBase<RaggedSumByRows> {
  void runOnOperation() override;
};
} // namespace

static bool isFloatSum(ReduceOp op) {
  return op.getKind() == ReduceKind::Sum && !op.getKeepdims() &&
         isa<FloatType>(LogicalType::of(op.getResult()).elementType);
}

/// The axes of rows: the ragged ones that are reduced, but the first in memory.
static SmallVector<int64_t> getInnerAxes(ReduceOp op) {
  SmallVector<int64_t> axes;
  for (int64_t dim : LogicalType::of(op.getSource()).getRaggedDims())
    if (llvm::is_contained(op.getDims(), dim))
      axes.push_back(dim);
  if (!axes.empty())
    axes.erase(axes.begin());
  return axes;
}

/// Whether `other` sums the same cells over the same axes, in each sample.
static bool sumsRowsOf(ReduceOp other, const LogicalType &cells,
                       ArrayRef<int64_t> axes) {
  LogicalType type = LogicalType::of(other.getSource());
  return isFloatSum(other) && !other.getBatch() && type.path == cells.path &&
         type.getRaggedExtents() == cells.getRaggedExtents() &&
         other.getDims() == axes;
}

static void sumByRows(ReduceOp op, ArrayRef<int64_t> axes) {
  OpBuilder builder(op);
  TensorBuilder b(builder, op.getLoc());
  LogicalType type = LogicalType::of(op.getSource());
  SmallVector<int64_t> rest;
  for (int64_t dim : op.getDims())
    if (!llvm::is_contained(axes, dim))
      rest.push_back(
          dim - llvm::count_if(axes, [&](int64_t axis) { return axis < dim; }));
  // R6: what is added up over the batch is not rounded before.
  Value source =
      b.convertFloat(op.getSource(), getSumType(type.elementType, true));
  Value rows = b.reduce(ReduceKind::Sum, source, axes);
  Value sum = b.reduce(ReduceKind::Sum, rows, rest, /*batch=*/true);
  op.getResult().replaceAllUsesWith(b.convertFloat(sum, type.elementType));
  op.erase();
}

void RaggedSumByRows::runOnOperation() {
  SmallVector<ReduceOp> sums;
  getOperation().walk([&](ReduceOp op) {
    if (isFloatSum(op))
      sums.push_back(op);
  });
  for (ReduceOp &op : sums) {
    SmallVector<int64_t> axes = getInnerAxes(op);
    if (!op.getBatch() || axes.empty())
      continue;
    LogicalType cells = LogicalType::of(op.getSource());
    bool rowsAreSummed = llvm::any_of(sums, [&](ReduceOp other) {
      return other && sumsRowsOf(other, cells, axes);
    });
    if (!rowsAreSummed)
      continue;
    remark::passed(
        op.getLoc(),
        remark::RemarkOpts::name("SumByRows").category("ragged-algebra"))
        << remark::add("summed over rows first, beside other sums of rows")
        << remark::metric("space", formatExtents(cells.getRaggedExtents()));
    sumByRows(op, axes);
    op = nullptr;
  }
}
