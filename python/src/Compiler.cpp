//===- Compiler.cpp - The compiler's C API in Python ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Module nested._core: program text to artifacts and to the text of phases.
// What it makes is run by nested._runtime, the same way as a file. The
// interpreter lock is released while the compiler works.
//
//===----------------------------------------------------------------------===//

#include "nested/Compiler/CAPI.h"

#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

struct Options {
  std::string target, fileName, entry;
  bool stripIR, noReassociate;
  int fuse; // A NESTED_FUSE_*.
};

/// What a call of the compiler left behind.
struct Outcome {
  int status = 0;
  std::unique_ptr<char, decltype(&nested_compiler_free)> bytes{
      nullptr, nested_compiler_free};
  size_t size = 0;
  std::string diagnostics;
  std::vector<std::string> remarks, timings;
};

struct Collector {
  std::vector<std::string> *remarks, *timings;
};

template <typename Call>
Outcome invoke(const Options &given, Call call) {
  Outcome outcome;
  Collector collector{&outcome.remarks, &outcome.timings};
  nested_compile_options options = {};
  options.struct_size = sizeof(options);
  options.target = given.target.c_str();
  options.file_name = given.fileName.c_str();
  options.entry = given.entry.empty() ? nullptr : given.entry.c_str();
  options.strip_ir = given.stripIR;
  options.fuse = given.fuse;
  options.no_reassociate = given.noReassociate;
  options.user = &collector;
  options.on_remark = [](const char *text, void *user) {
    static_cast<Collector *>(user)->remarks->push_back(text);
  };
  options.on_timing = [](const char *text, void *user) {
    static_cast<Collector *>(user)->timings->push_back(text);
  };
  char *bytes = nullptr, *diagnostics = nullptr;
  outcome.status = call(options, &bytes, &outcome.size, &diagnostics);
  outcome.bytes.reset(bytes);
  if (diagnostics)
    outcome.diagnostics = diagnostics;
  nested_compiler_free(diagnostics);
  return outcome;
}

/// (status, bytes, diagnostics, remarks, timings)
nb::tuple describe(const Outcome &outcome) {
  nb::bytes bytes(outcome.status == NESTED_COMPILE_OK ? outcome.bytes.get()
                                                      : "",
                  outcome.status == NESTED_COMPILE_OK ? outcome.size : 0);
  return nb::make_tuple(outcome.status, bytes, outcome.diagnostics,
                        outcome.remarks, outcome.timings);
}

nb::tuple compile(const std::string &text, const std::string &target,
                  const std::string &fileName, bool stripIR, int fuse,
                  const std::string &entry, bool noReassociate) {
  Options options{target, fileName, entry, stripIR, noReassociate, fuse};
  Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = invoke(options, [&](const nested_compile_options &o, char **bytes,
                                  size_t *size, char **diagnostics) {
      return nested_compile(text.data(), text.size(), &o, bytes, size,
                            diagnostics);
    });
  }
  return describe(outcome);
}

nb::tuple lower(const std::string &text, const std::string &phase,
                const std::string &target, const std::string &fileName,
                int fuse, const std::string &entry, bool noReassociate) {
  Options options{target, fileName, entry, false, noReassociate, fuse};
  Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = invoke(options, [&](const nested_compile_options &o, char **bytes,
                                  size_t *size, char **diagnostics) {
      return nested_lower_text(text.data(), text.size(), phase.c_str(), &o,
                               bytes, size, diagnostics);
    });
  }
  return describe(outcome);
}

} // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiler for ragged programs: the C API of Compiler/CAPI.h.";
  m.def("compile", &compile, "text"_a, "target"_a = "cpu",
        "file_name"_a = "<program>", "strip_ir"_a = false, "fuse"_a = 0,
        "entry"_a = "", "no_reassociate"_a = false);
  m.def("lower", &lower, "text"_a, "phase"_a, "target"_a = "cpu",
        "file_name"_a = "<program>", "fuse"_a = 0, "entry"_a = "",
        "no_reassociate"_a = false);
  m.def("phases", [] { return std::string(nested_phases()); });
}
