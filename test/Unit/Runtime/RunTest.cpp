//===- RunTest.cpp - Runs of planned calls --------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TestArtifact.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nested::test;

namespace {

using Lengths = std::vector<int64_t>;

int64_t sum(const Lengths &lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
}

/// Values that tell rows and columns apart.
std::vector<float> makeRows(int64_t rows, int64_t columns) {
  std::vector<float> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i)) * 3;
  return values;
}

struct PairResult {
  std::vector<float> pair, mean;
  bool operator==(const PairResult &other) const {
    return sameBits(pair, other.pair) && sameBits(mean, other.mean);
  }
  static bool sameBits(const std::vector<float> &a,
                       const std::vector<float> &b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
  }
};

/// What pair_block computes for one sample.
PairResult referencePair(const float *x, int64_t n, const float *w) {
  PairResult result;
  result.pair.resize(n * n * 4);
  result.mean.resize(n * 4);
  for (int64_t a = 0; a < n; ++a) {
    float sum[4] = {0, 0, 0, 0};
    for (int64_t b = 0; b < n; ++b)
      for (int c = 0; c < 4; ++c) {
        float v = x[a * 4 + c] * w[c] + x[b * 4 + c];
        result.pair[(a * n + b) * 4 + c] = v;
        sum[c] += v;
      }
    for (int c = 0; c < 4; ++c)
      result.mean[a * 4 + c] = sum[c] / static_cast<float>(n);
  }
  return result;
}

class Run : public ::testing::Test {
protected:
  Run() : artifact(makeArtifact(pairBlock)) {
    for (int64_t threads : {1, 2, 4})
      EXPECT_EQ(NESTED_OK, nested_pool_create(threads, &pools[threads]));
  }
  ~Run() override {
    for (nested_pool_t *pool : pools)
      nested_pool_destroy(pool);
  }

  void expectEqualsReference(Call &call, const Lengths &lengths,
                             const std::vector<float> &x,
                             const Lengths &starts) {
    std::vector<float> pair = call.result<float>(0),
                       mean = call.result<float>(1);
    size_t p = 0, m = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      PairResult expected =
          referencePair(x.data() + starts[i] * 4, lengths[i], w.data());
      ASSERT_LE(p + expected.pair.size(), pair.size());
      EXPECT_TRUE(
          expected ==
          (PairResult{
              {pair.begin() + p, pair.begin() + p + expected.pair.size()},
              {mean.begin() + m, mean.begin() + m + expected.mean.size()}}))
          << "sample " << i;
      p += expected.pair.size();
      m += expected.mean.size();
    }
    EXPECT_EQ(p, pair.size());
    EXPECT_EQ(m, mean.size());
  }

  void check(const Lengths &lengths) {
    std::vector<float> x = makeRows(sum(lengths), 4);
    Lengths starts;
    int64_t start = 0;
    for (int64_t n : lengths) {
      starts.push_back(start);
      start += n;
    }
    for (int64_t threads : {1, 2, 4}) {
      Call call(artifact.entry());
      call.lengths(0, {lengths}).data(0, x).data(1, w).pool(pools[threads]);
      ASSERT_OK(call.run());
      expectEqualsReference(call, lengths, x, starts);
      EXPECT_EQ(lengths, call.resultLengths(0, 0));
      EXPECT_EQ(lengths, call.resultLengths(0, 1));
      EXPECT_EQ(static_cast<int64_t>(lengths.size()),
                call.results[0].num_instances);
    }
  }

  Artifact artifact;
  std::vector<float> w = {1, -2, 0.5, 3};
  nested_pool_t *pools[5] = {};
};

TEST_F(Run, NoSamples) { check({}); }
TEST_F(Run, OneEmptySample) { check({0}); }
TEST_F(Run, OneSample) { check({7}); }
TEST_F(Run, ThreeSamples) { check({2, 0, 3}); }
TEST_F(Run, EqualLengths) { check({5, 5, 5, 5, 5, 5, 5, 5}); }
TEST_F(Run, LongAmongShort) {
  Lengths lengths(40, 1);
  lengths[17] = 150;
  check(lengths);
}
TEST_F(Run, ManySamples) {
  Lengths lengths;
  for (int64_t i = 0; i < 500; ++i)
    lengths.push_back(i * 7 % 13);
  check(lengths);
}

