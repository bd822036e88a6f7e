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
//    arguments, part by part of the first dim, which are its units. Its launch
//    stands in front of the kernel's; the buffers live from the one to the
//    other.
// 3. The old kernel gets the buffers behind its other memrefs, and does without
//    what it needed for the roots alone.
//
//===----------------------------------------------------------------------===//

#include "TileMatch.h"
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

#include <numeric>

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
  /// Whether it can be made in parts of the first dim, from what is in memory
  /// and from splats.
  bool canCut() {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return op.getNumResults() == 1 && map.getNumResults() > 0 &&
           map.isProjectedPermutation() && map.getDimPosition(0) == 0 &&
           tile::canCut(op, 0) && llvm::all_of(slice, [&](Operation *each) {
             auto generic = dyn_cast<linalg::GenericOp>(each);
             return !generic || generic == op || isSplat(generic);
           });
  }
  /// Indices of the first dim that a unit makes: numbers, as many as make
  /// vectors, or whole rows.
  int64_t getPart() {
    constexpr int64_t mostNumbers = 64;
    int64_t size = getType().getDimSize(0);
    return getType().getRank() == 1 ? std::gcd(size, mostNumbers) : 1;
  }
  DimRange getUnit(OpBuilder &b, Value unit) {
    int64_t part = getPart();
    if (part == 1)
      return DimRange::at(unit);
    Location loc = op.getLoc();
    Value size = arith::ConstantIndexOp::create(b, loc, part);
    Value begin = arith::MulIOp::create(b, loc, unit, size);
    return DimRange::part(OpFoldResult(begin), part);
  }
  int64_t getPoints() {
    int64_t points = 1;
    for (int64_t size : op.getStaticLoopRanges())
      points *= size;
    return points;
  }
  /// The part of the root with these ranges of its dims.
  Value make(OpBuilder &b, ArrayRef<DimRange> ranges);
  int64_t getUnits() { return getType().getDimSize(0) / getPart(); }
};

} // namespace

Value Root::make(OpBuilder &b, ArrayRef<DimRange> ranges) {
  Location loc = op.getLoc();
  std::function<Value(OpBuilder &, Value, ArrayRef<DimRange>)> slice =
      [&](OpBuilder &at, Value value, ArrayRef<DimRange> needed) -> Value {
    auto sliceThere = [&](Value source, ArrayRef<DimRange> part) {
      return slice(at, source, part);
    };
    if (auto splat = value.getDefiningOp<linalg::GenericOp>())
      return emitResultPart(at, splat, needed, sliceThere);
    return extractSlice(at, loc, value, needed);
  };
  DimRanges loops;
  SmallVector<unsigned> summed;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    loops.push_back(DimRange::all(b, size));
    if (op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction)
      summed.push_back(loop);
  }
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [dim, range] : llvm::enumerate(ranges))
    loops[result.getDimPosition(dim)] = range;
  SmallVector<int64_t> extents;
  for (unsigned loop : summed)
    extents.push_back(loops[loop].size);
  Value init =
      summed.empty() ? Value() : slice(b, op.getDpsInits().front(), ranges);
  // Sums go along the result, index by index of what is added up.
  return buildLoopNest(
      b, loc, extents, init,
      [&](OpBuilder &inner, ValueRange indices, Value sums) -> Value {
        for (auto [loop, index] : llvm::zip_equal(summed, indices))
          loops[loop] = DimRange::at(index);
        return emitPart(
                   inner, op, loops,
                   [&](Value value, ArrayRef<DimRange> needed) {
                     return slice(inner, value, needed);
                   },
                   sums ? ValueRange(sums) : ValueRange())
            .getResult(0);
      });
}

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
    if (op.getNumResults() == 1 && inLoops && root.getPoints() >= minPoints &&
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
    units = std::max(units, root.getUnits());
    bytes += (root.getPoints() + root.getType().getNumElements()) *
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
        b, loc, end, arith::ConstantIndexOp::create(b, loc, root.getUnits()));
    buildLoop(b, loc, begin, last, 1, {},
              [&, &root = root](OpBuilder &inner, Value unit, ValueRange) {
                DimRanges ranges{root.getUnit(inner, unit)};
                for (int64_t size : root.getType().getShape().drop_front())
                  ranges.push_back(DimRange::all(inner, size));
                Value part = root.make(inner, ranges);
                bufferization::MaterializeInDestinationOp::create(
                    inner, loc, TypeRange(), part,
                    subview(inner, loc, dest, ranges), /*restrict=*/true,
                    /*writable=*/true);
                return SmallVector<Value>();
              });
  }
  func::ReturnOp::create(b, loc);
  for (Operation *op : slice)
    if (!isa<linalg::GenericOp>(op))
      op->replaceUsesWithIf(map.lookup(op)->getResults(), [&](OpOperand &use) {
        return shared->isAncestor(use.getOwner());
      });

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
