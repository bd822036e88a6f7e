//===- KernelPlan.cpp - Which generics make which kernels -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace nested::ragged;

bool nested::ragged::isVirtual(Operation *op) {
  return isa_and_present<GatherOp, FillOp, EmptyOp, ExtentOp, InstanceOp,
                         IndexedLoadOpInterface>(op);
}

/// The storage dims of an operand up to the last one that must be found row by
/// row: a ragged one, one that begins elsewhere in each sample, one whose
/// coordinate `isRow` says to depend on rows.
static unsigned countRowDims(const LogicalType &type, AffineMap map,
                             ArrayRef<ExtentAttr> offsets,
                             function_ref<bool(unsigned dim)> isRow) {
  unsigned count = 0;
  for (auto [position, dim] : llvm::enumerate(type.order)) {
    bool row =
        type.isRagged(dim) || (!offsets.empty() && !offsets[dim].isStatic());
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      row |= map.getResult(dim).isFunctionOfDim(d) && isRow(d);
    if (row)
      count = position + 1;
  }
  return count;
}

unsigned nested::ragged::getRowRank(const LogicalType &type, AffineMap map,
                                    ArrayRef<ExtentAttr> offsets,
                                    const GenericPlan &plan) {
  return countRowDims(type, map, offsets, [&](unsigned dim) {
    return plan.getRowPosition(dim).has_value();
  });
}

