//===- RaggedOps.cpp - Ops of the ragged dialect --------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What TableGen makes of the ops. Verifiers and folders are split by family:
// RaggedStructureOps.cpp, RaggedComputeOps.cpp, and so on.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"

using namespace mlir;
using namespace nested::ragged;

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedOps.cpp.inc"

// What `SingleBlockImplicitTerminator` builds.
void YieldOp::build(OpBuilder &, OperationState &) {}
