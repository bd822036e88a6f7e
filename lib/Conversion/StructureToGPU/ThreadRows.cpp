//===- ThreadRows.cpp - Row ops: a warp per row ---------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for row = warp; row < live; row += warps:
//   every op of the stage; lane l has columns l, l + 32, ...
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// Wider rows go through memory, in a loop.
static constexpr int64_t kMaxChunks = 32;

static int64_t chunksOf(int64_t columns) {
  return llvm::divideCeil(columns, kLanes);
}

/// The column of a chunk that a lane has; lanes behind the last one get the
/// last.
Value ThreadEmitter::columnOf(OpBuilder &b, Location loc, int64_t chunk,
                              int64_t columns) {
  if (columns == 1)
    return indexConstant(b, loc, 0);
  Value column = b.createOrFold<arith::AddIOp>(
      loc, ids.lane, indexConstant(b, loc, chunk * kLanes));
  if ((chunk + 1) * kLanes > columns)
    column = arith::MinUIOp::create(b, loc, column,
                                    indexConstant(b, loc, columns - 1));
  return column;
}

static Value lessThan(OpBuilder &b, Location loc, Value index, int64_t bound) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                               indexConstant(b, loc, bound));
}

/// A loop over the columns of a lane.
static void columnLoop(OpBuilder &b, Location loc, Value first, int64_t columns,
                       function_ref<void(OpBuilder &, Value)> body) {
  scf::ForOp::create(b, loc, first, indexConstant(b, loc, columns),
                     indexConstant(b, loc, kLanes), ValueRange(),
                     [&](OpBuilder &inner, Location, Value column, ValueRange) {
                       body(inner, column);
                       scf::YieldOp::create(inner, loc);
                     });
}

/// Waits for the other lanes and makes visible what they wrote.
static void syncWarp(OpBuilder &b, Location loc) {
  Value all = arith::ConstantIntOp::create(b, loc, -1, 32);
  NVVM::SyncWarpOp::create(b, loc, all);
}

