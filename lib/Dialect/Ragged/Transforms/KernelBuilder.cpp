//===- KernelBuilder.cpp - Writes the tile program of a kernel ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the generics of a KernelPlan to one `ragged.kernel`:
//
// 1. what the kernel reads becomes tile_read, tile_lookup, tile_coord,
// tile_extent, or a
//    shared operand (dense, without row dims);
// 2. what all tiles share becomes linalg on whole values;
// 3. a generic becomes linalg over [tile rows, its static dims];
// 4. a generic that reduces row dims becomes the part of it that stays within a
// row,
//    then tile_reduce;
// 5. what is used outside is yielded.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "nested/Dialect/Ragged/IR/GenericRegion.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// `linalg.matmul` if the generic is one on tiles; null otherwise.
Value KernelBuilder::emitMatmul(const GenericPlan &generic,
                                ArrayRef<Operand> operands, Value init) {
  GenericOp op = generic.getOp();
  Value element;
  Operation *combiner = matchCombiner(op, 0, element);
  if (!combiner || !isa<arith::AddFOp, arith::AddIOp>(combiner) ||
      operands.size() != 2)
    return {};
  Operation *product = element.getDefiningOp();
  Block &body = op.getBody().front();
  if (!isa_and_present<arith::MulFOp, arith::MulIOp>(product) ||
      !llvm::is_contained(product->getOperands(), body.getArgument(0)) ||
      !llvm::is_contained(product->getOperands(), body.getArgument(1)))
    return {};
  SmallVector<unsigned> inner = getInnerDims(generic);
  if (inner.size() != 2)
    return {};
  auto isMap = [&](const Operand &operand, unsigned d0, unsigned d1) {
    return operand.map ==
           AffineMap::get(
               3, 0, {b.getAffineDimExpr(d0), b.getAffineDimExpr(d1)}, context);
  };
  unsigned k = op.isReduction(inner[0]) ? 1 : 2, m = 3 - k;
  if (!op.isReduction(inner[k - 1]) || op.isReduction(inner[m - 1]))
    return {};
  Value lhs, rhs;
  for (const Operand &operand : operands) {
    if (isMap(operand, 0, k))
      lhs = operand.value;
    else if (isMap(operand, k, m))
      rhs = operand.value;
  }
  if (!lhs || !rhs)
    return {};
  return linalg::MatmulOp::create(b, op.getLoc(), TypeRange{init.getType()},
                                  ValueRange{lhs, rhs}, ValueRange{init})
      .getResult(0);
}

/// Inputs that are one number become that number.
static void mapFills(OpBuilder &b, GenericOp op, IRMapping &mapping) {
  for (auto [i, value] : llvm::enumerate(op.getInputs()))
    if (auto fill = value.getDefiningOp<FillOp>())
      mapping.map(op.getBody().front().getArgument(i),
                  arith::ConstantOp::create(b, op.getLoc(),
                                            cast<TypedAttr>(fill.getValue()))
                      .getResult());
}

