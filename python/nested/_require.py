# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``jit(require=[...])``: expectations that become errors when they are broken.

Forms:

* ``"peak <= 200 MB"`` (also results, workspace, temp, scratch): a size of each call's plan;
* ``"flops <= 1e12"``: of each call's plan;
* ``"kernels <= 3"``: kernels that one call launches;
* ``"compilations <= 2"``: programs that one function is compiled to; a call with another dtype
  or static size that would need a further one is refused;
* ``"no argument copies"``: arguments are used where they lie; a call whose argument would be
  copied first (negative strides, foreign byte order, no common memory) is refused;
* ``"no pair-sized temporary"``, ``"pair never stored"``: no temporary, and neither a temporary
  nor a result, has rows that grow like a product of two lengths.
"""

from __future__ import annotations

import re
from typing import Any, Sequence

import numpy as np

from . import _dims
from ._errors import RequirementError

_UNITS = {"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
          "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}  # fmt: skip
_SIZES = {"peak": "peak_bytes", "results": "result_bytes", "workspace": "workspace_bytes",
          "temp": "temp_bytes", "scratch": "scratch_bytes", "flops": "flops"}  # fmt: skip
_COUNTS = ("kernels", "compilations")
_LIMIT = re.compile(r"(\w+)\s*(<=|<)\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)


def as_bytes(size: Any, what: str) -> int:
    """A number of bytes from an int or a text like "64 MB". ValueError."""
    if isinstance(size, str):
        match = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-z]*)\s*", size, re.IGNORECASE)
        if match and match[2].lower() in _UNITS:
            size = int(float(match[1]) * _UNITS[match[2].lower()])
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 <= size < 2**63:
        raise ValueError(f"{what} must be a number of bytes or a text like '64 MB': {size!r}")
    return int(size)


class Guard:
    """One parsed requirement."""

    def __init__(self, text: str):
        self.text = text
        words = " ".join(text.lower().replace("-", " ").split())
        self.kind, self.limit, self.strict = "", 0.0, False
        if words in ("pair never stored", "pair is never stored"):
            self.kind = "stored"
        elif words in ("no pair sized temporary", "no pair sized temporaries"):
            self.kind = "temporary"
        elif words in ("no argument copies", "no copies of arguments"):
            self.kind = "copies"
        else:
            match = _LIMIT.fullmatch(text.strip())
            if match:
                what, relation, number, unit = match.groups()
                what, unit = what.lower(), unit.lower()
                if (what in _SIZES and unit in _UNITS) or (what in _COUNTS and not unit):
                    self.kind, self.strict = what, relation == "<"
                    self.limit = float(number) * _UNITS.get(unit, 1)
        if not self.kind:
            raise ValueError(
                f"can't read the requirement {text!r}; forms are 'peak <= 200 MB', 'kernels <= 3', "
                "'compilations <= 2', 'no argument copies', 'no pair-sized temporary', "
                "'pair never stored'"
            )

    def _over(self, number: float) -> bool:
        return number >= self.limit if self.strict else number > self.limit

    def check_compilations(self, count: int, arguments: str) -> None:
        """Checks how often a function has been compiled, before it is once more."""
        if self.kind == "compilations" and self._over(count):
            raise RequirementError(
                f"required '{self.text}', but this call needs compilation {count}, for {arguments}"
            )

    def check_argument(self, name: str, given: Any, bound: Any) -> None:
        """Checks that the memory which the program reads is the caller's."""
        if self.kind == "copies" and bound.size and not np.may_share_memory(given, bound):
            strides = getattr(given, "strides", ())
            raise RequirementError(
                f"required '{self.text}', but argument `{name}` has to be copied: {given.dtype} "
                f"with strides {strides}; nothing was computed"
            )

    def check_manifest(self, entry: dict) -> None:
        """Checks a compiled entry. RequirementError when it does not hold."""
        if self.kind == "kernels":
            count = sum(step["op"] == "launch" for step in entry["steps"])
            if self._over(count):
                raise RequirementError(f"required '{self.text}', but there are {count} kernels")
        if self.kind in ("temporary", "stored"):
            found = pair_sized(entry, results=self.kind == "stored")
            if found:
                raise RequirementError(f"required '{self.text}', but {found}")

    def check_plan(self, plan: Any) -> None:
        """Checks the plan of a call. RequirementError when it does not hold."""
        if self.kind in _SIZES:
            number = getattr(plan, _SIZES[self.kind])
            if self._over(number):
                unit, factor = ("", 1) if self.kind == "flops" else (" MB", 1e6)
                raise RequirementError(
                    f"required '{self.text}', but this call's {self.kind} is "
                    f"{number / factor:.6g}{unit}; nothing was computed"
                )


def _degree(text: str) -> int:
    extent = _dims.parse(text)
    if not isinstance(extent, _dims.Dim):
        return 0
    return max(len(monomial) for monomial, _ in extent._terms)


def pair_sized(entry: dict, results: bool) -> str:
    """What buffer grows like a product of lengths; "" if none does."""
    tables = entry.get("tables", [])
    for index, buffer in enumerate(entry.get("buffers", [])):
        if buffer["kind"] == "temp":
            total = buffer["rows"].get("total") if "chunks" not in buffer["rows"] else None
            if total is not None and _degree(tables[total].get("extent", "0")) > 1:
                size = buffer["row_bytes"]
                return f"temporary {index} has {tables[total]['extent']} rows of {size} bytes per sample"
        if buffer["kind"] == "result" and results:
            result = entry["results"][buffer["index"]]
            extents = [f"({e})" for e in result.get("extents", []) if not e.isdigit()]
            if extents and _degree(" * ".join(extents)) > 1:
                shape = ", ".join(result["extents"])
                return f"result {result['name']} has shape ({shape})"
    return ""


def parse_all(require: str | Sequence[str] | None) -> list[Guard]:
    """Guards from ``require=``. ValueError for what can't be read."""
    texts = [require] if isinstance(require, str) else list(require or ())
    return [Guard(text) for text in texts]
