//===- Prepared.cpp - What calls share and do once ------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prepared.h"

#include "Artifact.h"
#include "Support.h"

#include <algorithm>
#include <cstring>

using namespace nested::rt;

static long long ll(int64_t value) { return static_cast<long long>(value); }

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

namespace {
struct Header {
  char magic[8];
  uint64_t artifact; // Its checksum.
  int64_t entry;     // Its number.
  int64_t bytes;     // Of the block.
  uint64_t reserved[4];
};
static_assert(sizeof(Header) == alignment, "what follows is aligned");

constexpr char magic[] = "NESTEDPB";
} // namespace

static Header makeHeader(const nested_artifact_t &artifact,
                         const Entry &entry) {
  Header header = {};
  std::memcpy(header.magic, magic, sizeof(header.magic));
  header.artifact = artifact.checksum;
  while (&artifact.manifest.entries[header.entry] != &entry)
    ++header.entry;
  header.bytes = entry.prepared->bytes;
  return header;
}

void nested::rt::sealPrepared(void *block, const nested_artifact_t &artifact,
                              const Entry &entry) {
  Header header = makeHeader(artifact, entry);
  std::memcpy(block, &header, sizeof(header));
}

void nested::rt::breakPrepared(void *block) {
  std::memset(block, 0, sizeof(Header));
}

void nested::rt::checkBlock(const void *block, int64_t bytes,
                            const Entry &entry, const std::string &name) {
  int64_t needed = entry.prepared->bytes;
  if (!block)
    fail(NESTED_INVALID_ARGUMENT, "%s: the prepared block is null",
         name.c_str());
  if (reinterpret_cast<uintptr_t>(block) % alignment)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: the prepared block (%p) is not aligned to %lld bytes",
         name.c_str(), block, ll(alignment));
  if (bytes < needed)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: the prepared block has %lld bytes, but %lld are needed",
         name.c_str(), ll(bytes), ll(needed));
}

bool nested::rt::isPrepared(const void *block, int64_t bytes,
                            const nested_artifact_t &artifact,
                            const Entry &entry) {
  if (!block || reinterpret_cast<uintptr_t>(block) % alignment ||
      bytes < entry.prepared->bytes)
    return false;
  Header expected = makeHeader(artifact, entry);
  return std::memcmp(block, &expected, sizeof(expected)) == 0;
}

void nested::rt::failPrepared(const void *block, int64_t bytes,
                              const nested_artifact_t &artifact,
                              const Entry &entry, const std::string &name) {
  checkBlock(block, bytes, entry, name);
  Header given;
  std::memcpy(&given, block, sizeof(given));
  if (std::memcmp(given.magic, magic, sizeof(given.magic)) != 0)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: is flagged as prepared, but nested_prepare has not filled its "
         "block",
         name.c_str());
  if (given.artifact != artifact.checksum)
    fail(NESTED_INVALID_ARGUMENT,
         "%s: the block was prepared for another artifact; prepare it again",
         name.c_str());
  fail(NESTED_INVALID_ARGUMENT,
       "%s: the block was prepared for entry %lld of the artifact, which is "
       "another",
       name.c_str(), ll(given.entry));
}

//===----------------------------------------------------------------------===//
// What there is to prepare
//===----------------------------------------------------------------------===//

bool Prepared::hasArg(int index) const {
  return std::binary_search(args.begin(), args.end(), index);
}

/// Calls visit for the number of each buffer that a step uses.
template <typename Function>
static void forBuffers(const Entry &entry, const Step &step,
                       const Function &visit) {
  for (const Memref &memref : step.memrefs)
    if (memref.kind == Memref::Kind::Buffer)
      visit(entry.realBuffer(memref.index));
  for (int b : {step.from, step.to})
    if (b >= 0)
      visit(entry.realBuffer(b));
  for (int b : step.coordinates)
    visit(entry.realBuffer(b));
}

namespace {
/// Copies what the marked steps of an entry need into its maker.
class MakerBuilder {
public:
  MakerBuilder(const Entry &entry, Prepared &prepared)
      : entry(entry), prepared(prepared), maker(prepared.maker),
        isKept(entry.buffers.size()), tables(entry.tables.size(), -1),
        buffers(entry.buffers.size(), -1) {}

