# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong uses of each op, from Python: the message, and the user's line."""

import re

import pytest
from helpers import raises
from op_errors import CASES

import nested


@pytest.mark.parametrize("case", CASES, ids=[c.op for c in CASES])
def test_message(case):
    text = nested.jit(case.function).lower(*case.right).text("tensor")
    assert re.search(rf"(?<![\w!])ragged\.{case.op}\b", text), "the right use has no such op"
    with raises(case.error, case.message, line=case.line):
        nested.jit(case.misuse or case.function).lower(*case.wrong)