TEST_F(Run, GapsAndStarts) {
  Lengths lengths = {2, 0, 3, 1}, base = {3, 5, 9, 12};
  std::vector<float> x = makeRows(20, 4);
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(0, x).data(1, w).base(0, base);
  ASSERT_OK(call.run());
  expectEqualsReference(call, lengths, x, base);
  // Two samples that are the same rows.
  base = {3, 5, 3 + 6, 9};
  call.base(0, base);
  ASSERT_OK(call.run());
  expectEqualsReference(call, lengths, x, base);
}

TEST_F(Run, SlackIsNotRead) {
  // R4: what lies in gaps and behind the end has no influence.
  Lengths lengths = {2, 3}, base = {1, 4};
  std::vector<float> x = makeRows(9, 4), poisoned = x;
  for (int64_t row : {0, 3, 7, 8})
    for (int c = 0; c < 4; ++c)
      poisoned[row * 4 + c] = NAN;
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(0, poisoned).data(1, w).base(0, base);
  ASSERT_OK(call.run());
  expectEqualsReference(call, lengths, x, base);
}

TEST_F(Run, Strides) {
  // x as the transpose of [4, rows], and w as every second of 8.
  Lengths lengths = {2, 0, 3};
  std::vector<float> x = makeRows(5, 4), turned(20), wide(8, NAN);
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 4; ++c)
      turned[c * 5 + r] = x[r * 4 + c];
  for (int c = 0; c < 4; ++c)
    wide[2 * c] = w[c];
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(0, turned).strides(0, {1, 5});
  call.data(1, wide).strides(1, {2});
  ASSERT_OK(call.run());
  expectEqualsReference(call, lengths, x, {0, 2, 2});
  // Rows of a wider array, with gaps: 8 columns of which 4 are used.
  std::vector<float> columns(8 * 8, NAN);
  Lengths base = {1, 3, 4};
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 4; ++c)
      columns[((r < 2 ? 1 : 2) + r) * 8 + c] = x[r * 4 + c];
  call.lengths(0, {lengths}).data(0, columns).base(0, base);
  call.strides(0, {8, 1});
  call.args[0].row_capacity = 8;
  ASSERT_OK(call.run());
  expectEqualsReference(call, lengths, x, {0, 2, 2});
  // The plan's strides hold at run.
  const int64_t other[] = {9, 1};
  call.args[0].strides = other;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(), "strides differ");
}

TEST_F(Run, ManyRunsOfOnePlan) {
  Lengths lengths = {3, 1};
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(1, w);
  call.args[0].row_capacity = 4;
  ASSERT_OK(call.plan()); // Without data.
  for (float factor : {1.0f, 2.0f, 3.0f}) {
    std::vector<float> x = makeRows(4, 4);
    for (float &v : x)
      v *= factor;
    call.data(0, x);
    // Lengths are the plan's: what is there at run does not count.
    call.args[0].lengths = nullptr;
    ASSERT_OK(call.runPlan());
    expectEqualsReference(call, lengths, x, {0, 3});
  }
}

TEST_F(Run, PlanIsSharedByThreads) {
  Lengths lengths(64, 9);
  std::vector<float> x = makeRows(sum(lengths), 4);
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(0, x).data(1, w).pool(pools[4]);
  ASSERT_OK(call.run());
  std::vector<float> expected = call.result<float>(0);
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        nested_result results[2] = {NESTED_INIT(nested_result),
                                    NESTED_INIT(nested_result)};
        if (nested_run(call.planned, call.args.data(), 2, results, 2,
                       nullptr) == NESTED_OK &&
            std::memcmp(results[0].data, expected.data(),
                        expected.size() * 4) == 0)
          ++good;
        nested_free_results(call.planned, results, 2);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(40, good);
}

struct Events {
  std::mutex mutex;
  std::vector<nested_event> all;
};

