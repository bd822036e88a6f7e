//===- KernelOp.cpp - ragged.kernel ---------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel runs as its op says: the rows of the space are handed out in grains
// of a few units, a grain is cut into tiles regardless of where units end, and
// the region runs for each tile.
//
// 1. The rows of the batch are listed, with their unit and coordinates.
// 2. For each tile the ops of the region run in order. Rows of a tile that are
//    past the end of its grain are poison: a region that uses one computes NaN,
//    or numbers that would be noticed.
// 3. What is yielded as a tile is stored row by row; a fold is stored where its
//    unit ends, of kind `chunks` when all rows have been seen.
//
//===----------------------------------------------------------------------===//

#include "KernelTile.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

/// Units of one grain; more than one, so that a tile has rows of several.
static constexpr int64_t kUnitsOfGrain = 3;

namespace nested::reference {
/// One kernel on one batch.
class KernelRun {
public:
  KernelRun(Interpreter &interpreter, ragged::KernelOp op)
      : interpreter(interpreter), scope(interpreter.scope), op(op) {
    for (Attribute name : op.getPath())
      path.push_back(cast<StringAttr>(name));
    for (Attribute extent : op.getSpace())
      space.push_back(cast<ragged::ExtentAttr>(extent));
  }
  LogicalResult run();

private:
  struct Unit {
    int64_t instance;
    SmallVector<int64_t, 4> group;
    int64_t begin, end;
  };
  /// Accumulators of a fold, of one unit or of all.
  using Accumulators = SmallVector<Array, 1>;

  LogicalResult listRows();
  LogicalResult runTile(int64_t begin, int64_t live);
  LogicalResult read(ragged::TileReadOp op, Tile &tile);
  LogicalResult lookup(ragged::TileLookupOp op, Tile &tile);
  LogicalResult fold(ragged::TileReduceOp op, Tile &tile);

  Accumulators makeInit(ragged::TileReduceOp op);
  LogicalResult combine(ragged::TileReduceOp op, ArrayRef<Array> values,
                        int64_t row, Accumulators &into);
  LogicalResult finish(ragged::TileReduceOp op, const Accumulators &values,
                       const Unit *unit);
  FailureOr<int64_t> evaluateTotal(ragged::ExtentAttr extent);
  FailureOr<ScalarProgram *> getProgram(Block &block);
  void store(unsigned result, int64_t instance, ArrayRef<int64_t> outer,
             const Array &values, int64_t offset);

  Interpreter &interpreter;
  Scope &scope;
  ragged::KernelOp op;
  SmallVector<StringAttr> path;
  SmallVector<ragged::ExtentAttr> space;
  const Instances *instances = nullptr;
  std::vector<Unit> units;
  std::vector<TileRow> rows;
  std::vector<RaggedValue> results;
  llvm::DenseMap<Operation *, Accumulators> open, totals;
  llvm::DenseMap<Block *, std::unique_ptr<ScalarProgram>> programs;
  /// A scope keeps no more than a reference to it.
  std::function<InFlightDiagnostic()> emitError = [this] {
    return op->emitError();
  };
};
} // namespace nested::reference

//===----------------------------------------------------------------------===//
// Rows and units
//===----------------------------------------------------------------------===//

LogicalResult KernelRun::listRows() {
  FailureOr<const Instances *> found = scope.getInstances(emitError, path);
  if (failed(found))
    return failure();
  instances = *found;
  bool chunks = op.getUnits() == ragged::UnitKind::Chunks;
  unsigned groups = chunks ? 0 : static_cast<int64_t>(op.getGroups());
  for (int64_t i = 0; i < instances->count; ++i) {
    auto shape = scope.evaluate(emitError, space, path, i);
    if (failed(shape))
      return failure();
    ArrayRef<int64_t> sizes = *shape;
    for (Odometer outer(sizes.take_front(groups)); outer.isValid();
         outer.next()) {
      Unit unit{i, SmallVector<int64_t, 4>(outer.getCoordinates()),
                static_cast<int64_t>(rows.size()), 0};
      for (Odometer inner(sizes.drop_front(groups)); inner.isValid();
           inner.next()) {
        SmallVector<int64_t, 4> coordinates(unit.group);
        llvm::append_range(coordinates, inner.getCoordinates());
        rows.push_back(
            {i, std::move(coordinates), static_cast<int64_t>(units.size())});
      }
      unit.end = rows.size();
      if (!chunks)
        units.push_back(std::move(unit));
    }
  }
  if (!chunks)
    return success();
  int64_t count = rows.size(), size = op.getChunk();
  for (int64_t begin = 0; begin < count; begin += size) {
    for (int64_t row = begin; row < std::min(begin + size, count); ++row)
      rows[row].unit = units.size();
    units.push_back({-1, {}, begin, std::min(begin + size, count)});
  }
  return success();
}

