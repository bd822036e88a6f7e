//===- ContractKernels.cpp - Kernels of contractions -------------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops over samples, outer axes and blocks of rows around a
// `ragged.tile_contract`, which StructureToLoops turns into register blocks.
// What a unit computes depends on its sample alone (R8): blocks of rows begin
// at multiples of their height, and every sum runs over the whole depth.
//
//===----------------------------------------------------------------------===//

#include "ContractAxes.h"
#include "LoopKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "nested/Conversion/LoopsToLLVM/Passes.h"

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

/// Rows of a unit: a multiple of the height of every register block, tall
/// enough for packing the other operand to be little beside it.
static constexpr int64_t kUnitRows = 96;
/// Rows of the batch whose sum is a partial result.
static constexpr int64_t kChunkRows = 2048;
/// Rows of the batch whose places are listed at a time.
static constexpr int64_t kTableRows = 256;

/// The rows of the batch that a contraction sums over.
static TableKey getContractRows(ContractKernelOp op) {
  return TableKey::makeOffsets(
      extent::product(op.getContext(), ContractAxes(op).space),
      toPath(op.getPath()));
}

namespace {
class ContractEmitter {
public:
  ContractEmitter(OpBuilder &outer, ContractKernelOp op, StringRef name,
                  ScheduleBuilder &schedule, Value dest)
      : op(op), loc(op.getLoc()), schedule(schedule), axes(op),
        path(toPath(op.getPath())), signature(outer, loc, name, schedule),
        coordinates(loc, axes.space, path, signature), b(outer.getContext()),
        one(extent::constant(op.getContext(), 1)) {
    signature.getFunction()->setAttr(kLoopKernelAttr,
                                     op->getName().getIdentifier());
    b.setInsertionPointToEnd(signature.getBody());
    for (unsigned i = 0; i < 2; ++i)
      memory[i] = signature.addBuffer(schedule.getBuffer(axes.values[i]), {},
                                      typeOf(i).elementType);
    memory[2] = signature.addBuffer(dest, {}, typeOf(2).elementType);
  }
  EmittedKernel emitSamples();
  EmittedKernel emitChunks();

private:
  using Offsets = SmallVector<Value, 3>;
  using Body = llvm::function_ref<void(OpBuilder &, const Offsets &)>;

  LogicalType typeOf(unsigned i) const {
    return LogicalType::of(axes.values[i]);
  }
  Value evaluate(OpBuilder &at, ExtentAttr extent, Value sample) {
    return coordinates.evaluate(at, extent, path, sample);
  }
  Value getFirstElement(OpBuilder &at, unsigned i, Value sample);
  void emitOuter(OpBuilder &at, ArrayRef<ContractAxis> rest, Value sample,
                 const Offsets &offsets, Body body);
  void emitProduct(OpBuilder &at, Value sample, const Offsets &offsets,
                   Value numRows, Value depth, Value lhsDepth, Value rhsDepth,
                   ValueRange tables, Value accumulate);
  void emitDepth(OpBuilder &at, Value sample, const Offsets &offsets,
                 Value numRows);
  Value buildTable(OpBuilder &at, unsigned i, bool packed, Value first,
                   Value count, Value end);
  EmittedKernel finish(TableKey rowTable, int64_t flops);
  Value truth(OpBuilder &at, bool value) {
    return arith::ConstantIntOp::create(at, loc, value, 1);
  }

  ContractKernelOp op;
  Location loc;
  ScheduleBuilder &schedule;
  ContractAxes axes;
  SmallVector<StringAttr> path;
  KernelSignature signature;
  TileCoordinates coordinates;
  OpBuilder b;
  ExtentAttr one;
  Value memory[3];
};
} // namespace

/// Element 0 of operand `i` in the sample, with the offsets of slices.
Value ContractEmitter::getFirstElement(OpBuilder &at, unsigned i,
                                       Value sample) {
  IndexBuilder ib(at, loc);
  LogicalType type = typeOf(i);
  Value start = evaluate(at, axes.starts[i], sample);
  if (type.isDense())
    return start;
  Value own = coordinates.getParent(at, type.path, sample);
  std::optional<int64_t> arg = schedule.getArgument(axes.values[i]);
  TableKey key = arg ? TableKey::makeBase(*arg, type.path)
                     : TableKey::makeOffsets(type.getRowExtent(), type.path);
  Value row = ib.load(signature.getTable(key), own);
  return ib.add(ib.mul(row, ib.constant(axes.getRowElements(i))), start);
}

