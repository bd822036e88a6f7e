# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs against the reference interpreter; bugs put in on purpose are found by them.

``python random_check.py SEED`` says what is wrong with one program, made small.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from oracle import LIBRARIES
from random_bugs import BUGS
from random_check import Unsupported, check, explain, failure, vectors
from random_program import BATCH, FAMILIES, default_order, generate

LONG = bool(os.environ.get("NESTED_LONG"))
PROGRAMS, CHUNK = (2000, 50) if LONG else (240, 20)


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_agree_with_the_interpreter(first):
    unsupported = []
    for seed in range(first, first + CHUNK):
        program = generate(seed)
        try:
            check(program)
        except Unsupported as e:
            unsupported.append(str(e))
        except Exception:
            pytest.fail(explain(program) if failure(program) else f"seed {seed} fails sometimes")
    assert not unsupported, "\n".join(unsupported)


def test_programs_are_what_they_should_be():
    """Of many kinds: without this, generating nothing but maps would pass, too."""
    programs = [generate(seed) for seed in range(240)]
    families, kinds = Counter(), Counter()
    for p in programs:
        families.update(p.families)
        types = [v.type for v in p.values]
        kinds["several symbols"] += len({e for t in types for e in t.extents if e in p.bound}) > 1
        kinds["an axis twice"] += any(len(set(t.ragged)) > len({t.extents[k] for k in t.ragged})
                                      for t in types)  # fmt: skip
        kinds["dense"] += any(not t.path for t in types)
        kinds["not leading"] += any(t.storage != tuple(range(t.rank)) for t in types)
        kinds["order"] += any(t.order not in (None, default_order(t.extents)) for t in types)
        kinds["nested"] += any(len(t.path) > 1 for t in types)
        kinds["one row per sample"] += any(t.path == BATCH and not t.ragged for t in types)
        kinds["equal lengths"] += bool(p.equal)
        kinds["f64"] += any(t.dtype == "f64" for t in types)
        kinds["integers"] += any(t.dtype in ("i32", "i64") for t in types)
        kinds["f16"] += any(t.dtype == "f16" for t in types)
        kinds["bf16"] += any(t.dtype == "bf16" for t in types)
        kinds["indices"] += any(v.below is not None for s in p.steps for v in s.outputs)
        kinds["NaN"] += any(v.special for v in p.values)
        batches = vectors(p)
        kinds["no samples"] += [] in batches
        kinds["empty samples"] += any(0 in b for b in batches)
    assert min(kinds.values()) >= 5, kinds
    assert all(families[f] >= 5 for f in FAMILIES), families


@pytest.mark.parametrize("name", BUGS)
def test_bugs_are_found(name):
    """Within 300 programs, and the program that shows one is small. In a process of its own: what a
    wrong program writes to may be anything."""
    environment = {**os.environ, "PYTHONPATH": str(LIBRARIES.parent / "python")}
    run = subprocess.run([sys.executable, "random_bugs.py", name, "300"], capture_output=True,
                         text=True, cwd=Path(__file__).parent, env=environment)  # fmt: skip
    if run.returncode < 0:
        return  # it crashed: found
    assert run.returncode == 0, run.stderr
    found = re.match(r"(\d+) programs, (\d+) steps", run.stdout)
    assert found and int(found[2]) <= 4, run.stdout
