//===- RaggedAdjointScan.cpp - Derivatives of running reductions ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The adjoint of steps in one direction is steps in the other. Below, b is the
// index whose gradient is computed, a those whose results b reaches.
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include <limits>

using namespace mlir;
using namespace nested::ragged;

namespace {
class AccumulateAdjoint {
public:
  AccumulateAdjoint(AccumulateOp op, OpBuilder &builder)
      : op(op), b(builder), loc(op.getLoc()), adjoint(builder, loc),
        type(LogicalType::of(op.getSource())) {}
  Value run(Value gradient);

private:
  using Body = llvm::function_ref<SmallVector<Value>(Scalars &, ValueRange)>;
  /// One result, by steps along the op's dim.
  Value scan(ValueRange inputs, bool reverse, ArrayRef<Attribute> init,
             Type elementType, Body body);
  Value accumulate(AccumulateKind kind, Value value, bool reverse,
                   bool exclusive) {
    return AccumulateOp::create(b, loc, kind, value, op.getDim(), reverse,
                                exclusive);
  }
  Value ofProducts(Value gradient);
  Value ofWinners(Value gradient);
  Value ofExponentials(Value gradient);

  AccumulateOp op;
  OpBuilder &b;
  Location loc;
  AdjointBuilder adjoint;
  LogicalType type;
};
} // namespace

Value AccumulateAdjoint::scan(ValueRange inputs, bool reverse,
                              ArrayRef<Attribute> init, Type elementType,
                              Body body) {
  LogicalType result = type;
  result.elementType = elementType;
  auto made = ScanOp::create(b, loc, TypeRange{result.toType()}, inputs,
                             b.getI64IntegerAttr(op.getDim()),
                             reverse ? b.getUnitAttr() : UnitAttr(),
                             b.getArrayAttr(init));
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(LogicalType::of(input).elementType);
  for (Attribute value : init)
    types.push_back(cast<TypedAttr>(value).getType());
  Block *block = b.createBlock(&made.getBody(), {}, types,
                               SmallVector<Location>(types.size(), loc));
  Scalars scalars{b, loc};
  SmallVector<Value> yielded = body(scalars, block->getArguments());
  YieldOp::create(b, loc, yielded);
  return made.getResult(0);
}

/// dx_b = (the product before b) * r_b with r_b = g_b + x_(b+1) r_(b+1): no
/// division, so that zeros are numbers like others.
Value AccumulateAdjoint::ofProducts(Value gradient) {
  bool exclusive = op.getExclusive();
  Value before = accumulate(AccumulateKind::Prod, op.getSource(),
                            op.getReverse(), /*exclusive=*/true);
  Value rest = scan({op.getSource(), gradient}, !op.getReverse(),
                    {getNumberAttr(type.elementType, 0)}, type.elementType,
                    [&](Scalars &s, ValueRange v) -> SmallVector<Value> {
                      Value x = v[0], g = v[1], after = v[2];
                      if (exclusive)
                        return {s.add(g, s.mul(x, after)), after};
                      Value sum = s.add(g, after);
                      return {s.mul(x, sum), sum};
                    });
  return adjoint.mul(before, rest);
}

/// R10: the first largest (smallest) so far, or the first NaN, has the
/// gradients of all results until the next one takes over.
Value AccumulateAdjoint::ofWinners(Value gradient) {
  bool isMax = op.getKind() == AccumulateKind::Max;
  bool exclusive = op.getExclusive();
  Type t = type.elementType, i1 = b.getI1Type();
  double worst = std::numeric_limits<double>::infinity() * (isMax ? -1 : 1);
  Value wins =
      scan(op.getSource(), op.getReverse(),
           {getNumberAttr(t, worst), IntegerAttr::get(i1, 0)}, i1,
           [&](Scalars &s, ValueRange v) -> SmallVector<Value> {
             Value x = v[0], best = v[1], started = v[2];
             Value yes =
                 arith::ConstantOp::create(s.b, s.loc, IntegerAttr::get(i1, 1));
             Value better = s.compare(isMax ? arith::CmpFPredicate::OGT
                                            : arith::CmpFPredicate::OLT,
                                      x, best);
             Value first = s.both(
                 s.isNaN(x), s.compare(arith::CmpFPredicate::ORD, best, best));
             Value fresh = arith::XOrIOp::create(s.b, s.loc, started, yes);
             Value won = s.either(fresh, s.either(better, first));
             return {s.select(won, x, best), yes, won};
           });
  return scan({wins, gradient}, !op.getReverse(), {getNumberAttr(t, 0)}, t,
              [&](Scalars &s, ValueRange v) -> SmallVector<Value> {
                Value won = v[0], g = v[1], sum = v[2], zero = s.number(t, 0);
                if (!exclusive)
                  sum = s.add(sum, g);
                Value mine = s.select(won, sum, zero);
                Value rest = s.select(won, zero, sum);
                if (exclusive)
                  rest = s.add(rest, g);
                return {rest, mine};
              });
}

