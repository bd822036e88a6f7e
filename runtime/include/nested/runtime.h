//===- nested/runtime.h - Running compiled ragged programs ------*- C -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole interface between a program and the runtime: open an artifact, plan
// a call for given lengths, run it. C11 and C++17. docs/Runtime.md has a
// complete example.
//
// Rules that hold for every function here:
//
// * Functions that can fail return a nested_status. On anything but NESTED_OK
//   the out parameters are untouched unless said otherwise, nothing is leaked,
//   and nested_last_error() of the same thread has the message.
// * Records start with `struct_size`; the caller sets it to sizeof(record) of
//   the header it was compiled with and zeroes the rest (NESTED_INIT does
//   both). Zero is the default of every field. The runtime reads and writes
//   only fields inside struct_size, so a program and a runtime of different
//   age work together. All records of one array have the same struct_size.
// * `reserved` fields must be zero.
// * Signatures never change; a changed function gets a new name (`_v2`).
// * Handles may be used from several threads at once, except while one of
//   them releases the handle.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_H
#define NESTED_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NESTED_VERSION_MAJOR 0
#define NESTED_VERSION_MINOR 1
#define NESTED_VERSION_PATCH 0
#define NESTED_VERSION                                                         \
  (NESTED_VERSION_MAJOR * 10000 + NESTED_VERSION_MINOR * 100 +                 \
   NESTED_VERSION_PATCH)
/* The kernel ABI (docs/Artifact.md, section 3) that this header belongs to. */
#define NESTED_ABI_VERSION 1

#if defined(NESTED_RUNTIME_STATIC)
#define NESTED_API
#else
#define NESTED_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define NESTED_STATIC_ASSERT(cond, text) static_assert(cond, text)
#define NESTED_NOEXCEPT noexcept
#else
#define NESTED_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#define NESTED_NOEXCEPT
#endif

/* A record of the given type, zeroed and with its size set:
     nested_argument x = NESTED_INIT(nested_argument);                        */
#ifdef __cplusplus
#define NESTED_INIT(type) (::nested_c_api::init<type>())
#else
#define NESTED_INIT(type) ((type){.struct_size = (uint32_t)sizeof(type)})
#endif

/*===----------------------------------------------------------------------===*/
/* Status                                                                     */
/*===----------------------------------------------------------------------===*/

typedef enum nested_status {
  NESTED_OK = 0,
  /* A parameter breaks a rule of this header or of the entry's signature:
     lengths that disagree, a wrong dtype, a null or misaligned buffer. Correct
     the call; repeating it cannot help. Nothing was computed. */
  NESTED_INVALID_ARGUMENT = 1,
  /* The file is not an artifact, is damaged, is too new, or is for another
     machine. Get another file. Nothing of it was executed. */
  NESTED_INVALID_ARTIFACT = 2,
  /* The plan is above the caller's or the machine's limit, or the allocator
     returned null. A smaller batch, or the same later, may work. */
  NESTED_OUT_OF_MEMORY = 3,
  /* Well-formed, but this runtime or artifact cannot do it. */
  NESTED_UNSUPPORTED = 4,
  /* The operating system refused to open, read or map a file. */
  NESTED_IO_ERROR = 5,
  /* The program met bad data in a buffer while it ran: an index out of range,
     a negative length. The results are undefined. Correct the data. */
  NESTED_DATA_ERROR = 6,
  /* A broken promise inside the runtime or the artifact. Please report it. */
  NESTED_INTERNAL_ERROR = 7
} nested_status;

/* A static string: "invalid argument". Never null, never freed. */
NESTED_API const char *nested_status_name(nested_status status) NESTED_NOEXCEPT;

/* The message of the last call that failed on this thread; "" if none did.
   Borrowed; valid until the next call that fails on this thread. */
NESTED_API const char *nested_last_error(void) NESTED_NOEXCEPT;

/* NESTED_VERSION and NESTED_ABI_VERSION of the library itself. */
NESTED_API uint32_t nested_runtime_version(void) NESTED_NOEXCEPT;
NESTED_API uint32_t nested_runtime_abi_version(void) NESTED_NOEXCEPT;

/*===----------------------------------------------------------------------===*/
/* Element types, kinds, devices                                              */
/*===----------------------------------------------------------------------===*/

