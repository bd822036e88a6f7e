//===- PrepareTest.cpp - What calls share and do once ---------------------===//
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

/// Memory at a multiple of 64.
class Block {
public:
  explicit Block(int64_t bytes)
      : size(bytes), memory(static_cast<size_t>(bytes) + 128, '\x55') {
    auto at = reinterpret_cast<uintptr_t>(memory.data());
    start = memory.data() + (64 - at % 64) % 64;
  }
  char *data() { return start; }
  int64_t bytes() const { return size; }

private:
  int64_t size;
  std::vector<char> memory;
  char *start;
};

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class Prepare : public ::testing::Test {
protected:
  const nested_entry_t *entry() const { return artifact.entry("scale"); }

  /// x, w and v, with 2 samples.
  void fill(Call &call) {
    call.lengths(0, {{2, 1}}).data<float>(0, x);
    call.data<float>(1, w).data<float>(2, v);
  }

  nested_status prepare(Call &call, void *block, int64_t bytes) {
    return nested_prepare(entry(), call.args.data(), 3, nullptr, block, bytes);
  }

  /// Puts the block in place of w and v.
  static void use(Call &call, void *block, int64_t bytes) {
    for (int arg : {1, 2}) {
      call.args[arg].flags |= NESTED_PREPARED;
      call.args[arg].data = block;
      call.args[arg].row_capacity = bytes;
    }
  }

  Floats expected() const {
    Floats out(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      out[i] = x[i] * (w[i % 4] * v[i % 4] * w[i % 4]) + w[i % 4];
    return out;
  }

  Floats x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  Floats w = {1, 2, 3, 4}, v = {0.5, 0.25, 2, 3};
  std::string program = std::string(scaleShared) + "," + pairBlock;
  Artifact artifact{makeArtifact(program)};
};

TEST_F(Prepare, SaysWhat) {
  // A header, what the last step reads, and w, which it reads too.
  EXPECT_EQ(3 * 64, nested_entry_prepared_bytes(entry()));
  EXPECT_EQ(0, nested_entry_prepared_bytes(artifact.entry("block")));
  for (int i = 0; i < 3; ++i) {
    nested_value_info info = NESTED_INIT(nested_value_info);
    ASSERT_OK(nested_entry_arg(entry(), i, &info));
    EXPECT_EQ(i > 0, (info.flags & NESTED_VALUE_PREPARED) != 0) << i;
  }
  Call call(entry());
  fill(call);
  ASSERT_OK(call.plan());
  EXPECT_EQ(3 * 64, call.info().prepared_bytes);
}

TEST_F(Prepare, GivesTheSameResults) {
  Call call(entry());
  fill(call);
  ASSERT_OK(call.run());
  EXPECT_EQ(expected(), call.result<float>(0));
  int64_t temps = call.info().temp_bytes;

  Block block(3 * 64);
  ASSERT_OK(prepare(call, block.data(), block.bytes()));
  use(call, block.data(), block.bytes());
  ASSERT_OK(call.run());
  EXPECT_EQ(expected(), call.result<float>(0));
  EXPECT_EQ(0, call.info().temp_bytes);
  EXPECT_EQ(128, temps);
  nested_step_info step = NESTED_INIT(nested_step_info);
  ASSERT_OK(nested_plan_get_step(call.planned, 1, &step));
  EXPECT_EQ(0, step.grains);
  ASSERT_OK(nested_plan_get_step(call.planned, 2, &step));
  EXPECT_EQ(1, step.grains);

  // It stands for the arguments as they were, wherever it lies.
  Block moved(3 * 64);
  std::memcpy(moved.data(), block.data(), 3 * 64);
  std::memset(block.data(), 0, 3 * 64);
  use(call, moved.data(), moved.bytes());
  ASSERT_OK(call.runPlan());
  EXPECT_EQ(expected(), call.result<float>(0));
}

TEST_F(Prepare, OneBlockForManyBatches) {
  Call first(entry());
  fill(first);
  Block block(3 * 64);
  ASSERT_OK(prepare(first, block.data(), block.bytes()));
  for (int64_t n : {0, 1, 3}) {
    Call call(entry());
    call.lengths(0, {{n, 0}})
        .data<float>(0, Floats(x.begin(), x.begin() + n * 4));
    use(call, block.data(), block.bytes());
    ASSERT_OK(call.run());
    Floats all = expected();
    EXPECT_EQ(Floats(all.begin(), all.begin() + n * 4), call.result<float>(0));
  }
}

TEST_F(Prepare, StridedArguments) {
  Call call(entry());
  fill(call);
  call.data<float>(1, {1, -1, 2, -1, 3, -1, 4, -1}).strides(1, {2});
  Block block(3 * 64);
  ASSERT_OK(prepare(call, block.data(), block.bytes()));
  use(call, block.data(), block.bytes());
  ASSERT_OK(call.run());
  EXPECT_EQ(expected(), call.result<float>(0));
  EXPECT_EQ(0, call.info().staging_bytes);
}

TEST_F(Prepare, OtherRecordsAreNotRead) {
  Call call(entry());
  fill(call);
  call.args[0] = NESTED_INIT(nested_argument);
  Block block(3 * 64);
  ASSERT_OK(prepare(call, block.data(), block.bytes()));
}

TEST_F(Prepare, NothingToDo) {
  Call call(artifact.entry("block"));
  ASSERT_OK(nested_prepare(artifact.entry("block"), call.args.data(), 2,
                           nullptr, nullptr, 0));
  call.lengths(0, {{1}}).data<float>(0, {1, 2, 3, 4});
  call.args[1].flags = NESTED_PREPARED;
  EXPECT_STATUS(NESTED_UNSUPPORTED, call.plan(), "block: argument 'w'",
                "no prepared form");
}

TEST_F(Prepare, WrongMemory) {
  Call call(entry());
  fill(call);
  Block block(3 * 64);
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, prepare(call, nullptr, 3 * 64),
                "scale", "null");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                prepare(call, block.data() + 8, 3 * 64), "not aligned");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, prepare(call, block.data(), 191),
                "has 191 bytes, but 192 are needed");
  // The block must not be where an argument is, not even in its header.
  call.args[1].data = block.data() + 48;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, prepare(call, block.data(), 3 * 64),
                "overlaps argument 'w'");
}

