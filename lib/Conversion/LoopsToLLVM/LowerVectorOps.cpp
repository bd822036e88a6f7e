//===- LowerVectorOps.cpp - Take structured vector operations apart -------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Reductions: those that keep the last dimension become elementwise
//    operations on rows, the others reductions of single rows.
// 2. Contractions become outer products, permuted transfers plain transfers.
// 3. Outer products and transposes, which 1 and 2 leave, become operations on
//    rows. They wait until then, since contractions create them.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nested {
#define GEN_PASS_DEF_LOWERVECTOROPS
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

bool keepsLastDim(vector::MultiDimReductionOp op) {
  return !op.isReducedDim(op.getSourceVectorType().getRank() - 1);
}

struct LowerVectorOps
    : public nested::impl::LowerVectorOpsBase<LowerVectorOps> {
  void runOnOperation() override {
    if (failed(lowerReductions()) || failed(lowerContractions()) ||
        failed(lowerProducts()))
      signalPassFailure();
  }

  LogicalResult lowerReductions() {
    SmallVector<Operation *> byRow;
    bool others = false;
    getOperation().walk([&](vector::MultiDimReductionOp op) {
      if (keepsLastDim(op))
        byRow.push_back(op);
      else
        others = true;
    });
    if (!byRow.empty()) {
      RewritePatternSet patterns(&getContext());
      vector::populateVectorMultiReductionLoweringPatterns(
          patterns, vector::VectorMultiReductionLowering::InnerParallel);
      // New operations are visited too: a reduction is first transposed.
      GreedyRewriteConfig config;
      config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
      if (failed(applyOpPatternsGreedily(byRow, std::move(patterns), config)))
        return failure();
    }
    if (!others)
      return success();
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMultiReductionLoweringPatterns(
        patterns, vector::VectorMultiReductionLowering::InnerReduction);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  LogicalResult lowerContractions() {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    vector::populateVectorContractLoweringPatterns(
        patterns, vector::VectorContractLowering::OuterProduct);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  LogicalResult lowerProducts() {
    RewritePatternSet patterns(&getContext());
    vector::populateVectorOuterProductLoweringPatterns(patterns);
    vector::populateVectorTransposeLoweringPatterns(
        patterns, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
