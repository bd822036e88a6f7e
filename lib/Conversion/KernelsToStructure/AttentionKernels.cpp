//===- AttentionKernels.cpp - Kernels of attention ---------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit is a block of queries of one head of one sample: a
// `ragged.tile_attention`. Gradients of queries have the same units, but for a
// bias that all heads share: then a unit is a block of all heads, one after the
// other. So it is with a bias that all members of a sample share: a unit is a
// block of queries of all members, whose gradients of scores are added up where
// they are stored. Those of keys and values have blocks of keys of one of their
// heads, with the queries of all heads of its group. What a unit computes
// depends on its sample alone (R8).
//
//===----------------------------------------------------------------------===//

#include "ContractAxes.h"
#include "LoopKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;
using namespace nested::ragged;

/// A static size of an operand.
static int64_t sizeOf(const LoopOperand &operand, unsigned dim) {
  return *operand.type.extents[dim].getConstant();
}

/// Queries of a unit that goes through all members of a sample: fewer of them,
/// as there are fewer units.
static constexpr int64_t kMemberQueries = kMaxTileQueries / 2;

namespace {
/// What attends: a sample of the path of the units, which has the sizes, and
/// one of its members; the sample itself if units are of the queries' path.
struct Member {
  Value sample, own;
};

/// What attention and its gradients read, and where.
template <typename Op>
class AttentionWriter {
protected:
  AttentionWriter(Op op, LoopKernel &kernel)
      : op(op), kernel(kernel), query(kernel.addValue(op.getQuery())),
        key(kernel.addValue(op.getKey())),
        value(kernel.addValue(op.getValue())) {
    if (op.getBias())
      bias = kernel.addValue(op.getBias());
    if (op.getMask())
      mask = kernel.addValue(op.getMask());
  }

  /// Heads of queries that share one of keys. Without heads there are no units.
  int64_t getGroup() const {
    return std::max<int64_t>(
        sizeOf(query, 1) / std::max<int64_t>(sizeOf(key, 1), 1), 1);
  }
  Value getRows(OpBuilder &b, Location loc, const LoopOperand &operand,
                Value sample) {
    return kernel.evaluate(b, loc, operand.type.extents[0], sample);
  }
  static Value getStride(OpBuilder &b, Location loc,
                         const LoopOperand &operand) {
    return IndexBuilder(b, loc).constant(sizeOf(operand, 1) *
                                         sizeOf(operand, 2));
  }
  /// The first element of a row of a head.
  Value place(OpBuilder &b, Location loc, const LoopOperand &operand,
              Member member, Value row, Value head) {
    IndexBuilder ib(b, loc);
    Value offset =
        ib.add(kernel.getFirst(b, loc, operand, member.sample, member.own),
               ib.mul(row, getStride(b, loc, operand)));
    return ib.add(offset, ib.mul(head, ib.constant(sizeOf(operand, 2))));
  }
  /// The same, and the distance between rows.
  SmallVector<Value> access(OpBuilder &b, Location loc,
                            const LoopOperand &operand, Member member,
                            Value row, Value head) {
    return {place(b, loc, operand, member, row, head),
            getStride(b, loc, operand)};
  }
  /// Of pairs: offset, strides by query and by key; empty if there are none.
  SmallVector<Value> accessPairs(OpBuilder &b, Location loc,
                                 const LoopOperand &pairs, Member member,
                                 Value firstQuery, Value firstKey, Value head) {
    if (!pairs.memref)
      return {};
    IndexBuilder ib(b, loc);
    SmallVector<Value> strides;
    for (ExtentAttr stride : getElementStrides(pairs.type))
      strides.push_back(kernel.evaluate(b, loc, stride, member.sample));
    Value offset =
        ib.add(kernel.getFirst(b, loc, pairs, member.sample, member.own),
               ib.mul(firstQuery, strides[0]));
    offset = ib.add(offset, ib.mul(firstKey, strides[1]));
    if (strides.size() == 3)
      offset = ib.add(offset, ib.mul(head, strides[2]));
    return {offset, strides[0], strides[1]};
  }
  FloatAttr getScale(OpBuilder &b) {
    double size = std::max<double>(sizeOf(query, 2), 1);
    return b.getF64FloatAttr(op.getScale() ? op.getScale()->convertToDouble()
                                           : 1 / std::sqrt(size));
  }
  /// Of a query: the last one is aligned with the last key.
  Value getPosition(OpBuilder &b, Location loc, Value sample, Value first) {
    IndexBuilder ib(b, loc);
    return ib.add(
        ib.sub(getRows(b, loc, key, sample), getRows(b, loc, query, sample)),
        first);
  }

