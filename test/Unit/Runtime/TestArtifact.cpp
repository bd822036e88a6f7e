//===- TestArtifact.cpp - Artifacts and calls for tests ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestArtifact.h"

#include <fstream>
#include <sstream>

using namespace nested::test;

static uint64_t fnv1a(const std::string &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : bytes)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

template <typename T>
static void append(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

std::string Container::bytes() const {
  std::string out = payload + manifest + program;
  uint64_t end = out.size();
  append<uint64_t>(out, 0);
  append<uint64_t>(out, payload.size());
  append<uint64_t>(out, payload.size());
  append<uint64_t>(out, manifest.size());
  append<uint64_t>(out, payload.size() + manifest.size());
  append<uint64_t>(out, program.size());
  append<uint64_t>(out, end + 96);
  append<uint64_t>(out, fnv1a(out));
  append<uint32_t>(out, format);
  append<uint32_t>(out, reader);
  out.append(16, '\0');
  out.append("NESTEDAR");
  return out;
}

const std::string &nested::test::kernelPayload() {
  static const std::string bytes = [] {
    std::ifstream file(NESTED_TEST_KERNELS, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_TRUE(file) << "cannot read " NESTED_TEST_KERNELS;
    return text.str();
  }();
  return bytes;
}

std::string nested::test::makeManifest(const std::string &entries,
                                       const std::string &more) {
#if defined(__aarch64__)
  const char *triple = "aarch64-unknown-linux-gnu";
#else
  const char *triple = "x86_64-unknown-linux-gnu";
#endif
  return R"({"format": 1, "abi": {"min": 1, "max": 1}, "producer": "test",
 "target": "cpu", "triple": ")" +
         std::string(triple) + R"(", "cpu": "generic")" + more +
         R"(, "entries": [)" + entries + "]}";
}

std::string nested::test::makeArtifact(const std::string &entries,
                                       const std::string &more) {
  Container container;
  container.payload = kernelPayload();
  container.manifest = makeManifest(entries, more);
  container.program = "module {}\n";
  return container.bytes();
}

Artifact::Artifact(const std::string &bytes, uint32_t flags) {
  EXPECT_EQ(NESTED_OK, nested_open_memory(bytes.data(), bytes.size(), "test.so",
                                          flags, &handle))
      << nested_last_error();
}

const nested_entry_t *Artifact::entry(const char *name) const {
  const nested_entry_t *entry = nullptr;
  if (handle)
    EXPECT_EQ(NESTED_OK, nested_find_entry(handle, name, &entry))
        << nested_last_error();
  return entry;
}

nested_artifact_t *Artifact::take() {
  nested_artifact_t *taken = handle;
  handle = nullptr;
  return taken;
}

Call::Call(const nested_entry_t *entry) : entry(entry) {
  int64_t numArgs = nested_entry_num_args(entry);
  args.assign(numArgs, NESTED_INIT(nested_argument));
  storage.resize(numArgs);
  for (int64_t i = 0; i < numArgs; ++i) {
    nested_value_info info = NESTED_INIT(nested_value_info);
    EXPECT_EQ(NESTED_OK, nested_entry_arg(entry, i, &info));
    storage[i].shape.assign(info.shape, info.shape + info.rank);
    args[i].dtype = info.dtype;
    args[i].rank = info.rank;
    args[i].shape = storage[i].shape.data();
  }
  results.assign(nested_entry_num_results(entry), NESTED_INIT(nested_result));
}

static void point(const std::vector<std::vector<int64_t>> &values,
                  std::vector<const int64_t *> &pointers) {
  pointers.clear();
  for (const std::vector<int64_t> &each : values)
    pointers.push_back(each.data());
}

Call &Call::lengths(int arg, std::vector<std::vector<int64_t>> values) {
  Storage &s = storage[arg];
  s.lengths = std::move(values);
  point(s.lengths, s.lengthPointers);
  args[arg].lengths = s.lengthPointers.data();
  if (!s.lengths.empty())
    args[arg].num_samples = static_cast<int64_t>(s.lengths[0].size());
  return *this;
}

Call &Call::pathLengths(int arg, std::vector<std::vector<int64_t>> values) {
  Storage &s = storage[arg];
  s.pathLengths = std::move(values);
  point(s.pathLengths, s.pathLengthPointers);
  args[arg].path_lengths = s.pathLengthPointers.data();
  args[arg].num_samples = static_cast<int64_t>(s.pathLengths[0].size());
  return *this;
}

Call &Call::base(int arg, std::vector<int64_t> rows) {
  storage[arg].base = std::move(rows);
  args[arg].base = storage[arg].base.data();
  return *this;
}

Call &Call::strides(int arg, std::vector<int64_t> values) {
  storage[arg].strides = std::move(values);
  args[arg].strides = storage[arg].strides.data();
  return *this;
}

Call &Call::setData(int arg, const void *values, size_t bytes) {
  Storage &s = storage[arg];
  s.data.resize((bytes + 7) / 8);
  if (bytes)
    std::memcpy(s.data.data(), values, bytes);
  args[arg].data = s.data.data();
  nested_value_info info = NESTED_INIT(nested_value_info);
  EXPECT_EQ(NESTED_OK, nested_entry_arg(entry, arg, &info));
  args[arg].row_capacity =
      info.row_bytes ? static_cast<int64_t>(bytes) / info.row_bytes : 0;
  return *this;
}

nested_status Call::plan() {
  nested_plan_release(planned);
  planned = nullptr;
  return nested_plan(entry, args.data(), static_cast<int64_t>(args.size()),
                     &options, &planned);
}

nested_status Call::runPlan(void *workspace) {
  size_t count = results.size();
  resultBytes.assign(count, {});
  lengthsOut.assign(count, {});
  lengthOutPointers.assign(count, {});
  for (size_t k = 0; k < count; ++k) {
    nested_result_info info = resultInfo(static_cast<int>(k));
    nested_value_info value = NESTED_INIT(nested_value_info);
    EXPECT_EQ(NESTED_OK,
              nested_entry_result(entry, static_cast<int64_t>(k), &value));
    // Never empty, and of a pattern that shows what was not written.
    resultBytes[k].assign(static_cast<size_t>(info.bytes) + 8, '\x7f');
    lengthsOut[k].assign(value.num_ragged,
                         std::vector<int64_t>(info.num_instances, -1));
    for (std::vector<int64_t> &each : lengthsOut[k])
      lengthOutPointers[k].push_back(each.data());
    results[k] = NESTED_INIT(nested_result);
    results[k].data = resultBytes[k].data();
    results[k].row_capacity = info.rows;
    results[k].lengths = lengthOutPointers[k].data();
  }
  return nested_run(planned, args.data(), static_cast<int64_t>(args.size()),
                    results.data(), static_cast<int64_t>(count), workspace);
}

nested_status Call::run() {
  nested_status status = plan();
  return status == NESTED_OK ? runPlan() : status;
}

nested_result_info Call::resultInfo(int index) const {
  nested_result_info info = NESTED_INIT(nested_result_info);
  EXPECT_EQ(NESTED_OK, nested_plan_get_result(planned, index, &info));
  return info;
}

nested_plan_info Call::info() const {
  nested_plan_info info = NESTED_INIT(nested_plan_info);
  EXPECT_EQ(NESTED_OK, nested_plan_get_info(planned, &info));
  return info;
}

::testing::AssertionResult
nested::test::messageHas(std::initializer_list<const char *> parts) {
  std::string message = nested_last_error();
  for (const char *part : parts)
    if (message.find(part) == std::string::npos)
      return ::testing::AssertionFailure()
             << "no '" << part << "' in: " << message;
  return ::testing::AssertionSuccess();
}
