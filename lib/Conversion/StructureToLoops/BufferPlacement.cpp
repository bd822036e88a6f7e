//===- BufferPlacement.cpp - Buffers of a kernel by lifetime --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferPlacement.h"

using namespace mlir;
using namespace nested;

static void number(Operation *op, int64_t &counter, OpSpans &spans) {
  int64_t first = counter++;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(&inner, counter, spans);
  spans[op] = {first, counter++};
}

OpSpans nested::numberOps(Operation *op) {
  OpSpans spans;
  int64_t counter = 0;
  number(op, counter, spans);
  return spans;
}

int64_t nested::placeBuffers(MutableArrayRef<PlacedBuffer> buffers) {
  SmallVector<PlacedBuffer *> order;
  for (PlacedBuffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](PlacedBuffer *a, PlacedBuffer *b) {
    return std::make_pair(-a->size, a->first) <
           std::make_pair(-b->size, b->first);
  });
  SmallVector<PlacedBuffer *> placed;
  int64_t total = 0;
  for (PlacedBuffer *buffer : order) {
    SmallVector<PlacedBuffer *> conflicts;
    for (PlacedBuffer *other : placed)
      if (buffer->meets(*other))
        conflicts.push_back(other);
    llvm::sort(conflicts, [](PlacedBuffer *a, PlacedBuffer *b) {
      return std::make_pair(a->offset, a->first) <
             std::make_pair(b->offset, b->first);
    });
    for (PlacedBuffer *other : conflicts) {
      if (buffer->offset + buffer->size <= other->offset)
        break;
      buffer->offset = std::max(buffer->offset, other->offset + other->size);
    }
    placed.push_back(buffer);
    total = std::max(total, buffer->offset + buffer->size);
  }
  return total;
}
