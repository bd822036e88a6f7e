//===- GenericOp.cpp - ragged.generic -------------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "Scalars.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

using namespace mlir;
using namespace nested;
using namespace nested::reference;
using ragged::LogicalType;

/// Adds `factor * expr` to a linear form; false if the expression is not
/// linear.
static bool addLinear(AffineExpr expr, int64_t factor,
                      MutableArrayRef<int64_t> coefficients,
                      int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return true;
  }
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * number.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, coefficients, constant) &&
           addLinear(binary.getRHS(), factor, coefficients, constant);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && scale &&
         addLinear(binary.getLHS(), factor * scale.getValue(), coefficients,
                   constant);
}

/// The value of any affine expression; divisors have been checked to be
/// positive by whoever built it.
static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), dims);
  int64_t rhs = evaluate(binary.getRHS(), dims);
  int64_t floor = 0;
  if (rhs > 0)
    floor = lhs / rhs - (lhs % rhs < 0);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::Mod:
    return lhs - floor * rhs;
  case AffineExprKind::FloorDiv:
    return floor;
  case AffineExprKind::CeilDiv:
    return floor + (floor * rhs != lhs);
  default:
    llvm_unreachable("not a binary expression");
  }
}

namespace {
/// How the elements of one operand are found in one instance.
struct Access {
  AffineMap map;
  ArrayRef<int64_t> shape;
  /// Added to each coordinate.
  SmallVector<int64_t> offsets;
  /// Whether base and strides say it, for an Odometer; else the map is
  /// evaluated at each point.
  bool isLinear = true;
  int64_t base = 0;
  SmallVector<int64_t> strides;
  /// What is read outside of the operand; nothing may be if there is none.
  std::optional<Number> outside;

  /// False if a point of the box is outside the operand: `dim`, `coordinate`.
  bool analyze(ArrayRef<int64_t> box, int64_t &dim, int64_t &coordinate);
  /// -1 if the point is outside the operand.
  int64_t locate(ArrayRef<int64_t> point, int64_t &dim,
                 int64_t &coordinate) const;
};
} // namespace

bool Access::analyze(ArrayRef<int64_t> box, int64_t &dim, int64_t &coordinate) {
  strides.assign(box.size(), 0);
  if (outside) {
    isLinear = false;
    return true;
  }
  SmallVector<int64_t> own = getStrides(shape);
  bool isEmpty = llvm::is_contained(box, 0);
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> coefficients(box.size(), 0);
    int64_t constant = offsets.empty() ? 0 : offsets[k];
    if (!addLinear(expr, 1, coefficients, constant)) {
      isLinear = false;
      return true;
    }
    base += constant * own[k];
    int64_t least = constant, most = constant;
    for (size_t d = 0; d < box.size(); ++d) {
      strides[d] += coefficients[d] * own[k];
      (coefficients[d] < 0 ? least : most) += coefficients[d] * (box[d] - 1);
    }
    if (isEmpty || (least >= 0 && most < shape[k]))
      continue;
    dim = k;
    coordinate = least < 0 ? least : most;
    return false;
  }
  return true;
}

int64_t Access::locate(ArrayRef<int64_t> point, int64_t &dim,
                       int64_t &coordinate) const {
  int64_t offset = 0;
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    coordinate = evaluate(expr, point) + (offsets.empty() ? 0 : offsets[k]);
    if (coordinate < 0 || coordinate >= shape[k]) {
      dim = k;
      return -1;
    }
    offset = offset * shape[k] + coordinate;
  }
  return offset;
}

