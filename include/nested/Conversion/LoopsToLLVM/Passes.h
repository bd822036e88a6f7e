//===- Passes.h - From the loops phase to the LLVM dialect ------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_CONVERSION_LOOPSTOLLVM_PASSES_H
#define NESTED_CONVERSION_LOOPSTOLLVM_PASSES_H

#include "nested/Dialect/Ragged/IR/MathAttributes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"

namespace nested {

#define GEN_PASS_DECL
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"

/// Attributes and symbols of the contract between the phases; docs/Artifact.md,
/// section 3, says what they mean at run time.
inline constexpr llvm::StringLiteral kKernelAttr = "ragged.kernel";
/// Of a kernel that only CPUs run: the name of the op that it is the kernel of.
inline constexpr llvm::StringLiteral kLoopKernelAttr = "ragged.loop_kernel";
inline constexpr llvm::StringLiteral kScratchBytesAttr = "ragged.scratch_bytes";
inline constexpr llvm::StringLiteral kMayAliasAttr = "ragged.may_alias";
inline constexpr llvm::StringLiteral kServicesAttr = "ragged.services";
inline constexpr llvm::StringLiteral kServicesSlot = "nested_services_slot";

#define GEN_PASS_REGISTRATION
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"

} // namespace nested

#endif // NESTED_CONVERSION_LOOPSTOLLVM_PASSES_H
