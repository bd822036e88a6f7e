//===- BooleanStorage.cpp - Booleans of tile programs as bytes ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector of i1 in memory is packed bits, a scalar i1 a byte: two views of one
// memory would disagree. Tensors of a kernel hold bytes; regions compute with
// i1.
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace nested::ragged;

Type nested::ragged::getStorageType(Type elementType) {
  if (elementType.isInteger(1))
    return IntegerType::get(elementType.getContext(), 8);
  return getScalarType(elementType);
}

static bool isBooleanTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(1);
}

static void storeAsByte(Value value) {
  if (isBooleanTensor(value.getType()))
    value.setType(cast<RankedTensorType>(value.getType())
                      .clone(IntegerType::get(value.getContext(), 8)));
}

/// Elements that a region is given are bytes and are cut to i1; what it yields
/// is extended again.
static void convertRegion(Region &region) {
  if (region.empty())
    return;
  Block &block = region.front();
  OpBuilder b(region.getContext());
  for (BlockArgument arg : block.getArguments()) {
    if (!arg.getType().isInteger(1))
      continue;
    arg.setType(b.getI8Type());
    if (arg.use_empty())
      continue;
    b.setInsertionPointToStart(&block);
    auto cut = arith::TruncIOp::create(b, arg.getLoc(), b.getI1Type(), arg);
    arg.replaceAllUsesExcept(cut, cut);
  }
  Operation *terminator = block.getTerminator();
  b.setInsertionPoint(terminator);
  for (OpOperand &operand : terminator->getOpOperands())
    if (operand.get().getType().isInteger(1))
      operand.set(arith::ExtUIOp::create(b, terminator->getLoc(), b.getI8Type(),
                                         operand.get()));
}

void nested::ragged::storeBooleansAsBytes(func::FuncOp func) {
  func.walk([](Operation *op) {
    for (Value result : op->getResults())
      storeAsByte(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments())
          storeAsByte(arg);
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      Value value = fill.getInputs()[0];
      if (!value.getType().isInteger(1))
        return;
      OpBuilder b(op);
      Value byte =
          arith::ExtUIOp::create(b, op->getLoc(), b.getI8Type(), value);
      auto stored =
          linalg::FillOp::create(b, op->getLoc(), byte, fill.getOutputs()[0]);
      fill.getResult(0).replaceAllUsesWith(stored.getResult(0));
      fill.erase();
      return;
    }
    if (isa<linalg::LinalgOp, TileFoldOp>(op))
      for (Region &region : op->getRegions())
        convertRegion(region);
  });
}
