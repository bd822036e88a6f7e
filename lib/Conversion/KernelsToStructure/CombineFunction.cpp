//===- CombineFunction.cpp - The second step of a fold over the batch ---===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

/// Whether the region adds its two arguments.
static bool isSum(Region &region) {
  Operation *add =
      region.front().getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_present<arith::AddFOp>(add) && &region.front().front() == add;
}

/// The regions of a sum in `element` that is kept in `wide`.
static void widenSum(OpBuilder &b, Location loc, TileReduceOp reduce,
                     TileFoldOp fold, Type wide, IRMapping mapping) {
  OpBuilder::InsertionGuard guard(b);
  Block *combine =
      b.createBlock(&fold.getCombine(), {}, {wide, wide}, {loc, loc});
  Value sum = arith::AddFOp::create(b, loc, combine->getArgument(0),
                                    combine->getArgument(1));
  YieldOp::create(b, loc, sum);
  reduce.getFinalize().cloneInto(&fold.getFinalize(), mapping);
  Block &finalize = fold.getFinalize().front();
  BlockArgument folded = finalize.getArgument(0);
  b.setInsertionPointToStart(&finalize);
  auto narrow =
      arith::TruncFOp::create(b, loc, folded.getType(), folded).getOperation();
  folded.replaceAllUsesExcept(narrow->getResult(0), narrow);
  folded.setType(wide);
}

