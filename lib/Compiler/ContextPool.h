//===- ContextPool.h - MLIR contexts that are used again --------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_COMPILER_CONTEXTPOOL_H
#define NESTED_LIB_COMPILER_CONTEXTPOOL_H

#include "mlir/IR/MLIRContext.h"
#include <memory>

namespace nested {

/// A context with all dialects of the compiler, for one user at a time. Making
/// one and loading its dialects takes longer than compiling a small program,
/// so contexts go back to a pool. They never forget a type or an attribute:
/// after some uses they are thrown away.
class PooledContext {
public:
  PooledContext();
  ~PooledContext();
  PooledContext(const PooledContext &) = delete;
  PooledContext &operator=(const PooledContext &) = delete;

  mlir::MLIRContext *get() const { return entry.context.get(); }

  struct Entry {
    std::unique_ptr<mlir::MLIRContext> context;
    unsigned uses = 0;
  };

private:
  Entry entry;
};

} // namespace nested

#endif // NESTED_LIB_COMPILER_CONTEXTPOOL_H
