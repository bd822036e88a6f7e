//===- ExpandFloatOps.cpp - Float operations without instructions ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled code may call nothing, so what LLVM would turn into a call of the
// C library or of a compiler's run-time library is rewritten first:
//
// * fused multiply-adds, on processors without: a product and a sum, rounded
//   twice;
// * rounding to integers, on x86-64 before SSE4.1;
// * functions of bf16, and of f16 before F16C: computed in f32;
// * conversions between f16 and f32 on x86-64 before F16C, from f64 to f16
//   on all x86-64, and to bf16 before AVX512-BF16.
//
// Run before optimization, for its sake, and after, since it may bring some
// of them back.
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Object.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

/// Integer constants and types of the shape of one value.
class Expander {
public:
  explicit Expander(Instruction *at) : builder(at) {}

  Value *expandRounding(Intrinsic::ID id, Value *x);
  Value *truncF32ToF16(Value *x);
  Value *extendF16ToF32(Value *x);
  Value *truncF32ToBF16(Value *x);
  Value *extendBF16ToF32(Value *x);
  Value *truncF64ToOddF32(Value *x);

private:
  Type *like(Type *scalar, Value *shape) {
    if (auto *vector = dyn_cast<VectorType>(shape->getType()))
      return VectorType::get(scalar, vector->getElementCount());
    return scalar;
  }
  Value *roundEven(Value *x);

  IRBuilder<> builder;
};

/// By adding and subtracting 2^(bits of the fraction), which rounds to even;
/// on the magnitude, so that -0.2 becomes -0.
Value *Expander::roundEven(Value *x) {
  Type *type = x->getType();
  double limit =
      type->getScalarType()->isFloatTy() ? 8388608.0 : 4503599627370496.0;
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value *big = ConstantFP::get(type, limit);
  Value *rounded = builder.CreateFSub(builder.CreateFAdd(magnitude, big), big);
  rounded = builder.CreateBinaryIntrinsic(Intrinsic::copysign, rounded, x);
  // False for NaN, which stays.
  Value *isSmall = builder.CreateFCmpOLT(magnitude, big);
  return builder.CreateSelect(isSmall, rounded, x);
}

Value *Expander::expandRounding(Intrinsic::ID id, Value *x) {
  Type *type = x->getType();
  Value *one = ConstantFP::get(type, 1.0), *zero = ConstantFP::get(type, 0.0);
  Value *even = roundEven(x);
  auto correct = [&](Value *value, Value *when, bool down) {
    Value *step = builder.CreateSelect(when, one, zero);
    Value *moved = down ? builder.CreateFSub(value, step)
                        : builder.CreateFAdd(value, step);
    return builder.CreateBinaryIntrinsic(Intrinsic::copysign, moved, x);
  };
  switch (id) {
  case Intrinsic::roundeven:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
    return even;
  case Intrinsic::floor:
    return correct(even, builder.CreateFCmpOGT(even, x), true);
  case Intrinsic::ceil:
    return correct(even, builder.CreateFCmpOLT(even, x), false);
  case Intrinsic::trunc:
  case Intrinsic::round: {
    Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, x);
    Value *result = roundEven(magnitude);
    result = builder.CreateFSub(
        result, builder.CreateSelect(builder.CreateFCmpOGT(result, magnitude),
                                     one, zero));
    if (id == Intrinsic::round) {
      Value *rest = builder.CreateFSub(magnitude, result);
      Value *up = builder.CreateFCmpOGE(rest, ConstantFP::get(type, 0.5));
      result = builder.CreateFAdd(result, builder.CreateSelect(up, one, zero));
    }
    return builder.CreateBinaryIntrinsic(Intrinsic::copysign, result, x);
  }
  default:
    return nullptr;
  }
}

/// Rounds to nearest, ties to even.
Value *Expander::truncF32ToF16(Value *x) {
  Type *i32 = like(builder.getInt32Ty(), x), *f32 = x->getType();
  auto constant = [&](uint32_t value) { return ConstantInt::get(i32, value); };
  Value *bits = builder.CreateBitCast(x, i32);
  Value *sign = builder.CreateAnd(bits, constant(0x80000000u));
  Value *magnitude = builder.CreateXor(bits, sign);
  // Results that are normal: change the bias, round by adding, cut.
  Value *odd = builder.CreateAnd(builder.CreateLShr(magnitude, constant(13)),
                                 constant(1));
  Value *normal = builder.CreateAdd(
      builder.CreateAdd(magnitude, constant(0xC8000FFFu)), odd);
  normal = builder.CreateLShr(normal, constant(13));
  // Results that are not: adding 0.5 aligns and rounds the fraction.
  Value *half = ConstantFP::get(f32, 0.5);
  Value *small = builder.CreateBitCast(
      builder.CreateFAdd(builder.CreateBitCast(magnitude, f32), half), i32);
  small = builder.CreateSub(small, constant(0x3F000000u));
  Value *isSmall = builder.CreateICmpULT(magnitude, constant(0x38800000u));
  Value *isBig = builder.CreateICmpUGE(magnitude, constant(0x47800000u));
  Value *isNaN = builder.CreateICmpUGT(magnitude, constant(0x7F800000u));
  Value *special =
      builder.CreateSelect(isNaN, constant(0x7E00), constant(0x7C00));
  Value *result = builder.CreateSelect(isSmall, small, normal);
  result = builder.CreateSelect(isBig, special, result);
  result = builder.CreateOr(result, builder.CreateLShr(sign, constant(16)));
  result = builder.CreateTrunc(result, like(builder.getInt16Ty(), x));
  return builder.CreateBitCast(result, like(builder.getHalfTy(), x));
}

