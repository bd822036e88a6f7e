//===- Artifact.h - The container of a compiled program ---------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/Artifact.md is the specification. The runtime has a reader of its own.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TARGET_ARTIFACT_H
#define NESTED_TARGET_ARTIFACT_H

#include "nested/Target/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace nested {

/// The sections of an artifact.
struct ArtifactSections {
  llvm::StringRef payload;
  llvm::StringRef manifest;
  llvm::StringRef program;
};

/// Puts the sections into one file.
llvm::SmallVector<char, 0> writeArtifact(const ArtifactSections &sections);

/// Takes a file apart; the result refers to `bytes`. Checks the footer and the
/// checksum, each failure with its own message.
llvm::Expected<ArtifactSections> readArtifact(llvm::StringRef bytes);

/// The manifest of a module in the llvm phase, from its `ragged.schedule`
/// operations and the attributes of its kernels.
llvm::Expected<llvm::json::Value> buildManifest(mlir::ModuleOp module,
                                                const TargetSpec &target);

/// Writes to a temporary file beside `path` and renames it, so that `path` is
/// either the whole new file or what it was. "-" is the standard output.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef bytes);

} // namespace nested

#endif // NESTED_TARGET_ARTIFACT_H
