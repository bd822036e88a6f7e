//===- EntryParserSteps.cpp - Tables, buffers, steps of an entry ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryParser.h"

#include <algorithm>

using namespace nested::rt;

//===----------------------------------------------------------------------===//
// Tables and sizes
//===----------------------------------------------------------------------===//

int EntryParser::parseTable(const Node &n, bool offsets) {
  int index = n.asIndex(entry.tables.size());
  if (offsets && entry.tables[index].kind != Table::Kind::Offsets)
    n.error("table " + std::to_string(index) + " is not an offsets table");
  return index;
}

Rows EntryParser::parseRows(const Node &n) {
  Rows rows;
  n.expectObject();
  rows.plus = n.integerOr("plus", 0, 0, INT64_MAX);
  if (n.has("chunks")) {
    rows.kind = Rows::Kind::Chunks;
    rows.number = n.at("chunks").asInteger(1, INT64_MAX);
    rows.table = parseTable(n.at("total"), /*offsets=*/true);
  } else if (n.has("total")) {
    rows.kind = Rows::Kind::Total;
    rows.table = parseTable(n.at("total"), /*offsets=*/true);
  } else if (n.has("instances")) {
    rows.kind = Rows::Kind::Instances;
    rows.path = internPath(n.at("instances"));
  } else if (n.has("const")) {
    rows.number = n.at("const").asInteger(0, INT64_MAX);
  } else {
    n.error("expected 'total', 'chunks', 'instances' or 'const'");
  }
  return rows;
}

void EntryParser::parseTables() {
  node.forEach("tables", [&](const Node &n) {
    Table table;
    Node kindNode = n.at("kind");
    const std::string &kind = kindNode.asString();
    if (kind == "extent" || kind == "offsets") {
      table.kind =
          kind == "extent" ? Table::Kind::Extent : Table::Kind::Offsets;
      table.path = internPath(n.at("path"));
      table.extents.push_back(parseExtentAt(n.at("extent"), table.path));
      if (kind == "offsets" && n.has("bound"))
        table.bound = parseTable(n.at("bound"), /*offsets=*/true);
    } else if (kind == "base") {
      table.kind = Table::Kind::Base;
      Node arg = n.at("arg");
      table.arg = arg.asIndex(entry.args.size());
      if (!entry.args[table.arg].isRagged())
        arg.error("a dense argument has no base table");
      table.path = entry.args[table.arg].path;
    } else if (kind == "parent") {
      table.kind = Table::Kind::Parent;
      Node path = n.at("path");
      table.path = internPath(path);
      if (entry.paths[table.path].depth < 2)
        path.error("expected at least two components");
    } else if (kind == "row_splits") {
      table.kind = Table::Kind::RowSplits;
      table.path = internPath(n.at("path"));
      table.extents = parseExtents(n.at("extents"), table.path);
      int level = n.at("level").asIndex(table.extents.size());
      table.extents.resize(static_cast<size_t>(level) + 1);
    } else {
      kindNode.error("unknown kind '" + kind + "'");
    }
    entry.tables.push_back(std::move(table));
  });
}

void EntryParser::parseBuffers() {
  node.forEach("buffers", [&](const Node &n) {
    Buffer buffer;
    Node kindNode = n.at("kind");
    const std::string &kind = kindNode.asString();
    if (kind == "arg" || kind == "result") {
      const auto &values = kind == "arg" ? entry.args : entry.results;
      buffer.kind = kind == "arg" ? Buffer::Kind::Arg : Buffer::Kind::Result;
      buffer.index = n.at("index").asIndex(values.size());
      buffer.rowBytes = values[buffer.index].rowBytes;
      buffer.elementBytes = values[buffer.index].elementBytes;
    } else if (kind == "temp") {
      buffer.kind = Buffer::Kind::Temp;
      buffer.rows = parseRows(n.at("rows"));
      buffer.rowBytes = n.at("row_bytes").asInteger(0, INT64_MAX);
      buffer.first = static_cast<int>(n.at("first").asInteger(0, INT32_MAX));
      buffer.last =
          static_cast<int>(n.at("last").asInteger(buffer.first, INT32_MAX));
    } else if (kind == "alias") {
      int other = parseBuffer(n.at("of")); // One of those before it.
      buffer = entry.buffer(other);
      buffer.index = entry.realBuffer(other);
      buffer.kind = Buffer::Kind::Alias;
    } else {
      kindNode.error("unknown kind '" + kind + "'");
    }
    entry.buffers.push_back(std::move(buffer));
  });
}

