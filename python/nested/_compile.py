# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calling the compiler: text to artifacts and to phases."""

from __future__ import annotations

import linecache
import re
from typing import Any

from . import _cache
from ._errors import CompileError, NestedError

_LOCATION = re.compile(r"^(?:loc\()?\"?([^\s\":]+)\"?:(\d+):(\d+)\)?:? ")

# What is put into one kernel, in the order of NESTED_FUSE_* in Compiler/CAPI.h.
FUSE = ("cost", "never", "always")


def _core() -> Any:
    try:
        from . import _core as core
    except ImportError as error:
        if (error.path or "").endswith(".so"):
            raise CompileError(f"the compiler can't be loaded: {error}") from None
        raise CompileError(
            "this installation runs compiled programs, but has no compiler; install the package "
            "nested"
        ) from None
    return core


def phases() -> list[str]:
    """Names of the phases that a program goes through."""
    return [name.strip() for name in _core().phases().split(",")]


def explain(diagnostics: str) -> str:
    """Diagnostics with the user's source under the lines that name it."""
    given = diagnostics.rstrip().splitlines()
    lines = []
    for line, following in zip(given, [*given[1:], ""]):
        lines.append(line)
        match = _LOCATION.match(line)
        source = linecache.getline(match[1], int(match[2])).strip() if match else ""
        # The compiler shows lines of files that it can open; cells of notebooks are no files.
        if source and source not in following:
            lines.append("    " + source)
    return "\n".join(lines)


def _result(outcome: tuple, what: str) -> tuple[bytes, list[str]]:
    status, data, diagnostics, remarks, _ = outcome
    if status == 2:
        raise ValueError(diagnostics.strip())
    if status == 3:
        raise OSError(diagnostics.strip())
    if status == 4:
        raise NestedError(f"the compiler broke on {what}; please report it:\n{diagnostics}")
    if status != 0:
        raise CompileError(f"{what} can't be compiled:\n{explain(diagnostics)}")
    return data, remarks


def compile_text(
    text: str, name: str, target: str = "cpu", strip_ir: bool = False, fuse: str = "cost",
    reassociate: bool = True,
) -> tuple[bytes, list[str]]:  # fmt: skip
    """An artifact from program text, and the remarks of the compiler, from the cache on disk if they
    are there. CompileError."""
    core = _core()
    cached = _cache.key(core, text, target, name, str(strip_ir), fuse, str(reassociate))
    found = _cache.load(cached)
    if found is None:
        outcome = core.compile(
            text, target, f"<{name}>", strip_ir, FUSE.index(fuse), no_reassociate=not reassociate
        )
        found = _result(outcome, name)
        _cache.store(cached, *found)
    return found


def lower_text(
    text: str, phase: str, name: str, target: str = "cpu", fuse: str = "cost",
    reassociate: bool = True,
) -> bytes:  # fmt: skip
    """A phase of a program: text (an object file for "object"). CompileError, ValueError."""
    core = _core()
    outcome = core.lower(
        text, phase, target, f"<{name}>", FUSE.index(fuse), no_reassociate=not reassociate
    )
    return _result(outcome, name)[0]
