//===- RowRuns.cpp - Kernels of narrow rows as runs of vectors ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile program works on one row at a time; where a row is one element,
// finding it costs more than its work. These kernels go along the rows instead.
//
// 1. A run is the rows of all coordinates of the last dims, the others fixed
//    (RowRunPlan.cpp).
// 2. A run is cut into vectors from its own start; the rest is one masked
//    vector. Where elements are too small for masked loads, it is scalars.
// 3. The tile program is cloned with a vector for each tile.
// 4. A fold keeps one accumulator per lane, from run to run of its unit, and
//    combines the lanes in halves at the unit's end. So which rows meet in
//    which order depends on the unit alone (R8), and a unit without rows gives
//    `finalize(init)` without a case of its own (R5).
//
//===----------------------------------------------------------------------===//

#include "RowRuns.h"

#include "LoopKernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nested::ragged;
using Access = RunPlan::Access;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

namespace {
/// A run that is being emitted: its position with the run's dims at 0, the
/// number of that row, and what was read once for all rows.
struct Run {
  RowPosition position;
  Value row;
  /// Of a uniform read the element; of a contiguous one the first element.
  DenseMap<Operation *, Value> reads;
};

/// Rows [at, at + width) of a run. A width of 0 is one row, as a scalar.
struct Lanes {
  Value at;
  int64_t width = 0;
  /// Which of them are rows of the run, and how many rows that has; null: all
  /// are.
  Value mask, end;
};

class RunEmitter {
public:
  RunEmitter(OpBuilder &outer, KernelOp kernel, StringRef name,
             ScheduleBuilder &schedule, ArrayRef<Value> outputs,
             const RunPlan &plan)
      : kernel(kernel), plan(plan), loc(kernel.getLoc()), schedule(schedule),
        outputBuffers(outputs),
        signature(outer, kernel.getLoc(), name, schedule),
        coordinates(kernel, signature),
        reads(kernel, signature, coordinates, schedule),
        space(toExtents(kernel.getSpace())) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult prepare();
  void emitFlat(OpBuilder &b);
  void emitMapped(OpBuilder &b);
  void emitFolded(OpBuilder &b);
  /// A loop over the samples of the units, each with its range of them.
  void forSamples(OpBuilder &b,
                  function_ref<void(OpBuilder &, Value sample, Value offset,
                                    Value from, Value to)>
                      body);
  Value getLength(OpBuilder &b, unsigned from, unsigned to, Value sample);
  /// The coordinates of dims [from, to) with this number in packed order.
  void splitNumber(OpBuilder &b, Value number, unsigned from, unsigned to,
                   RowPosition &position);
  SmallVector<Value> emitRun(OpBuilder &b, Run &run, Value from, Value to,
                             ValueRange accumulators);
  void readOnce(OpBuilder &b, Run &run);
  SmallVector<Value> emitLanes(OpBuilder &b, const Run &run, const Lanes &lanes,
                               ValueRange accumulators);
  Value emitRead(OpBuilder &b, const Run &run, const Lanes &lanes,
                 TileReadOp read);
  /// A value for each lane from its row, one by one.
  Value gather(OpBuilder &b, const Run &run, const Lanes &lanes,
               function_ref<Value(const RowPosition &, Value row)> element);
  Value loadRow(OpBuilder &b, TileReadOp read,
                const RowReads::Address &address);
  Value cut(OpBuilder &b, Value stored, Type elementType);
  Value splat(OpBuilder &b, Value scalar, int64_t width);
  void store(OpBuilder &b, const Lanes &lanes, Value value, Value memref,
             Value index);
  SmallVector<Value> makeAccumulators(OpBuilder &b);
  void finalize(OpBuilder &b, ValueRange accumulators, Value unit,
                Value sample);

  KernelOp kernel;
  const RunPlan &plan;
  Location loc;
  ScheduleBuilder &schedule;
  ArrayRef<Value> outputBuffers;
  KernelSignature signature;
  TileCoordinates coordinates;
  RowReads reads;
  SmallVector<ExtentAttr> space;

