//===- TestArtifact.h - Artifacts and calls for tests ------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime is tested without the compiler: kernels.c has kernels written by
// hand, a test writes the manifest, and this puts both into a container.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TEST_UNIT_RUNTIME_TESTARTIFACT_H
#define NESTED_TEST_UNIT_RUNTIME_TESTARTIFACT_H

#include "nested/runtime.h"

#include "gtest/gtest.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace nested::test {

/// The parts of an artifact file, each of which a test may spoil.
struct Container {
  std::string payload, manifest, program;
  uint32_t format = 1, reader = 1;
  std::string bytes() const;
};

/// The shared object made of kernels.c.
const std::string &kernelPayload();

/// A manifest for this machine around the given entries (JSON).
std::string makeManifest(const std::string &entries,
                         const std::string &more = "");

/// An artifact with the kernels and these entries.
std::string makeArtifact(const std::string &entries,
                         const std::string &more = "");

/// An opened artifact.
class Artifact {
public:
  explicit Artifact(const std::string &bytes, uint32_t flags = 0);
  Artifact(Artifact &&other) : handle(other.handle) { other.handle = nullptr; }
  ~Artifact() { nested_close(handle); }

  const nested_entry_t *entry(const char *name = nullptr) const;
  nested_artifact_t *get() const { return handle; }
  /// Gives up ownership.
  nested_artifact_t *take();

private:
  nested_artifact_t *handle = nullptr;
};

/// The arguments of one call with what they point to, its plan and results.
/// Dtypes and shapes are those of the signature until a test changes them.
class Call {
public:
  explicit Call(const nested_entry_t *entry);
  ~Call() { nested_plan_release(planned); }
  Call(const Call &) = delete;

  /// Lengths of the ragged dims of an argument (num_samples follows when there
  /// are any), and of its path components.
  Call &lengths(int arg, std::vector<std::vector<int64_t>> values);
  Call &pathLengths(int arg, std::vector<std::vector<int64_t>> values);
  /// Values, copied; the row capacity is what fits.
  template <typename T>
  Call &data(int arg, const std::vector<T> &values) {
    return setData(arg, values.data(), values.size() * sizeof(T));
  }
  Call &base(int arg, std::vector<int64_t> rows);
  Call &strides(int arg, std::vector<int64_t> values);
  Call &pool(nested_pool_t *pool) {
    options.pool = pool;
    return *this;
  }

  nested_status plan();
  /// Plans, and runs into memory of the test.
  nested_status run();
  /// Runs what is planned.
  nested_status runPlan(void *workspace = nullptr);

  nested_result_info resultInfo(int index) const;
  nested_plan_info info() const;
  template <typename T>
  std::vector<T> result(int index) const {
    const std::vector<char> &bytes = resultBytes[index];
    int64_t rowBytes = resultInfo(index).row_bytes;
    std::vector<T> values(static_cast<size_t>(results[index].rows * rowBytes) /
                          sizeof(T));
    if (!values.empty())
      std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  const std::vector<int64_t> &resultLengths(int index, int dim) const {
    return lengthsOut[index][dim];
  }

  std::vector<nested_argument> args;
  std::vector<nested_result> results;
  nested_options options = NESTED_INIT(nested_options);
  nested_plan_t *planned = nullptr;

private:
  Call &setData(int arg, const void *values, size_t bytes);

  const nested_entry_t *entry;
  struct Storage {
    std::vector<int64_t> shape, base, strides;
    std::vector<std::vector<int64_t>> lengths, pathLengths;
    std::vector<const int64_t *> lengthPointers, pathLengthPointers;
    std::vector<double> data; // Aligned for every dtype.
  };
  std::vector<Storage> storage;
  std::vector<std::vector<char>> resultBytes;
  std::vector<std::vector<std::vector<int64_t>>> lengthsOut;
  std::vector<std::vector<int64_t *>> lengthOutPointers;
};

/// The message of the last error contains all of these.
::testing::AssertionResult
messageHas(std::initializer_list<const char *> parts);

} // namespace nested::test

#define EXPECT_STATUS(status, call, ...)                                       \
  do {                                                                         \
    EXPECT_EQ(status, call) << nested_last_error();                            \
    EXPECT_TRUE(nested::test::messageHas({__VA_ARGS__}));                      \
  } while (0)
#define ASSERT_OK(call) ASSERT_EQ(NESTED_OK, call) << nested_last_error()

#endif // NESTED_TEST_UNIT_RUNTIME_TESTARTIFACT_H
