//===- program.h - Errors, files, progress ------------------------*- C -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROGRAM_H
#define PROGRAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// Prints "run_block: <message>" to stderr and exits with 1.
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format,
                                                         ...);

// Zeroed; never null, also for 0 bytes. To be freed.
void *allocate(size_t count, size_t size);

// The whole file, with a zero behind it. To be freed.
char *read_file(const char *path, size_t *size);

// "1.25 GB"; valid until the eighth call after it.
const char *amount(double value, const char *unit);

// A line on stderr for what takes more than two seconds, until it is stopped.
typedef struct Progress {
  const char *what;
  double start, expected; // expected: seconds, 0 if unknown
  bool done;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t stopped;
} Progress;

void start_progress(Progress *p, const char *what, double expected);
// Returns the seconds since the start.
double stop_progress(Progress *p);

#endif // PROGRAM_H
