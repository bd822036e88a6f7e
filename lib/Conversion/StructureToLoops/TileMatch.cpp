//===- TileMatch.cpp - Forms of ops in tile programs ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileMatch.h"

#include "nested/Dialect/Ragged/IR/Ragged.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace nested;
using namespace nested::tile;

static bool mapUses(AffineMap map, unsigned loop) {
  return map.isFunctionOfDim(loop);
}

/// Whether the body extends integers as unsigned.
static bool hasUnsignedCast(linalg::GenericOp op) {
  return !op.getBody()->getOps<arith::ExtUIOp>().empty() ||
         !op.getBody()->getOps<arith::UIToFPOp>().empty();
}

/// Whether the body is `acc + a * b` (with casts of a and b), the form that
/// `linalg.matmul` has.
static bool isMultiplyAdd(linalg::GenericOp op) {
  for (Operation &inner : *op.getBody())
    if (isa<arith::MulFOp, arith::MulIOp>(inner))
      return llvm::none_of(*op.getBody(), [](Operation &other) {
        return isa<arith::TruncFOp, arith::TruncIOp>(other);
      });
  return false;
}

std::optional<RowContraction>
nested::tile::matchRowContraction(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !linalg::isaContractionOpInterface(op) || !isMultiplyAdd(op) ||
      !op.hasPureTensorSemantics())
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  RowContraction result;
  bool first = mapUses(maps[0], 0), second = mapUses(maps[1], 0);
  if (first == second)
    return std::nullopt;
  result.rowsOperand = first ? 0 : 1;
  result.sharedOperand = first ? 1 : 0;
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return std::nullopt;

  AffineMap rowsMap = maps[result.rowsOperand];
  AffineMap sharedMap = maps[result.sharedOperand];
  unsigned rank = maps[2].getNumResults();
  if (rank < 2 || maps[2].getDimPosition(0) != 0 ||
      rowsMap.getDimPosition(0) != 0)
    return std::nullopt;
  result.column = maps[2].getDimPosition(rank - 1);
  if (!mapUses(sharedMap, result.column) || mapUses(rowsMap, result.column))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (type.getDimSize(rank - 1) == 1)
    return std::nullopt;
  result.columnIsInnermost =
      sharedMap.getDimPosition(sharedMap.getNumResults() - 1) == result.column;
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (!linalg::isReductionIterator(iterator))
      continue;
    if (!mapUses(rowsMap, i) || !mapUses(sharedMap, i))
      return std::nullopt;
    result.summed.push_back(i);
  }
  if (result.summed.empty())
    return std::nullopt;
  result.isUnsigned = hasUnsignedCast(op);
  return result;
}

bool nested::tile::isFill(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 &&
         llvm::all_of(op.getIteratorTypesArray(), linalg::isParallelIterator) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

bool nested::tile::isSplat(linalg::GenericOp op) {
  return isFill(op) && llvm::none_of(op.getInputs(), [](Value input) {
           return isa<ShapedType>(input.getType());
         });
}

bool nested::tile::isSum(Region &region) {
  Block &body = region.front();
  auto add = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  return add && body.getNumArguments() == 2 && &body.front() == add &&
         llvm::is_contained(add->getOperands(), body.getArgument(0)) &&
         llvm::is_contained(add->getOperands(), body.getArgument(1));
}

/// Whether a sum starts from 0.
static bool startsFromZero(linalg::GenericOp op) {
  auto init = op.getDpsInits()[0].getDefiningOp<linalg::GenericOp>();
  auto number = init && isSplat(init) && init.getNumDpsInputs() == 1
                    ? init.getInputs()[0].getDefiningOp<arith::ConstantOp>()
                    : arith::ConstantOp();
  return number && matchPattern(number.getResult(), m_AnyZeroFloat());
}

std::optional<RowSum> nested::tile::matchRowSum(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || !generic.hasPureTensorSemantics() ||
      !isSum(generic.getRegion()) || !startsFromZero(generic))
    return std::nullopt;
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  RowSum sum{generic.getInputs()[0], {}};
  SmallVector<AffineExpr> kept;
  for (auto [loop, iterator] :
       llvm::enumerate(generic.getIteratorTypesArray())) {
    if (iterator == utils::IteratorType::reduction)
      sum.summed.push_back(loop);
    else
      kept.push_back(getAffineDimExpr(loop, op->getContext()));
  }
  if (!maps[0].isIdentity() || ArrayRef(kept) != maps[1].getResults() ||
      sum.summed.empty() || sum.summed.front() == 0)
    return std::nullopt;
  return sum;
}

std::optional<OuterProduct>
nested::tile::matchOuterProduct(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() ||
      llvm::is_contained(op.getStaticLoopRanges(), 0))
    return std::nullopt;
  // [row, summed..., i], [row, summed..., j] -> [row, i, j].
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[2].getNumResults() != 3 || maps[0].getNumResults() < 2 ||
      maps[1].getNumResults() != maps[0].getNumResults() ||
      op.getNumLoops() != maps[0].getNumResults() + 1 ||
      !llvm::all_of(maps,
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  auto shared = maps[0].getResults().drop_back();
  AffineExpr ends[] = {maps[0].getResults().back(),
                       maps[1].getResults().back()};
  bool isSwapped = maps[2].getResult(1) == ends[1];
  if (shared != maps[1].getResults().drop_back() ||
      maps[2].getResult(0) != shared.front() ||
      maps[2].getResult(1) != ends[isSwapped] ||
      maps[2].getResult(2) != ends[!isSwapped])
    return std::nullopt;
  Block *body = op.getBody();
  auto product = dyn_cast<arith::MulFOp>(body->front());
  if (!product ||
      !llvm::is_contained(product->getOperands(), body->getArgument(0)) ||
      !llvm::is_contained(product->getOperands(), body->getArgument(1)))
    return std::nullopt;
  Operation *made = product;
  if (shared.size() > 1) {
    auto add = dyn_cast<arith::AddFOp>(product->getNextNode());
    if (!add || !llvm::is_contained(add->getOperands(), product.getResult()) ||
        !llvm::is_contained(add->getOperands(), body->getArgument(2)) ||
        !startsFromZero(op))
      return std::nullopt;
    made = add;
  }
  if (body->getTerminator()->getOperand(0) != made->getResult(0) ||
      !llvm::all_of(op->getUsers(), [&](Operation *user) {
        auto fold = dyn_cast<ragged::TileFoldOp>(user);
        return fold && fold.getInputs().size() == 1 &&
               isSum(fold.getCombine()) &&
               cast<RankedTensorType>(fold.getAcc()[0].getType())
                       .getElementType() == product.getType();
      }))
    return std::nullopt;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op.getInputs()[0].getType()).getShape();
  return OuterProduct{op.getInputs()[isSwapped], op.getInputs()[!isSwapped],
                      SmallVector<int64_t>(shape.drop_front().drop_back())};
}