/// One accumulator more, filled with the neutral element: the batch without
/// rows has no chunk, and its result is `finalize(init)` all the same (R5).
FailureOr<EmittedKernel> nested::ragged::emitCombineFunction(
    OpBuilder &outer, TileReduceOp reduce, KernelOp kernel, StringRef name,
    ScheduleBuilder &schedule, Value partials, Value output) {
  constexpr int64_t tileRows = 24;
  Location loc = reduce.getLoc();
  KernelSignature signature(outer, loc, name, schedule);
  SmallVector<StringAttr> path = toPath(kernel.getPath());
  SmallVector<ExtentAttr> space = toExtents(kernel.getSpace());
  auto resultType = cast<RankedTensorType>(reduce.getResult(0).getType());
  auto neutral = cast<TypedAttr>(reduce.getInit()[0]);
  Type element = neutral.getType();
  // The sum of many chunks is as good as that of one.
  OpBuilder b(outer.getContext());
  bool widens = element.isF32() && isSum(reduce.getCombine());
  Type wide = widens ? Type(b.getF64Type()) : element;
  ArrayRef<int64_t> shape = resultType.getShape();
  Value source = signature.addBuffer(partials, shape, element);
  Value dest = signature.addBuffer(output, shape, resultType.getElementType());

  b.setInsertionPointToEnd(signature.getBody());
  IndexBuilder ib(b, loc);
  auto tensorType = RankedTensorType::get(shape, wide);
  Value zero = arith::ConstantOp::create(
      b, loc, widens ? TypedAttr(b.getF64FloatAttr(-0.0)) : neutral);
  Value init = linalg::FillOp::create(
                   b, loc, zero,
                   ValueRange{tensor::EmptyOp::create(b, loc, shape, wide)})
                   .getResult(0);

  // Totals over the batch are the same for every row.
  SmallVector<Value> aux;
  for (ExtentAttr extent : toExtents(reduce.getExtents())) {
    Value total =
        ib.toI64(signature.getTotal(TableKey::makeOffsets(extent, path)));
    Value empty = tensor::EmptyOp::create(b, loc, {tileRows}, b.getI64Type());
    aux.push_back(linalg::FillOp::create(b, loc, total, empty).getResult(0));
  }
  Value chunk = ib.constant(kernel.getChunk());
  Value rows = signature.getTotal(
      TableKey::makeOffsets(extent::product(loc.getContext(), space), path));
  Value chunks = ib.div(ib.add(rows, ib.sub(chunk, ib.constant(1))), chunk);
  Value none = ib.compare(arith::CmpIPredicate::eq, chunks, ib.constant(0));
  // Without chunks the loop runs once, over one row that is the neutral
  // element.
  Value count = ib.max(chunks, ib.constant(1));
  Value step = ib.constant(tileRows);
  auto loop = scf::ForOp::create(
      b, loc, ib.constant(0), count, step, ValueRange{init},
      [&](OpBuilder &body, Location l, Value tileStart, ValueRange args) {
        IndexBuilder tb(body, l);
        Value live = tb.min(tb.sub(count, tileStart), step);
        Value flush =
            tensor::EmptyOp::create(body, l, {tileRows}, body.getIndexType());
        auto flushes = scf::ForOp::create(
            body, l, tb.constant(0), live, tb.constant(1), ValueRange{flush},
            [&](OpBuilder &inner, Location il, Value r, ValueRange tensors) {
              IndexBuilder rb(inner, il);
              Value last = rb.compare(
                  arith::CmpIPredicate::eq,
                  rb.add(rb.add(tileStart, r), rb.constant(1)), count);
              Value unit = rb.select(last, rb.constant(0), rb.constant(-1));
              scf::YieldOp::create(inner, il,
                                   tensor::InsertOp::create(inner, il, unit,
                                                            tensors[0],
                                                            ValueRange{r})
                                       .getResult());
            });
        SmallVector<int64_t> tileShape = {tileRows};
        llvm::append_range(tileShape, shape);
        auto tileType = RankedTensorType::get(tileShape, element);
        // The partials buffer has at least one row allocated, so reading row 0
        // is safe even when it was not written; its value is then replaced.
        Value loaded =
            TileLoadOp::create(body, l, tileType, source, tileStart, live);
        SmallVector<AffineMap> maps(2, AffineMap::getMultiDimIdentityMap(
                                           tileShape.size(), l.getContext()));
        SmallVector<utils::IteratorType> iterators(
            tileShape.size(), utils::IteratorType::parallel);
        Value empty = tensor::EmptyOp::create(body, l, tileShape, wide);
        Value tile =
            linalg::GenericOp::create(
                body, l, TypeRange{empty.getType()}, ValueRange{loaded},
                ValueRange{empty}, maps, iterators,
                [&](OpBuilder &inner, Location il, ValueRange x) {
                  Value fallback =
                      arith::ConstantOp::create(inner, il, neutral);
                  Value value =
                      arith::SelectOp::create(inner, il, none, fallback, x[0]);
                  if (widens)
                    value = arith::ExtFOp::create(inner, il, wide, value);
                  linalg::YieldOp::create(inner, il, value);
                })
                .getResult(0);
        auto fold = TileFoldOp::create(body, l, TypeRange{tensorType},
                                       ValueRange{tile}, ValueRange{args[0]},
                                       ValueRange{init}, flushes.getResult(0),
                                       ValueRange{dest}, aux, live);
        IRMapping mapping;
        // Constants of the tile program that the regions refer to.
        for (Region *region : {&reduce.getCombine(), &reduce.getFinalize()})
          region->walk([&](Operation *op) {
            for (Value operand : op->getOperands())
              if (Operation *def = operand.getDefiningOp())
                if (!region->isAncestor(def->getParentRegion()) &&
                    !mapping.contains(operand))
                  body.clone(*def, mapping);
          });
        fold->moveBefore(body.getBlock(), body.getBlock()->end());
        if (widens) {
          widenSum(body, l, reduce, fold, wide, mapping);
        } else {
          reduce.getCombine().cloneInto(&fold.getCombine(), mapping);
          reduce.getFinalize().cloneInto(&fold.getFinalize(), mapping);
        }
        scf::YieldOp::create(body, l, fold.getResults());
      });
  loop->setAttr(kTileLoopAttr, b.getUnitAttr());
  signature.finish();
  storeBooleansAsBytes(signature.getFunction());
  EmittedKernel emitted;
  emitted.memrefs = llvm::to_vector(signature.getMemrefOperands());
  emitted.scalars = llvm::to_vector(signature.getScalarOperands());
  emitted.rowTable =
      TableKey::makeOffsets(extent::product(loc.getContext(), space), path);
  emitted.errors = {};
  return emitted;
}
