// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* What the tests of this folder need of docs/Artifact.md: calling the kernels
   of an artifact without the runtime. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  void *const *memrefs;
  const int64_t *dims;
  const int64_t *scalars;
  const void *services;
  void *reserved[4];
} frame;
typedef void (*kernel)(const frame *, int64_t begin, int64_t end, void *);

static void *const services[] = {
#define NESTED_SERVICE(NAME, RESULT, PARAMETERS) (void *)NAME,
#include "nested/services.def"
};

static void *library;

static void open_artifact(const char *path) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  void **slot = (void **)dlsym(library, "nested_services_slot");
  if (slot)
    *slot = (void *)services;
}

static kernel find_kernel(const char *name) {
  kernel found = (kernel)dlsym(library, name);
  if (!found) {
    fprintf(stderr, "no kernel '%s'\n", name);
    exit(1);
  }
  return found;
}

/* Distance in units of the last place of a float; huge for a wrong NaN or
   infinity. */
static double ulps(float got, double want) {
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got) ? 0 : 1e30;
  if (isinf((float)want) || isinf(got))
    return got == (float)want ? 0 : 1e30;
  int exponent;
  frexp(want, &exponent);
  return fabs(got - want) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}
