//===- OutlineShared.cpp - What all grains share, once per call -----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel that one launch runs:
//
// 1. Roots: linalg ops at the top of the kernel that are made of the dense
//    operands of the launch alone, and that ops inside of loops use.
// 2. A new kernel makes the roots of these operands and stores them into new
//    arguments, index by index of the first dim, which are its units. Its
//    launch stands in front of the kernel's; the buffers live from the one to
//    the other.
// 3. The old kernel gets the buffers behind its other memrefs, and does without
//    what it needed for the roots alone.
//
//===----------------------------------------------------------------------===//

#include "TileSlices.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace nested {
#define GEN_PASS_DEF_OUTLINESHARED
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {

struct OutlineShared : public nested::impl::OutlineSharedBase<OutlineShared> {
  using OutlineSharedBase::OutlineSharedBase;

  void runOnOperation() override;

private:
  void outline(func::FuncOp kernel, ragged::LaunchOp launch);
};

/// A result of the kernel's prologue with what it is made of.
struct Root {
  linalg::GenericOp op;
  llvm::SetVector<Operation *> slice;

  RankedTensorType getType() {
    return cast<RankedTensorType>(op.getResult(0).getType());
  }
  /// Whether it can be made in parts of the first dim.
  bool canCut() {
    return op.getNumResults() == 1 &&
           op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
           !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
           tile::canCut(op, 0) &&
           llvm::count_if(slice, llvm::IsaPred<linalg::GenericOp>) == 1;
  }
};

} // namespace

/// Adds the ops that `value` is made of, operands first. Fails where one of
/// them is not pure, or is an argument that is not in `known`.
static LogicalResult collect(Value value, Block *body,
                             const llvm::SmallDenseSet<Value> &known,
                             llvm::SetVector<Operation *> &slice) {
  if (known.contains(value))
    return success();
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != body)
    return failure();
  if (slice.contains(op))
    return success();
  if (!isa<linalg::GenericOp, bufferization::ToTensorOp, memref::GetGlobalOp,
           tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
           tensor::ExtractSliceOp, arith::ConstantOp>(op))
    return failure();
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(op->getRegions(), values);
  values.insert_range(op->getOperands());
  for (Value operand : values)
    if (failed(collect(operand, body, known, slice)))
      return failure();
  slice.insert(op);
  return success();
}

/// Where the launch that makes shared operands goes: before the launches that
/// are per sample and end with `launch`, which stay neighbours.
static Operation *getPlaceBefore(ragged::LaunchOp launch, ValueRange read) {
  Operation *place = launch;
  if (!launch.getPerSample())
    return place;
  llvm::SmallDenseSet<Value> used(read.begin(), read.end());
  for (Operation *op = launch->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto other = dyn_cast<ragged::LaunchOp>(op);
        other && other.getPerSample()) {
      place = other;
      continue;
    }
    bool isOther = isa<ragged::BufferOp, ragged::TableOp>(op) &&
                   llvm::none_of(op->getResults(), [&](Value result) {
                     return used.contains(result);
                   });
    if (!isOther)
      break;
  }
  return place;
}

