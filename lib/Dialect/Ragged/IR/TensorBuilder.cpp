//===- TensorBuilder.cpp - Builds ops of the tensor phase -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nested::ragged;

Type nested::ragged::getAccumulatorType(Type type) {
  if (isa<Float16Type, BFloat16Type>(type))
    return Float32Type::get(type.getContext());
  return type;
}

TypedAttr nested::ragged::getNumberAttr(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, value);
  return IntegerAttr::get(getScalarType(type), static_cast<int64_t>(value));
}

Type nested::ragged::getSumType(Type elementType, bool overRows) {
  if (overRows && elementType.isF32())
    return Float64Type::get(elementType.getContext());
  return getAccumulatorType(elementType);
}

static arith::FastMathFlagsAttr contract(OpBuilder &b) {
  return arith::FastMathFlagsAttr::get(b.getContext(),
                                       arith::FastMathFlags::contract);
}

Value nested::ragged::makeNumber(OpBuilder &b, Location loc, Type type,
                                 double value) {
  return arith::ConstantOp::create(b, loc, getNumberAttr(type, value));
}

Value nested::ragged::makeAdd(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, loc, x, y, contract(b));
  return arith::AddIOp::create(b, loc, x, y);
}

Value nested::ragged::makeMul(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::MulFOp::create(b, loc, x, y, contract(b));
  return arith::MulIOp::create(b, loc, x, y);
}

Value nested::ragged::makeFloat(OpBuilder &b, Location loc, Type type,
                                Value x) {
  if (x.getType() == type)
    return x;
  if (type.getIntOrFloatBitWidth() > x.getType().getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, x);
  return arith::TruncFOp::create(b, loc, type, x);
}

Value TensorBuilder::map(const LogicalType &type, ValueRange inputs,
                         Body body) {
  auto op = MapOp::create(builder, loc, type.toType(), inputs);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(getScalarType(LogicalType::of(input).elementType));
  Block *block = builder.createBlock(&op.getBody(), {}, types,
                                     SmallVector<Location>(types.size(), loc));
  YieldOp::create(builder, loc, body(builder, loc, block->getArguments()));
  return op.getResult();
}

Value TensorBuilder::add(Value lhs, Value rhs) {
  return map(LogicalType::of(lhs), {lhs, rhs},
             [](OpBuilder &b, Location l, ValueRange x) -> Value {
               return arith::AddFOp::create(b, l, x[0], x[1]);
             });
}

Value TensorBuilder::mul(Value lhs, Value rhs) {
  return map(LogicalType::of(lhs), {lhs, rhs},
             [](OpBuilder &b, Location l, ValueRange x) -> Value {
               return arith::MulFOp::create(b, l, x[0], x[1]);
             });
}

Value TensorBuilder::convertFloat(Value value, Type elementType) {
  return convertFloatBy(value, elementType,
                        [&](const LogicalType &type, Body body) {
                          return map(type, value, body);
                        });
}

Value TensorBuilder::widen(Value value) {
  return convertFloat(value,
                      getAccumulatorType(LogicalType::of(value).elementType));
}

Value TensorBuilder::withType(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return map(LogicalType::of(type), value,
             [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

Value TensorBuilder::broadcast(Value source, ArrayRef<int64_t> dims,
                               Type type) {
  if (source.getType() == type && llvm::equal(dims, llvm::seq(dims.size())))
    return source;
  return BroadcastOp::create(builder, loc, type, source,
                             builder.getDenseI64ArrayAttr(dims));
}

Value TensorBuilder::reduce(ReduceKind kind, Value source,
                            ArrayRef<int64_t> dims, bool batch, bool keepdims,
                            EmptyPolicy empty) {
  LogicalType type = LogicalType::of(source);
  SmallVector<ExtentAttr> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(dims, dim))
      extents.push_back(type.extents[dim]);
    else if (keepdims)
      extents.push_back(extent::constant(builder.getContext(), 1));
  }
  SmallVector<StringAttr> path(type.path);
  if (batch)
    path.pop_back();
  Type result = LogicalType(path, extents, type.elementType).toType();
  return ReduceOp::create(builder, loc, result, kind, source, dims, batch,
                          keepdims, empty);
}

Value TensorBuilder::centre(Value value, ArrayRef<int64_t> dims) {
  LogicalType type = LogicalType::of(value);
  bool overRows =
      llvm::any_of(dims, [&](int64_t dim) { return type.isRagged(dim); });
  LogicalType wide = type;
  wide.elementType = getSumType(type.elementType, overRows);
  Value result = convertFloat(value, wide.elementType);
  for (int passes = wide == type ? 2 : 1; passes > 0; --passes) {
    Value mean = reduce(ReduceKind::Mean, result, dims, /*batch=*/false,
                        /*keepdims=*/true);
    result = map(wide, {result, mean},
                 [](OpBuilder &b, Location l, ValueRange v) -> Value {
                   return arith::SubFOp::create(b, l, v[0], v[1]);
                 });
  }
  return convertFloat(result, type.elementType);
}

Value TensorBuilder::reshape(Value value, ArrayRef<ExtentAttr> extents) {
  LogicalType type = LogicalType::of(value);
  if (ArrayRef<ExtentAttr>(type.extents) == extents)
    return value;
  LogicalType result(type.path, extents, type.elementType);
  return ReshapeOp::create(builder, loc, result.toType(), value, StringAttr());
}

Value TensorBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(permutation.size())))
    return value;
  LogicalType type = LogicalType::of(value);
  SmallVector<ExtentAttr> extents;
  for (int64_t dim : permutation)
    extents.push_back(type.extents[dim]);
  LogicalType result(type.path, extents, type.elementType);
  return TransposeOp::create(builder, loc, result.toType(), value,
                             builder.getDenseI64ArrayAttr(permutation));
}

Value TensorBuilder::linear(Value source, Value weights, Value bias) {
  Type sourceType = LogicalType::of(source).elementType;
  if (sourceType != LogicalType::of(weights).elementType) {
    source = widen(source);
    weights = widen(weights);
  }
  if (bias)
    bias = convertFloat(bias, LogicalType::of(source).elementType);
  LogicalType type = LogicalType::of(source);
  SmallVector<ExtentAttr> extents(type.extents);
  extents.back() = LogicalType::of(weights).extents[1];
  // R6: sums of narrow floats are kept as they are, in f32.
  LogicalType result(type.path, extents, getAccumulatorType(type.elementType));
  result.order = type.order;
  return LinearOp::create(builder, loc, result.toType(), source, weights, bias);
}

Value TensorBuilder::fill(const LogicalType &type, double value) {
  return FillOp::create(builder, loc, type.toType(),
                        getNumberAttr(type.elementType, value));
}

Value TensorBuilder::extent(ExtentAttr extent, const LogicalType &whole) {
  LogicalType type(whole.path, {}, builder.getI64Type());
  return ExtentOp::create(builder, loc, type.toType(), extent);
}
