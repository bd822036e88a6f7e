//===- StepsTest.cpp - Steps, paths, symbols from data --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TestArtifact.h"

#include <cmath>

using namespace nested::test;

namespace {

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

TEST(Steps, Checks) {
  Artifact artifact(makeArtifact(addRows));
  Call call(artifact.entry());
  Floats x(40), y(40), expected(40);
  for (int i = 0; i < 40; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = static_cast<float>(100 * i);
    expected[i] = static_cast<float>(101 * i);
  }
  call.lengths(0, {{7, 13}}).data(0, x).lengths(1, {{7, 13}}).data(1, y);
  ASSERT_OK(call.run());
  EXPECT_EQ(expected, call.result<float>(0));
}

TEST(Steps, LengthsFromData) {
  Artifact artifact(makeArtifact(selectRows));
  Call call(artifact.entry());
  call.lengths(0, {{4, 0, 2}}).data<float>(0, {1, 2, 3, 4, 5, 6});
  call.lengths(1, {{4, 0, 2}}).data<uint8_t>(1, {0, 1, 1, 0, 0, 1});
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{2, 3, 6}), call.result<float>(0));
  EXPECT_EQ(3, call.results[0].rows);
  EXPECT_EQ((Longs{2, 0, 1}), call.resultLengths(0, 0));
  EXPECT_EQ((Longs{2, 0, 1}), call.result<int64_t>(1)); // N - K
  // The same plan with other data.
  call.data<uint8_t>(1, {1, 1, 1, 1, 1, 1});
  ASSERT_OK(call.runPlan());
  EXPECT_EQ(6, call.results[0].rows);
  call.data<uint8_t>(1, {0, 0, 0, 0, 0, 0});
  ASSERT_OK(call.runPlan());
  EXPECT_EQ(0, call.results[0].rows);
  EXPECT_EQ((Longs{0, 0, 0}), call.resultLengths(0, 0));
  // 5 of 4 rows.
  call.data<uint8_t>(1, {2, 1, 1, 1, 0, 0});
  EXPECT_STATUS(NESTED_DATA_ERROR, call.runPlan(),
                "select: the data say that K is 5 in sample 0",
                "from 0 to 4 (N)");
}

TEST(Steps, ChecksOfLengthsFromData) {
  std::string text = selectRows;
  const char *bind = R"({"op": "bind", "symbol": "K", "buffer": 3},)";
  size_t at = text.find(bind) + std::strlen(bind);
  text.insert(at, R"({"op": "check", "check": {"lhs": "2", "op": "<=",
    "rhs": "K", "path": ["B"], "what": "x[:2]", "where": "s.py:4"}},)");
  text.replace(text.find("\"last\": 1"), 9, "\"last\": 2");
  Artifact artifact(makeArtifact(text));
  Call call(artifact.entry());
  call.lengths(0, {{3, 2}}).data<float>(0, {1, 2, 3, 4, 5});
  call.lengths(1, {{3, 2}}).data<uint8_t>(1, {1, 0, 1, 1, 1});
  ASSERT_OK(call.run());
  call.data<uint8_t>(1, {1, 1, 1, 1, 0});
  EXPECT_STATUS(NESTED_DATA_ERROR, call.runPlan(),
                "select: 2 <= K does not hold in sample 1: 2 and 1",
                "'x[:2]' at s.py:4");
}