  Op op;
  LoopKernel &kernel;
  LoopOperand query, key, value, bias, mask;
};

class ForwardWriter : AttentionWriter<AttentionOp> {
public:
  ForwardWriter(AttentionOp op, LoopKernel &kernel)
      : AttentionWriter(op, kernel), result(kernel.addValue(op.getResult())) {
    if (op.getNormalizer())
      normalizer = kernel.addValue(op.getNormalizer());
  }
  void emitUnit(OpBuilder &b, Location loc, Value sample, Value unit,
                ExtentAttr blocks);

private:
  LoopOperand result, normalizer;
};

class GradientWriter : AttentionWriter<AttentionGradientOp> {
public:
  GradientWriter(AttentionGradientOp op, LoopKernel &kernel, bool ofKeys);
  /// Blocks of queries, of one head or, if the bias is shared, of all; of all
  /// members of a sample if those share it.
  void emitQueries(OpBuilder &b, Location loc, Value sample, Value unit,
                   ExtentAttr blocks);
  /// Blocks of keys of one of their heads.
  void emitKeys(OpBuilder &b, Location loc, Value sample, Value unit,
                ExtentAttr blocks);
  /// Whether one gradient of the bias is for all heads.
  static bool sharesBias(AttentionGradientOp op) {
    Value gradient = op.getBiasGradient();
    return gradient && LogicalType::of(gradient).getRank() == 2;
  }
  /// Queries of a unit.
  static int64_t getBlock(AttentionGradientOp op) {
    return op.sumsMembers() ? kMemberQueries : kMaxTileQueries;
  }

private:
  /// Heads [from, from + count), one after the other; the first one replaces
  /// what is there.
  void forHeads(OpBuilder &b, Location loc, Value from, int64_t count,
                llvm::function_ref<void(OpBuilder &, Location, Value head,
                                        Value accumulate)>
                    body);
  void forMembers(OpBuilder &b, Location loc, Value sample,
                  llvm::function_ref<void(OpBuilder &, Location, Member)> body);
  /// 0 as the gradient of the bias of queries and all keys.
  void clearBias(OpBuilder &b, Location loc, Value sample, Value head,
                 Value firstQuery, Value numQueries, Value numKeys);
  void emit(OpBuilder &b, Location loc, Member member, Value head,
            Value keyHead, Value firstQuery, Value numQueries, Value firstKey,
            Value numKeys, Value accumulate);

  bool ofKeys;
  LoopOperand seed, result, normalizer;
  /// One or two gradients: of queries and bias, or of keys and values.
  LoopOperand first, second;
};
} // namespace

void ForwardWriter::emitUnit(OpBuilder &b, Location loc, Value sample,
                             Value unit, ExtentAttr blocks) {
  IndexBuilder ib(b, loc);
  Value numQueries = getRows(b, loc, query, sample);
  Value numKeys = getRows(b, loc, key, sample);
  Value perHead = kernel.evaluate(b, loc, blocks, sample);
  Value head = ib.div(unit, perHead);
  Value keyHead = ib.div(head, ib.constant(getGroup()));
  Value first = ib.mul(ib.rem(unit, perHead), ib.constant(kMaxTileQueries));
  Value rows = ib.min(ib.sub(numQueries, first), ib.constant(kMaxTileQueries));
  Value zero = ib.constant(0);
  Member own{sample, sample};
  SmallVector<Value> statistics;
  if (normalizer.memref)
    statistics = access(b, loc, normalizer, own, first, head);
  TileAttentionOp::create(
      b, loc, query.memref, place(b, loc, query, own, first, head),
      getStride(b, loc, query), key.memref,
      place(b, loc, key, own, zero, keyHead), getStride(b, loc, key),
      value.memref, place(b, loc, value, own, zero, keyHead),
      getStride(b, loc, value), result.memref,
      place(b, loc, result, own, first, head), getStride(b, loc, result), rows,
      numKeys, getPosition(b, loc, sample, first), bias.memref,
      accessPairs(b, loc, bias, own, first, zero, head), mask.memref,
      accessPairs(b, loc, mask, own, first, zero, head), normalizer.memref,
      statistics, b.getI64IntegerAttr(sizeOf(query, 2)),
      b.getI64IntegerAttr(sizeOf(value, 2)), getScale(b), op.getSoftCapAttr(),
      op.getLeftAttr(), op.getRightAttr());
}

