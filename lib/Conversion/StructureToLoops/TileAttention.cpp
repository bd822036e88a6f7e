//===- TileAttention.cpp - Attention in register blocks -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// copy the queries, scaled
// largest = -inf, sum = 0, out = 0 for each query
// for block of 128 keys that some query sees:
//   copy its keys and its values into panels
//   for group of 24 queries:
//     for panel of keys, for block of 6 queries: scores
//     for query: cap, bias, mask, window; weights = exp(scores - new largest);
//                sum = sum * shrink + sum of weights
//     for panel of values, for block of 6 queries:
//       out = out * shrink + weights * values
// out / sum
//
// A panel, the queries of a group and their scores fit into the first-level
// cache, the panels of a block into the second-level one.
//
//===----------------------------------------------------------------------===//

#include "AttentionBlocks.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace nested {
#define GEN_PASS_DEF_TILEATTENTION
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {
struct TileAttention : public nested::impl::TileAttentionBase<TileAttention> {
  using TileAttentionBase::TileAttentionBase;
  void runOnOperation() override;
};

class AttentionEmitter : AttentionBlocks {
public:
  AttentionEmitter(OpBuilder &b, ragged::TileAttentionOp op, int64_t vectorBits)
      : AttentionBlocks(
            b, op.getLoc(),
            cast<MemRefType>(op.getQuery().getType()).getElementType(),
            vectorBits, getSpec(op, op.getRows(), op.getKeys())),
        op(op), head(op.getHeadSize()), width(op.getValueSize()) {}
  void run();

private:
  /// The larger one in one instruction; `y` where one is NaN.
  Value larger(OpBuilder &at, Value x, Value y) {
    Value more =
        arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OGT, x, y);
    return arith::SelectOp::create(at, loc, more, x, y);
  }
  void reset(OpBuilder &at);
  Value emitLargest(OpBuilder &at, Value query, Value local, Value first,
                    Value from, Value to, bool isMasked);
  void emitRow(OpBuilder &at, Value row, Value local, Value first, Value begin,
               Value end);
  void writeOut(OpBuilder &at);

  ragged::TileAttentionOp op;
  int64_t head, width;
  Value queries, keyPanels, valuePanels, largest, total, shrink, out, scores;
};
} // namespace

void AttentionEmitter::reset(OpBuilder &at) {
  Indices(at, loc).loop(op.getRows(), [&](OpBuilder &inner, Value i) {
    memref::StoreOp::create(inner, loc, lowest(inner, type), largest, i);
    memref::StoreOp::create(inner, loc, number(inner, 0, type), total, i);
  });
  clearRows(at, out, width);
}

/// The largest score of a query among vectors [from, to) of the block, after
/// all that changes scores. `isMasked`: -inf for keys that the query does not
/// see, and for those behind the last one.
Value AttentionEmitter::emitLargest(OpBuilder &at, Value query, Value local,
                                    Value first, Value from, Value to,
                                    bool isMasked) {
  Indices ix(at, loc);
  Bounds bounds;
  if (isMasked)
    bounds = getBounds(at, query, first);
  Value row = ix.mul(local, kColumns);
  auto loop = scf::ForOp::create(
      at, loc, from, to, ix.constant(shape.lanes), lowest(at, vector),
      [&](OpBuilder &inner, Location, Value v, ValueRange most) {
        Value place = Indices(inner, loc).add(row, v);
        Value old = vector::LoadOp::create(inner, loc, vector, scores, place);
        Value score = old;
        if (spec.softCap)
          score = product(inner, math::TanhOp::create(inner, loc, score),
                          number(inner, *spec.softCap, vector));
        score = changeScores(inner, score, v, isMasked ? &bounds : nullptr);
        if (score != old)
          vector::StoreOp::create(inner, loc, score, scores, place);
        scf::YieldOp::create(inner, loc, larger(inner, most[0], score));
      });
  return loop.getResult(0);
}

