//===- Scalars.h - Evaluates regions of scalar ops --------------*- C++ -*-===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `arith` and `math` on one element. Floats are f64; integers are kept in their
// width. R11 says what these dialects leave undefined.
//
//===----------------------------------------------------------------------===//

#ifndef NESTED_LIB_REFERENCE_SCALARS_H
#define NESTED_LIB_REFERENCE_SCALARS_H

#include "nested/Reference/Reference.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace nested::reference {

/// A float, integer or boolean attribute.
Number toNumber(mlir::Attribute scalar);
/// The numbers of an elements attribute, in order; false if it cannot be read.
bool readElements(mlir::Attribute elements, DType dtype,
                  llvm::MutableArrayRef<Number> numbers);

/// IEEE 754-2019 maximum and minimum: NaN wins, -0 is less than +0 (R10).
double maximum(double lhs, double rhs);
double minimum(double lhs, double rhs);

/// What an op sees of its operands and results.
struct ScalarCall {
  Number *slots = nullptr;
  llvm::SmallVector<unsigned, 3> operands;
  llvm::SmallVector<unsigned, 1> results;
  DType operandType = DType::F64;
  DType resultType = DType::F64;
  /// A predicate, or a dim.
  int64_t attribute = 0;
  bool rounds = false;
  /// Coordinates of the current point of a generic.
  const int64_t *coordinates = nullptr;

  double f(unsigned k) const { return slots[operands[k]].f; }
  /// Signed; the set i1 is -1.
  int64_t s(unsigned k) const {
    int64_t value = slots[operands[k]].i;
    return operandType == DType::I1 ? -value : value;
  }
  /// Unsigned.
  uint64_t u(unsigned k) const;
  void setF(double value, unsigned k = 0) {
    slots[results[k]].f = rounds ? roundTo(resultType, value) : value;
  }
  void setI(int64_t value, unsigned k = 0) {
    slots[results[k]].i = wrapTo(resultType, value);
  }
};

using ScalarFunction = void (*)(ScalarCall &call);

/// Null if the interpreter does not know the op.
ScalarFunction lookupScalarFunction(llvm::StringRef opName);

/// Between an element and the scalar of a region, which has no sign.
inline Number toScalar(DType dtype, Number element) {
  if (dtype == DType::U8)
    element.i = wrapTo(DType::I8, element.i);
  return element;
}
inline Number toElement(DType dtype, Number scalar) {
  if (dtype == DType::U8)
    scalar.i = wrapTo(dtype, scalar.i);
  return scalar;
}

/// A block of scalar ops, ready to be run many times.
class ScalarProgram {
public:
  /// `capture` gives scalars that the block uses and does not define. Fails
  /// with a diagnostic at an op that is not supported.
  static mlir::FailureOr<ScalarProgram>
  compile(mlir::Block &block, bool roundEach,
          llvm::function_ref<std::optional<Number>(mlir::Value)> capture);
  /// Of one elementwise op of tensors or scalars; its operands are arguments.
  static mlir::FailureOr<ScalarProgram> compile(mlir::Operation *op,
                                                bool roundEach);

  Number &argument(unsigned i) { return slots[i]; }
  /// At a point of a generic.
  void run(llvm::ArrayRef<int64_t> coordinates);
  /// What the block yields, or the op's result.
  Number result(unsigned i) const { return slots[results[i]]; }

private:
  struct Step {
    ScalarFunction function;
    ScalarCall call;
  };
  mlir::LogicalResult add(mlir::Operation *op,
                          llvm::ArrayRef<unsigned> operands, bool roundEach);
  unsigned addSlot(Number number = Number{});

  std::vector<Number> slots;
  std::vector<Step> steps;
  std::vector<unsigned> results;
};

} // namespace nested::reference

#endif // NESTED_LIB_REFERENCE_SCALARS_H