/// Loops over axes that are static, from the first one inwards.
void ContractEmitter::emitOuter(OpBuilder &at, ArrayRef<ContractAxis> rest,
                                Value sample, const Offsets &offsets,
                                Body body) {
  if (rest.empty())
    return body(at, offsets);
  IndexBuilder ib(at, loc);
  const ContractAxis &axis = rest.front();
  Value size = evaluate(at, axis.extent, sample);
  Offsets strides;
  for (ExtentAttr stride : axis.strides)
    strides.push_back(evaluate(at, stride, sample));
  scf::ForOp::create(
      at, loc, ib.constant(0), size, ib.constant(1), ValueRange{},
      [&](OpBuilder &inner, Location l, Value i, ValueRange) {
        IndexBuilder nb(inner, l);
        Offsets next;
        for (auto [offset, stride] : llvm::zip_equal(offsets, strides))
          next.push_back(nb.add(offset, nb.mul(i, stride)));
        emitOuter(inner, rest.drop_front(), sample, next, body);
        scf::YieldOp::create(inner, l);
      });
}

void ContractEmitter::emitProduct(OpBuilder &at, Value sample,
                                  const Offsets &offsets, Value numRows,
                                  Value depth, Value lhsDepth, Value rhsDepth,
                                  ValueRange tables, Value accumulate) {
  Value lanes =
      axes.lanes.extent ? evaluate(at, axes.lanes.extent, sample) : Value();
  bool isBool = typeOf(2).elementType.isInteger(1);
  TileContractOp::create(
      at, loc, memory[0], offsets[0],
      evaluate(at, axes.rows.strides[0], sample), lhsDepth, memory[1],
      offsets[1], rhsDepth, evaluate(at, axes.columns.strides[1], sample),
      memory[2], offsets[2], evaluate(at, axes.rows.strides[2], sample),
      evaluate(at, axes.columns.strides[2], sample), numRows,
      evaluate(at, axes.columns.extent, sample), depth, lanes, tables,
      accumulate, isBool ? at.getUnitAttr() : UnitAttr());
}

/// The sum over all depth axes, for `numRows` rows.
void ContractEmitter::emitDepth(OpBuilder &at, Value sample,
                                const Offsets &offsets, Value numRows) {
  Value depth = evaluate(at, axes.depth.extent, sample);
  Value lhs = evaluate(at, axes.depth.strides[0], sample);
  Value rhs = evaluate(at, axes.depth.strides[1], sample);
  if (axes.innerDepth.empty())
    return emitProduct(at, sample, offsets, numRows, depth, lhs, rhs, {},
                       truth(at, false));
  // A sum over nothing is written too (R5).
  emitProduct(at, sample, offsets, numRows, IndexBuilder(at, loc).constant(0),
              lhs, rhs, {}, truth(at, false));
  emitOuter(at, axes.innerDepth, sample, offsets,
            [&](OpBuilder &inner, const Offsets &here) {
              emitProduct(inner, sample, here, numRows, depth, lhs, rhs, {},
                          truth(inner, true));
            });
}

EmittedKernel ContractEmitter::finish(TableKey rowTable, int64_t flops) {
  signature.finish();
  EmittedKernel emitted;
  emitted.memrefs = llvm::to_vector(signature.getMemrefOperands());
  emitted.scalars = llvm::to_vector(signature.getScalarOperands());
  emitted.rowTable = std::move(rowTable);
  emitted.errors = signature.getErrors(b);
  emitted.flopsPerRow = flops;
  return emitted;
}

/// Multiply-adds as rows (the ragged part) times FLOPs of each.
static std::pair<ExtentAttr, int64_t> countWork(ContractKernelOp op) {
  ExtentAttr rows = extent::constant(op.getContext(), 1);
  int64_t flops = 2;
  for (ExtentAttr extent : op.getDims()) {
    if (std::optional<int64_t> size = extent.getConstant())
      flops *= *size;
    else
      rows = extent::mul(rows, extent);
  }
  return {rows, isa<FloatType>(LogicalType::of(op.getResult()).elementType)
                    ? flops
                    : 0};
}

