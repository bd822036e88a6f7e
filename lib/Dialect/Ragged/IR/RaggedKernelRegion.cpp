//===- RaggedKernelRegion.cpp - What the region of a kernel may do --------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rule K1: rows of a tile are independent of each other and of where in the
// tile they are. Every tensor of the region is of one of three kinds:
//
// * tile: dim 0 is the rows of the tile;
// * shared: the same for all rows, no row dim;
// * uniform: all elements equal or unspecified (`tensor.empty`, fills of it,
// splat
//   constants); may serve as a tile (an init) or as shared.
//
// An op that repeats something along the rows of an init gives a tile too.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nested::ragged;

namespace {

enum class ValueKind { Shared, Uniform, Tile };

class KernelRegionVerifier {
public:
  explicit KernelRegionVerifier(KernelOp kernel)
      : kernel(kernel), rows(kernel.getTile()) {}

  LogicalResult run() {
    Block &block = kernel.getBody().front();
    for (Operation &op : block)
      if (failed(visit(&op)))
        return failure();
    auto yield =
        block.empty() ? TileYieldOp() : dyn_cast<TileYieldOp>(block.back());
    if (!yield)
      return emitExpected(kernel, "a region that ends with ragged.tile_yield",
                          "another operation");
    return checkResults(yield);
  }

private:
  ValueKind kindOf(Value value) const {
    auto kind = kinds.find(value);
    return kind == kinds.end() ? ValueKind::Shared : kind->second;
  }
  bool isTile(Value value) const { return kindOf(value) == ValueKind::Tile; }

  void set(Operation *op, ValueKind kind) {
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        kinds[result] = kind;
  }

  LogicalResult setTile(Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type)
        continue;
      if (type.getRank() == 0 || type.getDimSize(0) != rows)
        return emitExpected(op, "a tile of " + Twine(rows) + " rows",
                            quote(type));
      kinds[result] = ValueKind::Tile;
    }
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (isa<TileYieldOp>(op))
      return success();
    if (isa<TileReadOp, TileCoordOp, TileExtentOp>(op))
      return visitAccess(op);
    if (auto lookup = dyn_cast<TileLookupOp>(op)) {
      if (!isTile(lookup.getIndices()))
        return emitExpected(op, "indices that are a tile (K1)", "shared ones");
      return setTile(op);
    }
    if (auto reduce = dyn_cast<TileReduceOp>(op)) {
      for (Value input : reduce.getInputs())
        if (kindOf(input) == ValueKind::Shared || !hasRows(input))
          return emitExpected(op, "inputs that are tiles (K1)",
                              quote(input.getType()));
      set(op, ValueKind::Shared);
      for (Value result : op->getResults())
        folded.insert(result);
      return success();
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return visitLinalg(linalgOp);
    return visitOther(op);
  }

  bool hasRows(Value value) const {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() > 0 && type.getDimSize(0) == rows;
  }

  LogicalResult visitAccess(Operation *op) {
    // Dim -1 is that of the instances.
    if (auto coord = dyn_cast<TileCoordOp>(op))
      if (static_cast<int64_t>(coord.getDim()) != -1 &&
          failed(
              verifyDim(op, "dim", coord.getDim(), kernel.getSpace().size())))
        return failure();
    if (!isa<TileReadOp>(op) &&
        cast<RankedTensorType>(op->getResult(0).getType()).getRank() != 1)
      return emitExpected(op, "a result of rank 1",
                          quote(op->getResult(0).getType()));
    return setTile(op);
  }

