//===- DefineArithmetic.cpp - Results where arith leaves them undefined ---===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divisions, shifts, conversions to integers and integer powers get operands
// for which they are defined, and a select puts the result of rule R11 in place
// of what they then give. Constants that are in range need neither.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/APFloat.h"

namespace nested {
#define GEN_PASS_DEF_DEFINEARITHMETIC
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

/// Scalars or vectors of one shape, beside the operation that is guarded.
class Guard {
public:
  explicit Guard(Operation *op)
      : builder(op), op(op), loc(op->getLoc()),
        type(op->getResult(0).getType()) {}

  Value integer(const APInt &value) {
    return constant(type,
                    builder.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  Value integer(int64_t value) {
    return integer(APInt(getWidth(), value, /*isSigned=*/true));
  }
  unsigned getWidth() {
    return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  }
  Value equals(Value value, int64_t number) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 integer(number));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(builder, loc, condition, x, y);
  }

  void divideUnsigned(bool isRemainder);
  void divideSigned(bool isRemainder);
  void shift();
  void toInteger(bool isSigned);
  void power();

private:
  Value constant(Type like, TypedAttr value) {
    if (auto shaped = dyn_cast<ShapedType>(like))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  /// Uses `value`, which is made of the operation's result, instead of it.
  void replace(Value value) {
    op->getResult(0).replaceUsesWithIf(value, [&](OpOperand &use) {
      return !guards.contains(use.getOwner());
    });
  }
  /// The builder goes on behind the operation; what it makes is no user.
  void afterwards() { builder.setInsertionPointAfter(op); }
  Value selectResult(Value condition, Value replacement, Value result) {
    Value chosen = select(condition, replacement, result);
    guards.insert(chosen.getDefiningOp());
    return chosen;
  }

  OpBuilder builder;
  Operation *op;
  Location loc;
  Type type;
  llvm::SmallPtrSet<Operation *, 4> guards;
};

/// x / 0 = 0; the remainder by 1, which stands for 0, is 0.
void Guard::divideUnsigned(bool isRemainder) {
  Value divisor = op->getOperand(1);
  Value isZero = equals(divisor, 0);
  op->setOperand(1, select(isZero, integer(1), divisor));
  if (isRemainder)
    return;
  afterwards();
  replace(selectResult(isZero, integer(0), op->getResult(0)));
}

/// The same, and x / -1 = -x, which wraps for the least number.
void Guard::divideSigned(bool isRemainder) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  Value isZero = equals(divisor, 0), isMinusOne = equals(divisor, -1);
  Value isSpecial = arith::OrIOp::create(builder, loc, isZero, isMinusOne);
  op->setOperand(1, select(isSpecial, integer(1), divisor));
  if (isRemainder)
    return;
  afterwards();
  Value negated = arith::SubIOp::create(builder, loc, integer(0), dividend);
  Value result = selectResult(isMinusOne, negated, op->getResult(0));
  replace(selectResult(isZero, integer(0), result));
}

/// By the width or more: all bits leave; of a signed shift to the right the
/// sign stays. A negative amount is more than the width.
void Guard::shift() {
  Value amount = op->getOperand(1);
  Value most = integer(getWidth() - 1);
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ule, amount, most);
  op->setOperand(1, select(isInside, amount, most));
  if (isa<arith::ShRSIOp>(op))
    return;
  afterwards();
  Value chosen = select(isInside, op->getResult(0), integer(0));
  guards.insert(chosen.getDefiningOp());
  replace(chosen);
}

/// Saturates; NaN becomes 0.
void Guard::toInteger(bool isSigned) {
  Value source = op->getOperand(0);
  auto element = cast<FloatType>(getElementTypeOrSelf(source.getType()));
  // The limits of wide integers are no numbers of half precision.
  if (element.getWidth() < 32) {
    element = builder.getF32Type();
    Type wide = element;
    if (auto shaped = dyn_cast<ShapedType>(source.getType()))
      wide = shaped.clone(element);
    source = arith::ExtFOp::create(builder, loc, wide, source);
  }
  unsigned width = getWidth();
  auto limit = [&](double value) {
    return constant(source.getType(), FloatAttr::get(element, value));
  };
  using Predicate = arith::CmpFPredicate;
  auto compare = [&](Predicate predicate, double value) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, source, limit(value));
  };
  double high = std::ldexp(1.0, isSigned ? width - 1 : width);
  Value isHigh = compare(Predicate::OGE, high);
  Value isLow =
      isSigned ? compare(Predicate::OLT, -high) : compare(Predicate::OLE, -1.0);
  Value isNaN =
      arith::CmpFOp::create(builder, loc, Predicate::UNO, source, source);
  Value isOutside = arith::OrIOp::create(
      builder, loc, arith::OrIOp::create(builder, loc, isHigh, isLow), isNaN);
  op->setOperand(0, select(isOutside, limit(0), source));
  afterwards();
  APInt most =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  Value result = selectResult(isHigh, integer(most), op->getResult(0));
  // Below an unsigned range lies 0, which the conversion of 0 gave.
  if (isSigned)
    result =
        selectResult(isLow, integer(APInt::getSignedMinValue(width)), result);
  replace(result);
}

