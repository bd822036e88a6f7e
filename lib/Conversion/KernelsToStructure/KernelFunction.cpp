//===- KernelFunction.cpp - A kernel as a function on packed rows -------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "RowRuns.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
class KernelEmitter {
public:
  KernelEmitter(OpBuilder &outer, KernelOp kernel, StringRef name,
                ScheduleBuilder &schedule, ArrayRef<Value> outputs)
      : kernel(kernel), loc(kernel.getLoc()), schedule(schedule),
        outputBuffers(outputs),
        signature(outer, kernel.getLoc(), name, schedule),
        coordinates(kernel, signature),
        reads(kernel, signature, coordinates, schedule), b(outer.getContext()),
        tileRows(kernel.getTile()) {
    b.setInsertionPointToEnd(signature.getBody());
  }
  FailureOr<EmittedKernel> run();

private:
  /// A tensor of the tile that is filled row by row from the row's position.
  struct RowTensor {
    Type elementType;
    std::function<Value(OpBuilder &, const RowPosition &, Value row)> compute;
    Value tensor;
  };
  using RowFunction = decltype(RowTensor::compute);

  LogicalResult plan();
  unsigned addRowTensor(Type elementType, RowFunction compute);
  void emitEmptyUnits();
  void emitFinalize(OpBuilder &at, TileReduceOp reduce, Value dest, Value unit,
                    Value sample);
  void emitTileLoop();
  void emitRows(OpBuilder &at, Value tileStart, Value live,
                RowPosition &position);
  void emitBody(OpBuilder &at, Value tileStart, Value live,
                SmallVector<Value> &accumulators);
  Value emitRead(OpBuilder &at, TileReadOp read, Value tileStart, Value live);
  Value selectRows(OpBuilder &at, Value inside, Value tile, TypedAttr outside);
  Value sharedTensor(Value input);

  KernelOp kernel;
  Location loc;
  ScheduleBuilder &schedule;
  ArrayRef<Value> outputBuffers;
  KernelSignature signature;
  TileCoordinates coordinates;
  RowReads reads;
  OpBuilder b;
  int64_t tileRows;

  Value firstRow, lastRow;
  /// A folded result: one per yielded value, also where two are one reduction.
  struct Fold {
    TileReduceOp reduce;
    Value dest;
  };
  SmallVector<Fold> folds;
  SmallVector<std::pair<unsigned, Value>> stores; // yield operand, memref
  SmallVector<RowTensor> rowTensors;
  DenseMap<Operation *, unsigned> rowTensorOf;
  /// Of reads that may be outside: whether each row is inside.
  DenseMap<Operation *, unsigned> insideOf;
  DenseMap<Operation *, SmallVector<unsigned>> auxOf;
  /// Per row of the tile: the unit that ends with it, or -1.
  Value flush;
  bool needsPositions = false;
  DenseMap<Value, Value> tables;
  DenseMap<Value, Value> shared;
};
} // namespace

unsigned KernelEmitter::addRowTensor(Type elementType, RowFunction compute) {
  rowTensors.push_back({elementType, std::move(compute), {}});
  return rowTensors.size() - 1;
}

