//===- KernelRecompute.cpp - What kernels compute again -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that reads a value row by row from an earlier one may compute it
// again, from what that is computed from. For each kernel, in order:
//
// 1. collect the generics that make such values. They end at values of fewer
//    rows, at arguments and weights, and at what is stored anyway (results, and
//    values that something reads in another way);
// 2. cut their graph where it is cheapest. On one side are values that the
//    kernel computes, each for the operations of one row; what it reads across
//    the cut is stored, for the bytes of one row, written once and read once,
//    times the price of a byte, and for the operations of the earlier kernel
//    that nothing else there needs;
// 3. clone what it computes in front of the kernel's own generics.
//
// What is stored for a later kernel may be what an earlier one needs instead of
// a value of its own: only when all have decided is that known, so they decide
// twice.
//
// A kernel whose rows come in another order, as those of a sum over the leading
// axis do, makes the values in that order: the clones' results have it.
//
// What an earlier kernel then computes for nobody is taken out of it. A kernel
// of parts that share nothing, as what makes values in two orders is, is split:
// its tiles would be smaller for no gain.
//
// Without a budget the price is that of the option. With one it starts where
// moving a byte takes as long as the operations, and doubles until the values
// that live at the same time fit. Then, of the values that the last doubling
// gave up, those that save most work for their bytes are stored after all, as
// long as they fit.
//
//===----------------------------------------------------------------------===//

#include "KernelRecompute.h"

#include "MinCut.h"

#include "mlir/IR/Remarks.h"
#include "nested/Dialect/Ragged/IR/LogicalType.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
class Recompute {
public:
  Recompute(func::FuncOp func, std::vector<StepPlan> &steps, bool movesOnly);
  LogicalResult run(int64_t flopsPerByte,
                    const std::optional<MemoryBudget> &budget);

private:
  struct Entry {
    size_t step;
    GenericPlan plan;
  };
  /// A value, and the storage order, a permutation, that it is made in.
  using Ordered = std::pair<Value, AffineMap>;
  /// What one kernel computes again, in order, and what it reads instead.
  struct Cut {
    llvm::SetVector<Ordered> again;
    llvm::SetVector<Value> stored;

    bool makes(Operation *op) const {
      return llvm::any_of(again, [&](const Ordered &value) {
        return value.first.getDefiningOp() == op;
      });
    }
  };
  /// For every step.
  using Decision = std::vector<Cut>;
  /// Values that are there at the same time, and their bytes.
  struct Peak {
    int64_t bytes = 0;
    SmallVector<std::pair<int64_t, Value>> values;
  };

  /// Of the generic that makes `value`; null if none does.
  const Entry *lookup(Value value) const;
  /// The plan of what makes the value, for rows in this order.
  GenericPlan getPlan(const Ordered &value) const;
  /// The plan's operand `i` in the order in which it is made row by row for the
  /// rows that the plan reads it at; nullopt if it can't be.
  std::optional<Ordered> getRowOperand(const GenericPlan &plan,
                                       unsigned i) const;
  /// Whether something reads the generic's result that can't make it.
  bool isReadElsewhere(Value value) const;
  /// Whether the plan's operand `i` must be stored if the plan is computed
  /// again, at a cost.
  bool isStoredForIt(const GenericPlan &plan, unsigned i) const;

  /// What making a value again costs.
  int64_t getWork(const GenericPlan &plan) const;
  /// Adds to `ops` what its kernel computes the value from, and itself; gives
  /// those that were not there.
  SmallVector<Operation *> addClosure(Value value,
                                      llvm::DenseSet<Operation *> &ops) const;
  Decision decide(int64_t price, const llvm::SetVector<Value> &pinned) const;
  void cut(size_t step, int64_t price, const llvm::SetVector<Value> &known,
           Cut &result) const;
  FailureOr<Peak> getPeak(const Decision &decision, const MemoryBudget &budget);
  FailureOr<Decision> decideWithin(const MemoryBudget &budget);

  void report(const Decision &decision,
              const std::optional<MemoryBudget> &budget) const;
  /// What has been made again replaces the operands of `plan`.
  void useMade(const GenericPlan &plan,
               const DenseMap<Ordered, Value> &made) const;
  void apply(const Decision &decision);
  void prune();

