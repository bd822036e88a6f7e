# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All programs: of oracle_programs.py and of every oracle_programs_*.py beside it."""

import importlib
from pathlib import Path

from oracle_programs import CASES

for path in sorted(Path(__file__).parent.glob("oracle_programs_*.py")):
    importlib.import_module(path.stem)

__all__ = ["CASES"]
