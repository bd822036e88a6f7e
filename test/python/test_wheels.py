# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two wheels, installed into environments of their own, outside of the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

COMPILE = """
import numpy as np, nested
f = nested.jit(lambda x, w: nested.mean(nested.nn.silu(x @ w), axis=0))
w = np.ones((8, 4), "f4")
batch = nested.from_list([np.ones((n, 8), "f4") for n in (3, 0, 2)])
out = f(batch, w)
assert f.compilations == 1 and abs(out.values[0, 0] - 8 / (1 + np.exp(-8))) < 1e-4, out.values
nested.export(f, nested.spec("N", 8), nested.spec(8, 4)).save("f.so")
package = nested.__file__.rsplit("/", 1)[0]
outside = set()
for line in open("/proc/self/maps"):
    path = line.split(maxsplit=5)[5].strip() if len(line.split(maxsplit=5)) == 6 else ""
    if ("LLVM" in path or "MLIR" in path or "lld" in path) and not path.startswith(package):
        outside.add(path)
assert not outside, outside
print("compiled", package)
"""

RUN = """
import numpy as np, nested, os
module = nested.load("f.so")
batch = nested.from_list([np.ones((n, 8), "f4") for n in (1, 4)])
out = module(batch, np.ones((8, 4), "f4"))
assert abs(out.values[0, 0] - 8 / (1 + np.exp(-8))) < 1e-4, out.values
assert module.plan([1, 4]).peak_bytes > 0
try:
    nested.jit(lambda x: x + 1)(batch)
except nested.CompileError as error:
    assert "has no compiler; install the package nested" in str(error)
else:
    raise AssertionError("compiled without a compiler")
assert not any("LLVM" in line for line in open("/proc/self/maps"))
print("ran", nested.__file__)
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    return tmp_path_factory.mktemp("wheels")


def build(source, outside, *settings):
    """Builds a wheel with the tools of this environment."""
    folder = outside / source.name
    run(sys.executable, "-m", "pip", "wheel", str(source), "--no-build-isolation", "--no-deps",
        "--wheel-dir", str(folder), *(f"--config-settings={s}" for s in settings))  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel, outside, name):
    folder = outside / name
    run(sys.executable, "-m", "venv", str(folder))
    python = folder / "bin" / "python"
    run(str(python), "-m", "pip", "install", "--quiet", str(wheel))
    return python


def call(python, program, outside):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LD_"))}
    return run(str(python), "-c", program, cwd=outside, env=clean)


def test_wheels(outside):
    # The flags of the development build, whose objects are in the compiler cache.
    full = build(ROOT, outside, "cmake.build-type=RelWithDebInfo", "cmake.define.NESTED_WERROR=ON")
    with zipfile.ZipFile(full) as archive:
        names = archive.namelist()
    for part in ("nested/_core.", "nested/_runtime.", "nested/lib/libMLIR.so", "nested/py.typed"):
        assert any(n.startswith(part) for n in names), part
    assert "compiled" in call(install(full, outside, "full"), COMPILE, outside)

    small = build(ROOT / "python" / "runtime", outside)
    assert small.stat().st_size < 2_000_000
    with zipfile.ZipFile(small) as archive:
        assert not any("_core.c" in n or "lib" in n.split("/")[1:2] for n in archive.namelist())
    assert "ran" in call(install(small, outside, "small"), RUN, outside)