  /// Memory of contiguous reads, of lookups, and of shared values.
  DenseMap<Operation *, Value> sources, tables;
  DenseMap<Value, Value> shared;
  struct Result {
    /// Null if rows are stored.
    TileReduceOp reduce;
    Value memref;
  };
  SmallVector<Result> results;
};
} // namespace

static Type getElement(Value tile) {
  return getScalarType(getElementTypeOrSelf(tile.getType()));
}

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

/// Asks for the memory of everything, before code is written that uses it.
LogicalResult RunEmitter::prepare() {
  OpBuilder b = OpBuilder::atBlockEnd(signature.getBody());
  Block &body = kernel.getBody().front();
  auto addShared = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || shared.contains(value))
      return;
    auto arg = dyn_cast<BlockArgument>(value);
    if (!arg || arg.getOwner() != &body)
      return;
    Value memref = getDenseMemref(value, kernel, signature, schedule);
    SmallVector<Value> origin(type.getRank(), IndexBuilder(b, loc).constant(0));
    shared[value] = cut(b, memref::LoadOp::create(b, loc, memref, origin),
                        getElement(value));
  };
  for (Operation &op : body) {
    if (auto read = dyn_cast<TileReadOp>(op)) {
      Access access = plan.reads.lookup(read);
      if ((access != Access::Contiguous || !read.getStarts().empty()) &&
          failed(reads.prepare(read)))
        return failure();
      Value input = getInput(kernel, read.getSource());
      if (access == Access::Contiguous)
        sources[read] = signature.addBuffer(schedule.getBuffer(input), {},
                                            LogicalType::of(input).elementType);
      continue;
    }
    if (auto lookup = dyn_cast<TileLookupOp>(op)) {
      if (failed(reads.prepare(lookup)))
        return failure();
      tables[lookup] =
          getDenseMemref(lookup.getTable(), kernel, signature, schedule);
      continue;
    }
    for (Value operand : op.getOperands())
      addShared(operand);
  }
  for (auto [k, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto reduce = value.getDefiningOp<TileReduceOp>();
    results.push_back(
        {reduce, signature.addBuffer(outputBuffers[k], {}, getElement(value))});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rows of a run
//===----------------------------------------------------------------------===//

/// The element of a row; what is outside of the source is a constant.
Value RunEmitter::loadRow(OpBuilder &b, TileReadOp read,
                          const RowReads::Address &address) {
  IndexBuilder ib(b, loc);
  Value source = reads.getSource(read);
  SmallVector<Value> indices = {address.row};
  unsigned inner = cast<MemRefType>(source.getType()).getRank() - 1;
  for (unsigned k = 0; k < inner; ++k)
    indices.push_back(
        ib.constant(read.getInnerOffsets() ? (*read.getInnerOffsets())[k] : 0));
  Type element = getElement(read.getResult());
  Value value =
      cut(b, memref::LoadOp::create(b, loc, source, indices), element);
  if (!address.inside || !read.getOutside())
    return value;
  Value other = arith::ConstantOp::create(b, loc, *read.getOutside());
  return arith::SelectOp::create(b, loc, address.inside, value, other);
}

void RunEmitter::readOnce(OpBuilder &b, Run &run) {
  for (TileReadOp read : kernel.getBody().front().getOps<TileReadOp>()) {
    Access access = plan.reads.lookup(read);
    if (access != Access::Uniform && access != Access::Contiguous)
      continue;
    RowReads::Address address = reads.locate(b, read, run.position, run.row);
    run.reads[read] =
        access == Access::Uniform ? loadRow(b, read, address) : address.row;
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
                           TileReadOp read) {
  IndexBuilder ib(b, loc);
  Type element = getElement(read.getResult());
  switch (plan.reads.lookup(read)) {
  case Access::Index:
    return {};
  case Access::Uniform:
    return splat(b, run.reads.lookup(read), lanes.width);
  case Access::Gathered:
    return gather(b, run, lanes, [&](const RowPosition &position, Value row) {
      return loadRow(b, read, reads.locate(b, read, position, row));
    });
  case Access::Contiguous:
    break;
  }
  Value source = sources.lookup(read);
  Value index = ib.add(run.reads.lookup(read), lanes.at);
  Type stored = cast<MemRefType>(source.getType()).getElementType();
  if (!lanes.width)
    return cut(b, memref::LoadOp::create(b, loc, source, index), element);
  auto type = VectorType::get({lanes.width}, stored);
  if (!lanes.mask)
    return cut(b, vector::LoadOp::create(b, loc, type, source, index), element);
  Value nothing = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return cut(b,
             vector::MaskedLoadOp::create(
                 b, loc, type, source, ValueRange{index}, lanes.mask, nothing),
             element);
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

/// The tile program on some rows; gives the accumulators after them.
SmallVector<Value> RunEmitter::emitLanes(OpBuilder &b, const Run &run,
                                         const Lanes &lanes,
                                         ValueRange accumulators) {
  IndexBuilder ib(b, loc);
  DenseMap<Value, Value> values;
  auto get = [&](Value value) -> Value {
    if (Value known = values.lookup(value))
      return known;
    if (Value scalar = shared.lookup(value))
      return splat(b, scalar, lanes.width);
    // A constant, of one element or of equal ones.
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant))) {
      if (auto dense = dyn_cast<DenseElementsAttr>(constant))
        constant = *dense.value_begin<Attribute>();
      return splat(b,
                   arith::ConstantOp::create(b, loc, cast<TypedAttr>(constant)),
                   lanes.width);
    }
    // Memory that nothing has been written to.
    return splat(b,
                 arith::ConstantOp::create(
                     b, loc, cast<TypedAttr>(b.getZeroAttr(getElement(value)))),
                 lanes.width);
  };
  SmallVector<Value> next(accumulators);
  unsigned fold = 0;
  for (Operation &op : kernel.getBody().front()) {
    if (auto read = dyn_cast<TileReadOp>(op)) {
      values[read.getResult()] = emitRead(b, run, lanes, read);
    } else if (auto lookup = dyn_cast<TileLookupOp>(op)) {
      Value table = tables.lookup(lookup);
      values[lookup.getResult()] =
          gather(b, run, lanes, [&](const RowPosition &position, Value row) {
            SmallVector<Value> indices(
                cast<MemRefType>(table.getType()).getRank(), ib.constant(0));
            indices[0] = reads.lookup(b, lookup, position, row);
            return cut(b, memref::LoadOp::create(b, loc, table, indices),
                       getElement(lookup.getResult()));
          });
    } else if (auto coord = dyn_cast<TileCoordOp>(op)) {
      int64_t dim = static_cast<int64_t>(coord.getDim());
      bool isRun = dim == static_cast<int64_t>(plan.firstOfRun);
      Value first = dim < 0
                        ? run.position.sample
                        : (isRun ? lanes.at : run.position.coordinates[dim]);
      Value value = splat(b, ib.toI64(first), lanes.width);
      if (isRun && lanes.width) {
        auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes.width));
        Value steps = arith::ConstantOp::create(
            b, loc,
            DenseElementsAttr::get(cast<VectorType>(value.getType()),
                                   ArrayRef(numbers)));
        value = arith::AddIOp::create(b, loc, value, steps);
      }
      values[coord.getResult()] = value;
    } else if (auto extentOp = dyn_cast<TileExtentOp>(op)) {
      Value extent = coordinates.evaluate(
          b, extentOp.getExtent(), coordinates.getPath(), run.position.sample);
      values[extentOp.getResult()] = splat(b, ib.toI64(extent), lanes.width);
    } else if (auto reduce = dyn_cast<TileReduceOp>(op)) {
      // Scalars have accumulators of their own, behind those of vectors.
      unsigned number = fold++ + (lanes.width ? 0 : accumulators.size() / 2);
      Value folded = cloneElementwise(
          b, reduce.getCombine().front(),
          {get(reduce.getInputs()[0]), accumulators[number]}, lanes.width)[0];
      if (lanes.mask)
        folded = arith::SelectOp::create(b, loc, lanes.mask, folded,
                                         accumulators[number]);
      next[number] = folded;
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      values[op.getResult(0)] = cloneElementwise(
          b, *linalgOp.getBlock(), llvm::map_to_vector(op.getOperands(), get),
          lanes.width)[0];
    } else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
      values[op.getResult(0)] = get(op.getOperand(0));
    } else if (!isa<tensor::EmptyOp, TileYieldOp>(op) &&
               !op.hasTrait<OpTrait::ConstantLike>()) {
      Type type = getElement(op.getResult(0));
      if (lanes.width)
        type = VectorType::get({lanes.width}, type);
      Operation *wide = b.create(loc, op.getName().getIdentifier(),
                                 llvm::map_to_vector(op.getOperands(), get),
                                 type, op.getAttrs());
      values[op.getResult(0)] = wide->getResult(0);
    }
  }
  Value row = ib.add(run.row, lanes.at);
  Operation *yield = kernel.getBody().front().getTerminator();
  for (auto [result, value] : llvm::zip(results, yield->getOperands()))
    if (!result.reduce)
      store(b, lanes, get(value), result.memref, row);
  return next;
}

