//===- MatrixBlocks.cpp - Panels and register blocks --------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixBlocks.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace nested::tile;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value Indices::add(Value x, Value y) const {
  if (getConstantIntValue(y) == 0)
    return x;
  if (getConstantIntValue(x) == 0)
    return y;
  return arith::AddIOp::create(b, loc, x, y);
}
Value Indices::sub(Value x, Value y) const {
  if (getConstantIntValue(y) == 0)
    return x;
  return arith::SubIOp::create(b, loc, x, y);
}
Value Indices::mul(Value x, Value y) const {
  if (getConstantIntValue(x) == 1)
    return y;
  if (getConstantIntValue(y) == 1)
    return x;
  return arith::MulIOp::create(b, loc, x, y);
}
Value Indices::div(Value x, int64_t y) const {
  return y == 1 ? x : arith::DivUIOp::create(b, loc, x, constant(y));
}
Value Indices::rem(Value x, int64_t y) const {
  return arith::RemUIOp::create(b, loc, x, constant(y));
}
Value Indices::min(Value x, Value y) const {
  return arith::MinSIOp::create(b, loc, x, y);
}
Value Indices::max(Value x, Value y) const {
  return arith::MaxSIOp::create(b, loc, x, y);
}

void Indices::loop(Value from, Value to, int64_t step,
                   llvm::function_ref<void(OpBuilder &, Value)> body) const {
  scf::ForOp::create(b, loc, from, to, constant(step), ValueRange{},
                     [&](OpBuilder &inner, Location l, Value i, ValueRange) {
                       body(inner, i);
                       scf::YieldOp::create(inner, l);
                     });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

BlockShape::BlockShape(Type type, int64_t vectorBits)
    : type(type),
      lanes(std::max<int64_t>(vectorBits / type.getIntOrFloatBitWidth(), 1)),
      // AVX2 has 16 registers, AVX-512 and NEON have 32.
      vectors(vectorBits == 256 ? 2 : 4), steps(getStepsOfDepth(vectorBits)) {}

Value Sums::zero(OpBuilder &b, Location loc, Type shape) const {
  return arith::ConstantOp::create(b, loc, shape, b.getZeroAttr(shape));
}

Value Sums::add(OpBuilder &b, Location loc, Value x, Value y) const {
  if (isa<FloatType>(type))
    return arith::AddFOp::create(b, loc, x, y);
  if (isBool)
    return arith::OrIOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value Sums::multiplyAdd(OpBuilder &b, Location loc, Value x, Value y,
                        Value acc) const {
  if (isa<FloatType>(type))
    return vector::FMAOp::create(b, loc, x, y, acc);
  Value product = isBool ? arith::AndIOp::create(b, loc, x, y).getResult()
                         : arith::MulIOp::create(b, loc, x, y).getResult();
  return add(b, loc, acc, product);
}

Value Sums::widen(OpBuilder &b, Location loc, Value x) const {
  Type own = getElementTypeOrSelf(x.getType());
  if (own == type)
    return x;
  Type wide = type;
  if (auto shape = dyn_cast<VectorType>(x.getType()))
    wide = shape.clone(type);
  return arith::ExtFOp::create(b, loc, wide, x);
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

void nested::tile::forPanels(
    OpBuilder &b, Location loc, Value columns, const BlockShape &shape,
    llvm::function_ref<void(OpBuilder &, Value, int64_t)> body) {
  Indices ix(b, loc);
  Value begin = ix.constant(0), left = ix.ceilDiv(columns, shape.lanes);
  for (int64_t width = shape.vectors; width >= 1; width /= 2) {
    Value whole = ix.div(left, width);
    int64_t step = width * shape.lanes;
    Value end = ix.add(begin, ix.mul(whole, step));
    ix.loop(begin, end, step, [&](OpBuilder &inner, Value column) {
      body(inner, column, width);
    });
    if (width == 1)
      return;
    left = ix.sub(left, ix.mul(whole, width));
    begin = end;
  }
}

void nested::tile::forDepth(
    OpBuilder &b, Location loc, Value depth, int64_t part, Value accumulate,
    llvm::function_ref<void(OpBuilder &, Value, Value, Value)> body) {
  Indices ix(b, loc);
  Value truth = arith::ConstantIntOp::create(b, loc, 1, 1);
  Value starts = arith::XOrIOp::create(b, loc, accumulate, truth);
  Value parts = ix.max(ix.ceilDiv(depth, part), ix.constant(1));
  ix.loop(parts, [&](OpBuilder &inner, Value number) {
    Indices px(inner, loc);
    Value first = px.mul(number, part);
    Value count = px.min(px.sub(depth, first), px.constant(part));
    Value isFirst = arith::AndIOp::create(
        inner, loc, starts,
        px.compare(arith::CmpIPredicate::eq, number, px.constant(0)));
    body(inner, first, count, isFirst);
  });
}

int64_t nested::tile::getPart(Value size, int64_t part, int64_t multiple) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    part = std::min(part, (*known + multiple - 1) / multiple * multiple);
  return std::max(part, multiple);
}

namespace {
/// Writes one panel.
class Packer {
public:
  Packer(OpBuilder &b, Location loc, const Matrix &from, Value first,
         Value count, Value begin, Value end, int64_t width,
         const BlockShape &shape, const Sums &sums, Value panel, Value at)
      : b(b), loc(loc), from(from), first(first), count(count), begin(begin),
        end(end), width(width), shape(shape), sums(sums), panel(panel), at(at),
        pitch(width * shape.lanes) {}
  void run(bool isWhole);

private:
  Value rowOffset(OpBuilder &at, Value i);
  void copyRows(OpBuilder &at, int64_t vectors);
  void copyTransposed(OpBuilder &at, int64_t vector);
  void copyElements(OpBuilder &at, Value fromRow, int64_t vector);
  /// Vector `vector` of the panel.
  void copyVector(OpBuilder &at, int64_t vector);

  OpBuilder &b;
  Location loc;
  const Matrix &from;
  Value first, count, begin, end;
  int64_t width;
  const BlockShape &shape;
  const Sums &sums;
  Value panel, at;
  int64_t pitch;
};
} // namespace

/// Where row `first + i` begins, without columns.
Value Packer::rowOffset(OpBuilder &inner, Value i) {
  Indices ix(inner, loc);
  Value row = ix.add(first, i);
  Value offset =
      from.table
          ? memref::LoadOp::create(inner, loc, from.table, row).getResult()
          : ix.mul(row, from.row);
  return ix.add(from.offset, offset);
}

/// Columns are neighbours: the first `vectors` vectors of every row.
void Packer::copyRows(OpBuilder &outer, int64_t vectors) {
  auto type = VectorType::get(
      {shape.lanes}, cast<MemRefType>(from.memory.getType()).getElementType());
  Indices(outer, loc).loop(count, [&](OpBuilder &inner, Value i) {
    Indices ix(inner, loc);
    Value source = ix.add(rowOffset(inner, i), begin);
    Value dest = ix.add(at, ix.mul(i, pitch));
    for (int64_t v = 0; v < vectors; ++v) {
      Value part = vector::LoadOp::create(inner, loc, type, from.memory,
                                          ix.add(source, v * shape.lanes));
      vector::StoreOp::create(inner, loc, sums.widen(inner, loc, part), panel,
                              ix.add(dest, v * shape.lanes));
    }
  });
}

/// Element by element, rows from `fromRow` on.
void Packer::copyElements(OpBuilder &outer, Value fromRow, int64_t vector) {
  Indices ox(outer, loc);
  ox.loop(fromRow, count, 1, [&](OpBuilder &inner, Value i) {
    Indices ix(inner, loc);
    Value source = rowOffset(inner, i);
    Value dest = ix.add(ix.add(at, ix.mul(i, pitch)), vector * shape.lanes);
    Value column = ix.add(begin, vector * shape.lanes);
    Value live = ix.min(ix.sub(end, column), ix.constant(shape.lanes));
    Value zero = sums.zero(inner, loc, shape.getVector());
    vector::StoreOp::create(inner, loc, zero, panel, dest);
    ix.loop(live, [&](OpBuilder &deep, Value j) {
      Indices jx(deep, loc);
      Value element = memref::LoadOp::create(
          deep, loc, from.memory,
          jx.add(source, jx.mul(jx.add(column, j), from.column)));
      memref::StoreOp::create(deep, loc, sums.widen(deep, loc, element), panel,
                              jx.add(dest, j));
    });
  });
}

/// Rows are neighbours: squares of `lanes` columns and rows are transposed by
/// interleaving halves, as often as a row can be halved.
void Packer::copyTransposed(OpBuilder &outer, int64_t vector) {
  int64_t lanes = shape.lanes;
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(from.memory.getType()).getElementType());
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < lanes / 2; ++i) {
    low.append({i, lanes + i});
    high.append({lanes / 2 + i, lanes + lanes / 2 + i});
  }
  Indices ox(outer, loc);
  Value whole = ox.mul(ox.div(count, lanes), lanes);
  ox.loop(ox.constant(0), whole, lanes, [&](OpBuilder &inner, Value i) {
    Indices ix(inner, loc);
    Value column = ix.add(begin, vector * lanes);
    Value source = ix.add(ix.add(from.offset, ix.add(first, i)),
                          ix.mul(column, from.column));
    SmallVector<Value> rows;
    for (int64_t j = 0; j < lanes; ++j) {
      Value part =
          vector::LoadOp::create(inner, loc, type, from.memory, source);
      rows.push_back(sums.widen(inner, loc, part));
      source = ix.add(source, from.column);
    }
    for (int64_t step = 1; step < lanes; step *= 2) {
      SmallVector<Value> next;
      for (int64_t j = 0; j < lanes / 2; ++j) {
        Value x = rows[j], y = rows[j + lanes / 2];
        next.push_back(vector::ShuffleOp::create(inner, loc, x, y, low));
        next.push_back(vector::ShuffleOp::create(inner, loc, x, y, high));
      }
      rows = next;
    }
    Value dest = ix.add(ix.add(at, ix.mul(i, pitch)), vector * lanes);
    for (int64_t j = 0; j < lanes; ++j)
      vector::StoreOp::create(inner, loc, rows[j], panel,
                              ix.add(dest, j * pitch));
  });
  copyElements(outer, whole, vector);
}

