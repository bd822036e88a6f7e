//===- RaggedAdjointLayout.cpp - Derivatives of ops that lay out data -----===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was taken from a place goes back to it: slices are padded with zeros,
// padding and concatenation are cut.
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
/// Moves along one dim, which keep the order of storage of a type.
class DimMoves {
public:
  DimMoves(OpBuilder &b, Location loc, int64_t dim)
      : b(b), loc(loc), dim(dim), zero(extent::constant(b.getContext(), 0)) {}

  Value slice(Value value, ExtentAttr start, ExtentAttr size,
              int64_t step = 1) {
    return SliceOp::create(b, loc, getType(value, size), value, dim, start,
                           size, step, /*drop=*/false, StringAttr());
  }
  Value reverse(Value value) {
    ExtentAttr size = LogicalType::of(value).extents[dim];
    return slice(value, extent::add(size, -1), size, -1);
  }
  Value pad(Value value, ExtentAttr low, ExtentAttr high) {
    LogicalType type = LogicalType::of(value);
    SmallVector<ExtentAttr> lows(type.getRank(), zero), highs(lows);
    lows[dim] = low;
    highs[dim] = high;
    ExtentAttr size = extent::add(extent::add(low, type.extents[dim]), high);
    return PadOp::create(b, loc, getType(value, size), value,
                         makeExtentsAttr(b.getContext(), lows),
                         makeExtentsAttr(b.getContext(), highs),
                         getNumberAttr(type.elementType, 0), StringAttr());
  }
  /// A value of `size` along the dim: entry `begin + step * k` is entry k of
  /// the value, the others are 0.
  Value spread(Value value, int64_t begin, int64_t step, ExtentAttr size);

private:
  Type getType(Value value, ExtentAttr size) {
    LogicalType type = LogicalType::of(value);
    SmallVector<ExtentAttr> extents(type.extents);
    extents[dim] = size;
    return LogicalType(type.path, extents, type.elementType).toType();
  }

  OpBuilder &b;
  Location loc;
  int64_t dim;
  ExtentAttr zero;
};
} // namespace

Value DimMoves::spread(Value value, int64_t begin, int64_t step,
                       ExtentAttr size) {
  LogicalType type = LogicalType::of(getType(value, size));
  GenericBuilder builder(b, loc);
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  spec.inputs = {value};
  SmallVector<AffineExpr> exprs;
  for (int64_t k = 0; k < type.getRank(); ++k)
    exprs.push_back(b.getAffineDimExpr(k));
  exprs[dim] = (exprs[dim] - begin).floorDiv(step);
  spec.maps = {AffineMap::get(type.getRank(), 0, exprs, b.getContext())};
  spec.offsets.emplace_back();
  TypedAttr none = getNumberAttr(type.elementType, 0);
  spec.outside = {none};
  spec.init = builder.empty(type);
  spec.outputMap =
      AffineMap::getMultiDimIdentityMap(type.getRank(), b.getContext());
  return builder.build(spec, [&](OpBuilder &b, Location l, ValueRange v) {
    auto number = [&](int64_t value) {
      return arith::ConstantIntOp::create(b, l, value, 64);
    };
    Value index = IndexOp::create(b, l, b.getI64Type(), dim);
    // In front of the first entry everything is outside.
    Value distance = arith::SubIOp::create(b, l, index, number(begin));
    Value rest = arith::RemSIOp::create(b, l, distance, number(step));
    Value here =
        arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq, rest, number(0));
    Value zero = arith::ConstantOp::create(b, l, none);
    return arith::SelectOp::create(b, l, here, v[0], zero).getResult();
  });
}

