//===- ExpandHalves.cpp - f16 and bf16 without a library ------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. A function of math is computed in f32.
// 2. An integer becomes an f64 (f32 if it has at most 16 bits: exact), and that
//    a half. An f64 would round integers beyond 2^53. Those are infinite in
//    f16; for bf16, whose last digit is then worth 2^46 at least, the last
//    twelve bits first become one that says if any of them was set.
// 3. An f64 becomes an f32 rounded to odd: toward zero, with the last bit set
// if
//    anything was lost. Rounding that to 11 or 8 digits gives what rounding the
//    f64 would: an f32 has two digits more than it takes.
// 4. f32 from and to f16, where the target has no instruction for it: bits are
//    moved; numbers below the normal ones are rounded by adding a power of two.
//
// f32 from and to bf16 is left to --arith-expand.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace nested {
#define GEN_PASS_DEF_EXPANDHALVES
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

/// Emits scalars, or vectors of one shape.
class Emitter {
public:
  Emitter(Operation *op)
      : builder(op), loc(op->getLoc()), like(op->getResult(0).getType()) {}

  Type as(Type element) const {
    auto shaped = dyn_cast<ShapedType>(like);
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Type f32() { return builder.getF32Type(); }
  Type i32() { return builder.getI32Type(); }

  template <typename Op>
  Value to(Type element, Value value) {
    return Op::create(builder, loc, as(element), value);
  }
  template <typename Op>
  Value make(Value x, Value y) {
    return Op::create(builder, loc, x, y);
  }
  Value bits(uint32_t number) {
    return constant(builder.getI32IntegerAttr(static_cast<int32_t>(number)));
  }
  Value constant(IntegerAttr number) {
    TypedAttr value = number;
    if (auto shaped = dyn_cast<ShapedType>(as(number.getType())))
      value = DenseElementsAttr::get(shaped, Attribute(number));
    return arith::ConstantOp::create(builder, loc, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, uint32_t number) {
    return arith::CmpIOp::create(builder, loc, predicate, x, bits(number));
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(builder, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(builder, loc, condition, x, y);
  }

  Value gatherBits(Value integer, bool isSigned);
  Value roundToOdd(Value wide);
  Value truncate(Value single);
  Value extend(Value half);

private:
  OpBuilder builder;
  Location loc;
  Type like;
};

} // namespace

/// An i64 that an f64 holds exactly, and that becomes the same bf16.
Value Emitter::gatherBits(Value integer, bool isSigned) {
  auto number = [&](int64_t value) {
    return constant(builder.getI64IntegerAttr(value));
  };
  constexpr int64_t kLast = 0xfff, kExact = int64_t(1) << 53;
  Value last = make<arith::AndIOp>(integer, number(kLast));
  Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                      last, number(0));
  Value gathered = make<arith::OrIOp>(
      make<arith::AndIOp>(integer, number(~kLast)),
      make<arith::ShLIOp>(to<arith::ExtUIOp>(builder.getI64Type(), isSet),
                          number(11)));
  // -2^53 <= x < 2^53, or 0 <= x < 2^53.
  Value shifted =
      isSigned ? make<arith::AddIOp>(integer, number(kExact)) : integer;
  Value isExact =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, shifted,
                            number(isSigned ? 2 * kExact : kExact));
  return select(isExact, integer, gathered);
}

/// f64 to f32.
Value Emitter::roundToOdd(Value wide) {
  Value nearest = to<arith::TruncFOp>(f32(), wide);
  Value back = to<arith::ExtFOp>(builder.getF64Type(), nearest);
  // False for NaN.
  Value lost = compare(arith::CmpFPredicate::ONE, back, wide);
  Type f64 = builder.getF64Type();
  Value away = compare(arith::CmpFPredicate::OGT, to<math::AbsFOp>(f64, back),
                       to<math::AbsFOp>(f64, wide));
  Value number = to<arith::BitcastOp>(i32(), nearest);
  number = make<arith::SubIOp>(number, to<arith::ExtUIOp>(i32(), away));
  number = make<arith::OrIOp>(number, to<arith::ExtUIOp>(i32(), lost));
  return to<arith::BitcastOp>(f32(), number);
}

/// f32 to f16.
Value Emitter::truncate(Value single) {
  Value number = to<arith::BitcastOp>(i32(), single);
  Value sign = make<arith::AndIOp>(number, bits(0x80000000));
  Value size = make<arith::XOrIOp>(number, sign);
  // From 2^16 on infinity or NaN.
  Value large = select(compare(arith::CmpIPredicate::ugt, size, 0x7f800000),
                       bits(0x7e00), bits(0x7c00));
  // Below 2^-14: 0.5 has its last digit where the result has.
  Value half = bits(0x3f000000);
  Value moved = make<arith::AddFOp>(to<arith::BitcastOp>(f32(), size),
                                    to<arith::BitcastOp>(f32(), half));
  Value small = make<arith::SubIOp>(to<arith::BitcastOp>(i32(), moved), half);
  // The rest: another bias, and half of the last digit, less if it is even.
  Value odd =
      make<arith::AndIOp>(make<arith::ShRUIOp>(size, bits(13)), bits(1));
  Value biased =
      make<arith::AddIOp>(make<arith::AddIOp>(size, bits(0xc8000fff)), odd);
  Value normal = make<arith::ShRUIOp>(biased, bits(13));
  Value result = select(compare(arith::CmpIPredicate::ult, size, 0x38800000),
                        small, normal);
  result = select(compare(arith::CmpIPredicate::uge, size, 0x47800000), large,
                  result);
  result = make<arith::OrIOp>(result, make<arith::ShRUIOp>(sign, bits(16)));
  Value narrow = to<arith::TruncIOp>(builder.getI16Type(), result);
  return to<arith::BitcastOp>(builder.getF16Type(), narrow);
}