/// Decides what is computed per row, and makes the arguments for what is read.
LogicalResult KernelEmitter::plan() {
  Type index = b.getIndexType(), i64 = b.getI64Type();
  for (Operation &op : kernel.getBody().front()) {
    if (auto read = dyn_cast<TileReadOp>(op)) {
      if (failed(reads.prepare(read)))
        return failure();
      // What only says which rows others read is loaded where they look.
      bool onlyIndex = llvm::all_of(read->getUses(), [&](OpOperand &use) {
        if (isa<TileLookupOp>(use.getOwner()))
          return use.getOperandNumber() == 1;
        return isa<TileReadOp>(use.getOwner());
      });
      if (onlyIndex || reads.isPacked(read))
        continue;
      rowTensorOf[&op] = addRowTensor(
          index, [this, read](OpBuilder &at, const RowPosition &p, Value row) {
            return reads.locate(at, read, p, row).row;
          });
      if (RowReads::mayBeOutside(read) && read.getOutside())
        insideOf[&op] = addRowTensor(
            b.getI8Type(),
            [this, read](OpBuilder &at, const RowPosition &p, Value row) {
              Value inside = reads.locate(at, read, p, row).inside;
              if (!inside)
                inside = arith::ConstantIntOp::create(at, loc, 1, 1);
              return arith::ExtUIOp::create(at, loc, at.getI8Type(), inside)
                  .getResult();
            });
    } else if (auto lookup = dyn_cast<TileLookupOp>(op)) {
      if (failed(reads.prepare(lookup)))
        return failure();
      rowTensorOf[&op] =
          addRowTensor(index, [this, lookup](OpBuilder &at,
                                             const RowPosition &p, Value row) {
            return reads.lookup(at, lookup, p, row);
          });
    } else if (auto coord = dyn_cast<TileCoordOp>(op)) {
      rowTensorOf[&op] =
          addRowTensor(i64, [this, dim = static_cast<int64_t>(coord.getDim())](
                                OpBuilder &at, const RowPosition &p, Value) {
            return IndexBuilder(at, loc).toI64(dim < 0 ? p.sample
                                                       : p.coordinates[dim]);
          });
    } else if (auto extentOp = dyn_cast<TileExtentOp>(op)) {
      rowTensorOf[&op] =
          addRowTensor(i64, [this, extent = extentOp.getExtent()](
                                OpBuilder &at, const RowPosition &p, Value) {
            return IndexBuilder(at, loc).toI64(coordinates.evaluate(
                at, extent, coordinates.getPath(), p.sample));
          });
    } else if (auto reduce = dyn_cast<TileReduceOp>(op)) {
      if (kernel.getUnits() == UnitKind::Groups)
        for (ExtentAttr extent : toExtents(reduce.getExtents()))
          auxOf[&op].push_back(addRowTensor(
              i64, [this, extent](OpBuilder &at, const RowPosition &p, Value) {
                return IndexBuilder(at, loc).toI64(coordinates.evaluate(
                    at, extent, coordinates.getPath(), p.sample));
              }));
    }
  }
  needsPositions = !rowTensors.empty();
  Operation *yield = kernel.getBody().front().getTerminator();
  for (auto [k, value] : llvm::enumerate(yield->getOperands())) {
    auto type = cast<RankedTensorType>(value.getType());
    auto reduce = value.getDefiningOp<TileReduceOp>();
    ArrayRef<int64_t> rowShape =
        reduce ? type.getShape() : type.getShape().drop_front();
    Type element = type.getElementType();
    // Chunks leave accumulators, which are finalized later.
    if (reduce && kernel.getUnits() == UnitKind::Chunks)
      element = cast<TypedAttr>(reduce.getInit()[0]).getType();
    Value memref = signature.addBuffer(outputBuffers[k], rowShape, element);
    if (reduce)
      folds.push_back({reduce, memref});
    else
      stores.push_back({k, memref});
  }
  if (!folds.empty())
    needsPositions |= kernel.getUnits() == UnitKind::Groups;
  return success();
}

//===----------------------------------------------------------------------===//
// Folds of nothing
//===----------------------------------------------------------------------===//

