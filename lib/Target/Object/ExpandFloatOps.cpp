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
// * rounding to integers, on x86-64 before SSE4.1.
//
// f16 and bf16 are gone before: --expand-halves, --carry-bf16.
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

/// Code in front of one instruction.
class Expander {
public:
  explicit Expander(Instruction *at) : builder(at) {}

  Value *expandRounding(Intrinsic::ID id, Value *x);

private:
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

} // namespace

static bool isFloatOrDouble(Type *type) {
  return type->getScalarType()->isFloatTy() ||
         type->getScalarType()->isDoubleTy();
}

/// The replacement of an instruction, or null when it stays.
static Value *expand(Instruction &instruction, bool hasFma, bool hasRounding) {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() == Intrinsic::fma && !hasFma) {
      IRBuilder<> builder(call);
      return builder.CreateFAdd(
          builder.CreateFMul(call->getArgOperand(0), call->getArgOperand(1)),
          call->getArgOperand(2));
    }
    if (!hasRounding && isFloatOrDouble(call->getType()) &&
        call->arg_size() == 1)
      return Expander(call).expandRounding(call->getIntrinsicID(),
                                           call->getArgOperand(0));
    return nullptr;
  }
  return nullptr;
}

void nested::expandUnsupportedFloatOps(Module &module,
                                       const TargetMachine &machine) {
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  // AArch64 has instructions for all of this.
  if (!machine.getTargetTriple().isX86())
    return;
  bool hasFma =
      subtarget.checkFeatures("+fma") || subtarget.checkFeatures("+avx512f");
  bool hasRounding = subtarget.checkFeatures("+sse4.1");
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      Value *replacement = expand(instruction, hasFma, hasRounding);
      if (!replacement)
        continue;
      instruction.replaceAllUsesWith(replacement);
      instruction.eraseFromParent();
    }
}