/// The generic on tiles, into `init`. Without `combiner` the region yields
/// `yielded`; with it, `combiner` of the accumulator and `yielded`.
FailureOr<Value> KernelBuilder::emitLinalg(const GenericPlan &generic,
                                           Value yielded, Value init,
                                           AffineMap outputMap,
                                           Operation *combiner) {
  GenericOp op = generic.getOp();
  Block &body = op.getBody().front();
  SmallVector<unsigned> inner = getInnerDims(generic);
  SmallVector<Operand> operands;
  IRMapping constants;
  SmallVector<BlockArgument> args;
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    BlockArgument arg = body.getArgument(i);
    if (auto fill = value.getDefiningOp<FillOp>()) {
      constants.map(arg, Value());
      continue;
    }
    FailureOr<Operand> operand = readInput(generic, i);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
    args.push_back(arg);
  }
  if (combiner && op.getInputs().size() == operands.size())
    if (Value result = emitMatmul(generic, operands, init))
      return result;

  // Coordinates of rows are operands; those of other dims are linalg's.
  llvm::MapVector<unsigned, Value> coordinates;
  op.getBody().walk([&](IndexOp index) {
    if (std::optional<unsigned> row = generic.getRowPosition(index.getDim()))
      coordinates[*row] = Value();
  });
  AffineMap rowMap =
      AffineMap::get(1 + inner.size(), 0, {b.getAffineDimExpr(0)}, context);
  for (auto &[row, tile] : coordinates) {
    tile = TileCoordOp::create(
        b, op.getLoc(), RankedTensorType::get({tileRows}, b.getI64Type()),
        kernel.getBody().getArgument(0), row);
    operands.push_back({tile, rowMap});
  }

  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const Operand &operand : operands) {
    values.push_back(operand.value);
    maps.push_back(operand.map);
  }
  maps.push_back(outputMap);
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::parallel};
  for (unsigned k = 0; k < inner.size(); ++k)
    iterators.push_back(outputMap.isFunctionOfDim(1 + k)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  // linalg takes the extents of dims from operands.
  if (combiner && !coverDims(maps)) {
    SmallVector<int64_t> shape = {tileRows};
    for (unsigned dim : inner)
      shape.push_back(*op.getDims()[dim].getConstant());
    FailureOr<Value> elements = emitLinalg(
        generic, yielded, emptyTile(shape, yielded.getType()),
        b.getMultiDimIdentityMap(shape.size()), /*combiner=*/nullptr);
    if (failed(elements))
      return failure();
    return reduceElements(b, op, *elements, yielded, init, outputMap, combiner);
  }
  auto fillBody = [&](OpBuilder &builder, Location l, ValueRange blockArgs) {
    IRMapping mapping;
    mapFills(builder, op, mapping);
    for (auto [k, arg] : llvm::enumerate(args))
      mapping.map(arg, blockArgs[k]);
    mapping.map(body.getArguments().back(), blockArgs.back());
    unsigned firstCoordinate = args.size();
    for (Operation &inside : body.without_terminator()) {
      if (&inside == combiner)
        continue;
      auto index = dyn_cast<IndexOp>(inside);
      if (!index) {
        builder.clone(inside, mapping);
        continue;
      }
      Value value;
      if (std::optional<unsigned> row =
              generic.getRowPosition(index.getDim())) {
        unsigned k = std::distance(coordinates.begin(), coordinates.find(*row));
        value = blockArgs[firstCoordinate + k];
      } else {
        unsigned k = llvm::find(inner, index.getDim()) - inner.begin();
        value = linalg::IndexOp::create(builder, l, 1 + k);
        value =
            arith::IndexCastOp::create(builder, l, builder.getI64Type(), value);
      }
      mapping.map(index.getResult(), value);
    }
    Value result = mapping.lookupOrDefault(yielded);
    if (combiner) {
      IRMapping last(mapping);
      result = builder.clone(*combiner, last)->getResult(0);
    }
    linalg::YieldOp::create(builder, l, result);
  };
  return linalg::GenericOp::create(b, op.getLoc(), TypeRange{init.getType()},
                                   values, ValueRange{init}, maps, iterators,
                                   fillBody)
      .getResult(0);
}

void KernelBuilder::emitShared(GenericOp op) {
  b.setInsertionPointToEnd(&kernel.getBody().front());
  loc = op.getLoc();
  Block &body = op.getBody().front();
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> arguments;
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    if (value.getDefiningOp<FillOp>())
      continue;
    values.push_back(getInput(value));
    maps.push_back(op.getInputMap(i));
    arguments.push_back(i);
  }
  maps.push_back(op.getOutputMap(0));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim = 0; dim < op.getDims().size(); ++dim)
    iterators.push_back(op.isReduction(dim) ? utils::IteratorType::reduction
                                            : utils::IteratorType::parallel);
  RankedTensorType type = cast<RankedTensorType>(op.getResult(0).getType());
  Value init =
      isInitUsed(op)
          ? fillTile(type.getShape(),
                     cast<TypedAttr>(
                         op.getInits()[0].getDefiningOp<FillOp>().getValue()))
          : emptyTile(type.getShape(), getScalarType(type.getElementType()));
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{init.getType()}, values, ValueRange{init}, maps,
      iterators, [&](OpBuilder &inner, Location l, ValueRange args) {
        IRMapping mapping;
        mapFills(inner, op, mapping);
        for (auto [k, i] : llvm::enumerate(arguments))
          mapping.map(body.getArgument(i), args[k]);
        mapping.map(body.getArguments().back(), args.back());
        for (Operation &inside : body.without_terminator())
          inner.clone(inside, mapping);
        linalg::YieldOp::create(
            inner, l,
            mapping.lookupOrDefault(body.getTerminator()->getOperand(0)));
      });
  shared[op.getResult(0)] = generic.getResult(0);
}

