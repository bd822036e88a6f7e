//===- EmitKernelAbi.cpp - The calling convention of kernels --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel @k:
//
// 1. Its memref arguments become a pointer and a leading dimension each, from
//    which a descriptor with constant inner sizes is built; @k is renamed
//    @k.body and made internal. Pointers keep `noalias` and `readonly` only as
//    arguments of a function that is not inlined, hence two functions.
// 2. An exported @k(frame, begin, end, scratch) loads them and calls @k.body.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/KernelMemRefs.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace nested {
#define GEN_PASS_DEF_EMITKERNELABI
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

/// The fields of nested_frame, in order.
enum FrameField { kMemRefs, kDims, kScalars };

/// What the runtime promises for scratch memory.
constexpr unsigned kScratchAlignment = 64;

class KernelWrapper {
public:
  KernelWrapper(func::FuncOp kernel, const LLVMTypeConverter &converter)
      : kernel(kernel), converter(converter), builder(kernel.getContext()),
        pointer(LLVM::LLVMPointerType::get(kernel.getContext())) {}

  LogicalResult run();

private:
  LogicalResult check();
  void rewriteBody();
  void emitWrapper(StringRef name);
  Value loadField(Value frame, FrameField field);
  Value loadElement(Value array, unsigned index, Type type);

  func::FuncOp kernel;
  const LLVMTypeConverter &converter;
  OpBuilder builder;
  Type pointer;
  /// The arguments as the kernel had them, without begin, end and scratch.
  SmallVector<MemRefType> memrefs;
  SmallVector<Type> scalars;
  std::optional<int64_t> scratchBytes;
};

LogicalResult KernelWrapper::check() {
  if (kernel.isDeclaration() || kernel.getNumResults() != 0)
    return kernel.emitOpError("is a kernel, so it must have a body and no "
                              "results");
  SmallVector<Type> types(kernel.getArgumentTypes());
  if (auto bytes =
          kernel->getAttrOfType<IntegerAttr>(nested::kScratchBytesAttr)) {
    scratchBytes = bytes.getInt();
    auto type =
        types.empty() ? MemRefType() : dyn_cast<MemRefType>(types.back());
    if (!type || type.getRank() != 1 || !type.getElementType().isInteger(8) ||
        !nested::isKernelMemRef(type))
      return kernel.emitOpError("has '")
             << nested::kScratchBytesAttr
             << "', so its last argument must be a memref<?xi8>";
    types.pop_back();
  }
  for (int i = 0; i < 2; ++i) {
    if (types.empty() || !types.back().isIndex())
      return kernel.emitOpError(
          "is a kernel, so it must take the first and last unit as index "
          "arguments behind its memrefs and scalars");
    types.pop_back();
  }
  for (auto [i, type] : llvm::enumerate(types)) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      if (!scalars.empty())
        return kernel.emitOpError("argument #")
               << i << " is a memref behind a scalar; memrefs come first";
      if (failed(nested::checkKernelMemRef(kernel, i, memref)))
        return failure();
      memrefs.push_back(memref);
      continue;
    }
    if (!type.isIndex() && !type.isInteger(64))
      return kernel.emitOpError("argument #")
             << i << " has type " << type
             << ", but scalars of a kernel must be index or i64";
    scalars.push_back(type);
  }
  return success();
}

