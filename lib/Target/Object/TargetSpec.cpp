//===- TargetSpec.cpp - What code is generated for ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/TargetSpec.h"

#include "nested/Target/Error.h"

#include "llvm-c/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace llvm;
using namespace nested;

/// Two of LLVM's targets, once in a process.
static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

static constexpr StringLiteral kX86Triple = "x86_64-unknown-linux-gnu";
static constexpr StringLiteral kArmTriple = "aarch64-unknown-linux-gnu";

static Expected<const Target *> findTarget(StringRef triple) {
  initializeTargets();
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(Triple(triple), error);
  if (!target)
    return makeEnvironmentError(error);
  return target;
}

static Expected<std::unique_ptr<MCSubtargetInfo>>
getSubtarget(const TargetSpec &spec) {
  Expected<const Target *> target = findTarget(spec.triple);
  if (!target)
    return target.takeError();
  return std::unique_ptr<MCSubtargetInfo>((*target)->createMCSubtargetInfo(
      Triple(spec.triple), spec.cpu, spec.features));
}

static Expected<TargetSpec> getHost() {
  TargetSpec spec;
  Triple triple(sys::getProcessTriple());
  if (triple.getArch() == Triple::x86_64)
    spec.triple = kX86Triple.str();
  else if (triple.getArch() == Triple::aarch64)
    spec.triple = kArmTriple.str();
  else
    return makeEnvironmentError("this machine's processor (" +
                                triple.getArchName() +
                                ") is not supported; expected x86-64 or "
                                "AArch64");
  spec.cpu = sys::getHostCPUName().str();
  SubtargetFeatures features;
  for (const auto &[name, enabled] : sys::getHostCPUFeatures())
    features.AddFeature(name, enabled);
  std::vector<std::string> sorted = features.getFeatures();
  llvm::sort(sorted);
  spec.features = llvm::join(sorted, ",");
  return spec;
}

Expected<TargetSpec> TargetSpec::parse(StringRef text) {
  auto [kind, name] = text.split(':');
  if (kind != "cpu")
    return makeUserError("unknown target '" + text +
                         "'; expected cpu or cpu:NAME");
  if (text == "cpu")
    return getHost();
  TargetSpec spec;
  if (name == "aarch64" || name.starts_with("aarch64-")) {
    spec.triple = kArmTriple.str();
    spec.cpu = name == "aarch64" ? "generic" : name.drop_front(8).str();
  } else {
    spec.triple = kX86Triple.str();
    spec.cpu = name.str();
  }
  // Of the bare triple: asking for a CPU that does not exist prints a warning.
  Expected<std::unique_ptr<MCSubtargetInfo>> subtarget =
      getSubtarget({spec.triple, "", ""});
  if (!subtarget)
    return subtarget.takeError();
  if (!spec.cpu.empty() && (*subtarget)->isCPUStringValid(spec.cpu)) {
    Expected<std::unique_ptr<MCSubtargetInfo>> chosen = getSubtarget(spec);
    if (!chosen)
      return chosen.takeError();
    // "pentium" is a processor too, but not one of this triple.
    if (Triple(spec.triple).isAArch64() || (*chosen)->checkFeatures("+64bit"))
      return spec;
  }
  std::string known;
  for (const SubtargetSubTypeKV &cpu :
       (*subtarget)->getAllProcessorDescriptions()) {
    StringRef each = cpu.Key;
    if (each.starts_with("x86-64") || each.starts_with("znver") ||
        each.starts_with("neoverse"))
      known += (Twine(known.empty() ? "" : ", ") +
                (Triple(spec.triple).isAArch64() ? "aarch64-" : "") + each)
                   .str();
  }
  return makeUserError("unknown processor '" + name + "' in target '" + text +
                       "'; known are " + known + " and others");
}

Expected<std::unique_ptr<TargetMachine>> TargetSpec::createMachine() const {
  Expected<const Target *> target = findTarget(triple);
  if (!target)
    return target.takeError();
  TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  // Fuses where `contract` or an fmuladd says so, nowhere else.
  options.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine((*target)->createTargetMachine(
      Triple(triple), cpu, features, options, Reloc::PIC_));
  if (!machine)
    return makeEnvironmentError("no code generator for " + triple);
  return machine;
}

/// The names that the runtime can ask a processor for, and that kernels can
/// use; LLVM's names.
static const StringSet<> &getKnownInstructionSets() {
  static const StringSet<> known = {
      "sse3", "ssse3", "sse4.1", "sse4.2", "sse4a", "popcnt", "avx", "avx2",
      "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe", "gfni", "adx", "avx512f",
      "avx512dq", "avx512cd", "avx512bw", "avx512vl", "avx512ifma",
      "avx512vbmi", "avx512vbmi2", "avx512vnni", "avx512bf16", "avx512fp16",
      "avx512bitalg", "avxvnni", "avxifma", "avxvnniint8", "avxneconvert",
      "avx512vpopcntdq", "avxvnniint16", "xop", "fma4", "tbm",
      // AArch64.
      "neon", "dotprod", "fullfp16", "bf16", "i8mm", "lse", "rdm", "sve",
      "sve2"};
  return known;
}

Expected<std::vector<std::string>> TargetSpec::getInstructionSets() const {
  std::vector<std::string> names;
  Expected<std::unique_ptr<MCSubtargetInfo>> subtarget = getSubtarget(*this);
  if (!subtarget)
    return subtarget.takeError();
  for (const SubtargetFeatureKV &feature :
       (*subtarget)->getEnabledProcessorFeatures())
    if (getKnownInstructionSets().contains(feature.Key))
      names.push_back(feature.Key);
  llvm::sort(names);
  return names;
}
