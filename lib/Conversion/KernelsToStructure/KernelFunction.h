//===- KernelFunction.h - A kernel as a function on packed rows ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_KERNELFUNCTION_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_KERNELFUNCTION_H

#include "ScheduleBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nested::ragged {

/// Index arithmetic, with constants folded.
class IndexBuilder {
public:
  IndexBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value rem(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// `table[i]` of a memref of i64.
  mlir::Value load(mlir::Value table, mlir::Value i);
  mlir::Value toI64(mlir::Value index);
  /// The largest i in [0, size - 1) with `table[i] <= x`; the table begins with
  /// 0 and does not decrease.
  mlir::Value search(mlir::Value table, mlir::Value x);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Builds the function of a kernel: arguments appear as they are asked for, in
/// the order memrefs, scalars, begin, end.
class KernelSignature {
public:
  KernelSignature(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                  ScheduleBuilder &schedule);

  mlir::Value getBegin() { return begin; }
  mlir::Value getEnd() { return end; }
  mlir::Block *getBody() { return &func.getBody().front(); }
  /// A table as `memref<?xi64>`.
  mlir::Value getTable(const TableKey &key);
  /// Rows of a buffer: the dims after the first.
  mlir::Value addBuffer(mlir::Value buffer, llvm::ArrayRef<int64_t> rowShape,
                        mlir::Type elementType);
  /// A dense buffer of this shape.
  mlir::Value addDense(mlir::Value buffer, llvm::ArrayRef<int64_t> shape,
                       mlir::Type elementType);
  mlir::Value getErrorRecord();
  /// An extent over `path`, in an instance of it.
  mlir::Value evaluate(mlir::OpBuilder &b, mlir::Location loc,
                       ExtentAttr extent, llvm::ArrayRef<mlir::StringAttr> path,
                       mlir::Value sample);
  /// The instance of a prefix of `path` that `sample` belongs to.
  mlir::Value getParent(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::ArrayRef<mlir::StringAttr> path,
                        llvm::ArrayRef<mlir::StringAttr> prefix,
                        mlir::Value sample);
  /// The total of an offsets table, as an index.
  mlir::Value getTotal(const TableKey &key);
  /// Number of a message of the launch, from 1 on.
  int64_t addError(llvm::StringRef message);

  /// Where `isFine` does not hold, writes the error record: message `number`
  /// with a value, a row and a sample. The first error that a worker meets is
  /// kept.
  void recordErrorUnless(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value isFine, int64_t number, mlir::Value value,
                         mlir::Value row, mlir::Value sample);

  /// Gets a sample, the number of its first unit, and the range of its own
  /// units, counted from that one, that the call computes.
  using SampleBody = llvm::function_ref<void(
      mlir::OpBuilder &, mlir::Value sample, mlir::Value offset,
      mlir::Value from, mlir::Value to)>;
  /// A loop over the samples that have units in [begin, end). `units`: their
  /// offsets; without them a sample is a unit.
  void forSamples(mlir::OpBuilder &b, mlir::Location loc,
                  const std::optional<TableKey> &units, SampleBody body);

  /// Sets the function's type and adds the return; the launch's operands then
  /// are those that were asked for.
  void finish();
  mlir::func::FuncOp getFunction() { return func; }
  llvm::ArrayRef<mlir::Value> getMemrefOperands() const {
    return memrefOperands;
  }
  llvm::ArrayRef<mlir::Value> getScalarOperands() const {
    return scalarOperands;
  }
  mlir::ArrayAttr getErrors(mlir::Builder &builder) const;

private:
  mlir::Value insertMemref(mlir::Value operand, mlir::Type type);

  mlir::Location loc;
  ScheduleBuilder &schedule;
  mlir::func::FuncOp func;
  mlir::Value begin, end, errorRecord;
  llvm::SmallVector<mlir::Value> memrefOperands, scalarOperands;
  llvm::SmallVector<std::pair<TableKey, mlir::Value>> tables, totals;
  llvm::SmallVector<std::string> errors;
};

/// Where a kernel's rows are: sample and coordinates of the current row, and
/// what can be said of them.
struct RowPosition {
  mlir::Value sample;
  llvm::SmallVector<mlir::Value> coordinates;
};

/// Coordinates of the iteration space of a kernel, computed from tables.
class TileCoordinates {
public:
  TileCoordinates(KernelOp kernel, KernelSignature &signature);
  /// Of rows that are no kernel's: each row is a unit.
  TileCoordinates(mlir::Location loc, llvm::ArrayRef<ExtentAttr> space,
                  llvm::ArrayRef<mlir::StringAttr> path,
                  KernelSignature &signature);

  /// Rows [first, last) of the units [begin, end).
  std::pair<mlir::Value, mlir::Value> getRowRange(mlir::OpBuilder &b);
  /// Sample and coordinates of a row; of any valid place if there is no such
  /// row.
  RowPosition locate(mlir::OpBuilder &b, mlir::Value row);
  /// The position after the row `row` at `position`; `unitEnds`: whether that
  /// row was the last one of its unit. `lastRow` bounds the search for the next
  /// sample.
  RowPosition advance(mlir::OpBuilder &b, const RowPosition &position,
                      mlir::Value row, mlir::Value lastRow,
                      mlir::Value &unitEnds);
  /// Number of the unit that the position is in.
  mlir::Value getUnit(mlir::OpBuilder &b, const RowPosition &position);
  /// An extent of the space, in a sample.
  mlir::Value getExtent(mlir::OpBuilder &b, unsigned dim, mlir::Value sample);
  /// Any extent over the kernel's path or a prefix of it, in a sample of that
  /// path.
  mlir::Value evaluate(mlir::OpBuilder &b, ExtentAttr extent,
                       llvm::ArrayRef<mlir::StringAttr> path,
                       mlir::Value sample);
  /// The sample of a prefix of the kernel's path that `sample` belongs to.
  mlir::Value getParent(mlir::OpBuilder &b,
                        llvm::ArrayRef<mlir::StringAttr> prefix,
                        mlir::Value sample);
  /// Product of the extents after the first `groups`: rows of one unit.
  ExtentAttr getUnitRows() const { return unitRows; }
  TableKey getRowTable() const;
  /// None when every sample is a unit.
  std::optional<TableKey> getUnitTable() const;
  llvm::ArrayRef<mlir::StringAttr> getPath() const { return path; }
  /// How many leading dims of the space say what is a unit.
  unsigned getGroups() const { return groups; }

private:
  UnitKind units;
  int64_t chunk;
  KernelSignature &signature;
  mlir::Location loc;
  llvm::SmallVector<ExtentAttr> space;
  llvm::SmallVector<mlir::StringAttr> path;
  unsigned groups;
  ExtentAttr unitRows;
};

/// Which rows of memory the ops of a kernel read.
class RowReads {
public:
  RowReads(KernelOp kernel, KernelSignature &signature,
           TileCoordinates &coordinates, ScheduleBuilder &schedule)
      : kernel(kernel), signature(signature), coordinates(coordinates),
        schedule(schedule), loc(kernel.getLoc()) {}

  /// The memory that the rows of a read are in; a row of zeros if there may be
  /// no row at all and one is loaded nevertheless.
  mlir::Value getSource(TileReadOp read);
  /// The memory of an input of the kernel, as rows after `rowRank` dims.
  mlir::Value getSource(mlir::Value input, unsigned rowRank);
  /// Whether the rows that a tile reads are the tile's own rows, by their
  /// numbers in a source without gaps.
  static bool areOwn(KernelOp kernel, TileReadOp read);
  /// The same of a source that has no gaps: one row after the other.
  static bool isPacked(KernelOp kernel, TileReadOp read,
                       ScheduleBuilder &schedule);
  bool isPacked(TileReadOp read) { return isPacked(kernel, read, schedule); }
  /// Whether some of the rows may be none of the source's.
  static bool mayBeOutside(TileReadOp read) {
    return read.getOutside() || !read.getStarts().empty();
  }

  struct Address {
    /// A row that can be loaded, also when `inside` does not hold.
    mlir::Value row;
    /// i1; null if all rows are inside.
    mlir::Value inside;
  };
  /// The row of the source for the row `row` of the kernel, at `position`.
  Address locate(mlir::OpBuilder &b, TileReadOp read,
                 const RowPosition &position, mlir::Value row);
  /// The table's row for the index of a row: checked, and 0 when it is wrong,
  /// which the error record then says.
  mlir::Value lookup(mlir::OpBuilder &b, TileLookupOp lookup,
                     const RowPosition &position, mlir::Value row);
  /// Asks for everything that an op needs to find rows, before code is written
  /// that uses it.
  mlir::LogicalResult prepare(TileReadOp read);
  mlir::LogicalResult prepare(TileLookupOp lookup);
  /// Marks arguments of the function, which is finished: memory of arguments of
  /// the entry from which tiles read their own rows alone, and that of results
  /// in `stored`, to which they write them, if both could be one.
  void markOwnRows(llvm::ArrayRef<mlir::Value> stored);

private:
  /// The index that a tile of rank 1 has for a row, as i64.
  mlir::Value loadIndex(mlir::OpBuilder &b, TileReadOp indices,
                        const RowPosition &position, mlir::Value row);
  /// Records an error unless `inside` holds.
  void check(mlir::OpBuilder &b, mlir::Operation *op, mlir::Value inside,
             mlir::Value index, const RowPosition &position, mlir::Value row);
  ExtentAttr getRows(TileReadOp read);

  KernelOp kernel;
  KernelSignature &signature;
  TileCoordinates &coordinates;
  ScheduleBuilder &schedule;
  mlir::Location loc;
  llvm::SmallDenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> sources,
      guarded;
  /// Memory that has been read, and whether only by tiles that read their own
  /// rows.
  llvm::MapVector<mlir::Value, bool> readOwn;
  llvm::DenseMap<mlir::Operation *, int64_t> errors;
};

/// What a launch of a kernel function needs to know about it.
struct EmittedKernel {
  llvm::SmallVector<mlir::Value> memrefs, scalars;
  TableKey rowTable;
  std::optional<TableKey> unitTable;
  mlir::ArrayAttr errors;
  int64_t flopsPerRow = 0, bytesPerRow = 0;
};

/// Whether a unit of a sample reads and writes, of what steps write, that
/// sample only. `emitted` is a kernel of `ops` with units of kind `groups`.
bool isPerSample(llvm::ArrayRef<mlir::Operation *> ops,
                 const EmittedKernel &emitted, ScheduleBuilder &schedule);

/// The launch of a kernel of `ops`, one or a chain, over all its units.
void createLaunch(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> ops,
                  llvm::StringRef name, const EmittedKernel &emitted,
                  UnitKind units, int64_t chunk, int64_t tileRows,
                  ScheduleBuilder &schedule);

/// The input of the kernel that an argument of its region is.
mlir::Value getInput(KernelOp kernel, mlir::Value argument);

/// Memory of a dense operand in the region of a kernel: an argument of the
/// function, or constant data of the module.
mlir::Value getDenseMemref(mlir::Value value, KernelOp kernel,
                           KernelSignature &signature,
                           ScheduleBuilder &schedule);

/// What the launch of a function that is written needs to know.
EmittedKernel describeKernel(KernelOp kernel, KernelSignature &signature,
                             TileCoordinates &coordinates);

/// Fills in what a row of the kernel costs.
void countCosts(KernelOp kernel, EmittedKernel &emitted);

/// The kernel as a function named `name` before the schedule. `outputs`: one
/// buffer per result. Units of kind `chunks` leave one accumulator per
/// chunk and fold, not finalized.
mlir::FailureOr<EmittedKernel>
emitKernelFunction(mlir::OpBuilder &b, KernelOp kernel, llvm::StringRef name,
                   ScheduleBuilder &schedule,
                   llvm::ArrayRef<mlir::Value> outputs);

/// The second step of a fold over the batch: one unit that folds the rows of
/// `partials` (as many as there are chunks) and finalizes.
mlir::FailureOr<EmittedKernel>
emitCombineFunction(mlir::OpBuilder &b, TileReduceOp reduce, KernelOp kernel,
                    llvm::StringRef name, ScheduleBuilder &schedule,
                    mlir::Value partials, mlir::Value output);

/// Turns tensors of booleans in a kernel function into tensors of bytes.
void storeBooleansAsBytes(mlir::func::FuncOp func);

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_KERNELFUNCTION_H
