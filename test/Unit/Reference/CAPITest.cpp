//===- CAPITest.cpp - The reference interpreter as a C library ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Reference/CAPI.h"

#include "gtest/gtest.h"
#include <cstring>
#include <string>
#include <vector>

static const char kProgram[] = R"(
func.func @f(%x: !ragged.tensor<[N, 2], f32> {ragged.name = "x"}, %w: tensor<2x1xf32>)
    -> (!ragged.tensor<[N, 1], f32>, !ragged.tensor<[N, N, 1], f32>, tensor<1xf32>) {
  %0 = ragged.linear %x, %w : !ragged.tensor<[N, 2], f32>, tensor<2x1xf32> -> !ragged.tensor<[N, 1], f32>
  %1 = ragged.broadcast %0 dims [0, 2] : !ragged.tensor<[N, 1], f32> -> !ragged.tensor<[N, N, 1], f32>
  %2 = ragged.reduce sum %0 dims [0] batch : !ragged.tensor<[N, 1], f32> -> tensor<1xf32>
  return %0, %1, %2 : !ragged.tensor<[N, 1], f32>, !ragged.tensor<[N, N, 1], f32>, tensor<1xf32>
}
)";

namespace {
struct Call {
  Call() {
    args[0] = NESTED_INIT(nested_argument);
    args[0].data = x;
    args[0].dtype = NESTED_F32;
    args[0].rank = 2;
    args[0].shape = xShape;
    args[0].num_samples = 2;
    args[0].lengths = lengths;
    args[0].row_capacity = 3;
    args[1] = NESTED_INIT(nested_argument);
    args[1].data = w;
    args[1].dtype = NESTED_F32;
    args[1].rank = 2;
    args[1].shape = wShape;
  }
  ~Call() { nested_reference_release(run); }

  nested_status operator()(const char *text, const char *entry = nullptr,
                           uint32_t flags = 0) {
    nested_reference_release(run);
    run = nullptr;
    nested_reference_options options = {};
    options.struct_size = sizeof(options);
    options.flags = flags;
    return nested_reference_run(text, std::strlen(text), entry, args, 2,
                                &options, &run);
  }
  std::string diagnostics() const { return nested_reference_diagnostics(run); }

  float x[6] = {1, 2, 3, 4, 5, 6};
  float w[2] = {1, 10};
  int64_t xShape[2] = {-1, 2}, wShape[2] = {2, 1}, n[2] = {2, 1};
  const int64_t *lengths[1] = {n};
  nested_argument args[2];
  nested_reference_run_t *run = nullptr;
};
} // namespace

TEST(ReferenceCAPI, Run) {
  Call call;
  ASSERT_EQ(call(kProgram), NESTED_OK) << call.diagnostics();
  EXPECT_EQ(call.diagnostics(), "");
  ASSERT_EQ(nested_reference_num_results(call.run), 3);
  nested_reference_result result = {};
  result.struct_size = sizeof(result);
  ASSERT_EQ(nested_reference_get_result(call.run, 1, &result), NESTED_OK);
  EXPECT_EQ(result.dtype, NESTED_F32);
  EXPECT_EQ(result.rank, 3);
  EXPECT_EQ(result.shape[0], -1);
  EXPECT_EQ(result.shape[2], 1);
  EXPECT_EQ(result.rows, 5);
  EXPECT_EQ(result.bytes, 20);
  EXPECT_EQ(result.num_samples, 2);
  ASSERT_EQ(result.num_ragged, 2);
  EXPECT_EQ(result.lengths[1][0], 2);
  EXPECT_EQ(result.lengths[1][1], 1);
  auto *numbers = static_cast<const float *>(result.data);
  EXPECT_EQ(std::vector<float>(numbers, numbers + 5),
            (std::vector<float>{21, 21, 43, 43, 65}));
  ASSERT_EQ(nested_reference_get_result(call.run, 2, &result), NESTED_OK);
  EXPECT_EQ(result.rows, 1);
  EXPECT_EQ(result.shape[0], 1);
  EXPECT_EQ(static_cast<const float *>(result.data)[0], 129);
  EXPECT_EQ(nested_reference_get_result(call.run, 3, &result),
            NESTED_INVALID_ARGUMENT);
}

TEST(ReferenceCAPI, WideResults) {
  Call call;
  call.w[1] = 1.0f / 3;
  ASSERT_EQ(call(kProgram, "f", NESTED_REFERENCE_WIDE_RESULTS), NESTED_OK)
      << call.diagnostics();
  nested_reference_result result = {};
  result.struct_size = sizeof(result);
  ASSERT_EQ(nested_reference_get_result(call.run, 0, &result), NESTED_OK);
  EXPECT_EQ(result.dtype, NESTED_F64);
  EXPECT_EQ(result.declared_dtype, NESTED_F32);
  EXPECT_EQ(static_cast<const double *>(result.data)[0],
            1 + 2 * static_cast<double>(1.0f / 3));
}

TEST(ReferenceCAPI, Errors) {
  Call call;
  auto expectError = [&](const char *text) {
    EXPECT_NE(call.diagnostics().find(text), std::string::npos)
        << call.diagnostics();
    EXPECT_EQ(nested_reference_num_results(call.run), 0);
  };
  EXPECT_EQ(call("func.func @"), NESTED_INVALID_ARGUMENT);
  expectError("<program>:1:");
  EXPECT_EQ(call(kProgram, "g"), NESTED_INVALID_ARGUMENT);
  expectError("the program has no entry 'g'; it has 'f'");
  call.args[0].row_capacity = 2;
  EXPECT_EQ(call(kProgram), NESTED_INVALID_ARGUMENT);
  expectError("argument 'x' needs rows 2 to 3 in sample 1, but has 2 rows");
  call.args[0].row_capacity = 3;
  call.args[1].dtype = NESTED_F64;
  EXPECT_EQ(call(kProgram), NESTED_INVALID_ARGUMENT);
  expectError("argument '1' has dtype f64, expected f32");
  call.args[1].dtype = NESTED_F32;
  call.args[0].data = nullptr;
  EXPECT_EQ(call(kProgram), NESTED_INVALID_ARGUMENT);
  expectError("argument 'x' has no data");
}
