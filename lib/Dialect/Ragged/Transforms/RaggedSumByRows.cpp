//===- RaggedSumByRows.cpp - Sums of rows before sums of more -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// A sum over several ragged axes.
static bool isLargeSum(ReduceOp op) {
  LogicalType source = LogicalType::of(op.getSource());
  return op.getKind() == ReduceKind::Sum && !op.getKeepdims() &&
         isa<FloatType>(source.elementType) &&
         llvm::count_if(op.getDims(),
                        [&](int64_t dim) { return source.isRagged(dim); }) > 1;
}

/// The ragged axes that are reduced, as they are in memory.
static SmallVector<int64_t> getRaggedAxes(ReduceOp op) {
  SmallVector<int64_t> axes;
  for (int64_t dim : LogicalType::of(op.getSource()).getRaggedDims())
    if (llvm::is_contained(op.getDims(), dim))
      axes.push_back(dim);
  return axes;
}

/// Whether `other` reduces the same cells over `axes`, in each sample.
static bool reducesRowsOf(ReduceOp other, const LogicalType &cells,
                          ArrayRef<int64_t> axes) {
  LogicalType type = LogicalType::of(other.getSource());
  return !other.getBatch() && type.path == cells.path &&
         type.getRaggedExtents() == cells.getRaggedExtents() &&
         ArrayRef(getRaggedAxes(other)) == axes;
}

/// All axes but `outer` first.
static void sumByRows(ReduceOp op, int64_t outer) {
  OpBuilder builder(op);
  TensorBuilder b(builder, op.getLoc());
  LogicalType type = LogicalType::of(op.getSource());
  SmallVector<int64_t> inner;
  int64_t left = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim != outer && llvm::is_contained(op.getDims(), dim))
      inner.push_back(dim);
    else
      left += dim < outer;
  }
  // R6: what is added up further is not rounded before.
  Value source =
      b.convertFloat(op.getSource(), getSumType(type.elementType, true));
  Value rows = b.reduce(ReduceKind::Sum, source, inner);
  Value sum = b.reduce(ReduceKind::Sum, rows, left, op.getBatch());
  op.getResult().replaceAllUsesWith(b.convertFloat(sum, type.elementType));
  op.erase();
}

void RaggedSumByRows::runOnOperation() {
  SmallVector<ReduceOp> reductions;
  getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
  for (ReduceOp &op : reductions) {
    if (!isLargeSum(op))
      continue;
    LogicalType cells = LogicalType::of(op.getSource());
    SmallVector<int64_t> axes = getRaggedAxes(op);
    auto inner = ArrayRef(axes).drop_front();
    bool rowsAreReduced = llvm::any_of(reductions, [&](ReduceOp other) {
      return other && reducesRowsOf(other, cells, inner);
    });
    if (!rowsAreReduced)
      continue;
    remark::passed(
        op.getLoc(),
        remark::RemarkOpts::name("SumByRows").category("ragged-algebra"))
        << remark::add("summed over rows first, beside other sums of rows")
        << remark::metric("space", formatExtents(cells.getRaggedExtents()));
    sumByRows(op, axes.front());
    op = nullptr;
  }
}
