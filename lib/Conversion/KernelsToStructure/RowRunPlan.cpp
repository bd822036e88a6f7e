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
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nested::ragged;
using Access = RunPlan::Access;

namespace {
class RunPlanner {
public:
  RunPlanner(KernelOp kernel, ScheduleBuilder &schedule)
      : kernel(kernel), schedule(schedule),
        space(toExtents(kernel.getSpace())) {}
  std::optional<RunPlan> run(int64_t vectorBits, std::optional<unsigned> units);

private:
  bool isNarrow(Value value);
  bool hasForm(Value value);
  bool isSupported(Operation &op);
  bool isSupported(Block &block);
  bool isElementwise(linalg::LinalgOp op);
  bool isPossible();
  Access getAccess(TileReadOp read, unsigned first);
  bool readsOneRow(TileReadOp read, unsigned first);
  bool isPossible(RunPlan &plan, unsigned first);
  bool isFlat();

  KernelOp kernel;
  ScheduleBuilder &schedule;
  SmallVector<ExtentAttr> space;
  int64_t columns = 1;
};
} // namespace

/// Columns of the narrowest block and of the widest one.
static constexpr int64_t kNarrowest = 8, kWidest = 64;

/// Elements of a row of a tile, or of a shared value; 0 if it is not static.
int64_t RunPlan::countElements(Value value, int64_t tileRows) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return isa<ShapedType>(value.getType()) ? 0 : 1;
  if (!type.hasStaticShape())
    return 0;
  return isTile(value, tileRows) ? type.getNumElements() / tileRows
                                 : type.getNumElements();
}

bool RunPlan::isTile(Value value, int64_t tileRows) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.getDimSize(0) == tileRows;
}

/// One element, or as many as a row has.
bool RunPlanner::isNarrow(Value value) {
  return RunPlan::countElements(value, kernel.getTile()) == 1;
}
bool RunPlanner::hasForm(Value value) {
  int64_t count = RunPlan::countElements(value, kernel.getTile());
  return count == 1 || count == columns;
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

/// Whether an op works element by element: with wide rows all columns are their
/// own places.
bool RunPlanner::isElementwise(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || !isSupported(*op.getBlock()))
    return false;
  if (isNarrow(op->getResult(0))) // Nothing is added up.
    return llvm::all_of(op->getOperands(),
                        [&](Value value) { return isNarrow(value); });
  unsigned loops = op.getNumLoops();
  return op.getNumParallelLoops() == loops &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           AffineMap map = op.getMatchingIndexingMap(&operand);
           // Loop 0 is over rows (K1); a shared value may look like a tile.
           bool isTile = RunPlan::isTile(operand.get(), kernel.getTile());
           if (isNarrow(operand.get()))
             return !isTile ||
                    map.getResult(0) == getAffineDimExpr(0, op.getContext());
           if (isTile)
             return map.isIdentity();
           return map.getNumResults() + 1 == loops &&
                  map ==
                      AffineMap::getMultiDimIdentityMap(loops, op.getContext())
                          .getMinorSubMap(loops - 1);
         });
}

bool RunPlanner::isSupported(Operation &op) {
  if (isa<TileYieldOp, TileCoordOp, TileExtentOp>(op))
    return true;
  if (auto read = dyn_cast<TileReadOp>(op)) {
    LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
    ArrayRef<int64_t> inner =
        ArrayRef(type.order).drop_front(read.getMap().getNumResults());
    // A part of the rows is a range of their elements if they have one dim, and
    // it may not lie outside of them.
    bool isWide = !isNarrow(read.getResult());
    if (isWide && inner.size() > 1 &&
        (read.getInnerOffsets() || RowReads::mayBeOutside(read)))
      return false;
    auto tile = cast<RankedTensorType>(read.getType());
    for (auto [k, dim] : llvm::enumerate(inner)) {
      int64_t offset =
          read.getInnerOffsets() ? (*read.getInnerOffsets())[k] : 0;
      if (offset < 0 ||
          offset + tile.getDimSize(k + 1) > *type.extents[dim].getConstant())
        return false;
    }
    return true;
  }
  if (op.hasTrait<OpTrait::ConstantLike>()) {
    Attribute value;
    auto isOne = [](Attribute constant) {
      auto dense = dyn_cast<DenseElementsAttr>(constant);
      return !dense || dense.isSplat();
    };
    return llvm::all_of(op.getUses(),
                        [](OpOperand &use) {
                          return isa<TileLookupOp>(use.getOwner()) &&
                                 use.getOperandNumber() == 0;
                        }) ||
           (matchPattern(&op, m_Constant(&value)) && isOne(value));
  }
  if (auto lookup = dyn_cast<TileLookupOp>(op))
    return isNarrow(lookup.getResult()) ||
           cast<RankedTensorType>(lookup.getTable().getType()).getRank() == 2;
  if (auto reduce = dyn_cast<TileReduceOp>(op))
    return reduce.getNumResults() == 1 &&
           isSupported(reduce.getCombine().front()) &&
           isSupported(reduce.getFinalize().front());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return isElementwise(linalgOp);
  return isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
             op) ||
         OpTrait::hasElementwiseMappableTraits(&op);
}

