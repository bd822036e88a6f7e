//===- RaggedProducts.h - Contractions and attention ----------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of RaggedContractOps.td and RaggedAttentionOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_RAGGEDPRODUCTS_H
#define NESTED_DIALECT_RAGGED_IR_RAGGEDPRODUCTS_H

#include "nested/Dialect/Ragged/IR/Ragged.h"

#define GET_OP_CLASSES
#include "nested/Dialect/Ragged/IR/RaggedProductOps.h.inc"

#endif // NESTED_DIALECT_RAGGED_IR_RAGGEDPRODUCTS_H