GradientWriter::GradientWriter(AttentionGradientOp op, LoopKernel &kernel,
                               bool ofKeys)
    : AttentionWriter(op, kernel), ofKeys(ofKeys),
      seed(kernel.addValue(op.getSeed())),
      result(kernel.addValue(op.getResult())),
      normalizer(kernel.addValue(op.getNormalizer())),
      first(kernel.addValue(ofKeys ? op.getKeyGradient()
                                   : op.getQueryGradient())) {
  if (Value gradient = ofKeys ? op.getValueGradient() : op.getBiasGradient())
    second = kernel.addValue(gradient);
}

void GradientWriter::forHeads(
    OpBuilder &b, Location loc, Value from, int64_t count,
    llvm::function_ref<void(OpBuilder &, Location, Value, Value)> body) {
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0);
  scf::ForOp::create(
      b, loc, zero, ib.constant(count), ib.constant(1), ValueRange(),
      [&](OpBuilder &inner, Location l, Value member, ValueRange) {
        IndexBuilder nb(inner, l);
        body(inner, l, nb.add(from, member),
             nb.compare(arith::CmpIPredicate::ne, member, zero));
        scf::YieldOp::create(inner, l);
      });
}

void GradientWriter::forMembers(
    OpBuilder &b, Location loc, Value sample,
    llvm::function_ref<void(OpBuilder &, Location, Member)> body) {
  ArrayRef<StringAttr> path = query.type.path;
  IndexBuilder ib(b, loc);
  Value offsets = kernel.getSignature().getTable(
      TableKey::makeOffsets(extent::symbol(path.back()), path.drop_back()));
  Value one = ib.constant(1);
  scf::ForOp::create(b, loc, ib.load(offsets, sample),
                     ib.load(offsets, ib.add(sample, one)), one, ValueRange(),
                     [&](OpBuilder &inner, Location l, Value own, ValueRange) {
                       body(inner, l, {sample, own});
                       scf::YieldOp::create(inner, l);
                     });
}

void GradientWriter::clearBias(OpBuilder &b, Location loc, Value sample,
                               Value head, Value firstQuery, Value numQueries,
                               Value numKeys) {
  IndexBuilder ib(b, loc);
  Value none = ib.constant(0), one = ib.constant(1);
  SmallVector<Value> dest =
      accessPairs(b, loc, second, {sample, sample}, firstQuery, none, head);
  Value zero = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(second.type.elementType, 0));
  scf::buildLoopNest(
      b, loc, {none, none}, {numQueries, numKeys}, {one, one},
      [&](OpBuilder &inner, Location l, ValueRange at) {
        IndexBuilder nb(inner, l);
        Value place = nb.add(nb.mul(at[0], dest[1]), nb.mul(at[1], dest[2]));
        LoopKernel::store(inner, l, zero, second, nb.add(dest[0], place));
      });
}

void GradientWriter::emitQueries(OpBuilder &b, Location loc, Value sample,
                                 Value unit, ExtentAttr blocks) {
  IndexBuilder ib(b, loc);
  Value perHead = kernel.evaluate(b, loc, blocks, sample),
        zero = ib.constant(0), block = ib.constant(getBlock(op));
  Value firstQuery = ib.mul(ib.rem(unit, perHead), block);
  Value rows =
      ib.min(ib.sub(getRows(b, loc, query, sample), firstQuery), block);
  Value numKeys = getRows(b, loc, key, sample);
  Value firstHead = ib.div(unit, perHead);
  bool sumsMembers = op.sumsMembers();
  auto emitMember = [&](OpBuilder &outer, Location at, Member member) {
    forHeads(outer, at, firstHead, sharesBias(op) ? sizeOf(query, 1) : 1,
             [&](OpBuilder &inner, Location l, Value head, Value accumulate) {
               IndexBuilder nb(inner, l);
               if (sumsMembers)
                 accumulate = arith::ConstantIntOp::create(inner, l, 1, 1);
               emit(inner, l, member, head,
                    nb.div(head, nb.constant(getGroup())), firstQuery, rows,
                    zero, numKeys, accumulate);
             });
  };
  if (!sumsMembers)
    return emitMember(b, loc, {sample, sample});
  // There may be no member (R5).
  clearBias(b, loc, sample, firstHead, firstQuery, rows, numKeys);
  forMembers(b, loc, sample, emitMember);
}

