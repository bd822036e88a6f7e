//===- ThreadContractions.cpp - Contractions: a warp per block ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for unit = warp; unit < blocks of live rows * panels of columns; += warps:
//   accumulators [rows, chunks of columns] = inits
//   for k: accumulators += a[rows, k] * b[k, columns of the lane]
//   elementwise ops on the accumulators; into workgroup memory
//
// All lanes read the same a, and b side by side. Rows behind the live ones
// hold anything, but every op of the group computes rows from the same rows.
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// Rows of a block, 32-bit registers for accumulators, columns of a lane.
static constexpr int64_t kMaxBlockRows = 6;
static constexpr int64_t kMaxAccumulators = 64;
static constexpr int64_t kMaxChunks = 4;
/// What a thread loads at once.
static constexpr int64_t kVectorBytes = 16;

/// What a warp computes at once.
struct ThreadEmitter::ContractionBlock {
  int64_t rows, chunks, panels;
  ArrayRef<int64_t> shape;
  /// In one unit: its rows, the subscripts of middle dims, its lane's columns
  /// and whether these are there (null: all are).
  Values rowIndices, middle, columns, valid;
  /// By value of the group: rows * chunks elements.
  DenseMap<Value, Values> values;

  Values at(int64_t number) const {
    Values indices{rowIndices[number / chunks]};
    llvm::append_range(indices, middle);
    indices.push_back(columns[number % chunks]);
    return indices;
  }
  int64_t size() const { return rows * chunks; }
};

static SmallVector<int64_t> summedExtents(linalg::GenericOp op) {
  SmallVector<int64_t> extents;
  RowContraction shape = *matchRowContraction(op);
  for (unsigned summed : shape.summed)
    extents.push_back(op.getStaticLoopRanges()[summed]);
  return extents;
}

void ThreadEmitter::stage(Value value) {
  if (!isLoaded(value) || buffers.contains(value))
    return;
  Location loc = value.getLoc();
  Value buffer = bufferFor(value);
  // Not yet: the copy reads the value itself.
  buffers.erase(value);
  int64_t columns = innerSize(value);
  scf::ForOp::create(
      rewriter, loc, ids.warp, scalar(tile.live),
      indexConstant(rewriter, loc, ids.warps()), ValueRange(),
      [&](OpBuilder &b, Location, Value row, ValueRange) {
        scf::ForOp::create(
            b, loc, ids.lane, indexConstant(b, loc, columns),
            indexConstant(b, loc, kLanes), ValueRange(),
            [&](OpBuilder &inner, Location, Value column, ValueRange) {
              Frame frame(inner, row);
              Values at{row};
              llvm::append_range(
                  at, delinearize(inner, loc, column, innerShape(value)));
              memref::StoreOp::create(inner, loc, element(frame, value, at),
                                      buffer, at);
              scf::YieldOp::create(inner, loc);
            });
        scf::YieldOp::create(b, loc);
      });
  buffers[value] = buffer;
}

/// How many steps of the innermost sum share a load of the rows' operand.
int64_t ThreadEmitter::stepsOf(linalg::GenericOp op) {
  RowContraction shape = *matchRowContraction(op);
  OpOperand &operand = op->getOpOperand(shape.rowsOperand);
  auto type = cast<RankedTensorType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Type element = type.getElementType();
  if (!buffers.contains(operand.get()) || !element.isIntOrFloat() ||
      map.getDimPosition(map.getNumResults() - 1) != shape.summed.back())
    return 1;
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t steps = kVectorBytes * 8 / bits;
  return bits % 8 == 0 && bits >= 16 && type.getShape().back() % steps == 0
             ? steps
             : 1;
}

/// acc + a * b in one rounding.
static Value fuse(OpBuilder &b, Value sum, Value acc) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  if (!add)
    return sum;
  Value product = add.getLhs() == acc ? add.getRhs() : add.getLhs();
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul || (add.getLhs() != acc && add.getRhs() != acc))
    return sum;
  Value result =
      math::FmaOp::create(b, add.getLoc(), mul.getLhs(), mul.getRhs(), acc);
  add.erase();
  if (mul->use_empty())
    mul.erase();
  return result;
}

