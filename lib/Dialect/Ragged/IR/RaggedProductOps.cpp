//===- RaggedProductOps.cpp - Contractions and attention ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What TableGen makes of the ops of RaggedProducts.h.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

using namespace mlir;
using namespace nested::ragged;

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedProductOps.cpp.inc"
