//===- RaggedGradientOps.cpp - Requests for derivatives -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

#include "mlir/IR/IRMapping.h"
#include "nested/Dialect/Ragged/IR/Differentiation.h"

using namespace mlir;
using namespace nested::ragged;

/// One value of each of the given types.
static LogicalResult verifySameTypes(Operation *op, StringRef what,
                                     TypeRange actual, StringRef of,
                                     TypeRange expected) {
  if (actual.size() != expected.size())
    return emitExpected(
        op, what + " for each of the " + Twine(expected.size()) + " " + of,
        Twine(actual.size()));
  for (auto [i, type] : llvm::enumerate(expected)) {
    if (actual[i] == type)
      continue;
    InFlightDiagnostic diagnostic =
        emitExpected(op, what + " " + Twine(i) + " of type " + quote(type),
                     quote(actual[i]));
    std::optional<LogicalType> wanted = LogicalType::get(type),
                               got = LogicalType::get(actual[i]);
    if (wanted && got)
      attachMismatchNotes(diagnostic, op, *wanted, *got);
    return diagnostic;
  }
  return success();
}

static LogicalResult verifyFloats(Operation *op, StringRef what,
                                  ValueRange values) {
  if (values.empty())
    return emitExpected(op, "at least one " + what, "none");
  for (auto [i, value] : llvm::enumerate(values))
    if (!isDifferentiable(value.getType()))
      return emitExpected(op,
                          what + " " + Twine(i) +
                              " of a float element type, since " +
                              "derivatives of others do not exist",
                          quote(value.getType()));
  return success();
}

LogicalResult GradientOp::verify() {
  if (failed(verifyFloats(*this, "output", getOutputs())) ||
      failed(verifyFloats(*this, "variable", getVariables())) ||
      failed(verifySameTypes(*this, "a gradient", getGradients().getTypes(),
                             "variables", getVariables().getTypes())))
    return failure();
  if (!getSeeds().empty())
    return verifySameTypes(*this, "a seed", getSeeds().getTypes(), "outputs",
                           getOutputs().getTypes());
  for (auto [i, output] : llvm::enumerate(getOutputs())) {
    LogicalType type = LogicalType::of(output);
    if (!type.isDense() || type.getRank() != 0)
      return emitExpected(*this,
                          "output " + Twine(i) +
                              " to be a dense scalar, or to have a seed",
                          quote(output.getType()));
  }
  return success();
}

FailureOr<SmallVector<Value>> VariableOp::emitAdjoint(OpBuilder &,
                                                      ArrayRef<Value> gradients,
                                                      ArrayRef<Value>,
                                                      ArrayRef<bool>) {
  return SmallVector<Value>{gradients[0]};
}

FailureOr<SmallVector<Value>> BarrierOp::emitAdjoint(OpBuilder &,
                                                     ArrayRef<Value> gradients,
                                                     ArrayRef<Value>,
                                                     ArrayRef<bool>) {
  SmallVector<Value> results(getNumOperands());
  results[0] = gradients[0];
  return results;
}

//===----------------------------------------------------------------------===//
// custom_gradient
//===----------------------------------------------------------------------===//

LogicalResult CustomGradientOp::verify() {
  if (failed(verifySameTypes(*this, "a result", getResults().getTypes(),
                             "values", getValues().getTypes())))
    return failure();
  Block &body = getBody().front();
  if (failed(verifyArguments(*this, "a region", body,
                             SmallVector<Type>(getValues().getTypes()))))
    return failure();
  return verifyYield(*this, "the region", body,
                     SmallVector<Type>(getInputs().getTypes()));
}

FailureOr<SmallVector<Value>>
CustomGradientOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                              ArrayRef<Value>, ArrayRef<bool> active) {
  IRMapping mapping;
  Block &body = getBody().front();
  for (auto [argument, gradient] :
       llvm::zip_equal(body.getArguments(), gradients)) {
    Value given = gradient;
    if (!given) {
      LogicalType type = LogicalType::of(argument);
      given = FillOp::create(builder, getLoc(), argument.getType(),
                             FloatAttr::get(type.elementType, 0));
    }
    mapping.map(argument, given);
  }
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  // The values lead to the inputs too, but not for a derivative.
  SmallVector<Value> results(getNumOperands());
  unsigned first = getValues().size();
  for (auto [i, yielded] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (active[first + i])
      results[first + i] = mapping.lookupOrDefault(yielded);
  return results;
}

//===----------------------------------------------------------------------===//
// checkpoint
//===----------------------------------------------------------------------===//

LogicalResult CheckpointOp::verify() {
  Block &body = getBody().front();
  if (failed(verifyArguments(*this, "the region", body, {})))
    return failure();
  return verifyYield(*this, "the region", body,
                     SmallVector<Type>(getResultTypes()));
}
