//===- PlanTest.cpp - Checks and sizes of a call --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TestArtifact.h"

#include <cstdlib>

using namespace nested::test;

namespace {

class Plan : public ::testing::Test {
protected:
  Plan()
      : artifact(makeArtifact(std::string(pairBlock) + "," + addRows + "," +
                              sameLengths + "," + selectRows + "," +
                              sumTokens)),
        block(artifact.entry("block")), add(artifact.entry("add")) {
    block.lengths(0, {{2, 0, 3}}).data(0, std::vector<float>(5 * 4));
    block.data(1, std::vector<float>(4));
    add.lengths(0, {{2, 3}}).data(0, std::vector<float>(5 * 2));
    add.lengths(1, {{2, 3}}).data(1, std::vector<float>(5 * 2));
  }
  Artifact artifact;
  Call block, add;
};

TEST_F(Plan, Sizes) {
  ASSERT_OK(block.plan());
  nested_result_info pair = block.resultInfo(0);
  EXPECT_EQ(1, pair.exact);
  EXPECT_EQ(13, pair.rows);
  EXPECT_EQ(13 * 16, pair.bytes);
  EXPECT_EQ(3, pair.num_instances);
  const int64_t offsets[] = {0, 4, 4, 13};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(offsets[i], pair.offsets[i]);
  EXPECT_EQ(3, pair.lengths[1][2]);
  nested_plan_info info = block.info();
  EXPECT_EQ(1, info.exact);
  EXPECT_EQ((13 + 5) * 16, info.result_bytes);
  EXPECT_EQ(info.peak_bytes,
            info.result_bytes + info.workspace_bytes + info.table_bytes);
  EXPECT_EQ(0, info.temp_bytes);
  EXPECT_EQ(0, info.staging_bytes);
  EXPECT_EQ(13 * 12.0, info.flops);
  nested_argument_info x = NESTED_INIT(nested_argument_info);
  ASSERT_OK(nested_plan_get_argument(block.planned, 0, &x));
  EXPECT_EQ(0, x.staged);
  EXPECT_EQ(5, x.rows);
  EXPECT_EQ(5, x.row_capacity);
  EXPECT_EQ(16, x.row_bytes);
  EXPECT_EQ(3, x.num_instances);
  EXPECT_EQ(2, x.offsets[2]);
  nested_step_info step = NESTED_INIT(nested_step_info);
  ASSERT_OK(nested_plan_get_step(block.planned, 0, &step));
  EXPECT_STREQ("launch", step.op);
  EXPECT_STREQ("pair_block", step.kernel);
  EXPECT_EQ(13, step.rows);
  EXPECT_EQ(5, step.units);
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_plan_get_step(block.planned, 1, &step), "no step 1");
}

TEST_F(Plan, CountsArguments) {
  nested_plan_t *plan = nullptr;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_plan(artifact.entry("block"), block.args.data(), 1,
                            nullptr, &plan),
                "block: expected 2 arguments (x, w), got 1", "'w' is missing");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_plan(artifact.entry("block"), block.args.data(), 3,
                            nullptr, &plan),
                "expected 2 arguments", "got 3");
  EXPECT_STATUS(
      NESTED_INVALID_ARGUMENT,
      nested_plan(artifact.entry("block"), nullptr, 2, nullptr, &plan), "null");
  EXPECT_EQ(nullptr, plan);
}

TEST_F(Plan, RecordSizes) {
  block.args[0].struct_size = 0;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "struct_size is 0",
                "NESTED_INIT");
  block.args[0].struct_size = block.args[1].struct_size;
  block.args[1].struct_size = 64;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "struct_size is 64");
  block.args[1].struct_size = block.args[0].struct_size;
  block.args[1].reserved[2] = 1;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "reserved field");
}

TEST_F(Plan, Types) {
  block.args[0].dtype = NESTED_F64;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(),
                "block: argument 'x': expected dtype f32, got f64",
                "block.py:3");
  block.args[0].dtype = 1000;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "unknown dtype 1000");
  block.args[0].dtype = NESTED_F32;
  block.args[0].rank = 3;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(),
                "expected 2 dims [N, 4], got 3");
  block.args[0].rank = 2;
  const int64_t wide[] = {-1, 5}, dense[] = {2, 4}, ragged[] = {-1, -1};
  block.args[0].shape = wide;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(),
                "dim 1 must be 4, got 5");
  block.args[0].shape = dense;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "dim 0 (N) is ragged");
  block.args[0].shape = ragged;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "got a ragged dim");
  block.args[0].shape = nullptr;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "shape is null");
}

