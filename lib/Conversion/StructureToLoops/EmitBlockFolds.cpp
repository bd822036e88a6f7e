//===- EmitBlockFolds.cpp - Sums over rows in register blocks -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of weights W in Y = X W is the sum over all rows of x^T dy. X
// and dY are tiles in scratch, so nothing of the size of the batch is stored:
//
//   for the rows up to the end of a group, or of the tile:
//     for panels of columns of dY, blocks of columns of X:
//       acc[block, panel] += sum over the rows of x[block]^T dy[panel]
//
// A block of sums stays in registers for the rows of the tile; blocks of four
// rows load least per multiplication: six would need six broadcasts. Where
// groups begin with tiles it starts from 0 and is added to the accumulator, so
// that errors grow with the rows of a tile and the number of tiles, not with
// their product. Elsewhere it starts from the accumulator: the bits of a group
// must not depend on where tiles cut it (R8).
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

Value TileEmitter::overParts(
    OpBuilder &b, Location loc, const Panels &parts, Value carried,
    llvm::function_ref<Value(OpBuilder &, OpFoldResult, Value)> body) {
  if (parts.count() == 1)
    return body(b, b.getIndexAttr(parts.begin), carried);
  return buildLoop(b, loc, arith::ConstantIndexOp::create(b, loc, parts.begin),
                   arith::ConstantIndexOp::create(b, loc, parts.end),
                   parts.width, carried,
                   [&](OpBuilder &inner, Value index, ValueRange args) {
                     return SmallVector<Value>{body(inner, index, args[0])};
                   })
      .front();
}

/// Columns `panel` of a row of what is summed.
Value TileEmitter::emitSummand(Frame &frame, Value value, DimRange panel) {
  Operation *made = value.getDefiningOp();
  DimRanges ranges{DimRange::at(frame.row), panel};
  if (graph.kindOf(made) != NodeKind::Summand)
    return rowSlice(frame, value, ranges);
  return emitPart(frame.b, cast<linalg::GenericOp>(made), ranges,
                  [&](Value operand, ArrayRef<DimRange> part) {
                    return part.size() == 2 ? emitSummand(frame, operand, panel)
                                            : rowSlice(frame, operand, part);
                  })
      .getResult(0);
}

Value TileEmitter::addProducts(OpBuilder &b, linalg::GenericOp product,
                               Value acc, bool fromZero, Value begin,
                               Value end) {
  Location loc = product.getLoc();
  auto type = cast<RankedTensorType>(acc.getType());
  // The one whose columns are the accumulator's rows first.
  bool isSwapped = product.getIndexingMapsArray()[0].isFunctionOfDim(2);
  Value x = whole(product.getInputs()[isSwapped]);
  Value y = whole(product.getInputs()[!isSwapped]);
  int64_t lanes =
      std::max<int64_t>(options.vectorBits / type.getElementTypeBitWidth(), 1);
  constexpr int64_t height = 4;
  // AVX2 has 16 registers, AVX-512 and NEON have 32.
  int64_t vectors = options.vectorBits == 256 ? 2 : 4;

  for (const Panels &columns :
       cutColumns(type.getDimSize(1), vectors * lanes, lanes))
    for (const Panels &rows : cutColumns(type.getDimSize(0), height, height))
      acc = overParts(
          b, loc, columns, acc,
          [&](OpBuilder &outer, OpFoldResult j, Value some) {
            return overParts(
                outer, loc, rows, some,
                [&](OpBuilder &inner, OpFoldResult i, Value whole) {
                  DimRanges block{DimRange::part(i, rows.width),
                                  DimRange::part(j, columns.width)};
                  Value sums;
                  if (fromZero) {
                    Value empty = tensor::EmptyOp::create(
                        inner, loc, tile::shapeOf(block),
                        type.getElementType());
                    Value none = arith::ConstantOp::create(
                        inner, loc, inner.getZeroAttr(type.getElementType()));
                    sums = linalg::FillOp::create(inner, loc, none, empty)
                               .getResult(0);
                  } else {
                    sums = extractSlice(inner, loc, whole, block);
                  }
                  sums = buildLoop(
                             inner, loc, begin, end, 1, sums,
                             [&](OpBuilder &body, Value row, ValueRange args) {
                               DimRange at = DimRange::part(row, 1);
                               Value left =
                                   extractSlice(body, loc, x, {at, block[0]});
                               Value right =
                                   extractSlice(body, loc, y, {at, block[1]});
                               // left^T right: multiply-adds.
                               auto sum = linalg::MatmulTransposeAOp::create(
                                   body, loc, TypeRange(args[0].getType()),
                                   ValueRange{left, right}, args[0]);
                               return SmallVector<Value>{sum.getResult(0)};
                             })
                             .front();
                  if (fromZero)
                    sums =
                        buildElementwise(
                            inner, loc, sums,
                            extractSlice(inner, loc, whole, block),
                            [](OpBuilder &body, Location at, ValueRange args) {
                              Value sum = arith::AddFOp::create(
                                  body, at, args[1], args[0]);
                              linalg::YieldOp::create(body, at, sum);
                            })
                            .getResult(0);
                  return insertSlice(inner, loc, sums, whole, block);
                });
          });
  return acc;
}

