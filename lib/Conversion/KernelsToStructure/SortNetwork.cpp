//===- SortNetwork.cpp - Columns sorted side by side ----------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Rows of a block of columns are loaded, turned into records and put into
//    scratch memory, a cache line each.
// 2. Batcher's merge exchange, which takes any length: for p falling from the
//    largest power of 2 below the length, passes that compare rows i and i + d.
// 3. Records are turned back, or elements copied by the index below each.
//
//===----------------------------------------------------------------------===//

#include "SortNetwork.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nested::ragged;

static constexpr int64_t kRowBytes = 64;

SortNetwork::SortNetwork(SortOp op, LoopKernel &kernel,
                         const LoopOperand &source,
                         const std::optional<LoopOperand> &sorted,
                         const std::optional<LoopOperand> &indices,
                         unsigned keyBits)
    : op(op), source(source), sorted(sorted), indices(indices),
      keyBits(std::max(32u, keyBits)) {
  // Indices of long keys would need records of two words.
  if (isIndexed() && keyBits > 32)
    return;
  ExtentAttr columns =
      DimSplit(LogicalType::of(op.getSource()), op.getDim()).inner;
  width = kRowBytes / (isIndexed() ? 8 : this->keyBits / 8);
  if (std::optional<int64_t> count = columns.getConstant();
      count && *count < width) {
    width = 0;
    return;
  }
  auto addRecords = [&](unsigned bits) {
    return kernel.addScratch(
        MemRefType::get({kLongest * kRowBytes * 8 / bits},
                        IntegerType::get(op.getContext(), bits)));
  };
  if (!isIndexed())
    direct = addRecords(this->keyBits);
  if (isIndexed() || (keyBits <= 32 && isa<FloatType>(source.type.elementType)))
    indexed = addRecords(64);
}

Value SortNetwork::splat(OpBuilder &b, Location loc, uint64_t value,
                         int64_t lanes, unsigned bits) {
  auto type = VectorType::get({lanes}, b.getIntegerType(bits));
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, APInt(bits, value, false, true)));
}

/// Elements as floats that are as wide as keys.
static Value widenFloats(OpBuilder &b, Location loc, Value elements,
                         unsigned bits) {
  auto type = cast<VectorType>(elements.getType());
  Type wide = bits == 64 ? Type(b.getF64Type()) : Type(b.getF32Type());
  if (type.getElementType() == wide)
    return elements;
  return arith::ExtFOp::create(b, loc, type.clone(wide), elements);
}

/// Negative floats fall with their bits: those below the sign turn around.
static Value turnNegative(OpBuilder &b, Location loc, Value bits, Value shift,
                          Value magnitude) {
  Value sign = arith::ShRSIOp::create(b, loc, bits, shift);
  Value flips = arith::AndIOp::create(b, loc, sign, magnitude);
  return arith::XOrIOp::create(b, loc, bits, flips);
}

Value SortNetwork::makeDirect(OpBuilder &b, Location loc, Value elements) {
  auto type = cast<VectorType>(elements.getType());
  int64_t lanes = type.getNumElements();
  VectorType keyType = type.clone(b.getIntegerType(keyBits));
  Value key = elements;
  if (isa<FloatType>(type.getElementType())) {
    Value bits = arith::BitcastOp::create(
        b, loc, keyType, widenFloats(b, loc, elements, keyBits));
    key = turnNegative(b, loc, bits, splat(b, loc, keyBits - 1, lanes, keyBits),
                       splat(b, loc,
                             llvm::maskTrailingOnes<uint64_t>(keyBits - 1),
                             lanes, keyBits));
  } else if (type.getElementTypeBitWidth() < keyBits) {
    if (source.type.elementType.isUnsignedInteger() ||
        type.getElementType().isInteger(1))
      key = arith::ExtUIOp::create(b, loc, keyType, key);
    else
      key = arith::ExtSIOp::create(b, loc, keyType, key);
  } else if (source.type.elementType.isUnsignedInteger()) {
    key = arith::XOrIOp::create(
        b, loc, key,
        splat(b, loc, uint64_t(1) << (keyBits - 1), lanes, keyBits));
  }
  if (op.getDescending())
    key = arith::XOrIOp::create(b, loc, key,
                                splat(b, loc, ~uint64_t(0), lanes, keyBits));
  return key;
}

