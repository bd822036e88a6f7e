//===- TileVectorize.cpp - Linalg ops of kernels as vectors ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Linalg ops by upstream's vectorizer, stores of rows as vector writes.
// 2. Reads and writes of slices become reads and writes of the whole tensor.
// 3. Reads and writes at places that a loop does not change move out of it.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace nested {
#define GEN_PASS_DEF_TILEVECTORIZE
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;

namespace {

using StoreOp = bufferization::MaterializeInDestinationOp;

struct TileVectorize : public nested::impl::TileVectorizeBase<TileVectorize> {
  using TileVectorizeBase::TileVectorizeBase;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kKernelAttr))
      return;
    IRRewriter rewriter(&getContext());
    vectorizeOps(rewriter);
    vectorizeStores(rewriter);
    if (failed(foldSlices()))
      return signalPassFailure();
    getOperation().walk([&](LoopLikeOpInterface loop) {
      (void)hoistLoopInvariantSubsets(rewriter, loop);
    });
    // What was hoisted meets the slices of the loops around it.
    if (failed(foldSlices()))
      signalPassFailure();
  }

private:
  void vectorizeOps(IRRewriter &rewriter);
  void vectorizeStores(IRRewriter &rewriter);
  LogicalResult foldSlices();
};

/// Elements that are read as a vector need no memory.
struct ReadOfElements : public OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    auto elements = op.getBase().getDefiningOp<tensor::FromElementsOp>();
    if (!elements || op.getMask() || op.hasOutOfBoundsDim() ||
        !op.getPermutationMap().isIdentity() ||
        elements.getType().getShape() != op.getVectorType().getShape())
      return failure();
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, op.getVectorType(),
                                                        elements.getElements());
    return success();
  }
};

/// A vector of everything in `type`.
VectorType vectorOf(ShapedType type) {
  return VectorType::get(type.getShape(), type.getElementType());
}

} // namespace

void TileVectorize::vectorizeOps(IRRewriter &rewriter) {
  SmallVector<linalg::LinalgOp> ops;
  getOperation().walk([&](linalg::LinalgOp op) {
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    if (op.hasPureTensorSemantics() &&
        llvm::none_of(extents, ShapedType::isDynamic) &&
        llvm::product_of(extents) <= maxElements)
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    // Refusals are silent: bufferization makes scalar loops of the op.
    ScopedDiagnosticHandler quiet(&getContext(),
                                  [](Diagnostic &) { return success(); });
    // A contraction of vectors needs operands of one type.
    bool isOfOneType =
        llvm::all_equal(llvm::map_range(op.getDpsInputs(), [](Value input) {
          return getElementTypeOrSelf(input.getType());
        }));
    FailureOr<linalg::VectorizationResult> result = linalg::vectorize(
        rewriter, op, /*inputVectorSizes=*/{}, /*inputScalableVecDims=*/{},
        /*vectorizeNDExtract=*/true, /*flatten1DDepthwiseConv=*/false,
        /*assumeDynamicDimsMatchVecSizes=*/false,
        /*createNamedContraction=*/isOfOneType);
    if (succeeded(result))
      rewriter.replaceOp(op, result->replacements);
  }
}

void TileVectorize::vectorizeStores(IRRewriter &rewriter) {
  SmallVector<StoreOp> stores;
  getOperation().walk([&](StoreOp op) {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    if (type && type.hasStaticShape() && type.getNumElements() <= maxElements)
      stores.push_back(op);
  });
  for (StoreOp op : stores) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getSource().getType());
    if (type.getRank() == 0 && op.getNumResults() == 0) {
      Value scalar =
          tensor::ExtractOp::create(rewriter, loc, op.getSource(), {});
      memref::StoreOp::create(rewriter, loc, scalar, op.getDest(),
                              ValueRange());
      rewriter.eraseOp(op);
      continue;
    }
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    SmallVector<Value> indices(type.getRank(), zero);
    SmallVector<bool> inBounds(type.getRank(), true);
    Value padding = ub::PoisonOp::create(rewriter, loc, type.getElementType());
    Value row = vector::TransferReadOp::create(rewriter, loc, vectorOf(type),
                                               op.getSource(), indices, padding,
                                               inBounds);
    auto write = vector::TransferWriteOp::create(
        rewriter, loc, row, op.getDest(), indices, inBounds);
    rewriter.replaceOp(op, write->getResults());
  }
}

LogicalResult TileVectorize::foldSlices() {
  RewritePatternSet patterns(&getContext());
  tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
  patterns.add<ReadOfElements>(&getContext());
  for (StringRef name : {vector::TransferReadOp::getOperationName(),
                         vector::TransferWriteOp::getOperationName(),
                         vector::BroadcastOp::getOperationName(),
                         vector::ExtractOp::getOperationName(),
                         vector::TransposeOp::getOperationName(),
                         vector::ShapeCastOp::getOperationName(),
                         tensor::ExtractOp::getOperationName(),
                         tensor::ExtractSliceOp::getOperationName(),
                         tensor::InsertSliceOp::getOperationName()})
    if (auto info = RegisteredOperationName::lookup(name, &getContext()))
      info->getCanonicalizationPatterns(patterns, &getContext());
  return applyPatternsGreedily(getOperation(), std::move(patterns));
}
