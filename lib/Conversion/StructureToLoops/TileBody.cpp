//===- TileBody.cpp - Tile programs as loops over rows and blocks ---------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings the body of a tile loop into a normal form, groups its ops (TileGraph)
// and emits their loops (TileEmitter).
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace nested {
#define GEN_PASS_DEF_TILEBODY
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::tile;

namespace {

struct TileBody : public nested::impl::TileBodyBase<TileBody> {
  using TileBodyBase::TileBodyBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(kKernelAttr))
      return;
    IRRewriter rewriter(&getContext());
    if (failed(generalize(rewriter, function)))
      return signalPassFailure();
    SmallVector<scf::ForOp> loops;
    function.walk([&](scf::ForOp loop) {
      if (loop->hasAttr(kTileLoopAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(lower(rewriter, loop)))
        return signalPassFailure();
  }

  LogicalResult generalize(IRRewriter &rewriter, func::FuncOp function);
  LogicalResult lower(IRRewriter &rewriter, scf::ForOp loop);
  void sinkSplats(IRRewriter &rewriter, scf::ForOp loop);
  void hoistShared(IRRewriter &rewriter, scf::ForOp loop, int64_t rows);
  void transposeShared(IRRewriter &rewriter, scf::ForOp loop);
  void copyLoads(IRRewriter &rewriter, scf::ForOp loop);
};

/// The rows of the tile and how many of them are live.
struct TileRows {
  int64_t rows = 0;
  Value live;
};

FailureOr<TileRows> findRows(scf::ForOp loop) {
  TileRows result;
  for (Operation &op : *loop.getBody()) {
    int64_t rows = 0;
    Value live;
    auto dim0 = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getDimSize(0);
    };
    if (auto load = dyn_cast<ragged::TileLoadOp>(op)) {
      rows = dim0(load.getResult());
      live = load.getLive();
    } else if (auto gather = dyn_cast<ragged::TileGatherOp>(op)) {
      rows = dim0(gather.getResult());
      live = gather.getLive();
    } else if (auto store = dyn_cast<ragged::TileStoreOp>(op)) {
      rows = dim0(store.getValue());
      live = store.getLive();
    } else if (auto fold = dyn_cast<ragged::TileFoldOp>(op)) {
      rows = dim0(fold.getFlush());
      live = fold.getLive();
    } else {
      continue;
    }
    if (result.rows && (result.rows != rows || result.live != live))
      return op.emitOpError("has other rows than the ops before it");
    result = {rows, live};
  }
  if (!result.rows)
    return loop.emitOpError("has the attribute '")
           << kTileLoopAttr << "' but accesses no rows";
  return result;
}

} // namespace

/// Makes all linalg ops generic, and splat constants fills.
LogicalResult TileBody::generalize(IRRewriter &rewriter,
                                   func::FuncOp function) {
  SmallVector<arith::ConstantOp> splats;
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (constant && isa<RankedTensorType>(constant.getType()) &&
        isa<SplatElementsAttr>(constant.getValue()))
      splats.push_back(constant);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      if (!isa<linalg::GenericOp>(op))
        named.push_back(linalgOp);
  });
  for (arith::ConstantOp constant : splats) {
    rewriter.setInsertionPoint(constant);
    auto type = cast<RankedTensorType>(constant.getType());
    Location loc = constant.getLoc();
    Value scalar =
        arith::ConstantOp::create(rewriter, loc,
                                  cast<SplatElementsAttr>(constant.getValue())
                                      .getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    auto fill = linalg::FillOp::create(rewriter, loc, scalar, empty);
    named.push_back(cast<linalg::LinalgOp>(fill.getOperation()));
    rewriter.replaceOp(constant, fill.getResults());
  }
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (!op.hasPureTensorSemantics())
      return op.emitOpError("is not on tensors");
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitOpError("has no generic form");
  }
  return success();
}

