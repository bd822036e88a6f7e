//===- RaggedAdjointGeneric.cpp - Derivative of ragged.generic ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For additive combiners: result = init + the sum over the reduced dims of
// t(inputs). The gradient of an input is a generic over the same dims that adds
// up g * dt/dx at the element that was read: dims that the input is indexed by
// become parallel, all others reductions. So the input's map has to be a
// permutation of some dims (constants where its extent is 1).
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Dialect/Ragged/IR/GenericRegion.h"

using namespace mlir;
using namespace nested::ragged;

/// What is added to the accumulator of output `i`; the value that is yielded
/// where there is no accumulator. Null: another combiner.
static Value getSummand(GenericOp op, unsigned i) {
  Block &body = op.getBody().front();
  Value yielded = body.getTerminator()->getOperand(i);
  Value accumulator = body.getArgument(op.getInputs().size() + i);
  Value summand = yielded;
  if (!accumulator.use_empty()) {
    auto add = yielded.getDefiningOp<arith::AddFOp>();
    if (!add || (add.getLhs() != accumulator && add.getRhs() != accumulator))
      return {};
    summand = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
  }
  return readsAccumulator(op, summand) ? Value() : summand;
}

/// The gradient of input `i` from that of output `k`.
static FailureOr<Value> differentiateGeneric(GenericOp op, OpBuilder &b,
                                             Value gradient, unsigned k,
                                             unsigned i) {
  Location loc = op.getLoc();
  LogicalType input = LogicalType::of(op.getInputs()[i]);
  AffineMap map = op.getInputMap(i);
  unsigned rank = op.getDims().size();
  SmallVector<AffineExpr> exprs;
  SmallVector<ExtentAttr> extents;
  SmallVector<int64_t> positions;
  llvm::SmallBitVector kept(rank);
  bool isSupported = op.getInputOffsets(i).empty() && !op.getInputOutside(i);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto d = dyn_cast<AffineDimExpr>(expr)) {
      isSupported &= !kept.test(d.getPosition());
      kept.set(d.getPosition());
      exprs.push_back(expr);
      extents.push_back(input.extents[dim]);
      positions.push_back(dim);
    } else {
      isSupported &= isa<AffineConstantExpr>(expr) &&
                     input.extents[dim].getConstant() == 1;
    }
  }
  if (!isSupported)
    return op.emitOpError("has no derivative with respect to input ")
           << i << ": expected its map to be a permutation of some dims, "
           << "without offsets, and to stay inside";

  Type wide = getAccumulatorType(input.elementType);
  GenericBuilder builder(b, loc);
  GenericBuilder::Spec spec(op);
  bool sums = !kept.all();
  for (unsigned dim = 0; dim < rank; ++dim)
    spec.reduction[dim] = !kept.test(dim);
  for (unsigned j = 0; j < op.getInputs().size(); ++j)
    spec.addInput(op, j);
  spec.inputs.push_back(gradient);
  spec.maps.push_back(op.getOutputMap(k));
  spec.offsets.emplace_back();
  spec.outside.emplace_back();
  spec.outputMap = AffineMap::get(rank, 0, exprs, b.getContext());
  // What is left of the path is summed below.
  spec.batchReduced = spec.path.size() == 1 && input.path.empty();
  sums |= spec.batchReduced;
  SmallVector<StringAttr> path(spec.path);
  if (spec.batchReduced)
    path.pop_back();
  LogicalType result(path, extents, sums ? wide : input.elementType);
  spec.init = sums ? builder.fill(result, getNumberAttr(wide, 0))
                   : builder.empty(result);
  FailureOr<Value> part = Value();
  Value total =
      builder.build(spec, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        IRMapping mapping;
        Block &body = op.getBody().front();
        for (unsigned j = 0; j < op.getInputs().size(); ++j)
          mapping.map(body.getArgument(j), v[j]);
        // The accumulators are not part of a summand.
        for (BlockArgument argument :
             body.getArguments().drop_front(op.getInputs().size()))
          mapping.map(argument, v.back());
        SmallVector<Operation *> ops;
        for (Operation &inner : body.without_terminator())
          if (!llvm::is_contained(inner.getOperands(),
                                  body.getArgument(op.getInputs().size() + k)))
            ops.push_back(b.clone(inner, mapping));
        part = AdjointBuilder::differentiateScalars(
            b, ops, v[i], mapping.lookupOrDefault(getSummand(op, k)),
            v[op.getInputs().size()]);
        Value x = succeeded(part) && *part
                      ? *part
                      : arith::ConstantOp::create(
                            b, l, getNumberAttr(input.elementType, 0))
                            .getResult();
        if (!sums)
          return x;
        return arith::AddFOp::create(b, l, v.back(), makeFloat(b, l, wide, x));
      });
  auto made = total.getDefiningOp<GenericOp>();
  if (failed(part) || !*part) {
    made.erase();
    return part;
  }
  eraseDeadOps(made.getBody().front());
  AdjointBuilder adjoint(b, loc);
  total = adjoint.convertFloat(total, input.elementType);
  LogicalType kind(input.path, extents, input.elementType);
  total = adjoint.sumTo(total, kind.toType());
  Type type = op.getInputs()[i].getType();
  if (positions.size() < map.getNumResults())
    return adjoint.broadcast(total, positions, type);
  return adjoint.withType(total, type);
}

FailureOr<SmallVector<Value>> GenericOp::emitAdjoint(OpBuilder &builder,
                                                     ArrayRef<Value> gradients,
                                                     ArrayRef<Value>,
                                                     ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  SmallVector<Value> results(getNumOperands());
  unsigned inputs = getInputs().size();
  for (auto [k, gradient] : llvm::enumerate(gradients)) {
    if (!gradient)
      continue;
    if (!getSummand(*this, k))
      return emitOpError("has no derivative: expected output ")
             << k << " to be a sum, its accumulator plus a value";
    for (unsigned i = 0; i < inputs; ++i) {
      if (!active[i])
        continue;
      FailureOr<Value> part =
          differentiateGeneric(*this, builder, gradient, k, i);
      if (failed(part))
        return failure();
      if (*part)
        results[i] = results[i] ? adjoint.add(results[i], *part) : *part;
    }
    bool starts = !getBody().front().getArgument(inputs + k).use_empty();
    if (active[inputs + k] && starts)
      results[inputs + k] = gradient;
  }
  return results;
}
