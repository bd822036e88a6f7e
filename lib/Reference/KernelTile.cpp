//===- KernelTile.cpp - The ops of a tile program -------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace nested;
using namespace nested::reference;

void reference::fillWithPoison(MutableArrayRef<Number> numbers, DType dtype) {
  for (Number &number : numbers) {
    if (isFloat(dtype))
      number.f = std::numeric_limits<double>::quiet_NaN();
    else
      number.i = wrapTo(dtype, 0x5a5a5a5a5a5a5a5b);
  }
}

Array Tile::makeTile(Type type) const {
  Array array;
  array.dtype = *getDType(getElementTypeOrSelf(type));
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    llvm::append_range(array.shape, shaped.getShape());
  array.data.resize(countElements(array.shape));
  fillWithPoison(array);
  return array;
}

void Tile::set(mlir::Value value, Array array, bool isTile) {
  if (isTile) {
    int64_t width = array.data.size() / size;
    fillWithPoison(MutableArrayRef(array.data).drop_front(live * width),
                   array.dtype);
  }
  if (roundEach && isFloat(array.dtype))
    for (Number &number : array.data)
      number.f = roundTo(array.dtype, number.f);
  values[value] = {std::move(array), isTile};
}

std::optional<Number> Tile::getConstant(mlir::Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)) ||
      !isa<FloatAttr, IntegerAttr>(attr))
    return std::nullopt;
  return toNumber(attr);
}

//===----------------------------------------------------------------------===//
// linalg
//===----------------------------------------------------------------------===//

/// Adds `scale` times an expression; false if it is not linear in the dims.
static bool addLinear(AffineExpr expr, int64_t scale,
                      SmallVectorImpl<int64_t> &strides, int64_t &base) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    strides[dim.getPosition()] += scale;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    base += constant.getValue() * scale;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, strides, base) &&
           addLinear(binary.getRHS(), scale, strides, base);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         addLinear(binary.getLHS(), scale * factor.getValue(), strides, base);
}

/// Strides and base of an operand over the loops of an op; false if its map is
/// not linear.
static bool getAccess(AffineMap map, ArrayRef<int64_t> shape,
                      SmallVectorImpl<int64_t> &strides, int64_t &base) {
  SmallVector<int64_t> own = getStrides(shape);
  strides.assign(map.getNumDims(), 0);
  for (auto [k, expr] : llvm::enumerate(map.getResults()))
    if (!addLinear(expr, own[k], strides, base))
      return false;
  return true;
}

LogicalResult Tile::runLinalg(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  auto program = ScalarProgram::compile(
      *linalgOp.getBlock(), roundEach,
      [](mlir::Value value) { return getConstant(value); });
  if (failed(program))
    return failure();
  SmallVector<int64_t> loops = linalgOp.getStaticLoopRanges();
  bool rows = false;
  Odometer walk(loops);
  SmallVector<Array *> outputs;
  SmallVector<Array, 1> results;
  results.reserve(op->getNumResults());
  SmallVector<const Array *> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!values.count(operand.get()))
      return op->emitError("the reference interpreter does not know operand ")
             << operand.getOperandNumber();
    rows |= isTile(operand.get());
    const Array *array = &get(operand.get());
    if (linalgOp.isDpsInit(&operand))
      array = outputs.emplace_back(&results.emplace_back(*array));
    operands.push_back(array);
    SmallVector<int64_t> strides;
    int64_t base = 0;
    if (!getAccess(linalgOp.getMatchingIndexingMap(&operand), array->shape,
                   strides, base))
      return op->emitError("the reference interpreter does not support this "
                           "indexing map: ")
             << AffineMapAttr::get(linalgOp.getMatchingIndexingMap(&operand));
    walk.addOperand(strides, base);
  }
  unsigned firstOutput = op->getNumOperands() - outputs.size();
  for (; walk.isValid(); walk.next()) {
    // Rows past the end are never stored or folded (K1).
    if (rows && walk.getCoordinates()[0] >= live)
      break;
    for (auto [k, array] : llvm::enumerate(operands))
      program->argument(k) = array->data[walk.getOffset(k)];
    program->run(walk.getCoordinates());
    for (auto [k, array] : llvm::enumerate(outputs))
      array->data[walk.getOffset(firstOutput + k)] = program->result(k);
  }
  for (auto [result, array] : llvm::zip(op->getResults(), results))
    set(result, std::move(array), rows);
  return success();
}

//===----------------------------------------------------------------------===//
// arith, math, tensor
//===----------------------------------------------------------------------===//

LogicalResult Tile::runElementwise(Operation *op) {
  if (op->getNumRegions() || op->getNumResults() != 1 ||
      !lookupScalarFunction(op->getName().getStringRef()))
    return op->emitError("the reference interpreter does not support '")
           << op->getName() << "' in a kernel";
  FailureOr<ScalarProgram> program = ScalarProgram::compile(op, roundEach);
  if (failed(program))
    return failure();
  Array result = makeTile(op->getResult(0).getType());
  bool rows = llvm::any_of(op->getOperands(),
                           [&](mlir::Value value) { return isTile(value); });
  int64_t count = result.data.size();
  int64_t width = rows ? count / size : count;
  for (int64_t i = 0; i < (rows ? live * width : count); ++i) {
    for (auto [k, operand] : llvm::enumerate(op->getOperands())) {
      const Array &array = get(operand);
      program->argument(k) = array.data[array.shape.empty() ? 0 : i];
    }
    program->run({});
    result.data[i] = program->result(0);
  }
  set(op->getResult(0), std::move(result), rows);
  return success();
}

/// Visits the elements of a slice of `whole` in the order of the slice.
template <typename SliceOp, typename Visit>
static void visitSlice(SliceOp op, ArrayRef<int64_t> whole, Visit visit) {
  SmallVector<int64_t> strides = getStrides(whole), steps;
  int64_t base = 0;
  for (auto [k, offset] : llvm::enumerate(op.getStaticOffsets())) {
    base += offset * strides[k];
    steps.push_back(op.getStaticStrides()[k] * strides[k]);
  }
  Odometer walk(op.getStaticSizes());
  walk.addOperand(steps, base);
  for (int64_t i = 0; walk.isValid(); walk.next())
    visit(i++, walk.getOffset(0));
}

LogicalResult Tile::run(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return runLinalg(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Array array = makeTile(constant.getType());
    if (isa<FloatAttr, IntegerAttr>(constant.getValue()))
      array.data.front() = toNumber(constant.getValue());
    else if (!readElements(constant.getValue(), array.dtype, array.data))
      return op->emitError("the reference interpreter cannot read this "
                           "constant");
    set(constant, std::move(array), false);
    return success();
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    set(empty, makeTile(empty.getType()), false);
    return success();
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op)) {
    Array array = get(op->getOperand(0));
    array.shape = makeTile(op->getResult(0).getType()).shape;
    set(op->getResult(0), std::move(array), isTile(op->getOperand(0)));
    return success();
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Array array = makeTile(slice.getType());
    const Array &source = get(slice.getSource());
    visitSlice(slice, source.shape, [&](int64_t part, int64_t whole) {
      array.data[part] = source.data[whole];
    });
    set(slice, std::move(array), isTile(slice.getSource()));
    return success();
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    Array array = get(slice.getDest());
    const Array &source = get(slice.getSource());
    visitSlice(slice, array.shape, [&](int64_t part, int64_t whole) {
      array.data[whole] = source.data[part];
    });
    set(slice, std::move(array),
        isTile(slice.getDest()) || isTile(slice.getSource()));
    return success();
  }
  return runElementwise(op);
}
