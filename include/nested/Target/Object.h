//===- Object.h - From the LLVM dialect to an object file -------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TARGET_OBJECT_H
#define NESTED_TARGET_OBJECT_H

#include "nested/Target/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Passes/PassBuilder.h"

namespace llvm {
class Module;
} // namespace llvm

namespace nested {

struct ObjectOptions {
  /// Of LLVM: 0 nothing, 1 what kernels profit from, 2 and 3 its own -O2, -O3.
  unsigned optLevel = 1;
  /// Called at the end of "translate", "optimize" and "codegen".
  std::function<void(llvm::StringRef step)> onStep;
};

/// Compiles a module in the llvm phase; its `ragged` operations are skipped.
/// Exported are kernels and the slot of the services table, nothing else.
/// Does not change the module.
llvm::Expected<llvm::SmallVector<char, 0>>
compileToObject(mlir::ModuleOp module, const TargetSpec &target,
                const ObjectOptions &options = {});

/// Runs the passes that `build` chooses. Nothing is vectorized: kernels are
/// vectors already, or, on a GPU, lanes.
void runPasses(
    llvm::Module &module, llvm::TargetMachine &machine,
    llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build);

/// Rewrites what the target has no instructions for and LLVM would turn into
/// calls of a run-time library: rounding and fused multiply-adds.
void expandUnsupportedFloatOps(llvm::Module &module,
                               const llvm::TargetMachine &machine);

} // namespace nested

#endif // NESTED_TARGET_OBJECT_H
