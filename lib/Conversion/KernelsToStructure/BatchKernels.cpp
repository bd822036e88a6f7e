//===- BatchKernels.cpp - Kernels of ops that choose members --------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever chooses the members, four steps:
//
// 1. count the members that are chosen in each parent, and bind their batch to
//    the counts (not where the indices have a batch already);
// 2. write for each of them which member of the sources it is;
// 3. look up its lengths there, and bind the symbols of the results to them;
// 4. copy its elements, which lie one after the other in both places.
//
// In the first two a unit is a parent (for samples: the whole batch), in the
// others a chosen member.
//
// `move_batch` is of a choice that was made before: instead of binding, it
// checks the counts while it writes them down, then the lengths. Its sums go
// along a list of the copies of each member: the number of the first one, and
// behind each copy that of the next. A unit is a member of the result, so that
// no two threads write one, and its copies are added in their order (R8).
//
//===----------------------------------------------------------------------===//

#include "LoopKernel.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "nested/Dialect/Ragged/IR/RaggedBatch.h"
#include "nested/Dialect/Ragged/Transforms/Passes.h"

using namespace mlir;
using namespace nested::ragged;

namespace {
class BatchKernels {
public:
  BatchKernels(Operation *op, LoopKernelBuilder &builder)
      : op(op), builder(builder), move(BatchMove::of(op)),
        number(IntegerType::get(op->getContext(), 64)),
        chosenMembers{move.chosenPath, extent::constant(op->getContext(), 1),
                      extent::constant(op->getContext(), 1)},
        memberType(move.chosenPath, {}, number) {}

  void emit();

private:
  /// How often a member is in the results: `body` gets the position of the
  /// first copy and how many there are, and returns where the next one is.
  using CountBody = function_ref<void(OpBuilder &, Location, Value position,
                                      Value count, Value member)>;
  Value forMembers(OpBuilder &b, Location loc, LoopKernel &kernel,
                   const LoopOperand &selector, Value parent, Value start,
                   int64_t error, CountBody body);
  int64_t addCountError(LoopKernel &kernel);
  void bindBatch();
  void emitWhichBySelector();
  void emitWhichByIndex();
  ExtentAttr bindLongest(ExtentAttr from, ExtentAttr to);
  void bindLengths();
  void checkLengths();
  void emitCopy(unsigned i);
  void linkCopies();
  void emitSum(unsigned i);
  Value emitCopySum(OpBuilder &b, Location loc, LoopKernel &kernel,
                    const LoopOperand &from, const LoopOperand &nexts,
                    Value first, Value column, int64_t width);

  Value loadWhich(OpBuilder &b, Location loc, LoopKernel &kernel,
                  const LoopOperand &which, Value member) {
    Value raw =
        LoopKernel::load(b, loc, which, kernel.getFirst(b, loc, which, member));
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), raw);
  }
  std::string withLocation(std::string message) const {
    std::string where = formatLocation(op->getLoc());
    return where.empty() ? message : message + " at " + where;
  }
  std::string getName() const { return op->getName().stripDialect().str(); }

  Operation *op;
  LoopKernelBuilder &builder;
  BatchMove move;
  Type number;
  LoopUnits chosenMembers;
  LogicalType memberType;
  /// For each chosen member the one of the sources that it is.
  Value whichBuffer;
  /// For each member of the sources its first copy, for each copy the next one;
  /// -1: there is none.
  Value firstCopies, nextCopies;
};
} // namespace