SmallVector<Value> RunEmitter::emitRun(OpBuilder &b, Run &run, Value from,
                                       Value to, ValueRange accumulators) {
  readOnce(b, run);
  IndexBuilder ib(b, loc);
  Value width = ib.constant(plan.width);
  Value whole = ib.mul(ib.div(ib.sub(to, from), width), width);
  Value end = ib.add(from, whole);
  auto loopOver = [&](Value begin, Value finish, int64_t lanes,
                      ValueRange state) -> SmallVector<Value> {
    auto loop = scf::ForOp::create(
        b, loc, begin, finish, ib.constant(std::max<int64_t>(lanes, 1)), state,
        [&](OpBuilder &body, Location l, Value at, ValueRange args) {
          scf::YieldOp::create(body, l,
                               emitLanes(body, run, {at, lanes, {}, {}}, args));
        });
    return SmallVector<Value>(loop.getResults());
  };
  SmallVector<Value> state = loopOver(from, end, plan.width, accumulators);
  if (!plan.masksTail)
    return loopOver(end, to, 0, state);
  Value isRest = ib.compare(arith::CmpIPredicate::slt, end, to);
  auto masked = [&](OpBuilder &then, Location l) {
    Value mask = vector::CreateMaskOp::create(
        then, l, VectorType::get({plan.width}, then.getI1Type()),
        IndexBuilder(then, l).sub(to, end));
    scf::YieldOp::create(
        then, l, emitLanes(then, run, {end, plan.width, mask, to}, state));
  };
  if (state.empty()) {
    scf::IfOp::create(b, loc, isRest, masked);
    return {};
  }
  auto rest = scf::IfOp::create(b, loc, isRest, masked,
                                [&](OpBuilder &otherwise, Location l) {
                                  scf::YieldOp::create(otherwise, l, state);
                                });
  return SmallVector<Value>(rest.getResults());
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

SmallVector<Value> RunEmitter::makeAccumulators(OpBuilder &b) {
  SmallVector<Value> vectors, scalars;
  for (TileReduceOp reduce : kernel.getBody().front().getOps<TileReduceOp>()) {
    Value init =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(reduce.getInit()[0]));
    vectors.push_back(splat(b, init, plan.width));
    scalars.push_back(init);
  }
  llvm::append_range(vectors, scalars);
  return vectors;
}

