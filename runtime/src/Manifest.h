//===- Manifest.h - Entries of an artifact as data --------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_MANIFEST_H
#define NESTED_RUNTIME_MANIFEST_H

#include "Extent.h"

#include "nested/kernel.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The manifest of docs/Artifact.md section 2 after parsing. All numbers that
// refer to something else are in range, every extent may be used where it
// stands, and what depends on data is known: `readyStep` is the `bind` step
// after which a thing can be computed, notFromData if a plan can.

namespace nested::rt {

constexpr int notFromData = -1;

/// How many rows (or units, or what number) something has.
struct Rows {
  enum class Kind : uint8_t { Const, Total, Chunks, Instances };
  Kind kind = Kind::Const;
  int64_t number = 0; // Const: the value. Chunks: rows of one.
  int table = -1;     // Total, Chunks.
  int path = 0;       // Instances.
  int64_t plus = 0;
  int readyStep = notFromData;
};

struct Path {
  std::vector<std::string> names;
  std::vector<const char *> cNames;
  int parent = -1;    // The path without its last component; -1 for [].
  int component = -1; // The symbol that is the last component.
  int depth = 0;
  int readyStep = notFromData;
};

struct Symbol {
  enum class Source : uint8_t {
    Batch,     // Number of samples of the arguments of a batch.
    Dim,       // A logical dim of an argument.
    Component, // A path component of an argument.
    Data       // A bind step.
  };
  std::string name;
  int path = 0;
  Source source = Source::Batch;
  int arg = -1; // Dim, Component; Batch: an argument of that batch.
  int dim = 0;  // Dim: number of the dim. Component: of the component.
  Extent upper; // Data.
  /// Data: whether `upper` may be evaluated per instance; otherwise its maximum
  /// over the instances of upperPath counts.
  bool upperPerInstance = true;
  int upperPath = 0;
  int bindStep = notFromData;
  int readyStep = notFromData;

  bool fromData() const { return source == Source::Data; }
};

struct Value {
  std::string name;
  nested_kind kind = NESTED_KIND_RAGGED;
  int32_t dtype = NESTED_DTYPE_NONE;
  int64_t elementBytes = 0;
  std::vector<Extent> extents; // Logical order.
  std::vector<int64_t> shape;  // Logical order, -1: ragged.
  std::vector<int32_t> order;
  std::vector<int> raggedDims; // Logical numbers, ascending.
  int path = 0;
  int rowRank = 0;
  int64_t rowBytes = 0;
  bool isMutable = false;
  bool needsPacked = false; // Argument: a step reads it without its base table.
  std::vector<int> inPlaceOf;
  std::optional<Rows> rows;
  std::string where;
  int readyStep = notFromData;
  std::vector<const char *> cExtents;

  int rank() const { return static_cast<int>(extents.size()); }
  bool isRagged() const { return kind == NESTED_KIND_RAGGED; }
  /// Static dims that make up a row, and all storage dims of the array.
  int numRowDims() const { return rank() - rowRank; }
  /// Size of static dim number `i` of a row.
  int64_t rowDim(int i) const { return shape[order[rowRank + i]]; }
};

struct Check {
  enum class Op : uint8_t { Equal, LessEqual, SumEqual };
  Op op = Op::Equal;
  Extent lhs, rhs;
  int path = 0;
  std::string what, where;
};

struct Table {
  enum class Kind : uint8_t { Extent, Offsets, Base, Parent, RowSplits };
  Kind kind = Kind::Extent;
  /// Extent, Offsets: one. RowSplits: `level` + 1.
  std::vector<Extent> extents;
  int path = 0;
  int arg = -1;
  int bound = -1; // Offsets from data: the table whose total bounds it.
  int readyStep = notFromData;
};

struct Buffer {
  enum class Kind : uint8_t { Arg, Result, Temp, Alias };
  Kind kind = Kind::Temp;
  int index = -1; // Arg, Result. Alias: the buffer, itself no alias.
  Rows rows;      // Temp.
  int64_t rowBytes = 0;
  int64_t elementBytes = 1;
  int first = 0, last = 0; // Temp.
};

struct Memref {
  enum class Kind : uint8_t { Buffer, Table, Error };
  Kind kind = Kind::Buffer;
  int index = 0;
};

struct Units {
  enum class Kind : uint8_t { Groups, Chunks, Single };
  Kind kind = Kind::Single;
  int unitTable = -1;
  int rowTable = -1;
  int64_t rows = 1; // Chunks.
};

struct Step {
  enum class Op : uint8_t {
    Launch,
    Bind,
    Check,
    Copy,
    StoreTable,
    StoreScalar,
    Locate,
    Linearize
  };
  Op op = Op::Launch;
  // Launch
  std::string kernel;
  nested_kernel function = nullptr;
  std::vector<Memref> memrefs;
  std::vector<Rows> scalars;
  Units units;
  /// Units of a sample touch that sample only, of what steps write.
  bool perSample = false;
  /// Depends on dense arguments alone: nested_prepare can do it.
  bool prepare = false;
  int64_t tileRows = 1;
  int64_t scratchBytes = 0;
  double flopsPerRow = 0, bytesPerRow = 0;
  std::vector<std::string> errors;
  int numErrorRecords = 0;
  // The others
  Check check;
  int symbol = -1;              // Bind
  int from = -1, to = -1;       // Bind (from), Copy, Store, Locate, Linearize
  int table = -1;               // StoreTable
  Rows scalar;                  // StoreScalar
  std::vector<Extent> extents;  // Locate, Linearize
  int path = 0;                 // Locate, Linearize
  std::vector<int> coordinates; // Locate: outputs. Linearize: inputs.
};

const char *stepName(Step::Op op);

struct Prepared; // Prepared.h

struct Entry {
  std::string name;
  std::vector<Path> paths; // [0] is the empty path.
  std::vector<Symbol> symbols;
  size_t numDeclaredSymbols = 0;
  std::vector<Value> args, results;
  std::vector<Check> checks;
  std::vector<Table> tables;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::shared_ptr<const Prepared> prepared; // Null: nothing to prepare.

  /// The buffer that `index` names, with aliases resolved.
  int realBuffer(int index) const {
    const Buffer &b = buffers[index];
    return b.kind == Buffer::Kind::Alias ? b.index : index;
  }
  const Buffer &buffer(int index) const { return buffers[realBuffer(index)]; }
  bool isPrefix(int prefix, int path) const;
  bool fromData() const;
};

struct Manifest {
  int64_t abiMin = 0, abiMax = 0;
  int64_t services = 0;
  std::string producer, target, triple, cpu;
  std::vector<std::string> features;
  std::deque<Entry> entries;
};

/// Parses and checks a manifest; `name` (a file) starts every message.
Manifest parseManifest(std::string_view text, const std::string &name);

} // namespace nested::rt

#endif // NESTED_RUNTIME_MANIFEST_H
