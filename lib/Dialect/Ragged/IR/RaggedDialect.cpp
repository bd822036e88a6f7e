//===- RaggedDialect.cpp - The ragged dialect and its attributes ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "nested/Dialect/Ragged/IR/Differentiation.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nested::ragged;

#include "nested/Dialect/Ragged/IR/RaggedDialect.cpp.inc"
#include "nested/Dialect/Ragged/IR/RaggedEnums.cpp.inc"
#include "nested/Dialect/Ragged/IR/RaggedInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedAttrs.cpp.inc"

void RaggedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "nested/Dialect/Ragged/IR/RaggedAttrs.cpp.inc"
      >();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "nested/Dialect/Ragged/IR/RaggedOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nested/Dialect/Ragged/IR/RaggedProductOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "nested/Dialect/Ragged/IR/RaggedBatchOps.cpp.inc"
      >();
  // Regions of ragged ops are made of them.
  attachScalarAdjoints(*getContext());
}

Attribute ExtentAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<ExtentAttr> extent = extent::parse(parser);
  if (failed(extent) || parser.parseGreater())
    return {};
  return *extent;
}

void ExtentAttr::print(AsmPrinter &printer) const {
  printer << '<' << str() << '>';
}
