//===- TileContract.cpp - Products of matrices in register blocks ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneProducts.h"
#include "MatrixBlocks.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace nested {
#define GEN_PASS_DEF_TILECONTRACT
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {
struct TileContract : public nested::impl::TileContractBase<TileContract> {
  using TileContractBase::TileContractBase;
  void runOnOperation() override;
};

/// Parts of a product that fit into caches.
constexpr int64_t kDepth = 256, kColumns = 256, kRows = 240;

/// A part of the size, if that is not smaller and known.
int64_t getPart(Value size, int64_t part, int64_t multiple) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    part = std::min(part, (*known + multiple - 1) / multiple * multiple);
  return std::max(part, multiple);
}

class ProductEmitter {
public:
  ProductEmitter(OpBuilder &b, ragged::TileContractOp op, int64_t vectorBits)
      : b(b), op(op), loc(op.getLoc()),
        type(cast<MemRefType>(op.getDest().getType()).getElementType()),
        shape(type, vectorBits), sums(type, op.getBoolean()) {
    ValueRange tables = op.getTables();
    lhs = {op.getLhs(), op.getLhsOffset(), op.getLhsRow(), op.getLhsDepth(),
           tables.empty() ? Value() : tables[0]};
    rhs = {op.getRhs(), op.getRhsOffset(), op.getRhsDepth(), op.getRhsColumn(),
           tables.empty() ? Value() : tables[1]};
  }
  void run();

private:
  using PanelBody =
      llvm::function_ref<void(OpBuilder &, Value column, int64_t width)>;
  void forPanels(OpBuilder &at, Value columns, PanelBody body);
  void emitPart(OpBuilder &at, Value column, Value columns, Value first,
                Value count, Value isFirst);
  void emitBlock(OpBuilder &at, Value row, Value column, Value begin,
                 Value first, Value count, Value isFirst, int64_t width);
  void storeBlock(OpBuilder &at, ArrayRef<Value> block, Value row, Value column,
                  Value isFirst, int64_t width);
  void storeEdge(OpBuilder &at, ArrayRef<Value> block, Value row, Value column,
                 Value isFirst, int64_t width);
  Value destOffset(OpBuilder &at, Value row, Value column);

  OpBuilder &b;
  ragged::TileContractOp op;
  Location loc;
  Type type;
  BlockShape shape;
  Sums sums;
  Matrix lhs, rhs;
  Value panels, edge;
};
} // namespace

/// The panels of a part of the columns: of full width, then, for what is left,
/// of half of it and so on. Columns count from the part's first one.
void ProductEmitter::forPanels(OpBuilder &at, Value columns, PanelBody body) {
  Indices ix(at, loc);
  int64_t full = shape.vectors * shape.lanes;
  Value begin = ix.mul(ix.div(columns, full), full);
  ix.loop(ix.constant(0), begin, full, [&](OpBuilder &inner, Value column) {
    body(inner, column, shape.vectors);
  });
  Value left = ix.ceilDiv(ix.sub(columns, begin), shape.lanes);
  // Of what is left the last panel may be as wide as the full ones.
  for (int64_t width = shape.vectors; width >= 1; width /= 2) {
    Value end = begin;
    Value whole = ix.div(left, width);
    int64_t step = width * shape.lanes;
    end = ix.add(begin, ix.mul(whole, step));
    ix.loop(begin, end, step, [&](OpBuilder &inner, Value column) {
      body(inner, column, width);
    });
    left = ix.sub(left, ix.mul(whole, width));
    begin = end;
  }
}

Value ProductEmitter::destOffset(OpBuilder &at, Value row, Value column) {
  Indices ix(at, loc);
  return ix.add(ix.add(op.getDestOffset(), ix.mul(row, op.getDestRow())),
                ix.mul(column, op.getDestColumn()));
}

