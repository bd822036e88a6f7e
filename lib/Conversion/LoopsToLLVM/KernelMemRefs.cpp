//===- KernelMemRefs.cpp - Memrefs that kernels take ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/KernelMemRefs.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

bool nested::isKernelMemRef(MemRefType type) {
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return false;
  for (int64_t i = 1; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      return false;
  return true;
}

LogicalResult nested::checkKernelMemRef(func::FuncOp kernel, unsigned number,
                                        MemRefType type) {
  if (isKernelMemRef(type))
    return success();
  return kernel.emitOpError("argument #")
         << number << " has type " << type
         << ", but only the leading dimension of a kernel's memref may be "
            "dynamic, and its layout must be the identity";
}

bool nested::isOnlyRead(Value buffer) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<memref::ExtractAlignedPointerAsIndexOp>(user))
      return false;
    if (isa<ViewLikeOpInterface>(user)) {
      for (Value view : user->getResults())
        if (isa<BaseMemRefType>(view.getType()) && !isOnlyRead(view))
          return false;
      continue;
    }
    if (isa<memref::PrefetchOp>(user))
      continue;
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    // Without results, so that the buffer does not live on under another name.
    bool escapes = llvm::any_of(user->getResultTypes(), [](Type type) {
      return isa<BaseMemRefType>(type);
    });
    if (!effects || escapes)
      return false;
    SmallVector<MemoryEffects::EffectInstance> list;
    effects.getEffects(list);
    for (const MemoryEffects::EffectInstance &effect : list)
      if (!isa<MemoryEffects::Read>(effect.getEffect()) &&
          (!effect.getValue() || effect.getValue() == buffer))
        return false;
  }
  return true;
}

Value nested::buildKernelMemRef(OpBuilder &b, Location loc,
                                const LLVMTypeConverter &converter,
                                MemRefType type, Value data, Value size) {
  auto descriptor =
      MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, data);
  descriptor.setAlignedPtr(b, loc, data);
  descriptor.setConstantOffset(b, loc, 0);
  int64_t stride = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    if (type.isDynamicDim(i))
      descriptor.setSize(b, loc, i, size);
    else
      descriptor.setConstantSize(b, loc, i, type.getDimSize(i));
    descriptor.setConstantStride(b, loc, i, stride);
    if (i > 0)
      stride *= type.getDimSize(i);
  }
  Value value = descriptor;
  return UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}
