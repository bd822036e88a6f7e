//===- RaggedVerifyStructure.cpp - Contract of the structure phase ------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Conversion/KernelsToStructure/Passes.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested {
#define GEN_PASS_DEF_RAGGEDVERIFYSTRUCTURE
#include "nested/Conversion/KernelsToStructure/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

namespace {
struct RaggedVerifyStructure
    : nested::impl::RaggedVerifyStructureBase<RaggedVerifyStructure> {
  void runOnOperation() override;
};
} // namespace

/// Memrefs, then index scalars of which the last two are begin and end.
static LogicalResult verifyKernel(func::FuncOp func) {
  ArrayRef<Type> types = func.getArgumentTypes();
  size_t memrefs = llvm::count_if(types, llvm::IsaPred<MemRefType>);
  ArrayRef<Type> scalars = types.drop_front(memrefs);
  bool ordered =
      llvm::all_of(types.take_front(memrefs), llvm::IsaPred<MemRefType>);
  if (ordered && scalars.size() >= 2 &&
      llvm::all_of(scalars, llvm::IsaPred<IndexType>))
    return success();
  return func.emitError(
             "expected a kernel on memrefs, index scalars, begin and end, but "
             "got ")
         << func.getFunctionType();
}

static LogicalResult verifyLaunch(LaunchOp launch, SymbolTable &symbols) {
  auto func = symbols.lookup<func::FuncOp>(launch.getKernel());
  if (!func)
    return launch.emitOpError("expected '")
           << launch.getKernel() << "' to be a kernel function";
  ArrayRef<Type> types = func.getArgumentTypes();
  size_t memrefs = llvm::count_if(types, llvm::IsaPred<MemRefType>);
  size_t given = launch.getMemrefs().size() + (launch.getErrors() ? 1 : 0);
  size_t scalars = types.size() - memrefs - 2;
  if (memrefs == given && scalars == launch.getScalars().size())
    return success();
  return launch.emitOpError("gives ")
         << given << " memrefs and " << launch.getScalars().size()
         << " scalars, but the kernel takes " << memrefs << " and " << scalars;
}

void RaggedVerifyStructure::runOnOperation() {
  auto isRagged = [](Type type) {
    return isa<RaggedTensorType, PartitionType>(type);
  };
  SymbolTable symbols(getOperation());
  for (auto func : getOperation().getOps<func::FuncOp>()) {
    if (!func->hasAttr(kKernelAttr)) {
      func.emitError("expected a kernel: a function with the attribute '")
          << kKernelAttr << "'";
      return signalPassFailure();
    }
    if (failed(verifyKernel(func)))
      return signalPassFailure();
  }
  WalkResult result = getOperation().walk([&](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), isRagged) ||
        llvm::any_of(op->getResultTypes(), isRagged)) {
      op->emitOpError("still has a ragged type");
      return WalkResult::interrupt();
    }
    auto launch = dyn_cast<LaunchOp>(op);
    if (launch && failed(verifyLaunch(launch, symbols)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