typedef enum nested_dtype {
  NESTED_DTYPE_NONE = 0,
  NESTED_I1 = 1, /* one byte each, 0 or 1 */
  NESTED_I8 = 2,
  NESTED_I16 = 3,
  NESTED_I32 = 4,
  NESTED_I64 = 5,
  NESTED_U8 = 6,
  NESTED_U16 = 7,
  NESTED_U32 = 8,
  NESTED_U64 = 9,
  NESTED_F16 = 10,
  NESTED_BF16 = 11,
  NESTED_F32 = 12,
  NESTED_F64 = 13
} nested_dtype;

/* Bytes of one element, 0 for an unknown dtype. */
NESTED_API size_t nested_dtype_size(int32_t dtype) NESTED_NOEXCEPT;
/* "f32", as in types and manifests; null for an unknown dtype. Static. */
NESTED_API const char *nested_dtype_name(int32_t dtype) NESTED_NOEXCEPT;
/* The inverse of nested_dtype_name; NESTED_DTYPE_NONE for an unknown name.
   `name` is borrowed for the call. */
NESTED_API int32_t nested_dtype_from_name(const char *name) NESTED_NOEXCEPT;

typedef enum nested_kind {
  NESTED_KIND_RAGGED = 0, /* one element per sample, stored packed */
  NESTED_KIND_DENSE = 1   /* one array for all samples */
} nested_kind;

/* The numbers are those of DLPack; 0 reads as the CPU. */
typedef enum nested_device_type {
  NESTED_DEVICE_DEFAULT = 0,
  NESTED_DEVICE_CPU = 1,
  NESTED_DEVICE_CUDA = 2
} nested_device_type;

/*===----------------------------------------------------------------------===*/
/* Artifacts                                                                  */
/*===----------------------------------------------------------------------===*/

/* An opened artifact. Owned by whoever opened it, until nested_close. */
typedef struct nested_artifact_t nested_artifact_t;
/* One callable program of an artifact. Borrowed from it; valid as long as it.
 */
typedef struct nested_entry_t nested_entry_t;

/* Flags of nested_open_*. */
enum {
  /* Read and check everything but the machine, and load nothing: for tools
     that inspect artifacts of other machines. Planning works, running does
     not. */
  NESTED_OPEN_INSPECT = 1u
};

/* Opens the file at `path` (borrowed for the call). On success `*artifact` is
   owned by the caller. The file may be replaced (renamed over) afterwards. */
NESTED_API nested_status nested_open_file(const char *path, uint32_t flags,
                                          nested_artifact_t **artifact)
    NESTED_NOEXCEPT;

/* The same from `size` bytes at `data`, which are borrowed for the call and
   copied. `name` (borrowed for the call, may be null) stands for the file name
   in messages. */
NESTED_API nested_status nested_open_memory(
    const void *data, size_t size, const char *name, uint32_t flags,
    nested_artifact_t **artifact) NESTED_NOEXCEPT;

/* Gives up the caller's ownership; null is allowed. The code stays loaded until
   the last plan made from it is released too. */
NESTED_API void nested_close(nested_artifact_t *artifact) NESTED_NOEXCEPT;

/* The manifest, JSON text as docs/Artifact.md describes it. The result is
   borrowed from the artifact and ends with a zero; `*size` (may be null)
   receives its length without the zero. Never null. */
NESTED_API const char *
nested_artifact_manifest(const nested_artifact_t *artifact,
                         size_t *size) NESTED_NOEXCEPT;

/* The program as MLIR text, "" when it was stripped. As the manifest. */
NESTED_API const char *
nested_artifact_program(const nested_artifact_t *artifact,
                        size_t *size) NESTED_NOEXCEPT;

/* Number of entries, and the one at `index` (null when out of range). */
NESTED_API int64_t nested_num_entries(const nested_artifact_t *artifact)
    NESTED_NOEXCEPT;
NESTED_API const nested_entry_t *
nested_get_entry(const nested_artifact_t *artifact,
                 int64_t index) NESTED_NOEXCEPT;

/* The entry called `name` (borrowed for the call); null or "" names the only
   entry of an artifact that has one. The error of an unknown name lists those
   that exist. `*entry` is borrowed from the artifact. */
NESTED_API nested_status
nested_find_entry(const nested_artifact_t *artifact, const char *name,
                  const nested_entry_t **entry) NESTED_NOEXCEPT;

