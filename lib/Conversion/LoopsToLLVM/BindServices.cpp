//===- BindServices.cpp - Math functions through the services table -------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Find the operations that need a function of the host, and the service for
//    each. f16 and bf16 use the f32 one.
// 2. Load the pointer of each service once, at the entry of the function.
// 3. Replace the operation by a call; a vector by a call for each element,
//    in a loop over memory when there are many.
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace nested {
#define GEN_PASS_DEF_BINDSERVICES
#include "nested/Conversion/LoopsToLLVM/Passes.h.inc"
} // namespace nested

using namespace mlir;

namespace {

/// The table, one entry for each line of services.def.
constexpr StringLiteral kServices[] = {
#define NESTED_SERVICE(NAME, RESULT, PARAMETERS) StringLiteral(#NAME),
#include "nested/services.def"
#undef NESTED_SERVICE
};

std::optional<unsigned> findService(StringRef name) {
  const auto *it = llvm::find(kServices, name);
  if (it == std::end(kServices))
    return std::nullopt;
  return it - std::begin(kServices);
}

/// What an operation of the math dialect is called in the C library; empty for
/// those that compile to instructions.
StringRef getLibraryName(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return "fmod";
  if (isa<math::PowFOp>(op))
    return "pow";
  StringRef name = op->getName().stripDialect();
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh"}, name)
      .Cases({"cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2"}, name)
      .Cases({"expm1", "log", "log10", "log1p", "log2"}, name)
      .Cases({"sin", "sinh", "tan", "tanh"}, name)
      .Default("");
}

/// More elements than this are computed in a loop, to keep the code small.
constexpr int64_t kMaxUnrolledCalls = 4;

/// Calls of one function, through pointers loaded at its entry.
class ServiceCalls {
public:
  explicit ServiceCalls(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  LogicalResult bind(Operation *op, StringRef name);

  /// One more than the largest number of a service in use.
  int64_t getTableSize() const { return tableSize; }

private:
  Value getPointer(unsigned index);
  Value call(Location loc, unsigned index, Type type, ValueRange arguments);
  Value callForElements(Location loc, unsigned index, VectorType type,
                        ValueRange arguments);
  Value callInLoop(Location loc, unsigned index, VectorType type,
                   ValueRange arguments);

  func::FuncOp function;
  OpBuilder builder;
  Value table;
  llvm::DenseMap<unsigned, Value> pointers;
  int64_t tableSize = 0;
};

Value ServiceCalls::getPointer(unsigned index) {
  Value &pointer = pointers[index];
  if (pointer)
    return pointer;
  tableSize = std::max<int64_t>(tableSize, index + 1);
  OpBuilder::InsertionGuard guard(builder);
  Location loc = function.getLoc();
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  if (table) {
    builder.setInsertionPointAfterValue(table);
  } else {
    builder.setInsertionPointToStart(&function.getBody().front());
    Value slot = LLVM::AddressOfOp::create(builder, loc, pointerType,
                                           nested::kServicesSlot);
    table = LLVM::LoadOp::create(builder, loc, pointerType, slot);
  }
  Value address =
      LLVM::GEPOp::create(builder, loc, pointerType, pointerType, table,
                          ArrayRef<LLVM::GEPArg>(static_cast<int32_t>(index)));
  pointer = LLVM::LoadOp::create(builder, loc, pointerType, address);
  return pointer;
}

Value ServiceCalls::call(Location loc, unsigned index, Type type,
                         ValueRange arguments) {
  SmallVector<Value> operands{getPointer(index)};
  llvm::append_range(operands, arguments);
  SmallVector<Type> types(arguments.size(), type);
  auto call = LLVM::CallOp::create(
      builder, loc, LLVM::LLVMFunctionType::get(type, types), operands);
  // So that calls are as movable as the operations that they replace.
  using LLVM::ModRefInfo;
  call.setMemoryEffectsAttr(builder.getAttr<LLVM::MemoryEffectsAttr>(
      ArrayRef<ModRefInfo>{ModRefInfo::NoModRef, ModRefInfo::NoModRef,
                           ModRefInfo::NoModRef, ModRefInfo::NoModRef,
                           ModRefInfo::NoModRef, ModRefInfo::NoModRef}));
  call.setNoUnwind(true);
  call.setWillReturn(true);
  return call.getResult();
}

Value ServiceCalls::callForElements(Location loc, unsigned index,
                                    VectorType type, ValueRange arguments) {
  Value result =
      arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> elements;
    for (Value argument : arguments)
      elements.push_back(vector::ExtractOp::create(builder, loc, argument, i));
    Value element = call(loc, index, type.getElementType(), elements);
    result = vector::InsertOp::create(builder, loc, element, result, i);
  }
  return result;
}

Value ServiceCalls::callInLoop(Location loc, unsigned index, VectorType type,
                               ValueRange arguments) {
  auto bufferType =
      MemRefType::get({type.getNumElements()}, type.getElementType());
  SmallVector<Value> buffers;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    OpBuilder::InsertionGuard guard(builder);
    // In the entry block: an alloca in a loop would eat the stack.
    builder.setInsertionPointToStart(&function.getBody().front());
    buffers.push_back(memref::AllocaOp::create(builder, loc, bufferType,
                                               builder.getI64IntegerAttr(64)));
  }
  for (auto [argument, buffer] : llvm::zip_equal(arguments, buffers))
    vector::StoreOp::create(builder, loc, argument, buffer, zero);
  Value count =
      arith::ConstantIndexOp::create(builder, loc, type.getNumElements());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> elements;
    for (Value buffer : buffers)
      elements.push_back(
          memref::LoadOp::create(builder, loc, buffer, loop.getInductionVar()));
    Value element = call(loc, index, type.getElementType(), elements);
    memref::StoreOp::create(builder, loc, element, buffers[0],
                            loop.getInductionVar());
  }
  return vector::LoadOp::create(builder, loc, type, buffers[0], zero);
}

