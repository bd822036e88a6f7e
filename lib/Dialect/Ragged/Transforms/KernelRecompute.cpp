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
// 2. compare its operations per row with what storing the value costs: its
// bytes
//    per row, written once and read once, and the operations of the earlier
//    kernel that nothing but the value needs;
// 3. clone the chain in front of the kernel's own generics.
//
// A kernel whose rows come in another order, as those of a sum over the leading
// axis do, makes the values in that order: the clones' results have it.
//
// What an earlier kernel then computes for nobody is taken out of it. A kernel
// of parts that share nothing, as what makes values in two orders is, is split:
// its tiles would be smaller for no gain.
//
//===----------------------------------------------------------------------===//

#include "KernelRecompute.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"

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
  /// A value, and the storage order, a permutation, that it is made in.
  using Ordered = std::pair<Value, AffineMap>;
  using Chain = llvm::SetVector<Ordered>;
  using Kept = llvm::SetVector<Value>;

  void runOn(size_t step);
  /// The plan of what makes the value, for rows in this order.
  GenericPlan getPlan(const Ordered &value);
  /// The plan's operand `i` in the order in which it is made row by row for the
  /// rows that the plan reads it at; nullopt if it can't be.
  std::optional<Ordered> getRowOperand(const GenericPlan &plan, unsigned i);
  bool isStoredAnyway(Value value);
  /// Adds what makes `value`, and to `kept` the values of as many rows that are
  /// stored for that alone.
  void collect(const Ordered &value, Chain &chain, Kept &kept);
  /// Adds to `ops` what its kernel computes the value from.
  void addClosure(Value value, llvm::DenseSet<Operation *> &ops);
  /// What kernels compute for folds, and for what is stored anyway.
  void findNeeded();
  /// Decides that the value is stored.
  void keep(Value value);
  /// Of a row, but of values that are stored already.
  int64_t getBytes(const Kept &kept);
  /// Of storing values, in operations per row.
  int64_t getStoreCost(const Kept &kept);
  /// Per row, but of what is in `made`.
  int64_t getOperations(const Chain &chain);
  /// What has been made again replaces the operands of `plan`.
  void useMade(const GenericPlan &plan);
  void clone(size_t step, const Chain &chain, SmallVector<GenericPlan> &clones);
  void prune();
  /// What step `number` computes apart from what its first generic is part of,
  /// if both are much work.
  std::optional<StepPlan> split(size_t number);

  /// Ways of making a value that are tried before it is stored: to try all
  /// would take exponential time.
  static constexpr int mostVisits = 512;

  std::vector<StepPlan> &steps;
  int64_t flopsPerByte;
  int visits = 0;
  llvm::MapVector<Operation *, Entry> plans;
  /// What is computed where it stands, whatever is computed again elsewhere.
  llvm::DenseSet<Operation *> needed;
  /// What is stored, by a decision.
  llvm::DenseSet<Value> stored;
  /// Of the step that is looked at: what is computed again in it.
  DenseMap<Ordered, Value> made;
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
    if (!stored.contains(value))
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

static AffineMap getStorageOrder(const LogicalType &type) {
  return AffineMap::getPermutationMap(type.order, type.getContext());
}

static LogicalType withOrder(LogicalType type, AffineMap order) {
  for (auto [position, dim] : llvm::enumerate(order.getResults()))
    type.order[position] = cast<AffineDimExpr>(dim).getPosition();
  return type;
}

GenericPlan Recompute::getPlan(const Ordered &value) {
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
Recompute::getRowOperand(const GenericPlan &plan, unsigned i) {
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
  if (!isInit)
    for (ExtentAttr offset : op.getInputOffsets(i))
      if (offset.getConstant() != 0)
        return std::nullopt;
  std::optional<AffineMap> order = getRowOrder(plan, type, map);
  if (!order)
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

int64_t Recompute::getOperations(const Chain &chain) {
  int64_t operations = 0;
  for (const Ordered &value : chain)
    if (!made.contains(value))
      operations += getRowOperations(getPlan(value));
  return operations;
}

bool Recompute::isStoredAnyway(Value value) {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    auto it = plans.find(use.getOwner());
    return it == plans.end() ||
           !getRowOperand(it->second.plan, use.getOperandNumber());
  });
}

void Recompute::addClosure(Value value, llvm::DenseSet<Operation *> &ops) {
  size_t step = plans.find(value.getDefiningOp())->second.step;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    auto it = plans.find(op);
    if (it != plans.end() && it->second.step == step && ops.insert(op).second)
      llvm::append_range(work, op->getOperands());
  }
}

void Recompute::findNeeded() {
  needed.clear();
  for (auto &[op, entry] : plans)
    for (Value result : op->getResults())
      if (entry.plan.isFold() || isStoredAnyway(result))
        addClosure(result, needed);
}

void Recompute::keep(Value value) {
  stored.insert(value);
  addClosure(value, needed);
}

int64_t Recompute::getStoreCost(const Kept &kept) {
  llvm::DenseSet<Operation *> ops;
  for (Value value : kept)
    if (!stored.contains(value))
      addClosure(value, ops);
  int64_t cost = 2 * flopsPerByte * getBytes(kept);
  for (Operation *op : ops)
    if (!needed.contains(op))
      cost += getRowOperations(plans.find(op)->second.plan);
  return cost;
}

