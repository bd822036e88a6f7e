//===- EmitRows.cpp - Row ops of a stage as one loop over rows ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// Row `number` of something with rows: dim 0 dropped, the others whole.
static DimRanges rowOf(Builder &b, OpFoldResult number,
                       ArrayRef<int64_t> shape) {
  DimRanges ranges{DimRange::at(number)};
  for (int64_t extent : shape.drop_front())
    ranges.push_back(DimRange::all(b, extent));
  return ranges;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

void TileEmitter::cloneRegion(OpBuilder &b, Region &region, ValueRange args) {
  IRMapping map;
  map.map(region.getArguments(), args);
  for (Operation &op : region.front().without_terminator())
    b.clone(op, map);
  SmallVector<Value> results;
  for (Value value : region.front().getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  linalg::YieldOp::create(b, region.getLoc(), results);
}

Value TileEmitter::rowSlice(Frame &frame, Value value,
                            ArrayRef<DimRange> ranges) {
  OpBuilder &b = frame.b;
  Location loc = value.getLoc();
  auto inner = ranges.drop_front(ranges.empty() ? 0 : 1);
  if (Value row = frame.local.lookupOrNull(value))
    return extractSlice(b, loc, row, inner);

  Operation *op = value.getDefiningOp();
  if (op && op->getBlock() == loop.getBody()) {
    if (graph.kindOf(op) == NodeKind::Load) {
      DimRanges source(ranges);
      source[0] = DimRange::at(sourceRow(b, op, frame.row));
      return extractSlice(b, loc, sourceTensor(op->getOperand(0)), source);
    }
    if (graph.kindOf(op) == NodeKind::View) {
      Value source = wholeRow(frame, op->getOperand(0));
      auto type = cast<RankedTensorType>(value.getType());
      auto rowType = RankedTensorType::get(type.getShape().drop_front(),
                                           type.getElementType());
      Value row;
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        auto rest = [](auto list) {
          return SmallVector<OpFoldResult>(llvm::drop_begin(list));
        };
        row = tensor::ExtractSliceOp::create(
            b, loc, rowType, source, rest(slice.getMixedOffsets()),
            rest(slice.getMixedSizes()), rest(slice.getMixedStrides()));
      } else {
        // The rows are a group of their own; the other groups move up by one.
        SmallVector<ReassociationIndices> groups =
            isa<tensor::CollapseShapeOp>(op)
                ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
                : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
        groups.erase(groups.begin());
        for (ReassociationIndices &indices : groups)
          for (int64_t &index : indices)
            --index;
        if (isa<tensor::CollapseShapeOp>(op))
          row =
              tensor::CollapseShapeOp::create(b, loc, rowType, source, groups);
        else
          row = tensor::ExpandShapeOp::create(b, loc, rowType, source, groups);
      }
      frame.local.map(value, row);
      return extractSlice(b, loc, row, inner);
    }
    if (graph.kindOf(op) == NodeKind::Splat)
      return emitResultPart(b, cast<linalg::GenericOp>(op), ranges,
                            [&](Value operand, ArrayRef<DimRange> part) {
                              return rowSlice(frame, operand, part);
                            });
  }
  return extractSlice(b, loc, whole(value), ranges);
}

Value TileEmitter::wholeRow(Frame &frame, Value value) {
  return rowSlice(frame, value, rowOf(frame.b, frame.row, ::shapeOf(value)));
}

/// Writes a value without rows into an accumulator, in place.
Value TileEmitter::resetAccumulator(Frame &frame, Value init, Value acc) {
  OpBuilder &b = frame.b;
  Location loc = acc.getLoc();
  DimRanges all;
  for (int64_t extent : ::shapeOf(init))
    all.push_back(DimRange::all(b, extent));
  auto fill = init.getDefiningOp<linalg::GenericOp>();
  if (fill && fill->getBlock() == loop.getBody() &&
      graph.kindOf(fill) == NodeKind::Splat && all.size() == fill.getNumLoops())
    return emitPart(
               b, fill, all,
               [&](Value operand, ArrayRef<DimRange> ranges) {
                 return rowSlice(frame, operand, ranges);
               },
               acc)
        .getResult(0);
  // Not a linalg copy, which would be folded into its source.
  return bufferization::MaterializeInDestinationOp::create(
             b, loc, acc.getType(), rowSlice(frame, init, all), acc)
      .getResult();
}

void TileEmitter::emitRowOp(Frame &frame, linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  DimRanges loops = rowOf(frame.b, frame.row, extents);
  linalg::GenericOp part = emitPart(
      frame.b, op, loops, [&](Value operand, ArrayRef<DimRange> ranges) {
        return rowSlice(frame, operand, ranges);
      });
  frame.local.map(op.getResults(), part.getResults());
}

/// A row put into a longer one, which is made for it.
void TileEmitter::emitInsert(Frame &frame, tensor::InsertSliceOp op) {
  auto rest = [](auto list) {
    return SmallVector<OpFoldResult>(llvm::drop_begin(list));
  };
  Value row = tensor::InsertSliceOp::create(
      frame.b, op.getLoc(), wholeRow(frame, op.getSource()),
      wholeRow(frame, op.getDest()), rest(op.getMixedOffsets()),
      rest(op.getMixedSizes()), rest(op.getMixedStrides()));
  frame.local.map(op.getResult(), row);
}

void TileEmitter::storeRow(OpBuilder &b, Location loc, Value row, Value dest,
                           Value number) {
  Value view = subview(b, loc, dest, rowOf(b, number, ::shapeOf(dest)));
  bufferization::MaterializeInDestinationOp::create(
      b, loc, TypeRange(), row, view, /*restrict=*/true, /*writable=*/true);
}

void TileEmitter::emitStore(Frame &frame, ragged::TileStoreOp op) {
  Value number =
      arith::AddIOp::create(frame.b, op.getLoc(), op.getRow(), frame.row);
  storeRow(frame.b, op.getLoc(), wholeRow(frame, op.getValue()), op.getDest(),
           number);
}

/// Whether the accumulators are few vectors, which the loop over rows can carry
/// in registers.
bool TileEmitter::staysInRegisters(ragged::TileFoldOp op) const {
  // AVX2 has 16 registers, AVX-512 and NEON have 32.
  int64_t most = options.vectorBits * (options.vectorBits == 256 ? 8 : 16);
  int64_t bits = 0;
  for (Value acc : op.getAcc()) {
    auto type = cast<RankedTensorType>(acc.getType());
    if (type.getRank() != 1 || !llvm::isPowerOf2_64(type.getDimSize(0)))
      return false;
    bits += type.getNumElements() * type.getElementTypeBitWidth();
  }
  return bits <= most;
}

/// Fetches the row of the next tile into the second-level cache, for every load
/// that the group reads.
void TileEmitter::prefetchRows(Frame &frame, const TileGroup &group) {
  constexpr int64_t lineBytes = 64, mostLines = 64;
  llvm::SetVector<Operation *> loads;
  for (Operation *op : group.ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *load = operand.getDefiningOp();
            load && load->getBlock() == loop.getBody() &&
            graph.kindOf(load) == NodeKind::Load && isConsecutive(load))
          loads.insert(load);
    });
  OpBuilder &b = frame.b;
  for (Operation *load : loads) {
    auto type = cast<MemRefType>(load->getOperand(0).getType());
    int64_t bytes = type.getDimSize(1) * type.getElementTypeBitWidth() / 8;
    if (bytes < lineBytes || bytes > mostLines * lineBytes)
      continue;
    Location loc = load->getLoc();
    Value ahead = arith::AddIOp::create(
        b, loc, sourceRow(b, load, frame.row),
        arith::ConstantIndexOp::create(b, loc, graph.getRows()));
    for (int64_t done = 0; done < bytes; done += lineBytes) {
      Value column = arith::ConstantIndexOp::create(
          b, loc, done * 8 / type.getElementTypeBitWidth());
      memref::PrefetchOp::create(b, loc, load->getOperand(0),
                                 ValueRange{ahead, column}, /*isWrite=*/false,
                                 /*localityHint=*/2, /*isDataCache=*/true);
    }
  }
}

