//===- LaneProducts.cpp - A product for each lane of vectors --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for line of lanes, for 96 rows, for 72 columns:
//   for part of the depth:
//     copy that part of lhs: for each vector of the line
//       [block of rows][depth][row of the block], a vector each
//     copy that part of rhs in the same way
//     for vector, for block of columns, for block of rows:
//       a block of accumulators, which wait in memory for the next part
//   write the sums
//
// In place, neighbours along the depth would be as far apart as the lanes are
// many, and fall into few sets of the cache. What is read and written at a time
// are whole lines of it, since they come from far away.
//
//===----------------------------------------------------------------------===//

#include "LaneProducts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {
constexpr int64_t kRows = 96, kColumns = 72, kDepth = 32;
constexpr int64_t kLineBits = 512;

/// One operand: an element for each of `rows` (columns) and of the depth.
struct Side {
  Value memory, offset, stride, depthStride, table, size, copy, places;
  int64_t block; // Rows (columns) of a block of accumulators.
  int64_t part;  // Those that are copied together.
};

/// The rows (columns) whose sums are made together.
struct Range {
  Value begin, end;
};

class LaneEmitter {
public:
  LaneEmitter(OpBuilder &b, ragged::TileContractOp op, const BlockShape &shape,
              const Sums &sums)
      : b(b), op(op), loc(op.getLoc()), shape(shape), sums(sums),
        vector(shape.getVector()),
        line(std::max<int64_t>(
            1,
            kLineBits / (shape.lanes * shape.type.getIntOrFloatBitWidth()))) {
    ValueRange tables = op.getTables();
    // 24 accumulators, of which the rows stay in registers.
    lhs = {op.getLhs(),
           op.getLhsOffset(),
           op.getLhsRow(),
           op.getLhsDepth(),
           tables.empty() ? Value() : tables[0],
           op.getRows(),
           {},
           {},
           shape.vectors,
           kRows};
    rhs = {op.getRhs(),
           op.getRhsOffset(),
           op.getRhsColumn(),
           op.getRhsDepth(),
           tables.empty() ? Value() : tables[1],
           op.getColumns(),
           {},
           {},
           shape.rows,
           kColumns};
  }
  Value run();

private:
  Value allocate(int64_t vectors);
  /// All sums of lanes [begin, end), `vectors` vectors of them at a time.
  void emitLanes(Value begin, Value end, int64_t vectors);
  void locate(OpBuilder &at, const Side &side, const Range &range, Value lane);
  void copy(OpBuilder &at, const Side &side, const Range &range,
            int64_t vectors, Value first, Value count);
  void emitBlock(OpBuilder &at, Value lhsPlace, Value rhsPlace, Value sumPlace,
                 Value count, Value isFirst);
  void write(OpBuilder &at, const Range &rows, const Range &columns, Value lane,
             int64_t vectors);
  /// Where the sums of a block are.
  Value getSumPlace(OpBuilder &at, const Range &rows, const Range &columns,
                    Value row, Value column);

  OpBuilder &b;
  ragged::TileContractOp op;
  Location loc;
  const BlockShape &shape;
  const Sums &sums;
  VectorType vector;
  int64_t line; // Vectors of a line of the cache.
  Side lhs, rhs;
  Value blocks; // For each vector of a line the blocks of sums.
};
} // namespace

/// Where each row of a range begins; those behind the last one are the last
/// one. In memory, or LLVM would compute them again in the loops that use them.
void LaneEmitter::locate(OpBuilder &at, const Side &side, const Range &range,
                         Value lane) {
  Indices ix(at, loc);
  Value start = ix.add(side.offset, lane);
  Value last = ix.sub(side.size, ix.constant(1));
  Value blocks = ix.ceilDiv(ix.sub(range.end, range.begin), side.block);
  ix.loop(ix.mul(blocks, side.block), [&](OpBuilder &inner, Value i) {
    Indices jx(inner, loc);
    Value row = jx.min(jx.add(range.begin, i), last);
    memref::StoreOp::create(inner, loc, jx.add(start, jx.mul(row, side.stride)),
                            side.places, i);
  });
}