void Recompute::collect(const Ordered &value, Chain &chain, Kept &kept) {
  if (chain.contains(value))
    return;
  const GenericPlan plan = getPlan(value);
  GenericOp op = plan.getOp();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value operand = op->getOperand(i);
    auto it = plans.find(operand.getDefiningOp());
    if (it == plans.end() || isStoredAnyway(operand) || kept.contains(operand))
      continue;
    std::optional<Ordered> made = getRowOperand(plan, i);
    if (made && visits-- > 0) {
      // Either what makes it, or, where that keeps no less or is too much work
      // for what it saves, the value itself.
      Chain longer = chain;
      Kept more = kept;
      collect(*made, longer, more);
      Kept with = kept;
      with.insert(operand);
      if (getBytes(more) < getBytes(with) &&
          getOperations(longer) + getStoreCost(more) <=
              getOperations(chain) + getStoreCost(with)) {
        chain = std::move(longer);
        kept = std::move(more);
        continue;
      }
    }
    // Folds have fewer rows.
    if (!it->second.plan.isFold() &&
        it->second.plan.space.size() >= plan.space.size())
      kept.insert(operand);
  }
  chain.insert(value);
}

void Recompute::useMade(const GenericPlan &plan) {
  for (OpOperand &operand : plan.getOp()->getOpOperands())
    if (auto ordered = getRowOperand(plan, operand.getOperandNumber()))
      if (Value again = made.lookup(*ordered))
        operand.set(again);
}

void Recompute::clone(size_t step, const Chain &chain,
                      SmallVector<GenericPlan> &clones) {
  for (const Ordered &value : chain) {
    if (made.contains(value))
      continue;
    Operation *op = value.first.getDefiningOp();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    GenericPlan plan = getPlan(value);
    auto copy = cast<GenericOp>(builder.clone(*op));
    plan.op = copy;
    useMade(plan);
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
    made[value] = copy->getResult(0);
    clones.push_back(plan);
    plans[copy] = {step, plan};
  }
}

void Recompute::runOn(size_t step) {
  KernelPlan &kernel = steps[step].kernel;
  SmallVector<GenericPlan> own(kernel.generics);
  Chain candidates;
  for (const GenericPlan &plan : own)
    for (unsigned i = 0; i < plan.getOp()->getNumOperands(); ++i)
      if (std::optional<Ordered> operand = getRowOperand(plan, i))
        if (plans.find(operand->first.getDefiningOp())->second.step < step)
          candidates.insert(*operand);
  // What large values need may be there for small ones.
  auto largestFirst = llvm::to_vector(llvm::seq<size_t>(0, candidates.size()));
  llvm::sort(largestFirst, [&](size_t x, size_t y) {
    auto key = [&](size_t i) {
      return std::make_pair(-getRowBytes(candidates[i].first), i);
    };
    return key(x) < key(y);
  });
  made.clear();
  SmallVector<GenericPlan> clones;
  for (size_t i : largestFirst) {
    const Ordered &candidate = candidates[i];
    Value value = candidate.first;
    if (made.contains(candidate) || isStoredAnyway(value))
      continue;
    Chain chain;
    Kept kept, itself;
    itself.insert(value);
    visits = mostVisits;
    collect(candidate, chain, kept);
    int64_t bytes = getRowBytes(value) - getBytes(kept);
    int64_t operations = getOperations(chain);
    int64_t cost = operations + getStoreCost(kept);
    std::string rows = formatExtents(getPlan(candidate).space);
    if (bytes <= 0 || cost > getStoreCost(itself)) {
      keep(value);
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
        << remark::metric("bytes of a row", bytes)
        << remark::metric("operations of a row", operations);
    llvm::for_each(kept, [&](Value each) { keep(each); });
    clone(step, chain, clones);
  }
  for (const GenericPlan &plan : own)
    useMade(plan);
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
      for (Value result : op->getResults())
        stored.erase(result);
      plans.erase(op);
      op->erase();
    }
  }
  llvm::erase_if(steps, [](const StepPlan &step) {
    return !step.hostOp && step.kernel.generics.empty();
  });
  for (auto [number, step] : llvm::enumerate(steps))
    for (const GenericPlan &plan : step.kernel.generics)
      plans.find(plan.op)->second.step = number;
}

std::optional<StepPlan> Recompute::split(size_t number) {
  KernelPlan &kernel = steps[number].kernel;
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

void Recompute::run() {
  // What is stored for a later kernel may be what an earlier one needs instead
  // of a value of its own: only the second time is that known.
  for (int turn = 0; turn < 2; ++turn) {
    findNeeded();
    for (size_t step = 0; step < steps.size(); ++step)
      if (!steps[step].hostOp)
        runOn(step);
    prune();
  }
  for (size_t step = 0; step < steps.size(); ++step)
    if (!steps[step].hostOp)
      if (std::optional<StepPlan> rest = split(step))
        steps.insert(steps.begin() + step + 1, std::move(*rest));
}

void nested::ragged::recomputeInKernels(std::vector<StepPlan> &steps,
                                        int64_t flopsPerByte) {
  Recompute(steps, flopsPerByte).run();
}
