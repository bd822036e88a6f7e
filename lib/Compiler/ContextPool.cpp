//===- ContextPool.cpp - MLIR contexts that are used again ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContextPool.h"

#include "nested/Pipelines/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Remarks.h"
#include <mutex>
#include <vector>

using namespace mlir;
using namespace nested;

static constexpr unsigned kMaxUses = 64;
static constexpr size_t kMaxIdle = 4;

namespace {
struct Pool {
  std::mutex mutex;
  std::vector<PooledContext::Entry> idle;
  DialectRegistry registry;

  Pool() { registerCompilerDialects(registry); }
};
} // namespace

/// Never destroyed: threads may still compile while the process ends.
static Pool &getPool() {
  static Pool *pool = new Pool;
  return *pool;
}

PooledContext::PooledContext() {
  Pool &pool = getPool();
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (!pool.idle.empty()) {
      entry = std::move(pool.idle.back());
      pool.idle.pop_back();
      return;
    }
  }
  // Programs are small: threads would cost more than they gain.
  entry.context = std::make_unique<MLIRContext>(
      pool.registry, MLIRContext::Threading::DISABLED);
  // Users see their own line; the operation in generic form says nothing more.
  entry.context->printOpOnDiagnostic(false);
}

PooledContext::~PooledContext() {
  entry.context->setRemarkEngine(nullptr);
  if (++entry.uses >= kMaxUses)
    return;
  Pool &pool = getPool();
  std::lock_guard<std::mutex> lock(pool.mutex);
  if (pool.idle.size() < kMaxIdle)
    pool.idle.push_back(std::move(entry));
}
