//===- SortKernels.cpp - Kernels of sort ----------------------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group is what one index of the other dims leaves: n elements, a stride
// apart.
//
// 1. Each element becomes a key, an unsigned integer whose order is that of the
//    elements (NaN is the greatest, 0 and -0 are one), inverted for falling
//    order. A key of up to 32 bits makes one 64-bit record with the element's
//    index below it; records are distinct, so that any way to sort them is
//    stable. Keys of 64 bits have their indices beside them.
// 2. Neighbouring groups of moderate length are sorted side by side, by a
//    network (SortNetwork.h). What follows is for the columns that are left and
//    for longer ones.
// 3. A short group is sorted by rank: how many records are less than this one,
//    eight at a time, without branches. Records are in scratch memory.
// 4. A long one is sorted by radix, eight bits at a time from the lowest, which
//    is stable by itself. All digits are counted in one pass; digits that are
//    the same in all records are passed over. Records move between two halves
//    of a temporary.
// 5. Elements are copied from the source by index, so that every bit of them
//    stays, signs of zeros and payloads of NaN included.
//
//===----------------------------------------------------------------------===//

#include "SortNetwork.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nested::ragged;

/// Longest group that is sorted by rank; about where radix becomes cheaper.
static constexpr int64_t kShort = 64;
static constexpr int64_t kLanes = 8;
static constexpr int64_t kDigits = 256;

namespace {
class SortEmitter {
public:
  SortEmitter(SortOp op, LoopKernel &kernel, Value records, Value positions,
              const LogicalType &recordType);
  void run();
  LoopCost getCost();

private:
  using Group = SortGroup;
  static bool isPacked(unsigned keyBits) { return keyBits <= 32; }

  Value makeInt(OpBuilder &b, Location loc, uint64_t value, unsigned bits = 64);
  Value makeKey(OpBuilder &b, Location loc, Value element);
  Value makeRecord(OpBuilder &b, Location loc, Value key, Value index);
  Value loadElement(OpBuilder &b, Location loc, const Group &group, Value k);
  /// The `from`th element of the source is the `to`th one in order.
  void place(OpBuilder &b, Location loc, const Group &group, Value from,
             Value to);
  void sortByRank(OpBuilder &b, Location loc, const Group &group);
  void sortByRadix(OpBuilder &b, Location loc, const Group &group);
  Value getDigit(OpBuilder &b, Location loc, Value record, Value shift);
  void countDigits(OpBuilder &b, Location loc, const Group &group);
  /// Moves the records from one half to the other by one digit.
  void moveRecords(OpBuilder &b, Location loc, const Group &group, Value from,
                   Value to, Value row, Value shift);
  void emitGroup(OpBuilder &b, Location loc, const Group &group);

  SortOp op;
  LoopKernel &kernel;
  DimSplit split;
  LoopOperand source;
  std::optional<LoopOperand> sorted, indices;
  LoopOperand records;
  std::optional<LoopOperand> positions;
  Value shortRecords, counts;
  unsigned keyBits;
  int64_t numDigits;
  std::optional<SortNetwork> network;
  int64_t tooLong = 0;
};
} // namespace

/// Bits of the keys of elements of a type.
static unsigned getKeyBits(Type type) {
  if (isa<Float16Type, BFloat16Type>(type))
    return 32;
  return std::max(8u, type.getIntOrFloatBitWidth());
}

SortEmitter::SortEmitter(SortOp op, LoopKernel &kernel, Value recordBuffer,
                         Value positionBuffer, const LogicalType &recordType)
    : op(op), kernel(kernel),
      split(LogicalType::of(op.getSource()), op.getDim()),
      source(kernel.addValue(op.getSource())),
      keyBits(getKeyBits(source.type.elementType)), numDigits(keyBits / 8) {
  if (!op.getSorted().use_empty())
    sorted = kernel.addValue(op.getSorted());
  if (!op.getIndices().use_empty())
    indices = kernel.addValue(op.getIndices());
  records = kernel.addTemp(recordBuffer, recordType);
  if (positionBuffer)
    positions = kernel.addTemp(positionBuffer, recordType);
  Type i64 = IntegerType::get(op.getContext(), 64);
  // A vector is stored behind the last record.
  shortRecords = kernel.addScratch(MemRefType::get({kShort + kLanes}, i64));
  counts = kernel.addScratch(MemRefType::get({numDigits * kDigits}, i64));
  network.emplace(op, kernel, source, sorted, indices, keyBits);
  if (isPacked(keyBits))
    tooLong = kernel.getSignature().addError(
        "sort: {value} elements along one dim are too many; expected at most "
        "4294967295 (sample {sample})");
}