LogicalResult KernelBuilder::emit(const GenericPlan &generic) {
  GenericOp op = generic.getOp();
  if (op->getNumResults() != 1)
    return op.emitOpError("does not support more than one result in a kernel");
  if (generic.isFold())
    return emitFold(generic);
  b.setInsertionPointToEnd(&kernel.getBody().front());
  loc = op.getLoc();
  LogicalType type = LogicalType::of(op.getResult(0));
  unsigned rowRank = generic.rowDims.size();
  RankedTensorType tileType = getTileType(type, rowRank);
  AffineMap outputMap =
      getOperandMap(generic, {op.getResult(0), op.getOutputMap(0), {}, {}},
                    rowRank, /*hasRow=*/true);

  bool reduces = false;
  for (unsigned dim : getInnerDims(generic))
    reduces |= op.isReduction(dim);
  Value yielded = op.getBody().front().getTerminator()->getOperand(0);
  Operation *combiner = nullptr;
  Value initTile;
  Value init = op.getInits()[0];
  bool usesInit = isInitUsed(op);
  if (auto fill = init.getDefiningOp<FillOp>(); fill && usesInit) {
    initTile = fillTile(tileType.getShape(), cast<TypedAttr>(fill.getValue()));
  } else if (!usesInit || init.getDefiningOp<EmptyOp>()) {
    initTile = emptyTile(tileType.getShape(), tileType.getElementType());
  } else {
    FailureOr<Operand> operand =
        read(generic, {init, op.getOutputMap(0), {}, {}});
    if (failed(operand))
      return failure();
    initTile = operand->value;
  }
  if (reduces) {
    Value element;
    combiner = matchCombiner(op, 0, element);
    if (combiner)
      yielded = element;
  }
  FailureOr<Value> result =
      emitLinalg(generic, yielded, initTile, outputMap, combiner);
  if (failed(result))
    return failure();
  made[op.getResult(0)] = *result;
  return success();
}

