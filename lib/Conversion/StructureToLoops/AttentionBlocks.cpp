//===- AttentionBlocks.cpp - Blocks of scores -----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionBlocks.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace nested::tile;

static Type getSumType(Type type) {
  return type.isF64() ? type : Float32Type::get(type.getContext());
}

AttentionBlocks::AttentionBlocks(OpBuilder &b, Location loc, Type element,
                                 int64_t vectorBits, ScoreSpec spec)
    : b(b), loc(loc), type(getSumType(element)), shape(type, vectorBits),
      sums(type, /*isBool=*/false), vector(shape.getVector()),
      spec(std::move(spec)) {}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value AttentionBlocks::number(OpBuilder &at, double value, Type as) {
  FloatAttr attr = b.getFloatAttr(type, value);
  auto shaped = dyn_cast<VectorType>(as);
  return arith::ConstantOp::create(
      at, loc, as,
      shaped ? TypedAttr(DenseElementsAttr::get(shaped, attr)) : attr);
}

Value AttentionBlocks::lowest(OpBuilder &at, Type as) {
  return number(at, -std::numeric_limits<double>::infinity(), as);
}

Value AttentionBlocks::exponential(OpBuilder &at, Value x) {
  auto result = math::ExpOp::create(at, loc, x);
  result->setAttr(kNotPositiveAttr, at.getUnitAttr());
  return result;
}

Value AttentionBlocks::fold(
    OpBuilder &at, Value x,
    llvm::function_ref<Value(OpBuilder &, Value, Value)> combine) {
  for (int64_t half = shape.lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(half + i);
    }
    x = combine(at, vector::ShuffleOp::create(at, loc, x, x, low),
                vector::ShuffleOp::create(at, loc, x, x, high));
  }
  return vector::ExtractOp::create(at, loc, x, int64_t(0));
}

Value AttentionBlocks::allocate(int64_t size) {
  return memref::AllocOp::create(
      b, loc, MemRefType::get({std::max<int64_t>(size, 1)}, type));
}

Value AttentionBlocks::load(OpBuilder &at, Value memory, Value place,
                            int64_t width) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value found =
      width ? vector::LoadOp::create(at, loc, VectorType::get({width}, element),
                                     memory, place)
                  .getResult()
            : memref::LoadOp::create(at, loc, memory, place).getResult();
  return sums.widen(at, loc, found);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void AttentionBlocks::forWidths(
    int64_t size, llvm::function_ref<void(int64_t, int64_t)> body) {
  int64_t column = 0, columns = pad(size);
  for (int64_t width = shape.vectors; width >= 1; width /= 2)
    for (; column + width * shape.lanes <= columns;
         column += width * shape.lanes)
      body(column, width);
}

void AttentionBlocks::forBlocks(
    OpBuilder &at, Value live,
    llvm::function_ref<void(OpBuilder &, Value)> body) {
  Indices ix(at, loc);
  ix.loop(ix.constant(0), live, shape.rows, body);
}

void AttentionBlocks::forElements(
    OpBuilder &at, int64_t size,
    llvm::function_ref<void(OpBuilder &, Value, int64_t)> body) {
  Indices ix(at, loc);
  int64_t whole = size / shape.lanes * shape.lanes;
  ix.loop(ix.constant(0), ix.constant(whole), shape.lanes,
          [&](OpBuilder &inner, Value c) { body(inner, c, shape.lanes); });
  ix.loop(ix.constant(whole), ix.constant(size), 1,
          [&](OpBuilder &inner, Value c) { body(inner, c, 0); });
}

void AttentionBlocks::forGroups(OpBuilder &at, Pack pack, Group group) {
  Indices ix(at, loc);
  auto [low, high] =
      visible(at, ix.constant(0), ix.sub(spec.rows, ix.constant(1)));
  // Blocks of columns begin at multiples of their size (R8).
  Value from = ix.mul(ix.div(low, kColumns), kColumns);
  ix.loop(from, high, kColumns, [&](OpBuilder &outer, Value first) {
    Indices ox(outer, loc);
    Value count = ox.min(ox.sub(spec.columns, first), ox.constant(kColumns));
    pack(outer, first, count);
    ox.loop(
        ox.constant(0), spec.rows, kGroup, [&](OpBuilder &inner, Value row) {
          Indices rx(inner, loc);
          Value live = rx.min(rx.sub(spec.rows, row), rx.constant(kGroup));
          if (!hasWindow())
            return group(inner, row, live, first, count);
          Value last = rx.sub(rx.add(row, live), rx.constant(1));
          auto [begin, end] = visible(inner, row, last);
          Value sees = arith::AndIOp::create(
              inner, loc, rx.less(begin, rx.add(first, kColumns)),
              rx.less(first, end));
          scf::IfOp::create(inner, loc, sees, [&](OpBuilder &then, Location) {
            group(then, row, live, first, count);
            scf::YieldOp::create(then, loc);
          });
        });
  });
}