TEST_F(Prepare, WrongArguments) {
  Call call(entry());
  fill(call);
  Block block(3 * 64);
  call.args[1].dtype = NESTED_F64;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                prepare(call, block.data(), block.bytes()),
                "argument 'w': expected dtype f32, got f64");
  call.args[1].dtype = NESTED_F32;
  call.args[2].data = nullptr;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                prepare(call, block.data(), block.bytes()),
                "argument 'v': data is null");
  fill(call);
  call.args[2].flags = NESTED_PREPARED;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                prepare(call, block.data(), block.bytes()), "argument 'v'",
                "flags 0x8");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_prepare(entry(), call.args.data(), 2, nullptr,
                               block.data(), block.bytes()),
                "expected 3 arguments", "'v' is missing");
}

TEST_F(Prepare, WrongBlocks) {
  Call call(entry());
  fill(call);
  Block block(3 * 64), unfilled(3 * 64);
  ASSERT_OK(prepare(call, block.data(), block.bytes()));
  auto expect = [&](void *data, int64_t bytes, const char *message) {
    use(call, data, bytes);
    ASSERT_OK(call.plan());
    EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(),
                  "scale: argument 'w'", message);
  };
  expect(nullptr, 192, "null");
  expect(block.data() + 4, 192, "not aligned");
  expect(block.data(), 191, "has 191 bytes, but 192 are needed");
  expect(unfilled.data(), 192, "nested_prepare has not filled");
  Artifact other(makeArtifact(program, R"(, "note": "another")"));
  Call filled(entry());
  fill(filled);
  ASSERT_OK(nested_prepare(other.entry("scale"), filled.args.data(), 3, nullptr,
                           unfilled.data(), unfilled.bytes()));
  expect(unfilled.data(), 192, "another artifact");

  // Two blocks for one call.
  Block second(3 * 64);
  ASSERT_OK(prepare(filled, second.data(), second.bytes()));
  use(call, block.data(), block.bytes());
  call.args[2].data = second.data();
  ASSERT_OK(call.plan());
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(), "scale: argument 'v'",
                "not that of argument 'w'");
  // The rest of a call is checked as ever.
  use(call, block.data(), block.bytes());
  call.args[1].flags = 0;
  EXPECT_STATUS(
      NESTED_INVALID_ARGUMENT, call.plan(),
      "argument 'w': is not flagged as prepared, but argument 'v' is");
  call.args[1].flags = NESTED_PREPARED | NESTED_DONATED;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.plan(), "prepared and donated");
  call.args[0].flags = NESTED_PREPARED;
  EXPECT_STATUS(NESTED_UNSUPPORTED, call.plan(), "argument 'x'",
                "no prepared form");
}