/// Keeps whole samples: a batch whose number of samples comes from data.
const char *selectSamples = R"({
 "name": "samples",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0},
             {"name": "B2", "path": [], "upper": "B"},
             {"name": "M", "path": ["B2"], "upper": "N"}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]},
          {"name": "keep", "kind": "ragged", "dtype": "i1", "extents": [], "path": ["B"]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["M"], "path": ["B2"], "rows": {"total": 2}},
             {"name": "offsets", "kind": "dense", "dtype": "i64", "shape": [-1], "rows": {"instances": ["B2"], "plus": 1}},
             {"name": "total", "kind": "dense", "dtype": "i64", "shape": []}],
 "tables": [{"kind": "extent", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "offsets", "extent": "M", "path": ["B2"], "bound": 1}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}, {"kind": "result", "index": 0},
             {"kind": "temp", "rows": {"const": 1}, "row_bytes": 8, "first": 0, "last": 1},
             {"kind": "temp", "rows": {"instances": ["B"]}, "row_bytes": 8, "first": 0, "last": 2},
             {"kind": "result", "index": 1}, {"kind": "result", "index": 2},
             {"kind": "alias", "of": 4}],
 "steps": [{"op": "launch", "kernel": "kept_samples", "memrefs": [{"buffer": 1}, {"table": 0}, {"buffer": 3}, {"buffer": 4}],
            "units": {"kind": "single"}},
           {"op": "bind", "symbol": "B2", "buffer": 3},
           {"op": "bind", "symbol": "M", "buffer": 7},
           {"op": "launch", "kernel": "copy_samples", "memrefs": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}, {"table": 1}],
            "units": {"kind": "single"}},
           {"op": "store_table", "table": 2, "to": 5},
           {"op": "store_table", "scalar": {"total": 2}, "to": 6}]})";

TEST(Steps, SamplesFromData) {
  Artifact artifact(makeArtifact(selectSamples));
  Call call(artifact.entry());
  call.lengths(0, {{3, 0, 2, 1}}).data<float>(0, {1, 2, 3, 4, 5, 6});
  call.data<uint8_t>(1, {1, 1, 0, 1});
  call.args[1].num_samples = 4;
  ASSERT_OK(call.run());
  // Four samples of at most 3 rows would be 12; the manifest knows better.
  EXPECT_EQ(6, call.resultInfo(0).rows);
  EXPECT_EQ(4, call.resultInfo(0).num_instances);
  EXPECT_EQ((Floats{1, 2, 3, 6}), call.result<float>(0));
  EXPECT_EQ(3, call.results[0].num_instances);
  EXPECT_EQ(3, call.resultLengths(0, 0)[0]);
  EXPECT_EQ(0, call.resultLengths(0, 0)[1]);
  EXPECT_EQ(1, call.resultLengths(0, 0)[2]);
  EXPECT_EQ((Longs{0, 3, 3, 4}), call.result<int64_t>(1));
  EXPECT_EQ((Longs{4}), call.result<int64_t>(2));
  call.data<uint8_t>(1, {0, 0, 0, 0});
  ASSERT_OK(call.runPlan());
  EXPECT_EQ(0, call.results[0].num_instances);
  EXPECT_EQ((Longs{0}), call.result<int64_t>(1));
}

TEST(Steps, ErrorRecords) {
  Artifact artifact(makeArtifact(gatherRows));
  nested_pool_t *pool;
  ASSERT_OK(nested_pool_create(4, &pool));
  {
    Call call(artifact.entry());
    call.data<float>(0, {10, 20, 30});
    Longs index(64);
    for (int i = 0; i < 64; ++i)
      index[i] = i % 3;
    call.lengths(1, {{60, 4}}).data(1, index).pool(pool);
    ASSERT_OK(call.run());
    EXPECT_EQ(20, call.result<float>(0)[1]);
    index[37] = 3;
    index[50] = -2;
    call.data(1, index);
    for (int i = 0; i < 20; ++i)
      EXPECT_STATUS(NESTED_DATA_ERROR, call.runPlan(),
                    "gather: index 3 is out of range for axis 0 of size 3 "
                    "(row 37) at gather.py:5");
    // The record starts from zero again.
    index[37] = index[50] = 0;
    call.data(1, index);
    ASSERT_OK(call.runPlan());
  }
  nested_pool_destroy(pool);
}

