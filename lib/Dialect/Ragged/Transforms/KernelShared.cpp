//===- KernelShared.cpp - What all tiles of a kernel share ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of dense arguments alone, such as the offset of a normalisation
// taken through the weights behind it, is a launch of a few rows. Where one
// kernel over samples is all that reads its results, it becomes a part of that:
// linalg on whole values in front of the tiles. `--outline-shared` makes what
// is much work there once for all grains, with the weights that the kernel
// packs. It makes nothing of what it has made: a value of several steps, and a
// matrix, which the reader packs, stay kernels.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace nested::ragged;

/// Whether it is a number or a vector, and linalg on whole values can say the
/// same.
static bool isLinalg(GenericOp op) {
  if (op->getNumResults() != 1 || op.getBatchReduced() ||
      !op.getPathNames().empty() ||
      LogicalType::of(op.getResult(0)).getRank() > 1)
    return false;
  SmallVector<AffineMap> maps = {op.getOutputMap(0)};
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (isa_and_present<FillOp>(input.getDefiningOp()))
      continue;
    if (!isa<RankedTensorType>(input.getType()) ||
        !op.getInputOffsets(i).empty() || op.getInputOutside(i) ||
        !op.getInputMap(i).isProjectedPermutation(/*allowZeroInResults=*/false))
      return false;
    maps.push_back(op.getInputMap(i));
  }
  WalkResult walk =
      op.getBody().walk([](IndexOp) { return WalkResult::interrupt(); });
  Value init = op.getInits()[0];
  return !walk.wasInterrupted() && coverDims(maps) &&
         (init.getDefiningOp<FillOp>() ||
          (init.getDefiningOp<EmptyOp>() && !isInitUsed(op)));
}

/// Whether the step is made of arguments and constants alone.
static bool isOfArguments(const KernelPlan &kernel) {
  return kernel.finalizers.empty() &&
         llvm::all_of(kernel.generics, [&](const GenericPlan &plan) {
           GenericOp op = plan.getOp();
           return isLinalg(op) && llvm::all_of(op.getInputs(), [&](Value v) {
                    Operation *def = v.getDefiningOp();
                    return !def || isa<FillOp>(def) ||
                           def->hasTrait<OpTrait::ConstantLike>();
                  });
         });
}

/// Whether the kernel reads the value the same way for all of its rows.
static bool isReadWhole(const KernelPlan &kernel, OpOperand &use) {
  const GenericPlan *plan = kernel.lookup(use.getOwner());
  unsigned i = use.getOperandNumber();
  if (!plan || i >= plan->getOp().getInputs().size())
    return false;
  GenericOp op = plan->getOp();
  return getRowRank(LogicalType::of(use.get()), op.getInputMap(i),
                    op.getInputOffsets(i), *plan) == 0;
}

/// The one kernel over samples that reads what `kernel` makes; null without.
static KernelPlan *findReader(const KernelPlan &kernel,
                              std::vector<StepPlan> &steps) {
  KernelPlan *reader = nullptr;
  for (const GenericPlan &plan : kernel.generics)
    for (OpOperand &use : plan.getOp()->getUses()) {
      if (kernel.lookup(use.getOwner()))
        continue;
      auto step = llvm::find_if(steps, [&](const StepPlan &each) {
        return !each.hostOp && isReadWhole(each.kernel, use);
      });
      if (step == steps.end() || step->kernel.path.empty() ||
          (reader && reader != &step->kernel))
        return nullptr;
      reader = &step->kernel;
    }
  return reader;
}

void nested::ragged::shareInKernels(std::vector<StepPlan> &steps) {
  for (StepPlan &step : steps) {
    if (step.hostOp || !isOfArguments(step.kernel))
      continue;
    KernelPlan *reader = findReader(step.kernel, steps);
    if (!reader)
      continue;
    for (const GenericPlan &plan : step.kernel.generics) {
      reader->shared.push_back(plan.op);
      remark::passed(
          plan.getOp().getLoc(),
          remark::RemarkOpts::name("Share").category("ragged-fusion"))
          << remark::add("made of arguments alone: in front of the tiles of "
                         "the kernel that reads it, over ")
          << remark::metric("space", formatExtents(reader->space));
    }
    step.kernel.generics.clear();
  }
  llvm::erase_if(steps, [](const StepPlan &step) {
    return !step.hostOp && step.kernel.generics.empty();
  });
}
