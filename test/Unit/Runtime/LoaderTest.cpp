//===- LoaderTest.cpp - Opening good and bad files ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TestArtifact.h"

#include "nested/kernel.h"

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace nested::test;

namespace {

Container goodContainer() {
  Container c;
  c.payload = kernelPayload();
  c.manifest = makeManifest(pairBlock);
  c.program = "module {}\n";
  return c;
}

nested_status open(const std::string &bytes, uint32_t flags = 0) {
  nested_artifact_t *artifact = nullptr;
  nested_status status = nested_open_memory(bytes.data(), bytes.size(),
                                            "bad.so", flags, &artifact);
  EXPECT_EQ(status == NESTED_OK, artifact != nullptr);
  nested_close(artifact);
  return status;
}

nested_status openManifest(const std::string &manifest) {
  Container c = goodContainer();
  c.manifest = manifest;
  return open(c.bytes());
}

/// A good manifest with one piece replaced.
nested_status openChanged(std::string text, const std::string &from,
                          const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return openManifest(text);
}

TEST(Loader, Good) {
  Artifact artifact(goodContainer().bytes());
  size_t size;
  EXPECT_STREQ("module {}\n", nested_artifact_program(artifact.get(), &size));
  EXPECT_EQ(10u, size);
  EXPECT_EQ(makeManifest(pairBlock),
            nested_artifact_manifest(artifact.get(), nullptr));
  EXPECT_EQ(1, nested_num_entries(artifact.get()));
  EXPECT_EQ(nullptr, nested_get_entry(artifact.get(), 1));
  EXPECT_EQ(nullptr, nested_get_entry(artifact.get(), -1));
  EXPECT_STREQ("block", nested_entry_name(nested_get_entry(artifact.get(), 0)));
}

TEST(Loader, StrippedProgramAndNoPayload) {
  Container c;
  c.manifest = makeManifest(sameLengths);
  Artifact artifact(c.bytes());
  EXPECT_STREQ("", nested_artifact_program(artifact.get(), nullptr));
}

TEST(Loader, Signature) {
  Artifact artifact(goodContainer().bytes());
  const nested_entry_t *entry = artifact.entry();
  ASSERT_EQ(2, nested_entry_num_args(entry));
  ASSERT_EQ(2, nested_entry_num_results(entry));
  ASSERT_EQ(1, nested_entry_num_symbols(entry));
  nested_value_info x = NESTED_INIT(nested_value_info);
  ASSERT_OK(nested_entry_arg(entry, 0, &x));
  EXPECT_STREQ("x", x.name);
  EXPECT_EQ(NESTED_KIND_RAGGED, x.kind);
  EXPECT_EQ(NESTED_F32, x.dtype);
  ASSERT_EQ(2, x.rank);
  EXPECT_STREQ("N", x.extents[0]);
  EXPECT_STREQ("4", x.extents[1]);
  EXPECT_EQ(-1, x.shape[0]);
  EXPECT_EQ(4, x.shape[1]);
  ASSERT_EQ(1, x.path_rank);
  EXPECT_STREQ("B", x.path[0]);
  EXPECT_EQ(1, x.num_ragged);
  EXPECT_EQ(1, x.row_rank);
  EXPECT_EQ(16, x.row_bytes);
  EXPECT_STREQ("block.py:3", x.where);
  nested_value_info pair = NESTED_INIT(nested_value_info);
  ASSERT_OK(nested_entry_result(entry, 0, &pair));
  EXPECT_EQ(2, pair.num_ragged);
  EXPECT_EQ(0u, pair.flags);
  nested_symbol_info n = NESTED_INIT(nested_symbol_info);
  ASSERT_OK(nested_entry_symbol(entry, 0, &n));
  EXPECT_STREQ("N", n.name);
  EXPECT_EQ(0, n.arg);
  EXPECT_EQ(nullptr, n.upper);
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, nested_entry_arg(entry, 2, &x),
                "no argument 2");
  x.struct_size = 0;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, nested_entry_arg(entry, 0, &x),
                "struct_size", "NESTED_INIT");
}

TEST(Loader, OlderCallerGetsShorterRecord) {
  Artifact artifact(goodContainer().bytes());
  nested_value_info info = NESTED_INIT(nested_value_info);
  info.struct_size = 16;
  info.rank = 77;
  ASSERT_OK(nested_entry_arg(artifact.entry(), 0, &info));
  EXPECT_STREQ("x", info.name);
  EXPECT_EQ(77, info.rank);
}

