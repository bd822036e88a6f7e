//===- nested-compile.cpp - The compiler's command line -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Compiler/Compiler.h"
#include "nested/Target/Artifact.h"
#include "nested/Target/Error.h"
#include "nested/Target/PTX.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace nested;

static constexpr StringLiteral kOverview = R"(compiler for ragged tensors

Compiles a program (MLIR text, in any phase) to an artifact, which the runtime
loads. An artifact as input is compiled again from the program inside.

  nested-compile block.mlir -o block.so                    for this machine
  nested-compile block.mlir -o block.so --target=cpu:x86-64-v3
  nested-compile block.mlir -o block.h                     a C array, to build in
  nested-compile block.mlir --emit=loops                   look at a phase
  nested-compile block.mlir --emit=loops | nested-compile - -o block.so
  nested-compile block.mlir --target=cuda:sm_90a --emit=ptx  kernels for a GPU

Phases: tensor, generic, kernels, structure, loops, llvm, object. For a GPU also
ptx and device-ir (LLVM IR); artifacts for GPUs are not supported yet.

Exit codes: 0 done, 1 the program is wrong, 2 the command line is wrong, 3 the
machine is in the way (a file, the disk, the processor), 4 an error of the
compiler.
)";

namespace {

cl::OptionCategory category("nested-compile options");

cl::opt<std::string> input(cl::Positional, cl::Required,
                           cl::desc("<program, or - for the standard input>"),
                           cl::cat(category));
cl::opt<std::string>
    output("o", cl::value_desc("file"), cl::cat(category),
           cl::desc("Output: FILE.so (artifact), FILE.o (object file), FILE.h "
                    "(artifact as a C array), or - with --emit"));
cl::opt<std::string>
    target("target", cl::value_desc("name"), cl::init("cpu"), cl::cat(category),
           cl::desc("cpu (this machine), cpu:NAME (x86-64, x86-64-v3, "
                    "x86-64-v4, znver4, ...), cpu:aarch64, cpu:aarch64-NAME, "
                    "cuda:sm_80, cuda:sm_90a, ..."));
cl::opt<std::string> emit("emit", cl::value_desc("phase"), cl::cat(category),
                          cl::desc("Stop at this phase and print the program"));
cl::opt<std::string> entry("entry", cl::value_desc("name"), cl::cat(category),
                           cl::desc("Compile only this entry of the program"));
cl::opt<bool> stripIR("strip-ir", cl::cat(category),
                      cl::desc("Leave the program out of the artifact"));
cl::opt<ragged::Fusion>
    fuse("fuse", cl::init(ragged::Fusion::Cost), cl::cat(category),
         cl::desc("What is put into one kernel (default: cost)"),
         NESTED_FUSION_VALUES);
cl::opt<bool> noReassociate(
    "no-reassociate", cl::cat(category),
    cl::desc("Keep sums in the program's order, at the cost of speed"));
cl::opt<bool> timing("timing", cl::cat(category),
                     cl::desc("Print the time of each phase"));
cl::opt<bool>
    showRemarks("remarks", cl::cat(category),
                cl::desc("Print what was optimized, and what was not, "
                         "and why"));
cl::opt<unsigned>
    optLevel("llvm-opt", cl::value_desc("level"), cl::init(1),
             cl::cat(category),
             cl::desc("LLVM's optimizer: 0 none, 1 what kernels profit "
                      "from (default), 2 and 3 its -O2 and -O3"));

enum class OutputKind { Artifact, Header, Text, Object };

struct Job {
  OutputKind kind = OutputKind::Artifact;
  Phase phase = Phase::Object;
  /// Instead of a phase.
  std::optional<DeviceCode> device;
  std::string path;
};

} // namespace

static int fail(Status status, const Twine &message) {
  errs() << "nested-compile: error: " << message << "\n";
  return static_cast<int>(status);
}

