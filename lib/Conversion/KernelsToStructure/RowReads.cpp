//===- RowReads.cpp - Rows of memory that a kernel reads ----------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "nested/Conversion/StructureToLoops/Passes.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested::ragged;

bool RowReads::isPacked(KernelOp kernel, TileReadOp read,
                        ScheduleBuilder &schedule) {
  return !schedule.getArgument(getInput(kernel, read.getSource())) &&
         areOwn(kernel, read);
}

bool RowReads::areOwn(KernelOp kernel, TileReadOp read) {
  LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
  if (type.path != toPath(kernel.getPath()) || read.getOffsets() ||
      !read.getStarts().empty())
    return false;
  if (!read.getMap().isIdentity())
    return false;
  // Behind a shorter input there are rows of the next sample.
  SmallVector<ExtentAttr> space = toExtents(kernel.getSpace());
  for (auto [k, dim] :
       llvm::enumerate(ArrayRef(type.order).take_front(space.size())))
    if (type.extents[dim] != space[k])
      return false;
  return true;
}

Value RowReads::getSource(Value source, unsigned rowRank) {
  Value &memref = sources[{source, rowRank}];
  if (memref)
    return memref;
  Value input = getInput(kernel, source);
  LogicalType type = LogicalType::of(input);
  SmallVector<int64_t> rowShape;
  for (int64_t dim : ArrayRef(type.order).drop_front(rowRank))
    rowShape.push_back(*type.extents[dim].getConstant());
  memref = signature.addBuffer(schedule.getBuffer(input), rowShape,
                               type.elementType);
  return memref;
}

Value RowReads::getSource(TileReadOp read) {
  unsigned rowRank = read.getMap().getNumResults();
  Value memref = getSource(read.getSource(), rowRank);
  if (!mayBeOutside(read))
    return memref;
  Value &safe = guarded[{read.getSource(), rowRank}];
  if (safe)
    return safe;
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 1;
  auto zeros = DenseElementsAttr::get(
      RankedTensorType::get(shape, type.getElementType()),
      Builder(loc.getContext()).getZeroAttr(type.getElementType()));
  memref::GlobalOp global = schedule.getConstant(zeros, loc);
  OpBuilder b = OpBuilder::atBlockBegin(signature.getBody());
  Value row = memref::GetGlobalOp::create(b, loc, global.getType(),
                                          global.getSymName());
  row = memref::CastOp::create(b, loc, type, row);
  // Static dims that are rows may have no index at all.
  LogicalType logical = LogicalType::of(getInput(kernel, read.getSource()));
  for (int64_t dim : ArrayRef(logical.order).take_front(rowRank))
    if (logical.extents[dim].getConstant() == 0)
      return safe = row;
  IndexBuilder ib(b, loc);
  Value size = memref::DimOp::create(b, loc, memref, 0);
  Value hasRows = ib.compare(arith::CmpIPredicate::sgt, size, ib.constant(0));
  return safe = ib.select(hasRows, memref, row);
}

void RowReads::markOwnRows(ArrayRef<Value> stored) {
  func::FuncOp func = signature.getFunction();
  auto mark = [&](Value memref) {
    func.setArgAttr(cast<BlockArgument>(memref).getArgNumber(), kOwnRowsAttr,
                    UnitAttr::get(func.getContext()));
  };
  for (auto &[memref, isOwn] : readOwn) {
    if (!isOwn)
      continue;
    for (Value other : stored)
      if (other.getType() == memref.getType()) {
        mark(memref);
        mark(other);
      }
  }
}

LogicalResult RowReads::prepare(TileReadOp read) {
  getSource(read);
  if (schedule.getArgument(getInput(kernel, read.getSource()))) {
    Value memref = getSource(read.getSource(), read.getMap().getNumResults());
    readOwn.insert({memref, true}).first->second &= areOwn(kernel, read);
  }
  for (Value start : read.getStarts()) {
    auto indices = start.getDefiningOp<TileReadOp>();
    if (!indices)
      return read.emitOpError("expected starts that are read from memory");
    getSource(indices);
  }
  if (read.getStarts().empty() || read.getOutside())
    return success();
  std::string where = formatLocation(read.getLoc());
  std::string message =
      "index {value} is out of range (sample {sample}, row {row} of the batch)";
  if (!where.empty())
    message += " at " + where;
  signature.getErrorRecord();
  errors[read] = signature.addError(message);
  return success();
}

