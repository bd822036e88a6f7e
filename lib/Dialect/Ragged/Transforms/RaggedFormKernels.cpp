//===- RaggedFormKernels.cpp - Fuse generics into kernels ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "KernelRecompute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDFORMKERNELS
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedFormKernels
    : nested::ragged::impl::RaggedFormKernelsBase<RaggedFormKernels> {
  using Base::Base;
  void runOnOperation() override;

private:
  void defineContents(IRRewriter &rewriter);
  void materializeLoads(IRRewriter &rewriter);
};
} // namespace

/// Contents that do not matter are zero where something reads them, so that
/// results are written even then (R5).
void RaggedFormKernels::defineContents(IRRewriter &rewriter) {
  SmallVector<EmptyOp> empties(getOperation().getOps<EmptyOp>());
  for (EmptyOp empty : empties) {
    rewriter.setInsertionPointAfter(empty);
    auto fill =
        FillOp::create(rewriter, empty.getLoc(), empty.getType(),
                       cast<TypedAttr>(rewriter.getZeroAttr(
                           getScalarType(LogicalType::of(empty).elementType))));
    rewriter.replaceUsesWithIf(empty, fill, [](OpOperand &use) {
      auto generic = dyn_cast<GenericOp>(use.getOwner());
      return !generic || use.getOperandNumber() < generic.getInputs().size();
    });
    if (fill->use_empty())
      rewriter.eraseOp(fill);
  }
}

/// Whether a generic reads a load where there is nothing to load.
static bool isReadOutside(Operation *op, OpOperand &operand) {
  auto generic = dyn_cast<GenericOp>(op);
  unsigned i = operand.getOperandNumber();
  if (!generic || i >= generic.getInputs().size())
    return false;
  TypedAttr outside = generic.getInputOutside(i);
  auto fill = operand.get().getDefiningOp<FillOp>();
  return outside && !(fill && fill.getValue() == outside);
}

/// Whether a value is stored as rows of another shape: a reshape, or one whose
/// members became a dim or the other way round.
static bool isReshaped(Operation *op) {
  while (isa_and_present<UnnestOp, RenestOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<ReshapeOp>(op);
}

/// What is a load for kernels but is read by another op has to be stored after
/// all: results of the function, operands of ops that are no generics. So has
/// what is read outside of its operand.
void RaggedFormKernels::materializeLoads(IRRewriter &rewriter) {
  getOperation().walk([&](Operation *op) {
    if (!op->getBlock() || !isa<func::FuncOp>(op->getBlock()->getParentOp()))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      if (isa<GenericOp>(op) && !isReadOutside(op, operand))
        continue;
      Operation *producer = operand.get().getDefiningOp();
      bool constant =
          producer && producer->hasTrait<OpTrait::ConstantLike>() &&
          isa<func::ReturnOp, ReshapeOp, IndexedLoadOpInterface, SelectBatchOp,
              RepeatBatchOp, MoveBatchOp, BindSizeOp>(op);
      // Other dims of the same memory: kernels read them, and so do these.
      bool isView =
          isReshaped(producer) &&
          !isa<GenericOp, ReshapeOp, UnnestOp, RenestOp, BarrierOp, GatherOp,
               IndexedLoadOpInterface, AttentionOp, AttentionGradientOp>(op);
      if (!isVirtual(producer) && !constant && !isView)
        continue;
      rewriter.setInsertionPoint(op);
      operand.set(createMove(rewriter, operand.get()));
    }
  });
}

void RaggedFormKernels::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isExternal())
    return;
  IRRewriter rewriter(&getContext());
  defineContents(rewriter);
  materializeLoads(rewriter);
  if (failed(splitInits(rewriter, func)))
    return signalPassFailure();
  FailureOr<std::vector<StepPlan>> steps = planKernels(func, fuse);
  if (failed(steps))
    return signalPassFailure();
  FailureOr<std::optional<MemoryBudget>> budget = MemoryBudget::get(func);
  if (failed(budget))
    return signalPassFailure();
  std::optional<int64_t> price;
  if (fuse == Fusion::Always)
    price = kMostFlopsPerByte;
  else if (fuse == Fusion::Cost && func->hasAttr(kDifferentiatedAttr))
    price = flopsPerByte;
  if ((*budget || price.value_or(flopsPerByte) > 0) &&
      failed(recomputeInKernels(func, *steps, price, *budget)))
    return signalPassFailure();

  if (share && fuse != Fusion::Never)
    shareInKernels(*steps);

  // The steps, in order, before the terminator; what they replace is dead then.
  Block &block = func.getBody().front();
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    if (isa<GenericOp>(op) || isVirtual(&op))
      old.push_back(&op);
  unsigned number = 0;
  for (StepPlan &step : *steps) {
    if (step.hostOp) {
      step.hostOp->moveBefore(block.getTerminator());
      continue;
    }
    rewriter.setInsertionPoint(block.getTerminator());
    std::string name = (func.getName() + "_k" + Twine(number++)).str();
    Location loc = step.kernel.generics.front().op.getLoc();
    if (failed(buildKernel(rewriter, loc, step.kernel, name, largeTileRows)))
      return signalPassFailure();
  }
  for (Operation *op : llvm::reverse(old))
    if (op->use_empty())
      op->erase();
}
