//===- Services.cpp - Functions that kernels may call ---------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact.h"

#include <math.h>

// The functions of the C library, taken by their C names: <cmath> overloads
// them. lgamma writes the global `signgam` and is no function for threads.
static double safeLgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
static float safeLgammaf(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}
#define lgamma safeLgamma
#define lgammaf safeLgammaf

static const nested_services table = {
#define NESTED_SERVICE(NAME, RESULT, PARAMETERS)                               \
  static_cast<RESULT(*) PARAMETERS>(NAME),
#include "nested/services.def"
};

const nested_services &nested::rt::services() { return table; }

int64_t nested::rt::numServices() {
  return static_cast<int64_t>(sizeof(nested_services) / sizeof(void (*)()));
}