Value BatchKernels::forMembers(OpBuilder &b, Location loc, LoopKernel &kernel,
                               const LoopOperand &selector, Value parent,
                               Value start, int64_t error, CountBody body) {
  IndexBuilder ib(b, loc);
  Value members = kernel.getSignature().getTable(
      TableKey::makeOffsets(move.getSourceMembers(), move.getParentPath()));
  Value first = ib.load(members, parent);
  Value last = ib.load(members, ib.add(parent, ib.constant(1)));
  auto loop = scf::ForOp::create(
      b, loc, first, last, ib.constant(1), ValueRange{start},
      [&](OpBuilder &inner, Location l, Value member, ValueRange carried) {
        IndexBuilder mb(inner, l);
        Value raw = LoopKernel::load(
            inner, l, selector, kernel.getFirstOf(inner, l, selector, member));
        Value count;
        if (move.kind == BatchMove::Kind::Mask) {
          count =
              arith::IndexCastUIOp::create(inner, l, inner.getIndexType(), raw);
        } else {
          count =
              arith::IndexCastOp::create(inner, l, inner.getIndexType(), raw);
          // Unsigned: a negative count is too large.
          Value isFine = mb.compare(arith::CmpIPredicate::ule, count,
                                    mb.constant(move.atMost));
          if (error)
            kernel.getSignature().recordErrorUnless(
                inner, l, isFine, error, raw, mb.constant(0), member);
          count = mb.select(isFine, count, mb.constant(0));
        }
        if (body)
          body(inner, l, carried[0], count, member);
        scf::YieldOp::create(inner, l, mb.add(carried[0], count));
      });
  return loop.getResult(0);
}

/// 0 where the selector has no counts.
int64_t BatchKernels::addCountError(LoopKernel &kernel) {
  if (move.kind != BatchMove::Kind::Counts)
    return 0;
  std::string most =
      move.binds ? "to " + std::to_string(move.atMost) : "or more";
  return kernel.getSignature().addError(withLocation(
      getName() + ": {value} copies of sample {sample}, expected 0 " + most));
}

void BatchKernels::bindBatch() {
  LogicalType countType(move.getParentPath(), {}, number);
  Value counts = builder.createTemp(countType);
  LoopUnits parents{llvm::to_vector(move.getParentPath()),
                    move.getSourceMembers(),
                    extent::constant(op->getContext(), 1)};
  builder.addKernel("_count", parents, [&](LoopKernel &kernel) {
    LoopOperand dest = kernel.addTemp(counts, countType);
    int64_t bytes = 0;
    if (move.kind == BatchMove::Kind::List) {
      kernel.forUnits([&](OpBuilder &b, Location loc, Value parent, Value) {
        IndexBuilder ib(b, loc);
        int64_t size = *move.getUpperBound().getConstant();
        LoopKernel::store(b, loc, ib.toI64(ib.constant(size)), dest,
                          kernel.getFirst(b, loc, dest, parent));
      });
    } else {
      LoopOperand selector = kernel.addValue(move.selector);
      bytes = LoopKernel::countBytes(selector);
      int64_t error = addCountError(kernel);
      kernel.forUnits([&](OpBuilder &b, Location loc, Value parent, Value) {
        IndexBuilder ib(b, loc);
        Value count = forMembers(b, loc, kernel, selector, parent,
                                 ib.constant(0), error, nullptr);
        LoopKernel::store(b, loc, ib.toI64(count), dest,
                          kernel.getFirst(b, loc, dest, parent));
      });
    }
    return LoopCost{1, bytes};
  });
  builder.bindSymbol(move.getChosenMembers().getName(), move.getParentPath(),
                     move.getUpperBound(), counts);
}

/// Members of the sources in order, each as often as the selector says. Where
/// the batch is bound already, no more of them than there are.
void BatchKernels::emitWhichBySelector() {
  LoopUnits parents{llvm::to_vector(move.getParentPath()),
                    move.getSourceMembers(),
                    extent::constant(op->getContext(), 1)};
  builder.addKernel("_which", parents, [&](LoopKernel &kernel) {
    LoopOperand selector = kernel.addValue(move.selector);
    LoopOperand which = kernel.addTemp(whichBuffer, memberType);
    int64_t countError = 0, totalError = 0;
    if (!move.binds) {
      countError = addCountError(kernel);
      totalError = kernel.getSignature().addError(withLocation(
          getName() + ": {value} samples are chosen, expected another number"));
    }
    kernel.forUnits([&](OpBuilder &b, Location loc, Value parent, Value) {
      IndexBuilder ib(b, loc);
      Value chosen = kernel.getSignature().getTable(
          TableKey::makeOffsets(move.getChosenMembers(), move.getParentPath()));
      Value first = ib.load(chosen, parent);
      Value last = ib.load(chosen, ib.add(parent, ib.constant(1)));
      Value end = forMembers(
          b, loc, kernel, selector, parent, first, countError,
          [&](OpBuilder &inner, Location l, Value position, Value count,
              Value member) {
            IndexBuilder mb(inner, l);
            Value next = mb.add(position, count);
            scf::ForOp::create(
                inner, l, position, move.binds ? next : mb.min(next, last),
                mb.constant(1), ValueRange(),
                [&](OpBuilder &copy, Location at, Value place, ValueRange) {
                  LoopKernel::store(copy, at,
                                    IndexBuilder(copy, at).toI64(member), which,
                                    kernel.getFirst(copy, at, which, place));
                  scf::YieldOp::create(copy, at);
                });
          });
      if (!move.binds)
        kernel.getSignature().recordErrorUnless(
            b, loc, ib.compare(arith::CmpIPredicate::eq, end, last), totalError,
            ib.toI64(ib.sub(end, first)), ib.constant(0), parent);
    });
    return LoopCost{1, LoopKernel::countBytes({selector, which})};
  });
}

