//===- MoveOps.cpp - Ops that move data or change structure ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

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
  int64_t dim = op.getDim(), step = op.getStep();
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
    // Of the indices that are taken, the first and the last.
    int64_t last = 0;
    bool isInside = *size >= 0;
    if (*size > 0)
      isInside = *start >= 0 && *start < extent &&
                 !llvm::MulOverflow(*size - 1, step, last) &&
                 !llvm::AddOverflow(*start, last, last) && last >= 0 &&
                 last < extent;
    else if (step == 1)
      isInside &= *start >= 0 && *start <= extent;
    if (!isInside) {
      InFlightDiagnostic diagnostic = op.emitError("slice of ");
      diagnostic << *size << " elements from " << *start << " on";
      if (step != 1)
        diagnostic << " with step " << step;
      diagnostic << " is outside dim " << dim << " of size " << extent << " in "
                 << scope.describe(type.path, i);
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
    strides[dim] *= step;
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

LogicalResult Interpreter::run(ragged::PadOp op) {
  LogicalType type = LogicalType::of(op.getSource());
  auto emitError = [&] { return op.emitError(); };
  SmallVector<ragged::ExtentAttr> lows = ragged::toExtents(op.getLow()),
                                  highs = ragged::toExtents(op.getHigh());
  const RaggedValue &sourceValue = get(op.getSource());
  std::vector<SmallVector<int64_t, 4>> begins;
  for (int64_t i = 0, e = sourceValue.instances.size(); i < e; ++i) {
    SmallVector<int64_t, 4> begin;
    for (auto [dim, low, high] : llvm::enumerate(lows, highs)) {
      FailureOr<int64_t> front = scope.evaluate(emitError, low, type.path, i);
      FailureOr<int64_t> back = scope.evaluate(emitError, high, type.path, i);
      if (failed(front) || failed(back))
        return failure();
      if (*front < 0 || *back < 0) {
        InFlightDiagnostic diagnostic = op.emitError("padding of ");
        diagnostic << *front << " and " << *back << " elements at dim " << dim
                   << " is negative in " << scope.describe(type.path, i);
        if (op.getReason())
          diagnostic << ", asked for by '" << *op.getReason() << "'";
        scope.attachNotes(diagnostic, {low, high}, type.path, i);
        return diagnostic;
      }
      begin.push_back(*front);
    }
    begins.push_back(std::move(begin));
  }
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    std::fill(array.data.begin(), array.data.end(),
              toElement(array.dtype, toNumber(op.getValue())));
    const Array &source = sourceValue.instances[i];
    SmallVector<int64_t> strides = getStrides(array.shape);
    int64_t base = 0;
    for (auto [begin, stride] : llvm::zip_equal(begins[i], strides))
      base += begin * stride;
    Odometer walk(source.shape);
    walk.addOperand(strides, base);
    for (Number number : source.data) {
      array.data[walk.getOffset(0)] = number;
      walk.next();
    }
  }
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::ConcatOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  LogicalType type = LogicalType::of(op.getResult());
  FailureOr<const Instances *> instances = getInstances(op, type.path);
  if (failed(result) || failed(instances))
    return failure();
  int64_t dim = op.getDim();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    SmallVector<int64_t> strides = getStrides(array.shape);
    int64_t begin = 0;
    for (mlir::Value input : op.getInputs()) {
      const Array &part =
          getArray(get(input), LogicalType::of(input), **instances, i);
      if (begin + part.shape[dim] > array.shape[dim])
        return op.emitError("the inputs do not fit in ")
               << scope.describe(type.path, i);
      Odometer walk(part.shape);
      walk.addOperand(strides, begin * strides[dim]);
      for (Number number : part.data) {
        array.data[walk.getOffset(0)] = number;
        walk.next();
      }
      begin += part.shape[dim];
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

/// A load whose indices are those of the same sample, or of a part of it:
/// `toSource` gives a source's coordinates for those of the result, but for the
/// indexed one; `toIndex` those of the index.
template <typename Op>
static LogicalResult
loadByIndex(Op op, RaggedValue &result, const RaggedValue &source,
            const RaggedValue &indices, const Instances &instances,
            Scope &scope,
            function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> toSource,
            function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> toIndex) {
  LogicalType type = LogicalType::of(op.getResult());
  LogicalType sourceType = LogicalType::of(op.getSource()),
              indexType = LogicalType::of(op.getIndices());
  int64_t dim = op.getDim(), firstRow = 0;
  auto offsetOf = [](ArrayRef<int64_t> shape, ArrayRef<int64_t> coordinates) {
    int64_t offset = 0;
    for (auto [size, coordinate] : llvm::zip_equal(shape, coordinates))
      offset = offset * size + coordinate;
    return offset;
  };
  for (auto [i, array] : llvm::enumerate(result.instances)) {
    auto own = [&, i = i](const RaggedValue &value,
                          const LogicalType &valueType) -> const Array & {
      return value.instances[instances.ancestors[valueType.path.size()][i]];
    };
    const Array &from = own(source, sourceType);
    const Array &index = own(indices, indexType);
    Odometer walk(array.shape);
    for (Number &number : array.data) {
      ArrayRef<int64_t> at = walk.getCoordinates();
      int64_t chosen = index.data[offsetOf(index.shape, toIndex(at))].i;
      if (chosen < 0 || chosen >= from.shape[dim]) {
        InFlightDiagnostic diagnostic = op.emitError("index ");
        diagnostic << chosen << " is out of range for dim " << dim
                   << " of size " << from.shape[dim];
        if (!type.isDense())
          diagnostic << " (" << scope.describe(type.path, i) << ", row "
                     << firstRow + getRow(type, array.shape, at)
                     << " of the batch)";
        return diagnostic;
      }
      SmallVector<int64_t> place = toSource(at);
      place[dim] = chosen;
      number = from.data[offsetOf(from.shape, place)];
      walk.next();
    }
    int64_t rows = 1;
    for (int64_t ragged : type.getRaggedDims())
      rows *= array.shape[ragged];
    firstRow += rows;
  }
  return success();
}

LogicalResult Interpreter::run(ragged::TakeOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  FailureOr<const Instances *> instances =
      getInstances(op, LogicalType::of(op.getResult()).path);
  if (failed(result) || failed(instances))
    return failure();
  int64_t dim = op.getDim(), count = LogicalType::of(op.getIndices()).getRank();
  auto toSource = [&](ArrayRef<int64_t> at) {
    SmallVector<int64_t> place(at.take_front(dim));
    place.push_back(0);
    llvm::append_range(place, at.drop_front(dim + count));
    return place;
  };
  auto toIndex = [&](ArrayRef<int64_t> at) {
    return SmallVector<int64_t>(at.slice(dim, count));
  };
  if (failed(loadByIndex(op, *result, get(op.getSource()), get(op.getIndices()),
                         **instances, scope, toSource, toIndex)))
    return failure();
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::TakeAlongOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  FailureOr<const Instances *> instances =
      getInstances(op, LogicalType::of(op.getResult()).path);
  if (failed(result) || failed(instances))
    return failure();
  auto same = [](ArrayRef<int64_t> at) { return SmallVector<int64_t>(at); };
  if (failed(loadByIndex(op, *result, get(op.getSource()), get(op.getIndices()),
                         **instances, scope, same, same)))
    return failure();
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::ReshapeOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  Path path = getPath(op.getType());
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    const Array &source = get(op.getSource()).instances[i];
    if (source.data.size() != array.data.size()) {
      InFlightDiagnostic diagnostic = op.emitError("has ");
      diagnostic << int64_t(source.data.size()) << " elements to put into "
                 << int64_t(array.data.size());
      if (!path.empty())
        diagnostic << " in " << scope.describe(path, i);
      if (op.getReason())
        diagnostic << ", asked for by '" << *op.getReason() << "'";
      scope.attachNotes(diagnostic, getExtents(op.getType()), path, i);
      return diagnostic;
    }
    array.data = source.data;
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

/// Calls `move` with each of the members, which are over `path`, and its place
/// in the numbers of what it is a member of: one after the other.
template <typename Members, typename Wholes, typename Move>
static LogicalResult moveMembers(Operation *op, Scope &scope, Path path,
                                 ArrayRef<int64_t> parents, Members &members,
                                 Wholes &wholes, Move move) {
  std::vector<size_t> moved(wholes.size(), 0);
  for (auto [member, parent] : llvm::zip_equal(members, parents)) {
    auto &whole = wholes[parent];
    size_t count = member.data.size();
    if (moved[parent] + count > whole.data.size())
      return op->emitError("the parts do not fit in ")
             << scope.describe(path.drop_back(), parent);
    move(member, whole.data.begin() + moved[parent]);
    moved[parent] += count;
  }
  return success();
}

LogicalResult Interpreter::run(ragged::UnnestOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  Path path = getPath(op.getSource().getType());
  FailureOr<const Instances *> instances = getInstances(op, path);
  if (failed(result) || failed(instances))
    return failure();
  if (failed(moveMembers(
          op, scope, path, (*instances)->ancestors[path.size() - 1],
          get(op.getSource()).instances, result->instances,
          [](auto &member, auto place) { llvm::copy(member.data, place); })))
    return failure();
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::RenestOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  Path path = getPath(op.getType());
  FailureOr<const Instances *> instances = getInstances(op, path);
  if (failed(result) || failed(instances))
    return failure();
  if (failed(moveMembers(
          op, scope, path, (*instances)->ancestors[path.size() - 1],
          result->instances, get(op.getSource()).instances,
          [](auto &member, auto place) {
            std::copy_n(place, member.data.size(), member.data.begin());
          })))
    return failure();
  return set(op.getResult(), std::move(*result));
}