/// The value that the lane at `distance` (xor) has. There are only exchanges of
/// 32 bits: narrower values are extended, wider ones go in two parts.
Value ThreadEmitter::shuffle(OpBuilder &b, Location loc, Value value,
                             int64_t distance) {
  Type type = value.getType(), i32 = b.getI32Type();
  auto exchange = [&](Value part) -> Value {
    return gpu::ShuffleOp::create(b, loc, part, distance, kLanes,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (type.isF32() || type == i32)
    return exchange(value);
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits = value;
  if (type.isIndex())
    bits = arith::IndexCastOp::create(b, loc, integer, bits);
  else if (isa<FloatType>(type))
    bits = arith::BitcastOp::create(b, loc, integer, bits);
  if (width < 32) {
    bits = exchange(arith::ExtUIOp::create(b, loc, i32, bits));
    bits = arith::TruncIOp::create(b, loc, integer, bits);
  } else if (width == 64) {
    Value half = arith::ConstantIntOp::create(b, loc, 32, 64);
    Value high = arith::ShRUIOp::create(b, loc, bits, half);
    Value low = exchange(arith::TruncIOp::create(b, loc, i32, bits));
    high = exchange(arith::TruncIOp::create(b, loc, i32, high));
    high = arith::ShLIOp::create(
        b, loc, arith::ExtUIOp::create(b, loc, integer, high), half);
    bits = arith::OrIOp::create(b, loc, high,
                                arith::ExtUIOp::create(b, loc, integer, low));
  }
  if (type.isIndex())
    return arith::IndexCastOp::create(b, loc, type, bits);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(b, loc, type, bits);
  return bits;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The chunk of a value at the row of the frame.
Value ThreadEmitter::rowChunk(Frame &frame, Value value, int64_t chunk) {
  // A lane has the same elements of a reshaped row.
  Value source = value;
  while (source.getDefiningOp<tensor::CollapseShapeOp>() ||
         source.getDefiningOp<tensor::ExpandShapeOp>())
    source = source.getDefiningOp()->getOperand(0);
  auto found = frame.chunks.find(source);
  if (found != frame.chunks.end())
    return found->second[found->second.size() == 1 ? 0 : chunk];
  Location loc = value.getLoc();
  Values at{frame.row};
  llvm::append_range(
      at,
      delinearize(frame.b, loc, columnOf(frame.b, loc, chunk, innerSize(value)),
                  innerShape(value)));
  return element(frame, value, at);
}

/// Calls `store` with each element that this lane is to write and its
/// subscripts behind the row.
void ThreadEmitter::storeChunks(
    Frame &frame, Value value,
    function_ref<void(OpBuilder &, Value, ValueRange)> store) {
  OpBuilder &b = frame.b;
  Location loc = value.getLoc();
  int64_t columns = innerSize(value);
  if (chunksOf(columns) > kMaxChunks) {
    // Only values in memory are that wide.
    columnLoop(b, loc, ids.lane, columns, [&](OpBuilder &inner, Value column) {
      Frame nested(inner, frame);
      Values at{frame.row};
      llvm::append_range(at,
                         delinearize(inner, loc, column, innerShape(value)));
      store(inner, element(nested, value, at), ArrayRef(at).drop_front());
    });
    return;
  }
  for (int64_t chunk = 0; chunk < chunksOf(columns); ++chunk) {
    Value part = rowChunk(frame, value, chunk);
    Value column = columnOf(b, loc, chunk, columns);
    Values at = delinearize(b, loc, column, innerShape(value));
    if ((chunk + 1) * kLanes <= columns) {
      store(b, part, at);
      continue;
    }
    Value lanes = lessThan(b, loc, ids.lane, columns - chunk * kLanes);
    scf::IfOp::create(b, loc, lanes, [&](OpBuilder &then, Location here) {
      store(then, part, at);
      scf::YieldOp::create(then, here);
    });
  }
}

/// Puts a value that lanes hold into memory, where any lane can read all of it.
void ThreadEmitter::keepInMemory(Frame &frame, Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (frame.chunks.contains(value) || op->getBlock() != loop.getBody() ||
        graph.kindOf(op) != NodeKind::View)
      break;
    value = op->getOperand(0);
  }
  if (!frame.chunks.contains(value) || frame.rowBuffers.contains(value))
    return;
  SmallVector<int64_t> shape{ids.warps()};
  llvm::append_range(shape, innerShape(value));
  Value buffer = allocate(shape, elementTypeOf(value));
  // Lanes may still be reading what the row before has left there.
  syncWarp(frame.b, value.getLoc());
  storeChunks(frame, value, [&](OpBuilder &b, Value part, ValueRange at) {
    Values indices{ids.warp};
    llvm::append_range(indices, at);
    memref::StoreOp::create(b, value.getLoc(), part, buffer, indices);
  });
  syncWarp(frame.b, value.getLoc());
  frame.rowBuffers[value] = buffer;
}

/// An operand in an iteration of the loops. `chunk` is that of the whole
/// iteration space; -1: there are none, and no operand is in registers.
Value ThreadEmitter::rowOperand(Frame &frame, OpOperand &operand, int64_t chunk,
                                ValueRange loops) {
  Value value = operand.get();
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  if (!isa<RankedTensorType>(value.getType()) || chunk < 0)
    return operandAt(frame, operand, loops);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.isIdentity())
    return rowChunk(frame, value, chunk);
  if (frame.chunks.contains(value)) {
    if (innerSize(value) == 1)
      return frame.chunks[value].front();
    keepInMemory(frame, value);
  }
  return operandAt(frame, operand, loops);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> innerLoops(linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  extents.erase(extents.begin());
  return extents;
}

void ThreadEmitter::emitElementwise(Frame &frame, linalg::GenericOp op) {
  OpBuilder &b = frame.b;
  Location loc = op.getLoc();
  SmallVector<int64_t> extents = innerLoops(op);
  int64_t columns = ShapedType::getNumElements(extents);
  SmallVector<Values> results(op.getNumResults());
  for (int64_t chunk = 0; chunk < chunksOf(columns); ++chunk) {
    Values loops{frame.row};
    llvm::append_range(
        loops, delinearize(b, loc, columnOf(b, loc, chunk, columns), extents));
    Values args;
    for (OpOperand &operand : op->getOpOperands())
      args.push_back(op.payloadUsesValueFromOperand(&operand)
                         ? rowOperand(frame, operand, chunk, loops)
                         : Value());
    Values parts = cloneBody(frame, *op.getBody(), args, loops);
    for (auto [list, part] : llvm::zip_equal(results, parts))
      list.push_back(part);
  }
  for (auto [value, list] : llvm::zip_equal(op.getResults(), results))
    frame.chunks[value] = list;
}

/// Clones a combiner for two partial results.
static Value combine(OpBuilder &b, Operation *combiner, Value lhs, Value rhs) {
  IRMapping map;
  map.map(combiner->getOperand(0), lhs);
  map.map(combiner->getOperand(1), rhs);
  return b.clone(*combiner, map)->getResult(0);
}

/// A row as a whole becomes one number, by a known combiner.
bool ThreadEmitter::emitLaneReduction(Frame &frame, linalg::GenericOp op) {
  if (op.getNumResults() != 1 ||
      op.getNumReductionLoops() + 1 != op.getNumLoops() ||
      innerSize(op.getResult(0)) != 1)
    return false;
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 || combiners.front()->getNumOperands() != 2 ||
      combiners.front()->getBlock() != op.getBody())
    return false;
  Operation *combiner = combiners.front();
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  if (!neutral)
    return false;

  OpBuilder &b = frame.b;
  Location loc = op.getLoc();
  SmallVector<int64_t> extents = innerLoops(op);
  int64_t columns = ShapedType::getNumElements(extents);
  bool wide = chunksOf(columns) > kMaxChunks;
  if (wide)
    for (OpOperand *operand : op.getDpsInputOperands())
      keepInMemory(frame, operand->get());
  // One more term of this lane's partial result.
  auto accumulate = [&](Frame &at, Value partial, Value column,
                        int64_t chunk) -> Value {
    Values loops{frame.row}, args;
    llvm::append_range(loops, delinearize(at.b, loc, column, extents));
    for (OpOperand *operand : op.getDpsInputOperands())
      args.push_back(rowOperand(at, *operand, chunk, loops));
    args.push_back(partial);
    return cloneBody(at, *op.getBody(), args, loops).front();
  };
  Value partial = arith::ConstantOp::create(b, loc, *neutral);
  if (wide) {
    auto columnLoop = scf::ForOp::create(
        b, loc, ids.lane, indexConstant(b, loc, columns),
        indexConstant(b, loc, kLanes), partial,
        [&](OpBuilder &inner, Location, Value column, ValueRange carried) {
          Frame nested(inner, frame);
          scf::YieldOp::create(inner, loc,
                               accumulate(nested, carried.front(), column, -1));
        });
    partial = columnLoop.getResult(0);
  }
  for (int64_t chunk = 0; !wide && chunk < chunksOf(columns); ++chunk) {
    Value next =
        accumulate(frame, partial, columnOf(b, loc, chunk, columns), chunk);
    if ((chunk + 1) * kLanes > columns)
      next = arith::SelectOp::create(
          b, loc, lessThan(b, loc, ids.lane, columns - chunk * kLanes), next,
          partial);
    partial = next;
  }
  for (int64_t distance = kLanes / 2; distance > 0; distance /= 2)
    partial = combine(b, combiner, partial, shuffle(b, loc, partial, distance));

  Values loops(op.getNumLoops(), indexConstant(b, loc, 0));
  loops[0] = frame.row;
  OpOperand &init = *op.getDpsInitOperand(0);
  Value start = frame.chunks.contains(init.get())
                    ? frame.chunks[init.get()].front()
                    : operandAt(frame, init, loops);
  frame.chunks[op.getResult(0)] = {combine(b, combiner, start, partial)};
  return true;
}

/// Anything else: a lane computes whole elements of the result, all inputs and
/// the result are in memory.
void ThreadEmitter::emitThroughMemory(Frame &frame, linalg::GenericOp op) {
  OpBuilder &b = frame.b;
  Location loc = op.getLoc();
  for (OpOperand &operand : op->getOpOperands())
    if (op.payloadUsesValueFromOperand(&operand) &&
        isa<RankedTensorType>(operand.get().getType()))
      keepInMemory(frame, operand.get());
  Values rowBuffers;
  for (Value result : op.getResults()) {
    SmallVector<int64_t> shape{ids.warps()};
    llvm::append_range(shape, innerShape(result));
    rowBuffers.push_back(allocate(shape, elementTypeOf(result)));
  }
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<unsigned> kept, summed;
  SmallVector<int64_t> keptExtents;
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (linalg::isReductionIterator(iterator)) {
      summed.push_back(i);
    } else if (i > 0) {
      kept.push_back(i);
      keptExtents.push_back(extents[i]);
    }
  }

  syncWarp(b, loc);
  columnLoop(
      b, loc, ids.lane, ShapedType::getNumElements(keptExtents),
      [&](OpBuilder &inner, Value column) {
        Values loops(extents.size());
        loops[0] = frame.row;
        for (auto [i, index] : llvm::zip_equal(
                 kept, delinearize(inner, loc, column, keptExtents)))
          loops[i] = index;
        Values acc;
        // Inits have no summed loops in their subscripts.
        Values at(loops);
        for (unsigned i : summed)
          at[i] = indexConstant(inner, loc, 0);
        Frame outer(inner, frame);
        for (OpOperand &init : op.getDpsInitsMutable())
          acc.push_back(
              op.payloadUsesValueFromOperand(&init)
                  ? operandAt(outer, init, at)
                  : Value(arith::ConstantOp::create(
                        inner, loc,
                        inner.getZeroAttr(elementTypeOf(init.get())))));
        auto nest = [&](auto &self, OpBuilder &body, size_t level,
                        ValueRange carried) -> Values {
          if (level == summed.size()) {
            Frame nested(body, frame);
            Values args;
            for (OpOperand *input : op.getDpsInputOperands())
              args.push_back(rowOperand(nested, *input, -1, loops));
            llvm::append_range(args, carried);
            return cloneBody(nested, *op.getBody(), args, loops);
          }
          auto sum = scf::ForOp::create(
              body, loc, indexConstant(body, loc, 0),
              indexConstant(body, loc, extents[summed[level]]),
              indexConstant(body, loc, 1), carried,
              [&](OpBuilder &deeper, Location, Value index, ValueRange args) {
                loops[summed[level]] = index;
                scf::YieldOp::create(deeper, loc,
                                     self(self, deeper, level + 1, args));
              });
          return Values(sum.getResults());
        };
        Values results = nest(nest, inner, 0, acc);
        for (auto [value, init, buffer] :
             llvm::zip_equal(results, op.getDpsInitsMutable(), rowBuffers)) {
          Values indices{ids.warp};
          for (AffineExpr expr :
               op.getMatchingIndexingMap(&init).getResults().drop_front())
            indices.push_back(
                isa<AffineConstantExpr>(expr)
                    ? indexConstant(inner, loc, 0)
                    : loops[cast<AffineDimExpr>(expr).getPosition()]);
          memref::StoreOp::create(inner, loc, value, buffer, indices);
        }
      });
  syncWarp(b, loc);
  for (auto [result, buffer] : llvm::zip_equal(op.getResults(), rowBuffers))
    frame.rowBuffers[result] = buffer;
}

