//===- RaggedGeneralizeCompute.cpp - Compute ops as generics --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nested::ragged;

FailureOr<SmallVector<Value>> MapOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  GenericBuilder builder(rewriter, getLoc());
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  for (Value input : getInputs()) {
    spec.inputs.push_back(input);
    spec.maps.push_back(builder.alignMap(LogicalType::of(input), type));
  }
  spec.init = builder.empty(type);
  spec.outputMap =
      AffineMap::getMultiDimIdentityMap(type.getRank(), getContext());
  return SmallVector<Value>{builder.build(spec, getBody())};
}

FailureOr<SmallVector<Value>> LinearOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  Type wide = getAccumulatorType(type.elementType);
  LogicalType accumulator = type;
  accumulator.elementType = wide;
  GenericBuilder builder(rewriter, getLoc());

  // (rows..., m, k): source (rows..., k), weights (k, m), result (rows..., m).
  int64_t rank = type.getRank();
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.dims.push_back(LogicalType::of(getSource()).extents.back());
  spec.reduction.assign(rank, false);
  spec.reduction.push_back(true);
  spec.path = type.path;
  spec.inputs = {getSource(), getWeights()};
  SmallVector<AffineExpr> rows;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    rows.push_back(rewriter.getAffineDimExpr(dim));
  AffineExpr m = rewriter.getAffineDimExpr(rank - 1);
  AffineExpr k = rewriter.getAffineDimExpr(rank);
  SmallVector<AffineExpr> source(rows), result(rows);
  source.push_back(k);
  result.push_back(m);
  spec.maps = {AffineMap::get(rank + 1, 0, source, getContext()),
               AffineMap::get(rank + 1, 0, {k, m}, getContext())};
  spec.outputMap = AffineMap::get(rank + 1, 0, result, getContext());
  // The bias is where the sum starts: no pass of its own over the result.
  if (getBias())
    spec.init = builder.elementwise(
        accumulator, getBias(), [&](OpBuilder &b, Location l, ValueRange x) {
          return makeFloat(b, l, wide, x[0]);
        });
  else
    spec.init = builder.fill(accumulator, getNumberAttr(wide, 0));
  Value sum = builder.build(spec, [&](OpBuilder &b, Location l, ValueRange x) {
    Value lhs = makeFloat(b, l, wide, x[0]), rhs = makeFloat(b, l, wide, x[1]);
    return makeAdd(b, l, x[2], makeMul(b, l, lhs, rhs));
  });
  return SmallVector<Value>{builder.convertFloat(sum, type.elementType)};
}
