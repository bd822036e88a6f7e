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

#include "MatrixBlocks.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <limits>

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

/// Queries whose scores are made at a time, and the keys of them.
constexpr int64_t kGroup = 24, kKeys = 128;

Type getSumType(Type type) {
  return type.isF64() ? type : Float32Type::get(type.getContext());
}

class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &b, ragged::TileAttentionOp op, int64_t vectorBits)
      : b(b), op(op), loc(op.getLoc()),
        type(getSumType(
            cast<MemRefType>(op.getQuery().getType()).getElementType())),
        shape(type, vectorBits), sums(type, /*isBool=*/false),
        vector(shape.getVector()), head(op.getHeadSize()),
        columns((op.getValueSize() + shape.lanes - 1) / shape.lanes *
                shape.lanes) {}
  void run();

private:
  Value number(OpBuilder &at, double value, Type as) {
    return arith::ConstantOp::create(
        at, loc, as,
        isa<VectorType>(as)
            ? cast<TypedAttr>(DenseElementsAttr::get(
                  cast<VectorType>(as), b.getFloatAttr(type, value)))
            : cast<TypedAttr>(b.getFloatAttr(type, value)));
  }
  Value lowest(OpBuilder &at, Type as) {
    return number(at, -std::numeric_limits<double>::infinity(), as);
  }
  Value splat(OpBuilder &at, Value x) {
    return vector::BroadcastOp::create(at, loc, vector, x);
  }
  /// The larger one in one instruction; `y` where one is NaN.
  Value larger(OpBuilder &at, Value x, Value y) {
    Value more =
        arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OGT, x, y);
    return arith::SelectOp::create(at, loc, more, x, y);
  }
  Value sum(OpBuilder &at, Value x, Value y) {
    return arith::AddFOp::create(at, loc, x, y);
  }
  /// e^x for numbers that are not positive.
  Value exponential(OpBuilder &at, Value x) {
    auto result = math::ExpOp::create(at, loc, x);
    result->setAttr(kNotPositiveAttr, at.getUnitAttr());
    return result;
  }
  Value fold(OpBuilder &at, Value x,
             llvm::function_ref<Value(OpBuilder &, Value, Value)> combine);
  bool hasWindow() { return op.getLeft() || op.getRight(); }

  void forColumns(llvm::function_ref<void(int64_t column, int64_t width)> body);
  void forBlocks(OpBuilder &at, Value live,
                 llvm::function_ref<void(OpBuilder &, Value block)> body);
  void copyQueries(OpBuilder &at);
  void reset(OpBuilder &at);
  void packKeys(OpBuilder &at, Value first, Value count);
  void emitScores(OpBuilder &at, Value row, Value live, Value first,
                  Value count);
  void emitWeights(OpBuilder &at, Value row, Value live, Value first,
                   Value count);
  void emitRow(OpBuilder &at, Value row, Value local, Value first, Value begin,
               Value end);
  Value emitLargest(OpBuilder &at, Value query, Value local, Value first,
                    Value from, Value to, bool isMasked);
  void readPairs(OpBuilder &at, Value query, Value first, Value begin,
                 Value end);
  void emitOut(OpBuilder &at, Value row, Value live, Value first, Value count);
  void writeOut(OpBuilder &at);
  /// The bounds [low, high) of keys that queries [row, last] see.
  std::pair<Value, Value> visible(OpBuilder &at, Value row, Value last);
  /// Those of a block of queries, from `first` on and at most `count`.
  std::pair<Value, Value> visibleOf(OpBuilder &at, Value row, Value first,
                                    Value count);

  OpBuilder &b;
  ragged::TileAttentionOp op;
  Location loc;
  Type type;
  BlockShape shape;
  Sums sums;
  VectorType vector;
  int64_t head, columns;
  Value queries, keyPanels, valuePanels, largest, total, shrink, out, scores,
      extra;
};
} // namespace

