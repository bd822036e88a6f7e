//===- Container.cpp - Writing artifacts and taking them apart ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Artifact.h"

#include "nested/Target/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace nested;

namespace {
// Offsets in the footer.
enum : size_t {
  kSections = 0,
  kFileSize = 48,
  kChecksum = 56,
  kVersion = 64,
  kReaderVersion = 68,
  kMagic = 88,
  kFooterSize = 96
};
} // namespace

static constexpr StringLiteral kMagicText = "NESTEDAR";
static constexpr uint32_t kFormatVersion = 1;

/// FNV-1a with 64 bits, continued from `hash`.
static uint64_t hashBytes(StringRef bytes,
                          uint64_t hash = 0xcbf29ce484222325ull) {
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

SmallVector<char, 0> nested::writeArtifact(const ArtifactSections &sections) {
  SmallVector<char, 0> file;
  char footer[kFooterSize] = {};
  size_t field = kSections;
  for (StringRef section :
       {sections.payload, sections.manifest, sections.program}) {
    support::endian::write64le(footer + field, file.size());
    support::endian::write64le(footer + field + 8, section.size());
    file.append(section.begin(), section.end());
    field += 16;
  }
  support::endian::write64le(footer + kFileSize, file.size() + kFooterSize);
  uint64_t hash = hashBytes(StringRef(file.data(), file.size()));
  hash = hashBytes(StringRef(footer, kChecksum), hash);
  support::endian::write64le(footer + kChecksum, hash);
  support::endian::write32le(footer + kVersion, kFormatVersion);
  support::endian::write32le(footer + kReaderVersion, kFormatVersion);
  memcpy(footer + kMagic, kMagicText.data(), kMagicText.size());
  file.append(footer, footer + kFooterSize);
  return file;
}

Expected<ArtifactSections> nested::readArtifact(StringRef bytes) {
  if (bytes.size() < kFooterSize)
    return makeUserError("not an artifact: " + Twine(bytes.size()) +
                         " bytes are fewer than the footer has");
  StringRef content = bytes.drop_back(kFooterSize);
  const char *footer = content.end();
  if (StringRef(footer + kMagic, kMagicText.size()) != kMagicText)
    return makeUserError(
        "not an artifact, or truncated: the magic number at the "
        "end is missing");
  uint32_t reader = support::endian::read32le(footer + kReaderVersion);
  if (reader > kFormatVersion)
    return makeUserError("this artifact needs a reader of format version " +
                         Twine(reader) + ", but this one is of version " +
                         Twine(kFormatVersion));
  uint64_t size = support::endian::read64le(footer + kFileSize);
  if (size != bytes.size())
    return makeUserError("damaged artifact: it has " + Twine(bytes.size()) +
                         " bytes, but was written with " + Twine(size));
  ArtifactSections sections;
  StringRef *all[] = {&sections.payload, &sections.manifest, &sections.program};
  for (size_t i = 0; i < 3; ++i) {
    uint64_t offset = support::endian::read64le(footer + 16 * i);
    uint64_t length = support::endian::read64le(footer + 16 * i + 8);
    if (offset > content.size() || length > content.size() - offset)
      return makeUserError("damaged artifact: section " + Twine(i) +
                           " is not inside of the file");
    *all[i] = content.substr(offset, length);
  }
  uint64_t hash = hashBytes(StringRef(footer, kChecksum), hashBytes(content));
  if (hash != support::endian::read64le(footer + kChecksum))
    return makeUserError("damaged artifact: the checksum is wrong");
  return sections;
}

Error nested::writeFileAtomically(StringRef path, StringRef bytes) {
  if (path == "-") {
    outs() << bytes;
    outs().flush();
    std::error_code code = outs().error();
    outs().clear_error();
    return code ? makeEnvironmentError("cannot write to standard output: " +
                                       code.message())
                : Error::success();
  }
  auto fail = [&](std::error_code code) {
    return makeEnvironmentError("cannot write '" + path +
                                "': " + code.message());
  };
  // A device, a pipe: nothing to rename.
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path)) {
    std::error_code code;
    raw_fd_ostream stream(path, code);
    if (code)
      return fail(code);
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
    return code ? fail(code) : Error::success();
  }
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(
      path + ".tmp%%%%%%", sys::fs::all_read | sys::fs::all_write);
  if (!file)
    return fail(errorToErrorCode(file.takeError()));
  std::error_code code;
  {
    raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    stream << bytes;
    stream.flush();
    code = stream.error();
    stream.clear_error();
  }
  if (code) {
    consumeError(file->discard());
    return fail(code);
  }
  if (Error error = file->keep(path)) {
    code = errorToErrorCode(std::move(error));
    consumeError(file->discard());
    return fail(code);
  }
  return Error::success();
}