/// Adds the products of `steps` numbers of the innermost sum.
void ThreadEmitter::emitProducts(Frame &frame, ContractionBlock &block,
                                 linalg::GenericOp op, ValueRange summed,
                                 int64_t steps, MutableArrayRef<Value> acc) {
  OpBuilder &b = frame.b;
  Location loc = op.getLoc();
  RowContraction shape = *matchRowContraction(op);
  OpOperand &rows = op->getOpOperand(shape.rowsOperand);
  OpOperand &shared = op->getOpOperand(shape.sharedOperand);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto loopsFor = [&](int64_t number, int64_t step) {
    Values loops(op.getNumLoops());
    for (auto [dim, index] : llvm::enumerate(block.at(number)))
      loops[result.getDimPosition(dim)] = index;
    for (auto [loopNumber, index] : llvm::zip_equal(shape.summed, summed))
      loops[loopNumber] = index;
    if (step > 0)
      loops[shape.summed.back()] = arith::AddIOp::create(
          b, loc, summed.back(), indexConstant(b, loc, step));
    return loops;
  };
  // [rows, steps]
  SmallVector<Values> left(block.rows);
  for (int64_t row = 0; row < block.rows; ++row) {
    if (steps == 1) {
      left[row].push_back(
          operandAt(frame, rows, loopsFor(row * block.chunks, 0)));
      continue;
    }
    auto at = affine::expandAffineMap(b, loc, op.getMatchingIndexingMap(&rows),
                                      loopsFor(row * block.chunks, 0));
    auto type = VectorType::get(steps, elementTypeOf(rows.get()));
    Value vector = vector::LoadOp::create(
        b, loc, type, buffers.lookup(rows.get()), *at,
        /*nontemporal=*/false, llvm::MaybeAlign(kVectorBytes));
    for (int64_t step = 0; step < steps; ++step)
      left[row].push_back(vector::ExtractOp::create(b, loc, vector, step));
  }
  for (int64_t step = 0; step < steps; ++step) {
    Values right;
    for (int64_t chunk = 0; chunk < block.chunks; ++chunk)
      right.push_back(operandAt(frame, shared, loopsFor(chunk, step)));
    for (int64_t number = 0; number < block.size(); ++number) {
      Values args(3, acc[number]);
      args[shape.rowsOperand] = left[number / block.chunks][step];
      args[shape.sharedOperand] = right[number % block.chunks];
      Value sum = cloneBody(frame, *op.getBody(), args, {}).front();
      acc[number] = fuse(b, sum, acc[number]);
    }
  }
}

/// The sums of contractions with equal summed extents, in one nest.
void ThreadEmitter::emitSums(Frame &frame, ContractionBlock &block,
                             ArrayRef<linalg::GenericOp> ops) {
  Location loc = ops.front()->getLoc();
  SmallVector<int64_t> extents = summedExtents(ops.front());
  int64_t steps = extents.back();
  for (linalg::GenericOp op : ops)
    steps = std::min(steps, stepsOf(op));
  Values inits;
  for (linalg::GenericOp op : ops)
    for (int64_t number = 0; number < block.size(); ++number)
      inits.push_back(
          element(frame, op.getDpsInits().front(), block.at(number)));
  Values summed;
  auto nest = [&](auto &self, OpBuilder &b, ValueRange carried) -> Values {
    if (summed.size() == extents.size()) {
      Frame inner(b);
      Values acc(carried);
      for (auto [i, op] : llvm::enumerate(ops))
        emitProducts(
            inner, block, op, summed, steps,
            MutableArrayRef<Value>(acc).slice(i * block.size(), block.size()));
      return acc;
    }
    bool innermost = summed.size() + 1 == extents.size();
    auto sum = scf::ForOp::create(
        b, loc, indexConstant(b, loc, 0),
        indexConstant(b, loc, extents[summed.size()]),
        indexConstant(b, loc, innermost ? steps : 1), carried,
        [&](OpBuilder &body, Location, Value index, ValueRange args) {
          summed.push_back(index);
          scf::YieldOp::create(body, loc, self(self, body, args));
          summed.pop_back();
        });
    return Values(sum.getResults());
  };
  Values sums = nest(nest, frame.b, inits);
  for (auto [i, op] : llvm::enumerate(ops))
    block.values[op->getResult(0)] =
        Values(ArrayRef(sums).slice(i * block.size(), block.size()));
}

void ThreadEmitter::emitBlock(OpBuilder &b, const TileGroup &group,
                              ContractionBlock &block) {
  Frame frame(b);
  block.values.clear();
  // Contractions over equal extents share their loop.
  SmallVector<linalg::GenericOp> left;
  for (Operation *op : group.ops)
    if (graph.kindOf(op) == NodeKind::Contraction)
      left.push_back(cast<linalg::GenericOp>(op));
  while (!left.empty()) {
    SmallVector<int64_t> extents = summedExtents(left.front());
    SmallVector<linalg::GenericOp> same, others;
    for (linalg::GenericOp op : left)
      (summedExtents(op) == extents ? same : others).push_back(op);
    emitSums(frame, block, same);
    left = others;
  }
  for (Operation *op : group.ops) {
    if (graph.kindOf(op) == NodeKind::Contraction)
      continue;
    auto generic = cast<linalg::GenericOp>(op);
    for (Value result : generic.getResults())
      block.values[result].resize(block.size());
    for (int64_t number = 0; number < block.size(); ++number) {
      Values loops = block.at(number), args;
      for (OpOperand &operand : op->getOpOperands()) {
        auto local = block.values.find(operand.get());
        if (!generic.payloadUsesValueFromOperand(&operand))
          args.push_back(Value());
        else if (local != block.values.end())
          args.push_back(local->second[number]);
        else
          args.push_back(operandAt(frame, operand, loops));
      }
      Values parts = cloneBody(frame, *generic.getBody(), args, loops);
      for (auto [result, part] : llvm::zip_equal(generic.getResults(), parts))
        block.values[result][number] = part;
    }
  }
  for (Operation *op : group.ops)
    for (Value result : op->getResults()) {
      if (!needsBuffer(group, result))
        continue;
      for (int64_t number = 0; number < block.size(); ++number) {
        OpBuilder::InsertionGuard guard(b);
        if (Value valid = block.valid[number % block.chunks]) {
          auto branch = scf::IfOp::create(b, op->getLoc(), valid,
                                          /*withElseRegion=*/false);
          b.setInsertionPointToStart(branch.thenBlock());
        }
        memref::StoreOp::create(b, op->getLoc(), block.values[result][number],
                                buffers.lookup(result), block.at(number));
      }
    }
}