EmittedKernel ContractEmitter::emitSamples() {
  IndexBuilder ib(b, loc);
  ExtentAttr blocks = extent::ceilDiv(axes.rows.extent, kUnitRows);
  ExtentAttr units = blocks;
  for (const ContractAxis &axis : axes.outer)
    units = extent::mul(units, axis.extent);
  TableKey unitKey = TableKey::makeOffsets(units, path);
  Value unit = ib.constant(1);
  signature.forSamples(
      b, loc, unitKey,
      [&](OpBuilder &body, Value sample, Value, Value low, Value high) {
        IndexBuilder sb(body, loc);
        Value numRows = evaluate(body, axes.rows.extent, sample);
        Value height = sb.constant(kUnitRows);
        // At least 1, so that it can be divided by; no unit is of a sample
        // without rows.
        Value perOuter = sb.max(evaluate(body, blocks, sample), unit);
        Offsets first;
        for (unsigned i = 0; i < 3; ++i)
          first.push_back(getFirstElement(body, i, sample));
        SmallVector<Offsets> strides;
        SmallVector<Value> sizes;
        for (const ContractAxis &axis : axes.outer) {
          sizes.push_back(sb.max(evaluate(body, axis.extent, sample), unit));
          Offsets &own = strides.emplace_back();
          for (ExtentAttr stride : axis.strides)
            own.push_back(evaluate(body, stride, sample));
        }
        SmallVector<Value> rowStrides;
        for (ExtentAttr stride : axes.rows.strides)
          rowStrides.push_back(evaluate(body, stride, sample));
        // Units of one outer index are neighbours: their rows are one product.
        Value outerBegin = sb.div(low, perOuter);
        Value outerEnd = sb.div(sb.add(high, sb.sub(perOuter, unit)), perOuter);
        scf::ForOp::create(
            body, loc, outerBegin, outerEnd, unit, ValueRange{},
            [&](OpBuilder &inner, Location il, Value outer, ValueRange) {
              IndexBuilder ob(inner, il);
              Value firstUnit = ob.mul(outer, perOuter);
              Value beginRow =
                  ob.mul(ob.sub(ob.max(low, firstUnit), firstUnit), height);
              Value endRow = ob.min(
                  ob.mul(ob.min(ob.sub(high, firstUnit), perOuter), height),
                  numRows);
              Offsets offsets(first);
              Value rest = outer;
              for (size_t k = axes.outer.size(); k-- > 0;) {
                Value index = rest;
                if (k != 0) {
                  index = ob.rem(rest, sizes[k]);
                  rest = ob.div(rest, sizes[k]);
                }
                for (unsigned i = 0; i < 3; ++i)
                  offsets[i] = ob.add(offsets[i], ob.mul(index, strides[k][i]));
              }
              for (unsigned i = 0; i < 3; ++i)
                offsets[i] =
                    ob.add(offsets[i], ob.mul(beginRow, rowStrides[i]));
              emitDepth(inner, sample, offsets, ob.sub(endRow, beginRow));
              scf::YieldOp::create(inner, il);
            });
      });
  auto [rows, flops] = countWork(op);
  EmittedKernel emitted = finish(TableKey::makeOffsets(rows, path), flops);
  emitted.unitTable = unitKey;
  return emitted;
}

//===----------------------------------------------------------------------===//
// Sums over the batch
//===----------------------------------------------------------------------===//

/// Where the rows [first, first + count) of the batch are in operand `i`.
Value ContractEmitter::buildTable(OpBuilder &at, unsigned i, bool packed,
                                  Value first, Value count, Value end) {
  IndexBuilder ib(at, loc);
  Value table = memref::AllocOp::create(
      at, loc, MemRefType::get({kTableRows}, at.getIndexType()));
  if (packed) {
    Value start = evaluate(at, axes.starts[i], ib.constant(0));
    Value elements = ib.constant(axes.getRowElements(i));
    scf::ForOp::create(
        at, loc, ib.constant(0), count, ib.constant(1), ValueRange{},
        [&](OpBuilder &body, Location l, Value r, ValueRange) {
          IndexBuilder rb(body, l);
          Value place = rb.add(rb.mul(rb.add(first, r), elements), start);
          memref::StoreOp::create(body, l, place, table, r);
          scf::YieldOp::create(body, l);
        });
    return table;
  }
  RowPosition start = coordinates.locate(at, first);
  SmallVector<Value> state = {start.sample};
  llvm::append_range(state, start.coordinates);
  scf::ForOp::create(
      at, loc, ib.constant(0), count, ib.constant(1), state,
      [&](OpBuilder &body, Location l, Value r, ValueRange args) {
        IndexBuilder rb(body, l);
        RowPosition here;
        here.sample = args[0];
        here.coordinates.assign(args.begin() + 1, args.end());
        Value place = getFirstElement(body, i, here.sample);
        for (auto [coordinate, stride] :
             llvm::zip_equal(here.coordinates, axes.spaceStrides[i]))
          place = rb.add(
              place, rb.mul(coordinate, evaluate(body, stride, here.sample)));
        memref::StoreOp::create(body, l, place, table, r);
        Value unitEnds;
        RowPosition next =
            coordinates.advance(body, here, rb.add(first, r), end, unitEnds);
        SmallVector<Value> carried = {next.sample};
        llvm::append_range(carried, next.coordinates);
        scf::YieldOp::create(body, l, carried);
      });
  return table;
}