/*===----------------------------------------------------------------------===*/
/* Signatures                                                                 */
/*===----------------------------------------------------------------------===*/

/* An argument or result as the program declares it. Every pointer in it is
   borrowed from the artifact and valid as long as it. */
typedef struct nested_value_info {
  uint32_t struct_size; /* in: set by the caller */
  int32_t kind;         /* nested_kind */
  const char *name;     /* "x", "w.u"; results are called "0", "1", ... */
  int32_t dtype;        /* nested_dtype */
  int32_t rank;         /* number of logical dims of one element */
  /* `rank` strings, logical order: "N", "384", "N * M". */
  const char *const *extents;
  /* `rank` sizes, logical order; -1 where the extent is not a number. */
  const int64_t *shape;
  /* `rank` dims in the order in which they are stored: order[0] is the logical
     dim that varies slowest. */
  const int32_t *order;
  /* `path_rank` names: {"B"} for one element per sample; {"B", "S"} for one per
     sentence of a sample; none for a dense value. */
  const char *const *path;
  int32_t path_rank;
  int32_t num_ragged; /* how many entries of shape are -1 */
  /* The stored values are an array [rows, static dims...]: how many of the
     dims of `order`, from the front, are counted in rows, and the bytes of one
     row. Dense values are one row. */
  int32_t row_rank;
  uint32_t flags; /* NESTED_VALUE_* */
  int64_t row_bytes;
  const char *where; /* source location, "" if unknown */
  uint64_t reserved[4];
} nested_value_info;

enum {
  NESTED_VALUE_MUTABLE = 1u,   /* argument: updated in place by the run */
  NESTED_VALUE_FROM_DATA = 2u, /* result: its lengths depend on data */
  NESTED_VALUE_PREPARED = 4u   /* argument: nested_prepare reads it, and a
                                  prepared block may stand for it */
};

/* A symbol of a signature: one length per instance of `path`. Pointers are
   borrowed from the artifact. */
typedef struct nested_symbol_info {
  uint32_t struct_size; /* in */
  int32_t path_rank;
  const char *name;
  const char *const *path; /* `path_rank` names */
  int32_t arg;             /* the argument that binds it; -1: comes from data */
  int32_t dim;       /* that argument's logical dim; -k: its path component k */
  const char *upper; /* bound of a symbol that comes from data, else null */
  uint64_t reserved[2];
} nested_symbol_info;

/* Borrowed from the artifact. */
NESTED_API const char *
nested_entry_name(const nested_entry_t *entry) NESTED_NOEXCEPT;
NESTED_API int64_t nested_entry_num_args(const nested_entry_t *entry)
    NESTED_NOEXCEPT;
NESTED_API int64_t nested_entry_num_results(const nested_entry_t *entry)
    NESTED_NOEXCEPT;
NESTED_API int64_t nested_entry_num_symbols(const nested_entry_t *entry)
    NESTED_NOEXCEPT;

/* Fill `*info` (owned by the caller, struct_size set). */
NESTED_API nested_status
nested_entry_arg(const nested_entry_t *entry, int64_t index,
                 nested_value_info *info) NESTED_NOEXCEPT;
NESTED_API nested_status
nested_entry_result(const nested_entry_t *entry, int64_t index,
                    nested_value_info *info) NESTED_NOEXCEPT;
NESTED_API nested_status
nested_entry_symbol(const nested_entry_t *entry, int64_t index,
                    nested_symbol_info *info) NESTED_NOEXCEPT;

/* Bytes of the block that nested_prepare fills for this entry; 0 when nothing
   of it can be prepared. */
NESTED_API int64_t nested_entry_prepared_bytes(const nested_entry_t *entry)
    NESTED_NOEXCEPT;

/*===----------------------------------------------------------------------===*/
/* Arguments                                                                  */
/*===----------------------------------------------------------------------===*/

/* Flags of nested_argument and nested_result. */
enum {
  /* The memory must not be written. It is an error as a result, or as an
     argument that the program updates in place. */
  NESTED_READ = 1u,
  /* The caller gives the memory up to the result number `donated_to`: passing
     it as that result's data as well is allowed. (An artifact that cannot work
     in place copies the argument first; plan counts that.) */
  NESTED_DONATED = 2u,
  /* The program may update the memory in place; required where
     NESTED_VALUE_MUTABLE is set. */
  NESTED_MUTABLE = 4u,
  /* `data` is the block that nested_prepare made of this argument and of all
     others with NESTED_VALUE_PREPARED: each of them has the flag and the block,
     or none has. `row_capacity` is the bytes of the block; strides are ignored.
   */
  NESTED_PREPARED = 8u
};

