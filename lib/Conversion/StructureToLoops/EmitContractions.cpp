//===- EmitContractions.cpp - Contractions in register blocks -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for panel of columns, for middle dims, for block of rows:
//   accumulators = inits
//   for k: accumulators += column k of the rows * row k of the shared operand
//   elementwise ops on the accumulators; into the results
//
// Blocks reach up to the next multiple of their height. The rows behind the
// live ones hold anything, but every op of the group computes rows from the
// same rows.
//
//===----------------------------------------------------------------------===//

#include "MatrixBlocks.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

static SmallVector<linalg::GenericOp> contractionsOf(const TileGroup &group,
                                                     const TileGraph &graph) {
  SmallVector<linalg::GenericOp> ops;
  for (Operation *op : group.ops)
    if (graph.kindOf(op) == NodeKind::Contraction)
      ops.push_back(cast<linalg::GenericOp>(op));
  return ops;
}

static RankedTensorType resultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

static int64_t bitsOf(RankedTensorType type) {
  return type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
}

/// Cuts the columns into panels: as many of the full width as fit, then of half
/// of it, and so on. Sets the height of blocks, which divides that of
/// the tile.
SmallVector<TileEmitter::Panels>
TileEmitter::choosePanels(const TileGroup &group, int64_t &blockRows) const {
  SmallVector<linalg::GenericOp> ops = contractionsOf(group, graph);
  int64_t bits = 8;
  for (linalg::GenericOp op : ops)
    bits = std::max(bits, bitsOf(resultType(op)));
  int64_t lanes = std::max<int64_t>(options.vectorBits / bits, 1);
  int64_t count = ops.size();

  // AVX2 has 16 registers, AVX-512 and NEON have 32. Six rows of four vectors
  // load least per multiplication; eight or four rows come close.
  int64_t accumulators = options.vectorBits == 256 ? 12 : 24;
  blockRows = 1;
  for (int64_t height : {2, 3, 5, 7, 4, 8, 6})
    if (graph.getRows() % height == 0)
      blockRows = height;
  if (options.rows && graph.getRows() % options.rows == 0)
    blockRows = options.rows;
  int64_t width =
      options.columns ? options.columns : accumulators / blockRows * lanes;
  width = llvm::bit_floor(static_cast<uint64_t>(
              std::max(width / count / lanes, int64_t(1)))) *
          lanes;

  return cutColumns(resultType(ops.front()).getShape().back(), width, lanes);
}

SmallVector<TileEmitter::Panels>
TileEmitter::cutColumns(int64_t columns, int64_t width, int64_t lanes) {
  SmallVector<Panels> panels;
  int64_t begin = 0;
  // LLVM takes vectors apart into scalars whose length is not a power of two
  // when they are carried by a loop, except for less than one register.
  for (; width >= lanes; width /= 2) {
    int64_t end = begin + (columns - begin) / width * width;
    if (end > begin)
      panels.push_back({begin, end, width});
    begin = end;
  }
  if (begin < columns)
    panels.push_back({begin, columns, columns - begin});
  return panels;
}

/// Operands of more bytes are packed into panels. Rows that are far apart fall
/// into few sets of the cache and on many pages; where a panel takes one line
/// of a row, already in a cache of the first level that would hold it.
static int64_t getLargestUnpacked(int64_t packBytes, int64_t panelRowBytes) {
  constexpr int64_t lineBytes = 64, firstLevelBytes = 32768;
  return panelRowBytes > lineBytes ? packBytes
                                   : std::min(packBytes, firstLevelBytes);
}

