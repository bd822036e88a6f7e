//===- run_block.c - The pair block on a batch of proteins, from C --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens block.so, which block.py compiled ahead of time, and runs it on the
// proteins of a FASTA or UniProt text file: all in one batch, then a second
// batch of another size and of other lengths through the same artifact. Needs
// the runtime library and libc; there is no compiler in this process.
//
//   1. Read weights (block.weights; README.md has its format) and sequences.
//   2. Open the artifact once, describe the arguments of its entry.
//   3. Per batch: plan, show the plan, run, keep some rows for check_rows.py.
//
//===----------------------------------------------------------------------===//

#include <nested/runtime.h>

#include "program.h"
#include "proteins.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Rows of the pair map that are kept of each protein, and bytes of all of them
// (with many proteins, fewer rows of each are kept).
enum { MAX_ROWS = 64, MIN_ROWS = 4, MAX_ROW_BYTES = 256 << 20 };
enum { MAX_LISTED = 16, MAX_ARRAYS = 64, MAX_RANK = 4 };

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static void check(nested_status status) {
  if (status != NESTED_OK)
    die("%s: %s", nested_status_name(status), nested_last_error());
}

// An array in the file, as block.py writes it (little endian).
typedef struct Array {
  char name[32];
  int64_t dtype; // nested_dtype
  int64_t rank;
  int64_t shape[MAX_RANK];
  int64_t offset, bytes; // in the file
} Array;

typedef struct Weights {
  char *data;
  const Array *arrays;
  int64_t count;
} Weights;

static Weights read_weights(const char *path) {
  Weights w;
  size_t size;
  w.data = read_file(path, &size);
  if (size < 16 || memcmp(w.data, "weights1", 8) != 0)
    die("%s is no file of weights", path);
  memcpy(&w.count, w.data + 8, 8);
  w.arrays = (const Array *)(w.data + 16);
  if (w.count < 0 || w.count > MAX_ARRAYS ||
      16 + (size_t)w.count * sizeof(Array) > size)
    die("%s is damaged: %lld arrays", path, (long long)w.count);
  for (int64_t i = 0; i < w.count; ++i) {
    const Array *a = &w.arrays[i];
    bool good = !a->name[31] && a->rank >= 0 && a->rank <= MAX_RANK &&
                a->offset >= 0 && a->offset <= (int64_t)size && a->bytes >= 0 &&
                a->bytes <= (int64_t)size - a->offset;
    double bytes = (double)nested_dtype_size((int32_t)a->dtype);
    for (int64_t k = 0; good && k < a->rank; ++k)
      bytes *= (double)a->shape[k];
    if (!good || bytes != (double)a->bytes)
      die("%s is damaged or truncated at array %lld", path, (long long)i);
  }
  return w;
}

static const Array *find_array(const Weights *w, const char *name) {
  for (int64_t i = 0; i < w->count; ++i)
    if (strcmp(w->arrays[i].name, name) == 0)
      return &w->arrays[i];
  die("the weights have no array '%s'", name);
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

// What all batches share.
typedef struct Session {
  const nested_entry_t *entry;
  int64_t num_args;
  const Weights *weights;
  int8_t token[256];
  double flops_per_second; // as measured, 0 before
} Session;

// The arguments of a call.
typedef struct Call {
  nested_argument *args;
  int64_t *tokens, *lengths;
  const int64_t *lengths_of_tokens[1];
  int64_t count, total;
} Call;

static const int64_t kShapeOfTokens[1] = {-1};

static Call make_call(const Session *s, const Protein *batch, int64_t count) {
  Call c = {.count = count};
  c.lengths = allocate((size_t)count, sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i)
    c.total += c.lengths[i] = batch[i].length;
  c.tokens = allocate((size_t)c.total, sizeof(int64_t));
  int64_t *token = c.tokens;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < batch[i].length; ++k)
      *token++ = s->token[(unsigned char)batch[i].letters[k]];

  c.args = allocate((size_t)s->num_args, sizeof(nested_argument));
  for (int64_t i = 0; i < s->num_args; ++i) {
    nested_argument *arg = &c.args[i];
    *arg = NESTED_INIT(nested_argument);
    arg->flags = NESTED_READ;
    nested_value_info info = NESTED_INIT(nested_value_info);
    check(nested_entry_arg(s->entry, i, &info));
    if (info.kind == NESTED_KIND_RAGGED) {
      arg->data = c.tokens;
      arg->dtype = NESTED_I64;
      arg->rank = 1;
      arg->shape = kShapeOfTokens;
      arg->num_samples = count;
      arg->row_capacity = c.total;
    } else {
      const Array *a = find_array(s->weights, info.name);
      arg->data = s->weights->data + a->offset;
      arg->dtype = (int32_t)a->dtype;
      arg->rank = (int32_t)a->rank;
      arg->shape = a->shape;
    }
  }
  return c;
}