/* One argument of a call. The record and all that it points to are borrowed:
   tables (shape, strides, lengths, path_lengths, base) for the call of
   nested_plan or nested_run that gets them, data for nested_run. */
typedef struct nested_argument {
  uint32_t struct_size;
  uint32_t flags;
  /* First element of row 0. May be null when no row is needed. Must be aligned
     to the element size. nested_plan does not read it. */
  void *data;
  int32_t dtype; /* nested_dtype; must be the declared one */
  int32_t rank;  /* logical dims of one element (dense: of the array) */
  /* `rank` sizes, logical order, -1 for ragged dims. Static ones are checked
     against the signature. */
  const int64_t *shape;
  /* Elements between neighbours, one for each storage dim: ragged values have
     [row, static dims...] (1 + rank - row_rank numbers), dense ones have one
     for each dim in the order of nested_value_info.order. Null: contiguous.
     Other strides (not negative) are packed into the workspace by each run;
     plan counts that. */
  const int64_t *strides;
  /* Number of samples; 0 is ordinary. Ignored for dense arguments. */
  int64_t num_samples;
  /* One pointer for each ragged dim (shape -1), logical order; each to one
     length per instance of the argument's path, i.e. per sample for {"B"}. An
     entry may be null where the length follows from other arguments. Null
     altogether when no dim is ragged. */
  const int64_t *const *lengths;
  /* For paths of more than one component: one pointer for each component after
     the first, to one length per instance of the path before it. May be null
     where the lengths follow from other arguments. */
  const int64_t *const *path_lengths;
  /* The first row of each instance, in rows from `data`; null: packed without
     gaps from row 0. Starts other than 0, gaps, and rows that no instance owns
     are ordinary. Values must not be negative and must not decrease; instances
     may share rows (they are read only), unless the argument is mutable. */
  const int64_t *base;
  /* Rows that exist at `data`; no row at or behind it is touched. Ignored for
     dense arguments, whose shape says it, unless they are prepared. */
  int64_t row_capacity;
  int32_t device_type; /* nested_device_type */
  int32_t device_id;
  int32_t donated_to; /* with NESTED_DONATED: number of the result */
  int32_t reserved0;
  uint64_t reserved[4];
} nested_argument;

/*===----------------------------------------------------------------------===*/
/* Threads, memory, options                                                   */
/*===----------------------------------------------------------------------===*/

/* Threads that runs share. Owned by the creator, who destroys it after the
   last plan that uses it is released. */
typedef struct nested_pool_t nested_pool_t;

/* A pool in which `threads` threads work: the caller of a run and threads - 1
   sleeping helpers. 0: as many as the processors this process may use. */
NESTED_API nested_status
nested_pool_create(int64_t threads, nested_pool_t **pool) NESTED_NOEXCEPT;
/* Joins the helpers. Null is allowed. No run may be using the pool. */
NESTED_API void nested_pool_destroy(nested_pool_t *pool) NESTED_NOEXCEPT;
NESTED_API int64_t nested_pool_threads(const nested_pool_t *pool)
    NESTED_NOEXCEPT;

/* Threads of the pool that plans without a pool of their own use; 0: all the
   processors this process may use (the default). Plans made before keep what
   they had. */
NESTED_API nested_status nested_set_default_threads(int64_t threads)
    NESTED_NOEXCEPT;
NESTED_API int64_t nested_default_threads(void) NESTED_NOEXCEPT;

/* Where results without memory of their own, and workspaces, come from. Null
   functions: the C library. */
typedef struct nested_allocator {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Returns `bytes` (> 0) at a multiple of `alignment` (a power of two), owned
     by the runtime or, for results, by the caller of nested_run; null when
     there is no memory. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment,
                    int32_t device_type, int32_t device_id);
  /* Takes back what `allocate` gave. */
  void (*deallocate)(void *user, void *memory, size_t bytes, size_t alignment,
                     int32_t device_type, int32_t device_id);
  void *user; /* passed through; stays the caller's */
  uint64_t reserved[2];
} nested_allocator;

