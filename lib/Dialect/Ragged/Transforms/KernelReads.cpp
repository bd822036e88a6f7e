//===- KernelReads.cpp - What the tile program of a kernel reads ----------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "MemoryBudget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

SmallVector<unsigned> KernelBuilder::getInnerDims(const GenericPlan &generic) {
  GenericOp op = generic.getOp();
  SmallVector<unsigned> inner;
  for (unsigned dim = 0; dim < op.getDims().size(); ++dim)
    if (!generic.getRowPosition(dim))
      inner.push_back(dim);
  return inner;
}

/// Tall enough to use weights many times from the cache, and small enough for
/// all tiles of the kernel to stay in it: taller where weights themselves do
/// not, which come from a farther cache for every tile. So do accumulators of
/// outer products: with both, a tile of few rows would wait for memory. A
/// multiple of the height of every register block (4, 6, 8, 12), since the last
/// block runs to the end of the tile.
int64_t KernelBuilder::chooseTileRows() {
  constexpr int64_t leastRows = 24, mostBytes = 1 << 20;
  int64_t rowBytes = 0, weightBytes = 0, accumulatorBytes = 0;
  for (const GenericPlan &generic : plan.generics) {
    GenericOp op = generic.getOp();
    for (Value result : op.getResults())
      (generic.isFold() ? accumulatorBytes : rowBytes) += getRowBytes(result);
    for (Value input : op.getInputs())
      if (isa<RankedTensorType>(input.getType()))
        weightBytes += getRowBytes(input);
  }
  if (plan.space.empty() && plan.path.empty())
    return leastRows;
  int64_t mostRows = weightBytes > mostBytes ? largeTileRows : 48;
  int64_t rows = rowBytes ? mostBytes / rowBytes : mostRows;
  if (weightBytes + accumulatorBytes > mostBytes)
    rows = std::max(rows, 2 * leastRows);
  return std::clamp(rows / leastRows * leastRows, leastRows, mostRows);
}

RankedTensorType KernelBuilder::getTileType(const LogicalType &type,
                                            unsigned rowRank) {
  SmallVector<int64_t> shape = {tileRows};
  for (int64_t dim : ArrayRef(type.order).drop_front(rowRank))
    shape.push_back(*type.extents[dim].getConstant());
  return RankedTensorType::get(shape, getScalarType(type.elementType));
}

/// The least and the largest value of an expression over dims that go from 0 to
/// `sizes` - 1, none of which is 0.
static std::pair<int64_t, int64_t> getRange(AffineExpr expr,
                                            ArrayRef<int64_t> sizes) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return {0, sizes[dim.getPosition()] - 1};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto [low, high] = getRange(binary.getLHS(), sizes);
  auto [otherLow, otherHigh] = getRange(binary.getRHS(), sizes);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {low + otherLow, high + otherHigh};
  case AffineExprKind::Mul:
    return std::minmax(low * otherLow, high * otherLow);
  case AffineExprKind::FloorDiv:
    return {llvm::divideFloorSigned(low, otherLow),
            llvm::divideFloorSigned(high, otherLow)};
  case AffineExprKind::CeilDiv:
    return {llvm::divideCeilSigned(low, otherLow),
            llvm::divideCeilSigned(high, otherLow)};
  default: // Mod
    return {0, otherLow - 1};
  }
}