TEST_F(Run, EventsOfStepsAndGrains) {
  Events events;
  Call call(artifact.entry());
  std::vector<float> x = makeRows(400, 4);
  call.lengths(0, {{300, 0, 100}}).data(0, x).data(1, w).pool(pools[2]);
  call.options.event_user = &events;
  call.options.on_event = [](void *user, const nested_event *event) {
    auto *events = static_cast<Events *>(user);
    std::lock_guard<std::mutex> lock(events->mutex);
    events->all.push_back(*event);
  };
  ASSERT_OK(call.run());
  int64_t steps = 0, last = 0;
  for (const nested_event &event : events.all) {
    EXPECT_EQ(sizeof(nested_event), event.struct_size);
    EXPECT_LE(event.start_ns, event.end_ns);
    if (event.kind != NESTED_EVENT_STEP)
      continue;
    EXPECT_EQ(steps++, event.step);
    EXPECT_LE(last, event.start_ns); // One after the other.
    last = event.end_ns;
  }
  EXPECT_EQ(call.info().num_steps, steps);
  // The grains of a launch are all its units, each once.
  for (int64_t s = 0; s < steps; ++s) {
    nested_step_info step = NESTED_INIT(nested_step_info);
    ASSERT_OK(nested_plan_get_step(call.planned, s, &step));
    int64_t units = 0;
    for (const nested_event &event : events.all)
      if (event.kind == NESTED_EVENT_GRAIN && event.step == s) {
        units += event.end - event.begin;
        EXPECT_TRUE(event.worker == 0 || event.worker == 1);
      }
    if (std::string(step.op) == "launch")
      EXPECT_EQ(step.units, units) << step.kernel;
  }
}

TEST_F(Run, WorkspaceOfTheCaller) {
  Lengths lengths = {5};
  std::vector<float> x = makeRows(5, 4);
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(0, x).data(1, w);
  ASSERT_OK(call.plan());
  int64_t bytes = call.info().workspace_bytes;
  char *memory = static_cast<char *>(std::aligned_alloc(64, bytes + 64));
  std::memset(memory, 0x5a, bytes + 64);
  ASSERT_OK(call.runPlan(memory));
  expectEqualsReference(call, lengths, x, {0});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(0x5a, memory[bytes + i]);
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(memory + 8),
                "not aligned to 64");
  std::free(memory);
}

struct CountingAllocator {
  int64_t live = 0, calls = 0, failAt = -1;
  nested_allocator record() {
    nested_allocator a = NESTED_INIT(nested_allocator);
    a.user = this;
    a.allocate = [](void *user, size_t bytes, size_t alignment, int32_t device,
                    int32_t) -> void * {
      auto *self = static_cast<CountingAllocator *>(user);
      EXPECT_EQ(NESTED_DEVICE_CPU, device);
      EXPECT_GT(bytes, 0u);
      if (self->calls++ == self->failAt)
        return nullptr;
      self->live += static_cast<int64_t>(bytes);
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment *
                                               alignment);
    };
    a.deallocate = [](void *user, void *memory, size_t bytes, size_t, int32_t,
                      int32_t) {
      static_cast<CountingAllocator *>(user)->live -=
          static_cast<int64_t>(bytes);
      std::free(memory);
    };
    return a;
  }
};

TEST_F(Run, Allocator) {
  CountingAllocator counting;
  nested_allocator allocator = counting.record();
  std::vector<float> x = makeRows(5, 4);
  Call call(artifact.entry());
  call.lengths(0, {{5}}).data(0, x).data(1, w);
  call.options.allocator = &allocator;
  ASSERT_OK(call.plan());
  EXPECT_EQ(0, counting.calls);
  nested_result results[2] = {NESTED_INIT(nested_result),
                              NESTED_INIT(nested_result)};
  ASSERT_OK(nested_run(call.planned, call.args.data(), 2, results, 2, nullptr));
  EXPECT_EQ(3, counting.calls);
  EXPECT_EQ((25 + 5) * 16, counting.live);
  EXPECT_EQ(25, results[0].rows);
  nested_free_results(call.planned, results, 2);
  EXPECT_EQ(0, counting.live);
  // An allocator without memory, at each of its calls: nothing is kept.
  for (int64_t failAt = 0; failAt < 3; ++failAt) {
    counting.calls = 0;
    counting.failAt = failAt;
    EXPECT_STATUS(
        NESTED_OUT_OF_MEMORY,
        nested_run(call.planned, call.args.data(), 2, results, 2, nullptr),
        "block: the allocator has no memory for");
    EXPECT_EQ(0, counting.live);
    EXPECT_EQ(nullptr, results[0].data);
  }
}

