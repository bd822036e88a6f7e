//===- RaggedAdjointMove.cpp - Derivatives of ops that move data ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"

using namespace mlir;
using namespace nested::ragged;

FailureOr<SmallVector<Value>>
TransposeOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool>) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [k, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = k;
  Value result =
      TransposeOp::create(builder, getLoc(), getSource().getType(),
                          gradients[0], builder.getDenseI64ArrayAttr(inverse));
  return SmallVector<Value>{result};
}

FailureOr<SmallVector<Value>> CastOp::emitAdjoint(OpBuilder &builder,
                                                  ArrayRef<Value> gradients,
                                                  ArrayRef<Value>,
                                                  ArrayRef<bool>) {
  Value result = CastOp::create(builder, getLoc(), getSource().getType(),
                                gradients[0], getReasonAttr());
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> NestOp::emitAdjoint(OpBuilder &builder,
                                                  ArrayRef<Value> gradients,
                                                  ArrayRef<Value>,
                                                  ArrayRef<bool>) {
  Value result =
      UnnestOp::create(builder, getLoc(), getSource().getType(), gradients[0]);
  return SmallVector<Value>{result, Value()};
}

FailureOr<SmallVector<Value>> UnnestOp::emitAdjoint(OpBuilder &builder,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool>) {
  Value result =
      RenestOp::create(builder, getLoc(), getSource().getType(), gradients[0]);
  return SmallVector<Value>{result};
}

FailureOr<SmallVector<Value>> RenestOp::emitAdjoint(OpBuilder &builder,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool>) {
  Value result =
      UnnestOp::create(builder, getLoc(), getSource().getType(), gradients[0]);
  return SmallVector<Value>{result};
}