KernelBuilder::RowPart KernelBuilder::getRowPart(const GenericPlan &generic,
                                                 const Access &access,
                                                 unsigned rowRank) {
  LogicalType type = LogicalType::of(access.value);
  GenericOp op = generic.getOp();
  SmallVector<unsigned> inner = getInnerDims(generic);
  SmallVector<int64_t> sizes(op.getDims().size(), 1);
  SmallVector<AffineExpr> dims(op.getDims().size());
  for (auto [position, dim] : llvm::enumerate(inner)) {
    sizes[dim] = *op.getDims()[dim].getConstant();
    dims[dim] = b.getAffineDimExpr(1 + position);
  }
  RowPart part;
  for (int64_t dim : ArrayRef(type.order).drop_front(rowRank)) {
    AffineExpr expr = access.map.getResult(dim);
    part.rowShape.push_back(*type.extents[dim].getConstant());
    bool isEmpty = llvm::any_of(inner, [&](unsigned d) {
      return sizes[d] == 0 && expr.isFunctionOfDim(d);
    });
    if (isEmpty) { // No point asks for an element.
      part.begin.push_back(0);
      part.shape.push_back(isa<AffineDimExpr>(expr) ? 0 : part.rowShape.back());
      part.subscripts.push_back(isa<AffineDimExpr>(expr)
                                    ? expr.replaceDims(dims)
                                    : b.getAffineConstantExpr(0));
      continue;
    }
    auto [low, high] = getRange(expr, sizes);
    part.begin.push_back(low + *access.getOffset(dim).getConstant());
    part.shape.push_back(high - low + 1);
    part.subscripts.push_back(expr.replaceDims(dims) - low);
  }
  return part;
}

AffineMap KernelBuilder::getOperandMap(const GenericPlan &generic,
                                       const Access &access, unsigned rowRank,
                                       bool hasRow) {
  SmallVector<AffineExpr> exprs;
  if (hasRow)
    exprs.push_back(b.getAffineDimExpr(0));
  llvm::append_range(exprs, getRowPart(generic, access, rowRank).subscripts);
  return AffineMap::get(1 + getInnerDims(generic).size(), 0, exprs, context);
}

Value KernelBuilder::emptyTile(ArrayRef<int64_t> shape, Type type) {
  return tensor::EmptyOp::create(b, loc, shape, type);
}

