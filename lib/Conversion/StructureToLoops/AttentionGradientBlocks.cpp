//===- AttentionGradientBlocks.cpp - Gradients of attention -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are those whose gradients are written: queries, with columns that are
// keys, or keys, with columns that are queries. What rows and columns are made
// of: of queries q and seed, of keys k and v.
//
// copy the rows; out = 0
// for block of 128 columns that some row sees:
//   copy them into panels; delta = dot(seed, result) of the queries
//   for group of 24 rows:
//     scores (q with k) and products (seed with v)
//     for row: cap, bias, mask, window; weights = exp(scores - shift) * factor;
//              ds = weights * (products - delta)
//     out += ds * columns (k or q); of keys: out of values += weights * seed
//
// Scores are made twice, for queries and for keys: sums of both at once would
// need memory that threads share, in an order that is theirs (R8). The method
// is that of FlashAttention-2 (Dao, 2023).
//
//===----------------------------------------------------------------------===//

#include "AttentionBlocks.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

/// Seen from keys, a window is turned round: key j is seen by query i if i is
/// at most `right` before and `left` behind j - position.
static ScoreSpec getSpec(OpBuilder &b, ragged::TileAttentionGradientOp op) {
  ScoreSpec spec = getSpec(op, op.getQueries(), op.getKeys());
  if (!op.getKeyDest())
    return spec;
  spec.bias = spec.bias.transposed();
  spec.mask = spec.mask.transposed();
  std::swap(spec.rows, spec.columns);
  std::swap(spec.left, spec.right);
  Indices ix(b, op.getLoc());
  spec.position = ix.sub(ix.constant(0), op.getPosition());
  return spec;
}

namespace {
class GradientEmitter : AttentionBlocks {
public:
  GradientEmitter(OpBuilder &b, ragged::TileAttentionGradientOp op,
                  int64_t vectorBits)
      : AttentionBlocks(
            b, op.getLoc(),
            cast<MemRefType>(op.getQuery().getType()).getElementType(),
            vectorBits, getSpec(b, op)),
        op(op), ofKeys(op.getKeyDest()), head(op.getHeadSize()),
        width(op.getValueSize()),
        seed{op.getSeed(), op.getSeedOffset(), op.getSeedRow()} {}
  void run();

private:
  void readNormalizer(OpBuilder &at, Value first, Value count);
  Value getDelta(OpBuilder &at, Value query);
  void clearBias(OpBuilder &at);
  void emitRow(OpBuilder &at, Value row, Value local, Value first, Value begin,
               Value end);
  void emitVectors(OpBuilder &at, Value row, Value local, Value first,
                   Value from, Value to, bool isMasked);
  void addBias(OpBuilder &at, Value row, Value first, Value begin, Value end);

  ragged::TileAttentionGradientOp op;
  bool ofKeys;
  int64_t head, width;
  MemoryRows seed;
  /// Of queries: all rows, or the columns of a block.
  Value shift, factor, delta;
  Value scores, products, weights;
};
} // namespace

/// dot(seed, result) of a query, added up as products are: where a query sees
/// one key its result is that value, and the difference 0.
Value GradientEmitter::getDelta(OpBuilder &at, Value query) {
  Indices ix(at, loc);
  Value first = ix.add(op.getSeedOffset(), ix.mul(query, op.getSeedRow()));
  Value second = ix.add(op.getResultOffset(), ix.mul(query, op.getResultRow()));
  auto dot = scf::ForOp::create(
      at, loc, ix.constant(0), ix.constant(width), ix.constant(1),
      number(at, 0, vector),
      [&](OpBuilder &inner, Location, Value c, ValueRange sofar) {
        Indices jx(inner, loc);
        Value x = load(inner, op.getSeed(), jx.add(first, c), 0);
        Value y = load(inner, op.getResult(), jx.add(second, c), 0);
        scf::YieldOp::create(inner, loc,
                             sums.multiplyAdd(inner, loc, splat(inner, x),
                                              splat(inner, y), sofar[0]));
      });
  return vector::ExtractOp::create(at, loc, dot.getResult(0), int64_t(0));
}

/// Of queries [first, first + count).
void GradientEmitter::readNormalizer(OpBuilder &at, Value first, Value count) {
  Indices(at, loc).loop(count, [&](OpBuilder &inner, Value i) {
    Indices ix(inner, loc);
    Value query = ix.add(first, i);
    Value place =
        ix.add(op.getNormalizerOffset(), ix.mul(query, op.getNormalizerRow()));
    auto copy = [&](Value from, Value to) {
      memref::StoreOp::create(
          inner, loc,
          memref::LoadOp::create(inner, loc, op.getNormalizer(), from), to, i);
    };
    copy(place, shift);
    copy(ix.add(place, 1), factor);
    memref::StoreOp::create(inner, loc, getDelta(inner, query), delta, i);
  });
}