  /// Operations in the time that it takes to move a byte.
  static constexpr int64_t leastPrice = 16;
  /// Values that are tried to be stored after all.
  static constexpr int mostTries = 64;

  func::FuncOp func;
  std::vector<StepPlan> &steps;
  bool movesOnly;
  llvm::MapVector<Operation *, Entry> plans;
  /// Of every op that is part of a step: generics, finalizers, others.
  DenseMap<Operation *, size_t> stepOf;
  /// What kernels compute for folds, and for what is stored anyway.
  llvm::DenseSet<Operation *> needed;
  /// Results of generics that are stored, whatever is computed again.
  llvm::DenseSet<Value> storedAnyway;
  DenseMap<Value, int64_t> sizes;
};
} // namespace

Recompute::Recompute(func::FuncOp func, std::vector<StepPlan> &steps,
                     bool movesOnly)
    : func(func), steps(steps), movesOnly(movesOnly) {
  for (auto [number, step] : llvm::enumerate(steps)) {
    if (step.hostOp)
      stepOf[step.hostOp] = number;
    for (const GenericPlan &plan : step.kernel.generics) {
      plans[plan.op] = {number, plan};
      stepOf[plan.op] = number;
    }
    for (const auto &[fold, chain] : step.kernel.finalizers)
      for (GenericOp op : chain)
        stepOf[op] = number;
  }
  for (auto &[op, entry] : plans)
    for (Value result : op->getResults()) {
      if (isReadElsewhere(result))
        storedAnyway.insert(result);
      if (entry.plan.isFold() || storedAnyway.contains(result))
        addClosure(result, needed);
    }
}

//===----------------------------------------------------------------------===//
// What can be computed again
//===----------------------------------------------------------------------===//

const Recompute::Entry *Recompute::lookup(Value value) const {
  auto it = plans.find(value.getDefiningOp());
  return it == plans.end() ? nullptr : &it->second;
}

/// Not `getPermutationMap`, which reads behind an empty list.
static AffineMap getStorageOrder(const LogicalType &type) {
  SmallVector<unsigned> order(type.order.begin(), type.order.end());
  return AffineMap::getMultiDimMapWithTargets(order.size(), order,
                                              type.getContext());
}

static LogicalType withOrder(LogicalType type, AffineMap order) {
  for (auto [position, dim] : llvm::enumerate(order.getResults()))
    type.order[position] = cast<AffineDimExpr>(dim).getPosition();
  return type;
}

GenericPlan Recompute::getPlan(const Ordered &value) const {
  GenericPlan plan = plans.find(value.first.getDefiningOp())->second.plan;
  GenericOp op = plan.getOp();
  LogicalType type = withOrder(LogicalType::of(value.first), value.second);
  SmallVector<ExtentAttr> dims = op.getDims();
  for (auto [k, dim] : llvm::enumerate(plan.rowDims)) {
    dim = cast<AffineDimExpr>(op.getOutputMap(0).getResult(type.order[k]))
              .getPosition();
    plan.space[k] = dims[dim];
  }
  return plan;
}

/// The order in which a value of type `type`, which the plan reads through
/// `map`, has the plan's rows; nullopt if other dims are in front of it, too.
static std::optional<AffineMap>
getRowOrder(const GenericPlan &plan, const LogicalType &type, AffineMap map) {
  if (plan.rowDims.size() > type.order.size())
    return std::nullopt;
  auto leading = ArrayRef(type.order).take_front(plan.rowDims.size());
  LogicalType ordered = type;
  for (auto [k, row] : llvm::enumerate(plan.rowDims)) {
    const auto *dim = llvm::find_if(leading, [&, row = row](int64_t each) {
      return map.getResult(each) == getAffineDimExpr(row, type.getContext());
    });
    if (dim == leading.end())
      return std::nullopt;
    ordered.order[k] = *dim;
  }
  return getStorageOrder(ordered);
}