Value TileEmitter::packedOperand(linalg::GenericOp op, const Panels &panels) {
  RowContraction shape = *matchRowContraction(op);
  OpOperand &operand = op->getOpOperand(shape.sharedOperand);
  auto type = cast<RankedTensorType>(operand.get().getType());
  if (type.getRank() != 2 || shape.summed.size() != 1 ||
      !loop.isDefinedOutsideOfLoop(operand.get()))
    return nullptr;
  bool transposed = !shape.columnIsInnermost;
  int64_t columns = type.getDimSize(transposed ? 0 : 1);
  int64_t depth = type.getDimSize(transposed ? 1 : 0);
  int64_t elementBytes = llvm::divideCeil(bitsOf(type), 8);
  int64_t mostBytes =
      getLargestUnpacked(options.packBytes, panels.width * elementBytes);
  if (!transposed &&
      (columns * depth * elementBytes <= mostBytes || columns == panels.width))
    return nullptr;
  Value &result = packed[{operand.get().getAsOpaquePointer(), transposed,
                          panels.begin, panels.width}];
  if (result)
    return result;

  // Once per call of the kernel, however deep the tile loop is.
  Operation *anchor = loop;
  while (auto outer = dyn_cast<LoopLikeOpInterface>(anchor->getParentOp())) {
    if (!outer.isDefinedOutsideOfLoop(operand.get()))
      break;
    anchor = outer;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(anchor);
  Location loc = op.getLoc();
  DimRange some = DimRange::part(rewriter.getIndexAttr(panels.begin),
                                 panels.end - panels.begin);
  DimRange all = DimRange::all(rewriter, depth);
  SmallVector<DimRange> part{all, some};
  SmallVector<int64_t> expanded{depth, panels.count(), panels.width};
  SmallVector<ReassociationIndices> groups{{0}, {1, 2}};
  AffineExpr p, k, c;
  bindDims(rewriter.getContext(), p, k, c);
  SmallVector<AffineExpr> from{k, p, c};
  if (transposed) {
    part = {some, all};
    expanded = {panels.count(), panels.width, depth};
    groups = {{0, 1}, {2}};
    from = {p, c, k};
  }
  Type element = type.getElementType();
  Value slice = extractSlice(rewriter, loc, operand.get(), part);
  Value source = tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(expanded, element), slice, groups);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, {panels.count(), depth, panels.width}, element);
  SmallVector<AffineMap> maps{AffineMap::get(3, 0, from, rewriter.getContext()),
                              rewriter.getMultiDimIdentityMap(3)};
  SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
  result = linalg::GenericOp::create(
               rewriter, loc, empty.getType(), source, empty, maps, iterators,
               [](OpBuilder &b, Location at, ValueRange args) {
                 linalg::YieldOp::create(b, at, args.front());
               })
               .getResult(0);
  return result;
}

Value TileEmitter::blockSlice(Frame &frame, Value value,
                              ArrayRef<DimRange> ranges) {
  if (Value block = frame.local.lookupOrNull(value))
    return block;
  Operation *op = value.getDefiningOp();
  if (op && op->getBlock() == loop.getBody() &&
      graph.kindOf(op) == NodeKind::Splat)
    return emitResultPart(frame.b, cast<linalg::GenericOp>(op), ranges,
                          [&](Value operand, ArrayRef<DimRange> part) {
                            return blockSlice(frame, operand, part);
                          });
  return extractSlice(frame.b, value.getLoc(), whole(value), ranges);
}