/// Keys that no query of a block sees are not gone through later.
void GradientEmitter::clearBias(OpBuilder &at) {
  MemoryPairs dest(op.getBiasDest(), op.getBiasDestAccess());
  Value no = arith::XOrIOp::create(at, loc, op.getAccumulate(),
                                   arith::ConstantIntOp::create(at, loc, 1, 1));
  Value zero = arith::ConstantOp::create(
      at, loc,
      b.getZeroAttr(cast<MemRefType>(dest.memory.getType()).getElementType()));
  scf::IfOp::create(at, loc, no, [&](OpBuilder &then, Location) {
    Indices(then, loc).loop(spec.rows, [&](OpBuilder &outer, Value row) {
      Indices ox(outer, loc);
      Value start = ox.add(dest.offset, ox.mul(row, dest.row));
      ox.loop(spec.columns, [&](OpBuilder &inner, Value column) {
        Indices ix(inner, loc);
        memref::StoreOp::create(inner, loc, zero, dest.memory,
                                ix.add(start, ix.mul(column, dest.column)));
      });
    });
    scf::YieldOp::create(then, loc);
  });
}

/// Scores and products of one row become weights and gradients of scores, in
/// vectors [from, to) of the block. `isMasked` as in changeScores.
void GradientEmitter::emitVectors(OpBuilder &at, Value row, Value local,
                                  Value first, Value from, Value to,
                                  bool isMasked) {
  Indices ix(at, loc);
  Bounds bounds;
  if (isMasked)
    bounds = getBounds(at, row, first);
  // Numbers of queries: those of the row, or a vector of those of the columns.
  const Value numbers[] = {shift, factor, delta};
  SmallVector<Value> own;
  if (!ofKeys)
    for (Value memory : numbers)
      own.push_back(splat(at, memref::LoadOp::create(at, loc, memory, row)));
  Value start = ix.mul(local, kColumns);
  ix.loop(from, to, shape.lanes, [&](OpBuilder &inner, Value v) {
    Value place = Indices(inner, loc).add(start, v);
    SmallVector<Value> of(own);
    if (ofKeys)
      for (Value memory : numbers)
        of.push_back(vector::LoadOp::create(inner, loc, vector, memory, v));
    Value score = vector::LoadOp::create(inner, loc, vector, scores, place);
    Value bent, zero = number(inner, 0, vector);
    if (spec.softCap) {
      bent = math::TanhOp::create(inner, loc, score);
      score = product(inner, bent, number(inner, *spec.softCap, vector));
    }
    score = changeScores(inner, score, v, isMasked ? &bounds : nullptr);
    // Above 0 by roundings at most: the shift is the largest score.
    Value weight = product(
        inner,
        exponential(inner, arith::SubFOp::create(inner, loc, score, of[0])),
        of[1]);
    if (ofKeys)
      vector::StoreOp::create(inner, loc, weight, weights, place);
    // What has no weight has no gradient, however bad it is (R4).
    Value none = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                       weight, zero);
    auto select = [&](Value gradient) -> Value {
      return arith::SelectOp::create(inner, loc, none, zero, gradient);
    };
    Value gradient =
        vector::LoadOp::create(inner, loc, vector, products, place);
    gradient = product(inner, weight,
                       arith::SubFOp::create(inner, loc, gradient, of[2]));
    if (op.getBiasDest())
      vector::StoreOp::create(inner, loc, select(gradient), extra, v);
    if (bent) {
      Value slope = arith::SubFOp::create(inner, loc, number(inner, 1, vector),
                                          product(inner, bent, bent));
      gradient = product(inner, gradient, slope);
    }
    vector::StoreOp::create(inner, loc, select(gradient), scores, place);
  });
}

/// The gradients of scores of one query, in `extra`, are those of the bias,
/// which may be summed in a wider type.
void GradientEmitter::addBias(OpBuilder &at, Value row, Value first,
                              Value begin, Value end) {
  MemoryPairs dest(op.getBiasDest(), op.getBiasDestAccess());
  Indices ox(at, loc);
  Value start = ox.add(
      dest.offset, ox.add(ox.mul(row, dest.row), ox.mul(first, dest.column)));
  Type wide = cast<MemRefType>(dest.memory.getType()).getElementType();
  ox.loop(begin, end, 1, [&](OpBuilder &inner, Value column) {
    Indices ix(inner, loc);
    Value place = ix.add(start, ix.mul(column, dest.column));
    Value found = memref::LoadOp::create(inner, loc, extra, column);
    if (wide != type)
      found = arith::ExtFOp::create(inner, loc, wide, found);
    Value old = memref::LoadOp::create(inner, loc, dest.memory, place);
    old = arith::SelectOp::create(
        inner, loc, op.getAccumulate(), old,
        arith::ConstantOp::create(inner, loc, b.getZeroAttr(wide)));
    memref::StoreOp::create(inner, loc, sum(inner, old, found), dest.memory,
                            place);
  });
}