Value SortEmitter::makeInt(OpBuilder &b, Location loc, uint64_t value,
                           unsigned bits) {
  return arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(b.getIntegerType(bits),
                       APInt(bits, value, false, true)));
}

Value SortEmitter::makeKey(OpBuilder &b, Location loc, Value element) {
  Type intType = b.getIntegerType(keyBits);
  uint64_t signBit = uint64_t(1) << (keyBits - 1);
  Value key;
  if (isa<FloatType>(element.getType())) {
    Type wide = keyBits == 64 ? Type(b.getF64Type()) : Type(b.getF32Type());
    if (element.getType() != wide)
      element = arith::ExtFOp::create(b, loc, wide, element);
    // -0 + 0 is 0; other numbers stay.
    Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(wide, 0));
    Value bits = arith::BitcastOp::create(
        b, loc, intType, arith::AddFOp::create(b, loc, element, zero));
    // Negative numbers fall with their bits: all of these turn around.
    Value sign = arith::ShRSIOp::create(b, loc, bits,
                                        makeInt(b, loc, keyBits - 1, keyBits));
    Value flips =
        arith::OrIOp::create(b, loc, sign, makeInt(b, loc, signBit, keyBits));
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                        element, element);
    key = arith::SelectOp::create(b, loc, isNan,
                                  makeInt(b, loc, ~uint64_t(0), keyBits),
                                  arith::XOrIOp::create(b, loc, bits, flips));
  } else if (element.getType().isInteger(1)) {
    key = arith::ExtUIOp::create(b, loc, intType, element);
  } else if (source.type.elementType.isUnsignedInteger()) {
    key = element;
  } else {
    key = arith::XOrIOp::create(b, loc, element,
                                makeInt(b, loc, signBit, keyBits));
  }
  if (op.getDescending())
    key = arith::XOrIOp::create(b, loc, key,
                                makeInt(b, loc, ~uint64_t(0), keyBits));
  return keyBits == 64
             ? key
             : arith::ExtUIOp::create(b, loc, b.getI64Type(), key).getResult();
}

Value SortEmitter::makeRecord(OpBuilder &b, Location loc, Value key,
                              Value index) {
  if (!isPacked(keyBits))
    return key;
  Value high = arith::ShLIOp::create(b, loc, key, makeInt(b, loc, 32));
  return arith::OrIOp::create(b, loc, high, IndexBuilder(b, loc).toI64(index));
}

Value SortEmitter::loadElement(OpBuilder &b, Location loc, const Group &group,
                               Value k) {
  IndexBuilder ib(b, loc);
  return LoopKernel::load(b, loc, source,
                          ib.add(group.source, ib.mul(k, group.stride)));
}

void SortEmitter::place(OpBuilder &b, Location loc, const Group &group,
                        Value from, Value to) {
  IndexBuilder ib(b, loc);
  Value offset = ib.mul(to, group.stride);
  if (sorted)
    LoopKernel::store(b, loc, loadElement(b, loc, group, from), *sorted,
                      ib.add(group.sorted, offset));
  if (indices)
    LoopKernel::store(b, loc, ib.toI64(from), *indices,
                      ib.add(group.indices, offset));
}

//===----------------------------------------------------------------------===//
// By rank
//===----------------------------------------------------------------------===//