TEST(Steps, Paths) {
  Artifact artifact(makeArtifact(sumTokens));
  Call call(artifact.entry());
  call.pathLengths(0, {{2, 0, 1}}).lengths(0, {{3, 1, 2}});
  call.args[0].num_samples = 3;
  call.data<float>(0, {1, 2, 3, 4, 5, 6});
  call.lengths(1, {{4, 0, 2}}).data(1, Floats(6));
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{6, 4, 11}), call.result<float>(0));
  EXPECT_EQ((Floats{0, 0, 2}), call.result<float>(1));
}

TEST(Steps, Services) {
  std::string entry = R"({
 "name": "exp",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": "exp_rows", "memrefs": [{"buffer": 0}, {"buffer": 1}], "scalars": [{"total": 0}],
            "units": {"kind": "chunks", "row_table": 0, "rows": 4}}]})";
  Artifact artifact(makeArtifact(entry, R"(, "services": 2)"));
  Call call(artifact.entry());
  call.lengths(0, {{2}}).data<float>(0, {0.5, -3});
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{std::exp(0.5f), std::exp(-3.0f)}), call.result<float>(0));
}

/// x [N] (rows through a base table) is returned; coordinates of N * N rows.
const char *moves = R"({
 "name": "moves",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0},
             {"name": "R", "path": ["B"], "arg": 1, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]},
          {"name": "rows", "kind": "ragged", "dtype": "i64", "extents": ["R"], "path": ["B"]}],
 "results": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]},
             {"name": "sample", "kind": "ragged", "dtype": "i64", "extents": ["R"], "path": ["B"]},
             {"name": "i", "kind": "ragged", "dtype": "i64", "extents": ["R"], "path": ["B"]},
             {"name": "j", "kind": "ragged", "dtype": "i64", "extents": ["R"], "path": ["B"]},
             {"name": "rows", "kind": "ragged", "dtype": "i64", "extents": ["R"], "path": ["B"]},
             {"name": "splits", "kind": "dense", "dtype": "i64", "shape": [-1], "rows": {"total": 1, "plus": 1}},
             {"name": "base", "kind": "ragged", "dtype": "i64", "extents": [], "path": ["B"]}],
 "tables": [{"kind": "row_splits", "extents": ["N", "N"], "level": 1, "path": ["B"]},
            {"kind": "offsets", "extent": "N", "path": ["B"]},
            {"kind": "base", "arg": 0}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1},
             {"kind": "result", "index": 0}, {"kind": "result", "index": 1}, {"kind": "result", "index": 2},
             {"kind": "result", "index": 3}, {"kind": "result", "index": 4}, {"kind": "result", "index": 5},
             {"kind": "result", "index": 6}],
 "steps": [{"op": "copy", "from": 0, "to": 2},
           {"op": "locate", "rows": 1, "extents": ["N", "N"], "path": ["B"], "to": [3, 4, 5]},
           {"op": "linearize", "from": [3, 4, 5], "extents": ["N", "N"], "path": ["B"], "to": 6},
           {"op": "store_table", "table": 0, "to": 7},
           {"op": "store_table", "table": 2, "to": 8}]})";

