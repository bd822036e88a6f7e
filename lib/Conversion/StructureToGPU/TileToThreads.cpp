//===- TileToThreads.cpp - Tile programs for the threads of a block -------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToGPU/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nested {
#define GEN_PASS_DEF_TILETOTHREADS
#include "nested/Conversion/StructureToGPU/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {

struct TileToThreads : public nested::impl::TileToThreadsBase<TileToThreads> {
  using TileToThreadsBase::TileToThreadsBase;

  void runOnOperation() override;

private:
  LogicalResult generalize(IRRewriter &rewriter);
  void guardStores(IRRewriter &rewriter, const ThreadIds &ids);
};

FailureOr<TileRows> findRows(scf::ForOp loop) {
  TileRows result;
  for (Operation &op : *loop.getBody()) {
    TileRows found;
    auto rows = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getDimSize(0);
    };
    if (auto load = dyn_cast<ragged::TileLoadOp>(op))
      found = {rows(load.getResult()), load.getLive()};
    else if (auto gather = dyn_cast<ragged::TileGatherOp>(op))
      found = {rows(gather.getResult()), gather.getLive()};
    else if (auto store = dyn_cast<ragged::TileStoreOp>(op))
      found = {rows(store.getValue()), store.getLive()};
    else if (auto fold = dyn_cast<ragged::TileFoldOp>(op))
      found = {rows(fold.getFlush()), fold.getLive()};
    else
      continue;
    if (result.rows && (result.rows != found.rows || result.live != found.live))
      return op.emitOpError("has other rows than the ops before it");
    result = found;
  }
  if (!result.rows)
    return loop.emitOpError("has the attribute '")
           << kTileLoopAttr << "' but accesses no rows";
  return result;
}

} // namespace

LogicalResult TileToThreads::generalize(IRRewriter &rewriter) {
  SmallVector<linalg::LinalgOp> named;
  getOperation().walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (!op.hasPureTensorSemantics())
      return op.emitOpError("is not on tensors");
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitOpError("has no generic form");
  }
  return success();
}

/// Scalar code runs in all threads, but writes once.
void TileToThreads::guardStores(IRRewriter &rewriter, const ThreadIds &ids) {
  SmallVector<memref::StoreOp> stores;
  getOperation().walk([&](memref::StoreOp op) { stores.push_back(op); });
  for (memref::StoreOp op : stores) {
    rewriter.setInsertionPoint(op);
    auto guard = scf::IfOp::create(rewriter, op.getLoc(), ids.leader,
                                   /*withElseRegion=*/false);
    rewriter.moveOpBefore(op, guard.thenBlock()->getTerminator());
  }
}

void TileToThreads::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(kKernelAttr) || function.isExternal())
    return;
  if (auto op = function->getAttrOfType<StringAttr>(kLoopKernelAttr)) {
    function.emitError("'")
        << op.getValue() << "' has no kernel for GPUs yet; expected target "
        << "'cpu'";
    return signalPassFailure();
  }
  if (threads <= 0 || threads % kLanes != 0 || threads > 1024) {
    function.emitError("a block has a multiple of 32 threads, at most 1024, "
                       "but 'threads' is ")
        << threads.getValue();
    return signalPassFailure();
  }
  IRRewriter rewriter(&getContext());
  if (failed(generalize(rewriter)))
    return signalPassFailure();
  rewriter.setInsertionPointToStart(&function.getBody().front());
  ThreadIds ids = ThreadIds::create(rewriter, function.getLoc(), threads);
  guardStores(rewriter, ids);
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) {
    if (loop->hasAttr(kTileLoopAttr))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    FailureOr<TileRows> tile = findRows(loop);
    if (failed(tile))
      return signalPassFailure();
    FailureOr<TileGraph> graph = TileGraph::build(loop, tile->rows);
    if (failed(graph))
      return signalPassFailure();
    if (failed(ThreadEmitter(rewriter, loop, *tile, *graph, ids).run()))
      return signalPassFailure();
  }
}