Value KernelBuilder::fillTile(ArrayRef<int64_t> shape, TypedAttr value) {
  Value constant = arith::ConstantOp::create(b, loc, value);
  Value empty = emptyTile(shape, value.getType());
  return linalg::FillOp::create(b, loc, constant, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Value KernelBuilder::getInput(Value value) {
  if (Value whole = shared.lookup(value))
    return whole;
  // Constants are part of the kernel.
  Type type = value.getType();
  if (auto dense = dyn_cast<RankedTensorType>(type))
    type = dense.clone(getScalarType(dense.getElementType()));
  if (Operation *constant = value.getDefiningOp();
      constant && constant->hasTrait<OpTrait::ConstantLike>()) {
    DenseElementsAttr numbers;
    if (type == value.getType() || !matchPattern(value, m_Constant(&numbers)))
      return b.clone(*constant)->getResult(0);
    return arith::ConstantOp::create(
        b, loc, numbers.bitcast(getElementTypeOrSelf(type)));
  }
  Value &arg = inputs[value];
  if (!arg) {
    arg = kernel.getBody().front().addArgument(type, loc);
    kernel.getInputsMutable().append(value);
  }
  return arg;
}

/// A part of each row of a value; what is outside of the rows is `outside`.
Value KernelBuilder::takePart(Value value, const RowPart &part,
                              TypedAttr outside, bool hasRow) {
  if (part.isWhole())
    return value;
  SmallVector<OpFoldResult> from, sizes, to;
  SmallVector<int64_t> taken, shape;
  auto addDim = [&](int64_t begin, int64_t size, int64_t place) {
    from.push_back(b.getIndexAttr(begin));
    sizes.push_back(b.getIndexAttr(size));
    to.push_back(b.getIndexAttr(place));
    taken.push_back(size);
  };
  if (hasRow) {
    addDim(0, tileRows, 0);
    shape.push_back(tileRows);
  }
  for (auto [begin, size, extent] :
       llvm::zip_equal(part.begin, part.shape, part.rowShape)) {
    int64_t first = std::max<int64_t>(begin, 0);
    addDim(first, std::max<int64_t>(std::min(begin + size, extent) - first, 0),
           first - begin);
    shape.push_back(size);
  }
  Type element = getElementTypeOrSelf(value.getType());
  bool isEmpty = llvm::is_contained(taken, 0);
  if (isEmpty && taken != shape)
    return fillTile(shape, outside);
  SmallVector<OpFoldResult> ones(from.size(), b.getIndexAttr(1));
  if (cast<RankedTensorType>(value.getType()).getShape() != ArrayRef(taken))
    value = tensor::ExtractSliceOp::create(
        b, loc, RankedTensorType::get(taken, element), value, from, sizes,
        ones);
  if (taken == shape)
    return value;
  // What all rows share is made once, in front of the tiles.
  Value around =
      hasRow ? fillTile(shape, outside)
             : arith::ConstantOp::create(
                   b, loc,
                   DenseElementsAttr::get(RankedTensorType::get(shape, element),
                                          outside))
                   .getResult();
  return tensor::InsertSliceOp::create(b, loc, value, around, to, sizes, ones);
}

unsigned KernelBuilder::getRowRank(const GenericPlan &generic,
                                   const Access &access) {
  LogicalType type = LogicalType::of(access.value);
  unsigned rank = ragged::getRowRank(type, access.map, access.offsets, generic);
  auto isConstant = [&](int64_t dim) {
    return isa<AffineConstantExpr>(access.map.getResult(dim));
  };
  if (access.isIndex &&
      llvm::all_of(ArrayRef(type.order).drop_front(rank), isConstant))
    rank = type.getRank();
  if (!access.start)
    return rank;
  unsigned indexed =
      llvm::find(type.order, access.startDim) - type.order.begin();
  return std::max(rank, indexed + 1);
}

/// Elements at coordinates of which one is in memory.
FailureOr<KernelBuilder::Operand>
KernelBuilder::readLoad(const GenericPlan &generic, IndexedLoadOpInterface load,
                        const Access &access) {
  auto through = [&](Value value, AffineMap map) {
    Access part = {value, map.compose(access.map), {}, {}};
    if (access.offsets.empty())
      return part;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      part.offsets.push_back(dim ? access.getOffset(dim.getPosition())
                                 : extent::constant(context, 0));
    }
    return part;
  };
  Access index = through(load.getLoadedIndices(), load.getIndexMap());
  index.isIndex = true;
  Value indices = readRows(generic, index, load.getLoc());
  if (cast<RankedTensorType>(indices.getType()).getRank() != 1)
    return load->emitOpError(
        "expected every dim of the index to be a row of the kernel");
  Access source = through(load.getLoadedSource(), load.getSourceMap());
  source.start = indices;
  source.startDim = load.getIndexedDim();
  return Operand{readRows(generic, source, load.getLoc()),
                 getOperandMap(generic, source, getRowRank(generic, source),
                               /*hasRow=*/true)};
}

/// Rows in memory, for the rows of the tile.
Value KernelBuilder::readRows(const GenericPlan &generic, const Access &access,
                              Location at) {
  LogicalType type = LogicalType::of(access.value);
  unsigned rowRank = getRowRank(generic, access);
  SmallVector<AffineExpr> toRow(access.map.getNumDims());
  for (auto [position, dim] : llvm::enumerate(generic.rowDims))
    toRow[dim] = b.getAffineDimExpr(position);
  SmallVector<AffineExpr> coordinates;
  SmallVector<ExtentAttr> rowOffsets;
  for (int64_t dim : ArrayRef(type.order).take_front(rowRank)) {
    coordinates.push_back(access.map.getResult(dim).replaceDims(toRow));
    rowOffsets.push_back(access.getOffset(dim));
  }
  RowPart part = getRowPart(generic, access, rowRank);
  SmallVector<int64_t> shape = {tileRows};
  llvm::append_range(shape, part.shape);
  return TileReadOp::create(
      b, at, RankedTensorType::get(shape, getScalarType(type.elementType)),
      getInput(access.value), kernel.getBody().getArgument(0),
      AffineMap::get(plan.space.size(), 0, coordinates, context),
      access.offsets.empty() ? ArrayAttr()
                             : makeExtentsAttr(context, rowOffsets),
      part.isWhole() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(part.begin),
      access.outside, access.start ? ValueRange(access.start) : ValueRange(),
      access.start
          ? b.getDenseI64ArrayAttr(llvm::find(type.order, access.startDim) -
                                   type.order.begin())
          : DenseI64ArrayAttr());
}

FailureOr<Value> KernelBuilder::lookup(const GenericPlan &generic,
                                       GatherOp gather, const Access &access) {
  LogicalType indices = LogicalType::of(gather.getIndices());
  unsigned rank = indices.getRank();
  Access index = {gather.getIndices(),
                  AffineMap::get(access.map.getNumDims(), 0,
                                 access.map.getResults().take_front(rank),
                                 context),
                  {},
                  {}};
  if (!access.offsets.empty())
    index.offsets.assign(access.offsets.begin(), access.offsets.begin() + rank);
  index.isIndex = true;
  Value rows = readRows(generic, index, gather.getLoc());
  if (cast<RankedTensorType>(rows.getType()).getRank() != 1)
    return gather.emitOpError(
        "expected every dim of the index to be a row of the kernel");
  auto table = cast<RankedTensorType>(gather.getTable().getType());
  SmallVector<int64_t> shape = {tileRows};
  llvm::append_range(shape, table.getShape().drop_front());
  return TileLookupOp::create(b, gather.getLoc(),
                              RankedTensorType::get(
                                  shape, getScalarType(table.getElementType())),
                              getInput(gather.getTable()), rows, StringAttr())
      .getResult();
}

FailureOr<KernelBuilder::Operand>
KernelBuilder::read(const GenericPlan &generic, const Access &access) {
  Value value = access.value;
  if (auto load = value.getDefiningOp<IndexedLoadOpInterface>())
    return readLoad(generic, load, access);
  LogicalType type = LogicalType::of(value);
  unsigned rowRank = getRowRank(generic, access);
  if (auto gather = value.getDefiningOp<GatherOp>()) {
    unsigned rank = LogicalType::of(gather.getIndices()).getRank();
    if (rowRank > rank)
      return gather.emitOpError(
          "does not support choosing among the columns of the table per row");
    rowRank = rank;
  }
  AffineMap tileMap = getOperandMap(generic, access, rowRank, /*hasRow=*/true);
  RowPart part = getRowPart(generic, access, rowRank);
  if (Value tile = made.lookup(value))
    return Operand{takePart(tile, part, access.outside, /*hasRow=*/true),
                   tileMap};
  Operation *producer = value.getDefiningOp();
  if (auto extentOp = dyn_cast_or_null<ExtentOp>(producer)) {
    Value tile = TileExtentOp::create(
        b, extentOp.getLoc(), RankedTensorType::get({tileRows}, b.getI64Type()),
        kernel.getBody().getArgument(0), extentOp.getExtent());
    return Operand{tile, tileMap};
  }
  if (isa_and_present<InstanceOp>(producer)) {
    Value tile = TileCoordOp::create(
        b, producer->getLoc(),
        RankedTensorType::get({tileRows}, b.getI64Type()),
        kernel.getBody().getArgument(0), b.getI64IntegerAttr(-1));
    return Operand{tile, tileMap};
  }
  if (auto gather = dyn_cast_or_null<GatherOp>(producer)) {
    FailureOr<Value> tile = lookup(generic, gather, access);
    if (failed(tile))
      return failure();
    return Operand{takePart(*tile, part, access.outside, /*hasRow=*/true),
                   tileMap};
  }
  if ((!type.isDense() || rowRank != 0) && producer &&
      producer->hasTrait<OpTrait::ConstantLike>())
    return generic.getOp().emitOpError(
        "does not support choosing among the rows of a constant; make it an "
        "argument");
  if (!type.isDense() || rowRank != 0)
    return Operand{readRows(generic, access, value.getLoc()), tileMap};
  // Dense, and the same for all rows.
  return Operand{
      takePart(getInput(value), part, access.outside, /*hasRow=*/false),
      getOperandMap(generic, access, 0, /*hasRow=*/false)};
}