  /// Whether an op without tile operands writes the same to every row of a
  /// tile: a bias repeated, coordinates along other dims.
  bool repeatsRows(linalg::LinalgOp op) const {
    if (op.getNumLoops() == 0 ||
        op.getIteratorTypesArray()[0] != utils::IteratorType::parallel)
      return false;
    AffineExpr row = getAffineDimExpr(0, op.getContext());
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (op.isDpsInit(&operand))
        return kindOf(operand.get()) == ValueKind::Uniform &&
               hasRows(operand.get()) && map.getResult(0) == row;
      return !map.isFunctionOfDim(0);
    });
  }

  /// K1 for one linalg op: dim 0 of each tile operand is the parallel loop 0.
  LogicalResult visitLinalg(linalg::LinalgOp op) {
    bool isRowOp = llvm::any_of(op->getOperands(),
                                [&](Value value) { return isTile(value); });
    bool isUniform = llvm::all_of(op->getOperands(), [&](Value value) {
      return kindOf(value) == ValueKind::Uniform ||
             !isa<RankedTensorType>(value.getType());
    });
    bool usesRowIndex = false;
    op->walk(
        [&](linalg::IndexOp index) { usesRowIndex |= index.getDim() == 0; });
    if (!isRowOp && !usesRowIndex && repeatsRows(op))
      return setTile(op);
    if (!isRowOp) {
      // Without `linalg.index` every element is computed from equal values.
      bool usesIndex = false;
      op->walk([&](linalg::IndexOp) { usesIndex = true; });
      set(op, isUniform && !usesIndex ? ValueKind::Uniform : ValueKind::Shared);
      return success();
    }

    if (op.getNumLoops() == 0 ||
        op.getIteratorTypesArray()[0] != utils::IteratorType::parallel)
      return emitExpected(op,
                          "loop 0, the rows of the tile, to be parallel (K1)",
                          "a reduction");
    if (usesRowIndex)
      return emitExpected(op,
                          "rows to be independent of where in the tile they "
                          "are (K1)",
                          "linalg.index 0");
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      bool isInit = op.isDpsInit(&operand);
      bool usesRows = map.isFunctionOfDim(0);
      bool isAligned = map.getNumResults() > 0 &&
                       map.getResult(0) == getAffineDimExpr(0, op.getContext());
      for (AffineExpr expr : map.getResults().drop_front(isAligned))
        isAligned &= !expr.isFunctionOfDim(0);
      if (isTile(operand.get()) || isInit || usesRows) {
        if (!isAligned)
          return emitExpected(op,
                              "dim 0 of operand " +
                                  Twine(operand.getOperandNumber()) +
                                  ", and no other, to be loop 0 (K1)",
                              format(map));
        // A shared value has no rows: row r would depend on r.
        if (kindOf(operand.get()) == ValueKind::Shared)
          return emitExpected(op,
                              "operand " + Twine(operand.getOperandNumber()) +
                                  ", which loop 0 indexes, to be a tile (K1)",
                              "a shared value");
      }
    }
    return setTile(op);
  }

  /// Elementwise ops, and reshapes that leave the rows alone.
  LogicalResult visitOther(Operation *op) {
    bool isRowOp = llvm::any_of(op->getOperands(),
                                [&](Value value) { return isTile(value); });
    if (!isRowOp) {
      Attribute value;
      bool isSplat = isa<tensor::EmptyOp, tensor::SplatOp>(op) ||
                     (matchPattern(op, m_Constant(&value)) &&
                      isa<SplatElementsAttr>(value));
      set(op, isSplat ? ValueKind::Uniform : ValueKind::Shared);
      return success();
    }
    if (OpTrait::hasElementwiseMappableTraits(op)) {
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()) &&
            kindOf(operand) == ValueKind::Shared)
          return emitExpected(op, "operands that are tiles (K1)",
                              "a shared value");
      return setTile(op);
    }
    bool keepsRows = false;
    if (auto reshape = dyn_cast<tensor::ExpandShapeOp>(op))
      keepsRows = reshape.getReassociationIndices()[0].size() == 1;
    else if (auto reshape = dyn_cast<tensor::CollapseShapeOp>(op))
      keepsRows = reshape.getReassociationIndices()[0].size() == 1;
    else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      keepsRows = isTile(slice.getSource()) && coversRows(slice);
    else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
      keepsRows = kindOf(slice.getSource()) != ValueKind::Shared &&
                  kindOf(slice.getDest()) != ValueKind::Shared &&
                  coversRows(slice);
    if (keepsRows)
      return setTile(op);
    return emitExpected(op,
                        "an operation on tiles that is known to leave rows "
                        "independent (K1)",
                        "one that is not");
  }

  template <typename SliceOp>
  bool coversRows(SliceOp slice) const {
    ArrayRef<int64_t> offsets = slice.getStaticOffsets(),
                      sizes = slice.getStaticSizes(),
                      strides = slice.getStaticStrides();
    return !sizes.empty() && offsets[0] == 0 && sizes[0] == rows &&
           strides[0] == 1;
  }

  LogicalResult checkResults(TileYieldOp yield) {
    if (yield.getValues().size() != kernel.getNumResults())
      return emitExpected(yield,
                          "a value for each of the " +
                              Twine(kernel.getNumResults()) +
                              " results of the kernel",
                          Twine(yield.getValues().size()));
    SmallVector<ExtentAttr> space = toExtents(kernel.getSpace());
    for (auto [value, result] :
         llvm::zip(yield.getValues(), kernel.getResults())) {
      bool isFolded = folded.contains(value);
      if (!isFolded && (kindOf(value) == ValueKind::Shared || !hasRows(value)))
        return emitExpected(yield, "a tile or the result of ragged.tile_reduce",
                            "a shared value of type " + quote(value.getType()));
      auto type = cast<RankedTensorType>(value.getType());
      ArrayRef<int64_t> rowShape = type.getShape();
      ArrayRef<ExtentAttr> rowDims = space;
      SmallVector<StringAttr> path = toPath(kernel.getPath());
      if (!isFolded) {
        rowShape = rowShape.drop_front();
      } else if (kernel.getUnits() == UnitKind::Groups) {
        rowDims = rowDims.take_front(kernel.getGroups());
      } else {
        // One value for the whole batch.
        rowDims = {};
        path.clear();
      }
      if (failed(checkResult(result.getType(), path, rowDims, rowShape,
                             type.getElementType())))
        return failure();
    }
    return success();
  }

  /// The dims of the result in packed order are `rowDims`, then `rowShape`.
  LogicalResult checkResult(Type type, ArrayRef<StringAttr> path,
                            ArrayRef<ExtentAttr> rowDims,
                            ArrayRef<int64_t> rowShape, Type elementType) {
    LogicalType result = LogicalType::of(type);
    SmallVector<ExtentAttr> expected(rowDims), packed;
    for (int64_t size : rowShape)
      expected.push_back(extent::constant(kernel.getContext(), size));
    for (int64_t dim : result.order)
      packed.push_back(result.extents[dim]);
    if (packed == expected && result.path == path &&
        getScalarType(result.elementType) == elementType)
      return success();
    std::string element;
    llvm::raw_string_ostream(element) << elementType;
    InFlightDiagnostic diagnostic = emitExpected(
        kernel,
        "result of packed extents " + formatExtents(expected) + ", path " +
            formatPath(path) + " and element type " + element,
        quote(type));
    for (auto [l, r] : llvm::zip(expected, packed))
      if (l != r)
        attachMismatchNotes(diagnostic, kernel, l, r);
    return diagnostic;
  }

  static std::string format(AffineMap map) {
    std::string text;
    llvm::raw_string_ostream(text) << map;
    return text;
  }

  KernelOp kernel;
  int64_t rows;
  llvm::DenseMap<Value, ValueKind> kinds;
  llvm::DenseSet<Value> folded;
};

} // namespace

LogicalResult KernelOp::verifyRegions() {
  return KernelRegionVerifier(*this).run();
}
