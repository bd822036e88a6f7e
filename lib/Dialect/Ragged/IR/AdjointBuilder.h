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

namespace nested::ragged {

class AdjointBuilder {
public:
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

  AdjointBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc), context(builder.getContext()) {}

  /// Elementwise; inputs align with `type` as those of `ragged.map` (R2).
  mlir::Value map(const LogicalType &type, mlir::ValueRange inputs, Body body);
  /// The products of values of one type.
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value convertFloat(mlir::Value value, mlir::Type elementType);
  /// The value with dims stored in the order of `type`; itself if they are.
  mlir::Value withType(mlir::Value value, mlir::Type type);

  mlir::Value broadcast(mlir::Value source, llvm::ArrayRef<int64_t> dims,
                        mlir::Type type);
  mlir::Value reduce(ReduceKind kind, mlir::Value source,
                     llvm::ArrayRef<int64_t> dims, bool batch = false,
                     bool keepdims = false,
                     EmptyPolicy empty = EmptyPolicy::Zero);
  mlir::Value zeros(mlir::Type type);
  /// A number everywhere.
  mlir::Value fill(const LogicalType &type, double value);

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

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::MLIRContext *context;
};

/// Erases ops of the block whose results nothing uses.
void eraseDeadOps(mlir::Block &block);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_ADJOINTBUILDER_H
