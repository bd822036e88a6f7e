//===- LaneProducts.cpp - A product for each lane of vectors --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for line of lanes, for 144 columns, for 256 steps of the depth:
//   copy that part of rhs, a group of 12 columns after the other
//   for 24 rows:
//     copy that part of lhs, which is one group
//     for group of columns:
//       for vector of the line, for 64 steps, for block of rows and of columns:
//         a block of accumulators, which wait in memory for the next steps
//       write the sums, or add them to those of earlier steps
//
// A group is copied as [vector of the line][steps][block][step][row of the
// block], a vector each. So what is in use at a time, a group of columns for 64
// steps, stays in the nearest cache, and the rest comes in the order in which
// it lies. In place, neighbours along the depth would be as far apart as the
// lanes are many, and fall into few sets of the cache. What is read and written
// at a time are whole lines of it, since they come from far away; of lhs once
// for 144 columns, of rhs once in all.
//
//===----------------------------------------------------------------------===//

#include "LaneProducts.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {
/// The copies take less than 4 MB: the runtime has more than that mapped anew
/// for each run.
constexpr int64_t kColumns = 144, kDepth = 256;
/// Rows and columns of a group, and the steps that take as many bytes with
/// vectors of any width as 64 do with those of 256 bits.
constexpr int64_t kRows = 24, kGroup = 12, kStepBits = 64 * 256;
constexpr int64_t kLineBits = 512;

/// One operand: an element for each of `rows` (columns) and of the depth.
struct Side {
  Value memory, offset, stride, depthStride, table, size, copy, places;
  int64_t block; // Rows (columns) of a block of accumulators.
  int64_t group; // Those that are copied together.
};

/// Rows (columns) of a group, and where their copies begin.
struct Group {
  Value begin, end, blocks, copy;
};

/// Steps [first, first + count) of the depth.
struct Steps {
  Value first, count;
};

class LaneEmitter {
public:
  LaneEmitter(OpBuilder &b, ragged::TileContractOp op, const BlockShape &shape,
              const Sums &sums);
  Value run();

private:
  Value allocate(int64_t vectors);
  /// All sums of lanes [begin, end), `vectors` vectors of them at a time.
  void emitLanes(Value begin, Value end, int64_t vectors);
  /// Those of `rows` and the columns [begin, end), whose copies are there.
  void emitRows(OpBuilder &at, const Group &rows, Value begin, Value end,
                Value lane, int64_t vectors, Value count, Value isFirst);
  /// The group that starts at `begin`; `from` is where the first one does.
  Group getGroup(OpBuilder &at, const Side &side, Value from, Value begin,
                 Value end, Value count, int64_t vectors);
  void locate(OpBuilder &at, const Side &side, const Group &group, Value lane);
  void copy(OpBuilder &at, const Side &side, const Group &group, Value lane,
            int64_t vectors, const Steps &all);
  /// Parts of `count` steps that stay in the nearest cache.
  void forSteps(
      OpBuilder &at, Value count,
      llvm::function_ref<void(OpBuilder &, const Steps &, Value isFirst)> body);
  /// Where the copy of a block has these steps, of `count`.
  Value getPlace(OpBuilder &at, const Side &side, const Group &group,
                 Value vector, Value block, Value count, const Steps &steps);
  void multiply(OpBuilder &at, const Group &rows, const Group &columns,
                int64_t vectors, Value count);
  void emitBlock(OpBuilder &at, Value lhsPlace, Value rhsPlace, Value sumPlace,
                 Value count, Value isFirst);
  void write(OpBuilder &at, const Group &rows, const Group &columns, Value lane,
             int64_t vectors, Value isFirst);
  /// Where the sums of a block are.
  Value getSumPlace(OpBuilder &at, const Group &columns, Value row,
                    Value column);

  OpBuilder &b;
  ragged::TileContractOp op;
  Location loc;
  const BlockShape &shape;
  const Sums &sums;
  VectorType vector;
  int64_t line;  // Vectors of a line of the cache.
  int64_t steps; // Of the depth, in the nearest cache.
  int64_t columnPart, depthPart;
  Side lhs, rhs;
  Value blocks; // Sums of a group of rows and one of columns.
};
} // namespace