/// f16 to f32.
Value Emitter::extend(Value half) {
  Value number = to<arith::ExtUIOp>(
      i32(), to<arith::BitcastOp>(builder.getI16Type(), half));
  Value sign =
      make<arith::ShLIOp>(make<arith::AndIOp>(number, bits(0x8000)), bits(16));
  Value size =
      make<arith::ShLIOp>(make<arith::AndIOp>(number, bits(0x7fff)), bits(13));
  Value normal = make<arith::AddIOp>(size, bits(0x38000000));
  Value large = make<arith::AddIOp>(size, bits(0x70000000));
  // Below 2^-14: digits behind those of 2^-14, which is then taken away.
  Value least = bits(0x38800000);
  Value moved = make<arith::SubFOp>(
      to<arith::BitcastOp>(f32(), make<arith::OrIOp>(size, least)),
      to<arith::BitcastOp>(f32(), least));
  Value small = to<arith::BitcastOp>(i32(), moved);
  Value result = select(compare(arith::CmpIPredicate::ult, size, 0x00800000),
                        small, normal);
  result = select(compare(arith::CmpIPredicate::uge, size, 0x0f800000), large,
                  result);
  return to<arith::BitcastOp>(f32(), make<arith::OrIOp>(result, sign));
}

namespace {
struct ExpandHalves : nested::impl::ExpandHalvesBase<ExpandHalves> {
  using ExpandHalvesBase::ExpandHalvesBase;

  void runOnOperation() override {
    SmallVector<Operation *> functions, conversions;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    for (Operation *op : functions)
      widen(op);
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::TruncFOp, arith::ExtFOp, arith::SIToFPOp, arith::UIToFPOp>(
              op))
        conversions.push_back(op);
    });
    for (Operation *op : conversions)
      expand(op);
  }

  static bool isHalf(Type type) {
    type = getElementTypeOrSelf(type);
    return type.isF16() || type.isBF16();
  }

  /// Computes an op with operands or results of halves in f32.
  void widen(Operation *op) {
    Builder types(op->getContext());
    auto wide = [&](Type type) -> Type {
      if (auto shaped = dyn_cast<ShapedType>(type))
        return shaped.clone(types.getF32Type());
      return types.getF32Type();
    };
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = operand.get().getType(); isHalf(type))
        operand.set(arith::ExtFOp::create(builder, op->getLoc(), wide(type),
                                          operand.get()));
    builder.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      Type type = result.getType();
      if (!isHalf(type))
        continue;
      result.setType(wide(type));
      auto narrow =
          arith::TruncFOp::create(builder, op->getLoc(), type, result);
      result.replaceAllUsesExcept(narrow, narrow);
    }
  }

  /// The half of an f32, by the way that the target has.
  Value toHalf(Emitter &emit, Value single, Type element) {
    if (element.isF16() && !f16Instructions)
      return emit.truncate(single);
    return emit.to<arith::TruncFOp>(element, single);
  }

  void expand(Operation *op) {
    Value source = op->getOperand(0);
    Type from = getElementTypeOrSelf(source);
    Type to = getElementTypeOrSelf(op->getResult(0));
    Emitter emit(op);
    Value result;
    if (isHalf(to)) {
      Builder builder(op->getContext());
      if (auto integer = dyn_cast<IntegerType>(from)) {
        Type wide = integer.getWidth() <= 16 ? builder.getF32Type()
                                             : builder.getF64Type();
        bool isSigned = isa<arith::SIToFPOp>(op);
        if (integer.getWidth() > 53 && to.isBF16())
          source = emit.gatherBits(source, isSigned);
        source = isSigned ? emit.to<arith::SIToFPOp>(wide, source)
                          : emit.to<arith::UIToFPOp>(wide, source);
        from = wide;
      } else if (isHalf(from)) {
        return;
      }
      if (from.isF32() && isa<arith::TruncFOp>(op) &&
          (to.isBF16() || f16Instructions))
        return;
      result =
          toHalf(emit, from.isF64() ? emit.roundToOdd(source) : source, to);
    } else if (from.isF16() && !f16Instructions) {
      result = emit.extend(source);
      if (to.isF64())
        result = emit.to<arith::ExtFOp>(to, result);
    } else if (from.isBF16() && to.isF64()) {
      result = emit.to<arith::ExtFOp>(
          to, emit.to<arith::ExtFOp>(Builder(op->getContext()).getF32Type(),
                                     source));
    } else {
      return;
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
};
} // namespace
