/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Yardsticks of the benchmarks: the most that the machine does, timed in the
 * same process, and calls of the runtime without Python. Compiled at run time
 * by the host's compiler, with -march=native. */
#include "nested/runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));

#if defined(__x86_64__)
#define IN_REGISTER "+x"
#if defined(__AVX512F__)
#undef IN_REGISTER
#define IN_REGISTER "+v"
#endif
#else
#define IN_REGISTER "+w"
#endif

int64_t vector_bytes(void) { return VECTOR_BYTES; }

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Independent chains of multiply-adds: with 12 of them, 6 steps of latency are
   covered on two units. */
#define CHAINS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define NUM_CHAINS 12

static void multiply_add(int64_t iterations) {
  vector factor = {0}, term = {0};
  __asm__ volatile("" : IN_REGISTER(factor), IN_REGISTER(term));
#define DECLARE(n) vector chain##n = {0};
#define STEP(n) chain##n = chain##n * factor + term;
#define KEEP(n) __asm__ volatile("" : IN_REGISTER(chain##n));
  CHAINS(DECLARE)
  for (int64_t i = 0; i < iterations; ++i) {
    CHAINS(STEP)
    CHAINS(KEEP)
  }
}

struct job {
  int64_t iterations;
  const char *source;
  char *target;
  size_t bytes;
  pthread_barrier_t *start;
};

static void *work(void *pointer) {
  struct job *job = pointer;
  pthread_barrier_wait(job->start);
  if (job->iterations)
    multiply_add(job->iterations);
  else
    memcpy(job->target, job->source, job->bytes);
  return NULL;
}

/* Runs the jobs at once, one on this thread; gives the seconds from the start
   of all to the end of the last. */
#define MAX_THREADS 64
static double run_jobs(struct job *jobs, int64_t threads) {
  pthread_t ids[MAX_THREADS];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int64_t i = 0; i < threads; ++i) {
    jobs[i].start = &barrier;
    if (i)
      pthread_create(&ids[i], NULL, work, &jobs[i]);
  }
  pthread_barrier_wait(&barrier);
  double start = seconds();
  if (jobs[0].iterations)
    multiply_add(jobs[0].iterations);
  else
    memcpy(jobs[0].target, jobs[0].source, jobs[0].bytes);
  for (int64_t i = 1; i < threads; ++i)
    pthread_join(ids[i], NULL);
  double spent = seconds() - start;
  pthread_barrier_destroy(&barrier);
  return spent;
}

/* Floating-point operations per second of multiply-adds in registers. */
double fma_rate(int64_t iterations, int64_t threads) {
  struct job jobs[MAX_THREADS] = {{0}};
  for (int64_t i = 0; i < threads; ++i)
    jobs[i].iterations = iterations;
  double flops = 2.0 * NUM_CHAINS * (VECTOR_BYTES / 4);
  return flops * (double)(iterations * threads) / run_jobs(jobs, threads);
}

/* Bytes per second of memcpy: those read and those written. */
double copy_rate(char *target, const char *source, int64_t bytes,
                 int64_t threads) {
  struct job jobs[MAX_THREADS] = {{0}};
  int64_t part = bytes / threads;
  for (int64_t i = 0; i < threads; ++i) {
    jobs[i].source = source + i * part;
    jobs[i].target = target + i * part;
    jobs[i].bytes = (size_t)(i + 1 < threads ? part : bytes - i * part);
  }
  return 2.0 * (double)bytes / run_jobs(jobs, threads);
}

/* Seconds of one call of an entry of one argument and one result, both f32
   [N, features], on one sample of one row: of nested_plan and its release, and
   of nested_run with memory of the caller. Negative on errors. */
int time_calls(const char *path, int64_t features, int64_t repeats,
               double *plan_seconds, double *run_seconds) {
  nested_artifact_t *artifact = NULL;
  const nested_entry_t *entry = NULL;
  nested_plan_t *plan = NULL;
  static float x[4096], y[4096];
  static _Alignas(64) char workspace[1 << 20];
  if (features > 4096 || nested_open_file(path, 0, &artifact) ||
      nested_find_entry(artifact, NULL, &entry))
    return 1;
  const int64_t lengths[1] = {1}, *lengths_of_x[1] = {lengths};
  const int64_t shape[2] = {-1, features};
  nested_argument arg = NESTED_INIT(nested_argument);
  arg.data = x;
  arg.dtype = NESTED_F32;
  arg.rank = 2;
  arg.shape = shape;
  arg.num_samples = 1;
  arg.lengths = lengths_of_x;
  arg.row_capacity = 1;
  nested_result result = NESTED_INIT(nested_result);
  result.data = y;
  result.row_capacity = 1;
  double start = seconds();
  for (int64_t i = 0; i < repeats; ++i) {
    nested_plan_release(plan);
    plan = NULL;
    if (nested_plan(entry, &arg, 1, NULL, &plan))
      return 1;
  }
  *plan_seconds = (seconds() - start) / (double)repeats;
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  if (nested_plan_get_info(plan, &info) ||
      info.workspace_bytes > (int64_t)sizeof workspace)
    return 1;
  start = seconds();
  for (int64_t i = 0; i < repeats; ++i)
    if (nested_run(plan, &arg, 1, &result, 1, workspace))
      return 1;
  *run_seconds = (seconds() - start) / (double)repeats;
  nested_plan_release(plan);
  nested_close(artifact);
  return 0;
}