TEST(Loader, DefaultOrderPutsRaggedFirst) {
  std::string entry = R"({"name": "e",
    "symbols": [{"name": "N", "path": ["B"], "arg": 0, "dim": 1}],
    "args": [{"name": "x", "kind": "ragged", "dtype": "f32", "extents": ["3", "N", "8"], "path": ["B"]},
             {"name": "y", "kind": "ragged", "dtype": "f32", "extents": ["3", "N", "8"], "order": [0, 1, 2], "path": ["B"]},
             {"name": "z", "kind": "ragged", "dtype": "f32", "extents": ["3"], "path": ["B"]}],
    "results": []})";
  Artifact artifact(makeArtifact(entry));
  nested_value_info info = NESTED_INIT(nested_value_info);
  ASSERT_OK(nested_entry_arg(artifact.entry(), 0, &info));
  EXPECT_EQ(1, info.order[0]);
  EXPECT_EQ(0, info.order[1]);
  EXPECT_EQ(1, info.row_rank);
  EXPECT_EQ(3 * 8 * 4, info.row_bytes);
  ASSERT_OK(nested_entry_arg(artifact.entry(), 1, &info));
  EXPECT_EQ(2, info.row_rank);
  EXPECT_EQ(8 * 4, info.row_bytes);
  ASSERT_OK(nested_entry_arg(artifact.entry(), 2, &info));
  EXPECT_EQ(0, info.row_rank);
  EXPECT_EQ(3 * 4, info.row_bytes);
}

TEST(Loader, Files) {
  char path[] = "/tmp/nested-loader-XXXXXX";
  int file = mkstemp(path);
  ASSERT_GE(file, 0);
  close(file);
  std::ofstream(path, std::ios::binary) << goodContainer().bytes();
  nested_artifact_t *first, *second;
  ASSERT_OK(nested_open_file(path, 0, &first));
  // Replaced: what was opened stays what it is, the new one is the new one.
  std::remove(path);
  std::ofstream(path, std::ios::binary) << makeArtifact(addRows);
  ASSERT_OK(nested_open_file(path, 0, &second));
  const nested_entry_t *entry;
  EXPECT_EQ(NESTED_OK, nested_find_entry(first, "block", &entry));
  EXPECT_EQ(NESTED_OK, nested_find_entry(second, "add", &entry));
  nested_close(first);
  nested_close(second);
  std::remove(path);
  EXPECT_STATUS(NESTED_IO_ERROR, nested_open_file(path, 0, &first), path,
                "cannot open");
  EXPECT_STATUS(NESTED_IO_ERROR, nested_open_file("/", 0, &first),
                "not a regular file");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, nested_open_file(nullptr, 0, &first),
                "path is null");
}

TEST(Loader, Entries) {
  Artifact artifact(
      makeArtifact(std::string(pairBlock) + "," + std::string(addRows)));
  const nested_entry_t *entry = nullptr;
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_find_entry(artifact.get(), "blok", &entry),
                "no entry 'blok'", "block, add");
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT,
                nested_find_entry(artifact.get(), nullptr, &entry),
                "which entry", "block, add");
  EXPECT_EQ(nullptr, entry);
  EXPECT_EQ(NESTED_OK, nested_find_entry(artifact.get(), "add", &entry));
  EXPECT_STREQ("add", nested_entry_name(entry));
}

TEST(Loader, NotAnArtifact) {
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(""), "bad.so", "0 bytes",
                "at least 96");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(std::string(95, 'x')),
                "95 bytes");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(std::string(4096, 'x')),
                "not an artifact", "NESTEDAR");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(kernelPayload()),
                "not an artifact");
}

TEST(Loader, TruncatedAnywhere) {
  Container c = goodContainer();
  std::string bytes = c.bytes();
  // Cut at the section borders and around them: always an error, no crash.
  for (size_t size :
       {size_t(0), size_t(1), size_t(64), c.payload.size() / 2,
        c.payload.size(), c.payload.size() + c.manifest.size() / 2,
        c.payload.size() + c.manifest.size(), bytes.size() - 96,
        bytes.size() - 95, bytes.size() - 8, bytes.size() - 1})
    EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(bytes.substr(0, size)),
                  "bad.so: ");
  // A piece missing in the middle, with the footer intact.
  std::string hole = bytes;
  hole.erase(100, 50);
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(hole), "truncated",
                std::to_string(bytes.size() - 50).c_str(),
                std::to_string(bytes.size()).c_str());
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open("junk" + bytes), "extended");
}

