//===- KernelRecompute.cpp - What kernels compute again -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel, and each value that it reads row by row from an earlier one:
//
// 1. collect the chain of generics that makes the value from others. It ends at
//    values of fewer rows, arguments and weights, at what is stored anyway
//    (results, and values that something reads in another way), and at values
//    that are stored in its place because they are smaller;
// 2. compare its operations per row with the bytes per row that the value
//    costs, written once and read once;
// 3. clone the chain in front of the kernel's own generics.
//
// What an earlier kernel then computes for nobody is taken out of it.
//
//===----------------------------------------------------------------------===//

#include "KernelRecompute.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
class Recompute {
public:
  Recompute(std::vector<StepPlan> &steps, int64_t flopsPerByte)
      : steps(steps), flopsPerByte(flopsPerByte) {
    for (auto [number, step] : llvm::enumerate(steps))
      for (const GenericPlan &plan : step.kernel.generics)
        plans[plan.op] = {number, plan};
  }
  void run();

private:
  struct Entry {
    size_t step;
    GenericPlan plan;
  };
  using Chain = llvm::SetVector<Operation *>;
  using Kept = llvm::SetVector<Value>;

  void runOn(size_t step);
  /// Whether the plan's operand `i` is made row by row for the rows that the
  /// plan reads it at.
  const Entry *getRowProducer(const GenericPlan &plan, unsigned i);
  bool isStoredAnyway(Value value);
  /// Adds what makes the results of `op`, and to `kept` the values of as many
  /// rows that are stored for that alone.
  void collect(Operation *op, Chain &chain, Kept &kept);
  static int64_t getBytes(const Kept &kept);
  void clone(size_t step, const Chain &chain, IRMapping &made,
             SmallVector<GenericPlan> &clones);
  void prune();

  /// Ways of making a value that are tried before it is stored: to try all
  /// would take exponential time.
  static constexpr int mostVisits = 512;

  std::vector<StepPlan> &steps;
  int64_t flopsPerByte;
  int visits = 0;
  llvm::MapVector<Operation *, Entry> plans;
};
} // namespace

/// Bytes of one row of a value.
static int64_t getRowBytes(Value value) {
  LogicalType type = LogicalType::of(value);
  int64_t bytes = (type.elementType.getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t size : type.getRowShape())
    bytes *= size;
  return bytes;
}

int64_t Recompute::getBytes(const Kept &kept) {
  int64_t bytes = 0;
  for (Value value : kept)
    bytes += getRowBytes(value);
  return bytes;
}

/// Operations of a generic for one row of the kernel: those of its region, at
/// each of the points that are not rows.
static int64_t getRowOperations(const GenericPlan &plan) {
  GenericOp op = plan.getOp();
  int64_t count = 0;
  for (Operation &inner : op.getBody().front().without_terminator())
    count += !inner.hasTrait<OpTrait::ConstantLike>();
  SmallVector<ExtentAttr> dims = op.getDims();
  for (auto [dim, extent] : llvm::enumerate(dims))
    if (!plan.getRowPosition(dim))
      count *= extent.getConstant().value_or(1);
  return count;
}

const Recompute::Entry *Recompute::getRowProducer(const GenericPlan &plan,
                                                  unsigned i) {
  GenericOp op = plan.getOp();
  Value value = op->getOperand(i);
  auto it = plans.find(value.getDefiningOp());
  if (it == plans.end())
    return nullptr;
  const Entry &entry = it->second;
  if (entry.plan.isFold() || entry.plan.space != plan.space ||
      entry.plan.getOp().getPathNames() != op.getPathNames() ||
      entry.plan.getOp()->getNumResults() != 1)
    return nullptr;
  // An init that is not folded into has the rows of the result.
  if (i >= op.getInputs().size())
    return plan.isFold() ? nullptr : &entry;
  return isReadByRow(plan, i) ? &entry : nullptr;
}

bool Recompute::isStoredAnyway(Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto it = plans.find(use.getOwner());
    if (it == plans.end())
      return true;
    const GenericPlan &plan = it->second.plan;
    unsigned i = use.getOperandNumber();
    // A sum starts from what is in memory.
    if (i >= plan.getOp().getInputs().size())
      return plan.isFold();
    return !isReadByRow(plan, i);
  });
}

