//===- RaggedAdjointMove.cpp - Derivatives of ops that move data ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointBuilder.h"
#include "GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace nested::ragged;

FailureOr<SmallVector<Value>>
TransposeOp::emitAdjoint(OpBuilder &builder, ArrayRef<Value> gradients,
                         ArrayRef<Value>, ArrayRef<bool>) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [k, dim] : llvm::enumerate(getPermutation()))
    inverse[dim] = k;
  Value result =
      TransposeOp::create(builder, getLoc(), getSource().getType(),
                          gradients[0], builder.getDenseI64ArrayAttr(inverse));
  return SmallVector<Value>{result};
}

FailureOr<SmallVector<Value>> CastOp::emitAdjoint(OpBuilder &builder,
                                                  ArrayRef<Value> gradients,
                                                  ArrayRef<Value>,
                                                  ArrayRef<bool>) {
  Value result = CastOp::create(builder, getLoc(), getSource().getType(),
                                gradients[0], getReasonAttr());
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// gather: every row of the gradient is added to the row that it was read from
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> GatherOp::emitAdjoint(OpBuilder &b,
                                                    ArrayRef<Value> gradients,
                                                    ArrayRef<Value>,
                                                    ArrayRef<bool>) {
  Location loc = getLoc();
  LogicalType table = LogicalType::of(getTable());
  LogicalType indices = LogicalType::of(getIndices());
  LogicalType gradient = LogicalType::of(gradients[0]);
  MLIRContext *context = getContext();
  Type wide = getAccumulatorType(table.elementType);
  int64_t rows = indices.getRank(), rank = rows + table.getRank();

  // (rows..., v, columns...): the gradient where the index is v. It is selected
  // and not multiplied, so that a NaN stays in the row that it belongs to (R4).
  GenericBuilder builder(b, loc);
  GenericBuilder::Spec spec;
  spec.dims = indices.extents;
  llvm::append_range(spec.dims, table.extents);
  spec.reduction.assign(rows, true);
  spec.reduction.append(table.getRank(), false);
  spec.path = gradient.path;
  spec.inputs = {getIndices(), gradients[0]};
  SmallVector<AffineExpr> index, value, result;
  for (int64_t dim = 0; dim < rank; ++dim) {
    AffineExpr expr = b.getAffineDimExpr(dim);
    if (dim < rows)
      index.push_back(expr);
    if (dim != rows)
      value.push_back(expr);
    if (dim >= rows)
      result.push_back(expr);
  }
  spec.maps = {AffineMap::get(rank, 0, index, context),
               AffineMap::get(rank, 0, value, context)};
  spec.outputMap = AffineMap::get(rank, 0, result, context);
  spec.batchReduced = !gradient.path.empty();
  LogicalType sum = table;
  sum.elementType = wide;
  if (spec.batchReduced)
    sum.path = SmallVector<StringAttr>(ArrayRef(gradient.path).drop_back());
  spec.init = builder.fill(sum, getNumberAttr(wide, 0));
  Value total =
      builder.build(spec, [&](OpBuilder &b, Location l, ValueRange v) -> Value {
        return AdjointBuilder::addWhereIndexed(b, l, v, rows);
      });
  AdjointBuilder adjoint(b, loc);
  FailureOr<Value> whole = adjoint.sumTo(
      adjoint.convertFloat(total, table.elementType), getTable().getType());
  if (failed(whole))
    return failure();
  return SmallVector<Value>{*whole, Value()};
}
