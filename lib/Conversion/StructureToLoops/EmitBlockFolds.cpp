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

/// The part `ranges`, of one row, of what is summed.
Value TileEmitter::emitSummand(Frame &frame, Value value,
                               ArrayRef<DimRange> ranges) {
  Operation *made = value.getDefiningOp();
  if (graph.kindOf(made) != NodeKind::Summand)
    return rowSlice(frame, value, ranges);
  return emitPart(frame.b, cast<linalg::GenericOp>(made), ranges,
                  [&](Value operand, ArrayRef<DimRange> part) {
                    return part.size() == ranges.size()
                               ? emitSummand(frame, operand, part)
                               : rowSlice(frame, operand, part);
                  })
      .getResult(0);
}

/// acc += x[row, block[0]]^T y[row, block[1]], over the summed dims.
static Value addRow(OpBuilder &b, Location loc, const OuterProduct &product,
                    Value x, Value y, Value row, ArrayRef<DimRange> block,
                    Value acc) {
  return buildLoopNest(
      b, loc, product.summed, acc,
      [&](OpBuilder &inner, ValueRange indices, Value sums) -> Value {
        SmallVector<Value> at = {row};
        llvm::append_range(at, indices);
        auto part = [&](Value tile, const DimRange &columns) {
          DimRanges ranges;
          for (Value index : ArrayRef(at).drop_back())
            ranges.push_back(DimRange::at(index));
          // The depth of the product.
          ranges.push_back(DimRange::part(at.back(), 1));
          ranges.push_back(columns);
          return extractSlice(inner, loc, tile, ranges);
        };
        // left^T right: multiply-adds.
        return linalg::MatmulTransposeAOp::create(
                   inner, loc, TypeRange(sums.getType()),
                   ValueRange{part(x, block[0]), part(y, block[1])}, sums)
            .getResult(0);
      });
}

Value TileEmitter::addProducts(OpBuilder &b, Location loc,
                               const OuterProduct &product, Value acc,
                               bool fromZero, Value begin, Value end) {
  auto type = cast<RankedTensorType>(acc.getType());
  Value x = whole(product.x), y = whole(product.y);
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
                  sums =
                      buildLoop(
                          inner, loc, begin, end, 1, sums,
                          [&](OpBuilder &body, Value row, ValueRange args) {
                            return SmallVector<Value>{addRow(
                                body, loc, product, x, y, row, block, args[0])};
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

Value TileEmitter::addBlock(Frame &frame, ragged::TileFoldOp op,
                            ArrayRef<DimRange> block, Value acc) {
  Location loc = op.getLoc();
  Value source = op.getInputs()[0];
  SmallVector<unsigned> summed;
  if (std::optional<RowSum> sum = matchRowSum(source.getDefiningOp());
      sum && graph.kindOf(source.getDefiningOp()) == NodeKind::Summand) {
    source = sum->source;
    summed = sum->summed;
  }
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> extents;
  for (unsigned dim : summed)
    extents.push_back(type.getDimSize(dim));
  return buildLoopNest(
      frame.b, loc, extents, acc,
      [&](OpBuilder &b, ValueRange indices, Value sums) -> Value {
        DimRanges ranges = {DimRange::at(frame.row)};
        for (int64_t dim = 1, next = 0, k = 0; dim < type.getRank(); ++dim)
          ranges.push_back(llvm::is_contained(summed, dim)
                               ? DimRange::at(indices[k++])
                               : block[next++]);
        Frame at{b, frame.row, {}};
        return buildElementwise(
                   b, loc, emitSummand(at, source, ranges), sums,
                   [&](OpBuilder &inner, Location, ValueRange values) {
                     cloneRegion(inner, op.getCombine(), values);
                   })
            .getResult(0);
      });
}

Value TileEmitter::addRows(OpBuilder &b, ragged::TileFoldOp op, Value acc,
                           Value begin, Value end) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(acc.getType());
  int64_t lanes =
      std::max<int64_t>(options.vectorBits / type.getElementTypeBitWidth(), 1);
  // AVX2 has 16 registers, AVX-512 and NEON have 32.
  int64_t vectors = options.vectorBits == 256 ? 8 : 16;
  DimRanges block;
  // Index by index of the dims in front, panels of the last one.
  std::function<Value(OpBuilder &, Value)> addPanels = [&](OpBuilder &outer,
                                                           Value whole) {
    int64_t dim = block.size();
    bool isLast = dim + 1 == type.getRank();
    SmallVector<Panels> parts = {{0, type.getDimSize(dim), 1}};
    if (isLast)
      parts = cutColumns(type.getDimSize(dim), vectors * lanes, lanes);
    for (const Panels &columns : parts)
      whole = overParts(
          outer, loc, columns, whole,
          [&](OpBuilder &inner, OpFoldResult index, Value some) -> Value {
            block.push_back(isLast ? DimRange::part(index, columns.width)
                                   : DimRange::at(index));
            Value sums;
            if (isLast) {
              sums =
                  buildLoop(inner, loc, begin, end, 1,
                            extractSlice(inner, loc, some, block),
                            [&](OpBuilder &body, Value row, ValueRange args) {
                              Frame frame{body, row, {}};
                              return SmallVector<Value>{
                                  addBlock(frame, op, block, args[0])};
                            })
                      .front();
              sums = insertSlice(inner, loc, sums, some, block);
            } else {
              sums = addPanels(inner, some);
            }
            block.pop_back();
            return sums;
          });
    return whole;
  };
  return addPanels(b, acc);
}

void TileEmitter::emitBlockFold(ragged::TileFoldOp op) {
  Location loc = op.getLoc();
  auto summand = op.getInputs()[0].getDefiningOp<linalg::GenericOp>();
  std::optional<OuterProduct> product = matchOuterProduct(summand);
  Value flush = whole(op.getFlush());
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value last = arith::SubIOp::create(rewriter, loc, live, one);
  // Views are made in front of the loop.
  if (product)
    for (Value input : {product->x, product->y})
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
              Value acc = product ? addProducts(then, loc, *product, args[1],
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
