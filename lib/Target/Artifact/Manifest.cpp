//===- Manifest.cpp - What the runtime is told about a program ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Artifact.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Target/Error.h"

using namespace llvm;
using namespace nested;

/// The version of the kernel ABI; docs/Artifact.md, section 3.
static constexpr int64_t kAbiVersion = 1;

/// Entries that a module carries as JSON text, for tests of what comes after
/// the schedule.
static constexpr StringLiteral kEntriesAttr = "ragged.entries";

static Expected<json::Array> getEntries(mlir::ModuleOp module) {
  json::Array entries;
  auto text = module->getAttrOfType<mlir::StringAttr>(kEntriesAttr);
  if (!text)
    return entries;
  Expected<json::Value> parsed = json::parse(text.getValue());
  if (!parsed)
    return makeUserError("attribute '" + kEntriesAttr +
                         "' is not JSON: " + toString(parsed.takeError()));
  if (json::Array *array = parsed->getAsArray())
    return std::move(*array);
  return makeUserError("attribute '" + kEntriesAttr +
                       "' is not an array of entries");
}

Expected<json::Value> nested::buildManifest(mlir::ModuleOp module,
                                            const TargetSpec &target) {
  Expected<std::vector<std::string>> features = target.getInstructionSets();
  if (!features)
    return features.takeError();
  Expected<json::Array> entries = getEntries(module);
  if (!entries)
    return entries.takeError();
  json::Object manifest{
      {"format", 1},
      {"abi", json::Object{{"min", kAbiVersion}, {"max", kAbiVersion}}},
      {"producer", "nested " NESTED_VERSION},
      {"target", "cpu"},
      {"triple", target.triple},
      {"cpu", target.cpu},
      {"features", json::Array(*features)},
      {"entries", std::move(*entries)},
  };
  if (auto count = module->getAttrOfType<mlir::IntegerAttr>(kServicesAttr))
    manifest["services"] = count.getInt();
  return json::Value(std::move(manifest));
}
