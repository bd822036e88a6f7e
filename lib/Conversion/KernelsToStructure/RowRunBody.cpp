//===- RowRunBody.cpp - The tile program of a run on vectors --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op of the region has one form: on a vector for each tile, or on a
// scalar. With rows of one element lanes are rows. With wider ones they are
// columns of one row, and what has one element a row is a scalar that is
// computed once for all columns.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"
#include "RowRunEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nested::ragged;
using Access = RunPlan::Access;

/// Booleans are i1 in registers and bytes in memory.
Value RunEmitter::cut(OpBuilder &b, Value stored, Type elementType) {
  if (!elementType.isInteger(1))
    return stored;
  Type type = elementType;
  if (auto vector = dyn_cast<VectorType>(stored.getType()))
    type = vector.clone(elementType);
  return arith::TruncIOp::create(b, loc, type, stored);
}

Value RunEmitter::splat(OpBuilder &b, Value scalar, int64_t width) {
  if (!width)
    return scalar;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({width}, scalar.getType()), scalar);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What is outside of the source is a constant.
Value RunEmitter::loadRow(OpBuilder &b, TileReadOp read,
                          const RowReads::Address &address,
                          const Lanes &lanes) {
  IndexBuilder ib(b, loc);
  Value source = reads.getSource(read);
  SmallVector<Value> indices = {address.row};
  unsigned inner = cast<MemRefType>(source.getType()).getRank() - 1;
  for (unsigned k = 0; k < inner; ++k)
    indices.push_back(
        ib.constant(read.getInnerOffsets() ? (*read.getInnerOffsets())[k] : 0));
  Type element = getTileElement(read.getResult());
  int64_t width = lanes.column ? lanes.width : 0;
  Value value;
  if (width) {
    indices.back() = ib.add(indices.back(), lanes.column);
    auto type = VectorType::get(
        {width}, cast<MemRefType>(source.getType()).getElementType());
    value = vector::LoadOp::create(b, loc, type, source, indices);
  } else {
    value = memref::LoadOp::create(b, loc, source, indices);
  }
  value = cut(b, value, element);
  if (!address.inside || !read.getOutside())
    return value;
  Value other = arith::ConstantOp::create(b, loc, *read.getOutside());
  return arith::SelectOp::create(b, loc, address.inside, value,
                                 splat(b, other, width));
}

void RunEmitter::readOnce(OpBuilder &b, Run &run, const Lanes &block) {
  for (TileReadOp read : kernel.getBody().front().getOps<TileReadOp>()) {
    if (isFolded(read)) {
      if (!isWide())
        run.elements[read] = getFolded(read);
      continue;
    }
    Access access = plan.reads.lookup(read);
    if (access != Access::Uniform && access != Access::Contiguous)
      continue;
    RowReads::Address address = reads.locate(b, read, run.position, run.row);
    run.addresses[read] = address;
    if (access == Access::Contiguous)
      continue;
    // Elements of wide rows only if it is known which.
    if (isNarrow(read.getResult()))
      run.elements[read] = loadRow(b, read, address, {});
    else if (block.column)
      run.elements[read] = loadRow(b, read, address, block);
  }
}

Value RunEmitter::gather(
    OpBuilder &b, const Run &run, const Lanes &lanes,
    function_ref<Value(const RowPosition &, Value row)> element) {
  IndexBuilder ib(b, loc);
  SmallVector<Value> elements;
  for (int64_t k = 0; k < std::max<int64_t>(lanes.width, 1); ++k) {
    Value at = ib.add(lanes.at, ib.constant(k));
    // Lanes behind the end repeat the last row.
    if (lanes.mask)
      at = ib.min(at, ib.sub(lanes.end, ib.constant(1)));
    RowPosition position = run.position;
    position.coordinates.back() = at;
    elements.push_back(element(position, ib.add(run.row, at)));
  }
  if (!lanes.width)
    return elements.front();
  return vector::FromElementsOp::create(
      b, loc, VectorType::get({lanes.width}, elements.front().getType()),
      elements);
}