void Recompute::collect(Operation *op, Chain &chain, Kept &kept) {
  if (chain.contains(op))
    return;
  const Entry entry = plans.find(op)->second;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value operand = op->getOperand(i);
    auto it = plans.find(operand.getDefiningOp());
    if (it == plans.end() || isStoredAnyway(operand) || kept.contains(operand))
      continue;
    const Entry *producer = getRowProducer(entry.plan, i);
    if (producer && visits-- > 0) {
      // Either what makes it, or, where that keeps no less, the value itself.
      Chain longer = chain;
      Kept more = kept;
      collect(producer->plan.op, longer, more);
      if (getBytes(more) < getBytes(kept) + getRowBytes(operand)) {
        chain = std::move(longer);
        kept = std::move(more);
        continue;
      }
    }
    // Folds have fewer rows.
    if (!it->second.plan.isFold() &&
        it->second.plan.space.size() >= entry.plan.space.size())
      kept.insert(operand);
  }
  chain.insert(op);
}

void Recompute::clone(size_t step, const Chain &chain, IRMapping &made,
                      SmallVector<GenericPlan> &clones) {
  for (Operation *op : chain) {
    if (made.contains(op->getResult(0)))
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    GenericPlan plan = plans.find(op)->second.plan;
    Operation *copy = builder.clone(*op, made);
    plan.op = cast<GenericOp>(copy);
    clones.push_back(plan);
    plans[copy] = {step, plan};
  }
}

void Recompute::runOn(size_t step) {
  KernelPlan &kernel = steps[step].kernel;
  SmallVector<GenericPlan> own(kernel.generics);
  llvm::SetVector<Value> candidates;
  for (const GenericPlan &plan : own)
    for (unsigned i = 0; i < plan.getOp()->getNumOperands(); ++i)
      if (const Entry *producer = getRowProducer(plan, i))
        if (producer->step < step)
          candidates.insert(plan.getOp()->getOperand(i));
  IRMapping made;
  SmallVector<GenericPlan> clones;
  for (Value value : candidates) {
    if (made.contains(value) || isStoredAnyway(value))
      continue;
    Operation *producer = value.getDefiningOp();
    Chain chain;
    int64_t bytes = 2 * getRowBytes(value), operations = 0;
    Kept kept;
    visits = mostVisits;
    collect(producer, chain, kept);
    bytes -= 2 * getBytes(kept);
    for (Operation *op : chain)
      if (!made.contains(op->getResult(0)))
        operations += getRowOperations(plans.find(op)->second.plan);
    std::string rows = formatExtents(plans.find(producer)->second.plan.space);
    if (bytes <= 0 || operations > flopsPerByte * bytes) {
      remark::missed(value.getLoc(), remark::RemarkOpts::name("Store").category(
                                         "ragged-recompute"))
          << remark::reason("{0}", bytes > 0 ? "too much work"
                                             : "what it is made of would be "
                                               "stored instead")
          << remark::metric("space", rows)
          << remark::metric("bytes of a row", getRowBytes(value))
          << remark::metric("operations of a row", operations);
      continue;
    }
    remark::passed(
        value.getLoc(),
        remark::RemarkOpts::name("Recompute").category("ragged-recompute"))
        << remark::add("computed again where it is read")
        << remark::metric("space", rows)
        << remark::metric("bytes of a row", bytes / 2)
        << remark::metric("operations of a row", operations);
    clone(step, chain, made, clones);
  }
  for (const GenericPlan &plan : own)
    for (OpOperand &operand : plan.getOp()->getOpOperands())
      if (Value again = made.lookupOrNull(operand.get()))
        operand.set(again);
  kernel.generics.insert(kernel.generics.begin(), clones.begin(), clones.end());
}

void Recompute::prune() {
  for (StepPlan &step : llvm::reverse(steps)) {
    auto &generics = step.kernel.generics;
    for (size_t i = generics.size(); i-- > 0;) {
      GenericOp op = generics[i].op;
      if (!op->use_empty() || generics[i].isFold())
        continue;
      generics.erase(generics.begin() + i);
      op->erase();
    }
  }
  llvm::erase_if(steps, [](const StepPlan &step) {
    return !step.hostOp && step.kernel.generics.empty();
  });
}

void Recompute::run() {
  for (size_t step = 0; step < steps.size(); ++step)
    if (!steps[step].hostOp)
      runOn(step);
  prune();
}

void nested::ragged::recomputeInKernels(std::vector<StepPlan> &steps,
                                        int64_t flopsPerByte) {
  Recompute(steps, flopsPerByte).run();
}
