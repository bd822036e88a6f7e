//===- nested-reference.cpp - Runs programs with written-out inputs -------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The testing tool of the reference interpreter: runs every entry of a program
// on the arguments that its attributes give (`reference.values`, ...; see
// AttributeArguments in nested/Reference/Reference.h), and prints the results.
//
//===----------------------------------------------------------------------===//

#include "nested/Reference/Reference.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace nested;
namespace cl = llvm::cl;

namespace {
struct Flags {
  cl::opt<std::string> input{cl::Positional, cl::desc("<program>"),
                             cl::init("-")};
  cl::opt<std::string> entry{
      "entry", cl::desc("Run only this function (default: all public ones)")};
  cl::opt<bool> roundEach{
      "round-each",
      cl::desc("Round every value to its type, not results only")};
  cl::opt<int64_t> numSamples{
      "samples", cl::init(1),
      cl::desc("Samples of a batch that no argument has")};
  cl::opt<int64_t> maxElements{"max-elements",
                               cl::init(reference::Options().maxElements),
                               cl::desc("Refuse values with more elements")};
  cl::opt<bool> split{"split-input-file",
                      cl::desc("Run the parts between '// -----' lines alone")};
  cl::opt<bool> verifyDiagnostics{
      "verify-diagnostics",
      cl::desc("Compare errors with expected-error comments")};
};
} // namespace

static LogicalResult runAll(const Flags &flags, MLIRContext &context,
                            llvm::SourceMgr &sources, raw_ostream &os) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  reference::Options options;
  options.roundEach = flags.roundEach;
  options.numSamples = flags.numSamples;
  options.maxElements = flags.maxElements;
  if (failed(reference::expandDerivatives(*module)))
    return failure();
  for (auto func : module->getOps<func::FuncOp>()) {
    if (func.isExternal() || !func.isPublic() ||
        (!flags.entry.empty() && func.getName() != flags.entry))
      continue;
    auto arguments = reference::AttributeArguments::get(func);
    if (failed(arguments))
      return failure();
    auto results = reference::run(func, arguments->getArguments(), options);
    if (failed(results))
      return failure();
    os << '@' << func.getName() << '\n';
    for (auto [i, value] : llvm::enumerate(*results))
      reference::print(value, std::to_string(i), os);
  }
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Flags flags;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a program on the arguments written into it, with the reference "
      "interpreter.\n");
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      openInputFile(flags.input, &message);
  if (!buffer) {
    llvm::errs() << "nested-reference: " << message << '\n';
    return EXIT_FAILURE;
  }
  DialectRegistry registry;
  reference::registerDialects(registry);
  auto process = [&](std::unique_ptr<llvm::MemoryBuffer> chunk,
                     raw_ostream &os) -> LogicalResult {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(chunk), llvm::SMLoc());
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.printOpOnDiagnostic(false);
    if (flags.verifyDiagnostics) {
      SourceMgrDiagnosticVerifierHandler handler(sources, &context);
      (void)runAll(flags, context, sources, os);
      return handler.verify();
    }
    SourceMgrDiagnosticHandler handler(sources, &context);
    return runAll(flags, context, sources, os);
  };
  LogicalResult result = splitAndProcessBuffer(
      std::move(buffer), process, llvm::outs(),
      flags.split ? kDefaultSplitMarker : StringRef(), "");
  return succeeded(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}
