# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the project's TableGen files: the passes, ops and dialects that they define."""

import glob
import json
import os
import subprocess
import sys

import repo_files

ROOT = repo_files.ROOT
INCLUDE = os.path.join(ROOT, "include")


def llvm_include():
    config = repo_files.tool("llvm-config-22")
    if not config:
        sys.exit("llvm-config-22 is missing; run scripts/setup")
    return subprocess.check_output([config, "--includedir"], text=True).strip()


def run(program, *arguments, check=True):
    """Runs llvm-tblgen or mlir-tblgen with the include paths set, and returns what it prints."""
    path = repo_files.tool(program + "-22", program)
    if not path:
        sys.exit(f"{program} is missing; run scripts/setup")
    command = [path, "-I", INCLUDE, "-I", llvm_include(), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if result.returncode != 0 and check:
        sys.exit(f"{' '.join(command)}:\n{result.stderr}")
    return result.stdout


def records(td):
    return json.loads(run("llvm-tblgen", "--dump-json", os.path.relpath(td, ROOT)))


def pass_files():
    """Every Passes.td of the project, relative to the root."""
    found = glob.glob(os.path.join(INCLUDE, "nested", "**", "Passes.td"), recursive=True)
    return sorted(os.path.relpath(f, ROOT) for f in found)


def passes(td):
    """The passes that one file defines, as dicts with class, flag, summary, description."""
    found = []
    dump = records(td)
    for name in dump["!instanceof"].get("PassBase", []):
        record = dump[name]
        found.append(
            {
                "class": name,
                "flag": record["argument"],
                "summary": (record["summary"] or "").strip(),
                "description": (record["description"] or "").strip(),
                "file": td,
            }
        )
    return found


def dialect_files():
    """The file of each dialect that includes all of its ops: <Name>/IR/<Name>Ops.td."""
    found = glob.glob(os.path.join(INCLUDE, "nested", "Dialect", "*", "IR"))
    files = [os.path.join(d, d.split(os.sep)[-2] + "Ops.td") for d in found]
    return sorted(os.path.relpath(f, ROOT) for f in files if os.path.exists(f))


def ops(td):
    """(dialect name, ops) of one file; each op is a dict with class, name, summary, ..."""
    dump = records(td)
    own = [d for d in dump["!instanceof"].get("Dialect", []) if is_ours(dump, d)]
    found = []
    for name in dump["!instanceof"].get("Op", []):
        record = dump[name]
        if record["opDialect"]["def"] not in own:
            continue
        dialect = dump[record["opDialect"]["def"]]["name"]
        found.append(
            {
                "class": name,
                "name": f"{dialect}.{record['opName']}",
                "summary": (record["summary"] or "").strip(),
                "description": (record["description"] or "").strip(),
                "record": record,
            }
        )
    return found


def dialects(td):
    dump = records(td)
    return [dump[d]["name"] for d in dump["!instanceof"].get("Dialect", []) if is_ours(dump, d)]


def is_ours(dump, dialect):
    return dump[dialect]["cppNamespace"].startswith("::nested")
