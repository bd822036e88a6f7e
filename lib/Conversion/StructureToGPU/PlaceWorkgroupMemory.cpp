//===- PlaceWorkgroupMemory.cpp - Buffers of a block of threads -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer is live, in the block that allocates it, from the first op that uses
// it to the first barrier behind the last one: threads may get there at
// different times. If there is no such barrier, it is live in all of the block.
//
//===----------------------------------------------------------------------===//

#include "../StructureToLoops/BufferPlacement.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToGPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace nested {
#define GEN_PASS_DEF_PLACEWORKGROUPMEMORY
#include "nested/Conversion/StructureToGPU/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;

namespace {

constexpr int64_t kAlignment = 128;

struct PlaceWorkgroupMemory
    : public nested::impl::PlaceWorkgroupMemoryBase<PlaceWorkgroupMemory> {
  using PlaceWorkgroupMemoryBase::PlaceWorkgroupMemoryBase;

  void runOnOperation() override;

private:
  LogicalResult collect();

  SmallVector<PlacedBuffer> buffers;
};

} // namespace

LogicalResult PlaceWorkgroupMemory::collect() {
  func::FuncOp function = getOperation();
  OpSpans spans = numberOps(function);

  WalkResult walk = function.walk([&](memref::AllocOp op) {
    MemRefType type = op.getType();
    Type element = type.getElementType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
      op.emitOpError("has no static size; workgroup memory has a fixed one");
      return WalkResult::interrupt();
    }
    if (!gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type)) {
      op.emitOpError("is not in workgroup memory");
      return WalkResult::interrupt();
    }
    Block *block = op->getBlock();
    Operation *first = nullptr, *last = nullptr;
    for (Operation *user : op->getUsers()) {
      Operation *node = block->findAncestorOpInBlock(*user);
      if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<MemRefType>)) {
        user->emitOpError("makes a view of workgroup memory");
        return WalkResult::interrupt();
      }
      if (!first || node->isBeforeInBlock(first))
        first = node;
      if (!last || last->isBeforeInBlock(node))
        last = node;
    }
    if (!first)
      return WalkResult::advance();
    int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    int64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
    PlacedBuffer buffer{op,
                        static_cast<int64_t>(llvm::alignTo(bytes, kAlignment)),
                        spans[first].first, spans[last].second};
    Operation *end = last->getNextNode();
    while (end && !isa<gpu::BarrierOp>(end))
      end = end->getNextNode();
    if (end)
      buffer.last = spans[end].first;
    else
      std::tie(buffer.first, buffer.last) = spans[block->getParentOp()];
    buffers.push_back(buffer);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

void PlaceWorkgroupMemory::runOnOperation() {
  func::FuncOp function = getOperation();
  buffers.clear();
  if (!function->hasAttr(kKernelAttr) || function.isExternal())
    return;
  if (failed(collect()))
    return signalPassFailure();
  int64_t total = placeBuffers(buffers);
  if (total > maxBytes) {
    function.emitError("needs ")
        << total << " bytes of workgroup memory, but a block has "
        << maxBytes.getValue();
    return signalPassFailure();
  }
  OpBuilder b(&getContext());
  function->setAttr(kWorkgroupBytesAttr, b.getI64IntegerAttr(total));
  if (buffers.empty())
    return;
  b.setInsertionPointToStart(&function.getBody().front());
  auto space =
      gpu::AddressSpaceAttr::get(&getContext(), gpu::AddressSpace::Workgroup);
  Value memory = gpu::DynamicSharedMemoryOp::create(
      b, function.getLoc(),
      MemRefType::get({ShapedType::kDynamic}, b.getI8Type(),
                      MemRefLayoutAttrInterface(), space));
  for (PlacedBuffer &buffer : buffers) {
    Location loc = buffer.op.getLoc();
    Value offset = arith::ConstantIndexOp::create(b, loc, buffer.offset);
    Value view = memref::ViewOp::create(b, loc, buffer.op.getType(), memory,
                                        offset, ValueRange());
    buffer.op.replaceAllUsesWith(view);
    buffer.op.erase();
  }
}
