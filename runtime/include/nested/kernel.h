//===- nested/kernel.h - What a kernel is called with -----------*- C -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel ABI of docs/Artifact.md, section 3, as C: for the runtime, and for
// kernels written by hand. Programs that call artifacts do not need it.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_KERNEL_H
#define NESTED_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of the host, in the order of services.def. */
struct nested_services {
#define NESTED_SERVICE(NAME, RESULT, PARAMETERS) RESULT(*NAME) PARAMETERS;
#include "nested/services.def"
};

typedef struct nested_frame {
  void *const *memrefs;   /* data of each memref argument, in order */
  const int64_t *dims;    /* leading size of each memref */
  const int64_t *scalars; /* the scalar arguments, in order */
  const struct nested_services *services;
  void *reserved[4];
} nested_frame;

/* Computes the units [begin, end). `scratch` is the calling thread's own. */
typedef void (*nested_kernel)(const nested_frame *frame, int64_t begin,
                              int64_t end, void *scratch);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NESTED_KERNEL_H */
