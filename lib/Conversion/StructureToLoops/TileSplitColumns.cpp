//===- TileSplitColumns.cpp - Contractions that are used in parts ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction of which only ranges of columns are used becomes one for each
// of them, with those columns of the shared operand and of what it starts from.
//
//===----------------------------------------------------------------------===//

#include "TileMatch.h"
#include "TileSlices.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace nested {
#define GEN_PASS_DEF_TILESPLITCOLUMNS
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// The code of a contraction is repeated for each part.
static constexpr size_t kMostParts = 8;
/// Narrower parts would leave lanes of registers empty.
static constexpr int64_t kLeastColumns = 16;

namespace {
struct TileSplitColumns
    : public nested::impl::TileSplitColumnsBase<TileSplitColumns> {
  using TileSplitColumnsBase::TileSplitColumnsBase;
  void runOnOperation() override;
};
} // namespace

/// The slices that use the result, in the order of their columns, if nothing
/// else does and no column is in two of them.
static SmallVector<tensor::ExtractSliceOp> getColumnSlices(Value result) {
  SmallVector<tensor::ExtractSliceOp> slices;
  auto type = cast<RankedTensorType>(result.getType());
  int64_t last = type.getRank() - 1;
  for (Operation *user : result.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || last < 0 || slice.getType().getRank() != type.getRank() ||
        !slice.hasUnitStride() ||
        ShapedType::isDynamic(slice.getStaticOffset(last)) ||
        slice.getType().getShape().drop_back() != type.getShape().drop_back() ||
        slice.getType().getDimSize(last) < kLeastColumns)
      return {};
    slices.push_back(slice);
  }
  if (slices.size() > kMostParts)
    return {};
  llvm::sort(slices, [&](tensor::ExtractSliceOp a, tensor::ExtractSliceOp b) {
    return a.getStaticOffset(last) < b.getStaticOffset(last);
  });
  int64_t end = 0;
  for (tensor::ExtractSliceOp slice : slices) {
    if (slice.getStaticOffset(last) < end)
      return {};
    end = slice.getStaticOffset(last) + slice.getType().getDimSize(last);
  }
  return slices;
}

static FailureOr<linalg::GenericOp> getGeneric(RewriterBase &rewriter,
                                               Operation *op) {
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
    return generic;
  auto named = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!named || !named.hasPureTensorSemantics())
    return failure();
  rewriter.setInsertionPoint(op);
  return linalg::generalizeNamedOp(rewriter, named);
}

static void split(RewriterBase &rewriter, linalg::LinalgOp contraction) {
  if (contraction->getNumResults() != 1 ||
      contraction.getNumReductionLoops() == 0)
    return;
  SmallVector<tensor::ExtractSliceOp> slices =
      getColumnSlices(contraction->getResult(0));
  if (slices.empty())
    return;
  FailureOr<linalg::GenericOp> op = getGeneric(rewriter, contraction);
  if (failed(op))
    return;
  std::optional<RowContraction> shape = matchRowContraction(*op);
  if (!shape || !canCut(*op, shape->column))
    return;
  Value init = op->getDpsInits().front();
  FailureOr<linalg::GenericOp> fill =
      getGeneric(rewriter, init.getDefiningOp());
  if (failed(fill) || !isFill(*fill))
    return;
  AffineMap map = fill->getMatchingIndexingMap(fill->getDpsInitOperand(0));
  if (!canCut(*fill, map.getDimPosition(map.getNumResults() - 1)))
    return;
  init = op->getDpsInits().front();

  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  rewriter.setInsertionPoint(*op);
  Location loc = op->getLoc();
  auto sliceOf = [&](Value tensor, ArrayRef<DimRange> ranges) {
    return extractSlice(rewriter, loc, tensor, ranges);
  };
  for (tensor::ExtractSliceOp slice : slices) {
    DimRanges ranges;
    for (int64_t size : type.getShape().drop_back())
      ranges.push_back(DimRange::all(rewriter, size));
    ranges.push_back(DimRange::part(
        rewriter.getIndexAttr(slice.getStaticOffset(ranges.size())),
        slice.getType().getShape().back()));
    Value part = emitResultPart(
        rewriter, *op, ranges, [&](Value tensor, ArrayRef<DimRange> wanted) {
          return tensor == init
                     ? emitResultPart(rewriter, *fill, wanted, sliceOf)
                     : sliceOf(tensor, wanted);
        });
    rewriter.replaceOp(slice, part);
  }
  rewriter.eraseOp(*op);
}

void TileSplitColumns::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(kKernelAttr))
    return;
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](scf::ForOp loop) {
    if (loop->hasAttr(kTileLoopAttr))
      llvm::append_range(ops, loop.getBody()->getOps<linalg::LinalgOp>());
  });
  IRRewriter rewriter(&getContext());
  for (linalg::LinalgOp op : ops)
    split(rewriter, op);
}
