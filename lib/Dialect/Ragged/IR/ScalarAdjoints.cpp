//===- ScalarAdjoints.cpp - Derivatives of arith and math -----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// External models of DifferentiableOpInterface, from one table of rules at the
// end. A rule gives the gradients of the operands from the gradient `g` of the
// result; what nothing uses is erased by whoever asked.
//
// A product with a local derivative is *guarded*: where g is 0 and the product
// NaN, because the derivative is infinite or NaN, the result is 0. So what a
// select left out (R4: masking selects) stays out of every gradient, however
// bad the value was.
//
//===----------------------------------------------------------------------===//

#include "nested/Dialect/Ragged/IR/Differentiation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <cmath>

using namespace mlir;
using namespace nested::ragged;

namespace {
/// A float that is being computed, with the operators of C++.
struct Scalar {
  Value value;
  OpBuilder *b = nullptr;
  Location loc;

  Scalar with(Value other) const { return {other, b, loc}; }
  Scalar number(double x) const {
    return with(
        arith::ConstantOp::create(*b, loc, FloatAttr::get(value.getType(), x)));
  }
  template <typename Op>
  Scalar unary() const {
    return with(Op::create(*b, loc, value));
  }
  template <typename Op>
  Scalar binary(Scalar other) const {
    return with(Op::create(*b, loc, value, other.value));
  }
  Scalar operator-() const { return unary<arith::NegFOp>(); }
  Value compare(arith::CmpFPredicate predicate, Scalar other) const {
    return arith::CmpFOp::create(*b, loc, predicate, value, other.value);
  }
};
} // namespace

static Scalar operator+(Scalar x, Scalar y) {
  return x.binary<arith::AddFOp>(y);
}
static Scalar operator-(Scalar x, Scalar y) {
  return x.binary<arith::SubFOp>(y);
}
static Scalar operator*(Scalar x, Scalar y) {
  return x.binary<arith::MulFOp>(y);
}
static Scalar operator/(Scalar x, Scalar y) {
  return x.binary<arith::DivFOp>(y);
}
static Scalar operator*(double x, Scalar y) { return y.number(x) * y; }
static Scalar operator+(double x, Scalar y) { return y.number(x) + y; }
static Scalar operator-(double x, Scalar y) { return y.number(x) - y; }

static Scalar select(Value condition, Scalar x, Scalar y) {
  return x.with(
      arith::SelectOp::create(*x.b, x.loc, condition, x.value, y.value));
}
static Value isNaN(Scalar x) { return x.compare(arith::CmpFPredicate::UNO, x); }

/// `product` of the gradient `g` with something: 0 where g is 0 and it is NaN.
static Scalar guarded(Scalar g, Scalar product) {
  Scalar zero = g.number(0);
  Value bad = arith::AndIOp::create(*g.b, g.loc, isNaN(product),
                                    g.compare(arith::CmpFPredicate::OEQ, zero));
  return select(bad, zero, product);
}