void Packer::copyVector(OpBuilder &outer, int64_t vector) {
  if (getConstantIntValue(from.row) == 1 && !from.table && shape.lanes > 1)
    return copyTransposed(outer, vector);
  copyElements(outer, Indices(outer, loc).constant(0), vector);
}

void Packer::run(bool isWhole) {
  bool neighbours = getConstantIntValue(from.column) == 1;
  int64_t whole = isWhole ? width : width - 1;
  // All vectors but the last one of a panel are whole.
  auto copyWhole = [&](OpBuilder &at, int64_t vectors) {
    if (neighbours)
      return copyRows(at, vectors);
    for (int64_t v = 0; v < vectors; ++v)
      copyVector(at, v);
  };
  if (isWhole)
    return copyWhole(b, width);
  Indices ix(b, loc);
  Value reach = ix.add(begin, pitch);
  Value fits = ix.compare(arith::CmpIPredicate::sle, reach, end);
  scf::IfOp::create(
      b, loc, fits,
      [&](OpBuilder &then, Location) {
        copyWhole(then, width);
        scf::YieldOp::create(then, loc);
      },
      [&](OpBuilder &otherwise, Location) {
        if (whole)
          copyWhole(otherwise, whole);
        copyElements(otherwise, Indices(otherwise, loc).constant(0), whole);
        scf::YieldOp::create(otherwise, loc);
      });
}