EmittedKernel ContractEmitter::emitChunks() {
  TableKey rowKey = getContractRows(op);
  IndexBuilder ib(b, loc);
  Value total = signature.getTotal(rowKey);
  Value zero = ib.constant(0), one = ib.constant(1);
  bool packed[2];
  for (unsigned i = 0; i < 2; ++i)
    packed[i] = !schedule.getArgument(axes.values[i]) &&
                axes.isPackedAlongSpace(i, path);
  bool usesTables = !packed[0] || !packed[1];
  int64_t sumElements = 1;
  for (ExtentAttr extent : LogicalType::of(op.getResult()).extents)
    sumElements *= *extent.getConstant();
  // Outside of rows of the batch nothing depends on the sample.
  Value anySample = zero;
  scf::ForOp::create(
      b, loc, signature.getBegin(), signature.getEnd(), one, ValueRange{},
      [&](OpBuilder &body, Location l, Value chunk, ValueRange) {
        IndexBuilder cb(body, l);
        Value size = cb.constant(kChunkRows);
        Value first = cb.mul(chunk, size);
        Value end = cb.min(cb.add(first, size), total);
        Value dest = cb.mul(chunk, cb.constant(sumElements));
        Value step = usesTables ? cb.constant(kTableRows) : size;
        scf::ForOp::create(
            body, l, first, end, step, ValueRange{},
            [&](OpBuilder &inner, Location il, Value row, ValueRange) {
              IndexBuilder rb(inner, il);
              Value count = rb.min(rb.sub(end, row), step);
              Value isLater = rb.compare(arith::CmpIPredicate::ne, row, first);
              SmallVector<Value> tables;
              Offsets offsets;
              SmallVector<Value> strides;
              for (unsigned i = 0; i < 2; ++i) {
                Value elements = rb.constant(axes.getRowElements(i));
                Value offset = zero;
                if (usesTables)
                  tables.push_back(
                      buildTable(inner, i, packed[i], row, count, end));
                else
                  offset = rb.add(rb.mul(row, elements),
                                  evaluate(inner, axes.starts[i], anySample));
                offsets.push_back(offset);
                strides.push_back(elements);
              }
              offsets.push_back(dest);
              Value numRows = evaluate(inner, axes.rows.extent, anySample);
              emitOuter(inner, axes.outer, anySample, offsets,
                        [&](OpBuilder &at, const Offsets &here) {
                          if (axes.innerDepth.empty())
                            return emitProduct(at, anySample, here, numRows,
                                               count, strides[0], strides[1],
                                               tables, isLater);
                          emitProduct(at, anySample, here, numRows,
                                      IndexBuilder(at, loc).constant(0),
                                      strides[0], strides[1], tables, isLater);
                          emitOuter(at, axes.innerDepth, anySample, here,
                                    [&](OpBuilder &deep, const Offsets &there) {
                                      emitProduct(deep, anySample, there,
                                                  numRows, count, strides[0],
                                                  strides[1], tables,
                                                  truth(deep, true));
                                    });
                        });
              scf::YieldOp::create(inner, il);
            });
        scf::YieldOp::create(body, l);
      });
  return finish(rowKey, countWork(op).second);
}