bool nested::ragged::isReadByRow(const GenericPlan &plan, unsigned i) {
  GenericOp op = plan.getOp();
  LogicalType type = LogicalType::of(op.getInputs()[i]);
  if (type.path != op.getPathNames())
    return false;
  AffineMap map = op.getInputMap(i);
  SmallVector<ExtentAttr> offsets = op.getInputOffsets(i);
  unsigned rank = getRowRank(type, map, offsets, plan);
  if (rank != plan.rowDims.size())
    return false;
  for (unsigned k = 0; k < rank; ++k) {
    int64_t dim = type.order[k];
    if (map.getResult(dim) !=
            getAffineDimExpr(plan.rowDims[k], op.getContext()) ||
        (!offsets.empty() && offsets[dim].getConstant() != 0))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Row dims of one generic
//===----------------------------------------------------------------------===//

unsigned nested::ragged::getLoadRowRank(IndexedLoadOpInterface load) {
  LogicalType source = LogicalType::of(load.getLoadedSource());
  unsigned indexed =
      llvm::find(source.order, load.getIndexedDim()) - source.order.begin();
  return std::max<unsigned>(source.getRaggedDims().size(), indexed + 1);
}

/// The dims of a load's result that must be rows of the kernel.
static void addLoadRowDims(IndexedLoadOpInterface load,
                           llvm::SmallDenseSet<int64_t> &dims) {
  auto add = [&](AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      dims.insert(dim.getPosition());
  };
  for (AffineExpr expr : load.getIndexMap().getResults())
    add(expr);
  LogicalType source = LogicalType::of(load.getLoadedSource());
  for (int64_t dim : ArrayRef(source.order).take_front(getLoadRowRank(load)))
    add(load.getSourceMap().getResult(dim));
}

/// Iteration dims of constant extent that must be rows since they choose among
/// rows of an input: a ragged dim of it, a dim that begins elsewhere in each
/// sample, a dim stored in front of such a one, or a dim of an index.
static llvm::SmallDenseSet<unsigned> getForcedRowDims(GenericOp op) {
  llvm::SmallDenseSet<unsigned> forced;
  SmallVector<ExtentAttr> dims = op.getDims();
  auto isRow = [&](unsigned dim) {
    return !dims[dim].isStatic() || forced.contains(dim);
  };
  // What is forced by one input may make more dims of another one rows.
  for (size_t known = -1; known != forced.size();) {
    known = forced.size();
    // Rows of the result are its leading dims.
    LogicalType result = LogicalType::of(op.getResult(0));
    bool isBeforeRow = false;
    for (int64_t logical : llvm::reverse(result.order)) {
      unsigned dim = cast<AffineDimExpr>(op.getOutputMap(0).getResult(logical))
                         .getPosition();
      isBeforeRow |= isRow(dim);
      if (isBeforeRow && dims[dim].isStatic())
        forced.insert(dim);
    }
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      LogicalType type = LogicalType::of(input);
      AffineMap map = op.getInputMap(i);
      unsigned rows = countRowDims(type, map, op.getInputOffsets(i), isRow);
      llvm::SmallDenseSet<int64_t> rowDims;
      for (int64_t dim : ArrayRef(type.order).take_front(rows))
        rowDims.insert(dim);
      if (auto gather = input.getDefiningOp<GatherOp>())
        for (int64_t dim = 0,
                     rank = LogicalType::of(gather.getIndices()).getRank();
             dim < rank; ++dim)
          rowDims.insert(dim);
      if (auto load = input.getDefiningOp<IndexedLoadOpInterface>())
        addLoadRowDims(load, rowDims);
      for (int64_t dim : rowDims)
        for (unsigned d = 0; d < map.getNumDims(); ++d)
          if (map.getResult(dim).isFunctionOfDim(d))
            forced.insert(d);
    }
  }
  return forced;
}

/// Without ragged dims and without a batch there would be one row: large dense
/// values make rows of a leading dim, so that there are tiles to compute.
static void addDenseRowDim(GenericOp op, GenericPlan &plan) {
  constexpr int64_t largeRow = 512;
  int64_t points = 1;
  for (ExtentAttr extent : op.getDims())
    points *= *extent.getConstant();
  if (points <= largeRow)
    return;
  auto canBeRow = [&](unsigned dim) {
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      for (auto [k, result] : llvm::enumerate(op.getInputMap(i).getResults()))
        if (result.isFunctionOfDim(dim) && k != 0)
          return false;
    return true;
  };
  AffineMap output = op.getOutputMap(0);
  if (output.getNumResults() != 0) {
    unsigned dim = cast<AffineDimExpr>(output.getResult(0)).getPosition();
    if (canBeRow(dim)) {
      plan.rowDims.push_back(dim);
      plan.groups = 1;
      return;
    }
  }
  for (unsigned dim = 0; dim < op.getDims().size(); ++dim)
    if (op.isReduction(dim) && canBeRow(dim)) {
      plan.rowDims.push_back(dim);
      return;
    }
}

FailureOr<GenericPlan> nested::ragged::planGeneric(GenericOp op) {
  GenericPlan plan;
  plan.op = op;
  SmallVector<ExtentAttr> dims = op.getDims();
  llvm::SmallDenseSet<unsigned> forced = getForcedRowDims(op);
  auto isRow = [&](unsigned dim) {
    return !dims[dim].isStatic() || forced.contains(dim);
  };
  LogicalType result = LogicalType::of(op.getResult(0));
  bool inner = false;
  for (int64_t logical : result.order) {
    unsigned dim = cast<AffineDimExpr>(op.getOutputMap(0).getResult(logical))
                       .getPosition();
    if (!isRow(dim)) {
      inner = true;
      continue;
    }
    if (inner)
      return op.emitOpError("does not support that dim ")
             << logical
             << " of the result selects rows of an input but is stored "
             << "after a dim that does not; move it to the front";
    plan.rowDims.push_back(dim);
  }
  plan.groups = plan.rowDims.size();
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (op.isReduction(dim) && isRow(dim))
      plan.rowDims.push_back(dim);
  if (plan.rowDims.empty() && op.getPath().empty())
    addDenseRowDim(op, plan);
  for (unsigned dim : plan.rowDims)
    plan.space.push_back(dims[dim]);
  if (op.getBatchReduced() && op.getPathNames().size() > 1)
    return op.emitOpError(
               "does not support reducing the last component of the path ")
           << formatPath(op.getPathNames())
           << "; reduce over a path of one component";
  if (op.getBatchReduced() && plan.groups != 0)
    return op.emitOpError(
        "does not support keeping a ragged dim while reducing over "
        "the batch");
  return plan;
}

int64_t nested::ragged::getRowOperations(const GenericPlan &plan) {
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

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(func::FuncOp func, Fusion fuse)
      : func(func), fuse(fuse != Fusion::Never) {}
  FailureOr<std::vector<StepPlan>> run();

private:
  /// The step that makes a value: -1 for arguments and constants; of a virtual
  /// op the latest of what it loads.
  int getStep(Value value);
  /// The last step that binds a symbol from data which `op` mentions, or -1.
  int getBindingStep(Operation *op) const;
  LogicalResult place(GenericOp op);
  bool placeAsFinalizer(const GenericPlan &plan);
  /// Why the generic cannot be part of step `step`; empty if it can.
  std::string whyNot(const GenericPlan &plan, int step);

  func::FuncOp func;
  bool fuse;
  std::vector<StepPlan> steps;
  DenseMap<Operation *, int> stepOf;
  /// Symbols from data, by the step that binds them.
  DenseMap<StringAttr, int> boundAt;
};
} // namespace

