# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of docs/Python.md print what they say."""

import doctest
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "Python.md"


def test_guide():
    text = GUIDE.read_text().replace("```pycon\n", "\n").replace("```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, "Python.md", str(GUIDE), 0)
    assert len(test.examples) > 15
    said = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
