//===- PTX.cpp - From the NVVM dialect to PTX -----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/PTX.h"

#include "nested/Target/Error.h"
#include "nested/Target/Object.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace nested;
using llvm::Expected;

static constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// The version of PTX; LLVM's default is too old for sm_80.
static constexpr llvm::StringLiteral kFeatures = "+ptx80";

/// What LLVM knows of the target.
static Expected<const llvm::Target *> getTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), message);
  if (!target)
    return makeInternalError(message);
  return target;
}

bool GPUSpec::isGPU(llvm::StringRef text) {
  return text == "cuda" || text.starts_with("cuda:");
}

Expected<GPUSpec> GPUSpec::parse(llvm::StringRef text) {
  llvm::StringRef chip = text;
  if (!chip.consume_front("cuda:"))
    return makeUserError("unknown GPU target '" + text +
                         "'; expected cuda:sm_80, cuda:sm_90a, ...");
  Expected<const llvm::Target *> target = getTarget();
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      (*target)->createMCSubtargetInfo(llvm::Triple(kTriple), "", ""));
  unsigned number = 0;
  llvm::StringRef digits = chip;
  bool known = digits.consume_front("sm_") &&
               !digits.consumeInteger(10, number) &&
               subtarget->isCPUStringValid(chip);
  // Older ones lack instructions that are taken for granted.
  if (known && number >= 80)
    return GPUSpec{chip.str()};
  std::string all;
  for (const llvm::SubtargetSubTypeKV &each :
       subtarget->getAllProcessorDescriptions()) {
    llvm::StringRef name = each.Key;
    if (name.consume_front("sm_") && !name.consumeInteger(10, number) &&
        number >= 80)
      all += (all.empty() ? "" : ", ") + std::string(each.Key);
  }
  return makeUserError("unknown GPU '" + chip + "' in target '" + text +
                       "'; known are " + all);
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const llvm::Target &target, const GPUSpec &gpu) {
  return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(
      llvm::Triple(kTriple), gpu.chip, kFeatures, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static Expected<std::unique_ptr<llvm::Module>>
translate(mlir::gpu::GPUModuleOp module, llvm::LLVMContext &context,
          llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(
      module, context, module.getName(), /*disableVerification=*/true);
  if (!code)
    return makeInternalError("the GPU module cannot be translated to LLVM IR");
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());

  runPasses(*code, machine, [](llvm::PassBuilder &builder) {
    return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  });
  return code;
}

Expected<std::string> nested::translateToDeviceIR(mlir::gpu::GPUModuleOp module,
                                                  const GPUSpec &gpu) {
  Expected<const llvm::Target *> target = getTarget();
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(**target, gpu);
  llvm::LLVMContext context;
  auto code = translate(module, context, *machine);
  if (!code)
    return code.takeError();
  std::string text;
  llvm::raw_string_ostream os(text);
  (*code)->print(os, nullptr);
  return text;
}

Expected<std::string> nested::translateToPTX(mlir::gpu::GPUModuleOp module,
                                             const GPUSpec &gpu) {
  Expected<const llvm::Target *> target = getTarget();
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(**target, gpu);
  llvm::LLVMContext context;
  auto code = translate(module, context, *machine);
  if (!code)
    return code.takeError();
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return makeInternalError("LLVM cannot emit PTX");
  passes.run(**code);
  return text.str().str();
}
