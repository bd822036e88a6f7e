# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile input for the tools: program texts, artifacts, lengths and arrays.

Each attempt is made from a number, runs a tool (of a build with sanitizers, if NESTED_TOOLS is its
folder) and gives what is wrong: a crash, a hang, an internal error, an error without a message, or a
result that should not be one. ``python fuzz.py KIND NUMBER`` repeats an attempt and keeps its files.
"""

import io
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import random_families  # noqa: F401  (registers them)
from random_program import generate

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 60


def tools():
    if folder := os.environ.get("NESTED_TOOLS"):
        return Path(folder)
    from nested import _core

    return Path(_core.__file__).resolve().parents[2] / "bin"


def run(tool, *arguments, timeout=TIMEOUT):
    """(what is wrong with the way it ended, exit code)."""
    command = [str(tools() / tool), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return f"{tool} hangs", None
    said = done.stderr.decode(errors="replace")
    # Not an error by itself: the tool says that memory is not enough.
    said = re.sub(r"==\d+==WARNING: AddressSanitizer failed to allocate.*\n", "", said)
    if done.returncode < 0 or "Sanitizer" in said or "runtime error:" in said:
        return f"{tool} crashed ({done.returncode}): {said[-2000:]}", done.returncode
    if done.returncode not in (0, 1, 2, 3):
        return f"{tool} ended with {done.returncode}: {said[-2000:]}", done.returncode
    if done.returncode and not said.strip():
        return f"{tool} ended with {done.returncode} and said nothing", done.returncode
    return None, done.returncode


# --- Program texts ---------------------------------------------------------------------

TOKEN = re.compile(r"[%@#!^]?[\w.$]+|\s+|.", re.S)
NUMBERS = ["0", "-1", "1", "2147483648", "9223372036854775807", "-9223372036854775808",
           "18446744073709551616", "1e400", "0x7FC00000", "4096"]  # fmt: skip
WORDS = ["f32", "f64", "bf16", "i1", "i64", "index", "N", "M", "B", "S", "path = [B, S]", "tensor<?xf32>",
         "!ragged.tensor<[N], f32>", "!ragged.tensor<[], f32>", "max(N - 1, 0)", "N * N", "N floordiv 2",
         "batch", "keepdims", "order = [1, 0]", "{", "}", "(", ")", "[", "]", "<", ">", ",", ":", "->",
         "affine_map<(d0) -> (d0)>", "dense<0>"]  # fmt: skip


def texts(found=[]):  # noqa: B006  (read once)
    if not found:
        for path in sorted((ROOT / "test").rglob("*.mlir")):
            for part in path.read_text().split("// -----"):
                if 50 < len(part) < 6000 and "func.func" in part:
                    found.append(part)
    return found


def mutate_text(rng):
    """Half of them of programs that are right, to get further."""
    fine = rng.random() < 0.5
    tokens = TOKEN.findall(generate(rng.randrange(10**6)).text() if fine else rng.choice(texts()))
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        k = rng.randrange(len(tokens))
        how = rng.randrange(8)
        if how == 0:
            del tokens[k : k + rng.choice([1, 1, 3, 20])]
        elif how == 1:
            tokens[k:k] = tokens[k : k + rng.choice([1, 5, 40])]
        elif how == 2:
            j = rng.randrange(len(tokens))
            tokens[k], tokens[j] = tokens[j], tokens[k]
        elif how == 3:
            digits = [i for i, t in enumerate(tokens) if t.isdigit()]
            tokens[rng.choice(digits or [k])] = rng.choice(NUMBERS)
        elif how == 4:
            names = [i for i, t in enumerate(tokens) if re.fullmatch(r"[A-Z]|[if]\d+|\w+", t)]
            same = [t for t in tokens if re.fullmatch(r"[%@]?\w+", t)]
            tokens[rng.choice(names or [k])] = rng.choice(
                WORDS if rng.random() < 0.5 else same or WORDS
            )
        elif how == 5:
            other = TOKEN.findall(rng.choice(texts()))
            j = rng.randrange(len(other))
            tokens[k:k] = other[j : j + 30]
        elif how == 6:
            tokens[k] = "".join(chr(rng.randrange(256)) for _ in range(3))
        else:
            tokens = tokens[:k] if rng.random() < 0.2 else tokens
        if not tokens:
            break
    return "".join(tokens)


def fuzz_text(number, folder):
    rng = random.Random(number)
    program = folder / "program.mlir"
    program.write_text(mutate_text(rng), encoding="utf-8")
    if number % 3 == 2:
        return run("nested-reference", program, "--max-elements=1000000")[0]
    return run(
        "nested-compile", program, *(["--emit=loops"] if number % 3 else ["-o", "/dev/null"])
    )[0]


# --- Artifacts --------------------------------------------------------------------------

PROGRAM = """func.func @f(%x: !ragged.tensor<[N, 2], f32>, %i: !ragged.tensor<[N], i64>, %t: tensor<3x2xf32>,
    %p: !ragged.tensor<[T], f32, path = [B, S]>)
    -> (!ragged.tensor<[N, 2], f32>, !ragged.tensor<[2], f32>, !ragged.tensor<[], f32, path = [B, S]>) {
  %g = ragged.gather %t, %i : tensor<3x2xf32>, !ragged.tensor<[N], i64> -> !ragged.tensor<[N, 2], f32>
  %y = ragged.map ins(%x, %g : !ragged.tensor<[N, 2], f32>, !ragged.tensor<[N, 2], f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    ragged.yield %c : f32
  } -> !ragged.tensor<[N, 2], f32>
  %s = ragged.reduce sum %y dims [0] : !ragged.tensor<[N, 2], f32> -> !ragged.tensor<[2], f32>
  %r = ragged.reduce sum %p dims [0] : !ragged.tensor<[T], f32, path = [B, S]> -> !ragged.tensor<[], f32, path = [B, S]>
  return %y, %s, %r : !ragged.tensor<[N, 2], f32>, !ragged.tensor<[2], f32>, !ragged.tensor<[], f32, path = [B, S]>
}
"""


def artifact(found=[]):  # noqa: B006  (compiled once)
    if not found:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder, "program.mlir"), Path(folder, "program.so")
            source.write_text(PROGRAM)
            wrong, code = run("nested-compile", source, "-o", out, timeout=600)
            assert wrong is None and code == 0, wrong
            found.append(out.read_bytes())
    return found[0]


def fnv(data, value):
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & (2**64 - 1)
    return value


def sealed(body, footer):
    """With the checksum that belongs to it."""
    footer = bytearray(footer)
    struct.pack_into("<Q", footer, 48, len(body) + 96)
    struct.pack_into("<Q", footer, 56, fnv(footer[:56], fnv(body, 0xCBF29CE484222325)))
    return bytes(body) + bytes(footer)


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 10])):
        k, how = rng.randrange(max(len(data), 1)), rng.randrange(6)
        if how == 0 and data:
            data[k] ^= 1 << rng.randrange(8)
        elif how == 1:
            data = data[:k]
        elif how == 2:
            del data[k : k + rng.choice([1, 8, 500])]
        elif how == 3:
            data[k:k] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 8, 100])))
        elif how == 4:
            data[k : k + 8] = struct.pack("<q", rng.choice([0, -1, 2**62, len(data), 2**31]))
        else:
            data[k : k + 16] = bytes(16)
    return bytes(data)


def mutate_manifest(rng, whole):
    """A manifest with other numbers, words or structure, in an artifact that is otherwise right."""
    footer = whole[-96:]
    at, size = struct.unpack_from("<QQ", footer, 16)
    program_at, program_size = struct.unpack_from("<QQ", footer, 32)
    text = whole[at : at + size].decode()
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = list(re.finditer(r'-?\d+|"[^"]*"|[\[\]{}:,]', text))
        m = rng.choice(places)
        new = rng.choice([*NUMBERS[:7], '"N"', '"M"', '"ragged"', '"dense"', "null", "[]", "{}", "", "[", "}",
                          '"offsets"', '"f32"', '"i64"', '"N*N"', '"max(N,1)"', rng.choice(places)[0]])  # fmt: skip
        text = text[: m.start()] + new + text[m.end() :]
    manifest = text.encode()
    program = whole[program_at : program_at + program_size]
    body = whole[:at] + manifest + program
    footer = bytearray(footer)
    struct.pack_into("<QQQQ", footer, 16, at, len(manifest), at + len(manifest), len(program))
    return sealed(body, footer)


def fuzz_artifact(number, folder):
    rng, file = random.Random(number), folder / "program.so"
    if number % 2:
        # Compiled code believes its manifest: it is described and planned, not run.
        file.write_bytes(mutate_manifest(rng, artifact()))
        wrong = run("nested-run", file, "--describe")[0]
        return wrong or run("nested-run", file, "--plan", "--lengths", "N=1,2", "--lengths", "S=1,1",
                            "--lengths", "T=3,4")[0]  # fmt: skip
    file.write_bytes(mutate_bytes(rng, artifact()))
    if file.read_bytes() == artifact():
        return None
    wrong, code = run("nested-run", file, "--describe")
    return wrong or ("a damaged artifact is taken" if code == 0 else None)


# --- Lengths, and arrays -----------------------------------------------------------------

HOSTILE = [0, 1, 2, 3, -1, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64, 17]


def write_artifact(folder):
    file = folder / "program.so"
    file.write_bytes(artifact())
    return file


def fuzz_lengths(number, folder):
    rng, file = random.Random(number), write_artifact(folder)
    arguments, count, hostile = [], rng.choice([0, 1, 2, 3]), rng.choice([0.0, 0.1, 0.5])
    for symbol in ("N", "S", "T", *(["M", "B", ""] if rng.random() < 0.2 else [])):
        if rng.random() < 0.95:
            values = [str(rng.choice(HOSTILE if rng.random() < hostile else [0, 1, 2, 3]))
                      for _ in range(count if rng.random() < 0.9 else 2)]  # fmt: skip
            text = ",".join(values)
            if rng.random() < hostile / 5:
                text = rng.choice(["", ",", "1,,2", "x", "1.5", "1e3", " 1", "1,2,", "+1"])
            arguments += ["--lengths", f"{symbol}={text}"]
    limit = ["--max-bytes", "100000000"]
    if rng.random() < 0.5:
        return run("nested-run", file, "--plan", *limit, *arguments)[0]
    return run("nested-run", file, *limit, *arguments)[0]


def arrays(rng):
    """Arguments that are right."""
    lengths, groups = [3, 0, 2], [2, 0, 1]
    inner = [1, 4, 2]
    numbers = np.random.default_rng(rng.randrange(2**32))
    return {"arg0": numbers.standard_normal((5, 2)).astype("f4"), "arg0.lengths": np.array(lengths),
            "arg1": numbers.integers(0, 3, 5), "arg1.lengths": np.array(lengths),
            "arg2": numbers.standard_normal((3, 2)).astype("f4"),
            "arg3": numbers.standard_normal(7).astype("f4"), "arg3.lengths": np.array(inner),
            "arg3.path_lengths": np.array(groups)}  # fmt: skip


def mutate_arrays(rng, given):
    given = dict(given)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(sorted(given))
        a, how = given[name].copy(), rng.randrange(10)
        if how == 0:
            del given[name]
            if not given:
                break
            continue
        if how == 1:
            a = a.astype(rng.choice(["f8", "f2", "i4", "u8", "?", "c16", "S3", ">i8", ">f4"]))
        elif how == 2 and a.size:
            a.flat[rng.randrange(a.size)] = rng.choice([-1, 3, 7, 99, 2**31 - 1])
        elif how == 3 and a.dtype.kind == "i" and a.size:
            a.flat[rng.randrange(a.size)] = rng.choice([2**62, -(2**63), 2**40])
        elif how == 4:
            a = a[: max(len(a) - 1, 0)]
        elif how == 5:
            a = np.concatenate([a, a[:1]])
        elif how == 6:
            a = a.reshape(rng.choice([(-1,), (1, *a.shape), (*a.shape, 1)]))
        elif how == 7:
            given[rng.choice(["arg0", "arg3"]) + ".base"] = np.array(
                [
                    rng.choice([0, 1, 2, 3, 5, -1, 2**40, 2**62])
                    for _ in range(rng.choice([2, 3, 3, 4]))
                ]
            )
            continue
        elif how == 8:
            given[rng.choice(["argX", "arg0.lengths.0", "arg2.lengths", "", "a/../b"])] = a
            continue
        else:
            a = np.asfortranarray(a) if a.ndim > 1 else a[::-1]
        given[name] = a
    return given


def packed(given, rng):
    out = io.BytesIO()
    method = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, array in given.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            archive.writestr(name + ".npy", member.getvalue())
    return out.getvalue()


def fuzz_arrays(number, folder):
    rng, file, given = random.Random(number), write_artifact(folder), folder / "given.npz"
    damaged = number % 2
    data = packed(arrays(rng) if damaged else mutate_arrays(rng, arrays(rng)), rng)
    given.write_bytes(mutate_bytes(rng, data) if damaged else data)
    common = [file, "--input", given, "--max-bytes", "100000000"]
    wrong, code = run("nested-run", *common, "--output", folder / "cpu.npz")
    if wrong or code != 0:
        return wrong
    # What is taken gives what the interpreter gives.
    wrong, code = run(
        "nested-run", *common, "--device", "reference", "--output", folder / "reference.npz"
    )
    if wrong or code != 0:
        return wrong or "the interpreter refuses what the compiled program takes"
    with np.load(folder / "cpu.npz") as got, np.load(folder / "reference.npz") as want:
        for name in want.files:
            if not np.allclose(got[name], want[name], rtol=1e-4, atol=1e-4, equal_nan=True):
                return f"a wrong result {name}"
    return None


KINDS = {
    "text": fuzz_text,
    "artifact": fuzz_artifact,
    "lengths": fuzz_lengths,
    "arrays": fuzz_arrays,
}


def attempt(kind, number):
    with tempfile.TemporaryDirectory() as folder:
        wrong = KINDS[kind](number, Path(folder))
    return wrong and f"{kind} {number}: {wrong}"


if __name__ == "__main__":
    kept = Path(tempfile.mkdtemp(prefix="fuzz-"))
    print(KINDS[sys.argv[1]](int(sys.argv[2]), kept), "\nits files:", kept)