void AttentionBlocks::forRows(OpBuilder &at, Value row, Value live, Value first,
                              Value count, Row body) {
  forBlocks(at, live, [&](OpBuilder &outer, Value block) {
    Indices ix(outer, loc);
    auto [begin, end] = visibleOf(outer, ix.add(row, block), first, count);
    Value last = ix.min(ix.add(block, shape.rows), live);
    ix.loop(block, last, 1,
            [&, begin = begin, end = end](OpBuilder &inner, Value local) {
              body(inner, local, begin, end);
            });
  });
}

std::pair<Value, Value> AttentionBlocks::vectorsOf(OpBuilder &at, Value begin,
                                                   Value end) {
  Indices ix(at, loc);
  return {ix.mul(ix.div(begin, shape.lanes), shape.lanes),
          ix.mul(ix.ceilDiv(end, shape.lanes), shape.lanes)};
}

//===----------------------------------------------------------------------===//
// Scratch memory and panels
//===----------------------------------------------------------------------===//

void AttentionBlocks::copyRows(OpBuilder &at, const MemoryRows &from,
                               int64_t size, double scale, Value to) {
  Indices ix(at, loc);
  Value last = ix.sub(spec.rows, ix.constant(1));
  Value rows = ix.mul(ix.ceilDiv(spec.rows, shape.rows), shape.rows);
  ix.loop(rows, [&](OpBuilder &outer, Value row) {
    Indices ox(outer, loc);
    Value source = ox.add(from.offset, ox.mul(ox.min(row, last), from.row));
    Value dest = ox.mul(row, size);
    forElements(outer, size, [&](OpBuilder &inner, Value c, int64_t width) {
      Indices jx(inner, loc);
      Value part = load(inner, from.memory, jx.add(source, c), width);
      if (scale != 1)
        part = product(inner, part, number(inner, scale, part.getType()));
      if (width)
        vector::StoreOp::create(inner, loc, part, to, jx.add(dest, c));
      else
        memref::StoreOp::create(inner, loc, part, to, jx.add(dest, c));
    });
  });
}

void AttentionBlocks::clearRows(OpBuilder &at, Value memory, int64_t size) {
  Indices ix(at, loc);
  Value rows = ix.mul(ix.ceilDiv(spec.rows, shape.rows), shape.rows);
  ix.loop(ix.constant(0), ix.mul(rows, pad(size)), shape.lanes,
          [&](OpBuilder &inner, Value i) {
            vector::StoreOp::create(inner, loc, number(inner, 0, vector),
                                    memory, i);
          });
}

void AttentionBlocks::packAcross(OpBuilder &at, const MemoryRows &from,
                                 int64_t size, Value first, Value count,
                                 Value panels) {
  Indices ix(at, loc);
  Value zero = ix.constant(0), one = ix.constant(1);
  Matrix matrix{from.memory, from.offset, one, from.row, {}};
  forPanels(at, loc, count, shape,
            [&](OpBuilder &inner, Value column, int64_t width) {
              Indices jx(inner, loc);
              packPanel(inner, loc, matrix, zero, jx.constant(size),
                        jx.add(first, column), spec.columns, /*isWhole=*/false,
                        width, shape, sums, panels, jx.mul(column, size));
            });
}

