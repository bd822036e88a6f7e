//===- Pool.cpp - Threads that share the grains of a run ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

using namespace nested::rt;

//===----------------------------------------------------------------------===//
// Processors and processes
//===----------------------------------------------------------------------===//

int64_t nested::rt::usableProcessors() {
  // The fixed cpu_set_t holds 1024 processors; larger machines need more room.
  for (int room = 1024; room <= 1 << 20; room *= 4) {
    size_t bytes = CPU_ALLOC_SIZE(room);
    cpu_set_t *set = CPU_ALLOC(room);
    if (!set)
      break;
    int count =
        sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return count;
  }
  unsigned count = std::thread::hardware_concurrency();
  return count ? count : 1;
}

/// How often this process was forked from one that used the runtime.
static std::atomic<int64_t> forks{0};

static void watchForks() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr,
                   [] { forks.fetch_add(1, std::memory_order_relaxed); });
  });
}

static void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

using Clock = std::chrono::steady_clock;

/// How long to look before sleeping. To wake a thread takes tens of
/// microseconds, on virtual machines more than a small run.
constexpr std::chrono::microseconds briefly(50), patiently(2000);

/// Waits until `ready()`, or for `limit`; says whether it became ready. After a
/// while other threads may have the processor meanwhile.
template <typename Ready>
static bool spinUntil(const Ready &ready, Clock::duration limit) {
  constexpr int looks = 32; // Between two looks at the clock.
  Clock::time_point start = Clock::now();
  Clock::duration spent(0);
  while (true) {
    for (int i = 0; i < looks; ++i) {
      if (ready())
        return true;
      if (spent < briefly) {
        pauseBriefly();
      } else {
        sched_yield();
        break;
      }
    }
    spent = Clock::now() - start;
    if (spent >= limit)
      return ready();
  }
}

//===----------------------------------------------------------------------===//
// Pool
//===----------------------------------------------------------------------===//

struct Pool::State {
  /// Held by the thread whose job the pool works on.
  std::mutex owner;
  std::chrono::steady_clock::time_point idleSince{}; // The owner's.

  /// Guards what follows, but the atomics.
  std::mutex mutex;
  std::condition_variable wake, done;
  bool open = false; // Helpers may join the job.
  bool stop = false;
  Body body = nullptr;
  void *data = nullptr;
  int64_t pieces = 0;
  int64_t wanted = 0; // Helpers that the job can use.
  int64_t joined = 0; // Helpers that have joined it.

  std::atomic<int64_t> active{0}; // Helpers inside the job.
  std::atomic<int64_t> job{0};    // Number of the newest job.
  std::atomic<int64_t> next{0};   // First piece that nobody took.

  int64_t forkCount = 0;
  std::vector<std::thread> helpers;

  void work(int64_t worker) {
    while (true) {
      int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces)
        return;
      body(data, piece, worker);
    }
  }

  bool inOtherProcess() const {
    return forks.load(std::memory_order_relaxed) != forkCount;
  }
};

void Pool::helperMain(std::shared_ptr<State> s) {
  int64_t seen = 0;
  // Whether the last job soon followed the one before it: then the next one is
  // worth waiting for.
  bool inTheFlow = false;
  while (true) {
    Clock::time_point idle = Clock::now();
    spinUntil([&] { return s->job.load(std::memory_order_acquire) != seen; },
              inTheFlow ? patiently : briefly);
    std::unique_lock<std::mutex> lock(s->mutex);
    s->wake.wait(lock, [&] {
      return s->stop || s->job.load(std::memory_order_relaxed) != seen;
    });
    if (s->stop)
      return;
    inTheFlow = Clock::now() - idle < patiently;
    seen = s->job.load(std::memory_order_relaxed);
    if (!s->open || s->joined >= s->wanted)
      continue;
    // Workers are numbered as they join: below the number of pieces, whatever
    // helpers come first.
    int64_t worker = ++s->joined;
    ++s->active;
    lock.unlock();
    s->work(worker);
    lock.lock();
    // After the first helper has found nothing left, later ones need not try.
    s->open = false;
    if (--s->active == 0)
      s->done.notify_one();
  }
}