LogicalResult RowReads::prepare(TileLookupOp lookup) {
  auto read = lookup.getIndices().getDefiningOp<TileReadOp>();
  if (!read)
    return lookup.emitOpError("expected its indices to be read from memory");
  int64_t size =
      cast<RankedTensorType>(lookup.getTable().getType()).getDimSize(0);
  if (size == 0)
    return lookup.emitOpError("expected a table with at least one row");
  getSource(read);
  std::string where = formatLocation(lookup.getLoc());
  std::string message = "index {value} is out of range for a table of " +
                        std::to_string(size) + " rows (row {row})";
  if (!where.empty())
    message += " at " + where;
  signature.getErrorRecord();
  errors[lookup] = signature.addError(message);
  return success();
}

/// The extent of the rows of a sample of the source.
ExtentAttr RowReads::getRows(TileReadOp read) {
  LogicalType type = LogicalType::of(getInput(kernel, read.getSource()));
  SmallVector<ExtentAttr> extents;
  for (int64_t dim :
       ArrayRef(type.order).take_front(read.getMap().getNumResults()))
    extents.push_back(type.extents[dim]);
  return extent::product(loc.getContext(), extents);
}

/// The value of a subscript.
static Value evaluate(IndexBuilder &ib, AffineExpr expr,
                      ArrayRef<Value> coordinates) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return coordinates[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return ib.constant(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = evaluate(ib, binary.getLHS(), coordinates);
  Value rhs = evaluate(ib, binary.getRHS(), coordinates);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return ib.add(lhs, rhs);
  case AffineExprKind::Mul:
    return ib.mul(lhs, rhs);
  case AffineExprKind::Mod:
    return ib.rem(lhs, rhs);
  default: // Of coordinates, which are not negative.
    return ib.div(lhs, rhs);
  }
}

RowReads::Address RowReads::locate(OpBuilder &b, TileReadOp read,
                                   const RowPosition &position, Value row) {
  if (isPacked(read))
    return {row, {}};
  IndexBuilder ib(b, loc);
  Value input = getInput(kernel, read.getSource());
  LogicalType type = LogicalType::of(input);
  Value sample = coordinates.getParent(b, type.path, position.sample);
  SmallVector<ExtentAttr> space = toExtents(kernel.getSpace());
  ArrayRef<int64_t> startDims =
      read.getStartDims().value_or(ArrayRef<int64_t>());
  Value local = ib.constant(0), inside;
  for (auto [k, expr] : llvm::enumerate(read.getMap().getResults())) {
    ExtentAttr extent = type.extents[type.order[k]];
    Value coordinate = evaluate(ib, expr, position.coordinates);
    ExtentAttr offset = extent::constant(b.getContext(), 0);
    if (read.getOffsets())
      offset = toExtents(*read.getOffsets())[k];
    if (offset.getConstant() != 0)
      coordinate = ib.add(coordinate,
                          coordinates.evaluate(b, offset, coordinates.getPath(),
                                               position.sample));
    const auto *start = llvm::find(startDims, int64_t(k));
    bool hasStart = start != startDims.end();
    Value index;
    if (hasStart) {
      auto indices = read.getStarts()[start - startDims.begin()]
                         .getDefiningOp<TileReadOp>();
      index = loadIndex(b, indices, position, row);
      coordinate =
          ib.add(coordinate,
                 arith::IndexCastOp::create(b, loc, b.getIndexType(), index));
    }
    Value size;
    auto getSize = [&] {
      if (!size)
        size = coordinates.evaluate(b, extent, type.path, sample);
      return size;
    };
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isWhole = dim && offset.getConstant() == 0 && !hasStart &&
                   space[dim.getPosition()] == extent;
    if (mayBeOutside(read) && !isWhole && (read.getOutside() || hasStart)) {
      // Unsigned: a negative coordinate is outside too.
      Value here = ib.compare(arith::CmpIPredicate::ult, coordinate, getSize());
      if (errors.contains(read))
        check(b, read, here, index, position, row);
      inside = inside ? arith::AndIOp::create(b, loc, inside, here).getResult()
                      : here;
    }
    if (k != 0)
      local = ib.mul(local, getSize());
    local = ib.add(local, coordinate);
  }
  Value base = ib.constant(0);
  if (!type.isDense()) {
    if (std::optional<int64_t> arg = schedule.getArgument(input)) {
      // An argument's base counts its own rows; static dims that became rows of
      // the kernel are parts of them.
      base = ib.load(signature.getTable(TableKey::makeBase(*arg, type.path)),
                     sample);
      for (unsigned k = type.getRaggedDims().size();
           k < read.getMap().getNumResults(); ++k)
        base = ib.mul(base,
                      ib.constant(*type.extents[type.order[k]].getConstant()));
    } else {
      base = ib.load(
          signature.getTable(TableKey::makeOffsets(getRows(read), type.path)),
          sample);
    }
  }
  Value result = ib.add(base, local);
  if (inside)
    result = ib.select(inside, result, ib.constant(0));
  return {result, inside};
}

