//===- RaggedGeneralize.cpp - Named ops become generics -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "nested/Dialect/Ragged/IR/GenericRegion.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDGENERALIZE
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedGeneralize
    : nested::ragged::impl::RaggedGeneralizeBase<RaggedGeneralize> {
  void runOnOperation() override;
};
} // namespace

/// A generic over an extent that is constant 0 computes nothing: what it gives
/// is its inits, written out where they are results (R5).
static void foldEmptyGenerics(func::FuncOp func, IRRewriter &rewriter) {
  func.walk([&](GenericOp op) {
    if (llvm::none_of(op.getDims(),
                      [](ExtentAttr e) { return e.getConstant() == 0; }))
      return;
    rewriter.replaceOp(op, op.getInits());
  });
}

/// Generics that no kernel can be become several.
static LogicalResult splitGenerics(func::FuncOp func, IRRewriter &rewriter) {
  SmallVector<GenericOp> ops;
  func.walk([&](GenericOp op) {
    bool overMembers = op.getBatchReduced() && op.getPath().size() > 1;
    if (overMembers || op->getNumResults() > 1)
      ops.push_back(op);
  });
  for (GenericOp op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = splitOutputs(op, rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
  }
  return success();
}

void RaggedGeneralize::runOnOperation() {
  IRRewriter rewriter(&getContext());
  SmallVector<GeneralizableOpInterface> ops;
  getOperation().walk([&](GeneralizableOpInterface op) { ops.push_back(op); });
  for (GeneralizableOpInterface op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.generalize(rewriter);
    if (failed(values))
      return signalPassFailure();
    rewriter.replaceOp(op, *values);
  }
  if (failed(splitGenerics(getOperation(), rewriter)))
    return signalPassFailure();
  foldEmptyGenerics(getOperation(), rewriter);
}
