//===- c_example.c - Calling an artifact from C -------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The examples of docs/Runtime.md. The artifact has one entry: x [N, 4] per
// sample and a shared w [4] give pairs [N, N, 4] and their mean [N, 4].
//
//   cc -std=c11 c_example.c -lnested_runtime -o example && ./example block.so
//
//===----------------------------------------------------------------------===//

#include "nested/runtime.h"

#include <stdio.h>
#include <stdlib.h>

static void check(nested_status status) {
  if (status == NESTED_OK)
    return;
  fprintf(stderr, "%s: %s\n", nested_status_name(status), nested_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s ARTIFACT\n", argv[0]);
    return 2;
  }
  nested_artifact_t *artifact;
  const nested_entry_t *entry;
  check(nested_open_file(argv[1], 0, &artifact));
  check(nested_find_entry(artifact, NULL, &entry));

  /* Three samples of 2, 0 and 3 rows, one after the other. */
  float x[5 * 4], w[4] = {1, 1, 1, 1};
  for (int i = 0; i < 5 * 4; ++i)
    x[i] = (float)i;
  const int64_t lengths[3] = {2, 0, 3};
  const int64_t *lengths_of_x[1] = {lengths}; /* one for each ragged dim */
  const int64_t shape_of_x[2] = {-1, 4};      /* -1: ragged */
  const int64_t shape_of_w[1] = {4};

  nested_argument args[2] = {NESTED_INIT(nested_argument),
                             NESTED_INIT(nested_argument)};
  args[0].data = x;
  args[0].dtype = NESTED_F32;
  args[0].rank = 2;
  args[0].shape = shape_of_x;
  args[0].num_samples = 3;
  args[0].lengths = lengths_of_x;
  args[0].row_capacity = 5;
  args[1].data = w;
  args[1].dtype = NESTED_F32;
  args[1].rank = 1;
  args[1].shape = shape_of_w;

  /* What depends on w alone is done once. (Of this program: nothing, so that
     there are no bytes, and w is passed as it is.) */
  int64_t bytes = nested_entry_prepared_bytes(entry);
  void *block = bytes ? aligned_alloc(64, (size_t)bytes) : NULL;
  check(nested_prepare(entry, args, 2, NULL, block, bytes));
  for (int64_t i = 0; i < 2; ++i) {
    nested_value_info value = NESTED_INIT(nested_value_info);
    check(nested_entry_arg(entry, i, &value));
    if (value.flags & NESTED_VALUE_PREPARED) {
      args[i].flags |= NESTED_PREPARED;
      args[i].data = block;
      args[i].row_capacity = bytes;
    }
  }

  /* Checks everything, and says what the call will need. */
  nested_options options = NESTED_INIT(nested_options);
  options.max_bytes = 1 << 20;
  nested_plan_t *plan;
  check(nested_plan(entry, args, 2, &options, &plan));
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  nested_result_info pairs = NESTED_INIT(nested_result_info);
  check(nested_plan_get_info(plan, &info));
  check(nested_plan_get_result(plan, 0, &pairs));
  printf("%lld pair rows, %lld bytes at most\n", (long long)pairs.rows,
         (long long)info.peak_bytes);

  /* Results without memory of ours come from the allocator. */
  nested_result results[2] = {NESTED_INIT(nested_result),
                              NESTED_INIT(nested_result)};
  check(nested_run(plan, args, 2, results, 2, NULL));
  const float *mean = results[1].data;
  for (int64_t row = 0; row < results[1].rows; ++row)
    printf("mean of row %lld: %g\n", (long long)row, mean[row * 4]);

  nested_free_results(plan, results, 2);
  nested_plan_release(plan);
  free(block);
  nested_close(artifact);
  return 0;
}
