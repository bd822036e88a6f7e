# Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of the lit suite: tools, substitutions and features.

Substitutions: %python, %host_cc, %host_cxx, %source_dir, %build_dir, %ptxas.

Features (for REQUIRES, UNSUPPORTED and `%if feature %{ ... %}`):
  ptxas                             CUDA's assembler was found
  gpu                               an NVIDIA GPU and its driver are there
  x86, avx2, avx512, avx512bf16     what this processor can execute
  python                            the extension module is built
  sanitized                         our own code is built with sanitizers
  long                              scripts/check --long (NESTED_LONG=1)
"""

# ruff: noqa: F821  (lit defines `config` and `lit_config`)

import ctypes
import os
import platform

import lit.formats
import lit.llvm

lit.llvm.initialize(lit_config, config)
from lit.llvm import llvm_config  # noqa: E402  (exists only after initialize)

config.name = "nested"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c"]
config.excludes = ["CMakeLists.txt", "Inputs", "Unit", "python"]
config.test_source_root = os.path.join(config.nested_source_dir, "test")
config.test_exec_root = os.path.join(config.nested_build_dir, "test")

# --- Environment -------------------------------------------------------------

# Captured names may not leak over a LABEL.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
config.environment["PYTHONPATH"] = os.path.join(config.nested_build_dir, "python")
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.nested_tools_dir, append_path=True)
llvm_config.with_system_environment(["HOME", "CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"])

# --- Tools -------------------------------------------------------------------

# NESTED_VERIFY_ROUNDTRIP=1 also prints and parses back every module of the suite.
opt = ["--verify-roundtrip"] if os.environ.get("NESTED_VERIFY_ROUNDTRIP") == "1" else []

llvm_config.add_tool_substitutions(
    [
        lit.llvm.subst.ToolSubst("nested-opt", extra_args=opt, unresolved="ignore"),
        lit.llvm.subst.ToolSubst("nested-compile", unresolved="ignore"),
        lit.llvm.subst.ToolSubst("nested-run", unresolved="ignore"),
        lit.llvm.subst.ToolSubst("nested-reference", unresolved="ignore"),
        "mlir-opt",
        "mlir-translate",
        "FileCheck",
        "not",
        "split-file",
    ],
    [config.nested_tools_dir, config.llvm_tools_dir],
)

config.substitutions += [
    ("%python", config.python_executable),
    ("%host_cc", config.host_cc),
    ("%host_cxx", config.host_cxx),
    ("%source_dir", config.nested_source_dir),
    ("%build_dir", config.nested_build_dir),
    ("%ptxas", config.nested_ptxas),
]

# --- Features ----------------------------------------------------------------


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def has_gpu():
    """Whether the CUDA driver can be loaded and sees a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        return (
            driver.cuInit(0) == 0
            and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
            and count.value > 0
        )
    except (OSError, AttributeError):
        return False


def skip(feature, reason):
    lit_config.note(f"tests that need '{feature}' are skipped: {reason}")


if platform.machine() in ("x86_64", "AMD64"):
    config.available_features.add("x86")
    flags = cpu_flags()
    if {"avx2", "fma"} <= flags:
        config.available_features.add("avx2")
    if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags:
        config.available_features.add("avx512")
        if "avx512_bf16" in flags:
            config.available_features.add("avx512bf16")
if config.nested_ptxas:
    config.available_features.add("ptxas")
else:
    skip("ptxas", "no CUDA toolkit was found (scripts/setup installs ptxas)")
if has_gpu():
    config.available_features.add("gpu")
else:
    skip("gpu", "no NVIDIA GPU or no driver")
if config.nested_have_python:
    config.available_features.add("python")
if config.nested_sanitize:
    config.available_features.add("sanitized")
if os.environ.get("NESTED_LONG") == "1":
    config.available_features.add("long")
