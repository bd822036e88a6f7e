//===- TensorBuilder.h - Builds ops of the tensor phase ---------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What derivative rules and the algebraic rewrites write: ops of the tensor
// phase on values whose types follow from those of the operands. Also numbers
// of regions, and the types that sums are kept in (R6).
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_DIALECT_RAGGED_IR_TENSORBUILDER_H
#define NESTED_DIALECT_RAGGED_IR_TENSORBUILDER_H

#include "nested/Dialect/Ragged/IR/LogicalType.h"

namespace nested::ragged {

/// R6: the type that sums of `type` are accumulated in: at least f32.
mlir::Type getAccumulatorType(mlir::Type type);
/// R6: the type that sums of `elementType` are accumulated in. A sum over rows
/// may have millions of terms, added one by one in a fixed order (R8). In f64
/// its error does not grow with them; a row more costs little.
mlir::Type getSumType(mlir::Type elementType, bool overRows);
/// A number as an attribute of an int or float type.
mlir::TypedAttr getNumberAttr(mlir::Type type, double value);

/// Scalars of a region: of ints, or of floats that may be contracted.
mlir::Value makeNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                       double value);
mlir::Value makeAdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                    mlir::Value y);
mlir::Value makeMul(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                    mlir::Value y);
/// A float as one of another type; itself if it has it.
mlir::Value makeFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
                      mlir::Value x);

/// `value` with floats of another type, by the elementwise op that `make`
/// creates of a type and a body; itself if it has them.
template <typename Make>
mlir::Value convertFloatBy(mlir::Value value, mlir::Type elementType,
                           Make make) {
  LogicalType type = LogicalType::of(value);
  if (type.elementType == elementType)
    return value;
  type.elementType = elementType;
  return make(type,
              [&](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange x) {
                return makeFloat(b, l, elementType, x[0]);
              });
}

class TensorBuilder {
public:
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

  TensorBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Elementwise; inputs align with `type` as those of `ragged.map` (R2).
  mlir::Value map(const LogicalType &type, mlir::ValueRange inputs, Body body);
  /// Elementwise on values of one type.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value convertFloat(mlir::Value value, mlir::Type elementType);
  /// Floats of less than 32 bits as f32.
  mlir::Value widen(mlir::Value value);
  /// The value with dims stored in the order of `type`; itself if they are.
  mlir::Value withType(mlir::Value value, mlir::Type type);

  mlir::Value broadcast(mlir::Value source, llvm::ArrayRef<int64_t> dims,
                        mlir::Type type);
  mlir::Value reduce(ReduceKind kind, mlir::Value source,
                     llvm::ArrayRef<int64_t> dims, bool batch = false,
                     bool keepdims = false,
                     EmptyPolicy empty = EmptyPolicy::Zero);
  /// The value less its mean over dims, which is taken away in a wider type, or
  /// twice: no rounding of the mean is left (R6).
  mlir::Value centre(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  /// The elements of each sample in other dims; both are stored in the order of
  /// their dims. Itself if it has them.
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<ExtentAttr> extents);
  /// Dim k of the result is dim `permutation[k]`; itself if all dims stay.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// `source @ weights`, accumulated and kept in at least f32.
  mlir::Value linear(mlir::Value source, mlir::Value weights,
                     mlir::Value bias = {});
  /// A number everywhere.
  mlir::Value fill(const LogicalType &type, double value);
  mlir::Value zeros(mlir::Type type) { return fill(LogicalType::of(type), 0); }
  /// The value of an extent in each sample, for a map over `whole`.
  mlir::Value extent(ExtentAttr extent, const LogicalType &whole);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace nested::ragged

#endif // NESTED_DIALECT_RAGGED_IR_TENSORBUILDER_H
