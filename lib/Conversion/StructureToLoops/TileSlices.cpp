//===- TileSlices.cpp - Parts of tensors and of linalg ops ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nested::tile;

namespace {

struct SliceParts {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

SliceParts partsOf(Builder &b, ArrayRef<DimRange> ranges) {
  SliceParts parts;
  for (const DimRange &range : ranges) {
    parts.offsets.push_back(range.offset);
    parts.sizes.push_back(b.getIndexAttr(range.size));
    parts.strides.push_back(b.getIndexAttr(1));
  }
  return parts;
}

bool coversAll(ArrayRef<int64_t> shape, ArrayRef<DimRange> ranges) {
  return llvm::all_of(llvm::zip_equal(shape, ranges), [](auto pair) {
    auto [extent, range] = pair;
    return !range.dropped && range.covers(extent);
  });
}

/// Copies the body of `from` behind the builder, with `linalg.index` shifted to
/// the ranges of the loops.
void cloneBody(OpBuilder &b, linalg::GenericOp from, ValueRange args,
               ArrayRef<DimRange> loops, ArrayRef<int64_t> newLoops) {
  IRMapping map;
  map.map(from.getRegion().getArguments(), args);
  for (Operation &op : *from.getBody()) {
    auto index = dyn_cast<linalg::IndexOp>(op);
    if (!index) {
      b.clone(op, map);
      continue;
    }
    const DimRange &range = loops[index.getDim()];
    Location loc = op.getLoc();
    if (range.dropped) {
      map.map(index.getResult(),
              getValueOrCreateConstantIndexOp(b, loc, range.offset));
      continue;
    }
    Value position = linalg::IndexOp::create(b, loc, newLoops[index.getDim()]);
    if (getConstantIntValue(range.offset) != 0)
      position = arith::AddIOp::create(
          b, loc, position,
          getValueOrCreateConstantIndexOp(b, loc, range.offset));
    map.map(index.getResult(), position);
  }
}

} // namespace

bool DimRange::covers(int64_t extent) const {
  return size == extent && getConstantIntValue(offset) == 0;
}

SmallVector<int64_t> nested::tile::shapeOf(ArrayRef<DimRange> ranges) {
  SmallVector<int64_t> shape;
  for (const DimRange &range : ranges)
    if (!range.dropped)
      shape.push_back(range.size);
  return shape;
}

Value nested::tile::extractSlice(OpBuilder &b, Location loc, Value tensor,
                                 ArrayRef<DimRange> ranges) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (coversAll(type.getShape(), ranges))
    return tensor;
  SliceParts parts = partsOf(b, ranges);
  auto result = RankedTensorType::get(shapeOf(ranges), type.getElementType());
  return tensor::ExtractSliceOp::create(b, loc, result, tensor, parts.offsets,
                                        parts.sizes, parts.strides);
}

Value nested::tile::insertSlice(OpBuilder &b, Location loc, Value part,
                                Value tensor, ArrayRef<DimRange> ranges) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (coversAll(type.getShape(), ranges))
    return part;
  SliceParts parts = partsOf(b, ranges);
  return tensor::InsertSliceOp::create(b, loc, part, tensor, parts.offsets,
                                       parts.sizes, parts.strides);
}

Value nested::tile::subview(OpBuilder &b, Location loc, Value memref,
                            ArrayRef<DimRange> ranges, Value firstSize) {
  auto type = cast<MemRefType>(memref.getType());
  if (!firstSize && coversAll(type.getShape(), ranges))
    return memref;
  SliceParts parts = partsOf(b, ranges);
  SmallVector<int64_t> shape = shapeOf(ranges);
  if (firstSize) {
    parts.sizes.front() = firstSize;
    shape.front() = ShapedType::kDynamic;
  }
  MemRefType result = memref::SubViewOp::inferRankReducedResultType(
      shape, type, parts.offsets, parts.sizes, parts.strides);
  return memref::SubViewOp::create(b, loc, result, memref, parts.offsets,
                                   parts.sizes, parts.strides);
}

bool nested::tile::canCut(linalg::GenericOp op, unsigned loop) {
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults())
      if (expr.isFunctionOfDim(loop) && !isa<AffineDimExpr>(expr))
        return false;
  return true;
}

DimRanges nested::tile::operandRanges(Builder &b, AffineMap map,
                                      ArrayRef<int64_t> shape,
                                      ArrayRef<DimRange> loops) {
  DimRanges ranges;
  for (auto [expr, extent] : llvm::zip_equal(map.getResults(), shape)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      ranges.push_back(loops[dim.getPosition()]);
    else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      ranges.push_back(DimRange::at(b.getIndexAttr(constant.getValue())));
    else
      ranges.push_back(DimRange::all(b, extent));
  }
  return ranges;
}

