# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two wheels, installed into environments of their own, outside of the checkout."""

import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import nested

ROOT = Path(__file__).resolve().parents[2]

# How both programs see which files are mapped.
MAPPED = """
import os
def mapped():
    fields = (line.rstrip("\\n").split(maxsplit=5) for line in open("/proc/self/maps"))
    return {f[5] for f in fields if len(f) == 6 and ".so" in f[5]}
"""

COMPILE = """
import numpy as np, nested
f = nested.jit(lambda x, w: nested.mean(nested.nn.silu(x @ w), axis=0))
w = np.ones((8, 4), "f4")
batch = nested.from_list([np.ones((n, 8), "f4") for n in (3, 0, 2)])
out = f(batch, w)
assert f.compilations == 1 and abs(out.values[0, 0] - 8 / (1 + np.exp(-8))) < 1e-4, out.values
nested.export(f, nested.spec("N", 8), nested.spec(8, 4)).save("f.so")

package = os.path.dirname(nested.__file__)
inside = {os.path.basename(p) for p in mapped() if p.startswith(package + "/lib/")}
assert {n.split(".")[0] for n in inside} >= {"libLLVM", "libMLIR"}, inside
# Python's own modules need a few of the libraries too.
names = {n.split(".so")[0] for n in os.listdir(package + "/lib")} - {"libz", "libffi", "liblzma"}
outside = {
    p for p in mapped()
    if not p.startswith(package + "/")
    and (os.path.basename(p).split(".so")[0] in names or "LLVM" in p or "llvm" in p or "MLIR" in p)
}
assert not outside, outside
print("compiled with", package)
"""

RUN = """
import importlib.util
import numpy as np, nested
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
assert importlib.util.find_spec("nested._core") is None
assert not [p for p in mapped() if "LLVM" in p or "MLIR" in p]
print("ran with", os.path.dirname(nested.__file__))
"""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    return tmp_path_factory.mktemp("wheels")


@pytest.fixture(scope="module")
def say(request):
    """Prints a line, also for tests that pass."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line):
        with capture.global_and_fixture_disabled():
            print("\n" + line, flush=True)

    return say


def build(source, outside, say, *settings):
    """Builds a wheel with the tools of this environment."""
    started = time.monotonic()
    folder = outside / source.name
    jobs = str(len(os.sched_getaffinity(0)))
    run(sys.executable, "-m", "pip", "wheel", str(source), "--no-build-isolation", "--no-deps",
        "--no-cache-dir", "--wheel-dir", str(folder), *(f"--config-settings={s}" for s in settings),
        env={**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": jobs})  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
    packed, unpacked = wheel.stat().st_size, sum(m.file_size for m in members)
    say(
        f"{wheel.name}: {packed / 1e6:.1f} MB, installed {unpacked / 1e6:.1f} MB, "
        f"built in {time.monotonic() - started:.0f} s"
    )
    return wheel, [m.filename for m in members]


def install(wheel, folder):
    run(sys.executable, "-m", "venv", str(folder))
    python = folder / "bin" / "python"
    run(str(python), "-m", "pip", "install", "--quiet", str(wheel))
    return python


def call(python, program, outside, **more):
    """Runs a program where neither the checkout nor any other program is found."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LD_"))}
    clean["PATH"] = ""
    text = run(str(python), "-c", MAPPED + program, cwd=outside, env={**clean, **more})
    assert str(python.parents[1]) in text, text


@pytest.fixture(scope="module")
def small(outside, say):
    """Python with the wheel nested-runtime."""
    wheel, names = build(ROOT / "python" / "runtime", outside, say)
    assert wheel.stat().st_size < 2_000_000
    assert not any(n.startswith(("nested/_core.c", "nested/lib")) for n in names)
    assert any(n.endswith("licenses/LICENSE") for n in names)
    return install(wheel, outside / "small")


def test_runtime_wheel(small, outside):
    f = nested.jit(lambda x, w: nested.mean(nested.nn.silu(x @ w), axis=0))
    nested.export(f, nested.spec("N", 8), nested.spec(8, 4)).save(str(outside / "f.so"))
    call(small, RUN, outside)


@pytest.mark.slow
def test_full_wheel(small, outside, say):
    # The flags of the development build, whose objects are in the compiler cache.
    wheel, names = build(
        ROOT, outside, say, "cmake.build-type=RelWithDebInfo", "cmake.define.NESTED_WERROR=ON"
    )
    for part in ("nested/_core.", "nested/_runtime.", "nested/lib/libMLIR.so", "nested/py.typed"):
        assert any(n.startswith(part) for n in names), part
    assert any("/licenses/" in n and "llvm" in n for n in names), names
    libraries = [n for n in names if n.startswith("nested/lib/")]
    assert not any(re.search(r"/lib(c|m|gcc_s|stdc\+\+)\.so", n) for n in libraries), libraries

    python = install(wheel, outside / "full")
    llvm = run("llvm-config-22", "--libdir").strip()
    call(python, COMPILE, outside)
    # Not even where somebody has another LLVM on the library path.
    call(python, COMPILE, outside, LD_LIBRARY_PATH=llvm)
    # What it compiled needs nothing of it.
    call(small, RUN, outside)