/// Whether the first operand is what maximum (minimum) gives: R10, the first of
/// equal ones, and the first NaN. With `skipsNaN` a NaN loses.
static Value firstWins(Scalar x, Scalar y, bool isMax, bool skipsNaN) {
  auto predicate =
      isMax ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OLE;
  return arith::OrIOp::create(*x.b, x.loc, x.compare(predicate, y),
                              isNaN(skipsNaN ? y : x));
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
/// (g, operands, result) to the gradients of the operands.
using Operands = ArrayRef<Scalar>;
using Results = SmallVector<Scalar>;
using Rule = Results (*)(Scalar g, Operands x, Scalar y);

template <typename Op, Rule rule>
struct Adjoint
    : public DifferentiableOpInterface::ExternalModel<Adjoint<Op, rule>, Op> {
  FailureOr<SmallVector<Value>> emitAdjoint(Operation *op, OpBuilder &builder,
                                            ArrayRef<Value> gradients,
                                            ArrayRef<Value>,
                                            ArrayRef<bool>) const {
    Scalar g{gradients[0], &builder, op->getLoc()};
    SmallVector<Scalar> operands;
    for (Value operand : op->getOperands())
      operands.push_back(g.with(operand));
    SmallVector<Value> results;
    for (Scalar result : rule(g, operands, g.with(op->getResult(0))))
      results.push_back(result.value);
    results.resize(op->getNumOperands());
    return results;
  }
};

/// The derivative is 0 wherever there is one.
template <typename Op>
struct NoAdjoint
    : public DifferentiableOpInterface::ExternalModel<NoAdjoint<Op>, Op> {
  FailureOr<SmallVector<Value>> emitAdjoint(Operation *op, OpBuilder &,
                                            ArrayRef<Value>, ArrayRef<Value>,
                                            ArrayRef<bool>) const {
    return SmallVector<Value>(op->getNumOperands());
  }
};

/// A conversion of floats; its adjoint converts back.
template <typename Op, typename Back>
struct ConversionAdjoint : public DifferentiableOpInterface::ExternalModel<
                               ConversionAdjoint<Op, Back>, Op> {
  FailureOr<SmallVector<Value>> emitAdjoint(Operation *op, OpBuilder &builder,
                                            ArrayRef<Value> gradients,
                                            ArrayRef<Value>,
                                            ArrayRef<bool>) const {
    return SmallVector<Value>{Back::create(
        builder, op->getLoc(), op->getOperand(0).getType(), gradients[0])};
  }
};

struct SelectAdjoint
    : public DifferentiableOpInterface::ExternalModel<SelectAdjoint,
                                                      arith::SelectOp> {
  FailureOr<SmallVector<Value>> emitAdjoint(Operation *op, OpBuilder &builder,
                                            ArrayRef<Value> gradients,
                                            ArrayRef<Value>,
                                            ArrayRef<bool>) const {
    Scalar g{gradients[0], &builder, op->getLoc()};
    Value condition = op->getOperand(0);
    return SmallVector<Value>{Value(), select(condition, g, g.number(0)).value,
                              select(condition, g.number(0), g).value};
  }
};

/// `x ** n` for an integer n.
struct FPowIAdjoint
    : public DifferentiableOpInterface::ExternalModel<FPowIAdjoint,
                                                      math::FPowIOp> {
  FailureOr<SmallVector<Value>> emitAdjoint(Operation *op, OpBuilder &builder,
                                            ArrayRef<Value> gradients,
                                            ArrayRef<Value>,
                                            ArrayRef<bool>) const {
    Location loc = op->getLoc();
    Scalar g{gradients[0], &builder, loc};
    Scalar x = g.with(op->getOperand(0));
    Value n = op->getOperand(1);
    Value one = arith::ConstantOp::create(builder, loc,
                                          IntegerAttr::get(n.getType(), 1));
    Scalar below = g.with(math::FPowIOp::create(
        builder, loc, x.value, arith::SubIOp::create(builder, loc, n, one)));
    Scalar factor =
        g.with(arith::SIToFPOp::create(builder, loc, g.value.getType(), n));
    // Of the power 0 whatever x is.
    Value isZero = factor.compare(arith::CmpFPredicate::OEQ, g.number(0));
    return SmallVector<Value>{
        select(isZero, g.number(0), guarded(g, g * (factor * below))).value,
        Value()};
  }
};
} // namespace

template <typename Op, Rule rule>
static void attach(MLIRContext &context) {
  Op::template attachInterface<Adjoint<Op, rule>>(context);
}

/// A function of one number, by its derivative.
template <Scalar (*derivative)(Scalar x, Scalar y)>
static Results unaryAdjoint(Scalar g, Operands x, Scalar y) {
  return {guarded(g, g * derivative(x[0], y))};
}
template <typename Op, Scalar (*derivative)(Scalar x, Scalar y)>
static void attachUnary(MLIRContext &context) {
  attach<Op, unaryAdjoint<derivative>>(context);
}

