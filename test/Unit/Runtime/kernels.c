// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Kernels written by hand, for artifacts that tests put together. What each
   one gets is in the manifest of the test program that names it. */

#include "nested/kernel.h"

#include <stddef.h>
#include <string.h>

#define KERNEL __attribute__((visibility("default"))) void

/* Set by the loader. */
__attribute__((visibility("default")))
const struct nested_services *nested_services_slot;

/* The instance of offsets table `offsets` that has entry `at`. */
static int64_t find(const int64_t *offsets, int64_t at) {
  int64_t i = 0;
  while (offsets[i + 1] <= at)
    ++i;
  return i;
}

/* Groups: one unit per row of x. x [N, 4], w [4] -> pair [N, N, 4],
   mean [N, 4]; tables: base of x, offsets of N, offsets of N * N. */
KERNEL pair_block(const nested_frame *f, int64_t begin, int64_t end,
                  void *scratch) {
  const float *x = f->memrefs[0], *w = f->memrefs[1];
  float *pair = f->memrefs[2], *mean = f->memrefs[3];
  const int64_t *base = f->memrefs[4], *single = f->memrefs[5],
                *pairs = f->memrefs[6];
  float *sum = scratch;
  for (int64_t u = begin; u < end; ++u) {
    int64_t i = find(single, u), n = single[i + 1] - single[i];
    int64_t a = u - single[i];
    memset(sum, 0, 4 * sizeof(float));
    for (int64_t b = 0; b < n; ++b)
      for (int c = 0; c < 4; ++c) {
        float v = x[(base[i] + a) * 4 + c] * w[c] + x[(base[i] + b) * 4 + c];
        pair[(pairs[i] + a * n + b) * 4 + c] = v;
        sum[c] += v;
      }
    for (int c = 0; c < 4; ++c)
      mean[u * 4 + c] = sum[c] / (float)n;
  }
}

/* Groups: one unit per row of out. pair [N, N, 4], mean [N, 4] -> out [N, 4] =
   pair[a, a] + mean[a]; tables: offsets of N, offsets of N * N. */
KERNEL add_diagonal(const nested_frame *f, int64_t begin, int64_t end,
                    void *scratch) {
  const float *pair = f->memrefs[0], *mean = f->memrefs[1];
  float *out = f->memrefs[2];
  const int64_t *single = f->memrefs[3], *pairs = f->memrefs[4];
  (void)scratch;
  for (int64_t u = begin; u < end; ++u) {
    int64_t i = find(single, u), n = single[i + 1] - single[i];
    int64_t a = u - single[i];
    for (int c = 0; c < 4; ++c)
      out[u * 4 + c] = pair[(pairs[i] + a * n + a) * 4 + c] + mean[u * 4 + c];
  }
}

/* Groups: one unit per row. from [N, 4] -> to [N, 4]. */
KERNEL copy_rows(const nested_frame *f, int64_t begin, int64_t end,
                 void *scratch) {
  const float *from = f->memrefs[0];
  float *to = f->memrefs[1];
  (void)scratch;
  memcpy(to + begin * 4, from + begin * 4, (size_t)(end - begin) * 16);
}

/* Groups, one unit per number: a * b. */
KERNEL multiply(const nested_frame *f, int64_t begin, int64_t end,
                void *scratch) {
  const float *a = f->memrefs[0], *b = f->memrefs[1];
  float *out = f->memrefs[2];
  (void)scratch;
  for (int64_t u = begin; u < end; ++u)
    out[u] = a[u] * b[u];
}

/* Groups, one unit per row. x [N, 4] * a [4] + b [4] -> [N, 4]. */
KERNEL scale_rows(const nested_frame *f, int64_t begin, int64_t end,
                  void *scratch) {
  const float *x = f->memrefs[0], *a = f->memrefs[1], *b = f->memrefs[2];
  float *out = f->memrefs[3];
  (void)scratch;
  for (int64_t i = begin * 4; i < end * 4; ++i)
    out[i] = x[i] * a[i % 4] + b[i % 4];
}

/* Chunks of 8 rows: x [N, 2] + y [M, 2] -> [N, 2], packed; scalars: rows. */
KERNEL add_rows(const nested_frame *f, int64_t begin, int64_t end,
                void *scratch) {
  const float *x = f->memrefs[0], *y = f->memrefs[1];
  float *out = f->memrefs[2];
  int64_t total = f->scalars[0], last = end * 8 < total ? end * 8 : total;
  (void)scratch;
  for (int64_t r = begin * 8; r < last; ++r)
    for (int c = 0; c < 2; ++c)
      out[r * 2 + c] = x[r * 2 + c] + y[r * 2 + c];
}

/* Chunks of 4 rows: x [N] f32 -> exp(x) through the services; scalars: rows. */
KERNEL exp_rows(const nested_frame *f, int64_t begin, int64_t end,
                void *scratch) {
  const float *x = f->memrefs[0];
  float *out = f->memrefs[1];
  int64_t total = f->scalars[0], last = end * 4 < total ? end * 4 : total;
  (void)scratch;
  for (int64_t r = begin * 4; r < last; ++r)
    out[r] = (r % 2 ? f->services : nested_services_slot)->expf(x[r]);
}

/* Groups, one unit per sample: keep [N] i1 -> count per sample, i64. */
KERNEL count_kept(const nested_frame *f, int64_t begin, int64_t end,
                  void *scratch) {
  const uint8_t *keep = f->memrefs[0];
  int64_t *count = f->memrefs[1];
  const int64_t *offsets = f->memrefs[2];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    count[i] = 0;
    for (int64_t r = offsets[i]; r < offsets[i + 1]; ++r)
      count[i] += keep[r];
  }
}

