//===- KernelSplit.cpp - Kernels of parts that share nothing --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that makes values again in two orders of its rows has two parts that
// share nothing. As one its tiles would be half as large for no gain.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace nested::ragged;

/// What the kernel computes apart from what its first generic is part of, if
/// both are much work.
static std::optional<StepPlan> split(KernelPlan &kernel) {
  // Rows are read once more then, which is little beside that much work.
  constexpr int64_t muchWork = 1 << 14;
  llvm::EquivalenceClasses<Operation *> parts;
  for (const GenericPlan &plan : kernel.generics) {
    parts.insert(plan.op);
    for (Value operand : plan.getOp()->getOperands())
      if (kernel.lookup(operand.getDefiningOp()))
        parts.unionSets(plan.op, operand.getDefiningOp());
  }
  KernelPlan first, rest;
  int64_t work[2] = {0, 0};
  for (const GenericPlan &plan : kernel.generics) {
    bool isFirst = parts.isEquivalent(plan.op, kernel.generics.front().op);
    KernelPlan &part = isFirst ? first : rest;
    part.add(plan);
    work[!isFirst] += getRowOperations(plan);
    if (auto it = kernel.finalizers.find(plan.op);
        it != kernel.finalizers.end())
      part.finalizers.insert(*it);
  }
  if (std::min(work[0], work[1]) < muchWork)
    return std::nullopt;
  kernel = std::move(first);
  StepPlan step;
  step.kernel = std::move(rest);
  return step;
}

void nested::ragged::splitKernels(std::vector<StepPlan> &steps) {
  for (size_t step = 0; step < steps.size(); ++step)
    if (!steps[step].hostOp)
      if (std::optional<StepPlan> rest = split(steps[step].kernel))
        steps.insert(steps.begin() + step + 1, std::move(*rest));
}
