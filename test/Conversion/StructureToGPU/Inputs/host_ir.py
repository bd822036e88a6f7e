# Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes host IR of device IR: NVVM intrinsics become calls of emulator.cpp.

usage: host_ir.py < device.ll > host.ll
"""

import re
import sys

SPECIAL = {
    "llvm.nvvm.read.ptx.sreg.tid.x": "emulator_thread",
    "llvm.nvvm.read.ptx.sreg.ctaid.x": "emulator_block",
    "llvm.nvvm.bar.warp.sync": "emulator_warp_barrier",
}

DECLARE_SHUFFLE = "declare i32 @emulator_shuffle(i32, i32, i32)"

SHUFFLE = """
define internal {type} @shuffle_{name}(i32 %mask, {type} %value, i32 %distance, i32 %clamp) {{
  %bits = bitcast {type} %value to i32
  %result = call i32 @emulator_shuffle(i32 %mask, i32 %bits, i32 %distance)
  %back = bitcast i32 %result to {type}
  ret {type} %back
}}
"""


def main():
    text = sys.stdin.read()
    shuffles = set(re.findall(r"@llvm\.nvvm\.shfl\.sync\.bfly\.(\w+)\(", text))
    lines = []
    for line in text.split("\n"):
        if re.match(
            r"(target |source_filename|attributes |!|; |declare .*@llvm\.nvvm\.shfl)", line
        ):
            continue
        if "@llvm.nvvm.barrier.cta.sync.aligned.all(" in line:
            line = (
                "declare void @emulator_barrier()"
                if line.startswith("declare")
                else (
                    re.sub(
                        r"call void @llvm\.nvvm\.barrier[^(]*\([^)]*\)",
                        "call void @emulator_barrier()",
                        line,
                    )
                )
            )
        for name, function in SPECIAL.items():
            line = line.replace(f"@{name}(", f"@{function}(")
        line = re.sub(r"@llvm\.nvvm\.shfl\.sync\.bfly\.(\w+)\(", r"@shuffle_\1(", line)
        line = re.sub(r"\b(noundef )?range\([^)]*\) ", "", line)
        line = re.sub(r" #\d+", "", line)
        line = re.sub(r", ![\w.]+ ![\w.]+", "", line)
        lines.append(line.replace("define ptx_kernel ", "define "))
    if shuffles:
        lines.append(DECLARE_SHUFFLE)
    for name in sorted(shuffles):
        lines.append(SHUFFLE.format(type={"f32": "float", "i32": "i32"}[name], name=name))
    result = "\n".join(lines)
    left = re.search(r"@llvm\.nvvm\.[\w.]+", result)
    if left:
        sys.exit(f"host_ir: {left.group()} is not emulated")
    # Shared by all kernels; as a global of the default address space.
    result = re.sub(r"(?m)^@workgroup_memory = .*$", "", result)
    if "@workgroup_memory" in result:
        result += "\n@workgroup_memory = external addrspace(3) global [0 x i8], align 16\n"
    sys.stdout.write(result + "\n")


if __name__ == "__main__":
    main()