int EntryParser::parseBuffer(const Node &n) {
  return n.asIndex(entry.buffers.size());
}

int EntryParser::parseIntegerBuffer(const Node &n) {
  int index = parseBuffer(n);
  const Buffer &buffer = entry.buffer(index);
  bool integers = buffer.rowBytes == sizeof(int64_t);
  if (buffer.kind == Buffer::Kind::Arg)
    integers &= entry.args[buffer.index].dtype == NESTED_I64;
  if (buffer.kind == Buffer::Kind::Result)
    integers &= entry.results[buffer.index].dtype == NESTED_I64;
  if (!integers)
    n.error("the rows of buffer " + std::to_string(index) +
            " are not one i64 each");
  return index;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void EntryParser::parseSteps() {
  node.forEach("steps", [&](const Node &n) {
    Step step;
    Node opNode = n.at("op");
    const std::string &op = opNode.asString();
    if (op == "launch") {
      parseLaunch(n, step);
    } else if (op == "bind") {
      parseBind(n, step, static_cast<int>(entry.steps.size()));
    } else if (op == "check") {
      step.op = Step::Op::Check;
      step.check = parseCheck(n.at("check"));
    } else if (op == "copy") {
      step.op = Step::Op::Copy;
      step.from = parseBuffer(n.at("from"));
      step.to = parseBuffer(n.at("to"));
      if (entry.buffers[step.from].rowBytes != entry.buffers[step.to].rowBytes)
        n.error("the buffers have rows of different size");
    } else if (op == "store_table") {
      parseStore(n, step);
    } else if (op == "locate" || op == "linearize") {
      step.op = op == "locate" ? Step::Op::Locate : Step::Op::Linearize;
      parseCoordinates(n, step);
    } else {
      opNode.error("unknown step '" + op + "'");
    }
    entry.steps.push_back(std::move(step));
  });
  computeReadiness();
}

void EntryParser::parseLaunch(const Node &n, Step &step) {
  step.op = Step::Op::Launch;
  step.kernel = n.at("kernel").asString();
  n.at("memrefs").forEach([&](const Node &m) {
    Memref memref;
    if (m.has("buffer")) {
      memref.index = parseBuffer(m.at("buffer"));
    } else if (m.has("table")) {
      memref.kind = Memref::Kind::Table;
      memref.index = parseTable(m.at("table"), /*offsets=*/false);
    } else if (m.has("error")) {
      memref.kind = Memref::Kind::Error;
      memref.index = static_cast<int>(m.at("error").asInteger(0, 63));
      step.numErrorRecords = std::max(step.numErrorRecords, memref.index + 1);
    } else {
      m.error("expected 'buffer', 'table' or 'error'");
    }
    step.memrefs.push_back(memref);
  });
  n.forEach("scalars", [&](const Node &scalar) {
    step.scalars.push_back(parseRows(scalar));
  });
  parseUnits(n.at("units"), step);
  step.perSample = n.boolOr("per_sample", false);
  if (step.perSample &&
      (step.units.kind != Units::Kind::Groups ||
       entry.paths[entry.tables[step.units.rowTable].path].depth != 1))
    n.error("a launch that is per sample needs groups over a path of one "
            "component");
  step.prepare = n.boolOr("prepare", false);
  step.tileRows = n.integerOr("tile_rows", 1, 1, INT32_MAX);
  step.scratchBytes = n.integerOr("scratch_bytes", 0, 0, int64_t(1) << 40);
  step.flopsPerRow = n.numberOr("flops_per_row", 0);
  step.bytesPerRow = n.numberOr("bytes_per_row", 0);
  if (step.flopsPerRow < 0 || step.bytesPerRow < 0)
    n.error("a cost is negative");
  if (n.has("errors"))
    step.errors = n.at("errors").asStrings();
}

void EntryParser::parseUnits(const Node &n, Step &step) {
  Node kindNode = n.at("kind");
  const std::string &kind = kindNode.asString();
  Units &units = step.units;
  if (kind == "single") {
    if (n.has("row_table"))
      units.rowTable = parseTable(n.at("row_table"), /*offsets=*/true);
    return;
  }
  units.rowTable = parseTable(n.at("row_table"), /*offsets=*/true);
  if (kind == "chunks") {
    units.kind = Units::Kind::Chunks;
    units.rows = n.at("rows").asInteger(1, INT64_MAX);
  } else if (kind == "groups") {
    units.kind = Units::Kind::Groups;
    if (n.has("unit_table")) {
      Node unitTable = n.at("unit_table");
      units.unitTable = parseTable(unitTable, /*offsets=*/true);
      if (entry.tables[units.unitTable].path !=
          entry.tables[units.rowTable].path)
        unitTable.error("the table has another path than the row table");
    }
  } else {
    kindNode.error("unknown kind '" + kind + "'");
  }
}

void EntryParser::parseBind(const Node &n, Step &step, int index) {
  step.op = Step::Op::Bind;
  Node symbolNode = n.at("symbol");
  step.symbol = findSymbol(symbolNode.asString());
  if (step.symbol < 0 || !entry.symbols[step.symbol].fromData())
    symbolNode.error("'" + symbolNode.asString() +
                     "' is not a symbol from data");
  Symbol &symbol = entry.symbols[step.symbol];
  if (symbol.bindStep != notFromData)
    symbolNode.error("'" + symbol.name + "' is bound twice");
  symbol.bindStep = index;
  Node buffer = n.at("buffer");
  step.from = parseIntegerBuffer(buffer);
}

void EntryParser::parseStore(const Node &n, Step &step) {
  if (n.has("table")) {
    step.op = Step::Op::StoreTable;
    step.table = parseTable(n.at("table"), /*offsets=*/false);
  } else {
    step.op = Step::Op::StoreScalar;
    step.scalar = parseRows(n.at("scalar"));
  }
  step.to = parseIntegerBuffer(n.at("to"));
}

void EntryParser::parseCoordinates(const Node &n, Step &step) {
  step.path = internPath(n.at("path"));
  step.extents = parseExtents(n.at("extents"), step.path);
  bool locate = step.op == Step::Op::Locate;
  if (locate)
    step.from = parseIntegerBuffer(n.at("rows"));
  else
    step.to = parseIntegerBuffer(n.at("to"));
  Node list = n.at(locate ? "to" : "from");
  if (list.size() != step.extents.size() + 1)
    list.error("expected a buffer for the instance and one for each extent");
  list.forEach([&](const Node &buffer) {
    step.coordinates.push_back(parseIntegerBuffer(buffer));
  });
}

//===----------------------------------------------------------------------===//
// What depends on which bind step
//===----------------------------------------------------------------------===//

int EntryParser::readyStep(const Extent &extent) const {
  int ready = notFromData;
  for (int s : extent.symbols())
    ready = std::max(ready, entry.symbols[s].readyStep);
  return ready;
}

int EntryParser::readyStep(const Check &check) const {
  return std::max({readyStep(check.lhs), readyStep(check.rhs),
                   entry.paths[check.path].readyStep});
}

void EntryParser::checkReady(const Node &n, int ready, int step,
                             const char *what) {
  if (ready >= step)
    n.error(std::string(what) + " depends on data that step " +
            std::to_string(ready) + " binds");
}

/// Steps that read numbers do not look at base tables.
static void markPacked(Entry &entry, const Step &step) {
  auto mark = [&](int b) {
    const Buffer &buffer = entry.buffer(b);
    if (buffer.kind == Buffer::Kind::Arg)
      entry.args[buffer.index].needsPacked = true;
  };
  if (step.op == Step::Op::Bind || step.op == Step::Op::Locate)
    mark(step.from);
  if (step.op == Step::Op::Linearize)
    for (int b : step.coordinates)
      mark(b);
}

void EntryParser::computeReadiness() {
  checkBindings(); // Again: batches that only results have came up since.
  for (const Symbol &symbol : entry.symbols)
    if (symbol.fromData() && symbol.bindStep == notFromData)
      node.error("no step binds symbol '" + symbol.name + "'");
  // A path is interned after its parent, and its component has the parent's
  // path.
  for (Path &path : entry.paths) {
    for (const std::string &name : path.names)
      path.cNames.push_back(name.c_str());
    if (path.parent >= 0)
      path.readyStep = std::max(entry.paths[path.parent].readyStep,
                                entry.symbols[path.component].bindStep);
  }
  for (Symbol &symbol : entry.symbols)
    symbol.readyStep =
        std::max(symbol.bindStep, entry.paths[symbol.path].readyStep);
  for (Table &table : entry.tables) {
    table.readyStep = entry.paths[table.path].readyStep;
    for (const Extent &extent : table.extents)
      table.readyStep = std::max(table.readyStep, readyStep(extent));
  }
  auto finish = [&](Rows &rows) {
    if (rows.table >= 0)
      rows.readyStep = entry.tables[rows.table].readyStep;
    else if (rows.kind == Rows::Kind::Instances)
      rows.readyStep = entry.paths[rows.path].readyStep;
  };
  for (Value &result : entry.results) {
    result.readyStep = entry.paths[result.path].readyStep;
    for (const Extent &extent : result.extents)
      result.readyStep = std::max(result.readyStep, readyStep(extent));
    if (result.rows) {
      finish(*result.rows);
      result.readyStep = std::max(result.readyStep, result.rows->readyStep);
    }
  }
  for (Buffer &buffer : entry.buffers)
    finish(buffer.rows);
  for (const Check &check : entry.checks)
    checkReady(node, readyStep(check), notFromData + 1, "a check");
  for (size_t i = 0; i < entry.steps.size(); ++i) {
    Step &step = entry.steps[i];
    for (Rows &scalar : step.scalars)
      finish(scalar);
    finish(step.scalar);
    markPacked(entry, step);
    Node list = node.at("steps");
    checkStep(list.at(i), step, static_cast<int>(i));
  }
}

void EntryParser::checkStep(const Node &n, const Step &step, int index) {
  auto table = [&](int t) {
    if (t >= 0)
      checkReady(n, entry.tables[t].readyStep, index, "a table");
  };
  auto rows = [&](const Rows &r) {
    checkReady(n, r.readyStep, index, "a size");
  };
  auto buffer = [&](int b, bool written) {
    if (b < 0)
      return;
    const Buffer &real = entry.buffer(b);
    if (real.kind == Buffer::Kind::Temp) {
      rows(real.rows);
      if (index < real.first || index > real.last)
        n.error("temp buffer " + std::to_string(b) +
                " is used outside its lifetime");
    } else if (real.kind == Buffer::Kind::Result) {
      checkReady(n, entry.results[real.index].readyStep, index, "a result");
    } else if (written && !entry.args[real.index].isMutable) {
      n.error("writes argument '" + entry.args[real.index].name +
              "', which is not mutable");
    }
  };
  for (const Memref &memref : step.memrefs) {
    if (memref.kind == Memref::Kind::Buffer)
      buffer(memref.index, /*written=*/false); // The kernel does not say.
    else if (memref.kind == Memref::Kind::Table)
      table(memref.index);
  }
  for (const Rows &scalar : step.scalars)
    rows(scalar);
  rows(step.scalar);
  table(step.units.unitTable);
  table(step.units.rowTable);
  table(step.table);
  buffer(step.from, false);
  buffer(step.to, true);
  for (int b : step.coordinates)
    buffer(b, step.op == Step::Op::Locate);
  if (step.op == Step::Op::Check)
    checkReady(n, readyStep(step.check), index, "a check");
  if (step.op == Step::Op::Bind)
    checkReady(n, entry.paths[entry.symbols[step.symbol].path].readyStep, index,
               "the path of the symbol");
  for (const Extent &extent : step.extents)
    checkReady(n, readyStep(extent), index, "an extent");
  checkReady(n, entry.paths[step.path].readyStep, index, "a path");
  if (step.prepare)
    checkPrepare(n, step);
}

/// A launch to prepare knows neither lengths nor samples.
void EntryParser::checkPrepare(const Node &n, const Step &step) {
  auto table = [&](int t) {
    if (t < 0)
      return;
    const Table &used = entry.tables[t];
    bool isConstant =
        used.path == 0 && !used.extents.empty() &&
        std::all_of(used.extents.begin(), used.extents.end(),
                    [](const Extent &e) { return e.isConstant(); });
    if (!isConstant)
      n.error("a launch to prepare uses table " + std::to_string(t) +
              ", which depends on lengths");
  };
  table(step.units.unitTable);
  table(step.units.rowTable);
  for (const Rows &scalar : step.scalars)
    table(scalar.table);
  for (const Memref &memref : step.memrefs) {
    if (memref.kind == Memref::Kind::Table)
      table(memref.index);
    if (memref.kind != Memref::Kind::Buffer)
      continue;
    const Buffer &buffer = entry.buffer(memref.index);
    bool isArg = buffer.kind == Buffer::Kind::Arg;
    bool isTemp = buffer.kind == Buffer::Kind::Temp &&
                  buffer.rows.kind == Rows::Kind::Const;
    if (isArg ? entry.args[buffer.index].isRagged() ||
                    entry.args[buffer.index].isMutable
              : !isTemp || !entry.steps[buffer.first].prepare)
      n.error("a launch to prepare uses buffer " +
              std::to_string(memref.index) +
              ", which is neither a dense argument that stays as it is nor a "
              "temp of constant size that such launches make");
  }
}