/// Indices count from the first member of the same parent on.
void BatchKernels::emitWhichByIndex() {
  builder.addKernel("_which", chosenMembers, [&](LoopKernel &kernel) {
    LoopOperand selector = kernel.addValue(move.selector);
    LoopOperand which = kernel.addTemp(whichBuffer, memberType);
    int64_t error = kernel.getSignature().addError(withLocation(
        getName() + ": index {value} is out of range for the samples (entry "
                    "{sample} of the indices)"));
    kernel.forUnits([&](OpBuilder &b, Location loc, Value member, Value) {
      IndexBuilder ib(b, loc);
      KernelSignature &signature = kernel.getSignature();
      Value place = move.kind == BatchMove::Kind::List
                        ? member
                        : kernel.getFirst(b, loc, selector, member);
      Value raw = LoopKernel::load(b, loc, selector, place);
      Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), raw);
      Value parent = signature.getParent(b, loc, move.chosenPath,
                                         move.getParentPath(), member);
      Value members = signature.getTable(
          TableKey::makeOffsets(move.getSourceMembers(), move.getParentPath()));
      Value first = ib.load(members, parent);
      Value count =
          ib.sub(ib.load(members, ib.add(parent, ib.constant(1))), first);
      // Unsigned: a negative index is out of range too.
      Value inside = ib.compare(arith::CmpIPredicate::ult, index, count);
      signature.recordErrorUnless(b, loc, inside, error, raw, ib.constant(0),
                                  member);
      Value found = ib.add(first, ib.select(inside, index, ib.constant(0)));
      LoopKernel::store(b, loc, ib.toI64(found), which,
                        kernel.getFirst(b, loc, which, member));
    });
    return LoopCost{1, LoopKernel::countBytes({selector, which})};
  });
}

/// Binds a symbol to the largest value of `from`. Where the results are over
/// the sources' own path, `from` itself would bound each length by that of the
/// member in the same place.
ExtentAttr BatchKernels::bindLongest(ExtentAttr from, ExtentAttr to) {
  MLIRContext *context = op->getContext();
  SymbolBindings bindings(op->getParentOfType<FunctionOpInterface>());
  std::string name = to.str() + "_longest";
  while (bindings.lookup(StringAttr::get(context, name)))
    name += "_";
  LogicalType dense({}, {}, number);
  Value longest = builder.createTemp(dense);
  ExtentAttr one = extent::constant(context, 1);
  LoopUnits whole{{}, one, one};
  builder.addKernel("_" + name, whole, [&](LoopKernel &kernel) {
    LoopOperand dest = kernel.addTemp(longest, dense);
    KernelSignature &signature = kernel.getSignature();
    Value lengths =
        signature.getTable(TableKey::makeExtent(from, move.sourcePath));
    Value count = signature.getTotal(
        TableKey::makeOffsets(move.getSourceMembers(), move.getParentPath()));
    kernel.forUnits([&](OpBuilder &b, Location loc, Value, Value) {
      IndexBuilder ib(b, loc);
      auto loop = scf::ForOp::create(
          b, loc, ib.constant(0), count, ib.constant(1),
          ValueRange{ib.constant(0)},
          [&](OpBuilder &inner, Location l, Value member, ValueRange carried) {
            IndexBuilder mb(inner, l);
            scf::YieldOp::create(inner, l,
                                 mb.max(carried[0], mb.load(lengths, member)));
          });
      LoopKernel::store(b, loc, ib.toI64(loop.getResult(0)), dest,
                        ib.constant(0));
    });
    return LoopCost{1, 8};
  });
  builder.bindSymbol(StringAttr::get(context, name), {}, from, longest);
  return extent::symbol(context, name);
}