TEST_F(Prepare, OtherEntries) {
  std::string twins = std::string(scaleShared) + "," +
                      replaced(scaleShared, "\"scale\"", "\"twin\"");
  Artifact both(makeArtifact(twins));
  Call call(both.entry("scale"));
  fill(call);
  Block block(3 * 64);
  ASSERT_OK(nested_prepare(both.entry("twin"), call.args.data(), 3, nullptr,
                           block.data(), block.bytes()));
  use(call, block.data(), block.bytes());
  ASSERT_OK(call.plan());
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(), "entry 1",
                "which is another");
}

TEST_F(Prepare, ErrorsOfKernels) {
  // An index out of range among shared values is met while preparing, and the
  // block that was there is none any more.
  Artifact gather(makeArtifact(gatherShared));
  const nested_entry_t *shared = gather.entry();
  int64_t bytes = nested_entry_prepared_bytes(shared);
  Block block(bytes);
  Call call(shared);
  call.lengths(0, {{1}}).data<float>(0, {1});
  call.data<float>(1, {1, 2, 3}).data<int64_t>(2, {0, 2, 1, 2});
  ASSERT_OK(nested_prepare(shared, call.args.data(), 3, nullptr, block.data(),
                           bytes));
  call.data<int64_t>(2, {0, 2, 7, 2});
  EXPECT_STATUS(
      NESTED_DATA_ERROR,
      nested_prepare(shared, call.args.data(), 3, nullptr, block.data(), bytes),
      "pick: index 7 is out of range");
  use(call, block.data(), bytes);
  ASSERT_OK(call.plan());
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, call.runPlan(), "has not filled");
}

TEST_F(Prepare, Inspection) {
  Artifact inspected(makeArtifact(program), NESTED_OPEN_INSPECT);
  Call call(inspected.entry("scale"));
  fill(call);
  EXPECT_EQ(192, nested_entry_prepared_bytes(inspected.entry("scale")));
  Block block(192);
  EXPECT_STATUS(NESTED_UNSUPPORTED,
                nested_prepare(inspected.entry("scale"), call.args.data(), 3,
                               nullptr, block.data(), 192),
                "inspection");
}

TEST_F(Prepare, Manifests) {
  auto expect = [](const std::string &from, const std::string &to,
                   const char *message) {
    std::string bytes = makeArtifact(replaced(scaleShared, from, to));
    nested_artifact_t *opened = nullptr;
    EXPECT_STATUS(
        NESTED_INVALID_ARTIFACT,
        nested_open_memory(bytes.data(), bytes.size(), "bad.so", 0, &opened),
        "bad.so", message);
  };
  expect(R"("extent": "4", "path": [])", R"("extent": "N", "path": ["B"])",
         "table 2, which depends on lengths");
  expect(R"("memrefs": [{"buffer": 1}, {"buffer": 2}, {"buffer": 3}])",
         R"("memrefs": [{"buffer": 0}, {"buffer": 2}, {"buffer": 3}])",
         "buffer 0");
  expect(R"({"buffer": 3}, {"buffer": 1}, {"buffer": 4})",
         R"({"buffer": 3}, {"buffer": 1}, {"buffer": 5})", "buffer 5");
  expect(R"("rows": {"const": 4})", R"("rows": {"total": 1})", "buffer 3");
  expect(R"("prepare": true, "memrefs": [{"buffer": 1})",
         R"("memrefs": [{"buffer": 1})", "buffer 3");
}

} // namespace