/// Whether every op has a form on vectors; then how many columns rows have.
bool RunPlanner::isPossible() {
  Block &body = kernel.getBody().front();
  for (Operation &op : body)
    for (Value value : op.getResults())
      if (RunPlan::isTile(value, kernel.getTile()))
        columns =
            std::max(columns, RunPlan::countElements(value, kernel.getTile()));
  // Blocks of columns are whole vectors.
  if (columns != 1 && columns % kNarrowest != 0)
    return false;
  for (Operation &op : body) {
    if (!isSupported(op))
      return false;
    for (Value value : op.getResults())
      if (!op.hasTrait<OpTrait::ConstantLike>() && !hasForm(value))
        return false;
    for (Value operand : op.getOperands()) {
      if (isa<TileReadOp, TileLookupOp>(op))
        continue;
      auto type = dyn_cast<RankedTensorType>(operand.getType());
      if (!hasForm(operand) ||
          (isa<BlockArgument>(operand) && type && type.getNumElements() != 1 &&
           type.getRank() != 1))
        return false;
      // Rows of one element beside wide ones may be used, not stored or folded.
      if (isa<TileYieldOp, TileReduceOp>(op) &&
          RunPlan::countElements(operand, kernel.getTile()) != columns)
        return false;
    }
  }
  return true;
}

int64_t nested::ragged::countRowElements(KernelOp kernel, TileReadOp read) {
  LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
  int64_t count = 1;
  for (int64_t dim :
       ArrayRef(type.order).drop_front(read.getMap().getNumResults()))
    count *= *type.extents[dim].getConstant();
  return count;
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
  // One element of longer rows has others between it and the next one.
  AffineMap map = read.getMap();
  if (columns == 1 && countRowElements(kernel, read) != 1)
    return Access::Gathered;
  if (RowReads::isPacked(kernel, read, schedule))
    return Access::Contiguous;
  // The last results are the dims of the run, of the same sizes.
  unsigned count = space.size() - first;
  LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
  if (map.getNumResults() < count || read.getOutside())
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
    return !read ||
           (RowReads::isPacked(kernel, read, schedule) &&
            (columns != 1 || countRowElements(kernel, read) == 1)) ||
           (LogicalType::of(getInput(kernel, read.getSource())).isDense() &&
            !read.getOffsets() && readsOneRow(read, 0));
  });
}

std::optional<RunPlan> RunPlanner::run(int64_t vectorBits,
                                       std::optional<unsigned> units) {
  if (kernel.getUnits() != UnitKind::Groups)
    return std::nullopt;
  Block &body = kernel.getBody().front();
  bool folds = !body.getOps<TileReduceOp>().empty();
  if (!isPossible())
    return std::nullopt;
  unsigned groups = kernel.getGroups();
  if (folds && groups == space.size())
    return std::nullopt;
  RunPlan plan;
  plan.columns = columns;
  plan.isFlat = !folds && !units && isFlat();
  if (plan.isFlat) {
    for (TileReadOp read : body.getOps<TileReadOp>())
      plan.reads[read] = RowReads::isPacked(kernel, read, schedule)
                             ? Access::Contiguous
                             : Access::Uniform;
  } else {
    if (space.empty())
      return std::nullopt;
    unsigned first = units.value_or(folds ? groups : 0);
    while (!isPossible(plan, first))
      ++first;
  }
  if (columns != 1) {
    // Reading memory in order is worth more than having all accumulators in
    // registers: of f64, 64 columns are all 16 of AVX2.
    plan.foldsInMemory = folds && columns > kWidest;
    plan.width = folds ? kWidest : kWidest / 2;
    return plan;
  }
  bool isGathered = !body.getOps<TileLookupOp>().empty(), isSmall = false;
  SmallVector<Type> elements;
  for (Value value : body.getTerminator()->getOperands())
    if (!value.getDefiningOp<TileReduceOp>())
      elements.push_back(value.getType());
  for (auto [op, access] : plan.reads) {
    isGathered |= access == Access::Gathered;
    if (access == Access::Contiguous)
      elements.push_back(op->getResult(0).getType());
  }
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

std::optional<RunPlan>
nested::ragged::planRuns(KernelOp kernel, ScheduleBuilder &schedule,
                         int64_t vectorBits, std::optional<unsigned> groups) {
  return RunPlanner(kernel, schedule).run(vectorBits, groups);
}