/// The sums of contractions with equal summed extents, in one nest.
void TileEmitter::emitSums(Frame &frame, SmallVector<linalg::GenericOp> ops,
                           ArrayRef<DimRange> block) {
  struct Sum {
    linalg::GenericOp op;
    RowContraction shape;
    DimRanges loops;
  };
  OpBuilder &b = frame.b;
  Location loc = ops.front().getLoc();
  SmallVector<Sum> sums;
  SmallVector<Value> inits;
  for (linalg::GenericOp op : ops) {
    Sum sum{op, *matchRowContraction(op), {}};
    sum.loops.resize(op.getNumLoops());
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (auto [i, range] : llvm::enumerate(block))
      sum.loops[map.getDimPosition(i)] = range;
    sums.push_back(std::move(sum));
    inits.push_back(blockSlice(frame, op.getDpsInits()[0], block));
  }

  SmallVector<int64_t> extents;
  for (unsigned summed : sums.front().shape.summed)
    extents.push_back(ops.front().getStaticLoopRanges()[summed]);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> indices;
  auto nest = [&](auto &self, OpBuilder &inner,
                  ValueRange args) -> SmallVector<Value> {
    if (indices.size() < extents.size()) {
      int64_t extent = extents[indices.size()];
      bool isInnermost = indices.size() + 1 == extents.size();
      int64_t steps = getStepsOfDepth(options.vectorBits);
      if (!isInnermost || extent % steps != 0)
        steps = 1;
      Value end = arith::ConstantIndexOp::create(inner, loc, extent);
      return buildLoop(
          inner, loc, zero, end, steps, args,
          [&](OpBuilder &body, Value index, ValueRange carried) {
            SmallVector<Value> results(carried);
            for (int64_t step = 0; step < steps; ++step) {
              Value here = index;
              if (step > 0)
                here = arith::AddIOp::create(
                    body, loc, index,
                    arith::ConstantIndexOp::create(body, loc, step));
              indices.push_back(here);
              results = self(self, body, results);
              indices.pop_back();
            }
            return results;
          });
    }
    Frame at{inner, frame.row, frame.local};
    prefetchNextTile(inner, sums.front().op, indices.back());
    SmallVector<Value> results;
    for (auto [number, acc] : llvm::enumerate(args)) {
      Sum &sum = sums[number];
      // The innermost summed loop is kept, with one iteration.
      for (auto [i, loopNumber] : llvm::enumerate(sum.shape.summed))
        sum.loops[loopNumber] = i + 1 < indices.size()
                                    ? DimRange::at(indices[i])
                                    : DimRange::part(indices[i], 1);
      auto operand = [&](unsigned number) {
        OpOperand &value = sum.op->getOpOperand(number);
        DimRanges ranges = operandRanges(
            inner, sum.op.getMatchingIndexingMap(&value),
            cast<ShapedType>(value.get().getType()).getShape(), sum.loops);
        Operation *load = value.get().getDefiningOp();
        if (load && sourceRows.contains(load))
          return columnOfRows(inner, load, ranges);
        return blockSlice(at, value.get(), ranges);
      };
      SmallVector<Value> inputs{operand(sum.shape.rowsOperand)};
      if (Value packed = packedOperand(sum.op, panels))
        inputs.push_back(
            extractSlice(inner, loc, packed,
                         {DimRange::at(panel), DimRange::part(indices[0], 1),
                          DimRange::all(inner, panels.width)}));
      else
        inputs.push_back(operand(sum.shape.sharedOperand));
      auto product =
          linalg::MatmulOp::create(inner, loc, acc.getType(), inputs, acc);
      if (sum.shape.isUnsigned)
        product.setCast(linalg::TypeFn::cast_unsigned);
      results.push_back(product.getResult(0));
    }
    return results;
  };
  SmallVector<Value> results = nest(nest, b, inits);
  for (auto [op, result] : llvm::zip_equal(ops, results))
    frame.local.map(op.getResult(0), result);
}

SmallVector<Value> TileEmitter::emitBlock(OpBuilder &b, const TileGroup &group,
                                          DimRanges block,
                                          ArrayRef<Value> results,
                                          ValueRange args) {
  Location at = group.ops.front()->getLoc();
  Frame frame{b, getValueOrCreateConstantIndexOp(b, at, block[0].offset), {}};
  SmallVector<linalg::GenericOp> left = contractionsOf(group, graph);
  sourceRows.clear();
  for (linalg::GenericOp op : left)
    findSourceRows(frame, op, block[0].size);
  // Contractions over equal extents share their loop.
  auto extentsOf = [](linalg::GenericOp op) {
    SmallVector<int64_t> extents;
    RowContraction shape = *matchRowContraction(op);
    for (unsigned summed : shape.summed)
      extents.push_back(op.getStaticLoopRanges()[summed]);
    return extents;
  };
  while (!left.empty()) {
    SmallVector<int64_t> extents = extentsOf(left.front());
    SmallVector<linalg::GenericOp> same, others;
    for (linalg::GenericOp op : left)
      (extentsOf(op) == extents ? same : others).push_back(op);
    emitSums(frame, same, block);
    left = others;
  }
  for (Operation *op : group.ops) {
    if (graph.kindOf(op) == NodeKind::Contraction)
      continue;
    if (auto store = dyn_cast<ragged::TileStoreOp>(op)) {
      storeBlock(frame, store, block);
      continue;
    }
    auto generic = cast<linalg::GenericOp>(op);
    linalg::GenericOp part = emitPart(
        b, generic, block, [&](Value operand, ArrayRef<DimRange> ranges) {
          return blockSlice(frame, operand, ranges);
        });
    frame.local.map(generic.getResults(), part.getResults());
  }
  SmallVector<Value> yields;
  for (auto [value, arg] : llvm::zip_equal(results, args))
    yields.push_back(
        insertSlice(b, value.getLoc(), frame.local.lookup(value), arg, block));
  return yields;
}