TEST(Loader, FlippedBytes) {
  Container c = goodContainer();
  std::string bytes = c.bytes();
  for (size_t at : {size_t(20), c.payload.size() + 20, bytes.size() - 96 - 4,
                    c.payload.size() - 1}) {
    std::string bad = bytes;
    bad[at] ^= 1;
    EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(bad), "damaged", "checksum");
  }
  // In the footer, every byte that means something.
  for (size_t at = bytes.size() - 96; at < bytes.size(); ++at) {
    if (at >= bytes.size() - 32 && at < bytes.size() - 28)
      continue; // A newer version may be readable.
    std::string bad = bytes;
    bad[at] ^= 4;
    EXPECT_EQ(NESTED_INVALID_ARTIFACT, open(bad)) << at;
  }
}

TEST(Loader, Versions) {
  Container c = goodContainer();
  c.format = 7; // Newer, but readable.
  EXPECT_EQ(NESTED_OK, open(c.bytes()));
  c.reader = 2;
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(c.bytes()), "version 7",
                "reads version 2", "newer runtime");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT,
                openChanged(makeManifest(pairBlock), R"({"min": 1, "max": 1})",
                            R"({"min": 2, "max": 3})"),
                "ABI 2 to 3", "has ABI 1");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT,
                openManifest(makeManifest(pairBlock, R"(, "services": 9999)")),
                "needs 9999 services");
}

TEST(Loader, OtherMachines) {
  std::string good = makeManifest(pairBlock);
  std::string arch =
      good.find("x86_64") != std::string::npos ? "x86_64" : "aarch64";
  std::string other = arch == "x86_64" ? "aarch64" : "x86_64";
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openChanged(good, arch, other),
                ("for " + other + "-unknown-linux-gnu").c_str(),
                ("this machine is " + arch).c_str());
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openChanged(good, "linux", "windows"),
                "windows");
  EXPECT_STATUS(
      NESTED_UNSUPPORTED,
      openChanged(good, R"("target": "cpu")", R"("target": "cuda:sm_90a")"),
      "target 'cuda:sm_90a'");
  // But they can be looked at.
  Container c = goodContainer();
  size_t at = c.manifest.find(arch);
  c.manifest.replace(at, arch.size(), other);
  Artifact artifact(c.bytes(), NESTED_OPEN_INSPECT);
  Call call(artifact.entry());
  call.lengths(0, {{1}}).data<float>(0, {1, 2, 3, 4});
  call.data<float>(1, {1, 1, 1, 1});
  ASSERT_OK(call.plan());
  EXPECT_STATUS(NESTED_UNSUPPORTED, call.runPlan(), "inspection");
}

TEST(Loader, Features) {
#if defined(__x86_64__)
  // A feature that no machine has all of: AMD's and Intel's own.
  EXPECT_STATUS(
      NESTED_INVALID_ARTIFACT,
      openManifest(makeManifest(
          pairBlock, R"(, "features": ["sse2", "+fma4", "amx-fp16", "tbm"])")),
      "lacks", "compile it for this machine");
  EXPECT_EQ(NESTED_OK, openManifest(makeManifest(
                           pairBlock, R"(, "features": ["sse2", "-xop"])")));
#endif
  EXPECT_STATUS(
      NESTED_UNSUPPORTED,
      openManifest(makeManifest(pairBlock, R"(, "features": ["warp-drive"])")),
      "'warp-drive'", "does not know");
}

TEST(Loader, ManifestSyntax) {
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openManifest(""), "manifest: line 1");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openManifest("{\n \"format\": 1,\n }"),
                "line 3, column 2", "expected a key");
  std::string good = makeManifest(pairBlock);
  for (size_t size = 0; size < good.size(); size += 7)
    EXPECT_EQ(NESTED_INVALID_ARTIFACT, openManifest(good.substr(0, size)));
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openManifest(good + "x"),
                "text after the end");
}