TEST_F(Plan, Samples) {
  add.lengths(1, {{2, 3, 4}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, add.plan(),
                "argument 'y': has 3 samples, but argument 'x' has 2",
                "add.py:1");
  add.args[0].num_samples = -1;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, add.plan(), "num_samples is -1");
}

TEST_F(Plan, Lengths) {
  add.lengths(0, {{2, -3}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, add.plan(),
                "dim 0 (N) has the negative length -3 in sample 1");
  add.args[0].lengths = nullptr;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, add.plan(),
                "the lengths of dim 0 (N) are missing");
}

TEST_F(Plan, ChecksNameTheLine) {
  add.lengths(1, {{2, 2}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, add.plan(),
                "add: N == M does not hold in sample 1: 3 and 2",
                "'x + y' at add.py:2");
}

TEST_F(Plan, LengthsThatDisagree) {
  Call same(artifact.entry("same"));
  same.lengths(0, {{2, 3}}).data(0, std::vector<float>(5));
  same.data(1, std::vector<double>(18));
  // N + 1 follows from x, and so does N: nothing to give.
  same.args[1].num_samples = 2;
  ASSERT_OK(same.plan());
  same.lengths(1, {{3, 4}, {2, 3}});
  ASSERT_OK(same.plan());
  same.lengths(1, {{3, 4}, {2, 5}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, same.plan(),
                "argument 'y': dim 1 has length 5 in sample 1, but N is 3",
                "bound by dim 0 of argument 'x' at same.py:1",
                "declared at same.py:9");
  same.lengths(1, {{3, 3}, {2, 3}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, same.plan(), "N + 1 is 4");
}

TEST_F(Plan, Capacity) {
  block.args[0].row_capacity = 4;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(),
                "need 5 rows, but row_capacity is 4");
  block.args[0].row_capacity = -4;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "row_capacity is -4");
}

TEST_F(Plan, Bases) {
  block.args[0].row_capacity = 10;
  ASSERT_OK(block.base(0, {1, 3, 7}).plan());
  // A sample without rows may start at the very end.
  ASSERT_OK(block.lengths(0, {{2, 3, 0}}).base(0, {0, 3, 10}).plan());
  block.lengths(0, {{2, 0, 3}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.base(0, {-1, 3, 7}).plan(),
                "first row of sample 0 is negative: -1");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.base(0, {4, 3, 7}).plan(),
                "must not decrease: sample 1 starts at 3", "4");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.base(0, {0, 3, 8}).plan(),
                "sample 2 has 3 rows from row 8, but row_capacity is 10");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                block.base(0, {0, 3, INT64_MAX}).plan(), "row_capacity is 10");
  // Samples that share rows are views like others.
  ASSERT_OK(block.base(0, {0, 0, 0}).plan());
}

TEST_F(Plan, OverflowIsNoCrash) {
  const int64_t huge = int64_t(1) << 62;
  block.lengths(0, {{1, huge}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "row_capacity");
  block.args[0].row_capacity = INT64_MAX;
  EXPECT_NE(NESTED_OK, block.plan());
  EXPECT_TRUE(messageHas({"overflows 64 bits"}));
  // No rows of data are needed for a product to overflow.
  std::string entry = R"({"name": "e",
    "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
    "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N", "0"], "path": ["B"]}],
    "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N", "N"], "path": ["B"]}]})";
  Artifact other(makeArtifact(entry));
  Call call(other.entry());
  call.lengths(0, {{4, int64_t(1) << 33}});
  call.args[0].row_capacity = INT64_MAX;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(),
                "result '0': the number of rows overflows 64 bits in sample 1",
                "8589934592 x 8589934592");
  call.lengths(0, {{int64_t(1) << 31, int64_t(1) << 31, int64_t(1) << 31}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(), "total number of rows",
                "overflows 64 bits");
  // A total that fits, and bytes that do not.
  call.lengths(0, {{int64_t(1) << 31}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(),
                "size in bytes overflows 64 bits");
}

TEST_F(Plan, MemoryIsRefusedWithNumbers) {
  // 2^22 rows squared: 2^44 pairs of 16 bytes, which no machine has.
  block.lengths(0, {{int64_t(1) << 22}});
  block.args[0].row_capacity = int64_t(1) << 22;
  EXPECT_STATUS(NESTED_OUT_OF_MEMORY, block.plan(), "block: the call needs",
                "281474976710656 bytes (256.00 TiB)", "the machine has",
                "available", "Nothing was allocated");
  block.lengths(0, {{100}});
  block.args[0].row_capacity = 100;
  block.options.max_bytes = 100000;
  EXPECT_STATUS(NESTED_OUT_OF_MEMORY, block.plan(), "results 160000 bytes",
                "the limit is 100000 bytes");
  block.options.max_bytes = 1000000;
  ASSERT_OK(block.plan());
}

TEST_F(Plan, Flags) {
  block.args[0].flags = NESTED_PREPARED;
  EXPECT_STATUS(NESTED_UNSUPPORTED, block.plan(), "prepared");
  block.args[0].flags = 0x100;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "unknown flags 0x100");
  block.args[0].flags = NESTED_DONATED;
  block.args[0].donated_to = 2;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "donated to result 2");
  block.args[0].flags = NESTED_DONATED | NESTED_READ;
  block.args[0].donated_to = 1;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(),
                "both read-only and donated");
  block.args[0].flags = NESTED_READ;
  ASSERT_OK(block.plan());
}

