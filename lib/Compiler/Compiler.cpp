//===- Compiler.cpp - From program text to an artifact --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Compiler/Compiler.h"

#include "ContextPool.h"
#include "Diagnostics.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Target/Artifact.h"
#include "nested/Target/Error.h"
#include "nested/Target/Link.h"
#include "nested/Target/Object.h"
#include "nested/Target/PTX.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace mlir;
using namespace nested;
using llvm::Error;
using llvm::Expected;

namespace {

/// Adds the time since it last did to a report.
class Stopwatch {
public:
  explicit Stopwatch(CompileReport *report) : report(report), last(now()) {}

  void lap(StringRef name) {
    Clock::time_point time = now();
    std::chrono::duration<double, std::milli> elapsed = time - last;
    last = time;
    if (report)
      report->times.push_back({name.str(), elapsed.count()});
  }

private:
  using Clock = std::chrono::steady_clock;
  static Clock::time_point now() { return Clock::now(); }

  CompileReport *report;
  Clock::time_point last;
};

} // namespace

Error nested::checkOptions(const CompileOptions &options) {
  if (options.optLevel > 3)
    return makeUserError("LLVM's optimizer has levels 0 to 3, but got " +
                         llvm::Twine(options.optLevel));
  if (options.fuse < ragged::Fusion::Cost ||
      options.fuse > ragged::Fusion::Always)
    return makeUserError("fusion is 0 (by cost), 1 (never) or 2 (always), but "
                         "got " +
                         llvm::Twine(static_cast<int>(options.fuse)));
  if (GPUSpec::isGPU(options.target))
    return GPUSpec::parse(options.target).takeError();
  return TargetSpec::parse(options.target).takeError();
}

static Error makeNoGPUError(const CompileOptions &options) {
  return makeUserError("target '" + options.target +
                       "': artifacts and objects for GPUs are not supported "
                       "yet; --emit=ptx prints the kernels");
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  os << "\n";
  return text;
}

/// The text of a failed step is in the diagnostics; this is the rest.
static Error makeDiagnosedError() { return makeUserError(""); }

/// Removes the entries but one, and the functions that only they call.
static Error keepEntry(ModuleOp module, StringRef entry) {
  if (entry.empty())
    return Error::success();
  SmallVector<Operation *> others;
  std::string names;
  bool found = false;
  for (Operation &op : *module.getBody()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    bool isSchedule = op.getName().getStringRef() == "ragged.schedule";
    if (!symbol || !symbol.isPublic() || op.hasAttr(kKernelAttr) ||
        !(isSchedule || isa<FunctionOpInterface>(op)))
      continue;
    names += (names.empty() ? "" : ", ") + symbol.getName().str();
    if (symbol.getName() == entry)
      found = true;
    else
      others.push_back(&op);
  }
  if (!found)
    return makeUserError("the program has no entry '" + entry +
                         "'; its entries are: " + names);
  for (Operation *op : others) {
    if (isa<FunctionOpInterface>(op))
      SymbolTable::setSymbolVisibility(op, SymbolTable::Visibility::Private);
    else
      op->erase();
  }
  PassManager pm(module->getContext(), ModuleOp::getOperationName());
  pm.addPass(createSymbolDCEPass());
  if (failed(pm.run(module)))
    return makeDiagnosedError();
  return Error::success();
}

static Error lower(ModuleOp module, Phase phase, const CompileOptions &options,
                   Stopwatch &stopwatch) {
  FailureOr<Phase> from = getPhase(module);
  if (failed(from))
    return makeDiagnosedError();
  if (*from > phase) {
    module.emitError("the program is in the ")
        << stringifyPhase(*from) << " phase, which comes after the "
        << stringifyPhase(phase) << " phase";
    return makeDiagnosedError();
  }
  PhaseOptions passOptions;
  passOptions.target = options.target;
  passOptions.fuse = options.fuse;
  passOptions.reassociate = options.reassociate;
  for (int i = static_cast<int>(*from); i < static_cast<int>(phase); ++i) {
    auto next = static_cast<Phase>(i + 1);
    PassManager pm(module->getContext(), ModuleOp::getOperationName());
    // Once a phase: after every pass it takes as long as half of the passes.
    // nested-opt does so.
    pm.enableVerifier(false);
    buildPhases(pm, static_cast<Phase>(i), next, passOptions);
    if (failed(pm.run(module)) || failed(verify(module)))
      return makeDiagnosedError();
    stopwatch.lap(stringifyPhase(next));
  }
  return Error::success();
}

static Expected<Bytes> compileObject(ModuleOp module, const TargetSpec &target,
                                     const CompileOptions &options,
                                     Stopwatch &stopwatch) {
  if (Error error = lower(module, Phase::LLVM, options, stopwatch))
    return std::move(error);
  ObjectOptions objectOptions;
  objectOptions.optLevel = options.optLevel;
  objectOptions.onStep = [&](StringRef step) { stopwatch.lap(step); };
  return compileToObject(module, target, objectOptions);
}

static bool hasCode(ModuleOp module) {
  return llvm::any_of(*module.getBody(), [](Operation &op) {
    return op.getName().getDialectNamespace() != "ragged";
  });
}

