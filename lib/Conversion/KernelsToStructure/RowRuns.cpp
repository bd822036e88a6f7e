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
//    `finalize(init)` without a case of its own (R5). Up to 64 columns have
//    their accumulators in registers; those of more go to scratch memory and
//    back once for some rows, which stay in the first-level cache meanwhile.
// 5. Of several kernels (RowRunChain.cpp) a unit goes through all before the
//    next one: its rows are in the second-level cache then, and the next unit's
//    are fetched while something long is computed.
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"
#include "RowRunEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nested::ragged;
using Access = RunPlan::Access;

Value RunFunction::getElements(Value buffer, Type elementType) {
  Value &memref = elements[buffer];
  if (!memref)
    memref = signature.addBuffer(buffer, {}, elementType);
  return memref;
}

/// Memory of the calling thread with an element for each column.
Value RunEmitter::addScratch(OpBuilder &b, Type elementType) {
  return memref::AllocOp::create(
      b, loc, MemRefType::get({plan.columns}, getStorageType(elementType)));
}

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
    if (!isNarrow(value)) {
      shared[value] = memref;
      return;
    }
    SmallVector<Value> origin(type.getRank(), IndexBuilder(b, loc).constant(0));
    shared[value] = cut(b, memref::LoadOp::create(b, loc, memref, origin),
                        getTileElement(value));
  };
  for (Operation &op : body) {
    if (auto read = dyn_cast<TileReadOp>(op)) {
      if (isFolded(read)) {
        Value &memory = function.folded[getInput(kernel, read.getSource())];
        if (isWide() && !memory)
          memory = addScratch(b, getTileElement(read.getResult()));
        continue;
      }
      Access access = plan.reads.lookup(read);
      if ((access != Access::Contiguous || !read.getStarts().empty()) &&
          failed(reads.prepare(read)))
        return failure();
      Value input = getInput(kernel, read.getSource());
      if (access == Access::Contiguous)
        sources[read] = function.getElements(
            schedule.getBuffer(input), LogicalType::of(input).elementType);
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
    Value memref;
    if (outputBuffers[k])
      memref = function.getElements(outputBuffers[k], getTileElement(value));
    results.push_back({reduce, memref});
    if (reduce)
      function.folded.try_emplace(kernel.getResult(k));
  }
  if (plan.foldsInMemory)
    for (TileReduceOp reduce : body.getOps<TileReduceOp>())
      scratch.push_back(
          addScratch(b, cast<TypedAttr>(reduce.getInit()[0]).getType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Rows of a run
//===----------------------------------------------------------------------===//

void RunEmitter::forColumns(OpBuilder &b, ColumnBody body) {
  IndexBuilder ib(b, loc);
  int64_t done = plan.columns / plan.width * plan.width;
  if (done == plan.width)
    body(b, ib.constant(0), plan.width);
  else if (done)
    scf::ForOp::create(
        b, loc, ib.constant(0), ib.constant(done), ib.constant(plan.width),
        ValueRange(),
        [&](OpBuilder &inner, Location l, Value column, ValueRange) {
          body(inner, column, plan.width);
          scf::YieldOp::create(inner, l);
        });
  for (int64_t width = plan.width / 2; done < plan.columns; width /= 2)
    if (plan.columns - done >= width) {
      body(b, ib.constant(done), width);
      done += width;
    }
}

/// `block`: the columns whose folds these are; without a column if rows are
/// stored, or narrow.
SmallVector<Value> RunEmitter::emitRun(OpBuilder &b, Run &run, Value from,
                                       Value to, ValueRange accumulators,
                                       const Lanes &block) {
  readOnce(b, run, block);
  return isWide() ? emitWide(b, run, from, to, accumulators, block)
                  : emitNarrow(b, run, from, to, accumulators);
}

/// Rows of a block of columns, whose folds are carried in registers.
SmallVector<Value> RunEmitter::foldRows(OpBuilder &b, const Run &run,
                                        Value from, Value to,
                                        ValueRange accumulators,
                                        const Lanes &block, const Strip &strip,
                                        Part part) {
  auto loop = scf::ForOp::create(
      b, loc, from, to, IndexBuilder(b, loc).constant(1), accumulators,
      [&](OpBuilder &body, Location l, Value at, ValueRange args) {
        Lanes lanes{at, block.width, {}, {}, block.column};
        State row = beginRow(body, run, at);
        if (part == Part::All)
          prefetch(body, run, lanes, strip);
        scf::YieldOp::create(body, l,
                             emitLanes(body, run, lanes, row, args, part));
      });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> RunEmitter::emitWide(OpBuilder &b, const Run &run,
                                        Value from, Value to,
                                        ValueRange accumulators,
                                        const Lanes &block) {
  if (block.column)
    return foldRows(b, run, from, to, accumulators, block, {}, Part::All);
  auto emitRow = [&](OpBuilder &body, Value at, Part part) {
    State row = beginRow(body, run, at);
    forColumns(body, [&](OpBuilder &inner, Value column, int64_t width) {
      Lanes lanes{at, width, {}, {}, column};
      if (part == Part::Kept)
        prefetch(inner, run, lanes, {});
      emitLanes(inner, run, lanes, row, {}, part);
    });
  };
  // Rows that are folded stay in the first-level cache for all blocks of
  // columns. Others are read and written once. What is kept is stored before:
  // it may be long, and would share registers with accumulators.
  bool keeps = plan.kept && !plan.loadsKept;
  Part part = plan.kept ? Part::Rest : Part::All;
  int64_t together = plan.foldsInMemory ? getStripRows() : 1;
  scf::ForOp::create(
      b, loc, from, to, IndexBuilder(b, loc).constant(together), ValueRange(),
      [&](OpBuilder &body, Location l, Value at, ValueRange) {
        IndexBuilder rb(body, l);
        if (plan.foldsInMemory) {
          Value count = rb.min(rb.sub(to, at), rb.constant(together));
          Value end = rb.add(at, count);
          if (keeps)
            scf::ForOp::create(
                body, l, at, end, rb.constant(1), ValueRange(),
                [&](OpBuilder &inner, Location il, Value row, ValueRange) {
                  emitRow(inner, row, Part::Kept);
                  scf::YieldOp::create(inner, il);
                });
          forColumns(body, [&](OpBuilder &inner, Value column, int64_t width) {
            Lanes lanes{at, width, {}, {}, column};
            storeAccumulators(inner,
                              foldRows(inner, run, at, end,
                                       loadAccumulators(inner, lanes), lanes,
                                       {at, count}, part),
                              lanes);
          });
        } else {
          emitRow(body, at, part);
        }
        scf::YieldOp::create(body, l);
      });
  return {};
}

SmallVector<Value> RunEmitter::emitNarrow(OpBuilder &b, const Run &run,
                                          Value from, Value to,
                                          ValueRange accumulators) {
  IndexBuilder ib(b, loc);
  Value width = ib.constant(plan.width);
  Value whole = ib.mul(ib.div(ib.sub(to, from), width), width);
  Part part = plan.loadsKept ? Part::Rest : Part::All;
  Value end = ib.add(from, whole);
  auto loopOver = [&](Value begin, Value finish, int64_t lanes,
                      ValueRange state) -> SmallVector<Value> {
    auto loop = scf::ForOp::create(
        b, loc, begin, finish, ib.constant(std::max<int64_t>(lanes, 1)), state,
        [&](OpBuilder &body, Location l, Value at, ValueRange args) {
          scf::YieldOp::create(body, l,
                               emitLanes(body, run, {at, lanes, {}, {}, {}},
                                         State(), args, part));
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
    scf::YieldOp::create(then, l,
                         emitLanes(then, run, {end, plan.width, mask, to, {}},
                                   State(), state, part));
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

SmallVector<Value> RunEmitter::makeAccumulators(OpBuilder &b, int64_t width) {
  SmallVector<Value> vectors, scalars;
  for (TileReduceOp reduce : kernel.getBody().front().getOps<TileReduceOp>()) {
    Value init =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(reduce.getInit()[0]));
    vectors.push_back(splat(b, init, width));
    scalars.push_back(init);
  }
  if (!isWide())
    llvm::append_range(vectors, scalars);
  return vectors;
}

SmallVector<Value> RunEmitter::loadAccumulators(OpBuilder &b,
                                                const Lanes &block) {
  SmallVector<Value> values;
  for (auto [memref, reduce] :
       llvm::zip(scratch, kernel.getBody().front().getOps<TileReduceOp>())) {
    Type stored = cast<MemRefType>(memref.getType()).getElementType();
    Value loaded = vector::LoadOp::create(
        b, loc, VectorType::get({block.width}, stored), memref, block.column);
    values.push_back(
        cut(b, loaded, cast<TypedAttr>(reduce.getInit()[0]).getType()));
  }
  return values;
}

void RunEmitter::storeAccumulators(OpBuilder &b, ValueRange accumulators,
                                   const Lanes &block) {
  for (auto [memref, value] : llvm::zip(scratch, accumulators))
    store(b, block, value, memref, block.column);
}

/// The lanes of a fold as one element.
Value RunEmitter::combineLanes(OpBuilder &b, TileReduceOp reduce,
                               Value accumulator, Value scalar) {
  Block &combine = reduce.getCombine().front();
  // The upper half into the lower one, until one lane is left.
  for (int64_t width = plan.width / 2; width >= 1; width /= 2) {
    auto half = [&](int64_t offset) -> Value {
      return vector::ExtractStridedSliceOp::create(
          b, loc, accumulator, ArrayRef<int64_t>{offset},
          ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
    };
    accumulator =
        cloneElementwise(b, combine, {half(width), half(0)}, width)[0];
  }
  Value value =
      vector::ExtractOp::create(b, loc, accumulator, ArrayRef<int64_t>{0});
  if (plan.masksTail)
    return value;
  return cloneElementwise(b, combine, {scalar, value}, 0)[0];
}

void RunEmitter::finalize(OpBuilder &b, ValueRange accumulators, Value unit,
                          Value sample, const Lanes &block) {
  IndexBuilder ib(b, loc);
  DenseMap<Operation *, Value> folded;
  for (auto [k, reduce] :
       llvm::enumerate(kernel.getBody().front().getOps<TileReduceOp>())) {
    Value value = accumulators[k];
    if (!isWide())
      value = combineLanes(b, reduce, value,
                           accumulators[accumulators.size() / 2 + k]);
    SmallVector<Value> arguments = {value};
    for (ExtentAttr extent : toExtents(reduce.getExtents()))
      arguments.push_back(ib.toI64(
          coordinates.evaluate(b, extent, coordinates.getPath(), sample)));
    folded[reduce] = cloneElementwise(b, reduce.getFinalize().front(),
                                      arguments, block.width)[0];
  }
  Value index = unit;
  if (block.column)
    index = ib.add(ib.mul(unit, ib.constant(plan.columns)), block.column);
  for (auto [result, value] : llvm::zip(results, kernel.getResults())) {
    if (!result.reduce)
      continue;
    Value made = folded.lookup(result.reduce);
    Value &known = function.folded[value];
    if (!isWide())
      known = made;
    else if (known)
      store(b, block, made, known, block.column);
    if (result.memref)
      store(b, block, made, result.memref, index);
  }
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

void RunEmitter::emitFlat(OpBuilder &b) {
  Run run;
  Value zero = IndexBuilder(b, loc).constant(0);
  run.position.sample = run.row = zero;
  run.position.coordinates.assign(space.size(), zero);
  emitRun(b, run, signature.getBegin(), signature.getEnd(), {}, {});
}

/// Rows are units: those of a sample may begin and end within a run.
void RunEmitter::emitMapped(OpBuilder &b) {
  unsigned first = plan.firstOfRun;
  signature.forSamples(
      b, loc, coordinates.getUnitTable(),
      [&](OpBuilder &outer, Value sample, Value offset, Value from, Value to) {
        IndexBuilder ob(outer, loc);
        Value zero = ob.constant(0), one = ob.constant(1);
        Run run;
        run.position.sample = sample;
        run.position.coordinates.assign(space.size(), zero);
        run.row = offset;
        if (first == 0) {
          emitRun(outer, run, from, to, {}, {});
          return;
        }
        // Where a sample has rows its runs have; else there is no run at all.
        Value length =
            ob.max(getLength(outer, first, space.size(), sample), one);
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
                      ib.min(ib.sub(to, start), length), {}, {});
              scf::YieldOp::create(inner, l);
            });
      });
}

void RunEmitter::emitUnit(OpBuilder &b, const Unit &unit, const Lanes &block) {
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0), one = ib.constant(1);
  unsigned groups = coordinates.getGroups(), first = plan.firstOfRun;
  SmallVector<Value> state;
  if (plan.foldsInMemory)
    forColumns(b, [&](OpBuilder &at, Value column, int64_t width) {
      storeAccumulators(at, makeAccumulators(at, width),
                        {zero, width, {}, {}, column});
    });
  else
    state = makeAccumulators(b, isWide() ? block.width : plan.width);
  auto emitOne = [&](OpBuilder &at, Value number, ValueRange args) {
    IndexBuilder rb(at, loc);
    Run run;
    run.position = unit.position;
    splitNumber(at, number, groups, first, run.position);
    Value before = rb.add(rb.mul(unit.local, runs), number);
    run.row = rb.add(unit.firstRow, rb.mul(before, length));
    return emitRun(at, run, zero, length, args, block);
  };
  if (groups == first) {
    state = emitOne(b, zero, state);
  } else {
    auto loop = scf::ForOp::create(
        b, loc, zero, runs, one, state,
        [&](OpBuilder &at, Location l, Value number, ValueRange args) {
          scf::YieldOp::create(at, l, emitOne(at, number, args));
        });
    state.assign(loop.getResults().begin(), loop.getResults().end());
  }
  Value number = groups == 0 ? unit.sample : ib.add(unit.firstUnit, unit.local);
  if (!plan.foldsInMemory)
    return finalize(b, state, number, unit.sample, block);
  forColumns(b, [&](OpBuilder &at, Value column, int64_t width) {
    Lanes lanes{zero, width, {}, {}, column};
    finalize(at, loadAccumulators(at, lanes), number, unit.sample, lanes);
  });
}

Value RunEmitter::getNext(OpBuilder &b) {
  IndexBuilder ib(b, loc);
  Value rows = ib.mul(runs, length);
  // What is large would be gone before it is needed.
  Value isLarge = ib.compare(arith::CmpIPredicate::sgt, rows,
                             ib.constant(kCachedElements / plan.columns));
  return ib.mul(ib.select(isLarge, ib.constant(getStripRows()), rows),
                ib.constant(plan.columns));
}

void RunEmitter::emitUnits(OpBuilder &b, MutableArrayRef<RunEmitter> kernels) {
  RunEmitter &first = kernels.front();
  Location loc = first.loc;
  TileCoordinates &coordinates = first.coordinates;
  unsigned groups = coordinates.getGroups();
  Value rows = first.signature.getTable(coordinates.getRowTable());
  first.signature.forSamples(
      b, loc, coordinates.getUnitTable(),
      [&](OpBuilder &outer, Value sample, Value offset, Value from, Value to) {
        IndexBuilder ob(outer, loc);
        Value zero = ob.constant(0), one = ob.constant(1);
        for (RunEmitter &kernel : kernels) {
          unsigned ofRun = kernel.plan.firstOfRun;
          kernel.length =
              kernel.getLength(outer, ofRun, kernel.space.size(), sample);
          kernel.runs = kernel.getLength(outer, groups, ofRun, sample);
          if (kernel.isWide() && kernel.plan.kept && !kernel.plan.loadsKept)
            kernel.ahead = kernel.getNext(outer);
        }
        Value firstRow = ob.load(rows, sample);
        auto emitOne = [&](OpBuilder &inner, Value local) {
          Unit unit{sample, local, offset, firstRow, {}};
          unit.position.sample = sample;
          unit.position.coordinates.assign(first.space.size(), zero);
          first.splitNumber(inner, local, 0, groups, unit.position);
          if (first.isWide() && kernels.size() == 1 &&
              !first.plan.foldsInMemory) {
            first.forColumns(
                inner, [&](OpBuilder &at, Value column, int64_t width) {
                  first.emitUnit(at, unit, {zero, width, {}, {}, column});
                });
            return;
          }
          for (RunEmitter &kernel : kernels)
            kernel.emitUnit(inner, unit, {});
        };
        if (groups == 0) {
          emitOne(outer, zero);
          return;
        }
        scf::ForOp::create(
            outer, loc, from, to, one, ValueRange(),
            [&](OpBuilder &inner, Location l, Value local, ValueRange) {
              emitOne(inner, local);
              scf::YieldOp::create(inner, l);
            });
      });
}

void RunEmitter::emitRows(OpBuilder &b) {
  if (plan.isFlat)
    emitFlat(b);
  else
    emitMapped(b);
}

FailureOr<EmittedKernel>
nested::ragged::emitRunFunction(OpBuilder &b, ArrayRef<PlannedRuns> kernels,
                                StringRef name, ScheduleBuilder &schedule) {
  KernelOp first = kernels.front().kernel;
  RunFunction function(b, first, name, schedule);
  std::vector<RunEmitter> emitters;
  for (const PlannedRuns &each : kernels)
    emitters.emplace_back(function, each.kernel, each.outputs, each.plan);
  for (RunEmitter &emitter : emitters)
    if (failed(emitter.prepare()))
      return failure();
  for (auto [emitter, each] : llvm::zip(emitters, kernels))
    if (each.keptIn)
      emitter.keepIn(function.getElements(schedule.getBuffer(each.keptIn),
                                          each.plan.kept.getType()));
  OpBuilder body = OpBuilder::atBlockEnd(function.signature.getBody());
  if (first.getBody().front().getOps<TileReduceOp>().empty())
    emitters.front().emitRows(body);
  else
    RunEmitter::emitUnits(body, emitters);
  function.signature.finish();
  if (kernels.size() > 1)
    markOwnUnits(function, kernels);
  EmittedKernel emitted =
      describeKernel(first, function.signature, function.coordinates);
  for (const PlannedRuns &each : kernels.drop_front())
    countCosts(each.kernel, emitted);
  return emitted;
}
