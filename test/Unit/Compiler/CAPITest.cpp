//===- CAPITest.cpp - The compiler as a C library -------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Compiler/CAPI.h"

#include "gtest/gtest.h"
#include <string>
#include <thread>
#include <vector>

namespace {

const char kKernel[] = R"(
module attributes {ragged.phase = "loops"} {
  func.func @k(%x: memref<?x16xf32>, %begin: index, %end: index) attributes {ragged.kernel} {
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%begin, %c0] : memref<?x16xf32>, vector<16xf32>
    %e = math.exp %v : vector<16xf32>
    vector.store %e, %x[%begin, %c0] : memref<?x16xf32>, vector<16xf32>
    return
  }
}
)";

struct Result {
  int status;
  std::string bytes, diagnostics;
};

Result take(int status, char *bytes, size_t size, char *diagnostics) {
  Result result{status, bytes ? std::string(bytes, size) : "",
                diagnostics ? diagnostics : "(null)"};
  nested_compiler_free(bytes);
  nested_compiler_free(diagnostics);
  return result;
}

Result compile(const std::string &text,
               const nested_compile_options *options = nullptr) {
  char *bytes = nullptr, *diagnostics = nullptr;
  size_t size = 0;
  int status = nested_compile(text.data(), text.size(), options, &bytes, &size,
                              &diagnostics);
  return take(status, bytes, size, diagnostics);
}

Result lower(const std::string &text, const char *phase) {
  char *bytes = nullptr, *diagnostics = nullptr;
  size_t size = 0;
  int status = nested_lower_text(text.data(), text.size(), phase, nullptr,
                                 &bytes, &size, &diagnostics);
  return take(status, bytes, size, diagnostics);
}

nested_compile_options makeOptions() {
  nested_compile_options options = {};
  options.struct_size = sizeof options;
  return options;
}

TEST(CAPI, Compiles) {
  Result result = compile(kKernel);
  EXPECT_EQ(result.status, NESTED_COMPILE_OK) << result.diagnostics;
  EXPECT_EQ(result.diagnostics, "");
  EXPECT_EQ(result.bytes.substr(0, 4), "\x7f"
                                       "ELF");
  EXPECT_EQ(result.bytes.substr(result.bytes.size() - 8), "NESTEDAR");
}

TEST(CAPI, ThreadsGetTheSameBytes) {
  std::string expected = compile(kKernel).bytes;
  std::vector<Result> results(4);
  std::vector<std::thread> threads;
  for (Result &result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 5; ++i)
        result = compile(kKernel);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Result &result : results)
    EXPECT_TRUE(result.bytes == expected) << result.diagnostics;
}

TEST(CAPI, ContextsAreReplaced) {
  // More often than a context is used.
  std::string expected = lower(kKernel, "llvm").bytes;
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(lower(kKernel, "llvm").bytes, expected);
}

TEST(CAPI, DiagnosticsHaveTheSourceLine) {
  nested_compile_options options = makeOptions();
  options.file_name = "user.py";
  Result result = compile("module {\n  nonsense\n}\n", &options);
  EXPECT_EQ(result.status, NESTED_COMPILE_USER_ERROR);
  EXPECT_NE(result.diagnostics.find("user.py:2:3: error: "), std::string::npos)
      << result.diagnostics;
  EXPECT_NE(result.diagnostics.find("\n  nonsense\n  ^"), std::string::npos)
      << result.diagnostics;
}

TEST(CAPI, UnknownTargetIsABadOption) {
  nested_compile_options options = makeOptions();
  options.target = "gpu";
  Result result = compile(kKernel, &options);
  EXPECT_EQ(result.status, NESTED_COMPILE_BAD_OPTION);
  EXPECT_EQ(result.diagnostics,
            "unknown target 'gpu'; expected cpu or cpu:NAME");
}

TEST(CAPI, UnknownPhaseIsABadOption) {
  Result result = lower(kKernel, "loop");
  EXPECT_EQ(result.status, NESTED_COMPILE_BAD_OPTION);
  EXPECT_EQ(result.diagnostics, "unknown phase 'loop'; expected one of " +
                                    std::string(nested_phases()));
}

TEST(CAPI, UnknownFusionIsRefused) {
  nested_compile_options options = makeOptions();
  options.fuse = 3;
  Result result = compile(kKernel, &options);
  EXPECT_NE(result.status, NESTED_COMPILE_OK);
  EXPECT_NE(result.diagnostics.find("fusion is 0 (by cost), 1 (never) or 2 "
                                    "(always), but got 3"),
            std::string::npos)
      << result.diagnostics;
}

TEST(CAPI, OptionsOfAnOlderCallerAreRead) {
  nested_compile_options options = makeOptions();
  options.struct_size = offsetof(nested_compile_options, file_name);
  options.file_name = reinterpret_cast<const char *>(1); // Not to be read.
  EXPECT_EQ(compile(kKernel, &options).status, NESTED_COMPILE_OK);
}

TEST(CAPI, ProgramComesBack) {
  std::string artifact = compile(kKernel).bytes;
  char *bytes = nullptr, *diagnostics = nullptr;
  size_t size = 0;
  int status = nested_compiler_program(artifact.data(), artifact.size(), &bytes,
                                       &size, &diagnostics);
  Result result = take(status, bytes, size, diagnostics);
  EXPECT_EQ(result.status, NESTED_COMPILE_OK) << result.diagnostics;
  EXPECT_EQ(result.bytes, lower(kKernel, "loops").bytes);

  nested_compile_options options = makeOptions();
  options.strip_ir = 1;
  artifact = compile(kKernel, &options).bytes;
  status = nested_compiler_program(artifact.data(), artifact.size(), &bytes,
                                   &size, &diagnostics);
  result = take(status, bytes, size, diagnostics);
  EXPECT_EQ(result.status, NESTED_COMPILE_USER_ERROR);
}

TEST(CAPI, TimesAreReported) {
  std::string times;
  nested_compile_options options = makeOptions();
  options.user = &times;
  options.on_timing = [](const char *text, void *user) {
    *static_cast<std::string *>(user) += std::string(text) + "\n";
  };
  compile(kKernel, &options);
  for (const char *name : {"parse ", "llvm ", "codegen ", "link "})
    EXPECT_NE(times.find(name), std::string::npos) << times;
}

} // namespace