Value SortNetwork::fromDirect(OpBuilder &b, Location loc, Value records) {
  auto type = cast<VectorType>(records.getType());
  int64_t lanes = type.getNumElements();
  Type element = getScalarType(source.type.elementType);
  Value key = records;
  if (op.getDescending())
    key = arith::XOrIOp::create(b, loc, key,
                                splat(b, loc, ~uint64_t(0), lanes, keyBits));
  if (isa<FloatType>(element)) {
    Value bits = turnNegative(
        b, loc, key, splat(b, loc, keyBits - 1, lanes, keyBits),
        splat(b, loc, llvm::maskTrailingOnes<uint64_t>(keyBits - 1), lanes,
              keyBits));
    Type wide = keyBits == 64 ? Type(b.getF64Type()) : Type(b.getF32Type());
    Value number = arith::BitcastOp::create(b, loc, type.clone(wide), bits);
    if (wide == element)
      return number;
    // They were widened: nothing is rounded.
    return arith::TruncFOp::create(b, loc, type.clone(element), number);
  }
  if (element.getIntOrFloatBitWidth() < keyBits)
    return arith::TruncIOp::create(b, loc, type.clone(element), key);
  if (source.type.elementType.isUnsignedInteger())
    return arith::XOrIOp::create(
        b, loc, key,
        splat(b, loc, uint64_t(1) << (keyBits - 1), lanes, keyBits));
  return key;
}

Value SortNetwork::isAwkward(OpBuilder &b, Location loc, Value elements) {
  auto type = cast<VectorType>(elements.getType());
  if (!isa<FloatType>(type.getElementType()))
    return {};
  int64_t lanes = type.getNumElements();
  Value wide = widenFloats(b, loc, elements, keyBits);
  Value isNan =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, wide, wide);
  Value bits = arith::BitcastOp::create(
      b, loc, type.clone(b.getIntegerType(keyBits)), wide);
  Value isMinusZero = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq, bits,
      splat(b, loc, uint64_t(1) << (keyBits - 1), lanes, keyBits));
  return arith::ExtUIOp::create(
      b, loc, bits.getType(), arith::OrIOp::create(b, loc, isNan, isMinusZero));
}

Value SortNetwork::makeIndexed(OpBuilder &b, Location loc, Value elements,
                               Value index) {
  auto type = cast<VectorType>(elements.getType());
  int64_t lanes = type.getNumElements();
  if (isa<FloatType>(type.getElementType())) {
    // -0 + 0 is 0; all NaN are one, and greater than all numbers.
    Value wide = widenFloats(b, loc, elements, keyBits);
    auto wideType = cast<VectorType>(wide.getType());
    Value isNan =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, wide, wide);
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(wideType));
    Value nan = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            wideType, b.getFloatAttr(wideType.getElementType(),
                                     std::numeric_limits<double>::quiet_NaN())
                          .getValue()));
    elements = arith::SelectOp::create(
        b, loc, isNan, nan, arith::AddFOp::create(b, loc, wide, zero));
  }
  Value key = makeDirect(b, loc, elements);
  VectorType recordType = type.clone(b.getI64Type());
  Value high = arith::ShLIOp::create(
      b, loc, arith::ExtSIOp::create(b, loc, recordType, key),
      splat(b, loc, 32, lanes, 64));
  Value low = vector::BroadcastOp::create(b, loc, recordType,
                                          IndexBuilder(b, loc).toI64(index));
  return arith::OrIOp::create(b, loc, high, low);
}

