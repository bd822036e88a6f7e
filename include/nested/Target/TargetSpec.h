//===- TargetSpec.h - What code is generated for ----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TARGET_TARGETSPEC_H
#define NESTED_TARGET_TARGETSPEC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace nested {

/// A CPU, by the names of LLVM.
struct TargetSpec {
  std::string triple;
  std::string cpu;
  /// As for -mattr: "+avx2,-avx512f,..."; only what `cpu` does not imply.
  std::string features;

  /// Reads the text of `--target`:
  ///
  ///   cpu                the machine that this runs on
  ///   cpu:NAME           x86-64, x86-64-v3, znver4, ...
  ///   cpu:aarch64        a generic 64-bit Arm processor
  ///   cpu:aarch64-NAME   neoverse-n1, ...
  ///
  /// An unknown name is an error that says which names there are.
  static llvm::Expected<TargetSpec> parse(llvm::StringRef text);

  /// LLVM's description of the target.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() const;

  /// The instruction sets that generated code may use, by LLVM's names, sorted;
  /// tuning flags and what no generated code can use are left out.
  llvm::Expected<std::vector<std::string>> getInstructionSets() const;
};

} // namespace nested

#endif // NESTED_TARGET_TARGETSPEC_H
