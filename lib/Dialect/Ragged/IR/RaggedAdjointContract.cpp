//===- RaggedAdjointContract.cpp - Derivatives of contractions ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of an operand is a contraction of the result's gradient with the
// other operands, to the letters of the operand; over the batch too if the
// operand is shared. Letters that the operand alone has are repeated.
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "Equation.h"
#include "nested/Dialect/Ragged/IR/RaggedProducts.h"

using namespace mlir;
using namespace nested::ragged;

static FailureOr<Value> emitGradient(OpBuilder &builder, ContractOp op,
                                     unsigned number, Value gradient) {
  AdjointBuilder adjoint(builder, op.getLoc());
  Equation equation = Equation::of(op.getEquation());
  StringRef own = equation.inputs[number];
  LogicalType type = LogicalType::of(op.getOperand(number));
  SmallVector<Value> operands;
  std::string terms, letters;
  SmallVector<StringAttr> path;
  auto add = [&](Value value, StringRef term) {
    terms += (operands.empty() ? "" : ",") + term.str();
    letters += term;
    operands.push_back(value);
    path = *joinPaths(path, LogicalType::of(value).path);
  };
  add(gradient, equation.output);
  for (auto [k, operand] : llvm::enumerate(op.getOperands()))
    if (k != number)
      add(operand, equation.inputs[k]);

  // What the other operands have of the letters.
  std::string output;
  SmallVector<int64_t> dims;
  LogicalType result(type.path, {}, type.elementType);
  for (auto [dim, letter] : llvm::enumerate(own)) {
    if (letters.find(letter) == std::string::npos)
      continue;
    output += letter;
    dims.push_back(dim);
    result.extents.push_back(type.extents[dim]);
  }
  bool batch = path.size() > type.path.size();
  if (batch) {
    result.path = path;
    result.path.pop_back();
  }
  // A sum over the batch repeats its gradient.
  if (path.size() < type.path.size())
    result.path = path;
  result.order = RaggedTensorType::getDefaultOrder(result.extents);
  Value sum = ContractOp::create(builder, op.getLoc(), result.toType(),
                                 terms + "->" + output, operands, batch);
  if (batch) {
    result.path = type.path;
    sum = adjoint.sumTo(sum, result.toType());
  }
  if (dims.size() != own.size() || result.path != type.path)
    return adjoint.broadcast(sum, dims, op.getOperand(number).getType());
  return adjoint.withType(sum, op.getOperand(number).getType());
}

/// The value without the dims of letters that it has had before: what is not on
/// the diagonal is selected out (R4), and nothing else summed.
static Value takeDiagonals(TensorBuilder &tensors, Value value,
                           std::string &letters) {
  OpBuilder &builder = tensors.builder;
  for (size_t dim = 0; dim < letters.size();) {
    size_t first = letters.find(letters[dim]);
    if (first == dim) {
      ++dim;
      continue;
    }
    LogicalType type = LogicalType::of(value), indices = type;
    indices.elementType = builder.getI64Type();
    auto iota = [&](int64_t along) -> Value {
      return IotaOp::create(builder, tensors.loc, indices.toType(),
                            builder.getI64IntegerAttr(along));
    };
    Value diagonal = tensors.map(
        type, {value, iota(first), iota(dim)},
        [](OpBuilder &b, Location l, ValueRange v) -> Value {
          Scalars s{b, l};
          return s.select(s.compare(arith::CmpIPredicate::eq, v[1], v[2]), v[0],
                          s.number(v[0].getType(), 0));
        });
    value = tensors.reduce(ReduceKind::Sum, diagonal, {int64_t(dim)});
    letters.erase(dim, 1);
  }
  return value;
}

FailureOr<SmallVector<Value>> ContractOp::emitAdjoint(OpBuilder &builder,
                                                      ArrayRef<Value> gradients,
                                                      ArrayRef<Value>,
                                                      ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
  Equation equation = Equation::of(getEquation());
  if (llvm::any_of(equation.inputs, [](StringRef term) {
        return llvm::any_of(term, [&](char c) { return term.count(c) > 1; });
      }))
    return adjoint.differentiateAs(
        getOperands(), gradients, active, [&](ValueRange operands) {
          SmallVector<Value> values;
          std::string terms;
          for (auto [operand, term] :
               llvm::zip_equal(operands, equation.inputs)) {
            std::string letters(term);
            values.push_back(takeDiagonals(adjoint, operand, letters));
            terms += (terms.empty() ? "" : ",") + letters;
          }
          terms += "->" + std::string(equation.output);
          return SmallVector<Value>{ContractOp::create(
              builder, getLoc(), getType(), terms, values, getBatch())};
        });
  // Sums of narrow floats may have been kept in f32.
  Value gradient = adjoint.convertFloat(
      gradients[0], LogicalType::of(getOperand(0)).elementType);
  SmallVector<Value> results(getNumOperands());
  for (unsigned i = 0; i < results.size(); ++i) {
    if (!active[i])
      continue;
    FailureOr<Value> own = emitGradient(builder, *this, i, gradient);
    if (failed(own))
      return failure();
    results[i] = *own;
  }
  return results;
}
