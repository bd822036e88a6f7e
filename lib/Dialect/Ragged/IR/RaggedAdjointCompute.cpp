//===- RaggedAdjointCompute.cpp - Derivatives of map, linear, normalize ---===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// map: g * df/dx_i, elementwise, summed over what x_i was repeated along
//===----------------------------------------------------------------------===//

/// The gradient of input `i` in every element. Null: 0.
static FailureOr<Value> differentiateMap(MapOp op, OpBuilder &builder,
                                         Value gradient, unsigned i) {
  LogicalType type = LogicalType::of(op.getResult());
  type.elementType = LogicalType::of(op.getInputs()[i]).elementType;
  SmallVector<Value> inputs(op.getInputs());
  inputs.push_back(gradient);
  auto map = MapOp::create(builder, op.getLoc(), type.toType(), inputs);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(LogicalType::of(input).elementType);
  Block *block =
      builder.createBlock(&map.getBody(), {}, types,
                          SmallVector<Location>(types.size(), op.getLoc()));
  IRMapping mapping;
  Block &body = op.getBody().front();
  mapping.map(body.getArguments(), block->getArguments().drop_back());
  SmallVector<Operation *> ops;
  for (Operation &inner : body.without_terminator())
    ops.push_back(builder.clone(inner, mapping));
  Value output = mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  FailureOr<Value> result = AdjointBuilder::differentiateScalars(
      builder, ops, block->getArgument(i), output,
      block->getArguments().back());
  if (failed(result) || !*result) {
    map.erase();
    return result;
  }
  YieldOp::create(builder, op.getLoc(), *result);
  eraseDeadOps(*block);
  // What the derivative does not depend on is not read.
  for (unsigned k = inputs.size(); k-- > 0;)
    if (block->getArgument(k).use_empty()) {
      block->eraseArgument(k);
      map.getInputsMutable().erase(k);
    }
  if (map.getInputs().size() == 1 && map.getInputs()[0] == gradient &&
      map.getType() == gradient.getType() &&
      block->getTerminator()->getOperand(0) == block->getArgument(0)) {
    map.erase();
    return gradient;
  }
  return Value(map.getResult());
}

FailureOr<SmallVector<Value>> MapOp::emitAdjoint(OpBuilder &builder,
                                                 ArrayRef<Value> gradients,
                                                 ArrayRef<Value>,
                                                 ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  SmallVector<Value> results(getInputs().size());
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (!active[i])
      continue;
    FailureOr<Value> part = differentiateMap(*this, builder, gradients[0], i);
    if (failed(part))
      return failure();
    if (*part)
      results[i] = adjoint.sumTo(*part, input.getType());
  }
  return results;
}

//===----------------------------------------------------------------------===//
// linear: dx = dy W^T, dW = x^T dy over all rows, db = the sum of dy
//===----------------------------------------------------------------------===//

/// `[K, M]`: the sum over all rows of x_k * y_m, and over a path of one
/// component.
static Value contractRows(OpBuilder &b, Location loc, Value x, Value y) {
  LogicalType left = LogicalType::of(x), right = LogicalType::of(y);
  MLIRContext *context = b.getContext();
  Type wide = getAccumulatorType(left.elementType);
  int64_t rows = left.getRank() - 1;
  GenericBuilder builder(b, loc);
  GenericBuilder::Spec spec;
  spec.dims = left.extents;
  spec.dims.push_back(right.extents.back());
  spec.reduction.assign(rows, true);
  spec.reduction.append(2, false);
  spec.path = left.path;
  spec.inputs = {x, y};
  SmallVector<AffineExpr> leftDims, rightDims;
  for (int64_t dim = 0; dim < rows; ++dim)
    leftDims.push_back(b.getAffineDimExpr(dim));
  rightDims = leftDims;
  AffineExpr k = b.getAffineDimExpr(rows), m = b.getAffineDimExpr(rows + 1);
  leftDims.push_back(k);
  rightDims.push_back(m);
  spec.maps = {AffineMap::get(rows + 2, 0, leftDims, context),
               AffineMap::get(rows + 2, 0, rightDims, context)};
  spec.outputMap = AffineMap::get(rows + 2, 0, {k, m}, context);
  spec.batchReduced = left.path.size() == 1;
  SmallVector<StringAttr> path(left.path);
  if (spec.batchReduced)
    path.pop_back();
  LogicalType result(path, {left.extents.back(), right.extents.back()}, wide);
  spec.init = builder.fill(result, getNumberAttr(wide, 0));
  auto flags =
      arith::FastMathFlagsAttr::get(context, arith::FastMathFlags::contract);
  return builder.build(spec, [&](OpBuilder &b, Location l, ValueRange v) {
    Value lhs = makeFloat(b, l, wide, v[0]), rhs = makeFloat(b, l, wide, v[1]);
    Value product = arith::MulFOp::create(b, l, lhs, rhs, flags);
    return arith::AddFOp::create(b, l, v[2], product, flags);
  });
}

