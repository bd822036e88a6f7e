//===- Artifact.cpp - Checking and loading an artifact --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifact.h"
#include "Cpu.h"
#include "Prepared.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nested::rt;

static_assert(sizeof(void *) == 8, "sizes and tables are 64-bit");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the container is little endian");

//===----------------------------------------------------------------------===//
// Container
//===----------------------------------------------------------------------===//

namespace {
struct Section {
  uint64_t offset, size;
};

/// The last 96 bytes of the file, as docs/Artifact.md lays them out.
struct Footer {
  Section payload, manifest, program;
  uint64_t fileSize;
  uint64_t checksum;
  uint32_t formatVersion;
  uint32_t readerVersion;
  uint8_t reserved[16];
  char magic[8];
};
static_assert(sizeof(Footer) == 96, "the footer has 96 bytes");

constexpr uint32_t supportedFormat = 1;
constexpr size_t checkedFooterBytes = 56;
} // namespace

static uint64_t fnv1a(std::string_view bytes, uint64_t hash) {
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// Checks everything about the container and returns its footer.
static Footer checkContainer(std::string_view bytes, const char *name) {
  Footer footer;
  if (bytes.size() < sizeof(Footer))
    fail(NESTED_INVALID_ARTIFACT,
         "%s: not an artifact: it has %zu bytes, an artifact at least %zu",
         name, bytes.size(), sizeof(Footer));
  std::memcpy(&footer, bytes.data() + bytes.size() - sizeof(Footer),
              sizeof(Footer));
  if (std::memcmp(footer.magic, "NESTEDAR", sizeof(footer.magic)) != 0)
    fail(NESTED_INVALID_ARTIFACT,
         "%s: not an artifact, or cut off: it does not end with NESTEDAR",
         name);
  if (footer.readerVersion > supportedFormat)
    fail(NESTED_INVALID_ARTIFACT,
         "%s: format version %u needs a runtime that reads version %u, this "
         "one (%d.%d.%d) reads up to version %u; use a newer runtime",
         name, footer.formatVersion, footer.readerVersion, NESTED_VERSION_MAJOR,
         NESTED_VERSION_MINOR, NESTED_VERSION_PATCH, supportedFormat);
  if (footer.fileSize != bytes.size())
    fail(NESTED_INVALID_ARTIFACT,
         "%s: truncated or extended: it has %zu bytes, %llu were written", name,
         bytes.size(), static_cast<unsigned long long>(footer.fileSize));
  uint64_t end = 0;
  auto checkSection = [&](const char *what, const Section &section) {
    uint64_t limit = bytes.size() - sizeof(Footer);
    if (section.offset < end || section.offset > limit ||
        section.size > limit - section.offset)
      fail(NESTED_INVALID_ARTIFACT,
           "%s: damaged: the %s (%llu bytes at %llu) does not lie between %llu "
           "and %llu",
           name, what, static_cast<unsigned long long>(section.size),
           static_cast<unsigned long long>(section.offset),
           static_cast<unsigned long long>(end),
           static_cast<unsigned long long>(limit));
    end = section.offset + section.size;
  };
  if (footer.payload.offset != 0)
    fail(NESTED_INVALID_ARTIFACT, "%s: damaged: the payload is not at 0", name);
  checkSection("payload", footer.payload);
  checkSection("manifest", footer.manifest);
  if (footer.program.size)
    checkSection("program", footer.program);
  uint64_t hash =
      fnv1a(bytes.substr(0, bytes.size() - sizeof(Footer)), 0xcbf29ce484222325);
  hash = fnv1a(bytes.substr(bytes.size() - sizeof(Footer), checkedFooterBytes),
               hash);
  if (hash != footer.checksum)
    fail(NESTED_INVALID_ARTIFACT,
         "%s: damaged: its checksum is %016llx, %016llx was written", name,
         static_cast<unsigned long long>(hash),
         static_cast<unsigned long long>(footer.checksum));
  // The checksum ends in front of the versions. Later ones may use what is
  // reserved, without older readers having to know.
  bool hasReserved =
      std::any_of(std::begin(footer.reserved), std::end(footer.reserved),
                  [](uint8_t byte) { return byte != 0; });
  if (footer.formatVersion < footer.readerVersion ||
      footer.readerVersion == 0 ||
      (footer.formatVersion == supportedFormat && hasReserved))
    fail(NESTED_INVALID_ARTIFACT,
         "%s: damaged: the versions in its footer, or what is reserved behind "
         "them, are not what a compiler writes",
         name);
  return footer;
}

static std::string_view sectionText(std::string_view bytes,
                                    const Section &section) {
  return section.size ? bytes.substr(section.offset, section.size)
                      : std::string_view();
}

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

static void checkMachine(const Manifest &manifest, const char *name) {
  if (manifest.target != "cpu" && manifest.target.rfind("cpu:", 0) != 0)
    fail(NESTED_UNSUPPORTED,
         "%s: compiled for target '%s'; this runtime runs target 'cpu'", name,
         manifest.target.c_str());
  std::string_view triple = manifest.triple;
  std::string_view arch = triple.substr(0, triple.find('-'));
  std::string host(hostArch());
  if (canonicalArch(arch) != host ||
      triple.find("linux") == std::string_view::npos)
    fail(NESTED_INVALID_ARTIFACT,
         "%s: compiled for %s (processor %s), this machine is %s linux; "
         "compile it for this machine",
         name, manifest.triple.c_str(), manifest.cpu.c_str(), host.c_str());
  std::string missing;
  for (const std::string &feature : manifest.features) {
    std::string_view plain = feature;
    if (!plain.empty() && plain[0] == '-')
      continue; // Not used.
    if (!plain.empty() && plain[0] == '+')
      plain.remove_prefix(1);
    FeatureState state = queryCpuFeature(plain);
    if (state == FeatureState::Unknown)
      fail(NESTED_UNSUPPORTED,
           "%s: uses the CPU feature '%s', which this runtime (%d.%d.%d) does "
           "not know",
           name, feature.c_str(), NESTED_VERSION_MAJOR, NESTED_VERSION_MINOR,
           NESTED_VERSION_PATCH);
    if (state == FeatureState::Absent)
      missing += (missing.empty() ? "" : ", ") + std::string(plain);
  }
  if (!missing.empty())
    fail(NESTED_INVALID_ARTIFACT,
         "%s: compiled for processor %s, this machine lacks %s; compile it "
         "for this machine or for an older processor",
         name, manifest.cpu.c_str(), missing.c_str());
  if (manifest.services > numServices())
    fail(NESTED_INVALID_ARTIFACT,
         "%s: needs %lld services, this runtime (%d.%d.%d) has %lld; use a "
         "newer runtime",
         name, static_cast<long long>(manifest.services), NESTED_VERSION_MAJOR,
         NESTED_VERSION_MINOR, NESTED_VERSION_PATCH,
         static_cast<long long>(numServices()));
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static void writeAll(int file, std::string_view bytes, const char *name) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      fail(NESTED_IO_ERROR, "%s: cannot copy the code: %s", name,
           std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void nested_artifact_t::load(std::string_view payload) {
  loaded = true;
  if (!payload.empty()) {
    // A private copy: what was checked is what is executed, even if the file
    // is replaced meanwhile. The file stays open as long as the library: the
    // dynamic linker knows it by the name with its number, and would take
    // another file with the same number for it.
    file = memfd_create("nested-artifact", MFD_CLOEXEC);
    if (file < 0)
      fail(NESTED_IO_ERROR, "%s: cannot make a file in memory: %s",
           name.c_str(), std::strerror(errno));
    writeAll(file, payload, name.c_str());
    std::string path = "/proc/self/fd/" + std::to_string(file);
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *reason = dlerror();
      fail(NESTED_INVALID_ARTIFACT, "%s: cannot load the code: %s",
           name.c_str(), reason ? reason : "unknown reason");
    }
    if (void *slot = dlsym(library, "nested_services_slot"))
      *static_cast<const nested_services **>(slot) = &services();
  }
  for (Entry &entry : manifest.entries)
    for (Step &step : entry.steps) {
      if (step.op != Step::Op::Launch)
        continue;
      void *symbol = library ? dlsym(library, step.kernel.c_str()) : nullptr;
      if (!symbol)
        fail(NESTED_INVALID_ARTIFACT, "%s: entry '%s': there is no kernel '%s'",
             name.c_str(), entry.name.c_str(), step.kernel.c_str());
      step.function = reinterpret_cast<nested_kernel>(symbol);
    }
}

nested_artifact_t::~nested_artifact_t() {
  if (library)
    dlclose(library);
  if (file >= 0)
    close(file);
}

void nested_artifact_t::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

nested_artifact_t *nested::rt::openArtifact(std::string_view bytes,
                                            const std::string &name,
                                            uint32_t flags) {
  if (flags & ~static_cast<uint32_t>(NESTED_OPEN_INSPECT))
    fail(NESTED_INVALID_ARGUMENT, "%s: unknown flags 0x%x", name.c_str(),
         flags);
  Footer footer = checkContainer(bytes, name.c_str());
  auto artifact = std::make_unique<nested_artifact_t>();
  artifact->name = name;
  artifact->checksum = footer.checksum;
  artifact->manifestText = sectionText(bytes, footer.manifest);
  artifact->program = sectionText(bytes, footer.program);
  artifact->manifest = parseManifest(artifact->manifestText, name);
  if (!(flags & NESTED_OPEN_INSPECT)) {
    checkMachine(artifact->manifest, name.c_str());
    artifact->load(sectionText(bytes, footer.payload));
  }
  for (Entry &entry : artifact->manifest.entries) {
    entry.prepared = findPrepared(entry);
    artifact->entries.push_back({artifact.get(), &entry});
  }
  return artifact.release();
}

std::string nested::rt::readFile(const std::string &path) {
  struct Closer {
    int file;
    ~Closer() {
      if (file >= 0)
        close(file);
    }
  } closer{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat info;
  if (closer.file < 0 || fstat(closer.file, &info) != 0)
    fail(NESTED_IO_ERROR, "%s: cannot open: %s", path.c_str(),
         std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    fail(NESTED_IO_ERROR, "%s: not a regular file", path.c_str());
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = read(closer.file, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail(NESTED_IO_ERROR, "%s: cannot read: %s", path.c_str(),
           std::strerror(errno));
    if (got == 0)
      break; // Became shorter: the checks will say so.
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}
