//===- RaggedGeneralizeMove.cpp - Ops that move data, as generics ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is a generic that yields its input: all of it is in the input's map and
// offsets, so that `--ragged-fold-moves` can take it into its consumers.
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

using namespace mlir;
using namespace nested::ragged;

/// A generic over the dims of `type` that reads `source` at `coordinates`.
static SmallVector<Value> move(RewriterBase &rewriter, Location loc,
                               const LogicalType &type, Value source,
                               ArrayRef<AffineExpr> coordinates,
                               SmallVector<ExtentAttr> offsets = {}) {
  GenericBuilder builder(rewriter, loc);
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  spec.inputs = {source};
  spec.maps = {
      AffineMap::get(type.getRank(), 0, coordinates, rewriter.getContext())};
  spec.offsets.push_back(std::move(offsets));
  spec.init = builder.empty(type);
  spec.outputMap =
      AffineMap::getMultiDimIdentityMap(type.getRank(), rewriter.getContext());
  return {builder.build(
      spec, [](OpBuilder &, Location, ValueRange args) { return args[0]; })};
}

FailureOr<SmallVector<Value>> BroadcastOp::generalize(RewriterBase &rewriter) {
  LogicalType source = LogicalType::of(getSource());
  LogicalType type = LogicalType::of(getResult());
  SmallVector<AffineExpr> coordinates;
  for (auto [k, dim] : llvm::enumerate(getDims()))
    coordinates.push_back(source.extents[k] == type.extents[dim]
                              ? rewriter.getAffineDimExpr(dim)
                              : rewriter.getAffineConstantExpr(0));
  return move(rewriter, getLoc(), type, getSource(), coordinates);
}

FailureOr<SmallVector<Value>> TransposeOp::generalize(RewriterBase &rewriter) {
  SmallVector<AffineExpr> coordinates(getPermutation().size());
  for (auto [k, dim] : llvm::enumerate(getPermutation()))
    coordinates[dim] = rewriter.getAffineDimExpr(k);
  return move(rewriter, getLoc(), LogicalType::of(getResult()), getSource(),
              coordinates);
}

FailureOr<SmallVector<Value>> SliceOp::generalize(RewriterBase &rewriter) {
  LogicalType source = LogicalType::of(getSource());
  SmallVector<AffineExpr> coordinates;
  SmallVector<ExtentAttr> offsets(source.getRank(),
                                  extent::constant(getContext(), 0));
  offsets[getDim()] = getStart();
  for (int64_t dim = 0, next = 0; dim < source.getRank(); ++dim) {
    bool dropped = getDrop() && dim == static_cast<int64_t>(getDim());
    coordinates.push_back(dropped ? rewriter.getAffineConstantExpr(0)
                                  : rewriter.getAffineDimExpr(next++));
  }
  return move(rewriter, getLoc(), LogicalType::of(getResult()), getSource(),
              coordinates, std::move(offsets));
}

FailureOr<SmallVector<Value>> IotaOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  GenericBuilder builder(rewriter, getLoc());
  auto body = [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    return IndexOp::create(b, loc, b.getI64Type(), getDim());
  };
  return SmallVector<Value>{builder.elementwise(type, {}, body)};
}
