//===- KernelSignature.cpp - Arguments of a kernel function ------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

KernelSignature::KernelSignature(OpBuilder &b, Location loc, StringRef name,
                                 ScheduleBuilder &schedule)
    : loc(loc), schedule(schedule) {
  func = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  func->setAttr(kKernelAttr, b.getUnitAttr());
  Block *body = func.addEntryBlock();
  begin = body->addArgument(b.getIndexType(), loc);
  end = body->addArgument(b.getIndexType(), loc);
}

Value KernelSignature::insertMemref(Value operand, Type type) {
  Value arg = getBody()->insertArgument(memrefOperands.size(), type, loc);
  memrefOperands.push_back(operand);
  return arg;
}

Value KernelSignature::getTable(const TableKey &key) {
  for (auto &[known, value] : tables)
    if (known == key)
      return value;
  auto type = MemRefType::get({ShapedType::kDynamic},
                              IntegerType::get(loc.getContext(), 64));
  Value value = insertMemref(schedule.getTable(key), type);
  tables.push_back({key, value});
  return value;
}

Value KernelSignature::addBuffer(Value buffer, ArrayRef<int64_t> rowShape,
                                 Type elementType) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, rowShape);
  return insertMemref(buffer,
                      MemRefType::get(shape, getStorageType(elementType)));
}

Value KernelSignature::addDense(Value buffer, ArrayRef<int64_t> shape,
                                Type elementType) {
  return insertMemref(buffer,
                      MemRefType::get(shape, getStorageType(elementType)));
}

Value KernelSignature::getErrorRecord() {
  if (!errorRecord) {
    // The last memref; what is asked for later is inserted before it.
    auto type = MemRefType::get({ShapedType::kDynamic},
                                IntegerType::get(loc.getContext(), 64));
    errorRecord = getBody()->insertArgument(memrefOperands.size(), type, loc);
  }
  return errorRecord;
}

Value KernelSignature::getTotal(const TableKey &key) {
  for (auto &[known, value] : totals)
    if (known == key)
      return value;
  unsigned position =
      memrefOperands.size() + (errorRecord ? 1 : 0) + totals.size();
  Value value = getBody()->insertArgument(
      position, IndexType::get(loc.getContext()), loc);
  scalarOperands.push_back(schedule.getTable(key));
  totals.push_back({key, value});
  return value;
}

Value KernelSignature::evaluate(OpBuilder &b, Location at, ExtentAttr extent,
                                ArrayRef<StringAttr> path, Value sample) {
  IndexBuilder ib(b, at);
  if (std::optional<int64_t> value = extent.getConstant())
    return ib.constant(*value);
  return ib.load(getTable(TableKey::makeExtent(extent, path)), sample);
}

Value KernelSignature::getParent(OpBuilder &b, Location at,
                                 ArrayRef<StringAttr> path,
                                 ArrayRef<StringAttr> prefix, Value sample) {
  IndexBuilder ib(b, at);
  if (prefix.empty())
    return ib.constant(0);
  for (size_t size = path.size(); size > prefix.size(); --size)
    sample =
        ib.load(getTable(TableKey::makeParent(path.take_front(size))), sample);
  return sample;
}

int64_t KernelSignature::addError(StringRef message) {
  errors.push_back(message.str());
  return errors.size();
}

void KernelSignature::recordErrorUnless(OpBuilder &b, Location at, Value isFine,
                                        int64_t number, Value value, Value row,
                                        Value sample) {
  IndexBuilder ib(b, at);
  Value record = getErrorRecord();
  auto constant = [&](int64_t i) -> Value {
    return arith::ConstantIntOp::create(b, at, i, 64);
  };
  Value known =
      memref::LoadOp::create(b, at, record, ValueRange{ib.constant(0)});
  Value isUnset = ib.compare(arith::CmpIPredicate::eq, known, constant(0));
  Value isWrong = arith::XOrIOp::create(
      b, at, isFine, arith::ConstantIntOp::create(b, at, 1, 1));
  Value isFirst = arith::AndIOp::create(b, at, isWrong, isUnset);
  scf::IfOp::create(b, at, isFirst, [&](OpBuilder &then, Location l) {
    IndexBuilder tb(then, l);
    Value message = arith::ConstantIntOp::create(then, l, number, 64);
    Value words[] = {message, value, tb.toI64(row), tb.toI64(sample)};
    for (auto [i, word] : llvm::enumerate(words))
      memref::StoreOp::create(then, l, word, record,
                              ValueRange{tb.constant(i)});
    scf::YieldOp::create(then, l);
  });
}

ArrayAttr KernelSignature::getErrors(Builder &builder) const {
  if (errors.empty())
    return {};
  SmallVector<StringRef> texts(errors.begin(), errors.end());
  return builder.getStrArrayAttr(texts);
}

void KernelSignature::forSamples(OpBuilder &b, Location loc,
                                 const std::optional<TableKey> &units,
                                 SampleBody body) {
  IndexBuilder ib(b, loc);
  Value one = ib.constant(1), zero = ib.constant(0);
  Value table, first = begin, last = end;
  if (units) {
    table = getTable(*units);
    first = ib.search(table, begin);
    last = ib.add(ib.search(table, ib.sub(end, one)), one);
  }
  scf::ForOp::create(
      b, loc, first, last, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value sample, ValueRange) {
        if (units) {
          IndexBuilder sb(inner, l);
          Value offset = sb.load(table, sample);
          Value from = sb.sub(sb.max(offset, begin), offset);
          Value next = sb.load(table, sb.add(sample, one));
          body(inner, sample, offset, from, sb.sub(sb.min(next, end), offset));
        } else {
          body(inner, sample, sample, zero, one);
        }
        scf::YieldOp::create(inner, l);
      });
}

void KernelSignature::finish() {
  OpBuilder b(loc.getContext());
  b.setInsertionPointToEnd(getBody());
  func::ReturnOp::create(b, loc);
  func.setFunctionType(b.getFunctionType(getBody()->getArgumentTypes(), {}));
}
