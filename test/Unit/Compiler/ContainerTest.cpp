//===- ContainerTest.cpp - Writing artifacts and taking them apart --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Artifact.h"

#include "gtest/gtest.h"
#include <string>

using namespace nested;

namespace {

std::string write(const ArtifactSections &sections) {
  llvm::SmallVector<char, 0> bytes = writeArtifact(sections);
  return std::string(bytes.begin(), bytes.end());
}

std::string getError(const std::string &bytes) {
  llvm::Expected<ArtifactSections> sections = readArtifact(bytes);
  return sections ? "" : llvm::toString(sections.takeError());
}

TEST(Container, RoundTrip) {
  std::string file = write({"payload", "{}", "module {}"});
  EXPECT_EQ(file.size(), 7u + 2 + 9 + 96);
  llvm::Expected<ArtifactSections> sections = readArtifact(file);
  ASSERT_TRUE(bool(sections)) << llvm::toString(sections.takeError());
  EXPECT_EQ(sections->payload, "payload");
  EXPECT_EQ(sections->manifest, "{}");
  EXPECT_EQ(sections->program, "module {}");
}

TEST(Container, EveryDamagedByteIsFound) {
  const std::string file = write({"payload", "{}", "module {}"});
  // Up to the version numbers, which are not part of the checksum.
  for (size_t i = 0; i < file.size() - 96 + 64; ++i) {
    std::string damaged = file;
    damaged[i] ^= 0x10;
    EXPECT_NE(getError(damaged), "") << "byte " << i;
  }
}

TEST(Container, MessagesNameTheProblem) {
  const std::string file = write({"payload", "{}", ""});
  EXPECT_EQ(getError("short"),
            "not an artifact: 5 bytes are fewer than the footer has");
  EXPECT_EQ(getError(file.substr(0, file.size() - 1)),
            "not an artifact, or truncated: the magic number at the end is "
            "missing");
  EXPECT_EQ(getError(file.substr(1)),
            "damaged artifact: it has 104 bytes, but was written with 105");
  std::string newer = file;
  newer[newer.size() - 96 + 68] = 2;
  EXPECT_EQ(getError(newer), "this artifact needs a reader of format version "
                             "2, but this one is of version 1");
}

} // namespace