/// `dest[unit] = finalize(init, extents of the sample)`, element by element.
void KernelEmitter::emitFinalize(OpBuilder &at, TileReduceOp reduce, Value dest,
                                 Value unit, Value sample) {
  auto shape = cast<MemRefType>(dest.getType()).getShape().drop_front();
  IndexBuilder ib(at, loc);
  SmallVector<Value> lower, upper, step;
  for (int64_t size : shape) {
    lower.push_back(ib.constant(0));
    upper.push_back(ib.constant(size));
    step.push_back(ib.constant(1));
  }
  Block &finalize = reduce.getFinalize().front();
  IRMapping mapping;
  Value init =
      arith::ConstantOp::create(at, loc, cast<TypedAttr>(reduce.getInit()[0]));
  mapping.map(finalize.getArgument(0), init);
  for (auto [k, extent] : llvm::enumerate(toExtents(reduce.getExtents())))
    mapping.map(finalize.getArgument(1 + k),
                ib.toI64(coordinates.evaluate(at, extent, coordinates.getPath(),
                                              sample)));
  for (Operation &op : finalize.without_terminator()) {
    // Constants of the tile program that the region refers to.
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (def->getBlock() != &finalize && !mapping.contains(operand))
          at.clone(*def, mapping);
    at.clone(op, mapping);
  }
  Value yielded = finalize.getTerminator()->getOperand(0);
  if (Operation *def = yielded.getDefiningOp())
    if (def->getBlock() != &finalize && !mapping.contains(yielded))
      at.clone(*def, mapping);
  Value value = mapping.lookupOrDefault(yielded);
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(at, loc, at.getI8Type(), value);
  scf::buildLoopNest(at, loc, lower, upper, step,
                     [&](OpBuilder &body, Location l, ValueRange position) {
                       SmallVector<Value> indices = {unit};
                       llvm::append_range(indices, position);
                       memref::StoreOp::create(body, l, value, dest, indices);
                     });
}

