//===- LoopKernel.cpp - Kernels written as loops over units ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

LoopUnits LoopUnits::makeInstances(const LogicalType &type) {
  return {type.path, type.getRowExtent(),
          extent::constant(type.getContext(), 1)};
}

DimSplit::DimSplit(const LogicalType &type, int64_t dim) {
  MLIRContext *context = type.getContext();
  const auto *position = llvm::find(type.order, dim);
  auto product = [&](auto dims) {
    SmallVector<ExtentAttr> extents;
    for (int64_t d : dims)
      extents.push_back(type.extents[d]);
    return extent::product(context, extents);
  };
  outer = product(llvm::make_range(type.order.begin(), position));
  length = type.extents[dim];
  inner = product(llvm::make_range(position + 1, type.order.end()));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

LoopKernel::LoopKernel(OpBuilder &module, Location loc, StringRef name,
                       ScheduleBuilder &schedule, LoopUnits units)
    : loc(loc), schedule(schedule), units(std::move(units)),
      signature(module, loc, name, schedule) {}

static int64_t countRowElements(const LogicalType &type) {
  int64_t count = 1;
  for (int64_t size : type.getRowShape())
    count *= size;
  return count;
}

/// An argument may have gaps; everything else is packed.
Value LoopKernel::getFirstRows(Value value, const LogicalType &type) {
  if (type.isDense())
    return {};
  std::optional<int64_t> arg =
      value ? schedule.getArgument(value) : std::nullopt;
  return signature.getTable(
      arg ? TableKey::makeBase(*arg, type.path)
          : TableKey::makeOffsets(type.getRowExtent(), type.path));
}

LoopOperand LoopKernel::addValue(Value value) {
  LogicalType type = LogicalType::of(value);
  Value memref =
      signature.addBuffer(schedule.getBuffer(value), {}, type.elementType);
  return {memref, type, getFirstRows(value, type), countRowElements(type)};
}

LoopOperand LoopKernel::addTemp(Value buffer, const LogicalType &type) {
  Value memref = signature.addBuffer(buffer, {}, type.elementType);
  return {memref, type, getFirstRows({}, type), countRowElements(type)};
}

Value LoopKernel::getFirst(OpBuilder &b, Location at,
                           const LoopOperand &operand, Value sample) {
  IndexBuilder ib(b, at);
  if (!operand.firstRows)
    return ib.constant(0);
  return getFirstOf(
      b, at, operand,
      signature.getParent(b, at, units.path, operand.type.path, sample));
}

Value LoopKernel::getFirst(OpBuilder &b, Location at,
                           const LoopOperand &operand, Value sample,
                           Value member) {
  return operand.type.path.size() > units.path.size()
             ? getFirstOf(b, at, operand, member)
             : getFirst(b, at, operand, sample);
}

Value LoopKernel::getFirstOf(OpBuilder &b, Location at,
                             const LoopOperand &operand, Value instance) {
  IndexBuilder ib(b, at);
  if (!operand.firstRows)
    return ib.constant(0);
  return ib.mul(ib.load(operand.firstRows, instance),
                ib.constant(operand.rowElements));
}

Value LoopKernel::evaluate(OpBuilder &b, Location at, ExtentAttr extent,
                           ArrayRef<StringAttr> path, Value sample) {
  sample = signature.getParent(b, at, units.path, path, sample);
  return signature.evaluate(b, at, extent, path, sample);
}

Value LoopKernel::addScratch(MemRefType type) {
  OpBuilder b(loc.getContext());
  b.setInsertionPointToEnd(signature.getBody());
  return memref::AllocOp::create(b, loc, type);
}

Value LoopKernel::load(OpBuilder &b, Location loc, const LoopOperand &operand,
                       Value index, int64_t width) {
  Type type = getScalarType(operand.type.elementType);
  Type stored = getStorageType(type);
  Value value =
      width ? vector::LoadOp::create(b, loc, VectorType::get({width}, stored),
                                     operand.memref, index)
                  .getResult()
            : memref::LoadOp::create(b, loc, operand.memref, index).getResult();
  if (stored == type)
    return value;
  Type bits = width ? Type(VectorType::get({width}, type)) : type;
  return arith::TruncIOp::create(b, loc, bits, value);
}

void LoopKernel::store(OpBuilder &b, Location loc, Value value,
                       const LoopOperand &operand, Value index) {
  Type type = getScalarType(operand.type.elementType);
  Type stored = getStorageType(type);
  auto vector = dyn_cast<VectorType>(value.getType());
  if (stored != type)
    value = arith::ExtUIOp::create(
        b, loc, vector ? Type(vector.clone(stored)) : stored, value);
  if (vector)
    vector::StoreOp::create(b, loc, value, operand.memref, index);
  else
    memref::StoreOp::create(b, loc, value, operand.memref, index);
}

/// Columns of a block: two cache lines of f32, and accumulators of f64 that fit
/// the registers of AVX.
static constexpr int64_t kBlock = 32;

void LoopKernel::forBlocks(OpBuilder &b, Location loc, ExtentAttr extent,
                           Value size, BlockBody body) {
  IndexBuilder ib(b, loc);
  auto forRange = [&](Value from, Value to, int64_t width) {
    Value step = ib.constant(std::max<int64_t>(width, 1));
    scf::ForOp::create(
        b, loc, from, to, step, ValueRange(),
        [&](OpBuilder &inner, Location l, Value column, ValueRange) {
          body(inner, l, column, width);
          scf::YieldOp::create(inner, l);
        });
  };
  std::optional<int64_t> columns = extent ? extent.getConstant() : std::nullopt;
  if (columns) {
    int64_t blocks = *columns / kBlock * kBlock;
    if (blocks)
      forRange(ib.constant(0), ib.constant(blocks), kBlock);
    if (int64_t rest = *columns - blocks)
      body(b, loc, ib.constant(blocks), rest == 1 ? 0 : rest);
    return;
  }
  Value from = ib.constant(0);
  for (int64_t width : {kBlock, kBlock / 4}) {
    Value block = ib.constant(width);
    Value to = ib.mul(ib.div(size, block), block);
    forRange(from, to, width);
    from = to;
  }
  forRange(from, size, 0);
}

int64_t LoopKernel::countBytes(ArrayRef<LoopOperand> operands) {
  int64_t bytes = 0;
  for (const LoopOperand &operand : operands)
    bytes +=
        operand.rowElements *
        llvm::divideCeil(operand.type.elementType.getIntOrFloatBitWidth(), 8);
  return bytes;
}

Value nested::ragged::convertFloats(OpBuilder &b, Location loc, Value value,
                                    Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (!isa<FloatType>(from) || from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

SmallVector<Value> nested::ragged::cloneElementwise(OpBuilder &b, Block &block,
                                                    ValueRange arguments,
                                                    int64_t width) {
  IRMapping mapping;
  return cloneElementwise(b, block, arguments, width, mapping);
}

SmallVector<Value> nested::ragged::cloneElementwise(OpBuilder &b, Block &block,
                                                    ValueRange arguments,
                                                    int64_t width,
                                                    IRMapping &mapping) {
  mapping.map(block.getArguments(), arguments);
  auto lookup = [&](Value value) -> Value {
    Operation *def = value.getDefiningOp();
    if (!mapping.contains(value) && def &&
        def->hasTrait<OpTrait::ConstantLike>())
      mapping.map(value, b.clone(*def)->getResult(0));
    return mapping.lookupOrDefault(value);
  };
  auto splat = [&](Value value) -> Value {
    if (!width || isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(
        b, value.getLoc(), VectorType::get({width}, value.getType()), value);
  };
  for (Operation &inner : block.without_terminator()) {
    if (inner.getNumResults() == 1 && mapping.contains(inner.getResult(0)))
      continue;
    if (inner.hasTrait<OpTrait::ConstantLike>()) {
      b.clone(inner, mapping);
      continue;
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(inner.getOperands(), lookup);
    bool isWide = llvm::any_of(
        operands, [](Value value) { return isa<VectorType>(value.getType()); });
    SmallVector<Type> types(inner.getResultTypes());
    for (auto [k, operand] : llvm::enumerate(operands))
      // A select may choose between vectors as a whole.
      if (isWide && (k != 0 || !isa<arith::SelectOp>(inner)))
        operand = splat(operand);
    for (Type &type : types)
      if (isWide)
        type = VectorType::get({width}, type);
    Operation *wide = b.create(inner.getLoc(), inner.getName().getIdentifier(),
                               operands, types, inner.getAttrs());
    mapping.map(inner.getResults(), wide->getResults());
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return splat(lookup(value)); });
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

void LoopKernel::forUnits(UnitBody body) {
  OpBuilder b(loc.getContext());
  b.setInsertionPointToEnd(signature.getBody());
  std::optional<TableKey> table = getUnitTable();
  signature.forSamples(
      b, loc, table,
      [&](OpBuilder &outer, Value sample, Value, Value from, Value to) {
        if (!table) {
          body(outer, loc, sample, from);
          return;
        }
        scf::ForOp::create(
            outer, loc, from, to, IndexBuilder(outer, loc).constant(1),
            ValueRange(),
            [&](OpBuilder &inner, Location at, Value unit, ValueRange) {
              body(inner, at, sample, unit);
              scf::YieldOp::create(inner, at);
            });
      });
}

std::optional<TableKey> LoopKernel::getUnitTable() const {
  if (units.count.getConstant() == 1)
    return std::nullopt;
  return TableKey::makeOffsets(units.count, units.path);
}

EmittedKernel LoopKernel::finish(const LoopCost &cost) {
  signature.finish();
  Builder b(loc.getContext());
  EmittedKernel emitted;
  emitted.memrefs = llvm::to_vector(signature.getMemrefOperands());
  emitted.scalars = llvm::to_vector(signature.getScalarOperands());
  emitted.rowTable = TableKey::makeOffsets(units.rows, units.path);
  emitted.unitTable = getUnitTable();
  emitted.errors = signature.getErrors(b);
  emitted.flopsPerRow = cost.flopsPerRow;
  emitted.bytesPerRow = cost.bytesPerRow;
  return emitted;
}

void LoopKernelBuilder::createUsedResults() {
  for (Value result : op->getResults())
    if (!result.use_empty())
      schedule.assignBuffer(result);
}

void LoopKernelBuilder::addKernel(StringRef suffix, const LoopUnits &units,
                                  function_ref<LoopCost(LoopKernel &)> body) {
  std::string full = (name + suffix).str();
  OpBuilder module = schedule.getModuleBuilder();
  LoopKernel kernel(module, op->getLoc(), full, schedule, units);
  if (!cast<LoopKernelOpInterface>(op).worksOnGPU())
    kernel.getSignature().getFunction()->setAttr(kLoopKernelAttr,
                                                 op->getName().getIdentifier());
  LoopCost cost = body(kernel);
  createLaunch(b, op, full, kernel.finish(cost), UnitKind::Groups, 0, 1,
               schedule);
}

void LoopKernelBuilder::checkEqual(ExtentAttr lhs, ExtentAttr rhs) {
  CheckOp::create(b, op->getLoc(), CheckKind::EQ, lhs, rhs,
                  makePathAttr(op->getContext(), {}),
                  b.getStringAttr(op->getName().stripDialect()),
                  b.getStringAttr(formatLocation(op->getLoc())), ArrayAttr());
}

Value LoopKernelBuilder::createPartials(const LogicalType &type,
                                        const TableKey &rows, int64_t chunk) {
  auto buffer = BufferType::get(op->getContext(), type.getRowShape(),
                                getStorageType(type.elementType));
  return BufferOp::create(b, op->getLoc(), buffer, b.getStringAttr("temp"),
                          IntegerAttr(), schedule.getTable(rows),
                          b.getI64IntegerAttr(chunk), IntegerAttr());
}

void LoopKernelBuilder::addKernel(
    StringRef suffix, UnitKind units, int64_t chunk,
    function_ref<EmittedKernel(OpBuilder &, StringRef)> body) {
  std::string full = (name + suffix).str();
  OpBuilder module = schedule.getModuleBuilder();
  createLaunch(b, op, full, body(module, full), units, chunk, 1, schedule);
}