void TileEmitter::storeFolded(Frame &frame, ragged::TileFoldOp op,
                              ValueRange folded, Value target) {
  Location loc = op.getLoc();
  SmallVector<Value> inputs(folded), dests;
  for (Value aux : op.getAux())
    inputs.push_back(wholeRow(frame, aux));
  for (Value dest : op.getDests())
    dests.push_back(tensor::EmptyOp::create(
        frame.b, loc, ::shapeOf(dest).drop_front(),
        cast<MemRefType>(dest.getType()).getElementType()));
  auto final = buildElementwise(
      frame.b, loc, inputs, dests,
      [&](OpBuilder &body, Location, ValueRange args) {
        cloneRegion(body, op.getFinalize(), args.take_front(inputs.size()));
      });
  for (auto [row, dest] : llvm::zip_equal(final.getResults(), op.getDests()))
    storeRow(frame.b, loc, row, dest, target);
}

SmallVector<Value> TileEmitter::flushFolded(Frame &frame, ragged::TileFoldOp op,
                                            ValueRange folded, Value target,
                                            Value atEnd) {
  Location loc = op.getLoc();
  auto flush = scf::IfOp::create(
      frame.b, loc, atEnd,
      [&](OpBuilder &inner, Location) {
        Frame nested{inner, frame.row, frame.local};
        storeFolded(nested, op, folded, target);
        SmallVector<Value> reset;
        for (auto [init, value] : llvm::zip_equal(op.getInit(), folded))
          reset.push_back(resetAccumulator(nested, init, value));
        scf::YieldOp::create(inner, loc, reset);
      },
      [&](OpBuilder &inner, Location) {
        scf::YieldOp::create(inner, loc, folded);
      });
  return SmallVector<Value>(flush.getResults());
}

