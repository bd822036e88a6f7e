# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nested-bisect names what breaks a program; the broken passes are tools that change what the real
ones give."""

import subprocess
import sys

import pytest
from oracle import LIBRARIES
from oracle_programs import ragged_types

TOOLS = LIBRARIES.parent / "bin"
PROGRAM = ragged_types("""func.func @f(%x: <N, 4>, %y: <N, 4>, %n: <M; i64>) -> (<N, N, 4>, <N, 4>) {
  %b = ragged.broadcast %x dims [0, 2] : <N, 4> -> <N, N, 4>
  %t = ragged.broadcast %y dims [1, 2] : <N, 4> -> <N, N, 4>
  %p = ragged.map ins(%b, %t : <N, N, 4>, <N, N, 4>) {
  ^bb0(%u: f32, %v: f32):
    %r = arith.subf %u, %v : f32
    ragged.yield %r : f32 } -> <N, N, 4>
  %s = ragged.reduce sum %p dims [0] : <N, N, 4> -> <N, 4>
  return %p, %s : <N, N, 4>, <N, 4> }""")


def broken(folder, name, change):
    """A folder of tools in which one is a script: Python lines that call `real` and print."""
    folder.mkdir()
    for tool in ("nested-opt", "nested-compile", "nested-run"):
        if tool != name:
            (folder / tool).symlink_to(TOOLS / tool)
    script = folder / name
    script.write_text(f"""#!{sys.executable}
import re, subprocess, sys
def real(*arguments, **options):
    return subprocess.run(["{TOOLS / name}", *arguments], text=True, capture_output=True, check=True, **options)
{change}""")
    script.chmod(0o755)
    return folder


@pytest.fixture
def bisect(tmp_path):
    def run(text=PROGRAM, tools=TOOLS, lengths="N=2,0,3"):
        program = tmp_path / "program.mlir"
        program.write_text(text)
        command = [sys.executable, TOOLS / "nested-bisect", program, "--lengths", lengths,
                   "--lengths", "M=1,1,1", "--tools", tools]  # fmt: skip
        return subprocess.run([str(c) for c in command], capture_output=True, text=True)

    return run


def test_agrees(bisect):
    run = bisect()
    assert (run.returncode, run.stdout) == (0, "all forms of the program agree\n"), run.stderr


@pytest.mark.parametrize("flag", ["ragged-generalize", "ragged-fold-moves", "ragged-form-kernels"])
def test_names_a_pass(bisect, tmp_path, flag):
    tools = broken(tmp_path / "tools", "nested-opt", f"""
text = real(*sys.argv[1:]).stderr
at = text.index("({flag})")
sys.stderr.write(text[:at] + text[at:].replace("arith.subf", "arith.addf"))
""")  # fmt: skip
    run = bisect(tools=tools)
    assert run.returncode == 1, run.stderr
    assert f", {flag}: result 0, sample 0, coordinates [0, 0, 0]: " in run.stdout
    assert "expected" in run.stdout and "(52 of 52 differ)" in run.stdout


def test_names_a_pass_after_which_nothing_runs(bisect, tmp_path):
    tools = broken(tmp_path / "tools", "nested-opt", """
text = real(*sys.argv[1:]).stderr
at = text.index("(ragged-generalize)")
sys.stderr.write(text[:at] + text[at:].replace("arith.subf", "math.ctlz"))
""")  # fmt: skip
    run = bisect(tools=tools)
    assert run.returncode == 1 and ", ragged-generalize: it cannot be interpreted" in run.stdout


def test_names_the_compiled_object(bisect, tmp_path):
    """Rows of the last sample are written to the first one's."""
    tools = broken(tmp_path / "tools", "nested-compile", """
source = real(sys.argv[1], "--emit=structure").stdout.replace("arith.subf", "arith.addf")
real("-", *sys.argv[2:], input=source)
""")  # fmt: skip
    run = bisect(tools=tools)
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith(
        "after the kernels phase (structure, loops, llvm, object): result 0"
    )


def test_wrong_uses(bisect):
    run = bisect(lengths="K=3")
    assert run.returncode == 2 and "K" in run.stderr
    run = bisect(text="func.func @f() { return 1 }")
    assert run.returncode == 2 and "error:" in run.stderr
