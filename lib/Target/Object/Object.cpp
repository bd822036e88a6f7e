//===- Object.cpp - From the LLVM dialect to an object file ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Object.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Target/Error.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace nested;

namespace {

/// What the shared object exports.
llvm::StringSet<> getExports(mlir::ModuleOp module) {
  llvm::StringSet<> names;
  names.insert(kServicesSlot);
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (function->hasAttr(kKernelAttr))
      names.insert(function.getSymName());
  return names;
}

/// A module without the operations of the ragged dialect, which have no
/// translation.
mlir::OwningOpRef<mlir::ModuleOp> withoutSchedule(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(
      mlir::ModuleOp::create(module.getLoc(), module.getName()));
  mlir::OpBuilder builder(copy->getBodyRegion());
  for (mlir::Operation &op : *module.getBody())
    if (op.getName().getDialectNamespace() != "ragged")
      builder.clone(op);
  return copy;
}

void setLinkageAndAttributes(llvm::Module &module,
                             const llvm::StringSet<> &exports,
                             const llvm::TargetMachine &machine) {
  for (llvm::GlobalValue &value : module.global_values())
    if (value.hasExternalLinkage() && !value.isDeclaration()) {
      value.setDSOLocal(true);
      if (!exports.contains(value.getName()))
        value.setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  bool wide = machine.getTargetTriple().isX86() &&
              machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (llvm::Function &function : module) {
    // No unwind tables: nothing in a kernel throws.
    function.setDoesNotThrow();
    if (wide)
      function.addFnAttr("prefer-vector-width", "512");
  }
}

/// What kernels still profit from after the passes on MLIR: addresses are
/// simplified and moved out of loops, memory that only carries a value goes
/// away. A third of the time of O2, and as fast code.
constexpr llvm::StringLiteral kQuickPipeline =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-"
    "fixpoint>,"
    "loop-mssa(loop-rotate,licm),gvn,dse,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm),adce),globaldce";

llvm::ModulePassManager buildPasses(llvm::PassBuilder &builder,
                                    unsigned level) {
  if (level == 0)
    return builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  if (level > 1)
    return builder.buildPerModuleDefaultPipeline(
        level == 2 ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O3);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kQuickPipeline));
  return passes;
}

} // namespace

void nested::runPasses(
    llvm::Module &module, llvm::TargetMachine &machine,
    llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  build(builder).run(module, modules);
}

llvm::Expected<llvm::SmallVector<char, 0>>
nested::compileToObject(mlir::ModuleOp module, const TargetSpec &target,
                        const ObjectOptions &options) {
  auto machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  auto finish = [&](llvm::StringRef step) {
    if (options.onStep)
      options.onStep(step);
  };

  llvm::LLVMContext context;
  llvm::StringSet<> exports = getExports(module);
  std::unique_ptr<llvm::Module> code =
      mlir::translateModuleToLLVMIR(*withoutSchedule(module), context, "nested",
                                    /*disableVerification=*/true);
  if (!code)
    return makeInternalError("the module cannot be translated to LLVM IR");
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  setLinkageAndAttributes(*code, exports, **machine);
  expandUnsupportedFloatOps(*code, **machine);
  finish("translate");

  runPasses(*code, **machine, [&](llvm::PassBuilder &builder) {
    return buildPasses(builder, options.optLevel);
  });
  finish("optimize");

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager codegen;
  if ((*machine)->addPassesToEmitFile(codegen, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile,
                                      /*DisableVerify=*/true))
    return makeInternalError("the code generator for " + target.triple +
                             " cannot write object files");
  codegen.run(*code);
  finish("codegen");
  return object;
}
