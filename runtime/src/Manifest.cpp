//===- Manifest.cpp - Entries of an artifact as data ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryParser.h"

#include <algorithm>

using namespace nested::rt;

const char *nested::rt::stepName(Step::Op op) {
  switch (op) {
  case Step::Op::Launch:
    return "launch";
  case Step::Op::Bind:
    return "bind";
  case Step::Op::Check:
    return "check";
  case Step::Op::Copy:
    return "copy";
  case Step::Op::StoreTable:
  case Step::Op::StoreScalar:
    return "store_table";
  case Step::Op::Locate:
    return "locate";
  case Step::Op::Linearize:
    return "linearize";
  }
  return "";
}

bool Entry::isPrefix(int prefix, int path) const {
  while (paths[path].depth > paths[prefix].depth)
    path = paths[path].parent;
  return path == prefix;
}

bool Entry::fromData() const {
  return std::any_of(symbols.begin(), symbols.end(),
                     [](const Symbol &s) { return s.fromData(); });
}

Manifest nested::rt::parseManifest(std::string_view text,
                                   const std::string &name) {
  std::string what = name + ": manifest";
  Json json = parseJson(text, what);
  Node root(json, what);
  Manifest manifest;
  root.at("format").asInteger(1, INT32_MAX);
  Node abi = root.at("abi");
  manifest.abiMin = abi.at("min").asInteger(0, INT32_MAX);
  manifest.abiMax = abi.at("max").asInteger(manifest.abiMin, INT32_MAX);
  if (NESTED_ABI_VERSION < manifest.abiMin ||
      NESTED_ABI_VERSION > manifest.abiMax)
    fail(NESTED_INVALID_ARTIFACT,
         "%s: its kernels have ABI %lld to %lld, but this runtime (%d.%d.%d) "
         "has ABI %d; compile it again or use another runtime",
         name.c_str(), static_cast<long long>(manifest.abiMin),
         static_cast<long long>(manifest.abiMax), NESTED_VERSION_MAJOR,
         NESTED_VERSION_MINOR, NESTED_VERSION_PATCH, NESTED_ABI_VERSION);
  manifest.producer = root.stringOr("producer", "unknown");
  manifest.target = root.stringOr("target", "cpu");
  manifest.triple = root.at("triple").asString();
  manifest.cpu = root.stringOr("cpu", "generic");
  manifest.services = root.integerOr("services", 0, 0, INT32_MAX);
  if (root.has("features"))
    manifest.features = root.at("features").asStrings();
  root.at("entries").forEach([&](const Node &node) {
    Entry &entry = manifest.entries.emplace_back();
    EntryParser(node, entry).parse();
    for (const Entry &other : manifest.entries)
      if (&other != &entry && other.name == entry.name)
        node.error("a second entry '" + entry.name + "'");
  });
  return manifest;
}