/// R5: units without rows are not met by the loop over rows. All units of a
/// sample have equally many.
void KernelEmitter::emitEmptyUnits() {
  if (folds.empty() || kernel.getUnits() != UnitKind::Groups ||
      coordinates.getUnitRows().isStatic())
    return;
  IndexBuilder ib(b, loc);
  Value begin = signature.getBegin(), end = signature.getEnd();
  std::optional<TableKey> unitKey = coordinates.getUnitTable();
  Value one = ib.constant(1), zero = ib.constant(0), from = begin, to = end,
        units;
  if (unitKey) {
    units = signature.getTable(*unitKey);
    from = ib.search(units, begin);
    to = ib.add(ib.search(units, ib.sub(end, one)), one);
  }
  scf::ForOp::create(
      b, loc, from, to, one, ValueRange{},
      [&](OpBuilder &body, Location l, Value sample, ValueRange) {
        IndexBuilder sb(body, l);
        Value rows = coordinates.evaluate(body, coordinates.getUnitRows(),
                                          coordinates.getPath(), sample);
        Value isEmpty = sb.compare(arith::CmpIPredicate::eq, rows, zero);
        scf::IfOp::create(body, l, isEmpty, [&](OpBuilder &then, Location at) {
          IndexBuilder tb(then, at);
          Value first = sample, last = tb.add(sample, one);
          if (unitKey) {
            first = tb.max(tb.load(units, sample), begin);
            last = tb.min(tb.load(units, last), end);
          }
          scf::ForOp::create(
              then, at, first, last, one, ValueRange{},
              [&](OpBuilder &inner, Location il, Value unit, ValueRange) {
                for (const Fold &fold : folds)
                  emitFinalize(inner, fold.reduce, fold.dest, unit, sample);
                scf::YieldOp::create(inner, il);
              });
          scf::YieldOp::create(then, at);
        });
        scf::YieldOp::create(body, l);
      });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Fills the tensors of the tile that depend on where each row is.
void KernelEmitter::emitRows(OpBuilder &at, Value tileStart, Value live,
                             RowPosition &position) {
  IndexBuilder ib(at, loc);
  SmallVector<Value> state = {position.sample};
  llvm::append_range(state, position.coordinates);
  if (!needsPositions)
    state.clear();
  unsigned stateSize = state.size();
  for (RowTensor &each : rowTensors)
    state.push_back(
        tensor::EmptyOp::create(at, loc, {tileRows}, each.elementType));
  bool flushes = !folds.empty();
  if (flushes)
    state.push_back(
        tensor::EmptyOp::create(at, loc, {tileRows}, at.getIndexType()));
  if (state.empty())
    return;
  auto loop = scf::ForOp::create(
      at, loc, ib.constant(0), live, ib.constant(1), state,
      [&](OpBuilder &body, Location l, Value r, ValueRange args) {
        IndexBuilder rb(body, l);
        Value row = rb.add(tileStart, r);
        RowPosition here;
        SmallVector<Value> next;
        Value unitEnds, unit;
        if (needsPositions) {
          here.sample = args[0];
          here.coordinates.assign(args.begin() + 1, args.begin() + stateSize);
          RowPosition after =
              coordinates.advance(body, here, row, lastRow, unitEnds);
          next.push_back(after.sample);
          llvm::append_range(next, after.coordinates);
        }
        for (auto [k, each] : llvm::enumerate(rowTensors)) {
          Value value = each.compute(body, here, row);
          next.push_back(tensor::InsertOp::create(
              body, l, value, args[stateSize + k], ValueRange{r}));
        }
        if (flushes) {
          Value none = rb.constant(-1);
          if (kernel.getUnits() == UnitKind::Chunks) {
            Value chunk = rb.constant(kernel.getChunk());
            Value following = rb.add(row, rb.constant(1));
            unit = rb.div(row, chunk);
            Value full = rb.compare(arith::CmpIPredicate::eq,
                                    rb.rem(following, chunk), rb.constant(0));
            Value last =
                rb.compare(arith::CmpIPredicate::eq, following, lastRow);
            unitEnds = arith::OrIOp::create(body, l, full, last);
          } else {
            unit = coordinates.getUnit(body, here);
          }
          next.push_back(
              tensor::InsertOp::create(body, l, rb.select(unitEnds, unit, none),
                                       args.back(), ValueRange{r}));
        }
        scf::YieldOp::create(body, l, next);
      });
  if (needsPositions) {
    position.sample = loop.getResult(0);
    for (unsigned k = 0; k < position.coordinates.size(); ++k)
      position.coordinates[k] = loop.getResult(1 + k);
  }
  for (auto [k, each] : llvm::enumerate(rowTensors))
    each.tensor = loop.getResult(stateSize + k);
  if (flushes)
    flush = loop.getResults().back();
}

Value nested::ragged::getInput(KernelOp kernel, Value argument) {
  return kernel.getInputs()[cast<BlockArgument>(argument).getArgNumber() - 1];
}

Value nested::ragged::getDenseMemref(Value value, KernelOp kernel,
                                     KernelSignature &signature,
                                     ScheduleBuilder &schedule) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isa<BlockArgument>(value))
    return signature.addDense(schedule.getBuffer(getInput(kernel, value)),
                              type.getShape(), type.getElementType());
  Location loc = kernel.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(signature.getBody());
  auto constant = cast<arith::ConstantOp>(value.getDefiningOp());
  memref::GlobalOp global =
      schedule.getConstant(cast<DenseElementsAttr>(constant.getValue()), loc);
  return memref::GetGlobalOp::create(b, loc, global.getType(),
                                     global.getSymName());
}

Value KernelEmitter::sharedTensor(Value input) {
  Value &tensor = shared[input];
  if (tensor)
    return tensor;
  auto type = cast<RankedTensorType>(input.getType());
  Value memref = getDenseMemref(input, kernel, signature, schedule);
  // Made once, before the loop over tiles.
  OpBuilder::InsertionGuard guard(b);
  if (Operation *global = memref.getDefiningOp())
    b.setInsertionPointAfter(global);
  else
    b.setInsertionPointToStart(signature.getBody());
  auto stored = RankedTensorType::get(type.getShape(),
                                      getStorageType(type.getElementType()));
  tensor = bufferization::ToTensorOp::create(b, loc, stored, memref,
                                             /*restrict=*/true);
  return tensor;
}

/// Rows of no columns: nothing is computed, stored or folded.
static bool isWithoutColumns(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getNumElements() == 0;
}

