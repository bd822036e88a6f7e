//===- MarkInPlace.cpp - Results in the memory of arguments ---------------===//
//
// Part of the nested project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each result that one launch writes, and each argument of its type that
// the launch reads and no step behind it does:
//
// 1. Collect what the kernel does with the two memrefs, through views; each
//    access has an address in elements, a linear form.
// 2. Each read must be matched by a write behind it in its block, and each
// write
//    by a read before it, at the same address and of the same elements. An
//    element of a result is written once (the iterations of a kernel, and its
//    units, write different ones), so what another write changes was not to be
//    read by this one.
// 3. Or all reads are before all writes, in a block that runs once: that of the
//    kernel, where there is one unit; or one that writes the same elements
//    whenever it runs, of a result that is one row.
// 4. What holds is written into the signature, and the memrefs may be the same.
//
//===----------------------------------------------------------------------===//

#include "ScheduleSteps.h"

#include "nested/Conversion/LoopsToLLVM/Passes.h"
#include "nested/Conversion/StructureToLoops/Passes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

namespace nested {
#define GEN_PASS_DEF_MARKINPLACE
#include "nested/Conversion/StructureToLoops/Passes.h.inc"
} // namespace nested

using namespace mlir;
using namespace nested;
using namespace nested::ragged;

namespace {

struct MarkInPlace : public nested::impl::MarkInPlaceBase<MarkInPlace> {
  using MarkInPlaceBase::MarkInPlaceBase;

  void runOnOperation() override;
};

/// A constant and numbers of atoms times a factor.
struct LinearForm {
  int64_t constant = 0;
  std::map<unsigned, int64_t> terms;

  bool operator==(const LinearForm &other) const {
    return constant == other.constant && terms == other.terms;
  }
  void add(const LinearForm &other, int64_t factor) {
    constant += other.constant * factor;
    for (auto [atom, count] : other.terms)
      if ((terms[atom] += count * factor) == 0)
        terms.erase(atom);
  }
};

/// A read or a write of some elements.
struct Access {
  Operation *op;
  bool isWrite;
  LinearForm address;
  Type element;
  /// Sizes and strides of the dims of a vector, but for those of one element.
  SmallVector<std::pair<int64_t, int64_t>> dims;
  Value mask;
  /// Whether its memory is one row, so that the address is that in the row.
  bool isOneRow;

  bool isOf(const Access &other) const {
    return address == other.address && element == other.element &&
           dims == other.dims && mask == other.mask;
  }
};

/// What one kernel does with memory.
class KernelAccesses {
public:
  KernelAccesses(func::FuncOp kernel, LaunchOp launch, ScheduleOp schedule)
      : kernel(kernel), launch(launch), schedule(schedule) {}

  /// Of a buffer, through all its memrefs; failure if something else is done
  /// with it.
  LogicalResult collect(BufferOp buffer, SmallVectorImpl<Access> &accesses);
  /// Whether an op of the block writes the same whenever the block runs.
  bool isSameInEachRun(const Access &write, Block *block) const;

private:
  LogicalResult collect(Value memref, LinearForm base, bool isOneRow,
                        SmallVectorImpl<Access> &accesses);
  std::optional<LinearForm> getAddress(LinearForm base, Value memref,
                                       ArrayRef<OpFoldResult> indices,
                                       bool isOneRow);
  LinearForm getForm(Value value);
  LinearForm getForm(OpFoldResult value);
  /// A name for entries of tables that are the same table.
  std::string getTableName(Value memref);
  unsigned getAtom(const std::string &name, Value value) {
    auto [entry, isNew] = atoms.try_emplace(name, atoms.size());
    if (isNew)
      values.push_back(value);
    return entry->second;
  }

  func::FuncOp kernel;
  LaunchOp launch;
  ScheduleOp schedule;
  std::map<std::string, unsigned> atoms;
  /// One that each atom is.
  SmallVector<Value> values;
};

class ScheduleMarker {
public:
  ScheduleMarker(ScheduleOp schedule, SymbolTable &kernels)
      : schedule(schedule), kernels(kernels) {}

