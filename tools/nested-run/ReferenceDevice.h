//===- ReferenceDevice.h - Running a program by interpretation --*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_TOOLS_NESTED_RUN_REFERENCEDEVICE_H
#define NESTED_TOOLS_NESTED_RUN_REFERENCEDEVICE_H

#include "Results.h"

namespace nested::run {

/// Interprets the entry of a program (MLIR text) with the reference
/// interpreter. That is libnested_reference.so, loaded when it is needed: the
/// tool itself runs on machines without LLVM.
std::vector<Result> runReference(const std::string &program,
                                 const std::string &fileName,
                                 const nested_entry_t *entry,
                                 const nested_argument *args, int64_t numArgs);

} // namespace nested::run

#endif // NESTED_TOOLS_NESTED_RUN_REFERENCEDEVICE_H
