//===- RaggedAdjointLoad.cpp - Derivatives of loads by index -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every entry of the gradient is added to where it was read: a scatter, whose
// work is linear. The dims of the source up to the last one that differs from
// the result's are seen as one dim, whose index is computed.
//
// Where the indexed dim is short, the sum over it of selected gradients is
// vectorized and fused, and a scatter is not.
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
/// Static dims up to this extent are summed over.
constexpr int64_t kShortDim = 16;

/// What is loaded: of the dims of the result, which ones are coordinates of the
/// source and of the indices.
class LoadAdjoint {
public:
  LoadAdjoint(OpBuilder &b, Location loc, Value source, Value indices,
              int64_t indexed, AffineMap sourceMap, AffineMap indexMap)
      : b(b), loc(loc), adjoint(b, loc), source(LogicalType::of(source)),
        indices(indices), indexed(indexed), sourceMap(sourceMap),
        indexMap(indexMap) {}
  FailureOr<SmallVector<Value>> run(Value gradient);

private:
  bool isShort() const {
    std::optional<int64_t> size = source.extents[indexed].getConstant();
    return size && *size <= kShortDim && !source.isDense();
  }
  int64_t getResultDim(int64_t dim) const {
    return cast<AffineDimExpr>(sourceMap.getResult(dim)).getPosition();
  }
  /// Static dims at the end of both source and result, in packed order, that
  /// are the same.
  unsigned countColumns(const LogicalType &type) const;
  Value getFlatIndices(const LogicalType &type, unsigned columns);
  Value scatter(Value gradient);
  Value sumSelected(Value gradient);

  OpBuilder &b;
  Location loc;
  AdjointBuilder adjoint;
  LogicalType source;
  Value indices;
  int64_t indexed;
  AffineMap sourceMap, indexMap;
};
} // namespace

unsigned LoadAdjoint::countColumns(const LogicalType &type) const {
  unsigned count = 0;
  auto sourceOrder = RaggedTensorType::getDefaultOrder(source.extents);
  auto order = RaggedTensorType::getDefaultOrder(type.extents);
  for (auto [dim, resultDim] :
       llvm::zip(llvm::reverse(sourceOrder), llvm::reverse(order))) {
    if (dim == indexed || source.isRagged(dim) ||
        getResultDim(dim) != resultDim || indexMap.isFunctionOfDim(resultDim))
      break;
    ++count;
  }
  return count;
}

/// Over the dims of the gradient that are no columns, in packed order: the
/// number of the row of the source that was read.
Value LoadAdjoint::getFlatIndices(const LogicalType &type, unsigned columns) {
  auto sourceOrder = RaggedTensorType::getDefaultOrder(source.extents);
  auto order = RaggedTensorType::getDefaultOrder(type.extents);
  SmallVector<int64_t> position(order.size());
  LogicalType rows(type.path, {}, b.getI64Type());
  for (auto [k, dim] : llvm::enumerate(order)) {
    position[dim] = k;
    if (k + columns < order.size())
      rows.extents.push_back(type.extents[dim]);
  }
  rows.order = RaggedTensorType::getDefaultOrder(rows.extents);
  SmallVector<int64_t> dims;
  for (AffineExpr expr : indexMap.getResults())
    dims.push_back(position[cast<AffineDimExpr>(expr).getPosition()]);
  Value index = adjoint.broadcast(indices, dims, rows.toType());

  // Row-major: (first * size of the second + second) * ...
  Value flat;
  for (int64_t dim : ArrayRef(sourceOrder).drop_back(columns)) {
    Value coordinate = index;
    if (dim != indexed)
      coordinate =
          IotaOp::create(b, loc, rows.toType(),
                         b.getI64IntegerAttr(position[getResultDim(dim)]));
    if (!flat) {
      flat = coordinate;
      continue;
    }
    ExtentAttr size = source.extents[dim];
    SmallVector<Value> inputs = {flat, coordinate};
    if (!size.isStatic())
      inputs.push_back(adjoint.extent(size, rows));
    flat = adjoint.map(
        rows, inputs, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
          Value n = size.isStatic() ? makeNumber(b, l, rows.elementType,
                                                 double(*size.getConstant()))
                                    : v[2];
          return makeAdd(b, l, makeMul(b, l, v[0], n), v[1]);
        });
  }
  return flat;
}

/// Null where sizes do not fit 64 bits.
Value LoadAdjoint::scatter(Value gradient) {
  LogicalType type = LogicalType::of(gradient);
  auto sourceOrder = RaggedTensorType::getDefaultOrder(source.extents);
  auto order = RaggedTensorType::getDefaultOrder(type.extents);
  unsigned columns = countColumns(type);
  auto fold = [&](const LogicalType &whole, ArrayRef<int64_t> dims,
                  SmallVector<ExtentAttr> &packed) {
    for (int64_t dim : dims)
      packed.push_back(whole.extents[dim]);
    SmallVector<ExtentAttr> folded = {
        extent::product(b.getContext(), ArrayRef(packed).drop_back(columns))};
    llvm::append_range(folded, ArrayRef(packed).take_back(columns));
    return folded;
  };
  SmallVector<ExtentAttr> packed, packedSource;
  SmallVector<ExtentAttr> updates = fold(type, order, packed);
  SmallVector<ExtentAttr> sums = fold(source, sourceOrder, packedSource);
  if (!updates[0] || !sums[0])
    return {};
  Value flat = adjoint.reshape(getFlatIndices(type, columns),
                               ArrayRef(updates).take_front());
  Value rows = adjoint.reshape(adjoint.transpose(gradient, order), updates);
  // The samples of a batch go into one dense source; else each has its own.
  LogicalType sumType(source.path, sums, source.elementType);
  if (!source.isDense())
    sumType.path = type.path;
  Value sum = ScatterOp::create(b, loc, sumType.toType(), ScatterKind::Add,
                                adjoint.fill(sumType, 0), flat, rows);
  SmallVector<int64_t> inverse(sourceOrder.size());
  for (auto [k, dim] : llvm::enumerate(sourceOrder))
    inverse[dim] = k;
  return adjoint.transpose(adjoint.reshape(sum, packedSource), inverse);
}