FailureOr<SmallVector<Value>> LinearOp::emitAdjoint(OpBuilder &builder,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  LogicalType source = LogicalType::of(getSource());
  // Sums of narrow floats may have been kept in f32.
  Value gradient = adjoint.convertFloat(gradients[0], source.elementType);
  SmallVector<Value> results(getNumOperands());
  if (active[0]) {
    LogicalType weights = LogicalType::of(getWeights());
    std::swap(weights.extents[0], weights.extents[1]);
    Value transposed =
        TransposeOp::create(builder, getLoc(), weights.toType(), getWeights(),
                            builder.getDenseI64ArrayAttr({1, 0}));
    results[0] = LinearOp::create(builder, getLoc(), getSource().getType(),
                                  gradient, transposed, Value());
  }
  if (active[1]) {
    Value sum = contractRows(builder, getLoc(), getSource(), gradient);
    sum = adjoint.convertFloat(sum, source.elementType);
    results[1] = adjoint.sumTo(sum, getWeights().getType());
  }
  if (getBias() && active[2])
    results[2] = adjoint.sumTo(gradient, getBias().getType());
  return results;
}

//===----------------------------------------------------------------------===//
// normalize: with h = (x - mean) r and g' = g scale,
//   dx = r (g' - mean(g') - h mean(g' h)), dscale = sum g h, doffset = sum g
//===----------------------------------------------------------------------===//

/// `1 / sqrt(variance + eps)`
static Value getRate(TensorBuilder &tensors, Value variance, double eps) {
  return tensors.map(LogicalType::of(variance), variance,
                     [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                       Scalars s{b, l};
                       Type t = v[0].getType();
                       Value root = math::SqrtOp::create(
                           b, l, s.add(v[0], s.number(t, eps)));
                       return arith::DivFOp::create(b, l, s.number(t, 1), root);
                     });
}

/// Groups of channels as a dim of their own: a normalisation over every other
/// dim.
static Value normalizeGroups(NormalizeOp op, TensorBuilder &tensors,
                             ValueRange operands) {
  LogicalType type = LogicalType::of(op.getSource());
  SmallVector<int64_t> order = RaggedTensorType::getDefaultOrder(type.extents);
  Value x = tensors.transpose(tensors.widen(operands[0]), order);
  LogicalType packed = LogicalType::of(x);
  int64_t groups = op.getGroups();
  int64_t channels = *packed.extents.back().getConstant();
  SmallVector<ExtentAttr> extents(packed.extents);
  extents.back() = extent::constant(op.getContext(), groups);
  extents.push_back(extent::constant(op.getContext(), channels / groups));
  x = tensors.reshape(x, extents);
  LogicalType grouped = LogicalType::of(x);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < grouped.getRank(); ++dim)
    if (dim != grouped.getRank() - 2)
      dims.push_back(dim);
  auto mean = [&](Value value) {
    return tensors.reduce(ReduceKind::Mean, value, dims, /*batch=*/false,
                          /*keepdims=*/true);
  };
  Value centred = tensors.centre(x, dims);
  Value rate = getRate(tensors, mean(tensors.mul(centred, centred)),
                       op.getEps().convertToDouble());
  Value normal = tensors.map(grouped, {centred, rate},
                             [](OpBuilder &b, Location l, ValueRange v) {
                               return Scalars{b, l}.mul(v[0], v[1]);
                             });
  SmallVector<int64_t> inverse(order.size());
  for (auto [k, dim] : llvm::enumerate(order))
    inverse[dim] = k;
  Value result =
      tensors.transpose(tensors.reshape(normal, packed.extents), inverse);
  LogicalType wide = LogicalType::of(result);
  unsigned next = 1;
  auto combine = [&](bool isScale) {
    result =
        tensors.map(wide, {result, tensors.widen(operands[next++])},
                    [&](OpBuilder &b, Location l, ValueRange v) {
                      Scalars s{b, l};
                      return isScale ? s.mul(v[0], v[1]) : s.add(v[0], v[1]);
                    });
  };
  if (op.getScale())
    combine(/*isScale=*/true);
  if (op.getOffset())
    combine(/*isScale=*/false);
  return tensors.withType(tensors.convertFloat(result, type.elementType),
                          op.getType());
}