std::optional<Recompute::Ordered>
Recompute::getRowOperand(const GenericPlan &plan, unsigned i) const {
  GenericOp op = plan.getOp();
  Value value = op->getOperand(i);
  auto it = plans.find(value.getDefiningOp());
  if (it == plans.end())
    return std::nullopt;
  const GenericPlan &producer = it->second.plan;
  if (producer.isFold() || producer.rowDims.size() != plan.rowDims.size() ||
      producer.getOp().getPathNames() != op.getPathNames() ||
      producer.getOp()->getNumResults() != 1)
    return std::nullopt;
  LogicalType type = LogicalType::of(value);
  // An init that is not folded into has the rows of the result.
  bool isInit = i >= op.getInputs().size();
  if (isInit && plan.isFold())
    return std::nullopt;
  AffineMap map = isInit ? op.getOutputMap(0) : op.getInputMap(i);
  std::optional<AffineMap> order = getRowOrder(plan, type, map);
  if (!order)
    return std::nullopt;
  // Parts of rows are read where they are.
  SmallVector<ExtentAttr> offsets;
  if (!isInit)
    offsets = op.getInputOffsets(i);
  if (getRowRank(type, map, offsets, plan) != plan.rowDims.size())
    return std::nullopt;
  if (!offsets.empty())
    for (int64_t dim : ArrayRef(type.order).take_front(plan.rowDims.size()))
      if (offsets[dim].getConstant() != 0)
        return std::nullopt;
  // In another order, what it starts from has to be made in it, too.
  bool startsFromFill = isa_and_present<FillOp, EmptyOp>(
      producer.getOp().getInits()[0].getDefiningOp());
  if (*order != getStorageOrder(type) && (type.isDense() || !startsFromFill))
    return std::nullopt;
  Ordered ordered(value, *order);
  if (getPlan(ordered).space != plan.space)
    return std::nullopt;
  return ordered;
}

bool Recompute::isReadElsewhere(Value value) const {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto it = plans.find(use.getOwner());
    return it == plans.end() ||
           !getRowOperand(it->second.plan, use.getOperandNumber());
  });
}

bool Recompute::isStoredForIt(const GenericPlan &plan, unsigned i) const {
  Value value = plan.getOp()->getOperand(i);
  const Entry *entry = lookup(value);
  // Folds have fewer rows.
  return entry && !storedAnyway.contains(value) && !entry->plan.isFold() &&
         entry->plan.space.size() >= plan.space.size();
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

int64_t Recompute::getWork(const GenericPlan &plan) const {
  int64_t operations = getRowOperations(plan);
  return movesOnly && operations > 0 ? MinCut::unlimited / 2 : operations;
}

SmallVector<Operation *>
Recompute::addClosure(Value value, llvm::DenseSet<Operation *> &ops) const {
  size_t step = lookup(value)->step;
  SmallVector<Operation *> added;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    const Entry *entry = lookup(next);
    Operation *op = next.getDefiningOp();
    if (entry && entry->step == step && ops.insert(op).second) {
      added.push_back(op);
      llvm::append_range(work, op->getOperands());
    }
  }
  return added;
}

