//===- RaggedKernelsToStructure.cpp - Packed values, tables and steps ---===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "nested/Conversion/KernelsToStructure/Passes.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"

namespace nested {
#define GEN_PASS_DEF_RAGGEDKERNELSTOSTRUCTURE
#include "nested/Conversion/KernelsToStructure/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

namespace {
struct RaggedKernelsToStructure
    : nested::impl::RaggedKernelsToStructureBase<RaggedKernelsToStructure> {
  using RaggedKernelsToStructureBase::RaggedKernelsToStructureBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    RaggedKernelsToStructureBase::getDependentDialects(registry);
    registry.addExtension(+[](MLIRContext *context, RaggedDialect *) {
      registerSelectKernels(context);
      registerBatchKernels(context);
      registerScanKernels(context);
      registerContractKernels(context);
      registerAttentionKernels(context);
      registerSortKernels(context);
      registerSearchKernels(context);
      registerScatterKernels(context);
    });
  }
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func->hasAttr(kKernelAttr))
        entries.push_back(func);
    for (func::FuncOp entry : entries) {
      if (failed(ScheduleBuilder(entry, vectorBits).run()))
        return signalPassFailure();
      entry.erase();
    }
  }
};
} // namespace
