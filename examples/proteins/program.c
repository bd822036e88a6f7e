//===- program.c - Errors, files, progress --------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

//===----------------------------------------------------------------------===//
// Errors, memory, numbers
//===----------------------------------------------------------------------===//

void die(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fflush(stdout);
  fputs("run_block: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
  exit(1);
}

void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory)
    die("out of memory (%zu x %zu bytes)", count, size);
  return memory;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *amount(double value, const char *unit) {
  static char texts[8][40];
  static int next;
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  char *text = texts[next++ % 8];
  int p = 0;
  while (value >= 999.5 && p < 6) {
    value /= 1000;
    ++p;
  }
  snprintf(text, sizeof(texts[0]),
           p == 0 || value >= 100 ? "%.0f %s%s" : "%.3g %s%s", value,
           prefixes[p], unit);
  return text;
}

char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file)
    die("can't open %s: %s", path, strerror(errno));
  size_t used = 0, room = 1 << 16;
  char *data = allocate(room + 1, 1);
  for (size_t got; (got = fread(data + used, 1, room - used, file)) > 0;) {
    used += got;
    if (used == room) {
      room *= 2;
      char *larger = realloc(data, room + 1);
      if (!larger)
        die("out of memory reading %s", path);
      data = larger;
    }
  }
  if (ferror(file))
    die("can't read %s: %s", path, strerror(errno));
  fclose(file);
  data[used] = 0;
  *size = used;
  return data;
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

static void *show_progress(void *argument) {
  Progress *p = argument;
  bool terminal = isatty(STDERR_FILENO), shown = false;
  struct timespec wake;
  clock_gettime(CLOCK_REALTIME, &wake);
  wake.tv_sec += 2;
  pthread_mutex_lock(&p->mutex);
  while (!p->done) {
    if (pthread_cond_timedwait(&p->stopped, &p->mutex, &wake) != ETIMEDOUT)
      continue;
    fprintf(stderr, "%s  %s: %.0f s", terminal ? "\r" : "", p->what,
            now() - p->start);
    if (p->expected > 0)
      fprintf(stderr, " of about %.0f s", p->expected);
    fputs(terminal ? " " : "\n", stderr);
    shown = true;
    wake.tv_sec += terminal ? 1 : 5;
  }
  pthread_mutex_unlock(&p->mutex);
  if (shown && terminal)
    fputs("\r\033[K", stderr);
  return NULL;
}

void start_progress(Progress *p, const char *what, double expected) {
  *p = (Progress){.what = what, .start = now(), .expected = expected};
  pthread_mutex_init(&p->mutex, NULL);
  pthread_cond_init(&p->stopped, NULL);
  if (pthread_create(&p->thread, NULL, show_progress, p))
    die("can't start a thread");
}

double stop_progress(Progress *p) {
  double seconds = now() - p->start;
  pthread_mutex_lock(&p->mutex);
  p->done = true;
  pthread_cond_signal(&p->stopped);
  pthread_mutex_unlock(&p->mutex);
  pthread_join(p->thread, NULL);
  pthread_mutex_destroy(&p->mutex);
  pthread_cond_destroy(&p->stopped);
  return seconds;
}
