//===- RowRunPlan.cpp - Which kernels are runs of vectors -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Every op must have a form on vectors along the rows, and every tile one
//    element a row.
// 2. A run is as many of the last dims as every read allows, all of a sample at
//    best: what a read gives is the same for the whole run, or consecutive. For
//    the last dim alone rows may also be gathered, one by one.
//
//===----------------------------------------------------------------------===//

#include "RowRuns.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace nested::ragged;
using Access = RunPlan::Access;

namespace {
class RunPlanner {
public:
  RunPlanner(KernelOp kernel, ScheduleBuilder &schedule)
      : kernel(kernel), schedule(schedule),
        space(toExtents(kernel.getSpace())) {}
  std::optional<RunPlan> run(int64_t vectorBits);

private:
  bool isNarrow(Value value);
  bool isSupported(Operation &op);
  bool isSupported(Block &block);
  Access getAccess(TileReadOp read, unsigned first);
  bool readsOneRow(TileReadOp read, unsigned first);
  bool isPossible(RunPlan &plan, unsigned first);
  bool isFlat();

  KernelOp kernel;
  ScheduleBuilder &schedule;
  SmallVector<ExtentAttr> space;
};
} // namespace

/// One element for each row, or one element.
bool RunPlanner::isNarrow(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return !isa<ShapedType>(value.getType());
  int64_t elements = type.getNumElements();
  auto rows = static_cast<int64_t>(kernel.getTile());
  return elements == 1 || (elements == rows && type.getRank() > 0 &&
                           type.getDimSize(0) == elements);
}

/// Whether all ops of a region can be ops on vectors.
bool RunPlanner::isSupported(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() ||
           (OpTrait::hasElementwiseMappableTraits(&op) &&
            llvm::all_of(op.getOperands(), [&](Value value) {
              Operation *def = value.getDefiningOp();
              return value.getParentBlock() == op.getBlock() ||
                     (def && def->hasTrait<OpTrait::ConstantLike>());
            }));
  });
}

bool RunPlanner::isSupported(Operation &op) {
  if (isa<TileYieldOp, TileReadOp, TileCoordOp, TileExtentOp>(op) ||
      op.hasTrait<OpTrait::ConstantLike>())
    return true;
  if (auto lookup = dyn_cast<TileLookupOp>(op))
    return isNarrow(lookup.getResult());
  if (auto reduce = dyn_cast<TileReduceOp>(op))
    return reduce.getNumResults() == 1 &&
           isSupported(reduce.getCombine().front());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp->getNumResults() == 1 && isSupported(*linalgOp.getBlock());
  return isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
             op) ||
         OpTrait::hasElementwiseMappableTraits(&op);
}

/// Whether a read is of one row for all coordinates of the dims from `first`
/// on.
bool RunPlanner::readsOneRow(TileReadOp read, unsigned first) {
  for (AffineExpr expr : read.getMap().getResults())
    for (unsigned dim = first; dim < space.size(); ++dim)
      if (expr.isFunctionOfDim(dim))
        return false;
  return llvm::all_of(read.getStarts(), [&](Value start) {
    auto indices = start.getDefiningOp<TileReadOp>();
    return indices && readsOneRow(indices, first);
  });
}

Access RunPlanner::getAccess(TileReadOp read, unsigned first) {
  if (llvm::all_of(read->getUses(), [](OpOperand &use) {
        return isa<TileLookupOp, TileReadOp>(use.getOwner());
      }))
    return Access::Index;
  if (readsOneRow(read, first))
    return Access::Uniform;
  if (RowReads::isPacked(kernel, read, schedule))
    return Access::Contiguous;
  // The last results are the dims of the run, of the same sizes.
  unsigned count = space.size() - first;
  AffineMap map = read.getMap();
  Value input = getInput(kernel, read.getSource());
  LogicalType type = LogicalType::of(input);
  int64_t rowElements = 1;
  for (int64_t dim : ArrayRef(type.order).drop_front(map.getNumResults()))
    rowElements *= type.extents[dim].getConstant().value_or(0);
  if (map.getNumResults() < count || rowElements != 1 || read.getOutside())
    return Access::Gathered;
  unsigned outer = map.getNumResults() - count;
  ArrayRef<int64_t> starts = read.getStartDims().value_or(ArrayRef<int64_t>());
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    if (k < outer) {
      for (unsigned dim = first; dim < space.size(); ++dim)
        if (expr.isFunctionOfDim(dim))
          return Access::Gathered;
      continue;
    }
    unsigned dim = first + (k - outer);
    if (expr != getAffineDimExpr(dim, kernel.getContext()) ||
        llvm::is_contained(starts, static_cast<int64_t>(k)))
      return Access::Gathered;
    // One dim may begin anywhere; of several only the outermost may be cut.
    if (count == 1)
      continue;
    if (read.getOffsets() &&
        toExtents(*read.getOffsets())[k].getConstant() != 0)
      return Access::Gathered;
    if (k != outer && type.extents[type.order[k]] != space[dim])
      return Access::Gathered;
  }
  for (Value start : read.getStarts()) {
    auto indices = start.getDefiningOp<TileReadOp>();
    if (!indices || !readsOneRow(indices, first))
      return Access::Gathered;
  }
  return Access::Contiguous;
}

