//===- Yardsticks.cpp - What this machine reaches -------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Yardsticks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

using namespace nested::run;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Calls body(thread) on all threads, some times; the least time of one.
template <typename Function>
static double fastest(int64_t threads, Function body) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    double start = now();
    std::vector<std::thread> helpers;
    for (int64_t t = 1; t < threads; ++t)
      helpers.emplace_back([&body, t] { body(t); });
    body(0);
    for (std::thread &helper : helpers)
      helper.join();
    best = std::min(best, now() - start);
  }
  return best;
}

// Enough sums to hide the latency of a multiply-add. Variables and not an
// array, which stays in memory where this file is not optimized.
#define SUMS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
static constexpr int numSums = 12;

/// Operands stay in registers where vectors are as wide as those.
template <int Bytes>
__attribute__((always_inline)) static inline void sumProducts(float *out,
                                                              int64_t rounds) {
  using Vector = float __attribute__((vector_size(Bytes)));
  Vector factor = Vector() + out[0], term = Vector() + out[1], all = {};
#define DECLARE(k) Vector sum##k = {};
#define STEP(k) sum##k = sum##k * factor + term;
#define ADD(k) all += sum##k;
  SUMS(DECLARE)
  for (int64_t r = 0; r < rounds; ++r) {
    SUMS(STEP)
  }
  SUMS(ADD)
#undef DECLARE
#undef STEP
#undef ADD
  std::memcpy(out, &all, sizeof(Vector));
}

#if defined(__x86_64__)
__attribute__((target("arch=x86-64-v4"))) static void
multiplyAdds64(float *out, int64_t rounds) {
  sumProducts<64>(out, rounds);
}
__attribute__((target("arch=x86-64-v3"))) static void
multiplyAdds32(float *out, int64_t rounds) {
  sumProducts<32>(out, rounds);
}
#endif

/// The loop with the widest vectors that the processor has; their bytes.
static int multiplyAdds(float *out, int64_t rounds) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) {
    multiplyAdds64(out, rounds);
    return 64;
  }
  if (__builtin_cpu_supports("x86-64-v3")) {
    multiplyAdds32(out, rounds);
    return 32;
  }
#endif
  sumProducts<16>(out, rounds);
  return 16;
}

double nested::run::measureMultiplyAdds(int64_t threads) {
  constexpr int64_t rounds = 400000;
  std::vector<std::vector<float>> out(static_cast<size_t>(threads),
                                      std::vector<float>(32, 0.5f));
  std::vector<int> bytes(out.size());
  double seconds = fastest(threads, [&](int64_t t) {
    auto thread = static_cast<size_t>(t);
    bytes[thread] = multiplyAdds(out[thread].data(), rounds);
  });
  return 2.0 * numSums * (bytes[0] / 4) * rounds *
         static_cast<double>(threads) / seconds;
}

double nested::run::measureCopies(int64_t threads) {
  constexpr size_t bytes = size_t(32) << 20;
  std::vector<std::vector<char>> from(static_cast<size_t>(threads)), to(from);
  for (size_t t = 0; t < from.size(); ++t) {
    from[t].assign(bytes, 1);
    to[t].assign(bytes, 2);
  }
  double seconds = fastest(threads, [&](int64_t t) {
    auto index = static_cast<size_t>(t);
    std::memcpy(to[index].data(), from[index].data(), bytes);
  });
  return 2.0 * static_cast<double>(bytes) * static_cast<double>(threads) /
         seconds;
}