/// Batcher's merge exchange (Knuth, 5.2.2, algorithm M).
void SortNetwork::exchangeAll(OpBuilder &b, Location loc, Value records,
                              VectorType type, Value length) {
  IndexBuilder ib(b, loc);
  Type index = b.getIndexType();
  Value zero = ib.constant(0), one = ib.constant(1), two = ib.constant(2);
  Value lanes = ib.constant(type.getNumElements());
  auto exchange = [&](OpBuilder &at, Location l, Value i, Value d) {
    IndexBuilder xb(at, l);
    Value low = xb.mul(i, lanes), high = xb.mul(xb.add(i, d), lanes);
    Value x = vector::LoadOp::create(at, l, type, records, low);
    Value y = vector::LoadOp::create(at, l, type, records, high);
    vector::StoreOp::create(at, l, arith::MinSIOp::create(at, l, x, y), records,
                            low);
    vector::StoreOp::create(at, l, arith::MaxSIOp::create(at, l, x, y), records,
                            high);
  };
  // Rows i with `i & p == r`, with those that are d further on.
  auto emitPass = [&](OpBuilder &at, Location l, Value p, Value r, Value d) {
    IndexBuilder pb(at, l);
    Value end = pb.sub(length, d);
    Value step = pb.mul(p, two);
    Value isOne = pb.compare(arith::CmpIPredicate::eq, p, one);
    scf::IfOp::create(
        at, l, isOne,
        [&](OpBuilder &then, Location tl) {
          scf::ForOp::create(
              then, tl, r, end, two, ValueRange(),
              [&](OpBuilder &inner, Location il, Value i, ValueRange) {
                exchange(inner, il, i, d);
                scf::YieldOp::create(inner, il);
              });
          scf::YieldOp::create(then, tl);
        },
        [&](OpBuilder &otherwise, Location ol) {
          scf::ForOp::create(
              otherwise, ol, r, end, step, ValueRange(),
              [&](OpBuilder &outer, Location il, Value base, ValueRange) {
                IndexBuilder bb(outer, il);
                scf::ForOp::create(
                    outer, il, base, bb.min(bb.add(base, p), end), one,
                    ValueRange(),
                    [&](OpBuilder &inner, Location xl, Value i, ValueRange) {
                      exchange(inner, xl, i, d);
                      scf::YieldOp::create(inner, xl);
                    });
                scf::YieldOp::create(outer, il);
              });
          scf::YieldOp::create(otherwise, ol);
        });
  };
  // The largest power of 2 below the length.
  auto largest = scf::WhileOp::create(
      b, loc, TypeRange{index}, ValueRange{one},
      [&](OpBuilder &body, Location l, ValueRange p) {
        IndexBuilder wb(body, l);
        scf::ConditionOp::create(
            body, l,
            wb.compare(arith::CmpIPredicate::slt, wb.mul(p[0], two), length),
            p);
      },
      [&](OpBuilder &body, Location l, ValueRange p) {
        scf::YieldOp::create(body, l,
                             ValueRange{IndexBuilder(body, l).mul(p[0], two)});
      });
  Value top = largest.getResult(0);
  scf::WhileOp::create(
      b, loc, TypeRange{index}, ValueRange{top},
      [&](OpBuilder &body, Location l, ValueRange p) {
        scf::ConditionOp::create(body, l,
                                 IndexBuilder(body, l).compare(
                                     arith::CmpIPredicate::sgt, p[0], zero),
                                 p);
      },
      [&](OpBuilder &body, Location l, ValueRange args) {
        IndexBuilder wb(body, l);
        Value p = args[0];
        // q, r, d; ends after the pass with q = p.
        scf::WhileOp::create(
            body, l, TypeRange{index, index, index}, ValueRange{top, zero, p},
            [&](OpBuilder &inner, Location il, ValueRange state) {
              IndexBuilder sb(inner, il);
              emitPass(inner, il, p, state[1], state[2]);
              scf::ConditionOp::create(
                  inner, il, sb.compare(arith::CmpIPredicate::ne, state[0], p),
                  state);
            },
            [&](OpBuilder &inner, Location il, ValueRange state) {
              IndexBuilder sb(inner, il);
              scf::YieldOp::create(
                  inner, il,
                  ValueRange{sb.div(state[0], two), p, sb.sub(state[0], p)});
            });
        scf::YieldOp::create(body, l, ValueRange{wb.div(p, two)});
      });
}