void GradientEmitter::emitRow(OpBuilder &at, Value row, Value local,
                              Value first, Value begin, Value end) {
  Value own = Indices(at, loc).add(row, local);
  auto [from, to] = vectorsOf(at, begin, end);
  if (changesPairs())
    readPairs(at, own, first, begin, end);
  auto either = [&, from = from, to = to](bool isMasked) {
    return [&, from, to, isMasked](OpBuilder &inner, Location) {
      emitVectors(inner, own, local, first, from, to, isMasked);
      scf::YieldOp::create(inner, loc);
    };
  };
  scf::IfOp::create(at, loc, seesAll(at, own, first, from, to),
                    either(/*isMasked=*/false), either(/*isMasked=*/true));
  if (op.getBiasDest())
    addBias(at, own, first, begin, end);
}

void GradientEmitter::run() {
  MemoryRows query{op.getQuery(), op.getQueryOffset(), op.getQueryRow()};
  MemoryRows key{op.getKey(), op.getKeyOffset(), op.getKeyRow()};
  MemoryRows value{op.getValue(), op.getValueOffset(), op.getValueRow()};
  // What scores are made of, and what products are.
  MemoryRows rows = ofKeys ? key : query, columns = ofKeys ? query : key;
  MemoryRows seedRows = ofKeys ? value : seed;
  MemoryRows seedColumns = ofKeys ? seed : value;
  Value scored = allocate(kMostRows * head);
  Value seeded = allocate(kMostRows * width);
  Value scorePanels = allocate(head * kColumns);
  Value seedPanels = allocate(width * kColumns);
  Value panels = allocate(pad(head) * kColumns);
  Value out = allocate(kMostRows * pad(head));
  Value valuePanels, valueOut;
  scores = allocate(kGroup * kColumns);
  products = allocate(kGroup * kColumns);
  if (ofKeys) {
    valuePanels = allocate(pad(width) * kColumns);
    valueOut = allocate(kMostRows * pad(width));
    weights = allocate(kGroup * kColumns);
  }
  if (changesPairs())
    extra = allocate(kColumns);
  for (Value *numbers : {&shift, &factor, &delta})
    *numbers = allocate(ofKeys ? kColumns : kMostRows);

  Indices ix(b, loc);
  copyRows(b, rows, head, getRowScale(), scored);
  copyRows(b, seedRows, width, 1, seeded);
  clearRows(b, out, head);
  if (ofKeys)
    clearRows(b, valueOut, width);
  else
    readNormalizer(b, ix.constant(0), spec.rows);
  if (op.getBiasDest() && hasWindow())
    clearBias(b);
  forGroups(
      b,
      [&](OpBuilder &at, Value first, Value count) {
        packAcross(at, columns, head, first, count, scorePanels);
        packAcross(at, seedColumns, width, first, count, seedPanels);
        packAlong(at, columns, head, first, count, panels);
        if (!ofKeys)
          return;
        packAlong(at, seed, width, first, count, valuePanels);
        readNormalizer(at, first, count);
      },
      [&](OpBuilder &at, Value row, Value live, Value first, Value count) {
        emitProducts(at, row, live, first, count, scored, head, scorePanels,
                     scores);
        emitProducts(at, row, live, first, count, seeded, width, seedPanels,
                     products);
        forRows(at, row, live, first, count,
                [&](OpBuilder &inner, Value local, Value begin, Value end) {
                  emitRow(inner, row, local, first, begin, end);
                });
        addProducts(at, row, live, first, count, scores, panels, head,
                    /*shrink=*/{}, out);
        if (ofKeys)
          addProducts(at, row, live, first, count, weights, valuePanels, width,
                      /*shrink=*/{}, valueOut);
      });
  auto write = [&](Value from, int64_t size, Value memory, ValueRange access,
                   Value accumulate, double scale) {
    writeRows(b, from, size, {memory, access[0], access[1]}, accumulate,
              [&](OpBuilder &at, Value) { return number(at, scale, type); });
  };
  if (!ofKeys)
    return write(out, head, op.getQueryDest(), op.getQueryDestAccess(), {},
                 spec.scale);
  write(out, head, op.getKeyDest(), op.getKeyDestAccess(), op.getAccumulate(),
        spec.scale);
  write(valueOut, width, op.getValueDest(), op.getValueDestAccess(),
        op.getAccumulate(), 1);
}

void nested::tile::emitAttentionGradient(OpBuilder &b,
                                         ragged::TileAttentionGradientOp op,
                                         int64_t vectorBits) {
  GradientEmitter(b, op, vectorBits).run();
}
