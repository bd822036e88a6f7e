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

namespace {
using Vector = float __attribute__((vector_size(64)));
constexpr int numSums = 12; // Enough to hide the latency of a multiply-add.
} // namespace

// The loop with the widest vectors that the processor has.
#if defined(__x86_64__) && defined(__linux__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void multiplyAdds(float *out, int64_t rounds) {
  Vector sums[numSums] = {};
  Vector factor, term;
  for (int i = 0; i < 16; ++i) {
    factor[i] = out[0];
    term[i] = out[1];
  }
  for (int64_t r = 0; r < rounds; ++r)
    for (Vector &sum : sums)
      sum = sum * factor + term;
  for (int k = 1; k < numSums; ++k)
    sums[0] += sums[k];
  std::memcpy(out, &sums[0], sizeof(Vector));
}

double nested::run::measureMultiplyAdds(int64_t threads) {
  constexpr int64_t rounds = 400000;
  std::vector<std::vector<float>> out(static_cast<size_t>(threads),
                                      std::vector<float>(32, 0.5f));
  double seconds = fastest(threads, [&](int64_t t) {
    multiplyAdds(out[static_cast<size_t>(t)].data(), rounds);
  });
  return 2.0 * numSums * 16 * rounds * static_cast<double>(threads) / seconds;
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
