# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of random programs against central differences, compiled and interpreted.

``python random_gradients.py SEED`` says what is wrong with one program, made small.
"""

import os

import pytest
from random_gradients import Counts, explain, failure
from random_program import generate

LONG = bool(os.environ.get("NESTED_LONG"))
PROGRAMS, CHUNK = (500, 25) if LONG else (40, 10)


@pytest.mark.parametrize("first", range(0, PROGRAMS, CHUNK))
def test_central_differences(first):
    counts = Counts()
    for seed in range(first, first + CHUNK):
        program = generate(seed)
        if failure(program, counts):
            pytest.fail(explain(program))
    # It must not pass because nothing was tried.
    assert counts.directions >= CHUNK // 2
    assert counts.rough <= counts.directions // 4
    assert len(counts.unsupported) <= CHUNK // 5, "\n".join(counts.unsupported)
