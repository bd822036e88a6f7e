//===- TileColumns.cpp - Wide rows in chunks of columns -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks over a block and keeps one open group of wide ops. An op that needs a
// result of the group as a whole closes it: the group becomes a loop nest at
// that place. Ops in between that need nothing of the group stay in front of
// it.
//
//===----------------------------------------------------------------------===//

#include "TileSlices.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace nested {
#define GEN_PASS_DEF_TILECOLUMNS
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {

using StoreOp = bufferization::MaterializeInDestinationOp;

/// Iterations of an op, counting inner loops of less than this as this many.
constexpr int64_t kMinInner = 16;

struct TileColumns : public nested::impl::TileColumnsBase<TileColumns> {
  using TileColumnsBase::TileColumnsBase;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(kKernelAttr))
      return;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          blocks.push_back(&block);
      return WalkResult::advance();
    });
    IRRewriter rewriter(&getContext());
    for (Block *block : blocks)
      cutBlock(rewriter, *block);
  }

private:
  void cutBlock(IRRewriter &rewriter, Block &block);
  void emit(IRRewriter &rewriter, ArrayRef<Operation *> group);
  SmallVector<int64_t> domainOf(Operation *op) const;
  SmallVector<int64_t> chunksOf(ArrayRef<Operation *> group) const;
  bool isWhole(int64_t extent) const;
  int64_t costOf(ArrayRef<int64_t> extents) const;
  /// Of the widest elements.
  int64_t getLanes() const { return vectorBits / 64; }
};

/// Emits the loops of one group.
class ColumnLoops {
public:
  ColumnLoops(OpBuilder &b, ArrayRef<Operation *> group,
              ArrayRef<int64_t> extents, ArrayRef<int64_t> chunks,
              int64_t lanes)
      : b(b), group(group), extents(extents), chunks(chunks), lanes(lanes),
        ranges(extents.size()) {}

  /// Values that are used outside of the group, and what replaces them.
  SmallVector<std::pair<Value, Value>> run();

private:
  SmallVector<Value> emitLoop(OpBuilder &builder, unsigned dim,
                              ValueRange args);
  SmallVector<Value> emitBody(OpBuilder &builder, ValueRange args);

  OpBuilder &b;
  ArrayRef<Operation *> group;
  ArrayRef<int64_t> extents, chunks;
  int64_t lanes;
  DimRanges ranges;
  SmallVector<OpResult> results;
};

} // namespace

/// What the op writes its results into.
static SmallVector<Value> initsOf(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return {store.getDest()};
  return llvm::to_vector(cast<linalg::GenericOp>(op).getDpsInits());
}

SmallVector<std::pair<Value, Value>> ColumnLoops::run() {
  SmallVector<Value> inits;
  for (Operation *op : group) {
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(group, user);
          })) {
        results.push_back(result);
        inits.push_back(initsOf(op)[result.getResultNumber()]);
      }
  }
  SmallVector<Value> values = emitLoop(b, 0, inits);
  SmallVector<std::pair<Value, Value>> replaced;
  for (auto [result, value] : llvm::zip_equal(results, values))
    replaced.push_back({result, value});
  return replaced;
}

SmallVector<Value> ColumnLoops::emitLoop(OpBuilder &builder, unsigned dim,
                                         ValueRange args) {
  if (dim == extents.size())
    return emitBody(builder, args);
  Location loc = group.front()->getLoc();
  int64_t extent = extents[dim], chunk = chunks[dim];
  if (chunk == extent) {
    ranges[dim] = DimRange::all(builder, extent);
    return emitLoop(builder, dim + 1, args);
  }
  SmallVector<Value> values(args);
  int64_t full = extent / chunk * chunk;
  if (full > chunk) {
    Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
    Value end = arith::ConstantIndexOp::create(builder, loc, full);
    values = buildLoop(builder, loc, begin, end, chunk, args,
                       [&](OpBuilder &inner, Value index, ValueRange carried) {
                         ranges[dim] = chunk == 1
                                           ? DimRange::at(index)
                                           : DimRange::part(index, chunk);
                         return emitLoop(inner, dim + 1, carried);
                       });
  } else {
    ranges[dim] = DimRange::part(builder.getIndexAttr(0), chunk);
    values = emitLoop(builder, dim + 1, values);
  }
  // The rest in powers of two.
  int64_t done = full;
  for (int64_t width = chunk / 2; done < extent; width /= 2) {
    int64_t size = width < lanes ? extent - done : width;
    if (size > extent - done)
      continue;
    ranges[dim] = DimRange::part(builder.getIndexAttr(done), size);
    values = emitLoop(builder, dim + 1, values);
    done += size;
  }
  return values;
}

