# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which files belong to the project, for the scripts of this folder."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

CXX = (".cpp", ".h", ".c", ".inc")


def files():
    """Paths, relative to the root, of tracked files and new ones that git does not ignore."""
    out = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    names = sorted({name for name in out.split("\0") if name})
    return [name for name in names if os.path.isfile(os.path.join(ROOT, name))]


def read(name):
    """The text of a file, or None where it is not text."""
    with open(os.path.join(ROOT, name), "rb") as f:
        data = f.read()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def is_python(name):
    if name.endswith((".py", ".pyi")):
        return True
    if "." in os.path.basename(name):
        return False
    with open(os.path.join(ROOT, name), "rb") as f:
        line = f.readline(200)
    return line.startswith(b"#!") and b"python" in line


def tool(*names):
    """The path of the first program of that name in .venv, PATH or LLVM's folder, or None."""
    import shutil

    path = os.pathsep.join(
        [
            os.path.join(ROOT, ".venv", "bin"),
            os.environ.get("PATH", ""),
            "/usr/lib/llvm-22/bin",
        ]
    )
    for name in names:
        found = shutil.which(name, path=path)
        if found:
            return found
    return None