/// `known`: values that are stored whatever this kernel does.
void Recompute::cut(size_t step, int64_t price,
                    const llvm::SetVector<Value> &known, Cut &result) const {
  llvm::DenseSet<Operation *> computed = needed;
  for (Value value : known)
    addClosure(value, computed);
  auto getStoreCost = [&](Value value) {
    bool isKnown = known.contains(value);
    int64_t cost;
    if (llvm::MulOverflow((isKnown ? 1 : 2) * getRowBytes(value), price, cost))
      return MinCut::unlimited / 2;
    // What its kernel would compute for it alone.
    for (Operation *op : addClosure(value, computed)) {
      cost += getRowOperations(plans.find(op)->second.plan);
      computed.erase(op);
    }
    return std::min(cost, MinCut::unlimited / 2);
  };

  // Two nodes for a value, `made` and `there`. On the sink's side of the cut,
  // the kernel makes it, and it must be there. Between the two, it is read.
  MinCut graph;
  struct Nodes {
    unsigned made, there;
  };
  llvm::MapVector<Ordered, Nodes> nodes;
  SmallVector<Ordered> work;
  /// Of a value that the kernel can make, if `isMade`.
  auto getNodes = [&](const Ordered &value, bool isMade) {
    auto it = nodes.find(value);
    if (it != nodes.end())
      return it->second;
    Nodes made = {graph.addNode(), graph.addNode()};
    nodes[value] = made;
    graph.addEdge(made.made, made.there, getStoreCost(value.first));
    if (isMade)
      work.push_back(value);
    else
      graph.addEdge(MinCut::source, made.made, MinCut::unlimited);
    return made;
  };
  /// The operand as a node: made in the order of the plan's rows, or stored.
  auto getOperand = [&](const GenericPlan &plan,
                        unsigned i) -> std::optional<std::pair<Ordered, bool>> {
    Value operand = plan.getOp()->getOperand(i);
    if (std::optional<Ordered> made = getRowOperand(plan, i);
        made && !storedAnyway.contains(operand))
      return std::make_pair(*made, true);
    if (isStoredForIt(plan, i))
      return std::make_pair(Ordered(operand, AffineMap()), false);
    return std::nullopt;
  };

  llvm::SetVector<Ordered> wanted;
  for (const GenericPlan &plan : steps[step].kernel.generics)
    for (unsigned i = 0; i < plan.getOp()->getNumOperands(); ++i) {
      std::optional<Ordered> value = getRowOperand(plan, i);
      if (value && lookup(value->first)->step < step &&
          !storedAnyway.contains(value->first) && wanted.insert(*value))
        graph.addEdge(getNodes(*value, true).there, MinCut::sink,
                      MinCut::unlimited);
    }
  if (wanted.empty())
    return;
  while (!work.empty()) {
    Ordered value = work.pop_back_val();
    unsigned made = nodes[value].made;
    GenericPlan plan = getPlan(value);
    graph.addEdge(MinCut::source, made, getWork(plan));
    for (unsigned i = 0; i < plan.getOp()->getNumOperands(); ++i)
      if (auto operand = getOperand(plan, i))
        graph.addEdge(getNodes(operand->first, operand->second).there, made,
                      MinCut::unlimited);
  }
  graph.run();

  // What the wanted values need, operands first.
  auto visit = [&](auto &&self, const Ordered &value) -> void {
    if (!graph.isOnSinkSide(nodes.find(value)->second.made)) {
      result.stored.insert(value.first);
      return;
    }
    if (result.again.contains(value))
      return;
    GenericPlan plan = getPlan(value);
    for (unsigned i = 0; i < plan.getOp()->getNumOperands(); ++i)
      if (auto operand = getOperand(plan, i))
        self(self, operand->first);
    result.again.insert(value);
  };
  for (const Ordered &value : wanted)
    visit(visit, value);
}

Recompute::Decision
Recompute::decide(int64_t price, const llvm::SetVector<Value> &pinned) const {
  Decision decision(steps.size());
  for (int turn = 0; turn < 2; ++turn)
    for (size_t step = 0; step < steps.size(); ++step) {
      if (steps[step].hostOp)
        continue;
      // What is stored for others.
      llvm::SetVector<Value> known = pinned;
      for (size_t other = 0; other < steps.size(); ++other)
        if (other != step)
          known.insert_range(decision[other].stored);
      decision[step] = Cut();
      cut(step, price, known, decision[step]);
    }
  return decision;
}

//===----------------------------------------------------------------------===//
// Budgets
//===----------------------------------------------------------------------===//

