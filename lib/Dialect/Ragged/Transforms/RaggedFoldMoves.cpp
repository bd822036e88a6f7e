//===- RaggedFoldMoves.cpp - Moves go into the maps of their consumers --===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

namespace nested::ragged {
#define GEN_PASS_DEF_RAGGEDFOLDMOVES
#include "nested/Dialect/Ragged/Transforms/Passes.h.inc"
} // namespace nested::ragged

using namespace mlir;
using namespace nested::ragged;

namespace {
struct RaggedFoldMoves
    : nested::ragged::impl::RaggedFoldMovesBase<RaggedFoldMoves> {
  void runOnOperation() override;
};
} // namespace

/// A generic that yields its one input unchanged, over the dims of its result.
static bool isMove(GenericOp op) {
  if (op.getInputs().size() != 1 || op->getNumResults() != 1 ||
      !op.getOutputMap(0).isIdentity())
    return false;
  Block &body = op.getBody().front();
  return body.getTerminator()->getOperand(0) == body.getArgument(0);
}

/// Adds to `sum` what `expr` is for per-sample values of its dims: coefficients
/// times values. False if the expression is not linear in a dim whose value is
/// not 0.
static bool addOffsets(AffineExpr expr, int64_t factor,
                       ArrayRef<ExtentAttr> values, ExtentAttr &sum) {
  auto isZero = [&](AffineExpr part) {
    for (auto [dim, value] : llvm::enumerate(values))
      if (part.isFunctionOfDim(dim) && value.getConstant() != 0)
        return false;
    return true;
  };
  if (isZero(expr))
    return true;
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    sum = extent::add(sum, extent::mul(values[dim.getPosition()], factor));
    return static_cast<bool>(sum);
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addOffsets(binary.getLHS(), factor, values, sum) &&
           addOffsets(binary.getRHS(), factor, values, sum);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && scale &&
         addOffsets(binary.getLHS(), factor * scale.getValue(), values, sum);
}

/// Whether the move only reorders dims: every element of its input is one of
/// its result, and nothing else is.
static bool isPermutation(GenericOp move) {
  AffineMap map = move.getInputMap(0);
  return map.isPermutation() && !move.getInputOutside(0) &&
         llvm::all_of(
             move.getInputOffsets(0),
             [](ExtentAttr offset) { return offset.getConstant() == 0; }) &&
         LogicalType::of(move.getInputs()[0]).extents.size() ==
             move.getDims().size() &&
         llvm::all_of(llvm::enumerate(map.getResults()), [&](auto it) {
           unsigned dim = cast<AffineDimExpr>(it.value()).getPosition();
           return LogicalType::of(move.getInputs()[0]).extents[it.index()] ==
                  move.getDims()[dim];
         });
}

/// Whether the offsets of an access say nothing: they are 0, and each dim is
/// read whole.
static bool areOffsetsTrivial(GenericOp op, Value input, AffineMap map,
                              ArrayRef<ExtentAttr> offsets) {
  LogicalType type = LogicalType::of(input);
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    if (offsets[k].getConstant() != 0)
      return false;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim ? op.getDims()[dim.getPosition()] != type.extents[k]
            : type.extents[k].getConstant() != 1)
      return false;
  }
  return true;
}

/// Makes input `i` of `op`, which is the result of `move`, read the move's
/// input. False if no map says that.
static bool fold(GenericOp op, unsigned i, GenericOp move) {
  MLIRContext *context = op.getContext();
  AffineMap inner = move.getInputMap(0), outer = op.getInputMap(i);
  SmallVector<ExtentAttr> innerOffsets = move.getInputOffsets(0);
  SmallVector<ExtentAttr> outerOffsets = op.getInputOffsets(i);
  ExtentAttr zero = extent::constant(context, 0);
  // What is outside of the move's result may be inside of its input.
  TypedAttr outside = op.getInputOutside(i);
  if (outside && !isPermutation(move))
    return false;
  if (!outside)
    outside = move.getInputOutside(0);

  // The move reads, for point p of its dims, element inner(p) + innerOffsets;
  // op asks for p = outer(q) + outerOffsets.
  SmallVector<AffineExpr> coordinates;
  SmallVector<ExtentAttr> offsets;
  for (auto [k, expr] : llvm::enumerate(inner.getResults())) {
    ExtentAttr offset = innerOffsets.empty() ? zero : innerOffsets[k];
    if (!outerOffsets.empty() && !addOffsets(expr, 1, outerOffsets, offset))
      return false;
    coordinates.push_back(simplifyAffineExpr(
        expr.replaceDims(outer.getResults()), outer.getNumDims(), 0));
    offsets.push_back(offset);
  }
  Value source = move.getInputs()[0];
  AffineMap map = AffineMap::get(outer.getNumDims(), 0, coordinates, context);
  // Offsets of 0 stay where a slice made them: they say that the input may be
  // longer than what is read of it.
  if ((innerOffsets.empty() && outerOffsets.empty()) ||
      areOffsetsTrivial(op, source, map, offsets))
    offsets.clear();

  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[i] = AffineMapAttr::get(map);
  SmallVector<Attribute> lists, values;
  bool anyOffset = false, anyOutside = false;
  for (unsigned j = 0; j < op.getInputs().size(); ++j) {
    SmallVector<ExtentAttr> list = j == i ? offsets : op.getInputOffsets(j);
    anyOffset |= !list.empty();
    lists.push_back(makeExtentsAttr(context, list));
    TypedAttr value = j == i ? outside : op.getInputOutside(j);
    anyOutside |= static_cast<bool>(value);
    values.push_back(value ? Attribute(value) : UnitAttr::get(context));
  }
  op.getInputsMutable()[i].set(source);
  op.setMapsAttr(ArrayAttr::get(context, maps));
  op.setOffsetsAttr(anyOffset ? ArrayAttr::get(context, lists) : ArrayAttr());
  op.setOutsideAttr(anyOutside ? ArrayAttr::get(context, values) : ArrayAttr());
  return true;
}

