//===- block.cpp - Runs the GPU kernels of the demo block emulated --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares what the three kernels of block.mlir compute, one after another,
// with the same formulas in double; and for several orders of threads and cuts
// into blocks, bit by bit, with each other.
//
//===----------------------------------------------------------------------===//

#include "emulator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Floats = std::vector<float>;
using Words = std::vector<int64_t>;

// Pointers, leading dimensions, begin, end, units of a block.
#define WORDS9                                                                 \
  int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,      \
      int64_t
#define POINTERS9                                                              \
  void *, void *, void *, void *, void *, void *, void *, void *, void *
extern "C" {
void block_k0(POINTERS9, void *, WORDS9, int64_t, int64_t, int64_t, int64_t);
void block_k1(POINTERS9, void *, void *, void *, WORDS9, int64_t, int64_t,
              int64_t, int64_t, int64_t, int64_t);
void block_k2(POINTERS9, WORDS9, int64_t, int64_t, int64_t);
}

namespace {

constexpr int C = 384, P = 128, H = 512, kNames = 21, kThreads = 256;
/// Rows behind the end, which nobody may touch.
constexpr int kGuard = 2;
constexpr float kUntouched = -12345;

int failures = 0;

void expect(bool ok, const char *what) {
  if (ok)
    return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

Floats random(int count, double scale, unsigned seed) {
  Floats values(count);
  for (float &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(((seed >> 8) / 16777216.0 - 0.5) * scale);
  }
  return values;
}

struct Problem {
  Words lengths, offsets{0}, pairOffsets{0}, names;
  Floats table = random(kNames * C, 2, 1), wu = random(C * P, 0.2, 2),
         wv = random(C * P, 0.2, 3), g = random(P, 2, 4), b = random(P, 1, 5),
         w1 = random(P * H, 0.3, 6), w2 = random(P * H, 0.3, 7),
         w3 = random(H * P, 0.2, 8), wg = random(P * C, 0.3, 9);

  explicit Problem(Words lengths) : lengths(lengths) {
    for (int64_t n : lengths) {
      offsets.push_back(offsets.back() + n);
      pairOffsets.push_back(pairOffsets.back() + n * n);
    }
    for (int64_t i = 0; i < rows(); ++i)
      names.push_back(i * 5 % kNames);
  }
  int64_t rows() const { return offsets.back(); }
  int64_t pairs() const { return pairOffsets.back(); }
};

struct Result {
  Floats x, p;
  Words errors;
};

Result runKernels(Problem &problem, int64_t count, unsigned seed) {
  int64_t rows = problem.rows(), samples = problem.lengths.size();
  int blocks = static_cast<int>((rows + count - 1) / count);
  Launch launch{blocks, kThreads, seed};
  Floats u((rows + kGuard) * P, kUntouched), v(u), mean(u);
  Result result{Floats((rows + kGuard) * C, kUntouched),
                Floats((problem.pairs() + kGuard) * P, kUntouched),
                Words(4 * blocks, 0)};
  Words errors2(4 * blocks, 0);
  Words base(problem.offsets.begin(), problem.offsets.end() - 1);
  run(launch, [&] {
    block_k0(problem.names.data(), u.data(), v.data(), problem.offsets.data(),
             problem.lengths.data(), base.data(), problem.table.data(),
             problem.wu.data(), problem.wv.data(), result.errors.data(), rows,
             rows, rows, samples + 1, samples, samples, kNames, C, C, 4, 0,
             rows, count);
  });
  run(launch, [&] {
    block_k1(u.data(), v.data(), result.p.data(), mean.data(),
             problem.pairOffsets.data(), problem.offsets.data(),
             problem.lengths.data(), problem.g.data(), problem.b.data(),
             problem.w1.data(), problem.w2.data(), problem.w3.data(), rows,
             rows, problem.pairs(), rows, samples + 1, samples + 1, samples, P,
             P, P, P, H, 0, rows, count);
  });
  run(launch, [&] {
    block_k2(mean.data(), problem.names.data(), result.x.data(),
             problem.offsets.data(), problem.lengths.data(), base.data(),
             problem.wg.data(), problem.table.data(), errors2.data(), rows,
             rows, rows, samples + 1, samples, samples, P, kNames, 4, 0, rows,
             count);
  });
  for (const Floats *values : {&u, &v, &mean, &result.x, &result.p})
    for (size_t i = 0; i < 2 * P; ++i)
      expect((*values)[values->size() - 1 - i] == kUntouched,
             "rows behind the end are untouched");
  return result;
}

std::vector<double> multiply(const std::vector<double> &x, const Floats &w,
                             int columns) {
  std::vector<double> y(columns);
  for (size_t k = 0; k < x.size(); ++k)
    for (int c = 0; c < columns; ++c)
      y[c] += x[k] * w[k * columns + c];
  return y;
}

/// The largest error, relative to the largest value of the sample.
double compare(const Problem &problem, const Result &result) {
  double worst = 0;
  for (size_t sample = 0; sample < problem.lengths.size(); ++sample) {
    int64_t n = problem.lengths[sample], first = problem.offsets[sample];
    double largest = 0, error = 0;
    auto check = [&](double expected, float value) {
      largest = std::max(largest, std::fabs(expected));
      error = std::max(error, std::isnan(value) ? INFINITY
                                                : std::fabs(expected - value));
    };
    std::vector<std::vector<double>> x, u, v;
    for (int64_t i = 0; i < n; ++i) {
      const float *row = &problem.table[problem.names[first + i] * C];
      x.emplace_back(row, row + C);
      u.push_back(multiply(x.back(), problem.wu, P));
      v.push_back(multiply(x.back(), problem.wv, P));
    }
    for (int64_t i = 0; i < n; ++i) {
      std::vector<double> mean(P);
      for (int64_t j = 0; j < n; ++j) {
        std::vector<double> p(P), y(P);
        double sum = 0, squares = 0;
        for (int c = 0; c < P; ++c)
          sum += p[c] = u[i][c] + v[j][c];
        for (int c = 0; c < P; ++c)
          squares += (p[c] - sum / P) * (p[c] - sum / P);
        for (int c = 0; c < P; ++c)
          y[c] =
              (p[c] - sum / P) / std::sqrt(squares / P + 1e-5) * problem.g[c] +
              problem.b[c];
        std::vector<double> z = multiply(y, problem.w1, H),
                            gate = multiply(y, problem.w2, H);
        for (int c = 0; c < H; ++c)
          z[c] = z[c] / (1 + std::exp(-z[c])) * gate[c];
        std::vector<double> o = multiply(z, problem.w3, P);
        int64_t cell = problem.pairOffsets[sample] + i * n + j;
        for (int c = 0; c < P; ++c) {
          check(p[c] + o[c], result.p[cell * P + c]);
          mean[c] += (p[c] + o[c]) / n;
        }
      }
      std::vector<double> update = multiply(mean, problem.wg, C);
      for (int c = 0; c < C; ++c)
        check(x[i][c] + update[c], result.x[(first + i) * C + c]);
    }
    if (n > 0)
      worst = std::max(worst, error / largest);
  }
  return worst;
}

bool same(const Floats &a, const Floats &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

int main() {
  // More rows than a tile has, in one sample and in many.
  Words lengths{3, 0, 7, 1, 0};
  lengths.insert(lengths.end(), 85, 1);
  lengths.push_back(9);
  Problem problem(lengths);
  Result first = runKernels(problem, 30, 0);
  double error = compare(problem, first);
  std::printf("largest error: %.2g\n", error);
  expect(error < 1e-5, "results are those of the formulas");
  unsigned seed = 0;
  for (int64_t count : {1, 5, 1000}) {
    Result other = runKernels(problem, count, ++seed);
    expect(same(first.x, other.x) && same(first.p, other.p),
           "results do not depend on blocks or the order of threads");
    expect(std::count(other.errors.begin(), other.errors.end(), 0) ==
               static_cast<long>(other.errors.size()),
           "there are no errors");
  }
  // Alone, a sample gives the same bits.
  Problem alone({9});
  std::copy(problem.names.end() - 9, problem.names.end(), alone.names.begin());
  Result sample = runKernels(alone, 2, ++seed);
  expect(std::memcmp(&sample.p[0], &first.p[(problem.pairs() - 81) * P],
                     81 * P * sizeof(float)) == 0,
         "a sample alone gives the same bits");

  // Bad data: every block has its own record, of the first row it meets.
  problem.names[5] = 21;
  problem.names[6] = -1;
  Words errors = runKernels(problem, 5, ++seed).errors;
  expect(errors[0] == 0 && errors[4] != 0 && errors[5] == 21 &&
             errors[6] == 5 && errors[8] == 0,
         "an index out of range is recorded");
  std::printf(failures ? "%d failures\n" : "all as expected\n", failures);
  return failures != 0;
}
