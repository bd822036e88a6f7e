# Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What run-block says to good and to bad files of proteins.

usage: demo_errors.py BUILD_DIR     (after scripts/demo --build-dir BUILD_DIR)
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

UNIPROT = """\
ID   HBA_SHORT               Reviewed;           5 AA.
AC   P00001;
SQ   SEQUENCE   5 AA;  500 MW;  0123456789ABCDEF CRC64;
     VLSP A
//
"""

# Name, contents, and parts of what is printed on success.
GOOD = [
    ("plain FASTA", b">a one\nACDEF\nGHI\n\n>b\nKLM\n", ["a  ", "8 residues", "b  ", "3 residues"]),
    ("no newline at the end", b">a\nAC", ["2 residues"]),
    ("line ends of Windows", b"; comment\r\n>a\r\nAC\r\n\r\nDE\r\n", ["4 residues"]),
    ("lower case, spaces, a stop", b">a\nacd ef*\n>b\nA\n", ["5 residues"]),
    ("name of a database", b">sp|P69905|HBA_HUMAN Hemoglobin\nVLS\n", ["HBA_HUMAN"]),
    ("unknown residues", b">a\nABUZ\n", ["4 residues", "(3 residues that the model does not know"]),
    ("a protein of no residues", b">a\n>b\nACD\n", ["0 residues", "3 residues"]),
    ("only proteins of no residues", b">a\n>b\n", ["0 residues"]),
    ("UniProt", UNIPROT.encode(), ["HBA_SHORT", "5 residues"]),
    ("two UniProt entries", 2 * UNIPROT.encode(), ["2 proteins, 10 residues, 50 pair cells"]),
]

# Name, contents, what is printed behind the file's name.
BAD = [
    ("empty file", b"", " has no sequences"),
    ("only comments", b"; nothing\n\n", " has no sequences"),
    ("no format", b"\nACDEF\n", ":2: expected FASTA ('>NAME ...') or UniProt text ('ID   NAME ...')"),
    ("digit", b">a\nAC\nD3F\n", ":3: '3' at column 2 is no residue"),
    ("gap", b">a\nAC-D\n", ":2: '-' at column 3 is a gap; remove the gaps of aligned sequences"),
    ("behind the stop", b">a\nAC*\nD\n", ":3: residues behind the '*' that ends sequence a"),
    ("bytes", b">a\nA\xffC\n", ":2: byte 255 at column 2 is no residue; is this a text file?"),
    ("zero byte", b">a\nA\0C\n", ":2: byte 0 at column 2 is no residue; is this a text file?"),
    ("compressed", b"\x1f\x8b\x08\x00", " is compressed; unpack it with gzip -d"),
    ("truncated entry", UNIPROT.encode()[:-3], ":4: the file ends inside the entry of line 1"),
    ("wrong length", UNIPROT.replace("SP A", "S").encode(),
     ":5: HBA_SHORT has 3 residues, but its SQ line says 5"),
    ("no sequence", b"ID   a  \n//\n", ":2: the entry of line 1 has no sequence"),
    ("no end", b"ID   a\nID   b\n", ":2: a new entry, but the one of line 1 has no '//' at its end"),
    ("between entries", UNIPROT.encode() + b">a\n",
     ":6: expected 'ID   NAME', the first line of an entry"),
    ("odd SQ line", b"ID   a\nSQ   SEQUENCE five AA;\n",
     ":2: expected 'SQ   SEQUENCE <number> AA;'"),
]  # fmt: skip


def main():
    build = Path(sys.argv[1])
    demo = build / "demo"
    folder = Path(tempfile.mkdtemp(prefix="nested-demo-"))
    cases = failed = 0

    def run(*arguments):
        command = [build / "bin" / "run-block", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def expect(name, got, code, parts):
        nonlocal cases, failed
        cases += 1
        if got[0] != code or not all(part in got[1] for part in parts):
            failed += 1
            print(f"{name}: expected exit code {code} and {parts}, but got {got[0]} and\n{got[1]}")

    block, weights, file = demo / "block.so", demo / "block.weights", folder / "proteins"
    for name, contents, parts in GOOD:
        file.write_bytes(contents)
        expect(name, run(block, weights, file), 0, parts)
    for name, contents, message in BAD:
        file.write_bytes(contents)
        expect(name, run(block, weights, file), 1, [f"run_block: {file}{message}\n"])

    file.write_bytes(b">a\nACDEF\n")
    missing, cut = folder / "missing", folder / "cut"
    huge = run(block, weights, file, "--repeat-length", "1000000")
    expect("huge protein", huge, 1, ["out of memory: ", "bytes"])
    overflow = run(block, weights, file, "--repeat-length", "100000000")
    expect("huge protein", overflow, 1, ["run_block: "])
    expect("no file", run(block, weights, missing), 1, [f"can't open {missing}: No such file"])
    expect("folder", run(block, weights, folder), 1, [f"can't read {folder}: Is a directory"])
    expect("no artifact", run(missing, weights, file), 1, [str(missing)])
    expect("artifact of text", run(file, weights, file), 1, ["invalid artifact"])
    expect("weights of text", run(block, file, file), 1, ["is no file of weights"])
    cut.write_bytes(weights.read_bytes()[:5000])
    expect("cut weights", run(block, cut, file), 1, ["is damaged or truncated at array"])
    expect("unwritable", run(block, weights, file, "--rows", missing / "rows"), 1,
           [f"can't write {missing / 'rows'}: No such file"])  # fmt: skip
    expect("help", run("--help"), 0, ["usage: run_block", "--repeat-length"])
    expect("no arguments", run(), 1, ["expected BLOCK.so"])
    expect("unknown option", run("--fast"), 1, ["unknown option '--fast'"])
    expect("no value", run("--rows"), 1, ["--rows expects a value"])
    expect("bad number", run("--threads", "0"), 1, ["--threads expects a number from 1"])

    # The check itself: one number changed by more than rounding, and a cut file.
    checker = Path(__file__).resolve().parents[2] / "examples" / "proteins" / "check_rows.py"
    environment = os.environ | {"PYTHONPATH": str(build / "python")}
    rows = bytearray((demo / "rows.bin").read_bytes())
    for name, change, message in (("changed", 0x3F, "check_rows: wrong: "), ("cut", None, "trunc")):
        if change is None:
            del rows[-3:]
        else:
            rows[-1] = change if rows[-1] != change else 0xBF
        cut.write_bytes(rows)
        command = [sys.executable, checker, weights, cut]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        expect(name + " rows", (done.returncode, done.stdout + done.stderr), 1, [message])

    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    print(f"{cases - failed} cases as expected, {failed} not")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
