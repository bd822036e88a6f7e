//===- TileAttention.cpp - Attention in register blocks -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// largest = -inf, sum = 0, out = 0 for each query
// for block of keys that some query sees:
//   copy its keys and its values into panels
//   for block of 6 queries:
//     scores in registers; cap, bias, mask, window
//     weights = exp(scores - new largest); the old sum and out shrink
//     sum += weights; out += weights * values
// out / sum
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

/// Queries of a block that is kept in scratch memory; a unit has no more.
constexpr int64_t kQueries = 96;

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
        vector(shape.getVector()), keys(shape.vectors * shape.lanes),
        columns((op.getValueSize() + shape.lanes - 1) / shape.lanes *
                shape.lanes) {}
  void run();

private:
  /// Scores of one block of queries and keys: query by query, vector by vector.
  using Block = SmallVector<Value>;

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
  /// Each vector of the block through `body(query, vector, score)`.
  template <typename Body>
  Block transform(const Block &block, Body body) {
    Block result;
    for (auto [k, score] : llvm::enumerate(block))
      result.push_back(body(k / shape.vectors, k % shape.vectors, score));
    return result;
  }
  void forColumns(llvm::function_ref<void(int64_t column, int64_t width)> body);
  void reset(OpBuilder &at);
  void packKeys(OpBuilder &at, Value first);
  void emitBlock(OpBuilder &at, Value row, Value first);
  Block window(OpBuilder &at, const Block &block, Value row, Value first);
  Block pairs(OpBuilder &at, const Block &block, Value row, Value first);
  void writeOut(OpBuilder &at);
  /// The bounds [low, high) of keys that queries [row, last] see.
  std::pair<Value, Value> visible(OpBuilder &at, Value row, Value last);

  OpBuilder &b;
  ragged::TileAttentionOp op;
  Location loc;
  Type type;
  BlockShape shape;
  Sums sums;
  VectorType vector;
  int64_t keys, columns;
  Value keyPanel, valuePanels, largest, total, out, weights;
};
} // namespace

/// Columns of values as panels: wide ones, then what is left.
void AttentionEmitter::forColumns(
    llvm::function_ref<void(int64_t, int64_t)> body) {
  int64_t column = 0;
  for (int64_t width = shape.vectors; width >= 1; width /= 2)
    for (; column + width * shape.lanes <= columns;
         column += width * shape.lanes)
      body(column, width);
}

void AttentionEmitter::reset(OpBuilder &at) {
  Indices ix(at, loc);
  ix.loop(
      ix.constant(0), ix.constant(kQueries), shape.lanes,
      [&](OpBuilder &inner, Value i) {
        vector::StoreOp::create(inner, loc, lowest(inner, vector), largest, i);
        vector::StoreOp::create(inner, loc, number(inner, 0, vector), total, i);
      });
  Value size =
      ix.mul(ix.mul(ix.ceilDiv(op.getRows(), shape.rows), shape.rows), columns);
  ix.loop(ix.constant(0), size, shape.lanes, [&](OpBuilder &inner, Value i) {
    vector::StoreOp::create(inner, loc, number(inner, 0, vector), out, i);
  });
}