Value *Expander::extendF16ToF32(Value *x) {
  Type *i32 = like(builder.getInt32Ty(), x);
  Type *f32 = like(builder.getFloatTy(), x);
  auto constant = [&](uint32_t value) { return ConstantInt::get(i32, value); };
  Value *bits = builder.CreateZExt(
      builder.CreateBitCast(x, like(builder.getInt16Ty(), x)), i32);
  Value *sign = builder.CreateShl(builder.CreateAnd(bits, constant(0x8000)),
                                  constant(16));
  Value *magnitude = builder.CreateShl(
      builder.CreateAnd(bits, constant(0x7FFF)), constant(13));
  Value *exponent = builder.CreateAnd(magnitude, constant(0x0F800000u));
  Value *normal = builder.CreateAdd(magnitude, constant(0x38000000u));
  Value *special = builder.CreateAdd(magnitude, constant(0x70000000u));
  // Below the normal numbers: the fraction behind 2^-14, less 2^-14.
  Value *small = builder.CreateFSub(
      builder.CreateBitCast(builder.CreateAdd(magnitude, constant(0x38800000u)),
                            f32),
      ConstantFP::get(f32, 6.103515625e-05));
  small = builder.CreateBitCast(small, i32);
  Value *result = builder.CreateSelect(
      builder.CreateICmpEQ(exponent, constant(0x0F800000u)), special, normal);
  result = builder.CreateSelect(builder.CreateICmpEQ(exponent, constant(0)),
                                small, result);
  return builder.CreateBitCast(builder.CreateOr(result, sign), f32);
}

/// Rounds to nearest, ties to even: bf16 is the upper half of f32.
Value *Expander::truncF32ToBF16(Value *x) {
  Type *i32 = like(builder.getInt32Ty(), x);
  auto constant = [&](uint32_t value) { return ConstantInt::get(i32, value); };
  Value *bits = builder.CreateBitCast(x, i32);
  Value *odd =
      builder.CreateAnd(builder.CreateLShr(bits, constant(16)), constant(1));
  Value *rounded =
      builder.CreateAdd(builder.CreateAdd(bits, constant(0x7FFF)), odd);
  // Adding could make a NaN infinite.
  Value *quiet = builder.CreateOr(bits, constant(0x00400000));
  Value *isNaN = builder.CreateFCmpUNO(x, x);
  Value *upper = builder.CreateLShr(builder.CreateSelect(isNaN, quiet, rounded),
                                    constant(16));
  return builder.CreateBitCast(
      builder.CreateTrunc(upper, like(builder.getInt16Ty(), x)),
      like(builder.getBFloatTy(), x));
}

/// Not `fpext`, which LLVM would move behind the function that it is for.
Value *Expander::extendBF16ToF32(Value *x) {
  Type *i32 = like(builder.getInt32Ty(), x);
  Value *bits = builder.CreateZExt(
      builder.CreateBitCast(x, like(builder.getInt16Ty(), x)), i32);
  return builder.CreateBitCast(
      builder.CreateShl(bits, ConstantInt::get(i32, 16)),
      like(builder.getFloatTy(), x));
}

/// An inexact result gets an odd last bit, so that rounding it again to f16 or
/// bf16 is as rounding once.
Value *Expander::truncF64ToOddF32(Value *x) {
  Type *f32 = like(builder.getFloatTy(), x);
  Type *i32 = like(builder.getInt32Ty(), x);
  Value *nearest = builder.CreateFPTrunc(x, f32);
  Value *back = builder.CreateFPExt(nearest, x->getType());
  Value *bits = builder.CreateBitCast(nearest, i32);
  // Toward zero first: one less when rounding went away from zero.
  Value *tooBig =
      builder.CreateFCmpOGT(builder.CreateUnaryIntrinsic(Intrinsic::fabs, back),
                            builder.CreateUnaryIntrinsic(Intrinsic::fabs, x));
  Value *inexact = builder.CreateFCmpONE(back, x);
  bits = builder.CreateSub(bits, builder.CreateZExt(tooBig, i32));
  bits = builder.CreateOr(bits, builder.CreateZExt(inexact, i32));
  return builder.CreateBitCast(bits, f32);
}

} // namespace

