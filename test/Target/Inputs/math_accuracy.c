// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernel.h"

enum { rows = 64, columns = 16, count = rows * columns };

static double test(const char *name, double (*reference)(double)) {
  static float x[count], y[count];
  char symbol[32];
  snprintf(symbol, sizeof symbol, "%s_kernel", name);
  kernel run = find_kernel(symbol);
  void *memrefs[] = {x, y};
  const int64_t dims[] = {rows, rows};
  frame f = {memrefs, dims, 0, services, {0}};
  static const float special[] = {NAN,   INFINITY, -INFINITY, 0.0f,   -0.0f,
                                  1e-45, -1e-45,   1.0f,      -1.0f,  88.72f,
                                  88.73, -87.4,    -103.9f,   -104.0, 3.4e38};
  double worst = 0;
  uint64_t bits = 0;
  for (int first = 1; bits < UINT64_C(1) << 32; first = 0) {
    for (int i = 0; i < count; ++i, bits += 4999) {
      uint32_t pattern = (uint32_t)bits;
      memcpy(&x[i], &pattern, sizeof pattern);
    }
    if (first)
      memcpy(x, special, sizeof special);
    run(&f, 0, rows, 0);
    for (int i = 0; i < count; ++i)
      worst = fmax(worst, ulps(y[i], reference(x[i])));
  }
  return worst;
}

static double decay(double x) {
  double result = exp(-fabs(x));
  return result < 1.17549435e-38 ? 0 : result;
}

int main(int argc, char **argv) {
  int status = 0;
  open_artifact(argv[1]);
#define TEST(NAME, LIMIT)                                                      \
  do {                                                                         \
    double error = test(#NAME, NAME);                                          \
    printf("%-6s %.3f ulp, at most %.1f\n", #NAME, error, LIMIT);              \
    status |= !(error <= LIMIT);                                               \
  } while (0)
  TEST(exp, 1.1);
  TEST(decay, 1.1);
  TEST(exp2, 1.1);
  TEST(expm1, 2.5);
  TEST(log, 0.9);
  TEST(log2, 1.4);
  TEST(log1p, 2.5);
  TEST(tanh, 4.5);
  TEST(erf, 4.6);
  TEST(erfc, 2.6);
  TEST(sin, 1.6);
  TEST(cos, 1.6);
  return status;
}