/* What took how long, for tools that show where time goes. */
typedef enum nested_event_kind {
  NESTED_EVENT_STEP = 0, /* a step of the plan, from start to end; several when
                            samples take turns */
  NESTED_EVENT_GRAIN = 1 /* a piece of a launch, on one thread */
} nested_event_kind;

typedef struct nested_event {
  uint32_t struct_size;
  int32_t kind;             /* nested_event_kind */
  int64_t step;             /* as in nested_plan_get_step */
  int64_t worker;           /* thread of the pool; 0 is the caller of the run */
  int64_t begin, end;       /* units of a grain; 0 and 0 for a step */
  int64_t start_ns, end_ns; /* nanoseconds of a clock that never goes back */
} nested_event;

typedef struct nested_options {
  uint32_t struct_size;
  uint32_t flags; /* zero */
  /* Borrowed until the plan is released; null: the default pool. */
  nested_pool_t *pool;
  /* Borrowed for the call; the record is copied, the functions and `user` must
     work until the plan is released. Null: the C library. */
  const nested_allocator *allocator;
  /* Reserved for devices with queues. Null. */
  void *stream;
  /* Refuse plans with more peak_bytes than this; 0: what the machine has
     available. */
  int64_t max_bytes;
  /* Called by runs of the plan for each step and each grain, from the thread
     that worked, several at once; must not fail. The event is borrowed. Null:
     nothing is timed. */
  void (*on_event)(void *user, const nested_event *event);
  void *event_user; /* passed through; stays the caller's */
  uint64_t reserved[2];
} nested_options;

/*===----------------------------------------------------------------------===*/
/* Plans                                                                      */
/*===----------------------------------------------------------------------===*/

/* Everything about a call that does not depend on data: checked lengths, result
   shapes, tables, memory. Immutable, so several threads may run one plan at
   once (with different results and workspaces). Owned by whoever made it, until
   nested_plan_release. */
typedef struct nested_plan_t nested_plan_t;

/* Plans a call. `args` is an array of `num_args` records (data may be null),
   `options` may be null; both are borrowed for the call, and the plan copies
   what it needs. On success `*plan` is owned by the caller. Does not touch
   data, and allocates only the plan itself: a call that memory would not hold
   is refused (NESTED_OUT_OF_MEMORY) with the numbers. */
NESTED_API nested_status nested_plan(const nested_entry_t *entry,
                                     const nested_argument *args,
                                     int64_t num_args,
                                     const nested_options *options,
                                     nested_plan_t **plan) NESTED_NOEXCEPT;

/* Null is allowed. */
NESTED_API void nested_plan_release(nested_plan_t *plan) NESTED_NOEXCEPT;

typedef struct nested_plan_info {
  uint32_t struct_size; /* in */
  /* 1: all sizes are exact; 0: some come from data and are upper bounds. */
  int32_t exact;
  int64_t num_results;
  int64_t num_steps;
  int64_t threads; /* that a run uses at most */
  /* What a run needs beside its arguments: results + workspace + tables. */
  int64_t peak_bytes;
  int64_t result_bytes;
  /* Of one buffer that nested_run takes or allocates: temps, scratch of all
     threads, packed copies of strided arguments, bookkeeping. */
  int64_t workspace_bytes;
  int64_t temp_bytes;
  int64_t scratch_bytes;
  int64_t staging_bytes; /* packed or protected copies of arguments */
  int64_t table_bytes;   /* lengths and offsets, inside the plan */
  double flops;          /* of all steps */
  double bytes_moved;    /* between kernels and memory */
  /* As nested_entry_prepared_bytes; no part of peak_bytes. */
  int64_t prepared_bytes;
  uint64_t reserved[3];
} nested_plan_info;

/* One result of a planned call. Pointers are borrowed from the plan. */
typedef struct nested_result_info {
  uint32_t struct_size; /* in */
  int32_t exact; /* 0: rows, bytes and lengths are bounds; run has the truth */
  int64_t rows;  /* dense values: 1 */
  int64_t row_bytes;
  int64_t bytes;         /* rows * row_bytes */
  int64_t num_samples;   /* 1 for dense values */
  int64_t num_instances; /* of the path: num_samples for {"B"} */
  /* One pointer for each ragged dim, logical order, to num_instances lengths;
     null without ragged dims. */
  const int64_t *const *lengths;
  /* One for each path component after the first; null without those. */
  const int64_t *const *path_lengths;
  /* Packed: first row of each instance, num_instances + 1 values, the last is
     rows. Null for dense values. */
  const int64_t *offsets;
  uint64_t reserved[4];
} nested_result_info;

