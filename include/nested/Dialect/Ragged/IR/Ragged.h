//===- Ragged.h - The ragged dialect ----------------------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one header of the dialect: attributes, types, interfaces, ops and the
// helpers that passes use with them.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_RAGGED_H
#define NESTED_DIALECT_RAGGED_IR_RAGGED_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "nested/Dialect/Ragged/IR/Extent.h"

#include "nested/Dialect/Ragged/IR/RaggedDialect.h.inc"
#include "nested/Dialect/Ragged/IR/RaggedEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedTypes.h.inc"

namespace nested::ragged {
class LoopKernelBuilder;

/// `lhs == rhs` or `lhs <= rhs`, in every sample.
struct SizeCheck {
  CheckKind kind;
  ExtentAttr lhs, rhs;
};
} // namespace nested::ragged

#include "nested/Dialect/Ragged/IR/RaggedInterfaces.h.inc"

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedOps.h.inc"

#include "nested/Dialect/Ragged/IR/LogicalType.h"
#include "nested/Dialect/Ragged/IR/SymbolBindings.h"

#endif // NESTED_DIALECT_RAGGED_IR_RAGGED_H
