//===- Pipeline.cpp - From the structure phase to loops -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void nested::buildStructureToLoops(OpPassManager &pm,
                                   const TileOptions &options) {
  {
    OpPassManager &function = pm.nest<func::FuncOp>();
    TileContractOptions contract;
    contract.vectorBits = options.vectorBits;
    function.addPass(createTileContract(contract));
    TileAttentionOptions attention;
    attention.vectorBits = options.vectorBits;
    function.addPass(createTileAttention(attention));
    TileBodyOptions body;
    body.vectorBits = options.vectorBits;
    body.blockRows = options.blockRows;
    body.blockColumns = options.blockColumns;
    body.packBytes = options.packBytes;
    function.addPass(createTileSplitColumns());
    function.addPass(createTileBody(body));
  }
  pm.addPass(createOutlineShared());
  {
    OpPassManager &function = pm.nest<func::FuncOp>();
    TileColumnsOptions columns;
    columns.vectorBits = options.vectorBits;
    // A chunk of f32 fills half of the registers of AVX2, a quarter of those of
    // AVX-512 and NEON. What needs no loop must hold the accumulators of a
    // register block: 24 vectors, or 12.
    columns.chunk = options.vectorBits / 4;
    columns.maxElements = std::max<int64_t>(
        options.vectorBits == 512 ? 512 : options.vectorBits / 2, 128);
    function.addPass(createTileColumns(columns));
    // Not canonicalized before they are vectors: copies of rows would be folded
    // into slices, and come back as copies of memrefs.
    function.addPass(createCSEPass());
    function.addPass(createTileVectorize());
    function.addPass(createCanonicalizerPass());
    function.addPass(createCSEPass());
  }
  pm.addPass(createTileBufferize());
  {
    OpPassManager &function = pm.nest<func::FuncOp>();
    function.addPass(createCanonicalizerPass());
    function.addPass(createCSEPass());
    function.addPass(createTileScratch());
    function.addPass(createLoopInvariantCodeMotionPass());
    function.addPass(createVerifyLoops());
  }
  pm.addPass(createMarkPrepared());
  pm.addPass(createMarkInPlace());
}

void nested::registerTilePipeline() {
  PassPipelineRegistration<TileOptions>(
      "lower-tile-programs",
      "The phase structure-to-loops with the options of its target",
      [](OpPassManager &pm, const TileOptions &options) {
        buildStructureToLoops(pm, options);
      });
}
