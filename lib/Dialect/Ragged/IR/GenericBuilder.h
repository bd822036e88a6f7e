//===- GenericBuilder.h - Builds ragged.generic ------------------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the `generalize` methods of the named ops share: maps that align
// operands with a result (R2), elementwise generics and reductions.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_IR_GENERICBUILDER_H
#define NESTED_LIB_DIALECT_RAGGED_IR_GENERICBUILDER_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"

namespace nested::ragged {

class GenericBuilder {
public:
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;

  GenericBuilder(mlir::OpBuilder &rewriter, mlir::Location loc)
      : rewriter(rewriter), loc(loc), context(rewriter.getContext()) {}

  /// Everything that a generic with one output is made of.
  struct Spec {
    Spec() = default;
    /// The iteration of `op`, without its operands.
    explicit Spec(GenericOp op);
    /// Input `i` of `op`, read as it is there.
    void addInput(GenericOp op, unsigned i);

    llvm::SmallVector<ExtentAttr> dims;
    llvm::SmallVector<bool> reduction;
    llvm::SmallVector<mlir::StringAttr> path;
    llvm::SmallVector<mlir::Value> inputs;
    llvm::SmallVector<mlir::AffineMap> maps;
    /// One list per input (empty: none); no lists at all: none has offsets.
    llvm::SmallVector<llvm::SmallVector<ExtentAttr>> offsets;
    /// One per input, or none: what it is outside of its operand (null: only
    /// read inside).
    llvm::SmallVector<mlir::TypedAttr> outside;
    mlir::Value init;
    mlir::AffineMap outputMap;
    bool batchReduced = false;
  };
  mlir::Value build(const Spec &spec, Body body);
  /// The same with a region that is cloned from another op; the init's argument
  /// is added to it.
  mlir::Value build(const Spec &spec, mlir::Region &body);

  /// Elementwise over all dims of `type`; inputs are aligned by `alignMap`.
  mlir::Value elementwise(LogicalType type, mlir::ValueRange inputs, Body body);

  /// The same where `groups`, which follow the inputs in the body, are values
  /// of groups of elements: they have the dims of `type` that are not
  /// `reduced`.
  mlir::Value elementwise(LogicalType type, mlir::ValueRange inputs,
                          mlir::ValueRange groups,
                          llvm::ArrayRef<int64_t> reduced, Body body);

  /// Reduces `source` over the logical dims `reduced` (and, with `batch`, over
  /// the last component of the path); `body` gets (element, accumulator).
  mlir::Value reduce(mlir::Value source, llvm::ArrayRef<int64_t> reduced,
                     bool batch, mlir::TypedAttr init, Body body,
                     mlir::Type elementType = {}) {
    return reduce(source, {}, reduced, batch, init, body, elementType);
  }
  /// The same over the dims of the first of several inputs; `body` gets their
  /// elements, those of `groups`, and the accumulator. The result has
  /// `elementType`, if it is not that of `init`: one with a sign.
  mlir::Value reduce(mlir::ValueRange inputs, mlir::ValueRange groups,
                     llvm::ArrayRef<int64_t> reduced, bool batch,
                     mlir::TypedAttr init, Body body,
                     mlir::Type elementType = {});
  /// Reduces the last of several components of the path into `init`: the
  /// members of a sample are a dim of it.
  mlir::Value reduceMembers(mlir::Value value, mlir::Value init, Body body);
  /// The same from a number.
  mlir::Value reduceMembers(mlir::Value value, mlir::TypedAttr init, Body body,
                            mlir::Type elementType = {});

  /// The members of the last component of the path as dim 0.
  mlir::Value unnest(mlir::Value value);

  /// From the dims of a type to those of its groups.
  mlir::AffineMap groupMap(int64_t rank, llvm::ArrayRef<int64_t> reduced);

  /// R2: from the dims of `result` to those of `input`: trailing dims align,
  /// extent 1 repeats.
  mlir::AffineMap alignMap(const LogicalType &input, const LogicalType &result);

  mlir::Value empty(const LogicalType &type);
  mlir::Value fill(const LogicalType &type, mlir::TypedAttr value);
  /// `value` converted to another float type, elementwise; itself if it has it.
  mlir::Value convertFloat(mlir::Value value, mlir::Type elementType);

private:
  /// All of a reduction but its init.
  Spec reduction(mlir::ValueRange inputs, mlir::ValueRange groups,
                 llvm::ArrayRef<int64_t> reduced, bool batch);
  template <typename Fill>
  mlir::Value create(const Spec &spec, Fill fillBody);

  mlir::OpBuilder &rewriter;
  mlir::Location loc;
  mlir::MLIRContext *context;
};

/// Where a reduction of this kind starts: its identity.
mlir::TypedAttr getIdentity(ReduceKind kind, mlir::Type type);
/// The op that combines an element and an accumulator, which are scalars of
/// `type`; of sum, mean, prod, max, min, any and all.
mlir::Value combine(ReduceKind kind, mlir::Type type, mlir::OpBuilder &b,
                    mlir::Location loc, mlir::Value element,
                    mlir::Value accumulator);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_IR_GENERICBUILDER_H