/// All of the block is part of the result, and columns are neighbours.
void ProductEmitter::storeBlock(OpBuilder &at, ArrayRef<Value> block, Value row,
                                Value column, Value isFirst, int64_t width) {
  auto store = [&](OpBuilder &inner, bool adds) {
    Indices ix(inner, loc);
    Value offset = destOffset(inner, row, column);
    for (int64_t r = 0; r < shape.rows; ++r) {
      for (int64_t v = 0; v < width; ++v) {
        Value place = ix.add(offset, v * shape.lanes);
        Value sum = block[r * width + v];
        if (adds)
          sum = sums.add(inner, loc,
                         vector::LoadOp::create(inner, loc, shape.getVector(),
                                                op.getDest(), place),
                         sum);
        vector::StoreOp::create(inner, loc, sum, op.getDest(), place);
      }
      offset = ix.add(offset, op.getDestRow());
    }
    scf::YieldOp::create(inner, loc);
  };
  scf::IfOp::create(
      at, loc, isFirst,
      [&](OpBuilder &then, Location) { store(then, /*adds=*/false); },
      [&](OpBuilder &otherwise, Location) { store(otherwise, /*adds=*/true); });
}

/// What of the block is part of the result, element by element.
void ProductEmitter::storeEdge(OpBuilder &at, ArrayRef<Value> block, Value row,
                               Value column, Value isFirst, int64_t width) {
  int64_t pitch = width * shape.lanes;
  Indices ix(at, loc);
  for (auto [k, sum] : llvm::enumerate(block))
    vector::StoreOp::create(at, loc, sum, edge, ix.constant(k * shape.lanes));
  Value rows = ix.min(ix.sub(op.getRows(), row), ix.constant(shape.rows));
  Value columns = ix.min(ix.sub(op.getColumns(), column), ix.constant(pitch));
  ix.loop(rows, [&](OpBuilder &outer, Value r) {
    Indices(outer, loc).loop(columns, [&](OpBuilder &inner, Value c) {
      Indices jx(inner, loc);
      Value sum =
          memref::LoadOp::create(inner, loc, edge, jx.add(jx.mul(r, pitch), c));
      Value place = destOffset(inner, jx.add(row, r), jx.add(column, c));
      Value old =
          scf::IfOp::create(
              inner, loc, isFirst,
              [&](OpBuilder &then, Location) {
                scf::YieldOp::create(then, loc, sum);
              },
              [&](OpBuilder &otherwise, Location) {
                Value known =
                    memref::LoadOp::create(otherwise, loc, op.getDest(), place);
                scf::YieldOp::create(otherwise, loc,
                                     sums.add(otherwise, loc, known, sum));
              })
              .getResult(0);
      memref::StoreOp::create(inner, loc, old, op.getDest(), place);
    });
  });
}

/// Rows [row, row + 6) and columns [column, column + width) of the product.
void ProductEmitter::emitBlock(OpBuilder &at, Value row, Value column,
                               Value begin, Value first, Value count,
                               Value isFirst, int64_t width) {
  Indices ix(at, loc);
  // Rows behind the last one are the last one: nothing else is read.
  Value last = ix.sub(op.getRows(), ix.constant(1));
  SmallVector<Value> offsets;
  for (int64_t r = 0; r < shape.rows; ++r)
    offsets.push_back(
        ix.add(lhs.offset, ix.mul(ix.min(ix.add(row, r), last), lhs.row)));
  Value at0 = ix.mul(ix.sub(column, begin), count);
  SmallVector<Value> block = sumBlock(at, loc, lhs, offsets, first, count,
                                      panels, at0, width, shape, sums);
  if (getConstantIntValue(op.getDestColumn()) != 1)
    return storeEdge(at, block, row, column, isFirst, width);
  Value rowsFit = ix.compare(arith::CmpIPredicate::sle, ix.add(row, shape.rows),
                             op.getRows());
  Value columnsFit =
      ix.compare(arith::CmpIPredicate::sle, ix.add(column, width * shape.lanes),
                 op.getColumns());
  Value fits = arith::AndIOp::create(at, loc, rowsFit, columnsFit);
  scf::IfOp::create(
      at, loc, fits,
      [&](OpBuilder &then, Location) {
        storeBlock(then, block, row, column, isFirst, width);
        scf::YieldOp::create(then, loc);
      },
      [&](OpBuilder &otherwise, Location) {
        storeEdge(otherwise, block, row, column, isFirst, width);
        scf::YieldOp::create(otherwise, loc);
      });
}

