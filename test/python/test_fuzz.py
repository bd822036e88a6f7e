# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile input is refused with a message: no crash, no hang, no wrong result. fuzz.py says how."""

import os
from concurrent.futures import ThreadPoolExecutor

import fuzz
import pytest

COUNT = 1000 if os.environ.get("NESTED_LONG") else 40


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_hostile_input(kind):
    fuzz.artifact()
    with ThreadPoolExecutor(2) as pool:
        found = [w for w in pool.map(lambda n: fuzz.attempt(kind, n), range(COUNT)) if w]
    assert not found, "\n\n".join(found[:5])