linalg::GenericOp nested::tile::emitPart(OpBuilder &b, linalg::GenericOp op,
                                         ArrayRef<DimRange> loops,
                                         SliceFn slice, ValueRange inits) {
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();

  // Loops that are left, and the subscripts in terms of them.
  SmallVector<int64_t> newLoops(loops.size(), -1);
  SmallVector<AffineExpr> newDims(loops.size(), b.getAffineConstantExpr(0));
  SmallVector<utils::IteratorType> iterators;
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (loops[i].dropped)
      continue;
    newLoops[i] = iterators.size();
    newDims[i] = b.getAffineDimExpr(iterators.size());
    iterators.push_back(iterator);
  }
  auto mapOf = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : map.getResults()) {
      if (isa<AffineConstantExpr>(expr))
        continue;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || !loops[dim.getPosition()].dropped)
        results.push_back(expr.replaceDims(newDims));
    }
    return AffineMap::get(iterators.size(), 0, results, context);
  };

  SmallVector<Value> newInputs, newInits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  auto sliceOf = [&](OpOperand &operand) -> Value {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return operand.get();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    return slice(operand.get(), operandRanges(b, map, type.getShape(), loops));
  };
  for (OpOperand *operand : op.getDpsInputOperands()) {
    newInputs.push_back(sliceOf(*operand));
    maps.push_back(mapOf(op.getMatchingIndexingMap(operand)));
  }
  for (auto [i, operand] : llvm::enumerate(op.getDpsInitsMutable())) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    maps.push_back(mapOf(map));
    if (!inits.empty() && inits[i]) {
      newInits.push_back(inits[i]);
    } else if (op.payloadUsesValueFromOperand(&operand)) {
      newInits.push_back(sliceOf(operand));
    } else {
      auto type = cast<RankedTensorType>(operand.get().getType());
      newInits.push_back(tensor::EmptyOp::create(
          b, loc, shapeOf(operandRanges(b, map, type.getShape(), loops)),
          type.getElementType()));
    }
    types.push_back(newInits.back().getType());
  }
  return linalg::GenericOp::create(
      b, loc, types, newInputs, newInits, maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange args) {
        cloneBody(inner, op, args, loops, newLoops);
      });
}

Value nested::tile::emitResultPart(OpBuilder &b, linalg::GenericOp op,
                                   ArrayRef<DimRange> ranges, SliceFn slice) {
  DimRanges loops;
  for (int64_t size : op.getStaticLoopRanges())
    loops.push_back(DimRange::all(b, size));
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [dim, range] : llvm::enumerate(ranges))
    loops[map.getDimPosition(dim)] = range;
  return emitPart(b, op, loops, slice).getResult(0);
}

linalg::GenericOp nested::tile::buildElementwise(
    OpBuilder &b, Location loc, ValueRange inputs, ValueRange inits,
    function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  auto shaped = cast<RankedTensorType>(inits.front().getType());
  unsigned rank = shaped.getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps;
  for (Value input : inputs) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    maps.push_back(identity.getMajorSubMap(type ? type.getRank() : 0));
    // getMajorSubMap of no results forgets the loops.
    if (!type || type.getRank() == 0)
      maps.back() = AffineMap::get(rank, 0, b.getContext());
  }
  maps.append(inits.size(), identity);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, TypeRange(inits), inputs, inits,
                                   maps, iterators, body);
}

Value nested::tile::buildCopy(OpBuilder &b, Location loc, Value value,
                              Value init) {
  return buildElementwise(b, loc, value, init,
                          [](OpBuilder &inner, Location at, ValueRange args) {
                            linalg::YieldOp::create(inner, at, args.front());
                          })
      .getResult(0);
}

SmallVector<Value> nested::tile::buildLoop(
    OpBuilder &b, Location loc, Value begin, Value end, int64_t step,
    ValueRange inits,
    function_ref<SmallVector<Value>(OpBuilder &, Value, ValueRange)> body) {
  Value stepValue = arith::ConstantIndexOp::create(b, loc, step);
  auto loop = scf::ForOp::create(
      b, loc, begin, end, stepValue, inits,
      [&](OpBuilder &inner, Location at, Value index, ValueRange args) {
        scf::YieldOp::create(inner, at, body(inner, index, args));
      });
  return SmallVector<Value>(loop.getResults());
}

Value nested::tile::buildLoopNest(
    OpBuilder &b, Location loc, ArrayRef<int64_t> extents, Value init,
    function_ref<Value(OpBuilder &, ValueRange, Value)> body) {
  SmallVector<Value> indices;
  std::function<Value(OpBuilder &, Value)> build = [&](OpBuilder &outer,
                                                       Value carried) -> Value {
    if (indices.size() == extents.size())
      return body(outer, indices, carried);
    return buildLoop(outer, loc, arith::ConstantIndexOp::create(outer, loc, 0),
                     arith::ConstantIndexOp::create(outer, loc,
                                                    extents[indices.size()]),
                     1, carried,
                     [&](OpBuilder &inner, Value index, ValueRange args) {
                       indices.push_back(index);
                       Value next = build(inner, args.front());
                       indices.pop_back();
                       return SmallVector<Value>{next};
                     })
        .front();
  };
  return build(b, init);
}
