//===- TileScratch.cpp - Buffers of a kernel in its scratch memory --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer is live, within the block that allocates it, from the first op that
// contains a use of it or of a view of it to the last one. Its contents do not
// survive an iteration of the loop around that block, so this holds inside of
// loops too.
//
//===----------------------------------------------------------------------===//

#include "BufferPlacement.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace nested {
#define GEN_PASS_DEF_TILESCRATCH
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;

namespace {

constexpr int64_t kAlignment = 64;

struct TileScratch : public nested::impl::TileScratchBase<TileScratch> {
  void runOnOperation() override;

private:
  FailureOr<SmallVector<PlacedBuffer>> collect();
};

} // namespace

FailureOr<SmallVector<PlacedBuffer>> TileScratch::collect() {
  func::FuncOp function = getOperation();
  SmallVector<memref::AllocOp> allocs;
  bool ok = true;
  function.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      MemRefType type = alloc.getType();
      if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
        alloc.emitOpError("has no static size; kernels have scratch memory of "
                          "fixed size");
        ok = false;
      }
      allocs.push_back(alloc);
    } else if (isa<memref::AllocaOp>(op)) {
      op->emitOpError("is a stack allocation, which kernels do not have");
      ok = false;
    }
  });
  if (!ok)
    return failure();

  OpSpans span = numberOps(function);

  BufferViewFlowAnalysis views(function);
  SmallVector<PlacedBuffer> buffers;
  for (memref::AllocOp alloc : allocs) {
    MemRefType type = alloc.getType();
    int64_t bits =
        type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    PlacedBuffer buffer{
        alloc,
        static_cast<int64_t>(llvm::alignTo(
            type.getNumElements() * llvm::divideCeil(bits, 8), kAlignment)),
        span[alloc].first, span[alloc].second};
    for (Value view : views.resolve(alloc.getResult()))
      for (Operation *user : view.getUsers())
        if (Operation *node = alloc->getBlock()->findAncestorOpInBlock(*user))
          buffer.last = std::max(buffer.last, span[node].second);
    buffers.push_back(buffer);
  }
  return buffers;
}

void TileScratch::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!function->hasAttr(kKernelAttr) || function.isExternal())
    return;
  FailureOr<SmallVector<PlacedBuffer>> buffers = collect();
  if (failed(buffers))
    return signalPassFailure();
  function.walk([](memref::DeallocOp op) { op.erase(); });
  if (buffers->empty())
    return;
  int64_t total = placeBuffers(*buffers);

  OpBuilder b(&getContext());
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  unsigned last = function.getNumArguments();
  if (failed(function.insertArgument(last, type, {}, function.getLoc())))
    return signalPassFailure();
  Value scratch = function.getArgument(last);
  b.setInsertionPointToStart(&function.getBody().front());
  for (PlacedBuffer &buffer : *buffers) {
    Location loc = buffer.op.getLoc();
    Value offset = arith::ConstantIndexOp::create(b, loc, buffer.offset);
    Value view = memref::ViewOp::create(b, loc, buffer.op.getType(), scratch,
                                        offset, ValueRange());
    buffer.op.replaceAllUsesWith(view);
    buffer.op.erase();
  }
  function->setAttr(kScratchBytesAttr, b.getI64IntegerAttr(total));
}
