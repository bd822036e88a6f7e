//===- Cpu.cpp - What this machine can execute ----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

using namespace nested::rt;

std::string_view nested::rt::hostArch() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
  return "unknown";
#endif
}

std::string_view nested::rt::canonicalArch(std::string_view arch) {
  if (arch == "amd64" || arch == "x86-64")
    return "x86_64";
  if (arch == "arm64")
    return "aarch64";
  return arch;
}

#if defined(__x86_64__)

namespace {
enum Register { EAX, EBX, ECX, EDX };

/// What the operating system must save at a context switch (XCR0 bits).
enum OsState : uint32_t {
  NoState = 0,
  Avx = 0x6,
  Avx512 = 0xE6,
  Amx = 0x60000
};

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  unsigned bit;
  OsState state;
};
} // namespace

// From the Intel SDM, CPUID, and the AMD APM, appendix E.
static const Feature features[] = {
    {"sse3", 1, 0, ECX, 0, NoState},
    {"pclmul", 1, 0, ECX, 1, NoState},
    {"ssse3", 1, 0, ECX, 9, NoState},
    {"fma", 1, 0, ECX, 12, Avx},
    {"cx16", 1, 0, ECX, 13, NoState},
    {"sse4.1", 1, 0, ECX, 19, NoState},
    {"sse4.2", 1, 0, ECX, 20, NoState},
    {"crc32", 1, 0, ECX, 20, NoState},
    {"movbe", 1, 0, ECX, 22, NoState},
    {"popcnt", 1, 0, ECX, 23, NoState},
    {"aes", 1, 0, ECX, 25, NoState},
    {"xsave", 1, 0, ECX, 27, NoState},
    {"avx", 1, 0, ECX, 28, Avx},
    {"f16c", 1, 0, ECX, 29, Avx},
    {"rdrnd", 1, 0, ECX, 30, NoState},
    {"fsgsbase", 7, 0, EBX, 0, NoState},
    {"bmi", 7, 0, EBX, 3, NoState},
    {"avx2", 7, 0, EBX, 5, Avx},
    {"bmi2", 7, 0, EBX, 8, NoState},
    {"invpcid", 7, 0, EBX, 10, NoState},
    {"rtm", 7, 0, EBX, 11, NoState},
    {"avx512f", 7, 0, EBX, 16, Avx512},
    {"avx512dq", 7, 0, EBX, 17, Avx512},
    {"rdseed", 7, 0, EBX, 18, NoState},
    {"adx", 7, 0, EBX, 19, NoState},
    {"avx512ifma", 7, 0, EBX, 21, Avx512},
    {"clflushopt", 7, 0, EBX, 23, NoState},
    {"clwb", 7, 0, EBX, 24, NoState},
    {"avx512cd", 7, 0, EBX, 28, Avx512},
    {"sha", 7, 0, EBX, 29, NoState},
    {"avx512bw", 7, 0, EBX, 30, Avx512},
    {"avx512vl", 7, 0, EBX, 31, Avx512},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512},
    {"pku", 7, 0, ECX, 4, NoState},
    {"waitpkg", 7, 0, ECX, 5, NoState},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512},
    {"shstk", 7, 0, ECX, 7, NoState},
    {"gfni", 7, 0, ECX, 8, NoState},
    {"vaes", 7, 0, ECX, 9, Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, Avx},
    {"avx512vnni", 7, 0, ECX, 11, Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512},
    {"rdpid", 7, 0, ECX, 22, NoState},
    {"cldemote", 7, 0, ECX, 25, NoState},
    {"movdiri", 7, 0, ECX, 27, NoState},
    {"movdir64b", 7, 0, ECX, 28, NoState},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512},
    {"serialize", 7, 0, EDX, 14, NoState},
    {"tsxldtrk", 7, 0, EDX, 16, NoState},
    {"amx-bf16", 7, 0, EDX, 22, Amx},
    {"avx512fp16", 7, 0, EDX, 23, Avx512},
    {"amx-tile", 7, 0, EDX, 24, Amx},
    {"amx-int8", 7, 0, EDX, 25, Amx},
    {"avxvnni", 7, 1, EAX, 4, Avx},
    {"avx512bf16", 7, 1, EAX, 5, Avx512},
    {"amx-fp16", 7, 1, EAX, 21, Amx},
    {"avxifma", 7, 1, EAX, 23, Avx},
    {"avxvnniint8", 7, 1, EDX, 4, Avx},
    {"avxneconvert", 7, 1, EDX, 5, Avx},
    {"avxvnniint16", 7, 1, EDX, 10, Avx},
    {"xsaveopt", 0xD, 1, EAX, 0, NoState},
    {"xsavec", 0xD, 1, EAX, 1, NoState},
    {"xsaves", 0xD, 1, EAX, 3, NoState},
    {"sahf", 0x80000001, 0, ECX, 0, NoState},
    {"lzcnt", 0x80000001, 0, ECX, 5, NoState},
    {"sse4a", 0x80000001, 0, ECX, 6, NoState},
    {"prfchw", 0x80000001, 0, ECX, 8, NoState},
    {"xop", 0x80000001, 0, ECX, 11, Avx},
    {"fma4", 0x80000001, 0, ECX, 16, Avx},
    {"tbm", 0x80000001, 0, ECX, 21, NoState},
    {"mwaitx", 0x80000001, 0, ECX, 29, NoState},
    {"clzero", 0x80000008, 0, EBX, 0, NoState},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, NoState},
};