Value RunEmitter::emitRead(OpBuilder &b, const Run &run, const Lanes &lanes,
                           TileReadOp read, const State &state) {
  IndexBuilder ib(b, loc);
  Type element = getTileElement(read.getResult());
  switch (plan.reads.lookup(read)) {
  case Access::Index:
    return {};
  case Access::Uniform:
    if (Value known = run.elements.lookup(read))
      return known;
    if (isFolded(read))
      return loadElements(b, lanes, getFolded(read), lanes.column, element);
    return loadRow(b, read, run.addresses.lookup(read), lanes);
  case Access::Gathered:
    if (lanes.column)
      return loadRow(b, read, state.addresses.lookup(read), lanes);
    return gather(b, run, lanes, [&](const RowPosition &position, Value row) {
      return loadRow(b, read, reads.locate(b, read, position, row), {});
    });
  case Access::Contiguous:
    break;
  }
  Value source = sources.lookup(read);
  Value index = ib.mul(ib.add(run.addresses.lookup(read).row, lanes.at),
                       ib.constant(countRowElements(kernel, read)));
  int64_t offset = 0;
  LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
  for (unsigned k = 0;
       read.getInnerOffsets() && k < read.getInnerOffsets()->size(); ++k)
    offset =
        offset * *type.extents[type.order[read.getMap().getNumResults() + k]]
                      .getConstant() +
        (*read.getInnerOffsets())[k];
  index = ib.add(index, ib.constant(offset));
  if (lanes.column)
    index = ib.add(index, lanes.column);
  return loadElements(b, lanes, source, index, element);
}

Value RunEmitter::loadElements(OpBuilder &b, const Lanes &lanes, Value memref,
                               Value index, Type element) {
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  if (!lanes.width)
    return cut(b, memref::LoadOp::create(b, loc, memref, index), element);
  auto vectorType = VectorType::get({lanes.width}, stored);
  if (!lanes.mask)
    return cut(b, vector::LoadOp::create(b, loc, vectorType, memref, index),
               element);
  Value nothing = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  return cut(b,
             vector::MaskedLoadOp::create(b, loc, vectorType, memref,
                                          ValueRange{index}, lanes.mask,
                                          nothing),
             element);
}

