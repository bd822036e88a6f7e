// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "kernel.h"

static int failures;

static void run(const char *name, void *in, void *out, int64_t units) {
  void *memrefs[] = {in, out};
  const int64_t dims[] = {units, units};
  frame f = {memrefs, dims, 0, services, {0}};
  find_kernel(name)(&f, 0, units, 0);
}

static void expect(const char *what, double in, float got, float want) {
  if (isnan(want) ? isnan(got) : !memcmp(&got, &want, sizeof got))
    return;
  printf("%s(%.17g) = %.9g, expected %.9g\n", what, in, got, want);
  ++failures;
}

static void test_rounding(void) {
  static const float values[] = {
      0.5f,  -0.5f, 1.5f,  2.5f,      -2.5f, 0.3f,      -0.3f,       0.0f,
      -0.0f, NAN,   1e30f, -INFINITY, 3.0f,  8388607.5, 0.49999997f, -7.7f};
  for (int first = 0; first < 16; first += 8) {
    float y[5][8];
    run("rounding", (void *)(values + first), y, 5);
    for (int i = 0; i < 8; ++i) {
      float x = values[first + i];
      expect("floor", x, y[0][i], floorf(x));
      expect("ceil", x, y[1][i], ceilf(x));
      expect("trunc", x, y[2][i], truncf(x));
      expect("roundeven", x, y[3][i], rintf(x));
      expect("round", x, y[4][i], roundf(x));
    }
  }
}

static void test_half(void) {
  enum { count = 65536 };
  static _Float16 half[count], narrowed[count];
  static float wide[count], between[count];
  static double exact[count];
  for (int i = 0; i < count; ++i) {
    uint16_t bits = (uint16_t)i;
    memcpy(&half[i], &bits, sizeof bits);
  }
  run("from_half", half, wide, count);
  for (int i = 0; i < count; ++i)
    expect("from_half", i, wide[i], (float)half[i]);
  /* Next to the middle between neighbours, where rounding is decided. */
  for (int delta = -1; delta <= 1; ++delta) {
    for (int i = 0; i < count; ++i) {
      double next = (float)half[(i + 1) % count];
      exact[i] = ((float)half[i] + next) / 2;
      between[i] = (float)exact[i];
      if (delta) {
        between[i] = nextafterf(between[i], delta * INFINITY);
        exact[i] = nextafter(exact[i], delta * INFINITY);
      }
    }
    run("to_half", between, narrowed, count);
    for (int i = 0; i < count; ++i)
      expect("to_half", between[i], narrowed[i], (_Float16)between[i]);
    run("double_to_half", exact, narrowed, count);
    for (int i = 0; i < count; ++i)
      expect("double_to_half", exact[i], narrowed[i], (_Float16)exact[i]);
  }
}

static float from_brain(uint16_t upper) {
  uint32_t bits = (uint32_t)upper << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Rounding to an integer and choosing the largest are exact in f32, and what is
   rounded has at most as many bits. */
static void test_functions_of_16_bits(void) {
  enum { count = 65536 };
  static uint16_t brain[count], rounded[count], largest[count];
  static _Float16 half[count], lower[count];
  for (int i = 0; i < count; ++i) {
    brain[i] = (uint16_t)(i * 40503); /* In an order without order. */
    memcpy(&half[i], &brain[i], sizeof half[i]);
  }
  run("brain_roundeven", brain, rounded, count);
  run("half_floor", half, lower, count);
  for (int i = 0; i < count; ++i) {
    float x = from_brain(brain[i]);
    expect("brain_roundeven", x, from_brain(rounded[i]), rintf(x));
    expect("half_floor", (float)half[i], (float)lower[i],
           floorf((float)half[i]));
  }
  run("brain_max", brain, largest, count);
  for (int i = 0; i < count; i += 8) {
    float want = from_brain(brain[i]);
    for (int k = 1; k < 8; ++k) {
      float x = from_brain(brain[i + k]);
      if (isnan(want) || isnan(x))
        want = NAN;
      else if (x > want || (x == want && !signbit(x)))
        want = x;
    }
    expect("brain_max", i, from_brain(largest[i]), want);
  }
}

int main(int argc, char **argv) {
  open_artifact(argv[1]);
  test_rounding();
  test_half();
  test_functions_of_16_bits();
  double x = 3;
  run("fma", &x, 0, 1);
  expect("fma", 3, x, 12);
  return failures != 0;
}