void RunEmitter::finalize(OpBuilder &b, ValueRange accumulators, Value unit,
                          Value sample) {
  IndexBuilder ib(b, loc);
  DenseMap<Operation *, Value> folded;
  for (auto [k, reduce] :
       llvm::enumerate(kernel.getBody().front().getOps<TileReduceOp>())) {
    Block &combine = reduce.getCombine().front();
    Value value = accumulators[k];
    // The upper half into the lower one, until one lane is left.
    for (int64_t width = plan.width / 2; width >= 1; width /= 2) {
      auto half = [&](int64_t offset) -> Value {
        return vector::ExtractStridedSliceOp::create(
            b, loc, value, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{width},
            ArrayRef<int64_t>{1});
      };
      value = cloneElementwise(b, combine, {half(width), half(0)}, width)[0];
    }
    value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
    if (!plan.masksTail)
      value = cloneElementwise(
          b, combine, {accumulators[accumulators.size() / 2 + k], value}, 0)[0];
    SmallVector<Value> arguments = {value};
    for (ExtentAttr extent : toExtents(reduce.getExtents()))
      arguments.push_back(ib.toI64(
          coordinates.evaluate(b, extent, coordinates.getPath(), sample)));
    folded[reduce] =
        cloneElementwise(b, reduce.getFinalize().front(), arguments, 0)[0];
  }
  for (const Result &result : results)
    if (result.reduce)
      store(b, {}, folded.lookup(result.reduce), result.memref, unit);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Value RunEmitter::getLength(OpBuilder &b, unsigned from, unsigned to,
                            Value sample) {
  ExtentAttr length =
      extent::product(b.getContext(), ArrayRef(space).slice(from, to - from));
  return coordinates.evaluate(b, length, coordinates.getPath(), sample);
}

void RunEmitter::splitNumber(OpBuilder &b, Value number, unsigned from,
                             unsigned to, RowPosition &position) {
  IndexBuilder ib(b, loc);
  for (unsigned dim = to; dim-- > from;) {
    if (dim == from) {
      position.coordinates[dim] = number;
      break;
    }
    Value size =
        ib.max(coordinates.getExtent(b, dim, position.sample), ib.constant(1));
    position.coordinates[dim] = ib.rem(number, size);
    number = ib.div(number, size);
  }
}

void RunEmitter::forSamples(
    OpBuilder &b,
    function_ref<void(OpBuilder &, Value, Value, Value, Value)> body) {
  IndexBuilder ib(b, loc);
  Value begin = signature.getBegin(), end = signature.getEnd();
  Value one = ib.constant(1), zero = ib.constant(0);
  std::optional<TableKey> units = coordinates.getUnitTable();
  if (!units) { // A sample is a unit.
    scf::ForOp::create(
        b, loc, begin, end, one, ValueRange(),
        [&](OpBuilder &inner, Location l, Value sample, ValueRange) {
          body(inner, sample, sample, zero, one);
          scf::YieldOp::create(inner, l);
        });
    return;
  }
  Value table = signature.getTable(*units);
  Value first = ib.search(table, begin);
  Value last = ib.add(ib.search(table, ib.sub(end, one)), one);
  scf::ForOp::create(
      b, loc, first, last, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value sample, ValueRange) {
        IndexBuilder sb(inner, l);
        Value offset = sb.load(table, sample);
        Value from = sb.sub(sb.max(offset, begin), offset);
        Value to =
            sb.sub(sb.min(sb.load(table, sb.add(sample, one)), end), offset);
        body(inner, sample, offset, from, to);
        scf::YieldOp::create(inner, l);
      });
}

