//===- ScheduleSteps.h - What steps of a schedule use ------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_SCHEDULESTEPS_H
#define NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_SCHEDULESTEPS_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged {

/// The buffer behind an operand of a step, without aliases; null for tables.
inline BufferOp getBuffer(mlir::Value value) {
  while (auto alias = value.getDefiningOp<AliasOp>())
    value = alias.getSource();
  return value.getDefiningOp<BufferOp>();
}

/// Ops of a schedule that say what there is, and do nothing.
inline bool isDeclaration(mlir::Operation *op) {
  return mlir::isa<TableOp, BufferOp, AliasOp>(op);
}

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_STRUCTURETOLOOPS_SCHEDULESTEPS_H
