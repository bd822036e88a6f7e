//===- StructureOps.cpp - Structure as values -----------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(ragged::PartitionOp op) {
  auto type = cast<ragged::PartitionType>(op.getType());
  auto emitError = [&] { return op.emitError(); };
  // Of a tensor: its ragged extents, in packed order.
  if (auto tensor = dyn_cast<ragged::RaggedTensorType>(
          op.getSources().front().getType())) {
    RaggedValue result;
    for (const Array &array : get(op.getSources().front()).instances) {
      Array &extents = result.instances.emplace_back();
      extents.dtype = DType::I64;
      for (int64_t dim : tensor.getRaggedDims())
        extents.shape.push_back(array.shape[dim]);
    }
    return set(op.getResult(), std::move(result));
  }

  // Of lengths: one tensor per symbol, in the order in which they occur.
  llvm::SmallSetVector<StringAttr, 4> names;
  for (ragged::ExtentAttr extent : type.getExtents())
    extent.getSymbols(names);
  if (names.size() != op.getSources().size())
    return op.emitError("has ")
           << op.getSources().size() << " tensors of lengths for "
           << names.size() << " symbols";
  std::string origin = "'ragged.partition'";
  for (auto [name, source] : llvm::zip_equal(names, op.getSources())) {
    std::vector<int64_t> lengths;
    for (Number number : get(source).instances.front().data)
      lengths.push_back(number.i);
    Path path = type.getPath();
    if (path.size() == 1 && !scope.isBatchBound(path[0]) &&
        failed(scope.bindBatch(emitError, path[0], lengths.size(), origin,
                               op.getLoc())))
      return failure();
    if (scope.lookup(name))
      return op.emitError("symbol '")
             << name.getValue() << "' has been bound before";
    if (failed(scope.bind(
            emitError, name,
            {SmallVector<StringAttr>(path), lengths, origin, op.getLoc()})))
      return failure();
  }
  FailureOr<RaggedValue> result = allocatePartition(op, type);
  if (failed(result))
    return failure();
  return set(op.getResult(), std::move(*result));
}

FailureOr<RaggedValue>
Interpreter::allocatePartition(Operation *op, ragged::PartitionType type) {
  FailureOr<const Instances *> instances = getInstances(op, type.getPath());
  if (failed(instances))
    return failure();
  RaggedValue result;
  result.type = type;
  for (int64_t i = 0; i < (*instances)->count; ++i) {
    auto shape = scope.evaluate([=] { return op->emitError(); },
                                type.getExtents(), type.getPath(), i);
    if (failed(shape))
      return failure();
    Array &extents = result.instances.emplace_back();
    extents.dtype = DType::I64;
    extents.shape = std::move(*shape);
  }
  return result;
}

LogicalResult Interpreter::run(ragged::LengthsOp op) {
  return set(
      op.getResult(),
      makeVector(op.getType(), get(op.getPartition()).getLengths(op.getDim())));
}

/// Exclusive prefix sums of the rows of each instance, and the total.
static FailureOr<std::vector<int64_t>>
getOffsets(Operation *op, const RaggedValue &partition) {
  std::vector<int64_t> offsets{0};
  for (const Array &extents : partition.instances) {
    int64_t rows = llvm::is_contained(extents.shape, 0) ? 0 : 1, next;
    bool overflow = false;
    if (rows)
      for (int64_t size : extents.shape)
        overflow |= llvm::MulOverflow(rows, size, rows);
    if (overflow || llvm::AddOverflow(offsets.back(), rows, next))
      return op->emitError("the number of rows overflows 64 bits");
    offsets.push_back(next);
  }
  return offsets;
}

LogicalResult Interpreter::run(ragged::OffsetsOp op) {
  auto offsets = getOffsets(op, get(op.getPartition()));
  if (failed(offsets))
    return failure();
  return set(op.getResult(), makeVector(op.getType(), *offsets));
}

LogicalResult Interpreter::run(ragged::TotalOp op) {
  auto offsets = getOffsets(op, get(op.getPartition()));
  if (failed(offsets))
    return failure();
  RaggedValue total = makeVector(op.getType(), offsets->back());
  total.instances.front().shape.clear();
  return set(op.getResult(), std::move(total));
}

