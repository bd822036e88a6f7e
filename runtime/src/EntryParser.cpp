//===- EntryParser.cpp - Signature of an entry ----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryParser.h"

#include <algorithm>

using namespace nested::rt;

void EntryParser::parse() {
  entry.name = node.at("name").asString();
  entry.paths.emplace_back(); // The empty path.
  parseSymbolNames();
  parseValues("args", entry.args, /*results=*/false);
  parseSymbols();
  checkBindings();
  parseValues("results", entry.results, /*results=*/true);
  node.forEach("checks",
               [&](const Node &n) { entry.checks.push_back(parseCheck(n)); });
  parseTables();
  parseResultRows();
  parseBuffers();
  parseSteps();
}

//===----------------------------------------------------------------------===//
// Symbols and paths
//===----------------------------------------------------------------------===//

int EntryParser::findSymbol(std::string_view name) const {
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    if (entry.symbols[i].name == name)
      return static_cast<int>(i);
  return -1;
}

void EntryParser::parseSymbolNames() {
  node.forEach("symbols", [&](const Node &n) {
    Symbol symbol;
    symbol.name = n.at("name").asString();
    if (symbol.name.empty() || findSymbol(symbol.name) >= 0)
      n.error("symbol '" + symbol.name + "' is declared twice");
    std::vector<std::string> names = n.at("path").asStrings();
    if (n.has("arg")) {
      symbol.arg = static_cast<int>(n.at("arg").asInteger(0, INT32_MAX));
      bool component = n.has("component");
      symbol.source =
          component ? Symbol::Source::Component : Symbol::Source::Dim;
      symbol.dim = static_cast<int>(
          n.at(component ? "component" : "dim").asInteger(0, INT32_MAX));
    } else {
      symbol.source = Symbol::Source::Data;
      n.at("upper");
    }
    entry.symbols.push_back(std::move(symbol));
    symbolPaths.push_back(std::move(names));
  });
  entry.numDeclaredSymbols = entry.symbols.size();
}

int EntryParser::internPath(const Node &n) {
  return internPath(n, n.asStrings());
}

int EntryParser::internPath(const Node &n,
                            const std::vector<std::string> &names) {
  for (size_t i = 0; i < entry.paths.size(); ++i)
    if (entry.paths[i].names == names)
      return static_cast<int>(i);
  if (names.size() > 8)
    n.error("a path has at most 8 components");
  std::vector<std::string> prefix(names.begin(), names.end() - 1);
  Path path;
  path.parent = internPath(n, prefix);
  path.names = names;
  path.depth = static_cast<int>(names.size());
  path.component = findSymbol(names.back());
  if (path.component < 0) {
    if (!prefix.empty())
      n.error("the path component '" + names.back() + "' is not a symbol");
    Symbol batch;
    batch.name = names.back();
    path.component = static_cast<int>(entry.symbols.size());
    entry.symbols.push_back(std::move(batch));
    symbolPaths.emplace_back();
  } else if (symbolPaths[path.component] != prefix) {
    n.error("the path of the symbol '" + names.back() +
            "' is not what stands before it");
  }
  entry.paths.push_back(std::move(path));
  return static_cast<int>(entry.paths.size()) - 1;
}

void EntryParser::parseSymbols() {
  if (entry.numDeclaredSymbols == 0)
    return;
  Node symbols = node.at("symbols");
  for (size_t i = 0; i < entry.numDeclaredSymbols; ++i) {
    Node n = symbols.at(i);
    // Apart from the assignment, because it may add a batch symbol.
    int path = internPath(n.at("path"), symbolPaths[i]);
    entry.symbols[i].path = path;
  }
  for (size_t i = 0; i < entry.numDeclaredSymbols; ++i) {
    Symbol &symbol = entry.symbols[i];
    if (!symbol.fromData())
      continue;
    Node n = symbols.at(i);
    Node upper = n.at("upper");
    symbol.upper = parseExtent(upper);
    for (int s : symbol.upper.symbols()) {
      const Symbol &other = entry.symbols[s];
      if (other.fromData() && s >= static_cast<int>(i))
        upper.error("'" + other.name + "' must be declared before");
      if (!entry.isPrefix(other.path, symbol.path))
        symbol.upperPerInstance = false;
      if (entry.isPrefix(symbol.upperPath, other.path))
        symbol.upperPath = other.path;
    }
    if (symbol.upperPerInstance)
      symbol.upperPath = symbol.path;
    checkUsableAt(upper, symbol.upper, symbol.upperPath);
  }
}

