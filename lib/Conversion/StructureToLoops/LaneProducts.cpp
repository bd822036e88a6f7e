//===- LaneProducts.cpp - A product for each lane of vectors --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for vector of lanes, for 96 rows, for part of the depth:
//   copy that part of lhs: [block of rows][depth][row of the block], a vector
//   each for 48 columns:
//     copy that part of rhs in the same way
//     for block of columns, for block of rows: a block of accumulators
//
// In place, neighbours along the depth would be as far apart as the lanes are
// many, and fall into few sets of the cache.
//
//===----------------------------------------------------------------------===//

#include "LaneProducts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {
constexpr int64_t kRows = 96, kColumns = 48, kDepth = 64;

/// One operand: an element for each of `rows` (columns) and of the depth.
struct Side {
  Value memory, offset, stride, depthStride, table, size, copy;
  int64_t block;
};

class LaneEmitter {
public:
  LaneEmitter(OpBuilder &b, ragged::TileContractOp op, const BlockShape &shape,
              const Sums &sums)
      : b(b), op(op), loc(op.getLoc()), shape(shape), sums(sums),
        vector(shape.getVector()) {
    ValueRange tables = op.getTables();
    // 24 accumulators, of which the rows stay in registers.
    lhs = {op.getLhs(),
           op.getLhsOffset(),
           op.getLhsRow(),
           op.getLhsDepth(),
           tables.empty() ? Value() : tables[0],
           op.getRows(),
           {},
           shape.vectors};
    rhs = {op.getRhs(),
           op.getRhsOffset(),
           op.getRhsColumn(),
           op.getRhsDepth(),
           tables.empty() ? Value() : tables[1],
           op.getColumns(),
           {},
           shape.rows};
  }
  Value run();

private:
  void copy(OpBuilder &at, const Side &side, Value lane, Value begin, Value end,
            Value first, Value count);
  void emitBlock(OpBuilder &at, Value lane, Value row, Value column,
                 Value rowPlace, Value columnPlace, Value count, Value isFirst);

  OpBuilder &b;
  ragged::TileContractOp op;
  Location loc;
  const BlockShape &shape;
  const Sums &sums;
  VectorType vector;
  Side lhs, rhs;
};
} // namespace

/// The vectors of [begin, end) and of a part of the depth, block after block;
/// those behind the last one are the last one.
void LaneEmitter::copy(OpBuilder &at, const Side &side, Value lane, Value begin,
                       Value end, Value first, Value count) {
  auto type = VectorType::get(
      {shape.lanes}, cast<MemRefType>(side.memory.getType()).getElementType());
  Indices ix(at, loc);
  Value last = ix.sub(side.size, ix.constant(1));
  Value start = ix.add(side.offset, lane);
  ix.loop(begin, end, side.block, [&](OpBuilder &outer, Value block) {
    Indices ox(outer, loc);
    Value dest = ox.mul(ox.mul(ox.sub(block, begin), count), shape.lanes);
    SmallVector<Value> offsets;
    for (int64_t k = 0; k < side.block; ++k)
      offsets.push_back(
          ox.add(start, ox.mul(ox.min(ox.add(block, k), last), side.stride)));
    ox.loop(count, [&](OpBuilder &inner, Value d) {
      Indices jx(inner, loc);
      Value depth = jx.add(first, d);
      Value offset = side.table
                         ? memref::LoadOp::create(inner, loc, side.table, depth)
                               .getResult()
                         : jx.mul(depth, side.depthStride);
      Value to = jx.add(dest, jx.mul(d, side.block * shape.lanes));
      for (int64_t k = 0; k < side.block; ++k) {
        Value part = vector::LoadOp::create(inner, loc, type, side.memory,
                                            jx.add(offsets[k], offset));
        vector::StoreOp::create(inner, loc, sums.widen(inner, loc, part),
                                side.copy, jx.add(to, k * shape.lanes));
      }
    });
  });
}