/// The bytes between steps, where there are most of them.
FailureOr<Recompute::Peak> Recompute::getPeak(const Decision &decision,
                                              const MemoryBudget &budget) {
  // From the step that makes a value to the last one that reads it.
  llvm::MapVector<Value, size_t> lastRead;
  llvm::DenseSet<std::pair<Operation *, size_t>> done;
  SmallVector<std::pair<Operation *, size_t>> work;
  auto read = [&](Value value, size_t step) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return;
    auto it = stepOf.find(op);
    // Loads are repeated, and so is what is computed again.
    if (it == stepOf.end() || decision[step].makes(op)) {
      if (done.insert({op, step}).second)
        work.push_back({op, step});
      return;
    }
    if (it->second != step) {
      if (isa<BarrierOp, ReshapeOp, UnnestOp, RenestOp>(op)) {
        // Another name of its source.
        if (done.insert({op, step}).second)
          work.push_back({op, step});
        return;
      }
      if (LogicalType::get(value)) {
        size_t &last = lastRead[value];
        last = std::max(last, step);
      }
    }
    if (done.insert({op, it->second}).second)
      work.push_back({op, it->second});
  };
  llvm::DenseSet<Value> results;
  for (Value value : func.getBody().front().getTerminator()->getOperands()) {
    results.insert(value);
    read(value, steps.size() - 1);
  }
  for (auto [number, step] : llvm::enumerate(steps))
    if (step.hostOp && !isOpTriviallyDead(step.hostOp))
      work.push_back({step.hostOp, number});
  while (!work.empty()) {
    auto [op, step] = work.pop_back_val();
    for (Value operand : op->getOperands())
      read(operand, step);
  }

  std::vector<Peak> peaks(steps.size());
  for (auto [value, last] : lastRead) {
    if (results.contains(value))
      continue;
    auto [it, isNew] = sizes.try_emplace(value, 0);
    if (isNew) {
      std::optional<int64_t> size = budget.getSize(value);
      if (!size)
        return emitError(value.getLoc())
               << "the lengths of '" << kMemoryBudgetAttr
               << "' don't say how large this is: " << value.getType();
      it->second = *size;
    }
    for (size_t step = stepOf.lookup(value.getDefiningOp()); step <= last;
         ++step) {
      peaks[step].values.push_back({it->second, value});
      if (llvm::AddOverflow(peaks[step].bytes, it->second, peaks[step].bytes))
        peaks[step].bytes = std::numeric_limits<int64_t>::max();
    }
  }
  Peak most;
  for (Peak &peak : peaks)
    if (peak.bytes > most.bytes)
      most = std::move(peak);
  return most;
}