/// The rows that a read is of; null if only other reads use them.
Value KernelEmitter::emitRead(OpBuilder &at, TileReadOp read, Value tileStart,
                              Value live) {
  auto it = rowTensorOf.find(read);
  bool isPacked = it == rowTensorOf.end() && reads.isPacked(read);
  if (it == rowTensorOf.end() && !isPacked)
    return {};
  Value source = reads.getSource(read);
  auto result = cast<RankedTensorType>(read.getType());
  Type element = getStorageType(result.getElementType());
  SmallVector<int64_t> shape(result.getShape());
  SmallVector<OpFoldResult> places(shape.size(), at.getIndexAttr(0));
  if (std::optional<ArrayRef<int64_t>> inner = read.getInnerOffsets()) {
    // Part of each row: a view of the source.
    ArrayRef<int64_t> rowShape =
        cast<MemRefType>(source.getType()).getShape().drop_front();
    SmallVector<OpFoldResult> offsets = {at.getIndexAttr(0)}, sizes, strides;
    sizes.push_back(memref::DimOp::create(at, loc, source, 0).getResult());
    for (auto [k, offset] : llvm::enumerate(*inner)) {
      int64_t first = std::max<int64_t>(offset, 0);
      int64_t end = std::min(offset + shape[k + 1], rowShape[k]);
      places[k + 1] = at.getIndexAttr(first - offset);
      shape[k + 1] = std::max<int64_t>(end - first, 0);
      offsets.push_back(at.getIndexAttr(first));
      sizes.push_back(at.getIndexAttr(shape[k + 1]));
    }
    strides.assign(offsets.size(), at.getIndexAttr(1));
    if (!llvm::is_contained(shape, 0))
      source =
          memref::SubViewOp::create(at, loc, source, offsets, sizes, strides);
  }
  bool isPart = shape != SmallVector<int64_t>(result.getShape());
  Value fill, empty;
  if (isPart) {
    fill = arith::ConstantOp::create(at, loc, *read.getOutside());
    if (result.getElementType() != element)
      fill = arith::ExtUIOp::create(at, loc, element, fill);
    empty = tensor::EmptyOp::create(at, loc, result.getShape(), element);
    fill = linalg::FillOp::create(at, loc, fill, empty).getResult(0);
    if (llvm::is_contained(shape, 0))
      return fill;
  }
  auto type = RankedTensorType::get(shape, element);
  Value tile;
  if (isPacked)
    tile = TileLoadOp::create(at, read.getLoc(), type, source, tileStart, live);
  else
    tile = TileGatherOp::create(at, read.getLoc(), type, source,
                                rowTensors[it->second].tensor, live);
  if (auto inside = insideOf.find(read); inside != insideOf.end())
    tile = selectRows(at, rowTensors[inside->second].tensor, tile,
                      *read.getOutside());
  if (!isPart)
    return tile;
  SmallVector<OpFoldResult> sizes, strides(shape.size(), at.getIndexAttr(1));
  for (int64_t size : shape)
    sizes.push_back(at.getIndexAttr(size));
  return tensor::InsertSliceOp::create(at, loc, tile, fill, places, sizes,
                                       strides);
}

/// The tile's rows where `inside` is not 0, and a constant elsewhere.
Value KernelEmitter::selectRows(OpBuilder &at, Value inside, Value tile,
                                TypedAttr outside) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value empty =
      tensor::EmptyOp::create(at, loc, type.getShape(), type.getElementType());
  AffineMap identity = at.getMultiDimIdentityMap(type.getRank());
  SmallVector<AffineMap> maps = {identity.getMajorSubMap(1), identity,
                                 identity};
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             at, loc, TypeRange{type}, ValueRange{inside, tile},
             ValueRange{empty}, maps, iterators,
             [&](OpBuilder &body, Location l, ValueRange args) {
               Value zero = arith::ConstantIntOp::create(body, l, 0, 8);
               Value here = arith::CmpIOp::create(
                   body, l, arith::CmpIPredicate::ne, args[0], zero);
               Value other = arith::ConstantOp::create(body, l, outside);
               if (other.getType() != type.getElementType())
                 other = arith::ExtUIOp::create(body, l, type.getElementType(),
                                                other);
               Value value =
                   arith::SelectOp::create(body, l, here, args[1], other);
               linalg::YieldOp::create(body, l, value);
             })
      .getResult(0);
}