LogicalResult Interpreter::run(ragged::RowSplitsOp op) {
  std::vector<int64_t> splits{0};
  int64_t level = op.getLevel();
  for (const Array &extents : get(op.getPartition()).instances) {
    ArrayRef<int64_t> shape = extents.shape;
    int64_t rows = countElements(shape.take_front(level));
    for (int64_t row = 0; row < rows; ++row)
      splits.push_back(splits.back() + shape[level]);
  }
  return set(op.getResult(), makeVector(op.getType(), splits));
}

LogicalResult Interpreter::run(ragged::ExtentOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (auto [i, array] : llvm::enumerate(result->instances)) {
    FailureOr<int64_t> value =
        scope.evaluate([&] { return op.emitError(); }, op.getExtent(),
                       getPath(op.getType()), i);
    if (failed(value))
      return failure();
    array.data.front().i = *value;
  }
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::InstanceOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result))
    return failure();
  for (auto [i, array] : llvm::enumerate(result->instances))
    array.data.front().i = i;
  return set(op.getResult(), std::move(*result));
}

//===----------------------------------------------------------------------===//
// Rows and coordinates
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(ragged::LocateOp op) {
  const RaggedValue &partition = get(op.getPartition());
  auto offsets = getOffsets(op, partition);
  if (failed(offsets))
    return failure();
  unsigned rank = getExtents(op.getPartition().getType()).size();
  std::vector<std::vector<int64_t>> results(rank + 1);
  for (Number number : get(op.getRows()).instances.front().data) {
    if (number.i < 0 || number.i >= offsets->back())
      return op.emitError("row ")
             << number.i << " is out of range for a partition of "
             << offsets->back() << " rows";
    // The last instance that begins at or before the row and has rows.
    int64_t instance =
        std::upper_bound(offsets->begin(), offsets->end(), number.i) -
        offsets->begin() - 1;
    results[0].push_back(instance);
    int64_t rest = number.i - (*offsets)[instance];
    ArrayRef<int64_t> shape = partition.instances[instance].shape;
    SmallVector<int64_t> strides = getStrides(shape);
    for (unsigned dim = 0; dim < rank; ++dim) {
      results[dim + 1].push_back(rest / strides[dim]);
      rest %= strides[dim];
    }
  }
  for (auto [result, numbers] : llvm::zip_equal(op.getCoordinates(), results))
    if (failed(set(result, makeVector(result.getType(), numbers))))
      return failure();
  return success();
}

LogicalResult Interpreter::run(ragged::LinearizeOp op) {
  const RaggedValue &partition = get(op.getPartition());
  auto offsets = getOffsets(op, partition);
  if (failed(offsets))
    return failure();
  SmallVector<const Array *> columns;
  for (mlir::Value operand : op.getCoordinates())
    columns.push_back(&get(operand).instances.front());
  std::vector<int64_t> rows;
  for (size_t k = 0; k < columns.front()->data.size(); ++k) {
    for (const Array *column : columns)
      if (column->data.size() != columns.front()->data.size())
        return op.emitError("has coordinates of ")
               << columns.front()->data.size() << " and of "
               << column->data.size() << " rows";
    int64_t instance = columns[0]->data[k].i;
    int64_t count = partition.instances.size();
    if (instance < 0 || instance >= count)
      return op.emitError("sample ")
             << instance << " is out of range for a partition of " << count
             << " samples (element " << k << ")";
    int64_t row = 0;
    ArrayRef<int64_t> shape = partition.instances[instance].shape;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t coordinate = columns[dim + 1]->data[k].i;
      if (coordinate < 0 || coordinate >= shape[dim])
        return op.emitError("coordinate ")
               << coordinate << " is out of range for dim " << dim
               << " of size " << shape[dim] << " in sample " << instance
               << " (element " << k << ")";
      row = row * shape[dim] + coordinate;
    }
    rows.push_back((*offsets)[instance] + row);
  }
  return set(op.getRows(), makeVector(op.getRows().getType(), rows));
}

//===----------------------------------------------------------------------===//
// Values and structure
//===----------------------------------------------------------------------===//