FailureOr<Recompute::Decision>
Recompute::decideWithin(const MemoryBudget &budget) {
  llvm::SetVector<Value> pinned;
  std::optional<Decision> before;
  Decision decision;
  Peak peak;
  for (int64_t price = leastPrice;; price *= 2) {
    decision = decide(price, pinned);
    FailureOr<Peak> found = getPeak(decision, budget);
    if (failed(found))
      return failure();
    peak = *found;
    if (peak.bytes > budget.getBytes() && price < kMostFlopsPerByte) {
      before = std::move(decision);
      continue;
    }
    if (peak.bytes > budget.getBytes())
      break;
    if (!before)
      return decision;
    // Some of what was given up may fit.
    llvm::SetVector<Value> stored, given;
    for (const Cut &cut : decision)
      stored.insert_range(cut.stored);
    for (const Cut &cut : *before)
      for (Value value : cut.stored)
        if (!stored.contains(value))
          given.insert(value);
    SmallVector<std::pair<double, unsigned>> order;
    for (auto [number, value] : llvm::enumerate(given))
      order.push_back(
          {-double(getRowOperations(lookup(value)->plan)) / getRowBytes(value),
           number});
    llvm::sort(order);
    for (auto [worth, number] : ArrayRef(order).take_front(mostTries)) {
      Value value = given[number];
      pinned.insert(value);
      Decision more = decide(price, pinned);
      FailureOr<Peak> with = getPeak(more, budget);
      if (failed(with))
        return failure();
      if (with->bytes <= budget.getBytes())
        decision = std::move(more);
      else
        pinned.remove(value);
    }
    return decision;
  }
  InFlightDiagnostic diagnostic =
      func.emitError("expected temporaries of at most ")
      << budget.getBytes() << " bytes, as '" << kMemoryBudgetAttr
      << "' says, but got " << peak.bytes
      << " bytes of values that can't be computed again in the kernels that "
         "read them";
  for (int i = 0; i < 3 && !peak.values.empty(); ++i) {
    auto *largest = std::max_element(
        peak.values.begin(), peak.values.end(),
        [](const auto &a, const auto &b) { return a.first < b.first; });
    diagnostic.attachNote(largest->second.getLoc())
        << largest->first << " bytes are here: " << largest->second.getType();
    peak.values.erase(largest);
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Changing the plan
//===----------------------------------------------------------------------===//

void Recompute::report(const Decision &decision,
                       const std::optional<MemoryBudget> &budget) const {
  llvm::DenseSet<Value> reported;
  auto describe = [&](auto &&remark, Value value, StringRef text) {
    const GenericPlan &plan = lookup(value)->plan;
    int64_t bytes = getRowBytes(value);
    remark << remark::add("{0}", text)
           << remark::metric("space", formatExtents(plan.space))
           << remark::metric("bytes of a row", bytes)
           << remark::metric("operations of a row", getRowOperations(plan));
    if (ExtentAttr formula =
            extent::mul(LogicalType::of(value).getRowExtent(), bytes))
      remark << remark::metric("bytes of a sample", formula.str());
    if (budget)
      if (std::optional<int64_t> size = budget->getSize(value))
        remark << remark::metric("bytes at the given lengths", *size);
  };
  for (const Cut &cut : decision) {
    for (const Ordered &value : cut.again)
      describe(remark::passed(value.first.getLoc(),
                              remark::RemarkOpts::name("Recompute")
                                  .category("ragged-recompute")),
               value.first, "computed again where it is read");
    for (Value value : cut.stored)
      if (reported.insert(value).second)
        describe(remark::missed(value.getLoc(),
                                remark::RemarkOpts::name("Store").category(
                                    "ragged-recompute")),
                 value, "stored: to make it again would cost more");
  }
}

void Recompute::useMade(const GenericPlan &plan,
                        const DenseMap<Ordered, Value> &made) const {
  for (OpOperand &operand : plan.getOp()->getOpOperands())
    if (auto ordered = getRowOperand(plan, operand.getOperandNumber()))
      if (Value again = made.lookup(*ordered))
        operand.set(again);
}

void Recompute::apply(const Decision &decision) {
  // All clones first: what is cloned reads what the program said.
  std::vector<DenseMap<Ordered, Value>> made(steps.size());
  std::vector<SmallVector<GenericPlan>> clones(steps.size());
  for (auto [step, cut] : llvm::enumerate(decision))
    for (const Ordered &value : cut.again) {
      Operation *op = value.first.getDefiningOp();
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      GenericPlan plan = getPlan(value);
      auto copy = cast<GenericOp>(builder.clone(*op));
      plan.op = copy;
      useMade(plan, made[step]);
      LogicalType type = LogicalType::of(value.first);
      if (value.second != getStorageOrder(type)) {
        Type ordered = withOrder(type, value.second).toType();
        OpOperand &init = copy.getInitsMutable()[0];
        builder.setInsertionPoint(copy);
        Operation *start = builder.clone(*init.get().getDefiningOp());
        start->getResult(0).setType(ordered);
        init.set(start->getResult(0));
        copy->getResult(0).setType(ordered);
      }
      made[step][value] = copy->getResult(0);
      clones[step].push_back(plan);
    }
  for (auto [number, step] : llvm::enumerate(steps)) {
    auto &generics = step.kernel.generics;
    for (const GenericPlan &plan : generics)
      useMade(plan, made[number]);
    generics.insert(generics.begin(), clones[number].begin(),
                    clones[number].end());
  }
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

LogicalResult Recompute::run(int64_t flopsPerByte,
                             const std::optional<MemoryBudget> &budget) {
  Decision decision;
  if (budget) {
    FailureOr<Decision> found = decideWithin(*budget);
    if (failed(found))
      return failure();
    decision = std::move(*found);
  } else {
    decision = decide(flopsPerByte, {});
  }
  report(decision, budget);
  apply(decision);
  prune();
  if (!movesOnly)
    splitKernels(steps);
  return success();
}

LogicalResult
nested::ragged::recomputeInKernels(func::FuncOp func,
                                   std::vector<StepPlan> &steps,
                                   std::optional<int64_t> flopsPerByte,
                                   const std::optional<MemoryBudget> &budget) {
  bool movesOnly = !flopsPerByte && !budget;
  return Recompute(func, steps, movesOnly)
      .run(flopsPerByte.value_or(1), budget);
}
