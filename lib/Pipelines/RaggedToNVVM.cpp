//===- RaggedToNVVM.cpp - The whole way to GPU code -----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/StructureToGPU/Passes.h"
#include "nested/Pipelines/Phases.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void nested::registerRaggedToNVVM() {
  PassPipelineRegistration<GPUOptions>(
      "ragged-to-nvvm", "From the tensor phase to kernels in the NVVM dialect",
      [](OpPassManager &pm, const GPUOptions &options) {
        PhaseOptions phases;
        phases.target = "cuda:" + options.chip;
        buildPhases(pm, Phase::Tensor, Phase::Structure, phases);
        buildStructureToGPU(pm, options);
        buildGPUToNVVM(pm, options);
      });
}