Value TileEmitter::addRows(OpBuilder &b, ragged::TileFoldOp op, Value acc,
                           Value begin, Value end) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(acc.getType());
  int64_t lanes =
      std::max<int64_t>(options.vectorBits / type.getElementTypeBitWidth(), 1);
  // AVX2 has 16 registers, AVX-512 and NEON have 32.
  int64_t vectors = options.vectorBits == 256 ? 8 : 16;
  for (const Panels &columns :
       cutColumns(type.getDimSize(0), vectors * lanes, lanes))
    acc = overParts(
        b, loc, columns, acc,
        [&](OpBuilder &outer, OpFoldResult column, Value whole) {
          DimRange panel = DimRange::part(column, columns.width);
          Value sums =
              buildLoop(
                  outer, loc, begin, end, 1,
                  extractSlice(outer, loc, whole, panel),
                  [&](OpBuilder &body, Value row, ValueRange args) {
                    Frame frame{body, row, {}};
                    Value part = emitSummand(frame, op.getInputs()[0], panel);
                    auto sum = buildElementwise(
                        body, loc, part, args[0],
                        [&](OpBuilder &inner, Location, ValueRange values) {
                          cloneRegion(inner, op.getCombine(), values);
                        });
                    return SmallVector<Value>{sum.getResult(0)};
                  })
                  .front();
          return insertSlice(outer, loc, sums, whole, panel);
        });
  return acc;
}

void TileEmitter::emitBlockFold(ragged::TileFoldOp op) {
  Location loc = op.getLoc();
  auto summand = op.getInputs()[0].getDefiningOp<linalg::GenericOp>();
  bool isProduct = isOuterProduct(summand);
  Value flush = whole(op.getFlush());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value last = arith::SubIOp::create(rewriter, loc, live, one);
  // Views are made in front of the loop.
  if (isProduct)
    for (Value input : summand.getInputs())
      whole(input);
  SmallVector<Value> carried = buildLoop(
      rewriter, loc, zero, live, 1, {zero, op.getAcc()[0]},
      [&](OpBuilder &b, Value row, ValueRange args) {
        Value target = tensor::ExtractOp::create(b, loc, flush, row);
        Value atEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                            target, zero);
        Value isLast =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, row, last);
        Value isDue = arith::OrIOp::create(b, loc, atEnd, isLast);
        auto due = scf::IfOp::create(
            b, loc, isDue,
            [&](OpBuilder &then, Location) {
              Value behind = arith::AddIOp::create(then, loc, row, one);
              Value acc = isProduct
                              ? addProducts(then, summand, args[1],
                                            op->hasAttr(kWholeTilesAttr),
                                            args[0], behind)
                              : addRows(then, op, args[1], args[0], behind);
              Frame frame{then, row, {}};
              SmallVector<Value> next =
                  flushFolded(frame, op, acc, target, atEnd);
              scf::YieldOp::create(then, loc, ValueRange{behind, next[0]});
            },
            [&](OpBuilder &otherwise, Location) {
              scf::YieldOp::create(otherwise, loc, args);
            });
        return SmallVector<Value>(due.getResults());
      });
  buffers.map(op.getResult(0), carried[1]);
}