/// dx_b = exp(x_b) * the sum over a of g_a exp(-y_a), in logarithms, with
/// positive and negative gradients apart. A result of -inf has no gradient
/// (R5).
Value AccumulateAdjoint::ofExponentials(Value gradient) {
  Type t = type.elementType;
  auto part = [&](bool positive) {
    Value logs = adjoint.map(
        type, {gradient, op.getResult()},
        [&](OpBuilder &b, Location l, ValueRange v) -> Value {
          Scalars s{b, l};
          Value g = v[0];
          if (!positive)
            g = arith::NegFOp::create(b, l, g);
          Value none = s.number(t, -std::numeric_limits<double>::infinity());
          // A NaN goes on.
          Value counts =
              s.both(s.compare(arith::CmpFPredicate::UGT, g, s.number(t, 0)),
                     s.compare(arith::CmpFPredicate::UNE, v[1], none));
          Value log =
              math::LogOp::create(b, l, s.select(counts, g, s.number(t, 1)));
          return s.select(counts, s.sub(log, v[1]), none);
        });
    Value sums = accumulate(AccumulateKind::LogSumExp, logs, !op.getReverse(),
                            op.getExclusive());
    return adjoint.map(type, {op.getSource(), sums},
                       [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                         Scalars s{b, l};
                         return math::ExpOp::create(b, l, s.add(v[0], v[1]));
                       });
  };
  return adjoint.map(type, {part(true), part(false)},
                     [&](OpBuilder &b, Location l, ValueRange v) -> Value {
                       return Scalars{b, l}.sub(v[0], v[1]);
                     });
}

Value AccumulateAdjoint::run(Value gradient) {
  switch (op.getKind()) {
  case AccumulateKind::Sum:
    return accumulate(AccumulateKind::Sum, gradient, !op.getReverse(),
                      op.getExclusive());
  case AccumulateKind::Prod:
    return ofProducts(gradient);
  case AccumulateKind::Max:
  case AccumulateKind::Min:
    return ofWinners(gradient);
  case AccumulateKind::LogSumExp:
    return ofExponentials(gradient);
  }
  llvm_unreachable("covered switch");
}

