//===- LinearForm.h - Values as sums of smaller values -----------*- C++
//-*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the algebraic rewrites of the tensor phase share. A value is read as a
// sum of terms, each of which is a value of its own that may have fewer axes
// (broadcasts), times factors:
//
//   x[rows, k] = sum over terms of
//                factor * product of scales[rows] * gains[k] * source[..., k]
//
// Nothing is rewritten while a form is looked for. Costs are formulas in the
// lengths, compared at lengths that stand for short and long samples; the
// decision is the same for every batch (R8).
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_LINEARFORM_H
#define NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_LINEARFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "nested/Dialect/Ragged/IR/TensorBuilder.h"

namespace nested::ragged {

/// A value and the dims of the whole that its dims are; its other dims repeat
/// it, and so does one of extent 1.
struct Placed {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims;

  bool operator==(const Placed &other) const {
    return value == other.value && dims == other.dims;
  }
};

struct Term {
  Placed source;
  double factor = 1;
  /// One number per row: without the last dim of the whole.
  llvm::SmallVector<Placed> scales;
  /// Dense vectors along the last dim.
  llvm::SmallVector<mlir::Value> gains;
  /// If there is one: the source is read less its mean along its last dim, and
  /// 1 / sqrt(variance + eps) of this op's source is one more scale.
  NormalizeOp norm;

  bool isPlain() const {
    return factor == 1 && scales.empty() && gains.empty() && !norm;
  }
};

struct LinearForm {
  /// Of the whole.
  LogicalType type;
  llvm::SmallVector<Term> terms;

  /// Whether the value is its own only term.
  bool isOpaque(mlir::Value value) const {
    return terms.size() == 1 && terms[0].isPlain() &&
           terms[0].source.value == value;
  }
};

/// Finds forms; remembers them until something is rewritten.
class LinearForms {
public:
  /// With `normalize`, a normalisation of a sum of values with fewer axes is
  /// read as the sum of the centred values, scaled per row.
  explicit LinearForms(bool normalize) : normalize(normalize) {}
  const LinearForm &get(mlir::Value value);
  void clear() { known.clear(); }

private:
  LinearForm find(mlir::Value value);
  std::optional<LinearForm> findMap(MapOp op);
  std::optional<LinearForm> findNormalize(NormalizeOp op);

  bool normalize;
  llvm::DenseMap<mlir::Value, std::unique_ptr<LinearForm>> known;
};

/// Whether dim `dim` of the whole is one along which `placed` differs.
bool variesAlong(const Placed &placed, const LogicalType &whole, int64_t dim);

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Scalar operations per sample, as a formula in the lengths. What is done once
/// for the whole batch counts as if there were one sample.
class Cost {
public:
  explicit Cost(mlir::MLIRContext *context)
      : formula(extent::constant(context, 0)) {}
  /// `perElement` for each element of `type`, whose static extents count too.
  void add(const LogicalType &type, int64_t perElement);
  void add(const Cost &other);
  /// Whether it is less for short samples and for long ones. False if a formula
  /// is too large to be kept.
  bool isLess(const Cost &other) const;
  std::string str() const;

private:
  std::optional<double> evaluate(int64_t length) const;

  ExtentAttr formula;
};

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Builds sums of terms.
class TermBuilder : public TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;

  /// The value as an operand of a map over `whole`.
  mlir::Value broadcast(const Placed &placed, const LogicalType &whole);
  /// The sum of terms without normalisations, element by element of `whole`.
  mlir::Value sum(const LogicalType &whole, llvm::ArrayRef<Term> terms);
};

/// Erases what nothing reads any more.
void eraseDeadOps(mlir::func::FuncOp func);

} // namespace nested::ragged

#endif // NESTED_LIB_DIALECT_RAGGED_TRANSFORMS_LINEARFORM_H