LogicalResult KernelBuilder::emitFold(const GenericPlan &generic) {
  GenericOp op = generic.getOp();
  b.setInsertionPointToEnd(&kernel.getBody().front());
  loc = op.getLoc();
  Value element;
  Operation *combiner = matchCombiner(op, 0, element);
  if (!combiner)
    return op.emitOpError(
        "expected a reduction over rows to combine its accumulator "
        "with one value by one op");
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  if (!neutral)
    return op.emitOpError("expected a reduction over rows to combine by an op "
                          "with a neutral element, but got '")
           << combiner->getName() << "'";

  // Within a row: what is combined, with static dims reduced.
  LogicalType type = LogicalType::of(op.getResult(0));
  SmallVector<unsigned> inner = getInnerDims(generic);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs = {b.getAffineDimExpr(0)};
  for (int64_t dim : ArrayRef(type.order).drop_front(generic.groups)) {
    shape.push_back(*type.extents[dim].getConstant());
    unsigned from =
        cast<AffineDimExpr>(op.getOutputMap(0).getResult(dim)).getPosition();
    exprs.push_back(
        b.getAffineDimExpr(1 + (llvm::find(inner, from) - inner.begin())));
  }
  SmallVector<int64_t> tileShape = {tileRows};
  llvm::append_range(tileShape, shape);
  AffineMap outputMap = AffineMap::get(1 + inner.size(), 0, exprs, context);
  bool reduces = inner.size() != shape.size();

  Value tile;
  auto arg = dyn_cast<BlockArgument>(element);
  if (!reduces && arg && arg.getOwner() == &op.getBody().front() &&
      !op.getInputs()[arg.getArgNumber()].getDefiningOp<FillOp>()) {
    FailureOr<Operand> operand = readInput(generic, arg.getArgNumber());
    if (failed(operand))
      return failure();
    // The element itself, at the same place: nothing to compute.
    if (operand->map == outputMap)
      tile = operand->value;
  }
  if (!tile) {
    Value init = reduces
                     ? fillTile(tileShape, *neutral)
                     : emptyTile(tileShape, getScalarType(type.elementType));
    FailureOr<Value> result = emitLinalg(generic, element, init, outputMap,
                                         reduces ? combiner : nullptr);
    if (failed(result))
      return failure();
    tile = *result;
  }

  // What follows where the fold ends.
  SmallVector<GenericOp> chain;
  if (auto it = plan.finalizers.find(op); it != plan.finalizers.end())
    chain = it->second;
  llvm::SetVector<Attribute> extents;
  auto getExtent = [](Value value) -> Attribute {
    if (auto extentOp = value.getDefiningOp<ExtentOp>())
      return extentOp.getExtent();
    if (auto total = value.getDefiningOp<TotalOp>())
      return extent::product(value.getContext(),
                             total.getPartition().getType().getExtents());
    return {};
  };
  for (GenericOp next : chain)
    for (Value input : next.getInputs())
      if (Attribute extent = getExtent(input))
        extents.insert(extent);
  Value last = chain.empty() ? op.getResult(0) : chain.back().getResult(0);
  Type lastType = getScalarType(LogicalType::of(last).elementType);
  SmallVector<Attribute> extentList(extents.getArrayRef());
  auto reduce = TileReduceOp::create(
      b, loc, TypeRange{RankedTensorType::get(shape, lastType)},
      ValueRange{tile}, b.getArrayAttr({*neutral}), b.getArrayAttr(extentList));
  {
    OpBuilder::InsertionGuard guard(b);
    Type element = getScalarType(type.elementType);
    Block *combine =
        b.createBlock(&reduce.getCombine(), {}, {element, element}, {loc, loc});
    IRMapping mapping;
    bool accFirst =
        combiner->getOperand(0) == op.getBody().front().getArguments().back();
    mapping.map(combiner->getOperand(0),
                combine->getArgument(accFirst ? 1 : 0));
    mapping.map(combiner->getOperand(1),
                combine->getArgument(accFirst ? 0 : 1));
    YieldOp::create(b, loc, b.clone(*combiner, mapping)->getResults());

    SmallVector<Type> types = {element};
    types.append(extents.size(), b.getI64Type());
    Block *finalize = b.createBlock(&reduce.getFinalize(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
    Value value = finalize->getArgument(0);
    Value previous = op.getResult(0);
    for (GenericOp next : chain) {
      Block &body = next.getBody().front();
      IRMapping inside;
      auto mapConstant = [&](BlockArgument argument, Value fill) {
        auto number = cast<TypedAttr>(fill.getDefiningOp<FillOp>().getValue());
        Value constant = arith::ConstantOp::create(b, next.getLoc(), number);
        inside.map(argument, constant);
      };
      for (auto [i, input] : llvm::enumerate(next.getInputs())) {
        if (input == previous)
          inside.map(body.getArgument(i), value);
        else if (Attribute extent = getExtent(input))
          inside.map(body.getArgument(i),
                     finalize->getArgument(
                         1 + (llvm::find(extents, extent) - extents.begin())));
        else
          mapConstant(body.getArgument(i), input);
      }
      if (!body.getArguments().back().use_empty())
        mapConstant(body.getArguments().back(), next.getInits()[0]);
      for (Operation &each : body.without_terminator())
        b.clone(each, inside);
      value = inside.lookupOrDefault(body.getTerminator()->getOperand(0));
      previous = next.getResult(0);
    }
    YieldOp::create(b, loc, value);
  }
  made[last] = reduce.getResult(0);
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::collectResults() {
  llvm::SmallPtrSet<Operation *, 16> inside;
  SmallVector<Value> candidates;
  for (const GenericPlan &generic : plan.generics) {
    inside.insert(generic.op);
    auto it = plan.finalizers.find(generic.op);
    if (it == plan.finalizers.end()) {
      llvm::append_range(candidates, generic.getOp().getResults());
      continue;
    }
    inside.insert(it->second.begin(), it->second.end());
    candidates.push_back(it->second.back()->getResult(0));
  }
  SmallVector<Value> results;
  for (Value value : candidates)
    if (llvm::any_of(value.getUsers(),
                     [&](Operation *user) { return !inside.contains(user); }))
      results.push_back(value);
  return results;
}

LogicalResult KernelBuilder::run(StringRef name) {
  int64_t chunkRows = 4096;
  tileRows = chooseTileRows();
  // Sums of matrices add up a tile at a time: which rows a tile has must not
  // depend on the chunk that a call begins with.
  if (llvm::any_of(plan.generics, [](const GenericPlan &generic) {
        return generic.isFold() &&
               LogicalType::of(generic.getOp().getResult(0)).getRank() > 1;
      }))
    chunkRows = llvm::alignTo(chunkRows, tileRows);
  SmallVector<Value> results = collectResults();
  unsigned groups = plan.hasFold ? plan.groups : plan.space.size();
  kernel = KernelOp::create(b, loc, TypeRange(ValueRange(results)), name,
                            makeExtentsAttr(context, plan.space),
                            makePathAttr(context, plan.path), groups,
                            plan.batch ? UnitKind::Chunks : UnitKind::Groups,
                            plan.batch ? chunkRows : 0, tileRows, ValueRange{});
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&kernel.getBody(), {}, {TileType::get(context)}, {loc});
    for (GenericOp op : plan.shared)
      emitShared(op);
    for (const GenericPlan &generic : plan.generics)
      if (failed(emit(generic)))
        return failure();
    b.setInsertionPointToEnd(&kernel.getBody().front());
    SmallVector<Value> yielded;
    for (Value value : results)
      yielded.push_back(made.lookup(value));
    TileYieldOp::create(b, kernel.getLoc(), yielded);
  }
  for (auto [value, result] : llvm::zip_equal(results, kernel.getResults()))
    value.replaceAllUsesExcept(result, kernel);
  return success();
}

LogicalResult nested::ragged::buildKernel(RewriterBase &rewriter, Location loc,
                                          const KernelPlan &plan,
                                          StringRef name,
                                          int64_t largeTileRows) {
  return KernelBuilder(rewriter, loc, plan, largeTileRows).run(name);
}
