//===- rows.cpp - Runs the GPU kernel of rows.mlir emulated ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "emulator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

extern "C" void rows(void *, void *, void *, void *, void *, void *, void *,
                     int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                     int64_t, int64_t, int64_t, int64_t);

int main() {
  constexpr int n = 21, wide = 2000;
  std::vector<float> x(n * 40), w(n * wide), y(n * 4, NAN), z(n * 40, NAN),
      v(n * wide, NAN);
  std::vector<int64_t> i(n * 40), j(n, 0);
  for (size_t k = 0; k < x.size(); ++k)
    x[k] = static_cast<float>(k * 37 % 101) / 16;
  for (size_t k = 0; k < w.size(); ++k)
    w[k] = static_cast<float>(k * 7919 % 10007);
  for (size_t k = 0; k < i.size(); ++k)
    i[k] = static_cast<int64_t>(k * 7919 % 10007) << 32;

  int failures = 0;
  for (unsigned seed = 0; seed < 4; ++seed) {
    // Blocks of 10 units: a whole tile and a part of one.
    run({3, 256, seed}, [&] {
      rows(x.data(), w.data(), i.data(), y.data(), z.data(), v.data(), j.data(),
           n, n, n, n, n, n, n, 0, n, 10);
    });
    for (int row = 0; row < n; ++row) {
      for (int a = 0; a < 4; ++a) {
        float sum = 0;
        for (int b = 0; b < 10; ++b)
          sum += 4 * x[row * 40 + a * 10 + b] * x[row * 40 + a * 10 + b];
        failures += !(y[row * 4 + a] == sum);
        for (int b = 0; b < 10; ++b)
          failures +=
              !(z[row * 40 + b * 4 + a] == 2 * x[row * 40 + a * 10 + b] + sum);
      }
      float largest = *std::max_element(&w[row * wide], &w[row * wide] + wide);
      for (int a = 0; a < wide; ++a)
        failures += !(v[row * wide + a] == w[row * wide + a] - largest);
      failures += j[row] != *std::max_element(&i[row * 40], &i[row * 40] + 40);
    }
    std::fill(y.begin(), y.end(), NAN);
    std::fill(z.begin(), z.end(), NAN);
    std::fill(v.begin(), v.end(), NAN);
    std::fill(j.begin(), j.end(), 0);
  }
  std::printf("%d wrong values\n", failures);
  return failures != 0;
}
