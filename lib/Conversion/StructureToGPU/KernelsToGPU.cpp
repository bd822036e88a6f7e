//===- KernelsToGPU.cpp - Kernels as functions of a GPU module ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nested/Conversion/LoopsToLLVM/KernelMemRefs.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToGPU/Passes.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace nested {
#define GEN_PASS_DEF_KERNELSTOGPU
#include "nested/Conversion/StructureToGPU/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;

namespace {

/// Words of a block's error record.
constexpr int64_t kErrorWords = 4;

struct KernelsToGPU : public nested::impl::KernelsToGPUBase<KernelsToGPU> {
  using KernelsToGPUBase::KernelsToGPUBase;

  void runOnOperation() override;

private:
  LogicalResult check(func::FuncOp kernel);
  LogicalResult move(func::FuncOp kernel, gpu::GPUModuleOp module,
                     std::optional<unsigned> errorRecord);
};

/// Whether a GPU computes it without a library.
bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

/// Whether nothing is written through `buffer`, which has no views.
bool isOnlyRead(Value buffer) {
  return llvm::all_of(buffer.getUsers(), [](Operation *user) {
    return isa<memref::LoadOp, memref::DimOp, vector::LoadOp>(user);
  });
}

} // namespace

LogicalResult KernelsToGPU::check(func::FuncOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  size_t memrefs = llvm::count_if(types, llvm::IsaPred<MemRefType>);
  bool ordered =
      llvm::all_of(types.take_front(memrefs), llvm::IsaPred<MemRefType>);
  ArrayRef<Type> scalars = types.drop_front(ordered ? memrefs : 0);
  bool scalar = llvm::all_of(
      scalars, [](Type type) { return type.isIndex() || type.isInteger(64); });
  if (!ordered || !scalar || scalars.size() < 2 || kernel.getNumResults() != 0)
    return kernel.emitOpError("is a kernel, so it must take memrefs, scalars "
                              "(index or i64), begin and end, but it has type ")
           << kernel.getFunctionType();
  for (auto [i, type] : llvm::enumerate(types.take_front(memrefs))) {
    if (failed(checkKernelMemRef(kernel, i, cast<MemRefType>(type))))
      return failure();
  }
  WalkResult walk = kernel.walk([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    Dialect *dialect = op->getDialect();
    if (isa<arith::ArithDialect, gpu::GPUDialect, memref::MemRefDialect,
            NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>(
            dialect) ||
        isa<func::ReturnOp>(op) || isInstruction(op))
      return WalkResult::advance();
    op->emitOpError("is not supported on GPUs yet");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult KernelsToGPU::move(func::FuncOp kernel, gpu::GPUModuleOp module,
                                 std::optional<unsigned> errorRecord) {
  if (failed(check(kernel)))
    return failure();
  Location loc = kernel.getLoc();
  OpBuilder b(&getContext());
  Block &old = kernel.getBody().front();
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  Type i64 = b.getI64Type();
  unsigned memrefs =
      llvm::count_if(kernel.getArgumentTypes(), llvm::IsaPred<MemRefType>);
  unsigned scalars = old.getNumArguments() - memrefs;
  SmallVector<Type> types(memrefs, pointer);
  types.append(memrefs + scalars + 1, i64);

  b.setInsertionPointToEnd(module.getBody());
  auto function = gpu::GPUFuncOp::create(b, loc, kernel.getSymName(),
                                         b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  if (Attribute bytes = kernel->getAttr(kWorkgroupBytesAttr))
    function->setAttr(kWorkgroupBytesAttr, bytes);
  for (unsigned i = 0; i < memrefs; ++i) {
    if (!kernel.getArgAttr(i, kMayAliasAttr) && errorRecord != i)
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          b.getUnitAttr());
    if (isOnlyRead(old.getArgument(i)))
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                          b.getUnitAttr());
  }

  Block &entry = function.getBody().front();
  b.setInsertionPointToStart(&entry);
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  IRMapping map;
  LLVMTypeConverter converter(b.getContext());
  for (unsigned i = 0; i < memrefs; ++i) {
    Value data = entry.getArgument(i);
    auto type = cast<MemRefType>(old.getArgument(i).getType());
    if (errorRecord == i) {
      Value words = arith::MulIOp::create(
          b, loc, block, arith::ConstantIndexOp::create(b, loc, kErrorWords));
      Value offset = arith::IndexCastOp::create(b, loc, i64, words);
      data = LLVM::GEPOp::create(b, loc, pointer, i64, data,
                                 ArrayRef<LLVM::GEPArg>(offset));
    }
    map.map(old.getArgument(i),
            buildKernelMemRef(b, loc, converter, type, data,
                              entry.getArgument(memrefs + i)));
  }
  for (unsigned i = 0; i < scalars; ++i) {
    Value value = entry.getArgument(2 * memrefs + i);
    Value argument = old.getArgument(memrefs + i);
    map.map(argument, argument.getType().isIndex() ? toIndex(value) : value);
  }
  // The units of this block.
  Value begin = map.lookup(old.getArguments().drop_back().back());
  Value end = map.lookup(old.getArguments().back());
  Value count = toIndex(entry.getArguments().back());
  Value first = arith::AddIOp::create(
      b, loc, begin, arith::MulIOp::create(b, loc, block, count));
  Value last = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, first, count), end);
  map.map(old.getArguments().drop_back().back(), first);
  map.map(old.getArguments().back(), last);
  Value some =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, first, last);
  auto guard = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
  gpu::ReturnOp::create(b, loc);
  b.setInsertionPoint(guard.thenBlock()->getTerminator());
  for (Operation &op : old.without_terminator())
    b.clone(op, map);
  kernel.erase();
  return success();
}

void KernelsToGPU::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kKernelAttr) && !function.isExternal())
      kernels.push_back(function);
  if (kernels.empty())
    return;
  // The error record follows the buffers of a launch.
  DenseMap<StringAttr, unsigned> errorRecords;
  module.walk([&](ragged::LaunchOp launch) {
    if (launch.getErrors())
      errorRecords[launch.getKernelAttr().getAttr()] =
          launch.getMemrefs().size();
  });
  OpBuilder b(module.getBodyRegion());
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  b.getUnitAttr());
  auto gpuModule = gpu::GPUModuleOp::create(b, module.getLoc(), kGPUModuleName);
  for (func::FuncOp kernel : kernels) {
    auto record = errorRecords.find(kernel.getSymNameAttr());
    std::optional<unsigned> number;
    if (record != errorRecords.end())
      number = record->second;
    if (failed(move(kernel, gpuModule, number)))
      return signalPassFailure();
  }
  // What the lowering of dynamic memory would make by itself is a static
  // variable of no size, which others overlap.
  b.setInsertionPointToStart(gpuModule.getBody());
  if (gpuModule
          .walk([](gpu::DynamicSharedMemoryOp) {
            return WalkResult::interrupt();
          })
          .wasInterrupted())
    LLVM::GlobalOp::create(
        b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
        /*isConstant=*/false, LLVM::Linkage::External, "workgroup_memory",
        Attribute(), /*alignment=*/16,
        static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
}
