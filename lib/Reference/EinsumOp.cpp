//===- EinsumOp.cpp - contract ---------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

/// result[output letters] = sum over all other letters (and, with `batch`, over
/// the instances of the path) of the product of the operands' elements: one
/// loop over every letter, in the order in which they occur.
LogicalResult Interpreter::run(ragged::ContractOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType resultType = LogicalType::of(op.getType());
  auto [left, output] = op.getEquation().split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  std::string letters;
  for (StringRef term : terms)
    for (char letter : term)
      if (letters.find(letter) == std::string::npos)
        letters += letter;

  SmallVector<StringAttr> path;
  SmallVector<LogicalType> types;
  for (mlir::Value operand : op.getOperands()) {
    types.push_back(LogicalType::of(operand));
    if (types.back().path.size() > path.size())
      path = types.back().path;
  }
  FailureOr<const Instances *> instances = getInstances(op, path);
  if (failed(instances))
    return failure();
  DType dtype = *getDType(resultType.elementType);
  bool floats = isFloat(dtype), bools = dtype == DType::I1;

  for (int64_t i = 0; i < (*instances)->count; ++i) {
    Array &into =
        result->instances[(*instances)->ancestors[resultType.path.size()][i]];
    SmallVector<const Array *> arrays;
    SmallVector<int64_t> box(letters.size(), -1);
    for (auto [k, operand] : llvm::enumerate(op.getOperands())) {
      arrays.push_back(&getArray(get(operand), types[k], **instances, i));
      for (auto [dim, letter] : llvm::enumerate(terms[k])) {
        int64_t size = arrays.back()->shape[dim];
        int64_t &known = box[letters.find(letter)];
        if (known >= 0 && known != size)
          return op.emitError("dim '")
                 << letter << "' is " << known << " and " << size << " in "
                 << scope.describe(path, i);
        known = size;
      }
    }
    auto stridesOf = [&](StringRef term, ArrayRef<int64_t> shape) {
      SmallVector<int64_t> strides(letters.size(), 0), own = getStrides(shape);
      for (auto [dim, letter] : llvm::enumerate(term))
        strides[letters.find(letter)] += own[dim];
      return strides;
    };
    Odometer walk(box);
    for (auto [term, array] : llvm::zip_equal(terms, arrays))
      walk.addOperand(stridesOf(term, array->shape));
    walk.addOperand(stridesOf(output, into.shape));
    for (; walk.isValid(); walk.next()) {
      Number product = arrays[0]->data[walk.getOffset(0)];
      for (size_t k = 1; k < arrays.size(); ++k) {
        Number factor = arrays[k]->data[walk.getOffset(k)];
        if (floats)
          product.f *= factor.f;
        else if (bools)
          product.i &= factor.i;
        else
          product.i =
              wrapTo(dtype, static_cast<uint64_t>(product.i) * factor.i);
      }
      Number &sum = into.data[walk.getOffset(arrays.size())];
      if (floats)
        sum.f += product.f;
      else if (bools)
        sum.i |= product.i;
      else
        sum.i = wrapTo(dtype, static_cast<uint64_t>(sum.i) + product.i);
    }
  }
  return set(op.getResult(), std::move(*result));
}