void GradientWriter::emitKeys(OpBuilder &b, Location loc, Value sample,
                              Value unit, ExtentAttr blocks) {
  IndexBuilder ib(b, loc);
  Value perHead = kernel.evaluate(b, loc, blocks, sample),
        zero = ib.constant(0);
  Value firstKey = ib.mul(ib.rem(unit, perHead), ib.constant(kMaxTileQueries));
  Value rows = ib.min(ib.sub(getRows(b, loc, key, sample), firstKey),
                      ib.constant(kMaxTileQueries));
  Value keyHead = ib.div(unit, perHead);
  Value numQueries = getRows(b, loc, query, sample);
  forHeads(b, loc, ib.mul(keyHead, ib.constant(getGroup())), getGroup(),
           [&](OpBuilder &inner, Location l, Value head, Value accumulate) {
             emit(inner, l, {sample, sample}, head, keyHead, zero, numQueries,
                  firstKey, rows, accumulate);
           });
}

void GradientWriter::emit(OpBuilder &b, Location loc, Member member, Value head,
                          Value keyHead, Value firstQuery, Value numQueries,
                          Value firstKey, Value numKeys, Value accumulate) {
  auto at = [&](const LoopOperand &operand, Value row, Value which) {
    return place(b, loc, operand, member, row, which);
  };
  auto stride = [&](const LoopOperand &operand) {
    return getStride(b, loc, operand);
  };
  auto pairs = [&](const LoopOperand &operand) {
    return accessPairs(b, loc, operand, member, firstQuery, firstKey, head);
  };
  auto dest = [&](const LoopOperand &operand, Value row, Value which) {
    return access(b, loc, operand, member, row, which);
  };
  SmallVector<Value> queryDest, biasDest, keyDest, valueDest;
  if (ofKeys) {
    keyDest = dest(first, firstKey, keyHead);
    valueDest = dest(second, firstKey, keyHead);
  } else {
    queryDest = dest(first, firstQuery, head);
    biasDest = pairs(second);
  }
  Value none;
  Value position = IndexBuilder(b, loc).sub(
      getPosition(b, loc, member.sample, firstQuery), firstKey);
  TileAttentionGradientOp::create(
      b, loc, query.memref, at(query, firstQuery, head), stride(query),
      key.memref, at(key, firstKey, keyHead), stride(key), value.memref,
      at(value, firstKey, keyHead), stride(value), seed.memref,
      at(seed, firstQuery, head), stride(seed), result.memref,
      at(result, firstQuery, head), stride(result), normalizer.memref,
      at(normalizer, firstQuery, head), stride(normalizer), numQueries, numKeys,
      position, accumulate, bias.memref, pairs(bias), mask.memref, pairs(mask),
      ofKeys ? none : first.memref, queryDest, ofKeys ? none : second.memref,
      biasDest, ofKeys ? first.memref : none, keyDest,
      ofKeys ? second.memref : none, valueDest,
      b.getI64IntegerAttr(sizeOf(query, 2)),
      b.getI64IntegerAttr(sizeOf(value, 2)), getScale(b), op.getSoftCapAttr(),
      op.getLeftAttr(), op.getRightAttr());
}

