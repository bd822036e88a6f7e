//===- AttributeArguments.cpp - Arguments written into a test -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scalars.h"
#include "nested/Dialect/Ragged/IR/Ragged.h"
#include "nested/Reference/Reference.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;

/// A list of lists of numbers; unit stands for one that is left out.
static FailureOr<std::vector<std::optional<std::vector<int64_t>>>>
readLists(func::FuncOp func, unsigned index, StringRef name) {
  std::vector<std::optional<std::vector<int64_t>>> lists;
  Attribute attr = func.getArgAttr(index, name);
  if (!attr)
    return lists;
  auto array = dyn_cast<ArrayAttr>(attr);
  if (!array)
    return func.emitError("expected '") << name << "' to be an array";
  for (Attribute element : array) {
    if (auto numbers = dyn_cast<DenseI64ArrayAttr>(element))
      lists.emplace_back(numbers.asArrayRef().vec());
    else if (isa<UnitAttr>(element))
      lists.emplace_back(std::nullopt);
    else
      return func.emitError("expected '")
             << name << "' to hold arrays of i64 or unit";
  }
  return lists;
}

FailureOr<AttributeArguments> AttributeArguments::get(func::FuncOp func) {
  AttributeArguments result;
  for (auto [k, type] : llvm::enumerate(func.getArgumentTypes())) {
    Argument argument;
    std::vector<char> &bytes = result.memory.emplace_back();
    if (auto values =
            func.getArgAttrOfType<DenseElementsAttr>(k, "reference.values")) {
      std::optional<DType> dtype = getDType(values.getElementType());
      if (!dtype)
        return func.emitError("unsupported type ") << values.getType();
      argument.dtype = *dtype;
      int64_t size = getSize(*dtype);
      bytes.resize(values.getNumElements() * size);
      std::vector<Number> numbers(values.getNumElements());
      if (!readElements(values, *dtype, numbers))
        return func.emitError("cannot read 'reference.values'");
      for (auto [i, number] : llvm::enumerate(numbers))
        writeNumber(*dtype, number, bytes.data() + i * size);
      ArrayRef<int64_t> shape = values.getType().getShape();
      if (isa<ragged::RaggedTensorType>(type))
        argument.rowCapacity = shape.empty() ? 1 : shape[0];
      else
        argument.shape.emplace(shape);
    }
    auto lengths = readLists(func, k, "reference.lengths");
    auto pathLengths = readLists(func, k, "reference.path_lengths");
    if (failed(lengths) || failed(pathLengths))
      return failure();
    argument.lengths = std::move(*lengths);
    argument.pathLengths = std::move(*pathLengths);
    if (auto samples =
            func.getArgAttrOfType<IntegerAttr>(k, "reference.samples"))
      argument.numSamples = samples.getInt();
    if (auto base =
            func.getArgAttrOfType<DenseI64ArrayAttr>(k, "reference.base"))
      argument.base = base.asArrayRef().vec();
    result.arguments.push_back(std::move(argument));
  }
  // Only now does the memory stay where it is.
  for (auto [argument, bytes] :
       llvm::zip_equal(result.arguments, result.memory))
    argument.data = bytes.empty() ? nullptr : bytes.data();
  return result;
}