void BatchKernels::bindLengths() {
  if (move.to.empty())
    return;
  SmallVector<ExtentAttr> bounds(move.from);
  if (move.chosenPath == move.sourcePath)
    for (auto [bound, to] : llvm::zip_equal(bounds, move.to))
      bound = bindLongest(bound, to);
  SmallVector<Value> lengths;
  for (size_t k = 0; k < move.to.size(); ++k)
    lengths.push_back(builder.createTemp(memberType));
  builder.addKernel("_lengths", chosenMembers, [&](LoopKernel &kernel) {
    LoopOperand which = kernel.addTemp(whichBuffer, memberType);
    SmallVector<LoopOperand> dests;
    for (Value buffer : lengths)
      dests.push_back(kernel.addTemp(buffer, memberType));
    kernel.forUnits([&](OpBuilder &b, Location loc, Value member, Value) {
      IndexBuilder ib(b, loc);
      Value source = loadWhich(b, loc, kernel, which, member);
      for (auto [from, dest] : llvm::zip_equal(move.from, dests)) {
        Value length = kernel.getSignature().evaluate(b, loc, from,
                                                      move.sourcePath, source);
        LoopKernel::store(b, loc, ib.toI64(length), dest,
                          kernel.getFirst(b, loc, dest, member));
      }
    });
    return LoopCost{0, static_cast<int64_t>(16 * move.to.size())};
  });
  for (auto [bound, to, buffer] : llvm::zip_equal(bounds, move.to, lengths))
    builder.bindSymbol(to.getName(), move.chosenPath, bound, buffer);
}

/// What a choice that was made before bound is what this one is.
void BatchKernels::checkLengths() {
  if (move.to.empty())
    return;
  builder.addKernel("_lengths", chosenMembers, [&](LoopKernel &kernel) {
    LoopOperand which = kernel.addTemp(whichBuffer, memberType);
    SmallVector<int64_t> errors;
    for (auto [from, to] : llvm::zip_equal(move.from, move.to))
      errors.push_back(kernel.getSignature().addError(
          withLocation(getName() + ": " + to.str() +
                       " is {value} in sample {sample}, expected " +
                       from.str() + " of the sample that it is a copy of")));
    kernel.forUnits([&](OpBuilder &b, Location loc, Value member, Value) {
      IndexBuilder ib(b, loc);
      Value source = loadWhich(b, loc, kernel, which, member);
      for (auto [from, to, error] :
           llvm::zip_equal(move.from, move.to, errors)) {
        Value expected = kernel.getSignature().evaluate(
            b, loc, from, move.sourcePath, source);
        Value found = kernel.evaluate(b, loc, to, member);
        kernel.getSignature().recordErrorUnless(
            b, loc, ib.compare(arith::CmpIPredicate::eq, found, expected),
            error, ib.toI64(found), ib.constant(0), member);
      }
    });
    return LoopCost{0, static_cast<int64_t>(16 * move.to.size())};
  });
}