// Plans the call; the status is that of nested_plan.
static nested_status plan_call(const Session *s, Call *c, int64_t max_bytes,
                               nested_plan_t **plan) {
  c->lengths_of_tokens[0] = c->lengths;
  for (int64_t i = 0; i < s->num_args; ++i)
    if (c->args[i].shape == kShapeOfTokens)
      c->args[i].lengths = c->lengths_of_tokens;
  nested_options options = NESTED_INIT(nested_options);
  options.max_bytes = max_bytes;
  return nested_plan(s->entry, c->args, s->num_args, &options, plan);
}

static void free_call(Call *c) {
  free(c->args);
  free(c->tokens);
  free(c->lengths);
}

// 64 bits that differ if the bytes do (FNV-1a, over words).
static uint64_t hash_of(const float *data, int64_t count, uint64_t hash) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t word;
    memcpy(&word, &data[i], 4);
    hash = (hash ^ word) * UINT64_C(0x100000001b3);
  }
  return hash;
}

// A run and its results: `singles` of 384 numbers for each residue, `pairs` of
// 128 numbers for each pair of residues of one protein.
typedef struct Outcome {
  Call c;
  nested_plan_t *plan;
  nested_plan_info info;
  nested_result results[2];
  nested_result_info singles, pairs;
  double seconds;
} Outcome;

static int64_t features(const nested_result_info *info) {
  return info->row_bytes / (int64_t)sizeof(float);
}

static const float *row_of(const Outcome *o, int result, int64_t row) {
  const nested_result_info *info = result ? &o->pairs : &o->singles;
  return (const float *)o->results[result].data + row * features(info);
}

static uint64_t hash_of_protein(const Outcome *o, int64_t i) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const int64_t *s = o->singles.offsets, *p = o->pairs.offsets;
  hash = hash_of(row_of(o, 0, s[i]), (s[i + 1] - s[i]) * features(&o->singles),
                 hash);
  return hash_of(row_of(o, 1, p[i]), (p[i + 1] - p[i]) * features(&o->pairs),
                 hash);
}

// Plans and runs a batch. Called `name` in what is printed; NULL: nothing is.
static Outcome run_batch(Session *s, const Protein *batch, int64_t count,
                         const char *name) {
  Outcome o = {
      .c = make_call(s, batch, count),
      .info = NESTED_INIT(nested_plan_info),
      .results = {NESTED_INIT(nested_result), NESTED_INIT(nested_result)},
      .singles = NESTED_INIT(nested_result_info),
      .pairs = NESTED_INIT(nested_result_info)};
  check(plan_call(s, &o.c, 0, &o.plan));
  check(nested_plan_get_info(o.plan, &o.info));
  check(nested_plan_get_result(o.plan, 0, &o.singles));
  check(nested_plan_get_result(o.plan, 1, &o.pairs));
  if (name)
    printf("%s: %lld protein%s, %lld residues, %lld pair cells\n"
           "  plan: results %s, everything else %s; %s in %lld kernels\n",
           name, (long long)count, count == 1 ? "" : "s", (long long)o.c.total,
           (long long)o.pairs.rows, amount((double)o.info.result_bytes, "B"),
           amount((double)(o.info.peak_bytes - o.info.result_bytes), "B"),
           amount(o.info.flops, "FLOP"), (long long)o.info.num_steps);
  fflush(stdout);

  Progress p;
  start_progress(&p, "running",
                 s->flops_per_second ? o.info.flops / s->flops_per_second : 0);
  nested_status status =
      nested_run(o.plan, o.c.args, s->num_args, o.results, 2, NULL);
  o.seconds = stop_progress(&p);
  check(status);
  s->flops_per_second = o.info.flops / o.seconds;
  if (name)
    printf("  run:  %.2f s on %lld thread%s (%s/s)\n", o.seconds,
           (long long)o.info.threads, o.info.threads == 1 ? "" : "s",
           amount(s->flops_per_second, "FLOP"));
  fflush(stdout);
  return o;
}

static void free_outcome(Outcome *o) {
  nested_free_results(o->plan, o->results, 2);
  nested_plan_release(o->plan);
  free_call(&o->c);
}

//===----------------------------------------------------------------------===//
// Files for check_rows.py
//===----------------------------------------------------------------------===//

