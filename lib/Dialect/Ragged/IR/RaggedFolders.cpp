//===- RaggedFolders.cpp - Ops that do nothing, and pairs of them ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op is replaced by a value of the very same type only: a result with
// another order of storage is a copy.
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Ragged.h"

using namespace mlir;
using namespace nested::ragged;

static bool isIdentity(ArrayRef<int64_t> dims) {
  for (auto [position, dim] : llvm::enumerate(dims))
    if (dim != int64_t(position))
      return false;
  return true;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (isIdentity(getDims()) && getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentity(getPermutation()) && getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // Of the same type and not dropped: as long as the source.
  if (!getDrop() && getStart().getConstant() == 0 && getStep() == 1 &&
      getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

OpFoldResult ValuesOp::fold(FoldAdaptor) {
  if (auto pack = getSource().getDefiningOp<PackOp>())
    return pack.getValues();
  return {};
}

OpFoldResult PackOp::fold(FoldAdaptor) {
  // Partitions of one type in one function are the same structure.
  auto values = getValues().getDefiningOp<ValuesOp>();
  if (values && values.getSource().getType() == getType())
    return values.getSource();
  return {};
}

/// `op` of its inverse is what that had.
template <typename Inverse, typename Op>
static OpFoldResult foldInverse(Op op) {
  auto inner = op.getSource().template getDefiningOp<Inverse>();
  if (inner && inner.getSource().getType() == op.getType())
    return inner.getSource();
  return {};
}

OpFoldResult UnnestOp::fold(FoldAdaptor) {
  return foldInverse<RenestOp>(*this);
}

OpFoldResult RenestOp::fold(FoldAdaptor) {
  return foldInverse<UnnestOp>(*this);
}

namespace {
/// transpose(transpose(x)) is one transpose, which may then be the identity.
struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "not of a transpose");
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(),
                                             inner.getSource(), permutation);
    return success();
  }
};
} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<ComposeTransposes>(context);
}