void ThreadEmitter::emitContractions(const TileGroup &group) {
  Location loc = group.ops.front()->getLoc();
  bool needed = false, staged = false;
  int64_t registers = 0;
  ContractionBlock block;
  for (Operation *op : group.ops) {
    for (Value result : op->getResults()) {
      if (!needsBuffer(group, result))
        continue;
      needed = true;
      bufferFor(result);
    }
    if (graph.kindOf(op) != NodeKind::Contraction)
      continue;
    auto generic = cast<linalg::GenericOp>(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    block.shape = type.getShape();
    Type element = type.getElementType();
    registers +=
        element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 32 ? 1 : 2;
    for (unsigned number : {matchRowContraction(generic)->rowsOperand, 2u}) {
      Value operand = op->getOperand(number);
      if (isLoaded(operand) && !buffers.contains(operand)) {
        stage(operand);
        staged = true;
      }
    }
  }
  // Nobody needs the group.
  if (!needed)
    return;
  if (staged)
    barrier();

  block.rows = 1;
  for (int64_t height = 1; height <= kMaxBlockRows; ++height)
    if (tile.rows % height == 0)
      block.rows = height;
  int64_t columns = block.shape.back();
  block.chunks = std::min(
      {kMaxChunks, static_cast<int64_t>(llvm::divideCeil(columns, kLanes)),
       std::max<int64_t>(kMaxAccumulators / block.rows / registers, 1)});
  int64_t width = block.chunks * kLanes;
  block.panels = llvm::divideCeil(columns, width);
  ArrayRef<int64_t> middleShape = block.shape.drop_front().drop_back();
  int64_t middle = ShapedType::getNumElements(middleShape);

  OpBuilder &b = rewriter;
  Value height = indexConstant(b, loc, block.rows);
  Value padded = arith::AddIOp::create(b, loc, scalar(tile.live),
                                       indexConstant(b, loc, block.rows - 1));
  Value rowBlocks = arith::DivUIOp::create(b, loc, padded, height);
  Value units = arith::MulIOp::create(
      b, loc, rowBlocks, indexConstant(b, loc, block.panels * middle));
  scf::ForOp::create(
      b, loc, ids.warp, units, indexConstant(b, loc, ids.warps()), ValueRange(),
      [&](OpBuilder &body, Location, Value unit, ValueRange) {
        // Warps that run side by side have the same columns of b.
        Value rowBlock = arith::RemUIOp::create(body, loc, unit, rowBlocks);
        Value rest = arith::DivUIOp::create(body, loc, unit, rowBlocks);
        Values parts = delinearize(body, loc, rest, {middle, block.panels});
        block.middle = delinearize(body, loc, parts[0], middleShape);
        Value firstRow = arith::MulIOp::create(body, loc, rowBlock, height);
        for (int64_t row = 0; row < block.rows; ++row)
          block.rowIndices.push_back(arith::AddIOp::create(
              body, loc, firstRow, indexConstant(body, loc, row)));
        Value first = arith::AddIOp::create(
            body, loc, ids.lane,
            arith::MulIOp::create(body, loc, parts[1],
                                  indexConstant(body, loc, width)));
        for (int64_t chunk = 0; chunk < block.chunks; ++chunk) {
          Value column = arith::AddIOp::create(
              body, loc, first, indexConstant(body, loc, chunk * kLanes));
          Value valid;
          if (columns % width != 0) {
            Value end = indexConstant(body, loc, columns);
            valid = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::ult,
                                          column, end);
            column = arith::MinUIOp::create(
                body, loc, column, indexConstant(body, loc, columns - 1));
          }
          block.columns.push_back(column);
          block.valid.push_back(valid);
        }
        emitBlock(body, group, block);
        scf::YieldOp::create(body, loc);
      });
}