LogicalResult KernelRun::run() {
  if (failed(listRows()))
    return failure();
  for (Type type : op->getResultTypes()) {
    FailureOr<RaggedValue> result = interpreter.allocate(op, type);
    if (failed(result))
      return failure();
    for (Array &array : result->instances)
      fillWithPoison(array);
    results.push_back(std::move(*result));
  }
  int64_t step = op.getTile();
  for (size_t unit = 0; unit < units.size(); unit += kUnitsOfGrain) {
    size_t last = std::min(unit + kUnitsOfGrain, units.size()) - 1;
    int64_t begin = units[unit].begin, end = units[last].end;
    for (int64_t tile = begin; tile < end; tile += step)
      if (failed(runTile(tile, std::min(step, end - tile))))
        return failure();
  }
  // Folds of nothing (R5), and of the whole batch.
  WalkResult walk = op.getBody().walk([&](ragged::TileReduceOp fold) {
    if (op.getUnits() == ragged::UnitKind::Chunks) {
      auto it = totals.find(fold);
      return WalkResult(finish(
          fold, it == totals.end() ? makeInit(fold) : it->second, nullptr));
    }
    for (const Unit &unit : units)
      if (unit.begin == unit.end && failed(finish(fold, makeInit(fold), &unit)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    if (failed(interpreter.set(result, std::move(value))))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

LogicalResult KernelRun::runTile(int64_t begin, int64_t live) {
  Tile tile(op.getTile(), live, ArrayRef(rows).slice(begin, live),
            interpreter.options.roundEach);
  Block &block = op.getBody().front();
  for (auto [argument, input] :
       llvm::zip(block.getArguments().drop_front(), op.getInputs()))
    if (!interpreter.get(input).isRagged())
      tile.set(argument, interpreter.get(input).instances.front(), false);

  auto fillRows = [&](Operation *each,
                      function_ref<FailureOr<int64_t>(int64_t)> get) {
    Array array = tile.makeTile(each->getResult(0).getType());
    for (int64_t row = 0; row < live; ++row) {
      FailureOr<int64_t> number = get(row);
      if (failed(number))
        return failure();
      array.data[row].i = *number;
    }
    tile.set(each->getResult(0), std::move(array), true);
    return success();
  };
  for (Operation &each : block) {
    LogicalResult result = success();
    if (auto read = dyn_cast<ragged::TileReadOp>(each))
      result = this->read(read, tile);
    else if (auto lookup = dyn_cast<ragged::TileLookupOp>(each))
      result = this->lookup(lookup, tile);
    else if (auto fold = dyn_cast<ragged::TileReduceOp>(each))
      result = this->fold(fold, tile);
    else if (auto coord = dyn_cast<ragged::TileCoordOp>(each))
      result = fillRows(coord, [&](int64_t row) -> FailureOr<int64_t> {
        return static_cast<int64_t>(coord.getDim()) < 0
                   ? tile.rows[row].instance
                   : tile.rows[row].coordinates[coord.getDim()];
      });
    else if (auto extent = dyn_cast<ragged::TileExtentOp>(each))
      result = fillRows(extent, [&](int64_t row) {
        return scope.evaluate(emitError, extent.getExtent(), path,
                              tile.rows[row].instance);
      });
    else if (!isa<ragged::TileYieldOp>(each))
      result = tile.run(&each);
    if (failed(result))
      return failure();
  }
  for (auto [k, value] :
       llvm::enumerate(block.getTerminator()->getOperands())) {
    if (value.getDefiningOp<ragged::TileReduceOp>())
      continue;
    const Array &array = tile.get(value);
    int64_t width = array.data.size() / tile.size;
    for (int64_t row = 0; row < live; ++row)
      store(k, tile.rows[row].instance, tile.rows[row].coordinates, array,
            row * width);
  }
  return success();
}

/// Writes one row of a result: `outer` are its first packed coordinates, the
/// others follow from its shape.
void KernelRun::store(unsigned result, int64_t instance,
                      ArrayRef<int64_t> outer, const Array &values,
                      int64_t offset) {
  LogicalType type = LogicalType::of(op.getResult(result));
  Array &array = results[result].instances[type.path.empty() ? 0 : instance];
  SmallVector<int64_t> strides = getStrides(array.shape);
  int64_t base = 0;
  for (auto [k, coordinate] : llvm::enumerate(outer))
    base += coordinate * strides[type.order[k]];
  SmallVector<int64_t> shape, inner;
  for (int64_t dim : ArrayRef(type.order).drop_front(outer.size())) {
    shape.push_back(array.shape[dim]);
    inner.push_back(strides[dim]);
  }
  Odometer walk(shape);
  walk.addOperand(inner, base);
  for (; walk.isValid(); walk.next())
    array.data[walk.getOffset(0)] = values.data[offset++];
}

LogicalResult KernelRun::read(ragged::TileReadOp read, Tile &tile) {
  auto source = cast<BlockArgument>(read.getSource());
  mlir::Value input = op.getInputs()[source.getArgNumber() - 1];
  LogicalType type = LogicalType::of(input);
  unsigned rowDims = read.getMap().getNumResults();
  ArrayRef<int64_t> order = type.order;
  Array result = tile.makeTile(read.getType());
  int64_t width = result.data.size() / tile.size;
  for (int64_t row = 0; row < tile.live; ++row) {
    const TileRow &at = tile.rows[row];
    const Array &array = Interpreter::getArray(interpreter.get(input), type,
                                               *instances, at.instance);
    SmallVector<int64_t> coordinates = read.getMap().compose(at.coordinates);
    if (std::optional<ArrayAttr> offsets = read.getOffsets())
      for (auto [k, offset] : llvm::enumerate(*offsets)) {
        FailureOr<int64_t> value = scope.evaluate(
            emitError, cast<ragged::ExtentAttr>(offset), path, at.instance);
        if (failed(value))
          return failure();
        coordinates[k] += *value;
      }
    if (std::optional<ArrayRef<int64_t>> dims = read.getStartDims())
      for (auto [dim, start] : llvm::zip(*dims, read.getStarts()))
        coordinates[dim] += tile.get(start).data[row].i;
    SmallVector<int64_t> strides = getStrides(array.shape);
    int64_t base = 0;
    bool isOutside = false;
    for (auto [k, coordinate] : llvm::enumerate(coordinates)) {
      bool isInside = coordinate >= 0 && coordinate < array.shape[order[k]];
      if (!isInside && !read.getOutside())
        return read.emitError("reads at ")
               << coordinate << " along row dim " << k << ", where the size is "
               << array.shape[order[k]] << ", in "
               << scope.describe(path, at.instance);
      isOutside |= !isInside;
      base += coordinate * strides[order[k]];
    }
    int64_t k = row * width;
    for (Odometer walk(ArrayRef<int64_t>(result.shape).drop_front());
         walk.isValid(); walk.next()) {
      int64_t offset = base;
      bool isHere = !isOutside;
      for (auto [d, position] : llvm::enumerate(walk.getCoordinates())) {
        int64_t coordinate = position;
        if (std::optional<ArrayRef<int64_t>> first = read.getInnerOffsets())
          coordinate += (*first)[d];
        int64_t dim = order[rowDims + d];
        isHere &= coordinate >= 0 && coordinate < array.shape[dim];
        offset += coordinate * strides[dim];
      }
      result.data[k++] =
          isHere ? array.data[offset]
                 : toElement(array.dtype, toNumber(*read.getOutside()));
    }
  }
  tile.set(read.getResult(), std::move(result), true);
  return success();
}

LogicalResult KernelRun::lookup(ragged::TileLookupOp lookup, Tile &tile) {
  const Array &table = tile.get(lookup.getTable());
  const Array &indices = tile.get(lookup.getIndices());
  Array result = tile.makeTile(lookup.getType());
  int64_t count = indices.data.size() / tile.size;
  int64_t width = countElements(ArrayRef<int64_t>(table.shape).drop_front());
  for (int64_t k = 0; k < tile.live * count; ++k) {
    int64_t index = indices.data[k].i;
    if (index < 0 || index >= table.shape[0])
      return lookup.emitError("index ")
             << index << " is out of range for axis 0 of size "
             << table.shape[0] << " ("
             << scope.describe(path, tile.rows[k / count].instance) << ")";
    std::copy_n(table.data.begin() + index * width, width,
                result.data.begin() + k * width);
  }
  tile.set(lookup.getResult(), std::move(result), true);
  return success();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

FailureOr<ScalarProgram *> KernelRun::getProgram(Block &block) {
  std::unique_ptr<ScalarProgram> &program = programs[&block];
  if (!program) {
    FailureOr<ScalarProgram> compiled = ScalarProgram::compile(
        block, interpreter.options.roundEach,
        [&](mlir::Value value) { return Tile::getConstant(value); });
    if (failed(compiled))
      return failure();
    program = std::make_unique<ScalarProgram>(std::move(*compiled));
  }
  return program.get();
}

KernelRun::Accumulators KernelRun::makeInit(ragged::TileReduceOp fold) {
  Accumulators result;
  for (auto [input, init] : llvm::zip(fold.getInputs(), fold.getInit())) {
    auto type = cast<RankedTensorType>(input.getType());
    Array &array = result.emplace_back();
    array.dtype = *getDType(type.getElementType());
    llvm::append_range(array.shape, type.getShape().drop_front());
    array.data.assign(countElements(array.shape), toNumber(init));
  }
  return result;
}

/// into = combine(row, into), where the row is one of `values`, or all of them.
LogicalResult KernelRun::combine(ragged::TileReduceOp fold,
                                 ArrayRef<Array> values, int64_t row,
                                 Accumulators &into) {
  FailureOr<ScalarProgram *> program = getProgram(fold.getCombine().front());
  if (failed(program))
    return failure();
  size_t count = into.size(), width = into.front().data.size();
  for (size_t k = 0; k < width; ++k) {
    for (size_t j = 0; j < count; ++j) {
      (*program)->argument(j) = values[j].data[row * width + k];
      (*program)->argument(count + j) = into[j].data[k];
    }
    (*program)->run({});
    for (size_t j = 0; j < count; ++j)
      into[j].data[k] = (*program)->result(j);
  }
  return success();
}

LogicalResult KernelRun::fold(ragged::TileReduceOp fold, Tile &tile) {
  SmallVector<Array, 1> values;
  for (mlir::Value input : fold.getInputs())
    values.push_back(tile.get(input));
  int64_t first = tile.rows.data() - rows.data();
  for (int64_t row = 0; row < tile.live; ++row) {
    const Unit &unit = units[tile.rows[row].unit];
    if (first + row == unit.begin)
      open[fold] = makeInit(fold);
    if (failed(combine(fold, values, row, open[fold])))
      return failure();
    if (first + row + 1 != unit.end)
      continue;
    if (op.getUnits() == ragged::UnitKind::Groups) {
      if (failed(finish(fold, open[fold], &unit)))
        return failure();
      continue;
    }
    // Partial results of the chunks are combined in order.
    auto [it, inserted] = totals.try_emplace(fold, open[fold]);
    if (!inserted && failed(combine(fold, open[fold], 0, it->second)))
      return failure();
  }
  return success();
}

/// The sum of an extent over the batch.
FailureOr<int64_t> KernelRun::evaluateTotal(ragged::ExtentAttr extent) {
  int64_t total = 0;
  for (int64_t i = 0; i < instances->count; ++i) {
    FailureOr<int64_t> value = scope.evaluate(emitError, extent, path, i);
    if (failed(value))
      return failure();
    total += *value;
  }
  return total;
}

/// finalize, and stores what it gives. Without a unit: of the whole batch.
LogicalResult KernelRun::finish(ragged::TileReduceOp fold,
                                const Accumulators &values, const Unit *unit) {
  FailureOr<ScalarProgram *> program = getProgram(fold.getFinalize().front());
  if (failed(program))
    return failure();
  size_t count = values.size();
  for (auto [k, attr] : llvm::enumerate(fold.getExtents())) {
    auto extent = cast<ragged::ExtentAttr>(attr);
    FailureOr<int64_t> value =
        unit ? scope.evaluate(emitError, extent, path, unit->instance)
             : evaluateTotal(extent);
    if (failed(value))
      return failure();
    (*program)->argument(count + k).i = *value;
  }
  SmallVector<Array, 1> finished;
  for (OpResult result : fold.getResults()) {
    Array &array = finished.emplace_back();
    array.dtype = *getDType(getElementTypeOrSelf(result.getType()));
    array.shape = values.front().shape;
    array.data.resize(values.front().data.size());
  }
  for (size_t k = 0; k < values.front().data.size(); ++k) {
    for (size_t j = 0; j < count; ++j)
      (*program)->argument(j) = values[j].data[k];
    (*program)->run({});
    for (auto [j, array] : llvm::enumerate(finished))
      array.data[k] = (*program)->result(j);
  }
  Operation *yield = op.getBody().front().getTerminator();
  for (auto [k, value] : llvm::enumerate(yield->getOperands()))
    if (value.getDefiningOp() == fold)
      store(k, unit ? unit->instance : 0,
            unit ? ArrayRef<int64_t>(unit->group) : ArrayRef<int64_t>(),
            finished[cast<OpResult>(value).getResultNumber()], 0);
  return success();
}

LogicalResult Interpreter::run(ragged::KernelOp op) {
  return KernelRun(*this, op).run();
}