typedef struct Writer {
  const char *path;
  FILE *file; // NULL: nothing is written
} Writer;

static void write_bytes(Writer *w, const void *data, size_t size) {
  if (w->file && size > 0 && fwrite(data, 1, size, w->file) != size)
    die("can't write %s: %s", w->path, strerror(errno));
}

static void write_number(Writer *w, int64_t number) {
  write_bytes(w, &number, sizeof(number));
}

static void write_text(Writer *w, const char *text, int64_t size) {
  write_number(w, size);
  write_bytes(w, text, (size_t)size);
}

static Writer open_writer(const char *path, const char *magic) {
  Writer w = {.path = path, .file = path ? fopen(path, "wb") : NULL};
  if (path && !w.file)
    die("can't write %s: %s", path, strerror(errno));
  write_bytes(&w, magic, 8);
  return w;
}

static void close_writer(Writer *w) {
  if (w->file && fclose(w->file))
    die("can't write %s: %s", w->path, strerror(errno));
}

// At most `limit` rows of each protein, evenly spread.
static void write_rows(Writer *w, const Outcome *o, const Protein *batch,
                       int64_t number, int64_t limit) {
  for (int64_t i = 0; w->file && i < o->c.count; ++i) {
    const Protein *p = &batch[i];
    int64_t n = p->length, rows = n < limit ? n : limit;
    write_number(w, number);
    write_text(w, p->name, (int64_t)strlen(p->name));
    write_text(w, p->letters, n);
    write_number(w, rows);
    for (int64_t k = 0; k < rows; ++k)
      write_number(w, (2 * k + 1) * n / (2 * rows));
    for (int result = 0; result < 2; ++result)
      for (int64_t k = 0; k < rows; ++k) {
        int64_t row = (2 * k + 1) * n / (2 * rows);
        int64_t count = result ? n : 1;
        int64_t first = result ? o->pairs.offsets[i] + row * n
                               : o->singles.offsets[i] + row;
        const nested_result_info *info = result ? &o->pairs : &o->singles;
        write_bytes(w, row_of(o, result, first),
                    (size_t)(count * info->row_bytes));
      }
  }
}

// One number for each pair of residues of protein `i`: the sum of the squares
// of its features.
static void write_map(Writer *w, const Outcome *o, const Protein *batch,
                      int64_t i) {
  write_text(w, batch[i].name, (int64_t)strlen(batch[i].name));
  write_number(w, batch[i].length);
  for (int64_t r = o->pairs.offsets[i]; w->file && r < o->pairs.offsets[i + 1];
       ++r) {
    const float *x = row_of(o, 1, r);
    float sum = 0;
    for (int64_t k = 0; k < features(&o->pairs); ++k)
      sum += x[k] * x[k];
    write_bytes(w, &sum, sizeof(sum));
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static const char kUsage[] =
    "usage: run_block BLOCK.so BLOCK.weights PROTEINS [OPTION...]\n"
    "\n"
    "Runs the pair block on the proteins of a FASTA or UniProt text file.\n"
    "\n"
    "  --rows FILE          keep some rows of the results for check_rows.py\n"
    "  --map FILE           keep one pair map for check_rows.py\n"
    "  --threads N          threads (default: all processors)\n"
    "  --repeat-length N    instead of the proteins, one made-up protein of N\n"
    "                       residues: theirs, repeated\n";

typedef struct Options {
  const char *files[3];
  const char *rows, *map;
  int64_t threads, repeat_length;
} Options;

static int64_t number_of(const char *option, const char *text, int64_t least) {
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (errno || *end || end == text || number < least)
    die("%s expects a number from %lld, but got '%s'", option, (long long)least,
        text);
  return number;
}

static Options parse_options(int argc, char **argv) {
  Options o = {.repeat_length = -1};
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    const char *arg = argv[i];
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
      fputs(kUsage, stdout);
      exit(0);
    }
    if (arg[0] != '-') {
      if (files == 3)
        die("unexpected argument '%s' (try --help)", arg);
      o.files[files++] = arg;
      continue;
    }
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(arg, "--rows") == 0)
      o.rows = value;
    else if (strcmp(arg, "--map") == 0)
      o.map = value;
    else if (strcmp(arg, "--threads") == 0)
      o.threads = value ? number_of(arg, value, 1) : 0;
    else if (strcmp(arg, "--repeat-length") == 0)
      o.repeat_length = value ? number_of(arg, value, 0) : 0;
    else
      die("unknown option '%s' (try --help)", arg);
    if (!value)
      die("%s expects a value", arg);
    ++i;
  }
  if (files < 3)
    die("expected BLOCK.so, BLOCK.weights and a file of proteins (try --help)");
  return o;
}

