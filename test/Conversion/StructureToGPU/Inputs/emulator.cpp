//===- emulator.cpp - Run the threads of a GPU kernel one by one ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every thread of a block is a coroutine. It runs until it must wait for
// others: for its block at a barrier, for its warp at a shuffle or a warp
// barrier.
//
//===----------------------------------------------------------------------===//

#include "emulator.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <ucontext.h>
#include <vector>

/// Dynamic memory of a block.
extern "C" {
alignas(16) char workgroup_memory[227 * 1024];
}

namespace {

constexpr int kLanes = 32;
constexpr size_t kStackBytes = 64 * 1024;

enum class Wait { None, Block, Warp };

struct Thread {
  ucontext_t context;
  std::vector<char> stack;
  Wait wait = Wait::None;
  bool done = false;
  /// Which operation it waits in, what it gives to the others, and which lane
  /// it wants to know.
  int operation = 0, source = 0;
  uint32_t given = 0, received = 0;
};

std::vector<Thread> threads;
ucontext_t scheduler;
int current, block;
const std::function<void()> *body;

[[noreturn]] void die(const char *message) {
  std::fprintf(stderr, "emulator: %s (block %d, thread %d)\n", message, block,
               current);
  std::abort();
}

void waitFor(Wait wait) {
  threads[current].wait = wait;
  swapcontext(&threads[current].context, &scheduler);
}

void start() {
  (*body)();
  threads[current].done = true;
  swapcontext(&threads[current].context, &scheduler);
}

/// Lets the threads [begin, end) go on if all of them wait for each other.
bool release(int begin, int end, Wait wait) {
  for (int i = begin; i < end; ++i)
    if (threads[i].done || threads[i].wait != wait)
      return false;
  for (int i = begin; i < end; ++i) {
    Thread &thread = threads[i];
    if (wait == Wait::Warp) {
      if (thread.operation != threads[begin].operation)
        die("lanes of a warp wait in different operations");
      thread.received = threads[begin + thread.source].given;
    }
    thread.wait = Wait::None;
  }
  return true;
}

uint32_t exchange(int operation, uint32_t value, int source) {
  Thread &self = threads[current];
  self.operation = operation;
  self.given = value;
  self.source = source;
  waitFor(Wait::Warp);
  return threads[current].received;
}

void runBlock(const Launch &launch, std::mt19937 &random) {
  int count = launch.threads;
  // Whatever was not written must not be used: these are NaN.
  std::memset(workgroup_memory, 0xff, sizeof(workgroup_memory));
  std::vector<int> order(count);
  for (int i = 0; i < count; ++i) {
    Thread &thread = threads[i];
    thread.wait = Wait::None;
    thread.done = false;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.data();
    thread.context.uc_stack.ss_size = thread.stack.size();
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, start, 0);
    order[i] = i;
  }
  for (int left = count; left > 0;) {
    // Not std::shuffle, which every library does differently.
    if (launch.seed)
      for (int i = count - 1; i > 0; --i)
        std::swap(order[i], order[random() % (i + 1)]);
    bool progress = false;
    for (int i : order) {
      if (threads[i].done || threads[i].wait != Wait::None)
        continue;
      progress = true;
      current = i;
      swapcontext(&scheduler, &threads[i].context);
      left -= threads[i].done;
    }
    for (int i = 0; i < count; i += kLanes)
      progress |= release(i, i + kLanes, Wait::Warp);
    progress |= release(0, count, Wait::Block);
    if (!progress)
      die("threads wait for each other in different places");
  }
}

} // namespace

void run(const Launch &launch, const std::function<void()> &kernel) {
  if (launch.threads % kLanes != 0)
    die("a block has whole warps");
  body = &kernel;
  threads.resize(launch.threads);
  for (Thread &thread : threads)
    thread.stack.resize(kStackBytes);
  std::mt19937 random(launch.seed);
  for (block = 0; block < launch.blocks; ++block)
    runBlock(launch, random);
}

extern "C" {

int emulator_thread() { return current; }
int emulator_block() { return block; }
void emulator_barrier() { waitFor(Wait::Block); }
void emulator_warp_barrier(int mask) {
  if (mask != -1)
    die("a warp barrier leaves out lanes");
  exchange(1, 0, current % kLanes);
}
int emulator_shuffle(int mask, int value, int distance) {
  if (mask != -1)
    die("a shuffle leaves out lanes");
  return static_cast<int>(
      exchange(2, static_cast<uint32_t>(value), current % kLanes ^ distance));
}
}
