//===- CarryBF16.cpp - bf16 as the integer of its bits --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is left of bf16 when arithmetic and conversions are written out is
// moved: loaded, chosen, passed to a block, stored. The types of values, of
// memory and of constants are changed in place. An operation that computes with
// bf16 then does not verify.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"

namespace nested {
#define GEN_PASS_DEF_CARRYBF16
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {
struct CarryBF16 : nested::impl::CarryBF16Base<CarryBF16> {
  void runOnOperation() override {
    AttrTypeReplacer replacer;
    // Elements of vectors, arrays and structs are reached by way of their
    // types.
    replacer.addReplacement([](BFloat16Type type) -> Type {
      return IntegerType::get(type.getContext(), 16);
    });
    // Numbers, before their types alone would be replaced.
    replacer.addReplacement(
        [&](FloatAttr number)
            -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!number.getType().isBF16())
            return std::nullopt;
          Type type = IntegerType::get(number.getContext(), 16);
          return std::pair(Attribute(IntegerAttr::get(
                               type, number.getValue().bitcastToAPInt())),
                           WalkResult::skip());
        });
    replacer.addReplacement(
        [&](DenseElementsAttr numbers)
            -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!numbers.getElementType().isBF16())
            return std::nullopt;
          Type type = IntegerType::get(numbers.getContext(), 16);
          return std::pair(Attribute(numbers.bitcast(type)),
                           WalkResult::skip());
        });
    LLVM::LLVMFuncOp function = getOperation();
    replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    function.walk([](LLVM::BitcastOp cast) {
      if (cast.getArg().getType() != cast.getType())
        return;
      cast.getResult().replaceAllUsesWith(cast.getArg());
      cast.erase();
    });
  }
};
} // namespace
