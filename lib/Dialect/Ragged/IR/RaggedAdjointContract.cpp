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
  for (char letter : own)
    if (own.count(letter) > 1)
      return op.emitOpError("takes the diagonal '")
             << letter << "' of operand " << number
             << "; its derivative is not supported";
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
  if (path.size() > type.path.size() + 1)
    return op.emitOpError("repeats operand ")
           << number << " over several components of the path "
           << formatPath(path) << "; its derivative is not supported";
  // A sum over the batch repeats its gradient.
  if (path.size() < type.path.size())
    result.path = path;
  result.order = RaggedTensorType::getDefaultOrder(result.extents);
  Value sum = ContractOp::create(builder, op.getLoc(), result.toType(),
                                 terms + "->" + output, operands, batch);
  if (dims.size() != own.size() || result.path != type.path)
    return adjoint.broadcast(sum, dims, op.getOperand(number).getType());
  return adjoint.withType(sum, op.getOperand(number).getType());
}

FailureOr<SmallVector<Value>> ContractOp::emitAdjoint(OpBuilder &builder,
                                                      ArrayRef<Value> gradients,
                                                      ArrayRef<Value>,
                                                      ArrayRef<bool> active) {
  AdjointBuilder adjoint(builder, getLoc());
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