static Expected<Bytes> compileArtifact(ModuleOp module,
                                       const CompileOptions &options,
                                       Stopwatch &stopwatch) {
  if (GPUSpec::isGPU(options.target))
    return makeNoGPUError(options);
  Expected<TargetSpec> target = TargetSpec::parse(options.target);
  if (!target)
    return target.takeError();
  if (Error error = keepEntry(module, options.entry))
    return std::move(error);
  std::string program;
  if (!options.stripIR)
    program = print(module);
  stopwatch.lap("print");
  Expected<Bytes> object = compileObject(module, *target, options, stopwatch);
  if (!object)
    return object.takeError();
  Bytes payload;
  if (hasCode(module)) {
    Expected<Bytes> linked = linkSharedObject(*object);
    if (!linked)
      return linked.takeError();
    payload = std::move(*linked);
  }
  stopwatch.lap("link");
  Expected<llvm::json::Value> manifest = buildManifest(module, *target);
  if (!manifest)
    return manifest.takeError();
  std::string manifestText = llvm::formatv("{0}", *manifest).str();
  Bytes artifact = writeArtifact(
      {StringRef(payload.data(), payload.size()), manifestText, program});
  stopwatch.lap("artifact");
  return artifact;
}

/// Parses the text in a context of the pool, runs `step`, and puts what the
/// context said in front of the error.
template <typename Step>
static Expected<Bytes> withModule(StringRef text, const CompileOptions &options,
                                  CompileReport *report, Step step) {
  Stopwatch stopwatch(report);
  PooledContext context;
  if (options.onRemark)
    enableRemarks(context.get(), options.onRemark);
  DiagnosticCollector diagnostics(context.get(), text, options.fileName);
  stopwatch.lap("context");
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(diagnostics.getSources(), context.get());
  stopwatch.lap("parse");
  Expected<Bytes> result =
      module ? step(*module, stopwatch) : Expected<Bytes>(makeDiagnosedError());
  if (report)
    report->diagnostics = diagnostics.getText();
  if (result)
    return result;
  // Keeps the code: it says whose mistake it was.
  std::error_code code;
  std::string message = diagnostics.getText();
  llvm::handleAllErrors(result.takeError(),
                        [&](const llvm::ErrorInfoBase &info) {
                          code = info.convertToErrorCode();
                          message += info.message();
                        });
  return llvm::createStringError(code, StringRef(message).rtrim());
}

Expected<Bytes> nested::compileToArtifact(StringRef text,
                                          const CompileOptions &options,
                                          CompileReport *report) {
  return withModule(text, options, report,
                    [&](ModuleOp module, Stopwatch &stopwatch) {
                      return compileArtifact(module, options, stopwatch);
                    });
}

Expected<Bytes> nested::compileToArtifact(ModuleOp module,
                                          const CompileOptions &options,
                                          CompileReport *report) {
  Stopwatch stopwatch(report);
  return compileArtifact(module, options, stopwatch);
}

Expected<Bytes> nested::lowerText(StringRef text, Phase phase,
                                  const CompileOptions &options,
                                  CompileReport *report) {
  return withModule(
      text, options, report,
      [&](ModuleOp module, Stopwatch &stopwatch) -> Expected<Bytes> {
        if (Error error = checkOptions(options))
          return std::move(error);
        if (Error error = keepEntry(module, options.entry))
          return std::move(error);
        if (phase == Phase::Object) {
          if (GPUSpec::isGPU(options.target))
            return makeNoGPUError(options);
          Expected<TargetSpec> target = TargetSpec::parse(options.target);
          if (!target)
            return target.takeError();
          return compileObject(module, *target, options, stopwatch);
        }
        if (Error error = lower(module, phase, options, stopwatch))
          return std::move(error);
        std::string printed = print(module);
        return Bytes(printed.begin(), printed.end());
      });
}

Expected<Bytes> nested::compileToDeviceCode(StringRef text, DeviceCode kind,
                                            const CompileOptions &options,
                                            CompileReport *report) {
  return withModule(
      text, options, report,
      [&](ModuleOp module, Stopwatch &stopwatch) -> Expected<Bytes> {
        Expected<GPUSpec> gpu = GPUSpec::parse(options.target);
        if (!gpu)
          return gpu.takeError();
        if (Error error = keepEntry(module, options.entry))
          return std::move(error);
        if (Error error = lower(module, Phase::LLVM, options, stopwatch))
          return std::move(error);
        Bytes code;
        for (auto kernels : module.getOps<gpu::GPUModuleOp>()) {
          Expected<std::string> part = kind == DeviceCode::PTX
                                           ? translateToPTX(kernels, *gpu)
                                           : translateToDeviceIR(kernels, *gpu);
          if (!part)
            return part.takeError();
          code.append(part->begin(), part->end());
        }
        stopwatch.lap("device code");
        return code;
      });
}

Error nested::lowerToPhase(ModuleOp module, Phase phase,
                           const CompileOptions &options,
                           CompileReport *report) {
  if (phase == Phase::Object)
    return makeUserError("a module cannot be lowered to the object phase in "
                         "place");
  Stopwatch stopwatch(report);
  return lower(module, phase, options, stopwatch);
}

Expected<std::string> nested::getProgramText(StringRef artifact) {
  Expected<ArtifactSections> sections = readArtifact(artifact);
  if (!sections)
    return sections.takeError();
  if (sections->program.empty())
    return makeUserError("the artifact has no program in it; it was compiled "
                         "with --strip-ir");
  return sections->program.str();
}

Status nested::getStatus(const std::error_code &code) {
  if (!code)
    return Status::Ok;
  if (code == std::errc::invalid_argument)
    return Status::UserError;
  if (code == std::errc::io_error)
    return Status::EnvironmentError;
  return Status::InternalError;
}

Status nested::consumeStatus(Error error, std::string &message) {
  Status status = Status::Ok;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    status = getStatus(info.convertToErrorCode());
    message = info.message();
  });
  return status;
}