LogicalResult Interpreter::run(ragged::ValuesOp op) {
  RaggedValue result;
  result.type = op.getType();
  result.instances.push_back(get(op.getSource()).getPacked());
  return set(op.getResult(), std::move(result));
}

/// Fills a value from packed rows, its shapes are known.
static LogicalResult unpack(Operation *op, ArrayRef<Number> packed,
                            RaggedValue &value) {
  auto type = cast<ragged::RaggedTensorType>(value.type);
  size_t next = 0, total = 0;
  for (const Array &array : value.instances)
    total += array.data.size();
  if (total != packed.size()) {
    int64_t width = std::max<int64_t>(1, countElements(type.getRowShape()));
    return op->emitError("has values of ")
           << packed.size() / width << " rows for a structure of "
           << total / width << " rows";
  }
  for (Array &array : value.instances) {
    SmallVector<int64_t> strides = getStrides(array.shape), shape, stored;
    for (int64_t dim : type.getOrder()) {
      shape.push_back(array.shape[dim]);
      stored.push_back(strides[dim]);
    }
    Odometer walk(shape);
    walk.addOperand(stored);
    for (; walk.isValid(); walk.next())
      array.data[walk.getOffset(0)] = packed[next++];
  }
  return success();
}

LogicalResult Interpreter::run(ragged::PackOp op) {
  FailureOr<RaggedValue> result = allocate(op, op.getType());
  if (failed(result) ||
      failed(unpack(op, get(op.getValues()).instances.front().data, *result)))
    return failure();
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::WithLengthsOp op) {
  auto type = cast<ragged::RaggedTensorType>(op.getType());
  auto emitError = [&] { return op.emitError(); };
  std::vector<int64_t> lengths;
  for (Number number : get(op.getLengths()).instances.front().data)
    lengths.push_back(number.i);
  Path path = type.getPath();
  std::string origin = "'ragged.with_lengths'";
  if (path.size() == 1 && !scope.isBatchBound(path[0]) &&
      failed(scope.bindBatch(emitError, path[0], lengths.size(), origin,
                             op.getLoc())))
    return failure();
  llvm::SmallSetVector<StringAttr, 4> names;
  for (ragged::ExtentAttr extent : type.getExtents())
    extent.getSymbols(names);
  SmallVector<StringAttr> fresh;
  for (StringAttr name : names)
    if (!scope.lookup(name))
      fresh.push_back(name);
  if (fresh.size() != 1)
    return op.emitError("binds ") << fresh.size() << " symbols instead of one";
  if (failed(scope.bind(
          emitError, fresh.front(),
          {SmallVector<StringAttr>(path), lengths, origin, op.getLoc()})))
    return failure();
  FailureOr<RaggedValue> result = allocate(op, type);
  if (failed(result) ||
      failed(unpack(op, get(op.getSource()).getPacked().data, *result)))
    return failure();
  return set(op.getResult(), std::move(*result));
}

LogicalResult Interpreter::run(ragged::BarrierOp op) {
  return set(op.getResult(), get(op.getSource()));
}

LogicalResult Interpreter::run(ragged::CastOp op) {
  RaggedValue result = get(op.getSource());
  auto from = cast<ragged::RaggedTensorType>(op.getSource().getType());
  auto to = cast<ragged::RaggedTensorType>(op.getType());
  Path path = to.getPath();
  for (auto [i, array] : llvm::enumerate(result.instances)) {
    auto shape = scope.evaluate([&] { return op.emitError(); }, to.getExtents(),
                                path, i);
    if (failed(shape))
      return failure();
    for (auto [dim, size] : llvm::enumerate(*shape)) {
      if (size == array.shape[dim])
        continue;
      ragged::ExtentAttr lhs = from.getExtents()[dim],
                         rhs = to.getExtents()[dim];
      InFlightDiagnostic diagnostic = op.emitError("lengths disagree in ");
      diagnostic << scope.describe(path, i) << ": " << lhs.str() << " is "
                 << array.shape[dim] << ", " << rhs.str() << " is " << size
                 << " (dim " << dim << ")";
      if (op.getReason())
        diagnostic << "; '" << *op.getReason() << "' needs them equal";
      scope.attachNotes(diagnostic, {lhs, rhs}, path, i);
      return diagnostic;
    }
  }
  return set(op.getResult(), std::move(result));
}
