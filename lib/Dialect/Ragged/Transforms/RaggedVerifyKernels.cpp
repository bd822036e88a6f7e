//===- RaggedVerifyKernels.cpp - Contract of the kernels phase ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDVERIFYKERNELS
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedVerifyKernels
    : nested::ragged::impl::RaggedVerifyKernelsBase<RaggedVerifyKernels> {
  void runOnOperation() override;
};
} // namespace

void RaggedVerifyKernels::runOnOperation() {
  WalkResult result = getOperation().walk([](Operation *op) {
    if (!isa<GenericOp, GatherOp, GeneralizableOpInterface,
             IndexedLoadOpInterface>(op))
      return WalkResult::advance();
    op->emitOpError("should be part of a `ragged.kernel`");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