void BatchKernels::emitCopy(unsigned i) {
  LogicalType type = LogicalType::of(move.results[i]);
  LoopUnits units{move.chosenPath, type.getRowExtent(),
                  extent::constant(op->getContext(), 1)};
  builder.addKernel(
      "_copy" + std::to_string(i), units, [&](LoopKernel &kernel) {
        LoopOperand which = kernel.addTemp(whichBuffer, memberType);
        LoopOperand from = kernel.addValue(move.sources[i]);
        LoopOperand to = kernel.addValue(move.results[i]);
        // Bytes of booleans are copied as they are.
        from.type.elementType = to.type.elementType =
            getStorageType(type.elementType);
        kernel.forUnits([&](OpBuilder &b, Location loc, Value member, Value) {
          IndexBuilder ib(b, loc);
          Value source = loadWhich(b, loc, kernel, which, member);
          Value fromFirst = kernel.getFirstOf(b, loc, from, source);
          Value toFirst = kernel.getFirst(b, loc, to, member);
          Value size = ib.mul(kernel.evaluate(b, loc, units.rows, member),
                              ib.constant(to.rowElements));
          ExtentAttr elements =
              extent::mul(units.rows, static_cast<int64_t>(to.rowElements));
          LoopKernel::forBlocks(
              b, loc, elements, size,
              [&](OpBuilder &at, Location l, Value column, int64_t width) {
                IndexBuilder cb(at, l);
                Value value = LoopKernel::load(
                    at, l, from, cb.add(fromFirst, column), width);
                LoopKernel::store(at, l, value, to, cb.add(toFirst, column));
              });
        });
        return LoopCost{0, LoopKernel::countBytes({from, to})};
      });
}

void BatchKernels::linkCopies() {
  LogicalType sourceType(move.sourcePath, {}, number);
  firstCopies = builder.createTemp(sourceType);
  nextCopies = builder.createTemp(memberType);
  LoopUnits parents{llvm::to_vector(move.getParentPath()),
                    move.getSourceMembers(),
                    extent::constant(op->getContext(), 1)};
  builder.addKernel("_link", parents, [&](LoopKernel &kernel) {
    LoopOperand which = kernel.addTemp(whichBuffer, memberType);
    LoopOperand firsts = kernel.addTemp(firstCopies, sourceType);
    LoopOperand nexts = kernel.addTemp(nextCopies, memberType);
    KernelSignature &signature = kernel.getSignature();
    kernel.forUnits([&](OpBuilder &b, Location loc, Value parent, Value) {
      IndexBuilder ib(b, loc);
      // From the last copy to the first, so that the list begins with the
      // first.
      auto forEach =
          [&](ExtentAttr members,
              function_ref<void(OpBuilder &, Location, Value)> body) {
            Value table = signature.getTable(
                TableKey::makeOffsets(members, move.getParentPath()));
            Value begin = ib.load(table, parent);
            Value end = ib.load(table, ib.add(parent, ib.constant(1)));
            scf::ForOp::create(
                b, loc, begin, end, ib.constant(1), ValueRange(),
                [&](OpBuilder &inner, Location l, Value each, ValueRange) {
                  IndexBuilder eb(inner, l);
                  Value last = eb.sub(end, eb.constant(1));
                  body(inner, l, eb.sub(last, eb.sub(each, begin)));
                  scf::YieldOp::create(inner, l);
                });
          };
      forEach(move.getSourceMembers(), [&](OpBuilder &inner, Location l,
                                           Value member) {
        LoopKernel::store(inner, l,
                          arith::ConstantIntOp::create(inner, l, -1, 64),
                          firsts, kernel.getFirstOf(inner, l, firsts, member));
      });
      forEach(move.getChosenMembers(), [&](OpBuilder &inner, Location l,
                                           Value copy) {
        Value member = kernel.getFirstOf(
            inner, l, firsts, loadWhich(inner, l, kernel, which, copy));
        LoopKernel::store(inner, l, LoopKernel::load(inner, l, firsts, member),
                          nexts, kernel.getFirstOf(inner, l, nexts, copy));
        LoopKernel::store(inner, l, IndexBuilder(inner, l).toI64(copy), firsts,
                          member);
      });
    });
    return LoopCost{1, LoopKernel::countBytes({which, firsts, nexts})};
  });
}

