//===- VerifyLLVMPhase.cpp - The contract of the llvm phase ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace nested {
#define GEN_PASS_DEF_VERIFYLLVMPHASE
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

struct VerifyLLVMPhase
    : public nested::impl::VerifyLLVMPhaseBase<VerifyLLVMPhase> {
  void runOnOperation() override {
    bool ok = true;
    for (Operation &top : *getOperation().getBody()) {
      if (top.getName().getDialectNamespace() == "ragged")
        continue;
      top.walk([&](Operation *op) {
        if (isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
          return;
        ok = false;
        op->emitOpError("is not an operation of the LLVM dialect; it cannot "
                        "be left in the llvm phase");
      });
    }
    if (!ok)
      signalPassFailure();
  }
};

} // namespace
