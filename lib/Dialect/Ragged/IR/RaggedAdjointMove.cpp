//===- RaggedAdjointMove.cpp - Derivatives of ops that move data ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"

#include "nested/Dialect/Ragged/IR/SymbolBindings.h"

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

/// A value `[S, ...]` as one `[...]` in each of the S parts of a sample.
static Value splitIntoParts(OpBuilder &b, Location loc, Value value,
                            ArrayRef<StringAttr> path, Operation *at) {
  LogicalType type = LogicalType::of(value);
  TensorBuilder tensors(b, loc);
  LogicalType rows(type.path, {type.extents[0]}, b.getI64Type());
  // Parts of one index, by a symbol that nothing else has.
  SymbolBindings bindings(at->getParentOfType<FunctionOpInterface>());
  StringAttr name;
  for (unsigned k = 0; !name || bindings.lookup(name); ++k)
    name = b.getStringAttr("part" + Twine(k));
  SmallVector<ExtentAttr> extents(type.extents);
  extents[0] = extent::symbol(name);
  LogicalType nested(path, extents, type.elementType);
  Value parts =
      NestOp::create(b, loc, nested.toType(), value, tensors.fill(rows, 1));
  return tensors.reduce(ReduceKind::Sum, parts, {0});
}

FailureOr<SmallVector<Value>> UnnestOp::emitAdjoint(OpBuilder &builder,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool>) {
  LogicalType source = LogicalType::of(getSource());
  if (!source.getRaggedDims().empty())
    return emitOpError("of groups of an axis has no derivative rule");
  Value result =
      splitIntoParts(builder, getLoc(), gradients[0], source.path, *this);
  return SmallVector<Value>{
      TensorBuilder(builder, getLoc()).withType(result, getSource().getType())};
}
