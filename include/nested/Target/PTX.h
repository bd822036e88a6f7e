//===- PTX.h - From the NVVM dialect to PTX ---------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TARGET_PTX_H
#define NESTED_TARGET_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"
#include <string>

namespace nested {

/// A GPU, by its name in PTX.
struct GPUSpec {
  std::string chip;

  /// Reads the text of `--target`: `cuda:sm_80`, `cuda:sm_90a`, ...
  static llvm::Expected<GPUSpec> parse(llvm::StringRef text);
  /// Whether a target is meant to be a GPU.
  static bool isGPU(llvm::StringRef text);
};

/// The kernels of a GPU module in the NVVM dialect as LLVM IR, optimized for
/// the GPU, or as PTX. Nothing but LLVM is needed. Does not change the module.
llvm::Expected<std::string> translateToDeviceIR(mlir::gpu::GPUModuleOp module,
                                                const GPUSpec &gpu);
llvm::Expected<std::string> translateToPTX(mlir::gpu::GPUModuleOp module,
                                           const GPUSpec &gpu);

} // namespace nested

#endif // NESTED_TARGET_PTX_H
