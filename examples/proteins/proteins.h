//===- proteins.h - Sequences from FASTA and UniProt files --------*- C -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PROTEINS_H
#define PROTEINS_H

#include <stdint.h>

typedef struct Protein {
  char *name;
  char *letters; // `length` of them
  int64_t length;
} Protein;

typedef struct Proteins {
  Protein *items;
  int64_t count, room;
  int64_t unknown; // residues that became X
} Proteins;

// Reads a FASTA or UniProt text file. token: of each capital letter, -1 where
// it is no residue of the model's and becomes X. Files that are neither end the
// program with a message that names the line.
Proteins read_proteins(const char *path, const int8_t token[256]);

void free_proteins(Proteins *all);

#endif // PROTEINS_H