/// The tile program, with tile access on memrefs.
void KernelEmitter::emitBody(OpBuilder &at, Value tileStart, Value live,
                             SmallVector<Value> &accumulators) {
  IRMapping mapping;
  auto storageTensor = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(tensor.getShape(),
                                 getStorageType(tensor.getElementType()));
  };
  auto isShared = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return false;
    if (auto arg = dyn_cast<BlockArgument>(value))
      return arg.getOwner() == &kernel.getBody().front();
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    return constant && isa<DenseElementsAttr>(constant.getValue());
  };
  auto mapShared = [&](Operation &op) {
    op.walk([&](Operation *inside) {
      for (Value operand : inside->getOperands())
        if (isShared(operand) && !mapping.contains(operand))
          mapping.map(operand, sharedTensor(operand));
    });
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto read = dyn_cast<TileReadOp>(op)) {
      if (Value tile = emitRead(at, read, tileStart, live))
        mapping.map(read.getResult(), tile);
    } else if (auto lookup = dyn_cast<TileLookupOp>(op)) {
      Value &memref = tables[lookup.getTable()];
      if (!memref)
        memref = getDenseMemref(lookup.getTable(), kernel, signature, schedule);
      mapping.map(lookup.getResult(),
                  TileGatherOp::create(
                      at, lookup.getLoc(),
                      storageTensor(lookup.getResult().getType()), memref,
                      rowTensors[rowTensorOf[&op]].tensor, live)
                      .getResult());
    } else if (isa<TileCoordOp, TileExtentOp>(op)) {
      mapping.map(op.getResult(0), rowTensors[rowTensorOf[&op]].tensor);
    } else if (auto reduce = dyn_cast<TileReduceOp>(op)) {
      Value input = mapping.lookup(reduce.getInputs()[0]);
      SmallVector<Value> aux;
      for (unsigned row : auxOf[&op])
        aux.push_back(rowTensors[row].tensor);
      for (auto [k, fold] : llvm::enumerate(folds)) {
        if (fold.reduce != reduce || isWithoutColumns(reduce.getInputs()[0]))
          continue;
        auto lowered = TileFoldOp::create(
            at, reduce.getLoc(), TypeRange{accumulators[k].getType()},
            ValueRange{input}, ValueRange{accumulators[k]},
            ValueRange{accumulators[folds.size() + k]}, flush,
            ValueRange{fold.dest}, aux, live);
        if (kernel.getUnits() == UnitKind::Chunks &&
            kernel.getChunk() % tileRows == 0)
          lowered->setAttr(kWholeTilesAttr, at.getUnitAttr());
        IRMapping regions(mapping);
        reduce.getCombine().cloneInto(&lowered.getCombine(), regions);
        if (kernel.getUnits() != UnitKind::Chunks) {
          reduce.getFinalize().cloneInto(&lowered.getFinalize(), regions);
        } else { // Finalized when the chunks are combined.
          OpBuilder::InsertionGuard guard(at);
          Type element = cast<TypedAttr>(reduce.getInit()[0]).getType();
          Block *block =
              at.createBlock(&lowered.getFinalize(), {}, {element}, {loc});
          YieldOp::create(at, loc, block->getArguments());
        }
        accumulators[k] = lowered.getResult(0);
      }
    } else if (op.getNumResults() != 1 || !isShared(op.getResult(0))) {
      mapShared(op);
      at.clone(op, mapping);
    }
  }
  Operation *yield = kernel.getBody().front().getTerminator();
  mapShared(*yield);
  for (auto &[k, memref] : stores)
    if (!isWithoutColumns(yield->getOperand(k)))
      TileStoreOp::create(at, loc, mapping.lookup(yield->getOperand(k)), memref,
                          tileStart, live);
}