  void run();

private:
  bool worksInPlace(LaunchOp launch, BufferOp argument, BufferOp result);

  ScheduleOp schedule;
  SymbolTable &kernels;
};

} // namespace

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// A name for one object.
static std::string nameObject(const void *object) {
  return std::to_string(reinterpret_cast<uintptr_t>(object));
}

std::string KernelAccesses::getTableName(Value memref) {
  auto argument = dyn_cast<BlockArgument>(memref);
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() >= launch.getMemrefs().size())
    return {};
  auto table =
      launch.getMemrefs()[argument.getArgNumber()].getDefiningOp<TableOp>();
  if (!table)
    return {};
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "path " << table.getPath();
  // First rows of an argument without gaps are the sums of its rows.
  if (table.getKind() == TableKind::Base) {
    auto args = schedule.getSignature().getAs<ArrayAttr>("args");
    auto arg = cast<DictionaryAttr>(args[*table.getArg()]);
    auto extents = arg.getAs<ArrayAttr>("extents");
    auto order = arg.getAs<ArrayAttr>("order");
    if (!extents || !order)
      return {};
    // All dims up to the last ragged one in the order of storage.
    SmallVector<ExtentAttr> stored, rows;
    for (auto dim : order.getAsRange<IntegerAttr>()) {
      StringRef text = cast<StringAttr>(extents[dim.getInt()]).getValue();
      stored.push_back(dyn_cast_or_null<ExtentAttr>(parseAttribute(
          ("#ragged.extent<" + text + ">").str(), schedule.getContext())));
      if (!stored.back())
        return {};
      if (!stored.back().isStatic())
        rows = stored;
    }
    ExtentAttr product = extent::product(schedule.getContext(), rows);
    if (!product)
      return {};
    stream << " offsets " << product;
    return name;
  }
  if (table.getKind() == TableKind::Offsets && table.getExtentAttr()) {
    stream << " offsets " << table.getExtentAttr();
    return name;
  }
  return nameObject(table.getOperation());
}

LinearForm KernelAccesses::getForm(Value value) {
  LinearForm form;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant = constant.getSExtValue();
    return form;
  }
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    return getForm(cast.getIn());
  if (auto add = value.getDefiningOp<arith::AddIOp>()) {
    form = getForm(add.getLhs());
    form.add(getForm(add.getRhs()), 1);
    return form;
  }
  if (auto sub = value.getDefiningOp<arith::SubIOp>()) {
    form = getForm(sub.getLhs());
    form.add(getForm(sub.getRhs()), -1);
    return form;
  }
  if (auto mul = value.getDefiningOp<arith::MulIOp>())
    if (matchPattern(mul.getRhs(), m_ConstantInt(&constant))) {
      form.add(getForm(mul.getLhs()), constant.getSExtValue());
      return form;
    }
  std::string name = nameObject(value.getAsOpaquePointer());
  if (auto load = value.getDefiningOp<memref::LoadOp>())
    if (std::string table = getTableName(load.getMemref()); !table.empty()) {
      name = table;
      for (Value index : load.getIndices()) {
        LinearForm place = getForm(index);
        name += " at " + std::to_string(place.constant);
        for (auto [atom, factor] : place.terms)
          name += " + " + std::to_string(factor) + "*" + std::to_string(atom);
      }
    }
  form.terms[getAtom(name, value)] = 1;
  return form;
}

LinearForm KernelAccesses::getForm(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value)) {
    LinearForm form;
    form.constant = *number;
    return form;
  }
  return getForm(cast<Value>(value));
}

