//===- GenericBuilder.cpp - Builds ragged.generic -------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericBuilder.h"

using namespace mlir;
using namespace nested::ragged;

GenericBuilder::Spec::Spec(GenericOp op)
    : dims(op.getDims()), path(op.getPathNames()) {
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    reduction.push_back(op.isReduction(dim));
}

void GenericBuilder::Spec::addInput(GenericOp op, unsigned i) {
  inputs.push_back(op.getInputs()[i]);
  maps.push_back(op.getInputMap(i));
  offsets.push_back(op.getInputOffsets(i));
  outside.push_back(op.getInputOutside(i));
}

template <typename Fill>
Value GenericBuilder::create(const Spec &spec, Fill fillBody) {
  SmallVector<AffineMap> maps(spec.maps);
  maps.push_back(spec.outputMap);
  SmallVector<StringRef> iterators;
  for (bool reduction : spec.reduction)
    iterators.push_back(reduction ? "reduction" : "parallel");
  ArrayAttr offsets;
  if (llvm::any_of(spec.offsets, [](auto &list) { return !list.empty(); })) {
    SmallVector<Attribute> lists;
    for (auto &list : spec.offsets)
      lists.push_back(makeExtentsAttr(context, list));
    offsets = ArrayAttr::get(context, lists);
  }
  ArrayAttr outside;
  if (llvm::any_of(spec.outside, [](TypedAttr value) { return value; })) {
    SmallVector<Attribute> values;
    for (TypedAttr value : spec.outside)
      values.push_back(value ? Attribute(value) : rewriter.getUnitAttr());
    outside = rewriter.getArrayAttr(values);
  }
  auto op = GenericOp::create(
      rewriter, loc, TypeRange{spec.init.getType()}, spec.inputs,
      ValueRange{spec.init}, makeExtentsAttr(context, spec.dims),
      rewriter.getStrArrayAttr(iterators), makePathAttr(context, spec.path),
      rewriter.getAffineMapArrayAttr(maps), offsets, outside,
      spec.batchReduced ? rewriter.getUnitAttr() : UnitAttr());
  OpBuilder::InsertionGuard guard(rewriter);
  fillBody(op);
  return op.getResult(0);
}

Value GenericBuilder::build(const Spec &spec, Body body) {
  return create(spec, [&](GenericOp op) {
    SmallVector<Type> types;
    for (Value input : spec.inputs)
      types.push_back(getScalarType(LogicalType::of(input).elementType));
    types.push_back(getScalarType(LogicalType::of(spec.init).elementType));
    Block *block = rewriter.createBlock(
        &op.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    YieldOp::create(rewriter, loc, body(rewriter, loc, block->getArguments()));
  });
}

Value GenericBuilder::build(const Spec &spec, Region &body) {
  return create(spec, [&](GenericOp op) {
    rewriter.cloneRegionBefore(body, op.getBody(), op.getBody().end());
    op.getBody().front().addArgument(
        getScalarType(LogicalType::of(spec.init).elementType), loc);
  });
}

AffineMap GenericBuilder::alignMap(const LogicalType &input,
                                   const LogicalType &result) {
  int64_t rank = result.getRank(), first = rank - input.getRank();
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    bool repeats = input.extents[dim] != result.extents[first + dim];
    exprs.push_back(repeats ? getAffineConstantExpr(0, context)
                            : getAffineDimExpr(first + dim, context));
  }
  return AffineMap::get(rank, 0, exprs, context);
}

Value GenericBuilder::empty(const LogicalType &type) {
  return EmptyOp::create(rewriter, loc, type.toType());
}

Value GenericBuilder::fill(const LogicalType &type, TypedAttr value) {
  return FillOp::create(rewriter, loc, type.toType(), value);
}

Value GenericBuilder::unnest(Value value) {
  LogicalType inner = LogicalType::of(value);
  LogicalType type(ArrayRef(inner.path).drop_back(),
                   {extent::symbol(inner.path.back())}, inner.elementType);
  llvm::append_range(type.extents, inner.extents);
  type.order = {0};
  for (int64_t dim : inner.order)
    type.order.push_back(dim + 1);
  return UnnestOp::create(rewriter, loc, type.toType(), value);
}

AffineMap GenericBuilder::groupMap(int64_t rank, ArrayRef<int64_t> reduced) {
  SmallVector<AffineExpr> kept;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(reduced, dim))
      kept.push_back(getAffineDimExpr(dim, context));
  return AffineMap::get(rank, 0, kept, context);
}

Value GenericBuilder::elementwise(LogicalType type, ValueRange inputs,
                                  Body body) {
  return elementwise(type, inputs, {}, {}, body);
}

Value GenericBuilder::elementwise(LogicalType type, ValueRange inputs,
                                  ValueRange groups, ArrayRef<int64_t> reduced,
                                  Body body) {
  Spec spec;
  spec.dims = type.extents;
  spec.reduction.assign(type.getRank(), false);
  spec.path = type.path;
  for (Value input : inputs) {
    spec.inputs.push_back(input);
    spec.maps.push_back(alignMap(LogicalType::of(input), type));
  }
  llvm::append_range(spec.inputs, groups);
  spec.maps.append(groups.size(), groupMap(type.getRank(), reduced));
  spec.init = empty(type);
  spec.outputMap = AffineMap::getMultiDimIdentityMap(type.getRank(), context);
  return build(spec, body);
}

GenericBuilder::Spec GenericBuilder::reduction(ValueRange inputs,
                                               ValueRange groups,
                                               ArrayRef<int64_t> reduced,
                                               bool batch) {
  LogicalType type = LogicalType::of(inputs.front());
  Spec spec;
  spec.dims = type.extents;
  spec.path = type.path;
  for (Value input : inputs) {
    spec.inputs.push_back(input);
    spec.maps.push_back(alignMap(LogicalType::of(input), type));
  }
  spec.outputMap = groupMap(type.getRank(), reduced);
  llvm::append_range(spec.inputs, groups);
  spec.maps.append(groups.size(), spec.outputMap);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    spec.reduction.push_back(llvm::is_contained(reduced, dim));
  spec.batchReduced = batch;
  return spec;
}

Value GenericBuilder::reduce(ValueRange inputs, ValueRange groups,
                             ArrayRef<int64_t> reduced, bool batch,
                             TypedAttr init, Body body, Type elementType) {
  Spec spec = reduction(inputs, groups, reduced, batch);
  SmallVector<StringAttr> path(spec.path);
  if (batch)
    path.pop_back();
  SmallVector<ExtentAttr> extents;
  for (auto [dim, extent] : llvm::enumerate(spec.dims))
    if (!spec.reduction[dim])
      extents.push_back(extent);
  if (!elementType)
    elementType = init.getType();
  spec.init = fill(LogicalType(path, extents, elementType), init);
  return build(spec, body);
}

Value GenericBuilder::reduceMembers(Value value, Value init, Body body) {
  Spec spec = reduction(unnest(value), {}, {0}, /*batch=*/false);
  spec.init = init;
  return build(spec, body);
}

Value GenericBuilder::reduceMembers(Value value, TypedAttr init, Body body,
                                    Type elementType) {
  return reduce(unnest(value), {0}, /*batch=*/false, init, body, elementType);
}

Value GenericBuilder::convertFloat(Value value, Type elementType) {
  return convertFloatBy(value, elementType,
                        [&](const LogicalType &type, Body body) {
                          return elementwise(type, value, body);
                        });
}
