//===- RaggedVerifyGeneric.cpp - Contract of the generic phase ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDVERIFYGENERIC
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedVerifyGeneric
    : nested::ragged::impl::RaggedVerifyGenericBase<RaggedVerifyGeneric> {
  void runOnOperation() override;
};
} // namespace

void RaggedVerifyGeneric::runOnOperation() {
  if (failed(verifySymbols(getOperation())))
    return signalPassFailure();
  WalkResult result = getOperation().walk([](Operation *op) {
    if (isa<GeneralizableOpInterface>(op))
      op->emitOpError("should have become `ragged.generic`");
    else if (isa<CastOp, CallOp>(op))
      op->emitOpError("should have been resolved in the `tensor` phase");
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