namespace {
/// Work is cut by pairs of a query and a key, as far as they are ragged.
struct PairWork {
  template <typename Op>
  explicit PairWork(Op op)
      : path(LogicalType::of(op.getQuery()).path),
        queries(LogicalType::of(op.getQuery()).extents[0]),
        keys(LogicalType::of(op.getKey()).extents[0]),
        pairs(extent::constant(op.getContext(), 1)) {
    LogicalType query = LogicalType::of(op.getQuery());
    heads = *query.extents[1].getConstant();
    groups = *LogicalType::of(op.getKey()).extents[1].getConstant();
    head = *query.extents[2].getConstant();
    width = *LogicalType::of(op.getValue()).extents[2].getConstant();
    for (ExtentAttr extent : {queries, keys}) {
      if (std::optional<int64_t> size = extent.getConstant())
        times *= *size;
      else
        pairs = extent::mul(pairs, extent);
    }
  }
  /// Blocks of `rows`, `count` times.
  LoopUnits getUnits(ExtentAttr blocks, int64_t count) const {
    return {path, pairs, extent::mul(blocks, count)};
  }
  /// The same of samples whose members a unit goes through.
  LoopUnits getSampleUnits(ExtentAttr blocks, int64_t count) const {
    return {llvm::to_vector(ArrayRef(path).drop_back()),
            extent::mul(pairs, extent::symbol(path.back())),
            extent::mul(blocks, count)};
  }
  /// For products of so many elements a pair.
  LoopCost getCost(int64_t elements) const {
    return {2 * heads * times * elements, 0};
  }

  SmallVector<StringAttr> path;
  ExtentAttr queries, keys, pairs;
  int64_t heads, groups, head, width, times = 1;
};

struct AttentionKernels
    : LoopKernelOpInterface::ExternalModel<AttentionKernels, AttentionOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<AttentionOp>(operation);
    PairWork work(op);
    ExtentAttr blocks = extent::ceilDiv(work.queries, kMaxTileQueries);
    builder.createResults();
    builder.addKernel("", work.getUnits(blocks, work.heads),
                      [&](LoopKernel &kernel) {
                        ForwardWriter writer(op, kernel);
                        kernel.forUnits([&](OpBuilder &b, Location loc,
                                            Value sample, Value unit) {
                          writer.emitUnit(b, loc, sample, unit, blocks);
                        });
                        return work.getCost(work.head + work.width);
                      });
    return success();
  }
};

struct AttentionGradientKernels
    : LoopKernelOpInterface::ExternalModel<AttentionGradientKernels,
                                           AttentionGradientOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<AttentionGradientOp>(operation);
    PairWork work(op);
    auto isUsed = [](Value value) { return value && !value.use_empty(); };
    auto addKernel = [&](bool ofKeys) {
      ExtentAttr blocks =
          ofKeys ? extent::ceilDiv(work.keys, kMaxTileQueries)
                 : extent::ceilDiv(work.queries, GradientWriter::getBlock(op));
      bool allHeads = !ofKeys && GradientWriter::sharesBias(op);
      int64_t count = ofKeys ? work.groups : allHeads ? 1 : work.heads;
      builder.addKernel(
          ofKeys ? "_keys" : "_queries",
          !ofKeys && op.sumsMembers() ? work.getSampleUnits(blocks, count)
                                      : work.getUnits(blocks, count),
          [&](LoopKernel &kernel) {
            GradientWriter writer(op, kernel, ofKeys);
            kernel.forUnits(
                [&](OpBuilder &b, Location loc, Value sample, Value unit) {
                  if (ofKeys)
                    writer.emitKeys(b, loc, sample, unit, blocks);
                  else
                    writer.emitQueries(b, loc, sample, unit, blocks);
                });
            return work.getCost(2 * work.head +
                                (ofKeys ? 2 * work.width : work.width));
          });
    };
    auto assign = [&](Value first, Value second) {
      if (!isUsed(first) && !isUsed(second))
        return false;
      for (Value result : {first, second})
        if (result)
          builder.getSchedule().assignBuffer(result);
      return true;
    };
    if (assign(op.getQueryGradient(), op.getBiasGradient()))
      addKernel(/*ofKeys=*/false);
    if (assign(op.getKeyGradient(), op.getValueGradient()))
      addKernel(/*ofKeys=*/true);
    return success();
  }
};
} // namespace

void nested::ragged::registerAttentionKernels(MLIRContext *context) {
  AttentionOp::attachInterface<AttentionKernels>(*context);
  AttentionGradientOp::attachInterface<AttentionGradientKernels>(*context);
}
