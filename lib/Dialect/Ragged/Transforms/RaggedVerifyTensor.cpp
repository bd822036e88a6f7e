//===- RaggedVerifyTensor.cpp - Contract of the tensor phase ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDVERIFYTENSOR
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedVerifyTensor
    : nested::ragged::impl::RaggedVerifyTensorBase<RaggedVerifyTensor> {
  void runOnOperation() override;
};
} // namespace

void RaggedVerifyTensor::runOnOperation() {
  if (failed(verifySymbols(getOperation())))
    return signalPassFailure();
  WalkResult result = getOperation().walk([](Operation *op) {
    if (!isa<KernelOp, ScheduleOp, TileLoadOp, TileGatherOp, TileStoreOp,
             TileFoldOp>(op))
      return WalkResult::advance();
    op->emitOpError("belongs to a later phase than `tensor`");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