/* One argument of a planned call. Pointers are borrowed from the plan. */
typedef struct nested_argument_info {
  uint32_t struct_size; /* in */
  int32_t staged; /* 1: copied into the workspace by each run (strided, ...) */
  int64_t rows;   /* that all instances have together; dense values: 1 */
  int64_t row_capacity; /* the least that nested_argument.row_capacity may be */
  int64_t row_bytes;    /* of a row when it is contiguous */
  int64_t num_instances; /* of the path; dense values: 1 */
  /* First row of each instance if they were packed, num_instances + 1 values.
     Null for dense values. */
  const int64_t *offsets;
  uint64_t reserved[4];
} nested_argument_info;

/* One step of a planned call. Pointers are borrowed from the artifact. */
typedef struct nested_step_info {
  uint32_t struct_size; /* in */
  int32_t reserved0;
  const char *op;     /* "launch", "copy", ... */
  const char *kernel; /* of a launch, else "" */
  int64_t rows;
  int64_t units;  /* what the kernel counts in */
  int64_t grains; /* pieces that threads take; 0: left out, because it was
                     prepared or has no units */
  double flops;
  double bytes;
  uint64_t reserved[4];
} nested_step_info;

/* Fill `*info` (owned by the caller, struct_size set). */
NESTED_API nested_status nested_plan_get_info(
    const nested_plan_t *plan, nested_plan_info *info) NESTED_NOEXCEPT;
NESTED_API nested_status
nested_plan_get_argument(const nested_plan_t *plan, int64_t index,
                         nested_argument_info *info) NESTED_NOEXCEPT;
NESTED_API nested_status
nested_plan_get_result(const nested_plan_t *plan, int64_t index,
                       nested_result_info *info) NESTED_NOEXCEPT;
NESTED_API nested_status
nested_plan_get_step(const nested_plan_t *plan, int64_t index,
                     nested_step_info *info) NESTED_NOEXCEPT;

/*===----------------------------------------------------------------------===*/
/* Preparing                                                                  */
/*===----------------------------------------------------------------------===*/

/* Does once what calls of the entry would each do with shared arguments alone
   (weights: packing, converting, products of them). Reads the arguments with
   NESTED_VALUE_PREPARED and writes all that calls need of them to `prepared`:
   `bytes` bytes of the caller at a multiple of 64, at least
   nested_entry_prepared_bytes. Plans and runs then take the block in place of
   these arguments (NESTED_PREPARED). It is the caller's, is only read by runs,
   and stands for the arguments as they were: they may be changed or freed
   without effect on it. It holds no pointers and may be moved, written to a
   file and read by another process; it belongs to this entry of this artifact,
   and runs refuse any other. `args` has a record for each argument of the
   entry; of those without NESTED_VALUE_PREPARED only struct_size is read.
   `options` (may be null) are those of a plan. Where nothing can be prepared,
   nothing is done and `prepared` may be null. On an error the block is
   unusable, and runs refuse it. */
NESTED_API nested_status nested_prepare(const nested_entry_t *entry,
                                        const nested_argument *args,
                                        int64_t num_args,
                                        const nested_options *options,
                                        void *prepared,
                                        int64_t bytes) NESTED_NOEXCEPT;

/*===----------------------------------------------------------------------===*/
/* Runs                                                                       */
/*===----------------------------------------------------------------------===*/

/* One result of a run. The record is borrowed for the call. */
typedef struct nested_result {
  uint32_t struct_size;
  uint32_t flags; /* NESTED_READ is an error */
  /* In: memory of the caller for the rows that plan reported, contiguous,
     aligned to the element size; it stays the caller's. Null: the allocator
     gives it; it is then owned by the caller and returned by
     nested_free_results (null stays null when the plan says 0 bytes). */
  void *data;
  /* In: rows that fit at `data`; ignored when data is null and for dense
     values. */
  int64_t row_capacity;
  int64_t rows;          /* out: rows of this run, all written */
  int64_t num_instances; /* out: of the path; differs from the plan only for
                            results from data */
  /* In, may be null: one pointer for each ragged dim, to room for
     num_instances lengths as plan reported it; entries may be null. Out: the
     lengths of this run. The arrays stay the caller's. */
  int64_t *const *lengths;
  /* In, may be null; out: the same for path components after the first. */
  int64_t *const *path_lengths;
  int32_t device_type;
  int32_t device_id;
  uint64_t reserved[4];
} nested_result;

