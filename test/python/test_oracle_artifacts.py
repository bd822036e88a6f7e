# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What artifacts are, beside the numbers that they give: memory, other processors, symbols."""

import importlib.util
import platform
import re
import struct
from pathlib import Path

import numpy as np
import oracle_programs_move  # noqa: F401
import pytest
from oracle import Program, agree, close, same_bits
from oracle_suite import CASES

import nested
from nested import _core

NAMES = [c.name for c in CASES]
FLAGS = Path("/proc/cpuinfo")
HAS_AVX2 = FLAGS.exists() and re.search(r"^flags.* avx2 .*\n", FLAGS.read_text(), re.M)
X86 = platform.machine() in ("x86_64", "AMD64")


def named(name):
    return next(c for c in CASES if c.name == name)


# --- Other processors --------------------------------------------------------------


@pytest.mark.skipif(not X86, reason="needs an x86-64 processor")
@pytest.mark.parametrize("target", ["cpu:x86-64", "cpu:x86-64-v3"])
@pytest.mark.parametrize(
    "name",
    ["map_select", "map_casts", "block", "outer", "reduce_ragged", "reduce_integers", "normalize",
     "linear_odd_bias", "linear_f64", "linear_integers", "gather", "masked_select", "softmax",
     "long_groups", "reduce_batch", "triangle"],
)  # fmt: skip
def test_older_processors_give_the_same_numbers(name, target):
    if target.endswith("v3") and not HAS_AVX2:
        pytest.skip("needs AVX2")
    case = named(name)
    lengths = [1, 0, 37, 2, case.long]
    args = case.args(np.random.default_rng(6), lengths)
    older = Program(case.text, target)
    assert older.manifest["cpu"] == target.split(":")[1]
    results = older.run(args, threads=2)
    agree(results, older.interpret(args), target)
    host = Program(case.text).run(args)
    for got, want in zip(results, host):
        for a, b in zip(got.samples, want.samples, strict=True):
            close(a, b, target)
    for a, b in zip(results, older.run(args, threads=1)):
        same_bits(a.values, b.values, target)


# --- Phases ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["block", "masked_select", "nest", "pack", "constants", "reduce_batch", "call", "bools"]
)
def test_a_phase_that_is_read_back_gives_the_same_artifact(name):
    """The object byte for byte, and the same signature, checks, tables and steps."""
    text = named(name).text
    want, whole = lowered(text, "object"), Program(text)
    for phase in ("tensor", "generic", "kernels", "structure", "loops"):
        printed = lowered(text, phase).decode()
        assert lowered(printed, "object") == want, phase
        entry = Program(printed).info
        for key in ("tables", "buffers", "symbols"):
            assert entry[key] == whole.info[key], f"{phase}: {key}"
        kernels = [[s.get("kernel") for s in e["steps"]] for e in (entry, whole.info)]
        assert kernels[0] == kernels[1], phase


def lowered(text, phase):
    status, data, diagnostics, _, _ = _core.lower(text, phase)
    assert status == 0, diagnostics
    return data


