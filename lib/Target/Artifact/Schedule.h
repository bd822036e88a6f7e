//===- Schedule.h - Schedules as data for the runtime -----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_TARGET_ARTIFACT_SCHEDULE_H
#define NESTED_LIB_TARGET_ARTIFACT_SCHEDULE_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "llvm/Support/JSON.h"

namespace nested {

/// One element of "entries" in the manifest (docs/Artifact.md, section 2). A
/// failure has been reported.
mlir::FailureOr<llvm::json::Object> exportSchedule(ragged::ScheduleOp schedule);

} // namespace nested

#endif // NESTED_LIB_TARGET_ARTIFACT_SCHEDULE_H
