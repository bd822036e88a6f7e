//===- EmitBlockAccess.cpp - Register blocks and the caller's memory ------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block reads the column of its rows element by element, through the numbers
// of the rows in their source. Behind the live rows it reads the last live one
// again, so that only memory of live rows is touched.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

Value TileEmitter::sourceRow(OpBuilder &b, Operation *load, Value row) {
  Location loc = load->getLoc();
  if (auto gather = dyn_cast<ragged::TileGatherOp>(load))
    return tensor::ExtractOp::create(b, loc, whole(gather.getRows()), row);
  return arith::AddIOp::create(b, loc, cast<ragged::TileLoadOp>(load).getRow(),
                               row);
}

bool TileEmitter::isConsecutive(Operation *load) const {
  auto type = cast<MemRefType>(load->getOperand(0).getType());
  return type.getRank() == 2 && type.getLayout().isIdentity() &&
         (isa<ragged::TileLoadOp>(load) || load->hasAttr(kConsecutiveAttr));
}

/// Finds the rows of the source that `count` rows from the frame's are, where
/// the rows of a contraction are loaded.
void TileEmitter::findSourceRows(Frame &frame, linalg::GenericOp op,
                                 int64_t count) {
  Operation *load =
      op->getOperand(matchRowContraction(op)->rowsOperand).getDefiningOp();
  if (!load || load->getBlock() != loop.getBody() ||
      graph.kindOf(load) != NodeKind::Load || sourceRows.contains(load))
    return;
  OpBuilder &b = frame.b;
  Location loc = load->getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, live, one);
  SmallVector<Value> &rows = sourceRows[load];
  for (int64_t i = 0; i < count; ++i) {
    Value row = frame.row;
    if (i > 0)
      row = arith::AddIOp::create(b, loc, row,
                                  arith::ConstantIndexOp::create(b, loc, i));
    row = arith::MinSIOp::create(b, loc, row, last);
    rows.push_back(sourceRow(b, load, row));
  }
}

/// One element of each row of the block: all dims but the first have one index.
Value TileEmitter::columnOfRows(OpBuilder &b, Operation *load,
                                ArrayRef<DimRange> ranges) {
  Location loc = load->getLoc();
  Value source = sourceTensor(load->getOperand(0));
  SmallVector<Value> indices{nullptr};
  for (const DimRange &range : ranges.drop_front())
    indices.push_back(getValueOrCreateConstantIndexOp(b, loc, range.offset));
  SmallVector<Value> elements;
  for (Value row : sourceRows[load]) {
    indices.front() = row;
    elements.push_back(tensor::ExtractOp::create(b, loc, source, indices));
  }
  auto type = RankedTensorType::get(
      shapeOf(ranges),
      cast<RankedTensorType>(source.getType()).getElementType());
  return tensor::FromElementsOp::create(b, loc, type, elements);
}

/// While a tile is multiplied, the next one is fetched into the second-level
/// cache: in every step of `k` as many elements as cover the rows of the block
/// after all panels. The address is a guess, which is all that a prefetch
/// needs.
void TileEmitter::prefetchNextTile(OpBuilder &b, linalg::GenericOp op,
                                   Value k) {
  Operation *load =
      op->getOperand(matchRowContraction(op)->rowsOperand).getDefiningOp();
  auto rows = sourceRows.find(load);
  if (rows == sourceRows.end())
    return;
  if (!isConsecutive(load))
    return;
  Value source = load->getOperand(0);
  Location loc = load->getLoc();
  int64_t depth = cast<MemRefType>(source.getType()).getDimSize(1);
  auto count = static_cast<int64_t>(rows->second.size());
  int64_t elements = llvm::divideCeil(count, panelsInAll);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value row = arith::AddIOp::create(b, loc, rows->second.front(),
                                    constant(graph.getRows()));
  Value number = arith::AddIOp::create(
      b, loc, getValueOrCreateConstantIndexOp(b, loc, panel),
      constant(panelsBefore));
  Value column = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, number, constant(depth)), k);
  column = arith::MulIOp::create(b, loc, column, constant(elements));
  memref::PrefetchOp::create(b, loc, source, ValueRange{row, column},
                             /*isWrite=*/false, /*localityHint=*/2,
                             /*isDataCache=*/true);
}

/// Stores the live rows of a block, each by itself when not all are live: a
/// vector write that ends behind them becomes that.
void TileEmitter::storeBlock(Frame &frame, ragged::TileStoreOp op,
                             ArrayRef<DimRange> block) {
  OpBuilder &b = frame.b;
  Location loc = op.getLoc();
  Value part = frame.local.lookup(op.getValue());
  auto type = cast<RankedTensorType>(part.getType());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> origin(type.getRank(), zero);
  SmallVector<bool> inside(type.getRank(), true);
  Value padding = ub::PoisonOp::create(b, loc, type.getElementType());
  Value vector = vector::TransferReadOp::create(
      b, loc, VectorType::get(type.getShape(), type.getElementType()), part,
      origin, padding, inside);

  DimRanges ranges(block);
  Value count = arith::ConstantIndexOp::create(b, loc, block.front().size);
  Value left = arith::SubIOp::create(b, loc, live, frame.row);
  count = arith::MinSIOp::create(b, loc, left, count);
  ranges.front().offset =
      arith::AddIOp::create(b, loc, op.getRow(), frame.row).getResult();
  Value dest = subview(b, loc, op.getDest(), ranges, count);
  inside.front() = false;
  vector::TransferWriteOp::create(b, loc, vector, dest, origin, inside);
}
