//===- WindowsTest.cpp - Launches in windows of samples -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TestArtifact.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nested::test;

namespace {

using Lengths = std::vector<int64_t>;
constexpr int64_t megabyte = int64_t(1) << 20;
constexpr int64_t rowBytes = 16;            // Of pairs.
constexpr int64_t sharedBytes = 32768 * 16; // Of each prepared value.

class Windows : public ::testing::Test {
protected:
  Windows() {
    for (int64_t threads : {1, 2, 4})
      EXPECT_EQ(NESTED_OK, nested_pool_create(threads, &pools[threads]));
  }
  ~Windows() override {
    for (nested_pool_t *pool : pools)
      nested_pool_destroy(pool);
  }

  static std::vector<float> makeRows(const Lengths &lengths) {
    int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
    std::vector<float> x(rows * 4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(static_cast<float>(i));
    return x;
  }

  /// pair[a, a] + mean over b of pair[a, b], row after row.
  std::vector<float> reference(const Lengths &lengths,
                               const std::vector<float> &x) const {
    std::vector<float> out;
    const float *first = x.data();
    for (int64_t n : lengths) {
      for (int64_t a = 0; a < n; ++a)
        for (int c = 0; c < 4; ++c) {
          float scaled = first[a * 4 + c] * w[c], sum = 0;
          for (int64_t b = 0; b < n; ++b)
            sum += scaled + first[b * 4 + c];
          out.push_back(scaled + first[a * 4 + c] +
                        sum / static_cast<float>(n));
        }
      first += n * 4;
    }
    return out;
  }

  /// Runs on 1, 2 and 4 threads and compares; how often step `step` ran on 1.
  /// `extra`: bytes of temporaries beside pairs and means.
  int check(const Artifact &artifact, const Lengths &lengths,
            int64_t extra = 1024, int64_t step = 0) {
    std::vector<float> x = makeRows(lengths), want = reference(lengths, x);
    int64_t largest = 0, all = 0;
    for (int64_t n : lengths) {
      largest = std::max(largest, (n * n + n) * rowBytes);
      all += (n * n + n) * rowBytes;
    }
    int runs = 0;
    std::pair<int64_t, int *> counted = {step, &runs};
    for (int64_t threads : {4, 2, 1}) {
      Call call(artifact.entry());
      call.lengths(0, {lengths}).data(0, x).data(1, w).pool(pools[threads]);
      if (nested_entry_num_args(artifact.entry()) > 2)
        call.data(2, ones);
      runs = 0;
      call.options.on_event = [](void *user, const nested_event *event) {
        auto [which, count] = *static_cast<decltype(counted) *>(user);
        if (event->kind == NESTED_EVENT_STEP && event->step == which)
          ++*count;
      };
      call.options.event_user = &counted;
      EXPECT_EQ(NESTED_OK, call.run()) << nested_last_error();
      // Bits do not depend on windows.
      std::vector<float> got = call.result<float>(0);
      EXPECT_EQ(want.size(), got.size());
      EXPECT_TRUE(want == got) << threads << " threads";
      int64_t allowed = std::max(2 * megabyte * threads, largest);
      EXPECT_LE(call.info().temp_bytes, std::min(allowed + extra, all + extra));
    }
    return runs;
  }

  Artifact diagonal{makeArtifact(pairDiagonal)};
  Artifact prepared{makeArtifact(pairPrepared)};
  std::vector<float> w = {1, -2, 0.5, 3}, ones = {1, 1, 1, 1};
  nested_pool_t *pools[5] = {};
};

TEST_F(Windows, FewSamplesAreOne) {
  EXPECT_EQ(1, check(diagonal, {}));
  EXPECT_EQ(1, check(diagonal, {0, 3, 1}));
}

TEST_F(Windows, ManySamplesTakeTurns) {
  Lengths lengths;
  for (int64_t i = 0; i < 150; ++i)
    lengths.push_back(i * 7 % 101);
  EXPECT_GT(check(diagonal, lengths), 3);
}

TEST_F(Windows, EmptySamplesAreInOne) {
  Lengths lengths(1000, 0);
  lengths[3] = lengths[500] = lengths[999] = 300;
  EXPECT_EQ(3, check(diagonal, lengths));
}

TEST_F(Windows, ALargeSampleHasOneOfItsOwn) {
  Lengths lengths(40, 5);
  lengths[17] = 450; // 3.2 MB of pairs.
  EXPECT_EQ(3, check(diagonal, lengths));
}

TEST_F(Windows, PreparedValuesAreMadeOnceForSmallSamples) {
  Lengths lengths;
  for (int64_t i = 0; i < 150; ++i)
    lengths.push_back(i * 7 % 101);
  EXPECT_GT(check(prepared, lengths, 1024 + 2 * sharedBytes, 1), 3);
  EXPECT_EQ(1, check(prepared, lengths, 1024 + 2 * sharedBytes, 0));
  EXPECT_EQ(1, check(prepared, lengths, 1024 + 2 * sharedBytes, 2));
}

/// For the time of their readers only they need memory beside a large sample.
TEST_F(Windows, PreparedValuesAreMadeAgainBesideALargeSample) {
  Lengths lengths(40, 5);
  lengths[17] = 450;
  EXPECT_EQ(3, check(prepared, lengths, 1024 + 2 * sharedBytes, 1));
  EXPECT_EQ(3, check(prepared, lengths, 1024 + 2 * sharedBytes, 0));
  Call call(prepared.entry());
  std::vector<float> x = makeRows(lengths);
  call.lengths(0, {lengths}).data(0, x).data(1, w).data(2, ones).pool(pools[1]);
  ASSERT_OK(call.run());
  EXPECT_LE(call.info().temp_bytes,
            (450 * 450 + 450) * rowBytes + sharedBytes + 1024);
}

/// One sample is one window: nothing is made twice.
TEST_F(Windows, PreparedValuesNeedMemoryForTheirReadersAlone) {
  EXPECT_EQ(1, check(prepared, {300}, 1024 + sharedBytes, 0));
}

TEST_F(Windows, OnlyWhereAllStepsKeepSamplesApart) {
  std::string program = pairDiagonal;
  std::string flag = R"("kernel": "add_diagonal", "per_sample": true)";
  program.replace(program.find(flag), flag.size(),
                  R"("kernel": "add_diagonal")");
  Artifact artifact(makeArtifact(program));
  Lengths lengths(40, 100);
  Call call(artifact.entry());
  std::vector<float> x = makeRows(lengths);
  call.lengths(0, {lengths}).data(0, x).data(1, w).pool(pools[1]);
  ASSERT_OK(call.run());
  EXPECT_TRUE(reference(lengths, x) == call.result<float>(0));
  EXPECT_GE(call.info().temp_bytes, 40 * 100 * 100 * rowBytes);
}

/// A temporary that is read behind the windows could lie where the pairs were,
/// if there were no next window.
TEST_F(Windows, WhatLivesLongerKeepsItsMemory) {
  std::string program = pairDiagonal;
  auto replace = [&](const std::string &from, const std::string &to) {
    size_t at = program.find(from);
    ASSERT_NE(std::string::npos, at) << from;
    program.replace(at, from.size(), to);
  };
  replace(R"("row_bytes": 16, "first": 0, "last": 1}],)",
          R"("row_bytes": 16, "first": 0, "last": 1},
             {"kind": "temp", "rows": {"total": 1}, "row_bytes": 16, "first": 1, "last": 2},
             {"kind": "temp", "rows": {"total": 1}, "row_bytes": 16, "first": 2, "last": 3}],)");
  replace(R"({"buffer": 4}, {"buffer": 2}, {"table": 1})",
          R"({"buffer": 4}, {"buffer": 5}, {"table": 1})");
  replace(R"("row_table": 1}, "bytes_per_row": 48}]})",
          R"("row_table": 1}, "bytes_per_row": 48},
            {"op": "launch", "kernel": "copy_rows", "per_sample": true, "memrefs": [{"buffer": 5}, {"buffer": 6}],
             "units": {"kind": "groups", "unit_table": 1, "row_table": 1}},
            {"op": "copy", "from": 6, "to": 2}]})");
  Artifact artifact(makeArtifact(program));
  Lengths lengths;
  for (int64_t i = 0; i < 150; ++i)
    lengths.push_back(i * 7 % 101);
  int64_t rows = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
  EXPECT_GT(check(artifact, lengths, 1024 + 2 * rows * rowBytes), 3);
}

TEST_F(Windows, NeedGroupsOfSamples) {
  std::string program = addRows;
  std::string kernel = R"("kernel": "add_rows",)";
  program.replace(program.find(kernel), kernel.size(),
                  kernel + R"("per_sample": true,)");
  nested_artifact_t *opened = nullptr;
  std::string bytes = makeArtifact(program);
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT,
                nested_open_memory(bytes.data(), bytes.size(), "a", 0, &opened),
                "a launch that is per sample needs groups");
}

} // namespace
