//===- MoveOps.cpp - Ops that move data or change structure ---------------===//
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

LogicalResult Interpreter::run(ragged::TransposeOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source = get(op.getSource()).instances[i];
    SmallVector<int64_t> own = getStrides(source.shape), strides;
    for (auto [k, dim] : llvm::enumerate(op.getPermutation())) {
      if (source.shape[dim] != array.shape[k])
        return op.emitError("result dim ")
               << k << " has size " << array.shape[k] << ", but source dim "
               << dim << " has " << source.shape[dim];
      strides.push_back(own[dim]);
    }
    Odometer walk(array.shape);
    walk.addOperand(strides);
    for (Number &number : array.data) {
      number = source.data[walk.getOffset(0)];
      walk.next();
    }
  }
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::SliceOp op) {
  LogicalType type = LogicalType::of(op.getSource());
  auto emitError = [&] { return op.emitError(); };
  int64_t dim = op.getDim();
  const RaggedValue &sourceValue = get(op.getSource());
  // The bounds first, so that an error is about them.
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (auto [i, source] : llvm::enumerate(sourceValue.instances)) {
    FailureOr<int64_t> start =
        scope.evaluate(emitError, op.getStart(), type.path, i);
    FailureOr<int64_t> size =
        scope.evaluate(emitError, op.getSize(), type.path, i);
    if (failed(start) || failed(size))
      return failure();
    int64_t extent = source.shape[dim];
    if (*start < 0 || *size < 0 || *start > extent || *size > extent - *start) {
      InFlightDiagnostic diagnostic = op.emitError("slice of ");
      diagnostic << *size << " elements from " << *start
                 << " on is outside dim " << dim << " of size " << extent
                 << " in " << scope.describe(type.path, i);
      if (op.getReason())
        diagnostic << ", asked for by '" << *op.getReason() << "'";
      scope.attachNotes(diagnostic,
                        {op.getStart(), op.getSize(), type.extents[dim]},
                        type.path, i);
      return diagnostic;
    }
    ranges.push_back({*start, *size});
  }
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source = sourceValue.instances[i];
    SmallVector<int64_t> strides = getStrides(source.shape);
    int64_t base = ranges[i].first * strides[dim];
    if (op.getDrop())
      strides.erase(strides.begin() + dim);
    Odometer walk(array.shape);
    walk.addOperand(strides, base);
    for (Number &number : array.data) {
      number = source.data[walk.getOffset(0)];
      walk.next();
    }
  }
  return set(op.getResult(), std::move(*result));
}

/// The row of an element among the packed rows of its instance: the position of
/// its ragged coordinates, in packed order.
static int64_t getRow(const LogicalType &type, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> coordinates) {
  int64_t row = 0;
  for (int64_t dim : type.getRaggedDims())
    row = row * shape[dim] + coordinates[dim];
  return row;
}

