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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "nested/Dialect/Ragged/IR/Differentiation.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"

namespace nested::ragged {

class AdjointBuilder : public TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;

  /// The adjoint of repeating a value of type `type` to the shape of
  /// `gradient`, dims aligned at the last: sums over what was repeated, the
  /// batch included.
  mlir::Value sumTo(mlir::Value gradient, mlir::Type type);

  /// The derivative of region code: `body` computes `output`, whose gradient is
  /// `seed`, from `variable`. Emits the variable's gradient at `builder`; null:
  /// 0.
  static mlir::FailureOr<mlir::Value> differentiateScalars(
      mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Operation *> body,
      mlir::Value variable, mlir::Value output, mlir::Value seed);
  /// The same for several of both.
  static mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  differentiateScalars(mlir::OpBuilder &builder,
                       llvm::ArrayRef<mlir::Operation *> body,
                       mlir::ValueRange variables, mlir::ValueRange outputs,
                       llvm::ArrayRef<mlir::Value> seeds);

  /// The adjoint of an op of `operands` as that of other ops, which `compute`
  /// emits: it gets the operands and gives values of the types of the results.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> differentiateAs(
      mlir::ValueRange operands, llvm::ArrayRef<mlir::Value> gradients,
      llvm::ArrayRef<bool> active,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>
          compute);
};

/// Writes scalar code.
struct Scalars {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value number(mlir::Type type, double value) {
    return makeNumber(b, loc, type, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x,
                      mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  mlir::Value isNaN(mlir::Value x) {
    return compare(mlir::arith::CmpFPredicate::UNO, x, x);
  }
  /// Equal numbers, or x is none.
  mlir::Value isEqualOrNaN(mlir::Value x, mlir::Value y) {
    return either(compare(mlir::arith::CmpFPredicate::OEQ, x, y), isNaN(x));
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return mlir::arith::OrIOp::create(b, loc, x, y);
  }
};

/// Erases ops of the block whose results nothing uses.
void eraseDeadOps(mlir::Block &block);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_ADJOINTBUILDER_H