LaneEmitter::LaneEmitter(OpBuilder &b, ragged::TileContractOp op,
                         const BlockShape &shape, const Sums &sums)
    : b(b), op(op), loc(op.getLoc()), shape(shape), sums(sums),
      vector(shape.getVector()) {
  int64_t bits = shape.lanes * shape.type.getIntOrFloatBitWidth();
  line = std::max<int64_t>(1, kLineBits / bits);
  steps = kStepBits / bits;
  // 12 or 24 accumulators, of which the rows stay in registers.
  int64_t rows = shape.vectors, columns = shape.rows;
  ValueRange tables = op.getTables();
  lhs = {op.getLhs(),
         op.getLhsOffset(),
         op.getLhsRow(),
         op.getLhsDepth(),
         tables.empty() ? Value() : tables[0],
         op.getRows(),
         {},
         {},
         rows,
         kRows / rows * rows};
  rhs = {op.getRhs(),
         op.getRhsOffset(),
         op.getRhsColumn(),
         op.getRhsDepth(),
         tables.empty() ? Value() : tables[1],
         op.getColumns(),
         {},
         {},
         columns,
         kGroup / columns * columns};
  columnPart = getPart(rhs.size, kColumns / rhs.group * rhs.group, rhs.group);
  depthPart = getPart(op.getDepth(), kDepth, 1);
}

Value LaneEmitter::allocate(int64_t vectors) {
  return memref::AllocOp::create(
      b, loc,
      MemRefType::get({line * vectors * shape.lanes}, vector.getElementType()));
}

void LaneEmitter::forSteps(
    OpBuilder &at, Value count,
    llvm::function_ref<void(OpBuilder &, const Steps &, Value)> body) {
  Value replaces = arith::ConstantIntOp::create(at, loc, 0, 1);
  forDepth(at, loc, count, steps, replaces,
           [&](OpBuilder &inner, Value first, Value part, Value isFirst) {
             body(inner, Steps{first, part}, isFirst);
           });
}

Group LaneEmitter::getGroup(OpBuilder &at, const Side &side, Value from,
                            Value begin, Value end, Value count,
                            int64_t vectors) {
  Indices ix(at, loc);
  Value stop = ix.min(ix.add(begin, side.group), end);
  Value copy =
      ix.mul(ix.mul(ix.sub(begin, from), count), vectors * shape.lanes);
  return {begin, stop, ix.ceilDiv(ix.sub(stop, begin), side.block), copy};
}

Value LaneEmitter::getPlace(OpBuilder &at, const Side &side, const Group &group,
                            Value vector, Value block, Value count,
                            const Steps &steps) {
  Indices ix(at, loc);
  Value before = ix.add(
      ix.mul(ix.mul(vector, group.blocks), count),
      ix.add(ix.mul(group.blocks, steps.first), ix.mul(block, steps.count)));
  return ix.add(group.copy, ix.mul(before, side.block * shape.lanes));
}

/// Where each row of a group begins; those behind the last one are the last
/// one. In memory, or LLVM would compute them again in the loops that use them.
void LaneEmitter::locate(OpBuilder &at, const Side &side, const Group &group,
                         Value lane) {
  Indices ix(at, loc);
  Value start = ix.add(side.offset, lane);
  Value last = ix.sub(side.size, ix.constant(1));
  ix.loop(ix.mul(group.blocks, side.block), [&](OpBuilder &inner, Value i) {
    Indices jx(inner, loc);
    Value row = jx.min(jx.add(group.begin, i), last);
    memref::StoreOp::create(inner, loc, jx.add(start, jx.mul(row, side.stride)),
                            side.places, i);
  });
}