LogicalResult Interpreter::run(ragged::GatherOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  LogicalType type = LogicalType::of(op.getIndices());
  const Array &table = get(op.getTable()).instances.front();
  const RaggedValue &indices = get(op.getIndices());
  int64_t rows = table.shape[0];
  int64_t width = countElements(ArrayRef<int64_t>(table.shape).drop_front());
  int64_t firstRow = 0;
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &index = indices.instances[i];
    Odometer walk(index.shape);
    for (auto [k, number] : llvm::enumerate(index.data)) {
      if (number.i < 0 || number.i >= rows) {
        int64_t row = getRow(type, index.shape, walk.getCoordinates());
        InFlightDiagnostic diagnostic = op.emitError("index ");
        diagnostic << number.i << " is out of range for axis 0 of size " << rows
                   << " (";
        if (type.isDense())
          diagnostic << "element " << static_cast<int64_t>(k) << ")";
        else
          diagnostic << scope.describe(type.path, i) << ", row " << row
                     << " of it, row " << firstRow + row << " of the batch)";
        return diagnostic;
      }
      std::copy_n(table.data.begin() + number.i * width, width,
                  array.data.begin() + k * width);
      walk.next();
    }
    firstRow += countElements(llvm::map_to_vector(
        type.getRaggedDims(),
        [&, &index = index](int64_t dim) { return index.shape[dim]; }));
  }
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::MaskedSelectOp op) {
  const RaggedValue &source = get(op.getSource()), &mask = get(op.getMask());
  RaggedValue result;
  for (auto [i, array] : llvm::enumerate(source.instances)) {
    const Array &keep = mask.instances[i];
    if (keep.shape[0] != array.shape[0])
      return op.emitError("the mask has ")
             << keep.shape[0] << " elements, the source has " << array.shape[0]
             << " in " << scope.describe(getPath(op.getSource().getType()), i);
    Array &selected = result.instances.emplace_back();
    selected.dtype = array.dtype;
    selected.shape = array.shape;
    selected.shape[0] = 0;
    int64_t width = countElements(ArrayRef<int64_t>(array.shape).drop_front());
    for (auto [k, number] : llvm::enumerate(keep.data)) {
      if (!number.i)
        continue;
      auto *begin = array.data.data() + k * width;
      selected.data.insert(selected.data.end(), begin, begin + width);
      ++selected.shape[0];
    }
  }
  result.type = op.getType();
  if (failed(bindFresh(op, op.getResult(), result)))
    return failure();
  return set(op.getResult(), std::move(result));
}

LogicalResult Interpreter::run(ragged::NestOp op) {
  const RaggedValue &source = get(op.getSource());
  const RaggedValue &lengths = get(op.getLengths());
  Path path = getPath(op.getSource().getType());
  RaggedValue result;
  for (auto [i, array] : llvm::enumerate(source.instances)) {
    int64_t width = countElements(ArrayRef<int64_t>(array.shape).drop_front());
    int64_t begin = 0;
    for (auto [group, number] : llvm::enumerate(lengths.instances[i].data)) {
      if (number.i < 0)
        return op.emitError("group ")
               << group << " of " << scope.describe(path, i) << " has length "
               << number.i;
      // More than there is: the sum below is wrong in any case.
      int64_t count = std::min(number.i, array.shape[0] - begin);
      Array &part = result.instances.emplace_back();
      part.dtype = array.dtype;
      part.shape = array.shape;
      part.shape[0] = count;
      auto *first = array.data.data() + begin * width;
      part.data.assign(first, first + count * width);
      begin += count;
    }
    int64_t sum = 0;
    bool overflow = false;
    for (Number number : lengths.instances[i].data)
      overflow |= llvm::AddOverflow(sum, number.i, sum);
    if (overflow || sum != array.shape[0]) {
      InFlightDiagnostic diagnostic =
          op.emitError("the lengths of the groups ");
      if (overflow)
        diagnostic << "overflow 64 bits";
      else
        diagnostic << "add up to " << sum << ", but dim 0 has "
                   << array.shape[0] << " elements";
      diagnostic << " in " << scope.describe(path, i);
      scope.attachNotes(diagnostic,
                        getExtents(op.getSource().getType()).take_front(), path,
                        i);
      return diagnostic;
    }
  }
  result.type = op.getType();
  if (failed(bindFresh(op, op.getResult(), result)))
    return failure();
  return set(op.getResult(), std::move(result));
}

LogicalResult Interpreter::run(ragged::UnnestOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  Path path = getPath(op.getSource().getType());
  FailureOr<const Instances *> instances = getInstances(op, path);
  if (failed(result) || failed(instances))
    return failure();
  const RaggedValue &source = get(op.getSource());
  std::vector<size_t> filled(result->instances.size(), 0);
  for (auto [i, array] : llvm::enumerate(source.instances)) {
    int64_t into = (*instances)->ancestors[path.size() - 1][i];
    Array &stacked = result->instances[into];
    if (filled[into] + array.data.size() > stacked.data.size())
      return op.emitError("the parts do not fit in ")
             << scope.describe(path.drop_back(), into);
    llvm::copy(array.data, stacked.data.begin() + filled[into]);
    filled[into] += array.data.size();
  }
  return set(op.getResult(), std::move(*result));
}