/// Scores of one query become weights; keys [begin, end) of the block are all
/// that its block of queries sees.
void AttentionEmitter::emitRow(OpBuilder &at, Value row, Value local,
                               Value first, Value begin, Value end) {
  Indices ix(at, loc);
  Value query = ix.add(row, local);
  auto [from, to] = vectorsOf(at, begin, end);
  if (changesPairs())
    readPairs(at, query, first, begin, end);
  auto either = [&, from = from, to = to](bool isMasked) {
    return [&, from, to, isMasked](OpBuilder &inner, Location) {
      scf::YieldOp::create(
          inner, loc,
          emitLargest(inner, query, local, first, from, to, isMasked));
    };
  };
  Value most =
      scf::IfOp::create(at, loc, seesAll(at, query, first, from, to),
                        either(/*isMasked=*/false), either(/*isMasked=*/true))
          .getResult(0);
  Value here = fold(at, most, [&](OpBuilder &inner, Value x, Value y) {
    return larger(inner, x, y);
  });
  // The new largest score, and what the old sums shrink by.
  Value old = memref::LoadOp::create(at, loc, largest, query);
  Value now = larger(at, old, here);
  memref::StoreOp::create(at, loc, now, largest, query);
  // While a query has seen no key, its weights are exp(-inf - 0).
  Value unseen = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, now,
                                       lowest(at, type));
  Value base =
      arith::SelectOp::create(at, loc, unseen, number(at, 0, type), now);
  Value less = vector::ExtractOp::create(
      at, loc,
      exponential(at, splat(at, arith::SubFOp::create(at, loc, old, base))),
      int64_t(0));
  memref::StoreOp::create(at, loc, less, shrink, local);
  Value shift = splat(at, base), place = ix.mul(local, kColumns);
  auto weights = scf::ForOp::create(
      at, loc, from, to, ix.constant(shape.lanes), number(at, 0, vector),
      [&](OpBuilder &inner, Location, Value v, ValueRange sofar) {
        Value where = Indices(inner, loc).add(place, v);
        Value score = vector::LoadOp::create(inner, loc, vector, scores, where);
        Value weight =
            exponential(inner, arith::SubFOp::create(inner, loc, score, shift));
        vector::StoreOp::create(inner, loc, weight, scores, where);
        scf::YieldOp::create(inner, loc, sum(inner, sofar[0], weight));
      });
  Value added =
      fold(at, weights.getResult(0), [&](OpBuilder &inner, Value x, Value y) {
        return sum(inner, x, y);
      });
  Value before = memref::LoadOp::create(at, loc, total, query);
  memref::StoreOp::create(at, loc, sum(at, product(at, before, less), added),
                          total, query);
}

/// out / sum; 0 for queries that have seen no key (R5).
void AttentionEmitter::writeOut(OpBuilder &at) {
  MemoryRows dest{op.getDest(), op.getDestOffset(), op.getDestRow()};
  writeRows(
      at, out, width, dest, /*accumulate=*/{},
      [&](OpBuilder &inner, Value row) -> Value {
        Value zero = number(inner, 0, type);
        Value sum = memref::LoadOp::create(inner, loc, total, row);
        Value empty = arith::CmpFOp::create(
            inner, loc, arith::CmpFPredicate::OEQ, sum, zero);
        Value inverse = arith::SelectOp::create(
            inner, loc, empty, zero,
            arith::DivFOp::create(inner, loc, number(inner, 1, type), sum));
        if (!op.getNormalizer())
          return inverse;
        Indices ix(inner, loc);
        Value place = ix.add(op.getNormalizerAccess()[0],
                             ix.mul(row, op.getNormalizerAccess()[1]));
        Value most = memref::LoadOp::create(inner, loc, largest, row);
        Value shift = arith::SelectOp::create(inner, loc, empty, zero, most);
        memref::StoreOp::create(inner, loc, shift, op.getNormalizer(), place);
        memref::StoreOp::create(inner, loc, inverse, op.getNormalizer(),
                                ix.add(place, 1));
        return inverse;
      });
}

void AttentionEmitter::run() {
  queries = allocate(kMostRows * head);
  keyPanels = allocate(head * kColumns);
  valuePanels = allocate(pad(width) * kColumns);
  largest = allocate(kMostRows);
  total = allocate(kMostRows);
  shrink = allocate(kGroup);
  out = allocate(kMostRows * pad(width));
  scores = allocate(kGroup * kColumns);
  if (changesPairs())
    extra = allocate(kColumns);
  MemoryRows query{op.getQuery(), op.getQueryOffset(), op.getQueryRow()};
  MemoryRows key{op.getKey(), op.getKeyOffset(), op.getKeyRow()};
  MemoryRows value{op.getValue(), op.getValueOffset(), op.getValueRow()};
  copyRows(b, query, head, getRowScale(), queries);
  reset(b);
  forGroups(
      b,
      [&](OpBuilder &at, Value first, Value count) {
        packAcross(at, key, head, first, count, keyPanels);
        packAlong(at, value, width, first, count, valuePanels);
      },
      [&](OpBuilder &at, Value row, Value live, Value first, Value count) {
        emitProducts(at, row, live, first, count, queries, head, keyPanels,
                     scores);
        forRows(at, row, live, first, count,
                [&](OpBuilder &inner, Value local, Value begin, Value end) {
                  emitRow(inner, row, local, first, begin, end);
                });
        addProducts(at, row, live, first, count, scores, valuePanels, width,
                    shrink, out);
      });
  writeOut(b);
}

void TileAttention::runOnOperation() {
  if (!getOperation()->hasAttr(kKernelAttr))
    return;
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (isa<ragged::TileAttentionOp, ragged::TileAttentionGradientOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    if (auto forward = dyn_cast<ragged::TileAttentionOp>(op))
      AttentionEmitter(b, forward, vectorBits).run();
    else
      emitAttentionGradient(b, cast<ragged::TileAttentionGradientOp>(op),
                            vectorBits);
    op->erase();
  }
}