FailureOr<SmallVector<Value>> SliceOp::emitAdjoint(OpBuilder &builder,
                                                   ArrayRef<Value> gradients,
                                                   ArrayRef<Value>,
                                                   ArrayRef<bool>) {
  LogicalType source = LogicalType::of(getSource());
  AdjointBuilder adjoint(builder, getLoc());
  int64_t dim = getDim(), step = static_cast<int64_t>(getStep());
  DimMoves moves(builder, getLoc(), dim);
  Value gradient = gradients[0];
  ExtentAttr extent = source.extents[dim];
  if (getDrop()) {
    LogicalType whole = source;
    whole.extents[dim] = extent::constant(getContext(), 1);
    SmallVector<int64_t> dims;
    for (int64_t k = 0; k < source.getRank(); ++k)
      if (k != dim)
        dims.push_back(k);
    gradient = adjoint.broadcast(
        gradient, dims,
        LogicalType(whole.path, whole.extents, whole.elementType).toType());
    step = 1;
  }
  Value result;
  if (step == 1 || step == -1) {
    ExtentAttr least = getDrop() ? getStart() : getIndexRange().first;
    if (step == -1)
      gradient = moves.reverse(gradient);
    ExtentAttr high = extent::sub(extent::sub(extent, least),
                                  LogicalType::of(gradient).extents[dim]);
    result = moves.pad(gradient, least, high);
  } else {
    // Backwards is forwards in the reversed source.
    ExtentAttr begin = step > 0
                           ? getStart()
                           : extent::sub(extent::add(extent, -1), getStart());
    if (std::optional<int64_t> constant = begin.getConstant()) {
      result = moves.spread(gradient, *constant, std::abs(step), extent);
    } else {
      // In front of the first entry nothing was taken. Where there is no entry
      // at all, it may be said to be anywhere.
      ExtentAttr zero = extent::constant(getContext(), 0);
      begin = extent::min(extent::max(begin, zero), extent);
      result =
          moves.spread(gradient, 0, std::abs(step), extent::sub(extent, begin));
      result = moves.pad(result, begin, zero);
    }
    if (step < 0)
      result = moves.reverse(result);
  }
  return SmallVector<Value>{adjoint.withType(result, getSource().getType())};
}

FailureOr<SmallVector<Value>> PadOp::emitAdjoint(OpBuilder &builder,
                                                 ArrayRef<Value> gradients,
                                                 ArrayRef<Value>,
                                                 ArrayRef<bool>) {
  LogicalType source = LogicalType::of(getSource());
  Value gradient = gradients[0];
  for (auto [dim, low] : llvm::enumerate(toExtents(getLow())))
    if (LogicalType::of(gradient).extents[dim] != source.extents[dim])
      gradient = DimMoves(builder, getLoc(), dim)
                     .slice(gradient, low, source.extents[dim]);
  AdjointBuilder adjoint(builder, getLoc());
  return SmallVector<Value>{adjoint.withType(gradient, getSource().getType())};
}

FailureOr<SmallVector<Value>> ConcatOp::emitAdjoint(OpBuilder &builder,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  DimMoves moves(builder, getLoc(), getDim());
  ExtentAttr begin = extent::constant(getContext(), 0);
  SmallVector<Value> results;
  for (auto [input, isActive] : llvm::zip_equal(getInputs(), active)) {
    ExtentAttr size = LogicalType::of(input).extents[getDim()];
    results.emplace_back();
    if (isActive)
      results.back() = adjoint.sumTo(moves.slice(gradients[0], begin, size),
                                     input.getType());
    begin = extent::add(begin, size);
  }
  return results;
}

FailureOr<SmallVector<Value>> ReshapeOp::emitAdjoint(OpBuilder &builder,
                                                     ArrayRef<Value> gradients,
                                                     ArrayRef<Value>,
                                                     ArrayRef<bool>) {
  Value gradient = gradients[0];
  if (gradient.getType() != getType())
    gradient = AdjointBuilder(builder, getLoc()).withType(gradient, getType());
  Value result = ReshapeOp::create(builder, getLoc(), getSource().getType(),
                                   gradient, getReasonAttr());
  return SmallVector<Value>{result};
}
