//===- Differentiation.h - Reverse mode on straight-line code ---*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sweep that `--ragged-autodiff` makes over the ops of a function, and the
// rules of ops with regions over the scalar ops of a region. Both are a list of
// ops in order, values to differentiate with respect to, and values whose
// gradients are known.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_DIFFERENTIATION_H
#define NESTED_DIALECT_RAGGED_IR_DIFFERENTIATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"

namespace nested::ragged {

/// Whether values of this type can be active: floats, and tensors of them.
bool isDifferentiable(mlir::Type type);

/// What a derivative goes through: values that depend on a variable, and on
/// which an output depends, through floats all the way.
class Activity {
public:
  /// `ops` in program order, which lead from `variables` to `outputs`.
  Activity(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange variables,
           mlir::ValueRange outputs);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  /// The ops with an active result, in program order.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }

private:
  llvm::DenseSet<mlir::Value> active;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The gradients of values during a sweep. What several uses of a value
/// contribute is added up when it is asked for.
class Gradients {
public:
  using Add = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;

  void contribute(mlir::Value value, mlir::Value gradient) {
    contributions[value].push_back(gradient);
  }
  /// Null: nothing contributes.
  mlir::Value get(mlir::Value value, Add add);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> contributions;
};

/// Attribute of the ops of one `ragged.checkpoint`: its number.
inline constexpr llvm::StringLiteral kCheckpointAttr = "ragged.checkpoint";

/// Goes backwards over the active ops and emits their adjoints at `builder`.
/// What `cacheValues` emits is behind the ops themselves. An op without a rule
/// is an error. The ops of a checkpoint are computed again where the first of
/// their gradients is needed, and the adjoints use these values.
mlir::LogicalResult sweepBackwards(mlir::OpBuilder &builder,
                                   const Activity &activity,
                                   Gradients &gradients, Gradients::Add add);

/// The gradients of `variables` from those of `outputs`, `seeds` (null: the
/// output does not matter), which `ops` lead from one to the other. Null where
/// nothing contributes.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
differentiate(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> ops,
              mlir::ValueRange variables, mlir::ValueRange outputs,
              llvm::ArrayRef<mlir::Value> seeds, Gradients::Add add);

/// Attaches DifferentiableOpInterface to the ops of `arith` and `math`.
void attachScalarAdjoints(mlir::MLIRContext &context);

/// Products with local derivatives are guarded so that they can be
/// differentiated again. Where nobody does any more, a guard asks whether the
/// gradient is 0 alone, and is left out of products with constants.
void simplifyGuards(mlir::func::FuncOp func);

/// Gradients of attention have asked for its normalizer: the attention that
/// also gives that replaces the one that does not.
void shareNormalizers(mlir::func::FuncOp func);

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_DIFFERENTIATION_H