void RunEmitter::emitFlat(OpBuilder &b) {
  Run run;
  Value zero = IndexBuilder(b, loc).constant(0);
  run.position.sample = run.row = zero;
  run.position.coordinates.assign(space.size(), zero);
  emitRun(b, run, signature.getBegin(), signature.getEnd(), {});
}

/// Rows are units: those of a sample may begin and end within a run.
void RunEmitter::emitMapped(OpBuilder &b) {
  unsigned first = plan.firstOfRun;
  forSamples(b, [&](OpBuilder &outer, Value sample, Value offset, Value from,
                    Value to) {
    IndexBuilder ob(outer, loc);
    Value zero = ob.constant(0), one = ob.constant(1);
    Run run;
    run.position.sample = sample;
    run.position.coordinates.assign(space.size(), zero);
    run.row = offset;
    if (first == 0) {
      emitRun(outer, run, from, to, {});
      return;
    }
    // Where a sample has rows its runs have; else there is no run at all.
    Value length = ob.max(getLength(outer, first, space.size(), sample), one);
    Value firstRun = ob.div(from, length);
    Value lastRun = ob.div(ob.add(to, ob.sub(length, one)), length);
    scf::ForOp::create(
        outer, loc, firstRun, lastRun, one, ValueRange(),
        [&](OpBuilder &inner, Location l, Value number, ValueRange) {
          IndexBuilder ib(inner, l);
          Run one(run);
          Value start = ib.mul(number, length);
          splitNumber(inner, number, 0, first, one.position);
          one.row = ib.add(offset, start);
          emitRun(inner, one, ib.max(ib.sub(from, start), zero),
                  ib.min(ib.sub(to, start), length), {});
          scf::YieldOp::create(inner, l);
        });
  });
}

