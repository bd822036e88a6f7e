//===- LoopKernel.h - Kernels written as loops over units --------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What implementations of LoopKernelOpInterface are written with. Words:
//
// * unit: what one call computes as a whole: a sample, or one index of the dims
//   of a sample that are stored before the dim that an op works along;
// * elements: the numbers of a value as one flat memref. Those of a sample are
//   contiguous, also in an argument that has gaps between samples; so an
//   element is first(sample) + its offset in packed order.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_LOOPKERNEL_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_LOOPKERNEL_H

#include "KernelFunction.h"

#include "mlir/IR/IRMapping.h"

namespace nested::ragged {

/// The units of a kernel: in each instance of `path`, `count` many.
struct LoopUnits {
  llvm::SmallVector<mlir::StringAttr> path;
  /// Rows of an instance: what work is cut by.
  ExtentAttr rows;
  /// 1: an instance is a unit.
  ExtentAttr count;

  /// An instance is a unit.
  static LoopUnits makeInstances(const LogicalType &type);
};

/// How a dim splits a value in packed order: `outer` runs of `length` times
/// `inner` elements.
struct DimSplit {
  ExtentAttr outer, length, inner;
  DimSplit(const LogicalType &type, int64_t dim);
};

/// The elements of a value, as a kernel sees them.
struct LoopOperand {
  mlir::Value memref;
  LogicalType type;
  /// Table of first rows; null if there is one instance, which starts at 0.
  mlir::Value firstRows;
  /// Elements of a row.
  int64_t rowElements = 1;
};

/// What the rows of a kernel cost; an estimate that grains are cut by.
struct LoopCost {
  int64_t flopsPerRow = 0, bytesPerRow = 0;
};

class LoopKernel {
public:
  LoopKernel(mlir::OpBuilder &module, mlir::Location loc, llvm::StringRef name,
             ScheduleBuilder &schedule, LoopUnits units);

  LoopOperand addValue(mlir::Value value);
  /// A temporary with the rows of `type`.
  LoopOperand addTemp(mlir::Value buffer, const LogicalType &type);

  using UnitBody = llvm::function_ref<void(
      mlir::OpBuilder &, mlir::Location, mlir::Value sample, mlir::Value unit)>;
  /// The body of the kernel: a loop over its units. `unit` counts inside of the
  /// sample; it is 0 where an instance is a unit.
  void forUnits(UnitBody body);

  /// Memory of the calling thread, for the whole call; contents arbitrary.
  mlir::Value addScratch(mlir::MemRefType type);

  /// First element of a sample of the units' path.
  mlir::Value getFirst(mlir::OpBuilder &b, mlir::Location loc,
                       const LoopOperand &operand, mlir::Value sample);
  /// First element of an instance of the operand's own path.
  mlir::Value getFirstOf(mlir::OpBuilder &b, mlir::Location loc,
                         const LoopOperand &operand, mlir::Value instance);
  /// The same for one of the members of a sample, which operands whose path is
  /// longer than that of the units are over.
  mlir::Value getFirst(mlir::OpBuilder &b, mlir::Location loc,
                       const LoopOperand &operand, mlir::Value sample,
                       mlir::Value member);

  /// An extent over the path of the units, in a sample.
  mlir::Value evaluate(mlir::OpBuilder &b, mlir::Location loc,
                       ExtentAttr extent, mlir::Value sample) {
    return evaluate(b, loc, extent, units.path, sample);
  }
  /// The same over a prefix of that path.
  mlir::Value evaluate(mlir::OpBuilder &b, mlir::Location loc,
                       ExtentAttr extent, llvm::ArrayRef<mlir::StringAttr> path,
                       mlir::Value sample);

  /// One element, or a vector of consecutive ones if `width` is not 0.
  /// Booleans are i1 here.
  static mlir::Value load(mlir::OpBuilder &b, mlir::Location loc,
                          const LoopOperand &operand, mlir::Value index,
                          int64_t width = 0);
  static void store(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    const LoopOperand &operand, mlir::Value index);

  using BlockBody = llvm::function_ref<void(mlir::OpBuilder &, mlir::Location,
                                            mlir::Value column, int64_t width)>;
  /// Columns [0, size), in blocks that are vectors of `width` consecutive ones
  /// (0: one, a scalar). `size` is the value of `extent` here; null: of none.
  static void forBlocks(mlir::OpBuilder &b, mlir::Location loc,
                        ExtentAttr extent, mlir::Value size, BlockBody body);