SmallVector<Value> TileEmitter::emitPanels(const TileGroup &group,
                                           int64_t blockRows,
                                           ArrayRef<Value> results,
                                           ValueRange inits) {
  Location loc = group.ops.front()->getLoc();
  ArrayRef<int64_t> shape =
      resultType(contractionsOf(group, graph).front()).getShape();
  int64_t last = shape.size() - 1;
  auto constant = [&](OpBuilder &b, int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value height = constant(rewriter, blockRows);
  Value padded = arith::MulIOp::create(
      rewriter, loc, arith::CeilDivUIOp::create(rewriter, loc, live, height),
      height);

  auto columnOf = [&](OpBuilder &b, Value index) -> Value {
    Value first =
        arith::MulIOp::create(b, loc, index, constant(b, panels.width));
    if (panels.begin == 0)
      return first;
    return arith::AddIOp::create(b, loc, first, constant(b, panels.begin));
  };

  DimRanges block(shape.size());
  // Loops in the order columns, middle dims, rows.
  auto nest = [&](auto &self, OpBuilder &b, int64_t level,
                  ValueRange args) -> SmallVector<Value> {
    if (level == last + 1)
      return emitBlock(b, group, block, results, args);
    int64_t dim = level == 0 ? last : level == last ? 0 : level;
    Value begin, end;
    int64_t step = 1;
    if (dim == last) {
      if (panels.count() == 1) {
        panel = b.getIndexAttr(0);
        block[dim] = DimRange::part(b.getIndexAttr(panels.begin), panels.width);
        return self(self, b, level + 1, args);
      }
      begin = constant(b, 0);
      end = constant(b, panels.count());
    } else if (dim == 0) {
      step = blockRows;
      begin = constant(b, 0);
      end = padded;
    } else {
      begin = constant(b, 0);
      end = constant(b, shape[dim]);
    }
    return buildLoop(b, loc, begin, end, step, args,
                     [&](OpBuilder &inner, Value index, ValueRange carried) {
                       if (dim == last) {
                         panel = index;
                         block[dim] = DimRange::part(columnOf(inner, index),
                                                     panels.width);
                       } else {
                         block[dim] = dim == 0 ? DimRange::part(index, step)
                                               : DimRange::at(index);
                       }
                       return self(self, inner, level + 1, carried);
                     });
  };
  return nest(nest, rewriter, 0, inits);
}

LogicalResult TileEmitter::emitContractions(const TileGroup &group) {
  SmallVector<Value> results = bufferedResults(group);
  // Nobody needs the group.
  if (results.empty() &&
      llvm::none_of(group.ops, llvm::IsaPred<ragged::TileStoreOp>))
    return success();
  // Reshaped operands are views of whole buffers, made in front of the loops.
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      whole(operand);
  int64_t blockRows;
  SmallVector<Value> values = emptyBuffers(results);
  SmallVector<Panels> parts = choosePanels(group, blockRows);
  panelsBefore = panelsInAll = 0;
  for (const Panels &part : parts)
    panelsInAll += part.count();
  for (const Panels &part : parts) {
    panels = part;
    values = emitPanels(group, blockRows, results, values);
    panelsBefore += part.count();
  }
  buffers.map(results, values);
  return success();
}