void nested::tile::packPanel(OpBuilder &b, Location loc, const Matrix &from,
                             Value first, Value count, Value begin, Value end,
                             bool isWhole, int64_t width,
                             const BlockShape &shape, const Sums &sums,
                             Value panel, Value at) {
  Packer(b, loc, from, first, count, begin, end, width, shape, sums, panel, at)
      .run(isWhole);
}

//===----------------------------------------------------------------------===//
// Register blocks
//===----------------------------------------------------------------------===//

SmallVector<Value> nested::tile::loopOverSteps(
    OpBuilder &b, Location loc, Value count, int64_t together, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)>
        body) {
  Indices ix(b, loc);
  // The steps [from, to), `number` in each iteration.
  auto loop = [&](Value from, Value to, int64_t number, ValueRange values) {
    auto result = scf::ForOp::create(
        b, loc, from, to, ix.constant(number), values,
        [&](OpBuilder &inner, Location, Value k, ValueRange args) {
          SmallVector<Value> next(args);
          for (int64_t i = 0; i < number; ++i)
            next = body(inner, Indices(inner, loc).add(k, i), next);
          scf::YieldOp::create(inner, loc, next);
        });
    return SmallVector<Value>(result.getResults());
  };
  std::optional<int64_t> known = getConstantIntValue(count);
  if (known && *known % together == 0)
    return loop(ix.constant(0), count, together, inits);
  Value whole = ix.mul(ix.div(count, together), together);
  SmallVector<Value> values = loop(ix.constant(0), whole, together, inits);
  return together == 1 ? values : loop(whole, count, 1, values);
}

SmallVector<Value>
nested::tile::sumBlock(OpBuilder &b, Location loc, const Matrix &lhs,
                       ValueRange rowOffsets, Value first, Value count,
                       Value panel, Value at, int64_t width,
                       const BlockShape &shape, const Sums &sums) {
  VectorType type = shape.getVector();
  auto step = [&](OpBuilder &inner, Value k, ValueRange args) {
    Indices kx(inner, loc);
    Value base = kx.add(at, kx.mul(k, width * shape.lanes));
    SmallVector<Value> columns;
    for (int64_t v = 0; v < width; ++v)
      columns.push_back(vector::LoadOp::create(inner, loc, type, panel,
                                               kx.add(base, v * shape.lanes)));
    Value depth = kx.add(first, k);
    Value offset =
        lhs.table
            ? memref::LoadOp::create(inner, loc, lhs.table, depth).getResult()
            : kx.mul(depth, lhs.column);
    SmallVector<Value> next;
    for (auto [r, rowOffset] : llvm::enumerate(rowOffsets)) {
      Value element = memref::LoadOp::create(inner, loc, lhs.memory,
                                             kx.add(rowOffset, offset));
      Value row = vector::BroadcastOp::create(inner, loc, type,
                                              sums.widen(inner, loc, element));
      for (int64_t v = 0; v < width; ++v)
        next.push_back(
            sums.multiplyAdd(inner, loc, row, columns[v], args[r * width + v]));
    }
    return next;
  };
  SmallVector<Value> zeros(rowOffsets.size() * width, sums.zero(b, loc, type));
  return loopOverSteps(b, loc, count, shape.steps, zeros, step);
}
