//===- VerifyLoops.cpp - The contract of the loops phase ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace nested {
#define GEN_PASS_DEF_VERIFYLOOPS
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;

namespace {

struct VerifyLoops : public nested::impl::VerifyLoopsBase<VerifyLoops> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttr))
      return;
    bool ok = true;
    function.walk([&](Operation *op) {
      if (op == function || check(op))
        return;
      ok = false;
    });
    if (!ok)
      signalPassFailure();
  }

private:
  static bool check(Operation *op);
};

bool isTensor(Type type) { return isa<TensorType>(type); }

} // namespace

bool VerifyLoops::check(Operation *op) {
  static constexpr StringLiteral allowed[] = {
      "affine", "arith", "func", "math", "memref", "scf", "ub", "vector"};
  if (!op->getDialect() ||
      !llvm::is_contained(allowed, op->getDialect()->getNamespace())) {
    op->emitOpError("cannot be in a kernel of the loops phase");
    return false;
  }
  if (isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op)) {
    op->emitOpError("allocates memory; kernels only have their scratch memory");
    return false;
  }
  if (isa<memref::CopyOp>(op)) {
    op->emitOpError("copies a memref; kernels copy with loops and vectors");
    return false;
  }
  if (llvm::any_of(op->getOperandTypes(), isTensor) ||
      llvm::any_of(op->getResultTypes(), isTensor)) {
    op->emitOpError("has tensors, which kernels of the loops phase do not");
    return false;
  }
  return true;
}