void RunEmitter::emitFolded(OpBuilder &b) {
  unsigned groups = kernel.getGroups(), first = plan.firstOfRun;
  Value rows = signature.getTable(coordinates.getRowTable());
  forSamples(b, [&](OpBuilder &outer, Value sample, Value offset, Value from,
                    Value to) {
    IndexBuilder ob(outer, loc);
    Value zero = ob.constant(0), one = ob.constant(1);
    Value length = getLength(outer, first, space.size(), sample);
    Value runs = getLength(outer, groups, first, sample);
    Value firstRow = ob.load(rows, sample);
    auto emitUnit = [&](OpBuilder &inner, Value local) {
      IndexBuilder ib(inner, loc);
      Run run;
      run.position.sample = sample;
      run.position.coordinates.assign(space.size(), zero);
      splitNumber(inner, local, 0, groups, run.position);
      SmallVector<Value> state = makeAccumulators(inner);
      auto emitOne = [&](OpBuilder &at, Value number, ValueRange args) {
        IndexBuilder rb(at, loc);
        Run one(run);
        splitNumber(at, number, groups, first, one.position);
        Value before = rb.add(rb.mul(local, runs), number);
        one.row = rb.add(firstRow, rb.mul(before, length));
        return emitRun(at, one, zero, length, args);
      };
      if (groups == first) {
        state = emitOne(inner, zero, state);
      } else {
        auto loop = scf::ForOp::create(
            inner, loc, zero, runs, one, state,
            [&](OpBuilder &at, Location l, Value number, ValueRange args) {
              scf::YieldOp::create(at, l, emitOne(at, number, args));
            });
        state.assign(loop.getResults().begin(), loop.getResults().end());
      }
      Value unit = groups == 0 ? sample : ib.add(offset, local);
      finalize(inner, state, unit, sample);
    };
    if (groups == 0) {
      emitUnit(outer, zero);
      return;
    }
    scf::ForOp::create(
        outer, loc, from, to, one, ValueRange(),
        [&](OpBuilder &inner, Location l, Value local, ValueRange) {
          emitUnit(inner, local);
          scf::YieldOp::create(inner, l);
        });
  });
}

FailureOr<EmittedKernel> RunEmitter::run() {
  if (failed(prepare()))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(signature.getBody());
  bool folds =
      llvm::any_of(results, [](const Result &result) { return result.reduce; });
  if (folds)
    emitFolded(b);
  else if (plan.isFlat)
    emitFlat(b);
  else
    emitMapped(b);
  signature.finish();
  return describeKernel(kernel, signature, coordinates);
}

FailureOr<EmittedKernel>
nested::ragged::emitRunFunction(OpBuilder &b, KernelOp kernel, StringRef name,
                                ScheduleBuilder &schedule,
                                ArrayRef<Value> outputs, const RunPlan &plan) {
  return RunEmitter(b, kernel, name, schedule, outputs, plan).run();
}