FailureOr<SmallVector<Value>>
AccumulateOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                          ArrayRef<Value>, ArrayRef<bool>) {
  return SmallVector<Value>{
      AccumulateAdjoint(*this, builder).run(gradients[0])};
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

namespace {
/// With (c_t, y_t) = f(x_t, c_(t-1)), the steps back carry the gradient of c:
/// (dx_t, dc_(t-1)) = f'(x_t, c_(t-1))^T (dc_t, dy_t). What was carried before
/// each step is computed by the same steps again.
class ScanAdjoint {
public:
  ScanAdjoint(ScanOp op, OpBuilder &builder)
      : op(op), b(builder), loc(op.getLoc()),
        type(LogicalType::of(op.getResult(0))) {}
  FailureOr<SmallVector<Value>> run(ArrayRef<Value> gradients,
                                    ArrayRef<bool> active);

private:
  ScanOp create(ValueRange inputs, bool reverse, ArrayRef<Attribute> init,
                TypeRange elements, Block *&block);
  /// Copies the region's ops to where the builder is; what it yields.
  SmallVector<Value> cloneBody(ValueRange inputs, ValueRange carried,
                               SmallVector<Operation *> &ops);
  SmallVector<Value> getCarried();

  ScanOp op;
  OpBuilder &b;
  Location loc;
  LogicalType type;
};
} // namespace

ScanOp ScanAdjoint::create(ValueRange inputs, bool reverse,
                           ArrayRef<Attribute> init, TypeRange elements,
                           Block *&block) {
  SmallVector<Type> results, types;
  for (Type element : elements) {
    LogicalType result = type;
    result.elementType = element;
    results.push_back(result.toType());
  }
  auto scan = ScanOp::create(b, loc, results, inputs, op.getDimAttr(),
                             reverse ? b.getUnitAttr() : UnitAttr(),
                             b.getArrayAttr(init));
  for (Value input : inputs)
    types.push_back(getScalarType(LogicalType::of(input).elementType));
  for (Attribute value : init)
    types.push_back(cast<TypedAttr>(value).getType());
  block = b.createBlock(&scan.getBody(), {}, types,
                        SmallVector<Location>(types.size(), loc));
  return scan;
}

SmallVector<Value> ScanAdjoint::cloneBody(ValueRange inputs, ValueRange carried,
                                          SmallVector<Operation *> &ops) {
  IRMapping mapping;
  Block &body = op.getBody().front();
  size_t count = inputs.size();
  mapping.map(body.getArguments().take_front(count), inputs);
  mapping.map(body.getArguments().drop_front(count), carried);
  for (Operation &inner : body.without_terminator())
    ops.push_back(b.clone(inner, mapping));
  SmallVector<Value> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

SmallVector<Value> ScanAdjoint::getCarried() {
  SmallVector<Type> types;
  for (Attribute init : op.getInit())
    types.push_back(cast<TypedAttr>(init).getType());
  OpBuilder::InsertionGuard guard(b);
  Block *block;
  ScanOp scan = create(op.getInputs(), op.getReverse(), op.getInit().getValue(),
                       types, block);
  size_t count = op.getInputs().size();
  ValueRange carried = block->getArguments().drop_front(count);
  SmallVector<Operation *> ops;
  SmallVector<Value> yielded =
      cloneBody(block->getArguments().take_front(count), carried, ops);
  yielded.truncate(carried.size());
  llvm::append_range(yielded, carried);
  YieldOp::create(b, loc, yielded);
  eraseDeadOps(*block);
  return llvm::to_vector_of<Value>(scan.getResults());
}

FailureOr<SmallVector<Value>> ScanAdjoint::run(ArrayRef<Value> gradients,
                                               ArrayRef<bool> active) {
  SmallVector<Value> inputs(op.getInputs()), before = getCarried();
  size_t count = inputs.size();
  llvm::append_range(inputs, before);
  for (Value gradient : gradients)
    if (gradient)
      inputs.push_back(gradient);
  SmallVector<Attribute> init;
  for (Value value : before)
    if (Type t = LogicalType::of(value).elementType; isa<FloatType>(t))
      init.push_back(getNumberAttr(t, 0));
  SmallVector<Type> elements;
  for (unsigned i = 0; i < count; ++i)
    if (active[i])
      elements.push_back(LogicalType::of(inputs[i]).elementType);

  OpBuilder::InsertionGuard guard(b);
  Block *block;
  ScanOp scan = create(inputs, !op.getReverse(), init, elements, block);
  ValueRange arguments = block->getArguments();
  ValueRange carried = arguments.slice(count, before.size());
  ValueRange seedsOfResults = arguments.slice(
      count + before.size(), inputs.size() - count - before.size());
  ValueRange seedsOfCarried = arguments.take_back(init.size());
  SmallVector<Operation *> ops;
  SmallVector<Value> outputs =
      cloneBody(arguments.take_front(count), carried, ops);
  SmallVector<Value> seeds, variables;
  for (Value value : carried) {
    bool isFloat = isa<FloatType>(value.getType());
    seeds.push_back(isFloat ? seedsOfCarried.front() : Value());
    if (!isFloat)
      continue;
    seedsOfCarried = seedsOfCarried.drop_front();
    variables.push_back(value);
  }
  for (Value gradient : gradients) {
    seeds.push_back(gradient ? seedsOfResults.front() : Value());
    if (gradient)
      seedsOfResults = seedsOfResults.drop_front();
  }
  for (unsigned i = 0; i < count; ++i)
    if (active[i])
      variables.push_back(arguments[i]);
  auto found =
      AdjointBuilder::differentiateScalars(b, ops, variables, outputs, seeds);
  if (failed(found)) {
    scan.erase();
    return failure();
  }
  for (auto [variable, gradient] : llvm::zip_equal(variables, *found))
    if (!gradient)
      gradient = makeNumber(b, loc, variable.getType(), 0);
  YieldOp::create(b, loc, *found);
  eraseDeadOps(*block);
  // What the derivative does not depend on is not read, and then not computed.
  for (unsigned k = inputs.size(); k-- > 0;)
    if (block->getArgument(k).use_empty() && scan.getInputs().size() > 1) {
      block->eraseArgument(k);
      scan.getInputsMutable().erase(k);
    }
  SmallVector<Value> results(count);
  unsigned next = 0;
  for (unsigned i = 0; i < count; ++i)
    if (active[i])
      results[i] = scan.getResult(next++);
  return results;
}

FailureOr<SmallVector<Value>> ScanOp::emitAdjoint(OpBuilder &builder,
                                                  ArrayRef<Value> gradients,
                                                  ArrayRef<Value>,
                                                  ArrayRef<bool> active) {
  return ScanAdjoint(*this, builder).run(gradients, active);
}
