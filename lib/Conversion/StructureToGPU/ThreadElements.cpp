//===- ThreadElements.cpp - Elements of tensors, computed where needed ----===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadEmitter.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

Value nested::tile::indexConstant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Values nested::tile::delinearize(OpBuilder &b, Location loc, Value linear,
                                 ArrayRef<int64_t> shape) {
  Values indices(shape.size());
  for (int64_t dim = shape.size() - 1; dim > 0; --dim) {
    Value extent = indexConstant(b, loc, shape[dim]);
    indices[dim] = b.createOrFold<arith::RemUIOp>(loc, linear, extent);
    linear = b.createOrFold<arith::DivUIOp>(loc, linear, extent);
  }
  if (!shape.empty())
    indices[0] = linear;
  return indices;
}

Value nested::tile::linearize(OpBuilder &b, Location loc, ValueRange indices,
                              ArrayRef<int64_t> shape) {
  Value linear = indexConstant(b, loc, 0);
  for (auto [index, extent] : llvm::zip_equal(indices, shape)) {
    linear = b.createOrFold<arith::MulIOp>(loc, linear,
                                           indexConstant(b, loc, extent));
    linear = b.createOrFold<arith::AddIOp>(loc, linear, index);
  }
  return linear;
}

ArrayRef<int64_t> nested::tile::innerShape(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getShape().drop_front();
}

int64_t nested::tile::innerSize(Value tensor) {
  return ShapedType::getNumElements(innerShape(tensor));
}

Type nested::tile::elementTypeOf(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Reports a value that there is no code for; the result only keeps the IR
/// valid.
Value ThreadEmitter::unsupported(OpBuilder &b, Value value) {
  failed = true;
  if (Operation *op = value.getDefiningOp())
    op->emitOpError("has no form on GPUs yet");
  else
    emitError(value.getLoc(), "this value has no form on GPUs yet");
  Type type = value.getType();
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  return arith::ConstantOp::create(b, value.getLoc(), b.getZeroAttr(type));
}

Value ThreadEmitter::viewElement(Frame &frame, Operation *op, ValueRange at) {
  OpBuilder &b = frame.b;
  Location loc = op->getLoc();
  Value source = op->getOperand(0);
  auto shapeOf = [](Value value) {
    return cast<ShapedType>(value.getType()).getShape();
  };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    Values indices;
    size_t next = 0;
    for (auto [dim, offset, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
      auto value = [&](OpFoldResult part) -> Value {
        if (auto attr = dyn_cast<Attribute>(part))
          return indexConstant(b, loc, cast<IntegerAttr>(attr).getInt());
        return scalar(cast<Value>(part));
      };
      Value index = value(offset);
      if (!dropped[dim])
        index = b.createOrFold<arith::AddIOp>(
            loc, index,
            b.createOrFold<arith::MulIOp>(loc, at[next++], value(stride)));
      indices.push_back(index);
    }
    return element(frame, source, indices);
  }
  bool collapse = isa<tensor::CollapseShapeOp>(op);
  SmallVector<ReassociationIndices> groups =
      collapse ? cast<tensor::CollapseShapeOp>(op).getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  ArrayRef<int64_t> expanded =
      collapse ? shapeOf(source) : shapeOf(op->getResult(0));
  Values indices;
  for (auto [i, group] : llvm::enumerate(groups)) {
    ArrayRef<int64_t> part = expanded.slice(group.front(), group.size());
    if (collapse)
      llvm::append_range(indices, delinearize(b, loc, at[i], part));
    else
      indices.push_back(
          linearize(b, loc, at.slice(group.front(), group.size()), part));
  }
  return element(frame, source, indices);
}

Value ThreadEmitter::splatElement(Frame &frame, linalg::GenericOp op,
                                  unsigned result, ValueRange at) {
  OpOperand *init = op.getDpsInitOperand(result);
  AffineMap map = op.getMatchingIndexingMap(init);
  Values loops(op.getNumLoops());
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = at[i];
  Values args;
  for (OpOperand &operand : op->getOpOperands())
    args.push_back(op.payloadUsesValueFromOperand(&operand)
                       ? operandAt(frame, operand, loops)
                       : Value());
  return cloneBody(frame, *op.getBody(), args, loops)[result];
}

Value ThreadEmitter::element(Frame &frame, Value tensor, ValueRange at) {
  OpBuilder &b = frame.b;
  Location loc = tensor.getLoc();
  auto load = [&](Value memref, ValueRange indices) -> Value {
    return memref::LoadOp::create(b, loc, memref, indices);
  };
  if (Value buffer = frame.rowBuffers.lookup(tensor)) {
    Values indices{ids.warp};
    llvm::append_range(indices, at.drop_front());
    return load(buffer, indices);
  }
  if (Value buffer = buffers.lookup(tensor))
    return load(buffer, at);
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return unsupported(b, tensor);

  Values indices(at);
  if (auto tile = dyn_cast<ragged::TileLoadOp>(op)) {
    indices[0] =
        arith::AddIOp::create(b, loc, scalar(tile.getRow()), indices[0]);
    return load(scalar(tile.getSource()), indices);
  }
  if (auto gather = dyn_cast<ragged::TileGatherOp>(op)) {
    indices[0] = element(frame, gather.getRows(), at.front());
    return load(scalar(gather.getSource()), indices);
  }
  if (auto source = dyn_cast<bufferization::ToTensorOp>(op))
    return load(scalar(source.getBuffer()), indices);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          tensor::ExtractSliceOp>(op))
    return viewElement(frame, op, at);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(b, loc,
                                       splat.getSplatValue<TypedAttr>());
    return unsupported(b, tensor);
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    unsigned result = cast<OpResult>(tensor).getResultNumber();
    AffineMap map =
        generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
    if (generic.getNumParallelLoops() == generic.getNumLoops() &&
        map.isPermutation())
      return splatElement(frame, generic, result, at);
  }
  return unsupported(b, tensor);
}

Value ThreadEmitter::operandAt(Frame &frame, OpOperand &operand,
                               ValueRange loops) {
  Value value = operand.get();
  if (!isa<RankedTensorType>(value.getType()))
    return scalar(value);
  auto op = cast<linalg::GenericOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<SmallVector<Value, 8>> indices =
      affine::expandAffineMap(frame.b, op.getLoc(), map, loops);
  if (!indices)
    return unsupported(frame.b, value);
  return element(frame, value, *indices);
}

Values ThreadEmitter::cloneBody(Frame &frame, Block &body, ValueRange args,
                                ValueRange loops) {
  OpBuilder &b = frame.b;
  IRMapping local;
  for (auto [argument, value] : llvm::zip(body.getArguments(), args))
    if (value)
      local.map(argument, value);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(*body.getParent(), captured);
  for (Value value : captured)
    local.map(value, scalar(value));
  for (Operation &op : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      local.map(index.getResult(), loops[index.getDim()]);
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      Values at;
      for (Value value : extract.getIndices())
        at.push_back(local.lookup(value));
      local.map(extract.getResult(), element(frame, extract.getTensor(), at));
    } else {
      b.clone(op, local);
    }
  }
  Values results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(local.lookupOrDefault(value));
  return results;
}