void AttentionEmitter::packKeys(OpBuilder &at, Value first) {
  Indices ix(at, loc);
  Value zero = ix.constant(0), one = ix.constant(1);
  // Rows of the panel are the elements of a head.
  Matrix matrix{op.getKey(), op.getKeyOffset(), one, op.getKeyRow(), {}};
  packPanel(at, loc, matrix, zero, ix.constant(op.getHeadSize()), first,
            op.getKeys(), /*isWhole=*/false, shape.vectors, shape, sums,
            keyPanel, zero);
  Matrix values{op.getValue(), op.getValueOffset(), op.getValueRow(), one, {}};
  Value count = ix.min(ix.sub(op.getKeys(), first), ix.constant(keys));
  forColumns([&](int64_t column, int64_t width) {
    packPanel(at, loc, values, first, count, ix.constant(column),
              ix.constant(op.getValueSize()),
              column + width * shape.lanes <= int64_t(op.getValueSize()), width,
              shape, sums, valuePanels, ix.constant(column * keys));
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

/// -inf for keys that a query does not see, and for those behind the last one.
AttentionEmitter::Block AttentionEmitter::window(OpBuilder &at,
                                                 const Block &block, Value row,
                                                 Value first) {
  Indices ix(at, loc);
  Value lastRow = ix.sub(op.getRows(), ix.constant(1));
  Value last = ix.min(ix.add(row, shape.rows - 1), lastRow);
  // All queries of the block see all of its keys between these.
  Value low = visible(at, last, last).first;
  Value high = visible(at, row, row).second;
  Value inside = arith::AndIOp::create(
      at, loc, ix.compare(arith::CmpIPredicate::sle, low, first),
      ix.compare(arith::CmpIPredicate::sle, ix.add(first, keys), high));
  auto chosen = scf::IfOp::create(
      at, loc, inside,
      [&](OpBuilder &then, Location) {
        scf::YieldOp::create(then, loc, block);
      },
      [&](OpBuilder &otherwise, Location) {
        Indices ox(otherwise, loc);
        auto i32 = VectorType::get({shape.lanes}, otherwise.getI32Type());
        SmallVector<int32_t> numbers;
        for (int64_t i = 0; i < shape.lanes; ++i)
          numbers.push_back(i);
        Value lanes = arith::ConstantOp::create(
            otherwise, loc, DenseElementsAttr::get(i32, ArrayRef(numbers)));
        // Bounds relative to the block, which fit into i32.
        auto bound = [&](Value x) -> Value {
          Value relative = ox.min(ox.max(ox.sub(x, first), ox.constant(0)),
                                  ox.constant(keys));
          Value narrow = arith::IndexCastOp::create(
              otherwise, loc, otherwise.getI32Type(), relative);
          return vector::BroadcastOp::create(otherwise, loc, i32, narrow);
        };
        Value nothing = lowest(otherwise, vector);
        Value from, to;
        Block masked =
            transform(block, [&](int64_t r, int64_t v, Value score) -> Value {
              if (v == 0) {
                Value query = ox.add(row, r);
                auto [low, high] = visible(otherwise, query, query);
                from = bound(low);
                to = bound(high);
              }
              Value offset = arith::ConstantOp::create(
                  otherwise, loc,
                  DenseElementsAttr::get(i32, int32_t(v * shape.lanes)));
              Value key = arith::AddIOp::create(otherwise, loc, lanes, offset);
              Value sees = arith::AndIOp::create(
                  otherwise, loc,
                  arith::CmpIOp::create(otherwise, loc,
                                        arith::CmpIPredicate::sge, key, from),
                  arith::CmpIOp::create(otherwise, loc,
                                        arith::CmpIPredicate::slt, key, to));
              return arith::SelectOp::create(otherwise, loc, sees, score,
                                             nothing);
            });
        scf::YieldOp::create(otherwise, loc, masked);
      });
  return Block(chosen.getResults());
}

/// Adds the bias, and -inf where the mask does not hold; both are brought into
/// a block of scratch memory first, element by element.
AttentionEmitter::Block AttentionEmitter::pairs(OpBuilder &at,
                                                const Block &block, Value row,
                                                Value first) {
  if (!op.getBias() && !op.getMask())
    return block;
  Indices ix(at, loc);
  Value last = ix.sub(op.getRows(), ix.constant(1));
  Value count = ix.min(ix.sub(op.getKeys(), first), ix.constant(keys));
  auto place = [&](OpBuilder &inner, ValueRange access, Value query,
                   Value key) {
    Indices jx(inner, loc);
    return jx.add(access[0], jx.add(jx.mul(query, access[1]),
                                    jx.mul(jx.add(first, key), access[2])));
  };
  ix.loop(ix.constant(0), ix.constant(shape.rows), 1,
          [&](OpBuilder &outer, Value r) {
            Indices ox(outer, loc);
            Value query = ox.min(ox.add(row, r), last);
            ox.loop(count, [&](OpBuilder &inner, Value key) {
              Indices jx(inner, loc);
              Value extra = number(inner, 0, type);
              if (op.getBias())
                extra = sums.widen(
                    inner, loc,
                    memref::LoadOp::create(
                        inner, loc, op.getBias(),
                        place(inner, op.getBiasAccess(), query, key)));
              if (op.getMask()) {
                Value byte = memref::LoadOp::create(
                    inner, loc, op.getMask(),
                    place(inner, op.getMaskAccess(), query, key));
                Value sees = arith::CmpIOp::create(
                    inner, loc, arith::CmpIPredicate::ne, byte,
                    arith::ConstantIntOp::create(inner, loc, 0, 8));
                extra = arith::SelectOp::create(inner, loc, sees, extra,
                                                lowest(inner, type));
              }
              memref::StoreOp::create(inner, loc, extra, weights,
                                      jx.add(jx.mul(r, keys), key));
            });
          });
  Value nothing = lowest(at, vector);
  return transform(block, [&](int64_t r, int64_t v, Value score) -> Value {
    Value extra = vector::LoadOp::create(
        at, loc, vector, weights, ix.constant(r * keys + v * shape.lanes));
    Value sum = arith::AddFOp::create(at, loc, score, extra);
    if (!op.getMask())
      return sum;
    // Masking selects: a score that is NaN does not get through.
    Value hidden = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ,
                                         extra, nothing);
    return arith::SelectOp::create(at, loc, hidden, nothing, sum);
  });
}

/// Queries [row, row + 6) with the keys of the panels.
void AttentionEmitter::emitBlock(OpBuilder &at, Value row, Value first) {
  Indices ix(at, loc);
  Value zero = ix.constant(0);
  Value last = ix.sub(op.getRows(), ix.constant(1));
  SmallVector<Value> offsets;
  for (int64_t r = 0; r < shape.rows; ++r)
    offsets.push_back(
        ix.add(op.getQueryOffset(),
               ix.mul(ix.min(ix.add(row, r), last), op.getQueryRow())));
  Matrix query{op.getQuery(), {}, {}, ix.constant(1), {}};
  Block block =
      sumBlock(at, loc, query, offsets, zero, ix.constant(op.getHeadSize()),
               keyPanel, zero, shape.vectors, shape, sums);
  double scale = op.getScale().convertToDouble();
  std::optional<double> cap;
  if (op.getSoftCap())
    cap = op.getSoftCap()->convertToDouble();
  Value factor = number(at, cap ? scale / *cap : scale, vector);
  block = transform(block, [&](int64_t, int64_t, Value score) -> Value {
    score = arith::MulFOp::create(at, loc, score, factor);
    if (!cap)
      return score;
    return arith::MulFOp::create(at, loc, math::TanhOp::create(at, loc, score),
                                 number(at, *cap, vector));
  });
  block = pairs(at, block, row, first);
  block = window(at, block, row, first);

  // The new largest score of each query, and what the old sums shrink by.
  Value nothing = lowest(at, type), none = number(at, 0, type);
  SmallVector<Value> shrink;
  for (int64_t r = 0; r < shape.rows; ++r) {
    ArrayRef<Value> scores =
        ArrayRef(block).slice(r * shape.vectors, shape.vectors);
    Value most = scores[0];
    for (Value score : scores.drop_front())
      most = arith::MaximumFOp::create(at, loc, most, score);
    Value here = vector::ReductionOp::create(
        at, loc, vector::CombiningKind::MAXIMUMF, most);
    Value place = ix.add(row, r);
    Value old = memref::LoadOp::create(at, loc, largest, place);
    Value now = arith::MaximumFOp::create(at, loc, old, here);
    memref::StoreOp::create(at, loc, now, largest, place);
    // While a query has seen no key, its weights are exp(-inf - 0).
    Value unseen =
        arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, now, nothing);
    Value base = arith::SelectOp::create(at, loc, unseen, none, now);
    shrink.push_back(math::ExpOp::create(
        at, loc, splat(at, arith::SubFOp::create(at, loc, old, base))));
    Value shift = splat(at, base), sum;
    for (int64_t v = 0; v < shape.vectors; ++v) {
      Value weight = math::ExpOp::create(
          at, loc, arith::SubFOp::create(at, loc, scores[v], shift));
      vector::StoreOp::create(at, loc, weight, weights,
                              ix.constant(r * keys + v * shape.lanes));
      sum = sum ? arith::AddFOp::create(at, loc, sum, weight) : weight;
    }
    Value added =
        vector::ReductionOp::create(at, loc, vector::CombiningKind::ADD, sum);
    Value before = memref::LoadOp::create(at, loc, total, place);
    Value less = arith::MulFOp::create(
        at, loc, before,
        vector::ExtractOp::create(at, loc, shrink.back(), int64_t(0)));
    memref::StoreOp::create(
        at, loc, arith::AddFOp::create(at, loc, less, added), total, place);
  }

  Value count = ix.min(ix.sub(op.getKeys(), first), ix.constant(keys));
  Matrix matrix{weights, {}, {}, ix.constant(1), {}};
  SmallVector<Value> rows;
  for (int64_t r = 0; r < shape.rows; ++r)
    rows.push_back(ix.constant(r * keys));
  forColumns([&](int64_t column, int64_t width) {
    Block added = sumBlock(at, loc, matrix, rows, zero, count, valuePanels,
                           ix.constant(column * keys), width, shape, sums);
    for (int64_t r = 0; r < shape.rows; ++r)
      for (int64_t v = 0; v < width; ++v) {
        Value place =
            ix.add(ix.mul(ix.add(row, r), columns), column + v * shape.lanes);
        Value old = vector::LoadOp::create(at, loc, vector, out, place);
        Value sum = vector::FMAOp::create(at, loc, old, shrink[r],
                                          added[r * width + v]);
        vector::StoreOp::create(at, loc, sum, out, place);
      }
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
    return memref::AllocOp::create(b, loc, MemRefType::get({size}, type));
  };
  keyPanel = allocate(std::max<int64_t>(op.getHeadSize(), 1) * keys);
  valuePanels = allocate(std::max<int64_t>(columns, 1) * keys);
  largest = allocate(kQueries);
  total = allocate(kQueries);
  out = allocate(kQueries * std::max<int64_t>(columns, 1));
  weights = allocate(shape.rows * keys);
  reset(b);
  Indices ix(b, loc);
  auto [low, high] =
      visible(b, ix.constant(0), ix.sub(op.getRows(), ix.constant(1)));
  // Blocks of keys begin at multiples of their size (R8).
  Value from = ix.mul(ix.div(low, keys), keys);
  ix.loop(from, high, keys, [&](OpBuilder &outer, Value first) {
    packKeys(outer, first);
    Indices(outer, loc)
        .loop(Indices(outer, loc).constant(0), op.getRows(), shape.rows,
              [&](OpBuilder &inner, Value row) {
                Indices rx(inner, loc);
                Value last = rx.min(rx.add(row, shape.rows - 1),
                                    rx.sub(op.getRows(), rx.constant(1)));
                auto [begin, end] = visible(inner, row, last);
                Value sees = arith::AndIOp::create(
                    inner, loc, rx.less(begin, rx.add(first, keys)),
                    rx.less(first, end));
                scf::IfOp::create(inner, loc, sees,
                                  [&](OpBuilder &then, Location) {
                                    emitBlock(then, row, first);
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