TEST(Steps, CopyLocateLinearize) {
  Artifact artifact(makeArtifact(moves));
  Call call(artifact.entry());
  call.lengths(0, {{2, 0, 3}}).data<float>(0, {9, 1, 2, 9, 3, 4, 5, 9});
  call.base(0, {1, 3, 4});
  call.lengths(1, {{1, 1, 3}}).data<int64_t>(1, {0, 3, 4, 8, 12});
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{1, 2, 3, 4, 5}), call.result<float>(0));
  EXPECT_EQ((Longs{0, 0, 2, 2, 2}), call.result<int64_t>(1));
  EXPECT_EQ((Longs{0, 1, 0, 1, 2}), call.result<int64_t>(2));
  EXPECT_EQ((Longs{0, 1, 0, 1, 2}), call.result<int64_t>(3));
  EXPECT_EQ((Longs{0, 3, 4, 8, 12}), call.result<int64_t>(4));
  EXPECT_EQ((Longs{0, 2, 4, 7, 10, 13}), call.result<int64_t>(5));
  EXPECT_EQ((Longs{1, 3, 4}), call.result<int64_t>(6));
  // Numbers that are read rowwise may have gaps as well: they are packed.
  call.base(1, {1, 3, 5}).data<int64_t>(1, {-1, 0, -1, 3, -1, 4, 8, 12});
  ASSERT_OK(call.run());
  EXPECT_EQ((Longs{0, 3, 4, 8, 12}), call.result<int64_t>(4));
  call.data<int64_t>(1, {-1, 0, -1, 13, -1, 4, 8, -5});
  EXPECT_STATUS(NESTED_DATA_ERROR, call.runPlan(),
                "locate: the row number 13 at position 1 is out of range",
                "13 rows");
}

/// x is doubled: {aliases} says whether in place, and how.
std::string doubling(const char *kernel, const char *units,
                     const char *result) {
  return R"({"name": "double",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"])" +
         std::string(result) + R"(}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": ")" +
         kernel +
         R"(", "memrefs": [{"buffer": 0}, {"buffer": 1}], "scalars": [{"total": 0}],
            "units": )" +
         units + "}]}";
}
const char *chunks = R"({"kind": "chunks", "row_table": 0, "rows": 4})";

TEST(Steps, DonatedInPlace) {
  Artifact artifact(
      makeArtifact(doubling("double_rows", chunks, R"(, "in_place_of": [0])")));
  Floats x = {1, 2, 3, 4, 5};
  Call call(artifact.entry());
  call.lengths(0, {{5}}).data(0, x);
  call.args[0].data = x.data();
  call.args[0].flags = NESTED_DONATED;
  ASSERT_OK(call.plan());
  EXPECT_EQ(0, call.info().staging_bytes);
  nested_result result = NESTED_INIT(nested_result);
  result.data = x.data();
  result.row_capacity = 5;
  ASSERT_OK(nested_run(call.planned, call.args.data(), 1, &result, 1, nullptr));
  EXPECT_EQ((Floats{2, 4, 6, 8, 10}), x);
  Floats more(6);
  call.args[0].data = more.data();
  result.data = more.data() + 1;
  EXPECT_STATUS(
      NESTED_INVALID_ARGUMENT,
      nested_run(call.planned, call.args.data(), 1, &result, 1, nullptr),
      "overlaps the donated argument 'x'", "does not start where");
}

TEST(Steps, DonatedAndCopied) {
  // A kernel that cannot work in place gives the right answer nevertheless.
  Artifact artifact(
      makeArtifact(doubling("reverse_all", R"({"kind": "single"})", "")));
  Floats x = {1, 2, 3, 4, 5};
  Call call(artifact.entry());
  call.lengths(0, {{5}}).data(0, x);
  call.args[0].data = x.data();
  call.args[0].flags = NESTED_DONATED;
  ASSERT_OK(call.plan());
  EXPECT_EQ(64, call.info().staging_bytes);
  nested_result result = NESTED_INIT(nested_result);
  result.data = x.data();
  result.row_capacity = 5;
  ASSERT_OK(nested_run(call.planned, call.args.data(), 1, &result, 1, nullptr));
  EXPECT_EQ((Floats{5, 4, 3, 2, 1}), x);
  ASSERT_OK(call.runPlan()); // Memory of its own.
  EXPECT_EQ((Floats{1, 2, 3, 4, 5}), call.result<float>(0));
}

