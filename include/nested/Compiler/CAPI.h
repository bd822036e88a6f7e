/*===- CAPI.h - The compiler as a C library ---------------------*- C -*-===*\
|*                                                                            *|
|* Part of the nested project, under the Apache License v2.0 with LLVM        *|
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception        *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* For bindings to other languages. All functions may be called from several  *|
|* threads at once. Everything that they return is freed with                 *|
|* nested_compiler_free.                                                      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef NESTED_COMPILER_CAPI_H
#define NESTED_COMPILER_CAPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. */
enum {
  NESTED_COMPILE_OK = 0,
  NESTED_COMPILE_USER_ERROR = 1,
  NESTED_COMPILE_BAD_OPTION = 2,
  NESTED_COMPILE_ENVIRONMENT_ERROR = 3,
  NESTED_COMPILE_INTERNAL_ERROR = 4
};

/* Gets one line of text, which is valid during the call only. */
typedef void (*nested_text_callback)(const char *text, void *user);

/* As --fuse of nested-compile. */
enum {
  NESTED_FUSE_COST = 0,  /* as bytes and operations say */
  NESTED_FUSE_NEVER = 1, /* each operation is a kernel of its own */
  NESTED_FUSE_ALWAYS = 2 /* what can be computed again is never stored */
};

/* Zero everywhere (but in struct_size) means the defaults. */
typedef struct nested_compile_options {
  /* sizeof(nested_compile_options); a newer library takes an older one. */
  size_t struct_size;
  /* As --target of nested-compile; null: "cpu", this machine. */
  const char *target;
  /* What diagnostics call the text; null: "<program>". */
  const char *file_name;
  /* Nonzero: leave the program out of the artifact. */
  int strip_ir;
  /* How operations are put together into kernels: a NESTED_FUSE_*. */
  int fuse;
  /* Optimization remarks, one line each; null: none. */
  nested_text_callback on_remark;
  /* Milliseconds per phase as lines "NAME MS"; null: none. */
  nested_text_callback on_timing;
  /* The last argument of the callbacks. */
  void *user;
  /* Compile only this entry; null: all. */
  const char *entry;
  /* Nonzero: keep sums in the program's order. */
  int no_reassociate;
} nested_compile_options;

/* Compiles a program to an artifact. `bytes` and `size` are set on success,
 * `diagnostics` always (to an empty text when there are none); `options` and
 * `diagnostics` may be null. */
int nested_compile(const char *text, size_t length,
                   const nested_compile_options *options, char **bytes,
                   size_t *size, char **diagnostics);

/* Compiles to a phase: "tensor", "generic", "kernels", "structure", "loops",
 * "llvm" give text (with a zero behind it), "object" an object file. */
int nested_lower_text(const char *text, size_t length, const char *phase,
                      const nested_compile_options *options, char **bytes,
                      size_t *size, char **diagnostics);

/* The program text inside an artifact. */
int nested_compiler_program(const char *artifact, size_t length, char **bytes,
                            size_t *size, char **diagnostics);

/* The names of the phases, separated by ", ". Not to be freed. */
const char *nested_phases(void);

/* Frees what the functions above returned; null is fine. */
void nested_compiler_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* NESTED_COMPILER_CAPI_H */