static bool isFloatOrDouble(Type *type) {
  return type->getScalarType()->isFloatTy() ||
         type->getScalarType()->isDoubleTy();
}

namespace {
/// What the processor has instructions for.
struct FloatSupport {
  bool fma, rounding, half, bfloat;
};
} // namespace

/// The intrinsic of 16-bit floats computed in f32, which is exact for those
/// that round to integers or choose one of their operands. Null for others.
static Value *widen(IntrinsicInst *call, const FloatSupport &has) {
  Type *type = call->getType()->getScalarType();
  if (!type->isBFloatTy() && (!type->isHalfTy() || has.half))
    return nullptr;
  switch (call->getIntrinsicID()) {
  case Intrinsic::roundeven:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::round:
  case Intrinsic::maximum:
  case Intrinsic::minimum:
  case Intrinsic::maxnum:
  case Intrinsic::minnum:
  case Intrinsic::vector_reduce_fmaximum:
  case Intrinsic::vector_reduce_fminimum:
  case Intrinsic::vector_reduce_fmax:
  case Intrinsic::vector_reduce_fmin:
    break;
  default:
    return nullptr;
  }
  IRBuilder<> builder(call);
  SmallVector<Value *> wide;
  for (Value *operand : call->args())
    wide.push_back(type->isBFloatTy() ? Expander(call).extendBF16ToF32(operand)
                                      : Expander(call).extendF16ToF32(operand));
  Value *result = builder.CreateIntrinsic(call->getIntrinsicID(),
                                          wide.front()->getType(), wide, call);
  return builder.CreateFPTrunc(result, call->getType());
}

/// The replacement of an instruction, or null when it stays.
static Value *expand(Instruction &instruction, const FloatSupport &has) {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() == Intrinsic::fma && !has.fma) {
      IRBuilder<> builder(call);
      return builder.CreateFAdd(
          builder.CreateFMul(call->getArgOperand(0), call->getArgOperand(1)),
          call->getArgOperand(2));
    }
    if (!has.rounding && isFloatOrDouble(call->getType()) &&
        call->arg_size() == 1)
      return Expander(call).expandRounding(call->getIntrinsicID(),
                                           call->getArgOperand(0));
    return nullptr;
  }
  Type *type = instruction.getType()->getScalarType();
  bool toBFloat = type->isBFloatTy();
  if (isa<FPTruncInst>(instruction) && (type->isHalfTy() || toBFloat)) {
    Value *source = instruction.getOperand(0);
    bool fromDouble = source->getType()->getScalarType()->isDoubleTy();
    bool isSupported = toBFloat ? has.bfloat : has.half;
    if (!fromDouble && isSupported)
      return nullptr;
    if (fromDouble)
      source = Expander(&instruction).truncF64ToOddF32(source);
    if (!isSupported)
      return toBFloat ? Expander(&instruction).truncF32ToBF16(source)
                      : Expander(&instruction).truncF32ToF16(source);
    return IRBuilder<>(&instruction)
        .CreateFPTrunc(source, instruction.getType());
  }
  if (isa<FPExtInst>(instruction) && !has.half &&
      instruction.getOperand(0)->getType()->getScalarType()->isHalfTy()) {
    Value *wide =
        Expander(&instruction).extendF16ToF32(instruction.getOperand(0));
    if (type->isFloatTy())
      return wide;
    return IRBuilder<>(&instruction).CreateFPExt(wide, instruction.getType());
  }
  return nullptr;
}

void nested::expandUnsupportedFloatOps(Module &module,
                                       const TargetMachine &machine) {
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  // AArch64 has instructions for all of this.
  if (!machine.getTargetTriple().isX86())
    return;
  FloatSupport has;
  has.fma =
      subtarget.checkFeatures("+fma") || subtarget.checkFeatures("+avx512f");
  has.rounding = subtarget.checkFeatures("+sse4.1");
  has.half = subtarget.checkFeatures("+f16c");
  has.bfloat = subtarget.checkFeatures("+avx512bf16");
  auto replace = [](Instruction &instruction, Value *replacement) {
    if (!replacement)
      return;
    instruction.replaceAllUsesWith(replacement);
    instruction.eraseFromParent();
  };
  for (Function &function : module) {
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
        replace(instruction, widen(call, has));
    for (Instruction &instruction :
         make_early_inc_range(instructions(function)))
      replace(instruction, expand(instruction, has));
  }
}