static Expected<Job> planJob() {
  Job job;
  job.path = output;
  StringRef extension = sys::path::extension(job.path);
  if (emit == "ptx" || emit == "device-ir") {
    if (!GPUSpec::isGPU(target))
      return makeUserError("--emit=" + emit +
                           " is for GPUs, but the target is '" + target +
                           "'; give one like --target=cuda:sm_90a");
    job.kind = OutputKind::Text;
    job.device = emit == "ptx" ? DeviceCode::PTX : DeviceCode::LLVMIR;
    if (job.path.empty())
      job.path = "-";
  } else if (!emit.empty()) {
    std::optional<Phase> phase = symbolizePhase(emit);
    if (!phase)
      return makeUserError("unknown phase '" + emit + "' in --emit; expected " +
                           "one of " + listPhases());
    job.phase = *phase;
    job.kind = *phase == Phase::Object ? OutputKind::Object : OutputKind::Text;
    if (job.path.empty() && job.kind == OutputKind::Text)
      job.path = "-";
    if (job.kind == OutputKind::Text &&
        (extension == ".so" || extension == ".o" || extension == ".h"))
      return makeUserError("--emit=" + emit + " prints text, but '" + job.path +
                           "' is named like compiled code");
  } else if (extension == ".o") {
    job.kind = OutputKind::Object;
  } else if (extension == ".h") {
    job.kind = OutputKind::Header;
  } else if (!job.path.empty() && extension != ".so" && job.path != "-" &&
             job.path != "/dev/null") {
    return makeUserError("cannot tell what to write to '" + job.path +
                         "'; expected a name that ends in .so, .o or .h");
  }
  if (job.path.empty())
    return makeUserError("no output: give -o FILE.so, FILE.o or FILE.h, or "
                         "--emit=PHASE");
  return job;
}

/// The text to compile: a file, or the program inside of an artifact.
static Expected<std::string> readProgram() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/false);
  if (!buffer)
    return makeEnvironmentError("cannot read '" + input +
                                "': " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (!bytes.ends_with("NESTEDAR"))
    return bytes.str();
  Expected<std::string> program = getProgramText(bytes);
  if (!program)
    return makeUserError("cannot use '" + input +
                         "': " + toString(program.takeError()));
  return program;
}

/// An artifact as a C array named after the file.
static std::string makeHeader(StringRef path, StringRef bytes) {
  std::string name = sys::path::stem(path).str();
  for (char &c : name)
    if (!isAlnum(c))
      c = '_';
  if (name.empty() || isDigit(name[0]))
    name.insert(0, "_");
  std::string text;
  raw_string_ostream os(text);
  os << "/* An artifact of nested, written by nested-compile. */\n"
     << "#include <stddef.h>\n\n"
     << "static const size_t " << name << "_size = " << bytes.size() << ";\n"
     << "static const unsigned char " << name << "[] = {";
  for (size_t i = 0; i < bytes.size(); ++i)
    os << (i % 20 == 0 ? "\n" : "")
       << static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) << ",";
  os << "\n};\n";
  return text;
}

static void printTimes(const CompileReport &report) {
  double total = 0;
  for (const PhaseTime &time : report.times)
    total += time.milliseconds;
  for (const PhaseTime &time : report.times)
    errs() << formatv("{0,9:f2} ms  {1}\n", time.milliseconds, time.name);
  errs() << formatv("{0,9:f2} ms  total\n", total);
}

int main(int argc, char **argv) {
  setBugReportMsg("nested-compile crashed; please report this with the program "
                  "and the command line\n");
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &errs()))
    return static_cast<int>(Status::BadCommandLine);

  Expected<Job> job = planJob();
  if (!job)
    return fail(Status::BadCommandLine, toString(job.takeError()));
  CompileOptions options;
  options.target = target;
  options.entry = entry;
  options.stripIR = stripIR;
  options.fuse = fuse;
  options.reassociate = !noReassociate;
  options.optLevel = optLevel;
  options.fileName = input == "-" ? std::string("<stdin>") : input;
  if (showRemarks)
    options.onRemark = [](StringRef line) { errs() << line << "\n"; };
  std::string message;
  if (Error error = checkOptions(options)) {
    Status status = consumeStatus(std::move(error), message);
    return fail(status == Status::UserError ? Status::BadCommandLine : status,
                message);
  }
  Expected<std::string> program = readProgram();
  if (!program) {
    Status status = consumeStatus(program.takeError(), message);
    return fail(status, message);
  }

  // LLD resets all options of the command line; none is read after this.
  bool printTiming = timing;
  CompileReport report;
  bool isArtifact =
      job->kind == OutputKind::Artifact || job->kind == OutputKind::Header;
  Expected<Bytes> result =
      job->device
          ? compileToDeviceCode(*program, *job->device, options, &report)
      : isArtifact ? compileToArtifact(*program, options, &report)
                   : lowerText(*program, job->phase, options, &report);
  if (printTiming)
    printTimes(report);
  if (!result) {
    Status status = consumeStatus(result.takeError(), message);
    // Diagnostics say where and what by themselves.
    if (!report.diagnostics.empty()) {
      errs() << message << "\n";
      return static_cast<int>(status);
    }
    return fail(status, message);
  }
  errs() << report.diagnostics;

  std::string header;
  StringRef bytes(result->data(), result->size());
  if (job->kind == OutputKind::Header) {
    header = makeHeader(job->path, bytes);
    bytes = header;
  }
  if (Error error = writeFileAtomically(job->path, bytes)) {
    Status status = consumeStatus(std::move(error), message);
    return fail(status, message);
  }
  return 0;
}