  /// What a row of `operands` reads or writes.
  static int64_t countBytes(llvm::ArrayRef<LoopOperand> operands);

  KernelSignature &getSignature() { return signature; }
  EmittedKernel finish(const LoopCost &cost);

private:
  /// None where an instance is a unit.
  std::optional<TableKey> getUnitTable() const;
  mlir::Value getFirstRows(mlir::Value value, const LogicalType &type);

  mlir::Location loc;
  ScheduleBuilder &schedule;
  LoopUnits units;
  KernelSignature signature;
};

/// Elements or vectors of floats as those of another width; other elements as
/// they are.
mlir::Value convertFloats(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value, mlir::Type element);

/// The region of a block whose ops are all elementwise, on vectors of `width`
/// elements (0: on scalars). Arguments may be scalars all the same: what
/// depends on those alone stays one. Constants of around it come along. What
/// `mapping` has already is not cloned; it gets all the others. Gives what the
/// block yields, as vectors.
llvm::SmallVector<mlir::Value> cloneElementwise(mlir::OpBuilder &b,
                                                mlir::Block &block,
                                                mlir::ValueRange arguments,
                                                int64_t width,
                                                mlir::IRMapping &mapping);
llvm::SmallVector<mlir::Value> cloneElementwise(mlir::OpBuilder &b,
                                                mlir::Block &block,
                                                mlir::ValueRange arguments,
                                                int64_t width);

/// What one op adds to the schedule.
class LoopKernelBuilder {
public:
  LoopKernelBuilder(ScheduleBuilder &schedule, mlir::OpBuilder &b,
                    mlir::Operation *op, llvm::StringRef name)
      : schedule(schedule), b(b), op(op), name(name) {}

  /// Memory for the results of the op. The extents of symbols
  /// that it binds must have been bound.
  void createResults() { schedule.assignBuffers(op); }
  /// The same for those results that something uses.
  void createUsedResults();
  mlir::Value createTemp(const LogicalType &type) {
    return schedule.createTemp(type);
  }
  /// Binds the symbols that are fresh in the results: one count per instance.
  void bindSymbols(mlir::Value counts, ExtentAttr upper) {
    schedule.bindSymbol(op, counts, upper);
  }
  /// Binds one symbol.
  void bindSymbol(mlir::StringAttr name, llvm::ArrayRef<mlir::StringAttr> path,
                  ExtentAttr upper, mlir::Value counts) {
    schedule.bindSymbol(op->getLoc(), name, path, upper, counts);
  }
  /// A step that checks two numbers of the batch once they are known.
  void checkEqual(ExtentAttr lhs, ExtentAttr rhs);
  /// A temporary with a row of `type` for each chunk of so many rows.
  mlir::Value createPartials(const LogicalType &type, const TableKey &rows,
                             int64_t chunk);
  /// Adds a kernel and its launch. `suffix` tells kernels of one op apart.
  void addKernel(llvm::StringRef suffix, const LoopUnits &units,
                 llvm::function_ref<LoopCost(LoopKernel &)> body);
  /// The same for one whose units are not those of a LoopKernel.
  void addKernel(llvm::StringRef suffix, UnitKind units, int64_t chunk,
                 llvm::function_ref<EmittedKernel(mlir::OpBuilder &module,
                                                  llvm::StringRef name)>
                     body);
  ScheduleBuilder &getSchedule() { return schedule; }

private:
  ScheduleBuilder &schedule;
  mlir::OpBuilder &b;
  mlir::Operation *op;
  std::string name;
};

/// The external models, a file per family of ops.
void registerSelectKernels(mlir::MLIRContext *context);
void registerBatchKernels(mlir::MLIRContext *context);
void registerScanKernels(mlir::MLIRContext *context);
void registerContractKernels(mlir::MLIRContext *context);
void registerAttentionKernels(mlir::MLIRContext *context);
void registerSortKernels(mlir::MLIRContext *context);
void registerSearchKernels(mlir::MLIRContext *context);
void registerScatterKernels(mlir::MLIRContext *context);

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_LOOPKERNEL_H
