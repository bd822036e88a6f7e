//===- BrainFloatsAsIntegers.cpp - bf16 without instructions for it -----===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before AVX512-BF16 the code generator for x86-64 keeps a bf16 as f32 and
// calls a run-time library wherever its bits are wanted. Programs compute in
// f32 and only move bf16, so here every bf16 becomes an i16:
//
// 1. In reverse post-order, what yields bf16 gets an i16 beside it: loads,
// phis,
//    choices, moves between elements, changes of sign, casts.
// 2. What takes bf16 and yields something else takes the i16: stores, casts,
//    extensions.
// 3. The bf16 are erased; what still wants one gets a cast.
//
//===----------------------------------------------------------------------===//

#include "nested/Target/Object.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {
class BrainFloats {
public:
  explicit BrainFloats(Function &function) : function(function) {}
  void run();

private:
  static bool isBrain(const Value *value) {
    return value->getType()->getScalarType()->isBFloatTy();
  }
  static Type *integersLike(const Value *value) {
    return value->getType()->getWithNewType(
        Type::getInt16Ty(value->getContext()));
  }
  Value *bitsOf(Value *value);
  Value *convert(Instruction &instruction);
  Value *convertUse(Instruction &instruction);
  void erase();

  Function &function;
  DenseMap<Value *, Value *> bits;
  SmallVector<Instruction *> replaced;
};

/// The i16 of a bf16 that is defined already.
Value *BrainFloats::bitsOf(Value *value) {
  if (auto *constant = dyn_cast<Constant>(value))
    return ConstantExpr::getBitCast(constant, integersLike(value));
  Value *&known = bits[value];
  if (known)
    return known;
  auto *instruction = dyn_cast<Instruction>(value);
  IRBuilder<> builder(function.getContext());
  if (instruction)
    builder.SetInsertPoint(*instruction->getInsertionPointAfterDef());
  else
    builder.SetInsertPoint(&*function.getEntryBlock().getFirstInsertionPt());
  return known = builder.CreateBitCast(value, integersLike(value));
}

/// The i16 of an instruction that yields bf16; null if it has to stay.
Value *BrainFloats::convert(Instruction &instruction) {
  IRBuilder<> builder(&instruction);
  Type *type = integersLike(&instruction);
  auto operand = [&](unsigned i) { return bitsOf(instruction.getOperand(i)); };
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    LoadInst *made = builder.CreateAlignedLoad(
        type, load->getPointerOperand(), load->getAlign(), load->isVolatile());
    made->copyMetadata(*load);
    return made;
  }
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return builder.CreatePHI(type, phi->getNumIncomingValues());
  if (auto *select = dyn_cast<SelectInst>(&instruction))
    return builder.CreateSelect(select->getCondition(), operand(1), operand(2));
  if (auto *insert = dyn_cast<InsertElementInst>(&instruction))
    return builder.CreateInsertElement(operand(0), operand(1),
                                       insert->getOperand(2));
  if (auto *extract = dyn_cast<ExtractElementInst>(&instruction))
    return builder.CreateExtractElement(operand(0), extract->getIndexOperand());
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
    return builder.CreateShuffleVector(operand(0), operand(1),
                                       shuffle->getShuffleMask());
  if (isa<FreezeInst>(instruction))
    return builder.CreateFreeze(operand(0));
  if (isa<BitCastInst>(instruction))
    return builder.CreateBitCast(isBrain(instruction.getOperand(0))
                                     ? operand(0)
                                     : instruction.getOperand(0),
                                 type);
  Value *sign = ConstantInt::get(type, 0x8000);
  Value *magnitude = ConstantInt::get(type, 0x7FFF);
  if (instruction.getOpcode() == Instruction::FNeg)
    return builder.CreateXor(operand(0), sign);
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() == Intrinsic::fabs)
      return builder.CreateAnd(operand(0), magnitude);
    if (call->getIntrinsicID() == Intrinsic::copysign)
      return builder.CreateOr(builder.CreateAnd(operand(0), magnitude),
                              builder.CreateAnd(operand(1), sign));
  }
  return nullptr;
}

/// What an instruction that takes bf16 yields from the i16, or itself when it
/// was changed; null if it has to stay.
Value *BrainFloats::convertUse(Instruction &instruction) {
  IRBuilder<> builder(&instruction);
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    if (!isBrain(store->getValueOperand()))
      return nullptr;
    StoreInst *made = builder.CreateAlignedStore(
        bitsOf(store->getValueOperand()), store->getPointerOperand(),
        store->getAlign(), store->isVolatile());
    made->copyMetadata(*store);
    return made;
  }
  if (!isa<CastInst>(instruction) || !isBrain(instruction.getOperand(0)))
    return nullptr;
  Value *source = bitsOf(instruction.getOperand(0));
  Type *type = instruction.getType();
  if (isa<BitCastInst>(instruction))
    return builder.CreateBitCast(source, type);
  if (!isa<FPExtInst>(instruction))
    return nullptr;
  // bf16 is the upper half of f32.
  Type *i32 = type->getWithNewType(builder.getInt32Ty());
  Value *wide =
      builder.CreateBitCast(builder.CreateShl(builder.CreateZExt(source, i32),
                                              ConstantInt::get(i32, 16)),
                            type->getWithNewType(builder.getFloatTy()));
  return builder.CreateFPExt(wide, type);
}

void BrainFloats::erase() {
  SmallPtrSet<Instruction *, 16> gone(replaced.begin(), replaced.end());
  for (Instruction *instruction : replaced) {
    bool isWanted = any_of(instruction->users(), [&](User *user) {
      return !gone.contains(cast<Instruction>(user));
    });
    if (!isWanted)
      continue;
    auto *made = cast<Instruction>(bits[instruction]);
    IRBuilder<> builder(function.getContext());
    builder.SetInsertPoint(*made->getInsertionPointAfterDef());
    Value *back = builder.CreateBitCast(made, instruction->getType());
    instruction->replaceUsesWithIf(back, [&](Use &use) {
      return !gone.contains(cast<Instruction>(use.getUser()));
    });
  }
  for (Instruction *instruction : replaced) {
    instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
    instruction->eraseFromParent();
  }
}

void BrainFloats::run() {
  SmallVector<PHINode *> phis;
  ReversePostOrderTraversal<Function *> blocks(&function);
  for (BasicBlock *block : blocks)
    for (Instruction &instruction : make_early_inc_range(*block)) {
      if (!isBrain(&instruction)) {
        Value *made = convertUse(instruction);
        if (!made)
          continue;
        if (!instruction.getType()->isVoidTy())
          instruction.replaceAllUsesWith(made);
        instruction.eraseFromParent();
        continue;
      }
      Value *made = convert(instruction);
      if (!made)
        continue;
      if (auto *phi = dyn_cast<PHINode>(&instruction))
        phis.push_back(phi);
      bits[&instruction] = made;
      replaced.push_back(&instruction);
    }
  for (PHINode *phi : phis)
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      cast<PHINode>(bits[phi])->addIncoming(bitsOf(phi->getIncomingValue(i)),
                                            phi->getIncomingBlock(i));
  erase();
}
} // namespace

void nested::storeBrainFloatsAsIntegers(Module &module,
                                        const TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86() ||
      machine.getMCSubtargetInfo()->checkFeatures("+avx512bf16"))
    return;
  for (Function &function : module)
    if (!function.isDeclaration())
      BrainFloats(function).run();
}
