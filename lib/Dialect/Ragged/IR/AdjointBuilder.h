//===- AdjointBuilder.h - What derivative rules are made of ------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the tensor phase, written by the `emitAdjoint` methods. They are ops
// with rules themselves, so that derivatives have derivatives.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_IR_ADJOINTBUILDER_H
#define NESTED_LIB_DIALECT_RAGGED_IR_ADJOINTBUILDER_H

#include "nested/Dialect/Ragged/IR/Differentiation.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"

namespace nested::ragged {

class AdjointBuilder : public TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;

  /// The adjoint of repeating a value of type `type` to the shape of
  /// `gradient`, dims aligned at the last: sums over what was repeated, the
  /// batch included.
  mlir::FailureOr<mlir::Value> sumTo(mlir::Value gradient, mlir::Type type);

  /// The derivative of region code: `body` computes values, the last of
  /// `arguments` are the gradients of what it yields. Emits at `builder` the
  /// gradient of the values that `variable` maps to. Null: 0.
  static mlir::FailureOr<mlir::Value>
  differentiate(mlir::OpBuilder &builder,
                llvm::ArrayRef<mlir::Operation *> body, mlir::Value variable,
                mlir::Value output, mlir::Value seed);

  /// A step of the adjoint of loads by index, in the region of a generic: of an
  /// index, a gradient and an accumulator, adds the gradient where the index is
  /// the coordinate along `dim`.
  static mlir::Value addWhereIndexed(mlir::OpBuilder &b, mlir::Location loc,
                                     mlir::ValueRange scalars, int64_t dim);
};

/// Erases ops of the block whose results nothing uses.
void eraseDeadOps(mlir::Block &block);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_ADJOINTBUILDER_H
