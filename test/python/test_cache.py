# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts on disk: used again, replaced when damaged, removed when there are too many."""

import multiprocessing
import os
import subprocess
import sys

import pytest

import nested
from nested import _cache, _compile

TEXT = """
func.func @twice(%x: !ragged.tensor<[N, 4], f32> {ragged.name = "x"}) -> !ragged.tensor<[N, 4], f32> {
  %y = ragged.map ins(%x : !ragged.tensor<[N, 4], f32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    ragged.yield %b : f32
  } -> !ragged.tensor<[N, 4], f32>
  return %y : !ragged.tensor<[N, 4], f32>
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NESTED_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NESTED_CACHE_MB", "512")
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """How often the compiler was called."""
    core, calls = _compile._core(), []

    class Counting:
        __file__ = core.__file__

        @staticmethod
        def compile(*args, **options):
            calls.append(args)
            return core.compile(*args, **options)

    monkeypatch.setattr(_compile, "_core", lambda: Counting)
    return calls


def test_used_again(folder, compilations):
    first = _compile.compile_text(TEXT, "twice")
    again = _compile.compile_text(TEXT, "twice")
    assert first == again and len(compilations) == 1
    assert len(list(folder.iterdir())) == 1 and folder.stat().st_mode & 0o077 == 0
    _compile.compile_text(TEXT, "twice", fuse="never")
    _compile.compile_text(TEXT, "twice", strip_ir=True)
    _compile.compile_text(TEXT.replace("@twice", "@more"), "twice")
    assert len(compilations) == 4


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:-4] + b"oops",
                                    lambda b: b"{}\n" + b])  # fmt: skip
def test_damaged_files_are_replaced(folder, compilations, damage):
    want = _compile.compile_text(TEXT, "twice")
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert _compile.compile_text(TEXT, "twice") == want and len(compilations) == 2
    assert _compile.compile_text(TEXT, "twice") == want and len(compilations) == 2


def test_limit(folder, monkeypatch):
    size = len(_compile.compile_text(TEXT, "twice")[0])
    monkeypatch.setenv("NESTED_CACHE_MB", str(3.5 * (size + 200) / 1e6))
    for k in range(6):
        _cache.store(f"{k:064}", bytes(size), [])
        os.utime(folder / f"{k:064}.nested", (k + 1, k + 1))
    assert sum(p.stat().st_size for p in folder.iterdir()) <= _cache.limit()
    kept = {int(p.stem, 16) for p in folder.iterdir()}
    assert 5 in kept and not kept & {0, 1, 2}


def test_no_cache(folder, compilations, monkeypatch):
    monkeypatch.setenv("NESTED_CACHE_MB", "0")
    _compile.compile_text(TEXT, "twice")
    _compile.compile_text(TEXT, "twice")
    assert len(compilations) == 2 and not folder.exists()


def test_a_folder_that_can_not_be_written(tmp_path, compilations, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("NESTED_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("NESTED_CACHE_MB", "512")
    _compile.compile_text(TEXT, "twice")
    _compile.compile_text(TEXT, "twice")
    assert len(compilations) == 2


def test_failures_are_not_kept(folder):
    for _ in range(2):
        with pytest.raises(nested.CompileError):
            _compile.compile_text("func.func @f(", "f")
    assert not folder.exists()


def _hammer(name):
    for k in range(200):
        _cache.store(f"{name}{k % 7}", bytes([k % 7]) * 5000, [str(k % 7)])
        found = _cache.load(f"{name}{(k + 3) % 7}")
        assert found is None or found == (bytes([(k + 3) % 7]) * 5000, [str((k + 3) % 7)])


def test_processes_at_the_same_time(folder, monkeypatch):
    monkeypatch.setenv("NESTED_CACHE_MB", "0.02")
    context = multiprocessing.get_context("spawn")
    with context.Pool(3) as pool:
        pool.map(_hammer, ["same"] * 3)
    assert not [p for p in folder.iterdir() if p.name.startswith(".new-")]


def test_across_processes(folder):
    program = (
        "import numpy as np, nested\n"
        "x = nested.from_list([np.ones((2, 4), 'f4')])\n"
        "print(nested.jit(lambda x: x * 2)(x).values.sum())\n"
    )
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
        assert ran.stdout == "16.0\n", ran.stderr
        assert len(list(folder.iterdir())) == 1