/// Over the dims of the result and the indexed dim of the source: the gradient
/// where the index is that place. It is selected and not multiplied, so that a
/// NaN stays in the entry that it belongs to (R4).
Value LoadAdjoint::sumSelected(Value gradient) {
  MLIRContext *context = b.getContext();
  LogicalType type = LogicalType::of(gradient);
  int64_t rank = type.getRank();
  Type wide = getAccumulatorType(source.elementType);
  GenericBuilder builder(b, loc);
  GenericBuilder::Spec spec;
  spec.dims = type.extents;
  spec.dims.push_back(source.extents[indexed]);
  spec.path = type.path;
  SmallVector<AffineExpr> identity, result;
  for (int64_t dim = 0; dim < rank; ++dim) {
    identity.push_back(b.getAffineDimExpr(dim));
    spec.reduction.push_back(!sourceMap.isFunctionOfDim(dim));
  }
  spec.reduction.push_back(false);
  for (auto [dim, expr] : llvm::enumerate(sourceMap.getResults()))
    result.push_back(int64_t(dim) == indexed ? b.getAffineDimExpr(rank) : expr);
  spec.inputs = {indices, gradient};
  spec.maps = {AffineMap::get(rank + 1, 0, indexMap.getResults(), context),
               AffineMap::get(rank + 1, 0, identity, context)};
  spec.outputMap = AffineMap::get(rank + 1, 0, result, context);
  LogicalType sum(type.path, source.extents, wide);
  // What is left of the path is summed by who asks.
  spec.batchReduced = type.path.size() == 1 && source.path.empty();
  if (spec.batchReduced)
    sum.path.pop_back();
  spec.init = builder.fill(sum, getNumberAttr(wide, 0));
  Value total =
      builder.build(spec, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        Scalars s{b, l};
        Value place = IndexOp::create(b, l, b.getI64Type(), rank);
        Value isRead = s.compare(arith::CmpIPredicate::eq, v[0], place);
        Value x = makeFloat(b, l, wide, v[1]);
        return s.add(v[2], s.select(isRead, x, s.number(wide, 0)));
      });
  return adjoint.convertFloat(total, source.elementType);
}

FailureOr<SmallVector<Value>> LoadAdjoint::run(Value gradient) {
  LogicalType wide = LogicalType::of(indices);
  if (!wide.elementType.isInteger(64)) {
    bool isUnsigned = wide.elementType.isUnsignedInteger();
    wide.elementType = b.getI64Type();
    indices = adjoint.map(
        wide, indices, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
          if (isUnsigned)
            return arith::ExtUIOp::create(b, l, wide.elementType, v[0]);
          return arith::ExtSIOp::create(b, l, wide.elementType, v[0]);
        });
  }
  Value sum = isShort() ? Value() : scatter(gradient);
  if (!sum)
    sum = sumSelected(gradient);
  return SmallVector<Value>{adjoint.sumTo(sum, source.toType()), Value()};
}

static FailureOr<SmallVector<Value>>
differentiateLoad(IndexedLoadOpInterface load, OpBuilder &b, Value gradient) {
  return LoadAdjoint(b, load.getLoc(), load.getLoadedSource(),
                     load.getLoadedIndices(), load.getIndexedDim(),
                     load.getSourceMap(), load.getIndexMap())
      .run(gradient);
}

FailureOr<SmallVector<Value>> TakeOp::emitAdjoint(OpBuilder &builder,
                                                  ArrayRef<Value> gradients,
                                                  ArrayRef<Value>,
                                                  ArrayRef<bool>) {
  return differentiateLoad(*this, builder, gradients[0]);
}

FailureOr<SmallVector<Value>>
TakeAlongOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool>) {
  return differentiateLoad(*this, builder, gradients[0]);
}

FailureOr<SmallVector<Value>> GatherOp::emitAdjoint(OpBuilder &b,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool>) {
  unsigned rows = LogicalType::of(getIndices()).getRank();
  unsigned rank = LogicalType::of(getResult()).getRank();
  SmallVector<AffineExpr> source = {b.getAffineConstantExpr(0)}, index;
  for (unsigned dim = 0; dim < rank; ++dim)
    (dim < rows ? index : source).push_back(b.getAffineDimExpr(dim));
  return LoadAdjoint(b, getLoc(), getTable(), getIndices(), /*indexed=*/0,
                     AffineMap::get(rank, 0, source, getContext()),
                     AffineMap::get(rank, 0, index, getContext()))
      .run(gradients[0]);
}