/// Row by row: what is read of one lies closer together than rows do.
void LaneEmitter::copy(OpBuilder &at, const Side &side, const Group &group,
                       Value lane, int64_t vectors, const Steps &all) {
  auto type = VectorType::get(
      {shape.lanes}, cast<MemRefType>(side.memory.getType()).getElementType());
  auto copyRow = [&](OpBuilder &outer, Value block, int64_t k,
                     const Steps &part) {
    Indices ox(outer, loc);
    Value row = memref::LoadOp::create(outer, loc, side.places,
                                       ox.add(ox.mul(block, side.block), k));
    SmallVector<Value> places;
    for (int64_t v = 0; v < vectors; ++v)
      places.push_back(ox.add(
          getPlace(outer, side, group, ox.constant(v), block, all.count, part),
          k * shape.lanes));
    ox.loop(part.count, [&](OpBuilder &inner, Value d) {
      Indices jx(inner, loc);
      Value depth = jx.add(jx.add(all.first, part.first), d);
      Value offset = side.table
                         ? memref::LoadOp::create(inner, loc, side.table, depth)
                               .getResult()
                         : jx.mul(depth, side.depthStride);
      Value from = jx.add(row, offset);
      Value step = jx.mul(d, side.block * shape.lanes);
      for (auto [v, place] : llvm::enumerate(places)) {
        Value part = vector::LoadOp::create(inner, loc, type, side.memory,
                                            jx.add(from, v * shape.lanes));
        vector::StoreOp::create(inner, loc, sums.widen(inner, loc, part),
                                side.copy, jx.add(place, step));
      }
    });
  };
  locate(at, side, group, lane);
  Indices(at, loc).loop(group.blocks, [&](OpBuilder &outer, Value block) {
    forSteps(outer, all.count, [&](OpBuilder &inner, const Steps &part, Value) {
      for (int64_t k = 0; k < side.block; ++k)
        copyRow(inner, block, k, part);
    });
  });
}

/// Row and column are blocks of their groups.
Value LaneEmitter::getSumPlace(OpBuilder &at, const Group &columns, Value row,
                               Value column) {
  Indices ix(at, loc);
  return ix.mul(ix.add(ix.mul(row, columns.blocks), column),
                lhs.block * rhs.block * shape.lanes);
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

  auto step = [&](OpBuilder &inner, Value d, ValueRange args) {
    Indices jx(inner, loc);
    auto load = [&](const Side &side, Value place) {
      SmallVector<Value> parts;
      Value from = jx.add(place, jx.mul(d, side.block * shape.lanes));
      for (int64_t k = 0; k < side.block; ++k)
        parts.push_back(vector::LoadOp::create(inner, loc, vector, side.copy,
                                               jx.add(from, k * shape.lanes)));
      return parts;
    };
    SmallVector<Value> rows = load(lhs, lhsPlace);
    SmallVector<Value> columns = load(rhs, rhsPlace);
    SmallVector<Value> next;
    for (int64_t c = 0; c < rhs.block; ++c)
      for (int64_t r = 0; r < lhs.block; ++r)
        next.push_back(sums.multiplyAdd(inner, loc, rows[r], columns[c],
                                        args[c * lhs.block + r]));
    return next;
  };
  SmallVector<Value> totals =
      loopOverSteps(at, loc, count, shape.steps, starts.getResults(), step);
  for (auto [sum, place] : llvm::zip_equal(totals, places))
    vector::StoreOp::create(at, loc, sum, blocks, place);
}

/// Lines of sums go to, or are added to, what is there.
void LaneEmitter::write(OpBuilder &at, const Group &rows, const Group &columns,
                        Value lane, int64_t vectors, Value isFirst) {
  auto writeAll = [&](OpBuilder &then, bool adds) {
    auto writeElement = [&](OpBuilder &inner, Value i, Value j) {
      Indices ix(inner, loc);
      Value block = getSumPlace(inner, columns, ix.div(i, lhs.block),
                                ix.div(j, rhs.block));
      Value inBlock =
          ix.add(ix.mul(ix.rem(j, rhs.block), lhs.block), ix.rem(i, lhs.block));
      Value from = ix.add(block, ix.mul(inBlock, shape.lanes));
      Value row = ix.add(rows.begin, i), column = ix.add(columns.begin, j);
      Value place = ix.add(ix.add(op.getDestOffset(), lane),
                           ix.add(ix.mul(row, op.getDestRow()),
                                  ix.mul(column, op.getDestColumn())));
      for (int64_t v = 0; v < vectors; ++v) {
        Value to = ix.add(place, v * shape.lanes);
        Value sum = vector::LoadOp::create(
            inner, loc, vector, blocks,
            ix.add(from, v * lhs.group * rhs.group * shape.lanes));
        if (adds)
          sum = sums.add(
              inner, loc,
              vector::LoadOp::create(inner, loc, vector, op.getDest(), to),
              sum);
        vector::StoreOp::create(inner, loc, sum, op.getDest(), to);
      }
    };
    Indices ix(then, loc);
    ix.loop(ix.sub(rows.end, rows.begin), [&](OpBuilder &outer, Value i) {
      Indices ox(outer, loc);
      ox.loop(ox.sub(columns.end, columns.begin),
              [&](OpBuilder &inner, Value j) { writeElement(inner, i, j); });
    });
    scf::YieldOp::create(then, loc);
  };
  scf::IfOp::create(
      at, loc, isFirst,
      [&](OpBuilder &then, Location) { writeAll(then, /*adds=*/false); },
      [&](OpBuilder &other, Location) { writeAll(other, /*adds=*/true); });
}