/* Groups, one unit per sample: x [N] f32, keep [N] -> [K]. */
KERNEL compact(const nested_frame *f, int64_t begin, int64_t end,
               void *scratch) {
  const float *x = f->memrefs[0];
  const uint8_t *keep = f->memrefs[1];
  float *out = f->memrefs[2];
  const int64_t *from = f->memrefs[3], *to = f->memrefs[4];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    int64_t k = to[i];
    for (int64_t r = from[i]; r < from[i + 1]; ++r)
      if (keep[r])
        out[k++] = x[r];
  }
}

/* Single: keep (one i1 per sample) -> number kept, lengths of those. */
KERNEL kept_samples(const nested_frame *f, int64_t begin, int64_t end,
                    void *scratch) {
  const uint8_t *keep = f->memrefs[0];
  const int64_t *lengths = f->memrefs[1];
  int64_t *number = f->memrefs[2], *kept = f->memrefs[3];
  (void)begin, (void)end, (void)scratch;
  *number = 0;
  for (int64_t i = 0; i < f->dims[1]; ++i)
    if (keep[i])
      kept[(*number)++] = lengths[i];
}

/* Single: x [N] f32, keep per sample -> the rows of those samples. */
KERNEL copy_samples(const nested_frame *f, int64_t begin, int64_t end,
                    void *scratch) {
  const float *x = f->memrefs[0];
  const uint8_t *keep = f->memrefs[1];
  float *out = f->memrefs[2];
  const int64_t *offsets = f->memrefs[3];
  (void)begin, (void)end, (void)scratch;
  for (int64_t i = 0; i + 1 < f->dims[3]; ++i)
    for (int64_t r = offsets[i]; keep[i] && r < offsets[i + 1]; ++r)
      *out++ = x[r];
}

/* Chunks of 4 rows: table [3] f32, index [N] i64 -> [N]; error record. */
KERNEL gather(const nested_frame *f, int64_t begin, int64_t end,
              void *scratch) {
  const float *table = f->memrefs[0];
  const int64_t *index = f->memrefs[1];
  float *out = f->memrefs[2];
  int64_t *error = f->memrefs[3];
  int64_t total = f->scalars[0], last = end * 4 < total ? end * 4 : total;
  (void)scratch;
  for (int64_t r = begin * 4; r < last; ++r) {
    int64_t i = index[r];
    if (i < 0 || i >= f->dims[0]) {
      if (!error[0]) {
        error[0] = 1;
        error[1] = i;
        error[2] = r;
      }
      i = 0;
    }
    out[r] = table[i];
  }
}

/* Groups: sums of tokens per instance of [B, S]. x [T] f32 -> [] of [B, S];
   tables: offsets of T, parent; second result: parent as f32. */
KERNEL sum_tokens(const nested_frame *f, int64_t begin, int64_t end,
                  void *scratch) {
  const float *x = f->memrefs[0];
  float *sum = f->memrefs[1], *sample = f->memrefs[2];
  const int64_t *offsets = f->memrefs[3], *parent = f->memrefs[4];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    sum[i] = 0;
    for (int64_t r = offsets[i]; r < offsets[i + 1]; ++r)
      sum[i] += x[r];
    sample[i] = (float)parent[i];
  }
}

/* Chunks of 4 rows: doubles x [N] into out [N], in place or not. */
KERNEL double_rows(const nested_frame *f, int64_t begin, int64_t end,
                   void *scratch) {
  const float *x = f->memrefs[0];
  float *out = f->memrefs[1];
  int64_t total = f->scalars[0], last = end * 4 < total ? end * 4 : total;
  (void)scratch;
  for (int64_t r = begin * 4; r < last; ++r)
    out[r] = 2 * x[r];
}

/* Single: reverses x [N] of the whole batch into out: reading and writing the
   same memory would go wrong. */
KERNEL reverse_all(const nested_frame *f, int64_t begin, int64_t end,
                   void *scratch) {
  const float *x = f->memrefs[0];
  float *out = f->memrefs[1];
  int64_t total = f->scalars[0];
  (void)begin, (void)end, (void)scratch;
  for (int64_t r = 0; r < total; ++r)
    out[r] = x[total - 1 - r];
}

/* Single: dense a [3, 2] f32 -> its sum over the first dim, [2]. */
KERNEL sum_dense(const nested_frame *f, int64_t begin, int64_t end,
                 void *scratch) {
  const float *a = f->memrefs[0];
  float *out = f->memrefs[1];
  (void)begin, (void)end, (void)scratch;
  for (int c = 0; c < 2; ++c)
    out[c] = a[c] + a[2 + c] + a[4 + c];
}

/* Groups: writes, for each unit, one more than it finds (each unit runs
   once), through three temps. */
KERNEL fill_ones(const nested_frame *f, int64_t begin, int64_t end,
                 void *scratch) {
  float *out = f->memrefs[0];
  (void)scratch;
  for (int64_t u = begin; u < end; ++u)
    out[u] = 1;
}
KERNEL add_one(const nested_frame *f, int64_t begin, int64_t end,
               void *scratch) {
  const float *x = f->memrefs[0];
  float *out = f->memrefs[1];
  (void)scratch;
  for (int64_t u = begin; u < end; ++u)
    out[u] = x[u] + 1;
}
