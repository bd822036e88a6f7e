//===- Cpu.h - What this machine can execute --------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_CPU_H
#define NESTED_RUNTIME_CPU_H

#include <string>
#include <string_view>

namespace nested::rt {

enum class FeatureState { Present, Absent, Unknown };

/// Whether processor and operating system offer an instruction set extension,
/// by LLVM's name for it ("avx512f").
FeatureState queryCpuFeature(std::string_view name);

/// Architecture of this machine as triples spell it: "x86_64", "aarch64".
std::string_view hostArch();

/// The spellings of one architecture made one: "arm64" -> "aarch64".
std::string_view canonicalArch(std::string_view arch);

} // namespace nested::rt

#endif // NESTED_RUNTIME_CPU_H