/* Runs a plan. `args` has the arguments of the plan, in order: the same dtypes,
   ranks, strides, flags and devices, lengths and bases are taken from the plan
   and ignored here; data and row_capacity count. `results` has one record for
   each result. `workspace` is memory of the caller of at least workspace_bytes
   at a multiple of 64, borrowed for the call and left with arbitrary contents,
   or null: then it is taken from the allocator and given back. Arguments and
   results must not overlap each other, except donated arguments. On an error,
   results that the allocator gave are taken back and contents of results of
   the caller are undefined. Returns when all results are written. */
NESTED_API nested_status nested_run(const nested_plan_t *plan,
                                    const nested_argument *args,
                                    int64_t num_args, nested_result *results,
                                    int64_t num_results,
                                    void *workspace) NESTED_NOEXCEPT;

/* Gives memory that nested_run took for results (data was null) back to the
   plan's allocator and sets data to null. Must not be called with memory of
   the caller. */
NESTED_API void nested_free_results(const nested_plan_t *plan,
                                    nested_result *results,
                                    int64_t num_results) NESTED_NOEXCEPT;

/*===----------------------------------------------------------------------===*/
/* Changing a size breaks the ABI: take from `reserved`, or append. */
/*===----------------------------------------------------------------------===*/

#if UINTPTR_MAX == 0xffffffffffffffffu
NESTED_STATIC_ASSERT(sizeof(nested_value_info) == 120, "nested_value_info");
NESTED_STATIC_ASSERT(sizeof(nested_symbol_info) == 56, "nested_symbol_info");
NESTED_STATIC_ASSERT(sizeof(nested_argument) == 128, "nested_argument");
NESTED_STATIC_ASSERT(sizeof(nested_allocator) == 48, "nested_allocator");
NESTED_STATIC_ASSERT(sizeof(nested_event) == 56, "nested_event");
NESTED_STATIC_ASSERT(sizeof(nested_options) == 72, "nested_options");
NESTED_STATIC_ASSERT(sizeof(nested_plan_info) == 136, "nested_plan_info");
NESTED_STATIC_ASSERT(sizeof(nested_argument_info) == 80,
                     "nested_argument_info");
NESTED_STATIC_ASSERT(sizeof(nested_result_info) == 104, "nested_result_info");
NESTED_STATIC_ASSERT(sizeof(nested_step_info) == 96, "nested_step_info");
NESTED_STATIC_ASSERT(sizeof(nested_result) == 96, "nested_result");
#endif

/*===----------------------------------------------------------------------===*/
/* Padded arrays                                                              */
/*===----------------------------------------------------------------------===*/

/* Copies packed rows into an array (num_samples, sizes..., row) that has sizes
   for num_ragged axes, in packed order: the entries of a sample at the front,
   and fill_row, or zeros if that is null, behind them. `lengths` has one row of
   num_ragged numbers for each sample; none may exceed its size. Works on the
   default threads; the memories must not overlap. */
NESTED_API nested_status nested_pad(void *padded, const void *packed,
                                    int64_t num_samples, int32_t num_ragged,
                                    const int64_t *lengths,
                                    const int64_t *sizes, int64_t row_bytes,
                                    const void *fill_row) NESTED_NOEXCEPT;

/* Copies the entries back, and leaves out what is behind them. */
NESTED_API nested_status nested_unpad(void *packed, const void *padded,
                                      int64_t num_samples, int32_t num_ragged,
                                      const int64_t *lengths,
                                      const int64_t *sizes,
                                      int64_t row_bytes) NESTED_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */

namespace nested_c_api {
template <typename T>
inline T init() {
  T record = T();
  record.struct_size = static_cast<uint32_t>(sizeof(T));
  return record;
}
} // namespace nested_c_api
#endif

#endif /* NESTED_RUNTIME_H */
