//===- PartsTest.cpp - Extents, JSON, pool, grains ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../runtime/src/Cpu.h"
#include "../../../runtime/src/Extent.h"
#include "../../../runtime/src/Grains.h"
#include "../../../runtime/src/Json.h"
#include "../../../runtime/src/Pool.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

using namespace nested::rt;

namespace {

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

std::optional<Extent> parse(const std::string &text, std::string &error) {
  return Extent::parse(
      text,
      [](std::string_view name) {
        return name == "N" ? 0 : name == "M" ? 1 : -1;
      },
      error);
}

int64_t value(const std::string &text, int64_t n = 0, int64_t m = 0) {
  std::string error;
  std::optional<Extent> extent = parse(text, error);
  if (!extent) {
    ADD_FAILURE() << error;
    return INT64_MIN;
  }
  int64_t slots[2], result = INT64_MIN;
  for (size_t i = 0; i < extent->symbols().size(); ++i)
    slots[i] = extent->symbols()[i] == 0 ? n : m;
  EXPECT_TRUE(extent->evaluate(slots, result));
  return result;
}

TEST(Extent, Values) {
  EXPECT_EQ(384, value("384"));
  EXPECT_EQ(7, value("N", 7));
  EXPECT_EQ(14, value("2 * N", 7));
  EXPECT_EQ(17, value("N + M * 2", 7, 5));
  EXPECT_EQ(24, value("(N + M) * 2", 7, 5));
  EXPECT_EQ(-3, value("N - M - 5", 7, 5));
  EXPECT_EQ(4, value("(N - 1) floordiv 2 + 1", 7));
  EXPECT_EQ(-1, value("(N - 1) floordiv 2", 0));
  EXPECT_EQ(1, value("(N - 5) mod 3", 0));
  EXPECT_EQ(5, value("min(N, M)", 7, 5));
  EXPECT_EQ(9, value("max(N, M, 9)", 7, 5));
  EXPECT_EQ(-2, value("-N + M", 7, 5));
  EXPECT_EQ(-35, value("N * -M", 7, 5));
  EXPECT_EQ(12, value("N*M-N*M+12", 7, 5));
}

TEST(Extent, Errors) {
  std::string error;
  for (const char *text :
       {"", "N +", "(N", "N)", "N M", "Q", "min(N)", "min N", "N floordiv 0",
        "N mod M", "N floordiv -2", "99999999999999999999", "*", "floordiv",
        "9223372036854775807 + 1"})
    EXPECT_FALSE(parse(text, error).has_value()) << text;
  EXPECT_FALSE(parse("N Q", error).has_value());
  EXPECT_EQ("extent 'N Q': text after the end: 'Q'", error);
  EXPECT_FALSE(parse(std::string(1000, '(') + "N", error).has_value());
  std::string deep = "N";
  for (int i = 0; i < 40; ++i)
    deep = "N + (" + deep + ")";
  EXPECT_FALSE(parse(deep, error).has_value());
  EXPECT_NE(error.find("too complicated"), std::string::npos);
}

TEST(Extent, Overflow) {
  std::string error;
  std::optional<Extent> square = parse("N * N", error);
  int64_t n = int64_t(1) << 32, result;
  EXPECT_FALSE(square->evaluate(&n, result));
}

TEST(Extent, Bounds) {
  std::string error;
  auto bounds = [&](const char *text, int64_t low, int64_t high) {
    std::optional<Extent> extent = parse(text, error);
    int64_t lows[2] = {low, low}, highs[2] = {high, high};
    std::pair<int64_t, int64_t> result;
    EXPECT_TRUE(
        extent->evaluateBounds(lows, highs, result.first, result.second));
    return result;
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(Pair(0, 100), bounds("N * M", 0, 10));
  EXPECT_EQ(Pair(-5, 5), bounds("5 - N", 0, 10));
  EXPECT_EQ(Pair(0, 3), bounds("N mod 4", 0, 10));
  EXPECT_EQ(Pair(2, 2), bounds("N mod 4", 6, 6));
  EXPECT_EQ(Pair(-50, 0), bounds("N * (0 - 5)", 0, 10));
  EXPECT_EQ(Pair(0, 4), bounds("min(N, 4)", 0, 10));
}

TEST(Extent, Symbols) {
  std::string error;
  EXPECT_EQ(1, parse("M", error)->asSymbol());
  EXPECT_EQ(-1, parse("M + 0", error)->asSymbol());
  EXPECT_TRUE(parse("3 * 4", error)->isConstant());
  EXPECT_EQ(12, parse("3 * 4", error)->constantValue());
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string jsonError(const std::string &text) {
  try {
    parseJson(text, "j");
  } catch (const Failure &failure) {
    return failure.message;
  }
  return "";
}

TEST(Json, Values) {
  Json json = parseJson(
      R"( {"a": [1, -2.5e1, true, null, "x\n\u00e9\ud83d\ude00"], "b": {}} )",
      "j");
  const Json &a = *json.find("a");
  EXPECT_EQ(1, a.items[0].integer);
  EXPECT_EQ(-25.0, a.items[1].real);
  EXPECT_TRUE(a.items[2].boolean);
  EXPECT_EQ(Json::Kind::Null, a.items[3].kind);
  EXPECT_EQ("x\n\xc3\xa9\xf0\x9f\x98\x80", a.items[4].string);
  EXPECT_EQ(nullptr, json.find("c"));
}

TEST(Json, Errors) {
  EXPECT_EQ("j: line 1, column 2: expected a value", jsonError("["));
  EXPECT_EQ("j: line 2, column 1: expected ',' or ']'", jsonError("[1\n2]"));
  for (const char *text : {"",
                           "nul",
                           "01",
                           "1.",
                           "1e",
                           "+1",
                           "--1",
                           "[1,]",
                           "{\"a\" 1}",
                           "{a: 1}",
                           "\"abc",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\u0000\"",
                           "\"\x01\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xe2\x82",
                           "1 2",
                           "{\"a\":1,\"a\":2}",
                           "9223372036854775808",
                           "1e999",
                           "tru",
                           "{\"a\":1"})
    EXPECT_NE("", jsonError(text)) << text;
  EXPECT_EQ("", jsonError("-9223372036854775808"));
  EXPECT_EQ("", jsonError(std::string(64, '[') + std::string(64, ']')));
  EXPECT_NE("", jsonError(std::string(66, '[') + std::string(66, ']')));
}

//===----------------------------------------------------------------------===//
// Pool and grains
//===----------------------------------------------------------------------===//

TEST(Pool, EveryPieceOnce) {
  for (int64_t threads : {1, 2, 5}) {
    Pool pool(threads);
    for (int64_t pieces : {0, 1, 2, 3, 100, 1000}) {
      struct Job {
        std::vector<std::atomic<int>> counts;
        std::vector<std::atomic<int>> inside;
        int64_t limit;
      } job{std::vector<std::atomic<int>>(pieces),
            std::vector<std::atomic<int>>(threads),
            std::min<int64_t>(threads, std::max<int64_t>(pieces, 1))};
      pool.run(
          pieces,
          [](void *data, int64_t piece, int64_t worker) {
            Job &job = *static_cast<Job *>(data);
            ASSERT_LT(worker, job.limit);
            EXPECT_EQ(0, job.inside[worker]++);
            ++job.counts[piece];
            --job.inside[worker];
          },
          &job);
      for (const std::atomic<int> &count : job.counts)
        EXPECT_EQ(1, count);
    }
  }
}

TEST(Pool, ManyJobs) {
  Pool pool(3);
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 3000; ++i)
    pool.run(
        4,
        [](void *data, int64_t piece, int64_t) {
          *static_cast<std::atomic<int64_t> *>(data) += piece;
        },
        &sum);
  EXPECT_EQ(3000 * 6, sum);
}

/// Runs 50 pieces; whether a helper took one.
bool helps(Pool &pool, bool isSmall) {
  struct Job {
    std::vector<std::atomic<int>> counts = std::vector<std::atomic<int>>(50);
    std::atomic<bool> helped{false};
  } job;
  pool.run(
      50,
      [](void *data, int64_t piece, int64_t worker) {
        Job &job = *static_cast<Job *>(data);
        ++job.counts[piece];
        if (worker > 0)
          job.helped = true;
      },
      &job, isSmall);
  for (const std::atomic<int> &count : job.counts)
    EXPECT_EQ(1, count);
  return job.helped;
}

TEST(Pool, SmallJobsWakeNobody) {
  // A busy machine may let a helper look for jobs late.
  Pool pool(2);
  bool alone = false;
  for (int i = 0; i < 50 && !alone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    alone = !helps(pool, /*isSmall=*/true);
  }
  EXPECT_TRUE(alone);
}

TEST(Pool, SmallJobsThatFollowEachOtherGetHelp) {
  Pool pool(2);
  bool helped = false;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!helped && std::chrono::steady_clock::now() < end)
    helped = helps(pool, /*isSmall=*/true);
  EXPECT_TRUE(helped);
}

/// Grains for given rows and units per instance.
struct Cut {
  std::vector<int64_t> rowOffsets{0}, unitOffsets{0};
  const int64_t *tables[2];
  int64_t entries[2], totals[2];
  Step step;
  Structure structure;

