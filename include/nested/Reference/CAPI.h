/*===- nested/Reference/CAPI.h - The reference interpreter ------*- C -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM
Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the text of a program with the reference interpreter. Arguments are the
// records of nested/runtime.h, so that one caller can run a program both ways.
// Functions may be called from several threads at once.
//
//===----------------------------------------------------------------------===*/

#ifndef NESTED_REFERENCE_CAPI_H
#define NESTED_REFERENCE_CAPI_H

#include "nested/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* Round every value to its type as it is computed, not results only. */
  NESTED_REFERENCE_ROUND_EACH = 1u,
  /* Results of float types are f64, not rounded to their type. */
  NESTED_REFERENCE_WIDE_RESULTS = 2u
};

typedef struct nested_reference_options {
  uint32_t struct_size;
  uint32_t flags;
  /* Samples of a batch that no argument has; 0: one. */
  int64_t num_samples;
  /* Elements of one value, above which the program is refused; 0: 2^31. */
  int64_t max_elements;
  /* What diagnostics call the text; null: "<program>". */
  const char *file_name;
} nested_reference_options;

/* The results of a run, owned by whoever ran it, until
   nested_reference_release. */
typedef struct nested_reference_run_t nested_reference_run_t;

/* Runs the entry called `entry` (null or "": the only one) of the program in
   `text`, `length` bytes in the `tensor`, `generic` or `kernels` phase. Of the
   arguments, flags, devices and donations are ignored. Lengths, partitions and
   values to be packed may be given as an artifact takes them: structure as
   ragged values without columns. `options` may be null. `*run` is always set:
   it holds the diagnostics even when the run failed. Returns NESTED_OK, or
   NESTED_INVALID_ARGUMENT with the diagnostics as the message. */
NESTED_API nested_status
nested_reference_run(const char *text, size_t length, const char *entry,
                     const nested_argument *args, int64_t num_args,
                     const nested_reference_options *options,
                     nested_reference_run_t **run) NESTED_NOEXCEPT;

/* What was wrong, or warnings; never null. */
NESTED_API const char *
nested_reference_diagnostics(const nested_reference_run_t *run) NESTED_NOEXCEPT;
NESTED_API int64_t
nested_reference_num_results(const nested_reference_run_t *run) NESTED_NOEXCEPT;

/* All pointers are borrowed from the run. */
typedef struct nested_reference_result {
  uint32_t struct_size; /* in */
  int32_t dtype;        /* of data */
  int32_t declared_dtype;
  int32_t rank;         /* logical dims of one element, or of the array */
  const int64_t *shape; /* `rank` sizes, -1 for ragged dims */
  /* The packed rows, contiguous. */
  const void *data;
  int64_t bytes;
  int64_t rows;          /* dense values: 1 */
  int64_t num_samples;   /* dense values: 1 */
  int64_t num_instances; /* of the path; dense values: 1 */
  int32_t num_ragged;
  int32_t path_rank;
  /* `num_ragged` pointers to num_instances lengths, logical order. */
  const int64_t *const *lengths;
  /* `path_rank - 1` pointers, for the components after the first. */
  const int64_t *const *path_lengths;
} nested_reference_result;

NESTED_API nested_status
nested_reference_get_result(const nested_reference_run_t *run, int64_t index,
                            nested_reference_result *result) NESTED_NOEXCEPT;

/* Null is allowed. */
NESTED_API void
nested_reference_release(nested_reference_run_t *run) NESTED_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* NESTED_REFERENCE_CAPI_H */