// Part of every x86-64 processor.
static const char *const baseline[] = {"64bit", "x87", "cmov", "cx8",
                                       "fxsr",  "mmx", "sse",  "sse2"};

static uint32_t osState() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
    return 0; // No OSXSAVE: xgetbv would trap.
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

FeatureState nested::rt::queryCpuFeature(std::string_view name) {
  for (const char *each : baseline)
    if (name == each)
      return FeatureState::Present;
  for (const Feature &feature : features) {
    if (name != feature.name)
      continue;
    unsigned regs[4];
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &regs[EAX],
                           &regs[EBX], &regs[ECX], &regs[EDX]))
      return FeatureState::Absent;
    bool present = (regs[feature.reg] >> feature.bit) & 1;
    bool saved = (osState() & feature.state) == feature.state;
    return present && saved ? FeatureState::Present : FeatureState::Absent;
  }
  return FeatureState::Unknown;
}

#elif defined(__aarch64__)

namespace {
struct Feature {
  const char *name;
  bool second; // AT_HWCAP2
  unsigned bit;
};
} // namespace

// From Linux' arch/arm64/include/uapi/asm/hwcap.h.
static const Feature features[] = {
    {"fp-armv8", false, 0},   {"neon", false, 1},     {"aes", false, 3},
    {"sha2", false, 6},       {"crc", false, 7},      {"lse", false, 8},
    {"fullfp16", false, 10},  {"rdm", false, 12},     {"jsconv", false, 13},
    {"complxnum", false, 14}, {"rcpc", false, 15},    {"ccpp", false, 16},
    {"sha3", false, 17},      {"sm4", false, 19},     {"dotprod", false, 20},
    {"sve", false, 22},       {"fp16fml", false, 23}, {"sve2", true, 1},
    {"i8mm", true, 13},       {"bf16", true, 14},     {"sme", true, 23},
};

FeatureState nested::rt::queryCpuFeature(std::string_view name) {
  if (name == "v8a" || name == "armv8-a")
    return FeatureState::Present;
  for (const Feature &feature : features)
    if (name == feature.name)
      return (getauxval(feature.second ? AT_HWCAP2 : AT_HWCAP) >> feature.bit) &
                     1
                 ? FeatureState::Present
                 : FeatureState::Absent;
  return FeatureState::Unknown;
}

#else

FeatureState nested::rt::queryCpuFeature(std::string_view) {
  return FeatureState::Unknown;
}

#endif