/// The vectors of a range and of a part of the depth, block after block.
void LaneEmitter::copy(OpBuilder &at, const Side &side, const Range &range,
                       int64_t vectors, Value first, Value count) {
  auto type = VectorType::get(
      {shape.lanes}, cast<MemRefType>(side.memory.getType()).getElementType());
  Indices ix(at, loc);
  ix.loop(ix.constant(0), ix.sub(range.end, range.begin), side.block,
          [&](OpBuilder &outer, Value block) {
            Indices ox(outer, loc);
            Value dest = ox.mul(ox.mul(block, count), shape.lanes);
            SmallVector<Value> rows;
            for (int64_t k = 0; k < side.block; ++k)
              rows.push_back(memref::LoadOp::create(outer, loc, side.places,
                                                    ox.add(block, k)));
            ox.loop(count, [&](OpBuilder &inner, Value d) {
              Indices jx(inner, loc);
              Value depth = jx.add(first, d);
              Value offset =
                  side.table
                      ? memref::LoadOp::create(inner, loc, side.table, depth)
                            .getResult()
                      : jx.mul(depth, side.depthStride);
              Value to = jx.add(dest, jx.mul(d, side.block * shape.lanes));
              for (int64_t k = 0; k < side.block; ++k)
                for (int64_t v = 0; v < vectors; ++v) {
                  Value part = vector::LoadOp::create(
                      inner, loc, type, side.memory,
                      jx.add(jx.add(rows[k], offset), v * shape.lanes));
                  vector::StoreOp::create(
                      inner, loc, sums.widen(inner, loc, part), side.copy,
                      jx.add(to, (v * side.part * kDepth + k) * shape.lanes));
                }
            });
          });
}

Value LaneEmitter::getSumPlace(OpBuilder &at, const Range &rows,
                               const Range &columns, Value row, Value column) {
  Indices ix(at, loc);
  Value vectors = ix.add(ix.mul(ix.sub(column, columns.begin), kRows),
                         ix.mul(ix.sub(row, rows.begin), rhs.block));
  return ix.mul(vectors, shape.lanes);
}

void LaneEmitter::emitBlock(OpBuilder &at, Value lhsPlace, Value rhsPlace,
                            Value sumPlace, Value count, Value isFirst) {
  Indices ix(at, loc);
  int64_t numSums = lhs.block * rhs.block;
  SmallVector<Value> places;
  for (int64_t k = 0; k < numSums; ++k)
    places.push_back(ix.add(sumPlace, k * shape.lanes));
  SmallVector<Type> types(numSums, vector);
  auto starts = scf::IfOp::create(at, loc, types, isFirst, /*else=*/true);
  OpBuilder zero = starts.getThenBodyBuilder();
  scf::YieldOp::create(
      zero, loc, SmallVector<Value>(numSums, sums.zero(zero, loc, vector)));
  OpBuilder old = starts.getElseBodyBuilder();
  SmallVector<Value> olds;
  for (Value place : places)
    olds.push_back(vector::LoadOp::create(old, loc, vector, blocks, place));
  scf::YieldOp::create(old, loc, olds);

  auto loop = scf::ForOp::create(
      at, loc, ix.constant(0), count, ix.constant(1), starts.getResults(),
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
        SmallVector<Value> rows = load(lhs, lhsPlace);
        SmallVector<Value> columns = load(rhs, rhsPlace);
        SmallVector<Value> next;
        for (int64_t c = 0; c < rhs.block; ++c)
          for (int64_t r = 0; r < lhs.block; ++r)
            next.push_back(sums.multiplyAdd(inner, l, rows[r], columns[c],
                                            args[c * lhs.block + r]));
        scf::YieldOp::create(inner, l, next);
      });
  for (auto [sum, place] : llvm::zip_equal(loop.getResults(), places))
    vector::StoreOp::create(at, loc, sum, blocks, place);
}

/// Lines of sums go to, or are added to, what is there.
void LaneEmitter::write(OpBuilder &at, const Range &rows, const Range &columns,
                        Value lane, int64_t vectors) {
  auto writeElement = [&](OpBuilder &then, Value row, Value column,
                          Value from) {
    Indices ix(then, loc);
    Value place = ix.add(ix.add(op.getDestOffset(), lane),
                         ix.add(ix.mul(row, op.getDestRow()),
                                ix.mul(column, op.getDestColumn())));
    for (int64_t v = 0; v < vectors; ++v) {
      Value to = ix.add(place, v * shape.lanes);
      Value sum = vector::LoadOp::create(
          then, loc, vector, blocks,
          ix.add(from, v * kRows * kColumns * shape.lanes));
      Value total = scf::IfOp::create(
                        then, loc, op.getAccumulate(),
                        [&](OpBuilder &inner, Location) {
                          Value old = vector::LoadOp::create(inner, loc, vector,
                                                             op.getDest(), to);
                          scf::YieldOp::create(inner, loc,
                                               sums.add(inner, loc, old, sum));
                        },
                        [&](OpBuilder &inner, Location) {
                          scf::YieldOp::create(inner, loc, sum);
                        })
                        .getResult(0);
      vector::StoreOp::create(then, loc, total, op.getDest(), to);
    }
  };
  auto writeBlock = [&](OpBuilder &inner, Value row, Value column) {
    Indices ix(inner, loc);
    Value block = getSumPlace(inner, rows, columns, row, column);
    for (int64_t r = 0; r < lhs.block; ++r)
      for (int64_t c = 0; c < rhs.block; ++c) {
        Value ownRow = ix.add(row, r), ownColumn = ix.add(column, c);
        Value isOwn =
            arith::AndIOp::create(inner, loc, ix.less(ownRow, lhs.size),
                                  ix.less(ownColumn, rhs.size));
        Value from = ix.add(block, (c * lhs.block + r) * shape.lanes);
        scf::IfOp::create(inner, loc, isOwn, [&](OpBuilder &then, Location) {
          writeElement(then, ownRow, ownColumn, from);
          scf::YieldOp::create(then, loc);
        });
      }
  };
  Indices(at, loc).loop(rows.begin, rows.end, lhs.block,
                        [&](OpBuilder &outer, Value row) {
                          Indices(outer, loc)
                              .loop(columns.begin, columns.end, rhs.block,
                                    [&](OpBuilder &inner, Value column) {
                                      writeBlock(inner, row, column);
                                    });
                        });
}