template <typename... Ops>
static void attachNone(MLIRContext &context) {
  (Ops::template attachInterface<NoAdjoint<Ops>>(context), ...);
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

static Results addFAdjoint(Scalar g, Operands, Scalar) { return {g, g}; }
static Results subFAdjoint(Scalar g, Operands, Scalar) { return {g, -g}; }
static Results negFAdjoint(Scalar g, Operands, Scalar) { return {-g}; }
static Results mulFAdjoint(Scalar g, Operands x, Scalar) {
  return {guarded(g, g * x[1]), guarded(g, g * x[0])};
}
static Results divFAdjoint(Scalar g, Operands x, Scalar y) {
  // One division: it costs ten products.
  Scalar quotient = g / x[1];
  return {guarded(g, quotient), guarded(g, -(quotient * y))};
}
static Results remFAdjoint(Scalar g, Operands x, Scalar) {
  Scalar whole = (x[0] / x[1]).unary<math::TruncOp>();
  return {g, guarded(g, -(g * whole))};
}
static Results maximumFAdjoint(Scalar g, Operands x, Scalar) {
  Value first = firstWins(x[0], x[1], /*isMax=*/true, /*skipsNaN=*/false);
  return {select(first, g, g.number(0)), select(first, g.number(0), g)};
}
static Results minimumFAdjoint(Scalar g, Operands x, Scalar) {
  Value first = firstWins(x[0], x[1], /*isMax=*/false, /*skipsNaN=*/false);
  return {select(first, g, g.number(0)), select(first, g.number(0), g)};
}
static Results maxNumFAdjoint(Scalar g, Operands x, Scalar) {
  Value first = firstWins(x[0], x[1], /*isMax=*/true, /*skipsNaN=*/true);
  return {select(first, g, g.number(0)), select(first, g.number(0), g)};
}
static Results minNumFAdjoint(Scalar g, Operands x, Scalar) {
  Value first = firstWins(x[0], x[1], /*isMax=*/false, /*skipsNaN=*/true);
  return {select(first, g, g.number(0)), select(first, g.number(0), g)};
}
static Results fmaAdjoint(Scalar g, Operands x, Scalar) {
  return {guarded(g, g * x[1]), guarded(g, g * x[0]), g};
}
static Results powFAdjoint(Scalar g, Operands x, Scalar y) {
  // x ** 0 is 1 whatever x is; 0 ** n is 0 for every n near a positive one.
  Scalar zero = g.number(0), one = g.number(1);
  Value isConstant = x[1].compare(arith::CmpFPredicate::OEQ, zero);
  Value isZero = x[0].compare(arith::CmpFPredicate::OEQ, zero);
  Scalar below = x[0].binary<math::PowFOp>(x[1] - one);
  Scalar log = select(isZero, one, x[0]).unary<math::LogOp>();
  return {select(isConstant, zero, guarded(g, g * (x[1] * below))),
          guarded(g, g * (y * log))};
}
static Results atan2Adjoint(Scalar g, Operands x, Scalar) {
  Scalar square = x[0] * x[0] + x[1] * x[1];
  return {guarded(g, g * x[1] / square), guarded(g, -(g * x[0] / square))};
}
static Results copySignAdjoint(Scalar g, Operands x, Scalar) {
  Scalar one = g.number(1);
  Scalar sign =
      one.binary<math::CopySignOp>(x[0]) * one.binary<math::CopySignOp>(x[1]);
  return {g * sign, g.number(0)};
}

static void attachArith(MLIRContext &context) {
  attach<arith::AddFOp, addFAdjoint>(context);
  attach<arith::SubFOp, subFAdjoint>(context);
  attach<arith::NegFOp, negFAdjoint>(context);
  attach<arith::MulFOp, mulFAdjoint>(context);
  attach<arith::DivFOp, divFAdjoint>(context);
  attach<arith::RemFOp, remFAdjoint>(context);
  attach<arith::MaximumFOp, maximumFAdjoint>(context);
  attach<arith::MinimumFOp, minimumFAdjoint>(context);
  attach<arith::MaxNumFOp, maxNumFAdjoint>(context);
  attach<arith::MinNumFOp, minNumFAdjoint>(context);
  arith::SelectOp::attachInterface<SelectAdjoint>(context);
  arith::ExtFOp::attachInterface<
      ConversionAdjoint<arith::ExtFOp, arith::TruncFOp>>(context);
  arith::TruncFOp::attachInterface<
      ConversionAdjoint<arith::TruncFOp, arith::ExtFOp>>(context);
}

static Scalar exp(Scalar x) { return x.unary<math::ExpOp>(); }
static Scalar rsqrt(Scalar x) { return x.number(1) / x.unary<math::SqrtOp>(); }
static Scalar dExp(Scalar, Scalar y) { return y; }
static Scalar dExp2(Scalar, Scalar y) { return M_LN2 * y; }
static Scalar dExpM1(Scalar, Scalar y) { return 1 + y; }
static Scalar dLog(Scalar x, Scalar) { return x.number(1) / x; }
static Scalar dLog2(Scalar x, Scalar) { return x.number(M_LOG2E) / x; }
static Scalar dLog10(Scalar x, Scalar) { return x.number(M_LOG10E) / x; }
static Scalar dLog1p(Scalar x, Scalar) { return x.number(1) / (1 + x); }
static Scalar dSqrt(Scalar, Scalar y) { return y.number(0.5) / y; }
static Scalar dRsqrt(Scalar, Scalar y) { return -0.5 * (y * y * y); }
static Scalar dCbrt(Scalar, Scalar y) { return y.number(1.0 / 3) / (y * y); }
static Scalar dSin(Scalar x, Scalar) { return x.unary<math::CosOp>(); }
static Scalar dCos(Scalar x, Scalar) { return -x.unary<math::SinOp>(); }
static Scalar dTan(Scalar, Scalar y) { return 1 + y * y; }
static Scalar dAsin(Scalar x, Scalar) { return rsqrt(1 - x * x); }
static Scalar dAcos(Scalar x, Scalar) { return -rsqrt(1 - x * x); }
static Scalar dAtan(Scalar x, Scalar) { return x.number(1) / (1 + x * x); }
static Scalar dSinh(Scalar x, Scalar) { return x.unary<math::CoshOp>(); }
static Scalar dCosh(Scalar x, Scalar) { return x.unary<math::SinhOp>(); }
static Scalar dTanh(Scalar, Scalar y) { return 1 - y * y; }
static Scalar dAsinh(Scalar x, Scalar) { return rsqrt(1 + x * x); }
static Scalar dAcosh(Scalar x, Scalar) {
  return x.number(1) / ((x - x.number(1)).unary<math::SqrtOp>() *
                        (1 + x).unary<math::SqrtOp>());
}
static Scalar dAtanh(Scalar x, Scalar) { return x.number(1) / (1 - x * x); }
static Scalar dErf(Scalar x, Scalar) { return M_2_SQRTPI * exp(-(x * x)); }
static Scalar dErfc(Scalar x, Scalar) { return -M_2_SQRTPI * exp(-(x * x)); }
/// The sign of x, 0 at 0.
static Scalar dAbs(Scalar x, Scalar) {
  Scalar zero = x.number(0);
  Value isZero = x.compare(arith::CmpFPredicate::OEQ, zero);
  return select(isZero, zero, x.number(1).binary<math::CopySignOp>(x));
}

static void attachMath(MLIRContext &context) {
  attachUnary<math::ExpOp, dExp>(context);
  attachUnary<math::Exp2Op, dExp2>(context);
  attachUnary<math::ExpM1Op, dExpM1>(context);
  attachUnary<math::LogOp, dLog>(context);
  attachUnary<math::Log2Op, dLog2>(context);
  attachUnary<math::Log10Op, dLog10>(context);
  attachUnary<math::Log1pOp, dLog1p>(context);
  attachUnary<math::SqrtOp, dSqrt>(context);
  attachUnary<math::RsqrtOp, dRsqrt>(context);
  attachUnary<math::CbrtOp, dCbrt>(context);
  attachUnary<math::SinOp, dSin>(context);
  attachUnary<math::CosOp, dCos>(context);
  attachUnary<math::TanOp, dTan>(context);
  attachUnary<math::AsinOp, dAsin>(context);
  attachUnary<math::AcosOp, dAcos>(context);
  attachUnary<math::AtanOp, dAtan>(context);
  attachUnary<math::SinhOp, dSinh>(context);
  attachUnary<math::CoshOp, dCosh>(context);
  attachUnary<math::TanhOp, dTanh>(context);
  attachUnary<math::AsinhOp, dAsinh>(context);
  attachUnary<math::AcoshOp, dAcosh>(context);
  attachUnary<math::AtanhOp, dAtanh>(context);
  attachUnary<math::ErfOp, dErf>(context);
  attachUnary<math::ErfcOp, dErfc>(context);
  attachUnary<math::AbsFOp, dAbs>(context);
  attach<math::FmaOp, fmaAdjoint>(context);
  attach<math::PowFOp, powFAdjoint>(context);
  attach<math::Atan2Op, atan2Adjoint>(context);
  attach<math::CopySignOp, copySignAdjoint>(context);
  math::FPowIOp::attachInterface<FPowIAdjoint>(context);
  attachNone<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
             math::RoundEvenOp>(context);
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

static bool isFiniteNumber(Value value) {
  auto number = value.getDefiningOp<arith::ConstantOp>();
  auto attr = number ? dyn_cast<FloatAttr>(number.getValue()) : FloatAttr();
  return attr && attr.getValue().isFinite();
}

/// Whether `value` is 0 or NaN where `g` is 0. Sets `finite` to whether it is 0
/// whenever `g` is.
static bool vanishesWith(Value value, Value g, bool &finite) {
  if (value == g)
    return true;
  Operation *op = value.getDefiningOp();
  if (auto negation = dyn_cast_or_null<arith::NegFOp>(op))
    return vanishesWith(negation.getOperand(), g, finite);
  if (auto quotient = dyn_cast_or_null<arith::DivFOp>(op)) {
    finite &= isFiniteNumber(quotient.getRhs()) &&
              !matchPattern(quotient.getRhs(), m_AnyZeroFloat());
    return vanishesWith(quotient.getLhs(), g, finite);
  }
  auto product = dyn_cast_or_null<arith::MulFOp>(op);
  if (!product)
    return false;
  for (Value factor : {product.getLhs(), product.getRhs()}) {
    Value other =
        factor == product.getLhs() ? product.getRhs() : product.getLhs();
    bool known = isFiniteNumber(other);
    if (!vanishesWith(factor, g, known))
      continue;
    finite &= known;
    return true;
  }
  return false;
}

void nested::ragged::simplifyGuards(func::FuncOp func) {
  func.walk([](arith::SelectOp op) {
    auto both = op.getCondition().getDefiningOp<arith::AndIOp>();
    if (!both)
      return;
    auto isBad = both.getLhs().getDefiningOp<arith::CmpFOp>();
    auto isZero = both.getRhs().getDefiningOp<arith::CmpFOp>();
    Value product = op.getFalseValue();
    if (!isBad || isBad.getPredicate() != arith::CmpFPredicate::UNO ||
        isBad.getLhs() != product || isBad.getRhs() != product || !isZero ||
        isZero.getPredicate() != arith::CmpFPredicate::OEQ ||
        !matchPattern(isZero.getRhs(), m_AnyZeroFloat()) ||
        !matchPattern(op.getTrueValue(), m_AnyZeroFloat()))
      return;
    bool finite = true;
    if (!vanishesWith(product, isZero.getLhs(), finite))
      return;
    if (finite) {
      op.replaceAllUsesWith(product);
      op.erase();
    } else {
      op.getConditionMutable().set(isZero);
    }
    for (Operation *dead :
         {both.getOperation(), isBad.getOperation(), isZero.getOperation()})
      if (isOpTriviallyDead(dead))
        dead->erase();
  });
}

void nested::ragged::attachScalarAdjoints(MLIRContext &context) {
  attachArith(context);
  attachMath(context);
}