void OutlineShared::outline(func::FuncOp kernel, ragged::LaunchOp launch) {
  Block &body = kernel.getBody().front();
  unsigned numMemrefs = launch.getMemrefs().size();
  // Rows of ragged operands and of results are counted at run time.
  llvm::SmallDenseSet<Value> known;
  for (unsigned i = 0; i < numMemrefs; ++i) {
    auto type = dyn_cast<MemRefType>(kernel.getArgument(i).getType());
    if (type && type.hasStaticShape())
      known.insert(kernel.getArgument(i));
  }

  SmallVector<Root> roots;
  for (auto op : body.getOps<linalg::GenericOp>()) {
    Root root{op, {}};
    bool inLoops = llvm::any_of(op->getUsers(), [&](Operation *user) {
      return user->getBlock() != &body;
    });
    if (op.getNumResults() == 1 && inLoops &&
        root.getType().getNumElements() >= minElements &&
        succeeded(collect(op.getResult(0), &body, known, root.slice)) &&
        root.canCut())
      roots.push_back(std::move(root));
  }
  if (roots.empty())
    return;

  // The operands that the roots are made of.
  llvm::SetVector<Operation *> slice;
  for (Root &root : roots)
    slice.insert_range(root.slice);
  SmallVector<unsigned> sources;
  for (unsigned i = 0; i < numMemrefs; ++i)
    if (known.contains(kernel.getArgument(i)) &&
        llvm::any_of(kernel.getArgument(i).getUsers(),
                     [&](Operation *user) { return slice.contains(user); }))
      sources.push_back(i);

  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  SmallVector<Type> types;
  SmallVector<Value> buffers;
  for (unsigned i : sources) {
    types.push_back(kernel.getArgument(i).getType());
    buffers.push_back(launch.getMemrefs()[i]);
  }
  SmallVector<Value> made;
  int64_t units = 0, bytes = 0;
  b.setInsertionPoint(getPlaceBefore(launch, buffers));
  for (Root &root : roots) {
    units = std::max(units, root.getType().getDimSize(0));
    bytes += 2 * root.getType().getNumElements() *
             llvm::divideCeil(root.getType().getElementTypeBitWidth(), 8);
    RankedTensorType type = root.getType();
    types.push_back(MemRefType::get(type.getShape(), type.getElementType()));
    made.push_back(ragged::BufferOp::create(
        b, loc,
        ragged::BufferType::get(&getContext(), type.getShape(),
                                type.getElementType()),
        b.getStringAttr("temp"), IntegerAttr(), Value(), IntegerAttr(),
        b.getI64IntegerAttr(1)));
  }
  llvm::append_range(buffers, made);
  std::string name = (kernel.getSymName() + "_shared").str();
  Value table = ragged::TableOp::create(
      b, loc, ragged::TableType::get(&getContext()), ragged::TableKind::Offsets,
      ragged::extent::constant(&getContext(), units), IntegerAttr(),
      ragged::makePathAttr(&getContext(), {}), ArrayAttr(), IntegerAttr());
  ragged::LaunchOp::create(
      b, launch.getLoc(), name, ragged::UnitKind::Groups, IntegerAttr(), table,
      table, buffers, ValueRange(), /*tile_rows=*/1, /*flops_per_row=*/0,
      /*bytes_per_row=*/llvm::divideCeil(bytes, units), ArrayAttr(),
      /*per_sample=*/false);
  launch.getMemrefsMutable().append(made);

  // The kernel that makes them.
  b.setInsertionPoint(kernel);
  types.append(2, b.getIndexType());
  auto shared =
      func::FuncOp::create(b, loc, name, b.getFunctionType(types, {}));
  shared->setAttr(kKernelAttr, b.getUnitAttr());
  Block *entry = shared.addEntryBlock();
  b.setInsertionPointToStart(entry);
  IRMapping map;
  for (auto [k, i] : llvm::enumerate(sources))
    map.map(kernel.getArgument(i), entry->getArgument(k));
  for (Operation *op : slice)
    if (!isa<linalg::GenericOp>(op))
      b.clone(*op, map);
  Value begin = entry->getArgument(types.size() - 2);
  Value end = entry->getArgument(types.size() - 1);
  for (auto [k, root] : llvm::enumerate(roots)) {
    Value dest = entry->getArgument(sources.size() + k);
    Value last = arith::MinSIOp::create(
        b, loc, end,
        arith::ConstantIndexOp::create(b, loc, root.getType().getDimSize(0)));
    linalg::GenericOp op = root.op;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    buildLoop(b, loc, begin, last, 1, {},
              [&](OpBuilder &inner, Value index, ValueRange) {
                DimRanges ranges{DimRange::at(index)};
                for (int64_t extent : ArrayRef(extents).drop_front())
                  ranges.push_back(DimRange::all(inner, extent));
                linalg::GenericOp part = emitPart(
                    inner, op, ranges,
                    [&](Value value, ArrayRef<DimRange> needed) {
                      return extractSlice(inner, loc,
                                          map.lookupOrDefault(value), needed);
                    });
                bufferization::MaterializeInDestinationOp::create(
                    inner, loc, TypeRange(), part.getResult(0),
                    subview(inner, loc, dest, ranges), /*restrict=*/true,
                    /*writable=*/true);
                return SmallVector<Value>();
              });
  }
  func::ReturnOp::create(b, loc);

  // The kernel that uses them.
  for (auto [k, root] : llvm::enumerate(roots)) {
    unsigned position = numMemrefs + k;
    RankedTensorType type = root.getType();
    (void)kernel.insertArgument(
        position, MemRefType::get(type.getShape(), type.getElementType()), {},
        loc);
    b.setInsertionPoint(root.op);
    Value tensor = bufferization::ToTensorOp::create(
        b, loc, type, kernel.getArgument(position), /*restrict=*/true);
    root.op.getResult(0).replaceAllUsesWith(tensor);
  }
  for (Operation *op : llvm::reverse(slice))
    if (op->use_empty())
      op->erase();
  for (unsigned i : llvm::reverse(sources)) {
    if (!kernel.getArgument(i).use_empty())
      continue;
    (void)kernel.eraseArgument(i);
    launch.getMemrefsMutable().erase(i);
  }
}

void OutlineShared::runOnOperation() {
  ModuleOp module = getOperation();
  llvm::DenseMap<StringAttr, SmallVector<ragged::LaunchOp>> launches;
  module.walk([&](ragged::LaunchOp launch) {
    launches[launch.getKernelAttr().getAttr()].push_back(launch);
  });
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kKernelAttr))
      kernels.push_back(function);
  for (func::FuncOp kernel : kernels) {
    auto found = launches.find(kernel.getSymNameAttr());
    if (found != launches.end() && found->second.size() == 1)
      outline(kernel, found->second.front());
  }
}
