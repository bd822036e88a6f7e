# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many threads compiled programs use."""

from __future__ import annotations

from . import _runtime
from ._errors import public


@public
def set_num_threads(n: int) -> None:
    """Threads for later calls; 0: the processors that this process may use (the default).
    Results have the same bits at any number of threads."""
    if isinstance(n, bool) or int(n) != n or n < 0:
        raise ValueError(f"the number of threads must be an integer of at least 0, but got {n!r}")
    _runtime.set_default_threads(int(n))


@public
def get_num_threads() -> int:
    """Threads that calls use."""
    return _runtime.default_threads()