TEST_F(Plan, Devices) {
  block.args[0].device_type = NESTED_DEVICE_CUDA;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "on device CUDA 0",
                "runs on the CPU");
}

TEST_F(Plan, Options) {
  int stream;
  block.options.stream = &stream;
  EXPECT_STATUS(NESTED_UNSUPPORTED, block.plan(), "stream must be null");
  block.options.stream = nullptr;
  block.options.max_bytes = -1;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "max_bytes is -1");
  block.options.max_bytes = 0;
  block.options.struct_size = 8;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, block.plan(), "struct_size");
}

TEST_F(Plan, Strides) {
  // Contiguous strides are as good as none.
  ASSERT_OK(block.strides(0, {4, 1}).plan());
  EXPECT_EQ(0, block.info().staging_bytes);
  ASSERT_OK(block.strides(0, {8, 1}).plan());
  EXPECT_EQ(128, block.info().staging_bytes);
  EXPECT_STATUS(NESTED_UNSUPPORTED, block.strides(0, {-4, 1}).plan(),
                "negative stride -4");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                block.strides(0, {INT64_MAX / 2, 1}).plan(),
                "strides span more than 64 bits");
}

TEST_F(Plan, Bounds) {
  Call select(artifact.entry("select"));
  select.lengths(0, {{4, 0, 2}}).data(0, std::vector<float>(6));
  select.lengths(1, {{4, 0, 2}}).data(1, std::vector<uint8_t>(6));
  ASSERT_OK(select.plan());
  EXPECT_EQ(0, select.info().exact);
  EXPECT_EQ(0, select.resultInfo(0).exact);
  EXPECT_EQ(6, select.resultInfo(0).rows);
  EXPECT_EQ(1, select.resultInfo(1).exact);
  nested_value_info value = NESTED_INIT(nested_value_info);
  ASSERT_OK(nested_entry_result(artifact.entry("select"), 0, &value));
  EXPECT_EQ(uint32_t(NESTED_VALUE_FROM_DATA), value.flags);
}

TEST_F(Plan, Paths) {
  Call tokens(artifact.entry("tokens"));
  tokens.pathLengths(0, {{2, 0, 1}}).lengths(0, {{3, 1, 2}});
  tokens.args[0].num_samples = 3;
  tokens.data(0, std::vector<float>(6));
  tokens.lengths(1, {{4, 0, 2}}).data(1, std::vector<float>(6));
  ASSERT_OK(tokens.plan());
  nested_result_info sum = tokens.resultInfo(0);
  EXPECT_EQ(3, sum.num_samples);
  EXPECT_EQ(3, sum.num_instances);
  EXPECT_EQ(3, sum.rows);
  EXPECT_EQ(2, sum.path_lengths[0][0]);
  tokens.lengths(1, {{4, 1, 1}});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, tokens.plan(),
                "sum(T) == N does not hold in sample 1: 0 and 1",
                "'nest(flat, T)' at tokens.py:2");
  tokens.lengths(0, {{3, -1, 2}});
  tokens.args[0].num_samples = 3;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, tokens.plan(),
                "negative length -1 in sample 0, S 1");
}

} // namespace
