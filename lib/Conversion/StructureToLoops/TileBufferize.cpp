//===- TileBufferize.cpp - Tensors of kernels as memrefs ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

namespace nested {
#define GEN_PASS_DEF_TILEBUFFERIZE
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;

namespace {

struct TileBufferize : public nested::impl::TileBufferizeBase<TileBufferize> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(kKernelAttr))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels)
      if (failed(bufferizeKernel(rewriter, kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult bufferizeKernel(IRRewriter &rewriter, func::FuncOp kernel);
};

/// Copies of more elements than this are loops.
constexpr int64_t kMaxVectorCopy = 512;

/// Copies of buffers as vectors, or as loops over their elements; upstream
/// would call into a library for those that are not contiguous. Copies of a
/// buffer to itself, which two equal subviews leave, go away.
void lowerCopies(IRRewriter &rewriter, func::FuncOp kernel) {
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getSource().getType());
    if (op.getSource() == op.getTarget()) {
      rewriter.eraseOp(op);
      continue;
    }
    if (type.getRank() > 0 && type.hasStaticShape() &&
        type.getNumElements() <= kMaxVectorCopy) {
      auto vector = VectorType::get(type.getShape(), type.getElementType());
      Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
      SmallVector<Value> indices(type.getRank(), zero);
      SmallVector<bool> inBounds(type.getRank(), true);
      Value padding =
          ub::PoisonOp::create(rewriter, loc, type.getElementType());
      Value value = vector::TransferReadOp::create(
          rewriter, loc, vector, op.getSource(), indices, padding, inBounds);
      vector::TransferWriteOp::create(rewriter, loc, value, op.getTarget(),
                                      indices, inBounds);
    } else {
      linalg::CopyOp::create(rewriter, loc, op.getSource(), op.getTarget());
    }
    rewriter.eraseOp(op);
  }
}

/// Gives every use of an empty tensor its own, in front of it: what CSE merged
/// are different buffers, and where a value ends up is only known there.
void splitEmptyTensors(IRRewriter &rewriter, func::FuncOp kernel) {
  SmallVector<tensor::EmptyOp> empties;
  kernel.walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  for (tensor::EmptyOp op : empties) {
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      rewriter.setInsertionPoint(use.getOwner());
      use.set(rewriter.clone(*op)->getResult(0));
    }
    rewriter.eraseOp(op);
  }
}

} // namespace

LogicalResult TileBufferize::bufferizeKernel(IRRewriter &rewriter,
                                             func::FuncOp kernel) {
  splitEmptyTensors(rewriter, kernel);
  if (failed(bufferization::eliminateEmptyTensors(rewriter, kernel)))
    return failure();

  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(kernel, options, state)))
    return failure();

  lowerCopies(rewriter, kernel);
  SmallVector<linalg::LinalgOp> left;
  kernel.walk([&](linalg::LinalgOp op) { left.push_back(op); });
  for (linalg::LinalgOp op : left) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitOpError("cannot be turned into loops");
    rewriter.eraseOp(op);
  }
  return success();
}
