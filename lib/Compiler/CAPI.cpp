//===- CAPI.cpp - The compiler as a C library -----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Compiler/CAPI.h"

#include "nested/Compiler/Compiler.h"

#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace nested;
using llvm::Expected;
using llvm::StringRef;

/// A copy with a zero behind it, for the caller to free.
static char *copyBytes(const char *data, size_t size) {
  char *copy = static_cast<char *>(malloc(size + 1));
  if (!copy)
    return nullptr;
  if (size)
    memcpy(copy, data, size);
  copy[size] = 0;
  return copy;
}

static CompileOptions readOptions(const nested_compile_options *given,
                                  nested_compile_options &known) {
  known = {};
  if (given)
    memcpy(&known, given, std::min(given->struct_size, sizeof(known)));
  CompileOptions options;
  if (known.target)
    options.target = known.target;
  if (known.entry)
    options.entry = known.entry;
  if (known.file_name)
    options.fileName = known.file_name;
  options.stripIR = known.strip_ir != 0;
  options.fuse = static_cast<ragged::Fusion>(known.fuse);
  options.reassociate = known.no_reassociate == 0;
  if (known.on_remark)
    options.onRemark = [call = known.on_remark, user = known.user](
                           StringRef line) { call(line.str().c_str(), user); };
  return options;
}

template <typename Run>
static int finish(const nested_compile_options *given, char **bytes,
                  size_t *size, char **diagnostics, Run run) {
  nested_compile_options known;
  CompileOptions options = readOptions(given, known);
  CompileReport report;
  Status status = Status::Ok;
  std::string message;
  auto fail = [&](llvm::Error error) {
    *bytes = nullptr;
    *size = 0;
    status = consumeStatus(std::move(error), message);
  };
  Expected<Bytes> result = Bytes();
  if (llvm::Error error = checkOptions(options)) {
    fail(std::move(error));
    if (status == Status::UserError)
      status = Status::BadCommandLine;
  } else if ((result = run(options, &report))) {
    message = report.diagnostics;
    *bytes = copyBytes(result->data(), result->size());
    *size = result->size();
    if (!*bytes) {
      status = Status::EnvironmentError;
      message = "out of memory";
    }
  } else {
    fail(result.takeError());
  }
  if (known.on_timing)
    for (const PhaseTime &time : report.times)
      known.on_timing(llvm::formatv("{0} {1:f3}", time.name, time.milliseconds)
                          .str()
                          .c_str(),
                      known.user);
  if (diagnostics)
    *diagnostics = copyBytes(message.data(), message.size());
  return static_cast<int>(status);
}

int nested_compile(const char *text, size_t length,
                   const nested_compile_options *options, char **bytes,
                   size_t *size, char **diagnostics) {
  return finish(options, bytes, size, diagnostics,
                [&](const CompileOptions &options, CompileReport *report) {
                  return compileToArtifact(StringRef(text, length), options,
                                           report);
                });
}

int nested_lower_text(const char *text, size_t length, const char *phase,
                      const nested_compile_options *options, char **bytes,
                      size_t *size, char **diagnostics) {
  std::optional<Phase> to = symbolizePhase(phase);
  if (!to) {
    std::string message = "unknown phase '" + std::string(phase) +
                          "'; expected one of " + listPhases();
    *bytes = nullptr;
    *size = 0;
    if (diagnostics)
      *diagnostics = copyBytes(message.data(), message.size());
    return NESTED_COMPILE_BAD_OPTION;
  }
  return finish(options, bytes, size, diagnostics,
                [&](const CompileOptions &options, CompileReport *report) {
                  return lowerText(StringRef(text, length), *to, options,
                                   report);
                });
}

int nested_compiler_program(const char *artifact, size_t length, char **bytes,
                            size_t *size, char **diagnostics) {
  return finish(
      nullptr, bytes, size, diagnostics,
      [&](const CompileOptions &, CompileReport *) -> Expected<Bytes> {
        Expected<std::string> program =
            getProgramText(StringRef(artifact, length));
        if (!program)
          return program.takeError();
        return Bytes(program->begin(), program->end());
      });
}

const char *nested_phases(void) {
  static const std::string phases = listPhases();
  return phases.c_str();
}

void nested_compiler_free(void *memory) { free(memory); }
