# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share. Run with PYTHONPATH=<build>/python."""

import json
import os
import re
from pathlib import Path

# Tests compile what they test.
os.environ["NESTED_CACHE_MB"] = "0"

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("default", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=300)
settings.load_profile("long" if os.environ.get("NESTED_LONG") else "default")


@pytest.fixture
def rng():
    return np.random.default_rng(1016)


CASES = Path(__file__).parent / "goldens" / "case_ops.json"


@pytest.fixture(autouse=True)
def ops_of_a_case(request, monkeypatch):
    """What programs a test of a field case compiles: docs/generated/Status.md reads the ops from a file.
    The tests see that it names all; with NESTED_UPDATE=1 they add what it lacks."""
    if not request.module.__name__.startswith("test_cases"):
        yield
        return
    from nested import _core

    found, compile_ = set(), _core.compile

    def recorded(text, *args, **kwargs):
        text = text.decode() if isinstance(text, bytes) else text
        found.update(re.findall(r"(?<![\w!])ragged\.(\w+)", text))
        return compile_(text, *args, **kwargs)

    monkeypatch.setattr(_core, "compile", recorded)
    yield
    known = json.loads(CASES.read_text()) if CASES.exists() else {}
    name = request.function.__name__
    lacking = found - set(known.get(name, []))
    if lacking and os.environ.get("NESTED_UPDATE"):
        known[name] = sorted(found | set(known.get(name, [])))
        CASES.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
        lacking = set()
    assert not lacking, (
        f"{CASES.name} lacks {sorted(lacking)} of {name}: run it with NESTED_UPDATE=1"
    )
