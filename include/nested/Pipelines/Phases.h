//===- Phases.h - The phases of compilation ---------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program goes through phases, each with a contract that a verify pass
// checks. One function builds the passes that lead into each phase; the
// command line, the compiler library and the tests use the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_PIPELINES_PHASES_H
#define NESTED_PIPELINES_PHASES_H

#include "nested/Dialect/Ragged/Transforms/Fusion.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace nested {

/// In the order in which a program goes through them.
enum class Phase { Tensor, Generic, Kernels, Structure, Loops, LLVM, Object };

llvm::StringRef stringifyPhase(Phase phase);
std::optional<Phase> symbolizePhase(llvm::StringRef name);
/// "tensor, generic, ..., object".
std::string listPhases();

/// The module attribute that says in which phase a module is.
inline constexpr llvm::StringLiteral kPhaseAttr = "ragged.phase";

/// The phase of a module: what `ragged.phase` says, else what its contents
/// look like. A failure has been reported.
mlir::FailureOr<Phase> getPhase(mlir::ModuleOp module);

/// What the passes of the phases before `loops` may be told.
struct PhaseOptions {
  /// The target, as in `--target`.
  std::string target = "cpu";
  /// How operations are put together into kernels.
  ragged::Fusion fuse = ragged::Fusion::Cost;
  /// Whether results may differ in their last bits from sums in the program's
  /// order.
  bool reassociate = true;
};

/// The passes that bring a module from the phase before into the named one.
void buildToGeneric(mlir::OpPassManager &pm, const PhaseOptions &options = {});
void buildToKernels(mlir::OpPassManager &pm, const PhaseOptions &options = {});
void buildToStructure(mlir::OpPassManager &pm,
                      const PhaseOptions &options = {});
void buildToLoops(mlir::OpPassManager &pm, const PhaseOptions &options = {});
void buildToLLVM(mlir::OpPassManager &pm, const PhaseOptions &options = {});

/// Adds the passes from `from` to `to`; neither is `Object`.
void buildPhases(mlir::OpPassManager &pm, Phase from, Phase to,
                 const PhaseOptions &options = {});

/// Makes the builders known as `to-generic`, ..., and `loops-to-llvm`.
void registerPhasePipelines();

/// Makes the whole way to GPU code known as `ragged-to-nvvm`.
void registerRaggedToNVVM();

} // namespace nested

#endif // NESTED_PIPELINES_PHASES_H
