//===- ScheduleBuilder.h - Tables, buffers and steps of an entry --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_SCHEDULEBUILDER_H
#define NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_SCHEDULEBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"

namespace nested::ragged {

/// A structure table, as kernels ask for it. Equal keys are one table.
struct TableKey {
  TableKind kind = TableKind::Extent;
  ExtentAttr extent;
  llvm::SmallVector<mlir::StringAttr> path;
  int64_t arg = -1;
  llvm::SmallVector<ExtentAttr> extents;
  int64_t level = 0;

  static TableKey makeExtent(ExtentAttr extent,
                             llvm::ArrayRef<mlir::StringAttr> path) {
    return {TableKind::Extent, extent, llvm::to_vector(path), -1, {}, 0};
  }
  static TableKey makeOffsets(ExtentAttr extent,
                              llvm::ArrayRef<mlir::StringAttr> path) {
    return {TableKind::Offsets, extent, llvm::to_vector(path), -1, {}, 0};
  }
  static TableKey makeBase(int64_t arg, llvm::ArrayRef<mlir::StringAttr> path) {
    return {TableKind::Base, {}, llvm::to_vector(path), arg, {}, 0};
  }
  static TableKey makeParent(llvm::ArrayRef<mlir::StringAttr> path) {
    return {TableKind::Parent, {}, llvm::to_vector(path), -1, {}, 0};
  }
  bool operator==(const TableKey &other) const {
    return kind == other.kind && extent == other.extent && path == other.path &&
           arg == other.arg && extents == other.extents && level == other.level;
  }
};

struct RunPlan;

class ScheduleBuilder {
public:
  /// Creates the schedule of `func` before it. `vectorBits`: of the registers
  /// that kernels of narrow rows are written for; 0: there are none.
  ScheduleBuilder(mlir::func::FuncOp func, int64_t vectorBits);

  int64_t getVectorBits() const { return vectorBits; }

  /// The steps of the whole function; emits kernel functions too.
  mlir::LogicalResult run();

  mlir::Value getTable(const TableKey &key);
  /// The buffer of a value of the function.
  mlir::Value getBuffer(mlir::Value value) { return buffers.lookup(value); }
  /// The argument of the function whose memory a value is, if it is one's.
  std::optional<int64_t> getArgument(mlir::Value value) const;
  /// Constant data of the module; equal data is one global.
  mlir::memref::GlobalOp getConstant(mlir::DenseElementsAttr value,
                                     mlir::Location loc);

  /// Memory with the rows of `type`.
  mlir::Value createTemp(const LogicalType &type);
  /// Memory for the results of an op, or for one value.
  void assignBuffers(mlir::Operation *op);
  void assignBuffer(mlir::Value value);
  /// Binds the symbols that are fresh in the results of an op.
  void bindSymbol(mlir::Operation *op, mlir::Value counts, ExtentAttr upper);
  /// Binds one symbol.
  void bindSymbol(mlir::Location loc, mlir::StringAttr name,
                  llvm::ArrayRef<mlir::StringAttr> path, ExtentAttr upper,
                  mlir::Value counts);
  /// From here on, rows over the results' path are known to be at most those of
  /// the sources.
  void addSelection(const BatchMove &move);
  /// Where functions of kernels are added.
  mlir::OpBuilder getModuleBuilder() { return mlir::OpBuilder(schedule); }

private:
  mlir::DictionaryAttr buildSignature();
  mlir::Value getPacked(mlir::Value value);
  mlir::Value createPackedCopy(mlir::Value value);
  mlir::LogicalResult addStep(mlir::Operation *op);
  mlir::LogicalResult addKernel(KernelOp kernel);
  /// A kernel with a plan, and those behind it that are one function with it.
  mlir::LogicalResult addRuns(KernelOp kernel, const RunPlan &plan);
  mlir::LogicalResult addBatchKernel(KernelOp kernel);
  mlir::LogicalResult addLoopKernels(LoopKernelOpInterface op);
  mlir::LogicalResult addNest(NestOp op);
  void addBindSize(BindSizeOp op);
  /// Checks that mention symbols from data are steps, once those are bound; the
  /// others are done at entry.
  void splitChecks();
  bool isUnbound(mlir::DictionaryAttr check) const;
  void addReadyChecks();
  /// A table whose total bounds that of `key` before data say what it is.
  std::optional<TableKey> getBound(const TableKey &key) const;
  int64_t getTableNumber(mlir::Value table);
  mlir::LogicalResult addPack(PackOp op);
  mlir::LogicalResult addHostCall(mlir::Operation *op);
  /// Whose rows a dense tensor of dynamic shape has; null if that is unknown.
  std::pair<ExtentAttr, llvm::SmallVector<mlir::StringAttr>>
  getDenseRows(mlir::Value value);
  mlir::Value getDenseBuffer(mlir::Value value);
  mlir::DictionaryAttr getResultRows(mlir::Value value);
  mlir::LogicalResult addReturn(mlir::func::ReturnOp op);

  mlir::func::FuncOp func;
  int64_t vectorBits;
  mlir::MLIRContext *context;
  mlir::OpBuilder b;
  ScheduleOp schedule;
  llvm::SmallVector<std::pair<TableKey, mlir::Value>> tables;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  /// Values that are arguments, or other names of their memory.
  llvm::DenseMap<mlir::Value, int64_t> arguments;
  std::vector<BatchMove> selections;
  /// Symbols from data that nothing has bound yet.
  llvm::SmallDenseSet<mlir::StringAttr> unbound;
  llvm::SmallVector<mlir::DictionaryAttr> entryChecks, deferredChecks;
  /// Kernels that are part of the function of one before.
  llvm::SmallDenseSet<mlir::Operation *> chained;
  unsigned numLoopOps = 0;
};

/// Elements as they are stored: booleans as bytes.
mlir::Type getStorageType(mlir::Type elementType);

} // namespace nested::ragged

#endif // NESTED_LIB_CONVERSION_KERNELSTOSTRUCTURE_SCHEDULEBUILDER_H
