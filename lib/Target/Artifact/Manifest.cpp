//===- Manifest.cpp - What the runtime is told about a program ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Artifact.h"

#include "Schedule.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Target/Error.h"

using namespace llvm;
using namespace nested;

/// The version of the kernel ABI; docs/Artifact.md, section 3.
static constexpr int64_t kAbiVersion = 1;

Expected<json::Value> nested::buildManifest(mlir::ModuleOp module,
                                            const TargetSpec &target) {
  Expected<std::vector<std::string>> features = target.getInstructionSets();
  if (!features)
    return features.takeError();
  json::Array entries;
  for (auto schedule : module.getOps<ragged::ScheduleOp>()) {
    mlir::FailureOr<json::Object> entry = exportSchedule(schedule);
    if (failed(entry))
      return makeUserError("");
    entries.push_back(std::move(*entry));
  }
  json::Object manifest{
      {"format", 1},
      {"abi", json::Object{{"min", kAbiVersion}, {"max", kAbiVersion}}},
      {"producer", "nested " NESTED_VERSION},
      {"target", "cpu"},
      {"triple", target.triple},
      {"cpu", target.cpu},
      {"features", json::Array(*features)},
      {"entries", std::move(entries)},
  };
  if (auto count = module->getAttrOfType<mlir::IntegerAttr>(kServicesAttr))
    manifest["services"] = count.getInt();
  return json::Value(std::move(manifest));
}