/// Processors guess too little of what comes next: within a page, and not where
/// a block of columns leaves out lines. So they are told, also of the next
/// unit's rows; it doubled the speed of sums. Rows that all blocks go through
/// fetch the next ones in the order of memory, not in their own.
void RunEmitter::prefetch(OpBuilder &b, const Run &run, const Lanes &lanes,
                          const Strip &strip) {
  constexpr int64_t distance = 8192, line = 64;
  IndexBuilder ib(b, loc);
  for (TileReadOp read : kernel.getBody().front().getOps<TileReadOp>()) {
    if (plan.reads.lookup(read) != Access::Contiguous ||
        isNarrow(read.getResult()))
      continue;
    Value source = sources.lookup(read);
    int64_t bits = cast<MemRefType>(source.getType()).getElementTypeBitWidth();
    int64_t elements = countRowElements(kernel, read);
    Value at = lanes.at, place = lanes.column;
    int64_t rows = llvm::divideCeil(distance, elements * bits / 8);
    if (strip.first) {
      at = strip.first;
      rows = getStripRows();
      place = ib.add(
          ib.mul(lanes.column, strip.count),
          ib.mul(ib.sub(lanes.at, strip.first), ib.constant(lanes.width)));
    }
    Value row = ib.add(run.addresses.lookup(read).row, at);
    if (ahead)
      place = ib.add(place, ahead);
    else
      row = ib.add(row, ib.constant(rows));
    Value first = ib.add(ib.mul(row, ib.constant(elements)), place);
    for (int64_t done = 0; done < lanes.width; done += line * 8 / bits)
      memref::PrefetchOp::create(
          b, loc, source, ValueRange{ib.add(first, ib.constant(done))},
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
}

Value RunEmitter::emitLookup(OpBuilder &b, const Run &run, const Lanes &lanes,
                             TileLookupOp lookup, const State &state) {
  IndexBuilder ib(b, loc);
  Value table = tables.lookup(lookup);
  auto type = cast<MemRefType>(table.getType());
  Type element = getTileElement(lookup.getResult());
  if (lanes.column)
    return cut(
        b,
        vector::LoadOp::create(
            b, loc, VectorType::get({lanes.width}, type.getElementType()),
            table,
            ValueRange{state.addresses.lookup(lookup).row, lanes.column}),
        element);
  return gather(b, run, lanes, [&](const RowPosition &position, Value row) {
    SmallVector<Value> indices(type.getRank(), ib.constant(0));
    indices[0] = reads.lookup(b, lookup, position, row);
    return cut(b, memref::LoadOp::create(b, loc, table, indices), element);
  });
}

void RunEmitter::store(OpBuilder &b, const Lanes &lanes, Value value,
                       Value memref, Value index) {
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (getElementTypeOrSelf(value.getType()) != stored)
    value = arith::ExtUIOp::create(
        b, loc, vector ? Type(vector.clone(stored)) : stored, value);
  if (!vector)
    memref::StoreOp::create(b, loc, value, memref, index);
  else if (lanes.mask)
    vector::MaskedStoreOp::create(b, loc, memref, ValueRange{index}, lanes.mask,
                                  value);
  else
    vector::StoreOp::create(b, loc, value, memref, index);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A scalar if it is the same in all lanes.
Value RunEmitter::get(OpBuilder &b, Value value, const Lanes &lanes,
                      const State &state) {
  if (Value known = state.values.lookup(value))
    return known;
  if (Value known = shared.lookup(value)) {
    auto memref = dyn_cast<MemRefType>(known.getType());
    if (!memref)
      return known;
    auto type = VectorType::get({lanes.width}, memref.getElementType());
    return cut(
        b,
        vector::LoadOp::create(b, loc, type, known, ValueRange{lanes.column}),
        getTileElement(value));
  }
  // A constant, of one element or of equal ones.
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (auto dense = dyn_cast<DenseElementsAttr>(constant))
      constant = *dense.value_begin<Attribute>();
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(constant));
  }
  // Memory that nothing has been written to.
  return arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(getTileElement(value))));
}

Value RunEmitter::widen(OpBuilder &b, Value value, int64_t width) {
  return isa<VectorType>(value.getType()) ? value : splat(b, value, width);
}

/// The value of one op of the region but folds.
void RunEmitter::evaluate(OpBuilder &b, Operation &op, const Run &run,
                          const Lanes &lanes, State &state) {
  IndexBuilder ib(b, loc);
  auto operands = [&] {
    return llvm::map_to_vector(op.getOperands(), [&](Value value) {
      return get(b, value, lanes, state);
    });
  };
  if (auto read = dyn_cast<TileReadOp>(op)) {
    state.values[read.getResult()] = emitRead(b, run, lanes, read, state);
  } else if (auto lookup = dyn_cast<TileLookupOp>(op)) {
    state.values[lookup.getResult()] = emitLookup(b, run, lanes, lookup, state);
  } else if (auto coord = dyn_cast<TileCoordOp>(op)) {
    int64_t dim = static_cast<int64_t>(coord.getDim());
    bool isRun = dim == static_cast<int64_t>(plan.firstOfRun);
    Value first = dim < 0 ? run.position.sample
                          : (isRun ? lanes.at : run.position.coordinates[dim]);
    Value value = ib.toI64(first);
    if (isRun && lanes.width) {
      value = splat(b, value, lanes.width);
      auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes.width));
      Value steps = arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(cast<VectorType>(value.getType()),
                                 ArrayRef(numbers)));
      value = arith::AddIOp::create(b, loc, value, steps);
    }
    state.values[coord.getResult()] = value;
  } else if (auto extentOp = dyn_cast<TileExtentOp>(op)) {
    Value extent = coordinates.evaluate(
        b, extentOp.getExtent(), coordinates.getPath(), run.position.sample);
    state.values[extentOp.getResult()] =
        splat(b, ib.toI64(extent), lanes.width);
  } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    IRMapping mapping;
    Value kept = plan.kept;
    bool hasKept = kept && kept.getParentBlock() == linalgOp.getBlock();
    if (hasKept && state.kept)
      mapping.map(kept, state.kept);
    state.values[op.getResult(0)] = cloneElementwise(
        b, *linalgOp.getBlock(), operands(), lanes.width, mapping)[0];
    if (hasKept)
      state.kept = mapping.lookup(kept);
  } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    state.values[op.getResult(0)] = get(b, op.getOperand(0), lanes, state);
  } else if (!isa<tensor::EmptyOp, TileYieldOp>(op) &&
             !op.hasTrait<OpTrait::ConstantLike>()) {
    Type type = getTileElement(op.getResult(0));
    if (lanes.width)
      type = VectorType::get({lanes.width}, type);
    SmallVector<Value> wides = llvm::map_to_vector(
        operands(), [&](Value value) { return widen(b, value, lanes.width); });
    Operation *wide =
        b.create(loc, op.getName().getIdentifier(), wides, type, op.getAttrs());
    state.values[op.getResult(0)] = wide->getResult(0);
  }
}

