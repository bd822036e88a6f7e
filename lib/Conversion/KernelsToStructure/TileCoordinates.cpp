//===- TileCoordinates.cpp - Coordinates of a kernel's rows -------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace nested::ragged;

//===----------------------------------------------------------------------===//
// IndexBuilder
//===----------------------------------------------------------------------===//

Value IndexBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value IndexBuilder::add(Value x, Value y) {
  if (getConstantIntValue(y) == 0)
    return x;
  if (getConstantIntValue(x) == 0)
    return y;
  return arith::AddIOp::create(b, loc, x, y);
}
Value IndexBuilder::sub(Value x, Value y) {
  if (getConstantIntValue(y) == 0)
    return x;
  return arith::SubIOp::create(b, loc, x, y);
}
Value IndexBuilder::mul(Value x, Value y) {
  if (getConstantIntValue(y) == 1 || getConstantIntValue(x) == 0)
    return x;
  if (getConstantIntValue(x) == 1 || getConstantIntValue(y) == 0)
    return y;
  return arith::MulIOp::create(b, loc, x, y);
}
Value IndexBuilder::div(Value x, Value y) {
  if (getConstantIntValue(y) == 1)
    return x;
  return arith::DivUIOp::create(b, loc, x, y);
}
Value IndexBuilder::rem(Value x, Value y) {
  return arith::RemUIOp::create(b, loc, x, y);
}
Value IndexBuilder::min(Value x, Value y) {
  return arith::MinSIOp::create(b, loc, x, y);
}
Value IndexBuilder::max(Value x, Value y) {
  return arith::MaxSIOp::create(b, loc, x, y);
}
Value IndexBuilder::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}
Value IndexBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value IndexBuilder::load(Value table, Value i) {
  Value value = memref::LoadOp::create(b, loc, table, i);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
}
Value IndexBuilder::toI64(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

Value IndexBuilder::search(Value table, Value x) {
  Value zero = constant(0), one = constant(1), two = constant(2);
  Value size = memref::DimOp::create(b, loc, table, zero);
  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{index, index}, ValueRange{zero, sub(size, one)},
      [&](OpBuilder &body, Location l, ValueRange bounds) {
        IndexBuilder ib(body, l);
        Value more = ib.compare(arith::CmpIPredicate::sgt,
                                ib.sub(bounds[1], bounds[0]), one);
        scf::ConditionOp::create(body, l, more, bounds);
      },
      [&](OpBuilder &body, Location l, ValueRange bounds) {
        IndexBuilder ib(body, l);
        Value middle = ib.div(ib.add(bounds[0], bounds[1]), two);
        Value below =
            ib.compare(arith::CmpIPredicate::sle, ib.load(table, middle), x);
        scf::YieldOp::create(body, l,
                             ValueRange{ib.select(below, middle, bounds[0]),
                                        ib.select(below, bounds[1], middle)});
      });
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// TileCoordinates
//===----------------------------------------------------------------------===//

TileCoordinates::TileCoordinates(KernelOp kernel, KernelSignature &signature)
    : units(kernel.getUnits()), chunk(kernel.getChunk()), signature(signature),
      loc(kernel.getLoc()), space(toExtents(kernel.getSpace())),
      path(toPath(kernel.getPath())),
      groups(kernel.getUnits() == UnitKind::Groups ? kernel.getGroups()
                                                   : space.size()),
      unitRows(extent::product(kernel.getContext(),
                               ArrayRef(space).drop_front(groups))) {}

TileCoordinates::TileCoordinates(Location loc, ArrayRef<ExtentAttr> space,
                                 ArrayRef<StringAttr> path,
                                 KernelSignature &signature)
    : units(UnitKind::Groups), chunk(0), signature(signature), loc(loc),
      space(space), path(path), groups(space.size()),
      unitRows(extent::constant(loc.getContext(), 1)) {}

TableKey TileCoordinates::getRowTable() const {
  return TableKey::makeOffsets(extent::product(loc.getContext(), space), path);
}

std::optional<TableKey> TileCoordinates::getUnitTable() const {
  if (groups == 0)
    return std::nullopt;
  return TableKey::makeOffsets(
      extent::product(loc.getContext(), ArrayRef(space).take_front(groups)),
      path);
}

Value TileCoordinates::getParent(OpBuilder &b, ArrayRef<StringAttr> prefix,
                                 Value sample) {
  return signature.getParent(b, loc, path, prefix, sample);
}

Value TileCoordinates::evaluate(OpBuilder &b, ExtentAttr extent,
                                ArrayRef<StringAttr> over, Value sample) {
  return signature.evaluate(b, loc, extent, over, sample);
}

Value TileCoordinates::getExtent(OpBuilder &b, unsigned dim, Value sample) {
  return evaluate(b, space[dim], path, sample);
}

std::pair<Value, Value> TileCoordinates::getRowRange(OpBuilder &b) {
  IndexBuilder ib(b, loc);
  Value begin = signature.getBegin(), end = signature.getEnd();
  if (units == UnitKind::Chunks) {
    Value size = ib.constant(chunk);
    Value total = signature.getTotal(getRowTable());
    return {ib.mul(begin, size), ib.min(ib.mul(end, size), total)};
  }
  if (groups == space.size() && groups != 0)
    return {begin, end};
  Value rows = signature.getTable(getRowTable());
  if (groups == 0) // A sample is a unit.
    return {ib.load(rows, begin), ib.load(rows, end)};
  Value unitTable = signature.getTable(*getUnitTable());
  auto rowOf = [&](Value sample, Value unit) {
    Value local = ib.sub(unit, ib.load(unitTable, sample));
    return ib.add(ib.load(rows, sample),
                  ib.mul(local, evaluate(b, unitRows, path, sample)));
  };
  // The end lies in the sample of the last unit: the next one may have other
  // sizes.
  Value first = rowOf(ib.search(unitTable, begin), begin);
  Value last = rowOf(ib.search(unitTable, ib.sub(end, ib.constant(1))), end);
  return {first, last};
}

RowPosition TileCoordinates::locate(OpBuilder &b, Value row) {
  IndexBuilder ib(b, loc);
  RowPosition position;
  Value rows = signature.getTable(getRowTable());
  position.sample = ib.search(rows, row);
  if (space.empty())
    return position;
  // From the innermost coordinate outwards. An extent of 0 occurs when there is
  // no such row: then any coordinate will do, but not a division by 0.
  Value rest = ib.sub(row, ib.load(rows, position.sample));
  position.coordinates.resize(space.size());
  for (unsigned dim = space.size(); dim-- > 1;) {
    Value size = ib.max(getExtent(b, dim, position.sample), ib.constant(1));
    position.coordinates[dim] = ib.rem(rest, size);
    rest = ib.div(rest, size);
  }
  position.coordinates[0] = rest;
  return position;
}

RowPosition TileCoordinates::advance(OpBuilder &b, const RowPosition &position,
                                     Value row, Value lastRow,
                                     Value &unitEnds) {
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0), one = ib.constant(1);
  Value carry = arith::ConstantIntOp::create(b, loc, 1, 1);
  RowPosition next(position);
  unitEnds = carry;
  for (unsigned dim = space.size(); dim-- > 0;) {
    Value stepped =
        ib.add(position.coordinates[dim],
               arith::IndexCastUIOp::create(b, loc, b.getIndexType(), carry));
    Value wraps = ib.compare(arith::CmpIPredicate::eq, stepped,
                             getExtent(b, dim, position.sample));
    next.coordinates[dim] = ib.select(wraps, zero, stepped);
    carry = wraps;
    if (dim == groups)
      unitEnds = carry;
  }
  // Past the sample: on to the next one that has rows, if there is one.
  Value following = ib.add(row, one);
  Value more = ib.compare(arith::CmpIPredicate::slt, following, lastRow);
  Value leaves = arith::AndIOp::create(b, loc, carry, more);
  Value rows = signature.getTable(getRowTable());
  auto skip = scf::IfOp::create(
      b, loc, leaves,
      [&](OpBuilder &then, Location l) {
        IndexBuilder tb(then, l);
        Type index = then.getIndexType();
        auto loop = scf::WhileOp::create(
            then, l, TypeRange{index}, ValueRange{tb.add(position.sample, one)},
            [&](OpBuilder &body, Location at, ValueRange args) {
              IndexBuilder wb(body, at);
              Value end = wb.load(rows, wb.add(args[0], one));
              scf::ConditionOp::create(
                  body, at,
                  wb.compare(arith::CmpIPredicate::sle, end, following), args);
            },
            [&](OpBuilder &body, Location at, ValueRange args) {
              IndexBuilder wb(body, at);
              scf::YieldOp::create(body, at, ValueRange{wb.add(args[0], one)});
            });
        scf::YieldOp::create(then, l, loop.getResults());
      },
      [&](OpBuilder &otherwise, Location l) {
        scf::YieldOp::create(otherwise, l, ValueRange{position.sample});
      });
  next.sample = skip.getResult(0);
  return next;
}

Value TileCoordinates::getUnit(OpBuilder &b, const RowPosition &position) {
  IndexBuilder ib(b, loc);
  if (groups == 0)
    return position.sample;
  Value unit = position.coordinates[0];
  for (unsigned dim = 1; dim < groups; ++dim)
    unit = ib.add(ib.mul(unit, getExtent(b, dim, position.sample)),
                  position.coordinates[dim]);
  return ib.add(ib.load(signature.getTable(*getUnitTable()), position.sample),
                unit);
}
