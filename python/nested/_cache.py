# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts on disk, by content: a program that any process has compiled is not compiled again.

A file's name is a hash of everything that its contents depend on: the program's text (with the lines
that it came from), the target, the options, the compiler itself and this machine's processor. Files
appear by renaming, so readers and writers of several processes don't meet halfway; what can't be
read or written is compiled as if there were no cache. The files used longest ago are removed when
all of them take more than the limit.

    NESTED_CACHE_DIR   the folder (default: nested/ in XDG_CACHE_HOME or ~/.cache)
    NESTED_CACHE_MB    the limit in MB (default: 512); 0: no cache
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

_SUFFIX = ".nested"
_FORMAT = "1"


def limit() -> int:
    """Bytes that the files may take; 0 without a cache."""
    try:
        return int(float(os.environ.get("NESTED_CACHE_MB", "512")) * 1e6)
    except ValueError:
        return 0


def folder() -> Path:
    """Where the files are."""
    named = os.environ.get("NESTED_CACHE_DIR")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "nested"


@functools.lru_cache(maxsize=None)
def _machine(library: str) -> str:
    """What identifies the compiler and the processor that "cpu" means."""
    flags = platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("flags", "Features", "model name")):
                flags += line
            elif not line:
                break
    digest = hashlib.sha256(flags.encode())
    with open(library, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def key(core: Any, *parts: str) -> str | None:
    """The name of the file of a program; None without a cache."""
    if not limit():
        return None
    try:
        words = (_FORMAT, _machine(core.__file__), *parts)
    except OSError:
        return None
    digest = hashlib.sha256()
    for word in words:
        data = word.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load(name: str | None) -> tuple[bytes, list[str]] | None:
    """The artifact and the remarks of the compiler, if they are there and whole."""
    if name is None:
        return None
    path = folder() / (name + _SUFFIX)
    try:
        data = path.read_bytes()
        os.utime(path)
    except (OSError, RuntimeError):
        return None
    head, _, artifact = data.partition(b"\n")
    try:
        about = json.loads(head)
        if about["sha256"] == hashlib.sha256(artifact).hexdigest():
            return artifact, list(about["remarks"])
    except (ValueError, KeyError, TypeError):
        pass
    with contextlib.suppress(OSError):
        path.unlink()  # damaged
    return None


def store(name: str | None, artifact: bytes, remarks: list[str]) -> None:
    """Keeps an artifact; quietly not, where the disk doesn't allow it."""
    if name is None or len(artifact) > limit():
        return
    about = {"sha256": hashlib.sha256(artifact).hexdigest(), "remarks": remarks}
    with contextlib.suppress(OSError, RuntimeError):
        where = folder()
        # Others must not be able to put code there that we run.
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if where.stat().st_uid != os.getuid():
            return
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=where)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(about).encode() + b"\n" + artifact)
            os.replace(temporary, where / (name + _SUFFIX))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _trim(where)


def _trim(where: Path) -> None:
    """Removes the files used longest ago until the rest is within the limit."""
    files = []
    for entry in os.scandir(where):
        if entry.name.endswith(_SUFFIX):
            with contextlib.suppress(OSError):
                about = entry.stat()
                files.append((about.st_mtime_ns, about.st_size, entry.path))
    total, allowed = sum(size for _, size, _ in files), limit()
    for _, size, path in sorted(files):
        if total <= allowed:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