void BatchKernels::emitSum(unsigned i) {
  LogicalType type = LogicalType::of(move.results[i]);
  LoopUnits units{move.sourcePath, type.getRowExtent(),
                  extent::constant(op->getContext(), 1)};
  auto emitBody = [&](LoopKernel &kernel) {
    LoopOperand firsts =
        kernel.addTemp(firstCopies, LogicalType(move.sourcePath, {}, number));
    LoopOperand nexts = kernel.addTemp(nextCopies, memberType);
    LoopOperand from = kernel.addValue(move.sources[i]);
    LoopOperand to = kernel.addValue(move.results[i]);
    kernel.forUnits([&](OpBuilder &b, Location loc, Value member, Value) {
      IndexBuilder ib(b, loc);
      Value first = LoopKernel::load(b, loc, firsts,
                                     kernel.getFirst(b, loc, firsts, member));
      Value toFirst = kernel.getFirst(b, loc, to, member);
      Value size = ib.mul(kernel.evaluate(b, loc, units.rows, member),
                          ib.constant(to.rowElements));
      ExtentAttr elements = extent::mul(units.rows, to.rowElements);
      LoopKernel::forBlocks(
          b, loc, elements, size,
          [&](OpBuilder &at, Location l, Value column, int64_t width) {
            Value sum =
                emitCopySum(at, l, kernel, from, nexts, first, column, width);
            LoopKernel::store(at, l, sum, to,
                              IndexBuilder(at, l).add(toFirst, column));
          });
    });
    return LoopCost{to.rowElements, LoopKernel::countBytes({from, to})};
  };
  builder.addKernel("_sum" + std::to_string(i), units, emitBody);
}

/// Of a list of copies the sum of a block of columns. R6: kept in f64.
Value BatchKernels::emitCopySum(OpBuilder &b, Location loc, LoopKernel &kernel,
                                const LoopOperand &from,
                                const LoopOperand &nexts, Value first,
                                Value column, int64_t width) {
  Type wide = b.getF64Type();
  if (width)
    wide = VectorType::get({width}, wide);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(wide));
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{number, wide}, ValueRange{first, zero},
      [&](OpBuilder &before, Location l, ValueRange args) {
        Value isCopy = arith::CmpIOp::create(
            before, l, arith::CmpIPredicate::sge, args[0],
            arith::ConstantIntOp::create(before, l, 0, 64));
        scf::ConditionOp::create(before, l, isCopy, args);
      },
      [&](OpBuilder &body, Location l, ValueRange args) {
        Value copy =
            arith::IndexCastOp::create(body, l, body.getIndexType(), args[0]);
        Value place = IndexBuilder(body, l).add(
            kernel.getFirstOf(body, l, from, copy), column);
        Value value = convertFloats(
            body, l, LoopKernel::load(body, l, from, place, width),
            body.getF64Type());
        Value next = LoopKernel::load(body, l, nexts,
                                      kernel.getFirstOf(body, l, nexts, copy));
        scf::YieldOp::create(
            body, l,
            ValueRange{next, arith::AddFOp::create(body, l, args[1], value)});
      });
  return convertFloats(b, loc, loop.getResult(1), from.type.elementType);
}

void BatchKernels::emit() {
  if (move.bindsBatch())
    bindBatch();
  if (move.binds)
    builder.getSchedule().addSelection(move);
  else if (move.kind == BatchMove::Kind::List)
    builder.checkEqual(move.getChosenMembers(), move.getUpperBound());
  whichBuffer = builder.createTemp(memberType);
  if (move.kind == BatchMove::Kind::Mask ||
      move.kind == BatchMove::Kind::Counts)
    emitWhichBySelector();
  else
    emitWhichByIndex();
  if (move.binds)
    bindLengths();
  else
    checkLengths();
  if (move.sums)
    linkCopies();
  builder.createUsedResults();
  for (auto [i, result] : llvm::enumerate(move.results)) {
    if (result.use_empty())
      continue;
    if (move.sums)
      emitSum(i);
    else
      emitCopy(i);
  }
}

namespace {
template <typename Op>
struct BatchMoveKernels
    : LoopKernelOpInterface::ExternalModel<BatchMoveKernels<Op>, Op> {
  LogicalResult emitLoopKernels(Operation *op,
                                LoopKernelBuilder &builder) const {
    BatchKernels(op, builder).emit();
    return success();
  }
};
} // namespace

void nested::ragged::registerBatchKernels(MLIRContext *context) {
  SelectBatchOp::attachInterface<BatchMoveKernels<SelectBatchOp>>(*context);
  RepeatBatchOp::attachInterface<BatchMoveKernels<RepeatBatchOp>>(*context);
  MoveBatchOp::attachInterface<BatchMoveKernels<MoveBatchOp>>(*context);
}