Value RowReads::loadIndex(OpBuilder &b, TileReadOp indices,
                          const RowPosition &position, Value row) {
  Address address = locate(b, indices, position, row);
  Value raw = memref::LoadOp::create(b, loc, getSource(indices), address.row);
  if (!raw.getType().isInteger(64)) {
    LogicalType type = LogicalType::of(getInput(kernel, indices.getSource()));
    if (type.elementType.isUnsignedInteger())
      raw = arith::ExtUIOp::create(b, loc, b.getI64Type(), raw);
    else
      raw = arith::ExtSIOp::create(b, loc, b.getI64Type(), raw);
  }
  if (address.inside) {
    auto outside = cast<IntegerAttr>(indices.getOutsideAttr());
    Value none = arith::ConstantIntOp::create(
        b, loc, outside.getValue().getSExtValue(), 64);
    raw = arith::SelectOp::create(b, loc, address.inside, raw, none);
  }
  return raw;
}

void RowReads::check(OpBuilder &b, Operation *op, Value inside, Value index,
                     const RowPosition &position, Value row) {
  IndexBuilder ib(b, loc);
  Value record = signature.getErrorRecord();
  Value outside = arith::XOrIOp::create(
      b, loc, inside, arith::ConstantIntOp::create(b, loc, 1, 1));
  // The first one that this worker meets is kept.
  Value known =
      memref::LoadOp::create(b, loc, record, ValueRange{ib.constant(0)});
  Value unset =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, known,
                            arith::ConstantIntOp::create(b, loc, 0, 64));
  Value first = arith::AndIOp::create(b, loc, outside, unset);
  scf::IfOp::create(b, loc, first, [&](OpBuilder &then, Location l) {
    IndexBuilder tb(then, l);
    auto store = [&](int64_t word, Value value) {
      memref::StoreOp::create(then, l, value, record,
                              ValueRange{tb.constant(word)});
    };
    store(1, index);
    store(2, tb.toI64(row));
    store(3, tb.toI64(position.sample));
    store(0, arith::ConstantIntOp::create(then, l, errors.lookup(op), 64));
    scf::YieldOp::create(then, l);
  });
}

Value RowReads::lookup(OpBuilder &b, TileLookupOp lookup,
                       const RowPosition &position, Value row) {
  IndexBuilder ib(b, loc);
  auto read = lookup.getIndices().getDefiningOp<TileReadOp>();
  auto table = cast<RankedTensorType>(lookup.getTable().getType());
  Value raw = loadIndex(b, read, position, row);
  Value limit = arith::ConstantIntOp::create(b, loc, table.getDimSize(0), 64);
  // Unsigned: a negative index is out of range too.
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, raw, limit);
  check(b, lookup, inside, raw, position, row);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value safe = arith::SelectOp::create(b, loc, inside, raw, zero);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), safe);
}
