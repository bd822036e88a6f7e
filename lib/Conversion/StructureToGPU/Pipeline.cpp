//===- Pipeline.cpp - From the structure phase to GPU code ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToGPU/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// What a block may have as dynamic memory.
static int64_t getWorkgroupLimit(StringRef chip) {
  unsigned number = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, number);
  if (number >= 90 && number < 120)
    return 227 * 1024;
  if (number == 80 || number == 87)
    return 163 * 1024;
  return 99 * 1024;
}

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void nested::buildStructureToGPU(OpPassManager &pm, const GPUOptions &options) {
  OpPassManager &function = pm.nest<func::FuncOp>();
  TileToThreadsOptions threads;
  threads.threads = options.threads;
  function.addPass(createTileToThreads(threads));
  addCleanup(function);
  function.addPass(createDefineArithmetic());
  // No library is linked: functions become polynomials here, too.
  function.addPass(createApproximateMath());
  PlaceWorkgroupMemoryOptions memory;
  memory.maxBytes = getWorkgroupLimit(options.chip);
  function.addPass(createPlaceWorkgroupMemory(memory));
  addCleanup(function);
  KernelsToGPUOptions kernels;
  kernels.threads = options.threads;
  pm.addPass(createKernelsToGPU(kernels));
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  addCleanup(device);
  device.addPass(createLoopInvariantCodeMotionPass());
}

void nested::buildGPUToNVVM(OpPassManager &pm, const GPUOptions &options) {
  GpuNVVMAttachTargetOptions target;
  target.chip = options.chip;
  // Without it LLVM aborts for what is newer than its default.
  target.features = "+ptx80";
  target.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(target));
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createKernelsToNVVM());
  addCleanup(device);
  device.addPass(createReconcileUnrealizedCastsPass());
}

void nested::registerGPUPipelines() {
  PassPipelineRegistration<GPUOptions>(
      "structure-to-gpu", "From the structure phase to kernels of a GPU module",
      buildStructureToGPU);
  PassPipelineRegistration<GPUOptions>(
      "gpu-to-nvvm", "From kernels of a GPU module to the NVVM dialect",
      buildGPUToNVVM);
}