void ThreadEmitter::emitRowOp(Frame &frame, linalg::GenericOp op) {
  bool elementwise =
      op.getNumParallelLoops() == op.getNumLoops() &&
      chunksOf(ShapedType::getNumElements(innerLoops(op))) <= kMaxChunks &&
      llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
        return op.getMatchingIndexingMap(&init).isIdentity();
      });
  if (elementwise)
    emitElementwise(frame, op);
  else if (!emitLaneReduction(frame, op))
    emitThroughMemory(frame, op);
}

void ThreadEmitter::emitRows(const TileGroup &group) {
  Location loc = group.ops.front()->getLoc();
  SmallVector<ragged::TileFoldOp> folds;
  llvm::SetVector<Value> kept;
  bool folded = false;
  for (Operation *op : group.ops) {
    if (auto fold = dyn_cast<ragged::TileFoldOp>(op)) {
      folds.push_back(fold);
      // A fold needs all rows of what this loop makes.
      for (ValueRange list :
           {ValueRange(fold.getInputs()), ValueRange(fold.getAux())})
        for (Value value : list) {
          value = skipViews(value);
          if (!llvm::is_contained(group.ops, value.getDefiningOp()) ||
              isInline(group, value))
            continue;
          kept.insert(value);
          folded = true;
        }
      continue;
    }
    for (Value value : op->getResults())
      if (needsBuffer(group, value))
        kept.insert(value);
  }
  for (Value value : kept)
    bufferFor(value);

  if (folds.size() < group.ops.size()) {
    scf::ForOp::create(
        rewriter, loc, ids.warp, scalar(tile.live),
        indexConstant(rewriter, loc, ids.warps()), ValueRange(),
        [&](OpBuilder &b, Location, Value row, ValueRange) {
          Frame frame(b, row);
          for (Operation *op : group.ops) {
            if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
              emitRowOp(frame, generic);
            } else if (auto store = dyn_cast<ragged::TileStoreOp>(op)) {
              Value number = arith::AddIOp::create(b, op->getLoc(),
                                                   scalar(store.getRow()), row);
              storeChunks(frame, store.getValue(),
                          [&](OpBuilder &then, Value part, ValueRange at) {
                            Values indices{number};
                            llvm::append_range(indices, at);
                            memref::StoreOp::create(then, op->getLoc(), part,
                                                    scalar(store.getDest()),
                                                    indices);
                          });
            }
          }
          for (Value value : kept)
            storeChunks(frame, value,
                        [&](OpBuilder &then, Value part, ValueRange at) {
                          Values indices{row};
                          llvm::append_range(indices, at);
                          memref::StoreOp::create(
                              then, loc, part, buffers.lookup(value), indices);
                        });
          scf::YieldOp::create(b, loc);
        });
    if (folded)
      barrier();
  }
  for (ragged::TileFoldOp fold : folds)
    emitFold(fold);
}
