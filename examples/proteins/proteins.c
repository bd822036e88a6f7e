//===- proteins.c - Sequences from FASTA and UniProt files ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "proteins.h"

#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A reader of lines, the tokens of letters (-1: no residue), and the letters of
// the protein being read.
typedef struct Reader {
  const char *path;
  const char *at, *end;
  const char *line; // of `size` characters
  size_t size;
  int64_t number;
  int8_t token[256];
  char *letters;
} Reader;

#define BAD(r, ...) bad_line((r)->path, (r)->number, __VA_ARGS__)

__attribute__((noreturn, format(printf, 3, 4))) static void
bad_line(const char *path, int64_t number, const char *format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  die("%s:%lld: %s", path, (long long)number, text);
}

static bool next_line(Reader *r) {
  if (r->at == r->end)
    return false;
  const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
  r->line = r->at;
  r->at = stop ? stop + 1 : r->end;
  r->size = (size_t)((stop ? stop : r->end) - r->line);
  if (r->size > 0 && r->line[r->size - 1] == '\r')
    --r->size;
  ++r->number;
  return true;
}

static bool starts_with(const Reader *r, const char *text) {
  return r->size >= strlen(text) && memcmp(r->line, text, strlen(text)) == 0;
}

// A new protein, called like the first word at `text`; of "sp|P68871|HBB_HUMAN"
// the last part.
static Protein *add_protein(Proteins *all, const char *text, size_t size) {
  while (size > 0 && (*text == ' ' || *text == '\t'))
    ++text, --size;
  size_t length = 0, start = 0;
  while (length < size && text[length] != ' ' && text[length] != '\t')
    if (text[length++] == '|' && length < size && text[length] != ' ')
      start = length;
  if (all->count == all->room) {
    all->room = all->room ? 2 * all->room : 16;
    Protein *larger = realloc(all->items, (size_t)all->room * sizeof(Protein));
    if (!larger)
      die("out of memory");
    all->items = larger;
  }
  Protein *p = &all->items[all->count++];
  *p = (Protein){.name = allocate(length - start + 1, 1)};
  memcpy(p->name, text + start, length - start);
  if (length == start) {
    free(p->name);
    p->name = strdup("(no name)");
    if (!p->name)
      die("out of memory");
  }
  return p;
}

// Adds the residues of the line to the last protein.
static void add_residues(Reader *r, Proteins *all, bool *ended) {
  Protein *p = &all->items[all->count - 1];
  for (size_t i = 0; i < r->size; ++i) {
    unsigned char c = (unsigned char)r->line[i];
    if (c == ' ' || c == '\t')
      continue;
    if (*ended)
      BAD(r, "residues behind the '*' that ends sequence %s", p->name);
    if (c == '*') {
      *ended = true;
      continue;
    }
    if (c >= 'a' && c <= 'z')
      c = (unsigned char)(c - 'a' + 'A');
    if (c == '-' || c == '.')
      BAD(r,
          "'%c' at column %zu is a gap; remove the gaps of aligned sequences",
          c, i + 1);
    if (c < 'A' || c > 'Z')
      BAD(r,
          c > ' ' && c < 127
              ? "'%c' at column %zu is no residue"
              : "byte %d at column %zu is no residue; is this a text file?",
          c, i + 1);
    if (r->token[c] < 0) {
      c = 'X';
      ++all->unknown;
    }
    r->letters[p->length++] = (char)c;
  }
}

static void finish_protein(const Reader *r, Proteins *all) {
  Protein *p = &all->items[all->count - 1];
  p->letters = allocate((size_t)p->length + 1, 1);
  memcpy(p->letters, r->letters, (size_t)p->length);
}

// >NAME DESCRIPTION, lines of residues. Lines that start with ';' are comments.
static void read_fasta(Reader *r, Proteins *all) {
  bool ended = false;
  while (next_line(r)) {
    if (starts_with(r, ";"))
      continue;
    if (starts_with(r, ">")) {
      if (all->count)
        finish_protein(r, all);
      add_protein(all, r->line + 1, r->size - 1);
      ended = false;
    } else {
      add_residues(r, all, &ended);
    }
  }
  finish_protein(r, all);
}

// Entries from ID to //, with residues behind the line SQ.
static void read_uniprot(Reader *r, Proteins *all) {
  enum { OUTSIDE, HEADER, SEQUENCE } where = OUTSIDE;
  int64_t declared = 0, first = 0;
  while (next_line(r)) {
    bool ended = false;
    if (starts_with(r, "ID   ")) {
      if (where != OUTSIDE)
        BAD(r, "a new entry, but the one of line %lld has no '//' at its end",
            (long long)first);
      add_protein(all, r->line + 5, r->size - 5);
      first = r->number;
      where = HEADER;
    } else if (where == OUTSIDE) {
      if (r->size > 0)
        BAD(r, "expected 'ID   NAME', the first line of an entry");
    } else if (starts_with(r, "SQ   ")) {
      long long number;
      if (sscanf(r->line, "SQ   SEQUENCE %lld AA;", &number) != 1 || number < 0)
        BAD(r, "expected 'SQ   SEQUENCE <number> AA;'");
      declared = number;
      where = SEQUENCE;
    } else if (starts_with(r, "//")) {
      const Protein *p = &all->items[all->count - 1];
      if (where != SEQUENCE)
        BAD(r, "the entry of line %lld has no sequence", (long long)first);
      if (p->length != declared)
        BAD(r, "%s has %lld residues, but its SQ line says %lld", p->name,
            (long long)p->length, (long long)declared);
      finish_protein(r, all);
      where = OUTSIDE;
    } else if (where == SEQUENCE) {
      add_residues(r, all, &ended);
    }
  }
  if (where != OUTSIDE)
    BAD(r, "the file ends inside the entry of line %lld", (long long)first);
}

void free_proteins(Proteins *all) {
  for (int64_t i = 0; i < all->count; ++i) {
    free(all->items[i].name);
    free(all->items[i].letters);
  }
  free(all->items);
}

Proteins read_proteins(const char *path, const int8_t token[256]) {
  size_t size;
  char *data = read_file(path, &size);
  Reader r = {.path = path, .at = data, .end = data + size};
  r.letters = allocate(size, 1);
  memcpy(r.token, token, sizeof(r.token));
  if (size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0)
    die("%s is compressed; unpack it with gzip -d", path);

  Reader start;
  do {
    start = r;
    if (!next_line(&r))
      die("%s has no sequences", path);
  } while (r.size == 0 || starts_with(&r, ";"));
  Proteins all = {0};
  if (starts_with(&r, ">")) {
    r = start;
    read_fasta(&r, &all);
  } else if (starts_with(&r, "ID   ")) {
    r = start;
    read_uniprot(&r, &all);
  } else {
    BAD(&r, "expected FASTA ('>NAME ...') or UniProt text ('ID   NAME ...')");
  }
  free(r.letters);
  free(data);
  return all;
}
