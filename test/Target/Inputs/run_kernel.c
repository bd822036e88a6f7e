// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernel.h"

int main(int argc, char **argv) {
  enum { rows = 9, columns = 16 };
  static float x[rows + 1][columns], y[rows + 1][columns];
  _Alignas(64) static char scratch[64];
  for (int i = 0; i < (rows + 1) * columns; ++i) {
    x[0][i] = (i - 70) * 0.1f;
    y[0][i] = 42;
  }
  open_artifact(argv[1]);
  kernel silu = find_kernel("silu");
  void *memrefs[] = {x, y};
  const int64_t dims[] = {rows, rows}, scalars[] = {3};
  frame f = {memrefs, dims, scalars, services, {0}};
  silu(&f, 0, 4, scratch);
  silu(&f, 4, 4, scratch);
  silu(&f, 4, rows, scratch);
  double worst = 0;
  for (int i = 0; i < rows * columns; ++i)
    worst = fmax(worst, ulps(y[0][i], x[0][i] / (1 + exp(-x[0][i])) + 27));
  printf("%d rows, largest error %g ulp\n", rows, worst);
  for (int i = 0; i < columns; ++i)
    if (y[rows][i] != 42)
      return 1;
  printf("row %d untouched\n", rows);
  return 0;
}