Pool::Pool(int64_t threads)
    : numThreads(threads > 0 ? threads : usableProcessors()) {
  if (numThreads == 1)
    return;
  watchForks();
  state = std::make_shared<State>();
  state->forkCount = forks.load(std::memory_order_relaxed);
  try {
    for (int64_t worker = 1; worker < numThreads; ++worker)
      state->helpers.emplace_back(helperMain, state);
  } catch (const std::exception &error) {
    stopHelpers();
    fail(NESTED_OUT_OF_MEMORY, "cannot start %lld threads: %s",
         static_cast<long long>(numThreads), error.what());
  }
}

Pool::~Pool() {
  if (!state)
    return;
  if (state->inOtherProcess()) {
    // The threads are not in this process, and whoever holds a lock is not
    // either: there is nothing to join, and the memory must stay.
    new std::shared_ptr<State>(std::move(state));
    return;
  }
  stopHelpers();
}

void Pool::stopHelpers() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->stop = true;
  }
  state->wake.notify_all();
  for (std::thread &helper : state->helpers)
    helper.join();
}

void Pool::run(int64_t pieces, Body body, void *data, bool isSmall) {
  std::unique_lock<std::mutex> owner;
  if (state && pieces > 1 && !state->inOtherProcess())
    owner = std::unique_lock<std::mutex>(state->owner, std::try_to_lock);
  if (!owner.owns_lock()) {
    for (int64_t piece = 0; piece < pieces; ++piece)
      body(data, piece, 0);
    return;
  }
  State &s = *state;
  int64_t wanted = std::min(numThreads, pieces) - 1;
  // Helpers that are looking for jobs see this one without being woken. Where
  // they sleep, a small job wakes them for those that are likely to follow.
  bool wakes = !isSmall || Clock::now() - s.idleSince < patiently;
  {
    std::lock_guard<std::mutex> lock(s.mutex);
    s.body = body;
    s.data = data;
    s.pieces = pieces;
    s.wanted = wanted;
    s.joined = 0;
    s.next.store(0, std::memory_order_relaxed);
    s.open = true;
    s.job.fetch_add(1, std::memory_order_release);
  }
  if (wakes && wanted == numThreads - 1)
    s.wake.notify_all();
  else if (wakes)
    for (int64_t i = 0; i < wanted; ++i)
      s.wake.notify_one();
  s.work(0);
  {
    std::lock_guard<std::mutex> lock(s.mutex);
    s.open = false;
  }
  if (!spinUntil([&] { return s.active.load(std::memory_order_acquire) == 0; },
                 patiently)) {
    std::unique_lock<std::mutex> lock(s.mutex);
    s.done.wait(lock, [&] { return s.active == 0; });
  }
  s.idleSince = Clock::now();
}

//===----------------------------------------------------------------------===//
// Default pool
//===----------------------------------------------------------------------===//

namespace {
struct Defaults {
  std::mutex mutex;
  std::shared_ptr<Pool> pool;
  int64_t threads = 0;
  int64_t forkCount = 0;
};
} // namespace

/// Never destroyed: threads of the program may run plans while it exits.
static Defaults &defaults() {
  static auto *instance = new Defaults;
  return *instance;
}

std::shared_ptr<Pool> nested::rt::defaultPool() {
  Defaults &d = defaults();
  watchForks();
  std::lock_guard<std::mutex> lock(d.mutex);
  int64_t now = forks.load(std::memory_order_relaxed);
  if (!d.pool || d.forkCount != now) {
    d.pool = std::make_shared<Pool>(d.threads);
    d.forkCount = now;
  }
  return d.pool;
}

void nested::rt::setDefaultThreads(int64_t threads) {
  Defaults &d = defaults();
  std::shared_ptr<Pool> old; // Joined outside the lock.
  std::lock_guard<std::mutex> lock(d.mutex);
  d.threads = threads;
  old.swap(d.pool);
}

int64_t nested::rt::defaultThreads() {
  Defaults &d = defaults();
  std::lock_guard<std::mutex> lock(d.mutex);
  return d.threads > 0 ? d.threads : usableProcessors();
}