std::optional<LinearForm>
KernelAccesses::getAddress(LinearForm base, Value memref,
                           ArrayRef<OpFoldResult> indices, bool isOneRow) {
  auto type = cast<MemRefType>(memref.getType());
  // The number of the only row is 0.
  bool skipsFirst = isOneRow && isa<BlockArgument>(memref);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      strides.size() != indices.size() ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return std::nullopt;
  for (auto [k, index] : llvm::enumerate(indices))
    if (k > 0 || !skipsFirst)
      base.add(getForm(index), strides[k]);
  return base;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

LogicalResult KernelAccesses::collect(BufferOp buffer,
                                      SmallVectorImpl<Access> &accesses) {
  // Elements of a dense value are known: is a row all of them?
  const char *list = buffer.getKind() == "arg" ? "args" : "results";
  auto value = cast<DictionaryAttr>(
      schedule.getSignature().getAs<ArrayAttr>(list)[*buffer.getIndex()]);
  int64_t elements = -1;
  if (auto shape = value.getAs<ArrayAttr>("shape")) {
    elements = 1;
    for (auto size : shape.getAsRange<IntegerAttr>())
      elements *= size.getInt();
  }
  for (auto [i, operand] : llvm::enumerate(launch.getMemrefs())) {
    if (getBuffer(operand) != buffer)
      continue;
    Value memref = kernel.getArgument(i);
    auto type = cast<MemRefType>(memref.getType());
    bool isOneRow = false;
    if (type.getRank() > 0 && type.isDynamicDim(0)) {
      int64_t row = 1;
      for (int64_t size : type.getShape().drop_front())
        row *= size;
      isOneRow = row == elements;
    }
    if (failed(collect(memref, {}, isOneRow, accesses)))
      return failure();
  }
  return success();
}

LogicalResult KernelAccesses::collect(Value memref, LinearForm base,
                                      bool isOneRow,
                                      SmallVectorImpl<Access> &accesses) {
  auto type = cast<MemRefType>(memref.getType());
  auto add = [&](Operation *op, bool isWrite, OperandRange indices,
                 Type accessed, Value mask = {}) -> LogicalResult {
    std::optional<LinearForm> address =
        getAddress(base, memref, getAsOpFoldResult(indices), isOneRow);
    if (!address)
      return failure();
    Access access{op, isWrite, *address, getElementTypeOrSelf(accessed),
                  {}, mask,    isOneRow};
    if (auto vector = dyn_cast<VectorType>(accessed)) {
      int64_t offset;
      SmallVector<int64_t> strides;
      if (failed(type.getStridesAndOffset(strides, offset)) ||
          vector.getRank() > type.getRank())
        return failure();
      for (auto [size, stride] :
           llvm::zip_equal(vector.getShape(),
                           ArrayRef(strides).take_back(vector.getRank())))
        if (size != 1)
          access.dims.push_back({size, stride});
    }
    accesses.push_back(std::move(access));
    return success();
  };
  auto isPlain = [](VectorTransferOpInterface op) {
    return !op.hasOutOfBoundsDim() && !op.getMask() &&
           op.getPermutationMap().isMinorIdentity();
  };
  for (OpOperand &use : memref.getUses()) {
    Operation *user = use.getOwner();
    LogicalResult found = failure();
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      found = add(load, false, load.getIndices(), load.getType());
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      found = add(store, true, store.getIndices(), store.getValue().getType());
    } else if (auto load = dyn_cast<vector::LoadOp>(user)) {
      found = add(load, false, load.getIndices(), load.getVectorType());
    } else if (auto store = dyn_cast<vector::StoreOp>(user)) {
      found = add(store, true, store.getIndices(), store.getVectorType());
    } else if (auto load = dyn_cast<vector::MaskedLoadOp>(user)) {
      found = add(load, false, load.getIndices(), load.getVectorType(),
                  load.getMask());
    } else if (auto store = dyn_cast<vector::MaskedStoreOp>(user)) {
      found = add(store, true, store.getIndices(), store.getVectorType(),
                  store.getMask());
    } else if (auto read = dyn_cast<vector::TransferReadOp>(user)) {
      if (isPlain(cast<VectorTransferOpInterface>(user)))
        found = add(read, false, read.getIndices(), read.getVectorType());
    } else if (auto write = dyn_cast<vector::TransferWriteOp>(user)) {
      if (isPlain(cast<VectorTransferOpInterface>(user)))
        found = add(write, true, write.getIndices(), write.getVectorType());
    } else if (auto view = dyn_cast<memref::SubViewOp>(user)) {
      auto isOne = [](OpFoldResult step) {
        return isConstantIntValue(step, 1);
      };
      std::optional<LinearForm> first =
          getAddress(base, memref, view.getMixedOffsets(), isOneRow);
      if (first && llvm::all_of(view.getMixedStrides(), isOne))
        found = collect(view.getResult(), *first, isOneRow, accesses);
    } else if (isa<memref::PrefetchOp, memref::DimOp>(user)) {
      found = success();
    }
    if (failed(found))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What is legal
//===----------------------------------------------------------------------===//

/// 2. in the comment at the top.
static bool areMatched(ArrayRef<Access> reads, ArrayRef<Access> writes) {
  for (const Access &read : reads) {
    bool isMatched = false;
    for (const Access &write : writes) {
      if (write.op->getBlock() != read.op->getBlock() || !write.isOf(read))
        continue;
      if (write.op->isBeforeInBlock(read.op))
        return false;
      isMatched = true;
    }
    if (!isMatched)
      return false;
  }
  return llvm::all_of(writes, [&](const Access &write) {
    return llvm::any_of(reads, [&](const Access &read) {
      return read.op->getBlock() == write.op->getBlock() && read.isOf(write);
    });
  });
}

/// Through loops of constant ranges, at an address that their numbers alone
/// say.
bool KernelAccesses::isSameInEachRun(const Access &write, Block *block) const {
  llvm::SmallDenseSet<Value> numbers;
  for (Block *inner = write.op->getBlock(); inner != block;
       inner = inner->getParentOp()->getBlock()) {
    auto loop = dyn_cast<scf::ForOp>(inner->getParentOp());
    if (!loop)
      return false;
    std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> to = getConstantIntValue(loop.getUpperBound());
    if (!from || !to || *from >= *to || !getConstantIntValue(loop.getStep()))
      return false;
    numbers.insert(loop.getInductionVar());
  }
  return llvm::all_of(write.address.terms, [&](const auto &term) {
    return numbers.contains(values[term.first]);
  });
}

/// 3. there.
static bool areReadFirst(LaunchOp launch, const KernelAccesses &accesses,
                         ArrayRef<Access> reads, ArrayRef<Access> writes) {
  // The block that all of them are in.
  Block *block = writes.front().op->getBlock();
  auto holdsAll = [&](ArrayRef<Access> list) {
    return llvm::all_of(list, [&](const Access &access) {
      return block->findAncestorOpInBlock(*access.op) != nullptr;
    });
  };
  while (!holdsAll(reads) || !holdsAll(writes))
    block = block->getParentOp()->getBlock();
  auto rows = launch.getRowTable().getDefiningOp<TableOp>();
  bool hasOneUnit = launch.getUnits() == UnitKind::Single ||
                    (launch.getUnits() == UnitKind::Groups &&
                     !launch.getUnitTable() && rows && rows.getPath().empty());
  bool isKernel = isa<func::FuncOp>(block->getParentOp());
  if (!(isKernel && hasOneUnit) &&
      !llvm::all_of(writes, [&](const Access &write) {
        return write.isOneRow && accesses.isSameInEachRun(write, block);
      }))
    return false;
  return llvm::all_of(reads, [&](const Access &read) {
    Operation *before = block->findAncestorOpInBlock(*read.op);
    return llvm::all_of(writes, [&](const Access &write) {
      Operation *after = block->findAncestorOpInBlock(*write.op);
      return before->isBeforeInBlock(after);
    });
  });
}

bool ScheduleMarker::worksInPlace(LaunchOp launch, BufferOp argument,
                                  BufferOp result) {
  auto kernel = kernels.lookup<func::FuncOp>(launch.getKernel());
  if (!kernel || !llvm::hasSingleElement(kernel.getBody()))
    return false;
  KernelAccesses accesses(kernel, launch, schedule);
  SmallVector<Access> reads, writes;
  if (failed(accesses.collect(argument, reads)) ||
      failed(accesses.collect(result, writes)))
    return false;
  // A result that is read has no elements that are written once.
  if (writes.empty() ||
      llvm::any_of(reads, [](const Access &read) { return read.isWrite; }) ||
      llvm::any_of(writes, [](const Access &write) { return !write.isWrite; }))
    return false;
  return areMatched(reads, writes) ||
         areReadFirst(launch, accesses, reads, writes);
}

void ScheduleMarker::run() {
  // The launches that use each result first, and the last step that uses each
  // argument.
  Block &body = schedule.getBody().front();
  llvm::MapVector<Operation *, SmallVector<Operation *>> users;
  for (Operation &op : body) {
    if (isDeclaration(&op))
      continue;
    for (Value operand : op.getOperands())
      if (BufferOp buffer = getBuffer(operand))
        if (SmallVector<Operation *> &steps = users[buffer];
            steps.empty() || steps.back() != &op)
          steps.push_back(&op);
  }
  DictionaryAttr signature = schedule.getSignature();
  auto args = signature.getAs<ArrayAttr>("args");
  auto results = signature.getAs<ArrayAttr>("results");
  if (!args || !results)
    return;
  auto isSame = [&](DictionaryAttr arg, DictionaryAttr result) {
    return !arg.get("mutable") &&
           llvm::all_of(
               ArrayRef<StringRef>{"kind", "dtype", "shape", "extents", "order",
                                   "path"},
               [&](StringRef key) { return arg.get(key) == result.get(key); });
  };
  SmallVector<SmallVector<int64_t>> found(results.size());
  for (auto &[resultOp, steps] : users) {
    auto result = cast<BufferOp>(resultOp);
    auto launch = dyn_cast<LaunchOp>(steps.front());
    if (result.getKind() != "result" || !launch)
      continue;
    auto resultFields = cast<DictionaryAttr>(results[*result.getIndex()]);
    for (auto &[argumentOp, readers] : users) {
      auto argument = cast<BufferOp>(argumentOp);
      if (argument.getKind() != "arg" || readers.back() != launch ||
          argument.getType() != result.getType() ||
          !isSame(cast<DictionaryAttr>(args[*argument.getIndex()]),
                  resultFields) ||
          !worksInPlace(launch, argument, result))
        continue;
      found[*result.getIndex()].push_back(*argument.getIndex());
      auto kernel = kernels.lookup<func::FuncOp>(launch.getKernel());
      for (auto [i, operand] : llvm::enumerate(launch.getMemrefs()))
        if (BufferOp buffer = getBuffer(operand);
            buffer == argument || buffer == result)
          kernel.setArgAttr(i, kMayAliasAttr,
                            UnitAttr::get(schedule.getContext()));
    }
  }
  Builder b(schedule.getContext());
  SmallVector<Attribute> marked;
  for (auto [fields, list] :
       llvm::zip_equal(results.getAsRange<DictionaryAttr>(), found)) {
    NamedAttrList all(fields);
    llvm::sort(list);
    if (!list.empty())
      all.set("in_place_of", b.getI64ArrayAttr(list));
    marked.push_back(all.getDictionary(schedule.getContext()));
  }
  NamedAttrList all(signature);
  all.set("results", b.getArrayAttr(marked));
  schedule.setSignatureAttr(all.getDictionary(schedule.getContext()));
}

void MarkInPlace::runOnOperation() {
  SymbolTable kernels(getOperation());
  for (auto schedule : getOperation().getOps<ScheduleOp>())
    ScheduleMarker(schedule, kernels).run();
}