LogicalResult ServiceCalls::bind(Operation *op, StringRef name) {
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  Type computed = element.isF64() ? element : builder.getF32Type();
  std::optional<unsigned> index =
      findService(computed.isF64() ? name.str() : (name + "f").str());
  auto vectorType = dyn_cast<VectorType>(type);
  if (!index || element.getIntOrFloatBitWidth() > 64 ||
      (vectorType && vectorType.isScalable()))
    return op->emitOpError("on ")
           << type << " has no service: the host offers no function for it";

  Location loc = op->getLoc();
  builder.setInsertionPoint(op);
  auto like = [&](Type newElement, std::optional<ArrayRef<int64_t>> shape) {
    return vectorType ? Type(VectorType::get(
                            shape.value_or(vectorType.getShape()), newElement))
                      : newElement;
  };
  SmallVector<Value> arguments(op->getOperands());
  int64_t flat = vectorType ? vectorType.getNumElements() : 1;
  bool reshape = vectorType && vectorType.getRank() != 1;
  for (Value &argument : arguments) {
    if (element != computed)
      argument = arith::ExtFOp::create(builder, loc,
                                       like(computed, std::nullopt), argument);
    if (reshape)
      argument = vector::ShapeCastOp::create(builder, loc, like(computed, flat),
                                             argument);
  }
  Value result;
  if (!vectorType)
    result = call(loc, *index, computed, arguments);
  else if (flat <= kMaxUnrolledCalls)
    result = callForElements(loc, *index,
                             cast<VectorType>(like(computed, flat)), arguments);
  else
    result = callInLoop(loc, *index, cast<VectorType>(like(computed, flat)),
                        arguments);
  if (reshape)
    result = vector::ShapeCastOp::create(builder, loc,
                                         like(computed, std::nullopt), result);
  if (element != computed)
    result = arith::TruncFOp::create(builder, loc, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return success();
}

struct BindServices : public nested::impl::BindServicesBase<BindServices> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t tableSize = 0;
    if (auto known = module->getAttrOfType<IntegerAttr>(nested::kServicesAttr))
      tableSize = known.getInt();
    int64_t before = tableSize;
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<std::pair<Operation *, StringRef>> work;
      function.walk([&](Operation *op) {
        if (!isa<math::MathDialect>(op->getDialect()) &&
            !isa<arith::RemFOp>(op))
          return;
        StringRef name = getLibraryName(op);
        if (!name.empty())
          work.push_back({op, name});
      });
      ServiceCalls calls(function);
      for (auto [op, name] : work)
        if (failed(calls.bind(op, name)))
          return signalPassFailure();
      tableSize = std::max(tableSize, calls.getTableSize());
    }
    if (tableSize == before)
      return;
    OpBuilder builder(module.getBodyRegion());
    module->setAttr(nested::kServicesAttr,
                    builder.getI64IntegerAttr(tableSize));
    if (!module.lookupSymbol(nested::kServicesSlot))
      declareSlot(builder, module.getLoc());
  }

  static void declareSlot(OpBuilder &builder, Location loc) {
    auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
    auto slot = LLVM::GlobalOp::create(
        builder, loc, pointerType, /*isConstant=*/false,
        LLVM::Linkage::External, nested::kServicesSlot, Attribute());
    builder.createBlock(&slot.getInitializerRegion());
    Value null = LLVM::ZeroOp::create(builder, loc, pointerType);
    LLVM::ReturnOp::create(builder, loc, null);
  }
};

} // namespace
