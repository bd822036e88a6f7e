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

/// Makes input `i` of `op`, which is the result of `move`, read the move's
/// input.
static void fold(GenericOp op, unsigned i, GenericOp move) {
  MLIRContext *context = op.getContext();
  AffineMap inner = move.getInputMap(0), outer = op.getInputMap(i);
  SmallVector<ExtentAttr> innerOffsets = move.getInputOffsets(0);
  SmallVector<ExtentAttr> outerOffsets = op.getInputOffsets(i);
  ExtentAttr zero = extent::constant(context, 0);

  // The move reads, for point p of its dims, element inner(p) + innerOffsets;
  // op asks for p = outer(q) + outerOffsets. Results of inner are dims or
  // constants.
  SmallVector<AffineExpr> coordinates;
  SmallVector<ExtentAttr> offsets;
  for (auto [k, expr] : llvm::enumerate(inner.getResults())) {
    ExtentAttr offset = innerOffsets.empty() ? zero : innerOffsets[k];
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      coordinates.push_back(outer.getResult(dim.getPosition()));
      if (!outerOffsets.empty())
        offset = extent::add(offset, outerOffsets[dim.getPosition()]);
    } else {
      coordinates.push_back(expr);
    }
    offsets.push_back(offset);
  }

  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[i] = AffineMapAttr::get(
      AffineMap::get(outer.getNumDims(), 0, coordinates, context));
  SmallVector<Attribute> lists;
  bool any = false;
  for (unsigned j = 0; j < op.getInputs().size(); ++j) {
    // Offsets of 0 stay where a slice made them: they say that the input may be
    // longer than what is read of it.
    bool slices = j != i || !innerOffsets.empty() || !outerOffsets.empty();
    SmallVector<ExtentAttr> list = j == i ? offsets : op.getInputOffsets(j);
    if (!slices)
      list.clear();
    any |= !list.empty();
    lists.push_back(makeExtentsAttr(context, list));
  }
  op.getInputsMutable()[i].set(move.getInputs()[0]);
  op.setMapsAttr(ArrayAttr::get(context, maps));
  op.setOffsetsAttr(any ? ArrayAttr::get(context, lists) : ArrayAttr());
}

/// Whether input `i` of `op`, a gather, has to be made first. Of a part of it,
/// every index must still be one of the table's; and dims that choose indices
/// must come before the others in the result, so that they can be rows.
static bool needsWholeGather(GenericOp op, unsigned i, GatherOp gather) {
  if (!op.getInputOffsets(i).empty())
    return true;
  unsigned rank = LogicalType::of(gather.getIndices()).getRank();
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

/// A generic that is a copy of the value.
static Value copy(Value value) {
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  LogicalType type = LogicalType::of(value);
  Location loc = value.getLoc();
  Value init = EmptyOp::create(b, loc, value.getType());
  SmallVector<StringRef> iterators(type.getRank(), "parallel");
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  auto result = GenericOp::create(
      b, loc, TypeRange{value.getType()}, ValueRange{value}, ValueRange{init},
      makeExtentsAttr(b.getContext(), type.extents),
      b.getStrArrayAttr(iterators), makePathAttr(b.getContext(), type.path),
      b.getAffineMapArrayAttr({identity, identity}), ArrayAttr(), UnitAttr());
  Block *body = b.createBlock(&result.getBody(), {},
                              {type.elementType, type.elementType}, {loc, loc});
  YieldOp::create(b, loc, ValueRange{body->getArgument(0)});
  return result.getResult(0);
}

void RaggedFoldMoves::runOnOperation() {
  // In program order: the inputs of a move have been folded before it is.
  SmallVector<GenericOp> ops;
  getOperation().walk([&](GenericOp op) { ops.push_back(op); });
  for (GenericOp op : ops)
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      while (auto move = op.getInputs()[i].getDefiningOp<GenericOp>()) {
        if (!isMove(move))
          break;
        fold(op, i, move);
      }
  for (GenericOp op : llvm::reverse(ops))
    if (op->use_empty())
      op.erase();
  getOperation().walk([&](GenericOp op) {
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      if (auto gather = op.getInputs()[i].getDefiningOp<GatherOp>())
        if (needsWholeGather(op, i, gather))
          op.getInputsMutable()[i].set(copy(gather));
  });
}
