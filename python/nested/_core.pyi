# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
Outcome = tuple[int, bytes, str, list[str], list[str]]

def compile(
    text: str,
    target: str = "cpu",
    file_name: str = "<program>",
    strip_ir: bool = False,
    fuse: int = 0,
    entry: str = "",
    no_reassociate: bool = False,
) -> Outcome: ...
def lower(
    text: str,
    phase: str,
    target: str = "cpu",
    file_name: str = "<program>",
    fuse: int = 0,
    entry: str = "",
    no_reassociate: bool = False,
) -> Outcome: ...
def phases() -> str: ...