SmallVector<Value> ColumnLoops::emitBody(OpBuilder &builder, ValueRange args) {
  IRMapping local;
  SmallVector<Value> yields(args);
  auto slice = [&](Value value, ArrayRef<DimRange> part) -> Value {
    if (Value chunk = local.lookupOrNull(value))
      return chunk;
    return extractSlice(builder, value.getLoc(), value, part);
  };
  for (Operation *op : group) {
    if (auto store = dyn_cast<StoreOp>(op)) {
      Location loc = op->getLoc();
      Value part = slice(store.getSource(), ranges);
      if (store.getNumResults() == 0) {
        StoreOp::create(builder, loc, TypeRange(), part,
                        subview(builder, loc, store.getDest(), ranges),
                        /*restrict=*/true, /*writable=*/true);
        continue;
      }
      auto position = llvm::find(results, store->getResult(0));
      if (position == results.end())
        continue;
      Value &yield = yields[position - results.begin()];
      Value dest = extractSlice(builder, loc, yield, ranges);
      Value written =
          StoreOp::create(builder, loc, dest.getType(), part, dest).getResult();
      yield = insertSlice(builder, loc, written, yield, ranges);
      continue;
    }
    auto generic = cast<linalg::GenericOp>(op);
    SmallVector<Value> inits(generic.getNumDpsInits());
    SmallVector<DimRanges> parts(generic.getNumDpsInits());
    for (auto [i, init] : llvm::enumerate(generic.getDpsInitsMutable())) {
      auto shape = cast<ShapedType>(init.get().getType()).getShape();
      parts[i] = operandRanges(builder, generic.getMatchingIndexingMap(&init),
                               shape, ranges);
      auto position = llvm::find(results, generic->getResult(i));
      if (position != results.end() &&
          generic.payloadUsesValueFromOperand(&init))
        inits[i] = extractSlice(builder, op->getLoc(),
                                args[position - results.begin()], parts[i]);
    }
    linalg::GenericOp part = emitPart(builder, generic, ranges, slice, inits);
    local.map(generic.getResults(), part.getResults());
    for (auto [i, result] : llvm::enumerate(generic->getResults())) {
      auto position = llvm::find(results, result);
      if (position == results.end())
        continue;
      Value &yield = yields[position - results.begin()];
      yield = insertSlice(builder, op->getLoc(), part.getResult(i), yield,
                          parts[i]);
    }
  }
  return yields;
}

/// The iterations of a wide op that may be cut; empty for others.
SmallVector<int64_t> TileColumns::domainOf(Operation *op) const {
  SmallVector<int64_t> extents;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (!generic.hasPureTensorSemantics())
      return {};
    extents = generic.getStaticLoopRanges();
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (!canCut(generic, loop))
        return {};
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    llvm::append_range(
        extents, cast<ShapedType>(store.getSource().getType()).getShape());
  } else {
    return {};
  }
  if (extents.empty() || llvm::any_of(extents, ShapedType::isDynamic) ||
      (costOf(extents) <= maxElements && isWhole(extents.back())))
    return {};
  return extents;
}