Value LaneEmitter::allocate(int64_t vectors) {
  return memref::AllocOp::create(
      b, loc,
      MemRefType::get({line * vectors * shape.lanes}, vector.getElementType()));
}

void LaneEmitter::emitLanes(Value begin, Value end, int64_t vectors) {
  auto multiply = [&](OpBuilder &at, const Range &rows, const Range &columns,
                      Value count, Value isFirst) {
    Indices ix(at, loc);
    ix.loop(ix.constant(vectors), [&](OpBuilder &outer, Value v) {
      Indices vx(outer, loc);
      auto placeOf = [&](OpBuilder &inner, const Side &side, const Range &range,
                         Value i) {
        Indices jx(inner, loc);
        Value place =
            jx.mul(jx.mul(jx.sub(i, range.begin), count), shape.lanes);
        return jx.add(place, jx.mul(v, side.part * kDepth * shape.lanes));
      };
      vx.loop(columns.begin, columns.end, rhs.block,
              [&](OpBuilder &middle, Value column) {
                Value rhsPlace = placeOf(middle, rhs, columns, column);
                Indices(middle, loc)
                    .loop(rows.begin, rows.end, lhs.block,
                          [&](OpBuilder &inner, Value row) {
                            Indices jx(inner, loc);
                            Value sum = jx.add(
                                getSumPlace(inner, rows, columns, row, column),
                                jx.mul(v, kRows * kColumns * shape.lanes));
                            emitBlock(inner, placeOf(inner, lhs, rows, row),
                                      rhsPlace, sum, count, isFirst);
                          });
              });
    });
  };
  auto emitRange = [&](OpBuilder &at, Value lane, const Range &rows,
                       const Range &columns) {
    locate(at, lhs, rows, lane);
    locate(at, rhs, columns, lane);
    Value replaces = arith::ConstantIntOp::create(at, loc, 0, 1);
    forDepth(at, loc, op.getDepth(), kDepth, replaces,
             [&](OpBuilder &inner, Value first, Value count, Value isFirst) {
               copy(inner, lhs, rows, vectors, first, count);
               copy(inner, rhs, columns, vectors, first, count);
               multiply(inner, rows, columns, count, isFirst);
             });
    write(at, rows, columns, lane, vectors);
  };
  Indices ix(b, loc);
  Value zero = ix.constant(0);
  auto rangeOf = [&](OpBuilder &at, const Side &side, Value first) {
    Indices jx(at, loc);
    return Range{first, jx.min(jx.add(first, side.part), side.size)};
  };
  ix.loop(begin, end, vectors * shape.lanes, [&](OpBuilder &lanes, Value lane) {
    Indices(lanes, loc)
        .loop(zero, lhs.size, kRows, [&](OpBuilder &outer, Value row) {
          Range rows = rangeOf(outer, lhs, row);
          Indices(outer, loc)
              .loop(zero, rhs.size, kColumns,
                    [&](OpBuilder &inner, Value column) {
                      emitRange(inner, lane, rows, rangeOf(inner, rhs, column));
                    });
        });
  });
}

Value LaneEmitter::run() {
  Indices ix(b, loc);
  lhs.copy = allocate(kRows * kDepth);
  rhs.copy = allocate(kColumns * kDepth);
  blocks = allocate(kRows * kColumns);
  for (Side *side : {&lhs, &rhs})
    side->places = memref::AllocOp::create(
        b, loc, MemRefType::get({side->part}, b.getIndexType()));
  auto wholeOf = [&](int64_t lanes) {
    return ix.mul(ix.div(op.getLanes(), lanes), lanes);
  };
  Value lines = wholeOf(line * shape.lanes), whole = wholeOf(shape.lanes);
  emitLanes(ix.constant(0), lines, line);
  if (getConstantIntValue(lines) != getConstantIntValue(whole) ||
      !getConstantIntValue(whole))
    emitLanes(lines, whole, 1);
  return whole;
}

Value nested::tile::emitLaneProducts(OpBuilder &b, ragged::TileContractOp op,
                                     const BlockShape &shape,
                                     const Sums &sums) {
  return LaneEmitter(b, op, shape, sums).run();
}
