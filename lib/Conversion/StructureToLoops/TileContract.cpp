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
  void emitPart(OpBuilder &at, Value column, Value columns, Value first,
                Value count, Value isFirst);
  void emitBlock(OpBuilder &at, Value row, Value part, Value column,
                 Value begin, Value first, Value count, Value isFirst,
                 int64_t width);
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
  Value panels, edge, rowOffsets;
};
} // namespace

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

/// Rows [row, row + 6) and columns [column, column + width) of the product;
/// `part` is the first row whose offset is known.
void ProductEmitter::emitBlock(OpBuilder &at, Value row, Value part,
                               Value column, Value begin, Value first,
                               Value count, Value isFirst, int64_t width) {
  Indices ix(at, loc);
  SmallVector<Value> offsets;
  Value local = ix.sub(row, part);
  for (int64_t r = 0; r < shape.rows; ++r)
    offsets.push_back(
        memref::LoadOp::create(at, loc, rowOffsets, ix.add(local, r)));
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
  forPanels(at, loc, columns, shape,
            [&](OpBuilder &inner, Value panel, int64_t width) {
              Indices ix(inner, loc);
              packPanel(inner, loc, rhs, first, count, ix.add(column, panel),
                        op.getColumns(), /*isWhole=*/false, width, shape, sums,
                        panels, ix.mul(panel, count));
            });
  Indices(at, loc).loop(
      Indices(at, loc).constant(0), op.getRows(), kRows,
      [&](OpBuilder &outer, Value rows) {
        Indices ox(outer, loc);
        Value end = ox.min(ox.add(rows, kRows), op.getRows());
        // Rows behind the last one are the last one: nothing else is read. In
        // memory, since LLVM would compute them again in the innermost loop.
        Value last = ox.sub(op.getRows(), ox.constant(1));
        Value whole = ox.mul(ox.ceilDiv(ox.sub(end, rows), shape.rows),
                             ox.constant(shape.rows));
        ox.loop(whole, [&](OpBuilder &inner, Value r) {
          Indices rx(inner, loc);
          Value row = rx.min(rx.add(rows, r), last);
          memref::StoreOp::create(inner, loc,
                                  rx.add(lhs.offset, rx.mul(row, lhs.row)),
                                  rowOffsets, r);
        });
        forPanels(outer, loc, columns, shape,
                  [&](OpBuilder &inner, Value panel, int64_t width) {
                    Value place = Indices(inner, loc).add(column, panel);
                    Indices(inner, loc)
                        .loop(rows, end, shape.rows,
                              [&](OpBuilder &block, Value row) {
                                emitBlock(block, row, rows, place, column,
                                          first, count, isFirst, width);
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
  rowOffsets = memref::AllocOp::create(
      b, loc, MemRefType::get({kRows}, b.getIndexType()));
  ix.loop(ix.constant(0), op.getColumns(), columnPart,
          [&](OpBuilder &outer, Value column) {
            Indices ox(outer, loc);
            Value columns = ox.min(ox.sub(op.getColumns(), column),
                                   ox.constant(columnPart));
            forDepth(
                outer, loc, op.getDepth(), depthPart, op.getAccumulate(),
                [&](OpBuilder &inner, Value first, Value count, Value isFirst) {
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