  Cut(const std::vector<int64_t> &rows, const std::vector<int64_t> &units) {
    for (int64_t n : rows)
      rowOffsets.push_back(rowOffsets.back() + n);
    for (int64_t n : units)
      unitOffsets.push_back(unitOffsets.back() + n);
    tables[0] = rowOffsets.data();
    tables[1] = unitOffsets.data();
    entries[0] = entries[1] = static_cast<int64_t>(rowOffsets.size());
    totals[0] = rowOffsets.back();
    totals[1] = unitOffsets.back();
    structure.tables = tables;
    structure.entries = entries;
    structure.totals = totals;
    step.units.kind = Units::Kind::Groups;
    step.units.rowTable = 0;
    step.units.unitTable = 1;
    step.flopsPerRow = 1e6; // Worth a grain of its own.
  }
};

TEST(Grains, WorthWaking) {
  Cut few({2, 3}, {2, 3}), many({2, 4}, {2, 4});
  EXPECT_TRUE(Grains(few.step, few.structure).isSmall());
  EXPECT_FALSE(Grains(many.step, many.structure).isSmall());
}

TEST(Grains, CoverAllUnitsInOrder) {
  for (const auto &lengths : std::vector<std::vector<int64_t>>{
           {}, {0}, {5}, {0, 0, 3, 0}, {1, 1, 1, 300, 1, 1}, {7, 7, 7}}) {
    std::vector<int64_t> rows;
    for (int64_t n : lengths)
      rows.push_back(n * n);
    Cut cut(rows, lengths);
    Grains grains(cut.step, cut.structure);
    for (int64_t count : {1, 2, 3, 16, 64}) {
      EXPECT_EQ(0, grains.boundary(0, count));
      EXPECT_EQ(grains.units(), grains.boundary(count, count));
      for (int64_t g = 0; g < count; ++g)
        EXPECT_LE(grains.boundary(g, count), grains.boundary(g + 1, count));
    }
  }
}

TEST(Grains, OneLongSampleIsCutInside) {
  std::vector<int64_t> units(50, 1), rows(50, 1);
  units[20] = 400;
  rows[20] = 400 * 400;
  Cut cut(rows, units);
  Grains grains(cut.step, cut.structure);
  int64_t count = grains.count(4);
  EXPECT_EQ(32, count);
  int64_t most = 0;
  for (int64_t g = 0; g < count; ++g)
    most = std::max(most,
                    grains.boundary(g + 1, count) - grains.boundary(g, count));
  EXPECT_LE(most, 64); // 449 units in 32 grains, the tiny ones together.
}

TEST(Grains, UnitsWithoutRowsAreCutToo) {
  Cut cut(std::vector<int64_t>(10, 0), std::vector<int64_t>(10, 100));
  Grains grains(cut.step, cut.structure);
  EXPECT_EQ(1000, grains.units());
  EXPECT_EQ(500, grains.boundary(8, 16));
}

TEST(Grains, RowsAreCutAtTiles) {
  Cut cut({1000, 17}, {1000, 17});
  cut.step.units.unitTable = 0;
  cut.step.tileRows = 48;
  Grains grains(cut.step, cut.structure);
  // Quarters of tiles where tiles are few.
  for (auto [count, part] : {std::pair<int64_t, int64_t>{4, 48}, {16, 12}}) {
    for (int64_t g = 0; g < count; ++g) {
      EXPECT_EQ(0, grains.boundary(g, count) % part);
      EXPECT_LT(grains.boundary(g, count), grains.boundary(g + 1, count));
    }
    EXPECT_EQ(1017, grains.boundary(count, count));
  }
}

TEST(Grains, SmallWorkStaysTogether) {
  Cut cut({10, 10}, {10, 10});
  cut.step.flopsPerRow = 10;
  EXPECT_EQ(1, Grains(cut.step, cut.structure).count(8));
  Cut empty({0}, {0});
  EXPECT_EQ(0, Grains(empty.step, empty.structure).count(8));
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

TEST(Padding, FillsBehindEntriesAndTakesThemBack) {
  // Two samples of 2 x 1 and 1 x 3 rows of 2 numbers, in 2 x 3 places each.
  const std::vector<int64_t> lengths = {2, 1, 1, 3}, sizes = {2, 3};
  const std::vector<int16_t> packed = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<int16_t> fill = {-1, -2};
  std::vector<int16_t> padded(24, 99);
  ASSERT_EQ(nested_pad(padded.data(), packed.data(), 2, 2, lengths.data(),
                       sizes.data(), 4, fill.data()),
            NESTED_OK);
  EXPECT_EQ(padded, (std::vector<int16_t>{1,  2,  -1, -2, -1, -2, 3,  4,
                                          -1, -2, -1, -2, 5,  6,  7,  8,
                                          9,  10, -1, -2, -1, -2, -1, -2}));
  std::vector<int16_t> back(packed.size(), 99);
  ASSERT_EQ(nested_unpad(back.data(), padded.data(), 2, 2, lengths.data(),
                         sizes.data(), 4),
            NESTED_OK);
  EXPECT_EQ(back, packed);
}

TEST(Padding, CutsLongSamplesIntoPieces) {
  const int64_t length = 300001, size = 400000;
  std::vector<int64_t> packed(static_cast<size_t>(length));
  std::iota(packed.begin(), packed.end(), 1);
  std::vector<int64_t> padded(static_cast<size_t>(size), -1);
  ASSERT_EQ(nested_pad(padded.data(), packed.data(), 1, 1, &length, &size, 8,
                       nullptr),
            NESTED_OK);
  packed.resize(static_cast<size_t>(size), 0);
  EXPECT_EQ(padded, packed);
}

TEST(Padding, RefusesLengthsAboveTheSize) {
  const int64_t lengths[] = {1, 4}, size = 3;
  char padded[6], packed[5];
  EXPECT_EQ(nested_pad(padded, packed, 2, 1, lengths, &size, 1, nullptr),
            NESTED_INVALID_ARGUMENT);
  EXPECT_STREQ(nested_last_error(), "sample 1 has length 4 along ragged axis "
                                    "0; expected 0 to 3");
  EXPECT_EQ(nested_unpad(packed, padded, 2, 1, nullptr, &size, 1),
            NESTED_INVALID_ARGUMENT);
}

TEST(Cpu, KnowsItself) {
  EXPECT_EQ("aarch64", canonicalArch("arm64"));
  EXPECT_EQ(FeatureState::Unknown, queryCpuFeature("no-such-thing"));
#if defined(__x86_64__)
  EXPECT_EQ("x86_64", hostArch());
  EXPECT_EQ(FeatureState::Present, queryCpuFeature("sse2"));
  __builtin_cpu_init();
  EXPECT_EQ(__builtin_cpu_supports("avx2") != 0,
            queryCpuFeature("avx2") == FeatureState::Present);
  EXPECT_EQ(__builtin_cpu_supports("fma") != 0,
            queryCpuFeature("fma") == FeatureState::Present);
  EXPECT_EQ(__builtin_cpu_supports("avx512f") != 0,
            queryCpuFeature("avx512f") == FeatureState::Present);
#endif
}

} // namespace
