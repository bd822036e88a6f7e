//===- KernelReduction.cpp - Reductions over dims that nothing has --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sum of a value that was repeated along a dim has no operand with that dim
// once the repetition is in the maps. Each element counts as often as the dim
// is long: the elements become a tile with all dims, and the tile is reduced.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace nested::ragged;

bool nested::ragged::coverDims(ArrayRef<AffineMap> maps) {
  llvm::SmallBitVector covered(maps.front().getNumDims());
  for (AffineMap map : maps)
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        covered.set(dim.getPosition());
  return covered.all();
}

Value nested::ragged::reduceElements(OpBuilder &builder, GenericOp op,
                                     Value elements, Value element, Value init,
                                     AffineMap outputMap, Operation *combiner) {
  unsigned rank = outputMap.getNumDims();
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim = 0; dim < rank; ++dim)
    iterators.push_back(outputMap.isFunctionOfDim(dim)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  auto fillBody = [&](OpBuilder &inside, Location loc, ValueRange args) {
    IRMapping mapping;
    mapping.map(op.getBody().front().getArguments().back(), args[1]);
    mapping.map(element, args[0]);
    linalg::YieldOp::create(inside, loc,
                            inside.clone(*combiner, mapping)->getResults());
  };
  return linalg::GenericOp::create(
             builder, op.getLoc(), TypeRange{init.getType()},
             ValueRange{elements}, ValueRange{init},
             {builder.getMultiDimIdentityMap(rank), outputMap}, iterators,
             fillBody)
      .getResult(0);
}
