# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions, and where in the user's program something happened.

Every public function is wrapped by :func:`public`, a boundary that removes the
frames of this package from the traceback of an exception of ours, so that the
last line it shows is a line of the user's program.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
from typing import Any, Callable, NamedTuple, TypeVar

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NUMPY = (
    os.path.dirname(os.path.abspath(sys.modules["numpy"].__file__ or "")) + os.sep
    if "numpy" in sys.modules
    else None
)


class NestedError(Exception):
    """Base of all exceptions of this package."""


class TraceError(NestedError, TypeError):
    """A traced function did what can't be compiled. The traceback ends at its line."""


class ShapeError(TraceError, ValueError):
    """Shapes that don't fit together, found while tracing."""


class StructureError(NestedError, ValueError):
    """Lengths, offsets or values that make no ragged tensor."""


class CompileError(NestedError):
    """The compiler refused a program; the message names the lines of the program."""


class ArtifactError(NestedError, ValueError):
    """A file that is no artifact, is damaged, too new, or for another machine."""


class ArgumentError(NestedError, ValueError):
    """An argument of a compiled function that doesn't fit its signature."""


class DataError(NestedError, ValueError):
    """Bad data met while running, such as an index out of range."""


class OutOfMemoryError(NestedError, MemoryError):
    """A call that memory would not hold. Nothing was computed."""


class RequirementError(NestedError):
    """A guard given as ``require=`` does not hold."""


class Location(NamedTuple):
    """A piece of the user's source: lines from 1, columns from 1."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def text(self) -> str:
        """The source text, on one line; "" where the source is not at hand."""
        lines = [linecache.getline(self.file, n) for n in range(self.line, self.end_line + 1)]
        if not lines or not lines[0]:
            return ""
        if self.end_column > 0:
            # Columns count UTF-8 bytes.
            lines[-1] = lines[-1].encode()[: self.end_column - 1].decode(errors="ignore")
            lines[0] = lines[0].encode()[self.column - 1 :].decode(errors="ignore")
        return " ".join(" ".join(lines).split())

    @property
    def short(self) -> str:
        """The file name without its folders, and the line: "block.py:7"."""
        return f"{os.path.basename(self.file)}:{self.line}"


UNKNOWN = Location("<unknown>", 1, 1, 1, 0)


def is_internal(filename: str) -> bool:
    """True for files of this package and of NumPy."""
    return filename.startswith(_PACKAGE) or bool(_NUMPY and filename.startswith(_NUMPY))


@functools.lru_cache(maxsize=None)
def _positions(code: Any) -> tuple:
    return tuple(code.co_positions()) if hasattr(code, "co_positions") else ()


def user_location() -> Location:
    """The innermost running line that is not ours."""
    frame = sys._getframe(1)
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return UNKNOWN
    code, line = frame.f_code, frame.f_lineno
    positions = _positions(code)
    index = frame.f_lasti // 2
    if 0 <= index < len(positions):
        first, last, column, end = positions[index]
        if first is not None and column is not None:
            return Location(code.co_filename, first, column + 1, last or first, (end or 0) + 1)
    return Location(code.co_filename, line, 1, line, 0)


def function_location(function: Callable) -> Location:
    """Where a function is defined; unknown for what has no Python code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return UNKNOWN
    return Location(code.co_filename, code.co_firstlineno, 1, code.co_firstlineno, 0)


def at_user(error: TraceError) -> TraceError:
    """Adds the user's line to a message: ``raise at_user(TraceError("..."))``."""
    where = user_location()
    text = where.text
    message = str(error) + f"\n  at {where.short}" + (f": {text}" if text else "")
    located = type(error)(message)
    located.location = where  # type: ignore[attr-defined]
    return located


def trim(error: BaseException) -> None:
    """Takes the frames of this package out of the error's traceback, in place."""
    seen = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, NestedError):
            frames, kept = current.__traceback__, []
            while frames is not None:
                if not is_internal(frames.tb_frame.f_code.co_filename):
                    kept.append(frames)
                frames = frames.tb_next
            for tb, following in zip(kept, [*kept[1:], None]):
                tb.tb_next = following
            current.__traceback__ = kept[0] if kept else None
        current = current.__cause__


F = TypeVar("F", bound=Callable)


def public(function: F) -> F:
    """Wraps a function so that our frames don't show in tracebacks of our errors.

    The wrapper is a C function, which adds no frame of its own.
    """
    from . import _runtime

    try:
        signature = inspect.signature(function)
        plain = signature.replace(
            return_annotation=signature.empty,
            parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
        )
        head = f"{function.__name__}{plain}\n--\n\n"
    except (TypeError, ValueError):
        head = ""
    doc = head + inspect.cleandoc(function.__doc__ or "")
    return _runtime.boundary(function, function.__name__, doc, trim)


def public_method(function: Callable, name: str = "") -> Any:
    """As public, for a method of a class."""
    from . import _runtime

    doc = inspect.cleandoc(function.__doc__ or "")
    return _runtime.boundary_method(function, name or function.__name__, doc, trim)
