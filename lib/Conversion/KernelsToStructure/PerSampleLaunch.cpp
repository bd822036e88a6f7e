//===- PerSampleLaunch.cpp - Launches that keep samples apart -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is per sample when a unit of a sample reads and writes, of what
// steps write, that sample only. The runtime may then run several such launches
// for some samples before it runs them for the next, with memory for the
// values between them of those samples only.
//
// What has to hold (`path` is that of the units, one component):
//
// 1. All results are ragged over `path`.
// 2. Every operand is an argument of the entry, a constant, or the result of a
//    kernel: ragged over `path`, or dense. Other names of a value (`nest`,
//    `pack`, `values`) may cut the same memory into other samples.
// 3. Temporaries of the op's own have rows of `path`.
// 4. The op does not move samples, which may stay in the batch that they are
// in.
//
// A dense result of a kernel is complete before: its launch is not per sample.
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "nested/Dialect/Ragged/IR/RaggedBatch.h"

using namespace mlir;
using namespace nested::ragged;

static bool isKernel(Operation *op) {
  return isa<KernelOp, LoopKernelOpInterface>(op);
}

bool nested::ragged::isPerSample(ArrayRef<Operation *> ops,
                                 const EmittedKernel &emitted,
                                 ScheduleBuilder &schedule) {
  ArrayRef<StringAttr> path = emitted.rowTable.path;
  if (path.size() != 1)
    return false;
  llvm::SmallDenseSet<Value> known;
  for (Operation *op : ops) {
    if (BatchMove::get(op))
      return false;
    for (Value result : op->getResults()) {
      std::optional<LogicalType> type = LogicalType::get(result);
      if (!type || type->isDense() || ArrayRef(type->path) != path)
        return false;
    }
    for (Value operand : op->getOperands()) {
      known.insert(schedule.getBuffer(operand));
      Operation *def = operand.getDefiningOp();
      if (!def || def->hasTrait<OpTrait::ConstantLike>())
        continue;
      std::optional<LogicalType> type = LogicalType::get(operand);
      if (!isKernel(def) || !type)
        return false;
      if (!type->isDense() && ArrayRef(type->path) != path)
        return false;
    }
  }
  return llvm::all_of(emitted.memrefs, [&](Value memref) {
    auto buffer = memref.getDefiningOp<BufferOp>();
    if (!buffer || buffer.getKind() != "temp" || known.contains(memref))
      return true;
    auto total = buffer.getTotal() ? buffer.getTotal().getDefiningOp<TableOp>()
                                   : TableOp();
    return total && !buffer.getChunk() && toPath(total.getPath()) == path;
  });
}
