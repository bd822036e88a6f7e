//===- RowRunChain.cpp - Kernels of one function --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax over rows is three kernels: the largest element, the sum, the
// quotient. As three launches each of them fetches the whole batch from memory;
// as one function they go along the rows of a unit one after the other, which
// stay in a cache meanwhile. What a kernel folds is then in registers for the
// next ones.
//
// A kernel joins those before it if
//
// 1. it is the next step, has the same rows, and folds them by the same units
//    or not at all;
// 2. it reads something that they made, and all of that is of its own unit, or
//    of its own rows: the same columns of it.
//
// Then an element that costs much and that two of them compute from the same
// elements, one to fold it and one for a result of its type, is computed once:
// the first one stores it in the memory of the result, where the other one
// finds it.
//
//===----------------------------------------------------------------------===//

#include "RowRunEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
class ChainBuilder {
public:
  ChainBuilder(KernelOp first, const RunPlan &plan, ScheduleBuilder &schedule,
               int64_t vectorBits)
      : first(first), firstPlan(plan), schedule(schedule),
        vectorBits(vectorBits) {}
  SmallVector<PlannedRuns> run();

private:
  bool isOwn(KernelOp kernel, TileReadOp read, RunPlan::Access access);
  std::optional<RunPlan> join(KernelOp kernel);
  bool keep(PlannedRuns &maker, PlannedRuns &user);
  void keepOne();

  KernelOp first;
  const RunPlan &firstPlan;
  ScheduleBuilder &schedule;
  int64_t vectorBits;
  SmallVector<PlannedRuns> chain;
};
} // namespace

static bool hasFolds(KernelOp kernel) {
  return !kernel.getBody().front().getOps<TileReduceOp>().empty();
}

/// Whether what is read of a kernel before is what its unit has folded, or its
/// row.
bool ChainBuilder::isOwn(KernelOp kernel, TileReadOp read,
                         RunPlan::Access access) {
  if (access == RunPlan::Access::Index || read.getOffsets() ||
      read.getInnerOffsets() || RowReads::mayBeOutside(read))
    return false;
  auto result = cast<OpResult>(getInput(kernel, read.getSource()));
  auto before = cast<KernelOp>(result.getOwner());
  Value made = before.getBody().front().getTerminator()->getOperand(
      result.getResultNumber());
  if (!made.getDefiningOp<TileReduceOp>())
    return access == RunPlan::Access::Contiguous &&
           RowReads::areOwn(kernel, read);
  AffineMap map = read.getMap();
  return map.getNumResults() == first.getGroups() &&
         llvm::all_of(llvm::enumerate(map.getResults()), [](auto indexed) {
           auto dim = dyn_cast<AffineDimExpr>(indexed.value());
           return dim && dim.getPosition() == indexed.index();
         });
}

std::optional<RunPlan> ChainBuilder::join(KernelOp kernel) {
  if (kernel.getUnits() != UnitKind::Groups ||
      kernel.getSpace() != first.getSpace() ||
      kernel.getPath() != first.getPath() ||
      (hasFolds(kernel) && kernel.getGroups() != first.getGroups()))
    return std::nullopt;
  std::optional<RunPlan> plan =
      planRuns(kernel, schedule, vectorBits, first.getGroups());
  if (!plan || plan->columns != firstPlan.columns)
    return std::nullopt;
  bool readsOwn = false;
  for (TileReadOp read : kernel.getBody().front().getOps<TileReadOp>()) {
    Operation *def = getInput(kernel, read.getSource()).getDefiningOp();
    if (llvm::none_of(
            chain, [&](const PlannedRuns &each) { return each.kernel == def; }))
      continue;
    if (!isOwn(kernel, read, plan->reads.lookup(read)))
      return std::nullopt;
    readsOwn = true;
  }
  if (!readsOwn)
    return std::nullopt;
  return plan;
}

//===----------------------------------------------------------------------===//
// What is computed twice
//===----------------------------------------------------------------------===//

