//===- KernelMemRefs.h - Memrefs that kernels take --------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memref argument of a kernel is a pointer and a leading size for the runtime
// (docs/Artifact.md, section 3); all else is in its type. On every target.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_CONVERSION_LOOPSTOLLVM_KERNELMEMREFS_H
#define NESTED_CONVERSION_LOOPSTOLLVM_KERNELMEMREFS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir {
class LLVMTypeConverter;
} // namespace mlir

namespace nested {

/// Whether only the leading dimension is dynamic, and the layout the identity.
bool isKernelMemRef(mlir::MemRefType type);

/// Reports argument `number` of a kernel unless its type is a kernel's memref.
mlir::LogicalResult checkKernelMemRef(mlir::func::FuncOp kernel,
                                      unsigned number, mlir::MemRefType type);

/// Whether the memory behind `buffer` is provably not written through it.
bool isOnlyRead(mlir::Value buffer);

/// The memref of a pointer and a leading size (i64): a descriptor in which all
/// else is constant.
mlir::Value buildKernelMemRef(mlir::OpBuilder &b, mlir::Location loc,
                              const mlir::LLVMTypeConverter &converter,
                              mlir::MemRefType type, mlir::Value data,
                              mlir::Value size);

} // namespace nested

#endif // NESTED_CONVERSION_LOOPSTOLLVM_KERNELMEMREFS_H