TEST(Loader, ManifestContents) {
  std::string block = makeManifest(pairBlock),
              select = makeManifest(selectRows);
  auto expect = [&](const std::string &text, const char *from, const char *to,
                    const char *message, const char *place = "entries[0]") {
    EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openChanged(text, from, to), message,
                  place);
  };
  expect(block, R"("kernel": "pair_block",)", "", "'kernel' is missing",
         "steps[0]");
  expect(block, R"("pair_block")", R"("no_such_kernel")",
         "no kernel 'no_such_kernel'", "'block'");
  expect(block, R"("f32")", R"("f31")", "unknown dtype 'f31'", "args[0].dtype");
  expect(block, R"("N * N")", R"("N * Q")", "unknown symbol 'Q'",
         "tables[2].extent");
  expect(block, R"("N * N")", R"("N * ")", "ends too early");
  expect(block, R"("N * N")", R"("N floordiv 0")", "must be positive");
  expect(block, R"({"table": 2})", R"({"table": 3})", "out of range (0 to 2)",
         "memrefs[6].table");
  expect(block, R"({"buffer": 3})", R"({"buffer": 4})", "out of range");
  expect(block, R"("dim": 0)", R"("dim": 1)", "symbol 'N'");
  expect(block, R"("arg": 0, "dim": 0)", R"("arg": 9, "dim": 0)",
         "no such argument");
  expect(block, R"("order": [0, 1])", R"("order": [0, 0])", "every dim once",
         "order");
  expect(block, R"("shape": [4])", R"("shape": [-4])", "out of range");
  expect(block, R"("op": "launch")", R"("op": "lunch")", "unknown step");
  expect(block, R"("kind": "groups")", R"("kind": "croups")", "unknown kind");
  expect(block, R"("unit_table": 1)", R"("unit_table": 0)",
         "not an offsets table");
  expect(select, R"("first": 0, "last": 1)", R"("first": 1, "last": 1)",
         "outside its lifetime", "steps[0]");
  expect(select, R"({"op": "bind", "symbol": "K", "buffer": 3},)", "",
         "no step binds symbol 'K'");
  expect(select, R"("symbol": "K")", R"("symbol": "N")",
         "not a symbol from data");
  expect(select, R"({"buffer": 1}, {"buffer": 3}, {"table": 0})",
         R"({"buffer": 1}, {"buffer": 3}, {"table": 1})",
         "depends on data that step 1 binds", "steps[0]");
  expect(select, R"("upper": "N")", R"("upper": "K")",
         "must be declared before");
  expect(select, R"("table": 2, "to": 4)", R"("table": 2, "to": 0)",
         "not one i64 each");
  expect(block, R"("name": "w")", R"("name": "x")", "a second 'x'");
}

TEST(Loader, HostileNumbers) {
  std::string block = makeManifest(pairBlock);
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT,
                openChanged(block, R"("shape": [4])",
                            R"("shape": [99999999999999999999])"),
                "64 bits");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT,
                openChanged(block, R"("shape": [4])",
                            R"("shape": [4294967296, 4294967296])"),
                "bytes of a row overflow");
  EXPECT_STATUS(
      NESTED_INVALID_ARTIFACT,
      openChanged(block, R"("scratch_bytes": 16)", R"("scratch_bytes": -1)"),
      "out of range");
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, openManifest(std::string(100, '[')),
                "64 levels");
}

TEST(Loader, NotAnElfPayload) {
  Container c = goodContainer();
  c.payload = "this is no shared object";
  EXPECT_STATUS(NESTED_INVALID_ARTIFACT, open(c.bytes()),
                "cannot load the code");
}

TEST(Loader, UnknownFlags) {
  EXPECT_STATUS(NESTED_INVALID_ARGUMENT, open(goodContainer().bytes(), 6),
                "unknown flags");
}

TEST(Loader, PlanOutlivesClose) {
  Artifact artifact(goodContainer().bytes());
  Call call(artifact.entry());
  call.lengths(0, {{2}}).data<float>(0, {1, 2, 3, 4, 5, 6, 7, 8});
  call.data<float>(1, {1, 1, 1, 1});
  ASSERT_OK(call.plan());
  nested_plan_t *plan = call.planned;
  nested_result results[2] = {NESTED_INIT(nested_result),
                              NESTED_INIT(nested_result)};
  nested_close(artifact.take());
  ASSERT_OK(nested_run(plan, call.args.data(), 2, results, 2, nullptr));
  EXPECT_EQ(4, results[0].rows);
  EXPECT_EQ(2, static_cast<float *>(results[0].data)[0]);
  nested_free_results(plan, results, 2);
  EXPECT_EQ(nullptr, results[0].data);
}

TEST(Loader, Versioned) {
  EXPECT_EQ(uint32_t(NESTED_VERSION), nested_runtime_version());
  EXPECT_EQ(uint32_t(NESTED_ABI_VERSION), nested_runtime_abi_version());
  EXPECT_STREQ("data error", nested_status_name(NESTED_DATA_ERROR));
  for (int32_t dtype = NESTED_I1; dtype <= NESTED_F64; ++dtype)
    EXPECT_EQ(dtype, nested_dtype_from_name(nested_dtype_name(dtype)));
  EXPECT_EQ(nullptr, nested_dtype_name(99));
  EXPECT_EQ(0u, nested_dtype_size(-1));
}

} // namespace