/// Whether a coordinate, of dims of input `i` of `op`, is another one for other
/// elements of the result of `op`.
static bool dependsOnResult(GenericOp op, unsigned i, AffineExpr coordinate) {
  coordinate = coordinate.replaceDims(op.getInputMap(i).getResults());
  for (unsigned d = 0; d < op.getDims().size(); ++d)
    if (coordinate.isFunctionOfDim(d) && !op.isReduction(d))
      return true;
  return false;
}

/// Whether elements of the result of `op`, a reduction over the batch, would
/// choose rows of the samples if `move`, its input `i`, was folded into it. The
/// result has no rows of its own to find them by.
static bool choosesRows(GenericOp op, unsigned i, GenericOp move) {
  if (!op.getBatchReduced())
    return false;
  LogicalType source = LogicalType::of(move.getInputs()[0]);
  SmallVector<ExtentAttr> offsets = move.getInputOffsets(0);
  bool isRow = false;
  for (int64_t dim : llvm::reverse(source.order)) {
    isRow |=
        source.isRagged(dim) || (!offsets.empty() && !offsets[dim].isStatic());
    if (isRow && dependsOnResult(op, i, move.getInputMap(0).getResult(dim)))
      return true;
  }
  return false;
}

/// Whether input `i` of `op`, a load by index, has to be made first: of a part
/// of it, every index must still be checked.
static bool needsWholeLoad(GenericOp op, unsigned i,
                           IndexedLoadOpInterface load) {
  // The result of a reduction over the batch has no rows to find indices by.
  if (op.getBatchReduced() &&
      llvm::any_of(load.getIndexMap().getResults(), [&](AffineExpr expr) {
        return dependsOnResult(op, i, expr);
      }))
    return true;
  return !op.getInputOffsets(i).empty() || op.getInputOutside(i) ||
         llvm::any_of(op.getInputMap(i).getResults(), [](AffineExpr expr) {
           return !isa<AffineDimExpr>(expr) && !isa<AffineConstantExpr>(expr);
         });
}

/// Whether input `i` of `op`, a gather, has to be made first. Of a part of it,
/// every index must still be one of the table's; and dims that choose indices
/// must come before the others in the result, so that they can be rows.
static bool needsWholeGather(GenericOp op, unsigned i, GatherOp gather) {
  if (!op.getInputOffsets(i).empty())
    return true;
  unsigned rank = LogicalType::of(gather.getIndices()).getRank();
  if (op.getBatchReduced())
    for (unsigned dim = 0; dim < rank; ++dim)
      if (dependsOnResult(op, i, getAffineDimExpr(dim, op.getContext())))
        return true;
  llvm::SmallDenseSet<unsigned> chosen;
  for (AffineExpr expr : op.getInputMap(i).getResults().take_front(rank))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      chosen.insert(dim.getPosition());
  SmallVector<ExtentAttr> dims = op.getDims();
  bool other = false;
  for (int64_t logical : LogicalType::of(op.getResult(0)).order) {
    unsigned dim = cast<AffineDimExpr>(op.getOutputMap(0).getResult(logical))
                       .getPosition();
    if (!chosen.contains(dim))
      other |= dims[dim].isStatic();
    else if (other)
      return true;
  }
  return false;
}

void RaggedFoldMoves::runOnOperation() {
  // In program order: the inputs of a move have been folded before it is.
  SmallVector<GenericOp> ops;
  getOperation().walk([&](GenericOp op) { ops.push_back(op); });
  for (GenericOp op : ops)
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      while (auto move = op.getInputs()[i].getDefiningOp<GenericOp>()) {
        if (!isMove(move) || choosesRows(op, i, move) || !fold(op, i, move))
          break;
      }
  for (GenericOp op : llvm::reverse(ops))
    if (op->use_empty())
      op.erase();
  getOperation().walk([&](GenericOp op) {
    for (unsigned i = 0; i < op.getInputs().size(); ++i) {
      Operation *producer = op.getInputs()[i].getDefiningOp();
      auto gather = dyn_cast_or_null<GatherOp>(producer);
      auto load = dyn_cast_or_null<IndexedLoadOpInterface>(producer);
      if ((gather && needsWholeGather(op, i, gather)) ||
          (load && needsWholeLoad(op, i, load))) {
        OpBuilder b(op.getContext());
        b.setInsertionPointAfter(producer);
        op.getInputsMutable()[i].set(createMove(b, op.getInputs()[i]));
      }
    }
  });
}