# --- Memory ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo():
    """The block of the demo."""
    path = Path(__file__).resolve().parents[2] / "examples" / "proteins" / "block.py"
    spec = importlib.util.spec_from_file_location("demo_block", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    weights = {name: nested.spec(*shape) for name, shape in module.SHAPES.items()}
    tokens = nested.spec("N", dtype=np.int64)
    text = nested.jit(module.block).lower(tokens, weights).text("tensor")
    return {way: Program(text, no_reassociate=way == "in order") for way in WAYS}, module


WAYS = ["in order", "hoisted"]


def demo_arguments(program, module, lengths):
    shapes = {f"w.{name}": np.zeros(shape, "f4") for name, shape in module.SHAPES.items()}
    return [shapes.get(a.info["name"], [np.zeros(n, int) for n in lengths]) for a in program.args]


def packed_bytes(module):
    return 4 * sum(int(np.prod(s)) for s in module.SHAPES.values() if len(s) == 2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("way", WAYS)
def test_peak_is_the_results_and_4_mb_a_thread(demo, way, threads):
    program, module = demo[0][way], demo[1]
    lengths = [70, 300, 92, 161, 110, 85, 0, 234]
    args = demo_arguments(program, module, lengths)
    info, steps = program.plan_info(args, threads)
    pairs, rows = sum(n * n for n in lengths), sum(lengths)
    assert info.threads == threads and info.exact
    assert info.result_bytes == 4 * (128 * pairs + 384 * rows)
    # Copies of weights included, on targets that pack them.
    assert info.peak_bytes - info.result_bytes <= threads * 4_000_000
    assert info.staging_bytes == 0
    # Beside launches of arguments alone, which `prepare` does: they pack weights.
    kernels = [s for s in steps if s.op == b"launch" and not s.kernel.endswith(b"_shared")]
    assert len(kernels) <= 3
    # Eight times the samples, which take turns: as much as before, but for tables.
    more, _ = program.plan_info([8 * a if isinstance(a, list) else a for a in args], threads)
    assert more.temp_bytes <= max(info.temp_bytes, threads * 2_100_000 + packed_bytes(module))
    assert more.peak_bytes - more.result_bytes <= threads * 4_000_000


def test_temporaries_are_of_singles(demo):
    """Hoisted: gate and up as rows and as columns of pairs, the pairs' own terms, their means and
    the mean of pairs; the normalisation's offset through gate and up. And packed weights."""
    module = demo[1]
    packed = packed_bytes(module)
    hidden, pair, rows = module.HIDDEN, module.PAIR, 100
    for way, count in (("in order", 3 * pair), ("hoisted", 4 * hidden + 3 * pair + 2)):
        program = demo[0][way]
        info, _ = program.plan_info(demo_arguments(program, module, [rows]), 1)
        assert info.temp_bytes <= 4 * rows * count + 4 * 2 * hidden + packed + 4096, way


@pytest.mark.parametrize("way", WAYS)
def test_no_temporary_has_a_row_for_each_pair(demo, way):
    entry = demo[0][way].info
    tables = entry["tables"]
    temps = [b for b in entry["buffers"] if b["kind"] == "temp"]
    assert temps, "singles are kept between kernels"
    for buffer in temps:
        rows = buffer["rows"]
        if "total" in rows:
            assert "N * N" not in tables[rows["total"]]["extent"].replace("N*N", "N * N")
    assert any(t.get("extent", "").replace(" ", "") == "N*N" for t in tables)


# --- Symbols ----------------------------------------------------------------------------


def undefined_symbols(artifact):
    """Names in the dynamic symbol table of an ELF file that it does not define."""
    assert artifact[:4] == b"\x7fELF"
    (section_offset,) = struct.unpack_from("<Q", artifact, 40)
    size, count = struct.unpack_from("<HH", artifact, 58)
    headers = [
        struct.unpack_from("<IIQQQQIIQQ", artifact, section_offset + k * size) for k in range(count)
    ]
    names, defined = [], []
    for header in headers:
        if header[1] != 11:  # SHT_DYNSYM
            continue
        strings = headers[header[6]][4]
        for at in range(header[4] + 24, header[4] + header[5], 24):
            name, _, _, section = struct.unpack_from("<IBBH", artifact, at)
            begin = strings + name
            text = artifact[begin : artifact.index(b"\0", begin)].decode()
            (defined if section else names).append(text)
    return names, defined


@pytest.mark.parametrize("name", NAMES)
def test_artifacts_need_nothing_from_their_host(name):
    program = Program(named(name).text)
    kernels = {s["kernel"] for s in program.info["steps"] if s["op"] == "launch"}
    if not kernels:  # No code at all.
        assert not program.artifact.startswith(b"\x7fELF")
        return
    undefined, defined = undefined_symbols(program.artifact)
    assert kernels <= set(defined)
    assert set(undefined) <= {"memcpy", "memset", "memmove", "memcmp"}