TEST_F(Run, BadBuffers) {
  std::vector<float> x = makeRows(5, 4);
  Call call(artifact.entry());
  call.lengths(0, {{5}}).data(0, x).data(1, w);
  ASSERT_OK(call.run());
  auto expect = [&](std::initializer_list<const char *> parts) {
    EXPECT_EQ(NESTED_INVALID_ARGUMENT,
              nested_run(call.planned, call.args.data(), 2, call.results.data(),
                         2, nullptr));
    EXPECT_TRUE(messageHas(parts));
  };
  nested_argument good = call.args[0];
  call.args[0].data = nullptr;
  expect({"block: argument 'x': data is null, but 80 bytes are needed"});
  call.args[0].data = static_cast<char *>(good.data) + 2;
  expect({"argument 'x'", "not aligned to the 4 bytes of a f32"});
  call.args[0] = good;
  call.args[0].row_capacity = 4;
  expect({"the plan needs 5 rows, but row_capacity is 4"});
  call.args[0] = good;
  call.args[0].dtype = NESTED_I32;
  expect({"not that of the plan"});
  call.args[0] = good;
  call.args[0].device_id = 1;
  expect({"another device"});
  call.args[0] = good;
  call.args[0].flags = NESTED_READ;
  expect({"flags differ"});
  call.args[0] = good;
  nested_result goodResult = call.results[0];
  call.results[0].flags = NESTED_READ;
  expect({"result '0': its memory is read-only"});
  call.results[0] = goodResult;
  call.results[0].row_capacity = 24;
  expect({"result '0': needs 25 rows, but row_capacity is 24"});
  call.results[0] = goodResult;
  call.results[0].data = static_cast<char *>(goodResult.data) + 1;
  expect({"result '0'", "not aligned"});
  call.results[0].data = call.results[1].data;
  expect({"result '1': overlaps result '0'"});
  call.results[0] = goodResult;
  call.results[1].data = call.args[0].data;
  expect({"result '1': overlaps argument 'x', which is not donated"});
  call.results[1].device_type = NESTED_DEVICE_CUDA;
  expect({"device type 2"});
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_run(call.planned, call.args.data(), 2,
                           call.results.data(), 1, nullptr),
                "expected 2 results, got 1");
  EXPECT_STATUS(
      NESTED_INVALID_ARGUMENT,
      nested_run(call.planned, call.args.data(), 2, nullptr, 2, nullptr),
      "null");
}

TEST_F(Run, NullDataWithoutRows) {
  Call call(artifact.entry());
  call.lengths(0, {{0, 0}}).data(1, w);
  ASSERT_OK(call.plan());
  nested_result results[2] = {NESTED_INIT(nested_result),
                              NESTED_INIT(nested_result)};
  ASSERT_OK(nested_run(call.planned, call.args.data(), 2, results, 2, nullptr));
  EXPECT_EQ(nullptr, results[0].data);
  EXPECT_EQ(0, results[0].rows);
  EXPECT_EQ(2, results[0].num_instances);
}

TEST_F(Run, AfterFork) {
  // Helpers do not exist in a child; its runs must not wait for them.
  Lengths lengths(50, 20);
  std::vector<float> x = makeRows(sum(lengths), 4);
  Call call(artifact.entry());
  call.lengths(0, {lengths}).data(0, x).data(1, w).pool(pools[4]);
  ASSERT_OK(call.run());
  pid_t child = fork();
  if (child == 0)
    _exit(call.runPlan() == NESTED_OK ? 0 : 1);
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
}

TEST(DefaultPool, Threads) {
  int64_t all = nested_default_threads();
  EXPECT_GE(all, 1);
  ASSERT_OK(nested_set_default_threads(3));
  EXPECT_EQ(3, nested_default_threads());
  Artifact artifact(makeArtifact(pairBlock));
  Call call(artifact.entry());
  call.lengths(0, {{2}}).data(0, makeRows(2, 4));
  call.data(1, std::vector<float>(4));
  ASSERT_OK(call.run());
  EXPECT_EQ(3, call.info().threads);
  ASSERT_OK(nested_set_default_threads(0)); // The plan keeps its pool.
  ASSERT_OK(call.runPlan());
  EXPECT_EQ(all, nested_default_threads());
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, nested_set_default_threads(-1),
                "-1 threads");
  nested_pool_t *pool;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, nested_pool_create(1 << 20, &pool),
                "1048576 threads");
}

TEST(Errors, BelongToTheirThread) {
  nested_pool_t *pool;
  EXPECT_NE(NESTED_OK, nested_pool_create(-7, &pool));
  std::thread([] { EXPECT_STREQ("", nested_last_error()); }).join();
  EXPECT_TRUE(messageHas({"-7 threads"}));
}

} // namespace