  void run() {
    findArgs();
    prepared.places.assign(entry.buffers.size(), -1);
    maker.name = entry.name;
    maker.paths.push_back(entry.paths[0]);
    addResult(1, sizeof(Header)); // Belongs to nobody until it is sealed.
    for (int arg : prepared.args)
      maker.args.push_back(entry.args[arg]);
    for (const Step &step : entry.steps)
      if (step.prepare)
        addStep(step);
    for (size_t b = 0; b < entry.buffers.size(); ++b)
      if (isKept[b] && entry.buffers[b].kind == Buffer::Kind::Arg &&
          prepared.hasArg(entry.buffers[b].index))
        addCopy(static_cast<int>(b));
  }

private:
  void findArgs() {
    prepared.isMade.resize(entry.buffers.size());
    for (const Step &step : entry.steps)
      forBuffers(entry, step, [&](int b) {
        const Buffer &buffer = entry.buffers[b];
        if (!step.prepare)
          isKept[b] = true;
        else if (buffer.kind == Buffer::Kind::Arg)
          prepared.args.push_back(buffer.index);
        else
          prepared.isMade[b] = true;
      });
    std::vector<int> &args = prepared.args;
    std::sort(args.begin(), args.end());
    args.erase(std::unique(args.begin(), args.end()), args.end());
  }

  void addStep(const Step &old) {
    Step step = old;
    for (Memref &memref : step.memrefs)
      if (memref.kind == Memref::Kind::Buffer)
        memref.index = bufferOf(entry.realBuffer(memref.index));
      else if (memref.kind == Memref::Kind::Table)
        memref.index = tableOf(memref.index);
    for (Rows &scalar : step.scalars)
      scalar.table = tableOf(scalar.table);
    step.units.unitTable = tableOf(step.units.unitTable);
    step.units.rowTable = tableOf(step.units.rowTable);
    maker.steps.push_back(std::move(step));
  }

  /// An argument that other steps read as it is.
  void addCopy(int argBuffer) {
    const Buffer &buffer = entry.buffers[argBuffer];
    Step step;
    step.op = Step::Op::Copy;
    step.from = bufferOf(argBuffer);
    prepared.places[argBuffer] = prepared.bytes;
    step.to = addResult(1, buffer.rowBytes);
    maker.steps.push_back(std::move(step));
  }

  int tableOf(int old) {
    if (old < 0)
      return old;
    if (tables[old] < 0) {
      tables[old] = static_cast<int>(maker.tables.size());
      maker.tables.push_back(entry.tables[old]);
    }
    return tables[old];
  }

  int bufferOf(int old) {
    Buffer buffer = entry.buffers[old];
    int &made = buffers[old];
    auto step = static_cast<int>(maker.steps.size());
    if (made < 0) {
      bool isTemp = buffer.kind == Buffer::Kind::Temp;
      buffer.first = step;
      if (!isTemp)
        buffer.index = static_cast<int>(std::lower_bound(prepared.args.begin(),
                                                         prepared.args.end(),
                                                         buffer.index) -
                                        prepared.args.begin());
      if (isTemp && isKept[old]) {
        prepared.places[old] = prepared.bytes;
        int64_t rows =
            addSizes(buffer.rows.number, buffer.rows.plus, "a number of rows");
        made = addResult(rows, buffer.rowBytes);
      } else {
        made = addBuffer(buffer);
      }
    }
    maker.buffers[made].last = step;
    return made;
  }

  int addBuffer(const Buffer &buffer) {
    maker.buffers.push_back(buffer);
    return static_cast<int>(maker.buffers.size()) - 1;
  }

  /// The next place in the block, as a result of bytes.
  int addResult(int64_t rows, int64_t rowBytes) {
    const char *what = "the size of the prepared block";
    Value value;
    value.name = "prepared";
    value.kind = NESTED_KIND_DENSE;
    value.dtype = NESTED_I8;
    value.elementBytes = 1;
    value.shape = {rows, rowBytes};
    for (int64_t size : value.shape)
      value.extents.push_back(Extent::constant(size));
    value.order = {0, 1};
    value.rowBytes = mulSizes(rows, rowBytes, what);
    Buffer buffer;
    buffer.kind = Buffer::Kind::Result;
    buffer.index = static_cast<int>(maker.results.size());
    buffer.rowBytes = value.rowBytes;
    prepared.resultPlaces.push_back(prepared.bytes);
    prepared.bytes = addSizes(prepared.bytes, alignSize(value.rowBytes), what);
    maker.results.push_back(std::move(value));
    return addBuffer(buffer);
  }

  const Entry &entry;
  Prepared &prepared;
  Entry &maker;
  std::vector<bool> isKept;         // Buffers that steps without a mark use.
  std::vector<int> tables, buffers; // Numbers in the maker.
};
} // namespace

std::shared_ptr<const Prepared> nested::rt::findPrepared(const Entry &entry) {
  if (std::none_of(entry.steps.begin(), entry.steps.end(),
                   [](const Step &step) { return step.prepare; }))
    return nullptr;
  auto prepared = std::make_shared<Prepared>();
  MakerBuilder(entry, *prepared).run();
  return prepared;
}
