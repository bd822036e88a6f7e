//===- MarkPrepared.cpp - Launches that need arguments alone --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each schedule:
//
// 1. Steps: the buffers that each reads and writes; of a launch, what its
//    kernel does with the memref.
// 2. Candidates: launches whose tables are constant and that use dense
//    arguments, which they only read, and temporaries of constant size.
// 3. Until nothing changes: a candidate must read something, read temporaries
//    of candidates, and share what it writes with candidates only, who have
//    written it before anyone else reads it. Others are candidates no more.
// 4. What is left is marked, and moved to where it is first read, if only
//    launches per sample are in between: they and it still take turns, and its
//    memory is needed from there on only.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSteps.h"

#include "nested/Conversion/LoopsToLLVM/KernelMemRefs.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace nested {
#define GEN_PASS_DEF_MARKPREPARED
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

namespace {

struct MarkPrepared : public nested::impl::MarkPreparedBase<MarkPrepared> {
  using MarkPreparedBase::MarkPreparedBase;

  void runOnOperation() override;
};

/// A step and the buffers that it uses, without aliases.
struct Step {
  Operation *op;
  SmallVector<BufferOp> reads, writes;
  bool isCandidate = false;
};

class ScheduleMarker {
public:
  ScheduleMarker(ScheduleOp schedule, SymbolTable &kernels)
      : schedule(schedule), kernels(kernels) {}

  void run();

private:
  void addStep(Operation *op);
  bool isDenseArgument(BufferOp buffer);
  bool canPrepare(LaunchOp launch, const Step &step);
  bool isPrepared(BufferOp temp);
  bool staysCandidate(const Step &step);
  void moveToReader(const Step &step);

  ScheduleOp schedule;
  SymbolTable &kernels;
  SmallVector<Step> steps;
};

} // namespace

void ScheduleMarker::addStep(Operation *op) {
  if (isDeclaration(op))
    return;
  Step step{op, {}, {}};
  auto launch = dyn_cast<LaunchOp>(op);
  auto kernel = launch ? kernels.lookup<func::FuncOp>(launch.getKernel())
                       : func::FuncOp();
  for (OpOperand &operand : op->getOpOperands()) {
    BufferOp buffer = getBuffer(operand.get());
    if (!buffer)
      continue;
    unsigned number = operand.getOperandNumber();
    // Of the others it is not known, so they do both.
    bool isRead = true, isWritten = true;
    if (kernel) {
      // A kernel that writes reads what it, or a launch before it, wrote.
      number -= launch.getMemrefs().getBeginOperandIndex();
      isRead = isOnlyRead(kernel.getArgument(number));
      isWritten = !isRead;
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      isRead = &operand == &copy.getSourceMutable();
      isWritten = !isRead;
    }
    if (isRead && !llvm::is_contained(step.reads, buffer))
      step.reads.push_back(buffer);
    if (isWritten && !llvm::is_contained(step.writes, buffer))
      step.writes.push_back(buffer);
  }
  step.isCandidate = kernel && canPrepare(launch, step);
  steps.push_back(std::move(step));
}

/// Whether a table is the same for all batches.
static bool isConstant(Value table) {
  auto op = table.getDefiningOp<TableOp>();
  if (!op || !op.getPath().empty())
    return false;
  SmallVector<ExtentAttr> extents;
  if (ExtentAttr extent = op.getExtentAttr())
    extents.push_back(extent);
  if (ArrayAttr list = op.getExtentsAttr())
    llvm::append_range(extents, list.getAsRange<ExtentAttr>());
  return !extents.empty() && llvm::all_of(extents, [](ExtentAttr extent) {
    llvm::SmallSetVector<StringAttr, 4> symbols;
    extent.getSymbols(symbols);
    return symbols.empty();
  });
}

bool ScheduleMarker::isDenseArgument(BufferOp buffer) {
  if (buffer.getKind() != "arg")
    return false;
  auto args = schedule.getSignature().getAs<ArrayAttr>("args");
  if (!args || *buffer.getIndex() >= args.size())
    return false;
  auto arg = cast<DictionaryAttr>(args[*buffer.getIndex()]);
  auto kind = arg.getAs<StringAttr>("kind");
  return kind && kind.getValue() == "dense" && !arg.get("mutable");
}

bool ScheduleMarker::canPrepare(LaunchOp launch, const Step &step) {
  auto isTemp = [](BufferOp buffer) {
    return buffer.getKind() == "temp" && buffer.getRows().has_value();
  };
  for (Value operand : launch->getOperands())
    if (isa<TableType>(operand.getType()) && !isConstant(operand))
      return false;
  return llvm::all_of(step.writes, isTemp) &&
         llvm::all_of(step.reads, [&](BufferOp buffer) {
           return isTemp(buffer) || isDenseArgument(buffer);
         });
}

/// Whether candidates alone write the temporary, before others read it.
bool ScheduleMarker::isPrepared(BufferOp temp) {
  bool isWritten = false, isReadByOthers = false;
  for (const Step &step : steps) {
    bool writes = llvm::is_contained(step.writes, temp);
    if (writes && (!step.isCandidate || isReadByOthers))
      return false;
    isWritten |= writes;
    isReadByOthers |= !step.isCandidate && llvm::is_contained(step.reads, temp);
  }
  return isWritten;
}

bool ScheduleMarker::staysCandidate(const Step &step) {
  return !step.reads.empty() && llvm::all_of(step.writes, [&](BufferOp buffer) {
    return isPrepared(buffer);
  }) && llvm::all_of(step.reads, [&](BufferOp buffer) {
    return buffer.getKind() == "arg" || isPrepared(buffer);
  });
}

void ScheduleMarker::moveToReader(const Step &step) {
  Operation *first = nullptr;
  for (const Step &other : steps)
    if (other.op != step.op &&
        llvm::any_of(other.reads,
                     [&](BufferOp buffer) {
                       return llvm::is_contained(step.writes, buffer);
                     }) &&
        step.op->isBeforeInBlock(other.op) &&
        (!first || other.op->isBeforeInBlock(first)))
      first = other.op;
  auto takesTurns = [](Operation *op) {
    auto launch = dyn_cast<LaunchOp>(op);
    return isDeclaration(op) ||
           (launch && (launch.getPerSample() || op->hasAttr(kPrepareAttr)));
  };
  Operation *next = step.op->getNextNode();
  while (first && next != first && takesTurns(next))
    next = next->getNextNode();
  if (next == first)
    step.op->moveBefore(first);
}

void ScheduleMarker::run() {
  for (Operation &op : schedule.getBody().front())
    addStep(&op);
  for (bool changed = true; changed;) {
    changed = false;
    for (Step &step : steps) {
      if (!step.isCandidate || staysCandidate(step))
        continue;
      step.isCandidate = false;
      changed = true;
    }
  }
  for (const Step &step : llvm::reverse(steps)) {
    if (!step.isCandidate)
      continue;
    step.op->setAttr(kPrepareAttr, UnitAttr::get(step.op->getContext()));
    moveToReader(step);
  }
}

void MarkPrepared::runOnOperation() {
  SymbolTable kernels(getOperation());
  for (auto schedule : getOperation().getOps<ScheduleOp>())
    ScheduleMarker(schedule, kernels).run();
}
