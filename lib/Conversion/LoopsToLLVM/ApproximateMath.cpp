//===- ApproximateMath.cpp - Polynomials for f32 math functions -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. f16 and bf16 functions are computed in f32.
// 2. exp, exp2, log, log2, erf, sin and cos by the patterns of this file.
// Upstream's
//    exp is off by up to 5 ulp near the overflow limit, its exp and log flush
//    small numbers, and its sin and cos have no usable range reduction.
// 3. The other functions by upstream's polynomials, which are made of exp and
//    log and so use the patterns of this file again.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace nested {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

/// On a function that stays a call: the slow path of an approximation.
constexpr StringLiteral kExactAttr = "nested.exact";

/// Builds elementwise f32 and i32 code on scalars or vectors of one shape.
class ElementwiseBuilder {
public:
  ElementwiseBuilder(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), floatType(type),
        intType(withElement(builder.getI32Type())) {}

  Value constant(float value) const {
    return splat(floatType, builder.getF32FloatAttr(value));
  }
  Value integer(int32_t value) const {
    return splat(intType, builder.getI32IntegerAttr(value));
  }
  Value add(Value a, Value b) const { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) const { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) const { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) const { return make<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) const {
    return make<math::FmaOp>(a, b, c);
  }
  Value addi(Value a, Value b) const { return make<arith::AddIOp>(a, b); }
  Value subi(Value a, Value b) const { return make<arith::SubIOp>(a, b); }
  Value andi(Value a, Value b) const { return make<arith::AndIOp>(a, b); }
  Value xori(Value a, Value b) const { return make<arith::XOrIOp>(a, b); }
  Value shl(Value a, int32_t bits) const {
    return make<arith::ShLIOp>(a, integer(bits));
  }
  Value ashr(Value a, int32_t bits) const {
    return make<arith::ShRSIOp>(a, integer(bits));
  }
  Value bitsOf(Value a) const {
    return arith::BitcastOp::create(builder, loc, intType, a);
  }
  Value fromBits(Value a) const {
    return arith::BitcastOp::create(builder, loc, floatType, a);
  }
  Value toFloat(Value a) const {
    return arith::SIToFPOp::create(builder, loc, floatType, a);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) const {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value isZero(Value a) const {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                 integer(0));
  }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  /// Clamps; NaN stays NaN. In this order each half is one instruction.
  Value atLeast(Value x, float low) const {
    Value lo = constant(low);
    return select(compare(arith::CmpFPredicate::OGT, lo, x), lo, x);
  }
  Value clamp(Value x, float low, float high) const {
    Value hi = constant(high);
    x = atLeast(x, low);
    return select(compare(arith::CmpFPredicate::OLT, hi, x), hi, x);
  }
  /// Horner's scheme, highest coefficient first.
  Value polynomial(Value x, ArrayRef<float> coefficients) const {
    Value y = constant(coefficients.front());
    for (float c : coefficients.drop_front())
      y = fma(y, x, constant(c));
    return y;
  }

private:
  template <typename Op, typename... Operands>
  Value make(Operands... operands) const {
    return Op::create(builder, loc, operands...);
  }
  Value splat(Type type, TypedAttr value) const {
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  Type withElement(Type element) const {
    if (auto shaped = dyn_cast<ShapedType>(floatType))
      return shaped.clone(element);
    return element;
  }

  OpBuilder &builder;
  Location loc;
  Type floatType, intType;
};

/// 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold.
constexpr float kRound = 12582912.0f;
constexpr float kLog2E = 1.44269504088896341f;
/// ln 2 in two parts; small integers times the first are exact.
constexpr float kLn2Hi = 0.693359375f, kLn2Lo = -2.12194440e-4f;
constexpr float kSmallestNormal = 1.17549435e-38f;

/// e^r for |r| <= ln(2) / 2.
Value expOfReduced(const ElementwiseBuilder &b, Value r) {
  Value q =
      b.polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                       4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
  return b.add(b.fma(q, b.mul(r, r), r), b.constant(1.0f));
}

/// p * 2^n in two steps, so that results below the smallest normal number and
/// overflow come out right; `shifted` is n + kRound.
Value scale(const ElementwiseBuilder &b, Value p, Value shifted) {
  Value one = b.integer(0x3f800000);
  // kRound's own bits vanish when shifted to the exponent.
  Value n = b.shl(b.bitsOf(shifted), 23);
  Value half = b.shl(b.ashr(n, 24), 23);
  Value rest = b.subi(n, half);
  p = b.mul(p, b.fromBits(b.addi(rest, one)));
  return b.mul(p, b.fromBits(b.addi(half, one)));
}

/// p * 2^n in one step; 0 for n = -127. `shifted` is n + kRound, n no more than
/// 127.
Value scaleNormal(const ElementwiseBuilder &b, Value p, Value shifted) {
  // The low bits of `shifted` are n; kRound's own ones vanish.
  Value biased = b.addi(b.bitsOf(shifted), b.integer(127));
  return b.mul(p, b.fromBits(b.shl(biased, 23)));
}

Value approximate(math::ExpOp op, const ElementwiseBuilder &b, Value x) {
  bool notPositive = op->hasAttr(nested::kNotPositiveAttr);
  // Outside of these bounds the result is 0 or infinity.
  if (notPositive)
    x = b.atLeast(x, -88.0f);
  else
    x = b.clamp(x, -104.0f, 89.0f);
  Value shifted = b.fma(x, b.constant(kLog2E), b.constant(kRound));
  Value n = b.sub(shifted, b.constant(kRound));
  Value r = b.fma(n, b.constant(-kLn2Hi), x);
  r = b.fma(n, b.constant(-kLn2Lo), r);
  if (notPositive)
    return scaleNormal(b, expOfReduced(b, r), shifted);
  return scale(b, expOfReduced(b, r), shifted);
}

Value approximate(math::Exp2Op, const ElementwiseBuilder &b, Value x) {
  x = b.clamp(x, -151.0f, 129.0f);
  Value shifted = b.add(x, b.constant(kRound));
  Value r = b.sub(x, b.sub(shifted, b.constant(kRound)));
  r = b.mul(r, b.constant(0.693147180559945309f));
  return scale(b, expOfReduced(b, r), shifted);
}

/// x P(x^2) / Q(x^2): one form for all x, where upstream's chooses among
/// polynomials coefficient by coefficient. Beyond the bounds the result is 1.
Value approximate(math::ErfOp, const ElementwiseBuilder &b, Value x) {
  x = b.clamp(x, -3.92f, 3.92f);
  Value z = b.mul(x, x);
  Value p = b.polynomial(z, {2.05074457e-6f, 2.84887879e-4f, 3.76446662e-3f,
                             5.27453087e-2f, 1.90375552e-1f, 1.12837911f});
  Value q = b.polynomial(z, {3.80987476e-5f, 1.16231362e-3f, 1.49668967e-2f,
                             1.14096962e-1f, 5.02048671e-1f, 1.0f});
  return b.clamp(b.div(b.mul(x, p), q), -1.0f, 1.0f);
}

/// x = 2^exponent * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
struct SplitNumber {
  Value exponent, f;
};
SplitNumber split(const ElementwiseBuilder &b, Value x) {
  Value small =
      b.compare(arith::CmpFPredicate::OLT, x, b.constant(kSmallestNormal));
  x = b.select(small, b.mul(x, b.constant(8388608.0f)), x);
  Value bits = b.bitsOf(x);
  Value e = b.ashr(b.subi(bits, b.integer(0x3f3504f3)), 23);
  Value m = b.fromBits(b.subi(bits, b.shl(e, 23)));
  Value bias = b.select(small, b.constant(-23.0f), b.constant(0.0f));
  return {b.add(b.toFloat(e), bias), b.sub(m, b.constant(1.0f))};
}

/// log(1 + f) - f + f * f / 2.
Value logTail(const ElementwiseBuilder &b, Value f, Value square) {
  Value p =
      b.polynomial(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                       -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                       2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  return b.mul(b.mul(p, square), f);
}

/// The values at 0, infinity, and where there is no logarithm.
Value logSpecials(const ElementwiseBuilder &b, Value x, Value result) {
  Value zero = b.constant(0.0f);
  Value inf = b.constant(std::numeric_limits<float>::infinity());
  Value nan = b.constant(std::numeric_limits<float>::quiet_NaN());
  Value negInf = b.constant(-std::numeric_limits<float>::infinity());
  using Predicate = arith::CmpFPredicate;
  result = b.select(b.compare(Predicate::OEQ, x, zero), negInf, result);
  result = b.select(b.compare(Predicate::OEQ, x, inf), inf, result);
  return b.select(b.compare(Predicate::ULT, x, zero), nan, result);
}

Value approximate(math::LogOp, const ElementwiseBuilder &b, Value x) {
  auto [e, f] = split(b, x);
  Value square = b.mul(f, f);
  Value y = b.fma(e, b.constant(kLn2Lo), logTail(b, f, square));
  y = b.add(f, b.fma(square, b.constant(-0.5f), y));
  return logSpecials(b, x, b.fma(e, b.constant(kLn2Hi), y));
}

Value approximate(math::Log2Op, const ElementwiseBuilder &b, Value x) {
  auto [e, f] = split(b, x);
  Value square = b.mul(f, f);
  Value y = b.fma(square, b.constant(-0.5f), logTail(b, f, square));
  Value c = b.constant(kLog2E - 1.0f);
  Value z = b.add(b.fma(f, c, b.mul(y, c)), y);
  return logSpecials(b, x, b.add(b.add(z, f), e));
}

/// Where the range reduction of sin and cos ends.
constexpr float kTrigLimit = 48000.0f;

/// sin(x + quarter * pi / 2) for |x| <= kTrigLimit.
Value sinOfQuarter(const ElementwiseBuilder &b, Value x, int32_t quarter) {
  Value shifted =
      b.fma(x, b.constant(0.636619772367581343f), b.constant(kRound));
  Value n = b.sub(shifted, b.constant(kRound));
  Value r = b.fma(n, b.constant(-1.57079601e+00f), x);
  r = b.fma(n, b.constant(-3.13916473e-07f), r);
  r = b.fma(n, b.constant(-5.39030253e-15f), r);
  Value square = b.mul(r, r);
  Value s = b.polynomial(square, {2.86567956e-6f, -1.98559923e-4f,
                                  8.33338592e-3f, -1.66666672e-1f});
  s = b.fma(b.mul(s, square), r, r);
  Value c = b.polynomial(
      square, {2.44677067e-5f, -1.38877297e-3f, 4.16666567e-2f, -0.5f});
  c = b.fma(c, square, b.constant(1.0f));
  Value q = b.bitsOf(shifted);
  if (quarter != 0)
    q = b.addi(q, b.integer(quarter));
  Value even = b.isZero(b.andi(q, b.integer(1)));
  Value sign = b.shl(b.andi(q, b.integer(2)), 30);
  return b.fromBits(b.xori(b.bitsOf(b.select(even, s, c)), sign));
}

bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

template <typename Op>
struct Approximate final : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getType()))
      return failure();
    ElementwiseBuilder b(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, approximate(op, b, op.getOperand()));
    return success();
  }
};