static void list(const Proteins *all) {
  for (int64_t i = 0; i < all->count && i < MAX_LISTED; ++i)
    printf("  %-28.28s %6lld residues %10lld pair cells\n", all->items[i].name,
           (long long)all->items[i].length,
           (long long)(all->items[i].length * all->items[i].length));
  if (all->count > MAX_LISTED)
    printf("  ... and %lld more\n", (long long)(all->count - MAX_LISTED));
  if (all->unknown)
    printf("  (%lld residues that the model does not know became X)\n",
           (long long)all->unknown);
}

// One protein of `length` residues: those of all proteins, again and again.
static Proteins made_up(const Proteins *all, int64_t length) {
  Protein *p = allocate(1, sizeof(Protein));
  p->name = strdup("made-up");
  p->letters = allocate((size_t)length + 1, 1);
  bool any = false;
  for (int64_t i = 0; i < all->count; ++i)
    any |= all->items[i].length > 0;
  for (int64_t i = 0; any && p->length < length; i = (i + 1) % all->count)
    for (int64_t k = 0; k < all->items[i].length && p->length < length; ++k)
      p->letters[p->length++] = all->items[i].letters[k];
  if (!p->name || p->length < length)
    die("no residues to repeat");
  return (Proteins){.items = p, .count = 1, .room = 1};
}

// A part of a protein, called after its residues. The name is to be freed.
static Protein cut(const Protein *p, int64_t first, int64_t length) {
  size_t room = strlen(p->name) + 48;
  Protein part = {.name = allocate(room, 1),
                  .letters = p->letters + first,
                  .length = length};
  snprintf(part.name, room, "%s:%lld-%lld", p->name, (long long)first + 1,
           (long long)(first + length));
  return part;
}

// Another batch of the same proteins, from the last to the first: of each three
// one as it is, one without its first third, and one not at all. `origin`: the
// number of the protein, -1 for one that was cut.
static int64_t other_batch(const Proteins *all, Protein *batch,
                           int64_t *origin) {
  int64_t count = 0;
  for (int64_t i = all->count - 1; i >= 0; --i) {
    const Protein *p = &all->items[i];
    int64_t third = p->length / 3, kind = (all->count - 1 - i) % 3;
    if (kind == 2)
      continue;
    batch[count] = kind ? cut(p, third, p->length - third) : *p;
    origin[count++] = kind ? -1 : i;
  }
  // With one or two proteins that is as many as before.
  if (count == all->count) {
    batch[count] = cut(&all->items[0], 0, all->items[0].length / 2);
    origin[count++] = -1;
  }
  return count;
}