void SortEmitter::sortByRank(OpBuilder &b, Location loc, const Group &group) {
  IndexBuilder ib(b, loc);
  auto vectorType = VectorType::get({kLanes}, b.getI64Type());
  Value zero = ib.constant(0), one = ib.constant(1);
  // Vectors compare signed numbers.
  Value signBit = makeInt(b, loc, uint64_t(1) << 63);
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value k, ValueRange) {
        Value key = makeKey(inner, l, loadElement(inner, l, group, k));
        Value record = arith::XOrIOp::create(
            inner, l, makeRecord(inner, l, key, k), signBit);
        memref::StoreOp::create(inner, l, record, shortRecords, k);
        scf::YieldOp::create(inner, l);
      });
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(vectorType, APInt(64, value, true)));
  };
  // None is greater than what fills the last vector.
  vector::StoreOp::create(b, loc, splat(std::numeric_limits<int64_t>::max()),
                          shortRecords, group.length);
  Value none = splat(0);
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, kLanes));
  Value lanes = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vectorType, ArrayRef(numbers)));
  auto broadcast = [&](OpBuilder &at, Location l, Value value) {
    return vector::BroadcastOp::create(at, l, vectorType, value);
  };
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &outer, Location l, Value k, ValueRange) {
        IndexBuilder ob(outer, l);
        Value record = broadcast(
            outer, l, memref::LoadOp::create(outer, l, shortRecords, k));
        Value index = broadcast(outer, l, ob.toI64(k));
        auto loop = scf::ForOp::create(
            outer, l, zero, group.length, ob.constant(kLanes), none,
            [&](OpBuilder &inner, Location at, Value j, ValueRange sums) {
              Value others = vector::LoadOp::create(inner, at, vectorType,
                                                    shortRecords, j);
              Value before = arith::CmpIOp::create(
                  inner, at, arith::CmpIPredicate::slt, others, record);
              if (!isPacked(keyBits)) { // Of equal keys the first.
                Value same = arith::CmpIOp::create(
                    inner, at, arith::CmpIPredicate::eq, others, record);
                Value places = arith::AddIOp::create(
                    inner, at, lanes,
                    broadcast(inner, at, IndexBuilder(inner, at).toI64(j)));
                Value earlier = arith::CmpIOp::create(
                    inner, at, arith::CmpIPredicate::slt, places, index);
                before = arith::OrIOp::create(
                    inner, at, before,
                    arith::AndIOp::create(inner, at, same, earlier));
              }
              Value ones =
                  arith::ExtUIOp::create(inner, at, vectorType, before);
              scf::YieldOp::create(
                  inner, at,
                  arith::AddIOp::create(inner, at, sums[0], ones).getResult());
            });
        Value rank = vector::ReductionOp::create(
            outer, l, vector::CombiningKind::ADD, loop.getResult(0));
        place(outer, l, group, k,
              arith::IndexCastOp::create(outer, l, outer.getIndexType(), rank));
        scf::YieldOp::create(outer, l);
      });
}

//===----------------------------------------------------------------------===//
// By radix
//===----------------------------------------------------------------------===//

Value SortEmitter::getDigit(OpBuilder &b, Location loc, Value record,
                            Value shift) {
  Value shifted = arith::ShRUIOp::create(b, loc, record, shift);
  Value digit =
      arith::AndIOp::create(b, loc, shifted, makeInt(b, loc, kDigits - 1));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), digit);
}

void SortEmitter::countDigits(OpBuilder &b, Location loc, const Group &group) {
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0), one = ib.constant(1);
  auto vectorType = VectorType::get({kLanes}, b.getI64Type());
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  scf::ForOp::create(b, loc, zero, ib.constant(numDigits * kDigits),
                     ib.constant(kLanes), ValueRange(),
                     [&](OpBuilder &inner, Location l, Value k, ValueRange) {
                       vector::StoreOp::create(inner, l, none, counts, k);
                       scf::YieldOp::create(inner, l);
                     });
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value k, ValueRange) {
        IndexBuilder kb(inner, l);
        Value key = makeKey(inner, l, loadElement(inner, l, group, k));
        Value place = kb.add(group.records, k);
        LoopKernel::store(inner, l, makeRecord(inner, l, key, k), records,
                          place);
        if (positions)
          LoopKernel::store(inner, l, kb.toI64(k), *positions, place);
        for (int64_t digit = 0; digit < numDigits; ++digit) {
          Value slot =
              kb.add(getDigit(inner, l, key, makeInt(inner, l, 8 * digit)),
                     kb.constant(digit * kDigits));
          Value count = memref::LoadOp::create(inner, l, counts, slot);
          memref::StoreOp::create(
              inner, l,
              arith::AddIOp::create(inner, l, count, makeInt(inner, l, 1)),
              counts, slot);
        }
        scf::YieldOp::create(inner, l);
      });
}

