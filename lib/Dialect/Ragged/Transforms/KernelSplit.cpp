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
// A kernel that adds up several matrices over the batch, such as gradients of
// weights, goes through all of them for every tile. Where they exceed the
// cache, those that share little work are made by kernels of their own, each of
// which does that work.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "MemoryBudget.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace nested::ragged;

/// Bytes of what the kernel adds up.
static int64_t getAccumulatorBytes(const KernelPlan &kernel) {
  int64_t bytes = 0;
  for (const GenericPlan &plan : kernel.generics)
    if (plan.isFold())
      bytes += getRowBytes(plan.getOp()->getResult(0));
  return bytes;
}

/// Generics that both parts may compute: little work for each row.
static llvm::SmallDenseSet<Operation *> findRepeated(const KernelPlan &kernel) {
  constexpr int64_t cacheBytes = 1 << 19, littleWork = 1 << 10;
  llvm::SmallDenseSet<Operation *> repeated;
  if (!kernel.batch || getAccumulatorBytes(kernel) <= cacheBytes)
    return repeated;
  auto isHere = [&](Operation *op) { return op && kernel.lookup(op); };
  for (const GenericPlan &plan : kernel.generics) {
    GenericOp op = plan.getOp();
    if (!plan.isFold() && getRowOperations(plan) <= littleWork &&
        llvm::all_of(op->getUsers(), isHere) &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return !isHere(def) || repeated.contains(def);
        }))
      repeated.insert(op);
  }
  return repeated;
}

/// The generics that `part` needs of `repeated`, in front of it. Those that the
/// other part has as well are cloned.
static void addRepeated(KernelPlan &part, const KernelPlan &all,
                        const llvm::SmallDenseSet<Operation *> &repeated,
                        bool clones) {
  llvm::SmallDenseSet<Operation *> needed;
  SmallVector<Operation *> work;
  for (const GenericPlan &plan : part.generics)
    work.push_back(plan.op);
  while (!work.empty())
    for (Value operand : work.pop_back_val()->getOperands())
      if (Operation *def = operand.getDefiningOp();
          repeated.contains(def) && needed.insert(def).second)
        work.push_back(def);
  SmallVector<GenericPlan> front;
  IRMapping map;
  for (GenericPlan plan : all.generics) {
    if (!needed.contains(plan.op))
      continue;
    if (clones) {
      OpBuilder b(plan.op);
      plan.op = cast<GenericOp>(b.clone(*plan.op, map));
    }
    front.push_back(plan);
  }
  for (const GenericPlan &plan : part.generics)
    for (OpOperand &operand : plan.getOp()->getOpOperands())
      operand.set(map.lookupOrDefault(operand.get()));
  part.generics.insert(part.generics.begin(), front.begin(), front.end());
}

/// What the kernel computes apart from what its first generic is part of, if
/// both are much work.
static std::optional<StepPlan> split(KernelPlan &kernel) {
  // Rows are read once more then, which is little beside that much work.
  constexpr int64_t muchWork = 1 << 14;
  llvm::SmallDenseSet<Operation *> repeated = findRepeated(kernel);
  llvm::EquivalenceClasses<Operation *> parts;
  Operation *root = nullptr;
  for (const GenericPlan &plan : kernel.generics) {
    if (repeated.contains(plan.op))
      continue;
    root = root ? root : plan.op;
    parts.insert(plan.op);
    for (Value operand : plan.getOp()->getOperands())
      if (Operation *def = operand.getDefiningOp();
          kernel.lookup(def) && !repeated.contains(def))
        parts.unionSets(plan.op, def);
  }
  KernelPlan first, rest;
  int64_t work[2] = {0, 0};
  for (const GenericPlan &plan : kernel.generics) {
    if (repeated.contains(plan.op))
      continue;
    bool isFirst = parts.isEquivalent(plan.op, root);
    KernelPlan &part = isFirst ? first : rest;
    part.add(plan);
    work[!isFirst] += getRowOperations(plan);
    if (auto it = kernel.finalizers.find(plan.op);
        it != kernel.finalizers.end())
      part.finalizers.insert(*it);
  }
  if (std::min(work[0], work[1]) < muchWork)
    return std::nullopt;
  addRepeated(first, kernel, repeated, /*clones=*/false);
  addRepeated(rest, kernel, repeated, /*clones=*/true);
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