/// All elements of a vector in one, halves with each other.
Value AttentionEmitter::fold(
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

/// Columns of values as panels: wide ones, then what is left.
void AttentionEmitter::forColumns(
    llvm::function_ref<void(int64_t, int64_t)> body) {
  int64_t column = 0;
  for (int64_t width = shape.vectors; width >= 1; width /= 2)
    for (; column + width * shape.lanes <= columns;
         column += width * shape.lanes)
      body(column, width);
}

/// Blocks of 6 queries of a group.
void AttentionEmitter::forBlocks(
    OpBuilder &at, Value live,
    llvm::function_ref<void(OpBuilder &, Value)> body) {
  Indices ix(at, loc);
  ix.loop(ix.constant(0), live, shape.rows, body);
}

/// Queries are side by side, and blocks are whole: behind the last query it is
/// copied again.
void AttentionEmitter::copyQueries(OpBuilder &at) {
  Indices ix(at, loc);
  Value last = ix.sub(op.getRows(), ix.constant(1));
  Value rows = ix.mul(ix.ceilDiv(op.getRows(), shape.rows), shape.rows);
  double scale = op.getScale().convertToDouble();
  if (op.getSoftCap())
    scale /= op.getSoftCap()->convertToDouble();
  Type element = cast<MemRefType>(op.getQuery().getType()).getElementType();
  int64_t whole = head / shape.lanes * shape.lanes;
  ix.loop(rows, [&](OpBuilder &outer, Value row) {
    Indices ox(outer, loc);
    Value from = ox.add(op.getQueryOffset(),
                        ox.mul(ox.min(row, last), op.getQueryRow()));
    Value to = ox.mul(row, head);
    ox.loop(ox.constant(0), ox.constant(whole), shape.lanes,
            [&](OpBuilder &inner, Value c) {
              Indices jx(inner, loc);
              Value part = vector::LoadOp::create(
                  inner, loc, VectorType::get({shape.lanes}, element),
                  op.getQuery(), jx.add(from, c));
              part = arith::MulFOp::create(inner, loc,
                                           sums.widen(inner, loc, part),
                                           number(inner, scale, vector));
              vector::StoreOp::create(inner, loc, part, queries, jx.add(to, c));
            });
    ox.loop(ox.constant(whole), ox.constant(head), 1,
            [&](OpBuilder &inner, Value c) {
              Indices jx(inner, loc);
              Value part = memref::LoadOp::create(inner, loc, op.getQuery(),
                                                  jx.add(from, c));
              part = arith::MulFOp::create(inner, loc,
                                           sums.widen(inner, loc, part),
                                           number(inner, scale, type));
              memref::StoreOp::create(inner, loc, part, queries, jx.add(to, c));
            });
  });
}

void AttentionEmitter::reset(OpBuilder &at) {
  Indices ix(at, loc);
  ix.loop(op.getRows(), [&](OpBuilder &inner, Value i) {
    memref::StoreOp::create(inner, loc, lowest(inner, type), largest, i);
    memref::StoreOp::create(inner, loc, number(inner, 0, type), total, i);
  });
  Value size =
      ix.mul(ix.mul(ix.ceilDiv(op.getRows(), shape.rows), shape.rows), columns);
  ix.loop(ix.constant(0), size, shape.lanes, [&](OpBuilder &inner, Value i) {
    vector::StoreOp::create(inner, loc, number(inner, 0, vector), out, i);
  });
}

void AttentionEmitter::packKeys(OpBuilder &at, Value first, Value count) {
  Indices ix(at, loc);
  Value zero = ix.constant(0), one = ix.constant(1);
  // Rows of a panel are the elements of a head.
  Matrix matrix{op.getKey(), op.getKeyOffset(), one, op.getKeyRow(), {}};
  forPanels(at, loc, count, shape,
            [&](OpBuilder &inner, Value column, int64_t width) {
              Indices jx(inner, loc);
              packPanel(inner, loc, matrix, zero, jx.constant(head),
                        jx.add(first, column), op.getKeys(), /*isWhole=*/false,
                        width, shape, sums, keyPanels, jx.mul(column, head));
            });
  Matrix values{op.getValue(), op.getValueOffset(), op.getValueRow(), one, {}};
  forColumns([&](int64_t column, int64_t width) {
    packPanel(at, loc, values, first, count, ix.constant(column),
              ix.constant(op.getValueSize()),
              column + width * shape.lanes <= int64_t(op.getValueSize()), width,
              shape, sums, valuePanels, ix.constant(column * kKeys));
  });
}

std::pair<Value, Value> AttentionEmitter::visible(OpBuilder &at, Value row,
                                                  Value last) {
  Indices ix(at, loc);
  Value low = ix.constant(0), high = op.getKeys();
  if (std::optional<uint64_t> left = op.getLeft())
    low =
        ix.max(low, ix.sub(ix.add(op.getPosition(), row), ix.constant(*left)));
  if (std::optional<uint64_t> right = op.getRight())
    high = ix.min(
        high, ix.add(ix.add(op.getPosition(), last), ix.constant(*right + 1)));
  return {low, high};
}

std::pair<Value, Value> AttentionEmitter::visibleOf(OpBuilder &at, Value row,
                                                    Value first, Value count) {
  Indices ix(at, loc);
  if (!hasWindow())
    return {ix.constant(0), count};
  Value last =
      ix.min(ix.add(row, shape.rows - 1), ix.sub(op.getRows(), ix.constant(1)));
  auto [low, high] = visible(at, row, last);
  auto bound = [&](Value x) {
    return ix.min(ix.max(ix.sub(x, first), ix.constant(0)), count);
  };
  return {bound(low), bound(high)};
}

void AttentionEmitter::emitScores(OpBuilder &at, Value row, Value live,
                                  Value first, Value count) {
  auto emitBlock = [&](OpBuilder &here, Value block, Value column,
                       int64_t width) {
    Indices ix(here, loc);
    Value query = ix.mul(ix.add(row, block), head);
    SmallVector<Value> offsets;
    for (int64_t r = 0; r < shape.rows; ++r)
      offsets.push_back(ix.add(query, r * head));
    Matrix matrix{queries, {}, {}, ix.constant(1), {}};
    SmallVector<Value> found =
        sumBlock(here, loc, matrix, offsets, ix.constant(0), ix.constant(head),
                 keyPanels, ix.mul(column, head), width, shape, sums);
    Value place = ix.add(ix.mul(block, kKeys), column);
    for (int64_t r = 0; r < shape.rows; ++r)
      for (int64_t v = 0; v < width; ++v)
        vector::StoreOp::create(here, loc, found[r * width + v], scores,
                                ix.add(place, r * kKeys + v * shape.lanes));
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

/// Bias, and -inf where the mask does not hold, of one query and keys [begin,
/// end) of the block, element by element.
void AttentionEmitter::readPairs(OpBuilder &at, Value query, Value first,
                                 Value begin, Value end) {
  auto place = [&](OpBuilder &here, ValueRange access) {
    Indices ix(here, loc);
    return ix.add(access[0],
                  ix.add(ix.mul(query, access[1]), ix.mul(first, access[2])));
  };
  Value bias, mask;
  if (op.getBias())
    bias = place(at, op.getBiasAccess());
  if (op.getMask())
    mask = place(at, op.getMaskAccess());
  Indices(at, loc).loop(begin, end, 1, [&](OpBuilder &inner, Value key) {
    Indices ix(inner, loc);
    Value found = number(inner, 0, type);
    if (op.getBias())
      found = sums.widen(inner, loc,
                         memref::LoadOp::create(
                             inner, loc, op.getBias(),
                             ix.add(bias, ix.mul(key, op.getBiasAccess()[2]))));
    if (op.getMask()) {
      Value byte = memref::LoadOp::create(
          inner, loc, op.getMask(),
          ix.add(mask, ix.mul(key, op.getMaskAccess()[2])));
      Value sees =
          arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ne, byte,
                                arith::ConstantIntOp::create(inner, loc, 0, 8));
      found =
          arith::SelectOp::create(inner, loc, sees, found, lowest(inner, type));
    }
    memref::StoreOp::create(inner, loc, found, extra, key);
  });
}

/// The largest score of a query among vectors [from, to) of the block, after
/// all that changes scores. `isMasked`: -inf for keys that the query does not
/// see, and for those behind the last one.
Value AttentionEmitter::emitLargest(OpBuilder &at, Value query, Value local,
                                    Value first, Value from, Value to,
                                    bool isMasked) {
  Indices ix(at, loc);
  auto i32 = VectorType::get({shape.lanes}, at.getI32Type());
  Value lanes, low, high;
  if (isMasked) {
    SmallVector<int32_t> numbers;
    for (int64_t i = 0; i < shape.lanes; ++i)
      numbers.push_back(i);
    lanes = arith::ConstantOp::create(
        at, loc, DenseElementsAttr::get(i32, ArrayRef(numbers)));
    // Bounds relative to the block, which fit into i32.
    auto bound = [&](Value x) -> Value {
      Value relative =
          ix.min(ix.max(ix.sub(x, first), ix.constant(0)), ix.constant(kKeys));
      Value narrow =
          arith::IndexCastOp::create(at, loc, at.getI32Type(), relative);
      return vector::BroadcastOp::create(at, loc, i32, narrow);
    };
    auto [begin, end] = visible(at, query, query);
    low = bound(begin);
    high = bound(end);
  }
  Value row = ix.mul(local, kKeys);
  auto loop = scf::ForOp::create(
      at, loc, from, to, ix.constant(shape.lanes), lowest(at, vector),
      [&](OpBuilder &inner, Location, Value v, ValueRange most) {
        Indices jx(inner, loc);
        Value place = jx.add(row, v), nothing = lowest(inner, vector);
        Value score = vector::LoadOp::create(inner, loc, vector, scores, place);
        Value old = score;
        if (op.getSoftCap())
          score = arith::MulFOp::create(
              inner, loc, math::TanhOp::create(inner, loc, score),
              number(inner, op.getSoftCap()->convertToDouble(), vector));
        if (op.getBias() || op.getMask()) {
          Value more = vector::LoadOp::create(inner, loc, vector, extra, v);
          score = sum(inner, score, more);
          // Masking selects: a score that is NaN does not get through.
          if (op.getMask())
            score = arith::SelectOp::create(
                inner, loc,
                arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                      more, nothing),
                nothing, score);
        }
        if (isMasked) {
          Value key =
              arith::IndexCastOp::create(inner, loc, inner.getI32Type(), v);
          key = arith::AddIOp::create(
              inner, loc, lanes,
              vector::BroadcastOp::create(inner, loc, i32, key));
          auto is = [&](arith::CmpIPredicate predicate, Value limit) {
            return arith::CmpIOp::create(inner, loc, predicate, key, limit);
          };
          Value sees = arith::AndIOp::create(
              inner, loc, is(arith::CmpIPredicate::sge, low),
              is(arith::CmpIPredicate::slt, high));
          score = arith::SelectOp::create(inner, loc, sees, score, nothing);
        }
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
  Value from = ix.mul(ix.div(begin, shape.lanes), shape.lanes);
  Value to = ix.mul(ix.ceilDiv(end, shape.lanes), shape.lanes);
  if (op.getBias() || op.getMask())
    readPairs(at, query, first, begin, end);
  // The query sees all keys of all vectors.
  auto [low, high] = visible(at, query, query);
  Value isWhole =
      ix.compare(arith::CmpIPredicate::sle, ix.add(first, to), high);
  if (op.getLeft())
    isWhole = arith::AndIOp::create(
        at, loc, isWhole,
        ix.compare(arith::CmpIPredicate::sle, low, ix.add(first, from)));
  auto either = [&](bool isMasked) {
    return [&, isMasked](OpBuilder &inner, Location) {
      scf::YieldOp::create(
          inner, loc,
          emitLargest(inner, query, local, first, from, to, isMasked));
    };
  };
  Value most = scf::IfOp::create(at, loc, isWhole, either(/*isMasked=*/false),
                                 either(/*isMasked=*/true))
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
  Value shift = splat(at, base), place = ix.mul(local, kKeys);
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
  memref::StoreOp::create(
      at, loc, sum(at, arith::MulFOp::create(at, loc, before, less), added),
      total, query);
}

void AttentionEmitter::emitWeights(OpBuilder &at, Value row, Value live,
                                   Value first, Value count) {
  forBlocks(at, live, [&](OpBuilder &outer, Value block) {
    Indices ix(outer, loc);
    auto [begin, end] = visibleOf(outer, ix.add(row, block), first, count);
    Value last = ix.min(ix.add(block, shape.rows), live);
    ix.loop(block, last, 1,
            [&, begin = begin, end = end](OpBuilder &inner, Value local) {
              emitRow(inner, row, local, first, begin, end);
            });
  });
}

void AttentionEmitter::emitOut(OpBuilder &at, Value row, Value live,
                               Value first, Value count) {
  forColumns([&](int64_t column, int64_t width) {
    forBlocks(at, live, [&](OpBuilder &inner, Value block) {
      Indices ix(inner, loc);
      Value query = ix.add(row, block);
      auto [begin, end] = visibleOf(inner, query, first, count);
      Matrix matrix{scores, {}, {}, ix.constant(1), {}};
      SmallVector<Value> rows;
      Value start = ix.mul(block, kKeys);
      for (int64_t r = 0; r < shape.rows; ++r)
        rows.push_back(ix.add(start, r * kKeys));
      Value depth = ix.max(ix.sub(end, begin), ix.constant(0));
      Value panel = ix.add(ix.mul(begin, width * shape.lanes), column * kKeys);
      SmallVector<Value> added =
          sumBlock(inner, loc, matrix, rows, begin, depth, valuePanels, panel,
                   width, shape, sums);
      for (int64_t r = 0; r < shape.rows; ++r) {
        Value less = splat(inner, memref::LoadOp::create(inner, loc, shrink,
                                                         ix.add(block, r)));
        for (int64_t v = 0; v < width; ++v) {
          Value place = ix.add(ix.mul(ix.add(query, r), columns),
                               column + v * shape.lanes);
          Value old = vector::LoadOp::create(inner, loc, vector, out, place);
          Value next = vector::FMAOp::create(inner, loc, old, less,
                                             added[r * width + v]);
          vector::StoreOp::create(inner, loc, next, out, place);
        }
      }
    });
  });
}

/// out / sum; 0 for queries that have seen no key (R5).
void AttentionEmitter::writeOut(OpBuilder &at) {
  Type element = cast<MemRefType>(op.getDest().getType()).getElementType();
  int64_t size = op.getValueSize(), whole = size / shape.lanes * shape.lanes;
  Indices(at, loc).loop(op.getRows(), [&](OpBuilder &inner, Value row) {
    Indices ix(inner, loc);
    Value zero = number(inner, 0, type);
    Value sum = memref::LoadOp::create(inner, loc, total, row);
    Value empty =
        arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, sum, zero);
    Value inverse = arith::SelectOp::create(
        inner, loc, empty, zero,
        arith::DivFOp::create(inner, loc, number(inner, 1, type), sum));
    Value source = ix.mul(row, columns);
    Value dest = ix.add(op.getDestOffset(), ix.mul(row, op.getDestRow()));
    Value factor = splat(inner, inverse);
    auto narrow = [&](OpBuilder &deep, Value x) -> Value {
      if (type == element)
        return x;
      Type as = element;
      if (auto shaped = dyn_cast<VectorType>(x.getType()))
        as = shaped.clone(element);
      return arith::TruncFOp::create(deep, loc, as, x);
    };
    ix.loop(ix.constant(0), ix.constant(whole), shape.lanes,
            [&](OpBuilder &deep, Value c) {
              Indices jx(deep, loc);
              Value part = vector::LoadOp::create(deep, loc, vector, out,
                                                  jx.add(source, c));
              part = arith::MulFOp::create(deep, loc, part, factor);
              vector::StoreOp::create(deep, loc, narrow(deep, part),
                                      op.getDest(), jx.add(dest, c));
            });
    ix.loop(ix.constant(whole), ix.constant(size), 1,
            [&](OpBuilder &deep, Value c) {
              Indices jx(deep, loc);
              Value part =
                  memref::LoadOp::create(deep, loc, out, jx.add(source, c));
              part = arith::MulFOp::create(deep, loc, part, inverse);
              memref::StoreOp::create(deep, loc, narrow(deep, part),
                                      op.getDest(), jx.add(dest, c));
            });
  });
}

void AttentionEmitter::run() {
  auto allocate = [&](int64_t size) {
    return memref::AllocOp::create(
        b, loc, MemRefType::get({std::max<int64_t>(size, 1)}, type));
  };
  constexpr int64_t most = ragged::kMaxTileQueries;
  static_assert(most % kGroup == 0, "groups are whole but for the last one");
  queries = allocate(most * head);
  keyPanels = allocate(head * kKeys);
  valuePanels = allocate(columns * kKeys);
  largest = allocate(most);
  total = allocate(most);
  shrink = allocate(kGroup);
  out = allocate(most * columns);
  scores = allocate(kGroup * kKeys);
  if (op.getBias() || op.getMask())
    extra = allocate(kKeys);
  copyQueries(b);
  reset(b);
  Indices ix(b, loc);
  auto [low, high] =
      visible(b, ix.constant(0), ix.sub(op.getRows(), ix.constant(1)));
  // Blocks of keys begin at multiples of their size (R8).
  Value from = ix.mul(ix.div(low, kKeys), kKeys);
  ix.loop(from, high, kKeys, [&](OpBuilder &outer, Value first) {
    Indices ox(outer, loc);
    Value count = ox.min(ox.sub(op.getKeys(), first), ox.constant(kKeys));
    packKeys(outer, first, count);
    ox.loop(
        ox.constant(0), op.getRows(), kGroup, [&](OpBuilder &inner, Value row) {
          Indices rx(inner, loc);
          Value live = rx.min(rx.sub(op.getRows(), row), rx.constant(kGroup));
          auto emit = [&](OpBuilder &here) {
            emitScores(here, row, live, first, count);
            emitWeights(here, row, live, first, count);
            emitOut(here, row, live, first, count);
          };
          if (!hasWindow())
            return emit(inner);
          Value last = rx.sub(rx.add(row, live), rx.constant(1));
          auto [begin, end] = visible(inner, row, last);
          Value sees = arith::AndIOp::create(
              inner, loc, rx.less(begin, rx.add(first, kKeys)),
              rx.less(first, end));
          scf::IfOp::create(inner, loc, sees, [&](OpBuilder &then, Location) {
            emit(then);
            scf::YieldOp::create(then, loc);
          });
        });
  });
  writeOut(b);
}

void TileAttention::runOnOperation() {
  if (!getOperation()->hasAttr(kKernelAttr))
    return;
  SmallVector<ragged::TileAttentionOp> ops;
  getOperation().walk([&](ragged::TileAttentionOp op) { ops.push_back(op); });
  for (ragged::TileAttentionOp op : ops) {
    OpBuilder b(op);
    AttentionEmitter(b, op, vectorBits).run();
    op.erase();
  }
}