void SortEmitter::moveRecords(OpBuilder &b, Location loc, const Group &group,
                              Value from, Value to, Value row, Value shift) {
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0), one = ib.constant(1);
  // How many have a digit becomes where the first of them goes.
  scf::ForOp::create(
      b, loc, zero, ib.constant(kDigits), one, makeInt(b, loc, 0),
      [&](OpBuilder &inner, Location l, Value digit, ValueRange sum) {
        Value slot = IndexBuilder(inner, l).add(row, digit);
        Value count = memref::LoadOp::create(inner, l, counts, slot);
        memref::StoreOp::create(inner, l, sum[0], counts, slot);
        scf::YieldOp::create(
            inner, l,
            arith::AddIOp::create(inner, l, sum[0], count).getResult());
      });
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value k, ValueRange) {
        IndexBuilder kb(inner, l);
        Value place = kb.add(from, k);
        Value record = LoopKernel::load(inner, l, records, place);
        Value slot = kb.add(row, getDigit(inner, l, record, shift));
        Value goes = memref::LoadOp::create(inner, l, counts, slot);
        memref::StoreOp::create(
            inner, l,
            arith::AddIOp::create(inner, l, goes, makeInt(inner, l, 1)), counts,
            slot);
        Value target = kb.add(to, arith::IndexCastOp::create(
                                      inner, l, inner.getIndexType(), goes));
        LoopKernel::store(inner, l, record, records, target);
        if (positions)
          LoopKernel::store(inner, l,
                            LoopKernel::load(inner, l, *positions, place),
                            *positions, target);
        scf::YieldOp::create(inner, l);
      });
}

void SortEmitter::sortByRadix(OpBuilder &b, Location loc, const Group &group) {
  countDigits(b, loc, group);
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0), one = ib.constant(1);
  Value other = ib.add(group.records, group.length);
  auto passes = scf::ForOp::create(
      b, loc, zero, ib.constant(numDigits), one,
      ValueRange{group.records, other},
      [&](OpBuilder &inner, Location l, Value digit, ValueRange halves) {
        IndexBuilder pb(inner, l);
        Value row = pb.mul(digit, pb.constant(kDigits));
        Value bit = pb.mul(digit, pb.constant(8));
        if (isPacked(keyBits))
          bit = pb.add(bit, pb.constant(32));
        Value shift = pb.toI64(bit);
        Value first = LoopKernel::load(inner, l, records, halves[0]);
        Value count =
            pb.load(counts, pb.add(row, getDigit(inner, l, first, shift)));
        Value isSame =
            pb.compare(arith::CmpIPredicate::eq, count, group.length);
        auto moved = scf::IfOp::create(
            inner, l, isSame,
            [&](OpBuilder &then, Location at) {
              scf::YieldOp::create(then, at, halves);
            },
            [&](OpBuilder &otherwise, Location at) {
              moveRecords(otherwise, at, group, halves[0], halves[1], row,
                          shift);
              scf::YieldOp::create(otherwise, at,
                                   ValueRange{halves[1], halves[0]});
            });
        scf::YieldOp::create(inner, l, moved.getResults());
      });
  scf::ForOp::create(
      b, loc, zero, group.length, one, ValueRange(),
      [&](OpBuilder &inner, Location l, Value k, ValueRange) {
        Value place = IndexBuilder(inner, l).add(passes.getResult(0), k);
        Value index =
            LoopKernel::load(inner, l, positions ? *positions : records, place);
        if (isPacked(keyBits))
          index = arith::AndIOp::create(inner, l, index,
                                        makeInt(inner, l, 0xffffffff));
        this->place(
            inner, l, group,
            arith::IndexCastOp::create(inner, l, inner.getIndexType(), index),
            k);
        scf::YieldOp::create(inner, l);
      });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void SortEmitter::emitGroup(OpBuilder &b, Location loc, const Group &group) {
  Value isShort =
      IndexBuilder(b, loc).compare(arith::CmpIPredicate::sle, group.length,
                                   IndexBuilder(b, loc).constant(kShort));
  scf::IfOp::create(
      b, loc, isShort,
      [&](OpBuilder &then, Location l) {
        sortByRank(then, l, group);
        scf::YieldOp::create(then, l);
      },
      [&](OpBuilder &otherwise, Location l) {
        sortByRadix(otherwise, l, group);
        scf::YieldOp::create(otherwise, l);
      });
}