FailureOr<SmallVector<Value>>
NormalizeOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  LogicalType type = LogicalType::of(getSource());
  Type wide = getAccumulatorType(type.elementType);
  LogicalType full = type;
  full.elementType = wide;
  // The dims of the statistics; a group of all channels has all of them.
  NormalizeKind kind = getKind();
  if (kind == NormalizeKind::Group && getGroups() != 1)
    return adjoint.differentiateAs(
        getOperation()->getOperands(), gradients, active,
        [&](ValueRange operands) {
          return SmallVector<Value>{normalizeGroups(*this, adjoint, operands)};
        });
  int64_t first = type.getRank() - getDims(), last = type.getRank();
  if (kind == NormalizeKind::Group || kind == NormalizeKind::Instance)
    first = 0;
  if (kind == NormalizeKind::Instance)
    --last;
  bool isCentred = kind != NormalizeKind::RMS;
  SmallVector<int64_t> dims;
  for (int64_t dim = first; dim < last; ++dim)
    dims.push_back(dim);
  auto mean = [&](Value value) {
    return adjoint.reduce(ReduceKind::Mean, value, dims, /*batch=*/false,
                          /*keepdims=*/true);
  };
  auto mul = [](OpBuilder &b, Location l, ValueRange v) -> Value {
    return arith::MulFOp::create(b, l, v[0], v[1]);
  };

  // The statistics again: they are cheaper than their memory.
  Value x = adjoint.convertFloat(getSource(), wide);
  Value g = adjoint.convertFloat(gradients[0], wide);
  auto withoutMean = [&](Value value) {
    return isCentred ? adjoint.centre(value, dims) : value;
  };
  Value centred = withoutMean(x);
  Value variance = mean(adjoint.mul(centred, centred));
  Value rate = getRate(adjoint, variance, getEps().convertToDouble());
  Value normal = adjoint.map(full, {centred, rate}, mul);

  SmallVector<Value> results(getNumOperands());
  unsigned next = 1;
  Value scaled = g;
  if (getScale()) {
    Value scale = adjoint.convertFloat(getScale(), wide);
    scaled = adjoint.map(full, {g, scale}, mul);
    if (active[next]) {
      Value sum = adjoint.sumTo(adjoint.mul(g, normal), scale.getType());
      results[next] = adjoint.convertFloat(sum, type.elementType);
    }
    ++next;
  }
  if (getOffset() && active[next]) {
    LogicalType offset = LogicalType::of(getOffset());
    offset.elementType = wide;
    Value sum = adjoint.sumTo(g, offset.toType());
    results[next] = adjoint.convertFloat(sum, type.elementType);
  }
  if (active[0]) {
    Value along = mean(adjoint.mul(scaled, normal));
    Value dx =
        adjoint.map(full, {withoutMean(scaled), normal, along, rate},
                    [](OpBuilder &b, Location l, ValueRange v) -> Value {
                      Value part = arith::MulFOp::create(b, l, v[1], v[2]);
                      Value rest = arith::SubFOp::create(b, l, v[0], part);
                      return arith::MulFOp::create(b, l, rest, v[3]);
                    });
    results[0] = adjoint.withType(adjoint.convertFloat(dx, type.elementType),
                                  getSource().getType());
  }
  return results;
}