void EntryParser::checkBindings() {
  for (size_t s = 0; s < entry.symbols.size(); ++s) {
    Symbol &symbol = entry.symbols[s];
    auto error = [&](const char *why) {
      node.error("symbol '" + symbol.name + "': " + why);
    };
    if (symbol.source == Symbol::Source::Batch) {
      for (size_t i = 0; i < entry.args.size() && symbol.arg < 0; ++i) {
        const Path &path = entry.paths[entry.args[i].path];
        if (path.depth > 0 && path.names[0] == symbol.name)
          symbol.arg = static_cast<int>(i);
      }
      if (symbol.arg < 0)
        error("no argument has this batch");
      continue;
    }
    if (symbol.fromData())
      continue;
    if (static_cast<size_t>(symbol.arg) >= entry.args.size())
      error("there is no such argument");
    const Value &arg = entry.args[symbol.arg];
    if (symbol.source == Symbol::Source::Dim) {
      if (symbol.dim >= arg.rank() || arg.path != symbol.path ||
          arg.extents[symbol.dim].asSymbol() != static_cast<int>(s))
        error("the dim that binds it is something else");
      continue;
    }
    const Path &path = entry.paths[arg.path];
    if (symbol.dim < 1 || symbol.dim >= path.depth ||
        path.names[symbol.dim] != symbol.name)
      error("the path component that binds it is something else");
  }
  for (const Value &arg : entry.args) {
    for (int p = arg.path; p > 0; p = entry.paths[p].parent)
      if (entry.symbols[entry.paths[p].component].fromData())
        node.error("the path of argument '" + arg.name + "' is from data");
    for (const Extent &extent : arg.extents)
      for (int s : extent.symbols())
        if (entry.symbols[s].fromData())
          node.error("an extent of argument '" + arg.name + "' is from data");
  }
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

Extent EntryParser::parseExtent(const Node &n) {
  std::string error;
  auto resolve = [this](std::string_view name) { return findSymbol(name); };
  std::optional<Extent> extent = Extent::parse(n.asString(), resolve, error);
  if (!extent)
    n.error(error);
  return std::move(*extent);
}

void EntryParser::checkUsableAt(const Node &n, const Extent &extent, int path) {
  for (int s : extent.symbols()) {
    const std::vector<std::string> &own = symbolPaths[s];
    const std::vector<std::string> &names = entry.paths[path].names;
    if (own.size() > names.size() ||
        !std::equal(own.begin(), own.end(), names.begin()))
      n.error("'" + entry.symbols[s].name +
              "' has another path and has no value here");
  }
}

Extent EntryParser::parseExtentAt(const Node &n, int path) {
  Extent extent = parseExtent(n);
  checkUsableAt(n, extent, path);
  return extent;
}

std::vector<Extent> EntryParser::parseExtents(const Node &n, int path) {
  std::vector<Extent> extents;
  n.forEach(
      [&](const Node &each) { extents.push_back(parseExtentAt(each, path)); });
  if (extents.size() > 16)
    n.error("more than 16 extents");
  return extents;
}

Check EntryParser::parseCheck(const Node &n) {
  Check check;
  const std::string op = n.at("op").asString();
  if (op == "==")
    check.op = Check::Op::Equal;
  else if (op == "<=")
    check.op = Check::Op::LessEqual;
  else if (op == "sum==")
    check.op = Check::Op::SumEqual;
  else
    n.error("unknown check '" + op + "'");
  Node path = n.at("path");
  check.path = internPath(path);
  if (check.op == Check::Op::SumEqual && check.path == 0)
    path.error("a sum needs a component");
  check.lhs = parseExtentAt(n.at("lhs"), check.path);
  check.rhs = parseExtentAt(n.at("rhs"), check.op == Check::Op::SumEqual
                                             ? entry.paths[check.path].parent
                                             : check.path);
  check.what = n.stringOr("what", "");
  check.where = n.stringOr("where", "");
  return check;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

void EntryParser::parseValues(const char *key, std::vector<Value> &values,
                              bool results) {
  node.at(key).forEach([&](const Node &n) {
    Value &value = values.emplace_back();
    parseValue(n, value, results);
    for (const Value &other : values)
      if (&other != &value && other.name == value.name)
        n.error("a second '" + value.name + "'");
  });
}

void EntryParser::parseValue(const Node &n, Value &value, bool result) {
  value.name = n.at("name").asString();
  value.where = n.stringOr("where", "");
  Node dtype = n.at("dtype");
  value.dtype = nested_dtype_from_name(dtype.asString().c_str());
  if (value.dtype == NESTED_DTYPE_NONE)
    dtype.error("unknown dtype '" + dtype.asString() + "'");
  value.elementBytes = static_cast<int64_t>(nested_dtype_size(value.dtype));
  Node kindNode = n.at("kind");
  const std::string &kind = kindNode.asString();
  if (kind == "ragged")
    parseRagged(n, value);
  else if (kind == "dense")
    parseDense(n, value, result);
  else
    kindNode.error("unknown kind '" + kind + "'");
  value.isMutable = n.boolOr("mutable", false);
  if (value.isMutable && result)
    n.error("a result cannot be mutable");
  n.forEach("in_place_of", [&](const Node &arg) {
    value.inPlaceOf.push_back(arg.asIndex(entry.args.size()));
  });
  finishRows(n, value);
}

void EntryParser::parseDense(const Node &n, Value &value, bool result) {
  value.kind = NESTED_KIND_DENSE;
  Node shape = n.at("shape");
  bool hasRows = result && n.has("rows");
  if (shape.size() > 16)
    shape.error("more than 16 dims");
  for (size_t i = 0; i < shape.size(); ++i) {
    bool dynamic = hasRows && i == 0;
    Node size = shape.at(i);
    int64_t number = size.asInteger(dynamic ? -1 : 0, INT64_MAX);
    if (dynamic && number != -1)
      size.error("must be -1, because 'rows' says it");
    value.shape.push_back(number);
    value.extents.push_back(Extent::constant(number));
  }
  if (hasRows && value.shape.empty())
    shape.error("'rows' needs a first dim");
  value.rowRank = hasRows ? 1 : 0;
  parseOrder(n, value);
  if (hasRows && value.order[0] != 0)
    n.error("the dim that 'rows' says must be stored first");
}

void EntryParser::parseRagged(const Node &n, Value &value) {
  value.kind = NESTED_KIND_RAGGED;
  value.path = internPath(n.at("path"));
  Node extents = n.at("extents");
  value.extents = parseExtents(extents, value.path);
  for (size_t i = 0; i < value.extents.size(); ++i) {
    const Extent &extent = value.extents[i];
    if (extent.isConstant()) {
      if (extent.constantValue() < 0)
        extents.at(i).error("a static extent is negative");
      value.shape.push_back(extent.constantValue());
    } else {
      value.shape.push_back(-1);
      value.raggedDims.push_back(static_cast<int>(i));
    }
  }
  parseOrder(n, value);
  for (int position = 0; position < value.rank(); ++position)
    if (value.shape[value.order[position]] < 0)
      value.rowRank = position + 1;
}

void EntryParser::parseOrder(const Node &n, Value &value) {
  if (!n.has("order")) {
    bool ragged = value.isRagged();
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < value.rank(); ++i)
        if ((value.shape[i] < 0 || !ragged) == (pass == 0))
          value.order.push_back(i);
    return;
  }
  Node order = n.at("order");
  if (order.size() != value.extents.size())
    order.error("must name every dim once");
  std::vector<bool> seen(value.extents.size());
  order.forEach([&](const Node &each) {
    int dim = each.asIndex(seen.size());
    if (seen[dim])
      order.error("must name every dim once");
    seen[dim] = true;
    value.order.push_back(dim);
  });
}

void EntryParser::finishRows(const Node &n, Value &value) {
  value.rowBytes = value.elementBytes;
  for (int i = 0; i < value.numRowDims(); ++i)
    if (mulOverflows(value.rowBytes, value.rowDim(i), value.rowBytes))
      n.error("the bytes of a row overflow 64 bits");
  for (size_t i = 0; i < value.extents.size(); ++i)
    value.cExtents.push_back(!value.isRagged() && value.shape[i] < 0
                                 ? "?"
                                 : value.extents[i].text().c_str());
}

void EntryParser::parseResultRows() {
  // Tables must be there first.
  Node list = node.at("results");
  for (size_t i = 0; i < list.size(); ++i) {
    Node n = list.at(i);
    if (n.has("rows"))
      entry.results[i].rows = parseRows(n.at("rows"));
  }
}