/// By squaring, as long as an element has bits of its exponent left. To a
/// negative power 1 and -1 are what they are to the positive one, and all
/// others 0.
void Guard::power() {
  Value base = op->getOperand(0), exponent = op->getOperand(1);
  Value zero = integer(0), one = integer(1);
  auto compare = [&](arith::CmpIPredicate predicate, Value x,
                     Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, x, y);
  };
  Value isNegative = compare(arith::CmpIPredicate::slt, exponent, zero);
  Value negated = arith::SubIOp::create(builder, loc, zero, exponent);
  Value magnitude = select(isNegative, negated, exponent);
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{type, type, type},
      ValueRange{one, base, magnitude},
      [&](OpBuilder &b, Location l, ValueRange state) {
        Value rest = state[2];
        if (auto vectorType = dyn_cast<VectorType>(type)) {
          Type element = vectorType.getElementType();
          Value flat = vector::ShapeCastOp::create(
              b, l, VectorType::get(vectorType.getNumElements(), element),
              rest);
          rest = vector::ReductionOp::create(b, l, vector::CombiningKind::OR,
                                             flat);
        }
        Value none = arith::ConstantOp::create(
            b, l, b.getZeroAttr(getElementTypeOrSelf(type)));
        Value goesOn =
            arith::CmpIOp::create(b, l, arith::CmpIPredicate::ne, rest, none);
        scf::ConditionOp::create(b, l, goesOn, state);
      },
      [&](OpBuilder &b, Location l, ValueRange state) {
        Value bit = arith::AndIOp::create(b, l, state[2], one);
        Value isSet =
            arith::CmpIOp::create(b, l, arith::CmpIPredicate::ne, bit, zero);
        Value product = arith::MulIOp::create(b, l, state[0], state[1]);
        Value result = arith::SelectOp::create(b, l, isSet, product, state[0]);
        Value square = arith::MulIOp::create(b, l, state[1], state[1]);
        Value rest = arith::ShRUIOp::create(b, l, state[2], one);
        scf::YieldOp::create(b, l, ValueRange{result, square, rest});
      });
  Value isUnit =
      arith::OrIOp::create(builder, loc, equals(base, 1), equals(base, -1));
  Value inverse = select(isUnit, loop.getResult(0), zero);
  op->getResult(0).replaceAllUsesWith(
      select(isNegative, inverse, loop.getResult(0)));
  op->erase();
}

/// Whether every element of a constant fulfils `test`.
bool isConstant(Value value, llvm::function_ref<bool(const APInt &)> test) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && test(number);
}

void guard(Operation *op) {
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    // Truth is a comparison with 0.
    if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1))
      Guard(op).toInteger(isa<arith::FPToSIOp>(op));
    return;
  }
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp,
                      arith::CeilDivSIOp>(op);
  bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  bool isPower = isa<math::IPowIOp>(op);
  if (!isUnsigned && !isSigned && !isShift && !isPower)
    return;
  // Coordinates have type index; their divisors are extents.
  if (getElementTypeOrSelf(op->getResult(0).getType()).isIndex())
    return;
  Value rhs = op->getOperand(1);
  if (isPower) {
    Guard(op).power();
  } else if (isShift) {
    if (!isConstant(rhs, [](const APInt &n) { return n.ult(n.getBitWidth()); }))
      Guard(op).shift();
  } else if (!isConstant(rhs, [&](const APInt &n) {
               return !n.isZero() && (isUnsigned || !n.isAllOnes());
             })) {
    bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
    if (isUnsigned)
      Guard(op).divideUnsigned(isRemainder);
    else
      Guard(op).divideSigned(isRemainder);
  }
}

struct DefineArithmetic
    : public nested::impl::DefineArithmeticBase<DefineArithmetic> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      guard(op);
  }
};

} // namespace
