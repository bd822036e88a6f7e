//===- RaggedAdjointScan.h - Derivatives of running reductions ---*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_IR_RAGGEDADJOINTSCAN_H
#define NESTED_LIB_DIALECT_RAGGED_IR_RAGGEDADJOINTSCAN_H

#include "mlir/IR/MLIRContext.h"

namespace nested::ragged {

/// Attaches DifferentiableOpInterface to `ragged.accumulate`, as it is attached
/// to the ops of `arith` and `math`.
void attachScanAdjoints(mlir::MLIRContext &context);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_RAGGEDADJOINTSCAN_H