void KernelEmitter::emitTileLoop() {
  IndexBuilder ib(b, loc);
  // Accumulators are carried from tile to tile: rows of a unit may span
  // several.
  SmallVector<Value> inits;
  for (Fold &fold : folds) {
    auto type = cast<RankedTensorType>(fold.reduce.getResult(0).getType());
    auto neutral = cast<TypedAttr>(fold.reduce.getInit()[0]);
    Value empty =
        tensor::EmptyOp::create(b, loc, type.getShape(), neutral.getType());
    Value constant = arith::ConstantOp::create(b, loc, neutral);
    inits.push_back(
        linalg::FillOp::create(b, loc, constant, empty).getResult(0));
  }
  SmallVector<Value> state;
  RowPosition start;
  if (needsPositions) {
    start = coordinates.locate(b, firstRow);
    state.push_back(start.sample);
    llvm::append_range(state, start.coordinates);
  }
  unsigned positions = state.size();
  llvm::append_range(state, inits);
  Value step = ib.constant(tileRows);
  auto loop = scf::ForOp::create(
      b, loc, firstRow, lastRow, step, state,
      [&](OpBuilder &body, Location l, Value tileStart, ValueRange args) {
        IndexBuilder tb(body, l);
        Value live = tb.min(tb.sub(lastRow, tileStart), step);
        RowPosition position;
        if (needsPositions) {
          position.sample = args[0];
          position.coordinates.assign(args.begin() + 1,
                                      args.begin() + positions);
        }
        emitRows(body, tileStart, live, position);
        SmallVector<Value> accumulators(args.begin() + positions, args.end());
        llvm::append_range(accumulators, inits);
        emitBody(body, tileStart, live, accumulators);
        SmallVector<Value> next;
        if (needsPositions) {
          next.push_back(position.sample);
          llvm::append_range(next, position.coordinates);
        }
        next.append(accumulators.begin(), accumulators.begin() + folds.size());
        scf::YieldOp::create(body, l, next);
      });
  loop->setAttr(kTileLoopAttr, b.getUnitAttr());
}

FailureOr<EmittedKernel> KernelEmitter::run() {
  if (failed(plan()))
    return failure();
  std::tie(firstRow, lastRow) = coordinates.getRowRange(b);
  emitEmptyUnits();
  emitTileLoop();
  signature.finish();
  SmallVector<Value> results;
  for (auto &[k, memref] : stores)
    if (outputBuffers[k].getDefiningOp<BufferOp>().getKind() == "result")
      results.push_back(memref);
  reads.markOwnRows(results);
  storeBooleansAsBytes(signature.getFunction());
  return describeKernel(kernel, signature, coordinates);
}

EmittedKernel nested::ragged::describeKernel(KernelOp kernel,
                                             KernelSignature &signature,
                                             TileCoordinates &coordinates) {
  EmittedKernel emitted;
  emitted.memrefs = llvm::to_vector(signature.getMemrefOperands());
  emitted.scalars = llvm::to_vector(signature.getScalarOperands());
  emitted.rowTable = coordinates.getRowTable();
  if (kernel.getUnits() == UnitKind::Groups)
    emitted.unitTable = coordinates.getUnitTable();
  Builder builder(kernel.getContext());
  emitted.errors = signature.getErrors(builder);
  countCosts(kernel, emitted);
  return emitted;
}

FailureOr<EmittedKernel>
nested::ragged::emitKernelFunction(OpBuilder &b, KernelOp kernel,
                                   StringRef name, ScheduleBuilder &schedule,
                                   ArrayRef<Value> outputs) {
  return KernelEmitter(b, kernel, name, schedule, outputs).run();
}