SmallVector<Value> TileEmitter::emitFold(Frame &frame, ragged::TileFoldOp op,
                                         ValueRange acc) {
  OpBuilder &b = frame.b;
  Location loc = op.getLoc();
  auto rows = [&](OperandRange values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return wholeRow(frame, value); });
  };
  auto combined =
      buildElementwise(b, loc, rows(op.getInputs()), acc,
                       [&](OpBuilder &inner, Location, ValueRange args) {
                         cloneRegion(inner, op.getCombine(), args);
                       });
  Value target =
      tensor::ExtractOp::create(b, loc, whole(op.getFlush()), frame.row);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value atEnd =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, target, zero);

  if (staysInRegisters(op)) {
    // What a branch decides would have to be in memory.
    scf::IfOp::create(b, loc, atEnd, [&](OpBuilder &inner, Location) {
      Frame nested{inner, frame.row, frame.local};
      storeFolded(nested, op, combined.getResults(), target);
      scf::YieldOp::create(inner, loc);
    });
    SmallVector<Value> next;
    for (auto [init, value] :
         llvm::zip_equal(op.getInit(), combined.getResults())) {
      DimRanges all;
      for (int64_t extent : ::shapeOf(init))
        all.push_back(DimRange::all(b, extent));
      next.push_back(
          buildElementwise(b, loc, {atEnd, rowSlice(frame, init, all)}, value,
                           [](OpBuilder &inner, Location at, ValueRange args) {
                             Value chosen = arith::SelectOp::create(
                                 inner, at, args[0], args[1], args[2]);
                             linalg::YieldOp::create(inner, at, chosen);
                           })
              .getResult(0));
    }
    return next;
  }

  return flushFolded(frame, op, combined.getResults(), target, atEnd);
}

LogicalResult TileEmitter::emitRows(const TileGroup &group) {
  Location loc = group.ops.front()->getLoc();
  SmallVector<Value> results = bufferedResults(group);
  SmallVector<Value> inits = emptyBuffers(results);
  SmallVector<Value> replaced(results);
  for (Operation *op : group.ops)
    if (auto fold = dyn_cast<ragged::TileFoldOp>(op)) {
      llvm::append_range(inits, fold.getAcc());
      llvm::append_range(replaced, fold.getResults());
    }
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> rows = buildLoop(
      rewriter, loc, zero, live, 1, inits,
      [&](OpBuilder &b, Value row, ValueRange args) {
        Frame frame{b, row, {}};
        prefetchRows(frame, group);
        SmallVector<Value> yields(args);
        size_t fold = results.size();
        for (Operation *op : group.ops) {
          if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
            emitRowOp(frame, generic);
          } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
            emitInsert(frame, insert);
          } else if (auto store = dyn_cast<ragged::TileStoreOp>(op)) {
            emitStore(frame, store);
          } else {
            auto foldOp = cast<ragged::TileFoldOp>(op);
            size_t count = foldOp.getNumResults();
            llvm::copy(emitFold(frame, foldOp, args.slice(fold, count)),
                       yields.begin() + fold);
            fold += count;
          }
        }
        for (auto [i, value] : llvm::enumerate(results))
          yields[i] = insertSlice(b, loc, frame.local.lookup(value), args[i],
                                  rowOf(b, row, ::shapeOf(value)));
        return yields;
      });
  buffers.map(replaced, rows);
  return success();
}