/// One part of the columns and of the depth, for all rows.
void ProductEmitter::emitPart(OpBuilder &at, Value column, Value columns,
                              Value first, Value count, Value isFirst) {
  forPanels(at, columns, [&](OpBuilder &inner, Value panel, int64_t width) {
    Indices ix(inner, loc);
    packPanel(inner, loc, rhs, first, count, ix.add(column, panel),
              op.getColumns(), /*isWhole=*/false, width, shape, sums, panels,
              ix.mul(panel, count));
  });
  Indices(at, loc).loop(
      Indices(at, loc).constant(0), op.getRows(), kRows,
      [&](OpBuilder &outer, Value rows) {
        Indices ox(outer, loc);
        Value end = ox.min(ox.add(rows, kRows), op.getRows());
        forPanels(outer, columns,
                  [&](OpBuilder &inner, Value panel, int64_t width) {
                    Value place = Indices(inner, loc).add(column, panel);
                    Indices(inner, loc)
                        .loop(rows, end, shape.rows,
                              [&](OpBuilder &block, Value row) {
                                emitBlock(block, row, place, column, first,
                                          count, isFirst, width);
                              });
                  });
      });
}

void ProductEmitter::run() {
  Indices ix(b, loc);
  int64_t columnPart =
      getPart(op.getColumns(), kColumns, shape.vectors * shape.lanes);
  int64_t depthPart = getPart(op.getDepth(), kDepth, 1);
  panels = memref::AllocOp::create(
      b, loc, MemRefType::get({columnPart * depthPart}, type));
  edge = memref::AllocOp::create(
      b, loc,
      MemRefType::get({shape.rows * shape.vectors * shape.lanes}, type));
  Value truth = arith::ConstantIntOp::create(b, loc, 1, 1);
  Value starts = arith::XOrIOp::create(b, loc, op.getAccumulate(), truth);
  // At least one part: a sum over nothing is written too (R5).
  Value parts = ix.max(ix.ceilDiv(op.getDepth(), depthPart), ix.constant(1));
  ix.loop(ix.constant(0), op.getColumns(), columnPart,
          [&](OpBuilder &outer, Value column) {
            Indices ox(outer, loc);
            Value columns = ox.min(ox.sub(op.getColumns(), column),
                                   ox.constant(columnPart));
            ox.loop(parts, [&](OpBuilder &inner, Value part) {
              Indices px(inner, loc);
              Value first = px.mul(part, depthPart);
              Value count =
                  px.min(px.sub(op.getDepth(), first), px.constant(depthPart));
              Value isFirst = arith::AndIOp::create(
                  inner, loc, starts,
                  px.compare(arith::CmpIPredicate::eq, part, px.constant(0)));
              emitPart(inner, column, columns, first, count, isFirst);
            });
          });
}

void TileContract::runOnOperation() {
  if (!getOperation()->hasAttr(kKernelAttr))
    return;
  SmallVector<ragged::TileContractOp> ops;
  getOperation().walk([&](ragged::TileContractOp op) { ops.push_back(op); });
  for (ragged::TileContractOp op : ops) {
    OpBuilder b(op);
    if (op.getLanes()) {
      Type type = cast<MemRefType>(op.getDest().getType()).getElementType();
      Value done = emitLaneProducts(b, op, BlockShape(type, vectorBits),
                                    Sums(type, op.getBoolean()));
      // A product for each lane that is left: the operands move by one element.
      Indices(b, op.getLoc())
          .loop(done, op.getLanes(), 1, [&](OpBuilder &inner, Value lane) {
            auto one = cast<ragged::TileContractOp>(inner.clone(*op));
            OpBuilder at(one);
            Indices ix(at, op.getLoc());
            one.getLhsOffsetMutable().set(ix.add(op.getLhsOffset(), lane));
            one.getRhsOffsetMutable().set(ix.add(op.getRhsOffset(), lane));
            one.getDestOffsetMutable().set(ix.add(op.getDestOffset(), lane));
            one.getLanesMutable().clear();
            ProductEmitter(at, one, vectorBits).run();
            one.erase();
          });
    } else {
      ProductEmitter(b, op, vectorBits).run();
    }
    op.erase();
  }
}