void LaneEmitter::emitBlock(OpBuilder &at, Value lane, Value row, Value column,
                            Value rowPlace, Value columnPlace, Value count,
                            Value isFirst) {
  Indices ix(at, loc);
  SmallVector<Value> zeros(lhs.block * rhs.block, sums.zero(at, loc, vector));
  auto loop = scf::ForOp::create(
      at, loc, ix.constant(0), count, ix.constant(1), zeros,
      [&](OpBuilder &inner, Location l, Value d, ValueRange args) {
        Indices jx(inner, l);
        auto load = [&](const Side &side, Value place) {
          SmallVector<Value> parts;
          Value from = jx.add(place, jx.mul(d, side.block * shape.lanes));
          for (int64_t k = 0; k < side.block; ++k)
            parts.push_back(vector::LoadOp::create(
                inner, l, vector, side.copy, jx.add(from, k * shape.lanes)));
          return parts;
        };
        SmallVector<Value> rows = load(lhs, rowPlace);
        SmallVector<Value> columns = load(rhs, columnPlace);
        SmallVector<Value> next;
        for (int64_t c = 0; c < rhs.block; ++c)
          for (int64_t r = 0; r < lhs.block; ++r)
            next.push_back(sums.multiplyAdd(inner, l, rows[r], columns[c],
                                            args[c * lhs.block + r]));
        scf::YieldOp::create(inner, l, next);
      });
  for (int64_t c = 0; c < rhs.block; ++c)
    for (int64_t r = 0; r < lhs.block; ++r) {
      Value ownRow = ix.add(row, r), ownColumn = ix.add(column, c);
      Value isOwn = arith::AndIOp::create(at, loc, ix.less(ownRow, lhs.size),
                                          ix.less(ownColumn, rhs.size));
      Value sum = loop.getResult(c * lhs.block + r);
      scf::IfOp::create(at, loc, isOwn, [&](OpBuilder &then, Location) {
        Indices tx(then, loc);
        Value place = tx.add(tx.add(op.getDestOffset(), lane),
                             tx.add(tx.mul(ownRow, op.getDestRow()),
                                    tx.mul(ownColumn, op.getDestColumn())));
        Value total = scf::IfOp::create(
                          then, loc, isFirst,
                          [&](OpBuilder &first, Location) {
                            scf::YieldOp::create(first, loc, sum);
                          },
                          [&](OpBuilder &later, Location) {
                            Value old = vector::LoadOp::create(
                                later, loc, vector, op.getDest(), place);
                            scf::YieldOp::create(
                                later, loc, sums.add(later, loc, old, sum));
                          })
                          .getResult(0);
        vector::StoreOp::create(then, loc, total, op.getDest(), place);
        scf::YieldOp::create(then, loc);
      });
    }
}

Value LaneEmitter::run() {
  Indices ix(b, loc);
  auto allocate = [&](int64_t vectors) {
    return memref::AllocOp::create(
        b, loc,
        MemRefType::get({vectors * kDepth * shape.lanes},
                        vector.getElementType()));
  };
  lhs.copy = allocate(kRows);
  rhs.copy = allocate(kColumns);
  Value zero = ix.constant(0);
  Value whole = ix.mul(ix.div(op.getLanes(), shape.lanes), shape.lanes);
  ix.loop(zero, whole, shape.lanes, [&](OpBuilder &lanes, Value lane) {
    Indices(lanes, loc)
        .loop(zero, op.getRows(), kRows, [&](OpBuilder &outer, Value row) {
          Indices ox(outer, loc);
          Value rowEnd = ox.min(ox.add(row, kRows), op.getRows());
          forDepth(
              outer, loc, op.getDepth(), kDepth, op.getAccumulate(),
              [&](OpBuilder &inner, Value first, Value count, Value isFirst) {
                Indices px(inner, loc);
                copy(inner, lhs, lane, row, rowEnd, first, count);
                px.loop(
                    zero, op.getColumns(), kColumns,
                    [&](OpBuilder &deep, Value column) {
                      Indices cx(deep, loc);
                      Value columnEnd =
                          cx.min(cx.add(column, kColumns), op.getColumns());
                      copy(deep, rhs, lane, column, columnEnd, first, count);
                      auto placeOf = [&](OpBuilder &at, Value i, Value begin) {
                        Indices jx(at, loc);
                        return jx.mul(jx.mul(jx.sub(i, begin), count),
                                      shape.lanes);
                      };
                      cx.loop(column, columnEnd, rhs.block,
                              [&](OpBuilder &c, Value ownColumn) {
                                Value columnPlace =
                                    placeOf(c, ownColumn, column);
                                Indices(c, loc).loop(
                                    row, rowEnd, lhs.block,
                                    [&](OpBuilder &r, Value ownRow) {
                                      emitBlock(r, lane, ownRow, ownColumn,
                                                placeOf(r, ownRow, row),
                                                columnPlace, count, isFirst);
                                    });
                              });
                    });
              });
        });
  });
  return whole;
}

Value nested::tile::emitLaneProducts(OpBuilder &b, ragged::TileContractOp op,
                                     const BlockShape &shape,
                                     const Sums &sums) {
  return LaneEmitter(b, op, shape, sums).run();
}