/// LLVM takes vectors apart into scalars that live across blocks and are
/// neither shorter than a register nor a power of two long.
bool TileColumns::isWhole(int64_t extent) const {
  return extent <= getLanes() || llvm::isPowerOf2_64(extent);
}

int64_t TileColumns::costOf(ArrayRef<int64_t> extents) const {
  return llvm::product_of(extents.drop_back()) *
         std::max(extents.back(), kMinInner);
}

/// As many inner iterations as fit into a chunk; one of the outer loops.
SmallVector<int64_t> TileColumns::chunksOf(ArrayRef<Operation *> group) const {
  SmallVector<int64_t> chunks = domainOf(group.front());
  bool loops = costOf(chunks) > maxElements;
  int64_t &inner = chunks.back();
  if (loops)
    inner = std::min<int64_t>(inner, llvm::bit_floor<uint64_t>(chunk));
  if (!isWhole(inner))
    inner = llvm::bit_floor<uint64_t>(inner);
  if (!loops)
    return chunks;
  int64_t budget = chunk / std::max(inner, kMinInner);
  for (int64_t &extent : llvm::reverse(MutableArrayRef(chunks).drop_back())) {
    int64_t size = std::min(std::max<int64_t>(budget, 1), extent);
    while (extent % size)
      --size;
    extent = size;
    budget /= size;
  }
  return chunks;
}

void TileColumns::emit(IRRewriter &rewriter, ArrayRef<Operation *> group) {
  SmallVector<int64_t> extents = domainOf(group.front());
  SmallVector<int64_t> chunks = chunksOf(group);
  ColumnLoops loops(rewriter, group, extents, chunks, getLanes());
  for (auto [value, replacement] : loops.run())
    value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
      return !llvm::is_contained(group, use.getOwner());
    });
  for (Operation *op : llvm::reverse(group))
    rewriter.eraseOp(op);
}

void TileColumns::cutBlock(IRRewriter &rewriter, Block &block) {
  SmallVector<Operation *> group;
  SmallVector<int64_t> domain;

  auto producedByGroup = [&](Value value) {
    return llvm::is_contained(group, value.getDefiningOp());
  };
  auto needsGroup = [&](Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          return llvm::any_of(inner->getOperands(), producedByGroup)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  };
  // Whether what `op` takes from the group is there chunk by chunk.
  auto canJoin = [&](Operation *op) {
    if (domainOf(op) != domain)
      return false;
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &use) {
      if (!producedByGroup(use.get()))
        return true;
      auto producer = dyn_cast<linalg::GenericOp>(use.get().getDefiningOp());
      if (!producer)
        return false;
      auto result = cast<OpResult>(use.get());
      if (!llvm::all_of(producer.getIteratorTypesArray(),
                        linalg::isParallelIterator) ||
          !producer.getIndexingMapMatchingResult(result).isIdentity())
        return false;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic)
        return use.getOperandNumber() == 0;
      return !generic.isDpsInit(&use) &&
             generic.getMatchingIndexingMap(&use).isIdentity();
    });
  };
  // Whether one op of the two overwrites, chunk by chunk, what the other reads.
  auto overwrites = [&](Operation *writer, Operation *reader) {
    for (Value init : initsOf(writer))
      if (!init.getDefiningOp<tensor::EmptyOp>() &&
          llvm::is_contained(reader->getOperands(), init))
        return true;
    return false;
  };
  auto close = [&](Operation *before) {
    if (group.empty())
      return;
    rewriter.setInsertionPoint(before);
    emit(rewriter, group);
    group.clear();
  };

  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      close(&op);
      break;
    }
    SmallVector<int64_t> extents = domainOf(&op);
    if (extents.empty()) {
      if (needsGroup(&op))
        close(&op);
      continue;
    }
    if (!group.empty() &&
        (!canJoin(&op) || llvm::any_of(group, [&](Operation *other) {
          return overwrites(&op, other) || overwrites(other, &op);
        })))
      close(&op);
    if (group.empty())
      domain = extents;
    group.push_back(&op);
  }
}