void SortNetwork::sortIndexed(OpBuilder &b, Location loc,
                              const SortGroup &group) {
  IndexBuilder ib(b, loc);
  int64_t lanes = kRowBytes / 8;
  auto type = VectorType::get({lanes}, b.getI64Type());
  Value zero = ib.constant(0), one = ib.constant(1);
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value row, ValueRange) {
        IndexBuilder rb(inner, l);
        Value elements = LoopKernel::load(
            inner, l, source, rb.add(group.source, rb.mul(row, group.stride)),
            lanes);
        vector::StoreOp::create(inner, l, makeIndexed(inner, l, elements, row),
                                indexed, rb.mul(row, rb.constant(lanes)));
        scf::YieldOp::create(inner, l);
      });
  exchangeAll(b, loc, indexed, type, group.length);
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value row, ValueRange) {
        IndexBuilder rb(inner, l);
        Value first = rb.mul(row, rb.constant(lanes));
        Value offset = rb.mul(row, group.stride);
        Value mask = splat(inner, l, 0xffffffff, lanes, 64);
        Value from = arith::AndIOp::create(
            inner, l, vector::LoadOp::create(inner, l, type, indexed, first),
            mask);
        if (indices)
          LoopKernel::store(inner, l, from, *indices,
                            rb.add(group.indices, offset));
        for (int64_t lane = 0; sorted && lane < lanes; ++lane) {
          Value column = rb.constant(lane);
          Value record = arith::AndIOp::create(
              inner, l,
              memref::LoadOp::create(inner, l, indexed, rb.add(first, column)),
              arith::ConstantIntOp::create(inner, l, 0xffffffff, 64));
          Value place = rb.mul(arith::IndexCastOp::create(
                                   inner, l, inner.getIndexType(), record),
                               group.stride);
          Value element = LoopKernel::load(
              inner, l, source, rb.add(rb.add(group.source, column), place));
          LoopKernel::store(inner, l, element, *sorted,
                            rb.add(rb.add(group.sorted, column), offset));
        }
        scf::YieldOp::create(inner, l);
      });
}

void SortNetwork::emitBlock(
    OpBuilder &b, Location loc, const SortGroup &group,
    function_ref<void(OpBuilder &, Location, Value)> oneByOne) {
  if (isIndexed())
    return sortIndexed(b, loc, group);
  IndexBuilder ib(b, loc);
  auto type = VectorType::get({width}, b.getIntegerType(keyBits));
  Value zero = ib.constant(0), one = ib.constant(1);
  bool checks = isa<FloatType>(source.type.elementType);
  SmallVector<Value> state;
  if (checks)
    state.push_back(splat(b, loc, 0, width, keyBits));
  auto load = scf::ForOp::create(
      b, loc, zero, group.length, one, state,
      [&](OpBuilder &inner, Location l, Value row, ValueRange found) {
        IndexBuilder rb(inner, l);
        Value elements = LoopKernel::load(
            inner, l, source, rb.add(group.source, rb.mul(row, group.stride)),
            width);
        vector::StoreOp::create(inner, l, makeDirect(inner, l, elements),
                                direct, rb.mul(row, rb.constant(width)));
        SmallVector<Value> next;
        if (checks)
          next.push_back(arith::OrIOp::create(inner, l, found[0],
                                              isAwkward(inner, l, elements)));
        scf::YieldOp::create(inner, l, next);
      });
  auto sortDirect = [&](OpBuilder &at, Location l) {
    exchangeAll(at, l, direct, type, group.length);
    scf::ForOp::create(
        at, l, zero, group.length, one, ValueRange(),
        [&](OpBuilder &inner, Location il, Value row, ValueRange) {
          IndexBuilder rb(inner, il);
          Value records = vector::LoadOp::create(
              inner, il, type, direct, rb.mul(row, rb.constant(width)));
          LoopKernel::store(inner, il, fromDirect(inner, il, records), *sorted,
                            rb.add(group.sorted, rb.mul(row, group.stride)));
          scf::YieldOp::create(inner, il);
        });
  };
  if (!checks)
    return sortDirect(b, loc);
  Value found = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR,
                                            load.getResult(0));
  Value none =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, found,
                            arith::ConstantIntOp::create(b, loc, 0, keyBits));
  scf::IfOp::create(
      b, loc, none,
      [&](OpBuilder &then, Location l) {
        sortDirect(then, l);
        scf::YieldOp::create(then, l);
      },
      [&](OpBuilder &otherwise, Location l) {
        IndexBuilder ob(otherwise, l);
        int64_t lanes = indexed ? kRowBytes / 8 : 1;
        scf::ForOp::create(
            otherwise, l, zero, ob.constant(width), ob.constant(lanes),
            ValueRange(),
            [&](OpBuilder &inner, Location il, Value column, ValueRange) {
              if (indexed) {
                IndexBuilder cb(inner, il);
                SortGroup part(group);
                part.source = cb.add(part.source, column);
                part.sorted = cb.add(part.sorted, column);
                sortIndexed(inner, il, part);
              } else {
                oneByOne(inner, il, column);
              }
              scf::YieldOp::create(inner, il);
            });
        scf::YieldOp::create(otherwise, l);
      });
}
