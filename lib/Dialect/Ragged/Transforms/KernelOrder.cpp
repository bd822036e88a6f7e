//===- KernelOrder.cpp - In which order generics are put into kernels -----===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generic can only join a kernel that runs after all it reads. In the order
// of the program a kernel over pairs may begin before a value per sample that
// its rest needs, and so be two kernels with a pair-sized value between them.
// Therefore, of what can be done next:
//
// 1. what has the iteration space of the last one, first what its kernel can
// be:
//    sums over other groups of rows are another kernel's;
// 2. else what has the smallest space: fewest ragged dims, shortest path;
// 3. else what comes first in the program.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "nested/Dialect/Ragged/IR/SymbolBindings.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
struct Node {
  Operation *op;
  /// Of generics; not for other ops.
  std::optional<GenericPlan> plan;
  SmallVector<unsigned> users;
  unsigned missing = 0;

  bool hasSpaceOf(const Node &other) const {
    return plan && other.plan && plan->space == other.plan->space &&
           plan->getOp().getPath() == other.plan->getOp().getPath();
  }
  bool isFold() const { return plan && plan->isFold(); }
  /// Of folds of one space: whether one kernel can do both.
  bool foldsLike(const Node &other) const {
    return plan->groups == other.plan->groups &&
           plan->getOp().getBatchReduced() ==
               other.plan->getOp().getBatchReduced();
  }
  std::pair<unsigned, unsigned> getSize() const {
    if (!plan)
      return {0, 0};
    unsigned ragged = llvm::count_if(
        plan->space, [](ExtentAttr extent) { return !extent.isStatic(); });
    return {ragged, plan->getOp().getPath().size()};
  }
};
} // namespace

FailureOr<SmallVector<Operation *>>
nested::ragged::orderForFusion(func::FuncOp func) {
  std::vector<Node> nodes;
  DenseMap<Operation *, unsigned> numbers;
  for (Operation &op : func.getBody().front().without_terminator()) {
    if (isVirtual(&op) || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    Node node{&op, std::nullopt, {}, 0};
    if (auto generic = dyn_cast<GenericOp>(op)) {
      FailureOr<GenericPlan> plan = planGeneric(generic);
      if (failed(plan))
        return failure();
      node.plan = *plan;
    }
    numbers[&op] = nodes.size();
    nodes.push_back(std::move(node));
  }
  // Dependences, through loads that are repeated. Ops that write something keep
  // their order; what follows the binding of a symbol may have its extent.
  std::optional<unsigned> lastEffect, lastBinding;
  for (auto [number, node] : llvm::enumerate(nodes)) {
    llvm::SmallDenseSet<unsigned> read;
    SmallVector<Operation *> work = {node.op};
    while (!work.empty())
      for (Value operand : work.pop_back_val()->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer)
          continue;
        if (auto it = numbers.find(producer); it != numbers.end())
          read.insert(it->second);
        else
          work.push_back(producer);
      }
    if (!isMemoryEffectFree(node.op)) {
      if (lastEffect)
        read.insert(*lastEffect);
      lastEffect = number;
    }
    if (lastBinding)
      read.insert(*lastBinding);
    if (!getSymbolsBoundBy(node.op).empty())
      lastBinding = number;
    node.missing = read.size();
    for (unsigned producer : read)
      nodes[producer].users.push_back(number);
  }

  SmallVector<Operation *> order;
  SmallVector<unsigned> ready;
  for (auto [number, node] : llvm::enumerate(nodes))
    if (node.missing == 0)
      ready.push_back(number);
  // Of the kernel that is being filled: the last op and the last fold.
  const Node *last = nullptr, *lastFold = nullptr;
  while (!ready.empty()) {
    auto key = [&](unsigned number) {
      const Node &node = nodes[number];
      bool sameSpace = last && node.hasSpaceOf(*last);
      bool otherFold =
          sameSpace && lastFold && node.isFold() && !node.foldsLike(*lastFold);
      return std::make_tuple(!sameSpace, otherFold, node.getSize(), number);
    };
    auto *next = std::min_element(
        ready.begin(), ready.end(),
        [&](unsigned x, unsigned y) { return key(x) < key(y); });
    const Node &chosen = nodes[*next];
    if (!last || !chosen.hasSpaceOf(*last))
      lastFold = nullptr;
    if (chosen.isFold())
      lastFold = &chosen;
    last = &chosen;
    ready.erase(next);
    order.push_back(last->op);
    for (unsigned user : last->users)
      if (--nodes[user].missing == 0)
        ready.push_back(user);
  }
  return order;
}
