//===- RowRunEmitter.h - Writes a kernel of runs ----------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNEMITTER_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNEMITTER_H

#include "RowRuns.h"

namespace nested::ragged {

/// A function, and what its kernels share: the first one's units.
class RunFunction {
public:
  RunFunction(mlir::OpBuilder &outer, KernelOp kernel, llvm::StringRef name,
              ScheduleBuilder &schedule)
      : signature(outer, kernel.getLoc(), name, schedule),
        coordinates(kernel, signature), schedule(schedule) {}

  /// Memory as elements; that of a buffer is one argument, whoever reads or
  /// writes it.
  mlir::Value getElements(mlir::Value buffer, mlir::Type elementType);

  KernelSignature signature;
  TileCoordinates coordinates;
  ScheduleBuilder &schedule;
  /// What kernels have folded, by their results: scratch memory with all
  /// columns of the unit that is being emitted, if later ones read it; the
  /// value if it is one.
  llvm::DenseMap<mlir::Value, mlir::Value> folded;

  /// The same, if it is an argument already.
  mlir::Value lookupElements(mlir::Value buffer) {
    return elements.lookup(buffer);
  }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> elements;
};

/// Marks the arguments of the function, which is finished, in whose memory its
/// result may be (`kOwnUnitsAttr`).
void markOwnUnits(RunFunction &function, llvm::ArrayRef<PlannedRuns> kernels);

/// Writes one kernel of a function.
class RunEmitter {
public:
  /// `outputs`: buffers; none of what only later kernels of the function read.
  RunEmitter(RunFunction &function, KernelOp kernel,
             llvm::ArrayRef<mlir::Value> outputs, const RunPlan &plan)
      : kernel(kernel), plan(plan), loc(kernel.getLoc()),
        schedule(function.schedule), outputBuffers(outputs), function(function),
        signature(function.signature), coordinates(function.coordinates),
        reads(kernel, signature, coordinates, schedule),
        space(toExtents(kernel.getSpace())) {}

  /// Asks for the memory of everything, before code is written that uses it.
  mlir::LogicalResult prepare();
  void keepIn(mlir::Value memref) { kept = memref; }
  /// The rows of a kernel that folds nothing.
  void emitRows(mlir::OpBuilder &b);
  /// Unit by unit all kernels of a function, the first of which folds.
  static void emitUnits(mlir::OpBuilder &b,
                        llvm::MutableArrayRef<RunEmitter> kernels);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// Rows that all blocks of columns go through before the next ones: eight, or
  /// more if they are short.
  int64_t getStripRows() const {
    return std::max<int64_t>(8, 512 / plan.columns);
  }
  /// Those rows; null: there are none.
  struct Strip {
    mlir::Value first, count;
  };
  /// Elements of a unit that a second-level cache has beside the next ones.
  static constexpr int64_t kCachedElements = 65536;

  /// A run that is being emitted: its position with the run's dims at 0, the
  /// number of that row, and what was read once for all rows.
  struct Run {
    RowPosition position;
    mlir::Value row;
    llvm::DenseMap<mlir::Operation *, RowReads::Address> addresses;
    llvm::DenseMap<mlir::Operation *, mlir::Value> elements;
  };
  /// What is worked on at once. Lanes are rows [at, at + width) of a run; or,
  /// if there is a `column`, columns [column, column + width) of row `at`. A
  /// width of 0 is one element, as a scalar.
  struct Lanes {
    mlir::Value at;
    int64_t width = 0;
    /// Which of the rows are rows of the run, and how many that has; null: all
    /// are.
    mlir::Value mask, end;
    mlir::Value column;
  };
  /// Values of the region, and, with wide rows, where rows are gathered from.
  struct State {
    llvm::DenseMap<mlir::Value, mlir::Value> values;
    llvm::DenseMap<mlir::Operation *, RowReads::Address> addresses;
    /// The value that is kept, once it is known.
    mlir::Value kept;
  };
  /// What is done with rows: all; what is kept is computed and stored; or all
  /// the rest, for which it is loaded.
  enum class Part { All, Kept, Rest };
  using ColumnBody = llvm::function_ref<void(
      mlir::OpBuilder &, mlir::Value column, int64_t width)>;

  /// A unit: its number in the sample, and the numbers of the sample's first
  /// unit and row.
  struct Unit {
    mlir::Value sample, local, firstUnit, firstRow;
    RowPosition position;
  };

