#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes families.fasta from the files of Debian's package hmmer-examples.

    apt-get install hmmer-examples
    families.py /usr/share/doc/hmmer/examples > families.fasta

Five families of protein domains, as Pfam's seed alignments (and HMMER's globins) have them, gaps removed;
of a family at most 100, evenly picked.
"""

import gzip
import pathlib
import re
import sys

FAMILIES = [
    ("fn3", "PF00041 Fibronectin type III domain", "tutorial/fn3.sto"),
    ("RRM_1", "PF00076 RNA recognition motif", "testsuite/RRM_1.sto.gz"),
    ("Pkinase", "PF00069 Protein kinase domain", "tutorial/Pkinase.sto"),
    ("globin", "PF00042 Globin", "tutorial/globins45.fa"),
    ("Orn_DAP_Arg_deC", "PF00278 Decarboxylase, C-terminal sheet domain",
     "easel/demotic/examples/example.sto.gz"),
]  # fmt: skip
MOST = 100


def read(path):
    """Names and sequences of a Stockholm alignment or a FASTA file."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    found: dict[str, str] = {}
    with opened as lines:
        name = None
        for line in lines:
            if line.startswith(">"):
                name = line[1:].split()[0]
            elif name is not None:
                found[name] = found.get(name, "") + line.strip()
            elif line.strip() and not line.startswith(("#", "//")):
                key, part = line.split()
                found[key] = found.get(key, "") + part
    return {k: re.sub("[^A-Za-z]", "", v).upper() for k, v in found.items()}


def main():
    folder = pathlib.Path(sys.argv[1])
    print("; From Debian's hmmer-examples (HMMER 3.3.2); made by families.py.")
    for family, title, file in FAMILIES:
        sequences = sorted(read(folder / file).items())
        step = max(1.0, len(sequences) / MOST)
        chosen = [sequences[int(k * step)] for k in range(min(MOST, len(sequences)))]
        for name, sequence in chosen:
            print(f">{name} {family} {title}")
            for begin in range(0, len(sequence), 60):
                print(sequence[begin : begin + 60])


if __name__ == "__main__":
    main()
