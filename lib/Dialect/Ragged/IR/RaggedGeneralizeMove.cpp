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

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nested::ragged;

/// A generic over the dims of `type` that reads `source` at `coordinates`.
static SmallVector<Value> move(RewriterBase &rewriter, Location loc,
                               const LogicalType &type, Value source,
                               ArrayRef<AffineExpr> coordinates,
                               SmallVector<ExtentAttr> offsets = {},
                               TypedAttr outside = {}) {
  GenericBuilder builder(rewriter, loc);
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  spec.inputs = {source};
  spec.maps = {
      AffineMap::get(type.getRank(), 0, coordinates, rewriter.getContext())};
  spec.offsets.push_back(std::move(offsets));
  spec.outside = {outside};
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
    bool isSliced = dim == static_cast<int64_t>(getDim());
    if (isSliced && getDrop()) {
      coordinates.push_back(rewriter.getAffineConstantExpr(0));
      continue;
    }
    AffineExpr index = rewriter.getAffineDimExpr(next++);
    coordinates.push_back(isSliced ? index * getStep() : index);
  }
  return move(rewriter, getLoc(), LogicalType::of(getResult()), getSource(),
              coordinates, std::move(offsets));
}

FailureOr<SmallVector<Value>> PadOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  SmallVector<AffineExpr> coordinates;
  SmallVector<ExtentAttr> offsets;
  for (auto [dim, low] : llvm::enumerate(toExtents(getLow()))) {
    coordinates.push_back(rewriter.getAffineDimExpr(dim));
    offsets.push_back(extent::neg(low));
  }
  return move(rewriter, getLoc(), type, getSource(), coordinates,
              std::move(offsets), getValue());
}

/// Every input is read everywhere, moved to where it begins; the coordinate
/// says which of them it is.
FailureOr<SmallVector<Value>> ConcatOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  GenericBuilder builder(rewriter, getLoc());
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  ExtentAttr begin = extent::constant(getContext(), 0);
  SmallVector<ExtentAttr> ends;
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  for (Value input : getInputs()) {
    SmallVector<ExtentAttr> offsets(type.getRank(),
                                    extent::constant(getContext(), 0));
    offsets[getDim()] = extent::neg(begin);
    begin = extent::add(begin, LogicalType::of(input).extents[getDim()]);
    ends.push_back(begin);
    spec.inputs.push_back(input);
    spec.maps.push_back(identity);
    spec.offsets.push_back(std::move(offsets));
    // What is outside is not selected: a constant may go on being one.
    auto outside =
        cast<TypedAttr>(rewriter.getZeroAttr(getScalarType(type.elementType)));
    if (auto fill = input.getDefiningOp<FillOp>())
      outside = fill.getValue();
    spec.outside.push_back(outside);
  }
  // Where inputs end, if that depends on the sample.
  LogicalType perSample(type.path, {}, rewriter.getI64Type());
  for (ExtentAttr end : ArrayRef(ends).drop_back()) {
    if (end.isStatic())
      continue;
    spec.inputs.push_back(
        ExtentOp::create(rewriter, getLoc(), perSample.toType(), end));
    spec.maps.push_back(AffineMap::get(type.getRank(), 0, getContext()));
    spec.offsets.emplace_back();
    spec.outside.emplace_back();
  }
  spec.init = builder.empty(type);
  spec.outputMap = identity;
  int64_t count = getInputs().size();
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
    Value index = IndexOp::create(b, loc, b.getI64Type(), getDim());
    // From the last input to the first: the first that has not ended.
    Value value = args[count - 1];
    SmallVector<Value> bounds;
    int64_t next = count;
    for (ExtentAttr end : ArrayRef(ends).drop_back()) {
      if (std::optional<int64_t> constant = end.getConstant())
        bounds.push_back(arith::ConstantIntOp::create(b, loc, *constant, 64));
      else
        bounds.push_back(args[next++]);
    }
    for (int64_t k = count - 1; k-- > 0;) {
      Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         index, bounds[k]);
      value = arith::SelectOp::create(b, loc, here, args[k], value);
    }
    return value;
  };
  return SmallVector<Value>{builder.build(spec, body)};
}

FailureOr<SmallVector<Value>> IotaOp::generalize(RewriterBase &rewriter) {
  LogicalType type = LogicalType::of(getResult());
  GenericBuilder builder(rewriter, getLoc());
  auto body = [&](OpBuilder &b, Location loc, ValueRange) -> Value {
    return IndexOp::create(b, loc, b.getI64Type(), getDim());
  };
  return SmallVector<Value>{builder.elementwise(type, {}, body)};
}