RunEmitter::State RunEmitter::beginRow(OpBuilder &b, const Run &run, Value at) {
  IndexBuilder ib(b, loc);
  State state;
  RowPosition position = run.position;
  if (!position.coordinates.empty() &&
      plan.firstOfRun + 1 == position.coordinates.size())
    position.coordinates.back() = at;
  Value row = ib.add(run.row, at);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (isa<TileReduceOp>(op))
      continue;
    if (isNarrow(op.getResult(0))) {
      evaluate(b, op, run, {at, 0, {}, {}, {}}, state);
    } else if (auto read = dyn_cast<TileReadOp>(op)) {
      if (plan.reads.lookup(read) == Access::Gathered)
        state.addresses[read] = reads.locate(b, read, position, row);
    } else if (auto lookup = dyn_cast<TileLookupOp>(op)) {
      state.addresses[lookup] = {reads.lookup(b, lookup, position, row), {}};
    }
  }
  return state;
}

SmallVector<Value> RunEmitter::emitLanes(OpBuilder &b, const Run &run,
                                         const Lanes &lanes, State state,
                                         ValueRange accumulators, Part part) {
  IndexBuilder ib(b, loc);
  Value index;
  auto getIndex = [&] {
    if (!index) {
      index = ib.add(run.row, lanes.at);
      if (lanes.column)
        index = ib.add(ib.mul(index, ib.constant(plan.columns)), lanes.column);
    }
    return index;
  };
  if (part == Part::Rest)
    state.kept = loadElements(b, lanes, kept, getIndex(), plan.kept.getType());
  SmallVector<Value> next(accumulators);
  unsigned fold = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto reduce = dyn_cast<TileReduceOp>(op);
    if (!reduce) {
      if (!lanes.column || !isNarrow(op.getResult(0)))
        evaluate(b, op, run, lanes, state);
      continue;
    }
    if (part == Part::Kept)
      continue;
    // Scalars have accumulators of their own, behind those of vectors.
    unsigned number = fold++ + (lanes.width ? 0 : accumulators.size() / 2);
    Value input = get(b, reduce.getInputs()[0], lanes, state);
    Value folded =
        cloneElementwise(b, reduce.getCombine().front(),
                         {input, accumulators[number]}, lanes.width)[0];
    if (lanes.mask)
      folded = arith::SelectOp::create(b, loc, lanes.mask, folded,
                                       accumulators[number]);
    next[number] = folded;
  }
  if (plan.kept && part != Part::Rest)
    store(b, lanes, widen(b, state.kept, lanes.width), kept, getIndex());
  if (part == Part::Kept)
    return next;
  Operation *yield = kernel.getBody().front().getTerminator();
  for (auto [result, value] : llvm::zip(results, yield->getOperands()))
    if (!result.reduce)
      store(b, lanes, widen(b, get(b, value, lanes, state), lanes.width),
            result.memref, getIndex());
  return next;
}