/// All ops that values of a region, or of bodies in it, are made by, but for
/// those that only `known` needs.
static void forSources(ValueRange values, Value known,
                       function_ref<void(Operation *)> body) {
  SmallVector<Value> list(values);
  llvm::SmallDenseSet<Value> seen;
  while (!list.empty()) {
    Value value = list.pop_back_val();
    if (value == known || !seen.insert(value).second)
      continue;
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      if (auto op = dyn_cast<linalg::LinalgOp>(arg.getOwner()->getParentOp()))
        list.push_back(op.getMatchingOpOperand(arg)->get());
      continue;
    }
    Operation *op = value.getDefiningOp();
    body(op);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      list.push_back(linalgOp.getBlock()->getTerminator()->getOperand(0));
    else
      list.append(op->operand_begin(), op->operand_end());
  }
}

namespace {
/// Compares what elements of two kernels are computed from.
class ElementComparer {
public:
  ElementComparer(PlannedRuns &first, PlannedRuns &second)
      : first(first), second(second) {}

  /// Values of bodies of their regions.
  bool isSame(Value x, Value y) {
    auto [known, isNew] = same.try_emplace({x, y}, false);
    if (!isNew)
      return known->second;
    return same[{x, y}] = compare(x, y);
  }
  /// Whether the value, of the first kernel, costs more than memory does, and
  /// is one of each row.
  bool isWorthwhile(Value x);

private:
  bool compare(Value x, Value y);
  bool isSameTile(Value x, Value y);

  PlannedRuns &first, &second;
  DenseMap<std::pair<Value, Value>, bool> same;
};
} // namespace

