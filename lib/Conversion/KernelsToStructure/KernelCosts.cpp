//===- KernelCosts.cpp - FLOPs and bytes of a kernel's rows ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace nested::ragged;

/// FLOPs and bytes of a row, for plans and remarks: formulas of what the
/// program asks for, not of what caches make of it.
void nested::ragged::countCosts(KernelOp kernel, EmittedKernel &emitted) {
  llvm::SmallDenseSet<Value> ofRows = {kernel.getBody().getArgument(0)};
  for (Operation &op : kernel.getBody().front()) {
    // What all tiles share is made once.
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return ofRows.contains(value); }))
      ofRows.insert_range(op.getResults());
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (!ofRows.contains(op.getResult(0)))
        continue;
      int64_t points = 1, work = 0;
      for (int64_t size : linalgOp.getStaticLoopRanges())
        points *= size;
      points /= kernel.getTile();
      for (Operation &inside : linalgOp.getBlock()->without_terminator())
        if (inside.getNumResults() == 1 &&
            isa<FloatType>(inside.getResult(0).getType()) &&
            !inside.hasTrait<OpTrait::ConstantLike>())
          ++work;
      emitted.flopsPerRow += points * work;
    } else if (auto reduce = dyn_cast<TileReduceOp>(op)) {
      auto type = cast<RankedTensorType>(reduce.getInputs()[0].getType());
      if (isa<FloatType>(type.getElementType()))
        emitted.flopsPerRow += type.getNumElements() / type.getDimSize(0);
    } else if (auto access = dyn_cast<TileAccessOpInterface>(op)) {
      emitted.bytesPerRow += access.getBytesPerRow();
    }
  }
  for (Value value : kernel.getBody().front().getTerminator()->getOperands()) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!value.getDefiningOp<TileReduceOp>())
      emitted.bytesPerRow += type.getNumElements() / type.getDimSize(0) *
                             ((type.getElementTypeBitWidth() + 7) / 8);
  }
}
