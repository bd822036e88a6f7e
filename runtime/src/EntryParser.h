//===- EntryParser.h - One entry of a manifest ------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_RUNTIME_ENTRYPARSER_H
#define NESTED_RUNTIME_ENTRYPARSER_H

#include "Json.h"
#include "Manifest.h"

namespace nested::rt {

/// Fills an Entry from its JSON, and checks everything that later code relies
/// on. The parts are read in an order in which each one refers to what is
/// there already.
class EntryParser {
public:
  EntryParser(const Node &node, Entry &entry) : node(node), entry(entry) {}
  void parse();

private:
  // EntryParser.cpp: signature.
  void parseSymbolNames();
  void parseSymbols();
  void parseValues(const char *key, std::vector<Value> &values, bool results);
  void parseValue(const Node &n, Value &value, bool result);
  void parseDense(const Node &n, Value &value, bool result);
  void parseRagged(const Node &n, Value &value);
  void parseOrder(const Node &n, Value &value);
  void finishRows(const Node &n, Value &value);
  void checkBindings();
  void parseResultRows();

  // EntryParserSteps.cpp: tables, buffers, steps.
  void parseTables();
  void parseBuffers();
  void parseSteps();
  void parseLaunch(const Node &n, Step &step);
  void parseUnits(const Node &n, Step &step);
  void parseBind(const Node &n, Step &step, int index);
  void parseStore(const Node &n, Step &step);
  void parseCoordinates(const Node &n, Step &step);
  void computeReadiness();
  void checkReady(const Node &n, int ready, int step, const char *what);
  void checkStep(const Node &n, const Step &step, int index);
  void checkPrepare(const Node &n, const Step &step);

  // Helpers.
  int internPath(const Node &n);
  int internPath(const Node &n, const std::vector<std::string> &names);
  Extent parseExtent(const Node &n);
  Extent parseExtentAt(const Node &n, int path);
  void checkUsableAt(const Node &n, const Extent &extent, int path);
  std::vector<Extent> parseExtents(const Node &n, int path);
  Check parseCheck(const Node &n);
  Rows parseRows(const Node &n);
  int findSymbol(std::string_view name) const;
  int parseBuffer(const Node &n);
  int parseIntegerBuffer(const Node &n);
  int parseTable(const Node &n, bool offsets);
  int readyStep(const Extent &extent) const;
  int readyStep(const Check &check) const;

  const Node &node;
  Entry &entry;
  std::vector<std::vector<std::string>> symbolPaths; // As written.
};

} // namespace nested::rt

#endif // NESTED_RUNTIME_ENTRYPARSER_H