/// Element by element: the sums of the chunks in order, f32 in f64.
static EmittedKernel emitTotal(OpBuilder &outer, ContractKernelOp op,
                               StringRef name, ScheduleBuilder &schedule,
                               Value partials, Value output) {
  constexpr int64_t width = 16;
  Location loc = op.getLoc();
  KernelSignature signature(outer, loc, name, schedule);
  signature.getFunction()->setAttr(kLoopKernelAttr,
                                   op->getName().getIdentifier());
  OpBuilder b(outer.getContext());
  b.setInsertionPointToEnd(signature.getBody());
  LogicalType type = LogicalType::of(op.getResult());
  Type element = getStorageType(type.elementType);
  Type wide = element.isF32() ? b.getF64Type() : element;
  bool isFloat = isa<FloatType>(element),
       isBool = type.elementType.isInteger(1);
  Value source = signature.addBuffer(partials, {}, type.elementType);
  Value dest = signature.addBuffer(output, {}, type.elementType);
  TableKey rowKey = getContractRows(op);
  IndexBuilder ib(b, loc);
  Value zero = ib.constant(0), one = ib.constant(1);
  Value chunk = ib.constant(kChunkRows);
  Value total = signature.getTotal(rowKey);
  Value chunks = ib.div(ib.add(total, ib.sub(chunk, one)), chunk);
  int64_t elements = 1;
  for (ExtentAttr extent : type.extents)
    elements *= *extent.getConstant();

  // `numbers` elements at a time.
  auto emitPart = [&](int64_t first, int64_t last, int64_t numbers) {
    if (first == last)
      return;
    auto narrowType = VectorType::get({numbers}, element);
    auto wideType = VectorType::get({numbers}, wide);
    scf::ForOp::create(
        b, loc, ib.constant(first), ib.constant(last), ib.constant(numbers),
        ValueRange{}, [&](OpBuilder &body, Location l, Value j, ValueRange) {
          Value init = arith::ConstantOp::create(body, l, wideType,
                                                 body.getZeroAttr(wideType));
          auto sums = scf::ForOp::create(
              body, l, zero, chunks, one, init,
              [&](OpBuilder &inner, Location il, Value c, ValueRange args) {
                IndexBuilder cb(inner, il);
                Value at = cb.add(cb.mul(c, cb.constant(elements)), j);
                Value part =
                    vector::LoadOp::create(inner, il, narrowType, source, at);
                if (wide != element)
                  part = arith::ExtFOp::create(inner, il, wideType, part);
                Value sum;
                if (isFloat)
                  sum = arith::AddFOp::create(inner, il, args[0], part);
                else if (isBool)
                  sum = arith::OrIOp::create(inner, il, args[0], part);
                else
                  sum = arith::AddIOp::create(inner, il, args[0], part);
                scf::YieldOp::create(inner, il, sum);
              });
          Value sum = sums.getResult(0);
          if (wide != element)
            sum = arith::TruncFOp::create(body, l, narrowType, sum);
          vector::StoreOp::create(body, l, sum, dest, j);
          scf::YieldOp::create(body, l);
        });
  };
  int64_t whole = elements / width * width;
  emitPart(0, whole, width);
  emitPart(whole, elements, 1);
  signature.finish();
  EmittedKernel emitted;
  emitted.memrefs = llvm::to_vector(signature.getMemrefOperands());
  emitted.scalars = llvm::to_vector(signature.getScalarOperands());
  emitted.rowTable = rowKey;
  return emitted;
}

namespace {
struct ContractKernels
    : LoopKernelOpInterface::ExternalModel<ContractKernels, ContractKernelOp> {
  LogicalResult emitLoopKernels(Operation *operation,
                                LoopKernelBuilder &builder) const {
    auto op = cast<ContractKernelOp>(operation);
    ScheduleBuilder &schedule = builder.getSchedule();
    builder.createResults();
    Value output = schedule.getBuffer(op.getResult());
    if (!op.getBatchReduced()) {
      builder.addKernel(
          "", UnitKind::Groups, 0, [&](OpBuilder &module, StringRef name) {
            return ContractEmitter(module, op, name, schedule, output)
                .emitSamples();
          });
      return success();
    }
    Value partials = builder.createPartials(LogicalType::of(op.getResult()),
                                            getContractRows(op), kChunkRows);
    builder.addKernel("", UnitKind::Chunks, kChunkRows,
                      [&](OpBuilder &module, StringRef name) {
                        return ContractEmitter(module, op, name, schedule,
                                               partials)
                            .emitChunks();
                      });
    builder.addKernel("_combine", UnitKind::Single, 0,
                      [&](OpBuilder &module, StringRef name) {
                        return emitTotal(module, op, name, schedule, partials,
                                         output);
                      });
    return success();
  }
};
} // namespace

void nested::ragged::registerContractKernels(MLIRContext *context) {
  ContractKernelOp::attachInterface<ContractKernels>(*context);
}