  // Runs (RowRuns.cpp).
  mlir::Value addScratch(mlir::OpBuilder &b, mlir::Type elementType);
  void emitFlat(mlir::OpBuilder &b);
  void emitMapped(mlir::OpBuilder &b);
  /// The rows of a unit, and what is folded.
  void emitUnit(mlir::OpBuilder &b, const Unit &unit, const Lanes &block);
  /// How many elements ahead the next unit is.
  mlir::Value getNext(mlir::OpBuilder &b);
  /// Blocks of columns of wide rows.
  void forColumns(mlir::OpBuilder &b, ColumnBody body);
  mlir::Value getLength(mlir::OpBuilder &b, unsigned from, unsigned to,
                        mlir::Value sample);
  /// The coordinates of dims [from, to) with this number in packed order.
  void splitNumber(mlir::OpBuilder &b, mlir::Value number, unsigned from,
                   unsigned to, RowPosition &position);
  Values emitRun(mlir::OpBuilder &b, Run &run, mlir::Value from, mlir::Value to,
                 mlir::ValueRange accumulators, const Lanes &block);
  Values emitNarrow(mlir::OpBuilder &b, const Run &run, mlir::Value from,
                    mlir::Value to, mlir::ValueRange accumulators);
  Values emitWide(mlir::OpBuilder &b, const Run &run, mlir::Value from,
                  mlir::Value to, mlir::ValueRange accumulators,
                  const Lanes &block);
  Values foldRows(mlir::OpBuilder &b, const Run &run, mlir::Value from,
                  mlir::Value to, mlir::ValueRange accumulators,
                  const Lanes &block, const Strip &strip, Part part);
  /// Accumulators of lanes, and behind them those of scalars.
  Values makeAccumulators(mlir::OpBuilder &b, int64_t width);
  /// Accumulators in memory, of a block of columns.
  Values loadAccumulators(mlir::OpBuilder &b, const Lanes &block);
  void storeAccumulators(mlir::OpBuilder &b, mlir::ValueRange accumulators,
                         const Lanes &block);
  mlir::Value combineLanes(mlir::OpBuilder &b, TileReduceOp reduce,
                           mlir::Value accumulator, mlir::Value scalar);
  void finalize(mlir::OpBuilder &b, mlir::ValueRange accumulators,
                mlir::Value unit, mlir::Value sample, const Lanes &block);

  // The tile program on lanes (RowRunBody.cpp).
  void readOnce(mlir::OpBuilder &b, Run &run, const Lanes &block);
  /// Rows of wide ones: their scalars, and where they are.
  State beginRow(mlir::OpBuilder &b, const Run &run, mlir::Value at);
  /// The accumulators after the lanes.
  Values emitLanes(mlir::OpBuilder &b, const Run &run, const Lanes &lanes,
                   State state, mlir::ValueRange accumulators, Part part);
  void evaluate(mlir::OpBuilder &b, mlir::Operation &op, const Run &run,
                const Lanes &lanes, State &state);
  mlir::Value get(mlir::OpBuilder &b, mlir::Value value, const Lanes &lanes,
                  const State &state);
  mlir::Value emitRead(mlir::OpBuilder &b, const Run &run, const Lanes &lanes,
                       TileReadOp read, const State &state);
  /// Elements from there on that are one behind the other.
  mlir::Value loadElements(mlir::OpBuilder &b, const Lanes &lanes,
                           mlir::Value memref, mlir::Value index,
                           mlir::Type element);
  /// Fetches rows that come later.
  void prefetch(mlir::OpBuilder &b, const Run &run, const Lanes &lanes,
                const Strip &strip);
  mlir::Value emitLookup(mlir::OpBuilder &b, const Run &run, const Lanes &lanes,
                         TileLookupOp lookup, const State &state);
  /// A value for each lane from its row, one by one.
  mlir::Value
  gather(mlir::OpBuilder &b, const Run &run, const Lanes &lanes,
         llvm::function_ref<mlir::Value(const RowPosition &, mlir::Value row)>
             element);
  /// Elements of a row that is somewhere.
  mlir::Value loadRow(mlir::OpBuilder &b, TileReadOp read,
                      const RowReads::Address &address, const Lanes &lanes);
  mlir::Value cut(mlir::OpBuilder &b, mlir::Value stored,
                  mlir::Type elementType);
  mlir::Value splat(mlir::OpBuilder &b, mlir::Value scalar, int64_t width);
  mlir::Value widen(mlir::OpBuilder &b, mlir::Value value, int64_t width);
  void store(mlir::OpBuilder &b, const Lanes &lanes, mlir::Value value,
             mlir::Value memref, mlir::Value index);
  bool isNarrow(mlir::Value value) {
    return RunPlan::countElements(value, kernel.getTile()) == 1;
  }
  bool isWide() const { return plan.columns != 1; }
  /// Whether a kernel before has folded what is read.
  bool isFolded(TileReadOp read) {
    return function.folded.contains(getInput(kernel, read.getSource()));
  }
  mlir::Value getFolded(TileReadOp read) {
    return function.folded.lookup(getInput(kernel, read.getSource()));
  }

  KernelOp kernel;
  const RunPlan &plan;
  mlir::Location loc;
  ScheduleBuilder &schedule;
  llvm::ArrayRef<mlir::Value> outputBuffers;
  RunFunction &function;
  KernelSignature &signature;
  TileCoordinates &coordinates;
  RowReads reads;
  llvm::SmallVector<ExtentAttr> space;

  /// Memory of contiguous reads, of lookups, and of shared values: elements of
  /// narrow ones.
  llvm::DenseMap<mlir::Operation *, mlir::Value> sources, tables;
  llvm::DenseMap<mlir::Value, mlir::Value> shared;
  /// Memory of the value that is kept.
  mlir::Value kept;
  /// How many elements ahead of its own ones a kernel fetches, if it is not a
  /// fixed number of rows.
  mlir::Value ahead;
  /// Rows of a run, and runs of a unit, of the sample that is being emitted.
  mlir::Value length, runs;
  /// Accumulators of all columns, one memref for each fold.
  Values scratch;
  struct Result {
    /// Null if rows are stored.
    TileReduceOp reduce;
    /// Null if only later kernels of the function read it.
    mlir::Value memref;
  };
  llvm::SmallVector<Result> results;
};

/// The type of a tile's elements in registers.
inline mlir::Type getTileElement(mlir::Value tile) {
  return getScalarType(mlir::getElementTypeOrSelf(tile.getType()));
}

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_ROWRUNEMITTER_H
