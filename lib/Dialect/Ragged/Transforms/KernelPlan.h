//===- KernelPlan.h - Which generics make which kernels ----------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions of `--ragged-form-kernels`, before anything is rewritten.
// Words:
//
// * row dims: the iteration dims of a generic that become rows of the kernel;
// the
//   others stay dims of its tiles;
// * virtual ops: gathers and constants, which are loads and are repeated in
// every
//   kernel that reads them;
// * step: a kernel, or another op that does something at run time. Steps run in
//   order.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELPLAN_H
#define NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Dialect/Ragged/Transforms/Fusion.h"
#include "llvm/ADT/MapVector.h"

namespace nested::ragged {

/// What a generic is to the kernel that it is part of.
struct GenericPlan {
  GenericOp op;
  /// Iteration dims that are rows: parallel ones in packed order of the result,
  /// then reductions.
  llvm::SmallVector<unsigned> rowDims;
  /// How many of the row dims are parallel.
  unsigned groups = 0;
  /// Extents of the row dims.
  llvm::SmallVector<ExtentAttr> space;

  GenericOp getOp() const { return op; }
  bool isFold() const {
    return groups < rowDims.size() || getOp().getBatchReduced();
  }
  /// Position of an iteration dim among the row dims.
  std::optional<unsigned> getRowPosition(unsigned dim) const {
    const auto *it = llvm::find(rowDims, dim);
    if (it == rowDims.end())
      return std::nullopt;
    return it - rowDims.begin();
  }
};

struct KernelPlan {
  llvm::SmallVector<mlir::StringAttr> path;
  llvm::SmallVector<ExtentAttr> space;
  llvm::SmallVector<GenericPlan> generics;
  /// Of dense values alone, made in front of the tiles.
  llvm::SmallVector<GenericOp> shared;
  /// Elementwise generics done where a fold ends, by the fold that they follow.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<GenericOp>> finalizers;
  /// Of the folds: the leading row dims that make a unit; the whole space if
  /// nothing is folded.
  unsigned groups = 0;
  bool hasFold = false, batch = false;

  /// Takes one more generic; one that folds says what is a unit.
  void add(const GenericPlan &plan) {
    GenericOp op = plan.getOp();
    if (generics.empty() || plan.isFold()) {
      path = op.getPathNames();
      space = plan.space;
      groups = plan.groups;
      batch = op.getBatchReduced();
    }
    hasFold |= plan.isFold();
    generics.push_back(plan);
  }
  const GenericPlan *lookup(mlir::Operation *op) const {
    for (const GenericPlan &plan : generics)
      if (plan.op == op)
        return &plan;
    return nullptr;
  }
  bool isFold(mlir::Operation *op) const {
    const GenericPlan *plan = lookup(op);
    return plan && plan->isFold();
  }
};

/// One run-time step of the function, in order.
struct StepPlan {
  /// Null for a kernel.
  mlir::Operation *hostOp = nullptr;
  KernelPlan kernel;
};

/// How many leading storage dims of `value` are rows, when it is read through
/// `map` and `offsets` by a generic with these row dims: its ragged dims, and
/// static ones whose coordinate depends on row dims or on the sample.
unsigned getRowRank(const LogicalType &type, mlir::AffineMap map,
                    llvm::ArrayRef<ExtentAttr> offsets,
                    const GenericPlan &plan);

/// How many leading storage dims of a load's source are found row by row: its
/// ragged dims, and those up to the indexed one.
unsigned getLoadRowRank(IndexedLoadOpInterface load);

/// Whether `op` is a load that is repeated in each kernel that reads it.
bool isVirtual(mlir::Operation *op);

/// Whether input `i` of the generic is read at the row's own coordinates.
bool isReadByRow(const GenericPlan &plan, unsigned i);

/// Makes every reduction over rows start from the neutral element of its
/// combiner: what it started from is combined with the result afterwards.
mlir::LogicalResult splitInits(mlir::RewriterBase &rewriter,
                               mlir::func::FuncOp func);

/// The row dims of a generic. An error when they cannot be rows.
mlir::FailureOr<GenericPlan> planGeneric(GenericOp op);

/// Operations of a generic for one row of the kernel: those of its region, at
/// each of the points that are not rows.
int64_t getRowOperations(const GenericPlan &plan);

/// What becomes steps, in the order in which it is put into them.
mlir::FailureOr<llvm::SmallVector<mlir::Operation *>>
orderForFusion(mlir::func::FuncOp func);

/// Steps of the whole function. Reports decisions as remarks.
mlir::FailureOr<std::vector<StepPlan>> planKernels(mlir::func::FuncOp func,
                                                   Fusion fuse);

/// Makes two kernels of each whose parts share nothing and are much work.
void splitKernels(std::vector<StepPlan> &steps);

/// Makes kernels of dense arguments alone a part of the one that reads them.
void shareInKernels(std::vector<StepPlan> &steps);

/// Writes the kernel as an op; maps the results of its generics to the op's.
/// Tiles that are multiplied with many weights have at most `largeTileRows`.
mlir::LogicalResult buildKernel(mlir::RewriterBase &rewriter,
                                mlir::Location loc, const KernelPlan &plan,
                                llvm::StringRef name, int64_t largeTileRows);

/// Whether the region of a generic of one result reads what that starts from.
inline bool isInitUsed(GenericOp op) {
  return !op.getBody().front().getArguments().back().use_empty();
}

/// Whether every loop is a dim of some operand, which linalg asks for.
bool coverDims(llvm::ArrayRef<mlir::AffineMap> maps);
/// The reduction of a generic, over its elements as a tile: what `combiner`
/// makes of the accumulator and `element`, a value of its region.
mlir::Value reduceElements(mlir::OpBuilder &builder, GenericOp op,
                           mlir::Value elements, mlir::Value element,
                           mlir::Value init, mlir::AffineMap outputMap,
                           mlir::Operation *combiner);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_KERNELPLAN_H