void KernelWrapper::rewriteBody() {
  Location loc = kernel.getLoc();
  Block &entry = kernel.getBody().front();
  unsigned oldCount = entry.getNumArguments();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  builder.setInsertionPointToStart(&entry);
  auto addArgument = [&](Type type, ArrayRef<NamedAttribute> attrs = {}) {
    types.push_back(type);
    attributes.push_back(builder.getDictionaryAttr(attrs));
    return entry.addArgument(type, loc);
  };
  Type i64 = builder.getI64Type();
  NamedAttribute noalias(builder.getStringAttr("llvm.noalias"),
                         builder.getUnitAttr());
  NamedAttribute readonly(builder.getStringAttr("llvm.readonly"),
                          builder.getUnitAttr());
  unsigned next = 0;
  for (MemRefType type : memrefs) {
    BlockArgument old = entry.getArgument(next);
    SmallVector<NamedAttribute> attrs;
    if (!kernel.getArgAttr(next, nested::kMayAliasAttr))
      attrs.push_back(noalias);
    if (nested::isOnlyRead(old))
      attrs.push_back(readonly);
    Value data = addArgument(pointer, attrs);
    Value size = addArgument(i64);
    old.replaceAllUsesWith(
        nested::buildKernelMemRef(builder, loc, converter, type, data, size));
    ++next;
  }
  for (Type type : scalars)
    entry.getArgument(next++).replaceAllUsesWith(addArgument(type));
  for (int i = 0; i < 2; ++i)
    entry.getArgument(next++).replaceAllUsesWith(
        addArgument(builder.getIndexType()));
  if (scratchBytes) {
    NamedAttribute align(builder.getStringAttr("llvm.align"),
                         builder.getI64IntegerAttr(kScratchAlignment));
    auto type = cast<MemRefType>(entry.getArgument(next).getType());
    Value data = addArgument(pointer, {noalias, align});
    Value size = LLVM::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(*scratchBytes));
    entry.getArgument(next++).replaceAllUsesWith(
        nested::buildKernelMemRef(builder, loc, converter, type, data, size));
  }
  entry.eraseArguments(0, oldCount);
  kernel.setType(builder.getFunctionType(types, {}));
  kernel.setAllArgAttrs(attributes);
}

Value KernelWrapper::loadField(Value frame, FrameField field) {
  return loadElement(frame, field, pointer);
}

Value KernelWrapper::loadElement(Value array, unsigned index, Type type) {
  Location loc = kernel.getLoc();
  // Every field and element is 8 bytes.
  Value address =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), array,
                          ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(index)));
  return LLVM::LoadOp::create(builder, loc, type, address);
}

void KernelWrapper::emitWrapper(StringRef name) {
  Location loc = kernel.getLoc();
  builder.setInsertionPointAfter(kernel);
  Type i64 = builder.getI64Type();
  auto wrapper = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, i64, i64, pointer}));
  wrapper->setAttr(nested::kKernelAttr, builder.getUnitAttr());
  if (scratchBytes)
    wrapper->setAttr(nested::kScratchBytesAttr,
                     builder.getI64IntegerAttr(*scratchBytes));
  Block *entry = wrapper.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value frame = entry->getArgument(0);
  SmallVector<Value> operands;
  auto toIndex = [&](Value value) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  };
  if (!memrefs.empty()) {
    Value data = loadField(frame, kMemRefs), dims = loadField(frame, kDims);
    for (unsigned i = 0; i < memrefs.size(); ++i) {
      operands.push_back(loadElement(data, i, pointer));
      operands.push_back(loadElement(dims, i, i64));
    }
  }
  if (!scalars.empty()) {
    Value values = loadField(frame, kScalars);
    for (auto [i, type] : llvm::enumerate(scalars)) {
      Value value = loadElement(values, i, i64);
      operands.push_back(type.isIndex() ? toIndex(value) : value);
    }
  }
  operands.push_back(toIndex(entry->getArgument(1)));
  operands.push_back(toIndex(entry->getArgument(2)));
  if (scratchBytes)
    operands.push_back(entry->getArgument(3));
  func::CallOp::create(builder, loc, kernel, operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

LogicalResult KernelWrapper::run() {
  if (failed(check()))
    return failure();
  std::string name = kernel.getSymName().str();
  rewriteBody();
  kernel.setSymName(name + ".body");
  kernel->removeAttr(nested::kKernelAttr);
  kernel->removeAttr(nested::kScratchBytesAttr);
  kernel->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(kernel.getContext(), LLVM::Linkage::Internal));
  kernel->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  emitWrapper(name);
  return success();
}

struct EmitKernelAbi : public nested::impl::EmitKernelAbiBase<EmitKernelAbi> {
  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    LLVMTypeConverter converter(&getContext(), options);
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(nested::kKernelAttr))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels)
      if (failed(KernelWrapper(kernel, converter).run()))
        return signalPassFailure();
  }
};

} // namespace