int Planner::getBindingStep(Operation *op) const {
  if (boundAt.empty())
    return -1;
  int step = -1;
  auto mention = [&](StringAttr name) {
    if (auto it = boundAt.find(name); it != boundAt.end())
      step = std::max(step, it->second);
  };
  auto mentionAll = [&](ExtentAttr extent) {
    llvm::SmallSetVector<StringAttr, 4> names;
    extent.getSymbols(names);
    llvm::for_each(names, mention);
  };
  op->getAttrDictionary().walk(mentionAll);
  for (Type type : op->getResultTypes()) {
    type.walk(mentionAll);
    if (auto tensor = dyn_cast<RaggedTensorType>(type))
      llvm::for_each(tensor.getPath(), mention);
  }
  return step;
}

int Planner::getStep(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return -1;
  if (auto it = stepOf.find(op); it != stepOf.end())
    return it->second;
  int step = getBindingStep(op);
  for (Value operand : op->getOperands())
    step = std::max(step, getStep(operand));
  return step;
}

std::string Planner::whyNot(const GenericPlan &plan, int step) {
  const KernelPlan &kernel = steps[step].kernel;
  GenericOp op = plan.getOp();
  if (steps[step].hostOp)
    return "not a kernel";
  if (kernel.path != op.getPathNames() || kernel.space != plan.space)
    return "another iteration space";
  if (plan.isFold() && kernel.hasFold &&
      (kernel.groups != plan.groups || kernel.batch != op.getBatchReduced()))
    return "folds over other groups";
  SmallVector<Value> operands(op->getOperands());
  for (auto [i, value] : llvm::enumerate(operands)) {
    int made = getStep(value);
    if (made > step)
      return "reads what is made later";
    if (made < step)
      continue;
    Operation *producer = value.getDefiningOp();
    if (i >= op.getInputs().size()) {
      // An init that is made here is made row by row, or there is no fold.
      if (!kernel.lookup(producer) || kernel.isFold(producer) || plan.isFold())
        return "starts from what the kernel folds";
      continue;
    }
    bool finalizes = llvm::any_of(kernel.finalizers, [&](auto &entry) {
      return llvm::is_contained(entry.second, producer);
    });
    if (!finalizes && !kernel.lookup(producer))
      return "indexes by what the kernel makes";
    if (finalizes || kernel.isFold(producer))
      return "reads what the kernel folds";
    if (!isReadByRow(plan, i))
      return "reads other rows of what the kernel makes";
  }
  return "";
}

/// Whether the generic yields one result elementwise from values without static
/// reductions: what can be computed on a finished accumulator.
static bool isElementwise(GenericOp op) {
  if (op->getNumResults() != 1 || !op.getOutputMap(0).isIdentity() ||
      op.getBatchReduced())
    return false;
  // It may start from a constant.
  if (isInitUsed(op) && !op.getInits()[0].getDefiningOp<FillOp>())
    return false;
  WalkResult walk =
      op.getBody().walk([](IndexOp) { return WalkResult::interrupt(); });
  return !walk.wasInterrupted();
}

