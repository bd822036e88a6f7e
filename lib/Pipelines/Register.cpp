//===- Register.cpp - Registration of dialects, passes, pipelines ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that includes upstream's InitAll headers.
//
//===----------------------------------------------------------------------===//

#include "nested/Pipelines/Register.h"

#include "nested/Conversion/KernelsToStructure/Passes.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToGPU/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"
#include "nested/Pipelines/Phases.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;

void nested::registerCompilerDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<ragged::RaggedDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerGPUDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

void nested::registerAllNested(DialectRegistry &registry) {
  registerCompilerDialects(registry);
  mlir::registerAllPasses();
  ragged::registerRaggedPasses();
  registerKernelsToStructurePasses();
  registerStructureToGPUPasses();
  registerGPUPipelines();
  registerStructureToLoopsPasses();
  registerTilePipeline();
  registerLoopsToLLVMPasses();
  registerPhasePipelines();
  registerRaggedToNVVM();
}