/// sin and cos: a polynomial when all arguments are in range, else a call.
template <typename Op, int32_t quarter>
struct ApproximateTrig final : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getType()) || op->hasAttr(kExactAttr))
      return failure();
    auto vectorType = dyn_cast<VectorType>(op.getType());
    if (vectorType && vectorType.getRank() > 1)
      return failure();
    Location loc = op.getLoc();
    Value x = op.getOperand();
    ElementwiseBuilder b(rewriter, loc, op.getType());
    // False for NaN as well.
    Value inRange = b.compare(arith::CmpFPredicate::OLE,
                              math::AbsFOp::create(rewriter, loc, x),
                              b.constant(kTrigLimit));
    if (vectorType)
      inRange = vector::ReductionOp::create(
          rewriter, loc, vector::CombiningKind::AND, inRange);
    auto choice = scf::IfOp::create(
        rewriter, loc, inRange,
        [&](OpBuilder &nested, Location loc) {
          ElementwiseBuilder b(nested, loc, op.getType());
          Value result = sinOfQuarter(b, x, quarter);
          if (quarter == 0) // The sine of -0 is -0.
            result = b.select(
                b.compare(arith::CmpFPredicate::OEQ, x, b.constant(0.0f)), x,
                result);
          scf::YieldOp::create(nested, loc, result);
        },
        [&](OpBuilder &nested, Location loc) {
          auto exact = Op::create(nested, loc, x, op.getFastmath());
          exact->setAttr(kExactAttr, nested.getUnitAttr());
          scf::YieldOp::create(nested, loc, exact.getResult());
        });
    rewriter.replaceOp(op, choice.getResults());
    return success();
  }
};

template <typename... Ops>
bool isOneOf(StringRef name) {
  return ((name == Ops::getOperationName()) || ...);
}

struct ApproximateMath
    : public nested::impl::ApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return isOneOf<math::Log1pOp, math::ExpM1Op, math::TanhOp, math::ErfcOp>(
          name);
    });
    patterns.add<Approximate<math::ExpOp>, Approximate<math::Exp2Op>,
                 Approximate<math::LogOp>, Approximate<math::Log2Op>,
                 Approximate<math::ErfOp>, ApproximateTrig<math::SinOp, 0>,
                 ApproximateTrig<math::CosOp, 1>>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