bool Planner::placeAsFinalizer(const GenericPlan &plan) {
  GenericOp op = plan.getOp();
  if (!fuse || !isElementwise(op))
    return false;
  // Its one input that is not an extent or a constant is a fold, or follows
  // one.
  Operation *fold = nullptr;
  int step = -1;
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    Operation *producer = value.getDefiningOp();
    if (isa_and_present<ExtentOp, TotalOp>(producer))
      continue;
    if (auto fill = dyn_cast_or_null<FillOp>(producer))
      continue;
    if (fold || !producer || !value.hasOneUse() ||
        !op.getInputMap(i).isIdentity() || !op.getInputOffsets(i).empty() ||
        op.getInputOutside(i))
      return false;
    // One value of the batch repeated for each sample is another kernel's.
    if (LogicalType::of(value).path != LogicalType::of(op.getResult(0)).path)
      return false;
    step = getStep(value);
    if (step < 0 || steps[step].hostOp)
      return false;
    KernelPlan &kernel = steps[step].kernel;
    if (kernel.isFold(producer))
      fold = producer;
    for (auto &[first, chain] : kernel.finalizers)
      if (!chain.empty() && chain.back() == producer)
        fold = first;
    if (!fold)
      return false;
  }
  if (!fold || fold->getNumResults() != 1)
    return false;
  // An extent may be from data that the fold comes before.
  int bound = getBindingStep(op);
  for (Value value : op.getInputs())
    if (Operation *extent = value.getDefiningOp<ExtentOp>())
      bound = std::max(bound, getBindingStep(extent));
  if (bound > step)
    return false;
  KernelPlan &kernel = steps[step].kernel;
  // Extents per sample belong to folds of samples, totals to folds of the
  // batch.
  for (Value value : op.getInputs()) {
    Operation *producer = value.getDefiningOp();
    if (isa<TotalOp>(producer) != kernel.batch &&
        isa<TotalOp, ExtentOp>(producer))
      return false;
    if (auto total = dyn_cast<TotalOp>(producer))
      if (!total.getPartition().getDefiningOp<PartitionOp>())
        return false;
  }
  kernel.finalizers[fold].push_back(op);
  stepOf[op] = step;
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("Finalize").category("ragged-fusion"))
      << remark::add("done where the fold ends");
  return true;
}

LogicalResult Planner::place(GenericOp op) {
  FailureOr<GenericPlan> plan = planGeneric(op);
  if (failed(plan))
    return failure();
  if (placeAsFinalizer(*plan))
    return success();
  int earliest = getBindingStep(op);
  for (Value operand : op->getOperands())
    earliest = std::max(earliest, getStep(operand));
  std::string why = "nothing before it";
  if (fuse)
    for (int step = steps.size() - 1; step >= std::max(earliest, 0); --step) {
      if (steps[step].hostOp)
        continue;
      why = whyNot(*plan, step);
      if (!why.empty())
        continue;
      KernelPlan &kernel = steps[step].kernel;
      kernel.add(*plan);
      stepOf[op] = step;
      remark::passed(op.getLoc(),
                     remark::RemarkOpts::name("Fuse").category("ragged-fusion"))
          << remark::add("fused into a kernel over ")
          << remark::metric("space", formatExtents(kernel.space));
      return success();
    }
  remark::missed(
      op.getLoc(),
      remark::RemarkOpts::name("NewKernel").category("ragged-fusion"))
      << remark::reason("{0}", fuse ? why : "fusion is off");
  StepPlan step;
  step.kernel.add(*plan);
  stepOf[op] = steps.size();
  steps.push_back(std::move(step));
  return success();
}

FailureOr<std::vector<StepPlan>> Planner::run() {
  FailureOr<SmallVector<Operation *>> order = orderForFusion(func);
  if (failed(order))
    return failure();
  for (Operation *op : *order) {
    if (auto generic = dyn_cast<GenericOp>(op)) {
      if (failed(place(generic)))
        return failure();
      continue;
    }
    for (const SymbolBinding &binding : getSymbolsBoundBy(op))
      boundAt[binding.name] = steps.size();
    StepPlan step;
    step.hostOp = op;
    stepOf[op] = steps.size();
    steps.push_back(std::move(step));
  }
  return std::move(steps);
}

FailureOr<std::vector<StepPlan>> nested::ragged::planKernels(func::FuncOp func,
                                                             Fusion fuse) {
  return Planner(func, fuse).run();
}