TEST(Steps, Mutable) {
  std::string entry = R"({"name": "update",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "cache", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"], "mutable": true},
          {"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "results": [],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "arg", "index": 1}],
 "steps": [{"op": "launch", "kernel": "double_rows", "memrefs": [{"buffer": 1}, {"buffer": 0}], "scalars": [{"total": 0}],
            "units": )" +
                      std::string(chunks) + "}]}";
  Artifact artifact(makeArtifact(entry));
  Floats cache(3);
  Call call(artifact.entry());
  call.lengths(0, {{1, 2}}).data(0, cache);
  call.lengths(1, {{1, 2}}).data<float>(1, {1, 2, 3});
  call.args[0].data = cache.data();
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(), "flag it as mutable");
  call.args[0].flags = NESTED_READ;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(), "is read-only",
                "updates it in place");
  call.args[0].flags = NESTED_MUTABLE;
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{2, 4, 6}), cache);
  call.args[1].data = cache.data();
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(),
                "argument 'cache': is updated in place, but overlaps argument "
                "'x'");
  call.base(0, {0, 0});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(), "inside the rows");
}

TEST(Steps, DenseOnly) {
  std::string entry = R"({"name": "dense", "symbols": [],
 "args": [{"name": "a", "kind": "dense", "dtype": "f32", "shape": [3, 2]}],
 "results": [{"name": "0", "kind": "dense", "dtype": "f32", "shape": [2]}],
 "buffers": [{"kind": "arg", "index": 0}, {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": "sum_dense", "memrefs": [{"buffer": 0}, {"buffer": 1}], "units": {"kind": "single"}}]})";
  Artifact artifact(makeArtifact(entry));
  Call call(artifact.entry());
  call.data<float>(0, {1, 2, 3, 4, 5, 6});
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{9, 12}), call.result<float>(0));
  call.strides(0, {1, 3}); // The transpose of [2, 3].
  ASSERT_OK(call.run());
  EXPECT_EQ((Floats{6, 15}), call.result<float>(0));
}

TEST(Steps, TempsShareMemory) {
  // A chain of temps: t0 -> t1 -> t2 -> result; at most two live at a time.
  std::string entry = R"({"name": "chain",
 "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 0}],
 "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["N"], "path": ["B"]}],
 "results": [{"name": "0", "kind": "ragged", "dtype": "f32", "extents": [], "path": ["B"]}],
 "tables": [{"kind": "offsets", "extent": "N", "path": ["B"]}],
 "buffers": [{"kind": "temp", "rows": {"instances": ["B"]}, "row_bytes": 4, "first": 0, "last": 1},
             {"kind": "temp", "rows": {"instances": ["B"]}, "row_bytes": 4, "first": 1, "last": 2},
             {"kind": "temp", "rows": {"instances": ["B"]}, "row_bytes": 4, "first": 2, "last": 3},
             {"kind": "result", "index": 0}],
 "steps": [{"op": "launch", "kernel": "fill_ones", "memrefs": [{"buffer": 0}], "units": {"kind": "groups", "row_table": 0}},
           {"op": "launch", "kernel": "add_one", "memrefs": [{"buffer": 0}, {"buffer": 1}], "units": {"kind": "groups", "row_table": 0}},
           {"op": "launch", "kernel": "add_one", "memrefs": [{"buffer": 1}, {"buffer": 2}], "units": {"kind": "groups", "row_table": 0}},
           {"op": "launch", "kernel": "add_one", "memrefs": [{"buffer": 2}, {"buffer": 3}], "units": {"kind": "groups", "row_table": 0}}]})";
  Artifact artifact(makeArtifact(entry));
  nested_pool_t *pool;
  ASSERT_OK(nested_pool_create(3, &pool));
  {
    Call call(artifact.entry());
    // Samples without rows are units like others.
    call.lengths(0, {Longs(200000)}).pool(pool);
    ASSERT_OK(call.run());
    EXPECT_EQ(2 * 800000, call.info().temp_bytes);
    EXPECT_EQ(Floats(200000, 4), call.result<float>(0));
  }
  nested_pool_destroy(pool);
}

} // namespace
