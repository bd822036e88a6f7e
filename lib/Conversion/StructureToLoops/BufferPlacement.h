//===- BufferPlacement.h - Buffers of a kernel by lifetime ------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What scratch memory of a CPU and workgroup memory of a GPU share: buffers
// that do not live at the same time may lie in the same place.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_BUFFERPLACEMENT_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_BUFFERPLACEMENT_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseMap.h"

namespace nested {

/// A buffer with its size in bytes, a multiple of the alignment.
struct PlacedBuffer {
  mlir::memref::AllocOp op;
  int64_t size;
  /// Positions in a numbering of all ops.
  int64_t first, last;
  int64_t offset = 0;

  bool meets(const PlacedBuffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// First and last number of everything inside an op.
using OpSpans = llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>>;

/// Numbers every op inside `op`, itself included, at its start and end.
OpSpans numberOps(mlir::Operation *op);

/// First fit, large buffers first; sets the offsets. Returns the size of the
/// whole.
int64_t placeBuffers(llvm::MutableArrayRef<PlacedBuffer> buffers);

} // namespace nested

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_BUFFERPLACEMENT_H