/// Whether the dims from `first` on can be a run; then how each read is done.
bool RunPlanner::isPossible(RunPlan &plan, unsigned first) {
  bool isLast = first + 1 == space.size();
  plan.reads.clear();
  plan.firstOfRun = first;
  for (Operation &op : kernel.getBody().front()) {
    if (auto read = dyn_cast<TileReadOp>(op)) {
      Access access = getAccess(read, first);
      if (access == Access::Gathered && !isLast)
        return false;
      plan.reads[&op] = access;
    }
    if (isLast)
      continue;
    if (isa<TileLookupOp>(op))
      return false;
    if (auto coord = dyn_cast<TileCoordOp>(op))
      if (static_cast<int64_t>(coord.getDim()) >= static_cast<int64_t>(first))
        return false;
  }
  return true;
}

/// Whether every row is at its own number in everything that is read.
bool RunPlanner::isFlat() {
  return llvm::all_of(kernel.getBody().front(), [&](Operation &op) {
    if (isa<TileCoordOp, TileExtentOp, TileLookupOp, TileReduceOp>(op))
      return false;
    auto read = dyn_cast<TileReadOp>(op);
    return !read || RowReads::isPacked(kernel, read, schedule) ||
           (LogicalType::of(getInput(kernel, read.getSource())).isDense() &&
            !read.getOffsets() && readsOneRow(read, 0));
  });
}

std::optional<RunPlan> RunPlanner::run(int64_t vectorBits) {
  if (kernel.getUnits() != UnitKind::Groups)
    return std::nullopt;
  bool folds = false, isGathered = false, isSmall = false;
  for (Operation &op : kernel.getBody().front()) {
    if (!isSupported(op) || !llvm::all_of(op.getResults(), [&](Value value) {
          return isNarrow(value);
        }))
      return std::nullopt;
    if (auto read = dyn_cast<TileReadOp>(op))
      if (std::optional<ArrayRef<int64_t>> inner = read.getInnerOffsets()) {
        // A part that may lie outside of the row.
        LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
        for (auto [k, offset] : llvm::enumerate(*inner))
          if (offset < 0 ||
              offset >=
                  type.extents[type.order[read.getMap().getNumResults() + k]]
                      .getConstant())
            return std::nullopt;
      }
    for (Value operand : op.getOperands())
      if (!isa<TileReadOp, TileLookupOp>(op) && !isNarrow(operand))
        return std::nullopt;
    folds |= isa<TileReduceOp>(op);
  }
  unsigned groups = kernel.getGroups();
  if (folds && groups == space.size())
    return std::nullopt;
  RunPlan plan;
  plan.isFlat = !folds && isFlat();
  if (plan.isFlat) {
    for (TileReadOp read : kernel.getBody().front().getOps<TileReadOp>())
      plan.reads[read] = RowReads::isPacked(kernel, read, schedule)
                             ? Access::Contiguous
                             : Access::Uniform;
  } else {
    if (space.empty())
      return std::nullopt;
    unsigned first = folds ? groups : 0;
    while (!isPossible(plan, first))
      ++first;
  }
  SmallVector<Type> elements;
  for (Value value : kernel.getBody().front().getTerminator()->getOperands())
    if (!value.getDefiningOp<TileReduceOp>())
      elements.push_back(value.getType());
  for (auto [op, access] : plan.reads) {
    isGathered |= access == Access::Gathered;
    if (access == Access::Contiguous)
      elements.push_back(op->getResult(0).getType());
  }
  isGathered |= !kernel.getBody().front().getOps<TileLookupOp>().empty();
  for (Type type : elements)
    isSmall |= getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 32;
  // Two registers of f32, so that there are two chains of operations.
  plan.width = vectorBits / 32 * (isGathered ? 1 : 2);
  plan.masksTail = !isSmall;
  if (!plan.isFlat) {
    ExtentAttr length = extent::product(
        kernel.getContext(), ArrayRef(space).drop_front(plan.firstOfRun));
    if (length.getConstant() && *length.getConstant() < plan.width)
      return std::nullopt;
  }
  return plan;
}

std::optional<RunPlan> nested::ragged::planRuns(KernelOp kernel,
                                                ScheduleBuilder &schedule,
                                                int64_t vectorBits) {
  return RunPlanner(kernel, schedule).run(vectorBits);
}