// What the batch would take if every protein were padded to the longest.
static void print_padding(const Session *s, const Outcome *o, Call *c) {
  int64_t longest = 0;
  for (int64_t i = 0; i < c->count; ++i)
    longest = c->lengths[i] > longest ? c->lengths[i] : longest;
  for (int64_t i = 0; i < c->count; ++i)
    c->lengths[i] = longest;
  for (int64_t i = 0; i < s->num_args; ++i)
    c->args[i].row_capacity = c->count * longest;

  nested_plan_t *plan;
  if (plan_call(s, c, INT64_MAX, &plan) != NESTED_OK) {
    printf("  padded to %lld residues: %s\n", (long long)longest,
           nested_last_error());
    return;
  }
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  nested_result_info pairs = NESTED_INIT(nested_result_info);
  check(nested_plan_get_info(plan, &info));
  check(nested_plan_get_result(plan, 1, &pairs));
  nested_plan_release(plan);
  bool fits = plan_call(s, c, 0, &plan) == NESTED_OK;
  if (fits)
    nested_plan_release(plan);
  double hidden = 2 * (double)find_array(s->weights, "w.gate")->shape[1];
  double unfused = (double)pairs.rows * (2 * (double)pairs.row_bytes +
                                         hidden * (double)sizeof(float));
  double machine =
      (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  printf("  padded to %lld residues it would be %lld pair cells, %.1f times as "
         "many:\n"
         "    results %s%s, %s; with a tensor for each operator %s%s\n",
         (long long)longest, (long long)pairs.rows,
         (double)pairs.rows / (double)(o->pairs.rows ? o->pairs.rows : 1),
         amount((double)info.result_bytes, "B"), fits ? "" : " (does not fit)",
         amount(info.flops, "FLOP"), amount(unfused, "B"),
         unfused > machine ? " (does not fit)" : "");
}

static double peak_memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

// Of the two batches together.
static int64_t rows_to_keep(const Proteins *all,
                            const nested_result_info *pairs) {
  double bytes = 1;
  for (int64_t i = 0; i < all->count; ++i)
    bytes += 2.0 * (double)(all->items[i].length * pairs->row_bytes);
  double rows = MAX_ROW_BYTES / bytes;
  return rows > MAX_ROWS   ? MAX_ROWS
         : rows < MIN_ROWS ? MIN_ROWS
                           : (int64_t)rows;
}

int main(int argc, char **argv) {
  Options o = parse_options(argc, argv);
  if (o.threads)
    check(nested_set_default_threads(o.threads));
  Weights w = read_weights(o.files[1]);
  Session s = {.weights = &w};
  const Array *residues = find_array(&w, "residues");
  memset(s.token, -1, sizeof(s.token));
  for (int64_t i = 0; i < residues->bytes; ++i)
    s.token[(unsigned char)w.data[residues->offset + i]] = (int8_t)i;

  nested_artifact_t *artifact;
  check(nested_open_file(o.files[0], 0, &artifact));
  check(nested_find_entry(artifact, NULL, &s.entry));
  s.num_args = nested_entry_num_args(s.entry);
  if (nested_entry_num_results(s.entry) != 2)
    die("%s returns not singles and pairs", o.files[0]);

  Proteins all = read_proteins(o.files[2], s.token);
  if (o.repeat_length >= 0) {
    Proteins one = made_up(&all, o.repeat_length);
    free_proteins(&all);
    all = one;
  }
  list(&all);
  fflush(stdout);

  // What does not fit is refused here, before any of it is allocated.
  Call c = make_call(&s, all.items, all.count);
  nested_plan_t *plan;
  check(plan_call(&s, &c, 0, &plan));
  nested_plan_release(plan);

  // A short protein alone says how long the batch is going to take.
  int64_t alone = -1;
  for (int64_t i = 0; all.count > 1 && i < all.count; ++i) {
    int64_t length = all.items[i].length;
    if (length > 0 && (alone < 0 || length < all.items[alone].length))
      alone = i;
  }
  Outcome run;
  uint64_t aloneHash = 0;
  if (alone >= 0) {
    run = run_batch(&s, &all.items[alone], 1, NULL);
    aloneHash = hash_of_protein(&run, 0);
    free_outcome(&run);
  }

  run = run_batch(&s, all.items, all.count, "first batch");
  printf("  peak memory of this process: %s\n", amount(peak_memory(), "B"));
  print_padding(&s, &run, &c);
  free_call(&c);

  Writer rows = open_writer(o.rows, "rows0001");
  int64_t limit = rows_to_keep(&all, &run.pairs), longest = 0;
  write_rows(&rows, &run, all.items, 1, limit);
  uint64_t *hashes = allocate((size_t)all.count, sizeof(uint64_t));
  for (int64_t i = 0; i < all.count; ++i) {
    hashes[i] = hash_of_protein(&run, i);
    if (all.items[i].length > all.items[longest].length)
      longest = i;
  }
  Writer map = open_writer(o.map, "pairmap1");
  write_map(&map, &run, all.items, longest);
  close_writer(&map);
  free_outcome(&run);
  if (alone >= 0 && hashes[alone] != aloneHash)
    die("%s alone differs from what it is in the batch", all.items[alone].name);

  Protein *batch = allocate((size_t)all.count + 1, sizeof(Protein));
  int64_t *origin = allocate((size_t)all.count + 1, sizeof(int64_t));
  int64_t count = other_batch(&all, batch, origin), same = 0;
  run = run_batch(&s, batch, count, "second batch");
  for (int64_t i = 0; i < count; ++i) {
    if (origin[i] < 0)
      continue;
    if (hash_of_protein(&run, i) != hashes[origin[i]])
      die("%s differs from what it was in the first batch", batch[i].name);
    ++same;
  }
  write_rows(&rows, &run, batch, 2, limit);
  close_writer(&rows);
  free_outcome(&run);
  printf("  through the same opened block.so: nothing was compiled again\n"
         "  %lld whole protein%s bitwise as before",
         (long long)same, same == 1 ? "" : "s");
  if (alone >= 0)
    printf(", and so is %s alone", all.items[alone].name);
  printf("\n");

  for (int64_t i = 0; i < count; ++i)
    if (origin[i] < 0)
      free(batch[i].name);
  free(batch);
  free(origin);
  free(hashes);
  free_proteins(&all);
  nested_close(artifact);
  free(w.data);
  return 0;
}