void LaneEmitter::multiply(OpBuilder &at, const Group &rows,
                           const Group &columns, int64_t vectors, Value count) {
  auto emitPart = [&](OpBuilder &outer, Value v, const Steps &part,
                      Value isFirst) {
    Indices ox(outer, loc);
    Value sumsOfVector = ox.mul(v, lhs.group * rhs.group * shape.lanes);
    ox.loop(rows.blocks, [&](OpBuilder &middle, Value row) {
      Value lhsPlace = getPlace(middle, lhs, rows, v, row, count, part);
      Indices(middle, loc)
          .loop(columns.blocks, [&](OpBuilder &inner, Value column) {
            Indices jx(inner, loc);
            Value sum =
                jx.add(sumsOfVector, getSumPlace(inner, columns, row, column));
            emitBlock(inner, lhsPlace,
                      getPlace(inner, rhs, columns, v, column, count, part),
                      sum, part.count, isFirst);
          });
    });
  };
  Indices ix(at, loc);
  ix.loop(ix.constant(vectors), [&](OpBuilder &outer, Value v) {
    forSteps(outer, count,
             [&](OpBuilder &inner, const Steps &part, Value isFirst) {
               emitPart(inner, v, part, isFirst);
             });
  });
}

void LaneEmitter::emitRows(OpBuilder &at, const Group &rows, Value begin,
                           Value end, Value lane, int64_t vectors, Value count,
                           Value isFirst) {
  Indices(at, loc).loop(
      begin, end, rhs.group, [&](OpBuilder &inner, Value column) {
        Group columns =
            getGroup(inner, rhs, begin, column, end, count, vectors);
        multiply(inner, rows, columns, vectors, count);
        write(inner, rows, columns, lane, vectors, isFirst);
      });
}

void LaneEmitter::emitLanes(Value begin, Value end, int64_t vectors) {
  Indices ix(b, loc);
  Value zero = ix.constant(0);
  auto emitPart = [&](OpBuilder &at, Value lane, Value first, Value last,
                      const Steps &part, Value isFirst) {
    Indices px(at, loc);
    px.loop(first, last, rhs.group, [&](OpBuilder &inner, Value column) {
      Group group =
          getGroup(inner, rhs, first, column, last, part.count, vectors);
      copy(inner, rhs, group, lane, vectors, part);
    });
    px.loop(zero, lhs.size, lhs.group, [&](OpBuilder &inner, Value row) {
      Group rows =
          getGroup(inner, lhs, row, row, lhs.size, part.count, vectors);
      copy(inner, lhs, rows, lane, vectors, part);
      emitRows(inner, rows, first, last, lane, vectors, part.count, isFirst);
    });
  };
  // Parts of equal size: each of them reads all of lhs.
  Value parts = ix.max(ix.ceilDiv(rhs.size, columnPart), ix.constant(1));
  Value share = arith::CeilDivUIOp::create(b, loc, rhs.size, parts);
  Value size = ix.mul(ix.ceilDiv(share, rhs.group), rhs.group);
  ix.loop(begin, end, vectors * shape.lanes, [&](OpBuilder &lanes, Value lane) {
    Indices(lanes, loc).loop(parts, [&](OpBuilder &outer, Value number) {
      Indices ox(outer, loc);
      Value first = ox.mul(number, size);
      Value last = ox.min(ox.add(first, size), rhs.size);
      forDepth(outer, loc, op.getDepth(), depthPart, op.getAccumulate(),
               [&](OpBuilder &inner, Value step, Value count, Value isFirst) {
                 emitPart(inner, lane, first, last, Steps{step, count},
                          isFirst);
               });
    });
  });
}

Value LaneEmitter::run() {
  Indices ix(b, loc);
  lhs.copy = allocate(lhs.group * depthPart);
  rhs.copy = allocate(columnPart * depthPart);
  blocks = allocate(lhs.group * rhs.group);
  for (Side *side : {&lhs, &rhs})
    side->places = memref::AllocOp::create(
        b, loc, MemRefType::get({side->group}, b.getIndexType()));
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