void AttentionBlocks::packAlong(OpBuilder &at, const MemoryRows &from,
                                int64_t size, Value first, Value count,
                                Value panels) {
  Indices ix(at, loc);
  Matrix matrix{from.memory, from.offset, from.row, ix.constant(1), {}};
  forWidths(size, [&](int64_t column, int64_t width) {
    packPanel(at, loc, matrix, first, count, ix.constant(column),
              ix.constant(size), column + width * shape.lanes <= size, width,
              shape, sums, panels, ix.constant(column * kColumns));
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

std::pair<Value, Value> AttentionBlocks::visible(OpBuilder &at, Value row,
                                                 Value last) {
  Indices ix(at, loc);
  Value low = ix.constant(0), high = spec.columns;
  if (spec.left)
    low = ix.max(low,
                 ix.sub(ix.add(spec.position, row), ix.constant(*spec.left)));
  if (spec.right)
    high = ix.min(high, ix.add(ix.add(spec.position, last),
                               ix.constant(*spec.right + 1)));
  return {low, high};
}

std::pair<Value, Value> AttentionBlocks::visibleOf(OpBuilder &at, Value row,
                                                   Value first, Value count) {
  Indices ix(at, loc);
  if (!hasWindow())
    return {ix.constant(0), count};
  Value last =
      ix.min(ix.add(row, shape.rows - 1), ix.sub(spec.rows, ix.constant(1)));
  auto [low, high] = visible(at, row, last);
  auto bound = [&](Value x) {
    return ix.min(ix.max(ix.sub(x, first), ix.constant(0)), count);
  };
  return {bound(low), bound(high)};
}

void AttentionBlocks::emitProducts(OpBuilder &at, Value row, Value live,
                                   Value first, Value count, Value rows,
                                   int64_t depth, Value panels, Value into) {
  auto emitBlock = [&](OpBuilder &here, Value block, Value column,
                       int64_t width) {
    Indices ix(here, loc);
    Value source = ix.mul(ix.add(row, block), depth);
    SmallVector<Value> offsets;
    for (int64_t r = 0; r < shape.rows; ++r)
      offsets.push_back(ix.add(source, r * depth));
    Matrix matrix{rows, {}, {}, ix.constant(1), {}};
    SmallVector<Value> found =
        sumBlock(here, loc, matrix, offsets, ix.constant(0), ix.constant(depth),
                 panels, ix.mul(column, depth), width, shape, sums);
    Value place = ix.add(ix.mul(block, kColumns), column);
    for (int64_t r = 0; r < shape.rows; ++r)
      for (int64_t v = 0; v < width; ++v)
        vector::StoreOp::create(here, loc, found[r * width + v], into,
                                ix.add(place, r * kColumns + v * shape.lanes));
  };
  forPanels(
      at, loc, count, shape,
      [&](OpBuilder &outer, Value column, int64_t width) {
        forBlocks(outer, live, [&](OpBuilder &inner, Value block) {
          if (!hasWindow())
            return emitBlock(inner, block, column, width);
          Indices ix(inner, loc);
          auto [begin, end] =
              visibleOf(inner, ix.add(row, block), first, count);
          Value sees = arith::AndIOp::create(
              inner, loc, ix.less(begin, ix.add(column, width * shape.lanes)),
              ix.less(column, end));
          scf::IfOp::create(inner, loc, sees, [&](OpBuilder &then, Location) {
            emitBlock(then, block, column, width);
            scf::YieldOp::create(then, loc);
          });
        });
      });
}

void AttentionBlocks::addProducts(OpBuilder &at, Value row, Value live,
                                  Value first, Value count, Value weights,
                                  Value panels, int64_t size, Value shrink,
                                  Value out) {
  int64_t columns = pad(size);
  forWidths(size, [&](int64_t column, int64_t width) {
    forBlocks(at, live, [&](OpBuilder &inner, Value block) {
      Indices ix(inner, loc);
      Value here = ix.add(row, block);
      auto [begin, end] = visibleOf(inner, here, first, count);
      Matrix matrix{weights, {}, {}, ix.constant(1), {}};
      SmallVector<Value> rows;
      Value start = ix.mul(block, kColumns);
      for (int64_t r = 0; r < shape.rows; ++r)
        rows.push_back(ix.add(start, r * kColumns));
      Value depth = ix.max(ix.sub(end, begin), ix.constant(0));
      Value panel =
          ix.add(ix.mul(begin, width * shape.lanes), column * kColumns);
      SmallVector<Value> added =
          sumBlock(inner, loc, matrix, rows, begin, depth, panels, panel, width,
                   shape, sums);
      for (int64_t r = 0; r < shape.rows; ++r) {
        Value less;
        if (shrink)
          less = splat(inner, memref::LoadOp::create(inner, loc, shrink,
                                                     ix.add(block, r)));
        for (int64_t v = 0; v < width; ++v) {
          Value place = ix.add(ix.mul(ix.add(here, r), columns),
                               column + v * shape.lanes);
          Value old = vector::LoadOp::create(inner, loc, vector, out, place);
          Value more = added[r * width + v];
          Value next = shrink
                           ? vector::FMAOp::create(inner, loc, old, less, more)
                                 .getResult()
                           : sum(inner, old, more);
          vector::StoreOp::create(inner, loc, next, out, place);
        }
      }
    });
  });
}

//===----------------------------------------------------------------------===//
// What changes scores
//===----------------------------------------------------------------------===//

void AttentionBlocks::readPairs(OpBuilder &at, Value row, Value first,
                                Value begin, Value end) {
  auto place = [&](const MemoryPairs &pairs) -> Value {
    Indices ix(at, loc);
    if (!pairs)
      return {};
    return ix.add(pairs.offset,
                  ix.add(ix.mul(row, pairs.row), ix.mul(first, pairs.column)));
  };
  Value bias = place(spec.bias), mask = place(spec.mask);
  Indices(at, loc).loop(begin, end, 1, [&](OpBuilder &inner, Value column) {
    Indices ix(inner, loc);
    Value found = number(inner, 0, type);
    if (spec.bias)
      found = load(inner, spec.bias.memory,
                   ix.add(bias, ix.mul(column, spec.bias.column)), 0);
    if (spec.mask) {
      Value byte = memref::LoadOp::create(
          inner, loc, spec.mask.memory,
          ix.add(mask, ix.mul(column, spec.mask.column)));
      Value sees =
          arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne, byte,
                                arith::ConstantIntOp::create(inner, loc, 0, 8));
      found =
          arith::SelectOp::create(inner, loc, sees, found, lowest(inner, type));
    }
    memref::StoreOp::create(inner, loc, found, extra, column);
  });
}

Value AttentionBlocks::seesAll(OpBuilder &at, Value row, Value first,
                               Value from, Value to) {
  Indices ix(at, loc);
  auto [low, high] = visible(at, row, row);
  Value result = ix.compare(arith::CmpIPredicate::sle, ix.add(first, to), high);
  if (spec.left)
    result = arith::AndIOp::create(
        at, loc, result,
        ix.compare(arith::CmpIPredicate::sle, low, ix.add(first, from)));
  return result;
}

AttentionBlocks::Bounds AttentionBlocks::getBounds(OpBuilder &at, Value row,
                                                   Value first) {
  Indices ix(at, loc);
  auto i32 = VectorType::get({shape.lanes}, at.getI32Type());
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < shape.lanes; ++i)
    numbers.push_back(i);
  Value lanes = arith::ConstantOp::create(
      at, loc, DenseElementsAttr::get(i32, ArrayRef(numbers)));
  // Relative to the block, so that they fit into i32.
  auto bound = [&](Value x) -> Value {
    Value relative =
        ix.min(ix.max(ix.sub(x, first), ix.constant(0)), ix.constant(kColumns));
    Value narrow =
        arith::IndexCastOp::create(at, loc, at.getI32Type(), relative);
    return vector::BroadcastOp::create(at, loc, i32, narrow);
  };
  auto [begin, end] = visible(at, row, row);
  Value low = bound(begin);
  return {lanes, low, bound(end)};
}

Value AttentionBlocks::changeScores(OpBuilder &at, Value scores, Value v,
                                    const Bounds *bounds) {
  Value nothing = lowest(at, vector);
  if (changesPairs()) {
    Value more = vector::LoadOp::create(at, loc, vector, extra, v);
    scores = sum(at, scores, more);
    // Masking selects: a score that is NaN does not get through.
    if (spec.mask)
      scores = arith::SelectOp::create(
          at, loc,
          arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, more,
                                nothing),
          nothing, scores);
  }
  if (!bounds)
    return scores;
  Value column = arith::IndexCastOp::create(at, loc, at.getI32Type(), v);
  column = arith::AddIOp::create(
      at, loc, bounds->lanes,
      vector::BroadcastOp::create(at, loc, bounds->lanes.getType(), column));
  auto is = [&](arith::CmpIPredicate predicate, Value limit) {
    return arith::CmpIOp::create(at, loc, predicate, column, limit);
  };
  Value sees =
      arith::AndIOp::create(at, loc, is(arith::CmpIPredicate::sge, bounds->low),
                            is(arith::CmpIPredicate::slt, bounds->high));
  return arith::SelectOp::create(at, loc, sees, scores, nothing);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void AttentionBlocks::writeRows(
    OpBuilder &at, Value from, int64_t size, const MemoryRows &to,
    Value accumulate, llvm::function_ref<Value(OpBuilder &, Value)> getFactor) {
  Type element = cast<MemRefType>(to.memory.getType()).getElementType();
  Indices(at, loc).loop(spec.rows, [&](OpBuilder &outer, Value row) {
    Indices ix(outer, loc);
    Value factor = getFactor(outer, row);
    Value factors = splat(outer, factor);
    Value source = ix.mul(row, pad(size));
    Value dest = ix.add(to.offset, ix.mul(row, to.row));
    forElements(outer, size, [&](OpBuilder &inner, Value c, int64_t width) {
      Indices jx(inner, loc);
      Value place = jx.add(dest, c);
      Value part = product(inner, load(inner, from, jx.add(source, c), width),
                           width ? factors : factor);
      if (accumulate) {
        Value zero = number(inner, 0, part.getType());
        Value old = load(inner, to.memory, place, width);
        part = sum(inner, part,
                   arith::SelectOp::create(inner, loc, accumulate, old, zero));
      }
      Type as = width ? Type(vector.clone(element)) : element;
      if (as != part.getType())
        part = arith::TruncFOp::create(inner, loc, as, part);
      if (width)
        vector::StoreOp::create(inner, loc, part, to.memory, place);
      else
        memref::StoreOp::create(inner, loc, part, to.memory, place);
    });
  });
}
