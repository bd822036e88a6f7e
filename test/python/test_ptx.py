# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ops have kernels for GPUs: docs/generated/Status.md reads what this test has seen compile."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from oracle import LIBRARIES
from oracle_suite import CASES

SEEN = Path(__file__).parent / "goldens" / "ptx_ops.json"
TARGET = "cuda:sm_90a"


def used(text):
    return set(re.findall(r"(?<![\w!])ragged\.(\w+)", text)) - {"yield"}


def programs(op):
    """The shortest two with it, those of the fewest ops first."""
    with_it = [c.text for c in CASES if op in used(c.text)]
    return sorted(with_it, key=lambda text: (len(used(text)), len(text)))[:2]


OPS = sorted(set().union(*(used(c.text) for c in CASES)))


def has_kernels(text, folder):
    source = folder / "program.mlir"
    source.write_text(text)
    command = [
        LIBRARIES.parent / "bin" / "nested-compile",
        source,
        f"--target={TARGET}",
        "--emit=ptx",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    # What is not supported is said, at the program's line.
    assert done.returncode == 0 or "error: " in done.stderr
    return done.returncode == 0 and ".entry" in done.stdout


@pytest.mark.parametrize("op", OPS)
def test_what_compiles_for_a_gpu(op, tmp_path):
    compiles = any(has_kernels(text, tmp_path) for text in programs(op))
    known = json.loads(SEEN.read_text()) if SEEN.exists() else []
    if os.environ.get("NESTED_UPDATE"):
        known = sorted({*known, op} if compiles else set(known) - {op})
        SEEN.write_text(json.dumps(known, indent=1) + "\n")
    assert compiles == (op in known), f"{SEEN.name} is not current: run this with NESTED_UPDATE=1"