/// Clones fills that the loop uses into it: there they are made where they are
/// needed, often in registers.
void TileBody::sinkSplats(IRRewriter &rewriter, scf::ForOp loop) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(loop.getRegion(), values);
  rewriter.setInsertionPointToStart(loop.getBody());
  for (Value value : values) {
    auto op = value.getDefiningOp<linalg::GenericOp>();
    if (!op || !isSplat(op))
      continue;
    Value copy = rewriter.clone(*op)->getResult(0);
    value.replaceUsesWithIf(copy, [&](OpOperand &use) {
      return loop.getBody()->findAncestorOpInBlock(*use.getOwner());
    });
  }
}

/// Moves tensors that all tiles share in front of the loop.
void TileBody::hoistShared(IRRewriter &rewriter, scf::ForOp loop,
                           int64_t rows) {
  auto usedAsTile = [&](Operation &op) {
    return llvm::any_of(op.getUses(), [&](OpOperand &use) {
      auto type = dyn_cast<RankedTensorType>(use.get().getType());
      auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!type || type.getRank() == 0 || type.getDimSize(0) != rows)
        return false;
      if (!user)
        return true;
      auto dim = dyn_cast<AffineDimExpr>(
          user.getMatchingIndexingMap(&use).getResult(0));
      return dim && dim.getPosition() == 0;
    });
  };
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    bool shared =
        isa<bufferization::ToTensorOp>(op) ||
        (isPure(&op) && op.getNumResults() &&
         llvm::all_of(op.getResultTypes(),
                      [](Type type) { return isa<RankedTensorType>(type); }) &&
         !isa<tensor::EmptyOp>(op) && !usedAsTile(op));
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && llvm::none_of(generic.getInputs(), [](Value input) {
          return isa<ShapedType>(input.getType());
        }))
      continue;
    llvm::SetVector<Value> values;
    getUsedValuesDefinedAbove(op.getRegions(), values);
    values.insert_range(op.getOperands());
    auto isOutside = [&](Value value) {
      return loop.isDefinedOutsideOfLoop(value);
    };
    auto isMadeOfConstants = [&](Value value) {
      auto generic = value.getDefiningOp<linalg::GenericOp>();
      return value.getDefiningOp<tensor::EmptyOp>() ||
             matchPattern(value, m_Constant()) ||
             (generic && isSplat(generic) &&
              llvm::all_of(generic.getInputs(), [&](Value input) {
                return isOutside(input) || matchPattern(input, m_Constant());
              }));
    };
    if (!shared || !llvm::all_of(values, [&](Value value) {
          return isOutside(value) || isMadeOfConstants(value);
        }))
      continue;
    for (Value value : values) {
      if (isOutside(value))
        continue;
      // Tiles have fills of their own.
      Operation *def = value.getDefiningOp();
      if (isa<linalg::GenericOp>(def)) {
        for (Value operand : def->getOperands())
          if (!isOutside(operand))
            operand.getDefiningOp()->moveBefore(loop);
        rewriter.setInsertionPoint(loop);
        op.replaceUsesOfWith(value, rewriter.clone(*def)->getResult(0));
      } else {
        def->moveBefore(loop);
      }
    }
    op.moveBefore(loop);
  }
}

