//===- Pool.h - Threads that share the grains of a run ----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_POOL_H
#define NESTED_RUNTIME_POOL_H

#include "Support.h"

#include <memory>

namespace nested::rt {

/// `threads` workers: the thread that calls run (worker 0) and helpers. After a
/// job helpers look for the next one before they sleep: for some microseconds,
/// because the next kernel usually follows at once, and for up to two
/// milliseconds while job follows job, most of that time only on processors
/// that no other thread wants. Small jobs don't wake them, unless job follows
/// job.
class Pool {
public:
  explicit Pool(int64_t threads);
  ~Pool();
  Pool(const Pool &) = delete;

  int64_t threads() const { return numThreads; }

  /// What a job does with one piece; `data` is the job's own.
  using Body = void (*)(void *data, int64_t piece, int64_t worker);

  /// Calls body for the pieces [0, pieces), each once, and returns when all
  /// have returned. `isSmall`: on one thread it takes about as long as waking
  /// another. `worker` is below min(threads, pieces), and no two calls
  /// have the same one at the same time. The body must not throw. While the
  /// pool is at work for another thread, or in a child process after fork,
  /// where helpers do not exist, the caller does all pieces itself.
  void run(int64_t pieces, Body body, void *data, bool isSmall = false);

private:
  struct State;
  void stopHelpers();
  static void helperMain(std::shared_ptr<State> state);

  int64_t numThreads;
  std::shared_ptr<State> state; // Null for one thread.
};

/// Processors that this process may use.
int64_t usableProcessors();

/// The pool of plans that bring none.
std::shared_ptr<Pool> defaultPool();
void setDefaultThreads(int64_t threads);
int64_t defaultThreads();

} // namespace nested::rt

#endif // NESTED_RUNTIME_POOL_H