void SortEmitter::run() {
  kernel.forUnits([&](OpBuilder &b, Location loc, Value sample, Value unit) {
    IndexBuilder ib(b, loc);
    Value length = kernel.evaluate(b, loc, split.length, sample);
    Value inner = kernel.evaluate(b, loc, split.inner, sample);
    Value offset = ib.mul(unit, ib.mul(length, inner));
    auto getFirst = [&](const std::optional<LoopOperand> &operand) {
      return operand ? ib.add(kernel.getFirst(b, loc, *operand, sample), offset)
                     : Value();
    };
    Group group;
    group.length = length;
    group.stride = inner;
    group.source = getFirst(source);
    group.sorted = getFirst(sorted);
    group.indices = getFirst(indices);
    // Two places for each element, group by group.
    group.records = ib.add(kernel.getFirst(b, loc, records, sample),
                           ib.mul(offset, ib.constant(2)));
    auto emitColumn = [&](OpBuilder &at, Location l, Value column) {
      IndexBuilder cb(at, l);
      Group moved(group);
      for (Value *first : {&moved.source, &moved.sorted, &moved.indices})
        if (*first)
          *first = cb.add(*first, column);
      moved.records =
          cb.add(group.records, cb.mul(cb.mul(column, length), cb.constant(2)));
      emitGroup(at, l, moved);
    };
    auto forColumns =
        [&](OpBuilder &at, Location l, Value from, Value to, int64_t step,
            function_ref<void(OpBuilder &, Location, Value)> body) {
          scf::ForOp::create(
              at, l, from, to, IndexBuilder(at, l).constant(step), ValueRange(),
              [&](OpBuilder &inner, Location il, Value column, ValueRange) {
                body(inner, il, column);
                scf::YieldOp::create(inner, il);
              });
        };
    auto emitBlock = [&](OpBuilder &at, Location l, Value column) {
      IndexBuilder cb(at, l);
      Group moved(group);
      for (Value *first : {&moved.source, &moved.sorted, &moved.indices})
        if (*first)
          *first = cb.add(*first, column);
      network->emitBlock(
          at, l, moved, [&](OpBuilder &inner, Location il, Value lane) {
            emitColumn(inner, il, IndexBuilder(inner, il).add(column, lane));
          });
    };
    auto emitColumns = [&](OpBuilder &at, Location l) {
      IndexBuilder cb(at, l);
      int64_t width = network->getWidth();
      if (!width)
        return forColumns(at, l, cb.constant(0), inner, 1, emitColumn);
      Value isModerate = cb.compare(arith::CmpIPredicate::sle, length,
                                    cb.constant(SortNetwork::kLongest));
      Value blocks =
          cb.mul(cb.div(inner, cb.constant(width)), cb.constant(width));
      Value single = cb.select(isModerate, blocks, cb.constant(0));
      scf::IfOp::create(at, l, isModerate, [&](OpBuilder &then, Location tl) {
        forColumns(then, tl, IndexBuilder(then, tl).constant(0), blocks, width,
                   emitBlock);
        scf::YieldOp::create(then, tl);
      });
      forColumns(at, l, single, inner, 1, emitColumn);
    };
    if (!tooLong)
      return emitColumns(b, loc);
    Value fits =
        ib.compare(arith::CmpIPredicate::sle, length, ib.constant(0xffffffff));
    kernel.getSignature().recordErrorUnless(
        b, loc, fits, tooLong, ib.toI64(length), ib.constant(0), sample);
    scf::IfOp::create(b, loc, fits, [&](OpBuilder &then, Location l) {
      emitColumns(then, l);
      scf::YieldOp::create(then, l);
    });
  });
}

LoopCost SortEmitter::getCost() {
  SmallVector<LoopOperand> operands{source};
  if (sorted)
    operands.push_back(*sorted);
  if (indices)
    operands.push_back(*indices);
  // Each digit reads and writes the records once.
  int64_t recordBytes = 8 * (positions ? 2 : 1);
  return {0, LoopKernel::countBytes(operands) +
                 2 * numDigits * recordBytes * source.rowElements};
}

namespace {
struct SortKernels : LoopKernelOpInterface::ExternalModel<SortKernels, SortOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<SortOp>(operation);
    if (op->use_empty())
      return success();
    builder.createUsedResults();
    LogicalType type = LogicalType::of(op.getSource());
    LogicalType recordType = type;
    recordType.elementType = IntegerType::get(op.getContext(), 64);
    recordType.order.push_back(type.getRank());
    recordType.extents.push_back(extent::constant(op.getContext(), 2));
    Value records = builder.createTemp(recordType), positions;
    if (getKeyBits(type.elementType) == 64)
      positions = builder.createTemp(recordType);
    DimSplit split(type, op.getDim());
    LoopUnits units{type.path, type.getRowExtent(), split.outer};
    builder.addKernel("", units, [&](LoopKernel &kernel) {
      SortEmitter emitter(op, kernel, records, positions, recordType);
      emitter.run();
      return emitter.getCost();
    });
    return success();
  }
};
} // namespace

void nested::ragged::registerSortKernels(MLIRContext *context) {
  SortOp::attachInterface<SortKernels>(*context);
}