/// Brings the shared operand of contractions into the order in which register
/// blocks read it, in front of the loop.
void TileBody::transposeShared(IRRewriter &rewriter, scf::ForOp loop) {
  SmallVector<linalg::GenericOp> ops(
      loop.getBody()->getOps<linalg::GenericOp>());
  for (linalg::GenericOp op : ops) {
    std::optional<RowContraction> shape = matchRowContraction(op);
    if (!shape || shape->columnIsInnermost)
      continue;
    OpOperand &operand = op->getOpOperand(shape->sharedOperand);
    Value value = operand.get();
    // Matrices are transposed when they are packed.
    if (!loop.isDefinedOutsideOfLoop(value) ||
        (cast<RankedTensorType>(value.getType()).getRank() == 2 &&
         shape->summed.size() == 1))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto type = cast<RankedTensorType>(value.getType());
    int64_t rank = type.getRank();
    SmallVector<int64_t> order, extents;
    SmallVector<AffineExpr> results;
    auto append = [&](int64_t dim) {
      order.push_back(dim);
      extents.push_back(type.getDimSize(dim));
      results.push_back(map.getResult(dim));
    };
    int64_t column =
        *map.getResultPosition(rewriter.getAffineDimExpr(shape->column));
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != column)
        append(dim);
    append(column);

    rewriter.setInsertionPoint(loop);
    Location loc = op.getLoc();
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, extents, type.getElementType());
    auto transpose =
        linalg::TransposeOp::create(rewriter, loc, value, empty, order);
    auto generic = linalg::generalizeNamedOp(
        rewriter, cast<linalg::LinalgOp>(transpose.getOperation()));
    rewriter.modifyOpInPlace(op, [&] {
      operand.set(generic->getResult(0));
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[shape->sharedOperand] =
          AffineMap::get(map.getNumDims(), 0, results, &getContext());
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

/// What whole-tile ops read, and register blocks other than one column at a
/// time, is copied from the caller's memory row by row, since they reach past
/// the live rows.
void TileBody::copyLoads(IRRewriter &rewriter, scf::ForOp loop) {
  DenseMap<Value, Value> copies;
  std::function<bool(Value)> isLoad = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop.getBody())
      return false;
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
            tensor::ExtractSliceOp>(op))
      return isLoad(op->getOperand(0));
    return isa<ragged::TileLoadOp, ragged::TileGatherOp>(op);
  };
  auto copyOf = [&](Value value) {
    Value &copy = copies[value];
    if (!copy) {
      rewriter.setInsertionPointAfterValue(value);
      auto type = cast<RankedTensorType>(value.getType());
      Value empty = tensor::EmptyOp::create(
          rewriter, value.getLoc(), type.getShape(), type.getElementType());
      copy = buildCopy(rewriter, value.getLoc(), value, empty);
    }
    return copy;
  };
  SmallVector<Operation *> ops;
  for (Operation &op : *loop.getBody())
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (matchOuterProduct(generic))
        for (OpOperand *input : generic.getDpsInputOperands())
          if (isLoad(input->get()))
            input->set(copyOf(input->get()));
      std::optional<RowContraction> shape = matchRowContraction(generic);
      if (!shape)
        continue;
      for (unsigned number : {shape->rowsOperand, 2u}) {
        Value value = op->getOperand(number);
        bool byColumn =
            number != 2 && isa<ragged::TileLoadOp, ragged::TileGatherOp>(
                               value.getDefiningOp());
        if (isLoad(value) && !byColumn)
          op->setOperand(number, copyOf(value));
      }
    } else if (!isa<ragged::TileStoreOp, ragged::TileFoldOp,
                    ragged::TileGatherOp, tensor::CollapseShapeOp,
                    tensor::ExpandShapeOp, tensor::ExtractSliceOp,
                    tensor::InsertSliceOp>(op)) {
      llvm::SetVector<Value> values;
      getUsedValuesDefinedAbove(op->getRegions(), values);
      values.insert_range(op->getOperands());
      for (Value value : values)
        if (isLoad(value)) {
          Value copy = copyOf(value);
          value.replaceUsesWithIf(copy, [&](OpOperand &use) {
            return op->isAncestor(use.getOwner());
          });
        }
    }
  }
}

LogicalResult TileBody::lower(IRRewriter &rewriter, scf::ForOp loop) {
  FailureOr<TileRows> tile = findRows(loop);
  if (failed(tile))
    return failure();
  sinkSplats(rewriter, loop);
  hoistShared(rewriter, loop, tile->rows);
  transposeShared(rewriter, loop);
  copyLoads(rewriter, loop);

  FailureOr<TileGraph> graph =
      TileGraph::build(loop, tile->rows, /*registerBlocks=*/true);
  if (failed(graph))
    return failure();
  BlockOptions options{vectorBits, blockRows, blockColumns, packBytes};
  TileEmitter emitter(rewriter, loop, tile->live, *graph, options);
  if (failed(emitter.run()))
    return failure();
  loop->removeAttr(kTileLoopAttr);
  return success();
}
