//===- Passes.h - From the structure phase to GPU kernels -------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_CONVERSION_STRUCTURETOGPU_PASSES_H
#define NESTED_CONVERSION_STRUCTURETOGPU_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/StringRef.h"

namespace nested {

#define GEN_PASS_DECL
#include "nested/Conversion/StructureToGPU/Passes.h.inc"

/// How much workgroup memory a block of a kernel needs.
inline constexpr llvm::StringLiteral kWorkgroupBytesAttr =
    "ragged.workgroup_bytes";

/// The `gpu.module` with the kernels.
inline constexpr llvm::StringLiteral kGPUModuleName = "kernels";

/// What GPU code is generated for.
struct GPUOptions : mlir::PassPipelineOptions<GPUOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("sm_80, sm_90a, or another one"),
                           llvm::cl::init("sm_90a")};
  Option<int64_t> threads{*this, "threads",
                          llvm::cl::desc("Threads of a block"),
                          llvm::cl::init(256)};
};

/// From kernels of the structure phase to `gpu.module @kernels`.
void buildStructureToGPU(mlir::OpPassManager &pm, const GPUOptions &options);

/// From there to the LLVM and NVVM dialects, with an `#nvvm.target`.
void buildGPUToNVVM(mlir::OpPassManager &pm, const GPUOptions &options);

/// Makes them known as `structure-to-gpu` and `gpu-to-nvvm`.
void registerGPUPipelines();

#define GEN_PASS_REGISTRATION
#include "nested/Conversion/StructureToGPU/Passes.h.inc"

} // namespace nested

#endif // NESTED_CONVERSION_STRUCTURETOGPU_PASSES_H
