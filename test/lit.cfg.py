# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of the lit suite: tools, substitutions, features."""

# ruff: noqa: F821  (lit defines `config` and `lit_config`)

import os

import lit.formats
import lit.llvm

lit.llvm.initialize(lit_config, config)
from lit.llvm import llvm_config  # noqa: E402  (exists only after initialize)

config.name = "nested"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["lit.cfg.py", "CMakeLists.txt", "Inputs", "Unit", "python"]
config.test_source_root = os.path.join(config.nested_source_dir, "test")
config.test_exec_root = os.path.join(config.nested_build_dir, "test")

# Captured names may not leak over a LABEL.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
config.environment["PYTHONPATH"] = os.path.join(config.nested_build_dir, "python")
config.environment["NESTED_BUILD_DIR"] = config.nested_build_dir
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.nested_tools_dir, append_path=True)
llvm_config.with_system_environment(["HOME", "CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"])

# NESTED_VERIFY_ROUNDTRIP=1 also prints and parses back every module of the suite.
opt = "nested-opt"
if os.environ.get("NESTED_VERIFY_ROUNDTRIP", "0") not in ("", "0"):
    opt = "nested-opt --verify-roundtrip"

tool_dirs = [config.nested_tools_dir, config.llvm_tools_dir]
llvm_config.add_tool_substitutions(
    [
        lit.llvm.subst.ToolSubst("nested-opt", opt, unresolved="ignore"),
        lit.llvm.subst.ToolSubst("nested-compile", unresolved="ignore"),
        lit.llvm.subst.ToolSubst("nested-run", unresolved="ignore"),
        "mlir-opt",
        "FileCheck",
        "not",
        "split-file",
    ],
    tool_dirs,
)
config.substitutions.append(("%python", config.python_executable))
config.substitutions.append(("%source_dir", config.nested_source_dir))
config.substitutions.append(("%build_dir", config.nested_build_dir))
