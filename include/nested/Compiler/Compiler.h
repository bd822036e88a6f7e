//===- Compiler.h - From program text to an artifact ------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole compiler behind a few functions, which nested-compile, the C API
// and through it Python call. They may be called from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_COMPILER_COMPILER_H
#define NESTED_COMPILER_COMPILER_H

#include "nested/Dialect/Ragged/Transforms/Fusion.h"

#include "nested/Pipelines/Phases.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace nested {

/// How a compilation ended; also the exit codes of the tools.
enum class Status {
  Ok = 0,
  UserError = 1,
  BadCommandLine = 2,
  EnvironmentError = 3,
  InternalError = 4
};

struct CompileOptions {
  /// Which machine to compile for; see TargetSpec::parse.
  std::string target = "cpu";
  /// Compiles only this entry; empty: all.
  std::string entry;
  /// Leaves the program out of the artifact.
  bool stripIR = false;
  /// How operations are put together into kernels.
  ragged::Fusion fuse = ragged::Fusion::Cost;
  /// Whether results may differ in their last bits from sums in the program's
  /// order.
  bool reassociate = true;
  /// Of LLVM: 0 nothing, 1 what kernels profit from, 2 and 3 its own -O2, -O3.
  unsigned optLevel = 1;
  /// What diagnostics call the text.
  std::string fileName = "<program>";
  /// Gets each optimization remark as one line; null: there are none.
  std::function<void(llvm::StringRef)> onRemark;
};

/// Whether the options have values that there are; the functions below check it
/// too, but then it is a mistake like any other.
llvm::Error checkOptions(const CompileOptions &options);

/// How long a part of a compilation took.
struct PhaseTime {
  std::string name;
  double milliseconds;
};

/// What a compilation says besides its result.
struct CompileReport {
  /// Warnings; when the compilation failed, they are in the error as well.
  std::string diagnostics;
  std::vector<PhaseTime> times;
};

using Bytes = llvm::SmallVector<char, 0>;

/// Compiles a program in any phase to an artifact (docs/Artifact.md). The
/// error has the diagnostics as text, with source lines and notes.
llvm::Expected<Bytes> compileToArtifact(llvm::StringRef text,
                                        const CompileOptions &options = {},
                                        CompileReport *report = nullptr);

/// The same for a module; it is lowered in place.
llvm::Expected<Bytes> compileToArtifact(mlir::ModuleOp module,
                                        const CompileOptions &options = {},
                                        CompileReport *report = nullptr);

/// Compiles up to a phase: MLIR text, or for `object` an object file.
llvm::Expected<Bytes> lowerText(llvm::StringRef text, Phase phase,
                                const CompileOptions &options = {},
                                CompileReport *report = nullptr);

/// What can be had of the kernels for a GPU.
enum class DeviceCode { LLVMIR, PTX };

/// Compiles a program for the GPU that `options.target` names, to text.
llvm::Expected<Bytes> compileToDeviceCode(llvm::StringRef text, DeviceCode kind,
                                          const CompileOptions &options,
                                          CompileReport *report = nullptr);

/// Lowers a module in place to a phase other than `object`. Diagnostics go to
/// the handlers of its context.
llvm::Error lowerToPhase(mlir::ModuleOp module, Phase phase,
                         const CompileOptions &options = {},
                         CompileReport *report = nullptr);

/// The program text inside an artifact; an error if it was stripped.
llvm::Expected<std::string> getProgramText(llvm::StringRef artifact);

/// Whose mistake an error of one of these functions is.
Status getStatus(const std::error_code &code);

/// Takes an error apart into its text and its status.
Status consumeStatus(llvm::Error error, std::string &message);

} // namespace nested

#endif // NESTED_COMPILER_COMPILER_H