bool ElementComparer::compare(Value x, Value y) {
  if (x.getType() != y.getType())
    return false;
  auto argX = dyn_cast<BlockArgument>(x), argY = dyn_cast<BlockArgument>(y);
  if (argX && argY) {
    auto opX = dyn_cast<linalg::LinalgOp>(argX.getOwner()->getParentOp());
    auto opY = dyn_cast<linalg::LinalgOp>(argY.getOwner()->getParentOp());
    if (!opX || !opY)
      return false;
    OpOperand *operandX = opX.getMatchingOpOperand(argX);
    OpOperand *operandY = opY.getMatchingOpOperand(argY);
    return opX.getMatchingIndexingMap(operandX) ==
               opY.getMatchingIndexingMap(operandY) &&
           isSameTile(operandX->get(), operandY->get());
  }
  Operation *defX = x.getDefiningOp(), *defY = y.getDefiningOp();
  return defX && defY && defX->getNumResults() == 1 &&
         defX->getNumRegions() == 0 && defX->getName() == defY->getName() &&
         defX->getAttrDictionary() == defY->getAttrDictionary() &&
         defX->getNumOperands() == defY->getNumOperands() &&
         llvm::all_of(llvm::zip(defX->getOperands(), defY->getOperands()),
                      [&](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

bool ElementComparer::isSameTile(Value x, Value y) {
  Operation *defX = x.getDefiningOp(), *defY = y.getDefiningOp();
  if (!defX || !defY)
    return !defX && !defY &&
           getInput(first.kernel, x) == getInput(second.kernel, y);
  if (auto readX = dyn_cast<TileReadOp>(defX)) {
    auto readY = dyn_cast<TileReadOp>(defY);
    return readY && readX.getType() == readY.getType() &&
           readX->getAttrDictionary() == readY->getAttrDictionary() &&
           readX.getStarts().empty() && readY.getStarts().empty() &&
           isSameTile(readX.getSource(), readY.getSource());
  }
  auto linalgX = dyn_cast<linalg::LinalgOp>(defX);
  auto linalgY = dyn_cast<linalg::LinalgOp>(defY);
  if (linalgX && linalgY)
    return x.getType() == y.getType() &&
           linalgX.getIteratorTypesArray() == linalgY.getIteratorTypesArray() &&
           linalgX.getIndexingMapsArray().back() ==
               linalgY.getIndexingMapsArray().back() &&
           isSame(linalgX.getBlock()->getTerminator()->getOperand(0),
                  linalgY.getBlock()->getTerminator()->getOperand(0));
  Attribute constantX, constantY;
  return matchPattern(defX, m_Constant(&constantX)) &&
         matchPattern(defY, m_Constant(&constantY)) && constantX == constantY;
}

bool ElementComparer::isWorthwhile(Value x) {
  bool isCostly = false, isOfRow = false;
  forSources(x, {}, [&](Operation *op) {
    if (auto read = dyn_cast<TileReadOp>(op))
      isOfRow |= first.plan.reads.lookup(read) != RunPlan::Access::Uniform;
    isCostly |=
        isa_and_present<math::MathDialect>(op->getDialect()) &&
        !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp>(op);
  });
  return isCostly && isOfRow;
}

/// The last such value of the second kernel is the one that most is part of.
bool ChainBuilder::keep(PlannedRuns &maker, PlannedRuns &user) {
  ElementComparer comparer(maker, user);
  auto bodiesOf = [&](KernelOp kernel) {
    SmallVector<Block *> blocks;
    for (auto op : kernel.getBody().front().getOps<linalg::LinalgOp>())
      if (RunPlan::countElements(op->getResult(0), kernel.getTile()) ==
          firstPlan.columns)
        blocks.push_back(op.getBlock());
    return blocks;
  };
  SmallVector<Block *> ofUsers = bodiesOf(user.kernel);
  SmallVector<Block *> ofMakers = bodiesOf(maker.kernel);
  for (Block *ofUser : llvm::reverse(ofUsers))
    for (Operation &used : llvm::reverse(ofUser->without_terminator()))
      for (Block *ofMaker : ofMakers)
        for (Operation &made : ofMaker->without_terminator()) {
          if (used.getNumResults() != 1 || made.getNumResults() != 1 ||
              !comparer.isSame(made.getResult(0), used.getResult(0)) ||
              !comparer.isWorthwhile(made.getResult(0)))
            continue;
          Type type = made.getResult(0).getType();
          for (Value result : user.kernel.getResults()) {
            if (LogicalType::of(result).elementType != type)
              continue;
            maker.keptIn = user.keptIn = result;
            maker.plan.kept = made.getResult(0);
            user.plan.kept = used.getResult(0);
            user.plan.loadsKept = true;
            return true;
          }
        }
  return false;
}

/// One value: of the last kernels, where the result is.
void ChainBuilder::keepOne() {
  for (unsigned user = chain.size(); user-- > 1;) {
    if (hasFolds(chain[user].kernel))
      continue;
    for (unsigned maker = user; maker-- > 0;)
      if (hasFolds(chain[maker].kernel) && keep(chain[maker], chain[user]))
        return;
  }
}

SmallVector<PlannedRuns> ChainBuilder::run() {
  chain.push_back({first, firstPlan, {}, {}});
  if (!hasFolds(first))
    return chain;
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      continue;
    auto kernel = dyn_cast<KernelOp>(op);
    std::optional<RunPlan> plan = kernel ? join(kernel) : std::nullopt;
    if (!plan)
      break;
    chain.push_back({kernel, *plan, {}, {}});
  }
  if (chain.size() == 1)
    return chain;
  keepOne();
  if (firstPlan.columns == 1)
    return chain;
  // All columns of a unit go from kernel to kernel.
  for (PlannedRuns &each : chain) {
    each.plan.foldsInMemory = hasFolds(each.kernel);
    // Four registers of AVX2: twice as many are spilled, by long expressions
    // and by sums in f64.
    if (each.keptIn)
      each.plan.width = 32;
  }
  return chain;
}

SmallVector<PlannedRuns> nested::ragged::chainRuns(KernelOp kernel,
                                                   const RunPlan &plan,
                                                   ScheduleBuilder &schedule,
                                                   int64_t vectorBits) {
  return ChainBuilder(kernel, plan, schedule, vectorBits).run();
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

void nested::ragged::markOwnUnits(RunFunction &function,
                                  ArrayRef<PlannedRuns> kernels) {
  ScheduleBuilder &schedule = function.schedule;
  auto isOf = [](Value buffer, StringRef kind) {
    auto op = buffer ? buffer.getDefiningOp<BufferOp>() : BufferOp();
    return op && op.getKind() == kind;
  };
  // The one result that rows are stored to, and the first kernel that does.
  Value result;
  unsigned firstWriter = 0;
  for (auto [k, each] : llvm::enumerate(kernels)) {
    SmallVector<Value> written;
    if (each.keptIn)
      written.push_back(schedule.getBuffer(each.keptIn));
    KernelOp kernel = each.kernel;
    Operation *yield = kernel.getBody().front().getTerminator();
    for (auto [value, output] : llvm::zip(yield->getOperands(), each.outputs))
      if (!value.getDefiningOp<TileReduceOp>())
        written.push_back(output);
    for (Value buffer : written) {
      if (!isOf(buffer, "result") || buffer == result)
        continue;
      if (result)
        return;
      result = buffer;
      firstWriter = k;
    }
  }
  if (!result)
    return;
  // Arguments, and whether all that is read of them is of the own row, before
  // or while it is written.
  llvm::MapVector<Value, bool> arguments;
  for (unsigned k = 0; k < kernels.size(); ++k) {
    const PlannedRuns &each = kernels[k];
    KernelOp kernel = each.kernel;
    Operation *yield = kernel.getBody().front().getTerminator();
    auto addReads = [&](ValueRange values, Value known, bool isBefore) {
      forSources(values, known, [&](Operation *op) {
        auto read = dyn_cast<TileReadOp>(op);
        if (!read)
          return;
        Value buffer = schedule.getBuffer(getInput(kernel, read.getSource()));
        if (!isOf(buffer, "arg"))
          return;
        bool isOwn =
            isBefore && RowReads::areOwn(kernel, read) &&
            !read.getInnerOffsets() && !read.getOutside() &&
            each.plan.reads.lookup(read) == RunPlan::Access::Contiguous;
        arguments.insert({buffer, true}).first->second &= isOwn;
      });
    };
    // Dense values are no reads, and are not of the result's type.
    if (each.keptIn && !each.plan.loadsKept) {
      addReads(each.plan.kept, {}, k <= firstWriter);
      // Wide rows are gone through once more when they have been written.
      addReads(yield->getOperands(), each.plan.kept, k < firstWriter);
    } else {
      addReads(yield->getOperands(), each.plan.kept, k <= firstWriter);
    }
  }
  func::FuncOp func = function.signature.getFunction();
  auto mark = [&](Value memref) {
    func.setArgAttr(cast<BlockArgument>(memref).getArgNumber(), kOwnUnitsAttr,
                    UnitAttr::get(func.getContext()));
  };
  bool isAny = false;
  for (auto &[buffer, areOwn] : arguments)
    if (areOwn) {
      mark(function.lookupElements(buffer));
      isAny = true;
    }
  if (isAny)
    mark(function.lookupElements(result));
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

LogicalResult ScheduleBuilder::addRuns(KernelOp kernel, const RunPlan &plan) {
  SmallVector<PlannedRuns> chain = chainRuns(kernel, plan, *this, vectorBits);
  SmallVector<Operation *> ops;
  for (PlannedRuns &each : chain)
    ops.push_back(each.kernel);
  chained.insert(ops.begin(), ops.end());
  for (PlannedRuns &each : chain) {
    Operation *yield = each.kernel.getBody().front().getTerminator();
    for (auto [result, value] :
         llvm::zip(each.kernel.getResults(), yield->getOperands())) {
      bool isInside =
          value.getDefiningOp<TileReduceOp>() && !result.use_empty() &&
          llvm::all_of(result.getUsers(),
                       [&](Operation *user) { return chained.contains(user); });
      if (!isInside)
        assignBuffer(result);
      each.outputs.push_back(buffers.lookup(result));
    }
  }
  OpBuilder module(schedule);
  StringRef name = kernel.getKernelName();
  FailureOr<EmittedKernel> emitted =
      emitRunFunction(module, chain, name, *this);
  if (failed(emitted))
    return failure();
  createLaunch(b, ops, name, *emitted, UnitKind::Groups, 0, kernel.getTile(),
               *this);
  return success();
}