LogicalResult Interpreter::run(ragged::GenericOp op) {
  SmallVector<StringAttr> path = op.getPathNames();
  SmallVector<ragged::ExtentAttr> dims = op.getDims();
  unsigned numInputs = op.getInputs().size(), numOutputs = op.getInits().size();
  FailureOr<const Instances *> instances = getInstances(op, path);
  FailureOr<ScalarProgram> program = ScalarProgram::compile(
      op.getBody().front(), options.roundEach,
      [&](mlir::Value value) { return getScalar(value); });
  if (failed(instances) || failed(program))
    return failure();
  auto emitError = [=] { return op->emitError(); };

  // Reductions go on from what the inits hold.
  SmallVector<RaggedValue> results;
  for (mlir::Value init : op.getInits())
    results.push_back(get(init));

  for (int64_t i = 0; i < (*instances)->count; ++i) {
    auto where = [&] { return scope.describe(path, i); };
    FailureOr<SmallVector<int64_t, 4>> box =
        scope.evaluate(emitError, dims, path, i);
    if (failed(box))
      return failure();
    Odometer walk(*box);
    SmallVector<Access> accesses;
    SmallVector<const Array *> inputs;
    SmallVector<Array *> outputs;
    auto outside = [&](unsigned operand, int64_t dim, int64_t coordinate) {
      return op->emitError("operand ")
             << operand << " is accessed at " << coordinate << " along dim "
             << dim << ", where its size is " << accesses[operand].shape[dim]
             << ", in " << where();
    };
    for (unsigned k = 0; k < numInputs + numOutputs; ++k) {
      bool isInput = k < numInputs;
      mlir::Value operand =
          isInput ? op.getInputs()[k] : op.getInits()[k - numInputs];
      LogicalType type = LogicalType::of(operand);
      int64_t own = (*instances)->ancestors[type.path.size()][i];
      Access &access = accesses.emplace_back();
      if (isInput) {
        inputs.push_back(&get(operand).instances[own]);
        access.map = op.getInputMap(k);
        access.shape = inputs.back()->shape;
        if (TypedAttr value = op.getInputOutside(k))
          access.outside = toNumber(value);
        for (ragged::ExtentAttr extent : op.getInputOffsets(k)) {
          FailureOr<int64_t> offset =
              scope.evaluate(emitError, extent, path, i);
          if (failed(offset))
            return failure();
          access.offsets.push_back(*offset);
        }
      } else {
        outputs.push_back(&results[k - numInputs].instances[own]);
        access.map = op.getOutputMap(k - numInputs);
        access.shape = outputs.back()->shape;
      }
      if (access.map.getNumResults() != access.shape.size() ||
          access.map.getNumDims() != box->size())
        return op->emitError("the map of operand ")
               << k << " does not fit its rank";
      int64_t dim, coordinate;
      if (!access.analyze(*box, dim, coordinate))
        return outside(k, dim, coordinate);
      walk.addOperand(access.strides, access.base);
    }

    auto find = [&](unsigned k) -> FailureOr<int64_t> {
      if (accesses[k].isLinear)
        return walk.getOffset(k);
      int64_t dim, coordinate;
      int64_t offset =
          accesses[k].locate(walk.getCoordinates(), dim, coordinate);
      if (offset < 0 && !accesses[k].outside)
        return outside(k, dim, coordinate);
      return offset;
    };
    SmallVector<int64_t> places(numInputs + numOutputs);
    for (; walk.isValid(); walk.next()) {
      for (unsigned k = 0; k < numInputs + numOutputs; ++k) {
        FailureOr<int64_t> place = find(k);
        if (failed(place))
          return failure();
        places[k] = *place;
        if (*place < 0) {
          program->argument(k) = *accesses[k].outside;
          continue;
        }
        const Array &array =
            k < numInputs ? *inputs[k] : *outputs[k - numInputs];
        program->argument(k) = toScalar(array.dtype, array.data[*place]);
      }
      program->run(walk.getCoordinates());
      for (unsigned k = 0; k < numOutputs; ++k)
        outputs[k]->data[places[numInputs + k]] =
            toElement(outputs[k]->dtype, program->result(k));
    }
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
    if (failed(set(result, std::move(value))))
      return failure();
  return success();
}
